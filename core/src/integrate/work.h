// Workspace of one simulation: everything that a step and its derivatives need, allocated once.

#ifndef DJ_INTEGRATE_WORK_H_
#define DJ_INTEGRATE_WORK_H_

#include "force/forces.h"
#include "integrate/euler_row.h"
#include "integrate/impulse_linear.h"
#include "integrate/method.h"
#include "integrate/multiplier.h"
#include "integrate/row_pass.h"
#include "model/motor.h"
#include "model/articulated.h"
#include "model/body_term.h"
#include "model/inverse_dynamics.h"

// Sizes of a model on which the layout of a djData depends.
typedef struct djSizes {
  int nq, nv, na, nu, nbody, njnt, ngeom, nsite, nmocap, ntendon, nwrap, ncoorddof, nhistory,
      nequality;
} djSizes;

// One stage of the last step.
typedef struct djStageWork {
  djStageLinear linear;
  djFactor lu;              // of H, where it is regular but has pivots that are not positive
  bool pivoted;             // it stands for linear.factor
  size_t nRq, nG, nfactor;  // bytes that these have room for: see room.c
  djBlocks blocks;          // of all but the last stage: the pattern goes on, they keep theirs
  void* lists;              // of blocks
  size_t nlists;            // bytes
  double* q;                // (nq) what solves it
  double* X;                // (nv x nslab) solutions for some right sides
} djStageWork;

// A part of a step that is cut (parts.h): its start, and what solves it.
typedef struct djPart {
  unsigned char* start;     // (nstate bytes) data's state and inputs
  bool kept;                // it has a history
  double gravity_scale;
  const djMethod* method;
  double* q[DJ_MAX_STAGE];  // (nq) of its stages
  struct djLinear* linear;  // in memory of nlinear bytes
  size_t nlinear;
} djPart;

// Free bodies whose spin `euler` keeps (euler_spin.c).
typedef struct djEulerSpins {
  int n;
  int* joint;              // (njnt)
  bool* bound;             // (nbody) they carry others, or are in rows
} djEulerSpins;

// Of physics from outside (outside.h), where the model's steps are taken by one.
typedef struct djOutside {
  const struct djPhysics* physics;
  void* data;               // its part of the djData
  double *A, *B;            // (nx x nx), (nx x nu) of the last step that has been linearised
  djReportRoom report;
} djOutside;

// Times, in s. `timestep` is the model's (djOption): how far a call of dj_step() goes, and what
// settings of contact, the ways of mocap bodies and the number of parts (parts.h) are about. `h` is
// that of what is solved, and what formulas of methods mean: the timestep or, while a step is taken
// in n parts, 1/n of it (dj_stepTime). A stage has its own, `stage_h`, over which its displacement
// is a velocity; in methods of one stage it is h. It is the h of forces and contact (djMotion,
// djContacts, djPairInput), which know of no other.
struct djWork {
  void* buffer;             // the djData's arrays too
  size_t nbuffer;
  size_t nstate;            // of them: state and inputs, as in `start`
  size_t nkeep;             // of them: state, inputs and results
  djError error;
  djForces forces;
  int maxcontact, maxpair;
  djSizes sizes;            // of the model that it was made for

