// What makes closed meshes no solids, blocks and hulls of few vertices, and how well these stand
// for the solid.

#include "common/message.h"
#include "common/near.h"
#include "common/random.h"
#include "common/solid_mesh.h"
#include "common/test.h"
#include "shape/mesh_cross.h"
#include "shape/mesh_shells.h"
#include "shape/pieces.h"

#include <dijoco/decompose.h>

static djTriangles viewOf(const SolidMesh* m) {
  return (djTriangles){m->nvert, m->vert, m->ntri, m->tri};
}

// ---- solids -----------------------------------------------------------------------------------

static void expectBad(const SolidMesh* m, const char* what) {
  djTriangles mesh = viewOf(m);
  djError err = {""};
  djStatus status = dj_checkSolid(NULL, &mesh, &err);
  djt_failIf(status != DJ_INVALID || !strstr(err.text, what), "%s: status %d, '%s'", what, status,
             err.text);
}

static void move(SolidMesh* m, double x, double y, double z) {
  for (int i = 0; i < m->nvert; i++) {
    m->vert[3 * i] += x;
    m->vert[3 * i + 1] += y;
    m->vert[3 * i + 2] += z;
  }
}

static void testNoSolids(void) {
  SolidMesh box = makeBoxSolid(1, 1, 1), torus = makeTorus(1, 0.3, 24, 12);
  djTriangles good = viewOf(&torus);
  assert_int_equal(dj_checkSolid(NULL, &good, NULL), DJ_OK);
  djTriangles none = {0};
  assert_int_equal(dj_checkSolid(NULL, &none, NULL), DJ_INVALID);
  assert_int_equal(dj_checkSolid(NULL, NULL, NULL), DJ_INVALID);
  box.ntri--;
  expectBad(&box, "open");
  box.ntri++;
  turnInsideOut(&box, 0);
  expectBad(&box, "inward");
  turnInsideOut(&box, 0);
  // Boxes that cross askew, through edges, with faces in one plane; that touch; that do not.
  static const struct {
    double x, y, z;
    bool meet;
  } at[] = {{0.7, 0.6, 0.3, true}, {1, 1, 0, true},     {1, 0, 0, true},      {0.5, 0.5, 0.5, true},
            {2, 0, 0, true},       {2, 0.5, 0.5, true}, {2.001, 0, 0, false}, {0, 0, -2.5, false}};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    SolidMesh other = makeBoxSolid(1, 1, 1);
    move(&other, at[i].x, at[i].y, at[i].z);
    SolidMesh both = joinSolids(&box, &other);
    djTriangles mesh = viewOf(&both);
    if (at[i].meet)
      expectBad(&both, "intersects itself: triangles ");
    else
      assert_int_equal(dj_checkSolid(NULL, &mesh, NULL), DJ_OK);
    freeSolid(&other);
    freeSolid(&both);
  }
  // A vertex of the torus through its other side.
  torus.vert[0] = -1;
  expectBad(&torus, "intersects itself");
  freeSolid(&box);
  freeSolid(&torus);
}

static djGridPoint pointOf(int x, int y, int z) { return (djGridPoint){{x, y, z}}; }

