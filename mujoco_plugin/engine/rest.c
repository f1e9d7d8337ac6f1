#include "engine/rest.h"

#include "import.h"

#include <math.h>

// Dampers of actuators on tendon t add to its own.
static void addActuatorDamping(mjtNum* linear, mjtNum poly[mjNPOLY], const mjModel* m, int t) {
  if (m->tendon_actuatorid[t] == -1) return;
  for (int i = 0; i < m->nactuator; i++) {
    int out = m->actuator_outadr[i];
    if (m->actuator_trntype[i] != mjTRN_TENDON || m->actuator_trnid[2 * i] != t) continue;
    mjtNum scale = m->actuator_gear[6 * out] * m->actuator_gear[6 * out];
    *linear += scale * m->actuator_damping[i];
    mju_addToScl(poly, m->actuator_dampingpoly + mjNPOLY * i, scale, mjNPOLY);
  }
}

// -(a + b x + c x^2) x beyond the dead band, and -(a + b |v| + c v^2) v.
static mjtNum tendonForce(const mjModel* m, const mjData* d, int t) {
  mjtNum force = 0;
  if (!djm_disabled(m, mjDSBL_SPRING)) {
    const mjtNum* band = m->tendon_lengthspring + 2 * t;
    const mjtNum* poly = m->tendon_stiffnesspoly + mjNPOLY * t;
    mjtNum x = mju_max(d->ten_length[t] - band[1], 0) + mju_min(d->ten_length[t] - band[0], 0);
    force -= x * (m->tendon_stiffness[t] + x * (poly[0] + x * poly[1]));
  }
  if (!djm_disabled(m, mjDSBL_DAMPER)) {
    mjtNum linear = m->tendon_damping[t], poly[mjNPOLY], v = d->ten_velocity[t];
    mju_copy(poly, m->tendon_dampingpoly + mjNPOLY * t, mjNPOLY);
    addActuatorDamping(&linear, poly, m, t);
    force -= v * (linear + fabs(v) * (poly[0] + fabs(v) * poly[1]));
  }
  return force;
}

static void addTendons(mjtNum* rest, const mjModel* m, const mjData* d) {
  for (int t = 0; t < m->ntendon; t++) {
    if (!djm_tendonWraps(m, t)) continue;
    mjtNum force = tendonForce(m, d, t);
    for (int k = m->ten_J_rowadr[t]; k < m->ten_J_rowadr[t] + m->ten_J_rownnz[t]; k++) {
      rest[m->ten_J_colind[k]] += force * d->ten_J[k];
    }
  }
}

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
  addTendons(rest, m, d);
  addActuators(rest, m, d);
}
