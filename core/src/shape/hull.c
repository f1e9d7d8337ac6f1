// Hulls by qhull (reentrant). qhull prints to a FILE and leaves its own functions by longjmp, both
// of which stay inside qh_new_qhull here: it gets a memory stream, and afterwards only its lists
// are read. Points are moved and scaled to unit size first, so that its tolerances fit any unit.

#include "shape/hull.h"

#include "base/status.h"

#include <libqhull_r/libqhull_r.h>

#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Thinner than this fraction of their size, points count as flat.
#define FLAT 1e-7
// Given triangles may leave points outside by this fraction of the size (hulls of float data).
#define CONVEX 1e-5
// Facets of moved points stay while no other point rises above one by this fraction of the size.
#define KEPT 1e-6
// Normals nearer than this (1 - cosine) are one facet's.
#define SAME_NORMAL 1e-15
// Triangles that meet at an edge with normals nearer than this (1 - cosine) are one facet.
#define SAME_FACET 5e-11
// Triangles lower than this fraction of their longest edge do not know their normal.
#define SLIVER 1e-4

static djStatus fail(djError* err, djStatus status, const char* text) {
  if (err) snprintf(err->text, sizeof err->text, "%s", text);
  return status;
}

// Centre and largest half extent of the box of n points. False when not finite.
static bool boxOf(double center[3], double* half, int n, const double* vert) {
  *half = 0;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
      double x = vert[3 * i + k];
      if (!isfinite(x)) return false;
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    center[k] = low / 2 + high / 2;
    *half = fmax(*half, high / 2 - low / 2);
  }
  return isfinite(*half);
}

// Four points that span a volume: extremes of x, then farthest from the line, from the plane.
static bool isFlat(int n, const double* unit) {
  djVec3 a = dju_load3(unit), b = a, c = a;
  double best = 0;
  for (int i = 0; i < n; i++) {
    djVec3 p = dju_load3(unit + 3 * i);
    double d = dju_norm3(dju_sub3(p, a));
    if (d > best) best = d, b = p;
  }
  if (!(best > FLAT)) return true;
  djVec3 e = dju_scale3(1 / best, dju_sub3(b, a));
  best = 0;
  for (int i = 0; i < n; i++) {
    djVec3 p = dju_load3(unit + 3 * i);
    double d = dju_norm3(dju_cross3(e, dju_sub3(p, a)));
    if (d > best) best = d, c = p;
  }
  if (!(best > FLAT)) return true;
  djVec3 normal = dju_cross3(e, dju_sub3(c, a));
  normal = dju_scale3(1 / dju_norm3(normal), normal);
  best = 0;
  for (int i = 0; i < n; i++) {
    best = fmax(best, fabs(dju_dot3(normal, dju_sub3(dju_load3(unit + 3 * i), a))));
  }
  return !(best > FLAT);
}

typedef struct Triangles {
  int n;
  int* face;              // (n x 3) input ids, outward
  double* normal;         // (n x 3) qhull's; NULL: from the triangle
} Triangles;

typedef struct Facet {
  int id[3];              // the least first
  double normal[3];
} Facet;

static int compareFacets(const void* a, const void* b) {
  const Facet *x = a, *y = b;
  int k = 0;
  while (k < 2 && x->id[k] == y->id[k]) k++;
  return (x->id[k] > y->id[k]) - (x->id[k] < y->id[k]);
}

// A triangle of qhull's, outward. False where it is none.
static bool readFacet(Facet* out, qhT* qh, const facetT* facet, int nvert) {
  vertexT *vertex, **vertexp;
  int id[3], k = 0;
  FOREACHvertex_(facet->vertices) {
    ptrdiff_t i = (vertex->point - qh->first_point) / 3;
    if (k == 3 || i < 0 || i >= nvert) return false;
    id[k++] = (int)i;
  }
  if (k != 3 || !facet->normal) return false;
  djVec3 a = dju_load3(qh->first_point + 3 * id[0]);
  djVec3 ab = dju_sub3(dju_load3(qh->first_point + 3 * id[1]), a);
  djVec3 ac = dju_sub3(dju_load3(qh->first_point + 3 * id[2]), a);
  djVec3 normal = dju_load3(facet->normal);
  bool swap = dju_dot3(dju_cross3(ab, ac), normal) < 0;
  int turn[3] = {id[0], id[swap ? 2 : 1], id[swap ? 1 : 2]}, least = 0;
  for (k = 1; k < 3; k++) {
    if (turn[k] < turn[least]) least = k;
  }
  for (k = 0; k < 3; k++) out->id[k] = turn[(least + k) % 3];
  dju_store3(out->normal, normal);
  return true;
}

