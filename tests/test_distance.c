// Distances proven case by case. With h_A(n) = max n.a over A: for any unit n the gap of two
// convex sets is at least -h_A(n) - h_B(-n), and witness points at distance gap show that it is no
// more. For overlapping ones -h_A(n) - h_B(-n) = gap shows that the depth is enough to separate
// them; that no direction does with less is checked against all face normals and edge pairs.

#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "shape/distance.h"

#define CHECK(x) assert_true(x)

typedef struct Case {
  TestShape a, b;
  djPose pose_a, pose_b;
  double e_a, e_b;
} Case;

typedef struct Worst {
  double certificate, witness, inside, depth, change;
  int cases, overlapping, unconverged, iterations;
} Worst;

static djVec3 vertexOf(const TestShape* t, const djPose* pose, double e, int i) {
  const djShape* s = &t->shape;
  djVec3 x = {s->vert[0][i] - e * s->move[0][i], s->vert[1][i] - e * s->move[1][i],
              s->vert[2][i] - e * s->move[2][i]};
  return dju_mulMV(pose->R, x);   // without the translation
}

// Largest n.x over the shape, less n.(pose's origin).
static double supportOf(const TestShape* t, const djPose* pose, double e, djVec3 n) {
  double h = -INFINITY;
  for (int i = 0; i < t->shape.nvert; i++) h = fmax(h, dju_dot3(n, vertexOf(t, pose, e, i)));
  return h + t->shape.radius + e * t->shape.radius_slope;
}

// -h_A(n) - h_B(-n)
static double separation(const Case* c, djVec3 n) {
  return dju_dot3(n, dju_sub3(c->pose_b.p, c->pose_a.p)) - supportOf(&c->a, &c->pose_a, c->e_a, n) -
         supportOf(&c->b, &c->pose_b, c->e_b, dju_neg3(n));
}

static double scaleOf(const Case* c) {
  double size = dju_norm3(dju_sub3(c->pose_b.p, c->pose_a.p));
  for (int i = 0; i < c->a.shape.nvert; i++) {
    size = djt_worst(size, dju_norm3(vertexOf(&c->a, &c->pose_a, 0, i)));
  }
  for (int i = 0; i < c->b.shape.nvert; i++) {
    size = djt_worst(size, dju_norm3(vertexOf(&c->b, &c->pose_b, 0, i)));
  }
  return size + c->a.shape.radius + c->b.shape.radius;
}

// How far x (world, less the pose's position) is outside a hull's planes grown by its radius.
static double outside(const TestShape* t, const djPose* pose, double e, djVec3 x) {
  double worst = 0;
  if (e > 0) return 0;
  djVec3 local = dju_mulMtV(pose->R, x);
  for (int f = 0; f < t->hull.nface; f++) {
    const double* p = t->hull.plane + 4 * f;
    worst = djt_worst(worst, dju_dot3(dju_load3(p), local) - p[3] - t->shape.radius);
  }
  if (t->shape.nvert == 1) {
    worst = djt_worst(worst, dju_norm3(dju_sub3(x, vertexOf(t, pose, 0, 0))) - t->shape.radius);
  }
  return worst;
}

