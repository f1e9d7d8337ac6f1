// The MuJoCo side: a djModel from an mjModel, with a report of what is not carried exactly.

#ifndef DIJOCO_MUJOCO_H_
#define DIJOCO_MUJOCO_H_

#include <dijoco/data.h>
#include <dijoco/setting.h>

#include <mujoco/mujoco.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a feature of the MuJoCo model is carried. Features without an entry are exact.
typedef enum djFeatureState {
  DJ_EXACT = 0,
  DJ_APPROXIMATED = 1,   // the note says how, and how large the error is
  DJ_IGNORED = 2         // left out although it changes the motion
} djFeatureState;

// A feature that is not carried exactly.
typedef struct djReportEntry {
  const char* element;   // "joint/knee"; unnamed: "joint/#3"; "option"
  const char* feature;   // MuJoCo's attribute, such as "frictionloss"
  djFeatureState state;  // never DJ_EXACT
  const char* note;      // one sentence
} djReportEntry;

// What an import does not carry exactly.
typedef struct djReport {
  int n;                 // entries
  djReportEntry* entry;  // (n) one per element and feature
  djFeatureState state;  // the worst of the list
} djReport;

// "exact", "approximated" or "ignored".
DJ_API const char* dj_featureStateName(djFeatureState state);
DJ_API void dj_deleteReport(djReport* report);

// The report in short: a line for each feature, of all elements that have it, with the largest of
// their errors; what is ignored comes first. "" where there is no such line.
DJ_API int dj_reportLines(const djReport* report);
DJ_API const char* dj_reportLine(const djReport* report, int i);
// Which entry a line shows: that of the largest error; -1: there is no such line.
DJ_API int dj_reportWorst(const djReport* report, int i);

// How many features of elements are exact; those that are not have an entry each.
DJ_API int dj_reportExact(const djReport* report);

// The report by the settings that are now in force in a model that was made from m: which contact
// model, restitution... *report is replaced, or stays as it is where this fails.
DJ_API djStatus dj_renewReport(djReport** report, const mjModel* m, const djModel* model,
                               djError* err);

// Make a model from MuJoCo's. Ignored features do not make it fail: the caller decides, by
// report->state. Scene settings (<custom> numeric and text fields called dijoco_*, such as
// dijoco_support) become options; to override them use dj_setOption on the result.
// report may be NULL. On failure *model and *report are NULL.
DJ_API djStatus dj_importMuJoCo(djModel** model, djReport** report, const mjModel* m,
                                djError* err);

// Load an .xml or .mjb file. stock: the compiled MuJoCo model, the caller's to mj_deleteModel; it
// and report may be NULL. err holds MuJoCo's text on one line, without the path.
DJ_API djStatus dj_loadMJCF(djModel** model, djReport** report, mjModel** stock,
                            const char* path, djError* err);
// The same, told of to a watch (NULL: nobody) while the hulls of meshes are made, which follows
// MuJoCo's part.
DJ_API djStatus dj_loadMJCFWatched(djModel** model, djReport** report, mjModel** stock,
                                   const char* path, const djWatch* watch, djError* err);

// ------------------------------ stepping in place of mj_step ------------------------------------

// A djModel imported from an mjModel, with a djData. It belongs to one thread. Each call sees what
// has changed of its mjModel since the last (options, sizes, poses, masses, friction, contype,
// gains, <custom> numbers...: all that the import reads, but meshes, height fields, keyframes,
// names and what joins elements to each other), and imports it anew first: what has been set on the
// context's own model since it was made stays in force, but for pairs of bodies of a guide. Where
// the change cannot be followed the call fails and says why.
typedef struct djmContext djmContext;

// report may be NULL; ignored features do not make it fail.
DJ_API djStatus djm_makeContext(djmContext** context, djReport** report, const mjModel* m,
                                djError* err);
// settings: what is stronger than the scene's, now and after changes; NULL: nothing.
DJ_API djStatus djm_makeContextWith(djmContext** context, djReport** report, const mjModel* m,
                                    const djSettings* settings, djError* err);
