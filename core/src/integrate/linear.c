#include "integrate/linear.h"

#include "base/status.h"
#include "integrate/outside.h"
#include "integrate/turn.h"
#include "model/motor.h"

#include <string.h>

// ---- copies -----------------------------------------------------------------------------------

static size_t stageSize(const djModel* m, const djStageLinear* s) {
  const djFactor* f = &s->factor;
  size_t entries = (size_t)s->Ra.n + (size_t)s->Ru.n;
  size_t each = sizeof(djMatrixEntry) / sizeof(double);
  size_t size = dj_blocksSize(&f->blocks) / sizeof(double) + dj_factorUses(f) +
                2 * dj_packedSize(&f->blocks) + entries * each + (size_t)m->nv;
  if (!s->M.data) return size;
  return size + dj_blocksSize(s->M.blocks) / sizeof(double) + dj_packedSize(s->M.blocks);
}

static size_t matricesSize(const djModel* m) {
  size_t nx = (size_t)dj_tangentSize(m);
  return nx * (nx + (size_t)m->nu);
}

static size_t integralNumbers(const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_zadr[i] >= 0) return 3 * (size_t)m->nu;
  }
  return 0;
}

size_t dj_linearSize(const djModel* m, const djLinear* src) {
  if (src->A) return matricesSize(m);
  size_t size = 3 * (size_t)m->nv + m->na + m->nu + integralNumbers(m) +
                dj_motorRows(m) + dj_impulseLinearSize(&src->impulse);
  for (int k = 0; k < src->method->nstage; k++) size += stageSize(m, &src->stage[k]);
  if (!src->Vplus.data) return size;
  const djBlocks* trees = src->Vplus.blocks;
  return size + dj_blocksSize(trees) / sizeof(double) + 2 * dj_packedSize(trees);
}

static double* copyTo(double** to, const double* from, size_t n) {
  double* dest = *to;
  memcpy(dest, from, n * sizeof(double));
  *to += n;
  return dest;
}

static void copyBlocks(djBlocks* dest, double** to, const djBlocks* src) {
  dj_copyBlocks(dest, *to, src);
  *to += dj_blocksSize(src) / sizeof(double);
}

static djMatrix copyMatrix(double** to, const djMatrix* src, const djBlocks* blocks) {
  return (djMatrix){copyTo(to, src->data, dj_packedSize(blocks)), blocks};
}

static djEntries copyEntries(double** to, const djEntries* src) {
  djMatrixEntry* dest = (djMatrixEntry*)(void*)*to;
  memcpy(dest, src->entry, (size_t)src->n * sizeof(djMatrixEntry));
  *to += (size_t)src->n * (sizeof(djMatrixEntry) / sizeof(double));
  return (djEntries){.n = src->n, .max = src->n, .want = src->n, .entry = dest};
}

static void copyStage(djStageLinear* dest, double** p, const djModel* m, const djStageLinear* src) {
  djFactor* f = &dest->factor;
  *f = src->factor;
  copyBlocks(&f->blocks, p, &src->factor.blocks);
  f->data = copyTo(p, src->factor.data, dj_factorUses(&src->factor));
  dest->Rq = copyMatrix(p, &src->Rq, &f->blocks);
  dest->G = copyMatrix(p, &src->G, &f->blocks);
  dest->Ra = copyEntries(p, &src->Ra);
  dest->Ru = copyEntries(p, &src->Ru);
  dest->psi = copyTo(p, src->psi, (size_t)m->nv);
  dest->M = (djMatrix){0};
  if (!src->M.data) return;
  copyBlocks(&dest->trees, p, src->M.blocks);
  dest->M = copyMatrix(p, &src->M, &dest->trees);
}

