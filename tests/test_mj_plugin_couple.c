// Contact by the plugin dijoco.contact beside constraints that MuJoCo solves: welds, connections,
// friction loss, contacts of geoms that are not owned.

#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

#define WITH(config)                                                                    \
  "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>" config      \
  "</instance></plugin></extension>"
#define MUJOCOS "<config key='constraints' value='mujoco'/>"   // limits of joints too
#define SOFT "<config key='stiffness_scale' value='3e-4'/>"   // enough for differences
#define QUIET "<option><flag contact='disable'/></option>"
#define FLOOR "<worldbody><geom type='plane' size='3 3 1'/>"

static const int kIntegrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST, mjINT_DISCRETE};
enum { NINTEGRATOR = 4 };

// A box that carries another one by a weld.
static mjModel* welded(double mass) {
  char text[2000];
  snprintf(text, sizeof(text), WITH(SOFT) QUIET FLOOR
           "<body name='A' pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/>"
           "</body><body name='B' pos='0 0 .3'><freejoint/><geom type='box' size='.05 .05 .05' "
           "mass='%g'/></body></worldbody><equality><weld body1='A' body2='B'/></equality>"
           "</mujoco>", mass);
  return djt_compile(text);
}

static void run(const mjModel* m, mjData* d, int n) {
  for (int k = 0; k < n; k++) mj_step(m, d);
}

static const djData* contactData(const mjModel* m, const mjData* d) {
  djmContext* context = djm_pluginContext(m, d);
  assert_non_null(context);
  return djm_data(context);
}

// The lower box rests where it rests alone under that weight, whatever it carries.
static void testWeld(void) {
  static const double mass[] = {0.1, 1, 10, 100};
  for (int k = 0; k < 4 * NINTEGRATOR; k++) {
    mjModel* m = welded(mass[k / NINTEGRATOR]);
    m->opt.timestep = 0.005;
    m->opt.integrator = kIntegrators[k % NINTEGRATOR];
    mjData* d = mj_makeData(m);
    run(m, d, 200);
    assert_true(fabs(d->qpos[2] - 0.05) < 2e-4);
    const djData* data = contactData(m, d);
    assert_int_equal(data->npair, 1);
    double weight = (1 + mass[k / NINTEGRATOR]) * 9.81;
    assert_true(fabs(data->pair[0].force[2] - weight) < 2e-3 * weight);
    djt_deleteEngine(m, d);
  }
}

// Deepest overlap and largest speed of a run.
static void measure(double* overlap, double* speed, const char* text, double h, double time) {
  mjModel* m = djt_compile(text);
  m->opt.timestep = h;
  mjData* d = mj_makeData(m);
  *speed = 0;
  for (int k = 0; k < time / h; k++) {
    if (m->nmocap) d->mocap_pos[2] = fmax(0.02, 0.12 - 0.2 * d->time);
    mj_step(m, d);
    for (int i = 0; i < m->nv; i++) *speed = djt_worst(*speed, fabs(d->qvel[i]));
  }
  *overlap = contactData(m, d)->stats.deepest_overlap;
  djt_deleteEngine(m, d);
}

