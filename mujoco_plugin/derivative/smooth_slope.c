// Derivatives of all smooth forces at a given acceleration: the sum of its parts (smooth_slope.h).

#include "law_slope.h"
#include "smooth_work.h"

#include <string.h>

djStatus djm_checkSmooth(const mjModel* m, djError* err) {
  if (m->nflex > 0) {
    return djm_refuse(err, "flex %s: forces of flexes are not differentiated",
                      djm_nameOf(m, mjOBJ_FLEX, 0));
  }
  if (mjcb_passive) {
    return djm_refuse(err, "forces of mjcb_passive are not differentiated");
  }
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (plugin && (plugin->capabilityflags & (mjPLUGIN_PASSIVE | mjPLUGIN_ACTUATOR))) {
      return djm_refuse(err, "plugin %s: forces of plugins are not differentiated",
                        djm_nameOf(m, mjOBJ_PLUGIN, i));
    }
  }
  for (int i = 0; i < m->nactuator; i++) {
    djStatus status = djm_checkLaw(m, i, err);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus djm_smoothSlope(double* by_q, double* by_v, double* by_act, double* by_ctrl,
                         const mjModel* m, const mjData* d, const double* a, djmSmoothWork* w,
                         djError* err) {
  size_t nv = (size_t)m->nv, number = sizeof(double);
  if ((m->opt.enableflags & mjENBL_SLEEP) && d->ntree_awake < m->ntree) {
    return djm_refuse(err, "sleeping trees are not differentiated");
  }
  if (by_q || by_v) {
    djm_inverseSlope(by_q ? by_q : w->square, by_v ? by_v : w->square, m, d, a, w);
  }
  if (by_act) memset(by_act, 0, nv * (size_t)m->na * number);
  if (by_ctrl) memset(by_ctrl, 0, nv * (size_t)m->nu * number);
  djStatus status = djm_actuatorSlope(by_q, by_v, by_act, by_ctrl, m, d, w, err);
  if (status == DJ_OK) status = djm_passiveSlope(by_q, by_v, m, d, w, err);
  if (status == DJ_OK) status = djm_tendonSlope(by_q, by_v, m, d, w, err);
  if (status == DJ_OK) status = djm_armatureSlope(by_q, by_v, m, d, a, w, err);
  return status;
}
