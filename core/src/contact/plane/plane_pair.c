#include "contact/plane/plane_pair.h"

#include "math/barrier.h"
#include "shape/support.h"

#include <string.h>

static bool isVertexShape(const djShape* s) {
  return s->nvert > 0 && s->npad >= s->nvert && s->npad % DJ_LANES == 0;
}

bool dj_isFinitePose(const djPose* T) {
  const double* R = T->R.m;
  double sum = (R[0] + R[1] + R[2]) + (R[3] + R[4] + R[5]) + (R[6] + R[7] + R[8]);
  return isfinite(sum + (T->p.x + T->p.y + T->p.z));
}

bool dj_isPlaneInput(const djPairInput* in) {
  if (!in || !in->a || !in->b || !in->pose_a || !in->pose_b || !in->start_a || !in->start_b) {
    return false;
  }
  if (!in->rate_a || !in->rate_b || !in->setting || !isVertexShape(in->a)) return false;
  double s = in->setting[DJ_PLANE_SUPPORT], L = in->setting[DJ_PLANE_LENGTH_SCALE];
  if (!(s > 0 && s < 1) || !(L > 0)) return false;
  double part = in->setting[DJ_PLANE_RECOVERY];
  if (!(part > 0 && part <= 1) || !(in->recovery_part > 0)) return false;
  double guide = in->setting[DJ_PLANE_GUIDE];
  if (!(guide >= 0) || isinf(guide)) return false;
  double p = in->setting[DJ_PLANE_GUIDE_DECAY];
  if (!(in->setting[DJ_PLANE_GUIDE_LENGTH] > 0) || !((p > 0 && p < 1) || p == DJ_TAIL_DECAY)) {
    return false;
  }
  return in->setting[DJ_PLANE_STIFFNESS] >= 0 && in->scratch && isfinite(L + in->inflate);
}

double* dj_takeScratch(djPlaneWork* w, int n) {
  if (n > w->nfree) return NULL;
  double* p = w->free;
  w->free += n;
  w->nfree -= n;
  return p;
}

// Signs and radii of the clouds, whose vertices dj_placeClouds sets.
static void markClouds(djPlaneWork* w) {
  djClouds* c = &w->clouds;
  int n = w->in->a->npad + w->in->b->npad;
  double *sign = w->y + 3 * n, *lift = sign + n;
  c->na = w->in->a->nvert;
  c->n = c->na + w->in->b->nvert;
  c->r[0] = w->radius[0];
  c->r[1] = w->radius[1];
  for (int i = 0; i < n; i += DJU_LANES) {
    djMask a = dju_firstLanes(c->na - i);
    dju_storeLanes(sign + i, dju_pick(a, dju_splat(-1), dju_splat(1)));
    dju_storeLanes(lift + i, dju_pick(a, dju_splat(c->r[0]), dju_splat(c->r[1])));
  }
  for (int k = 0; k < 4; k++) c->x[k] = w->y + k * n;
  c->lift = lift;
  c->curved = w->shape[0]->curved || w->shape[1]->curved;
  c->curve[0] = w->curve[0];
  c->curve[1] = w->curve[1];
  c->tail = NULL;
}

static void placeCurves(djPlaneWork* w) {
  for (int k = 0; k < 2; k++) {
    memset(&w->curve[k], 0, sizeof w->curve[k]);
    if (!w->shape[k]->curved) continue;
    w->curve[k] = dju_mulMM(w->pose[k]->R, w->shape[k]->curve);
    for (int i = 0; i < 9; i++) w->curve[k].m[i] /= w->L;
  }
}

