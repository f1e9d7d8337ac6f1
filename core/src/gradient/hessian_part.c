// A part of a run, opened anew beside itself: its tangent, and how its adjoint changes along it.

#include "base/status.h"
#include "force/hold.h"
#include "gradient/hessian.h"
#include "gradient/param_gradient.h"
#include "integrate/impulse_linear.h"
#include "integrate/outside.h"
#include "integrate/turn.h"

#include <math.h>
#include <string.h>

djRunPart dj_runPart(const djHessian* h, int i) {
  const djTape* t = h->tape;
  int k = h->part_step[i], first = i;
  while (first > 0 && h->part_step[first - 1] == k) first--;
  djRunPart p = {.step = k, .nparts = t->nparts[k], .index = i - first};
  if (p.nparts > 1) p.part = &t->parts[k][p.index];
  p.linear = p.part ? &p.part->linear : &t->step[k];
  return p;
}

// ---- places -------------------------------------------------------------------------------------

// data at the part's start, moved by e along the tangent.
static void placeStart(djHessian* h, const djRunPart* p, int i, double e) {
  const djModel* m = h->model;
  djData* d = h->data;
  size_t nv = (size_t)m->nv, nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  dj_restoreTape(d, m, h->rollout, h->tape, p->step);
  d->work->parts = p->nparts;
  if (p->part) dj_setPartState(d, m, &p->part->at);
  if (e == 0) return;
  const double *dx = h->dx + (size_t)i * nx, *before = dx + 2 * nv + m->na;
  bool kept = dj_hasHistory(m, d);
  dj_integratePos(d->qpos, m, d->qpos, dx, e);
  for (size_t k = 0; k < nv; k++) d->qvel[k] += e * dx[nv + k];
  for (int k = 0; k < m->na; k++) d->act[k] += e * dx[2 * nv + (size_t)k];
  const double* du = h->along->ctrl ? h->along->ctrl + (size_t)p->step * nu : NULL;
  for (size_t k = 0; k < nu && du; k++) d->ctrl[k] += e * du[k];
  if (kept) {
    dj_integratePos(d->history, m, d->history, before, e);
    for (size_t k = 0; k < nv; k++) d->history[(size_t)m->nq + k] += e * before[nv + k];
  }
  dj_markHistory(m, d, kept);
}

// Where the part ends.
static const double* endOf(const djHessian* h, const djRunPart* p) {
  const djTape* t = h->tape;
  if (p->part && p->index + 1 < p->nparts) return dj_partQpos(&t->parts[p->step][p->index + 1].at);
  return dj_tapeQpos(t, h->model, p->step + 1);
}

// Q and psi of its stages, moved by e; data stands at the start of the same e.
static void placeStages(djHessian* h, const djRunPart* p, int i, double e) {
  const djModel* m = h->model;
  const djLinear* lin = p->linear;
  int last = lin->method->nstage - 1;
  const double* q = p->part ? dj_partQpos(&p->part->at) : dj_tapeQpos(h->tape, m, p->step);
  for (int s = 0; s <= last; s++) {
    double *Q = h->Q + (size_t)s * m->nq, *psi = h->psi + (size_t)s * m->nv;
    const double* dQ = h->dQ + ((size_t)i * DJ_MAX_STAGE + (size_t)s) * m->nv;
    if (s == last && !lin->coef.turns) {
      memcpy(Q, endOf(h, p), (size_t)m->nq * sizeof *Q);
    } else {
      dj_integratePos(Q, m, q, lin->stage[s].psi, 1);
    }
    if (e != 0) dj_integratePos(Q, m, Q, dQ, e);
    dj_differentiatePos(psi, m, 1, h->data->qpos, Q);
  }
}

// The workspace at stage s as solved by Q.
static djStatus openStage(djHessian* h, const djModel* m, const djRunPart* p, int s) {
  djWork* w = h->data->work;
  const djMethod* method = p->linear->method;
  const double* psi[DJ_MAX_STAGE];
  for (int k = 0; k < method->nstage; k++) psi[k] = h->psi + (size_t)k * m->nv;
  w->stepped = false; // nothing is left of the step before: its model may be another one
  return dj_replayStep(m, h->data, method, s, h->Q + (size_t)s * m->nq, psi);
}

