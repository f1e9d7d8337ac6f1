// The cap of a step: how much of a motion may be taken, so that no two shapes near each other by
// more than .9 of their gap and a quarter of (s L + the thinner one's thickness) on the whole way, on
// which origins move straight and bodies turn evenly.

#include "common/make_model.h"
#include "common/random_shape.h"
#include "common/scene.h"
#include "common/test.h"
#include "contact/contact.h"
#include "contact/plane/recovery.h"
#include "shape/distance.h"

enum { NB = 3 };

// One geom each on two free bodies, somewhere off their frames.
static djModel* makePair(Random* r, int type_a, int type_b, const double size[3]) {
  Scene* s = newScene(2);
  for (int i = 0; i < 2; i++) {
    const int b = addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.5);
    djGeomDef* g = addGeom(s, b, i ? type_b : type_a, size[0], size[1], size[2]);
    dju_storeQuat(g->quat, randomQuat(r));
    if (below(r, 2)) dju_store3(g->pos, randomWithin(r, 0.5));
  }
  return takeScene(s);
}

// A motion of the bodies, of which parts may be taken.
typedef struct Motion {
  djPose from[NB];
  djVec3 move[NB], turn[NB];
} Motion;

static void posesAt(djPose pose[NB], const Motion* x, double t) {
  for (int b = 0; b < NB; b++) {
    double angle = t * dju_norm3(x->turn[b]), k = angle > 0 ? t * sin(angle / 2) / angle : 0;
    djQuat q = {cos(angle / 2), k * x->turn[b].x, k * x->turn[b].y, k * x->turn[b].z};
    pose[b].p = dju_madd3(x->from[b].p, t, x->move[b]);
    pose[b].R = dju_mulMM(dju_quatToMat(q), x->from[b].R);
  }
}

static double gapOf(djVec3* normal, const djModel* m, const djPose* pose) {
  djDistance d;
  const djShape* s = m->collision->shape;
  assert_true(dj_distance(&d, NULL, &s[0], &pose[1], 0, &s[1], &pose[2], 0) >= 0);
  *normal = d.normal;
  return d.gap;
}

static double roomOf(const djModel* m) {
  const djShape* s = m->collision->shape;
  return m->contact.support * m->contact.length_scale + 2 * fmin(s[0].inner, s[1].inner);
}

// Puts body 2 at a gap from body 1.
static void place(Motion* x, const djModel* m, Random* r, double gap) {
  djVec3 n;
  x->from[0] = (djPose){dju_vec3(0, 0, 0), dju_eye3()};
  for (int b = 1; b < NB; b++) {
    x->from[b].R = dju_quatToMat(randomQuat(r));
    x->from[b].p = dju_scale3(3 * b, randomUnit(r));
  }
  for (int k = 0; k < 30; k++) {
    double now = gapOf(&n, m, x->from);
    x->from[2].p = dju_madd3(x->from[2].p, gap - now, n);
  }
}

static double capOf(const djModel* m, const Motion* x) {
  djContacts* c;
  djVec3 ref[NB];
  djPose trial[NB];
  double factor;
  assert_int_equal(dj_makeContacts(&c, m, NULL), DJ_OK);
  for (int b = 0; b < NB; b++) ref[b] = x->from[b].p;
  posesAt(trial, x, 1);
  assert_true(dj_beginContacts(c, m, x->from, NULL, NULL, ref, 0.002, NULL) >= 0);
  assert_true(dj_capContacts(&factor, c, m, x->from, trial) >= 0);
  assert_true(factor > 0 && factor <= 1);
  dj_deleteContacts(c);
  return factor;
}

