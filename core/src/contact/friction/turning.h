// Internal to friction: torsional and rolling friction, and the axes of a pair's tangents.
//
// Friction of a point with force has a cone in up to five dimensions (MuJoCo's elliptic one),
//   sum_i (f_i/mu_i)^2 <= 1  over two tangential forces, the torque about the normal and two about
// the tangents. Dissipation at its greatest is, with x the rates of turning about normal and
// tangents of one body against the other, rad/s, and levers l_i = mu_i/mu, m,
//   D = W sqrt(|s|^2 + y^2),   y^2 = (l_0 x_0)^2 + (l_1 x_1)^2 + (l_2 x_2)^2.
// A lever is far shorter than the bodies, so that smoothing by the speed sqrt(eps) alone would let
// them turn at sqrt(eps)/l. Turning has its own smoothing, sqrt(e) = sqrt(eps) l/R, R the bound of
// the smaller shape: it creeps as fast at that distance as points slip; of rolling l is the root of
// the mean square. With
//   b_1 = sqrt((l_1 x_1)^2 + (l_2 x_2)^2 + e_1) - sqrt(e_1),             rolling,
//   b = sqrt((l_0 x_0)^2 + (sqrt(e_0) + b_1)^2) - sqrt(e_0),             torsion,
//   D = W sqrt(|s|^2 + c^2),   c = sqrt(eps) + b,
// which is smooth and convex in (s, x), as each norm grows with its last entry. So c takes the
// place of sqrt(eps), for all points of a pair alike, and the plane's motion is found as without.
//
// theta = log(R_ar R_a^T R_b R_br^T) is the turn of b seen from a in the step, from the rate poses,
// x = theta/h in axes of the start. Of the poses now it sees how bodies lie to each other alone, so
// that torques are opposite. Between hulls the plane turns half as far as both, and the
// points of either side have half of x.
//
// Tangents are MuJoCo's: t1 is y, or z where the normal is within 60 degrees of y, less its part
// along the normal; of a capsule against a plane, its axis.

#ifndef DJ_CONTACT_FRICTION_TURNING_H_
#define DJ_CONTACT_FRICTION_TURNING_H_

#include "contact/friction/friction_plane.h"

typedef struct djTurn {
  bool acts;               // else nothing else is set
  double part;             // of theta/h that points see, 1/s
  double smooth;           // sqrt(eps), m/s
  double size;             // R, m
  djSlipAxes axes;
  djVec3 theta, axis[3];
  double lever[3];         // m; about n, t1, t2
  double x[3];             // rad/s
  double c, g[3], H[9];    // m/s; first and second derivative by x
  djVec3 by_theta;         // of c
  djVec3 slope;            // by a turn of b now, world axes; of a minus that
  djMat3 C;                // R_ar R_a^T
  djMat3 K;                // dju_pullback of -theta and -by_theta
} djTurn;

// With smoothing sqrt(eps).
void dj_fillTurn(djTurn* turn, const djLagged* lagged, const djPairInput* in, double eps);
static inline void dj_makeTurn(djTurn* turn, const djLagged* lagged, const djPairInput* in,
                               double eps) {
  const djCone* cone = &in->cone;
  turn->acts = cone->torsion > 0 || cone->rolling[0] > 0 || cone->rolling[1] > 0;
  if (turn->acts) dj_fillTurn(turn, lagged, in, eps);
}

// e of rolling or torsion.
static inline double dj_turnSmooth(const djTurn* t, double lever) {
  return t->smooth * lever / t->size;
}
static inline double dj_rollLever(const djTurn* t) {
  return sqrt(0.5 * (t->lever[1] * t->lever[1] + t->lever[2] * t->lever[2]));
}

// What friction is while Newton's method runs, with c for sqrt(eps). Nothing is foreseen of a pair
// that turns: it is eased, and then as it is.
static inline djSlipLaw dj_turnLaw(const djLagged* lagged, const djPairInput* in,
                                   const djTurn* turn) {
  if (!turn->acts) return dj_slipLaw(lagged, in);
  return (djSlipLaw){turn->c * turn->c, turn->c * turn->c, 1, false};
}

// Derivatives of friction's energy by c, at the plane's best motion: by_c = U_c, by_cc, and those
// of its gradient by twists.
typedef struct djTurnSums {
  double by_c, by_cc, mixed[12];
  double stiff;            // sum of W/r
  double plane[3];         // v_c, the plane's motion's derivative by c
} djTurnSums;
// S: between hulls, solved with eps = c^2; NULL: half space.
void dj_sumTurn(djTurnSums* sums, const djTurn* turn, const djLagged* lagged,
                const djPairInput* in, const djSlips* S);

// Adds what c depends on the poses now to the gradient, and to the Hessian where it is asked for.
void dj_addTurn(djPairOutput* out, const djTurn* turn, const djTurnSums* sums, int flags);

// Adds the same to d gradient/d start (12 x 12), in which c was held. dby_c (12): U_c', c held.
void dj_addTurnStart(double start_jac[144], djStartKind kind, const djTurn* turn,
                     const djTurnSums* sums, const double dby_c[12],
                     const djLaggedJac* jac);

// Derivative of x_axis by a turn of b now, of a minus that.
djVec3 dj_turnRow(const djTurn* turn, int axis);

// c's derivative along a motion: e = slope . turn, turn of b less that of a, now.
double dj_turnRate(const djTurn* turn, const double lambda[12]);
// Adds to grad what cotangents of c and of that derivative are as such of coefficients, normal and
// size.
void dj_addTurnVjp(djLaggedGrad* grad, const djTurn* turn, double by_c, double by_rate,
                   const double lambda[12], const djPairInput* in);

#endif  // DJ_CONTACT_FRICTION_TURNING_H_
