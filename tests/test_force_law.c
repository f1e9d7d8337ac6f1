// Laws of gain and bias, row by row: the numbers that a law does not read do nothing, derivatives
// are those of its coefficients, and names lead to rows and back.

#include "common/near.h"
#include "common/random_model.h"
#include "model/force_law.h"

#include <string.h>

static void checkLaw(const djForceLaw* law, djRng* rng) {
  double prm[3], c[3], weight[3], by[3] = {0};
  for (int k = 0; k < 3; k++) {
    prm[k] = djt_uniform(rng, 0.5, 2);
    weight[k] = djt_uniform(rng, -1, 1);
  }
  law->set(c, law, prm);
  law->vjp(by, law, weight, prm);
  for (int k = 0; k < 3; k++) {
    double other[3], plus[3], minus[3], slope = 0, e = 1e-5;
    memcpy(other, prm, sizeof other);
    other[k] = prm[k] + e;
    law->set(plus, law, other);
    other[k] = prm[k] - e;
    law->set(minus, law, other);
    for (int r = 0; r < 3; r++) slope += weight[r] * (plus[r] - minus[r]) / (2 * e);
    djt_near(by[k], slope, 1e-9);
    if (k >= law->nprm) assert_true(memcmp(plus, c, sizeof c) == 0 && by[k] == 0);
  }
  assert_true(!law->problem || law->nprm > 0);
}

static int checkTable(const djForceLaw* law, const djChoice* names, djRng* rng) {
  int n = 0;
  for (; names[n].name; n++) {
    assert_int_equal(names[n].value, n);
    assert_string_equal(names[n].name, law[n].name);
    for (int trial = 0; trial < 20; trial++) checkLaw(&law[n], rng);
  }
  return n;
}

static void testRows(void** state) {
  (void)state;
  djRng rng = {51};
  assert_int_equal(checkTable(dj_gainLaws, dj_gainNames, &rng), DJ_GAIN_AFFINE + 1);
  assert_int_equal(checkTable(dj_biasLaws, dj_biasNames, &rng), DJ_BIAS_AFFINE + 1);
}

// p = g . (1, l, l') u + b . (1, l, l')
static void testValues(void** state) {
  (void)state;
  const double prm[3] = {2, 3, 5};
  double c[3];
  dj_gainLaws[DJ_GAIN_FIXED].set(c, &dj_gainLaws[DJ_GAIN_FIXED], prm);
  assert_true(c[0] == 2 && c[1] == 0 && c[2] == 0);
  dj_biasLaws[DJ_BIAS_NONE].set(c, &dj_biasLaws[DJ_BIAS_NONE], prm);
  assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0);
  dj_biasLaws[DJ_BIAS_AFFINE].set(c, &dj_biasLaws[DJ_BIAS_AFFINE], prm);
  assert_true(c[0] == 2 && c[1] == 3 && c[2] == 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRows), cmocka_unit_test(testValues)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
