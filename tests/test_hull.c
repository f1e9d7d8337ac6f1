// Hulls: points inside all planes, Euler's formula, known solids, erosion vectors by their
// optimality conditions, units, and refusal of bad input.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"

#define CHECK(x) assert_true(x)

// The triangle is a facet of its own.
static bool isAlone(const djHull* h, int f) {
  int n = 0;
  for (int g = 0; g < h->nface; g++) n += h->group[g] == h->group[f];
  return n == 1;
}

// What holds of every hull.
static void checkHull(const djHull* h, int n, const double* vert, double size) {
  for (int f = 0; f < h->nface; f++) {
    const double* p = h->plane + 4 * f;
    djt_near(dju_norm3(dju_load3(p)), 1, 1e-12);
    for (int i = 0; i < n; i++) {
      CHECK(dju_dot3(dju_load3(p), dju_load3(vert + 3 * i)) - p[3] <= 1e-11 * size);
    }
    const int* v = h->face + 3 * f;
    for (int k = 0; k < 3; k++) {
      CHECK(v[k] >= 0 && v[k] < h->nvert);
      djt_near(dju_dot3(dju_load3(p), dju_load3(h->vert + 3 * v[k])), p[3],
                (isAlone(h, f) ? 1e-11 : 1e-5) * size);
    }
    djt_near(fmax(p[3] - dju_dot3(dju_load3(p), h->center), h->inner),
              p[3] - dju_dot3(dju_load3(p), h->center), 1e-12 * size);
  }
  for (int f = 0; f < h->nface; f++) {   // in one order, whatever qhull's was
    const int *v = h->face + 3 * f, *before = v - 3;
    CHECK(v[0] < v[1] && v[0] < v[2]);
    CHECK(f == 0 || before[0] < v[0] || (before[0] == v[0] && before[1] < v[1]) ||
          (before[0] == v[0] && before[1] == v[1] && before[2] < v[2]));
  }
  assert_int_equal(h->nface, 2 * h->nvert - 4);   // Euler, closed triangulation
  assert_int_equal(h->adjadr[h->nvert], 3 * h->nface);
  for (int i = 0; i < h->nvert; i++) {
    CHECK(i == 0 || h->id[i] > h->id[i - 1]);
    assert_memory_equal(h->vert + 3 * i, vert + 3 * h->id[i], 3 * sizeof(double));
    CHECK(h->adjadr[i + 1] - h->adjadr[i] >= 3);
    for (int k = h->adjadr[i]; k < h->adjadr[i + 1]; k++) {
      int j = h->adj[k], back = 0;
      for (int l = h->adjadr[j]; l < h->adjadr[j + 1]; l++) back += h->adj[l] == i;
      assert_int_equal(back, 1);
    }
  }
}

// m is shortest: every n.m >= 1, and m lies in the cone of the normals with n.m = 1, which is so
// when no direction from m shortens it: checked by random feasible points.
static void checkMoves(Random* r, const djHull* h) {
  for (int i = 0; i < h->nvert; i++) {
    djVec3 m = dju_load3(h->move + 3 * i);
    double least = INFINITY;
    for (int f = 0; f < h->nface; f++) {
      const int* v = h->face + 3 * f;
      if (v[0] != i && v[1] != i && v[2] != i) continue;
      double d = dju_dot3(m, dju_load3(h->plane + 4 * f));
      if (!(d >= 1 - 1e-9)) fail_msg("%.17g, length %g", 1 - d, dju_norm3(m));
      least = fmin(least, d);
    }
    djt_near(least, 1, 1e-9);
    for (int trial = 0; trial < 20; trial++) {
      djVec3 other = dju_add3(m, dju_scale3(dju_norm3(m), randomAway(r, 1e-4, 2)));
      double scale = INFINITY;
      for (int f = 0; f < h->nface; f++) {
        const int* v = h->face + 3 * f;
        if (v[0] != i && v[1] != i && v[2] != i) continue;
        scale = fmin(scale, dju_dot3(other, dju_load3(h->plane + 4 * f)));
      }
      if (scale > 0) CHECK(dju_norm3(other) / scale >= dju_norm3(m) * (1 - 1e-9));
    }
  }
}

