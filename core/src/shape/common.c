// Least t with n_i.x - t <= d_i: a linear program of four unknowns, by a barrier,
//   t/mu - sum log(d_i + t - n_i.x),
// whose minimum goes to that of t as mu falls, and of several to the one in their middle. Newton's
// method, damped by its decrement l as step/(1 + l), which never leaves the half spaces. With mu
// not below 1e-6 (of size 1) what is not on the planes that decide still weighs enough in double
// precision; a point on two planes that face each other is between them to mu^2.
//
// Whether there is a point at all is mostly seen sooner: of a point outside its projection on the
// plane that is farthest is nearer to all that the half spaces have in common (Motzkin and Schoenberg
// 1954), so that a few of these come within `grow` where parts meet.
#include "shape/common.h"

#include "math/ldl.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = 4, NEWTON = 60, PROJECTIONS = 30 };
#define LAST 1e-6
#define FALL 0.2

typedef struct Program {
  int n;
  const double* plane;
  djVec3 origin;
  double size;
} Program;

// Slack of half space i at y: x, t in units of the size, about the origin.
static double slack(const Program* p, int i, const double y[UNKNOWNS]) {
  const double* q = p->plane + 4 * i;
  double d = (q[3] - dju_dot3(dju_load3(q), p->origin)) / p->size;
  return d + y[3] - (q[0] * y[0] + q[1] * y[1] + q[2] * y[2]);
}

// The part of a step that leaves a tenth of each slack.
static double boldPart(const Program* p, const double y[UNKNOWNS], const double step[UNKNOWNS]) {
  double part = 1;
  for (int i = 0; i < p->n; i++) {
    const double* q = p->plane + 4 * i;
    const double less = step[3] - (q[0] * step[0] + q[1] * step[1] + q[2] * step[2]);
    if (part * less > 0.9 * slack(p, i, y)) part = 0.9 * slack(p, i, y) / less;
  }
  return part;
}

// One step; its decrement, infinite where there is none. Bold: as far as slacks allow, which takes
// fewer steps.
static double newtonStep(double y[UNKNOWNS], const Program* p, double mu, bool bold) {
  double g[UNKNOWNS] = {0, 0, 0, 1 / mu}, H[UNKNOWNS * UNKNOWNS] = {0}, L[UNKNOWNS * UNKNOWNS];
  double step[UNKNOWNS], decrement = 0;
  for (int i = 0; i < p->n; i++) {
    const double* q = p->plane + 4 * i;
    const double a[UNKNOWNS] = {q[0], q[1], q[2], -1}, w = 1 / slack(p, i, y);
    for (int r = 0; r < UNKNOWNS; r++) {
      g[r] += w * a[r];
      for (int c = 0; c <= r; c++) H[UNKNOWNS * r + c] += w * w * a[r] * a[c];
    }
  }
  if (!dj_factorLDL(L, H, NULL, UNKNOWNS)) return INFINITY;
  memcpy(step, g, sizeof step);
  dj_solveLDL(step, L, UNKNOWNS);
  for (int r = 0; r < UNKNOWNS; r++) decrement += g[r] * step[r];
  decrement = sqrt(fmax(decrement, 0));
  if (!isfinite(decrement)) return INFINITY;
  const double part = bold ? fmax(boldPart(p, y, step), 1 / (1 + decrement)) : 1 / (1 + decrement);
  for (int r = 0; r < UNKNOWNS; r++) y[r] -= part * step[r];
  return decrement;
}

static void begin(double y[UNKNOWNS], const Program* p) {
  double most = -INFINITY;
  memset(y, 0, UNKNOWNS * sizeof *y);
  for (int i = 0; i < p->n; i++) most = fmax(most, -slack(p, i, y));
  y[3] = most + 1;
}

// Do projections come to a point inside of all half spaces, moved by grow?
static bool findsPoint(const Program* p, double grow) {
  djVec3 x = p->origin;
  for (int k = 0; k < PROJECTIONS; k++) {
    int last = 0;
    double most = -INFINITY;
    for (int i = 0; i < p->n; i++) {
      const double out = dju_dot3(dju_load3(p->plane + 4 * i), x) - p->plane[4 * i + 3];
      if (out > most) most = out, last = i;
    }
    if (most <= grow) return true;
    x = dju_madd3(x, -most, dju_load3(p->plane + 4 * last));
  }
  return false;
}

// Any y has slack, so that t is an upper bound of the least one; beside the minimum for mu,
// t - n mu is a lower one.
bool dj_haveCommon(int n, const double* plane, djVec3 start, double size, double grow) {
  const Program p = {n, plane, start, size};
  double y[UNKNOWNS];
  if (findsPoint(&p, grow)) return true;
  begin(y, &p);
  for (double mu = 1; mu > LAST; mu *= FALL) {
    double decrement = INFINITY;
    for (int k = 0; k < NEWTON && decrement > 1e-2; k++) {
      decrement = newtonStep(y, &p, mu, true);
      if (y[3] * size <= grow) return true;
    }
    if (decrement <= 1e-2 && (y[3] - 1.1 * n * mu) * size > grow) return false;
  }
  return false;
}

double dj_commonPoint(djVec3* point, int n, const double* plane, djVec3 start, double size) {
  const Program p = {n, plane, start, size};
  double y[UNKNOWNS], depth = INFINITY;
  begin(y, &p);
  for (double mu = 1; mu > LAST; mu *= FALL) {
    double decrement = 1;
    for (int k = 0; k < NEWTON && decrement > 1e-6 && isfinite(decrement); k++) {
      decrement = newtonStep(y, &p, mu, false);
    }
  }
  *point = dju_madd3(start, size, dju_load3(y));
  for (int i = 0; i < n; i++) {
    depth = fmin(depth, plane[4 * i + 3] - dju_dot3(dju_load3(plane + 4 * i), *point));
  }
  return depth;
}
