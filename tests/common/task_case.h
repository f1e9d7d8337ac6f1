// A task with its model, its problem and its design, evaluated where it starts. Included after
// cmocka.

#ifndef DJ_TESTS_TASK_CASE_H_
#define DJ_TESTS_TASK_CASE_H_

#include "common/json.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

typedef struct Case {
  djTask* task;
  djModel* m;
  djProblem* p;
  djDesign* d;
  double loss, *gradient;
} Case;

// scene NULL: a pole on a cart.
static inline void makeCaseOf(Case* c, const char* scene, const char* json) {
  djError err = {""};
  memset(c, 0, sizeof *c);
  djt_failIf(
      dj_loadTaskText(&c->task, djt_json(json), NULL, &err) < 0 ||
          (scene ? dj_loadModelText(&c->m, djt_json(scene), &err)
                 : dj_loadModel(&c->m, DIJOCO_SOURCE_DIR "/examples/cartpole.json", &err)) < 0 ||
          dj_applyTask(c->m, c->task, &err) < 0 || dj_resolveTask(&c->p, c->task, c->m, &err) < 0 ||
          djd_makeDesign(&c->d, c->m, c->p, &err) < 0,
      "%s", err.text);
  c->gradient = calloc((size_t)c->d->n + 1, sizeof(double));
  assert_int_equal(djd_evaluateDesign(&c->loss, c->gradient, c->d, c->d->x0), DJ_OK);
}

static inline void freeCase(Case* c) {
  free(c->gradient);
  djd_deleteDesign(c->d);
  dj_deleteProblem(c->p);
  dj_deleteModel(c->m);
  dj_deleteTask(c->task);
}

#endif  // DJ_TESTS_TASK_CASE_H_
