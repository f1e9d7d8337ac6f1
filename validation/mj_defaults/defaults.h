// Parts of mj_defaults: one scene in three columns, tables of raw numbers, and targets.
//   ours   DiJoCo, at what it sets for a scene that sets nothing
//   stock  MuJoCo at its defaults
//   best   MuJoCo with the settings that serve contact best: discrete integrator, elliptic cones,
//          impratio 100, Newton, solref 2h, solimp 0.9999; where a group says so, others

#ifndef DJ_VALIDATION_MJ_DEFAULTS_H_
#define DJ_VALIDATION_MJ_DEFAULTS_H_

#include "common/report.h"
#include "common/robots.h"
#include "common/text.h"
#include "common/vec3.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>

typedef enum Column { OURS, STOCK, BEST, NCOLUMN } Column;

enum { MAX_SET = 8, MAX_BOUND = 40 };

// A target by its key; the table is in mj_defaults.c.
typedef struct Bound {
  const char* key;
  const char* unit;
  bool least;              // the number shall be at least the target, else at most
  double target;           // of the full program
  double today;            // what --quick asserts: what holds now, with room for another machine
} Bound;

// What was asked for, and what was found.
typedef struct Program {
  bool quick;
  bool targets;            // a missed one counts
  int only;                // the crowd or stack to run, or -1
  int runs;                // crowds; 0: by default
  const char* write;       // folder to write that crowd to, or NULL
  int nset;                // settings of ours that are tried in place of the defaults
  const char* set_name[MAX_SET];
  double set_value[MAX_SET];
  bool given_integrator;   // else the default one
  djIntegrator integrator;
  const Bound* bound;
  int nbound;
  bool seen[MAX_BOUND];
  double worst[MAX_BOUND];
  djvReport report;
} Program;

// One scene in one column.
typedef struct Sim {
  Column column;
  double h;
  mjModel* m;              // own copy, of all columns
  mjData* d;               // not of ours
  djModel* model;          // of ours, else NULL
  djData* data;
  int nq, nv;
  double *qpos, *qvel;     // to be read and written
  djStatus status;         // of ours, the last step's
  djError error;
} Sim;

// Opens m with timestep h; the start is qpos0 at rest. `program` may be NULL: nothing is set.
void sim_open(Sim* s, const mjModel* m, Column column, double h, const Program* program);
void sim_close(Sim* s);
// Back to qpos0 at rest, to be changed by writing qpos and qvel.
void sim_reset(Sim* s);
// False: the step failed, or the state is not finite.
bool sim_step(Sim* s);
void sim_energy(double energy[2], Sim* s);   // potential, kinetic
// Newton iterations of the last step; whether it ended unconverged.
int sim_iterations(const Sim* s, bool* unconverged);
// MuJoCo's best settings on a model, but for the timestep.
void sim_setBest(mjModel* m, double h);

double def_clock(void);    // processor time of this thread, s

// The head of a table of three columns, and its rows; NaN prints as "-".
void def_head(const char* what);
void def_row(const char* label, const double value[NCOLUMN]);
// Enters a number under a key of the table of targets; the worst counts.
void def_check(Program* p, const char* key, double value);

// Mean, standard deviation and range of n numbers.
typedef struct Spread {
  double mean, sd, least, most;
} Spread;
Spread def_spread(const double* x, int n);

// The groups.
void def_crowd(Program* p);
void def_impact(Program* p);
void def_guide(Program* p);
void def_target(Program* p);
void def_creep(Program* p);
void def_stacks(Program* p);
void def_cost(Program* p);
void def_pass(Program* p);
void def_roll(Program* p);
void def_restitution(Program* p);

#endif  // DJ_VALIDATION_MJ_DEFAULTS_H_
