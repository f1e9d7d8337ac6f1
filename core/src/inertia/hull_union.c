#include "inertia/hull_union.h"

#include <stdlib.h>

// Part k is smaller by SHRINK times root 2 plus the fraction of k times the golden ratio's: numbers
// that are never near each other, nor in a ratio that lengths of parts are likely to have.
#define SHRINK 1e-10
// For surfaces they are larger by that, so that faces that touch are inside.
#define GROW 1e-6
#define ROOT2 1.41421356237309515
#define GOLDEN 0.61803398874989485

// A part as it is for the question of what lies inside.
typedef struct Shrunk {
  djVec3 middle;
  double scale;
  djVec3 low, high;        // of its vertices
  djVec3* corner;          // (part's nface x 3)
  int nface;
  djHalfSpace* side;       // (nface), of no area left out
  const djPolytope* part;
} Shrunk;

static djVec3 corner(const djPolytope* part, int k) {
  return dju_load3(part->vert + 3 * (size_t)part->face[k]);
}

static djVec3 shrunk(const Shrunk* g, djVec3 x) {
  return dju_madd3(x, g->scale, dju_sub3(x, g->middle));
}

static void extend(Shrunk* g, djVec3 x) {
  g->low = dju_vec3(fmin(g->low.x, x.x), fmin(g->low.y, x.y), fmin(g->low.z, x.z));
  g->high = dju_vec3(fmax(g->high.x, x.x), fmax(g->high.y, x.y), fmax(g->high.z, x.z));
}

static void shrink(Shrunk* g, const djPolytope* part, int index, double by) {
  double whole, fraction = modf(index * GOLDEN, &whole);
  djVec3 sum = {0, 0, 0};
  for (int k = 0; k < 3 * part->nface; k++) sum = dju_add3(sum, corner(part, k));
  g->part = part;
  g->middle = dju_scale3(1.0 / (part->nface > 0 ? 3 * part->nface : 1), sum);
  g->scale = by * (ROOT2 + fraction);
  g->low = dju_vec3(INFINITY, INFINITY, INFINITY);
  g->high = dju_neg3(g->low);
  for (int f = 0; f < part->nface; f++) {
    djVec3 x[3];
    for (int k = 0; k < 3; k++) {
      extend(g, x[k] = shrunk(g, corner(part, 3 * f + k)));
      g->corner[3 * f + k] = x[k];
    }
    djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
    double size = dju_norm3(area);
    if (!(size > 0)) continue;
    djHalfSpace* side = &g->side[g->nface++];
    side->normal = dju_scale3(1 / size, area);
    side->offset =
        dju_dot3(side->normal, dju_scale3(1.0 / 3, dju_add3(x[0], dju_add3(x[1], x[2]))));
  }
}

