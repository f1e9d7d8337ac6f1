// Functions of points that are fixed to two bodies: what coordinates that bend are sums of. A
// straight part of a tendon is the distance of two sites over the divisor of its pulley; the way of
// a slider is a function of crank's site, slider's site and the tip of the slider's axis there.

#ifndef DJ_MODEL_SPAN_H_
#define DJ_MODEL_SPAN_H_

#include "model/kinematics.h"

#include <dijoco/model.h>

typedef struct djSpan {
  int body[2];
  int n;               // points
  int site[3];         // whose frame a point moves with
  int side[3];         // which of the bodies
  djVec3 point[3];     // world
  double value;
  djVec3 g[3];         // derivatives by the points
  djMat3 A[3][3];      // and second ones
} djSpan;

// Distances below this are rounded off, C2: length and derivatives stay finite where sites meet.
#define DJ_SPAN_EPS 1e-8

// Spans of coordinate c, one after the other: *at is 0 at first. order: of the derivatives that are
// set. False: there are no more.
typedef struct djSpanAt {
  int next;
  double divisor;
} djSpanAt;
bool dj_nextSpan(djSpan* span, djSpanAt* at, const djModel* model, const djKin* kin, int c,
                 int order);

// Gradient W (12) by twists of both bodies about ref (nbody); nested second derivatives
// (kinematics.h) of either body, N (2 x 36), and between them, K (36): rows of body[0].
void dj_spanGradient(double W[12], const djSpan* span, const djVec3* ref);
void dj_spanHessian(double N[72], double K[36], const djSpan* span, const djVec3* ref);

// Where a site is.
djVec3 dj_sitePoint(const djModel* model, const djKin* kin, int site);

#endif  // DJ_MODEL_SPAN_H_
