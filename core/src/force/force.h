// The interface of everything that acts: one row of the table in forces.c each.
//
// A row sees a motion (motion.h) and adds to sums (sum.h), by what it is: minus its forces as the
// gradient of an energy where it has one. Functions that a row does not need are NULL.

#ifndef DJ_FORCE_FORCE_H_
#define DJ_FORCE_FORCE_H_

#include "contact/contact.h"
#include "force/sum.h"
#include "math/pattern.h"
#include "model/body_term.h"
#include "model/frame_param.h"
#include "model/param.h"

// Derivatives of the gradient by inputs, ctrl and act, column after column.
typedef struct djInputSum {
  djEntries* Ru;       // (nv x nu)
  djEntries* Ra;       // (nv x na)
  struct djTwistForces* twist;
} djInputSum;

// Where derivatives of z . gradient by parameters are summed, over the steps of a run.
typedef struct djParamSums {
  double* param;       // (dj_paramGradSize, model/param.h)
  double* tensor;      // (nbody x 6) by inertia tensors, model/body_param.h
  struct djQuadratic* moment;   // (nbody) by moments of masses that follow geoms
  djShapeGrad* shape;  // (ngeom) by contact shapes
  // Of one step: twists of bodies along z; wrenches; cotangents by the poses at the point (see
  // dj_frameParamsSecond), at the start, at `rate`. (nbody x 6 each)
  double *x, *W, *C, *C0, *Crate;
  double* Cpast;       // and at `past`, where that is known
  double* Cback;       // (nbody x 6) scratch
  double* zeta;        // (nv) scratch
  // What is asked for, as sums of DJ_BY_* (model/param.h): in all, and of each body (nbody).
  int wants;
  unsigned char* of_body;
  // Fields at the point that dj_frameForces is still to add: all frames are visited once.
  int nfield;
  djFrameField field[DJ_MAX_FRAME_FIELD];
  struct djTwistForces* twist;   // of prompt motions
} djParamSums;

// A configuration, and the frames there that are asked for.
static inline djConfig dj_wantedConfig(const djParamSums* s, const djKin* kin, const double* q,
                                       const djVec3* ref) {
  return (djConfig){kin, q, ref, s->of_body};
}

// Where cotangents by the poses of `rate` are summed: with those of the start where both are one.
static inline double* dj_rateCotangents(djParamSums* s, const djMotion* at) {
  return at->rate.kin == at->at0.kin ? s->C0 : s->Crate;
}

enum {
  DJ_FORCE_DERIVATIVES = 1,
  DJ_FORCE_MAJORIZER = 2   // positive semi-definite substitutes are welcome
};

// Minus slopes of forces along coordinates by their rates, beside damping of joints
// (integrate/euler_rates.c).
typedef struct djRateSum {
  double* slope;       // (ncoord)
  double* bend;        // (ncoord) derivative of slope by the rate
  double* by_x;        // (ncoord) by the coordinate
  const double* y;     // (ncoord), or NULL: of the sum of y slope the derivative by parameters is
  double* param;       //   added, too
} djRateSum;

typedef struct djForceRow {
  const char* name;
  int acts;            // a sum of djActing; 0: smooth
  bool along;          // it acts along coordinates and joints: it names slopes and curvatures there
  // Bytes of its state, which is zero at first. make sets up what the bytes alone do not (state is
  // of that size), and free releases that.
  size_t (*size)(const djModel* model);
  djStatus (*make)(void* state, const djModel* model, djError* err);
  void (*free)(void* state);
  void (*forget)(void* state);   // what may outlive a step
  // Start of a step: fixes what is lagged. at->at is the start.
  djStatus (*begin)(void* state, const djMotion* at, djError* err);
  // After begin: coordinates that bend have moved at `rate`.
  void (*move_rates)(void* state, const djMotion* at);
  // Adds forces on bodies (nbody) that the step's start fixes. A row that has these alone needs
  // nothing else but params of its own: load_params adds d(u . force)/d parameter of body b, whose
  // centre of mass moves by u.
  void (*loads)(djLoad* load, const djMotion* at);
  void (*load_params)(double* param, const djMotion* at, int body, djVec3 u);
  // Before `evaluate`, at the same point, where what couples depends on it: adds the energy to
  // value (infinite: the point is not allowed, and nothing else is called). flags: DJ_FORCE_*.
  // *majorized: set where a substitute is in use.
  djStatus (*find)(double* value, bool* majorized, void* state, const djMotion* at, int flags);
  // Names the dofs that it couples beside those of one tree: dj_coupleRows.
  void (*couple)(djPattern* pattern, const void* state, const djModel* model);
  // Adds energy, unless `find` did, and, if sum->derivatives, all else.
  djStatus (*evaluate)(djForceSum* sum, void* state, const djMotion* at);
  // Forces without an energy, or whose derivative is not symmetric, are added by themselves: to
  // gradient (nv), which is not the sum's, and to the sum's H, of which both triangles hold the
  // rest by then; in axes that move with the dofs. is_nonpotential: the model has such; NULL:
  // in prompt motions, and of smooth forces by the start, alone.
  bool (*is_nonpotential)(const djModel* model);
  void (*nonpotential)(djForceSum* sum, double* gradient, void* state, const djMotion* at);
  // Derivatives by the start and by inputs, at the point of the last evaluation.
  djStatus (*start)(djStartSum* sum, void* state, const djMotion* at);
  // And by at->past, which is known, into R.
  djStatus (*past)(djMatrix* R, void* state, const djMotion* at);
  // Where lagged quantities belong to at->lag, which is the point: derivatives by that, into H and
  // bodies' N (nbody x 36).
  djStatus (*lag)(djMatrix* H, double* N, void* state, const djMotion* at);
  void (*inputs)(djInputSum* sum, void* state, const djMotion* at);
  // Adds d(z . gradient)/d parameter, z (nv), at the point; zeta (nv): z as the displacements of
  // free and ball joints move.
  djStatus (*params)(djParamSums* sums, void* state, const djMotion* at, const double* z,
                     const double* zeta);
  int params_of;       // by which params are called at all: a sum of DJ_BY_*
  // Of smooth forces at the start: adds minus their slopes by rates, see djRateSum.
  void (*rates)(djRateSum* sum, const void* state, const djMotion* at);
  // Largest fraction of the way to the poses of `trial` that may be taken at once; *fraction holds
  // that of other rows, 1 at first.
  djStatus (*max_step)(double* fraction, void* state, const djMotion* at, const djKin* trial);
  // Energy at the point that counts as potential.
  double (*potential)(const djMotion* at);
  // Results of a step for data, at its end.
  djStatus (*report)(djData* data, void* state, const djMotion* at);
} djForceRow;

static inline bool dj_rowActs(const djForceRow* row, djActing acting) {
  return ((row->acts ? row->acts : DJ_ACTS_SMOOTH) & (int)acting) != 0;
}

// All of them, in the order in which they are asked: X(enumerator, name) of dj_NAMEForce.
#define DJ_FORCES(X)                                                                  \
  X(CONTACT, contact) X(APPLIED, applied) X(GRAVITY, gravity) X(DRAG, drag)           \
  X(DAMPER, damper) X(SPRING, spring) X(LIMIT, limit) X(ACTUATOR, actuator)           \
  X(HOLD, hold) X(FLEX_EDGE, flexEdge) X(FLEX_ELEMENT, flexElement)                   \
  X(FLEX_FLAP, flexFlap)

#define DJ_FORCE_DECLARED(id, name) extern const djForceRow dj_##name##Force;
DJ_FORCES(DJ_FORCE_DECLARED)

#endif  // DJ_FORCE_FORCE_H_