// Pairs with one and two common corners, and a fold.
static void testCommonCorners(void) {
  const djGridPoint o = pointOf(0, 0, 0), a = pointOf(4, 0, 0), b = pointOf(0, 4, 0);
  const djGridPoint t[3] = {o, a, b};
  const djGridPoint beside[3] = {o, pointOf(-4, 0, 0), pointOf(0, -4, 0)};
  const djGridPoint within[3] = {o, pointOf(1, 1, 0), pointOf(-1, 5, 0)};
  const djGridPoint through[3] = {o, pointOf(2, 1, 1), pointOf(1, 1, -1)};
  const djGridPoint above[3] = {o, pointOf(2, 1, 1), pointOf(1, 1, 1)};
  const djGridPoint past[3] = {o, pointOf(9, 8, 1), pointOf(9, 8, -1)};
  assert_false(dj_trianglesMeet(t, beside, 1));
  assert_true(dj_trianglesMeet(t, within, 1));
  assert_true(dj_trianglesMeet(t, through, 1));
  assert_false(dj_trianglesMeet(t, above, 1));
  assert_true(dj_trianglesMeet(t, past, 1));
  const djGridPoint along[3] = {o, pointOf(1, 1, 0), pointOf(5, 5, 1)};
  const djGridPoint back[3] = {o, along[2], along[1]};
  assert_true(dj_trianglesMeet(t, along, 1) && dj_trianglesMeet(back, t, 1));
  const djGridPoint fold[3] = {o, a, pointOf(1, 1, 0)}, hinge[3] = {o, a, pointOf(1, 1, 1)};
  const djGridPoint flat[3] = {o, a, pointOf(1, -3, 0)};
  assert_true(dj_trianglesMeet(t, fold, 2));
  assert_false(dj_trianglesMeet(t, hinge, 2));
  assert_false(dj_trianglesMeet(t, flat, 2));
  const djGridPoint touch[3] = {pointOf(2, 2, 0), pointOf(5, 5, 1), pointOf(5, 5, -1)};
  const djGridPoint near[3] = {pointOf(3, 2, 0), pointOf(5, 5, 1), pointOf(5, 5, -1)};
  assert_true(dj_trianglesMeet(t, touch, 0));
  // A corner on the other's face; in one plane: within, across.
  const djGridPoint stands[3] = {pointOf(1, 1, 0), pointOf(5, 5, 1), pointOf(5, 6, 1)};
  const djGridPoint small[3] = {pointOf(1, 1, 0), pointOf(2, 1, 0), pointOf(1, 2, 0)};
  const djGridPoint across[3] = {pointOf(-1, 1, 0), pointOf(9, 1, 0), pointOf(9, 2, 0)};
  const djGridPoint aside[3] = {pointOf(3, 3, 0), pointOf(9, 1, 0), pointOf(9, 2, 0)};
  assert_true(dj_trianglesMeet(t, stands, 0) && dj_trianglesMeet(stands, t, 0));
  assert_true(dj_trianglesMeet(t, small, 0) && dj_trianglesMeet(small, t, 0));
  assert_true(dj_trianglesMeet(t, across, 0) && dj_trianglesMeet(across, t, 0));
  assert_false(dj_trianglesMeet(t, aside, 0) || dj_trianglesMeet(aside, t, 0));
  assert_false(dj_trianglesMeet(t, near, 0));
}

// Cavities face inward, what is in them outward; all else is wrong.
static void testShells(void) {
  static const struct {
    int inward; // bits: boxes of 1, 0.5, 0.25 that face inward
    double x;   // of the middle one
    const char* bad;
  } at[] = {{2, 0, NULL},
            {0, 0, "shell of triangle 12"},
            {6, 0, "shell of triangle 24"},
            {2, 3, "shell of triangle 12"},
            {0, 3, "shell of triangle 24"},
            {4, 3, NULL}};
  for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
    SolidMesh a = makeBoxSolid(1, 1, 1), b = makeBoxSolid(0.5, 0.5, 0.5);
    SolidMesh c = makeBoxSolid(0.25, 0.25, 0.25);
    move(&b, at[i].x, 0, 0);
    if (at[i].inward & 2) turnInsideOut(&b, 0);
    if (at[i].inward & 4) turnInsideOut(&c, 0);
    SolidMesh two = joinSolids(&a, &b), all = joinSolids(&two, &c);
    djTriangles mesh = viewOf(&all);
    double volume, sign = at[i].inward & 2 ? -1 : 1;
    if (at[i].bad) {
      expectBad(&all, at[i].bad);
    } else {
      assert_int_equal(dj_checkSolid(&volume, &mesh, NULL), DJ_OK);
      djt_near(volume, 8 + sign * 1 - sign * 0.125, 1e-12);
    }
    freeSolid(&a);
    freeSolid(&b);
    freeSolid(&c);
    freeSolid(&two);
    freeSolid(&all);
  }
}

