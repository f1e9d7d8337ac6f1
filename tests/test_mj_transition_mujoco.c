// djm_transitionMuJoCo against differences of mj_step: every kind of row, every integrator, robots;
// what is dropped is missed; what is refused is named.

#include "common/mj_step_slope.h"
#include "derivative/motion.h"
#include "derivative/rows.h"
#include "derivative/slope_error.h"
#include "derivative/spatial.h"

// Bodies that touch in contacts of all dimensions, with unequal friction, direct and standard
// references, adopted by pairs, and one whose friction has a reference of its own.
#define CONTACTS(cone)                                                                            \
  "<mujoco><option timestep='0.002' cone='" cone "' impratio='3'/>"                               \
  "<default><geom solimp='.8 .95 .02 .4 3' solref='.02 .9' friction='.7 .02 .01'/></default>"     \
  "<worldbody><geom type='plane' size='5 5 .1' condim='3'/>"                                      \
  "<body pos='0 0 .1'><freejoint/><geom type='box' size='.2 .15 .1' condim='4'/>"                 \
  "<body pos='.3 0 .1'><joint type='ball' damping='.1'/>"                                         \
  "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.05' condim='6'/></body></body>"              \
  "<body pos='0 .05 .27'><freejoint/><geom size='.08' condim='6' priority='1' "                   \
  "friction='.5 .03 .02'/></body>"                                                                \
  "<body pos='1 0 .1'><freejoint/><geom size='.1' condim='1'/><geom size='.08' pos='.3 0 0' "     \
  "condim='3'/></body>"                                                                           \
  "<body pos='1.1 .02 .29'><freejoint/><geom size='.1' condim='3' solref='-800 -30'/></body>"     \
  "<body pos='2 0 .09'><freejoint/><geom name='a' size='.1'/></body>"                             \
  "<body pos='2.12 .05 .19'><joint type='slide' axis='0 0 1'/><joint axis='0 1 .3'/>"             \
  "<joint axis='1 0 .3' pos='.1 0 0'/><geom name='b' size='.1'/></body></worldbody>"              \
  "<contact><pair geom1='a' geom2='b' condim='3' friction='.9 .3 .01 .01 .02' "                   \
  "solreffriction='.05 1.1'/></contact></mujoco>"

// An arm with limits and friction loss on all kinds of joints, tendons of both kinds; equalities.
#define ROWS(connect, weld)                                                                       \
  "<mujoco><option timestep='0.002'><flag contact='disable'/></option>"                           \
  "<compiler autolimits='true'/><worldbody>"                                                      \
  "<body pos='0 0 2'><joint type='ball' range='0 20' solimplimit='.7 .95 .3 .3 2.5' "             \
  "damping='.1' frictionloss='.05'/><geom type='capsule' fromto='0 0 0 .3 0 -.1' size='.03'/>"    \
  "<body pos='.3 0 -.1'><joint axis='0 1 .2' range='-10 10' margin='.02' frictionloss='.3' "      \
  "damping='.05'/><geom type='capsule' fromto='0 0 0 .25 .1 0' size='.03'/>"                      \
  "<body name='tip' pos='.25 .1 0'><joint axis='1 0 .3' solreflimit='-300 -20' range='-5 8'/>"    \
  "<joint type='slide' axis='0 .2 1' range='-.05 .05' stiffness='20'/><geom size='.06'/>"         \
  "<site name='s3' pos='0 0 .05'/></body></body></body>"                                          \
  "<body name='c' pos='.5 .2 2'><freejoint/><geom type='box' size='.1 .08 .05'/>"                 \
  "<site name='s2' pos='.05 .02 .03' euler='-30 5 60'/></body>"                                   \
  "<body name='e' pos='.9 .2 2'><freejoint/><geom type='box' size='.1 .08 .05'/>"                 \
  "<site name='s4' pos='-.05 .02 .03'/></body>"                                                   \
  "<body pos='0 1 1.5'><joint name='j1' axis='0 1 0' damping='.02'/>"                             \
  "<geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/><body pos='.1 0 -.4'>"                \
  "<joint name='j2' axis='1 1 0' damping='.01'/><geom type='capsule' fromto='0 0 0 .1 0 -.2' "    \
  "size='.03'/><site name='s5' pos='0 0 -.15'/></body></body>"                                    \
  "<body pos='0 1.5 1.5'><joint name='j3' axis='0 1 1' damping='.02'/>"                           \
  "<geom type='capsule' fromto='0 0 0 .1 0 -.4' size='.03'/><site name='s6' pos='0 0 -.25'/>"     \
  "</body><site name='w' pos='1.2 .3 2.5'/><site name='w2' pos='0 1.2 1.8'/></worldbody>"         \
  "<tendon><spatial range='0 .55' frictionloss='.2' solimpfriction='.8 .9 .01'><site site='w'/>"  \
  "<site site='s4'/></spatial><fixed range='-.05 .05' frictionloss='.1' armature='.05'>"          \
  "<joint joint='j1' coef='1'/><joint joint='j2' coef='-.7'/></fixed>"                            \
  "<spatial name='t3' armature='.05'><site site='w2'/><site site='s5'/></spatial>"                \
  "<spatial name='t4' damping='.3'><site site='w2'/><site site='s6'/></spatial></tendon>"         \
  "<equality><connect " connect " solimp='.8 .95 .1 .5 2'/><weld " weld " torquescale='.7' "      \
  "solimp='.8 .95 .05 .5 2'/>"                                                                    \
  "<joint joint1='j3' joint2='j1' polycoef='.1 .8 .5 -.2 .1' solimp='.8 .95 .5 .5 2'/>"           \
  "<tendon tendon1='t3' tendon2='t4' polycoef='.02 .8 .9' solimp='.8 .95 .1 .5 2'/></equality>"   \
  "</mujoco>"

