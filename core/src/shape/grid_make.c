// Making a grid: its lattice, the exact distances at its nodes, coefficients, and its error.

#include "base/status.h"
#include "shape/grid_memory.h"
#include "shape/mesh_closed.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN 2       // of the box about the mesh and its reach, in cells
#define LEAST_MARGIN 1 // of a mesh that has moved
#define STEPS 16       // of its box, of an extent
#define AROUND 5       // nodes beyond mesh and reach: margin, one for (3), two for spline and Q
// Samples for the error, about so many on the surface; each of every few of them also beside it.
#define SAMPLES 20000
#define BESIDE 4
// Signed distances of neighbours may differ by their spacing, times this.
#define CROSSING (1 + 1e-6)

typedef struct Maker {
  djGrid* grid;
  djMeshTree tree;
  djMeshNormals normals;
  double* f; // (nodes) exact distances, then also coefficients
  const djWatch* watch;
} Maker;

// ------------------------------------------ lattice --------------------------------------------

static int countAlong(double half, double h) { return (int)ceil(2 * half / h) + 2 * AROUND + 2; }

// The mesh's box is middle and half extents. The lattice stands beside its middle, so that in
// symmetric meshes nodes are not as near to one face as to another, where f has no derivative.
static void makeLattice(djGrid* g, const double box[6]) {
  const double shift[3] = {0.11, 0.23, -0.31}; // below the half, in cells
  double extent = 2 * fmax(box[3], fmax(box[4], box[5])), nodes = 1;
  for (int k = 0; k < 3; k++) {
    // not less than 1e-3 of the others, so that flat meshes get no endless numbers of cells
    double half = fmax(box[3 + k], 1e-3 * extent);
    g->h[k] = fmin(extent / DJ_GRID_CELLS, 2 * half / DJ_GRID_LEAST);
  }
  for (;;) {
    double near = nodes = 1;
    for (int k = 0; k < 3; k++) {
      nodes *= countAlong(box[3 + k] + g->reach, g->h[k]);
      near *= countAlong(box[3 + k], g->h[k]);
    }
    if (nodes <= DJ_GRID_NODES * fmin(nodes / near, DJ_GRID_MORE)) break;
    for (int k = 0; k < 3; k++) g->h[k] *= 1.01;
  }
  for (int k = 0; k < 3; k++) {
    g->n[k] = countAlong(box[3 + k] + g->reach, g->h[k]);
    g->low[k] = box[k] + (shift[k] - 0.5 * (g->n[k] - 1)) * g->h[k];
    g->box[k] = box[k];
    g->box[3 + k] = box[3 + k] + g->reach + MARGIN * g->h[k];
  }
}

// ---- of a mesh that has moved

static djLattice latticeOf(const djGrid* g) {
  djLattice l;
  memcpy(l.n, g->n, sizeof l.n);
  memcpy(l.low, g->low, sizeof l.low);
  memcpy(l.h, g->h, sizeof l.h);
  memcpy(l.box, g->box, sizeof l.box);
  return l;
}

static void takeLattice(djGrid* g, const djLattice* l) {
  memcpy(g->n, l->n, sizeof l->n);
  memcpy(g->low, l->low, sizeof l->low);
  memcpy(g->h, l->h, sizeof l->h);
  memcpy(g->box, l->box, sizeof l->box);
}

// Half extent of the mesh that a lattice was made for.
static double madeFor(const djLattice* l, int k, double reach) {
  return l->box[3 + k] - reach - MARGIN * l->h[k];
}

static bool suits(const djLattice* l, const double box[6], double reach) {
  for (int k = 0; k < 3; k++) {
    double margin = l->box[3 + k] - fabs(box[k] - l->box[k]) - box[3 + k];
    if (!(margin >= reach + LEAST_MARGIN * l->h[k])) return false;
    if (box[3 + k] < 0.5 * madeFor(l, k, reach)) return false;
  }
  return true;
}

// The next step beyond x, in units of steps, which are not where sizes that are round numbers end.
static double stepBeyond(double x) {
  const double aside = 0.37;
  return ceil(x + aside) - aside;
}

