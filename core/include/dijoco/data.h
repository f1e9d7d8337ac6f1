// One simulation: state, inputs, results of the last step, and the step itself.
//
// A djData belongs to one thread. Its memory is allocated when it is made, but for what follows the
// graph of contact in models of many bodies: a step that finds no room for its matrices makes room
// for half as many again or more, and is then taken anew from its start, so that results do not
// depend on it. Fields marked "in" may be written by the user, the others are results.

#ifndef DIJOCO_DATA_H_
#define DIJOCO_DATA_H_

#include <dijoco/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// Statistics of the steps since the data was made or reset.
// Sets at which the force of penalty contact is not smooth: a point enters, its normal force ends
// or begins, it begins to slip; pieces of a field meet.
typedef enum djKink {
  DJ_KINK_TOUCH,
  DJ_KINK_RELEASE,
  DJ_KINK_SLIP,
  DJ_KINK_RIDGE,
  DJ_NKINK
} djKink;
// "touch"...; "" for none.
DJ_API const char* dj_kinkName(int kink);

// Why a step's solution ends, of the worst of its parts: X(enumerator, name).
#define DJ_STEP_ENDS(X)                                                                            \
  X(DJ_END_NONE, none)           /* there was no step yet */                                       \
  X(DJ_END_SOLVED, solved)       /* to the tolerance */                                            \
  X(DJ_END_ROUNDED, rounded)     /* as far as rounding lets it, within 1e-4 of g h */              \
  X(DJ_END_SEARCH, search)       /* no step led on from the best iterate */                        \
  X(DJ_END_ITERATIONS, iterations)   /* as many as there may be */
#define DJ_ENUMERATOR(enumerator, name) enumerator,
// Why a step's solution ends: DJ_STEP_ENDS.
typedef enum djStepEnd { DJ_STEP_ENDS(DJ_ENUMERATOR) DJ_NSTEPEND } djStepEnd;
#undef DJ_ENUMERATOR

// What is counted in a step, and is in djStats of the last one.
#define DJ_STEP_COUNTS(X)                                                                          \
  X(evaluations) X(attempts) X(passes) X(inner_iterations) X(factorizations) X(rows)               \
  X(near_attempts) X(guess_attempts) X(root_attempts) X(lag_attempts) X(hold_attempts)             \
  X(jammed_attempts) X(substitute_attempts)

// Statistics since the data was made or reset.
typedef struct djStats {
  long steps;                  // all
  long newton_iterations;      // over all steps
  long unconverged_steps;      // whose best iterate was kept
  long recovering_steps;       // steps with at least one pair in recovery
  long fallback_steps;         // taken by `position`, or under bdf2 by its starter, as the model's
                               //   integrator found no solution
  long impact_steps;           // cut into parts, as bodies closed by more than half their size, or
                               //   as penalty contact had no solution whole
  int iterations;              // of the last step
  int evaluations;             // of forces with their derivatives, in the last step
  int attempts;                // solutions looked for in the last step: 1, but for those that were
                               //   not found and then by another integrator, and of each part
  int passes;                  // over rows, by which euler looks for the end by forces
  int inner_iterations;        // of the problems of these
  int factorizations;          // of Jacobians
  int rows;                    // of the last pass
  int near_attempts;           // ways in which Newton's method was tried, of all stages and parts:
                               //   from where an end should be near, by passes or at rest
  int guess_attempts;          //   from the velocity, or a prediction
  int root_attempts;           //   by the residual's size, where contact has kinks
  int lag_attempts;            //   by the end what was by the start or a prediction
  int hold_attempts;           //   once more, for hard equality constraints
  int jammed_attempts;         //   without the moves of mocap bodies that nothing gives way to
  int substitute_attempts;     //   by another integrator
  int parts;                   // of the last step; 1: it was taken whole
  int near_pairs;              // of geoms, at the end of the last step
  int loaded_pairs;            // of these: with a normal force
  int ended;                   // djStepEnd of the last step
  int recovering;              // pairs in recovery in the last step
  double residual;             // 1; of the last step: sqrt(decrement^2 / m) / (g h)
  double worst_residual;       // 1; over all steps
  double gap;                  // m; smallest distance between contact shapes after the last step
  double smallest_gap;         // m; over all steps; infinite when no pair came near
  double overlap;              // m, >= 0; deepest overlap of true geoms after the last step
  double deepest_overlap;      // m; over all steps
  unsigned long long kink[DJ_NKINK];   // hashes of what points did on either side of these sets
                               //   at the ends of steps: another one where a run crosses one
} djStats;

