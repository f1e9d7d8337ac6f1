// A pair of long_range: where its geoms are to each other, and its energy, by weighting
//
//   mean    U = 12 stiffness (1 + e)^2,  e = (D/length_scale)^(-1/2),  with L = log D
//           dU/dL = -12 stiffness e (1 + e),  ddU/dL^2 = 6 stiffness e (1 + 2 e);
//   paper   U = stiffness P (triangle_sum.h).

#ifndef DJ_CONTACT_TRIANGLES_LONG_RANGE_PAIR_H_
#define DJ_CONTACT_TRIANGLES_LONG_RANGE_PAIR_H_

#include "contact/kernel.h"
#include "contact/triangles/triangle_sum.h"

// U and its derivatives by L.
typedef struct djLongLaw {
  double U, by, by2;
} djLongLaw;
djLongLaw dj_longLaw(double L, const double* setting);

static inline djWarmPlanes* dj_warmPlanesOf(djPairState* state) {
  return (djWarmPlanes*)(void*)state;
}

typedef struct djLongPair {
  bool plane, sums; // b is one; weighting paper
  djSphereTree a, b;
  djHalfPair half;
  djMeanPair mean;
  djMat3 axes;  // of b's frame, in the world
  djVec3 apart; // ref_a - ref_b
} djLongPair;

// order: of derivatives. state: of the pair, or NULL. DJ_INVALID: shapes or poses are not as they
// must be.
djStatus dj_openLongPair(djLongPair* out, djPairState* state, const djPairInput* in, int order);

// L, of paper P, by motions of a in b's frame. *gap: a lower bound of the distance.
djStatus dj_longDistance(djMeanDistance* out, double* gap, djLongPair* pair);
// The law of the number that dj_longDistance finds.
djLongLaw dj_longLawOf(double L, const djLongPair* pair, const double* setting);

// Of a number whose derivatives by a twist of a, in b's frame, are g and H (packed; or NULL): by
// twists of both bodies, in the world's. It depends on how the bodies lie to each other alone.
void dj_completeLong(double gradient[12], double* hessian, const double g[6], const double* H,
                     const djLongPair* pair);

#endif // DJ_CONTACT_TRIANGLES_LONG_RANGE_PAIR_H_