static void makeLatticeAround(djGrid* g, const double box[6]) {
  const djLattice* l = &g->home;
  double extent = 0, around[6];
  for (int k = 0; k < 3; k++) extent = fmax(extent, 2 * madeFor(l, k, g->reach));
  for (int k = 0; k < 3; k++) {
    const double part = fmax(2 * box[3 + k] / extent, 1.0 / DJ_GRID_CELLS);
    const double step = extent * exp2(fmin(stepBeyond(log2(part)), 0)) / STEPS;
    const double middle = l->box[k], from = box[k] - middle, half = box[3 + k];
    const double low = middle - step * stepBeyond((half - from) / step);
    const double high = middle + step * stepBeyond((half + from) / step);
    around[k] = 0.5 * (low + high);
    around[3 + k] = 0.5 * (high - low);
  }
  makeLattice(g, around);
}

static djVec3 nodeAt(const djGrid* g, int i, int j, int k) {
  return dju_vec3(g->low[0] + i * g->h[0], g->low[1] + j * g->h[1], g->low[2] + k * g->h[2]);
}

// ------------------------------------------ exact distances ------------------------------------

static double exactAt(const Maker* m, djMeshNear* near, djVec3 x, int guess) {
  dj_nearestOnMesh(near, &m->tree, x, guess);
  double d = sqrt(near->square);
  return dj_isInsideMesh(&m->normals, m->grid->tri, near) ? -d : d;
}

// f, near, bary; neighbours come one after the other, so that the last triangle is a good guess.
static djStatus fillNodes(Maker* m, djError* err) {
  djGrid* g = m->grid;
  djMeshNear near = {.tri = 0};
  for (int i = 0; i < g->n[0]; i++) {
    djStatus status = dj_tell(m->watch, (double)i / g->n[0], err);
    if (status < 0) return status;
    for (int j = 0; j < g->n[1]; j++) {
      size_t row = ((size_t)i * (size_t)g->n[1] + (size_t)j) * (size_t)g->n[2];
      for (int k = 0; k < g->n[2]; k++) {
        size_t at = row + (size_t)k;
        m->f[at] = exactAt(m, &near, nodeAt(g, i, j, k), near.tri);
        g->near[at] = m->f[at] < 0 ? ~near.tri : near.tri;
        g->bary[2 * at] = near.bary[1];
        g->bary[2 * at + 1] = near.bary[2];
      }
      near.tri = g->near[row] < 0 ? ~g->near[row] : g->near[row];
    }
  }
  return DJ_OK;
}

// A signed distance of a solid has Lipschitz constant 1. Where the surface crosses itself, or holds
// another that faces the same way, its sign jumps away from it.
static djStatus checkSigns(const Maker* m, djError* err) {
  const djGrid* g = m->grid;
  const size_t stride[3] = {(size_t)g->n[1] * (size_t)g->n[2], (size_t)g->n[2], 1};
  size_t at = 0;
  for (int i = 0; i < g->n[0]; i++) {
    for (int j = 0; j < g->n[1]; j++) {
      for (int k = 0; k < g->n[2]; k++, at++) {
        const int node[3] = {i, j, k};
        for (int a = 0; a < 3; a++) {
          if (node[a] + 1 == g->n[a]) continue;
          if (fabs(m->f[at] - m->f[at + stride[a]]) <= CROSSING * g->h[a]) continue;
          djVec3 x = nodeAt(g, i, j, k);
          return dj_fail(err, DJ_INVALID,
                         "the surface crosses itself, or holds another, near (%g, %g, %g)", x.x,
                         x.y, x.z);
        }
      }
    }
  }
  return DJ_OK;
}

// ------------------------------------------ coefficients ---------------------------------------

// Q along one axis: n numbers, stride apart.
static void smoothLine(double* c, int n, size_t stride) {
  double before = c[0];
  for (int i = 1; i < n - 1; i++) {
    double here = c[(size_t)i * stride];
    c[(size_t)i * stride] = (8 * here - before - c[(size_t)(i + 1) * stride]) / 6;
    before = here;
  }
}

static void makeCoefficients(djGrid* g, const double* f) {
  const size_t n[3] = {(size_t)g->n[0], (size_t)g->n[1], (size_t)g->n[2]};
  memcpy(g->coef, f, n[0] * n[1] * n[2] * sizeof *f);
  for (size_t i = 0; i < n[1] * n[2]; i++) smoothLine(g->coef + i, g->n[0], n[1] * n[2]);
  for (size_t i = 0; i < n[0]; i++) {
    for (size_t k = 0; k < n[2]; k++) smoothLine(g->coef + i * n[1] * n[2] + k, g->n[1], n[2]);
  }
  for (size_t i = 0; i < n[0] * n[1]; i++) smoothLine(g->coef + i * n[2], g->n[2], 1);
}

