// The variational integrator: discrete momentum is balanced at the middle of three poses.
//
// With the discrete Lagrangian L = sum_b tr((T+ - T) S (T+ - T)^T)/(2 h), S the exact second
// moments, the momenta at both ends of a step are -D1 L(q, q+) and D2 L(q, q+) (Marsden and West,
// Discrete mechanics and variational integrators, 2001, section 1.5). A velocity v stands for the
// momentum M(q) v, so a step solves
//   r(q+) = (-D1 L(q, q+) - M(q) v)/h - f = 0,   then M(q+) v+ = D2 L(q, q+).
// The rotational part of -D1 L is the skew part of T+ S T^T/h. Its projection uses the motion
// subspaces S(q) of the start, where the rigid motions of a free-floating tree are columns: its
// linear and angular momentum are those of M(q) v and are conserved; without forces the map is
// symplectic and its energy error stays O(h^2).
//
// Forces f. Gravity and applied wrenches act at the centre of mass at the start, which makes them
// part of the variational principle. All others are stiff, are taken at q+ and act on the motions
// S(q+), which keeps their derivative symmetric: with rows at S(q) and columns at S(q+) a stiffness
// k would have eigenvalues down to -k (h w)^2/4. For the same reason the balance of a rotation,
// which is in axes of R, is turned to axes of R+. That of a free joint, about the frame's origin p,
// is also moved with the centre of mass c of its body, so that torques about c and about c+ are
// compared, wherever the frame is:
//   r_rot = E^T (y + R^T ((c+ - p+) - (c - p)) x F),   E = R^T R+,
// y and F the balance of the rotation and of the translation.

#include "integrate/variational.h"

#include "base/status.h"
#include "integrate/assemble.h"
#include "math/block_matrix.h"
#include "math/so3.h"
#include "model/momentum.h"

#include <math.h>
#include <string.h>

static djStatus begin(djWork* w, const djModel* m) {
  const djData* d = &w->start;
  double h = w->h;
  dj_kinematics(&w->kin0, m, d->qpos, d->mocap_pos, d->mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->kin0.com[m->body_root[b]];
  dj_motionSubspace(&w->kin0, m, w->ref);
  dj_bodyMomentum(w->momentum, w->lead, m, &w->kin0, w->ref, d->qvel);
  // The last step matters to the start guess alone.
  dj_integratePos(w->qback, m, d->qpos, d->qvel, -h);
  dj_kinematics(&w->back, m, w->qback, d->mocap_pos, d->mocap_quat);
  dj_beginBodyTerms(w->body, m, d, &w->kin0, &w->back, h);
  dj_beginJointTerms(&w->joint, w->act_next, m, d, h);
  w->fluid = false;
  for (int b = 1; b < m->nbody; b++) {
    if (!w->body[b].active || !w->body[b].fluid) continue;
    if (!w->fluid) memset(w->drag, 0, (size_t)m->nbody * sizeof(djBodyStep));
    w->fluid = true;
    w->drag[b].active = w->drag[b].fluid = true;
    memcpy(w->drag[b].drag_linear, w->body[b].drag_linear, sizeof w->drag[b].drag_linear);
    memcpy(w->drag[b].drag_square, w->body[b].drag_square, sizeof w->drag[b].drag_square);
  }
  dj_beginPattern(&w->trees);
  dj_endPattern(&w->trees);
  if (!w->contacts) return DJ_OK;
  return dj_beginContacts(w->contacts, m, w->kin0.body, w->ref, h, &w->error);
}

// ---- residual ---------------------------------------------------------------------------------

static djQuat rotation(const djModel* m, const double* qpos, int j) {
  return dju_normalizeQuat(dju_loadQuat(qpos + dj_rotationQpos(m, j)));
}

bool dj_turnOf(djTurn* t, const djWork* w, const djModel* m, const double* q, int j) {
  t->dof = dj_rotationDof(m, j);
  if (t->dof < 0) return false;
  t->free = m->jnt_type[j] == DJ_FREE;
  t->R = dju_quatToMat(rotation(m, w->start.qpos, j));
  t->Rnext = dju_quatToMat(rotation(m, q, j));
  t->E = dju_mulMtM(t->R, t->Rnext);
  t->moved = dju_load3(w->balance + t->dof);
  if (t->free) {
    t->com = dju_load3(m->body_ipos + 3 * m->jnt_body[j]);
    t->delta = dju_sub3(dju_mulMV(t->Rnext, t->com), dju_mulMV(t->R, t->com));
    t->F = dju_load3(w->balance + t->dof - 3);
    t->moved = dju_add3(t->moved, dju_mulMtV(t->R, dju_cross3(t->delta, t->F)));
  } else {
    t->com = t->delta = t->F = dju_vec3(0, 0, 0);
  }
  t->turned = dju_mulMtV(t->E, t->moved);
  return true;
}

static void addTo3(double* A, int stride, int row, int col, djMat3 B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) A[(size_t)(row + r) * stride + col + c] += B.m[3 * r + c];
  }
}

