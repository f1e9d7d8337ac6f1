// Actuators and keyframes.
//
// The import keeps one actuator per control, so that ctrl has MuJoCo's layout. An actuator that
// cannot be carried becomes one without gain and bias (several, if it has several controls); it
// keeps its armature and damping where it acts on a joint or a tendon.

#include "import.h"
#include "param_table.h"
#include "type_table.h"

#include <string.h>

static const double kNever = 1e30;   // s, time constant of an activation that stays as it is

static bool onJoint(const mjModel* m, int i) {
  int type = m->actuator_trntype[i];
  return type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
}

bool djm_actuatorLive(const mjModel* m, int i) {
  int group = m->actuator_group[i];
  if (djm_disabled(m, mjDSBL_ACTUATION)) return false;
  return group < 0 || group > 30 || !(m->opt.disableactuator & (1 << group));
}

// On a body, with a force that is of its input alone, as there is no length.
static bool plainAdhesion(const mjModel* m, int i) {
  const mjtNum *gain = m->actuator_gainprm + mjNGAIN * i, *bias = m->actuator_biasprm + mjNBIAS * i;
  return m->actuator_trntype[i] == mjTRN_BODY &&
         (m->actuator_gaintype[i] == mjGAIN_FIXED || gain[2] == 0) &&
         (m->actuator_biastype[i] == mjBIAS_NONE || bias[2] == 0);
}

// Transmissions that are carried.
bool djm_transmissionSupported(const mjModel* m, int i) {
  int type = m->actuator_trntype[i];
  return onJoint(m, i) || type == mjTRN_TENDON || type == mjTRN_SITE ||
         type == mjTRN_SLIDERCRANK || plainAdhesion(m, i);
}

bool djm_isMuscle(const mjModel* m, int i) {
  return m->actuator_gaintype[i] == mjGAIN_MUSCLE || m->actuator_biastype[i] == mjBIAS_MUSCLE ||
         m->actuator_dyntype[i] == mjDYN_MUSCLE;
}

static bool isLaw(const mjtNum* prm) {
  return prm[1] > prm[0] && prm[4] < 1 && prm[5] > 1 && prm[6] > 0 && prm[8] >= 1;
}

// They are along coordinates, and their numbers make a law.
bool djm_muscleSound(const mjModel* m, int i) {
  const mjtNum* range = m->actuator_lengthrange + 2 * m->actuator_outadr[i];
  bool gain = m->actuator_gaintype[i] == mjGAIN_MUSCLE;
  bool bias = m->actuator_biastype[i] == mjBIAS_MUSCLE;
  if (gain && !isLaw(m->actuator_gainprm + mjNGAIN * i)) return false;
  if (bias && !isLaw(m->actuator_biasprm + mjNBIAS * i)) return false;
  if ((gain || bias) && !(range[1] > range[0])) return false;
  if (!onJoint(m, i)) return m->actuator_trntype[i] != mjTRN_SITE;
  int type = m->jnt_type[m->actuator_trnid[2 * i]];
  return type == mjJNT_HINGE || type == mjJNT_SLIDE;
}

// ---- servos -----------------------------------------------------------------------------------

bool djm_isServo(const mjModel* m, int i) {
  return m->actuator_gaintype[i] == mjGAIN_PID || m->actuator_gaintype[i] == mjGAIN_DCMOTOR;
}

// What a pid or dcmotor does with its inputs: gains of each of them in the order of controls, of
// length, velocity, integral; bounds.
typedef struct Servo {
  double input[4];
  int ninput;
  double constant, by_length, by_rate, integral, most, slew;
} Servo;

static Servo servoOf(const mjModel* m, int i) {
  const mjtNum* gain = m->actuator_gainprm + mjNGAIN * i;
  const mjtNum* bias = m->actuator_biasprm + mjNBIAS * i;
  const mjtNum* dyn = m->actuator_dynprm + mjNDYN * i;
  const bool pid = m->actuator_gaintype[i] == mjGAIN_PID;
  const int spec = m->actuator_ctrlspec[i];
  const int bits[4] = {mjINPUT_POS, mjINPUT_VEL, mjINPUT_FF, mjINPUT_VOLTAGE};
  const double strength = pid ? 0 : gain[1] / mju_max(mjMINVAL, gain[0]);   // K/R
  double kp = pid ? -bias[1] : gain[4], kv = pid ? -bias[2] : gain[6];
  Servo s = {.constant = pid ? bias[0] : 0, .integral = pid ? gain[0] : gain[5],
             .most = pid ? dyn[0] : dyn[8], .slew = pid ? dyn[1] : dyn[7]};
  if (!pid && !(spec & (mjINPUT_POS | mjINPUT_VEL | mjINPUT_FF))) {   // back-EMF, without control
    kp = s.integral = s.slew = 0;
    kv = strength * gain[1];
  }
  const double by[4] = {kp, kv, 1, strength};
  for (int k = 0; k < 4; k++) {
    if (spec & bits[k]) s.input[s.ninput++] = by[k];
  }
  s.by_length = -kp;
  s.by_rate = -kv;
  s.integral = mju_max(0, s.integral);
  s.slew = mju_max(0, s.slew);
  return s;
}

