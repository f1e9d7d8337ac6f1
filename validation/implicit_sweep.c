// Contact kinematics of implicit surfaces over all places of two bodies: the ten pairs of families
// at beta 20 and n 8 (iDCOL, Table I) and its three pairs with ellipsoids (Table II), cold and
// warm, with and without derivatives; then sharp and slender shapes of 1e-3 to 1e3 m. What must
// hold: every query is solved, by a root with positive multipliers, whose alpha is the same cold,
// warm and from the other body's side. Times are printed.
//
// --a I --b K: one pair of Table I alone, numbers of the list of shapes. --places N: so many, in
// place of 1e6 (--quick: 2e4). --repeats N: times are the least of so many runs.
// --poses FILE: writes places (of b in a's frame: r, then R by rows; doubles) for other programs.
//
// The path: distance, direction and rotation follow functions of time with incommensurate
// frequencies, a step moves them by about `step` rad. Shapes are those of the paper's public
// program.

#include "common/report.h"
#include "common/vec3.h"

#include <dijoco/implicit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHAPES = 5, FACETS = 8, NUMBERS = 4 * FACETS + 2 };

static const double OCTAHEDRON[NUMBERS] = {
    1, 1, 1,  1, -1, -1, -1, 1, -1, -1, -1, 1,       -1,      -1,      -1,      -1, 1,
    1, 1, -1, 1, 1,  1,  -1, 1, 1,  1,  1,  5.0 / 3, 5.0 / 3, 5.0 / 3, 5.0 / 3, 1,  20};
static const double CONE[5] = {1, 1.5, 1.5, 1.5, 20};
static const double BOX[4] = {0.5, 1, 1.5, 8};
static const double CYLINDER[3] = {1, 2, 8};
static const double ELLIPSOID[4] = {0.5, 1, 1.5, 1};
static const djcImplicitShape SHAPE[SHAPES] = {{"smooth_polytope", FACETS, NUMBERS, OCTAHEDRON},
                                               {"truncated_cone", 0, 5, CONE},
                                               {"superellipsoid", 0, 4, BOX},
                                               {"superelliptic_cylinder", 0, 3, CYLINDER},
                                               {"superellipsoid", 0, 4, ELLIPSOID}};
static const char* const NAME[SHAPES] = {"Poly", "TC", "SE", "SEC", "Ell"};

typedef struct Place {
  double pos[3], quat[4];
} Place;

