// Eight doubles at once, for loops over vertices: vector types of GCC and Clang, which become the
// widest instructions of the target, narrow ones included. Sums over lanes have a fixed order.

#ifndef DJ_MATH_LANES_H_
#define DJ_MATH_LANES_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

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
// p[id[0]], p[id[1]], ...
DJU_INLINE djLanes dju_gatherLanes(const double* p, const int* id) {
  djLanes v;
#if defined(__AVX512F__)
  v = (djLanes)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i_u*)id), p, 8);
#else
  for (int k = 0; k < DJU_LANES; k++) v[k] = p[id[k]];
#endif
  return v;
}
DJU_INLINE void dju_storeLanes(double* p, djLanes v) { memcpy(p, &v, sizeof v); }
DJU_INLINE void dju_storeSix(double* p, djLanes v) { memcpy(p, &v, 6 * sizeof(double)); }
DJU_INLINE djLanes dju_splat(double x) { return (djLanes){x, x, x, x, x, x, x, x}; }
// v where the mask is set, 0 elsewhere.
DJU_INLINE djLanes dju_keep(djLanes v, djMask mask) { return (djLanes)((djMask)v & mask); }
DJU_INLINE djLanes dju_pick(djMask mask, djLanes yes, djLanes no) {
  return (djLanes)(((djMask)yes & mask) | ((djMask)no & ~mask));
}
// a < b ? a : b, so that b must not be NaN.
DJU_INLINE djLanes dju_minLanes(djLanes a, djLanes b) {
#if defined(__AVX512F__)
  return (djLanes)_mm512_min_pd((__m512d)a, (__m512d)b);
#else
  return dju_pick(a < b, a, b);
#endif
}
// a b + c, rounded once where the target can.
DJU_INLINE djLanes dju_fmaLanes(djLanes a, djLanes b, djLanes c) {
#if defined(__AVX512F__)
  return (djLanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  __m256d x[2], y[2], z[2];
  memcpy(x, &a, sizeof a);
  memcpy(y, &b, sizeof b);
  memcpy(z, &c, sizeof c);
  for (int k = 0; k < 2; k++) z[k] = _mm256_fmadd_pd(x[k], y[k], z[k]);
  memcpy(&c, z, sizeof c);
  return c;
#else
  return a * b + c;
#endif
}
DJU_INLINE djLanes dju_sqrtLanes(djLanes v) {
#if defined(__AVX512F__)
  return (djLanes)_mm512_sqrt_pd((__m512d)v);
#else
  djLanes root;
  for (int k = 0; k < DJU_LANES; k++) root[k] = __builtin_sqrt(v[k]);
  return root;
#endif
}
DJU_INLINE djLanes dju_absLanes(djLanes v) { return dju_pick(v < 0, -v, v); }
// Set for the lanes below n.
DJU_INLINE djMask dju_firstLanes(int n) {
  const int64_t k = n;
  const djMask lane = {0, 1, 2, 3, 4, 5, 6, 7}, end = {k, k, k, k, k, k, k, k};
  return lane < end;
}

// The first n of p's eight doubles, zeros behind; n from 1 to 8.
DJU_INLINE djLanes dju_loadFirst(const double* p, int n) {
#if defined(__AVX512F__)
  return (djLanes)_mm512_maskz_loadu_pd((__mmask8)(0xffu >> (DJU_LANES - n)), p);
#elif defined(__AVX2__)
  djMask mask = dju_firstLanes(n);
  __m256i half[2];
  memcpy(half, &mask, sizeof mask);
  const __m256d x[2] = {_mm256_maskload_pd(p, half[0]), _mm256_maskload_pd(p + 4, half[1])};
  djLanes v;
  memcpy(&v, x, sizeof v);
  return v;
#else
  djLanes v = {0};
  for (int k = 0; k < n; k++) v[k] = p[k];
  return v;
#endif
}
DJU_INLINE void dju_storeFirst(double* p, djLanes v, int n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_pd(p, (__mmask8)(0xffu >> (DJU_LANES - n)), (__m512d)v);
#elif defined(__AVX2__)
  djMask mask = dju_firstLanes(n);
  __m256i half[2];
  __m256d x[2];
  memcpy(half, &mask, sizeof mask);
  memcpy(x, &v, sizeof v);
  _mm256_maskstore_pd(p, half[0], x[0]);
  _mm256_maskstore_pd(p + 4, half[1], x[1]);
#else
  for (int k = 0; k < n; k++) p[k] = v[k];
#endif
}

// Bit k: lane k is set.
DJU_INLINE unsigned dju_maskBits(djMask m) {
#if defined(__AVX512DQ__)
  return _mm512_movepi64_mask((__m512i)m);
#elif defined(__FMA__)
  __m256d half[2];
  memcpy(half, &m, sizeof m);
  return (unsigned)_mm256_movemask_pd(half[0]) | (unsigned)_mm256_movemask_pd(half[1]) << 4;
#else
  unsigned bits = 0;
  for (int k = 0; k < DJU_LANES; k++) bits |= (unsigned)(m[k] & 1) << k;
  return bits;
#endif
}

// Bit k: a > b in lane k.
DJU_INLINE unsigned dju_greaterBits(djLanes a, djLanes b) {
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#else
  return dju_maskBits(a > b);
#endif
}

// Whether any lane is set.
DJU_INLINE bool dju_any(djMask m) {
  m |= __builtin_shufflevector(m, m, 4, 5, 6, 7, 0, 1, 2, 3);
  m |= __builtin_shufflevector(m, m, 2, 3, 0, 1, 6, 7, 4, 5);
  return (m[0] | m[1]) != 0;
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

// Sums over the lanes of eight vectors, one in each lane: a tree of three levels.
DJU_INLINE djLanes dju_addPairs(djLanes a, djLanes b) {   // a01 b01 a23 b23 ...
  return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
         __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
}
DJU_INLINE djLanes dju_addQuads(djLanes a, djLanes b) {
  return __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13) +
         __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
}
DJU_INLINE djLanes dju_foldEight(djLanes v0, djLanes v1, djLanes v2, djLanes v3, djLanes v4,
                                 djLanes v5, djLanes v6, djLanes v7) {
  return dju_addQuads(dju_addQuads(dju_addPairs(v0, v1), dju_addPairs(v2, v3)),
                      dju_addQuads(dju_addPairs(v4, v5), dju_addPairs(v6, v7)));
}
DJU_INLINE void dju_sumEight(double sum[8], const djLanes v[8]) {
  dju_storeLanes(sum, dju_foldEight(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]));
}

#endif  // DJ_MATH_LANES_H_