// Total contact force between two bodies: acts on body2, its opposite on body1; body1 < body2.
typedef struct djContactForce {
  int body1, body2;            // ids, body1 < body2
  double force[3];             // N, world axes
  double torque[3];            // N m, about body2's frame origin
} djContactForce;

// One geom pair near contact, after a step.
typedef struct djContactPair {
  int geom1, geom2;            // ids
  double gap;                  // m; between contact shapes
  double skin;                 // m; by how much both shapes together are thinner than the geoms
  double normal[3];            // unit vector, from geom1 to geom2
  double point[3];             // m; on the separating plane, weighted by normal force
  double force[3];             // N; on geom2: normal and friction
  double torque[3];            // N m; on geom2, about point
  double normal_force;         // N
  bool recovering;             // from an overlap
} djContactPair;

// One simulation: state, inputs and results.
typedef struct djData {
  double time;                 // s, in
  // state, in
  double* qpos;                // (nq) m, rad, quaternions, which need not be normalised
  double* qvel;                // (nv) m/s, rad/s
  double* act;                 // (na) activations, in the units of the actuator's input
  double* history;             // (nq + nv, or 0) of bdf2, which has one: qpos and qvel one timestep
                               //   before the state, in their units, to be set by dj_setHistory.
                               //   It belongs to qpos, qvel, act and the timestep: where these are
                               //   written by hand the next step begins without it
  double* mocap_last_pos;      // (nmocap x 3) m; where mocap bodies begin the next step: mocap_pos
                               //   and mocap_quat of the last one, set by dj_step. What they touch
                               //   sees them go from there, straight on, to mocap_pos, which is
                               //   their velocity times the timestep
  double* mocap_last_quat;     // (nmocap x 4) quaternions; all 0: they have always been where they
                               //   are, as after a reset, and so they have in a step in which one
                               //   would go farther than twice its bounding radius, or turn by more
                               //   than a radian, or bodies between them have no way out
  // inputs, in
  double* ctrl;                // (nu) controls, in the units of the actuator's input
  double* qfrc_applied;        // (nv) N, N m
  double* xfrc_applied;        // (nbody x 6) force (N), torque about the centre of mass (N m);
                               //   world axes
  double* mocap_pos;           // (nmocap x 3) m; where mocap bodies are at the end of the step
  double* mocap_quat;          // (nmocap x 4) unit quaternions
  double gravity_scale;        // 1; factor on gravity, 1 by default
  // poses of the current state; set by dj_step and dj_forward
  double* xpos;                // (nbody x 3) m; body frames
  double* xquat;               // (nbody x 4) unit quaternions
  double* xmat;                // (nbody x 9) rotations: 1
  double* xipos;               // (nbody x 3) m; centres of mass
  double* site_xpos;           // (nsite x 3) m
  double* geom_xpos;           // (ngeom x 3) m
  double* geom_xmat;           // (ngeom x 9) rotations: 1
  double energy[2];            // J; potential (gravity, springs), kinetic, as MuJoCo's; set by
                               //   dj_forward alone
  // results of the last step
  djStats stats;               // and of all before
  int ncontact;                // body pairs with a contact force
  djContactForce* contact;     // (ncontact)
  int npair;                   // geom pairs near contact
  djContactPair* pair;         // (npair)
  struct djWork* work;         // private
  int* eq_active;              // (nequality) in; 1: the equality constraint acts, 0: it does not
} djData;

// New data with the state of qpos0, zero velocities and inputs. On failure *data is NULL.
DJ_API djStatus dj_makeData(djData** data, const djModel* model, djError* err);
DJ_API void dj_deleteData(djData* data);                // NULL is allowed
// Copy of everything: the copy continues identically.
DJ_API djStatus dj_copyData(djData* dest, const djModel* model, const djData* src);
DJ_API size_t dj_dataSize(const djModel* model);        // bytes of new data
DJ_API size_t dj_dataBytes(const djData* data);         // bytes it holds now
DJ_API int dj_dataGrowths(const djData* data);          // how often room has been made since
// Back to qpos0, or to a keyframe: state, inputs and statistics.
DJ_API djStatus dj_resetData(const djModel* model, djData* data);
DJ_API djStatus dj_resetKey(const djModel* model, djData* data, int key);

