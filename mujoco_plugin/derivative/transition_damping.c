// What implicit integrators solve with, G = M - h D, and how D follows the state:
//
//   implicit:      D = d(passive + actuator forces - c)/dv
//   implicitfast:  without c, the lower half taken for both; a free body without children has its
//                  own block of D with c
//
// c is a quadratic form in v: dc/dv x = (c(v + s x) - c(v - s x)) / (2 s), so that derivatives of
// the left are differences of those of c, without error. The rest of D is constant for most models;
// where it is not, it is differenced.

#include "transition_work.h"

#include "slope_error.h"
#include "smooth_work.h"

#include <math.h>

// ---- matrices -----------------------------------------------------------------------------------

// A body with a free joint alone, and nothing that it carries.
bool djm_isFreeBody(const mjModel* m, int joint) {
  int body = m->jnt_bodyid[joint];
  return m->jnt_type[joint] == mjJNT_FREE && m->body_jntnum[body] == 1 &&
         m->tree_dofnum[m->dof_treeid[m->jnt_dofadr[joint]]] == 6 &&
         m->body_subtreemass[body] == m->body_mass[body];
}

// The derivative of a free body's c by v, times x (6), by its angular velocity u in the body's
// frame: with the centre s from the joint and inertia I about the centre, all in the body's frame,
//   K(u) = u.s + u s^T - 2 s u^T,  linear R m K(u) x,  angular m s x K(u) x + u x I x + x x I u
static void freeBias(mjtNum B[36], const mjModel* m, const mjData* d, int joint) {
  int body = m->jnt_bodyid[joint];
  const mjtNum *s = m->body_ipos + 3 * body, *u = d->qvel + m->jnt_dofadr[joint] + 3;
  mjtNum mass = m->body_mass[body], R[9], I[9], Iu[3];
  mju_quat2Mat(R, m->body_iquat + 4 * body);
  for (int i = 0; i < 9; i++) {
    I[i] = 0;
    for (int k = 0; k < 3; k++) {
      I[i] += R[3 * (i / 3) + k] * m->body_inertia[3 * body + k] * R[3 * (i % 3) + k];
    }
  }
  mju_mulMatVec3(Iu, I, u);
  mju_zero(B, 36);
  for (int j = 0; j < 3; j++) {
    mjtNum x[3] = {j == 0, j == 1, j == 2}, Kx[3], lin[3], ang[3], Ix[3], part[3];
    for (int i = 0; i < 3; i++) {
      Kx[i] = mass * (mju_dot3(u, s) * x[i] + u[i] * s[j] - 2 * s[i] * u[j]);
      Ix[i] = I[3 * i + j];
    }
    mju_mulMatVec3(lin, d->xmat + 9 * body, Kx);
    mju_cross(ang, s, Kx);
    mju_cross(part, u, Ix);
    mju_addTo3(ang, part);
    mju_cross(part, x, Iu);
    mju_addTo3(ang, part);
    for (int i = 0; i < 3; i++) {
      B[6 * i + 3 + j] = lin[i];
      B[6 * (3 + i) + 3 + j] = ang[i];
    }
  }
}

// D (nv x nv) as the integrator takes it, from qDeriv; bias: with that of free bodies.
static void dampingMatrix(mjtNum* D, const mjModel* m, const mjData* d, bool bias) {
  int nv = (int)m->nv;
  bool fast = m->opt.integrator == mjINT_IMPLICITFAST;
  mju_zero(D, nv * nv);
  for (int i = 0; i < nv; i++) {
    for (int k = m->D_rowadr[i]; k < m->D_rowadr[i] + m->D_rownnz[i]; k++) {
      int j = m->D_colind[k];
      if (fast && j > i) continue;
      D[(size_t)i * nv + j] = d->qDeriv[k];
      if (fast) D[(size_t)j * nv + i] = d->qDeriv[k];
    }
  }
  for (int joint = 0; joint < (int)m->njnt && fast; joint++) {
    if (!djm_isFreeBody(m, joint)) continue;
    mjtNum B[36];
    int adr = m->jnt_dofadr[joint];
    freeBias(B, m, d, joint);
    for (int i = adr; i < adr + 6; i++) {
      for (int k = m->D_rowadr[i]; k < m->D_rowadr[i] + m->D_rownnz[i]; k++) {
        D[(size_t)i * nv + m->D_colind[k]] = d->qDeriv[k];
      }
      for (int j = 0; j < 6 && bias; j++) D[(size_t)i * nv + adr + j] -= B[6 * (i - adr) + j];
    }
  }
}

