// Derivatives of the step's residual by parameters of joints and actuators.

#include "common/param_case.h"
#include "common/test.h"

static const djField field[] = {
    DJ_FIELD_JOINT_DAMPING,      DJ_FIELD_JOINT_STIFFNESS,   DJ_FIELD_JOINT_SPRINGREF,
    DJ_FIELD_JOINT_ARMATURE,     DJ_FIELD_JOINT_FRICTIONLOSS, DJ_FIELD_JOINT_RANGE,
    DJ_FIELD_ACTUATOR_GAINPRM,   DJ_FIELD_ACTUATOR_BIASPRM,  DJ_FIELD_ACTUATOR_GEAR};
enum { NFIELD = sizeof field / sizeof field[0] };

static void test_differences(void) {
  djRng rng = {21};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), DJT_ALL | DJT_TOTAL);
    m->opt.timestep = 0.02;
    for (int k = 0; k < 2 * m->nu; k++) m->actuator_dampingpoly[k] = djt_uniform(&rng, 0, 0.1);
    m->opt.integrator = djt_paramMethod(trial);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    djt_compareParams(&worst, &c, field, NFIELD);
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, field, NFIELD);
  for (int f = 0; f < NFIELD; f++) assert_true(worst.nonzero[field[f]] > 20);
}

// Values at 0 have one-sided derivatives there.
static void test_zero(void) {
  djRng rng = {22};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 10; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_ACTUATORS);
    for (int j = 0; j < m->njnt; j++) m->jnt_armature[j] = 0.02 * (trial % 2);
    m->opt.integrator = trial % 2 ? DJ_POSITION : DJ_VARIATIONAL;   // others have no row then
    djParamCase c = djt_openParamCase(m, &rng, 2);
    djt_compareParams(&worst, &c, field, NFIELD);
    for (int j = 0; j < m->njnt; j++) {
      assert_true(*dj_paramEntry(c.grad, m, DJ_FIELD_JOINT_DAMPING, j) != 0);
      assert_true(*dj_paramEntry(c.grad, m, DJ_FIELD_JOINT_STIFFNESS, j) != 0);
      assert_true(*dj_paramEntry(c.grad, m, DJ_FIELD_JOINT_FRICTIONLOSS, j) != 0);
    }
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, field, NFIELD);
}

// Where nothing is damped limits, losses and equalities see the inertia itself, which damping of
// joints changes.
static void test_undamped(void) {
  static const djField damping[] = {DJ_FIELD_JOINT_DAMPING};
  djRng rng = {26};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 20; trial++) {
    int what = trial % 2 ? DJT_LIMITS | DJT_LOSS : DJT_TENDONS | DJT_EQUALITIES;
    djModel* m = djt_randomModel(&rng, 5, what);
    m->opt.timestep = 0.02;
    m->opt.integrator = DJ_EULER;
    djParamCase c = djt_openParamCase(m, &rng, 2);
    djt_compareParams(&worst, &c, damping, 1);
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, damping, 1);
  assert_true(worst.nonzero[DJ_FIELD_JOINT_DAMPING] > 20);
}

// Flags switch parameters off: exactly 0, and so are the differences.
static void test_disabled(void) {
  static const int flags[] = {DJ_DSBL_LIMIT, DJ_DSBL_FRICTIONLOSS, DJ_DSBL_SPRING, DJ_DSBL_DAMPER,
                              DJ_DSBL_ACTUATION, DJ_DSBL_CLAMPCTRL};
  static const djField off[] = {DJ_FIELD_JOINT_RANGE, DJ_FIELD_JOINT_FRICTIONLOSS,
                                DJ_FIELD_JOINT_STIFFNESS, DJ_FIELD_JOINT_DAMPING,
                                DJ_FIELD_ACTUATOR_GAINPRM, DJ_NFIELD};
  djRng rng = {23};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 18; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_ALL | DJT_TOTAL);
    m->opt.disable |= flags[trial % 6];
    m->opt.integrator = djt_paramMethod(trial / 6);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    djt_compareParams(&worst, &c, field, NFIELD);
    djField f = off[trial % 6];
    for (int id = 0; f != DJ_NFIELD && id < djt_elementCount(m, f); id++) {
      djParam p;
      assert_true(dj_makeParam(&p, m, f, id));
      const double* grad = dj_paramEntry(c.grad, m, f, id);
      for (int k = 0; k < p.ntangent; k++) assert_true(grad[k] == 0);
    }
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, field, NFIELD);
}

// Entries that the element's type does not use.
static void test_unused(void) {
  djRng rng = {24};
  int seen[4] = {0};
  for (int trial = 0; trial < 20; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_ALL | DJT_TOTAL);
    m->opt.integrator = djt_paramMethod(trial);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    for (int i = 0; i < m->nu; i++) {
      const double* gain = dj_paramEntry(c.grad, m, DJ_FIELD_ACTUATOR_GAINPRM, i);
      const double* bias = dj_paramEntry(c.grad, m, DJ_FIELD_ACTUATOR_BIASPRM, i);
      const double* gear = dj_paramEntry(c.grad, m, DJ_FIELD_ACTUATOR_GEAR, i);
      int type = m->jnt_type[m->actuator_joint[i]];
      bool is_free = type == DJ_FREE;
      if (is_free || m->actuator_gain[i] == DJ_GAIN_FIXED) {
        assert_true(gain[1] == 0 && (is_free || gain[2] == 0));
        seen[0]++;
      }
      if (m->actuator_bias[i] == DJ_BIAS_NONE) assert_true(bias[0] == 0);
      if (is_free || m->actuator_bias[i] == DJ_BIAS_NONE) {
        assert_true(bias[1] == 0 && (is_free || bias[2] == 0));
        seen[1]++;
      }
      for (int k = type == DJ_BALL ? 3 : 1; k < 6 && !is_free; k++) {
        assert_true(gear[k] == 0);
        seen[2]++;
      }
    }
    for (int j = 0; j < m->njnt; j++) {
      const double* range = dj_paramEntry(c.grad, m, DJ_FIELD_JOINT_RANGE, j);
      if (m->jnt_type[j] == DJ_BALL) assert_true(range[0] == 0);
      if (m->jnt_limited[j]) continue;
      assert_true(range[0] == 0 && range[1] == 0);
      seen[3]++;
    }
    djt_closeParamCase(&c);
  }
  for (int k = 0; k < 4; k++) assert_true(seen[k] > 5);
}

// A gradient that is wrong by a tenth of a percent is seen.
static void test_wrong(void) {
  djRng rng = {25};
  int seen[NFIELD] = {0};
  for (int trial = 0; trial < 10; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_ALL);
    m->opt.timestep = 0.02;
    m->opt.integrator = djt_paramMethod(trial);
    djParamCase c = djt_openParamCase(m, &rng, 2);
    for (int f = 0; f < NFIELD; f++) {
      int n = djt_elementCount(m, field[f]), id = n > 0 ? djt_integer(&rng, n) : -1;
      if (id < 0) continue;
      djtWorst worst = {{0}, {0}, {0}};
      double* entry = dj_paramEntry(c.grad, m, field[f], id);
      if (fabs(entry[0]) < 1e-3) continue;
      entry[0] *= 1.001;
      djt_compareParams(&worst, &c, &field[f], 1);
      assert_true(worst.error[field[f]] > 1e-6);
      entry[0] /= 1.001;
      seen[f]++;
    }
    djt_closeParamCase(&c);
  }
  for (int f = 0; f < NFIELD; f++) assert_true(seen[f] > 0);
}

DJT_MAIN(test_differences, test_zero, test_undamped, test_disabled, test_unused, test_wrong)
