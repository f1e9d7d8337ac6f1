// Derivatives of accelerometers, accelerations of frames, forces and torques between bodies.
//
// Such a sensor is an explicit function s = g(q, v, a, W) of the state, of the step's acceleration
// a = (v+ - v)/h and of contact's wrenches W, with derivatives da = (A_v - 1)/h, B_v/h and dW by
// formula. Along each column all four are moved together and g, which is smooth and free of
// contact, is differenced: kinematics and one recursion, no step.

#include "sensor.h"

#include <stdlib.h>

static const double kStep = 1e-6;

typedef struct Pass {
  const djmChain* w;
  const mjModel* m;
  const mjData* d;
  mjData* pose;
  mjtNum* acc;            // (nv) at d's state
  mjtNum* step;           // (nv)
  mjtNum* wrench;         // (nbody x 6)
  mjtNum* value;          // (nsensordata)
  mjtNum* side[2];        // (nsensordata)
} Pass;

// Derivative of acceleration i by column k.
static double accBy(const djmChain* w, int nv, int i, int k) {
  double h = djm_timestep(w->c);
  if (k >= w->nx) return w->B[(size_t)(nv + i) * w->nu + k - w->nx] / h;
  return (w->A[(size_t)(nv + i) * w->nx + k] - (k == nv + i)) / h;
}

// Sets the pose's state, acceleration and forces e along column k.
static void move(Pass* p, int k, double e) {
  const djmChain* w = p->w;
  const mjModel* m = p->m;
  mjData* pose = p->pose;
  int nv = (int)m->nv;
  mju_copy(pose->qpos, p->d->qpos, (int)m->nq);
  mju_copy(pose->qvel, p->d->qvel, nv);
  mju_copy(pose->qacc, p->acc, nv);
  mju_copy(p->wrench, w->c->wrench, 6 * (int)m->nbody);
  if (e != 0) {
    mju_zero(p->step, nv);
    if (k < nv) p->step[k] = e;
    mj_integratePos(m, pose->qpos, p->step, 1);
    if (k >= nv && k < 2 * nv) pose->qvel[k - nv] += e;
    for (int i = 0; i < nv; i++) pose->qacc[i] += e * accBy(w, nv, i, k);
    for (int i = 0; i < 6 * m->nbody && w->nforce > 0; i++) {
      p->wrench[i] += e * djm_wrenchRow(w, i / 6, i % 6)[k];
    }
  }
  mj_kinematics(m, pose);
  mj_comPos(m, pose);
  mj_comVel(m, pose);
  djm_addWrench(pose->xfrc_applied, p->d->xfrc_applied, p->wrench, pose->xipos, (int)m->nbody);
  mj_rnePostConstraint(m, pose);
}

static void evaluate(mjtNum* out, const Pass* p) {
  const mjModel* m = p->m;
  const mjData* d = p->pose;
  for (int i = 0; i < m->nsensor; i++) {
    if (!djm_isAcceleration(m, i)) continue;
    int type = m->sensor_type[i], id = m->sensor_objid[i];
    mjtNum x[6];
    if (type == mjSENS_FORCE || type == mjSENS_TORQUE) {
      int body = m->site_bodyid[id];
      mju_transformSpatial(x, d->cfrc_int + 6 * body, 1, d->site_xpos + 3 * id,
                           d->subtree_com + 3 * m->body_rootid[body], d->site_xmat + 9 * id);
    } else {
      bool local = type == mjSENS_ACCELEROMETER;
      mj_objectAcceleration(m, d, local ? mjOBJ_SITE : m->sensor_objtype[i], id, x, local);
    }
    bool angular = type == mjSENS_TORQUE || type == mjSENS_FRAMEANGACC;
    mju_copy3(out + m->sensor_adr[i], angular ? x : x + 3);
  }
}

static void column(mjtNum* C, mjtNum* D, Pass* p, int k) {
  const djmChain* w = p->w;
  const mjModel* m = p->m;
  int nx = 2 * (int)m->nv + (int)m->na, nu = (int)m->nu;
  bool ofState = k < w->nx;
  mjtNum* out = ofState ? C + djm_stateIndex(w->c, k) : D + k - w->nx;
  int stride = ofState ? nx : nu;
  for (int s = 0; s < 2; s++) {
    move(p, k, s ? kStep : -kStep);
    evaluate(p->side[s], p);
  }
  for (int i = 0; i < m->nsensor; i++) {
    if (!djm_isAcceleration(m, i)) continue;
    for (int r = m->sensor_adr[i]; r < m->sensor_adr[i] + 3; r++) {
      if (djm_isCut(m, i, p->value[r])) continue;
      out[(size_t)r * stride] = (p->side[1][r] - p->side[0][r]) / (2 * kStep);
    }
  }
}

static bool hasAny(const mjModel* m) {
  for (int i = 0; i < m->nsensor; i++) {
    if (djm_isAcceleration(m, i)) return true;
  }
  return false;
}

djStatus djm_accelerationRows(mjtNum* C, mjtNum* D, const djmChain* w, const mjModel* m,
                              const mjData* d) {
  if (!hasAny(m)) return DJ_OK;
  djmContext* c = w->c;
  size_t nv = (size_t)m->nv, n = (size_t)m->nsensordata, nb = (size_t)m->nbody;
  mjtNum* memory = malloc((2 * nv + 6 * nb + 3 * n) * sizeof(mjtNum));
  if (!memory) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  Pass p = {.w = w, .m = m, .d = d, .pose = c->pose, .acc = memory};
  p.step = p.acc + nv;
  p.wrench = p.step + nv;
  p.value = p.wrench + 6 * nb;
  p.side[0] = p.value + n;
  p.side[1] = p.side[0] + n;
  double h = djm_timestep(c);
  for (size_t i = 0; i < nv; i++) p.acc[i] = (c->data->qvel[i] - d->qvel[i]) / h;
  if (w->nforce == 0) mju_zero(c->wrench, 6 * (int)nb);   // accelerations alone: not looked at
  move(&p, 0, 0);
  evaluate(p.value, &p);
  for (int k = 0; k < w->nx + w->nu; k++) {
    if (k < w->nx ? C != NULL : D != NULL) column(C, D, &p, k);
  }
  free(memory);
  return DJ_OK;
}
