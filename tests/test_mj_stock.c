// Stock MuJoCo behind a status: equal to mj_step, contact forces, errors, parameters by name.

#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/test.h"
#include "stock_work.h"

static void checkNear(double a, double b, double tolerance, const char* what) {
  if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) fail_msg("%s: %.17g is not %.17g", what, a, b);
}

static djStock* makeStock(const mjModel* m) {
  djStock* stock;
  djError err;
  if (dj_makeStock(&stock, m, &err) != DJ_OK) fail_msg("%s", err.text);
  return stock;
}

// Two stacked boxes on a plane and a pendulum, with an actuator.
static const char kScene[] =
    "<mujoco><option cone='elliptic'/><worldbody><geom name='floor' type='plane' size='5 5 1'/>"
    "<body name='one' pos='0 0 .1'><freejoint/><geom type='box' size='.2 .1 .1' mass='2'/></body>"
    "<body name='two' pos='.05 0 .3'><freejoint/><geom type='box' size='.2 .1 .1' mass='3'/></body>"
    "<body name='arm' pos='3 0 2'><joint name='hinge' axis='0 1 0' damping='.1' stiffness='2' "
    "springref='20'/><geom type='capsule' fromto='0 0 0 .5 0 0' size='.05'/></body></worldbody>"
    "<actuator><motor name='motor' joint='hinge' gear='2'/></actuator>"
    "<keyframe><key qpos='0 0 .5 1 0 0 0 0 0 1 1 0 0 0 .3'/></keyframe></mujoco>";

static void testSteps(void) {
  mjModel* m = djt_compile(kScene);
  mjData* d = mj_makeData(m);
  djStock *stock = makeStock(m), *probed = makeStock(m);
  djError err;
  for (int i = 0; i < 300; i++) {
    double ctrl = sin(0.1 * i);
    d->ctrl[0] = ctrl;
    mj_step(m, d);
    assert_int_equal(dj_stepStock(stock, &ctrl, &err), DJ_OK);
    assert_int_equal(dj_probeStock(probed, &err), DJ_OK);
    assert_int_equal(dj_stepStock(probed, &ctrl, &err), DJ_OK);
    assert_memory_equal(stock->d->qpos, d->qpos, sizeof(mjtNum) * m->nq);
    assert_memory_equal(probed->d->qpos, d->qpos, sizeof(mjtNum) * m->nq);
    assert_memory_equal(probed->d->qvel, d->qvel, sizeof(mjtNum) * m->nv);
  }
  // energies of the present state, and the scene's own model untouched
  m->opt.enableflags |= mjENBL_ENERGY;
  assert_int_equal(dj_probeStock(stock, &err), DJ_OK);
  mj_forward(m, d);
  checkNear(stock->energy[0], d->energy[0], 1e-14, "potential");
  checkNear(stock->energy[1], d->energy[1], 1e-14, "kinetic");
  assert_int_equal(dj_resetStock(stock, 0, &err), DJ_OK);
  assert_true(stock->d->qpos[2] == 0.5 && stock->d->qpos[14] == 0.3);
  assert_int_equal(dj_resetStock(stock, 1, &err), DJ_INVALID);
  dj_deleteStock(stock);
  dj_deleteStock(probed);
  djt_deleteEngine(m, d);
}

