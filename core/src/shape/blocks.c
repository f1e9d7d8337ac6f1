// Solids cut into cells. The hull of what is in a cell, of a polyhedron S and a box B, is that of
// its extreme points: on the surface of S they are corners of triangles cut to B, elsewhere they
// are corners of B inside S. No part of S itself has to be built. Cuts of a triangle by a plane of
// the grid are made once for both sides, so that cells on either side have them to the last bit.

#include "base/status.h"
#include "shape/hull.h"
#include "shape/mesh_closed.h"
#include "shape/pieces.h"

#include <stdlib.h>
#include <string.h>

// Vertices nearer to a plane of the grid than this part of the mesh's extent are on it.
#define SNAP 1e-9
// Whether a cell's corner is inside is asked so far from it towards the middle, in half cells.
#define NUDGE 1e-6
// Cells with less than this part of their volume have no hull.
#define LEAST 1e-6
enum { MOST_CELLS = 1 << 20, MOST_ALONG = 256, MOST_CORNERS = 16 };

typedef struct Cell {
  int n, room;
  double* point; // (n x 3)
  bool* keep;    // (n)
  bool* vertex;  // (n) of its hull
} Cell;

typedef struct Polygon {
  int n;
  djVec3 p[MOST_CORNERS];
} Polygon;

typedef struct Cutter {
  const djTriangles* solid;
  int grid[3], ncell;
  double* line[3]; // (grid + 1) coordinates of planes
  double snap;
  Cell* cell; // (ncell), x fastest
  djMeshTree tree;
  djMeshNormals normals;
} Cutter;

static double* along(djVec3* p, int axis) { return axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z; }
static double coordinate(djVec3 p, int axis) { return *along(&p, axis); }

// ---- points of cells --------------------------------------------------------------------------

static djStatus addPoint(Cell* c, djVec3 p) {
  for (int i = c->n > 64 ? c->n - 64 : 0; i < c->n; i++) { // triangles have many corners in common
    const double* q = c->point + 3 * (size_t)i;
    if (q[0] == p.x && q[1] == p.y && q[2] == p.z) return DJ_OK;
  }
  if (c->n == c->room) {
    int room = 2 * c->room + 32;
    double* point = realloc(c->point, 3 * (size_t)room * sizeof *point);
    if (point) c->point = point;
    bool* keep = point ? realloc(c->keep, (size_t)room * sizeof *keep) : NULL;
    if (!keep) return DJ_NO_MEMORY;
    c->keep = keep;
    c->room = room;
  }
  dju_store3(c->point + 3 * (size_t)c->n, p);
  c->keep[c->n++] = false;
  return DJ_OK;
}

// ---- cuts -------------------------------------------------------------------------------------

// Put coordinates that are next to a plane of the grid onto it.
static djVec3 snapped(const Cutter* c, djVec3 p) {
  for (int axis = 0; axis < 3; axis++) {
    const double* line = c->line[axis];
    double *x = along(&p, axis), width = line[c->grid[axis]] - line[0];
    int i = (int)rint((*x - line[0]) / width * c->grid[axis]);
    i = i < 0 ? 0 : i > c->grid[axis] ? c->grid[axis] : i;
    if (fabs(*x - line[i]) <= c->snap) *x = line[i];
  }
  return p;
}

// Where the edge of p and q crosses a plane: the same from either end.
static djVec3 crossingOf(const Cutter* c, djVec3 p, djVec3 q, int axis, double x) {
  double a = coordinate(p, axis), b = coordinate(q, axis);
  if (a > b) return crossingOf(c, q, p, axis, x);
  djVec3 cut = dju_madd3(p, (x - a) / (b - a), dju_sub3(q, p));
  *along(&cut, axis) = x;
  return snapped(c, cut);
}

// The parts on both sides of a plane; those without an area, which only touch it, are empty.
static void split(Polygon* below, Polygon* above, const Cutter* c, const Polygon* whole, int axis,
                  double x) {
  bool has_below = false, has_above = false;
  below->n = above->n = 0;
  for (int i = 0; i < whole->n; i++) {
    djVec3 p = whole->p[i], q = whole->p[(i + 1) % whole->n];
    double a = coordinate(p, axis), b = coordinate(q, axis);
    has_below = has_below || a < x;
    has_above = has_above || a > x;
    if (a <= x && below->n < MOST_CORNERS) below->p[below->n++] = p;
    if (a >= x && above->n < MOST_CORNERS) above->p[above->n++] = p;
    if ((a < x && b > x) || (a > x && b < x)) {
      djVec3 crossing = crossingOf(c, p, q, axis, x);
      if (below->n < MOST_CORNERS) below->p[below->n++] = crossing;
      if (above->n < MOST_CORNERS) above->p[above->n++] = crossing;
    }
  }
  if (!has_below) below->n = 0;
  if (!has_above) above->n = 0;
}

