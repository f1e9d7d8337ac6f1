// Equality constraints.

#include "import.h"

static int bodyOf(const mjModel* m, int i, int k) {
  int id = k ? m->eq_obj2id[i] : m->eq_obj1id[i];
  if (id < 0) return 0;
  return m->eq_objtype[i] == mjOBJ_SITE ? m->site_bodyid[id] : id;
}

bool djm_equalityKept(const mjModel* m, int i) {
  switch (m->eq_type[i]) {
    case mjEQ_CONNECT:
    case mjEQ_WELD:
      return bodyOf(m, i, 0) != bodyOf(m, i, 1);
    case mjEQ_JOINT:
    case mjEQ_TENDON:
      return true;
    default:
      return false;
  }
}

// Points and frames of bodies. MuJoCo's welds have the second one's point first.
static void importFrames(djEqualityDef* e, const mjModel* m, int i) {
  const mjtNum* data = m->eq_data + mjNEQDATA * i;
  bool weld = m->eq_type[i] == mjEQ_WELD;
  int id[2] = {m->eq_obj1id[i], m->eq_obj2id[i]};
  if (weld) e->torquescale = data[10];
  if (m->eq_objtype[i] == mjOBJ_SITE) {
    e->site1 = id[0];
    e->site2 = id[1];
    return;
  }
  e->body1 = id[0];
  e->body2 = id[1] < 0 ? 0 : id[1];
  mju_copy3(e->anchor1, data + (weld ? 3 : 0));
  mju_copy3(e->anchor2, data + (weld ? 0 : 3));
  if (weld) mju_copy4(e->quat, data + 6);
}

static void importEquality(djEqualityDef* e, const mjModel* m, int i) {
  *e = dj_defaultEqualityDef();
  e->name = djm_name(m, m->name_eqadr[i]);
  e->type = (djEqualityType)m->eq_type[i];
  e->active = m->eq_active0[i];
  switch (e->type) {
    case DJ_EQ_CONNECT:
    case DJ_EQ_WELD:
      importFrames(e, m, i);
      break;
    case DJ_EQ_JOINT:
      e->joint1 = m->eq_obj1id[i];
      e->joint2 = m->eq_obj2id[i];
      break;
    case DJ_EQ_TENDON:
      e->tendon1 = m->eq_obj1id[i];
      e->tendon2 = m->eq_obj2id[i];
  }
  if (e->joint1 >= 0 || e->tendon1 >= 0) mju_copy(e->polycoef, m->eq_data + mjNEQDATA * i, 5);
  djm_limitLaw(&e->stiffness, &e->damping, m, m->eq_solref + mjNREF * i,
               m->eq_solimp + mjNIMP * i);
  djm_impedance(e->impedance, m->eq_solimp + mjNIMP * i);
}

djStatus djm_importEqualities(djmImport* imp) {
  const mjModel* m = imp->m;
  djEqualityDef* equality = djm_alloc(imp, m->neq, sizeof(*equality));
  int n = 0;
  if (!equality) return DJ_NO_MEMORY;
  for (int i = 0; i < m->neq; i++) {
    if (djm_equalityKept(m, i)) importEquality(&equality[n++], m, i);
  }
  imp->def.nequality = n;
  imp->def.equality = equality;
  return DJ_OK;
}