// Least -separation over all face normals and products of edges: the exact depth.
static double bruteDepth(const Case* c) {
  double depth = INFINITY;
  for (int side = 0; side < 2; side++) {
    const TestShape* t = side ? &c->b : &c->a;
    const djPose* pose = side ? &c->pose_b : &c->pose_a;
    for (int f = 0; f < t->hull.nface; f++) {
      djVec3 n = dju_mulMV(pose->R, dju_load3(t->hull.plane + 4 * f));
      depth = fmin(depth, -separation(c, side ? dju_neg3(n) : n));
    }
  }
  for (int i = 0; i < c->a.hull.nvert; i++) {
    for (int k = c->a.hull.adjadr[i]; k < c->a.hull.adjadr[i + 1]; k++) {
      djVec3 e = dju_sub3(vertexOf(&c->a, &c->pose_a, 0, c->a.hull.adj[k]),
                          vertexOf(&c->a, &c->pose_a, 0, i));
      for (int j = 0; j < c->b.hull.nvert; j++) {
        for (int l = c->b.hull.adjadr[j]; l < c->b.hull.adjadr[j + 1]; l++) {
          if (c->b.hull.adj[l] < j) continue;
          djVec3 g = dju_sub3(vertexOf(&c->b, &c->pose_b, 0, c->b.hull.adj[l]),
                              vertexOf(&c->b, &c->pose_b, 0, j));
          djVec3 n = dju_cross3(e, g);
          double length = dju_norm3(n);
          if (length < 1e-6 * dju_norm3(e) * dju_norm3(g)) continue;
          depth = fmin(depth, -separation(c, dju_scale3(1 / length, n)));
        }
      }
    }
  }
  return depth;
}

static void note(double* worst, double value) {
  if (!(value <= *worst)) *worst = value;
}

static djDistance checkCase(Worst* w, const Case* c, bool brute) {
  djDistance d, again;
  djDistanceCache cache = {0};
  djStatus status = dj_distance(&d, &cache, &c->a.shape, &c->pose_a, c->e_a, &c->b.shape,
                                &c->pose_b, c->e_b);
  CHECK(status == DJ_OK || status == DJ_NOT_CONVERGED);
  w->unconverged += status != DJ_OK;
  double scale = scaleOf(c);
  w->cases++;
  w->iterations += d.iterations;
  double core = d.gap + c->a.shape.radius + c->b.shape.radius;
  bool overlap = core < 0;
  w->overlapping += overlap;
  CHECK(fabs(dju_norm3(d.normal) - 1) < 1e-14);
  note(&w->certificate, fabs(separation(c, d.normal) - d.gap) / scale);
  // witnesses: apart by gap along n, on the shapes
  djVec3 between = dju_sub3(d.point_b, d.point_a);
  double far = fmax(dju_norm3(c->pose_a.p), dju_norm3(c->pose_b.p)) + scale;
  note(&w->witness, dju_norm3(dju_madd3(between, -d.gap, d.normal)) / far);
  note(&w->inside, outside(&c->a, &c->pose_a, c->e_a, dju_sub3(d.point_a, c->pose_a.p)) / far);
  note(&w->inside, outside(&c->b, &c->pose_b, c->e_b, dju_sub3(d.point_b, c->pose_b.p)) / far);
  if (brute && overlap && c->a.hull.nface && c->b.hull.nface && c->e_a == 0 && c->e_b == 0) {
    note(&w->depth, fabs(-d.gap - bruteDepth(c)) / scale);
  }
  // warm started
  status = dj_distance(&again, &cache, &c->a.shape, &c->pose_a, c->e_a, &c->b.shape, &c->pose_b,
                       c->e_b);
  CHECK(status >= 0);
  note(&w->change, fabs(again.gap - d.gap) / scale);
  // and swapped
  status = dj_distance(&again, NULL, &c->b.shape, &c->pose_b, c->e_b, &c->a.shape, &c->pose_a,
                       c->e_a);
  CHECK(status >= 0);
  note(&w->change, fabs(again.gap - d.gap) / scale);
  return d;
}

// Between nearly parallel faces witness points are less certain than the gap: `sideways` bounds it.
static void report(const char* name, const Worst* w, double sideways) {
  print_message("%-12s %6d cases %6d overlap %3d unconverged %5.1f rounds; certificate %.1e "
                "witness %.1e inside %.1e depth %.1e change %.1e\n",
                name, w->cases, w->overlapping, w->unconverged, (double)w->iterations / w->cases,
                w->certificate, w->witness, w->inside, w->depth, w->change);
  CHECK(w->certificate < 1e-12);
  CHECK(w->witness < sideways);
  CHECK(w->inside < 1e-12);
  CHECK(w->depth < 1e-12);
  CHECK(w->change < 1e-11);
  CHECK(w->unconverged == 0);
}

