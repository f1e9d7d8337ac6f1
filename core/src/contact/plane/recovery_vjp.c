// Recovery's erosion as a function of the shapes: vector-Jacobian products.
//
// An eroded vertex is x = S (v - f m) + (1 - S) c + t u, the radius S (r + f r') and the semi-axes
// S (G - f M), where f is the part of e in phase 1, S the scale of phase 2, t the shift of phase 3
// and u `local`; see recovery.c.
// e itself solves gap(e) = range g_eff(gap(0)/range), so that by a shape's parameter
//
//   gap_e e' = g_eff' gap(0)' - gap(e)' + (g_eff - g g_eff') range'.

#include "contact/plane/recovery.h"

#include "shape/curve.h"

#include <string.h>

static void addTo(djVec3* sum, double f, djVec3 v) { *sum = dju_madd3(*sum, f, v); }

static djVec3 column(const double* const x[3], int i) {
  return dju_vec3(x[0][i], x[1][i], x[2][i]);
}

static void addVertex(double* const x[3], int i, djVec3 v) {
  x[0][i] += v.x;
  x[1][i] += v.y;
  x[2][i] += v.z;
}

void dj_erodeShapeVjp(djShapeGrad* grad, djErosionGrad* out, const djErodedGrad* eroded,
                      const djShape* s, const djErosion* er, int side) {
  djErosionPath ph = dj_erosionPath(er, side);
  const double *x = eroded->x, radius = eroded->radius;
  const double* const in[3] = {x, x + s->npad, x + 2 * s->npad};
  double by_first = 0, by_scale = 0;
  djVec3 sum = {0, 0, 0};
  for (int i = 0; i < s->nvert; i++) {
    djVec3 g = column(in, i), m = column(s->move, i);
    djVec3 arm = dju_sub3(dju_madd3(column(s->vert, i), -ph.inner, m), s->center);
    addVertex(grad->vert, i, dju_scale3(ph.scale, g));
    addVertex(grad->move, i, dju_scale3(-ph.scale * ph.inner, g));
    by_first -= ph.scale * dju_dot3(g, m);
    by_scale += dju_dot3(g, arm);
    sum = dju_add3(sum, g);
  }
  grad->radius += ph.scale * radius;
  grad->radius_slope += ph.scale * ph.inner * radius;
  by_first += ph.scale * s->radius_slope * radius;
  by_scale += (s->radius + ph.inner * s->radius_slope) * radius;
  for (int i = 0; i < 9 && s->curved; i++) {
    double g = eroded->curve.m[i], m = s->curve_move.m[i];
    grad->curve.m[i] += ph.scale * g;
    grad->curve_move.m[i] -= ph.scale * ph.inner * g;
    by_first -= ph.scale * g * m;
    by_scale += g * (s->curve.m[i] - ph.inner * m);
  }
  addTo(&grad->center, 1 - ph.scale, sum);
  addTo(&out->local[side], ph.shift, sum);
  // f = min(e, first_end); S = 1 - (e - second)/span, second the larger end; t = e - second - ..
  // span
  *(ph.in_first ? &out->e : &out->first_end[side]) += by_first;
  int larger = er->first_end[1] > er->first_end[0];
  double by_shift = dju_dot3(sum, er->local[side]);
  if (ph.in_second) {
    out->e -= by_scale / er->span;
    out->first_end[larger] += by_scale / er->span;
    out->span += by_scale * (1 - ph.scale) / er->span;
  } else if (ph.in_third) {
    out->e += by_shift;
    out->first_end[larger] -= by_shift;
    out->span -= by_shift * (1 - ph.scale);
  }
}

// Semi-axes of a shape, eroded.
static djMat3 erodedCurve(const djShape* s, const djErosion* er, int side) {
  djErosionPath ph = dj_erosionPath(er, side);
  djMat3 G;
  for (int i = 0; i < 9; i++) G.m[i] = ph.scale * (s->curve.m[i] - ph.inner * s->curve_move.m[i]);
  return G;
}

