// Derivatives of the rows of euler_row.h at the start. With z + C s'(z; x, v) = zeta,
//   ds' = Q (dzeta - dC s') + P g,   P = 1 - Q C,   g = s'_x dx + s'_v (J dv + dJ v),
// and with the forces F = F_s - J^T s', M b_M = F, K b_K = F, u_M = M^-1 J^T, u_K = K^-1 J^T,
//   dzeta - dC s' = dJ (a + b_M - b_K) + J da + u_M . dM (a - b_M) - u_K . dM (a - b_K)
//                   + u_K . dX(b_K) - (u_M - u_K) . (dR + dJ^T s'),
// for dF_s = dM a - dR of R = ID(q, v, a) - tau, a held, and dK b = dM b + dX(b), X(b) = h D b.

#include "base/room.h"
#include "base/status.h"
#include "integrate/euler.h"
#include "integrate/euler_row.h"
#include "integrate/tendon_armature.h"
#include "math/block6.h"
#include "math/so3.h"
#include "model/frame_param.h"
#include "model/momentum.h"

#include <string.h>

// M^-1 and K^-1 of what `by_M` holds.
static void solveBoth(double* by_M, double* by_K, djWork* w, const djModel* m) {
  memcpy(by_K, by_M, (size_t)m->nv * sizeof(double));
  dj_solve(by_K, &w->mass);
  if (w->rows.mixed) dj_solve(by_M, &w->rows.mass);
  else memcpy(by_M, by_K, (size_t)m->nv * sizeof(double));
}

// by_M, by_K = b_M, b_K.
static void solveForces(djWork* w, const djModel* m) {
  double* M = w->rows.by_M;
  memset(M, 0, (size_t)m->nv * sizeof(double));
  dj_addRowForces(M, w);
  for (int i = 0; i < m->nv; i++) M[i] = -w->bias[i] - M[i];
  solveBoth(M, w->rows.by_K, w, m);
}

// accel = a + b_M - b_K.
static void setAccelerations(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  memcpy(rows->accel, w->A, (size_t)m->nv * sizeof(double));
  if (!rows->mixed) return;
  solveForces(w, m);
  for (int i = 0; i < m->nv; i++) rows->accel[i] += rows->by_M[i] - rows->by_K[i];
}

// T of a ball's angle: n = phi/|phi|, dphi = J_r^-1 d: dn = (1 - n n^T) J_r^-1 d/|phi|.
static void setAngleSlopes(const djEulerRow* r, const djWork* w, const djModel* m) {
  djVec3 n = dju_load3(r->own_J);
  djVec3 phi = dju_logQuat(
      dju_normalizeQuat(dju_loadQuat(w->start.qpos + m->jnt_qposadr[r->joint])));
  djMat3 B = dju_rightJacobianInv(phi);
  for (int i = 0; i < 3; i++) {
    djVec3 y = {i == 0, i == 1, i == 2};
    y = dju_sub3(y, dju_scale3(dju_dot3(n, y), n));
    dju_store3(r->T + 3 * i, dju_scale3(1 / dju_norm3(phi), dju_mulMtV(B, y)));
  }
}

// d(J V)/dq along the row's k-th dof, V (nv) held.
static double rateSlope(const djEulerRow* r, const double* V, int k) {
  double sum = 0;
  for (int i = 0; i < r->n && r->T; i++) sum += V[r->dof[i]] * r->T[r->n * i + k];
  return sum;
}

// Memory for each row's own slopes, one after the other; NULL: only measures. Returns the numbers,
// and those of scratch.
static size_t layoutSlopes(size_t* scratch, djEulerRows* rows, double* at) {
  size_t sum = 0;
  *scratch = 0;
  for (int k = 0; k < rows->n; k++) {
    djEulerRow* r = &rows->row[k];
    size_t n = (size_t)r->n, own = 3 * n + (r->bends ? n * n : 0);
    if (DJ_SLOPE_SCRATCH(n) > *scratch) *scratch = DJ_SLOPE_SCRATCH(n);
    if (at) {
      r->law_q = at + sum;
      r->law_v = r->law_q + n;
      r->accel_q = r->law_v + n;
      r->T = r->bends ? r->accel_q + n : NULL;
    }
    sum += own;
  }
  return sum;
}