void djm_implicitMatrix(mjtNum* G, djmTransitionWork* w, mjtNum* scratch) {
  const mjModel* m = &w->view;
  int n = w->nv * w->nv;
  mj_fullM(m, w->d, G);
  dampingMatrix(scratch, m, w->d, true);
  mju_addToScl(G, scratch, -m->opt.timestep, n);
}

// ---- whether D is constant ----------------------------------------------------------------------

static bool actuatorVaries(const mjModel* m, int i) {
  const mjtNum *gain = m->actuator_gainprm + mjNGAIN * i, *bias = m->actuator_biasprm + mjNBIAS * i;
  int gaintype = m->actuator_gaintype[i], biastype = m->actuator_biastype[i];
  if (djm_actuatorOff(m, i)) return false;
  if (gaintype != mjGAIN_FIXED && gaintype != mjGAIN_AFFINE) return true;
  if (biastype != mjBIAS_NONE && biastype != mjBIAS_AFFINE) return true;
  if (gaintype == mjGAIN_AFFINE && gain[2] != 0) return true;
  if (biastype == mjBIAS_NONE || bias[2] == 0) return false;
  int type = m->actuator_trntype[i], id = m->actuator_trnid[2 * i];
  if (type == mjTRN_TENDON) return m->tendon_type[id] != 0;
  if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT) return true;
  return m->jnt_type[id] == mjJNT_BALL || m->jnt_type[id] == mjJNT_FREE;
}

static bool dampingVaries(const mjModel* m) {
  bool passive = !(m->opt.disableflags & mjDSBL_DAMPER);
  if ((m->opt.density > 0 || m->opt.viscosity > 0) &&
      (passive || !(m->opt.disableflags & mjDSBL_SPRING))) {
    return true;
  }
  for (int i = 0; i < (int)m->nv && passive; i++) {
    const mjtNum* poly = m->dof_dampingpoly + mjNPOLY * i;
    if (poly[0] != 0 || poly[1] != 0) return true;
  }
  for (int i = 0; i < (int)m->ntendon && passive; i++) {
    mjtNum poly[mjNPOLY];
    mju_copy(poly, m->tendon_dampingpoly + mjNPOLY * i, mjNPOLY);
    mjtNum b = m->tendon_damping[i] + djm_actuatorDamping(poly, m, true, i);
    if (poly[0] != 0 || poly[1] != 0) return true;
    if (b != 0 && m->tendon_type[i] != 0) return true;
  }
  for (int i = 0; i < (int)m->nactuator; i++) {
    const mjtNum* poly = m->actuator_dampingpoly + mjNPOLY * i;
    if (actuatorVaries(m, i) || poly[0] != 0 || poly[1] != 0) return true;
  }
  return false;
}

// ---- slopes of D x ------------------------------------------------------------------------------

static void copyStart(mjData* to, const djmTransitionWork* w) {
  mj_copyState(&w->view, w->d, to, mjSTATE_INTEGRATION);
}

// Whether ellipsoids move in a fluid: implicit takes their derivative as it is, implicitfast its
// symmetric part, so that what implicit takes besides c can not be asked for.
static bool hasEllipsoids(const mjModel* m) {
  if (!(m->opt.density > 0 || m->opt.viscosity > 0)) return false;
  for (int g = 0; g < (int)m->ngeom; g++) {
    if (m->geom_fluid[mjNFLUID * g] > 0) return true;
  }
  return false;
}