// Forget what earlier steps have left for speed, the list of near pairs. No result changes; where a
// state jumps far, as to another world's, the list would be long.
DJ_API void dj_forgetSteps(djData* data);

// State as one vector: time, qpos, qvel, act, of an integrator with a history whether there is
// one (1 or 0) and it, qpos and qvel one timestep before, and of mocap bodies mocap_last_pos,
// mocap_last_quat. A run continues from it to the last bit (with the same inputs).
DJ_API int dj_stateSize(const djModel* model);
// Name of entry i: "time", "qpos[0]", ..., "has_history", "history[0]", ..., "mocap_last_pos[0]",
// ...; "" where there is none. Returns text.
DJ_API const char* dj_stateName(char text[32], const djModel* model, int i);

// A djStepEnd in words: "solved", "iterations"...; "" of what is none.
DJ_API const char* dj_stepEndName(int end);
// Entries of a tangent state: q and v (nv each), act (na), and of a history q- and v- (nv each).
DJ_API int dj_tangentSize(const djModel* model);
DJ_API djStatus dj_getState(double* state, const djModel* model, const djData* data);
DJ_API djStatus dj_setState(djData* data, const djModel* model, const double* state);

// The history of the present state, where the integrator keeps one: qpos (nq) and qvel (nv) one
// timestep before. Both NULL: none, as where the integrator keeps none. False: there is none.
DJ_API djStatus dj_setHistory(djData* data, const djModel* model, const double* qpos,
                              const double* qvel);
DJ_API bool dj_getHistory(double* qpos, double* qvel, const djModel* model, const djData* data);

// Velocities of mocap bodies in the next step (nmocap x 6): of the origin (m/s), angular (rad/s),
// world axes; as mocap_pos and mocap_quat are now. Set: where they begin, so that they get to these
// poses with them. A belt that moves on the spot is set before each step.
DJ_API djStatus dj_getMocapVelocity(double* velocity, const djModel* model, const djData* data);
DJ_API djStatus dj_setMocapVelocity(djData* data, const djModel* model, const double* velocity);

// One step: advances time, qpos, qvel, act. DJ_NOT_CONVERGED: the best feasible iterate was kept
// and counted. Negative: nothing was changed, dj_errorText says why.
DJ_API djStatus dj_step(const djModel* model, djData* data);

// Poses, energy and gaps of the current state, without stepping.
DJ_API djStatus dj_forward(const djModel* model, djData* data);

// Momentum of all bodies, world axes: angular about the world's origin (3), linear (3). What free
// bodies do to each other does not change it. As dj_forward otherwise.
DJ_API djStatus dj_totalMomentum(double momentum[6], const djModel* model, djData* data);

// Spin: angular momentum (3, world axes) of the trees that float freely, each about its own centre
// of mass, summed. Without contact it stays. As dj_forward otherwise.
DJ_API djStatus dj_angularMomentum(double spin[3], const djModel* model, djData* data);

// Forces of the joints' limits (njnt) in the step just taken, >= 0, N or N m: spring and damper, of
// a ball about the axis of its angle. 0 where a joint is inside its range.
DJ_API djStatus dj_limitForces(double* force, const djModel* model, djData* data);

// The same of tendons: force (ntendon).
DJ_API djStatus dj_tendonLimitForces(double* force, const djModel* model, djData* data);

// Text of the last failure on this data; "" when there was none.
DJ_API const char* dj_errorText(const djData* data);

// q_out = q (+) v*scale, and the inverse: v = (q2 (-) q1)/scale. Tangent in MuJoCo's order.
DJ_API void dj_integratePos(double* qout, const djModel* model, const double* q, const double* v,
                            double scale);
DJ_API void dj_differentiatePos(double* v, const djModel* model, double scale, const double* q1,
                                const double* q2);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_DATA_H_
