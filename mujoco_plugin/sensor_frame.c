// Derivatives of frames, their velocities, and of subtrees.
//
// Tangent dq moves a frame with position p and rotation R by dp = Jp dq and by the world rotation
// theta = Jr dq. Its velocity (v, w) = (Jp, Jr) qvel is the sum of the twists S_i qvel_i of the
// dofs of its chain, S_i = (a_i, l_i) about p. Dof k moves the axes of the dofs after it like a
// rigid body, so that S_i changes by the motion product S_k x S_i = (a_k x a_i, a_k x l_i + l_k x
// a_i). The axes of a rotation (ball, free) are fixed in the moved body, so that those three move
// each other as well; the translations of a free joint are moved by nothing. Hence, with (u, o) the
// velocity by the dofs before k's rotation or joint, about p,
//   dw = a_k x (w - o),   dv = a_k x (v - u) + l_k x (w - o) + w x l_k = a_k x (v - u) + o x l_k,
// where w x l_k is that p itself moves. In a reference frame, with r = p - p_r,
//   R_r^T x changes by R_r^T (dx + x x theta_r).

#include "sensor.h"

static void column(mjtNum out[3], const mjtNum* jac, int nv, int k) {
  for (int r = 0; r < 3; r++) out[r] = jac[r * nv + k];
}

static void setColumn(mjtNum* x, int stride, int k, const mjtNum v[3]) {
  for (int r = 0; r < 3; r++) x[r * stride + k] = v[r];
}

static void addCross(mjtNum out[3], const mjtNum a[3], const mjtNum b[3]) {
  mjtNum c[3];
  mju_cross(c, a, b);
  mju_addTo3(out, c);
}

// Dofs first to first + n - 1, whose axes move together; adds their velocity to (u, o).
static void moveBlock(djmFrame* f, mjtNum u[3], mjtNum o[3], const mjtNum* qvel, int nv, int first,
                      int n) {
  mjtNum v[3], w[3], a[3], l[3], out[3];
  mju_sub3(v, f->lin, u);
  mju_sub3(w, f->ang, o);
  for (int k = first; k < first + n; k++) {
    column(a, f->jacr, nv, k);
    column(l, f->jacp, nv, k);
    mju_cross(out, a, w);
    setColumn(f->dang, nv, k, out);
    mju_cross(out, a, v);
    addCross(out, o, l);
    setColumn(f->dlin, nv, k, out);
  }
  for (int k = first; k < first + n; k++) {
    for (int r = 0; r < 3; r++) {
      u[r] += f->jacp[r * nv + k] * qvel[k];
      o[r] += f->jacr[r * nv + k] * qvel[k];
    }
  }
}

// Velocity and its derivative by the configuration, from the Jacobians.
static void frameVelocity(djmFrame* f, const mjModel* m, const mjtNum* qvel) {
  int nv = (int)m->nv;
  mjtNum u[3] = {0, 0, 0}, o[3] = {0, 0, 0};
  mju_mulMatVec(f->lin, f->jacp, qvel, 3, nv);
  mju_mulMatVec(f->ang, f->jacr, qvel, 3, nv);
  for (int j = 0; j < m->njnt; j++) {
    int first = m->jnt_dofadr[j], type = m->jnt_type[j];
    if (type == mjJNT_FREE) {
      moveBlock(f, u, o, qvel, nv, first, 3);
      first += 3;
    }
    moveBlock(f, u, o, qvel, nv, first, type == mjJNT_FREE || type == mjJNT_BALL ? 3 : 1);
  }
}

// A frame on an object: body (inertial), xbody, geom, site.
static void setFrame(djmFrame* f, const mjModel* m, const mjData* d, int type, int id,
                     const mjtNum* qvel) {
  const mjtNum *pos = d->xpos + 3 * id, *mat = d->xmat + 9 * id, *local = NULL;
  int body = id;
  if (type == mjOBJ_BODY) {
    pos = d->xipos + 3 * id, mat = d->ximat + 9 * id, local = m->body_iquat + 4 * id;
  } else if (type == mjOBJ_GEOM) {
    body = m->geom_bodyid[id];
    pos = d->geom_xpos + 3 * id, mat = d->geom_xmat + 9 * id, local = m->geom_quat + 4 * id;
  } else if (type == mjOBJ_SITE) {
    body = m->site_bodyid[id];
    pos = d->site_xpos + 3 * id, mat = d->site_xmat + 9 * id, local = m->site_quat + 4 * id;
  }
  mju_copy3(f->pos, pos);
  mju_copy(f->mat, mat, 9);
  mju_copy4(f->quat, d->xquat + 4 * body);
  if (local) mju_mulQuat(f->quat, d->xquat + 4 * body, local);
  mj_jac(m, d, f->jacp, f->jacr, pos, body);
  if (qvel) frameVelocity(f, m, qvel);
}

