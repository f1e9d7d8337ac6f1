// The solution of a step's constraints: what the solver found, and a few steps of Newton's method
// on the same rows where it has not found it (transition_work.h).

#include "transition_work.h"

#include "slope_error.h"
#include "spatial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

djStatus djm_roomForRows(djmTransitionWork* w, int n, djError* err) {
  if (n <= w->nefc) return DJ_OK;
  n += n / 4;
  mjtNum* y = realloc(w->y, (size_t)n * sizeof(*y));
  if (y) w->y = y;
  mjtNum* force = realloc(w->force, (size_t)n * sizeof(*force));
  if (force) w->force = force;
  int* state = realloc(w->state, (size_t)n * sizeof(*state));
  if (state) w->state = state;
  mjtNum* dense = realloc(w->dense, (size_t)n * ((size_t)w->nv + 6) * sizeof(*dense));
  if (dense) w->dense = dense;
  if (!y || !force || !state || !dense) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  w->nefc = n;
  return DJ_OK;
}

// ---- factors ------------------------------------------------------------------------------------

// Elimination from the last dof makes no entries that a tree does not have.
bool djm_factorLower(mjtNum* A, int n) {
  for (int k = n - 1; k >= 0; k--) {
    mjtNum* row = A + (size_t)k * n;
    if (!(row[k] > 0)) return false;
    for (int i = 0; i < k; i++) {
      if (row[i] == 0) continue;
      mjtNum s = row[i] / row[k], *to = A + (size_t)i * n;
      for (int j = 0; j <= i; j++) to[j] -= s * row[j];
    }
    mjtNum inverse = 1 / row[k];
    for (int i = 0; i < k; i++) row[i] *= inverse;
  }
  return true;
}

static void solveVector(mjtNum* x, const mjtNum* A, int n) {
  for (int k = n - 1; k >= 0; k--) {
    const mjtNum* L = A + (size_t)k * n;
    djm_addScaled(x, L, -x[k], k);
    x[k] /= L[k];
  }
  for (int k = 0; k < n; k++) {
    const mjtNum* L = A + (size_t)k * n;
    mjtNum sum = 0;
    for (int i = 0; i < k; i++) sum += L[i] * x[i];
    x[k] -= sum;
  }
}

void djm_solveLower(mjtNum* X, const mjtNum* A, int n, int ncol) {
  if (ncol == 1) {
    solveVector(X, A, n);
    return;
  }
  for (int k = n - 1; k >= 0; k--) {
    const mjtNum* L = A + (size_t)k * n;
    mjtNum *row = X + (size_t)k * ncol, inverse = 1 / L[k];
    for (int i = 0; i < k; i++) {
      if (L[i] != 0) djm_addScaled(X + (size_t)i * ncol, row, -L[i], ncol);
    }
    for (int c = 0; c < ncol; c++) row[c] *= inverse;
  }
  for (int k = 0; k < n; k++) {
    const mjtNum* L = A + (size_t)k * n;
    mjtNum* row = X + (size_t)k * ncol;
    for (int i = 0; i < k; i++) {
      if (L[i] != 0) djm_addScaled(row, X + (size_t)i * ncol, -L[i], ncol);
    }
  }
}

// ---- Newton -------------------------------------------------------------------------------------

static void findRows(djmTransitionWork* w, const mjtNum* a) {
  if (!w->d->nefc) return;
  mj_mulJacVec(&w->view, w->d, w->y, a);
  mju_subFrom(w->y, w->d->efc_aref, w->d->nefc);
  djm_findForces(w->force, w->state, &w->view, w->d, w->y);
}

// M a - smooth forces; of integrator discrete G (a - what they alone would do).
static void smoothPart(mjtNum* g, djmTransitionWork* w, const mjtNum* a, mjtNum* scratch) {
  if (w->view.opt.integrator != mjINT_DISCRETE) {
    mj_mulM(&w->view, w->d, g, a);
    mju_subFrom(g, w->d->qfrc_smooth, w->nv);
    return;
  }
  mju_sub(scratch, a, w->d->qacc_smooth, w->nv);
  mju_mulMatVec(g, w->G, scratch, w->nv, w->nv);
}

