// Smoothed gaps of geoms and bodies of a model: distance, normal and witness points that are
// smooth functions of the configuration (djc_gap in dijoco/contact.h), with their derivatives.
//
// Geoms are the true ones, whether or not they collide: without skin and margin. Of a body count
// the geoms that have contype or conaffinity, or all of them if none has.

#ifndef DIJOCO_GAP_H_
#define DIJOCO_GAP_H_

#include <dijoco/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Two geoms, or two bodies, of a model as it is now; to be evaluated for any data of that model.
// Not changed by evaluations: several threads may share it.
typedef struct djGapPair djGapPair;

// type: DJ_OBJ_GEOM or DJ_OBJ_BODY. smoothing: metres, as for djc_gap; below 0: the default.
DJ_API djStatus dj_makeGapPair(djGapPair** pair, const djModel* model, djObject type, int id1,
                               int id2, double smoothing, djError* err);
DJ_API void dj_deleteGapPair(djGapPair* pair);

// Gap, unit normal from 1 to 2 and witness points (world) at the data's qpos and mocap poses. jac
// (10 x nv, or NULL): derivatives of these ten numbers, in this order, by the tangent of qpos.
// Allocates nothing; the data's state and results stay as they are. Positive statuses as djc_gap's.
DJ_API djStatus dj_evalGapPair(double gap[1], double normal[3], double point1[3], double point2[3],
                               double* jac, const djGapPair* pair, const djModel* model,
                               djData* data);

// The three calls in one: makes the pair each time.
DJ_API djStatus dj_gap(double gap[1], double normal[3], double point1[3], double point2[3],
                       double* jac, const djModel* model, djData* data, djObject type, int id1,
                       int id2, double smoothing);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_GAP_H_