// The same of the last one, and the end.
static djStatus openPart(djHessian* h, const djModel* m, const djRunPart* p) {
  djWork* w = h->data->work;
  int last = p->linear->method->nstage - 1;
  djStatus status = openStage(h, m, p, last);
  if (status < 0) return status;
  for (int s = 0; s <= last; s++) {
    memcpy(w->at_stage[s].q, h->Q + (size_t)s * m->nq, (size_t)m->nq * sizeof(double));
  }
  dj_differentiatePos(w->at_stage[last].linear.psi, m, 1, w->start.qpos, w->now.q);
  status = dj_endStep(w, m);
  return status < 0 ? status : DJ_OK;
}

// ---- the tangent
// ----------------------------------------------------------------------------------

// What a difference is taken of.
typedef struct Beside {
  djHessian* h;
  djRunPart p;
  int i;
} Beside;

// Hard equality constraints of a stage as they are in the run, n of them: by a moved model their
// forces and stiffness stay, and what they are to be goes with what they are at the start.
static djHold* holdsOf(djHessian* h, const djModel* m, int stage) {
  if (!dj_holdsOf(&h->data->work->forces, m)) return NULL;
  return h->hold + (size_t)stage * (size_t)dj_holdCount(m);
}

static void keepHolds(djHessian* h, int stage) {
  djHold* to = holdsOf(h, h->model, stage);
  if (!to) return;
  memcpy(to, dj_holdsOf(&h->data->work->forces, h->model),
         (size_t)dj_holdCount(h->model) * sizeof *to);
}

static void adoptHolds(djHessian* h, const djModel* m, int stage) {
  const djHold* from = holdsOf(h, m, stage);
  djHold* hold = from ? dj_holdsOf(&h->data->work->forces, m) : NULL;
  for (int i = 0; i < dj_holdCount(m) && hold; i++) {
    double x0 = hold[i].x0;
    hold[i] = from[i];
    hold[i].r += from[i].gamma * (x0 - from[i].x0);
  }
}

// Residuals of all stages at the part's own start and ends, and the velocity at the end where it is
// not by coefficients, by the model moved by e.
static djStatus residuals(double* out, void* user, double e) {
  const Beside* b = user;
  djHessian* h = b->h;
  const djModel* m = dj_movedModel(h, e);
  if (!m) return DJ_INVALID;
  djWork* w = h->data->work;
  const djMethod* method = b->p.linear->method;
  size_t nv = (size_t)m->nv;
  djStatus status = DJ_OK;
  for (int s = 0; s < method->nstage && status >= 0; s++) {
    bool majorizer = false;
    double value;
    bool last = s + 1 == method->nstage;
    status = last ? openPart(h, m, &b->p) : openStage(h, m, &b->p, s);
    if (status < 0) return status;
    adoptHolds(h, m, s);
    dj_openPlace(&w->now, m, w->ref);
    if (w->method->relag) w->method->relag(w, m);
    w->may_grow = true;
    status = w->method->evaluate(&value, w->gradient, w, m, &w->now, &majorizer);
    w->may_grow = false;
    memcpy(out + (size_t)s * nv, w->gradient, nv * sizeof *out);
  }
  double* dv = out + (size_t)method->nstage * nv;
  memset(dv, 0, nv * sizeof *dv);
  if (method->velocity) memcpy(dv, w->qvel, nv * sizeof *dv);
  return status < 0 ? status : DJ_OK;
}

// Changes of residuals and velocity by parameters: h->residual.
static djStatus byParameters(Beside* b) {
  djHessian* h = b->h;
  int nv = h->model->nv, n = (b->p.linear->method->nstage + 1) * nv;
  double step = dj_stepFor(h, -1);
  const djStretch stretch[] = {{0, n - nv, NULL}, {n - nv, nv, NULL}};
  placeStart(h, &b->p, b->i, 0);
  placeStages(h, &b->p, b->i, 0);
  djStatus status = DJ_OK;
  for (int s = 0; s < b->p.linear->method->nstage && dj_holdCount(h->model) > 0; s++) {
    status = openStage(h, h->model, &b->p, s);
    if (status < 0) return status;
    keepHolds(h, s);
  }
  djContacts* contacts = dj_contactsOf(&h->data->work->forces);
  dj_differentiateContacts(contacts, h->model, true);
  status = dj_differ(h->residual, NULL, &step, &h->error, n, stretch, 2, residuals, b, h->sample);
  dj_differentiateContacts(contacts, h->model, false);
  return status;
}

