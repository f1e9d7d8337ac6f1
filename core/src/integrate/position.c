// Position-level dynamics (SDRS eq. 2-5, 14), an implicit Euler method: the next configuration
// minimises
//   sum_b 1/(2 h^2) tr(D S D^T) + U(q+) + h Phi(q+, q),   D = T+ - 2 T + T-,
// T- = T(q (+) -h v), with S the exact second moments, U potentials (gravity, springs, limits,
// contact) and Phi lagged dissipation (damping, friction). The residual is the gradient.

#include "integrate/work.h"

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

// Wrenches and second derivatives of contact, added to those of bodies; cross blocks go to H.
static void addContacts(djWork* w, const djModel* m, const djKin* kin) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, w->contacts);
  for (int k = 0; k < n; k++) {
    const djContactBlock* c = block[k];
    int body[2] = {c->body_a, c->body_b};
    for (int s = 0; s < 2; s++) {
      if (m->body_lastdof[body[s]] < 0) continue;
      const double* g = c->out.gradient + 6 * s;
      double Q[36];
      for (int r = 0; r < 6; r++) {
        w->wrench[6 * body[s] + r] += g[r];
        memcpy(Q + 6 * r, c->out.hessian + 12 * (6 * s + r) + 6 * s, 6 * sizeof(double));
      }
      dj_addNested(w->N + 36 * body[s], Q, g);
    }
    if (m->body_lastdof[body[0]] < 0 || m->body_lastdof[body[1]] < 0) continue;
    double K[36];
    for (int r = 0; r < 6; r++) memcpy(K + 6 * r, c->out.hessian + 12 * r + 6, 6 * sizeof(double));
    dj_projectCross(w->H, m, kin, body[0], body[1], K);
  }
}

static void addJoints(double* value, double* gradient, djWork* w, const djModel* m,
                      const double* q) {
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, q, false);
    for (int k = 0; k < n; k++) {
      const djBlock* b = &block[k];
      *value += b->value;
      if (!gradient) continue;
      for (int r = 0; r < b->n; r++) {
        gradient[b->dof + r] += b->g[r];
        for (int c = 0; c <= r; c++) {
          w->H[(size_t)(b->dof + r) * m->nv + b->dof + c] += b->K[3 * r + c];
        }
      }
    }
  }
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
    addJoints(value, NULL, w, m, q);
    return DJ_OK;
  }
  dj_coupleTrees(w, m);
  dj_clearBlocks(w->H, &w->pattern.blocks);
  memset(gradient, 0, (size_t)m->nv * sizeof(double));
  if (w->contacts) {
    int n;
    dj_contactBlocks(&n, w->contacts);
    addContacts(w, m, kin);
    if (n == 0) *cautious = false;
  } else {
    *cautious = false;
  }
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectWrench(gradient, m, kin, w->wrench);
  dj_projectHessian(w->H, m, kin, w->N);
  addJoints(value, gradient, w, m, q);
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
        for (int i = 0; i < 6; i++) {
          memcpy(K + 6 * i, c->start_jac + 12 * (6 * r + i) + 6 * s, 6 * sizeof(double));
        }
        if (r == s) {
          for (int i = 0; i < 36; i++) w->N[36 * body[r] + i] += K[i];
        } else {
          dj_projectCrossMixed(w->Rq, m, &w->now, &w->kin0, body[r], body[s], K);
        }
      }
    }
  }
}

static void addJointStart(djWork* w, const djModel* m) {
  int nv = m->nv;
  for (int j = 0; j < m->njnt; j++) {
    djBlock block[2];
    int n = dj_jointTerm(block, &w->joint, m, &w->start, j, w->q, true);
    for (int k = 0; k < n; k++) {
      const djBlock* b = &block[k];
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
      double g[3];
      int dof, n, adr = m->actuator_actadr[i];
      if (!dj_actuatorColumn(g, &dof, &n, &w->joint, m, &w->start, i, part, w->q)) continue;
      for (int r = 0; r < n; r++) {
        w->Ru[(size_t)(dof + r) * m->nu + i] += g[r] * w->joint.act[i].dinput;
        if (adr >= 0) w->Ra[(size_t)(dof + r) * m->na + adr] += g[r] * w->joint.act[i].dact;
      }
    }
  }
}

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
    addContactStart(w, m);
  }
  dj_gatherMatrix(w->N, m);
  dj_gatherMatrix(w->M, m);
  dj_projectMixed(w->Rq, m, &w->now, &w->kin0, w->N);
  dj_projectMixed(w->Rv, m, &w->now, &w->back, w->M);
  dj_applyEBlocks(w->Rv, blocks, m, w->start.qvel, h);
  dj_addBlocks(w->Rq, w->Rv, blocks);
  dj_applyJrBlocks(w->Rv, blocks, m, w->start.qvel, h);
  dj_scaleBlocks(w->Rv, -h, blocks);
  addJointStart(w, m);
  addInputs(w, m);
  return DJ_OK;
}

const djIntegratorRow dj_positionRow = {"position", DJ_LDL,            begin, evaluate,
                                        linearize,  dj_positionParams, NULL,  NULL,
                                        NULL};
