// Basic types of DiJoCo: status codes, error text, element types, options.
// SI units, radians, quaternions (w, x, y, z), world frame unless stated, matrices row-major.

#ifndef DIJOCO_TYPES_H_
#define DIJOCO_TYPES_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Marks what the shared library exports.
#if defined(__GNUC__)
#define DJ_API __attribute__((visibility("default")))
#else
#define DJ_API
#endif

// Marks functions whose argument k is a printf format of those from n on.
#if defined(__GNUC__)
#define DJ_FORMAT(k, n) __attribute__((format(printf, k, n)))
#else
#define DJ_FORMAT(k, n)
#endif

// Version of the headers; dj_version tells the library's.
#define DJ_VERSION_MAJOR 0
#define DJ_VERSION_MINOR 11
#define DJ_VERSION_PATCH 0

// Result of every public call: 0 done, positive recoverable (the result is usable, read the
// documentation of the call), negative misuse or bad input (nothing was changed).
typedef enum djStatus {
  DJ_OK = 0,
  DJ_NOT_CONVERGED = 1,   // the best feasible iterate was kept
  DJ_SINGULAR = 2,        // an unshifted Jacobian could not be factored
  DJ_INVALID = -1,        // bad argument or bad input
  DJ_UNSUPPORTED = -2,    // a feature that the library does not have
  DJ_NO_MEMORY = -3,
  DJ_OVERLAP = -4,        // overlapping start with overlap = error
  DJ_FILE = -5,           // a file cannot be read or written
  DJ_CANCELLED = -6       // the caller's djWatch ended it
} djStatus;

// Told, while a call works that may take long, what part of the work is done, from 0 to 1. Nonzero:
// the call gives up and returns DJ_CANCELLED.
typedef int (*djProgress)(void* user, double done);

// Who is told; progress NULL: nobody.
typedef struct djWatch {
  djProgress progress;    // or NULL
  void* user;             // handed to it
} djWatch;

// Why a call failed, where there is no djData yet. One line, names the element.
typedef struct djError {
  char text[512];         // ends with 0
} djError;

// Joint types, numbered as MuJoCo's mjtJoint.
typedef enum djJointType { DJ_FREE = 0, DJ_BALL = 1, DJ_SLIDE = 2, DJ_HINGE = 3 } djJointType;

// Geom types, numbered as MuJoCo's mjtGeom.
typedef enum djGeomType {
  DJ_PLANE = 0,
  DJ_HFIELD = 1,
  DJ_SPHERE = 2,
  DJ_CAPSULE = 3,
  DJ_ELLIPSOID = 4,
  DJ_CYLINDER = 5,
  DJ_BOX = 6,
  DJ_MESH = 7
} djGeomType;
enum { DJ_NGEOMTYPE = DJ_MESH + 1 };   // types so far
// Faces of cylinders with radius r and half height h are domes, lower at the edge by
// DJ_DOME r h/(r + h).
#define DJ_DOME 0.02

// What a tendon's length is made of, numbered as MuJoCo's mjtWrap.
typedef enum djWrap {
  DJ_WRAP_JOINT = 1,
  DJ_WRAP_PULLEY = 2,
  DJ_WRAP_SITE = 3,
  DJ_WRAP_SPHERE = 4,
  DJ_WRAP_CYLINDER = 5
} djWrap;

// Equality constraints, numbered as MuJoCo's mjtEq; see djEqualityDef.
typedef enum djEqualityType {
  DJ_EQ_CONNECT = 0,
  DJ_EQ_WELD = 1,
  DJ_EQ_JOINT = 2,
  DJ_EQ_TENDON = 3
} djEqualityType;

// What an actuator's control is multiplied by; see djActuatorDef.
typedef enum djGain {
  DJ_GAIN_FIXED = 0,
  DJ_GAIN_AFFINE = 1,
  DJ_GAIN_MUSCLE = 2,
  DJ_GAIN_DCMOTOR = 3
} djGain;
// What is added to the gain's force; see djActuatorDef.
typedef enum djBias {
  DJ_BIAS_NONE = 0,
  DJ_BIAS_AFFINE = 1,
  DJ_BIAS_MUSCLE = 2,
  DJ_BIAS_DCMOTOR = 3
} djBias;
enum { DJ_NPRM = 10 };     // numbers of a gain or bias

