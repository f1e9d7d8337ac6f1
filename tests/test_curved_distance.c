// Distances of ellipsoids and cylinders: closed forms, and certificates that owe nothing to how a
// result was found. With h the support functions, g(n) = -h_a(n) - h_b(-n) is a lower bound of the
// signed distance along any unit n, and the distance of points of a and b an upper one.

#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"

static const int types[] = {DJ_SPHERE, DJ_CAPSULE, DJ_BOX, DJ_MESH, DJ_ELLIPSOID, DJ_CYLINDER};
enum { NTYPE = sizeof types / sizeof types[0] };

// Support function of a posed shape along d, world; by its definition.
static double support(const djShape* s, const djPose* pose, djVec3 d) {
  djVec3 u = dju_mulMtV(pose->R, d);
  double best = -INFINITY, square = 0;
  for (int i = 0; i < s->nvert; i++) {
    best = djt_worst(best, dju_dot3(u, dju_vec3(s->vert[0][i], s->vert[1][i], s->vert[2][i])));
  }
  for (int k = 0; k < 3 && s->curved; k++) {
    double t = dju_dot3(u, dju_column(&s->curve, k));
    square += t * t;
  }
  return best + dju_dot3(d, pose->p) + s->radius * dju_norm3(d) + sqrt(square);
}

static double along(const PairCase* c, djVec3 n) {
  return -support(&c->shape[0].shape, &c->now[0], n) -
         support(&c->shape[1].shape, &c->now[1], dju_neg3(n));
}

// x is a point of the shape: nowhere beyond its support.
static void checkInside(const djShape* s, const djPose* pose, djVec3 x, Random* r, double size) {
  for (int i = 0; i < 200; i++) {
    djVec3 d = randomUnit(r);
    assert_true(dju_dot3(d, x) <= support(s, pose, d) + 1e-12 * size);
  }
}

static djStatus measure(djDistance* d, djDistanceCache* cache, const PairCase* c) {
  return dj_distance(d, cache, &c->shape[0].shape, &c->now[0], 0, &c->shape[1].shape, &c->now[1],
                     0);
}

static void checkPair(PairCase* c, Random* r) {
  djDistance d, again;
  djDistanceCache cache = {0};
  assert_int_equal(measure(&d, &cache, c), DJ_OK);
  assert_true(fabs(dju_norm3(d.normal) - 1) < 1e-12);
  double weight = 0, size = c->size;
  for (int i = 0; i < cache.count; i++) weight += cache.weight[i];
  assert_true(fabs(weight - 1) < 1e-12);
  assert_true(fabs(along(c, d.normal) - d.gap) < 1e-12 * size);
  djVec3 apart = dju_sub3(d.point_b, d.point_a);
  assert_true(dju_norm3(dju_madd3(apart, -d.gap, d.normal)) < 2e-10 * size);
  if (d.gap > 0) assert_true(fabs(dju_norm3(apart) - d.gap) < 1e-12 * size);
  checkInside(&c->shape[0].shape, &c->now[0], d.point_a, r, size);
  checkInside(&c->shape[1].shape, &c->now[1], d.point_b, r, size);
  for (int i = 0; i < 300; i++) {   // no direction tells of a greater distance
    djVec3 n = randomUnit(r);
    if (i % 2) n = dju_madd3(d.normal, logUniform(r, 1e-4, 0.3), n);
    n = dju_scale3(1 / dju_norm3(n), n);
    assert_true(along(c, n) <= d.gap + 1e-12 * size);
  }
  // the cache changes nothing, near by either
  assert_int_equal(measure(&again, &cache, c), DJ_OK);
  assert_true(fabs(again.gap - d.gap) < 1e-13 * size);
  c->now[1].p = dju_madd3(c->now[1].p, 1e-3 * size, randomUnit(r));
  assert_int_equal(measure(&again, &cache, c), DJ_OK);
  assert_int_equal(measure(&d, NULL, c), DJ_OK);
  assert_true(fabs(again.gap - d.gap) < 1e-13 * size);
  assert_true(dju_norm3(dju_sub3(again.normal, d.normal)) < 1e-8);
}

static void testRandom(void) {
  Random r = {1};
  for (int a = 0; a < NTYPE; a++) {
    for (int b = 0; b < NTYPE; b++) {
      if (a < 4 && b < 4) continue;
      for (int i = 0; i < 60; i++) {
        PairCase c;
        double gap = i % 3 == 0 ? -logUniform(&r, 1e-4, 0.1) : logUniform(&r, 1e-6, 3);
        randomPair(&c, &r, types[a], types[b], 1, 0.02, 1, gap / 0.0408);
        checkPair(&c, &r);
        freeCase(&c);
      }
    }
  }
}

