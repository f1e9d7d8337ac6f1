// Rows about options, flexes and plugins.

#include "import_checks.h"

#include <stdio.h>
#include <string.h>

bool djm_optIntegrator(const djmImport* imp, int i, djmNote note) {
  (void)i;
  static const char* const names[] = {"Euler", "RK4", "implicit", "implicitfast", "discrete"};
  int integrator = imp->m->opt.integrator;
  bool euler = imp->def.option.integrator == DJ_EULER;
  const char* why = djm_beyondEuler(imp->m);
  if (why && imp->def.option.integrator == DJ_POSITION) {
    snprintf(note, sizeof(djmNote), "steps are by position, as %s", why);
    return true;
  }
  if (integrator == mjINT_EULER || imp->m->nv == 0) return false;
  if (euler && integrator == mjINT_IMPLICITFAST) return false;
  const char* name = integrator > 0 && integrator < 5 ? names[integrator] : "unknown";
  snprintf(note, sizeof(djmNote),
           "%s is replaced by the integrator that is set here, at the same timestep, %g s; by position "
           "errors are of first order, and a body turning at w loses about h w^2 of its angular "
           "momentum per second",
           name, imp->m->opt.timestep);
  return true;
}

bool djm_optEulerDamp(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  const mjModel* m = imp->m;
  if (imp->def.option.integrator == DJ_EULER) return false;
  if (m->opt.integrator != mjINT_EULER || !djm_disabled(m, mjDSBL_EULERDAMP) ||
      djm_disabled(m, mjDSBL_DAMPER)) {
    return false;
  }
  return !mju_isZero(m->dof_damping, (int)m->nv) ||
         !mju_isZero(m->dof_dampingpoly, mjNPOLY * (int)m->nv) ||
         !mju_isZero(m->actuator_damping, (int)m->nactuator) ||
         !mju_isZero(m->actuator_dampingpoly, mjNPOLY * (int)m->nactuator);
}

bool djm_optCone(const djmImport* imp, int i, djmNote note) {
  (void)i;
  if (imp->max_dim <= 1) return false;
  bool elliptic = imp->m->opt.cone == mjCONE_ELLIPTIC;
  snprintf(note, sizeof(djmNote),
           "%ssticking contacts creep at friction_eps^1/2 p/sqrt(1-p^2), p being the demand over "
           "the friction limit",
           elliptic ? ""
                    : "friction has a round cone: MuJoCo's pyramid is up to 29 % weaker, between "
                      "its friction directions; ");
  return true;
}

bool djm_optImpratio(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  return imp->max_dim > 1 && imp->m->opt.impratio != 1;
}

bool djm_optNoslip(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  return imp->max_dim > 1 && imp->m->opt.noslip_iterations > 0;
}

bool djm_optSleep(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  const mjModel* m = imp->m;
  if (!(m->opt.enableflags & mjENBL_SLEEP)) return false;
  for (int t = 0; t < m->ntree; t++) {
    int policy = m->tree_sleep_policy[t];
    if (policy != mjSLEEP_NEVER && policy != mjSLEEP_AUTO_NEVER) return true;
  }
  return false;
}

bool djm_optSpeculative(const djmImport* imp, int i, djmNote note) {
  (void)i, (void)note;
  return imp->max_dim > 0 && (imp->m->opt.enableflags & mjENBL_SPECULATIVE);
}

bool djm_flex(const djmImport* imp, int i, djmNote note) {
  const char* why = djm_flexProblem(imp->m, i);
  if (!why) return false;
  snprintf(note, sizeof(djmNote), "%s: it has no forces and no contact", why);
  return true;
}

bool djm_flexElasticity(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return !djm_flexProblem(imp->m, i) && !djm_flexIsMaterial(imp, i);
}

// Beside MuJoCo's own step its contact of flexes acts.
static bool flexTouches(const djmImport* imp, int i) {
  const mjModel* m = imp->m;
  bool off = djm_disabled(m, mjDSBL_CONTACT) || djm_flexProblem(m, i) || imp->beside;
  return !off && (m->flex_contype[i] || m->flex_conaffinity[i]);
}

bool djm_flexContact(const djmImport* imp, int i, djmNote note) {
  if (!flexTouches(imp, i)) return false;
  snprintf(note, sizeof(djmNote),
           "its vertices touch, as spheres of its radius, but for those on bodies with geoms: a ball "
           "of radius %.3g m passes through the largest hole between them at rest",
           djm_flexHole(imp, i));
  return true;
}

bool djm_flexSelf(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  bool any = m->flex_selfcollide[i] != mjFLEXSELF_NONE && !m->flex_rigid[i];
  for (int k = 0; k < m->nflex; k++) {
    any |= k != i && ((m->flex_contype[i] & m->flex_conaffinity[k]) ||
                      (m->flex_contype[k] & m->flex_conaffinity[i]));
  }
  return any && flexTouches(imp, i);
}

bool djm_pluginPassive(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjpPlugin* plugin = mjp_getPluginAtSlot(imp->m->plugin[i]);
  if (!plugin) return true;
  bool ours = plugin->name && strncmp(plugin->name, "dijoco", 6) == 0;
  return (plugin->capabilityflags & mjPLUGIN_PASSIVE) && !ours;
}
