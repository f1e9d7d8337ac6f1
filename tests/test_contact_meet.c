// Blocks of pairs that a trial of Newton's method has met: quadratics that fit the energy at a
// place on the way, seen from the present point. Two pairs of balls, of which one is driven
// together.

#include "common/balls.h"
#include "common/near.h"
#include "common/test.h"
#include "contact/contact.h"

enum { NBALL = 4, NBODY = NBALL + 1 };

typedef struct Scene {
  djModel* m;
  djContacts* c;
  djPose from[NBODY], to[NBODY];
  double touch, range;
} Scene;

// gap: over the range, of the first pair at the present point; of the other it is a half. Driven
// by `way` ranges.
static void begin(Scene* s, double gap, double way) {
  djError err = {""};
  djVec3 ref[NBODY];
  s->m = djt_makeBalls(NBALL, NBALL);
  s->range = s->m->contact.range;
  s->touch = 0.2 - s->m->geom_skin[0] - s->m->geom_skin[1];
  for (int b = 0; b < NBODY; b++) {
    const double reach = s->touch + (b <= 2 ? gap : 0.5) * s->range;
    s->from[b] = (djPose){{b % 2 == 0 ? reach : 0, b > 2 ? 5 : 0, 0}, dju_eye3()};
    if (b == 0) s->from[b].p.x = 0;
    ref[b] = s->from[b].p;
    s->to[b] = s->from[b];
  }
  s->to[2].p.x -= way * s->range;
  assert_int_equal(dj_makeContacts(&s->c, s->m, &err), DJ_OK);
  assert_int_equal(dj_beginContacts(s->c, s->m, s->from, NULL, NULL, ref, 0.002, &err), DJ_OK);
}

static void end(Scene* s) {
  dj_deleteContacts(s->c);
  dj_deleteModel(s->m);
}

static double eval(Scene* s, const djPose* pose) {
  double value;
  assert_int_equal(dj_evalContacts(&value, s->c, s->m, pose, NULL, DJ_EVAL_HESSIAN), DJ_OK);
  return value;
}

// The block of the pair whose first geom is `first`, or NULL.
static const djContactBlock* find(const Scene* s, int first) {
  int n;
  const djContactBlock* const* block = dj_contactBlocks(&n, s->c);
  for (int k = 0; k < n; k++) {
    if ((block[k]->geom_a < block[k]->geom_b ? block[k]->geom_a : block[k]->geom_b) == first) {
      return block[k];
    }
  }
  return NULL;
}

// Energy of the driven pair, a part f of the way.
static double energyAt(Scene* s, double f) {
  djPose pose[NBODY];
  memcpy(pose, s->from, sizeof pose);
  pose[2].p.x += f * (s->to[2].p.x - s->from[2].p.x);
  eval(s, pose);
  const djContactBlock* b = find(s, 0);
  return b ? b->out.value : 0;
}

static double quadratic(const djPairOutput* out, double x, double f) {
  return out->value + f * x * (out->gradient[9] + 0.5 * f * x * out->hessian[12 * 9 + 9]);
}

// Along an axis of the moves of both balls against each other.
static double curvature(const djPairOutput* out, int axis) {
  const double* H = out->hessian;
  const int a = axis, b = axis + 6;
  return H[13 * a] - H[12 * a + b] - H[12 * b + a] + H[13 * b];
}

// The quadratic meets the energy to second order where that is about the excess.
static void checkFit(Scene* s, const djPairOutput* met, const djPairOutput* present,
                     double excess) {
  const double x = s->to[2].p.x - s->from[2].p.x, e = 1e-4;
  double low = 0, high = 1; // the quadratic is above the energy before that place, below it after
  for (int k = 0; k < 50; k++) {
    const double f = 0.5 * (low + high);
    *(quadratic(met, x, f) >= energyAt(s, f) ? &low : &high) = f;
  }
  const double f = low, rise = energyAt(s, f) - quadratic(present, x, f);
  assert_true(f > 0.01 && f < 0.99);
  assert_true(rise > 0.25 * excess && rise < 3.5 * excess);
  const double slope = (energyAt(s, f + e) - energyAt(s, f - e)) / (2 * e);
  const double fitted = (quadratic(met, x, f + e) - quadratic(met, x, f - e)) / (2 * e);
  djt_near(fitted, slope, 1e-2 * fabs(slope));
}

