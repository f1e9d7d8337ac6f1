// With L = r0 + (l - range0)/L0, L0 = (range1 - range0)/(r1 - r0), V = l'/(L0 vmax) and the peak
// force F (of F < 0: scale/acc0):
//   gain = -F FL(L) FV(V),   bias = -F fpmax FP(L);
//   FL: pieces of parabolas, 1 at L = 1, 0 beyond lmin and lmax;  FV = (V + 1)^2 while it shortens,
//   up to fvmax where it lengthens;  FP: half a parabola from L = 1 on, then straight.
// (MuJoCo's documentation, "Muscles".) Numbers carry derivatives by l, l' and the nine numbers of
// the law, and those of the first two again by all.

#include "model/muscle.h"

#include <math.h>

enum { RANGE0, RANGE1, FORCE, SCALE, LMIN, LMAX, VMAX, FPMAX, FVMAX, NPRM };
enum { BY_L, BY_RATE, BY_PRM, NBY = BY_PRM + NPRM };

#define LEAST 1e-15   // of what is divided by, as in MuJoCo

typedef struct Number {
  double x, d[NBY], by_l[NBY], by_rate[NBY];
} Number;

static Number constant(double x) { return (Number){.x = x}; }

static Number variable(double x, int k) {
  Number n = {.x = x};
  n.d[k] = 1;
  return n;
}

// f(a) with the value f and derivatives f1, f2.
static Number chain(const Number* a, double f, double f1, double f2) {
  Number n = {.x = f};
  for (int k = 0; k < NBY; k++) {
    n.d[k] = f1 * a->d[k];
    n.by_l[k] = f1 * a->by_l[k] + f2 * a->d[BY_L] * a->d[k];
    n.by_rate[k] = f1 * a->by_rate[k] + f2 * a->d[BY_RATE] * a->d[k];
  }
  return n;
}

// s a + t b + c
static Number combine(double s, const Number* a, double t, const Number* b, double c) {
  Number n = {.x = s * a->x + t * b->x + c};
  for (int k = 0; k < NBY; k++) {
    n.d[k] = s * a->d[k] + t * b->d[k];
    n.by_l[k] = s * a->by_l[k] + t * b->by_l[k];
    n.by_rate[k] = s * a->by_rate[k] + t * b->by_rate[k];
  }
  return n;
}

static Number product(const Number* a, const Number* b) {
  Number n = {.x = a->x * b->x};
  for (int k = 0; k < NBY; k++) {
    n.d[k] = a->d[k] * b->x + a->x * b->d[k];
    n.by_l[k] = a->by_l[k] * b->x + a->d[BY_L] * b->d[k] + a->d[k] * b->d[BY_L] + a->x * b->by_l[k];
    n.by_rate[k] = a->by_rate[k] * b->x + a->d[BY_RATE] * b->d[k] + a->d[k] * b->d[BY_RATE] +
                   a->x * b->by_rate[k];
  }
  return n;
}

static Number quotient(const Number* a, const Number* b) {
  Number at_least = b->x > LEAST ? *b : constant(LEAST);
  double r = 1 / at_least.x;
  Number inverse = chain(&at_least, r, -r * r, 2 * r * r * r);
  return product(a, &inverse);
}

// (a - b)/(c - d)
static Number ratio(const Number* a, const Number* b, const Number* c, const Number* d) {
  Number above = combine(1, a, -1, b, 0), below = combine(1, c, -1, d, 0);
  return quotient(&above, &below);
}

// ---- the law ----------------------------------------------------------------------------------

typedef struct Muscle {
  Number L, V, force, low, high, fpmax, fvmax;
} Muscle;

static Muscle muscleAt(const double* prm, const djLawAt* at) {
  Number p[NPRM], l = variable(at->l, BY_L), v = variable(at->rate, BY_RATE), one = constant(1);
  for (int k = 0; k < NPRM; k++) p[k] = variable(prm[k], BY_PRM + k);
  Number width = combine(1, &p[RANGE1], -1, &p[RANGE0], 0);
  Number whole = constant(at->range[1] - at->range[0]), unit = quotient(&whole, &width);
  Number above = combine(1, &l, 0, &one, -at->range[0]), speed = product(&unit, &p[VMAX]);
  Number share = quotient(&above, &unit);
  Muscle m = {.L = combine(1, &p[RANGE0], 1, &share, 0), .V = quotient(&v, &speed),
              .force = p[FORCE], .low = p[LMIN], .high = p[LMAX], .fpmax = p[FPMAX],
              .fvmax = p[FVMAX]};
  if (prm[FORCE] < 0) m.force = combine(1 / fmax(LEAST, at->acc0), &p[SCALE], 0, &one, 0);
  return m;
}

// x^2/2, or 1 - x^2/2
static Number hump(const Number* x, bool top) {
  double half = 0.5 * x->x * x->x;
  return top ? chain(x, 1 - half, -x->x, -1) : chain(x, half, x->x, 1);
}

static Number lengthFactor(const Muscle* m) {
  Number one = constant(1), a = combine(0.5, &m->low, 0.5, &one, 0);
  Number b = combine(0.5, &m->high, 0.5, &one, 0), x;
  double L = m->L.x;
  if (L < m->low.x || L > m->high.x) return constant(0);
  if (L <= a.x) x = ratio(&m->L, &m->low, &a, &m->low);
  else if (L <= 1) x = ratio(&one, &m->L, &one, &a);
  else if (L <= b.x) x = ratio(&m->L, &one, &b, &one);
  else x = ratio(&m->high, &m->L, &m->high, &b);
  return hump(&x, L > a.x && L <= b.x);
}

