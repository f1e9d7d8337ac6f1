// Maps to controls: tanh and spline.

#include "base/status.h"
#include "gradient/map.h"

#include <math.h>
#include <string.h>

// ---- tanh

typedef struct djTanh {
  int nu, hold;
  double* middle;  // (nu)
  double* half;    // (nu)
} djTanh;

static djStatus makeTanh(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const djMapArg* hold = &making->given->arg[0];
  djTanh* t = dj_poolTake(making->pool, 1, sizeof *t);
  double* numbers = dj_poolTake(making->pool, 2 * (size_t)m->nu, sizeof *numbers);
  if (!t || !numbers) return dj_failMemory(making->err);
  *t = (djTanh){m->nu, hold->given ? hold->integer : 1, numbers, numbers + m->nu};
  if (t->hold < 1) return dj_fail(making->err, DJ_INVALID, "hold: must be positive");
  if (m->nu == 0) return dj_fail(making->err, DJ_INVALID, "to: the model has no actuators");
  for (int a = 0; a < m->nu; a++) {
    bool limited = m->actuator_ctrllimited[a] != 0;
    double low = limited ? m->actuator_ctrlrange[2 * a] : -1;
    double high = limited ? m->actuator_ctrlrange[2 * a + 1] : 1;
    t->middle[a] = (low + high) / 2;
    t->half[a] = (high - low) / 2;
  }
  map->detail = t;
  int rows = (making->horizon - 1) / t->hold + 1;
  djStatus status = dj_checkFrom(map, rows * m->nu, making);
  return status < 0 ? status : dj_targetCtrl(map, 0, 1, making->horizon * m->nu, making);
}

static void applyTanh(double* out, const djMap* map, const double* z, double* work) {
  (void)work;
  const djTanh* t = map->detail;
  for (int i = 0; i < map->nout; i++) {
    int a = i % t->nu, k = i / t->nu / t->hold * t->nu + a;
    out[i] = t->middle[a] + t->half[a] * tanh(z[k]);
  }
}

static void vjpTanh(double* dz, const djMap* map, const double* z, const double* dout,
                    double* work) {
  (void)work;
  const djTanh* t = map->detail;
  for (int i = 0; i < map->nout; i++) {
    int a = i % t->nu, k = i / t->nu / t->hold * t->nu + a;
    double c = 1 / cosh(z[k]);
    dz[k] += dout[i] * t->half[a] * c * c;
  }
}

static djStatus recedeTanh(djMap* map, djMapReceding* receding) {
  const djTanh* t = map->detail;
  receding->steps = t->hold;
  receding->numbers = t->nu;
  return DJ_OK;
}

const djMapType dj_mapTanh = {
    {.name = "tanh", .unit = "",
     .help = "controls = middle + half tanh(z) of each ctrlrange ([-1, 1] where there is none); z "
             "has ceil(horizon/hold) rows of nu numbers",
     .key = (const djKey[]){{"hold", DJ_HOLDS_WHOLE, 0, DJ_NOBJ, false, "steps", "1"}, {0}}},
    DJ_MAPTO_CTRL, false, makeTanh, applyTanh, vjpTanh, recedeTanh};

// ---- spline
//
// Natural cubic spline with knots at 0, 1, ..., n-1: between knots i and i+1, b = s - i, a = 1-b,
//   f = a z_i + b z_i+1 + ((a^3 - a) M_i + (b^3 - b) M_i+1)/6
// with second derivatives M_0 = M_n-1 = 0 and M_i-1 + 4 M_i + M_i+1 = 6 (z_i-1 - 2 z_i + z_i+1):
// A M = 6 D z. A is symmetric, so the adjoint solves the same system.

// Solve for x (n), of which the first and last entry are 0; x holds the right-hand side. c (n).
static void solveKnots(double* x, double* c, int n) {
  if (n > 0) x[0] = x[n - 1] = 0;
  double before = 0;
  for (int i = 1; i < n - 1; i++) {
    double pivot = 4 - before;
    before = c[i] = 1 / pivot;
    x[i] = (x[i] - x[i - 1]) / pivot;
  }
  for (int i = n - 2; i > 0; i--) x[i] -= c[i] * x[i + 1];
}

// Interval and place in it of a row: the first row is at knot 0, the last at the last.
static int knotOf(double* a, double* b, const djMap* map, int row) {
  int n = map->nz, rows = map->nout;
  double s = rows > 1 && n > 1 ? (double)row * (n - 1) / (rows - 1) : 0;
  int i = (int)s;
  if (i > n - 2) i = n - 2 > 0 ? n - 2 : 0;
  *b = s - i;
  *a = 1 - *b;
  return i;
}

static djStatus makeSpline(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const char* name = making->given->arg[0].text;
  int actuator = dj_name2id(m, DJ_OBJ_ACTUATOR, name);
  if (actuator < 0) {
    return dj_fail(making->err, DJ_INVALID, "actuator: there is no '%.100s'", name);
  }
  if (map->nz < 1) return dj_fail(making->err, DJ_INVALID, "from: has no numbers");
  map->nwork = 2 * (size_t)map->nz;
  return dj_targetCtrl(map, actuator, m->nu, making->horizon, making);
}

static void applySpline(double* out, const djMap* map, const double* z, double* work) {
  int n = map->nz;
  double *M = work, *c = work + n;
  for (int i = 1; i < n - 1; i++) M[i] = 6 * (z[i - 1] - 2 * z[i] + z[i + 1]);
  solveKnots(M, c, n);
  for (int row = 0; row < map->nout; row++) {
    double a, b;
    int i = knotOf(&a, &b, map, row), next = n > 1 ? i + 1 : i;
    out[row] = a * z[i] + b * z[next] + ((a * a * a - a) * M[i] + (b * b * b - b) * M[next]) / 6;
  }
}

static void vjpSpline(double* dz, const djMap* map, const double* z, const double* dout,
                      double* work) {
  (void)z;
  int n = map->nz;
  double *dM = work, *c = work + n;
  memset(dM, 0, (size_t)n * sizeof *dM);
  for (int row = 0; row < map->nout; row++) {
    double a, b;
    int i = knotOf(&a, &b, map, row), next = n > 1 ? i + 1 : i;
    dz[i] += a * dout[row];
    dz[next] += b * dout[row];
    dM[i] += (a * a * a - a) / 6 * dout[row];
    dM[next] += (b * b * b - b) / 6 * dout[row];
  }
  solveKnots(dM, c, n);
  for (int i = 1; i < n - 1; i++) {
    dz[i - 1] += 6 * dM[i];
    dz[i] -= 12 * dM[i];
    dz[i + 1] += 6 * dM[i];
  }
}

const djMapType dj_mapSpline = {
    {.name = "spline", .unit = "",
     .help = "one actuator's controls = natural cubic spline through z, knots equally spaced from "
             "the first to the last step",
     .key = (const djKey[]){
         {"actuator", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_ACTUATOR, true, "", ""}, {0}}},
    DJ_MAPTO_CTRL, false, makeSpline, applySpline, vjpSpline, NULL};
