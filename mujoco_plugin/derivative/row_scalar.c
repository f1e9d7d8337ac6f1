// Single rows: limits, friction loss, equalities of joints and of tendons. With the row's Jacobian
// J, its derivative J' = dJ/dq and dpos/dq = J:
//
//   by q: J'^T f - S J^T (J' a + B J' v + spring J) + f lnD J^T J;  by v: -S B J^T J

#include "rows.h"
#include "slope_error.h"
#include "spatial.h"

#include <math.h>

// Entries of a row of the Jacobian other than zero.
typedef struct Row {
  int n;
  int* dof;              // (n)
  mjtNum* J;             // (n)
  mjtNum* dJ;            // (nv x nv) its derivative, rows and columns are dofs; NULL: constant
} Row;

static void openRow(Row* row, const djmRowSum* sum, int adr) {
  const mjData* d = sum->d;
  row->n = 0;
  row->dof = sum->dof;
  row->J = sum->memory;
  row->dJ = NULL;
  int nv = (int)sum->m->nv, is_sparse = mj_isSparse(sum->m);
  int n = is_sparse ? d->efc_J_rownnz[adr] : nv;
  const mjtNum* from = d->efc_J + (is_sparse ? (size_t)d->efc_J_rowadr[adr] : (size_t)adr * nv);
  for (int k = 0; k < n; k++) {
    if (from[k] == 0) continue;
    row->dof[row->n] = is_sparse ? d->efc_J_colind[d->efc_J_rowadr[adr] + k] : k;
    row->J[row->n++] = from[k];
  }
}

// ---- how Jacobians turn -------------------------------------------------------------------------

static mjtNum* zeroMatrix(const djmRowSum* sum) {
  int nv = (int)sum->m->nv;
  mjtNum* dJ = sum->memory + nv;
  mju_zero(dJ, nv * nv);
  return dJ;
}

// The row is minus the unit axis n of the ball's turn by the angle x; along its own dofs u
//   dn = cot(x/2)/2 (u - n n.u) + n x u/2
static void turnBall(Row* row, const djmRowSum* sum, int joint) {
  int nv = (int)sum->m->nv, adr = sum->m->jnt_dofadr[joint];
  mjtNum q[4], n[3];
  mju_copy4(q, sum->d->qpos + sum->m->jnt_qposadr[joint]);
  mju_normalize4(q);
  mju_quat2Vel(n, q, 1);
  mjtNum angle = mju_normalize3(n);
  mjtNum half = angle > 1e-10 ? 0.5 / tan(0.5 * angle) : 0;
  row->dJ = zeroMatrix(sum);
  for (int j = 0; j < 3; j++) {
    mjtNum u[3] = {j == 0, j == 1, j == 2}, turn[3];
    cross3(turn, n, u);
    for (int i = 0; i < 3; i++) {
      mjtNum dn = half * (u[i] - n[i] * n[j]) + 0.5 * turn[i];
      row->dJ[(size_t)(adr + i) * nv + adr + j] = -dn;
    }
  }
}

// The rows of fixed tendons are constant.
static djStatus addTendon(Row* row, const djmRowSum* sum, int tendon, mjtNum scale,
                          djError* err) {
  int nv = (int)sum->m->nv;
  if (sum->m->tendon_type[tendon] == 0) return DJ_OK;
  djStatus status = djm_tendonHessian(sum->hessian, sum->m, sum->d, tendon, sum->smooth, err);
  if (status < 0) return status;
  if (!row->dJ) row->dJ = zeroMatrix(sum);
  mju_addToScl(row->dJ, sum->hessian, scale, nv * nv);
  return DJ_OK;
}

