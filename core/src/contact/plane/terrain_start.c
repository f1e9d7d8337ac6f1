// Height fields: derivative of the gradient by the poses at the start of the step, as of a half space
// in plane_start.c, with a normal of its own for each point:
//
//   dN = w_b x N + T M F dxi,   plane of point i: N . x = N . S + h,  d(N . S) = dN . S + N . v_b(S).

#include "contact/plane/plane_lag.h"
#include "contact/plane/terrain.h"

#include <string.h>

// How erosion follows the start twists.
typedef struct djRaise {
  bool any;
  double de[12], dt[12];
} djRaise;

static djStatus raiseOf(djRaise* r, const djTerrainState* state, const djPairInput* in) {
  const djPlaneState* plane = &state->plane;
  const djErosion none = {0};
  const double width = DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR;
  memset(r, 0, sizeof *r);
  r->any = plane->erosion.e > 0;
  if (!r->any && !(plane->lagged && plane->lag_past < INFINITY)) return DJ_OK;
  djTerrainWork w;
  double by[12], slope;
  const djStatus status = dj_openTerrain(&w, in, &none, true);
  if (status < 0) return status;
  const double gap = dj_terrainGap(by, &w);
  dj_recoveryGap(&slope, gap);
  for (int j = 0; j < 12; j++) {
    r->dt[j] = by[j] / width;
    if (r->any) r->de[j] = w.range * (slope - 1) * by[j];
  }
  return DJ_OK;
}

// U_t,e and U_o,e, per metre.
static void byErosion(double p[2], const djTerrainWork* w) {
  const double t = w->half.t, inv = 1 / w->L;
  p[0] = p[1] = 0;
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    p[0] += inv * (t * f->second * f->z * inv + f->first);
    p[1] += inv * t * f->second;
  }
}

static djStatus addNormal(double start_jac[144], const djTerrainState* state,
                          const djPairInput* in, const djRaise* r) {
  djTerrainWork w;
  djStatus status = dj_openTerrainNow(&w, in, state);
  if (status >= 0) status = dj_solveTerrain(&w);
  if (status < 0 || w.kind != DJ_TOUCHING) return status;
  double mixed[24], p[2], x[2], gradient[12] = {0};
  dj_terrainMixed(mixed, &w);
  byErosion(p, &w);
  dj_terrainInner(x, &w, p);
  for (int i = 0; i < w.n; i++) {
    const djNearFoot* f = &w.foot[i];
    double J[12];
    if (f->first == 0) continue;
    dj_terrainRow(J, &w, f);
    for (int j = 0; j < 12; j++) gradient[j] += w.half.t / w.L * f->first * J[j];
  }
  for (int i = 0; i < 12; i++) {
    const double g = w.half.t / w.L * mixed[12 + i] - mixed[i] * x[0] - mixed[12 + i] * x[1];
    const double softer = w.soft_rate * gradient[i];
    for (int j = 0; j < 12; j++) start_jac[12 * i + j] += w.K * (g * r->de[j] + softer * r->dt[j]);
  }
  return status;
}

// dt and do (2 x 12) at the start.
static void planeMotion(double dp[24], const djTerrainWork* w, const djRaise* r) {
  double mixed[24], p[2];
  dj_terrainMixed(mixed, w);
  byErosion(p, w);
  for (int j = 0; j < 12; j++) {
    const double b[2] = {mixed[j] + p[0] * r->de[j], mixed[12 + j] + p[1] * r->de[j]};
    double x[2];
    dj_terrainInner(x, w, b);
    dp[j] = -x[0];
    dp[12 + j] = -x[1];
  }
}

// Of a point's force, before the factor of all.
static void forceRow(double df[12], const djTerrainWork* w, const djNearFoot* f,
                     const double dp[24], const djRaise* r) {
  const double t = w->half.t, inv = 1 / w->L, scale = w->K * inv;
  double J[12];
  dj_terrainRow(J, w, f);
  for (int j = 0; j < 12; j++) {
    const double dD = f->z * inv * dp[j] + dp[12 + j] + t * inv * (J[j] + r->de[j]);
    const double dt = dp[j] + t * w->soft_rate * r->dt[j];
    df[j] = -scale * (f->first * dt + t * f->second * dD);
  }
}

static double forceOf(const djTerrainWork* w, const djNearFoot* f) {
  return -w->K / w->L * w->half.t * f->first;
}

// The factor of all forces.
static void factorRow(double dc[12], const djTerrainState* state, const djTerrainWork* w,
                      const double dp[24], const djRaise* r) {
  double by_count;
  const djLagSums sums = dj_terrainSums(w);
  const djLagFactor by = dj_planeLagFactor(&by_count, &sums, &state->plane, w->in);
  const double by_t = by.by_gap * (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR);
  for (int j = 0; j < 12; j++) dc[j] = by_t * r->dt[j];
  if (by.by_force == 0 && by_count == 0) return;
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    double df[12];
    if (f->first == 0) continue;
    forceRow(df, w, f, dp, r);
    const double by_f = by.by_force +
                        2 * by_count * (1 / sums.F - forceOf(w, f) / sums.squares);
    for (int j = 0; j < 12; j++) dc[j] += by_f * df[j];
  }
}

