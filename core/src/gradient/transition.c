// Derivatives of one step, A and B, from the linearised step (integrate/linear.h).

#include "base/status.h"
#include "gradient/columns.h"
#include "integrate/parts.h"
#include "integrate/recorder.h"
#include "math/so3.h"
#include "model/motor.h"

#include <stdlib.h>
#include <string.h>

// Columns of (A | B): q, v, act, history, ctrl. Those from first to end - 1 are filled in at a
// time. Of a history they are by d and v- at first (linear.h), at the end by q- and v-.
typedef struct Slab {
  double *A, *B;   // or NULL
  int first, end, nx, nu;
} Slab;

// The part of first ... end - 1 that lies in from ... from + n - 1, as seen from there.
static bool overlap(int* lo, int* hi, int first, int end, int from, int n) {
  *lo = first > from ? first - from : 0;
  *hi = end < from + n ? end - from : n;
  return *lo < *hi;
}

// Adds exp(-psi) on rotations, identity elsewhere, to a matrix (nv x nv) of which the columns
// first ... end - 1 are given, rows `stride` apart.
static void addE(double* X, int stride, const djModel* m, const double* psi, int first, int end) {
  for (int j = 0; j < m->njnt; j++) {
    int d = m->jnt_dofadr[j], rotation = dj_rotationDof(m, j), n = rotation < 0 ? 1 : rotation - d;
    for (int i = d; i < d + n; i++) {
      if (i >= first && i < end) X[(size_t)i * stride + i - first] += 1;
    }
    if (rotation < 0) continue;
    djMat3 E = dju_quatToMat(dju_expQuat(dju_neg3(dju_load3(psi + rotation))));
    for (int k = 0; k < 9; k++) {
      int i = rotation + k / 3, c = rotation + k % 3;
      if (c >= first && c < end) X[(size_t)i * stride + c - first] += E.m[k];
    }
  }
}

// ---- solutions --------------------------------------------------------------------------------

// X (nv x width) -= f A P, P (nv x width).
static void subtractProduct(double* X, double f, const djMatrix* A, const double* P, int nv,
                            int width, double* scratch) {
  double *x = scratch, *y = x + nv;
  for (int c = 0; c < width; c++) {
    for (int r = 0; r < nv; r++) x[r] = P[(size_t)r * width + c];
    memset(y, 0, (size_t)nv * sizeof(double));
    dj_mulMatrix(y, f, A, x);
    for (int r = 0; r < nv; r++) X[(size_t)r * width + c] -= y[r];
  }
}

// The columns lo ... hi - 1 of -(f G + g M).
static void sourceColumns(double* X, int width, double f, double g, const djStageLinear* at,
                          int lo, int hi) {
  dj_columns(X, width, -f, &at->G, lo, hi);
  if (!at->M.data || g == 0) return;
  for (int c = lo; c < hi; c++) {
    int tree = at->M.blocks->block_of[c];
    for (int r = at->M.blocks->adr[tree]; r < at->M.blocks->adr[tree + 1]; r++) {
      X[(size_t)r * width + c - lo] -= g * *dj_own(&at->M, r, c);
    }
  }
}

// X (nv x width) += f times what impulses do (impulse_linear.h), by the columns first ... end - 1 and
// by the displacements of the first stage, which its X holds.
static void addImpulses(double* X, double f, int kind, djWork* w, const djModel* m,
                        const djLinear* lin, int first, int end) {
  int nv = m->nv, width = end - first;
  double *x = w->lambda, *y = x + nv, *dq = y + nv, *dv = dq + nv;
  const double* P = w->at_stage[0].X;
  for (int c = 0; c < width && lin->impulse.n; c++) {
    memset(y, 0, 3 * (size_t)nv * sizeof(double));
    if (first + c < nv) dq[first + c] = 1;
    else if (first + c < 2 * nv) dv[first + c - nv] = 1;
    for (int r = 0; r < nv; r++) x[r] = P[(size_t)r * width + c];
    dj_impulseJvp(y, f, kind, &lin->impulse, dq, dv, x);
    for (int r = 0; r < nv; r++) X[(size_t)r * width + c] += y[r];
  }
}

