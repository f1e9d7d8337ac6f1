// Runs of all worlds, and their adjoints. A world's run is djd_rolloutForward's from its state, and
// so is its gradient; with checkpoints runs are kept apart from tapes, which are the threads'.

#include "gradient/tape.h"

#include "base/arena.h"
#include "base/status.h"
#include "batch/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct djBatchTape {
  int n, horizon, checkpoint;
  int ntape;
  djTape** tape;       // (ntape) of worlds; with checkpoints of threads
  djSizes sizes;
  // with checkpoints
  void* buffer;
  size_t nbuffer;
  djTapeRun runs;      // of all worlds, one after the other
  int* steps;          // (n) of the recorded run; 0: there is none
};

// ---- memory -----------------------------------------------------------------------------------

static void layout(djBatchTape* t, djArena* a, const djModel* m) {
  size_t n = (size_t)t->n, rows = n * ((size_t)t->horizon + 1), d = sizeof(double);
  t->tape = dj_take(a, (size_t)t->ntape, sizeof *t->tape);
  if (t->checkpoint == 0) return;
  t->steps = dj_take(a, n, sizeof(int));
  t->runs.qpos = dj_take(a, rows, (size_t)m->nq * d);
  t->runs.qvel = dj_take(a, rows, (size_t)m->nv * d);
  t->runs.act = dj_take(a, rows, (size_t)m->na * d);
  t->runs.history = dj_take(a, rows, (size_t)dj_historySize(m) * d);
  t->runs.kept = dj_take(a, rows, sizeof(bool));
  t->runs.mocap = dj_take(a, n, (size_t)m->nmocap * 14 * d);
}

static djTapeRun runOf(const djBatchTape* t, const djModel* m, int world) {
  const djTapeRun* r = &t->runs;
  size_t row = (size_t)world * ((size_t)t->horizon + 1);
  return (djTapeRun){r->qpos + row * (size_t)m->nq,
                     r->qvel + row * (size_t)m->nv,
                     r->act + row * (size_t)m->na,
                     r->history + row * (size_t)dj_historySize(m),
                     r->kept + row,
                     r->mocap + (size_t)world * 14 * (size_t)m->nmocap};
}

djStatus djd_makeBatchTape(djBatchTape** tape, const djBatch* b, int horizon, int checkpoint,
                           djError* err) {
  if (!tape) return dj_fail(err, DJ_INVALID, "tape: NULL");
  *tape = NULL;
  if (!b) return dj_fail(err, DJ_INVALID, "batch: NULL");
  if (horizon < 1) return dj_fail(err, DJ_INVALID, "horizon: %d is not positive", horizon);
  if (checkpoint < 0) return dj_fail(err, DJ_INVALID, "checkpoint: %d is negative", checkpoint);
  const djModel* m = b->work->model;
  djBatchTape* t = calloc(1, sizeof *t);
  if (!t) return dj_failMemory(err);
  *t = (djBatchTape){.n = b->n, .horizon = horizon, .checkpoint = checkpoint,
                     .ntape = checkpoint ? b->nthread : b->n, .sizes = dj_sizesOf(m)};
  djArena a = {NULL, 0};
  layout(t, &a, m);
  t->nbuffer = a.used;
  t->buffer = a.used < SIZE_MAX / 2 ? calloc(1, a.used + DJ_ALIGN) : NULL;
  unsigned char* base = t->buffer;
  djStatus status = base ? DJ_OK : dj_failMemory(err);
  if (base) {
    a = (djArena){base + DJ_ALIGN - (uintptr_t)base % DJ_ALIGN, 0};
    layout(t, &a, m);
  }
  for (int i = 0; i < t->ntape && status == DJ_OK; i++) {
    status = djd_makeTape(&t->tape[i], m, horizon, err);
  }
  if (status < 0) {
    djd_deleteBatchTape(t);
    return status;
  }
  *tape = t;
  return DJ_OK;
}

void djd_deleteBatchTape(djBatchTape* t) {
  if (!t) return;
  for (int i = 0; i < t->ntape && t->buffer; i++) djd_deleteTape(t->tape[i]);
  free(t->buffer);
  free(t);
}

size_t djd_batchTapeBytes(const djBatchTape* t) {
  if (!t) return 0;
  size_t sum = sizeof *t + t->nbuffer + DJ_ALIGN;
  for (int i = 0; i < t->ntape; i++) sum += djd_tapeBytes(t->tape[i]);
  return sum;
}

// ---- calls ------------------------------------------------------------------------------------

typedef enum djPass { FORWARD, BACKWARD, BOTH } djPass;

typedef struct djRunCall {
  djPass pass;
  djBatchResult* result;
  const djRollout* rollout;
  djBatchTape* tape;
  const double *dstate, *dctrl;
  size_t nparam;   // numbers of a gradient by parameters
} djRunCall;

