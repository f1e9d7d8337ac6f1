// A scene and a task as texts, and the design that they make.

#ifndef DJ_TESTS_DESIGN_CASE_H_
#define DJ_TESTS_DESIGN_CASE_H_

#include <dijoco/dijoco.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct DesignCase {
  djModel* m;
  djTask* task;
  djProblem* p;
  djDesign* d;
} DesignCase;

static inline void djt_openDesign(DesignCase* c, const char* scene, const char* task) {
  djError err = {""};
  *c = (DesignCase){0};
  if (dj_loadModelText(&c->m, scene, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadTaskText(&c->task, task, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
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

#endif  // DJ_TESTS_DESIGN_CASE_H_