// x, dx: a vector and its derivative by dof k; in the axes of the reference frame, which turns.
static void intoFrame(mjtNum dx[3], const mjtNum x[3], const djmFrame* ref, int nv, int k) {
  mjtNum theta[3], sum[3];
  column(theta, ref->jacr, nv, k);
  mju_copy3(sum, dx);
  addCross(sum, x, theta);
  mju_mulMatTVec3(dx, ref->mat, sum);
}

// ref: NULL, the world
static void positionRows(djmRows* rows, const djmFrame* f, const djmFrame* ref, int nv) {
  mjtNum r[3], dx[3], other[3];
  mju_copy3(r, f->pos);
  if (ref) mju_subFrom3(r, ref->pos);
  for (int k = 0; k < nv; k++) {
    column(dx, f->jacp, nv, k);
    if (ref) {
      column(other, ref->jacp, nv, k);
      mju_subFrom3(dx, other);
      intoFrame(dx, r, ref, nv, k);
    }
    setColumn(rows->x, rows->nx, k, dx);
  }
  mju_copy3(rows->value, r);
  if (ref) mju_mulMatTVec3(rows->value, ref->mat, r);
}

// A world vector that is fixed in the frame, or (f NULL) in the world.
static void directionRows(djmRows* rows, const mjtNum e[3], const djmFrame* f, const djmFrame* ref,
                          int nv) {
  mjtNum theta[3], dx[3];
  for (int k = 0; k < nv; k++) {
    mju_zero(dx, 3);
    if (f) {
      column(theta, f->jacr, nv, k);
      mju_cross(dx, theta, e);
    }
    if (ref) intoFrame(dx, e, ref, nv, k);
    setColumn(rows->x, rows->nx, k, dx);
  }
  mju_copy3(rows->value, e);
  if (ref) mju_mulMatTVec3(rows->value, ref->mat, e);
}

// q = q_r^-1 q_o changes by (0, R_r^T (theta_o - theta_r)) q/2.
static void quatRows(djmRows* rows, const djmFrame* f, const djmFrame* ref, int nv) {
  mjtNum inverse[4], theta[3], other[3], dq[4], turn[4] = {0};
  mju_copy4(rows->value, f->quat);
  if (ref) {
    mju_negQuat(inverse, ref->quat);
    mju_mulQuat(rows->value, inverse, f->quat);
  }
  for (int k = 0; k < nv; k++) {
    column(theta, f->jacr, nv, k);
    if (ref) {
      column(other, ref->jacr, nv, k);
      mju_subFrom3(theta, other);
      mju_mulMatTVec3(other, ref->mat, theta);
      mju_copy3(theta, other);
    }
    mju_scl3(turn + 1, theta, 0.5);
    mju_mulQuat(dq, turn, rows->value);
    for (int r = 0; r < 4; r++) rows->x[r * rows->nx + k] = dq[r];
  }
}

// Angular or linear velocity, relative to ref and in its axes.
static void velocityRows(djmRows* rows, const djmFrame* f, const djmFrame* ref, bool linear,
                         int nv) {
  const mjtNum* jac = linear ? f->jacp : f->jacr;
  const mjtNum* by_q = linear ? f->dlin : f->dang;
  mjtNum x[3], dx[3], dv[3], other[3], r[3] = {0, 0, 0};
  mju_copy3(x, linear ? f->lin : f->ang);
  if (ref) {
    mju_subFrom3(x, linear ? ref->lin : ref->ang);
    mju_sub3(r, f->pos, ref->pos);
    if (linear) addCross(x, r, ref->ang);
  }
  for (int k = 0; k < nv; k++) {
    column(dx, by_q, nv, k);
    column(dv, jac, nv, k);
    if (ref) {
      column(other, linear ? ref->dlin : ref->dang, nv, k);
      mju_subFrom3(dx, other);
      column(other, linear ? ref->jacp : ref->jacr, nv, k);
      mju_subFrom3(dv, other);
    }
    if (ref && linear) {
      addCross(dx, dv, ref->ang);   // dv is here the change of r
      column(other, ref->dang, nv, k);
      addCross(dx, r, other);
      column(other, ref->jacr, nv, k);
      addCross(dv, r, other);
    }
    if (ref) {
      intoFrame(dx, x, ref, nv, k);
      mju_mulMatTVec3(other, ref->mat, dv);
      mju_copy3(dv, other);
    }
    setColumn(rows->x, rows->nx, k, dx);
    setColumn(rows->x, rows->nx, nv + k, dv);
  }
  mju_copy3(rows->value, x);
  if (ref) mju_mulMatTVec3(rows->value, ref->mat, x);
}