// Length that is linear in qpos.
static bool plainLength(const mjModel* m, int i) {
  int id = m->actuator_trnid[2 * i];
  if (m->actuator_trntype[i] == mjTRN_TENDON) {
    return m->wrap_type[m->tendon_adr[id]] == mjWRAP_JOINT;
  }
  return onJoint(m, i) && (m->jnt_type[id] == mjJNT_HINGE || m->jnt_type[id] == mjJNT_SLIDE);
}

// Temperature, bristles, current.
static bool hasMotorStates(const mjModel* m, int i) {
  const mjtNum* dyn = m->actuator_dynprm + mjNDYN * i;
  return dyn[0] > 0 || dyn[2] > 0 || dyn[5] > 0;
}

static bool motorSound(const mjModel* m, int i) {
  const mjtNum *gain = m->actuator_gainprm + mjNGAIN * i, *dyn = m->actuator_dynprm + mjNDYN * i;
  int type = m->actuator_trntype[i];
  bool along = type == mjTRN_TENDON || type == mjTRN_SLIDERCRANK || plainLength(m, i);
  if (!along || !(gain[0] > 0) || !(gain[1] > 0) || (dyn[2] > 0 && !(dyn[3] > 0))) return false;
  return !hasMotorStates(m, i) || plainLength(m, i);
}

bool djm_servoSound(const mjModel* m, int i) {
  const bool motor = m->actuator_gaintype[i] == mjGAIN_DCMOTOR;
  Servo s = servoOf(m, i);
  if (m->actuator_trntype[i] == mjTRN_BODY || s.ninput < 1) return false;
  if (s.ninput != m->actuator_ctrlnum[i] || m->actuator_actlimited[i]) return false;
  if (s.integral > 0 && (!plainLength(m, i) || (!motor && m->actuator_actearly[i]))) return false;
  if ((s.integral > 0 || s.slew > 0) && !(m->actuator_ctrlspec[i] & mjINPUT_POS)) return false;
  return !djm_isMotor(m, i) || motorSound(m, i);
}

// Of which input control number k is.
static djMotorInput inputOf(const mjModel* m, int i, int k) {
  static const struct {
    int bit;
    djMotorInput input;
  } list[] = {{mjINPUT_POS, DJ_INPUT_POSITION},
              {mjINPUT_VEL, DJ_INPUT_VELOCITY},
              {mjINPUT_FF, DJ_INPUT_TORQUE},
              {mjINPUT_VOLTAGE, DJ_INPUT_VOLTAGE}};
  int at = 0;
  for (; at < 3; at++) {
    if ((m->actuator_ctrlspec[i] & list[at].bit) && k-- == 0) break;
  }
  return list[at].input;
}

// Control number k of one that djm_isMotor().
static void importMotor(djActuatorDef* a, const mjModel* m, int i, int k) {
  const mjtNum* dyn = m->actuator_dynprm + mjNDYN * i;
  a->input = inputOf(m, i, k);
  if (k > 0) {
    a->joint = -1;
    a->adds_to = m->actuator_ctrladr[i];
    a->gainprm[0] = 1;
    return;
  }
  a->gain = DJ_GAIN_DCMOTOR;
  a->bias = DJ_BIAS_DCMOTOR;
  mju_copy(a->gainprm, m->actuator_gainprm + mjNGAIN * i, djm_lawNumbers(m, i, false));
  mju_copy(a->biasprm, m->actuator_biasprm + mjNBIAS * i, djm_lawNumbers(m, i, true));
  mju_copy(a->motorprm, dyn, DJ_NMOTORPRM);
  a->integral_limit = a->gainprm[5] > 0 ? mju_max(0, dyn[8]) : 0;
  a->integral_clipped = true;
  if (dyn[7] > 0) {
    a->dyn = DJ_DYN_SLEW;
    a->tau = 1 / dyn[7];
  }
  a->actearly = m->actuator_actearly[i];
  a->forcelimited = m->actuator_forcelimited[i];
  mju_copy(a->forcerange, m->actuator_forcerange + 2 * i, 2);
}

