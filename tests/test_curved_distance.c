// Distances of ellipsoids and cylinders: closed forms, and certificates that owe nothing to how a
// result was found. With h the support functions, g(n) = -h_a(n) - h_b(-n) is a lower bound of the
// signed distance along any unit n, and the distance of points of a and b an upper one.

#include "common/pair_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_ELLIPSOID, DJ_CYLINDER};
enum { NTYPE = sizeof types / sizeof types[0] };

// Support function of a posed shape along d, world; by its definition.
static double support(const djShape* s, const djPose* pose, djVec3 d) {
  djVec3 u = dju_mulMtV(pose->R, d);
  double best = -INFINITY, square = 0;
  for (int i = 0; i < s->nvert; i++) {
    best = fmax(best, dju_dot3(u, dju_vec3(s->vert[0][i], s->vert[1][i], s->vert[2][i])));
  }
  for (int k = 0; k < 3 && s->curved; k++) {
    double t = dju_dot3(u, dju_column(&s->curve, k));
    square += t * t;
  }
  return best + dju_dot3(d, pose->p) + s->radius * dju_norm3(d) + sqrt(square);
}

static double along(const PairCase* c, djVec3 n) {
  return -support(&c->shape[0].shape, &c->now[0], n) -
         support(&c->shape[1].shape, &c->now[1], dju_neg3(n));
}

// x is a point of the shape: nowhere beyond its support.
static void checkInside(const djShape* s, const djPose* pose, djVec3 x, Random* r, double size) {
  for (int i = 0; i < 200; i++) {
    djVec3 d = randomUnit(r);
    assert_true(dju_dot3(d, x) <= support(s, pose, d) + 1e-12 * size);
  }
}

static djStatus measure(djDistance* d, djDistanceCache* cache, const PairCase* c) {
  return dj_distance(d, cache, &c->shape[0].shape, &c->now[0], 0, &c->shape[1].shape, &c->now[1],
                     0);
}

static void checkPair(PairCase* c, Random* r) {
  djDistance d, again;
  djDistanceCache cache = {0};
  assert_int_equal(measure(&d, &cache, c), DJ_OK);
  assert_true(fabs(dju_norm3(d.normal) - 1) < 1e-12);
  double weight = 0, size = c->size;
  for (int i = 0; i < cache.count; i++) weight += cache.weight[i];
  assert_true(fabs(weight - 1) < 1e-12);
  assert_true(fabs(along(c, d.normal) - d.gap) < 1e-12 * size);
  djVec3 apart = dju_sub3(d.point_b, d.point_a);
  assert_true(dju_norm3(dju_madd3(apart, -d.gap, d.normal)) < 2e-10 * size);
  if (d.gap > 0) assert_true(fabs(dju_norm3(apart) - d.gap) < 1e-12 * size);
  checkInside(&c->shape[0].shape, &c->now[0], d.point_a, r, size);
  checkInside(&c->shape[1].shape, &c->now[1], d.point_b, r, size);
  for (int i = 0; i < 300; i++) {   // no direction tells of a greater distance
    djVec3 n = randomUnit(r);
    if (i % 2) n = dju_madd3(d.normal, logUniform(r, 1e-4, 0.3), n);
    n = dju_scale3(1 / dju_norm3(n), n);
    assert_true(along(c, n) <= d.gap + 1e-12 * size);
  }
  // the cache changes nothing, near by either
  assert_int_equal(measure(&again, &cache, c), DJ_OK);
  assert_true(fabs(again.gap - d.gap) < 1e-13 * size);
  c->now[1].p = dju_madd3(c->now[1].p, 1e-3 * size, randomUnit(r));
  assert_int_equal(measure(&again, &cache, c), DJ_OK);
  assert_int_equal(measure(&d, NULL, c), DJ_OK);
  assert_true(fabs(again.gap - d.gap) < 1e-13 * size);
  assert_true(dju_norm3(dju_sub3(again.normal, d.normal)) < 1e-8);
}

static void testRandom(void** state) {
  (void)state;
  Random r = {1};
  for (int a = 0; a < NTYPE; a++) {
    for (int b = 0; b < NTYPE; b++) {
      if (a < 4 && b < 4) continue;
      for (int i = 0; i < 60; i++) {
        PairCase c;
        double gap = i % 3 == 0 ? -logUniform(&r, 1e-4, 0.1) : logUniform(&r, 1e-6, 3);
        randomPair(&c, &r, types[a], types[b], 1, 0.02, 1, gap / 0.0408);
        checkPair(&c, &r);
        freeCase(&c);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRandom),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
