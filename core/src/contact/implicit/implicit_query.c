#include "contact/implicit/implicit_query.h"

#include "base/status.h"
#include "contact/implicit/implicit_fit.h"
#include "contact/shapes/convex.h"
#include "contact/shapes/given.h"
#include "model/geom_row.h"
#include "shape/hull.h"

#include <stdlib.h>
#include <string.h>

static char nameOf(const djContactQuery* q, int k) { return "ab"[k != q->swapped]; }

// Vertices relative to the origin, which keep the digits of shapes that are far away.
static djStatus hullOf(djHull* hull, const djcShape* s, char name, djError* err) {
  double* vert = malloc(3 * (size_t)s->nvert * sizeof *vert);
  if (!vert) return dj_failMemory(err);
  for (int i = 0; i < 3 * s->nvert; i++) vert[i] = s->vert[i] - s->origin[i % 3];
  djStatus status = dj_makeHull(hull, s->nvert, vert, 0, NULL, NULL);
  free(vert);
  if (status < 0) return dj_fail(err, status, "%c: its vertices have no volume", name);
  return DJ_OK;
}

// The vertices that the hull has, in mem (3 npad), which begins with padded ones.
static void keepHull(djShape* s, const djHull* hull, double* mem) {
  s->nvert = hull->nvert;
  s->npad = dj_paddedCount(hull->nvert);
  for (int c = 0; c < 3; c++) {
    double* to = mem + c * s->npad;
    for (int i = 0; i < s->npad; i++) to[i] = hull->vert[3 * (i < hull->nvert ? i : 0) + c];
    s->vert[c] = to;
  }
  s->bound = 0;
  dj_centerShape(s);
}

// Shape k gets its surface; mem: of its vertices, then of that.
static djStatus fitShape(djContactQuery* q, int k, const djHull* hull, double* mem, djError* err) {
  djShape* s = &q->shape[k];
  double by[3];
  djError why = {""};
  s->type = hull ? DJ_MESH : (int)q->given[k]->geom;
  s->inner = hull ? hull->inner : dj_geomRow(s->type)->inner(by, q->given[k]->size);
  if (hull) {
    keepHull(s, hull, mem);
    mem += 3 * s->npad;
  }
  s->sharp = dj_ruleOfSharpness(s->type, s->bound, s->inner);
  s->length = s->inner;
  const djStatus status = dj_fitImplicit(s, mem, hull, NULL, &why);
  return status ? dj_fail(err, status, "%c: %.150s", nameOf(q, k), why.text) : DJ_OK;
}

djStatus dj_surfaceQuery(djContactQuery* q, djError* err) {
  djHull hull[2];
  size_t size[2] = {0, 0};
  djStatus status = DJ_OK;
  memset(hull, 0, sizeof hull);
  for (int k = 0; k < 2 && !status; k++) {
    const djcShape* s = q->given[k];
    const bool vertices = s->nvert > 0;
    if (vertices) status = hullOf(&hull[k], s, nameOf(q, k), err);
    if (status) break;
    const int type = vertices ? DJ_MESH : (int)s->geom;
    size[k] = (size_t)dj_fitSize(type, vertices ? &hull[k] : NULL, NULL);
    if (vertices) size[k] += 3 * (size_t)dj_paddedCount(hull[k].nvert);
  }
  double* mem = NULL;
  if (!status) {
    q->own = mem = calloc(size[0] + size[1] + 1, sizeof *mem);
    if (!mem) status = dj_failMemory(err);
  }
  for (int k = 0; k < 2 && !status; k++) {
    if (size[k] == 0) continue; // a plane
    const djHull* own = q->given[k]->nvert > 0 ? &hull[k] : NULL;
    status = fitShape(q, k, own, mem + (k ? size[0] : 0), err);
  }
  for (int k = 0; k < 2; k++) dj_freeHull(&hull[k]);
  return status;
}
