// Bodies that are moved from outside: what they push, lift, carry and convey goes with them at their
// speed, whatever that is and the timestep; their last poses are state; where there are none, or
// they jump, or there is no way out, they have always been where they are; and derivatives of steps
// in which they move are exact.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"
#include "integrate/carry.h"
#include "integrate/mocap.h"

#include <dijoco/gradient.h>

static const double speed[] = {0.1, 0.5, 2}, timestep[] = {0.002, 0.01};
static const djIntegrator method[] = {DJ_EULER, DJ_POSITION};
enum { NSPEED = 3, NTIMESTEP = 2, NMETHOD = 2 };
static const double G = 9.81, MU = 0.5;

// ---- scenes -----------------------------------------------------------------------------------

static int addMocap(Scene* s, double x, double y, double z) {
  int b = addBody(s, 0, -1, x, y, z, 1, 0.1);
  s->body[b].mocap = true;
  return b;
}

static void addBox(Scene* s, int body, double a, double b, double c) {
  addGeom(s, body, DJ_BOX, a, b, c)->friction[0] = MU;
}

// A floor, a cube of 1 kg and 10 cm at a place, and a mocap box of some size at another.
static djModel* cubeAndBox(const double cube[3], const double box[3], const double size[3]) {
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = MU;
  int b = addBody(s, 0, DJ_FREE, cube[0], cube[1], cube[2], 1, 0.06);
  addBox(s, b, 0.05, 0.05, 0.05);
  b = addMocap(s, box[0], box[1], box[2]);
  addBox(s, b, size[0], size[1], size[2]);
  return takeScene(s);
}

static djModel* pusherModel(void) {
  const double cube[3] = {0, 0, 0.05}, box[3] = {-0.12, 0, 0.051}, size[3] = {0.02, 0.05, 0.05};
  return cubeAndBox(cube, box, size);
}

static djModel* plateModel(void) {
  const double cube[3] = {0, 0, 0.37}, box[3] = {0, 0, 0.3}, size[3] = {5, 0.5, 0.02};
  return cubeAndBox(cube, box, size);
}

static djData* openData(djModel* m, djIntegrator integrator, double h) {
  djData* d = djt_openMethod(m, integrator, h);
  for (int k = 0; k < 10; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  return d;
}

// Calls run with all speeds, timesteps and methods.
static void forAll(djModel* (*make)(void),
                   void (*run)(const djModel* m, djData* d, double V, double h)) {
  for (int k = 0; k < NSPEED * NTIMESTEP * NMETHOD; k++) {
    double V = speed[k % NSPEED], h = timestep[k / NSPEED % NTIMESTEP];
    djModel* m = make();
    djData* d = openData(m, method[k / NSPEED / NTIMESTEP], h);
    run(m, d, V, h);
    assert_int_equal(d->stats.recovering_steps, 0);
    assert_int_equal(d->stats.unconverged_steps, 0);
    djt_delete(m, d);
  }
}

// ---- what they do ------------------------------------------------------------------------------

static void push(const djModel* m, djData* d, double V, double h) {
  int n = (int)(fmin(1 / V, 2) / h);
  double most = 0;
  for (int k = 0; k < n; k++) {
    d->mocap_pos[0] += V * h;
    assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->xpos[6], d->mocap_pos[0], 0);   // it is where it is wanted
    assert_true(d->qpos[0] - d->mocap_pos[0] > 0.07 - 1e-4);
    if (k > n / 2) djt_near(d->qvel[0], V, 1e-4 * V);
    most = fmax(most, d->qvel[0]);
  }
  djt_near(d->qpos[0] - d->mocap_pos[0], 0.07, 1e-4);
  assert_true(most < 1.2 * V);
}

static void lift(const djModel* m, djData* d, double V, double h) {
  double a = V / 0.5, z = d->mocap_pos[2];
  for (int k = 1; k * h < 1; k++) {
    double t = k * h;
    d->mocap_pos[2] = z + (t < 0.5 ? 0.5 * a * t * t : 0.5 * V * 0.5 + V * (t - 0.5));
    assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->qpos[2] - d->mocap_pos[2], 0.07, 1e-5);
  }
  djt_near(d->qvel[2], V, 1e-4 * V);
  djt_near(d->qpos[0], 0, 1e-8);
}

