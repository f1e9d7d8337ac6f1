// A contact kernel that has no energy and acts by velocities (tests/kernels/spring_kernel.c) on a
// floor that yields, with every integrator: derivatives of a step, gradients of a run by the
// kernel's own settings, frames and joints. On a floor that is fixed: test_kernel_steps.c.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/states.h"
#include "common/test.h"
#include "spring_kernel.h"

#include <dijoco/io.h>

static djIntegrator of(void** state) { return *(const djIntegrator*)*state; }

// A floor on a slide and a hinge, which yields; a ball on it; an arm of a hinge and a ball joint
// with a ball at its end on it, too. Contact is the spring's.
static djModel* scene(void) {
  static const char text[] =
      "{'dijoco_model': 1, 'option': {'contact': 'spring'},"
      "'bodies': [{'name': 'world'},"
      "{'name': 'table', 'mass': 20, 'inertia': [2, 2, 2], 'gravcomp': 1},"
      "{'pos': [0.3, 0.1, 0.0995], 'mass': 1, 'inertia': [0.01, 0.012, 0.013]},"
      "{'pos': [-0.5, 0, 0.3], 'mass': 1, 'ipos': [0.1, 0, 0],"
      " 'inertia': [0.01, 0.012, 0.013]},"
      "{'parent': 3, 'pos': [0.2, 0, 0], 'mass': 0.5, 'ipos': [0, 0, -0.1],"
      " 'inertia': [0.004, 0.003, 0.002]}],"
      "'joints': [{'name': 'table', 'type': 'slide', 'body': 1, 'axis': [0, 0, 1],"
      " 'stiffness': 9000, 'damping': 20},"
      " {'type': 'hinge', 'body': 1, 'axis': [0, 1, 0],"
      " 'stiffness': 900, 'damping': 5}, {'type': 'free', 'body': 2},"
      "{'name': 'up', 'type': 'hinge', 'body': 3, 'axis': [0, 1, 0], 'damping': 0.1},"
      "{'type': 'ball', 'body': 4, 'damping': 0.02}],"
      "'geoms': [{'name': 'floor', 'type': 'plane', 'body': 1},"
      "{'name': 'ball', 'body': 2, 'size': [0.1, 0, 0], 'friction': [0.7, 0, 0]},"
      "{'name': 'foot', 'body': 4, 'pos': [0.02, 0, -0.21], 'size': [0.09, 0, 0],"
      " 'friction': [0.5, 0, 0]}]}";
  djError err = {""};
  djModel* m = djt_modelOf(text);
  // soft, so that steps of differences stay within contact
  static const char* const name[] = {"contact/spring/stiffness", "contact/spring/damping",
                                     "contact/spring/viscosity"};
  static const double value[] = {2000, 400, 300};
  for (int k = 0; k < 3; k++) {
    djParam p = djt_param(m, name[k]);
    assert_int_equal(dj_setParam(m, &p, &value[k], &err), DJ_OK);
  }
  return m;
}

static void settle(djData* d, const djModel* m) {
  for (int k = 0; k < 500; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  for (int i = 0; i < m->nv; i++) d->qvel[i] += 0.1 * sin(2.0 * i + 1);
  for (int k = 0; k < 2; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->npair == 2);
  assert_int_equal(d->stats.fallback_steps, 0);
}

static void testTransition(void** state) {
  djModel* m = scene();
  djData* d = djt_openMethod(m, of(state), 0.004);
  double x[60];
  settle(d, m);
  assert_true(dj_stateSize(m) <= 60);
  dj_getState(x, m, d);
  double error = djt_transitionError(m, d, 1e-5, 0);
  dj_setState(d, m, x);
  double wrong = djt_transitionError(m, d, 1e-5, 1e-3);
  print_message("A and B: %.1e (with an error of 1e-3: %.1e)\n", error, wrong);
  assert_true(error < 2e-7);
  assert_true(wrong > 2e-6);
  djt_delete(m, d);
}

static void testGradient(void** state) {
  static const char* const name[] = {
      "contact/spring/stiffness", "contact/spring/damping", "contact/spring/viscosity",
      "geom/ball/friction", "geom/foot/size", "geom/foot/pos", "body/#4/pos", "body/#3/quat",
      "joint/up/axis", "body/#4/mass", "joint/table/stiffness", "joint/up/pos"};
  enum { N = sizeof name / sizeof name[0], T = 6 };
  djtRun run = {.m = scene()};
  djModel* m = run.m;
  run.d = djt_openMethod(m, of(state), 0.004);
  settle(run.d, m);
  djError err = {""};
  double q0[20], v0[20];
  memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
  djLossTerm loss[2] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                        {.type = DJ_LOSS_VELOCITY, .id = 4, .object = DJ_OBJ_BODY, .weight = 0.3}};
  run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 2, .loss = loss,
                      .refinement_steps = 6};
  assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
  djParam param[N];
  double grad[64], worst = 0;
  for (int k = 0; k < N; k++) {
    if (dj_paramId(&param[k], m, name[k], &err) != DJ_OK) fail_msg("%s", err.text);
  }
  djRolloutResult out = {.nparam = N, .param = param, .grad_param = grad};
  assert_true(djd_rolloutForward(&out, m, run.d, &run.r, run.tape) >= 0);
  assert_true(djd_rolloutBackward(&out, m, run.d, &run.r, run.tape) >= 0);
  const double* g = grad;
  for (int k = 0; k < N; k++) {
    double value[8], scale = 1e-5, error = 0;
    assert_int_equal(dj_getParam(value, m, &param[k]), DJ_OK);
    for (int c = 0; c < param[k].ntangent; c++, g++) {
      if (c > 0 && (strstr(name[k], "size") || strstr(name[k], "friction"))) continue;   // not used
      double h = 1e-4 * fmax(fabs(value[c]), 0.1);
      double f = djt_runDifference(&run, &param[k], c, h);
      scale = fmax(scale, fabs(f));
      error = djt_worst(error, fabs(f - *g));
    }
    worst = djt_worst(worst, error / scale);
  }
  djt_below("parameters", worst, 1e-6);
  djd_deleteTape(run.tape);
  djt_delete(m, run.d);
}

DJT_MAIN_ROWS(djt_byAll(testTransition), djt_byAll(testGradient))
