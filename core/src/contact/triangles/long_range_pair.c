#include "contact/triangles/long_range_pair.h"

#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/wrench.h"

#include <math.h>
#include <string.h>

djLongLaw dj_longLaw(double L, const double* setting) {
  const double K = 12 * setting[DJ_LONG_STIFFNESS];
  const double e = exp(0.5 * (log(setting[DJ_LONG_LENGTH_SCALE]) - L));
  return (djLongLaw){K * (1 + e) * (1 + e), -K * e * (1 + e), 0.5 * K * e * (1 + 2 * e)};
}

djLongLaw dj_longLawOf(double L, const djLongPair* p, const double* setting) {
  const double K = setting[DJ_LONG_STIFFNESS];
  return p->sums ? (djLongLaw){K * L, K, 0} : dj_longLaw(L, setting);
}

// ------------------------------------------ opening --------------------------------------------

static bool isFinitePose(const djPose* T) {
  double sum = T->p.x + T->p.y + T->p.z;
  for (int k = 0; k < 9; k++) sum += T->R.m[k];
  return isfinite(sum);
}

static bool isSolid(const djShape* s) { return s && s->fit && s->nvert > 0 && s->npad >= s->nvert; }

static bool isGood(const djPairInput* in) {
  if (!in || !isSolid(in->a) || !in->b || !in->pose_a || !in->pose_b) return false;
  if (in->b->type != DJ_PLANE && !isSolid(in->b)) return false;
  return in->inflate == 0 && isFinitePose(in->pose_a) && isFinitePose(in->pose_b);
}

// The state as it is to be used; NULL where it has no room.
static djWarmPlanes* openWarm(djPairState* state, const djPairInput* in, int ntri) {
  djWarmPlanes* warm = dj_warmPlanesOf(state);
  if (in->cold || !warm || in->state_size < DJ_WARM_SIZE(1)) return NULL;
  warm->n = (unsigned)((in->state_size - sizeof *warm) / sizeof *warm->plane);
  warm->stride = (unsigned)ntri;
  return warm;
}

djStatus dj_openLongPair(djLongPair* p, djPairState* state, const djPairInput* in, int order) {
  if (!isGood(in)) return DJ_INVALID;
  p->plane = in->b->type == DJ_PLANE;
  p->sums = in->setting[DJ_LONG_WEIGHTING] == DJ_LONG_PAPER;
  p->axes = in->pose_b->R;
  p->apart = dju_sub3(in->ref_a, in->ref_b);
  const djPose place = {dju_untransform(in->pose_b, in->pose_a->p),
                        dju_mulMtM(in->pose_b->R, in->pose_a->R)};
  const djVec3 c = dju_untransform(in->pose_b, in->ref_a);
  if (p->plane) {
    p->half = (djHalfPair){.nvert = in->a->nvert,
                           .weight = in->a->weight,
                           .place = place,
                           .c = c,
                           .normal = in->b->normal,
                           .offset = in->b->offset,
                           .length_scale = in->setting[DJ_LONG_LENGTH_SCALE],
                           .order = order};
    for (int k = 0; k < 3; k++) p->half.vert[k] = in->a->vert[k];
    return DJ_OK;
  }
  dj_openTriangles(&p->a, in->a);
  dj_openTriangles(&p->b, in->b);
  p->mean = (djMeanPair){.a = &p->a,
                         .b = &p->b,
                         .place = place,
                         .c = c,
                         .near = in->setting[DJ_LONG_LEAF] == DJ_LONG_DISTANCE,
                         .sums = p->sums,
                         .length_scale = in->setting[DJ_LONG_LENGTH_SCALE],
                         .eps = in->setting[DJ_LONG_EPS],
                         .order = order,
                         .warm = openWarm(state, in, p->b.ntri)};
  return DJ_OK;
}

djStatus dj_longDistance(djMeanDistance* out, double* gap, djLongPair* p) {
  if (p->plane) {
    return p->sums ? dj_halfSum(out, gap, &p->half) : dj_halfDistance(out, gap, &p->half);
  }
  const djSphereNode *a = &p->a.node[0], *b = &p->b.node[0];
  const djVec3 x = dju_transform(&p->mean.place, dju_load3(a->x));
  *gap = dju_norm3(dju_sub3(x, dju_load3(b->x))) - a->R - b->R;
  return p->sums ? dj_triangleSum(out, &p->mean) : dj_meanDistance(out, &p->mean);
}