// Columns of the tree that holds a dof.
static void treeColumns(int* first, int* end, const djBlocks* trees, int dof) {
  int k = 0;
  while (k + 1 < trees->nblock && trees->adr[k + 1] <= dof) k++;
  *first = trees->adr[k];
  *end = trees->adr[k + 1];
}

// Rows of a derivative of the balance, A (nv x nv): E^T (rotation + R^T [delta] translation).
static void turnRows(double* A, const djWork* w, const djModel* m, const djTurn* t) {
  int nv = m->nv, first, end;
  treeColumns(&first, &end, &w->trees.blocks, t->dof);
  double* row = A + (size_t)t->dof * nv;
  for (int c = first; c < end; c++) {
    djVec3 y = {row[c], row[nv + c], row[2 * nv + c]};
    if (t->free) {
      const double* up = row - 3 * (size_t)nv;
      djVec3 dF = {up[c], up[nv + c], up[2 * nv + c]};
      y = dju_add3(y, dju_mulMtV(t->R, dju_cross3(t->delta, dF)));
    }
    y = dju_mulMtV(t->E, y);
    row[c] = y.x;
    row[nv + c] = y.y;
    row[2 * nv + c] = y.z;
  }
}

// Adds the balance to the residual, and its derivative A by q+ (scratch, overwritten) to H. By
// R+ -> R+ exp(d): d delta = -R+ [com] d, and E^T -> exp(-d) E^T adds [turned] d. H holds the
// forces' part in exponential coordinates: along axes that turn with R+ theirs, g, adds [g] d/2.
static void addBalance(double* gradient, double* A, djWork* w, const djModel* m,
                       const djKin* kin, const double* q) {
  const djBlocks* trees = &w->trees.blocks;
  dj_clearBlocks(A, trees);
  memset(w->balance, 0, (size_t)m->nv * sizeof(double));
  memset(w->change, 0, (size_t)m->nbody * 6 * sizeof(double));
  memset(w->M, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentum(w->change, w->M, m, w->body, w->momentum, kin, &w->kin0, w->ref, w->h);
  dj_gatherWrench(w->change, m);
  dj_gatherMatrix(w->M, m);
  dj_projectWrench(w->balance, m, &w->kin0, w->change);
  dj_projectMixed(A, m, &w->kin0, kin, w->M);
  memcpy(w->inertial, w->balance, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, q, j)) continue;
    djVec3 g = dju_load3(gradient + t.dof);
    dju_store3(w->inertial + t.dof, t.turned);
    turnRows(A, w, m, &t);
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.Rnext), dju_skew(t.com));
      addTo3(A, m->nv, t.dof, t.dof, dju_mulMtM(t.Rnext, X));
    }
    addTo3(A, m->nv, t.dof, t.dof, dju_skew(dju_madd3(t.turned, 0.5, g)));
  }
  for (int i = 0; i < m->nv; i++) gradient[i] += w->inertial[i];
  dj_addBlocks(w->H, A, trees);
}

