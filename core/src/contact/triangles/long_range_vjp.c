// lambda . gradient is how U changes along the motion lambda. Its derivative by a number of a shape
// is then how dU/dnumber changes along that motion: the recursion of mean_distance.h is gone
// through once for L of all pairs and their changes, then from the roots on for cotangents and
// theirs. A number with its change is a dual number here.
//
// Without a motion, and with the cotangent of L as its change, changes are what cotangents of U
// would be: so U itself is differentiated by shapes.
//
// In a's own frame the cotangent of a point that a carries is R^T y, which changes by
// R^T (dy - w x y).

#include "contact/triangles/long_range_vjp.h"

#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/triangle_way.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------ meshes ---------------------------------------------

// Room for a tape: it is gone through once to know how long it is.
static djStatus recordTape(djMeanDistance* L, djMeanTape* tape, djMeanPair* p) {
  p->tape = tape;
  djStatus status = p->sums ? dj_triangleSum(L, p) : dj_meanDistance(L, p);
  if (status < 0) return status;
  tape->room = tape->n;
  tape->n = 0;
  tape->record = malloc(tape->room * sizeof *tape->record);
  if (!tape->record) return DJ_NO_MEMORY;
  return p->sums ? dj_triangleSum(L, p) : dj_meanDistance(L, p);
}

static djDual1 cotangentOf(const djLongLaw* law, double change, bool whole) {
  return whole ? (djDual1){0, law->by} : (djDual1){law->by, law->by2 * change};
}

// whole: of U, and there is no motion.
static djStatus vjpMeshes(djPairGrad* grad, djLongPair* pair, const djPairInput* in, djVec3 w,
                          djVec3 v, bool whole) {
  djMeanPair* p = &pair->mean;
  const size_t na = 2 * (size_t)p->a->ntri - 1, nb = 2 * (size_t)p->b->ntri - 1;
  djMeanTape tape = {.n = 0};
  djMeanDistance d;
  dju_store3(tape.along, w);
  dju_store3(tape.along + 3, v);
  djStatus status = recordTape(&d, &tape, p);
  djSphereGrad* by = calloc(na + nb, sizeof *by);
  if (!by) status = DJ_NO_MEMORY;
  if (status >= 0) {
    djTriangleWay way = {.p = p,
                         .tape = &tape,
                         .w = w,
                         .v = v,
                         .by_a = by,
                         .by_b = by + na,
                         .vert_a = grad->a->vert,
                         .vert_b = grad->b->vert};
    const djLongLaw law = dj_longLawOf(d.L, pair, in->setting);
    const djDual1 bar = cotangentOf(&law, tape.record[0].L[1], whole);
    if (p->sums)
      dj_sumVjp(&way, bar);
    else
      dj_meanVjp(&way, bar);
    if (!p->sums) {
      dj_sphereTreeParams(grad->a->vert, way.by_a, p->a);
      dj_sphereTreeParams(grad->b->vert, way.by_b, p->b);
    } else if (dj_layeredTreeParams(grad->a->vert, way.by_a, p->a, in->a->nvert) < 0 ||
               dj_layeredTreeParams(grad->b->vert, way.by_b, p->b, in->b->nvert) < 0) {
      status = DJ_NO_MEMORY;
    }
  }
  free(by);
  free(tape.record);
  return status;
}

// ------------------------------------------ half spaces ----------------------------------------

// By parts of the surface: thirds of triangles over all.
static void takeParts(djSphereGrad* by, const double* part, const djSphereTree* t,
                      const double* weight, int nvert) {
  const double all = t->node[0].m;
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    if (t->node[i].right > 0) continue;
    for (int k = 0; k < 3; k++) {
      by[i].m += part[(int)t->tri[3 * (int)t->node[i].first + k]] / (3 * all);
    }
  }
  for (int i = 0; i < nvert; i++) by[0].m -= part[i] * weight[i] / all;
}

// bar times the derivative of 12 (1 + (z/length_scale)^-1/2)^2.
static djDual1 sumSlope(djDual1 bar, djDual1 z, double length_scale) {
  const djDual1 one = {1, 0}, e = dj_over(one, dj_dualRoot(dj_scaled(1 / length_scale, z)));
  return dj_times(dj_scaled(-12, bar), dj_over(dj_times(e, dj_shifted(e, 1)), z));
}

