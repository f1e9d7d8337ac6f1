// How far a motion may be taken at once under the barrier law, so that bodies do not jump across
// each other: as with the separating plane no pair may approach by more than a quarter of its
// distance, the support and the thickness of the thinner one.
//
// The plane through the touch with normal n separates the surfaces as they are by (D - T) n.d, the
// gap over nu: both lie in half spaces at their own points. On the way this is lost by what origins
// approach along n, and by what turns move the surfaces, at most.

#include "contact/implicit/implicit_max_step.h"

#include "contact/implicit/implicit_lag.h"
#include "math/so3.h"

#include <math.h>

double dj_surfaceRoom(const double* setting, const djShape* a, const djShape* b) {
  const double thick = b->type == DJ_PLANE ? a->inner : fmin(a->inner, b->inner);
  return 2 * thick - dj_lawReach(setting);
}

djStatus dj_surfaceMaxStep(double* factor, double* gap, const djGeomPair* p,
                           const djPairMotion* motion) {
  const djSurfaceState none = {.load = 0};
  const djPairInput in = {.a = p->a,
                          .b = p->b,
                          .pose_a = p->pose_a,
                          .pose_b = p->pose_b,
                          .inflate = p->inflate,
                          .setting = motion->setting};
  djSurfacePair pair;
  djSurfaceTouch t;
  const djStatus status = dj_touchAt(&pair, &t, &none, &in, p->pose_a, p->pose_b);
  if (status < 0) return status;
  *gap = -t.depth;
  const double apart = fmax(-t.depth / t.f.nu, 0);
  const double limit = 0.25 * (apart + dj_surfaceRoom(motion->setting, p->a, p->b));
  if (motion->move <= limit) return DJ_OK;
  const djVec3 moved_a = dju_sub3(motion->trial_a->p, p->pose_a->p);
  const djVec3 moved_b = dju_sub3(motion->trial_b->p, p->pose_b->p);
  const double arm_a = dju_norm3(dju_sub3(pair.frame_a.p, p->pose_a->p)) + pair.a.outer;
  double loss = dju_dot3(t.f.n, dju_sub3(moved_a, moved_b)) +
                arm_a * dju_turnNorm(&p->pose_a->R, &motion->trial_a->R);
  if (pair.half_space) { // which is everywhere: the motion itself bounds what its turns do
    loss = motion->move;
  } else {
    const double arm_b = dju_norm3(dju_sub3(pair.frame_b.p, p->pose_b->p)) + pair.b.outer;
    loss += arm_b * dju_turnNorm(&p->pose_b->R, &motion->trial_b->R);
  }
  if (loss > limit && limit / loss < *factor) *factor = limit / loss;
  return DJ_OK;
}
