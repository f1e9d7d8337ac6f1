// Distance fields of meshes: nearest points against brute force, signs against winding numbers,
// values against exact distances, derivatives by places and vertices against differences, and the
// refusal of meshes that bound no solid.

#include "common/near.h"
#include "common/random.h"
#include "common/solid_mesh.h"
#include "shape/field.h"
#include "shape/grid.h"
#include "shape/grid_memory.h"
#include "shape/mesh_closed.h"
#include "shape/mesh_tree.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define CHECK(x) assert_true(x)

// ------------------------------------------ meshes ---------------------------------------------

// A box in a box, whose triangles face inward: hollow.
static SolidMesh makeHollow(void) {
  SolidMesh out = makeBoxSolid(0.5, 0.4, 0.3), in = makeBoxSolid(0.3, 0.2, 0.1);
  turnInsideOut(&in, 0);
  SolidMesh both = joinSolids(&out, &in);
  freeSolid(&out);
  freeSolid(&in);
  return both;
}

static SolidMesh makeSample(int which) {
  switch (which) {
    case 0: return makeBoxSolid(0.3, 0.2, 0.1);
    case 1: return makeL();
    case 2: return makeTorus(0.5, 0.2, 20, 10);
    default: return makeHollow();
  }
}
enum { NSAMPLE = 4 };