// Nothing sinks into anything that it touches, nor is it thrown.
static void testScenes(void) {
  static const char* const scenes[] = {
      // links in a loop, the heavy one above
      WITH(SOFT) QUIET FLOOR
      "<body name='A' pos='0 0 .3'><freejoint/><geom type='capsule' fromto='0 0 0 .3 0 0' "
      "size='.03'/><body name='A2' pos='.3 0 0'><joint axis='0 1 0'/><geom type='capsule' "
      "fromto='0 0 0 0 0 .3' size='.03'/></body></body><body name='B' pos='0 0 .6'><freejoint/>"
      "<geom type='capsule' fromto='.06 0 0 .24 0 0' size='.03' mass='5'/></body></worldbody>"
      "<equality><connect body1='A2' body2='B' anchor='0 0 .3'/>"
      "<connect body1='A' body2='B' anchor='0 0 .3'/></equality></mujoco>",
      // a hand that is pressed into the floor
      WITH(SOFT) QUIET FLOOR
      "<body name='hand' pos='0 0 .12'><freejoint/><geom type='box' size='.03 .03 .03' mass='.3'/>"
      "</body><body name='goal' mocap='true' pos='0 0 .12'/></worldbody><equality>"
      "<weld body1='goal' body2='hand'/></equality></mujoco>",
      // friction in a joint
      WITH(SOFT) QUIET FLOOR
      "<body pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/>"
      "<body pos='0 0 .05'><joint axis='0 1 0' frictionloss='1'/><geom type='capsule' "
      "fromto='0 0 0 .5 0 .2' size='.02' mass='.3'/></body></body></worldbody></mujoco>",
      // boxes of both kinds in turn
      WITH("<config key='geoms' value='one three'/>") FLOOR
      "<body pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/></body>"
      "<body pos='0 0 .18'><freejoint/><geom name='one' contype='0' conaffinity='0' type='box' "
      "size='.1 .1 .05' mass='3'/></body><body pos='.02 0 .3'><freejoint/><geom type='box' "
      "size='.1 .1 .05' mass='1'/></body><body pos='0 0 .42'><freejoint/><geom name='three' "
      "contype='0' conaffinity='0' type='box' size='.1 .1 .05' mass='3'/></body></worldbody>"
      "</mujoco>"};
  for (int k = 0; k < 4; k++) {
    double overlap, speed;
    measure(&overlap, &speed, scenes[k], 0.005, 0.8);
    if (overlap > 1e-3 || speed > 10) fail_msg("scene %d: overlap %g, %g", k, overlap, speed);
  }
}

// What is carried by an arm that a weld pulls beyond its limit stays where it is on the arm:
// friction goes with the velocity that MuJoCo's step ends with.
static void testLimit(void) {
  for (int k = 0; k < NINTEGRATOR; k++) {
    mjModel* m = djt_compile(
        WITH(MUJOCOS) QUIET "<worldbody><body name='arm' pos='0 0 .3'>"
        "<joint type='slide' axis='1 0 0' limited='true' range='-1 .1'/>"
        "<geom type='box' size='.2 .2 .02' mass='1'/></body>"
        "<body pos='0 0 .36'><freejoint/><geom type='box' size='.03 .03 .03' mass='.5'/></body>"
        "<body name='goal' mocap='true' pos='0 0 .3'/></worldbody><equality>"
        "<weld body1='goal' body2='arm'/></equality></mujoco>");
    m->opt.integrator = kIntegrators[k];
    mjData* d = mj_makeData(m);
    int limited = 0;
    double offset = 0;         // once the arm has come to rest
    for (int i = 0; i < 1000; i++) {
      if (i == 500) offset = d->qpos[1] - d->qpos[0];
      d->mocap_pos[0] = fmin(0.25, 0.5 * d->time);
      mj_step(m, d);
      bool pressed = d->nefc == 7 && d->efc_type[6] == mjCNSTR_LIMIT_JOINT && d->efc_force[6] > 1;
      if (!pressed) continue;
      limited++;
      const djData* data = contactData(m, d);
      assert_int_equal(data->npair, 1);
      for (int j = 0; j < (int)m->nv; j++) assert_float_equal(d->qvel[j], data->qvel[j], 1e-5);
    }
    assert_true(limited > 500);
    assert_float_equal((d->qpos[1] - d->qpos[0]), offset, 1e-4);
    djt_deleteEngine(m, d);
  }
}

// A heavy trunk on light legs, which its weight bends up to their limits: no foot sinks in.
static void testLegs(void) {
  for (int k = 0; k < NINTEGRATOR; k++) {
    mjModel* m = djt_compile(
        WITH(MUJOCOS) QUIET "<default><geom friction='.1'/></default>" FLOOR
        "<body pos='0 0 .3'><freejoint/><geom type='box' size='.2 .2 .05' mass='10'/>"
        "<body pos='.2 0 0'><joint axis='0 1 0' limited='true' range='-20 20'/><geom "
        "type='capsule' fromto='0 0 0 .1 0 -.25' size='.02' mass='.1'/></body><body pos='-.2 0 0'>"
        "<joint axis='0 1 0' limited='true' range='-20 20'/><geom type='capsule' "
        "fromto='0 0 0 -.1 0 -.25' size='.02' mass='.1'/></body></body></worldbody></mujoco>");
    m->opt.integrator = kIntegrators[k];
    mjData* d = mj_makeData(m);
    int limited = 0;
    for (int i = 0; i < 500; i++) {
      mj_step(m, d);
      const djData* data = contactData(m, d);
      if (data->npair < 2 || d->nefc == 0 || d->efc_force[0] < 1) continue;
      limited++;
      for (int j = 0; j < (int)m->nv; j++) assert_float_equal(d->qvel[j], data->qvel[j], 1e-5);
    }
    assert_true(limited > 100);
    assert_true(contactData(m, d)->stats.deepest_overlap < 2e-4);
    djt_deleteEngine(m, d);
  }
}

