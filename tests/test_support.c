// Supports of large hulls by lists are those of a scan over all vertices, for hulls of any form,
// eroded by as much as one likes; and the lists are short.

#include "common/random_shape.h"
#include "common/test.h"
#include "contact/plane/recovery.h"
#include "shape/support.h"

enum { SPREAD, RANDOM, FLAT, NEEDLE, TURNED, ROUNDED, BOX, KINDS };

// A point of a cube with round corners.
static djVec3 onRounded(Random* r, double radius) {
  djVec3 p = randomUnit(r);
  djVec3 corner = {copysign(1, p.x), copysign(1, p.y), copysign(1, p.z)};
  return dju_madd3(corner, radius, p);
}

// Points of which at least most are vertices; in axes of their own, away from the origin.
static void setPoints(double* vert, Random* r, int kind, int n) {
  djMat3 R = dju_quatToMat(randomQuat(r));
  djVec3 away = randomWithin(r, 3);
  for (int i = 0; i < n; i++) {
    double z = 1 - (2 * i + 1.0) / n, a = 2.399963229728653 * i, s = sqrt(1 - z * z);
    int ring = 4 * i / n; // of a turned part: two faces, bevelled edges
    double turn = 2 * M_PI * (i % (n / 4)) / (n / 4), wide = ring % 3 == 0 ? 0.9 : 1;
    double high[4] = {-1, -0.9, 0.9, 1};
    djVec3 p = randomUnit(r);
    if (kind == SPREAD) p = dju_vec3(s * cos(a), 0.7 * s * sin(a), 0.4 * z);
    if (kind == FLAT) p.z *= 1e-4;
    if (kind == NEEDLE) p.z *= 300;
    if (kind == TURNED) p = dju_vec3(wide * cos(turn), wide * sin(turn), high[ring]);
    if (kind == ROUNDED) p = onRounded(r, 0.1);
    if (kind == BOX) p = dju_vec3(copysign(1, p.x) + 1e-9 * p.y, copysign(1, p.y), p.z);
    dju_store3(vert + 3 * i, dju_add3(dju_mulMV(R, p), away));
  }
}

static bool setKind(TestShape* t, Random* r, int kind, int n) {
  double* vert = malloc(3 * (size_t)n * sizeof(double));
  setPoints(vert, r, kind, n);
  djStatus status = setHull(t, n, vert);
  free(vert);
  return status == DJ_OK;
}

// Random directions, those of facets and vertices, and near these; now and then of any length.
static djVec3 directionFor(Random* r, const TestShape* t) {
  int which = below(r, 5);
  djVec3 d = randomUnit(r);
  if (which == 1) d = dju_load3(t->hull.plane + 4 * below(r, t->hull.nface));
  if (which == 2)
    d = dju_sub3(dju_load3(t->hull.vert + 3 * below(r, t->hull.nvert)), t->hull.center);
  if (which == 3) d = dju_vec3(below(r, 2) ? 1 : -1, below(r, 3) - 1, below(r, 3) - 1);
  if (below(r, 2)) {
    double off = logUniform(r, 1e-16, 1e-2);
    d = dju_madd3(d, off, randomUnit(r));
  }
  double length = logUniform(r, 1e-3, 1e3);
  return below(r, 4) ? d : dju_scale3(length, d);
}

static void checkSupports(Random* r, const TestShape* t, const djShape* s, double e) {
  djShape plain = *s;
  plain.list = NULL;
  for (int k = 0; k < 400; k++) {
    djVec3 d = directionFor(r, t);
    int n, found = dj_farthestVertex(s, e, d), scanned = dj_farthestVertex(&plain, e, d);
    assert_int_equal(found, scanned);
    double top = -INFINITY, size = 0;
    for (int i = 0; i < s->nvert; i++) {
      djVec3 x = dj_erodedVertex(s, e, i);
      top = fmax(top, dju_dot3(d, x));
      size = fmax(size, dju_norm3(x));
    }
    assert_true(dju_dot3(d, dj_erodedVertex(s, e, found)) >= top - 1e-15 * size * dju_norm3(d));
    const int* id = dj_supportList(&n, s, e, d);
    for (int i = 1; id && i < n; i++) assert_true(id[i] > id[i - 1] || id[i] == id[0]);
  }
}