// It slips until it has the plate's speed, and then when that stops.
static void convey(const djModel* m, djData* d, double V, double h) {
  int n = (int)(1.5 / h);
  double t = n * h, a = MU * G;
  for (int k = 0; k < n; k++) {
    d->mocap_pos[0] += V * h;
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_true(d->qvel[0] <= V * (1 + 1e-3));
  }
  djt_near(d->qvel[0], V, 1e-4 * V);
  djt_near(d->qpos[0], V * t - V * V / (2 * a), V * h);
  double x = d->qpos[0];
  for (int k = 0; k < n; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  djt_near(d->qpos[0] - x, V * V / (2 * a), V * h);
  djt_near(d->qvel[0], 0, 1e-6);
}

static void testPusher(void) { forAll(pusherModel, push); }

static void testElevator(void) { forAll(plateModel, lift); }

static void testConveyor(void) { forAll(plateModel, convey); }

// By methods whose stages end elsewhere, or whose displacements begin elsewhere.
static void testStages(void) {
  for (int k = 0; k < NTIMESTEP; k++) {
    djModel* m = plateModel();
    djData* d = openData(m, DJ_BDF2, timestep[k]);
    convey(m, d, 0.5, timestep[k]);
    djt_delete(m, d);
  }
  // parts of the way at the ends of stages
  static const djIntegrator all[] = {DJ_MIDPOINT, DJ_BDF2, DJ_BDF1};
  for (int k = 0; k < 4; k++) {
    djModel* m = plateModel();
    djData* d = djt_openMethod(m, all[k % 3], 0.01);
    for (int i = 0; i < 2 + (k == 3); i++) {   // of midpoint one step, of bdf2 its start, then it
      d->mocap_pos[2] -= 0.01;                 // away from the cube
      assert_true(dj_step(m, d) >= 0);
    }
    double from = d->mocap_pos[2] + 0.01, part = (from - d->work->now.kin.body[2].p.z) / 0.01;
    djt_near(part, k % 3 == 0 ? 0.5 : 1, 1e-9);
    djt_near(d->work->from.kin.body[2].p.z, from, 1e-15);
    djt_near(d->xpos[8], d->mocap_pos[2], 0);
    if (k % 3 == 1) djt_near((from - d->work->from_rate.kin.body[2].p.z) / 0.01, 1.0 / 3, 1e-9);
    djt_delete(m, d);
  }
}

// A plate that turns carries what lies on it round.
static void testTurntable(void) {
  const double cube[3] = {0.1, 0, 0.37}, box[3] = {0, 0, 0.3}, size[3] = {0.5, 0.5, 0.02};
  for (int k = 0; k < NTIMESTEP; k++) {
    double h = timestep[k], rate = 2;
    djModel* m = cubeAndBox(cube, box, size);
    djData* d = openData(m, DJ_EULER, h);
    for (int i = 1; i * h <= 2; i++) {
      double angle = 0.5 * rate * i * h;
      d->mocap_quat[0] = cos(angle);
      d->mocap_quat[3] = sin(angle);
      assert_int_equal(dj_step(m, d), DJ_OK);
    }
    double r = sqrt(d->qpos[0] * d->qpos[0] + d->qpos[1] * d->qpos[1]);
    djt_near(r, 0.1, 0.004);
    djt_near(sqrt(d->qvel[0] * d->qvel[0] + d->qvel[1] * d->qvel[1]), rate * r, 0.01);
    djt_near(d->qvel[5], rate, 0.01);
    djt_delete(m, d);
  }
}

// ---- where they do not move ---------------------------------------------------------------------

// The next step is that of data in which the mocap body has always been where it is.
static void checkStill(const djModel* m, djData* d) {
  double velocity[6], state[2][40];
  assert_int_equal(dj_getMocapVelocity(velocity, m, d), DJ_OK);
  for (int i = 0; i < 6; i++) assert_true(velocity[i] == 0);
  djData* other = sceneData(m);
  assert_int_equal(dj_getState(state[0], m, d), DJ_OK);
  memset(state[0] + 14, 0, 7 * sizeof(double));
  assert_int_equal(dj_stateSize(m), 21);
  assert_int_equal(dj_setState(other, m, state[0]), DJ_OK);
  memcpy(other->mocap_pos, d->mocap_pos, 3 * sizeof(double));
  memcpy(other->mocap_quat, d->mocap_quat, 4 * sizeof(double));
  assert_true(dj_step(m, d) >= 0);
  assert_true(dj_step(m, other) >= 0);
  dj_getState(state[0], m, d);
  dj_getState(state[1], m, other);
  assert_memory_equal(state[0], state[1], 21 * sizeof(double));
  dj_deleteData(other);
}

static void pushOn(const djModel* m, djData* d, int n) {
  for (int k = 0; k < n; k++) {
    d->mocap_pos[0] += 0.002;
    assert_true(dj_step(m, d) >= 0);
  }
}

static void testResetAndJump(void) {
  djModel* m = pusherModel();
  djData* d = djt_openMethod(m, DJ_EULER, 0.002);
  double velocity[6], r = sqrt(0.02 * 0.02 + 2 * 0.05 * 0.05);
  for (int k = 0; k < 2; k++) {
    pushOn(m, d, 40);
    assert_int_equal(dj_getMocapVelocity(velocity, m, d), DJ_OK);
    djt_near(velocity[0], 0, 0);
    d->mocap_pos[0] += 0.001;
    dj_getMocapVelocity(velocity, m, d);
    djt_near(velocity[0], 0.5, 1e-9);
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    d->mocap_pos[0] += 0.03;   // within its size
    checkStill(m, d);
  }
  // jumps
  for (int k = 0; k < 4; k++) {
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    d->mocap_pos[0] = -3;
    pushOn(m, d, 3);
    bool turns = k > 1;
    if (turns) {
      double angle = 0.5 * (k == 2 ? 0.99 : 1.01);
      d->mocap_quat[0] = -cos(angle);
      d->mocap_quat[2] = -sin(angle);
    } else {
      d->mocap_pos[2] += r * (k == 0 ? 1.9 : 2.1);
    }
    dj_getMocapVelocity(velocity, m, d);
    if (k == 0) djt_near(velocity[2], 1.9 * r / 0.002, 1e-6);
    if (k == 2) djt_near(velocity[4], 0.99 / 0.002, 1e-6);
    if (k % 2) checkStill(m, d);
  }
  djt_delete(m, d);
}

// A cube against a wall: the pusher goes on, and nothing explodes.
static void testJam(void) {
  for (int k = 0; k < NSPEED * NTIMESTEP; k++) {
    double V = speed[k % NSPEED], h = timestep[k / NSPEED];
    Scene* s = newScene(3);
    addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = MU;
    djGeomDef* wall = addGeom(s, 0, DJ_BOX, 0.02, 0.2, 0.2);
    wall->pos[0] = 0.2;
    wall->pos[2] = 0.2;
    addBox(s, addBody(s, 0, DJ_FREE, 0, 0, 0.05, 1, 0.06), 0.05, 0.05, 0.05);
    addBox(s, addMocap(s, -0.12, 0, 0.051), 0.02, 0.05, 0.05);
    djModel* m = takeScene(s);
    djData* d = openData(m, DJ_EULER, h);
    double most = 0;
    int jams = 0;
    while (d->mocap_pos[0] < 0.2) {
      d->mocap_pos[0] += V * h;
      assert_true(dj_step(m, d) >= 0);
      for (int i = 0; i < 3; i++) most = fmax(most, fabs(d->qvel[i]));
      djt_near(d->xpos[6], d->mocap_pos[0], 0);
      jams += d->stats.jammed_attempts > 0;
      assert_int_equal(d->stats.attempts, d->stats.parts + d->stats.jammed_attempts +
                                              d->stats.substitute_attempts);
    }
    assert_true(jams > 0 && most < 2 * V + 1.5);
    assert_true(d->stats.recovering_steps > 0);   // it says so
    djt_delete(m, d);
  }
}

// Poses on the way, and where the trial of a stage is.
static void testWay(void) {
  djModel* m = pusherModel();
  djData* d = djt_openMethod(m, DJ_EULER, 0.01);
  djWork* w = d->work;
  double pos[3], quat[4], V[6] = {1, 2, 3, 0.4, 0.5, 0.6};
  djMocapWay way;
  assert_false(dj_mocapWay(&way, m, d, 2));
  d->mocap_pos[0] = -1;
  assert_int_equal(dj_setMocapVelocity(d, m, V), DJ_OK);
  assert_true(dj_mocapWay(&way, m, d, 2));
  for (int i = 0; i < 3; i++) djt_near((&way.move.x)[i], 0.01 * V[i], 1e-15);
  for (int i = 0; i < 3; i++) djt_near((&way.turn.x)[i], 0.01 * V[3 + i], 1e-15);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(w->carries);
  dj_mocapPose(pos, quat, w, 0, 0);
  assert_memory_equal(pos, w->start.mocap_last_pos, sizeof pos);
  dj_mocapPose(pos, quat, w, 0, 1);
  assert_memory_equal(quat, d->mocap_quat, sizeof quat);
  dj_mocapPose(pos, quat, w, 0, 0.25);
  djt_near(pos[0], -1 - 0.0075, 1e-15);
  djt_near(quat[1], -0.5 * 0.0075 * 0.4, 1e-8);
  w->carried = 0.5;   // of the rest
  memcpy(w->trial.q, d->qpos, 7 * sizeof(double));
  dj_setTrialPlace(w, m, 0.5);
  djt_near(w->trial_carried, 0.75, 1e-15);
  djt_near(w->trial.kin.body[2].p.x, -1 - 0.0025, 1e-15);
  djt_near(dj_baseSpeed(w, m, 1), 0, 0);
  assert_true(dj_baseSpeed(w, m, 2) > sqrt(14));
  djSix U = dj_mocapTwist(w, m, 2, &w->now.kin);
  djt_near(U.w.z, 0.6, 1e-12);
  dj_stopMocap(w, m, 2);
  assert_false(w->carries);
  djt_delete(m, d);
}

// ---- state -------------------------------------------------------------------------------------

static void testState(void) {
  djModel* m = pusherModel();
  djData* d = djt_openMethod(m, DJ_EULER, 0.01);
  djData* other = sceneData(m);
  char name[32];
  assert_int_equal(dj_stateSize(m), 1 + 7 + 6 + 7);
  assert_string_equal(dj_stateName(name, m, 14), "mocap_last_pos[0]");
  assert_string_equal(dj_stateName(name, m, 17), "mocap_last_quat[0]");
  assert_string_equal(dj_stateName(name, m, 20), "mocap_last_quat[3]");
  assert_string_equal(dj_stateName(name, m, 21), "");
  double x[21], y[2][21], v[6] = {1, 2, 3, 0.4, 0.5, 0.6}, w[6];
  pushOn(m, d, 30);   // in contact
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_memory_equal(x + 14, d->mocap_pos, 3 * sizeof(double));
  assert_memory_equal(x + 17, d->mocap_quat, 4 * sizeof(double));
  for (int k = 0; k < 2; k++) {   // into other data, and by a copy
    djData* to = other;
    assert_int_equal(dj_setState(d, m, x), DJ_OK);
    memcpy(d->mocap_pos, x + 14, 3 * sizeof(double));
    if (k == 0) {
      assert_int_equal(dj_setState(to, m, x), DJ_OK);
      memcpy(to->mocap_pos, d->mocap_pos, 3 * sizeof(double));
      memcpy(to->mocap_quat, d->mocap_quat, 4 * sizeof(double));
    } else {
      assert_int_equal(dj_copyData(to, m, d), DJ_OK);
    }
    pushOn(m, d, 5);
    pushOn(m, to, 5);
    dj_getState(y[0], m, d);
    dj_getState(y[1], m, to);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_true(d->qvel[0] > 0.1);
  }
  // by velocities
  assert_int_equal(dj_setMocapVelocity(d, m, v), DJ_OK);
  assert_int_equal(dj_getMocapVelocity(w, m, d), DJ_OK);
  for (int i = 0; i < 6; i++) djt_near(w[i], v[i], 1e-12);
  v[2] = NAN;
  assert_int_equal(dj_setMocapVelocity(d, m, v), DJ_INVALID);
  assert_int_equal(dj_setMocapVelocity(d, m, NULL), DJ_INVALID);
  dj_deleteData(other);
  djt_delete(m, d);
}

// A belt that moves on the spot.
static void testBelt(void) {
  djModel* m = plateModel();
  djData* d = openData(m, DJ_EULER, 0.002);
  const double v[6] = {0.5, 0, 0, 0, 0, 0};
  for (int k = 0; k < 500; k++) {
    assert_int_equal(dj_setMocapVelocity(d, m, v), DJ_OK);
    assert_int_equal(dj_step(m, d), DJ_OK);
  }
  djt_near(d->qvel[0], 0.5, 1e-4);
  djt_near(d->qpos[0], 0.5 - 0.5 * 0.5 / (2 * MU * G), 1e-3);
  djt_near(d->mocap_pos[0], 0, 0);
  djt_delete(m, d);
}

// ---- derivatives -------------------------------------------------------------------------------

// A floor; a box on a mocap plate that moves and turns; a ball that a mocap paddle pushes; and a
// hand: a mocap palm with two fingers on slides that squeeze a box.
static djModel* richModel(djContactModel contact) {
  Scene* s = newScene(8);
  s->def.option.contact = contact;
  s->def.option.stiffness_scale = 1e-5;
  s->def.option.support_scale = 3;
  s->def.option.friction_eps = 1e-2;
  s->def.option.kn = 2000;
  s->def.option.kt = 20;
  s->def.option.kd = 100;
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  addBox(s, addBody(s, 0, DJ_FREE, 0.02, 0.01, 0.17, 1, 0.06), 0.05, 0.04, 0.05);
  addGeom(s, addBody(s, 0, DJ_FREE, 1, 0, 0.06, 0.5, 0.06), DJ_SPHERE, 0.06, 0, 0);
  addBox(s, addBody(s, 0, DJ_FREE, 2, 0, 0.05, 0.5, 0.06), 0.05, 0.05, 0.05);
  addBox(s, addMocap(s, 0, 0, 0.1), 0.3, 0.3, 0.02);
  addBox(s, addMocap(s, 0.92, 0, 0.06), 0.02, 0.05, 0.05);
  int palm = addMocap(s, 2, 0, 0.3);
  for (int k = 0; k < 2; k++) {
    int finger = addBody(s, palm, DJ_SLIDE, k ? 0.071 : -0.071, 0, -0.22, 0.2, 0.05);
    djJointDef* j = &s->joint[s->def.njnt - 1];
    j->axis[0] = k ? -1 : 1;
    j->axis[1] = 0;
    j->damping = 5;
    addBox(s, finger, 0.02, 0.03, 0.03);
    s->actuator[k] = dj_defaultActuatorDef();
    s->actuator[k].joint = s->def.njnt - 1;
    s->def.nu++;
  }
  return takeScene(s);
}

static void moveAll(djData* d, double h) {
  const double v[3][3] = {{0.2, 0.1, 0.05}, {0.3, 0.02, 0}, {0.05, 0.1, 0.2}};
  const double axis[3][3] = {{0, 0, 0.4}, {0, 0, 0.5}, {0.2, 0.1, 0.6}};
  for (int b = 0; b < 3; b++) {
    djQuat q = dju_loadQuat(d->mocap_quat + 4 * b);
    djVec3 turn = dju_scale3(h, dju_load3(axis[b]));
    for (int i = 0; i < 3; i++) d->mocap_pos[3 * b + i] += h * v[b][i];
    dju_storeQuat(d->mocap_quat + 4 * b, dju_mulQuat(dju_expQuat(turn), q));
  }
}

// (A, B) of steps on the way against differences.
static void testDerivatives(void) {
  static const djIntegrator all[] = {DJ_EULER, DJ_POSITION, DJ_VARIATIONAL, DJ_BDF1,
                                     DJ_MIDPOINT, DJ_BDF2};
  static const djContactModel contact[] = {DJ_SEPARATING_PLANE, DJ_PENALTY};
  for (int k = 0; k < 12; k++) {
    djModel* m = richModel(contact[k / 6]);
    djIntegrator integrator = all[k % 6];
    djData* d = djt_openMethod(m, integrator, 0.004);
    double worst = 0, wrong = INFINITY, x[200], velocity[18];
    int pairs = 0;
    assert_true(dj_stateSize(m) <= 200);
    d->ctrl[0] = d->ctrl[1] = 5;
    for (int i = 0; i < 12; i++) {
      moveAll(d, 0.004);
      assert_true(dj_step(m, d) >= 0);
      if (i < 10) continue;
      moveAll(d, 0.004);
      dj_getMocapVelocity(velocity, m, d);
      assert_true(velocity[0] > 0.1 && velocity[6] > 0.1 && velocity[14] > 0.1);
      assert_int_equal(dj_getState(x, m, d), DJ_OK);
      double least = INFINITY, most = 0;
      for (int e = 0; e < 3; e++) {
        const double step[] = {2e-6, 4e-7, 1e-5};
        assert_true(dj_setState(d, m, x) >= 0);
        least = fmin(least, djt_transitionError(m, d, step[e], 0));
      }
      assert_true(dj_setState(d, m, x) >= 0);
      most = djt_transitionError(m, d, 2e-6, 1e-2);
      worst = djt_worst(worst, least);
      wrong = fmin(wrong, most);
      assert_true(dj_setState(d, m, x) >= 0);
      assert_true(dj_step(m, d) >= 0);
      pairs += d->npair;
    }
    print_message("%s, contact %d: %.1e (wrong by 1e-2: %.1e), %d pairs\n",
                  dj_integratorName(integrator), k / 7, worst, wrong, pairs);
    assert_true(pairs >= 6);
    assert_true(worst < 3e-5);   // of rounding, where contact is stiff
    assert_true(wrong > 1e-3);
    djt_delete(m, d);
  }
}

// A racket that hits a ball, as an impulse within the step: its derivatives.
static void testImpulse(void) {
  Scene* s = newScene(2);
  s->def.option.gravity[2] = 0;
  s->def.option.restitution = DJ_RESTITUTION_GIVEN;
  addBox(s, addBody(s, 0, DJ_FREE, 0.0725, 0.01, 0.02, 1, 0.05), 0.05, 0.05, 0.05);
  s->geom[0].type = DJ_SPHERE;
  s->geom[0].restitution = 0.5;
  addBox(s, addMocap(s, 0, 0, 0), 0.02, 0.2, 0.2);
  djModel* m = takeScene(s);
  djData* d = djt_openMethod(m, DJ_EULER, 0.005);
  const double v[6] = {0, 0.2, 0.1, 0.3, -0.4, 0.5};
  double x[21], worst = INFINITY;
  assert_int_equal(dj_step(m, d), DJ_OK);
  memcpy(d->qvel, v, sizeof v);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  d->mocap_pos[0] += 1 * 0.005;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->qvel[0] > 1.05);   // faster than what has hit it
  for (int k = 0; k < 3; k++) {
    const double step[] = {2e-6, 4e-7, 1e-5};
    assert_true(dj_setState(d, m, x) >= 0);
    worst = fmin(worst, djt_transitionError(m, d, step[k], 0));
  }
  djt_below("impulse", worst, 1e-6);
  djt_delete(m, d);
}

