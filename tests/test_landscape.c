// Landscapes: of a loss that is known, all numbers; samples without a loss; what is refused.

#include "common/near.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

// (x - .2)^2 of a slide that stays where it starts.
static const char scene[] =
    "{\"dijoco_model\": 1, \"option\": {\"gravity\": [0, 0, 0]}, \"bodies\": [{\"name\": "
    "\"world\"}, {\"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"x\", \"type\": "
    "\"slide\", \"body\": 1, \"axis\": [1, 0, 0]}]}";
static const char task[] =
    "{\"scene\": \"none\", \"horizon\": 2, \"loss\": [{\"type\": \"qpos\", \"joint\": \"x\", "
    "\"target\": [0.2]}], \"variables\": [{\"name\": \"qpos0\"}]}";

typedef struct Case {
  djModel* model;
  djTask* task;
  djProblem* problem;
  djDesign* design;
  djPhases* phases;
} Case;

static Case open(void) {
  Case c;
  djError err = {""};
  djStatus status = dj_loadModelText(&c.model, scene, &err);
  if (status >= 0) status = dj_loadTaskText(&c.task, task, ".", &err);
  if (status >= 0) status = dj_resolveTask(&c.problem, c.task, c.model, &err);
  if (status >= 0) status = djd_makeDesign(&c.design, c.model, c.problem, &err);
  if (status >= 0) status = djd_makePhases(&c.phases, c.design, 1, 1, &err);
  if (status < 0) fail_msg("%s", err.text);
  return c;
}

static void closeCase(Case* c) {
  djd_deletePhases(c->phases);
  djd_deleteDesign(c->design);
  dj_deleteProblem(c->problem);
  dj_deleteTask(c->task);
  dj_deleteModel(c->model);
}

static void testNumbers(void) {
  enum { N = 11 };
  Case c = open();
  djLandscape of;
  double x[N], loss[N], gradient[N], sum[N];
  assert_int_equal(djd_landscape(&of, x, loss, gradient, sum, N, c.phases, 0, 0, 1, NULL), DJ_OK);
  for (int i = 0; i < N; i++) {
    djt_near(x[i], 0.1 * i, 1e-15);
    djt_near(loss[i], (x[i] - 0.2) * (x[i] - 0.2), 1e-12);
    djt_near(gradient[i], 2 * (x[i] - 0.2), 1e-12);
    djt_near(sum[i], loss[i], 1e-12); // the rule is exact of a straight gradient
  }
  djt_near(of.range, 0.64, 1e-12);
  djt_near(of.total_variation, 0.04 + 0.64, 1e-12);
  djt_near(of.gradient_total_variation, 2, 1e-12);
  assert_true(of.sign_changes == 1 && of.missing == 0 && of.unconverged == 0);
  assert_true(of.reconstruction_error < 1e-12);
  closeCase(&c);
}

static void testRefused(void) {
  Case c = open();
  djLandscape of;
  djError err;
  double a[3][2], b[2];
  djt_refusedWith(DJ_INVALID, djd_landscape(&of, a[0], a[1], a[2], b, 2, c.phases, 1, 0, 1, &err),
                  err, "no entry 1");
  assert_int_equal(djd_landscape(&of, a[0], a[1], a[2], b, 1, c.phases, 0, 0, 1, &err), DJ_INVALID);
  assert_int_equal(djd_landscape(&of, a[0], a[1], a[2], b, 2, c.phases, 0, 1, 1, &err), DJ_INVALID);
  assert_int_equal(djd_landscape(&of, a[0], a[1], NULL, b, 2, c.phases, 0, 0, 1, &err), DJ_INVALID);
  closeCase(&c);
}

DJT_MAIN(testNumbers, testRefused)
