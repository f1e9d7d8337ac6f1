// Smoothed shapes: the support function, its gradient and Hessian, and distances of two of them.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "shape/soft.h"
#include "shape/soft_distance.h"

enum { NPAD = 8 };

// A box of half sizes 1, 2, 3, whose vertices move by (-1, -1, -1) of their signs a metre of
// erosion.
static void setBox(TestShape* t) {
  double vert[24], move[24];
  for (int i = 0; i < 24; i++) {
    double sign = i / 3 >> i % 3 & 1 ? 1 : -1;
    vert[i] = sign * (1 + i % 3);
    move[i] = sign;
  }
  memset(t, 0, sizeof *t);
  setVertices(t, 8, vert, move);
  t->shape.type = DJ_BOX;
  t->shape.inner = 1;
  t->shape.bound = sqrt(14.0);
}

// h at any vector: |x| h(x/|x|).
static double support(const djSoft* s, djVec3 x) {
  djSoftPoint p;
  double r = dju_norm3(x);
  dj_softSupport(&p, s, dju_scale3(1 / r, x));
  return r * p.h;
}

static void testSupport(void) {
  TestShape t;
  setBox(&t);
  double mem[4 * NPAD], smoothing = 0.2, h = 1e-4;
  djSoft s;
  dj_softenShape(&s, mem, &t.shape, 4, smoothing);
  djt_near(support(&s, (djVec3){1, 0, 0}), 1, 1e-10);   // faces stay where they are
  djt_near(support(&s, (djVec3){0, 0, -1}), 3, 1e-10);
  Random r = {7};
  for (int trial = 0; trial < 5; trial++) {
    djVec3 n = randomUnit(&r), d = randomUnit(&r);
    djSoftPoint p, side[2];
    dj_softSupport(&p, &s, n);
    djt_near(dju_dot3(p.x, n), p.h, 1e-12);
    double hard = fabs(n.x) + 2 * fabs(n.y) + 3 * fabs(n.z);
    assert_true(p.h <= hard + 1e-12 && p.h > hard - 1.24 * smoothing);
    for (int k = 0; k < 2; k++) {
      djVec3 at = dju_madd3(n, k ? h : -h, d);
      dj_softSupport(&side[k], &s, dju_scale3(1 / dju_norm3(at), at));
    }
    double slope = support(&s, dju_madd3(n, h, d)) - support(&s, dju_madd3(n, -h, d));
    djt_near(dju_dot3(p.x, d), slope / (2 * h), 1e-5);
    djVec3 turn = dju_scale3(0.5 / h, dju_sub3(side[1].x, side[0].x));   // x is of degree 0
    djt_near(dju_norm3(dju_sub3(turn, dju_mulMV(p.C, d))), 0, 1e-3);
  }
  free(t.buffer);
}

// Spheres are as they were: the gap is that of the centres, less the radii.
static void testSpheres(void) {
  TestShape a, b;
  const double zero[3] = {0, 0, 0};
  double mem[2][4 * NPAD];
  djSoft soft[2];
  TestShape* t[2] = {&a, &b};
  for (int k = 0; k < 2; k++) {
    memset(t[k], 0, sizeof *t[k]);
    setVertices(t[k], 1, zero, NULL);
    t[k]->shape.type = DJ_SPHERE;
    t[k]->shape.radius = t[k]->shape.inner = t[k]->shape.bound = k ? 0.3 : 0.5;
    t[k]->shape.radius_slope = -1;
    dj_softenShape(&soft[k], mem[k], &t[k]->shape, 1, 0.01);
  }
  djPose at = {.R = dju_eye3()}, other = {.R = dju_eye3(), .p = {3, 4, 0}};
  djSoftGap g;
  double gap[12], normal[36], point_a[36], point_b[36];
  assert_int_equal(dj_softDistance(&g, &soft[0], &at, &soft[1], &other), DJ_OK);
  djt_near(g.gap, 4.2, 1e-12);
  djt_near(g.normal.x, 0.6, 1e-12);
  djt_near(g.point_a.y, 0.4, 1e-12);
  djt_near(g.point_b.x, 3 - 0.18, 1e-12);
  assert_int_equal(dj_softTwists(gap, normal, point_a, point_b, &g), DJ_OK);
  const double expected[12] = {0, 0, 0, -0.6, -0.8, 0, 0, 0, 0, 0.6, 0.8, 0};
  for (int i = 0; i < 12; i++) djt_near(gap[i], expected[i], 1e-12);
  djt_near(normal[12 * 2 + 11], 0.2, 1e-12);    // b moves along z: the normal turns by 1/distance
  djt_near(point_a[12 * 2 + 11], 0.1, 1e-12);   // and the point by its radius times that
  djt_near(point_b[12 * 2 + 11], 1 - 0.06, 1e-12);
  free(a.buffer);
  free(b.buffer);
}

DJT_MAIN(testSupport, testSpheres)
