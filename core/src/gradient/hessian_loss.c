// What the loss adds to an adjoint, and to how it changes along a tangent: the gradient that
// loss_run.h has, at states beside the run. A relative term's target, and what is pulled at it,
// change along the tangent, too.

#include "base/status.h"
#include "gradient/hessian.h"
#include "gradient/loss_row.h"
#include "gradient/param_gradient.h"

#include <string.h>

typedef struct Beside {
  djHessian* h;
  int k, i; // state, and the part that starts there
} Beside;

// h->q, h->v <- the state moved by e.
static void place(djHessian* h, int k, int i, double e) {
  const djModel* m = h->model;
  size_t nx = (size_t)dj_tangentSize(m);
  const double* dx = h->dx + (size_t)i * nx;
  dj_integratePos(h->q, m, dj_tapeQpos(h->tape, m, k), dx, e);
  const double* v = dj_tapeQvel(h->tape, m, k);
  for (int n = 0; n < m->nv; n++) h->v[n] = v[n] + e * dx[m->nv + n];
}

static djLossRun lossRun(djHessian* h, const djModel* m, const djRollout* r) {
  bool relative = dj_lossReferences(r) > 0;
  return (djLossRun){.work = dj_initLossWork(m, h->loss),
                     .model = m,
                     .data = h->data,
                     .rollout = r,
                     .reference = relative ? h->target : NULL,
                     .scratch = h->loss_scratch};
}

static const djModel* modelAt(djHessian* h, double e) {
  return h->along->value && e != 0 ? dj_movedModel(h, e) : h->model;
}

// ---- targets ------------------------------------------------------------------------------------

static size_t targets(const djHessian* h) {
  return dj_lossReferences(h->rollout) > 0 ? 3 * (size_t)h->rollout->nloss : 0;
}

// out (3 nloss) those that this state is for, else as they are.
static djStatus measure(double* out, void* user, double e) {
  const Beside* b = user;
  djHessian* h = b->h;
  const djModel* m = modelAt(h, e);
  if (!m) return DJ_INVALID;
  size_t n = targets(h);
  djLossRun run = lossRun(h, m, h->rollout);
  memcpy(h->target, h->reference, n * sizeof *out);
  place(h, b->k, b->i, e);
  dj_noteReferences(&run, h->q, h->v, b->k);
  memcpy(out, h->target, n * sizeof *out);
  return DJ_OK;
}

djStatus dj_pushReferences(djHessian* h) {
  size_t n = targets(h), bytes = n * sizeof(double);
  if (n == 0) return DJ_OK;
  const djStretch all = {0, (int)n, NULL};
  memset(h->reference, 0, bytes);
  memset(h->dreference, 0, bytes);
  memset(h->pull, 0, bytes);
  memset(h->dpull, 0, bytes);
  for (int i = 0; i <= h->npart; i++) {
    int k = i < h->npart ? h->part_step[i] : h->rollout->horizon;
    if (i > 0 && i < h->npart && h->part_step[i - 1] == k) continue; // no state of the run
    Beside b = {h, k, i};
    double step = dj_stepFor(h, i), *d = h->change;
    djStatus status = measure(d, &b, 0);
    if (status == DJ_OK) memcpy(h->reference, d, bytes);
    if (status == DJ_OK) {
      status = dj_differ(d, NULL, &step, &h->error, (int)n, &all, 1, measure, &b, h->sample);
    }
    if (status != DJ_OK) return status;
    for (size_t j = 0; j < n; j++) h->dreference[j] += d[j];
  }
  return DJ_OK;
}

// ---- the gradient
// ---------------------------------------------------------------------------------

// Terms count, or are pulled at, at state k.
static bool counts(const djHessian* h, int k) {
  const djRollout* r = h->rollout;
  for (int i = 0; i < r->nloss; i++) {
    if (dj_lossRows[r->loss[i].type].relative) return true;
    if (k > 0 && dj_lossFactor(h->model, &r->loss[i], k, r->horizon) != 0) return true;
  }
  return false;
}