static void setOwnSlopes(djWork* w, const djModel* m, double* scratch) {
  for (int k = 0; k < w->rows.n; k++) {
    djEulerRow* r = &w->rows.row[k];
    if (r->angle) setAngleSlopes(r, w, m);
    else if (r->T) {
      dj_coordinateSlopes(r->T, scratch, m, &w->begin.kin, &w->begin.coord, w->ref, r->coordinate);
    }
    for (int i = 0; i < r->n; i++) {
      r->law_q[i] = r->at.by_x * r->J[i] + r->at.by_v * rateSlope(r, w->start.qvel, i);
      r->law_v[i] = r->at.by_v * r->J[i];
      r->accel_q[i] = rateSlope(r, w->rows.accel, i);
    }
  }
  dj_linearizeEqualities(w, m);
}

// u . M x changes as bodies below a dof turn by what does not turn with them: the twists before the
// dof, of either motion, against the other one's momenta. Both of a - b.
typedef struct Moment {
  double *momentum, *cross;   // (nbody x 6) gathered, (nv x 6): see dj_bodyMomentum
} Moment;

static void setMoment(const Moment* x, const djWork* w, const djModel* m, const double* motion) {
  dj_bodyMomentum(x->momentum, x->cross, m, &w->begin.kin, w->ref, motion);
  dj_gatherWrench(x->momentum, m);
}

static Moment momentByM(const djWork* w) { return (Moment){w->inverse.V, w->inverse.L}; }
static Moment momentByK(const djWork* w) { return (Moment){w->inverse.A, w->inverse.K}; }

static void setAccelerationMoments(djWork* w, const djModel* m) {
  const Moment moment[2] = {momentByM(w), momentByK(w)};
  const double* b[2] = {w->rows.by_M, w->rows.by_K};
  double* x = w->rows.scratch;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < m->nv; i++) x[i] = w->A[i] - b[k][i];
    setMoment(&moment[k], w, m, x);
  }
}

// y += f u . dM x by q.
static void addMassSlope(double* y, double f, djWork* w, const djModel* m, const double* u,
                         Moment x) {
  const Moment own = {w->inverse.F, w->inverse.Lv};
  setMoment(&own, w, m, u);
  for (int j = 0; j < m->nv; j++) {
    const int at = 6 * m->dof_body[j];
    y[j] -= f * (dju_dotRow6(own.cross + 6 * j, x.momentum + at) +
                 dju_dotRow6(x.cross + 6 * j, own.momentum + at));
  }
}

// y (nv) = J^T f of a group, f (n).
static void sumRows(double* y, const djEulerRows* rows, const djRowGroup* g, const double* f,
                    int nv) {
  memset(y, 0, (size_t)nv * sizeof(double));
  for (int k = 0; k < g->n; k++) dj_addRow(y, &rows->row[g->first + k], f[k]);
}

// dual_M, dual_K from their sum of J^T.
static void solveDuals(djWork* w, const djModel* m) {
  solveBoth(w->rows.dual_M, w->rows.dual_K, w, m);
}

// y += (dual . dX(by_K)) by q, and by v: X of joints' damping, and along coordinates.
static void addDamping(double* by_q, double* by_v, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  double *slope = rows->scratch, *bend = slope + m->nv, *a = w->A;
  dj_jointDamping(slope, bend, &w->forces, m, w->start.qvel);
  for (int i = 0; i < m->nv; i++) {
    by_v[i] += w->h * rows->dual_K[i] * bend[i] * rows->by_K[i];
  }
  if (m->opt.implicit != DJ_TERMS_RATES) return;
  w->A = rows->by_K;
  dj_linearizeRates(&(djRateSlopes){.u = rows->dual_K, .by_q = by_q, .by_v = by_v}, w, m);
  w->A = a;
}

