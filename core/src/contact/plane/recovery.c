#include "contact/plane/recovery.h"

#include "contact/friction/recovering.h"
#include "math/smooth.h"

#include "shape/curve.h"

#include <string.h>

#define LEAST_SCALE 0.02          // end of phase 2
#define ROUNDING 1e-12            // of a gap, by the size of the shapes

// q = 1 - t + t^2: g_eff = gf + (g1 - gf)/q, d g_eff/dg = (1 - 2t)/q^2.
double dj_recoveryGap(double* derivative, double g) {
  return dj_raisedGap(derivative, g, DJ_RECOVERY_GAP, DJ_RECOVERY_FLOOR);
}

// ------------------------------------------ eroded shapes --------------------------------------

djErosionPath dj_erosionPath(const djErosion* er, int side) {
  djErosionPath ph = {.scale = 1};
  double second = fmax(er->first_end[0], er->first_end[1]);
  double third = second + (1 - LEAST_SCALE) * er->span;
  ph.inner = fmin(er->e, er->first_end[side]);
  ph.in_first = er->e <= er->first_end[side];
  if (er->e > second) {
    ph.in_second = er->e <= third;
    ph.scale = ph.in_second ? 1 - (er->e - second) / er->span : LEAST_SCALE;
  }
  if (er->e > third) {
    ph.in_third = true;
    ph.shift = er->e - third;
  }
  return ph;
}

double dj_erosionShift(const djErosion* erosion) { return dj_erosionPath(erosion, 0).shift; }

void dj_erodeShape(djShape* out, double* mem, const djShape* shape, const djErosion* erosion,
                   int side, bool half_space) {
  *out = *shape;
  if (half_space) {
    if (side == 1) out->offset -= erosion->e;
    return;
  }
  djErosionPath ph = dj_erosionPath(erosion, side);
  const double centre[3] = {shape->center.x, shape->center.y, shape->center.z};
  double local[3];
  dju_store3(local, erosion->local[side]);
  for (int k = 0; k < 3; k++) {
    double* x = mem + k * shape->npad;
    double base = (1 - ph.scale) * centre[k] + ph.shift * local[k];
    for (int i = 0; i < shape->npad; i++) {
      x[i] = ph.scale * (shape->vert[k][i] - ph.inner * shape->move[k][i]) + base;
    }
    out->vert[k] = x;
  }
  out->radius = ph.scale * (shape->radius + ph.inner * shape->radius_slope);
  for (int i = 0; i < 9 && shape->curved; i++) {
    out->curve.m[i] = ph.scale * (shape->curve.m[i] - ph.inner * shape->curve_move.m[i]);
  }
  out->center = dju_madd3(out->center, ph.shift, erosion->local[side]);
  if (!(shape->skin + ph.inner <= shape->list_reach)) out->list = NULL;
}

void dj_erosionRate(double* rate, double* radius_rate, const djShape* shape,
                    const djErosion* erosion, int side) {
  djErosionPath ph = dj_erosionPath(erosion, side);
  double first = ph.in_first ? -1 : 0, second = ph.in_second ? -1 / erosion->span : 0;
  const double centre[3] = {shape->center.x, shape->center.y, shape->center.z};
  double local[3];
  dju_store3(local, erosion->local[side]);
  for (int k = 0; k < 3; k++) {
    double third = ph.in_third ? local[k] : 0;
    for (int i = 0; i < shape->npad; i++) {
      double arm = shape->vert[k][i] - ph.inner * shape->move[k][i] - centre[k];
      rate[k * shape->npad + i] = first * shape->move[k][i] + second * arm + third;
    }
  }
  *radius_rate = -first * shape->radius_slope +
                 second * (shape->radius + ph.inner * shape->radius_slope);
}

djMat3 dj_erosionCurveRate(const djShape* shape, const djErosion* erosion, int side) {
  djErosionPath ph = dj_erosionPath(erosion, side);
  double first = ph.in_first ? -1 : 0, second = ph.in_second ? -1 / erosion->span : 0;
  djMat3 rate;
  for (int i = 0; i < 9; i++) {
    double axis = shape->curve.m[i] - ph.inner * shape->curve_move.m[i];
    rate.m[i] = first * shape->curve_move.m[i] + second * axis;
  }
  return rate;
}

double dj_softening(double* rate, const djErosion* erosion, const djPairInput* in) {
  *rate = 0;
  if (!(erosion->e > 0) || !(erosion->t < 0)) return 1;
  djJet softer = dj_softerBarrier(erosion->t, log(dj_recoveryStiffness(in)), DJ_RECOVERY_DEEPENS);
  *rate = softer.d;
  return exp(softer.f);
}

// ------------------------------------------ the equation ---------------------------------------