djStatus dj_openPlaneWork(djPlaneWork* w, const djPairInput* in, const djErosion* erosion,
                          bool at_start) {
  if (!dj_isPlaneInput(in)) return DJ_INVALID;
  if (!(in->b->type == DJ_PLANE || isVertexShape(in->b))) return DJ_INVALID;
  w->in = in;
  w->seen = NULL;
  w->pose[0] = at_start ? in->start_a : in->pose_a;
  w->pose[1] = at_start ? in->start_b : in->pose_b;
  if (!dj_isFinitePose(w->pose[0]) || !dj_isFinitePose(w->pose[1])) return DJ_INVALID;
  w->shape[0] = in->a;
  w->shape[1] = in->b;
  w->half_space = in->b->type == DJ_PLANE;
  w->law = dj_planeLaw(in->setting);
  w->L = in->setting[DJ_PLANE_LENGTH_SCALE];
  w->soft = dj_softening(&w->soft_rate, erosion, in);
  w->K = w->soft * in->setting[DJ_PLANE_STIFFNESS];
  w->range = dj_planeRange(in->setting);
  // whole cache lines: lanes start on them
  int skip = (int)((64 - (uintptr_t)in->scratch % 64) % 64 / sizeof(double));
  w->free = in->scratch + skip;
  w->nfree = in->nscratch - skip;
  int na = in->a->npad, nb = w->half_space ? 0 : in->b->npad;
  w->y = dj_takeScratch(w, 5 * (na + nb));
  w->z = dj_takeScratch(w, w->half_space ? na : 0);
  if (!w->y || !w->z) return DJ_NO_MEMORY;
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
  if (w->half_space) sum += in->lower;   // that part of the inflation is the plane's
  double ra = w->half_space ? sum : fmin(fmax(a->radius + 0.5 * w->inflate, 0), sum);
  w->radius[0] = ra / w->L;
  w->radius[1] = (sum - ra) / w->L;
  if (w->shape[0]->curved || w->shape[1]->curved) placeCurves(w);
  if (!w->half_space) markClouds(w);
  return DJ_OK;
}

void dj_placeCloud(double* out, int stride, const djShape* s, const djPose* pose, djVec3 center,
                   double L, double sign) {
  const double* R = pose->R.m;
  double shift[3], inv = sign / L;
  dju_store3(shift, dju_sub3(pose->p, center));
  for (int i = 0; i < s->npad; i += DJU_LANES) {
    djLanes x = dju_loadLanes(s->vert[0] + i), y = dju_loadLanes(s->vert[1] + i);
    djLanes z = dju_loadLanes(s->vert[2] + i);
    for (int k = 0; k < 3; k++) {
      djLanes v = (R[3 * k] * x + R[3 * k + 1] * y) + (R[3 * k + 2] * z + shift[k]);
      dju_storeLanes(out + k * stride + i, inv * v);
    }
  }
}

static djVec3 planeNormal(const djPlaneWork* w) {
  return dju_mulMV(w->pose[1]->R, w->shape[1]->normal);
}

// Vertices above a half space to the lowest points of their ellipsoids.
static void shiftCloud(const djPlaneWork* w) {
  djVec3 c;
  double down[3];
  dj_curveReach(&c, NULL, &w->curve[0], planeNormal(w));
  dju_store3(down, c);
  int n = w->shape[0]->npad;
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) w->y[k * n + i] -= down[k];
  }
}

// b's vertices replace a's padding.
void dj_placeHulls(double* y, int stride, const djShape* const shape[2],
                   const djPose* const pose[2], djVec3 center, double L) {
  const djShape* b = shape[1];
  dj_placeCloud(y, stride, shape[0], pose[0], center, L, -1);
  djVec3 x = dju_vec3(b->vert[0][0], b->vert[1][0], b->vert[2][0]);
  double last[3];
  dju_store3(last, dju_scale3(1 / L, dju_sub3(dju_transform(pose[1], x), center)));
  for (int k = 0; k < 3; k++) {
    dju_storeLanes(y + (k + 1) * stride - DJU_LANES, dju_splat(last[k]));
  }
  dj_placeCloud(y + shape[0]->nvert, stride, b, pose[1], center, L, 1);
}