// Sorted, so that the same facets always give the same numbers. The two lists share one block.
static djStatus readFacets(Triangles* out, qhT* qh, int nvert) {
  facetT* facet;
  size_t n = 0;
  FORALLfacets { n++; }
  double* block = malloc((n + 1) * 3 * (sizeof(double) + sizeof(int)));
  Facet* list = malloc((n + 1) * sizeof *list);
  out->normal = block;
  out->n = 0;
  djStatus status = block && list ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) {
    out->face = (int*)(block + 3 * (n + 1));
    FORALLfacets {
      if (status == DJ_OK && !readFacet(&list[out->n++], qh, facet, nvert)) status = DJ_INVALID;
    }
    if (status == DJ_OK) qsort(list, (size_t)out->n, sizeof *list, compareFacets);
    for (int f = 0; f < out->n && status == DJ_OK; f++) {
      memcpy(out->face + 3 * f, list[f].id, sizeof list[f].id);
      memcpy(out->normal + 3 * f, list[f].normal, sizeof list[f].normal);
    }
  }
  free(list);
  return status;
}

// unit: (nvert x 3), scaled points. Qt: merged facets are triangulated and keep one normal. Pp,
// Q12: nearly flat facets are no errors. QJ, the second try, moves points by rounding errors.
static djStatus runQhull(Triangles* out, int nvert, double* unit) {
  djStatus status = DJ_INVALID;
  for (int attempt = 0; attempt < 2 && status == DJ_INVALID; attempt++) {
    char command[32], text[4096];
    snprintf(command, sizeof command, "%s", attempt ? "qhull QJ Pp" : "qhull Qt Pp Q12");
    FILE* stream = fmemopen(text, sizeof text, "w");
    if (!stream) return DJ_NO_MEMORY;
    qhT* qh = calloc(1, sizeof *qh);
    if (!qh) {
      fclose(stream);
      return DJ_NO_MEMORY;
    }
    qh_zero(qh, stream);
    int code = qh_new_qhull(qh, 3, nvert, unit, False, command, stream, stream);
    out->face = NULL;
    out->normal = NULL;
    status = code == 0 ? readFacets(out, qh, nvert) : code == qh_ERRmem ? DJ_NO_MEMORY : DJ_INVALID;
    if (status != DJ_OK) {
      free(out->normal);
      out->normal = NULL;
      out->face = NULL;  // part of the same memory
    }
    int current, total;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &current, &total);
    free(qh);
    fclose(stream);
  }
  return status;
}

// One block for all arrays, doubles first.
static size_t hullSize(int nvert, int nface) {
  size_t doubles = 6 * (size_t)nvert + 4 * (size_t)nface;
  size_t ints = 2 * (size_t)nvert + 1 + 7 * (size_t)nface;
  return doubles * sizeof(double) + ints * sizeof(int);
}

static djStatus allocHull(djHull* hull, int nvert, int nface) {
  size_t doubles = 6 * (size_t)nvert + 4 * (size_t)nface;
  hull->buffer = calloc(1, hullSize(nvert, nface));
  if (!hull->buffer) return DJ_NO_MEMORY;
  double* d = hull->buffer;
  hull->vert = d;
  hull->move = d + 3 * (size_t)nvert;
  hull->plane = d + 6 * (size_t)nvert;
  int* i = (int*)(d + doubles);
  hull->id = i;
  hull->face = i + nvert;
  hull->adjadr = hull->face + 3 * (size_t)nface;
  hull->adj = hull->adjadr + nvert + 1;
  hull->group = hull->adj + 3 * (size_t)nface;
  hull->nvert = nvert;
  hull->nface = nface;
  return DJ_OK;
}

static djVec3 vertexOf(const djHull* hull, int i) { return dju_load3(hull->vert + 3 * i); }