  // The step: its start, and the present and the trial iterate.
  djData start;             // view of state and inputs at the start of the step
  double h, stage_h;        // s; see above
  djStats count;            // of the step under way: DJ_STEP_COUNTS and ended
  int parts;                // in which a step under way is taken; 1 outside of it
  int npart;                // in which the last one was taken
  djPart* part;             // (maxpart + 1) the last: scratch
  int maxpart;
  void* part_memory;
  size_t npart_memory;
  bool parts_linearized;
  double* tangent;          // (2 x dj_tangentSize) scratch
  djVec3* ref;              // (nbody) reference points of twists, fixed during a step
  djPlace begin, back;      // the start, whose q is start.qpos, and q (+) -stage_h v
  bool opened, begun;       // `start` is that of the step that begins; so is `begin`
  bool has_past;            // contact takes `back` for where the last step began
  djPlace from, from_rate;  // of a step that carries: `begin` and `rate` as contact sees them
  bool carries;             // mocap bodies move (mocap.h)
  bool jams;                // what is in their way cannot give way
  double rate_part, stage_part, carried;   // of their way: at `rate`, the stage's end, `now`
  double trial_carried;     // at `trial`
  double* mocap_rate;       // (nmocap x 6) angular and linear of the origin, of a step that carries
  double* mocap_squeeze;    // (2 x nmocap) how much they press, and may (carry.c)
  double* mocap_scratch;    // (nmocap x 7)
  djPlace ahead;            // q (+) drift, of euler.c
  djPlace rate;             // where a stage's displacement begins, if not at the start
  bool drifts;              // it does not
  djActing acting;          // which forces are under way: euler.c asks for them by turns
  bool bends;               // rates along coordinates that bend are those of V (path_rate.h)
  double* path_scratch;     // (nv) for them
  djPlace lag;              // an iterate of the end, by which friction acts (option friction =
  bool lags;                //   implicit), or not yet
  djPlace now, trial;
  double* act_next;         // (na)
  djBodyStep* body;         // (nbody)
  struct djImpulses* impulses;   // of the step under way; NULL: there have been none
  double* armature;         // (njnt + ntendon)
  double* tendon_rate;      // (ntendon) at the start, where there is armature of tendons
  const djMethod* method;   // that has taken the step
  djCoefficients coef;      // its
  djFactorKind kind;        // of dr/dq+, by method and forces
  int stage;                // that is being worked on
  int nstage;               // that there is room for
  djStageWork at_stage[DJ_MAX_STAGE];
  bool stepped;             // the step's quantities are valid (djd_lastTransition)
  bool linearized;          // so are the Jacobians below
  int refinement_steps;               // further full Newton steps

  double* gradient;         // (nv)
  double* step;             // (nv)
  double* learned;          // (3 nv) scratch of Newton's method
  djPattern pattern;        // of H, Rq and Rv, at the last evaluation
  djMatrix H;               // dr/dq+ at the present iterate; symmetric: lower triangle
  size_t nH;                // bytes that it has room for: see room.c
  bool patterned, cramped;  // the last couplings fit into the pattern's lists; some room is short
  bool may_grow;            // no solution is under way
  double convexity;         // share of a convex substitute, of the evaluation under way
  int growths;              // how often room has been made
  double* scale;            // (nv) what a shift multiplies
  double* shift;            // (nv)
  double* wrench;           // (nbody x 6)
  double* N;                // (nbody x 36)
  double* M;                // (nbody x 36)
  djForceSum sum;           // its wrench, N and H are those above
  djStartSum start_sum;

  // Of integrators that balance momentum (variational.c).
  double* momentum;         // (nbody x 6) at the start
  double* axis_cross;       // (nv x 6) see dj_bodyMomentum
  double* momentum_change;  // (nbody x 6) of momentum, less loads: gathered wrenches
  double* momentum_residual;  // (nv) the same along the dofs at the start
  double* nonpotential_force;  // (nv) what forces without an energy add to a residual
  double* nonpotential;     // (nv) what has no merit in the last residual, and in that of the
  double* nonpotential_now; // (nv)   present iterate
  djBlocks trees;           // of what couples no trees
  djMatrix own;             // scratch of their pattern
  djFactor mass;            // M(q+), for derivatives
  double* articulated;      // (dj_articulatedSize) scratch

  // Of integrators that balance forces (inverse.c).
  djInverse inverse;
  double *V, *A;            // (nv) velocity and acceleration of the stage
  double* drift;            // (nv) displacement from the start to `rate`; to `ahead` (euler.c)
  bool guesses;             // body and back are set, for a guess of the end
  double* bias;             // (nv) of euler.c: ID(q, v, 0) less smooth forces at the start,
  double* damping;          // (nv) h times the damping that is implicit,
  djMatrix inertia;         // and M(q) with it,
  djRateSum rates;          // (ncoord each) of euler_rates.c
  double* rate_along;       // (ncoord) scratch
  double* kick;             // (nv) S1 of impulse.h
  djEulerRows rows;
  djRowPass pass;
  djEulerSpins spins;
  djMatrix mass_slope;      // scratch of the trees' pattern
  djMatrix Dq, Dv;          // derivatives of inverse dynamics, of the trees' pattern

