// Nearest points of hulls of a few points, and GJK and EPA on differences of boxes.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "shape/minkowski.h"
#include "shape/simplex.h"

static void checkVector(djVec3 v, double x, double y, double z) {
  djt_near(v.x, x, 1e-14);
  djt_near(v.y, y, 1e-14);
  djt_near(v.z, z, 1e-14);
}

static void testMinNorm(void) {
  djVec3 v;
  // a segment past which the origin lies, one beside it, a triangle, a tetrahedron around it
  const double segment[] = {1, 2, 0, 1, 5, 0}, beside[] = {1, -2, 0, 1, 5, 0},
               triangle[] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, flat[] = {1, 1, 0, -1, 1, 0, 0, -2, 0},
               around[] = {1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1};
  assert_true(dj_minNorm(&v, 2, segment));
  checkVector(v, 1, 2, 0);
  assert_true(dj_minNorm(&v, 2, beside));
  checkVector(v, 1, 0, 0);
  assert_true(dj_minNorm(&v, 3, triangle));
  checkVector(v, 1, 1, 1);
  assert_false(dj_minNorm(&v, 3, flat));
  assert_false(dj_minNorm(&v, 4, around));
  djSimplex s;
  assert_true(dj_minNormSimplex(&v, &s, 2, beside));
  assert_int_equal(s.n, 2);
  double sum[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    sum[0] += s.weight[k];
    sum[1] += s.weight[k] * beside[3 * s.p[k].ia + 1];
  }
  djt_near(sum[0], 1, 1e-15);
  djt_near(sum[1], 0, 1e-14);
  dj_minNormSimplex(&v, &s, 0, beside);
  assert_int_equal(s.n, 0);
}

// A face that holds the nearest point is kept, the rest goes.
static void testReduce(void) {
  djSimplex s = {.n = 4};
  const djVec3 p[4] = {{2, 1, 0}, {2, -1, 0}, {5, 0, 1}, {5, 0, -1}};
  djVec3 v;
  for (int k = 0; k < 4; k++) s.p[k].w = p[k];
  assert_false(dj_reduceSimplex(&v, &s));
  checkVector(v, 2, 0, 0);
  assert_int_equal(s.n, 2);
  djt_near(s.weight[0], 0.5, 1e-14);
  s = (djSimplex){.n = 4};
  for (int k = 0; k < 4; k++) s.p[k].w = dju_sub3(p[k], (djVec3){3, 0, 0});
  assert_true(dj_reduceSimplex(&v, &s));
  assert_int_equal(s.n, 4);
}

static void setBox(TestShape* t, double x, double y, double z) {
  double vert[24];
  for (int i = 0; i < 8; i++) {
    vert[3 * i] = i & 1 ? x : -x;
    vert[3 * i + 1] = i & 2 ? y : -y;
    vert[3 * i + 2] = i & 4 ? z : -z;
  }
  memset(t, 0, sizeof *t);
  setVertices(t, 8, vert, NULL);
}

static void testBoxes(void) {
  TestShape a, b;
  setBox(&a, 1, 2, 3);
  setBox(&b, 0.5, 0.5, 0.5);
  for (int k = 0; k < 2; k++) {
    djPose at = {.R = dju_eye3()}, other = {.R = dju_eye3()};
    other.p = (djVec3){k == 0 ? 2.5 : 1.2, 0.3, 0.2};
    djMinkowski m;
    djSimplex s;
    djVec3 v, n;
    double depth, bound;
    int iterations = 0;
    dj_initMinkowski(&m, &a.shape, &at, 0, &b.shape, &other, 0);
    djt_near(dj_minkowskiSupport(&m, (djVec3){-1, 0, 0}).w.x, -1 - (other.p.x + 0.5), 1e-14);
    s = (djSimplex){.n = 1, .p = {dj_minkowskiPoint(&m, 0, 0)}};
    bool apart = dj_gjk(&v, &bound, &s, &iterations, &m);
    assert_int_equal(apart, k == 0);
    if (apart) {
      djt_near(dju_norm3(v), 1, 1e-13);      // 2.5 - 1 - 0.5
      djt_near(fabs(v.x), 1, 1e-13);
      djt_near(bound, 1, 1e-13);
      continue;
    }
    assert_int_equal(dj_epa(&depth, &n, &s, &iterations, &m), DJ_OK);
    djt_near(depth, 0.3, 1e-13);             // 1 + 0.5 - 1.2
    djt_near(n.x, 1, 1e-13);
  }
  free(a.buffer);
  free(b.buffer);
}

DJT_MAIN(testMinNorm, testReduce, testBoxes)