// -(dual_M - dual_K) . (dR + dJ^T s'), dM and dX.
static void addInertia(double* by_q, double* by_v, const djMatrix* G, djWork* w,
                       const djModel* m) {
  djEulerRows* rows = &w->rows;
  double* d = rows->scratch + 2 * m->nv;
  addMassSlope(by_q, 1, w, m, rows->dual_M, momentByM(w));
  addMassSlope(by_q, -1, w, m, rows->dual_K, momentByK(w));
  addDamping(by_q, by_v, w, m);
  for (int i = 0; i < m->nv; i++) d[i] = rows->dual_M[i] - rows->dual_K[i];
  dj_mulMatrixT(by_q, -1, &w->H, d);
  dj_mulMatrixT(by_v, -1, G, d);
  for (int k = 0; k < rows->n; k++) {
    const djEulerRow* r = &rows->row[k];
    for (int i = 0; i < r->n && r->bends && r->at.d != 0; i++) {
      by_q[r->dof[i]] -= r->at.d * rateSlope(r, d, i);
    }
  }
}

// What the law and J of a group's rows do to row i's slope; Q (n): the i-th row of it. P of rows
// with curvature is Q/S, for Q (1/S + C) = 1.
static void addLaws(double* by_q, double* by_v, const djRowGroup* g, int i, const double* Q,
                    const djEulerRows* rows) {
  for (int k = 0; k < g->n; k++) {
    const djEulerRow* r = &rows->row[g->first + k];
    double P = k == i;
    for (int l = 0; l < g->n && r->at.dd == 0; l++) P -= Q[l] * g->C[g->n * l + k];
    if (r->at.dd > 0) P = Q[k] / r->at.dd;
    for (int l = 0; l < r->n; l++) {
      by_q[r->dof[l]] += P * r->law_q[l] + Q[k] * r->accel_q[l];
      by_v[r->dof[l]] += P * r->law_v[l];
    }
  }
}

// A += J^T y^T
static void addOuter(djMatrix* A, const djEulerRow* r, const double* y, int nv) {
  for (int j = 0; j < nv; j++) {
    for (int k = 0; k < r->n && y[j] != 0; k++) dj_addEntry(A, r->dof[k], j, r->J[k] * y[j]);
  }
}

// dJ^T s'.
static void addTurn(djWork* w, const djEulerRow* r) {
  for (int i = 0; i < r->n && r->T; i++) {
    for (int k = 0; k < r->n; k++) {
      dj_addEntry(&w->H, r->dof[i], r->dof[k], r->at.d * r->T[r->n * i + k]);
    }
  }
}

// ds' of row i of a group, by q and by v (nv each).
static void linearizeRow(double* by_q, double* by_v, const djRowGroup* g, int i,
                         const djMatrix* G, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  double *Q = rows->force, *unit = rows->trial;
  memset(unit, 0, (size_t)g->n * sizeof(double));
  unit[i] = 1;
  dj_mulGroupCurvature(Q, rows, g, unit);
  memset(by_q, 0, (size_t)m->nv * sizeof(double));
  memset(by_v, 0, (size_t)m->nv * sizeof(double));
  if (Q[i] != 0) {
    sumRows(rows->dual_M, rows, g, Q, m->nv);
    for (int k = 0; k < m->nv; k++) by_v[k] = -rows->dual_M[k] / w->h;
    if (rows->mixed) {
      solveDuals(w, m);
      addInertia(by_q, by_v, G, w, m);
    }
  }
  addLaws(by_q, by_v, g, i, Q, rows);
}

djStatus dj_linearizeRows(djMatrix* G, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  if (rows->n == 0) return DJ_OK;
  size_t nv = (size_t)m->nv;
  size_t all = 2 * nv * (size_t)rows->n, scratch, own = layoutSlopes(&scratch, rows, NULL);
  double* room = dj_roomFor(rows->slopes, &rows->nslopes, (all + own + scratch) * sizeof *room);
  if (!room) return dj_failMemory(&w->error);
  rows->slopes = room;
  layoutSlopes(&scratch, rows, room + all);
  setAccelerations(w, m);
  setOwnSlopes(w, m, room + all + own);
  if (rows->mixed && dj_rowsCurve(rows)) setAccelerationMoments(w, m);
  for (int k = 0; k < rows->n; k++) {
    const djRowGroup* g = &rows->group[rows->row[k].group];
    double* by = room + 2 * nv * (size_t)k;
    linearizeRow(by, by + nv, g, k - g->first, G, w, m);
  }
  for (int k = 0; k < rows->n; k++) {
    const double* by = room + 2 * nv * (size_t)k;
    addOuter(&w->H, &rows->row[k], by, m->nv);
    addOuter(G, &rows->row[k], by + nv, m->nv);
    addTurn(w, &rows->row[k]);
  }
  return DJ_OK;
}

