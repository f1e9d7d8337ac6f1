#include "contact/plane_pair.h"

#include "contact/barrier.h"

#include <string.h>

static bool isVertexShape(const djShape* s) {
  return s->nvert > 0 && s->npad >= s->nvert && s->npad % DJ_LANES == 0;
}

static bool checkInput(const djPairInput* in) {
  if (!in || !in->a || !in->b || !in->pose_a || !in->pose_b || !in->start_a || !in->start_b) {
    return false;
  }
  if (!isVertexShape(in->a) || !(in->b->type == DJ_PLANE || isVertexShape(in->b))) return false;
  if (!(in->support > 0 && in->support < 1) || !(in->length_scale > 0)) return false;
  return in->stiffness >= 0 && in->scratch && isfinite(in->length_scale + in->inflate);
}

double* dj_takeScratch(djPlaneWork* w, int n) {
  if (n > w->nfree) return NULL;
  double* p = w->free;
  w->free += n;
  w->nfree -= n;
  return p;
}

djStatus dj_openPlaneWork(djPlaneWork* w, const djPairInput* in, const djErosion* erosion,
                          bool at_start) {
  if (!checkInput(in)) return DJ_INVALID;
  w->in = in;
  w->pose[0] = at_start ? in->start_a : in->pose_a;
  w->pose[1] = at_start ? in->start_b : in->pose_b;
  w->shape[0] = in->a;
  w->shape[1] = in->b;
  w->half_space = in->b->type == DJ_PLANE;
  w->s = in->support;
  w->L = in->length_scale;
  w->range = 2 * w->s * w->L / (1 - w->s);
  w->free = in->scratch;
  w->nfree = in->nscratch;
  int na = in->a->npad, nb = w->half_space ? 0 : in->b->npad;
  w->y[0] = dj_takeScratch(w, 3 * na);
  w->y[1] = dj_takeScratch(w, 3 * nb);
  w->z = dj_takeScratch(w, na);
  if (!w->y[0] || !w->y[1] || !w->z) return DJ_NO_MEMORY;
  if (erosion->e > 0) {
    for (int k = 0; k < 2; k++) {
      double* mem = dj_takeScratch(w, 3 * (k == 0 ? na : nb));
      if (!mem) return DJ_NO_MEMORY;
      if (k == 0 && w->half_space) continue;
      dj_erodeShape(&w->eroded[k], mem, w->shape[k], erosion, k, w->half_space);
      w->shape[k] = &w->eroded[k];
    }
  }
  // Inflation is shared between the radii, none of which becomes negative.
  const djShape *a = w->shape[0], *b = w->shape[1];
  w->inflate = dj_pairInflation(a, b, in->inflate);
  double rb = w->half_space ? 0 : b->radius, sum = a->radius + rb + w->inflate;
  double ra = w->half_space ? sum : fmin(fmax(a->radius + 0.5 * w->inflate, 0), sum);
  w->radius[0] = ra / w->L;
  w->radius[1] = (sum - ra) / w->L;
  return DJ_OK;
}

// y = (R x + p - center)/L
static void placeCloud(djCloud* cloud, double* y, const djShape* s, const djPose* pose,
                       djVec3 center, double L) {
  djVec3 t = dju_sub3(pose->p, center);
  const double* R = pose->R.m;
  double shift[3], inv = 1 / L;
  dju_store3(shift, t);
  for (int k = 0; k < 3; k++) {
    double a = inv * R[3 * k], b = inv * R[3 * k + 1], c = inv * R[3 * k + 2];
    double d = inv * shift[k], *out = y + k * s->npad;
    for (int i = 0; i < s->npad; i += DJU_LANES) {
      dju_storeLanes(out + i, a * dju_loadLanes(s->vert[0] + i) +
                                  b * dju_loadLanes(s->vert[1] + i) +
                                  c * dju_loadLanes(s->vert[2] + i) + d);
    }
    cloud->y[k] = out;
  }
  cloud->n = s->nvert;
}

void dj_placeClouds(djPlaneWork* w, djVec3 center) {
  w->center = center;
  for (int k = 0; k < (w->half_space ? 1 : 2); k++) {
    placeCloud(&w->cloud[k], w->y[k], w->shape[k], w->pose[k], center, w->L);
    w->cloud[k].r = w->radius[k];
  }
}

// N.x - offset - r at x = center + L y
void dj_placeHalfSpace(djHalfSpace* space, const djPlaneWork* w) {
  const djShape* b = w->shape[1];
  djVec3 N = dju_mulMV(w->pose[1]->R, b->normal);
  space->cloud = &w->cloud[0];
  dju_store3(space->normal, N);
  space->k = (dju_dot3(N, dju_sub3(w->center, w->pose[1]->p)) - b->offset) / w->L - w->radius[0];
}

