#include "gradient/param_gradient.h"

#include "base/arena.h"
#include "base/status.h"
#include "math/block_matrix.h"
#include "contact/pairs/shape_grad.h"
#include "inertia/geom_inertia.h"
#include "integrate/impulse.h"
#include "integrate/outside.h"
#include "integrate/parts.h"
#include "model/body_param.h"
#include "model/check.h"
#include "model/motor.h"
#include "model/param.h"

#include <dijoco/gradient.h>

#include <stdlib.h>
#include <string.h>

static void layout(djParamSums* s, void** shapes, djArena* a, const djModel* m) {
  size_t n = 6 * (size_t)m->nbody, d = sizeof(double);
  s->param = dj_take(a, dj_paramGradSize(m), d);
  s->tensor = dj_take(a, n, d);
  s->moment = dj_take(a, m->nbody, sizeof *s->moment);
  s->x = dj_take(a, n, d);
  s->W = dj_take(a, n, d);
  s->C = dj_take(a, n, d);
  s->C0 = dj_take(a, n, d);
  s->Crate = dj_take(a, n, d);
  s->Cpast = dj_take(a, n, d);
  s->Cback = dj_take(a, n, d);
  s->zeta = dj_take(a, m->nv, d);
  s->of_body = dj_take(a, m->nbody, 1);
  *shapes = dj_take(a, m->collision ? dj_shapeGradSize(m) : 0, 1);
}

// Whatever the hulls of its meshes are: those of a changed design may have other vertices.
size_t dj_paramSumsSize(const djModel* m) {
  djParamSums s;
  void* shapes;
  djArena a = {NULL, 0};
  layout(&s, &shapes, &a, m);
  return a.used + (m->collision ? dj_shapeGradBound(m) - dj_shapeGradSize(m) : 0);
}

void dj_initParamSums(djParamSums* s, void* memory, const djModel* m) {
  void* shapes;
  djArena a = {memory, 0};
  layout(s, &shapes, &a, m);
  memset(s->param, 0, dj_paramGradSize(m) * sizeof(double));
  memset(s->tensor, 0, 6 * (size_t)m->nbody * sizeof(double));
  s->shape = m->collision ? dj_initShapeGrads(shapes, m) : NULL;
  s->nfield = 0;
  s->wants = DJ_BY_ALL;
  memset(s->of_body, DJ_BY_ALL, (size_t)m->nbody);
}

// What belongs to no body may concern all of them: gravity, and shapes of which inertias are.
void dj_askParams(djParamSums* s, const djModel* m, int n, const djParam* param, bool follows) {
  int common = 0;
  s->wants = 0;
  memset(s->of_body, 0, (size_t)m->nbody);
  for (int k = 0; k < n; k++) {
    int body = dj_paramBody(m, &param[k]), changes = dj_paramChanges(&param[k]);
    if (follows && dj_paramMovesShapes(&param[k])) changes |= DJ_BY_INERTIA;
    if (dj_paramMovesPaths(m, &param[k])) changes |= DJ_BY_SITE;
    s->wants |= changes;
    if (body >= 0) s->of_body[body] |= (unsigned char)changes;
    else common |= changes;
  }
  for (int b = 0; b < m->nbody; b++) s->of_body[b] |= (unsigned char)common;
}

// The stage's configuration: the step's end, where that is the last one's; else from its
// displacement.
static const double* stageEnd(djWork* w, const djModel* m, const djData* d, const djLinear* lin,
                              int k, const double* qpos) {
  if (k == lin->method->nstage - 1 && !lin->coef.turns) return qpos;
  dj_integratePos(w->at_stage[k].q, m, d->qpos, lin->stage[k].psi, 1);
  return w->at_stage[k].q;
}

// Of integrals, whose lengths are gear times coordinates; lambda (na): of activations.
static void integralParams(djParamSums* s, const djModel* m, const djData* d, const djLinear* lin,
                           const double* lambda) {
  double* gear = dj_paramBlock(s->param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int i = 0; i < m->nu; i++) {
    int z = m->actuator_zadr[i];
    if (z < 0 || m->actuator_gear[6 * i] == 0) continue;
    double x = dj_plainLength(m, d->qpos, i) / m->actuator_gear[6 * i];
    gear[6 * i] += lambda[z] * lin->z_by[3 * i + 2] * x;
  }
}