static Number speedFactor(const Muscle* m) {
  Number one = constant(1), y = combine(1, &m->fvmax, 0, &one, -1);
  double V = m->V.x;
  if (V <= -1) return constant(0);
  if (V <= 0) return chain(&m->V, (V + 1) * (V + 1), 2 * (V + 1), 2);
  if (V > y.x) return m->fvmax;
  Number x = combine(1, &y, -1, &m->V, 0), square = product(&x, &x), less = quotient(&square, &y);
  return combine(1, &m->fvmax, -1, &less, 0);
}

static Number passiveFactor(const Muscle* m) {
  Number one = constant(1), b = combine(0.5, &m->high, 0.5, &one, 0);
  double L = m->L.x;
  if (L <= 1) return constant(0);
  Number x = ratio(&m->L, &one, &b, &one);
  if (L <= b.x) return hump(&x, false);
  return combine(1, &x, 0, &one, -0.5);   // 1/2 + (L - b)/(b - 1)
}

static Number gainAt(const double* prm, const djLawAt* at) {
  Muscle m = muscleAt(prm, at);
  Number l = lengthFactor(&m), v = speedFactor(&m), lv = product(&l, &v);
  Number f = product(&m.force, &lv);
  return combine(-1, &f, 0, &f, 0);
}

static Number biasAt(const double* prm, const djLawAt* at) {
  Muscle m = muscleAt(prm, at);
  Number p = passiveFactor(&m), peak = product(&m.force, &m.fpmax), f = product(&peak, &p);
  return combine(-1, &f, 0, &f, 0);
}

// ---- tangents ---------------------------------------------------------------------------------

static void setTangent(djLawCoefs* out, Number f, const djLawAt* at) {
  out->c[0] = f.x - f.d[BY_L] * at->l - f.d[BY_RATE] * at->rate;
  out->c[1] = f.d[BY_L];
  out->c[2] = f.d[BY_RATE];
  out->by_l = f.by_rate[BY_L];
  out->by_rate = f.by_rate[BY_RATE];
}

static void tangentVjp(double* by_prm, Number f, const double by_c[3], const djLawAt* at) {
  double by_l = by_c[1] - by_c[0] * at->l, by_rate = by_c[2] - by_c[0] * at->rate;
  for (int k = 0; k < NPRM; k++) {
    by_prm[k] += by_c[0] * f.d[BY_PRM + k] + by_l * f.by_l[BY_PRM + k] +
                 by_rate * f.by_rate[BY_PRM + k];
  }
}

void dj_muscleGain(djLawCoefs* out, const djForceLaw* law, const double* prm, const djLawAt* at) {
  (void)law;
  setTangent(out, gainAt(prm, at), at);
}

void dj_muscleGainVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                      const double* prm, const djLawAt* at) {
  (void)law;
  tangentVjp(by_prm, gainAt(prm, at), by_c, at);
}

void dj_muscleBias(djLawCoefs* out, const djForceLaw* law, const double* prm, const djLawAt* at) {
  (void)law;
  setTangent(out, biasAt(prm, at), at);
}

void dj_muscleBiasVjp(double* by_prm, const djForceLaw* law, const double by_c[3],
                      const double* prm, const djLawAt* at) {
  (void)law;
  tangentVjp(by_prm, biasAt(prm, at), by_c, at);
}

const char* dj_muscleProblem(const double* prm) {
  if (!(prm[RANGE1] > prm[RANGE0])) return "a muscle's range must grow";
  if (!(prm[LMIN] < 1 && prm[LMAX] > 1)) return "a muscle's lmin must be below 1, its lmax above";
  if (!(prm[VMAX] > 0)) return "a muscle's vmax must be positive";
  return prm[FVMAX] >= 1 ? NULL : "a muscle's fvmax must be at least 1";
}

// ---- activation -------------------------------------------------------------------------------

static double clipped(double x, double* slope) {
  *slope = x >= 0 && x <= 1;
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

double dj_muscleActivation(double by[2], const djDynNumbers* n, double w, double u, double h) {
  double by_w, by_u, lag = 0.5 + 1.5 * clipped(w, &by_w), gap = clipped(u, &by_u) - w;
  double rise = n->tau * lag, fall = n->deactivation / lag;
  double lag_w = 1.5 * by_w, rise_w = n->tau * lag_w, fall_w = -fall / lag * lag_w;
  double s = gap > 0, by_gap = 0;
  if (n->smooth >= LEAST) {   // 6 x^5 - 15 x^4 + 10 x^3
    double inside, x = clipped(0.5 + gap / n->smooth, &inside);
    s = x * x * x * (x * (6 * x - 15) + 10);
    by_gap = inside * 30 * x * x * (x - 1) * (x - 1) / n->smooth;
  }
  double t = fall + s * (rise - fall), t_u = by_gap * by_u * (rise - fall);
  double t_w = fall_w + s * (rise_w - fall_w) - by_gap * (rise - fall);
  if (t < LEAST) t = LEAST, t_u = t_w = 0;
  double rate = gap / t;
  by[0] = 1 + h * (-1 - rate * t_w) / t;
  by[1] = h * (by_u - rate * t_u) / t;
  return w + h * rate;
}