// Constraint forces that contact does not feel are MuJoCo's alone: a hanging weld is as without us.
static void testNoContact(void) {
  mjModel* m = welded(3);
  mjModel* stock = mj_copyModel(NULL, m);
  stock->nplugin = 0;
  mjData *d = mj_makeData(m), *plain = mj_makeData(stock);
  d->qpos[2] = plain->qpos[2] = 5;
  d->qpos[9] = plain->qpos[9] = 5.3;
  run(m, d, 200);
  run(stock, plain, 200);
  for (int i = 0; i < m->nq; i++) djt_near(d->qpos[i], plain->qpos[i], 1e-9);
  mj_deleteData(d);
  mj_deleteData(plain);
  stock->nplugin = m->nplugin;
  mj_deleteModel(stock);
  mj_deleteModel(m);
}

// Copies, halves of steps and passes in between; inverse dynamics; derivatives twice.
static void testNothingKept(void) {
  mjModel* m = welded(10);
  int nx = 2 * (int)m->nv;
  mjtNum* A = calloc(2 * (size_t)nx * nx, sizeof(*A));
  assert_non_null(A);
  for (int i = 0; i < NINTEGRATOR; i++) {
    m->opt.integrator = kIntegrators[i];
    mjData* d = mj_makeData(m);
    d->qvel[0] = 0.5;
    run(m, d, 100);
    assert_true(contactData(m, d)->npair > 0);
    mjData *copy = mj_copyData(NULL, m, d), *e = mj_copyData(NULL, m, d);
    for (int k = 0; k < 20; k++) {
      mj_step(m, d);
      mj_step(m, copy);
      mj_forward(m, e);
      for (int j = 0; j < m->nv; j++) e->qacc[j] = j;
      mj_inverse(m, e);
      for (int j = 0; j < m->nv; j++) assert_true(e->qacc[j] == j);
      mj_step1(m, e);
      mj_step2(m, e);
    }
    assert_memory_equal(d->qpos, copy->qpos, m->nq * sizeof(mjtNum));
    assert_memory_equal(d->qpos, e->qpos, m->nq * sizeof(mjtNum));
    mj_forward(m, d);
    mj_inverse(m, d);         // nothing else acts
    for (int j = 0; j < m->nv; j++) djt_near(d->qfrc_inverse[j], 0, 1e-4);
    mjd_transitionFD(m, d, 1e-6, 1, A, NULL, NULL, NULL);
    mjd_transitionFD(m, d, 1e-6, 1, A + nx * nx, NULL, NULL, NULL);
    assert_memory_equal(A, A + nx * nx, nx * nx * sizeof(*A));
    // the search for constraint forces is finer than the differences
    mjd_transitionFD(m, d, 3e-7, 1, A + nx * nx, NULL, NULL, NULL);
    double worst = 0, size = 0;
    for (int j = 0; j < nx * nx; j++) {
      worst = djt_worst(worst, fabs(A[j] - A[nx * nx + j]));
      size = djt_worst(size, fabs(A[j]));
    }
    assert_true(size > 100 && worst < 1e-3 * size);
    mj_deleteData(d);
    mj_deleteData(copy);
    mj_deleteData(e);
  }
  free(A);
  mj_deleteModel(m);
}

// ------------------------------ MuJoCo's solvers -------------------------------------------------

static mjtNum replayed[100];
static void replay(const mjModel* m, mjData* d) {
  if (m->nplugin == 0) mju_copy(d->qfrc_passive, replayed, (int)m->nv);
}