// What the input of a dcmotor is, or of what adds to one.
typedef enum djMotorInput {
  DJ_INPUT_VOLTAGE = 0,    // V
  DJ_INPUT_POSITION = 1,   // m or rad
  DJ_INPUT_VELOCITY = 2,   // m/s or rad/s
  DJ_INPUT_TORQUE = 3      // N or N m
} djMotorInput;
enum {
  DJ_NMOTORINPUT = 4,
  DJ_NMOTORSTATE = 3,      // of its own: temperature, bristles, current
  DJ_NMOTORPRM = 7         // numbers of what these do
};

// Activation dynamics, w' = ...
typedef enum djDyn {
  DJ_DYN_NONE = 0,
  DJ_DYN_INTEGRATOR = 1,   // w' = u
  DJ_DYN_FILTER = 2,       // w' = (u - w)/tau, explicit Euler
  DJ_DYN_FILTEREXACT = 3,  // w+ = w + (u - w)(1 - exp(-h/tau))
  DJ_DYN_MUSCLE = 4,       // w' = (u - w)/t(u, w): tau while it rises, tau_deactivation while
                           //   it falls
  DJ_DYN_SLEW = 5          // w+ = u, or as far towards it as 1/tau lets it go; the force uses w+
} djDyn;

// Bits of djOption.disable. Their meaning follows MuJoCo's mjtDisableBit.
typedef enum djDisable {
  DJ_DSBL_CONTACT = 1 << 0,
  DJ_DSBL_LIMIT = 1 << 1,
  DJ_DSBL_FRICTIONLOSS = 1 << 2,
  DJ_DSBL_SPRING = 1 << 3,
  DJ_DSBL_DAMPER = 1 << 4,       // SPRING and DAMPER together also drop gravcomp and fluid
  DJ_DSBL_GRAVITY = 1 << 5,      // drops gravcomp too
  DJ_DSBL_CLAMPCTRL = 1 << 6,
  DJ_DSBL_FILTERPARENT = 1 << 7,
  DJ_DSBL_ACTUATION = 1 << 8,
  DJ_DSBL_EQUALITY = 1 << 9
} djDisable;

// Integrators: X(enumerator, name). Names are those of settings, and of the rows dj_NAME.
#define DJ_INTEGRATORS(X)                                                                     \
  /* implicit Euler on poses: damps, robust at any timestep */                                \
  X(DJ_POSITION, position)                                                                    \
  /* momentum balance at the middle of three poses: keeps momentum and energy; qvel is the */ \
  /* velocity of that momentum, not (q+ - q)/h */                                             \
  X(DJ_VARIATIONAL, variational)                                                              \
  /* implicit Euler on inverse dynamics */                                                    \
  X(DJ_BDF1, bdf1)                                                                            \
  /* implicit midpoint rule on inverse dynamics: second order */                              \
  X(DJ_MIDPOINT, midpoint)                                                                    \
  /* backward differentiation of two steps on inverse dynamics, forces at the end: second */  \
  /* order (docs/contact.md: first with lagged contact and where ctrl jumps); the state has */ \
  /* the last step's start, its first step is SDIRK2 */                                       \
  X(DJ_BDF2, bdf2)                                                                            \
  /* MuJoCo's semi-implicit Euler: smooth forces by the start of the step, but for what */     \
  /* djImplicitTerms says; contact, limits and dry friction by its end */                          \
  X(DJ_EULER, euler)

// One of them.
#define DJ_ENUMERATOR(enumerator, name) enumerator,
// How time is integrated, see DJ_INTEGRATORS.
typedef enum djIntegrator { DJ_INTEGRATORS(DJ_ENUMERATOR) DJ_NINTEGRATOR } djIntegrator;
#undef DJ_ENUMERATOR

// What of smooth forces `euler` takes by the velocity at the end, linearised at the start.
typedef enum djImplicitTerms {
  DJ_TERMS_DAMPING = 0,  // of joints: MuJoCo's Euler
  DJ_TERMS_NONE = 1,     // MuJoCo's Euler with eulerdamp disabled
  DJ_TERMS_RATES = 2     // and of tendons, and of actuators along them and joints: implicitfast
} djImplicitTerms;

// Spin of free bodies that carry no others, by `euler`: kept to rounding, or as MuJoCo's explicit
// gyroscopic term has it, which gains energy.
typedef enum djSpin { DJ_SPIN_EXACT = 0, DJ_SPIN_MUJOCO = 1 } djSpin;

// Equality constraints: by MuJoCo's own soft law, or exactly, see docs/model.md.
typedef enum djEqualityLaw { DJ_EQUALITY_SOFT = 0, DJ_EQUALITY_HARD = 1 } djEqualityLaw;

