// Grids of meshes: nearest points against brute force, signs against winding numbers, moves, copies
// and memory, and the refusal of meshes that bound no solid.

#include "common/counted_memory.h"
#include "common/grid_case.h"
#include "common/test.h"
#include "shape/grid_memory.h"
#include "shape/mesh_closed.h"
#include "shape/mesh_tree.h"

#include <time.h>

// ------------------------------------------ nearest points -------------------------------------

static void testNearest(void) {
  djRng rng = {1};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m);
    djMeshTree tree;
    djMeshNormals normals;
    assert_int_equal(dj_makeMeshTree(&tree, m.vert, m.ntri, m.tri), DJ_OK);
    assert_int_equal(dj_makeMeshNormals(&normals, m.nvert, m.vert, m.ntri, m.tri), DJ_OK);
    int parts[7] = {0};
    for (int trial = 0; trial < 3000; trial++) {
      double x[3];
      randomPlace(x, &rng, &g, trial % 4 ? 1 : 3);
      djMeshNear near;
      dj_nearestOnMesh(&near, &tree, dju_load3(x), djt_integer(&rng, m.ntri));
      djt_near(sqrt(near.square), bruteDistance(&m, x), 1e-14);
      CHECK(dj_isInsideMesh(&normals, m.tri, &near) == (winding(&m, x) > 0.5));
      djVec3 y = dju_sub3(dju_load3(x), near.away);
      double sum = 0;
      for (int k = 0; k < 3; k++) {
        CHECK(near.bary[k] >= -1e-15 && near.bary[k] <= 1 + 1e-15);
        y = dju_madd3(y, -near.bary[k], dju_load3(m.vert + 3 * m.tri[3 * near.tri + k]));
        sum += near.bary[k];
      }
      djt_near(sum, 1, 1e-15);
      djt_near(dju_norm3(y), 0, 1e-14);
      CHECK(near.part >= 0 && near.part < 7);
      parts[near.part]++;
    }
    for (int k = 0; k < 7; k++) CHECK(parts[k] > 0);
    dj_freeMeshTree(&tree);
    dj_freeMeshNormals(&normals);
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

// ------------------------------------------ memory, moves --------------------------------------

static bool sameGrid(const djGrid* a, const djGrid* b) {
  size_t nodes = (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2];
  return memcmp(a->n, b->n, sizeof a->n) == 0 && memcmp(a->low, b->low, sizeof a->low) == 0 &&
         memcmp(a->h, b->h, sizeof a->h) == 0 && memcmp(a->box, b->box, sizeof a->box) == 0 &&
         a->error == b->error && a->rms == b->rms && a->lipschitz == b->lipschitz &&
         memcmp(a->coef, b->coef, nodes * sizeof *a->coef) == 0 &&
         memcmp(a->near, b->near, nodes * sizeof *a->near) == 0 &&
         memcmp(a->bary, b->bary, 2 * nodes * sizeof *a->bary) == 0;
}

static void testMoves(void) {
  djError err = {""};
  SolidMesh m = makeL();
  djGrid g = makeGrid(&m), again = makeGrid(&m), copy, moved;
  CHECK(sameGrid(&g, &again));
  CHECK(dj_copyGrid(&copy, &g) == DJ_OK && sameGrid(&g, &copy) && copy.coef != g.coef);
  CHECK(dj_moveGrid(&moved, &g, m.vert, 0, &err) == DJ_OK && sameGrid(&g, &moved));
  dj_freeGrid(&moved);
  CHECK(moved.buffer == NULL);
  m.vert[0] -= 0.5 * g.h[0];
  CHECK(dj_moveGrid(&moved, &g, m.vert, 0, &err) == DJ_OK && !sameGrid(&g, &moved));
  dj_freeGrid(&moved);
  // on a lattice of its own, which does not depend on the way there, and does not move with it
  djGrid far, beside;
  for (int k = 0; k < 3; k++) {
    const double by = k == 0 ? 1.6 : k == 1 ? 3 : 0.4;
    for (int i = 0; i < 3 * m.nvert; i++) m.vert[i] *= by;
    CHECK(dj_moveGrid(&moved, &g, m.vert, 0, &err) == DJ_OK);
    CHECK(dj_moveGrid(&far, &again, m.vert, 0, &err) == DJ_OK && sameGrid(&moved, &far));
    dj_freeGrid(&again);
    again = far;
    m.vert[0] += 1e-5 * moved.h[0];
    CHECK(dj_moveGrid(&beside, &g, m.vert, 0, &err) == DJ_OK);
    CHECK(memcmp(beside.low, moved.low, sizeof moved.low) == 0 && beside.h[0] == moved.h[0]);
    m.vert[0] -= 1e-5 * moved.h[0];
    CHECK(memcmp(moved.low, g.low, sizeof g.low) != 0);
    CHECK(moved.error < 0.7 * moved.h[0]);
    dj_freeGrid(&moved);
    dj_freeGrid(&beside);
    for (int i = 0; i < 3 * m.nvert; i++) m.vert[i] /= by;
  }
  dj_freeGrid(&again);
  dj_freeGrid(&copy);
  dj_freeGrid(&g);
  CHECK(dj_copyGrid(&copy, &g) == DJ_OK && copy.buffer == NULL); // none of none
  assert_int_equal(dj_moveGrid(&moved, &g, m.vert, 0, &err), DJ_INVALID);
  dj_freeGrid(NULL);
  freeSolid(&m);
}

