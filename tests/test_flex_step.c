// Flexes in steps of every method: derivatives by states and by parameters, those of frames
// included, of ropes, cloth and solids whose vertices are on bodies of all kinds.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/pool.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "force/flex.h"
#include "io/model_flex.h"
#include "math/dual.h"
#include "model/flex.h"
#include "model/flex_law.h"

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

// What a flex of another dim does not have may not be set, and has no derivative. Of the last run.
static void compareOthers(djtRun* run) {
  static const char* const other[] = {"flex/#0/young", "flex/#0/thickness", "flex/#1/edgestiffness",
                                      "flex/#2/edgestiffness"};
  enum { N = sizeof other / sizeof other[0] };
  djParam param[N];
  double grad[N], one = 1;
  djError err;
  for (int k = 0; k < N; k++) {
    assert_int_equal(dj_paramId(&param[k], run->m, other[k], &err), DJ_OK);
    grad[k] = 1;
  }
  djRolloutResult out = {.nparam = N, .param = param, .grad_param = grad};
  assert_true(djd_rolloutForward(&out, run->m, run->d, &run->r, run->tape) >= 0);
  assert_true(djd_rolloutBackward(&out, run->m, run->d, &run->r, run->tape) >= 0);
  for (int k = 0; k < N; k++) assert_true(grad[k] == 0);
  assert_int_equal(dj_setParam(run->m, &param[2], &one, &err), DJ_INVALID);
}

