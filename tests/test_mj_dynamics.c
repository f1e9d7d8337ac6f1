// What the importer calls exact is: accelerations and activation rates of random models, in the
// limit of small steps, are MuJoCo's.

#include "common/mj_forks.h"
#include "common/mjcf.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

static void checkNear(double a, double b, const char* what, int i) {
  if (!(fabs(a - b) <= 1e-9 * fabs(b))) fail_msg("%s[%d]: %.17g is not %.17g", what, i, a, b);
}

static void randomState(djRng* rng, const mjModel* m, mjData* d) {
  mjtNum* step = calloc(m->nv, sizeof(*step));
  assert_true(step || m->nv == 0);
  for (int i = 0; i < m->nv; i++) {
    step[i] = djt_uniform(rng, -1, 1);
    d->qvel[i] = djt_uniform(rng, -1, 1);
    d->qfrc_applied[i] = djt_uniform(rng, -1, 1);
  }
  mj_integratePos(m, d->qpos, step, 1);
  free(step);
  for (int i = 0; i < m->na; i++) d->act[i] = djt_uniform(rng, -1, 1);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, -1, 1);
  for (int i = 0; i < 6 * m->nbody; i++) d->xfrc_applied[i] = djt_uniform(rng, -1, 1);
  for (int i = 0; i < 3 * m->nmocap; i++) d->mocap_pos[i] = djt_uniform(rng, -1, 1);
}

// (v+ - v)/h and (w+ - w)/h of one step of ours.
static void rates(mjtNum* acc, const mjModel* m, const mjData* start, djmContext* context,
                  double h) {
  djError err;
  djOption option = djm_model(context)->opt;
  option.timestep = h;
  option.tolerance = 1e-9 * h;   // of v+, relative to g h
  option.max_iterations = 50;
  if (dj_setOption(djm_model(context), &option, &err) < 0) fail_msg("%s", err.text);
  mjData* d = mj_copyData(NULL, m, start);
  djStatus status = djm_step(m, d, context);
  if (status < 0) fail_msg("%s", dj_errorText(djm_data(context)));
  for (int i = 0; i < m->nv; i++) acc[i] = (d->qvel[i] - start->qvel[i]) / h;
  for (int i = 0; i < m->na; i++) acc[m->nv + i] = (d->act[i] - start->act[i]) / h;
  mj_deleteData(d);
}

// Activations that MuJoCo integrates: not those of disabled actuators, whose rates it still fills.
static void stopDisabled(mjtNum* rate, const mjModel* m) {
  for (int i = 0; i < m->nactuator; i++) {
    if (m->actuator_actnum[i] && !djm_actuatorLive(m, i)) rate[m->actuator_actadr[i]] = 0;
  }
}

// Largest component-wise difference from MuJoCo, relative to the largest component: of the rates
// of steps h and h/2, extrapolated to 0, for the better of two h (truncation against rounding).
static double compare(djRng* rng, const mjModel* m) {
  int n = (int)(m->nv + m->na);
  mjData* d = mj_makeData(m);
  djmContext* context;
  djError err;
  if (djm_makeContext(&context, NULL, m, &err) < 0) fail_msg("%s", err.text);
  mjtNum* acc[3];
  for (int k = 0; k < 3; k++) {
    acc[k] = calloc(n + 1, sizeof(**acc));
    assert_non_null(acc[k]);
  }
  randomState(rng, m, d);
  mj_forward(m, d);
  mju_copy(acc[0], d->qacc, (int)m->nv);
  mju_copy(acc[0] + m->nv, d->act_dot, (int)m->na);
  stopDisabled(acc[0] + m->nv, m);
  double best = INFINITY;
  for (double h = 1e-4; h > 5e-6; h /= 10) {
    double largest = 1, difference = 0;
    rates(acc[1], m, d, context, h);
    rates(acc[2], m, d, context, h / 2);
    for (int i = 0; i < n; i++) {
      largest = djt_worst(largest, fabs(acc[0][i]));
      difference = djt_worst(difference, fabs(2 * acc[2][i] - acc[1][i] - acc[0][i]));
    }
    best = fmin(best, difference / largest);
  }
  for (int k = 0; k < 3; k++) free(acc[k]);
  djm_deleteContext(context);
  mj_deleteData(d);
  return best;
}

