// Projection on bounds and equations of a block: least |x - p|^2/2 with lower <= x <= upper, A x = b.
//
// For multipliers y the best x within the bounds is x(y) = clip(p - A^T y). The dual function
// q(y) = |x(y) - p|^2/2 + y.(A x(y) - b) is concave and piecewise quadratic, its gradient is
// A x(y) - b and its generalised Hessian -A D A^T, D = 1 where x is not at a bound: Newton, which
// is damped by a multiple of the diagonal of A A^T where a step is too long for its piece.

#include "optimize/feasible.h"

#include "math/blas.h"
#include "math/front.h"
#include "math/ldl.h"

#include <math.h>
#include <string.h>

enum { NEWTON = 500 };

static void clip(double* out, const djBlock* s, const double* point) {
  for (int i = 0; i < s->n; i++) out[i] = fmin(fmax(point[i], s->lower[i]), s->upper[i]);
}

static bool isLarge(const djBlock* s) { return s->nequal >= DJ_MANY_EQUATIONS; }

// x(y), residual A x - b, and the dual function's value.
static double evaluate(djBlock* s, const double* point, const double* y) {
  double value = 0;
  memcpy(s->x, point, (size_t)s->n * sizeof *s->x);
  if (isLarge(s)) {
    dj_dgemv(CblasTrans, s->nequal, s->n, -1, s->equal, s->n, y, 1, s->x);
  }
  for (int r = 0; r < s->nequal && !isLarge(s); r++) {
    const double* row = s->equal + (size_t)r * (size_t)s->n;
    for (int i = 0; i < s->n; i++) s->x[i] -= y[r] * row[i];
  }
  clip(s->x, s, s->x);
  for (int i = 0; i < s->n; i++) value += (s->x[i] - point[i]) * (s->x[i] - point[i]) / 2;
  if (isLarge(s)) {
    memcpy(s->residual, s->value, (size_t)s->nequal * sizeof *s->residual);
    dj_dgemv(CblasNoTrans, s->nequal, s->n, 1, s->equal, s->n, s->x, -1, s->residual);
    return value + cblas_ddot(s->nequal, y, 1, s->residual, 1);
  }
  for (int r = 0; r < s->nequal; r++) {
    const double* row = s->equal + (size_t)r * (size_t)s->n;
    s->residual[r] = -s->value[r];
    for (int i = 0; i < s->n; i++) s->residual[r] += row[i] * s->x[i];
    value += y[r] * s->residual[r];
  }
  return value;
}

static void largeHessian(djBlock* s, double shift) {
  int m = s->nequal, n = s->n;
  for (int r = 0; r < m; r++) {
    const double* a = s->equal + (size_t)r * (size_t)n;
    double* free = s->free + (size_t)r * (size_t)n;
    for (int i = 0; i < n; i++) {
      free[i] = s->x[i] > s->lower[i] && s->x[i] < s->upper[i] ? a[i] : 0;
    }
  }
  dj_dsyrk(CblasLower, CblasNoTrans, m, n, 1, s->free, n, 0, s->H, m);
  for (int r = 0; r < m; r++) {
    const double* a = s->equal + (size_t)r * (size_t)n;
    double all = cblas_ddot(n, a, 1, a, 1);
    s->H[(size_t)r * (size_t)(m + 1)] += shift * all + (all > 0 ? 0 : 1);
  }
}

static bool factor(djBlock* s) {
  int m = s->nequal;
  if (m < DJ_BIG) return dj_factorLDL(s->L, s->H, NULL, m);
  memcpy(s->L, s->H, (size_t)m * (size_t)m * sizeof *s->L);
  return dj_eliminateLDL(s->L, m, 0, m, s->H, (size_t)m + 1);
}

// A D A^T + shift diag(A A^T).
static void hessian(djBlock* s, double shift) {
  int m = s->nequal;
  if (isLarge(s)) {
    largeHessian(s, shift);
    return;
  }
  for (int r = 0; r < m; r++) {
    const double* a = s->equal + (size_t)r * (size_t)s->n;
    for (int c = 0; c <= r; c++) {
      const double* b = s->equal + (size_t)c * (size_t)s->n;
      double sum = 0, all = 0;
      for (int i = 0; i < s->n; i++) {
        all += a[i] * b[i];
        if (s->x[i] > s->lower[i] && s->x[i] < s->upper[i]) sum += a[i] * b[i];
      }
      s->H[r * m + c] = sum + (r == c ? shift * all + (all > 0 ? 0 : 1) : 0);
    }
  }
}

// Residual to rounding.
static bool isZero(const djBlock* s) {
  for (int r = 0; r < s->nequal; r++) {
    const double* row = s->equal + (size_t)r * (size_t)s->n;
    double size = fabs(s->value[r]);
    for (int i = 0; i < s->n; i++) size += fabs(row[i] * s->x[i]);
    if (!(fabs(s->residual[r]) <= 1e-12 * size)) return false;
  }
  return true;
}

djStatus dj_projectBlock(djBlock* s) {
  const double* point = s->point;
  int m = s->nequal;
  memset(s->y, 0, (size_t)m * sizeof *s->y);
  double value = evaluate(s, point, s->y), shift = 1e-12;
  for (int k = 0; k < NEWTON && !isZero(s); k++) {
    double slope = 0;
    hessian(s, shift);
    memcpy(s->ytry, s->residual, (size_t)m * sizeof *s->y);
    if (!factor(s)) return DJ_INVALID;
    dj_solveLDL(s->ytry, s->L, m);
    for (int r = 0; r < m; r++) {
      slope += s->ytry[r] * s->residual[r];
      s->ytry[r] += s->y[r];
    }
    double next = evaluate(s, point, s->ytry);
    if (isZero(s)) break;
    if (next >= value + 1e-4 * slope - 1e-14 * fabs(value)) {
      value = next;
      memcpy(s->y, s->ytry, (size_t)m * sizeof *s->y);
      shift = fmax(shift / 10, 1e-12);
    } else {
      if (shift > 10) break;
      evaluate(s, point, s->y);
      shift = fmax(shift * 10, 1e-10);
    }
  }
  return isZero(s) ? DJ_OK : DJ_INVALID;
}