// Of the states of motors; d: the start.
static void motorParams(djParamSums* s, const djModel* m, const djData* d, const double* lambda) {
  if (!dj_motorsHaveStates(m)) return;
  const djWork* w = d->work;
  djMotorOut out = {dj_paramBlock(s->param, m, DJ_FIELD_ACTUATOR_GAINPRM),
                    dj_paramBlock(s->param, m, DJ_FIELD_ACTUATOR_BIASPRM),
                    dj_paramBlock(s->param, m, DJ_FIELD_ACTUATOR_MOTORPRM)};
  double* gear = dj_paramBlock(s->param, m, DJ_FIELD_ACTUATOR_GEAR);
  for (int i = 0; i < m->nu; i++) {
    const int* adr = m->actuator_motoradr + DJ_NMOTORSTATE * i;
    djMotor motor;
    if (adr[0] < 0 && adr[1] < 0 && adr[2] < 0) continue;
    dj_evalMotorAt(&motor, m, d, i, w->h, dj_inputsOf(w));
    double l = dj_plainLength(m, d->qpos, i), rate = dj_plainRate(m, d->qvel, i);
    for (int k = 0; k < DJ_NMOTORSTATE; k++) {
      if (adr[k] < 0) continue;
      const djMotorNumber* next = &motor.next[k];
      double f = lambda[adr[k]], g = m->actuator_gear[6 * i];
      dj_addMotorParams(&out, &motor, next, f, i);
      if (g == 0) continue;
      gear[6 * i] += f * (next->d[DJ_MOTOR_BY_LENGTH] * l + next->d[DJ_MOTOR_BY_RATE] * rate) / g;
    }
  }
}

static djStatus addStepParams(djParamSums* s, const djModel* m, djData* d, const djLinear* lin,
                              const double* qpos, double* z, const double* lambda) {
  const djMethod* method = lin->method;
  const double* psi[DJ_MAX_STAGE];
  for (int k = 0; k < method->nstage; k++) psi[k] = lin->stage[k].psi;
  for (int k = 0; k < method->nstage; k++) {
    double* zk = z + (size_t)k * m->nv;
    const double* q = stageEnd(d->work, m, d, lin, k, qpos);
    djStatus status = dj_replayStep(m, d, method, k, q, psi);
    if (status < 0) return status;
    for (int i = 0; i < m->nv; i++) zk[i] = -zk[i];
    status = method->params(s, d->work, m, zk);
    if (status < 0) return status;
  }
  djStatus status = DJ_OK;
  if (s->wants & DJ_BY_LAW) integralParams(s, m, d, lin, lambda + m->nv);
  if (s->wants & DJ_BY_LAW) motorParams(s, m, d, lambda + m->nv);
  if (method->velocityParams) status = method->velocityParams(s, d->work, m, lambda);
  if (status < 0 || !lin->impulse.n) return status;
  return dj_impulseParams(s, d->work, m, z + (size_t)(method->nstage - 1) * m->nv, lambda);
}

djStatus dj_addStepParams(djParamSums* s, const djModel* m, djData* d, const djLinear* lin,
                          const double* qpos, double* z, const double* lambda) {
  djContacts* contacts = dj_contactsOf(&d->work->forces);
  dj_differentiateContacts(contacts, m, true);
  djStatus status = addStepParams(s, m, d, lin, qpos, z, lambda);
  dj_differentiateContacts(contacts, m, false);
  return status;
}

djStatus dj_finishParams(djParamSums* s, const djModel* m, const djModel* compiled) {
  const bool shapes = m->collision && s->wants & DJ_BY_SHAPE;
  for (int i = 0; shapes && i < m->collision->nshape; i++) {
    djStatus status = dj_shapeParams(s->param, m, i, &s->shape[i]);
    if (status < 0) return status;
  }
  djStatus status = DJ_OK;
  if (compiled) status = dj_followInertiaParams(s->param, s->tensor, s->moment, m, compiled);
  dj_tensorParams(s->param, m, s->tensor);
  return status;
}

void dj_pickParams(double* grad, const djParamSums* s, const djModel* m, int n,
                   const djParam* param) {
  for (int i = 0; i < n; i++) {
    const double* from = dj_paramEntry(s->param, m, (djField)param[i].field, param[i].id);
    memcpy(grad, from, (size_t)param[i].ntangent * sizeof(double));
    grad += param[i].ntangent;
  }
}