// X of stage s <- the columns first ... end - 1 of y; X of earlier stages hold their
// displacements'.
static void solveStage(djWork* w, const djModel* m, const djLinear* lin, int s, int first,
                       int end) {
  int nv = m->nv, na = m->na, nh = dj_historyTangent(m), width = end - first, lo, hi;
  const djStageLinear* at = &lin->stage[s];
  const double *f = lin->coef.velocity[s], *g = lin->coef.accel[s];
  double* X = w->at_stage[s].X;
  if (overlap(&lo, &hi, first, end, 0, nv)) dj_columns(X, width, -1, &at->Rq, lo, hi);
  for (int k = 0; k < 1 + nh / (nv ? nv : 1); k++) {
    int from = k == 0 ? nv : 2 * nv + na + (k - 1) * nv;
    if (!overlap(&lo, &hi, first, end, from, nv)) continue;
    sourceColumns(X + (lo + from - first), width, f[k], g[k], at, lo, hi);
  }
  const int part[2][2] = {{2 * nv, na}, {2 * nv + na + nh, m->nu}};
  const djEntries* input[2] = {&at->Ra, &at->Ru};
  for (int k = 0; k < 2; k++) {
    if (!overlap(&lo, &hi, first, end, part[k][0], part[k][1])) continue;
    double* to = X + (lo + part[k][0] - first);
    size_t bytes = (size_t)(hi - lo) * sizeof(double);
    for (int r = 0; r < nv; r++) memset(to + (size_t)r * width, 0, bytes);
    dj_addColumns(X, width, -1, input[k], part[k][0] - first);
  }
  for (int k = 0; k < s; k++) {
    const double* P = w->at_stage[k].X;
    int source = DJ_SOURCE_STAGE + k;
    if (f[source] != 0) subtractProduct(X, f[source], &at->G, P, nv, width, w->lambda);
    if (at->M.data && g[source] != 0) {
      subtractProduct(X, g[source], &at->M, P, nv, width, w->lambda);
    }
  }
  if (s > 0) addImpulses(X, -1, DJ_IMPULSE_RESIDUAL, w, m, lin, first, end);
  dj_solveMulti(X, &at->factor, width);
}

// The same of all stages; of the last one its y.
static void solveColumns(djWork* w, const djModel* m, const djLinear* lin, int first, int end) {
  int last = lin->method->nstage - 1;
  for (int s = 0; s <= last; s++) {
    solveStage(w, m, lin, s, first, end);
    if (s < last) dj_applyJrInv(w->at_stage[s].X, end - first, m, lin->stage[s].psi, 1);
  }
}

const double* dj_pointColumns(djWork* w, const djModel* m, const djLinear* lin, int first,
                              int end) {
  int last = lin->method->nstage - 1;
  double* X = w->at_stage[last].X;
  solveColumns(w, m, lin, first, end);
  addE(X, end - first, m, lin->stage[last].psi, first, end < m->nv ? end : m->nv);
  return X;
}

// ---- rows -------------------------------------------------------------------------------------

// A row of (A | B) += f times a row of X.
static void addRow(const Slab* s, int row, double f, const double* from) {
  int last = s->end < s->nx ? s->end : s->nx;
  for (int c = s->first; c < last && s->A; c++) {
    s->A[(size_t)row * s->nx + c] += f * from[c - s->first];
  }
  for (int c = s->first > s->nx ? s->first : s->nx; c < s->end && s->B; c++) {
    s->B[(size_t)row * s->nu + c - s->nx] += f * from[c - s->first];
  }
}

