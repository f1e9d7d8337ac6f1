#include "integrate/multiplier.h"

#include "force/hold.h"
#include "integrate/work.h"
#include "math/ldl.h"

#include <math.h>
#include <string.h>

// Of A's trace: what keeps redundant rows apart. Refinement takes its error out again.
static const double APART = 1e-9;
enum { MOST_REFINED = 20 };

void dj_layoutMultiplier(djMultiplier* s, djArena* a, const djModel* m) {
  size_t n = (size_t)dj_holdCount(m), d = sizeof(double);
  s->A = dj_take(a, n * n, d);
  s->L = dj_take(a, n * n, d);
  s->x = dj_take(a, n, d);
  s->y = dj_take(a, n, d);
  s->diagonal = dj_take(a, n > 0 ? (size_t)m->nv : 0, d);
}

// The residual without constraints, at `now`.
static djStatus freeResidual(djWork* w, const djModel* m, djHold* hold) {
  double value;
  bool majorizer = false;
  for (int i = 0; i < dj_holdCount(m); i++) hold[i].F = hold[i].K = 0;
  dj_openPlace(&w->now, m, w->ref);
  w->may_grow = true;
  djStatus status = w->method->evaluate(&value, w->gradient, w, m, &w->now, &majorizer);
  w->may_grow = false;
  return status;
}

// Entries of x and y that both rows have, over the masses.
static double product(djAlong x, djAlong y, const double* diagonal) {
  double sum = 0;
  for (int i = 0, k = 0; i < x.n && k < y.n;) {
    if (x.dof[i] == y.dof[k]) {
      sum += x.J[i] * y.J[k] / diagonal[x.dof[i]];
      i++;
      k++;
    } else if (x.dof[i] < y.dof[k]) {
      i++;
    } else {
      k++;
    }
  }
  return sum;
}

// A = J D^-1 J^T, with a little on its diagonal, factored.
static bool factor(djMultiplier* s, const djWork* w, const djModel* m, const djHold* hold) {
  int n = dj_holdCount(m);
  double trace = 0;
  for (int i = 0; i < n; i++) {
    djAlong x = dj_along(&w->now.coord, m, hold[i].coordinate);
    for (int k = 0; k <= i; k++) {
      djAlong y = dj_along(&w->now.coord, m, hold[k].coordinate);
      bool both = hold[i].acts && hold[k].acts;
      s->A[n * i + k] = both ? product(x, y, s->diagonal) : 0;
    }
    trace += s->A[(n + 1) * i];
  }
  for (int i = 0; i < n; i++) s->A[(n + 1) * i] += hold[i].acts ? APART * trace / n : 1;
  return trace > 0 && dj_factorLDL(s->L, s->A, NULL, n);
}

// `now` is open, with the masses' diagonal.
static void settle(djWork* w, const djModel* m, djHold* hold) {
  djMultiplier* s = &w->multiplier;
  for (int i = 0; i < dj_holdCount(m); i++) {
    djAlong x = dj_along(&w->now.coord, m, hold[i].coordinate);
    s->x[i] = hold[i].acts ? product(x, x, s->diagonal) : 0;
  }
  djMotion motion = dj_motionAt(w, m, &w->now);
  dj_settleHolds(hold, &motion, s->x);
}

void dj_settle(djWork* w, const djModel* m) {
  djHold* hold = dj_holdsOf(&w->forces, m);
  if (!hold) return;
  dj_openPlace(&w->now, m, w->ref);
  dj_massDiagonal(w->multiplier.diagonal, w->M, m, &w->now.kin, w->ref);
  settle(w, m, hold);
}

djStatus dj_recoverHolds(djWork* w, const djModel* m) {
  djMultiplier* s = &w->multiplier;
  djHold* hold = dj_holdsOf(&w->forces, m);
  int n = dj_holdCount(m);
  if (!hold || dj_isAhead(w)) return DJ_OK;
  djStatus status = freeResidual(w, m, hold);
  if (status < 0) return status;
  dj_massDiagonal(s->diagonal, w->M, m, &w->now.kin, w->ref);
  bool sound = factor(s, w, m, hold);
  for (int pass = 0; pass < MOST_REFINED && sound; pass++) {
    for (int i = 0; i < n; i++) {
      djAlong x = dj_along(&w->now.coord, m, hold[i].coordinate);
      s->x[i] = 0;
      for (int k = 0; k < x.n && hold[i].acts; k++) {
        s->x[i] -= x.J[k] * w->gradient[x.dof[k]] / s->diagonal[x.dof[k]];
      }
    }
    dj_solveLDL(s->x, s->L, n);
    for (int i = 0; i < n; i++) {
      djAlong x = dj_along(&w->now.coord, m, hold[i].coordinate);
      if (!hold[i].acts) continue;
      hold[i].F += s->x[i];
      for (int k = 0; k < x.n; k++) w->gradient[x.dof[k]] += s->x[i] * x.J[k];
    }
  }
  settle(w, m, hold);
  return DJ_OK;
}
