// Each operation on eight numbers at once against the same on one number after the other.

#include "common/random_model.h"
#include "common/test.h"
#include "math/lanes.h"

enum { N = DJU_LANES, ROUNDS = 200 };

static void draw(double x[N], djRng* rng) {
  for (int i = 0; i < N; i++) x[i] = djt_uniform(rng, -1, 1);
}

static void drawFlags(bool on[N], djMask* mask, djRng* rng) {
  int64_t bits[N];
  for (int i = 0; i < N; i++) {
    on[i] = djt_uniform(rng, -1, 1) > 0;
    bits[i] = on[i] ? -1 : 0;
  }
  memcpy(mask, bits, sizeof bits);
}

// Bit for bit, so that a NaN equals itself.
static void same(djLanes v, const double x[N]) {
  double y[N];
  dju_storeLanes(y, v);
  assert_memory_equal(y, x, sizeof y);
}

// What is loaded and stored keeps its order; nothing is written beyond the eight, or the six.
static void testMemory(void) {
  djRng rng = {1};
  double x[N], y[N + 1], six[N], z[N];
  draw(x, &rng);
  for (int i = 0; i <= N; i++) y[i] = 7;
  dju_storeLanes(y, dju_loadLanes(x));
  assert_memory_equal(y, x, sizeof x);
  assert_true(y[N] == 7);
  for (int i = 0; i < N; i++) six[i] = 7;
  dju_storeSix(six, dju_loadLanes(x));
  assert_memory_equal(six, x, 6 * sizeof(double));
  assert_true(six[6] == 7 && six[7] == 7);
  for (int i = 0; i < N; i++) z[i] = 0.3;
  same(dju_splat(0.3), z);
  for (int n = 1; n <= N; n++) {   // the first ones alone are read and written
    for (int i = 0; i < N; i++) z[i] = i < n ? x[i] : 0;
    same(dju_loadFirst(x, n), z);
    for (int i = 0; i < N; i++) y[i] = 7;
    dju_storeFirst(y, dju_loadLanes(x), n);
    for (int i = 0; i < N; i++) assert_true(y[i] == (i < n ? x[i] : 7));
  }
}

// Lanes that a mask leaves out do not count, not even a NaN there.
static void testMasks(void) {
  djRng rng = {2};
  for (int round = 0; round < ROUNDS; round++) {
    double x[N], y[N], kept[N], picked[N];
    bool on[N];
    djMask mask;
    draw(x, &rng);
    draw(y, &rng);
    drawFlags(on, &mask, &rng);
    for (int i = 0; i < N; i++) {
      if (!on[i] && round % 2) x[i] = NAN;
      if (on[i] && round % 2) y[i] = INFINITY;
      kept[i] = on[i] ? x[i] : 0;
      picked[i] = on[i] ? x[i] : y[i];
    }
    same(dju_keep(dju_loadLanes(x), mask), kept);
    same(dju_pick(mask, dju_loadLanes(x), dju_loadLanes(y)), picked);
  }
}

// The first n lanes, for n below none and beyond all; and whether any one lane is set.
static void testFirstAndAny(void) {
  for (int n = -3; n < N + 4; n++) {
    int64_t bits[N];
    djMask mask = dju_firstLanes(n);
    memcpy(bits, &mask, sizeof bits);
    for (int i = 0; i < N; i++) assert_true(bits[i] == (i < n ? -1 : 0));
    assert_true(dju_any(mask) == (n > 0));
  }
  for (int i = 0; i < N; i++) {
    int64_t bits[N] = {0};
    djMask mask;
    bits[i] = -1;
    memcpy(&mask, bits, sizeof bits);
    assert_true(dju_any(mask));
  }
}

static void testMin(void) {
  djRng rng = {3};
  for (int round = 0; round < ROUNDS; round++) {
    double x[N], y[N], less[N], least = INFINITY;
    draw(x, &rng);
    draw(y, &rng);
    if (round % 3 == 0) x[round % N] = NAN;   // the other counts
    if (round % 3 == 1) x[round % N] = INFINITY;
    for (int i = 0; i < N; i++) {
      less[i] = x[i] < y[i] ? x[i] : y[i];
      least = fmin(least, y[i]);
    }
    same(dju_minLanes(dju_loadLanes(x), dju_loadLanes(y)), less);
    assert_true(dju_least(dju_loadLanes(y)) == least);
  }
  for (int i = 0; i < N; i++) {   // in every place
    double x[N] = {0};
    x[i] = -1;
    assert_true(dju_least(dju_loadLanes(x)) == -1);
  }
}

// The product and sum, to the rounding of either.
static void testFma(void) {
  djRng rng = {4};
  for (int round = 0; round < ROUNDS; round++) {
    double a[N], b[N], c[N], y[N];
    draw(a, &rng);
    draw(b, &rng);
    draw(c, &rng);
    dju_storeLanes(y, dju_fmaLanes(dju_loadLanes(a), dju_loadLanes(b), dju_loadLanes(c)));
    for (int i = 0; i < N; i++) assert_true(fabs(y[i] - fma(a[i], b[i], c[i])) < 3e-16);
  }
}

// Sums of small whole numbers have no rounding. Different ones in every lane tell lanes apart.
static void testSums(void) {
  djLanes v[8];
  double x[8][N], expected[8] = {0}, sum[8];
  for (int k = 0; k < 8; k++) {
    for (int i = 0; i < N; i++) {
      x[k][i] = (1 << i) * (1 + 1000.0 * k);
      expected[k] += x[k][i];
    }
    v[k] = dju_loadLanes(x[k]);
    assert_true(dju_sumLanes(v[k]) == expected[k]);
  }
  dju_sumEight(sum, v);
  assert_memory_equal(sum, expected, sizeof sum);
  same(dju_foldEight(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]), expected);
  double pairs[N], quads[N];
  for (int i = 0; i < N; i += 2) {
    pairs[i] = x[0][i] + x[0][i + 1];
    pairs[i + 1] = x[1][i] + x[1][i + 1];
  }
  same(dju_addPairs(v[0], v[1]), pairs);
  for (int i = 0; i < N; i++) {   // two lanes of a, two of b: each with the one two further
    quads[i] = i < 4 ? x[0][i / 2 * 4 + i % 2] + x[0][i / 2 * 4 + i % 2 + 2]
                     : x[1][(i - 4) / 2 * 4 + i % 2] + x[1][(i - 4) / 2 * 4 + i % 2 + 2];
  }
  same(dju_addQuads(v[0], v[1]), quads);
}

DJT_MAIN(testMemory, testMasks, testFirstAndAny, testMin, testFma, testSums)