DJ_API void djm_deleteContext(djmContext* context);

// The context's own model (its options may be changed by dj_setOption) and data (statistics,
// contacts and dj_errorText of the last step). The structs stay where they are; their arrays are
// others after a change of the mjModel.
DJ_API djModel* djm_model(djmContext* context);
DJ_API djData* djm_data(djmContext* context);

// How many changes of the mjModel have been followed.
DJ_API long djm_changes(const djmContext* context);
// What the last of them has replaced, model and data, with the arrays that they had until then, and
// the report of the import. They become the caller's, or are deleted where the pointer is NULL;
// otherwise that is done at the next change. False, and all NULL: there is nothing.
DJ_API bool djm_takeChange(djmContext* context, djModel** model, djData** data, djReport** report);

// Why the last call on the context failed; "" when it did not.
DJ_API const char* djm_errorText(const djmContext* context);

// Settings of a context, besides the options of its model.
typedef struct djmStepOption {
  int substeps;               // steps of timestep/substeps that make one; 1. The first call after a
                              //   change sets the timestep of the context's model accordingly, and
                              //   applies its default rules anew
  bool sensors;               // djm_step also fills, as mj_step does, what mj_forward finds at its
                              //   start: poses, velocities, sensordata (see djm_forward); by default
                              //   where the model has sensors that are not disabled
} djmStepOption;

// The context's settings, to be changed in place.
DJ_API djmStepOption* djm_stepOption(djmContext* context);

// One step of ours on MuJoCo's data: reads time, qpos, qvel, act, ctrl, applied forces and mocap
// poses, writes time, qpos, qvel, act, qacc and qacc_warmstart (the velocity's change over the
// timestep), qfrc_constraint (generalized force of contact) and cfrc_ext (contact and applied
// forces on bodies, about their tree's centre of mass, as mj_rnePostConstraint has it). Forces are
// means over substeps, reported at the poses of the step's start. Other fields are as the caller
// left them, unless sensors are wanted (djmStepOption). What the import leaves out (report:
// ignored) and MuJoCo computes as a smooth force (tendon springs, muscles...) does not act here;
// activations of actuators that are left out stay as they are. mjcb_control is not called,
// histories of delayed controls are not advanced; those of sensors are, where sensors are wanted.
// Nothing is allocated (but room for matrices, if many bodies couple more than ever, and a longer
// list of contacts, if sensors are wanted and there are more than ever). Negative: d is as it was
// (but for derived fields, if sensors are wanted and MuJoCo itself fails), djm_errorText says why.
// Integrator bdf2 is DJ_UNSUPPORTED, here and in the calls below: MuJoCo's state has no room for
// its history.
DJ_API djStatus djm_step(const mjModel* m, mjData* d, djmContext* context);

// Mocap bodies go in a step from where the last djm_step on d left them to d->mocap_pos,
// d->mocap_quat, at a velocity that friction and contact see (data.h). mjData has no room for those
// poses: the context has them, of the last mjData that it stepped, as long as d->time is what that
// step left. After mj_resetData, on another mjData, or where the time has been set, mocap bodies
// begin where they are. To be read, and set for the next step from d (nmocap x 6, linear and
// angular, world axes): a run that goes on elsewhere sets what was read.
DJ_API djStatus djm_getMocapVelocity(mjtNum* velocity, const mjModel* m, const mjData* d,
                                     djmContext* context);
DJ_API djStatus djm_setMocapVelocity(const mjModel* m, const mjData* d, djmContext* context,
                                     const mjtNum* velocity);

// In place of mj_forward, with our contact: everything that mj_forward computes from position and
// velocity, then qacc, qfrc_constraint and cfrc_ext of our step from here, and from these the
// sensors that depend on acceleration and contact. Of contact sensors, touch adds the normal forces
// of our pairs, each as one point (pair.point), and others see the pairs of the last substep as
// contacts of six components. MuJoCo's own contacts stay listed but exert no force (efc_force = 0);
// jointlimitfrc and tendonlimitfrc show our limits' forces.
DJ_API djStatus djm_forward(const mjModel* m, mjData* d, djmContext* context);

