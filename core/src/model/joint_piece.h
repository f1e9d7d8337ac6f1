// Internal to the joint terms: pieces of a block's energy that derivatives by parameters need too.

#ifndef DJ_MODEL_JOINT_PIECE_H_
#define DJ_MODEL_JOINT_PIECE_H_

#include "math/smooth.h"
#include "model/joint_term.h"

// Width over which a limit's spring sets in, as a fraction of the joint's range.
#define DJ_LIMIT_WIDTH 0.01

static inline double dj_limitWidth(const djModel* m, int j) {
  const double* range = m->jnt_range + 2 * j;
  return DJ_LIMIT_WIDTH * (m->jnt_type[j] == DJ_BALL ? range[1] : range[1] - range[0]);
}

// Whether the width in force is that one; otherwise it is a constant.
static inline bool dj_widthFollows(double width) { return width > 1e-9 && isfinite(width); }

// Spring along a signed coordinate: f = -(a x + b x^2 + c x^3).
djJet dj_springPotential(const djModel* m, int j, double x);

bool dj_hasSpring(const djModel* m, int j);
bool dj_hasLimit(const djModel* m, int j);

// y += V'(r) x/r and Y += V'' e e^T + V'/r (I - e e^T) of a radial potential V(|x|).
void dj_addRadial(double y[3], double Y[9], double* value, djJet V, djVec3 x, double r);

// Damping of a limit at speed u into the bound. c: coefficient, F: the spring's force, both at the
// start of the step. Pressing in it is linear, energy rate c u^2/2. On the way out it never
// outweighs the spring: F (sqrt(u^2 + w^2) - w) with w = F/c, which has the same curvature at rest
// and the slope F far from it. Beside value and derivatives by u, the slope's by c and F.
djJet dj_limitDamping(double* by_c, double* by_F, double u, double c, double F);

#endif  // DJ_MODEL_JOINT_PIECE_H_
