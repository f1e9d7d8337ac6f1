// djm_transitionMuJoCoWith of random models against differences of mj_step.

#include "common/mj_random_tree.h"
#include "common/mj_step_slope.h"
#include "common/test.h"

// MuJoCo's search ends on a simplex of a curved surface, whose derivative is the surface's to 1e-5.
static const double kTolerance = 1e-6, kWorst = 1e-4;

// The least error by three steps of differences: kinks and curvature ask for small ones, stiff
// models for large ones. Negative: none agrees.
static double errorAt(djtStep* s) {
  static const double kStep[3] = {2e-6, 3e-7, 2e-5};
  double least = -1;
  for (int i = 0; i < 3; i++) {
    int states = s->states;
    s->worst = 0;
    djt_compareStep(s, kStep[i], 3e-7);
    if (s->states > states && (least < 0 || s->worst < least)) least = s->worst;
    if (least >= 0 && least < 1e-7) break;
  }
  return least;
}

typedef struct Total {
  int models, states, left, coarse, failed, unstable;
} Total;

static void runTree(Total* total, unsigned seed) {
  char* text = djt_randomTree(seed);
  djtStep s = djt_openStep(djt_compile(text));
  djRng rng = {seed + 17};
  s.ns = 0;
  s.m->opt.iterations = 40;
  s.m->opt.ls_iterations = 50;
  s.m->opt.ccd_tolerance = mjMINVAL;
  for (int i = 0; i < s.nv; i++) s.d->qvel[i] = djt_uniform(&rng, -0.5, 0.5);
  for (int i = 1; i <= 30; i++) {
    for (int u = 0; u < s.nu; u++) s.d->ctrl[u] = djt_uniform(&rng, -1, 1);
    mj_step(s.m, s.d);
    if (s.d->warning[mjWARN_BADQACC].number > 0 || mju_norm(s.d->qvel, s.nv) > 300) {
      total->unstable++;
      break;
    }
    if (i % 10) continue;
    double error = errorAt(&s);
    total->states += error >= 0;
    total->left += error < 0;
    if (error <= kTolerance) continue;
    const djmTransitionInfo* info = djm_transitionInfo(s.w);
    bool named = info->features[DJM_FEATURE_KINK] > 0;
    print_message("seed %u, step %d: %.1e%s\n", seed, i, error, named ? ", a named kink" : "");
    total->coarse += !named;
    total->failed += error > kWorst && !named;
  }
  total->models++;
  djt_closeStep(&s);
  free(text);
}

static void testTrees(void) {
  const char* many = getenv("DIJOCO_RANDOM_TREES");
  unsigned n = many ? (unsigned)atoi(many) : 40;
  Total total = {0};
  for (unsigned seed = 1; seed <= n; seed++) runTree(&total, seed);
  print_message("%d models, %d states compared, %d left out, %d unstable; %d above %.0e\n",
                total.models, total.states, total.left, total.unstable, total.coarse, kTolerance);
  assert_true(total.states > total.models);
  assert_true(20 * total.coarse < total.states);
  assert_int_equal(total.failed, 0);
}

// Solvers that stop early: the derivative is that of the solution all the same.
static void testUnsolved(void) {
  int cases = 0, open = 0;
  double worst = 0, found = 0;
  for (unsigned seed = 1; seed <= 12; seed++) {
    char* text = djt_randomTree(seed);
    djtStep s = djt_openStep(djt_compile(text));
    djRng rng = {seed};
    djError err;
    for (int i = 0; i < s.nv; i++) s.d->qvel[i] = djt_uniform(&rng, -0.5, 0.5);
    for (int i = 0; i < 12; i++) mj_step(s.m, s.d);
    int n = s.nx * s.nx;
    double* A = djt_room((size_t)n);
    assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, A, NULL, NULL, NULL, &err), DJ_OK);
    for (int k = 0; k < 18; k++) {
      static const int iterations[] = {1, 2, 3, 4, 5, 20};
      s.m->opt.solver = k % 3;
      s.m->opt.iterations = iterations[k / 3];
      s.m->opt.tolerance = 1e-3;
      for (int i = 0; i < s.nv; i++) s.d->qacc_warmstart[i] = djt_uniform(&rng, -100, 100);
      assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
      const djmTransitionInfo* info = djm_transitionInfo(s.w);
      found = djt_worst(found, info->found);
      cases++;
      open += info->residual > 1e-10;
      for (int i = 0; i < n; i++) {
        worst = djt_worst(worst, fabs(A[i] - s.A[i]) / fmax(1, fabs(A[i])));
      }
    }
    free(A);
    djt_closeStep(&s);
    free(text);
  }
  print_message("%d cases, found up to %.1e, %d open: %.1e\n", cases, found, open, worst);
  assert_int_equal(open, 0);
  assert_true(worst < 1e-7);
}

