// djm_finishDesign: from constants that mj_setConst derives to the numbers that they are made of.
// At the state qpos0 they are s J M^-1 J^T, with J of a body's centre of mass, a dof, a tendon;
// with x = M^-1 J^T
//
//   d(s J x) = s (2 dJ x - x^T dM x)

#include "design_work.h"
#include "motion.h"
#include "slope_error.h"
#include "spatial.h"

#include <string.h>

static void atRest(void* arg) {
  djmTransitionWork* w = arg;
  const mjModel* m = &w->view;
  mj_resetData(m, w->d);
  mju_copy(w->d->qpos, m->qpos0, (int)m->nq);
  mj_kinematics(m, w->d);
  mj_comPos(m, w->d);
  mj_tendon(m, w->d);
  mj_makeM(m, w->d);
  mj_factorM(m, w->d);
}

// A row J (nv): of a point of a body (axis: 0 to 2 along, 3 to 5 about), or body = -1.
typedef struct Row {
  mjtNum *J, *x, *beta;
  int body, axis;
} Row;

// Adds s times the derivative of J M^-1 J^T.
static void addRow(djmSweep* s, djmTransitionWork* w, const Row* r, mjtNum scale) {
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  int nv = w->nv;
  mju_copy(r->beta, r->J, nv);
  mj_solveM(m, w->d, r->x, r->beta, 1);
  mju_scl(r->beta, r->x, -scale, nv);
  s->beta = r->beta;
  s->acc = r->x;
  djm_openSweep(s, false);
  if (r->body >= 0) {
    djmPart* p = s->body + r->body;
    p->loaded = true;
    mjtNum e[3] = {0}, none[3] = {0}, at[3], by[3], local[3];
    e[r->axis % 3] = 2 * scale;
    mju_sub3(at, d->xipos + 3 * r->body, djm_center(m, d, r->body));
    if (r->axis < 3) {
      djm_addWrenchAt(p->P, none, e, at, 1);
      cross3(by, e, p->flow.acc);
      djm_addWrenchAt(p->T, none, by, at, 1);
      mju_mulMatTVec3(local, d->xmat + 9 * r->body, by);
      mju_addTo3(s->design->body_ipos + 3 * r->body, local);
    } else {
      djm_addWrenchAt(p->P, e, none, at, 1);
    }
  }
  djm_closeWrenches(s);
  djm_sweepInertia(s);
  djm_closeSweep(s, NULL, NULL);
  for (int i = 0; i < nv; i++) s->design->dof_armature[i] -= scale * r->x[i] * r->x[i];
  for (int i = 0; i < (int)m->nactuator; i++) {
    int type = m->actuator_trntype[i], id = m->actuator_trnid[2 * i], out = m->actuator_outadr[i];
    if (m->actuator_armature[i] == 0) continue;
    if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT) continue;
    if (m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) continue;
    mjtNum x = r->x[m->jnt_dofadr[id]];
    s->design->actuator_gear[6 * out] -=
      2 * scale * m->actuator_gear[6 * out] * m->actuator_armature[i] * x * x;
  }
  for (int t = 0; t < (int)m->ntendon; t++) {
    mjtNum sum = 0;
    if (!djm_canHaveArmature(m, t)) continue;
    for (int k = m->ten_J_rowadr[t]; k < m->ten_J_rowadr[t] + m->ten_J_rownnz[t]; k++) {
      sum += d->ten_J[k] * r->x[m->ten_J_colind[k]];
    }
    s->design->tendon_armature[t] -= scale * sum * sum;
  }
}

static void bodies(djmSweep* s, djmTransitionWork* w, Row* r, mjtNum* jac) {
  const mjModel* m = &w->view;
  for (int b = 1; b < (int)m->nbody; b++) {
    const mjtNum* by = s->design->body_invweight0 + 2 * b;
    if ((by[0] == 0 && by[1] == 0) || !m->body_dofnum[m->body_weldid[b]]) continue;
    if (m->body_simple[b] == 2) {
      s->design->body_mass[b] -= by[0] / (m->body_mass[b] * m->body_mass[b]);
      continue;
    }
    mj_jacBodyCom(m, w->d, jac, jac + 3 * w->nv, b);
    r->body = b;
    for (int k = 0; k < 6; k++) {
      r->axis = k;
      r->J = jac + k * w->nv;
      if (by[k >= 3] != 0) addRow(s, w, r, by[k >= 3] / 3);
    }
  }
}