// Normal and offset of a point's plane.
static void planeRows(djLaggedJac* jac, const djTerrainWork* w, const djNearFoot* f,
                      const double dp[24], const djRaise* r) {
  const double t = w->half.t, o = w->half.o, *M = f->M;
  double F[2][12];
  dj_terrainTurn(F, w, f);
  for (int j = 0; j < 12; j++) {
    const djVec3 e = {j % 3 == 0, j % 3 == 1, j % 3 == 2};
    const double p = M[0] * F[0][j] + M[1] * F[1][j], q = M[1] * F[0][j] + M[2] * F[1][j];
    djVec3 dN = dju_madd3(dju_scale3(p, f->T[0]), q, f->T[1]);
    double shift = dju_dot3(dN, f->s);
    if (j >= 9) shift += dju_dot3(f->n, e);
    if (j >= 6 && j < 9) {
      const djVec3 turned = dju_cross3(e, f->n);
      dN = dju_add3(dN, turned);
      shift += dju_dot3(turned, w->in->ref_b);
    }
    jac->dnormal[j] = -dN.x;
    jac->dnormal[12 + j] = -dN.y;
    jac->dnormal[24 + j] = -dN.z;
    jac->doffset[j] = shift - r->de[j] - w->L * (dp[12 + j] / t - o * dp[j] / (t * t));
  }
}

static djStatus addFriction(double start_jac[144], double rate_jac[144], djTerrainState* state,
                            const djPairInput* in, const djRaise* r) {
  const djTerrainLag* lag;
  int n;
  djTerrainWork w;
  djStatus status = dj_getTerrainLag(&lag, &n, state, in, &w);
  if (status < 0 || w.kind != DJ_TOUCHING) return status;
  double dp[24], dc[12];
  planeMotion(dp, &w, r);
  factorRow(dc, state, &w, dp, r);
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  for (int i = 0; i < n; i++) {
    const djNearFoot* f = &w.foot[lag[i].foot];
    const int split = lag[i].split;
    double df[12], dforce[DJ_LAG_SPLIT * 12], slide[DJ_LAG_SPLIT * 36];
    forceRow(df, &w, f, dp, r);
    for (int j = 0; j < 12 * split; j++) {
      dforce[j] = (state->plane.lag_factor * df[j % 12] + forceOf(&w, f) * dc[j % 12]) / split;
    }
    djLaggedJac jac = {.dforce = dforce};
    planeRows(&jac, &w, f, dp, r);
    if (in->a->curved) {
      const djLagShape on = {in->a, in->start_a, lag[i].normal, 0};
      dj_lagSlide(slide, &on, jac.dnormal);
      jac.slide[0] = slide;
      jac.nslide[0] = split;
    }
    djFrictionState other = {.w = 0}, *own;
    const djLagged lagged = dj_terrainLagged(state, &own, &other, &lag[i], i, in);
    status = dj_frictionStart(start_jac, rate_jac, own, &lagged, &jac, &rest);
    if (status < 0) return status;
  }
  return DJ_OK;
}

djStatus dj_terrainStart(double start_jac[144], double rate_jac[144], djPairState* pair_state,
                         const djPairInput* in) {
  djTerrainState* state = (djTerrainState*)(void*)pair_state;
  memset(start_jac, 0, 144 * sizeof *start_jac);
  djRaise raise;
  if (!dj_isTerrainInput(in)) return DJ_INVALID;
  djStatus status = raiseOf(&raise, state, in), solved = DJ_OK;
  if (status < 0) return status;
  if (in->rate_a != in->start_a || in->rate_b != in->start_b) {
    if (!rate_jac) return DJ_INVALID;
    memset(rate_jac, 0, 144 * sizeof *rate_jac);
  }
  if (raise.any) solved = addNormal(start_jac, state, in, &raise);
  if (solved < 0) return solved;
  if (dj_planeSlides(&state->plane, in)) {
    status = addFriction(start_jac, rate_jac, state, in, &raise);
    if (status < 0) return status;
  }
  return solved;
}

djStatus dj_terrainPast(bool* any, djPairPast* past, djPairState* pair_state,
                        const djPairInput* in) {
  djTerrainState* state = (djTerrainState*)(void*)pair_state;
  const djErosion none = {0};
  const djTerrainLag* lag;
  int n;
  djTerrainWork w;
  *any = dj_planeSlides(&state->plane, in) && state->plane.lag_past < INFINITY &&
         in->past_a && in->past_b;
  if (!*any) return DJ_OK;
  djStatus status = dj_getTerrainLag(&lag, &n, state, in, &w);
  if (status < 0) return status;
  const djLagSums sums = dj_terrainSums(&w);
  const double c = state->plane.lag_factor;
  const double by = dj_planeLagFactor(NULL, &sums, &state->plane, in).by_past;
  memset(past, 0, sizeof *past);
  djPairInput rest = *in;
  rest.scratch = w.free;
  rest.nscratch = w.nfree;
  for (int i = 0; i < n; i++) {
    double dforce[DJ_LAG_SPLIT * 12] = {0};
    for (int k = 0; k < lag[i].split; k++) dforce[12 * k] = by * lag[i].force[k] / c;
    djFrictionState other = {.w = 0}, *own;
    const djLagged lagged = dj_terrainLagged(state, &own, &other, &lag[i], i, in);
    status = dj_frictionByForces(past->by, own, &lagged, dforce, &rest);
    if (status < 0) return status;
  }
  rest = *in;
  rest.start_a = in->past_a;
  rest.start_b = in->past_b;
  status = dj_openTerrain(&w, &rest, &none, true);
  dj_terrainGap(past->number, &w);
  return status < 0 ? status : DJ_OK;
}