// ---- inputs -----------------------------------------------------------------------------------

// (K^-1 - M^-1) J^T of all rows, which is symmetric, into their slopes.
static void setResponses(djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  for (int k = 0; k < rows->n; k++) {
    double* D = rows->slopes + (size_t)k * (size_t)m->nv;
    memset(rows->dual_M, 0, (size_t)m->nv * sizeof(double));
    dj_addRow(rows->dual_M, &rows->row[k], 1);
    solveDuals(w, m);
    for (int i = 0; i < m->nv; i++) D[i] = rows->dual_K[i] - rows->dual_M[i];
  }
}

void dj_pushResponses(djEntries* A, djWork* w, const djModel* m) {
  djEulerRows* rows = &w->rows;
  double* y = rows->dual_M;
  int n = A->n < A->max ? A->n : A->max;
  if (n == 0 || !rows->mixed || !dj_rowsCurve(rows)) return;
  setResponses(w, m);
  for (int k = 0; k < n; k++) {
    djMatrixEntry e = A->entry[k];
    for (int l = 0; l < rows->n; l++) {
      rows->trial[l] = e.value * rows->slopes[(size_t)l * (size_t)m->nv + (size_t)e.row];
    }
    dj_mulCurvature(rows->force, rows, rows->trial);
    memset(y, 0, (size_t)m->nv * sizeof(double));
    for (int l = 0; l < rows->n; l++) dj_addRow(y, &rows->row[l], rows->force[l]);
    for (int i = 0; i < m->nv; i++) {
      if (y[i] != 0) dj_pushEntry(A, i, e.col, y[i]);
    }
  }
}

// ---- duals ------------------------------------------------------------------------------------

// K is M where nothing is damped, but changes with the damping of joints there, too.
void dj_rowDual(djWork* w, const djModel* m, const double* z) {
  djEulerRows* rows = &w->rows;
  setAccelerations(w, m);
  for (int k = 0; k < rows->n; k++) rows->trial[k] = dj_rowAlong(&rows->row[k], z);
  dj_mulCurvature(rows->force, rows, rows->trial);
  memset(rows->dual_M, 0, (size_t)m->nv * sizeof(double));
  memset(rows->dual_K, 0, (size_t)m->nv * sizeof(double));
  if (rows->n == 0) return;
  if (!rows->mixed) solveForces(w, m);
  for (int k = 0; k < rows->n; k++) dj_addRow(rows->dual_M, &rows->row[k], rows->force[k]);
  solveDuals(w, m);
}

// ---- parameters -------------------------------------------------------------------------------

// P^T J z = J z - C Q J z of row k, after dj_rowDual.
static double lawShare(const djEulerRows* rows, int k) {
  const djRowGroup* g = &rows->group[rows->row[k].group];
  const double* C = g->C + g->n * (k - g->first);
  double sum = rows->trial[k];
  for (int l = 0; l < g->n; l++) sum -= C[l] * rows->force[g->first + l];
  return sum;
}

