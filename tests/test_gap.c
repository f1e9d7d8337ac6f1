// Smoothed gaps: against exact distances, closed forms and differences; smoothness where exact
// distances have none; hard cases.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "math/so3.h"

#include <dijoco/contact.h>

#define CHECK(x) assert_true(x)

enum { kTypes = 7, kMesh = 40 };
static const djGeomType kType[kTypes] = {DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER,
                                         DJ_BOX,    DJ_MESH,    DJ_PLANE};

// Two shapes in frames of their own, and where these are.
typedef struct Case {
  djcShape shape[2];
  double vert[2][3 * kMesh];
  djVec3 pos[2];
  djQuat quat[2];
  djcGapPair* pair;
} Case;

static djcShape geomOf(djGeomType type, double x, double y, double z) {
  return (djcShape){.geom = type, .size = {x, y, z}, .quat = {1}};
}

static void setShape(Case* c, int side, djGeomType type, double size, Random* r) {
  djcShape* s = &c->shape[side];
  *s = geomOf(type, 0, 0, 0);
  for (int k = 0; k < 3; k++) s->size[k] = size * uniform(r, 0.3, 1);
  if (type != DJ_MESH) return;
  s->nvert = kMesh;
  s->vert = c->vert[side];
  cloud(r, below(r, 4), kMesh, c->vert[side]);
  for (int i = 0; i < 3 * kMesh; i++) c->vert[side][i] *= size;
}

static void makePair(Case* c, double smoothing) {
  djError err;
  djStatus status = djc_makeGapPair(&c->pair, 1, &c->shape[0], 1, &c->shape[1], smoothing, &err);
  if (status) fail_msg("%s", err.text);
}

static djStatus eval(djcGap* g, const Case* c) {
  double pos[2][3];
  djMat3 R[2];
  for (int k = 0; k < 2; k++) {
    dju_store3(pos[k], c->pos[k]);
    R[k] = dju_quatToMat(c->quat[k]);
  }
  return djc_evalGapPair(g, c->pair, pos[0], R[0].m, pos[1], R[1].m);
}

// The shapes in the world; vertices are written to vert.
static void worldShapes(djcShape out[2], double vert[2][3 * kMesh], const Case* c) {
  for (int k = 0; k < 2; k++) {
    djPose T = {c->pos[k], dju_quatToMat(c->quat[k])};
    out[k] = c->shape[k];
    dju_store3(out[k].origin, T.p);
    dju_store3(out[k].pos, T.p);
    dju_storeQuat(out[k].quat, c->quat[k]);
    for (int i = 0; i < out[k].nvert; i++) {
      dju_store3(vert[k] + 3 * i, dju_transform(&T, dju_load3(c->vert[k] + 3 * i)));
    }
    if (out[k].nvert > 0) out[k].vert = vert[k];
  }
}

// Random poses with the smoothed gap as wanted. near: z faces parallel up to that angle; < 0: not.
static void place(Case* c, Random* r, double size, double gap, double near) {
  djcGap g;
  djVec3 away = randomUnit(r);
  c->pos[0] = dju_scale3(size, randomUnit(r));
  c->quat[0] = randomQuat(r);
  c->quat[1] = randomQuat(r);
  if (near >= 0) {
    c->quat[1] = dju_mulQuat(smallQuat(r, near), c->quat[0]);
    away = dju_add3(dju_vec3(0, 0, 1), randomPoint(r, 0.1, 0.1, 0));
    away = dju_mulMV(dju_quatToMat(c->quat[0]), away);
  }
  c->pos[1] = dju_madd3(c->pos[0], 4 * size, away);
  for (int k = 0; k < 30; k++) {
    CHECK(eval(&g, c) == DJ_OK);
    if (fabs(g.gap - gap) < 1e-9 * size) break;
    c->pos[1] = dju_madd3(c->pos[1], gap - g.gap, dju_load3(g.normal));
  }
}

// ------------------------------------------ values ---------------------------------------------

