// The table of checks: one row for each feature that is not carried exactly.

#ifndef DJ_MUJOCO_IMPORT_CHECKS_H_
#define DJ_MUJOCO_IMPORT_CHECKS_H_

#include "import.h"

// Kinds of elements that rows are about.
typedef enum djmKind {
  DJM_OPTION, DJM_JOINT, DJM_GEOM, DJM_PAIR, DJM_EQUALITY, DJM_TENDON, DJM_ACTUATOR, DJM_FLEX,
  DJM_PLUGIN, DJM_SENSOR, DJM_BODY, DJM_NKIND
} djmKind;

typedef char djmNote[500];

typedef struct djmCheck {
  djmKind kind;
  const char* feature;        // MuJoCo's attribute
  djFeatureState state;
  // Whether element i has the feature, with an effect on the motion; may write a note. What a note
  // says before its first ';' is enough for one line.
  bool (*applies)(const djmImport* imp, int i, djmNote note);
  const char* note;           // used where `applies` writes none
} djmCheck;

const djmCheck* djm_checks(int* n);

// How large a row's error is at an element that has the feature, to find the worst of all. NULL: it
// is the same at each, or not known.
typedef double djmSize(const djmImport* imp, int i);
djmSize* djm_sizeOf(const djmCheck* check);

// The contact model of a geom's pairs, with the settings in force (djContactModel).
int djm_kernelOf(const djmImport* imp, int geom);

// Whether an explicit pair touches and moves anything.
bool djm_pairLive(const djmImport* imp, int i);

// Elements of a kind: their name in the report, number, and addresses of names (NULL: none).
int djm_elements(const char** kind, const int** name, const mjModel* m, djmKind which);

// Predicates of rows, by topic.
#define DJM_CHECK(name) bool name(const djmImport* imp, int i, djmNote note)

// import_check_option.c
DJM_CHECK(djm_optIntegrator);
DJM_CHECK(djm_optEulerDamp);
DJM_CHECK(djm_optCone);
DJM_CHECK(djm_optImpratio);
DJM_CHECK(djm_optNoslip);
DJM_CHECK(djm_optSleep);
DJM_CHECK(djm_optSpeculative);
DJM_CHECK(djm_optFriction);       // import_check_geom.c
DJM_CHECK(djm_optContactOff);     // import_check_contact.c
DJM_CHECK(djm_flex);
DJM_CHECK(djm_flexElasticity);
DJM_CHECK(djm_flexContact);
DJM_CHECK(djm_flexSelf);
DJM_CHECK(djm_pluginPassive);

// import_check_joint.c
DJM_CHECK(djm_jntRange);
DJM_CHECK(djm_jntFrictionloss);
DJM_CHECK(djm_jntFrictionlossDofs);
DJM_CHECK(djm_jntDampingDofs);
DJM_CHECK(djm_jntArmatureDofs);
DJM_CHECK(djm_jntActfrcrange);
DJM_CHECK(djm_jntActgravcomp);
DJM_CHECK(djm_jntSpringyield);
DJM_CHECK(djm_eqConnect);
DJM_CHECK(djm_eqWeld);
DJM_CHECK(djm_eqJoint);
DJM_CHECK(djm_eqTendon);
DJM_CHECK(djm_eqTied);
DJM_CHECK(djm_eqFlex);

// import_check_tendon.c
DJM_CHECK(djm_tenWrap);
DJM_CHECK(djm_tenFork);
DJM_CHECK(djm_tenSpringlength);
DJM_CHECK(djm_tenSpringyield);
DJM_CHECK(djm_tenFrictionloss);
DJM_CHECK(djm_tenRange);
DJM_CHECK(djm_tenActfrcrange);

// import_check_geom.c
DJM_CHECK(djm_geomType);
DJM_CHECK(djm_geomCurve);
DJM_CHECK(djm_geomHfield);
DJM_CHECK(djm_geomSurfacevel);
DJM_CHECK(djm_geomAdhesion);
DJM_CHECK(djm_geomFluid);
DJM_CHECK(djm_pairAdhesion);
DJM_CHECK(djm_geomCondim);
DJM_CHECK(djm_pairCondim);
DJM_CHECK(djm_pairFriction);
DJM_CHECK(djm_pairSolreffriction);

// import_check_contact.c
#define DJM_SIZE(name) double name(const djmImport* imp, int i)
DJM_CHECK(djm_geomSoftness);
DJM_SIZE(djm_geomDepth);
DJM_CHECK(djm_pairSoftness);
DJM_SIZE(djm_pairDepth);
DJM_CHECK(djm_geomRebound);
DJM_SIZE(djm_geomReboundSize);
DJM_CHECK(djm_pairRebound);
DJM_CHECK(djm_geomHull);
DJM_SIZE(djm_geomDent);
DJM_CHECK(djm_geomSurface);
DJM_SIZE(djm_geomSurfaceSize);
DJM_CHECK(djm_sensorForce);

// import_check_actuator.c
DJM_CHECK(djm_actTransmission);
DJM_CHECK(djm_actAdhesion);
DJM_CHECK(djm_actDyntype);
DJM_CHECK(djm_actGaintype);
DJM_CHECK(djm_actBiastype);
DJM_CHECK(djm_actPlugin);
DJM_CHECK(djm_actDelay);
DJM_CHECK(djm_actInputs);
DJM_CHECK(djm_actCtrlrange);
DJM_CHECK(djm_actForcerange);
DJM_CHECK(djm_actActrange);
DJM_CHECK(djm_actBallServo);
DJM_CHECK(djm_actSiteServo);

#endif  // DJ_MUJOCO_IMPORT_CHECKS_H_
