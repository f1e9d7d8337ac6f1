// How an actuator's lengths and moments follow q (djm_transmissionForm). With R_s a site's frame,
// x_s its position, p, s the velocity of a point and the turn by a dof, g, h a gear's two halves:
//   slide, hinge      l = g q,             moment g
//   ball              l = g . log q,       moment g; joint in parent: R^T g, which turns by -w x
//   free              l = 0,               moment (g, h), or (g, R^T h)
//   tendon            l = g L
//   site              l = 0,               p . R_s g + s . R_s h: forces that turn with the site
//   site with ref     (p_s - p_r) . R_r g + (s_s - s_r) . R_r h, without dofs before both;
//                     l = g . R_r^T (x_s - x_r) + h . log(q_r^-1 q_s). The moment leaves
//                     out how R_r turns: it is not the length's derivative.
//   slider-crank      l = a.v - sqrt((a.v)^2 + rod^2 - v.v): v from slider to crank, a its axis
//   so3               l = log, moments along the site's axes

#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

static void scaleForm(djmForm* f, double scale) {
  for (int i = 0; i < f->n; i++) f->moment[i] *= scale, f->slope[i] *= scale;
  for (int i = 0; i < f->n * f->n && f->turns; i++) f->hessian[i] *= scale;
}

// ---- joints -----------------------------------------------------------------------------------

// A gear that stays in the parent's frame (or the world) while the joint turns.
static void turnGear(djmForm* f, int first, const double* gear, const double* quat) {
  double back[4], axis[3];
  mju_negQuat(back, quat);
  mju_rotVecQuat(axis, gear, back);
  for (int k = 0; k < 3; k++) {
    double unit[3] = {k == 0, k == 1, k == 2}, change[3];
    cross3(change, axis, unit);
    for (int j = 0; j < 3; j++) f->hessian[(first + j) * f->n + first + k] = change[j];
    f->moment[first + k] = axis[k];
  }
}

static void logSlope(double* by, const mjData* d, int adr, double* quat) {
  static const double unit[4] = {1, 0, 0, 0};
  double other[9];
  mju_copy4(quat, d->qpos + adr);
  mju_normalize4(quat);
  mjd_subQuat(quat, unit, by, other);
}

static void jointForm(djmForm* f, const mjModel* m, const mjData* d, int actuator, int o) {
  int j = m->actuator_trnid[2 * actuator], type = m->jnt_type[j], dof = m->jnt_dofadr[j];
  const double* gear = m->actuator_gear + 6 * o;
  bool parent = m->actuator_trntype[actuator] == mjTRN_JOINTINPARENT;
  int n = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1, first = n == 6 ? 3 : 0;
  for (int i = 0; i < n; i++) djm_addDof(f, dof + i);
  djm_startForm(f, parent && n > 1);
  if (n == 1) {
    f->slope[0] = f->moment[0] = gear[0];
    return;
  }
  double by[9], quat[4];
  logSlope(by, d, m->jnt_qposadr[j] + first, quat);
  memcpy(f->moment, gear, (size_t)n * sizeof(double));
  if (parent) turnGear(f, first, gear + first, quat);
  if (n == 3) mulMatT3(f->slope, by, gear);
}

// ---- sites ------------------------------------------------------------------------------------

// moment += p . force + s . torque over c, hessian: force and torque turn with the chain `by`.
static void addTurning(djmForm* f, const djmChain* c, int first, const djmChain* by, int from,
                       const double* force, const double* torque, double scale) {
  for (int b = from; b < by->n; b++) {
    double x[3], y[3];
    int k = f->index[by->dof[b]];
    cross3(x, by->s + 3 * b, force);
    cross3(y, by->s + 3 * b, torque);
    for (int a = first; a < c->n; a++) {
      int j = f->index[c->dof[a]];
      f->hessian[(size_t)j * f->n + k] += scale * (dot3(c->p + 3 * a, x) + dot3(c->s + 3 * a, y));
    }
  }
}

static void siteForm(djmSmoothWork* w, const mjModel* m, const mjData* d, int site,
                     const double* gear) {
  djmChain* c = w->chain;
  djmForm* f = &w->form;
  double force[3], torque[3];
  djm_fillChain(c, m, d, m->site_bodyid[site], d->site_xpos + 3 * site);
  djm_addChain(f, c, 0);
  djm_startForm(f, true);
  mulMat3(force, d->site_xmat + 9 * site, gear);
  mulMat3(torque, d->site_xmat + 9 * site, gear + 3);
  djm_addWrenchForm(f, c, 0, w->groupend, force, torque, 1);
  addTurning(f, c, 0, c, 0, force, torque, 1);
}

