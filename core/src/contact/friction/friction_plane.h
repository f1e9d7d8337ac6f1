// Internal to friction: the points that carry force, and the plane's motion (u, w) that minimises
// friction's energy between two hulls.

#ifndef DJ_CONTACT_FRICTION_FRICTION_PLANE_H_
#define DJ_CONTACT_FRICTION_FRICTION_PLANE_H_

#include "contact/friction/friction.h"
#include "math/lanes.h"

enum {
  DJ_SLIP_FIXED = 256,   // loaded points (and padding) that need no scratch
  DJ_SLIP_WIDTH = 11     // numbers a point
};

// Motion of a body: poses now, at the start of the step, and those from which the displacement of
// the step counts (start itself where these are the same).
typedef struct djMotion {
  const djPose *now, *start, *rate;
  djVec3 ref;
} djMotion;

static inline djMotion dj_motionOf(const djPairInput* in, int side) {
  if (side) return (djMotion){in->pose_b, in->start_b, in->rate_b, in->ref_b};
  return (djMotion){in->pose_a, in->start_a, in->rate_a, in->ref_a};
}

// Displacement from one pose to another of the body-fixed point that is at y (world) at the start
// T, as (R1 - R0) R^T (y - p) + (p1 - p0): no rounding beyond that of differences of the poses.
static inline djVec3 dj_displaceBy(const djPose* to, const djPose* from, const djPose* start,
                                   djVec3 y) {
  const double *A = to->R.m, *B = from->R.m;
  djVec3 l = dju_untransform(start, y), d = dju_sub3(to->p, from->p);
  return (djVec3){d.x + (A[0] - B[0]) * l.x + (A[1] - B[1]) * l.y + (A[2] - B[2]) * l.z,
                  d.y + (A[3] - B[3]) * l.x + (A[4] - B[4]) * l.y + (A[5] - B[5]) * l.z,
                  d.z + (A[6] - B[6]) * l.x + (A[7] - B[7]) * l.y + (A[8] - B[8]) * l.z};
}

// Delta, the displacement of the step.
static inline djVec3 dj_displace(const djMotion* m, djVec3 y) {
  return dj_displaceBy(m->now, m->rate, m->start, y);
}

// rho, where the point is now from ref. move: its Delta.
static inline djVec3 dj_armNow(const djMotion* m, djVec3 y, djVec3 move) {
  if (m->rate != m->start) move = dj_displaceBy(m->now, m->start, m->start, y);
  return dju_add3(dju_sub3(y, m->ref), move);
}

// Body-fixed point y_i of a vertex x: the vertex, or its projection onto the lagged plane.
static inline djVec3 dj_armPoint(const djLagged* lagged, djArms arms, djVec3 x) {
  if (arms == DJ_ARMS_PAPER) return x;
  return dju_madd3(x, -(dju_dot3(lagged->normal, x) + lagged->offset), lagged->normal);
}

// A unit vector in the plane, by the normal alone.
static inline djVec3 dj_tangent(djVec3 n) {
  djVec3 t = dju_cross3(n, fabs(n.x) < 0.6 ? dju_vec3(1, 0, 0) : dju_vec3(0, 1, 0));
  return dju_scale3(1 / dju_norm3(t), t);
}

// A(f): f itself, or SDRS eq. 12, sqrt(f^2 + eps) - sqrt(eps), without cancellation.
static inline double dj_forceCap(double f, double eps, djCap cap) {
  return cap == DJ_CAP_MAGNITUDE ? f : f * f / (sqrt(f * f + eps) + sqrt(eps));
}
static inline double dj_forceCapSlope(double f, double eps, djCap cap) {
  return cap == DJ_CAP_MAGNITUDE ? 1 : f / sqrt(f * f + eps);
}

// W = mu h A(f) of a lagged point, N s: what its friction may take away in a step.
static inline double dj_slipWeight(const djPairInput* in, const djLagged* lagged, int i) {
  return in->friction * in->h * dj_forceCap(lagged->force[i], lagged->law.eps, lagged->law.cap);
}

DJU_INLINE djLanes dj_sqrtLanes(djLanes v) {
  double x[DJU_LANES];
  dju_storeLanes(x, v);
  for (int i = 0; i < DJU_LANES; i++) x[i] = sqrt(x[i]);
  return dju_loadLanes(x);
}

// Normal and tangents of a pair, world. Where n moves by dn and the guide a, of which t1 is a part,
// by da,
//   t1' = -n (t1.dn) + spin t2,  t2' = -n (t2.dn) - spin t1,  spin = t2.(by_n dn + by_a da).
typedef struct djSlipAxes {
  djVec3 n, t1, t2, guide;
  double by_n, by_a;
  bool turns;              // the guide is body a's
} djSlipAxes;
void dj_slipAxes(djSlipAxes* axes, const djPairInput* in, djVec3 normal);

// Where two coefficients of sliding differ slips are stretched by their ratio along t2:
//   |S s|, S = 1 + more t2 t2^T.
typedef struct djStretch {
  double more;             // 0: they are the same
  djVec3 t1, t2;
} djStretch;
djStretch dj_makeStretch(const djLagged* lagged, const djPairInput* in);
static inline djStretch dj_stretchOf(const djLagged* lagged, const djPairInput* in) {
  const double second = in->cone.friction2;
  if (!(second > 0) || second == in->friction) return (djStretch){.more = 0};
  return dj_makeStretch(lagged, in);
}
static inline djVec3 dj_stretched(const djStretch* S, djVec3 v) {
  return S->more == 0 ? v : dju_madd3(v, S->more * dju_dot3(S->t2, v), S->t2);
}