// A polygon in a plane of the grid belongs to the side where the solid is.
static bool lieIn(const Polygon* p, int axis, double x) {
  for (int i = 0; i < p->n; i++) {
    if (coordinate(p->p[i], axis) != x) return false;
  }
  return true;
}

// Cut a polygon along this axis and those after it, from slab `first` on. normal: outward.
static djStatus cut(Cutter* c, const Polygon* polygon, int axis, int index[3], djVec3 normal) {
  if (axis == 3) {
    Cell* cell = &c->cell[index[0] + c->grid[0] * (index[1] + c->grid[1] * index[2])];
    djStatus status = DJ_OK;
    for (int i = 0; i < polygon->n && status == DJ_OK; i++) status = addPoint(cell, polygon->p[i]);
    return status;
  }
  Polygon rest = *polygon, part;
  const double* line = c->line[axis];
  int n = c->grid[axis];
  for (int i = 0; i <= n; i++) {
    if (!lieIn(&rest, axis, line[i])) continue;
    bool lower = coordinate(normal, axis) > 0;
    index[axis] = lower ? (i > 0 ? i - 1 : 0) : (i < n ? i : n - 1);
    return cut(c, &rest, axis + 1, index, normal);
  }
  djStatus status = DJ_OK;
  for (int i = 0; i < n && rest.n > 0 && status == DJ_OK; i++) {
    Polygon whole = rest;
    if (i + 1 < n)
      split(&part, &rest, c, &whole, axis, line[i + 1]);
    else
      part = whole;
    index[axis] = i;
    if (part.n > 0) status = cut(c, &part, axis + 1, index, normal);
  }
  return status;
}

static djStatus cutTriangles(Cutter* c) {
  djStatus status = DJ_OK;
  for (int t = 0; t < c->solid->ntri && status == DJ_OK; t++) {
    Polygon p = {.n = 3};
    int index[3];
    for (int k = 0; k < 3; k++) {
      const int* v = c->solid->tri + 3 * (size_t)t;
      p.p[k] = snapped(c, dju_load3(c->solid->vert + 3 * (size_t)v[k]));
    }
    status = cut(c, &p, 0, index, dju_load3(c->normals.face + 3 * (size_t)t));
  }
  return status;
}

// ---- corners ----------------------------------------------------------------------------------

static djStatus addCorners(Cutter* c, int number) {
  int index[3] = {number % c->grid[0], number / c->grid[0] % c->grid[1],
                  number / c->grid[0] / c->grid[1]};
  djVec3 low, high, middle;
  int guess = 0;
  djStatus status = DJ_OK;
  for (int axis = 0; axis < 3; axis++) {
    *along(&low, axis) = c->line[axis][index[axis]];
    *along(&high, axis) = c->line[axis][index[axis] + 1];
  }
  middle = dju_scale3(0.5, dju_add3(low, high));
  for (int k = 0; k < 8 && status == DJ_OK; k++) {
    djVec3 p = {k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z};
    djMeshNear near;
    dj_nearestOnMesh(&near, &c->tree, dju_madd3(p, NUDGE, dju_sub3(middle, p)), guess);
    guess = near.tri;
    if (dj_isInsideMesh(&c->normals, c->solid->tri, &near)) status = addPoint(&c->cell[number], p);
  }
  return status;
}

// ---- vertices that neighbours share ------------------------------------------------------------

static bool isAfter(const double* p, const double* q) {
  int k = 0;
  while (k < 2 && p[k] == q[k]) k++;
  return p[k] > q[k];
}