static djShape* setShape(PairCase* c, int k, int type, double x, double y, double z, Random* r) {
  const double size[3] = {x, y, z};
  freeShape(&c->shape[k]);
  setGeom(&c->shape[k], type, size, 30, r);
  return &c->shape[k].shape;
}

// Faces, sides and axes that are parallel, aligned or crossed at right angles: the gap along z is
// known, and the certificates hold.
static void testAligned(void) {
  Random r = {2};
  static const struct {
    int type[2];
    double half[2];          // along z
    double angle[2];         // turned about x, in right angles
    double shift[2];         // of b, along x and y
  } cases[] = {
      {{DJ_CYLINDER, DJ_CYLINDER}, {0.5, 0.5}, {0, 0}, {0, 0}},          // coaxial
      {{DJ_CYLINDER, DJ_CYLINDER}, {0.3, 0.3}, {1, 1}, {0, 0.4}},        // side by side
      {{DJ_CYLINDER, DJ_CYLINDER}, {0.3, 0.5}, {1, 0}, {0, 0}},          // one lies on a face
      {{DJ_BOX, DJ_CYLINDER}, {0.5, 0.5}, {0, 0}, {0.1, -0.05}},         // upright on a box
      {{DJ_BOX, DJ_CYLINDER}, {0.5, 0.3}, {0, 1}, {0, 0}},               // lying on a box
      {{DJ_ELLIPSOID, DJ_ELLIPSOID}, {0.5, 0.5}, {0, 0}, {0, 0}},
      {{DJ_ELLIPSOID, DJ_CYLINDER}, {0.5, 0.3}, {0, 1}, {0, 0}},
      {{DJ_CAPSULE, DJ_CYLINDER}, {0.3, 0.3}, {1, 1}, {0, 0.1}},
      {{DJ_BOX, DJ_ELLIPSOID}, {0.5, 0.5}, {0, 0}, {0.3, 0.4}},          // over an edge region
      {{DJ_SPHERE, DJ_CYLINDER}, {0.3, 0.5}, {0, 0}, {0, 0}},
  };
  static const double gaps[] = {1, 1e-3, 1e-7, -1e-7, -1e-3, -0.05};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (int k = 0; k < 6; k++) {
      PairCase c;
      memset(&c, 0, sizeof c);
      c.size = 1;
      for (int b = 0; b < 2; b++) {
        int type = cases[i].type[b];
        bool round = type == DJ_CYLINDER || type == DJ_CAPSULE || type == DJ_SPHERE;
        setShape(&c, b, type, round ? 0.3 : 0.4, round ? 0.5 : 0.45, 0.5, &r);
        double angle = 0.5 * 3.14159265358979323846 * cases[i].angle[b];
        c.now[b].R = turn(dju_vec3(angle, 0, 0));
      }
      c.now[1].p = dju_vec3(cases[i].shift[0], cases[i].shift[1],
                            cases[i].half[0] + cases[i].half[1] + gaps[k]);
      djDistance d;
      assert_int_equal(measure(&d, NULL, &c), DJ_OK);
      assert_true(fabs(d.gap - gaps[k]) < 1e-12);
      assert_true(fabs(d.normal.z - 1) < 1e-12);
      freeCase(&c);
    }
  }
}

// Coincident shapes: a finite depth along a unit normal, not larger than the thinnest way out.
static void testCoincident(void) {
  Random r = {3};
  for (int a = 0; a < NTYPE; a++) {
    for (int b = 4; b < NTYPE; b++) {
      PairCase c;
      djDistance d;
      randomPair(&c, &r, types[a], types[b], 1, 0.02, 1, 1);
      c.now[1] = c.now[0];
      assert_true(measure(&d, NULL, &c) >= 0);
      assert_true(fabs(dju_norm3(d.normal) - 1) < 1e-12);
      for (int i = 0; i < 300; i++) assert_true(along(&c, randomUnit(&r)) <= d.gap + 1e-4);
      freeCase(&c);
    }
  }
}