// ---- blocks -----------------------------------------------------------------------------------

static void cutInto(djPieces* pieces, const djTriangles* mesh, int a, int b, int c, int most) {
  const int grid[3] = {a, b, c};
  djError err = {""};
  if (dj_cutBlocks(pieces, mesh, grid, most, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
}

static double sumOf(const djPieces* pieces) {
  double sum = 0;
  for (int i = 0; i < pieces->n; i++) sum += pieces->volume[i];
  return sum;
}

static bool hasVertex(const djTriangles* hull, const double* v) {
  for (int i = 0; i < hull->nvert; i++) {
    if (memcmp(hull->vert + 3 * i, v, 3 * sizeof *v) == 0) return true;
  }
  return false;
}

static int sharedVertices(const djTriangles* a, const djTriangles* b) {
  int n = 0;
  for (int i = 0; i < a->nvert; i++) n += hasVertex(b, a->vert + 3 * i);
  return n;
}

// Of a box they are the lattice of small boxes, whatever diagonals its faces have.
static void testBox(void) {
  SolidMesh m = makeBoxSolid(0.3, 0.2, 0.1);
  djTriangles mesh = viewOf(&m);
  djPieces pieces;
  cutInto(&pieces, &mesh, 3, 2, 2, 64);
  assert_int_equal(pieces.n, 12);
  for (int i = 0; i < 12; i++) {
    const djTriangles* h = &pieces.hull[i];
    const double x0 = -0.3 + 0.2 * (i % 3), y0 = -0.2 + 0.2 * (i / 3 % 2),
                 z0 = -0.1 + 0.1 * (i / 6);
    assert_int_equal(h->nvert, 8);
    assert_int_equal(h->ntri, 12);
    djt_near(pieces.volume[i], 0.004, 1e-16);
    for (int k = 0; k < 8; k++) {
      const double* v = h->vert + 3 * k;
      assert_true(fabs(v[0] - x0) < 1e-15 || fabs(v[0] - x0 - 0.2) < 1e-15);
      assert_true(fabs(v[1] - y0) < 1e-15 || fabs(v[1] - y0 - 0.2) < 1e-15);
      assert_true(fabs(v[2] - z0) < 1e-15 || fabs(v[2] - z0 - 0.1) < 1e-15);
    }
    if (i % 3 < 2) assert_int_equal(sharedVertices(h, &pieces.hull[i + 1]), 4);
    if (i / 3 % 2 < 1) assert_int_equal(sharedVertices(h, &pieces.hull[i + 3]), 4);
    if (i < 6) assert_int_equal(sharedVertices(h, &pieces.hull[i + 6]), 4);
  }
  djPieceReport report;
  assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, NULL), DJ_OK);
  djt_near(report.volume_ratio, 1, 1e-12);
  assert_true(report.overlap == 0);
  assert_true(report.hausdorff < 1e-6 && report.hausdorff_error < 0.01);
  dj_freePieces(&pieces);
  freeSolid(&m);
}

// An L: planes of the grid through its inner faces leave nothing beside them; else a cell with the
// corner is filled, by the triangle between the arms' ends in it.
static void testL(void) {
  SolidMesh m = makeL();
  djTriangles mesh = viewOf(&m);
  djPieces pieces;
  djPieceReport report;
  cutInto(&pieces, &mesh, 5, 5, 1, 64);
  assert_int_equal(pieces.n, 16);
  for (int i = 0; i < pieces.n; i++) assert_int_equal(pieces.hull[i].nvert, 8);
  djt_near(sumOf(&pieces), 0.32, 1e-9);
  dj_freePieces(&pieces);
  cutInto(&pieces, &mesh, 1, 1, 1, 64);
  assert_int_equal(pieces.n, 1);
  djt_near(pieces.volume[0], 0.5 * (0.64 + 0.18), 1e-12);
  assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, NULL), DJ_OK);
  djt_near(report.volume_ratio, 0.82 / 0.64, 1e-9);
  // From the middle of the plane between the arms' ends to both inner faces.
  assert_true(fabs(report.hausdorff - 0.3) <= report.hausdorff_error);
  dj_freePieces(&pieces);
  freeSolid(&m);
}