void dj_placeClouds(djPlaneWork* w, djVec3 center) {
  int na = w->shape[0]->nvert, stride = w->shape[0]->npad;
  if (!w->half_space) stride += w->shape[1]->npad;
  w->center = center;
  double sign = w->half_space ? 1 : -1;
  if (!w->half_space) {
    dj_placeHulls(w->y, stride, w->shape, w->pose, center, w->L);
  } else {
    dj_placeCloud(w->y, stride, w->shape[0], w->pose[0], center, w->L, sign);
    if (w->shape[0]->curved) shiftCloud(w);
  }
  for (int side = 0; side < (w->half_space ? 1 : 2); side++) {
    djCloud* c = &w->cloud[side];
    c->n = w->shape[side]->nvert;
    c->sign = side == 0 ? sign : 1;
    c->r = w->radius[side];
    c->curved = !w->half_space && w->shape[side]->curved;
    if (c->curved) c->curve = w->curve[side];
    for (int k = 0; k < 3; k++) c->x[k] = w->y + k * stride + (side == 0 ? 0 : na);
  }
}

// N.x - offset - r at x = center + L y
void dj_placeHalfSpace(djHalfSpace* space, const djPlaneWork* w) {
  const djShape* b = w->shape[1];
  djVec3 N = planeNormal(w);
  space->n = w->cloud[0].n;
  for (int k = 0; k < 3; k++) space->y[k] = w->cloud[0].x[k];
  dju_store3(space->normal, N);
  space->k = (dju_dot3(N, dju_sub3(w->center, w->pose[1]->p)) - b->offset + w->in->lower) / w->L -
             w->radius[0];
  space->curved = w->shape[0]->curved;
  for (int k = 0; k < 3 && space->curved; k++) {   // columns are rows
    djVec3 axis = dju_vec3(k == 0, k == 1, k == 2);
    dju_store3(space->bend.m + 3 * k, dj_curveBend(&w->curve[0], N, axis));
  }
}

// Largest d.x over a shape's vertices with their ellipsoids, body frame.
static double support(const djShape* s, djVec3 d) {
  double reach = s->curved ? dj_curveReach(NULL, NULL, &s->curve, d) : 0;
  return reach + dju_dot3(d, dj_erodedVertex(s, 0, dj_farthestVertex(s, 0, d)));
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
  djStatus status = DJ_OK;
  if (w->seen) {
    *d = *w->seen;
  } else {
    status = dj_distance(d, &state->cache, w->shape[0], w->pose[0], 0, w->shape[1], w->pose[1], 0);
  }
  if (status < 0) return status;
  *gap = d->gap - w->inflate;
  state->directed = true;
  state->normal = d->normal;
  return DJ_OK;
}

djVec3 dj_forceMiddle(double plane[4], const djPlaneSolution* sol) {
  djVec3 n = dju_load3(sol->p), middle = {0, 0, 0};
  for (int k = 0; k < 2; k++) {
    const djPlaneSums* m = &sol->side[k];
    if (m->f[3] != 0) middle = dju_madd3(middle, 0.5 / m->f[3], dju_load3(m->f));
  }
  dju_store3(plane, n);
  plane[3] = sol->p[3] + dju_dot3(n, middle);
  return middle;
}