// MuJoCo's step after the plugin is the one that it takes with that passive force by itself, to the
// last bit, whichever solver it has.
static void testSolvers(void) {
  static const struct {
    int solver, cone, noslip, disable, enable;
  } variants[] = {{mjSOL_NEWTON, mjCONE_PYRAMIDAL, 0, 0, 0},
                  {mjSOL_NEWTON, mjCONE_ELLIPTIC, 0, mjDSBL_ISLAND, 0},
                  {mjSOL_CG, mjCONE_ELLIPTIC, 0, 0, 0},
                  {mjSOL_PGS, mjCONE_PYRAMIDAL, 3, 0, 0},
                  {mjSOL_NEWTON, mjCONE_PYRAMIDAL, 5, 0, mjENBL_DIAGEXACT},
                  {mjSOL_NEWTON, mjCONE_PYRAMIDAL, 0, mjDSBL_WARMSTART, mjENBL_FWDINV}};
  mjModel* m = djt_compile(
      WITH(MUJOCOS "<config key='geoms' value='one'/>") FLOOR
      "<body pos='0 0 .06'><freejoint/><geom type='box' size='.1 .1 .05' mass='1'/></body>"
      "<body pos='0 0 .18'><freejoint/><geom name='one' contype='0' conaffinity='0' type='box' "
      "size='.1 .1 .05' mass='3'/><body pos='.1 0 .05'><joint name='j' axis='0 1 0' damping='.1' "
      "frictionloss='.2' limited='true' range='-30 30'/><geom type='capsule' contype='0' "
      "conaffinity='0' fromto='0 0 0 .2 0 .1' size='.02'/></body></body></worldbody>"
      "<actuator><position joint='j' kp='3' kv='.1'/></actuator><custom><text name='dijoco_spin' "
      "data='mujoco'/></custom></mujoco>");   // no velocity is told behind MuJoCo's step
  mjModel* stock = mj_copyModel(NULL, m);
  stock->nplugin = 0;
  mjtNum* x = calloc(mj_stateSize(m, mjSTATE_INTEGRATION), sizeof(*x));
  assert_non_null(x);
  mjcb_passive = replay;
  for (int k = 0; k < 6 * NINTEGRATOR; k++) {
    m->opt.integrator = kIntegrators[k % NINTEGRATOR];
    m->opt.solver = variants[k / NINTEGRATOR].solver;
    m->opt.cone = variants[k / NINTEGRATOR].cone;
    m->opt.noslip_iterations = variants[k / NINTEGRATOR].noslip;
    m->opt.disableflags = variants[k / NINTEGRATOR].disable;
    m->opt.enableflags = variants[k / NINTEGRATOR].enable;
    stock->opt = m->opt;
    mjData *d = mj_makeData(m), *plain = mj_makeData(stock);
    d->ctrl[0] = 0.3;
    int coupled = 0;
    for (int i = 0; i < 80; i++) {
      mj_getState(m, d, x, mjSTATE_INTEGRATION);
      mj_setState(stock, plain, x, mjSTATE_INTEGRATION);
      mj_step(m, d);
      mju_copy(replayed, d->qfrc_passive, (int)m->nv);
      mj_step(stock, plain);
      assert_int_equal(d->nefc, plain->nefc);
      assert_memory_equal(d->efc_force, plain->efc_force, d->nefc * sizeof(mjtNum));
      assert_memory_equal(d->qpos, plain->qpos, m->nq * sizeof(mjtNum));
      assert_memory_equal(d->qvel, plain->qvel, m->nv * sizeof(mjtNum));
      assert_memory_equal(d->qacc, plain->qacc, m->nv * sizeof(mjtNum));
      coupled += d->nefc > 4 && contactData(m, d)->npair > 0;
    }
    assert_true(coupled > 20);
    mj_deleteData(d);
    mj_deleteData(plain);
  }
  mjcb_passive = NULL;
  free(x);
  stock->nplugin = m->nplugin;
  mj_deleteModel(stock);
  mj_deleteModel(m);
}

DJT_MAIN_IN(djt_registerContact, NULL, testWeld, testScenes, testLimit, testLegs, testNoContact,
            testNothingKept, testSolvers)