// Gap of the pair with erosion er, at the start poses.
static djStatus erodedGap(double* gap, djDistance* d, djDistanceCache* cache, djShape eroded[2],
                          const djErosion* er, const djPairInput* in, double* scratch) {
  dj_erodeShape(&eroded[0], scratch, in->a, er, 0, false);
  dj_erodeShape(&eroded[1], scratch + 3 * in->a->npad, in->b, er, 1, false);
  djStatus status =
      dj_distance(d, cache, &eroded[0], in->start_a, 0, &eroded[1], in->start_b, 0);
  *gap = d->gap - dj_pairInflation(&eroded[0], &eroded[1], in->inflate);
  return status < 0 ? status : DJ_OK;
}

// dq/de along n, body frame.
static double reachRate(const djShape* eroded, const djShape* shape, const djErosion* er, int side,
                        djVec3 n) {
  if (!shape->curved) return 0;
  djVec3 w;
  dj_curveReach(NULL, &w, &eroded->curve, n);
  return dju_dot3(w, dju_mulMtV(dj_erosionCurveRate(shape, er, side), n));
}

// d gap/de of separated shapes. The witness points are combinations of vertices with weights
// lambda; by the envelope theorem n and lambda may be held:
//   d gap/de = n . sum_k lambda_k (R_b rate_b,k - R_a rate_a,k) - d(r_a + r_b + q_a + q_b)/de,
// with dq/de = w . (dG/de)^T n of shape/curve.h.
// rate: 3 (npad_a + npad_b)
static double gapSlope(const djDistance* d, const djDistanceCache* cache,
                       const djShape eroded[2], const djErosion* er, const djPairInput* in,
                       double* rate) {
  double dr[2];
  double* rate_b = rate + 3 * in->a->npad;
  dj_erosionRate(rate, &dr[0], in->a, er, 0);
  dj_erosionRate(rate_b, &dr[1], in->b, er, 1);
  djVec3 na = dju_mulMtV(in->start_a->R, d->normal), nb = dju_mulMtV(in->start_b->R, d->normal);
  double slope = 0;
  int stride_a = in->a->npad, stride_b = in->b->npad;
  for (int k = 0; k < cache->count; k++) {
    const double *qa = rate + cache->a[k], *qb = rate_b + cache->b[k];
    slope += cache->weight[k] *
             (nb.x * qb[0] + nb.y * qb[stride_b] + nb.z * qb[2 * stride_b] -
              (na.x * qa[0] + na.y * qa[stride_a] + na.z * qa[2 * stride_a]));
  }
  slope -= reachRate(&eroded[0], in->a, er, 0, na) + reachRate(&eroded[1], in->b, er, 1, nb);
  bool clamped = eroded[0].radius + eroded[1].radius + in->inflate <= 0;
  return clamped ? slope : slope - dr[0] - dr[1];
}

// Path of the pair: ends of phase 1, span, and the direction in which coincident shapes part.
static void makePath(djErosion* er, const djDistance* at_start, const djPairInput* in) {
  const djShape* shape[2] = {in->a, in->b};
  for (int k = 0; k < 2; k++) {
    er->first_end[k] = fmax(DJ_INNER_PART * shape[k]->inner - shape[k]->skin, 0);
  }
  er->span = fmax(in->a->bound, in->b->bound);
  djVec3 centres = dju_sub3(dju_transform(in->start_b, in->b->center),
                            dju_transform(in->start_a, in->a->center));
  er->centres = dju_norm3(centres);
  if (er->centres > 1e-6 * er->span) {
    er->apart = dju_scale3(1 / er->centres, centres);
  } else {
    er->centres = 0;
    er->apart = at_start->normal;
  }
  er->local[0] = dju_neg3(dju_mulMtV(in->start_a->R, er->apart));
  er->local[1] = dju_mulMtV(in->start_b->R, er->apart);
}