// Marks the points that are vertices of the cell's hull: rounding may leave others beside these.
static djStatus markVertices(Cell* cell) {
  djHull hull = {0};
  cell->vertex = calloc((size_t)cell->n + 1, sizeof *cell->vertex);
  if (!cell->vertex) return DJ_NO_MEMORY;
  if (cell->n < 4) return DJ_OK;
  djStatus status = dj_makeHull(&hull, cell->n, cell->point, 0, NULL, NULL);
  if (status == DJ_INVALID) return DJ_OK;   // flat
  for (int i = 0; i < hull.nvert && status == DJ_OK; i++) cell->vertex[hull.id[i]] = true;
  dj_freeHull(&hull);
  return status;
}

// Where among b's vertices the point is; -1: nowhere.
static int findVertex(const Cell* b, const double* p) {
  for (int j = 0; j < b->n; j++) {
    if (b->vertex[j] && memcmp(b->point + 3 * (size_t)j, p, 3 * sizeof(double)) == 0) return j;
  }
  return -1;
}

// Of the vertices that both have in the plane between them the last one stays.
static void keepLast(Cell* a, Cell* b, int axis, double x) {
  const double* last = NULL;
  int first = -1, second = -1;
  for (int i = 0; i < a->n; i++) {
    const double* p = a->point + 3 * (size_t)i;
    if (!a->vertex[i] || p[axis] != x || (last && !isAfter(p, last))) continue;
    int j = findVertex(b, p);
    if (j < 0) continue;
    last = p;
    first = i;
    second = j;
  }
  if (last) a->keep[first] = b->keep[second] = true;
}

static djStatus keepShared(Cutter* c) {
  for (int i = 0; i < c->ncell; i++) {
    djStatus status = markVertices(&c->cell[i]);
    if (status < 0) return status;
  }
  for (int number = 0; number < c->ncell; number++) {
    int index[3] = {number % c->grid[0], number / c->grid[0] % c->grid[1],
                    number / c->grid[0] / c->grid[1]};
    int step = 1;
    for (int axis = 0; axis < 3; axis++) {
      Cell* a = &c->cell[number];
      bool inner = index[axis] + 1 < c->grid[axis];
      if (inner) keepLast(a, a + step, axis, c->line[axis][index[axis] + 1]);
      step *= c->grid[axis];
    }
  }
  return DJ_OK;
}

// ---- the whole --------------------------------------------------------------------------------

static void freeCutter(Cutter* c) {
  for (int i = 0; c->cell && i < c->ncell; i++) {
    free(c->cell[i].point);
    free(c->cell[i].keep);
    free(c->cell[i].vertex);
  }
  free(c->cell);
  for (int k = 0; k < 3; k++) free(c->line[k]);
  dj_freeMeshTree(&c->tree);
  dj_freeMeshNormals(&c->normals);
}

static djStatus makeCutter(Cutter* c, const djTriangles* solid, const int grid[3]) {
  double low[3], high[3], extent = 0;
  *c = (Cutter){.solid = solid, .ncell = grid[0] * grid[1] * grid[2]};
  dj_boxOfPoints(low, high, solid->nvert, solid->vert);
  for (int k = 0; k < 3; k++) {
    c->grid[k] = grid[k];
    c->line[k] = malloc(((size_t)grid[k] + 1) * sizeof(double));
    if (!c->line[k]) return DJ_NO_MEMORY;
    for (int i = 0; i <= grid[k]; i++) {
      double t = (double)i / grid[k];
      c->line[k][i] = i == grid[k] ? high[k] : low[k] + t * (high[k] - low[k]);
    }
    extent = fmax(extent, high[k] - low[k]);
  }
  c->snap = SNAP * extent;
  c->cell = calloc((size_t)c->ncell, sizeof *c->cell);
  if (!c->cell) return DJ_NO_MEMORY;
  djStatus status = dj_makeMeshTree(&c->tree, solid->vert, solid->ntri, solid->tri);
  if (status < 0) return status;
  return dj_makeMeshNormals(&c->normals, solid->nvert, solid->vert, solid->ntri, solid->tri);
}

static djStatus checkGrid(const int grid[3], djError* err) {
  long cells = 1;
  for (int k = 0; k < 3; k++) {
    if (grid[k] < 1 || grid[k] > MOST_ALONG) {
      return dj_fail(err, DJ_INVALID, "%d cells along %c: 1 to %d are possible", grid[k], "xyz"[k],
                     (int)MOST_ALONG);
    }
    cells *= grid[k];
  }
  if (cells <= MOST_CELLS) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "more than %d cells", (int)MOST_CELLS);
}

