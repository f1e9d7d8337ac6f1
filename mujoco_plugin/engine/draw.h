// Contact as decorative geoms in MuJoCo's scenes.

#ifndef DJ_MUJOCO_ENGINE_DRAW_H_
#define DJ_MUJOCO_ENGINE_DRAW_H_

#include <dijoco/mujoco.h>

// Add the near pairs of data's last step to the scene. model, data: made from m, whose geoms they
// share; those that follow are vertices of flexes.
//   mjVIS_CONTACTPOINT  a plate in the separating plane, where the smaller geom projects on it; the
//                       point, as a disc; the gap between contact shapes, as a line along the
//                       normal
//   mjVIS_CONTACTFORCE  the force as an arrow to the body of the higher id, with two heads between
//                       two bodies; with mjVIS_CONTACTSPLIT its normal and tangential parts
//   opt->label          of the discs names and gap, of the arrows the magnitude
// Sizes are scaled as MuJoCo scales its own (vis.scale, vis.map.force, stat); pairs in recovery are
// red. What finds no room in the scene is left out, with MuJoCo's warning. Allocates nothing.
void djm_drawContacts(mjvScene* scn, const mjModel* m, const djModel* model, const mjvOption* opt,
                      const djData* data);

#endif  // DJ_MUJOCO_ENGINE_DRAW_H_
