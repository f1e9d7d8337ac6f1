// JSON tasks, of a model that has an element of every kind: what resolves has a loss and a
// gradient, or says why not.

#include "fuzz.h"

#include "common/sample_model.h"

enum { MAX_STEPS = 20, MAX_SIZE = 200 };

// An iteration of each stage.
static void optimize(djDesign* design, const djTask* task) {
  djOptimizer how = task->optimizer;
  djStage* stage = malloc(((size_t)how.nstage + 1) * sizeof *stage);
  double* x = malloc(((size_t)design->n + 1) * sizeof *x);
  FUZZ_CHECK(stage && x);
  for (int i = 0; i < how.nstage; i++) {
    stage[i] = how.stage[i];
    stage[i].iterations = 1;
  }
  how.stage = stage;
  how.iterations = 1;
  if (how.phases > 2) how.phases = 2;
  if (design->n > 0) memcpy(x, design->x0, (size_t)design->n * sizeof *x);
  djOptimizeResult result;
  djError err = {""};
  const djStatus status = djd_optimizeDesign(&result, x, design, &how, 1, NULL, NULL, &err);
  FUZZ_CHECK(status >= 0 || err.text[0]);
  free(stage);
  free(x);
}

static void evaluate(const djModel* m, const djProblem* problem, const djTask* task) {
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
  if (task->optimizer.nstage > 0 && task->optimizer.nstage < 4) optimize(design, task);
  free(gradient);
  djd_deleteDesign(design);
}

static void resolve(const djTask* task, const char* text) {
  djSample sample;
  djModel* m;
  djProblem* problem;
  djError err;
  djt_fillSample(&sample);
  if (strstr(text, "bdf")) sample.tendon[0].armature = 0; // which they do not take
  FUZZ_CHECK(dj_makeModel(&m, &sample.def, &err) == DJ_OK);
  if (dj_applyTask(m, task, &err) >= 0 && dj_resolveTask(&problem, task, m, &err) >= 0) {
    if (problem->rollout.horizon <= MAX_STEPS && problem->nparamtangent < MAX_SIZE) {
      evaluate(m, problem, task);
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
    if (task->horizon <= MAX_STEPS) resolve(task, text);
    dj_deleteTask(task);
  } else {
    FUZZ_CHECK(!task && err.text[0]);
  }
  free(text);
  return 0;
}
