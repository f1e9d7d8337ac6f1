// The ladder of differences on functions whose derivatives are known.

#include "common/near.h"
#include "common/test.h"
#include "gradient/ladder.h"

// sin(1 + e) - sin(1), by a formula without cancellation; with noise of a given size.
static bool sine(void* user, double e, double* change) {
  const double* noise = user;
  *change = 2 * cos(1 + e / 2) * sin(e / 2) + *noise * sin(1e13 * e + 3);
  return true;
}

// Not defined at negative steps.
static bool oneSided(void* user, double e, double* change) {
  return e >= 0 && sine(user, e, change);
}

static djLadder make(djChangeAlong along, double* noise) {
  return (djLadder){.along = along, .user = noise, .loss = sin(1), .scale = 0.1,
                    .rounding = 1e-17, .noise = 1e-17};
}

static void testSine(void) {
  double noise = 0, slope, doubt;
  djLadder l = make(sine, &noise);
  djDifference d;
  assert_false(dj_extrapolate(&d, &l));   // no steps yet
  for (int k = 0; k < 8; k++) dj_descend(&l);
  assert_int_equal(l.n, 8);
  for (int k = 1; k < 8; k++) djt_near(l.e[k - 1] / l.e[k], DJ_RATIO, 1e-12);
  assert_true(dj_extrapolate(&d, &l));
  assert_int_equal(d.side, 0);
  djt_near(d.value, cos(1), 1e-12);
  assert_true(fabs(d.value - cos(1)) <= d.error + 1e-15);
  // the remainder of a right derivative is of second order, of a wrong one of first
  assert_true(dj_measureSlope(&slope, &doubt, &d, &l, cos(1)));
  djt_near(slope, 2, 0.1);
  assert_true(dj_measureSlope(&slope, &doubt, &d, &l, 1.1 * cos(1)));
  assert_true(fabs(slope - 1) < 0.2);
}

static void testOneSided(void) {
  double noise = 0;
  djLadder l = make(oneSided, &noise);
  assert_true(isnan(dj_changeAt(&l, -0.01)));
  djt_near(dj_changeAt(&l, 0.01), sin(1.01) - sin(1), 1e-15);
  djDifference d;
  for (int k = 0; k < 10; k++) dj_descend(&l);
  assert_true(dj_extrapolate(&d, &l));
  assert_int_equal(d.side, 1);
  djt_near(d.value, cos(1), 1e-9);
}

static void testNoise(void) {
  double noise = 1e-9;
  djLadder l = make(sine, &noise);
  dj_measureNoise(&l);
  assert_true(l.noise > 1e-10 && l.noise < 1e-8);
}

static void testJudge(void) {
  double noise = 0;
  djdCertificate c;
  assert_int_equal(dj_judge(&c, sin(1), cos(1), 0.1, 1e-17, 400, sine, &noise), DJ_OK);
  assert_true(c.passed && c.relative_error < 1e-9);
  assert_int_equal(dj_judge(&c, sin(1), 1.001 * cos(1), 0.1, 1e-17, 400, sine, &noise), DJ_OK);
  assert_false(c.passed);
  assert_string_equal(c.gave_up, "");
  for (int most = 20; most < 200; most += 20) {   // that noise wants more
    noise = 1e-9;
    dj_judge(&c, sin(1), cos(1), 0.1, 1e-17, most, sine, &noise);
    assert_true(c.evaluations <= most);
    assert_true(c.passed || strstr(c.gave_up, "allowed"));
  }
}

DJT_MAIN(testSine, testOneSided, testNoise, testJudge)