static void scans(void) {
  Random r = {20};
  int listed = 0;
  for (int k = 0; k < 60; k++) {
    TestShape t;
    int n = below(&r, 900) + 150;
    if (!setKind(&t, &r, k % KINDS, n)) continue;
    double part = k % 4 == 0 ? 0 : logUniform(&r, 1e-3, 1);
    double reach = part * t.hull.inner;
    listHull(&t, reach);
    listed += t.shape.list != NULL;
    double within = uniform(&r, 0, reach), beyond = uniform(&r, 0, 0.95) * t.hull.inner;
    checkSupports(&r, &t, &t.shape, 0);
    checkSupports(&r, &t, &t.shape, within);
    checkSupports(&r, &t, &t.shape, beyond);
    freeShape(&t);
  }
  assert_true(listed > 30);
}

// Recovery moves the vertices of a copy: also beyond what lists hold for.
static void recovered(void) {
  Random r = {21};
  for (int k = 0; k < 20; k++) {
    TestShape t;
    assert_true(setKind(&t, &r, k % 2 ? RANDOM : ROUNDED, 400));
    listHull(&t, 0.04 * t.hull.inner);
    djShape out;
    double* mem = malloc(3 * (size_t)t.shape.npad * sizeof(double));
    double deep = uniform(&r, 0.3, 1.5), shallow = uniform(&r, 0, 0.04);
    djErosion er = {.first_end = {0.95 * t.hull.inner, 0.95 * t.hull.inner}, .span = t.hull.bound};
    er.e = (k % 4 < 2 ? deep : shallow) * t.hull.inner;
    dj_erodeShape(&out, mem, &t.shape, &er, 0, false);
    assert_true(!out.list == (k % 4 < 2));
    checkSupports(&r, &t, &out, 0);
    free(mem);
    freeShape(&t);
  }
}

// Mean length of lists over random directions of a support's cells.
static double meanLength(Random* r, const TestShape* t, double e) {
  double sum = 0;
  for (int k = 0; k < 2000; k++) {
    int n = t->shape.npad;
    dj_supportList(&n, &t->shape, e, randomUnit(r));
    sum += n;
  }
  return sum / 2000;
}

// A support looks at fewer vertices of a hull of 800 than of all of one of 200.
static void areShort(void) {
  Random r = {22};
  for (int kind = SPREAD; kind <= ROUNDED; kind++) {
    for (int n = 300; n <= 800; n += 250) {
      TestShape t;
      assert_true(setKind(&t, &r, kind, n));
      listHull(&t, 0.03 * t.hull.inner);
      double length = meanLength(&r, &t, 0.02 * t.hull.inner);
      print_message("kind %d, %d vertices: %.1f\n", kind, t.hull.nvert, length);
      assert_true(length < 40);
      freeShape(&t);
    }
  }
}

// Directions that are none end somewhere in the shape.
static void anyDirection(void) {
  static const double odd[] = {0, NAN, INFINITY, -INFINITY, 1e308, 1e-320, -0.0, 1};
  Random r = {23};
  TestShape t;
  assert_true(setKind(&t, &r, RANDOM, 300));
  for (int i = 0; i < 512; i++) {
    int found = dj_farthestVertex(&t.shape, 0, dju_vec3(odd[i & 7], odd[i >> 3 & 7], odd[i >> 6]));
    assert_true(found >= 0 && found < t.shape.nvert);
  }
  freeShape(&t);
}

DJT_MAIN(scans, recovered, areShort, anyDirection)
