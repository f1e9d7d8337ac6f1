// What the separating-plane kernel fixes at the start of a step for friction: the plane and the
// vertices that carry normal force, f_i = K |dU/dx_i| = (K/L) |P'(D_i)| |n| (half space: t instead
// of |n|).
//
// Friction's points are the vertices of the contact shape itself, also where recovery erodes it:
// they move with their bodies. In recovery all forces are multiplied by one factor, so that their
// sum F over one side is bounded by W:
//
//   c = (1 + (b F/W)^4)^(-1/4),  b = smoothstep(-t) with t of recovery.h (0 .. -1),
//
// C2 in the start poses; b = 1 where g <= 0.6.

#include "contact/barrier.h"
#include "contact/plane_pair.h"
#include "contact/plane_lag.h"

#include <string.h>

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
      dj_barrier(b, p[0] * z + p[1], w->s);
      out->first[i] = b[1];
      out->second[i] = b[2];
    }
    return DJ_OK;
  }
  double length = dju_norm3(dju_load3(p));
  for (int i = 0; i < out->n; i++) {
    const djCloud* c = &w->cloud[i >= na];
    int j = i < na ? i : i - na;
    double d = dju_dot3(dju_load3(p), dj_cloudVertex(c, j)) + p[3], b[3];
    dj_barrier(b, (i < na ? -d : d) - c->r * length, w->s);
    out->first[i] = b[1];
    out->second[i] = b[2];
  }
  return DJ_OK;
}

// K/L times |n|, or t.
double dj_forceScale(const djPlaneWork* w, const djPlaneState* state) {
  const double* p = state->lag_plane;
  return w->in->stiffness / w->L * (w->half_space ? p[0] : dju_norm3(dju_load3(p)));
}

double dj_lagBound(double derivative[2], double F, double t, double W) {
  derivative[0] = derivative[1] = 0;
  if (!(t < 0) || !(W > 0) || isinf(W)) return 1;
  djJet b = dju_smoothStep(-t);
  double x = b.f * F / W, x3 = x * x * x, q = 1 + x3 * x;
  double c = 1 / sqrt(sqrt(q)), slope = -x3 * c / q;   // dc/dx
  derivative[0] = slope * b.f / W;
  derivative[1] = -slope * b.d * F / W;
  return c;
}

// Points and forces of the active vertices; point, force: room for `room` of them. Returns their
// number, or `room` + 1 where there are more.
static int gather(double* point, double* force, int* na, int room, const djPlaneWork* w,
                  const djForces* forces, double scale) {
  int n = 0;
  for (int i = 0; i < forces->n; i++) {
    if (i == forces->na) *na = n;
    if (forces->first[i] == 0) continue;
    if (n == room) return room + 1;
    int side = i >= forces->na, j = side ? i - forces->na : i;
    const djShape* s = side ? w->in->b : w->in->a;
    dju_store3(point + 3 * n, dju_transform(w->pose[side], dju_vec3(s->vert[0][j], s->vert[1][j],
                                                                    s->vert[2][j])));
    force[n++] = -scale * forces->first[i];
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
  double F = 0, unused[2], scale = dj_forceScale(w, state);
  for (int i = 0; i < forces.na; i++) F -= scale * forces.first[i];
  state->lag_factor = dj_lagBound(unused, F, state->erosion.t, w->in->force_cap);
  if (!(state->erosion.e > 0)) state->lag_factor = 1;
  state->nlag = gather(state->lag_point, state->lag_force, &state->nlag_a, DJ_LAGGED_POINTS, w,
                       &forces, scale * state->lag_factor);
  state->lagged = true;
  return DJ_OK;
}

djStatus dj_getLagged(djLagged* lagged, djPlaneState* state, djPlaneWork* w) {
  lagged->normal = state->lag_normal;
  lagged->offset = state->lag_offset;
  lagged->half_space = w->half_space;
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
  double* point = dj_takeScratch(&again, 3 * forces.n);
  double* force = dj_takeScratch(&again, forces.n);
  if (!point || !force) return DJ_NO_MEMORY;
  int na = 0, n = gather(point, force, &na, forces.n, &again, &forces,
                         dj_forceScale(&again, state) * state->lag_factor);
  lagged->n = n;
  lagged->na = na;
  lagged->point = point;
  lagged->force = force;
  w->free = again.free;
  w->nfree = again.nfree;
  return DJ_OK;
}

djStatus dj_solveLagged(djFound* f, djPlaneWork* w, const djPlaneState* state) {
  djPlaneStatus solved;
  if (w->half_space) {
    dj_placeHalfSpace(&f->space, w);
    f->half.t = state->lag_plane[0];
    f->half.o = state->lag_plane[1];
    solved = dj_solveHalfSpace(&f->half, &f->space, w->s, w->z, 80);
  } else {
    memcpy(f->plane.p, state->lag_plane, sizeof f->plane.p);
    solved = dj_solvePlane(&f->plane, &w->clouds, w->s, 80);
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
