// Rows about actuators.

#include "import_checks.h"
#include "type_table.h"

#include <stdio.h>

// names: of types from `first` on.
static bool noteType(djmNote note, int type, int first, int n, const char* const* names) {
  const char* name = type >= first && type - first < n ? names[type - first] : "unknown";
  snprintf(note, sizeof(djmNote), "%s: it makes no force", name);
  return true;
}
#define COUNT(array) (int)(sizeof(array) / sizeof(*(array)))

// Armature and damping act even where the actuator makes no force.
static bool passive(const mjModel* m, int i) {
  return m->actuator_armature[i] != 0 || m->actuator_damping[i] != 0 ||
         !mju_isZero(m->actuator_dampingpoly + mjNPOLY * i, mjNPOLY);
}

bool djm_actTransmission(const djmImport* imp, int i, djmNote note) {
  static const char* const names[] = {"body (adhesion)", "so3"};
  if (!djm_actuatorLive(imp->m, i) && !passive(imp->m, i)) return false;
  if (imp->m->actuator_trntype[i] < mjTRN_BODY) return false;
  const int* body = imp->model->actuator_body;
  if (djm_transmissionSupported(imp->m, i) && body[imp->m->actuator_ctrladr[i]] >= 0) return false;
  return noteType(note, imp->m->actuator_trntype[i], mjTRN_BODY, COUNT(names), names);
}

bool djm_actAdhesion(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return djm_actuatorLive(imp->m, i) && djm_actuatorSupported(imp->m, i) &&
         imp->m->actuator_trntype[i] == mjTRN_BODY && imp->m->njnt > 0 &&
         imp->model->actuator_body[imp->m->actuator_ctrladr[i]] >= 0;
}

// A law of MuJoCo's that we have not.
static bool noteLaw(djmNote note, const djmImport* imp, int i, djmTypeKind kind, int type,
                    int first, int n, const char* const* names) {
  if (djm_isServo(imp->m, i)) return false;   // told as one of its gain
  return djm_actuatorLive(imp->m, i) && djm_ourType(kind, type) < 0 &&
         noteType(note, type, first, n, names);
}

bool djm_actDyntype(const djmImport* imp, int i, djmNote note) {
  static const char* const names[] = {"dcmotor", "pid", "user"};
  return noteLaw(note, imp, i, DJM_TYPE_DYN, imp->m->actuator_dyntype[i], mjDYN_DCMOTOR,
                 COUNT(names), names);
}

bool djm_actGaintype(const djmImport* imp, int i, djmNote note) {
  if (djm_isMuscle(imp->m, i) && djm_actuatorLive(imp->m, i) && !djm_muscleSound(imp->m, i)) {
    snprintf(note, sizeof(djmNote), "a muscle on what turns freely, or without a range of lengths "
             "or with numbers that make no law: it makes no force");
    return true;
  }
  if (djm_isServo(imp->m, i)) {
    bool motor = imp->m->actuator_gaintype[i] == mjGAIN_DCMOTOR;
    snprintf(note, sizeof(djmNote), "%s: it makes no force",
             motor ? "a dcmotor without inputs, or with an integral, states, cogging or a limit of "
                     "its voltage on what bends or turns freely"
                   : "a pid with actearly or actrange, an integral of what bends or turns freely, "
                     "or states without a position");
    return djm_actuatorLive(imp->m, i) && !djm_servoSound(imp->m, i);
  }
  static const char* const names[] = {"dcmotor", "so3", "pid", "user"};
  return noteLaw(note, imp, i, DJM_TYPE_GAIN, imp->m->actuator_gaintype[i], mjGAIN_DCMOTOR,
                 COUNT(names), names);
}

bool djm_actBiastype(const djmImport* imp, int i, djmNote note) {
  static const char* const names[] = {"dcmotor", "so3", "user"};
  return noteLaw(note, imp, i, DJM_TYPE_BIAS, imp->m->actuator_biastype[i], mjBIAS_DCMOTOR,
                 COUNT(names), names);
}

bool djm_actPlugin(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return djm_actuatorLive(imp->m, i) && imp->m->actuator_plugin[i] >= 0;
}

bool djm_actDelay(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return djm_actuatorLive(imp->m, i) && imp->m->actuator_delay[i] != 0;
}

bool djm_actInputs(const djmImport* imp, int i, djmNote note) {
  (void)note;
  int n = imp->m->actuator_ctrlnum[i];
  if (djm_isServo(imp->m, i)) return n == 0 && passive(imp->m, i);
  return (djm_actuatorLive(imp->m, i) && n != 1) || (n == 0 && passive(imp->m, i));
}

static bool acts(const mjModel* m, int i) {
  return djm_actuatorLive(m, i) && djm_actuatorSupported(m, i);
}

static bool onJointOf(const mjModel* m, int i, int type) {
  int trn = m->actuator_trntype[i];
  return (trn == mjTRN_JOINT || trn == mjTRN_JOINTINPARENT) &&
         m->jnt_type[m->actuator_trnid[2 * i]] == type;
}

// A servo on the rotation between two sites.
bool djm_actSiteServo(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return acts(m, i) && m->actuator_trntype[i] == mjTRN_SITE && m->actuator_trnid[2 * i + 1] >= 0 &&
         !mju_isZero(m->actuator_gear + 6 * m->actuator_outadr[i] + 3, 3) &&
         m->actuator_biastype[i] == mjBIAS_AFFINE && m->actuator_biasprm[mjNBIAS * i + 1] != 0;
}

bool djm_actCtrlrange(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  if (!acts(m, i) || djm_disabled(m, mjDSBL_CLAMPCTRL)) return false;
  for (int k = 0; k < m->actuator_ctrlnum[i]; k++) {
    if (m->actuator_ctrllimited[m->actuator_ctrladr[i] + k]) return true;
  }
  return false;
}

bool djm_actForcerange(const djmImport* imp, int i, djmNote note) {
  (void)note;
  return acts(imp->m, i) && imp->m->actuator_forcelimited[i];
}

bool djm_actActrange(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return acts(m, i) && m->actuator_dyntype[i] != mjDYN_NONE && m->actuator_actlimited[i];
}

bool djm_actBallServo(const djmImport* imp, int i, djmNote note) {
  (void)note;
  const mjModel* m = imp->m;
  return acts(m, i) && onJointOf(m, i, mjJNT_BALL) &&
         m->actuator_biastype[i] == mjBIAS_AFFINE && m->actuator_biasprm[mjNBIAS * i + 1] != 0;
}
