#include "force/sum.h"

#include "math/so3.h"

#include <string.h>

// ---- clearing ---------------------------------------------------------------------------------

void dj_clearForceSum(djForceSum* s, const djModel* m) {
  s->value = 0;
  s->matrices = true;
  memset(s->f, 0, (size_t)m->ncoord * sizeof(double));
  memset(s->k, 0, (size_t)m->ncoord * sizeof(double));
  memset(s->extra, 0, (size_t)m->ncoord * sizeof(double));
  memset(s->pushed, 0, (size_t)m->njnt * sizeof(bool));
}

void dj_clearStartSum(djStartSum* s, const djModel* m) {
  memset(s->k0, 0, (size_t)m->ncoord * sizeof(double));
  memset(s->krate, 0, (size_t)m->ncoord * sizeof(double));
  memset(s->Yrate, 0, (size_t)m->nv * 3 * sizeof(double));
}

void dj_pushJoint(djForceSum* s, const djModel* m, int j) {
  if (s->pushed[j]) return;
  int dof = m->jnt_dofadr[j], n = dj_jointNv(m->jnt_type[j]);
  s->pushed[j] = true;
  memset(s->y + dof, 0, (size_t)n * sizeof(double));
  memset(s->Y + 3 * (size_t)dof, 0, 3 * (size_t)n * sizeof(double));
}

// ---- at the point -----------------------------------------------------------------------------

static djVec3 turnFrom(const djMotion* at, int j) {
  int adr = dj_rotationQpos(at->model, j);
  djQuat q0 = dju_normalizeQuat(dju_loadQuat((at->drift ? at->at0.q : at->rate.q) + adr));
  djQuat q = dju_normalizeQuat(dju_loadQuat(at->at.q + adr));
  return dju_logQuat(dju_mulQuat(dju_conj(q0), q));
}

static djVec3 driftOf(const djMotion* at, int j) {
  return dju_load3(at->drift + dj_rotationDof(at->model, j));
}

djVec3 dj_turnSince(const djMotion* at, int j) {
  djVec3 turn = turnFrom(at, j);
  return at->drift ? dju_sub3(turn, driftOf(at, j)) : turn;
}

djMat3 dj_turnSlope(const djMotion* at, int j) { return dju_rightJacobianInv(turnFrom(at, j)); }

// Of a displacement from `rate` dphi = ... - J_r^-T(phi) dq. Of a prompt motion
// dphi = dpsi - ddrift, dpsi = ... - J_r^-T(psi) dq. `rate` moves by exp(-drift) dq + J_r(drift)
// ddrift: J_r^-1(drift) times that is ddrift + J_r^-T(drift) dq.
void dj_turnStart(djMat3* by_start, djMat3* by_rate, const djMotion* at, int j) {
  djMat3 J = dj_turnSlope(at, j);
  if (at->drift) *by_rate = dju_rightJacobianInv(driftOf(at, j));
  for (int k = 0; k < 9; k++) {
    int t = 3 * (k % 3) + k / 3;
    if (at->drift)
      by_start->m[k] = J.m[t] - by_rate->m[t];
    else
      by_start->m[k] = 0, by_rate->m[k] = J.m[t];
  }
}

void dj_jointDisplacement(double psi[6], const djMotion* at, int j) {
  int a = at->model->jnt_qposadr[j];
  bool free = dj_jointRow(at->model, j)->pose;
  if (free) dju_store3(psi, dju_sub3(dju_load3(at->at.q + a), dju_load3(at->rate.q + a)));
  dju_store3(psi + (free ? 3 : 0), dj_turnSince(at, j));
}

void dj_addRotation(djForceSum* s, int dof, djVec3 phi, const double y[3], const double Y[9]) {
  djVec3 G;
  djMat3 K, M;
  memcpy(M.m, Y, sizeof M.m);
  dju_pullback(&G, &K, phi, dju_load3(y), &M);
  djMat3 Hx = dju_mulMM(K, dju_rightJacobianInv(phi));
  double g[3];
  dju_store3(g, G);
  for (int r = 0; r < 3; r++) {
    s->gradient[dof + r] += g[r];
    double* row = dj_ownRow(s->H, dof + r);
    for (int c = 0; c <= r; c++) row[dof + c] += 0.5 * (Hx.m[3 * r + c] + Hx.m[3 * c + r]);
  }
}

