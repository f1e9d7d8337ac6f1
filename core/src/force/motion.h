// The motion that a force sees: a point of the step, and where the step started.

#ifndef DJ_FORCE_MOTION_H_
#define DJ_FORCE_MOTION_H_

#include "model/coordinate.h"

// A configuration, to be read.
typedef struct djPoint {
  const double* q;             // (nq)
  const djKin* kin;
  const djCoordinates* coord;
} djPoint;

static inline djPoint dj_pointOf(const djPlace* p) { return (djPoint){p->q, &p->kin, &p->coord}; }

// Which forces are asked for: those that are smooth; contact; limits and friction loss; these two.
typedef enum djActing {
  DJ_ACTS_SMOOTH = 1, DJ_ACTS_BOUNDED = 2, DJ_ACTS_ROWS = 4, DJ_ACTS_LIMITED = 6, DJ_ACTS_ALL = 7
} djActing;

// Velocities are displacements over h, that of a stage (integrate/work.h): an integrator chooses
// from where they are measured, and h.
typedef struct djMotion {
  const djModel* model;
  const djData* start;         // state and inputs there
  const djVec3* ref;           // (nbody) reference points of twists
  djPoint at0;                 // the start
  djPoint rate;                // where displacements begin: often the start
  djPoint at;                  // the point
  const djKin* lag;            // lagged quantities belong there where they can; NULL: to the start
  double h;
  double act_time;             // s; over which activations go on: the step's h, or to the point
  double convexity;            // share of a convex substitute that derivatives are to have
  const double* qvel;          // (nv) of rates along coordinates that bend, with which `rate` then
                               //   moves (integrate/path_rate.h); NULL: of displacements
  bool prompt;                 // all that can be is of the point and its velocity, to second order:
                               //   activations by their exact laws, limits' damping, gears, drag,
                               //   torques; forces along rotations are those along displacements
  const double* drift;         // (nv) of a prompt motion: the displacement of rotations is psi -
                               //   drift, psi that from the start, which is their rate times h;
                               //   NULL: it is that from `rate`
  djActing acting;             // SMOOTH: at is the start, activations are MuJoCo's
  const djKin *from, *from_rate;   // at0 and rate as contact sees them, where mocap bodies move
                               //   (integrate/mocap.h); else those
  const double* mocap_rate;    // (nmocap x 6) velocities of mocap bodies: angular, linear of the
                               //   origin; NULL: 0
  djPoint past;                // a step before the start, by its velocity; kin NULL: unknown
  double rest;                 // s; from the point to where the step ends, at its velocity: of
                               //   stages within a step
} djMotion;

#endif  // DJ_FORCE_MOTION_H_
