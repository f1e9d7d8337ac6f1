// Height fields: derivative of lambda . gradient by shapes, heights and coefficients; as of a half
// space in plane_vjp.c.
//
// All goes through the heights z_i, the normals N_i and w_i = J_i . lambda = N . u(x), u the bodies'
// relative velocity, Omega its spin. With g = u - C (N x Omega), phi = T . g and mu = M phi
//
//   dw = g . dN + (N x Omega) . (dy - dc),   dN = T (M dF - N_z A d grad h),
//   dF = T . (dy - dc) - (T . up) dh + N_z (d + C) A d grad h,
//
// so that for a cotangent nu of N, phi = T . nu, and X of y - c besides, and alpha of z
//
//   by y:       alpha N + T mu + X              by G: -alpha dq - (T mu + X) . dc
//   by h:       -alpha N_z - T mu . up          by grad h: N_z ((d + C) mu - phi) A
//   by a twist (omega, v) of the field about r:
//     v: -alpha N - T mu,   omega: -alpha (x - r) x N + N x nu - (x - r) x T mu + (C T mu) x N.

#include "contact/plane/plane_lag.h"
#include "contact/plane/terrain.h"
#include "math/barrier.h"

#include <string.h>

// What is collected besides the derivatives by shapes.
typedef struct djTerrainSink {
  djPairGrad* grad;
  double e, range, support;  // by erosion, by the range, by s directly
} djTerrainSink;

// Cotangents of one point.
typedef struct djFootCotangent {
  double z;                  // alpha
  djVec3 n, more;            // nu, X
  double plane;              // of N . S
} djFootCotangent;

static void addVertices(djShapeGrad* grad, const djTerrainWork* w, int point, djVec3 by_world) {
  const djVec3 by = dju_mulMtV(w->pose[0]->R, by_world);
  const djTerrainMean m = dj_terrainMean(w->in->a, point);
  for (int k = 0; k < m.n; k++) {
    grad->vert[0][m.vertex[k]] += m.weight[k] * by.x;
    grad->vert[1][m.vertex[k]] += m.weight[k] * by.y;
    grad->vert[2][m.vertex[k]] += m.weight[k] * by.z;
  }
}

static void addCurve(djShapeGrad* grad, const djTerrainWork* w, const djNearFoot* f, double z,
                     djVec3 x) {
  djMat3 by = {{0}};
  dj_curveGrad(&by, -z, &w->curve, f->n, NULL);
  dj_curveGrad(&by, -1, &w->curve, f->n, &x);
  by = dju_mulMtM(w->pose[0]->R, by);
  for (int i = 0; i < 9; i++) grad->curve.m[i] += by.m[i];
}

// By heights: their coefficients.
static void addSurface(djShapeGrad* grad, const djTerrainWork* w, const djNearFoot* f,
                       const djFootCotangent* c, const double phi[2], const double mu[2]) {
  if (!grad->number) return;
  djTerrainPoint at;
  djFoot foot;
  djMat3 G;
  if (w->curved) G = dju_mulMtM(w->frame.R, w->curve);
  const djVec3 y = dju_untransform(&w->frame, dj_terrainPoint(w, f));
  dj_footAt(&foot, &w->terrain, f->u, y, w->curved ? &G : NULL);
  dj_evalTerrain(&at, &w->terrain, f->u[0], f->u[1]);
  const double* C = foot.C;
  const double k[2] = {(foot.d + C[0]) * mu[0] + C[1] * mu[1] - phi[0],
                       C[1] * mu[0] + (foot.d + C[2]) * mu[1] - phi[1]};
  const double h = (c->plane - c->z) * foot.n.z - mu[0] * foot.T[0].z - mu[1] * foot.T[1].z;
  double g[2];
  for (int l = 0; l < 2; l++) g[l] = foot.n.z * (k[0] * foot.A[l] + k[1] * foot.A[2 + l]);
  const int width = w->terrain.ncol + 4;
  for (int r = 0; r < 4; r++) {
    double* to = grad->number + at.first + r * width;
    for (int i = 0; i < 4; i++) {
      to[i] += h * at.bx[i] * at.by[r] + g[0] * at.sx[i] * at.by[r] + g[1] * at.bx[i] * at.sy[r];
    }
  }
}

