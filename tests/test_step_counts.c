// What djStats counts of a step, on scenes where it is known: what a problem that is linear takes,
// each way of looking for an end, what contact lists, and why a step ends.

#include "common/message.h"
#include "integrate/attempts.h"
#include "integrate/method_need.h"
#include "integrate/stage_problem.h"

#include <dijoco/array.h>
#include <dijoco/dijoco.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// A scene: settings, bodies after the world, joints and more lists.
static djModel* load(const char* option, const char* lists) {
  char text[4000];
  djModel* m = NULL;
  djError err = {""};
  snprintf(text, sizeof text, "{\"dijoco_model\": 1, \"option\": {%s}, %s}", option, lists);
  if (dj_loadModelText(&m, text, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

static djData* dataOf(const djModel* m) {
  djData* d = NULL;
  assert_int_equal(dj_makeData(&d, m, NULL), DJ_OK);
  return d;
}

static void drop(djModel* m, djData* d) {
  dj_deleteData(d);
  dj_deleteModel(m);
}

static int attempts(const djStats* s) {
  return s->near_attempts + s->guess_attempts + s->root_attempts + s->lag_attempts +
         s->hold_attempts;
}

// What holds of every step.
static void checkCounts(const djStats* s) {
  assert_true(s->iterations <= s->evaluations && s->evaluations > 0);
  assert_true(s->iterations <= 2 * s->factorizations);   // the last by the factor before it
  assert_int_equal(s->attempts, s->parts + s->jammed_attempts + s->substitute_attempts);
  assert_true(attempts(s) >= s->attempts);
  assert_true(s->loaded_pairs <= s->near_pairs && s->ended != DJ_END_NONE);
  assert_true(s->passes > 0 || (s->rows == 0 && s->inner_iterations == 0));
}

#define SPRING                                                                                     \
  "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}],"   \
  "\"joints\": [{\"name\": \"j\", \"type\": \"slide\", \"body\": \"b\", \"stiffness\": 100}]"
#define BALL                                                                                       \
  "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"b\", \"mass\": 1, \"pos\": [0, 0, %s],"        \
  " \"inertia\": [0.004, 0.004, 0.004]}, {\"name\": \"far\", \"mass\": 1, \"pos\": [9, 0, 3],"     \
  " \"inertia\": [0.004, 0.004, 0.004]}],"                                                         \
  "\"joints\": [{\"type\": \"free\", \"body\": \"b\"}, {\"type\": \"free\", \"body\": \"far\"}],"  \
  "\"geoms\": [{\"type\": \"plane\", \"body\": \"world\"},"                                        \
  " {\"type\": \"sphere\", \"size\": [0.1, 0, 0], \"body\": \"b\"},"                               \
  " {\"type\": \"sphere\", \"size\": [0.1, 0, 0], \"body\": \"far\"}]"

static djModel* loadBall(const char* option, const char* height) {
  char lists[3000];
  snprintf(lists, sizeof lists, BALL, height);
  return load(option, lists);
}

// Of a linear problem the first iteration has the solution and the second sees it; a third
// evaluation refines. From rest the start is tried first as the end, and refused after one.
static void testLinear(void** state) {
  (void)state;
  djModel* m = load("\"integrator\": \"bdf1\"", SPRING);
  djData* d = dataOf(m);
  assert_int_equal(d->stats.ended, DJ_END_NONE);
  d->qpos[0] = 0.1;
  for (int k = 0; k < 3; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    const djStats* s = &d->stats;
    checkCounts(s);
    int rest = k == 0;
    assert_int_equal(s->iterations, 2 + rest);
    assert_int_equal(s->evaluations, 3 + rest);
    assert_int_equal(s->factorizations, 3 + rest);
    assert_int_equal(s->near_attempts, rest);
    assert_int_equal(s->guess_attempts, 1);
    assert_int_equal(attempts(s), 1 + rest);
    assert_int_equal(s->ended, DJ_END_SOLVED);
    assert_int_equal(s->parts, 1);
    assert_int_equal(s->near_pairs + s->passes + s->rows, 0);
  }
  drop(m, d);
}

// A ball that lies on a plane: one pair, loaded; in the air: none, and passes that find no row.
static void testRest(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"euler\"", "0.1005");
  djData* d = dataOf(m);
  for (int k = 0; k < 300; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    checkCounts(&d->stats);
  }
  const djStats* s = &d->stats;
  print_message("passes %d inner %d rows %d near %d loaded %d\n", s->passes, s->inner_iterations,
                s->rows, s->near_pairs, s->loaded_pairs);
  assert_int_equal(s->near_pairs, 1);
  assert_int_equal(s->loaded_pairs, 1);
  assert_true(s->passes >= 1 && s->inner_iterations >= s->passes && s->rows >= 1);
  assert_int_equal(s->near_attempts, 1);
  assert_int_equal(attempts(s), 1);
  d->qpos[2] = 5;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(s->near_pairs + s->loaded_pairs + s->rows, 0);
  drop(m, d);
}

// Two balls that lie there are two pairs, both loaded; apart from the plane by what the law
// reaches, but not loaded: near.
static void testPairs(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"euler\"", "0.1");
  djData* d = dataOf(m);
  d->qpos[7 + 2] = 0.1;
  for (int k = 0; k < 100; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  int rows = d->stats.rows;
  assert_int_equal(d->stats.near_pairs, 2);
  assert_int_equal(d->stats.loaded_pairs, 2);
  for (int k = 0, loaded = 0; k < d->npair; k++) {
    loaded += d->pair[k].normal_force > 0;
    if (k + 1 == d->npair) assert_int_equal(loaded, d->stats.loaded_pairs);
  }
  d->qpos[7 + 2] = 3;   // one of them alone has half the rows
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(rows >= 2);
  assert_int_equal(2 * d->stats.rows, rows);
  drop(m, d);
}

// One iteration is not enough: the best iterate is kept, and why is told.
static void testEnds(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"position\", \"max_iterations\": 1", "0.1");
  djData* d = dataOf(m);
  int ended[DJ_NSTEPEND] = {0};
  d->qvel[2] = -1;
  for (int k = 0; k < 20; k++) {
    long unconverged = d->stats.unconverged_steps;
    djStatus status = dj_step(m, d);
    assert_true(status >= 0);
    ended[d->stats.ended]++;
    if (status == DJ_OK)
      assert_int_equal(d->stats.ended, DJ_END_SOLVED);
    else
      assert_true(d->stats.ended > DJ_END_SOLVED);
    assert_int_equal(d->stats.unconverged_steps - unconverged, status != DJ_OK);
  }
  assert_true(ended[DJ_END_ITERATIONS] > 0);
  drop(m, d);
}

// A turn beyond a quarter in a step has no solution by `variational`: `position` takes it.
static void testSubstitute(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"variational\", \"timestep\": 0.01", "5");
  djData* d = dataOf(m);
  d->qvel[5] = 150;
  assert_int_equal(dj_step(m, d), DJ_OK);
  checkCounts(&d->stats);
  assert_int_equal(d->stats.substitute_attempts, 1);
  assert_int_equal(d->stats.attempts, 2);
  assert_int_equal(d->stats.fallback_steps, 1);
  drop(m, d);
}

