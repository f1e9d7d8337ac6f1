// Broad phase against all pairs: random, moving, clustered, infinite and bad boxes; short lists.

#include "common/random_shape.h"
#include "common/test.h"
#include "shape/broadphase.h"

enum { MAXBOX = 300, MAXPAIR = MAXBOX * MAXBOX / 2 };

static bool keepSome(const void* user, int a, int b) {
  const int* modulus = user;
  return (a * 31 + b * 17) % *modulus != 0;
}

static int bruteForce(djBoxPair* pair, int n, const double* box, int modulus) {
  int npair = 0;
  for (int a = 0; a < n; a++) {
    for (int b = a + 1; b < n; b++) {
      bool overlap = keepSome(&modulus, a, b);
      for (int k = 0; k < 3; k++) {
        if (box[6 * a + k] > box[6 * b + 3 + k] || box[6 * b + k] > box[6 * a + 3 + k]) {
          overlap = false;
        }
      }
      if (overlap) pair[npair++] = (djBoxPair){a, b};
    }
  }
  return npair;
}

static void check(djBroadphase* s, int n, const double* box, int modulus, int maxpair) {
  static djBoxPair expected[MAXPAIR], pair[MAXPAIR + 1];
  int count = bruteForce(expected, n, box, modulus);
  memset(pair, 0x55, sizeof pair);
  assert_int_equal(dj_updateBroadphase(pair, maxpair, s, box, keepSome, &modulus), count);
  int listed = count < maxpair ? count : maxpair;
  for (int i = 0; i < listed; i++) {
    assert_int_equal(pair[i].a, expected[i].a);
    assert_int_equal(pair[i].b, expected[i].b);
  }
  assert_int_equal(pair[listed].a, 0x55555555);   // nothing beyond
}

static void makeBox(Random* r, double box[6], double span, double size) {
  for (int k = 0; k < 3; k++) {
    double c = uniform(r, -span, span), half = uniform(r, 0, size);
    box[k] = c - half;
    box[3 + k] = c + half;
  }
}

static void testRandom(void) {
  Random r = {11};
  static double box[6 * MAXBOX];
  for (int trial = 0; trial < 120; trial++) {
    int n = trial < 5 ? trial : 2 + below(&r, MAXBOX - 2);
    void* memory = malloc(dj_broadphaseSize(n));
    djBroadphase* s = dj_initBroadphase(memory, n);
    assert_non_null(s);
    for (int i = 0; i < n; i++) makeBox(&r, box + 6 * i, 1, trial % 3 ? 0.1 : 0.5);
    for (int i = 0; i < n && trial % 2; i += 37) {   // half spaces, and the whole space
      for (int k = 0; k < 3; k++) {
        box[6 * i + k] = -INFINITY;
        box[6 * i + 3 + k] = k < 2 || trial % 4 == 1 ? INFINITY : 0;
      }
    }
    for (int step = 0; step < 12; step++) {
      int maxpair = step % 4 == 3 ? below(&r, 50) : MAXPAIR;
      check(s, n, box, 2 + below(&r, 40), maxpair);
      double move = step == 6 ? 3 : 0.02;             // a jump, and little moves
      for (int i = 0; i < n; i++) {
        double d = uniform(&r, -move, move);
        int k = below(&r, 3);
        box[6 * i + k] += d;
        box[6 * i + 3 + k] += d;
      }
    }
    free(memory);
  }
}

static void testTies(void) {
  static double box[6 * MAXBOX];
  void* memory = malloc(dj_broadphaseSize(64));
  djBroadphase* s = dj_initBroadphase(memory, 64);
  for (int i = 0; i < 64; i++) {   // a grid whose cells touch: all neighbours count
    for (int k = 0; k < 3; k++) {
      box[6 * i + k] = (i >> (2 * k)) & 3;
      box[6 * i + 3 + k] = box[6 * i + k] + 1;
    }
  }
  check(s, 64, box, 1000003, MAXPAIR);
  for (int i = 0; i < 64; i++) memcpy(box + 6 * i, box, 6 * sizeof(double));   // all the same
  check(s, 64, box, 1000003, MAXPAIR);
  check(s, 64, box, 1000003, 7);
  check(s, 64, box, 1000003, 0);
  free(memory);
}

// What is not a number overlaps everything: nothing may be lost.
static void testBad(void) {
  static djBoxPair pair[MAXPAIR];
  double box[18] = {0, 0, 0, 1, 1, 1, NAN, NAN, NAN, NAN, NAN, NAN, 5, 5, 5, 6, 6, 6};
  void* memory = malloc(dj_broadphaseSize(3));
  djBroadphase* s = dj_initBroadphase(memory, 3);
  assert_int_equal(dj_updateBroadphase(pair, MAXPAIR, s, box, NULL, NULL), 2);
  assert_int_equal(pair[0].a, 0);
  assert_int_equal(pair[0].b, 1);
  assert_int_equal(pair[1].a, 1);
  assert_int_equal(pair[1].b, 2);
  assert_int_equal(dj_updateBroadphase(NULL, 5, s, box, NULL, NULL), 2);
  assert_int_equal(dj_updateBroadphase(pair, 5, NULL, box, NULL, NULL), 0);
  assert_int_equal(dj_updateBroadphase(pair, 5, s, NULL, NULL, NULL), 0);
  assert_null(dj_initBroadphase(NULL, 3));
  assert_null(dj_initBroadphase(memory, -3));
  free(memory);
}

DJT_MAIN(testRandom, testTies, testBad)