// Of physics from outside: by its matrices, which the tape keeps from then on.
static djStatus pushOutside(Beside* b) {
  djHessian* h = b->h;
  const djModel* m = h->model;
  djLinear* to = &h->tape->step[b->p.step];
  size_t nx = (size_t)dj_tangentSize(m);
  double* dx = h->dx + (size_t)b->i * nx;
  if (!to->A) {
    djLinear lin;
    placeStart(h, &b->p, b->i, 0);
    djStatus status = dj_openOutside(&lin, m, h->data);
    if (status != DJ_OK) return status;
    double* memory = dj_takeTape(h->tape, dj_linearSize(m, &lin));
    if (!memory) return dj_failMemory(&h->data->work->error);
    dj_copyLinear(to, memory, m, &lin);
  }
  const double* du = h->along->ctrl ? h->along->ctrl + (size_t)b->p.step * m->nu : NULL;
  dj_linearJvp(dx + nx, to, m, dx, du, h->scratch);
  return DJ_OK;
}

// dx of the end, and dQ.
static djStatus pushPart(djHessian* h, int i) {
  const djModel* m = h->model;
  Beside b = {h, dj_runPart(h, i), i};
  if (dj_isOutside(m)) return pushOutside(&b);
  const djLinear* lin = b.p.linear;
  size_t nv = (size_t)m->nv, nx = (size_t)dj_tangentSize(m);
  double *dx = h->dx + (size_t)i * nx, *dQ = h->dQ + (size_t)i * DJ_MAX_STAGE * nv;
  const double* du = h->along->ctrl ? h->along->ctrl + (size_t)b.p.step * m->nu : NULL;
  double *dr = NULL, *dv = NULL;
  djStatus status = DJ_OK;
  if (h->along->value) {
    status = byParameters(&b);
    if (status != DJ_OK) return status;
    dr = h->residual;
    dv = dr + (size_t)lin->method->nstage * nv;
  }
  // With impulses the last stage's residual has what the first one moves by already.
  double* ahead = h->mix;
  bool split = dr && lin->impulse.n > 0;
  if (split) {
    memcpy(ahead, dr, nv * sizeof *dr);
    memset(dr, 0, nv * sizeof *dr);
    dj_solve(ahead, &lin->stage[0].factor);
  }
  dj_linearPush(dx + nx, lin, m, dx, du, dr, dv, h->scratch);
  for (int s = 0; s < lin->method->nstage; s++) {
    double *to = dQ + (size_t)s * nv, *y = h->scratch + (size_t)s * nv;
    memcpy(to, dx, nv * sizeof *to);
    dj_turnVector(to, m, lin->stage[s].psi, false);
    for (size_t k = 0; k < nv; k++) to[k] += y[k] - (split && s == 0 ? ahead[k] : 0);
  }
  return DJ_OK;
}

djStatus dj_pushRun(djHessian* h) {
  djStatus status = DJ_OK;
  for (int i = 0; i < h->npart && status == DJ_OK; i++) status = pushPart(h, i);
  return status;
}

// ---- the adjoint
// ----------------------------------------------------------------------------------

// out (np) <- derivatives by parameters, of the step that is linearised in the workspace.
static djStatus stepParams(double* out, djHessian* h, const djModel* m, const djLinear* lin,
                           const double* lambda) {
  djWork* w = h->data->work;
  djParamSums sums;
  double* z = h->scratch;
  int nstage = lin->method->nstage;
  djStatus status = DJ_OK;
  djContacts* contacts = dj_contactsOf(&w->forces);
  dj_differentiateContacts(contacts, m, true);
  dj_initParamSums(&sums, h->sums, m);
  dj_askParams(&sums, m, h->along->nparam, h->along->param, h->rollout->compiled != NULL);
  for (size_t k = 0; k < (size_t)nstage * m->nv; k++) z[k] = -z[k];
  for (int s = 0; s < nstage && status >= 0; s++) {
    if (nstage > 1) status = dj_reopenStage(w, m, s);
    if (status >= 0) status = lin->method->params(&sums, w, m, z + (size_t)s * m->nv);
  }
  const double* v = lambda + m->nv;
  if (status >= 0 && lin->method->velocityParams) {
    status = lin->method->velocityParams(&sums, w, m, v);
  }
  if (status >= 0 && lin->impulse.n) {
    status = dj_impulseParams(&sums, w, m, z + (size_t)(nstage - 1) * m->nv, v);
  }
  dj_differentiateContacts(contacts, m, false);
  if (status >= 0) status = dj_finishParams(&sums, m, h->rollout->compiled);
  if (status >= 0) dj_pickParams(out, &sums, m, h->along->nparam, h->along->param);
  return status;
}

