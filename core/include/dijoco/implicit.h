// Contact kinematics of strictly convex implicit surfaces (iDCOL): one pair of shapes, without a
// model.

#ifndef DIJOCO_IMPLICIT_H_
#define DIJOCO_IMPLICIT_H_

#include <dijoco/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// A shape in its frame, whose origin is inside, by numbers in the order of the paper's formulas
// (appendix A); the last is the sharpness, at least 1, lengths are positive:
//   smooth_polytope          A (nface x 3, rows of any length), b (nface), L, beta      A5
//   truncated_cone           Rb, Rt, a, b, beta; its axis is x                         A7-A11
//   superellipsoid           a, b, c, n                                                A17, A18
//   superelliptic_cylinder   R, h, n; its axis is x, h half of its length              A28, A29
//   smooth_capsule           r, h, beta; its axis is x, h half of its segment          ours
//   plane                    none: nsize is 0, size is not read; its z axis points out of it
// One of a pair may be a plane: a half space, which stays where it is while the other is scaled.
// The surface of a superellipsoid is |x/a|^2n + |y/b|^2n + |z/c|^2n = 1, that of a superelliptic
// cylinder |x/h|^2n + ((y^2 + z^2)/R^2)^n = 1: n is half of the exponent, 1 an ellipsoid, and much
// of it nearly a box or a cylinder. That of a smooth polytope: sum_i exp(beta (A_i.y - b_i)/L) = 1.
// beta is without unit, A.y - b and L in m; n is any real number. A truncated cone with beta Rt
// below about Rb/5 has a dent near its top of at most 2e-4 Rb, and is not quite convex.
typedef struct djcImplicitShape {
  const char* family; // 1; one of those names
  int nface;          // 1; of a smooth_polytope, else 0
  int nsize;          // 1; how many numbers
  const double* size; // (nsize) m, the last 1
} djcImplicitShape;

// Names of the families and of their numbers, by their place in the table, where a plane is not; ""
// beyond the last. Of a smooth_polytope the number's names are those of arrays: A, b, L, beta.
DJ_API const char* djc_implicitFamily(int family);
DJ_API int djc_implicitNamed(const char* name); // its place; -1: there is none
DJ_API const char* djc_implicitNumber(int family, int number);
// In files the numbers but the sharpness are one list of that name; "": each has its own.
DJ_API const char* djc_implicitList(int family);

enum {
  DJC_DERIVATIVES = 1, // by both twists
  DJC_CONDITION = 2    // of the 6x6 system
};

// What djc_implicit finds. With D the distance of both origins and T that at which the shapes, as
// they are turned, would touch: alpha = D/T, gap = D - T. Where the origins coincide (D below 1e-12
// of the shapes' size) alpha is 0 and its derivative, the gap, normal and points are those of the
// last direction, held: at first a's x axis. With a plane D is the height of the other's origin, T
// its support function and the gap the distance; where the origin is below the plane D, alpha and
// the multipliers are negative, and all stays smooth on the way there.
typedef struct djcImplicit {
  double alpha;          // 1; scaled by it about their origins both shapes touch; 1: they touch
  double x[3];           // m; where, world
  double normal[3];      // 1; unit, from a to b, world
  double gap;            // m; (1 - 1/alpha) D (30): not the distance, but of its sign
  double point_a[3];     // m; witness points, world (29)
  double point_b[3];     // m; likewise
  double multipliers[2]; // 1; of (9)
  double condition;      // 1; of (11), lengths over the size of the shapes; 0: not asked for
  bool degenerate;       // the origins coincide
  int iterations;        // evaluations of both shapes
  // By twists (angular, linear; world axes) of a about its origin, then of b; row-major.
  double dalpha[12];   // 1/rad, 1/m
  double dx[36];       // (3 x 12) m/rad, 1
  double dnormal[36];  // (3 x 12) 1/rad, 1/m
  double dgap[12];     // m/rad, 1
  double dpoint_a[36]; // (3 x 12) m/rad, 1
  double dpoint_b[36]; // (3 x 12) m/rad, 1
} djcImplicit;

// The angle, rad, between the normal and dgap by b's place, along which the force of a law with an
// energy acts (of a touch with DJC_DERIVATIVES): 0 for balls and planes, and at contact.
DJ_API double djc_energyAngle(const djcImplicit* touch);

// With frames at pos (m), turned by quat (normalised; DJ_INVALID: one is zero). flags: DJC_*. by_a,
// by_b (8 x nsize), or NULL: derivatives of alpha, x, normal and gap by the shape's numbers.
// DJ_NOT_CONVERGED: the best found.
DJ_API djStatus djc_implicit(djcImplicit* out, double* by_a, double* by_b,
                             const djcImplicitShape* a, const double pos_a[3],
                             const double quat_a[4], const djcImplicitShape* b,
                             const double pos_b[3], const double quat_b[4], int flags,
                             djError* err);

// A pair that is evaluated again and again as it moves: it starts from its last solution, which
// does not change results beyond the tolerance, and allocates nothing. It belongs to one thread.
typedef struct djcImplicitPair djcImplicitPair;
DJ_API djStatus djc_makeImplicitPair(djcImplicitPair** pair, const djcImplicitShape* a,
                                     const djcImplicitShape* b, djError* err);
DJ_API void djc_deleteImplicitPair(djcImplicitPair* pair);
DJ_API void djc_forgetImplicitPair(djcImplicitPair* pair); // the next evaluation starts cold
DJ_API djStatus djc_evalImplicitPair(djcImplicit* out, djcImplicitPair* pair, const double pos_a[3],
                                     const double quat_a[4], const double pos_b[3],
                                     const double quat_b[4], int flags);

// At the poses of the last evaluation: (8 x nsize) derivatives of alpha, x (3), normal (3) and gap
// by the numbers of a (side 0) or b (side 1). DJ_INVALID: nothing has been evaluated.
DJ_API djStatus djc_implicitBySize(double* by, djcImplicitPair* pair, int side);

// The Euclidean distance. It has the gap's sign, and is equal to it where they are 0, with a plane
// everywhere. Of shapes that overlap it is minus a local minimum of the depth, by which b has to be
// moved along the normal: that which is found from the scaled touch, not always the least.
typedef struct djcImplicitDistance {
  double distance;   // m; (point_b - point_a).normal
  double normal[3];  // 1; unit, from a to b, world: of both surfaces at the points
  double point_a[3]; // m; on a's surface, world
  double point_b[3]; // m; on b's
  int iterations;    // evaluations of both shapes
  // By twists as in djcImplicit.
  double ddistance[12]; // m/rad, 1
  double dnormal[36];   // (3 x 12) 1/rad, 1/m
  double dpoint_a[36];  // (3 x 12) m/rad, 1
  double dpoint_b[36];  // (3 x 12) m/rad, 1
} djcImplicitDistance;

// At the poses of the pair's last evaluation; flags: DJC_DERIVATIVES. by_a, by_b (10 x nsize), or
// NULL: derivatives of distance, normal (3), point_a (3) and point_b (3) by the shape's numbers. It
// starts from the last distance and allocates nothing. DJ_SINGULAR: the normal is not
// differentiable, two depths are equal (concentric balls): what would come through it is left out
// of the derivatives. DJ_NOT_CONVERGED: the best found. DJ_INVALID: nothing has been evaluated.
DJ_API djStatus djc_implicitDistance(djcImplicitDistance* out, double* by_a, double* by_b,
                                     djcImplicitPair* pair, int flags);

#ifdef __cplusplus
}
#endif

#endif // DIJOCO_IMPLICIT_H_