static djStatus checkCall(djBatch* b, const djRunCall* call) {
  const djRollout* r = call->rollout;
  const djBatchTape* t = call->tape;
  const djModel* m = b->work->model;
  if (t->n != b->n || t->horizon < r->horizon || !dj_sameSizes(&t->sizes, m) ||
      (t->checkpoint && t->ntape < b->nthread)) {
    return dj_failBatch(b, "tape: made for another batch or a shorter horizon");
  }
  if (r->horizon < 1) return dj_failBatch(b, "horizon: not positive");
  if (m->nu > 0 && !r->ctrl) return dj_failBatch(b, "ctrl: missing");
  if (r->qpos0 || r->qvel0 || r->act0 || r->history_qpos0 || r->history_qvel0) {
    return dj_failBatch(b, "start: it is that of the worlds");
  }
  if (r->callback || r->watch.progress) {
    return dj_failBatch(b, "callback or watch: there is none for worlds");
  }
  if (r->compiled) return dj_failBatch(b, "compiled: masses of worlds do not follow geoms");
  return DJ_OK;
}

static void noRun(const djRunCall* call, const djModel* m, int i) {
  const djBatchResult* r = call->result;
  size_t rows = (size_t)call->rollout->horizon + 1, nterm = (size_t)call->rollout->nloss;
  dj_noNumbers(dj_worldRows(r->loss, i, 1), 1);
  dj_noNumbers(dj_worldRows(r->term, i, nterm), nterm);
  dj_noNumbers(dj_worldRows(r->qpos, i, rows * (size_t)m->nq), rows * (size_t)m->nq);
  dj_noNumbers(dj_worldRows(r->qvel, i, rows * (size_t)m->nv), rows * (size_t)m->nv);
  dj_noNumbers(dj_worldRows(r->act, i, rows * (size_t)m->na), rows * (size_t)m->na);
}

static void noGradient(const djRunCall* call, const djModel* m, const djRolloutResult* one) {
  size_t nv = (size_t)m->nv;
  dj_noNumbers(one->grad_qpos0, nv);
  dj_noNumbers(one->grad_qvel0, nv);
  dj_noNumbers(one->grad_act0, (size_t)m->na);
  dj_noNumbers(one->grad_history_qpos0, nv);
  dj_noNumbers(one->grad_history_qvel0, nv);
  dj_noNumbers(one->grad_ctrl, (size_t)call->rollout->horizon * (size_t)m->nu);
  dj_noNumbers(one->grad_param, call->nparam);
}

static djRolloutResult resultOf(const djRunCall* call, const djModel* m, int i) {
  const djBatchResult* r = call->result;
  size_t nv = (size_t)m->nv, nu = (size_t)call->rollout->horizon * (size_t)m->nu;
  return (djRolloutResult){.term = dj_worldRows(r->term, i, (size_t)call->rollout->nloss),
                           .grad_qpos0 = dj_worldRows(r->grad_qpos0, i, nv),
                           .grad_qvel0 = dj_worldRows(r->grad_qvel0, i, nv),
                           .grad_act0 = dj_worldRows(r->grad_act0, i, (size_t)m->na),
                           .grad_history_qpos0 = dj_worldRows(r->grad_history_qpos0, i, nv),
                           .grad_history_qvel0 = dj_worldRows(r->grad_history_qvel0, i, nv),
                           .grad_ctrl = dj_worldRows(r->grad_ctrl, i, nu),
                           .nparam = r->nparam,
                           .param = r->param,
                           .grad_param = dj_worldRows(r->grad_param, i, call->nparam)};
}

// ---- a world ----------------------------------------------------------------------------------

// Of a run that fails the state is where it stopped; its text says at which step.
static djStatus forward(djRolloutResult* one, const djRunCall* call, djBatch* b, int i, djLane* lane,
                        djTape* tape, const djRollout* run) {
  const djModel* m = dj_worldModel(b, i);
  djData* d = dj_enterWorld(b, lane, i);
  djBatchResult* r = call->result;
  size_t rows = (size_t)run->horizon + 1;
  djRollout own = *run;
  own.qpos0 = d->qpos;
  own.qvel0 = d->qvel;
  own.act0 = d->act;
  double time = d->time;
  djStatus status = djd_rolloutForward(one, m, d, &own, tape);
  bool failed = status < 0 || status == DJ_SINGULAR;
  if (failed && d->stats.steps > 0) {
    char step[48];
    snprintf(step, sizeof step, "step %ld", d->stats.steps);
    dj_prefix(&d->work->error, status, step);
  }
  d->time += time;
  dj_leaveWorld(b, lane, i);
  if (failed) {
    noRun(call, m, i);
    return status;
  }
  if (r->loss) r->loss[i] = one->loss;
  djd_tapeStates(dj_worldRows(r->qpos, i, rows * (size_t)m->nq), dj_worldRows(r->qvel, i, rows * (size_t)m->nv),
                 dj_worldRows(r->act, i, rows * (size_t)m->na), m, tape);
  return status;
}

