// Smoothed gaps of geoms and bodies of an mjModel.

#ifndef MUJOCO_PLUGIN_GAP_H_
#define MUJOCO_PLUGIN_GAP_H_

#include <dijoco/contact.h>
#include <dijoco/mujoco.h>

// Two geoms (mjOBJ_GEOM), or two bodies (mjOBJ_BODY): their shapes, as the model had them.
typedef struct djmGap djmGap;

djStatus djm_makeGap(djmGap** gap, const mjModel* m, mjtObj type, int id1, int id2,
                     mjtNum smoothing, djError* err);
void djm_deleteGap(djmGap* gap);

// Whether the model still has these shapes (but for meshes).
bool djm_isGapCurrent(const djmGap* gap, const mjModel* m);

// At d's poses; twists are about the positions of geoms or bodies.
djStatus djm_evalGap(djcGap* out, const djmGap* gap, const mjData* d);

// Its ten numbers in the order of sensordata, and their derivatives by the tangent of qpos: jac (10
// rows of nv, `stride` from one to the next). scratch (6 x nv).
void djm_gapValues(mjtNum value[10], const djcGap* g);
void djm_gapJacobian(mjtNum* jac, int stride, mjtNum* scratch, const djcGap* g, const djmGap* gap,
                     const mjModel* m, const mjData* d);

#endif  // MUJOCO_PLUGIN_GAP_H_