static void testBox(void) {
  for (double size = 1e-6; size < 2e3; size *= 10) {
    double vert[24 + 9 * 3];
    boxVertices(vert, size, 2 * size, 0.5 * size);
    for (int i = 0; i < 24; i++) vert[i] += size * 0.25;
    for (int i = 8; i < 17; i++) {   // points inside, on faces, doubles
      for (int k = 0; k < 3; k++) vert[3 * i + k] = vert[3 * (i - 8) + k];
      if (i % 3 == 0) vert[3 * i] = 0.3 * size;
    }
    djHull h;
    djError err;
    assert_int_equal(dj_makeHull(&h, 17, vert, 0, NULL, &err), DJ_OK);
    assert_int_equal(h.nvert, 8);
    checkHull(&h, 17, vert, 2 * size);
    djt_near(h.inner, 0.5 * size, 1e-12 * size);
    djt_near(h.bound, size * sqrt(1 + 4 + 0.25), 1e-12 * size);
    for (int k = 0; k < 3; k++) djt_near((&h.center.x)[k], 0.25 * size, 1e-12 * size);
    for (int i = 0; i < 8; i++) {
      for (int k = 0; k < 3; k++) {
        double side = h.vert[3 * i + k] > 0.25 * size ? 1 : -1;
        djt_near(h.move[3 * i + k], side, 1e-12);
      }
    }
    // The same from its own triangles.
    djHull g;
    assert_int_equal(dj_makeHull(&g, h.nvert, h.vert, h.nface, h.face, &err), DJ_OK);
    checkHull(&g, h.nvert, h.vert, 2 * size);
    for (int i = 0; i < 24; i++) djt_near(g.move[i], h.move[i], 1e-12);
    djt_near(g.inner, h.inner, 1e-12 * size);
    dj_freeHull(&g);
    dj_freeHull(&h);
  }
}

static void testRandom(void) {
  Random r = {7};
  static double vert[3 * 400];
  int made = 0;
  for (int trial = 0; trial < 400; trial++) {
    int n = 4 + below(&r, trial % 8 == 0 ? 396 : 40), kind = below(&r, 4);
    double size = logUniform(&r, 1e-6, 1e3), thin = logUniform(&r, 1e-2, 1);
    cloud(&r, kind, n, vert);
    djMat3 R = dju_quatToMat(randomQuat(&r));
    for (int i = 0; i < n; i++) {
      djVec3 v = dju_load3(vert + 3 * i);
      v.x *= thin;
      if (kind != 3) v = dju_mulMV(R, v);
      dju_store3(vert + 3 * i, dju_scale3(size, v));
    }
    djHull h;
    djError err;
    djStatus status = dj_makeHull(&h, n, vert, 0, NULL, &err);
    if (status != DJ_OK) {
      CHECK(kind == 3 || n < 6);   // few points, or all on one plane of the grid
      assert_null(h.buffer);
      continue;
    }
    made++;
    checkHull(&h, n, vert, size);
    checkMoves(&r, &h);
    CHECK(h.inner > 0 && h.inner < h.bound);
    dj_freeHull(&h);
  }
  CHECK(made > 350);
}

// A finely triangulated sphere moves along its radii; a cone's tip moves by 1/sin(half angle).
static void testKnownMoves(void) {
  enum { N = 32 };
  double vert[3 * (N + 1)];
  for (int i = 0; i < N; i++) {
    vert[3 * i] = cos(2 * M_PI * i / N);
    vert[3 * i + 1] = sin(2 * M_PI * i / N);
    vert[3 * i + 2] = 0;
  }
  vert[3 * N] = vert[3 * N + 1] = 0;
  vert[3 * N + 2] = 5;
  djHull h;
  assert_int_equal(dj_makeHull(&h, N + 1, vert, 0, NULL, NULL), DJ_OK);
  // facets touch the cone of radius cos(pi/N)
  double half_angle = atan2(cos(M_PI / N), 5);
  djt_near(h.move[3 * N + 2], 1 / sin(half_angle), 1e-9);
  djt_near(h.move[3 * N], 0, 1e-9);
  djt_near(h.center.z, 5.0 / 4, 1e-12);
  dj_freeHull(&h);
  double m[3];
  const double opposite[] = {1, 0, 0, -1, 0, 0}, one[] = {0, 1, 0};
  CHECK(!dj_erosionVector(m, 2, opposite));
  CHECK(dj_erosionVector(m, 1, one) && m[1] == 1 && m[0] == 0);
  CHECK(!dj_erosionVector(m, 0, one));
}

// Facets of rounded data: coplanar up to float noise. The corner still moves by (1, 1, 1).
static void testNoise(void) {
  Random r = {3};
  double vert[3 * 98];
  int n = 0;
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++) {
      for (int k = 0; k < 5; k++) {
        if (i % 4 && j % 4 && k % 4) continue;
        double p[3] = {i / 2.0 - 1, j / 2.0 - 1, k / 2.0 - 1};
        for (int l = 0; l < 3; l++) vert[3 * n + l] = (float)(p[l] + uniform(&r, -1e-7, 1e-7));
        n++;
      }
    }
  }
  djHull h;
  assert_int_equal(dj_makeHull(&h, n, vert, 0, NULL, NULL), DJ_OK);
  checkHull(&h, n, vert, 2);
  for (int i = 0; i < h.nvert; i++) {
    int sides = 0;
    for (int k = 0; k < 3; k++) sides += fabs(fabs(h.vert[3 * i + k]) - 1) < 1e-3;
    CHECK(sides >= 1);
    djVec3 m = dju_load3(h.move + 3 * i);
    CHECK(dju_norm3(m) < sqrt(3) + 1e-5);
    if (sides == 3) djt_near(dju_norm3(m), sqrt(3), 1e-5);
  }
  dj_freeHull(&h);
}

