// What the separating-plane kernel fixes at the start of a step for friction: the plane and the
// vertices that carry normal force, f_i = K |dU/dx_i| = (K/L) |P'(D_i)| |n| (half space: t instead
// of |n|).
//
// A guide's tail has no part in it: the load that a contact carries is the barrier's.
//
// Friction's points are the vertices of the contact shape itself, also where recovery erodes it:
// they move with their bodies. On a curved shape they are the points farthest along the unit lagged
// normal n out of the shape: with G, c and w of shape/curve.h a vertex y has
//
//   x = y +- c(n),   x' = (body's motion) +- G w',   w' = (I - w w^T) G^T (n' - omega x n)/q,
//
// + for a, - for b. A disc (spread k > 0) lets its force act at four points instead, x +- k w_3^2 g
// with the semi-axes g = g_1, g_2 of its face, so that it resists spin where it stands upright
// (w_3 = 1: by k r) and rolls freely on its edge, where w_3 = 0 and the points are one.
//
// In recovery, and after it, all forces are multiplied by one factor, c of friction/recovering.h,
// by their sum F, over one side or, where there are two, half of that over both, and by the gaps at
// the start and a step before. It is C2 in the poses of both.

#include "math/barrier.h"
#include "contact/plane/plane_pair.h"
#include "contact/plane/plane_lag.h"

#include <string.h>


// u of friction/recovering.h is the argument of n vertices that share F. Between hulls it is the
// gap over the range. A half space bears as four do: near the onset arguments are as far from that,
// d and d (n/4)^(1/3), as the gap is in the mean, so that by the gap n is
// n (2/(1 + (n/4)^(1/3)))^3.
static double effectiveCount(double* slope, double n, bool half_space) {
  const double root = cbrt(n / 4), both = 0.5 * (1 + root);
  *slope = half_space ? 0.5 / both : 1;
  return half_space ? n / (both * both * both) : n;
}

djLagFactor dj_planeLagFactor(double* by_count, const djLagSums* sums, const djPlaneState* state,
                              const djPairInput* in) {
  const double *x = in->setting, s = x[DJ_PLANE_SUPPORT], F = sums->F;
  double slope, n = sums->squares > 0 ? F * F / sums->squares : 1;
  n = effectiveCount(&slope, n, dj_isGround(in->b->type));
  const double scale = n * x[DJ_PLANE_STIFFNESS] / (x[DJ_PLANE_LENGTH_SCALE] * s * s);
  const djLagLaw law = {DJ_RECOVERY_GAP, DJ_RECOVERY_FLOOR, log(dj_recoveryStiffness(in)),
                        DJ_RECOVERY_DEEPENS, scale, in->force_cap, dj_planeLaw(x).law};
  const djLagFactor c = dj_lagFactor(F, state->lag_gap, state->lag_past, &law);
  if (by_count) *by_count = c.by_scale * slope;
  return c;
}

djStatus dj_lagForces(djForces* out, djPlaneWork* w, const djPlaneState* state) {
  int na = w->shape[0]->nvert, nb = w->half_space ? 0 : w->shape[1]->nvert;
  out->na = na;
  out->n = na + nb;
  out->first = dj_takeScratch(w, out->n);
  out->second = dj_takeScratch(w, out->n);
  if (!out->first || !out->second) return DJ_NO_MEMORY;
  dj_placeClouds(w, state->lag_center);
  const double* p = state->lag_plane;
  if (w->half_space) {
    djHalfSpace space;
    dj_placeHalfSpace(&space, w);
    for (int i = 0; i < na; i++) {
      double b[3];
      double z = dju_dot3(dju_load3(space.normal), dj_cloudVertex(&w->cloud[0], i)) + space.k;
      dj_barrier(b, p[0] * z + p[1], w->law);
      out->first[i] = b[1];
      out->second[i] = b[2];
    }
    return DJ_OK;
  }
  double reach[2];
  for (int k = 0; k < 2; k++) reach[k] = dj_cloudReach(NULL, &w->cloud[k], dju_load3(p));
  for (int i = 0; i < out->n; i++) {
    const djCloud* c = &w->cloud[i >= na];
    int j = i < na ? i : i - na;
    double d = dju_dot3(dju_load3(p), dj_cloudVertex(c, j)) + p[3], b[3];
    dj_barrier(b, (i < na ? -d : d) - reach[i >= na], w->law);
    out->first[i] = b[1];
    out->second[i] = b[2];
  }
  return DJ_OK;
}

