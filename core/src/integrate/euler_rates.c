// The method `euler` with the option implicit = rates, as MuJoCo's implicitfast: what tendons'
// damping and actuators along coordinates take by the velocity at the end, linearised at the start,
//   X_i = h sum over c of s_c J_ci S_ci,   S_ci = sum of J_cj a_j,
// J_c = dx_c/dq, s_c minus the force's slope by x_c', over the dofs j that i stands above or below
// in its tree: MuJoCo's matrix has the entries of M alone. In inertia that is h s_c J_ci J_cj.
//
// With E_jk = dJ_cj/dq_k of coordinates that bend, and ds_c = s_c' (J_c dv + (dJ_c v)):
//   dX_i/dq_k = h s_c (E_ik S_ci + J_ci sum of E_jk a_j) + h s_c' (sum of E_lk v_l) J_ci S_ci,
//   dX_i/dv_k = h s_c' J_ck J_ci S_ci,
// and where s_c changes with x_c, as a muscle's does, J_ck times that times h J_ci S_ci by q_k.

#include "integrate/euler.h"
#include "integrate/tendon_armature.h"

#include <string.h>

// Whether M has an entry for dofs i and j.
static bool related(const djModel* m, int i, int j) {
  int low = i < j ? i : j, k = i < j ? j : i;
  while (k > low) k = m->dof_parent[k];
  return k == low;
}

// S_ci, with z in the place of a.
static double sumAlong(const djModel* m, const djAlong* x, int i, const double* z) {
  double sum = 0;
  for (int k = 0; k < x->n; k++) {
    if (related(m, x->dof[i], x->dof[k])) sum += x->J[k] * z[x->dof[k]];
  }
  return sum;
}

static void setSlopes(djWork* w, const djModel* m) {
  djMotion motion = dj_motionAt(w, m, &w->begin);
  w->rates.y = NULL;
  dj_rateSlopes(&w->rates, &w->forces, &motion);
}

void dj_addRates(djWork* w, const djModel* m) {
  setSlopes(w, m);
  for (int c = 0; c < m->ncoord; c++) {
    double f = w->h * w->rates.slope[c];
    djAlong x = dj_along(&w->begin.coord, m, c);
    for (int i = 0; i < x.n && f != 0; i++) {
      for (int k = 0; k < x.n; k++) {
        if (!related(m, x.dof[i], x.dof[k])) continue;
        *dj_own(&w->inertia, x.dof[i], x.dof[k]) += f * x.J[i] * x.J[k];
      }
    }
  }
}

// ---- derivatives ------------------------------------------------------------------------------

// E_jk, unit (nv) scratch of zeros.
static double bendOf(djWork* w, const djModel* m, int c, const djAlong* x, int j, int k,
                     double* unit) {
  unit[x->dof[j]] = 1;
  double E = dj_coordinateRateSlope(m, &w->begin.kin, w->ref, c, unit, k);
  unit[x->dof[j]] = 0;
  return E;
}

// dX_i/dq_k or dX_i/dv_k.
static void addSlope(const djRateSlopes* s, bool by_v, int i, int k, double x) {
  if (s->u) {
    (by_v ? s->by_v : s->by_q)[k] += s->u[i] * x;
  } else {
    dj_addEntry(by_v ? s->G : s->H, i, k, x);
  }
}

static void linearizeBend(const djRateSlopes* slopes, djWork* w, const djModel* m, int c,
                          const djAlong* x) {
  double *unit = w->path_scratch, s = w->rates.slope[c], bend = w->rates.bend[c];
  memset(unit, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < x->n; k++) {
    double turned = dj_coordinateRateSlope(m, &w->begin.kin, w->ref, c, w->start.qvel, k);
    for (int i = 0; i < x->n; i++) {
      double S = sumAlong(m, x, i, w->A), moved = 0;
      for (int j = 0; j < x->n; j++) {
        if (!related(m, x->dof[i], x->dof[j])) continue;
        moved += bendOf(w, m, c, x, j, k, unit) * w->A[x->dof[j]];
      }
      double by = s * (bendOf(w, m, c, x, i, k, unit) * S + x->J[i] * moved);
      addSlope(slopes, false, x->dof[i], x->dof[k],
               w->h * (by + bend * turned * x->J[i] * S));
    }
  }
}