static void testContactForces(void) {
  mjModel* m = djt_compile(kScene);
  djStock* stock = makeStock(m);
  djError err;
  for (int i = 0; i < 1500; i++) assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
  const djContactForce* c = stock->contact;
  assert_int_equal(stock->ncontact, 2);
  assert_true(c[0].body1 == 0 && c[0].body2 == 1 && c[1].body1 == 1 && c[1].body2 == 2);
  checkNear(c[0].force[2], 5 * 9.81, 1e-5, "weight on the floor");
  checkNear(c[1].force[2], 3 * 9.81, 1e-5, "weight on the lower box");
  for (int k = 0; k < 2; k++) {
    checkNear(c[1].force[k], 0, 1e-4, "tangential");
    checkNear(c[1].torque[k], 0, 1e-4, "torque on a body at rest");
  }
  // the lower box carries the upper one 0.05 m off its centre
  checkNear(c[0].torque[1], -0.05 * c[1].force[2], 2e-2, "torque");
  assert_true(stock->distance < 0 && stock->distance > -1e-3);
  assert_int_equal(dj_probeStock(stock, &err), DJ_OK);
  assert_true(stock->probe_distance < 0 && stock->probe_distance > -1e-3);
  stock->d->qpos[2] += 1;   // apart
  stock->d->qpos[9] += 2;
  assert_int_equal(dj_probeStock(stock, &err), DJ_OK);
  assert_true(isinf(stock->probe_distance));
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
  assert_true(isinf(stock->distance) && stock->ncontact == 0);
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

static void testGravityScale(void) {
  mjModel* m = djt_compile("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body>"
                           "</worldbody></mujoco>");
  djStock* stock = makeStock(m);
  stock->gravity_scale = 0.25;
  assert_int_equal(dj_stepStock(stock, NULL, NULL), DJ_OK);
  checkNear(stock->d->qvel[2], -0.25 * 9.81 * 0.002, 1e-14, "velocity");
  const double gravity[3] = {1, 0, 0};
  assert_int_equal(dj_setStockParam(stock, "option/gravity", 3, gravity, NULL), DJ_OK);
  stock->gravity_scale = 1;
  assert_int_equal(dj_stepStock(stock, NULL, NULL), DJ_OK);
  checkNear(stock->d->qvel[0], 0.002, 1e-14, "velocity");
  // potential energy of the scaled gravity; no contact is at an infinite distance
  stock->gravity_scale = 0.5;
  stock->d->qpos[0] = -3;
  assert_int_equal(dj_probeStock(stock, NULL), DJ_OK);
  checkNear(stock->energy[0], 0.5 * 3 * m->body_mass[1], 1e-12, "potential");
  assert_true(isinf(stock->probe_distance) && isinf(stock->distance));
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

// ------------------------------ errors ----------------------------------------------------------

static void failing(const mjModel* m, mjData* d) {
  (void)m, (void)d;
  mju_error("first line\n  second line");
}

static void warning(const mjModel* m, mjData* d) {
  (void)m, (void)d;
  mju_warning("careful");
}

static int outer_calls;
static void outerWarning(const char* text) {
  (void)text;
  outer_calls++;
}

static void testErrors(void) {
  mjModel* m = djt_compile(kScene);
  djStock* stock = makeStock(m);
  djError err;
  mju_user_warning = outerWarning;
  mjcb_control = failing;
  djt_refused(DJ_INVALID, dj_stepStock(stock, NULL, &err), err, "MuJoCo: first line; second line");
  mjcb_control = NULL;
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_INVALID);   // not before a reset
  assert_int_equal(dj_resetStock(stock, -1, &err), DJ_OK);
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);

  mjcb_control = warning;
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
  mjcb_control = NULL;
  assert_string_equal(stock->warning, "careful");
  assert_int_equal(outer_calls, 0);
  assert_ptr_equal(mju_user_warning, outerWarning);   // as it was before
  mju_warning("outside");
  assert_int_equal(outer_calls, 1);
  mju_user_warning = NULL;
  assert_null(mju_user_error);

  stock->d->qvel[3] = NAN;
  djt_refusedWith(DJ_INVALID, dj_stepStock(stock, NULL, &err), err, "nan at time");
  assert_int_equal(dj_resetStock(stock, -1, &err), DJ_OK);
  stock->d->qvel[2] = 1e13;   // MuJoCo calls numbers above 1e10 bad
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_INVALID);
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

// What a stock keeps for itself: gravity as it was, room for contacts, a need of a reset.
static void testWork(void) {
  mjModel* m = djt_compile(kScene);
  djStock* stock = makeStock(m);
  const struct djStockWork* work = stock->work;
  djError err;
  assert_true(work->probe && work->probe != stock->d && !work->broken && work->maxcontact == 0);
  stock->gravity_scale = 0.5;
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
  assert_true(work->gravity[2] == m->opt.gravity[2]);
  checkNear(stock->m->opt.gravity[2], 0.5 * m->opt.gravity[2], 0, "scaled");
  assert_true(stock->d->ncon > 0 && work->maxcontact >= stock->d->ncon);
  mjcb_control = failing;
  assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_INVALID);
  mjcb_control = NULL;
  assert_true(work->broken);
  assert_int_equal(dj_resetStock(stock, 5, &err), DJ_INVALID);   // no such keyframe
  assert_true(work->broken);
  assert_int_equal(dj_resetStock(stock, 0, &err), DJ_OK);
  assert_false(work->broken);
  const double none[3] = {0, 0, 0};
  assert_int_equal(dj_setStockParam(stock, "option/gravity", 3, none, &err), DJ_OK);
  assert_true(work->gravity[2] == 0);
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

