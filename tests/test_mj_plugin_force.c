// The plugin dijoco.contact away from contact: every force that MuJoCo has acts once, be it carried
// by our step or left to MuJoCo. In the limit of small steps accelerations are those of stock
// MuJoCo, for random models with all kinds of forces.

#include "common/mj_forks.h"
#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/dijoco.h>

#define PLUGIN(config)                                                                            \
  "<extension><plugin plugin='dijoco.contact'><instance name='dj'>" config                        \
  "<config key='tolerance' value='1e-12'/><config key='contact' value='none'/></instance>"        \
  "</plugin></extension>"

static const int kIntegrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST, mjINT_DISCRETE};

// The text with the plugin.
static mjModel* withPlugin(const char* text) {
  const char* place = strstr(text, "<compiler");
  size_t size = strlen(text) + sizeof(PLUGIN("")) + 1;
  char* scene = malloc(size);
  assert_true(scene && place);
  snprintf(scene, size, "%.*s" PLUGIN("") "%s", (int)(place - text), text, place);
  mjModel* m = djt_compile(scene);
  free(scene);
  return m;
}

// acc (nv) = (v+ - v)/h of one step with the plugin.
static void rates(mjtNum* acc, mjModel* m, const mjData* start, double h) {
  m->opt.timestep = h;
  mjData* d = mj_copyData(NULL, m, start);
  mj_step(m, d);
  for (int i = 0; i < m->nv; i++) acc[i] = (d->qvel[i] - start->qvel[i]) / h;
  mj_deleteData(d);
}

// Largest difference of accelerations, relative to the largest of them: of steps h and h/2,
// extrapolated to 0, for the better of two h.
static double compare(mjModel* m, mjData* d) {
  int n = (int)m->nv;
  mjtNum* acc = calloc(3 * (size_t)n + 1, sizeof(*acc));
  assert_non_null(acc);
  mjModel stock = *m;
  stock.nplugin = 0;
  stock.opt.integrator = mjINT_EULER;   // with others qacc depends on the timestep
  mjData* plain = mj_makeData(&stock);
  djt_copyState(plain, d, m);
  mju_copy(plain->mocap_pos, d->mocap_pos, 3 * (int)m->nmocap);
  mj_forward(&stock, plain);
  double best = INFINITY;
  for (double h = 1e-4; h > 5e-6; h /= 10) {
    double largest = 1, difference = 0;
    rates(acc, m, d, h);
    rates(acc + n, m, d, h / 2);
    for (int i = 0; i < n; i++) {
      largest = djt_worst(largest, fabs(plain->qacc[i]));
      difference = djt_worst(difference, fabs(2 * acc[n + i] - acc[i] - plain->qacc[i]));
    }
    best = fmin(best, difference / largest);
  }
  mj_deleteData(plain);
  free(acc);
  return best;
}

// How many of its forces a random model has.
typedef struct Seen {
  int tendons, wrapped, muscles, actgravcomp, groups, dampers;
} Seen;

static void count(Seen* seen, const mjModel* m) {
  bool live = !djm_disabled(m, mjDSBL_ACTUATION);
  for (int i = 0; i < m->ntendon; i++) {
    seen->tendons += m->ten_J_rownnz[i] > 0;
    seen->wrapped += m->ten_J_rownnz[i] > 0 && djm_tendonWraps(m, i);
  }
  for (int i = 0; i < m->nactuator; i++) {
    seen->muscles += live && m->actuator_gaintype[i] == mjGAIN_MUSCLE;
    seen->groups += live && !djm_actuatorLive(m, i);
    seen->dampers += m->actuator_trntype[i] == mjTRN_TENDON && !djm_disabled(m, mjDSBL_DAMPER);
  }
  for (int j = 0; j < m->njnt; j++) {
    bool carries = m->body_gravcomp[m->jnt_bodyid[j]] > 0 && !djm_disabled(m, mjDSBL_GRAVITY);
    seen->actgravcomp += live && m->jnt_actgravcomp[j] && carries;
  }
}

// MuJoCo drops what actuators compensate where there is none; ours does not: see the report.
static bool dropsCompensation(const mjModel* m) {
  bool any = false;
  for (int j = 0; j < m->njnt; j++) any = any || m->jnt_actgravcomp[j];
  return any && (m->nactuator == 0 || djm_disabled(m, mjDSBL_ACTUATION));
}