static bool boxesMeet(const Shrunk* a, const Shrunk* b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
         b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Some facet of b has all of a on its outer side: then they share nothing.
static bool isBeyond(const Shrunk* a, const Shrunk* b) {
  for (int f = 0; f < b->nface; f++) {
    const djHalfSpace* h = &b->side[f];
    int k = 0;
    while (k < 3 * a->part->nface && dju_dot3(h->normal, a->corner[k]) >= h->offset) k++;
    if (k == 3 * a->part->nface) return true;
  }
  return false;
}

static bool beyond(double a, double b, double c, double low, double high) {
  return (a < low && b < low && c < low) || (a > high && b > high && c > high);
}

static bool triangleMeets(const djVec3 x[3], const Shrunk* b) {
  return !beyond(x[0].x, x[1].x, x[2].x, b->low.x, b->high.x) &&
         !beyond(x[0].y, x[1].y, x[2].y, b->low.y, b->high.y) &&
         !beyond(x[0].z, x[1].z, x[2].z, b->low.z, b->high.z);
}

// What does something with a piece of the union's surface: a triangle that belongs to a face.
typedef struct Visitor {
  djMoments* moments;      // or NULL
  djVec3 from;
  djPolygons* surface; // or NULL
  double* const* by;
  const djQuadratic* f;
  bool excess;             // what is covered instead: whole faces less what is left of them
} Visitor;

static double valueOf(const djQuadratic* f, djVec3 x) {
  return f->a + dju_dot3(f->b, x) + dju_dot3(x, dju_mulMV(f->B, x));
}

// Integral of f w, w the weights of the face's corners, over a piece: exact for degree 4.
static void integrate(double out[3], const djVec3 piece[3], const djVec3 face[3],
                      const djQuadratic* f) {
  static const double weight[2] = {0.223381589678011, 0.109951743655322};
  static const double near[2] = {0.445948490915965, 0.091576213509771};
  djVec3 area = dju_cross3(dju_sub3(piece[1], piece[0]), dju_sub3(piece[2], piece[0]));
  djVec3 full = dju_cross3(dju_sub3(face[1], face[0]), dju_sub3(face[2], face[0]));
  double size = 0.5 * dju_norm3(area), square = dju_dot3(full, full);
  for (int p = 0; p < 6; p++) {
    double a = near[p / 3], l[3] = {a, a, a};
    l[p % 3] = 1 - 2 * a;
    djVec3 x = {0, 0, 0};
    for (int k = 0; k < 3; k++) x = dju_madd3(x, l[k], piece[k]);
    double value = size * weight[p / 3] * valueOf(f, x);
    for (int k = 0; k < 3; k++) {
      djVec3 a1 = dju_sub3(face[(k + 1) % 3], x), a2 = dju_sub3(face[(k + 2) % 3], x);
      out[k] += value * dju_dot3(dju_cross3(a1, a2), full) / square;
    }
  }
}

static djStatus visit(const Visitor* v, double sign, const djVec3 piece[3], const djPolytope* part,
                      int index, int face) {
  if (v->surface) return dj_addPolygon(v->surface, 3, piece);
  if (v->moments) {
    const djVec3 turned[3] = {piece[0], piece[sign > 0 ? 1 : 2], piece[sign > 0 ? 2 : 1]};
    dj_addTetrahedron(v->moments, turned, v->from);
    return DJ_OK;
  }
  double weight[3] = {0, 0, 0};
  djVec3 x[3];
  for (int k = 0; k < 3; k++) x[k] = corner(part, 3 * face + k);
  djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
  double size = dju_norm3(area);
  if (!(size > 0)) return DJ_OK;
  integrate(weight, piece, x, v->f);
  for (int k = 0; k < 3; k++) {
    dju_addTo3(v->by[index] + 3 * (size_t)part->face[3 * face + k], sign * weight[k] / size,
               area);
  }
  return DJ_OK;
}

// Whole faces in one piece, the others by the polygons that are left, on the part as it is.
static djStatus visitPieces(const Visitor* v, const Shrunk* g, int index, int face,
                            const djPolygons* left) {
  djStatus status = DJ_OK;
  for (int p = 0; p < left->n && status == DJ_OK; p++) {
    int start = dj_polygonStart(left, p);
    for (int k = start + 2; k < left->end[p] && status == DJ_OK; k++) {
      djVec3 piece[3] = {left->point[start], left->point[k - 1], left->point[k]};
      for (int i = 0; i < 3; i++) {
        djVec3 arm = dju_sub3(piece[i], g->middle);
        piece[i] = dju_madd3(g->middle, 1 / (1 + g->scale), arm);
      }
      status = visit(v, v->excess ? -1 : 1, piece, g->part, index, face);
    }
  }
  return status;
}

typedef struct Scratch {
  djPolygons left, next;
  int n;
  int* near; // parts whose boxes meet that of the part in hand
} Scratch;

static djStatus visitFace(const Visitor* v, const Shrunk* all, int index, int face, Scratch* s) {
  const Shrunk* g = &all[index];
  const djVec3* x = g->corner + 3 * face;
  djVec3 own[3];
  bool cut = false;
  for (int k = 0; k < 3; k++) own[k] = corner(g->part, 3 * face + k);
  s->left.n = 0;
  djStatus status = dj_addPolygon(&s->left, 3, x);
  for (int k = 0; k < s->n && status == DJ_OK && s->left.n > 0; k++) {
    const Shrunk* other = &all[s->near[k]];
    if (!triangleMeets(x, other)) continue;
    s->next.n = 0;
    status = dj_subtractSolid(&s->next, &s->left, other->nface, other->side);
    djPolygons swap = s->left;
    s->left = s->next;
    s->next = swap;
    cut = true;
  }
  if (status < 0) return status;
  // In one piece: as if nothing had met it.
  bool whole = !cut || (s->left.n == 1 && s->left.end[0] == 3 &&
                        dju_norm3(dju_sub3(s->left.point[0], x[0])) == 0 &&
                        dju_norm3(dju_sub3(s->left.point[1], x[1])) == 0 &&
                        dju_norm3(dju_sub3(s->left.point[2], x[2])) == 0);
  if (whole != v->excess) status = visit(v, 1, own, g->part, index, face);
  if (!whole && status == DJ_OK) status = visitPieces(v, g, index, face, &s->left);
  return status;
}

static djStatus visitAll(const Visitor* v, int n, const Shrunk* all, Scratch* s) {
  djStatus status = DJ_OK;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    s->n = 0;
    for (int j = 0; j < n; j++) {
      if (j == i || all[j].nface == 0 || !boxesMeet(&all[i], &all[j])) continue;
      if (!isBeyond(&all[i], &all[j]) && !isBeyond(&all[j], &all[i])) s->near[s->n++] = j;
    }
    if (v->excess && s->n == 0) continue;
    for (int f = 0; f < all[i].part->nface && status == DJ_OK; f++) {
      status = visitFace(v, all, i, f, s);
    }
  }
  return status;
}

