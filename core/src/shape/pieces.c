// Solids, and hulls of few vertices.

#include "shape/pieces.h"

#include "base/status.h"
#include "shape/hull.h"
#include "shape/mesh_cross.h"
#include "shape/mesh_shells.h"
#include "shape/simplex.h"

#include <stdlib.h>
#include <string.h>

// Vertices that stand out by less than this part of the hull's size are none.
#define FLAT 1e-9
// Of vertices that are too many, one in so many goes before the hull is made anew.
#define SHARE 8

double dj_boundedVolume(const djTriangles* mesh) {
  double volume = 0;
  for (int t = 0; t < mesh->ntri; t++) {
    const int* v = mesh->tri + 3 * (size_t)t;
    djVec3 o = dju_load3(mesh->vert);
    djVec3 a = dju_sub3(dju_load3(mesh->vert + 3 * (size_t)v[0]), o);
    djVec3 b = dju_sub3(dju_load3(mesh->vert + 3 * (size_t)v[1]), o);
    djVec3 c = dju_sub3(dju_load3(mesh->vert + 3 * (size_t)v[2]), o);
    volume += dju_dot3(a, dju_cross3(b, c)) / 6;
  }
  return volume;
}

void dj_boxOfPoints(double low[3], double high[3], int n, const double* point) {
  for (int k = 0; k < 3; k++) {
    low[k] = INFINITY;
    high[k] = -INFINITY;
    for (int i = 0; i < n; i++) {
      low[k] = fmin(low[k], point[3 * (size_t)i + (size_t)k]);
      high[k] = fmax(high[k], point[3 * (size_t)i + (size_t)k]);
    }
  }
}

djStatus dj_checkTriangles(const djTriangles* mesh, djError* err) {
  if (!mesh) return dj_fail(err, DJ_INVALID, "mesh: NULL");
  if (mesh->nvert < 1 || mesh->ntri < 1 || !mesh->vert || !mesh->tri) {
    return dj_fail(err, DJ_INVALID, "the mesh has no triangles");
  }
  return DJ_OK;
}

djStatus dj_checkPart(double* volume, const djTriangles* mesh, const djMeshNumbers* own,
                      djError* err) {
  double box[6];
  int pair[2] = {0, 0};
  bool found = false;
  djMeshTree tree;
  djStatus status = dj_checkTriangles(mesh, err);
  if (status == DJ_OK) {
    status = dj_checkMesh(box, mesh->nvert, mesh->vert, mesh->ntri, mesh->tri, own, err);
  }
  if (status < 0) return status;
  status = dj_makeMeshTree(&tree, mesh->vert, mesh->ntri, mesh->tri);
  if (status == DJ_OK) {
    status = dj_findCrossing(pair, &found, &tree, mesh->nvert, box);
    dj_freeMeshTree(&tree);
  }
  if (status < 0) return dj_failMemory(err);
  if (found) {
    int v[6];
    for (int k = 0; k < 6; k++) {
      v[k] = mesh->tri[3 * (size_t)pair[k / 3] + (size_t)(k % 3)];
      if (own) v[k] = own->vertex[v[k]];
    }
    for (int k = 0; k < 2 && own; k++) pair[k] = own->triangle[pair[k]];
    return dj_fail(err, DJ_INVALID,
                   "the mesh intersects itself: triangles %d (vertices %d, %d, %d) and %d "
                   "(vertices %d, %d, %d)",
                   pair[0], v[0], v[1], v[2], pair[1], v[3], v[4], v[5]);
  }
  int wrong;
  status = dj_findWrongShell(&wrong, mesh->nvert, mesh->vert, mesh->ntri, mesh->tri);
  if (status < 0) return dj_failMemory(err);
  if (wrong >= 0) {
    return dj_fail(
        err, DJ_INVALID,
        "the shell of triangle %d faces the wrong way: cavities face inward, all else outward",
        wrong);
  }
  if (volume) *volume = dj_boundedVolume(mesh);
  return DJ_OK;
}

djStatus dj_checkSolid(double* volume, const djTriangles* mesh, djError* err) {
  return dj_checkPart(volume, mesh, NULL, err);
}

// ---- hulls of few vertices --------------------------------------------------------------------

typedef struct Vertex {
  double depth; // to the hull of its neighbours
  int id;
} Vertex;

