#include "contact/plane/terrain.h"

#include "contact/plane/plane_lag.h"

#include <string.h>

static djTerrainState* stateOf(djPairState* state) { return (djTerrainState*)(void*)state; }

// ------------------------------------------ what lags ------------------------------------------

// As the plane has it: P'-forces, their sums and the factor of all, into out (w->n, in the work's
// order; those without force are left out). Returns how many.
static int gather(djTerrainLag* out, int room, const djTerrainWork* w, double factor) {
  const double scale = w->K / w->L * w->half.t * factor, h = -w->L * w->half.o / w->half.t;
  const double surface = w->in->b->offset - w->in->lower - w->e;
  int n = 0;
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    if (f->first == 0) continue;
    if (n == room) return room + 1;
    djTerrainLag* lag = &out[n++];
    djVec3 offset[DJ_LAG_SPLIT];
    lag->foot = i;
    lag->normal = dju_neg3(f->n);
    lag->offset = dju_dot3(f->n, f->s) + surface + h;
    const djLagShape on = {w->in->a, w->pose[0], lag->normal, 0};
    lag->split = dj_lagOffsets(offset, &on);
    const djVec3 y = dj_terrainPoint(w, f);
    for (int k = 0; k < lag->split; k++) {
      dju_store3(lag->point + 3 * k, dju_add3(y, offset[k]));
      lag->force[k] = -scale * f->first / lag->split;
    }
  }
  return n;
}

djLagSums dj_terrainSums(const djTerrainWork* w) {
  djLagSums sums = {0, 0};
  for (int i = 0; i < w->n; i++) {
    const double force = -w->K / w->L * w->half.t * w->foot[i].first;
    sums.F += force;
    sums.squares += force * force;
  }
  return sums;
}

static djStatus makeLagged(djTerrainState* state, const djTerrainWork* w) {
  djPlaneState* plane = &state->plane;
  const djLagSums sums = dj_terrainSums(w);
  plane->lag_factor = dj_planeLagFactor(NULL, &sums, plane, w->in).c;
  state->nlag = 0;
  if (!(plane->lag_factor > DJ_LEAST_FACTOR)) return DJ_OK;
  state->nlag = gather(state->lag, DJ_TERRAIN_LAGGED, w, plane->lag_factor);
  plane->lagged = state->nlag > 0;
  return DJ_OK;
}

djStatus dj_getTerrainLag(const djTerrainLag** lag, int* n, djTerrainState* state,
                          const djPairInput* in, djTerrainWork* start) {
  *lag = state->lag;
  *n = state->nlag;
  djStatus status = DJ_OK;
  if (start || *n > DJ_TERRAIN_LAGGED) {
    djTerrainWork own, *w = start ? start : &own;
    status = dj_openTerrain(w, in, &state->plane.erosion, true);
    if (status >= 0) status = dj_solveTerrain(w);
    if (status < 0 || *n <= DJ_TERRAIN_LAGGED) return status;
    const int size = (int)(sizeof(djTerrainLag) / sizeof(double));
    if (size * w->n > w->nfree) return DJ_NO_MEMORY;
    djTerrainLag* more = (djTerrainLag*)(void*)w->free;
    w->free += size * w->n;
    w->nfree -= size * w->n;
    *n = gather(more, w->n, w, state->plane.lag_factor);
    *lag = more;
  }
  return status;
}

djLagged dj_terrainLagged(djTerrainState* state, djFrictionState** friction,
                          djFrictionState* other, const djTerrainLag* lag, int i,
                          const djPairInput* in) {
  const bool kept = i < DJ_TERRAIN_LAGGED && state->nlag <= DJ_TERRAIN_LAGGED;
  *friction = kept ? &state->friction[i] : other;
  return (djLagged){.n = lag->split,
                    .na = lag->split,
                    .point = lag->point,
                    .force = lag->force,
                    .normal = lag->normal,
                    .offset = lag->offset,
                    .half_space = true,
                    .law = dj_planeFriction(in->setting),
                    .dual = kept ? state->dual[i] : NULL,
                    .ndual = kept ? 4 : 0};
}

// ------------------------------------------ begin ----------------------------------------------

// g at a pose that counts as the start; INFINITY: it is not below `near`, m.
static djStatus gapAt(double* gap, const djPairInput* in) {
  const djErosion none = {0};
  djTerrainWork w;
  const djStatus status = dj_openTerrain(&w, in, &none, true);
  *gap = dj_terrainGap(NULL, &w);
  return status < 0 ? status : DJ_OK;
}

