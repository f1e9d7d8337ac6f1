// JSON tasks, of a model that has an element of every kind: what resolves has a loss and a
// gradient, or says why not.

#include "fuzz.h"

#include "common/sample_model.h"

enum { MAX_STEPS = 20, MAX_SIZE = 200 };

static void evaluate(const djModel* m, const djProblem* problem) {
  djDesign* design;
  djError err;
  if (djd_makeDesign(&design, m, problem, &err) < 0) {
    FUZZ_CHECK(err.text[0]);
    return;
  }
  double* gradient = malloc(((size_t)design->n + 1) * sizeof *gradient);
  double loss;
  FUZZ_CHECK(gradient);
  djd_evaluateDesign(&loss, gradient, design, design->x0);
  free(gradient);
  djd_deleteDesign(design);
}

static void resolve(const djTask* task) {
  djSample sample;
  djModel* m;
  djProblem* problem;
  djError err;
  djt_fillSample(&sample);
  FUZZ_CHECK(dj_makeModel(&m, &sample.def, &err) == DJ_OK);
  if (dj_applyTask(m, task, &err) >= 0 && dj_resolveTask(&problem, task, m, &err) >= 0) {
    if (problem->rollout.horizon <= MAX_STEPS && problem->nparamtangent < MAX_SIZE) {
      evaluate(m, problem);
    }
    dj_deleteProblem(problem);
  } else {
    FUZZ_CHECK(err.text[0]);
  }
  dj_deleteModel(m);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = fuzz_text(data, size);
  djTask* task;
  djError err;
  if (dj_loadTaskText(&task, text, NULL, &err) >= 0) {
    if (task->horizon <= MAX_STEPS) resolve(task);
    dj_deleteTask(task);
  } else {
    FUZZ_CHECK(!task && err.text[0]);
  }
  free(text);
  return 0;
}