// Kinds 0-3: hulls of clouds; 4: box; 5: needle; 6: point; 7: segment; 8: triangle; 9: square
static void makeShape(Random* r, TestShape* t, int kind, double size) {
  double vert[3 * 48];
  int n = 0;
  memset(t, 0, sizeof *t);
  if (kind < 4) {
    do {
      n = 4 + below(r, 40);
      cloud(r, kind, n, vert);
      for (int i = 0; i < 3 * n; i++) vert[i] *= size;
    } while (setHull(t, n, vert) != DJ_OK);
  } else if (kind < 6) {
    double thin = kind == 5 ? 1e-3 : 0.5;
    boxVertices(vert, size, thin * size, thin * size);
    assert_int_equal(setHull(t, 8, vert), DJ_OK);
  } else {
    const double flat[12] = {size, size, 0, -size, -size, 0, -size, size, 0, size, -size, 0};
    setVertices(t, kind - 5, flat, NULL);
  }
}

static djPose randomPose(Random* r, double span) {
  djVec3 p = randomWithin(r, span);
  return (djPose){p, dju_quatToMat(randomQuat(r))};
}

static void freeCase(Case* c) {
  freeShape(&c->a);
  freeShape(&c->b);
}

static void testRandom(void) {
  Random r = {1};
  Worst w = {0};
  for (int trial = 0; trial < 8000; trial++) {
    Case c = {.e_a = 0};
    double size = logUniform(&r, 1e-6, 1e3), ratio = logUniform(&r, 1e-3, 1);
    makeShape(&r, &c.a, below(&r, 10), size);
    makeShape(&r, &c.b, below(&r, 10), size * ratio);
    if (below(&r, 3) == 0) c.a.shape.radius = 0.1 * size;
    if (below(&r, 3) == 0) c.b.shape.radius = 0.1 * size;
    c.pose_a = randomPose(&r, 0);
    c.pose_b = randomPose(&r, logUniform(&r, 1e-3, 30) * size);
    checkCase(&w, &c, trial % 10 == 0);
    freeCase(&c);
  }
  report("random", &w, 1e-12);
}

// Faces, edges and corners that are parallel or nearly so; exact and tiny gaps, touching ones too.
static void testAligned(void) {
  Random r = {2};
  Worst w = {0};
  for (int trial = 0; trial < 12000; trial++) {
    Case c = {.e_a = 0};
    double size = logUniform(&r, 1e-6, 1e3);
    int kind = below(&r, 3);
    makeShape(&r, &c.a, kind == 0 ? 5 : kind == 1 ? 3 : 4, size);
    int kind_b = below(&r, 2) ? 4 : 3;
    makeShape(&r, &c.b, kind_b, size * (below(&r, 2) ? 1 : 0.3));
    djQuat common = below(&r, 2) ? randomQuat(&r) : (djQuat){1, 0, 0, 0};
    djMat3 R = dju_quatToMat(common);
    double tilt = below(&r, 3) ? 0 : logUniform(&r, 1e-15, 1e-1);
    c.pose_a = (djPose){{0, 0, 0}, R};
    c.pose_b = (djPose){{0, 0, 0}, dju_quatToMat(dju_mulQuat(common, smallQuat(&r, tilt)))};
    double axis[3];
    for (int k = 0; k < 3; k++) axis[k] = below(&r, 3) - 1;
    double distance = below(&r, 2) ? 1.5 : uniform(&r, 0, 3);
    djVec3 offset = dju_scale3(size * distance, dju_load3(axis));
    if (below(&r, 2)) offset = dju_add3(offset, randomAway(&r, 1e-14 * size, size));
    c.pose_b.p = dju_mulMV(R, offset);
    checkCase(&w, &c, trial % 20 == 0);
    freeCase(&c);
  }
  report("aligned", &w, 1e-8);
}

