// bdf2: the history of its state, and the step that begins without one.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"
#include "common/receding_case.h"

#include <dijoco/csv.h>

// Derivatives of the step without a history: SDIRK2, of two stages.
static void testStart(void** state) {
  djt_methodRobotsAfter(djt_methodOf(state), 0);
  djt_methodContactAfter(djt_methodOf(state), 2, true);
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
  // without it a step is SDIRK2's, and its derivatives by the history are zero
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

// The numbers of the state have names, and are the columns of a trajectory.
static void testNames(void** state) {
  static const char* const name[] = {"time",        "qpos[0]",    "qvel[0]",
                                     "has_history", "history[0]", "history[1]"};
  Scene* s = newScene(1);
  addBody(s, 0, DJ_SLIDE, 0, 0, 0, 1, 0.2);
  djModel* m = sceneModel(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  char text[32];
  assert_int_equal(dj_stateSize(m), 6);
  for (int i = 0; i < 6; i++) assert_string_equal(dj_stateName(text, m, i), name[i]);
  assert_string_equal(dj_stateName(text, m, 6), "");
  d->qvel[0] = 0.5;
  assert_int_equal(dj_step(m, d), DJ_OK);
  double row[6], read[6];
  assert_int_equal(dj_getState(row, m, d), DJ_OK);
  assert_true(row[3] == 1 && row[4] == 0 && row[5] == 0.5);
  const char* path = "two_step.csv";
  djCsv* csv;
  assert_int_equal(dj_openStateCsv(&csv, m, path, NULL), DJ_OK);
  dj_writeStateCsv(csv, m, row);
  assert_int_equal(dj_closeCsv(csv, NULL), DJ_OK);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char line[200];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "time,qpos[0],qvel[0],has_history,history[0],history[1]\n");
  assert_non_null(fgets(line, sizeof line, file));
  assert_int_equal(dj_parseNumbers(read, 6, line, NULL), DJ_OK);
  assert_memory_equal(read, row, sizeof row);
  fclose(file);
  remove(path);
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
}

// An impact that is taken in parts begins and ends without history, and has its derivatives.
static void testImpact(void** state) {
  Scene* s = newScene(2);
  for (int b = 1; b < 3; b++) {
    addBody(s, 0, DJ_FREE, b == 1 ? 0 : 0.33, 0, b == 1 ? 0.02 : 0, 1, 0.05);
    addGeom(s, b, DJ_SPHERE, 0.05, 0, 0);
  }
  s->def.option.support = 0.02;
  s->def.option.stiffness = 1e-2;
  s->def.option.friction_eps = 1e-2;
  djModel* m = sceneModel(s);
  freeScene(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.005);
  d->qvel[0] = 14;
  d->qvel[6] = -14;
  d->qvel[10] = 1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  bool keeps = dj_historySize(m) > 0;
  assert_int_equal(dj_hasHistory(m, d), keeps);
  double error = djt_transitionError(m, d, 1e-6, 0);
  print_message("transition through an impact: %.1e\n", error);
  assert_true(error < 1e-5);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->npart, 3);
  assert_false(dj_hasHistory(m, d));
  for (int i = 0; i < dj_historySize(m); i++) assert_true(d->history[i] == 0);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_hasHistory(m, d), keeps);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// Windows that move on through a task start with the history of what was executed.
static void testReceding(void** state) {
  const char* name = dj_integratorName(djt_methodOf(state));
  for (int iterations = 0; iterations < 3; iterations += 2) {
    DesignCase c;
    djt_openPushBy(&c, name, 12, "\"ctrl\":[2,0.2],\"variables\":[{\"name\":\"ctrl\"}]");
    djOptimizer how = dj_defaultOptimizer();
    how.iterations = iterations;
    how.receding = (djReceding){.horizon = 6, .apply = 3};
    djRecedingRun* run = djt_recede(&c, &how, NULL);
    djt_checkReplay(&c, run);
    if (iterations == 0) {   // the last window goes on from step 9 with the same controls
      double qpos[7 * 9];
      assert_int_equal(djd_tapeStates(qpos, NULL, NULL, c.m, run->window->tape), DJ_OK);
      djt_sameBits(qpos, run->qpos + 9 * 9, 4 * 9);
    }
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
}

int main(void) {
  static djIntegrator method = DJ_BDF2;
  const struct CMUnitTest tests[] = {
      {"start", testStart, NULL, NULL, &method},       {"dropped", testDropped, NULL, NULL, &method},
      {"receding", testReceding, NULL, NULL, &method}, {"names", testNames, NULL, NULL, &method},
      {"impact", testImpact, NULL, NULL, &method},
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