void dj_addFlat(djForceSum* s, int dof, const double y[3], const double Y[9]) {
  for (int r = 0; r < 3; r++) {
    s->gradient[dof + r] += y[r];
    double* row = dj_ownRow(s->H, dof + r);
    for (int c = 0; c <= r; c++) row[dof + c] += Y[3 * r + c];
  }
}

// H += k J J^T.
static void addSquare(djMatrix* H, const djMotion* at, int c, double k) {
  djAlong x = dj_along(at->at.coord, at->model, c);
  for (int a = 0; a < x.n; a++) {
    for (int b = 0; b <= a; b++) dj_addEntry(H, x.dof[a], x.dof[b], k * x.J[a] * x.J[b]);
  }
}

// f times the Hessian of x.
static void addCurvature(djForceSum* s, const djMotion* at, int c, double f) {
  const djModel* m = at->model;
  djCoupling both;
  if (dj_coupling(&both, m, at->at.coord, c)) {
    addCurvature(s, at, both.c[0], f);
    if (both.c[1] < 0) return;
    addCurvature(s, at, both.c[1], -both.slope * f);
    addSquare(s->H, at, both.c[1], -both.bend * f);
  } else if (dj_coordinateBends(m, c)) {
    dj_addCoordinateCurvature(s->N, s->H, m, at->at.kin, at->ref, c, f);
  }
}

// gradient += f J, H += k J J^T and f times the Hessian of x.
static void addScalar(djForceSum* s, const djMotion* at, int c) {
  const djModel* m = at->model;
  double f = s->f[c], k = s->k[c];
  int first = m->coord_dofadr[c], n = m->coord_dofnum[c];
  const double* J = at->at.coord->J + first;
  const int* dof = m->coord_dof + first;
  if (m->coord_type[c] == DJ_COORD_JOINT) {
    s->gradient[*dof] += f * *J;
    *dj_own(s->H, *dof, *dof) += k * *J * *J;
    return;
  }
  if (f == 0 && k == 0) return;   // as along equality constraints
  for (int a = 0; a < n; a++) s->gradient[dof[a]] += f * J[a];
  addSquare(s->H, at, c, k);
  if (f != 0) addCurvature(s, at, c, f);
}

static void takeRates(djForceSum* s, const djModel* m) {
  for (int c = m->ncoord - 1; c >= 0 && m->coord_type[c] != DJ_COORD_JOINT; c--) {
    if (!dj_coordinateBends(m, c)) continue;
    s->extra[c] += s->path.f[c] - s->f[c];
    s->f[c] = s->path.f[c];
    s->k[c] = s->path.k[c];
  }
}

void dj_sumCoordinates(djForceSum* s, const djMotion* at) {
  const djModel* m = at->model;
  if (s->path.acts) takeRates(s, m);
  for (int c = 0; c < m->ncoord; c++) addScalar(s, at, c);
  for (int j = 0; j < m->njnt; j++) {
    if (!s->pushed[j]) continue;
    int first = m->jnt_dofadr[j], dof = dj_rotationDof(m, j);
    if (dof > first) dj_addFlat(s, first, s->y + first, s->Y + 3 * (size_t)first);
    if (at->prompt) continue;
    dj_addRotation(s, dof, dj_turnSince(at, j), s->y + dof, s->Y + 3 * (size_t)dof);
  }
}

void dj_addExtra(double* beyond, const djForceSum* s, const djMotion* at) {
  const djModel* m = at->model;
  for (int c = m->ncoord - 1; c >= 0; c--) {
    int first = m->coord_dofadr[c];
    for (int i = first; i < first + m->coord_dofnum[c] && s->extra[c] != 0; i++) {
      beyond[m->coord_dof[i]] += s->extra[c] * at->at.coord->J[i];
    }
  }
}

static void add3(djMatrix* R, int dof, double s, const double* B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) *dj_own(R, dof + r, dof + c) += s * B[3 * r + c];
  }
}

