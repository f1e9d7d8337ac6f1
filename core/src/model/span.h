// Functions of points that are fixed to up to three bodies: what coordinates that bend are sums of.
// A straight part of a tendon is the distance of two sites over the divisor of its pulley; a part
// around a geom (wrap.h) is a function of two sites as that geom's body sees them, the carrier; the
// way of a slider is a function of crank's site, slider's site and the tip of the slider's axis
// there.
// What a connect keeps at 0 is the difference of two points along an axis of the world; a weld has
// functions of two rotations beside it.

#ifndef DJ_MODEL_SPAN_H_
#define DJ_MODEL_SPAN_H_

#include "math/spatial.h"
#include "model/kinematics.h"

#include <dijoco/model.h>

enum { DJ_SPAN_BODY = 3, DJ_SPAN_CROSS = 3 };   // most bodies, and pairs of them

// site: whose frame a point moves with, or -1.
typedef struct djSpan {
  int nbody;           // that count; 1: it is constant
  int body[DJ_SPAN_BODY];
  int carrier;         // side of the body in whose frame points are taken, -1: world
  int geom;            // that it goes around, or -1: then
  double by_radius;    // derivative by its radius, and of g by that
  djVec3 g_by_radius[2];
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

// Gradient W (span->nbody, but at least 2, x 6) by twists of its bodies about ref (nbody); nested
// second derivatives (kinematics.h) of each body, N, and between them, K, at dj_spanPair(a, b) of
// sides a < b, whose rows are a's.
typedef struct djSpanHess {
  double N[DJ_SPAN_BODY][36], K[DJ_SPAN_CROSS][36];
} djSpanHess;
static inline int dj_spanPair(int a, int b) { return a + b - 1; }
void dj_spanGradient(double* W, const djSpan* span, const djVec3* ref);
void dj_spanHessian(djSpanHess* hess, const djSpan* span, const djVec3* ref);

// Next dof of the chains of its bodies, the last ones first: sides that it moves, of some bodies
// but not of all. at: the last dofs of bodies at first (dj_spanChains). -1: there are no more.
void dj_spanChains(int at[DJ_SPAN_BODY], const djModel* model, const djSpan* span);
int dj_nextSpanDof(bool moves[DJ_SPAN_BODY], int at[DJ_SPAN_BODY], const djModel* model,
                   const djSpan* span);

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

// Velocity of point k as the carrier sees it, twists z (nbody x 6) of bodies; *w: angular.
djVec3 dj_spanVelocity(djVec3* w, const djSpan* span, int k, const djVec3* ref, const double* z);

// Where derivatives by point k of a span belong, in a gradient by all parameters.
double* dj_spanPoint(double* param, const djModel* model, const djSpan* span, int k);

// Where a site is.
djVec3 dj_sitePoint(const djModel* model, const djKin* kin, int site);

#endif  // DJ_MODEL_SPAN_H_
