// Derivatives by frames, inertia and state, in one sweep (sweep.h).

#include "sweep.h"

#include "motion.h"
#include "spatial.h"

#include <string.h>

// ---- motions ------------------------------------------------------------------------------------

static void addAxis(djmFlow* f, const djmSweep* s, int i) {
  const mjtNum* S = s->d->cdof + 6 * i;
  addScl6(f->beta, S, s->beta[i]);
  addScl6(f->acc, S, s->acc[i]);
  if (s->vel) addScl6(f->vel, S, s->vel[i]);
}

// Passes a joint: f goes from before to behind it, before (or NULL): what its dofs do not carry,
// drag (n x 6) or NULL: dS/dt.
static void passJoint(djmFlow* f, djmFlow* before, mjtNum* drag, const djmSweep* s, int j) {
  int type = s->m->jnt_type[j], adr = s->m->jnt_dofadr[j];
  int first = type == mjJNT_FREE ? 3 : 0, n = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
  mjtNum at[6];
  for (int k = 0; k < first; k++) addAxis(f, s, adr + k);
  if (before) *before = *f;
  djm_copy6(at, f->vel);
  for (int k = first; k < n; k++) addAxis(f, s, adr + k);
  if (n > 1) djm_copy6(at, f->vel);
  if (drag) mju_zero(drag, 6 * n);
  if (!s->vel) return;
  for (int k = first; k < n; k++) {
    mjtNum rate[6];
    djm_crossMotion(rate, at, s->d->cdof + 6 * (adr + k));
    addScl6(f->bias, rate, s->vel[adr + k]);
    if (drag) djm_copy6(drag + 6 * k, rate);
  }
}

void djm_openSweep(djmSweep* s, bool gravity) {
  const mjModel* m = s->m;
  memset(s->body, 0, (size_t)m->nbody * sizeof(*s->body));
  if (gravity && !(m->opt.disableflags & mjDSBL_GRAVITY)) {
    mju_scl3(s->body[0].flow.bias + 3, m->opt.gravity, -1);
  }
  for (int b = 1; b < (int)m->nbody; b++) {
    djmFlow* f = &s->body[b].flow;
    *f = s->body[m->body_parentid[b]].flow;
    int end = m->body_jntadr[b] + m->body_jntnum[b];
    for (int j = m->body_jntadr[b]; j < end; j++) passJoint(f, NULL, NULL, s, j);
  }
}

// ---- wrenches -----------------------------------------------------------------------------------

void djm_addWrenchAt(mjtNum out[6], const mjtNum torque[3], const mjtNum force[3],
                     const mjtNum r[3], mjtNum scale) {
  mjtNum w[6];
  mju_copy3(w, torque);
  mju_copy3(w + 3, force);
  addCross3(w, r, force);
  addScl6(out, w, scale);
}

static inline void addScaledCrossForce(mjtNum* restrict out, const mjtNum* restrict m,
                                 const mjtNum* restrict f, mjtNum scale) {
  mjtNum y[6];
  djm_crossForce(y, m, f);
  addScl6(out, y, scale);
}

void djm_closeWrenches(djmSweep* s) {
  for (int b = 0; b < (int)s->m->nbody; b++) {
    djmPart* p = s->body + b;
    if (!p->loaded) continue;
    djm_copy6(p->N, p->T);
    addScaledCrossForce(p->N, p->flow.beta, p->F, 1);
    addScaledCrossForce(p->N, p->flow.acc, p->P, 1);
    addScaledCrossForce(p->N, p->flow.bias, p->Q, 1);
    addScaledCrossForce(p->N, p->flow.vel, p->V, 1);
  }
}

// A force at the centre of mass: L -= beta_point . force; out: by the point.
static void addForce(mjtNum out[3], djmSweep* s, int b, const mjtNum force[3],
                     const mjtNum torque[3]) {
  djmPart* p = s->body + b;
  const mjtNum none[3] = {0};
  mjtNum r[3];
  p->loaded = true;
  mju_sub3(r, s->d->xipos + 3 * b, djm_center(s->m, s->d, b));
  djm_addWrenchAt(p->F, torque, force, r, -1);
  cross3(out, p->flow.beta, force);           // -(force x beta)
  djm_addWrenchAt(p->T, none, out, r, 1);
}

