// Newton's method with conjugate gradients, within bounds. A step goes down the model
//   g.s + s.H s/2  within  |s| <= r  and the bounds,
// of which only products H d are asked for: by conjugate gradients from s = 0, which end where they
// leave the ball or meet a direction of no positive curvature, which is then followed to the ball
// (Steihaug), or where what is left of the model's gradient is a part of the loss's that falls with
// it (Dembo, Eisenstat, Steihaug). Entries that this takes to a bound are put there, and the others
// follow from where they are. Along s the loss is searched backward, so that one run does for all
// products of a step; r follows what the model was worth, as in trust regions. Where no part of s
// lowers the loss, the gradient has a turn.

#include "optimize/run.h"

#include <math.h>
#include <string.h>

static const double ARMIJO = 1e-4, SHORTEST = 1e-12, FARTHEST = 1e9;
static const double MORE = 1.2; // of what the model falls by: it is left behind
enum { ROUNDS = 8 };            // in which entries come to their bounds

typedef struct djNewtonCg {
  djRun* run;
  double radius;
  double most;       // largest gradient on entries that were free
  int left;          // products of this step
  double *s, *Hs;    // (n) the step so far
  double *d, *Hd;    // (n) a direction
  double* r;         // (n) minus the model's gradient on entries that are free
  double* back;      // (n) of differences
  double *at, *grad; // (n) the best point of a search
  bool* held;        // (n) by a bound
} djNewtonCg;

static djStatus allocate(djNewtonCg* o, djRun* run) {
  size_t n = (size_t)run->n;
  double** list[] = {&o->s, &o->Hs, &o->d, &o->Hd, &o->r, &o->back, &o->at, &o->grad};
  *o = (djNewtonCg){.run = run, .radius = run->optimizer->radius};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    *list[k] = dj_poolTake(&run->pool, n, sizeof(double));
    if (!*list[k]) return DJ_NO_MEMORY;
  }
  o->held = dj_poolTake(&run->pool, n, sizeof(bool));
  return o->held ? DJ_OK : DJ_NO_MEMORY;
}

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double clip(const djRun* run, int i, double x) {
  return fmin(fmax(x, run->set.lower[i]), run->set.upper[i]);
}

// ---- products -----------------------------------------------------------------------------------

// How far x may go along side times v within the bounds.
static double roomAlong(const djRun* run, const double* v, int side) {
  double room = INFINITY;
  for (int i = 0; i < run->n; i++) {
    double d = side * v[i], bound = d > 0 ? run->set.upper[i] : run->set.lower[i];
    if (d != 0) room = fmin(room, (bound - run->x[i]) / d);
  }
  return fmax(0, room);
}

static djStatus gradientAt(double* g, djNewtonCg* o, const double* v, double e) {
  djRun* run = o->run;
  double loss;
  for (int i = 0; i < run->n; i++) run->trial[i] = clip(run, i, run->x[i] + e * v[i]);
  run->result->evaluations++;
  return run->problem->objective(run->problem->user, &loss, g, run->trial);
}

// Of objectives without products: by their gradients at both sides, or at x where bounds leave one.
static djStatus differ(double* out, djNewtonCg* o, const double* v) {
  const djRun* run = o->run;
  double size = 0, most = 1;
  for (int i = 0; i < run->n; i++) {
    size = fmax(size, fabs(v[i]));
    most = fmax(most, fabs(run->x[i]));
  }
  double e = size > 0 ? 1e-5 * most / size : 1;
  double up = roomAlong(run, v, 1), down = roomAlong(run, v, -1), both = fmin(up, down);
  int side = up >= down ? 1 : -1;
  bool one = both < 0.1 * e;
  e = side * fmin(e, one ? fmax(up, down) : both);
  if (e == 0) return DJ_INVALID;
  djStatus status = gradientAt(out, o, v, e);
  if (one)
    memcpy(o->back, run->grad, (size_t)run->n * sizeof *out);
  else if (status >= 0)
    status = gradientAt(o->back, o, v, -e);
  if (status < 0) return status;
  for (int i = 0; i < run->n; i++) out[i] = (out[i] - o->back[i]) / (one ? e : 2 * e);
  return DJ_OK;
}

static djStatus multiply(double* out, djNewtonCg* o, const double* v) {
  djRun* run = o->run;
  const djOptimizeProblem* p = run->problem;
  o->left--;
  run->result->products++;
  djStatus status = p->product ? p->product(p->user, out, run->x, v) : differ(out, o, v);
  for (int i = 0; i < run->n && status >= 0; i++) {
    if (!isfinite(out[i])) return DJ_INVALID;
  }
  return status;
}

// ---- the model ----------------------------------------------------------------------------------

