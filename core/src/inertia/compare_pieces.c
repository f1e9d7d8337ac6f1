// How well hulls stand for a solid: volumes of their union, distances between surfaces by samples.

#include "base/status.h"
#include "inertia/hull_union.h"
#include "shape/mesh_closed.h"
#include "shape/pieces.h"

#include <dijoco/overlap.h>

#include <stdlib.h>

#define SAMPLES 40000.0 // on both surfaces together; some times as many in the end

// Triangles in one array of corners (ntri x 9), with numbers 0, 1, 2...
typedef struct Surface {
  int ntri;
  const double* vert;
  const int* tri;
  djMeshTree tree;
} Surface;

static double areaOf(const Surface* s) {
  double area = 0;
  for (int t = 0; t < s->ntri; t++) {
    const int* v = s->tri + 3 * (size_t)t;
    djVec3 a = dju_load3(s->vert + 3 * (size_t)v[0]);
    djVec3 b = dju_sub3(dju_load3(s->vert + 3 * (size_t)v[1]), a);
    djVec3 c = dju_sub3(dju_load3(s->vert + 3 * (size_t)v[2]), a);
    area += dju_norm3(dju_cross3(b, c)) / 2;
  }
  return area;
}

typedef struct Search {
  const Surface* to;
  const djMeshNormals* solid; // of `to`, what is in which does not count; NULL: all does
  double spacing, square;     // of the largest distance yet
  int guess;
} Search;

static void tryPoint(Search* s, djVec3 x) {
  djMeshNear near;
  dj_nearestOnMesh(&near, &s->to->tree, x, s->guess);
  s->guess = near.tri;
  if (s->solid && dj_isInsideMesh(s->solid, s->to->tri, &near)) return;
  s->square = fmax(s->square, near.square);
}

// Halves of a triangle, across its longest edge, until that is no longer than the spacing; their
// middles are the samples.
static void trySamples(Search* s, const djVec3 p[3]) {
  double length[3];
  int k = 0;
  for (int i = 0; i < 3; i++) length[i] = dju_norm3(dju_sub3(p[(i + 1) % 3], p[i]));
  for (int i = 1; i < 3; i++) k = length[i] > length[k] ? i : k;
  if (!(length[k] > s->spacing)) {
    tryPoint(s, dju_scale3(1.0 / 3, dju_add3(p[0], dju_add3(p[1], p[2]))));
    return;
  }
  djVec3 middle = dju_scale3(0.5, dju_add3(p[k], p[(k + 1) % 3])), third = p[(k + 2) % 3];
  const djVec3 one[3] = {p[k], middle, third}, other[3] = {middle, p[(k + 1) % 3], third};
  trySamples(s, one);
  trySamples(s, other);
}

// The largest distance of one surface's corners and samples from another. Samples are of triangles
// whose longest edge is not above the spacing: no point is farther from one than 2/3 of that.
static double farthest(const Surface* from, const Surface* to, const djMeshNormals* solid,
                       double spacing) {
  Search s = {.to = to, .solid = solid, .spacing = spacing};
  for (int t = 0; t < from->ntri; t++) {
    djVec3 p[3];
    for (int k = 0; k < 3; k++) {
      p[k] = dju_load3(from->vert + 3 * (size_t)from->tri[3 * (size_t)t + (size_t)k]);
      tryPoint(&s, p[k]);
    }
    trySamples(&s, p);
  }
  return sqrt(s.square);
}

// Triangles of the hulls' union; vert and tri are new memory.
static djStatus makeUnion(Surface* s, double** vert, int** tri, const djPieces* pieces) {
  djPolygons list = {0};
  djPolytope* part = malloc((size_t)pieces->n * sizeof *part);
  if (!part) return DJ_NO_MEMORY;
  for (int i = 0; i < pieces->n; i++) {
    const djTriangles* h = &pieces->hull[i];
    part[i] = (djPolytope){.vert = h->vert, .nface = h->ntri, .face = h->tri};
  }
  djStatus status = dj_unionSurface(&list, pieces->n, part);
  free(part);
  *vert = malloc(9 * ((size_t)list.n + 1) * sizeof **vert);
  *tri = malloc(3 * ((size_t)list.n + 1) * sizeof **tri);
  if (status == DJ_OK && (!*vert || !*tri || list.n == 0)) status = DJ_NO_MEMORY;
  for (int k = 0; k < 3 * list.n && status == DJ_OK; k++) {
    dju_store3(*vert + 3 * (size_t)k, list.point[k]);
    (*tri)[k] = k;
  }
  *s = (Surface){.ntri = list.n, .vert = *vert, .tri = *tri};
  dj_freePolygons(&list);
  return status == DJ_OK ? dj_makeMeshTree(&s->tree, *vert, s->ntri, *tri) : status;
}

static djStatus compareSurfaces(djPieceReport* report, const djPieces* pieces,
                                const djTriangles* solid) {
  Surface whole = {.ntri = solid->ntri, .vert = solid->vert, .tri = solid->tri}, own = {0};
  djMeshNormals normals = {0};
  double* vert = NULL;
  int* tri = NULL;
  djStatus status = makeUnion(&own, &vert, &tri, pieces);
  if (status == DJ_OK) status = dj_makeMeshTree(&whole.tree, solid->vert, solid->ntri, solid->tri);
  if (status == DJ_OK) {
    status = dj_makeMeshNormals(&normals, solid->nvert, solid->vert, solid->ntri, solid->tri);
  }
  if (status == DJ_OK) {
    double spacing = sqrt((areaOf(&whole) + areaOf(&own)) / SAMPLES);
    // What of the union's surface is inside of the solid, in slits between hulls, is not that of
    // its outside; where the union ends below the solid's surface the other direction tells.
    report->hausdorff =
        fmax(farthest(&whole, &own, NULL, spacing), farthest(&own, &whole, &normals, spacing));
    report->hausdorff_error = 2 * spacing / 3;
  }
  dj_freeMeshNormals(&normals);
  dj_freeMeshTree(&whole.tree);
  dj_freeMeshTree(&own.tree);
  free(vert);
  free(tri);
  return status;
}

djStatus dj_comparePieces(djPieceReport* report, const djPieces* pieces, const djTriangles* solid,
                          djError* err) {
  djHullOverlap overlap;
  if (!report || !pieces || pieces->n < 1) {
    return dj_fail(err, DJ_INVALID, "report or pieces: NULL, or no pieces");
  }
  *report = (djPieceReport){0};
  djStatus status = dj_checkTriangles(solid, err);
  if (status < 0) return status;
  djHullPoints* hull = malloc((size_t)pieces->n * sizeof *hull);
  if (!hull) return dj_failMemory(err);
  for (int i = 0; i < pieces->n; i++) {
    hull[i] = (djHullPoints){pieces->hull[i].nvert, pieces->hull[i].vert};
  }
  status = dj_overlapOfHulls(&overlap, pieces->n, hull, err);
  free(hull);
  if (status < 0) return status;
  report->volume_ratio = overlap.whole / dj_boundedVolume(solid);
  report->overlap = overlap.share;
  status = compareSurfaces(report, pieces, solid);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}