// K/L times |n|, or t.
double dj_forceScale(const djPlaneWork* w, const djPlaneState* state) {
  const double* p = state->lag_plane;
  return w->K / w->L * (w->half_space ? p[0] : dju_norm3(dju_load3(p)));
}

static int splitOf(const djShape* s) { return s->curved && s->spread > 0 ? DJ_LAG_SPLIT : 1; }

int dj_lagSplit(const djPlaneWork* w, int side) { return splitOf(side ? w->in->b : w->in->a); }

// Of point k of a disc: +-1 times which of its semi-axes.
static djVec3 discArm(const djMat3* G, int k) {
  return dju_scale3(k % 2 ? -1 : 1, dju_column(G, k / 2));
}

int dj_lagOffsets(djVec3 offset[DJ_LAG_SPLIT], const djLagShape* on) {
  const djShape* s = on->shape;
  offset[0] = dju_vec3(0, 0, 0);
  if (!s->curved) return 1;
  djVec3 v;
  djMat3 G = dju_mulMM(on->pose->R, s->curve);
  dj_curveReach(&offset[0], &v, &G, on->normal);
  if (on->side) offset[0] = dju_neg3(offset[0]);
  for (int k = splitOf(s) - 1; k >= 0 && s->spread > 0; k--) {
    offset[k] = dju_madd3(offset[0], s->spread * v.z * v.z, discArm(&G, k));
  }
  return splitOf(s);
}

void dj_lagSlide(double* slide, const djLagShape* on, const double dnormal[36]) {
  const djShape* s = on->shape;
  const int side = on->side, split = splitOf(s);
  djVec3 v, n = on->normal;
  djMat3 G = dju_mulMM(on->pose->R, s->curve);
  double q = dj_curveReach(NULL, &v, &G, n);
  for (int j = 0; j < 12; j++) {
    djVec3 dn = dju_vec3(dnormal[j], dnormal[12 + j], dnormal[24 + j]);
    int axis = j - 6 * side;
    if (axis >= 0 && axis < 3) {
      dn = dju_sub3(dn, dju_cross3(dju_vec3(axis == 0, axis == 1, axis == 2), n));
    }
    djVec3 t = dju_mulMtV(G, dn);
    djVec3 dv = dju_scale3(1 / q, dju_madd3(t, -dju_dot3(v, t), v));
    djVec3 dc = dju_scale3(side ? -1 : 1, dju_mulMV(G, dv));
    for (int k = 0; k < split; k++) {
      djVec3 dx = split == 1 ? dc : dju_madd3(dc, 2 * s->spread * v.z * dv.z, discArm(&G, k));
      slide[36 * k + j] = dx.x;
      slide[36 * k + 12 + j] = dx.y;
      slide[36 * k + 24 + j] = dx.z;
    }
  }
}