// What the substitute has not, is not left out: the best iterate is kept.
static void testNoSubstitute(void** state) {
  (void)state;
  for (int sticky = 0; sticky < 2; sticky++) {
    char lists[4000];
    snprintf(lists, sizeof lists, BALL "%s", "0.1",
             sticky ? ", \"actuators\": [{\"body\": \"far\"}]" : "");
    djModel* m = load("\"integrator\": \"euler\", \"max_iterations\": 1", lists);
    djData* d = dataOf(m);
    assert_int_equal(dj_hasNeeded(d->work, m, &dj_position), !sticky);
    assert_true(dj_hasNeeded(d->work, m, &dj_euler));
    djNewtonResult result;
    djStepEnd ended = DJ_END_NONE;
    d->qvel[0] = 1;
    assert_int_equal(dj_step(m, d), DJ_OK);
    dj_chooseMethod(d->work, m, &dj_euler);
    assert_int_equal(dj_attemptStep(&result, &ended, d->work, m, 1), DJ_OK);
    assert_int_equal(ended, DJ_END_SOLVED);
    assert_ptr_equal(d->work->method, &dj_euler);
    // A residual's size over the masses: of a kilogram along x.
    djStageProblem stage = {.work = d->work, .model = m, .method = d->work->method};
    const double along[12] = {3}, scale = 1 / (m->opt.timestep * m->opt.timestep);
    dj_openPlace(&d->work->now, m, d->work->ref);
    assert_true(fabs(dj_stageSize(&stage, along) * scale - 9) < 1e-9);
    assert_true(fabs(d->work->scale[0] - scale) < 1e-9 * scale);
    // By a unit of which nothing is small enough.
    assert_int_equal(dj_attemptStep(&result, &ended, d->work, m, 1e-30), DJ_NOT_CONVERGED);
    assert_true(ended > DJ_END_SOLVED);
    assert_ptr_equal(d->work->method, sticky ? &dj_euler : &dj_position);
    drop(m, d);
  }
}