static double cellVolume(const Cutter* c) {
  double volume = 1;
  for (int k = 0; k < 3; k++) {
    volume *= (c->line[k][c->grid[k]] - c->line[k][0]) / c->grid[k];
  }
  return volume;
}

// A cell's hull, unless it is next to nothing.
static djStatus addCell(djPieces* pieces, const Cutter* c, const Cell* cell, int most,
                        djError* err) {
  int kept = 0;
  if (cell->n < 4) return DJ_OK;
  for (int i = 0; i < cell->n; i++) {
    kept += cell->keep[i];
    cell->keep[i] = cell->keep[i] && kept <= most;
  }
  djStatus status = dj_addPiece(pieces, cell->n, cell->point, cell->keep, most, err);
  if (status == DJ_INVALID && most >= 4) return DJ_OK; // flat
  if (status == DJ_OK && pieces->volume[pieces->n - 1] < LEAST * cellVolume(c)) {
    dj_freeTriangles(&pieces->hull[--pieces->n]);
  }
  return status;
}

// Cut, with the corners that cells need. Memory of the cutter is the caller's to free.
static djStatus cutSolid(Cutter* c, const djTriangles* solid, const int grid[3], djError* err) {
  djStatus status = makeCutter(c, solid, grid);
  if (status == DJ_OK) status = cutTriangles(c);
  for (int i = 0; i < c->ncell && status == DJ_OK; i++) status = addCorners(c, i);
  return status < 0 ? dj_failMemory(err) : DJ_OK;
}

djStatus dj_cutBlocks(djPieces* pieces, const djTriangles* solid, const int grid[3],
                      int most_vertices, const djWatch* watch, djError* err) {
  if (!pieces) return dj_fail(err, DJ_INVALID, "pieces: NULL");
  *pieces = (djPieces){0};
  djStatus status = dj_checkTriangles(solid, err);
  if (status == DJ_OK) status = checkGrid(grid, err);
  if (status < 0) return status;
  Cutter c;
  status = cutSolid(&c, solid, grid, err);
  if (status == DJ_OK && keepShared(&c) < 0) status = dj_failMemory(err);
  for (int i = 0; i < c.ncell && status == DJ_OK; i++) {
    status = dj_tell(watch, (double)i / c.ncell, err);
    if (status == DJ_OK) status = addCell(pieces, &c, &c.cell[i], most_vertices, err);
  }
  if (status == DJ_OK && pieces->n == 0) {
    status = dj_fail(err, DJ_INVALID, "no cell of the grid holds a part of the mesh");
  }
  freeCutter(&c);
  if (status < 0) dj_freePieces(pieces);
  return status;
}

// No fewer cells than have a hull: whose points' boxes are not next to nothing.
static int countCells(const Cutter* c) {
  int n = 0;
  for (int i = 0; i < c->ncell; i++) {
    double low[3], high[3];
    if (c->cell[i].n < 4) continue;
    dj_boxOfPoints(low, high, c->cell[i].n, c->cell[i].point);
    double volume = (high[0] - low[0]) * (high[1] - low[1]) * (high[2] - low[2]);
    n += volume >= LEAST * cellVolume(c);
  }
  return n;
}

djStatus dj_chooseGrid(int grid[3], const djTriangles* solid, int most_hulls, djError* err) {
  double low[3], high[3], extent = 0;
  djStatus status = dj_checkTriangles(solid, err);
  if (status < 0) return status;
  if (most_hulls < 1) return dj_fail(err, DJ_INVALID, "%d hulls: at least one", most_hulls);
  dj_boxOfPoints(low, high, solid->nvert, solid->vert);
  for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
  grid[0] = grid[1] = grid[2] = 1;
  for (int n = 2; n <= MOST_ALONG && status == DJ_OK; n++) {
    int next[3];
    Cutter c;
    for (int k = 0; k < 3; k++) {
      double cells = rint((high[k] - low[k]) / extent * n);
      next[k] = cells < 1 ? 1 : (int)cells;
    }
    // Hollow things have few hulls in many cells, but not any number.
    if ((double)next[0] * next[1] * next[2] > fmin(16.0 * most_hulls + 64, MOST_CELLS)) break;
    status = cutSolid(&c, solid, next, err);
    if (status == DJ_OK && countCells(&c) <= most_hulls) memcpy(grid, next, sizeof next);
    freeCutter(&c);
  }
  return status;
}
