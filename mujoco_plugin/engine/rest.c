#include "engine/rest.h"

#include "import.h"

static bool isLeftOut(const mjModel* m, int actuator) {
  return djm_actuatorLive(m, actuator) && !djm_actuatorSupported(m, actuator);
}

static void addActuators(mjtNum* rest, const mjModel* m, mjData* d) {
  bool any = false;
  for (int i = 0; i < m->nactuator; i++) any = any || isLeftOut(m, i);
  if (!any) return;
  mj_fwdActuation(m, d);
  for (int i = 0; i < m->nactuator; i++) {
    if (!isLeftOut(m, i)) continue;
    for (int out = m->actuator_outadr[i]; out < m->actuator_outadr[i] + m->actuator_outnum[i];
         out++) {
      for (int k = d->moment_rowadr[out]; k < d->moment_rowadr[out] + d->moment_rownnz[out]; k++) {
        rest[d->moment_colind[k]] += d->actuator_force[out] * d->actuator_moment[k];
      }
    }
  }
}

void djm_restForce(mjtNum* rest, const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nv; i++) {
    mjtNum native = d->qfrc_spring[i] + d->qfrc_damper[i] + d->qfrc_fluid[i];
    if (!m->jnt_actgravcomp[m->dof_jntid[i]]) native += d->qfrc_gravcomp[i];
    rest[i] = d->qfrc_passive[i] - native;
  }
  addActuators(rest, m, d);
}