// Y += h/(12 step) times differences of D e along all columns; without c, of free bodies too, but
// with it where `whole`.
static void addDifferences(djmTransitionWork* w, mjtNum* D, mjtNum* value, bool whole) {
  static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  const mjtNum step = 4e-6;   // drag has kinks where a velocity is zero
  int nv = w->nv, na = w->na;
  mjModel view = w->view;
  view.opt.disableflags |= mjDSBL_CONSTRAINT;
  int integrator = view.opt.integrator;
  if (integrator == mjINT_IMPLICIT && !whole) integrator = mjINT_IMPLICITFAST;
  for (int k = 0; k < w->ncol; k++) {
    for (int p = 0; p < 4; p++) {
      mjtNum x = kPoint[p] * step;
      copyStart(w->e, w);
      if (k < nv) {
        mju_zero(value, nv);
        value[k] = x;
        mj_integratePos(&view, w->e->qpos, value, 1);
      } else if (k < 2 * nv) {
        w->e->qvel[k - nv] += x;
      } else if (k < 2 * nv + na) {
        w->e->act[k - 2 * nv] += x;
      } else {
        w->e->ctrl[k - 2 * nv - na] += x;
      }
      view.opt.integrator = integrator;
      mj_forward(&view, w->e);
      mj_implicit(&view, w->e);
      view.opt.integrator = w->view.opt.integrator;
      dampingMatrix(D, &view, w->e, false);
      mju_mulMatVec(value, D, w->end, nv, nv);
      mjtNum scale = w->view.opt.timestep * kWeight[p] / (12 * step);
      for (int i = 0; i < nv; i++) w->Y[(size_t)i * w->ncol + k] += scale * value[i];
    }
  }
}

// Y -= h d(dc/dv e), of the rows that have it.
static void addBias(djmTransitionWork* w, mjtNum* by_q, mjtNum* by_v, mjtNum* none) {
  const mjModel* m = &w->view;
  mjData* d = w->d;
  int nv = w->nv;
  mjtNum size = mju_norm(w->end, nv), speed = mju_norm(d->qvel, nv), *v = none + nv;
  mjtNum s = size > 0 ? (speed > 0 ? speed : 1) / size : 1;
  mju_zero(none, nv);
  mju_copy(v, d->qvel, nv);
  for (int side = 1; side >= -1; side -= 2) {
    mju_addScl(d->qvel, v, w->end, side * s, nv);
    mj_comVel(m, d);
    djm_inverseSlope(by_q, by_v, m, d, none, w->smooth);
    mjtNum scale = -m->opt.timestep * side / (2 * s);
    for (int i = 0; i < nv; i++) {
      if (m->opt.integrator == mjINT_IMPLICITFAST && !djm_isFreeBody(m, m->dof_jntid[i])) continue;
      mjtNum* row = w->Y + (size_t)i * w->ncol;
      mju_addToScl(row, by_q + (size_t)i * nv, scale, nv);
      mju_addToScl(row + nv, by_v + (size_t)i * nv, scale, nv);
    }
  }
  mju_copy(d->qvel, v, nv);
  mj_comVel(m, d);
}

static bool hasBias(const mjModel* m) {
  if (m->opt.integrator == mjINT_IMPLICIT) return true;
  for (int j = 0; j < (int)m->njnt; j++) {
    if (djm_isFreeBody(m, j)) return true;
  }
  return false;
}

void djm_addDampingSlope(djmTransitionWork* w) {
  int nv = w->nv;
  mjtNum *D = w->smooth_by, *more = D + nv * nv;   // free by now
  bool whole = w->view.opt.integrator == mjINT_IMPLICIT && hasEllipsoids(&w->view);
  if (dampingVaries(&w->view)) addDifferences(w, D, w->memory, whole);
  if (!whole && hasBias(&w->view)) addBias(w, D, more, w->memory);
}