// The smoothed shapes lie inside the true ones, by no more than stated.
static void testBound(void) {
  Random r = {11};
  for (int i = 0; i < 4000; i++) {
    Case c;
    double gap, n[3], a[3], b[3], vert[2][3 * kMesh], worst = 0, size = logUniform(&r, 1e-3, 1e3);
    djcShape world[2];
    djGeomType type[2];
    for (int k = 0; k < 2; k++) type[k] = kType[below(&r, k == 0 ? kTypes - 1 : kTypes)];
    for (int k = 0; k < 2; k++) {
      setShape(&c, k, type[k], size, &r);
      worst += type[k] == DJ_MESH ? 60 : type[k] == DJ_BOX ? sqrt(3) - 0.5 : 0.62;
    }
    makePair(&c, below(&r, 2) ? -1 : size * logUniform(&r, 1e-6, 1e-1));
    place(&c, &r, size, size * (i % 2 ? uniform(&r, 0, 0.5) : uniform(&r, -0.01, 0.01)), -1);
    djcGap g;
    CHECK(eval(&g, &c) == DJ_OK);
    worldShapes(world, vert, &c);
    CHECK(djc_distance(&gap, n, a, b, &world[0], &world[1]) == DJ_OK);
    double part = (g.gap - gap) / g.smoothing, unit = 1e-9 * size / g.smoothing;
    djt_failIf(!(part > -unit && part < worst + unit),
               "case %d, types %d %d: smoothed %g, exact %g, smoothing %g", i, type[0], type[1],
               g.gap, gap, g.smoothing);
    djc_deleteGapPair(c.pair);
  }
}

static djcGap gapOf(const djcShape* a, const djcShape* b, double smoothing) {
  djcGap g;
  djStatus status = djc_gap(&g, a, b, smoothing);
  if (status) fail_msg("status %d", status);
  return g;
}

static void checkVector(const double x[3], double a, double b, double c, double tolerance) {
  double d = fmax(fmax(fabs(x[0] - a), fabs(x[1] - b)), fabs(x[2] - c));
  if (!(d <= tolerance)) fail_msg("%g %g %g, not %g %g %g", x[0], x[1], x[2], a, b, c);
}

// Faces of boxes, capsules and cylinders, spheres, ellipsoids and planes stay where they are.
static void testClosedForms(void) {
  const double smoothing[] = {-1, 1e-6, 1e-3, 0.02};
  for (int k = 0; k < 4; k++) {
    double t = smoothing[k];
    djcShape plane = geomOf(DJ_PLANE, 0, 0, 0), box = geomOf(DJ_BOX, 0.1, 0.2, 0.3);
    box.pos[2] = 0.5;
    djcGap g = gapOf(&box, &plane, t);
    djt_near(g.gap, 0.2, 1e-12);
    checkVector(g.normal, 0, 0, -1, 1e-14);
    checkVector(g.point_a, 0, 0, 0.2, 1e-12);
    checkVector(g.point_b, 0, 0, 0, 1e-12);
    g = gapOf(&plane, &box, t);
    djt_near(g.gap, 0.2, 1e-12);
    checkVector(g.normal, 0, 0, 1, 1e-14);
    checkVector(g.point_b, 0, 0, 0.2, 1e-12);

    djcShape top = geomOf(DJ_BOX, 0.3, 0.2, 0.1);
    top.pos[2] = 1;
    top.pos[0] = 0.1;
    g = gapOf(&box, &top, t);
    // the faces overlap from -0.1 to 0.1; both are domed by the same share
    if (k < 3) djt_near(g.gap, 0.1, fmax(g.smoothing, 1e-9));
    CHECK(g.point_a[0] > -0.1 && g.point_a[0] < 0.1 && fabs(g.point_a[1]) < 1e-9);

    djcShape low = geomOf(DJ_CAPSULE, 0.1, 0.4, 0), high = low;
    high.pos[0] = 0.5;
    g = gapOf(&low, &high, t);
    djt_near(g.gap, 0.3, 1e-12);
    checkVector(g.point_a, 0.1, 0, 0, 1e-9);
    high.geom = DJ_CYLINDER;
    g = gapOf(&low, &high, t);
    djt_near(g.gap, 0.3, 1e-12);
    high.pos[0] = 0;
    high.pos[2] = 1.5;
    high.geom = low.geom = DJ_CYLINDER;
    g = gapOf(&low, &high, t);
    djt_near(g.gap, 0.7, 1e-12);

    djcShape ball = geomOf(DJ_SPHERE, 0.25, 0, 0), other = geomOf(DJ_SPHERE, 0.5, 0, 0);
    ball.pos[1] = 3;
    ball.pos[2] = -4;
    g = gapOf(&other, &ball, t);
    djt_near(g.gap, 4.25, 1e-12);
    checkVector(g.normal, 0, 0.6, -0.8, 1e-12);
    checkVector(g.point_b, 0, 2.85, -3.8, 1e-12);

    djcShape egg = geomOf(DJ_ELLIPSOID, 0.1, 0.2, 0.3);
    djVec3 n = {0.36, 0.48, 0.8};
    plane.quat[0] = sqrt(0.9);   // z to n
    plane.quat[1] = -0.48 / (2 * sqrt(0.9));
    plane.quat[2] = 0.36 / (2 * sqrt(0.9));
    g = gapOf(&egg, &plane, t);
    double reach = sqrt(n.x * n.x * 0.01 + n.y * n.y * 0.04 + n.z * n.z * 0.09);
    djt_near(g.gap, -reach, 1e-12);
    checkVector(g.point_a, -n.x * 0.01 / reach, -n.y * 0.04 / reach, -n.z * 0.09 / reach, 1e-12);
  }
}

