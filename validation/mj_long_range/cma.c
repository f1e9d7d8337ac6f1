// CMA-ES (Hansen, The CMA evolution strategy: a tutorial, 2016), (mu/mu_w, lambda): with its
// standard constants, covariances of all pairs for up to FULL variables, beyond that of single ones
// (sep-CMA, Ros and Hansen 2008), learning (n + 2)/3 times as fast. Samples are projected on
// bounds, and taken as they are then. Unknowns are y = x/scale.

#include "mj_long_range/long_range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FULL = 12 };

typedef struct Search {
  int n, lambda, mu;
  bool full;
  double *weight, cover;                 // (mu); mu_eff
  double cc, cs, c1, cmu, damping, chi;
  double sigma, *mean;                   // (n)
  double *path, *conjugate;              // (n) p_c, p_s
  double *C, *B, *D;                     // (n x n) covariance, axes; (n) lengths of these; or (n)
  double *y, *loss;                      // (lambda x n) steps over sigma, (lambda)
  int* order;                            // (lambda) by loss
  double *move, *work;                   // (n)
} Search;

static void setRates(Search* s) {
  double n = s->n, sum = 0, square = 0;
  for (int i = 0; i < s->mu; i++) {
    s->weight[i] = log(0.5 * (s->lambda + 1)) - log(i + 1);
    sum += s->weight[i];
  }
  for (int i = 0; i < s->mu; i++) {
    s->weight[i] /= sum;
    square += s->weight[i] * s->weight[i];
  }
  double m = s->cover = 1 / square;
  s->cc = (4 + m / n) / (n + 4 + 2 * m / n);
  s->cs = (m + 2) / (n + m + 5);
  s->c1 = 2 / ((n + 1.3) * (n + 1.3) + m);
  s->cmu = fmin(1 - s->c1, 2 * (m - 2 + 1 / m) / ((n + 2) * (n + 2) + m));
  s->damping = 1 + 2 * fmax(0, sqrt((m - 1) / (n + 1)) - 1) + s->cs;
  s->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  if (s->full) return;
  double faster = (n + 2) / 3;
  s->c1 = fmin(s->c1 * faster, 0.5);
  s->cmu = fmin(s->cmu * faster, 1 - s->c1);
}

static void open(Search* s, int n, double sigma) {
  *s = (Search){.n = n, .lambda = 4 + (int)(3 * log(n)), .full = n <= FULL, .sigma = sigma};
  s->mu = s->lambda / 2;
  size_t nn = (size_t)(s->full ? n * n : n), k = (size_t)n, l = (size_t)s->lambda;
  double** vector[] = {&s->mean, &s->path, &s->conjugate, &s->D, &s->move, &s->work};
  for (int i = 0; i < 6; i++) *vector[i] = djv_take(k, sizeof(double));
  s->weight = djv_take((size_t)s->mu, sizeof(double));
  s->C = djv_take(nn, sizeof(double));
  s->B = djv_take(nn, sizeof(double));
  s->y = djv_take(l * k, sizeof(double));
  s->loss = djv_take(l, sizeof(double));
  s->order = djv_take(l, sizeof(int));
  for (int i = 0; i < n; i++) s->D[i] = s->C[i * (s->full ? n + 1 : 1)] = 1;
  for (int i = 0; i < n && s->full; i++) s->B[i * (n + 1)] = 1;
  setRates(s);
}

static void close(Search* s) {
  double* memory[] = {s->weight, s->mean, s->path, s->conjugate, s->C, s->B, s->D, s->y,
                      s->loss, s->move, s->work};
  for (int i = 0; i < 11; i++) free(memory[i]);
  free(s->order);
}

// One rotation of Jacobi's method for rows and columns p, q of C, whose axes are columns of B.
static void rotate(Search* s, double* C, int p, int q) {
  int n = s->n;
  double apart = C[q * n + q] - C[p * n + p], cross = C[p * n + q];
  if (fabs(cross) < 1e-300) return;
  double theta = apart / (2 * cross);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1), r = t * c;
  for (int k = 0; k < n; k++) {
    double a = C[k * n + p], b = C[k * n + q];
    C[k * n + p] = c * a - r * b;
    C[k * n + q] = r * a + c * b;
  }
  for (int k = 0; k < n; k++) {
    double a = C[p * n + k], b = C[q * n + k];
    C[p * n + k] = c * a - r * b;
    C[q * n + k] = r * a + c * b;
    a = s->B[k * n + p], b = s->B[k * n + q];
    s->B[k * n + p] = c * a - r * b;
    s->B[k * n + q] = r * a + c * b;
  }
}