// The first step of bdf2 has two stages; a step in parts has the ways of all of them.
static void testStages(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"bdf2\"", "5");
  djData* d = dataOf(m);
  d->qvel[0] = 1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.guess_attempts, 2);
  assert_int_equal(d->stats.attempts, 1);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.guess_attempts, 1);
  drop(m, d);
  m = loadBall("\"integrator\": \"position\", \"timestep\": 0.01", "3");
  d = dataOf(m);
  d->qpos[7] = 0.5; // the other ball, by which this one would pass
  d->qvel[0] = 90;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.impact_steps, 1);
  assert_true(d->stats.parts > 1);
  assert_int_equal(d->stats.attempts, d->stats.parts);
  checkCounts(&d->stats);
  drop(m, d);
}

// Friction by the end: once for each stage. Hard equality constraints that bend: solutions one
// after the other.
static void testLags(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"position\", \"friction\": \"implicit\"", "0.1");
  djData* d = dataOf(m);
  d->qvel[0] = 1;
  for (int k = 0; k < 3; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.lag_attempts, 1);
  checkCounts(&d->stats);
  drop(m, d);
  m = load(
      "\"integrator\": \"position\", \"equality\": \"hard\", \"timestep\": 0.01",
      "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],"
      " \"pos\": [1, 0, 0]}],"
      "\"joints\": [{\"type\": \"free\", \"body\": \"a\"}],"
      "\"equalities\": [{\"type\": \"connect\", \"body1\": \"a\", \"body2\": \"world\","
      " \"anchor1\": [-1, 0, 0], \"anchor2\": [0, 0, 0]}]");
  d = dataOf(m);
  d->qvel[4] = 3;
  d->qvel[2] = -3;
  for (int k = 0; k < 3; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  print_message("holds %d\n", d->stats.hold_attempts);
  assert_true(d->stats.hold_attempts >= 1);
  checkCounts(&d->stats);
  drop(m, d);
}

// All are fields by name, and those of a step that failed are as before.
static void testNames(void** state) {
  (void)state;
  djModel* m = loadBall("\"integrator\": \"euler\"", "0.1");
  djData* d = dataOf(m);
  djArray array;
  assert_int_equal(dj_step(m, d), DJ_OK);
#define X(name)                                                                                    \
  assert_int_equal(dj_dataArray(&array, m, d, "stats." #name), DJ_OK);                             \
  assert_ptr_equal(array.data, &d->stats.name);                                                    \
  assert_int_equal(array.type, DJ_ARRAY_INT);
  DJ_STEP_COUNTS(X)
  X(parts)
  X(near_pairs) X(loaded_pairs) X(ended)
#undef X
      djStats before = d->stats;
  d->qvel[0] = 1e300;
  assert_true(dj_step(m, d) < 0);
  assert_memory_equal(&before, &d->stats, sizeof before);
  drop(m, d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testLinear),     cmocka_unit_test(testRest),
                                     cmocka_unit_test(testPairs),      cmocka_unit_test(testEnds),
                                     cmocka_unit_test(testSubstitute), cmocka_unit_test(testStages),
                                     cmocka_unit_test(testNoSubstitute),
                                     cmocka_unit_test(testLags),       cmocka_unit_test(testNames)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
