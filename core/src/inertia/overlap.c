// Volumes of unions of hulls, and of a body's geoms.

#include <dijoco/overlap.h>

#include "base/status.h"
#include "inertia/body_hulls.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

// Part of the volumes' sum by which a union may be wrong: see inertia/hull_union.h.
#define UNION_ERROR 1e-8

// Adds a list of polytopes that is counted for itself.
static djStatus addOverlap(djHullOverlap* out, int n, const djPolytope* part) {
  djMoments whole = {0};
  double sum = 0;
  for (int k = 0; k < n; k++) {
    djMoments own = {0};
    djStatus status = dj_unionMoments(&own, 1, &part[k]);
    if (status < 0) return status;
    out->nhull += own.volume > 0;
    sum += own.volume;
  }
  djStatus status = dj_unionMoments(&whole, n, part);
  if (status < 0) return status;
  out->sum += sum;
  out->whole += fmin(whole.volume, sum);
  out->error += UNION_ERROR * sum;
  return DJ_OK;
}

static void finish(djHullOverlap* out) {
  out->overlap = out->sum - out->whole;
  // Hulls that share nothing have rounding errors of it.
  if (out->overlap < 1e-12 * out->sum) {
    out->overlap = 0;
    out->whole = out->sum;
  }
  out->share = out->sum > 0 ? out->overlap / out->sum : 0;
}

typedef struct Parts {
  int n;
  djPolytope* part; // (n)
  int** face;       // (n) theirs
  double** vert;    // (n) of those that are ours
} Parts;

static djStatus makeParts(Parts* p, int n) {
  size_t room = (size_t)n + 1;
  *p = (Parts){n, calloc(room, sizeof *p->part), calloc(room, sizeof *p->face),
               calloc(room, sizeof *p->vert)};
  return p->part && p->face && p->vert ? DJ_OK : DJ_NO_MEMORY;
}

static void freeParts(Parts* p) {
  for (int k = 0; k < p->n && p->face && p->vert; k++) {
    free(p->face[k]);
    free(p->vert[k]);
  }
  free(p->part);
  free(p->face);
  free(p->vert);
}

static djStatus fillPart(Parts* p, int k, int nvert, const double* vert) {
  djStatus status = dj_hullFacets(&p->part[k].nface, &p->face[k], nvert, vert);
  p->part[k].vert = vert;
  p->part[k].face = p->face[k];
  return status;
}

djStatus dj_overlapOfHulls(djHullOverlap* out, int n, const djHullPoints* hull, djError* err) {
  Parts p;
  if (!out || n < 0 || (n > 0 && !hull)) return dj_fail(err, DJ_INVALID, "out or hulls: NULL");
  *out = (djHullOverlap){0};
  for (int k = 0; k < n; k++) {
    bool good = hull[k].nvert >= 0 && hull[k].nvert <= INT32_MAX / 64 &&
                (hull[k].nvert == 0 || hull[k].vert);
    for (int i = 0; good && i < 3 * hull[k].nvert; i++) good = isfinite(hull[k].vert[i]);
    if (!good) return dj_fail(err, DJ_INVALID, "hull %d: its points are not finite", k);
  }
  djStatus status = makeParts(&p, n);
  for (int k = 0; k < n && status == DJ_OK; k++) {
    status = fillPart(&p, k, hull[k].nvert, hull[k].vert);
  }
  if (status == DJ_OK) status = addOverlap(out, n, p.part);
  freeParts(&p);
  finish(out);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}

static djStatus addBody(djHullOverlap* out, const djModel* m, int body) {
  int first = m->body_geomadr[body], end = first + m->body_geomnum[body], n = 0;
  Parts p;
  djStatus status = makeParts(&p, m->body_geomnum[body]);
  for (int g = first; g < end && status == DJ_OK; g++) {
    if (!dj_isPolytope(m->geom_type[g])) continue;
    int nvert = dj_polytopeVertices(m, g);
    p.vert[n] = malloc(3 * (size_t)nvert * sizeof(double) + 1);
    if (!p.vert[n]) {
      status = DJ_NO_MEMORY;
      break;
    }
    dj_placePolytope(p.vert[n], m, g);
    status = fillPart(&p, n, nvert, p.vert[n]);
    n++;
  }
  if (status == DJ_OK) status = addOverlap(out, n, p.part);
  freeParts(&p);
  return status;
}

djStatus dj_bodyOverlap(djHullOverlap* out, const djModel* m, int body, djError* err) {
  if (!out || !m || body < -1 || body >= m->nbody) {
    return dj_fail(err, DJ_INVALID, "out, model or body");
  }
  *out = (djHullOverlap){0};
  djStatus status = DJ_OK;
  int first = body < 0 ? 1 : body, end = body < 0 ? m->nbody : body + 1;
  for (int b = first; b < end && status == DJ_OK; b++) status = addBody(out, m, b);
  finish(out);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}