// What the start guess compares: the energy of an implicit Euler step (position.c).
static double guessEnergy(djWork* w, const djModel* m, const djKin* kin, const double* q) {
  double sum = dj_bodyTerms(NULL, NULL, m, w->body, kin, &w->kin0, w->ref, w->h);
  dj_addJointTerms(&sum, NULL, w, m, q);
  return sum;
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djKin* kin, const double* q, bool* cautious) {
  *value = 0;
  if (w->contacts) {
    int flags = gradient ? DJ_EVAL_HESSIAN | (*cautious ? DJ_EVAL_MAJORIZER : 0) : 0;
    djStatus status = dj_evalContacts(value, w->contacts, m, kin->body, flags);
    if (status < 0 || !isfinite(*value)) {
      *value = INFINITY;
      return status;
    }
  }
  if (!gradient) {
    *value += guessEnergy(w, m, kin, q);
    return DJ_OK;
  }
  dj_coupleTrees(w, m);
  dj_clearBlocks(w->H, &w->pattern.blocks);
  memset(gradient, 0, (size_t)m->nv * sizeof(double));
  if (w->fluid) {
    *value += dj_bodyTerms(w->wrench, w->N, m, w->drag, kin, &w->kin0, w->ref, w->h);
  } else {
    memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  }
  int n = 0;
  if (w->contacts) {
    dj_contactBlocks(&n, w->contacts);
    dj_addContactForces(w, m, kin);
  }
  if (n == 0) *cautious = false;
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectWrench(gradient, m, kin, w->wrench);
  dj_projectHessian(w->H, m, kin, w->N);
  dj_addJointTerms(value, gradient, w, m, q);
  dj_mirrorBlocks(w->H, w->H, &w->pattern.blocks);
  addBalance(gradient, w->X, w, m, kin, q);
  return DJ_OK;
}

// ---- derivatives by the start -----------------------------------------------------------------

// The balance by the start: S(q), T and M(q) v. Sets Rq and Rv. By R -> R exp(d): d delta =
// R [com] d, R^T u changes by [R^T u] d, and E^T -> E^T exp(d) adds -E^T [moved] d.
static void linearizeBalance(djWork* w, const djModel* m) {
  const djBlocks* blocks = &w->pattern.blocks;
  dj_clearBlocks(w->Rq, blocks);
  dj_projectTurning(w->Rq, m, &w->kin0, w->change);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentumStart(w->N, m, w->body, w->momentum, &w->now, &w->kin0, w->ref, w->h);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(w->Rq, m, &w->kin0, &w->kin0, w->N);
  // M(q) v: the bodies' part; that of armature is the joints'
  dj_massMatrix(w->X, w->M, m, &w->kin0, w->ref);
  for (int i = 0; i < m->nv; i++) {
    w->X[(size_t)i * (m->nv + 1)] -= m->jnt_armature[m->dof_jnt[i]];
  }
  dj_projectLead(w->Rq, -1 / w->h, m, &w->kin0, w->M, w->lead);
  dj_mirrorBlocks(w->Rv, w->X, blocks);
  dj_scaleBlocks(w->Rv, -1 / w->h, blocks);
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, w->q, j)) continue;
    turnRows(w->Rq, w, m, &t);
    turnRows(w->Rv, w, m, &t);
    djMat3 B = dju_skew(dju_neg3(t.moved));
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.R), dju_skew(t.com));
      X = dju_mulMtM(t.R, X);
      djMat3 Y = dju_skew(dju_mulMtV(t.R, dju_cross3(t.delta, t.F)));
      for (int k = 0; k < 9; k++) B.m[k] += Y.m[k] - X.m[k];
    }
    addTo3(w->Rq, m->nv, t.dof, t.dof, dju_mulMtM(t.E, B));
  }
}

// After evaluate at (now, q).
static djStatus linearize(djWork* w, const djModel* m) {
  linearizeBalance(w, m);
  if (w->fluid) {
    dj_bodyTermsStart(w->N, w->M, m, w->drag, &w->now, &w->kin0, &w->back, w->ref, w->h);
  } else {
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  }
  if (w->contacts) {
    djStatus status = dj_startContacts(w->contacts, m, w->now.body);
    if (status < 0) return status;
    dj_addContactStart(w, m);
  }
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(w->Rq, m, &w->now, &w->kin0, w->N);
  dj_addJointStart(w, m);
  dj_addInputs(w, m);
  return DJ_OK;
}

// ---- velocity at the end ----------------------------------------------------------------------

