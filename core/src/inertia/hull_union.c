#include "inertia/hull_union.h"

#include "inertia/solids.h"

#include <stdlib.h>

// Part k is smaller by SHRINK times root 2 plus a fraction of its own.
#define SHRINK 1e-10
// For surfaces they are larger by that, so that faces that touch are inside.
#define GROW 1e-6

static djVec3 corner(const djPolytope* part, int k) {
  return dju_load3(part->vert + 3 * (size_t)part->face[k]);
}

// What does something with a piece of a face: a triangle.
typedef struct Visitor {
  djMoments* moments;      // or NULL
  djVec3 from;
  double* const* by;
  const djQuadratic* f;
  bool excess;             // what is covered; else whole faces less that
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

static void visit(const Visitor* v, double sign, const djVec3 piece[3], const djPolytope* part,
                  int index, int face) {
  if (v->moments) {
    const djVec3 turned[3] = {piece[0], piece[sign > 0 ? 1 : 2], piece[sign > 0 ? 2 : 1]};
    dj_addTetrahedron(v->moments, turned, v->from);
    return;
  }
  double weight[3] = {0, 0, 0};
  djVec3 x[3];
  for (int k = 0; k < 3; k++) x[k] = corner(part, 3 * face + k);
  djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
  double size = dju_norm3(area);
  if (!(size > 0)) return;
  integrate(weight, piece, x, v->f);
  for (int k = 0; k < 3; k++) {
    dju_addTo3(v->by[index] + 3 * (size_t)part->face[3 * face + k], sign * weight[k] / size,
               area);
  }
}

static void visitWhole(const Visitor* v, double sign, const djPolytope* part, int index, int face) {
  djVec3 own[3];
  for (int k = 0; k < 3; k++) own[k] = corner(part, 3 * face + k);
  visit(v, sign, own, part, index, face);
}

// The point of the part as it is.
static djVec3 unscaled(const djSolid* g, djVec3 x) {
  return dju_madd3(g->middle, 1 / (1 + g->scale), dju_sub3(x, g->middle));
}

static void visitPolygons(const Visitor* v, const djSolid* g, int index, int face,
                          const djPolygons* list) {
  for (int p = 0; p < list->n; p++) {
    int start = dj_polygonStart(list, p);
    djVec3 piece[3] = {unscaled(g, list->point[start]), {0, 0, 0}, {0, 0, 0}};
    for (int k = start + 1; k < list->end[p]; k++) {
      piece[1] = piece[2];
      piece[2] = unscaled(g, list->point[k]);
      if (k > start + 1) visit(v, v->excess ? 1 : -1, piece, g->part, index, face);
    }
  }
}

typedef struct Scratch {
  djSolids solids;
  djPolygons left, next;
  int most;                // words of a solid
  uint64_t* cut;           // (solids + 1, most) of those that are seen, then of the one in hand
  int* seen;               // (solids) near solids that cover some of the face in hand
} Scratch;

// Sides that cut a face: the others hold all of it.
static djStatus subtract(Scratch* s, const djSolid* other, const uint64_t* cut) {
  s->next.n = 0;
  djStatus status = dj_subtractSolid(&s->next, &s->left, other->nword, cut, other->side);
  djPolygons swap = s->left;
  s->left = s->next;
  s->next = swap;
  return status;
}

static bool isZero(const uint64_t* word, int n) {
  for (int w = 0; w < n; w++) {
    if (word[w]) return false;
  }
  return true;
}

// What near solids cover of a face, each point once: what is inside of each of them, less those
// before.
static djStatus visitCovered(const Visitor* v, int index, int face, Scratch* s) {
  const djSolid* g = &s->solids.solid[index];
  const djVec3 x[3] = {g->vert[g->face[3 * face]], g->vert[g->face[3 * face + 1]],
                       g->vert[g->face[3 * face + 2]]};
  int nseen = 0;
  djStatus status = DJ_OK;
  if (!v->excess) visitWhole(v, 1, g->part, index, face);
  for (int k = g->near_begin; k < g->near_end && status == DJ_OK; k++) {
    const djNear* near = &s->solids.near[k];
    const djSolid* other = &s->solids.solid[near->other];
    int n;
    djVec3* inside;
    uint64_t* cut = s->cut + (size_t)nseen * (size_t)s->most;
    if (!dj_mayEnter(cut, &s->solids, index, face, near)) continue;
    if (nseen == 0 && isZero(cut, other->nword)) {
      visitWhole(v, v->excess ? 1 : -1, g->part, index, face);
      return DJ_OK;
    }
    status = dj_clipPolygon(&s->next, &n, &inside, 3, x, other->nword, cut, other->side);
    if (status < 0 || n < 3) continue;
    s->left.n = 0;
    status = dj_addPolygon(&s->left, n, inside);
    for (int j = 0; j < nseen && status == DJ_OK; j++) {
      status = subtract(s, &s->solids.solid[s->seen[j]], s->cut + (size_t)j * (size_t)s->most);
    }
    s->seen[nseen++] = near->other;
    if (status == DJ_OK) visitPolygons(v, g, index, face, &s->left);
  }
  return status;
}

// Adds what is left of a face outside of all others.
static djStatus addOuter(djPolygons* surface, int index, int face, Scratch* s) {
  const djSolid* g = &s->solids.solid[index];
  djVec3 x[3], own[3];
  bool cut = false;
  for (int k = 0; k < 3; k++) {
    x[k] = g->vert[g->face[3 * face + k]];
    own[k] = corner(g->part, 3 * face + k);
  }
  s->left.n = 0;
  djStatus status = dj_addPolygon(&s->left, 3, x);
  for (int k = g->near_begin; k < g->near_end && status == DJ_OK && s->left.n > 0; k++) {
    const djNear* near = &s->solids.near[k];
    if (!dj_mayEnter(s->cut, &s->solids, index, face, near)) continue;
    status = subtract(s, &s->solids.solid[near->other], s->cut);
    cut = true;
  }
  if (!cut && status == DJ_OK) return dj_addPolygon(surface, 3, own);
  for (int p = 0; p < s->left.n && status == DJ_OK; p++) {
    int start = dj_polygonStart(&s->left, p);
    for (int k = start + 2; k < s->left.end[p] && status == DJ_OK; k++) {
      const djVec3 piece[3] = {unscaled(g, s->left.point[start]),
                               unscaled(g, s->left.point[k - 1]), unscaled(g, s->left.point[k])};
      status = dj_addPolygon(surface, 3, piece);
    }
  }
  return status;
}

// With a visitor, or to add the surface.
static djStatus visitAll(const Visitor* v, djPolygons* surface, int n, const djPolytope* part) {
  Scratch s = {.seen = malloc(((size_t)n + 1) * sizeof *s.seen)};
  djStatus status = dj_makeSolids(&s.solids, n, part, surface ? GROW : -SHRINK);
  s.most = 1;
  for (int k = 0; k < n && status == DJ_OK; k++) {
    if (s.solids.solid[k].nword > s.most) s.most = s.solids.solid[k].nword;
  }
  s.cut = malloc(((size_t)n + 1) * (size_t)s.most * sizeof *s.cut);
  if (!s.cut || !s.seen) status = DJ_NO_MEMORY;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    const djSolid* g = &s.solids.solid[i];
    if (v && v->excess && g->near_begin == g->near_end) continue;
    for (int f = 0; f < part[i].nface && status == DJ_OK; f++) {
      status = surface ? addOuter(surface, i, f, &s) : visitCovered(v, i, f, &s);
    }
  }
  dj_freePolygons(&s.left);
  dj_freePolygons(&s.next);
  dj_freeSolids(&s.solids);
  free(s.cut);
  free(s.seen);
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
  djStatus status = visitAll(&v, NULL, n, part);
  if (status == DJ_OK) dj_addCarried(moments, &sum, &pose);
  return status;
}

djStatus dj_unionMoments(djMoments* moments, int n, const djPolytope* part) {
  return addMoments(moments, n, part, false);
}

djStatus dj_excessMoments(djMoments* moments, int n, const djPolytope* part) {
  return addMoments(moments, n, part, true);
}

djStatus dj_excessParams(double* const* by, int n, const djPolytope* part, const djQuadratic* f) {
  Visitor v = {.by = by, .f = f, .excess = true};
  return visitAll(&v, NULL, n, part);
}

djStatus dj_unionSurface(djPolygons* surface, int n, const djPolytope* part) {
  return visitAll(NULL, surface, n, part);
}