// gap(e) increases: Newton where the shapes are separated, else the secant, within a bracket. Where
// the depth of overlapping shapes was an upper bound alone the bracket may close on a jump. Its
// upper end is taken then, where the shapes are apart, by more than they should.
static djStatus findErosion(djErosion* er, double gap, double target, const djPairInput* in,
                            double* scratch) {
  int n = in->a->npad + in->b->npad;
  double low = 0, gap_low = gap, high = 0, gap_high = 0;
  bool bracketed = false;
  er->e = 0.5 * (target - gap);
  double tolerance = 1e-15 * (er->span + fabs(target));
  for (int k = 0; k < 100; k++) {
    djDistance d;
    djDistanceCache cache = {0};
    djShape eroded[2];
    double now;
    djStatus status = erodedGap(&now, &d, &cache, eroded, er, in, scratch);
    if (status) return status;
    if (fabs(now - target) <= tolerance) return DJ_OK;
    if (now < target) {
      low = er->e;
      gap_low = now;
    } else {
      high = er->e;
      gap_high = now;
      bracketed = true;
    }
    if (bracketed && high - low <= 1e-15 * high) {
      // at most the gap's rounding remains
      double rounding = ROUNDING * (er->span + fabs(target));
      if (fabs(now - target) <= rounding) return DJ_OK;
      er->e = high;
      return gap_high - target <= rounding ? DJ_OK : DJ_NOT_CONVERGED;
    }
    double next = NAN;
    bool curved = in->a->curved || in->b->curved;
    if (d.gap + (curved ? 0 : eroded[0].radius + eroded[1].radius) > tolerance) {
      double slope = gapSlope(&d, &cache, eroded, er, in, scratch + 3 * n);
      if (slope > 0.01) next = er->e + (target - now) / slope;
    }
    if (bracketed && !(next > low && next < high)) {
      next = low + (high - low) * (target - gap_low) / (gap_high - gap_low);
      if (k % 3 == 2 || !(next > low && next < high)) next = 0.5 * (low + high);
    } else if (!bracketed && !(next > low)) {
      next = low + fmax(0.5 * (target - gap_low), 0.1 * low);
    }
    er->e = next;
  }
  if (bracketed) er->e = high;
  return DJ_NOT_CONVERGED;
}

static djVec3 startVertex(const djPairInput* in, int i) {
  const djShape* a = in->a;
  return dju_transform(in->start_a, dju_vec3(a->vert[0][i], a->vert[1][i], a->vert[2][i]));
}

djLowest dj_lowestVertices(const djPairInput* in, double range) {
  djLowest low = {.least = INFINITY, .width = DJ_SOFT_WIDTH * range,
                  .normal = dju_mulMV(in->start_b->R, in->b->normal)};
  djVec3 lowest = {0, 0, 0}, mean = {0, 0, 0};
  double above = 0;
  for (int i = 0; i < in->a->nvert; i++) {
    djVec3 x = startVertex(in, i);
    double h = dju_dot3(low.normal, x);
    if (!(h < low.least)) continue;
    low.least = h;
    lowest = x;
  }
  for (int i = 0; i < in->a->nvert; i++) {
    djVec3 x = dju_sub3(startVertex(in, i), lowest);
    double t = dju_dot3(low.normal, x) / low.width, share = exp(-t);
    low.sum += share;
    above += share * t;
    mean = dju_madd3(mean, share, x);
  }
  low.mean = dju_madd3(lowest, 1 / low.sum, mean);
  low.by_width = log(low.sum) + above / low.sum;
  low.lift = low.width * log(low.sum);
  return low;
}

djVec3 dj_lowestMean(const djLowest* low, const djPairInput* in, djVec3 point) {
  double nearest = INFINITY;
  djVec3 at = low->mean;
  for (int i = 0; i < in->a->nvert; i++) {
    djVec3 x = startVertex(in, i), off = dju_sub3(point, x);
    if (!(dju_dot3(low->normal, x) < low->least + 1e-9 * low->width)) continue;
    off = dju_madd3(off, -dju_dot3(low->normal, off), low->normal);
    if (!(dju_dot3(off, off) < nearest)) continue;
    nearest = dju_dot3(off, off);
    at = x;
  }
  return dju_sub3(low->mean, at);
}

double dj_lowestShare(const djLowest* low, const djPairInput* in, int i) {
  double h = dju_dot3(low->normal, startVertex(in, i));
  return exp((low->least - h) / low->width) / low->sum;
}

djStatus dj_solveErosion(djErosion* erosion, const djDistance* at_start, double gap,
                         const djPairInput* in, double range, double* scratch) {
  memset(erosion, 0, sizeof *erosion);
  if (in->b->type == DJ_PLANE) gap -= dj_lowestVertices(in, range).lift;
  double derivative, g = gap / range;
  erosion->t = (g - DJ_RECOVERY_GAP) / (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR);
  if (!(erosion->t < 0)) return DJ_OK;
  double target = range * dj_recoveryGap(&derivative, g);
  if (in->b->type == DJ_PLANE) {   // gap(e) = gap + e
    erosion->e = target - gap;
    return DJ_OK;
  }
  makePath(erosion, at_start, in);
  return findErosion(erosion, gap, target, in, scratch);
}

// ------------------------------------------ derivatives ----------------------------------------

// d gap/d twists at fixed erosion: witness points move with their bodies, n.(dx_b - dx_a).
static void gapJac(double dgap[12], const djDistance* d, const djPairInput* in) {
  djVec3 n = d->normal;
  dju_store3(dgap, dju_neg3(dju_cross3(dju_sub3(d->point_a, in->ref_a), n)));
  dju_store3(dgap + 3, dju_neg3(n));
  dju_store3(dgap + 6, dju_cross3(dju_sub3(d->point_b, in->ref_b), n));
  dju_store3(dgap + 9, n);
}

