#include "contact/friction/recovering.h"

#include "math/barrier.h"

#include <math.h>

double dj_raisedGap(double* derivative, double g, double from, double floor) {
  const double width = from - floor, t = (g - from) / width;
  const double q = 1 - t + t * t;
  *derivative = (1 - 2 * t) / (q * q);
  return floor + width / q;
}

djJet dj_softerBarrier(double t, double log_r, double c) {
  if (!(t < 0)) return (djJet){0, 0, 0};
  const djJet b = dju_smoothStep(-t), w = dju_smoothRamp(-t - 5, 1);
  const double more = 1 + c * w.f;
  return (djJet){log_r * b.f + log(more), -log_r * b.d - c * w.d / more, 0};
}

// p: its logarithm, and the derivative of that. With b = 1/u = 1 + q, p = f1 b^2, (f1 b^2)' = b f2.
static double logSlope(double* derivative, djBarrierLaw barrier, double u) {
  double f[3];
  dj_barrierByDepth(f, barrier, (1 - u) / u);
  *derivative = -f[2] / (f[1] * u);
  return log(f[1]) - 2 * log(u);
}

// u of p(u) = y > 0.
static double barrierInverse(djBarrierLaw barrier, double y) {
  return 1 / (1 + dj_barrierDepthFrom(barrier, y, dj_mostBarrierDepth(barrier, y), 1e-15));
}

// e and log r from a gap, and their derivatives.
typedef struct djRecovering {
  double e, e_by_gap, soft, soft_by_gap;
} djRecovering;

static djRecovering recoveringFrom(double gap, const djLagLaw* law) {
  djRecovering r = {0, 0, 0, 0};
  if (!(gap < law->from)) return r;
  const double width = law->from - law->floor;
  const djJet softer = dj_softerBarrier((gap - law->from) / width, law->softness, law->deepens);
  double slope;
  r.e = dj_raisedGap(&slope, gap, law->from, law->floor) - gap;
  r.e_by_gap = slope - 1;
  r.soft = softer.f;
  r.soft_by_gap = softer.d / width;
  return r;
}

// k
static djLagFactor share(double F, double gap, double past, const djLagLaw* law) {
  const djLagFactor none = {0, 0, 0, 0, 0};
  djLagFactor k = {1, 0, 0, 0, 0};
  if (!(past < gap) || !(past < law->from) || !(F > 0) || !(law->scale > 0)) return k;
  const djRecovering now = recoveringFrom(gap, law), was = recoveringFrom(past, law);
  double by_u, by_was;
  const double u = barrierInverse(law->barrier, F / (law->scale * exp(now.soft)));
  const double v = u + was.e - now.e;
  if (!(v < 1)) return none;
  const double own = logSlope(&by_u, law->barrier, u);
  const double y = own + now.soft - logSlope(&by_was, law->barrier, v) - was.soft;
  if (!(y > 0)) return k;
  const double y3 = y * y * y, q = 1 + y3;
  const double more = 1 - by_was / by_u; // du = d(log F - log A r)/by_u
  k.c = exp(-y * y3 / q);
  const double slope = -k.c * y3 * (4 + y3) / (q * q);
  k.by_force = slope * more / F;
  k.by_scale = -slope * more;
  k.by_gap = slope * (now.soft_by_gap * (1 - more) + by_was * now.e_by_gap);
  k.by_past = -slope * (by_was * was.e_by_gap + was.soft_by_gap);
  return k;
}

// (1 + (b F/W)^4)^(-1/4), by F and g.
static djLagFactor bound(double F, double gap, const djLagLaw* law) {
  djLagFactor c = {1, 0, 0, 0, 0};
  const double W = law->weight, width = law->from - law->floor;
  if (!(W > 0) || isinf(W) || !(gap < INFINITY)) return c;
  const djJet near = dju_smoothStep((law->from - gap) / width);
  if (near.f == 0) return c;
  const double x = near.f * F / W, x3 = x * x * x, q = 1 + x3 * x;
  c.c = 1 / sqrt(sqrt(q));
  const double slope = -x3 * c.c / (q * W);
  c.by_force = slope * near.f;
  c.by_gap = -slope * F * near.d / width;
  return c;
}

djLagFactor dj_lagFactor(double F, double gap, double past, const djLagLaw* law) {
  const djLagFactor k = share(F, gap, past, law), b = bound(k.c * F, gap, law);
  const double by_share = b.c + k.c * F * b.by_force;
  return (djLagFactor){.c = k.c * b.c,
                       .by_force = k.by_force * by_share + k.c * k.c * b.by_force,
                       .by_gap = k.by_gap * by_share + k.c * b.by_gap,
                       .by_past = k.by_past * by_share,
                       .by_scale = k.by_scale * by_share};
}

double dj_movedSince(const djPairInput* in) {
  const djPose *now[2] = {in->start_a, in->start_b}, *past[2] = {in->past_a, in->past_b};
  const djShape* shape[2] = {in->a, in->b};
  double moved = 0;
  for (int k = 0; k < 2; k++) {
    double turned = 0;
    for (int i = 0; i < 9; i++) {
      double d = now[k]->R.m[i] - past[k]->R.m[i];
      turned += d * d;
    }
    moved += dju_norm3(dju_sub3(now[k]->p, past[k]->p));
    if (turned == 0) continue;
    if (shape[k]->type == DJ_PLANE) return INFINITY;
    moved += sqrt(turned) * (dju_norm3(shape[k]->center) + shape[k]->bound);
  }
  return moved;
}