// A cloth whose vertices are moved by three slides each, along axes that are no frame's and differ;
// one stands still.
static void testSlides(void** state) {
  static const double vert[6][3] = {{0, 0, 0},      {0.1, 0.01, 0},  {0.02, 0.11, 0.01},
                                    {0.12, 0.1, 0}, {0.21, 0.02, 0}, {0.2, 0.13, 0.02}};
  char text[6000] = "{\"dijoco_model\": 1, \"bodies\": [{\"name\": \"world\"}";
  size_t room = sizeof text;
#define ADD(...) snprintf(text + strlen(text), room - strlen(text), __VA_ARGS__)
  for (int i = 0; i < 6; i++) {
    ADD(", {\"pos\": [%g, %g, %g], \"mass\": 0.0%d, \"inertia\": [1e-4, 1e-4, 1e-4]}", vert[i][0],
        vert[i][1], vert[i][2], i + 1);
  }
  ADD("], \"joints\": [");
  for (int i = 0; i < 15; i++) {
    const double x = 0.3 * sin(2.0 * i), y = 0.3 * cos(3.0 * i), z = 0.2 * sin(i + 1.0);
    ADD("%s{\"type\": \"slide\", \"body\": %d, \"axis\": [%g, %g, %g]}", i ? ", " : "", 1 + i / 3,
        x + (i % 3 == 0), y + (i % 3 == 1), z + (i % 3 == 2));
  }
  ADD("], \"flexes\": [{\"dim\": 2, \"bodies\": [1, 5, 3, 2, 4, 6], \"vert\": [");
  static const int body[6] = {0, 4, 2, 1, 3, 5};
  for (int i = 0; i < 6; i++) {
    ADD("%s[%g, %g, %g]", i ? ", " : "", vert[body[i]][0], 1.1 * vert[body[i]][1],
        vert[body[i]][2]);
  }
  ADD("], \"elements\": [[0, 3, 4], [0, 4, 2], [3, 1, 5], [3, 5, 4]], \"young\": 3e4, "
      "\"poisson\": 0.2, \"thickness\": 0.004, \"damping\": 0.01, \"edgedamping\": 0.02, "
      "\"elastic2d\": \"both\", \"radius\": 0.001}]}");
#undef ADD
  djModel* m;
  djError err;
  if (dj_loadModelText(&m, text, &err) != DJ_OK) fail_msg("%s", err.text);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.005);
  djRng rng = {64};
  for (int i = 0; i < m->nv; i++) {
    d->qpos[i] = djt_uniform(&rng, -0.02, 0.02);
    d->qvel[i] = djt_uniform(&rng, -1, 1);
  }
  for (int k = 0; k < 3; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  const double error = djt_transitionError(m, d, 2e-5, 0);
  print_message("slides: %.1e\n", error);
  assert_true(error < 2e-6);
  dj_deleteData(d);
  dj_deleteModel(m);
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
    compareOthers(&run);
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

// f(x) = sqrt(x.(x - c) + 2 |x x c|^2/(x.x)) of three numbers by duals, against differences.
static double dualValue(djDual* out, const double x[3]) {
  static const double c[3] = {0.3, -0.2, 0.5};
  djDual p[3], q[3], apart[3], cross[3];
  for (int k = 0; k < 3; k++) {
    p[k] = dju_dual(x[k], 4 * k);
    q[k] = (djDual){.f = c[k]};
  }
  dju_dualSub3(apart, p, q);
  dju_dualCross3(cross, p, q);
  djDual part = dju_dualDiv(dju_dualDot3(cross, cross), dju_dualDot3(p, p));
  *out = dju_dualSqrt(dju_dualAdd(dju_dualDot3(p, apart), dju_dualScale(2, part)));
  return out->f;
}

static void testDual(void** state) {
  (void)state;
  djDual f, other;
  double x[3] = {1, 0.4, -0.7};
  // x.x = 1.65, x.c = -0.13, |c|^2 = 0.38
  djt_near(dualValue(&f, x), sqrt(1.65 + 0.13 + 2 * (0.38 - 0.13 * 0.13 / 1.65)), 1e-14);
  for (int k = 0; k < 3; k++) {
    const double e = 1e-5, at = x[k];
    x[k] = at + e;
    double more = dualValue(&other, x);
    x[k] = at - e;
    djt_near(f.d[4 * k], (more - dualValue(&other, x)) / (2 * e), 1e-9);
    x[k] = at;
  }
  assert_true(f.d[1] == 0 && f.d[11] == 0); // of numbers that it does not have
}

// The law of a triangle with sides 3, 4, 5, of a flap that is flat, and a rest shape without area.
static void testLaw(void** state) {
  (void)state;
  static const double place[4][3] = {{0, 0, 0}, {3, 0, 0}, {0, 4, 0}, {3, -4, 0}};
  const double* vert[DJ_FLEX_VERT] = {place[0], place[1], place[2], place[3]};
  const djFlexMaterial material = {.mu = 2, .lambda = 3, .rigidity = 5};
  djFlexRest rest;
  assert_true(dj_flexRest(&rest, 2, vert));
  djt_near(rest.volume, 6, 1e-14);
  double S[DJ_FLEX_STIFFNESS], y[3], sum = 0;
  dj_flexStiffness(S, &rest, &material);
  // all lengths s times as long: E = (s^2 - 1)/2 G0, whose energy is V ((s^2 - 1)/2)^2 (2 mu +
  // 2 lambda); with s^2 = 2
  const double D[3] = {25, 16, 9};
  dj_mulFlexStiffness(y, S, D, 3);
  for (int k = 0; k < 3; k++) sum += 0.25 * D[k] * y[k];
  djt_near(sum, 6 * 0.25 * (2 * 2 + 2 * 3), 1e-12);

  djFlap flap;
  double B[DJ_FLEX_BENDING], c = 0;
  dj_flap(&flap, vert);
  dj_flapBending(B, &flap, material.rigidity);
  for (int i = 0; i < 4; i++) { // neither shifts nor turns count
    double all = 0;
    for (int j = 0; j < 4; j++) all += B[4 * i + j];
    djt_near(all, 0, 1e-12);
    c += flap.c[i].f;
  }
  djt_near(c, 0, 1e-14);
  djt_near(B[16], 0, 1e-14);

  const char* field;
  assert_null(dj_flexProblem(&field, 2, 10, 0.3, 0));
  assert_non_null(dj_flexProblem(&field, 2, 10, 0.5, 0));
  assert_string_equal(field, "poisson");
  vert[2] = place[1];
  assert_false(dj_flexRest(&rest, 2, vert));
}

// Keys that are lists.
static djStatus plainBody(int* id, const void* user, const cJSON* item, const djAt* at) {
  (void)user;
  return dj_jsonInt(id, item, at);
}

static void testLists(void** state) {
  (void)state;
  static const char text[] =
      "{\"bodies\": [0, 1], \"vert\": [[0, 0, 0], [1, 0, 0]], \"elements\": [[0, 1]]}";
  djError err = {""};
  cJSON* root;
  djPool pool = {0};
  djFlexDef flex = dj_defaultFlexDef();
  flex.dim = 1;
  assert_int_equal(dj_parseJson(&root, text, strlen(text), &err), DJ_OK);
  const djAt at = {&err, "flex 'a'"};
  if (dj_readFlexLists(&flex, root, plainBody, NULL, &pool, &at) != DJ_OK) fail_msg("%s", err.text);
  assert_true(flex.nvert == 2 && flex.nelem == 1 && !flex.pos);
  assert_true(flex.body[1] == 1 && flex.vert[3] == 1 && flex.elem[1] == 1);
  cJSON_DeleteItemFromObject(root, "vert");
  assert_int_equal(dj_readFlexLists(&flex, root, plainBody, NULL, &pool, &at), DJ_INVALID);
  assert_non_null(strstr(err.text, "vert"));
  cJSON_Delete(root);
  dj_poolFree(&pool);
}

#define ROW(id)                                                                                    \
  {"transition " #id, testTransition, NULL, NULL, (void*)(size_t)&all[id]},                        \
      {"slides " #id, testSlides, NULL, NULL, (void*)(size_t)&all[id]}, {                          \
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
                                     cmocka_unit_test(testMajorizer),
                                     cmocka_unit_test(testDual),
                                     cmocka_unit_test(testLaw),
                                     cmocka_unit_test(testLists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
