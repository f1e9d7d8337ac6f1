// A hash of numbers, to tell apart what they describe.

#ifndef DJ_BASE_HASH_H_
#define DJ_BASE_HASH_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Mixes n numbers into a hash of what came before.
static inline void dj_mixNumbers(uint64_t* hash, const double* x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint64_t word;
    memcpy(&word, x + i, sizeof word);
    *hash = (*hash ^ word) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
  }
}

// The same of n bytes.
static inline void dj_mixBytes(uint64_t* hash, const void* bytes, size_t n) {
  for (const unsigned char* b = bytes; n > 0;) {
    size_t some = n < sizeof(double) ? n : sizeof(double);
    double word = 0;
    memcpy(&word, b, some);
    dj_mixNumbers(hash, &word, 1);
    b += some;
    n -= some;
  }
}

#endif  // DJ_BASE_HASH_H_
