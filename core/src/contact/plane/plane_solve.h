// The inner problem of the separating-plane model: the plane between two clouds of vertices.
//
// Everything here is dimensionless (lengths divided by L) and in a frame with world axes centred
// near the contact. A plane is p = (n, o); side a has sign -1, side b +1.

#ifndef DJ_CONTACT_PLANE_PLANE_SOLVE_H_
#define DJ_CONTACT_PLANE_PLANE_SOLVE_H_

#include "math/barrier.h"
#include "math/small.h"
#include "math/vec.h"

#include <dijoco/types.h>

// A guide's tail in the place of the barrier: with x_i = sigma (n.y_i + o) vertex i has
// w_i/(x_i + a), and |n| has cap |n|/(1 - |n|).
typedef struct djTail {
  const double* weight;    // (n) w_i, in lanes as the vertices
  double total[2];         // of each side
  double offset, cap;
} djTail;

// Vertices of both sides as sigma (y_i, 1), sigma the side's sign; a's first, n in all. The arrays
// extend to a whole number of lanes; what follows the n vertices repeats some of b's.
typedef struct djClouds {
  int na, n;
  const double* x[4];
  const double* lift;      // radius
  double r[2];
  bool curved;             // the vertices of some side have ellipsoids
  djMat3 curve[2];         // G of shape/curve.h, world axes; zero for none
  const djTail* tail;      // or NULL. With it nothing is round: r, curved and lift do not count
} djClouds;

// Sums over the vertices of one side, with sigma its sign, z_i = y_i - sigma (r n/|n| + c(n)) the
// point of the ball and ellipsoid about vertex i nearest to the plane, and the barrier's argument
// D_i = sigma (n.z_i + o) = sigma (n.y_i + o) - r|n| - q(n):
//   f = sum sigma P'(D_i) (z_i, 1),  m = sum P''(D_i) (z_i, 1)(z_i, 1)^T,  rp = sum r P'(D_i).
typedef union djPlaneSums {
  double sum[16];            // all of it, in this order
  struct {
    double value;            // sum P(D_i)
    double f[4];
    double m[10];            // packed as in math/small.h
    double rp;
  };
} djPlaneSums;

typedef struct djPlaneSolution {
  double p[4];
  double value;            // 0: derivatives vanish and p need not be the minimiser
  double least[2];         // smallest argument D of each side
  djPlaneSums side[2];
  bool curved;
  djMat3 bend[2];          // of each side, where curved: -sum P'(D_i) C(n)
  djLdl4 factor;           // of U_pp
  int iterations;
} djPlaneSolution;

typedef enum djPlaneStatus {
  DJ_PLANE_DONE,
  DJ_PLANE_ZERO,           // U = 0
  DJ_PLANE_LOST            // the start does not separate (value infinite), or no convergence
} djPlaneStatus;

// Whether a value is so small, all depths below s being under about 1e-5 s, that rounding of the
// plane may keep the iteration from its tolerance.
static inline bool dj_isCoarse(double value, djBarrier law) {
  return value * law.s < dj_barrierRows[law.law].coarse;
}

// A good length |n| for sides that are d apart along n, 0 < d < 2s/(1-s).
double dj_startLength(double d, djBarrier law);

// Keep the direction of p, put it midway between the sides and give it a good length. Returns the
// sides' separation along n (negative: none; that of a tail still has a value).
double dj_centrePlane(double p[4], const djClouds* c, djBarrier law);

// Minimise over p from sol->p by damped Newton.
// That of a tail must not be at n = 0.
djPlaneStatus dj_solvePlane(djPlaneSolution* sol, const djClouds* c, djBarrier law,
                            int max_iterations);

// The same from a plane that is midway between the sides along n, of a good length.
djPlaneStatus dj_solveCentredPlane(djPlaneSolution* sol, const djClouds* c, djBarrier law,
                                   int max_iterations);

#endif  // DJ_CONTACT_PLANE_PLANE_SOLVE_H_