// Relative chains of a site (0) and its reference (1); first dof that does not move both.
static int openPair(djmSmoothWork* w, const mjModel* m, const mjData* d, const int* site) {
  for (int i = 0; i < 2; i++) {
    djm_fillChain(w->chain + i, m, d, m->site_bodyid[site[i]], d->site_xpos + 3 * site[i]);
  }
  int first = djm_commonDofs(w->chain, w->chain + 1);
  for (int i = 0; i < 2; i++) djm_addChain(&w->form, w->chain + i, first);
  djm_startForm(&w->form, true);
  return first;
}

// slope += g . dlog(q_r^-1 q_s)
static void addLog(djmSmoothWork* w, const mjData* d, const int* site, int first, const double* g) {
  double by[2][9], turn[3], x[3];
  mjd_subQuat(d->site_xquat + 4 * site[0], d->site_xquat + 4 * site[1], by[0], by[1]);
  for (int i = 0; i < 2; i++) {
    const djmChain* c = w->chain + i;
    for (int a = first; a < c->n; a++) {
      mulMatT3(turn, d->site_xmat + 9 * site[i], c->s + 3 * a);
      mulMat3(x, by[i], turn);
      w->form.slope[w->form.index[c->dof[a]]] += dot3(g, x);
    }
  }
}

static void pairForm(djmSmoothWork* w, const mjModel* m, const mjData* d, const int* site,
                     const double* gear) {
  djmForm* f = &w->form;
  djmChain* c = w->chain;
  int first = openPair(w, m, d, site);
  double force[3], torque[3], gap[3];
  mulMat3(force, d->site_xmat + 9 * site[1], gear);
  mulMat3(torque, d->site_xmat + 9 * site[1], gear + 3);
  for (int i = 0; i < 2; i++) {
    djm_addWrenchForm(f, c + i, first, w->groupend, force, torque, i ? -1 : 1);
    addTurning(f, c + i, first, c + 1, first, force, torque, i ? -1 : 1);
  }
  sub3(gap, d->site_xpos + 3 * site[0], d->site_xpos + 3 * site[1]);
  for (int i = 0; i < 2; i++) {
    for (int a = first; a < c[i].n; a++) {
      int k = f->index[c[i].dof[a]];
      double turned[3];
      f->slope[k] += (i ? -1 : 1) * dot3(force, c[i].p + 3 * a);
      cross3(turned, c[i].s + 3 * a, force);
      if (i) f->slope[k] += dot3(turned, gap);
    }
  }
  if (!mju_isZero(gear + 3, 3)) addLog(w, d, site, first, gear + 3);
}

// Output `axis` of an orientation: torques along the site's own axes.
static void orientationForm(djmSmoothWork* w, const mjModel* m, const mjData* d, const int* site,
                            int axis) {
  djmForm* f = &w->form;
  djmChain* c = w->chain;
  int first = openPair(w, m, d, site);
  const double *mat = d->site_xmat + 9 * site[0], zero[3] = {0};
  double torque[3] = {mat[axis], mat[3 + axis], mat[6 + axis]};
  for (int i = 0; i < 2; i++) {
    djm_addWrenchForm(f, c + i, first, w->groupend, zero, torque, i ? -1 : 1);
    addTurning(f, c + i, first, c, first, zero, torque, i ? -1 : 1);
  }
  double unit[3] = {axis == 0, axis == 1, axis == 2};
  addLog(w, d, site, first, unit);
}

static void orientationJoint(djmForm* f, const mjModel* m, const mjData* d, int j, int axis) {
  double by[9], quat[4];
  for (int i = 0; i < 3; i++) djm_addDof(f, m->jnt_dofadr[j] + i);
  djm_startForm(f, false);
  logSlope(by, d, m->jnt_qposadr[j], quat);
  f->moment[axis] = 1;
  copy3(f->slope, by + 3 * axis);
}

// ---- slider and crank -------------------------------------------------------------------------