// psi = log(q^-1 q+) is the displacement; armature has momentum A psi/h, in axes of q or q+.
static djStatus velocity(djWork* w, const djModel* m) {
  int nv = m->nv;
  dj_motionSubspace(&w->now, m, w->ref);
  dj_endMomentum(w->wrench, NULL, NULL, m, w->body, NULL, &w->now, &w->kin0, w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  memset(w->qvel, 0, (size_t)nv * sizeof(double));
  dj_projectWrench(w->qvel, m, &w->now, w->wrench);
  dj_differentiatePos(w->vnext, m, w->h, w->start.qpos, w->q);
  dj_massMatrix(w->X, w->M, m, &w->now, w->ref);
  for (int i = 0; i < nv; i++) {
    double A = w->joint.joint[m->dof_jnt[i]].armature;
    w->X[(size_t)i * (nv + 1)] += A - m->jnt_armature[m->dof_jnt[i]];
    w->qvel[i] += A * w->vnext[i];
  }
  w->mass.blocks = w->trees.blocks;
  if (!dj_factor(&w->mass, w->X, NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the end of the step");
  }
  dj_solve(w->qvel, &w->mass);
  return DJ_OK;
}

// Armature's part of p+ - M(q+) v+: d psi by q+ and by q.
static void addArmature(djWork* w, const djModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    double A = w->joint.joint[j].armature / w->h;
    if (A == 0) continue;
    int rotation = dj_rotationDof(m, j), first = m->jnt_dofadr[j];
    int n = rotation < 0 ? 1 : rotation - first;
    for (int i = first; i < first + n; i++) {
      size_t k = (size_t)i * (m->nv + 1);
      w->Vplus[k] += A;
      w->Vstart[k] -= A;
    }
    if (rotation < 0) continue;
    djMat3 J = dju_rightJacobianInv(dju_scale3(w->h, dju_load3(w->vnext + rotation)));
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        size_t k = (size_t)(rotation + r) * m->nv + rotation + c;
        w->Vplus[k] += A * J.m[3 * r + c];
        w->Vstart[k] -= A * J.m[3 * c + r];
      }
    }
  }
}

// M(q+) v+ = p+(q, q+): dv+ = M^-1 (d(p+ - M v+)/dq+ dq+ + dp+/dq dq). After linearize.
static djStatus linearizeVelocity(djWork* w, const djModel* m) {
  size_t n2 = (size_t)m->nv * m->nv;
  memset(w->Vplus, 0, n2 * sizeof(double));
  memset(w->Vstart, 0, n2 * sizeof(double));
  dj_bodyMomentum(w->momentum, w->lead, m, &w->now, w->ref, w->qvel);
  dj_endMomentum(w->wrench, w->N, w->M, m, w->body, w->momentum, &w->now, &w->kin0, w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_gatherMatrix(w->M, m);
  dj_projectTurning(w->Vplus, m, &w->now, w->wrench);
  dj_projectMixed(w->Vplus, m, &w->now, &w->now, w->N);
  dj_projectMixed(w->Vstart, m, &w->now, &w->kin0, w->M);
  dj_massMatrix(w->X, w->M, m, &w->now, w->ref);
  dj_projectLead(w->Vplus, -1, m, &w->now, w->M, w->lead);
  addArmature(w, m);
  // at fixed dq+ - E dq, before the solution: see transition.c
  memcpy(w->X, w->Vplus, n2 * sizeof(double));
  dj_applyE(w->X, m->nv, m, w->vnext, -w->h);
  for (size_t k = 0; k < n2; k++) w->Vstart[k] += w->X[k];
  dj_bodyMomentum(w->momentum, w->lead, m, &w->kin0, w->ref, w->start.qvel);
  dj_solveMulti(w->Vplus, &w->mass, m->nv);
  dj_solveMulti(w->Vstart, &w->mass, m->nv);
  dj_packBlocks(w->Vplus, w->Vplus, &w->trees.blocks);
  dj_packBlocks(w->Vstart, w->Vstart, &w->trees.blocks);
  return DJ_OK;
}

const djIntegratorRow dj_variationalRow = {
    "variational",        DJ_LDU,   begin,             evaluate,                    linearize,
    dj_variationalParams, velocity, linearizeVelocity, dj_variationalVelocityParams};