// A concave solid: blocks hold all of it, do not overlap, touch where it goes on, and come to its
// volume as they become smaller, with few vertices as well.
static void testTorus(void) {
  SolidMesh m = makeTorus(1, 0.35, 48, 24);
  djTriangles mesh = viewOf(&m);
  double volume, last = INFINITY;
  djRng rng = {5};
  assert_int_equal(dj_checkSolid(&volume, &mesh, NULL), DJ_OK);
  for (int n = 3; n <= 12; n *= 2) {
    djPieces pieces;
    djPieceReport report;
    cutInto(&pieces, &mesh, n, n, n / 3, 1000);
    assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, NULL), DJ_OK);
    print_message("%d cells along x: %d hulls, volume ratio %.6f, surfaces %.3g +- %.2g apart\n", n,
                  pieces.n, report.volume_ratio, report.hausdorff, report.hausdorff_error);
    assert_true(report.overlap == 0);
    djt_near(report.volume_ratio, sumOf(&pieces) / volume, 1e-9);
    assert_true(report.volume_ratio > 1 && report.volume_ratio - 1 < 0.6 * last);
    last = report.volume_ratio - 1;
    for (int trial = 0; trial < 300;
         trial++) { // points in the polygon that the tube's middle makes
      double u = djt_uniform(&rng, 0, 6.28), r = djt_uniform(&rng, 0, 0.3),
             w = djt_uniform(&rng, 0, 6);
      const djVec3 x = {(0.99 + r * cos(w)) * cos(u), (0.99 + r * cos(w)) * sin(u), r * sin(w)};
      bool in = false;
      for (int i = 0; i < pieces.n && !in; i++) {
        const djTriangles* h = &pieces.hull[i];
        in = true;
        for (int t = 0; t < h->ntri && in; t++) {
          const int* v = h->tri + 3 * t;
          djVec3 a = dju_load3(h->vert + 3 * v[0]), b = dju_load3(h->vert + 3 * v[1]);
          djVec3 c = dju_load3(h->vert + 3 * v[2]);
          djVec3 normal = dju_cross3(dju_sub3(b, a), dju_sub3(c, a));
          in = dju_dot3(normal, dju_sub3(x, a)) < 1e-9;
        }
      }
      assert_true(in);
    }
    dj_freePieces(&pieces);
  }
  freeSolid(&m);
}

