#include "math/barrier.h"

#include <stdint.h>
#include <string.h>

// ---- SDRS -------------------------------------------------------------------------------------

static void sdrs(double f[3], double q) { dj_barrierByDepth(f, DJ_BARRIER_SDRS, q); }

// The cube root to 1e-4, as starts need it: a third of the exponent is right to 5%, and a step of
// Halley's method leaves the cube of that.
static double nearCubeRoot(double y) {
  if (!(y > 1e-200 && y < 1e200)) return cbrt(y);
  uint64_t bits;
  memcpy(&bits, &y, sizeof bits);
  bits = bits / 3 + UINT64_C(0x2a9f7893782da1ce);
  double x;
  memcpy(&x, &bits, sizeof x);
  const double cube = x * x * x;
  return x * (cube + 2 * y) / (2 * cube + y);
}

// f1 (1 + q)^2 is convex in q.
static double sdrsMost(double y) {
  double c = (1 + 2e-4) * nearCubeRoot(y);
  return fmin(0.63 * c, sqrt(0.585 * c));
}

// With 1.65 for (5 - x/s)^(1/3).
static double sdrsNear(double y) {
  return 0.5 * (sqrt(1 + 4 / 1.65 * nearCubeRoot(y)) - 1);
}

// ---- logarithm --------------------------------------------------------------------------------

// IPC's (Li et al. 2020, eq. 6), of degree -1: with u = x/s = 1/(1 + q)
//   P = -(1 - u)^2 log(u)/s,  P' s^2 = 2 (1 - u) log(u) - (1 - u)^2/u,
//   P'' s^3 = -2 log(u) + 4 q + q^2.
static void logarithm(double f[3], double q) {
  const double u = 1 / (1 + q), l = log1p(q), d = q * u, u2 = u * u;
  f[0] = d * d * u * l;
  f[1] = u2 * (2 * d * l + d * q);
  f[2] = u2 * u * (2 * l + q * (4 + q));
}

// q^2/(1 + q) <= y.
static double logarithmMost(double y) { return 0.5 * (y + sqrt(y * (y + 4))); }

static double logarithmNear(double y) {
  return dj_barrierDepthFrom(DJ_BARRIER_LOG, y, logarithmMost(y), 0.1);
}

const djBarrierRow dj_barrierRows[DJ_NBARRIER] = {
    [DJ_BARRIER_SDRS] = {DJ_LAW_BARRIER, sdrs, sdrsMost, sdrsNear, .onset = 4, .order = 3,
                         .coarse = 1e-20},
    [DJ_BARRIER_LOG] = {DJ_LAW_LOG, logarithm, logarithmMost, logarithmNear, .onset = 3, .order = 2,
                        .coarse = 1e-15}};

void dj_otherBarrierLanes(double p[3 * DJU_LANES], const double* x, djBarrier law) {
  for (int k = 0; k < DJU_LANES; k++) {
    double b[3];
    dj_barrier(b, x[k], law);
    for (int i = 0; i < 3; i++) p[i * DJU_LANES + k] = b[i];
  }
}
