// Derivatives of the rows of euler_row.h at the start: with the row's J, x = x(q), s' = s'(z; x, v)
// and z = J a_M, M a_M = K a = M a + X, X = h D a,
//   d(J^T s') = dJ^T s' + J^T (s'' dz + s'_x dx + s'_v (J dv + dJ v)),
//   dz = dJ a_M + u . (dM (a - a_M) + dX) + w . da,   u = M^-1 J^T.

#include "integrate/euler.h"
#include "integrate/euler_row.h"
#include "integrate/tendon_armature.h"
#include "math/so3.h"
#include "model/frame_param.h"

#include <string.h>

// a_M, and a - a_M.
static void setAccelerations(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  memcpy(rows->accel, w->A, (size_t)m->nv * sizeof(double));
  if (rows->mixed) {
    memset(rows->accel, 0, (size_t)m->nv * sizeof(double));
    dj_mulMatrix(rows->accel, 1, &rows->B, w->A);
  }
  for (int i = 0; i < m->nv; i++) rows->excess[i] = w->A[i] - rows->accel[i];
}

// d(J V)/dq along the row's k-th dof, V (nv) held.
static double rateSlope(const djEulerRow* r, const djWork* w, const djModel* m, const double* V,
                        int k) {
  if (!r->bends) return 0;
  if (!r->angle) {
    return dj_coordinateRateSlope(m, &w->begin.kin, w->ref, r->coordinate, V, k);
  }
  // n = phi/|phi|, dphi = J_r^-1 d: dn = (1 - n n^T) J_r^-1 d/|phi|.
  djVec3 n = dju_load3(r->own_J), y = dju_load3(V + r->own_dof[0]);
  djVec3 phi = dju_logQuat(
      dju_normalizeQuat(dju_loadQuat(w->start.qpos + m->jnt_qposadr[r->joint])));
  y = dju_sub3(y, dju_scale3(dju_dot3(n, y), n));
  djMat3 B = dju_rightJacobianInv(phi);
  double out[3];
  dju_store3(out, dju_scale3(1 / dju_norm3(phi), dju_mulMtV(B, y)));
  return out[k];
}

// What a row does at held M and X.
static void linearizeRow(djMatrix* G, const djEulerRow* r, djWork* w, const djModel* m) {
  for (int k = 0; k < r->n; k++) {
    double by_q = r->at.by_x * r->J[k] + r->at.by_v * rateSlope(r, w, m, w->start.qvel, k) +
                  r->at.dd * rateSlope(r, w, m, w->rows.accel, k);
    for (int i = 0; i < r->n; i++) {
      dj_addEntry(&w->H, r->dof[i], r->dof[k], r->J[i] * by_q);
      dj_addEntry(G, r->dof[i], r->dof[k], r->J[i] * r->at.by_v * r->J[k]);
    }
  }
  if (!r->bends) return;
  double* unit = w->rows.dual;
  memset(unit, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < r->n; i++) {
    unit[r->dof[i]] = r->at.d;
    for (int k = 0; k < r->n; k++) {
      dj_addEntry(&w->H, r->dof[i], r->dof[k], rateSlope(r, w, m, unit, k));
    }
    unit[r->dof[i]] = 0;
  }
}

// dM (a - a_M) by q into Dq.
static void setExcessSlopes(djWork* w, const djModel* m) {
  dj_inverseDynamics(w->nonpotential, &w->inverse, m, &w->begin.kin, w->ref, w->armature,
                     w->rows.zero, w->rows.excess);
  dj_clearMatrix(&w->Dq);
  dj_clearMatrix(&w->Dv);
  dj_clearMatrix(&w->Vrate);
  dj_inverseDerivatives(&w->Dq, &w->Dv, &w->Vrate, w->N, w->M, &w->inverse, m, &w->begin.kin,
                        w->armature);
}

// y (nv) += x^T B, B block diagonal.
static void addProduct(double* y, const djEulerRow* r, const double* x, const djMatrix* B) {
  const int* adr = B->blocks->adr;
  for (int t = 0; t < B->blocks->nblock; t++) {
    for (int i = adr[t]; i < adr[t + 1] && adr[t] >= r->low && adr[t] < r->high; i++) {
      const double* row = dj_ownRow(B, i);
      for (int j = adr[t]; j < adr[t + 1] && x[i] != 0; j++) y[j] += x[i] * row[j];
    }
  }
}

// A += f J^T y^T
static void addOuter(djMatrix* A, const djEulerRow* r, double f, const double* y, int nv) {
  for (int k = 0; k < r->n; k++) {
    for (int j = 0; j < nv; j++) {
      if (y[j] != 0) dj_addEntry(A, r->dof[k], j, f * r->J[k] * y[j]);
    }
  }
}

// J^T s'' (u . (dM (a - a_M) + dX) + w . da).
static void linearizeAcceleration(djMatrix* G, const djEulerRow* r, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  double *u = rows->dual, *by_q = rows->scratch, *by_v = by_q + m->nv, *bend = by_v + m->nv;
  memset(u, 0, (size_t)m->nv * sizeof(double));
  dj_addRow(u, r, 1);
  if (!rows->mixed) {
    addOuter(G, r, -r->at.dd / w->h, u, m->nv);
    return;
  }
  memset(by_v, 0, (size_t)m->nv * sizeof(double));
  addProduct(by_v, r, u, &rows->B);
  addOuter(G, r, -r->at.dd / w->h, by_v, m->nv);
  dj_solve(u, &rows->mass);
  memset(by_q, 0, (size_t)m->nv * sizeof(double));
  addProduct(by_q, r, u, &w->Dq);
  dj_jointDamping(by_v, bend, &w->forces, m, w->start.qvel);
  for (int i = 0; i < m->nv; i++) by_v[i] = w->h * u[i] * bend[i] * w->A[i];
  if (m->opt.implicit == DJ_TERMS_RATES) {
    dj_linearizeRates(&(djRateSlopes){.u = u, .by_q = by_q, .by_v = by_v}, w, m);
  }
  addOuter(&w->H, r, r->at.dd, by_q, m->nv);
  addOuter(G, r, r->at.dd, by_v, m->nv);
}

