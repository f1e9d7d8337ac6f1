// Meshes of tests of grids, with distances and windings by brute force.

#ifndef DJ_TESTS_GRID_CASE_H_
#define DJ_TESTS_GRID_CASE_H_

#include "common/near.h"
#include "common/random.h"
#include "common/solid_mesh.h"
#include "shape/grid.h"

#include <math.h>
#include <stdbool.h>

#define CHECK(x) assert_true(x)

// A box in a box, whose triangles face inward: hollow.
static inline SolidMesh makeHollow(void) {
  SolidMesh out = makeBoxSolid(0.5, 0.4, 0.3), in = makeBoxSolid(0.3, 0.2, 0.1);
  turnInsideOut(&in, 0);
  SolidMesh both = joinSolids(&out, &in);
  freeSolid(&out);
  freeSolid(&in);
  return both;
}

// Flat, so that spacings differ.
static const double PLATE[3] = {0.3, 0.2, 0.02};

static inline SolidMesh makeSample(int which) {
  switch (which) {
    case 0:
      return makeBoxSolid(PLATE[0], PLATE[1], PLATE[2]);
    case 1:
      return makeL();
    case 2:
      return makeTorus(0.5, 0.2, 20, 10);
    default:
      return makeHollow();
  }
}
enum { NSAMPLE = 4 };

static inline djGrid makeGrid(const SolidMesh* m) {
  djGrid grid;
  djError err = {""};
  djStatus status = dj_makeGrid(&grid, m->nvert, m->vert, m->ntri, m->tri, NULL, &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
  return grid;
}

// In the grid's box, or out of it by so much.
static inline void randomPlace(double x[3], djRng* rng, const djGrid* g, double times) {
  for (int k = 0; k < 3; k++) {
    x[k] = g->box[k] + times * g->box[3 + k] * djt_uniform(rng, -1, 1);
  }
}

static inline double leastSpacing(const djGrid* g) { return fmin(g->h[0], fmin(g->h[1], g->h[2])); }

// Distance to triangle abc by its plane and edges, apart from the code under test.
static inline double toTriangle(const double* a, const double* b, const double* c,
                                const double x[3]) {
  const double* corner[3] = {a, b, c};
  djVec3 p = dju_load3(x),
         n = dju_cross3(dju_sub3(dju_load3(b), dju_load3(a)), dju_sub3(dju_load3(c), dju_load3(a)));
  double least = INFINITY;
  bool above = true;
  for (int k = 0; k < 3; k++) {
    djVec3 from = dju_load3(corner[k]);
    djVec3 e = dju_sub3(dju_load3(corner[(k + 1) % 3]), from), r = dju_sub3(p, from);
    double s = fmin(fmax(dju_dot3(e, r) / dju_dot3(e, e), 0), 1);
    least = fmin(least, dju_norm3(dju_madd3(r, -s, e)));
    above = above && dju_dot3(dju_cross3(n, e), r) >= 0;
  }
  djVec3 r = dju_sub3(p, dju_load3(a));
  return above ? fmin(least, fabs(dju_dot3(n, r)) / dju_norm3(n)) : least;
}

static inline double bruteDistance(const SolidMesh* m, const double x[3]) {
  double least = INFINITY;
  for (int t = 0; t < m->ntri; t++) {
    const int* v = m->tri + 3 * t;
    least = fmin(least, toTriangle(m->vert + 3 * v[0], m->vert + 3 * v[1], m->vert + 3 * v[2], x));
  }
  return least;
}

// Solid angle of all triangles over 4 pi (van Oosterom and Strackee 1983): 1 inside, 0 outside.
static inline double winding(const SolidMesh* m, const double x[3]) {
  double sum = 0;
  for (int t = 0; t < m->ntri; t++) {
    djVec3 r[3];
    double l[3];
    for (int k = 0; k < 3; k++) {
      r[k] = dju_sub3(dju_load3(m->vert + 3 * m->tri[3 * t + k]), dju_load3(x));
      l[k] = dju_norm3(r[k]);
    }
    double above = dju_dot3(r[0], dju_cross3(r[1], r[2]));
    double below = l[0] * l[1] * l[2] + dju_dot3(r[0], r[1]) * l[2] + dju_dot3(r[1], r[2]) * l[0] +
                   dju_dot3(r[2], r[0]) * l[1];
    sum += 2 * atan2(above, below);
  }
  return sum / (4 * 3.14159265358979323846);
}

static inline double bruteSigned(const SolidMesh* m, const double x[3]) {
  return (winding(m, x) > 0.5 ? -1 : 1) * bruteDistance(m, x);
}

#endif // DJ_TESTS_GRID_CASE_H_