// Rows from `row` on += sum over sources; of those that are columns themselves once, with the first
// slab.
static void addSources(const Slab* s, int row, const double c[DJ_NSOURCE], const djWork* w,
                       const djModel* m, int nstage) {
  int nv = m->nv, width = s->end - s->first;
  for (int k = 0; k < nstage; k++) {
    double f = c[DJ_SOURCE_STAGE + k];
    const double* P = w->at_stage[k].X;
    for (int r = 0; r < nv && f != 0; r++) addRow(s, row + r, f, P + (size_t)r * width);
  }
  for (int k = 0; k < DJ_SOURCE_STAGE && s->A && s->first == 0; k++) {
    int column = k == 0 ? nv : 2 * nv + m->na + (k - 1) * nv;
    for (int r = 0; r < nv && c[k] != 0; r++) s->A[(size_t)(row + r) * s->nx + column + r] += c[k];
  }
}

// v+ by y, of the method's own velocity.
static void addVelocity(const Slab* s, const double* X, const djModel* m, const djLinear* lin) {
  const djBlocks* trees = lin->Vplus.blocks;
  int width = s->end - s->first;
  for (int r = 0; r < m->nv; r++) {
    const double* V = dj_ownRow(&lin->Vplus, r);
    int tree = trees->block_of[r];
    for (int k = trees->adr[tree]; k < trees->adr[tree + 1]; k++) {
      if (V[k] != 0) addRow(s, m->nv + r, V[k], X + (size_t)k * width);
    }
  }
}

// Rows of q+ and v+ from the solutions, but for what dq adds by itself.
static void fillSlab(const Slab* s, djWork* w, const djModel* m, const djLinear* lin) {
  int nv = m->nv, width = s->end - s->first, nstage = lin->method->nstage;
  const djCoefficients* c = &lin->coef;
  double* X = w->at_stage[nstage - 1].X;
  solveColumns(w, m, lin, s->first, s->end);
  if (!c->turns) {
    for (int r = 0; r < nv; r++) addRow(s, r, 1, X + (size_t)r * width);
  }
  if (lin->Vplus.data) addVelocity(s, X, m, lin);
  dj_applyJrInv(X, width, m, lin->stage[nstage - 1].psi, 1);
  if (c->turns) addSources(s, 0, c->position, w, m, nstage);
  addSources(s, nv, c->end, w, m, nstage);
  if (!lin->impulse.n) return;
  memset(X, 0, (size_t)nv * (size_t)width * sizeof(double));
  addImpulses(X, 1, DJ_IMPULSE_VELOCITY, w, m, lin, s->first, s->end);
  for (int r = 0; r < nv; r++) addRow(s, nv + r, 1, X + (size_t)r * width);
}

// Rows of v+ += those of V, of the trees' pattern, in the columns from `first` on.
static void addVelocityBy(double* A, int nx, int first, const djModel* m, const djMatrix* V) {
  const djBlocks* trees = V->blocks;
  for (int r = 0; r < m->nv; r++) {
    const double* row = dj_ownRow(V, r);
    int tree = trees->block_of[r];
    for (int c = trees->adr[tree]; c < trees->adr[tree + 1]; c++) {
      A[(size_t)(m->nv + r) * nx + first + c] += row[c];
    }
  }
}

// All rows but those of activations. A and B are zero at first.
static void fillRows(double* A, double* B, djWork* w, const djModel* m, const djLinear* lin) {
  int nv = m->nv, nx = dj_tangentSize(m), first = A ? 0 : nx, last = B ? nx + m->nu : nx;
  for (; first < last; first += w->nslab) {
    int end = last - first > w->nslab ? first + w->nslab : last;
    Slab s = {A, B, first, end, nx, m->nu};
    fillSlab(&s, w, m, lin);
  }
  bool turns = lin->coef.turns;
  if (turns && A) dj_applyJrRows(A, nx, m, lin->turn);
  if (turns && B) dj_applyJrRows(B, m->nu, m, lin->turn);
  if (!A) return;
  addE(A, nx, m, turns ? lin->turn : lin->stage[lin->method->nstage - 1].psi, 0, nv);
  if (lin->Vstart.data) addVelocityBy(A, nx, 0, m, &lin->Vstart);
}