// Each part of the gradient is a mean of differences of neighbouring coefficients.
static double lipschitzOf(const djGrid* g) {
  const size_t stride[3] = {(size_t)g->n[1] * (size_t)g->n[2], (size_t)g->n[2], 1};
  double most[3] = {0, 0, 0};
  size_t at = 0;
  for (int i = 0; i < g->n[0]; i++) {
    for (int j = 0; j < g->n[1]; j++) {
      for (int k = 0; k < g->n[2]; k++, at++) {
        const int node[3] = {i, j, k};
        for (int a = 0; a < 3; a++) {
          if (node[a] + 1 == g->n[a]) continue;
          most[a] = fmax(most[a], fabs(g->coef[at + stride[a]] - g->coef[at]) / g->h[a]);
        }
      }
    }
  }
  return dju_norm3(dju_load3(most));
}

// ------------------------------------------ error ----------------------------------------------

typedef struct Error {
  double most, squares;
  long count;
} Error;

static void addError(Error* e, const djGrid* g, djVec3 x, double exact) {
  const double at[3] = {x.x, x.y, x.z};
  double error = fabs(dj_gridAt(NULL, NULL, g, at) - exact);
  e->most = fmax(e->most, error);
  e->squares += error * error;
  e->count++;
}

// A triangle as a + u b + w c with b its longest edge: nb steps along it, nc rows beside it. So
// splinters get points by their area, not by the lengths of two of their edges.
typedef struct Patch {
  djVec3 a, b, c;
  int nb, nc;
} Patch;

static int stepsOf(double length, double spacing) {
  return (int)fmax(fmin(ceil(length / spacing), 1e4), 1);
}

static Patch patchOf(const djGrid* g, int t, double spacing) {
  djVec3 corner[3];
  double longest = -1;
  Patch p = {.nb = 1};
  for (int k = 0; k < 3; k++)
    corner[k] = dju_load3(g->vert + 3 * (size_t)g->tri[3 * (size_t)t + k]);
  for (int k = 0; k < 3; k++) {
    const djVec3 edge = dju_sub3(corner[(k + 1) % 3], corner[k]);
    const double length = dju_norm3(edge);
    if (length <= longest) continue;
    longest = length;
    p.a = corner[k];
    p.b = edge;
    p.c = dju_sub3(corner[(k + 2) % 3], corner[k]);
  }
  p.nb = stepsOf(longest, spacing);
  p.nc = stepsOf(dju_norm3(dju_cross3(p.b, p.c)) / longest, spacing);
  return p;
}

// Half a cell, or more where the surface or the number of its triangles asks for too many points.
static double spacingOf(const djGrid* g, double cell) {
  double area = 0, count = INFINITY;
  for (int t = 0; t < g->ntri; t++) {
    const Patch p = patchOf(g, t, 1);
    area += 0.5 * dju_norm3(dju_cross3(p.b, p.c));
  }
  double spacing = fmax(0.5 * cell, sqrt(area / SAMPLES)) / 1.5;
  while (count > 4 * SAMPLES + 4.0 * g->ntri) {
    spacing *= 1.5;
    count = 0;
    for (int t = 0; t < g->ntri; t++) {
      const Patch p = patchOf(g, t, spacing);
      count += 0.5 * (p.nb + 1) * (p.nc + 1);
    }
  }
  return spacing;
}

// Points on each triangle; some also inward by half a cell and by one and a half.
static void measureError(Maker* m) {
  djGrid* g = m->grid;
  const double cell = fmin(g->h[0], fmin(g->h[1], g->h[2])), spacing = spacingOf(g, cell);
  Error e = {0, 0, 0};
  for (int t = 0; t < g->ntri; t++) {
    const Patch p = patchOf(g, t, spacing);
    const djVec3 n = dju_load3(g->normal + 3 * (size_t)t);
    for (int i = 0; i <= p.nb; i++) {
      for (int j = 0; j <= p.nc; j++) {
        double u = (double)i / p.nb, w = (double)j / p.nc;
        if (u + w > 1) continue;
        djVec3 x = dju_madd3(dju_madd3(p.a, u, p.b), w, p.c);
        addError(&e, g, x, 0);
        for (int k = 0; k < 2 && (i * (p.nc + 1) + j) % BESIDE == 0; k++) {
          djMeshNear near;
          djVec3 in = dju_madd3(x, -(k + 0.5) * cell, n);
          double exact = exactAt(m, &near, in, t);
          addError(&e, g, in, exact);
        }
      }
    }
  }
  g->error = e.most;
  g->rms = sqrt(e.squares / (double)e.count);
}

