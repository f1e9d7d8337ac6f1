#include "shape/mesh_closed.h"

#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Lower than this part of the mesh's extent, a triangle has no area, of its cube no volume.
#define FLAT 1e-10

static int compareEdges(const void* a, const void* b) {
  const djMeshEdge *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

djMeshEdge* dj_sortEdges(int ntri, const int* tri) {
  djMeshEdge* list = malloc(3 * (size_t)ntri * sizeof *list);
  for (int i = 0; list && i < 3 * ntri; i++) {
    int from = tri[i], to = tri[i - i % 3 + (i + 1) % 3];
    list[i] = (djMeshEdge){from < to ? from : to, from < to ? to : from, i, from < to};
  }
  if (list) qsort(list, 3 * (size_t)ntri, sizeof *list, compareEdges);
  return list;
}

static djVec3 vertexOf(const double* vert, int i) { return dju_load3(vert + 3 * (size_t)i); }

// Twice the area vector.
static djVec3 areaOf(const double* vert, const int* v) {
  djVec3 a = vertexOf(vert, v[0]);
  return dju_cross3(dju_sub3(vertexOf(vert, v[1]), a), dju_sub3(vertexOf(vert, v[2]), a));
}

// How errors call a triangle and a vertex.
static int triangleOf(const djMeshNumbers* own, int t) { return own ? own->triangle[t] : t; }
static int numberOf(const djMeshNumbers* own, int v) { return own ? own->vertex[v] : v; }

djStatus dj_checkVertices(double box[6], int nvert, const double* vert, int ntri, const int* tri,
                          djError* err) {
  if (ntri < 1 || nvert < 1 || !vert || !tri) {
    return dj_fail(err, DJ_INVALID, "the mesh has no triangles");
  }
  if (ntri > INT32_MAX / 64 || nvert > INT32_MAX / 64) {
    return dj_fail(err, DJ_INVALID, "the mesh has too many triangles or vertices");
  }
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < 3 * ntri; i++) {
    int v = tri[i];
    if (v < 0 || v >= nvert) {
      return dj_fail(err, DJ_INVALID, "triangle %d: there is no vertex %d", i / 3, v);
    }
    for (int k = 0; k < 3; k++) {
      double x = vert[3 * (size_t)v + (size_t)k];
      if (!isfinite(x)) return dj_fail(err, DJ_INVALID, "vertex %d is not finite", v);
      low[k] = fmin(low[k], x);
      high[k] = fmax(high[k], x);
    }
  }
  for (int k = 0; k < 3; k++) {
    box[k] = 0.5 * low[k] + 0.5 * high[k];
    box[3 + k] = 0.5 * high[k] - 0.5 * low[k];
    if (!isfinite(box[3 + k])) return dj_fail(err, DJ_INVALID, "the mesh is too large");
  }
  return DJ_OK;
}

static djStatus checkAreas(const double* vert, int ntri, const int* tri, double extent,
                           const djMeshNumbers* own, djError* err) {
  for (int t = 0; t < ntri; t++) {
    const int* v = tri + 3 * (size_t)t;
    double longest = 0;
    for (int k = 0; k < 3; k++) {
      djVec3 edge = dju_sub3(vertexOf(vert, v[(k + 1) % 3]), vertexOf(vert, v[k]));
      longest = fmax(longest, dju_norm3(edge));
    }
    if (!(dju_norm3(areaOf(vert, v)) > FLAT * extent * longest)) {
      return dj_fail(err, DJ_INVALID, "triangle %d (vertices %d, %d, %d) has no area",
                     triangleOf(own, t), numberOf(own, v[0]), numberOf(own, v[1]),
                     numberOf(own, v[2]));
    }
  }
  return DJ_OK;
}

static djStatus checkEdges(int ntri, const int* tri, const djMeshNumbers* own, djError* err) {
  djMeshEdge* list = dj_sortEdges(ntri, tri);
  if (!list) return dj_failMemory(err);
  djStatus status = DJ_OK;
  for (int i = 0, n; i < 3 * ntri && status == DJ_OK; i += n) {
    const djMeshEdge* e = &list[i];
    for (n = 1; i + n < 3 * ntri && e[n].low == e->low && e[n].high == e->high; n++) continue;
    int first = triangleOf(own, e->index / 3);
    int a = numberOf(own, e->low), b = numberOf(own, e->high);
    int low = a < b ? a : b, high = a < b ? b : a;
    if (n == 1) {
      status = dj_fail(err, DJ_INVALID,
                       "the mesh is open: the edge of vertices %d and %d is of triangle %d alone",
                       low, high, first);
    } else if (n > 2) {
      status = dj_fail(err, DJ_INVALID, "the edge of vertices %d and %d is of %d triangles", low,
                       high, n);
    } else if (e[0].forth == e[1].forth) {
      status = dj_fail(err, DJ_INVALID,
                       "triangles %d and %d, with the edge of vertices %d and %d, "
                       "have opposite windings",
                       first, triangleOf(own, e[1].index / 3), low, high);
    }
  }
  free(list);
  return status;
}

