// Sets of shapes for gaps: supports are those of the shapes as given, relative to the origin, and
// smoothing changes them by no more than it says.

#include "common/near.h"
#include "common/random_shape.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/query/gap_shape.h"

enum { NSHAPE = 7, NPOINT = 40 };

typedef struct Set {
  djcShape shape[NSHAPE];   // box, ball, capsule, ellipsoid, cloud with radius, flat cloud, plane
  double cloud[3 * NPOINT], flat[15], origin[3];
  djGapSide side;
  djPool pool;
} Set;

static const double SIZE[4][3] = {{0.3, 0.2, 0.5}, {0.25, 0, 0}, {0.1, 0.4, 0}, {0.2, 0.4, 0.3}};
static const double CUBE = 0.35, RADIUS = 0.05;

// far: of everything from the world's origin.
static void openSet(Set* s, Random* r, double far) {
  static const djGeomType type[] = {DJ_BOX, DJ_SPHERE, DJ_CAPSULE, DJ_ELLIPSOID};
  memset(s, 0, sizeof *s);
  dju_store3(s->origin, dju_scale3(far, randomUnit(r)));
  for (int i = 0; i < NSHAPE; i++) {
    djcShape* g = &s->shape[i];
    dju_storeQuat(g->quat, randomQuat(r));
    for (int k = 0; k < 3; k++) g->pos[k] = s->origin[k] + uniform(r, -1, 1);
    if (i < 4) g->geom = type[i], memcpy(g->size, SIZE[i], sizeof g->size);
  }
  s->shape[6].geom = DJ_PLANE;
  for (int i = 0; i < NPOINT; i++) {   // a cube's corners and points inside
    djVec3 x = randomPoint(r, 0.9 * CUBE, 0.9 * CUBE, 0.9 * CUBE);
    if (i < 8) x = dju_vec3(i & 1 ? CUBE : -CUBE, i & 2 ? CUBE : -CUBE, i & 4 ? CUBE : -CUBE);
    dju_store3(s->cloud + 3 * i, dju_add3(x, dju_load3(s->origin)));
  }
  for (int i = 0; i < 15; i++) {
    s->flat[i] = s->origin[i % 3] + (i % 3 == 2 ? 0.5 : uniform(r, -1, 1));
  }
  const double quat[4] = {1, 0, 0, 0};
  s->shape[4] = (djcShape){.nvert = NPOINT, .vert = s->cloud, .radius = RADIUS};
  s->shape[5] = (djcShape){.nvert = 5, .vert = s->flat};
  for (int i = 4; i < 6; i++) memcpy(s->shape[i].quat, quat, sizeof quat);
  djError err = {""};
  djStatus status = dj_makeGapSide(&s->side, &s->pool, NSHAPE, s->shape, 'a', s->origin, &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
}

static void closeSet(Set* s) {
  dj_freeGapSide(&s->side);
  dj_poolFree(&s->pool);
}

// h(n) of shape i as given, about the origin.
static double given(const Set* s, int i, djVec3 n) {
  const djcShape* g = &s->shape[i];
  double h = -INFINITY;
  for (int k = 0; k < g->nvert; k++) {
    djVec3 x = dju_sub3(dju_load3(g->vert + 3 * k), dju_load3(s->origin));
    h = fmax(h, dju_dot3(n, x) + g->radius);
  }
  if (g->nvert) return h;
  djVec3 u = dju_mulMtV(dju_quatToMat(dju_loadQuat(g->quat)), n);
  double at = dju_dot3(n, dju_sub3(dju_load3(g->pos), dju_load3(s->origin)));
  const double* a = g->size;
  switch (i) {
    case 0: return at + a[0] * fabs(u.x) + a[1] * fabs(u.y) + a[2] * fabs(u.z);
    case 1: return at + a[0];
    case 2: return at + a[0] + a[1] * fabs(u.z);
    default: return at + dju_norm3(dju_vec3(a[0] * u.x, a[1] * u.y, a[2] * u.z));
  }
}

static double made(const djShape* s, djVec3 n) {
  double h = -INFINITY;
  for (int i = 0; i < s->npad; i++) {
    h = fmax(h, n.x * s->vert[0][i] + n.y * s->vert[1][i] + n.z * s->vert[2][i]);
  }
  double q = s->curved ? dju_norm3(dju_mulMtV(s->curve, n)) : 0;
  return h + s->radius + q;
}

static void testShapes(void) {
  Random r = {1};
  for (int t = 0; t < 20; t++) {
    Set s;
    openSet(&s, &r, t % 2 ? 1e5 : 0);
    double small = t % 2 ? 1e-10 : 1e-14;   // what the world's numbers know of it
    assert_int_equal(s.side.n, NSHAPE);
    for (int i = 0; i < 6; i++) {
      const djShape* shape = &s.side.shape[i];
      for (int k = 0; k < 30; k++) {
        djVec3 n = randomUnit(&r);
        djt_near(made(shape, n), given(&s, i, n), small);
      }
      assert_true(!s.side.hull[i].buffer == (i != 4));   // of what has a volume
    }
    static const double inner[] = {0.2, 0.25, 0.1, 0.2, CUBE + RADIUS, 0};
    for (int i = 0; i < 6; i++) djt_near(s.side.shape[i].inner, inner[i], 1e-10);
    assert_int_equal(s.side.shape[4].nvert, 8);
    const djShape* plane = &s.side.shape[6];
    djVec3 n = dju_mulMV(dju_quatToMat(dju_loadQuat(s.shape[6].quat)), dju_vec3(0, 0, 1));
    djVec3 at = dju_sub3(dju_load3(s.shape[6].pos), dju_load3(s.origin));
    assert_true(plane->type == DJ_PLANE && isinf(plane->inner));
    djt_near(dju_norm3(dju_sub3(plane->normal, n)), 0, 1e-14);
    djt_near(plane->offset, dju_dot3(n, at), 1e-14);
    closeSet(&s);
  }
}

static void testSmoothing(void) {
  Random r = {2};
  Set s;
  openSet(&s, &r, 0);
  djGapSide rest = s.side, side[2] = {{0}, {0}};
  side[0] = side[1] = s.side;
  djt_near(dj_defaultSmoothing(side), 2e-3 * 0.1, 1e-16);   // the capsule's
  side[0].n = 1;                                            // a box; and from the cloud on
  side[1].n = 1;
  side[1].shape += 4;
  djt_near(dj_defaultSmoothing(side), 2e-3 * 0.2, 1e-16);
  side[0].shape += 6;                                       // planes have no size
  djt_near(dj_defaultSmoothing(side), 2e-3 * (CUBE + RADIUS), 1e-12);
  side[1].shape += 2;
  djt_near(dj_defaultSmoothing(side), 1, 0);
  side[1].shape -= 1;                                       // flat: the bound
  djt_near(dj_defaultSmoothing(side), 2e-3 * side[1].shape->bound, 1e-16);
  assert_true(side[1].shape->bound > 0.1);
  rest.n = 6;
  djError err = {""};
  double smoothing[] = {0.02, 0.002, 0};
  for (int k = 0; k < 3; k++) {
    double most = 0;
    assert_int_equal(dj_softenSide(&rest, &s.pool, smoothing[k], &err), DJ_OK);
    for (int i = 0; i < 6; i++) {
      assert_true((smoothing[k] > 0) == (rest.soft[i].t > 0) || rest.shape[i].nvert == 1);
      for (int e = 0; e < 500; e++) {
        djSoftPoint p;
        djVec3 n = randomUnit(&r);
        dj_softSupport(&p, &rest.soft[i], n);
        double more = p.h - given(&s, i, n);
        most = djt_worst(most, fabs(more));
        // inside, but for what has no volume; round ones are as they were
        assert_true(more <= (i == 5 ? 0.5 * smoothing[k] : 0) + 1e-13);
        if (i == 1 || i == 3) djt_near(more, 0, 1e-13);
        djt_near(p.h, dju_dot3(n, p.x), 1e-12);   // at the point that is farthest
      }
    }
    assert_true(most <= 1.25 * smoothing[k] + 1e-13 && most >= 0.5 * smoothing[k]);
  }
  closeSet(&s);
}

// Vertices that lie dense, of which no facet has more than three: what is smoothed stays inside.
static void testDense(void) {
  enum { N = 600 };
  Random r = {4};
  double vert[3 * N];
  const double origin[3] = {0};
  for (int i = 0; i < N; i++) dju_store3(vert + 3 * i, randomUnit(&r));
  djcShape ball = {.nvert = N, .vert = vert, .quat = {1, 0, 0, 0}};
  djGapSide side = {0};
  djPool pool = {0};
  djError err = {""};
  assert_int_equal(dj_makeGapSide(&side, &pool, 1, &ball, 'a', origin, &err), DJ_OK);
  assert_int_equal(dj_softenSide(&side, &pool, 0.2, &err), DJ_OK);
  double least = 0;
  for (int k = 0; k < 500; k++) {
    djSoftPoint p;
    djVec3 n = randomUnit(&r);
    dj_softSupport(&p, &side.soft[0], n);
    assert_true(p.h <= made(&side.shape[0], n) + 1e-3 && p.h >= 0.8);
    least = fmax(least, 1 - p.h);
  }
  assert_true(least > 0.01);
  dj_freeGapSide(&side);
  dj_poolFree(&pool);
}

static void testRefused(void) {
  Random r = {3};
  Set s;
  openSet(&s, &r, 0);
  djGapSide side = {0};
  djError err = {""};
  djt_refused(DJ_INVALID, dj_makeGapSide(&side, &s.pool, 0, s.shape, 'b', s.origin, &err), err,
              "b: no shapes");
  assert_int_equal(dj_makeGapSide(&side, &s.pool, 2, NULL, 'b', s.origin, &err), DJ_INVALID);
  s.shape[5].vert = NULL;   // the last of them: what was made before it is released
  assert_int_equal(dj_makeGapSide(&side, &s.pool, 6, s.shape, 'b', s.origin, &err), DJ_INVALID);
  assert_true(err.text[0] == 'b');
  dj_freeGapSide(&side);
  closeSet(&s);
}

DJT_MAIN(testShapes, testSmoothing, testDense, testRefused)