void djm_sweepApplied(djmSweep* s) {
  const mjModel* m = s->m;
  const mjData* d = s->d;
  bool floats = m->flg_gravcomp && !(m->opt.disableflags & mjDSBL_GRAVITY) &&
                (m->opt.disableflags & (mjDSBL_SPRING | mjDSBL_DAMPER)) !=
                  (mjDSBL_SPRING | mjDSBL_DAMPER);
  const mjtNum none[3] = {0};
  for (int b = 1; b < (int)m->nbody; b++) {
    mjtNum by[3], local[3], force[3], at[6], r[3];
    if (!mju_isZero(d->xfrc_applied + 6 * b, 6)) {
      addForce(by, s, b, d->xfrc_applied + 6 * b, d->xfrc_applied + 6 * b + 3);
      mju_mulMatTVec3(local, d->xmat + 9 * b, by);
      if (s->design) mju_addTo3(s->design->body_ipos + 3 * b, local);
    }
    if (!floats) continue;
    mju_sub3(r, d->xipos + 3 * b, djm_center(m, d, b));
    djm_moveTwist(at, s->body[b].flow.beta, r);
    mjtNum weight = mju_dot3(at + 3, m->opt.gravity);
    if (s->design) s->design->body_gravcomp[b] += m->body_mass[b] * weight;
    if (m->body_gravcomp[b] == 0) continue;
    mju_scl3(force, m->opt.gravity, -m->body_mass[b] * m->body_gravcomp[b]);
    addForce(by, s, b, force, none);
    mju_mulMatTVec3(local, d->xmat + 9 * b, by);
    if (s->design) {
      mju_addTo3(s->design->body_ipos + 3 * b, local);
      s->design->body_mass[b] += m->body_gravcomp[b] * weight;
    }
    if (s->gravity) mju_addToScl3(s->gravity, at + 3, m->body_mass[b] * m->body_gravcomp[b]);
  }
}

// ---- inertia ------------------------------------------------------------------------------------

// L = x . I y, with x and y at the centre of mass:  m u_x . u_y + w_x . I_c w_y.
static void addInertial(djmDesignGradient* g, const djmSweep* s, int b, const mjtNum x[6],
                        const mjtNum y[6]) {
  const mjtNum *R = s->d->ximat + 9 * b, *I = s->m->body_inertia + 3 * b;
  mjtNum r[3], p[6], q[6], wx[3], wy[3], Ix[3], Iy[3], turn[3], by[3], local[3];
  mju_sub3(r, s->d->xipos + 3 * b, djm_center(s->m, s->d, b));
  djm_moveTwist(p, x, r);
  djm_moveTwist(q, y, r);
  g->body_mass[b] += dot3(p + 3, q + 3);
  mju_mulMatTVec3(wx, R, p);
  mju_mulMatTVec3(wy, R, q);
  for (int k = 0; k < 3; k++) {
    g->body_inertia[3 * b + k] += wx[k] * wy[k];
    Ix[k] = I[k] * wx[k];
    Iy[k] = I[k] * wy[k];
  }
  cross3(turn, Iy, wx);
  addCross3(turn, Ix, wy);
  mju_addTo3(g->body_iquat + 3 * b, turn);
  cross3(by, q + 3, p);
  addCross3(by, p + 3, q);
  mju_mulMatTVec3(local, s->d->xmat + 9 * b, by);
  mju_addToScl3(g->body_ipos + 3 * b, local, s->m->body_mass[b]);
}

// With h = I v, x = beta x v:  beta . (I a + v x* h) = beta . I a + x . I v.
void djm_sweepInertia(djmSweep* s) {
  for (int b = 1; b < (int)s->m->nbody; b++) {
    djmPart* p = s->body + b;
    const djmFlow* f = &p->flow;
    const mjtNum* I = s->d->cinert + 10 * b;
    mjtNum a[6], h[6], y[6], x[6];
    for (int k = 0; k < 6; k++) a[k] = f->acc[k] + f->bias[k];
    mulInertia(y, I, a);
    addScl6(p->F, y, 1);
    mulInertia(y, I, f->beta);
    addScl6(p->P, y, 1);
    if (s->vel) addScl6(p->Q, y, 1);
    if (s->gravity) mju_subFrom3(s->gravity, y + 3);
    if (s->design) addInertial(s->design, s, b, f->beta, a);
    if (!s->vel) continue;
    mulInertia(h, I, f->vel);
    addScaledCrossForce(p->F, f->vel, h, 1);
    djm_crossMotion(x, f->beta, f->vel);
    mulInertia(y, I, x);
    addScl6(p->V, y, 1);
    addScaledCrossForce(p->V, f->beta, h, -1);
    if (s->design) addInertial(s->design, s, b, x, f->vel);
  }
}

