// The loss of a design as a sum of squares: residuals in the order of steps, then of terms, and
// their derivatives. An adjoint for each residual: that serves all variables, maps and parameters
// included, and most losses count a few numbers at the end of a run.

#include "base/arena.h"
#include "base/status.h"
#include "gradient/design_parts.h"
#include "gradient/loss.h"
#include "gradient/loss_row.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int sizeOf(const djDesign* d, const djLossTerm* t) {
  if (t->type == DJ_LOSS_EFFORT) return d->model->nu;
  return dj_lossRows[t->type].number ? 1 : 3;
}

// States at which a term counts.
static int countSteps(const djDesign* d, const djLossTerm* t) {
  int n = 0, horizon = d->rollout.horizon;
  if (t->when == DJ_WHEN_FINAL || t->when == DJ_WHEN_STEP) return 1;
  for (int k = 1; k <= horizon; k++) n += dj_lossFactor(d->model, t, k, horizon) != 0;
  return n;
}

djStatus djd_countResiduals(int* n, const djDesign* d, djError* err) {
  if (!n || !d) return dj_fail(err, DJ_INVALID, "n or design: NULL");
  const djRollout* r = &d->rollout;
  double sum = 0;
  *n = 0;
  if (r->callback) return dj_fail(err, DJ_UNSUPPORTED, "a callback has no residuals");
  for (int i = 0; i < r->nloss; i++) {
    const djLossTerm* t = &r->loss[i];
    if (t->weight < 0) return dj_fail(err, DJ_UNSUPPORTED, "loss[%d]: a negative weight", i);
    if (t->weight == 0) continue;
    if (t->norm) return dj_fail(err, DJ_UNSUPPORTED, "loss[%d]: a norm is no square", i);
    sum += (double)countSteps(d, t) * sizeOf(d, t);
  }
  if (sum > INT_MAX) return dj_fail(err, DJ_UNSUPPORTED, "too many residuals");
  *n = (int)sum;
  return DJ_OK;
}

// One after the other.
typedef struct djResidualRows {
  djDesign* d;
  djLossWork work;
  double *r, *J;     // the next
} djResidualRows;

static djStatus addRow(djResidualRows* rows, double value, const djResidual* one) {
  djDesign* d = rows->d;
  *rows->r++ = value;
  if (!rows->J) return DJ_OK;
  const djDesignRun r = dj_gradientRun(d);
  djStatus status = dj_residualBackward(&d->result, r.model, r.data, r.rollout, r.tape, one);
  if (status < 0) return dj_fail(&d->error, status, "%.500s", dj_errorText(r.data));
  dj_gatherDesign(rows->J, d);
  for (int i = 0; i < d->n; i++) {
    if (isfinite(rows->J[i])) continue;
    return dj_fail(&d->error, DJ_INVALID, "loss[%d]: its gradient is not finite", one->term);
  }
  rows->J += d->n;
  return DJ_OK;
}

// Efforts: u sqrt(1 - e^2/|u|^2), as dj_lossResiduals(). The derivative of one of them is by all
// controls of its step.
static djStatus addEffort(djResidualRows* rows, int term, int step, double factor) {
  djDesign* d = rows->d;
  size_t nu = d->model->nu, n = (size_t)d->n;
  const double* u = d->rollout.ctrl + (size_t)(step - 1) * nu;
  double l = 0, e = d->rollout.loss[term].tolerance, root = sqrt(factor);
  for (size_t i = 0; i < nu; i++) l += u[i] * u[i];
  double s = e > 0 ? l > e * e ? sqrt(1 - e / l * e) : 0 : 1;
  double* first = rows->J;
  for (size_t i = 0; i < nu; i++) {   // by the controls alone
    djResidual one = {.term = term, .step = step, .component = (int)i, .by = {root, 0, 0}};
    djStatus status = addRow(rows, root * s * u[i], &one);
    if (status < 0) return status;
  }
  if (!first || s == 1) return DJ_OK;
  for (size_t k = 0; k < n; k++) {    // D = s + e^2/(s l^2) u u^T from the left
    double along = 0, c = s > 0 ? e * e / (s * l * l) : 0;
    for (size_t i = 0; i < nu; i++) along += u[i] * first[i * n + k];
    for (size_t i = 0; i < nu; i++) first[i * n + k] = s * first[i * n + k] + c * along * u[i];
  }
  return DJ_OK;
}

static djStatus addTerm(djResidualRows* rows, int term, int step, double factor) {
  djDesign* d = rows->d;
  const djLossTerm t = dj_tapeTerm(d->tape, &d->rollout, term);
  if (t.type == DJ_LOSS_EFFORT) return addEffort(rows, term, step, factor);
  double r[3];
  djVec3 by[3];
  const double *q = dj_tapeQpos(d->tape, d->model, step), *v = dj_tapeQvel(d->tape, d->model, step);
  dj_beginLoss(&rows->work, d->model, d->data, q);
  int n = dj_lossResiduals(r, by, &rows->work, d->model, &t, q, v, factor);
  for (int i = 0; i < n; i++) {
    djResidual one = {.term = term, .step = step, .by = by[i]};
    djStatus status = addRow(rows, r[i], &one);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus djd_designResiduals(double* r, double* J, djDesign* d, const double* x) {
  double loss;
  int n;
  if (!r || !d) return DJ_INVALID;
  djStatus status = djd_countResiduals(&n, d, &d->error);
  if (status < 0) return status;
  djStatus forward = djd_forwardDesign(&loss, d, x, J != NULL);
  if (forward < 0) return forward;
  if (forward == DJ_SINGULAR) {
    return dj_fail(&d->error, DJ_INVALID, "a step's Jacobian is singular");
  }
  unsigned char* memory = malloc(dj_lossWorkSize(d->model) + DJ_ALIGN);
  if (!memory) return dj_failMemory(&d->error);
  void* aligned = memory + DJ_ALIGN - (uintptr_t)memory % DJ_ALIGN;
  djResidualRows rows = {d, dj_initLossWork(d->model, aligned), r, J};
  const djRollout* run = &d->rollout;
  for (int k = 1; k <= run->horizon && status >= 0; k++) {
    for (int i = 0; i < run->nloss && status >= 0; i++) {
      double factor = dj_lossFactor(d->model, &run->loss[i], k, run->horizon);
      if (factor != 0) status = addTerm(&rows, i, k, factor);
    }
  }
  free(memory);
  return status < 0 ? status : forward;
}
