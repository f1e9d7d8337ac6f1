#include <dijoco/model.h>

#define DJ_TEXT(x) #x
#define DJ_VERSION_TEXT(a, b, c) DJ_TEXT(a) "." DJ_TEXT(b) "." DJ_TEXT(c)

const char* dj_version(void) {
  return DJ_VERSION_TEXT(DJ_VERSION_MAJOR, DJ_VERSION_MINOR, DJ_VERSION_PATCH);
}

djBodyDef dj_defaultBodyDef(void) {
  return (djBodyDef){.quat = {1, 0, 0, 0}, .iquat = {1, 0, 0, 0}};
}

djJointDef dj_defaultJointDef(void) {
  // MuJoCo's default solref (0.02, 1) and solimp: k = 1/(dmax s0 s1)^2, b = 2/(dmax s0).
  const double dmax = 0.95, timeconst = 0.02;
  return (djJointDef){
      .type = DJ_HINGE,
      .axis = {0, 0, 1},
      .limit_stiffness = 1 / (dmax * dmax * timeconst * timeconst),
      .limit_damping = 2 / (dmax * timeconst),
      .limit_impedance = {0.9, dmax, 0.001, 0.5, 2},
      .frictionloss_damping = 2 / (dmax * timeconst),
      .frictionloss_impedance = 0.9,
  };
}

djGeomDef dj_defaultGeomDef(void) {
  return (djGeomDef){
      .type = DJ_SPHERE,
      .quat = {1, 0, 0, 0},
      .mesh = -1,
      .hfield = -1,
      .flex = -1,
      .contype = 1,
      .conaffinity = 1,
      .condim = 3,
      .friction = {1, 0.005, 0.0001},
      .point_count = -1,
      .field = -1,
      .contact_scale = 1,
  };
}

djTendonDef dj_defaultTendonDef(void) {
  djJointDef joint = dj_defaultJointDef();
  return (djTendonDef){
      .springlength = {-1, -1},
      .limit_stiffness = joint.limit_stiffness,
      .limit_damping = joint.limit_damping,
      .limit_impedance = {0.9, 0.95, 0.001, 0.5, 2},
      .frictionloss_damping = joint.frictionloss_damping,
      .frictionloss_impedance = joint.frictionloss_impedance,
  };
}

djActuatorDef dj_defaultActuatorDef(void) {
  return (djActuatorDef){
      .joint = -1,
      .tendon = -1,
      .site = -1,
      .refsite = -1,
      .cranksite = -1,
      .body = -1,
      .adds_to = -1,
      .slidersite = -1,
      .gear = {1, 0, 0, 0, 0, 0},
      .gainprm = {1, 0, 0},
      .tau = 1,
  };
}

djEqualityDef dj_defaultEqualityDef(void) {
  const double dmax = 0.95, timeconst = 0.02;   // of MuJoCo, as above
  return (djEqualityDef){
      .type = DJ_EQ_CONNECT,
      .active = true,
      .joint1 = -1,
      .joint2 = -1,
      .tendon1 = -1,
      .tendon2 = -1,
      .body1 = -1,
      .body2 = -1,
      .site1 = -1,
      .site2 = -1,
      .polycoef = {0, 1, 0, 0, 0},
      .quat = {1, 0, 0, 0},
      .torquescale = 1,
      .stiffness = 1 / ((1 - dmax) * timeconst * timeconst),   // k dmax^2/(1 - dmax)
      .damping = 2 / ((1 - dmax) * timeconst),
      .impedance = {0.9, dmax, 0.001, 0.5, 2},
  };
}

djFlexDef dj_defaultFlexDef(void) { return (djFlexDef){.dim = 2, .radius = 0.005}; }

djModelDef dj_defaultModelDef(void) { return (djModelDef){.option = dj_defaultOption()}; }