// With g_k by point k, a_k = +-1 its sign and e its axis, and g = sum g_k: by w it is
//   h = +-G^T g + 2 k w_3 (sum a_k g_k.G e) e_3,  and with H = (I - w w^T) h/q
//   by G: +-g w^T + k w_3^2 sum a_k g_k e^T + n H^T,   by n: G H.
djVec3 dj_lagOffsetVjp(djMat3* curve, const double* by_point, const djLagShape* on) {
  const djShape* s = on->shape;
  djVec3 v, n = on->normal, g = {0, 0, 0};
  djMat3 G = dju_mulMM(on->pose->R, s->curve), by = {{0}};
  double q = dj_curveReach(NULL, &v, &G, n), sign = on->side ? -1 : 1, arms = 0;
  int split = splitOf(s);
  for (int k = 0; k < split; k++) {
    const double* gk = by_point + 3 * k;
    g = dju_add3(g, dju_load3(gk));
    if (split == 1) continue;
    arms += dju_dot3(dju_load3(gk), discArm(&G, k));
    double f = s->spread * v.z * v.z * (k % 2 ? -1 : 1);
    for (int i = 0; i < 3; i++) by.m[3 * i + k / 2] += f * gk[i];
  }
  djVec3 h = dju_scale3(sign, dju_mulMtV(G, g));
  if (split > 1) h.z += 2 * s->spread * v.z * arms;
  h = dju_scale3(1 / q, dju_madd3(h, -dju_dot3(v, h), v));
  double l[2][3], r[2][3];
  dju_store3(l[0], dju_scale3(sign, g));
  dju_store3(r[0], v);
  dju_store3(l[1], n);
  dju_store3(r[1], h);
  for (int i = 0; i < 9; i++) {
    by.m[i] += l[0][i / 3] * r[0][i % 3] + l[1][i / 3] * r[1][i % 3];
  }
  by = dju_mulMtM(on->pose->R, by);
  for (int i = 0; i < 9; i++) curve->m[i] += by.m[i];
  return dju_mulMV(G, h);
}

// Points and forces of the active vertices; point, force: room for `room` of them. Returns their
// number, or `room` + 1 where there are more.
static int gather(double* point, double* force, int* na, int room, const djPlaneWork* w,
                  const djPlaneState* state, const djForces* forces, double scale) {
  int n = 0, split[2] = {0};
  djVec3 offset[2][DJ_LAG_SPLIT];
  for (int k = 0; k < (w->half_space ? 1 : 2); k++) {
    const djLagShape on = dj_lagShape(w, state, k);
    split[k] = dj_lagOffsets(offset[k], &on);
  }
  for (int i = 0; i < forces->n; i++) {
    if (i == forces->na) *na = n;
    if (forces->first[i] == 0) continue;
    int side = i >= forces->na, j = side ? i - forces->na : i;
    if (n + split[side] > room) return room + 1;
    const djShape* s = side ? w->in->b : w->in->a;
    djVec3 x = dju_vec3(s->vert[0][j], s->vert[1][j], s->vert[2][j]);
    x = dju_transform(w->pose[side], x);
    for (int k = 0; k < split[side]; k++) {
      dju_store3(point + 3 * n, s->curved ? dju_add3(x, offset[side][k]) : x);
      force[n++] = -scale * forces->first[i] / split[side];
    }
  }
  if (forces->n == forces->na) *na = n;
  return n;
}

djStatus dj_makeLagged(djPlaneState* state, djPlaneWork* w, const djFound* f) {
  djVec3 n = w->half_space ? dju_neg3(dju_load3(f->space.normal)) : dju_load3(f->plane.p);
  double length = dju_norm3(n);
  state->lag_center = w->center;
  if (w->half_space) {
    // the plane lies at height -o/t above the surface: -N.y - (k + r) - o/t = 0
    state->lag_plane[0] = f->half.t;
    state->lag_plane[1] = f->half.o;
    state->lag_offset = -w->L * (f->space.k + w->radius[0] + f->half.o / f->half.t);
  } else {
    for (int k = 0; k < 4; k++) state->lag_plane[k] = f->plane.p[k];
    state->lag_offset = w->L * f->plane.p[3] / length;
  }
  state->lag_normal = dju_scale3(1 / length, n);
  state->lag_offset -= dju_dot3(state->lag_normal, w->center);

  djForces forces;
  djStatus status = dj_lagForces(&forces, w, state);
  if (status) return status;
  double scale = dj_forceScale(w, state), part = dj_lagPart(w);
  djLagSums sums = {0, 0};
  for (int i = 0; i < forces.n; i++) {
    double force = -scale * forces.first[i];
    sums.F += part * force;
    sums.squares += part * force * force;
  }
  state->lag_factor = dj_planeLagFactor(NULL, &sums, state, w->in).c;
  if (!(state->lag_factor > DJ_LEAST_FACTOR)) return DJ_OK;
  state->nlag = gather(state->lag_point, state->lag_force, &state->nlag_a, DJ_LAGGED_POINTS, w,
                       state, &forces, scale * state->lag_factor);
  state->lagged = state->nlag > 0;
  return DJ_OK;
}