// Velocity of a site in its own axes: relative to the world at rest.
static void localVelocityRows(djmRows* rows, const djmFrame* f, bool linear, int nv) {
  const mjtNum *x = linear ? f->lin : f->ang, *jac = linear ? f->jacp : f->jacr;
  mjtNum dx[3], dv[3];
  for (int k = 0; k < nv; k++) {
    column(dx, linear ? f->dlin : f->dang, nv, k);
    intoFrame(dx, x, f, nv, k);
    setColumn(rows->x, rows->nx, k, dx);
    column(dv, jac, nv, k);
    mju_mulMatTVec3(dx, f->mat, dv);
    setColumn(rows->x, rows->nx, nv + k, dx);
  }
  mju_mulMatTVec3(rows->value, f->mat, x);
}

// Means over the bodies of a subtree, by mass.
static void subtreeVelocityRows(djmRows* rows, djmSensorWork* w, const mjModel* m, mjData* d,
                                int body) {
  int nv = (int)m->nv;
  for (int b = body; b < m->nbody && (b == body || m->body_parentid[b] >= body); b++) {
    double part = m->body_mass[b] / m->body_subtreemass[body];
    if (part == 0) continue;
    setFrame(&w->object, m, d, mjOBJ_BODY, b, d->qvel);
    mju_addToScl3(rows->value, w->object.lin, part);
    for (int r = 0; r < 3; r++) {
      mju_addToScl(rows->x + r * rows->nx, w->object.dlin + r * nv, part, nv);
      mju_addToScl(rows->x + r * rows->nx + nv, w->object.jacp + r * nv, part, nv);
    }
  }
}

void djm_frameRows(djmRows* rows, djmSensorWork* w, const mjModel* m, mjData* d, int i) {
  int nv = (int)m->nv, type = m->sensor_type[i], id = m->sensor_objid[i];
  bool fixed = type == mjSENS_SUBTREECOM || type == mjSENS_SUBTREELINVEL;
  bool moves = m->sensor_needstage[i] == mjSTAGE_VEL;
  djmFrame *f = &w->object, *ref = NULL;
  if (!fixed) setFrame(f, m, d, m->sensor_objtype[i], id, moves ? d->qvel : NULL);
  if (!fixed && m->sensor_refid[i] >= 0) {
    ref = &w->ref;
    setFrame(ref, m, d, m->sensor_reftype[i], m->sensor_refid[i], moves ? d->qvel : NULL);
  }
  switch (type) {
    case mjSENS_FRAMEPOS: positionRows(rows, f, ref, nv); break;
    case mjSENS_FRAMEQUAT: quatRows(rows, f, ref, nv); break;
    case mjSENS_FRAMEXAXIS:
    case mjSENS_FRAMEYAXIS:
    case mjSENS_FRAMEZAXIS: {
      mjtNum e[3];
      column(e, f->mat, 3, type - mjSENS_FRAMEXAXIS);
      directionRows(rows, e, f, ref, nv);
      break;
    }
    case mjSENS_MAGNETOMETER: directionRows(rows, m->opt.magnetic, NULL, f, nv); break;
    case mjSENS_VELOCIMETER: localVelocityRows(rows, f, true, nv); break;
    case mjSENS_GYRO: localVelocityRows(rows, f, false, nv); break;
    case mjSENS_FRAMELINVEL: velocityRows(rows, f, ref, true, nv); break;
    case mjSENS_FRAMEANGVEL: velocityRows(rows, f, ref, false, nv); break;
    case mjSENS_SUBTREELINVEL: subtreeVelocityRows(rows, w, m, d, id); break;
    case mjSENS_SUBTREECOM:
      mj_jacSubtreeCom(m, d, w->jac, id);
      for (int r = 0; r < 3; r++) mju_copy(rows->x + r * rows->nx, w->jac + r * nv, nv);
      mju_copy3(rows->value, d->subtree_com + 3 * id);
      break;
    default: break;
  }
}