// As of planes (separating_plane.c).
static djStatus lagGaps(djTerrainState* state, const djPairInput* in, double gap) {
  djPlaneState* plane = &state->plane;
  plane->lag_gap = plane->lag_past = INFINITY;
  if (!in->recover) return DJ_OK;
  plane->lag_gap = 1;
  if (plane->gap_known) plane->lag_gap = gap;
  if (!in->past_a || !in->past_b || !dj_slides(in->friction)) return DJ_OK;
  djPairInput at = *in;
  double past;
  at.start_a = in->past_a;
  at.start_b = in->past_b;
  const djStatus status = gapAt(&past, &at);
  if (status < 0 || !(past < DJ_RECOVERY_GAP)) return status;
  plane->lag_past = past;
  plane->lag_gap = gap;
  return DJ_OK;
}

djStatus dj_terrainBegin(djPairState* pair_state, const djPairInput* in) {
  djTerrainState* state = stateOf(pair_state);
  djPlaneState* plane = &state->plane;
  djTerrainWork w;
  memset(state, 0, sizeof *state);
  djStatus status = dj_openTerrainFirst(&w, in, &state->near);
  if (status < 0) return status;
  state->beneath = w.beneath;
  plane->gap_start = w.gap;
  plane->gap_known = w.n > 0 && w.gap < (in->recover ? DJ_RECOVERY_GAP * w.range : 0);
  if (w.beneath || w.gap >= w.range) return DJ_OK;
  double derivative, gap = dj_terrainGap(NULL, &w);
  // smoothed, the gap is less where several points are as low
  if (in->recover && gap < DJ_RECOVERY_GAP) plane->gap_known = true;
  if (in->recover && plane->gap_known) {
    const double raised = dj_recoveryGap(&derivative, gap);
    plane->erosion.t = (gap - DJ_RECOVERY_GAP) / (DJ_RECOVERY_GAP - DJ_RECOVERY_FLOOR);
    if (plane->erosion.t < 0) plane->erosion.e = w.range * (raised - gap);
  } else if (!(w.gap > 0)) {
    return DJ_OVERLAP;
  }
  status = lagGaps(state, in, gap);
  if (status >= 0 && plane->erosion.e > 0) {
    status = dj_openTerrain(&w, in, &plane->erosion, true);
  }
  if (status >= 0) status = dj_solveTerrain(&w);
  if (status < 0 || w.kind != DJ_TOUCHING) return status;
  plane->lag_plane[0] = w.half.t;
  plane->lag_plane[1] = w.half.o;
  const djStatus made = makeLagged(state, &w);
  return made < 0 ? made : status;
}

// ------------------------------------------ eval -----------------------------------------------

// f times the second derivatives of z.
static void addSecond(double H[144], const djTerrainWork* w, const djNearFoot* foot, double f) {
  const djVec3 ra = dju_sub3(foot->x, w->in->ref_a), rb = dju_sub3(foot->x, w->in->ref_b);
  const double n[3] = {foot->n.x, foot->n.y, foot->n.z}, a[3] = {ra.x, ra.y, ra.z};
  const double b[3] = {rb.x, rb.y, rb.z};
  const double na = dju_dot3(foot->n, ra), nb = dju_dot3(foot->n, rb);
  const double S[9] = {0, n[2], -n[1], -n[2], 0, n[0], n[1], -n[0], 0};   // v.(w x N)
  double bend[9] = {0};   // X^T C X, X = [N]x
  for (int j = 0; j < 3 && w->curved; j++) {
    const djVec3 e = {j == 0, j == 1, j == 2};
    const djVec3 v = dj_terrainBend(w, foot, dju_cross3(foot->n, e));
    const djVec3 column = dju_cross3(v, foot->n);   // X^T v
    bend[j] = column.x;
    bend[3 + j] = column.y;
    bend[6 + j] = column.z;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const double delta = i == j, round = bend[3 * i + j];
      const double ab = f * (delta * na - n[i] * a[j] + round), v = f * S[3 * i + j];
      H[12 * i + j] += f * (0.5 * (n[i] * a[j] + a[i] * n[j]) - delta * na - round);
      H[12 * (6 + i) + 6 + j] += f * (0.5 * (n[i] * b[j] + b[i] * n[j]) - delta * nb - round);
      H[12 * i + 6 + j] += ab;
      H[12 * (6 + j) + i] += ab;
      H[12 * (3 + i) + 6 + j] += v;
      H[12 * (6 + j) + 3 + i] += v;
      H[12 * (9 + i) + 6 + j] -= v;
      H[12 * (6 + j) + 9 + i] -= v;
    }
  }
  double F[2][12];
  const double* M = foot->M;
  if (M[0] == 0 && M[1] == 0 && M[2] == 0) return;
  dj_terrainTurn(F, w, foot);
  for (int i = 0; i < 12; i++) {
    const double p = f * (M[0] * F[0][i] + M[1] * F[1][i]);
    const double q = f * (M[1] * F[0][i] + M[2] * F[1][i]);
    for (int j = 0; j < 12; j++) H[12 * i + j] += p * F[0][j] + q * F[1][j];
  }
}