// Contact models: rows of the kernel table. DJ_CONTACT_NONE switches contact off; DJ_CONTACT_MUJOCO
// leaves whole steps to MuJoCo, from which the scene came (dijoco/physics.h). Pairs and geoms that
// name none have DJ_CONTACT_DEFAULT: the scene's, or where that does not know their types the first
// that does.
typedef enum djContactModel {
  DJ_CONTACT_MUJOCO = -3,
  DJ_CONTACT_DEFAULT = -2,
  DJ_CONTACT_NONE = -1,
  DJ_SEPARATING_PLANE = 0,
  DJ_IMPLICIT_SURFACE = 1,
  DJ_PENALTY = 2,
  DJ_DAMPED = 3,
  DJ_LONG_RANGE = 4,
  DJ_NCONTACT
} djContactModel;

// What a step does with a start at which contact shapes overlap.
typedef enum djOverlap { DJ_OVERLAP_RECOVER = 0, DJ_OVERLAP_ERROR = 1 } djOverlap;

// Which vertices of a mesh the separating plane's sums are over: those of its hull, or all, so that
// nothing jumps where a design moves one into the hull or out of it.
typedef enum djVertices { DJ_VERTICES_HULL = 0, DJ_VERTICES_ALL = 1 } djVertices;

// Where friction acts: at points projected onto the lagged plane, or at the vertices (SDRS eq. 9).
typedef enum djArms { DJ_ARMS_PLANE = 0, DJ_ARMS_PAPER = 1 } djArms;

// Friction's limit: |f|, or SDRS's A_eps(f) = sqrt(|f|^2 + eps) - sqrt(eps) (eq. 12).
typedef enum djCap { DJ_CAP_MAGNITUDE = 0, DJ_CAP_PAPER = 1 } djCap;

// Of which poses plane and normal forces are by which friction acts: those at the start of the step
// (SDRS), or those at its end. The latter has no energy, and a step is solved several times.
typedef enum djFriction { DJ_FRICTION_LAGGED = 0, DJ_FRICTION_IMPLICIT = 1 } djFriction;

// Where coefficients of restitution are from: what is given for geoms and pairs, or, where nothing
// is, what MuJoCo's solref would give.
typedef enum djRestitution { DJ_RESTITUTION_GIVEN = 0, DJ_RESTITUTION_SOLREF = 1 } djRestitution;

// How deep contact begins: where geoms touch, or as deep as MuJoCo's soft contact rests
// (djGeomDef.soft_depth).
typedef enum djSoftness { DJ_SOFTNESS_HARD = 0, DJ_SOFTNESS_MUJOCO = 1 } djSoftness;

// Laws of the force of two surfaces that touch (implicit_surface). DJ_LAW_AUTO: the contact model's
// own, which is Hertz's.
typedef enum djLaw {
  DJ_LAW_AUTO = -1,
  DJ_LAW_HERTZ = 0,         // with an energy, along the gap's gradient
  DJ_LAW_PAPER = 1,         // along the normal at the common point, of no energy (iDCOL 31-32)
  DJ_LAW_BARRIER = 2,       // SDRS's barrier of the gap
  // of damped contact, by g_d: sigma/g_d; the root of f (g_d + f/kn) = sigma
  DJ_LAW_PERTURBED = 3,
  DJ_LAW_SMOOTH_PENALTY = 4,
  DJ_LAW_LOG = 5            // IPC's barrier, of both
} djLaw;

// Barriers of the separating plane: SDRS's (eq. 4), or IPC's logarithm.
typedef enum djBarrierLaw { DJ_BARRIER_SDRS = 0, DJ_BARRIER_LOG = 1, DJ_NBARRIER } djBarrierLaw;

// Friction at a point of damped contact.
typedef enum djPointFriction {
  DJ_POINT_FRICTION_SMOOTH = 0,       // -mu f v/sqrt(|v|^2 + friction_eps)
  DJ_POINT_FRICTION_PERTURBED = 1     // Coulomb's, perturbed by sigma_t
} djPointFriction;

