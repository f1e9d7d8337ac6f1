// What the residuals of all methods share.

#include "base/status.h"
#include "integrate/armature.h"
#include "math/block6.h"

#include <math.h>
#include <string.h>

djStatus dj_beginEvaluation(double* value, double* gradient, djWork* w, const djModel* m,
                            const djPlace* at, bool* majorizer) {
  djMotion motion = dj_motionAt(w, m, at);
  int flags = gradient ? DJ_FORCE_DERIVATIVES | (*majorizer ? DJ_FORCE_MAJORIZER : 0) : 0;
  bool majorized;
  djStatus status = dj_findForces(value, &majorized, &w->forces, &motion, flags);
  if (status < 0 || !isfinite(*value)) return status;
  dj_clearForceSum(&w->sum, m);
  w->sum.derivatives = gradient != NULL;
  w->sum.gradient = gradient;
  if (!gradient) return status;
  *majorizer = majorized;
  djStatus room = dj_coupleTrees(w, m);
  if (room < 0) return room;
  dj_clearMatrix(&w->H);
  memset(gradient, 0, (size_t)m->nv * sizeof(double));
  return status;
}

djStatus dj_addEnergies(double* value, double* gradient, djWork* w, const djModel* m,
                        const djBodyStep* body, const djKin* from, const djPlace* at) {
  djMotion motion = dj_motionAt(w, m, at);
  *value += dj_bodyTerms(gradient ? w->wrench : NULL, gradient ? w->N : NULL, m, body, &at->kin,
                         from, w->ref);
  dj_addArmature(&w->sum, w, &motion);
  djStatus status = dj_evaluateForces(&w->sum, &w->forces, &motion);
  *value += w->sum.value;
  return status;
}

void dj_projectForces(djWork* w, const djModel* m, const djPlace* at) {
  dj_gatherWrench(w->wrench, m);
  dj_gatherMatrix(w->N, m);
  dj_projectWrench(w->sum.gradient, m, &at->kin, w->wrench);
  dj_projectHessian(&w->H, m, &at->kin, w->N);
}

void dj_turnAxes(djWork* w, const djModel* m, const double* gradient) {
  for (int j = 0; j < m->njnt; j++) {
    int dof = dj_rotationDof(m, j);
    if (dof < 0) continue;
    djMat3 X = dju_skew(dju_scale3(0.5, dju_load3(gradient + dof)));
    for (int k = 0; k < 9; k++) *dj_own(&w->H, dof + k / 3, dof + k % 3) += X.m[k];
  }
}

void dj_addNonpotentialForces(double* gradient, djWork* w, const djModel* m, const djPlace* at) {
  djMotion motion = dj_motionAt(w, m, at);
  bool smooth = motion.acting == DJ_ACTS_SMOOTH;   // of which actuators have some
  if (!motion.prompt && !smooth && !dj_hasNonpotentialForces(&w->forces, m)) return;
  dj_nonpotentialForces(&w->sum, w->nonpotential_force, &w->forces, &motion);
  for (int i = 0; i < m->nv; i++) {
    gradient[i] += w->nonpotential_force[i];
    w->nonpotential[i] += w->nonpotential_force[i];
  }
}

void dj_endMinimum(double* gradient, djWork* w, const djModel* m, const djPlace* at) {
  dj_projectForces(w, m, at);
  if (w->kind == DJ_LDL) return;
  dj_mirrorMatrix(&w->H);
  dj_turnAxes(w, m, gradient);
  memset(w->nonpotential, 0, (size_t)m->nv * sizeof(double));
  dj_addNonpotentialForces(gradient, w, m, at);
}

// What friction by the end adds to H.
static djStatus addLag(djWork* w, const djModel* m) {
  djMotion motion = dj_motionAt(w, m, &w->now);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  djStatus status = dj_lagAtEnd(&w->H, w->N, &w->forces, &motion);
  if (status < 0) return status;
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(&w->H, m, &w->now.kin, &w->now.kin, w->N);
  return DJ_OK;
}

djStatus dj_factorEnd(djWork* w, const djModel* m) {
  djStageWork* s = dj_stageOf(w);
  djStatus status = DJ_OK;
  if (w->kind == DJ_LDL) dj_mirrorMatrix(&w->H);
  if (w->lags) status = addLag(w, m);
  if (status < 0) return status;
  if (w->method->whole) w->method->whole(w, m);
  s->linear.factor.kind = dj_endKind(w);
  w->count.factorizations++;
  s->pivoted = !dj_factor(&s->linear.factor, &w->H, NULL);
  if (!s->pivoted) return DJ_OK;
  status = dj_factorPivoting(&s->lu, &w->H);
  if (status < 0) return dj_failMemory(&w->error);
  if (status == DJ_OK) return DJ_OK;
  return dj_fail(&w->error, DJ_SINGULAR, "dr/dq+ is singular at the solution: condition %.1e",
                 dj_condition(&s->lu));
}

void dj_sumSources(double* out, const double c[DJ_NSOURCE], const djWork* w, const djModel* m,
                   int end) {
  memset(out, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < DJ_SOURCE_STAGE + end; k++) {
    if (c[k] == 0) continue;
    const double* src = w->start.qvel;
    if (k >= DJ_SOURCE_STAGE) src = w->at_stage[k - DJ_SOURCE_STAGE].linear.psi;
    if (k == DJ_SOURCE_BEFORE) src = w->before;
    if (k == DJ_SOURCE_VELOCITY_BEFORE) src = w->start.history + m->nq;
    for (int i = 0; i < m->nv; i++) out[i] += c[k] * src[i];
  }
}

void dj_addBodyProducts(double* C, const double* A, const djModel* m, const double* x,
                        bool transpose) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] >= 0) dju_mulAdd6(C + 6 * b, A + 36 * b, 6, x + 6 * b, transpose);
  }
}

// Coordinates and velocity at the end, from all stages.
djStatus dj_endStep(djWork* w, const djModel* m) {
  const djCoefficients* c = &w->coef;
  int nstage = w->method->nstage;
  if (c->turns) {
    dj_sumSources(w->turn, c->position, w, m, nstage);
    dj_integratePos(w->qnext, m, w->start.qpos, w->turn, 1);
  } else {
    memcpy(w->qnext, w->now.q, (size_t)m->nq * sizeof(double));
  }
  if (w->method->velocity) return w->method->velocity(w, m);
  dj_sumSources(w->qvel, c->end, w, m, nstage);
  return DJ_OK;
}
