// Friction at one point of two bodies, and sums of it: value, gradient and its plain derivative by
// twists now, and the gradient's change along a change of the step's start.

#ifndef DJ_CONTACT_TRIANGLES_SLIP_SUM_H_
#define DJ_CONTACT_TRIANGLES_SLIP_SUM_H_

#include "contact/friction/friction_plane.h"
#include "contact/triangles/dual.h"

typedef struct djSlipSum {
  double value, g[12], change[12];
  double K[144]; // (12 x 12) of g, column j by twist j
} djSlipSum;

// How the start changes: bodies by twists about ref, of the poses at the start, of the rate poses,
// or of both. All zero: it does not.
typedef struct djSlipChange {
  double twist[12];
  bool start, rate;
} djSlipChange;

typedef struct djSlipPair {
  djMotion motion[2];
  double h, eps;
  bool second; // K is wanted
  djSlipChange by;
} djSlipPair;

// Of a point y with the normal u, world, and normal force N, with a coefficient of 1.
void dj_slipAt(djSlipSum* out, const djSlipPair* pair, djDual1 N, djDualVec u, djDualVec y);

void dj_scaleSlip(djSlipSum* s, djDual1 by, bool second);
void dj_addSlip(djSlipSum* s, const djSlipSum* more, bool second);

#endif // DJ_CONTACT_TRIANGLES_SLIP_SUM_H_