// Above a half space: the lowest point, in closed form.
static void testPlane(void) {
  Random r = {4};
  for (int i = 0; i < 100; i++) {
    PairCase c;
    djDistance d;
    randomPair(&c, &r, i % 2 ? DJ_CYLINDER : DJ_ELLIPSOID, DJ_PLANE, 1, 0.02, 1, 1);
    djShape* a = &c.shape[0].shape;
    double e = i % 3 ? 0 : 0.1;
    djVec3 N = dju_mulMV(c.now[1].R, c.shape[1].shape.normal), u = dju_mulMtV(c.now[0].R, N);
    double offset = c.shape[1].shape.offset + dju_dot3(N, c.now[1].p), q = 0, low = INFINITY;
    for (int k = 0; k < 3; k++) {
      djVec3 g = dju_madd3(dju_column(&a->curve, k), -e, dju_column(&a->curve_move, k));
      q += dju_dot3(u, g) * dju_dot3(u, g);
    }
    for (int k = 0; k < a->nvert; k++) {
      djVec3 x = dju_vec3(a->vert[0][k] - e * a->move[0][k], a->vert[1][k] - e * a->move[1][k],
                          a->vert[2][k] - e * a->move[2][k]);
      low = fmin(low, dju_dot3(N, dju_transform(&c.now[0], x)));
    }
    assert_int_equal(dj_distance(&d, NULL, a, &c.now[0], e, &c.shape[1].shape, &c.now[1], 0), 0);
    assert_true(fabs(d.gap - (low - sqrt(q) - offset)) < 1e-13 * c.size);
    assert_true(fabs(dju_dot3(N, d.point_a) - offset - d.gap) < 1e-13 * c.size);
    freeCase(&c);
  }
}

// A cache of other shapes, with vertices that these do not have or a normal of another length,
// changes nothing, and does not come back.
static void testWildCache(void) {
  Random r = {19};
  static const int pairs[][2] = {{DJ_ELLIPSOID, DJ_CYLINDER}, {DJ_CYLINDER, DJ_ELLIPSOID},
                                 {DJ_ELLIPSOID, DJ_BOX},      {DJ_BOX, DJ_CYLINDER}};
  for (int i = 0; i < 80; i++) {
    PairCase c;
    randomPair(&c, &r, pairs[i % 4][0], pairs[i % 4][1], 1, 0.02, 1, 0.5);
    djDistanceCache good = {0};
    djDistance d, again;
    assert_int_equal(measure(&d, &good, &c), DJ_OK);
    int nvert[2] = {c.shape[0].shape.nvert, c.shape[1].shape.nvert};
    for (int k = 0; k < 8; k++) {
      djDistanceCache wild = good;
      int* index = k % 2 ? wild.b : wild.a;
      if (k < 2) index[0] = nvert[k % 2];
      else if (k < 4) index[0] = -1;
      else if (k < 6) wild.normal[k % 2] += 0.5;
      else wild.count = k == 6 ? 4 : -1;
      assert_int_equal(measure(&again, &wild, &c), DJ_OK);
      assert_true(fabs(again.gap - d.gap) < 1e-13 * c.size);
      for (int j = 0; j < wild.count; j++) {
        assert_in_range(wild.a[j], 0, nvert[0] - 1);
        assert_in_range(wild.b[j], 0, nvert[1] - 1);
      }
    }
    freeCase(&c);
  }
}

// Vertices of a cache may be in any order, and any of them may have left: Newton's method alone
// goes on from there, in a few steps.
static void testCacheOrder(void) {
  Random r = {23};
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int used = 0;
  for (int i = 0; i < 3000 && used < 60; i++) {
    PairCase c;
    randomPair(&c, &r, i % 2 ? DJ_ELLIPSOID : DJ_BOX, i % 2 ? DJ_BOX : DJ_ELLIPSOID, 1, 0.02, 1,
               25 * uniform(&r, 0.5, 1));
    djDistanceCache cache = {0};
    djDistance d, turned;
    assert_int_equal(measure(&d, &cache, &c), DJ_OK);
    int n = cache.count;
    djVec3 w = dju_scale3(0.2, randomUnit(&r));
    c.now[1].R = dju_mulMM(turn(w), c.now[1].R);
    djDistanceCache after = cache;
    assert_int_equal(measure(&turned, &after, &c), DJ_OK);
    bool left = n == 3 && after.count < 3;
    for (int k = 0; k < 6 && left; k++) {
      djDistanceCache mixed = cache;
      for (int j = 0; j < 3; j++) {
        mixed.a[j] = cache.a[order[k][j]];
        mixed.b[j] = cache.b[order[k][j]];
        mixed.weight[j] = cache.weight[order[k][j]];
      }
      djDistance again;
      assert_int_equal(measure(&again, &mixed, &c), DJ_OK);
      assert_true(again.iterations <= 8 && abs(again.iterations - turned.iterations) <= 1);
      assert_true(fabs(again.gap - turned.gap) < 1e-13 * c.size);
    }
    used += left;
    freeCase(&c);
  }
  assert_true(used > 40);
}

DJT_MAIN(testWildCache, testCacheOrder, testRandom, testAligned, testCoincident, testPlane)
