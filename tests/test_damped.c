// Damped contact: steps and gradients of scenes against differences, in all methods and laws;
// momentum; a particle's energy and the bound of its height; what damping_time is; what is refused.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"
#include "common/near.h"

static djModel* load(const char* text) {
  djModel* m;
  djError err;
  if (dj_loadModelText(&m, text, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

// ------------------------------------------ derivatives ----------------------------------------

typedef struct Way {
  djIntegrator integrator;
  double theta;
  const char *law, *friction, *normal;
} Way;
static const Way ways[] = {{DJ_MIDPOINT, 0.5, "perturbed", "smooth", "end"},
                           {DJ_MIDPOINT, 1, "smooth_penalty", "perturbed", "end"},
                           {DJ_MIDPOINT, 0.6, "log", "smooth", "end"},
                           {DJ_EULER, 0.5, "perturbed", "perturbed", "end"},
                           {DJ_EULER, 0.5, "smooth_penalty", "smooth", "end"},
                           {DJ_POSITION, 0.5, "perturbed", "smooth", "end"},
                           {DJ_VARIATIONAL, 0.5, "smooth_penalty", "smooth", "end"},
                           {DJ_BDF1, 0.5, "log", "perturbed", "end"},
                           {DJ_BDF2, 0.5, "perturbed", "smooth", "end"},
                           {DJ_MIDPOINT, 0.5, "perturbed", "smooth", "start"},
                           {DJ_EULER, 0.5, "smooth_penalty", "perturbed", "start"},
                           {DJ_POSITION, 0.5, "perturbed", "smooth", "start"},
                           {DJ_BDF1, 0.5, "smooth_penalty", "smooth", "start"},
                           {DJ_BDF2, 0.5, "perturbed", "perturbed", "start"}};
enum { NWAY = sizeof ways / sizeof ways[0] };

// A box, a ball, an arm with points of its own and a tetrahedron, on a tilted floor and each other.
static djModel* openScene(const Way* way) {
  char text[2600];
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", \"timestep\": 0.01,"
           "  \"tolerance\": 1e-9, \"law\": \"%s\", \"friction_law\": \"%s\", \"theta\": %g,"
           "  \"normal\": \"%s\","
           "  \"sigma\": 0.05, \"kn\": 900, \"alpha\": 0.8, \"friction_eps\": 0.01,"
           "  \"sigma_t\": 0.01, \"detect\": 0.05},"
           "\"bodies\": [{\"name\": \"world\"},"
           "  {\"name\": \"box\", \"pos\": [0, 0, 0.2], \"mass\": 0.7,"
           "   \"inertia\": [0.003, 0.004, 0.005], \"quat\": [1, 0.2, 0.1, 0]},"
           "  {\"name\": \"ball\", \"pos\": [0.3, 0, 0.09], \"mass\": 0.5,"
           "   \"inertia\": [0.002, 0.001, 0.0015]},"
           "  {\"name\": \"arm\", \"pos\": [0, 0.4, 0.36], \"mass\": 0.6, \"ipos\": [0.1, 0, -0.1],"
           "   \"inertia\": [0.01, 0.01, 0.002]}],"
           "\"joints\": [{\"type\": \"free\", \"body\": 1}, {\"type\": \"free\", \"body\": 2},"
           "  {\"type\": \"ball\", \"body\": 3}],"
           "\"geoms\": [{\"name\": \"floor\", \"type\": \"plane\", \"body\": 0, "
           "   \"quat\": [1, 0.01, -0.02, 0]},"
           "  {\"name\": \"box\", \"type\": \"box\", \"body\": 1, \"size\": [0.1, 0.08, 0.1],"
           "   \"point_count\": 8},"
           "  {\"name\": \"ball\", \"body\": 2, \"size\": [0.08, 0, 0], \"pos\": [0.01, 0, 0],"
           "   \"friction\": [1.2, 0.1, 0.1]},"
           "  {\"name\": \"end\", \"type\": \"capsule\", \"body\": 3, \"size\": [0.05, 0.06, 0],"
           "   \"pos\": [0.1, 0, -0.2], \"points\": [[0.05, 0, 0.02], [0, 0, -0.11]]}]}",
           way->law, way->friction, way->theta, way->normal);
  return load(text);
}

static void throwAbout(djData* d, int nv) {
  for (int i = 0; i < nv; i++) d->qvel[i] = 0.5 * sin(3.0 * i + 1);
}

static void testTransitions(void** state) {
  (void)state;
  for (int k = 0; k < NWAY; k++) {
    djModel* m = openScene(&ways[k]);
    djData* d = djt_openMethod(m, ways[k].integrator, 0.01);
    throwAbout(d, m->nv);
    double worst = 0, wrong = 1;
    for (int i = 0; i < 3; i++) {
      for (int s = 0; s < 4; s++) assert_int_equal(dj_step(m, d), DJ_OK);
      double x[120];
      assert_true(dj_stateSize(m) <= 120);
      assert_int_equal(dj_getState(x, m, d), DJ_OK);
      worst = djt_worst(worst, djt_transitionError(m, d, 1e-5, 0));
      assert_true(dj_setState(d, m, x) >= 0);
      wrong = fmin(wrong, djt_transitionError(m, d, 1e-5, 1e-3));
      assert_true(dj_setState(d, m, x) >= 0);
    }
    assert_int_equal(d->stats.unconverged_steps + d->stats.fallback_steps, 0);
    print_message("%s theta %g, %s, %s, normals of the %s: %.1e (with an error of 1e-3: %.1e)\n",
                  dj_method(ways[k].integrator)->name, ways[k].theta, ways[k].law, ways[k].friction,
                  ways[k].normal, worst, wrong);
    assert_true(worst < 2e-6 && wrong > 10 * worst);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
}

static void testParams(void** state) {
  (void)state;
  static const char* const name[] = {
      "contact/damped/alpha", "contact/damped/sigma",   "contact/damped/kn",
      "geom/box/size",        "geom/ball/size",         "geom/ball/pos",
      "geom/end/points",      "geom/end/contact_scale", "geom/floor/pos",
      "geom/floor/quat",      "geom/ball/friction",     "body/box/mass",
      "body/arm/pos"};
  enum { N = sizeof name / sizeof name[0], T = 8 };
  for (int k = 0; k < NWAY; k++) {
    djModel* m = openScene(&ways[k]);
    djtRun run = {.m = m, .d = djt_openMethod(m, ways[k].integrator, 0.01)};
    djError err;
    throwAbout(run.d, m->nv);
    assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
    double q0[40], v0[40];
    memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
    djLossTerm loss[3] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                          {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 3, .weight = 1},
                          {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 2, .weight = 1}};
    run.r = (djRollout){
        .horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 3, .loss = loss, .refinement_steps = 6};
    const double error = djt_runNamed(&run, name, N, 1e-4, 0, 1e-3);
    print_message("%s, %s, normals of the %s: parameters %.1e\n",
                  dj_method(ways[k].integrator)->name, ways[k].law, ways[k].normal, error);
    // of log the second derivative jumps at `detect`
    assert_true(error < (strcmp(ways[k].law, "log") == 0 ? 5e-5 : 2e-6));
    djd_deleteTape(run.tape);
    dj_deleteData(run.d);
    dj_deleteModel(m);
  }
}

// Where it cuts a derivative an ablation is not that of the step.
static void testAblations(void** state) {
  (void)state;
  djModel* m = openScene(&ways[0]);
  m->opt.coordinate_derivative = 0;
  djError err;
  djOption option = m->opt;
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
  djData* d = djt_openMethod(m, DJ_MIDPOINT, 0.01);
  throwAbout(d, m->nv);
  for (int s = 0; s < 8; s++) assert_int_equal(dj_step(m, d), DJ_OK);
  const double error = djt_transitionError(m, d, 1e-5, 0);
  print_message("fixed normals: %.1e\n", error);
  assert_true(error > 1e-4);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// Points in a hollow sphere and a hollow box, which holds them inside: gradients, and that it does.
static void testInside(void** state) {
  (void)state;
  static const char* const name[] = {"geom/hollow/size", "geom/hollow/pos", "geom/lid/size",
                                     "geom/lid/quat", "geom/ball/size"};
  djModel* m = load(
      "{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", \"timestep\": 0.01,"
      "  \"sigma\": 0.02, \"alpha\": 0.5, \"friction_eps\": 0.01, \"integrator\": \"midpoint\"},"
      "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"ball\", \"mass\": 1,"
      "   \"inertia\": [0.004, 0.004, 0.004]}],"
      "\"joints\": [{\"type\": \"free\", \"body\": 1}],"
      "\"geoms\": [{\"name\": \"hollow\", \"body\": 0, \"size\": [0.5, 0, 0], \"inside\": 1},"
      "  {\"name\": \"lid\", \"type\": \"box\", \"body\": 0, \"size\": [0.45, 0.6, 0.55],"
      "   \"inside\": 1, \"quat\": [1, 0.1, 0.2, 0]},"
      "  {\"name\": \"ball\", \"body\": 1, \"size\": [0.1, 0, 0]}]}");
  djtRun run = {.m = m, .d = djt_openMethod(m, DJ_MIDPOINT, 0.01)};
  enum { T = 40 };
  const double q0[7] = {0, 0, -0.2, 1, 0, 0, 0}, v0[6] = {1, 0.4, 0, 2, 1, 0};
  assert_int_equal(djd_makeTape(&run.tape, m, T, NULL), DJ_OK);
  djLossTerm loss[1] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1}};
  run.r = (djRollout){
      .horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 1, .loss = loss, .refinement_steps = 6};
  const double error = djt_runNamed(&run, name, 5, 1e-4, 0, 1e-3);
  print_message("inside: parameters %.1e\n", error);
  assert_true(error < 2e-6);
  memcpy(run.d->qpos, q0, sizeof q0);
  memcpy(run.d->qvel, v0, sizeof v0);
  for (int i = 0; i < 300; i++) {
    assert_int_equal(dj_step(m, run.d), DJ_OK);
    assert_true(dju_norm3(dju_load3(run.d->qpos)) < 0.4);
  }
  djd_deleteTape(run.tape);
  dj_deleteData(run.d);
  dj_deleteModel(m);
}

// ------------------------------------------ cut ------------------------------------------------

// A body above a floor with a cluster of points at a height, and perhaps one a metre higher.
static djModel* openClusters(bool high, const char* cut, double height) {
  char text[4000], point[2400] = "";
  for (int k = 0; k < (high ? 32 : 16); k++) {
    snprintf(point + strlen(point), sizeof point - strlen(point), "%s[%g, %g, %g]", k ? ", " : "",
             0.004 * (k % 4), 0.003 * (k / 4 % 4), k < 16 ? -0.001 * (k % 3) : 1 + 0.001 * k);
  }
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", \"timestep\": 0.01,"
           "  \"tolerance\": 1e-9, \"integrator\": \"midpoint\", \"sigma\": 0.05,"
           "  \"alpha\": 0.8, \"friction_eps\": 0.01%s}, \"bodies\": [{\"name\": \"world\"},"
           "  {\"pos\": [0, 0, %g], \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}],"
           "\"joints\": [{\"type\": \"free\", \"body\": 1}],"
           "\"geoms\": [{\"type\": \"plane\", \"body\": 0},"
           "  {\"body\": 1, \"size\": [0.02, 0, 0], \"field\": 0, \"points\": [%s]}]}",
           cut, height, point);
  return load(text);
}

