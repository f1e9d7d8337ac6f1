// A context of djm_step, and what the functions on it share.

#ifndef DJ_MUJOCO_STEP_H_
#define DJ_MUJOCO_STEP_H_

#include "import.h"

#include <dijoco/gradient.h>
#include <dijoco/setting.h>

// What a change of the mjModel has replaced, and the report after it.
typedef struct djmChange {
  djModel* model;
  djData* data;
  djReport* report;
} djmChange;

struct djmContext {
  djModel* model;
  djData* data;
  djmStepOption option;
  int substeps;           // for which the model's timestep holds
  mjtSize nbuffer, nu, na, nsensor;   // of the mjModel; the first goes with all its sizes
  int* kept;              // (model->na) addresses in MuJoCo's act
  int* equality;          // (model->nequality) in its eq_active
  djError error;          // of the last call, where the data has none
  mjtNum* last;           // (nmocap x 7) poses of mocap bodies at the end of the last djm_step,
  mjtNum* way;            // (nmocap x 14) and those between which substeps go
  const mjData* last_data;   // on which that was, and the time at its end; NULL: there was none
  double last_time;
  djSettings given;       // when it was made
  // follow.c; all NULL of an engine's plugin, which makes its context anew
  struct djmSnapshot* snapshot;   // of the mjModel that the model was imported from
  djModel* base;          // the model as it was imported
  djmChange change;       // the last that was followed, until it is taken
  long changes;           // followed so far
  bool sensing;           // what option.sensors is unless it is set
  bool joints;            // an engine plugin's: limits, friction loss and equality constraints are
                          //   ours alone
  bool asked;             // DIJOCO_RECORD has been asked for (djm_askRecord)
  bool passing;           // djm_pass is under way: the engine plugin that owns the context waits
  // The rest is made for an engine plugin only when a call on its context needs it.
  // the last step: contact forces, means over its substeps
  double* wrench;         // (nbody x 6) on bodies: torque about the world's origin, force
  double* touch;          // (nsensor) of touch sensors, without cutoff
  double* limit;          // (njnt) of joints' limits
  // scratch
  double* force;          // (nbody x 6)
  double* part;           // (njnt + ntendon)
  mjtNum* none;           // (2 nsensor) zeros
  mjtNum* present;        // (nsensordata) what sensors show without delays and intervals
  mjData* pose;           // for kinematics; made without plugins
  int ncontact;           // room in:
  mjContact* contact;
  mjtNum* edge;           // (ncontact x 10) forces
  mjData* full;           // for djm_forward at other states, or NULL: not made yet
  djmTransitionWork* own_work;   // own_step.c; NULL: not made yet
};

// Sets c->error; returns status.
djStatus djm_fail(djmContext* c, djStatus status, const char* text);

// Run MuJoCo's functions. DJ_INVALID: they failed, c->error says why.
djStatus djm_catch(djmContext* c, void (*run)(void* arg), void* arg);

// The timestep of a model in `from` substeps becomes that in `to`.
djStatus djm_divideTimestep(djModel* model, int from, int to, djError* err);

// Before the first step: its record, where the environment names a file (DIJOCO_RECORD,
// dijoco/record.h) and none has been begun.
djStatus djm_askRecord(djmContext* c);

// Begin a call: whether the context fits model and data; changes of the model are followed, and the
// context's settings put into force.
djStatus djm_begin(djmContext* c, const mjModel* m, const mjData* d);

// The step from d's state and inputs, into c->data, c->wrench and c->touch. d is not changed.
djStatus djm_solve(djmContext* c, const mjModel* m, const mjData* d);

// Of a step of djm_step, over all substeps.
static inline double djm_timestep(const djmContext* c) {
  return c->model->opt.timestep * c->substeps;
}

// d->qacc: the change of d's velocity to that of c->data, over the timestep.
void djm_setAcceleration(mjData* d, const djmContext* c);

// Poses of mocap bodies (mocap.c): memory for the last ones; those that are known of d, or others
// (nmocap x 7, NULL: none), into c->data; d's, at the end of a step. Then from them, after
// djm_readData, to the end of each substep.
bool djm_makeLast(djmContext* c);
void djm_readLast(djmContext* c, const mjData* d);
void djm_setLast(djmContext* c, const mjtNum* last);
void djm_keepLast(djmContext* c, const mjData* d);
void djm_beginWay(djmContext* c);
void djm_goWay(djmContext* c, int substep);

// State and inputs of d, into c->data.
void djm_readData(djmContext* c, const mjData* d);

// Add what the substep that c->data has just taken exerts to wrench, touch and limit, times f.
void djm_addForces(djmContext* c, const mjModel* m, double f);

void djm_clearForces(djmContext* c, const mjModel* m);

// Whether a touch sensor's site at this pose counts a contact of two bodies (-1: of a vertex of a
// flex, which does not count as its body's): its point, its normal from the first to the second.
bool djm_siteFeels(const mjModel* m, int site, const mjtNum pos[3], const mjtNum mat[9],
                   const int body[2], const mjtNum point[3], const mjtNum normal[3]);

// Whether touch sensor `sensor` counts a pair of the substep just taken.
bool djm_touches(const djmContext* c, const mjModel* m, int sensor, const djContactPair* pair);

// From c->wrench and poses: generalized contact force (nv) and cfrc_ext (nbody x 6); subtree_com
// (nbody x 3), xipos (nbody x 3), cdof (nv x 6) and xfrc_applied (nbody x 6) as in mjData.
void djm_projectForces(mjtNum* qfrc, mjtNum* cfrc_ext, djmContext* c, const mjModel* m,
                       const mjData* pose, const mjtNum* xfrc_applied);

// out (nbody x 6, as xfrc_applied) = xfrc_applied + wrenches (nbody x 6, as above).
void djm_addWrench(mjtNum* out, const mjtNum* xfrc_applied, const double* wrench,
                   const mjtNum* xipos, int nbody);

// Kinematics of d's state in c->pose: poses, centres of mass, motion axes. m: plain.
void djm_poseData(djmContext* c, const mjModel* m, const mjData* d);

// A view of m without plugins and sleep.
mjModel djm_plainModel(const mjModel* m);

// mj_forward's pass on d, with the forces and the acceleration of the step just solved from its
// state. Its errors are caught: DJ_INVALID, text in c->error.
djStatus djm_pass(djmContext* c, const mjModel* m, mjData* d);

#endif  // DJ_MUJOCO_STEP_H_
