#include "contact/query/query_shape.h"

#include "base/status.h"
#include "model/check.h"
#include "model/geom_row.h"

#define MAX_VERTICES 10000000

static djStatus checkGeom(const djcShape* s, char name, djError* err) {
  const djGeomRow* row = dj_geomRow((int)s->geom);
  if (s->geom == DJ_HFIELD) {
    return dj_fail(err, DJ_UNSUPPORTED, "%c: hfield geoms are not supported", name);
  }
  if (!row) {
    return dj_fail(err, DJ_INVALID, "%c: unknown geom type %d", name, (int)s->geom);
  }
  if (s->geom == DJ_MESH) return dj_fail(err, DJ_INVALID, "%c: no vertices", name);
  if (!dj_allFinite(s->pos, 3) || !dj_allFinite(s->quat, 4)) {
    return dj_fail(err, DJ_INVALID, "%c: pose is not finite", name);
  }
  if (dj_sizeProblem(s->pos, 3, DJ_LARGEST)) {
    return dj_fail(err, DJ_INVALID, "%c: pose is farther away than 1e20", name);
  }
  if (dj_sizeProblem(s->quat, 4, DJ_LARGEST)) {
    return dj_fail(err, DJ_INVALID, "%c: quaternion is larger than 1e20", name);
  }
  double square = 0;
  for (int k = 0; k < 4; k++) square += s->quat[k] * s->quat[k];
  if (!(square > 1e-30)) return dj_fail(err, DJ_INVALID, "%c: quaternion is zero", name);
  for (int k = 0; k < row->nsize; k++) {
    if (!(s->size[k] > 0) || !isfinite(s->size[k])) {
      return dj_fail(err, DJ_INVALID, "%c: size[%d] = %g is not positive", name, k, s->size[k]);
    }
    if (s->size[k] > DJ_LARGEST || s->size[k] < DJ_SMALLEST) {
      return dj_fail(err, DJ_INVALID, "%c: size[%d] = %g is not between 1e-20 and 1e20", name, k,
                     s->size[k]);
    }
  }
  return DJ_OK;
}

static djStatus checkVertices(const djcShape* s, char name, djError* err) {
  if (s->nvert < 0 || s->nvert > MAX_VERTICES || !s->vert) {
    return dj_fail(err, DJ_INVALID, "%c: %d vertices", name, s->nvert);
  }
  for (int i = 0; i < s->nvert; i++) {
    if (!dj_allFinite(s->vert + 3 * (size_t)i, 3)) {
      return dj_fail(err, DJ_INVALID, "%c: vertex %d is not finite", name, i);
    }
    if (dj_sizeProblem(s->vert + 3 * (size_t)i, 3, DJ_LARGEST)) {
      return dj_fail(err, DJ_INVALID, "%c: vertex %d is farther away than 1e20", name, i);
    }
  }
  if (!(s->radius >= 0) || !isfinite(s->radius)) {
    return dj_fail(err, DJ_INVALID, "%c: radius %g is negative or not finite", name, s->radius);
  }
  if (s->radius > DJ_LARGEST) {
    return dj_fail(err, DJ_INVALID, "%c: radius %g is larger than 1e20", name, s->radius);
  }
  return DJ_OK;
}

static djStatus checkWeights(const djcShape* s, char name, djError* err) {
  int n = dj_queryVertices(s);
  if (s->nweight == 0) return DJ_OK;
  if (s->nweight != n || !s->weight) {
    return dj_fail(err, DJ_INVALID, "%c: %d weights, expected one for each of %d vertices", name,
                   s->nweight, n);
  }
  double sum = 0;
  for (int i = 0; i < n; i++) {
    if (!(s->weight[i] >= 0) || s->weight[i] > DJ_LARGEST) {
      return dj_fail(err, DJ_INVALID, "%c: weight %d = %g is not between 0 and 1e20", name, i,
                     s->weight[i]);
    }
    sum += s->weight[i];
  }
  return sum > 0 ? DJ_OK : dj_fail(err, DJ_INVALID, "%c: all weights are zero", name);
}

djStatus dj_checkQueryShape(const djcShape* s, char name, djError* err) {
  djStatus status = s->nvert == 0 ? checkGeom(s, name, err) : checkVertices(s, name, err);
  if (status == DJ_OK) status = checkWeights(s, name, err);
  if (status < 0) return status;
  if (!dj_allFinite(s->origin, 3)) {
    return dj_fail(err, DJ_INVALID, "%c: origin is not finite", name);
  }
  if (dj_sizeProblem(s->origin, 3, DJ_LARGEST)) {
    return dj_fail(err, DJ_INVALID, "%c: origin is farther away than 1e20", name);
  }
  return DJ_OK;
}

int dj_queryVertices(const djcShape* s) {
  return s->nvert > 0 ? s->nvert : dj_geomRow((int)s->geom)->nvert;
}

void dj_roundQuery(djShape* out, const djcShape* s, djMat3 R) {
  const djGeomRow* row = dj_geomRow((int)s->geom);
  if (s->nvert > 0) {
    out->radius = s->radius;
  } else {
    out->radius = row->round ? s->size[0] : 0;
    dj_curveShape(out, row, s->size, R);
  }
}