// A belt, and a ball with a surface that turns.
static const char kBelts[] =
  "<mujoco><option timestep='0.002' cone='elliptic'/><default><geom condim='6' "
  "friction='.8 .05 .03'/></default><worldbody>"
  "<body pos='0 0 .5'><joint axis='0 1 .1'/><joint type='slide' axis='0 0 1' stiffness='800' "
  "damping='20'/><geom type='box' size='.5 .3 .05' surfacevel='.4 .1 .2 .3 -.2 .5'/></body>"
  "<body pos='.1 .02 .64'><freejoint/><geom size='.1' surfacevel='0 0 0 1 2 3'/></body>"
  "<body pos='-.2 .02 .62'><freejoint/><geom type='box' size='.1 .08 .08'/></body>"
  "</worldbody></mujoco>";

// What sticks, also across a gap.
#define STICKY(cone)                                                                              \
  "<mujoco><option timestep='0.002' cone='" cone "'/><default><geom condim='4' gap='.02' "        \
  "margin='.02' adhesion='3'/></default><worldbody>"                                              \
  "<body pos='0 0 .5'><joint axis='0 1 .1' damping='.1' stiffness='30'/>"                         \
  "<geom type='box' size='.5 .3 .05'/></body>"                                                    \
  "<body pos='.1 .02 .645'><freejoint/><geom size='.1' mass='.2'/></body>"                        \
  "<body pos='-.2 .02 .66'><freejoint/><geom size='.1' mass='.2'/></body>"                        \
  "</worldbody></mujoco>"

// Strong dampers that are not linear, a fluid, a heavy tendon: what integrators solve with varies.
static const char kDampers[] =
  "<mujoco><option timestep='0.005' density='900' viscosity='.4'/><worldbody>"
  "<site name='w' pos='.3 .2 .6'/>"
  "<body><joint axis='0 1 .2' damping='.3 .2 .1'/><geom type='capsule' fromto='0 0 0 .4 0 0' "
  "size='.03'/><body pos='.4 0 0'><joint type='ball' damping='.1 .05 .02'/>"
  "<geom type='capsule' fromto='0 0 0 .3 .1 0' size='.03'/><site name='s' pos='.2 .1 0'/>"
  "</body></body><body pos='0 1 0'><freejoint/><geom type='box' size='.1 .05 .2'/></body>"
  "</worldbody><tendon><spatial armature='3' damping='1'><site site='w'/><site site='s'/>"
  "</spatial></tendon></mujoco>";

#define BODY_ROWS                                                                                 \
  ROWS("body1='tip' body2='c' anchor='0 0 .02'",                                                  \
       "body1='c' body2='e' relpose='-.35 .02 .03 1 .1 .05 -.02'")
#define SITE_ROWS ROWS("site1='s3' site2='s2'", "site1='s2' site2='s4'")

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

static void testContacts(void** state) {
  (void)state;
  runModel(CONTACTS("elliptic"), mjINT_EULER, true, "cones");
  runModel(CONTACTS("pyramidal"), mjINT_EULER, true, "pyramids");
  runModel(CONTACTS("elliptic"), mjINT_IMPLICITFAST, true, "cones, implicitfast");
  runModel(CONTACTS("pyramidal"), mjINT_IMPLICIT, true, "pyramids, implicit");
  runModel(kBelts, mjINT_EULER, true, "belts");
  runModel(STICKY("elliptic"), mjINT_EULER, true, "adhesion, cones");
  runModel(STICKY("pyramidal"), mjINT_EULER, true, "adhesion, pyramids");
}

