// Random vectors: each number in [-size, size), and those of length 1.

#ifndef DJ_TESTS_COMMON_RANDOM_VEC_H_
#define DJ_TESTS_COMMON_RANDOM_VEC_H_

#include "common/random.h"
#include "math/so3.h"

static inline djVec3 djt_vec3(djRng* rng, double size) {
  double v[3];
  djt_uniforms(v, 3, rng, -size, size);
  return dju_load3(v);
}

static inline djVec3 djt_unit3(djRng* rng) {
  double v[3];
  djt_unitVector(v, rng);
  return dju_load3(v);
}

#endif // DJ_TESTS_COMMON_RANDOM_VEC_H_