// ------------------------------------------ all of it ------------------------------------------

// Everything but lattice, sizes, and vertices and triangles, which are there.
static djStatus fillGrid(djGrid* g, const djWatch* watch, djError* err) {
  Maker m = {.grid = g, .watch = watch};
  size_t nodes = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  m.f = malloc(nodes * sizeof *m.f);
  djStatus status = m.f ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) status = dj_makeMeshTree(&m.tree, g->vert, g->ntri, g->tri);
  if (status == DJ_OK) {
    status = dj_makeMeshNormals(&m.normals, g->nvert, g->vert, g->ntri, g->tri);
  }
  if (status < 0) {
    dj_failMemory(err);
  } else {
    memcpy(g->normal, m.normals.face, 3 * (size_t)g->ntri * sizeof *g->normal);
    status = fillNodes(&m, err);
  }
  if (status == DJ_OK) status = checkSigns(&m, err);
  if (status == DJ_OK) {
    makeCoefficients(g, m.f);
    g->lipschitz = lipschitzOf(g);
    measureError(&m);
  }
  dj_freeMeshTree(&m.tree);
  dj_freeMeshNormals(&m.normals);
  free(m.f);
  return status;
}

static djStatus finishGrid(djGrid* g, const double* vert, const int* tri, const djWatch* watch,
                           djError* err) {
  djStatus status = dj_allocGrid(g);
  if (status == DJ_OK) {
    memcpy(g->vert, vert, 3 * (size_t)g->nvert * sizeof *vert);
    memcpy(g->tri, tri, 3 * (size_t)g->ntri * sizeof *tri);
    status = fillGrid(g, watch, err);
  } else {
    dj_failMemory(err);
  }
  if (status < 0) dj_freeGrid(g);
  return status;
}

djStatus dj_makeGridReaching(djGrid* grid, int nvert, const double* vert, int ntri, const int* tri,
                             double reach, const djWatch* watch, djError* err) {
  double box[6];
  if (!grid) return dj_fail(err, DJ_INVALID, "no grid given");
  memset(grid, 0, sizeof *grid);
  djStatus status = dj_checkMesh(box, nvert, vert, ntri, tri, NULL, err);
  if (status < 0) return status;
  if (!(reach >= 0) || !isfinite(reach)) {
    return dj_fail(err, DJ_INVALID, "the reach of a grid is not %g m", reach);
  }
  grid->reach = reach;
  makeLattice(grid, box);
  grid->home = latticeOf(grid);
  grid->nvert = nvert;
  grid->ntri = ntri;
  return finishGrid(grid, vert, tri, watch, err);
}

djStatus dj_makeGrid(djGrid* grid, int nvert, const double* vert, int ntri, const int* tri,
                     const djWatch* watch, djError* err) {
  return dj_makeGridReaching(grid, nvert, vert, ntri, tri, 0, watch, err);
}

djStatus dj_moveGrid(djGrid* grid, const djGrid* old, const double* vert, double reach,
                     djError* err) {
  double box[6];
  if (!grid || !old || !old->buffer) return dj_fail(err, DJ_INVALID, "no grid given");
  memset(grid, 0, sizeof *grid);
  djStatus status = dj_checkMesh(box, old->nvert, vert, old->ntri, old->tri, NULL, err);
  if (status < 0) return status;
  grid->reach = reach;
  grid->home = old->home;
  if (reach != old->reach) {
    double made[6];
    memcpy(made, old->home.box, sizeof made);
    for (int k = 0; k < 3; k++) made[3 + k] = madeFor(&old->home, k, old->reach);
    makeLattice(grid, made);
    grid->home = latticeOf(grid);
  }
  if (suits(&grid->home, box, reach))
    takeLattice(grid, &grid->home);
  else
    makeLatticeAround(grid, box);
  grid->nvert = old->nvert;
  grid->ntri = old->ntri;
  return finishGrid(grid, vert, old->tri, NULL, err);
}
