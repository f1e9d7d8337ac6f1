// Families of implicit shapes: derivatives by place and by numbers against differences, radii
// against points of the surface, formulas against those of the paper, and bad numbers.

#include "common/implicit_case.h"
#include "common/test.h"

typedef struct Made {
  djtImplicit from;
  djImplicit shape;
  double mem[DJT_NUMBERS + 4 * 16];
} Made;

static void make(Made* m) {
  djError err = {""};
  const djImplicitRow* row = dj_implicitRow(m->from.given.family);
  assert_true(dj_implicitRoom(row, m->from.given.nface) <= DJT_NUMBERS + 64);
  djt_failIf(dj_makeImplicit(&m->shape, m->mem, row, m->from.given.nface, m->from.size, &err), "%s",
             err.text);
}

// The point of the surface along u.
static djVec3 onSurface(const djImplicit* shape, djVec3 u) {
  double low = shape->inner, high = shape->outer;
  for (int k = 0; k < 100; k++) {
    djImplicitPoint p;
    const double r = 0.5 * (low + high);
    shape->row->eval(&p, shape, dju_scale3(r, u));
    *(p.phi < 0 ? &low : &high) = r;
  }
  return dju_scale3(low, u);
}

static djVec3 direction(djRng* rng) {
  double u[3];
  djt_unitVector(u, rng);
  return dju_load3(u);
}

static double valueAt(const djImplicit* shape, djVec3 y, double g[3]) {
  djImplicitPoint p;
  shape->row->eval(&p, shape, y);
  if (g) dju_store3(g, p.g);
  return p.phi;
}

// (8 (f(h) - f(-h)) - (f(2h) - f(-2h)))/(12 h)
static double difference(const double f[4], double h) {
  return (8 * (f[1] - f[2]) - (f[0] - f[3])) / (12 * h);
}

// At points on the surface, inside and outside.
static void testDerivatives(void) {
  static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
  static const double STEP[4] = {2, 1, -1, -2};
  djRng rng = {1};
  double wrong = 0;
  for (int k = 0; k < 400; k++) {
    Made m;
    djt_implicitShape(&m.from, k % DJT_FAMILIES, k % 3 ? 1 : 0.01, djt_uniform(&rng, 4, 40), &rng);
    make(&m);
    const djVec3 u = direction(&rng);
    const djVec3 y = dju_scale3(djt_uniform(&rng, 0.7, 1.2), onSurface(&m.shape, u));
    djImplicitPoint p;
    m.shape.row->eval(&p, &m.shape, y);
    const double h = 1e-4 * m.shape.inner, g[3] = {p.g.x, p.g.y, p.g.z};
    const double size = dju_norm3(p.g);
    double H[9], bend = 0;
    for (int i = 0; i < 3; i++) {
      double f[4], dg[4][3], at[3];
      for (int j = 0; j < 4; j++) {
        dju_store3(at, y);
        at[i] += STEP[j] * h;
        f[j] = valueAt(&m.shape, dju_load3(at), dg[j]);
      }
      assert_true(fabs(difference(f, h) - g[i]) < 2e-8 * size);
      for (int j = 0; j < 3; j++) {
        const double d[4] = {dg[0][j], dg[1][j], dg[2][j], dg[3][j]};
        H[3 * j + i] = difference(d, h);
        bend = fmax(bend, fabs(H[3 * j + i]));
      }
    }
    bend = fmax(bend, size / m.shape.outer);
    for (int i = 0; i < 6; i++) {
      assert_true(fabs(H[3 * I[i] + J[i]] - p.H[i]) < 3e-6 * bend);
      wrong = fmax(wrong, fabs(H[3 * I[i] + J[i]] - p.H[(i + 1) % 6]) / bend);
    }
  }
  assert_true(wrong > 0.1); // others are not as near
}

