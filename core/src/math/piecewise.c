#include "math/piecewise.h"

#include <math.h>
#include <stdbool.h>

#define PAIR(x, w) {0.5 - 0.5 * (x), w}, {0.5 + 0.5 * (x), w}

const double dju_gauss[DJ_GAUSS_POINTS][2] = {{0.5, 0.116275776615436955},
                                              PAIR(0.230458315955134794, 0.113141590131448619),
                                              PAIR(0.448492751036446853, 0.103908023768444251),
                                              PAIR(0.642349339440340221, 0.0890729903809728691),
                                              PAIR(0.801578090733309913, 0.0694367551098936192),
                                              PAIR(0.917598399222977965, 0.0460607499188642240),
                                              PAIR(0.984183054718588149, 0.0202420023826579398)};

// Newton's form by forward differences: y = sum of D_k/k! prod of (n u - j), j < k, from its end.
void dju_fitPolynomial(double* p, const double* y, int degree) {
  double d[DJ_MAX_DEGREE + 1];
  for (int k = 0; k <= degree; k++) d[k] = y[k];
  for (int k = 1; k <= degree; k++) {
    for (int j = degree; j >= k; j--) d[j] = (d[j] - d[j - 1]) / k;
  }
  for (int k = 0; k <= degree; k++) p[k] = 0;
  for (int k = degree; k >= 0; k--) {
    for (int j = degree; j > 0; j--) p[j] = degree * p[j - 1] - k * p[j];
    p[0] = d[k] - k * p[0];
  }
}

static double valueAt(const double* p, int degree, double u) {
  double y = p[degree];
  for (int k = degree - 1; k >= 0; k--) y = y * u + p[k];
  return y;
}

// Between signs that differ.
static double signChange(const double* p, int degree, double low, double high) {
  bool falls = valueAt(p, degree, low) > 0;
  if (degree == 1) return fmin(fmax(-p[0] / p[1], low), high);
  while (high - low > 1e-9) {
    double u = 0.5 * (low + high);
    if ((valueAt(p, degree, u) > 0) == falls) low = u;
    else high = u;
  }
  return 0.5 * (low + high);
}

// A polynomial is monotone between the sign changes of its derivative: from the last derivative but
// one, which is linear, up to itself.
int dju_signChanges(double* u, const double* p, int degree) {
  int n = 0;
  for (int order = degree - 1; order >= 0; order--) {
    double d[DJ_MAX_DEGREE + 1], edge[DJ_MAX_DEGREE + 2];
    int left = degree - order, found = 0;
    for (int k = 0; k <= left; k++) {
      d[k] = p[k + order];
      for (int j = 1; j <= order; j++) d[k] *= k + j;
    }
    edge[0] = 0;
    for (int k = 0; k < n; k++) edge[k + 1] = u[k];
    edge[n + 1] = 1;
    for (int k = 0; k <= n; k++) {
      bool below = valueAt(d, left, edge[k]) > 0, above = valueAt(d, left, edge[k + 1]) > 0;
      if (below != above) u[found++] = signChange(d, left, edge[k], edge[k + 1]);
    }
    n = found;
  }
  return n;
}
