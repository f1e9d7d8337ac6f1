// How far a motion may be taken at once: no pair of hulls may approach by more than a quarter of
// (gap + s L + thickness of the thinner one), so that thin bodies do not jump across each other.
// A motion towards a half space is taken whole.

#include "contact/plane/plane_pair.h"
#include "math/so3.h"
#include "shape/curve.h"

// Relative rotation up to which the end points of a motion tell what happens on the way, radians.
#define SMALL_TURN 0.2

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

// Bounds of the approach of A to B in B's frame, where A turns by `turn`. They hold on the whole
// way only where the way is nearly straight there: B hardly turns, or A moves less than `thick`,
// which is too little to pass the thinner one.
static double carriedApproach(const djShape* a, const djPose* pa, const djPose* ta,
                              const djPose* pb, const djPose* tb, djVec3 n, double turn,
                              double thick) {
  djVec3 way = dju_sub3(dju_untransform(tb, ta->p), dju_untransform(pb, pa->p));
  if (angleBetween(&pb->R, &tb->R) >= SMALL_TURN && dju_norm3(way) > thick) return INFINITY;
  double loose = dju_dot3(dju_mulMtV(pb->R, n), way) + turn * reachOf(a);
  return turn < SMALL_TURN ? fmin(loose, approach(a, pa, ta, pb, tb, n)) : loose;
}

// By how much two bodies near each other along n: the least of bounds that hold on the whole way,
// on which origins move straight. In the world, what origins move and what turns move vertices.
static double approachOf(const djShape* a, const djPose* pa, const djPose* ta, const djShape* b,
                         const djPose* pb, const djPose* tb, djVec3 n, double thick) {
  djMat3 R0 = dju_mulMtM(pb->R, pa->R), R1 = dju_mulMtM(tb->R, ta->R);
  double turn = angleBetween(&R0, &R1);
  double loss = dju_dot3(n, dju_sub3(dju_sub3(ta->p, pa->p), dju_sub3(tb->p, pb->p))) +
                angleBetween(&pa->R, &ta->R) * reachOf(a) +
                angleBetween(&pb->R, &tb->R) * reachOf(b);
  loss = fmin(loss, carriedApproach(a, pa, ta, pb, tb, n, turn, thick));
  return fmin(loss, carriedApproach(b, pb, tb, pa, ta, dju_neg3(n), turn, thick));
}

double dj_planeRoom(const double* setting, const djShape* a, const djShape* b) {
  if (b->type == DJ_PLANE) return INFINITY;
  return setting[DJ_PLANE_SUPPORT] * setting[DJ_PLANE_LENGTH_SCALE] +
         2 * fmin(a->inner, b->inner);
}

djStatus dj_planeMaxStep(double* factor, double* gap, const djGeomPair* p,
                         const djPairMotion* motion) {
  djDistance d;
  djStatus status = dj_convexGap(&d, NULL, p);   // cold: the bits depend on poses alone
  if (status < 0) return status;
  *gap = d.gap;
  double limit = 0.25 * (fmax(d.gap, 0) + dj_planeRoom(motion->setting, p->a, p->b));
  if (motion->move <= limit) return DJ_OK;
  double thick = 2 * fmin(p->a->inner, p->b->inner);
  double loss = approachOf(p->a, p->pose_a, motion->trial_a, p->b, p->pose_b, motion->trial_b,
                           d.normal, thick);
  if (loss > limit && limit / loss < *factor) *factor = limit / loss;
  return DJ_OK;
}
