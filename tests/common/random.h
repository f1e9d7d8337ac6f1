// Random numbers of tests: the same on every machine. Compilers differ in the order in which they
// evaluate arguments, operands and initialisers: one draw in each statement.

#ifndef DJ_TESTS_RANDOM_H_
#define DJ_TESTS_RANDOM_H_

#include <math.h>

typedef struct djRng {
  unsigned long long state;
} djRng;

// splitmix64 of Steele, Lea, Flood 2014
static inline unsigned long long djt_bits(djRng* rng) {
  unsigned long long z = (rng->state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Uniform in [lo, hi), and an integer in [0, n).
static inline double djt_uniform(djRng* rng, double lo, double hi) {
  return lo + (hi - lo) * (double)(djt_bits(rng) >> 11) * 0x1p-53;
}
static inline int djt_integer(djRng* rng, int n) {
  return (int)(djt_bits(rng) % (unsigned long long)n);
}

// n numbers, each uniform in [lo, hi).
static inline void djt_uniforms(double* v, int n, djRng* rng, double lo, double hi) {
  for (int i = 0; i < n; i++) v[i] = djt_uniform(rng, lo, hi);
}

// On the unit sphere of n dimensions.
static inline void djt_unit(double* v, int n, djRng* rng) {
  double s;
  do {
    s = 0;
    djt_uniforms(v, n, rng, -1, 1);
    for (int i = 0; i < n; i++) s += v[i] * v[i];
  } while (s > 1 || s < 0.01);
  for (int i = 0; i < n; i++) v[i] /= sqrt(s);
}
static inline void djt_unitQuat(double q[4], djRng* rng) { djt_unit(q, 4, rng); }
static inline void djt_unitVector(double v[3], djRng* rng) { djt_unit(v, 3, rng); }

#endif  // DJ_TESTS_RANDOM_H_
