// Steps with a contact kernel that has no energy (tests/kernels/spring_kernel.c), by all methods:
// where a ball comes to rest and what is reported there, one step in closed form, derivatives of
// steps and of runs.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/states.h"
#include "common/test.h"

#include <dijoco/io.h>

static djIntegrator methodOf(void** state) { return *(const djIntegrator*)*state; }

static djModel* load(const char* text) {
  djModel* m = djt_modelOf(text);
  return m;
}

static const double mass = 0.7, gravity = 9.81, k = 900, c = 4000, radius = 0.1;

// A ball that touches the floor by `depth`.
static djModel* ballModel(double depth) {
  char text[1000];
  snprintf(text, sizeof text,
           "{'dijoco_model': 1, 'option': {'gravity': [0, 0, %g], 'contact': 'spring', "
           "'spring': {'stiffness': %g, 'damping': %g}}, 'bodies': [{'name': 'world'}, "
           "{'name': 'ball', 'pos': [0, 0, %.17g], 'mass': %g, 'inertia': [0.003, 0.003, "
           "0.003]}], 'joints': [{'type': 'free', 'body': 'ball'}], 'geoms': "
           "[{'type': 'plane', 'body': 0}, {'body': 'ball', 'size': [%g, 0, 0]}]}",
           -gravity, k, c, radius - depth, mass, radius);
  return load(text);
}

