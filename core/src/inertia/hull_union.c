#include "inertia/hull_union.h"

#include "inertia/covered.h"

#include <stdlib.h>

// Part k is smaller by SHRINK times root 2 plus a fraction of its own.
#define SHRINK 1e-10
// For surfaces they are larger by that, so that faces that touch are inside.
#define GROW 1e-6

static djVec3 corner(const djPolytope* part, int k) {
  return dju_load3(part->vert + 3 * (size_t)part->face[k]);
}

// ------------------------------------------ moments --------------------------------------------

// A point amid all corners; false: there are none.
static bool middleOf(djVec3* middle, int n, const djPolytope* part) {
  djVec3 sum = {0, 0, 0};
  double count = 0;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < 3 * part[k].nface; i++) sum = dju_add3(sum, corner(&part[k], i));
    count += 3 * part[k].nface;
  }
  *middle = dju_scale3(count > 0 ? 1 / count : 0, sum);
  return count > 0;
}

static djStatus addCovered(djCover* c, int n, const djPolytope* part) {
  djSolids solids;
  djStatus status = dj_makeSolids(&solids, n, part, -SHRINK);
  if (status == DJ_OK) status = dj_visitCovered(c, &solids);
  dj_freeSolids(&solids);
  return status;
}

djStatus dj_excessMoments(djMoments* moments, int n, const djPolytope* part) {
  djCover cover = {0};
  if (!middleOf(&cover.from, n, part)) return DJ_OK;
  djStatus status = addCovered(&cover, n, part);
  if (status < 0) return status;
  djMoments sum = dj_conesMoments(&cover.cones);
  djPose pose = {cover.from, dju_eye3()};
  dj_addCarried(moments, &sum, &pose);
  return DJ_OK;
}

djStatus dj_unionMoments(djMoments* moments, int n, const djPolytope* part) {
  djCover cover = {0};
  djPose pose = {.R = dju_eye3()};
  if (!middleOf(&pose.p, n, part)) return DJ_OK;
  cover.from = pose.p;
  djStatus status = addCovered(&cover, n, part);
  if (status < 0) return status;
  djMoments excess = dj_conesMoments(&cover.cones), sum;
  cover.cones = (djCones){0};
  for (int k = 0; k < n; k++) {
    for (int f = 0; f < part[k].nface; f++) {
      djVec3 x[3];
      for (int i = 0; i < 3; i++) x[i] = dju_sub3(corner(&part[k], 3 * f + i), pose.p);
      dj_addCone(&cover.cones, x[0], x[1], x[2]);
    }
  }
  sum = dj_conesMoments(&cover.cones);
  sum.volume -= excess.volume;
  sum.first = dju_sub3(sum.first, excess.first);
  for (int i = 0; i < 9; i++) sum.second.m[i] -= excess.second.m[i];
  dj_addCarried(moments, &sum, &pose);
  return DJ_OK;
}

// ------------------------------------------ derivatives ----------------------------------------

typedef struct Params {
  djCover cover; // first
  double* const* by;
  const djPolytope* part;
  const djQuadratic* f;
} Params;

static double valueOf(const djQuadratic* f, djVec3 x) {
  return f->a + dju_dot3(f->b, x) + dju_dot3(x, dju_mulMV(f->B, x));
}

// Integral of f w, w the weights of the face's corners, over a piece in the face's plane: exact for
// degree 4. area: twice the face's area vector.
static void integrate(double out[3], const djVec3 piece[3], const djVec3 face[3], djVec3 area,
                      const djQuadratic* f) {
  static const double weight[2] = {0.223381589678011, 0.109951743655322};
  static const double near[2] = {0.445948490915965, 0.091576213509771};
  djVec3 own = dju_cross3(dju_sub3(piece[1], piece[0]), dju_sub3(piece[2], piece[0]));
  double square = dju_dot3(area, area), size = 0.5 * dju_dot3(own, area) / sqrt(square);
  for (int p = 0; p < 6; p++) {
    double a = near[p / 3], l[3] = {a, a, a};
    l[p % 3] = 1 - 2 * a;
    djVec3 x = {0, 0, 0};
    for (int k = 0; k < 3; k++) x = dju_madd3(x, l[k], piece[k]);
    double value = size * weight[p / 3] * valueOf(f, x);
    for (int k = 0; k < 3; k++) {
      djVec3 a1 = dju_sub3(face[(k + 1) % 3], x), a2 = dju_sub3(face[(k + 2) % 3], x);
      out[k] += value * dju_dot3(dju_cross3(a1, a2), area) / square;
    }
  }
}

