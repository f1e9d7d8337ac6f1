// Coefficients of restitution that MuJoCo's solref stands for.
//
// MuJoCo's contact is a spring and a damper that push and never pull: with time in units of the
// undamped period over 2 pi, and z the damping ratio, the depth follows x'' + 2 z x' + x = 0 from
// x = 0, x' = v until the force 2 z x' + x is zero. From then on the bodies fly apart by e v
// (Schwager and Poeschel, Coefficient of restitution and linear-dashpot model revisited, 2007):
//   e = exp(-2 z g(z)),  g = acos(z)/sqrt(1 - z^2) for z < 1, acosh(z)/sqrt(z^2 - 1) for z > 1.
// Mass and stiffness drop out, and so does MuJoCo's impedance where it is constant.

#include "import.h"

#include <float.h>
#include <math.h>

// g = sum of c_n (z - 1)^n, c_0 = 1, c_n = -n/(2n + 1) c_{n-1}: from (1 - z^2) g' = z g - 1.
static double nearOne(double u) {
  double sum = 0;
  for (int n = 6; n > 0; n--) sum = -n / (2.0 * n + 1) * u * (1 + sum);
  return 1 + sum;
}

double djm_restitution(double z) {
  z = fmin(z, DBL_MAX);
  if (z <= 0) return 1;
  if (fabs(z - 1) < 1e-3) return exp(-2 * z * nearOne(z - 1));
  if (z < 1) return exp(-2 * z * acos(z) / sqrt((1 - z) * (1 + z)));
  return exp(-2 * acosh(z) / sqrt((z - 1) / z * (1 + 1 / z)));
}

// A solref that is not underdamped, as MuJoCo's default, does not ask bodies to bounce.
double djm_solrefRestitution(const mjtNum solref[mjNREF]) {
  double s0 = solref[0], s1 = solref[1], z = 1;
  if (s0 > 0 && s1 > 0) z = s1;
  else if (s0 < 0 && s1 <= 0) z = -s1 / (2 * sqrt(-s0));
  return z < 1 ? djm_restitution(z) : 0;   // of two formats: MuJoCo's default
}

// By bisection, to the last bit; of 1 it is 0.
double djm_dampingRatio(double e) {
  double low = 0, high = 1;
  while (djm_restitution(high) > e && high < DBL_MAX / 2) high *= 2;
  for (;;) {
    double middle = low + 0.5 * (high - low);
    if (!(middle > low && middle < high)) return middle;
    *(djm_restitution(middle) > e ? &low : &high) = middle;
  }
}
