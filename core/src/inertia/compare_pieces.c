// How well hulls stand for a solid, or for the union of several: volumes of their union, distances
// between surfaces by samples. Outside of all of several solids the nearest point of their union is
// the nearest one of any of them; of their surfaces those parts are the union's that are not inside
// of another one. Faces that touch are: points next to them, outside of their own solid, tell.

#include "base/status.h"
#include "inertia/hull_union.h"
#include "shape/shells.h"

#include <dijoco/overlap.h>

#include <stdlib.h>

#define SAMPLES 40000.0 // on both surfaces together; some times as many in the end
#define NEXT 1e-6       // so far from a face, over the solids' extent, is next to it
#define CONVEX 1e-9     // what of its hull's volume a convex shell may leave empty

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

// ---- the solid --------------------------------------------------------------------------------

// What a closed surface bounds.
typedef struct Body {
  Surface surface;
  djMeshNormals normals;
  double low[3], high[3];
  int guess; // the last triangle that was nearest
} Body;

// What bodies fill together.
typedef struct Solid {
  int n;
  Body* body;
  double extent;
} Solid;

static djStatus addBody(Solid* solid, const djTriangles* mesh) {
  Body* b = &solid->body[solid->n++];
  *b = (Body){.surface = {.ntri = mesh->ntri, .vert = mesh->vert, .tri = mesh->tri}};
  dj_boxOfPoints(b->low, b->high, mesh->nvert, mesh->vert);
  for (int k = 0; k < 3; k++) solid->extent = fmax(solid->extent, b->high[k] - b->low[k]);
  djStatus status = dj_makeMeshTree(&b->surface.tree, mesh->vert, mesh->ntri, mesh->tri);
  if (status < 0) return status;
  return dj_makeMeshNormals(&b->normals, mesh->nvert, mesh->vert, mesh->ntri, mesh->tri);
}

static void freeBodies(Solid* solid) {
  for (int i = 0; i < solid->n; i++) {
    dj_freeMeshNormals(&solid->body[i].normals);
    dj_freeMeshTree(&solid->body[i].surface.tree);
  }
  solid->n = 0;
}

// From a body's box, squared.
static double boxSquare(const Body* b, djVec3 x) {
  double square = 0, at[3];
  dju_store3(at, x);
  for (int k = 0; k < 3; k++) {
    double away = fmax(fmax(b->low[k] - at[k], at[k] - b->high[k]), 0);
    square += away * away;
  }
  return square;
}

// The distance of a point from a body's surface, negative inside.
static double bodyDistance(Body* b, djVec3 x) {
  djMeshNear near;
  dj_nearestOnMesh(&near, &b->surface.tree, x, b->guess);
  b->guess = near.tri;
  double distance = sqrt(near.square);
  return dj_isInsideMesh(&b->normals, b->surface.tri, &near) ? -distance : distance;
}

// That from the solid's surface where the point is outside; inside no more than that.
static double solidDistance(const Solid* solid, djVec3 x) {
  double least = INFINITY;
  for (int i = 0; i < solid->n && least >= 0; i++) {
    if (boxSquare(&solid->body[i], x) >= least * least) continue;
    least = fmin(least, bodyDistance(&solid->body[i], x));
  }
  return least;
}

// Inside of another body, or nearer to it than that.
static bool isInOther(const Solid* solid, int own, djVec3 x, double near) {
  for (int i = 0; i < solid->n; i++) {
    if (i == own || boxSquare(&solid->body[i], x) > near * near) continue;
    if (bodyDistance(&solid->body[i], x) < near) return true;
  }
  return false;
}

// ---- distances --------------------------------------------------------------------------------

typedef struct Search {
  const Surface* to; // whose distance is asked for; NULL: the solid's
  const Solid* solid;
  int body;             // that the points are of; what is in others does not count
  double next;          // how far what is next to a triangle is from it
  djVec3 out;           // so far, outside of it
  double spacing, most; // the largest distance yet
  int guess;
} Search;

// The distance of a point; what is inside of the solid does not count.
static double tryPoint(Search* s, djVec3 x) {
  if (!s->to) {
    double distance = solidDistance(s->solid, x);
    s->most = fmax(s->most, distance);
    return distance;
  }
  djMeshNear near;
  dj_nearestOnMesh(&near, &s->to->tree, x, s->guess);
  s->guess = near.tri;
  double distance = sqrt(near.square);
  bool most = distance > s->most;
  // Where two others meet in a plane through that point it is inside of neither.
  if (most && !isInOther(s->solid, s->body, dju_add3(x, s->out), s->next / 2)) s->most = distance;
  return distance;
}

