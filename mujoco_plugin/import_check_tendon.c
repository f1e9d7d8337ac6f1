// Rows about tendons.

#include "import_checks.h"

#include <math.h>
#include <stdio.h>

static bool hasSpring(const mjModel* m, int i) {
  return djm_tendonMoves(m, i) && !djm_disabled(m, mjDSBL_SPRING) &&
         (m->tendon_stiffness[i] != 0 ||
          !mju_isZero(m->tendon_stiffnesspoly + mjNPOLY * i, mjNPOLY));
}

bool djm_tenSpringlength(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjtNum* rest = imp->m->tendon_lengthspring + 2 * i;
  return hasSpring(imp->m, i) && rest[0] < rest[1];
}

bool djm_tenSpringyield(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return hasSpring(m, i) && m->tendon_plasticadr[i] >= 0 &&
         m->tendon_springyield[i] > 0;
}

bool djm_tenFrictionloss(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  if (!djm_tendonMoves(m, i) || djm_disabled(m, mjDSBL_FRICTIONLOSS) ||
      !(m->tendon_frictionloss[i] > 0)) {
    return false;
  }
  if (djm_hasRows(imp)) return false;
  double creep = imp->model->opt.frictionloss_eps;
  snprintf(note, sizeof(djmNote),
           "smoothed: a load of half the friction creeps at %.2g m/s (MuJoCo creeps too)",
           creep * 0.5 / sqrt(0.75));
  return true;
}

bool djm_tenRange(const djmImport* imp, int i, djmNote note) {
  const mjModel* m = imp->m;
  if (!djm_tendonMoves(m, i) || !m->tendon_limited[i] || djm_disabled(m, mjDSBL_LIMIT)) {
    return false;
  }
  if (djm_hasRows(imp)) return false;
  double stiffness, damping;
  djm_limitLaw(&stiffness, &damping, m, m->tendon_solref_lim + mjNREF * i,
               m->tendon_solimp_lim + mjNIMP * i);
  snprintf(note, sizeof(djmNote),
           "the limit is soft, as deep as MuJoCo's under a steady load (%.2g m at 100 m/s^2), less "
           "deep under an impact; a one-sided spring and damper, %.3g /s^2 and %.3g /s times the "
           "tendon's effective inertia at qpos0, as deep as MuJoCo's beyond solimp's width",
           stiffness > 0 ? 100 / stiffness : INFINITY, stiffness, damping);
  return true;
}

bool djm_tenActfrcrange(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  if (!djm_tendonMoves(m, i) || !m->tendon_actfrclimited[i]) return false;
  for (int k = 0; k < m->nactuator; k++) {
    if (m->actuator_trntype[k] != mjTRN_TENDON || m->actuator_trnid[2 * k] != i) continue;
    if (djm_actuatorLive(m, k) && djm_actuatorSupported(m, k)) return true;
  }
  return false;
}

bool djm_tenFork(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return djm_tendonMoves(imp->m, i) && djm_tendonForks(imp->m, i);
}

bool djm_tenWrap(const djmImport* imp, int i, djmNote note) {
  double onset = imp->model->opt.wrap_onset;
  if (!djm_tendonMoves(imp->m, i) || !djm_tendonWraps(imp->m, i) || onset == 0) return false;
  snprintf(note, sizeof(djmNote),
           "its path sets in smoothly where it begins to touch a geom, over a depth of %.2g radii "
           "(wrap_onset)", onset);
  return true;
}