static void testNumbers(void) {
  static const double STEP[4] = {2, 1, -1, -2};
  djRng rng = {2};
  for (int k = 0; k < 200; k++) {
    Made m, other;
    djt_implicitShape(&m.from, k % DJT_FAMILIES, 1, djt_uniform(&rng, 4, 40), &rng);
    make(&m);
    const djVec3 y = onSurface(&m.shape, direction(&rng));
    static const double one[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const int n = m.shape.nsize;
    double all[4 * DJT_NUMBERS + 1] = {0};
    const double *dphi = all, *dgrad = all + n;
    all[4 * n] = 7;
    dj_mapNumbers(all, 4, one, &m.shape, y);
    assert_true(all[4 * n] == 7); // nothing is written beyond
    djImplicitPoint p;
    m.shape.row->eval(&p, &m.shape, y);
    const double size = dju_norm3(p.g);
    for (int i = 0; i < n; i++) {
      const double h = 2e-4 * fmax(fabs(m.from.size[i]), 0.1);
      double f[4], g[4][3];
      for (int j = 0; j < 4; j++) {
        other.from = m.from;
        other.from.size[i] += STEP[j] * h;
        make(&other);
        f[j] = valueAt(&other.shape, y, g[j]);
      }
      assert_true(fabs(difference(f, h) - dphi[i]) < 1e-6 * (size + fabs(dphi[i])));
      for (int j = 0; j < 3; j++) {
        const double d[4] = {g[0][j], g[1][j], g[2][j], g[3][j]};
        const double by = dgrad[n * j + i];
        assert_true(fabs(difference(d, h) - by) < 1e-4 * (size + fabs(by)));
      }
    }
  }
}

// Every point of the surface lies between both balls; those of superquadrics touch it.
static void testRadii(void) {
  djRng rng = {3};
  for (int k = 0; k < 80; k++) {
    Made m;
    djt_implicitShape(&m.from, k % DJT_FAMILIES, 1, djt_uniform(&rng, 4, 200), &rng);
    make(&m);
    double least = INFINITY, most = 0;
    for (int i = 0; i < 400; i++) {
      const djVec3 u = direction(&rng);
      assert_true(valueAt(&m.shape, dju_scale3((1 - 1e-12) * m.shape.inner, u), NULL) < 0);
      assert_true(valueAt(&m.shape, dju_scale3((1 + 1e-12) * m.shape.outer, u), NULL) > -1e-14);
      const double r = dju_norm3(onSurface(&m.shape, u));
      least = fmin(least, r);
      most = fmax(most, r);
    }
    assert_true(m.shape.inner > 0.7 * least && m.shape.outer < 1.5 * most);
  }
  // (1, 2, 3) at n = 2: sqrt(1 + 16 + 81)^(1/2) at the point with u_i proportional to a_i^2
  Made m = {.from = {.size = {1, 2, 3, 2}}};
  m.from.given = (djcImplicitShape){"superellipsoid", 0, 4, m.from.size};
  make(&m);
  assert_true(fabs(m.shape.inner - 1) < 1e-15);
  assert_true(fabs(m.shape.outer - pow(98, 0.25)) < 1e-14);
}

// Points whose phi is known from the formulas.
static void testFormulas(void) {
  Made m = {.from = {.size = {1, 2, 3, 2.5}}};
  m.from.given = (djcImplicitShape){"superellipsoid", 0, 4, m.from.size};
  make(&m);
  double want = pow(pow(0.5, 5) + pow(0.25, 5) + pow(0.2, 5), 0.2) - 1;
  assert_true(fabs(valueAt(&m.shape, dju_vec3(-0.5, 0.5, 0.6), NULL) - want) < 1e-14);
  m.from = (djtImplicit){.size = {0.5, 2, 3}};
  m.from.given = (djcImplicitShape){"superelliptic_cylinder", 0, 3, m.from.size};
  make(&m);
  want = pow(pow((0.09 + 0.04) / 0.25, 3) + pow(0.5, 6), 1.0 / 6) - 1;
  assert_true(fabs(valueAt(&m.shape, dju_vec3(1, 0.3, -0.2), NULL) - want) < 1e-14);
  m.from = (djtImplicit){.size = {1, 0.5, 0.6, 0.4, 20}};
  m.from.given = (djcImplicitShape){"truncated_cone", 0, 5, m.from.size};
  make(&m);
  const double R = 1 - 0.5 * 0.7 / 1.0;
  const double c[3] = {0.13 / (R * R) - 1, -0.1 / 0.6 - 1, 0.1 / 0.4 - 1};
  want = log(exp(20 * c[0]) + exp(20 * c[1]) + exp(20 * c[2])) / 20;
  assert_true(fabs(valueAt(&m.shape, dju_vec3(0.1, 0.3, 0.2), NULL) - want) < 1e-14);
  m.from = (djtImplicit){
      .size = {1, 0, 0, -1, 0, 0, 0, 2, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 1, 1, 1, 1, 1, 1, 0.5, 3}};
  m.from.given = (djcImplicitShape){"smooth_polytope", 6, 26, m.from.size};
  make(&m);
  const double b[6] = {0.1 - 1, -0.1 - 1, 0.4 - 1, -0.2 - 1, 0.3 - 1, -0.3 - 1};
  want = 0;
  for (int i = 0; i < 6; i++) want += exp(3 * b[i] / 0.5);
  want = log(want) / 3;
  assert_true(fabs(valueAt(&m.shape, dju_vec3(0.1, 0.2, 0.3), NULL) - want) < 1e-14);
}

static void refused(const char* family, int nface, int nsize, const double* size, const char* why) {
  const djcImplicitShape shape = {family, nface, nsize, size};
  static const double ball[4] = {1, 1, 1, 1};
  const djcImplicitShape other = {"superellipsoid", 0, 4, ball};
  djcImplicitPair* pair = NULL;
  djError err = {""};
  assert_int_equal(djc_makeImplicitPair(&pair, &other, &shape, &err), DJ_INVALID);
  assert_null(pair);
  djt_failIf(!strstr(err.text, why) || strncmp(err.text, "b: ", 3) != 0, "'%s', not '%s'", err.text,
             why);
}

static void testBad(void) {
  refused("sphere", 0, 1, (double[]){1}, "unknown family 'sphere'");
  refused(NULL, 0, 1, (double[]){1}, "unknown family");
  refused("superellipsoid", 0, 3, (double[]){1, 1, 1}, "has 4 numbers, not 3");
  refused("superellipsoid", 0, 4, (double[]){1, 1, 1, 0.9}, "n = 0.9 must be at least 1");
  refused("superellipsoid", 0, 4, (double[]){1, -1, 1, 2}, "b = -1 must be positive");
  refused("superellipsoid", 0, 4, (double[]){1, NAN, 1, 2}, "number 1 is not finite");
  refused("superellipsoid", 0, 4, (double[]){1, 1e300, 1, 2}, "larger than 1e20");
  refused("superellipsoid", 0, 4, (double[]){1e-300, 1e-300, 1e-300, 2}, "too small");
  refused("superellipsoid", 0, 4, (double[]){1, 1e-10, 1, 2}, "too far apart");
  refused("superelliptic_cylinder", 0, 3, (double[]){0, 1, 2}, "R = 0 must be positive");
  refused("truncated_cone", 0, 5, (double[]){1, 0, 1, 1, 20}, "Rt = 0 must be positive");
  refused("truncated_cone", 0, 5, (double[]){1, 1, 1, 1, 0.5}, "beta = 0.5 must be at least 1");
  double box[26] = {1, 0, 0, -1, 0,  0, 0, 1, 0, 0, -1, 0, 0,
                    0, 1, 0, 0,  -1, 1, 1, 1, 1, 1, 1,  1, 20};
  box[25] = 1.5;
  refused("smooth_polytope", 6, 26, box, "the origin is not inside");
  box[25] = 20;
  box[18] = -0.1;
  refused("smooth_polytope", 6, 26, box, "b[0] = -0.1: the origin must be inside");
  box[18] = 1;
  box[0] = -1; // nothing on that side
  refused("smooth_polytope", 6, 26, box, "do not bound it");
  refused("smooth_polytope", 0, 2, (double[]){1, 20}, "do not bound it");
  refused("smooth_polytope", -1, 2, (double[]){1, 20}, "nface = -1");
  refused("superellipsoid", 3, 14, box, "nface = 3");
}

DJT_MAIN(testDerivatives, testNumbers, testRadii, testFormulas, testBad)
