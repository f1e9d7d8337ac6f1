// Volumes of unions of hulls, and of a body's geoms.

#include <dijoco/overlap.h>

#include "base/status.h"
#include "inertia/body_hulls.h"
#include "inertia/facets.h"

#include <math.h>
#include <stdint.h>

// Part of the volumes' sum by which a union may be wrong: see inertia/hull_union.h.
#define UNION_ERROR 1e-8

// Adds a list of polytopes that is counted for itself.
static djStatus addOverlap(djHullOverlap* out, int n, const djPolytope* part) {
  djMoments excess = {0};
  double sum = 0;
  for (int k = 0; k < n; k++) {
    djMoments own = {0};
    djStatus status = dj_unionMoments(&own, 1, &part[k]);
    if (status < 0) return status;
    out->nhull += own.volume > 0;
    sum += own.volume;
  }
  djStatus status = dj_excessMoments(&excess, n, part);
  if (status < 0) return status;
  out->sum += sum;
  out->overlap += fmin(fmax(excess.volume, 0), sum);
  out->error += UNION_ERROR * sum;
  return DJ_OK;
}

static void finish(djHullOverlap* out) {
  out->whole = out->sum - out->overlap;
  out->share = out->sum > 0 ? out->overlap / out->sum : 0;
}

djStatus dj_overlapOfHulls(djHullOverlap* out, int n, const djHullPoints* hull, djError* err) {
  djBodyHulls h;
  if (!out || n < 0 || (n > 0 && !hull)) return dj_fail(err, DJ_INVALID, "out or hulls: NULL");
  *out = (djHullOverlap){0};
  for (int k = 0; k < n; k++) {
    bool good = hull[k].nvert >= 0 && hull[k].nvert <= INT32_MAX / 64 &&
                (hull[k].nvert == 0 || hull[k].vert);
    for (int i = 0; good && i < 3 * hull[k].nvert; i++) good = isfinite(hull[k].vert[i]);
    if (!good) return dj_fail(err, DJ_INVALID, "hull %d: its points are not finite", k);
  }
  djStatus status = dj_startHulls(&h, n);
  for (int k = 0; k < n && status == DJ_OK; k++) {
    status = dj_addHull(&h, hull[k].nvert, hull[k].vert, NULL);
  }
  if (status == DJ_OK) status = addOverlap(out, n, h.part);
  dj_freeBodyHulls(&h);
  finish(out);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}

static djStatus addBody(djHullOverlap* out, const djModel* m, int body, const djSurfaces* s) {
  int first = m->body_geomadr[body];
  djBodyHulls h;
  djStatus status = dj_bodyHulls(&h, m, first, first + m->body_geomnum[body], s->now);
  if (status == DJ_OK) status = addOverlap(out, h.n, h.part);
  dj_freeBodyHulls(&h);
  return status;
}

djStatus dj_bodyOverlap(djHullOverlap* out, const djModel* m, int body, djError* err) {
  if (!out || !m || body < -1 || body >= m->nbody) {
    return dj_fail(err, DJ_INVALID, "out, model or body");
  }
  *out = (djHullOverlap){0};
  djSurfaces surfaces; // facets that meshes have are mostly those of their hulls
  djStatus status = dj_makeSurfaces(&surfaces, m, m);
  int first = body < 0 ? 1 : body, end = body < 0 ? m->nbody : body + 1;
  for (int b = first; b < end && status == DJ_OK; b++) status = addBody(out, m, b, &surfaces);
  dj_freeSurfaces(&surfaces);
  finish(out);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}