#if DJT_COUNTED_MEMORY

// Each allocation fails in turn: that is said, and all that was taken is released.
static void testMemory(void) {
  SolidMesh m = makeBoxSolid(1, 0.2, 0.2);
  djGrid g, copy;
  djError err = {""};
  long before = live;
  int failed = 0;
  for (;; failed++) {
    fired = false;
    countdown = failed;
    djStatus status = dj_makeGrid(&g, m.nvert, m.vert, m.ntri, m.tri, NULL, &err);
    countdown = -1;
    if (!fired) {
      assert_int_equal(status, DJ_OK);
      break;
    }
    assert_int_equal(status, DJ_NO_MEMORY);
    CHECK(g.buffer == NULL && live == before);
    assert_string_equal(err.text, "out of memory");
  }
  CHECK(failed > 8 && live == before + 1);
  countdown = 0;
  assert_int_equal(dj_copyGrid(&copy, &g), DJ_NO_MEMORY);
  CHECK(copy.buffer == NULL && copy.coef == NULL);
  dj_freeGrid(&g);
  CHECK(live == before);
  freeSolid(&m);
}

#else

static void testMemory(void) { skip(); }

#endif

// The arrays are apart, and zero.
static void testBlock(void) {
  djGrid g = {.n = {2, 3, 4}, .nvert = 5, .ntri = 6};
  assert_int_equal(dj_allocGrid(&g), DJ_OK);
  int count = 0;
  for (int i = 0; i < 24; i++) count += g.coef[i] == 0 && g.near[i]++ == 0;
  for (int i = 0; i < 24; i++) g.coef[i] = 1;
  for (int i = 0; i < 48; i++) count += g.bary[i]++ == 0;
  for (int i = 0; i < 15; i++) count += g.vert[i]++ == 0;
  for (int i = 0; i < 18; i++) count += g.normal[i]++ == 0;
  for (int i = 0; i < 18; i++) count += g.tri[i]++ == 0;
  assert_int_equal(count, 24 + 48 + 15 + 18 + 18);
  dj_freeGrid(&g);
}