static void copyMatrices(djLinear* dest, double* memory, const djModel* m, const djLinear* src) {
  size_t nx = (size_t)dj_tangentSize(m);
  double* p = memory;
  *dest = (djLinear){.method = src->method, .keeps = src->keeps, .memory = memory};
  dest->A = copyTo(&p, src->A, nx * nx);
  dest->B = copyTo(&p, src->B, nx * (size_t)m->nu);
  dest->size = (size_t)(p - memory);
}

void dj_copyLinear(djLinear* dest, double* memory, const djModel* m, const djLinear* src) {
  if (src->A) {
    copyMatrices(dest, memory, m, src);
    return;
  }
  double* p = memory;
  dest->A = dest->B = NULL;
  dest->method = src->method;
  dest->coef = src->coef;
  for (int k = 0; k < src->method->nstage; k++) copyStage(&dest->stage[k], &p, m, &src->stage[k]);
  dest->keeps = src->keeps;
  dest->turn = copyTo(&p, src->turn, (size_t)m->nv);
  dest->before = copyTo(&p, src->before, (size_t)m->nv);
  dest->act_by_act = copyTo(&p, src->act_by_act, (size_t)m->na);
  dest->act_by_ctrl = copyTo(&p, src->act_by_ctrl, (size_t)m->nu);
  dest->z_by = copyTo(&p, src->z_by, integralNumbers(m));
  dest->motor_by = copyTo(&p, src->motor_by, dj_motorRows(m));
  dj_copyImpulses(&dest->impulse, p, &src->impulse);
  p += dj_impulseLinearSize(&src->impulse);
  dest->Vplus = dest->Vstart = (djMatrix){0};
  if (src->Vplus.data) {
    copyBlocks(&dest->trees, &p, src->Vplus.blocks);
    dest->Vplus = copyMatrix(&p, &src->Vplus, &dest->trees);
    dest->Vstart = copyMatrix(&p, &src->Vstart, &dest->trees);
  }
  dest->memory = memory;
  dest->size = (size_t)(p - memory);
}

// Of more than MOST bytes the rest follows as it is read.
static void fetch(const void* from, size_t size) {
  enum { LINE = 64, MOST = 1 << 15 };
  for (size_t k = 0; k < size && k < MOST; k += LINE) __builtin_prefetch((const char*)from + k);
}

void dj_fetchLinear(const djLinear* copy) {
  fetch(copy, sizeof *copy);
  fetch(copy->memory, copy->size * sizeof(double));
}

// ---- linearisation ----------------------------------------------------------------------------

static djLinear viewLinear(djWork* w) {
  djLinear lin = {.method = w->method,
                  .coef = w->coef,
                  .turn = w->turn,
                  .before = w->before,
                  .keeps = true,
                  .impulse = w->impulse,
                  .act_by_act = w->act_by_act,
                  .act_by_ctrl = w->act_by_ctrl,
                  .z_by = w->z_by,
                  .motor_by = w->motor_by};
  for (int k = 0; k < w->nstage; k++) {
    lin.stage[k] = w->at_stage[k].linear;
    if (w->at_stage[k].pivoted) lin.stage[k].factor = w->at_stage[k].lu;
    if (!w->method || !w->method->mass) lin.stage[k].M = (djMatrix){0};
  }
  if (w->corrected) {
    lin.Vplus = w->Vplus;
    lin.Vstart = w->Vstart;
  }
  return lin;
}

static void linearizeMotor(djWork* w, const djModel* m, int i) {
  djMotor motor;
  const int* adr = m->actuator_motoradr + DJ_NMOTORSTATE * i;
  if (adr[0] < 0 && adr[1] < 0 && adr[2] < 0) return;
  dj_evalMotorAt(&motor, m, &w->start, i, w->h, dj_inputsOf(w));
  for (int k = 0; k < DJ_NMOTORSTATE; k++) {
    dj_motorRow(w->motor_by + dj_motorRowAt(i, k), &motor, m, i, k);
    if (adr[k] >= 0) w->act_by_act[adr[k]] = 0;   // in that row
  }
}