// Axes and their lengths, of a small matrix.
static void findAxes(Search* s) {
  int n = s->n;
  if (!s->full) {
    for (int i = 0; i < n; i++) s->D[i] = sqrt(fmax(s->C[i], 1e-30));
    return;
  }
  double C[FULL * FULL];
  memcpy(C, s->C, (size_t)(n * n) * sizeof *C);
  memset(s->B, 0, (size_t)(n * n) * sizeof *s->B);
  for (int i = 0; i < n; i++) s->B[i * (n + 1)] = 1;
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int p = 0; p < n; p++) {
      for (int q = p + 1; q < n; q++) rotate(s, C, p, q);
    }
  }
  for (int i = 0; i < n; i++) s->D[i] = sqrt(fmax(C[i * (n + 1)], 1e-30));
}

// out = B D^power B^T v, or, half: B D v.
static void apply(double* out, const Search* s, const double* v, bool half, double power) {
  int n = s->n;
  if (!s->full) {
    for (int i = 0; i < n; i++) out[i] = v[i] * pow(s->D[i], power);
    return;
  }
  memset(out, 0, (size_t)n * sizeof *out);
  for (int k = 0; k < n; k++) {
    double along = half ? v[k] : 0;
    for (int i = 0; i < n && !half; i++) along += s->B[i * n + k] * v[i];
    for (int i = 0; i < n; i++) out[i] += s->B[i * n + k] * pow(s->D[k], power) * along;
  }
}

static void sort(Search* s) {
  for (int i = 0; i < s->lambda; i++) {
    int at = i;
    for (; at > 0 && s->loss[s->order[at - 1]] > s->loss[i]; at--) s->order[at] = s->order[at - 1];
    s->order[at] = i;
  }
}

static void addOuter(Search* s, const double* v, double factor) {
  int n = s->n;
  for (int i = 0; i < n; i++) {
    if (!s->full) s->C[i] += factor * v[i] * v[i];
    for (int j = 0; j < n && s->full; j++) s->C[i * n + j] += factor * v[i] * v[j];
  }
}

// Mean, paths, covariance and step length by the samples of a generation.
static void update(Search* s, int generation) {
  int n = s->n;
  double length = 0;
  sort(s);
  memset(s->move, 0, (size_t)n * sizeof *s->move);
  for (int k = 0; k < s->mu; k++) {
    const double* y = s->y + s->order[k] * n;
    for (int i = 0; i < n; i++) s->move[i] += s->weight[k] * y[i];
  }
  apply(s->work, s, s->move, false, -1);
  double keep = sqrt(s->cs * (2 - s->cs) * s->cover);
  for (int i = 0; i < n; i++) {
    s->mean[i] += s->sigma * s->move[i];
    s->conjugate[i] = (1 - s->cs) * s->conjugate[i] + keep * s->work[i];
    length += s->conjugate[i] * s->conjugate[i];
  }
  length = sqrt(length);
  double settled = sqrt(1 - pow(1 - s->cs, 2 * (generation + 1)));
  bool moves = length / settled < (1.4 + 2.0 / (n + 1)) * s->chi;
  keep = moves ? sqrt(s->cc * (2 - s->cc) * s->cover) : 0;
  for (int i = 0; i < n; i++) s->path[i] = (1 - s->cc) * s->path[i] + keep * s->move[i];
  double stay = 1 - s->c1 - s->cmu + (moves ? 0 : s->c1 * s->cc * (2 - s->cc));
  for (int i = 0; i < (s->full ? n * n : n); i++) s->C[i] *= stay;
  addOuter(s, s->path, s->c1);
  for (int k = 0; k < s->mu; k++) addOuter(s, s->y + s->order[k] * n, s->cmu * s->weight[k]);
  s->sigma *= exp(fmin(1, s->cs / s->damping * (length / s->chi - 1)));
  findAxes(s);
}

double lr_search(double* x, int n, const double* lower, const double* upper, const double* scale,
                 double sigma, int evaluations, djvRandom* random, Loss f, void* user) {
  Search s;
  open(&s, n, sigma);
  double *best = djv_take((size_t)n, sizeof *best), *trial = djv_take((size_t)n, sizeof *trial);
  double least = f(user, x);
  memcpy(best, x, (size_t)n * sizeof *best);
  for (int i = 0; i < n; i++) s.mean[i] = x[i] / scale[i];
  int left = evaluations - 1;
  for (int g = 0; left >= s.lambda && least > 0; g++) {
    for (int k = 0; k < s.lambda; k++, left--) {
      double* y = s.y + k * n;
      for (int i = 0; i < n; i++) s.work[i] = lr_normal(random);
      apply(y, &s, s.work, true, 1);
      for (int i = 0; i < n; i++) {
        double value = (s.mean[i] + s.sigma * y[i]) * scale[i];
        trial[i] = fmin(fmax(value, lower[i]), upper[i]);
        y[i] = (trial[i] / scale[i] - s.mean[i]) / s.sigma;
      }
      s.loss[k] = f(user, trial);
      if (!(s.loss[k] < least)) continue;
      least = s.loss[k];
      memcpy(best, trial, (size_t)n * sizeof *best);
    }
    update(&s, g);
  }
  memcpy(x, best, (size_t)n * sizeof *best);
  free(best);
  free(trial);
  close(&s);
  return least;
}