// Derivatives of that step, all substeps of it, at d's state; d is not changed. Layout as
// mjd_transitionFD: with nx = 2 nv + na, A (nx x nx), B (nx x nu), C (nsensordata x nx), D
// (nsensordata x nu); any may be NULL. Activations that the import leaves out stay as they are
// (identity), controls that it leaves out do nothing (zero).
//
// C and D are those of sensordata as djm_forward gives it; zero beyond a sensor's cutoff. Without
// solving another step: jointpos, jointvel, ballquat, ballangvel, framepos, framequat, frame axes,
// framelinvel, frameangvel (of bodies, geoms, sites, also in a reference frame), velocimeter, gyro,
// magnetometer, subtreecom, subtreelinvel, clock, touch, the plugin dijoco.gap; tendonpos,
// tendonvel, actuatorpos, actuatorvel where the length is linear in qpos (slides, hinges, fixed
// tendons), and there actuatorfrc of what is not left out; accelerometer, force, torque,
// framelinacc, frameangacc (the step's acceleration and contact forces by formula; what follows
// from these by kinematics, by differences). Rows of all others, for which djm_sensorIsAnalytic is
// false, are centred differences: two evaluations of djm_forward per state and control, less where
// they need no acceleration.
// DJ_UNSUPPORTED: C or D with sensors that have delays or intervals.
DJ_API djStatus djm_transition(const mjModel* m, const mjData* d, djmContext* context, mjtNum* A,
                               mjtNum* B, mjtNum* C, mjtNum* D);
DJ_API bool djm_sensorIsAnalytic(const mjModel* m, int sensor);

// ------------------------------ many at a time ---------------------------------------------------

// A context for each of nthread threads (0: one for each processor), by which many mjData of one
// mjModel are stepped together: each takes the bits that djm_step alone gives it, by any number of
// threads. Whichever thread is free takes the next one. Other arguments as djm_makeContextWith.
typedef struct djmBatch djmBatch;
DJ_API djStatus djm_makeBatch(djmBatch** batch, djReport** report, const mjModel* m, int nthread,
                              const djSettings* settings, djError* err);
DJ_API void djm_deleteBatch(djmBatch* batch);             // NULL is allowed
DJ_API int djm_batchThreads(const djmBatch* batch);       // the caller's included
// A thread's context; NULL: there is none. What is set on one's model is to be set on all of them.
DJ_API djmContext* djm_batchContext(djmBatch* batch, int thread);
DJ_API djmStepOption* djm_batchOption(djmBatch* batch);   // of all contexts, to be changed in place
// Why the mjData at a place failed in the last call, "" where it did not; -1: the first that did.
DJ_API const char* djm_batchErrorText(const djmBatch* batch, int place);

// nstep times djm_step of each of n mjData, all different. status (n, or NULL): what each ended
// with; one that fails stays where it was before that step, and leaves the others alone. The calls
// return the first negative status, else the largest. Where the bodies of the scene are mocap, the
// batch knows where those of the mjData at each place were left, as a context does.
DJ_API djStatus djm_batchStep(const mjModel* m, mjData* const* d, int n, int nstep, djmBatch* batch,
                              int* status);
// The same under ctrl (n x nstep x nu; NULL: that of the mjData), with the states, from the first
// on: qpos (n x nstep+1 x nq), qvel, act likewise; any may be NULL; NaN from where one fails.
DJ_API djStatus djm_batchRollout(const mjModel* m, mjData* const* d, int n, int nstep,
                                 const mjtNum* ctrl, mjtNum* qpos, mjtNum* qvel, mjtNum* act,
                                 djmBatch* batch, int* status);
// djm_transition of each: A (n x nx x nx), B (n x nx x nu), C (n x nsensordata x nx), D (n x
// nsensordata x nu), any may be NULL; NaN of those that fail.
DJ_API djStatus djm_batchTransition(const mjModel* m, mjData* const* d, int n, mjtNum* A, mjtNum* B,
                                    mjtNum* C, mjtNum* D, djmBatch* batch, int* status);