// Twice the area vector of a triangle, by its two shorter edges.
static djVec3 areaVector(const djHull* hull, int f, double* longest) {
  const int* v = hull->face + 3 * f;
  djVec3 a = vertexOf(hull, v[0]), b = vertexOf(hull, v[1]), c = vertexOf(hull, v[2]);
  djVec3 ab = dju_sub3(b, a), bc = dju_sub3(c, b), ca = dju_sub3(a, c);
  double lab = dju_dot3(ab, ab), lbc = dju_dot3(bc, bc), lca = dju_dot3(ca, ca);
  *longest = lbc > lca ? lbc : lca;
  *longest = lab > *longest ? lab : *longest;
  return *longest == lab   ? dju_cross3(bc, ca)
         : *longest == lbc ? dju_cross3(ca, ab)
                           : dju_cross3(ab, bc);
}

// ---- flat facets of several triangles ---------------------------------------------------------

static int rootOf(const int* group, int f) {
  while (group[f] != f) f = group[f];
  return f;
}

static void unite(int* group, int f, int g) {
  f = rootOf(group, f);
  g = rootOf(group, g);
  if (f < g) group[g] = f;
  if (g < f) group[f] = g;
}

// The triangle with the directed edge from -> to; edge_face follows hull->adj.
static int faceAt(const djHull* hull, const int* edge_face, int from, int to) {
  for (int k = hull->adjadr[from]; k < hull->adjadr[from + 1]; k++) {
    if (hull->adj[k] == to) return edge_face[k];
  }
  return -1;
}

// Triangles belong to one facet where they meet at an edge and their normals (qhull's, which know
// merged facets, or their own) agree. Slivers, lower than SLIVER of their longest edge, do not know
// their normal and join what lies across that edge.
static djStatus groupFacets(djHull* hull, const double* normal) {
  int n = hull->nface;
  int* edge_face = malloc(3 * (size_t)n * sizeof *edge_face);
  double* unit = malloc(3 * (size_t)n * sizeof *unit);
  djStatus status = edge_face && unit ? DJ_OK : DJ_NO_MEMORY;
  for (int k = 0; k < 3 * n && status == DJ_OK; k++) {
    int from = hull->face[k], to = hull->face[k - k % 3 + (k + 1) % 3], at = hull->adjadr[from];
    while (hull->adj[at] != to) at++;
    edge_face[at] = k / 3;
  }
  for (int f = 0; f < n && status == DJ_OK; f++) {
    double longest;
    djVec3 c = areaVector(hull, f, &longest), u = {0, 0, 0};
    if (dju_norm3(c) > SLIVER * longest) u = dju_scale3(1 / dju_norm3(c), c);
    if (normal) u = dju_load3(normal + 3 * f);
    dju_store3(unit + 3 * f, u);
    hull->group[f] = f;
  }
  for (int k = 0; k < 3 * n && status == DJ_OK; k++) {
    int f = k / 3, from = hull->face[k], to = hull->face[k - k % 3 + (k + 1) % 3];
    int g = faceAt(hull, edge_face, to, from);
    djVec3 uf = dju_load3(unit + 3 * f), ug = dju_load3(unit + 3 * g);
    double longest, edge = dju_norm3(dju_sub3(vertexOf(hull, from), vertexOf(hull, to)));
    areaVector(hull, f, &longest);
    bool sliver = dju_dot3(uf, uf) < 0.5 && edge * edge >= longest;
    if (sliver || dju_dot3(uf, ug) > 1 - SAME_FACET) unite(hull->group, f, g);
  }
  for (int f = 0; f < n && status == DJ_OK; f++) hull->group[f] = rootOf(hull->group, f);
  free(edge_face);
  free(unit);
  return status;
}

// Planes of facets in the input frame: normal along the sum of the triangles' area vectors, offset
// that of the farthest vertex.
static void makePlanes(djHull* hull) {
  for (int f = 0; f < hull->nface; f++) {
    double longest, *sum = hull->plane + 4 * hull->group[f];
    if (hull->group[f] == f) memset(sum, 0, 3 * sizeof *sum);
    dju_addTo3(sum, 1, areaVector(hull, f, &longest));
  }
  for (int f = 0; f < hull->nface; f++) {
    double* p = hull->plane + 4 * f;
    double length = dju_norm3(dju_load3(p));
    if (hull->group[f] != f) continue;
    dju_store3(p, dju_scale3(length > 0 ? 1 / length : 0, dju_load3(p)));
    p[3] = -INFINITY;
  }
  for (int k = 0; k < 3 * hull->nface; k++) {
    double* p = hull->plane + 4 * hull->group[k / 3];
    double height = dju_dot3(dju_load3(p), vertexOf(hull, hull->face[k]));
    p[3] = height > p[3] ? height : p[3];
  }
  for (int f = 0; f < hull->nface; f++) {
    memcpy(hull->plane + 4 * f, hull->plane + 4 * hull->group[f], 4 * sizeof(double));
  }
}

