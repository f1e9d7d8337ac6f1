// djm_transitionMuJoCoWith against differences of mj_step: every kind of row, every integrator, robots;
// what is dropped is missed; what is refused is named.

#include "common/mj_rows.h"
#include "common/mj_step_slope.h"
#include "common/test.h"
#include "derivative/motion.h"
#include "derivative/rows.h"
#include "derivative/slope_error.h"
#include "derivative/spatial.h"

static const double kTolerance = 1e-6;

static void report(const djtStep* s, const char* name) {
  print_message("%s: %.1e in %d states, %d left out\n", name, s->worst, s->states, s->left);
  assert_true(s->worst < kTolerance);
  assert_true(s->states > 2 * s->left && s->states > 0);
}

// Bodies set out at random speeds, so that contacts slide.
static void push(djtStep* s, djRng* rng) {
  for (int i = 0; i < s->nv; i++) s->d->qvel[i] = djt_uniform(rng, -0.5, 0.5);
}

static void runModel(const char* text, int integrator, bool damped, const char* name) {
  djtStep s = djt_openStep(djt_compile(text));
  djRng rng = {12345};
  s.m->opt.integrator = integrator;
  if (!damped) s.m->opt.disableflags |= mjDSBL_EULERDAMP;
  push(&s, &rng);
  djt_runStep(&s, &rng, 60, 10, 2e-6);
  report(&s, name);
  djt_closeStep(&s);
}

static void testContacts(void) {
  runModel(CONTACTS("elliptic"), mjINT_EULER, true, "cones");
  runModel(CONTACTS("pyramidal"), mjINT_EULER, true, "pyramids");
  runModel(CONTACTS("elliptic"), mjINT_IMPLICITFAST, true, "cones, implicitfast");
  runModel(CONTACTS("pyramidal"), mjINT_IMPLICIT, true, "pyramids, implicit");
  runModel(kBelts, mjINT_EULER, true, "belts");
  runModel(STICKY("elliptic"), mjINT_EULER, true, "adhesion, cones");
  runModel(STICKY("pyramidal"), mjINT_EULER, true, "adhesion, pyramids");
}

static void testDampers(void) {
  runModel(kDampers, mjINT_EULER, true, "dampers");
  runModel(kDampers, mjINT_IMPLICIT, true, "dampers, implicit");
  runModel(kDampers, mjINT_IMPLICITFAST, true, "dampers, implicitfast");
}

static void testRows(void) {
  runModel(BODY_ROWS, mjINT_EULER, true, "rows");
  runModel(BODY_ROWS, mjINT_EULER, false, "rows without eulerdamp");
  runModel(SITE_ROWS, mjINT_IMPLICIT, true, "rows of sites, implicit");
  runModel(SITE_ROWS, mjINT_IMPLICITFAST, true, "rows of sites, implicitfast");
}

static void testRobots(void) {
  static const char* const kName[] = {"hopper", "half_cheetah", "ant", "humanoid", "walker2d_v5",
                                      "swimmer"};
  for (size_t i = 0; i < sizeof(kName) / sizeof(*kName); i++) {
    djtStep s = djt_openStep(djt_robot(kName[i]));
    djRng rng = {99 + (unsigned)i};
    djt_runStep(&s, &rng, 150, 25, 2e-6);
    report(&s, kName[i]);
    djt_closeStep(&s);
  }
}

// All sensors of MuJoCo, by formula or not.
static void testSensors(void) {
  djtStep s = djt_openStep(djt_compile(DJT_ZOO));
  djRng rng = {5};
  djt_runStep(&s, &rng, 60, 15, 4e-6);
  print_message("sensors: %.1e, #%d\n", s.sensor, s.which);
  report(&s, "zoo");
  assert_true(s.ns > 50 && s.sensor < 2e-6);
  djt_closeStep(&s);
}

// Springs, dampers and servos in the metric of integrator discrete.
static void testDiscrete(void) {
  djtStep s = djt_openStep(djt_compile(DJT_ZOO));
  djRng rng = {5};
  s.m->opt.integrator = mjINT_DISCRETE;
  s.m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_SENSOR;
  s.ns = 0;
  djt_runStep(&s, &rng, 60, 15, 1e-4);
  report(&s, "discrete");
  djt_closeStep(&s);
}

