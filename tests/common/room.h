// Memory for tests.

#ifndef DJ_TESTS_ROOM_H_
#define DJ_TESTS_ROOM_H_

#include "common/test.h"

// n zeros, and room for one number more.
static inline double* djt_room(size_t n) {
  double* v = calloc(n + 1, sizeof *v);
  assert_non_null(v);
  return v;
}

#endif  // DJ_TESTS_ROOM_H_
