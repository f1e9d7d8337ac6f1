#include "contact/triangles/long_range_query.h"

#include "base/status.h"
#include "contact/triangles/long_range.h"
#include "contact/triangles/long_range_pair.h"
#include "contact/triangles/long_range_shape.h"
#include "contact/triangles/long_range_vjp.h"
#include "contact/triangles/tessellation.h"
#include "shape/hull.h"
#include "shape/mesh_closed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char nameOf(const djContactQuery* q, int k) { return "ab"[k != q->swapped]; }

// A value that is given for a setting; else `other`.
static double givenOf(const djContactQuery* q, int row, double other) {
  for (int i = 0; i < q->option->nsetting; i++) {
    const char* name = q->option->setting[i].name;
    if (name && strcmp(name, dj_longSettings.row[row].name) == 0) return q->option->setting[i].value;
  }
  return other;
}

// ------------------------------------------ shapes ---------------------------------------------

// Vertices about the origin and triangles of a shape: given ones, of the hull, of a geom.
typedef struct Mesh {
  int nvert, ntri;
  double* vert;
  int* tri;
} Mesh;

static void freeMesh(Mesh* m) {
  free(m->vert);
  free(m->tri);
}

static djStatus allocMesh(Mesh* m, int nvert, int ntri) {
  m->nvert = nvert;
  m->ntri = ntri;
  m->vert = malloc(3 * (size_t)nvert * sizeof *m->vert);
  m->tri = malloc(3 * (size_t)ntri * sizeof *m->tri);
  return m->vert && m->tri ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus verticesOf(Mesh* m, const djcShape* s) {
  djHull hull = {0};
  djStatus status = DJ_OK;
  if (s->ntri == 0) status = dj_makeHull(&hull, s->nvert, s->vert, 0, NULL, NULL);
  if (status == DJ_OK) status = allocMesh(m, s->nvert, s->ntri > 0 ? s->ntri : hull.nface);
  for (int i = 0; i < 3 * s->nvert && status == DJ_OK; i++) {
    m->vert[i] = s->vert[i] - s->origin[i % 3];
  }
  for (int i = 0; i < 3 * m->ntri && status == DJ_OK; i++) {
    m->tri[i] = s->ntri > 0 ? s->tri[i] : hull.id[hull.face[i]];
  }
  dj_freeHull(&hull);
  return status;
}

static djStatus geomOf(Mesh* m, const djcShape* s, int wanted) {
  djTessellation t;
  const djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(s->quat)));
  const djVec3 place = dju_sub3(dju_load3(s->pos), dju_load3(s->origin));
  dj_openTessellation(&t, (int)s->geom, wanted);
  const djStatus status = allocMesh(m, t.nvert, t.ntri);
  if (status < 0) return status;
  for (int i = 0; i < t.nvert; i++) {
    djVec3 f[3], x = {0, 0, 0};
    dj_tessellationVertex(f, &t, i);
    for (int k = 0; k < 3; k++) x = dju_madd3(x, s->size[k], f[k]);
    dju_store3(m->vert + 3 * i, dju_add3(dju_mulMV(R, x), place));
  }
  dj_tessellationTriangles(m->tri, &t);
  return DJ_OK;
}

static djStatus checkMesh(const djContactQuery* q, int k, const Mesh* m, djError* err) {
  const djcShape* s = q->given[k];
  double box[6];
  djError why = {""};
  if (s->nnode > 0 && (s->nnode != 2 * s->ntri - 1 || !s->node)) {
    return dj_fail(err, DJ_INVALID, "%c: a tree of %d triangles has %d nodes", nameOf(q, k),
                   s->ntri, 2 * s->ntri - 1);
  }
  if (s->radius != 0 && s->nvert > 0) {
    return dj_fail(err, DJ_UNSUPPORTED, "%c: long_range has no radius", nameOf(q, k));
  }
  const djStatus status = dj_checkMesh(box, m->nvert, m->vert, m->ntri, m->tri, NULL, &why);
  return status < 0 ? dj_fail(err, status, "%c: %.150s", nameOf(q, k), why.text) : DJ_OK;
}

static djStatus fitShape(djContactQuery* q, int k, const Mesh* m, double* mem, djError* err) {
  djShape* s = &q->shape[k];
  djError why = {""};
  memset(s, 0, sizeof *s);
  s->type = DJ_MESH;
  const bool layered = givenOf(q, DJ_LONG_WEIGHTING, DJ_LONG_MEAN) == DJ_LONG_PAPER;
  const djcShape* given = q->given[k];
  const int* tree = given->nnode > 0 ? given->node : NULL;
  djStatus status =
      dj_fitTriangles(s, mem, m->nvert, m->vert, m->ntri, m->tri, tree, layered, NULL);
  if (status == DJ_INVALID)
    return dj_fail(err, status, "%c: no tree of its triangles", nameOf(q, k));
  if (status < 0) return dj_failMemory(err);
  status = dj_checkCrossing(s, &why);
  return status < 0 ? dj_fail(err, status, "%c: %.150s", nameOf(q, k), why.text) : DJ_OK;
}