djStatus dj_checkMesh(double box[6], int nvert, const double* vert, int ntri, const int* tri,
                      const djMeshNumbers* own, djError* err) {
  djStatus status = dj_checkVertices(box, nvert, vert, ntri, tri, err);
  if (status < 0) return status;
  double extent = 2 * fmax(box[3], fmax(box[4], box[5])), volume = 0;
  status = checkAreas(vert, ntri, tri, extent, own, err);
  if (status == DJ_OK) status = checkEdges(ntri, tri, own, err);
  if (status < 0) return status;
  for (int t = 0; t < ntri; t++) {
    const int* v = tri + 3 * (size_t)t;
    djVec3 a = dju_sub3(vertexOf(vert, v[0]), dju_load3(box));
    volume += dju_dot3(a, areaOf(vert, v)) / 6;
  }
  if (!(fabs(volume) > FLAT * extent * extent * extent)) {
    return dj_fail(err, DJ_INVALID, "the mesh has no volume");
  }
  if (volume < 0) {
    return dj_fail(err, DJ_INVALID, "the triangles face inward: the volume is %g m^3", volume);
  }
  return DJ_OK;
}

djStatus dj_makeMeshNormals(djMeshNormals* n, int nvert, const double* vert, int ntri,
                            const int* tri) {
  djMeshEdge* list = dj_sortEdges(ntri, tri);
  n->face = malloc(3 * (size_t)ntri * sizeof *n->face);
  n->edge = malloc(9 * (size_t)ntri * sizeof *n->edge);
  n->corner = calloc(3 * (size_t)nvert, sizeof *n->corner);
  if (!list || !n->face || !n->edge || !n->corner) {
    free(list);
    dj_freeMeshNormals(n);
    return DJ_NO_MEMORY;
  }
  for (int t = 0; t < ntri; t++) {
    const int* v = tri + 3 * (size_t)t;
    djVec3 area = areaOf(vert, v);
    djVec3 normal = dju_scale3(1 / dju_norm3(area), area);
    dju_store3(n->face + 3 * (size_t)t, normal);
    for (int k = 0; k < 3; k++) {
      djVec3 a = vertexOf(vert, v[k]);
      djVec3 b = dju_sub3(vertexOf(vert, v[(k + 1) % 3]), a);
      djVec3 c = dju_sub3(vertexOf(vert, v[(k + 2) % 3]), a);
      double angle = atan2(dju_norm3(dju_cross3(b, c)), dju_dot3(b, c));
      dju_addTo3(n->corner + 3 * (size_t)v[k], angle, normal);
    }
  }
  for (int i = 0; i < 3 * ntri; i++) { // pairs stand together
    const djMeshEdge *e = &list[i], *other = &list[i ^ 1];
    djVec3 a = dju_load3(n->face + 3 * (size_t)(e->index / 3));
    djVec3 b = dju_load3(n->face + 3 * (size_t)(other->index / 3));
    dju_store3(n->edge + 3 * (size_t)e->index, dju_add3(a, b));
  }
  free(list);
  return DJ_OK;
}

void dj_freeMeshNormals(djMeshNormals* n) {
  free(n->face);
  free(n->edge);
  free(n->corner);
  memset(n, 0, sizeof *n);
}

bool dj_isInsideMesh(const djMeshNormals* n, const int* tri, const djMeshNear* near) {
  size_t t = (size_t)near->tri;
  const double* normal = n->face + 3 * t;
  if (near->part >= DJ_PART_CORNER) {
    normal = n->corner + 3 * (size_t)tri[3 * t + (size_t)(near->part - DJ_PART_CORNER)];
  } else if (near->part >= DJ_PART_EDGE) {
    normal = n->edge + 9 * t + 3 * (size_t)(near->part - DJ_PART_EDGE);
  }
  return dju_dot3(near->away, dju_load3(normal)) < 0;
}