static void linearizeActivations(djWork* w, const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    w->act_by_ctrl[i] = 0;
    linearizeMotor(w, m, i);
    if (m->actuator_zadr[i] >= 0) {
      djIntegralSlopes by;
      dj_nextIntegral(&by, m, &w->start, i, w->h, dj_inputsOf(w));
      w->act_by_act[m->actuator_zadr[i]] = by.z;
      w->z_by[3 * i] = by.act;
      w->z_by[3 * i + 1] = by.ctrl;
      w->z_by[3 * i + 2] = by.length;
    }
    if (adr < 0) continue;
    dj_nextActivation(&w->act_by_act[adr], &w->act_by_ctrl[i], m, &w->start, i, w->h,
                      dj_inputsOf(w));
  }
}

static djStatus linearizeInputs(djWork* w, const djModel* m) {
  djStageLinear* s = &dj_stageOf(w)->linear;
  djInputSum sum = {.Ru = &s->Ru, .Ra = &s->Ra};
  djMotion motion = dj_motionAt(w, m, &w->now);
  for (;;) {
    dj_clearEntries(&s->Ru);
    dj_clearEntries(&s->Ra);
    if (w->method->inputs) w->method->inputs(&sum, w, m);
    else dj_forceInputs(&sum, &w->forces, &motion);
    if (s->Ru.want == s->Ru.n && s->Ra.want == s->Ra.n) return DJ_OK;
    djStatus status = dj_growInputs(w);
    if (status < 0) return status;
  }
}

// The residual's derivative at what solves the stage, and room for those by the start.
static djStatus evaluateEnd(djWork* w, const djModel* m) {
  double value;
  bool majorizer = false;
  w->may_grow = true;
  djStatus status = w->method->evaluate(&value, w->gradient, w, m, &w->now, &majorizer);
  w->may_grow = false;
  return status < 0 ? status : dj_growDerivatives(w);
}

static djStatus linearizeStage(djWork* w, const djModel* m) {
  djStageLinear* s = &dj_stageOf(w)->linear;
  s->Rq.blocks = s->G.blocks = &w->pattern.blocks;
  dj_openPlace(&w->now, m, w->ref);
  if (w->method->relag) w->method->relag(w, m);   // of a step that was opened anew
  djStatus status = evaluateEnd(w, m);
  if (status < 0) return status;
  status = dj_factorEnd(w, m);
  if (status != DJ_OK) return status;
  dj_differentiatePos(s->psi, m, 1, w->start.qpos, w->now.q);
  status = w->method->linearize(w, m);
  if (status < 0) return status;
  status = linearizeInputs(w, m);
  if (status < 0) return status;
  // Rq <- Rq + H E, needed in this form by every product. Of H only the factor is needed later.
  dj_applyE(&w->H, m, s->psi, -1);
  dj_addMatrix(&s->Rq, &w->H);
  return DJ_OK;
}

static djStatus linearize(djLinear* linear, djWork* w, const djModel* m) {
  djStatus status = DJ_OK;
  for (int k = 0; k < w->method->nstage; k++) {
    if (w->method->nstage > 1) {
      status = dj_reopenStage(w, m, k);
      if (status < 0) return status;
    }
    status = linearizeStage(w, m);
    if (status == DJ_OK && k + 1 < w->method->nstage) status = dj_keepPattern(w);
    if (status != DJ_OK) return status;
  }
  w->corrected = w->method->linearizeVelocity != NULL;
  if (w->corrected) {
    status = w->method->linearizeVelocity(w, m);
    if (status < 0) return status;
  }
  status = dj_linearizeImpulses(&w->impulse, w, m);
  if (status < 0) return status;
  *linear = viewLinear(w);
  linearizeActivations(w, m);
  w->linearized = true;
  return DJ_OK;
}