// K U's gradient and Hessian.
static void addNormal(double gradient[12], double* hessian, const djTerrainWork* w) {
  const double t = w->half.t, scale = w->K * t / w->L;
  double mixed[24];
  for (int i = 0; i < w->n; i++) {
    const djNearFoot* f = &w->foot[i];
    if (f->first == 0) continue;
    double J[12];
    dj_terrainRow(J, w, f);
    for (int j = 0; j < 12; j++) gradient[j] += scale * f->first * J[j];
    if (!hessian) continue;
    addSecond(hessian, w, f, scale * f->first);
    const double stiff = scale * t / w->L * f->second;
    for (int j = 0; j < 12; j++) {
      for (int k = 0; k < 12; k++) hessian[12 * j + k] += stiff * J[j] * J[k];
    }
  }
  if (!hessian) return;
  dj_terrainMixed(mixed, w);
  const double *inv = w->half.inv, *W = mixed, *V = mixed + 12;
  for (int j = 0; j < 12; j++) {
    const double p = w->K * (inv[0] * W[j] + inv[1] * V[j]);
    const double q = w->K * (inv[1] * W[j] + inv[2] * V[j]);
    for (int k = 0; k < 12; k++) hessian[12 * j + k] -= p * W[k] + q * V[k];
  }
  for (int j = 0; j < 12; j++) {
    for (int k = 0; k < j; k++) {
      const double mean = 0.5 * (hessian[12 * j + k] + hessian[12 * k + j]);
      hessian[12 * j + k] = hessian[12 * k + j] = mean;
    }
  }
}

// The poses now are left solved in *w.
static djStatus evalIn(djPairOutput* out, djTerrainWork* w, djTerrainState* state,
                       const djPairInput* in, int flags) {
  const bool second = flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER), first = flags != 0;
  djStatus status = dj_openTerrainNow(w, in, state);
  if (status < 0) return status;
  out->value = 0;
  out->active = false;
  out->gap = w->gap - w->e;
  if (first) memset(out->gradient, 0, sizeof out->gradient);
  if (second) memset(out->hessian, 0, sizeof out->hessian);
  if (state->beneath) {
    w->kind = DJ_APART;
    return DJ_OK;
  }
  djStatus solved = dj_solveTerrain(w);
  if (solved < 0) return solved;
  if (w->kind != DJ_APART) {
    out->active = true;
    out->gap = w->gap;
    out->value = w->kind == DJ_OVERLAPPING ? INFINITY : w->K * w->half.value;
  }
  if (w->kind == DJ_OVERLAPPING) return DJ_OK;
  if (w->kind == DJ_TOUCHING && first) addNormal(out->gradient, second ? out->hessian : NULL, w);
  if (solved > 0) status = solved;
  if (!dj_planeSlides(&state->plane, in)) return status;
  const djTerrainLag* lag;
  int n;
  djTerrainWork start;
  const bool anew = state->nlag > DJ_TERRAIN_LAGGED;
  djStatus found = dj_getTerrainLag(&lag, &n, state, in, anew ? &start : NULL);
  if (found < 0) return found;
  for (int i = 0; i < n; i++) {
    djFrictionState other = {.w = 0}, *own;
    const djLagged lagged = dj_terrainLagged(state, &own, &other, &lag[i], i, in);
    djPairInput rest = *in;
    if (anew) {
      rest.scratch = start.free;
      rest.nscratch = start.nfree;
    }
    const djStatus sliding = dj_frictionEval(out, own, &lagged, &rest, flags);
    if (sliding < 0) return sliding;
    if (sliding > 0) status = sliding;
  }
  return status;
}

