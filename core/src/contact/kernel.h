// The contact kernel interface: what every contact model implements.
//
// A kernel sees two contact shapes, which it has made of geoms itself, each with its body's pose
// now (T+) and at the start of the step (T), the velocities that the integrator chose, its own
// settings in force and the coefficients of the pair; never joints. It gives minus the wrenches on
// both bodies, with their derivatives by poses, velocities and the start. Where it has an energy
// (normal contact, and what is lagged from the start: friction's dissipation over the step) this is
// the energy's gradient.
//
// Twists: xi = (w, v), world axes, about the point ref_a (ref_b), which is fixed in the world
// during the step and the same for start and now: x -> ref + exp(w)(x - ref) + v. The gradient of
// body a is minus the wrench on it. 12-vectors and 12x12 matrices list a, then b.
//
// A kernel is one file that ends with its row, and one line of contact/kernel_table.c. Entries of a
// row that are marked "or NULL" may be left out. contact/shapes/convex.h has shapes, gaps and
// depths for kernels between convex hulls.

#ifndef DJ_CONTACT_KERNEL_H_
#define DJ_CONTACT_KERNEL_H_

#include "model/kernel_setting.h"
#include "shape/distance.h"
#include "shape/shape.h"

#include <dijoco/data.h>
#include <dijoco/model.h>

#include <stdint.h>

// Numbers of scratch that the kernels need for shapes with n padded vertices (npad) in all.
#define DJ_KERNEL_SCRATCH(n) (64 * (n))

// ------------------------------ shapes ----------------------------------------------------------

// A geom of which a kernel makes its contact shape.
typedef struct djGeomSource {
  const djModel* model;
  int geom;
  double inner;              // radius of the largest ball in the geom, m; infinite for planes
  const struct djHull* hull; // of a mesh's vertices; else NULL
  const struct djHull* first;   // and as it was when the model was compiled
  const struct djGrid* grid;    // its distance field, where that is wanted; else NULL
  double skin;               // what the row's `skin` found, m
  double deeper;             // by how much more its contact is to begin inside of it, m
  bool all;                  // shapes of a mesh have all its vertices, not its hull's alone
  const djShape* old;        // what the kernel made of it before; or NULL
} djGeomSource;

// What the list of near pairs must know of a shape.
typedef struct djShapeBounds {
  double box[6];             // centre and half extents, body frame, m; not of planes
  double inflate;            // margin - gap of the geom, as far as the shape has it, m
  double beyond;             // how far the geom itself reaches beyond its shape at most, m
} djShapeBounds;

// Two geoms of a model, where they are, and their shapes.
typedef struct djGeomPair {
  const djModel* model;
  int geom_a, geom_b;
  const djShape *a, *b;
  const djShapeBounds *bounds_a, *bounds_b;
  const djPose *pose_a, *pose_b;
  double inflate;            // as in djPairInput
  double* scratch;           // DJ_KERNEL_SCRATCH of both shapes
} djGeomPair;

// A motion from poses now to others, of which a part may be taken.
typedef struct djPairMotion {
  const djPose *trial_a, *trial_b;
  const double* setting;
  double move;               // bound of what both bodies' points move, m
} djPairMotion;

// ------------------------------ pairs -----------------------------------------------------------

// What eval evaluates while Newton's method runs: the pair as it is; an easier one near which it
// has its solution (friction with ease_eps); the value of the easier one, and the derivatives of
// the pair as it is where its solution is foreseen, carried to the poses now. A kernel that knows
// of nothing easier takes no notice.
typedef enum djEase { DJ_EASE_NONE, DJ_EASED, DJ_EASE_FORESEEN } djEase;

// Coefficients of friction beside the first, or derivatives by them. All zero: there is nothing but
// sliding, alike in all directions.
typedef struct djCone {
  double friction2;                // of sliding along the second tangent; 0: as along the first
  double torsion, rolling[2];      // about the normal and both tangents, m
} djCone;

// Whether a pair with such a coefficient, djPairInput.friction, has friction at all.
static inline bool dj_slides(double friction) { return friction > 0; }

