// What single values must be.

#include "model/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

djElementText dj_elementText(const char* kind, const char* name, int id) {
  djElementText result;
  if (name && name[0]) {
    snprintf(result.text, sizeof result.text, "%s '%.70s'", kind, name);
  } else {
    snprintf(result.text, sizeof result.text, "%s #%d", kind, id);
  }
  return result;
}

bool dj_allFinite(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return false;
  }
  return true;
}

bool dj_allNonnegative(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i]) || v[i] < 0) return false;
  }
  return true;
}

bool dj_makeUnit(double* out, const double* v, int n) {
  if (!dj_allFinite(v, n)) return false;
  double largest = 0, square = 0;
  for (int i = 0; i < n; i++) {
    largest = fmax(largest, fabs(v[i]));
    square += v[i] * v[i];
  }
  if (largest < 1e-15) return false;  // MuJoCo's mjMINVAL
  if (fabs(square - 1) <= 1e-14) {
    memmove(out, v, sizeof(double) * (size_t)n);
    return true;
  }
  square = 0;
  for (int i = 0; i < n; i++) square += (v[i] / largest) * (v[i] / largest);
  double norm = sqrt(square);
  for (int i = 0; i < n; i++) out[i] = v[i] / largest / norm;
  return true;
}

const char* dj_rangeProblem(const double range[2], bool limited) {
  if (isnan(range[0]) || isnan(range[1])) return "is not a number";
  if (!limited) return NULL;
  if (!dj_allFinite(range, 2)) return "is not finite";
  if (range[0] > range[1]) return "is reversed";
  if (range[0] == range[1]) return "is empty";
  return NULL;
}

bool dj_inertiaOk(const double inertia[3]) {
  if (!dj_allNonnegative(inertia, 3)) return false;
  double sum = inertia[0] + inertia[1] + inertia[2];
  for (int i = 0; i < 3; i++) {
    if (2 * inertia[i] > sum * 1.01) return false;
  }
  return true;
}

const char* dj_sizeProblem(const double* v, int n, double most) {
  for (int k = 0; k < n; k++) {
    if (fabs(v[k]) > most) {
      return most == DJ_LARGEST ? "is larger than 1e20" : "is larger than 1e60";
    }
  }
  return NULL;
}

const char* dj_smallProblem(double v) {
  return v > 0 && v < DJ_SMALLEST ? "is smaller than 1e-20" : NULL;
}

static bool isShare(double x) { return x > 0 && x < 1; }

const char* dj_impedanceProblem(const double limit[5]) {
  if (!isShare(limit[0]) || !isShare(limit[1])) return "limit_impedance is not in (0, 1)";
  if (!dj_allNonnegative(limit + 2, 1)) return "the width of limit_impedance is negative";
  if (!isShare(limit[3])) return "the midpoint of limit_impedance is not in (0, 1)";
  if (!(limit[4] >= 1 && isfinite(limit[4]))) return "the power of limit_impedance is below 1";
  return NULL;
}
