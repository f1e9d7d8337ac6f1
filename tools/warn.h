// What of a scene is not as in MuJoCo, told on stderr once a scene, when its run has begun: what is
// refused before ends with one line alone.

#ifndef DJ_TOOLS_WARN_H_
#define DJ_TOOLS_WARN_H_

#include "scene.h"

// Keep the scene's lines to be shown, unless --quiet, or the scene was here before.
void warn_scene(const Scene* scene, const Options* o);
// Show what is kept.
void warn_show(void);

#endif  // DJ_TOOLS_WARN_H_
