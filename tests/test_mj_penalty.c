// Penalty contact inside MuJoCo: by a key of the plugin, and with djm_step(); a box comes to rest at
// mg/(n kn), slides as the coefficient says.

#include "common/mj_zoo.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

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

static void testPlugin(void) {
  mjModel* m = djt_compile(plugin);
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 1500; i++) mj_step(m, d);
  djt_near(0.1 - d->qpos[2], depth, 1e-7);
  djt_near(d->qfrc_passive[2], 2 * 9.81, 1e-3);
  djt_deleteEngine(m, d);
}

static void testStep(void) {
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
  djt_deleteEngine(m, d);
}

// What <custom> says of geoms' points and fields; points of a mesh follow it where MuJoCo has
// centred and turned it.
static void testFields(void) {
  mjModel* m = djt_compile(
      "<mujoco><asset><mesh name='wedge' vertex='.3 0 .1 .5 .1 .1 .2 .4 .1 .3 .1 .35'/></asset>"
      "<custom><text name='dijoco_contact' data='penalty'/>"
      "<numeric name='dijoco_points/box' data='.1 .2 .3 -.1 .05 0'/>"
      "<numeric name='dijoco_contact_scale/box' data='2.5'/>"
      "<numeric name='dijoco_points/wedge' data='.3 .1 .2 .4 .1 .15'/>"
      "<numeric name='dijoco_point_count/ball' data='7'/>"
      "<numeric name='dijoco_field/ball' data='0'/>"
      "</custom><worldbody><body><freejoint/><geom name='box' type='box' size='.1 .1 .1'/></body>"
      "<body pos='1 0 0'><freejoint/><geom name='wedge' type='mesh' mesh='wedge'/></body>"
      "<body pos='2 0 0'><freejoint/><geom name='ball' type='ellipsoid' size='.1 .2 .1'/></body>"
      "</worldbody></mujoco>");
  static const double box[6] = {.1, .2, .3, -.1, .05, 0}, wedge[6] = {.3, .1, .2, .4, .1, .15};
  djModel* x = djt_import(NULL, m);
  assert_true(x->geom_pointnum[0] == 2 && x->geom_pointnum[1] == 2 && x->geom_pointnum[2] == 0);
  for (int i = 0; i < 6; i++) djt_near(x->point_pos[3 * x->geom_pointadr[0] + i], box[i], 0);
  for (int i = 0; i < 6; i += 3) {
    mjtNum at[3];
    mju_rotVecQuat(at, x->point_pos + 3 * x->geom_pointadr[1] + i, m->mesh_quat);
    for (int k = 0; k < 3; k++) djt_near(at[k] + m->mesh_pos[k], wedge[i + k], 1e-12);
  }
  assert_true(fabs(m->mesh_quat[0]) < 0.99 && mju_norm3(m->mesh_pos) > 0.1);
  assert_true(x->geom_contact_scale[0] == 2.5 && x->geom_contact_scale[1] == 1);
  assert_true(x->geom_pointcount[2] == 7 && x->geom_pointcount[0] == -1);
  assert_true(!x->geom_field[2] && x->geom_field[0]);
  dj_deleteModel(x);
  mj_deleteModel(m);
}

DJT_MAIN_IN(djt_keepWarnings, NULL, testPlugin, testStep, testFields)