// Largest d.x over a shape's vertices, body frame.
static double support(const djShape* s, djVec3 d) {
  djLanes least = dju_splat(INFINITY);
  for (int i = 0; i < s->nvert; i += DJU_LANES) {
    djLanes h = d.x * dju_loadLanes(s->vert[0] + i) + d.y * dju_loadLanes(s->vert[1] + i) +
                d.z * dju_loadLanes(s->vert[2] + i);
    least = dju_minLanes(-h, least);
  }
  return -dju_least(least);
}

// Separation along the unit vector u from a to b, metres.
static double separation(const djPlaneWork* w, djVec3 u) {
  double ha = support(w->shape[0], dju_mulMtV(w->pose[0]->R, u));
  double hb = support(w->shape[1], dju_neg3(dju_mulMtV(w->pose[1]->R, u)));
  return dju_dot3(u, dju_sub3(w->pose[1]->p, w->pose[0]->p)) - ha - hb -
         w->L * (w->radius[0] + w->radius[1]);
}

// Lower bound of the gap from bounding balls, within which erosion stays.
static double boundGap(const djPlaneWork* w) {
  const djShape *a = w->shape[0], *b = w->shape[1];
  djVec3 ca = dju_transform(w->pose[0], a->center);
  if (w->half_space) {
    djVec3 N = dju_mulMV(w->pose[1]->R, b->normal);
    return dju_dot3(N, dju_sub3(ca, w->pose[1]->p)) - b->offset - a->bound -
           w->in->inflate;
  }
  djVec3 cb = dju_transform(w->pose[1], b->center);
  return dju_norm3(dju_sub3(cb, ca)) - a->bound - b->bound - fmax(w->in->inflate, 0);
}

double dj_gapBound(const djPlaneWork* w, const djPlaneState* state) {
  double gap = boundGap(w);
  if (gap >= w->range || w->half_space || !state->directed) return gap;
  return fmax(gap, separation(w, state->normal));
}

djStatus dj_pairDistance(double* gap, djDistance* d, const djPlaneWork* w, djPlaneState* state) {
  djStatus status = dj_distance(d, &state->cache, w->shape[0], w->pose[0], 0, w->shape[1],
                                w->pose[1], 0);
  if (status < 0) return status;
  *gap = d->gap - w->inflate;
  state->directed = true;
  state->normal = d->normal;
  return DJ_OK;
}

// Keep the plane for the next evaluation, about the middle of the points that carry force.
static void keepWarm(djPlaneState* state, const djPlaneWork* w, const djPlaneSolution* sol) {
  djVec3 n = dju_load3(sol->p), middle = {0, 0, 0};
  for (int k = 0; k < 2; k++) {
    const djMoments* m = &sol->side[k];
    if (m->f[3] != 0) middle = dju_madd3(middle, 0.5 / m->f[3], dju_load3(m->f));
  }
  state->warm = state->directed = true;
  state->normal = dju_scale3(1 / dju_norm3(n), n);
  dju_store3(state->plane, n);
  state->plane[3] = sol->p[3] + dju_dot3(n, middle);
  state->center = dju_madd3(w->center, w->L, middle);
}

static void setReference(djFound* f, const djPlaneWork* w) {
  djVec3 ref[2] = {w->in->ref_a, w->in->ref_b};
  for (int k = 0; k < 2; k++) {
    dju_store3(f->ref[k], dju_scale3(1 / w->L, dju_sub3(ref[k], w->center)));
  }
}

static double solutionGap(const djPlaneSolution* sol, double L) {
  return L * (sol->least[0] + sol->least[1]) / dju_norm3(dju_load3(sol->p));
}

// Hulls, from the last plane. True: *f is set.
static bool findWarm(djFound* f, djPlaneWork* w, djPlaneState* state) {
  dj_placeClouds(w, state->center);
  memcpy(f->plane.p, state->plane, sizeof f->plane.p);
  djPlaneStatus status = dj_solvePlane(&f->plane, w->cloud, w->s, 12);
  f->iterations = f->plane.iterations;
  if (status == DJ_PLANE_LOST) return false;
  f->gap = solutionGap(&f->plane, w->L);
  if (status == DJ_PLANE_ZERO) {
    djVec3 n = dju_load3(f->plane.p);
    state->warm = false;
    state->directed = true;
    state->normal = dju_scale3(1 / dju_norm3(n), n);
    return true;
  }
  f->kind = DJ_TOUCHING;
  f->value = f->plane.value;
  keepWarm(state, w, &f->plane);
  return true;
}

