#include "integrate/row_solve.h"

#include "integrate/row_law.h"
#include "math/ldl.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 30, MOST_CUTS = 8, SWEEPS = 2 };
static const double LEAST_LEFT = 0.1;    // of a force, by a step; what would be less is found alone
static const double LEAST_PART = 0.3;    // of an argument
static const double HELD = 1e-12;        // of G's diagonal: holds what is stiff beyond rounding
static const double ROUNDING = 1e-14;
static const double SHORT = 0.3;         // steps after which rows are solved one by one
static const double ENOUGH = 0.3;        // of the slope is left after a step
static const double AFRESH = 1e-2, LEAST_HELD = 1e-4;   // of the mass that unknowns are lent
static const double MORE = 3, LESS = 0.1;               // after steps that are cut, or whole

typedef struct Solve {
  djRowProblem* P;
  double* lin;             // (n)
  double *rho, *step;      // of rows that act
  double *A, *L, *B, *Y;
  double *S, *T, *dp, *start_p, *unmet;
  double* give;            // (n) of rows by themselves: what their arguments gain by a force
  double* mass;            // (m) that unknowns are lent, times
  double held;
  int nact;
} Solve;

int dj_rowScratch(int n, int m) { return 2 * n * n + 4 * n + 2 * n * m + 2 * m * m + 4 * m; }

static void layout(Solve* s) {
  const int n = s->P->n, m = s->P->m;
  double** part[] = {&s->A, &s->L, &s->lin, &s->rho, &s->step, &s->B, &s->Y, &s->S, &s->T, &s->dp,
                     &s->start_p, &s->unmet, &s->give, &s->mass};
  const int size[] = {n * n, n * n, n, n, n, n * m, n * m, m * m, m * m, m, m, m, n, m};
  double* at = s->P->scratch;
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
    *part[k] = at;
    at += size[k];
  }
}

// What rows give by themselves: where one side of a plane stands still its rows have no G, and give
// as the other does, which gives way behind the plane. The mass of unknowns is of what they move.
static void lend(Solve* s) {
  const djRowProblem* P = s->P;
  const int n = P->n, m = P->m;
  for (int i = 0; i < n; i++) s->give[i] = P->G[(n + 1) * i];
  for (int k = 0; k < m; k++) s->mass[k] = 0;
  for (int i = 0; i < n; i++) {
    const djLawRow* r = &P->row[i];
    const double g = P->G[(n + 1) * i];
    bool plane = r->kind == DJ_CURVE_BARRIER && r->turn >= 0;
    for (int j = 0; j < n && plane; j++) {
      if (P->row[j].turn == r->turn) s->give[i] = fmax(s->give[i], P->G[(n + 1) * j]);
    }
    for (int k = 0; k < m && g > 0; k++) {
      const double b = P->B[m * i + k];
      s->mass[k] = fmax(s->mass[k], b * b / g);
    }
  }
}

static void setLinear(Solve* s) {
  const djRowProblem* P = s->P;
  for (int i = 0; i < P->n; i++) {
    double sum = P->base[i];
    for (int k = 0; k < P->m; k++) sum += P->B[P->m * i + k] * P->p[k];
    const djLawRow* r = &P->row[i];
    if (r->turn >= 0) {
      const double *t = P->p + r->turn, *b = r->bend;
      sum -= 0.5 * (b[0] * t[0] * t[0] + b[2] * t[1] * t[1]) + b[1] * t[0] * t[1];
    }
    s->lin[i] = sum;
  }
  for (int j = 0; j < P->n; j++) {
    const double F = P->row[j].at.F, *G = P->G + P->n * j;
    if (F == 0 || P->row[j].kind == DJ_CURVE_SHARED) continue;
    for (int i = 0; i < P->n; i++) s->lin[i] += G[i] * F;
  }
}

static void addForce(Solve* s, int j, double dF) {
  const double* G = s->P->G + s->P->n * j;
  for (int i = 0; i < s->P->n && dF != 0; i++) s->lin[i] += G[i] * dF;
}

static double sharedBy(const djRowProblem* P, int i) {
  return P->row[i].shared < 0 ? 0 : P->row[P->row[i].shared].at.x;
}

// A shared row has the sum of its members' forces.
static void share(djRowProblem* P, int i) {
  double F = 0;
  if (i < 0) return;
  for (int j = i + 1; j < P->n && P->row[j].shared == i; j++) F += P->row[j].at.F;
  dj_placeForce(&P->row[i], F);
}

static void shareAll(djRowProblem* P) {
  for (int i = 0; i < P->n; i++) {
    if (P->row[i].kind == DJ_CURVE_SHARED) share(P, i);
  }
}