static djStatus setCotangents(const djRunCall* call, const djModel* m, int i, djTape* tape) {
  size_t T = (size_t)call->rollout->horizon;
  size_t ns = (T + 1) * (size_t)dj_tangentSize(m), nc = T * (size_t)m->nu;
  return djd_setCotangents(tape, m, call->dstate ? call->dstate + (size_t)i * ns : NULL,
                           call->dctrl ? call->dctrl + (size_t)i * nc : NULL);
}

static djStatus backward(djRolloutResult* one, const djRunCall* call, djBatch* b, int i,
                         djLane* lane, djTape* tape, const djRollout* run) {
  const djModel* m = dj_worldModel(b, i);
  djData* d = lane->data;
  djStatus status = DJ_OK;
  if (call->pass == BACKWARD) {
    dj_enterWorld(b, lane, i);
    if (tape->states == run->horizon) status = setCotangents(call, m, i, tape);
    else status = dj_fail(&d->work->error, DJ_INVALID, "tape: holds no run of %d steps", run->horizon);
  }
  if (status == DJ_OK) status = djd_rolloutBackward(one, m, d, run, tape);
  lane->world = -1;   // contacts are listed as they were on the way
  if (status != DJ_OK) noGradient(call, m, one);
  return status;
}

static djStatus doRun(void* arg, djBatch* b, int i, djLane* lane, int nlane) {
  const djRunCall* call = arg;
  djBatchTape* t = call->tape;
  const djModel* m = dj_worldModel(b, i);
  bool apart = t->checkpoint > 0;
  djTape* tape = t->tape[apart ? nlane : i];
  djRolloutResult one = resultOf(call, m, i);
  djRollout run = *call->rollout;
  run.checkpoint = t->checkpoint;
  if (run.ctrl) run.ctrl += (size_t)i * (size_t)run.horizon * (size_t)m->nu;
  djStatus status = DJ_OK, worst = DJ_OK;
  if (apart && call->pass == BACKWARD) {
    djTapeRun kept = runOf(t, m, i);
    dj_loadTape(tape, m, &kept, t->steps[i]);
  }
  if (call->pass != BACKWARD) {
    run.loss_only = apart && call->pass == FORWARD;
    worst = status = forward(&one, call, b, i, lane, tape, &run);
    run.loss_only = false;
    bool failed = status < 0 || status == DJ_SINGULAR;
    if (apart) t->steps[i] = failed ? 0 : run.horizon;
    if (failed) {
      noGradient(call, m, &one);
      return status;
    }
    if (apart && call->pass == FORWARD) {
      djTapeRun kept = runOf(t, m, i);
      dj_saveTape(&kept, m, tape);
    }
  }
  if (call->pass != FORWARD) status = backward(&one, call, b, i, lane, tape, &run);
  return status < 0 || status > worst ? status : worst;
}

static djStatus runAll(djBatch* b, djRunCall* call) {
  if (!b) return DJ_INVALID;
  if (!call->result || !call->rollout || !call->tape) {
    return dj_failBatch(b, "result, rollout or tape: NULL");
  }
  djStatus status = checkCall(b, call);
  if (status < 0) return status;
  const djBatchResult* r = call->result;
  if (r->nparam < 0 || (r->nparam > 0 && !r->param)) return dj_failBatch(b, "param: missing");
  for (int k = 0; k < r->nparam; k++) call->nparam += (size_t)r->param[k].ntangent;
  return dj_doWorlds(b, doRun, call);
}

djStatus djd_batchRolloutForward(djBatchResult* result, djBatch* b, const djRollout* rollout,
                                 djBatchTape* tape) {
  djRunCall call = {.pass = FORWARD, .result = result, .rollout = rollout, .tape = tape};
  return runAll(b, &call);
}

djStatus djd_batchRolloutBackward(djBatchResult* result, djBatch* b, const djRollout* rollout,
                                  djBatchTape* tape, const double* dstate, const double* dctrl) {
  djRunCall call = {BACKWARD, result, rollout, tape, dstate, dctrl, 0};
  return runAll(b, &call);
}

djStatus djd_batchGradient(djBatchResult* result, djBatch* b, const djRollout* rollout,
                           djBatchTape* tape) {
  djRunCall call = {.pass = BOTH, .result = result, .rollout = rollout, .tape = tape};
  return runAll(b, &call);
}

// ---- transitions ------------------------------------------------------------------------------

typedef struct djMatrices {
  double *A, *B;
} djMatrices;

static djStatus transition(void* arg, djBatch* b, int i, djLane* lane, int nlane) {
  (void)nlane;
  const djMatrices* to = arg;
  const djModel* m = dj_worldModel(b, i);
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  double *A = dj_worldRows(to->A, i, nx * nx), *B = dj_worldRows(to->B, i, nx * nu);
  djStatus status = djd_transition(m, dj_enterWorld(b, lane, i), A, B);
  if (status < 0 || status == DJ_SINGULAR) {
    dj_noNumbers(A, nx * nx);
    dj_noNumbers(B, nx * nu);
  }
  return status;
}

djStatus djd_batchTransition(djBatch* b, double* A, double* B) {
  djMatrices to = {A, B};
  return b ? dj_doWorlds(b, transition, &to) : DJ_INVALID;
}