void dj_linearizeRows(djMatrix* G, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  if (rows->n == 0) return;
  setAccelerations(w, m);
  for (int k = 0; k < rows->n; k++) linearizeRow(G, &rows->row[k], w, m);
  if (rows->mixed) setExcessSlopes(w, m);
  for (int k = 0; k < rows->n; k++) {
    if (rows->row[k].at.dd != 0) linearizeAcceleration(G, &rows->row[k], w, m);
  }
}

// ---- parameters -------------------------------------------------------------------------------

void dj_rowDual(djWork* w, const djModel* m, const double* z) {
  djEulerRows* rows = &w->rows;
  memset(rows->dual, 0, (size_t)m->nv * sizeof(double));
  if (!rows->mixed) return;
  for (int k = 0; k < rows->n; k++) {
    const djEulerRow* r = &rows->row[k];
    if (r->at.dd != 0) dj_addRow(rows->dual, r, r->at.dd * dj_rowAlong(r, z));
  }
  dj_solve(rows->dual, &rows->mass);
}

// f times the derivative of coordinate c of the start.
static void addLengthParams(djParamSums* s, djWork* w, const djModel* m, int c, double f) {
  size_t size = (size_t)m->nbody * 6 * sizeof(double);
  djConfig at = dj_wantedConfig(s, &w->begin.kin, w->begin.q, w->ref);
  memset(w->wrench, 0, size);
  dj_addCoordinateWrench(w->wrench, m, at.kin, w->ref, c, f);
  dj_gatherCotangents(w->wrench, m, w->ref);
  dj_frameParams(s->param, m, &at, w->wrench);
  dj_addCoordinateSites(dj_paramBlock(s->param, m, DJ_FIELD_SITE_POS), m, at.kin, c, f);
}

static void bendParams(djParamSums* s, djWork* w, const djModel* m, const djEulerRow* r, double f,
                       const double* z) {
  int c = r->coordinate;
  if (c < 0 || !r->bends || !(s->wants & (DJ_BY_FRAME | DJ_BY_SITE))) return;
  if (r->at.d != 0) dj_addPathParams(s, w, m, &w->begin, c, r->at.d, z);
  if (f == 0) return;
  if (r->at.dd != 0) dj_addPathParams(s, w, m, &w->begin, c, f * r->at.dd, w->rows.accel);
  if (r->at.by_v != 0) dj_addPathParams(s, w, m, &w->begin, c, f * r->at.by_v, w->start.qvel);
  if (r->at.by_x != 0) addLengthParams(s, w, m, c, f * r->at.by_x);
}

static void lawParams(djParamSums* s, const djModel* m, const djEulerRow* r, double f) {
  djLinkBlocks ranges =
      dj_linkBlocks(s->param, m, DJ_FIELD_JOINT_RANGE, DJ_FIELD_TENDON_RANGE);
  djLinkBlocks losses = dj_linkBlocks(s->param, m, DJ_FIELD_JOINT_FRICTIONLOSS,
                                      DJ_FIELD_TENDON_FRICTIONLOSS);
  int c = r->coordinate;
  double* range = c >= 0 ? dj_linkEntry(&ranges, m, c, 2)
                         : ranges.block[DJ_COORD_JOINT] + 2 * r->joint;
  double* loss = c >= 0 ? dj_linkEntry(&losses, m, c, 1)
                        : losses.block[DJ_COORD_JOINT] + r->joint;
  for (int k = 0; k < 2; k++) range[k] += f * r->at.by_range[k];
  *loss += f * r->at.by_loss;
}

// x . dM (a - a_M).
static void massParams(djParamSums* s, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  djConfig at = dj_wantedConfig(s, &w->begin.kin, w->begin.q, w->ref);
  if (s->wants & (DJ_BY_FRAME | DJ_BY_INERTIA)) {
    dj_inverseDynamics(NULL, &w->inverse, m, at.kin, w->ref, w->armature, rows->zero,
                       rows->excess);
    dj_inverseParams(s->param, s->tensor, s->Cback, w->wrench, w->momentum_change, &w->inverse, m,
                     &at, rows->dual, rows->zero, rows->excess);
  }
  if (!(s->wants & DJ_BY_LAW)) return;
  dj_inertiaAlongParams(s->param, m, rows->dual, rows->excess);
  dj_tendonInertiaParams(s->param, m, &w->begin, rows->dual, rows->excess);
}

void dj_rowParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  if (w->rows.n == 0) return;
  setAccelerations(w, m);
  for (int k = 0; k < w->rows.n; k++) {
    const djEulerRow* r = &w->rows.row[k];
    double f = dj_rowAlong(r, z);
    bendParams(s, w, m, r, f, z);
    if (s->wants & DJ_BY_LAW && f != 0) lawParams(s, m, r, f);
  }
  if (w->rows.mixed) massParams(s, w, m);
}
