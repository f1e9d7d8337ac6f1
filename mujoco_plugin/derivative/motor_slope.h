// Laws of motors, and what they share with pid.

#ifndef DJ_MUJOCO_MOTOR_SLOPE_H_
#define DJ_MUJOCO_MOTOR_SLOPE_H_

#include "law_slope.h"

// Inputs by their places: position, velocity, torque, voltage; those that are not declared are 0.
void djm_unpackInputs(djmDual* in, const djmDual* u, int spec);

// A set point that follows u by at most `most` a step from where it was; rate: its change in time.
djmDual djm_slew(djmDual* rate, djmDual u, djmDual was, double most, double h, double period);

// What is integrated of an error: nothing that leads beyond `most` (0: no bound).
djmDual djm_windup(djmDual gap, double z, double most);

void djm_motorRates(djmLaw* w, const mjModel* m, int actuator);
djmDual djm_motorNext(const djmLaw* w, const mjModel* m, int actuator, int slot, djmDual rate);
djmDual djm_motorForce(const djmLaw* w, const mjModel* m, int actuator, const djmDual* state);
djmDual djm_motorExtra(const djmLaw* w, const mjModel* m, int actuator);

#endif // DJ_MUJOCO_MOTOR_SLOPE_H_