// A row by itself, all others held; both of a disc.
static void solveAlone(Solve* s, int i) {
  djRowProblem* P = s->P;
  djLawRow* r = &P->row[i];
  double g = s->give[i], F = r->at.F;
  if (r->kind == DJ_CURVE_SLIP) {
    double F1 = r[1].at.F, G[3] = {g, P->G[P->n * i + i + 1], P->G[(P->n + 1) * (i + 1)]};
    double a[2] = {s->lin[i] - G[0] * F - G[1] * F1, s->lin[i + 1] - G[1] * F - G[2] * F1};
    dj_solveDisc(r, a, G);
    addForce(s, i + 1, r[1].at.F - F1);
  } else if (r->kind == DJ_CURVE_BARRIER || r->kind == DJ_CURVE_COST) {
    dj_solveRow(r, s->lin[i] - g * F - sharedBy(P, i), g);
    share(P, r->shared);
  } else {
    return;
  }
  addForce(s, i, r->at.F - F);
}

// ---- Newton's step ----------------------------------------------------------------------------

// Of rows that act: rho, and G + C factored. False: it is not positive.
static bool factorRows(Solve* s) {
  const djRowProblem* P = s->P;
  int n = 0, *acting = P->acting;
  for (int i = 0; i < P->n; i++) {
    if (P->row[i].at.acts && P->row[i].kind != DJ_CURVE_SHARED) acting[n++] = i;
  }
  s->nact = n;
  for (int i = 0; i < n; i++) {
    const djLawRow* r = &P->row[acting[i]];
    const double* G = P->G + P->n * acting[i];
    double* A = s->A + n * i;
    s->rho[i] = r->at.x - r->at.off + sharedBy(P, acting[i]) - s->lin[acting[i]];
    for (int j = 0; j <= i; j++) A[j] = G[acting[j]];
    A[i] += r->at.C + HELD * G[acting[i]];
    if (r->kind == DJ_CURVE_ACROSS) A[i - 1] += r[-1].at.cross;
    for (int j = i; r->shared >= 0 && j >= 0 && P->row[acting[j]].shared == r->shared; j--) {
      A[j] += P->row[r->shared].at.C;
    }
  }
  return dj_factorLDL(s->L, s->A, NULL, n);
}

// B at p; and what bends add to S.
static void setSlopes(Solve* s) {
  const djRowProblem* P = s->P;
  const int n = s->nact, m = P->m;
  memset(s->S, 0, (size_t)(m * m) * sizeof(double));
  for (int k = 0; k < m; k++) {
    s->S[(m + 1) * k] = P->stiff[k] + s->held * s->mass[k];
    for (int i = 0; i < n; i++) s->B[n * k + i] = P->B[m * P->acting[i] + k];
  }
  for (int i = 0; i < n; i++) {
    const djLawRow* r = &P->row[P->acting[i]];
    const int k = r->turn;
    if (k < 0) continue;
    const double *t = P->p + k, *b = r->bend, F = r->at.F;
    s->B[n * k + i] -= b[0] * t[0] + b[1] * t[1];
    s->B[n * (k + 1) + i] -= b[1] * t[0] + b[2] * t[1];
    s->S[(m + 1) * k] += F * b[0];
    s->S[m * (k + 1) + k] += F * b[1];
    s->S[(m + 1) * (k + 1)] += F * b[2];
  }
}

// dp, and step less what it gives; by the Schur complement S = stiff + B^T (G + C)^-1 B.
static bool solveUnknowns(Solve* s) {
  const djRowProblem* P = s->P;
  const int n = s->nact, m = P->m, *acting = P->acting;
  setSlopes(s);
  for (int k = 0; k < m; k++) {
    double *Y = s->Y + n * k, sum = -P->stiff[k] * P->p[k];
    for (int i = 0; i < n; i++) {
      Y[i] = s->B[n * k + i];
      sum += Y[i] * P->row[acting[i]].at.F;
    }
    s->unmet[k] = s->dp[k] = sum;
    for (int i = 0; i < n; i++) s->dp[k] += Y[i] * s->step[i];
    dj_solveLDL(Y, s->L, n);
    for (int l = 0; l <= k; l++) {
      for (int i = 0; i < n; i++) s->S[m * k + l] += s->B[n * l + i] * Y[i];
    }
  }
  for (int k = 0; k < m; k++) {   // what nothing holds stays where it is
    double* d = &s->S[(m + 1) * k];
    *d = *d > 0 ? *d * (1 + ROUNDING) : 1;
  }
  if (!dj_factorLDL(s->T, s->S, NULL, m)) return false;
  dj_solveLDL(s->dp, s->T, m);
  for (int k = 0; k < m; k++) {
    for (int i = 0; i < n; i++) s->step[i] -= s->Y[n * k + i] * s->dp[k];
  }
  return true;
}

// step, dp, and the decrement; negative: there is none.
static double findStep(Solve* s) {
  double sum = 0;
  if (!factorRows(s)) return -1;
  memcpy(s->step, s->rho, (size_t)s->nact * sizeof(double));
  dj_solveLDL(s->step, s->L, s->nact);
  if (s->P->m > 0 && !solveUnknowns(s)) return -1;
  for (int i = 0; i < s->nact; i++) sum += fabs(s->rho[i] * s->step[i]);
  for (int k = 0; k < s->P->m; k++) sum += fabs(s->unmet[k] * s->dp[k]);
  return sqrt(sum);
}

