// Recovery of pairs that start a step too near or overlapping: a further erosion e of both shapes.
//
// With g = gap / range of the skin-eroded shapes at the start of the step, g1 = 0.8, gf = 0.6 and
// t = (g - g1)/(g1 - gf), a pair with t < 0 gets g_eff = gf + (g1 - gf)/(1 - t + t^2)
// (contact/friction/recovering.h), and e >= 0 solves gap(e) = g_eff range.
//
// What e does to a shape, in this order:
//   1. up to 0.95 of its inner radius in all (skin included): vertex i moves by -e m_i, the radius
//      by e times its slope, the semi-axes of a curved shape as curve_move says;
//   2. beyond that of both shapes: they are scaled about their centres down to 0.02 of their size,
//      the larger one's bounding ball shrinking as fast as e grows;
//   3. beyond that (nearly coincident centres): they are moved apart along the line of centres.
// Against a half space only the plane is lowered, by e, and the gap is a smooth minimum over
// vertices, so that what lies flat has one derivative: with heights h_i, w = DJ_SOFT_WIDTH range,
//   gap - w log sum exp((min h - h_i)/w),
// no more than the gap.
//
// The barrier is so stiff that a push out of it needs no more than a small part of its stiffness:
// K is multiplied by r^b, b = smoothstep(-t), r the setting recovery_stiffness times P/W, and more
// the deeper it is (dj_softerBarrier). What nothing can part is so pressed by about as much as in
// MuJoCo: r of the default rule gives 55 P by a vertex where little overlaps, and MuJoCo's default
// contact presses with 50 P at a depth of 10 mm, where its estimate of the inertia is far off.
//
// e is a function of the start poses, C2 where the normal and the witness points are smooth and
// away from the changes between 1, 2 and 3; all erosion is fixed in the bodies during the step.

#ifndef DJ_CONTACT_PLANE_RECOVERY_H_
#define DJ_CONTACT_PLANE_RECOVERY_H_

#include "contact/plane/separating_plane.h"
#include "contact/shapes/convex.h"
#include "shape/distance.h"

#define DJ_RECOVERY_GAP 0.8       // g1
#define DJ_RECOVERY_FLOOR 0.6     // gf
#define DJ_RECOVERY_DEEPENS 0.1   // c of dj_softerBarrier
#define DJ_INNER_PART 0.95        // of the inner radius: end of phase 1

#define DJ_SOFT_WIDTH 0.03

// By how much it is less; the vertices' shares, and where they are in the mean, world.
typedef struct djLowest {
  double lift, by_width;     // m, per m
  double least, width, sum;  // of heights: vertex i's share is exp((least - h_i)/width)/sum
  djVec3 normal;             // of the half space
  djVec3 mean;               // of the shares
} djLowest;
djLowest dj_lowestVertices(const djPairInput* in, double range);
// From the vertex that a distance's point is of, which where several are as low may be any.
djVec3 dj_lowestMean(const djLowest* low, const djPairInput* in, djVec3 point);
double dj_lowestShare(const djLowest* low, const djPairInput* in, int i);

typedef struct djErosion {
  double e;                // metres; 0: nothing is eroded
  double t;                // (g - g1)/(g1 - gf), below 0 while recovering
  double first_end[2];     // end of phase 1 for each shape
  double span;             // length of e per unit of scaling in phase 2
  djVec3 apart;            // phase 3: unit, from a to b, world axes at the start
  double centres;          // distance of the centres; 0: `apart` does not follow them
  djVec3 local[2];         // -apart and +apart in the frames of a and b
} djErosion;

// Where e lies on the path of one shape: its part in phase 1, the scale of phase 2, the shift of
// phase 3.
typedef struct djErosionPath {
  double inner, scale, shift;
  bool in_first, in_second, in_third;
} djErosionPath;
djErosionPath dj_erosionPath(const djErosion* erosion, int side);

// One shape after erosion, as a copy whose vertices lie in mem (3 npad). side: 0 for a, 1 for b.
void dj_erodeShape(djShape* out, double* mem, const djShape* shape, const djErosion* erosion,
                   int side, bool half_space);

// Derivative of its vertices (body frame, 3 npad) and radius by e; not for planes.
void dj_erosionRate(double* rate, double* radius_rate, const djShape* shape,
                    const djErosion* erosion, int side);

// And of its semi-axes (columns, body frame), where it is curved.
djMat3 dj_erosionCurveRate(const djShape* shape, const djErosion* erosion, int side);

// How far phase 3 has moved each shape, metres.
double dj_erosionShift(const djErosion* erosion);

// r, and the factor of K with the derivative of its logarithm by t.
static inline double dj_recoveryStiffness(const djPairInput* in) {
  return in->setting[DJ_PLANE_RECOVERY] * in->recovery_part;
}
double dj_softening(double* rate, const djErosion* erosion, const djPairInput* in);

// g_eff(g) and its derivative.
double dj_recoveryGap(double* derivative, double g);

// g at the start poses, as erosion sees it, and its derivatives by twists of these (by: NULL, or
// 12).
djStatus dj_startGap(double* gap, double* by, const djPairInput* in, double range);

// Erosion of a pair at its start poses, where the gap (inflate included) is `gap`, not yet smooth,
// and `at_start` describes it. DJ_NOT_CONVERGED: with it the gap is larger than it should be.
// scratch: 6 (npad_a + npad_b).
djStatus dj_solveErosion(djErosion* erosion, const djDistance* at_start, double gap,
                         const djPairInput* in, double range, double* scratch);

// At the start poses: the closest points of the shapes as eroded, and d gap/de. Not for planes.
// scratch: 6 (npad_a + npad_b). DJ_SINGULAR: the gap does not grow with e.
djStatus dj_erodedSlope(double* slope, djDistance* d, djDistanceCache* cache,
                        const djErosion* erosion, const djPairInput* in, double* scratch);

// Its derivatives by the start twists: de (12), dt (12), and du (3 x 12) of `apart`.
// scratch: 6 (npad_a + npad_b).
djStatus dj_erosionJac(double de[12], double dt[12], double du[36], const djErosion* erosion,
                       const djPairInput* in, double range, double* scratch);

// ---- derivatives by shapes ---------------------------------------------------------------------

// Derivative of a number by an erosion.
typedef struct djErosionGrad {
  double e, t, first_end[2], span;
  djVec3 local[2];
} djErosionGrad;

// By the vertices (3 npad), the radius and the semi-axes of an eroded shape; body frame.
typedef struct djErodedGrad {
  double* x;
  double radius;
  djMat3 curve;            // zero where it is not curved
} djErodedGrad;

// Adds the derivatives by the shape and by the erosion.
void dj_erodeShapeVjp(djShapeGrad* grad, djErosionGrad* erosion_grad, const djErodedGrad* eroded,
                      const djShape* shape, const djErosion* erosion, int side);

// What the erosion itself takes from the shapes, and from the support s; where nothing is eroded,
// what t takes.
// scratch: 6 (npad_a + npad_b).
djStatus dj_erosionVjp(djPairGrad* grad, const djErosionGrad* erosion_grad,
                       const djErosion* erosion, const djPairInput* in, double* scratch);

#endif  // DJ_CONTACT_PLANE_RECOVERY_H_
