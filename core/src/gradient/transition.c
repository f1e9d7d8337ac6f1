// Derivatives of one step by the implicit function theorem.
//
// With the residual r(q+, q, v, act, u) = 0 and H = dr/dq+ (unshifted, exact),
//   dq+ = -H^-1 (r_q dq + r_v dv + r_a da + r_u du).
// v+ = log(q^-1 q+)/h on rotations, so with J_r = J_r(h v+) and E = exp(-h v+) there (identities
// elsewhere) dv+ = J_r^-1 (dq+ - E dq)/h. For dv+/dq this is formed as
//   -J_r^-1 H^-1 (r_q + H E)/h,   dq+/dq = -H^-1 (r_q + H E) + E:
// subtracting E after the solve would lose a factor 1/h. Integrators with another velocity give
// dv+ = Vplus (dq+ - E dq) + Vstart dq in place of J_r^-1/h and 0.

#include "base/status.h"
#include "gradient/linear.h"
#include "math/block_matrix.h"

#include <math.h>
#include <string.h>

static djLinear viewLinear(djWork* w) {
  bool own = w->row && w->row->velocity;   // velocities have derivatives of their own
  return (djLinear){.row = w->row,
                    .factor = w->factor,
                    .Rq = w->Rq,
                    .Rv = w->Rv,
                    .Ra = w->Ra,
                    .Ru = w->Ru,
                    .trees = w->trees.blocks,
                    .Vplus = own ? w->Vplus : NULL,
                    .Vstart = own ? w->Vstart : NULL,
                    .vnext = w->vnext,
                    .act_by_act = w->act_by_act,
                    .act_by_ctrl = w->act_by_ctrl};
}

size_t dj_maxLinearSize(const djModel* m) {
  size_t nv = m->nv, na = m->na, nu = m->nu;
  size_t blocks = dj_maxBlocksSize(dj_treeRanges(NULL, m)) / sizeof(double);
  size_t size = dj_factorSize(m->nv) + 2 * nv * nv + nv * (na + nu + 1) + na + nu + blocks;
  const djIntegratorRow* row = dj_integratorRow(m->opt.integrator);
  return row && row->velocity ? size + 2 * nv * nv + blocks : size;
}

static double* copyTo(double** to, const double* from, size_t n) {
  double* dest = *to;
  memcpy(dest, from, n * sizeof(double));
  *to += n;
  return dest;
}

size_t dj_copyLinear(djLinear* dest, double* memory, const djModel* m, const djLinear* src) {
  const djBlocks* blocks = &src->factor.blocks;
  size_t nv = m->nv, na = m->na, nu = m->nu, packed = dj_packedSize(blocks);
  double* p = memory;
  dest->row = src->row;
  dest->factor = src->factor;
  dj_copyBlocks(&dest->factor.blocks, p, blocks);
  p += dj_blocksSize(blocks) / sizeof(double);
  dest->factor.data = copyTo(&p, src->factor.data, dj_usedFactor(&src->factor));
  dest->Rq = copyTo(&p, src->Rq, packed);
  dest->Rv = copyTo(&p, src->Rv, packed);
  dest->Ra = copyTo(&p, src->Ra, nv * na);
  dest->Ru = copyTo(&p, src->Ru, nv * nu);
  dest->vnext = copyTo(&p, src->vnext, nv);
  dest->act_by_act = copyTo(&p, src->act_by_act, na);
  dest->act_by_ctrl = copyTo(&p, src->act_by_ctrl, nu);
  dest->Vplus = dest->Vstart = NULL;
  if (src->Vplus) {
    dj_copyBlocks(&dest->trees, p, &src->trees);
    p += dj_blocksSize(&src->trees) / sizeof(double);
    dest->Vplus = copyTo(&p, src->Vplus, dj_packedSize(&src->trees));
    dest->Vstart = copyTo(&p, src->Vstart, dj_packedSize(&src->trees));
  }
  return (size_t)(p - memory);
}

static void linearizeActivations(djWork* w, const djModel* m) {
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    w->act_by_ctrl[i] = 0;
    if (adr < 0) continue;
    dj_activationDerivative(&w->act_by_act[adr], &w->act_by_ctrl[i], m, &w->start, i);
  }
}