// Size of a force by 1/M of its dofs: accelerations of light bodies count as much as heavy ones'.
static mjtNum forceSize(const djmTransitionWork* w, const mjtNum* force) {
  const mjModel* m = &w->view;
  mjtNum sum = 0;
  for (int i = 0; i < w->nv; i++) {
    mjtNum inertia = w->d->M[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    if (inertia > 0) sum += force[i] * force[i] / inertia;
  }
  return sqrt(sum);
}

// gradient = M a - smooth forces - J^T f; returns its size, relative to that of its terms.
static mjtNum gradient(mjtNum* g, djmTransitionWork* w, const mjtNum* a, mjtNum* scratch) {
  int nv = w->nv;
  findRows(w, a);
  smoothPart(g, w, a, scratch);
  mju_zero(scratch, nv);
  if (w->d->nefc) mj_mulJacTVec(&w->view, w->d, scratch, w->force);
  mjtNum scale = forceSize(w, g) + forceSize(w, scratch) + forceSize(w, w->d->qfrc_smooth);
  mju_subFrom(g, scratch, nv);
  mjtNum size = forceSize(w, g);
  return scale > 0 ? size / scale : 0;
}

// H = M + J^T S J, from the dense Jacobian.
static void hessian(djmTransitionWork* w) {
  int nv = w->nv;
  const mjData* d = w->d;
  if (w->view.opt.integrator == mjINT_DISCRETE) {
    mju_copy(w->H, w->G, nv * nv);
  } else {
    mj_fullM(&w->view, d, w->H);
  }
  for (int i = 0; i < d->nefc; i++) {
    const mjContact* con = NULL;
    mjtNum S[DJM_MAXROWS * DJM_MAXROWS] = {0};
    int dim = 1;
    if (w->state[i] == mjCNSTRSTATE_CONE) {
      con = d->contact + d->efc_id[i];
      dim = con->dim;
      djm_coneCurvature(S, d, con, i, w->y + i);
    } else if (w->state[i] == mjCNSTRSTATE_QUADRATIC) {
      S[0] = d->efc_D[i];
    }
    for (int k = 0; k < dim; k++) {
      for (int l = 0; l < dim; l++) {
        const mjtNum *Jk = w->dense + (size_t)(i + k) * nv, *Jl = w->dense + (size_t)(i + l) * nv;
        if (S[k * dim + l] == 0) continue;
        for (int p = 0; p < nv; p++) {
          if (Jk[p] != 0) djm_addScaled(w->H + (size_t)p * nv, Jl, S[k * dim + l] * Jk[p], p + 1);
        }
      }
    }
    i += dim - 1;
  }
}

static void denseRows(djmTransitionWork* w) {
  const mjData* d = w->d;
  if (mj_isSparse(&w->view)) {
    mju_sparse2dense(w->dense, d->efc_J, d->nefc, w->nv, d->efc_J_rownnz, d->efc_J_rowadr,
                     d->efc_J_colind);
  } else {
    mju_copy(w->dense, d->efc_J, d->nefc * w->nv);
  }
}

void djm_findHessian(djmTransitionWork* w) {
  denseRows(w);
  hessian(w);
}

// Along a + t step the cost is convex: the t where its slope is zero, between 0 and where the slope
// is positive, by false position with the old end's weight halved. g: the gradient at that point.
static mjtNum lineSearch(mjtNum* g, djmTransitionWork* w, const mjtNum* step, mjtNum* trial,
                         mjtNum* scratch) {
  int nv = w->nv;
  mjtNum low = 0, high = 1, slope_low = mju_dot(g, step, nv), size = 0, slope = 0, t = 1;
  mjtNum first = slope_low, slope_high = -1;
  for (int k = 0; k < 40; k++) {
    mju_addScl(trial, w->a, step, t, nv);
    size = gradient(g, w, trial, scratch);
    slope = mju_dot(g, step, nv);
    if (fabs(slope) <= 1e-3 * fabs(first)) break;
    if (slope < 0) {
      low = t;
      slope_low = slope;
      if (slope_high < 0) {
        t = high *= 2;
        continue;
      }
      slope_high *= 0.5;
    } else {
      high = t;
      slope_high = slope;
      slope_low *= k ? 0.5 : 1;
    }
    t = low + (high - low) * slope_low / (slope_low - slope_high);
  }
  return size;
}

// Newton's method on the cost, whose gradient this is.
static mjtNum polish(djmTransitionWork* w, mjtNum size, mjtNum aim) {
  int nv = w->nv;
  mjtNum *g = w->memory, *step = g + nv, *trial = step + nv, *scratch = trial + nv;
  denseRows(w);
  for (int round = 0; round < 50 && size > aim; round++) {
    hessian(w);
    mju_scl(step, g, -1, nv);
    if (!djm_factorLower(w->H, nv)) break;
    djm_solveLower(step, w->H, nv, 1);
    mjtNum found = lineSearch(g, w, step, trial, scratch);
    if (found >= size && size < 1e-10) break;
    mju_copy(w->a, trial, nv);
    size = found;
    w->info.newton++;
  }
  return gradient(g, w, w->a, scratch);
}

djStatus djm_solveRows(djmTransitionWork* w, djError* err) {
  djStatus status = djm_roomForRows(w, w->d->nefc, err);
  if (status < 0) return status;
  w->info.newton = 0;
  mju_copy(w->a, w->d->qacc, w->nv);
  mjtNum size = gradient(w->memory, w, w->a, w->memory + 3 * w->nv);
  w->info.found = size;
  if (size > 1e-12 && w->d->nefc) size = polish(w, size, 1e-14);
  w->info.residual = size;
  return DJ_OK;
}