// f times the derivative of a gap by the vertices, radii and semi-axes G of both shapes at the
// start poses: n . sum_k weight_k (b_k - a_k) - r_a - r_b - q_a - q_b. out: overwritten, x has
// 3 npad each.
static void gapGrad(djErodedGrad out[2], double f, const djDistance* d,
                    const djDistanceCache* cache, const djPairInput* in, bool clamped,
                    const djMat3 G[2]) {
  const djShape* shape[2] = {in->a, in->b};
  const djPose* pose[2] = {in->start_a, in->start_b};
  for (int side = 0; side < 2; side++) {
    int stride = shape[side]->npad;
    memset(out[side].x, 0, 3 * (size_t)stride * sizeof(double));
    out[side].radius = clamped ? 0 : -f;   // inflation keeps their sum at zero
    djVec3 n = dju_mulMtV(pose[side]->R, d->normal);
    memset(&out[side].curve, 0, sizeof out[side].curve);
    if (shape[side]->curved) dj_curveGrad(&out[side].curve, -f, &G[side], n, NULL);
    n = dju_scale3(side ? f : -f, n);
    for (int k = 0; k < cache->count; k++) {
      double* to = out[side].x + (side ? cache->b[k] : cache->a[k]);
      to[0] += cache->weight[k] * n.x;
      to[stride] += cache->weight[k] * n.y;
      to[2 * stride] += cache->weight[k] * n.z;
    }
  }
}

static double erodedRadius(const djShape* s, const djErosion* er, int side) {
  djErosionPath ph = dj_erosionPath(er, side);
  return ph.scale * (s->radius + ph.inner * s->radius_slope);
}

static void addShape(djShapeGrad* grad, const djErodedGrad* by, const djShape* s) {
  const double* x = by->x;
  for (int i = 0; i < s->nvert; i++) {
    addVertex(grad->vert, i, dju_vec3(x[i], x[s->npad + i], x[2 * s->npad + i]));
  }
  grad->radius += by->radius;
  for (int i = 0; i < 9; i++) grad->curve.m[i] += by->curve.m[i];
}

// The directions in which coincident shapes part follow the line of centres.
static void centreGrad(djPairGrad* grad, const djErosionGrad* g, const djErosion* er,
                       const djPairInput* in) {
  if (er->centres <= 0) return;
  djVec3 u = er->apart, by_u = dju_sub3(dju_mulMV(in->start_b->R, g->local[1]),
                                        dju_mulMV(in->start_a->R, g->local[0]));
  djVec3 c = dju_scale3(1 / er->centres, dju_madd3(by_u, -dju_dot3(u, by_u), u));
  addTo(&grad->a->center, -1, dju_mulMtV(in->start_a->R, c));
  addTo(&grad->b->center, 1, dju_mulMtV(in->start_b->R, c));
}

// ends of phase 1 are 0.95 inner - skin, the span is the larger bound.
static void pathGrad(djPairGrad* grad, const djErosionGrad* g, const djErosion* er,
                     const djPairInput* in) {
  djShapeGrad* shape[2] = {grad->a, grad->b};
  for (int k = 0; k < 2; k++) {
    if (!(er->first_end[k] > 0)) continue;
    shape[k]->inner += DJ_INNER_PART * g->first_end[k];
    shape[k]->skin -= g->first_end[k];
  }
  shape[in->b->bound > in->a->bound]->bound += g->span;
  centreGrad(grad, g, er, in);
}

