// How far a motion may be taken at once: no pair of hulls may approach by more than .9 of its gap and
// a quarter of (s L + thickness of the thinner one), so that thin bodies do not jump across each
// other. A motion towards a half space is taken whole.

#include "contact/plane/plane_pair.h"
#include "math/so3.h"
#include "shape/curve.h"

// Rotation up to which the end points of a motion tell what happens on the way, and beyond which its
// axis is not told by them, radians.
#define SMALL_TURN 0.2
#define MOST_TURN 2.8

// By how much the motion of both bodies brings A nearer to the half space behind B's supporting
// plane with normal n (from a to b), which moves with B. An upper bound of what the gap loses.
static double approach(const djShape* a, const djPose* pose_a, const djPose* trial_a,
                       const djPose* pose_b, const djPose* trial_b, djVec3 n) {
  djVec3 after = dju_mulMV(trial_b->R, dju_mulMtV(pose_b->R, n));
  djVec3 u0 = dju_mulMtV(pose_a->R, n), u1 = dju_mulMtV(trial_a->R, after);
  double h0 = -INFINITY, h1 = -INFINITY;
  for (int i = 0; i < a->nvert; i++) {
    djVec3 x = {a->vert[0][i], a->vert[1][i], a->vert[2][i]};
    h0 = fmax(h0, dju_dot3(u0, x));
    h1 = fmax(h1, dju_dot3(u1, x));
  }
  if (a->curved) {
    h0 += dj_curveReach(NULL, NULL, &a->curve, u0);
    h1 += dj_curveReach(NULL, NULL, &a->curve, u1);
  }
  return h1 - h0 + dju_dot3(after, dju_sub3(trial_a->p, trial_b->p)) -
         dju_dot3(n, dju_sub3(pose_a->p, pose_b->p));
}

// Angle between two rotations.
static double angleBetween(const djMat3* R0, const djMat3* R1) {
  return 2 * asin(fmin(1, 0.5 * dju_turnNorm(R0, R1)));
}

static double reachOf(const djShape* s) {
  return dju_norm3(s->center) + fmax(s->bound - s->radius, 0);
}

// A body's motion: its origin moves straight, and it turns evenly about an axis of its frame.
typedef struct Way {
  const djPose *from, *to;
  djVec3 axis;
  double angle;
} Way;

// False: it turns too far for its axis to be known.
static bool openWay(Way* w, const djPose* from, const djPose* to) {
  *w = (Way){from, to, {0, 0, 0}, angleBetween(&from->R, &to->R)};
  if (w->angle > MOST_TURN) return false;
  djMat3 D = dju_mulMtM(from->R, to->R);
  djVec3 v = {D.m[7] - D.m[5], D.m[2] - D.m[6], D.m[3] - D.m[1]};
  double length = dju_norm3(v);
  if (length > 0) w->axis = dju_scale3(1 / length, v);
  return true;
}

static djPose placeOn(const Way* w, double part) {
  if (part == 1) return *w->to;
  djQuat turn = dju_expQuat(dju_scale3(part * w->angle, w->axis));
  djVec3 move = dju_scale3(part, dju_sub3(w->to->p, w->from->p));
  return (djPose){.R = dju_mulMM(w->from->R, dju_quatToMat(turn)), .p = dju_add3(w->from->p, move)};
}

// The part of a motion in which A comes nearer to B by `limit`, by its ends and places between them
// that turns are small apart from. 0 where B's plane turns so that A may pass round it on the way:
// by more than a little, while A moves more than `thick` there, which is too little to pass the
// thinner one.
static double partBefore(double limit, const djShape* a, const Way* A, const Way* B, djVec3 n,
                         double thick) {
  djVec3 way = dju_sub3(dju_untransform(B->to, A->to->p), dju_untransform(B->from, A->from->p));
  if (B->angle >= SMALL_TURN && dju_norm3(way) > thick) return 0;
  int nplace = 1 + (int)((A->angle + B->angle) / SMALL_TURN);
  double last = 0;
  for (int k = 1; k <= nplace; k++) {
    double part = (double)k / nplace;
    djPose pa = placeOn(A, part), pb = placeOn(B, part);
    double loss = approach(a, A->from, &pa, B->from, &pb, n);
    if (loss > limit) return (k - 1 + (limit - last) / (loss - last)) / nplace;
    last = loss;
  }
  return 1;
}

// The part of a motion in which two bodies near each other along n by `limit`: the longest of those
// by bounds that hold on the whole way. In the world: what origins move and what turns move vertices.
static double partWithin(double limit, const djShape* a, const djPose* pa, const djPose* ta,
                         const djShape* b, const djPose* pb, const djPose* tb, djVec3 n) {
  const double thick = 2 * fmin(a->inner, b->inner);
  Way A, B;
  bool even = openWay(&A, pa, ta);
  even = openWay(&B, pb, tb) && even;
  double loss = dju_dot3(n, dju_sub3(dju_sub3(ta->p, pa->p), dju_sub3(tb->p, pb->p))) +
                A.angle * reachOf(a) + B.angle * reachOf(b);
  if (!(loss > limit)) return 1;
  double part = limit / loss;
  if (!even) return part;
  part = fmax(part, partBefore(limit, a, &A, &B, n, thick));
  return part < 1 ? fmax(part, partBefore(limit, b, &B, &A, dju_neg3(n), thick)) : 1;
}

double dj_planeRoom(const double* setting, const djShape* a, const djShape* b) {
  if (dj_isGround(b->type)) return INFINITY;
  double size = setting[DJ_PLANE_SUPPORT] * setting[DJ_PLANE_LENGTH_SCALE] +
                2 * fmin(a->inner, b->inner);
  return 0.25 * size / DJ_PLANE_SHARE;
}

djStatus dj_planeMaxStep(double* factor, double* gap, const djGeomPair* p,
                         const djPairMotion* motion) {
  djDistance d;
  djStatus status = dj_convexGap(&d, NULL, p);   // cold: the bits depend on poses alone
  if (status < 0) return status;
  *gap = d.gap;
  double room = dj_planeRoom(motion->setting, p->a, p->b);
  double limit = DJ_PLANE_SHARE * (fmax(d.gap, 0) + room);
  if (motion->move <= limit) return DJ_OK;
  double part = partWithin(limit, p->a, p->pose_a, motion->trial_a, p->b, p->pose_b,
                           motion->trial_b, d.normal);
  if (part < *factor) *factor = part;
  return DJ_OK;
}