djStatus dj_linearizeStep(djLinear* linear, const djModel* m, djData* d) {
  djWork* w = d->work;
  *linear = viewLinear(w);
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (!w->stepped) {
    return dj_fail(&w->error, DJ_INVALID, "no step has been taken since the state was set");
  }
  if (w->linearized) return DJ_OK;
  const djIntegratorRow* row = w->row;
  dj_motionSubspace(&w->now, m, w->ref);
  double value;
  bool cautious = false;
  status = row->evaluate(&value, w->gradient, w, m, &w->now, w->q, &cautious);
  if (status < 0) return status;
  const djBlocks* blocks = &w->pattern.blocks;
  linear->factor = w->factor;
  if (!dj_factor(&w->factor, w->H, NULL)) {
    return dj_fail(&w->error, DJ_SINGULAR, "dr/dq+ is not positive definite at the solution");
  }
  status = row->linearize(w, m);
  if (status < 0) return status;
  // Rq <- Rq + H E, needed in this form by every product.
  if (row->kind == DJ_LDL) dj_mirrorBlocks(w->X, w->H, blocks);
  else dj_copyMatrixBlocks(w->X, w->H, blocks);
  dj_differentiatePos(w->vnext, m, w->h, w->start.qpos, w->q);
  dj_applyEBlocks(w->X, blocks, m, w->vnext, -w->h);
  dj_addBlocks(w->Rq, w->X, blocks);
  dj_packBlocks(w->Rq, w->Rq, blocks);
  dj_packBlocks(w->Rv, w->Rv, blocks);
  if (row->linearizeVelocity) {
    status = row->linearizeVelocity(w, m);
    if (status < 0) return status;
  }
  linear->trees = w->trees.blocks;
  linearizeActivations(w, m);
  w->linearized = true;
  return DJ_OK;
}

// E (nv x nv) = exp(-h v+) on rotations, identity elsewhere.
static void identityE(double* E, const djModel* m, const djWork* w) {
  memset(E, 0, (size_t)m->nv * m->nv * sizeof(double));
  for (int i = 0; i < m->nv; i++) E[(size_t)i * m->nv + i] = 1;
  dj_applyE(E, m->nv, m, w->vnext, -w->h);
}

// X (nv x (2 nv + na + nu)) <- -H^-1 (Rq + H E | Rv | Ra | Ru).
static void solveAll(djWork* w, const djModel* m) {
  int nv = m->nv, na = m->na, nu = m->nu, nc = 2 * nv + na + nu;
  dj_unpackBlocks(w->X, nc, -1, w->Rq, &w->pattern.blocks);
  dj_unpackBlocks(w->X + nv, nc, -1, w->Rv, &w->pattern.blocks);
  for (int r = 0; r < nv; r++) {
    double* row = w->X + (size_t)r * nc;
    for (int c = 0; c < na; c++) row[2 * nv + c] = -w->Ra[(size_t)r * na + c];
    for (int c = 0; c < nu; c++) row[2 * nv + na + c] = -w->Ru[(size_t)r * nu + c];
  }
  dj_solveMulti(w->X, &w->factor, nc);
}

void dj_endColumns(djWork* w, const djModel* m) {
  int nv = m->nv, nc = 2 * nv + m->na + m->nu;
  solveAll(w, m);
  identityE(w->H, m, w);
  for (int r = 0; r < nv; r++) {
    for (int c = 0; c < nv; c++) w->X[(size_t)r * nc + c] += w->H[(size_t)r * nv + c];
  }
}

static void activationRows(double* A, double* B, const djModel* m, const djLinear* lin) {
  int nx = 2 * m->nv + m->na;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    if (adr < 0) continue;
    size_t row = (size_t)(2 * m->nv + adr);
    if (A) A[row * nx + 2 * m->nv + adr] = lin->act_by_act[adr];
    if (B) B[row * m->nu + i] = lin->act_by_ctrl[i];
  }
}

// One row of A and B: f times a row of X, added.
static void addRow(double* A, double* B, const djModel* m, int row, double f, const double* from) {
  int nx = 2 * m->nv + m->na;
  for (int c = 0; c < nx && A; c++) A[(size_t)row * nx + c] += f * from[c];
  for (int c = 0; c < m->nu && B; c++) B[(size_t)row * m->nu + c] += f * from[nx + c];
}