// The middle of a triangle, then its halves across the longest edge, until that is no longer than
// the spacing, or none of its points, not farther from the middle than 2/3 of it, can be farther
// from the other surface than one that was found.
static void trySamples(Search* s, const djVec3 p[3]) {
  double length[3];
  int k = 0;
  for (int i = 0; i < 3; i++) length[i] = dju_norm3(dju_sub3(p[(i + 1) % 3], p[i]));
  for (int i = 1; i < 3; i++) k = length[i] > length[k] ? i : k;
  djVec3 middle = dju_scale3(1.0 / 3, dju_add3(p[0], dju_add3(p[1], p[2])));
  double bound = tryPoint(s, middle) + 2 * length[k] / 3;
  if (!(length[k] > s->spacing) || bound <= s->most) return;
  djVec3 half = dju_scale3(0.5, dju_add3(p[k], p[(k + 1) % 3])), third = p[(k + 2) % 3];
  const djVec3 one[3] = {p[k], half, third}, other[3] = {half, p[(k + 1) % 3], third};
  trySamples(s, one);
  trySamples(s, other);
}

// The largest distance of one surface's corners and samples: too small by 2/3 of the spacing at
// most.
static void searchSurface(Search* s, const Surface* from) {
  for (int corners = 1; corners >= 0; corners--) {
    for (int t = 0; t < from->ntri; t++) {
      djVec3 p[3];
      for (int k = 0; k < 3; k++) {
        p[k] = dju_load3(from->vert + 3 * (size_t)from->tri[3 * (size_t)t + (size_t)k]);
      }
      djVec3 area = dju_cross3(dju_sub3(p[1], p[0]), dju_sub3(p[2], p[0]));
      s->out = dju_scale3(s->next / fmax(dju_norm3(area), 1e-300), area);
      for (int k = 0; k < 3 && corners; k++) tryPoint(s, p[k]);
      if (!corners) trySamples(s, p);
    }
  }
}

// Of the solid's surface from another one.
static double farthestOfSolid(const Solid* solid, const Surface* to, double spacing) {
  Search s = {.to = to, .solid = solid, .spacing = spacing, .next = NEXT * solid->extent};
  for (s.body = 0; s.body < solid->n; s.body++) {
    searchSurface(&s, &solid->body[s.body].surface);
  }
  return s.most;
}

