// Laws of gain and bias, row by row: the numbers that a law does not read do nothing, derivatives
// are those of its coefficients, which are a tangent's, and names lead to rows and back.

#include "common/near.h"
#include "common/random_model.h"
#include "common/test.h"
#include "model/force_law.h"

static djLawAt placeOf(djRng* rng) {
  return (djLawAt){djt_uniform(rng, 0.5, 1.1), djt_uniform(rng, -0.9, 0.9), {0.5, 1.1}, 2};
}

// Where a law is not smooth is left alone: a difference across it is of neither side.
static void near(double value, const double coarse, const double fine, double size, int* left) {
  if (fabs(coarse - fine) > 1e-6 * size) {
    ++*left;
    return;
  }
  djt_near(value / size, fine / size, 1e-5);
}

// Numbers that all laws take: a muscle's range, force, scale, lmin, lmax, vmax, fpmax, fvmax.
static void chooseNumbers(double prm[DJ_NPRM], djRng* rng) {
  const double typical[DJ_NPRM] = {0.7, 1.1, 30, 200, 0.5, 1.6, 1.5, 1.3, 1.2, 1};
  for (int k = 0; k < DJ_NPRM; k++) prm[k] = typical[k] * djt_uniform(rng, 0.95, 1.05);
  if (djt_uniform(rng, 0, 1) < 0.3) prm[2] = -1;
}

static double weighted(const djForceLaw* law, const double* prm, const djLawAt* at,
                       const double weight[3]) {
  djLawCoefs f;
  law->set(&f, law, prm, at);
  return weight[0] * f.c[0] + weight[1] * f.c[1] + weight[2] * f.c[2];
}

static double slope(const djForceLaw* law, const double* prm, const djLawAt* at,
                    const double weight[3], int k, double e) {
  double other[DJ_NPRM], f[2];
  for (int side = 0; side < 2; side++) {
    memcpy(other, prm, sizeof other);
    other[k] += side ? e : -e;
    f[side] = weighted(law, other, at, weight);
  }
  return (f[1] - f[0]) / (2 * e);
}

static void checkNumbers(const djForceLaw* law, djRng* rng, int* left) {
  double prm[DJ_NPRM], weight[3], by[DJ_NPRM] = {0};
  djLawAt at = placeOf(rng);
  chooseNumbers(prm, rng);
  for (int k = 0; k < 3; k++) weight[k] = djt_uniform(rng, -1, 1);
  law->vjp(by, law, weight, prm, &at);
  for (int k = 0; k < DJ_NPRM; k++) {
    double e = 1e-5 * fmax(1, fabs(prm[k]));
    double coarse = slope(law, prm, &at, weight, k, 2 * e);
    double fine = slope(law, prm, &at, weight, k, e);
    near(by[k], coarse, fine, fmax(10, fabs(fine)), left);
    if (k >= law->nprm) assert_true(fine == 0 && by[k] == 0);
  }
}

// The value at a place, by its own tangent.
static double valueAt(const djForceLaw* law, const double* prm, const djLawAt* at) {
  djLawCoefs f;
  law->set(&f, law, prm, at);
  return f.c[0] + f.c[1] * at->l + f.c[2] * at->rate;
}

// What: 0: the value, 1: the slope by l'; by l or l'.
static double placeSlope(const djForceLaw* law, const double* prm, djLawAt at, int what, bool by_l,
                         double e) {
  double f[2];
  for (int side = 0; side < 2; side++) {
    djLawAt moved = at;
    *(by_l ? &moved.l : &moved.rate) += side ? e : -e;
    djLawCoefs c;
    law->set(&c, law, prm, &moved);
    f[side] = what ? c.c[2] : valueAt(law, prm, &moved);
  }
  return (f[1] - f[0]) / (2 * e);
}

