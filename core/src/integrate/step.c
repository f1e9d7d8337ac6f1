// A step taken, whole or in parts, and what data say after it.

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/mocap.h"
#include "integrate/outside.h"
#include "integrate/parts.h"
#include "integrate/recorder.h"
#include "integrate/tendon_armature.h"

#include <string.h>

static void storePoses(const djModel* m, djData* d, const djKin* kin) {
  for (int b = 0; b < m->nbody; b++) {
    dju_store3(d->xpos + 3 * b, kin->body[b].p);
    dju_storeQuat(d->xquat + 4 * b, kin->quat[b]);
    memcpy(d->xmat + 9 * b, kin->body[b].R.m, 9 * sizeof(double));
    dju_store3(d->xipos + 3 * b, kin->com[b]);
  }
  for (int s = 0; s < m->nsite; s++) {
    const djPose* T = &kin->body[m->site_body[s]];
    dju_store3(d->site_xpos + 3 * s, dju_transform(T, dju_load3(m->site_pos + 3 * s)));
  }
  for (int g = 0; g < m->ngeom; g++) {
    const djPose* T = &kin->body[m->geom_body[g]];
    djMat3 R = dju_mulMM(T->R, dju_quatToMat(dju_loadQuat(m->geom_quat + 4 * g)));
    dju_store3(d->geom_xpos + 3 * g, dju_transform(T, dju_load3(m->geom_pos + 3 * g)));
    memcpy(d->geom_xmat + 9 * g, R.m, sizeof(R.m));
  }
}

static void advance(const djModel* m, djData* d) {
  djWork* w = d->work;
  memcpy(d->qvel, w->qvel, (size_t)m->nv * sizeof(double));
  memcpy(d->qpos, w->qnext, (size_t)m->nq * sizeof(double));
  memcpy(d->act, w->act_next, (size_t)m->na * sizeof(double));
  memcpy(d->mocap_last_pos, w->start.mocap_pos, (size_t)m->nmocap * 3 * sizeof(double));
  memcpy(d->mocap_last_quat, w->start.mocap_quat, (size_t)m->nmocap * 4 * sizeof(double));
  dj_keepHistory(m, d);
}

// A step taken in n parts: all but the last have been gone. What is kept of it is counted once.
static djStatus takeParts(const djModel* m, djData* d, int n) {
  djWork* w = d->work;
  djStats* s = &d->stats;
  djStats before = *s;
  djStatus worst = DJ_OK;
  int iterations = 0;
  double residual = 0;
  for (int k = 0; k < n; k++) {
    if (k > 0) advance(m, d);
    dj_movePart(m, d, k);
    dj_keepPartStart(m, d, k);
    djStatus status = dj_solveStep(m, d);
    if (status < 0) return status;
    if (status > 0) worst = status;
    dj_keepPartEnd(m, d, k);
    iterations += s->iterations;
    residual = fmax(residual, s->residual);
  }
  s->iterations = iterations;
  s->residual = residual;
  s->unconverged_steps = before.unconverged_steps + (worst > 0);
  s->fallback_steps = before.fallback_steps + (s->fallback_steps > before.fallback_steps);
  s->impact_steps++;
  w->npart = n;
  return worst;
}

static djStatus takeIn(const djModel* m, djData* d, int n) {
  if (n == 1) return dj_solveStep(m, d);
  djStatus status = dj_beginParts(m, d, n);
  if (status < 0) return status;
  status = takeParts(m, d, n);
  if (status < 0) dj_leaveParts(m, d);
  return status;
}

// Forces with kinks, which at ridges of fields jump, may leave a whole step without a solution.
static bool mayCut(const djModel* m, const djData* d, int n) {
  return 2 * n <= m->opt.impact_steps && dj_kinkedContacts(dj_contactsOf(&d->work->forces));
}

static djStatus take(const djModel* m, djData* d) {
  if (dj_isOutside(m)) return dj_takeOutside(m, d);
  const djStats before = d->stats;
  djWork* w = d->work;
  int n = dj_countParts(m, d);
  djStatus status = takeIn(m, d, n);
  for (; status == DJ_NOT_CONVERGED && mayCut(m, d, n); n *= 2) {
    const long iterations = d->stats.newton_iterations;
    if (n > 1) dj_leaveParts(m, d);
    d->stats = before;
    d->stats.newton_iterations = iterations;
    w->count.ended = DJ_END_NONE;
    status = takeIn(m, d, 2 * n);
  }
  return status;
}