// smoothing = 0: djc_distance, and the derivative of the gap alone.
static void testExact(void) {
  Random r = {5};
  for (int i = 0; i < 300; i++) {
    Case c;
    djcShape world[2];
    double gap, n[3], a[3], b[3], vert[2][3 * kMesh];
    for (int k = 0; k < 2; k++) setShape(&c, k, kType[below(&r, kTypes - 1 + k)], 1, &r);
    makePair(&c, -1);
    place(&c, &r, 1, uniform(&r, 0.01, 0.5), -1);
    worldShapes(world, vert, &c);
    djcGap g = gapOf(&world[0], &world[1], 0), smooth;
    CHECK(djc_distance(&gap, n, a, b, &world[0], &world[1]) == DJ_OK);
    CHECK(eval(&smooth, &c) == DJ_OK);
    djt_near(g.gap, gap, 1e-12);
    checkVector(g.normal, n[0], n[1], n[2], 1e-9);
    if (c.shape[1].geom != DJ_PLANE) {
      djt_near(g.gap_twist[9], n[0], 1e-9);
      CHECK(g.normal_twist[3] == 0);
    }
    djc_deleteGapPair(c.pair);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

static void pack(double y[10], const djcGap* g) {
  y[0] = g->gap;
  for (int k = 0; k < 3; k++) {
    y[1 + k] = g->normal[k];
    y[4 + k] = g->point_a[k];
    y[7 + k] = g->point_b[k];
  }
}

// y at exp(e x) of the poses
static void moved(double y[10], const Case* c, const double x[12], double e) {
  Case m = *c;
  djcGap g;
  for (int k = 0; k < 2; k++) {
    m.quat[k] = dju_mulQuat(dju_expQuat(dju_scale3(e, dju_load3(x + 6 * k))), c->quat[k]);
    m.pos[k] = dju_madd3(c->pos[k], e, dju_load3(x + 6 * k + 3));
  }
  CHECK(eval(&g, &m) == DJ_OK);
  pack(y, &g);
}

static void along(double dy[10], const djcGap* g, const double x[12]) {
  memset(dy, 0, 10 * sizeof(double));
  for (int k = 0; k < 12; k++) {
    dy[0] += g->gap_twist[k] * x[k];
    for (int j = 0; j < 3; j++) {
      dy[1 + j] += g->normal_twist[12 * j + k] * x[k];
      dy[4 + j] += g->point_a_twist[12 * j + k] * x[k];
      dy[7 + j] += g->point_b_twist[12 * j + k] * x[k];
    }
  }
}

typedef struct Slope {
  double worst;            // relative error of extrapolated differences
  int steep, flat;         // Taylor remainders that fall by 4 per halving, and those that do not
} Slope;

// Largest error of central differences with steps e, e/2, e/4, extrapolated, relative to `rate`,
// and the slope of the remainders y(e) - y - e dy; 2 where these are rounding.
static double compare(double* slope, const Case* c, const djcGap* g, const double x[12],
                      const double dy[10], double e, double rate, double size) {
  double y0[10], y[2][3][10], rest[3] = {0}, worst = 0;
  pack(y0, g);
  for (int k = 0; k < 3; k++) {
    for (int side = 0; side < 2; side++) moved(y[side][k], c, x, (side ? -e : e) / (1 << k));
  }
  for (int i = 0; i < 10; i++) {
    double unit = i > 0 && i < 4 ? rate : size * rate, d[3];
    for (int k = 0; k < 3; k++) {
      double h = e / (1 << k);
      d[k] = (y[0][k][i] - y[1][k][i]) / (2 * h);
      rest[k] += fabs(y[0][k][i] - y0[i] - h * dy[i]) / unit;
    }
    double b = d[1] + (d[1] - d[0]) / 3, a = d[2] + (d[2] - d[1]) / 3;
    worst = djt_worst(worst, fabs(a + (a - b) / 15 - dy[i]) / unit);
  }
  *slope = rest[0] < 1e-11 ? 2 : log2(rest[0] / rest[1]);
  return worst;
}

// Along a random twist, with the best of some steps: how fast things bend differs.
static void checkCase(Slope* s, const Case* c, Random* r, double size) {
  djcGap g;
  double x[12], dy[10], rate = 1, least = INFINITY, best = 0;
  for (int k = 0; k < 12; k++) x[k] = uniform(r, -1, 1) * (k % 6 < 3 ? 1 : size);
  CHECK(eval(&g, c) == DJ_OK);
  along(dy, &g, x);
  for (int i = 1; i < 10; i++) rate += fabs(dy[i]) / (i < 4 ? 1 : size);
  for (double e = 1e-3; e > 2e-7; e *= 0.4) {
    double slope, error = compare(&slope, c, &g, x, dy, e / rate, rate, size);
    if (error < least) {
      least = error;
      best = slope;
    }
  }
  if (!(least <= s->worst)) s->worst = least;
  if (best > 1.9 && best < 2.1) {
    s->steep++;
  } else {
    s->flat++;
  }
}

// All pairs of types; separated, touching and overlapping; parallel faces, exactly or nearly.
static void testDerivatives(void) {
  Random r = {21};
  Slope s = {0};
  for (int i = 0; i < 40 * (kTypes - 1) * kTypes; i++) {
    Case c;
    double size = i % 3 ? 1 : logUniform(&r, 1e-3, 1e3);
    setShape(&c, 0, kType[i % (kTypes - 1)], size, &r);
    setShape(&c, 1, kType[i / (kTypes - 1) % kTypes], size, &r);
    makePair(&c, i % 2 ? -1 : size * logUniform(&r, 1e-4, 1e-2));
    static const double near[] = {-1, -1, 0, 1e-6, 1e-3, 0.1};
    static const double gap[] = {0.5, 0.01, 0, -3e-4};
    double wanted = size * gap[below(&r, 4)];
    place(&c, &r, size, wanted, near[below(&r, 6)]);
    checkCase(&s, &c, &r, size);
    djc_deleteGapPair(c.pair);
  }
  print_message("worst %.2g; slope 2: %d of %d\n", s.worst, s.steep, s.steep + s.flat);
  CHECK(s.worst < 1e-6);
  CHECK(s.flat < s.steep / 50);
}

// The check itself sees a derivative that is wrong by a part in a thousand.
static void testWrongDerivative(void) {
  Random r = {3};
  Case c;
  djcGap g;
  double x[12], y[2][10], dy[10];
  setShape(&c, 0, DJ_BOX, 1, &r);
  setShape(&c, 1, DJ_MESH, 1, &r);
  makePair(&c, 1e-2);
  place(&c, &r, 1, 0.1, -1);
  CHECK(eval(&g, &c) == DJ_OK);
  for (int k = 0; k < 12; k++) x[k] = uniform(&r, -1, 1);
  g.point_a_twist[7] *= 1.001;
  along(dy, &g, x);
  moved(y[0], &c, x, 1e-5);
  moved(y[1], &c, x, -1e-5);
  double error = 0;
  for (int i = 0; i < 10; i++) error = djt_worst(error, fabs((y[0][i] - y[1][i]) / 2e-5 - dy[i]));
  CHECK(error > 1e-5);
  djc_deleteGapPair(c.pair);
}

// ------------------------------------------ smoothness -----------------------------------------

// Largest second difference of the witness point on a, per square of the step, on a sweep of a box
// over an edge and a face of another.
static double bend(double smoothing, int n) {
  Case c = {.shape = {geomOf(DJ_BOX, 0.5, 0.5, 0.5), geomOf(DJ_BOX, 0.2, 0.3, 0.1)}};
  makePair(&c, smoothing);
  c.quat[0] = (djQuat){1, 0, 0, 0};
  double last[3][3] = {{0}}, worst = 0;
  for (int i = 0; i <= n; i++) {
    double s = (double)i / n;
    djcGap g;
    c.pos[1] = dju_vec3(1.6 * s - 0.8, 0.1, 0.9);
    c.quat[1] = dju_expQuat(dju_vec3(0, 0.6 * s - 0.3, 0));
    CHECK(eval(&g, &c) >= 0);
    memmove(last[0], last[1], 2 * sizeof last[0]);
    memcpy(last[2], g.point_a, sizeof last[2]);
    for (int k = 0; k < 3 && i > 1; k++) {
      worst = djt_worst(worst, fabs(last[2][k] - 2 * last[1][k] + last[0][k]) * n * n);
    }
  }
  djc_deleteGapPair(c.pair);
  return worst;
}

// Refining the steps does not change the second derivative; that of the exact distance grows as n^2
// where points jump.
static void testSmooth(void) {
  double coarse = bend(0.02, 20000), fine = bend(0.02, 80000);
  double rough = bend(0, 20000), rougher = bend(0, 80000);
  CHECK(fine < 1.05 * coarse && fine > 0.95 * coarse);
  CHECK(rougher > 10 * rough && rough > 100 * coarse);
}

// A path of pose b: turns by s w, moves by s v, for s from -1 to 1.
typedef struct Path {
  djVec3 w, v;
} Path;

// Largest difference between what y changes by and the trapezoidal rule on its derivatives, on a
// path in n steps, while the gap is above `least`. *touched: the path crosses contact.
static double drift(bool* touched, const Case* start, const Path* path, int n, double least) {
  double worst = 0, y[2][10], dy[2][10], low = INFINITY, high = -INFINITY;
  for (int i = 0; i <= n; i++) {
    double s = 2.0 * i / n - 1, x[12] = {0};
    Case c = *start;
    djcGap g;
    c.quat[1] = dju_mulQuat(dju_expQuat(dju_scale3(s, path->w)), start->quat[1]);
    c.pos[1] = dju_madd3(start->pos[1], s, path->v);
    CHECK(eval(&g, &c) >= 0);
    dju_store3(x + 6, path->w);
    dju_store3(x + 9, path->v);
    memcpy(y[0], y[1], sizeof y[0]);
    memcpy(dy[0], dy[1], sizeof dy[0]);
    pack(y[1], &g);
    along(dy[1], &g, x);
    low = fmin(low, g.gap);
    high = djt_worst(high, g.gap);
    for (int k = 0; k < 10 && i > 0 && g.gap > least; k++) {
      worst = djt_worst(worst, fabs(y[1][k] - y[0][k] - (dy[0][k] + dy[1][k]) / n));
    }
  }
  *touched = low < 0 && high > 0;
  return worst;
}

// Paths through contact, where corners and edges pass each other: derivatives are continuous and
// belong to the values, also between -smoothing and 0. With smoothing 0 they do not.
static void testThroughContact(void) {
  Random r = {15};
  int touched = 0, rough = 0, n = 1500;
  for (int i = 0; i < 20; i++) {
    static const djGeomType type[3] = {DJ_BOX, DJ_CYLINDER, DJ_MESH};
    Case c;
    setShape(&c, 0, DJ_BOX, 0.2, &r);
    setShape(&c, 1, type[i % 3], 0.2, &r);
    makePair(&c, 0.01);
    place(&c, &r, 0.2, 2e-3, -1);
    Path path;
    path.w = dju_scale3(0.03, randomUnit(&r));
    path.v = dju_scale3(0.01, randomUnit(&r));
    bool crosses;
    double coarse = drift(&crosses, &c, &path, n, -0.009);
    double fine = drift(&crosses, &c, &path, 4 * n, -0.009);
    touched += crosses;
    if (!(fine < coarse / 30 + 1e-12)) fail_msg("path %d: %g, then %g", i, coarse, fine);
    djc_deleteGapPair(c.pair);
    makePair(&c, 0);
    coarse = drift(&crosses, &c, &path, n, -1);
    fine = drift(&crosses, &c, &path, 4 * n, -1);
    rough += fine > coarse / 5;
    djc_deleteGapPair(c.pair);
  }
  print_message("%d of 20 paths touch; %d fail without smoothing\n", touched, rough);
  CHECK(touched > 10 && rough > 10);
}

// Slowly rocking a box over a plane: the point on it crosses the face, it does not jump.
static void testRocking(void) {
  Case c = {.shape = {geomOf(DJ_BOX, 0.1, 0.1, 0.1), geomOf(DJ_PLANE, 0, 0, 0)}};
  makePair(&c, -1);
  c.quat[1] = (djQuat){1, 0, 0, 0};
  c.pos[0] = dju_vec3(0, 0, 0.15);
  double last = 0, step = 0;
  for (int i = -2000; i <= 2000; i++) {
    djcGap g;
    c.quat[0] = dju_expQuat(dju_vec3(0, 1e-5 * i, 0));
    CHECK(eval(&g, &c) == DJ_OK);
    if (i > -2000) step = djt_worst(step, fabs(g.point_a[0] - last));
    last = g.point_a[0];
    CHECK(fabs(last) < 0.1);
    if (i == 0) CHECK(fabs(last) < 1e-12);
  }
  CHECK(fabs(last) > 0.097 && step < 0.005);
  djc_deleteGapPair(c.pair);
}

// ------------------------------------------ hard cases -----------------------------------------

// Centres that coincide, far places, needles and flakes, extreme smoothing: a status, and finite
// numbers.
static void testHard(void) {
  Random r = {77};
  int singular = 0;
  for (int i = 0; i < 3000; i++) {
    Case c;
    double size = logUniform(&r, 1e-3, 1e3);
    for (int k = 0; k < 2; k++) {
      setShape(&c, k, kType[below(&r, kTypes - 1 + k)], size, &r);
      for (int j = 0; j < 3; j++) c.shape[k].size[j] *= below(&r, 3) ? 1 : logUniform(&r, 1e-4, 1);
      if (below(&r, 3) == 0 && c.shape[k].nvert) {
        for (int j = 0; j < kMesh; j++) c.vert[k][3 * j] *= below(&r, 2) ? 1e-4 : 0;
      }
      c.pos[k] = below(&r, 2) ? dju_vec3(0, 0, 0) : randomAway(&r, 1e-9 * size, size);
      c.quat[k] = below(&r, 2) ? (djQuat){1, 0, 0, 0} : randomQuat(&r);
    }
    if (below(&r, 10) == 0) {
      djVec3 far = dju_scale3(1e6 * size, randomUnit(&r));
      for (int k = 0; k < 2; k++) c.pos[k] = dju_add3(c.pos[k], far);
    }
    static const double smoothing[] = {-1, 1e-12, 1e-6, 1, 1e6, 0};
    makePair(&c, smoothing[below(&r, 6)]);
    djcGap g;
    djStatus status = eval(&g, &c);
    CHECK(status >= 0);
    singular += status == DJ_SINGULAR;
    double sum = g.gap, n = dju_norm3(dju_load3(g.normal));
    for (int k = 0; k < 36; k++) {
      sum += g.normal_twist[k] + g.point_a_twist[k] + g.point_b_twist[k];
    }
    CHECK(isfinite(sum) && fabs(n - 1) < 1e-9);
    djc_deleteGapPair(c.pair);
  }
  CHECK(singular > 10);
  djcShape a = geomOf(DJ_SPHERE, 1, 0, 0), b = geomOf(DJ_SPHERE, 2, 0, 0);
  djcGap g;
  CHECK(djc_gap(&g, &a, &b, -1) == DJ_SINGULAR);
  djt_near(g.gap, -3, 1e-12);
}

// A needle near a plate. Shares of vertices have errors of DBL_EPSILON size/smoothing here.
static void testNeedles(void) {
  Random r = {8};
  Slope s = {0};
  for (int i = 0; i < 200; i++) {
    Case c = {.shape = {geomOf(i % 2 ? DJ_BOX : DJ_CYLINDER, 1e-3, i % 2 ? 1e-3 : 1, 1),
                        geomOf(i % 4 < 2 ? DJ_BOX : DJ_ELLIPSOID, 1, 0.7, 2e-3)}};
    makePair(&c, -1);
    place(&c, &r, 1, i % 3 ? 0.05 : 1e-6, -1);
    checkCase(&s, &c, &r, 1);
    djc_deleteGapPair(c.pair);
  }
  print_message("needles: %.2g\n", s.worst);
  CHECK(s.worst < 5e-4);
}

// Specks beside large shapes, where some starts take too many steps unless softer shapes lead the
// way: the points lie opposite to each other along the normal even so, and few are left without.
static void testSpecks(void) {
  static const djGeomType large[] = {DJ_CAPSULE, DJ_SPHERE, DJ_BOX};
  Random r = {41};
  int lost = 0, n = 0;
  for (int i = 0; i < 4000; i++) {
    Case c = {.pair = NULL};
    for (int k = 0; k < 2; k++) c.quat[k] = randomQuat(&r);
    double radius = logUniform(&r, 3e-5, 1e-3);
    c.shape[0] = geomOf(DJ_CYLINDER, radius, logUniform(&r, 3e-5, 1e-3), 0);
    setShape(&c, 1, large[i % 3], 1, &r);
    makePair(&c, logUniform(&r, 1e-6, 1e-3));
    double gap = logUniform(&r, 1e-7, 1e-4);
    djcGap g;
    c.pos[1] = dju_scale3(4, randomUnit(&r));
    for (int k = 0; k < 5; k++, n++) {
      djStatus status = eval(&g, &c);
      CHECK(status >= 0 && isfinite(g.gap));
      lost += status == DJ_NOT_CONVERGED;
      djVec3 across = dju_sub3(dju_load3(g.point_b), dju_load3(g.point_a));
      double wide = dju_norm3(dju_madd3(across, -g.gap, dju_load3(g.normal)));
      if (status == DJ_OK) CHECK(wide < 1e-6);   // the gap's error goes with its square
      if (status == DJ_OK && k > 0) CHECK(fabs(g.gap - gap) < 1e-10);   // as moved along the normal
      c.pos[1] = dju_madd3(c.pos[1], gap - g.gap, dju_load3(g.normal));
    }
    djc_deleteGapPair(c.pair);
  }
  print_message("specks: %d of %d not converged\n", lost, n);
  CHECK(lost < n / 2000);
}

// Everything scales with the length unit, and turns with the world.
static void testScale(void) {
  Random r = {9};
  for (int i = 0; i < 200; i++) {
    Case c;
    for (int k = 0; k < 2; k++) setShape(&c, k, kType[below(&r, kTypes - 1 + k)], 1, &r);
    makePair(&c, 1e-3);
    place(&c, &r, 1, uniform(&r, -1e-3, 0.2), -1);
    djcGap g, big;
    CHECK(eval(&g, &c) == DJ_OK);
    double f = 1024;
    Case d = c;
    for (int k = 0; k < 2; k++) {
      for (int j = 0; j < 3; j++) d.shape[k].size[j] *= f;
      for (int j = 0; j < 3 * kMesh; j++) d.vert[k][j] = f * c.vert[k][j];
      if (d.shape[k].nvert) d.shape[k].vert = d.vert[k];
      d.pos[k] = dju_scale3(f, c.pos[k]);
    }
    makePair(&d, f * 1e-3);
    CHECK(eval(&big, &d) == DJ_OK);
    djt_near(big.gap, f * g.gap, 1e-9 * f);
    for (int k = 0; k < 36; k++) {
      double unit = k % 6 < 3 ? 1 : f;
      djt_near(big.normal_twist[k] * unit, g.normal_twist[k], 1e-6 * (1 + fabs(g.normal_twist[k])));
    }
    djc_deleteGapPair(d.pair);
    djc_deleteGapPair(c.pair);
  }
}

static void testMisuse(void) {
  djcShape box = geomOf(DJ_BOX, 1, 1, 1), plane = geomOf(DJ_PLANE, 0, 0, 0), bad = box;
  djcGap g;
  djcGapPair* pair;
  djError err;
  CHECK(djc_gap(NULL, &box, &plane, -1) == DJ_INVALID);
  CHECK(djc_gap(&g, NULL, &plane, -1) == DJ_INVALID);
  CHECK(djc_gap(&g, &plane, &plane, -1) == DJ_INVALID);
  CHECK(djc_gap(&g, &box, &plane, NAN) == DJ_INVALID);
  CHECK(djc_gap(&g, &box, &plane, INFINITY) == DJ_INVALID);
  bad.size[1] = 0;
  CHECK(djc_gap(&g, &bad, &plane, -1) == DJ_INVALID);
  bad.geom = DJ_HFIELD;
  CHECK(djc_gap(&g, &bad, &plane, -1) == DJ_UNSUPPORTED);
  CHECK(djc_makeGapPair(&pair, 0, &box, 1, &plane, -1, &err) == DJ_INVALID && !pair && err.text[0]);
  CHECK(djc_makeGapPair(&pair, 1, &box, 1, &plane, -1, &err) == DJ_OK);
  const double pos[3] = {0, 0, NAN}, mat[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  CHECK(djc_evalGapPair(&g, pair, pos, mat, pos, mat) == DJ_INVALID);
  CHECK(djc_evalGapPair(&g, NULL, pos, mat, pos, mat) == DJ_INVALID);
  djc_deleteGapPair(pair);
  djc_deleteGapPair(NULL);
}

// ------------------------------------------ sets -----------------------------------------------

// A cross of two boxes and a ball against a floor, a wall and a post.
static void testSets(void) {
  Random r = {31};
  Slope s = {0};
  for (int i = 0; i < 200; i++) {
    djcShape a[3] = {geomOf(DJ_BOX, 0.5, 0.1, 0.1), geomOf(DJ_BOX, 0.1, 0.5, 0.1),
                     geomOf(DJ_SPHERE, 0.2, 0, 0)};
    djcShape b[3] = {geomOf(DJ_PLANE, 0, 0, 0), geomOf(DJ_BOX, 0.1, 1, 1),
                     geomOf(DJ_CAPSULE, 0.1, 0.5, 0)};
    a[2].pos[2] = 0.3;
    b[1].pos[0] = -1;
    b[2].pos[1] = 1;
    Case c = {.pair = NULL};
    c.quat[0] = randomQuat(&r);
    c.quat[1] = smallQuat(&r, 0.3);
    c.pos[0] = dju_add3(dju_vec3(0, 0, 0.65), randomPoint(&r, 0.4, 0.2, 0.15));
    double T = i % 2 ? 0.05 : -1;
    djcGap g, single;
    CHECK(djc_makeGapPair(&c.pair, 3, a, 3, b, T, NULL) == DJ_OK);
    CHECK(eval(&g, &c) == DJ_OK);
    double least = INFINITY, sum = 0, gap[9];
    for (int k = 0; k < 9; k++) {
      Case one = c;
      CHECK(djc_makeGapPair(&one.pair, 1, &a[k / 3], 1, &b[k % 3], g.smoothing, NULL) == DJ_OK);
      CHECK(eval(&single, &one) == DJ_OK);
      least = fmin(least, gap[k] = single.gap);
      djc_deleteGapPair(one.pair);
    }
    for (int k = 0; k < 9; k++) sum += exp((least - gap[k]) / g.smoothing);
    djt_near(g.gap, least - g.smoothing * log(sum), 1e-10);
    checkCase(&s, &c, &r, 1);
    djc_deleteGapPair(c.pair);
  }
  print_message("sets: %.2g\n", s.worst);
  CHECK(s.worst < 2e-6);
}

// Half-way between two equal shapes: a unit normal even so.
static void testCancelling(void) {
  static const double smoothing[] = {-1, 1e-12, 0.5};
  djcShape a[2] = {geomOf(DJ_BOX, 0.1, 0.1, 0.1), geomOf(DJ_BOX, 0.1, 0.1, 0.1)};
  djcShape b = geomOf(DJ_SPHERE, 0.1, 0, 0);
  a[0].pos[0] = -1;
  a[1].pos[0] = 1;
  for (int i = 0; i < 3; i++) {
    Case c = {.quat = {{1, 0, 0, 0}, {1, 0, 0, 0}}};
    djcGap g;
    CHECK(djc_makeGapPair(&c.pair, 2, a, 1, &b, smoothing[i], NULL) == DJ_OK);
    CHECK(eval(&g, &c) == DJ_SINGULAR);
    CHECK(fabs(fabs(g.normal[0]) - 1) < 1e-9 && g.normal[1] == 0 && g.normal[2] == 0);
    djc_deleteGapPair(c.pair);
  }
}

DJT_MAIN(testBound, testClosedForms, testExact, testDerivatives, testWrongDerivative, testSmooth,
         testThroughContact, testRocking, testHard, testNeedles, testScale, testSpecks, testMisuse,
         testSets, testCancelling)