static void integralRow(double* A, double* B, const djModel* m, const djLinear* lin, int i) {
  int z = m->actuator_zadr[i], act = m->actuator_actadr[i], first = 2 * m->nv;
  if (z < 0) return;
  const double* by = lin->z_by + 3 * i;
  size_t row = (size_t)(first + z);
  if (B) B[row * m->nu + i] = by[1];
  if (!A) return;
  double* to = A + row * (size_t)dj_tangentSize(m);
  to[first + z] = lin->act_by_act[z];
  if (act >= 0) to[first + act] = by[0];
  djLengthPart p = dj_lengthPart(m, i, 0);
  for (int k = 0; p.dof >= 0; p = dj_lengthPart(m, i, ++k)) to[p.dof] += by[2] * p.gear;
}

static void motorRows(double* A, double* B, const djModel* m, const djLinear* lin, int i) {
  for (djMotorEntry e = {0}; dj_nextMotorEntry(&e, lin->motor_by, m, i);) {
    double* to = e.ctrl ? B : A;
    size_t n = (size_t)(e.ctrl ? m->nu : dj_tangentSize(m));
    if (to) to[(size_t)e.row * n + (size_t)e.at] += e.value;
  }
}

static void activationRows(double* A, double* B, const djModel* m, const djLinear* lin) {
  int nx = dj_tangentSize(m);
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    integralRow(A, B, m, lin, i);
    motorRows(A, B, m, lin, i);
    if (adr < 0) continue;
    size_t row = (size_t)(2 * m->nv + adr);
    if (A) A[row * nx + 2 * m->nv + adr] = lin->act_by_act[adr];
    if (B) B[row * m->nu + i] = lin->act_by_ctrl[i];
  }
}

// A and B (or NULL) of one linearised step.
static void fillMatrices(double* A, double* B, djWork* w, const djModel* m, const djLinear* lin) {
  size_t nx = (size_t)dj_tangentSize(m);
  if (lin->A) {
    if (A) memcpy(A, lin->A, nx * nx * sizeof(double));
    if (B) memcpy(B, lin->B, nx * (size_t)m->nu * sizeof(double));
    return;
  }
  if (A) memset(A, 0, nx * nx * sizeof(double));
  if (B) memset(B, 0, nx * (size_t)m->nu * sizeof(double));
  fillRows(A, B, w, m, lin);
  dj_pullBeforeRows(A, 2 * m->nv, (int)nx, lin, m);
  size_t first = 2 * (size_t)m->nv + m->na, kept = lin->keeps ? (size_t)dj_historyTangent(m) : 0;
  for (size_t i = 0; i < kept && A; i++) A[(first + i) * nx + i] = 1;
  activationRows(A, B, m, lin);
}

// ---- steps taken in parts ---------------------------------------------------------------------

// X (nx x n) <- A X + D, D (nx x n) or NULL; Y (nx x n) scratch.
static void carry(double* X, const double* A, const double* D, size_t nx, size_t n, double* Y) {
  if (D) memcpy(Y, D, nx * n * sizeof(double));
  else memset(Y, 0, nx * n * sizeof(double));
  for (size_t r = 0; r < nx; r++) {
    for (size_t k = 0; k < nx; k++) {
      double f = A[r * nx + k];
      for (size_t c = 0; c < n && f != 0; c++) Y[r * n + c] += f * X[k * n + c];
    }
  }
  memcpy(X, Y, nx * n * sizeof(double));
}

djStatus dj_chainParts(double* A, double* B, const djModel* m, djData* d, int end) {
  djWork* w = d->work;
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  djLinear lin;
  double* memory = malloc((2 * nx * nx + 2 * nx * nu + 1) * sizeof(double));
  if (!memory) return dj_failMemory(&w->error);
  double *Ak = memory, *Y = Ak + nx * nx, *Bk = Y + nx * nx, *Z = Bk + nx * nu;
  djStatus status = dj_linearizePart(&lin, m, d, 0);
  if (status == DJ_OK) fillMatrices(A, B, w, m, &lin);
  for (int k = 1; k < end && status == DJ_OK; k++) {
    status = dj_linearizePart(&lin, m, d, k);
    if (status != DJ_OK) break;
    fillMatrices(Ak, B ? Bk : NULL, w, m, &lin);
    if (A) carry(A, Ak, NULL, nx, nx, Y);
    if (B) carry(B, Ak, Bk, nx, nu, Z);
  }
  free(memory);
  return status;
}

