// Forces and activations of actuators under limits of every kind, against MuJoCo's own.
//
// Each joint of the scene carries an inertia of 10^6 at rest but for a small velocity, without
// gravity: in a step lengths do not change, and the change of velocity is the force, h f/10^6.
// Clips are off by up to 0.2 % of their range, which is the tolerance.

#include "common/mj_zoo.h"
#include "common/test.h"
#include "common/text.h"

#include <dijoco/dijoco.h>

enum { NJOINT = 5, NACTUATOR = 8, FIRST = 3 };   // FIRST: the first actuator of ours
static const double kInertia = 1e6, kStep = 0.01, kRound = 0.002;

// ------------------------------ scenes ----------------------------------------------------------

// A range that holds only where it is limited.
static void putRange(djtText* t, djRng* rng, const char* name, double size) {
  char range[20];
  snprintf(range, sizeof(range), "%srange", name);
  djt_put(t, " %slimited='%s'", name, djt_integer(rng, 4) ? "true" : "false");
  djt_putUniform(t, rng, range, {-size, -0.1 * size}, {0.1 * size, size});
}

static void putActuator(djtText* t, djRng* rng) {
  static const char* const dyn[] = {"none", "integrator", "filter", "filterexact"};
  int type = djt_integer(rng, 4);
  bool early = type > 0 && djt_integer(rng, 2);
  djt_put(t, "<general joint='j%d' dyntype='%s' actearly='%s'", djt_integer(rng, NJOINT), dyn[type],
          early ? "true" : "false");
  djt_putUniform(t, rng, "gear", {-3, 3}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 9});
  djt_putUniform(t, rng, "dynprm", {0.5 * kStep, 3 * kStep});
  djt_put(t, " gaintype='%s'", djt_integer(rng, 2) ? "affine" : "fixed");
  djt_putUniform(t, rng, "gainprm", {-3, 3}, {-2, 2}, {-400, 400});
  djt_put(t, " biastype='%s'", djt_integer(rng, 2) ? "affine" : "none");
  djt_putUniform(t, rng, "biasprm", {-3, 3}, {-3, 3}, {-900, 900});
  if (djt_integer(rng, 2)) putRange(t, rng, "ctrl", 1);
  if (djt_integer(rng, 2)) putRange(t, rng, "force", 4);
  if (type > 0 && djt_integer(rng, 2)) putRange(t, rng, "act", 1);
  static const int group[] = {0, 1, 2, 3, 30, 31, 33, -1};   // 0 to 30 can be disabled
  djt_put(t, " group='%d'/>", group[djt_integer(rng, 8)]);
}

// Joints that slide and turn, each on its own body. Before them joints and actuators of other
// sizes, so that ids, addresses of dofs, of controls, of outputs and of activations all differ.
static mjModel* makeScene(djRng* rng) {
  djtText t = {0};
  djt_put(&t, "<mujoco><option timestep='%g' gravity='0 0 0' actuatorgroupdisable='%d'/>", kStep,
          djt_integer(rng, 5));
  djt_put(&t, "<worldbody><body><joint name='ball' type='ball'/><geom size='.1'/></body>"
              "<body><joint name='other'/><geom size='.1' pos='3 0 0'/></body>");
  for (int j = 0; j < NJOINT; j++) {
    djt_put(&t, "<body><joint name='j%d' type='%s'", j, djt_integer(rng, 2) ? "slide" : "hinge");
    djt_putUniform(&t, rng, "ref", {-0.5, 0.5});
    if (djt_integer(rng, 2)) putRange(&t, rng, "actuatorfrc", 6);
    djt_put(&t, "/><inertial pos='0 0 0' mass='%g' diaginertia='%g %g %g'/></body>", kInertia,
            kInertia, kInertia, kInertia);
  }
  djt_put(&t, "</worldbody><actuator><orientation joint='ball' kp='1'/>"
              "<pid joint='other' kp='1' input='pos vel'/>"
              "<pid joint='other' kp='1' ki='1' slewmax='1' input='pos'/>");
  for (int i = 0; i < NACTUATOR; i++) putActuator(&t, rng);
  djt_put(&t, "</actuator></mujoco>");
  assert_false(t.failed);
  mjModel* m = djt_compile(t.text);
  free(t.text);
  return m;
}

static void shake(djRng* rng, const mjModel* m, mjData* d) {
  for (int j = 1; j < m->njnt; j++) d->qpos[m->jnt_qposadr[j]] += djt_uniform(rng, -1, 1);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = djt_uniform(rng, -0.003, 0.003);
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, -2, 2);
  for (int i = 0; i < m->na; i++) d->act[i] = djt_uniform(rng, -1.5, 1.5);
  for (int i = FIRST; i < m->nactuator; i++) {
    if (m->actuator_dyntype[i] == mjDYN_INTEGRATOR) {   // as fast as filters are
      d->ctrl[m->actuator_ctrladr[i]] *= 40;
    }
    // MuJoCo leaves activations of disabled actuators alone that are in their range
    mjtNum *w = m->actuator_actrange + 2 * i, *act = d->act + m->actuator_actadr[i];
    if (m->actuator_actlimited[i] && !djm_actuatorLive(m, i)) *act = mju_clip(*act, w[0], w[1]);
  }
}

// ------------------------------ MuJoCo's forces -------------------------------------------------