// Planes of the grid through faces that rounding puts beside them leave no slivers; what only
// touches a plane is not in the cell behind it.
static void testPlanes(void) {
  djRng rng = {9};
  for (int trial = 0; trial < 20; trial++) {
    SolidMesh m = makeL();
    double size = djt_uniform(&rng, 0.1, 3);
    for (int i = 0; i < 3 * m.nvert; i++) m.vert[i] *= size;
    move(&m, djt_uniform(&rng, -1, 1), djt_uniform(&rng, -1, 1), 0);
    djTriangles mesh = viewOf(&m);
    djPieces pieces;
    cutInto(&pieces, &mesh, 5, 5, 2, 64);
    assert_int_equal(pieces.n, 32);
    for (int i = 0; i < pieces.n; i++) assert_int_equal(pieces.hull[i].nvert, 8);
    djt_near(sumOf(&pieces) / (0.32 * size * size * size), 1, 1e-7);
    dj_freePieces(&pieces);
    freeSolid(&m);
  }
  // A box beside a tetrahedron whose corner is in the plane between them.
  SolidMesh a = makeBoxSolid(0.25, 1, 1), b = allocSolid(4, 4);
  const double vert[12] = {0, 0, 0, 1, 0, 0.1, 1, 0.2, 0, 1, -0.2, 0};
  const int tri[12] = {1, 2, 3, 0, 2, 1, 0, 3, 2, 0, 1, 3};
  move(&a, -0.75, 0, 0);
  memcpy(b.vert, vert, sizeof vert);
  memcpy(b.tri, tri, sizeof tri);
  turnInsideOut(&b, 0);
  SolidMesh both = joinSolids(&a, &b);
  djTriangles mesh = viewOf(&both);
  djPieces pieces;
  djError err = {""};
  if (dj_checkSolid(NULL, &mesh, &err) != DJ_OK) fail_msg("%s", err.text);
  cutInto(&pieces, &mesh, 2, 1, 1, 64);
  assert_int_equal(pieces.n, 2);
  djt_near(pieces.volume[0], 2, 1e-12);
  assert_int_equal(pieces.hull[1].nvert, 4);
  dj_freePieces(&pieces);
  freeSolid(&a);
  freeSolid(&b);
  freeSolid(&both);
}

// The number of vertices in a plane.
static int countIn(const djTriangles* hull, int axis, double x) {
  int n = 0;
  for (int i = 0; i < hull->nvert; i++) n += hull->vert[3 * i + axis] == x;
  return n;
}

// Two hulls of cells of this size are neighbours along an axis; *x: the plane between them.
static bool areNeighbours(double* x, const djTriangles* a, const djTriangles* b, int axis,
                          const double origin[3], const double cell[3]) {
  double low[2][3], high[2][3];
  dj_boxOfPoints(low[0], high[0], a->nvert, a->vert);
  dj_boxOfPoints(low[1], high[1], b->nvert, b->vert);
  for (int k = 0; k < 3; k++) {
    double first = floor((0.5 * (low[0][k] + high[0][k]) - origin[k]) / cell[k]);
    double second = floor((0.5 * (low[1][k] + high[1][k]) - origin[k]) / cell[k]);
    if (second - first != (k == axis)) return false;
  }
  *x = low[1][axis];
  return true;
}

// Neighbours have the same vertices in the plane between them; with few, one of these at least.
static void checkNeighbours(const SolidMesh* m, int a, int b, int c, int least) {
  djTriangles mesh = viewOf(m);
  djPieces all, few;
  double low[3], high[3];
  dj_boxOfPoints(low, high, m->nvert, m->vert);
  const double cell[3] = {(high[0] - low[0]) / a, (high[1] - low[1]) / b, (high[2] - low[2]) / c};
  cutInto(&all, &mesh, a, b, c, 1000);
  cutInto(&few, &mesh, a, b, c, 6);
  assert_int_equal(all.n, few.n);
  int pairs = 0;
  for (int i = 0; i < all.n; i++) {
    assert_true(few.hull[i].nvert <= 6 && few.hull[i].nvert >= 4);
    for (int k = 0; k < 3 * all.n; k++) {
      double x;
      int j = k / 3, axis = k % 3;
      if (!areNeighbours(&x, &all.hull[i], &all.hull[j], axis, low, cell)) continue;
      int shared = sharedVertices(&all.hull[i], &all.hull[j]);
      assert_int_equal(countIn(&all.hull[i], axis, x), shared);
      assert_int_equal(countIn(&all.hull[j], axis, x), shared);
      if (shared == 0) continue;
      pairs++;
      assert_true(sharedVertices(&few.hull[i], &few.hull[j]) > 0);
    }
  }
  print_message("%d pairs of neighbours\n", pairs);
  assert_true(pairs >= least);
  dj_freePieces(&all);
  dj_freePieces(&few);
}

