// The table of geom types: names, derivatives by sizes against differences, and that the largest
// ball, the erosion vectors and the volumes are those of the vertices. A new row is tested, too.

#include "common/random_shape.h"
#include "common/test.h"
#include "model/geom_row.h"
#include "shape/curve.h"

#include <dijoco/model.h>

enum { MAX_VERTICES = 64, NDIRECTION = 3000 };

static void near(double a, double b, double tolerance) {
  if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
}

// Calls a test with each type that has vertices, at sizes of which none equals another.
static void forEach(void (*test)(const djGeomRow*, double*, Random*)) {
  Random r = {3};
  int count = 0;
  for (int type = 0; type < DJ_NGEOMTYPE; type++) {
    const djGeomRow* row = dj_geomRow(type);
    if (row->nvert == 0) continue;
    assert_true(row->convex && row->nvert <= MAX_VERTICES && row->nsize > 0);
    for (int trial = 0; trial < 20; trial++, count++) {
      double size[3];
      for (int k = 0; k < 3; k++) size[k] = uniform(&r, 0.1, 1);
      test(row, size, &r);
    }
  }
  assert_true(count > 0);
}

// Numbers of a row: vertices along c, erosion vectors along c, semi-axes along c, inner radius,
// volume, squares.
enum { NNUMBER = 2 * MAX_VERTICES + 6 };
static void numbers(double* x, const djGeomRow* row, const double* size, djVec3 c) {
  djVec3 vertex, move;
  double axes[3] = {0}, by[3];
  djSolid solid;
  memset(x, 0, NNUMBER * sizeof *x);
  for (int i = 0; i < row->nvert; i++) {
    dj_geomVertex(&vertex, &move, row, size, i);
    *x++ = dju_dot3(c, vertex);
    *x++ = dju_dot3(c, move);
  }
  if (row->curve) row->curve->axes(axes, size);
  *x++ = dju_dot3(c, dju_load3(axes));
  *x++ = row->inner(by, size);
  row->solid(&solid, size);
  *x++ = solid.volume[0];
  for (int k = 0; k < 3; k++) *x++ = solid.square[k][0];
}

static void derivatives(double (*by)[3], const djGeomRow* row, const double* size, djVec3 c) {
  djSolid solid;
  memset(by, 0, NNUMBER * sizeof *by);
  for (int i = 0; i < row->nvert; i++, by += 2) {
    if (row->vertexParams) row->vertexParams(*by, c, size, i);
  }
  double axes[3];
  dju_store3(axes, c);
  if (row->curve) row->curve->axesParams(*by, axes, size);
  row->inner(by[1], size);
  row->solid(&solid, size);
  for (int k = 0; k < 3; k++) {
    by[2][k] = solid.volume[1 + k];
    for (int j = 0; j < 3; j++) by[3 + j][k] = solid.square[j][1 + k];
  }
}

static void checkDerivatives(const djGeomRow* row, double* size, Random* r) {
  double low[NNUMBER], high[NNUMBER], by[NNUMBER][3], e = 1e-5;
  djVec3 c = randomUnit(r);
  derivatives(by, row, size, c);
  for (int k = 0; k < 3; k++) {
    double s = size[k];
    size[k] = s + e;
    numbers(high, row, size, c);
    size[k] = s - e;
    numbers(low, row, size, c);
    size[k] = s;
    for (int i = 0; i < NNUMBER; i++) near((high[i] - low[i]) / (2 * e), by[i][k], 1e-7);
  }
}

static void testDerivatives(void) { forEach(checkDerivatives); }

// How far the shape reaches along n, eroded by e: vertices and radius alone.
static double reach(const djGeomRow* row, const double* size, djVec3 n, double e) {
  double most = -INFINITY, axes[3], round = row->round ? size[0] - e : 0;
  for (int i = 0; i < row->nvert; i++) {
    djVec3 v, move;
    dj_geomVertex(&v, &move, row, size, i);
    most = fmax(most, dju_dot3(n, dju_madd3(v, -e, move)));
  }
  if (row->curve) {
    row->curve->axes(axes, size);
    djMat3 G = dj_scaleColumns(dju_eye3(), axes);
    round = dj_curveReach(NULL, NULL, &G, n);
  }
  return most + round;
}

