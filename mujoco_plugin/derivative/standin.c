// Slopes of contacts and of smooth forces by fourth-order differences of MuJoCo's own functions
// (contact_slope.h, smooth_slope.h).

#include "contact_slope.h"
#include "smooth_slope.h"
#include "spatial.h"

#include "slope_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};

// ---- contacts -----------------------------------------------------------------------------------

// The geom's pose after a small motion about a point.
static void moveGeom(mjData* d, int geom, const mjtNum pos[3], const mjtNum mat[9],
                     const mjtNum quat[4], const mjtNum point[3], const mjtNum twist[6]) {
  mjtNum angle = mju_norm3(twist), axis[3], turn[4], arm[3], R[9];
  mju_copy3(axis, twist);
  mju_normalize3(axis);
  mju_axisAngle2Quat(turn, axis, angle);
  mju_mulQuat(d->geom_xquat + 4 * geom, turn, quat);
  mju_quat2Mat(R, turn);
  mju_mulMatMat(d->geom_xmat + 9 * geom, R, mat, 3, 3, 3);
  mju_sub3(arm, pos, point);
  mju_mulMatVec3(d->geom_xpos + 3 * geom, R, arm);
  mju_addTo3(d->geom_xpos + 3 * geom, point);
  mju_addTo3(d->geom_xpos + 3 * geom, twist + 3);
}

static const mjContact* nearest(const mjData* d, const mjContact* con) {
  const mjContact* best = NULL;
  mjtNum least = 1e-2;
  for (int i = 0; i < d->ncon; i++) {
    const mjContact* x = d->contact + i;
    if (x->geom[0] != con->geom[0] || x->geom[1] != con->geom[1]) continue;
    mjtNum far = mju_dist3(x->pos, con->pos);
    if (far >= least) continue;
    least = far;
    best = x;
  }
  return best;
}

// The turn from a frame to a near one.
static void turnBetween(mjtNum turn[3], const mjtNum from[9], const mjtNum to[9]) {
  mju_zero3(turn);
  for (int k = 0; k < 3; k++) {
    mjtNum part[3];
    djm_cross(part, from + 3 * k, to + 3 * k);
    mju_addToScl3(turn, part, 0.5);
  }
}

// Slopes by the twist of one geom's body. Tangents come from axes of the world: a rigid motion of
// both geoms does not turn the frame rigidly.
static bool differenceGeom(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int side) {
  const mjtNum h = 2e-5;
  int geom = con->geom[side];
  mjtNum pos[3], mat[9], quat[4];
  mju_copy3(pos, d->geom_xpos + 3 * geom);
  mju_copy(mat, d->geom_xmat + 9 * geom, 9);
  mju_copy4(quat, d->geom_xquat + 4 * geom);
  const mjContact* found = con;
  for (int k = 0; k < 6 && found; k++) {
    int column = 6 * side + k;
    for (int p = 0; p < 4; p++) {
      mjtNum twist[6] = {0}, turn[3], w = kWeight[p] / (12 * h);
      twist[k] = kPoint[p] * h;
      moveGeom(d, geom, pos, mat, quat, con->pos, twist);
      mj_collision(m, d);
      found = nearest(d, con);
      if (!found) break;
      turnBetween(turn, con->frame, found->frame);
      slope->dist[column] += w * found->dist;
      for (int i = 0; i < 3; i++) {
        slope->pos[i][column] += w * found->pos[i];
        slope->turn[i][column] += w * turn[i];
      }
    }
  }
  mju_copy3(d->geom_xpos + 3 * geom, pos);
  mju_copy(d->geom_xmat + 9 * geom, mat, 9);
  mju_copy4(d->geom_xquat + 4 * geom, quat);
  return found;
}

djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con, djError* err) {
  memset(slope, 0, sizeof(*slope));
  for (int side = 0; side < 2; side++) {
    if (!differenceGeom(slope, m, d, con, side)) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "a contact is lost by a small motion");
    }
  }
  return DJ_OK;
}

// ---- smooth forces ------------------------------------------------------------------------------

enum { BY_R, BY_ACT, BY_DAMPING };

size_t djm_smoothWorkSize(const mjModel* m) {
  size_t nv = (size_t)m->nv;
  return 3 * nv + (size_t)m->na + 2 * nv * nv + (size_t)(m->nJten + m->nq + m->nD);
}

static void sync(const mjModel* m, mjData* e, const mjData* d) {
  mj_copyState(m, d, e, mjSTATE_INTEGRATION);
  mju_copy(e->qpos, d->qpos, (int)m->nq);
}

