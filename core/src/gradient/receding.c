// Receding horizon: one design of a window, whose start and controls move on through the task, and
// the run of what is executed.

#include "base/status.h"
#include "gradient/candidates.h"
#include "gradient/design_parts.h"
#include "gradient/window.h"
#include "integrate/work.h"
#include "model/fields.h"
#include "model/make.h"

#include <dijoco/receding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct djRecedingMemory {
  djWindow* window;
  djCandidates* candidates;   // NULL: there is but one
  djPhases* phases;     // of its design, which is the only one
  djOptimizer how;
  djData* data;         // what is executed
  double* x;            // (window->n) of the window at hand
  double* given;        // (nwindow) copy of djReceding.window, or NULL
  djPool pool;
} djRecedingMemory;

static djRecedingMemory* memoryOf(const djRecedingRun* run) { return run->memory; }

// ---- making -----------------------------------------------------------------------------------

static djStatus takeNumbers(djRecedingRun* run, djPool* pool) {
  djRecedingMemory* w = memoryOf(run);
  const djModel* m = run->window->model;
  const djReceding* r = &w->how.receding;
  size_t n = (size_t)run->horizon + 1, window = (size_t)run->window->n;
  struct {
    double** array;
    size_t n;
  } list[] = {{&run->x, run->design->n}, {&run->ctrl, (n - 1) * m->nu}, {&run->qpos, n * m->nq},
              {&run->qvel, n * m->nv}, {&run->act, n * m->na}, {&run->start, window},
              {&w->x, window}, {&w->given, window}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(pool, list[i].n, sizeof(double));
    if (!*list[i].array) return DJ_NO_MEMORY;
  }
  if (r->nwindow > 0) dj_copyNumbers(w->given, r->window, r->nwindow);
  else w->given = NULL;
  size_t frames = ((size_t)run->horizon - 1) / (size_t)r->apply + 1;
  run->frame = dj_poolTake(pool, frames, sizeof *run->frame);
  return run->frame ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus makeRun(djRecedingRun* run, djError* err) {
  djRecedingMemory* w = memoryOf(run);
  const djReceding* r = &w->how.receding;
  if (w->how.phases > 1) return dj_fail(err, DJ_UNSUPPORTED, "receding: takes no phases");
  if (w->how.nanneal > 0) return dj_fail(err, DJ_UNSUPPORTED, "receding: takes no anneal");
  if (w->how.nstage > 0) return dj_fail(err, DJ_UNSUPPORTED, "receding: takes no stages");
  djStatus status = dj_makeWindow(&w->window, run->design, r, err);
  if (status < 0) return status;
  run->window = w->window->design;
  if (r->nwindow > 0 && r->nwindow != run->window->n) {
    return dj_fail(err, DJ_INVALID, "optimizer: receding: window: must be %d numbers",
                   run->window->n);
  }
  if (takeNumbers(run, &w->pool) < 0) return dj_failMemory(err);
  status = djd_makePhases(&w->phases, run->window, 1, 1, err);
  if (status == DJ_OK) status = dj_makeCandidates(&w->candidates, w->window, r, err);
  if (status == DJ_OK) status = dj_makeData(&w->data, run->window->model, err);
  int key = run->design->problem->key;
  if (status == DJ_OK && key >= 0) dj_resetKey(run->window->model, w->data, key);
  return status;
}

djStatus djd_makeReceding(djRecedingRun** out, djDesign* design, const djOptimizer* optimizer,
                          djError* err) {
  if (!out) return dj_fail(err, DJ_INVALID, "run: NULL");
  *out = NULL;
  if (!design || !optimizer) return dj_fail(err, DJ_INVALID, "design or optimizer: NULL");
  djRecedingRun* run = calloc(1, sizeof *run);
  djRecedingMemory* w = calloc(1, sizeof *w);
  if (!run || !w) {
    free(run);
    free(w);
    return dj_failMemory(err);
  }
  *run = (djRecedingRun){.design = design, .horizon = design->rollout.horizon, .memory = w};
  w->how = *optimizer;
  djStatus status = makeRun(run, err);
  if (status < 0) {
    djd_deleteReceding(run);
    return status;
  }
  *out = run;
  return DJ_OK;
}

void djd_deleteReceding(djRecedingRun* run) {
  if (!run) return;
  djRecedingMemory* w = memoryOf(run);
  djd_deletePhases(w->phases);
  dj_deleteCandidates(w->candidates);
  dj_deleteData(w->data);
  dj_deleteWindow(w->window);
  dj_poolFree(&w->pool);
  free(w);
  free(run);
}

// ---- what is executed -------------------------------------------------------------------------

static void record(djRecedingRun* run, int step) {
  const djModel* m = run->window->model;
  const djData* d = memoryOf(run)->data;
  dj_copyNumbers(run->qpos + (size_t)step * m->nq, d->qpos, m->nq);
  dj_copyNumbers(run->qvel + (size_t)step * m->nv, d->qvel, m->nv);
  dj_copyNumbers(run->act + (size_t)step * m->na, d->act, m->na);
}

// The task's start, as a rollout has it.
static djStatus start(djRecedingRun* run, djError* err) {
  djRecedingMemory* w = memoryOf(run);
  const djModel* m = run->window->model;
  const djProblem* p = run->design->problem;
  double* state = w->window->state;
  memset(state, 0, (size_t)dj_stateSize(m) * sizeof *state);
  dj_copyNumbers(state + 1, p->qpos0, m->nq);
  dj_copyNumbers(state + 1 + m->nq, p->qvel0, m->nv);
  dj_copyNumbers(state + 1 + m->nq + m->nv, p->act0, m->na);
  w->data->stats.unconverged_steps = 0;
  djStatus status = dj_setState(w->data, m, state);
  if (status >= 0) status = dj_setHistory(w->data, m, p->history_qpos0, p->history_qvel0);
  if (status < 0) return dj_fail(err, status, "%.500s", dj_errorText(w->data));
  record(run, 0);
  run->next = 0;
  return DJ_OK;
}

// Steps with controls (n x nu), exactly as those of rollouts.
static djStatus execute(djRecedingRun* run, const double* ctrl, int n, djError* err) {
  djRecedingMemory* w = memoryOf(run);
  const djModel* m = run->window->model;
  djData* d = w->data;
  int refinement_steps = d->work->refinement_steps;
  djStatus status = DJ_OK;
  d->work->refinement_steps = run->window->rollout.refinement_steps;
  for (int k = 0; k < n && status >= 0; k++) {
    const double* row = ctrl + (size_t)k * m->nu;
    dj_copyNumbers(run->ctrl + (size_t)run->next * m->nu, row, m->nu);
    dj_copyNumbers(d->ctrl, row, m->nu);
    status = dj_step(m, d);
    if (status < 0) break;
    record(run, ++run->next);
  }
  d->work->refinement_steps = refinement_steps;
  run->unconverged_steps = (int)d->stats.unconverged_steps;
  return status < 0 ? dj_fail(err, status, "%.500s", dj_errorText(d)) : DJ_OK;
}

// ---- frames -----------------------------------------------------------------------------------

typedef struct djFrameWatch {
  djRecedingRun* run;
  const djRecedingCallback* callback;
} djFrameWatch;

static bool tellStep(void* user, const djOptimizeStep* step) {
  const djFrameWatch* watch = user;
  const djRecedingCallback* c = watch->callback;
  return !c || !c->iteration || c->iteration(c->user, watch->run->next, step);
}

// One window. *more: the next one is to follow.
static djStatus runFrame(bool* more, djRecedingRun* run, const djRecedingCallback* callback,
                         djError* err) {
  djRecedingMemory* w = memoryOf(run);
  djFrameWatch watch = {run, callback};
  djOptimizeResult result;
  int apply = w->how.receding.apply, left = run->horizon - run->next;
  dj_placeWindow(w->window, w->data, run->next);
  dj_copyNumbers(w->x, run->start, run->window->n);
  int candidate = 0;
  if (w->candidates) {
    candidate = dj_chooseCandidate(w->x, &run->evaluations, w->candidates, run->next);
  }
  djStatus status = djd_optimizePhases(&result, w->x, w->phases, &w->how, tellStep, &watch, err);
  if (status < 0) return status;
  run->iterations += result.iterations;
  run->evaluations += result.evaluations;
  run->refused += result.refused;
  *more = result.stop != DJ_STOP_CALLBACK;
  if (!*more) return DJ_OK;
  status = djd_moveDesign(run->window, w->x);
  if (status < 0) return dj_fail(err, status, "%.500s", run->window->error.text);
  int frame = run->next, n = left < apply ? left : apply;
  status = execute(run, run->window->rollout.ctrl, n, err);
  if (status < 0) return status;
  dj_pasteWindow(run->x, w->window, w->x, frame, run->next);
  djRecedingFrame* f = &run->frame[run->nframe++];
  *f = (djRecedingFrame){frame,           result.iterations, result.stop, result.first_loss,
                         result.loss, candidate};
  dj_shiftWindow(w->x, w->window, n);
  dj_copyNumbers(run->start, w->x, run->window->n);
  *more = !callback || !callback->frame || callback->frame(callback->user, f);
  return DJ_OK;
}

// Losses over the task's horizon, and its design at the values of the run.
static djStatus evaluate(double* loss, djRecedingRun* run, const double* x, djError* err) {
  djDesign* d = run->design;
  djStatus status = djd_forwardDesign(loss, d, x, false);
  return status < 0 ? dj_fail(err, status, "%.500s", d->error.text) : DJ_OK;
}

// Up to the first window.
static djStatus begin(djRecedingRun* run, djError* err) {
  djRecedingMemory* w = memoryOf(run);
  const djReceding* r = &w->how.receding;
  djDesign* d = run->design;
  run->nframe = run->iterations = run->evaluations = run->refused = 0;
  dj_copyNumbers(run->x, d->x0, d->n);
  djStatus status = evaluate(&run->first_loss, run, d->x0, err);
  if (status < 0) return status;
  dj_copyNumbers(run->ctrl, d->rollout.ctrl, run->horizon * d->model->nu);
  status = start(run, err);
  if (status == DJ_OK) status = execute(run, d->rollout.ctrl, r->frame, err);
  if (w->given) dj_copyNumbers(run->start, w->given, run->window->n);
  else dj_cutWindow(run->start, w->window, d->x0, r->frame);
  return status;
}

djStatus djd_receding(djRecedingRun* run, const djRecedingCallback* callback, djError* err) {
  if (!run) return dj_fail(err, DJ_INVALID, "run: NULL");
  djRecedingMemory* w = memoryOf(run);
  run->window->rollout.watch = run->design->rollout.watch;
  djStatus status = begin(run, err);
  if (status < 0) return status;
  for (bool more = true; more && run->next < run->horizon && status >= 0;) {
    status = runFrame(&more, run, callback, err);
  }
  if (status < 0) {
    char frame[40];
    snprintf(frame, sizeof frame, "frame %d", run->next);
    return dj_prefix(err, status, frame);
  }
  if (run->next < run->horizon) {
    dj_pasteWindow(run->x, w->window, run->start, run->next, run->horizon);
  }
  status = evaluate(&run->loss, run, run->x, err);
  if (status < 0) return status;
  int nu = run->design->model->nu, done = run->next * nu;
  dj_copyNumbers(run->ctrl + done, run->design->rollout.ctrl + done, run->horizon * nu - done);
  return run->unconverged_steps > 0 ? DJ_NOT_CONVERGED : DJ_OK;
}

// ---- fields by name ---------------------------------------------------------------------------

#define GIVE(pointer, nrow, ncolumn)                                                        \
  dj_array(pointer, DJ_TYPE_OF(pointer), nrow, ncolumn, (size_t)(ncolumn) * sizeof(*(pointer)))

djStatus djd_recedingArray(djArray* array, const djRecedingRun* run, const char* name) {
  if (!array) return DJ_INVALID;
  *array = (djArray){0};
  if (!run || !name) return DJ_INVALID;
  const djModel* m = run->window->model;
  int n = run->next + 1;
#define X(field, rows, columns)                         \
  if (strcmp(name, #field) == 0) {                      \
    *array = GIVE(run->field, rows, columns);           \
    return DJ_OK;                                       \
  }
  X(x, run->design->n, 1) X(ctrl, run->horizon, m->nu) X(qpos, n, m->nq) X(qvel, n, m->nv)
  X(act, n, m->na) X(start, run->window->n, 1)
#undef X
#define X(field)                                        \
  if (strcmp(name, #field) == 0) {                      \
    *array = GIVE(&run->field, 1, 1);                   \
    return DJ_OK;                                       \
  }
  X(next) X(horizon) X(nframe) X(iterations) X(evaluations) X(refused) X(unconverged_steps)
  X(first_loss) X(loss)
#undef X
  if (strncmp(name, "frame.", 6) != 0 || run->nframe < 1) return DJ_INVALID;
#define X(field)                                                                             \
  if (strcmp(name + 6, #field) == 0) {                                                       \
    *array = dj_array(&run->frame->field, DJ_TYPE_OF(&run->frame->field), run->nframe, 1,     \
                      sizeof *run->frame);                                                   \
    return DJ_OK;                                                                            \
  }
  X(frame) X(iterations) X(first_loss) X(loss) X(stop) X(candidate)
#undef X
  return DJ_INVALID;
}
