// The variational integrator: discrete momentum is balanced at the middle of three poses.
//
// With the discrete Lagrangian L = sum_b tr((T+ - T) S (T+ - T)^T)/(2 h) (S the exact second moments)
// the momenta at both ends of a step are p = -D1 L(q, q+) and p+ = D2 L(q, q+) (Marsden and West,
// Discrete mechanics and variational integrators, 2001, section 1.5). A velocity v stands for the
// momentum M(q) v, so a step solves
//   r(q+) = (-D1 L(q, q+) - M(q) v)/h - f = 0,   then M(q+) v+ = D2 L(q, q+).
// The rotational part of -D1 L is the skew part of T+ S T^T/h. Its projection uses the motion
// subspaces S(q) of the start, where the rigid motions of a free-floating tree are columns: its
// linear and angular momentum are those of M(q) v and are conserved; without forces the map is
// symplectic and its energy error stays O(h^2).
//
// Forces f. Gravity and applied wrenches act at the centre of mass at the start, which makes them
// part of the variational principle. All others are stiff and are taken at q+: contact and drag
// keep their arm to the centre of mass and act on the motions S(q); those of joints act on the
// joint's own axes, which turn with the child body, so that they are turned back to q.
// dr/dq+ = S(q)^T (...) S(q+) is unsymmetric.

#include "integrate/work.h"

#include "base/status.h"
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
  if (!w->contacts) return DJ_OK;
  return dj_beginContacts(w->contacts, m, w->kin0.body, w->ref, h, &w->error);
}

// ---- residual ---------------------------------------------------------------------------------

static void copyBlock(double K[36], const double* from) {
  for (int r = 0; r < 6; r++) memcpy(K + 6 * r, from + 12 * r, 6 * sizeof(double));
}

// Wrenches of contact and their derivatives, at T+; cross blocks go to H.
static void addContacts(djWork* w, const djModel* m, const djKin* kin) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int s = 0; s < 2; s++) {
      if (m->body_lastdof[body[s]] < 0) continue;
      const double* g = c->out.gradient + 6 * s;
      double K[36];
      for (int r = 0; r < 6; r++) w->wrench[6 * body[s] + r] += g[r];
      copyBlock(K, c->out.hessian + 78 * s);
      dj_addNested(w->N + 36 * body[s], K, g);
      if (m->body_lastdof[body[1 - s]] < 0) continue;
      copyBlock(K, c->out.hessian + 72 * s + 6 * (1 - s));
      dj_shiftRows(K, kin, &w->kin0, body[s]);
      dj_projectCrossMixed(w->H, m, &w->kin0, kin, body[s], body[1 - s], K);
    }
  }
}

// exp(phi) = R^T R+ of a block that is a rotation; whether it is one.
static bool blockTurn(djMat3* E, const djModel* m, const djBlock* b, const djData* start,
                      const double* q) {
  int j = m->dof_jnt[b->dof];
  if (dj_rotationDof(m, j) != b->dof) return false;
  int a = dj_rotationQpos(m, j);
  djQuat from = dju_normalizeQuat(dju_loadQuat(start->qpos + a));
  djQuat to = dju_normalizeQuat(dju_loadQuat(q + a));
  *E = dju_quatToMat(dju_mulQuat(dju_conj(from), to));
  return true;
}

// G by R+ -> R+ exp(d) is turned to axes of R: E G, E = R^T R+, with derivative
// E (dG - [G]), where dG = K + [G]/2 (K: in exponential coordinates).
static void turnBlock(djBlock* b, djMat3 E) {
  djVec3 G = dju_load3(b->g);
  djMat3 K, half = dju_skew(dju_scale3(0.5, G));
  for (int k = 0; k < 9; k++) K.m[k] = b->K[k] - half.m[k];
  K = dju_mulMM(E, K);
  memcpy(b->K, K.m, sizeof K.m);
  dju_store3(b->g, dju_mulMV(E, G));
}

static void addJoints(double* gradient, djWork* w, const djModel* m, const double* q) {
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, q, false);
    for (int k = 0; k < n; k++) {
      djBlock* b = &block[k];
      djMat3 E;
      if (blockTurn(&E, m, b, &w->start, q)) turnBlock(b, E);
      for (int r = 0; r < b->n; r++) {
        gradient[b->dof + r] += b->g[r];
        double* row = w->H + (size_t)(b->dof + r) * m->nv + b->dof;
        for (int c = 0; c < b->n; c++) row[c] += b->K[3 * r + c];
      }
    }
  }
}

