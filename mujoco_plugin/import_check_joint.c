// Rows about joints and equality constraints.

#include "import_checks.h"
#include "type_table.h"

#include <math.h>
#include <stdio.h>

static const char* unit(const mjModel* m, int joint) {
  return m->jnt_type[joint] == mjJNT_SLIDE ? "m" : "rad";
}

bool djm_jntRange(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  if (!m->jnt_limited[i] || m->jnt_type[i] == mjJNT_FREE || djm_disabled(m, mjDSBL_LIMIT)) {
    return false;
  }
  if (djm_hasRows(imp)) return false;
  double stiffness, damping;
  djm_limitLaw(&stiffness, &damping, m, m->jnt_solref + mjNREF * i,
               m->jnt_solimp + mjNIMP * i);
  snprintf(note, sizeof(djmNote),
           "the limit is soft, as deep as MuJoCo's under a steady load (%.2g %s at 100 %s/s^2), less "
           "deep under an impact; a one-sided spring and damper, %.3g /s^2 and %.3g /s times the "
           "joint's inertia at qpos0, as deep as MuJoCo's beyond solimp's width",
           stiffness > 0 ? 100 / stiffness : INFINITY, unit(m, i), unit(m, i), stiffness, damping);
  return true;
}

// The dofs of joint i have a value that is not zero, and (differ) values that differ.
static bool anyDof(bool* differ, const mjModel* m, int i, const mjtNum* value, int width) {
  const mjtNum* first = value + width * m->jnt_dofadr[i];
  bool nonzero = false;
  *differ = false;
  for (int k = 0; k < width * djm_jointNv(m->jnt_type[i]); k++) {
    if (first[k] != 0) nonzero = true;
    if (first[k] != first[k % width]) *differ = true;
  }
  return nonzero;
}

bool djm_jntFrictionloss(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  bool differ;
  if (djm_disabled(m, mjDSBL_FRICTIONLOSS) || !anyDof(&differ, m, i, m->dof_frictionloss, 1) ||
      differ) {
    return false;
  }
  if (djm_hasRows(imp)) {
    snprintf(note, sizeof(djmNote), "by the mean of its dofs' inertia");
    return m->jnt_type[i] == mjJNT_FREE;
  }
  double creep = imp->model->opt.frictionloss_eps;
  snprintf(note, sizeof(djmNote),
           "smoothed: a load of half the friction creeps at %.2g %s/s (MuJoCo creeps too)",
           creep * 0.5 / sqrt(0.75), unit(m, i));
  return true;
}

bool djm_jntFrictionlossDofs(const djmImport* imp, int i, djmNote note) {
  (void)note;
  bool differ;
  if (djm_disabled(imp->m, mjDSBL_FRICTIONLOSS)) return false;
  anyDof(&differ, imp->m, i, imp->m->dof_frictionloss, 1);
  return differ;
}

bool djm_jntDampingDofs(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  bool linear, poly;
  if (djm_disabled(m, mjDSBL_DAMPER)) return false;
  anyDof(&linear, m, i, m->dof_damping, 1);
  anyDof(&poly, m, i, m->dof_dampingpoly, mjNPOLY);
  return linear || poly;
}

bool djm_jntArmatureDofs(const djmImport* imp, int i, djmNote note) {
  (void)note;
  bool differ;
  anyDof(&differ, imp->m, i, imp->m->dof_armature, 1);
  return differ;
}

bool djm_jntActfrcrange(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  if (!m->jnt_actfrclimited[i]) return false;
  for (int k = 0; k < m->nactuator; k++) {
    if (djm_actuatorLive(m, k)) return true;
  }
  return false;
}

// Whether a body that the joint moves has gravity compensation.
static bool compensates(const mjModel* m, int joint) {
  bool passive_off = djm_disabled(m, mjDSBL_SPRING) && djm_disabled(m, mjDSBL_DAMPER);
  if (passive_off || djm_disabled(m, mjDSBL_GRAVITY) || mju_isZero(m->opt.gravity, 3)) return false;
  for (int body = 1; body < m->nbody; body++) {
    if (m->body_gravcomp[body] == 0 || m->body_mass[body] == 0) continue;
    for (int b = body; b > 0; b = m->body_parentid[b]) {
      if (b == m->jnt_bodyid[joint]) return true;
    }
  }
  return false;
}