// extra: further features. limit: of differences.
static void checkAccelerations(int extra, unsigned seed, double limit) {
  djRng rng = {seed};
  double worst = 0;
  for (int trial = 0; trial < 200; trial++) {
    int features = DJT_MJCF_ACTUATORS | DJT_MJCF_MOCAP | DJT_MJCF_MESHES | DJT_MJCF_SMOOTH | extra;
    char* text = djt_randomMjcf(&rng, 1 + trial % 7, features);
    assert_non_null(text);
    mjModel* m = djt_compile(text);
    m->opt.disableflags |= mjDSBL_CONTACT;
    djt_withoutForks(m);
    m->opt.timestep = 1e-9;   // MuJoCo's early activations look one step ahead
    double difference = compare(&rng, m);
    worst = djt_worst(worst, difference);
    if (!(difference < limit)) fail_msg("trial %d: %g\n%.9000s", trial, difference, text);
    mj_deleteModel(m);
    free(text);
  }
  print_message("largest relative difference of accelerations: %.2g\n", worst);
}

static void testAccelerations(void) { checkAccelerations(0, 7, 3e-4); }

// The momentum of all bodies: linear, and angular about the origin.
static void testMomentum(void) {
  djRng rng = {27};
  for (int trial = 0; trial < 50; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 7, DJT_MJCF_MESHES);
    mjModel* m = djt_compile(text);
    mjData* d = mj_makeData(m);
    djmContext* context;
    djError err;
    if (djm_makeContext(&context, NULL, m, &err) < 0) fail_msg("%s", err.text);
    randomState(&rng, m, d);
    mj_forward(m, d);
    mj_subtreeVel(m, d);
    double expected[6], found[6], linear[3];
    mju_scl3(linear, d->subtree_linvel, m->body_subtreemass[0]);
    mju_cross(expected, d->subtree_com, linear);
    mju_addTo3(expected, d->subtree_angmom);
    mju_copy3(expected + 3, linear);
    djData* own = djm_data(context);
    mju_copy(own->qpos, d->qpos, (int)m->nq);
    mju_copy(own->qvel, d->qvel, (int)m->nv);
    assert_int_equal(dj_totalMomentum(found, djm_model(context), own), DJ_OK);
    double size = mju_norm(expected, 6);
    for (int i = 0; i < 6; i++) {
      djt_failIf(!(fabs(found[i] - expected[i]) <= 1e-12 * size),
                 "trial %d: momentum[%d] is %.17g, not %.17g", trial, i, found[i], expected[i]);
    }
    djm_deleteContext(context);
    djt_deleteEngine(m, d);
    free(text);
  }
}

// Tendons too, and actuators on them, on sites and by cranks: some of these models are stiffer.
static void testTendons(void) { checkAccelerations(DJT_MJCF_TENDONS, 17, 1e-3); }