static int compareVertices(const void* a, const void* b) {
  const Vertex *x = a, *y = b;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

// Distance of a hull's vertex from the hull of its neighbours; away: memory for these.
static double depthOf(const djHull* hull, int i, double* away) {
  int n = 0;
  djVec3 v = dju_load3(hull->vert + 3 * (size_t)i), nearest;
  for (int k = hull->adjadr[i]; k < hull->adjadr[i + 1]; k++, n++) {
    djVec3 neighbour = dju_load3(hull->vert + 3 * (size_t)hull->adj[k]);
    dju_store3(away + 3 * (size_t)n, dju_sub3(neighbour, v));
  }
  return dj_minNorm(&nearest, n, away) ? dju_norm3(nearest) : 0;
}

// What a hull is thinned in: points that are left, and whether they have to stay.
typedef struct Thin {
  int n;
  double* point;  // (n x 3)
  bool* keep;     // (n)
  Vertex* vertex; // (n) memory
  bool* gone;     // (n) memory
  double* away;   // (n x 3) memory
} Thin;

// Leave out, of the hull's vertices, those that stand out least, no two of which are neighbours.
// Returns how many.
static int dropVertices(Thin* thin, const djHull* hull, int most) {
  int excess = hull->nvert - most, dropped = 0;
  int limit = excess > 0 ? (excess + SHARE - 1) / SHARE : 0;
  for (int i = 0; i < hull->nvert; i++) {
    thin->vertex[i] = (Vertex){depthOf(hull, i, thin->away), i};
    thin->gone[i] = false;
  }
  qsort(thin->vertex, (size_t)hull->nvert, sizeof *thin->vertex, compareVertices);
  for (int r = 0; r < hull->nvert; r++) {
    int i = thin->vertex[r].id;
    bool flat = thin->vertex[r].depth <= FLAT * hull->bound;
    bool stays = thin->keep[hull->id[i]] || hull->nvert - dropped <= 4;
    for (int k = hull->adjadr[i]; k < hull->adjadr[i + 1]; k++) {
      stays = stays || thin->gone[hull->adj[k]];
    }
    if (stays || (!flat && dropped >= limit)) continue;
    thin->gone[i] = true;
    dropped++;
  }
  return dropped;
}

// The hull's vertices that are left become the points.
static void keepVertices(Thin* thin, const djHull* hull) {
  int n = 0;
  for (int i = 0; i < hull->nvert; i++) { // ids ascend
    if (thin->gone[i]) continue;
    thin->keep[n] = thin->keep[hull->id[i]];
    memcpy(thin->point + 3 * (size_t)n++, hull->vert + 3 * (size_t)i, 3 * sizeof(double));
  }
  thin->n = n;
}

static djStatus thinHull(djHull* hull, Thin* thin, int most, djError* err) {
  for (;;) {
    djStatus status = dj_makeHull(hull, thin->n, thin->point, 0, NULL, err);
    if (status == DJ_INVALID) return dj_prefix(err, status, "no hull of 4 independent vertices");
    if (status < 0) return status;
    if (dropVertices(thin, hull, most) == 0) break;
    keepVertices(thin, hull);
    dj_freeHull(hull);
  }
  if (hull->nvert <= most) return DJ_OK;
  dj_freeHull(hull);
  return dj_fail(err, DJ_INVALID, "more than %d vertices have to stay", most);
}

static djStatus growPieces(djPieces* pieces) {
  size_t n = (size_t)pieces->n;
  if (n & (n - 1)) return DJ_OK; // room for powers of two
  size_t room = n ? 2 * n : 1;
  djTriangles* hull = realloc(pieces->hull, room * sizeof *hull);
  if (hull) pieces->hull = hull;
  double* volume = hull ? realloc(pieces->volume, room * sizeof *volume) : NULL;
  if (volume) pieces->volume = volume;
  return volume ? DJ_OK : DJ_NO_MEMORY;
}

static djStatus storePiece(djPieces* pieces, const djHull* hull) {
  djTriangles t = {.nvert = hull->nvert, .ntri = hull->nface};
  djStatus status = growPieces(pieces);
  if (status < 0) return status;
  t.vert = malloc(3 * (size_t)t.nvert * sizeof *t.vert);
  t.tri = malloc(3 * (size_t)t.ntri * sizeof *t.tri);
  if (!t.vert || !t.tri) {
    dj_freeTriangles(&t);
    return DJ_NO_MEMORY;
  }
  memcpy(t.vert, hull->vert, 3 * (size_t)t.nvert * sizeof *t.vert);
  memcpy(t.tri, hull->face, 3 * (size_t)t.ntri * sizeof *t.tri);
  pieces->volume[pieces->n] = dj_boundedVolume(&t);
  pieces->hull[pieces->n++] = t;
  return DJ_OK;
}

djStatus dj_addPiece(djPieces* pieces, int npoint, const double* point, const bool* keep, int most,
                     djError* err) {
  if (!pieces) return dj_fail(err, DJ_INVALID, "pieces: NULL");
  if (most < 4) return dj_fail(err, DJ_INVALID, "a hull needs at least 4 vertices, not %d", most);
  if (!point || npoint < 4) {
    return dj_fail(err, DJ_INVALID, "a hull needs 4 independent vertices, there are %d points",
                   npoint);
  }
  size_t n = (size_t)npoint;
  djHull hull = {0};
  Thin thin = {.n = npoint,
               .point = malloc(3 * n * sizeof(double)),
               .keep = calloc(n, sizeof(bool)),
               .vertex = malloc(n * sizeof(Vertex)),
               .gone = malloc(n * sizeof(bool)),
               .away = malloc(3 * n * sizeof(double))};
  bool made = thin.point && thin.keep && thin.vertex && thin.gone && thin.away;
  djStatus status = made ? DJ_OK : dj_failMemory(err);
  if (status == DJ_OK) {
    memcpy(thin.point, point, 3 * n * sizeof(double));
    if (keep) memcpy(thin.keep, keep, n * sizeof(bool));
    status = thinHull(&hull, &thin, most, err);
  }
  if (status == DJ_OK) {
    status = storePiece(pieces, &hull);
    if (status < 0) dj_failMemory(err);
  }
  dj_freeHull(&hull);
  free(thin.point);
  free(thin.keep);
  free(thin.vertex);
  free(thin.gone);
  free(thin.away);
  return status;
}

void dj_freePieces(djPieces* pieces) {
  if (!pieces) return;
  for (int i = 0; i < pieces->n; i++) dj_freeTriangles(&pieces->hull[i]);
  free(pieces->hull);
  free(pieces->volume);
  *pieces = (djPieces){0};
}
