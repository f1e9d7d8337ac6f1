// What a model has: features that act, counted by element and attribute. A feature is exact unless
// the report has an entry of that element which is about it.

#include "import_report.h"
#include "type_table.h"

#include <string.h>

#define HAS(name, condition)                           \
  static bool name(const djmImport* imp, int i) {      \
    const mjModel* m = imp->m;                         \
    (void)m, (void)i;                                  \
    return condition;                                  \
  }

static bool anyOf(const mjtNum* value, int n) { return !mju_isZero(value, n); }

static bool anyDof(const mjModel* m, int joint, const mjtNum* value, int width) {
  int n = djm_jointNv(m->jnt_type[joint]);
  return anyOf(value + width * m->jnt_dofadr[joint], width * n);
}

HAS(steps, m->nv > 0)
HAS(gravity, !djm_disabled(m, mjDSBL_GRAVITY) && anyOf(m->opt.gravity, 3))
HAS(medium, m->opt.density > 0 || m->opt.viscosity > 0)
HAS(cone, imp->max_dim > 1)

HAS(mass, djm_moves(m, i) && m->body_mass[i] > 0)
HAS(compensation, djm_moves(m, i) && m->body_gravcomp[i] != 0)
HAS(mocap, m->body_mocapid[i] >= 0)

HAS(joint, true)
HAS(spring, !djm_disabled(m, mjDSBL_SPRING) &&
    (m->jnt_stiffness[i] != 0 || anyOf(m->jnt_stiffnesspoly + mjNPOLY * i, mjNPOLY)))
HAS(damping, !djm_disabled(m, mjDSBL_DAMPER) &&
    (anyDof(m, i, m->dof_damping, 1) || anyDof(m, i, m->dof_dampingpoly, mjNPOLY)))
HAS(armature, anyDof(m, i, m->dof_armature, 1))
HAS(loss, !djm_disabled(m, mjDSBL_FRICTIONLOSS) && anyDof(m, i, m->dof_frictionloss, 1))
HAS(limit, !djm_disabled(m, mjDSBL_LIMIT) && m->jnt_limited[i])
HAS(jointForce, m->jnt_actfrclimited[i])

HAS(shape, djm_geomCollides(imp, i))
HAS(softness, imp->geom_dim[i] > 0)
HAS(friction, imp->geom_dim[i] > 1)
HAS(margin, djm_geomCollides(imp, i) && m->geom_margin[i] != 0)
HAS(pair, djm_pairLive(imp, i))
HAS(pairFriction, djm_pairLive(imp, i) && m->pair_dim[i] > 1)
HAS(equality, m->eq_active0[i] && !djm_disabled(m, mjDSBL_EQUALITY))

HAS(path, djm_tendonMoves(m, i))
HAS(tendonSpring, !djm_disabled(m, mjDSBL_SPRING) && m->tendon_stiffness[i] != 0)
HAS(tendonDamping, !djm_disabled(m, mjDSBL_DAMPER) && m->tendon_damping[i] != 0)
HAS(tendonArmature, m->tendon_armature[i] != 0)
HAS(tendonLoss, !djm_disabled(m, mjDSBL_FRICTIONLOSS) && m->tendon_frictionloss[i] > 0)
HAS(tendonLimit, !djm_disabled(m, mjDSBL_LIMIT) && m->tendon_limited[i])

HAS(transmission, djm_actuatorLive(m, i))
HAS(bias, djm_actuatorLive(m, i) && m->actuator_biastype[i] != mjBIAS_NONE)
HAS(activation, djm_actuatorLive(m, i) && m->actuator_dyntype[i] != mjDYN_NONE)
HAS(control, djm_actuatorLive(m, i) && m->actuator_ctrlnum[i] > 0 &&
    !djm_disabled(m, mjDSBL_CLAMPCTRL) && m->actuator_ctrllimited[m->actuator_ctrladr[i]])
HAS(force, djm_actuatorLive(m, i) && m->actuator_forcelimited[i])

// about: features of the report's entries which make it inexact, between blanks.
static const struct {
  djmKind kind;
  bool (*has)(const djmImport* imp, int i);
  const char* about;
} rows[] = {
    {DJM_OPTION, steps, " integrator eulerdamp "},
    {DJM_OPTION, gravity, ""},
    {DJM_OPTION, medium, ""},
    {DJM_OPTION, cone, " cone impratio noslip_iterations o_friction speculative "},
    {DJM_BODY, mass, ""},
    {DJM_BODY, compensation, ""},
    {DJM_BODY, mocap, ""},
    {DJM_JOINT, joint, ""},
    {DJM_JOINT, spring, " springyield "},
    {DJM_JOINT, damping, " damping "},
    {DJM_JOINT, armature, " armature "},
    {DJM_JOINT, loss, " frictionloss "},
    {DJM_JOINT, limit, " range "},
    {DJM_JOINT, jointForce, " actuatorfrcrange actuatorgravcomp "},
    {DJM_GEOM, shape, " type mesh hfield surface "},
    {DJM_GEOM, softness, " solref solimp adhesion "},
    {DJM_GEOM, friction, " condim surfacevel "},
    {DJM_GEOM, margin, ""},
    {DJM_PAIR, pair, " solref solimp adhesion "},
    {DJM_PAIR, pairFriction, " condim friction solreffriction "},
    {DJM_EQUALITY, equality, " connect weld joint tendon flex "},
    {DJM_TENDON, path, " geom "},
    {DJM_TENDON, tendonSpring, " springlength springyield geom "},
    {DJM_TENDON, tendonDamping, " geom "},
    {DJM_TENDON, tendonArmature, " armature "},
    {DJM_TENDON, tendonLoss, " frictionloss geom "},
    {DJM_TENDON, tendonLimit, " range geom "},
    {DJM_ACTUATOR, transmission, " transmission gaintype plugin delay input "},
    {DJM_ACTUATOR, bias, " biastype biasprm "},
    {DJM_ACTUATOR, activation, " dyntype actrange "},
    {DJM_ACTUATOR, control, " ctrlrange "},
    {DJM_ACTUATOR, force, " forcerange "},
};

static bool isAbout(const char* list, const char* feature) {
  char word[64];
  snprintf(word, sizeof(word), " %s ", feature);
  return strstr(list, word) != NULL;
}

djStatus djm_countExact(djmReport* report, djmImport* imp) {
  const char* kind;
  const int* name;
  report->exact = 0;
  for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
    int n = djm_elements(&kind, &name, imp->m, rows[k].kind);
    bool* told = djm_alloc(imp, (size_t)n, sizeof(*told));
    if (!told) return DJ_NO_MEMORY;
    for (int i = 0; i < report->list.n; i++) {
      const djmPlace* place = &report->place[i];
      bool here = report->check[place->check].kind == rows[k].kind;
      if (here && isAbout(rows[k].about, report->list.entry[i].feature)) told[place->id] = true;
    }
    for (int i = 0; i < n; i++) {
      if (rows[k].has(imp, i) && !told[i]) report->exact++;
    }
  }
  return DJ_OK;
}
