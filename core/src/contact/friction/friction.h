// Lagged plane-mediated friction (SDRS eq. 8-13), shared by contact kernels.
//
// At the start of the step a kernel gives the plane and, for each vertex that carries normal
// force, the vertex and the force. Friction's energy is
//   U_f = min over u in R^2, w in R of  sum_i mu h A(f_i) sqrt(|slip_i|^2 + eps),
//   slip_i = B^T (x_i(T+) - x_i(T))/h - (w B^T (n x (y_i - c)) + u),
// T being the rate poses (the start, unless the integrator measures the velocity from others), with
// x_i body-fixed: the vertex (arms = paper) or its projection onto the plane (arms = plane).
// Against a half space there is no (u, w): the plane moves with body b, and only a's vertices
// count.
//
// Where all points coincide (within 1e-4 of the smaller shape's bound), a small spin term makes w
// determinate; see friction_plane.c. Points without force cost nothing. More than 240 points with
// force need scratch, 11 numbers each and 176 more, else the result is DJ_NO_MEMORY.
// DJ_NOT_CONVERGED: the plane's motion was not found to rounding; the result is usable.

#ifndef DJ_CONTACT_FRICTION_FRICTION_H_
#define DJ_CONTACT_FRICTION_FRICTION_H_

#include "contact/kernel.h"

// How friction follows from forces and slips: a kernel's settings.
typedef struct djFrictionLaw {
  double eps;              // square of the speed below which friction is viscous, m^2/s^2
  djArms arms;
  djCap cap;
  double length;           // stands in for the size of shapes that have none, m
} djFrictionLaw;

// A point with force in Newton's method, in tangents that depend on the normal alone: the slip at
// which it was linearised and the force y there, |y| <= 1; at the present iterate and at the last
// evaluation. See friction_dual.c.
typedef struct djDualPoint {
  double slip[2], force[2];
} djDualPoint;
typedef struct djDualPair {
  djDualPoint now, next;
} djDualPair;
#define DJ_DUAL_POINTS 16   // at most

// What a kernel fixes at the start of the step. World frame, poses at the start.
typedef struct djLagged {
  int n, na;               // points; the first na are a's, the rest b's
  const double* point;     // (n x 3) at the start: vertices (of rounded shapes: sphere centres;
                           //   of curved shapes: points of their ellipsoids)
  const double* force;     // (n) normal force, >= 0, N
  djVec3 normal;           // unit, from a to b
  double offset;           // plane: normal . x + offset = 0, metres
  bool half_space;         // the plane belongs to body b
  djFrictionLaw law;
  djDualPair* dual;        // (ndual) of the kernel's state; more points with force have none
  int ndual;
} djLagged;

// Their derivatives by the start twists (12 columns: a, then b, about ref_a and ref_b).
typedef struct djLaggedJac {
  const double* slide[2];  // (nslide x 3 x 12) of a and b: by how much points move more than with
  int nslide[2];           //   their bodies, the same for every nslide-th of a body; NULL: not
  const double* dforce;    // (n x 12)
  double dnormal[36];      // (3 x 12)
  double doffset[12];
} djLaggedJac;

// Warm start: plane motion of the last evaluation in a world-fixed form.
typedef struct djFrictionState {
  double u[3];             // tangential velocity of the plane at the centre c, world axes
  double w;                // spin about the normal
  int iterations;
  int iterate;             // to which `now` of dual points belongs
  int nnow, nnext;         // dual points
} djFrictionState;

// Energy, gradient and Hessian by twists of the poses now; adds to out (value, gradient, hessian),
// which is void on failure.
djStatus dj_frictionEval(djPairOutput* out, djFrictionState* state, const djLagged* lagged,
                         const djPairInput* in, int flags);

// Adds d gradient / d start twists to start_jac (12 x 12), and where rate poses are others the part
// by those to rate_jac (12 x 12).
djStatus dj_frictionStart(double start_jac[144], double rate_jac[144], djFrictionState* state,
                          const djLagged* lagged, const djLaggedJac* jac, const djPairInput* in);

// Adds d gradient by a change of the forces alone, the first of dforce's (n x 12) columns, to
// jac (12).
djStatus dj_frictionByForces(double jac[12], djFrictionState* state, const djLagged* lagged,
                             const double* dforce, const djPairInput* in);

// Derivatives of lambda . gradient by what a kernel fixed at the start of the step, and by the
// coefficient; overwritten.
typedef struct djLaggedGrad {
  double* point;           // (n x 3) world
  double* force;           // (n)
  double normal[3];        // its component along the normal means nothing
  double offset;
  double coefficient;
  djCone cone;
  djVec3 along;            // by the guide of the first tangent (djSlipAxes); world
  double size;             // bound of the smaller shape
} djLaggedGrad;

// The shape of which djLaggedGrad.size is, 0 or 1; -1: none has a size.
int dj_smallerShape(const djPairInput* in);

static inline void dj_addCone(djCone* sum, const djCone* more) {
  sum->friction2 += more->friction2;
  sum->torsion += more->torsion;
  for (int i = 0; i < 2; i++) sum->rolling[i] += more->rolling[i];
}

// lambda (12): twists of both bodies now. grad->point and grad->force are the caller's.
djStatus dj_frictionVjp(djLaggedGrad* grad, djFrictionState* state, const djLagged* lagged,
                        const djPairInput* in, const double lambda[12]);

#endif  // DJ_CONTACT_FRICTION_FRICTION_H_