// Both engines until they rest: final coordinate 0 or (free joint) 2.
static void restTwice(double out[2], const char* text, int coordinate, int steps) {
  mjModel* m = djt_compile(text);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* context;
  djError err;
  if (djm_makeContext(&context, NULL, m, &err) < 0) fail_msg("%s", err.text);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = e->ctrl[i] = 1;
  for (int i = 0; i < steps; i++) {
    assert_true(djm_step(m, d, context) >= 0);
    mj_step(m, e);
  }
  assert_true(fabs(d->qvel[coordinate]) < 1e-3 && fabs(e->qvel[coordinate]) < 1e-3);
  out[0] = d->qpos[coordinate];
  out[1] = e->qpos[coordinate];
  djm_deleteContext(context);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// A steady load sinks as deep into a limit as in MuJoCo, to the width over which it sets in (1 % of
// the range).
static void testLimitDepth(void) {
  static const char* const limits[] = {"", "solreflimit='.01 .7' solimplimit='.95 .98'",
                                       "solreflimit='-20000 -300'", "margin='.05'"};
  for (int i = 0; i < 4; i++) {
    char text[1000];
    double q[2];
    snprintf(text, sizeof(text),
             "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body><joint "
             "name='j' limited='true' range='-.2 .2' %s/><inertial pos='0 0 0' mass='1' "
             "diaginertia='.1 .1 .1'/></body></worldbody><actuator><motor joint='j' gear='200'/>"
             "</actuator></mujoco>", limits[i]);
    restTwice(q, text, 0, 5000);
    if (!(fabs(q[0] - q[1]) < 0.004)) fail_msg("%s: %g, MuJoCo %g", limits[i], q[0], q[1]);
  }
}

static void quiet(const char* text) { (void)text; }

// Stiffness and damping of a limit's reference are what MuJoCo makes of solref and solimp: both
// formats, mixed ones, the safety rule, with and without the integrator that has one of its own.
static void testSoftness(void) {
  djRng rng = {8};
  mjModel* m = djt_compile("<mujoco><worldbody><body><joint limited='true' range='-1 1' ref='90'/>"
                           "<geom size='.1'/></body></worldbody></mujoco>");
  mjData* d = mj_makeData(m);
  int direct = 0, mixed = 0;
  mju_user_warning = quiet;   // of mixed ones
  for (int trial = 0; trial < 2000; trial++) {
    double sign[2];
    for (int k = 0; k < 2; k++) sign[k] = djt_integer(&rng, 3) ? 1 : -100;
    m->jnt_solref[0] = sign[0] * djt_uniform(&rng, 0.001, 0.1);
    m->jnt_solref[1] = sign[1] * djt_uniform(&rng, 0.1, 2);
    m->jnt_solimp[0] = djt_uniform(&rng, -0.1, 1.1);
    m->opt.integrator = trial % 2 ? mjINT_DISCRETE : mjINT_EULER;
    // above 0.9995 the discrete integrator drops the damping: not followed
    m->jnt_solimp[1] = djt_uniform(&rng, -0.1, trial % 2 ? 0.999 : 1.1);
    m->opt.timestep = djt_uniform(&rng, 0.001, 0.05);
    m->opt.disableflags = djt_integer(&rng, 2) ? mjDSBL_REFSAFE : 0;
    mj_forward(m, d);
    assert_int_equal(d->nefc, 1);
    double k, b, dmin, dmax;
    djm_softness(&k, &b, &dmin, &dmax, m, m->jnt_solref, m->jnt_solimp);
    checkNear(k, d->efc_KBIP[0], "stiffness", trial);
    checkNear(b, d->efc_KBIP[1], "damping", trial);
    direct += sign[0] < 0 && sign[1] < 0;
    mixed += sign[0] * sign[1] < 0;
  }
  mju_user_warning = NULL;
  assert_true(direct > 100 && mixed > 500);
  djt_deleteEngine(m, d);
}

// Bodies rest at distance margin; gap has no part in it.
static void testMargin(void) {
  double z[2];
  restTwice(z, "<mujoco><worldbody><geom type='plane' size='1 1 1' margin='.01' gap='.004'/>"
               "<body pos='0 0 .12'><freejoint/><geom type='box' size='.1 .1 .1' margin='.005' "
               "gap='.1'/></body></worldbody></mujoco>", 2, 2000);
  if (!(fabs(z[0] - z[1]) < 1e-3)) fail_msg("%g, MuJoCo %g", z[0], z[1]);
  assert_true(fabs(z[1] - 0.115) < 1e-3);
}

// Recovery's weight of a geom is that of the inertia that its body shows to a push, MuJoCo's
// 1/body_invweight0 where no armature along tendons couples trees, and no more than its tree's.
static void testPush(void) {
  djRng rng = {14};
  int shown = 0;
  for (int k = 0; k < 40; k++) {
    char* text = djt_randomMjcf(&rng, 6, DJT_MJCF_ACTUATORS | DJT_MJCF_MESHES);
    assert_non_null(text);
    mjModel* m = djt_compile(text);
    djModel* x = djt_import(NULL, m);
    for (int g = 0; g < m->ngeom; g++) {
      const double w = m->body_invweight0[2 * m->geom_bodyid[g]], load = x->geom_load[g];
      const double own = w > 1e-14 ? x->contact.gravity / w : 0;
      checkNear(x->geom_push[g], fmin(own, load), "geom_push", g);
      shown += own > 0 && own < load;
    }
    dj_deleteModel(x);
    mj_deleteModel(m);
    free(text);
  }
  assert_true(shown > 40);
}

DJT_MAIN(testAccelerations, testMomentum, testTendons, testLimitDepth, testMargin, testSoftness,
         testPush)