djStatus dj_linearizeStep(djLinear* linear, const djModel* m, djData* d) {
  djWork* w = d->work;
  *linear = viewLinear(w);
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (!w->stepped) {
    return dj_fail(&w->error, DJ_INVALID, "no step has been taken since the state was set");
  }
  if (dj_isOutside(m)) return dj_linearizeOutside(linear, m, d);
  if (w->linearized) return DJ_OK;
  djContacts* contacts = dj_contactsOf(&w->forces);
  dj_differentiateContacts(contacts, m, true);
  status = linearize(linear, w, m);
  dj_differentiateContacts(contacts, m, false);
  return status;
}

// ---- vector products --------------------------------------------------------------------------

// g by d becomes J_r^-T g by q, and -exp(d) J_r^-T g by q-.
static void pullBefore(double* dq, double* g, const djLinear* lin, const djModel* m) {
  dj_pullVector(g, m, lin->before, true);
  for (int i = 0; i < m->nv; i++) dq[i] += g[i];
  dj_turnVector(g, m, lin->before, true);
  for (int i = 0; i < m->nv; i++) g[i] = -g[i];
}

void dj_pullBeforeRows(double* rows, int nrow, int stride, const djLinear* lin, const djModel* m) {
  if (dj_historyTangent(m) == 0 || !rows) return;
  for (int r = 0; r < nrow; r++) {
    double* row = rows + (size_t)r * (size_t)stride;
    pullBefore(row, row + 2 * m->nv + m->na, lin, m);
  }
}

// Scratch: y of each stage; changes of all sources; a sum of them; E dq.
size_t dj_linearScratch(const djModel* m) {
  return (DJ_MAX_STAGE + DJ_NSOURCE + 2) * (size_t)m->nv;
}

static void addScaled(double* y, double f, const double* x, int n) {
  for (int i = 0; i < n && f != 0; i++) y[i] += f * x[i];
}

// Number of sources with indices below that of stage s's own displacement, itself not counted.
static int sourcesBefore(int s) { return DJ_SOURCE_STAGE + s; }

// sum (nv) = sum over the sources before stage s. False: all coefficients are zero.
static bool sumBefore(double* sum, const double c[DJ_NSOURCE], const double* src, int s, int nv) {
  bool any = false;
  memset(sum, 0, (size_t)nv * sizeof(double));
  for (int k = 0; k < sourcesBefore(s); k++) {
    addScaled(sum, c[k], src + (size_t)k * nv, nv);
    any |= c[k] != 0;
  }
  return any;
}

static void endJvp(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                   const double* y, const double* src, double* e) {
  int nv = m->nv, last = lin->method->nstage - 1;
  const djCoefficients* c = &lin->coef;
  if (dx)
    memcpy(e, dx, (size_t)nv * sizeof(double));
  else
    memset(e, 0, (size_t)nv * sizeof(double));
  if (c->turns) {
    memset(dx_next, 0, (size_t)nv * sizeof(double));
    for (int k = 0; k < DJ_NSOURCE; k++) {
      addScaled(dx_next, c->position[k], src + (size_t)k * nv, nv);
    }
    dj_pushVector(dx_next, m, lin->turn, false);
    dj_turnVector(e, m, lin->turn, false);
  } else {
    memcpy(dx_next, y + (size_t)last * nv, (size_t)nv * sizeof(double));
    dj_turnVector(e, m, lin->stage[last].psi, false);
  }
  addScaled(dx_next, 1, e, nv);
  double* dv = dx_next + nv;
  memset(dv, 0, (size_t)nv * sizeof(double));
  if (lin->Vplus.data) {
    dj_mulMatrix(dv, 1, &lin->Vplus, y + (size_t)last * nv);
    if (dx) dj_mulMatrix(dv, 1, &lin->Vstart, dx);
  }
  const double* ahead = src + (size_t)DJ_SOURCE_STAGE * nv;
  dj_impulseJvp(dv, 1, DJ_IMPULSE_VELOCITY, &lin->impulse, dx, src, ahead);
  for (int k = 0; k < DJ_NSOURCE; k++) addScaled(dv, c->end[k], src + (size_t)k * nv, nv);
  double* history = dx_next + 2 * nv + m->na;
  size_t bytes = (size_t)dj_historyTangent(m) * sizeof(double);
  if (dx && lin->keeps)
    memcpy(history, dx, bytes);
  else
    memset(history, 0, bytes);
}

