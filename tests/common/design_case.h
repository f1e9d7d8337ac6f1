// A scene and a task as texts, and the design that they make.

#ifndef DJ_TESTS_DESIGN_CASE_H_
#define DJ_TESTS_DESIGN_CASE_H_

#include "common/json.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

typedef struct DesignCase {
  djModel* m;
  djTask* task;
  djProblem* p;
  djDesign* d;
} DesignCase;

static inline void djt_openDesign(DesignCase* c, const char* scene, const char* task) {
  djError err = {""};
  *c = (DesignCase){0};
  if (dj_loadModelText(&c->m, djt_json(scene), &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadTaskText(&c->task, djt_json(task), NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_resolveTask(&c->p, c->task, c->m, &err) != DJ_OK) fail_msg("%s", err.text);
  if (djd_makeDesign(&c->d, c->m, c->p, &err) != DJ_OK) fail_msg("%s", err.text);
}

// Entry of an equation.
static inline double djt_equal(const djDesign* d, int row, int entry) {
  for (int k = d->equal_start[row]; k < d->equal_start[row + 1]; k++) {
    if (d->equal_index[k] == entry) return d->equal[k];
  }
  return 0;
}

static inline void djt_closeDesign(DesignCase* c) {
  djd_deleteDesign(c->d);
  dj_deleteProblem(c->p);
  dj_deleteTask(c->task);
  dj_deleteModel(c->m);
}

// The task's own optimization is refused, in one line with the words.
static inline void djt_refuseOptimize(const char* scene, const char* task, const char* words) {
  DesignCase c;
  djError err = {""};
  djOptimizeResult r;
  djt_openDesign(&c, scene, task);
  double* x = malloc(((size_t)c.d->n + 1) * sizeof *x);
  memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
  djStatus status = djd_optimizeDesign(&r, x, c.d, &c.task->optimizer, 1, NULL, NULL, &err);
  djt_failIf(status >= 0 || !strstr(err.text, words) || strchr(err.text, '\n'),
             "%s: %d \"%s\", not \"%s\"", task, status, err.text, words);
  free(x);
  djt_closeDesign(&c);
}

#endif  // DJ_TESTS_DESIGN_CASE_H_
