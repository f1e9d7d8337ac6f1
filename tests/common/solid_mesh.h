// Closed triangle meshes of tests, with their exact distances.

#ifndef DJ_TESTS_SOLID_MESH_H_
#define DJ_TESTS_SOLID_MESH_H_

#include "math/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct SolidMesh {
  int nvert, ntri;
  double* vert; // (nvert x 3)
  int* tri;     // (ntri x 3)
} SolidMesh;

static inline SolidMesh allocSolid(int nvert, int ntri) {
  SolidMesh m = {nvert, ntri, calloc(3 * (size_t)nvert, sizeof(double)),
                 calloc(3 * (size_t)ntri, sizeof(int))};
  return m;
}

static inline void freeSolid(SolidMesh* m) {
  free(m->vert);
  free(m->tri);
}

// A prism between z = -half and half over a polygon, counterclockwise, with its triangles.
static inline SolidMesh makePrism(int n, const double (*xy)[2], int nflat, const int (*flat)[3],
                                  double half) {
  SolidMesh m = allocSolid(2 * n, 2 * nflat + 2 * n);
  for (int i = 0; i < 2 * n; i++) {
    const double v[3] = {xy[i % n][0], xy[i % n][1], i < n ? -half : half};
    memcpy(m.vert + 3 * i, v, sizeof v);
  }
  int t = 0;
  for (int i = 0; i < nflat; i++) {
    const int down[3] = {flat[i][0], flat[i][2], flat[i][1]};
    const int up[3] = {flat[i][0] + n, flat[i][1] + n, flat[i][2] + n};
    memcpy(m.tri + 3 * t++, down, sizeof down);
    memcpy(m.tri + 3 * t++, up, sizeof up);
  }
  for (int i = 0; i < n; i++) {
    int j = (i + 1) % n;
    const int low[3] = {i, j, j + n}, high[3] = {i, j + n, i + n};
    memcpy(m.tri + 3 * t++, low, sizeof low);
    memcpy(m.tri + 3 * t++, high, sizeof high);
  }
  return m;
}

static inline SolidMesh makeBoxSolid(double a, double b, double c) {
  const double xy[4][2] = {{-a, -b}, {a, -b}, {a, b}, {-a, b}};
  const int flat[2][3] = {{0, 1, 2}, {0, 2, 3}};
  return makePrism(4, xy, 2, flat, c);
}

// An L in the square [0, 1]^2, its arms 0.4 wide, of height 0.5.
#define L_POINTS                                                                                   \
  {                                                                                                \
    {0, 0}, {1, 0}, {1, 0.4}, {0.4, 0.4}, {0.4, 1}, { 0, 1 }                                       \
  }
static inline SolidMesh makeL(void) {
  const double xy[6][2] = L_POINTS;
  const int flat[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 5}, {3, 4, 5}};
  return makePrism(6, xy, 4, flat, 0.25);
}

static inline double distanceOfL(const double x[3]) {
  const double p[6][2] = L_POINTS;
  double least = INFINITY, z = fabs(x[2]) - 0.25;
  for (int i = 0; i < 6; i++) {
    const double *a = p[i], *b = p[(i + 1) % 6];
    double e[2] = {b[0] - a[0], b[1] - a[1]}, r[2] = {x[0] - a[0], x[1] - a[1]};
    double s = (r[0] * e[0] + r[1] * e[1]) / (e[0] * e[0] + e[1] * e[1]);
    s = fmin(fmax(s, 0), 1);
    least = fmin(least, hypot(r[0] - s * e[0], r[1] - s * e[1]));
  }
  int in = x[0] > 0 && x[1] > 0 && x[0] < 1 && x[1] < 1 && (x[0] < 0.4 || x[1] < 0.4);
  double flat = in ? -least : least;
  return flat <= 0 || z <= 0 ? fmax(flat, z) : hypot(flat, z);
}

// About z: n segments round the axis, k round the tube.
static inline SolidMesh makeTorus(double R, double r, int n, int k) {
  SolidMesh m = allocSolid(n * k, 2 * n * k);
  int t = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < k; j++) {
      double u = 6.283185307179586 * i / n, w = 6.283185307179586 * j / k;
      const double v[3] = {(R + r * cos(w)) * cos(u), (R + r * cos(w)) * sin(u), r * sin(w)};
      int a = i * k + j, b = (i + 1) % n * k + j, c = (i + 1) % n * k + (j + 1) % k;
      int d = i * k + (j + 1) % k;
      const int one[3] = {a, b, c}, two[3] = {a, c, d};
      memcpy(m.vert + 3 * a, v, sizeof v);
      memcpy(m.tri + 3 * t++, one, sizeof one);
      memcpy(m.tri + 3 * t++, two, sizeof two);
    }
  }
  return m;
}

// Two in one.
static inline SolidMesh joinSolids(const SolidMesh* a, const SolidMesh* b) {
  SolidMesh m = allocSolid(a->nvert + b->nvert, a->ntri + b->ntri);
  memcpy(m.vert, a->vert, 3 * (size_t)a->nvert * sizeof(double));
  memcpy(m.vert + 3 * a->nvert, b->vert, 3 * (size_t)b->nvert * sizeof(double));
  memcpy(m.tri, a->tri, 3 * (size_t)a->ntri * sizeof(int));
  for (int i = 0; i < 3 * b->ntri; i++) m.tri[3 * a->ntri + i] = b->tri[i] + a->nvert;
  return m;
}

// Other windings.
static inline void turnInsideOut(SolidMesh* m, int from) {
  for (int t = from; t < m->ntri; t++) {
    int keep = m->tri[3 * t + 1];
    m->tri[3 * t + 1] = m->tri[3 * t + 2];
    m->tri[3 * t + 2] = keep;
  }
}

#endif // DJ_TESTS_SOLID_MESH_H_