// Control number k.
static void importServo(djActuatorDef* a, const mjModel* m, int i, int k) {
  Servo s = servoOf(m, i);
  a->gainprm[0] = s.input[k];
  if (k > 0) {
    a->joint = -1;
    a->adds_to = m->actuator_ctrladr[i];
    return;
  }
  a->bias = DJ_BIAS_AFFINE;
  a->biasprm[0] = s.constant;
  a->biasprm[1] = s.by_length;
  a->biasprm[2] = s.by_rate;
  a->integral = s.integral;
  a->integral_limit = s.integral > 0 ? mju_max(0, s.most) : 0;
  a->integral_clipped = m->actuator_gaintype[i] == mjGAIN_DCMOTOR;
  if (s.slew > 0) {
    a->dyn = DJ_DYN_SLEW;
    a->tau = 1 / s.slew;
  }
  a->forcelimited = m->actuator_forcelimited[i];
  mju_copy(a->forcerange, m->actuator_forcerange + 2 * i, 2);
}

bool djm_actuatorSupported(const mjModel* m, int i) {
  if (djm_isServo(m, i)) {
    return djm_transmissionSupported(m, i) && djm_servoSound(m, i) && m->actuator_plugin[i] < 0 &&
           m->actuator_delay[i] == 0;
  }
  return djm_transmissionSupported(m, i) && (!djm_isMuscle(m, i) || djm_muscleSound(m, i)) &&
         djm_ourType(DJM_TYPE_DYN, m->actuator_dyntype[i]) >= 0 &&
         djm_ourType(DJM_TYPE_GAIN, m->actuator_gaintype[i]) >= 0 &&
         djm_ourType(DJM_TYPE_BIAS, m->actuator_biastype[i]) >= 0 && m->actuator_plugin[i] < 0 &&
         m->actuator_ctrlnum[i] == 1 && m->actuator_delay[i] == 0;
}

int djm_keptActivations(const mjModel* m, int i) {
  int n = m->actuator_actnum[i], max = m->njnt > 0 ? m->actuator_ctrlnum[i] : 0;
  bool servo = djm_isServo(m, i) && djm_actuatorLive(m, i) && djm_actuatorSupported(m, i);
  if (servo && m->njnt > 0) return n;
  return n < max ? n : max;
}

void djm_silence(djActuatorDef* a) {
  a->tendon = a->site = a->refsite = a->cranksite = a->slidersite = a->body = -1;
  a->joint = 0;
  memset(a->gear, 0, sizeof(a->gear));
  memset(a->gainprm, 0, sizeof(a->gainprm));
  memset(a->biasprm, 0, sizeof(a->biasprm));
  a->gain = DJ_GAIN_FIXED;
  a->bias = DJ_BIAS_NONE;
}

// What it is on, gear, armature and damping. live: it makes force.
static void importTarget(djActuatorDef* a, const mjModel* m, int i, bool live) {
  const int* id = m->actuator_trnid + 2 * i;
  int type = m->actuator_trntype[i];
  bool passive = onJoint(m, i) || type == mjTRN_TENDON;
  if (!passive && !live) return;
  a->joint = onJoint(m, i) ? id[0] : -1;
  a->in_parent = type == mjTRN_JOINTINPARENT;
  if (type == mjTRN_TENDON) a->tendon = id[0];
  if (type == mjTRN_SITE) {
    a->site = id[0];
    a->refsite = id[1];
  }
  if (type == mjTRN_BODY) a->body = id[0];
  if (type == mjTRN_SLIDERCRANK) {
    a->cranksite = id[0];
    a->slidersite = id[1];
    a->cranklength = m->actuator_cranklength[i];
  }
  mju_copy(a->gear, m->actuator_gear + 6 * m->actuator_outadr[i], 6);
  if (!passive) return;
  a->armature = m->actuator_armature[i];
  a->damping = m->actuator_damping[i];
  mju_copy(a->dampingpoly, m->actuator_dampingpoly + mjNPOLY * i, mjNPOLY);
}

