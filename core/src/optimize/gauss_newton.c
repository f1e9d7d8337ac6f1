// Levenberg and Marquardt's method within bounds, for losses that are sums of squares |r|^2. With
// J = dr/dx a step d lowers
//   |r + J d|^2 + lambda d.D d  within the bounds,
// D being the diagonal of J^T J, but not less than half of what it was, nor than a thousandth of
// its largest entry: what hardly matters would move far, and J changes where contacts begin and
// end. Entries that the step takes to a bound are put there, and the others follow. A step is taken
// where it lowers the loss; lambda falls where the loss falls as foreseen, and rises where it does
// not, or is not defined.

#include "math/blas.h"
#include "optimize/run.h"

#include <lapacke.h>

#include <math.h>
#include <string.h>

typedef struct djGauss {
  djRun* run;
  int m;             // residuals
  double lambda;
  double* r;         // (m)
  double* J;         // (m x n)
  double* H;         // (n x n) J^T J, lower half by columns
  double* diagonal;  // (n) D
  double* L;         // (n x n) of the entries that are free
  double* d;         // (n) the step
  double* right;     // (n)
  int* free;         // (n) entries that no bound holds
} djGauss;

static djStatus allocate(djGauss* s, djRun* run) {
  size_t n = (size_t)run->n, m = (size_t)run->problem->nresidual;
  s->run = run;
  s->m = (int)m;
  s->lambda = run->optimizer->damping;
  struct {
    double** array;
    size_t n;
  } list[] = {{&s->r, m}, {&s->J, m * n}, {&s->H, n * n}, {&s->diagonal, n}, {&s->L, n * n},
              {&s->d, n}, {&s->right, n}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    *list[i].array = dj_poolTake(&run->pool, list[i].n, sizeof(double));
    if (!*list[i].array) return DJ_NO_MEMORY;
  }
  s->free = dj_poolTake(&run->pool, n, sizeof(int));
  return s->free ? DJ_OK : DJ_NO_MEMORY;
}

// H, D and the gradient 2 J^T r at run->x.
static djStatus linearize(djGauss* s) {
  djRun* run = s->run;
  int n = run->n;
  djStatus status = run->problem->residuals(run->problem->user, s->r, s->J, run->x);
  if (status < 0) return status;
  memset(s->H, 0, (size_t)n * (size_t)n * sizeof *s->H);
  memset(run->grad, 0, (size_t)n * sizeof *run->grad);
  if (s->m > 0) {   // the upper half by rows is the lower one by columns
    dj_dsyrk(CblasUpper, CblasTrans, n, s->m, 1, s->J, n, 0, s->H, n);
    dj_dgemv(CblasTrans, s->m, n, 2, s->J, n, s->r, 0, run->grad);
  }
  double most = 0;
  for (int i = 0; i < n; i++) {
    s->diagonal[i] = fmax(s->diagonal[i] / 2, s->H[(size_t)i * (size_t)n + (size_t)i]);
    most = fmax(most, s->diagonal[i]);
  }
  double least = most > 0 ? 1e-3 * most : 1;
  for (int i = 0; i < n; i++) s->diagonal[i] = fmax(s->diagonal[i], least);
  for (int i = 0; i < n; i++) {
    if (!isfinite(run->grad[i])) return DJ_INVALID;
  }
  return isfinite(most) ? DJ_OK : DJ_INVALID;
}

static double entry(const djGauss* s, int i, int k) {
  size_t n = (size_t)s->run->n, a = (size_t)(i < k ? i : k), b = (size_t)(i < k ? k : i);
  return s->H[a * n + b];
}

// d of the entries that are free, the others being given: (H + lambda D) d = -g/2 on them. False:
// the matrix is not positive to rounding.
static bool solveFree(djGauss* s, int nfree) {
  const djRun* run = s->run;
  for (int a = 0; a < nfree; a++) {
    int i = s->free[a];
    double sum = -run->grad[i] / 2;
    for (int k = 0, b = 0; k < run->n; k++) {
      if (b < nfree && s->free[b] == k) b++;
      else sum -= entry(s, i, k) * s->d[k];
    }
    s->right[a] = sum;
    for (int b = 0; b <= a; b++) {
      s->L[(size_t)b * (size_t)nfree + (size_t)a] = entry(s, i, s->free[b]);
    }
    s->L[(size_t)a * (size_t)nfree + (size_t)a] += s->lambda * s->diagonal[i];
  }
  if (nfree == 0) return true;
  dj_beginLapack();
  int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', nfree, s->L, nfree);
  if (info == 0) {
    info = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', nfree, 1, s->L, nfree, s->right, nfree);
  }
  dj_endLapack();
  for (int a = 0; a < nfree && info == 0; a++) s->d[s->free[a]] = s->right[a];
  return info == 0;
}