// Differences without volume, or with the origin on a corner, edge or face; coincident shapes.
static void testDegenerate(void) {
  Random r = {3};
  Worst w = {0};
  for (int trial = 0; trial < 8000; trial++) {
    Case c = {.e_a = 0};
    double size = logUniform(&r, 1e-6, 1e3);
    int kind_a = below(&r, 10), kind_b = below(&r, 10);
    makeShape(&r, &c.a, kind_a, size);
    makeShape(&r, &c.b, kind_b, below(&r, 2) ? size : 0.5 * size);
    if (below(&r, 2)) c.a.shape.radius = 0.25 * size;
    djQuat q = below(&r, 2) ? randomQuat(&r) : (djQuat){1, 0, 0, 0};
    djQuat turn = {1, 0, 0, 0};
    if (below(&r, 3) == 0) turn = (djQuat){sqrt(0.5), 0, 0, sqrt(0.5)};
    c.pose_a = (djPose){{0, 0, 0}, dju_quatToMat(q)};
    c.pose_b = (djPose){{0, 0, 0}, dju_quatToMat(dju_mulQuat(q, turn))};
    // bring a vertex, or the middle of an edge, of b onto one of a
    int i = below(&r, c.a.shape.nvert), j = below(&r, c.b.shape.nvert);
    djVec3 xa = vertexOf(&c.a, &c.pose_a, 0, i), xb = vertexOf(&c.b, &c.pose_b, 0, j);
    if (below(&r, 2)) {
      int k = below(&r, c.a.shape.nvert);
      xa = dju_scale3(0.5, dju_add3(xa, vertexOf(&c.a, &c.pose_a, 0, k)));
    }
    if (below(&r, 2)) {
      int k = below(&r, c.b.shape.nvert);
      xb = dju_scale3(0.5, dju_add3(xb, vertexOf(&c.b, &c.pose_b, 0, k)));
    }
    if (below(&r, 4)) c.pose_b.p = dju_sub3(xa, xb);
    checkCase(&w, &c, trial % 10 == 0);
    freeCase(&c);
  }
  report("degenerate", &w, 1e-12);
}

// Far from the world's origin: the accuracy is that of the poses' difference.
static void testFar(void) {
  Random r = {4};
  Worst w = {0};
  for (int trial = 0; trial < 2000; trial++) {
    Case c = {.e_a = 0};
    makeShape(&r, &c.a, below(&r, 6), 0.1);
    makeShape(&r, &c.b, below(&r, 6), 0.1);
    c.pose_a = randomPose(&r, 1e4);
    c.pose_b = randomPose(&r, 1);
    c.pose_b.p = dju_add3(c.pose_b.p, c.pose_a.p);
    checkCase(&w, &c, false);
    freeCase(&c);
  }
  report("far", &w, 1e-12);
}

// Eroded hulls of many vertices, where supports climb.
static void testLarge(void) {
  Random r = {5};
  Worst w = {0};
  static double vert[3 * 1200];
  for (int trial = 0; trial < 60; trial++) {
    Case c = {.e_a = 0};
    for (int side = 0; side < 2; side++) {
      int n = 300 + below(&r, 900);
      cloud(&r, 1, n, vert);
      for (int i = 0; i < n; i++) vert[3 * i] *= 0.3;
      assert_int_equal(setHull(side ? &c.b : &c.a, n, vert), DJ_OK);
    }
    for (int k = 0; k < 30; k++) {
      c.e_a = k % 2 ? uniform(&r, 0, 0.2) * c.a.shape.inner : 0;
      c.e_b = k % 3 ? uniform(&r, 0, 0.2) * c.b.shape.inner : 0;
      c.pose_a = randomPose(&r, 1);
      c.pose_b = randomPose(&r, 3);
      checkCase(&w, &c, false);
    }
    freeCase(&c);
  }
  report("large", &w, 1e-12);
}