static djStatus vjpPlane(djPairGrad* grad, djLongPair* pair, const djPairInput* in, djVec3 w,
                         djVec3 v, bool whole) {
  djHalfPair* p = &pair->half;
  djSphereTree tree;
  djMeanDistance d;
  double least, change = 0;
  dj_openTriangles(&tree, in->a);
  const djStatus status = dj_longDistance(&d, &least, pair);
  if (status < 0) return status;
  const double along[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  for (int k = 0; k < 6; k++) change += d.g[k] * along[k];
  const djLongLaw law = dj_longLawOf(d.L, pair, in->setting);
  const djDual1 bar = cotangentOf(&law, change, whole), L = {d.L, change};
  const size_t nnode = 2 * (size_t)tree.ntri - 1;
  djSphereGrad* by = calloc(nnode, sizeof *by);
  double* part = calloc((size_t)p->nvert, sizeof *part);
  if (by && part) {
    for (int i = 0; i < p->nvert; i++) {
      const djVec3 x =
          dju_transform(&p->place, dju_vec3(p->vert[0][i], p->vert[1][i], p->vert[2][i]));
      const djVec3 move = dju_add3(v, dju_cross3(w, dju_sub3(x, p->c)));
      const djDual1 z = {dju_dot3(p->normal, x) - p->offset, dju_dot3(p->normal, move)};
      const djDual1 log_z = {log(z.x), z.d / z.x};
      // p_v/w_v
      const djDual1 ratio =
          dj_times(bar, dj_exponential(dj_scaled(-DJ_MEAN_ALPHA, dj_minus(log_z, L))));
      part[i] = -ratio.d / DJ_MEAN_ALPHA;
      const djDual1 slope = pair->sums ? sumSlope(bar, z, p->length_scale) : dj_over(ratio, z);
      const djDual1 by_z = dj_scaled(p->weight[i], slope);
      const djDualVec y = dj_timesVec(by_z, (djDualVec){p->normal, {0, 0, 0}});
      const djVec3 own = dj_ofA(&p->place.R, w, y),
                   of_x = dj_timesVec(by_z, (djDualVec){x, move}).d;
      grad->a->vert[0][i] += own.x;
      grad->a->vert[1][i] += own.y;
      grad->a->vert[2][i] += own.z;
      grad->b->normal = dju_add3(grad->b->normal, of_x);
      grad->b->offset -= by_z.d;
    }
    if (!pair->sums) { // whose weights are numbers of triangles
      takeParts(by, part, &tree, p->weight, p->nvert);
      dj_sphereTreeParams(grad->a->vert, by, &tree);
    }
  }
  const bool good = by && part;
  free(by);
  free(part);
  return good ? DJ_OK : DJ_NO_MEMORY;
}

djStatus dj_longVjp(djPairGrad* grad, djPairState* state, const djPairInput* in,
                    const double lambda[12]) {
  djLongPair pair;
  djStatus status = dj_openLongPair(&pair, state, in, 1);
  if (status < 0) return status;
  const djVec3 wb = dju_load3(lambda + 6);
  const djVec3 at = dju_add3(dju_load3(lambda + 9), dju_cross3(wb, pair.apart));
  const djVec3 w = dju_mulMtV(pair.axes, dju_sub3(dju_load3(lambda), wb));
  const djVec3 v = dju_mulMtV(pair.axes, dju_sub3(dju_load3(lambda + 3), at));
  djMeanDistance d;
  double gap;
  djLongPair plain = pair;
  status = dj_longDistance(&d, &gap, &plain);
  if (status < 0) return status;
  const double along[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  double unit[DJ_LONG_NSETTING];
  memcpy(unit, in->setting, sizeof unit);
  unit[DJ_LONG_STIFFNESS] = 1;
  const double slope = dj_longLawOf(d.L, &pair, unit).by;
  for (int k = 0; k < 6; k++) grad->setting[DJ_LONG_STIFFNESS] += slope * d.g[k] * along[k];
  return pair.plane ? vjpPlane(grad, &pair, in, w, v, false)
                    : vjpMeshes(grad, &pair, in, w, v, false);
}

djStatus dj_longGradient(djPairGrad* grad, const djPairInput* in) {
  djLongPair pair;
  const djVec3 none = {0, 0, 0};
  const djStatus status = dj_openLongPair(&pair, NULL, in, 1);
  if (status < 0) return status;
  return pair.plane ? vjpPlane(grad, &pair, in, none, none, true)
                    : vjpMeshes(grad, &pair, in, none, none, true);
}
