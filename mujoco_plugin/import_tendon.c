// Tendons.

#include "import.h"

bool djm_tendonMoves(const mjModel* m, int i) { return i >= 0 && m->ten_J_rownnz[i] > 0; }

bool djm_tendonWraps(const mjModel* m, int i) {
  for (int k = m->tendon_adr[i]; k < m->tendon_adr[i] + m->tendon_num[i]; k++) {
    if (m->wrap_type[k] == mjWRAP_SPHERE || m->wrap_type[k] == mjWRAP_CYLINDER) return true;
  }
  return false;
}

static bool isAncestor(const mjModel* m, int dof, int of) {
  while (of > dof) of = m->dof_parentid[of];
  return of == dof;
}

static bool hasArmature(const mjModel* m, int i) {
  if (m->tendon_armature[i] != 0) return true;
  for (int k = 0; k < m->nactuator; k++) {
    bool on = m->actuator_trntype[k] == mjTRN_TENDON && m->actuator_trnid[2 * k] == i;
    if (on && m->actuator_armature[k] != 0) return true;
  }
  return false;
}

bool djm_bentArmature(const mjModel* m) {
  for (int i = 0; i < m->ntendon; i++) {
    if (m->wrap_type[m->tendon_adr[i]] != mjWRAP_JOINT && hasArmature(m, i)) return true;
  }
  return false;
}

bool djm_tendonForks(const mjModel* m, int i) {
  const int* dof = m->ten_J_colind + m->ten_J_rowadr[i];
  if (!hasArmature(m, i)) return false;
  for (int k = 1; k < m->ten_J_rownnz[i]; k++) {
    if (!isAncestor(m, dof[k - 1], dof[k])) return true;
  }
  return false;
}

static void importPath(djTendonDef* t, djWrapDef* wrap, const mjModel* m, int i) {
  t->wrap = wrap;
  for (int k = m->tendon_adr[i]; k < m->tendon_adr[i] + m->tendon_num[i]; k++) {
    wrap[t->nwrap++] = (djWrapDef){(djWrap)m->wrap_type[k], m->wrap_objid[k], m->wrap_prm[k]};
  }
}

static void importTendon(djTendonDef* t, const mjModel* m, int i) {
  t->name = djm_name(m, m->name_tendonadr[i]);
  mju_copy(t->springlength, m->tendon_lengthspring + 2 * i, 2);
  t->stiffness = m->tendon_stiffness[i];
  mju_copy(t->stiffnesspoly, m->tendon_stiffnesspoly + mjNPOLY * i, mjNPOLY);
  t->damping = m->tendon_damping[i];
  mju_copy(t->dampingpoly, m->tendon_dampingpoly + mjNPOLY * i, mjNPOLY);
  t->frictionloss = m->tendon_frictionloss[i];
  t->armature = m->tendon_armature[i];
  t->limited = m->tendon_limited[i];
  mju_copy(t->range, m->tendon_range + 2 * i, 2);
  t->margin = m->tendon_margin[i];
  djm_limitLaw(&t->limit_stiffness, &t->limit_damping, m, m->tendon_solref_lim + mjNREF * i,
               m->tendon_solimp_lim + mjNIMP * i);
  djm_impedance(t->limit_impedance, m->tendon_solimp_lim + mjNIMP * i);
  djm_lossLaw(&t->frictionloss_damping, &t->frictionloss_impedance, m,
              m->tendon_solref_fri + mjNREF * i, m->tendon_solimp_fri + mjNIMP * i);
  t->actfrclimited = m->tendon_actfrclimited[i];
  mju_copy(t->actfrcrange, m->tendon_actfrcrange + 2 * i, 2);
}

djStatus djm_importTendons(djmImport* imp) {
  const mjModel* m = imp->m;
  djTendonDef* tendon = djm_alloc(imp, m->ntendon, sizeof(*tendon));
  djWrapDef* wrap = djm_alloc(imp, m->nwrap, sizeof(*wrap));
  if (!tendon || !wrap) return DJ_NO_MEMORY;
  for (int i = 0; i < m->ntendon; i++) {
    tendon[i] = dj_defaultTendonDef();
    importPath(&tendon[i], wrap + m->tendon_adr[i], m, i);
    importTendon(&tendon[i], m, i);
  }
  imp->def.ntendon = (int)m->ntendon;
  imp->def.tendon = tendon;
  return DJ_OK;
}