static void testMessage(void) {
  djError err;
  char longer[2 * sizeof err.text];
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  djt_refused(DJ_UNSUPPORTED, djm_stockError(&err, DJ_UNSUPPORTED, "%s %d", "geom", 3), err,
              "geom 3");
  assert_int_equal(djm_stockError(NULL, DJ_INVALID, "%d", 3), DJ_INVALID);
  djm_stockError(&err, DJ_FILE, "%s", longer);
  assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void runInner(void* arg) {
  (void)arg;
  mju_error("inner");
}

static void runNested(void* arg) {
  djm_guard(runInner, NULL, arg);
  mju_error("outer");
}

static void testGuard(void) {
  djError inner, outer;
  djt_refused(DJ_INVALID, djm_guard(runNested, &inner, &outer), inner, "inner");
  assert_string_equal(outer.text, "outer");
  assert_null(mju_user_error);
  assert_null(mju_user_warning);
}

// ------------------------------ parameters ------------------------------------------------------

#define INERTIAL "<inertial pos='.01 0 0' mass='1' diaginertia='.02 .03 .04'/>"

static const char kDesign[] =
    "<mujoco><compiler angle='radian'/><option gravity='0 0 -9'/><asset>"
    "<mesh name='mesh' inertia='convex' vertex='0 0 0 .3 0 0 0 .3 0 0 0 .3'/></asset><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1'/>"
    "<body name='arm' pos='0 0 .4'>" INERTIAL "<joint name='hinge' type='hinge' axis='0 1 0' "
    "pos='0 .1 0' damping='.1' stiffness='2' springref='.3' armature='.01' frictionloss='.2' "
    "limited='true' range='-1 1'/>"
    "<geom name='box' type='box' size='.3 .05 .1' friction='.5 .01 .001' pos='.3 0 0' "
    "quat='1 .2 0 0'/><geom name='ball' type='sphere' size='.1' pos='0 0 -.2'/>"
    "<body name='hand' pos='.6 0 0' quat='1 0 .1 0' gravcomp='.1'>"
    "<inertial pos='.02 0 0' quat='1 0 0 .1' mass='.5' diaginertia='.01 .02 .03'/>"
    "<joint name='ball' type='ball' damping='.2' frictionloss='.01'/><geom name='rod' "
    "type='capsule' size='.05 .1'/>"
    "<geom name='hull' type='mesh' mesh='mesh' pos='0 0 -.1'/><site name='site' pos='.1 0 0'/>"
    "<geom size='.01' mass='0' contype='0' conaffinity='0' pos='.02 0 0' quat='1 0 0 .1'/><site "
    "pos='.02 0 0' quat='1 0 0 .1'/>"
    "<body name='same' pos='.2 .1 0'><inertial pos='0 0 0' quat='1 0 0 0' mass='.3' "
    "diaginertia='.01 .02 .025'/><joint axis='1 0 0'/><geom name='own' type='box' "
    "size='.03 .04 .05' pos='0 0 0' quat='1 0 0 0'/><site name='here' pos='0 0 0'/></body>"
    "</body></body><body pos='.3 .05 .7'>" INERTIAL "<joint name='root' type='free' damping='.05' "
    "armature='.06'/><geom type='box' size='.1 .1 .1'/></body><body pos='3 0 .5'>" INERTIAL
    "<joint name='slide' pos='.1 .2 .3' type='slide' axis='1 0 0' stiffness='9' springref='.21' "
    "limited='true' range='-.5 .6'/><joint axis='0 1 0'/><geom name='can' type='cylinder' "
    "size='.02 .07'/><geom name='egg' type='ellipsoid' size='.07 .08 .09' pos='.1 .1 0'/></body>"
    "</worldbody><contact><pair geom1='rod' geom2='egg' friction='.9'/><pair name='touch' "
    "geom1='floor' geom2='can' friction='.6 .6'/></contact><tendon><fixed name='cord' stiffness='3' "
    "damping='.2' springlength='.1 .2' frictionloss='.1' limited='true' range='-.3 .4'>"
    "<joint joint='hinge' coef='1'/></fixed></tendon>"
    "<actuator><general name='motor' joint='hinge' gear='2' gainprm='3' "
    "biastype='affine' biasprm='0 -1 -.2'/></actuator>"
    "<sensor><framepos objtype='site' objname='site'/></sensor></mujoco>";

typedef struct djDesignCase {
  const char *name, *from, *to;
} djDesignCase;

static const djDesignCase designs[] = {
    {"body/arm/pos", "'arm' pos='0 0 .4'", "'arm' pos='0 .05 .45'"},
    {"body/hand/quat", "quat='1 0 .1 0'", "quat='1 .3 .1 0'"},
    {"body/arm/mass", "mass='1' diag", "mass='1.5' diag"},
    {"body/hand/ipos", "pos='.02 0 0'", "pos='.04 .02 0'"},
    {"body/hand/iquat", "quat='1 0 0 .1'", "quat='1 0 0 .2'"},
    {"body/arm/inertia", "'.02 .03 .04'", "'.03 .04 .05'"},
    {"body/hand/gravcomp", "gravcomp='.1'", "gravcomp='1.1'"},
    {"body/arm/gravcomp", "name='arm'", "name='arm' gravcomp='.5'"},
    {"joint/hinge/pos", "pos='0 .1 0'", "pos='.1 .1 0'"},
    {"joint/hinge/axis", "axis='0 1 0'", "axis='0 1 .3'"},
    {"joint/hinge/damping", "damping='.1'", "damping='.4'"},
    {"joint/ball/damping", "damping='.2'", "damping='.01'"},
    {"joint/hinge/stiffness", "stiffness='2'", "stiffness='20'"},
    {"joint/hinge/springref", "springref='.3'", "springref='-.4'"},
    {"joint/hinge/armature", "armature='.01'", "armature='.1'"},
    {"joint/hinge/frictionloss", "frictionloss='.2'", "frictionloss='1'"},
    {"joint/hinge/range", "range='-1 1'", "range='-.2 .1'"},
    {"geom/box/pos", "pos='.3 0 0' ", "pos='.2 0 .03' "},
    {"geom/box/quat", "quat='1 .2 0 0'", "quat='1 .1 .2 0'"},
    {"geom/box/size", "size='.3 .05 .1'", "size='.5 .2 .15'"},
    {"geom/box/friction", "friction='.5 .01 .001'", "friction='1.5 .01 .001'"},
    // where all frames are the body's, for which MuJoCo has shortcuts
    {"geom/own/pos", "size='.03 .04 .05' pos='0 0 0'", "size='.03 .04 .05' pos='.1 .2 .3'"},
    {"geom/own/quat", "pos='0 0 0' quat='1 0 0 0'/>", "pos='0 0 0' quat='1 .1 .2 .3'/>"},
    {"site/here/pos", "'here' pos='0 0 0'", "'here' pos='.1 .2 .3'"},
    {"body/same/ipos", "<inertial pos='0 0 0' quat='1 0 0 0' mass='.3'",
     "<inertial pos='.1 .2 .3' quat='1 0 0 0' mass='.3'"},
    {"body/same/iquat", "quat='1 0 0 0' mass='.3'", "quat='1 .1 .2 .3' mass='.3'"},
    {"geom/ball/size", "type='sphere' size='.1'", "type='sphere' size='.13'"},
    {"geom/rod/size", "size='.05 .1'", "size='.03 .2'"},
    {"geom/can/size", "size='.02 .07'", "size='.09 .04'"},
    {"geom/egg/size", "size='.07 .08 .09'", "size='.12 .05 .06'"},
    {"geom/floor/size", "size='5 5 1'", "size='4 3 1'"},
    {"joint/root/damping", "damping='.05'", "damping='.3'"},
    {"joint/root/armature", "armature='.06'", "armature='.4'"},
    {"joint/ball/frictionloss", "frictionloss='.01'", "frictionloss='.02'"},
    {"joint/slide/pos", "pos='.1 .2 .3' type='slide'", "pos='.3 .2 .1' type='slide'"},
    {"joint/slide/springref", "springref='.21'", "springref='.4'"},
    {"joint/slide/range", "range='-.5 .6'", "range='-.1 .2'"},
    {"site/site/pos", "'site' pos='.1 0 0'", "'site' pos='.2 0 .1'"},
    {"actuator/motor/gainprm", "gainprm='3'", "gainprm='5'"},
    {"actuator/motor/biasprm", "biasprm='0 -1 -.2'", "biasprm='0 -3 -.1'"},
    {"actuator/motor/gear", "gear='2'", "gear='-1'"},
    {"tendon/cord/stiffness", "stiffness='3'", "stiffness='30'"},
    {"tendon/cord/damping", "damping='.2' springl", "damping='.9' springl"},
    {"tendon/cord/springlength", "springlength='.1 .2'", "springlength='.3 .5'"},
    {"tendon/cord/frictionloss", "frictionloss='.1'", "frictionloss='.4'"},
    {"tendon/cord/range", "range='-.3 .4'", "range='.1 .2'"},
    {"pair/touch/friction", "friction='.6 .6'", "friction='.1 .1'"},
    {"option/gravity", "gravity='0 0 -9'", "gravity='1 0 -5'"},
};

// The text with the first occurrence of `from` replaced.
static char* replaced(const char* text, const char* from, const char* to) {
  const char* place = strstr(text, from);
  char* out = malloc(strlen(text) + strlen(to) + 1);
  if (!place || !out) fail_msg("not in the text: %s", from);
  sprintf(out, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
  return out;
}

#define NEAR(field, n)                                                                     \
  for (int i = 0; i < (int)(n); i++) checkNear(a->field[i], b->field[i], 1e-9, name)

// What a parameter is, and what MuJoCo derives from it.
static void compareModels(const mjModel* a, const mjModel* b, const char* name) {
  NEAR(body_pos, 3 * a->nbody);
  NEAR(body_quat, 4 * a->nbody);
  NEAR(body_ipos, 3 * a->nbody);
  NEAR(body_iquat, 4 * a->nbody);
  NEAR(body_mass, a->nbody);
  NEAR(body_subtreemass, a->nbody);
  NEAR(body_inertia, 3 * a->nbody);
  NEAR(body_gravcomp, a->nbody);
  NEAR(body_invweight0, 2 * a->nbody);
  NEAR(jnt_pos, 3 * a->njnt);
  NEAR(jnt_axis, 3 * a->njnt);
  NEAR(jnt_stiffness, a->njnt);
  NEAR(jnt_range, 2 * a->njnt);
  NEAR(dof_damping, a->nv);
  NEAR(dof_armature, a->nv);
  NEAR(dof_frictionloss, a->nv);
  NEAR(dof_invweight0, a->nv);
  NEAR(dof_M0, a->nv);
  NEAR(qpos0, a->nq);
  NEAR(qpos_spring, a->nq);
  NEAR(geom_size, 3 * a->ngeom);
  NEAR(geom_aabb, 6 * a->ngeom);
  NEAR(geom_rbound, a->ngeom);
  NEAR(geom_pos, 3 * a->ngeom);
  NEAR(geom_quat, 4 * a->ngeom);
  NEAR(geom_friction, 3 * a->ngeom);
  NEAR(site_pos, 3 * a->nsite);
  NEAR(pair_friction, 5 * a->npair);
  NEAR(tendon_stiffness, a->ntendon);
  NEAR(tendon_damping, a->ntendon);
  NEAR(tendon_lengthspring, 2 * a->ntendon);
  NEAR(tendon_frictionloss, a->ntendon);
  NEAR(tendon_range, 2 * a->ntendon);
  NEAR(tendon_invweight0, a->ntendon);
  NEAR(actuator_gear, 6 * a->nout);
  NEAR(actuator_gainprm, mjNGAIN * a->nactuator);
  NEAR(actuator_biasprm, mjNBIAS * a->nactuator);
  NEAR(actuator_acc0, a->nout);
  assert_int_equal(a->ngravcomp, b->ngravcomp);
  assert_int_equal(a->flg_gravcomp, b->flg_gravcomp);
}

// A changed parameter gives the model, and the motion, of a scene that was compiled with it.
static void checkDesign(const djDesignCase* c, const mjModel* m) {
  char* text = replaced(kDesign, c->from, c->to);
  mjModel* changed = djt_compile(text);
  djModel* x = djt_import(NULL, changed);
  djError err;
  double value[16];
  djParam param = djt_param(x, c->name);
  assert_int_equal(dj_getParam(value, x, &param), DJ_OK);

  djStock* stock = makeStock(m);
  djStatus status = dj_setStockParam(stock, c->name, param.nvalue, value, &err);
  if (status != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_setStockParam(stock, c->name, param.nvalue + 1, value, &err), DJ_INVALID);
  compareModels(stock->m, changed, c->name);
  mjData* d = mj_makeData(changed);
  for (int i = 0; i < 400; i++) {
    const double ctrl = 0.3;
    d->ctrl[0] = ctrl;
    mj_step(changed, d);
    assert_int_equal(dj_stepStock(stock, &ctrl, &err), DJ_OK);
  }
  for (int i = 0; i < m->nq; i++) checkNear(stock->d->qpos[i], d->qpos[i], 1e-7, c->name);
  checkNear(stock->d->sensordata[2], d->sensordata[2], 1e-7, c->name);
  mj_kinematics(changed, d);
  mj_kinematics(stock->m, stock->d);
  for (int i = 0; i < 3 * m->ngeom; i++) {
    checkNear(stock->d->geom_xpos[i], d->geom_xpos[i], 1e-6, c->name);
  }
  for (int i = 0; i < 9 * m->ngeom; i++) {
    checkNear(stock->d->geom_xmat[i], d->geom_xmat[i], 1e-6, c->name);
  }
  for (int i = 0; i < 3 * m->nsite; i++) {
    checkNear(stock->d->site_xpos[i], d->site_xpos[i], 1e-6, c->name);
  }
  for (int i = 0; i < 9 * m->nbody; i++) {
    checkNear(stock->d->ximat[i], d->ximat[i], 1e-6, c->name);
  }
  mj_deleteData(d);
  dj_deleteStock(stock);
  dj_deleteModel(x);
  mj_deleteModel(changed);
  free(text);
}

static void testDesign(void) {
  mjModel* m = djt_compile(kDesign);
  int inertial = 0;   // shapes and sites whose frame MuJoCo takes from the body's inertia
  for (int i = 0; i < m->ngeom; i++) inertial += m->geom_sameframe[i] == mjSAMEFRAME_INERTIA;
  for (int i = 0; i < m->nsite; i++) inertial += m->site_sameframe[i] == mjSAMEFRAME_INERTIA;
  assert_int_equal(inertial, 2);
  for (size_t i = 0; i < sizeof(designs) / sizeof(*designs); i++) checkDesign(designs + i, m);
  mj_deleteModel(m);
}

// Frames that MuJoCo has shortcuts for, moved by less than what it sees.
static void testSmallMoves(void) {
  static const char* const kName[] = {"geom/own/pos", "site/here/pos", "body/same/ipos"};
  mjModel* m = djt_compile(kDesign);
  djError err;
  for (int i = 0; i < 3; i++) {
    const double before[3] = {0, 0, 0}, after[3] = {1e-8, 2e-8, 3e-8};
    double place[2][3];
    djStock* stock = makeStock(m);
    int geom = mj_name2id(m, mjOBJ_GEOM, "own"), body = mj_name2id(m, mjOBJ_BODY, "same");
    int site = mj_name2id(m, mjOBJ_SITE, "here");
    for (int k = 0; k < 2; k++) {
      const mjData* d = stock->d;
      assert_int_equal(dj_setStockParam(stock, kName[i], 3, k ? after : before, &err), DJ_OK);
      mj_kinematics(stock->m, stock->d);
      mju_copy3(place[k], i == 0   ? d->geom_xpos + 3 * geom
                          : i == 1 ? d->site_xpos + 3 * site
                                   : d->xipos + 3 * body);
    }
    checkNear(mju_dist3(place[0], place[1]), sqrt(14) * 1e-8, 1e-12, kName[i]);
    dj_deleteStock(stock);
  }
  mj_deleteModel(m);
}

// Normals are of length 1, across all edges of their polygons, and point outwards.
static void checkNormals(const mjModel* m, int mesh) {
  const float* vert = m->mesh_vert + 3 * m->mesh_vertadr[mesh];
  int adr = m->mesh_polyadr[mesh], n = m->mesh_polynum[mesh];
  assert_int_equal(n, 6);
  for (int p = adr; p < adr + n; p++) {
    const int* corner = m->mesh_polyvert + m->mesh_polyvertadr[p];
    const mjtNum* normal = m->mesh_polynormal + 3 * p;
    checkNear(mju_norm3(normal), 1, 1e-6, "length");
    for (int k = 0; k < m->mesh_polyvertnum[p]; k++) {
      const float *a = vert + 3 * corner[k], *b = vert + 3 * corner[k ? k - 1 : 1];
      mjtNum edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, out[3] = {a[0], a[1], a[2]};
      checkNear(mju_dot3(normal, edge), 0, 1e-6, "across");
      assert_true(mju_dot3(normal, out) > 0.01);
    }
  }
}

// Vertices of the compiled mesh, the second of two: the body falls onto the moved one.
static void testMeshDesign(void) {
  mjModel* m = djt_compile(
      "<mujoco><asset><mesh name='first' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1'/><mesh name='m' "
      "vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1' scale='.1 .1 .1'/>"
      "</asset><worldbody><geom type='plane' size='1 1 1'/>"
      "<body pos='0 0 .2'><freejoint/><geom type='mesh' mesh='m'/></body><body pos='5 0 .2'><geom "
      "type='mesh' mesh='first'/></body></worldbody></mujoco>");
  djStock* stock = makeStock(m);
  djError err;
  double vert[24];
  int adr = m->mesh_vertadr[1];
  assert_int_equal(m->mesh_vertnum[1], 8);
  for (int i = 0; i < 24; i++) vert[i] = (1.5 - 0.25 * (i % 3)) * m->mesh_vert[3 * adr + i];
  assert_int_equal(dj_setStockParam(stock, "mesh/m/vert", 24, vert, &err), DJ_OK);
  for (int k = 0; k < 3; k++) {   // each axis by its own
    checkNear(stock->m->geom_aabb[9 + k], (1.5 - 0.25 * k) * m->geom_aabb[9 + k], 1e-6, "box");
    checkNear(stock->m->geom_size[3 + k], (1.5 - 0.25 * k) * m->geom_size[3 + k], 1e-6, "size");
  }
  checkNear(stock->m->geom_rbound[1],
            m->geom_rbound[1] * sqrt((1.5 * 1.5 + 1.25 * 1.25 + 1) / 3), 1e-6, "ball");
  for (int i = 0; i < 24; i++) vert[i] = 1.5 * m->mesh_vert[3 * adr + i];
  assert_int_equal(dj_setStockParam(stock, "mesh/m/vert", 24, vert, &err), DJ_OK);
  for (int k = 0; k < 6; k++) {
    checkNear(stock->m->geom_aabb[6 + k], 1.5 * m->geom_aabb[6 + k], 1e-6, "box");
  }
  for (int k = 0; k < 3; k++) {
    checkNear(stock->m->geom_size[3 + k], 1.5 * m->geom_size[3 + k], 1e-6, "size");
  }
  checkNear(stock->m->geom_rbound[1], 1.5 * m->geom_rbound[1], 1e-6, "ball");
  for (int i = 0; i < 1000; i++) assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
  checkNear(stock->d->qpos[2], 0.15, 1e-3, "height");
  assert_int_equal(dj_setStockParam(stock, "mesh/m/vert", 23, vert, &err), DJ_INVALID);
  for (int i = 0; i < 8; i++) {   // sheared
    vert[3 * i] += 0.4 * vert[3 * i + 1] + 0.2 * vert[3 * i + 2];
    vert[3 * i + 1] += 0.3 * vert[3 * i + 2];
  }
  checkNormals(stock->m, 1);
  assert_int_equal(dj_setStockParam(stock, "mesh/m/vert", 24, vert, &err), DJ_OK);
  checkNormals(stock->m, 1);
  // the first mesh and its geom are as they were
  const mjModel* x = stock->m;
  assert_memory_equal(x->mesh_vert, m->mesh_vert, 3 * (size_t)adr * sizeof(float));
  assert_memory_equal(x->mesh_polynormal, m->mesh_polynormal,
                      3 * (size_t)m->mesh_polyadr[1] * sizeof(mjtNum));
  assert_memory_equal(x->geom_aabb + 12, m->geom_aabb + 12, 6 * sizeof(mjtNum));
  assert_memory_equal(x->geom_size + 6, m->geom_size + 6, 3 * sizeof(mjtNum));
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

// Contacts after a change that moves shapes in their body are those of a scene compiled with it;
// with MuJoCo's trees of boxes as they were before, some are left out.
static void testTrees(void) {
  static const djDesignCase moved[] = {
      {"body/row/ipos", "pos='.03 0 0'", "pos='.03 0 50'"},
      {"body/row/iquat", "quat='1 0 0 0' mass", "quat='1 0 1 0' mass"},
      {"geom/last/pos", "pos='.7 0 100'", "pos='.7 0 0'"},
      {"geom/long/size", "size='.05 .1'", "size='.05 100.05'"},
      {"geom/turned/quat", "quat='1 1 0 0'", "quat='1 0 0 0'"},
  };
  // boxes in a row; above them a body, the shapes of which are near them or 100 m higher
  static const char kRows[] =
      "<mujoco><worldbody><body><geom type='box' size='.1 .1 .1' pos='0 0 -.1'/><geom type='box' "
      "size='.1 .1 .1' pos='.7 0 -.1'/><geom type='box' size='.1 .1 .1' pos='30 0 -.1'/></body>"
      "<body name='row' pos='0 0 .04'><freejoint/><inertial pos='.03 0 0' quat='1 0 0 0' mass='1' "
      "diaginertia='.1 .2 .25'/><geom size='.05'/><geom size='.05' pos='30 0 0'/>"
      "<geom name='last' size='.05' pos='.7 0 100'/><geom size='.05' pos='.9 0 100'/>"
      "<geom name='long' type='capsule' size='.05 .1' pos='.75 0 100'/><geom name='turned' "
      "type='capsule' size='.05 100.05' pos='0 .05 100' quat='1 1 0 "
      "0'/></body></worldbody></mujoco>";
  mjModel* m = djt_compile(kRows);
  int stale = 0;
  for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
    char* text = replaced(kRows, moved[i].from, moved[i].to);
    mjModel* changed = djt_compile(text);
    djModel* x = djt_import(NULL, changed);
    djStock* stock = makeStock(m);
    djError err;
    double value[16];
    djParam param = djt_param(x, moved[i].name);
    assert_int_equal(dj_getParam(value, x, &param), DJ_OK);
    djt_failIf(dj_setStockParam(stock, moved[i].name, param.nvalue, value, &err) != DJ_OK, "%s",
               err.text);
    mjData* d = mj_makeData(changed);
    mj_forward(changed, d);
    mj_forward(stock->m, stock->d);
    djt_failIf(d->ncon != stock->d->ncon, "%s: %d contacts, not %d", moved[i].name, stock->d->ncon,
               d->ncon);
    mju_copy(stock->m->bvh_aabb, m->bvh_aabb, 6 * (int)m->nbvh);
    mj_forward(stock->m, stock->d);
    stale += d->ncon != stock->d->ncon;
    mj_deleteData(d);
    dj_deleteStock(stock);
    dj_deleteModel(x);
    mj_deleteModel(changed);
    free(text);
  }
  assert_int_equal(stale, 5);
  mj_deleteModel(m);
}

static void testNames(void) {
  mjModel* m = djt_compile(kDesign);
  djStock* stock = makeStock(m);
  djError err;
  const double one[4] = {1, 0, 0, 0}, three[3] = {.1, .2, .3};
  static const char* const bad[] = {"body/arm/foo", "body/none/pos", "body/#99/pos", "body/#x/pos",
                                    "body/arm", "thing/arm/pos", "", "option/wind"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    assert_int_equal(dj_setStockParam(stock, bad[i], 3, three, &err), DJ_INVALID);
    assert_true(err.text[0]);
  }
  assert_int_equal(dj_setStockParam(stock, "body/#2/pos", 3, three, &err), DJ_OK);
  assert_true(stock->m->body_pos[7] == .2 && m->body_pos[7] == 0);
  assert_int_equal(dj_setStockParam(stock, "contact/support", 1, one, &err), DJ_OK);
  // axes and rotations are of length 1, whatever they are given as
  const double axis[3] = {0, 3, 4}, quat[4] = {2, 0, 0, 1}, pose[7] = {1, 2, 3, 2, 0, 0, 1};
  assert_int_equal(dj_setStockParam(stock, "joint/hinge/axis", 3, axis, &err), DJ_OK);
  checkNear(stock->m->jnt_axis[1], 0.6, 1e-15, "axis");
  assert_int_equal(dj_setStockParam(stock, "body/arm/quat", 4, quat, &err), DJ_OK);
  checkNear(stock->m->body_quat[4], 2 / sqrt(5), 1e-15, "quat");
  assert_int_equal(dj_setStockParam(stock, "joint/ball/springref", 4, quat, &err), DJ_OK);
  checkNear(stock->m->qpos_spring[1], 2 / sqrt(5), 1e-15, "springref");
  assert_int_equal(dj_setStockParam(stock, "joint/root/springref", 7, pose, &err), DJ_OK);
  int root = m->jnt_qposadr[mj_name2id(m, mjOBJ_JOINT, "root")];
  checkNear(stock->m->qpos_spring[root + 2], 3, 1e-15, "springref");
  checkNear(stock->m->qpos_spring[root + 6], 1 / sqrt(5), 1e-15, "springref");
  // a body whose inertia matrix MuJoCo keeps diagonal
  mjModel* simple = djt_compile("<mujoco><worldbody><body name='b'><freejoint/><geom size='.1'/>"
                                "</body></worldbody></mujoco>");
  djStock* other = makeStock(simple);
  assert_int_equal(dj_setStockParam(other, "body/b/ipos", 3, three, &err), DJ_UNSUPPORTED);
  assert_int_equal(dj_setStockParam(other, "body/b/iquat", 4, one, &err), DJ_OK);
  dj_deleteStock(other);
  mj_deleteModel(simple);
  dj_deleteStock(stock);
  mj_deleteModel(m);
}

DJT_MAIN(testSteps, testContactForces, testGravityScale, testErrors, testGuard, testWork,
         testMessage, testDesign, testSmallMoves, testMeshDesign, testTrees, testNames)