static void partsJvp(double* dx_next, const djModel* m, djData* d, const double* dx,
                     const double* du) {
  djWork* w = d->work;
  size_t nx = (size_t)dj_tangentSize(m);
  double *from = w->tangent, *to = from + nx;
  for (int k = 0; k < w->npart; k++) {
    dj_linearJvp(to, w->part[k].linear, m, k > 0 ? from : dx, du, w->lambda);
    memcpy(from, to, nx * sizeof(double));
  }
  memcpy(dx_next, from, nx * sizeof(double));
}

static void partsVjp(double* dx, double* du, const djModel* m, djData* d, const double* lambda) {
  djWork* w = d->work;
  size_t nx = (size_t)dj_tangentSize(m);
  double *from = w->tangent, *to = from + nx;
  memcpy(from, lambda, nx * sizeof(double));
  for (int k = w->npart - 1; k >= 0; k--) {
    memset(to, 0, nx * sizeof(double));
    dj_linearVjp(to, du, w->part[k].linear, m, from, w->lambda);
    memcpy(from, to, nx * sizeof(double));
  }
  for (size_t i = 0; i < nx && dx; i++) dx[i] += from[i];
}

// ---- calls ------------------------------------------------------------------------------------

static djStatus lastTransition(const djModel* m, djData* d, double* A, double* B) {
  djLinear lin;
  if (d->work->npart > 1) return dj_chainParts(A, B, m, d, d->work->npart);
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status == DJ_OK) fillMatrices(A, B, d->work, m, &lin);
  return status;
}

djStatus djd_lastTransition(const djModel* m, djData* d, double* A, double* B) {
  if (!m || !d) return DJ_INVALID;
  dj_beginCall(m, d, DJ_CALL_LAST_TRANSITION);
  djStatus status = lastTransition(m, d, A, B);
  return dj_endCall(m, d, DJ_CALL_LAST_TRANSITION, (djCallEnd){status, A, B});
}

static djStatus transition(const djModel* m, djData* d, double* A, double* B) {
  djStats before = d->stats;
  djStatus status = dj_takeStep(m, d);
  d->stats = before;
  if (status < 0) return status;
  if (d->work->npart > 1) dj_leaveParts(m, d);
  djStatus gradient = lastTransition(m, d, A, B);
  return gradient != DJ_OK ? gradient : status;
}

djStatus djd_transition(const djModel* m, djData* d, double* A, double* B) {
  if (!m || !d) return DJ_INVALID;
  dj_beginCall(m, d, DJ_CALL_TRANSITION);
  djStatus status = transition(m, d, A, B);
  return dj_endCall(m, d, DJ_CALL_TRANSITION, (djCallEnd){status, A, B});
}

djStatus djd_stepJvp(const djModel* m, djData* d, double* dx_next, const double* dx,
                     const double* du) {
  if (!m || !d || !dx_next) return DJ_INVALID;
  djLinear lin;
  if (d->work->npart > 1) {
    djStatus parts = dj_linearizeParts(m, d);
    if (parts == DJ_OK) partsJvp(dx_next, m, d, dx, du);
    return parts;
  }
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status == DJ_OK) dj_linearJvp(dx_next, &lin, m, dx, du, d->work->lambda);
  return status;
}

djStatus djd_stepVjp(const djModel* m, djData* d, double* dx, double* du, const double* lambda) {
  if (!m || !d || !lambda) return DJ_INVALID;
  djLinear lin;
  if (d->work->npart > 1) {
    djStatus parts = dj_linearizeParts(m, d);
    if (parts == DJ_OK) partsVjp(dx, du, m, d, lambda);
    return parts;
  }
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status == DJ_OK) dj_linearVjp(dx, du, &lin, m, lambda, d->work->lambda);
  return status;
}