static void testKnown(void) {
  djPose at = {{0, 0, 0}, dju_eye3()}, up = {{0, 0, 3}, dju_eye3()};
  double vert[24];
  Case c = {.e_a = 0};
  boxVertices(vert, 1, 1, 1);
  assert_int_equal(setHull(&c.a, 8, vert), DJ_OK);
  assert_int_equal(setHull(&c.b, 8, vert), DJ_OK);
  djDistance d;
  // boxes above each other, one and both eroded
  assert_int_equal(dj_distance(&d, NULL, &c.a.shape, &at, 0, &c.b.shape, &up, 0), DJ_OK);
  CHECK(fabs(d.gap - 1) < 1e-15 && d.normal.z == 1);
  assert_int_equal(dj_distance(&d, NULL, &c.a.shape, &at, 0.25, &c.b.shape, &up, 0.125), DJ_OK);
  CHECK(fabs(d.gap - 1.375) < 1e-14);
  // coincident boxes: 2 along any axis
  assert_int_equal(dj_distance(&d, NULL, &c.a.shape, &at, 0, &c.b.shape, &at, 0), DJ_OK);
  CHECK(fabs(d.gap + 2) < 1e-14);
  // spheres: apart, overlapping, coincident; a sphere's erosion is its radius's
  double zero[3] = {0, 0, 0};
  TestShape s = {.buffer = NULL};
  setVertices(&s, 1, zero, NULL);
  s.shape.radius = 0.5;
  s.shape.radius_slope = -1;
  assert_int_equal(dj_distance(&d, NULL, &s.shape, &at, 0, &s.shape, &up, 0), DJ_OK);
  CHECK(fabs(d.gap - 2) < 1e-15 && fabs(d.point_a.z - 0.5) < 1e-15);
  assert_int_equal(dj_distance(&d, NULL, &s.shape, &at, 0.25, &s.shape, &up, 0), DJ_OK);
  CHECK(fabs(d.gap - 2.25) < 1e-15);
  assert_int_equal(dj_distance(&d, NULL, &s.shape, &at, 0, &s.shape, &at, 0), DJ_OK);
  CHECK(fabs(d.gap + 1) < 1e-15 && fabs(dju_norm3(d.normal) - 1) < 1e-15);
  // a sphere in a box, 0.25 below its top
  djPose inside = {{0.1, 0.2, 0.75}, dju_eye3()};
  assert_int_equal(dj_distance(&d, NULL, &s.shape, &inside, 0, &c.a.shape, &at, 0), DJ_OK);
  CHECK(fabs(d.gap + 0.75) < 1e-14 && fabs(d.normal.z + 1) < 1e-14);
  // half space, lowered by 1/4
  djShape plane = {.type = DJ_PLANE, .normal = {0, 0, 1}, .offset = -1};
  assert_int_equal(dj_distance(&d, NULL, &c.a.shape, &up, 0, &plane, &at, 0), DJ_OK);
  CHECK(fabs(d.gap - 3) < 1e-15 && d.normal.z == -1 && d.point_b.z == -1 && d.point_a.z == 2);
  assert_int_equal(dj_distance(&d, NULL, &c.a.shape, &up, 0.5, &plane, &at, 0.25), DJ_OK);
  CHECK(fabs(d.gap - 3.75) < 1e-15);
  assert_int_equal(dj_distance(&d, NULL, &s.shape, &at, 0, &plane, &up, 0), DJ_OK);
  CHECK(fabs(d.gap + 2.5) < 1e-15);
  freeShape(&s);
  freeCase(&c);
}

