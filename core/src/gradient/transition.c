// Derivatives of one step by the implicit function theorem.
//
// With the residual r(q+, q, v, act, u) = 0 and H = dr/dq+ (unshifted, exact),
//   dq+ = -H^-1 (r_q dq + r_v dv + r_a da + r_u du).
// v+ = log(q^-1 q+)/h on rotations, so with J_r = J_r(h v+) and E = exp(-h v+) there (identities
// elsewhere) dv+ = J_r^-1 (dq+ - E dq)/h. For dv+/dq this is formed as
//   -J_r^-1 H^-1 (r_q + H E)/h,   dq+/dq = -H^-1 (r_q + H E) + E:
// subtracting E after the solve would lose a factor 1/h.

#include "base/status.h"
#include "gradient/linear.h"

#include <math.h>
#include <string.h>

// Full H from its lower triangle, in place.
static void mirror(double* H, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) H[(size_t)j * n + i] = H[(size_t)i * n + j];
  }
}

static djLinear viewLinear(djWork* w) {
  return (djLinear){w->factor, w->Rq, w->Rv, w->Ra, w->Ru, w->vnext, w->act_by_act, w->act_by_ctrl};
}

size_t dj_linearSize(const djModel* m) {
  size_t nv = m->nv, na = m->na, nu = m->nu;
  return dj_factorSize(m->nv) + 2 * nv * nv + nv * (na + nu + 1) + na + nu;
}

djLinear dj_initLinear(const djModel* m, double* p) {
  size_t nv = m->nv, na = m->na, nu = m->nu;
  const djIntegratorRow* row = dj_integratorRow(m->opt.integrator);
  djLinear l;
  l.factor = (djFactor){row ? row->kind : DJ_LDL, m->nv, p};
  l.Rq = p + dj_factorSize(m->nv);
  l.Rv = l.Rq + nv * nv;
  l.Ra = l.Rv + nv * nv;
  l.Ru = l.Ra + nv * na;
  l.vnext = l.Ru + nv * nu;
  l.act_by_act = l.vnext + nv;
  l.act_by_ctrl = l.act_by_act + na;
  return l;
}

