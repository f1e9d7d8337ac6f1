// Forces that MuJoCo has and our step has not (engine/rest.h): what MuJoCo loses when they are
// taken out of the model, and what callbacks add.

#include "engine/rest.h"

#include "common/mj_zoo.h"
#include "common/random_mjcf.h"
#include "common/test.h"
#include "common/worst.h"

static double callback;   // force on every dof

static void addPassive(const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nv; i++) d->qfrc_passive[i] += callback * (i + 1);
}

static bool isLeftOut(const mjModel* m, int i) {
  return djm_actuatorLive(m, i) && !djm_actuatorSupported(m, i);
}

// Without actuators that are left out.
static mjModel* without(const mjModel* m, int* actuators) {
  mjModel* n = mj_copyModel(NULL, m);
  assert_non_null(n);
  for (int i = 0; i < n->nactuator; i++) {
    if (!isLeftOut(m, i)) continue;
    (*actuators)++;
    n->actuator_gaintype[i] = mjGAIN_FIXED;
    n->actuator_biastype[i] = mjBIAS_NONE;
    mju_zero(n->actuator_gainprm + mjNGAIN * i, mjNGAIN);
  }
  return n;
}

static void forces(mjtNum* sum, const mjModel* m, mjData* d) {
  mj_fwdPosition(m, d);
  mj_fwdVelocity(m, d);
  mj_fwdActuation(m, d);
  mju_add(sum, d->qfrc_passive, d->qfrc_actuator, (int)m->nv);
}

// Error of the rest at d's state, relative to all forces.
static double restError(const mjModel* m, mjData* d, int* actuators) {
  int nv = (int)m->nv;
  mjModel* n = without(m, actuators);
  mjData* e = mj_copyData(NULL, m, d);
  mjtNum* v = calloc(3 * (size_t)nv + 1, sizeof *v);
  assert_true(e && v);
  mjtNum *all = v, *less = v + nv, *rest = v + 2 * nv;
  callback = 0;
  forces(all, m, d);
  forces(less, n, e);
  callback = 0.25;
  mj_fwdPosition(m, d);
  mj_fwdVelocity(m, d);
  djm_restForce(rest, m, d);
  double worst = 0, size = 1;
  for (int i = 0; i < nv; i++) {
    size = djt_worst(size, fabs(all[i]) + fabs(less[i]));
    worst = djt_worst(worst, fabs(rest[i] - (all[i] - less[i]) - 0.25 * (i + 1)));
  }
  free(v);
  djt_deleteEngine(n, e);
  return worst / size;
}

static void testRandom(void) {
  djRng rng = {61};
  int actuators = 0;
  double worst = 0;
  mjcb_passive = addPassive;
  for (int trial = 0; trial < 200; trial++) {
    char* text = djt_randomMjcf(&rng, 1 + trial % 6, DJT_MJCF_ACTUATORS | DJT_MJCF_SMOOTH |
                                                         DJT_MJCF_REST | DJT_MJCF_TENDONS);
    assert_non_null(text);
    if (strstr(text, "spring=\"disable\"") && strstr(text, "damper=\"disable\"")) {
      free(text);
      continue;   // MuJoCo asks for no passive forces
    }
    mjModel* m = djt_compile(text);
    for (int j = 0; j < m->njnt; j++) m->jnt_actfrclimited[j] = 0;   // bounds of sums
    for (int t = 0; t < m->ntendon; t++) m->tendon_actfrclimited[t] = 0;
    mjData* d = mj_makeData(m);
    djt_shake(d, &rng, m, 0.5, 1);
    worst = djt_worst(worst, restError(m, d, &actuators));
    djt_deleteEngine(m, d);
    free(text);
  }
  mjcb_passive = NULL;
  print_message("%d actuators: %.1e\n", actuators, worst);
  assert_true(actuators > 20 && worst < 1e-12);
}

// Where our step has all forces nothing is left.
static void testNone(void) {
  mjModel* m = djt_compile(
      "<mujoco><option density='10' viscosity='.1'/><worldbody><site name='w' pos='.2 1 0'/><body "
      "gravcomp='.5'>"
      "<joint name='a' damping='1 .1 .1' stiffness='3 1 1'/><geom name='g' size='.1' pos='.2 0 0'/>"
      "<site name='s' pos='.2 -1 0'/><body pos='.4 0 0' gravcomp='.3'><joint name='b' "
      "actuatorgravcomp='true'/><geom size='.1'/>"
      "</body></body></worldbody><tendon><fixed stiffness='2' damping='1'><joint joint='a' "
      "coef='1'/></fixed><spatial stiffness='3' damping='1'><site site='w'/><geom geom='g'/><site "
      "site='s'/></spatial></tendon><actuator><motor joint='a'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  mjtNum rest[2] = {7, 7};
  d->qpos[0] = 0.4;
  d->qvel[0] = d->qvel[1] = -2;
  d->ctrl[0] = 1;
  mj_forward(m, d);
  assert_true(fabs(d->qfrc_passive[0]) > 1);
  djm_restForce(rest, m, d);
  djt_near(rest[0], 0, 1e-14);
  djt_near(rest[1], 0, 1e-14);
  djt_deleteEngine(m, d);
}

DJT_MAIN(testRandom, testNone)