// out <- the loss's derivatives by the state (nx) and by the controls that led to it (nu), by
// parameters (np), and what it adds to pulls (3 nloss).
static djStatus gradient(double* out, void* user, double e) {
  const Beside* b = user;
  djHessian* h = b->h;
  const djModel* m = modelAt(h, e);
  if (!m) return DJ_INVALID;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, n = targets(h), np = (size_t)h->np;
  size_t row = b->k > 0 ? (size_t)(b->k - 1) * nu : 0;
  djRollout r = *h->rollout;
  double *u = h->ctrl + row, *by_ctrl = h->by_ctrl + row, *pulls = out + nx + nu + np;
  for (size_t k = 0; k < nu; k++) {
    u[k] = r.ctrl[row + k] + (h->along->ctrl ? e * h->along->ctrl[row + k] : 0);
    by_ctrl[k] = 0;
  }
  r.ctrl = h->ctrl;
  djLossRun run = lossRun(h, m, &r);
  for (size_t k = 0; k < n; k++) {
    h->target[k] = h->reference[k] + e * h->dreference[k];
    pulls[k] = h->pull[k] + e * h->dpull[k];
  }
  if (n > 0) run.pull = pulls;
  djParamSums sums;
  if (np > 0) {
    dj_initParamSums(&sums, h->sums, m);
    dj_askParams(&sums, m, h->along->nparam, h->along->param, r.compiled != NULL);
    run.work.wants = sums.of_body;
  }
  memset(out, 0, nx * sizeof *out);
  place(h, b->k, b->i, e);
  const djLossSums to = {out, h->by_ctrl, np > 0 ? sums.param : NULL};
  dj_addRunGradient(&to, &run, h->q, h->v, b->k);
  memcpy(out + nx, by_ctrl, nu * sizeof *out);
  djStatus status = DJ_OK;
  if (np > 0) status = dj_finishParams(&sums, m, r.compiled);
  if (np > 0 && status >= 0) {
    dj_pickParams(out + nx + nu, &sums, m, h->along->nparam, h->along->param);
  }
  for (size_t k = 0; k < n; k++) pulls[k] -= h->pull[k] + e * h->dpull[k];
  return status < 0 ? status : DJ_OK;
}

// Of what was given for the whole run: cotangents, and their rates.
static void addGiven(djHessian* h, int k) {
  const djTape* t = h->tape;
  size_t nx = (size_t)dj_tangentSize(h->model), nu = (size_t)h->model->nu, at = (size_t)k * nx;
  if (!t->given) return;
  for (size_t j = 0; j < nx; j++) {
    h->lambda[j] += t->dstate[at + j];
    if (h->rated) h->dlambda[j] += h->rate[at + j];
  }
  if (k == 0 || !h->rated) return;
  at = (size_t)(k - 1) * nu;
  for (size_t j = 0; j < nu; j++) h->du[at + j] += h->ctrl_rate[at + j];
}

djStatus dj_pullLoss(djHessian* h, int k, int i) {
  const djModel* m = h->model;
  addGiven(h, k);
  if (!counts(h, k)) return DJ_OK;
  Beside b = {h, k, i};
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu, np = (size_t)h->np, n = targets(h);
  size_t row = k > 0 ? (size_t)(k - 1) * nu : 0, all = nx + nu + np + n;
  double step = dj_stepFor(h, i), *d = h->change, *mean = h->mean;
  const int nstretch = h->nstretch + (n > 0);
  h->stretch[h->nstretch] = (djStretch){(int)(nx + nu + np), (int)n, NULL};
  djStatus status =
      dj_differ(d, NULL, &step, &h->error, (int)all, h->stretch, nstretch, gradient, &b, h->sample);
  if (status == DJ_OK) status = gradient(mean, &b, 0);
  if (status != DJ_OK) return status;
  for (size_t j = 0; j < nx; j++) {
    h->lambda[j] += mean[j];
    h->dlambda[j] += d[j];
  }
  for (size_t j = 0; j < nu && k > 0; j++) h->du[row + j] += d[nx + j];
  for (size_t j = 0; j < np; j++) {
    h->dtheta[j] += d[nx + nu + j];
    h->theta[j] += mean[nx + nu + j];
  }
  for (size_t j = 0; j < n; j++) {
    h->pull[j] += mean[nx + nu + np + j];
    h->dpull[j] += d[nx + nu + np + j];
  }
  return DJ_OK;
}