static void checkTangent(const djForceLaw* law, djRng* rng, int* left) {
  double prm[DJ_NPRM];
  djLawAt at = placeOf(rng);
  djLawCoefs f;
  chooseNumbers(prm, rng);
  law->set(&f, law, prm, &at);
  const double found[4] = {f.c[1], f.c[2], f.by_l, f.by_rate};
  for (int k = 0; k < 4; k++) {
    double coarse = placeSlope(law, prm, at, k / 2, k % 2 == 0, 2e-5);
    double fine = placeSlope(law, prm, at, k / 2, k % 2 == 0, 1e-5);
    near(found[k], coarse, fine, fmax(10, fabs(fine)), left);
  }
  if (!law->bends) assert_true(f.by_l == 0 && f.by_rate == 0);
}

static int checkTable(const djForceLaw* law, const djChoice* names, djRng* rng) {
  int n = 0, left = 0;
  for (; names[n].name; n++) {
    assert_int_equal(names[n].value, n);
    assert_string_equal(names[n].name, law[n].name);
    for (int trial = 0; trial < 200; trial++) {
      checkNumbers(&law[n], rng, &left);
      checkTangent(&law[n], rng, &left);
    }
    assert_true(!law[n].problem || law[n].nprm > 0);
  }
  assert_true(left < 20);
  return n;
}

static void testRows(void) {
  djRng rng = {51};
  assert_int_equal(checkTable(dj_gainLaws, dj_gainNames, &rng), DJ_GAIN_MUSCLE + 1);
  assert_int_equal(checkTable(dj_biasLaws, dj_biasNames, &rng), DJ_BIAS_MUSCLE + 1);
}

// p = g . (1, l, l') u + b . (1, l, l')
static void testValues(void) {
  const double prm[DJ_NPRM] = {2, 3, 5};
  djLawAt at = {1, 2, {0, 1}, 1};
  djLawCoefs f;
  dj_gainLaws[DJ_GAIN_FIXED].set(&f, &dj_gainLaws[DJ_GAIN_FIXED], prm, &at);
  assert_true(f.c[0] == 2 && f.c[1] == 0 && f.c[2] == 0);
  dj_biasLaws[DJ_BIAS_NONE].set(&f, &dj_biasLaws[DJ_BIAS_NONE], prm, &at);
  assert_true(f.c[0] == 0 && f.c[1] == 0 && f.c[2] == 0);
  dj_biasLaws[DJ_BIAS_AFFINE].set(&f, &dj_biasLaws[DJ_BIAS_AFFINE], prm, &at);
  assert_true(f.c[0] == 2 && f.c[1] == 3 && f.c[2] == 5);
}

// At the middle of its range and at rest a muscle pulls with its peak force; what is wrong is told.
static void testMuscle(void) {
  double prm[DJ_NPRM] = {0.75, 1.05, 40, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  djLawAt at = {0.5 + 0.25 / 0.3 * 0.6, 0, {0.5, 1.1}, 2};
  djt_near(valueAt(&dj_gainLaws[DJ_GAIN_MUSCLE], prm, &at), -40, 1e-12);
  djt_near(valueAt(&dj_biasLaws[DJ_BIAS_MUSCLE], prm, &at), 0, 1e-12);
  prm[2] = -1;
  djt_near(valueAt(&dj_gainLaws[DJ_GAIN_MUSCLE], prm, &at), -100, 1e-12);
  assert_null(dj_gainLaws[DJ_GAIN_MUSCLE].problem(prm));
  const int place[5] = {1, 4, 5, 6, 8};
  const double wrong[5] = {0.7, 1.2, 0.9, 0, 0.99};
  for (int k = 0; k < 5; k++) {
    double bad[DJ_NPRM];
    memcpy(bad, prm, sizeof bad);
    bad[place[k]] = wrong[k];
    assert_non_null(dj_gainLaws[DJ_GAIN_MUSCLE].problem(bad));
  }
}

DJT_MAIN(testRows, testValues, testMuscle)