static void addFoot(djTerrainSink* out, const djTerrainWork* w, const djNearFoot* f,
                    const djFootCotangent* c) {
  djShapeGrad *a = out->grad->a, *b = out->grad->b;
  const double phi[2] = {dju_dot3(f->T[0], c->n), dju_dot3(f->T[1], c->n)}, *M = f->M;
  const double mu[2] = {M[0] * phi[0] + M[1] * phi[1], M[1] * phi[0] + M[2] * phi[1]};
  const djVec3 along = dju_madd3(dju_scale3(mu[0], f->T[0]), mu[1], f->T[1]);
  const djVec3 direct = dju_add3(along, c->more);
  addVertices(a, w, f->point, dju_madd3(direct, c->z, f->n));
  if (w->curved) addCurve(a, w, f, c->z, direct);
  a->radius -= c->z;
  b->offset += c->plane - c->z;
  out->e += c->z - c->plane;
  if (f->point >= w->in->a->nvert) out->range += c->z;
  addSurface(b, w, f, c, phi, mu);
  // of the field itself
  const djVec3 r = w->frame.p, x = dju_sub3(f->x, r), s = dju_sub3(f->s, r);
  const djVec3 v = dju_sub3(dju_scale3(c->plane - c->z, f->n), along);
  djVec3 turn = dju_sub3(dju_cross3(f->n, c->n), dju_cross3(x, dju_madd3(along, c->z, f->n)));
  turn = dju_madd3(turn, c->plane, dju_cross3(s, f->n));
  if (w->curved) turn = dju_add3(turn, dju_cross3(dj_terrainBend(w, f, along), f->n));
  b->origin = dju_add3(b->origin, dju_mulMtV(w->pose[1]->R, v));
  b->turn = dju_add3(b->turn, dju_mulMtV(w->pose[1]->R, turn));
}

// factor times the derivative of U along dp and, where there are twists, lambda; by_D (or NULL): of
// the arguments, beside. First t and o.
static void addDirection(djTerrainSink* out, const djTerrainWork* w, const double dp[2],
                         const double* lambda, double factor) {
  const double t = w->half.t, o = w->half.o, inv = 1 / w->L;
  out->support += factor * (4 * dj_barrierBySupport(-o, w->law) * -dp[1] -
                            dj_barrierBySupport(1 - t, w->law) * dp[0]);
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    if (f->first == 0) continue;
    const double zeta = f->z * inv;
    double rate = dp[0] * zeta + dp[1];
    djFootCotangent c = {.z = 0};
    if (lambda) {
      const djVec3 spin = dju_sub3(dju_load3(lambda), dju_load3(lambda + 6));
      const djVec3 ra = dju_sub3(f->x, w->in->ref_a), rb = dju_sub3(f->x, w->in->ref_b);
      djVec3 u = dju_add3(dju_cross3(dju_load3(lambda), ra), dju_load3(lambda + 3));
      u = dju_sub3(u, dju_add3(dju_cross3(dju_load3(lambda + 6), rb), dju_load3(lambda + 9)));
      rate += t * inv * dju_dot3(f->n, u);
      const double beta = factor * t * inv * f->first;
      c.more = dju_scale3(beta, dju_cross3(f->n, spin));
      c.n = dju_sub3(dju_scale3(beta, u), dj_terrainBend(w, f, c.more));
    }
    c.z = factor * inv * (dp[0] * f->first + t * f->second * rate);
    out->support += factor * dj_barrierBySupport(t * zeta + o, w->law) * rate;
    addFoot(out, w, f, &c);
  }
}

static djStatus addNormal(djTerrainSink* out, double* by_K, djTerrainWork* w,
                          const double lambda[12]) {
  const djStatus status = dj_solveTerrain(w);
  if (status < 0 || w->kind != DJ_TOUCHING) return status;
  double mixed[24], b[2] = {0, 0}, x[2];
  dj_terrainMixed(mixed, w);
  for (int j = 0; j < 12; j++) {
    b[0] -= mixed[j] * lambda[j];
    b[1] -= mixed[12 + j] * lambda[j];
  }
  for (int i = 0; i < w->n; i++) {
    double J[12], sum = 0;
    if (w->foot[i].first == 0) continue;
    dj_terrainRow(J, w, &w->foot[i]);
    for (int j = 0; j < 12; j++) sum += J[j] * lambda[j];
    *by_K += w->half.t / w->L * w->foot[i].first * sum;
  }
  dj_terrainInner(x, w, b);
  addDirection(out, w, x, lambda, w->K);
  return status;
}