// ---- places -------------------------------------------------------------------------------------

// out = dL by a twist of all that body p has behind it, of which f comes before.
static void gradientAt(mjtNum out[6], const djmSweep* s, const djmPart* p, const djmFlow* f) {
  djm_copy6(out, p->N);
  addScaledCrossForce(out, f->beta, p->F, -1);
  addScaledCrossForce(out, f->acc, p->P, -1);
  if (!s->vel) return;
  mjtNum c[6];
  for (int k = 0; k < 6; k++) c[k] = p->V[k] + p->C[k];
  addScaledCrossForce(c, f->vel, p->Q, -1);
  addScaledCrossForce(out, f->bias, p->Q, -1);
  addScaledCrossForce(out, f->vel, c, -1);
}

// Torque about a point in the axes of a rotation; force in them.
static void localAt(mjtNum torque[3], mjtNum force[3], const mjtNum g[6], const mjtNum point[3],
                    const mjtNum center[3], const mjtNum quat[4]) {
  mjtNum r[3], t[3], R[9];
  mju_sub3(r, point, center);
  mju_copy3(t, g);
  addCross3(t, g + 3, r);
  mju_quat2Mat(R, quat);
  for (int k = 0; k < 3; k++) {
    torque[k] = R[k] * t[0] + R[3 + k] * t[1] + R[6 + k] * t[2];
    force[k] = R[k] * g[3] + R[3 + k] * g[4] + R[6 + k] * g[5];
  }
}

// A body's frame, before its joints: quat turns with it.
static void bodyFrame(djmSweep* s, int b, const mjtNum g[6], mjtNum quat[4]) {
  const mjModel* m = s->m;
  const mjData* d = s->d;
  int parent = m->body_parentid[b];
  mjtNum point[3], torque[3], force[3];
  mju_mulQuat(quat, d->xquat + 4 * parent, m->body_quat + 4 * b);
  if (m->body_mocapid[b] >= 0) return;
  mju_mulMatVec3(point, d->xmat + 9 * parent, m->body_pos + 3 * b);
  mju_addTo3(point, d->xpos + 3 * parent);
  localAt(torque, force, g, point, djm_center(m, d, b), quat);
  mju_addTo3(s->design->body_quat + 3 * b, torque);
  mju_mulMatTVec3(force, d->xmat + 9 * parent, g + 3);
  mju_addTo3(s->design->body_pos + 3 * b, force);
}

// The turn of a joint, a hinge's from its axis in the body.
static void turnJoint(mjtNum quat[4], const djmSweep* s, int j) {
  const mjModel* m = s->m;
  int adr = m->jnt_qposadr[j];
  mjtNum turn[4], old[4];
  if (m->jnt_type[j] == mjJNT_SLIDE) return;
  mju_copy4(old, quat);
  if (m->jnt_type[j] == mjJNT_HINGE) {
    mju_axisAngle2Quat(turn, m->jnt_axis + 3 * j, s->d->qpos[adr] - m->qpos0[adr]);
  } else {
    mju_copy4(turn, s->d->qpos + adr);
    mju_normalize4(turn);
  }
  mju_mulQuat(quat, old, turn);
}

