// Random numbers that a seed and two places give, whoever asks and in whatever order.

#include <dijoco/check.h>

#include <stdint.h>

// Steele, Lea and Flood's splitmix64: one step from state x.
static uint64_t splitmix(uint64_t x) {
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

double djd_random(unsigned long seed, unsigned long row, unsigned long column) {
  uint64_t bits = splitmix(splitmix(splitmix(seed) ^ row) ^ column);
  return (double)(bits >> 11) * 0x1p-53;
}
