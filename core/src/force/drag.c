// The row of fluid drag: which bodies it acts on.

#include "force/drag.h"

static size_t size(const djModel* m) { return (size_t)m->nbody * sizeof(djDrag); }

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  const djModel* m = at->model;
  djDrag* drag = state;
  int passive_off = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
  bool fluid = (m->opt.disable & passive_off) != passive_off &&
               (m->opt.density > 0 || m->opt.viscosity > 0);
  for (int b = 1; b < m->nbody; b++) {
    drag[b].acts = fluid && m->body_lastdof[b] >= 0 && m->body_mass[b] > 1e-15;
    if (drag[b].acts) dj_setDrag(&drag[b], m, b);
  }
  drag[0].acts = fluid;   // of any
  return DJ_OK;
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  const djDrag* drag = state;
  if (at->prompt && sum->derivatives) return DJ_OK;
  for (int b = 1; b < at->model->nbody && drag[0].acts; b++) {
    if (!drag[b].acts) continue;
    double* wrench = sum->derivatives ? sum->wrench + 6 * b : NULL;
    sum->value += dj_dragWrench(wrench, sum->N + 36 * b, &drag[b], at, b);
  }
  return DJ_OK;
}

static void nonpotential(djForceSum* sum, double* gradient, void* state, const djMotion* at) {
  (void)gradient;   // of the sum of twists
  if (at->prompt) dj_addDragTwists(sum, state, at);
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  const djDrag* drag = state;
  if (at->prompt) {
    dj_startDragTwists(sum, drag, at);
    return DJ_OK;
  }
  for (int b = 1; b < at->model->nbody && drag[0].acts; b++) {
    if (drag[b].acts) dj_dragStart(sum->Nrate + 36 * b, &drag[b], at, b);
  }
  return DJ_OK;
}

static djStatus params(djParamSums* sums, void* state, const djMotion* at, const double* z,
                       const double* zeta) {
  (void)z, (void)zeta;
  if (at->prompt) dj_dragTwistParams(sums, state, at);
  else dj_dragParams(sums, state, at);
  return DJ_OK;
}

const djForceRow dj_dragForce = {.name = "drag",
                                 .size = size,
                                 .begin = begin,
                                 .evaluate = evaluate,
                                 .nonpotential = nonpotential,
                                 .start = start,
                                 .params = params,
                                 .params_of = DJ_BY_INERTIA | DJ_BY_FRAME};