// ------------------------------ MuJoCo's own step, differentiated --------------------------------

// Derivatives of stock mj_step at d's state by formula, in the layout of mjd_transitionFD: with
// nx = 2 nv + na, A (nx x nx), B (nx x nu), C (nsensordata x nx), D (nsensordata x nu); any may be
// NULL. No import, no settings: MuJoCo's contacts, constraints and integrators (Euler, implicit,
// implicitfast, discrete). The derivative is that of the branch that MuJoCo is on: rows that act,
// faces that touch. d is not changed; the step from there is taken on a copy, once. C and D are
// those of sensordata as mj_step leaves it: of position, velocity and touch by formula, of
// acceleration and other forces by differences along the derivative of the acceleration, without
// another solution. DJ_UNSUPPORTED, err names it: RK4, discrete with adhesion, noslip, sleep,
// diagexact, callbacks, forces of plugins, delays, flex, and what smooth forces lack. DJ_INVALID: a
// state that mj_step would reset.
typedef struct djmTransitionWork djmTransitionWork;

// By which formula a contact's distance, point and frame follow its geoms.
typedef enum djmFeature {
  DJM_FEATURE_CLOSED = 0,  // a point, line or plane of each geom: planes, spheres, capsules
  DJM_FEATURE_VERTEX_FACE,  // a vertex or an edge against a face of polyhedra
  DJM_FEATURE_EDGE_EDGE,   // two edges, or what is as sharp
  DJM_FEATURE_CLIPPED,     // a vertex of two faces clipped against each other
  DJM_FEATURE_SLIDING,     // a point of a capsule's axis that MuJoCo's rules move along it
  DJM_FEATURE_CURVED,      // a surface or a rim with curvature
  DJM_FEATURE_DIFFERENCES,  // none told: differences of that pair alone
  DJM_FEATURE_KINK,        // no derivative: as if fixed midway between the two bodies
  DJM_NFEATURE
} djmFeature;

// "closed"...; "" for none.
DJ_API const char* djm_featureName(djmFeature feature);

// contacts: how many of d follow each feature, at d's poses. d is used for differences of single
// pairs, and put back.
DJ_API djStatus djm_countFeatures(int contacts[DJM_NFEATURE], const mjModel* m, mjData* d);

// A place where the step has no derivative, or is about to have none: the derivative there is that
// of the branch MuJoCo is on.
typedef enum djmKinkKind {
  DJM_KINK_SWITCH = 0,   // a row's force begins or ends, or friction loss reaches its limit
  DJM_KINK_CONE,         // an elliptic contact begins to slip, sticks or parts
  DJM_KINK_MARGIN,       // a limit or a contact is about to leave the rows, a limit to enter them
  DJM_KINK_CONTACT,      // a contact of DJM_FEATURE_KINK
  DJM_KINK_FEATURE       // a contact of DJM_FEATURE_CLIPPED is about to be another vertex
} djmKinkKind;

// One such place.
typedef struct djmKink {
  int kind;              // djmKinkKind
  int type;              // mjtConstraint of the row
  int id[2];             // geoms of a contact; else the joint, dof, tendon or equality, and -1
  mjtNum distance;       // how far: metres or radians of the row's position or, of friction loss,
} djmKink;               //   of its velocity; 0 of DJM_KINK_CONTACT

// Up to which distance kinks are listed, and how many.
#define DJM_KINK_DISTANCE 1e-6
enum { DJM_MAXKINK = 8 };

// What it is, with names: "contact of geoms 'a' and 'b': slips, sticks or parts within 3e-08".
DJ_API void djm_kinkText(char text[200], const mjModel* m, const djmKink* kink);

// Of the last call.
typedef struct djmTransitionInfo {
  int ncontact;          // contacts that act
  int differences;       // of these, contacts whose geometry was differenced
  int newton;            // own Newton steps after the solver's, where it left the step unsolved
  mjtNum found;          // |M a - forces| after the solver, relative to its terms
  mjtNum residual;       // the same for the derivative's point
  int features[8];       // contacts that act, by djmFeature
  int nkink;             // kinks within DJM_KINK_DISTANCE; the first of them:
  djmKink kink[8];       // DJM_MAXKINK
} djmTransitionInfo;