// A run that goes on: its loss, where mocap bodies move in the first step.
static double lossOf(djRolloutResult* out, const djModel* m, djData* d, const double* x,
                     const double* pos, const double* quat, djTape* tape) {
  const djLossTerm term = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1,
                           .target = {0.3, 0.2, 0.1}, .weight = 1};
  double ctrl[8] = {0};
  djRollout r = {.horizon = 3, .qpos0 = d->qpos, .qvel0 = d->qvel, .act0 = d->act, .ctrl = ctrl,
                 .nloss = 1, .loss = &term, .refinement_steps = 3};
  assert_true(dj_setState(d, m, x) >= 0);
  memcpy(d->mocap_pos, pos, 3 * (size_t)m->nmocap * sizeof(double));
  memcpy(d->mocap_quat, quat, 4 * (size_t)m->nmocap * sizeof(double));
  assert_true(djd_rolloutForward(out, m, d, &r, tape) >= 0);
  if (out->grad_qvel0) {
    assert_int_equal(djd_rolloutBackward(out, m, d, &r, tape), DJ_OK);
    for (int i = 0; i < 3 * m->nmocap; i++) djt_near(d->mocap_pos[i], pos[i], 0);
  }
  return out->loss;
}

// Gradients of that by the start's velocity and a coefficient of friction.
static void checkRun(djModel* m, djData* d, const double* x, const double* pos, const double* quat,
                     const char* friction, bool slips) {
  djTape* tape;
  double mu[3], grad[3], by_v[20], e = 1e-6, loss[2];
  djError err = {""};
  assert_int_equal(djd_makeTape(&tape, m, 3, &err), DJ_OK);
  djParam param = djt_param(m, friction);
  assert_true(m->nv <= 20 && param.nvalue <= 3);
  djRolloutResult out = {.grad_qvel0 = by_v, .nparam = 1, .param = &param, .grad_param = grad};
  lossOf(&out, m, d, x, pos, quat, tape);
  djRolloutResult plain = {0};
  double* y = djt_room((size_t)dj_stateSize(m));
  for (int k = 0; k < 2; k++) {
    memcpy(y, x, (size_t)dj_stateSize(m) * sizeof(double));
    y[1 + m->nq] += k ? e : -e;
    loss[k] = lossOf(&plain, m, d, y, pos, quat, tape);
  }
  djt_near(by_v[0], (loss[1] - loss[0]) / (2 * e), 1e-5 * fmax(fabs(by_v[0]), 1e-3));
  assert_int_equal(dj_getParam(mu, m, &param), DJ_OK);
  for (int k = 0; k < 2; k++) {
    double other[3] = {mu[0] + (k ? e : -e), mu[1], mu[2]};
    assert_int_equal(dj_setParam(m, &param, other, &err), DJ_OK);
    loss[k] = lossOf(&plain, m, d, x, pos, quat, tape);
  }
  assert_int_equal(dj_setParam(m, &param, mu, &err), DJ_OK);
  double difference = (loss[1] - loss[0]) / (2 * e);
  print_message("by v %g, by friction %g and %g\n", by_v[0], grad[0], difference);
  if (slips) assert_true(fabs(difference) > 1e-7);
  djt_near(grad[0], difference, 1e-4 * fabs(difference));
  free(y);
  djd_deleteTape(tape);
}