// y1 - y1_0 = sum_k c_k (y2 - y2_0)^k: the row is J1 - p' J2, so that
//   dJ = dJ1 - p' dJ2 - p'' J2^T J2
static djStatus turnEquality(Row* row, const djmRowSum* sum, int eq, djError* err) {
  const mjModel* m = sum->m;
  int nv = (int)m->nv, id1 = m->eq_obj1id[eq], id2 = m->eq_obj2id[eq];
  bool tendon = m->eq_type[eq] == mjEQ_TENDON;
  djStatus status = tendon ? addTendon(row, sum, id1, 1, err) : DJ_OK;
  if (status < 0 || id2 < 0) return status;
  const mjtNum* c = m->eq_data + mjNEQDATA * eq;
  mjtNum x = tendon ? sum->d->ten_length[id2] - m->tendon_length0[id2]
                    : sum->d->qpos[m->jnt_qposadr[id2]] - m->qpos0[m->jnt_qposadr[id2]];
  mjtNum slope = c[1] + x * (2 * c[2] + x * (3 * c[3] + x * 4 * c[4]));
  mjtNum bend = 2 * c[2] + x * (6 * c[3] + x * 12 * c[4]);
  if (tendon) status = addTendon(row, sum, id2, -slope, err);
  if (status < 0 || bend == 0) return status;
  if (!row->dJ) row->dJ = zeroMatrix(sum);
  if (!tendon) {
    row->dJ[(size_t)m->jnt_dofadr[id2] * (nv + 1)] -= bend;
    return DJ_OK;
  }
  int adr = m->ten_J_rowadr[id2], n = m->ten_J_rownnz[id2];
  for (int i = adr; i < adr + n; i++) {
    for (int j = adr; j < adr + n; j++) {
      row->dJ[(size_t)m->ten_J_colind[i] * nv + m->ten_J_colind[j]] -=
          bend * sum->d->ten_J[i] * sum->d->ten_J[j];
    }
  }
  return DJ_OK;
}

static djStatus turnRow(Row* row, const djmRowSum* sum, int adr, djError* err) {
  const mjModel* m = sum->m;
  int type = sum->d->efc_type[adr], id = sum->d->efc_id[adr];
  if (type == mjCNSTR_EQUALITY) return turnEquality(row, sum, id, err);
  if (type == mjCNSTR_FRICTION_TENDON) return addTendon(row, sum, id, 1, err);
  if (type == mjCNSTR_LIMIT_TENDON) {
    // the upper limit's row is minus the tendon's, its distance range[1] - length
    bool upper = sum->d->efc_pos[adr] == m->tendon_range[2 * id + 1] - sum->d->ten_length[id];
    return addTendon(row, sum, id, upper ? -1 : 1, err);
  }
  if (type == mjCNSTR_LIMIT_JOINT && m->jnt_type[id] == mjJNT_BALL) turnBall(row, sum, id);
  return DJ_OK;
}

// ---- sums ---------------------------------------------------------------------------------------

static void addCurved(djmRowSum* sum, const Row* row, int adr, mjtNum S, mjtNum B, mjtNum f) {
  int nv = (int)sum->m->nv;
  mjtNum* change = row->dJ + (size_t)nv * nv;   // of J a + B J v
  mju_zero(change, nv);
  for (int i = 0; i < nv; i++) {
    mjtNum g = sum->a[i] + B * sum->d->qvel[i];
    const mjtNum* dJ = row->dJ + (size_t)i * nv;
    mjtNum* by_q = sum->by_q + (size_t)i * sum->stride;
    for (int j = 0; j < nv; j++) {
      change[j] += g * dJ[j];
      if (!sum->drop_force) by_q[j] += f * dJ[j];
    }
  }
  for (int i = 0; i < row->n; i++) {
    mju_addToScl(sum->by_q + (size_t)row->dof[i] * sum->stride, change, -S * row->J[i], nv);
  }
  if (sum->by_force) mju_addToScl(sum->by_force + (size_t)adr * 2 * nv, change, -S, nv);
}