// Hulls, from the closest points: n along them with |n| = 1/(1 + d/2), midway.
static djStatus findCold(djFound* f, djPlaneWork* w, djPlaneState* state) {
  djDistance d;
  double gap;
  djStatus status = dj_pairDistance(&gap, &d, w, state);
  if (status) return status;
  state->warm = false;
  f->gap = gap;
  if (gap >= w->range) return DJ_OK;
  if (!(gap > 0)) {
    f->kind = DJ_OVERLAPPING;
    return DJ_OK;
  }
  dj_placeClouds(w, dju_scale3(0.5, dju_add3(d.point_a, d.point_b)));
  dju_store3(f->plane.p, dju_scale3(1 / (1 + 0.5 * gap / w->L), d.normal));
  f->plane.p[3] = 0;
  djPlaneStatus solved = dj_solvePlane(&f->plane, w->cloud, w->s, 80);
  f->iterations += f->plane.iterations;
  if (solved == DJ_PLANE_ZERO) return DJ_OK;
  if (solved == DJ_PLANE_LOST && isinf(f->plane.value)) {   // within rounding of touching
    f->kind = DJ_OVERLAPPING;
    return DJ_OK;
  }
  f->kind = DJ_TOUCHING;
  f->value = f->plane.value;
  keepWarm(state, w, &f->plane);
  return solved == DJ_PLANE_LOST ? DJ_NOT_CONVERGED : DJ_OK;
}

static djStatus findHalf(djFound* f, djPlaneWork* w, djPlaneState* state) {
  dj_placeClouds(w, state->warm ? state->center : dju_transform(w->pose[0], w->shape[0]->center));
  dj_placeHalfSpace(&f->space, w);
  f->half.t = state->warm ? state->plane[0] : 0;
  f->half.o = state->plane[1];
  djPlaneStatus solved = dj_solveHalfSpace(&f->half, &f->space, w->s, w->z, 80);
  f->iterations = f->half.iterations;
  f->gap = w->L * f->half.least;
  state->directed = true;
  state->normal = dju_neg3(dju_load3(f->space.normal));
  state->warm = false;
  if (solved == DJ_PLANE_ZERO) return DJ_OK;
  if (solved == DJ_PLANE_LOST && !(f->half.value > 0 && f->half.value < INFINITY)) {
    f->kind = DJ_OVERLAPPING;
    return DJ_OK;
  }
  f->kind = DJ_TOUCHING;
  f->value = f->half.value;
  state->warm = true;
  state->plane[0] = f->half.t;
  state->plane[1] = f->half.o;
  const djMoments* m = &f->half.m;
  state->center = dju_madd3(w->center, w->L / m->f[3], dju_load3(m->f));
  return solved == DJ_PLANE_LOST ? DJ_NOT_CONVERGED : DJ_OK;
}

djStatus dj_findPlane(djFound* f, djPlaneWork* w, djPlaneState* state) {
  f->kind = DJ_APART;
  f->value = 0;
  f->iterations = 0;
  djStatus status = DJ_OK;
  bool found = false;
  if (!state->warm) {
    f->gap = dj_gapBound(w, state);
    if (f->gap >= w->range) return DJ_OK;
  }
  if (w->half_space) {
    status = findHalf(f, w, state);
  } else {
    found = state->warm && findWarm(f, w, state);
    if (!found) status = findCold(f, w, state);
  }
  if (f->kind == DJ_TOUCHING) setReference(f, w);
  return status;
}

void dj_foundTwist(double gradient[12], double mixed[48], double hessian[144], const djFound* f,
                   const djPlaneWork* w, double stiffness) {
  if (w->half_space) {
    dj_halfSpaceTwist(gradient, mixed, hessian, &f->half, &f->space, f->ref);
  } else {
    double W[48];
    double* need = mixed || hessian ? W : NULL;
    dj_planeTwist(gradient, need, hessian, &f->plane, f->ref, w->radius);
    if (hessian) dj_eliminatePlane(hessian, &f->plane.factor, W);
    if (mixed) memcpy(mixed, W, sizeof W);
  }
  if (gradient) dj_scaleGradient(gradient, stiffness, w->L);
  for (int k = 0; mixed && k < (w->half_space ? 2 : 4); k++) {
    dj_scaleGradient(mixed + 12 * k, stiffness, w->L);
  }
  if (hessian) dj_scaleHessian(hessian, stiffness, w->L);
}
