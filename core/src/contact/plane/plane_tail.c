#include "contact/plane/plane_tail.h"

#include <string.h>

static const djBarrier NONE = {0, DJ_BARRIER_SDRS};   // a tail stands in its place

bool dj_planeGuided(const djPairInput* in) {
  return in->guide_part > 0 && in->setting[DJ_PLANE_GUIDE] > 0 && in->b->type != DJ_PLANE;
}

void dj_forgetTail(djPlaneState* state) {
  state->tail_warm = false;
  state->tail_known.set = false;
}

// ------------------------------------------ the plane ------------------------------------------

static double* take(djTailWork* w, int n) {
  if (n > w->nfree) return NULL;
  double* p = w->free;
  w->free += n;
  w->nfree -= n;
  return p;
}

// Weights and what else does not move.
static djStatus openTail(djTailWork* w, const djPairInput* in) {
  if (!dj_isPlaneInput(in)) return DJ_INVALID;
  const double c = in->guide_part * in->setting[DJ_PLANE_GUIDE];
  w->in = in;
  w->shape[0] = in->a;
  w->shape[1] = in->b;
  w->pose[0] = in->pose_a;
  w->pose[1] = in->pose_b;
  w->L = in->setting[DJ_PLANE_LENGTH_SCALE];
  // whole cache lines: lanes start on them
  int skip = (int)((64 - (uintptr_t)in->scratch % 64) % 64 / sizeof(double));
  w->free = in->scratch + skip;
  w->nfree = in->nscratch - skip;
  int n = in->a->npad + in->b->npad;
  w->y = take(w, 5 * n);
  if (!w->y) return DJ_NO_MEMORY;
  double *sign = w->y + 3 * n, *weight = sign + n;
  w->clouds = (djClouds){.na = in->a->nvert, .n = in->a->nvert + in->b->nvert, .tail = &w->tail};
  for (int k = 0; k < 4; k++) w->clouds.x[k] = w->y + k * n;
  for (int i = 0; i < n; i += DJU_LANES) {
    djMask a = dju_firstLanes(w->clouds.na - i);
    dju_storeLanes(sign + i, dju_pick(a, dju_splat(-1), dju_splat(1)));
  }
  w->tail = (djTail){.weight = weight,
                     .offset = in->setting[DJ_PLANE_GUIDE_LENGTH] / w->L,
                     .cap = 4 * c * w->L / in->guide_scale};
  for (int side = 0, at = 0; side < 2; side++) {
    const djShape* s = w->shape[side];
    for (int i = 0; i < s->nvert; i++, at++) {
      weight[at] = c * (s->weight ? s->weight[i] : 1.0 / s->nvert);
      w->tail.total[side] += weight[at];
    }
  }
  return DJ_OK;
}

double dj_tailPart(const djTailWork* w, int at) {
  return w->tail.weight[at] / w->tail.total[at >= w->clouds.na];
}

static void findMeans(djTailWork* w) {
  for (int side = 0, at = 0; side < 2; side++) {
    const djShape* s = w->shape[side];
    djVec3 m = {0, 0, 0};
    for (int i = 0; i < s->nvert; i++) {
      m = dju_madd3(m, dj_tailPart(w, at++), dju_vec3(s->vert[0][i], s->vert[1][i], s->vert[2][i]));
    }
    w->mean[side] = dju_transform(w->pose[side], m);
  }
}

// Clouds of z: with q the share, q R v + (1 - q) m + q p, as vertices are placed by R and p' in
// units of L/q.
static void place(djTailWork* w, djVec3 center) {
  int n = w->in->a->npad + w->in->b->npad;
  djPose moved[2];
  for (int k = 0; k < 2; k++) {
    moved[k].R = w->pose[k]->R;
    moved[k].p = dju_madd3(w->pose[k]->p, 1 / DJ_TAIL_SHARE - 1, w->mean[k]);
  }
  const djPose* const pose[2] = {&moved[0], &moved[1]};
  w->center = center;
  dj_placeHulls(w->y, n, w->shape, pose, dju_scale3(1 / DJ_TAIL_SHARE, center),
                w->L / DJ_TAIL_SHARE);
}

// From mean to mean.
static void startCold(djTailWork* w) {
  place(w, dju_scale3(0.5, dju_add3(w->mean[0], w->mean[1])));
  dju_store3(w->plane.p, dju_sub3(w->mean[1], w->mean[0]));
  dj_centrePlane(w->plane.p, &w->clouds, NONE);
}

// With W and V the sums of weights and k = (sqrt W + sqrt V)^2/4, the slope of the sum by n at n =
// 0 is k/a^2 times what mean points are apart; unless that is more than the cap's the minimum is
// there, and is 2 k/a.
static bool isFlat(djTailWork* w) {
  const djTail* t = &w->tail;
  double root = sqrt(t->total[0]) + sqrt(t->total[1]), k = 0.25 * root * root;
  double apart = dju_norm3(dju_sub3(w->mean[1], w->mean[0])) / w->L;
  if (k * apart > t->cap * t->offset * t->offset) return false;
  w->plane.value = 2 * k / t->offset;
  w->plane.iterations = 0;
  return true;
}