// ... and rows of constraints in that metric.
static void testDiscreteRows(void) {
  runModel(CONTACTS("elliptic"), mjINT_DISCRETE, true, "cones, discrete");
  runModel(CONTACTS("pyramidal"), mjINT_DISCRETE, true, "pyramids, discrete");
  runModel(BODY_ROWS, mjINT_DISCRETE, true, "rows, discrete");
  runModel(SITE_ROWS, mjINT_DISCRETE, true, "rows of sites, discrete");
  runModel(kDampers, mjINT_DISCRETE, true, "dampers, discrete");
  // nothing is added to the inertia
  runModel("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'><joint "
           "type='slide' axis='0 0 1' frictionloss='.5'/><joint axis='0 1 0' frictionloss='.01'/>"
           "<geom size='.11'/></body></worldbody></mujoco>",
           mjINT_DISCRETE, true, "bare, discrete");
  djtStep s = djt_openStep(djt_compile(CONTACTS("elliptic")));
  djRng rng = {5};
  s.m->opt.integrator = mjINT_DISCRETE;
  s.m->opt.density = 900;   // drag, with a kink where a body stands still, is part of the metric
  s.m->opt.viscosity = 0.4;
  djt_runStep(&s, &rng, 60, 15, 2e-6);
  report(&s, "cones in a fluid, discrete");
  djt_closeStep(&s);
  // a limit 4e-6 off the middle of its impedance's width, where that has a kink
  s = djt_openStep(djt_compile(
      "<mujoco><option integrator='discrete' gravity='0 0 9'/><worldbody><body><joint type='slide' "
      "limited='true' range='-1 .1'/><geom size='.1'/></body></worldbody></mujoco>"));
  s.d->qpos[0] = 0.1 + 0.000504;
  djt_compareStep(&s, 1e-6, 1e-6);
  report(&s, "limit, discrete");
  djt_closeStep(&s);
  s = djt_openStep(djt_compile(DJT_ZOO));
  s.m->opt.integrator = mjINT_DISCRETE;
  djt_runStep(&s, &rng, 60, 15, 4e-6);
  print_message("sensors: %.1e, #%d\n", s.sensor, s.which);
  report(&s, "zoo, discrete");
  assert_true(s.sensor < 2e-6);
  djt_closeStep(&s);
}

// ---- what is dropped is missed ------------------------------------------------------------------

static void testDropped(void) {
  static const struct {
    int drop;
    const char *text, *name;
  } kCase[] = {
    {DJM_DROP_FORCE, CONTACTS("elliptic"), "dJ^T f of contacts"},
    {DJM_DROP_FORCE, BODY_ROWS, "dJ^T f of others"},
    {DJM_DROP_IMPEDANCE, CONTACTS("pyramidal"), "dD of contacts"},
    {DJM_DROP_IMPEDANCE, BODY_ROWS, "dD of others"},
    {DJM_DROP_REFERENCE, CONTACTS("elliptic"), "daref of contacts"},
    {DJM_DROP_REFERENCE, BODY_ROWS, "daref of others"},
    {DJM_DROP_CURVATURE, CONTACTS("elliptic"), "the cone's block"},
    {DJM_DROP_FEATURE, CONTACTS("elliptic"), "the features' motion"},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    djtStep s = djt_openStep(djt_compile(kCase[i].text));
    djRng rng = {12345};
    s.w->drop = kCase[i].drop;
    push(&s, &rng);
    djt_runStep(&s, &rng, 30, 15, 2e-6);
    print_message("without %s: %.1e\n", kCase[i].name, s.worst);
    assert_true(s.states > 0);
    assert_true(s.worst > 100 * kTolerance);
    djt_closeStep(&s);
  }
}

// ---- the call -----------------------------------------------------------------------------------