// Control number k of actuator i.
static void importActuator(djActuatorDef* a, const mjModel* m, int i, int k) {
  bool live = djm_actuatorLive(m, i), supported = djm_actuatorSupported(m, i);
  int ctrl = m->actuator_ctrladr[i] + k;
  *a = dj_defaultActuatorDef();
  a->name = k == 0 ? djm_name(m, m->name_actuatoradr[i]) : "";
  djm_silence(a);
  if (k == 0) importTarget(a, m, i, live && supported);
  const bool servo = djm_isServo(m, i) && supported && live;
  if (supported && live && !servo) {
    a->gain = (djGain)djm_ourType(DJM_TYPE_GAIN, m->actuator_gaintype[i]);
    a->bias = (djBias)djm_ourType(DJM_TYPE_BIAS, m->actuator_biastype[i]);
    mju_copy(a->gainprm, m->actuator_gainprm + mjNGAIN * i, djm_lawNumbers(m, i, false));
    if (a->bias != DJ_BIAS_NONE) {
      mju_copy(a->biasprm, m->actuator_biasprm + mjNBIAS * i, djm_lawNumbers(m, i, true));
    }
    mju_copy(a->lengthrange, m->actuator_lengthrange + 2 * m->actuator_outadr[i], 2);
    a->acc0 = m->actuator_acc0[m->actuator_outadr[i]];
    a->forcelimited = m->actuator_forcelimited[i];
    mju_copy(a->forcerange, m->actuator_forcerange + 2 * i, 2);
  }
  a->ctrllimited = m->actuator_ctrllimited[ctrl];
  mju_copy(a->ctrlrange, m->actuator_ctrlrange + 2 * ctrl, 2);

  a->dyn = DJ_DYN_NONE;
  if (servo) {
    if (djm_isMotor(m, i)) importMotor(a, m, i, k);
    else importServo(a, m, i, k);
    return;
  }
  if (k >= djm_keptActivations(m, i)) return;
  if (live && supported) {
    a->dyn = (djDyn)djm_ourType(DJM_TYPE_DYN, m->actuator_dyntype[i]);
    a->tau = mju_max(mjMINVAL, m->actuator_dynprm[mjNDYN * i]);
    if (a->dyn == DJ_DYN_MUSCLE) {
      a->tau_deactivation = mju_max(mjMINVAL, m->actuator_dynprm[mjNDYN * i + 1]);
      a->tau_smooth = mju_max(0, m->actuator_dynprm[mjNDYN * i + 2]);
    }
    a->actearly = m->actuator_actearly[i];
    a->actlimited = m->actuator_actlimited[i];
    mju_copy(a->actrange, m->actuator_actrange + 2 * i, 2);
  } else {
    a->dyn = DJ_DYN_FILTER;   // MuJoCo does not advance the activation of a disabled actuator
    a->tau = kNever;
  }
}

djStatus djm_importActuators(djmImport* imp) {
  const mjModel* m = imp->m;
  int nu = m->njnt > 0 ? (int)m->nu : 0;   // without joints nothing can be actuated
  djActuatorDef* actuator = djm_alloc(imp, nu, sizeof(*actuator));
  if (!actuator) return DJ_NO_MEMORY;
  for (int i = 0; i < m->nactuator && nu > 0; i++) {
    for (int k = 0; k < m->actuator_ctrlnum[i]; k++) {
      importActuator(actuator + m->actuator_ctrladr[i] + k, m, i, k);
    }
  }
  imp->def.nu = nu;
  imp->def.actuator = imp->actuator = actuator;
  return DJ_OK;
}

djStatus djm_importKeys(djmImport* imp) {
  const mjModel* m = imp->m;
  djKeyDef* key = djm_alloc(imp, m->nkey, sizeof(*key));
  double* kept = djm_alloc(imp, m->nkey * m->na, sizeof(*kept));
  if (!key || !kept) return DJ_NO_MEMORY;
  for (int i = 0; i < m->nkey; i++) {
    const mjtNum* act = m->key_act + i * m->na;
    key[i] = (djKeyDef){
        .name = djm_name(m, m->name_keyadr[i]),
        .time = m->key_time[i],
        .qpos = m->key_qpos + i * m->nq,
        .qvel = m->key_qvel + i * m->nv,
        .act = kept,
        .ctrl = m->key_ctrl + i * m->nu,
        .mocap_pos = m->key_mpos + i * m->nmocap * 3,
        .mocap_quat = m->key_mquat + i * m->nmocap * 4,
    };
    for (int j = 0; j < m->nactuator; j++) {
      for (int k = 0; k < djm_keptActivations(m, j); k++) {
        *kept++ = act[m->actuator_actadr[j] + k];
      }
    }
  }
  imp->def.nkey = (int)m->nkey;
  imp->def.key = key;
  return DJ_OK;
}