djStatus dj_getLagged(djLagged* lagged, djPlaneState* state, djPlaneWork* w) {
  lagged->normal = state->lag_normal;
  lagged->offset = state->lag_offset;
  lagged->half_space = w->half_space;
  lagged->law = dj_planeFriction(w->in->setting);
  lagged->dual = state->dual;
  lagged->ndual = DJ_DUAL_POINTS;
  lagged->n = state->nlag;
  lagged->na = state->nlag_a;
  lagged->point = state->lag_point;
  lagged->force = state->lag_force;
  if (state->nlag <= DJ_LAGGED_POINTS) return DJ_OK;
  // Too many for the state: compute them again at the start poses.
  djPlaneWork again;
  djStatus status = dj_openPlaneWork(&again, w->in, &state->erosion, true);
  if (status) return status;
  djForces forces;
  status = dj_lagForces(&forces, &again, state);
  if (status) return status;
  int room = forces.na * dj_lagSplit(&again, 0);
  if (!again.half_space) room += (forces.n - forces.na) * dj_lagSplit(&again, 1);
  double* point = dj_takeScratch(&again, 3 * room);
  double* force = dj_takeScratch(&again, room);
  if (!point || !force) return DJ_NO_MEMORY;
  int na = 0, n = gather(point, force, &na, room, &again, state, &forces,
                         dj_forceScale(&again, state) * state->lag_factor);
  lagged->n = n;
  lagged->na = na;
  lagged->point = point;
  lagged->force = force;
  w->free = again.free;
  w->nfree = again.nfree;
  return DJ_OK;
}

djLagSums dj_lagSums(const djLagged* lagged, const djPlaneWork* w, const djPlaneState* state) {
  djLagSums sums = {0, 0};
  double part = dj_lagPart(w), c = state->lag_factor;
  for (int i = 0; i < lagged->n; i++) {
    double f = lagged->force[i] / c;
    sums.F += part * f;
    sums.squares += part * f * f * dj_lagSplit(w, i >= lagged->na);
  }
  return sums;
}

djStatus dj_solveLagged(djFound* f, djPlaneWork* w, const djPlaneState* state) {
  djPlaneStatus solved;
  if (w->half_space) {
    dj_placeHalfSpace(&f->space, w);
    f->half.t = state->lag_plane[0];
    f->half.o = state->lag_plane[1];
    solved = dj_solveHalfSpace(&f->half, &f->space, w->law, w->z, 80);
  } else {
    memcpy(f->plane.p, state->lag_plane, sizeof f->plane.p);
    solved = dj_solvePlane(&f->plane, &w->clouds, w->law, 80);
  }
  djVec3 ref[2] = {w->in->ref_a, w->in->ref_b};
  for (int k = 0; k < 2; k++) {
    dju_store3(f->ref[k], dju_scale3(1 / w->L, dju_sub3(ref[k], w->center)));
  }
  return solved == DJ_PLANE_DONE ? DJ_OK : DJ_NOT_CONVERGED;
}

void dj_solveFound(double x[4], const djFound* f, const djPlaneWork* w, const double b[4]) {
  if (w->half_space) {
    const double* inv = f->half.inv;
    double b0 = b[0], b1 = b[1];
    x[0] = inv[0] * b0 + inv[1] * b1;
    x[1] = inv[1] * b0 + inv[2] * b1;
    x[2] = x[3] = 0;
  } else {
    dju_solveLdl4(x, &f->plane.factor, b);
  }
}