// The derivative of the gap is the normal times the relative velocity of the witness points.
static void testDerivative(void) {
  Random r = {6};
  double worst = 0;
  for (int trial = 0; trial < 2000; trial++) {
    Case c = {.e_a = 0};
    makeShape(&r, &c.a, below(&r, 5), 1);
    makeShape(&r, &c.b, below(&r, 5), 1);
    c.pose_a = randomPose(&r, 0);
    c.pose_b = randomPose(&r, uniform(&r, 0.3, 4));
    djDistance d, plus, minus;
    CHECK(dj_distance(&d, NULL, &c.a.shape, &c.pose_a, 0, &c.b.shape, &c.pose_b, 0) == DJ_OK);
    djVec3 v = randomUnit(&r), omega = randomUnit(&r);
    djVec3 arm = dju_sub3(d.point_b, c.pose_b.p);
    double rate = dju_dot3(d.normal, dju_add3(v, dju_cross3(omega, arm)));
    double h = 1e-5;
    djQuat turn = {cos(h / 2), omega.x * sin(h / 2), omega.y * sin(h / 2), omega.z * sin(h / 2)};
    djPose up = c.pose_b, down = c.pose_b;
    up.p = dju_madd3(up.p, h, v);
    up.R = dju_mulMM(dju_quatToMat(turn), up.R);
    down.p = dju_madd3(down.p, -h, v);
    down.R = dju_mulMM(dju_quatToMat(dju_conj(turn)), down.R);
    CHECK(dj_distance(&plus, NULL, &c.a.shape, &c.pose_a, 0, &c.b.shape, &up, 0) == DJ_OK);
    CHECK(dj_distance(&minus, NULL, &c.a.shape, &c.pose_a, 0, &c.b.shape, &down, 0) == DJ_OK);
    double error = fabs((plus.gap - minus.gap) / (2 * h) - rate);
    // unless the nearest features change within the difference
    bool smooth = dju_dot3(plus.normal, minus.normal) > 1 - 1e-6 &&
                  fabs(plus.gap - 2 * d.gap + minus.gap) < 1e-9;
    if (smooth) note(&worst, error);
    freeCase(&c);
  }
  print_message("derivative   %.1e\n", worst);
  CHECK(worst < 1e-6);
}

static void testBad(void) {
  double vert[24];
  boxVertices(vert, 1, 1, 1);
  TestShape t;
  assert_int_equal(setHull(&t, 8, vert), DJ_OK);
  djPose at = {{0, 0, 0}, dju_eye3()}, bad = at;
  djDistance d;
  djShape plane = {.type = DJ_PLANE, .normal = {0, 0, 1}}, none = {.type = -1};
  assert_int_equal(dj_distance(NULL, NULL, &t.shape, &at, 0, &t.shape, &at, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, NULL, &at, 0, &t.shape, &at, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, &plane, &at, 0, &t.shape, &at, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, &t.shape, &at, 0, &none, &at, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, &t.shape, &at, -1, &t.shape, &at, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, &t.shape, &at, 0, &t.shape, &at, NAN), DJ_INVALID);
  for (int k = 0; k < 3; k++) {
    bad = at;
    (&bad.p.x)[k] = k == 1 ? INFINITY : NAN;
    assert_int_equal(dj_distance(&d, NULL, &t.shape, &at, 0, &t.shape, &bad, 0), DJ_INVALID);
    assert_int_equal(dj_distance(&d, NULL, &t.shape, &bad, 0, &t.shape, &at, 0), DJ_INVALID);
  }
  bad = at;
  for (int k = 0; k < 9; k++) bad.R.m[k] = NAN;
  assert_int_equal(dj_distance(&d, NULL, &t.shape, &at, 0, &t.shape, &bad, 0), DJ_INVALID);
  assert_int_equal(dj_distance(&d, NULL, &t.shape, &bad, 0, &plane, &at, 0), DJ_INVALID);
  djDistanceCache wild = {.count = 4, .a = {-5, 1000, 3, 3}, .b = {0, 0, 900, 3}};
  djPose up = {{0, 0, 3}, dju_eye3()};
  assert_int_equal(dj_distance(&d, &wild, &t.shape, &at, 0, &t.shape, &up, 0), DJ_OK);
  CHECK(fabs(d.gap - 1) < 1e-15);
  freeShape(&t);
}

DJT_MAIN(testKnown, testRandom, testAligned, testDegenerate, testFar, testLarge, testDerivative,
         testBad)