static void joints(djmSweep* s, djmTransitionWork* w, Row* r, mjtNum* jac) {
  const mjModel* m = &w->view;
  r->body = -1;
  r->J = jac;
  for (int i = 0; i < w->nv;) {
    int type = m->jnt_type[m->dof_jntid[i]], body = m->dof_bodyid[i], n = 1;
    if (type == mjJNT_BALL || type == mjJNT_FREE) n = 3;
    mjtNum by = 0;
    for (int k = 0; k < n; k++) by += s->design->dof_invweight0[i + k] / n;
    if (by != 0 && m->body_simple[body] == 2) {
      s->design->body_mass[body] -= by / (m->body_mass[body] * m->body_mass[body]);
    } else if (by != 0) {
      for (int k = 0; k < n; k++) {
        mju_zero(jac, w->nv);
        jac[i + k] = 1;
        addRow(s, w, r, by);
      }
    }
    i += n;
  }
}

// Jacobians of fixed tendons are constant.
static void tendons(djmSweep* s, djmTransitionWork* w, Row* r, mjtNum* jac) {
  const mjModel* m = &w->view;
  r->body = -1;
  r->J = jac;
  for (int t = 0; t < (int)m->ntendon; t++) {
    mjtNum by = s->design->tendon_invweight0[t];
    if (by == 0 || m->tendon_type[t] != 0) continue;
    mju_sparse2dense(jac, w->d->ten_J, 1, w->nv, m->ten_J_rownnz + t, m->ten_J_rowadr + t,
                     m->ten_J_colind);
    addRow(s, w, r, by);
  }
}

// The second anchor of a connect is where the first is at qpos0.
static void anchors(djmSweep* s, djmTransitionWork* w, Row* r) {
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  const mjtNum none[3] = {0};
  bool any = false;
  mju_zero(r->beta, w->nv);
  s->beta = s->acc = r->beta;
  djm_openSweep(s, false);
  for (int i = 0; i < (int)m->neq; i++) {
    mjtNum *by = s->design->eq_data + mjNEQDATA * i, world[3], local[3], point[3], at[3];
    if (m->eq_type[i] != mjEQ_CONNECT || m->eq_objtype[i] != mjOBJ_BODY) continue;
    if (mju_isZero(by + 3, 3)) continue;
    int id1 = m->eq_obj1id[i], id2 = m->eq_obj2id[i];
    any = true;
    mju_mulMatVec3(world, d->xmat + 9 * id2, by + 3);
    mju_mulMatTVec3(local, d->xmat + 9 * id1, world);
    mju_addTo3(by, local);
    mju_mulMatVec3(point, d->xmat + 9 * id1, m->eq_data + mjNEQDATA * i);
    mju_addTo3(point, d->xpos + 3 * id1);
    mju_sub3(at, point, djm_center(m, d, id1));
    s->body[id1].loaded = s->body[id2].loaded = true;
    djm_addWrenchAt(s->body[id1].T, none, world, at, 1);
    mju_sub3(at, point, djm_center(m, d, id2));
    djm_addWrenchAt(s->body[id2].T, none, world, at, -1);
    mju_zero3(by + 3);
  }
  if (!any) return;
  djm_closeWrenches(s);
  djm_closeSweep(s, NULL, NULL);
}

djStatus djm_finishDesign(djmDesignGradient* g, const mjModel* m, djmTransitionWork* w,
                          djError* err) {
  if (m->nbuffer != w->nbuffer || (int)m->nv != w->nv || (int)m->nu != w->nu) {
    return djm_slopeError(err, DJ_INVALID, "the work was made for another model");
  }
  djmSweep s = {.m = &w->view, .d = w->d, .design = g};
  djStatus status = djm_roomForRows(w, 8, err);
  if (status < 0) return status;
  s.body = djm_sweepRoom(w);
  if (!s.body) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  djm_setView(w, m);
  status = djm_guard(atRest, w, err);
  if (status < 0) return status;
  Row r = {.x = w->a, .beta = w->end};
  mjtNum* jac = w->dense;
  bodies(&s, w, &r, jac);
  joints(&s, w, &r, jac);
  tendons(&s, w, &r, jac);
  anchors(&s, w, &r);
  mju_zero(g->body_invweight0, 2 * (int)m->nbody);
  mju_zero(g->dof_invweight0, w->nv);
  mju_zero(g->tendon_invweight0, (int)m->ntendon);
  mju_zero(g->tendon_length0, (int)m->ntendon);
  return DJ_OK;
}