// Sizes of the shapes set the distances: from a tenth of the least one to twice the largest.
static void pathAt(Place* p, double t, double least, double most) {
  const double u = 0.5 * (1 + sin(sqrt(2) * t)), lo = pow(0.1 * least, 3), hi = pow(2 * most, 3);
  const double r = cbrt(lo + (hi - lo) * u);
  const double up = M_PI / 2 * sin(sqrt(3) * t), round = sqrt(5) * t;
  double norm = 0;
  p->pos[0] = r * cos(up) * cos(round);
  p->pos[1] = r * cos(up) * sin(round);
  p->pos[2] = r * sin(up);
  p->quat[0] = sin(sqrt(7) * t + 0.1);
  p->quat[1] = cos(sqrt(11) * t);
  p->quat[2] = sin(sqrt(13) * t);
  p->quat[3] = cos(sqrt(17) * t);
  for (int k = 0; k < 4; k++) norm += p->quat[k] * p->quat[k];
  for (int k = 0; k < 4; k++) p->quat[k] /= sqrt(norm);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static const double ZERO[3] = {0}, ONE[4] = {1, 0, 0, 0};

typedef struct Timing {
  double mean, median, p99;
} Timing;

// What was not solved or by a wrong root; the first few are named.
typedef struct Tally {
  long failed, wrong;
} Tally;

enum { COLD = 1, DERIVATIVES = 2, SIZES = 4, NAMED = 20 };

static void tally(Tally* t, const char* name, int place, int mode, djStatus status,
                  const djcImplicit* o) {
  const bool wrong = !(o->multipliers[0] > 0 && o->multipliers[1] > 0);
  if (status == DJ_OK && !wrong) return;
  if (t->failed + t->wrong < NAMED) {
    djv_note("%s, place %d, %s: %s", name, place, mode & COLD ? "cold" : "warm",
             status ? "not solved" : "a negative multiplier");
  }
  ++*(status ? &t->failed : &t->wrong);
}

typedef struct Path {
  const char* name; // of the pair
  int n;            // places
  double step, range[2];
} Path;

// All places of a path; alpha (n) or NULL. Times are the least of `repeats`.
static Timing sweep(double* alpha, Tally* count, djcImplicitPair* pair, const Path* path, int mode,
                    int repeats) {
  const int n = path->n, flags = mode & DERIVATIVES ? DJC_DERIVATIVES : 0;
  double *time = djv_take((size_t)n, sizeof *time), by[8 * NUMBERS];
  for (int r = 0; r < repeats; r++) {
    djc_forgetImplicitPair(pair);
    for (int i = 0; i < n; i++) {
      Place p;
      djcImplicit o;
      pathAt(&p, i * path->step, path->range[0], path->range[1]);
      if (mode & COLD) djc_forgetImplicitPair(pair);
      const double start = now();
      const djStatus status = djc_evalImplicitPair(&o, pair, ZERO, ONE, p.pos, p.quat, flags);
      for (int k = 0; k < 2 && mode & SIZES; k++) djc_implicitBySize(by, pair, k);
      const double spent = now() - start;
      time[i] = r == 0 ? spent : fmin(time[i], spent);
      if (r > 0) continue;
      tally(count, path->name, i, mode, status, &o);
      if (alpha) alpha[i] = o.alpha;
    }
  }
  Timing t = {0};
  for (int i = 0; i < n; i++) t.mean += time[i] / n;
  qsort(time, (size_t)n, sizeof *time, compare);
  t.median = time[n / 2];
  t.p99 = time[(int)(0.99 * n)];
  free(time);
  return t;
}

static djcImplicitPair* makePair(const djcImplicitShape* a, const djcImplicitShape* b) {
  djError err = {""};
  djcImplicitPair* pair;
  if (djc_makeImplicitPair(&pair, a, b, &err)) djv_fail("%s", err.text);
  return pair;
}

// Least and largest radius of both shapes, from their numbers: sizes are 1 to 2.
static void rangeOf(double range[2], int a, int b) {
  static const double LEAST[SHAPES] = {0.577, 1.25, 0.5, 1, 0.5};
  static const double MOST[SHAPES] = {2.31, 2.12, 1.73, 2.11, 1.5};
  range[0] = fmin(LEAST[a], LEAST[b]);
  range[1] = fmax(MOST[a], MOST[b]);
}

static void writePoses(const char* file, int a, int b, int n, double step) {
  FILE* out = fopen(file, "wb");
  double range[2];
  if (!out) djv_fail("%s: cannot be written", file);
  rangeOf(range, a, b);
  for (int i = 0; i < n; i++) {
    Place p;
    pathAt(&p, i * step, range[0], range[1]);
    const double w = p.quat[0], x = p.quat[1], y = p.quat[2], z = p.quat[3];
    const double row[12] = {p.pos[0],
                            p.pos[1],
                            p.pos[2],
                            1 - 2 * (y * y + z * z),
                            2 * (x * y - w * z),
                            2 * (x * z + w * y),
                            2 * (x * y + w * z),
                            1 - 2 * (x * x + z * z),
                            2 * (y * z - w * x),
                            2 * (x * z - w * y),
                            2 * (y * z + w * x),
                            1 - 2 * (x * x + y * y)};
    if (fwrite(row, sizeof row, 1, out) != 1) djv_fail("%s: cannot be written", file);
  }
  if (fclose(out)) djv_fail("%s: cannot be written", file);
}

static double largestDifference(const double* x, const double* y, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djv_worst(worst, fabs(x[i] - y[i]) / x[i]);
  return worst;
}

static double swappedDifference(Tally* count, const Path* path, const double* alpha,
                                const djcImplicitShape* a, const djcImplicitShape* b) {
  djcImplicitPair* swapped = makePair(b, a);
  double worst = 0;
  for (int i = 0; i < path->n; i += 7) {
    Place p;
    djcImplicit o;
    pathAt(&p, i * path->step, path->range[0], path->range[1]);
    const djStatus status = djc_evalImplicitPair(&o, swapped, p.pos, p.quat, ZERO, ONE, 0);
    tally(count, path->name, i, 0, status, &o);
    worst = djv_worst(worst, fabs(o.alpha - alpha[i]) / alpha[i]);
  }
  djc_deleteImplicitPair(swapped);
  return worst;
}

// One pair: cold, warm at three steps, with derivatives, and from b's side.
static void checkPair(djvReport* r, int a, int b, int n, int repeats) {
  static const double STEP[3] = {1e-4, 1e-3, 1e-2};
  char name[20], text[200];
  snprintf(name, sizeof name, "%s %s", NAME[a], NAME[b]);
  djcImplicitPair* pair = makePair(&SHAPE[a], &SHAPE[b]);
  Path path = {name, n, 1e-3, {0, 0}};
  rangeOf(path.range, a, b);
  double* cold = djv_take((size_t)n, sizeof *cold);
  double* other = djv_take((size_t)n, sizeof *other);
  Tally count = {0, 0};
  const Timing c = sweep(cold, &count, pair, &path, COLD, repeats);
  const Timing d = sweep(NULL, &count, pair, &path, COLD | DERIVATIVES, repeats);
  int at = snprintf(text, sizeof text, "%-9s %5.2f %5.2f %5.1f %6.2f |", name, c.mean, c.median,
                    c.p99 / c.median, d.mean);
  double difference = 0, tail = c.p99 / c.median, sizes = 0;
  for (int k = 0; k < 3; k++) {
    path.step = STEP[k];
    const Timing w = sweep(other, &count, pair, &path, 0, repeats);
    const Timing v = sweep(NULL, &count, pair, &path, DERIVATIVES, repeats);
    at += snprintf(text + at, sizeof text - (size_t)at, " %5.2f %5.2f %4.1f", w.mean, v.mean,
                   v.p99 / v.median);
    tail = fmax(tail, v.p99 / v.median);
    if (STEP[k] == 1e-3) {
      const Timing u = sweep(NULL, &count, pair, &path, DERIVATIVES | SIZES, repeats);
      difference = largestDifference(cold, other, n);
      sizes = u.median / v.median;
      at += snprintf(text + at, sizeof text - (size_t)at, " %4.2f", sizes);
    }
    at += snprintf(text + at, sizeof text - (size_t)at, " |");
  }
  djv_note("%s", text);
  path.step = 1e-3;
  difference = djv_worst(difference, swappedDifference(&count, &path, cold, &SHAPE[a], &SHAPE[b]));
  snprintf(text, sizeof text, "%s: not solved", name);
  djv_count(r, text, count.failed, 0);
  snprintf(text, sizeof text, "%s: roots with a negative multiplier", name);
  djv_count(r, text, count.wrong, 0);
  snprintf(text, sizeof text, "%s: alpha, cold, warm and swapped", name);
  djv_below(r, text, difference, 1e-9, "");
  djv_figure(r, "cold, with derivatives: mean", d.mean, "us");
  djv_figure(r, "99th percentile over median", tail, "");
  djv_figure(r, "by sizes too, over by poses alone", sizes, "");
  free(cold);
  free(other);
  djc_deleteImplicitPair(pair);
}

static double uniform(unsigned long long* state, double lo, double hi) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return lo + (hi - lo) * (double)(*state >> 11) * 0x1p-53;
}