// ------------------------------------------ friction -------------------------------------------

// Cotangents of one point's lagged quantities.
typedef struct djLagCotangent {
  double force, normal[3], offset;
} djLagCotangent;

// Of friction's own arguments; the points at once.
static djStatus slidingVjp(djLagCotangent* by, djTerrainSink* out, djTerrainState* state,
                           const djTerrainLag* lag, int n, const djTerrainWork* w,
                           const djPairInput* in, const double lambda[12]) {
  const int smaller = dj_smallerShape(in);
  for (int i = 0; i < n; i++) {
    double point[3 * DJ_LAG_SPLIT], force[DJ_LAG_SPLIT];
    djLaggedGrad g = {.point = point, .force = force};
    djFrictionState other = {.w = 0}, *own;
    const djLagged lagged = dj_terrainLagged(state, &own, &other, &lag[i], i, in);
    const djStatus status = dj_frictionVjp(&g, own, &lagged, in, lambda);
    if (status < 0) return status;
    djVec3 sum = {0, 0, 0};
    by[i].force = 0;
    for (int k = 0; k < lag[i].split; k++) {
      by[i].force += force[k] / lag[i].split;
      sum = dju_add3(sum, dju_load3(point + 3 * k));
    }
    djVec3 normal = dju_load3(g.normal);
    if (in->a->curved) {
      const djLagShape on = {in->a, in->start_a, lag[i].normal, 0};
      normal = dju_add3(normal, dj_lagOffsetVjp(&out->grad->a->curve, point, &on));
    }
    dju_store3(by[i].normal, normal);
    by[i].offset = g.offset;
    addVertices(out->grad->a, w, w->foot[lag[i].foot].point, sum);
    out->grad->friction += g.coefficient;
    dj_addCone(&out->grad->cone, &g.cone);
    if (smaller >= 0) (smaller ? out->grad->b : out->grad->a)->bound += g.size;
  }
  return DJ_OK;
}

// Forces f_i = c(F, g, g_) g_i, g_i = -(K/L) t P'(t z_i + o), and planes' offsets.
static void forcesVjp(djTerrainSink* out, djLagFactor* by_c, double* by_K,
                      const djLagCotangent* by, const djTerrainState* state,
                      const djTerrainLag* lag, int n, const djTerrainWork* w) {
  const double t = w->half.t, o = w->half.o, inv = 1 / w->L, unit = w->K * inv, scale = unit * t;
  const djLagSums sums = dj_terrainSums(w);
  double by_count, dot = 0, by_p[2] = {0, 0}, x[2];
  const djLagFactor factor = dj_planeLagFactor(&by_count, &sums, &state->plane, w->in);
  for (int i = 0; i < n; i++) dot -= by[i].force * scale * w->foot[lag[i].foot].first;
  by_c->by_gap = factor.by_gap * dot;
  by_c->by_past = factor.by_past * dot;
  by_c->by_scale = factor.by_scale * dot;
  for (int i = 0; i < n; i++) {
    const djNearFoot* f = &w->foot[lag[i].foot];
    const double g = -scale * f->first, zeta = f->z * inv;
    double by_g = state->plane.lag_factor * by[i].force + dot * factor.by_force;
    by_g += 2 * dot * by_count * (1 / sums.F - g / sums.squares);
    const double by_D = -by_g * scale * f->second;
    *by_K -= by_g * t * inv * f->first;
    out->support -= by_g * scale * dj_barrierBySupport(t * zeta + o, w->law);
    by_p[0] += -by_g * unit * f->first + by_D * zeta + by[i].offset * w->L * o / (t * t);
    by_p[1] += by_D - by[i].offset * w->L / t;
    const djFootCotangent c = {
        .z = by_D * t * inv,
        .n = dju_madd3(dju_neg3(dju_load3(by[i].normal)), by[i].offset, f->s),
        .plane = by[i].offset};
    addFoot(out, w, f, &c);
  }
  by_p[0] = -by_p[0];
  by_p[1] = -by_p[1];
  dj_terrainInner(x, w, by_p);
  addDirection(out, w, x, NULL, 1);
}