typedef struct djPairInput {
  const djShape* a;
  const djShape* b;                // a plane, where there is one, is always b
  const djPose* pose_a;            // body poses now
  const djPose* pose_b;
  const djPose* start_a;           // and at the start of the step
  const djPose* start_b;
  const djPose* past_a;            // and a step earlier, by the start's velocity; NULL: unknown
  const djPose* past_b;
  const djPose* rate_a;            // the poses from which the displacement of the step is measured,
  const djPose* rate_b;            //   over h: velocities; the same pointers as start where equal
  djVec3 ref_a, ref_b;
  const double* twist_a;           // (6 each) velocities that the integrator chose (angular,
  const double* twist_b;           //   linear), world axes, about ref, at the poses now
  double timestep;                 // s; the model's, which settings and rules are about
  double h;                        // s; of the displacement that is a velocity: of a stage, and the
                                   //   timestep may be solved in parts (integrate/work.h)
  double rest;                     // s; from the poses now to the step's end, at these velocities
  const double* setting;           // in force, in the order of the kernel's rows
  double friction;                 // coefficient of the pair, >= 0; 0: normal forces alone act
  djCone cone;                     // where it is not all zero friction > 0
  double force_cap;                // W: total movable weight, N
  double inflate;                  // added to the sum of both radii (explicit pairs), metres; where
                                   //   that sum would be negative it is zero
  double lower;                    // part of -inflate by which a plane, b, is lower; the rest is
                                   //   the other shape's, m
  double guide_part;               // what a guide acts with: a geom's part of its body's surface,
                                   //   times that of the other; 0: not at all
  double guide_scale;              // l, m: sum of both bounding radii, held
  double recovery_part;            // P/W of the pair, held: the lesser weight that both bodies show to
                                   //   a push, over that on the contact
  bool recover;                    // pairs that start overlapping are to come apart
  bool cold;                       // eval: forget warm starts
  djEase ease;                     // eval
  double ease_eps;                 // eased, the square of friction's viscous speed is no less, m2/s2
  int iterate;                     // eval: trials from the same point of Newton's method have the
                                   //   same, each accepted one the next; 0: outside of it
  size_t state_size;               // bytes of the state; 0: nothing is to be kept in it
  double* scratch;                 // (nscratch) workspace of the caller
  int nscratch;
} djPairInput;

enum {
  DJ_EVAL_GRADIENT = 1,            // gradient
  DJ_EVAL_HESSIAN = 2,             // exact Hessian; implies gradient; and twist_jac
  DJ_EVAL_MAJORIZER = 4            // a positive semi-definite Hessian above the exact one instead,
                                   //   where the kernel has one; else the same
};

typedef struct djPairOutput {
  double value;                    // J; infinite when the shapes overlap where they must not; 0 of
                                   //   kernels without an energy
  double gradient[12];             // N m, N
  double hessian[144];             // (12 x 12) of the value, or d gradient/d pose in the same
                                   //   exponential coordinates, velocities held (world components)
  double* twist_jac;               // (12 x 12) d gradient/d twists: the caller's memory, filled by
                                   //   kernels with uses_twist; NULL: not wanted
  double gap;                      // lower bound of the distance of the contact shapes as eroded
                                   //   for this step, m; where inactive, of those before erosion
  bool eases;                      // DJ_EASED is something else than DJ_EASE_NONE
  bool active;                     // false: value and all derivatives are exactly zero
} djPairOutput;

// State of a pair: warm starts, and the quantities fixed at the start of a step. Opaque to callers
// except for what all kernels must report. Warm starts serve within a step; begin forgets those of
// earlier ones, and keeps its own only where the pair acts at the start; so that a step depends on
// its start alone, to the last bit.
typedef struct djPairState djPairState;

// How the gradient follows the poses of a step before the start (djPairInput.past_a): by one number
// alone. Its derivative by twists of theirs is the product of both, (12 x 1) (1 x 12).
typedef struct djPairPast {
  double by[12], number[12];
} djPairPast;

// What a pair did in the step, for reports: forces and where they act, with poses now.
typedef struct djPairReport {
  double gap;                      // between contact shapes as eroded for this step, m
  double gap_start;                // signed, skin-eroded shapes at the start of the step; valid
                                   //   where it is below the range
  bool recovering;
  double erosion;                  // further erosion e, m
  djVec3 normal;                   // unit, from a to b
  djVec3 point;                    // on the plane, weighted by normal force
  double normal_force;             // N
  double wrench_a[6], wrench_b[6]; // normal and friction, about ref_a, ref_b
  uint64_t kink[DJ_NKINK];         // sums of hashes of what acts on one side of each set (djStats)
} djPairReport;

// What acts at a point of one geom in the field of the other.
typedef struct djPairPoint {
  bool of_b;                       // of b, in the field of a; else of a in that of b
  djVec3 x;                        // where the force acts, world
  djVec3 normal;                   // unit, out of the field
  djVec3 force;                    // on the point's body, N
  double distance;                 // m; negative: inside
  int state;                       // djcPointState
} djPairPoint;
typedef void (*djPairPointVisit)(void* user, const djPairPoint* point);

// Derivatives of lambda . gradient by parameters of the pair; added to.
typedef struct djPairGrad {
  djShapeGrad *a, *b;              // of the shapes as given, that is before recovery's erosion
  double friction;
  djCone cone;
  double setting[DJ_MAX_OF_KERNEL];   // those that are parameters
} djPairGrad;

// ------------------------------ queries ---------------------------------------------------------

