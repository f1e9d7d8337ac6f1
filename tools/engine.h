// One interface to both engines, for the verbs that run scenes.

#ifndef DJ_TOOLS_ENGINE_H_
#define DJ_TOOLS_ENGINE_H_

#include "inputs.h"

// What simulate's JSON object tells of a run.
typedef struct Tally {
  long steps;
  double time;
  long newton_iterations, unconverged_steps, recovering_steps, fallback_steps;
  long impact_steps;
  double worst_residual, smallest_gap, deepest_overlap;
  int deepest_geom[2];       // of a pair that began a step with that overlap; 0 0: of none
  double energy_first, energy_last;
  double momentum_first[6], momentum_last[6];   // dj_totalMomentum
  double spin_first[3], spin_last[3];           // dj_angularMomentum
  double wall;               // seconds spent in steps
  bool stopped;              // a step was impossible: the run ended before its time
  char note[512];            // the engine's last warning, or why it stopped; ""
} Tally;

typedef struct Engine Engine;
struct Engine {
  const char* name;          // "dijoco" or "mujoco"
  const djModel* model;      // names, sizes and shapes: the same for both
  // the present state and the results of the last step
  double time;
  const double *qpos, *qvel, *act;
  int nstate;                          // numbers of the state: dj_getState's, in stock MuJoCo
                                       //   without a history
  const double *xpos, *xquat;          // (nbody x 3), (nbody x 4)
  double energy;                       // kinetic, springs and the scene's whole gravity, J: of
                                       //   the last engine_measure
  double gap;                          // smallest distance of contact shapes, m; inf: none near
  int ncontact;
  const djContactForce* contact;
  Tally tally;
  char error[512];
  // private
  void* data;
  bool (*step_one)(Engine* e, const double* ctrl, double gravity);
  bool (*measure)(Engine* e);
  void (*settings)(const Engine* e, Json* out, const Scene* s, const Options* o);
  void (*close)(Engine* e);
  const djData* own;         // our engine's data, else NULL
  double *ctrl, *state;
};

// Make an engine for the scene and put it at the start. False: e->error says why.
bool engine_open(Engine* e, bool mujoco, const Scene* s, const Inputs* in);
// Step k. False: e->error says why; the state is that before the step.
bool engine_step(Engine* e, const Inputs* in, long k);
// The present state (nstate).
const double* engine_state(Engine* e);
// The energy of the present state.
bool engine_measure(Engine* e);
// The momenta of the present state, kept as those of the end.
bool engine_measureMomentum(Engine* e);
void engine_close(Engine* e);

// Parts of engine_open.
bool engine_openDijoco(Engine* e, const Scene* s, const Inputs* in);
bool engine_openMujoco(Engine* e, const Scene* s, const Inputs* in);

// What of a run's steps went otherwise than it should, as a sentence; "" where nothing did.
typedef struct Failures {
  char text[300];
} Failures;
Failures engine_failures(long steps, long unconverged, long fallback, long recovering,
                         const djModel* model);

typedef struct GeomName {
  char text[80];
} GeomName;
// "geom/NAME", "geom/#ID".
GeomName engine_geomName(const djModel* model, int geom);

// simulate's JSON object; key NULL at the top.
void engine_write(Json* out, const char* key, const Engine* e, const Scene* s, const Options* o);

#endif  // DJ_TOOLS_ENGINE_H_
