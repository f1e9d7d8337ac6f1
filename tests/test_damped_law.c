// Laws of damped contact: they are positive, fall, and have the derivatives they say; a query's
// 12 x 12 matrices against differences, in all laws.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/near.h"
#include "common/random.h"
#include "common/worst.h"
#include "contact/penalty/damped_law.h"
#include "contact/penalty/damped_sum.h"
#include "math/so3.h"

#include <dijoco/damped.h>

#include <math.h>
#include <string.h>

static const djLaw laws[] = {DJ_LAW_PERTURBED, DJ_LAW_SMOOTH_PENALTY, DJ_LAW_LOG};
enum { NLAW = 3 };

static double difference(const djDampedLaw* law, double g, double h) {
  const double weight[4] = {1, -8, 8, -1};
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    sum += weight[k] * dj_dampedForce(law, g + (k < 2 ? k - 2 : k - 1) * h).f / (12 * h);
  }
  return sum;
}

static void testLaws(void** state) {
  (void)state;
  djRng rng = {5};
  double worst = 0;
  for (int i = 0; i < 3000; i++) {
    djDampedLaw law = {.law = laws[i % NLAW],
                       .sigma = djt_uniform(&rng, 0.001, 0.1),
                       .kn = djt_uniform(&rng, 10, 1000),
                       .c = djt_uniform(&rng, 0.01, 0.1),
                       .most = i % 2 ? INFINITY : 50};
    const bool below = law.law == DJ_LAW_SMOOTH_PENALTY || law.most < INFINITY;
    const double g = djt_uniform(&rng, below ? -0.02 : 0.002, 0.12);
    if (law.law == DJ_LAW_LOG && g < 1e-3) continue;
    if (law.law == DJ_LAW_PERTURBED && fabs(g - law.sigma / law.most) < 1e-4) continue;
    const djDampedForce f = dj_dampedForce(&law, g);
    assert_true(law.law == DJ_LAW_LOG && g >= law.c ? f.f == 0 : f.f > 0 && f.by_g < 0);
    if (fabs(g - law.c) < 1e-3 && law.law == DJ_LAW_LOG) continue;
    const double h = 1e-4 * fmax(fabs(g), 1e-3);
    worst = djt_worst(worst, fabs(f.by_g - difference(&law, g, h)) / (1 + fabs(f.by_g)));
  }
  print_message("derivatives by the gap: %.1e\n", worst);
  assert_true(worst < 1e-6);
}

// By sigma and kn, at a fixed gap.
static void testParameters(void** state) {
  (void)state;
  djRng rng = {6};
  for (int i = 0; i < 600; i++) {
    djDampedLaw law = {
        .law = laws[i % NLAW], .sigma = 0.02, .kn = 300, .c = 0.05, .most = i % 2 ? INFINITY : 50};
    const double g = djt_uniform(&rng, 0.002, 0.04);
    if (law.most < INFINITY && fabs(g - law.sigma / law.most) < 1e-4) continue;
    const djDampedForce f = dj_dampedForce(&law, g);
    for (int k = 0; k < 2; k++) {
      double sum = 0;
      const double weight[4] = {1, -8, 8, -1}, x = k ? law.kn : law.sigma, h = 1e-3 * x;
      for (int s = 0; s < 4; s++) {
        djDampedLaw moved = law;
        *(k ? &moved.kn : &moved.sigma) = x + (s < 2 ? s - 2 : s - 1) * h;
        sum += weight[s] * dj_dampedForce(&moved, g).f / (12 * h);
      }
      const double by = k ? f.by_kn : f.by_sigma;
      assert_true(fabs(by - sum) < 1e-7 * (fabs(by) + f.f / x));
    }
  }
}

// ------------------------------------------ queries --------------------------------------------

