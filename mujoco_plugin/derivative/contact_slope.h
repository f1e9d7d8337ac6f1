// How a contact of mj_collision follows the poses of its two geoms: derivatives of contact->dist,
// pos and frame, on the branch on which MuJoCo's collision function is.

#ifndef MUJOCO_PLUGIN_DERIVATIVE_CONTACT_SLOPE_H_
#define MUJOCO_PLUGIN_DERIVATIVE_CONTACT_SLOPE_H_

#include <dijoco/mujoco.h>

#include <mujoco/mujoco.h>

#include <stdbool.h>

typedef struct djmContactSlope {
  djmFeature feature;
  mjtNum off;  // metres to where the contact passes to another feature, as far as they are looked at
  // By the twists of the bodies of geom[0] and geom[1], (angular, linear) each, world axes; linear:
  // the velocity of the body's material point that is at contact->pos.
  mjtNum dist[12];
  mjtNum pos[3][12];
  mjtNum turn[3][12];  // angular velocity of contact->frame, world axes
} djmContactSlope;

// slope: (n), of con (n), contacts at d's poses. Contacts of a pair that stand next to each other
// share their differences. d is used for these: poses of geoms are moved and put back, its stack is
// used. DJ_UNSUPPORTED: a flex.
djStatus djm_contactSlopes(djmContactSlope* slope, const mjModel* m, mjData* d,
                           const mjContact* con, int n);

// One of them.
djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con);

// Of a contact without a derivative: along a twist about its point of the body of geom[side], the
// other one held; rate: of dist, pos, turn. false: it does not follow that either, rate is kept.
bool djm_slopeAlong(mjtNum rate[7], const mjModel* m, mjData* d, const mjContact* con, int side,
                    const mjtNum twist[6]);

// By sizes of its geoms, poses fixed: dist, pos, turn of the frame, of each entry of each geom;
// zero where a contact does not follow small changes. sizes: (ngeom x 3) scratch.
void djm_contactSize(mjtNum size[2][3][7], const mjModel* m, mjData* d, const mjContact* con,
                     const djmContactSlope* slope, mjtNum* sizes);

#endif  // MUJOCO_PLUGIN_DERIVATIVE_CONTACT_SLOPE_H_
