// Controls after their clamp and next activations, against their closed forms and differences.

#include "common/make_model.h"
#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"
#include "model/activation.h"

enum { H = 1 };   // hundredths of a second

static djModel* make(Scene* s, djActuatorDef* a, djDyn dyn, double tau) {
  addBody(s, 0, DJ_SLIDE, 0, 0, 0, 1, 0.1);
  *a = dj_defaultActuatorDef();
  a->joint = 0;
  a->gain = DJ_GAIN_FIXED;
  a->gainprm[0] = 1;
  a->dyn = dyn;
  a->tau = tau;
  a->ctrllimited = true;
  a->ctrlrange[0] = -1;
  a->ctrlrange[1] = 1;
  s->def.nu = 1;
  s->def.actuator = a;
  return sceneModel(s);
}

static void check(djDyn dyn, double expected, double by_act_expected, double by_ctrl_expected) {
  Scene* s = newScene(1);
  djActuatorDef a;
  djModel* m = make(s, &a, dyn, 0.05);
  djData* d = sceneData(m);
  double by_act, by_ctrl, all, h = 0.01 * H;
  d->act[0] = 0.3;
  d->ctrl[0] = 0.7;
  djt_near(dj_nextActivation(&by_act, &by_ctrl, m, d, 0, h, DJ_INPUTS_ROUNDED), expected, 1e-15);
  djt_near(by_act, by_act_expected, 1e-15);
  djt_near(by_ctrl, by_ctrl_expected, 1e-15);
  dj_nextActivations(&all, m, d, h, DJ_INPUTS_ROUNDED);
  djt_near(all, expected, 1e-15);
  djt_delete(m, d);
  freeScene(s);
}

static void testNext(void) {
  double decay = exp(-0.2);
  check(DJ_DYN_INTEGRATOR, 0.3 + 0.01 * 0.7, 1, 0.01);
  check(DJ_DYN_FILTER, 0.3 + 0.2 * 0.4, 0.8, 0.2);
  check(DJ_DYN_FILTEREXACT, 0.3 + 0.4 * (1 - decay), decay, 1 - decay);
}

// Within the range a control is itself, with the slope 1 at a bound, too; far outside it is the
// bound; between, differences.
static void testControl(void) {
  Scene* s = newScene(1);
  djActuatorDef a;
  djModel* m = make(s, &a, DJ_DYN_NONE, 0);
  djData* d = sceneData(m);
  const double ctrl[5] = {0.5, 2, -1.005, 1, -1};
  for (int i = 0; i < 5; i++) {
    double f[2], h = 1e-6;
    for (int side = 0; side < 2; side++) {
      d->ctrl[0] = ctrl[i] + (side ? h : -h);
      f[side] = dj_controlInput(m, d, 0, DJ_INPUTS_ROUNDED).f;
    }
    d->ctrl[0] = ctrl[i];
    djJet at = dj_controlInput(m, d, 0, DJ_INPUTS_ROUNDED);
    djt_near(at.d, (f[1] - f[0]) / (2 * h), 1e-6);
    if (i == 2) assert_true(at.f > -1.004 && at.f < -1 && at.d > 0 && at.d < 1);
    else djt_near(at.f, fmin(ctrl[i], 1), 0);
    if (i > 2) djt_near(at.d, 1, 0);
  }
  djt_delete(m, d);
  freeScene(s);
}

// A control on its bound counts as inside, and so does an activation on its own: B is that of the
// middle, and so is the gradient of a run.
static void testBound(void) {
  enum { T = 5 };
  static const double ctrl[3] = {0.2, 1, -1};
  for (int k = 0; k < 2; k++) {   // without and with an activation
    Scene* s = newScene(1);
    djActuatorDef a;
    djModel* m = make(s, &a, k ? DJ_DYN_FILTER : DJ_DYN_NONE, 0.05);
    dj_deleteModel(m);
    a.actlimited = k;
    a.actrange[0] = -1;
    a.actrange[1] = 1;
    s->def.option.timestep = 0.01 * H;
    m = sceneModel(s);
    djData* d = sceneData(m);
    djTape* tape;
    double A[9], B[3], by[3 + T], middle[3 + T];
    assert_int_equal(djd_makeTape(&tape, m, T, NULL), DJ_OK);
    for (int i = 0; i < 3; i++) {
      double u[T], q[1] = {0}, v[1] = {0}, act[1] = {ctrl[i]};
      for (int t = 0; t < T; t++) u[t] = ctrl[i];
      djLossTerm loss = {.type = DJ_LOSS_QVEL, .object = DJ_OBJ_JOINT, .weight = 1};
      djRollout roll = {.horizon = T, .qpos0 = q, .qvel0 = v, .act0 = act, .ctrl = u, .nloss = 1,
                        .loss = &loss};
      djRolloutResult out = {.grad_ctrl = by + 3};
      assert_int_equal(djd_rolloutForward(&out, m, d, &roll, tape), DJ_OK);
      assert_int_equal(djd_rolloutBackward(&out, m, d, &roll, tape), DJ_OK);
      for (int t = 0; t < T; t++) by[3 + t] /= 2 * d->qvel[0];   // of the speed
      assert_int_equal(dj_resetData(m, d), DJ_OK);
      d->ctrl[0] = ctrl[i];
      if (k) d->act[0] = ctrl[i];
      assert_int_equal(djd_transition(m, d, A, B), DJ_OK);
      for (int r = 0; r < 3; r++) by[r] = r < 2 + k ? B[r] : 0;
      if (i == 0) memcpy(middle, by, sizeof middle);
      for (int r = 0; r < 3 + T; r++) djt_near(by[r], middle[r], 1e-9 * fabs(middle[r]));
      assert_true(fabs(by[k ? 2 : 1]) > 1e-3 && fabs(by[3]) > 1e-3);
    }
    djd_deleteTape(tape);
    djt_delete(m, d);
    freeScene(s);
  }
}

DJT_MAIN(testNext, testControl, testBound)