// Memory for a model, to be used by one thread; the model may be changed, but for its sizes.
DJ_API djStatus djm_makeTransitionWork(djmTransitionWork** work, const mjModel* m, djError* err);
DJ_API void djm_deleteTransitionWork(djmTransitionWork* work);
DJ_API const djmTransitionInfo* djm_transitionInfo(const djmTransitionWork* work);

// Derivatives of MuJoCo's step at d, as told above.
DJ_API djStatus djm_transitionMuJoCoWith(const mjModel* m, const mjData* d, djmTransitionWork* work,
                                         mjtNum* A, mjtNum* B, mjtNum* C, mjtNum* D, djError* err);

// The same in the place of mjd_transitionFD, with memory for this call alone.
DJ_API djStatus djm_transitionMuJoCo(const mjModel* m, const mjData* d, mjtNum* A, mjtNum* B,
                                     mjtNum* C, mjtNum* D);

// A scalar's gradient by numbers of an mjModel: arrays as the model has them, but for quaternions,
// which have three entries each: q exp(w), w in the element's frame. Entries of axes are normal to
// them. Not known, and zero: what orientation servos have, gears of free and ball joints, rotations
// of welds, springs' rest orientations of free and ball joints, shapes of meshes and height fields,
// coefficients of tendons, the lengths and accelerations that muscles are scaled by.
typedef struct djmDesignGradient {
  mjtNum* body_pos;             // (nbody x 3)
  mjtNum* body_quat;            // (nbody x 3)
  mjtNum* body_ipos;            // (nbody x 3)
  mjtNum* body_iquat;           // (nbody x 3)
  mjtNum* body_mass;            // (nbody)
  mjtNum* body_inertia;         // (nbody x 3)
  mjtNum* body_gravcomp;        // (nbody)
  mjtNum* jnt_pos;              // (njnt x 3)
  mjtNum* jnt_axis;             // (njnt x 3)
  mjtNum* jnt_stiffness;        // (njnt)
  mjtNum* jnt_range;            // (njnt x 2)
  mjtNum* jnt_margin;           // (njnt)
  mjtNum* jnt_solref;           // (njnt x mjNREF)
  mjtNum* jnt_solimp;           // (njnt x mjNIMP)
  mjtNum* qpos_spring;          // (nq)
  mjtNum* dof_armature;         // (nv)
  mjtNum* dof_damping;          // (nv)
  mjtNum* dof_frictionloss;     // (nv)
  mjtNum* dof_solref;           // (nv x mjNREF)
  mjtNum* dof_solimp;           // (nv x mjNIMP)
  mjtNum* geom_pos;             // (ngeom x 3)
  mjtNum* geom_quat;            // (ngeom x 3)
  mjtNum* geom_size;            // (ngeom x 3)
  mjtNum* geom_friction;        // (ngeom x 3)
  mjtNum* geom_margin;          // (ngeom)
  mjtNum* geom_solref;          // (ngeom x mjNREF)
  mjtNum* geom_solimp;          // (ngeom x mjNIMP)
  mjtNum* pair_friction;        // (npair x 5)
  mjtNum* pair_margin;          // (npair)
  mjtNum* pair_solref;          // (npair x mjNREF)
  mjtNum* pair_solreffriction;  // (npair x mjNREF)
  mjtNum* pair_solimp;          // (npair x mjNIMP)
  mjtNum* eq_data;              // (neq x mjNEQDATA): anchors, coefficients
  mjtNum* eq_solref;            // (neq x mjNREF)
  mjtNum* eq_solimp;            // (neq x mjNIMP)
  mjtNum* tendon_stiffness;     // (ntendon)
  mjtNum* tendon_damping;       // (ntendon)
  mjtNum* tendon_frictionloss;  // (ntendon)
  mjtNum* tendon_armature;      // (ntendon)
  mjtNum* tendon_range;         // (ntendon x 2)
  mjtNum* tendon_margin;        // (ntendon)
  mjtNum* tendon_lengthspring;  // (ntendon x 2)
  mjtNum* tendon_solref_lim;    // (ntendon x mjNREF)
  mjtNum* tendon_solimp_lim;    // (ntendon x mjNIMP)
  mjtNum* tendon_solref_fri;    // (ntendon x mjNREF)
  mjtNum* tendon_solimp_fri;    // (ntendon x mjNIMP)
  mjtNum* actuator_gainprm;     // (nactuator x mjNGAIN)
  mjtNum* actuator_biasprm;     // (nactuator x mjNBIAS)
  mjtNum* actuator_dynprm;      // (nactuator x mjNDYN)
  mjtNum* actuator_gear;        // (nu x 6)
  mjtNum* gravity;              // (3)
  // By what mj_setConst derives from the others: djm_finishDesign takes it to them.
  mjtNum* body_invweight0;      // (nbody x 2)
  mjtNum* dof_invweight0;       // (nv)
  mjtNum* tendon_invweight0;    // (ntendon)
  mjtNum* tendon_length0;       // (ntendon)
} djmDesignGradient;