// Volume's centre: tetrahedra from a point inside, to keep differences small.
static bool makeCenter(djHull* hull) {
  double volume = 0;
  djVec3 moment = {0, 0, 0}, inside = {0, 0, 0};
  for (int i = 0; i < hull->nvert; i++) {
    inside = dju_madd3(inside, 1.0 / hull->nvert, dju_load3(hull->vert + 3 * i));
  }
  for (int f = 0; f < hull->nface; f++) {
    const int* v = hull->face + 3 * f;
    djVec3 a = dju_sub3(dju_load3(hull->vert + 3 * v[0]), inside);
    djVec3 b = dju_sub3(dju_load3(hull->vert + 3 * v[1]), inside);
    djVec3 c = dju_sub3(dju_load3(hull->vert + 3 * v[2]), inside);
    double six = dju_dot3(a, dju_cross3(b, c));
    volume += six;
    moment = dju_madd3(moment, six / 4, dju_add3(a, dju_add3(b, c)));
  }
  if (!(volume > 0)) return false;
  hull->center = dju_madd3(inside, 1 / volume, moment);
  hull->inner = INFINITY;
  hull->bound = 0;
  for (int f = 0; f < hull->nface; f++) {
    const double* p = hull->plane + 4 * f;
    double depth = p[3] - dju_dot3(dju_load3(p), hull->center);
    if (p[0] == 0 && p[1] == 0 && p[2] == 0) continue;   // no area
    hull->inner = depth < hull->inner ? depth : hull->inner;
  }
  for (int i = 0; i < hull->nvert; i++) {
    double r = dju_norm3(dju_sub3(dju_load3(hull->vert + 3 * i), hull->center));
    hull->bound = r > hull->bound ? r : hull->bound;
  }
  hull->width = dj_hullWidth(hull);
  return true;
}

static int compareInt(const void* a, const void* b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

// Neighbours, from the triangles' edges: each directed edge once.
static void makeAdjacency(djHull* hull) {
  int* count = hull->adjadr;
  for (int k = 0; k < 3 * hull->nface; k++) count[hull->face[k] + 1]++;
  for (int i = 0; i < hull->nvert; i++) count[i + 1] += count[i];
  for (int k = 0; k < 3 * hull->nface; k++) hull->adj[k] = -1;
  for (int f = 0; f < hull->nface; f++) {
    for (int k = 0; k < 3; k++) {
      int from = hull->face[3 * f + k], at = hull->adjadr[from];
      while (hull->adj[at] >= 0) at++;
      hull->adj[at] = hull->face[3 * f + (k + 1) % 3];
    }
  }
  for (int i = 0; i < hull->nvert; i++) {
    qsort(hull->adj + hull->adjadr[i], (size_t)(hull->adjadr[i + 1] - hull->adjadr[i]),
          sizeof(int), compareInt);
  }
}

// Every edge must be met once in each direction.
static bool isClosed(const djHull* hull) {
  for (int f = 0; f < hull->nface; f++) {
    for (int k = 0; k < 3; k++) {
      int from = hull->face[3 * f + k], to = hull->face[3 * f + (k + 1) % 3];
      int forth = 0, back = 0;
      for (int j = hull->adjadr[from]; j < hull->adjadr[from + 1]; j++) forth += hull->adj[j] == to;
      for (int j = hull->adjadr[to]; j < hull->adjadr[to + 1]; j++) back += hull->adj[j] == from;
      if (forth != 1 || back != 1) return false;
    }
  }
  return true;
}

// Distinct normals about each vertex, and from them the erosion vectors.
static djStatus makeMoves(djHull* hull) {
  int* adr = calloc((size_t)hull->nvert + 1, sizeof *adr);
  int* at = malloc((size_t)hull->nvert * sizeof *at);
  double* normal = malloc(9 * (size_t)hull->nface * sizeof *normal);
  djStatus status = adr && at && normal ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) {
    for (int k = 0; k < 3 * hull->nface; k++) adr[hull->face[k] + 1]++;
    for (int i = 0; i < hull->nvert; i++) {
      adr[i + 1] += adr[i];
      at[i] = adr[i];
    }
    for (int k = 0; k < 3 * hull->nface; k++) {
      int i = hull->face[k];
      djVec3 n = dju_load3(hull->plane + 4 * (k / 3));
      bool seen = dju_dot3(n, n) < 0.5;
      for (int j = adr[i]; j < at[i] && !seen; j++) {
        seen = dju_dot3(n, dju_load3(normal + 3 * j)) > 1 - SAME_NORMAL;
      }
      if (!seen) dju_store3(normal + 3 * at[i]++, n);
    }
    for (int i = 0; i < hull->nvert && status == DJ_OK; i++) {
      if (!dj_erosionVector(hull->move + 3 * i, at[i] - adr[i], normal + 3 * adr[i])) {
        status = DJ_INVALID;
      }
    }
  }
  free(adr);
  free(at);
  free(normal);
  return status;
}