// Friction of some kernels stays as it is while shapes change.
static djStatus checkShapes(const djModel* m, int n, const djParam* param, djError* err) {
  int pair[2], k = 0;
  while (k < n && !dj_paramMovesShapes(&param[k])) k++;
  if (k == n || !dj_frictionKeepsShapes(pair, m)) return DJ_OK;
  char name[300];
  djElementText geom[2];
  for (int i = 0; i < 2; i++) {
    geom[i] = dj_elementText("geom", dj_id2name(m, DJ_OBJ_GEOM, pair[i]), pair[i]);
  }
  return dj_fail(err, DJ_UNSUPPORTED, "%s: friction of %s and %s has no derivatives by shapes",
                 dj_paramName(name, sizeof name, m, &param[k]), geom[0].text, geom[1].text);
}

djStatus dj_checkOutsideParams(const djModel* m, int n, const djParam* param, bool follows,
                               djError* err) {
  const djStatus status = checkShapes(m, n, param, err);
  if (status < 0) return status;
  if (!dj_isOutside(m) || n == 0) return DJ_OK;
  if (follows) {
    return dj_fail(err, DJ_UNSUPPORTED, "inertia_from_geom: no derivatives under contact mujoco");
  }
  if (m->physics->vjp && m->physics->ask) return DJ_OK;
  char name[300];
  return dj_fail(err, DJ_UNSUPPORTED,
                 "%s: parameters are not differentiable through MuJoCo's physics yet",
                 dj_paramName(name, sizeof name, m, param));
}

// ---- one step -----------------------------------------------------------------------------------

// Derivatives of one step by parameters: rows of np numbers.
typedef struct Rows {
  const djLinear* lin;
  const djModel* m;
  djData* d;
  int nparam, np;
  const djParam* param;
  void* memory;                // for sums
  double* psi[DJ_MAX_STAGE];   // (nv x np) of the displacement of each stage
  double* own;                 // (np) scratch
} Rows;

static void openSums(djParamSums* sums, const Rows* r) {
  dj_initParamSums(sums, r->memory, r->m);
  dj_askParams(sums, r->m, r->nparam, r->param, false);
}

static djStatus closeSums(double* row, djParamSums* sums, const Rows* r, djStatus status) {
  if (status >= 0) status = dj_finishParams(sums, r->m, NULL);
  if (status >= 0) dj_pickParams(row, sums, r->m, r->nparam, r->param);
  return status;
}