// Slender bars and flat plates that turn past each other.
static void testWholeWay(void) {
  static const int types[] = {DJ_BOX, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER};
  Random r = {1};
  int capped = 0, taken = 0;
  for (int trial = 0; trial < 600; trial++) {
    const double bar[3] = {0.04, 1, 0.05}, plate[3] = {1, 0.03, 0.8};
    int type_a = types[below(&r, 4)], type_b = types[below(&r, 4)];
    djModel* m = makePair(&r, type_a, type_b, trial % 2 ? bar : plate);
    const djShape* s = m->collision->shape;
    Motion x;
    memset(&x, 0, sizeof x);
    place(&x, m, &r, logUniform(&r, 1e-3, 0.5));
    for (int b = 1; b < NB; b++) {
      if (trial % 3 != 1) x.turn[b] = randomAway(&r, 0.01, 3);
      if (trial % 3 != 2) x.move[b] = randomAway(&r, 0.01, 3);
      if (trial % 5 == b) x.turn[b] = x.move[b] = dju_vec3(0, 0, 0);
    }
    djVec3 n;
    double gap = gapOf(&n, m, x.from), limit = 0.9 * fmax(gap, 0) + 0.25 * roomOf(m);
    double factor = capOf(m, &x);
    // small turns are bounded by their ends, which is exact to the second order of the angle
    double arm = fmax(dju_norm3(s[0].center) + s[0].bound, dju_norm3(s[1].center) + s[1].bound);
    for (int k = 1; k <= 20; k++) {
      djPose pose[NB];
      posesAt(pose, &x, factor * k / 20);
      assert_true(gap - gapOf(&n, m, pose) <= limit + 0.02 * arm * fmin(1, dju_norm3(x.turn[1]) +
                                                                          dju_norm3(x.turn[2])));
    }
    capped += factor < 1;
    taken += factor == 1;
    dj_deleteModel(m);
  }
  assert_true(capped > 100 && taken > 100);
}

// Balls that move straight: the bound is exact, the cap the largest there is.
static void testBalls(void) {
  Random r = {2};
  int capped = 0;
  for (int trial = 0; trial < 300; trial++) {
    double size[3] = {logUniform(&r, 0.02, 0.5), 0, 0};
    djModel* m = makePair(&r, DJ_SPHERE, DJ_SPHERE, size);
    Motion x;
    djVec3 n;
    memset(&x, 0, sizeof x);
    place(&x, m, &r, logUniform(&r, 1e-4, 1));
    for (int b = 1; b < NB; b++) x.move[b] = randomAway(&r, 0.01, 3);
    double gap = gapOf(&n, m, x.from), limit = 0.9 * gap + 0.25 * roomOf(m);
    double loss = dju_dot3(n, dju_sub3(x.move[1], x.move[2]));
    double factor = capOf(m, &x), expected = loss > limit ? limit / loss : 1;
    assert_true(fabs(factor - expected) < 1e-9 * expected);
    capped += factor < 1;
    dj_deleteModel(m);
  }
  assert_true(capped > 50 && capped < 250);
}

// Whatever moves together is not slowed, nor what moves apart, however it turns about the way between.
static void testTogether(void) {
  static const int types[] = {DJ_BOX, DJ_CAPSULE, DJ_ELLIPSOID, DJ_CYLINDER};
  Random r = {3};
  for (int trial = 0; trial < 200; trial++) {
    const double size[3] = {0.1, 0.5, 0.2};
    int type_a = types[below(&r, 4)], type_b = types[below(&r, 4)];
    djModel* m = makePair(&r, type_a, type_b, size);
    Motion x;
    djVec3 n;
    memset(&x, 0, sizeof x);
    place(&x, m, &r, logUniform(&r, 1e-3, 0.1));
    gapOf(&n, m, x.from);
    djVec3 together = randomAway(&r, 0.1, 30);
    x.move[1] = dju_madd3(together, -uniform(&r, 0, 1), n);
    x.move[2] = dju_madd3(together, uniform(&r, 0, 1), n);
    if (trial % 2) x.turn[1 + below(&r, 2)] = dju_scale3(uniform(&r, -2.7, 2.7), n);
    assert_true(capOf(m, &x) == 1);
    dj_deleteModel(m);
  }
}

DJT_MAIN(testWholeWay, testBalls, testTogether)