static void testRandom(void) {
  djRng rng = {51};
  Seen seen = {0};
  double worst = 0;
  for (int trial = 0; trial < 150; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 6, DJT_MJCF_ACTUATORS | DJT_MJCF_MOCAP |
                                                         DJT_MJCF_SMOOTH | DJT_MJCF_REST |
                                                         DJT_MJCF_TENDONS);
    assert_non_null(text);
    if (strstr(text, "spring=\"disable\"") && strstr(text, "damper=\"disable\"")) {
      free(text);
      continue;   // no plugin there
    }
    mjModel* m = withPlugin(text);
    m->opt.disableflags |= mjDSBL_CONTACT;
    m->opt.integrator = kIntegrators[trial % 4];
    djt_withoutForks(m);
    for (int i = 0; i < m->nactuator; i++) m->actuator_actearly[i] = 0;   // looks one step ahead
    mjData* d = mj_makeData(m);
    djt_shake(d, &rng, m, 0.5, 1);
    if (!dropsCompensation(m)) {
      double difference = compare(m, d);
      worst = djt_worst(worst, difference);
      if (!(difference < 3e-4)) fail_msg("trial %d: %g\n%.9000s", trial, difference, text);
      count(&seen, m);
    }
    djt_deleteEngine(m, d);
    free(text);
  }
  print_message("largest relative difference %.2g; tendons %d, %d around geoms, muscles %d, "
                "compensation %d, groups %d, dampers %d\n", worst, seen.tendons, seen.wrapped,
                seen.muscles, seen.actgravcomp, seen.groups, seen.dampers);
  assert_true(seen.tendons > 200 && seen.wrapped > 30 && seen.muscles > 20);
  assert_true(seen.actgravcomp > 10);
  assert_true(seen.groups > 10 && seen.dampers > 50);
}

// ------------------------------ friction loss ---------------------------------------------------

// A flywheel under a torque of three times its friction, beside one under half of it: whoever
// makes the friction, it acts once, in MuJoCo's step with the plugin and in ours; or not at all.
static void testFrictionLoss(void) {
  static const char* const choice[] = {"", "<config key='constraints' value='mujoco'/>",
                                       "<config key='constraints' value='dijoco'/>"};
  for (int run = 0; run < 2 * 2 * 6 * 4; run++) {
    char text[2000];
    int k = run / 2;
    bool off = k >= 6 * 4, tendon = run % 2;   // the first joint's is a tendon's
    snprintf(text, sizeof(text),
             "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>%s</instance>"
             "</plugin></extension><worldbody><body><joint name='a' axis='0 0 1' "
             "frictionloss='%d'/><inertial "
             "pos='0 0 0' mass='1' diaginertia='1 1 1'/></body><body><joint axis='0 0 1' "
             "frictionloss='2'/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body>"
             "</worldbody><tendon><fixed frictionloss='%d'><joint joint='a' coef='1'/></fixed>"
             "</tendon></mujoco>", choice[k / 2 % 3], tendon ? 0 : 2, tendon ? 2 : 0);
    mjModel* m = djt_compile(text);
    m->opt.integrator = kIntegrators[k / 6 % 4];
    if (off) m->opt.disableflags |= k % 5 ? mjDSBL_FRICTIONLOSS : mjDSBL_CONSTRAINT;
    mjData* d = mj_makeData(m);
    djmContext* c = djt_context(m);
    d->qfrc_applied[0] = 6;
    d->qfrc_applied[1] = 1;
    for (int i = 0; i < 200; i++) {
      if (k % 2) assert_true(djm_step(m, d, c) >= 0);
      else mj_step(m, d);
    }
    djt_near(d->qvel[0], (off ? 6 : 4) * d->time, 0.02 * 4 * d->time);
    djt_near(d->qvel[1], off ? d->time : 0, off ? 1e-3 : 0.05);
    djm_deleteContext(c);
    djt_deleteEngine(m, d);
  }
}

DJT_MAIN_IN(djt_registerContact, NULL, testRandom, testFrictionLoss)