// The step's data stay as they are, and either matrix may be left out.
static void testCall(void) {
  djtStep s = djt_openStep(djt_robot("ant"));
  djRng rng = {7};
  djt_runStep(&s, &rng, 20, 20, 2e-6);
  int size = (int)mj_stateSize(s.m, mjSTATE_INTEGRATION), n = s.nx * s.nx;
  double *before = djt_room((size_t)size), *after = djt_room((size_t)size);
  double* A = djt_room((size_t)n);
  djError err;
  mj_forward(s.m, s.d);
  mj_getState(s.m, s.d, before, mjSTATE_INTEGRATION);
  double acc = s.d->qacc[3];
  assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, A, NULL, NULL, NULL, &err), DJ_OK);
  mj_getState(s.m, s.d, after, mjSTATE_INTEGRATION);
  assert_memory_equal(before, after, (size_t)size * sizeof(double));
  assert_true(s.d->qacc[3] == acc);
  assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, NULL, s.B, NULL, NULL, &err), DJ_OK);
  assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
  assert_memory_equal(A, s.A, (size_t)n * sizeof(double));
  mju_zero(A, n);
  assert_int_equal(djm_transitionMuJoCo(s.m, s.d, A, NULL, NULL, NULL), DJ_OK);
  assert_memory_equal(A, s.A, (size_t)n * sizeof(double));
  s.m->opt.integrator = mjINT_RK4;
  assert_int_equal(djm_transitionMuJoCo(s.m, s.d, A, NULL, NULL, NULL), DJ_UNSUPPORTED);
  free(before);
  free(after);
  free(A);
  djt_closeStep(&s);
}

// A solver that stops early is gone on with.
static void testUnsolved(void) {
  for (int solver = 0; solver < 3; solver++) {
    djtStep s = djt_openStep(djt_compile(CONTACTS("elliptic")));
    djRng rng = {3};
    djError err;
    djt_runStep(&s, &rng, 10, 10, 2e-6);
    int n = s.nx * s.nx;
    double *A = djt_room((size_t)n), worst = 0;
    assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, A, NULL, NULL, NULL, &err), DJ_OK);
    s.m->opt.solver = solver;
    s.m->opt.iterations = 2;
    assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
    const djmTransitionInfo* info = djm_transitionInfo(s.w);
    for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(A[i] - s.A[i]) / fmax(1, fabs(A[i])));
    print_message("solver %d: found %.1e, %d more steps, %.1e; %.1e\n", solver, info->found,
                  info->newton, info->residual, worst);
    assert_true(info->found > 1e-8 && info->newton > 0 && info->residual < 1e-12);
    assert_true(worst < 1e-6);
    free(A);
    djt_closeStep(&s);
  }
}

#define PLAIN(option, body, more)                                                                 \
  "<mujoco><option " option "/><worldbody><geom name='floor' type='plane' size='1 1 1'/>"         \
  "<body pos='0 0 .1'><joint name='j' type='slide' axis='0 0 1' " body "/>"                       \
  "<geom name='ball' size='.1'/></body></worldbody>" more "</mujoco>"

static void testRefused(void) {
  static const struct {
    const char *text, *name;
  } kCase[] = {
    {PLAIN("integrator='RK4'", "", ""), "RK4"},
    {PLAIN("noslip_iterations='3'", "", ""), "noslip_iterations"},
    {"<mujoco><option><flag sleep='enable'/></option></mujoco>", "sleep"},
    {"<mujoco><option><flag diagexact='enable'/></option></mujoco>", "diagexact"},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    mjModel* m = djt_compile(kCase[i].text);
    mjData* d = mj_makeData(m);
    djmTransitionWork* w;
    djError err;
    mjtNum A[4];
    assert_int_equal(djm_makeTransitionWork(&w, m, &err), DJ_OK);
    assert_int_equal(djm_transitionMuJoCoWith(m, d, w, A, NULL, NULL, NULL, &err), DJ_UNSUPPORTED);
    if (!strstr(err.text, kCase[i].name)) fail_msg("%s: %s", kCase[i].name, err.text);
    djm_deleteTransitionWork(w);
    djt_deleteEngine(m, d);
  }
}

DJT_MAIN(testContacts, testDampers, testRows, testRobots, testSensors, testDiscrete,
         testDiscreteRows, testDropped, testCall, testUnsolved, testRefused)