// Rows of v+ from the solutions X and dq. w->H is scratch.
static void fillVelocityRows(double* A, double* B, djWork* w, const djModel* m,
                             const djLinear* lin) {
  int nv = m->nv, nx = 2 * nv + m->na, nc = nx + m->nu;
  double* V = w->H;
  dj_unpackBlocks(V, nv, 1, lin->Vplus, &lin->trees);
  for (int r = 0; r < nv; r++) {
    for (int k = 0; k < nv; k++) {
      double f = V[(size_t)r * nv + k];
      if (f != 0) addRow(A, B, m, nv + r, f, w->X + (size_t)k * nc);
    }
  }
  if (!A) return;
  dj_unpackBlocks(V, nv, 1, lin->Vstart, &lin->trees);
  for (int r = 0; r < nv; r++) {
    for (int c = 0; c < nv; c++) A[(size_t)(nv + r) * nx + c] += V[(size_t)r * nv + c];
  }
}

// Rows of q+ and v+ from the solutions X; then E is added to dq+/dq. A and B are zero at first.
static void fillRows(double* A, double* B, djWork* w, const djModel* m, const djLinear* lin) {
  int nv = m->nv, na = m->na, nu = m->nu, nx = 2 * nv + na, nc = nx + nu;
  for (int r = 0; r < nv; r++) addRow(A, B, m, r, 1, w->X + (size_t)r * nc);
  if (lin->Vplus) {
    fillVelocityRows(A, B, w, m, lin);
  } else {
    dj_applyJrInv(w->X, nc, m, w->vnext, w->h);
    for (int r = 0; r < nv; r++) addRow(A, B, m, nv + r, 1 / w->h, w->X + (size_t)r * nc);
  }
  if (!A) return;
  identityE(w->H, m, w);   // H is not needed any more: its factor is kept
  for (int r = 0; r < nv; r++) {
    for (int c = 0; c < nv; c++) A[(size_t)r * nx + c] += w->H[(size_t)r * nv + c];
  }
}

djStatus djd_lastTransition(const djModel* m, djData* d, double* A, double* B) {
  if (!m || !d) return DJ_INVALID;
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  djWork* w = d->work;
  size_t nx = 2 * (size_t)m->nv + m->na;
  if (A) memset(A, 0, nx * nx * sizeof(double));
  if (B) memset(B, 0, nx * (size_t)m->nu * sizeof(double));
  solveAll(w, m);
  fillRows(A, B, w, m, &lin);
  activationRows(A, B, m, &lin);
  return DJ_OK;
}

djStatus djd_transition(const djModel* m, djData* d, double* A, double* B) {
  if (!m || !d) return DJ_INVALID;
  djStats before = d->stats;
  djStatus status = dj_solveStep(m, d);
  d->stats = before;
  if (status < 0) return status;
  djStatus gradient = djd_lastTransition(m, d, A, B);
  return gradient != DJ_OK ? gradient : status;
}

// ---- vector products --------------------------------------------------------------------------

// y <- B y for rotational blocks of a vector (nv): E, its transpose, J_r^-1 or its transpose.
static void rotate(double* y, const djModel* m, const djLinear* lin, bool inverse_jacobian,
                   bool transpose) {
  for (int j = 0; j < m->njnt; j++) {
    int d = dj_rotationDof(m, j);
    if (d < 0) continue;
    djVec3 phi = dju_scale3(m->opt.timestep, dju_load3(lin->vnext + d));
    djMat3 B = inverse_jacobian ? dju_rightJacobianInv(phi)
                                : dju_quatToMat(dju_expQuat(dju_neg3(phi)));
    djVec3 v = dju_load3(y + d);
    dju_store3(y + d, transpose ? dju_mulMtV(B, v) : dju_mulMV(B, v));
  }
}

// dv (nv): derivative of v+ along y = dq+ - E dq, which is overwritten, and dq (nv or NULL).
static void velocityJvp(double* dv, double* y, const double* dq, const djModel* m,
                        const djLinear* lin) {
  if (lin->Vplus) {
    memset(dv, 0, (size_t)m->nv * sizeof(double));
    dj_mulBlocks(dv, 1, lin->Vplus, y, &lin->trees);
    if (dq) dj_mulBlocks(dv, 1, lin->Vstart, dq, &lin->trees);
    return;
  }
  rotate(y, m, lin, true, false);
  for (int i = 0; i < m->nv; i++) dv[i] = y[i] / m->opt.timestep;
}

