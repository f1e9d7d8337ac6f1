// Rollouts and their adjoint.
//
// Forward: x_{t+1} = f(x_t, u_t), loss = sum of terms at the states 1..T and over the controls. The
// tape keeps every state and the factored linearisation of every step, so that the backward pass
//   lambda_T = dL/dx_T,  lambda_t = A_t^T lambda_{t+1} + dL/dx_t,  dL/du_t += B_t^T lambda_{t+1}
// costs one triangular solve and a few products a step.
//
// With checkpoints the tape keeps every state, but linearisations of no more than `checkpoint` steps
// at a time: the forward pass those of the last ones, and the backward pass takes the others again,
// from their recorded states, when it comes to them. A step depends on its state alone, to the last
// bit, and so do its derivatives.
//
// Along another run (djRollout.along) steps begin at its states x*_t instead: the loss and all states
// are x*'s, A_t and B_t those of f at (x*_t, u_t), whose own end is forgotten but for parameters.

#include "base/status.h"
#include "gradient/loss_run.h"
#include "gradient/param_gradient.h"
#include "gradient/tape.h"
#include "integrate/outside.h"
#include "model/param.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- forward ----------------------------------------------------------------------------------

static djStatus openLoss(djLossRun* run, djTape* t, const djModel* m, djData* d,
                         const djRollout* r) {
  size_t n = dj_lossReferences(r);
  if (n > 0 && t->nreference < r->nloss) {
    double* memory = dj_takeTape(t, n);
    if (!memory) return dj_failMemory(&d->work->error);
    t->nreference = r->nloss;
    t->reference = memory;
    t->pull = memory + n / 2;
    dj_keepTape(t);
  }
  *run = (djLossRun){.work = dj_initLossWork(m, t->loss), .model = m, .data = d, .rollout = r,
                     .reference = n > 0 ? t->reference : NULL, .pull = n > 0 ? t->pull : NULL,
                     .scratch = t->loss_scratch};
  return DJ_OK;
}

djLossTerm dj_tapeTerm(const djTape* t, const djRollout* r, int term) {
  return dj_termOf(r, t->reference, term);
}