// What the start guess compares: the energy of an implicit Euler step (position.c).
static double guessEnergy(djWork* w, const djModel* m, const djKin* kin, const double* q) {
  double sum = dj_bodyTerms(NULL, NULL, m, w->body, kin, &w->kin0, w->ref, w->h);
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, q, false);
    for (int k = 0; k < n; k++) sum += block[k].value;
  }
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
    dj_bodyTerms(w->wrench, w->N, m, w->drag, kin, &w->kin0, w->ref, w->h);
  } else {
    memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  }
  int n = 0;
  if (w->contacts) {
    dj_contactBlocks(&n, w->contacts);
    addContacts(w, m, kin);
  }
  if (n == 0) *cautious = false;
  dj_shiftForces(w->wrench, w->N, w->force, m, kin, &w->kin0, w->ref);
  dj_startMomentum(w->wrench, w->N, m, w->body, w->momentum, kin, &w->kin0, w->ref, w->h);
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectWrench(gradient, m, &w->kin0, w->wrench);
  dj_projectMixed(w->H, m, &w->kin0, kin, w->N);
  addJoints(gradient, w, m, q);
  return DJ_OK;
}

// ---- derivatives by the start -----------------------------------------------------------------

static void addContactStart(djWork* w, const djModel* m) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int r = 0; r < 2; r++) {
      for (int s = 0; s < 2; s++) {
        if (m->body_lastdof[body[r]] < 0 || m->body_lastdof[body[s]] < 0) continue;
        double K[36];
        copyBlock(K, c->start_jac + 72 * r + 6 * s);
        if (r == s) {
          for (int i = 0; i < 36; i++) w->N[36 * body[r] + i] += K[i];
        } else {
          dj_shiftRows(K, &w->now, &w->kin0, body[r]);
          dj_projectCrossMixed(w->Rq, m, &w->kin0, &w->kin0, body[r], body[s], K);
        }
      }
    }
  }
}

// With E G as above, R -> R exp(d) adds [E G] d.
static void turnStartBlock(djBlock* b, djMat3 E) {
  djMat3 S = dju_skew(dju_mulMV(E, dju_load3(b->g))), K, V;
  memcpy(K.m, b->Kstart, sizeof K.m);
  memcpy(V.m, b->Kvel, sizeof V.m);
  K = dju_mulMM(E, K);
  V = dju_mulMM(E, V);
  for (int k = 0; k < 9; k++) b->Kstart[k] = K.m[k] + S.m[k];
  memcpy(b->Kvel, V.m, sizeof V.m);
}

static void addJointStart(djWork* w, const djModel* m) {
  int nv = m->nv;
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, w->q, true);
    for (int k = 0; k < n; k++) {
      djBlock* b = &block[k];
      djMat3 E;
      if (blockTurn(&E, m, b, &w->start, w->q)) turnStartBlock(b, E);
      for (int r = 0; r < b->n; r++) {
        for (int c = 0; c < b->n; c++) {
          w->Rq[(size_t)(b->dof + r) * nv + b->dof + c] += b->Kstart[3 * r + c];
          w->Rv[(size_t)(b->dof + r) * nv + b->dof + c] += b->Kvel[3 * r + c];
        }
      }
    }
  }
}

static void addInputs(djWork* w, const djModel* m) {
  memset(w->Ru, 0, (size_t)m->nv * m->nu * sizeof(double));
  memset(w->Ra, 0, (size_t)m->nv * m->na * sizeof(double));
  for (int i = 0; i < m->nu; i++) {
    for (int part = 0; part < 2; part++) {
      djBlock b;
      djMat3 E;
      double* g = b.g;
      int adr = m->actuator_actadr[i];
      if (!dj_actuatorColumn(g, &b.dof, &b.n, &w->joint, m, &w->start, i, part, w->q)) continue;
      if (blockTurn(&E, m, &b, &w->start, w->q)) dju_store3(g, dju_mulMV(E, dju_load3(g)));
      for (int r = 0; r < b.n; r++) {
        w->Ru[(size_t)(b.dof + r) * m->nu + i] += g[r] * w->joint.act[i].dinput;
        if (adr >= 0) w->Ra[(size_t)(b.dof + r) * m->na + adr] += g[r] * w->joint.act[i].dact;
      }
    }
  }
}

// The start enters by the subspaces S(q), by T, and by M(q) v. After evaluate at (now, q):
// w->wrench holds the gathered wrenches, w->force those forces that dj_shiftForces moved.
static djStatus linearize(djWork* w, const djModel* m) {
  const djBlocks* blocks = &w->pattern.blocks;
  dj_clearBlocks(w->Rq, blocks);
  dj_projectTurning(w->Rq, m, &w->kin0, w->wrench);
  if (w->fluid) {
    dj_bodyTermsStart(w->N, w->M, m, w->drag, &w->now, &w->kin0, &w->back, w->ref, w->h);
  } else {
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  }
  if (w->contacts) {
    djStatus status = dj_startContacts(w->contacts, m, w->now.body);
    if (status < 0) return status;
    addContactStart(w, m);
  }
  dj_shiftForcesStart(w->N, w->force, m, &w->now, &w->kin0, w->ref);
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
  addJointStart(w, m);
  addInputs(w, m);
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
  dj_beginPattern(&w->trees);
  dj_endPattern(&w->trees);
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
    "variational", DJ_LDU, begin, evaluate, linearize, NULL, velocity, linearizeVelocity};
