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
  djMapTarget all = {-1, 0, 1, making->horizon * m->nu};
  return status < 0 ? status : dj_targetCtrl(map, &all, 1, making);
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
    DJ_MAPTO_CTRL, false, false, makeTanh, applyTanh, vjpTanh, recedeTanh, NULL};

// ---- spline
//
// Natural cubic spline with knots at 0, 1, ..., n-1: between knots i and i+1, b = s - i, a = 1-b,
//   f = a z_i + b z_i+1 + ((a^3 - a) M_i + (b^3 - b) M_i+1)/6
// with second derivatives M_0 = M_n-1 = 0 and M_i-1 + 4 M_i + M_i+1 = 6 (z_i-1 - 2 z_i + z_i+1):
// A M = 6 D z. A is symmetric, so the adjoint solves the same system. By time
//   df/dt = ds/dt (z_i+1 - z_i + ((1 - 3 a^2) M_i + (3 b^2 - 1) M_i+1)/6).

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

// What one output is made of: by[0] z_i + by[1] z_next + (by[2] M_i + by[3] M_next)/6.
typedef struct djSplineRow {
  int i, next;
  double by[4];
} djSplineRow;

// The first row is at knot 0, the last at the last. Outputs: f in every row, then df/dt.
static djSplineRow splineRow(const djMap* map, int out) {
  int n = map->nz, rows = map->target[0].n, row = out % rows;
  double s = rows > 1 ? (double)row * (n - 1) / (rows - 1) : 0;
  int i = (int)s;
  if (i > n - 2) i = n - 2 > 0 ? n - 2 : 0;
  double b = s - i, a = 1 - b;
  djSplineRow r = {i, n > 1 ? i + 1 : i, {a, b, a * a * a - a, b * b * b - b}};
  if (out < rows) return r;
  double rate = rows > 1 ? (n - 1) / ((rows - 1) * map->timestep) : 0;   // ds/dt
  r.by[0] = -rate;
  r.by[1] = rate;
  r.by[2] = rate * (1 - 3 * a * a);
  r.by[3] = rate * (3 * b * b - 1);
  return r;
}

static djStatus makeSpline(djMap* map, const djMapMaking* making) {
  djStatus status = dj_targetActuators(map, making);
  if (status < 0) return status;
  if (map->nz < 1) return dj_fail(making->err, DJ_INVALID, "from: has no numbers");
  map->nwork = 2 * (size_t)map->nz;
  if (map->ntarget > 1) map->timestep = making->model->opt.timestep;
  return DJ_OK;
}

static void applySpline(double* out, const djMap* map, const double* z, double* work) {
  int n = map->nz;
  double *M = work, *c = work + n;
  for (int i = 1; i < n - 1; i++) M[i] = 6 * (z[i - 1] - 2 * z[i] + z[i + 1]);
  solveKnots(M, c, n);
  for (int k = 0; k < map->nout; k++) {
    djSplineRow r = splineRow(map, k);
    out[k] = r.by[0] * z[r.i] + r.by[1] * z[r.next] +
             (r.by[2] * M[r.i] + r.by[3] * M[r.next]) / 6;
  }
}

static void vjpSpline(double* dz, const djMap* map, const double* z, const double* dout,
                      double* work) {
  (void)z;
  int n = map->nz;
  double *dM = work, *c = work + n;
  memset(dM, 0, (size_t)n * sizeof *dM);
  for (int k = 0; k < map->nout; k++) {
    djSplineRow r = splineRow(map, k);
    dz[r.i] += r.by[0] * dout[k];
    dz[r.next] += r.by[1] * dout[k];
    dM[r.i] += r.by[2] / 6 * dout[k];
    dM[r.next] += r.by[3] / 6 * dout[k];
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
             "the first to the last step; those of `velocity` = its derivative by time",
     .key = (const djKey[]){
         {"actuator", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_ACTUATOR, true, "", ""},
         {"velocity", DJ_HOLDS_ELEMENT, 0, DJ_OBJ_ACTUATOR, false, "", "none"},
         {0}}},
    DJ_MAPTO_CTRL, false, false, makeSpline, applySpline, vjpSpline, NULL, NULL};