djStatus dj_takeStep(const djModel* m, djData* d) {
  djWork* w = d->work;
  djStats* s = &d->stats;
  w->count = (djStats){0};
  w->npart = 1;
  djStatus status = take(m, d);
#define X(name) s->name = w->count.name;
  DJ_STEP_COUNTS(X)
#undef X
  s->ended = w->count.ended;
  s->parts = w->npart;
  return status;
}

// Results of the step, or of its last part, at whose start data stands.
static djStatus finish(const djModel* m, djData* d) {
  djWork* w = d->work;
  djMotion motion = dj_motionAt(w, m, &w->now);
  if (dj_contactsUseTwists(dj_contactsOf(&w->forces))) dj_openPlace(&w->now, m, w->ref);
  djStatus status = dj_isOutside(m) ? dj_reportOutside(m, d)
                                    : dj_reportForces(d, &w->forces, &motion);
  if (status < 0) return status;
  d->stats.near_pairs = d->npair;
  d->stats.loaded_pairs = 0;
  for (int k = 0; k < d->npair; k++) d->stats.loaded_pairs += d->pair[k].normal_force > 0;
  advance(m, d);
  d->time += m->opt.timestep;
  d->stats.steps++;
  if (w->coef.turns) {
    memcpy(w->trial.q, w->qnext, (size_t)m->nq * sizeof(double));
    dj_setPlaceAt(&w->trial, w, m, 1);
  }
  storePoses(m, d, w->coef.turns ? &w->trial.kin : &w->now.kin);
  return DJ_OK;
}

static djStatus step(const djModel* m, djData* d) {
  djWork* w = d->work;
  djStats before = d->stats;
  djStatus status = dj_takeStep(m, d);
  djStatus report = status < 0 ? status : finish(m, d);
  if (report < 0) {
    if (status >= 0 && w->npart > 1) dj_leaveParts(m, d);
    d->stats = before;
    w->stepped = false;
    if (!w->error.text[0]) dj_fail(&w->error, report, "step: failed");
    return report;
  }
  if (w->npart > 1) dj_endParts(m, d);
  return status;
}

djStatus dj_step(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  dj_beginCall(m, d, DJ_CALL_STEP);
  return dj_endCall(m, d, DJ_CALL_STEP, (djCallEnd){.status = step(m, d)});
}

// Kinetic energy: bodies by their twists, and armatures.
static double kineticEnergy(const djModel* m, djWork* w, const double* qvel) {
  double sum = 0;
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_lastdof[b] < 0) continue;
    double* V = w->wrench + 6 * b;
    memcpy(V, w->wrench + 6 * m->body_parent[b], 6 * sizeof(double));
    for (int i = m->body_dofadr[b]; i < m->body_dofadr[b] + m->body_dofnum[b]; i++) {
      for (int k = 0; k < 6; k++) V[k] += w->begin.kin.S[6 * i + k] * qvel[i];
    }
    djVec3 omega = dju_load3(V), arm = dju_sub3(w->begin.kin.com[b], w->ref[b]);
    djVec3 v = dju_add3(dju_load3(V + 3), dju_cross3(omega, arm));
    djVec3 local = dju_mulMtV(w->begin.kin.principal[b], omega);
    const double* I = m->body_inertia + 3 * b;
    sum += 0.5 * (m->body_mass[b] * dju_dot3(v, v) + I[0] * local.x * local.x +
                  I[1] * local.y * local.y + I[2] * local.z * local.z);
  }
  for (int i = 0; i < m->nv; i++) {
    sum += 0.5 * w->armature[m->dof_jnt[i]] * qvel[i] * qvel[i];
  }
  return sum + dj_tendonArmatureEnergy(w, m);
}

static djStatus forward(const djModel* m, djData* d) {
  djWork* w = d->work;
  w->stepped = w->linearized = false;
  djStatus status = dj_copyStart(m, d);
  if (status < 0) return status;
  dj_setStart(w, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_setArmature(w, m);
  storePoses(m, d, &w->begin.kin);
  djMotion motion = dj_motionAt(w, m, &w->begin);
  d->energy[0] = dj_potential(&w->forces, &motion);
  d->energy[1] = kineticEnergy(m, w, w->start.qvel);
  return DJ_OK;
}

djStatus dj_forward(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  dj_beginCall(m, d, DJ_CALL_FORWARD);
  return dj_endCall(m, d, DJ_CALL_FORWARD, (djCallEnd){.status = forward(m, d)});
}
