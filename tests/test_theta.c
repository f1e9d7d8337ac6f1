// The share theta of the end in the velocity of a midpoint step: derivatives of steps of robots and
// free bodies, by state, inputs and parameters; spin; the limit of a stiff force; what is refused.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/test.h"

static const double thetas[] = {0.5, 0.6, 1};
enum { NTHETA = sizeof thetas / sizeof thetas[0] };

static void testDerivatives(void) {
  for (int k = 0; k < NTHETA; k++) {
    djRng rng = {71};
    double worst = 0;
    for (int trial = 0; trial < 6; trial++) {
      djModel* m = djt_randomModel(&rng, 1 + trial % 4, DJT_ALL);
      m->opt.theta = thetas[k];
      djData* d = djt_openMethod(m, DJ_MIDPOINT, 0.01);
      djt_randomState(&rng, m, d, 1);
      for (int i = 0; i < m->nv; i++) d->qvel[i] += 4 * sin(i + 1.0);
      for (int i = 0; i < 2; i++) assert_true(dj_step(m, d) >= 0);
      worst = djt_worst(worst, djt_transitionError(m, d, 2e-5, 0));
      djt_delete(m, d);
    }
    print_message("theta %g: %.1e\n", thetas[k], worst);
    assert_true(worst < 2e-6);
  }
}

static djModel* freeBody(double theta) {
  char text[600];
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"gravity\": [0, 0, 0], \"timestep\": 0.01, "
           "\"tolerance\": 1e-10, \"integrator\": \"midpoint\", \"theta\": %.17g}, \"bodies\": "
           "[{\"name\": \"world\"}, {\"name\": \"A\", \"mass\": 1, \"inertia\": [0.003, 0.009, "
           "0.007]}], \"joints\": [{\"type\": \"free\", \"body\": \"A\"}]}",
           theta);
  djModel* m = djt_modelOf(text);
  return m;
}

// Of a free body angular momentum is kept to rounding at every theta; energy only at 1/2.
static void testSpin(void) {
  for (int k = 0; k < NTHETA; k++) {
    djModel* m = freeBody(thetas[k]);
    double before[6], after[6];
    djData* d = djt_data(m);
    const double w[3] = {3, -8, 5};
    memcpy(d->qvel + 3, w, sizeof w);
    assert_int_equal(dj_totalMomentum(before, m, d), DJ_OK);
    for (int i = 0; i < 100; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_totalMomentum(after, m, d), DJ_OK);
    for (int i = 0; i < 3; i++) assert_true(fabs(after[i] - before[i]) < 1e-9);
    djt_delete(m, d);
  }
}

// Gradient by the inertia of a free body that tumbles, and by its start.
static void testParams(void) {
  static const char* const name[] = {"body/A/inertia", "body/A/mass"};
  djModel* m = freeBody(0.8);
  djTape* tape;
  enum { T = 8 };
  djData* d = djt_data(m);
  const double v[6] = {0.3, 0, 1, 3, -8, 5};
  memcpy(d->qvel, v, sizeof v);
  assert_int_equal(djd_makeTape(&tape, m, T, NULL), DJ_OK);
  const djLossTerm loss[1] = {
      {.type = DJ_LOSS_ORIENTATION, .id = 1, .target = {0.6, 0.3, 0.5, 0.4}, .weight = 1}};
  djtRun run = {.m = m, .d = d, .tape = tape};
  run.r = (djRollout){
      .horizon = T, .qpos0 = d->qpos, .qvel0 = v, .nloss = 1, .loss = loss, .refinement_steps = 6};
  double q0[7];
  memcpy(q0, d->qpos, sizeof q0);
  run.r.qpos0 = q0;
  const double error = djt_runNamed(&run, name, 2, 1e-3, 0, 1e-6);
  djt_below("parameters", error, 2e-6);
  djd_deleteTape(tape);
  djt_delete(m, d);
}

// A spring of stiffness k on a slide, at rest where it should not be: with k -> infinity forces at
// the middle leave q+ = -q, v+ = -(1 - theta)/theta v + ..., so that energy grows with the velocity
// of the end as that determinant says. Of the whole step, by A.
static void testStiff(void) {
  for (int k = 0; k < NTHETA; k++) {
    double A[4], theta = thetas[k], h = 0.01, a = 5;
    char text[600];
    snprintf(text, sizeof text,
             "{\"dijoco_model\": 1, \"option\": {\"gravity\": [0, 0, 0], \"timestep\": 0.01, "
             "\"integrator\": \"midpoint\", \"theta\": %.17g}, \"bodies\": [{\"name\": \"world\"}, "
             "{\"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": [{\"type\": \"slide\", "
             "\"body\": 1, \"axis\": [0, 0, 1], \"stiffness\": %.17g}]}",
             theta, a * 2 / (h * h));
    djModel* m = djt_modelOf(text);
    djData* d = djt_data(m);
    d->qpos[0] = 0.1;
    assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
    // u (1/theta + a/2) = v/theta - a q/h
    const double D = 1 / theta + a / 2, determinant = A[0] * A[3] - A[1] * A[2];
    assert_true(fabs(A[0] - (1 - a / D)) < 1e-9);
    assert_true(fabs(A[3] - (1 / (theta * theta * D) - (1 - theta) / theta)) < 1e-9);
    const double expected =
        (1 - a / D) * (1 / (theta * theta * D) - (1 - theta) / theta) + a / (theta * theta * D * D);
    assert_true(fabs(determinant - expected) < 1e-9);
    assert_true(theta > 0.5 ? determinant < 0.9 : fabs(determinant - 1) < 1e-9);
    djt_delete(m, d);
  }
}

static void testRefused(void) {
  static const double bad[] = {0.49, 1.01, -1, 0};
  djModel* m = freeBody(0.75);
  djError err;
  for (int k = 0; k < 4; k++) {
    djOption option = m->opt;
    option.theta = bad[k];
    djt_refusedWith(DJ_INVALID, dj_setOption(m, &option, &err), err, "theta");
  }
  dj_deleteModel(m);
}

DJT_MAIN(testDerivatives, testSpin, testParams, testStiff, testRefused)
