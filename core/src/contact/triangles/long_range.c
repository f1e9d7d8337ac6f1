// Contact by the paper's idea of long-range influence ("Efficient Differentiable Contact Model with
// Long-Range Influence", eqs. 3-8), between closed triangle meshes, concave ones too, and half
// spaces: by weighting a potential of their mean distance D (mean_distance.h, half_distance.h),
//
//   U = 12 stiffness (1 + (D/length_scale)^(-1/2))^2,
//
// or the paper's own sum (triangle_sum.h). Both are infinite where triangles touch, act at all
// distances, and depend on how two bodies lie to each other alone.

#include "contact/triangles/long_range.h"

#include "contact/triangles/long_range_pair.h"
#include "contact/triangles/long_range_query.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/long_range_vjp.h"
#include "contact/triangles/mesh_distance.h"
#include "contact/triangles/triangle_friction.h"
#include "model/geom_row.h"

#include <math.h>
#include <string.h>

static bool isGood(const djPairInput* in) {
  return in && in->setting && dj_settingsValid(&dj_longRange, in->setting);
}

static djStatus openPair(djLongPair* pair, djPairState* state, const djPairInput* in, int order) {
  if (!isGood(in)) return DJ_INVALID;
  return dj_openLongPair(pair, state, in, order);
}

// Planes of earlier steps are forgotten, so that a step depends on its start alone.
static djStatus begin(djPairState* state, const djPairInput* in) {
  djLongPair pair;
  const djStatus status = openPair(&pair, state, in, 0);
  if (status == DJ_OK) dj_warmPlanesOf(state)->step++;
  return status;
}

static djStatus eval(djPairOutput* out, djPairState* state, const djPairInput* in, int flags) {
  const bool second = (flags & (DJ_EVAL_HESSIAN | DJ_EVAL_MAJORIZER)) != 0;
  djLongPair pair;
  djMeanDistance d;
  *out = (djPairOutput){.active = true, .twist_jac = out->twist_jac};
  djStatus status = openPair(&pair, state, in, second ? 2 : flags & DJ_EVAL_GRADIENT ? 1 : 0);
  if (status < 0) return status;
  status = dj_longDistance(&d, &out->gap, &pair);
  if (status == DJ_OVERLAP) {
    out->value = INFINITY;
    return DJ_OK;
  }
  if (status < 0) return status;
  const djLongLaw law = dj_longLawOf(d.L, &pair, in->setting);
  out->value = law.U;
  if (!second && !(flags & DJ_EVAL_GRADIENT)) {
    if (!dj_slides(in->friction)) return status;
    const djStatus slips = dj_addTriangleFriction(out, state, in, false);
    return slips < 0 ? slips : status;
  }
  double g[6], H[DJ_PACKED6];
  for (int i = 0, k = 0; i < 6; i++) {
    g[i] = law.by * d.g[i];
    for (int j = 0; j <= i && second; j++, k++) H[k] = law.by * d.H[k] + law.by2 * d.g[i] * d.g[j];
  }
  dj_completeLong(out->gradient, second ? out->hessian : NULL, g, H, &pair);
  if (!dj_slides(in->friction)) return status;
  const djStatus slips = dj_addTriangleFriction(out, state, in, second);
  return slips < 0 ? slips : status;
}

static djStatus start(double start_jac[144], double rate_jac[144], djPairState* state,
                      const djPairInput* in) {
  memset(start_jac, 0, 144 * sizeof *start_jac);
  if (rate_jac) memset(rate_jac, 0, 144 * sizeof *rate_jac);
  if (!isGood(in)) return DJ_INVALID;
  return dj_slides(in->friction) ? dj_triangleFrictionStart(start_jac, rate_jac, state, in) : DJ_OK;
}

static djStatus vjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  if (!isGood(in)) return DJ_INVALID;
  const djStatus status = dj_longVjp(grad, state, in, lambda);
  if (status < 0 || !dj_slides(in->friction)) return status;
  // friction follows both; by vertices it has no derivatives (dj_makeDesign refuses them)
  djPairInput unit = *in;
  double setting[DJ_LONG_NSETTING], g[12];
  memcpy(setting, in->setting, sizeof setting);
  setting[DJ_LONG_STIFFNESS] = 1;
  unit.setting = setting;
  const djStatus slips = dj_triangleFriction(g, state, &unit);
  for (int i = 0; i < 12 && slips >= 0; i++) {
    grad->setting[DJ_LONG_STIFFNESS] += lambda[i] * g[i];
    grad->friction += lambda[i] * g[i] * in->setting[DJ_LONG_STIFFNESS] / in->friction;
  }
  return slips < 0 ? slips : status;
}

// ------------------------------------------ gaps -----------------------------------------------

static djPose placeOf(const djPose* a, const djPose* b) {
  return (djPose){dju_untransform(b, a->p), dju_mulMtM(b->R, a->R)};
}