// A contact without a derivative: the end of a capsule at the centre of a ball. Along a joint that
// turns about that end it has one, which no component of the twist about the capsule's own centre
// has; what it does to the other joint tells.
static void testBeside(void) {
  djtStep s = djt_openStep(djt_compile(
      "<mujoco><worldbody><geom size='.1'/><body><joint axis='0 0 1' pos='-.3 .5 0'/><inertial "
      "pos='-.3 .5 0' mass='1' diaginertia='.1 .1 .1'/><body><joint axis='0 0 1'/><geom "
      "type='capsule' fromto='0 0 0 .4 0 .1' size='.05'/></body></body></worldbody></mujoco>"));
  djError err;
  double column[4], error = 0;
  s.d->qvel[0] = 0.3;
  s.d->qvel[1] = 1;
  mj_copyData(s.next, s.m, s.d);
  mj_step(s.m, s.next);
  assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
  assert_int_equal(djm_transitionInfo(s.w)->features[DJM_FEATURE_KINK], 1);
  assert_true(djt_column(column, &s, 1, 1e-5));
  for (int i = 0; i < 4; i++) {
    error = djt_worst(error, fabs(column[i] - s.A[4 * i + 1]) / fmax(1, fabs(column[i])));
  }
  djt_below("beside a kink", error, 1e-7);
  djt_closeStep(&s);
}

// A hinge at its range's end, a ball that just touches a plane, friction that just slips, a box
// whose corners are above the edges of another: named.
static void testNames(void) {
  static const struct {
    const char *text, *name;
  } kCase[] = {
    {"<mujoco><option gravity='0 0 0'/><compiler autolimits='true'/><worldbody><body><joint "
     "name='door' range='0 90'/><geom size='.1'/></body></worldbody></mujoco>",
     "limit of joint 'door': "},
    {"<mujoco><option gravity='0 0 0'/><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
     "<body pos='0 0 .0999999'><freejoint/><geom name='ball' size='.1' solref='.02 1'/></body>"
     "</worldbody></mujoco>",
     "contact of geoms 'floor' and 'ball': "},
    {"<mujoco><option gravity='0 0 0'/><worldbody><body pos='0 0 1'><joint name='wheel' "
     "axis='0 0 1' damping='0' frictionloss='.1'/><geom size='.1'/></body></worldbody>"
     "<actuator><motor joint='wheel' gear='1'/></actuator></mujoco>",
     "friction loss of joint 'wheel': "},
    {"<mujoco><option gravity='0 0 0'/><worldbody><geom name='low' type='box' size='.1 .2 .1'/>"
     "<body pos='0 .03 .1999'><freejoint/><geom name='high' type='box' size='.1 .1 .1'/></body>"
     "</worldbody></mujoco>",
     "contact of geoms 'low' and 'high': passes to another vertex"},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    djtStep s = djt_openStep(djt_compile(kCase[i].text));
    djError err;
    char text[200];
    // friction loss slips where the force is its bound: by the row's D from a first evaluation
    for (int pass = 0; pass < 2; pass++) {
      assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
      const mjData* d = s.w->d;
      if (s.nu && pass == 0) s.d->ctrl[0] = 0.1 * (1 + d->M[0] / d->efc_D[0]);
    }
    const djmTransitionInfo* info = djm_transitionInfo(s.w);
    assert_true(info->nkink > 0);
    djm_kinkText(text, s.m, &info->kink[0]);
    print_message("%s\n", text);
    assert_ptr_equal(strstr(text, kCase[i].name), text);
    // away from it there is none
    if (s.nu) s.d->ctrl[0] = 0;
    else s.d->qpos[s.m->nq > 1 ? 2 : 0] += 0.05;
    assert_int_equal(djm_transitionMuJoCoWith(s.m, s.d, s.w, s.A, NULL, NULL, NULL, &err), DJ_OK);
    assert_int_equal(info->nkink, 0);
    djt_closeStep(&s);
  }
}

DJT_MAIN(testTrees, testUnsolved, testBeside, testNames)
