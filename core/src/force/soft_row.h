// A soft one-sided or bounded force along a coordinate x, given its acceleration z: MuJoCo's
// regularised constraints of limits and friction loss (Todorov, "Convex and analytically-invertible
// dynamics with contacts and constraints", 2014). With the depth rho = r - margin < 0 of the
// distance r to a bound, rates along r, and the effective inertia m of qpos0,
//   cost D/2 min(z - aref, 0)^2,   aref = -b r' - k d rho,   D = m d/(1 - d),   d = d(|rho|),
// with k = (1 - dmax)/dmax^2 limit_stiffness and b = (1 - dmax)/dmax limit_damping: beyond the
// width of the impedance d it holds a steady load as the spring limit_stiffness m does. Of friction
// loss aref = -b x', d is constant, and the cost goes on linearly from where its slope is the loss.
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

typedef struct djSoftRow {
  djRowSide side[2];
  double loss, D, aref, aref_v;   // of friction loss; loss 0: none
  double corner;                  // of z
} djSoftRow;

// Cost, its slope and curvature by z; derivatives of the slope, z held. limit: of the slope, both
// sides.
typedef struct djRowSlope {
  double f, d, dd, limit, by_x, by_v, by_range[2], by_loss;
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
djRowSlope dj_rowSlope(const djSoftRow* row, double z);

#endif  // DJ_FORCE_SOFT_ROW_H_