// Vertices, renumbered in ascending order of their ids, and triangles.
static djStatus fillHull(djHull* hull, const Triangles* t, int nvert, const double* vert) {
  int* number = malloc((size_t)nvert * sizeof *number);
  if (!number) return DJ_NO_MEMORY;
  for (int i = 0; i < nvert; i++) number[i] = -1;
  for (int k = 0; k < 3 * t->n; k++) number[t->face[k]] = 0;
  int used = 0;
  for (int i = 0; i < nvert; i++) {
    if (number[i] == 0) number[i] = used++;
  }
  djStatus status = allocHull(hull, used, t->n);
  if (status == DJ_OK) {
    for (int i = 0; i < nvert; i++) {
      if (number[i] < 0) continue;
      hull->id[number[i]] = i;
      memcpy(hull->vert + 3 * number[i], vert + 3 * i, 3 * sizeof(double));
    }
    for (int k = 0; k < 3 * t->n; k++) hull->face[k] = number[t->face[k]];
  }
  free(number);
  return status;
}

// No vertex lies above a facet by more than the tolerance. This takes most of the time of large
// hulls, so that it stands for all of it.
static djStatus checkConvex(const djHull* hull, double tolerance, const djWatch* watch,
                            djError* err) {
  djStatus status = DJ_OK;
  for (int f = 0; f < hull->nface && status == DJ_OK; f++) {
    const double* p = hull->plane + 4 * f;
    if (f % 64 == 0) status = dj_tell(watch, (double)f / hull->nface, err);
    if (hull->group[f] != f) continue;
    for (int i = 0; i < hull->nvert; i++) {
      if (dju_dot3(dju_load3(p), vertexOf(hull, i)) - p[3] > tolerance) {
        return fail(err, DJ_INVALID, "triangles are not convex");
      }
    }
  }
  return status;
}

// No point that is not a vertex lies above a triangle by more than the tolerance.
static bool holdsPoints(const djHull* hull, int nvert, const double* vert, double tolerance) {
  if (nvert == hull->nvert) return true;
  for (int f = 0; f < hull->nface; f++) {
    double longest;
    djVec3 c = areaVector(hull, f, &longest), a = vertexOf(hull, hull->face[3 * f]);
    double least = tolerance * dju_norm3(c);
    for (int i = 0, k = 0; i < nvert; i++) {
      if (k < hull->nvert && hull->id[k] == i) k++;
      else if (dju_dot3(c, dju_sub3(dju_load3(vert + 3 * i), a)) > least) return false;
    }
  }
  return true;
}

static djStatus finishHull(djHull* hull, const Triangles* t, int nvert, const double* vert,
                           double size, const djWatch* watch, djError* err) {
  djStatus status = fillHull(hull, t, nvert, vert);
  if (status != DJ_OK) return fail(err, status, "out of memory");
  makeAdjacency(hull);
  if (!isClosed(hull)) return fail(err, DJ_INVALID, "triangles do not close a surface");
  status = groupFacets(hull, t->normal);
  if (status != DJ_OK) return fail(err, status, "out of memory");
  makePlanes(hull);
  if (!makeCenter(hull)) return fail(err, DJ_INVALID, "triangles are not outward");
  status = checkConvex(hull, CONVEX * size, watch, err);
  if (status != DJ_OK) return status;
  if (!(hull->inner > FLAT * hull->bound)) return fail(err, DJ_INVALID, "the hull is flat");
  status = makeMoves(hull);
  if (status == DJ_NO_MEMORY) return fail(err, status, "out of memory");
  return status ? fail(err, status, "a vertex of the hull is too sharp") : DJ_OK;
}

