// A hash of numbers.

#include "common/test.h"
#include "base/hash.h"

static uint64_t mixed(uint64_t hash, const double* x, size_t n) {
  dj_mixNumbers(&hash, x, n);
  return hash;
}

static void testMixing(void) {
  const double x[4] = {1, 2, 0.0, 3}, swapped[4] = {2, 1, 0.0, 3}, zero[4] = {1, 2, -0.0, 3};
  uint64_t all = mixed(5, x, 4);
  assert_true(mixed(5, x, 0) == 5);
  assert_true(mixed(mixed(5, x, 1), x + 1, 3) == all);
  assert_true(mixed(5, swapped, 4) != all && mixed(5, zero, 4) != all && mixed(6, x, 4) != all);
  double near[4] = {1, nextafter(2, 3), 0.0, 3};
  assert_true(mixed(5, near, 4) != all && mixed(5, x, 3) != all);
}

DJT_MAIN(testMixing)