// Flat meshes, long ones and large ones stay within the bound.
static void testSizes(void) {
  const double size[][3] = {
      {1, 1, 1}, {1, 1, 1e-3}, {1, 1e-2, 1e-2}, {1e-6, 2e-6, 3e-6}, {1e4, 1e3, 1e4}};
  for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
    SolidMesh m = makeBoxSolid(size[i][0], size[i][1], size[i][2]);
    djGrid g = makeGrid(&m);
    double nodes = (double)g.n[0] * g.n[1] * g.n[2];
    const double middle[3] = {0, 0, 0};
    double depth = fmin(size[i][0], fmin(size[i][1], size[i][2]));
    CHECK(nodes <= DJ_GRID_NODES);
    djt_near(dj_gridAt(NULL, NULL, &g, middle), -depth, 0.2 * depth);
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

static int giveUp(void* user, double done) {
  (void)user;
  return done > 0.3;
}

static void testWatch(void) {
  SolidMesh m = makeL();
  djWatch watch = {giveUp, NULL};
  djGrid g;
  djError err = {""};
  assert_int_equal(dj_makeGrid(&g, m.nvert, m.vert, m.ntri, m.tri, &watch, &err), DJ_CANCELLED);
  CHECK(g.buffer == NULL);
  freeSolid(&m);
}

// ------------------------------------------ bad meshes -----------------------------------------

static void refuse(const SolidMesh* m, const char* text) {
  djGrid g;
  djError err = {""};
  assert_int_equal(dj_makeGrid(&g, m->nvert, m->vert, m->ntri, m->tri, NULL, &err), DJ_INVALID);
  if (!strstr(err.text, text)) fail_msg("\"%s\", not \"%s\"", err.text, text);
  CHECK(g.buffer == NULL);
  assert_int_equal(dj_makeGrid(&g, m->nvert, m->vert, m->ntri, m->tri, NULL, NULL), DJ_INVALID);
}

static void testRefused(void) {
  SolidMesh m = makeBoxSolid(1, 1, 1), small = makeBoxSolid(0.5, 0.5, 0.5);
  djError err = {""};
  assert_int_equal(dj_makeGrid(NULL, 0, NULL, 0, NULL, NULL, &err), DJ_INVALID);
  m.ntri = 0;
  refuse(&m, "the mesh has no triangles");
  m.ntri = 11;
  refuse(&m, "the mesh is open: the edge of vertices 3 and 4 is of triangle 10 alone");
  m.ntri = 12;
  turnInsideOut(&m, 11);
  refuse(&m, "triangles 10 and 11, with the edge of vertices 3 and 4, have opposite windings");
  turnInsideOut(&m, 11);
  turnInsideOut(&m, 0);
  refuse(&m, "the triangles face inward: the volume is -8 m^3");
  turnInsideOut(&m, 0);
  m.vert[5] = NAN;
  refuse(&m, "vertex 1 is not finite");
  m.vert[5] = -1;
  m.tri[7] = 8;
  refuse(&m, "triangle 2: there is no vertex 8");
  m.tri[7] = -1;
  refuse(&m, "triangle 2: there is no vertex -1");
  SolidMesh good = makeBoxSolid(1, 1, 1);
  m.tri[7] = good.tri[7];
  m.tri[1] = m.tri[0];
  refuse(&m, "triangle 0 (vertices 0, 0, 1) has no area");
  m.tri[1] = good.tri[1];
  for (int i = 0; i < 8; i++) m.vert[3 * i + 2] = 1;
  refuse(&m, "has no area");
  SolidMesh twice = joinSolids(&good, &good); // every edge four times
  for (int i = 36; i < 72; i++) twice.tri[i] -= 8;
  refuse(&twice, "the edge of vertices 0 and 1 is of 4 triangles");
  SolidMesh nested = joinSolids(&good, &small); // both outward
  refuse(&nested, "the surface crosses itself, or holds another, near (");
  for (int i = 0; i < 8; i++) small.vert[3 * i] += 1;
  SolidMesh crossing = joinSolids(&good, &small);
  refuse(&crossing, "the surface crosses itself, or holds another, near (");
  for (int i = 0; i < 8; i++) small.vert[3 * i] += 1;
  SolidMesh apart = joinSolids(&good, &small); // two solids are lawful
  djGrid g = makeGrid(&apart);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){0, 0, 0}) < -0.9);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){2, 0, 0}) < -0.4);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){1.25, 0, 0}) > 0.2);
  dj_freeGrid(&g);
  SolidMesh* all[] = {&m, &small, &good, &twice, &nested, &crossing, &apart};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) freeSolid(all[i]);
}

// Processor time of a grid, s.
static double timeOf(int nvert, const double* vert, int ntri, const int* tri) {
  djGrid g;
  const clock_t begin = clock();
  assert_int_equal(dj_makeGrid(&g, nvert, vert, ntri, tri, NULL, NULL), DJ_OK);
  const double took = (double)(clock() - begin) / CLOCKS_PER_SEC;
  CHECK(g.error >= 0 && g.error < 2 * fmax(g.h[0], fmax(g.h[1], g.h[2])));
  dj_freeGrid(&g);
  return took;
}

// The points at which the error is measured are as many as the surface asks for, also on splinters
// with two or three long edges.
static void testSplinters(void) {
  static const int tri[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  static const double needle[12] = {0, 0, 0, 1000, 0, 0, 0, 1, 0, 0, 0, 1};
  static const double knife[12] = {0, 0, 0, 1000, 0, 0, 500, 1, 0, 500, 0, 1};
  static const double plain[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double usual = fmax(timeOf(4, plain, 4, tri), 1e-3);
  CHECK(timeOf(4, needle, 4, tri) < 4 * usual);
  CHECK(timeOf(4, knife, 4, tri) < 4 * usual);
}

DJT_MAIN(testNearest, testMoves, testMemory, testBlock, testSizes, testWatch, testRefused,
         testSplinters)
