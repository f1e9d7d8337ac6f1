// Functions of points that are fixed to two bodies: what coordinates that bend are sums of. A
// straight part of a tendon is the distance of two sites over the divisor of its pulley; the way of
// a slider is a function of crank's site, slider's site and the tip of the slider's axis there.
// What a connect keeps at 0 is the difference of two points along an axis of the world; a weld has
// functions of two rotations beside it.

#ifndef DJ_MODEL_SPAN_H_
#define DJ_MODEL_SPAN_H_

#include "math/spatial.h"
#include "model/kinematics.h"

#include <dijoco/model.h>

// site: whose frame a point moves with, or -1.
typedef struct djSpan {
  int body[2];
  int n;               // points
  int site[3];
  int anchor[3];       // where site is -1: its first number in eq_anchor
  int side[3];         // which of the bodies
  djVec3 point[3];     // world
  double value;
  djVec3 g[3];         // derivatives by the points
  djMat3 A[3][3];      // and second ones
  bool world;          // of an equality constraint: it moves with what carries both bodies, too
  bool turns;          // of rotations instead of points (n = 0): then
  djVec3 turn;         // derivative by the turn of body[0], and minus it by that of body[1]
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

// x'' of a span without second derivatives A, of bodies with twists V and accelerations A (model/
// inverse_dynamics.h) about ref; derivatives by V, by motions of either body that leave V and A,
// and by points. By A it is the gradient.
typedef struct djSpanBias {
  double value;
  djSix V[2], pose[2];
  djVec3 point[3];
} djSpanBias;
void dj_spanBias(djSpanBias* bias, const djSpan* span, const djVec3* ref, const djSix V[2],
                 const djSix A[2]);

// Where derivatives by point k of a span belong, in a gradient by all parameters.
double* dj_spanPoint(double* param, const djModel* model, const djSpan* span, int k);

// Where a site is.
djVec3 dj_sitePoint(const djModel* model, const djKin* kin, int site);

#endif  // DJ_MODEL_SPAN_H_
