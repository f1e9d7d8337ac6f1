// Physics from outside (dijoco/physics.h): a model's part of it follows the model.

#ifndef DJ_SCENE_PHYSICS_H_
#define DJ_SCENE_PHYSICS_H_

#include <dijoco/physics.h>

// By the options in force: where they choose it, it takes over options and parameters.
djStatus dj_choosePhysics(djModel* model, djError* err);

// A parameter has been written.
djStatus dj_tellPhysics(djModel* model, const djParam* param, djError* err);

#endif  // DJ_SCENE_PHYSICS_H_