  // The end: next coordinates and history.
  double* qnext;            // (nq)
  double* turn;             // (nv) log(q^-1 q+) where the coefficients turn
  double* before;           // (nv) log(q-^-1 q) at the start, 0 without a history
  double *mark_q, *mark_v;  // (nq), (nv) the state that data's history belongs to, with
  double* mark_act;         // (na),
  double mark_h;            // and h; 0: none

  // Derivatives (gradient layer).
  int nslab;                // columns of X
  double* vnext;            // (nv) log(q^-1 q+)/h
  double* qvel;             // (nv) velocity at the end of the step
  bool corrected;           // qvel is not by coefficients alone: then
  djMatrix Vplus;           // derivatives of qvel, of the trees' pattern: see djMethod
  djMatrix Vstart;
  double* act_by_act;       // (na) d act+/d act
  double* z_by;             // (nu x 3) see djLinear
  double* motor_by;         // likewise
  double* act_by_ctrl;      // (nu) d act+/d ctrl
  djImpulseLinear impulse;  // of the last step that has been linearised
  double* lambda;           // (dj_linearScratch) scratch of vector products
  djMultiplier multiplier;
  djOutside outside;
  struct djRecorder* recorder;   // of calls (recorder.h), or NULL
};
typedef struct djWork djWork;

static inline double dj_stepTime(const djModel* m, const djWork* w) {
  return m->opt.timestep / w->parts;
}

// Stages that the model's integrator, its starter and what stands in for them have at most.
int dj_stageCount(const djModel* model);

// Stage k of the last step as it was when it was solved: `now` and what its start fixes.
djStatus dj_reopenStage(djWork* work, const djModel* model, int k);

// Set work->pattern from the forces of the last evaluation. DJ_NO_MEMORY, work->cramped: what
// follows it has no room; to be passed on to who can call dj_growRoom and begin anew.
djStatus dj_coupleTrees(djWork* work, const djModel* model);
djStatus dj_growRoom(djWork* work, const djModel* model);

// Room for Rq and G of the pattern in force.
djStatus dj_growDerivatives(djWork* work);

// The stage's matrices keep the pattern in force, which later stages change.
djStatus dj_keepPattern(djWork* work);

// Room for the entries of Ra and Ru that were left out.
djStatus dj_growInputs(djWork* work);

// What a model has at first: bytes, and to take and release them. Bytes that are held now.
size_t dj_roomSize(const djModel* model, int nstage);
djStatus dj_makeRoom(djWork* work, const djModel* model);
void dj_freeRoom(djWork* work);
size_t dj_heldRoom(const djWork* work);

djSizes dj_sizesOf(const djModel* model);
bool dj_sameSizes(const djSizes* sizes, const djModel* model);

// Whether data of that workspace has the model's sizes; those of a history may be larger.
bool dj_fitsSizes(const djWork* work, const djModel* model);

// Whether data can be used with the model: it has the sizes, and contact is on in both or in none.
djStatus dj_checkData(const djModel* model, djData* data);

// All n numbers are finite, else an error that names the first one that is not.
djStatus dj_checkFinite(djError* err, const char* name, const double* v, int n);

// ctrl, applied forces, mocap poses, time and gravity_scale are finite.
djStatus dj_checkInputs(const djModel* model, djData* data);

// The start as contact sees it.
static inline const djPlace* dj_fromPlace(const djWork* w) {
  return w->carries ? &w->from : &w->begin;
}

// The motion of the step at a place.
djMotion dj_motionAt(const djWork* work, const djModel* model, const djPlace* at);

// How the step takes inputs.
djInputs dj_inputsOf(const djWork* work);

// What every stage begins with: the start, and what forces fix there; displacements are over
// stage_h. Where work->drifts they begin at q (+) work->drift. After it, where it is used: `back`.
djStatus dj_beginStep(djWork* work, const djModel* model, double stage_h);
void dj_setBack(djWork* work, const djModel* model);
// Of methods whose velocity is the displacement of a step over its length, before contact begins:
// `back` is that of the whole step; there: q (+) -h v where mocap bodies rest, if it is known.
// Derivatives by it at a place are added to G.
void dj_setPast(djWork* work, const djModel* model, const djPlace* there);
djStatus dj_pastForces(djMatrix* G, djWork* work, const djModel* model, const djPlace* at);
// Begins a stage by a method.
static inline djStatus dj_beginStage(djWork* work, const djModel* model, const djMethod* method) {
  work->has_past = false;
  return method->begin(work, model);
}