static djGrid makeGrid(const SolidMesh* m) {
  djGrid grid;
  djError err = {""};
  djStatus status = dj_makeGrid(&grid, m->nvert, m->vert, m->ntri, m->tri, NULL, &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
  return grid;
}

// In the grid's box, or out of it by so much.
static void randomPlace(double x[3], djRng* rng, const djGrid* g, double times) {
  for (int k = 0; k < 3; k++) {
    x[k] = g->box[k] + times * g->box[3 + k] * djt_uniform(rng, -1, 1);
  }
}

static double leastSpacing(const djGrid* g) { return fmin(g->h[0], fmin(g->h[1], g->h[2])); }

// Distance to triangle abc by its plane and edges, apart from the code under test.
static double toTriangle(const double* a, const double* b, const double* c, const double x[3]) {
  const double* corner[3] = {a, b, c};
  djVec3 p = dju_load3(x), n = dju_cross3(dju_sub3(dju_load3(b), dju_load3(a)),
                                          dju_sub3(dju_load3(c), dju_load3(a)));
  double least = INFINITY;
  bool above = true;
  for (int k = 0; k < 3; k++) {
    djVec3 from = dju_load3(corner[k]);
    djVec3 e = dju_sub3(dju_load3(corner[(k + 1) % 3]), from), r = dju_sub3(p, from);
    double s = fmin(fmax(dju_dot3(e, r) / dju_dot3(e, e), 0), 1);
    least = fmin(least, dju_norm3(dju_madd3(r, -s, e)));
    above = above && dju_dot3(dju_cross3(n, e), r) >= 0;
  }
  djVec3 r = dju_sub3(p, dju_load3(a));
  return above ? fmin(least, fabs(dju_dot3(n, r)) / dju_norm3(n)) : least;
}

static double bruteDistance(const SolidMesh* m, const double x[3]) {
  double least = INFINITY;
  for (int t = 0; t < m->ntri; t++) {
    const int* v = m->tri + 3 * t;
    least = fmin(least, toTriangle(m->vert + 3 * v[0], m->vert + 3 * v[1], m->vert + 3 * v[2], x));
  }
  return least;
}

// Solid angle of all triangles over 4 pi (van Oosterom and Strackee 1983): 1 inside, 0 outside.
static double winding(const SolidMesh* m, const double x[3]) {
  double sum = 0;
  for (int t = 0; t < m->ntri; t++) {
    djVec3 r[3];
    double l[3];
    for (int k = 0; k < 3; k++) {
      r[k] = dju_sub3(dju_load3(m->vert + 3 * m->tri[3 * t + k]), dju_load3(x));
      l[k] = dju_norm3(r[k]);
    }
    double above = dju_dot3(r[0], dju_cross3(r[1], r[2]));
    double below = l[0] * l[1] * l[2] + dju_dot3(r[0], r[1]) * l[2] + dju_dot3(r[1], r[2]) * l[0] +
                   dju_dot3(r[2], r[0]) * l[1];
    sum += 2 * atan2(above, below);
  }
  return sum / (4 * 3.14159265358979323846);
}

static double bruteSigned(const SolidMesh* m, const double x[3]) {
  return (winding(m, x) > 0.5 ? -1 : 1) * bruteDistance(m, x);
}

// ------------------------------------------ nearest points -------------------------------------

static void testNearest(void** state) {
  (void)state;
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

// ------------------------------------------ values ---------------------------------------------

static double exactOf(int which, const SolidMesh* m, const double x[3]) {
  if (which == 0) {
    double q[3], out = 0;
    for (int k = 0; k < 3; k++) {
      q[k] = fabs(x[k]) - (0.3 - 0.1 * k);
      out = hypot(out, fmax(q[k], 0));
    }
    return out > 0 ? out : fmax(q[0], fmax(q[1], q[2]));
  }
  return which == 1 ? distanceOfL(x) : bruteSigned(m, x);
}

// The error is below half a cell everywhere, at the surface what the grid says, and none where the
// distance is a cubic over the spline's nodes: near the middle of faces.
static void testValues(void** state) {
  (void)state;
  djRng rng = {2};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m);
    double worst = 0, outside = 0;
    for (int trial = 0; trial < 4000; trial++) {
      double x[3];
      randomPlace(x, &rng, &g, 1);
      double exact = exactOf(which, &m, x), error = fabs(dj_gridAt(NULL, NULL, &g, x) - exact);
      worst = fmax(worst, error);
      if (exact > 0) outside = fmax(outside, error);
    }
    print_message("sample %d: %d x %d x %d nodes, cell %.3g, error %.2g inside, %.2g outside; "
                  "%.2g, rms %.2g near the surface\n", which, g.n[0], g.n[1], g.n[2], g.h[0],
                  worst, outside, g.error, g.rms);
    CHECK(worst < 0.75 * g.h[0] && g.error < 0.5 * g.h[0] && g.rms < 0.1 * g.h[0]);
    double most = 0;
    for (int trial = 0; trial < 2000; trial++) {   // on the surface
      double x[3] = {0, 0, 0}, w[3];
      const int* v = m.tri + 3 * djt_integer(&rng, m.ntri);
      djt_uniforms(w, 3, &rng, 0, 1);
      double sum = w[0] + w[1] + w[2];
      for (int k = 0; k < 9; k++) x[k % 3] += w[k / 3] / sum * m.vert[3 * v[k / 3] + k % 3];
      most = fmax(most, fabs(dj_gridAt(NULL, NULL, &g, x)));
    }
    CHECK(most <= 1.02 * g.error && most > 0);
    CHECK(g.rms > 0 && g.rms < g.error);
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

static void testFaces(void** state) {
  (void)state;
  djRng rng = {3};
  SolidMesh m = makeBoxSolid(0.3, 0.2, 0.1);
  djGrid g = makeGrid(&m);
  djDistanceField field = {.type = DJ_MESH, .grid = &g};
  djDistanceField box = {.type = DJ_BOX, .size = {0.3, 0.2, 0.1}};
  for (int trial = 0; trial < 300; trial++) {
    double x[3];
    int axis = trial % 3;
    for (int k = 0; k < 3; k++) x[k] = 0.3 * box.size[k] * djt_uniform(&rng, -1, 1);
    x[axis] = copysign(box.size[axis] + 0.2 * g.h[axis] * djt_uniform(&rng, -1, 1), x[axis]);
    djFieldAt at, exact;
    dj_fieldAt(&at, &field, x);
    dj_fieldAt(&exact, &box, x);
    djt_near(at.distance, exact.distance, 1e-14);
    for (int k = 0; k < 3; k++) {
      djt_near(at.gradient[k], exact.gradient[k], 1e-12);
      djt_near(at.normal[k], exact.normal[k], 1e-12);
    }
    for (int k = 0; k < 9; k++) djt_near(at.turn[k], 0, 1e-9);
    CHECK(at.ridge == DJ_RIDGE_NONE);
  }
  const double middle[3] = {0, 0, 0};
  djFieldAt at;
  dj_fieldAt(&at, &field, middle);
  CHECK(at.ridge == DJ_RIDGE_MEDIAL && at.ridge_distance == 0);
  djt_near(at.distance, -0.1, 0.5 * g.h[2]);
  djt_near(dju_norm3(dju_load3(at.normal)), 1, 1e-14);
  dj_freeGrid(&g);
  freeSolid(&m);
}

// A field as exact as the shape is smooth: with twice the cells the error of a fine torus falls to
// a sixteenth, until that of its triangles remains.
static void testTorus(void** state) {
  (void)state;
  djRng rng = {4};
  SolidMesh m = makeTorus(0.5, 0.2, 160, 80);
  djGrid g = makeGrid(&m);
  djDistanceField field = {.type = DJ_MESH, .grid = &g};
  double chord = 0.7 * (1 - cos(3.1416 / 160)) + 0.2 * (1 - cos(3.1416 / 80)), turn = 0;
  for (int trial = 0; trial < 2000; trial++) {
    double u = djt_uniform(&rng, 0, 6.2832), w = djt_uniform(&rng, 0, 6.2832);
    double r = 0.2 + 0.04 * djt_uniform(&rng, -2, 1), cw = cos(w), sw = sin(w);
    const double x[3] = {(0.5 + r * cw) * cos(u), (0.5 + r * cw) * sin(u), r * sw};
    const double n[3] = {cw * cos(u), cw * sin(u), sw};
    djFieldAt at;
    dj_fieldAt(&at, &field, x);
    djt_near(at.distance, r - 0.2, 2 * chord + 2e-5);
    for (int k = 0; k < 3; k++) djt_near(at.normal[k], n[k], 0.02);
    // mean curvature: 1/r and cos w/(0.5 + r cos w)
    double exact = 1 / r + cw / (0.5 + r * cw);
    turn = fmax(turn, fabs(at.turn[0] + at.turn[4] + at.turn[8] - exact));
  }
  CHECK(turn < 1.5 && turn > 0);
  dj_freeGrid(&g);
  freeSolid(&m);
}

// Beyond the box it is less than the distance, at most by what it is there, and nearly that far
// away; within its reach it is the distance.
static void testBeyond(void** state) {
  (void)state;
  djRng rng = {10};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m), wide;
    djError err = {""};
    const double reach = 0.25;
    assert_int_equal(
        dj_makeGridReaching(&wide, m.nvert, m.vert, m.ntri, m.tri, reach, NULL, &err), DJ_OK);
    CHECK(wide.reach == reach && g.reach == 0);
    int out = 0;
    for (int trial = 0; trial < 3000; trial++) {
      double x[3], y[3], away = 0, in = 0, cell = fmax(g.h[0], fmax(g.h[1], g.h[2]));
      randomPlace(x, &rng, &g, trial % 2 ? 1.2 : 20);
      for (int k = 0; k < 3; k++) {
        y[k] = g.box[k] + fmin(fmax(x[k] - g.box[k], -g.box[3 + k]), g.box[3 + k]);
        away = hypot(away, x[k] - y[k]);
        in = fmax(in, fabs(x[k] - wide.box[k]) - wide.box[3 + k]);
      }
      double exact = exactOf(which, &m, x), d = dj_gridAt(NULL, NULL, &g, x);
      if (in <= 0) djt_near(dj_gridAt(NULL, NULL, &wide, x), exact, 0.75 * wide.h[0]);
      if (away < 1e-9) continue;
      out++;
      CHECK(d > 0 && d <= exact + 0.5 * cell);
      CHECK(d >= hypot(away, exactOf(which, &m, y)) - 2 * cell && d >= 0.7 * exact - cell);
    }
    CHECK(out > 1000);
    for (int k = 0; k < 3; k++) CHECK(wide.box[3 + k] >= m.vert[k] + reach);
    dj_freeGrid(&g);
    assert_int_equal(
        dj_makeGridReaching(&g, m.nvert, m.vert, m.ntri, m.tri, -1, NULL, &err), DJ_INVALID);
    assert_string_equal(err.text, "the reach of a grid is not -1 m");
    assert_int_equal(
        dj_makeGridReaching(&g, m.nvert, m.vert, m.ntri, m.tri, NAN, NULL, &err), DJ_INVALID);
    CHECK(dj_moveGrid(&g, &wide, m.vert, &err) == DJ_OK && g.reach == reach);
    dj_freeGrid(&g);
    dj_freeGrid(&wide);
    freeSolid(&m);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

// In the box, in the band about it and beyond.
static void testDerivatives(void** state) {
  (void)state;
  djRng rng = {5};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m);
    djDistanceField field = {.type = DJ_MESH, .grid = &g};
    int band = 0;
    for (int trial = 0; trial < 1500; trial++) {
      double x[3], y[3], h = 1e-4 * leastSpacing(&g);
      randomPlace(x, &rng, &g, trial % 3 ? 1 : 1.3);
      djFieldAt at, up, down;
      dj_fieldAt(&at, &field, x);
      bool out = false;
      for (int k = 0; k < 3; k++) out = out || fabs(x[k] - g.box[k]) > g.box[3 + k];
      band += out;
      if (out) CHECK(at.distance > 0);
      double length = dju_norm3(dju_load3(at.gradient));
      if (length < 0.05) continue;    // n turns fast
      for (int k = 0; k < 3; k++) {
        memcpy(y, x, sizeof y);
        y[k] = x[k] + h;
        dj_fieldAt(&up, &field, y);
        y[k] = x[k] - h;
        dj_fieldAt(&down, &field, y);
        djt_near((up.distance - down.distance) / (2 * h), at.gradient[k], 1e-7);
        for (int j = 0; j < 3; j++) {
          double slope = (up.normal[j] - down.normal[j]) / (2 * h);
          djt_near(slope, at.turn[3 * j + k], 1e-5 / (length * length * leastSpacing(&g)));
        }
      }
    }
    CHECK(band > 150);
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

// Second derivatives do not jump: between cells, where the box ends, where the band ends.
static void testSmooth(void** state) {
  (void)state;
  djRng rng = {6};
  SolidMesh m = makeL();
  djGrid g = makeGrid(&m);
  double third = 0;
  for (int trial = 0; trial < 3000; trial++) {
    double x[3], gradient[2][3], H[2][6], tiny = 1e-9;
    int axis = djt_integer(&rng, 3), kind = trial % 4;
    randomPlace(x, &rng, &g, 1.05);
    if (kind < 2) {
      x[axis] = g.low[axis] + g.h[axis] * (1 + djt_integer(&rng, g.n[axis] - 2));
    } else {
      x[axis] = g.box[axis] + (kind == 2 ? 1 : -1) * g.box[3 + axis] +
                (trial % 8 < 4 ? 0 : (kind == 2 ? 2 : -2) * g.h[axis]);
    }
    double at = x[axis], value[2];
    for (int s = 0; s < 2; s++) {
      x[axis] = at + (s ? tiny : -tiny);
      value[s] = dj_gridAt(gradient[s], H[s], &g, x);
    }
    djt_near(value[0], value[1], 10 * tiny);
    for (int k = 0; k < 3; k++) djt_near(gradient[0][k], gradient[1][k], 10 * tiny / g.h[0]);
    for (int k = 0; k < 6; k++) third = fmax(third, fabs(H[0][k] - H[1][k]) / (2 * tiny));
  }
  CHECK(third < 30 / (g.h[0] * g.h[0]));
  dj_freeGrid(&g);
  freeSolid(&m);
}

static void testBound(void** state) {
  (void)state;
  djRng rng = {7};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m);
    djDistanceField field = {.type = DJ_MESH, .grid = &g};
    int skipped = 0, near = 0;
    for (int trial = 0; trial < 2000; trial++) {
      double x[3], y[3], v[3];
      randomPlace(x, &rng, &g, trial % 2 ? 1 : 4);
      double radius = g.box[3] * exp(djt_uniform(&rng, -5, 0));
      double bound = dj_fieldBound(&field, x, radius), exact = exactOf(which, &m, x);
      for (int k = 0; k < 10; k++) {
        djt_unitVector(v, &rng);
        double length = k < 5 ? radius : radius * djt_uniform(&rng, 0, 1);
        for (int j = 0; j < 3; j++) y[j] = x[j] + length * v[j];
        double d = dj_gridAt(NULL, NULL, &g, y);
        if (!(bound <= d + 1e-12)) fail_msg("sample %d: bound %g, %g there", which, bound, d);
        CHECK(fabs(d - dj_gridAt(NULL, NULL, &g, x)) <= g.lipschitz * length + 1e-12);
      }
      if (exact <= 2 * radius + 8 * g.h[0]) continue;
      near++;
      skipped += bound >= 0;
    }
    CHECK(near > 100 && skipped == near);   // what is clearly apart is skipped
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

// ------------------------------------------ vertices -------------------------------------------

// By vertices moved along a random direction, on the same lattice: where the nearest points of
// nodes stay on their triangles' parts the field is smooth, so that extrapolated differences agree;
// few places have a node that changes.
static void testVertices(void** state) {
  (void)state;
  djRng rng = {8};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m);
    djDistanceField field = {.type = DJ_MESH, .grid = &g};
    enum { N = 200 };
    double place[N][3], by_normal[N][3], analytic[N], difference[N] = {0};
    double* along = calloc(3 * (size_t)m.nvert, sizeof *along);
    double* grad = calloc(3 * (size_t)m.nvert, sizeof *grad);
    double* moved = calloc(3 * (size_t)m.nvert, sizeof *moved);
    djt_uniforms(along, 3 * m.nvert, &rng, -1, 1);
    int n = 0, inside = 0;
    while (n < N) {
      randomPlace(place[n], &rng, &g, n % 4 ? 1 : 1.15);
      djFieldAt at;
      dj_fieldAt(&at, &field, place[n]);
      if (n % 2 && fabs(at.distance) > 3 * g.h[0]) continue;
      if (dju_norm3(dju_load3(at.gradient)) < 0.5) continue;
      inside += at.distance < 0;
      djt_uniforms(by_normal[n], 3, &rng, -0.1, 0.1);
      memset(grad, 0, 3 * (size_t)m.nvert * sizeof *grad);
      dj_fieldVertices(grad, &field, place[n], 1, by_normal[n]);
      analytic[n] = 0;
      for (int k = 0; k < 3 * m.nvert; k++) analytic[n] += grad[k] * along[k];
      n++;
    }
    const double weight[4] = {8, -8, -1, 1}, offset[4] = {1, -1, 2, -2}, h = 1e-6;
    for (int i = 0; i < 4; i++) {
      djGrid there;
      djError err = {""};
      for (int k = 0; k < 3 * m.nvert; k++) moved[k] = m.vert[k] + offset[i] * h * along[k];
      if (dj_moveGrid(&there, &g, moved, &err) != DJ_OK) fail_msg("%s", err.text);
      djDistanceField f = {.type = DJ_MESH, .grid = &there};
      for (int p = 0; p < N; p++) {
        djFieldAt at;
        dj_fieldAt(&at, &f, place[p]);
        double value = at.distance + dju_dot3(dju_load3(by_normal[p]), dju_load3(at.normal));
        difference[p] += weight[i] * value / (12 * h);
      }
      dj_freeGrid(&there);
    }
    int right = 0;
    double size = 0;
    for (int p = 0; p < N; p++) {
      right += fabs(difference[p] - analytic[p]) < 1e-7 * (1 + fabs(analytic[p]));
      size += fabs(analytic[p]) / N;
    }
    print_message("sample %d: %d of %d derivatives by vertices as differences\n", which, right, N);
    CHECK(right >= 0.98 * N && size > 0.1 && inside > 20);
    free(along);
    free(grad);
    free(moved);
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

// All vertices moved alike are the field moved: the derivative sums to minus the gradient, and
// minus the turning of the normal. In the box alone, as it stays.
static void testSums(void** state) {
  (void)state;
  djRng rng = {9};
  SolidMesh m = makeL();
  djGrid g = makeGrid(&m);
  djDistanceField field = {.type = DJ_MESH, .grid = &g};
  double* grad = malloc(3 * (size_t)m.nvert * sizeof *grad);
  for (int trial = 0; trial < 200; trial++) {
    double x[3], none[3] = {0, 0, 0};
    djFieldAt at;
    // near the middle of the flat arm's top, where the field is exact
    x[0] = djt_uniform(&rng, 0.45, 0.8);
    x[1] = djt_uniform(&rng, 0.15, 0.25);
    x[2] = 0.25 + 0.02 * djt_uniform(&rng, -1, 1);
    dj_fieldAt(&at, &field, x);
    memset(grad, 0, 3 * (size_t)m.nvert * sizeof *grad);
    dj_fieldVertices(grad, &field, x, 1, none);
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int i = 0; i < m.nvert; i++) sum += grad[3 * i + k];
      djt_near(sum, -at.gradient[k], 1e-12);
    }
  }
  free(grad);
  dj_freeGrid(&g);
  freeSolid(&m);
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

static void testMoves(void** state) {
  (void)state;
  djError err = {""};
  SolidMesh m = makeL();
  djGrid g = makeGrid(&m), again = makeGrid(&m), copy, moved;
  CHECK(sameGrid(&g, &again));
  CHECK(dj_copyGrid(&copy, &g) == DJ_OK && sameGrid(&g, &copy) && copy.coef != g.coef);
  CHECK(dj_moveGrid(&moved, &g, m.vert, &err) == DJ_OK && sameGrid(&g, &moved));
  dj_freeGrid(&moved);
  CHECK(moved.buffer == NULL);
  m.vert[0] -= 0.5 * g.h[0];
  CHECK(dj_moveGrid(&moved, &g, m.vert, &err) == DJ_OK && !sameGrid(&g, &moved));
  dj_freeGrid(&moved);
  m.vert[0] -= 0.6 * g.h[0];
  assert_int_equal(dj_moveGrid(&moved, &g, m.vert, &err), DJ_INVALID);
  assert_string_equal(err.text, "the mesh leaves the box of its grid");
  CHECK(moved.buffer == NULL);
  dj_freeGrid(&again);
  dj_freeGrid(&copy);
  dj_freeGrid(&g);
  CHECK(dj_copyGrid(&copy, &g) == DJ_OK && copy.buffer == NULL);   // none of none
  assert_int_equal(dj_moveGrid(&moved, &g, m.vert, &err), DJ_INVALID);
  dj_freeGrid(NULL);
  freeSolid(&m);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void __libc_free(void* old);

static long countdown = -1;   // allocations until one fails; negative: none does
static long live;             // blocks that are not released

static bool fails(void) { return countdown >= 0 && countdown-- == 0; }

void* malloc(size_t size) {
  void* block = fails() ? NULL : __libc_malloc(size);
  live += block != NULL;
  return block;
}

void* calloc(size_t count, size_t size) {
  void* block = fails() ? NULL : __libc_calloc(count, size);
  live += block != NULL;
  return block;
}

void free(void* old) {
  live -= old != NULL;
  __libc_free(old);
}

// Each allocation fails in turn: that is said, and all that was taken is released.
static void testMemory(void** state) {
  (void)state;
  SolidMesh m = makeBoxSolid(1, 0.2, 0.2);
  djGrid g, copy;
  djError err = {""};
  long before = live;
  int failed = 0;
  for (;; failed++) {
    countdown = failed;
    djStatus status = dj_makeGrid(&g, m.nvert, m.vert, m.ntri, m.tri, NULL, &err);
    bool fired = countdown < 0;
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

static void testMemory(void** state) {
  (void)state;
  skip();
}

#endif

// The arrays are apart, and zero.
static void testBlock(void** state) {
  (void)state;
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
static void testSizes(void** state) {
  (void)state;
  const double size[][3] = {{1, 1, 1}, {1, 1, 1e-3}, {1, 1e-2, 1e-2}, {1e-6, 2e-6, 3e-6},
                            {1e4, 1e3, 1e4}};
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

static void testWatch(void** state) {
  (void)state;
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

static void testRefused(void** state) {
  (void)state;
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
  SolidMesh twice = joinSolids(&good, &good);   // every edge four times
  for (int i = 36; i < 72; i++) twice.tri[i] -= 8;
  refuse(&twice, "the edge of vertices 0 and 1 is of 4 triangles");
  SolidMesh nested = joinSolids(&good, &small);   // both outward
  refuse(&nested, "the surface crosses itself, or holds another, near (");
  for (int i = 0; i < 8; i++) small.vert[3 * i] += 1;
  SolidMesh crossing = joinSolids(&good, &small);
  refuse(&crossing, "the surface crosses itself, or holds another, near (");
  for (int i = 0; i < 8; i++) small.vert[3 * i] += 1;
  SolidMesh apart = joinSolids(&good, &small);   // two solids are lawful
  djGrid g = makeGrid(&apart);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){0, 0, 0}) < -0.9);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){2, 0, 0}) < -0.4);
  CHECK(dj_gridAt(NULL, NULL, &g, (const double[]){1.25, 0, 0}) > 0.2);
  dj_freeGrid(&g);
  SolidMesh* all[] = {&m, &small, &good, &twice, &nested, &crossing, &apart};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) freeSolid(all[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testNearest),     cmocka_unit_test(testValues),
      cmocka_unit_test(testFaces),       cmocka_unit_test(testTorus),
      cmocka_unit_test(testBeyond),      cmocka_unit_test(testDerivatives), cmocka_unit_test(testSmooth),
      cmocka_unit_test(testBound),       cmocka_unit_test(testVertices),
      cmocka_unit_test(testSums),        cmocka_unit_test(testMoves),
      cmocka_unit_test(testMemory),      cmocka_unit_test(testBlock),
      cmocka_unit_test(testSizes),       cmocka_unit_test(testWatch),
      cmocka_unit_test(testRefused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
