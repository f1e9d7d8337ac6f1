// A pair of implicit surfaces on bodies: its touch (shape/implicit_pair.h), and how the energy's
// gradient changes with all that may change.
//
// With T, D, d, y, n, nu as there, world axes, p_a and p_b the frames' origins, depth = T - D + i,
// i what both are inflated by, and U(depth) with U' = f >= 0, translations and rotations of the
// bodies about their references ra, rb change U by
//
//   G_va = f q,   G_wa = f (m_a + (p_a - ra) x q),     q = (1 - T/D) d + nu T/D n,   m_a = nu y x
//   n, G_vb = -f q,  G_wb = -f (m_b + (p_b - rb) x q),    m_b = nu (y - T d) x n,
//
// as T changes by -nu n.u where b's surface moves by u at the point. Both forces are opposite, and
// both moments about one point: m_a - m_b = nu T d x n = (p_b - p_a) x q.
//
// A half space is fixed while the other shape is scaled: d is against its normal, D the distance of
// the other's origin, p_b the foot of that, n = d, nu = 1.

#ifndef DJ_CONTACT_IMPLICIT_IMPLICIT_TOUCH_H_
#define DJ_CONTACT_IMPLICIT_IMPLICIT_TOUCH_H_

#include "contact/kernel.h"
#include "shape/implicit_motion.h"

typedef struct djSurfacePair {
  djImplicit a, b;
  djPose frame_a, frame_b; // world; of a half space its axes are a's
  djImplicitPlace place;
  bool half_space, degenerate;
  bool at_point; // by the law, see djSurfaceTouch
  double D, inflate;
  djVec3 d; // world
  djVec3 ref[2];
} djSurfacePair;

// What eval needs of the touch.
typedef struct djSurfaceTouch {
  djImplicitFrame f; // world axes
  double depth;
  double ratio;                // T/D; 0 where the origins coincide, so that q = d
  djVec3 q, arm[2], moment[2]; // p - ref of both, and m + arm x q
  double alpha;                // D/T
  djVec3 x, reach[2];          // the common point of the scaled shapes, p_a + alpha y, and x - ref
  bool at_point;               // the force is along n at x, of no energy, instead of the above
} djSurfaceTouch;

// What changes: points and directions in world axes; U' by other causes than depth. Or derivatives
// by all of these.
typedef struct djSurfaceChange {
  djVec3 y, n, d, pa, pb;
  double T, D, inflate, force;
} djSurfaceChange;
enum { DJ_SURFACE_CHANGES = 19 }; // numbers of it
_Static_assert(sizeof(djSurfaceChange) == DJ_SURFACE_CHANGES * sizeof(double), "no padding");
double dj_dotChanges(const djSurfaceChange* a, const djSurfaceChange* b);

// Where shapes are; `last`: the direction while origins coincide (zero: none), replaced.
// Without settings only the touch is asked for. DJ_INVALID: shapes or poses are not as they must
// be.
djStatus dj_openSurfacePair(djSurfacePair* out, djVec3* last, const djPairInput* in);

// A lower bound of the gap, at no cost.
double dj_surfaceBound(const djSurfacePair* pair);

djStatus dj_findSurfaceTouch(djSurfaceTouch* out, djImplicitWarm* warm, const djSurfacePair* pair);

// The gradient for U' = f, and (12, stride apart) += its change, U'' = df. at_point: minus the
// wrenches of a force f instead.
void dj_surfaceGradient(double g[12], const djSurfaceTouch* t, double f);
void dj_addSurfaceChange(double* g, int stride, const djSurfacePair* pair, const djSurfaceTouch* t,
                         double f, double df, const djSurfaceChange* e);

// The part along n of a force f.
static inline double dj_alongNormal(const djSurfaceTouch* t, double f) {
  return t->at_point ? f : f * dju_dot3(t->q, t->f.n);
}

// Changes of the depth, of q and of x.
double dj_depthChange(const djSurfaceChange* e);
djVec3 dj_forceChange(const djSurfacePair* pair, const djSurfaceTouch* t, const djSurfaceChange* e);
djVec3 dj_pointChange(const djSurfaceTouch* t, const djSurfaceChange* e);

// Sets y, n and T by rates, d and what turns: by = psi_a, psi_b, e.
void dj_touchChange(djSurfaceChange* out, const djImplicitRates* rates, const double by[9]);

// The change by twist j of the bodies (0..11: of a, then b, about the references).
void dj_twistChange(djSurfaceChange* out, const djSurfacePair* pair, const djImplicitRates* rates,
                    int j);

#endif // DJ_CONTACT_IMPLICIT_IMPLICIT_TOUCH_H_