static void testDampers(void** state) {
  (void)state;
  runModel(kDampers, mjINT_EULER, true, "dampers");
  runModel(kDampers, mjINT_IMPLICIT, true, "dampers, implicit");
  runModel(kDampers, mjINT_IMPLICITFAST, true, "dampers, implicitfast");
}

static void testRows(void** state) {
  (void)state;
  runModel(BODY_ROWS, mjINT_EULER, true, "rows");
  runModel(BODY_ROWS, mjINT_EULER, false, "rows without eulerdamp");
  runModel(SITE_ROWS, mjINT_IMPLICIT, true, "rows of sites, implicit");
  runModel(SITE_ROWS, mjINT_IMPLICITFAST, true, "rows of sites, implicitfast");
}

static void testRobots(void** state) {
  (void)state;
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
static void testSensors(void** state) {
  (void)state;
  djtStep s = djt_openStep(djt_compile(DJT_ZOO));
  djRng rng = {5};
  djt_runStep(&s, &rng, 60, 15, 4e-6);
  print_message("sensors: %.1e, #%d\n", s.sensor, s.which);
  report(&s, "zoo");
  assert_true(s.ns > 50 && s.sensor < 2e-6);
  djt_closeStep(&s);
}

// Springs, dampers and servos in the metric of integrator discrete.
static void testDiscrete(void** state) {
  (void)state;
  djtStep s = djt_openStep(djt_compile(DJT_ZOO));
  djRng rng = {5};
  s.m->opt.integrator = mjINT_DISCRETE;
  s.m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_SENSOR;
  s.ns = 0;
  djt_runStep(&s, &rng, 60, 15, 1e-4);
  report(&s, "discrete");
  djt_closeStep(&s);
}

// ---- what is dropped is missed ------------------------------------------------------------------

static void testDropped(void** state) {
  (void)state;
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
static void testCall(void** state) {
  (void)state;
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
  assert_int_equal(djm_transitionMuJoCo(s.m, s.d, s.w, A, NULL, NULL, NULL, &err), DJ_OK);
  mj_getState(s.m, s.d, after, mjSTATE_INTEGRATION);
  assert_memory_equal(before, after, (size_t)size * sizeof(double));
  assert_true(s.d->qacc[3] == acc);
  assert_int_equal(djm_transitionMuJoCo(s.m, s.d, s.w, NULL, s.B, NULL, NULL, &err), DJ_OK);
  assert_int_equal(djm_transitionMuJoCo(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
  assert_memory_equal(A, s.A, (size_t)n * sizeof(double));
  free(before);
  free(after);
  free(A);
  djt_closeStep(&s);
}

// A solver that stops early is gone on with.
static void testUnsolved(void** state) {
  (void)state;
  for (int solver = 0; solver < 3; solver++) {
    djtStep s = djt_openStep(djt_compile(CONTACTS("elliptic")));
    djRng rng = {3};
    djError err;
    djt_runStep(&s, &rng, 10, 10, 2e-6);
    int n = s.nx * s.nx;
    double *A = djt_room((size_t)n), worst = 0;
    assert_int_equal(djm_transitionMuJoCo(s.m, s.d, s.w, A, NULL, NULL, NULL, &err), DJ_OK);
    s.m->opt.solver = solver;
    s.m->opt.iterations = 2;
    assert_int_equal(djm_transitionMuJoCo(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
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

static void testRefused(void** state) {
  (void)state;
  static const struct {
    const char *text, *name;
  } kCase[] = {
    {PLAIN("integrator='RK4'", "", ""), "RK4"},
    {PLAIN("integrator='discrete'", "frictionloss='1'", ""), "discrete"},
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
    assert_int_equal(djm_transitionMuJoCo(m, d, w, A, NULL, NULL, NULL, &err), DJ_UNSUPPORTED);
    if (!strstr(err.text, kCase[i].name)) fail_msg("%s: %s", kCase[i].name, err.text);
    djm_deleteTransitionWork(w);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(testContacts), cmocka_unit_test(testDampers),
    cmocka_unit_test(testRows), cmocka_unit_test(testRobots),
    cmocka_unit_test(testSensors), cmocka_unit_test(testDiscrete),
    cmocka_unit_test(testDropped), cmocka_unit_test(testCall),
    cmocka_unit_test(testUnsolved), cmocka_unit_test(testRefused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