djStatus dj_makeHullWatched(djHull* hull, int nvert, const double* vert, int nface,
                            const int* face, const djWatch* watch, djError* err) {
  if (!hull) return fail(err, DJ_INVALID, "no hull given");
  memset(hull, 0, sizeof *hull);
  if (!vert || nvert < 4) return fail(err, DJ_INVALID, "a hull needs at least 4 points");
  if (nvert > INT32_MAX / 64 || nface < 0 || nface > INT32_MAX / 64 || (nface > 0 && !face)) {
    return fail(err, DJ_INVALID, "wrong number of points or triangles");
  }
  double middle[3], half;
  if (!boxOf(middle, &half, nvert, vert)) return fail(err, DJ_INVALID, "points are not finite");
  if (!(half > 1e-100)) return fail(err, DJ_INVALID, "all points coincide");
  for (int k = 0; k < 3 * nface; k++) {
    if (face[k] < 0 || face[k] >= nvert) {
      return fail(err, DJ_INVALID, "a triangle's vertex does not exist");
    }
  }
  double* unit = malloc(3 * (size_t)nvert * sizeof *unit);
  if (!unit) return fail(err, DJ_NO_MEMORY, "out of memory");
  for (int i = 0; i < 3 * nvert; i++) unit[i] = (vert[i] - middle[i % 3]) / half;

  djStatus status = DJ_OK;
  Triangles t = {0};
  if (isFlat(nvert, unit)) {
    status = fail(err, DJ_INVALID, "the points are flat");
  } else if (nface > 0) {
    t.n = nface;
    t.face = malloc(3 * (size_t)nface * sizeof *t.face);
    if (t.face) memcpy(t.face, face, 3 * (size_t)nface * sizeof *t.face);
    if (!t.face) status = fail(err, DJ_NO_MEMORY, "out of memory");
  } else {
    status = runQhull(&t, nvert, unit);
    if (status != DJ_OK) fail(err, status, "qhull finds no hull of the points");
  }
  if (status == DJ_OK) status = finishHull(hull, &t, nvert, vert, half, watch, err);
  if (status != DJ_OK) dj_freeHull(hull);
  if (t.normal) {
    free(t.normal);
  } else {
    free(t.face);
  }
  free(unit);
  return status;
}

djStatus dj_makeHull(djHull* hull, int nvert, const double* vert, int nface, const int* face,
                     djError* err) {
  return dj_makeHullWatched(hull, nvert, vert, nface, face, NULL, err);
}

size_t dj_hullBytes(const djHull* hull) {
  return hull->buffer ? hullSize(hull->nvert, hull->nface) : 0;
}

djStatus dj_copyHull(djHull* copy, const djHull* hull) {
  memset(copy, 0, sizeof *copy);
  if (!hull->buffer) return DJ_OK;
  djStatus status = allocHull(copy, hull->nvert, hull->nface);
  if (status < 0) return status;
  memcpy(copy->buffer, hull->buffer, hullSize(hull->nvert, hull->nface));
  copy->center = hull->center;
  copy->inner = hull->inner;
  copy->bound = hull->bound;
  copy->width = hull->width;
  return DJ_OK;
}

djStatus dj_moveHull(djHull* hull, const djHull* old, int nvert, const double* vert) {
  double center[3], half;
  memset(hull, 0, sizeof *hull);
  if (!old->buffer || nvert <= old->id[old->nvert - 1]) return DJ_INVALID;
  if (!boxOf(center, &half, nvert, vert)) return DJ_INVALID;
  djStatus status = dj_copyHull(hull, old);
  if (status < 0) return status;
  for (int i = 0; i < hull->nvert; i++) {
    memcpy(hull->vert + 3 * i, vert + 3 * hull->id[i], 3 * sizeof(double));
  }
  makePlanes(hull);
  bool good = makeCenter(hull) && checkConvex(hull, CONVEX * half, NULL, NULL) == DJ_OK &&
              holdsPoints(hull, nvert, vert, KEPT * half) && hull->inner > FLAT * hull->bound;
  status = good ? makeMoves(hull) : DJ_INVALID;
  if (status < 0) dj_freeHull(hull);
  return status;
}

void dj_freeHull(djHull* hull) {
  if (!hull) return;
  free(hull->buffer);
  memset(hull, 0, sizeof *hull);
}