static void testNeighbours(void) {
  SolidMesh thick = makeTorus(1, 0.35, 48, 24), thin = makeTorus(1, 0.1, 48, 40);
  checkNeighbours(&thick, 6, 6, 2, 100);
  checkNeighbours(&thin, 7, 9, 1, 20); // sections without corners of cells
  freeSolid(&thick);
  freeSolid(&thin);
}

static void testGrid(void) {
  SolidMesh box = makeBoxSolid(0.4, 0.2, 0.1), torus = makeTorus(1, 0.2, 32, 12);
  djTriangles mesh = viewOf(&box), ring = viewOf(&torus);
  int grid[3];
  assert_int_equal(dj_chooseGrid(grid, &mesh, 8, NULL), DJ_OK);
  assert_int_equal(grid[0], 4);
  assert_int_equal(grid[1], 2);
  assert_int_equal(grid[2], 1);
  for (int most = 1; most <= 100; most *= 10) {
    djPieces pieces;
    assert_int_equal(dj_chooseGrid(grid, &ring, most, NULL), DJ_OK);
    cutInto(&pieces, &ring, grid[0], grid[1], grid[2], 64);
    print_message("at most %d hulls: %d of %d x %d x %d\n", most, pieces.n, grid[0], grid[1],
                  grid[2]);
    assert_true(pieces.n <= most && (most == 1 || 3 * pieces.n > most));
    dj_freePieces(&pieces);
  }
  djPieces pieces;
  djError err = {""};
  const int wrong[3][3] = {{0, 1, 1}, {1, 257, 1}, {256, 256, 256}};
  for (int i = 0; i < 3; i++) {
    djt_refusedWith(DJ_INVALID, dj_cutBlocks(&pieces, &mesh, wrong[i], 8, NULL, &err), err,
                    "cells");
    assert_int_equal(pieces.n, 0);
  }
  freeSolid(&box);
  freeSolid(&torus);
}

// ---- hulls of points --------------------------------------------------------------------------

// Points of a sphere: as many as wanted, all of them the sphere's, and nearly its volume.
static void testHull(void) {
  enum { N = 600 };
  double point[3 * N];
  djRng rng = {3};
  djPieces pieces = {0};
  djError err = {""};
  bool keep[N] = {false};
  for (int i = 0; i < N; i++) {
    djVec3 v;
    do {
      v = dju_vec3(djt_uniform(&rng, -1, 1), djt_uniform(&rng, -1, 1), djt_uniform(&rng, -1, 1));
    } while (dju_norm3(v) < 0.1);
    dju_store3(point + 3 * i, dju_scale3(1 / dju_norm3(v), v));
  }
  for (int i = 0; i < 10; i++) keep[40 * i] = true;
  assert_int_equal(dj_addPiece(&pieces, N, point, NULL, N, &err), DJ_OK);
  assert_int_equal(dj_addPiece(&pieces, N, point, NULL, 50, &err), DJ_OK);
  assert_int_equal(dj_addPiece(&pieces, N, point, keep, 12, &err), DJ_OK);
  assert_int_equal(dj_addPiece(&pieces, N, point, NULL, 4, &err), DJ_OK);
  assert_int_equal(pieces.hull[0].nvert, N);
  assert_int_equal(pieces.hull[1].nvert, 50);
  assert_int_equal(pieces.hull[2].nvert, 12);
  assert_int_equal(pieces.hull[3].nvert, 4);
  for (int i = 0; i < 10; i++) assert_true(hasVertex(&pieces.hull[2], point + 120 * i));
  print_message("volumes of %d, 50 and 12 vertices on a sphere: %.4f %.4f %.4f\n", N,
                pieces.volume[0], pieces.volume[1], pieces.volume[2]);
  assert_true(pieces.volume[0] < 4.18879 && pieces.volume[0] > 4.05);
  assert_true(pieces.volume[1] > 3.4);
  assert_int_equal(dj_addPiece(&pieces, N, point, keep, 9, &err), DJ_INVALID);
  assert_int_equal(dj_addPiece(&pieces, 3, point, NULL, 9, &err), DJ_INVALID);
  assert_int_equal(dj_addPiece(&pieces, N, point, NULL, 3, &err), DJ_INVALID);
  for (int i = 0; i < N; i++) point[3 * i + 2] = 0;
  djt_refused(DJ_INVALID, dj_addPiece(&pieces, N, point, NULL, 9, &err), err,
              "no hull of 4 independent vertices: the points are flat");
  assert_int_equal(pieces.n, 4);
  dj_freePieces(&pieces);
}