// Row i of y is -z . dr/dparameters with z = H^-T e_i.
static djStatus residualRows(double* Y, const Rows* r, int stage) {
  int nv = r->m->nv;
  double* z = r->d->work->lambda;
  for (int i = 0; i < nv; i++) {
    djParamSums sums;
    openSums(&sums, r);
    memset(z, 0, (size_t)nv * sizeof(double));
    z[i] = -1;
    dj_solveTranspose(z, &r->lin->stage[stage].factor);
    djStatus status = r->lin->method->params(&sums, r->d->work, r->m, z);
    status = closeSums(Y + (size_t)i * (size_t)r->np, &sums, r, status);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// Y -= H^-1 (f A) P, column by column.
static void subtractSource(double* Y, double f, const djMatrix* A, const double* P, const Rows* r,
                           int stage) {
  int nv = r->m->nv;
  double *x = r->d->work->lambda, *y = x + nv;
  for (int c = 0; c < r->np && f != 0 && A->data; c++) {
    for (int i = 0; i < nv; i++) x[i] = P[(size_t)i * (size_t)r->np + c];
    memset(y, 0, (size_t)nv * sizeof(double));
    dj_mulMatrix(y, f, A, x);
    dj_solve(y, &r->lin->stage[stage].factor);
    for (int i = 0; i < nv; i++) Y[(size_t)i * (size_t)r->np + c] -= y[i];
  }
}

// r->psi of a stage, by way of its y, which Y (or NULL) receives.
static djStatus stageRows(double* Y, const Rows* r, int stage) {
  const djLinear* lin = r->lin;
  double* P = r->psi[stage];
  if (lin->method->nstage > 1) {
    djStatus status = dj_reopenStage(r->d->work, r->m, stage);
    if (status < 0) return status;
  }
  djStatus status = residualRows(P, r, stage);
  if (status < 0) return status;
  for (int k = 0; k < stage; k++) {
    int source = DJ_SOURCE_STAGE + k;
    subtractSource(P, lin->coef.velocity[stage][source], &lin->stage[stage].G, r->psi[k], r, stage);
    subtractSource(P, lin->coef.accel[stage][source], &lin->stage[stage].M, r->psi[k], r, stage);
  }
  size_t n = (size_t)r->m->nv * (size_t)r->np;
  if (Y) memcpy(Y, P, n * sizeof(double));
  dj_applyJrInv(P, r->np, r->m, lin->stage[stage].psi, 1);
  return DJ_OK;
}

// To row i of dv+/dparameters: at fixed q+, and what y adds; of a velocity that is not by
// coefficients alone.
static djStatus velocityRows(double* V, const double* Y, const Rows* r) {
  int nv = r->m->nv;
  double* l = r->d->work->lambda;
  for (int i = 0; i < nv; i++) {
    djParamSums sums;
    openSums(&sums, r);
    memset(l, 0, 2 * (size_t)nv * sizeof(double));
    l[i] = 1;
    double* row = V + (size_t)i * (size_t)r->np;
    djStatus status = r->lin->method->velocityParams(&sums, r->d->work, r->m, l);
    status = closeSums(r->own, &sums, r, status);
    if (status < 0) return status;
    for (int c = 0; c < r->np; c++) row[c] += r->own[c];
    double* y = l + nv;   // row i of Vplus
    dj_mulMatrixT(y, 1, &r->lin->Vplus, l);
    for (int k = 0; k < nv; k++) {
      for (int c = 0; c < r->np; c++) row[c] += y[k] * Y[(size_t)k * (size_t)r->np + c];
    }
  }
  return DJ_OK;
}

static void sumRows(double* out, const double c[DJ_NSOURCE], const Rows* r) {
  size_t n = (size_t)r->m->nv * (size_t)r->np;
  memset(out, 0, n * sizeof(double));
  for (int k = 0; k < r->lin->method->nstage; k++) {
    double f = c[DJ_SOURCE_STAGE + k];
    for (size_t i = 0; i < n && f != 0; i++) out[i] += f * r->psi[k][i];
  }
}

// Rows of q+ and v+ of a step with impulses, one by one.
static djStatus impactRows(double* P, const Rows* r) {
  djWork* w = r->d->work;
  const djMethod* method = r->lin->method;
  size_t nv = r->m->nv, nx = (size_t)dj_tangentSize(r->m);
  double *lambda = w->tangent, *z = w->lambda;
  djStatus status = DJ_OK;
  for (size_t i = 0; i < 2 * nv && status >= 0; i++) {
    djParamSums sums;
    openSums(&sums, r);
    memset(lambda, 0, 2 * nx * sizeof(double));
    lambda[i] = 1;
    dj_linearVjp(lambda + nx, NULL, r->lin, r->m, lambda, z);
    for (size_t k = 0; k < (size_t)method->nstage * nv; k++) z[k] = -z[k];
    for (int k = 0; k < method->nstage && status >= 0; k++) {
      status = dj_reopenStage(w, r->m, k);
      if (status >= 0) status = method->params(&sums, w, r->m, z + (size_t)k * nv);
    }
    if (status >= 0) status = method->velocityParams(&sums, w, r->m, lambda + nv);
    const double* last = z + (size_t)(method->nstage - 1) * nv;
    if (status >= 0) status = dj_impulseParams(&sums, w, r->m, last, lambda + nv);
    status = closeSums(P + i * (size_t)r->np, &sums, r, status);
  }
  return status;
}

// Activations and the history do not depend on parameters.
static djStatus fillRows(double* P, const Rows* r) {
  const djLinear* lin = r->lin;
  int nv = r->m->nv, last = lin->method->nstage - 1;
  size_t half = (size_t)nv * (size_t)r->np, np = (size_t)r->np;
  double* V = P + half;
  memset(V + half, 0, ((size_t)dj_tangentSize(r->m) * np - 2 * half) * sizeof(double));
  if (lin->impulse.n) return impactRows(P, r);
  for (int k = 0; k <= last; k++) {
    djStatus status = stageRows(k == last ? P : NULL, r, k);
    if (status < 0) return status;
  }
  if (lin->coef.turns) {
    sumRows(P, lin->coef.position, r);
    dj_applyJrRows(P, r->np, r->m, lin->turn);
  }
  sumRows(V, lin->coef.end, r);
  if (!lin->Vplus.data) return DJ_OK;
  return velocityRows(V, P, r);
}

static djStatus checkParams(const djModel* m, djData* d, const double* P, int nparam,
                            const djParam* param) {
  djError* err = &d->work->error;
  if (!P || nparam < 0 || (nparam > 0 && !param)) return dj_fail(err, DJ_INVALID, "P: missing");
  djStatus status = dj_checkParams(m, nparam, param, err);
  return status < 0 ? status : dj_checkOutsideParams(m, nparam, param, false, err);
}

// P (nx x np) of a step of physics from outside, row by row.
static djStatus outsideParams(double* P, const djModel* m, djData* d, int nparam,
                              const djParam* param) {
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  size_t nx = (size_t)dj_tangentSize(m), np = 0;
  double* lambda = d->work->tangent;
  for (int i = 0; i < nparam; i++) np += (size_t)param[i].ntangent;
  memset(P, 0, nx * np * sizeof(double));
  for (size_t i = 0; i < nx && status >= 0; i++) {
    memset(lambda, 0, nx * sizeof(double));
    lambda[i] = 1;
    status = dj_askOutside(m, d, nparam, param);
    if (status >= 0) status = dj_lastOutsideVjp(NULL, NULL, m, d, lambda);
    if (status >= 0) status = dj_answerOutside(P + i * np, m, d, nparam, param);
  }
  return status;
}

// P (nx x np) of the step that data's workspace holds; memory for it is found here.
static djStatus stepParams(double* P, const djModel* m, djData* d, int nparam,
                           const djParam* param) {
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  Rows r = {.lin = &lin, .m = m, .d = d, .nparam = nparam, .param = param};
  for (int i = 0; i < nparam; i++) r.np += param[i].ntangent;
  size_t sums = (dj_paramSumsSize(m) + DJ_ALIGN) / DJ_ALIGN * DJ_ALIGN;
  size_t n = (size_t)m->nv * (size_t)r.np;
  size_t bytes = sums + DJ_ALIGN + (n * (size_t)lin.method->nstage + r.np) * sizeof(double);
  unsigned char* buffer = malloc(bytes);
  if (!buffer) return dj_failMemory(&d->work->error);
  r.memory = buffer + DJ_ALIGN - (uintptr_t)buffer % DJ_ALIGN;
  double* rest = (double*)(void*)((unsigned char*)r.memory + sums);
  for (int k = 0; k < lin.method->nstage; k++) r.psi[k] = rest + (size_t)k * n;
  r.own = rest + (size_t)lin.method->nstage * n;
  status = fillRows(P, &r);
  free(buffer);
  return status < 0 ? status : DJ_OK;
}

// P <- A P + D, all (nx x np), A of a part.
static void carryColumns(double* P, const double* D, const djLinear* lin, const djModel* m,
                         size_t np, djWork* w) {
  size_t nx = (size_t)dj_tangentSize(m);
  double *x = w->tangent, *y = x + nx;
  for (size_t c = 0; c < np; c++) {
    for (size_t r = 0; r < nx; r++) x[r] = P[r * np + c];
    dj_linearJvp(y, lin, m, x, NULL, w->lambda);
    for (size_t r = 0; r < nx; r++) P[r * np + c] = y[r] + D[r * np + c];
  }
}

// The same of a step taken in parts.
static djStatus partsParams(double* P, const djModel* m, djData* d, int nparam,
                            const djParam* param) {
  djWork* w = d->work;
  int n = w->npart;
  size_t np = 0;
  djStatus status = dj_linearizeParts(m, d);
  if (status != DJ_OK) return status;
  for (int i = 0; i < nparam; i++) np += (size_t)param[i].ntangent;
  size_t size = (size_t)dj_tangentSize(m) * np;
  double* own = malloc((size + 1) * sizeof(double));
  if (!own) return dj_failMemory(&w->error);
  memset(P, 0, size * sizeof(double));
  dj_savePlace(m, d);
  w->parts = n;
  for (int k = 0; k < n && status == DJ_OK; k++) {
    status = dj_openPart(m, d, k);
    if (status == DJ_OK) status = stepParams(own, m, d, nparam, param);
    if (status == DJ_OK) carryColumns(P, own, w->part[k].linear, m, np, w);
  }
  dj_returnToPlace(m, d, n);
  free(own);
  return status;
}

djStatus djd_lastParams(const djModel* m, djData* d, double* P, int nparam,
                        const djParam* param) {
  if (!m || !d) return DJ_INVALID;
  djStatus status = checkParams(m, d, P, nparam, param);
  if (status != DJ_OK) return status;
  bool parts = d->work->npart > 1;
  if (dj_isOutside(m)) return outsideParams(P, m, d, nparam, param);
  return parts ? partsParams(P, m, d, nparam, param) : stepParams(P, m, d, nparam, param);
}
