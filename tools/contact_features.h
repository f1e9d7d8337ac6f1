// Which formulas MuJoCo's contacts of a scene are differentiated by.

#ifndef DJ_TOOLS_CONTACT_FEATURES_H_
#define DJ_TOOLS_CONTACT_FEATURES_H_

#include "scene.h"

// Of the start, or of a keyframe (key, or -1); nothing for our own models.
void features_print(const Scene* s, int key);
void features_write(Json* out, const Scene* s, int key);   // "mujoco_contacts"

#endif  // DJ_TOOLS_CONTACT_FEATURES_H_
