// How a contact of MuJoCo's follows the poses of its two geoms.

#ifndef DJ_MUJOCO_CONTACT_SLOPE_H_
#define DJ_MUJOCO_CONTACT_SLOPE_H_

#include <dijoco/types.h>

#include <mujoco/mujoco.h>

typedef enum djmFeature {
  DJM_FEATURE_DIFFERENCES = 0   // of the pair alone
} djmFeature;

// Derivatives by the twists of the bodies of contact->geom[0] and geom[1], (angular, linear) each,
// world axes; linear: the velocity of the body's point that is at contact->pos.
typedef struct djmContactSlope {
  djmFeature feature;
  mjtNum dist[12];
  mjtNum pos[3][12];
  mjtNum turn[3][12];    // angular velocity of contact->frame, world axes
} djmContactSlope;

// d: past mj_fwdPosition at the state of the contact; its poses are moved and put back. Contacts
// and constraints of d are lost: con lies elsewhere.
djStatus djm_contactSlope(djmContactSlope* slope, const mjModel* m, mjData* d,
                          const mjContact* con, djError* err);

#endif  // DJ_MUJOCO_CONTACT_SLOPE_H_