// The farthest t with |s + t d| <= radius.
static double toBall(const djNewtonCg* o) {
  int n = o->run->n;
  double a = dot(o->d, o->d, n), b = dot(o->s, o->d, n);
  double c = fmax(0, o->radius * o->radius - dot(o->s, o->s, n));
  return c / (b + sqrt(b * b + a * c) + 1e-300); // no cancellation where b > 0
}

static void advance(djNewtonCg* o, double t) {
  for (int i = 0; i < o->run->n; i++) {
    o->s[i] += t * o->d[i];
    o->Hs[i] += t * o->Hd[i];
  }
}

// Conjugate gradients on what is free. *ended: at the ball, or all products are used up.
static djStatus descend(bool* ended, djNewtonCg* o, double enough) {
  djRun* run = o->run;
  int n = run->n;
  *ended = false;
  for (int i = 0; i < n; i++) {
    o->r[i] = o->held[i] ? 0 : -run->grad[i] - o->Hs[i];
    o->d[i] = o->r[i];
  }
  double rr = dot(o->r, o->r, n);
  while (sqrt(rr) > enough) {
    *ended = o->left <= 0;
    if (*ended) return DJ_OK;
    djStatus status = multiply(o->Hd, o, o->d);
    if (status < 0) return status;
    double curvature = dot(o->d, o->Hd, n), far = toBall(o);
    bool bends = curvature > 1e-14 * sqrt(dot(o->Hd, o->Hd, n) * dot(o->d, o->d, n));
    double t = bends ? rr / curvature : INFINITY;
    *ended = !(t < far);
    advance(o, fmin(t, far));
    if (*ended) return DJ_OK;
    double before = rr;
    for (int i = 0; i < n; i++) o->r[i] -= o->held[i] ? 0 : t * o->Hd[i];
    rr = dot(o->r, o->r, n);
    for (int i = 0; i < n; i++) o->d[i] = o->r[i] + rr / before * o->d[i];
  }
  return DJ_OK;
}

// Entries of s beyond a bound are put there and held. False: none.
static bool holdAtBounds(djNewtonCg* o) {
  const djRun* run = o->run;
  bool any = false;
  for (int i = 0; i < run->n; i++) {
    double x = run->x[i] + o->s[i], inside = clip(run, i, x);
    if (x == inside || o->held[i]) continue;
    o->s[i] = inside - run->x[i];
    o->held[i] = any = true;
  }
  return any;
}

// s along the gradient's opposite, as long as the ball or the bounds allow.
static void alongGradient(djNewtonCg* o) {
  const djRun* run = o->run;
  double size = 0;
  for (int i = 0; i < run->n; i++) size += o->held[i] ? 0 : run->grad[i] * run->grad[i];
  double t = size > 0 ? o->radius / sqrt(size) : 0;
  for (int i = 0; i < run->n; i++) {
    o->s[i] = clip(run, i, run->x[i] - t * run->grad[i]) - run->x[i];
  }
}

static void holdAtStart(djNewtonCg* o) {
  const djRun* run = o->run;
  for (int i = 0; i < run->n; i++) {
    double g = run->grad[i];
    o->held[i] =
        (g > 0 && run->x[i] <= run->set.lower[i]) || (g < 0 && run->x[i] >= run->set.upper[i]);
  }
}

// s, and by how much the model falls; not positive: there is no step.
static djStatus findStep(double* fall, djNewtonCg* o) {
  djRun* run = o->run;
  int n = run->n;
  size_t size = (size_t)n * sizeof(double);
  memset(o->s, 0, size);
  memset(o->Hs, 0, size);
  o->left = run->optimizer->products;
  holdAtStart(o);
  double g = 0;
  for (int i = 0; i < n; i++) g += o->held[i] ? 0 : run->grad[i] * run->grad[i];
  g = sqrt(g);
  o->most = fmax(o->most, g);
  double enough = g * fmin(0.5, sqrt(g / (o->most + 1e-300)));
  djStatus status = DJ_OK;
  bool known = true, ended = false;
  for (int round = 0; round < ROUNDS && !ended && status >= 0; round++) {
    status = descend(&ended, o, enough);
    if (status < 0 || !holdAtBounds(o)) break;
    known = o->left > 0;
    if (!known) break;
    status = multiply(o->Hs, o, o->s);
  }
  if (status == DJ_NO_MEMORY) return status;
  double slope = dot(run->grad, o->s, n), bend = dot(o->s, o->Hs, n);
  *fall = known && status >= 0 ? -slope - bend / 2 : -slope;
  if (slope < 0 && *fall > 0) return DJ_OK;
  alongGradient(o);
  *fall = -dot(run->grad, o->s, n);
  return DJ_OK;
}

