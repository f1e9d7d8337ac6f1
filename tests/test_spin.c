// Free bodies by the midpoint rule: spin is kept in space to rounding, also of bodies that tumble
// and meet, and the step is its own inverse in time. Derivatives: test_methods,
// test_param_gradient.

#include "common/make_model.h"
#include "common/near.h"
#include "common/test.h"
#include "integrate/spin.h"
#include "math/so3.h"

#include <dijoco/dijoco.h>

enum { NBODY = 2 };

static djModel* twoBodies(const char* integrator) {
  char text[1200];
  djModel* m;
  djError err;
  snprintf(
      text, sizeof text,
      "{\"dijoco_model\": 1, \"option\": {\"gravity\": [0, 0, 0], \"timestep\": 0.01, "
      "\"tolerance\": 1e-10, \"contact\": \"implicit_surface\", \"integrator\": \"%s\"}, "
      "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"A\", \"mass\": 1, \"inertia\": [0.003, "
      "0.009, 0.007]}, {\"name\": \"B\", \"pos\": [0.5, 0.05, 0.02], \"mass\": 0.6, "
      "\"inertia\": [0.002, 0.004, 0.003]}], \"joints\": [{\"type\": \"free\", \"body\": "
      "\"A\"}, {\"type\": \"free\", \"body\": \"B\"}], \"geoms\": [{\"type\": \"ellipsoid\", "
      "\"body\": \"A\", \"size\": [0.2, 0.1, 0.15], \"friction\": [0, 0, 0]}, {\"type\": "
      "\"ellipsoid\", \"body\": \"B\", \"size\": [0.1, 0.2, 0.12], \"friction\": [0, 0, 0]}]}",
      integrator);
  if (dj_loadModelText(&m, text, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

// About the world's origin; a free joint's rotation rates are in the body's axes.
static djVec3 angularMomentum(const djModel* m, const djData* d) {
  djVec3 sum = {0, 0, 0};
  for (int b = 0; b < NBODY; b++) {
    const double *q = d->qpos + 7 * b, *v = d->qvel + 6 * b, *I = m->body_inertia + 3 * (b + 1);
    const djVec3 spin = {I[0] * v[3], I[1] * v[4], I[2] * v[5]};
    const djMat3 R = dju_quatToMat(dju_loadQuat(q + 3));
    const djVec3 p = dju_scale3(m->body_mass[b + 1], dju_load3(v));
    sum = dju_add3(sum, dju_add3(dju_mulMV(R, spin), dju_cross3(dju_load3(q), p)));
  }
  return sum;
}

static double drift(const char* integrator, bool* met) {
  djModel* m = twoBodies(integrator);
  djData* d = djt_data(m);
  const double v[12] = {0.8, 0, 0.1, 3, -2, 5, -0.8, 0.1, 0, -4, 1, 2};
  memcpy(d->qvel, v, sizeof v);
  const djVec3 before = angularMomentum(m, d);
  double momentum[6];
  assert_int_equal(dj_totalMomentum(momentum, m, d), DJ_OK);
  assert_true(dju_norm3(dju_sub3(dju_load3(momentum), before)) < 1e-14);
  djt_near(momentum[3], 0.8 - 0.6 * 0.8, 1e-15);
  assert_int_equal(dj_totalMomentum(NULL, m, d), DJ_INVALID);
  *met = false;
  for (int i = 0; i < 60; i++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    *met |= d->ncontact > 0;
  }
  const djVec3 change = dju_sub3(angularMomentum(m, d), before);
  djt_delete(m, d);
  return dju_norm3(change) / dju_norm3(before);
}

static void testKept(void) {
  bool met;
  assert_true(drift("midpoint", &met) < 1e-8);
  assert_true(met);
  assert_true(drift("position", &met) > 1e-3); // what the measure tells
}

DJT_MAIN(testKept)