// Changes of what the start knows: v, d and v-.
static void startJvp(double* src, const djLinear* lin, const djModel* m, const double* dx) {
  int nv = m->nv;
  double* before = src + (size_t)DJ_SOURCE_BEFORE * nv;
  memcpy(src, dx + nv, (size_t)nv * sizeof(double));
  if (dj_historyTangent(m) > 0) {
    memcpy(before, dx + 2 * nv + m->na, 2 * (size_t)nv * sizeof(double));
    dj_turnVector(before, m, lin->before, false);
    for (int i = 0; i < nv; i++) before[i] = dx[i] - before[i];
    dj_pullVector(before, m, lin->before, false);
  }
}

// y += M x, M (nx x n)
static void addMatrix(double* y, const double* M, size_t nx, size_t n, const double* x) {
  for (size_t i = 0; i < nx; i++) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += M[i * n + k] * x[k];
    y[i] += sum;
  }
}

// y += M^T x
static void addTransposed(double* y, const double* M, size_t nx, size_t n, const double* x) {
  for (size_t i = 0; i < nx; i++) addScaled(y, x[i], M + i * n, (int)n);
}

static void outsideJvp(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                       const double* du) {
  size_t nx = (size_t)dj_tangentSize(m);
  memset(dx_next, 0, nx * sizeof(double));
  if (dx) addMatrix(dx_next, lin->A, nx, nx, dx);
  if (du) addMatrix(dx_next, lin->B, nx, (size_t)m->nu, du);
}

static void outsideVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                       const double* lambda) {
  size_t nx = (size_t)dj_tangentSize(m);
  if (dx) addTransposed(dx, lin->A, nx, nx, lambda);
  if (du) addTransposed(du, lin->B, nx, (size_t)m->nu, lambda);
}

// Of the integral of actuator i.
static void integralJvp(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                        const double* du, int i) {
  int z = m->actuator_zadr[i], act = m->actuator_actadr[i], first = 2 * m->nv;
  if (z < 0) return;
  const double* by = lin->z_by + 3 * i;
  double* to = dx_next + first + z;
  if (du) *to += by[1] * du[i];
  if (!dx) return;
  if (act >= 0) *to += by[0] * dx[first + act];
  djLengthPart p = dj_lengthPart(m, i, 0);
  for (int k = 0; p.dof >= 0; p = dj_lengthPart(m, i, ++k)) *to += by[2] * p.gear * dx[p.dof];
}

static void integralVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                        const double* lambda, int i) {
  int z = m->actuator_zadr[i], act = m->actuator_actadr[i], first = 2 * m->nv;
  if (z < 0) return;
  const double *by = lin->z_by + 3 * i, l = lambda[first + z];
  if (du) du[i] += by[1] * l;
  if (!dx) return;
  if (act >= 0) dx[first + act] += by[0] * l;
  djLengthPart p = dj_lengthPart(m, i, 0);
  for (int k = 0; p.dof >= 0; p = dj_lengthPart(m, i, ++k)) dx[p.dof] += by[2] * p.gear * l;
}

// Of the states of motor i, and of its adjoint.
static void motorJvp(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                     const double* du, int i) {
  for (djMotorEntry e = {0}; dj_nextMotorEntry(&e, lin->motor_by, m, i);) {
    const double* from = e.ctrl ? du : dx;
    if (from) dx_next[e.row] += e.value * from[e.at];
  }
}

static void motorVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                     const double* lambda, int i) {
  for (djMotorEntry e = {0}; dj_nextMotorEntry(&e, lin->motor_by, m, i);) {
    double* to = e.ctrl ? du : dx;
    if (to) to[e.at] += e.value * lambda[e.row];
  }
}