// Velocity after a step that begins at a speed downwards; slope: the error of A and B there.
static void stepDown(double v[6], double* slope, bool high, const char* cut, double height,
                     double speed) {
  djModel* m = openClusters(high, cut, height);
  djData* d = sceneData(m);
  d->qvel[2] = -speed;
  assert_int_equal(dj_step(m, d), DJ_OK);
  memcpy(v, d->qvel, 6 * sizeof *v);
  if (slope) *slope = djt_transitionError(m, d, 1e-5, 0);
  dj_deleteData(d);
  dj_deleteModel(m);
}

static double apart(const double a[6], const double b[6]) {
  double most = 0;
  for (int i = 0; i < 6; i++) most = djt_worst(most, fabs(a[i] - b[i]));
  return most;
}

// Clusters that push with less at each point are as if they were not there, but where they close so
// fast that they push with more.
static void testCut(void** state) {
  (void)state;
  double all[6], low[6], cut[6], slope;
  stepDown(all, NULL, true, "", 0.03, 0.1);
  stepDown(low, NULL, false, "", 0.03, 0.1);
  stepDown(cut, &slope, true, ", \"cut\": 0.1", 0.03, 0.1);
  print_message("cut: %.1e from the lower points alone, %.1e from all; A and B %.1e\n",
                apart(cut, low), apart(cut, all), slope);
  assert_true(apart(cut, low) < 1e-9 && apart(cut, all) > 1e-3 && slope < 2e-6);
  stepDown(cut, NULL, true, ", \"cut\": 0.01", 0.03, 0.1);
  assert_true(apart(cut, all) == 0);
  stepDown(cut, NULL, true, ", \"cut\": 0.03", 3, 0);
  djt_near(cut[2], -9.81 * 0.01, 1e-9);
  stepDown(all, NULL, true, "", 3, 150);
  stepDown(cut, NULL, true, ", \"cut\": 0.03", 3, 150);
  print_message("fast: %.1e from all, %.1e from free fall\n", apart(cut, all), cut[2] + 150.0981);
  assert_true(apart(cut, all) == 0 && cut[2] > -150.0981 + 1e-2);
}

