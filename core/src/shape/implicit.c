// Making of implicit shapes: checks, facets, radii.

#include "shape/implicit.h"

#include "base/status.h"
#include "math/lanes.h"
#include "shape/hull.h"
#include "shape/shape.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST 1e-15 // m; of inner radii
#define THINNEST 1e-9  // least inner radius over the outer one

const djImplicitRow* const dj_implicitTable[] = {&dj_smoothPolytope, &dj_truncatedCone,
                                                 &dj_superellipsoid, &dj_superellipticCylinder,
                                                 &dj_smoothCapsule,  NULL};

const djImplicitRow* dj_implicitRow(const char* name) {
  for (int i = 0; dj_implicitTable[i]; i++) {
    if (!strcmp(dj_implicitTable[i]->name, name)) return dj_implicitTable[i];
  }
  return NULL;
}

int dj_implicitSize(const djImplicitRow* row, int nface) {
  if (!row->size) return 4 * nface + 2;
  int n = 1;
  while (row->size[n - 1]) n++;
  return n;
}

int dj_implicitRoom(const djImplicitRow* row, int nface) {
  return dj_implicitSize(row, nface) + (row->size ? 0 : 4 * dj_paddedCount(nface));
}

static djStatus checkNumbers(const djImplicit* shape, djError* err) {
  const djImplicitRow* row = shape->row;
  if (!(shape->sharp >= 1 && isfinite(shape->sharp))) {
    return dj_fail(err, DJ_INVALID, "%s: %s = %g must be at least 1", row->name, row->sharp,
                   shape->sharp);
  }
  for (int i = 0; row->size && row->size[i]; i++) {
    if (!(shape->size[i] > 0 && isfinite(shape->size[i]))) {
      return dj_fail(err, DJ_INVALID, "%s: %s = %g must be positive", row->name, row->size[i],
                     shape->size[i]);
    }
  }
  return DJ_OK;
}

// Facets over L.
static djStatus placeFacets(djImplicit* shape, double* mem, int m, djError* err) {
  const double *A = shape->size, *b = A + 3 * m, L = b[m];
  const char* name = shape->row->name;
  if (!(L > 0 && isfinite(L)))
    return dj_fail(err, DJ_INVALID, "%s: L = %g must be positive", name, L);
  const int npad = dj_paddedCount(m);
  for (int i = 0; i < npad; i++) {
    for (int k = 0; k < 3; k++) mem[k * npad + i] = i < m ? A[3 * i + k] / L : 0;
    mem[3 * npad + i] = i < m ? b[i] / L : INFINITY;
  }
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < 3; k++) {
      if (!isfinite(A[3 * i + k])) {
        return dj_fail(err, DJ_INVALID, "%s: A[%d] is not finite", name, i);
      }
    }
    if (!isfinite(b[i])) return dj_fail(err, DJ_INVALID, "%s: b[%d] is not finite", name, i);
    if (!(b[i] > 0)) {
      return dj_fail(err, DJ_INVALID, "%s: b[%d] = %g: the origin must be inside of all facets",
                     name, i, b[i]);
    }
  }
  shape->lift = log(0.5 * m);
  shape->scale = INFINITY;
  for (int i = 0; i < m; i++) shape->scale = fmin(shape->scale, b[i] / L);
  return DJ_OK;
}

// The corners of the polytope are the facets of the hull of a_i/b_i: that with n.p = e, e > 0, is
// the corner n/e. Of facets that are not on that hull nothing is seen.
static djStatus findCorners(djImplicit* shape, int m, djError* err) {
  const double *A = shape->size, *b = A + 3 * m;
  const char* name = shape->row->name;
  double* dual = malloc(3 * (size_t)(m > 0 ? m : 1) * sizeof *dual);
  if (!dual) return dj_fail(err, DJ_NO_MEMORY, "%s: no memory", name);
  for (int i = 0; i < 3 * m; i++) dual[i] = A[i] / b[i / 3];
  djHull hull;
  const djStatus status = dj_makeHull(&hull, m, dual, 0, NULL, NULL);
  free(dual);
  if (status == DJ_NO_MEMORY) return dj_fail(err, status, "%s: no memory", name);
  double least = INFINITY, most = 0;
  for (int f = 0; status == DJ_OK && f < hull.nface; f++) {
    least = fmin(least, hull.plane[4 * f + 3]);
    most = fmax(most, dju_norm3(dju_load3(&hull.plane[4 * f])) / hull.plane[4 * f + 3]);
  }
  if (status == DJ_OK) dj_freeHull(&hull);
  if (status != DJ_OK || !(least > 0) || !isfinite(most)) {
    return dj_fail(err, DJ_INVALID, "%s: its %d facets do not bound it", name, m);
  }
  shape->outer = most;
  return DJ_OK;
}

