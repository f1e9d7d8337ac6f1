#include "type_table.h"

#include <mujoco/mujoco.h>

#include <stddef.h>
#include <stdio.h>

static const struct {
  djmTypeKind kind;
  int ours, mujoco;
} types[] = {
    {DJM_TYPE_JOINT, DJ_FREE, mjJNT_FREE},
    {DJM_TYPE_JOINT, DJ_BALL, mjJNT_BALL},
    {DJM_TYPE_JOINT, DJ_SLIDE, mjJNT_SLIDE},
    {DJM_TYPE_JOINT, DJ_HINGE, mjJNT_HINGE},
    {DJM_TYPE_GAIN, DJ_GAIN_FIXED, mjGAIN_FIXED},
    {DJM_TYPE_GAIN, DJ_GAIN_AFFINE, mjGAIN_AFFINE},
    {DJM_TYPE_GAIN, DJ_GAIN_MUSCLE, mjGAIN_MUSCLE},
    {DJM_TYPE_GAIN, DJ_GAIN_DCMOTOR, mjGAIN_DCMOTOR},
    {DJM_TYPE_BIAS, DJ_BIAS_NONE, mjBIAS_NONE},
    {DJM_TYPE_BIAS, DJ_BIAS_AFFINE, mjBIAS_AFFINE},
    {DJM_TYPE_BIAS, DJ_BIAS_MUSCLE, mjBIAS_MUSCLE},
    {DJM_TYPE_BIAS, DJ_BIAS_DCMOTOR, mjBIAS_DCMOTOR},
    {DJM_TYPE_DYN, DJ_DYN_NONE, mjDYN_NONE},
    {DJM_TYPE_DYN, DJ_DYN_INTEGRATOR, mjDYN_INTEGRATOR},
    {DJM_TYPE_DYN, DJ_DYN_FILTER, mjDYN_FILTER},
    {DJM_TYPE_DYN, DJ_DYN_FILTEREXACT, mjDYN_FILTEREXACT},
    {DJM_TYPE_DYN, DJ_DYN_MUSCLE, mjDYN_MUSCLE},
};
enum { NTYPE = sizeof types / sizeof *types };

int djm_mujocoType(djmTypeKind kind, int ours) {
  for (int i = 0; i < NTYPE; i++) {
    if (types[i].kind == kind && types[i].ours == ours) return types[i].mujoco;
  }
  return -1;
}

int djm_ourType(djmTypeKind kind, int mujoco) {
  for (int i = 0; i < NTYPE; i++) {
    if (types[i].kind == kind && types[i].mujoco == mujoco) return types[i].ours;
  }
  return -1;
}

int djm_jointNq(int mujoco) { return mujoco == mjJNT_FREE ? 7 : mujoco == mjJNT_BALL ? 4 : 1; }
int djm_jointNv(int mujoco) { return mujoco == mjJNT_FREE ? 6 : mujoco == mjJNT_BALL ? 3 : 1; }

static djStatus checkType(djmTypeKind kind, int ours, const char* type, const char* what,
                          const char* name, int id, djError* err) {
  char element[100];
  if (djm_mujocoType(kind, ours) >= 0) return DJ_OK;
  if (name && name[0]) snprintf(element, sizeof element, "'%.70s'", name);
  else snprintf(element, sizeof element, "#%d", id);
  snprintf(err->text, sizeof err->text, "%s %s: MuJoCo has no %s '%s'",
           kind == DJM_TYPE_JOINT ? "joint" : "actuator", element, what, type);
  return DJ_UNSUPPORTED;
}

djStatus djm_checkTypes(const djModelDef* def, djError* err) {
  djStatus s = DJ_OK;
  for (int i = 0; i < def->njnt && s == DJ_OK; i++) {
    const djJointDef* j = &def->joint[i];
    const char* type = dj_jointTypeName(j->type);
    s = checkType(DJM_TYPE_JOINT, (int)j->type, type, "joint", j->name, i, err);
  }
  for (int i = 0; i < def->nu && s == DJ_OK; i++) {
    const djActuatorDef* a = &def->actuator[i];
    s = checkType(DJM_TYPE_GAIN, (int)a->gain, dj_gainName(a->gain), "gain", a->name, i, err);
    if (s < 0) return s;
    s = checkType(DJM_TYPE_BIAS, (int)a->bias, dj_biasName(a->bias), "bias", a->name, i, err);
    if (s < 0) return s;
    if (a->gain != DJ_GAIN_DCMOTOR) {   // of a dcmotor slew is MuJoCo's, too
      s = checkType(DJM_TYPE_DYN, (int)a->dyn, dj_dynName(a->dyn), "dyn", a->name, i, err);
    }
    if (s == DJ_OK && (a->adds_to >= 0 || a->integral != 0)) {
      snprintf(err->text, sizeof err->text, "actuator #%d: MuJoCo has no such %s but in its pid "
               "and dcmotor, of which dcmotors with one input are written", i, a->integral != 0 ? "integral" : "adds_to");
      s = DJ_UNSUPPORTED;
    }
  }
  return s;
}