// ---- the step -----------------------------------------------------------------------------------

static void place(const djNewtonCg* o, double t) {
  const djRun* run = o->run;
  for (int i = 0; i < run->n; i++) run->trial[i] = clip(run, i, run->x[i] + t * o->s[i]);
}

static void keep(djNewtonCg* o, double* best, double loss) {
  size_t size = (size_t)o->run->n * sizeof(double);
  memcpy(o->at, o->run->trial, size);
  memcpy(o->grad, o->run->trial_grad, size);
  *best = loss;
}

// Loss and gradient at run->x + t s, t halved or less till the loss falls, into o->at and o->grad.
// *t 0: none does.
static djStatus search(double* t, double* best, djNewtonCg* o) {
  djRun* run = o->run;
  double slope = dot(run->grad, o->s, run->n);
  for (*t = 1; *t > SHORTEST;) {
    double loss = NAN;
    place(o, *t);
    djStatus status = dj_evaluateRun(run, &loss, run->trial_grad, run->trial);
    if (status == DJ_NO_MEMORY) return status;
    double rise = loss - run->loss;
    if (status >= 0 && rise <= ARMIJO * *t * slope && loss < run->loss) {
      keep(o, best, loss);
      return DJ_OK;
    }
    if (-*t * slope < 1e-15 * fabs(run->loss)) break;
    double least = status >= 0 ? -slope * *t / (2 * (rise - *t * slope)) : 0; // of a parabola
    *t *= fmin(0.5, fmax(0.1, isfinite(least) ? least : 0));
  }
  *t = 0;
  return DJ_OK;
}

// The loss curves less than its Hessian says, as where it is rough: farther along s, as long as it
// falls.
static djStatus searchOn(double* t, double* best, djNewtonCg* o) {
  djRun* run = o->run;
  for (double on = 4 * *t; on < FARTHEST; on *= 4) {
    double loss = NAN;
    place(o, on);
    djStatus status = dj_evaluateRun(run, &loss, run->trial_grad, run->trial);
    if (status == DJ_NO_MEMORY) return status;
    if (status < 0 || !(loss < *best)) return DJ_OK;
    keep(o, best, loss);
    *t = on;
  }
  return DJ_OK;
}

static void follow(djNewtonCg* o, double t, double fell, double fall) {
  double length = t * sqrt(dot(o->s, o->s, o->run->n)), worth = fell / fall;
  if (t > 1)
    o->radius = fmax(o->radius, length);
  else if (t < 1)
    o->radius = fmax(length, SHORTEST);
  else if (worth < 0.25)
    o->radius = 0.5 * length;
  else if (worth > 0.75 && length > 0.8 * o->radius)
    o->radius *= 2;
}

// One accepted step; none is left otherwise, and *flat tells whether that is for rounding.
static djStatus takeStep(bool* taken, bool* flat, double* norm, void* user) {
  djNewtonCg* o = user;
  djRun* run = o->run;
  size_t size = (size_t)run->n * sizeof(double);
  *taken = *flat = false;
  for (int turn = 0; turn < 2 && !*taken; turn++) {
    double fall = 0, t, loss;
    djStatus status = DJ_OK;
    if (turn == 0) {
      status = findStep(&fall, o);
    } else {
      holdAtStart(o);
      alongGradient(o);
      fall = -dot(run->grad, o->s, run->n);
    }
    if (status < 0) return status;
    *flat = fall < 1e-14 * fabs(run->loss);
    if (!(fall > 0)) return DJ_OK;
    status = search(&t, &loss, o);
    if (status < 0) return status;
    if (t == 0) continue;
    if (t == 1 && run->loss - loss > MORE * fall) status = searchOn(&t, &loss, o);
    if (status < 0) return status;
    follow(o, t, run->loss - loss, fall);
    *norm = dj_stepLength(o->at, run->x, run->n);
    memcpy(run->x, o->at, size);
    memcpy(run->grad, o->grad, size);
    run->loss = loss;
    *taken = true;
  }
  return DJ_OK;
}

static djStatus runNewtonCg(djRun* run) {
  djNewtonCg o;
  if (allocate(&o, run) < 0) return DJ_NO_MEMORY;
  run->compares = true;
  if (run->n > 0) return dj_iterate(run, takeStep, &o);
  run->result->stop = DJ_STOP_STUCK;
  return DJ_OK;
}

const djOptimizerRow dj_optimizerNewtonCg = {
    {.name = "newton_cg",
     .unit = "",
     .help =
         "Newton's method with bounds, by Hessian-vector products and conjugate gradients, also "
         "where the loss curves down; takes no connections",
     .key = (const djKey[]){{.name = "radius"}, {.name = "products"}, {0}}},
    .run = runNewtonCg};