void dj_linearizeRates(const djRateSlopes* slopes, djWork* w, const djModel* m) {
  setSlopes(w, m);
  for (int c = 0; c < m->ncoord; c++) {
    djAlong x = dj_along(&w->begin.coord, m, c);
    double bend = w->h * w->rates.bend[c];
    double by_x = w->h * w->rates.by_x[c];
    if (w->rates.slope[c] == 0 && bend == 0 && by_x == 0) continue;
    if (dj_coordinateBends(m, c)) linearizeBend(slopes, w, m, c, &x);
    for (int i = 0; i < x.n && (bend != 0 || by_x != 0); i++) {
      double f = x.J[i] * sumAlong(m, &x, i, w->A);
      for (int k = 0; k < x.n; k++) {
        addSlope(slopes, true, x.dof[i], x.dof[k], bend * f * x.J[k]);
        addSlope(slopes, false, x.dof[i], x.dof[k], by_x * f * x.J[k]);
      }
    }
  }
}

// X (nv) of acceleration a, for a slope of 1.
static void alongRates(double* X, const djWork* w, const djModel* m, const djAlong* x,
                       const double* a) {
  memset(X, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < x->n; k++) X[x->dof[k]] = w->h * x->J[k] * sumAlong(m, x, k, a);
}

void dj_rateInputs(djInputSum* sum, djWork* w, const djModel* m) {
  double *X = w->path_scratch, *Y = w->rows.dual_K;
  djMotion motion = dj_motionAt(w, m, &w->begin);
  for (int i = 0; i < m->nu; i++) {
    int c = m->actuator_coord[i];
    if (c < 0) continue;
    djAlong x = dj_along(&w->begin.coord, m, c);
    alongRates(Y, w, m, &x, w->rows.by_K);
    alongRates(X, w, m, &x, w->A);
    dj_rowResponse(X, w, m, Y);
    for (int k = 0; k < m->nv; k++) {
      if (X[k] != 0) dj_rateInput(sum, &w->forces, &motion, i, k, X[k]);
    }
  }
}

// ---- parameters -------------------------------------------------------------------------------

// What moves frames and sites does to J of a coordinate that bends, and through its rate to s.
static void bendParams(djParamSums* s, djWork* w, const djModel* m, int c, const djAlong* x,
                       const double* z) {
  double *part = w->path_scratch, slope = w->h * w->rates.slope[c], by_rate = 0;
  double by_x = 0;
  for (int i = 0; i < x->n; i++) {
    int dof = x->dof[i];
    double S = sumAlong(m, x, i, w->A);
    by_rate += w->h * w->rates.bend[c] * z[dof] * x->J[i] * S;
    by_x += w->h * w->rates.by_x[c] * z[dof] * x->J[i] * S;
    if (z[dof] == 0 || slope == 0) continue;
    memset(part, 0, (size_t)m->nv * sizeof(double));
    part[dof] = z[dof];
    dj_addPathParams(s, w, m, &w->begin, c, slope * S, part);
    part[dof] = 0;
    for (int k = 0; k < x->n; k++) {
      if (related(m, dof, x->dof[k])) part[x->dof[k]] = w->A[x->dof[k]];
    }
    dj_addPathParams(s, w, m, &w->begin, c, slope * z[dof] * x->J[i], part);
  }
  if (by_rate != 0) dj_addPathParams(s, w, m, &w->begin, c, by_rate, w->start.qvel);
  if (by_x != 0) dj_addLengthParams(s, w, m, &w->begin, c, by_x);
}

void dj_rateParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  double* y = w->rate_along;
  djMotion motion = dj_motionAt(w, m, &w->begin);
  setSlopes(w, m);
  for (int c = 0; c < m->ncoord; c++) {
    djAlong x = dj_along(&w->begin.coord, m, c);
    y[c] = 0;
    for (int i = 0; i < x.n; i++) y[c] += w->h * z[x.dof[i]] * x.J[i] * sumAlong(m, &x, i, w->A);
    if (s->wants & (DJ_BY_FRAME | DJ_BY_SITE) && dj_coordinateBends(m, c)) {
      bendParams(s, w, m, c, &x, z);
    }
  }
  if (!(s->wants & DJ_BY_LAW)) return;
  djRateSum sum = w->rates;
  sum.y = y;
  sum.param = s->param;
  dj_rateSlopes(&sum, &w->forces, &motion);
}