struct djContactQuery;             // contact/kernel_query.h
struct djPairPlane;                // contact/rows.h
struct djPairRows;

// ------------------------------ rows ------------------------------------------------------------

typedef enum djSmoothness { DJ_C0, DJ_C1, DJ_C2 } djSmoothness;

// What holds of a kernel under its settings in force, which are then those of the scene.
typedef struct djTraits {
  bool energy;                     // `value` is a potential, and `gradient` its gradient
  bool symmetric;                  // so is `hessian`
  bool uses_twist;                 // velocities act: twist_jac is filled
  bool overlaps;                   // shapes may overlap: no start is refused
  bool limits;                     // max_step limits motions
} djTraits;

typedef struct djKernel {
  const djKernelSettings* settings;   // with its name: model/kernel_setting.h
  djSmoothness smoothness;         // of the gradient plus one in the poses; `where`: exceptions
  const char* where;
  djTraits traits;
  size_t state_size;               // bytes of a djPairState
  size_t hfield_state_size;        //   of pairs with a height field; 0: the same
  // Those of a model whose shapes have at most so many vertices, `most` where it wants more than
  // that and can do with less. Or NULL: the same.
  size_t (*stateSize)(int nvert, size_t most);
  const djPreset* preset;          // which the first setting chooses, up to one without a name; or
                                   //   NULL: it has none. They set what has no rule

  // Changes the traits to those under settings, which are the same for all pairs. Or NULL.
  void (*vary)(djTraits* traits, const double* setting);
  // True if the kernel handles shapes of these two types (in this order).
  bool (*takes)(int type_a, int type_b);
  // Distance between surfaces of contact shapes beyond which nothing acts, metres; may be infinite.
  // Of pairs that act `afar`: beyond which they do no more than that.
  double (*range)(const double* setting);
  // Whether a pair acts at all distances, with no friction and limiting no step beyond the range.
  // Or NULL: none does.
  bool (*afar)(const double* setting);
  // What is wrong with settings that are given together (negative: not given). Or NULL: nothing.
  const char* (*conflict)(const djContactScale* scale, const double* given);
  bool slidesAlone;                // pairs with other friction than sliding, alike in all directions,
                                   //   are refused; those with friction have no derivatives by
                                   //   what moves shapes
  bool convex;                     // shapes are their convex hulls, whose distance dj_distance finds
  bool everywhere;                 // what acts afar is the pair's own energy, and no guide's
  // Takes back settings that a pair of geoms does not have. Or NULL.
  void (*limit)(double* setting, const djModel* model, int geom1, int geom2);
  // How much smaller than the geom its contact shape is (djGeomSource.skin), metres; found where
  // default rules are applied, and kept when parameters change. inner: as there. Or NULL: 0.
  double (*skin)(const double* setting, double inner);
  // Whether a geom's shape, of a mesh, has a distance field. Or NULL: none has.
  bool (*wantsGrid)(const djModel* model, int geom);
  // Radius of a geom's points, which ask for distances that far from fields of others, m. Or NULL: 0.
  double (*pointRadius)(const djModel* model, int geom);
  // Numbers of memory that a geom's shape needs.
  int (*shapeSize)(const djGeomSource* from);
  // The shape, with its arrays in mem, which begins at a multiple of DJ_ALIGN. Else the error says
  // what is wrong with it; the caller names the geom.
  djStatus (*makeShape)(djShape* shape, djShapeBounds* bounds, double* mem,
                        const djGeomSource* from, djError* err);
  // Adds the derivative by the geom's parameters to param (model/param.h), given that by its shape.
  // Or NULL: shapes have no derivatives.
  djStatus (*shapeParams)(double* param, const djGeomSource* from, const djShape* shape,
                          const djShapeGrad* grad);

  // Turns settings into those by which a touch is told early (contact/pairs/touch.h), at stiffness
  // 1, and returns the force at a touch. by (or NULL): on entry derivatives by the settings that it
  // makes, but first the one by that force; on return those by what it has been given. Or NULL:
  // pairs do not touch.
  double (*touch)(double* setting, double* by);
  // Signed distance of two shapes as they are (no recovery), and where. cache: of the pair, or
  // NULL.
  djStatus (*gap)(djDistance* d, djDistanceCache* cache, const djGeomPair* pair);
  // How deep the geoms themselves overlap (<= 0: apart), m; with `along` (unit, from a to b) no
  // less than that, at little cost. Or NULL: nobody asks.
  djStatus (*depth)(double* depth, const djVec3* along, const djGeomPair* pair);

  // Largest step. A motion is taken whole where it moves points by less than `share` of (gap +
  // room). room may be infinite. Else max_step lowers *factor to the part of the motion that may be
  // taken, from the poses in pair; *gap is found on the way. NULL: any motion may be taken.
  double share;
  double (*room)(const double* setting, const djShape* a, const djShape* b);
  djStatus (*max_step)(double* factor, double* gap, const djGeomPair* pair,
                       const djPairMotion* motion);

  // Once per step, with pose = start: what the step fixes, as lagged forces and recovery's erosion.
  // Or NULL: nothing. A state of zeros is that of a pair that has not begun.
  djStatus (*begin)(djPairState* state, const djPairInput* in);
  // Whether what has been fixed is more than friction's plane and forces: then the pair keeps it
  // under option friction = implicit, which else lets begin fix them anew, with pose = start = an
  // iterate of the step's end, rate = the start, and recover = false. Or NULL: never.
  bool (*recovers)(const djPairState* state);
  // At the present poses. flags: DJ_EVAL_*. An infeasible pose is not an error: value = infinity.
  djStatus (*eval)(djPairOutput* out, djPairState* state, const djPairInput* in, int flags);
  // The same energy as rows, at the present poses. Or NULL: it has none.
  djStatus (*rows)(struct djPairRows* rows, struct djPairPlane* plane, djPairState* state,
                   const djPairInput* in);
  // d gradient / d start twists, poses and velocities now fixed (12 x 12). Where rate poses are
  // others than start poses the part by these, the other ones fixed, goes to rate_jac (12 x 12);
  // else rate_jac is not touched, and start and rate poses move together. Or NULL: all zero.
  djStatus (*start)(double start_jac[144], double rate_jac[144], djPairState* state,
                    const djPairInput* in);
  // What depends on poses of a step before, the poses now and at the start fixed. *any: false where
  // nothing does, and *past is void. Or NULL: never.
  djStatus (*past)(bool* any, djPairPast* past, djPairState* state, const djPairInput* in);
  // Or NULL: gap, normal and point of `gap`, and the wrenches of eval.
  djStatus (*report)(djPairReport* out, djPairState* state, const djPairInput* in);
  // Visits the points that are inside of the other geom, whose forces are all that acts. Or NULL:
  // it acts not at points.
  djStatus (*points)(const djPairInput* in, djPairPointVisit visit, void* user);
  // Adds d (lambda . gradient)/d parameters to *grad, at the poses now, whatever they do to the
  // lagged quantities included: a vector-Jacobian product, its cost is that of an evaluation. Or
  // NULL: there are no derivatives by parameters where such a pair acts.
  djStatus (*vjp)(djPairGrad* grad, djPairState* state, const djPairInput* in,
                  const double lambda[12]);
  // Makes of a query's shapes, which are convex ones, those of the kernel; memory: query->own. Or
  // NULL: they are.
  djStatus (*queryShapes)(struct djContactQuery* query, djError* err);
  // What a query asks beyond that (djc_pair): planes, derivatives by vertices. Or NULL.
  djStatus (*query)(struct djContactQuery* query, djError* err);
} djKernel;