static void record(djTape* t, const djModel* m, const djData* d, int k) {
  memcpy(t->qpos + (size_t)k * m->nq, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(t->qvel + (size_t)k * m->nv, d->qvel, (size_t)m->nv * sizeof(double));
  memcpy(t->act + (size_t)k * m->na, d->act, (size_t)m->na * sizeof(double));
  size_t nh = (size_t)dj_historySize(m);
  memcpy(t->history + (size_t)k * nh, d->history, nh * sizeof(double));
  t->kept[k] = dj_hasHistory(m, d);
}

// Mocap bodies do not move in a run, but for the first step.
static void recordMocap(djTape* t, const djModel* m, const djData* d) {
  const djData* s = &d->work->start;
  size_t n = (size_t)m->nmocap, size = sizeof(double);
  bool parts = d->work->npart > 1;   // have their own
  memcpy(t->mocap, d->mocap_pos, 3 * n * size);
  memcpy(t->mocap + 3 * n, d->mocap_quat, 4 * n * size);
  memcpy(t->mocap + 7 * n, parts ? d->mocap_pos : s->mocap_last_pos, 3 * n * size);
  memcpy(t->mocap + 10 * n, parts ? d->mocap_quat : s->mocap_last_quat, 4 * n * size);
}

// Where none is given: zeros. The array may be the one given.
static void setNumbers(double* out, const double* given, int n) {
  if (given) memmove(out, given, (size_t)n * sizeof(double));
  else memset(out, 0, (size_t)n * sizeof(double));
}

// The state is set anew, so that earlier warm starts have no influence; inputs are kept.
static djStatus setStart(const djModel* m, djData* d, const djRollout* r) {
  bool goes_on = r->qpos0 == d->qpos && r->qvel0 == d->qvel;
  d->time = 0;
  memset(&d->stats, 0, sizeof(d->stats));
  d->stats.gap = d->stats.smallest_gap = INFINITY;
  dj_forgetForces(&d->work->forces);
  setNumbers(d->qpos, r->qpos0 ? r->qpos0 : m->qpos0, m->nq);
  setNumbers(d->qvel, r->qvel0, m->nv);
  setNumbers(d->act, r->act0, m->na);
  if (!goes_on) {
    setNumbers(d->mocap_last_pos, NULL, 3 * m->nmocap);
    setNumbers(d->mocap_last_quat, NULL, 4 * m->nmocap);
  }
  djStatus status = DJ_OK;
  if (r->history_qpos0 || !goes_on) {
    status = dj_setHistory(d, m, r->history_qpos0, r->history_qvel0);
  }
  return status < 0 ? status : dj_forward(m, d);
}

// The start and the controls are finite: nothing is changed where they are not.
static djStatus checkNumbers(const djModel* m, djData* d, const djRollout* r) {
  djError* err = &d->work->error;
  djStatus status = dj_checkInputs(m, d);
  if (status == DJ_OK && r->qpos0) status = dj_checkFinite(err, "qpos", r->qpos0, m->nq);
  if (status == DJ_OK && r->qvel0) status = dj_checkFinite(err, "qvel", r->qvel0, m->nv);
  if (status == DJ_OK && r->act0) status = dj_checkFinite(err, "act", r->act0, m->na);
  const double *q = r->history_qpos0, *v = r->history_qvel0;
  if (!q != !v) return dj_fail(err, DJ_INVALID, "history: qpos and qvel must both be given");
  if (status == DJ_OK && q) status = dj_checkFinite(err, "history: qpos", q, m->nq);
  if (status == DJ_OK && q) status = dj_checkFinite(err, "history: qvel", v, m->nv);
  for (int k = 0; k < r->horizon && m->nu > 0 && status == DJ_OK; k++) {
    char name[40];
    const double* u = r->ctrl + (size_t)k * m->nu;
    if (dj_checkFinite(NULL, "", u, m->nu) == DJ_OK) continue;
    snprintf(name, sizeof name, "ctrl of step %d: ctrl", k);
    status = dj_checkFinite(err, name, u, m->nu);
  }
  return status;
}

static djStatus checkAlong(const djModel* m, djData* d, const djRollout* r, const djTape* tape) {
  const djTape* other = r->along;
  djError* err = &d->work->error;
  if (other == tape) return dj_fail(err, DJ_INVALID, "along: it must be another tape");
  if (other->states != r->horizon || other->sizes.nq != m->nq || other->sizes.nv != m->nv ||
      other->sizes.na != m->na) {
    return dj_fail(err, DJ_INVALID, "along: holds no run of %d steps of a model of these sizes",
                   r->horizon);
  }
  if (dj_historySize(m) > 0 || dj_isOutside(m)) {
    return dj_fail(err, DJ_UNSUPPORTED, "along: %s",
                   dj_isOutside(m) ? "not with physics from outside"
                                   : "not with an integrator that keeps a history");
  }
  return DJ_OK;
}

static djStatus checkRollout(const djModel* m, djData* d, const djRollout* r,
                             const djTape* tape) {
  djError* err = &d->work->error;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (r->horizon < 1) return dj_fail(err, DJ_INVALID, "horizon: %d is not positive", r->horizon);
  if (r->checkpoint < 0) {
    return dj_fail(err, DJ_INVALID, "checkpoint: %d is negative", r->checkpoint);
  }
  if (m->nu > 0 && !r->ctrl) return dj_fail(err, DJ_INVALID, "ctrl: missing");
  if (!tape || tape->horizon < r->horizon || !dj_sameSizes(&tape->sizes, m)) {
    return dj_fail(err, DJ_INVALID, "tape: made for another model or a shorter horizon");
  }
  if (r->nloss < 0 || (r->nloss > 0 && !r->loss)) {
    return dj_fail(err, DJ_INVALID, "loss: missing");
  }
  if (r->along) status = checkAlong(m, d, r, tape);
  if (status >= 0) status = dj_checkLoss(m, r->loss, r->nloss, r->horizon, err);
  return status < 0 ? status : checkNumbers(m, d, r);
}

// The linearisation of the step just taken into the tape.
static djStatus keepStep(djLinear* to, double* condition, djTape* tape, const djModel* m,
                         djData* d, const djLinear* lin) {
  double* memory = dj_takeTape(tape, dj_linearSize(m, lin));
  if (!memory) return dj_failMemory(&d->work->error);
  dj_copyLinear(to, memory, m, lin);
  for (int i = 0; i < lin->method->nstage; i++) {
    *condition = fmax(*condition, dj_condition(&lin->stage[i].factor));
  }
  return DJ_OK;
}

static djStatus keepParts(double* condition, djTape* tape, const djModel* m, djData* d, int k) {
  djWork* w = d->work;
  size_t n = (size_t)w->npart, state = w->nstate / sizeof(double), each = sizeof(double);
  djStatus status = dj_linearizeParts(m, d);
  if (status != DJ_OK) return status;
  double* memory = dj_takeTape(tape, n * (sizeof(djTapePart) / each + state));
  if (!memory) return dj_failMemory(&w->error);
  djTapePart* parts = (djTapePart*)(void*)(memory + n * state);
  tape->parts[k] = parts;
  for (size_t i = 0; i < n && status == DJ_OK; i++) {
    parts[i].at = w->part[i];
    parts[i].at.start = (unsigned char*)(memory + i * state);
    memcpy(parts[i].at.start, w->part[i].start, w->nstate);
    status = keepStep(&parts[i].linear, condition, tape, m, d, w->part[i].linear);
  }
  return status;
}

static djStatus linearize(double* condition, djTape* tape, const djModel* m, djData* d, int k) {
  djLinear lin;
  tape->nparts[k] = d->work->npart;
  tape->step[k].A = NULL;
  if (dj_outsideHasVjp(m)) return DJ_OK;
  if (tape->nparts[k] > 1) return keepParts(condition, tape, m, d, k);
  djStatus status = dj_linearizeStep(&lin, m, d);
  return status == DJ_OK ? keepStep(&tape->step[k], condition, tape, m, d, &lin) : status;
}

// Steps whose linearisations the tape holds at a time. Physics from outside needs none.
static int windowOf(const djModel* m, const djRollout* r) {
  bool all = r->checkpoint == 0 || r->checkpoint > r->horizon || dj_outsideHasVjp(m);
  return all ? r->horizon : r->checkpoint;
}

// data at the state k of the run along which steps are taken.
static void goAlong(djData* d, const djModel* m, const djTape* along, int k) {
  setNumbers(d->qpos, along->qpos + (size_t)k * m->nq, m->nq);
  setNumbers(d->qvel, along->qvel + (size_t)k * m->nv, m->nv);
  setNumbers(d->act, along->act + (size_t)k * m->na, m->na);
}

static djStatus openAlong(djTape* tape, const djModel* m, djData* d, const djRollout* r) {
  if (!r->along) return DJ_OK;
  tape->end = dj_takeTape(tape, (size_t)r->horizon * m->nq);
  if (!tape->end) return dj_failMemory(&d->work->error);
  dj_keepTape(tape);
  goAlong(d, m, r->along, 0);
  return DJ_OK;
}

static djStatus forwardSteps(djRolloutResult* result, const djModel* m, djData* d,
                             const djRollout* r, djTape* tape) {
  djLossRun loss;
  dj_emptyTape(tape);
  djStatus opened = openLoss(&loss, tape, m, d, r);
  if (opened >= 0) opened = openAlong(tape, m, d, r);
  if (opened < 0) return opened;
  tape->from = r->horizon - windowOf(m, r);
  tape->to = r->horizon;
  record(tape, m, d, 0);
  dj_noteReferences(&loss, d->qpos, d->qvel, 0);
  for (int k = 0; k < r->horizon; k++) {
    if (m->nu) memcpy(d->ctrl, r->ctrl + (size_t)k * m->nu, (size_t)m->nu * sizeof(double));
    djStatus status = dj_step(m, d);
    if (status < 0) return status;
    if (!r->loss_only && k >= tape->from) {
      status = linearize(&result->worst_condition, tape, m, d, k);
      if (status != DJ_OK) return status;
    }
    if (k == 0) recordMocap(tape, m, d);
    if (r->along) {
      setNumbers(tape->end + (size_t)k * m->nq, d->qpos, m->nq);
      goAlong(d, m, r->along, k + 1);
    }
    record(tape, m, d, k + 1);
    dj_noteReferences(&loss, d->qpos, d->qvel, k + 1);
    status = dj_addRunLoss(&tape->sum, result->term, &loss, d->qpos, d->qvel, k + 1,
                           &d->work->error);
    if (status == DJ_OK) status = dj_tell(&r->watch, (k + 1.0) / r->horizon, &d->work->error);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus djd_rolloutForward(djRolloutResult* result, const djModel* m, djData* d,
                            const djRollout* r, djTape* tape) {
  if (!result || !m || !d || !r) return DJ_INVALID;
  djStatus status = checkRollout(m, d, r, tape);
  if (status < 0) return status;
  tape->steps = tape->states = 0;
  tape->moment = NULL;
  tape->given = r->callback != NULL;
  result->loss = result->worst_condition = 0;
  tape->sum = 0;
  for (int i = 0; i < r->nloss && result->term; i++) result->term[i] = 0;
  status = setStart(m, d, r);
  if (status < 0) return status;
  int refinement_steps = d->work->refinement_steps;
  d->work->refinement_steps = r->refinement_steps;
  status = forwardSteps(result, m, d, r, tape);
  d->work->refinement_steps = refinement_steps;
  result->loss = (double)tape->sum;
  if (status != DJ_OK) return status;
  result->unconverged_steps = (int)d->stats.unconverged_steps;
  result->worst_residual = d->stats.worst_residual;
  if (r->callback) {
    size_t nx = (size_t)dj_tangentSize(m);
    memset(tape->dstate, 0, ((size_t)r->horizon + 1) * nx * sizeof(double));
    memset(tape->dctrl, 0, (size_t)r->horizon * m->nu * sizeof(double));
    tape->sum += r->callback(r->user, m, r->horizon, tape->qpos, tape->qvel, tape->act, r->ctrl,
                             tape->dstate, tape->dctrl);
    result->loss = (double)tape->sum;
  }
  tape->states = r->horizon;
  if (!r->loss_only) tape->steps = r->horizon;
  return result->unconverged_steps ? DJ_NOT_CONVERGED : DJ_OK;
}

// ---- backward ---------------------------------------------------------------------------------

// lambda (nx) += dL/dx_k, of a loss or of one residual; effort's part goes to the gradient by the
// control row k - 1, and what the terms themselves take from parameters to sums (or NULL).
static void addLossGradient(double* lambda, djRolloutResult* result, djParamSums* sums,
                            djLossRun* run, const djTape* tape, const djResidual* one, int k) {
  const djModel* m = run->model;
  const double *q = dj_tapeQpos(tape, m, k), *v = dj_tapeQvel(tape, m, k);
  const djLossSums to = {lambda, result->grad_ctrl, sums ? sums->param : NULL};
  if (one) {
    dj_addResidualGradient(&to, run, q, v, k, one);
    return;
  }
  dj_addRunGradient(&to, run, q, v, k);
  if (!tape->given) return;
  size_t nx = (size_t)dj_tangentSize(m);
  for (size_t i = 0; i < nx; i++) lambda[i] += tape->dstate[(size_t)k * nx + i];
}

static djStatus checkParams(const djRolloutResult* result, const djModel* m, djData* d,
                            const djRollout* r, const djTape* tape) {
  djError* err = &d->work->error;
  if (result->nparam <= 0 || !result->grad_param) return DJ_OK;
  if (!result->param) return dj_fail(err, DJ_INVALID, "param: missing");
  djStatus status = dj_checkParams(m, result->nparam, result->param, err);
  if (status < 0) return status;
  status = dj_checkOutsideParams(m, result->nparam, result->param, r->compiled != NULL, err);
  if (status < 0) return status;
  if (dj_paramSumsSize(m) > tape->nsums) {
    return dj_fail(err, DJ_INVALID, "tape: made for another model");
  }
  return DJ_OK;
}

static djStatus checkBackward(const djRolloutResult* result, const djModel* m, djData* d,
                              const djRollout* r, const djTape* tape) {
  djError* err = &d->work->error;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (!dj_sameSizes(&tape->sizes, m)) {
    return dj_fail(err, DJ_INVALID, "tape: made for another model");
  }
  if (m->nu > 0 && !r->ctrl) return dj_fail(err, DJ_INVALID, "ctrl: missing");
  if (tape->steps != r->horizon) {
    return dj_fail(err, DJ_INVALID, "tape: holds no run of %d steps", r->horizon);
  }
  return checkParams(result, m, d, r, tape);
}

// lambda (nx) <- that of the start of step k; *next is swapped with it.
static void backLinear(double** lambda, double** next, double* du, const djLinear* linear,
                       const djModel* m, djTape* tape) {
  memset(*next, 0, (size_t)dj_tangentSize(m) * sizeof(double));
  dj_linearVjp(*next, du, linear, m, *lambda, tape->scratch);
  double* swap = *lambda;
  *lambda = *next;
  *next = swap;
}

// The same, part after part.
static djStatus backParts(double** lambda, double** next, double* du, djParamSums* sums,
                          const djModel* m, djData* d, const djRollout* r, djTape* tape, int k) {
  const djTapePart* part = tape->parts[k];
  const double* end = dj_tapeEnd(tape, m, k);
  djStatus status = DJ_OK;
  if (sums) dj_restoreTape(d, m, r, tape, k);
  for (int i = tape->nparts[k] - 1; i >= 0 && status >= 0; i--) {
    backLinear(lambda, next, du, &part[i].linear, m, tape);
    if (!sums) continue;
    d->work->parts = tape->nparts[k];
    dj_setPartState(d, m, &part[i].at);
    status = dj_addStepParams(sums, m, d, &part[i].linear, end, tape->scratch, *next + m->nv);
    end = dj_partQpos(&part[i].at);
    d->work->parts = 1;
  }
  return status;
}

// The same of physics from outside that has an adjoint of its own. Many residuals of one run go by
// matrices, which are found for the first of them.
static djStatus backOutside(double** lambda, double** next, double* du, const djModel* m,
                            djData* d, const djRollout* r, djTape* tape, int k, bool matrices) {
  double condition = 0;
  djLinear lin;
  djStatus status = DJ_OK;
  if (!matrices || !tape->step[k].A) dj_restoreTape(d, m, r, tape, k);
  if (!matrices) {
    memset(*next, 0, (size_t)dj_tangentSize(m) * sizeof(double));
    status = dj_outsideVjp(*next, du, m, d, *lambda);
    double* swap = *lambda;
    *lambda = *next;
    *next = swap;
    return status;
  }
  if (!tape->step[k].A) {
    status = dj_openOutside(&lin, m, d);
    if (status >= 0) status = keepStep(&tape->step[k], &condition, tape, m, d, &lin);
  }
  if (status >= 0) backLinear(lambda, next, du, &tape->step[k], m, tape);
  return status;
}

static djStatus backStep(double** lambda, double** next, djRolloutResult* result,
                         djParamSums* sums, const djModel* m, djData* d, const djRollout* r,
                         djTape* tape, int k, bool one) {
  size_t nu = m->nu;
  double* du = result->grad_ctrl ? result->grad_ctrl + (size_t)k * nu : NULL;
  bool parts = tape->nparts[k] > 1, outside = dj_outsideHasVjp(m);
  djStatus status = DJ_OK;
  if (k > tape->from && tape->nparts[k - 1] == 1 && !outside) dj_fetchLinear(&tape->step[k - 1]);
  if (outside) status = backOutside(lambda, next, du, m, d, r, tape, k, one && !sums);
  else if (parts) status = backParts(lambda, next, du, sums, m, d, r, tape, k);
  else backLinear(lambda, next, du, &tape->step[k], m, tape);
  for (size_t i = 0; i < nu && du && tape->given; i++) du[i] += tape->dctrl[(size_t)k * nu + i];
  if (!sums || parts || outside) return status;
  dj_restoreTape(d, m, r, tape, k);   // the product has left z in the scratch
  return dj_addStepParams(sums, m, d, &tape->step[k], dj_tapeEnd(tape, m, k), tape->scratch,
                          *next + m->nv);
}

// Step k once more, from its recorded start.
static djStatus takeAgain(const djModel* m, djData* d, const djRollout* r, const djTape* tape,
                          int k) {
  const djStats stats = d->stats;
  const double time = d->time;
  int refinement_steps = d->work->refinement_steps;
  d->work->refinement_steps = r->refinement_steps;
  dj_restoreTape(d, m, r, tape, k);
  djStatus status = dj_step(m, d);
  d->work->refinement_steps = refinement_steps;
  d->stats = stats;
  d->time = time;
  return status < 0 ? status : DJ_OK;
}

// Step `last` and those before it once more, as many as the tape holds.
static djStatus retake(double* condition, const djModel* m, djData* d, const djRollout* r,
                       djTape* tape, int last) {
  int n = windowOf(m, r);
  djStatus status = DJ_OK;
  dj_rewindTape(tape);
  tape->to = last + 1;
  tape->from = tape->to > n ? tape->to - n : 0;
  for (int k = tape->from; k <= last && status == DJ_OK; k++) {
    status = takeAgain(m, d, r, tape, k);
    if (status == DJ_OK) status = linearize(condition, tape, m, d, k);
  }
  if (status != DJ_OK) tape->to = tape->from;
  return status;
}

// Of the loss, or of one residual, on which states after its own have no influence, and on effort's
// none.
static djStatus backward(djRolloutResult* result, const djModel* m, djData* d, const djRollout* r,
                         djTape* tape, const djResidual* one) {
  if (!result || !m || !d || !r || !tape) return DJ_INVALID;
  djStatus status = checkBackward(result, m, d, r, tape);
  if (status < 0) return status;
  size_t nv = m->nv, na = m->na, nu = m->nu, nx = (size_t)dj_tangentSize(m);
  djLossRun loss;
  status = openLoss(&loss, tape, m, d, r);
  if (status < 0) return status;
  for (int k = 0; k <= r->horizon && !one; k++) {
    dj_noteReferences(&loss, dj_tapeQpos(tape, m, k), dj_tapeQvel(tape, m, k), k);
  }
  dj_beginPulls(&loss);
  djParamSums memory = {0};
  djParamSums* sums = result->nparam > 0 && result->grad_param ? &memory : NULL;
  if (sums) {
    dj_initParamSums(sums, tape->sums, m);
    dj_askParams(sums, m, result->nparam, result->param, r->compiled != NULL);
    loss.work.wants = sums->of_body;
  }
  if (dj_outsideHasVjp(m)) {
    status = dj_askOutside(m, d, sums ? result->nparam : 0, result->param);
    if (status < 0) return status;
  }
  double *lambda = tape->lambda, *next = lambda + nx;
  memset(lambda, 0, nx * sizeof(double));
  if (result->grad_ctrl) memset(result->grad_ctrl, 0, (size_t)r->horizon * nu * sizeof(double));
  int last = one ? one->step : r->horizon;
  bool none = one && r->loss[one->term].type == DJ_LOSS_EFFORT;   // no state has influence
  if (none) addLossGradient(lambda, result, sums, &loss, tape, one, last);
  djStatus again = DJ_OK;
  bool retaken = false;
  for (int k = none ? 0 : last; k > 0 && status >= 0; k--) {
    if (k <= tape->from || k > tape->to) {
      retaken = true;
      again = retake(&result->worst_condition, m, d, r, tape, k - 1);
      if (again != DJ_OK) break;
    }
    addLossGradient(lambda, result, sums, &loss, tape, one, k);
    status = backStep(&lambda, &next, result, sums, m, d, r, tape, k - 1, one != NULL);
    if (status >= 0) {
      status = dj_tell(&r->watch, 1 - (k - 1.0) / r->horizon, &d->work->error);
    }
  }
  if (retaken) takeAgain(m, d, r, tape, r->horizon - 1);   // data are as after the forward pass
  if (sums || dj_outsideHasVjp(m)) {
    dj_restoreTape(d, m, r, tape, r->horizon);
    d->work->stepped = d->work->linearized = false;
  }
  if (again != DJ_OK) return again;
  if (status >= 0 && !none) addLossGradient(lambda, result, sums, &loss, tape, one, 0);
  if (status >= 0 && sums) status = dj_finishParams(sums, m, r->compiled);
  if (status < 0) return status;
  tape->moment = sums && r->compiled && !one ? sums->moment : NULL;
  if (sums) dj_pickParams(result->grad_param, sums, m, result->nparam, result->param);
  if (sums && dj_isOutside(m)) {
    status = dj_answerOutside(result->grad_param, m, d, result->nparam, result->param);
    if (status < 0) return status;
  }
  if (result->grad_qpos0) memcpy(result->grad_qpos0, lambda, nv * sizeof(double));
  if (result->grad_qvel0) memcpy(result->grad_qvel0, lambda + nv, nv * sizeof(double));
  if (result->grad_act0) memcpy(result->grad_act0, lambda + 2 * nv, na * sizeof(double));
  double* history[2] = {result->grad_history_qpos0, result->grad_history_qvel0};
  for (size_t k = 0; k < 2; k++) {
    const double* from = lambda + 2 * nv + na + k * nv;
    if (history[k]) setNumbers(history[k], dj_historyTangent(m) > 0 ? from : NULL, m->nv);
  }
  return DJ_OK;
}

djStatus djd_rolloutBackward(djRolloutResult* result, const djModel* m, djData* d,
                             const djRollout* r, djTape* tape) {
  return backward(result, m, d, r, tape, NULL);
}

djStatus dj_residualBackward(djRolloutResult* result, const djModel* m, djData* d,
                             const djRollout* r, djTape* tape, const djResidual* residual) {
  return backward(result, m, d, r, tape, residual);
}