// Of a surface from the solid's.
static double farthestFromSolid(const Surface* from, const Solid* solid, double spacing) {
  Search s = {.solid = solid, .spacing = spacing};
  searchSurface(&s, from);
  return s.most;
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

static djStatus compareSurfaces(djPieceReport* report, const djPieces* pieces, const Solid* solid) {
  Surface own = {0};
  double *vert = NULL, area = 0;
  int* tri = NULL;
  djStatus status = makeUnion(&own, &vert, &tri, pieces);
  if (status == DJ_OK) {
    for (int i = 0; i < solid->n; i++) area += areaOf(&solid->body[i].surface);
    double spacing = sqrt((area + areaOf(&own)) / SAMPLES);
    // What of the union's surface is inside of the solid, in slits between hulls, is not that of
    // its outside; where the union ends below the solid's surface the other direction tells.
    report->hausdorff =
        fmax(farthestOfSolid(solid, &own, spacing), farthestFromSolid(&own, solid, spacing));
    report->hausdorff_error = 2 * spacing / 3;
  }
  dj_freeMeshTree(&own.tree);
  free(vert);
  free(tri);
  return status;
}

// ---- volumes ----------------------------------------------------------------------------------

// Of meshes' hulls.
static djStatus findOverlap(djHullOverlap* overlap, int n, const djTriangles* mesh, djError* err) {
  djHullPoints* hull = malloc((size_t)(n + 1) * sizeof *hull);
  if (!hull) return dj_failMemory(err);
  for (int i = 0; i < n; i++) hull[i] = (djHullPoints){mesh[i].nvert, mesh[i].vert};
  djStatus status = dj_overlapOfHulls(overlap, n, hull, err);
  free(hull);
  return status;
}

// Of the union of shells, convex ones first, of which there are so many: a concave one counts as
// it is if its hull overlaps no other.
static djStatus unionVolume(double* volume, int n, int convex, const djTriangles* shell,
                            djError* err) {
  djHullOverlap all, first;
  djStatus status = findOverlap(&all, n, shell, err);
  if (status == DJ_OK) status = findOverlap(&first, convex, shell, err);
  if (status < 0) return status;
  *volume = first.whole;
  for (int i = convex; i < n; i++) *volume += dj_boundedVolume(&shell[i]);
  if (convex < n && all.overlap - first.overlap > all.error) *volume = NAN;
  return DJ_OK;
}

// ---- the whole --------------------------------------------------------------------------------

// volume: of the solid, or NAN.
static djStatus compare(djPieceReport* report, const djPieces* pieces, const Solid* solid,
                        double volume, djError* err) {
  djHullOverlap overlap;
  djStatus status = findOverlap(&overlap, pieces->n, pieces->hull, err);
  if (status < 0) return status;
  report->volume_ratio = overlap.whole / volume;
  report->overlap = overlap.share;
  status = compareSurfaces(report, pieces, solid);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}

static djStatus checkArguments(djPieceReport* report, const djPieces* pieces,
                               const djTriangles* mesh, djError* err) {
  if (!report || !pieces || pieces->n < 1) {
    return dj_fail(err, DJ_INVALID, "report or pieces: NULL, or no pieces");
  }
  *report = (djPieceReport){0};
  return dj_checkTriangles(mesh, err);
}

djStatus dj_comparePieces(djPieceReport* report, const djPieces* pieces, const djTriangles* solid,
                          djError* err) {
  djStatus status = checkArguments(report, pieces, solid, err);
  if (status < 0) return status;
  Body body;
  Solid one = {.body = &body};
  status = addBody(&one, solid);
  if (status < 0)
    dj_failMemory(err);
  else
    status = compare(report, pieces, &one, dj_boundedVolume(solid), err);
  freeBodies(&one);
  return status;
}

// A shell fills its hull.
static djStatus isConvex(bool* convex, const djTriangles* mesh, double volume, djError* err) {
  djHullOverlap hull;
  djStatus status = findOverlap(&hull, 1, mesh, err);
  *convex = status == DJ_OK && hull.whole - volume <= CONVEX * hull.whole;
  return status;
}

// Shells of their own memory, in the place of the mesh that has them; convex ones first.
static djStatus sortShells(int* convex, djTriangles* shell, djShells* shells,
                           const djTriangles* mesh, djError* err) {
  int last = shells->n;
  for (int k = 0; k < shells->n; k++) {
    djShell one;
    bool filled;
    double volume;
    if (dj_makeShell(&one, shells, k, mesh) < 0) return dj_failMemory(err);
    djStatus status = dj_checkShell(&volume, k, &one, err);
    if (status == DJ_OK) status = isConvex(&filled, &one.mesh, volume, err);
    if (status == DJ_OK) {
      shell[filled ? (*convex)++ : --last] = one.mesh;
      one.mesh = (djTriangles){0};
    }
    dj_freeShell(&one);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// *volume: NAN if that has to be found.
static djStatus compareUnion(djPieceReport* report, double* volume, const djPieces* pieces,
                             const djTriangles* mesh, djError* err) {
  djShells shells;
  int convex = 0;
  djStatus status = dj_findShells(&shells, mesh);
  size_t n = status == DJ_OK ? (size_t)shells.n : 0;
  djTriangles* shell = calloc(n + 1, sizeof *shell);
  Solid solid = {.body = malloc((n + 1) * sizeof *solid.body)};
  if (status < 0 || !shell || !solid.body) {
    status = dj_failMemory(err);
  } else {
    status = sortShells(&convex, shell, &shells, mesh, err);
  }
  if (status == DJ_OK && isnan(*volume)) {
    status = unionVolume(volume, (int)n, convex, shell, err);
  }
  for (size_t i = 0; i < n && status == DJ_OK; i++) {
    status = addBody(&solid, &shell[i]);
    if (status < 0) dj_failMemory(err);
  }
  if (status == DJ_OK) status = compare(report, pieces, &solid, *volume, err);
  freeBodies(&solid);
  for (size_t i = 0; i < n && shell; i++) dj_freeTriangles(&shell[i]);
  free(shell);
  free(solid.body);
  dj_freeShells(&shells);
  return status;
}

djStatus dj_compareShells(djPieceReport* report, double* volume, const djPieces* pieces,
                          const djTriangles* mesh, djError* err) {
  if (!volume) return dj_fail(err, DJ_INVALID, "volume: NULL");
  djStatus status = checkArguments(report, pieces, mesh, err);
  if (status < 0) return status;
  double box[6];
  status = dj_checkVertices(box, mesh->nvert, mesh->vert, mesh->ntri, mesh->tri, err);
  if (status < 0) return status;
  status = dj_checkSolid(volume, mesh, NULL);
  if (status == DJ_NO_MEMORY) return dj_failMemory(err);
  bool solid = status == DJ_OK;
  if (!solid) *volume = NAN;
  // Also of a solid, whose shells may touch up to rounding; those that are none have cavities.
  status = compareUnion(report, volume, pieces, mesh, err);
  if (solid && status == DJ_INVALID) return dj_comparePieces(report, pieces, mesh, err);
  return status;
}
