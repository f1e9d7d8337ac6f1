// Eight doubles at once, for loops over vertices: vector types of GCC and Clang, which become the
// widest instructions of the target, narrow ones included. Sums over lanes have a fixed order.

#ifndef DJ_MATH_LANES_H_
#define DJ_MATH_LANES_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DJU_LANES 8

// Vectors are passed to inline functions only, so that their calling convention does not matter.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef double djLanes __attribute__((vector_size(64)));
typedef int64_t djMask __attribute__((vector_size(64)));   // all bits of a lane set, or none

#define DJU_INLINE static inline __attribute__((always_inline))

DJU_INLINE djLanes dju_loadLanes(const double* p) {
  djLanes v;
  memcpy(&v, p, sizeof v);
  return v;
}
DJU_INLINE void dju_storeLanes(double* p, djLanes v) { memcpy(p, &v, sizeof v); }
DJU_INLINE djLanes dju_splat(double x) { return (djLanes){x, x, x, x, x, x, x, x}; }
// v where the mask is set, 0 elsewhere.
DJU_INLINE djLanes dju_keep(djLanes v, djMask mask) { return (djLanes)((djMask)v & mask); }
DJU_INLINE djLanes dju_pick(djMask mask, djLanes yes, djLanes no) {
  return (djLanes)(((djMask)yes & mask) | ((djMask)no & ~mask));
}
DJU_INLINE djLanes dju_minLanes(djLanes a, djLanes b) { return dju_pick(a < b, a, b); }
// Set for the lanes below n.
DJU_INLINE djMask dju_firstLanes(int n) {
  int64_t k = n;
  return (djMask){0, 1, 2, 3, 4, 5, 6, 7} < (djMask){k, k, k, k, k, k, k, k};
}

DJU_INLINE double dju_least(djLanes v) {
  djLanes w = dju_minLanes(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  w = dju_minLanes(w, __builtin_shufflevector(w, w, 2, 3, 0, 1, 6, 7, 4, 5));
  return w[0] < w[1] ? w[0] : w[1];
}

DJU_INLINE double dju_sumLanes(djLanes v) {
  djLanes w = v + __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  w += __builtin_shufflevector(w, w, 2, 3, 0, 1, 6, 7, 4, 5);
  return w[0] + w[1];
}

// Sums over the lanes of eight vectors: sum[k] = sum of v[k]. A tree of three levels.
DJU_INLINE void dju_sumEight(double sum[8], const djLanes v[8]) {
  djLanes a[4], b[2];
  for (int k = 0; k < 4; k++) {   // pairs: 0+1 | 2+3 | ... of two vectors side by side
    a[k] = __builtin_shufflevector(v[2 * k], v[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(v[2 * k], v[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int k = 0; k < 2; k++) {
    b[k] = __builtin_shufflevector(a[2 * k], a[2 * k + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
           __builtin_shufflevector(a[2 * k], a[2 * k + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  }
  djLanes c = __builtin_shufflevector(b[0], b[1], 0, 1, 4, 5, 8, 9, 12, 13) +
              __builtin_shufflevector(b[0], b[1], 2, 3, 6, 7, 10, 11, 14, 15);
  dju_storeLanes(sum, c);
}

#endif  // DJ_MATH_LANES_H_