// The step, and by how much it lowers the linearised loss; not positive: there is none.
static double findStep(djGauss* s) {
  const djRun* run = s->run;
  int n = run->n, nfree = 0;
  for (int i = 0; i < n; i++) {
    bool held = (run->x[i] <= run->set.lower[i] && run->grad[i] >= 0) ||
                (run->x[i] >= run->set.upper[i] && run->grad[i] <= 0);
    s->d[i] = 0;
    if (!held) s->free[nfree++] = i;
  }
  for (bool more = true; more;) {
    if (!solveFree(s, nfree)) return -1;
    int left = 0;
    for (int a = 0; a < nfree; a++) {
      int i = s->free[a];
      double x = run->x[i] + s->d[i];
      double inside = fmin(fmax(x, run->set.lower[i]), run->set.upper[i]);
      if (x == inside) s->free[left++] = i;
      else s->d[i] = inside - run->x[i];
    }
    more = left < nfree;
    nfree = left;
  }
  double fall = 0;
  for (int i = 0; i < n; i++) {
    double along = 0;
    for (int k = 0; k < n; k++) along += entry(s, i, k) * s->d[k];
    fall -= s->d[i] * (run->grad[i] + along);
  }
  return fall;
}

// One accepted step; none is left otherwise, and *flat tells whether that is for rounding.
static djStatus takeStep(bool* taken, bool* flat, double* norm, void* user) {
  djGauss* s = user;
  djRun* run = s->run;
  bool failed = false;   // a step that should have been seen in the loss
  *taken = *flat = false;
  for (; s->lambda < 1e20; s->lambda *= 8) {
    double fall = findStep(s), loss = NAN;
    if (!(fall >= 0)) continue;
    *flat = !failed;
    if (fall <= 1e-15 * run->loss) return DJ_OK;
    *flat = false;
    bool visible = fall > 1e-12 * run->loss;
    for (int i = 0; i < run->n; i++) {
      double x = run->x[i] + s->d[i];
      run->trial[i] = fmin(fmax(x, run->set.lower[i]), run->set.upper[i]);
    }
    djStatus status = dj_evaluateRun(run, &loss, NULL, run->trial);
    if (status == DJ_NO_MEMORY) return status;
    if (status < 0 || !(loss < run->loss)) {
      failed = failed || visible;
      continue;
    }
    double ratio = (run->loss - loss) / fall;
    memcpy(s->d, run->x, (size_t)run->n * sizeof *s->d);
    memcpy(run->x, run->trial, (size_t)run->n * sizeof *run->x);
    status = linearize(s);
    if (status == DJ_NO_MEMORY) return status;
    if (status < 0) {   // no derivatives there
      run->result->refused++;
      failed = true;
      memcpy(run->x, s->d, (size_t)run->n * sizeof *run->x);
      status = linearize(s);
      if (status < 0) return status;
      continue;
    }
    *norm = dj_stepLength(run->x, s->d, run->n);
    run->loss = loss;
    if (ratio > 0.75) s->lambda = fmax(s->lambda / 8, 1e-15);
    else if (ratio < 0.25) s->lambda *= 4;
    *taken = true;
    return DJ_OK;
  }
  return DJ_OK;
}

static djStatus runGaussNewton(djRun* run) {
  djGauss s = {0};
  djStatus status = run->n > 0 ? allocate(&s, run) : DJ_OK;
  if (status == DJ_OK && run->n > 0) status = linearize(&s);
  if (status == DJ_NO_MEMORY) return status;
  run->result->stop = DJ_STOP_STUCK;
  return status >= 0 && run->n > 0 ? dj_iterate(run, takeStep, &s) : DJ_OK;
}

const djOptimizerRow dj_optimizerGaussNewton = {
    {.name = "gauss_newton", .unit = "",
     .help = "Levenberg and Marquardt's method with bounds, by the residuals of a loss without "
             "negative weights, an adjoint each; takes no connections",
     .key = (const djKey[]){{.name = "damping"}, {0}}},
    .residuals = true, .run = runGaussNewton};
