// Inputs that are numbers: words of text in order, which fuzzers change better than bytes and
// people can read. Words that are no numbers are left out; past the end all are 0.

#ifndef DJ_TESTS_FUZZ_NUMBERS_H_
#define DJ_TESTS_FUZZ_NUMBERS_H_

#include "fuzz.h"

#include <math.h>

// What is still to be read, a text that ends with 0.
typedef struct FuzzNumbers {
  const char* at;
} FuzzNumbers;

static inline double fuzz_number(FuzzNumbers* from) {
  while (*from->at) {
    char* end;
    const double x = strtod(from->at, &end);
    if (end > from->at) {
      from->at = end;
      return x;
    }
    from->at++;
  }
  return 0;
}

static inline void fuzz_fill(double* x, int n, FuzzNumbers* from) {
  for (int i = 0; i < n; i++) x[i] = fuzz_number(from);
}

// Any int, wherever the number is.
static inline int fuzz_int(FuzzNumbers* from) {
  const double x = fuzz_number(from);
  return x > -2147483648.0 && x < 2147483647.0 ? (int)x : 2147483647;
}

// Between lo and hi.
static inline int fuzz_range(FuzzNumbers* from, int lo, int hi) {
  const int x = fuzz_int(from);
  return x < lo ? lo : x > hi ? hi : x;
}

#endif // DJ_TESTS_FUZZ_NUMBERS_H_