static djStatus addFriction(djTerrainSink* out, djLagFactor* by_c, double* by_K,
                            djTerrainState* state, const djPairInput* in,
                            const double lambda[12]) {
  const djTerrainLag* lag;
  int n;
  djTerrainWork w;
  djStatus status = dj_getTerrainLag(&lag, &n, state, in, &w);
  if (status < 0 || w.kind != DJ_TOUCHING) return status;
  djLagCotangent few[DJ_TERRAIN_POINTS], *by = few;
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  if (n > DJ_TERRAIN_POINTS) {
    const int size = n * (int)(sizeof *by / sizeof(double));
    if (size > w.nfree) return DJ_NO_MEMORY;
    by = (djLagCotangent*)(void*)w.free;
    rest.scratch += size;
    rest.nscratch -= size;
  }
  status = slidingVjp(by, out, state, lag, n, &w, &rest, lambda);
  if (status >= 0) forcesVjp(out, by_c, by_K, by, state, lag, n, &w);
  return status;
}

// ------------------------------------------ recovery -------------------------------------------

// By e and t at the poses of `in`: e = range (g_eff(g) - g), t = (g - g1)/width, with the smoothed
// gap (terrain_feet.c).
static djStatus addErosion(djTerrainSink* out, double by_e, double by_t, const djPairInput* in) {
  const djErosion none = {0};
  const double width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
  djTerrainWork w;
  if (by_e == 0 && by_t == 0) return DJ_OK;
  const djStatus status = dj_openTerrain(&w, in, &none, true);
  if (status < 0) return status;
  double slope, least = INFINITY, sum = 0, above = 0;
  const double soft = DJ_SOFT_WIDTH * w.range, gap = dj_terrainGap(NULL, &w);
  const double raised = dj_recoveryGap(&slope, gap);
  const double by_gap = by_e * (slope - 1) + by_t / (w.range * width);
  for (int i = 0; i < w.n; i++) least = fmin(least, w.foot[i].z);
  for (int i = 0; i < w.n; i++) {
    const double rise = (w.foot[i].z - least) / soft, share = exp(-rise);
    sum += share;
    above += share * rise;
  }
  out->range += by_e * (raised - gap * slope) - by_t * gap / (w.range * width);
  out->range -= by_gap * DJ_SOFT_WIDTH * (log(sum) + above / sum);
  for (int i = 0; i < w.n; i++) {
    const djFootCotangent c = {.z = by_gap * exp((least - w.foot[i].z) / soft) / sum};
    addFoot(out, &w, &w.foot[i], &c);
  }
  return DJ_OK;
}

djStatus dj_terrainVjp(djPairGrad* grad, djPairState* pair_state, const djPairInput* in,
                       const double lambda[12]) {
  djTerrainState* state = (djTerrainState*)(void*)pair_state;
  const djPlaneState* plane = &state->plane;
  djTerrainSink out = {.grad = grad};
  djTerrainWork w;
  djLagFactor by_c = {0, 0, 0, 0, 0};
  double by_K = 0;
  djStatus status = dj_openTerrainNow(&w, in, state);
  if (status < 0) return status;
  const double soft = w.soft, rate = w.soft_rate, K = w.K, s = w.law.s;
  djStatus solved = state->beneath ? DJ_OK : addNormal(&out, &by_K, &w, lambda);
  if (solved < 0) return solved;
  if (dj_planeSlides(plane, in)) {
    status = addFriction(&out, &by_c, &by_K, state, in, lambda);
    if (status < 0) return status;
  }
  const double width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR, by_e = out.e;
  grad->setting[DJ_PLANE_STIFFNESS] += soft * by_K;
  if (by_c.by_scale != 0) {   // A is K/s^2 times a constant
    grad->setting[DJ_PLANE_STIFFNESS] += by_c.by_scale / in->setting[DJ_PLANE_STIFFNESS];
    out.support -= 2 * by_c.by_scale / s;
  }
  const double by_t = by_c.by_gap * width + rate * K * by_K;
  status = addErosion(&out, plane->erosion.e > 0 ? by_e : 0, by_t, in);
  if (status >= 0 && by_c.by_past != 0) {
    djPairInput rest = *in;
    rest.start_a = in->past_a;
    rest.start_b = in->past_b;
    status = addErosion(&out, 0, by_c.by_past * width, &rest);
  }
  grad->setting[DJ_PLANE_SUPPORT] += out.support + out.range * dj_planeRangeSlope(in->setting);
  return status < 0 ? status : solved;
}
