// Derivatives of what sensors show of joints' and tendons' actuators.
//
// Where the length l is linear in qpos, l = l0 + J q, the sensors show l, l' = J v and the force
//   p = clip(gain(l, l') s + bias(l, l')),
// s the clamped control, the activation, or (actearly) the activation at the end of the step.

#include "sensor.h"

#include <math.h>

static bool isFixed(const mjModel* m, int tendon) {
  return m->wrap_type[m->tendon_adr[tendon]] == mjWRAP_JOINT;
}

bool djm_simpleLength(const mjModel* m, int i) {
  int type = m->actuator_trntype[i], id = m->actuator_trnid[2 * i];
  if (m->actuator_outnum[i] != 1) return false;
  if (type == mjTRN_TENDON) return isFixed(m, id);
  if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT) return false;
  return m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE;
}

// Length or velocity of actuator i; adds f times its derivative to row (NULL: not).
static double lengthOf(mjtNum* row, double f, const mjModel* m, const mjData* d, int i,
                       bool velocity) {
  double gear = m->actuator_gear[6 * m->actuator_outadr[i]], sum = 0;
  int id = m->actuator_trnid[2 * i], first = velocity ? (int)m->nv : 0;
  bool tendon = m->actuator_trntype[i] == mjTRN_TENDON;
  int adr = tendon ? m->tendon_adr[id] : 0, n = tendon ? m->tendon_num[id] : 1;
  for (int k = 0; k < n; k++) {
    int joint = tendon ? m->wrap_objid[adr + k] : id, dof = m->jnt_dofadr[joint];
    double part = gear * (tendon ? m->wrap_prm[adr + k] : 1);
    if (row) row[first + dof] += f * part;
    sum += part * (velocity ? d->qvel[dof] : d->qpos[m->jnt_qposadr[joint]]);
  }
  return sum;
}

// The signal that acts, and its derivatives by activation and control.
typedef struct Signal {
  double s, by_act, by_ctrl;
} Signal;

static bool clip(double* x, const mjtNum range[2]) {
  double inside = mju_clip(*x, range[0], range[1]);
  bool clipped = inside != *x;
  *x = inside;
  return clipped;
}

static Signal signal(const mjModel* m, const mjData* d, int i) {
  int ctrl = m->actuator_ctrladr[i], act = m->actuator_actadr[i];
  double u = d->ctrl[ctrl], du = 1, h = m->opt.timestep;
  if (m->actuator_ctrllimited[ctrl] && !djm_disabled(m, mjDSBL_CLAMPCTRL) &&
      clip(&u, m->actuator_ctrlrange + 2 * ctrl)) {
    du = 0;
  }
  if (act < 0) return (Signal){u, 0, du};
  double w = d->act[act], tau = mju_max(mjMINVAL, m->actuator_dynprm[mjNDYN * i]);
  if (!m->actuator_actearly[i]) return (Signal){w, 1, 0};
  Signal next;
  if (m->actuator_dyntype[i] == mjDYN_INTEGRATOR) {
    next = (Signal){w + h * u, 1, h * du};
  } else {
    double part = m->actuator_dyntype[i] == mjDYN_FILTER ? h / tau : 1 - exp(-h / tau);
    next = (Signal){w + part * (u - w), 1 - part, part * du};
  }
  if (m->actuator_actlimited[i] && clip(&next.s, m->actuator_actrange + 2 * i)) {
    next.by_act = next.by_ctrl = 0;
  }
  return next;
}

static void forceRow(djmRows* rows, const mjModel* m, const mjData* d, int i) {
  if (!djm_actuatorLive(m, i)) return;
  const mjtNum *g = m->actuator_gainprm + mjNGAIN * i, *b = m->actuator_biasprm + mjNBIAS * i;
  bool affine = m->actuator_gaintype[i] == mjGAIN_AFFINE;
  bool biased = m->actuator_biastype[i] == mjBIAS_AFFINE;
  Signal s = signal(m, d, i);
  double by[2] = {0, 0}, gain = g[0], bias = biased ? b[0] : 0;
  for (int k = 0; k < 2; k++) {
    double length = lengthOf(NULL, 0, m, d, i, k == 1);
    if (affine) gain += g[1 + k] * length;
    if (biased) bias += b[1 + k] * length;
    by[k] = (affine ? g[1 + k] * s.s : 0) + (biased ? b[1 + k] : 0);
  }
  double p = gain * s.s + bias;
  bool clipped = m->actuator_forcelimited[i] && clip(&p, m->actuator_forcerange + 2 * i);
  rows->value[0] = p;
  if (clipped) return;
  for (int k = 0; k < 2; k++) lengthOf(rows->x, by[k], m, d, i, k == 1);
  if (m->actuator_actadr[i] >= 0) {
    rows->x[2 * m->nv + m->actuator_actadr[i]] = gain * s.by_act;
  }
  rows->u[m->actuator_ctrladr[i]] = gain * s.by_ctrl;
}

void djm_actuatorRows(djmRows* rows, const mjModel* m, const mjData* d, int i) {
  int id = m->sensor_objid[i], type = m->sensor_type[i];
  bool velocity = type == mjSENS_ACTUATORVEL;
  if (type == mjSENS_ACTUATORFRC) {
    forceRow(rows, m, d, id);
  } else if (!velocity || !djm_disabled(m, mjDSBL_ACTUATION)) {
    rows->value[0] = lengthOf(rows->x, 1, m, d, id, velocity);
  }
}