// Memory for a model's numbers, all 0.
DJ_API djStatus djm_makeDesignGradient(djmDesignGradient** g, const mjModel* m, djError* err);
DJ_API void djm_deleteDesignGradient(djmDesignGradient* g);
DJ_API void djm_zeroDesignGradient(djmDesignGradient* g, const mjModel* m);

// Adjoint of stock mj_step at d's state. end (2nv + na): a scalar's gradient by the state after the
// step, in the order of A's rows; start (2nv + na) and ctrl (nu), each may be NULL, are written:
// its gradient by the state before and the controls, of A^T end and B^T end. design (or NULL) is
// added to: that by the numbers of m, as if they were set in m before the step; mj_setConst's part
// comes with djm_finishDesign. One solution for all of these. A call whose d->qacc_warmstart is the
// step's own acceleration needs hardly any iteration of the solver.
// DJ_UNSUPPORTED: as djm_transitionMuJoCoWith; with a design also the integrator discrete, fluids,
// spatial tendons and transmissions other than joints and fixed tendons.
DJ_API djStatus djm_backwardMuJoCo(mjtNum* start, mjtNum* ctrl, djmDesignGradient* design,
                                   const mjModel* m, const mjData* d, djmTransitionWork* work,
                                   const mjtNum* end, djError* err);

// After the last step: what was found by mj_setConst's numbers becomes part of the rest, and is
// zero then. m: as it was in the steps.
DJ_API djStatus djm_finishDesign(djmDesignGradient* g, const mjModel* m, djmTransitionWork* work,
                                 djError* err);

// A parameter's part, by its name ("joint/knee/damping", "body/#2/quat", "option/gravity"), in the
// entries of its derivative: n of them, at most 10. DJ_UNSUPPORTED, err names it: there is none.
DJ_API djStatus djm_readDesign(mjtNum gradient[10], int* n, const djmDesignGradient* g,
                               const mjModel* m, const char* name, djError* err);

// ------------------------------ inside MuJoCo ----------------------------------------------------

// Register the plugins dijoco.contact and dijoco.gap with MuJoCo; more than once does no harm.
// libdijoco_plugin.so is linked to no MuJoCo: it takes the one that the process has loaded, when it
// is loaded itself or else at the first call that needs MuJoCo, and registers the plugins then.
// DJ_UNSUPPORTED (of every such call): no MuJoCo is loaded, or one with other headers; err names
// it.
DJ_API djStatus djm_registerPlugins(djError* err);

// The context of d's dijoco.contact instance; NULL where the scene has none. Its data hold what the
// last evaluation on d found (mj_step, mj_forward..., drawing): contacts, statistics. A copy of d
// has a context of its own, which is empty until d's copy is evaluated. It is d's, and goes with
// it, or when d is next evaluated after m has changed (gravity, masses, sizes...): ask anew rather
// than keep it.
DJ_API djmContext* djm_pluginContext(const mjModel* m, const mjData* d);