// A shape of about `scale`, one semi-axis in three up to `slender` times less, as sharp as that.
static int drawShape(double* size, int family, double scale, double slender, double beta, double n,
                     unsigned long long* state) {
  if (family == 0) {
    memcpy(size, OCTAHEDRON, sizeof OCTAHEDRON);
    double squeeze[3];
    for (int k = 0; k < 3; k++) squeeze[k] = k == 1 ? uniform(state, 1, slender) : 1;
    for (int i = 0; i < 3 * FACETS; i++) size[i] *= squeeze[i % 3];
    for (int i = 0; i <= FACETS; i++) size[3 * FACETS + i] *= scale;
    size[NUMBERS - 1] = beta;
    return NUMBERS;
  }
  static const int LENGTHS[4] = {0, 4, 3, 2};
  for (int k = 0; k < LENGTHS[family]; k++) size[k] = scale * uniform(state, 0.5, 1);
  size[family == 1 ? 3 : 0] /= uniform(state, 1, slender);
  if (family == 1) {
    size[2] = size[3];
    size[1] = size[0] * uniform(state, 0.2, 1);
  }
  size[LENGTHS[family]] = family == 1 ? beta : n;
  return LENGTHS[family] + 1;
}

static void checkHard(djvReport* r, int cases, int poses) {
  static const char* const FAMILY[4] = {"smooth_polytope", "truncated_cone", "superellipsoid",
                                        "superelliptic_cylinder"};
  static const double SCALE[3] = {1e-3, 1, 1e3}, BETA[3] = {20, 100, 500}, N[3] = {8, 2.5, 16};
  static const double SLENDER[3] = {1, 10, 50};
  unsigned long long state = 5;
  Tally count = {0, 0};
  long total = 0;
  double difference = 0;
  for (int c = 0; c < cases; c++) {
    double size[2][NUMBERS];
    djcImplicitShape shape[2];
    const double scale = SCALE[c % 3], slender = SLENDER[c / 3 % 3];
    for (int k = 0; k < 2; k++) {
      const int f = k ? c / 4 % 4 : c % 4, at = c / 9 % 3;
      const int n = drawShape(size[k], f, scale, slender, BETA[at], N[at], &state);
      shape[k] = (djcImplicitShape){FAMILY[f], f ? 0 : FACETS, n, size[k]};
    }
    djcImplicitPair* pair = makePair(&shape[0], &shape[1]);
    char name[40];
    snprintf(name, sizeof name, "case %d", c);
    const Path path = {name, poses, 1e-2, {scale, 2 * scale}};
    double* alpha = djv_take((size_t)poses, sizeof *alpha);
    double* cold = djv_take((size_t)poses, sizeof *cold);
    sweep(alpha, &count, pair, &path, 0, 1);
    sweep(cold, &count, pair, &path, COLD, 1);
    difference = djv_worst(difference, largestDifference(cold, alpha, poses));
    total += 2 * poses;
    free(alpha);
    free(cold);
    djc_deleteImplicitPair(pair);
  }
  djv_note("%ld queries", total);
  djv_count(r, "not solved", count.failed, 0);
  djv_count(r, "roots with a negative multiplier", count.wrong, 0);
  djv_below(r, "alpha, cold and warm", difference, 1e-8, "");
}

