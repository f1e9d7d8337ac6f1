// Random rotations and vertex shapes for tests.

#ifndef DJ_TESTS_RANDOM_SHAPE_H_
#define DJ_TESTS_RANDOM_SHAPE_H_

#include "common/random.h"
#include "shape/hull.h"
#include "shape/shape.h"
#include "shape/support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef djRng Random;

static inline double uniform(Random* r, double low, double high) {
  return djt_uniform(r, low, high);
}
static inline int below(Random* r, int n) { return djt_integer(r, n); }
static inline double logUniform(Random* r, double low, double high) {
  return exp(uniform(r, log(low), log(high)));
}
// In a box with half sides x, y, z.
static inline djVec3 randomPoint(Random* r, double x, double y, double z) {
  double v[3];
  djt_uniforms(v, 3, r, -1, 1);
  return dju_vec3(x * v[0], y * v[1], z * v[2]);
}
static inline djVec3 randomUnit(Random* r) {
  for (;;) {
    djVec3 v = randomPoint(r, 1, 1, 1);
    double n = dju_norm3(v);
    if (n > 0.1 && n <= 1) return dju_scale3(1 / n, v);
  }
}
// In any direction: length uniform in [0, size), and log-uniform in [low, high).
static inline djVec3 randomWithin(Random* r, double size) {
  double length = uniform(r, 0, size);
  return dju_scale3(length, randomUnit(r));
}
static inline djVec3 randomAway(Random* r, double low, double high) {
  double length = logUniform(r, low, high);
  return dju_scale3(length, randomUnit(r));
}
static inline djQuat randomQuat(Random* r) {
  djVec3 axis = randomUnit(r);
  double angle = uniform(r, 0, 3.14);
  return (djQuat){cos(angle / 2), axis.x * sin(angle / 2), axis.y * sin(angle / 2),
                  axis.z * sin(angle / 2)};
}
static inline djQuat smallQuat(Random* r, double angle) {
  djVec3 v = dju_scale3(sin(angle / 2), randomUnit(r));
  return (djQuat){cos(angle / 2), v.x, v.y, v.z};
}

// A shape that owns its arrays; planes of the hull where it has a volume.
typedef struct TestShape {
  djShape shape;
  djHull hull;              // zero for flat ones
  double* buffer;
  int* list;
} TestShape;

// vert (n x 3), move (n x 3) or NULL.
static inline void setVertices(TestShape* t, int n, const double* vert, const double* move) {
  int npad = (n + DJ_LANES - 1) / DJ_LANES * DJ_LANES;
  t->buffer = calloc(6 * (size_t)npad, sizeof(double));
  djShape* s = &t->shape;
  s->type = DJ_MESH;
  s->nvert = n;
  s->npad = npad;
  for (int k = 0; k < 3; k++) {
    double* v = t->buffer + k * npad;
    double* m = t->buffer + (3 + k) * npad;
    for (int i = 0; i < npad; i++) {
      v[i] = vert[3 * (i < n ? i : 0) + k];
      m[i] = move ? move[3 * (i < n ? i : 0) + k] : 0;
    }
    s->vert[k] = v;
    s->move[k] = m;
  }
}
// Lists for supports, as models have them, that hold for an erosion of `reach`.
static inline void listHull(TestShape* t, double reach) {
  int room = dj_listRoom(t->hull.nvert);
  free(t->list);
  t->list = calloc((size_t)room + 1, sizeof(int));
  djStatus status = dj_makeLists(t->list, &t->shape.list_axes, t->hull.nvert, t->hull.vert,
                                 t->hull.move, reach);
  t->shape.list = room > 0 && status == DJ_OK ? t->list : NULL;
  t->shape.list_reach = reach;
}
// The hull of the points, with erosion vectors. Returns dj_makeHull's status.
static inline djStatus setHull(TestShape* t, int n, const double* vert) {
  memset(t, 0, sizeof *t);
  djStatus status = dj_makeHull(&t->hull, n, vert, 0, NULL, NULL);
  if (status != DJ_OK) return status;
  setVertices(t, t->hull.nvert, t->hull.vert, t->hull.move);
  t->shape.center = t->hull.center;
  t->shape.inner = t->hull.inner;
  t->shape.bound = t->hull.bound;
  listHull(t, 0.1 * t->hull.inner);
  return DJ_OK;
}
static inline void freeShape(TestShape* t) {
  dj_freeHull(&t->hull);
  free(t->buffer);
  free(t->list);
  memset(t, 0, sizeof *t);
}

static inline void boxVertices(double vert[24], double x, double y, double z) {
  for (int i = 0; i < 8; i++) {
    vert[3 * i] = i & 1 ? x : -x;
    vert[3 * i + 1] = i & 2 ? y : -y;
    vert[3 * i + 2] = i & 4 ? z : -z;
  }
}
// n points in a ball (kind 0), on a sphere (1), in a cube (2), on a grid of the cube (3).
static inline void cloud(Random* r, int kind, int n, double* vert) {
  for (int i = 0; i < n; i++) {
    djVec3 v = randomUnit(r);
    if (kind == 0) v = dju_scale3(uniform(r, 0, 1), v);
    if (kind >= 2) v = randomPoint(r, 1, 1, 1);
    if (kind == 3) v = dju_vec3(round(2 * v.x) / 2, round(2 * v.y) / 2, round(2 * v.z) / 2);
    dju_store3(vert + 3 * i, v);
  }
}

#endif  // DJ_TESTS_RANDOM_SHAPE_H_
