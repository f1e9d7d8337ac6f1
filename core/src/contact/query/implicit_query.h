// A pair of implicit surfaces as queries hold it (dijoco/implicit.h).
//
// A plane stands second, whichever it was: the first is scaled until it touches the half space,
// whose frame is where a's origin is projected on it. What is found is turned round at the end.

#ifndef DJ_CONTACT_QUERY_IMPLICIT_QUERY_H_
#define DJ_CONTACT_QUERY_IMPLICIT_QUERY_H_

#include "shape/implicit_motion.h"

#include <dijoco/implicit.h>

struct djcImplicitPair {
  djImplicit shape[2];
  double* room[2]; // of the shape; of a plane NULL
  bool plane;      // the second is one
  bool swapped;    // the first is b
  djImplicitWarm warm;
  djVec3 last; // direction from the first to the second, world; zero: none yet
  bool evaluated;
  djImplicitTouch touch; // of the last evaluation, and where
  djImplicitFrame frame; // world axes
  djImplicitPlace place;
  djMat3 R[2];
  djVec3 pos[2];
  double D;      // of a plane signed
  bool has_near; // the last distance's points, in their frames
  djVec3 near[2];
};

// Of what was found with b first: (rows x 12) by twists of both, and two vectors.
void dj_swapTwists(double* by, int rows, double sign);

void dj_swapVectors(double* a, double* b, int n);

#endif // DJ_CONTACT_QUERY_IMPLICIT_QUERY_H_