// Weight is k depth, which the report says too.
static void testRest(void** state) {
  djIntegrator method = methodOf(state);
  djModel* m = ballModel(0);
  djData* d = djt_openMethod(m, method, 0.005);
  for (int i = 0; i < 4000; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  double depth = mass * gravity / k;
  assert_true(fabs(d->qpos[2] - (radius - depth)) < 1e-9);
  assert_true(fabs(d->qvel[2]) < 1e-9);
  assert_int_equal(d->npair, 1);
  assert_true(fabs(d->pair[0].gap + depth) < 1e-9);
  assert_int_equal(d->ncontact, 1);
  assert_true(fabs(fabs(d->contact[0].force[2]) - mass * gravity) < 1e-6);
  djt_delete(m, d);
}

// m (v+ - v)/h = -m g + e (k - c v+), e = e0 - h v+ the depth: one root of a quadratic.
static void testStep(void** state) {
  djIntegrator method = methodOf(state);
  double e0 = 0.004, v0 = -0.3, h = 0.002;
  djModel* m = ballModel(e0);
  djData* d = djt_openMethod(m, method, h);
  d->qvel[2] = v0;
  assert_int_equal(dj_step(m, d), DJ_OK);
  double p = h * c, q = -(mass / h + e0 * c + h * k), r = mass * v0 / h - mass * gravity + e0 * k;
  double v = (-q - sqrt(q * q - 4 * p * r)) / (2 * p);
  assert_true(fabs(d->qvel[2] - v) < 1e-10);
  assert_true(fabs(d->qpos[2] - (radius - e0 + h * v)) < 1e-12);
  djt_delete(m, d);
}

// Two balls and an arm's end that slide, roll and spin on a floor by springs; a box that stands on
// it by the separating plane and pushes one of them so.
static djModel* mixedModel(void) {
  return load(
      "{'dijoco_model': 1, 'option': {'contact': 'spring',"
      "  'separating_plane': {'stiffness_scale': 1e-5},  'friction_eps': 1e-7,"
      "  'spring': {'stiffness': 3000, 'viscosity': 30}},"
      "'bodies': [{'name': 'world'},"
      "  {'name': 'one', 'pos': [0, 0, 0.099], 'mass': 0.7,   'inertia': [0.003, 0.003, 0.003]},"
      "  {'name': 'two', 'pos': [0.5, 0, 0.078], 'mass': 0.5,   'inertia': [0.002, 0.001, 0.0015]},"
      "  {'name': 'arm', 'pos': [1, 0, 0.3], 'mass': 0.6, 'ipos': [0.1, 0, -0.1],"
      "   'inertia': [0.01, 0.01, 0.002]},"
      "  {'name': 'box', 'pos': [-0.2005, 0, 0.0995], 'mass': 1,"
      "   'inertia': [0.007, 0.007, 0.007]}],"
      "'joints': [{'type': 'free', 'body': 1}, {'type': 'free', 'body': 2},"
      "  {'type': 'ball', 'body': 3}, {'type': 'free', 'body': 4}],"
      "'geoms': [{'name': 'floor', 'type': 'plane', 'body': 0,    'quat': [1, 0.01, -0.001, 0]},"
      "  {'name': 'one', 'body': 1, 'size': [0.1, 0, 0], 'friction': [1.2, 0, 0]},"
      "  {'name': 'two', 'body': 2, 'size': [0.08, 0, 0], 'pos': [0.01, 0, 0],"
      "   'stiffness': 800},"
      "  {'name': 'end', 'body': 3, 'size': [0.05, 0, 0], 'pos': [0.1, 0, -0.2515]},"
      "  {'name': 'box', 'type': 'box', 'body': 4, 'size': [0.1, 0.1, 0.1]}]}");
}

static void start(djModel* m, djData* d) {
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.4 * sin(3.0 * i + 1);
  d->qvel[15] = 0.5;   // the box, towards the ball
}

static void testTransition(void** state) {
  djIntegrator method = methodOf(state);
  djModel* m = mixedModel();
  djData* d = djt_openMethod(m, method, 0.004);
  start(m, d);
  int springs = 0;
  for (int i = 0; i < 12; i++) {
    assert_true(dj_step(m, d) >= 0);
    springs = d->npair > springs ? d->npair : springs;
  }
  assert_true(springs >= 3);
  double x[120];
  assert_true(dj_stateSize(m) <= 120);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  double error = djt_transitionError(m, d, 2e-6, 0);
  assert_true(dj_setState(d, m, x) >= 0);
  double wrong = djt_transitionError(m, d, 2e-6, 1e-3);
  print_message("transition: %.1e (with an error of 1e-3: %.1e)\n", error, wrong);
  assert_true(error < 1e-5 && wrong > 10 * error);
  djt_delete(m, d);
}

static void testRuns(void** state) {
  static const char* const name[] = {
      "contact/stiffness", "contact/damping", "contact/viscosity", "contact/spring/stiffness",
      "contact/separating_plane/stiffness", "geom/one/size", "geom/two/pos", "geom/end/pos",
      "geom/floor/pos", "geom/floor/quat", "geom/one/friction", "body/one/mass", "body/arm/pos",
      "body/two/ipos"};
  enum { N = sizeof name / sizeof name[0], T = 10 };
  djIntegrator method = methodOf(state);
  djModel* m = mixedModel();
  djtRun run = {.m = m, .d = djt_openMethod(m, method, 0.004)};
  djError err = {""};
  start(m, run.d);
  assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
  double q0[40], v0[40];
  memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
  djLossTerm loss[3] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 3, .weight = 0.1},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 2, .weight = 1}};
  run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 3, .loss = loss,
                      .refinement_steps = 6};
  djParam param[N];
  int total = 0;
  for (int i = 0; i < N; i++) {
    if (dj_paramId(&param[i], m, name[i], &err) != DJ_OK) fail_msg("%s", err.text);
    total += param[i].ntangent;
  }
  double grad[80];
  assert_true(total <= 80);
  djRolloutResult out = {.nparam = N, .param = param, .grad_param = grad};
  assert_true(djd_rolloutForward(&out, m, run.d, &run.r, run.tape) >= 0);
  assert_true(djd_rolloutBackward(&out, m, run.d, &run.r, run.tape) >= 0);
  const double* g = grad;
  for (int i = 0; i < N; i++) {
    double error = 0, value[8];
    assert_int_equal(dj_getParam(value, m, &param[i]), DJ_OK);
    double scale = 1e-6 / fmax(fabs(value[0]), 1);
    bool one = strstr(name[i], "size") || strstr(name[i], "friction");
    for (int e = 0; e < param[i].ntangent; e++, g++) {
      if (one && e > 0) continue;   // not used
      // Farther a tilt of the floor takes vertices past where they begin to act; by friction, which
      // hardly counts, rounding is felt.
      double part = strstr(name[i], "size") ? 1e-5 : strstr(name[i], "quat") ? 1e-5 : 1e-4;
      if (strstr(name[i], "friction")) part = 1e-3;
      double h = part * fmax(fabs(value[e]), 0.01);
      double f = djt_runDifference(&run, &param[i], e, h);
      scale = fmax(scale, fabs(f));
      error = djt_worst(error, fabs(f - *g));
    }
    print_message("%s: %.1e of %.1e\n", name[i], error / scale, scale);
    assert_true(error < 1e-5 * scale);
  }
  djd_deleteTape(run.tape);
  djt_delete(m, run.d);
}

DJT_MAIN_ROWS(djt_byAll(testRest), djt_byAll(testTransition), djt_byAll(testRuns),
              djt_by(testStep, DJ_POSITION), djt_by(testStep, DJ_BDF1))