static djStatus halfSpaceVjp(djPairGrad* grad, const djErosionGrad* g, const djDistance* d,
                             const djPairInput* in, double gap, double range) {
  djLowest low = dj_lowestVertices(in, range);
  gap -= low.lift;
  double slope, width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
  double target = dj_recoveryGap(&slope, gap / range);
  // e = range g_eff(gap/range) - gap, t = (gap/range - g1)/width
  double by_gap = g->e * (slope - 1) + g->t / (range * width);
  double by_range = g->e * (target - gap / range * slope) - g->t * gap / (range * range * width);
  by_range -= by_gap * low.by_width * DJ_SOFT_WIDTH;
  grad->setting[DJ_PLANE_SUPPORT] += by_range * dj_planeRangeSlope(in->setting);
  djVec3 N = dju_neg3(d->normal), x = dju_madd3(d->point_a, in->a->radius, N);
  djVec3 local = dju_mulMtV(in->start_a->R, N);
  x = dju_add3(x, dj_lowestMean(&low, in, d->point_a));
  for (int i = 0; i < in->a->nvert; i++) {
    double share = dj_lowestShare(&low, in, i);
    addVertex(grad->a->vert, i, dju_scale3(by_gap * share, local));
  }
  grad->a->radius -= by_gap;
  if (in->a->curved) dj_curveGrad(&grad->a->curve, -by_gap, &in->a->curve, local, NULL);
  addTo(&grad->b->normal, by_gap, dju_untransform(in->start_b, x));
  grad->b->offset -= by_gap;
  return DJ_OK;
}

// Of hulls: by gap(e), and by what else the path of erosion takes from the shapes; *f: minus the
// derivative by gap(e).
static djStatus erodedVjp(djPairGrad* grad, double* f, djErosionGrad g, const djErosion* er,
                          const djPairInput* in, double* scratch) {
  djErodedGrad by[2] = {{.x = scratch}, {.x = scratch + 3 * in->a->npad}};
  const djMat3 curve[2] = {erodedCurve(in->a, er, 0), erodedCurve(in->b, er, 1)};
  djDistance d;
  djDistanceCache cache = {0};
  double by_e;
  djStatus status = dj_erodedSlope(&by_e, &d, &cache, er, in, scratch);
  if (status) return status;
  *f = g.e / by_e;
  g.e = 0;
  double radii = erodedRadius(in->a, er, 0) + erodedRadius(in->b, er, 1);
  bool clamped = in->inflate < 0 && radii + in->inflate <= 0;
  gapGrad(by, -*f, &d, &cache, in, clamped, curve);
  dj_erodeShapeVjp(grad->a, &g, &by[0], in->a, er, 0);
  dj_erodeShapeVjp(grad->b, &g, &by[1], in->b, er, 1);
  pathGrad(grad, &g, er, in);
  return DJ_OK;
}

djStatus dj_erosionVjp(djPairGrad* grad, const djErosionGrad* given, const djErosion* er,
                       const djPairInput* in, double* scratch) {
  const bool eroded = er->e > 0;
  if (!eroded && given->t == 0) return DJ_OK;
  const djErosionGrad g = eroded ? *given : (djErosionGrad){.t = given->t};
  djDistance d;
  djDistanceCache cache = {0};
  double range = dj_planeRange(in->setting), slope, f = 0;
  djStatus status = dj_distance(&d, &cache, in->a, in->start_a, 0, in->b, in->start_b, 0);
  if (status < 0) return status;
  double gap = d.gap - dj_pairInflation(in->a, in->b, in->inflate);
  if (in->b->type == DJ_PLANE) return halfSpaceVjp(grad, &g, &d, in, gap, range);
  if (eroded) {
    status = erodedVjp(grad, &f, g, er, in, scratch);
    if (status) return status;
  }
  // Of gap(0), t and the range.
  djErodedGrad by[2] = {{.x = scratch}, {.x = scratch + 3 * in->a->npad}};
  const djMat3 curve[2] = {in->a->curve, in->b->curve};
  double target = dj_recoveryGap(&slope, gap / range), width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
  double by_gap = f * slope + g.t / (range * width);
  bool clamped = in->inflate < 0 && in->a->radius + in->b->radius + in->inflate <= 0;
  gapGrad(by, by_gap, &d, &cache, in, clamped, curve);
  addShape(grad->a, &by[0], in->a);
  addShape(grad->b, &by[1], in->b);
  double by_range = f * (target - gap / range * slope) - g.t * gap / (range * range * width);
  grad->setting[DJ_PLANE_SUPPORT] += by_range * dj_planeRangeSlope(in->setting);
  return DJ_OK;
}
