// Derivatives of sensors, for djm_transition.

#ifndef DJ_MUJOCO_SENSOR_H_
#define DJ_MUJOCO_SENSOR_H_

#include "chain.h"

enum { DJM_MAXDIM = 10 };  // of a sensor with a derivative by formula

// One sensor: its values without cutoff, and their derivatives by the state (columns as those of
// djm_transition) and by the controls. Memory is the caller's.
typedef struct djmRows {
  int dim;
  mjtNum value[DJM_MAXDIM];
  mjtNum* x;              // (dim x nx)
  mjtNum* u;              // (dim x nu)
  int nx, nu;
} djmRows;

// Scratch of derivatives of two frames (see sensor_frame.c).
typedef struct djmFrame {
  mjtNum pos[3], mat[9], quat[4];
  mjtNum *jacp, *jacr;    // (3 x nv) of pos and of rotation, world axes
  mjtNum lin[3], ang[3];  // velocity
  mjtNum *dlin, *dang;    // (3 x nv) of the velocity by the configuration
} djmFrame;

typedef struct djmSensorWork {
  djmFrame object, ref;
  mjtNum* jac;            // (3 x nv)
} djmSensorWork;

size_t djm_sensorWorkSize(const mjModel* m);                    // numbers
void djm_initSensorWork(djmSensorWork* w, mjtNum* memory, const mjModel* m);

// Rows of sensor i, of a type that djm_sensorIsAnalytic knows, but touch and accelerations. pose:
// kinematics at d's state. rows: zero on entry.
void djm_sensorRows(djmRows* rows, djmSensorWork* w, const mjModel* m, const mjData* d,
                    mjData* pose, int i);

// Its parts: frames and subtrees; actuators.
void djm_frameRows(djmRows* rows, djmSensorWork* w, const mjModel* m, mjData* pose, int i);
void djm_actuatorRows(djmRows* rows, const mjModel* m, const mjData* d, int i);

// Rows of a sensor of the plugin dijoco.gap (engine/gap_plugin.c); rows->x has room for all ten.
void djm_gapRows(djmRows* rows, djmSensorWork* w, const mjModel* m, const mjData* d,
                 const mjData* pose, int i);

// Whether an actuator's length is linear in qpos: of a hinge, a slide, a fixed tendon.
bool djm_simpleLength(const mjModel* m, int actuator);

// Whether sensordata shows the sensor as it was before.
bool djm_isDelayed(const mjModel* m, int sensor);

// A view of m whose sensors show what is present.
mjModel djm_promptModel(const mjModel* m, const djmContext* c);
// From what is present, which goes to `present` (nsensordata), to what sensors with delays and
// intervals show.
void djm_readHistories(mjtNum* present, const mjModel* m, mjData* d);
// Keep what is present, as a step does.
void djm_advanceHistories(const mjtNum* present, const mjModel* m, mjData* d);

// A value beyond the sensor's cutoff: it does not change.
bool djm_isCut(const mjModel* m, int sensor, mjtNum value);

// Accelerometers, accelerations of frames, forces and torques between bodies: their rows after
// djm_takeChain from d's state. m: plain; the context's pose is overwritten.
bool djm_isAcceleration(const mjModel* m, int sensor);
djStatus djm_accelerationRows(mjtNum* C, mjtNum* D, const djmChain* w, const mjModel* m,
                              const mjData* d);

// Rows of all other sensors, by centred differences; C or D may be NULL.
djStatus djm_sensorDifferences(mjtNum* C, mjtNum* D, djmContext* c, const mjModel* m,
                               const mjData* d);

#endif  // DJ_MUJOCO_SENSOR_H_