djStatus dj_longQueryShapes(djContactQuery* q, djError* err) {
  const int wanted = (int)fmin(givenOf(q, DJ_LONG_TRIANGLES, 0), 1e5);
  Mesh mesh[2] = {{0}, {0}};
  size_t size[2] = {0, 0};
  djStatus status = DJ_OK;
  for (int k = 0; k < 2 && status == DJ_OK; k++) {
    const djcShape* s = q->given[k];
    if (s->nvert == 0 && s->geom == DJ_PLANE) continue;
    status = s->nvert > 0 ? verticesOf(&mesh[k], s) : geomOf(&mesh[k], s, wanted);
    if (status < 0) status = dj_fail(err, status, "%c: its vertices have no volume", nameOf(q, k));
    if (status == DJ_OK) status = checkMesh(q, k, &mesh[k], err);
    if (status == DJ_OK) size[k] = (size_t)dj_trianglesSize(mesh[k].nvert, mesh[k].ntri);
  }
  double* mem = NULL;
  if (status == DJ_OK) {
    q->own = mem = calloc(size[0] + size[1] + 1, sizeof *mem);
    if (!mem) status = dj_failMemory(err);
  }
  for (int k = 0; k < 2 && status == DJ_OK; k++) {
    if (size[k] > 0) status = fitShape(q, k, &mesh[k], k ? mem + size[0] : mem, err);
  }
  freeMesh(&mesh[0]);
  freeMesh(&mesh[1]);
  return status;
}

// ------------------------------------------ answers --------------------------------------------

static djStatus setGap(djContactQuery* q, djError* err) {
  djDistance d;
  const djGeomPair pair = {
      .a = q->in.a, .b = q->in.b, .pose_a = q->in.pose_a, .pose_b = q->in.pose_b};
  const djStatus status = q->kernel->gap(&d, NULL, &pair);
  q->result->gap = d.gap;
  return status < 0 ? dj_fail(err, status, "a and b: too large or too small to compute with")
                    : DJ_OK;
}

// By the vertices that were given, which are the shape's in their order; frames have world axes.
static djStatus setVertices(djContactQuery* q, djError* err) {
  double* by = calloc(3 * (size_t)(q->shape[0].npad + q->shape[1].npad) + 1, sizeof *by);
  djShapeGrad shape[2] = {{.radius = 0}, {.radius = 0}};
  djPairGrad grad = {.a = &shape[0], .b = &shape[1]};
  if (!by) return dj_failMemory(err);
  double* at = by;
  for (int k = 0; k < 2; k++) {
    for (int c = 0; c < 3; c++, at += q->shape[k].npad) shape[k].vert[c] = at;
  }
  const djStatus status = dj_longGradient(&grad, &q->in);
  for (int k = 0; k < 2 && status >= 0; k++) {
    for (int i = 0; q->gradient[k] && i < q->shape[k].nvert; i++) {
      for (int c = 0; c < 3; c++) q->gradient[k][3 * i + c] = shape[k].vert[c][i];
    }
  }
  free(by);
  return status < 0 ? dj_fail(err, status, "the pair could not be evaluated") : status;
}

djStatus dj_longQuery(djContactQuery* q, djError* err) {
  djcResult* r = q->result;
  djPairOutput out = {.twist_jac = NULL};
  djLongPair pair;
  djMeanDistance d;
  double gap;
  if (q->option->friction.enabled) {
    return dj_fail(err, DJ_UNSUPPORTED, "queries of long_range have no friction");
  }
  if (q->hessian) {
    return dj_fail(err, DJ_UNSUPPORTED, "long_range has no Hessian by vertices");
  }
  q->setting[DJ_LONG_STIFFNESS] = givenOf(q, DJ_LONG_STIFFNESS, 1);
  djStatus status = setGap(q, err);
  if (status < 0) return status;
  status = dj_openLongPair(&pair, NULL, &q->in, 0);
  if (status >= 0) status = dj_longDistance(&d, &gap, &pair);
  if (!pair.plane) {
    r->visited = pair.mean.visited < INT_MAX ? (int)pair.mean.visited : INT_MAX;
    r->exact = pair.mean.exact < INT_MAX ? (int)pair.mean.exact : INT_MAX;
  }
  if (status == DJ_OVERLAP) {
    r->value = INFINITY;
    return DJ_OK;
  }
  if (status >= 0) status = q->kernel->eval(&out, q->state, &q->in, DJ_EVAL_HESSIAN);
  if (status < 0) return dj_fail(err, status, "the pair could not be evaluated");
  r->value = out.value;
  memcpy(r->twist_gradient, out.gradient, sizeof out.gradient);
  memcpy(r->twist_hessian, out.hessian, sizeof out.hessian);
  if (q->swapped) {
    dj_swapHalves(r->twist_gradient);
    dj_swapHessian(r->twist_hessian);
  }
  if (!q->gradient[0] && !q->gradient[1]) return status;
  const djStatus moved = setVertices(q, err);
  return moved < 0 ? moved : status;
}