// With u = a.v, w = sqrt(u^2 + rod^2 - v.v), c = 1 - u/w: l = u - w, dl/dv = c a + v/w, dl/da = c
// v. Their changes: du = da.v + a.dv, dw = (u du - v.dv)/w, dc = -du/w + u dw/w^2.
static void crankForm(djmSmoothWork* w, const mjModel* m, const mjData* d, const int* site,
                      double rod) {
  djmForm* f = &w->form;
  djmChain* ch = w->chain;
  int first = openPair(w, m, d, site);
  const double* mat = d->site_xmat + 9 * site[1];
  double a[3] = {mat[2], mat[5], mat[8]}, v[3], force[3] = {0}, pull[3] = {0}, torque[3];
  sub3(v, d->site_xpos + 3 * site[0], d->site_xpos + 3 * site[1]);
  double u = dot3(a, v), det = u * u + rod * rod - dot3(v, v), root = sqrt(det > 0 ? det : 1);
  bool bent = det > 0;
  double c = bent ? 1 - u / root : 1, inverse = bent ? 1 / root : 0;
  addScl3(force, a, c);
  addScl3(force, v, inverse);
  addScl3(pull, v, c);
  cross3(torque, a, pull);
  const double zero[3] = {0};
  djm_addWrenchForm(f, ch, first, w->groupend, force, zero, 1);
  djm_addWrenchForm(f, ch + 1, first, w->groupend, force, zero, -1);
  djm_addWrenchForm(f, ch + 1, first, w->groupend, zero, torque, 1);
  for (int i = 0; i < 2; i++) {
    for (int b = first; b < ch[i].n; b++) {
      double da[3] = {0}, dv[3] = {0}, df[3] = {0}, dp[3] = {0}, dt[3];
      if (i) cross3(da, ch[i].s + 3 * b, a);
      addScl3(dv, ch[i].p + 3 * b, i ? -1 : 1);
      double du = dot3(da, v) + dot3(a, dv), dw = bent ? (u * du - dot3(v, dv)) * inverse : 0;
      double dc = bent ? (-du + u * dw * inverse) * inverse : 0;
      addScl3(df, a, dc);
      addScl3(df, da, c);
      addScl3(df, dv, inverse);
      addScl3(df, v, -dw * inverse * inverse);
      addScl3(dp, v, dc);
      addScl3(dp, dv, c);
      cross3(dt, da, pull);
      addCross3(dt, a, dp);
      int k = f->index[ch[i].dof[b]];
      for (int e = 0; e < 2; e++) {
        for (int r = first; r < ch[e].n; r++) {
          double sum = (e ? -1 : 1) * dot3(ch[e].p + 3 * r, df);
          if (e) sum += dot3(ch[e].s + 3 * r, dt);
          f->hessian[(size_t)f->index[ch[e].dof[r]] * f->n + k] += sum;
        }
      }
    }
  }
  memcpy(f->slope, f->moment, (size_t)f->n * sizeof(double));
}

// form: closed by the caller, also after an error
djStatus djm_transmissionForm(djmSmoothWork* w, const mjModel* m, const mjData* d, int actuator,
                              int o, djError* err) {
  djmForm* f = &w->form;
  const int* id = m->actuator_trnid + 2 * actuator;
  const double* gear = m->actuator_gear + 6 * o;
  djStatus status = DJ_OK;
  djm_openForm(f);
  switch (m->actuator_trntype[actuator]) {
    case mjTRN_JOINT:
    case mjTRN_JOINTINPARENT:
      jointForm(f, m, d, actuator, o);
      break;
    case mjTRN_TENDON:
      status = djm_tendonForm(w, m, d, id[0], err);
      scaleForm(f, gear[0]);
      break;
    case mjTRN_SITE:
      if (id[1] < 0)
        siteForm(w, m, d, id[0], gear);
      else
        pairForm(w, m, d, id, gear);
      break;
    case mjTRN_SLIDERCRANK:
      crankForm(w, m, d, id, m->actuator_cranklength[actuator]);
      scaleForm(f, gear[0]);
      break;
    case mjTRN_SO3: {
      int axis = o - m->actuator_outadr[actuator];
      if (id[1] < 0)
        orientationJoint(f, m, d, id[0], axis);
      else
        orientationForm(w, m, d, id, axis);
      break;
    }
    default:
      djm_startForm(f, false);
      if (d->moment_rownnz[o] > 0) {
        status = djm_refuse(err, "actuator %s: adhesion in contact is not differentiated",
                            djm_nameOf(m, mjOBJ_ACTUATOR, actuator));
      }
      break;
  }
  return status;
}
