// Contact kinematics of two implicit shapes (iDCOL): the least alpha at which both, scaled by it
// about the origins of their frames, share a point.
//
// Divided by alpha the shapes keep their size and move together instead: with d the unit vector
// from one origin to the other and T the distance at which they touch,
//
//   phi_a(y) = 0,   phi_b(y - T d) = 0,
//   la grad_a + lb grad_b = 0,   la grad_a . d = 1 = -lb grad_b . d,                        (1)
//
// which is where T is largest over the points y of both: max T is concave. With D the distance of
// the origins alpha = D/T, x = alpha y, and the gap (30) is D - T. This is (10) of the paper with
// its surrogate scaling (21) for any D, coincident origins included; its multipliers are
// (alpha/T) la, (alpha/T) lb. Where (1) holds with positive multipliers, there is the solution,
// however it was found.

#ifndef DJ_SHAPE_IMPLICIT_PAIR_H_
#define DJ_SHAPE_IMPLICIT_PAIR_H_

#include "shape/implicit.h"

#include <dijoco/types.h>

// Where b is in a's frame: axes, and the unit vector to its origin.
typedef struct djImplicitPlace {
  djMat3 R;
  djVec3 d;
} djImplicitPlace;

// In a's frame, but what is b's own.
typedef struct djImplicitTouch {
  djVec3 y; // the common point; b's origin is T d away, m
  double T;
  djVec3 y_b; // the point in b's frame: beside a far larger a, y - T d has lost its digits
  djVec3 n;   // unit normal from a to b
  double nu;  // 1/(n.d) = la |grad_a| = lb |grad_b|
  double la, lb;
  djVec3 t[2];          // tangents
  djVec3 ha[2], hb[2];  // la Hess_a t, lb Hess_b t
  double A[3], M[3];    // t.ha, t.(ha + hb): 11, 12, 22
  djImplicitPoint a, b; // at the point; b's in its own frame
  double error;         // of (1): distances by size and angle
  int iterations;       // evaluations of both shapes
} djImplicitTouch;

// A solution, and how it moves with the place: where the next search begins. Zeros: none.
typedef struct djImplicitWarm {
  bool valid;
  djImplicitPlace place;
  djVec3 y;
  double T;
  float turn[4][3], move[4][3]; // of (y, T) by a rotation of b, by a change of d; a start's digits
} djImplicitWarm;

// The solution. warm (or NULL): a start, which does not change the result beyond the tolerance, and
// is replaced by the solution. DJ_NOT_CONVERGED: the best found, with its error.
djStatus dj_touchImplicit(djImplicitTouch* out, djImplicitWarm* warm, const djImplicit* a,
                          const djImplicit* b, const djImplicitPlace* place);

// Where a shape touches the half space beyond it along a unit vector d (its frame): y is its
// farthest point, T its support function.
djStatus dj_supportImplicit(djImplicitTouch* out, djImplicitWarm* warm, const djImplicit* shape,
                            djVec3 d);

// Two tangents (Duff et al., Building an orthonormal basis, revisited: JCGT 6, 2017).
static inline void dj_implicitTangents(djVec3 t[2], djVec3 n) {
  const double sign = copysign(1, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
  t[0] = dju_vec3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
  t[1] = dju_vec3(b, sign + n.y * n.y * a, -n.y);
}

// ---- parts of the search ------------------------------------------------------------------------

typedef struct djImplicitStart {
  djVec3 y;
  double T;
  djVec3 y_b; // in b's frame
} djImplicitStart;

// The point in one frame from that in the frame of the smaller shape.
static inline void dj_settleStart(djImplicitStart* s, bool b_smaller,
                                  const djImplicitPlace* place) {
  if (b_smaller)
    s->y = dju_madd3(dju_mulMV(place->R, s->y_b), s->T, place->d);
  else
    s->y_b = dju_mulMtV(place->R, dju_madd3(s->y, -s->T, place->d));
}

// Newton's method on (1) from a start, `most` evaluations. sharp > 0: shapes eased to that
// sharpness at first, twice that in each step. True: solved.
bool dj_newtonImplicit(djImplicitTouch* out, djImplicitStart* start, const djImplicit* a,
                       const djImplicit* b, const djImplicitPlace* place, double sharp,
                       double growth, int most);
// The solution for the ellipsoids of the shapes.
void dj_startImplicit(djImplicitStart* start, const djImplicit* a, const djImplicit* b,
                      const djImplicitPlace* place);
// The solution by a method that converges for all convex shapes, from a start; b's origin is at
// off + T d, off across d. *spent: evaluations of one shape. Returns by how much T can be too
// small.
double dj_searchImplicit(djImplicitStart* start, int* spent, const djImplicit* a,
                         const djImplicit* b, const djImplicitPlace* place, djVec3 off);

#endif // DJ_SHAPE_IMPLICIT_PAIR_H_