// What every residual begins with, as djMethod's evaluate: energies that are found ahead, the
// pattern, and empty sums. Infinite values end the evaluation. Then, with wrenches in work->wrench
// and work->N: their part of gradient and H.
djStatus dj_beginEvaluation(double* value, double* gradient, djWork* work, const djModel* model,
                            const djPlace* at, bool* majorizer);
void dj_projectForces(djWork* work, const djModel* model, const djPlace* at);
// Between them and after them, of methods that minimise an energy: that of bodies since the poses
// `from`, of armatures and of forces, with their wrenches; and the end of gradient and H.
djStatus dj_addEnergies(double* value, double* gradient, djWork* work, const djModel* model,
                        const djBodyStep* body, const djKin* from, const djPlace* at);
void dj_endMinimum(double* gradient, djWork* work, const djModel* model, const djPlace* at);
// H, whole, of a gradient in axes that turn with q+ from that in exponential coordinates: [g]/2 on
// rotations (variational.c).
void dj_turnAxes(djWork* work, const djModel* model, const double* gradient);

// Last, where work->kind is not DJ_LDL and H is whole: forces without an energy. Adds to
// work->nonpotential, which holds what else has none.
void dj_addNonpotentialForces(double* gradient, djWork* work, const djModel* model,
                              const djPlace* at);

// The stage is where the step ends without U.
static inline bool dj_isAhead(const djWork* w) { return w->method->ahead && w->stage == 0; }

// Kind of the factor of dr/dQ made whole, see dj_factorEnd.
static inline djFactorKind dj_endKind(const djWork* w) { return w->spins.n ? DJ_LDU : w->kind; }

// Stage work->stage at a place that solves it.
static inline djStageWork* dj_stageOf(djWork* w) { return &w->at_stage[w->stage]; }

// out (nv) = sum of c_k src_k over sources of the stages before `end`.
void dj_sumSources(double* out, const double c[DJ_NSOURCE], const djWork* work,
                   const djModel* model, int end);

// State and inputs of data into the view of the start, with unit quaternions; its poses.
djStatus dj_copyStart(const djModel* model, djData* data);
void dj_setStart(djWork* work, const djModel* model);

// Method and coefficients of the step that begins: the model's own, or what takes its place.
void dj_chooseMethod(djWork* work, const djModel* model, const djMethod* method);

// End of a step: its start is the history of data's new state. Marks a history as that of data's
// state, or empties it.
void dj_keepHistory(const djModel* model, djData* data);
void dj_markHistory(const djModel* model, djData* data, bool valid);

// Whether data has a history that belongs to its state and to that time.
bool dj_hasHistory(const djModel* model, const djData* data);

// Stage k of the step from data's state and inputs to qpos (nq), known to solve it, earlier ones
// with it: leaves what dj_solveStep leaves but for the end's velocity, which is method->velocity's.
// psi (nstage, nv each): displacements of all stages, of which all but the last are used.
djStatus dj_replayStep(const djModel* model, djData* data, const djMethod* method, int stage,
                       const double* qpos, const double* const* psi);

// Factors dr/dQ at `now`, made whole with what lagged quantities that belong to the end add to H:
// without pivoting, or in lu with, where a pivot is not positive. DJ_SINGULAR: it has none.
djStatus dj_factorEnd(djWork* work, const djModel* model);

// C_b += A_b x_b, or A_b^T x_b, of bodies b that move: C, x (nbody x 6), A (nbody x 36).
void dj_addBodyProducts(double* C, const double* A, const djModel* model, const double* x,
                        bool transpose);

// Position-level dynamics, see position.c.
djStatus dj_positionParams(djParamSums* sums, djWork* work, const djModel* model,
                           const double* z);

// Both q+ and v+ from the stages, of a step that has been replayed.
djStatus dj_endStep(djWork* work, const djModel* model);

// Take the step that starts at data, or a part of it: fills work->now with the solution. data is
// not changed but for stats of Newton. Used by dj_takeStep (parts.h).
djStatus dj_solveStep(const djModel* model, djData* data);

#endif  // DJ_INTEGRATE_WORK_H_