djStatus dj_terrainEval(djPairOutput* out, djPairState* pair_state, const djPairInput* in,
                        int flags) {
  djTerrainWork w;
  return evalIn(out, &w, stateOf(pair_state), in, flags);
}

// ------------------------------------------ gaps -----------------------------------------------

djStatus dj_terrainDistance(djDistance* d, const djGeomPair* p) {
  djTerrainWork w;
  const djPairInput in = {.a = p->a, .b = p->b, .pose_a = p->pose_a, .pose_b = p->pose_b,
                          .start_a = p->pose_a, .start_b = p->pose_b, .rate_a = p->pose_a,
                          .rate_b = p->pose_b, .inflate = p->inflate, .scratch = p->scratch,
                          .nscratch = DJ_KERNEL_SCRATCH(p->a->npad) - 3 * p->a->npad};
  const djStatus status = dj_openTerrainGap(&w, &in);
  if (status < 0) return status;
  const djNearFoot* least = NULL;
  for (int i = 0; i < w.n; i++) {
    if (!least || w.foot[i].z < least->z) least = &w.foot[i];
  }
  memset(d, 0, sizeof *d);
  d->gap = w.gap;
  const djVec3 up = dju_column(&w.frame.R, 2), center = dju_transform(p->pose_a, p->a->center);
  d->normal = dju_neg3(up);
  d->point_a = dju_madd3(center, -p->a->bound, up);
  d->point_b = dju_madd3(d->point_a, -w.gap, up);
  if (!least) return DJ_OK;
  d->normal = dju_neg3(least->n);
  d->point_a = dju_madd3(least->x, -p->a->radius, least->n);
  d->point_b = dju_madd3(least->s, p->b->offset, least->n);
  return DJ_OK;
}

djStatus dj_terrainDepth(double* depth, const djGeomPair* p) {
  djShape a, b = *p->b;
  djDistance d;
  dj_trueConvex(&a, p->scratch, p->a, p->bounds_a, p->model, p->geom_a);
  b.offset += b.skin - fmax(p->bounds_b->inflate, 0);
  djGeomPair pair = *p;
  pair.a = &a;
  pair.b = &b;
  pair.inflate = 0;
  pair.scratch += 3 * a.npad;
  const djStatus status = dj_terrainDistance(&d, &pair);
  *depth = -d.gap;
  return status < 0 ? status : DJ_OK;
}

// ------------------------------------------ reports --------------------------------------------

djStatus dj_terrainReport(djPairReport* out, djPairState* pair_state, const djPairInput* in) {
  djTerrainState* state = stateOf(pair_state);
  djTerrainWork w;
  djPairOutput sum = {.value = 0};
  memset(out, 0, sizeof *out);
  const djStatus solved = evalIn(&sum, &w, state, in, DJ_EVAL_GRADIENT);
  if (solved < 0) return solved;
  out->gap = w.gap;
  out->gap_start = state->plane.gap_start;
  out->erosion = state->plane.erosion.e;
  out->recovering = out->erosion > 0;
  out->normal = dju_neg3(dju_column(&w.frame.R, 2));
  out->point = dju_transform(w.pose[0], in->a->center);
  const djNearFoot* least = NULL;
  djVec3 mean = {0, 0, 0}, force = {0, 0, 0};
  double all = 0;
  for (int i = 0; i < w.n; i++) {
    const djNearFoot* f = &w.foot[i];
    if (!least || f->z < least->z) least = f;
    if (w.kind != DJ_TOUCHING) continue;
    mean = dju_madd3(mean, -f->first, f->s);
    force = dju_madd3(force, f->first, f->n);
    all -= f->first;
  }
  if (least) {
    out->normal = dju_neg3(least->n);
    out->point = least->s;
  }
  if (w.kind == DJ_TOUCHING && all > 0) {
    out->point = dju_scale3(1 / all, mean);
    out->normal_force = w.K * w.half.t / w.L * dju_norm3(force);
    out->normal = dju_scale3(1 / dju_norm3(force), force);
  }
  for (int k = 0; k < 6; k++) {
    out->wrench_a[k] = -sum.gradient[k];
    out->wrench_b[k] = -sum.gradient[6 + k];
  }
  return solved;
}