// The ball of the inner radius is inside and touches; what is eroded is e away from the surface.
static void checkReach(const djGeomRow* row, double* size, Random* r) {
  double by[3], inner = row->inner(by, size), least = INFINITY;
  for (int i = 0; i < NDIRECTION; i++) {
    djVec3 n = i < 3 ? dju_vec3(i == 0, i == 1, i == 2) : randomUnit(r);
    double h = reach(row, size, n, 0);
    assert_true(h >= inner * (1 - 1e-12));
    if (!row->curve) assert_true(reach(row, size, n, 0.3 * inner) <= h - 0.3 * inner + 1e-12);
    least = fmin(least, h);
  }
  assert_true(least < 1.05 * inner);
}

static void testReach(void) { forEach(checkReach); }

// Volume and squares as the tetrahedra of the hull have them, of types with flat facets; of all
// types as lengths want it: sum of size * derivative = 3 V and 5 S.
static void checkSolid(const djGeomRow* row, double* size, Random* r) {
  (void)r;
  djSolid s;
  double vert[3 * MAX_VERTICES], volume = 0, square[3] = {0}, sum[4] = {0};
  row->solid(&s, size);
  for (int k = 0; k < 3; k++) {
    sum[3] += size[k] * s.volume[1 + k];
    for (int j = 0; j < 3; j++) sum[j] += size[k] * s.square[j][1 + k];
  }
  near(sum[3], 3 * s.volume[0], 1e-12);
  for (int j = 0; j < 3; j++) near(sum[j], 5 * s.square[j][0], 1e-12);
  if (row->curve || row->round) return;
  for (int i = 0; i < row->nvert; i++) {
    djVec3 v, move;
    dj_geomVertex(&v, &move, row, size, i);
    dju_store3(vert + 3 * i, v);
  }
  djHull hull;
  assert_int_equal(dj_makeHull(&hull, row->nvert, vert, 0, NULL, NULL), DJ_OK);
  for (int f = 0; f < hull.nface; f++) {
    const double* x[3];
    for (int k = 0; k < 3; k++) x[k] = hull.vert + 3 * hull.face[3 * f + k];
    double d = dju_dot3(dju_load3(x[0]), dju_cross3(dju_load3(x[1]), dju_load3(x[2])));
    volume += d / 6;
    for (int k = 0; k < 3; k++) {
      double total = x[0][k] + x[1][k] + x[2][k];
      square[k] += d / 120 * total * total;
      for (int j = 0; j < 3; j++) square[k] += d / 120 * x[j][k] * x[j][k];
    }
  }
  dj_freeHull(&hull);
  near(volume, s.volume[0], 1e-12);
  for (int k = 0; k < 3; k++) near(square[k], s.square[k][0], 1e-12);
}

static void testSolid(void) { forEach(checkSolid); }

static void testNames(void) {
  int nsize;
  for (int a = 0; a < DJ_NGEOMTYPE; a++) {
    const char* name = dj_geomName(&nsize, (djGeomType)a);
    assert_true(name[0] != '\0');
    assert_int_equal(dj_geomNames[a].value, a);
    assert_int_equal(nsize, a == DJ_HFIELD || a == DJ_MESH ? -1 : dj_geomRow(a)->nsize);
    for (int b = 0; b < a; b++) assert_string_not_equal(dj_geomName(NULL, (djGeomType)b), name);
  }
  assert_null(dj_geomNames[DJ_NGEOMTYPE].name);
  assert_string_equal(dj_geomName(&nsize, DJ_CYLINDER), "cylinder");
  assert_int_equal(nsize, 2);
  for (int k = 0; k < 2; k++) {
    int beyond = k ? -1 : DJ_NGEOMTYPE;
    assert_null(dj_geomRow(beyond));
    assert_string_equal(dj_geomName(&nsize, (djGeomType)beyond), "");
    assert_int_equal(nsize, -1);
  }
}

DJT_MAIN(testNames, testDerivatives, testReach, testSolid)
