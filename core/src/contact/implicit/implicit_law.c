#include "contact/implicit/implicit_law.h"

#include "math/barrier.h"

#include <string.h>

typedef struct Law {
  // f and f', and derivatives of f by settings (added).
  void (*force)(double f[2], double* by, const double* setting, double t);
  // int f dt from where it begins.
  double (*energy)(const double* setting, double t);
} Law;

static void power(double f[2], double* by, const double* x, double t) {
  const double p = x[DJ_IMPLICIT_EXPONENT], u = pow(t, p);
  f[0] = x[DJ_IMPLICIT_STIFFNESS] * u;
  f[1] = p * f[0] / t;
  by[DJ_IMPLICIT_STIFFNESS] += u;
  by[DJ_IMPLICIT_EXPONENT] += f[0] * log(t);
}

static double powerEnergy(const double* x, double t) {
  const double p = x[DJ_IMPLICIT_EXPONENT];
  return x[DJ_IMPLICIT_STIFFNESS] * pow(t, p) * t / (p + 1);
}

static djBarrier barrierOf(const double* x) {
  return (djBarrier){1, dj_implicitBarrier(x)};
}

static void barrier(double f[2], double* by, const double* x, double t) {
  const double K = x[DJ_IMPLICIT_STIFFNESS], s = x[DJ_IMPLICIT_SUPPORT], y = -t / s;
  double b[3];
  dj_barrier(b, y, barrierOf(x));
  f[0] = -K * b[1] / s;
  f[1] = K * b[2] / (s * s);
  by[DJ_IMPLICIT_STIFFNESS] += -b[1] / s;
  by[DJ_IMPLICIT_SUPPORT] += K * (b[1] + b[2] * y) / (s * s);
}

static double barrierEnergy(const double* x, double t) {
  double b[3];
  dj_barrier(b, -t / x[DJ_IMPLICIT_SUPPORT], barrierOf(x));
  return x[DJ_IMPLICIT_STIFFNESS] * b[0];
}

static const Law laws[] = {[DJ_LAW_HERTZ] = {power, powerEnergy},
                           [DJ_LAW_PAPER] = {power, powerEnergy},
                           [DJ_LAW_BARRIER] = {barrier, barrierEnergy},
                           [DJ_LAW_LOG] = {barrier, barrierEnergy}};

double dj_lawReach(const double* setting) {
  return dj_hasBarrier(setting) ? -setting[DJ_IMPLICIT_SUPPORT] : 0;
}

// phi and its derivative.
static void damp(double phi[2], double y) {
  const double z = y + 1.5;
  phi[0] = y >= -0.5 ? 1 + y : z > 0 ? 0.5 * z * z : 0;
  phi[1] = y >= -0.5 ? 1 : fmax(z, 0);
}

// Nodes and weights of Gauss and Legendre's rule with ten points, of (-1, 1): those above 0.
static const double gauss[5][2] = {{0.14887433898163122, 0.29552422471475293},
                                   {0.43339539412924716, 0.26926671930999624},
                                   {0.67940956829902444, 0.21908636251598207},
                                   {0.86506336668898454, 0.14945134915058053},
                                   {0.97390652851717174, 0.066671344308688735}};

// int f phi from t to u, where phi = c0 + c1 t + c2 t^2 of y = rate (t - start). From zero depth on
// by powers; else these would cancel, and parts up to twice as deep, or half as near, are smooth
// enough for the rule to be exact to rounding.
static double integrate(const Law* law, const double* setting, const double c[3], double t,
                        double u, double rate, double start) {
  double sum = 0, unused[DJ_IMPLICIT_NSETTING] = {0}, f[2], phi[2];
  if (u > t && t == 0) {
    const double p = setting[DJ_IMPLICIT_EXPONENT], k = setting[DJ_IMPLICIT_STIFFNESS] * pow(u, p);
    return k * u * (c[0] / (p + 1) + u * (c[1] / (p + 2) + u * c[2] / (p + 3)));
  }
  while (u > t) {
    const double end = fmin(u, t > 0 ? 2 * t : 0.5 * t);
    const double middle = 0.5 * (t + end), half = 0.5 * (end - t);
    for (int i = 0; i < 10; i++) {
      const double x = middle + (i % 2 ? half : -half) * gauss[i / 2][0];
      law->force(f, unused, setting, x);
      damp(phi, rate * (x - start));
      sum += half * gauss[i / 2][1] * f[0] * phi[0];
    }
    t = end;
  }
  return sum;
}

// W: phi is linear beyond t2, where y = -1/2, and zero below t1.
static double dampedEnergy(const Law* law, const double* setting, double depth, double start,
                           double rate) {
  const double reach = dj_lawReach(setting), A = 1.5 - rate * start;
  const double t1 = fmax(start - 1.5 / rate, reach), t2 = fmax(start - 0.5 / rate, reach);
  const double line[3] = {1 - rate * start, rate, 0};
  const double square[3] = {0.5 * A * A, A * rate, 0.5 * rate * rate};
  return integrate(law, setting, line, t2, depth, rate, start) +
         integrate(law, setting, square, t1, fmin(depth, t2), rate, start);
}

// f, f' and derivatives by settings. False: the law knows of no such depth.
static bool setElastic(djImplicitForce* out, const Law* law, const double* setting, double depth) {
  memset(out, 0, sizeof *out);
  if (dj_hasBarrier(setting) && !(depth < 0)) {
    out->value = INFINITY;
    return false;
  }
  double f[2];
  law->force(f, out->by_setting, setting, depth);
  out->f = f[0];
  out->by_depth = f[1];
  return true;
}

static const Law* lawOf(const double* setting) { return &laws[(int)setting[DJ_IMPLICIT_LAW]]; }

void dj_elasticForce(djImplicitForce* out, const double* setting, double depth) {
  const Law* law = lawOf(setting);
  if (setElastic(out, law, setting, depth)) out->value = law->energy(setting, depth);
}

void dj_implicitForce(djImplicitForce* out, const double* setting, double depth, double start,
                      double h) {
  const Law* law = lawOf(setting);
  const double c = setting[DJ_IMPLICIT_DAMPING];
  if (!(c > 0)) {
    dj_elasticForce(out, setting, depth);
    return;
  }
  if (!setElastic(out, law, setting, depth)) return;
  double phi[2];
  const double rate = c / h, y = rate * (depth - start), f = out->f;
  damp(phi, y);
  out->value = dampedEnergy(law, setting, depth, start, rate);
  out->f = f * phi[0];
  out->by_depth = out->by_depth * phi[0] + f * phi[1] * rate;
  out->by_start = -f * phi[1] * rate;
  for (int i = 0; i < DJ_IMPLICIT_NSETTING; i++) out->by_setting[i] *= phi[0];
  out->by_setting[DJ_IMPLICIT_DAMPING] = f * phi[1] * y / c;
}
