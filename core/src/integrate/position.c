// Position-level dynamics (SDRS eq. 2-5, 14), an implicit Euler method: the next configuration
// minimises
//   sum_b 1/(2 h^2) tr(D S D^T) + U(q+) + h Phi(q+, q),   D = T+ - 2 T + T-,
// T- = T(q (+) -h v), with S the exact second moments, U potentials (gravity, springs, limits,
// contact) and Phi lagged dissipation (damping, friction). The residual is the gradient.

#include "integrate/assemble.h"

#include "math/block_matrix.h"
#include "model/joint_term.h"

#include <math.h>
#include <string.h>

static djStatus begin(djWork* w, const djModel* m) {
  const djData* d = &w->start;
  double h = w->h;
  dj_kinematics(&w->kin0, m, d->qpos, d->mocap_pos, d->mocap_quat);
  for (int b = 0; b < m->nbody; b++) w->ref[b] = w->kin0.com[m->body_root[b]];
  dj_integratePos(w->qback, m, d->qpos, d->qvel, -h);
  dj_kinematics(&w->back, m, w->qback, d->mocap_pos, d->mocap_quat);
  dj_beginBodyTerms(w->body, m, d, &w->kin0, &w->back, h);
  dj_beginJointTerms(&w->joint, w->act_next, m, d, h);
  if (!w->contacts) return DJ_OK;
  return dj_beginContacts(w->contacts, m, w->kin0.body, w->ref, h, &w->error);
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djKin* kin, const double* q, bool* cautious) {
  *value = 0;
  double contact = 0;
  if (w->contacts) {
    int flags = gradient ? DJ_EVAL_HESSIAN | (*cautious ? DJ_EVAL_MAJORIZER : 0) : 0;
    djStatus status = dj_evalContacts(&contact, w->contacts, m, kin->body, flags);
    if (status < 0) return status;
    if (!isfinite(contact)) {
      *value = INFINITY;
      return DJ_OK;
    }
  }
  *value = contact + dj_bodyTerms(gradient ? w->wrench : NULL, gradient ? w->N : NULL, m, w->body,
                                  kin, &w->kin0, w->ref, w->h);
  if (!gradient) {
    dj_addJointTerms(value, NULL, w, m, q);
    return DJ_OK;
  }
  dj_coupleTrees(w, m);
  dj_clearBlocks(w->H, &w->pattern.blocks);
  memset(gradient, 0, (size_t)m->nv * sizeof(double));
  if (w->contacts) {
    int n;
    dj_contactBlocks(&n, w->contacts);
    dj_addContactForces(w, m, kin);
    if (n == 0) *cautious = false;
  } else {
    *cautious = false;
  }
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectWrench(gradient, m, kin, w->wrench);
  dj_projectHessian(w->H, m, kin, w->N);
  dj_addJointTerms(value, gradient, w, m, q);
  return DJ_OK;
}

// ---- derivatives by the start -----------------------------------------------------------------

// The residual depends on the start through T (inertia, drag, lagged contact) and through T- =
// T(q (+) -h v), whose tangent is E dq - h J dv with E = exp(h w) and J = J_r(-h w) = E J_r(h w) on
// rotations.
static djStatus linearize(djWork* w, const djModel* m) {
  const djBlocks* blocks = &w->pattern.blocks;
  double h = w->h;
  dj_clearBlocks(w->Rq, blocks);
  dj_clearBlocks(w->Rv, blocks);
  dj_motionSubspace(&w->kin0, m, w->ref);
  dj_motionSubspace(&w->back, m, w->ref);
  dj_bodyTermsStart(w->N, w->M, m, w->body, &w->now, &w->kin0, &w->back, w->ref, h);
  if (w->contacts) {
    djStatus status = dj_startContacts(w->contacts, m, w->now.body);
    if (status < 0) return status;
    dj_addContactStart(w, m);
  }
  dj_gatherMatrix(w->N, m);
  dj_gatherMatrix(w->M, m);
  dj_projectMixed(w->Rq, m, &w->now, &w->kin0, w->N);
  dj_projectMixed(w->Rv, m, &w->now, &w->back, w->M);
  dj_applyEBlocks(w->Rv, blocks, m, w->start.qvel, h);
  dj_addBlocks(w->Rq, w->Rv, blocks);
  dj_applyJrBlocks(w->Rv, blocks, m, w->start.qvel, h);
  dj_scaleBlocks(w->Rv, -h, blocks);
  dj_addJointStart(w, m);
  dj_addInputs(w, m);
  return DJ_OK;
}

const djIntegratorRow dj_positionRow = {"position", DJ_LDL,            begin, evaluate,
                                        linearize,  dj_positionParams, NULL,  NULL,
                                        NULL};