// lambda + e dlambda.
static const double* adjointAt(djHessian* h, double e) {
  size_t nx = (size_t)dj_tangentSize(h->model);
  for (size_t k = 0; k < nx; k++) h->mix[k] = h->lambda[k] + e * h->dlambda[k];
  return h->mix;
}

// out <- A(e)^T lambda(e), B(e)^T lambda(e), and by parameters.
static djStatus adjoint(double* out, void* user, double e) {
  const Beside* b = user;
  djHessian* h = b->h;
  djData* d = h->data;
  const djModel* m = h->along->value ? dj_movedModel(h, e) : h->model;
  if (!m) return DJ_INVALID;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  const double* lambda = adjointAt(h, e);
  djLinear lin;
  h->steps++;
  memset(out, 0, (nx + nu) * sizeof *out);
  placeStart(h, &b->p, b->i, e);
  placeStages(h, &b->p, b->i, e);
  djStatus status = openPart(h, m, &b->p);
  if (status == DJ_OK) status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  lin.keeps = b->p.linear->keeps;
  dj_linearVjp(out, out + nx, &lin, m, lambda, h->scratch);
  return h->np > 0 ? stepParams(out + nx + nu, h, m, &lin, lambda) : DJ_OK;
}

// Of physics from outside, which has its own.
static djStatus outsideAdjoint(double* out, void* user, double e) {
  const Beside* b = user;
  djHessian* h = b->h;
  const djModel* m = h->model;
  djData* d = h->data;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  djLinear lin;
  const double* lambda = adjointAt(h, e);
  h->steps++;
  memset(out, 0, (nx + nu) * sizeof *out);
  placeStart(h, &b->p, b->i, e);
  if (dj_outsideHasVjp(m)) {
    djStatus status = dj_askOutside(m, d, 0, NULL);
    return status < 0 ? status : dj_outsideVjp(out, out + nx, m, d, lambda);
  }
  djStatus status = dj_openOutside(&lin, m, d);
  if (status == DJ_OK) dj_linearVjp(out, out + nx, &lin, m, lambda, h->scratch);
  return status;
}

djStatus dj_pullPart(djHessian* h, int i) {
  const djModel* m = h->model;
  Beside b = {h, dj_runPart(h, i), i};
  int nx = dj_tangentSize(m), nu = m->nu, np = h->np;
  double step = dj_stepFor(h, i), asked = step, *d = h->change, *mean = h->mean;
  djStatus status = dj_differ(d, mean, &step, &h->error, nx + nu + np, h->stretch, h->nstretch,
                              dj_isOutside(m) ? outsideAdjoint : adjoint, &b, h->sample);
  if (status != DJ_OK) return status;
  h->size *= step / asked;
  if (!dj_isOutside(m)) {
    memset(mean, 0, (size_t)nx * sizeof *mean);
    dj_linearVjp(mean, NULL, b.p.linear, m, h->lambda, h->scratch);
  }
  memcpy(h->lambda, mean, (size_t)nx * sizeof *mean);
  memcpy(h->dlambda, d, (size_t)nx * sizeof *d);
  double* du = h->du + (size_t)b.p.step * (size_t)nu;
  for (int k = 0; k < nu; k++) du[k] += d[nx + k];
  for (int k = 0; k < np; k++) {
    h->dtheta[k] += d[nx + nu + k];
    h->theta[k] += mean[nx + nu + k];
  }
  return DJ_OK;
}