void dj_linearJvp(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                  const double* du, double* scratch) {
  dj_linearPush(dx_next, lin, m, dx, du, NULL, NULL, scratch);
}

void dj_linearPush(double* dx_next, const djLinear* lin, const djModel* m, const double* dx,
                   const double* du, const double* dr, const double* dv, double* scratch) {
  if (lin->A) {
    outsideJvp(dx_next, lin, m, dx, du);
    return;
  }
  int nv = m->nv, na = m->na, nu = m->nu;
  double *y = scratch, *src = y + DJ_MAX_STAGE * (size_t)nv;
  double *sum = src + DJ_NSOURCE * (size_t)nv, *e = sum + nv;
  memset(y, 0, (size_t)(sum - y) * sizeof(double));
  if (dx) startJvp(src, lin, m, dx);
  for (int s = 0; s < lin->method->nstage; s++) {
    const djStageLinear* at = &lin->stage[s];
    double *ys = y + (size_t)s * nv, *psi = src + (size_t)(DJ_SOURCE_STAGE + s) * nv;
    if (dx) dj_mulMatrix(ys, -1, &at->Rq, dx);
    if (sumBefore(sum, lin->coef.velocity[s], src, s, nv)) dj_mulMatrix(ys, -1, &at->G, sum);
    if (at->M.data && sumBefore(sum, lin->coef.accel[s], src, s, nv)) {
      dj_mulMatrix(ys, -1, &at->M, sum);
    }
    if (s > 0) dj_impulseJvp(ys, -1, DJ_IMPULSE_RESIDUAL, &lin->impulse, dx, src, psi - nv);
    memset(sum, 0, (size_t)nv * sizeof(double));
    if (dx) dj_mulEntries(sum, 1, &at->Ra, dx + 2 * nv);
    if (du) dj_mulEntries(sum, 1, &at->Ru, du);
    addScaled(ys, -1, sum, nv);
    if (dr) addScaled(ys, -1, dr + (size_t)s * nv, nv);
    dj_solve(ys, &at->factor);
    memcpy(psi, ys, (size_t)nv * sizeof(double));
    dj_pullVector(psi, m, at->psi, false);
  }
  endJvp(dx_next, lin, m, dx, y, src, e);
  if (dv) addScaled(dx_next + nv, 1, dv, nv);
  double* a = dx_next + 2 * nv;
  for (int i = 0; i < na; i++) a[i] = dx ? lin->act_by_act[i] * dx[2 * nv + i] : 0;
  for (int i = 0; i < nu && du; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) a[adr] += lin->act_by_ctrl[i] * du[i];
  }
  for (int i = 0; i < nu; i++) integralJvp(dx_next, lin, m, dx, du, i);
  for (int i = 0; i < nu; i++) motorJvp(dx_next, lin, m, dx, du, i);
}

// Adjoints of the sources, of y of the last stage (added to), and of dq, from that of the end.
static void endVjp(double* src, double* y, double* dq, const djLinear* lin, const djModel* m,
                   const double* lambda, double* e) {
  int nv = m->nv;
  const djCoefficients* c = &lin->coef;
  const double* lv = lambda + nv;
  memcpy(e, lambda, (size_t)nv * sizeof(double));
  if (c->turns) {
    dj_pushVector(e, m, lin->turn, true);
    for (int k = 0; k < DJ_NSOURCE; k++) addScaled(src + (size_t)k * nv, c->position[k], e, nv);
    memcpy(e, lambda, (size_t)nv * sizeof(double));
    dj_turnVector(e, m, lin->turn, true);
  } else {
    addScaled(y, 1, e, nv);
    dj_turnVector(e, m, lin->stage[lin->method->nstage - 1].psi, true);
  }
  if (dq) addScaled(dq, 1, e, nv);
  if (lin->Vplus.data) {
    dj_mulMatrixT(y, 1, &lin->Vplus, lv);
    if (dq) dj_mulMatrixT(dq, 1, &lin->Vstart, lv);
  }
  for (int k = 0; k < DJ_NSOURCE; k++) addScaled(src + (size_t)k * nv, c->end[k], lv, nv);
}