// Options of a model; dijoco/setting.h says what each may be. Settings of contact models are those
// of the model that `contact` names, in its units, or of the first that has them. Negative numbers
// marked "auto" are replaced by the default rules when the model is made; djModel.contact holds the
// values in force.
typedef struct djOption {
  double timestep;          // h, s
  double gravity[3];        // m/s^2
  double wind[3];           // m/s, velocity of the medium
  double density;           // kg/m^3, of the medium
  double viscosity;         // Pa s, of the medium
  int disable;              // bits of djDisable
  djIntegrator integrator;  // of time
  djImplicitTerms implicit;      // of euler: which forces depend on the velocity at the end
  djSpin spin;              // of euler: of free bodies that carry no others and that no tendon with
                            //   limits or friction loss and no equality constraint is on
  djEqualityLaw equality;   // soft: MuJoCo's law, of euler alone; hard: kept to 1e-9 of their size
  djContactModel contact;   // of pairs that name none
  int preset;               // of contact: which (dj_preset), 0: none
  djBarrierLaw barrier;     // of the separating plane
  double support;           // s of the barrier, 1; auto
  double length_scale;      // L, m
  double stiffness;         // K, J: the barrier coefficient, which multiplies the dimensionless
                            //   barrier (no spring constant); auto
  double recovery_stiffness;   // 1, part of stiffness with which overlaps recover; auto
  double skin;              // m, erosion of contact shapes; auto
  double friction_eps;      // m^2/s^2, square of the speed below which friction is viscous; auto
  double inner_radius;      // m, size of geoms that default rules see; auto: each geom's own
  double load;              // N, weight on a geom's contacts that default rules see; auto: that of
                            //   its tree
  double recovery_load;     // N, weight of a geom that recovery knows; auto: each geom's own
  double support_scale;     // 1, factor on the default of support; auto
  double stiffness_scale;   // 1, factor on the default of stiffness; auto
  double friction_eps_scale;   // 1, factor on the default of friction_eps; auto
  double tolerance;         // 1, of Newton: sqrt(decrement^2/m) <= tolerance g h
  int max_iterations;       // of Newton, per step
  int impact_steps;         // most parts of a step in which bodies close fast, or that finds no
                            //   solution whole under penalty contact; 0, 1: never cut
  djOverlap overlap;        // of geoms at the start
  djVertices vertices;      // of meshes, by which the separating plane acts
  djFriction friction;      // by plane and normal forces of which poses
  djArms friction_arms;     // where friction acts
  djCap friction_cap;       // its limit
  djLaw law;                // of contact models that have several
  double exponent;          // 1, of depth in a law; auto
  double damping;           // s/m, of a law: force times 1 + damping times approach speed; auto
  double kn, kt, kd;        // N/m, N s/m, N s/m2, of points of penalty contact; auto
  double scale;             // 1, times these; auto
  double triangles;         // 1, of geoms that are no meshes, in contact between triangles; auto
  double guide_factor;      // 1, times the default rule of guide; 0: no guide unless it is given
  double guide_radius;      // m, of a ball about a geom that holds it; auto: each geom's own
  double guide_part;        // 1, a geom's part of its body's surface; auto: each geom's own
  double guide_length;      // a, m: distance below which it levels off; auto
  int guide_backward_only;  // 1: the tail acts in derivatives alone, not in the run
  double guide_decay;       // 1.5, 1: power of the distance by which the tail's force falls; less
                            //   than 1 with guide_backward_only alone
  double guide;             // c, J: tail by which convex geoms repel from afar; 0: none; auto
  djRestitution restitution;   // where coefficients of restitution are from
  djSoftness softness;      // how deep contact begins
  double frictionloss_eps;  // rad/s or m/s, velocity below which joint friction is viscous
  double gravity_ramp;      // s; a hint for programs that run the scene
  double wrap_onset;        // 1, of the radius of what a tendon goes around: depth over which the
                            //   straight line gives way to its path, C2; 0: at once, as MuJoCo, C1
  double sigma;             // N m, of damped contact: force times distance; auto
  double damping_time;      // s, alpha times the timestep; auto
  double alpha;             // 1, damping of damped contact; auto
  double sigma_t;           // N m/s, of perturbed friction; auto
  double detect;            // m, of points that are detected, and where the law log begins; auto
  double cut;               // N, forces below it are left out where the tree of points can tell
  djPointFriction friction_law;   // of points of damped contact
  int invariant;            // 0: only points that are detected at the start of a step act
  int coordinate_derivative;   // 0: derivatives are those for fixed normals
  int normal;               // of damped contact, of which poses: 0 those where forces
                            //   are balanced, 1 the start of the step
  double theta;             // 1, of midpoint: share of v+ in the velocity of the step, 0.5 to 1
} djOption;

// Default options: MuJoCo's defaults where it has the option, ours elsewhere.
DJ_API djOption dj_defaultOption(void);

// Version as text, "X.Y.Z".
DJ_API const char* dj_version(void);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_TYPES_H_