static djcDampedQuery randomQuery(djRng* rng, double* point, int n, int i) {
  djcDampedQuery q = {.npoint = n,
                      .point = point,
                      .dt = 0.02,
                      .law = laws[i % NLAW],
                      .friction_law = (djPointFriction)(i / NLAW % 2),
                      .sigma = 0.05,
                      .kn = 200,
                      .alpha = 0.7,
                      .detect = 0.4,
                      .mu = 0.6,
                      .sigma_t = 0.05,
                      .friction_eps = 0.05};
  static const djGeomType types[] = {DJ_PLANE, DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_BOX};
  q.geom = types[i % 5];
  for (int k = 0; k < 3; k++) q.size[k] = 0.1 + 0.05 * k;
  const djVec3 turn = {djt_uniform(rng, -2, 2), djt_uniform(rng, -2, 2), djt_uniform(rng, -2, 2)};
  dju_storeQuat(q.quat, dju_expQuat(turn));
  for (int k = 0; k < 6; k++) {
    q.motion_a[k] = djt_uniform(rng, -0.01, 0.01);
    q.motion_b[k] = djt_uniform(rng, -0.01, 0.01);
  }
  const djMat3 R = dju_quatToMat(dju_loadQuat(q.quat));
  for (int k = 0; k < n; k++) {
    const djVec3 x = {djt_uniform(rng, -0.2, 0.2), djt_uniform(rng, -0.2, 0.2),
                      djt_uniform(rng, 0.3, 0.5)};
    dju_store3(point + 3 * k, dju_mulMV(R, x));
  }
  djt_uniforms(q.origin, 3, rng, -0.2, 0.2);
  return q;
}

static void wrenches(double out[12], const djcDampedQuery* q) {
  djcDamped found;
  djError err;
  if (djc_damped(&found, NULL, q, &err) < 0) fail_msg("%s", err.text);
  memcpy(out, found.wrench_a, 6 * sizeof(double));
  memcpy(out + 6, found.wrench_b, 6 * sizeof(double));
}

// By translations of either motion, which are of pose and velocity: jacobians of those columns.
static void testMatrices(void** state) {
  (void)state;
  djRng rng = {7};
  double worst = 0, opposite = 0;
  for (int i = 0; i < 60; i++) {
    double point[12];
    djcDampedQuery q = randomQuery(&rng, point, 4, i);
    djcDamped at;
    djError err;
    if (djc_damped(&at, NULL, &q, &err) < 0) fail_msg("%s", err.text);
    double scale = 1e-3;
    for (int k = 0; k < 3; k++) {
      opposite = djt_worst(opposite, fabs(at.wrench_a[3 + k] + at.wrench_b[3 + k]));
      scale = fmax(scale, fabs(at.wrench_a[3 + k]));
    }
    for (int c = 0; c < 6; c++) {
      double sum[12] = {0}, *x = c < 3 ? &q.motion_a[3 + c] : &q.motion_b[c];
      const double weight[4] = {1, -8, 8, -1}, h = 1e-5, start = *x;
      for (int s = 0; s < 4; s++) {
        double w[12];
        *x = start + (s < 2 ? s - 2 : s - 1) * h;
        wrenches(w, &q);
        for (int r = 0; r < 12; r++) sum[r] += weight[s] * w[r] / (12 * h);
      }
      *x = start;
      // Torques and velocities are about where the origins end, which move along here, and not in
      // the matrices: these have e x F and w x e more.
      const double* wrench = c < 3 ? at.wrench_a : at.wrench_b;
      const djVec3 e = {c % 3 == 0, c % 3 == 1, c % 3 == 2};
      const djVec3 arm = dju_cross3(e, dju_load3(wrench + 3));
      const double back[3] = {arm.x, arm.y, arm.z};
      const int column = c < 3 ? 3 + c : 6 + c, first = c < 3 ? 3 : 9;
      const djVec3 slide =
          dju_scale3(1 / q.dt, dju_cross3(dju_load3(c < 3 ? q.motion_a : q.motion_b), e));
      for (int r = 0; r < 12; r++) {
        const bool torque = r / 6 == c / 3 && r % 6 < 3;
        const double J = at.pose_jac[12 * r + column] + at.twist_jac[12 * r + column] / q.dt;
        const double* T = at.twist_jac + 12 * r + first;
        const double found =
            sum[r] + (torque ? back[r % 6] : 0) + T[0] * slide.x + T[1] * slide.y + T[2] * slide.z;
        worst = djt_worst(worst, fabs(J - found) / (1 + fabs(J)));
      }
    }
  }
  print_message("matrices: %.1e, momentum: %.1e\n", worst, opposite);
  assert_true(worst < 1e-6 && opposite == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testLaws), cmocka_unit_test(testParameters),
                                     cmocka_unit_test(testMatrices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
