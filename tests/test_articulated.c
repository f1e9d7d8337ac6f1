// Solutions by articulated bodies, beside the inertia matrix and inverse dynamics.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/step_energy.h"
#include "model/articulated.h"
#include "model/momentum.h"

typedef struct Case {
  djModel* m;
  djData* d;
  djWork* w;
} Case;

// A random model, opened at a random state.
static Case openCase(djRng* rng, int nbody, int features) {
  Case c = {.m = djt_randomModel(rng, nbody, features)};
  c.d = makeData(c.m);
  c.w = c.d->work;
  djt_randomState(rng, c.m, c.d, 2);
  assert_int_equal(dj_forward(c.m, c.d), DJ_OK);
  return c;
}

static void closeCase(const Case* c) { djt_delete(c->m, c->d); }

// M x, by momenta; armature along dofs.
static void multiply(double* y, const djModel* m, djWork* w, const double* x) {
  memset(y, 0, (size_t)m->nv * sizeof(double));
  dj_bodyMomentum(w->wrench, NULL, m, &w->begin.kin, w->ref, x);
  dj_gatherWrench(w->wrench, m);
  dj_projectWrench(y, m, &w->begin.kin, w->wrench);
  for (int i = 0; i < m->nv; i++) y[i] += w->armature[m->dof_jnt[i]] * x[i];
}

static void testSolve(void) {
  djRng rng = {11};
  double worst = 0;
  for (int trial = 0; trial < 40; trial++) {
    Case c = openCase(&rng, 1 + djt_integer(&rng, 8), DJT_ALL);
    const djModel* m = c.m;
    djWork* w = c.w;
    double *x = calloc(3 * (size_t)m->nv + 1, sizeof(double)), *y = x + m->nv, *z = y + m->nv;
    for (int i = 0; i < m->nv; i++) x[i] = z[i] = djt_uniform(&rng, -1, 1);
    assert_true(dj_solveInertia(z, w->articulated, m, &w->begin.kin, w->ref, w->armature));
    multiply(y, m, w, z);
    worst = djt_worst(worst, djt_relative(y, x, m->nv));
    free(x);
    closeCase(&c);
  }
  djt_below("M M^-1 x", worst, 1e-9);
}

// A body without inertia about its axis.
static void testSingular(void) {
  djRng rng = {13};
  Case c = openCase(&rng, 2, 0);
  const djModel* m = c.m;
  djWork* w = c.w;
  double x[64] = {1};
  assert_true(m->nv <= 64);
  for (int j = 0; j < m->njnt; j++) w->armature[j] = -100;
  assert_false(dj_solveInertia(x, w->articulated, m, &w->begin.kin, w->ref, w->armature));
  closeCase(&c);
}

DJT_MAIN(testSolve, testSingular)