// Of vertices above a half space.
static void planeGap(djDistance* d, const djGeomPair* g) {
  const djVec3 n = dju_mulMV(g->pose_b->R, g->b->normal);
  const djPose place = placeOf(g->pose_a, g->pose_b);
  d->gap = INFINITY;
  d->normal = dju_neg3(n);
  for (int i = 0; i < g->a->nvert; i++) {
    const djVec3 x = {g->a->vert[0][i], g->a->vert[1][i], g->a->vert[2][i]};
    const double z = dju_dot3(g->b->normal, dju_transform(&place, x)) - g->b->offset;
    if (!(z < d->gap)) continue;
    d->gap = z;
    d->point_a = dju_transform(g->pose_a, x);
    d->point_b = dju_madd3(d->point_a, -z, n);
  }
}

static djStatus gap(djDistance* d, djDistanceCache* cache, const djGeomPair* g) {
  (void)cache;
  d->iterations = 0;
  if (g->b->type == DJ_PLANE) {
    planeGap(d, g);
    return isfinite(d->gap) ? DJ_OK : DJ_INVALID;
  }
  djSphereTree a, b;
  djMeshDistance m;
  dj_openTriangles(&a, g->a);
  dj_openTriangles(&b, g->b);
  const djPose place = placeOf(g->pose_a, g->pose_b);
  dj_meshDistance(&m, &a, &b, &place);
  d->gap = m.gap;
  d->normal = dju_mulMV(g->pose_b->R, m.normal);
  d->point_a = dju_transform(g->pose_b, m.on_a);
  d->point_b = dju_transform(g->pose_b, m.on_b);
  return isfinite(d->gap) ? DJ_OK : DJ_INVALID;
}

static djStatus depth(double* depth, const djVec3* along, const djGeomPair* g) {
  djDistance d;
  (void)along;
  const djStatus status = gap(&d, NULL, g);
  *depth = -d.gap;
  return status;
}

// ------------------------------------------ steps ----------------------------------------------

// A half space has no other side: its pairs' values are infinite behind it, and a search goes back.
static double room(const double* setting, const djShape* a, const djShape* b) {
  (void)setting;
  (void)a;
  return b->type == DJ_PLANE ? INFINITY : 0;
}

static djStatus maxStep(double* factor, double* gap, const djGeomPair* g,
                        const djPairMotion* motion) {
  djSphereTree a, b;
  dj_openTriangles(&a, g->a);
  dj_openTriangles(&b, g->b);
  const djPose from = placeOf(g->pose_a, g->pose_b), to = placeOf(motion->trial_a, motion->trial_b);
  const double part = dj_meshAdvance(gap, &a, &b, &from, &to, g->a->center, g->a->bound);
  if (part < *factor) *factor = part;
  return DJ_OK;
}

// ------------------------------------------ row ------------------------------------------------

static bool isSolid(int type) {
  return type == DJ_MESH || type == DJ_BOX || type == DJ_SPHERE || type == DJ_CAPSULE ||
         type == DJ_CYLINDER || type == DJ_ELLIPSOID;
}

static bool takes(int type_a, int type_b) {
  return isSolid(type_a) && (type_b == DJ_PLANE || isSolid(type_b));
}

static double range(const double* setting) {
  (void)setting;
  return 0;
}

static bool afar(const double* setting) {
  (void)setting;
  return true;
}

// A closed mesh has two triangles for each vertex, or not many more; each pair has a plane at the
// start and one now.
static size_t stateSize(int nvert, size_t most) {
  const double pairs = 4.0 * nvert * nvert;
  const double room = ((double)most - sizeof(djWarmPlanes)) / sizeof(djWarmPlane);
  const double n = fmin(2 * pairs, fmin(room, DJ_MOST_WARM));
  return DJ_WARM_SIZE(fmax(n, DJ_NWARM));
}

const djKernel dj_longRange = {
    .settings = &dj_longSettings,
    .smoothness = DJ_C2,
    .where = "where vertices move, also where another vertex becomes the farthest of a ball",
    .traits = {.energy = true, .symmetric = true, .limits = true},
    .state_size = DJ_WARM_SIZE(DJ_NWARM),
    .stateSize = stateSize,
    .takes = takes,
    .range = range,
    .afar = afar,
    .slidesAlone = true,
    .everywhere = true,
    .shapeSize = dj_longShapeSize,
    .makeShape = dj_makeLongShape,
    .shapeParams = dj_longShapeParams,
    .gap = gap,
    .depth = depth,
    .share = 0.5,
    .room = room,
    .max_step = maxStep,
    .begin = begin,
    .eval = eval,
    .start = start,
    .vjp = vjp,
    .queryShapes = dj_longQueryShapes,
    .query = dj_longQuery,
};