// Row of the table; NULL for DJ_CONTACT_NONE or an unknown model. dj_kernelTable ends with NULL.
extern const djKernel* const dj_kernelTable[];
const djKernel* dj_kernel(int model);

// The traits under a kernel's settings; those of a model's kernel, a row of the table.
djTraits dj_traitsUnder(const djKernel* kernel, const double* setting);
djTraits dj_modelTraits(const djModel* m, int kernel);
// There is an energy, and nothing else: derivatives of forces are symmetric.
static inline bool dj_isPotential(const djTraits* t) {
  return t->energy && t->symmetric && !t->uses_twist;
}

// Bytes of a djPairState of one of these types of geoms.
static inline size_t dj_pairStateSize(const djKernel* kernel, bool hfield) {
  return hfield && kernel->hfield_state_size ? kernel->hfield_state_size : kernel->state_size;
}

// The first row of the table that takes two types of geoms in some order, or -1.
int dj_kernelOf(int type_a, int type_b);
// The row takes the type together with some other.
bool dj_kernelTakes(const djKernel* kernel, int type);

// Entries of a row, or what stands for those that it leaves out.
djStatus dj_beginPair(const djKernel* kernel, djPairState* state, const djPairInput* in);
djStatus dj_startPair(double start_jac[144], double rate_jac[144], const djKernel* kernel,
                      djPairState* state, const djPairInput* in);
djStatus dj_reportPair(djPairReport* out, const djKernel* kernel, djPairState* state,
                       const djPairInput* in);

// Settings by given values (negative: by their rules), into setting (nsetting). Else the error says
// what is wrong with which.
djStatus dj_applyRules(double* setting, const djKernel* kernel, const djContactScale* scale,
                       const double* given, djError* err);
// The same, whatever the values.
void dj_fillByRules(double* setting, const djKernel* kernel, const djContactScale* scale,
                    const double* given);
// All values are as the rows want them.
bool dj_settingsValid(const djKernel* kernel, const double* setting);

#endif  // DJ_CONTACT_KERNEL_H_
