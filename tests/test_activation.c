// Controls after their clamp and next activations, against their closed forms and differences.

#include "common/near.h"
#include "common/scene.h"
#include "model/activation.h"

#include <math.h>

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
  djt_near(dj_nextActivation(&by_act, &by_ctrl, m, d, 0, h, false), expected, 1e-15);
  djt_near(by_act, by_act_expected, 1e-15);
  djt_near(by_ctrl, by_ctrl_expected, 1e-15);
  dj_nextActivations(&all, m, d, h, false);
  djt_near(all, expected, 1e-15);
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
}

static void testNext(void** state) {
  (void)state;
  double decay = exp(-0.2);
  check(DJ_DYN_INTEGRATOR, 0.3 + 0.01 * 0.7, 1, 0.01);
  check(DJ_DYN_FILTER, 0.3 + 0.2 * 0.4, 0.8, 0.2);
  check(DJ_DYN_FILTEREXACT, 0.3 + 0.4 * (1 - decay), decay, 1 - decay);
}

// Far inside of the range a control is itself, outside its bound; between, differences.
static void testControl(void** state) {
  (void)state;
  Scene* s = newScene(1);
  djActuatorDef a;
  djModel* m = make(s, &a, DJ_DYN_NONE, 0);
  djData* d = sceneData(m);
  const double ctrl[3] = {0.5, 2, -0.995};
  for (int i = 0; i < 3; i++) {
    double f[2], h = 1e-6;
    for (int side = 0; side < 2; side++) {
      d->ctrl[0] = ctrl[i] + (side ? h : -h);
      f[side] = dj_controlInput(m, d, 0).f;
    }
    d->ctrl[0] = ctrl[i];
    djJet at = dj_controlInput(m, d, 0);
    djt_near(at.d, (f[1] - f[0]) / (2 * h), 1e-6);
    if (i < 2) djt_near(at.f, fmin(ctrl[i], 1), 1e-15);
    else assert_true(fabs(at.f + 0.995) < 0.004 && at.d > 0 && at.d < 1);
  }
  dj_deleteData(d);
  dj_deleteModel(m);
  freeScene(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testNext),
      cmocka_unit_test(testControl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