// Keep the plane for the next evaluation, about the middle of the points that carry force.
static void keepWarm(djPlaneState* state, const djPlaneWork* w, const djPlaneSolution* sol) {
  djVec3 n = dju_load3(sol->p);
  state->warm = state->directed = true;
  state->normal = dju_scale3(1 / dju_norm3(n), n);
  state->center = dju_madd3(w->center, w->L, dj_forceMiddle(state->plane, sol));
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
  djPlaneStatus status = dj_solvePlane(&f->plane, &w->clouds, w->law, 12);
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

// A start by the closest points, n along them, midway, unless f->kind says that none is needed.
static djStatus startNear(djFound* f, djPlaneWork* w, djPlaneState* state) {
  djDistance d;
  djStatus status = dj_pairDistance(&f->gap, &d, w, state);
  if (status) return status;
  if (!(f->gap > 0)) {
    f->kind = DJ_OVERLAPPING;
    return DJ_OK;
  }
  if (f->gap >= w->range) return DJ_OK;
  dj_placeClouds(w, dju_scale3(0.5, dju_add3(d.point_a, d.point_b)));
  f->plane.p[3] = 0;
  dju_store3(f->plane.p, dju_scale3(dj_startLength(f->gap / w->L, w->law), d.normal));
  f->kind = DJ_TOUCHING;
  return DJ_OK;
}

// Hulls, without a plane of before.
static djStatus findCold(djFound* f, djPlaneWork* w, djPlaneState* state) {
  state->warm = false;
  djStatus status = startNear(f, w, state);
  if (status || f->kind != DJ_TOUCHING) return status;
  f->kind = DJ_APART;
  djPlaneStatus solved = dj_solveCentredPlane(&f->plane, &w->clouds, w->law, 80);
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
  djPlaneStatus solved = dj_solveHalfSpace(&f->half, &f->space, w->law, w->z, 80);
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
  const djPlaneSums* m = &f->half.m;
  state->center = dju_madd3(w->center, w->L / m->f[3], dju_load3(m->f));
  return solved == DJ_PLANE_LOST ? DJ_NOT_CONVERGED : DJ_OK;
}

static bool isKnown(const djKnownPlane* known, const djPlaneWork* w) {
  return known->set && !memcmp(&known->pose[0], w->pose[0], sizeof(djPose)) &&
         !memcmp(&known->pose[1], w->pose[1], sizeof(djPose)) && known->law.s == w->law.s &&
         known->law.law == w->law.law && known->L == w->L && known->inflate == w->inflate &&
         known->shape[0] == w->in->a && known->shape[1] == w->in->b;
}

// The clouds are placed as they were: what else is asked of a pair that touches needs them.
static djStatus recall(djFound* f, djPlaneWork* w, djPlaneState* state,
                       const djKnownPlane* known) {
  f->kind = known->kind;
  f->value = known->value;
  f->gap = known->gap;
  f->iterations = 0;
  if (f->kind != DJ_TOUCHING) return known->status;
  dj_placeClouds(w, known->center);
  if (w->half_space) {
    dj_placeHalfSpace(&f->space, w);
    f->half = known->half;
    state->normal = dju_neg3(dju_load3(f->space.normal));
  } else {
    djVec3 n = dju_load3(known->plane.p);
    f->plane = known->plane;
    state->normal = dju_scale3(1 / dju_norm3(n), n);
  }
  state->directed = true;
  setReference(f, w);
  return known->status;
}

static void keep(djKnownPlane* known, const djFound* f, const djPlaneWork* w, djStatus status) {
  known->set = status >= 0;
  if (status < 0) return;
  known->status = status;
  known->pose[0] = *w->pose[0];
  known->pose[1] = *w->pose[1];
  known->law = w->law;
  known->L = w->L;
  known->inflate = w->inflate;
  known->shape[0] = w->in->a;
  known->shape[1] = w->in->b;
  known->kind = f->kind;
  known->value = f->value;
  known->gap = f->gap;
  if (f->kind != DJ_TOUCHING) return;
  known->center = w->center;
  if (w->half_space) known->half = f->half;
  else known->plane = f->plane;
}

djStatus dj_findPlane(djFound* f, djPlaneWork* w, djPlaneState* state) {
  for (int k = 0; k < 2; k++) {
    if (isKnown(&state->known[k], w)) return recall(f, w, state, &state->known[k]);
  }
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
  keep(&state->known[state->known[0].set], f, w, status);
  return status;
}

void dj_foundTwist(double gradient[12], double mixed[48], double hessian[144], const djFound* f,
                   const djPlaneWork* w, double stiffness) {
  if (w->half_space) {
    dj_halfSpaceTwist(gradient, mixed, hessian, &f->half, &f->space, f->ref, stiffness, w->L);
  } else {
    dj_planeTwist(gradient, mixed, hessian, &f->plane, f->ref, w->radius, stiffness, w->L);
  }
}