// Q, P: Q J z and P^T J z. z: with the duals, of dJ^T s'.
static void bendParams(djParamSums* s, djWork* w, const djModel* m, const djEulerRow* r, double Q,
                       double P, const double* z) {
  int c = r->coordinate;
  int by = DJ_BY_FRAME | DJ_BY_SITE | (r->equality >= 0 ? DJ_BY_LAW : 0);
  if (c < 0 || !r->bends || !(s->wants & by)) return;
  if (r->at.d != 0) dj_addPathParams(s, w, m, &w->begin, c, r->at.d, z);
  if (Q != 0) dj_addPathParams(s, w, m, &w->begin, c, Q, w->rows.accel);
  if (P == 0) return;
  if (r->at.by_v != 0) dj_addPathParams(s, w, m, &w->begin, c, P * r->at.by_v, w->start.qvel);
  if (r->at.by_x != 0) dj_addLengthParams(s, w, m, &w->begin, c, P * r->at.by_x);
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

// x . dM (a - b).
static void massParams(djParamSums* s, djWork* w, const djModel* m, const double* x,
                       const double* b) {
  djEulerRows* rows = &w->rows;
  double* excess = rows->scratch;
  djConfig at = dj_wantedConfig(s, &w->begin.kin, w->begin.q, w->ref);
  for (int i = 0; i < m->nv; i++) excess[i] = w->A[i] - b[i];
  if (s->wants & (DJ_BY_FRAME | DJ_BY_INERTIA)) {
    dj_inverseDynamics(NULL, &w->inverse, m, at.kin, w->ref, w->armature, rows->zero, excess);
    dj_inverseParams(s->param, s->tensor, s->Cback, w->wrench, w->momentum_change, &w->inverse, m,
                     &at, x, rows->zero, excess);
  }
  if (!(s->wants & DJ_BY_LAW)) return;
  dj_inertiaAlongParams(s->param, m, x, excess);
  dj_tendonInertiaParams(s->param, m, &w->begin, x, excess);
}

// Where there is no friction loss a little of it acts as a whole, against z - aref = x'' + b x'.
static double directionOfLoss(double z, double damping, double rate) {
  double y = z + damping * rate;
  return (y > 0) - (y < 0);
}

// What losses that are 0 would do, as forces on z.
static void lossParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  djLinkBlocks losses = dj_linkBlocks(s->param, m, DJ_FIELD_JOINT_FRICTIONLOSS,
                                      DJ_FIELD_TENDON_FRICTIONLOSS);
  const double* a = w->rows.accel;
  if (m->opt.disable & DJ_DSBL_FRICTIONLOSS) return;
  for (int c = 0; c < dj_linkCoordinates(m); c++) {
    if (*DJ_LINK(m, c, frictionloss, 1) > 0) continue;
    djAlong x = dj_along(&w->begin.coord, m, c);
    double along = 0, accel = 0;
    for (int k = 0; k < x.n; k++) {
      along += x.J[k] * z[x.dof[k]];
      accel += x.J[k] * a[x.dof[k]];
    }
    double rate = dj_coordinateRate(&w->begin.coord, m, c, w->start.qvel);
    double damping = *DJ_LINK(m, c, frictionloss_damping, 1);
    *dj_linkEntry(&losses, m, c, 1) += along * directionOfLoss(accel, damping, rate);
  }
  for (int i = 0; i < m->nv; i++) {
    int j = m->dof_jnt[i];
    if (m->jnt_coord[j] >= 0 || m->jnt_frictionloss[j] > 0) continue;
    losses.block[DJ_COORD_JOINT][j] +=
        z[i] * directionOfLoss(a[i], m->jnt_frictionloss_damping[j], w->start.qvel[i]);
  }
}

void dj_rowParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  djEulerRows* rows = &w->rows;
  double* turned = rows->scratch + m->nv;
  bool moved = false;
  for (int i = 0; i < m->nv; i++) turned[i] = z[i] - (rows->dual_M[i] - rows->dual_K[i]);
  if (s->wants & DJ_BY_LAW) lossParams(s, w, m, turned);
  for (int k = 0; k < rows->n; k++) {
    const djEulerRow* r = &rows->row[k];
    double P = lawShare(rows, k);
    bendParams(s, w, m, r, rows->force[k], P, turned);
    if (r->equality >= 0) dj_equalityParams(s, w, m, r, P, &moved);
    else if (s->wants & DJ_BY_LAW && P != 0) lawParams(s, m, r, P);
  }
  if (!rows->mixed) return;
  for (int i = 0; i < m->nv; i++) turned[i] = -rows->dual_K[i];
  massParams(s, w, m, rows->dual_M, rows->by_M);
  massParams(s, w, m, turned, rows->by_K);
}