void dj_addFlatRotations(djForceSum* s, double* beyond, const djMotion* at) {
  const djModel* m = at->model;
  for (int j = 0; j < m->njnt; j++) {
    int dof = s->pushed[j] ? dj_rotationDof(m, j) : -1;
    if (dof < 0) continue;
    djMat3 Jinv = dj_turnSlope(at, j), Y;
    memcpy(Y.m, s->Y + 3 * (size_t)dof, sizeof Y.m);
    djVec3 y = dju_load3(s->y + dof);
    dju_addTo3(s->gradient + dof, 1, y);
    dju_addTo3(beyond + dof, 1, dju_sub3(y, dju_mulMtV(Jinv, y)));
    djMat3 by = dju_mulMM(Y, Jinv);
    add3(s->H, dof, 1, by.m);
  }
}

// ---- by the start -----------------------------------------------------------------------------

// R += k J J0^T
static void addOuter(djMatrix* R, const djMotion* at, const djPoint* from, int c, double k) {
  const djModel* m = at->model;
  int first = m->coord_dofadr[c], n = m->coord_dofnum[c];
  const double *J = at->at.coord->J + first, *J0 = from->coord->J + first;
  const int* dof = m->coord_dof + first;
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) dj_addEntry(R, dof[a], dof[b], k * J[a] * J0[b]);
  }
}

// Of a prompt motion y itself is the gradient.
static void startFlat(djStartSum* t, const djForceSum* s, const djMotion* at, int j) {
  int dof = dj_rotationDof(at->model, j);
  djMat3 Y, by_start, by_rate;
  memcpy(Y.m, s->Y + 3 * (size_t)dof, sizeof Y.m);
  dj_turnStart(&by_start, &by_rate, at, j);
  by_start = dju_mulMM(Y, by_start);
  by_rate = dju_mulMM(Y, by_rate);
  add3(t->R0, dof, -1, by_start.m);
  add3(t->Rrate, dof, -1, by_rate.m);
  add3(t->Rrate, dof, 1, t->Yrate + 3 * (size_t)dof);
}

// The gradient G = J_r^-T y of a displacement phi by its start: -(K J_r^-T), see dju_pullback; and
// J_r^-T Yrate by what `rate` changes beside it.
static void startRotation(djStartSum* t, const djForceSum* s, const djMotion* at, int j) {
  const djModel* m = at->model;
  int dof = dj_rotationDof(m, j);
  djVec3 G, phi = dj_turnSince(at, j);
  djMat3 K, Y, Jinv = dju_rightJacobianInv(phi), B, Yrate;
  memcpy(Y.m, s->Y + 3 * (size_t)dof, sizeof Y.m);
  dju_pullback(&G, &K, phi, dju_load3(s->y + dof), &Y);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      B.m[3 * r + c] = K.m[3 * r] * Jinv.m[3 * c] + K.m[3 * r + 1] * Jinv.m[3 * c + 1] +
                       K.m[3 * r + 2] * Jinv.m[3 * c + 2];
    }
  }
  add3(t->Rrate, dof, -1, B.m);
  memcpy(Yrate.m, t->Yrate + 3 * (size_t)dof, sizeof Yrate.m);
  B = dju_mulMtM(Jinv, Yrate);
  add3(t->Rrate, dof, 1, B.m);
}

void dj_startCoordinates(djStartSum* t, const djForceSum* s, const djMotion* at) {
  const djModel* m = at->model;
  for (int c = 0; c < m->ncoord; c++) {
    if (t->k0[c] != 0) addOuter(t->R0, at, &at->at0, c, t->k0[c]);
    if (t->krate[c] == 0 || (at->qvel && dj_coordinateBends(m, c))) continue;
    addOuter(t->Rrate, at, &at->rate, c, t->krate[c]);
  }
  for (int j = 0; j < m->njnt; j++) {
    if (!s->pushed[j]) continue;
    int dof = m->jnt_dofadr[j];
    if (dj_jointRow(m, j)->pose) add3(t->Rrate, dof, -1, s->Y + 3 * (size_t)dof);
    if (at->prompt)
      startFlat(t, s, at, j);
    else
      startRotation(t, s, at, j);
  }
}
