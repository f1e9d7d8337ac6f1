// Euclidean distance of implicit surfaces (dijoco/implicit.h).

#include "contact/query/implicit_query.h"
#include "shape/implicit_distance.h"

// What (2) of shape/implicit_distance.h needs, in world axes.
typedef struct World {
  const djImplicitGap* gap;
  djVec3 n, t[2], y, y_b;
  djMat3 R[2];
} World;

static void openWorld(World* w, const djImplicitGap* gap, const djcImplicitPair* p) {
  w->gap = gap;
  w->R[0] = p->R[0];
  w->R[1] = p->R[1];
  w->n = dju_mulMV(p->R[0], gap->n);
  for (int k = 0; k < 2; k++) w->t[k] = dju_mulMV(p->R[0], gap->t[k]);
  w->y = dju_mulMV(p->R[0], gap->y);
  w->y_b = dju_mulMV(p->R[1], gap->y_b);
}

static djVec3 along(const djVec3 t[2], const double c[2]) {
  return dju_madd3(dju_scale3(c[0], t[0]), c[1], t[1]);
}

static void store(double* column, int stride, djVec3 v) {
  column[0] = v.x;
  column[stride] = v.y;
  column[2 * stride] = v.z;
}

// By a unit twist of a (side 0) or b: rotation about its origin, or translation.
static void byTwist(djcImplicitDistance* out, const World* w, int side, int k) {
  const int c = k % 3, column = 6 * side + k;
  const djVec3 e = dju_vec3(c == 0, c == 1, c == 2), zero = dju_vec3(0, 0, 0);
  const djVec3 arm = side ? w->y_b : w->y, move = k < 3 ? dju_cross3(e, arm) : e;
  djImplicitShift s = {{0}, {0}, {0}, {0}, {0}, {0}};
  for (int i = 0; i < 2; i++) {
    if (k < 3) (side ? s.B : s.A)[i] = dju_dot3(w->t[i], dju_cross3(e, w->n));
    s.w[i] = (side ? 1 : -1) * dju_dot3(w->t[i], move);
  }
  dj_shiftGap(&s, w->gap);
  out->ddistance[column] = (side ? 1 : -1) * dju_dot3(w->n, move);
  store(out->dnormal + column, 12, along(w->t, s.dn));
  store(out->dpoint_a + column, 12, dju_add3(side ? zero : move, along(w->t, s.tau)));
  store(out->dpoint_b + column, 12, dju_add3(side ? move : zero, along(w->t, s.sigma)));
}

// By the numbers of a shape: c = -dphi/|grad| along its outward normal m, which turns by e =
// (t.dgrad + c t.Hess m)/|grad|. All is linear in dphi and dgrad, in the shape's axes.
static void bySizes(double* by, const World* w, djcImplicitPair* p, int side, int sign) {
  const djImplicit* shape = &p->shape[side];
  const djImplicitPoint* at = side ? &w->gap->b : &w->gap->a;
  const double over = 1 / dju_norm3(at->g);
  const djVec3 m = dju_scale3(over, at->g);
  const djVec3 bend = dju_mulMV(w->R[side], dj_bendImplicit(at->H, m));
  double map[10][4];
  for (int k = 0; k < 4; k++) {
    const double c = k > 0 ? 0 : -over;
    const djVec3 g = k > 0 ? dju_column(&w->R[side], k - 1) : dju_vec3(0, 0, 0);
    djImplicitShift s = {{0}, {0}, {0}, {0}, {0}, {0}};
    for (int i = 0; i < 2; i++) {
      const double e = over * (dju_dot3(w->t[i], g) + c * dju_dot3(w->t[i], bend));
      s.A[i] = side ? 0 : e;
      s.B[i] = side ? -e : 0;
    }
    dj_shiftGap(&s, w->gap);
    djVec3 dp = along(w->t, s.tau), dq = along(w->t, s.sigma);
    if (side)
      dq = dju_madd3(dq, -c, w->n);
    else
      dp = dju_madd3(dp, c, w->n);
    map[0][k] = -c;
    store(&map[1][k], 4, dju_scale3(sign, along(w->t, s.dn)));
    store(&map[sign < 0 ? 7 : 4][k], 4, dp);
    store(&map[sign < 0 ? 4 : 7][k], 4, dq);
  }
  dj_mapNumbers(by, 10, map[0], shape, side ? w->gap->y_b : w->gap->y);
}

// What was found with b first.
static void turnRound(djcImplicitDistance* out, int flags) {
  for (int k = 0; k < 3; k++) out->normal[k] = -out->normal[k];
  dj_swapVectors(out->point_a, out->point_b, 3);
  if (!(flags & DJC_DERIVATIVES)) return;
  dj_swapVectors(out->dpoint_a, out->dpoint_b, 36);
  dj_swapTwists(out->ddistance, 1, 1);
  dj_swapTwists(out->dnormal, 3, -1);
  dj_swapTwists(out->dpoint_a, 3, 1);
  dj_swapTwists(out->dpoint_b, 3, 1);
}

djStatus djc_implicitDistance(djcImplicitDistance* out, double* by_a, double* by_b,
                              djcImplicitPair* p, int flags) {
  if (!out || !p || !p->evaluated) return DJ_INVALID;
  djImplicitGap gap;
  djStatus status = DJ_OK;
  if (p->plane) {
    dj_distanceHalfSpace(&gap, &p->touch, p->D - p->touch.T);
    const djVec3 q = dju_madd3(gap.y, gap.delta, gap.n);
    gap.y_b = dju_mulMtV(p->R[1], dju_add3(dju_sub3(p->pos[0], p->pos[1]), dju_mulMV(p->R[0], q)));
  } else {
    status = dj_distanceImplicit(&gap, p->has_near ? p->near : NULL, &p->shape[0], &p->shape[1],
                                 &p->place, p->D, &p->touch);
    p->has_near = status == DJ_OK && gap.delta > 0;
    p->near[0] = gap.y;
    p->near[1] = gap.y_b;
  }
  World w;
  openWorld(&w, &gap, p);
  out->distance = gap.delta;
  out->iterations = gap.iterations;
  dju_store3(out->normal, w.n);
  dju_store3(out->point_a, dju_add3(p->pos[0], w.y));
  dju_store3(out->point_b, dju_add3(p->pos[1], w.y_b));
  for (int k = 0; k < 12 && flags & DJC_DERIVATIVES; k++) byTwist(out, &w, k / 6, k % 6);
  if (p->swapped) turnRound(out, flags);
  const int sign = p->swapped ? -1 : 1;
  double* by[2] = {p->swapped ? by_b : by_a, p->swapped ? by_a : by_b};
  for (int side = 0; side < 2; side++) {
    if (by[side] && p->shape[side].nsize > 0) bySizes(by[side], &w, p, side, sign);
  }
  return status;
}