// ---- along the curves -------------------------------------------------------------------------

// A row that acts goes dF, a disc dG too, from where it is.
static void moveRow(djLawRow* r, double g, double part, double dF, double dG) {
  djRowPoint at = r->at;
  if (r->kind == DJ_CURVE_COST) {
    dj_placeArgument(r, at.x - at.C * dF);
  } else if (r->kind == DJ_CURVE_SLIP) {
    const djRowPoint* other = &r[1].at;
    dj_moveSlip(r, -part * at.off - at.C * dF - at.cross * dG,
                -part * other->off - at.cross * dF - other->C * dG, dF, dG);
  } else if (at.C > g) {
    dj_placeArgument(r, fmax(at.x - at.C * dF, LEAST_PART * at.x));
  } else {
    dj_placeForce(r, fmax(at.F + dF, LEAST_LEFT * at.F));
  }
}

// Takes a part of the step from `before`, but p's whole. Returns the slope of the objective with
// these p, which is convex in F, at the end along the chord: where it is not positive the objective
// has become less.
static double takePart(Solve* s, double part) {
  djRowProblem* P = s->P;
  double sum = 0;
  for (int k = 0; k < P->m; k++) P->p[k] = s->start_p[k] + s->dp[k];
  for (int i = 0; i < s->nact; i++) P->row[P->acting[i]].at = P->before[P->acting[i]];
  for (int i = 0; i < s->nact; i++) {
    const int k = P->acting[i];
    if (P->row[k].kind == DJ_CURVE_ACROSS) continue;
    double dG = P->row[k].kind == DJ_CURVE_SLIP ? part * s->step[i + 1] : 0;
    moveRow(&P->row[k], s->give[k], part, part * s->step[i], dG);
  }
  shareAll(P);
  setLinear(s);
  for (int i = 0; i < s->nact; i++) {
    const int k = P->acting[i];
    double rho = P->row[k].at.x - P->row[k].at.off + sharedBy(P, k) - s->lin[k];
    sum -= rho * (P->row[k].at.F - P->before[k].F);
  }
  return sum / part;
}

// Rows that did not act, or are to be released. Returns their decrement.
static double moveOthers(Solve* s) {
  const djRowProblem* P = s->P;
  double sum = 0;
  for (int i = 0; i < P->n; i++) {
    bool barrier = P->row[i].kind == DJ_CURVE_BARRIER;
    double F = P->row[i].at.F;
    bool acted = P->before[i].acts, fell = F < 1.1 * LEAST_LEFT * P->before[i].F;
    if (acted && !(barrier && fell)) continue;
    solveAlone(s, i);
    F -= P->row[i].at.F;
    sum += P->G[(P->n + 1) * i] * F * F;
  }
  return sqrt(sum);
}

// As far as the objective falls, by the secant of its slope. *others: the decrement of rows that do
// not take part in the step.
static double move(double* others, Solve* s) {
  djRowProblem* P = s->P;
  double slope = 0, low = 0, high = 1, part = 1, least, to;
  for (int i = 0; i < P->n; i++) P->before[i] = P->row[i].at;
  if (P->m > 0) memcpy(s->start_p, P->p, (size_t)P->m * sizeof(double));
  for (int i = 0; i < s->nact; i++) {
    double rho = s->rho[i];
    for (int k = 0; k < P->m; k++) rho -= s->B[s->nact * k + i] * s->dp[k];
    slope += rho * s->step[i];
  }
  double at_low = -slope, at = takePart(s, 1);
  for (int k = 0; k < MOST_CUTS && slope > 0; k++) {
    if (at <= ENOUGH * slope && (at >= -0.5 * slope || part == 1)) break;
    if (at > 0) {
      high = part;
      to = low + (part - low) * -at_low / (at - at_low);
    } else {
      low = part;
      at_low = at;
      to = 0.5 * (low + high);
    }
    least = low + 0.1 * (high - low);
    part = fmin(fmax(to, least), low + 0.7 * (high - low));
    at = takePart(s, part);
  }
  *others = moveOthers(s);
  return part;
}

int dj_solveRows(double* left, djRowProblem* P, double tolerance, bool afresh) {
  Solve s = {.P = P};
  layout(&s);
  lend(&s);
  s.held = afresh ? AFRESH : 0;
  shareAll(P);
  setLinear(&s);
  for (int k = 0; k < SWEEPS && afresh; k++) {
    for (int i = 0; i < P->n; i++) solveAlone(&s, i);
  }
  for (int k = 0; k < MOST_STEPS; k++) {
    *left = findStep(&s);
    if (!(*left >= 0)) *left = INFINITY;
    if (isinf(*left)) return k;
    double others, part = move(&others, &s);
    *left = fmax(*left, others);
    if (*left <= tolerance) return k + 1;
    if (part < SHORT) s.held = fmax(MORE * s.held, LEAST_HELD);
    else if (part == 1) s.held *= LESS;
    for (int i = 0; i < P->n && part < SHORT; i++) solveAlone(&s, i);
  }
  return MOST_STEPS;
}