// A number that is none is told of as such, whichever it is; points along an axis do not coincide.
static void testNumbers(void) {
  double tet[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int i = 0; i < 12; i++) {
    djHull h;
    djError err = {""};
    double kept = tet[i];
    tet[i] = i % 2 ? NAN : INFINITY;
    assert_int_equal(dj_makeHull(&h, 4, tet, 0, NULL, &err), DJ_INVALID);
    CHECK(strstr(err.text, "points are not finite") != NULL);
    tet[i] = kept;
    CHECK(i > 3 || dj_makeHull(&h, 4, tet, i + 1, NULL, &err) == DJ_INVALID);   // no triangles
    CHECK(i > 3 || strstr(err.text, "wrong number of points or triangles") != NULL);
  }
}

static void expectInvalid(int n, const double* vert, int nface, const int* face) {
  djHull h;
  djError err = {""};
  assert_int_equal(dj_makeHull(&h, n, vert, nface, face, &err), DJ_INVALID);
  CHECK(strlen(err.text) > 5);
  assert_null(h.buffer);
  dj_freeHull(&h);
}

static void testBad(void) {
  Random r = {5};
  double vert[60];
  cloud(&r, 0, 20, vert);
  expectInvalid(3, vert, 0, NULL);
  expectInvalid(-1, vert, 0, NULL);
  expectInvalid(20, NULL, 0, NULL);
  double bad[60];
  memcpy(bad, vert, sizeof bad);
  bad[17] = NAN;
  expectInvalid(20, bad, 0, NULL);
  bad[17] = -INFINITY;
  expectInvalid(20, bad, 0, NULL);
  memcpy(bad, vert, sizeof bad);
  for (int i = 0; i < 20; i++) bad[3 * i + 1] = 4;
  expectInvalid(20, bad, 0, NULL);                              // flat
  for (int i = 0; i < 20; i++) bad[3 * i + 1] = bad[3 * i] + 2 * bad[3 * i + 2];
  expectInvalid(20, bad, 0, NULL);                              // flat, tilted
  for (int i = 0; i < 20; i++) bad[3 * i + 1] += 1e-9 * (i % 3);
  expectInvalid(20, bad, 0, NULL);                              // flat but for noise
  for (int i = 0; i < 20; i++) bad[3 * i] = i, bad[3 * i + 1] = -i, bad[3 * i + 2] = 2 * i;
  expectInvalid(20, bad, 0, NULL);                              // a line
  for (int i = 0; i < 60; i++) bad[i] = 1e300;
  expectInvalid(20, bad, 0, NULL);                              // a point
  for (int i = 0; i < 60; i++) bad[i] = vert[i] * 1e308 * 1.7;
  bad[0] = 1.7e308;
  bad[3] = -1.7e308;
  djHull h;
  djStatus huge = dj_makeHull(&h, 20, bad, 0, NULL, NULL);      // any status, no harm
  if (huge == DJ_OK) dj_freeHull(&h);

  const double tet[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int good[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  assert_int_equal(dj_makeHull(&h, 4, tet, 4, good, NULL), DJ_OK);
  dj_freeHull(&h);
  const int inward[] = {0, 1, 2, 0, 3, 1, 1, 3, 2, 0, 2, 3};
  expectInvalid(4, tet, 4, inward);
  expectInvalid(4, tet, 3, good);                               // open
  const int range[] = {0, 2, 1, 0, 1, 4, 1, 2, 3, 0, 3, 2};
  expectInvalid(4, tet, 4, range);
  const int same[] = {0, 0, 0, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  expectInvalid(4, tet, 4, same);
  expectInvalid(4, tet, -1, good);
  assert_int_equal(dj_makeHull(NULL, 4, tet, 0, NULL, NULL), DJ_INVALID);
}

// A box's facets stay whole when its corners move, inwards or outwards: erosion vectors are smooth.
static void testBending(void) {
  double vert[24], moved[24], dir[24], slope[2][24];
  Random r = {8};
  boxVertices(vert, 1, 2, 0.5);
  djHull h, g;
  assert_int_equal(dj_makeHull(&h, 8, vert, 0, NULL, NULL), DJ_OK);
  for (int i = 0; i < 24; i++) dir[i] = uniform(&r, -1, 1);
  for (int side = 0; side < 2; side++) {
    double e = side ? -1e-5 : 1e-5;
    for (int i = 0; i < 24; i++) moved[i] = vert[i] + e * dir[i];
    assert_int_equal(dj_moveHull(&g, &h, 8, moved), DJ_OK);
    for (int i = 0; i < 24; i++) slope[side][i] = (g.move[i] - h.move[i]) / e;
    dj_freeHull(&g);
  }
  for (int i = 0; i < 24; i++) djt_near(slope[0][i], slope[1][i], 1e-3);
  dj_freeHull(&h);
}

DJT_MAIN(testBox, testRandom, testKnownMoves, testNoise, testBending, testBad, testNumbers)