static void visitParams(djCover* c, int solid, int face, djVec3 a, djVec3 b) {
  const Params* p = (const Params*)(void*)c;
  const djPolytope* part = &p->part[solid];
  double weight[3] = {0, 0, 0};
  djVec3 x[3];
  for (int k = 0; k < 3; k++) x[k] = corner(part, 3 * face + k);
  djVec3 area = dju_cross3(dju_sub3(x[1], x[0]), dju_sub3(x[2], x[0]));
  double size = dju_norm3(area);
  if (!(size > 0)) return;
  integrate(weight, (const djVec3[3]){x[0], a, b}, x, area, p->f);
  for (int k = 0; k < 3; k++) {
    dju_addTo3(p->by[solid] + 3 * (size_t)part->face[3 * face + k], weight[k] / size, area);
  }
}

djStatus dj_excessParams(double* const* by, int n, const djPolytope* part, const djQuadratic* f) {
  Params p = {.cover = {.visit = visitParams}, .by = by, .part = part, .f = f};
  return addCovered(&p.cover, n, part);
}

// ------------------------------------------ surface --------------------------------------------

typedef struct Scratch {
  djSolids solids;
  djPolygons left, next;
  uint64_t* cut; // words of the largest solid
} Scratch;

// The point of the part as it is.
static djVec3 unscaled(const djSolid* g, djVec3 x) {
  return dju_madd3(g->middle, 1 / (1 + g->scale), dju_sub3(x, g->middle));
}

// Takes away what is inside of a solid; sides that do not cut a face hold all of it.
static djStatus subtract(Scratch* s, const djSolid* other) {
  s->next.n = 0;
  djStatus status = dj_subtractSolid(&s->next, &s->left, other->nword, s->cut, other->side);
  djPolygons swap = s->left;
  s->left = s->next;
  s->next = swap;
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
    const djSolid* other = &s->solids.solid[s->solids.near[k].other];
    if (!dj_mayEnter(s->cut, other, x)) continue;
    status = subtract(s, other);
    cut = true;
  }
  if (!cut && status == DJ_OK) return dj_addPolygon(surface, 3, own);
  for (int p = 0; p < s->left.n && status == DJ_OK; p++) {
    int start = dj_polygonStart(&s->left, p);
    for (int k = start + 2; k < s->left.end[p] && status == DJ_OK; k++) {
      const djVec3 piece[3] = {unscaled(g, s->left.point[start]), unscaled(g, s->left.point[k - 1]),
                               unscaled(g, s->left.point[k])};
      status = dj_addPolygon(surface, 3, piece);
    }
  }
  return status;
}

djStatus dj_unionSurface(djPolygons* surface, int n, const djPolytope* part) {
  Scratch s = {0};
  int most = 1;
  djStatus status = dj_makeSolids(&s.solids, n, part, GROW);
  for (int k = 0; k < n && status == DJ_OK; k++) {
    if (s.solids.solid[k].nword > most) most = s.solids.solid[k].nword;
  }
  s.cut = malloc((size_t)most * sizeof *s.cut);
  if (!s.cut) status = DJ_NO_MEMORY;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    for (int f = 0; f < part[i].nface && status == DJ_OK; f++) {
      status = addOuter(surface, i, f, &s);
    }
  }
  dj_freePolygons(&s.left);
  dj_freePolygons(&s.next);
  dj_freeSolids(&s.solids);
  free(s.cut);
  return status;
}