// ------------------------------------------ momentum -------------------------------------------

static void testMomentum(void** state) {
  (void)state;
  djModel* m =
      load("{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", \"timestep\": 0.01,"
           "  \"tolerance\": 1e-9, \"integrator\": \"midpoint\", \"gravity\": [0, 0, 0]},"
           "\"bodies\": [{\"name\": \"world\"},"
           "  {\"name\": \"a\", \"mass\": 0.7, \"inertia\": [0.003, 0.004, 0.005]},"
           "  {\"name\": \"b\", \"pos\": [0.4, 0.05, 0.03], \"mass\": 0.5,"
           "   \"inertia\": [0.002, 0.001, 0.0015]}],"
           "\"joints\": [{\"type\": \"free\", \"body\": 1}, {\"type\": \"free\", \"body\": 2}],"
           "\"geoms\": [{\"type\": \"box\", \"body\": 1, \"size\": [0.1, 0.08, 0.1]},"
           "  {\"type\": \"ellipsoid\", \"body\": 2, \"size\": [0.08, 0.1, 0.12]}]}");
  djData* d = sceneData(m);
  const double v[12] = {1, 0, 0.1, 2, -1, 3, -1, 0.1, 0, 1, 4, -2};
  memcpy(d->qvel, v, sizeof v);
  double before[6], after[6], change = 0;
  assert_int_equal(dj_totalMomentum(before, m, d), DJ_OK);
  for (int i = 0; i < 80; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_totalMomentum(after, m, d), DJ_OK);
  for (int i = 0; i < 6; i++) change = djt_worst(change, fabs(after[i] - before[i]));
  print_message("momentum changed by %.1e, velocity by %g\n", change, d->qvel[0] - v[0]);
  assert_true(change < 1e-9 && fabs(d->qvel[0] - v[0]) > 0.1);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// ------------------------------------------ a particle -----------------------------------------

static djModel* openParticle(const char* option) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", \"timestep\": 0.01,"
           "  \"tolerance\": 1e-5, %s}, \"bodies\": [{\"name\": \"world\"},"
           "  {\"name\": \"p\", \"pos\": [0, 0, 0.5], \"mass\": 1, \"inertia\": [1, 1, 1]}],"
           "\"joints\": [{\"type\": \"slide\", \"body\": 1, \"axis\": [0, 0, 1]}],"
           "\"geoms\": [{\"type\": \"plane\", \"body\": 0},"
           "  {\"body\": 1, \"size\": [0.001, 0, 0]}]}",
           option);
  return load(text);
}

