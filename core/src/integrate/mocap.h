// Bodies that are moved from outside: their way in a step.
//
// A mocap body goes from where the last step left it, T0 (djData.mocap_last_*), to where the caller
// wants it, T1 (djData.mocap_*), straight on and at constant rates. Contact sees that: it begins at
// T0 (djMotion.from) and displacements are those from there, so that what is pushed has to be out of
// the way at the end, and what is carried slips by the difference. Nothing else does: other places
// (`begin` among them) have it where the stage ends, so that what hangs on it by joints is carried
// with it without a force, and tendons that lead to it have no rate by it.

#ifndef DJ_INTEGRATE_MOCAP_H_
#define DJ_INTEGRATE_MOCAP_H_

#include "integrate/work.h"
#include "math/spatial.h"

// After state and inputs are in the view of the start: sets its mocap_last_*, which is the present
// pose where there is none or it is too far away, and work->carries.
void dj_beginMocap(djWork* work, const djModel* model);

// Mocap body b does not move after all.
void dj_stopMocap(djWork* work, const djModel* model, int b);

// Poses (3, 4) of mocap body k at a part of its way, exact at 0 and 1.
void dj_mocapPose(double* pos, double* quat, const djWork* work, int k, double part);

// Kinematics and coordinates of a place, mocap bodies at a part of their way.
void dj_setPlaceAt(djPlace* place, djWork* work, const djModel* model, double part);

// The method's stage ends stage_h after its rates begin: parts of the way, and `from`.
void dj_setMocapStage(djWork* work, const djModel* model, double stage_h);

// Velocity of the base of body b, about its reference point: of the mocap body that its tree hangs
// on, at poses kin; else 0.
djSix dj_mocapTwist(const djWork* work, const djModel* model, int b, const djKin* kin);

// How fast the base of body b goes, the farthest point of its shapes; 0 where it stands.
double dj_baseSpeed(const djWork* work, const djModel* model, int b);

// How mocap body b goes in data's next step. False: it has no last pose, or jumps: it stands.
typedef struct djMocapWay {
  djVec3 move, turn;       // displacement of the origin, and rotation vector; world axes
} djMocapWay;
bool dj_mocapWay(djMocapWay* way, const djModel* model, const djData* data, int b);

#endif  // DJ_INTEGRATE_MOCAP_H_