// ------------------------------ gaps ------------------------------------------------------------

// Smoothed gap of two geoms (type mjOBJ_GEOM) or bodies (mjOBJ_BODY) at d's poses: distance, unit
// normal from 1 to 2, witness points on 1 and 2 (see djc_gap in dijoco/contact.h, and dijoco/gap.h
// for which geoms of a body count). jac (10 x nv, or NULL): derivatives of these by the tangent of
// qpos. smoothing in metres; below 0: the default. d must be past mj_kinematics and, for jac,
// mj_comPos. err may be NULL.
DJ_API djStatus djm_gap(mjtNum value[10], mjtNum* jac, const mjModel* m, const mjData* d,
                        mjtObj type, int id1, int id2, mjtNum smoothing, djError* err);

// Whether a sensor is one of the plugin dijoco.gap, and the derivatives (sensor_dim x nv) of its
// data by the tangent of qpos; its cutoff is not looked at.
DJ_API bool djm_isGapSensor(const mjModel* m, int sensor);
DJ_API djStatus djm_gapSensor(mjtNum* jac, const mjModel* m, const mjData* d, int sensor);

// ------------------------------ writing a design -------------------------------------------------

// A changed design as MJCF. model: compiled from the scene, with parameters changed by dj_setParam
// and options by dj_setOption. The text loads in stock MuJoCo from any folder of this machine
// (assets are named by absolute path, changed meshes are lists of vertices). It holds the
// parameters, the settings in force as <custom> fields, the scene's keyframes, and `key` (may be
// NULL; called "optimized" unless it has a name) as another.
//   .xml   the scene with these changes. Frames and inertia inferred from geoms come out as
//          numbers; coefficients of tendons have six digits.
//   other  what the model itself holds, with MuJoCo's defaults for contact softness and looks:
//          .json scenes, and .mjb, from which MuJoCo cannot get MJCF back.
// The text is compiled and compared with the model by djm_checkDesign before it is returned.
// DJ_UNSUPPORTED: something cannot be expressed; err names it. *text is the caller's to free.
DJ_API djStatus djm_makeMJCF(char** text, const char* scene, const djModel* model,
                             const djKeyDef* key, djError* err);
DJ_API djStatus djm_writeMJCF(const char* path, const char* scene, const djModel* model,
                              const djKeyDef* key, djError* err);

// The same with each geom that touches by an implicit surface other than itself (dijoco/surface.h)
// as a mesh of that surface, which stock MuJoCo draws and collides with; inertia is that of the
// model. part: error of the meshes, as dj_makeSurfaceMesh takes it. count (or NULL): how many.
DJ_API djStatus djm_makeSurfaceMJCF(char** text, int* count, const char* scene,
                                    const djModel* model, double part, djError* err);

// Compare every parameter of a compiled scene with the design that it shall hold, to a tolerance
// relative to max(1, |value|). base: the design before the change, which tells the meshes whose
// vertices were changed (NULL: all): MuJoCo moves and rounds these to single precision, so they are
// compared in the body frame to 4e-7 of their size. DJ_UNSUPPORTED: err names the first that
// differs.
DJ_API djStatus djm_checkDesign(const mjModel* m, const djModel* wanted, const djModel* base,
                                double tolerance, djError* err);

// ------------------------------ helpers ---------------------------------------------------------

// Whether MuJoCo lists contacts of two geoms when they are near enough, as far as the model says.
DJ_API bool djm_canCollide(const mjModel* m, int geom1, int geom2);

// Call run(arg) with MuJoCo's errors and warnings caught: none is printed or logged, and an error
// ends run instead of the process. Returns DJ_OK, or DJ_INVALID with the error in err. The last
// warning is left in err where there was no error; err (may be NULL) is "" where there was neither.
// Calls may be nested and may come from several threads.
DJ_API djStatus djm_guard(void (*run)(void* arg), void* arg, djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_MUJOCO_H_
