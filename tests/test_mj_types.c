// Types of joints and actuators' laws beside MuJoCo's: there and back, and refused by name where
// MuJoCo has none.

#include "common/mjcf.h"
#include "common/test.h"
#include "type_table.h"

// ---- there and back ---------------------------------------------------------------------------

static const char* nameOf(djmTypeKind kind, int type) {
  switch (kind) {
    case DJM_TYPE_JOINT: return dj_jointTypeName((djJointType)type);
    case DJM_TYPE_GAIN: return dj_gainName((djGain)type);
    case DJM_TYPE_BIAS: return dj_biasName((djBias)type);
    default: return dj_dynName((djDyn)type);
  }
}

// Types of ours have names, which differ; those of MuJoCo's come back.
static void testTypes(void) {
  const struct {
    djmTypeKind kind;
    int n;                // of ours
    int lacking;          // one of MuJoCo's that we have not
    int last;             // our last one
    const char* name;
  } list[] = {{DJM_TYPE_JOINT, 4, mjJNT_HINGE + 1, DJ_HINGE, "hinge"},
              {DJM_TYPE_GAIN, 4, mjGAIN_SO3, DJ_GAIN_DCMOTOR, "dcmotor"},
              {DJM_TYPE_BIAS, 4, mjBIAS_SO3, DJ_BIAS_DCMOTOR, "dcmotor"},
              {DJM_TYPE_DYN, 6, mjDYN_DCMOTOR, DJ_DYN_SLEW, "slew"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    djmTypeKind kind = list[i].kind;
    int n = 0;
    for (; nameOf(kind, n)[0]; n++) {
      int mujoco = djm_mujocoType(kind, n);
      bool own = kind == DJM_TYPE_DYN && n == DJ_DYN_SLEW;   // of which MuJoCo has a pid's alone
      assert_true(own || mujoco >= 0);
      if (!own) assert_int_equal(djm_ourType(kind, mujoco), n);
      for (int k = 0; k < n; k++) assert_string_not_equal(nameOf(kind, k), nameOf(kind, n));
    }
    assert_int_equal(n, list[i].n);
    assert_string_equal(nameOf(kind, list[i].last), list[i].name);
    assert_string_equal(nameOf(kind, -1), "");
    assert_int_equal(djm_mujocoType(kind, n), -1);
    assert_int_equal(djm_mujocoType(kind, -1), -1);
    assert_int_equal(djm_ourType(kind, list[i].lacking), -1);
  }
  assert_int_equal(djm_mujocoType(DJM_TYPE_DYN, DJ_DYN_FILTER), mjDYN_FILTER);
  assert_int_equal(djm_mujocoType(DJM_TYPE_JOINT, DJ_SLIDE), mjJNT_SLIDE);
}

// MuJoCo's own numbers of coordinates and dofs.
static void testJointSizes(void) {
  mjModel* m = djt_compile("<mujoco><worldbody>"
                           "<body><freejoint/><geom size='.1'/></body>"
                           "<body><joint type='ball'/><geom size='.1'/></body>"
                           "<body><joint type='slide'/><joint/><geom size='.1'/></body>"
                           "</worldbody></mujoco>");
  int nq = 0, nv = 0;
  for (int j = 0; j < m->njnt; j++) {
    assert_int_equal(m->jnt_qposadr[j], nq);
    assert_int_equal(m->jnt_dofadr[j], nv);
    nq += djm_jointNq(m->jnt_type[j]);
    nv += djm_jointNv(m->jnt_type[j]);
  }
  assert_int_equal(m->nq, nq);
  assert_int_equal(m->nv, nv);
  mj_deleteModel(m);
}

// ---- refused ----------------------------------------------------------------------------------

static void testRefused(void) {
  djJointDef joint[2] = {dj_defaultJointDef(), dj_defaultJointDef()};
  djActuatorDef actuator[2] = {dj_defaultActuatorDef(), dj_defaultActuatorDef()};
  djModelDef def = dj_defaultModelDef();
  djError err;
  def.njnt = def.nu = 2;
  def.joint = joint;
  def.actuator = actuator;
  actuator[1].name = "motor";
  assert_int_equal(djm_checkTypes(&def, &err), DJ_OK);
#define REFUSED(field, enumerator, value, says)                   \
  {                                                               \
    enumerator kept = field;                                      \
    field = (enumerator)(value);                                  \
    assert_int_equal(djm_checkTypes(&def, &err), DJ_UNSUPPORTED); \
    assert_string_equal(err.text, says);                          \
    field = kept;                                                 \
  }
  REFUSED(joint[1].type, djJointType, 9, "joint #1: MuJoCo has no joint ''")
  REFUSED(actuator[1].gain, djGain, 9, "actuator 'motor': MuJoCo has no gain ''")
  REFUSED(actuator[1].bias, djBias, -1, "actuator 'motor': MuJoCo has no bias ''")
  REFUSED(actuator[0].dyn, djDyn, 9, "actuator #0: MuJoCo has no dyn ''")
#undef REFUSED
  assert_int_equal(djm_checkTypes(&def, &err), DJ_OK);
}

// Writing MJCF asks first: a law that is none ends it.
static void testWriting(void) {
  mjModel* stock = djt_compile("<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body>"
                               "</worldbody><actuator><motor name='m' joint='j'/></actuator>"
                               "</mujoco>");
  djModel* m = djt_import(NULL, stock);
  djError err;
  char* text;
  assert_int_equal(djm_makeMJCF(&text, "scene.json", m, NULL, &err), DJ_OK);
  assert_non_null(strstr(text, "<actuator>"));
  free(text);
  m->actuator_bias[0] = 7;
  djt_refused(DJ_UNSUPPORTED, djm_makeMJCF(&text, "scene.json", m, NULL, &err), err,
              "actuator 'm': MuJoCo has no bias ''");
  assert_null(text);
  dj_deleteModel(m);
  mj_deleteModel(stock);
}

DJT_MAIN(testTypes, testJointSizes, testRefused, testWriting)