// Of the history, that of the start from those of d and v-, which are overwritten, and of the end.
static void historyVjp(double* dx, double* before, const djLinear* lin, const djModel* m,
                       const double* lambda) {
  int nv = m->nv, first = 2 * nv + m->na, n = dj_historyTangent(m);
  if (n == 0) return;
  pullBefore(dx, before, lin, m);
  addScaled(dx + first, 1, before, n);
  if (lin->keeps) addScaled(dx, 1, lambda + first, n);
}

// Adds -c_k A^T z to the adjoints of the sources before stage s.
static void addBefore(double* src, const double c[DJ_NSOURCE], const djMatrix* A, const double* z,
                      int s, int nv, double* sum) {
  bool any = false;
  for (int k = 0; k < sourcesBefore(s); k++) any |= c[k] != 0;
  if (!any || !A->data) return;
  memset(sum, 0, (size_t)nv * sizeof(double));
  dj_mulMatrixT(sum, -1, A, z);
  for (int k = 0; k < sourcesBefore(s); k++) addScaled(src + (size_t)k * nv, c[k], sum, nv);
}

void dj_linearVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                  const double* lambda, double* scratch) {
  if (lin->A) {
    outsideVjp(dx, du, lin, m, lambda);
    return;
  }
  int nv = m->nv, na = m->na, nu = m->nu;
  double *y = scratch, *src = y + DJ_MAX_STAGE * (size_t)nv;
  double *sum = src + DJ_NSOURCE * (size_t)nv, *e = sum + nv;
  memset(y, 0, (size_t)(sum - y) * sizeof(double));
  int last = lin->method->nstage - 1;
  double* ahead = src + (size_t)DJ_SOURCE_STAGE * nv;
  endVjp(src, y + (size_t)last * nv, dx, lin, m, lambda, e);
  dj_impulseLinearVjp(dx, src, ahead, 1, DJ_IMPULSE_VELOCITY, &lin->impulse, lambda + nv);
  for (int s = last; s >= 0; s--) {
    const djStageLinear* at = &lin->stage[s];
    double *z = y + (size_t)s * nv, *psi = src + (size_t)(DJ_SOURCE_STAGE + s) * nv;
    dj_pullVector(psi, m, at->psi, true);
    addScaled(z, 1, psi, nv);
    dj_solveTranspose(z, &at->factor);
    if (s > 0) dj_impulseLinearVjp(dx, src, ahead, -1, DJ_IMPULSE_RESIDUAL, &lin->impulse, z);
    addBefore(src, lin->coef.velocity[s], &at->G, z, s, nv, sum);
    addBefore(src, lin->coef.accel[s], &at->M, z, s, nv, sum);
    if (dx) {
      dj_mulMatrixT(dx, -1, &at->Rq, z);
      dj_mulEntriesT(dx + 2 * nv, -1, &at->Ra, z);
    }
    if (du) dj_mulEntriesT(du, -1, &at->Ru, z);
  }
  if (dx) {
    addScaled(dx + nv, 1, src, nv);
    historyVjp(dx, src + (size_t)DJ_SOURCE_BEFORE * nv, lin, m, lambda);
    for (int i = 0; i < na; i++) dx[2 * nv + i] += lin->act_by_act[i] * lambda[2 * nv + i];
  }
  for (int i = 0; i < nu && du; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) du[i] += lin->act_by_ctrl[i] * lambda[2 * nv + adr];
  }
  for (int i = 0; i < nu; i++) integralVjp(dx, du, lin, m, lambda, i);
  for (int i = 0; i < nu; i++) motorVjp(dx, du, lin, m, lambda, i);
}
