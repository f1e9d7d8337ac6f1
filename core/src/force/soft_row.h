// A soft one-sided or bounded force along a coordinate x, given its acceleration z: MuJoCo's
// regularised constraints of limits and friction loss (Todorov, "Convex and analytically-invertible
// dynamics with contacts and constraints", 2014). With the depth rho = r - margin < 0 of the
// distance r to a bound, rates along r, and the effective inertia m of qpos0,
//   cost D/2 min(z - aref, 0)^2,   aref = -b r' - k d rho,   D = m d/(1 - d),   d = d(|rho|),
// with k = (1 - dmax)/dmax^2 limit_stiffness and b = (1 - dmax)/dmax limit_damping: beyond the
// width of the impedance d it holds a steady load as the spring limit_stiffness m does. Of friction
// loss aref = -b x', d is constant, and the cost goes on linearly from where its slope is the loss.
// An equality constraint costs D/2 (z - aref)^2 with aref = -b x' - k d(|r|) x, r the vector of all
// its numbers x, less the part of x'' that velocities make.
// Corners of slopes are rounded, within DJ_ROW_CORNER of displacement in a step of 2 ms or more,
// and within the same acceleration in shorter ones.

#ifndef DJ_FORCE_SOFT_ROW_H_
#define DJ_FORCE_SOFT_ROW_H_

#include <stdbool.h>

// m or rad; s: the cost's second derivative is continuous.
#define DJ_ROW_CORNER 1e-7
#define DJ_ROW_CORNER_STEP 0.002

// One side; out: direction of pressing in. By x and its rate: derivatives of D and aref.
typedef struct djRowSide {
  bool acts;
  double out, D, aref, D_x, aref_x, aref_v;
} djRowSide;

// Two-sided; derivatives by x, |r| and x'; that by the part of x'' is -1.
typedef struct djRowHold {
  bool acts;
  double D, aref, D_size, aref_x, aref_size, aref_v;
} djRowHold;

typedef struct djSoftRow {
  djRowSide side[2];
  double loss, D, aref, aref_v;   // of friction loss; loss 0: none
  double corner;                  // of z
  djRowHold hold;
} djSoftRow;

// Cost, its slope and curvature by z; derivatives of the slope, z held. limit: of the slope, both
// sides. by_size: by |r|; by_bias: by the part of x'' that velocities make.
typedef struct djRowSlope {
  double f, d, dd, limit, by_x, by_v, by_range[2], by_loss, by_size, by_bias;
} djRowSlope;

// What both a joint and a tendon have.
typedef struct djLimitDef {
  double bound[2], margin, stiffness, damping, inertia;
  const double* impedance;   // (5)
} djLimitDef;

// At x with the rate v. False: nothing acts there.
bool dj_setRowLimit(djSoftRow* row, const djLimitDef* limit, double x, double v);
bool dj_setRowLoss(djSoftRow* row, double loss, double damping, double impedance, double inertia,
                   double v);
// Of one of an equality constraint's numbers, x, |r| = size. k and b by stiffness and damping as
// those of a limit; margin and bounds are not used. bias: the part of x'' that velocities make.
void dj_setRowHold(djSoftRow* row, const djLimitDef* law, double x, double v, double size,
                   double bias);
djRowSlope dj_rowSlope(const djSoftRow* row, double z);

#endif  // DJ_FORCE_SOFT_ROW_H_