// A joint's place: what is before it moves one way, what is behind the other.
static void jointFrame(djmSweep* s, int b, int j, const mjtNum before[6], const mjtNum behind[6],
                       const mjtNum old[4], const mjtNum quat[4]) {
  const mjModel* m = s->m;
  const mjtNum *center = djm_center(m, s->d, b), *anchor = s->d->xanchor + 3 * j;
  mjtNum torque[2][3], force[2][3], by[3];
  int type = m->jnt_type[j];
  localAt(torque[0], force[0], before, anchor, center, old);
  if (type == mjJNT_SLIDE) {
    // the anchor that the turn goes back about has moved along the axis
    mjtNum moved[3];
    mju_addScl3(moved, anchor, s->d->xaxis + 3 * j,
                s->d->qpos[m->jnt_qposadr[j]] - m->qpos0[m->jnt_qposadr[j]]);
    localAt(torque[1], force[1], behind, moved, center, quat);
  } else {
    localAt(torque[1], force[1], behind, anchor, center, quat);
    mju_sub3(by, force[0], force[1]);
    mju_addTo3(s->design->jnt_pos + 3 * j, by);
  }
  if (type == mjJNT_BALL) return;
  mju_sub3(by, torque[0], torque[1]);
  mjtNum part[3];
  cross3(part, by, m->jnt_axis + 3 * j);
  mju_addTo3(s->design->jnt_axis + 3 * j, part);
}

// Of a joint's dofs; g: at what they do not carry.
static void jointState(djmSweep* s, int b, int j, const djmFlow* before, const mjtNum g[6],
                       const mjtNum* drag, mjtNum* by_q, mjtNum* by_v) {
  const djmPart* p = s->body + b;
  int adr = s->m->jnt_dofadr[j], type = s->m->jnt_type[j];
  int n = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
  for (int k = 0; k < n && by_q; k++) by_q[adr + k] += dot6(s->d->cdof + 6 * (adr + k), g);
  if (!by_v) return;
  mjtNum c[6];
  for (int k = 0; k < 6; k++) c[k] = p->V[k] + p->C[k];
  addScaledCrossForce(c, before->vel, p->Q, -1);
  for (int k = 0; k < n; k++) {
    by_v[adr + k] += dot6(s->d->cdof + 6 * (adr + k), c) + dot6(p->Q, drag + 6 * k);
  }
}

static void addUp(djmPart* to, const djmPart* from, bool moves) {
  addScl6(to->F, from->F, 1);
  addScl6(to->P, from->P, 1);
  addScl6(to->N, from->N, 1);
  if (!moves) return;
  addScl6(to->Q, from->Q, 1);
  addScl6(to->V, from->V, 1);
  addScl6(to->C, from->C, 1);
}

static void closeBody(djmSweep* s, int b, mjtNum* by_q, mjtNum* by_v) {
  const mjModel* m = s->m;
  djmPart* p = s->body + b;
  djmFlow f = s->body[m->body_parentid[b]].flow, before;
  int first = m->body_jntadr[b], end = first + m->body_jntnum[b];
  bool free = end > first && m->jnt_type[first] == mjJNT_FREE;
  mjtNum quat[4] = {1, 0, 0, 0}, prior[4], drag[36], g[6], next[6];
  if (free) {
    passJoint(&f, &before, drag, s, first);
    gradientAt(g, s, p, &before);
    jointState(s, b, first, &before, g, drag, by_q, by_v);
    return;
  }
  gradientAt(g, s, p, &f);
  if (s->design) bodyFrame(s, b, g, quat);
  for (int j = first; j < end; j++) {
    passJoint(&f, &before, drag, s, j);
    jointState(s, b, j, &before, g, drag, by_q, by_v);
    if (!s->design && j + 1 == end) return;
    gradientAt(next, s, p, &f);
    if (s->design) {
      mju_copy4(prior, quat);
      turnJoint(quat, s, j);
      jointFrame(s, b, j, g, next, prior, quat);
    }
    djm_copy6(g, next);
  }
}

void djm_closeSweep(djmSweep* s, mjtNum* by_q, mjtNum* by_v) {
  const mjModel* m = s->m;
  for (int b = 1; b < (int)m->nbody && s->vel; b++) {
    djmPart* p = s->body + b;
    addScaledCrossForce(p->C, p->flow.vel, p->Q, 1);
  }
  for (int b = (int)m->nbody - 1; b > 0; b--) {
    if (m->body_parentid[b]) addUp(s->body + m->body_parentid[b], s->body + b, s->vel);
  }
  for (int b = 1; b < (int)m->nbody; b++) closeBody(s, b, by_q, by_v);
}
