// Forces and activations of actuators with derivatives by what they see: lengths, velocities,
// controls, activations.

#ifndef DJ_MUJOCO_LAW_SLOPE_H_
#define DJ_MUJOCO_LAW_SLOPE_H_

#include "dual.h"
#include "smooth_slope.h"

// Places of the variables.
enum { DJM_LENGTH = 0, DJM_SPEED = 1, DJM_CTRL = 2, DJM_ACT = 6, DJM_MAXCTRL = 4, DJM_MAXACT = 6 };

// One output of an actuator with one length.
typedef struct djmLaw {
  djmDual l, v, u[DJM_MAXCTRL], act[DJM_MAXACT];
  djmDual rate[DJM_MAXACT]; // act_dot, while the actuator is enabled
  djmDual next[DJM_MAXACT]; // activations after the step
  djmDual force;            // before forcerange
  djmDual extra;            // added behind it: cogging and friction of a motor
} djmLaw;

// Actuators with three outputs (so3) have djm_orientationLaw().
djStatus djm_checkLaw(const mjModel* m, int actuator, djError* err);
void djm_law(djmLaw* law, const mjModel* m, const mjData* d, int actuator);

// A control within its range, and whether it acts (0: beyond it).
double djm_control(double* by, const mjModel* m, const mjData* d, int u);

// Forces of an orientation's servo: by its three lengths and velocities, by controls and
// activations.
typedef struct djmOrientation {
  double force[3], by_length[9], by_speed[9], by_ctrl[3 * DJM_MAXCTRL], by_act[9];
} djmOrientation;

void djm_orientationLaw(djmOrientation* law, const mjModel* m, const mjData* d, int actuator);

// Activations 0 to 2 of an orientation after the step, brought back to angles below pi: 3 x 3 by
// what they were before that.
void djm_anchorSlope(double* by, const double* act);

#endif // DJ_MUJOCO_LAW_SLOPE_H_