static void testRuns(void) {
  for (int k = 0; k < NMETHOD; k++) {
    djModel* m = richModel(DJ_SEPARATING_PLANE);
    djData* d = djt_openMethod(m, method[k], 0.004);
    double x[200];
    for (int i = 0; i < 10; i++) {
      moveAll(d, 0.004);
      assert_true(dj_step(m, d) >= 0);
    }
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    moveAll(d, 0.004);
    double pos[9], quat[12];
    memcpy(pos, d->mocap_pos, sizeof pos);
    memcpy(quat, d->mocap_quat, sizeof quat);
    checkRun(m, d, x, pos, quat, "geom/#4/friction", true);   // of the plate
    djt_delete(m, d);
  }
}

// A racket that hits a ball: it goes so far in a step that this is taken in parts.
static void testParts(void) {
  for (int k = 0; k < NMETHOD; k++) {
    Scene* s = newScene(2);
    s->def.option.gravity[2] = 0;
    s->def.option.stiffness_scale = 1e-4;
    s->def.option.friction_eps = 1e-2;
    s->def.option.restitution = DJ_RESTITUTION_GIVEN;
    addGeom(s, addBody(s, 0, DJ_FREE, 0.045, 0.02, 0.03, 0.1, 0.02), DJ_SPHERE, 0.02, 0, 0);
    addBox(s, addMocap(s, 0, 0, 0), 0.02, 0.08, 0.08);
    djModel* m = takeScene(s);
    djData* d = djt_openMethod(m, method[k], 0.01);
    double V = 8, x[40];
    assert_int_equal(dj_step(m, d), DJ_OK);
    d->qvel[1] = 1;
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    d->mocap_pos[0] += V * 0.01;
    d->mocap_quat[3] = 0.02;
    double pos[3], quat[4];
    memcpy(pos, d->mocap_pos, sizeof pos);
    memcpy(quat, d->mocap_quat, sizeof quat);
    assert_true(dj_step(m, d) >= 0);
    assert_true(d->stats.impact_steps == 1);
    assert_memory_equal(d->mocap_pos, pos, sizeof pos);
    assert_memory_equal(d->mocap_quat, quat, sizeof quat);
    assert_memory_equal(d->mocap_last_pos, pos, sizeof pos);
    assert_memory_equal(d->mocap_last_quat, quat, sizeof quat);
    djt_near(d->qvel[0], V, 0.02 * V);
    assert_true(d->qpos[0] - d->mocap_pos[0] > 0.038);
    double least = INFINITY;
    for (int e = 0; e < 3; e++) {
      const double step[] = {2e-6, 4e-7, 1e-5};
      assert_true(dj_setState(d, m, x) >= 0);
      least = fmin(least, djt_transitionError(m, d, step[e], 0));
    }
    print_message("%s, %.1e: ", dj_integratorName(method[k]), least);
    assert_true(least < 1e-5);
    checkRun(m, d, x, pos, quat, "geom/#1/friction", false);
    djt_delete(m, d);
  }
}

DJT_MAIN(testPusher, testElevator, testConveyor, testStages, testTurntable, testResetAndJump,
         testJam, testWay, testState, testBelt, testDerivatives, testRuns, testParts, testImpulse)
