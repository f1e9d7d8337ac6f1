// A method of two steps, written against the table alone: BDF2 with bdf1 as its starter, in the
// place of bdf1 in a table of methods that this test links instead of the library's.
//   v+ = (3 psi - d)/(2 h),  a+ = (3 v+ - 4 v + v-)/(2 h),  history (d, v-).

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"
#include "integrate/inverse.h"

static void bdf2(djCoefficients* c, double h) {
  enum { V = DJ_SOURCE_VELOCITY, D = DJ_SOURCE_HISTORY, OLD, PSI = DJ_SOURCE_STAGE };
  c->velocity[0][PSI] = 1.5 / h;
  c->velocity[0][D] = -0.5 / h;
  for (int k = 0; k < DJ_NSOURCE; k++) c->accel[0][k] = 1.5 / h * c->velocity[0][k];
  c->accel[0][V] = -2 / h;
  c->accel[0][OLD] = 0.5 / h;
  memcpy(c->end, c->velocity[0], sizeof c->end);
  c->history[0][PSI] = 1;
  c->history[1][V] = 1;
}

static const djMethod twoStep = {.name = "two_step",
                                 .kind = DJ_LDU,
                                 .nstage = 1,
                                 .mass = true,
                                 .nhistory = 2,
                                 .starter = &dj_bdf1,
                                 .coefficients = bdf2,
                                 .begin = dj_beginInverse,
                                 .evaluate = dj_evaluateInverse,
                                 .linearize = dj_linearizeInverse,
                                 .params = dj_inverseStageParams};

// Two stages: SDIRK2 (DiffHand eq. 6-9), alpha = 1 - 1/sqrt 2. The first is bdf1 over alpha h, with
// v_a and a_a; then v+ = (psi - (1-alpha) h v_a)/(alpha h), a+ = (v+ - v - (1-alpha) h a_a)/(alpha
// h).
static void stages(djCoefficients* c, double h) {
  enum { V = DJ_SOURCE_VELOCITY, A = DJ_SOURCE_STAGE, B };
  double alpha = 1 - sqrt(0.5), t = alpha * h, rest = (1 - alpha) * h;
  c->velocity[0][A] = 1 / t;
  c->accel[0][A] = 1 / (t * t);
  c->accel[0][V] = -1 / t;
  c->velocity[1][B] = 1 / t;
  c->velocity[1][A] = -rest / (t * t);
  for (int k = 0; k < DJ_NSOURCE; k++) {
    c->accel[1][k] = (c->velocity[1][k] - rest * c->accel[0][k]) / t;
  }
  c->accel[1][V] -= 1 / t;
  memcpy(c->end, c->velocity[1], sizeof c->end);
}

static const djMethod twoStages = {.name = "two_stages",
                                   .kind = DJ_LDU,
                                   .nstage = 2,
                                   .mass = true,
                                   .coefficients = stages,
                                   .begin = dj_beginInverse,
                                   .evaluate = dj_evaluateInverse,
                                   .linearize = dj_linearizeInverse,
                                   .params = dj_inverseStageParams};

// The table that the tests link in place of the library's.
const djMethod* dj_method(djIntegrator integrator) {
  if (integrator == DJ_BDF1) return &twoStep;
  if (integrator == DJ_MIDPOINT) return &twoStages;
  return integrator == DJ_POSITION ? &dj_position : integrator == DJ_VARIATIONAL ? &dj_variational
                                                                                 : NULL;
}

static void testOrder(void** state) {
  for (int forced = 0; forced < 2; forced++) {
    double order = djt_methodOrder(djt_methodOf(state), forced);
    print_message("order %.2f\n", order);
    assert_true(fabs(order - 2) < 0.2);
  }
}

// A state that is written by hand begins without history, and so does another timestep.
static void testDropped(void** state) {
  djModel* m = djt_chain(true);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  djError err;
  assert_int_equal(dj_tangentSize(m), 4 * m->nv);
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  d->qvel[0] += 1e-9;
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  djOption option = m->opt;
  option.timestep = 0.005;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_resetData(m, d), DJ_OK);
  assert_false(dj_hasHistory(m, d));
  for (int i = 0; i < dj_historySize(m); i++) assert_true(d->history[i] == 0);
  // without it a step is bdf1's, and its derivatives by the history are zero
  int nx = dj_tangentSize(m), nv = m->nv;
  double* A = djt_room((size_t)nx * (size_t)nx);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  for (int r = 0; r < nx; r++) {
    for (int c = 2 * nv; c < nx; c++) assert_true(A[r * nx + c] == 0);
  }
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  double sum = 0;
  for (int r = 0; r < nv; r++) {
    for (int c = 2 * nv; c < nx; c++) sum += fabs(A[r * nx + c]);
  }
  assert_true(sum > 0.1);
  free(A);
  dj_deleteData(d);
  dj_deleteModel(m);
}

int main(void) {
  static djIntegrator step = DJ_BDF1, stage = DJ_MIDPOINT;
  const struct CMUnitTest tests[] = {
      {"robots two_step", djt_testRobots, NULL, NULL, &step},
      {"contact two_step", djt_testContact, NULL, NULL, &step},
      {"params two_step", djt_testParams, NULL, NULL, &step},
      {"restores two_step", djt_testRestores, NULL, NULL, &step},
      {"order two_step", testOrder, NULL, NULL, &step},
      {"dropped two_step", testDropped, NULL, NULL, &step},
      {"robots two_stages", djt_testRobots, NULL, NULL, &stage},
      {"contact two_stages", djt_testContact, NULL, NULL, &stage},
      {"params two_stages", djt_testParams, NULL, NULL, &stage},
      {"restores two_stages", djt_testRestores, NULL, NULL, &stage},
      {"order two_stages", testOrder, NULL, NULL, &stage},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