void dj_copyLinear(djLinear* dest, const djModel* m, const djLinear* src) {
  size_t nv = m->nv, na = m->na, nu = m->nu, n2 = nv * nv, size = sizeof(double);
  dj_copyFactor(&dest->factor, &src->factor);
  memcpy(dest->Rq, src->Rq, n2 * size);
  memcpy(dest->Rv, src->Rv, n2 * size);
  memcpy(dest->Ra, src->Ra, nv * na * size);
  memcpy(dest->Ru, src->Ru, nv * nu * size);
  memcpy(dest->vnext, src->vnext, nv * size);
  memcpy(dest->act_by_act, src->act_by_act, na * size);
  memcpy(dest->act_by_ctrl, src->act_by_ctrl, nu * size);
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
  const djIntegratorRow* row = dj_integratorRow(m->opt.integrator);
  if (!row) return dj_fail(&w->error, DJ_UNSUPPORTED, "integrator: unknown");
  dj_motionSubspace(&w->now, m, w->ref);
  double value;
  bool cautious = false;
  status = row->evaluate(&value, w->gradient, w, m, &w->now, w->q, &cautious);
  if (status < 0) return status;
  if (!dj_factor(&w->factor, w->H, NULL)) {
    return dj_fail(&w->error, DJ_SINGULAR, "dr/dq+ is not positive definite at the solution");
  }
  status = row->linearize(w, m);
  if (status < 0) return status;
  // Rq <- Rq + H E, needed in this form by every product.
  size_t n2 = (size_t)m->nv * m->nv;
  if (row->kind == DJ_LDL) mirror(w->H, m->nv);
  memcpy(w->X, w->H, n2 * sizeof(double));
  dj_differentiatePos(w->vnext, m, w->h, w->start.qpos, w->q);
  dj_applyE(w->X, m->nv, m, w->vnext, -w->h);
  for (size_t k = 0; k < n2; k++) w->Rq[k] += w->X[k];
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
  for (int r = 0; r < nv; r++) {
    double* row = w->X + (size_t)r * nc;
    for (int c = 0; c < nv; c++) row[c] = -w->Rq[(size_t)r * nv + c];
    for (int c = 0; c < nv; c++) row[nv + c] = -w->Rv[(size_t)r * nv + c];
    for (int c = 0; c < na; c++) row[2 * nv + c] = -w->Ra[(size_t)r * na + c];
    for (int c = 0; c < nu; c++) row[2 * nv + na + c] = -w->Ru[(size_t)r * nu + c];
  }
  dj_solveMulti(w->X, &w->factor, nc);
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

// Rows of q+ and v+ from the solutions X; then E is added to dq+/dq.
static void fillRows(double* A, double* B, djWork* w, const djModel* m) {
  int nv = m->nv, na = m->na, nu = m->nu, nx = 2 * nv + na, nc = nx + nu;
  for (int half = 0; half < 2; half++) {
    double f = half ? 1 / w->h : 1;
    if (half) dj_applyJrInv(w->X, nc, m, w->vnext, w->h);
    for (int r = 0; r < nv; r++) {
      const double* from = w->X + (size_t)r * nc;
      size_t row = (size_t)(r + half * nv);
      for (int c = 0; c < nx && A; c++) A[row * nx + c] = f * from[c];
      for (int c = 0; c < nu && B; c++) B[row * nu + c] = f * from[nx + c];
    }
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
  fillRows(A, B, w, m);
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

djStatus djd_stepJvp(const djModel* m, djData* d, double* dx_next, const double* dx,
                     const double* du) {
  if (!m || !d || !dx_next) return DJ_INVALID;
  djLinear lin;
  djStatus status = dj_linearizeStep(&lin, m, d);
  if (status != DJ_OK) return status;
  int nv = m->nv, na = m->na, nu = m->nu;
  double *y = d->work->lambda, *e = y + nv, *a = e + nv;   // -H^-1 (...), E dq, act+
  for (int r = 0; r < nv; r++) {
    double s = 0;
    for (int c = 0; c < nv && dx; c++) {
      s += lin.Rq[(size_t)r * nv + c] * dx[c] + lin.Rv[(size_t)r * nv + c] * dx[nv + c];
    }
    for (int c = 0; c < na && dx; c++) s += lin.Ra[(size_t)r * na + c] * dx[2 * nv + c];
    for (int c = 0; c < nu && du; c++) s += lin.Ru[(size_t)r * nu + c] * du[c];
    y[r] = -s;
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
  rotate(y, m, &lin, true, false);
  for (int i = 0; i < nv; i++) dx_next[nv + i] = y[i] / m->opt.timestep;
  for (int i = 0; i < na; i++) dx_next[2 * nv + i] = a[i];
  return DJ_OK;
}

// Transpose of the above: with z = H^-T (l_q + J_r^-T l_v/h),
//   dq = -(Rq + H E)^T z + E^T l_q, dv = -Rv^T z, da = -Ra^T z + .., du = -Ru^T z + ...
void dj_linearVjp(double* dx, double* du, const djLinear* lin, const djModel* m,
                  const double* lambda, double* scratch) {
  int nv = m->nv, na = m->na, nu = m->nu;
  double *z = scratch, *e = z + nv;
  memcpy(z, lambda + nv, (size_t)nv * sizeof(double));
  memcpy(e, lambda, (size_t)nv * sizeof(double));
  rotate(z, m, lin, true, true);
  for (int i = 0; i < nv; i++) z[i] = lambda[i] + z[i] / m->opt.timestep;
  dj_solveTranspose(z, &lin->factor);
  rotate(e, m, lin, false, true);
  for (int r = 0; r < nv; r++) {
    const double *Rq = lin->Rq + (size_t)r * nv, *Rv = lin->Rv + (size_t)r * nv;
    for (int c = 0; c < nv && dx; c++) dx[c] -= Rq[c] * z[r];
    for (int c = 0; c < nv && dx; c++) dx[nv + c] -= Rv[c] * z[r];
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