void dj_viewImplicit(djImplicit* shape, const double* mem, const djImplicitRow* row, int nface) {
  const int n = dj_implicitSize(row, nface);
  memset(shape, 0, sizeof *shape);
  shape->row = row;
  shape->nsize = n;
  shape->size = mem;
  shape->sharp = mem[n - 1];
  shape->scale = 1;
  if (shape->sharp <= 64 && shape->sharp == floor(shape->sharp)) shape->power = (int)shape->sharp;
  if (row == &dj_truncatedCone) shape->lift = log(2);
  if (row->size) return;
  shape->nface = nface;
  shape->npad = dj_paddedCount(nface);
  for (int k = 0; k < 4; k++) shape->face[k] = mem + n + k * shape->npad;
}

djStatus dj_fillImplicit(djImplicit* shape, double* mem, const djImplicitRow* row, int nface,
                         double outer, djError* err) {
  dj_viewImplicit(shape, mem, row, nface);
  djStatus status = checkNumbers(shape, err);
  if (status == DJ_OK && !row->size) {
    status = placeFacets(shape, mem + shape->nsize, nface, err);
    shape->outer = outer;
    if (status == DJ_OK && !(outer > 0)) status = findCorners(shape, nface, err);
  }
  if (status != DJ_OK) return status;
  row->radii(&shape->inner, &shape->outer, shape);
  row->round(shape->round, shape);
  dj_invertImplicit(shape->flat, shape->round);
  djImplicitPoint middle;
  row->eval(&middle, shape, dju_vec3(0, 0, 0));
  if (!(middle.phi < 0) || !(shape->inner > 0)) {
    return dj_fail(err, DJ_INVALID, "%s: at %s = %g the origin is not inside", row->name,
                   row->sharp, shape->sharp);
  }
  if (!(shape->inner > THINNEST * shape->outer) || !(shape->inner > SMALLEST)) {
    return dj_fail(err, DJ_INVALID, "%s: radii from %g to %g m are too far apart or too small",
                   row->name, shape->inner, shape->outer);
  }
  return DJ_OK;
}

djStatus dj_makeImplicit(djImplicit* shape, double* mem, const djImplicitRow* row, int nface,
                         const double* size, djError* err) {
  memmove(mem, size, (size_t)dj_implicitSize(row, nface) * sizeof *mem);
  return dj_fillImplicit(shape, mem, row, nface, 0, err);
}

void dj_mapNumbers(double* out, int rows, const double* map, const djImplicit* shape, djVec3 y) {
  if (shape->row->map) {
    shape->row->map(out, rows, map, shape, y);
    return;
  }
  const int n = shape->nsize;
  double by[4][DJ_FEW] = {{0}}, last[DJU_LANES];
  djLanes c[4];
  shape->row->by(by, shape, y);
  for (int j = 0; j < 4; j++) c[j] = dju_loadLanes(by[j]);
  for (int i = 0; i < rows; i++) {
    djLanes v = c[0] * dju_splat(map[4 * i]);
    for (int j = 1; j < 4; j++) v = dju_fmaLanes(c[j], dju_splat(map[4 * i + j]), v);
    if ((rows - i) * n >= DJU_LANES) { // beyond its end the next row will be
      dju_storeLanes(out + i * n, v);
      continue;
    }
    dju_storeLanes(last, v);
    for (int k = 0; k < n; k++) out[i * n + k] = last[k];
  }
}

static void evalHalfSpace(djImplicitPoint* out, const djImplicit* shape, djVec3 z) {
  *out = (djImplicitPoint){.phi = -dju_dot3(z, shape->facing), .g = dju_neg3(shape->facing)};
}

static const djImplicitRow halfSpace = {.name = "half space", .eval = evalHalfSpace};

// Its ellipsoid is a small ball, and steps along it are not bounded.
void dj_implicitHalfSpace(djImplicit* shape, djVec3 d, double scale) {
  const double small = 1e-9 * scale;
  memset(shape, 0, sizeof *shape);
  shape->row = &halfSpace;
  shape->sharp = shape->scale = 1;
  shape->facing = d;
  for (int k = 0; k < 3; k++) shape->round[k] = small * small;
}
