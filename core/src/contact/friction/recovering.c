#include "contact/friction/recovering.h"

#include "math/smooth.h"

#include <math.h>

double dj_raisedGap(double* derivative, double g, double from, double floor) {
  const double width = from - floor, t = (g - from) / width;
  const double q = 1 - t + t * t;
  *derivative = (1 - 2 * t) / (q * q);
  return floor + width / q;
}

double dj_lagBound(double derivative[2], double F, double t, double W) {
  derivative[0] = derivative[1] = 0;
  if (!(t < 0) || !(W > 0) || isinf(W)) return 1;
  const djJet b = dju_smoothStep(-t);
  const double x = b.f * F / W, x3 = x * x * x, q = 1 + x3 * x;
  const double c = 1 / sqrt(sqrt(q)), slope = -x3 * c / q; // dc/dx
  derivative[0] = slope * b.f / W;
  derivative[1] = -slope * b.d * F / W;
  return c;
}