// What an actuator's force changes by at most where its clips are rounded.
static double rounding(const mjModel* m, const mjData* d, int i) {
  int out = m->actuator_outadr[i];
  double x = d->actuator_length[out], v = d->actuator_velocity[out];
  const mjtNum* g = m->actuator_gainprm + mjNGAIN * i;
  double gain = fabs(m->actuator_gaintype[i] == mjGAIN_AFFINE ? g[0] + g[1] * x + g[2] * v : g[0]);
  const mjtNum *c = m->actuator_ctrlrange + 2 * m->actuator_ctrladr[i],
               *w = m->actuator_actrange + 2 * i, *f = m->actuator_forcerange + 2 * i;
  double input = m->actuator_ctrllimited[m->actuator_ctrladr[i]] ? kRound * (c[1] - c[0]) : 0;
  if (m->actuator_actlimited[i]) input += kRound * (w[1] - w[0]);
  return gain * input + (m->actuator_forcelimited[i] ? kRound * (f[1] - f[0]) : 0);
}

// Tolerance of the force on joint j; lengths change by h v in the step.
static double tolerance(const mjModel* m, const mjData* d, int j) {
  double sum = 2e-3;
  for (int i = FIRST; i < m->nactuator; i++) {
    if (m->actuator_trnid[2 * i] != j) continue;
    sum += fabs(m->actuator_gear[6 * m->actuator_outadr[i]]) * (rounding(m, d, i) + 5e-3);
  }
  const mjtNum* range = m->jnt_actfrcrange + 2 * j;
  return m->jnt_actfrclimited[j] ? sum + kRound * (range[1] - range[0]) : sum;
}

// Things that limit forces, each taken away; bits of what has an effect here.
static void noForceLimit(mjModel* m) { memset(m->actuator_forcelimited, 0, m->nactuator); }
static void noCtrlLimit(mjModel* m) { memset(m->actuator_ctrllimited, 0, m->nu); }
static void noClamp(mjModel* m) { m->opt.disableflags ^= mjDSBL_CLAMPCTRL; }
static void noActLimit(mjModel* m) { memset(m->actuator_actlimited, 0, m->nactuator); }
static void noEarly(mjModel* m) { memset(m->actuator_actearly, 0, m->nactuator); }
static void noJointLimit(mjModel* m) { memset(m->jnt_actfrclimited, 0, m->njnt); }
static void noGroups(mjModel* m) { m->opt.disableactuator = 0; }
static void noActuation(mjModel* m) { m->opt.disableflags ^= mjDSBL_ACTUATION; }
static void (*const kWithout[])(mjModel*) = {noForceLimit, noCtrlLimit, noClamp,  noActLimit,
                                             noEarly,      noJointLimit, noGroups, noActuation};
enum { NWITHOUT = sizeof(kWithout) / sizeof(*kWithout) };

static void countEffects(int count[NWITHOUT], const mjModel* m, const mjData* d) {
  for (int k = 0; k < NWITHOUT; k++) {
    mjModel* other = mj_copyModel(NULL, m);
    mjData* e = mj_makeData(other);
    kWithout[k](other);
    djt_copyState(e, d, m);
    mj_forward(other, e);
    bool effect = false;
    for (int j = 2; j < m->njnt; j++) {
      int dof = m->jnt_dofadr[j];
      double change = fabs(e->qfrc_actuator[dof] - d->qfrc_actuator[dof]);
      if (change > 5 * tolerance(m, d, j)) effect = true;
    }
    count[k] += effect;
    djt_deleteEngine(other, e);
  }
}

// ------------------------------ tests -----------------------------------------------------------

static void checkActivations(const mjModel* m, const mjData* ours, const mjData* theirs) {
  for (int i = FIRST; i < m->nactuator; i++) {
    int a = m->actuator_actadr[i];
    if (a < 0) continue;
    const mjtNum *w = m->actuator_actrange + 2 * i,
                 *c = m->actuator_ctrlrange + 2 * m->actuator_ctrladr[i];
    double epsilon = 1e-9;
    if (m->actuator_actlimited[i]) epsilon += kRound * (w[1] - w[0]);
    if (m->actuator_ctrllimited[m->actuator_ctrladr[i]]) epsilon += 2 * kRound * (c[1] - c[0]);
    djt_near(ours->act[a], theirs->act[a], epsilon);
  }
}

static void testLimits(void) {
  djRng rng = {31};
  int count[NWITHOUT] = {0};
  for (int trial = 0; trial < 150; trial++) {
    mjModel* m = makeScene(&rng);
    if (trial % 3 == 0) m->opt.disableflags |= mjDSBL_CLAMPCTRL;
    if (trial % 10 == 0) m->opt.disableflags |= mjDSBL_ACTUATION;
    if (trial % 5 == 1) m->opt.disableactuator = ~0;   // by all bits
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    djmContext* c = djt_context(m);
    djt_tolerance(c, 1e-13);
    shake(&rng, m, d);
    djt_copyState(e, d, m);
    assert_true(djm_step(m, e, c) >= 0);
    mj_forward(m, d);
    for (int j = 2; j < m->njnt; j++) {
      int dof = m->jnt_dofadr[j];
      double force = kInertia * (e->qvel[dof] - d->qvel[dof]) / kStep;
      djt_near(force, d->qfrc_actuator[dof], tolerance(m, d, j));
    }
    countEffects(count, m, d);
    mj_step(m, d);
    checkActivations(m, e, d);
    djm_deleteContext(c);
    mj_deleteData(d);
    djt_deleteEngine(m, e);
  }
  for (int k = 0; k < NWITHOUT; k++) {
    if (count[k] < 10) fail_msg("what %d limits had an effect %d times", k, count[k]);
  }
}

DJT_MAIN(testLimits)