djStatus djm_addScalar(djmRowSum* sum, int adr, djError* err) {
  if (sum->state[adr] == mjCNSTRSTATE_SATISFIED) return DJ_OK;
  int nv = (int)sum->m->nv;
  const mjData* d = sum->d;
  Row row;
  openRow(&row, sum, adr);
  djStatus status = turnRow(&row, sum, adr, err);
  if (status < 0) return status;
  mjtNum f = sum->force[adr], B = d->efc_KBIP[4 * adr + 1];
  mjtNum S = sum->state[adr] == mjCNSTRSTATE_QUADRATIC ? d->efc_D[adr] : 0;
  if (row.dJ) addCurved(sum, &row, adr, S, B, f);
  if (S == 0) return DJ_OK;
  mjtNum slope = sum->drop_reference ? 0 : -S * djm_springSlope(d, adr);
  if (!sum->drop_impedance) slope += f * djm_impedanceSlope(d, adr);
  for (int p = 0; p < row.n; p++) {
    int i = row.dof[p];
    if (sum->by_force) {
      sum->by_force[(size_t)adr * 2 * nv + i] += slope * row.J[p];
      sum->by_force[(size_t)adr * 2 * nv + nv + i] = -S * B * row.J[p];
    }
    for (int r = 0; r < row.n; r++) {
      int j = row.dof[r];
      mjtNum JJ = row.J[p] * row.J[r];
      sum->by_q[(size_t)i * sum->stride + j] += slope * JJ;
      sum->by_v[(size_t)i * sum->stride + j] -= S * B * JJ;
      if (j <= i) sum->H[(size_t)i * nv + j] += S * JJ;
    }
  }
  return DJ_OK;
}

// ---- all rows -----------------------------------------------------------------------------------

static int rowsOf(const djmRowSum* sum, int adr) {
  int type = sum->d->efc_type[adr], id = sum->d->efc_id[adr];
  if (type == mjCNSTR_CONTACT_ELLIPTIC) return sum->d->contact[id].dim;
  if (type == mjCNSTR_CONTACT_PYRAMIDAL) return 2 * (sum->d->contact[id].dim - 1);
  if (type != mjCNSTR_EQUALITY) return 1;
  int eq = sum->m->eq_type[id];
  return eq == mjEQ_CONNECT ? 3 : eq == mjEQ_WELD ? 6 : 1;
}

// Contacts of a pair stand next to each other, and their geometry is found together.
djStatus djm_visitContacts(const djmRowSum* sum, djmContactVisit visit, void* user, djError* err) {
  enum { MOST = 8 };
  const mjData* d = sum->d;
  for (int first = 0, n; first < d->ncon; first += n) {
    const mjContact* con = d->contact + first;
    djmContactSlope slope[MOST];
    bool acts[MOST], any = false;
    for (n = 0; n < MOST && first + n < d->ncon; n++) {
      if (con[n].geom[0] != con->geom[0] || con[n].geom[1] != con->geom[1]) break;
      acts[n] = con[n].efc_address >= 0 && djm_contactActs(sum, con + n);
      any = any || acts[n];
    }
    if (!any) continue;
    if (djm_contactSlopes(slope, sum->m, sum->pose, con, n) < 0) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "contact of geoms #%d and #%d: has no derivative",
                            con->geom[0], con->geom[1]);
    }
    for (int k = 0; k < n; k++) {
      if (acts[k]) visit(user, con + k, slope + k);
    }
  }
  return DJ_OK;
}

void djm_countContact(djmRowSum* sum, const mjContact* con, const djmContactSlope* slope) {
  sum->ncontact++;
  sum->features[slope->feature]++;
  if (slope->feature == DJM_FEATURE_KINK && sum->info) {
    djm_addKink(sum->info, DJM_KINK_CONTACT, sum->d, con->efc_address, 0);
  }
  if (slope->off < DJM_KINK_DISTANCE && sum->info) {
    djm_addKink(sum->info, DJM_KINK_FEATURE, sum->d, con->efc_address, slope->off);
  }
}

static void addContact(void* user, const mjContact* con, const djmContactSlope* slope) {
  djm_addContact(user, con, slope);
  djm_countContact(user, con, slope);
}

djStatus djm_addRows(djmRowSum* sum, djError* err) {
  const mjData* d = sum->d;
  for (int i = 0, n; i < d->ne + d->nf + d->nl; i += n) {
    n = rowsOf(sum, i);
    djStatus status = DJ_OK;
    if (n == 1) {
      status = djm_addScalar(sum, i, err);
    } else {
      djm_addPair(sum, i);
    }
    if (status < 0) return status;
  }
  return djm_visitContacts(sum, addContact, sum, err);
}