// Its transpose: z (nv) += by y, dq (nv or NULL) += by dq. scratch (nv).
static void velocityVjp(double* z, double* dq, const double* lambda, const djModel* m,
                        const djLinear* lin, double* scratch) {
  if (lin->Vplus) {
    dj_mulBlocksT(z, 1, lin->Vplus, lambda, &lin->trees);
    if (dq) dj_mulBlocksT(dq, 1, lin->Vstart, lambda, &lin->trees);
    return;
  }
  memcpy(scratch, lambda, (size_t)m->nv * sizeof(double));
  rotate(scratch, m, lin, true, true);
  for (int i = 0; i < m->nv; i++) z[i] += scratch[i] / m->opt.timestep;
}

djStatus djd_stepJvp(const djModel* m, djData* d, double* dx_next, const double* dx,
                     const double* du) {
  if (!m || !d || !dx_next) return DJ_INVALID;
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  int nv = m->nv, na = m->na, nu = m->nu;
  double *y = d->work->lambda, *e = y + nv, *a = e + nv;   // -H^-1 (...), E dq, act+
  memset(y, 0, (size_t)nv * sizeof(double));
  if (dx) dj_mulBlocks(y, -1, lin.Rq, dx, &lin.factor.blocks);
  if (dx) dj_mulBlocks(y, -1, lin.Rv, dx + nv, &lin.factor.blocks);
  for (int r = 0; r < nv; r++) {
    double s = 0;
    for (int c = 0; c < na && dx; c++) s += lin.Ra[(size_t)r * na + c] * dx[2 * nv + c];
    for (int c = 0; c < nu && du; c++) s += lin.Ru[(size_t)r * nu + c] * du[c];
    y[r] -= s;
    e[r] = dx ? dx[r] : 0;
  }
  dj_solve(y, &lin.factor);
  rotate(e, m, &lin, false, false);
  for (int i = 0; i < na; i++) a[i] = dx ? lin.act_by_act[i] * dx[2 * nv + i] : 0;
  for (int i = 0; i < nu && du; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) a[adr] += lin.act_by_ctrl[i] * du[i];
  }
  for (int i = 0; i < nv; i++) dx_next[i] = y[i] + e[i];
  velocityJvp(dx_next + nv, y, dx, m, &lin);
  for (int i = 0; i < na; i++) dx_next[2 * nv + i] = a[i];
  return DJ_OK;
}

// Transpose of the above: with z = H^-T (l_q + J_r^-T l_v/h),
//   dq = -(Rq + H E)^T z + E^T l_q, dv = -Rv^T z, da = -Ra^T z + .., du = -Ru^T z + ...
void dj_linearVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                  const double* lambda, double* scratch) {
  int nv = m->nv, na = m->na, nu = m->nu;
  double *z = scratch, *e = z + nv;
  memcpy(z, lambda, (size_t)nv * sizeof(double));
  velocityVjp(z, dx, lambda + nv, m, lin, e);
  memcpy(e, lambda, (size_t)nv * sizeof(double));
  dj_solveTranspose(z, &lin->factor);
  rotate(e, m, lin, false, true);
  if (dx) dj_mulBlocksT(dx, -1, lin->Rq, z, &lin->factor.blocks);
  if (dx) dj_mulBlocksT(dx + nv, -1, lin->Rv, z, &lin->factor.blocks);
  for (int r = 0; r < nv; r++) {
    for (int c = 0; c < na && dx; c++) dx[2 * nv + c] -= lin->Ra[(size_t)r * na + c] * z[r];
    for (int c = 0; c < nu && du; c++) du[c] -= lin->Ru[(size_t)r * nu + c] * z[r];
    if (dx) dx[r] += e[r];
  }
  for (int i = 0; i < na && dx; i++) dx[2 * nv + i] += lin->act_by_act[i] * lambda[2 * nv + i];
  for (int i = 0; i < nu && du; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) du[i] += lin->act_by_ctrl[i] * lambda[2 * nv + adr];
  }
}

djStatus djd_stepVjp(const djModel* m, djData* d, double* dx, double* du, const double* lambda) {
  if (!m || !d || !lambda) return DJ_INVALID;
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status == DJ_OK) dj_linearVjp(dx, du, &lin, m, lambda, d->work->lambda);
  return status;
}