static bool isKnown(const djKnownTail* known, const djTailWork* w) {
  return known->set && !memcmp(&known->pose[0], w->pose[0], sizeof(djPose)) &&
         !memcmp(&known->pose[1], w->pose[1], sizeof(djPose)) && known->L == w->L &&
         known->offset == w->tail.offset && known->cap == w->tail.cap &&
         known->part == w->in->guide_part && known->shape[0] == w->shape[0] &&
         known->shape[1] == w->shape[1];
}

static void keep(djKnownTail* known, const djTailWork* w, djStatus status) {
  *known = (djKnownTail){.set = true,
                         .pose = {*w->pose[0], *w->pose[1]},
                         .L = w->L,
                         .offset = w->tail.offset,
                         .cap = w->tail.cap,
                         .part = w->in->guide_part,
                         .shape = {w->shape[0], w->shape[1]},
                         .center = w->center,
                         .kind = w->kind,
                         .status = status,
                         .plane = w->plane};
}

// From the last plane, else anew.
static djStatus solve(djTailWork* w, djPlaneState* state) {
  w->kind = isFlat(w) ? DJ_PLANE_ZERO : DJ_PLANE_LOST;
  if (w->kind != DJ_PLANE_ZERO && state->tail_warm) {
    place(w, state->tail_center);
    memcpy(w->plane.p, state->tail_plane, sizeof w->plane.p);
    w->kind = dj_solvePlane(&w->plane, &w->clouds, NONE, 12);
  }
  if (w->kind == DJ_PLANE_LOST) {
    startCold(w);
    w->kind = dj_solvePlane(&w->plane, &w->clouds, NONE, 80);
  }
  state->tail_warm = w->kind != DJ_PLANE_ZERO;
  if (state->tail_warm) {
    djVec3 middle = dj_forceMiddle(state->tail_plane, &w->plane);
    state->tail_center = dju_madd3(w->center, w->L, middle);
  }
  return w->kind == DJ_PLANE_LOST ? DJ_NOT_CONVERGED : DJ_OK;
}

static void findLaw(djTailWork* w) {
  const djTail* t = &w->tail;
  double p = w->in->setting[DJ_PLANE_GUIDE_DECAY], U = w->plane.value, c = 0.25 * t->cap;
  w->law[0] = U;
  w->law[1] = 1;
  w->law[2] = 0;
  if (p == DJ_TAIL_DECAY) return;
  double l = w->in->guide_scale / w->L, k = 2 * (1 - p), n = fmax(0.5 - t->offset / l, 0);
  double V = c * l * (4 * n / (l * (1 - n)) + 2 / (0.5 * n * l + t->offset)), power = pow(V / U, k);
  w->law[0] = -V / k * power;
  w->law[1] = V / U * power;
  w->law[2] = -(k + 1) / U * w->law[1];
}

djStatus dj_findTail(djTailWork* w, djPlaneState* state, const djPairInput* in) {
  djStatus status = openTail(w, in);
  if (status) return status;
  findMeans(w);
  const djKnownTail* known = &state->tail_known;
  if (isKnown(known, w)) {
    place(w, known->center);
    w->plane = known->plane;
    w->kind = known->kind;
    status = known->status;
  } else {
    status = solve(w, state);
    keep(&state->tail_known, w, status);
  }
  findLaw(w);
  djVec3 ref[2] = {in->ref_a, in->ref_b};
  for (int k = 0; k < 2; k++) {
    dju_store3(w->ref[k], dju_scale3(1 / w->L, dju_sub3(ref[k], w->center)));
  }
  return status;
}

// Of U.
static void twist(double gradient[12], double mixed[48], double hessian[144], const djTailWork* w) {
  static const double point[2];   // nothing is round
  dj_planeTwist(gradient, mixed, hessian, &w->plane, w->ref, point, 1, w->L);
}

void dj_tailTwist(double gradient[12], double hessian[144], const djTailWork* w) {
  const double* E = w->law;
  twist(gradient, NULL, hessian, w);
  if (E[2] == 0) return;   // it is U itself
  for (int i = 0; i < 144 && hessian; i++) {
    hessian[i] = E[1] * hessian[i] + E[2] * (gradient[i / 12] * gradient[i % 12]);
  }
  for (int i = 0; i < 12; i++) gradient[i] *= E[1];
}

// ------------------------------------------ what it does ---------------------------------------