// Vertices that are doubled, or in the middle of edges, but for rounding, are not the hull's.
static void testFlatVertices(void) {
  const double slip[3] = {3e-10, -3e-10, 1e-10};
  double point[3 * 36];
  int n = 0;
  djPieces pieces = {0};
  for (int i = 0; i < 16; i++) {
    for (int k = 0; k < 3; k++) {
      point[3 * n + k] = (i >> k & 1 ? 1 : -1) * (1 + (i >= 8 ? slip[k] : 0));
    }
    n++;
  }
  for (int axis = 0; axis < 3; axis++) {
    for (int i = 0; i < 4; i++, n++) {
      point[3 * n + axis] = 0.1;
      point[3 * n + (axis + 1) % 3] = (i & 1 ? 1 : -1) * (1 + 5e-11);
      point[3 * n + (axis + 2) % 3] = (i & 2 ? 1 : -1) * (1 + 5e-11);
    }
  }
  assert_int_equal(dj_addPiece(&pieces, n, point, NULL, 100, NULL), DJ_OK);
  assert_int_equal(pieces.hull[0].nvert, 8);
  djt_near(pieces.volume[0], 8, 1e-8);
  dj_freePieces(&pieces);
}

// Slits between hulls inside of the solid do not count as its surface; faces that touch inside of a
// union are not where it ends.
static void testInside(void) {
  SolidMesh m = makeBoxSolid(1, 1, 1), part = makeBoxSolid(0.495, 1, 1);
  SolidMesh hole = makeBoxSolid(0.2, 0.2, 0.2), half = makeBoxSolid(0.5, 1, 1);
  turnInsideOut(&hole, 0);
  SolidMesh hollow = joinSolids(&m, &hole);
  djTriangles mesh = viewOf(&m), shell = viewOf(&hollow);
  djPieces slit = {0}, whole = {0};
  djPieceReport report;
  for (int side = -1; side <= 1; side += 2) {
    move(&part, side * 0.505, 0, 0);
    move(&half, side * 0.5, 0, 0);
    assert_int_equal(dj_addPiece(&slit, 8, part.vert, NULL, 8, NULL), DJ_OK);
    assert_int_equal(dj_addPiece(&whole, 8, half.vert, NULL, 8, NULL), DJ_OK);
    move(&part, -side * 0.505, 0, 0);
    move(&half, -side * 0.5, 0, 0);
  }
  assert_int_equal(dj_comparePieces(&report, &slit, &mesh, NULL), DJ_OK);
  djt_near(report.volume_ratio, 0.99, 1e-7);
  assert_true(report.hausdorff < 0.02);
  assert_int_equal(dj_comparePieces(&report, &whole, &shell, NULL), DJ_OK);
  djt_near(report.volume_ratio, 8 / 7.936, 1e-7);
  djt_near(report.hausdorff, 0.8, 1e-4);
  dj_freePieces(&slit);
  dj_freePieces(&whole);
  freeSolid(&m);
  freeSolid(&part);
  freeSolid(&hole);
  freeSolid(&half);
  freeSolid(&hollow);
}

