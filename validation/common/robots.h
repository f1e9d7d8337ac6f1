// Gymnasium's robots and other MuJoCo models in validation programs. Needs MuJoCo.

#ifndef DJ_VALIDATION_ROBOTS_H_
#define DJ_VALIDATION_ROBOTS_H_

#ifdef DJ_HAVE_MUJOCO

#include "common/report.h"
#include "common/scene.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

// Folder of gymnasium's MJCF models, or NULL: $DIJOCO_GYMNASIUM, else build/deps/gymnasium.
const char* robot_folder(void);
// The same of dm_control's: $DIJOCO_DM_CONTROL, else build/deps/dm_control.
const char* robot_controlFolder(void);

// Load FOLDER/NAME.xml (gymnasium's, or of a folder), or compile MJCF text. On failure the program
// ends with a message.
mjModel* robot_load(const char* name);
mjModel* robot_loadFrom(const char* folder, const char* name);
mjModel* robot_compile(const char* text);

double robot_clock(void);      // seconds of a clock that never jumps
double robot_median(double* x, int n);   // sorts x

// Our model and data of a MuJoCo model. On failure NULL, with the reason in err.
djModel* robot_import(const mjModel* m, djError* err);
djData* robot_makeData(const djModel* model);

// Give every geom a friction of its own: the larger of two equal ones has no derivative.
void robot_partFrictions(djModel* model);

// Random controls in ctrlrange (or [-1, 1]), to be held for some steps.
void robot_randomCtrl(double* ctrl, const mjModel* m, djvRandom* random, double part);

// One line of the report, named by a format.
void robot_below(djvReport* r, double value, double limit, const char* unit, const char* what, ...)
    __attribute__((format(printf, 5, 6)));
void robot_near(djvReport* r, double value, double target, double tolerance, const char* what, ...)
    __attribute__((format(printf, 5, 6)));
void robot_count(djvReport* r, long value, long limit, const char* what, ...)
    __attribute__((format(printf, 4, 5)));
void robot_countOf(djvReport* r, long value, long limit, long of, const char* what, ...)
    __attribute__((format(printf, 5, 6)));

// Copy qpos, qvel, act, ctrl.
void robot_copyState(djData* data, const mjModel* m, const mjData* d);

#endif  // DJ_HAVE_MUJOCO

#endif  // DJ_VALIDATION_ROBOTS_H_