djStatus dj_addTail(djPairOutput* out, djPlaneState* state, const djPairInput* in, int flags) {
  djTailWork w;
  djStatus status = dj_findTail(&w, state, in);
  if (status < 0) return status;
  out->active = true;
  out->value += w.law[0];
  if (!flags || w.kind == DJ_PLANE_ZERO) return status;
  bool second = flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER);
  double gradient[12], hessian[144];
  dj_tailTwist(gradient, second ? hessian : NULL, &w);
  for (int i = 0; i < 12; i++) out->gradient[i] += gradient[i];
  for (int i = 0; i < 144 && second; i++) out->hessian[i] += hessian[i];
  return status;
}

djStatus dj_reportTail(djPairReport* out, djPlaneState* state, const djPairInput* in) {
  djTailWork w;
  djStatus status = dj_findTail(&w, state, in);
  if (status < 0 || w.kind == DJ_PLANE_ZERO) return status;
  double gradient[12], plane[4];
  djVec3 n = dju_load3(w.plane.p), middle = dj_forceMiddle(plane, &w.plane);
  dj_tailTwist(gradient, NULL, &w);
  out->normal = dju_scale3(1 / dju_norm3(n), n);
  middle = dju_madd3(middle, -plane[3] / dju_dot3(n, n), n);
  out->point = dju_madd3(w.center, w.L, middle);
  out->normal_force = dju_norm3(dju_load3(gradient + 3));
  return DJ_OK;
}

// As plane_vjp.c has it of the barrier: with dp = -U_pp^-1 U_p,xi lambda and the rates of x along
// (lambda, dp),
//
//   xdot = sigma (dn.y + do + n.u),  u = w x (y - ref) + v/L,
//   lambda . U_xi by z:  g = sigma (P'' xdot n + P' (dn + n x w)),
//   by y of vertex i:  q g_i + (1 - q) lambda_i sum g,
//
// and of E_xi = E' U_xi:  E' g + E'' (lambda . U_xi) U_z,  U_z = sigma P' n; along: lambda . U_xi.
static void addVertices(djPairGrad* grad, const djTailWork* w, const double dp[4],
                        const double lambda[12], double along) {
  djVec3 n = dju_load3(w->plane.p), dn = dju_load3(dp);
  for (int side = 0, at = 0; side < 2; side++) {
    double sigma = side ? 1 : -1;
    djVec3 turn = dju_load3(lambda + 6 * side), push = dju_load3(lambda + 6 * side + 3);
    djVec3 ref = dju_load3(w->ref[side]), x = dju_add3(dn, dju_cross3(n, turn));
    double* const* to = (side ? grad->b : grad->a)->vert;
    djVec3 sum = {0, 0, 0};
    for (int i = 0; i < w->shape[side]->nvert; i++, at++) {
      const double* const* cloud = w->clouds.x;
      djVec3 y = dju_scale3(sigma, dju_vec3(cloud[0][at], cloud[1][at], cloud[2][at]));
      djVec3 u = dju_madd3(dju_cross3(turn, dju_sub3(y, ref)), 1 / w->L, push);
      double t[3], rate = sigma * (dju_dot3(dn, y) + dp[3] + dju_dot3(n, u));
      dj_tail(t, sigma * (dju_dot3(n, y) + w->plane.p[3]) + w->tail.offset, w->tail.weight[at]);
      djVec3 by = dju_madd3(dju_scale3(t[2] * rate, n), t[1], x);
      by = dju_madd3(dju_scale3(w->law[1], by), w->law[2] * along * t[1], n);
      by = dju_mulMtV(w->pose[side]->R, dju_scale3(sigma / w->L, by));
      sum = dju_add3(sum, by);
      to[0][i] += DJ_TAIL_SHARE * by.x;
      to[1][i] += DJ_TAIL_SHARE * by.y;
      to[2][i] += DJ_TAIL_SHARE * by.z;
    }
    for (int i = 0; i < w->shape[side]->nvert; i++) {
      double part = (1 - DJ_TAIL_SHARE) * dj_tailPart(w, side ? w->clouds.na + i : i);
      to[0][i] += part * sum.x;
      to[1][i] += part * sum.y;
      to[2][i] += part * sum.z;
    }
  }
}

djStatus dj_addTailVjp(djPairGrad* grad, djPlaneState* state, const djPairInput* in,
                       const double lambda[12]) {
  djTailWork w;
  djStatus status = dj_findTail(&w, state, in);
  if (status < 0 || w.kind == DJ_PLANE_ZERO) return status;
  double gradient[12], mixed[48], b[4] = {0}, dp[4], along = 0;
  twist(gradient, mixed, NULL, &w);
  for (int j = 0; j < 12; j++) along += gradient[j] * lambda[j];
  for (int r = 0; r < 4; r++) {
    for (int j = 0; j < 12; j++) b[r] -= mixed[12 * r + j] * lambda[j];
  }
  dju_solveLdl4(dp, &w.plane.factor, b);
  addVertices(grad, &w, dp, lambda, along);
  grad->setting[DJ_PLANE_GUIDE] += w.law[1] * along / in->setting[DJ_PLANE_GUIDE];
  return status;
}
