// Tasks with "derivatives": "smooth": the loss of their runs, with the gradient of steps of
// smoother contact along these.

#include "gradient/design_smooth.h"

#include <dijoco/hessian.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/task_case.h"

// A ball on a slide pushes a box over the floor, .01 m before it.
static const char scene[] =
    "{\"dijoco_model\": 1, \"option\": {\"integrator\": \"euler\", \"timestep\": 0.005},"
    " \"bodies\": [{\"name\": \"world\"}, {\"name\": \"ball\", \"pos\": [-0.16, 0, 0.1], \"mass\": "
    "0.5,"
    "  \"inertia\": [0.001, 0.001, 0.001]}, {\"name\": \"box\", \"pos\": [0, 0, 0.1], \"mass\": "
    "0.4,"
    "  \"inertia\": [0.002, 0.002, 0.002]}],"
    " \"joints\": [{\"name\": \"x\", \"type\": \"slide\", \"axis\": [1, 0, 0], \"body\": \"ball\"},"
    "  {\"name\": \"free\", \"type\": \"free\", \"body\": \"box\"}],"
    " \"geoms\": [{\"name\": \"floor\", \"type\": \"plane\", \"body\": \"world\"},"
    "  {\"name\": \"ball\", \"type\": \"sphere\", \"size\": [0.05, 0, 0], \"body\": \"ball\"},"
    "  {\"name\": \"box\", \"type\": \"box\", \"size\": [0.1, 0.1, 0.1], \"body\": \"box\"}],"
    " \"actuators\": [{\"name\": \"push\", \"joint\": \"x\"}]}";

static void open(Case* c, const char* keys) {
  char json[1000];
  snprintf(
      json, sizeof json,
      "{\"scene\": \"none.json\", \"horizon\": 40, \"ctrl\": [1.5]%s, \"variables\": [{\"name\": "
      "\"ctrl\"}, {\"name\": \"qvel0\", \"index\": [1, 2]}, {\"name\": \"body/box/mass\"}, "
      "{\"name\":"
      " \"geom/box/size\"}], \"loss\": [{\"type\": \"position\", \"body\": \"box\", \"target\": "
      "[0.3, 0,"
      " 0.1]}, {\"type\": \"effort\", \"weight\": 0.01}]}",
      keys);
  makeCaseOf(c, scene, json);
}

// The gradient of the same task, whose tape holds the run, by steps of the preset by hand.
static void byHand(double* gradient, Case* c) {
  djModel* m;
  djData* d;
  djTape* tape;
  djError err = {""};
  djDesign* own = c->d;
  assert_int_equal(dj_copyModel(&m, c->m, &err), DJ_OK); // default rules go by what is given
  djOption option = m->opt;
  while (strcmp(dj_preset(option.preset)->name, "smooth") != 0) option.preset++;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  for (int k = 0; k < c->p->nparam; k++) {
    double value[3];
    assert_int_equal(dj_getParam(value, own->model, &c->p->param[k]), DJ_OK);
    assert_int_equal(dj_setParam(m, &c->p->param[k], value, &err), DJ_OK);
  }
  assert_int_equal(dj_makeData(&d, m, &err), DJ_OK);
  assert_int_equal(djd_makeTape(&tape, m, own->rollout.horizon, &err), DJ_OK);
  djRollout r = own->rollout;
  r.loss_only = false;
  r.along = own->tape;
  assert_true(djd_rolloutForward(&own->result, m, d, &r, tape) >= 0);
  assert_true(djd_rolloutBackward(&own->result, m, d, &r, tape) >= 0);
  djDesignRun run = dj_gradientRun(own);
  assert_ptr_equal(run.model, own->model); // of this design the gradient is its own
  int at = 0;
  for (int k = 0; k < r.horizon; k++) gradient[at++] = own->result.grad_ctrl[k];
  gradient[at++] = own->result.grad_qvel0[1];
  gradient[at++] = own->result.grad_qvel0[2];
  for (int k = 0; k < 4; k++) gradient[at++] = own->result.grad_param[k];
  assert_int_equal(at, own->n);
  djd_deleteTape(tape);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// At the task's values, and at others, that both models are to have.
static void testGradient(void** state) {
  (void)state;
  Case smooth, own;
  double loss, hand[60], x[60], most = 0;
  open(&smooth, ", \"derivatives\": \"smooth\"");
  open(&own, "");
  assert_true(djd_isSurrogate(smooth.d) && !djd_isSurrogate(own.d));
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < own.d->n; i++) x[i] = own.d->x0[i] * (1 + 0.1 * k) + 0.02 * k;
    assert_true(djd_evaluateDesign(&own.loss, own.gradient, own.d, x) >= 0);
    assert_true(djd_evaluateDesign(&loss, smooth.gradient, smooth.d, x) >= 0);
    assert_true(loss == own.loss);
    byHand(hand, &own);
    for (int i = 0; i < own.d->n; i++) {
      assert_true(smooth.gradient[i] == hand[i]);
      most = fmax(most, fabs(hand[i] - own.gradient[i]) / (fabs(hand[i]) + 1e-9));
    }
    assert_true(most > 0.01); // which is not that of the run
  }
  freeCase(&smooth);
  freeCase(&own);
}

static void testRefused(void** state) {
  (void)state;
  Case c;
  djError err = {""};
  djTask* task;
  open(&c, ", \"derivatives\": \"smooth\"");
  double v[60] = {1}, out[60];
  assert_int_equal(djd_designHvp(out, c.d, c.d->x0, v), DJ_UNSUPPORTED);
  assert_string_equal(djd_designError(c.d), "derivatives: smooth has no second derivatives");
  djdCertificate one;
  djPhases* phases;
  assert_int_equal(djd_makePhases(&phases, c.d, 1, 1, &err), DJ_OK);
  djd_certifyWithin(&one, phases, 0, c.loss, c.gradient, 1, 40);
  assert_true(one.surrogate);
  djd_deletePhases(phases);
  freeCase(&c);
  assert_true(dj_loadTaskText(&task,
                              "{\"scene\": \"a\", \"horizon\": 2, \"derivatives\": \"rough\"}",
                              NULL, &err) < 0);
  assert_non_null(strstr(err.text, "derivatives: unknown value 'rough', expected one of analytic, smooth"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testGradient), cmocka_unit_test(testRefused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
