// The contact kernel interface: what every contact model implements.
//
// A kernel sees two shapes, each with its body's pose now (T+) and at the start of the step (T),
// and the coefficients of the pair; never joints. It gives an energy (normal contact plus lagged
// friction dissipation over the step), its gradient by world twists of the two bodies now, the
// Hessian in exponential coordinates of each pose, and the derivative of that gradient by twists
// of the poses at the start of the step.
//
// Twists: xi = (w, v), world axes, about the point ref_a (ref_b), which is fixed in the world
// during the step and the same for start and now: x -> ref + exp(w)(x - ref) + v. The gradient of
// body a is minus the wrench on it. 12-vectors and 12x12 matrices list a, then b.

#ifndef DJ_CONTACT_KERNEL_H_
#define DJ_CONTACT_KERNEL_H_

#include "shape/shape.h"

#include <dijoco/types.h>

// Numbers of scratch that the kernels need for shapes with n padded vertices (npad) in all.
#define DJ_KERNEL_SCRATCH(n) (64 * (n))

typedef struct djPairInput {
  const djShape* a;
  const djShape* b;                // a plane, where there is one, is always b
  const djPose* pose_a;            // body poses now
  const djPose* pose_b;
  const djPose* start_a;           // and at the start of the step
  const djPose* start_b;
  djVec3 ref_a, ref_b;
  double h;
  double support;                  // s, dimensionless
  double length_scale;             // L
  double stiffness;                // K, joules: multiplies the dimensionless barrier
  double friction;                 // coefficient of the pair, >= 0
  double friction_eps;             // m^2/s^2
  double force_cap;                // W: bound of friction's normal force while recovering, N
  djArms arms;
  djCap cap;
  double inflate;                  // added to the sum of both radii (explicit pairs), metres; where
                                   //   that sum would be negative it is zero
  bool recover;                    // erode pairs that start nearer than recovery's threshold
  bool cold;                       // eval: forget warm starts
  double* scratch;                 // (nscratch) workspace of the caller
  int nscratch;
} djPairInput;

enum {
  DJ_EVAL_GRADIENT = 1,            // gradient
  DJ_EVAL_HESSIAN = 2,             // exact Hessian; implies gradient
  DJ_EVAL_MAJORIZER = 4            // friction's Hessian by the w/r I majorizer instead
};

typedef struct djPairOutput {
  double value;                    // J; infinite when the shapes overlap
  double gradient[12];
  double hessian[144];
  double gap;                      // lower bound of the distance of the contact shapes as eroded
                                   //   for this step, m; where inactive, of those before erosion
  bool active;                     // false: value and all derivatives are exactly zero
} djPairOutput;

// State of a pair: warm starts, and the quantities fixed at the start of a step. Opaque to callers
// except for what all kernels must report. Warm starts serve within a step; begin forgets those of
// earlier ones, and keeps its own only where the pair acts at the start; so that a step depends on
// its start alone, to the last bit.
typedef struct djPairState djPairState;

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
} djPairReport;

// Derivatives of lambda . gradient by parameters of the pair; added to.
typedef struct djPairGrad {
  djShapeGrad *a, *b;              // of the shapes as given, that is before recovery's erosion
  double friction, stiffness, support;
} djPairGrad;

typedef enum djSmoothness { DJ_C0, DJ_C1, DJ_C2 } djSmoothness;

typedef struct djKernel {
  const char* name;
  djSmoothness smoothness;         // of the energy in the poses; `where` names exceptions
  const char* where;
  size_t state_size;               // bytes of a djPairState
  // True if the kernel handles shapes of these two types (in this order).
  bool (*supports)(int type_a, int type_b);
  // Distance between surfaces of contact shapes beyond which the energy is zero, metres.
  double (*range)(double support, double length_scale);
  // Once per step, with pose = start: lagged plane and normal forces, recovery's erosion.
  djStatus (*begin)(djPairState* state, const djPairInput* in);
  // At the present poses. flags: DJ_EVAL_*. An infeasible pose is not an error: value = infinity.
  djStatus (*eval)(djPairOutput* out, djPairState* state, const djPairInput* in, int flags);
  // start_jac (12 x 12): d gradient / d start twists, poses now fixed.
  djStatus (*start)(double start_jac[144], djPairState* state, const djPairInput* in);
  djStatus (*report)(djPairReport* out, djPairState* state, const djPairInput* in);
  // Adds d (lambda . gradient)/d parameters to *grad, at the poses now, whatever they do to the
  // lagged quantities included: a vector-Jacobian product, its cost is that of an evaluation.
  djStatus (*vjp)(djPairGrad* grad, djPairState* state, const djPairInput* in,
                  const double lambda[12]);
} djKernel;

// Row of the table; NULL for DJ_CONTACT_NONE or an unknown model.
const djKernel* dj_kernel(djContactModel model);

#endif  // DJ_CONTACT_KERNEL_H_