// du = (I - u u^T)(dc_b - dc_a)/|c_b - c_a|
static void apartJac(double du[36], const djErosion* er, const djPairInput* in) {
  memset(du, 0, 36 * sizeof(double));
  if (er->centres <= 0) return;
  djVec3 u = er->apart;
  djVec3 arm[2] = {dju_sub3(dju_transform(in->start_a, in->a->center), in->ref_a),
                   dju_sub3(dju_transform(in->start_b, in->b->center), in->ref_b)};
  for (int j = 0; j < 12; j++) {
    int side = j / 6, axis = j % 3;
    djVec3 e = dju_vec3(axis == 0, axis == 1, axis == 2);
    djVec3 dc = j % 6 < 3 ? dju_cross3(e, arm[side]) : e;
    if (side == 0) dc = dju_neg3(dc);
    dc = dju_scale3(1 / er->centres, dju_madd3(dc, -dju_dot3(u, dc), u));
    du[j] = dc.x;
    du[12 + j] = dc.y;
    du[24 + j] = dc.z;
  }
}

// gap(e, xi) = range g_eff(gap(0, xi)/range):
//   gap_e de = (g_eff' gap_xi(0) - gap_xi(e)) dxi
static djStatus distanceAtStart(djDistance* d, double* gap, const djPairInput* in, double range) {
  djStatus status = dj_distance(d, NULL, in->a, in->start_a, 0, in->b, in->start_b, 0);
  if (status < 0) return status;
  *gap = d->gap - dj_pairInflation(in->a, in->b, in->inflate);
  if (in->b->type != DJ_PLANE) return DJ_OK;
  djLowest low = dj_lowestVertices(in, range);
  *gap -= low.lift;
  d->point_a = dju_add3(d->point_a, dj_lowestMean(&low, in, d->point_a));
  d->point_b = d->point_a;   // where it is along the normal does not matter
  return DJ_OK;
}

djStatus dj_startGap(double* gap, double* by, const djPairInput* in, double range) {
  djDistance d;
  djStatus status = distanceAtStart(&d, gap, in, range);
  if (status < 0) return status;
  *gap /= range;
  if (by) gapJac(by, &d, in);
  for (int j = 0; j < 12 && by; j++) by[j] /= range;
  return DJ_OK;
}

djStatus dj_erosionJac(double de[12], double dt[12], double du[36], const djErosion* erosion,
                       const djPairInput* in, double range, double* scratch) {
  djDistance d;
  double first[12], second[12], derivative, gap;
  djStatus status = distanceAtStart(&d, &gap, in, range);
  if (status < 0) return status;
  bool half_space = in->b->type == DJ_PLANE;
  gapJac(first, &d, in);
  dj_recoveryGap(&derivative, gap / range);
  memset(du, 0, 36 * sizeof(double));
  for (int j = 0; j < 12; j++) dt[j] = first[j] / (range * (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR));
  if (half_space) {
    for (int j = 0; j < 12; j++) de[j] = (derivative - 1) * first[j];
    return DJ_OK;
  }
  double slope;
  djDistanceCache cache = {0};
  status = dj_erodedSlope(&slope, &d, &cache, erosion, in, scratch);
  if (status) return status;
  gapJac(second, &d, in);
  djErosionPath ph = dj_erosionPath(erosion, 0);
  if (ph.in_third) {
    // Shifts by -+shift u stay with the bodies: the gap also changes by n . 2 shift du, less the
    // part by which rotating bodies carry their shifts, which gapJac contains and the path lacks.
    apartJac(du, erosion, in);
    double w = 2 * ph.shift;
    djVec3 n = d.normal, turn = dju_scale3(ph.shift, dju_cross3(erosion->apart, n));
    double t[3];
    dju_store3(t, turn);
    for (int j = 0; j < 12; j++) {
      second[j] += w * (n.x * du[j] + n.y * du[12 + j] + n.z * du[24 + j]);
    }
    for (int j = 0; j < 3; j++) {
      second[j] -= t[j];
      second[6 + j] -= t[j];
    }
  }
  for (int j = 0; j < 12; j++) de[j] = (derivative * first[j] - second[j]) / slope;
  return DJ_OK;
}

djStatus dj_erodedSlope(double* slope, djDistance* d, djDistanceCache* cache, const djErosion* er,
                        const djPairInput* in, double* scratch) {
  double gap;
  djShape eroded[2];
  djStatus status = erodedGap(&gap, d, cache, eroded, er, in, scratch);
  if (status) return status;
  *slope = gapSlope(d, cache, eroded, er, in, scratch + 3 * (in->a->npad + in->b->npad));
  return *slope > 0 ? DJ_OK : DJ_SINGULAR;
}
