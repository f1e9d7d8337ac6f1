// The variational step without contact: dr/dq+, and what it keeps: momenta of free bodies and
// trees, energies within O(h^2).

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/free_motion.h"

// dr/dq+ against differences of r; its transpose is wrong.
static void testJacobian(void) {
  djRng rng = {3};
  double worst = 0, best_wrong = 0;
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), DJT_ALL);
    m->opt.integrator = DJ_VARIATIONAL;
    m->opt.timestep = 0.01;
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 2);
    assert_true(dj_solveStep(m, d) >= 0);
    int nv = m->nv;
    double* mem = calloc((size_t)(3 * nv + 3 * nv * nv + 2 * m->nq), sizeof(double));
    double *g = mem, *e = g + nv, *H = e + 2 * nv, *Hfd = H + nv * nv, *HT = Hfd + nv * nv;
    double *q = HT + nv * nv, *qe = q + m->nq;
    djWork* w = d->work;
    for (int i = 0; i < nv; i++) e[i] = djt_uniform(&rng, -0.05, 0.05);
    dj_integratePos(q, m, w->now.q, e, 1);
    energyAt(g, m, d, q);
    dj_columns(H, nv, 1, &w->H, 0, nv);
    for (int j = 0; j < nv; j++) {
      memset(e, 0, (size_t)nv * sizeof(double));
      e[j] = 1;
      static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      double step = 1e-5;
      for (int k = 0; k < 4; k++) {
        dj_integratePos(qe, m, q, e, point[k] * step);
        energyAt(g, m, d, qe);
        for (int i = 0; i < nv; i++) Hfd[i * nv + j] += weight[k] / (12 * step) * g[i];
      }
      for (int i = 0; i < nv; i++) HT[i * nv + j] = H[j * nv + i];
    }
    worst = djt_worst(worst, djt_relative(H, Hfd, nv * nv));
    best_wrong = djt_worst(best_wrong, djt_relative(HT, Hfd, nv * nv));
    free(mem);
    djt_delete(m, d);
  }
  print_message("dr/dq+ %.1e, its transpose %.1e\n", worst, best_wrong);
  assert_true(worst < 1e-6);
  assert_true(best_wrong > 1e-3);
}

// ---- what is kept -----------------------------------------------------------------------------

// An asymmetric body that tumbles about its middle axis, with its frame off its centre of mass. Its
// energy is kept too: the Moser-Veselov map has the integrals of the continuous body.
static void testFreeTop(void) {
  const double qvel[6] = {0.3, -0.2, 0.5, 0.02, 0.05, 6};
  double loss[2];
  for (int k = 0; k < 2; k++) {
    Tree t;
    initTree(&t, k ? DJ_VARIATIONAL : DJ_POSITION, 0.002);
    addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.1, -0.05, 0.2},
            (double[3]){0, 0, 1}, 2);
    t.body[1].inertia[0] = 0.02;
    t.body[1].inertia[1] = 0.045;
    t.body[1].inertia[2] = 0.03;
    djModel* m = makeModel(&t);
    Drift drift = run(m, qvel, 10);
    print_message("%s: angular momentum %.1e, linear %.1e, energy %.1e\n",
                  dj_integratorName(m->opt.integrator), drift.angular, drift.linear, drift.energy);
    loss[k] = drift.angular;
    if (k) assert_true(drift.linear < 1e-10 && drift.energy < 1e-9);
    dj_deleteModel(m);
  }
  assert_true(loss[0] > 0.1);
  assert_true(loss[1] < 1e-9);
}

static void testSlowTop(void) { keepSlowTop(DJ_VARIATIONAL, 1e-9); }

static void testFloatingTree(void) {
  double qvel[14] = {0.5, -0.3, 1, 1.5, 0.4, -0.8, 1, -2, 0.5, 1.2, 0.3, -1, 1.5, -0.7};
  Drift drift[3];
  for (int k = 0; k < 3; k++) {
    djModel* m = makeFloating(k ? DJ_VARIATIONAL : DJ_POSITION, k == 2 ? 0.001 : 0.002);
    assert_int_equal(m->nv, 16);
    double v[16] = {0};
    memcpy(v, qvel, sizeof qvel);
    drift[k] = run(m, v, 3);
    print_message("%s, h %g: angular momentum %.1e, linear %.1e, energy %.2e, trend %.1e\n",
                  dj_integratorName(m->opt.integrator), m->opt.timestep, drift[k].angular,
                  drift[k].linear, drift[k].energy, drift[k].trend);
    dj_deleteModel(m);
  }
  assert_true(drift[0].angular > 1e-3);
  for (int k = 1; k < 3; k++) assert_true(drift[k].angular < 1e-9 && drift[k].linear < 1e-9);
  double ratio = drift[1].energy / drift[2].energy;
  print_message("energy error at 2 ms over that at 1 ms: %.2f\n", ratio);
  assert_true(ratio > 3.5 && ratio < 4.5);
}

// A double pendulum: its energy error stays, of order h; that of implicit Euler grows.
static void testPendulum(void) {
  Drift drift[3];
  for (int k = 0; k < 3; k++) {
    Tree t;
    initTree(&t, k ? DJ_VARIATIONAL : DJ_POSITION, k == 2 ? 0.001 : 0.002);
    t.def.option.gravity[2] = -9.81;
    double top[3] = {0, 0, 2}, end[3] = {0, 0, -1}, middle[3] = {0, 0, -0.5}, axis[3] = {0, 1, 0};
    addBody(&t, 0, DJ_HINGE, top, middle, axis, 1);
    addBody(&t, 1, DJ_HINGE, end, middle, axis, 1);
    djModel* m = makeModel(&t);
    drift[k] = run(m, (double[2]){2, 1}, 20);
    print_message("%s, h %g: energy %.2e, trend %.1e\n", dj_integratorName(m->opt.integrator),
                  m->opt.timestep, drift[k].energy, drift[k].trend);
    dj_deleteModel(m);
  }
  assert_true(drift[0].trend < -0.05);
  assert_true(fabs(drift[1].trend) < 0.02 * fabs(drift[0].trend));
  double ratio = drift[1].energy / drift[2].energy;
  assert_true(ratio > 1.7 && ratio < 2.3);
}

// A turn beyond a quarter in a step has no variational solution: `position` takes such steps.
static void testDampedSteps(void) {
  Tree t;
  initTree(&t, DJ_VARIATIONAL, 0.01);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0, 0, 0}, (double[3]){0, 0, 1}, 1);
  djModel* m = makeModel(&t);
  djData* d = makeData(m);
  d->qvel[5] = 150;   // 1.5 rad a step: beyond sin = 1
  double A[144], dx[12] = {0}, y[12];
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.fallback_steps, 1);
  assert_true(fabs(d->qvel[5]) < 150 && isfinite(d->qvel[5]));
  dx[11] = 1;
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  assert_int_equal(djd_stepJvp(m, d, y, dx, NULL), DJ_OK);
  for (int i = 0; i < 12; i++) assert_true(fabs(y[i] - A[12 * i + 11]) < 1e-9 * (1 + fabs(y[i])));
  for (int k = 0; k < 200; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->stats.fallback_steps < 100);
  djt_delete(m, d);
}

DJT_MAIN(testJacobian, testFreeTop, testSlowTop, testFloatingTree, testPendulum, testDampedSteps)
