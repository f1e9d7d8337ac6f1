// Distance fields of meshes: values against exact distances, derivatives by places and vertices
// against differences, smoothness, bounds.

#include "common/grid_case.h"
#include "common/test.h"
#include "shape/field.h"

// ------------------------------------------ values ---------------------------------------------

static double exactOf(int which, const SolidMesh* m, const double x[3]) {
  if (which == 0) {
    double q[3], out = 0;
    for (int k = 0; k < 3; k++) {
      q[k] = fabs(x[k]) - PLATE[k];
      out = hypot(out, fmax(q[k], 0));
    }
    return out > 0 ? out : fmax(q[0], fmax(q[1], q[2]));
  }
  return which == 1 ? distanceOfL(x) : bruteSigned(m, x);
}

// The error is below half a cell everywhere, at the surface what the grid says, and none where the
// distance is a cubic over the spline's nodes: near the middle of faces.
static void testValues(void) {
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
                  "%.2g, rms %.2g near the surface\n",
                  which, g.n[0], g.n[1], g.n[2], g.h[0], worst, outside, g.error, g.rms);
    CHECK(worst < 0.75 * g.h[0] && g.error < 0.5 * g.h[0] && g.rms < 0.1 * g.h[0]);
    double most = 0;
    for (int trial = 0; trial < 2000; trial++) { // on the surface
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

static void testFaces(void) {
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
static void testTorus(void) {
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
static void testBeyond(void) {
  djRng rng = {10};
  for (int which = 0; which < NSAMPLE; which++) {
    SolidMesh m = makeSample(which);
    djGrid g = makeGrid(&m), wide;
    djError err = {""};
    const double reach = 0.25;
    assert_int_equal(dj_makeGridReaching(&wide, m.nvert, m.vert, m.ntri, m.tri, reach, NULL, &err),
                     DJ_OK);
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
    assert_int_equal(dj_makeGridReaching(&g, m.nvert, m.vert, m.ntri, m.tri, -1, NULL, &err),
                     DJ_INVALID);
    assert_string_equal(err.text, "the reach of a grid is not -1 m");
    assert_int_equal(dj_makeGridReaching(&g, m.nvert, m.vert, m.ntri, m.tri, NAN, NULL, &err),
                     DJ_INVALID);
    CHECK(dj_moveGrid(&g, &wide, m.vert, reach, &err) == DJ_OK && g.reach == reach);
    dj_freeGrid(&g);
    dj_freeGrid(&wide);
    freeSolid(&m);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

// In the box, in the band about it and beyond.
static void testDerivatives(void) {
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
      djt_near(dj_gridAt(NULL, NULL, &g, x), at.distance, 1e-14);
      double length = dju_norm3(dju_load3(at.gradient));
      if (length < 0.05) continue; // n turns fast
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
static void testSmooth(void) {
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

static void testBound(void) {
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
    CHECK(near > 100 && skipped == near); // what is clearly apart is skipped
    dj_freeGrid(&g);
    freeSolid(&m);
  }
}

// ------------------------------------------ vertices -------------------------------------------

// By vertices moved along a random direction, on the same lattice: where the nearest points of
// nodes stay on their triangles' parts the field is smooth, so that extrapolated differences agree;
// few places have a node that changes.
static void testVertices(void) {
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
      if (n % 3)
        dj_fieldVertices(grad, &field, place[n], 1, by_normal[n]);
      else
        dj_gridVertices(grad, &g, place[n], 1, by_normal[n]); // of the gradient
      analytic[n] = 0;
      for (int k = 0; k < 3 * m.nvert; k++) analytic[n] += grad[k] * along[k];
      n++;
    }
    const double weight[4] = {8, -8, -1, 1}, offset[4] = {1, -1, 2, -2}, h = 1e-6;
    for (int i = 0; i < 4; i++) {
      djGrid there;
      djError err = {""};
      for (int k = 0; k < 3 * m.nvert; k++) moved[k] = m.vert[k] + offset[i] * h * along[k];
      if (dj_moveGrid(&there, &g, moved, 0, &err) != DJ_OK) fail_msg("%s", err.text);
      djDistanceField f = {.type = DJ_MESH, .grid = &there};
      for (int p = 0; p < N; p++) {
        djFieldAt at;
        dj_fieldAt(&at, &f, place[p]);
        const double* by = p % 3 ? at.normal : at.gradient;
        double value = at.distance + dju_dot3(dju_load3(by_normal[p]), dju_load3(by));
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
static void testSums(void) {
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

DJT_MAIN(testValues, testFaces, testTorus, testBeyond, testDerivatives, testSmooth, testBound,
         testVertices, testSums)