static void evaluate(mjtNum* out, int what, const mjModel* m, mjData* e, const mjtNum* x) {
  int nv = (int)m->nv;
  mj_forward(m, e);
  if (what == BY_R) {
    mj_mulM(m, e, out, x);
    mju_subFrom(out, e->qfrc_smooth, nv);
  } else if (what == BY_ACT) {
    mj_Euler(m, e);
    mju_copy(out, e->act, (int)m->na);
  } else {
    mj_implicit(m, e);
    mju_zero(out, nv);
    for (int i = 0; i < nv; i++) {
      for (int k = m->D_rowadr[i]; k < m->D_rowadr[i] + m->D_rownnz[i]; k++) {
        int j = m->D_colind[k];
        if (m->opt.integrator == mjINT_IMPLICITFAST && j > i) continue;
        out[i] += e->qDeriv[k] * x[j];
        if (m->opt.integrator == mjINT_IMPLICITFAST && j < i) out[j] += e->qDeriv[k] * x[i];
      }
    }
  }
}

static void differences(djmSlope* out, int n, int what, const mjModel* m, const mjData* d,
                        const mjtNum* x, djmSmoothWork* w) {
  int nv = (int)m->nv, na = (int)m->na, nu = (int)m->nu;
  mjModel view = *m;
  view.opt.disableflags |= mjDSBL_CONSTRAINT;
  mjData* e = w->d;
  mjtNum *step = w->memory, *value = step + nv;
  for (int k = 0; k < 2 * nv + na + nu; k++) {
    const mjtNum h = 3e-4;
    int column = k < nv ? k : k < 2 * nv ? k - nv : k < 2 * nv + na ? k - 2 * nv : k - 2 * nv - na;
    mjtNum* to = k < nv ? out->by_q : k < 2 * nv ? out->by_v
                                    : k < 2 * nv + na ? out->by_act : out->by_ctrl;
    int size = k < 2 * nv ? nv : k < 2 * nv + na ? na : nu;
    for (int i = 0; i < n; i++) to[(size_t)i * size + column] = 0;
    for (int p = 0; p < 4; p++) {
      sync(m, e, d);
      if (k < nv) {
        mju_zero(step, nv);
        step[k] = kPoint[p] * h;
        mj_integratePos(m, e->qpos, step, 1);
      } else if (k < 2 * nv) {
        e->qvel[column] += kPoint[p] * h;
      } else if (k < 2 * nv + na) {
        e->act[column] += kPoint[p] * h;
      } else {
        e->ctrl[column] += kPoint[p] * h;
      }
      evaluate(value, what, &view, e, x);
      for (int i = 0; i < n; i++) {
        to[(size_t)i * size + column] += kWeight[p] / (12 * h) * value[i];
      }
    }
  }
  sync(m, e, d);
  mj_fwdPosition(m, e);
}

djStatus djm_smoothSlope(djmSlope* out, const mjModel* m, const mjData* d, const mjtNum* a,
                         djmSmoothWork* w, djError* err) {
  (void)err;
  differences(out, (int)m->nv, BY_R, m, d, a, w);
  return DJ_OK;
}

djStatus djm_nextActSlope(djmSlope* out, const mjModel* m, const mjData* d, djmSmoothWork* w,
                          djError* err) {
  (void)err;
  if (m->na) differences(out, (int)m->na, BY_ACT, m, d, NULL, w);
  return DJ_OK;
}

djStatus djm_dampingSlope(djmSlope* out, const mjModel* m, const mjData* d, const mjtNum* x,
                          djmSmoothWork* w, djError* err) {
  (void)err;
  differences(out, (int)m->nv, BY_DAMPING, m, d, x, w);
  return DJ_OK;
}

bool djm_tendonHessian(mjtNum* H, const mjModel* m, const mjData* d, int tendon,
                       djmSmoothWork* w) {
  if (m->tendon_type[tendon] == 0) return false;
  int nv = (int)m->nv, adr = m->ten_J_rowadr[tendon], n = m->ten_J_rownnz[tendon];
  const mjtNum h = 1e-4;
  mjData* e = w->d;
  mjtNum* step = w->memory + (size_t)nv * nv;
  mju_zero(H, nv * nv);
  for (int j = 0; j < nv; j++) {
    for (int p = 0; p < 4; p++) {
      mju_copy(e->qpos, d->qpos, (int)m->nq);
      mju_zero(step, nv);
      step[j] = kPoint[p] * h;
      mj_integratePos(m, e->qpos, step, 1);
      mj_kinematics(m, e);
      mj_comPos(m, e);
      mj_tendon(m, e);
      for (int k = adr; k < adr + n; k++) {
        H[(size_t)m->ten_J_colind[k] * nv + j] += kWeight[p] / (12 * h) * e->ten_J[k];
      }
    }
  }
  mju_copy(e->qpos, d->qpos, (int)m->nq);
  mj_fwdPosition(m, e);
  return true;
}