// Fewer hulls: those go together that add least to what they fill, within the vertices.
static void testMerge(void) {
  static const double at[3][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0, 0, 1}};
  djPieces pieces = {0};
  djError err = {""};
  for (int k = 0; k < 3; k++) { // the first overlaps the second and lies flat on the third
    SolidMesh box = makeBoxSolid(0.5, 0.5, 0.5);
    move(&box, at[k][0], at[k][1], at[k][2]);
    assert_int_equal(dj_addPiece(&pieces, 8, box.vert, NULL, 8, NULL), DJ_OK);
    freeSolid(&box);
  }
  assert_int_equal(dj_mergePieces(&pieces, 3, 8, &err), DJ_OK);
  assert_int_equal(pieces.n, 3);
  assert_int_equal(dj_mergePieces(&pieces, 2, 8, &err), DJ_OK);
  assert_int_equal(pieces.n, 2);
  djt_near(pieces.volume[0], 2, 1e-14);
  djt_near(pieces.volume[1], 1, 1e-14);
  assert_int_equal(dj_mergePieces(&pieces, 1, 9, &err), DJ_OK);
  assert_int_equal(pieces.n, 1);
  assert_in_range(pieces.hull[0].nvert, 4, 9);
  assert_int_equal(dj_mergePieces(&pieces, 0, 8, &err), DJ_INVALID);
  assert_int_equal(dj_mergePieces(&pieces, 1, 3, &err), DJ_INVALID);
  assert_int_equal(dj_mergePieces(NULL, 1, 4, &err), DJ_INVALID);
  dj_freePieces(&pieces);
  // A lattice of boxes: to halves and the whole, in any order of merging.
  const int grid[3] = {4, 2, 3};
  SolidMesh m = makeBoxSolid(1, 0.5, 0.75);
  djTriangles mesh = viewOf(&m);
  assert_int_equal(dj_cutBlocks(&pieces, &mesh, grid, 8, NULL, &err), DJ_OK);
  assert_int_equal(pieces.n, 24);
  for (int n = 23; n > 0; n--) {
    assert_int_equal(dj_mergePieces(&pieces, n, 8, &err), DJ_OK);
    assert_int_equal(pieces.n, n);
  }
  djt_near(pieces.volume[0], 3, 1e-12);
  assert_int_equal(pieces.hull[0].nvert, 8);
  dj_freePieces(&pieces);
  freeSolid(&m);
}

// Two boxes that share a half: exactly what they fill, once.
static void testOverlap(void) {
  SolidMesh m = makeBoxSolid(1, 1, 1), a = makeBoxSolid(0.6, 1, 1), b = makeBoxSolid(0.6, 1, 1);
  djTriangles mesh = viewOf(&m);
  djPieces pieces = {0};
  djPieceReport report;
  move(&a, -0.4, 0, 0);
  move(&b, 0.4, 0, 0);
  assert_int_equal(dj_addPiece(&pieces, 8, a.vert, NULL, 8, NULL), DJ_OK);
  assert_int_equal(dj_addPiece(&pieces, 8, b.vert, NULL, 8, NULL), DJ_OK);
  assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, NULL), DJ_OK);
  djt_near(report.volume_ratio, 1, 1e-8);
  djt_near(report.overlap, 1.6 / 9.6, 1e-8);
  assert_true(report.hausdorff < 1e-5);
  djt_near(dj_boundedVolume(&pieces.hull[0]), 4.8, 1e-14);
  // What is missing shows, too.
  pieces.n = 1;
  assert_int_equal(dj_comparePieces(&report, &pieces, &mesh, NULL), DJ_OK);
  djt_near(report.volume_ratio, 0.6, 1e-8);
  djt_near(report.hausdorff, 0.8, 1e-5);
  pieces.n = 2;
  dj_freePieces(&pieces);
  freeSolid(&m);
  freeSolid(&a);
  freeSolid(&b);
}

DJT_MAIN(testNoSolids, testCommonCorners, testShells, testBox, testL, testTorus, testPlanes,
         testNeighbours, testGrid, testHull, testFlatVertices, testInside, testOverlap, testMerge)
