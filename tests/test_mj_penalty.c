// Penalty contact inside MuJoCo: by a key of the plugin, and with djm_step(); a box comes to rest at
// mg/(n kn), slides as the coefficient says.

#include "common/mj_zoo.h"
#include "common/near.h"

#include <dijoco/dijoco.h>

#include <math.h>

#define BODY                                                                               \
  "<worldbody><geom name='floor' type='plane' size='0 0 1' friction='.3'/>"                \
  "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='2' friction='.3'/>" \
  "</body></worldbody></mujoco>"

static const char plugin[] =
    "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>"
    "<config key='contact' value='penalty'/><config key='kn' value='5000'/>"
    "<config key='kt' value='50'/><config key='kd' value='2e5'/></instance></plugin></extension>"
    "<option timestep='.002'><flag contact='disable'/></option>" BODY;

static const char own[] =
    "<mujoco><option timestep='.002'/><custom><text name='dijoco_contact' data='penalty'/>"
    "<numeric name='dijoco_penalty' data='5000 2e5 50'/></custom>" BODY;

static const double depth = 2 * 9.81 / (25 * 5000);

static void testPlugin(void** state) {
  (void)state;
  mjModel* m = djt_compile(plugin);
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 1500; i++) mj_step(m, d);
  djt_near(0.1 - d->qpos[2], depth, 1e-7);
  djt_near(d->qfrc_passive[2], 2 * 9.81, 1e-3);
  mj_deleteData(d);
  mj_deleteModel(m);
}

static void testStep(void** state) {
  (void)state;
  mjModel* m = djt_compile(own);
  mjData* d = mj_makeData(m);
  djmContext* context = djt_context(m);
  d->qvel[0] = 1;
  for (int i = 0; i < 50; i++) assert_int_equal(djm_step(m, d, context), DJ_OK);
  const double v = d->qvel[0];
  for (int i = 0; i < 10; i++) assert_int_equal(djm_step(m, d, context), DJ_OK);
  djt_near((v - d->qvel[0]) / (10 * 0.002), 0.3 * 9.81, 0.01);
  for (int i = 0; i < 1500; i++) assert_int_equal(djm_step(m, d, context), DJ_OK);
  djt_near(0.1 - d->qpos[2], depth, 1e-9);
  djm_deleteContext(context);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testPlugin), cmocka_unit_test(testStep)};
  return cmocka_run_group_tests(tests, djt_keepWarnings, NULL);
}
