// The integrator `discrete`: its solver works in a metric G = M + h D + h^2 K of springs, dampers
// and actuators, G a = t + J^T f, and v+ = v + h a. With the forces F = J^T f of the solution kept,
// the smooth acceleration A(x, F) = G^-1 (t + F) is a at the solution, so that with any metric
//
//   (G + J^T S J) da = G dA/dx + g
//
// G^-1 is dA/dF, and dA/dx is differenced: nothing is solved but the metric. g: transition_metric.c.

#include "transition_work.h"

#include "slope_error.h"

#include <math.h>

void djm_moveState(djmTransitionWork* w, int k, mjtNum x, const mjtNum* applied) {
  mjData* e = w->e;
  int nv = w->nv, na = w->na;
  mj_copyState(&w->view, w->d, e, mjSTATE_INTEGRATION);
  mju_addTo(e->qfrc_applied, applied, nv);
  if (k < nv) {
    mju_zero(w->end, nv);
    w->end[k] = x;
    mj_integratePos(&w->view, e->qpos, w->end, 1);
  } else if (k < 2 * nv) {
    e->qvel[k - nv] += x;
  } else if (k < 2 * nv + na) {
    e->act[k - 2 * nv] += x;
  } else {
    e->ctrl[k - 2 * nv - na] += x;
  }
}

static mjModel freeModel(const djmTransitionWork* w) {
  mjModel view = w->view;
  view.opt.disableflags |= mjDSBL_CONSTRAINT;
  return view;
}

static bool isTouched(const djmTransitionWork* w, int dof) {
  const mjData* d = w->d;
  bool sparse = mj_isSparse(&w->view);
  for (int i = 0; i < (sparse ? d->nJ : d->nefc); i++) {
    if (sparse && d->efc_J_colind[i] == dof && d->efc_J[i] != 0) return true;
    if (!sparse && d->efc_J[(size_t)i * w->nv + dof] != 0) return true;
  }
  return false;
}

// w->save: by dofs, which turn with free bodies that no row touches. Their acceleration is qacc,
// which has the implicit part of their gyroscopic moments, also where it is the smooth one.
static void findSpinning(djmTransitionWork* w) {
  const mjModel* m = &w->view;
  for (int j = 0; j < (int)m->njnt; j++) {
    int adr = m->jnt_dofadr[j], n = m->jnt_type[j] == mjJNT_FREE ? 6 : 0;
    bool touched = n && !djm_isFreeBody(m, j);
    for (int i = 0; i < n && !touched; i++) touched = isTouched(w, adr + i);
    for (int i = 0; i < n && !touched; i++) {
      w->save[adr + i] = 1;
      w->d->qacc_smooth[adr + i] = w->d->qacc[adr + i];
    }
  }
}

// w->G = G, of which dA/dF is the inverse. False: not positive.
static bool fillMetric(djmTransitionWork* w) {
  int nv = w->nv;
  mjModel m = freeModel(w);
  mju_zero(w->save, nv);
  findSpinning(w);
  mjtNum *inverse = w->smooth_by, *G = w->G, *start = w->memory;
  mju_zero(start, nv);
  djm_moveState(w, 0, 0, start);
  mj_forward(&m, w->e);
  mju_copy(start, w->e->qacc_smooth, nv);
  for (int k = 0; k < nv; k++) {
    mjtNum applied = w->e->qfrc_applied[k], unit = 1 + mju_abs(w->d->qfrc_smooth[k]);
    w->e->qfrc_applied[k] += unit;
    mj_fwdAcceleration(&m, w->e);
    w->e->qfrc_applied[k] = applied;
    for (int i = 0; i < nv; i++) {
      inverse[(size_t)i * nv + k] = (w->e->qacc_smooth[i] - start[i]) / unit;
    }
  }
  mju_zero(G, nv * nv);
  for (int i = 0; i < nv; i++) {
    G[(size_t)i * (nv + 1)] = 1;
    for (int k = 0; k < i; k++) {
      mjtNum *low = inverse + (size_t)i * nv + k, high = inverse[(size_t)k * nv + i];
      *low = 0.5 * (*low + high);
    }
  }
  if (!djm_factorLower(inverse, nv)) return false;
  djm_solveLower(G, inverse, nv, nv);
  return true;
}

// Column k of w->Y = dA/dx by steps of h and 2 h, of fourth order; returns how far both differ,
// relative to the column.
static mjtNum differColumn(djmTransitionWork* w, const mjModel* m, int k, mjtNum h,
                           const mjtNum* force, mjtNum* near, mjtNum* wide) {
  int nv = w->nv;
  mju_zero(near, nv);
  mju_zero(wide, nv);
  for (int p = 0; p < 4; p++) {
    mjtNum x = (p % 2 ? -1 : 1) * (p < 2 ? h : 2 * h), *to = p < 2 ? near : wide;
    djm_moveState(w, k, x, force);
    mj_forward(m, w->e);
    for (int i = 0; i < nv; i++) {
      to[i] += (w->save[i] > 0 ? w->e->qacc[i] : w->e->qacc_smooth[i]) / (2 * x);
    }
  }
  mjtNum size = 1, apart = 0;
  for (int i = 0; i < nv; i++) {
    size = fmax(size, fabs(near[i]));
    apart = fmax(apart, fabs(near[i] - wide[i]));
    w->Y[(size_t)i * w->ncol + k] = (4 * near[i] - wide[i]) / 3;
  }
  return apart / size;
}

// w->H = G, and w->X = G dA/dx. Steps are shorter where there is a kink next to the state, as of
// v |v| in drag.
static bool fillSides(djmTransitionWork* w) {
  static const mjtNum kStep[] = {2e-4, 2e-5, 2e-6};
  int nv = w->nv, ncol = w->ncol;
  mjModel m = freeModel(w);
  mjtNum *force = w->memory, *near = force + nv, *wide = near + nv;
  mju_zero(force, nv);
  if (w->d->nefc) mj_mulJacTVec(&w->view, w->d, force, w->force);
  for (int k = 0; k < ncol; k++) {
    for (int i = 0; i < 3 && differColumn(w, &m, k, kStep[i], force, near, wide) > 1e-6; i++) {
    }
  }
  mju_copy(w->H, w->G, nv * nv);
  mju_zero(w->X, nv * ncol);
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < nv; j++) {
      mju_addToScl(w->X + (size_t)i * ncol, w->Y + (size_t)j * ncol, w->G[(size_t)i * nv + j],
                   ncol);
    }
  }
  return true;
}

typedef struct Filling {
  djmTransitionWork* w;
  bool (*fill)(djmTransitionWork* w);
  bool done;
} Filling;

static void run(void* arg) {
  Filling* x = arg;
  x->done = x->fill(x->w);
}

static djStatus guarded(djmTransitionWork* w, bool (*fill)(djmTransitionWork* w), djError* err) {
  Filling x = {w, fill, false};
  djStatus status = djm_guard(run, &x, err);
  if (status < 0 || x.done) return status;
  return djm_slopeError(err, DJ_INVALID, "the integrator's metric is not positive");
}

djStatus djm_findMetric(djmTransitionWork* w, djError* err) {
  return guarded(w, fillMetric, err);
}

djStatus djm_discreteSides(djmTransitionWork* w, djError* err) {
  return guarded(w, fillSides, err);
}