// ------------------------------------------ both bodies ----------------------------------------

static void turnVectors(double* x, const djMat3* R, int n, int stride) {
  for (int k = 0; k < n; k++) {
    const djVec3 v = dju_mulMV(
        *R, dju_vec3(x[3 * k * stride], x[(3 * k + 1) * stride], x[(3 * k + 2) * stride]));
    x[3 * k * stride] = v.x;
    x[(3 * k + 1) * stride] = v.y;
    x[(3 * k + 2) * stride] = v.z;
  }
}

// Minus the wrench on b about ref_b where that on a about ref_a is g: (t, f) -> -(t + s x f, f).
// Entries are stride apart.
static void opposite(double* out, const double* g, djVec3 s, int stride) {
  const djVec3 t = {g[0], g[stride], g[2 * stride]};
  const djVec3 f = {g[3 * stride], g[4 * stride], g[5 * stride]};
  const djVec3 turn = dju_neg3(dju_add3(t, dju_cross3(s, f))), force = dju_neg3(f);
  const double x[6] = {turn.x, turn.y, turn.z, force.x, force.y, force.z};
  for (int k = 0; k < 6; k++) out[k * stride] = x[k];
}

// The plain derivative (contact/wrench.h) of a's gradient by a's own twist.
static void ownColumns(double K[144], const double g[6], const double* H, const djMat3* axes) {
  double full[36];
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++)
      full[6 * i + j] = H[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i];
  }
  for (int i = 0; i < 6; i++) turnVectors(full + i, axes, 2, 6);
  for (int i = 0; i < 6; i++) turnVectors(full + 6 * i, axes, 2, 1);
  for (int j = 0; j < 6; j++) {
    const djVec3 e = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
    const djVec3 more = dju_scale3(j < 3 ? 0.5 : 1, dju_cross3(e, dju_load3(g + (j < 3 ? 0 : 3))));
    const double add[3] = {more.x, more.y, more.z};
    for (int i = 0; i < 6; i++) K[12 * i + j] = full[6 * i + j] + (i < 3 ? add[i] : 0);
  }
}

// Where b moves by (w, v) about ref_b, that is both together, which turns a's gradient (t, f), and
// a back: with d = v + w x s, what the common motion does to ref_a's place,
//   (w x t + d x f, w x f) - K_aa (w, d).
static void otherColumns(double K[144], const double g[6], djVec3 s) {
  const djVec3 t = dju_load3(g), f = dju_load3(g + 3);
  for (int j = 0; j < 6; j++) {
    const djVec3 e = {j % 3 == 0, j % 3 == 1, j % 3 == 2}, none = {0, 0, 0};
    const djVec3 w = j < 3 ? e : none, d = j < 3 ? dju_cross3(e, s) : e;
    const djVec3 turn = dju_add3(dju_cross3(w, t), dju_cross3(d, f)), force = dju_cross3(w, f);
    const double both[6] = {turn.x, turn.y, turn.z, force.x, force.y, force.z};
    const double back[6] = {w.x, w.y, w.z, d.x, d.y, d.z};
    for (int i = 0; i < 6; i++) {
      double sum = both[i];
      for (int k = 0; k < 6; k++) sum -= K[12 * i + k] * back[k];
      K[12 * i + 6 + j] = sum;
    }
  }
}

void dj_completeLong(double gradient[12], double* hessian, const double g[6], const double* H,
                     const djLongPair* p) {
  memcpy(gradient, g, 6 * sizeof *g);
  turnVectors(gradient, &p->axes, 2, 1);
  opposite(gradient + 6, gradient, p->apart, 1);
  if (!hessian) return;
  ownColumns(hessian, gradient, H, &p->axes);
  otherColumns(hessian, gradient, p->apart);
  for (int j = 0; j < 12; j++) opposite(hessian + 72 + j, hessian + j, p->apart, 12);
  dj_toExponential(hessian, gradient);
  for (int i = 0; i < 12; i++) { // symmetric but for rounding
    for (int j = 0; j < i; j++) {
      const double mean = 0.5 * (hessian[12 * i + j] + hessian[12 * j + i]);
      hessian[12 * i + j] = hessian[12 * j + i] = mean;
    }
  }
}
