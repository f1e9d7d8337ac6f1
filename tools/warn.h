// What of a scene is not as in MuJoCo, told on stderr once a scene: to a terminal when the run has
// begun, else at its end, so that what ends by bad input says that alone, in one line.

#ifndef DJ_TOOLS_WARN_H_
#define DJ_TOOLS_WARN_H_

#include "scene.h"

// Keep the scene's lines to be shown, unless --quiet, or the scene was here before.
void warn_scene(const Scene* scene, const Options* o);
// The run has begun.
void warn_begun(void);
// Show what is kept.
void warn_show(void);

#endif  // DJ_TOOLS_WARN_H_
