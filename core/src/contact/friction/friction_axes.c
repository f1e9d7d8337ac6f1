// Axes of a pair's tangents, as MuJoCo chooses them: t1 is y, or z where the normal is within 60
// degrees of y, less its part along the normal; of a capsule against a plane, its axis.

#include "contact/friction/friction_plane.h"

void dj_slipAxes(djSlipAxes* out, const djPairInput* in, djVec3 n) {
  const djShape* a = in->a;
  djVec3 p = {0, 0, 0};
  double least = 0;
  out->n = n;
  out->turns = a && in->b && a->type == DJ_CAPSULE && in->b->type == DJ_PLANE && a->nvert == 2;
  if (out->turns) {
    djVec3 axis = {a->vert[0][1] - a->vert[0][0], a->vert[1][1] - a->vert[1][0],
                   a->vert[2][1] - a->vert[2][0]};
    out->guide = dju_mulMV(in->start_a->R, axis);
    p = dju_madd3(out->guide, -dju_dot3(n, out->guide), n);
    least = 1e-20 * dju_dot3(axis, axis);
  }
  if (!(dju_dot3(p, p) > least)) {
    out->turns = false;
    out->guide = fabs(n.y) < 0.5 ? dju_vec3(0, 1, 0) : dju_vec3(0, 0, 1);
    p = dju_madd3(out->guide, -dju_dot3(n, out->guide), n);
  }
  out->by_a = 1 / dju_norm3(p);
  out->by_n = -dju_dot3(out->guide, n) * out->by_a;
  out->t1 = dju_scale3(out->by_a, p);
  out->t2 = dju_cross3(n, out->t1);
}

djStretch dj_makeStretch(const djLagged* lagged, const djPairInput* in) {
  djSlipAxes axes;
  dj_slipAxes(&axes, in, lagged->normal);
  return (djStretch){in->cone.friction2 / in->friction - 1, axes.t1, axes.t2};
}
