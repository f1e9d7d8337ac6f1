// One small model with an element of every kind, and bitwise comparison of models.

#ifndef DJ_TESTS_SAMPLE_MODEL_H_
#define DJ_TESTS_SAMPLE_MODEL_H_

#include <dijoco/dijoco.h>

// A definition that a test may change before it makes the model. Bodies: world, cart, pole, box,
// target, ball. Do not copy the struct: def points into it.
typedef struct djSample {
  djModelDef def;
  djBodyDef body[6];
  djJointDef joint[4];
  djGeomDef geom[5];
  djSurfaceDef surface[4];
  djMeshDef mesh[2];
  djSiteDef site[2];
  djTendonDef tendon[2];
  djWrapDef wrap[2][5];
  djActuatorDef actuator[3];
  djPairDef pair[1];
  djExcludeDef exclude[1];
  djEqualityDef equality[2];   // neither acts
  djKeyDef key[2];
  double vert[2][8][3];
  double qpos[13], qvel[11], act[2], ctrl[3];
} djSample;

void djt_fillSample(djSample* sample);

// Name of the first array or field of two models that differs in any bit, or NULL.
const char* djt_difference(const djModel* a, const djModel* b);

#endif  // DJ_TESTS_SAMPLE_MODEL_H_