// Radius of the smaller shape, m.
double dj_slipSize(const djLagged* lagged, const djPairInput* in);

// Which poses move: start and rate poses, which are the same; the start alone; rate poses alone;
// or none, but the forces.
typedef enum djStartKind { START_BOTH, START_ALONE, RATE_ALONE, FORCES_ALONE } djStartKind;
static inline bool dj_startMoves(djStartKind kind) {
  return kind == START_BOTH || kind == START_ALONE;
}

// 3x3 factorization L D L^T of a symmetric matrix, lower triangle by rows.
typedef struct djPlaneFactor {
  double l10, l20, l21, d0, d1, d2;
} djPlaneFactor;

// Energy at one (u, w), its gradient and Hessian (lower triangle by rows).
typedef struct djPlaneEnergy {
  double value, g[3], H[6];
  double stiff;          // sum of W/r
} djPlaneEnergy;

// Loaded points in coordinates of the plane, and the plane's motion v = (u, w scale) relative to
// the mean motion `mean`: slip_i = b_i - (u + v[2] J e_i). Arrays have room for DJU_LANES beyond n;
// W is zero there, all else finite.
typedef struct djSlips {
  int n, na;             // points with force; the first na are a's
  double* W;             // mu h A(f)
  double *ex, *ey;       // y - c in the plane, divided by scale
  double *bx, *by;       // displacement/h in the plane, less mean
  double *rx, *ry, *rz;  // T+ T^-1 y - ref of its body, world
  double *px, *py, *pz;  // vertices at the start
  djVec3 t1, t2;         // t1, t2, normal: right-handed; stretched where slips are
  djVec3 q1, q2;         // as they were before that
  djVec3 d1, d2;         // axes of e, J e of which are slips: t1, t2, or t2 x n, n x t1
  djVec3 center;         // c; its height above the plane is of no consequence
  double mean[2];
  double scale;          // metres: spread of the points
  double total;          // sum of W
  double spread;         // I = sum W |y - c|^2 / sum W, m^2
  double size;           // l: size of the smaller shape, m
  double h;              // s
  double spin;           // stiffness of the spin term, for v[2]
  double bmax, emax;     // largest |b_i|, |e_i|, for rounding bounds
  double v[3];
  djPlaneEnergy at;      // at v
  int iterations;
} djSlips;

// Collect the points with force. DJ_INVALID: a force is negative
// or not finite. DJ_NO_MEMORY: more than DJ_SLIP_FIXED points and too little scratch.
// buffer: (DJ_SLIP_FIXED * DJ_SLIP_WIDTH)
djStatus dj_gatherSlips(djSlips* slips, double* buffer, const djLagged* lagged,
                        const djPairInput* in);

// Minimise over the plane's motion, from the better of the state's and the weighted mean.
djStatus dj_solveSlips(djSlips* slips, djFrictionState* state, double eps);

void dj_factorSlips(djPlaneFactor* factor, const double H[6]);

// Stiffness of the spin term by its argument t = I / (DJ_SPIN_SPREAD l)^2; slope: its derivative.
double dj_spinStiffness(double* slope, double total, double spread, double size, double h);

// What friction is while Newton's method runs (djEase), see friction_dual.c.
typedef struct djSlipLaw {
  double eps;            // of the value
  double aim;            // of the pair as it is
  double part;           // sqrt(aim/eps)
  bool foreseen;         // derivatives are those at the slips foreseen
} djSlipLaw;
djSlipLaw dj_slipLaw(const djLagged* lagged, const djPairInput* in);

// Points that slip by less than this part of r are foreseen to stick.
#define DJ_FORESEEN_STICK 0.97

// By |s|^2, all of them times W: the force is `pull` s/h, of which `turn` s/h is at the poses
// foreseen, and the stiffness `across`, `across` times `low` along s.
typedef struct djSlipSlope {
  double pull, turn, across, low;
} djSlipSlope;
DJU_INLINE djSlipSlope dj_slipSlope(double ss, double r, const djSlipLaw* law) {
  double ir = 1 / r;
  if (!law->foreseen) return (djSlipSlope){ir, ir, ir, law->eps * ir * ir};
  const double stick = DJ_FORESEEN_STICK * DJ_FORESEEN_STICK;
  double part = ss < stick * r * r ? law->part : 1;
  ir = 1 / sqrt(part * part * ss + law->aim);
  double low = law->aim * ir * ir;
  return (djSlipSlope){ir * (part + low * (1 - part)), ir * part, ir, low};
}

// y (n x 2) of Newton's method for slips (n x 2), both in tangents that depend on the normal alone.
// False: there are none to use, y is s/r.
bool dj_dualSlips(double (*y)[2], djFrictionState* state, const djLagged* lagged,
                  double (*slip)[2], int n, const djSlipLaw* law, int iterate);
static inline bool dj_hasDuals(const djLagged* lagged, int n, int iterate) {
  return iterate != 0 && n <= DJ_DUAL_POINTS && n <= lagged->ndual;
}

// Coefficients, plane and pointers of friction are usable.
bool dj_checkFriction(const djLagged* lagged, const djPairInput* in);

#endif  // DJ_CONTACT_FRICTION_FRICTION_PLANE_H_