bool djm_jntActgravcomp(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  bool vanishes = m->nactuator == 0 || djm_disabled(m, mjDSBL_ACTUATION);
  if (!m->jnt_actgravcomp[i] || !compensates(m, i)) return false;
  if (!vanishes && !m->jnt_actfrclimited[i]) return false;
  if (imp->model->jnt_actgravcomp[i]) return false;
  snprintf(note, sizeof(djmNote), "%s",
           vanishes ? "MuJoCo drops this compensation where there is no actuation; here it acts"
                    : "the compensation is not part of the force that actuatorfrcrange clips");
  return true;
}

bool djm_jntSpringyield(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return m->jnt_plasticadr[i] >= 0 && m->jnt_springyield[i] > 0 &&
         !djm_disabled(m, mjDSBL_SPRING) &&
         (m->jnt_stiffness[i] != 0 ||
          !mju_isZero(m->jnt_stiffnesspoly + mjNPOLY * i, mjNPOLY));
}

// ------------------------------ equality constraints --------------------------------------------

static bool equalityActive(const mjModel* m, int i, int type) {
  return m->eq_type[i] == type && m->eq_active0[i] && !djm_disabled(m, mjDSBL_EQUALITY);
}

// Whether the two bodies of a connect or weld can move against each other.
static bool bodiesApart(const mjModel* m, int i) {
  int id[2] = {m->eq_obj1id[i], m->eq_obj2id[i]};
  int weld[2];
  bool moves = false;
  for (int k = 0; k < 2; k++) {
    int body = id[k] < 0 ? 0 : m->eq_objtype[i] == mjOBJ_SITE ? m->site_bodyid[id[k]] : id[k];
    weld[k] = m->body_weldid[body];
    if (djm_moves(m, body)) moves = true;
  }
  return moves && weld[0] != weld[1];
}

// Whether it acts, but in a step that has none.
static bool isLeftOut(const djmImport* imp, int i) {
  bool none = !djm_hasRows(imp) && imp->model->opt.equality == DJ_EQUALITY_SOFT;
  return none || imp->model->opt.disable & DJ_DSBL_EQUALITY || !djm_equalityKept(imp->m, i);
}

bool djm_eqConnect(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return isLeftOut(imp, i) && equalityActive(imp->m, i, mjEQ_CONNECT) && bodiesApart(imp->m, i);
}

bool djm_eqWeld(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return isLeftOut(imp, i) && equalityActive(imp->m, i, mjEQ_WELD) && bodiesApart(imp->m, i);
}

bool djm_eqJoint(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return isLeftOut(imp, i) && equalityActive(imp->m, i, mjEQ_JOINT);
}

bool djm_eqTendon(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return isLeftOut(imp, i) && equalityActive(m, i, mjEQ_TENDON) &&
         (djm_tendonMoves(m, m->eq_obj1id[i]) || djm_tendonMoves(m, m->eq_obj2id[i]));
}

bool djm_eqTied(const djmImport* imp, int i, djmNote note) {
  int id = 0, geom[2];
  if (isLeftOut(imp, i) || !imp->m->eq_active0[i]) return false;
  for (int k = 0; k < i; k++) id += djm_equalityKept(imp->m, k);
  const int n = dj_tiedGeoms(geom, imp->model, id);
  if (n == 0) return false;
  char name[2][80], more[40] = "";
  for (int k = 0; k < 2; k++) {
    djm_elementText(name[k], sizeof name[k], "geom", dj_id2name(imp->model, DJ_OBJ_GEOM, geom[k]),
                    geom[k]);
  }
  if (n > 1) snprintf(more, sizeof more, " and %d pairs more", n - 1);
  snprintf(note, sizeof(djmNote),
           "the point that it keeps together lies in %s and in %s%s: in MuJoCo contact presses "
           "against it; here such geoms do not collide while it acts",
           name[0], name[1], more);
  return true;
}

bool djm_eqFlex(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return equalityActive(m, i, mjEQ_FLEX) || equalityActive(m, i, mjEQ_FLEXVERT) ||
         equalityActive(m, i, mjEQ_FLEXSTRAIN);
}
