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

// The sum of scenes, which all have the same model: what is alike has a loss.
static void sumScenes(const djModel* m, const djTask* task) {
  enum { MOST = 3 };
  djProblem* problem[MOST] = {NULL};
  djDesign* design[MOST] = {NULL};
  djPhases* sum = NULL;
  djError err = {""};
  djStatus status = DJ_OK;
  for (int k = 0; k < task->nscene && status >= 0; k++) {
    status = dj_resolveTask(&problem[k], dj_taskOfScene(task, k), m, &err);
    bool small = status >= 0 && problem[k]->rollout.horizon <= MAX_STEPS &&
                 problem[k]->nparamtangent < MAX_SIZE;
    if (status >= 0) status = small ? djd_makeDesign(&design[k], m, problem[k], &err) : DJ_INVALID;
    if (status < 0 && !err.text[0]) snprintf(err.text, sizeof err.text, "large");
  }
  if (status >= 0) status = djd_makeScenes(&sum, task->nscene, design, NULL, 1, 1, &err);
  FUZZ_CHECK(status >= 0 || err.text[0]);
  if (status >= 0) {
    double *gradient = malloc(((size_t)design[0]->n + 1) * sizeof *gradient), loss;
    FUZZ_CHECK(gradient);
    djd_evaluatePhases(&loss, gradient, sum, design[0]->x0);
    free(gradient);
  }
  djd_deletePhases(sum);
  for (int k = 0; k < task->nscene; k++) {
    djd_deleteDesign(design[k]);
    dj_deleteProblem(problem[k]);
  }
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
    if (task->nscene > 1 && task->nscene <= 3) sumScenes(m, task);
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