// sigma -> 0 leaves the gap ahead not negative: x+ >= alpha/(1 + alpha) x.
static void testBound(void** state) {
  (void)state;
  static const double alphas[] = {0, 0.3, 1.5, 9};
  for (int k = 0; k < 8; k++) {
    char option[200];
    const double alpha = alphas[k % 4];
    snprintf(option, sizeof option,
             "\"integrator\": \"midpoint\", \"theta\": %g, \"alpha\": %g, \"sigma\": 1e-9",
             k < 4 ? 0.5 : 1.0, alpha);
    djModel* m = openParticle(option);
    djData* d = sceneData(m);
    double x = 0.499, least = INFINITY;
    for (int i = 0; i < 100; i++) {
      assert_int_equal(dj_step(m, d), DJ_OK);
      const double next = 0.499 + d->qpos[0];
      least = fmin(least, next - alpha / (1 + alpha) * x);
      x = next;
    }
    print_message("alpha %g: x+ - alpha/(1 + alpha) x >= %.1e\n", alpha, least);
    assert_true(least > -1e-12 && least < 1e-3);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
}

// A damping time survives a change of the timestep; alpha is it in steps.
static void testDampingTime(void** state) {
  (void)state;
  djError err;
  djModel* m = openParticle("\"damping_time\": 0.03");
  djt_near(m->contact.alpha, 3, 1e-12);
  djOption option = m->opt;
  option.timestep = 0.005;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  djt_near(m->contact.alpha, 6, 1e-12);
  dj_deleteModel(m);
  m = openParticle("\"alpha\": 0.7");
  option = m->opt;
  option.timestep = 0.005;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  djt_near(m->contact.alpha, 0.7, 1e-12);
  dj_deleteModel(m);
}

static void testRefused(void** state) {
  (void)state;
  static const char* const bad[][2] = {
      {"\"alpha\": -1", "alpha"},
      {"\"alpha\": 1, \"damping_time\": 0.1", "alpha and damping_time are both given"},
      {"\"sigma\": 0", "sigma"},
      {"\"kn\": -3", "kn"},
      {"\"law\": \"hertz\"", "law"},
      {"\"normal\": \"middle\"", "normal: unknown value 'middle', expected one of end, start"}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    char text[600];
    djModel* m;
    djError err;
    snprintf(text, sizeof text,
             "{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\", %s}, \"bodies\": "
             "[{\"name\": \"world\"}, {\"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": "
             "[{\"type\": \"free\", \"body\": 1}], \"geoms\": [{\"type\": \"plane\", \"body\": 0}, "
             "{\"body\": 1, \"size\": [0.1, 0, 0]}]}",
             bad[k][0]);
    assert_int_equal(dj_loadModelText(&m, text, &err), DJ_INVALID);
    if (!strstr(err.text, bad[k][1])) fail_msg("%s", err.text);
  }
}

// Neither geom has points in the other's field: the step says which.
static void testNothing(void** state) {
  (void)state;
  djModel* m = load("{\"dijoco_model\": 1, \"option\": {\"contact\": \"damped\"}, \"bodies\": "
                    "[{\"name\": \"world\"}, {\"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": "
                    "[{\"type\": \"free\", \"body\": 1}], \"geoms\": [{\"name\": \"floor\", "
                    "\"type\": \"plane\", \"body\": 0, \"field\": 0}, {\"name\": \"ball\", "
                    "\"body\": 1, \"size\": [0.1, 0, 0]}]}");
  djData* d = sceneData(m);
  assert_true(dj_step(m, d) < 0);
  assert_non_null(strstr(dj_errorText(d), "geom 'floor' (#0) and geom 'ball' (#1)"));
  dj_deleteData(d);
  dj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testTransitions), cmocka_unit_test(testParams),
      cmocka_unit_test(testAblations),   cmocka_unit_test(testInside),
      cmocka_unit_test(testMomentum),    cmocka_unit_test(testBound),
      cmocka_unit_test(testCut),         cmocka_unit_test(testDampingTime),
      cmocka_unit_test(testRefused),     cmocka_unit_test(testNothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
