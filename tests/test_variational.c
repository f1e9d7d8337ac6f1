// The variational step without contact: dr/dq+, and what it keeps: momenta of free bodies and
// trees, energies within O(h^2).

#include "common/random_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/step_energy.h"

static djData* makeData(const djModel* m) {
  djData* d;
  djError err;
  assert_int_equal(dj_makeData(&d, m, &err), DJ_OK);
  return d;
}

// Largest |a - b| relative to the largest |b|.
static double relative(const double* a, const double* b, int n) {
  double diff = 0, size = 1e-300;
  for (int i = 0; i < n; i++) {
    diff = fmax(diff, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return diff / size;
}

// dr/dq+ against differences of r; its transpose is wrong.
static void testJacobian(void** state) {
  (void)state;
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
    dj_integratePos(q, m, w->q, e, 1);
    energyAt(g, m, d, q);
    memcpy(H, w->H, (size_t)(nv * nv) * sizeof(double));
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
    worst = fmax(worst, relative(H, Hfd, nv * nv));
    best_wrong = fmax(best_wrong, relative(HT, Hfd, nv * nv));
    free(mem);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
  print_message("dr/dq+ %.1e, its transpose %.1e\n", worst, best_wrong);
  assert_true(worst < 1e-6);
  assert_true(best_wrong > 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testJacobian)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
