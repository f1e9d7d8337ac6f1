// Flexes in steps of every method: derivatives by states and by parameters, those of frames
// included, of ropes, cloth and solids whose vertices are on bodies of all kinds.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"
#include "force/flex.h"

static void testTransition(void** state) {
  djIntegrator integrator = djt_methodOf(state);
  djRng rng = {61};
  double worst = 0, wrong = 1;
  for (int trial = 0; trial < 8; trial++) {
    djModel* m = djt_randomModel(&rng, 2 + trial % 4, DJT_FLEXES | (trial % 2 ? DJT_SPRINGS : 0));
    djData* d = djt_openMethod(m, integrator, 0.005);
    djt_randomState(&rng, m, d, 1);
    for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
    double x[500];
    assert_true(dj_stateSize(m) <= 500);
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    worst = djt_worst(worst, djt_transitionError(m, d, 2e-5, 0));
    assert_true(dj_setState(d, m, x) >= 0);
    wrong = fmin(wrong, djt_transitionError(m, d, 2e-5, 1e-3));
    dj_deleteData(d);
    dj_deleteModel(m);
  }
  print_message("flexes: %.1e (with an error of 1e-3: %.1e)\n", worst, wrong);
  assert_true(worst < 2e-6);
  assert_true(wrong > 5e-6);
}

static void testParams(void** state) {
  static const char* const name[] = {
      "flex/#0/edgestiffness", "flex/#0/vert",    "flex/#1/young",   "flex/#1/poisson",
      "flex/#1/thickness",     "flex/#1/vert",    "flex/#1/damping", "flex/#2/young",
      "flex/#2/poisson",       "flex/#2/damping", "flex/#2/vert",    "body/#2/pos",
      "body/#2/quat",          "body/#1/mass"};
  enum { N = sizeof name / sizeof name[0], T = 5 };
  djRng rng = {62};
  double worst = 0;
  for (int trial = 0; trial < 4; trial++) {
    djModel* m = djt_randomModel(&rng, 3, DJT_FLEXES);
    djtRun run = {.m = m, .d = djt_openMethod(m, djt_methodOf(state), 0.01)};
    djError err = {""};
    djt_randomState(&rng, m, run.d, 1);
    assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
    double *q0 = djt_room((size_t)m->nq), *v0 = djt_room((size_t)m->nv);
    memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
    djLossTerm loss[2] = {{.type = DJ_LOSS_VELOCITY, .id = 1, .target = {0.1}, .weight = 1},
                          {.type = DJ_LOSS_VELOCITY, .id = 3, .target = {0.2}, .weight = 1}};
    run.r = (djRollout){
        .horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 2, .loss = loss, .refinement_steps = 6};
    worst = djt_worst(worst, djt_runNamed(&run, name, N, 1e-3, 0, 1e-3));
    free(q0);
    free(v0);
    djd_deleteTape(run.tape);
    dj_deleteData(run.d);
    dj_deleteModel(m);
  }
  print_message("parameters: %.1e\n", worst);
  assert_true(worst < 2e-6);
}

// Of each law's terms at random places: K is symmetric where the energy is all, a substitute is
// positive semi-definite and no less than it.
static void testMajorizer(void** state) {
  (void)state;
  static const djFlexLaw* const laws[] = {&dj_flexEdgeLaw, &dj_flexElementLaw, &dj_flexFlapLaw};
  djRng rng = {63};
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 3, DJT_FLEXES);
    for (size_t k = 0; k < 3; k++) {
      for (int i = 0, seen = 0; i < laws[k]->count(m); i++) {
        djFlexTerm exact, convex;
        const djFlexMotion motion = {.model = m, .h = 0.01};
        const int what = DJ_FLEX_SPRING | DJ_FLEX_DAMPER | DJ_FLEX_SLOPES;
        memset(&exact, 0, sizeof exact);
        if (!laws[k]->term(&exact, m, i)) continue;
        for (int v = 0; v < exact.n; v++) {
          for (int s = 0; s < 2; s++) {
            djVec3* at = s ? &exact.y[v] : &exact.x[v];
            *at = (djVec3){djt_uniform(&rng, -0.5, 0.5), djt_uniform(&rng, -0.5, 0.5),
                           djt_uniform(&rng, -0.5, 0.5)};
          }
        }
        convex = exact;
        laws[k]->evaluate(&exact, &motion, i, what);
        laws[k]->evaluate(&convex, &motion, i, what | DJ_FLEX_MAJORIZER);
        assert_true(convex.value == exact.value);
        for (int draw = 0; draw < 200; draw++, seen++) {
          double x[12], sum[2] = {0, 0}, size = 0;
          for (int r = 0; r < 12; r++) x[r] = djt_uniform(&rng, -1, 1);
          for (int r = 0; r < 3 * exact.n; r++) {
            for (int c = 0; c < 3 * exact.n; c++) {
              const int at = 3 * (r % 3) + c % 3;
              double a = exact.K[r / 3][c / 3][at], b = convex.K[r / 3][c / 3][at];
              assert_true(fabs(a - exact.K[c / 3][r / 3][3 * (c % 3) + r % 3]) <=
                          1e-9 * (1 + fabs(a)));
              sum[0] += x[r] * a * x[c];
              sum[1] += x[r] * b * x[c];
              size += fabs(a) + fabs(b);
            }
          }
          assert_true(sum[1] >= -1e-12 * size && sum[1] >= sum[0] - 1e-12 * size);
        }
        assert_true(seen > 0);
      }
    }
    dj_deleteModel(m);
  }
}

#define ROW(id)                                                                                    \
  {"transition " #id, testTransition, NULL, NULL, (void*)(size_t)&all[id]}, {                      \
    "params " #id, testParams, NULL, NULL, (void*)(size_t)&all[id]                                 \
  }

int main(void) {
  static const djIntegrator all[DJ_NINTEGRATOR] = {DJ_POSITION, DJ_VARIATIONAL, DJ_BDF1,
                                                   DJ_MIDPOINT, DJ_BDF2,        DJ_EULER};
  const struct CMUnitTest tests[] = {ROW(DJ_POSITION),
                                     ROW(DJ_VARIATIONAL),
                                     ROW(DJ_BDF1),
                                     ROW(DJ_MIDPOINT),
                                     ROW(DJ_BDF2),
                                     ROW(DJ_EULER),
                                     cmocka_unit_test(testMajorizer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