// From beyond the range, and from where they touch already.
static void testMet(void) {
  for (int k = 0; k < 2; k++) {
    Scene s;
    begin(&s, k ? 0.4 : 1.5, k ? 0.3 : 1.3);
    const double before = eval(&s, s.from);
    const djPairOutput none = {0}, other = find(&s, 2)->out;
    const djPairOutput present = k ? find(&s, 0)->out : none;
    assert_int_equal(find(&s, 0) != NULL, k);
    dj_easeContacts(s.c, DJ_EASE_NONE, 1);
    const double there = eval(&s, s.to), excess = 1e-3 * (there - before);
    int n;
    assert_int_equal(dj_meetContacts(&n, s.c, s.m, excess), DJ_OK);
    assert_int_equal(n, 1);
    assert_false(dj_replayContacts(s.c, s.to));
    assert_true(dj_replayContacts(s.c, s.from));
    eval(&s, s.from);
    const djPairOutput met = find(&s, 0)->out;
    assert_memory_equal(&find(&s, 2)->out, &other, sizeof other);
    assert_true(met.gradient[9] != present.gradient[9]);
    dj_replayContacts(s.c, NULL);
    assert_true(curvature(&met, 4) >= -1e-12 * met.hessian[12 * 9 + 9]);
    assert_int_equal(dj_startContacts(s.c, s.m, s.to), DJ_OK); // not of what was replayed
    djt_near(find(&s, 0)->out.value + find(&s, 2)->out.value, there, 1e-12 * there);
    checkFit(&s, &met, &present, excess);
    djt_near(eval(&s, s.from), before, 1e-12 * before); // all is as it was
    end(&s);
  }
}

// What overlaps in a trial is met where it does not yet, and the other pair is what it was.
static void testOverlap(void) {
  Scene s;
  begin(&s, 1.5, 3);
  const double excess = 1e-3 * energyAt(&s, 0.8 * 1.5 / 3);
  eval(&s, s.from);
  const djPairOutput other = find(&s, 2)->out, none = {0};
  dj_easeContacts(s.c, DJ_EASE_NONE, 1);
  assert_true(isinf(eval(&s, s.to)));
  int n;
  assert_int_equal(dj_meetContacts(&n, s.c, s.m, excess), DJ_OK);
  assert_int_equal(n, 1);
  assert_true(dj_replayContacts(s.c, s.from));
  eval(&s, s.from);
  const djPairOutput met = find(&s, 0)->out;
  assert_memory_equal(&find(&s, 2)->out, &other, sizeof other);
  dj_replayContacts(s.c, NULL);
  s.to[2].p.x = s.from[2].p.x - 1.2 * s.range; // to where there is an energy
  double x = s.to[2].p.x - s.from[2].p.x;
  assert_true(quadratic(&met, x, 1) < energyAt(&s, 1));
  checkFit(&s, &met, &none, excess);
  end(&s);
}

// Nothing is met where the excess is not exceeded, where the way is foreseen, or without a present
// point.
static void testNothing(void) {
  for (int k = 0; k < 3; k++) {
    Scene s;
    int n = 1;
    begin(&s, 0.8, k == 1 ? 1e-3 : 0.7);
    const double before = eval(&s, s.from);
    dj_easeContacts(s.c, DJ_EASE_NONE, k < 2);
    const double rise = eval(&s, s.to) - before;
    assert_true(rise > 0);
    assert_int_equal(dj_meetContacts(&n, s.c, s.m, k == 0 ? 2 * rise : 0.1 * rise), DJ_OK);
    assert_int_equal(n, 0);
    end(&s);
  }
}

// Blocks of a point that is left are forgotten, and those without Hessians not kept: what a step
// comes to would depend on what stood there before.
static void testLeft(void) {
  for (int ease = DJ_EASE_NONE; ease <= DJ_EASED; ease++) {
    Scene s;
    double value;
    int n = 1;
    begin(&s, 1.5, 1.3);
    eval(&s, s.from);
    dj_easeContacts(s.c, DJ_EASE_NONE, 1);
    eval(&s, s.to);
    assert_true(dj_replayContacts(s.c, s.from));
    dj_replayContacts(s.c, NULL);
    assert_int_equal(dj_evalContacts(&value, s.c, s.m, s.to, NULL, 0), DJ_OK);
    dj_easeContacts(s.c, (djEase)ease, 2);
    assert_false(dj_replayContacts(s.c, s.from));
    assert_false(dj_replayContacts(s.c, s.to));
    eval(&s, s.to);
    assert_int_equal(dj_meetContacts(&n, s.c, s.m, 1e-12), DJ_OK);
    assert_int_equal(n, 0);
    end(&s);
  }
}

DJT_MAIN(testMet, testOverlap, testNothing, testLeft)