int main(int argc, char** argv) {
  const int a = (int)djv_takeNumber(&argc, argv, "--a", -1);
  const int b = (int)djv_takeNumber(&argc, argv, "--b", -1);
  const int repeats = (int)djv_takeNumber(&argc, argv, "--repeats", 1);
  const char* poses = djv_takeText(&argc, argv, "--poses");
  const double step = djv_takeNumber(&argc, argv, "--step", 1e-3);
  const int places = (int)djv_takeNumber(&argc, argv, "--places", 0);
  const bool quick = djv_isQuick(argc, argv);
  const int n = places > 0 ? places : quick ? 20000 : 1000000;
  if (a >= SHAPES || b >= SHAPES) djv_fail("--a, --b: 0 to %d", SHAPES - 1);
  if (poses) {
    writePoses(poses, a < 0 ? 0 : a, b < 0 ? 0 : b, 100000, step);
    return 0;
  }
  djvReport r = {0};
  djv_title("Pairs of families on a path through all places: microseconds a query. cold: mean, "
            "median,\n99th percentile over median, mean with derivatives | warm at steps of 1e-4, "
            "1e-3, 1e-2 rad: mean, with\nderivatives mean and 99th percentile over median; at 1e-3 "
            "by sizes too, over by poses alone");
  for (int i = 0; i < 4; i++) {
    for (int k = i; k < 4; k++) {
      if ((a < 0 || a == i) && (b < 0 || b == k)) checkPair(&r, i, k, n, repeats);
    }
  }
  djv_title("The same with ellipsoids (Table II)");
  if (a < 0) checkPair(&r, 0, 4, n, repeats);
  if (a < 0) checkPair(&r, 4, 4, n, repeats);
  if (a < 0) {
    djv_title("beta to 500, n to 16, semi-axes to 1:50, 1 mm to 1 km");
    checkHard(&r, quick ? 144 : 1440, quick ? 100 : 1000);
  }
  return djv_finish(&r);
}