static djStatus visitUnion(const Visitor* v, int n, const djPolytope* part) {
  size_t nface = 0;
  for (int k = 0; k < n; k++) nface += (size_t)part[k].nface;
  Shrunk* all = calloc((size_t)n + 1, sizeof *all);
  djHalfSpace* side = malloc((nface + 1) * sizeof *side);
  djVec3* corners = malloc((3 * nface + 1) * sizeof *corners);
  Scratch s = {.near = malloc(((size_t)n + 1) * sizeof *s.near)};
  djStatus status = all && side && corners && s.near ? DJ_OK : DJ_NO_MEMORY;
  for (int k = 0, at = 0; k < n && status == DJ_OK; at += part[k++].nface) {
    all[k].side = side + at;
    all[k].corner = corners + 3 * at;
    shrink(&all[k], &part[k], k, v->surface ? GROW : -SHRINK);
  }
  if (status == DJ_OK) status = visitAll(v, n, all, &s);
  dj_freePolygons(&s.left);
  dj_freePolygons(&s.next);
  free(s.near);
  free(corners);
  free(side);
  free(all);
  return status;
}

static djStatus addMoments(djMoments* moments, int n, const djPolytope* part, bool excess) {
  djVec3 from = {0, 0, 0};
  double count = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 3 * part[k].nface; i++) from = dju_add3(from, corner(&part[k], i));
    count += 3 * part[k].nface;
  }
  if (count == 0) return DJ_OK;
  djMoments sum = {0};
  djPose pose = {dju_scale3(1 / count, from), dju_eye3()};
  Visitor v = {.moments = &sum, .from = pose.p, .excess = excess};
  djStatus status = visitUnion(&v, n, part);
  if (status == DJ_OK) dj_addCarried(moments, &sum, &pose);
  return status;
}

djStatus dj_unionMoments(djMoments* moments, int n, const djPolytope* part) {
  return addMoments(moments, n, part, false);
}

djStatus dj_excessMoments(djMoments* moments, int n, const djPolytope* part) {
  return addMoments(moments, n, part, true);
}

djStatus dj_unionParams(double* const* by, int n, const djPolytope* part, const djQuadratic* f) {
  Visitor v = {.by = by, .f = f};
  return visitUnion(&v, n, part);
}

djStatus dj_excessParams(double* const* by, int n, const djPolytope* part, const djQuadratic* f) {
  Visitor v = {.by = by, .f = f, .excess = true};
  return visitUnion(&v, n, part);
}

djStatus dj_unionSurface(djPolygons* surface, int n, const djPolytope* part) {
  Visitor v = {.surface = surface};
  return visitUnion(&v, n, part);
}
