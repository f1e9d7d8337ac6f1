// Impacts at their time: rebound at any phase of a step, a cradle, momentum and energy, friction,
// and derivatives of steps and runs through them.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/impulse.h"
#include "integrate/impulse_linear.h"

static void noGravity(Scene* s) { memset(s->def.option.gravity, 0, sizeof s->def.option.gravity); }

static void close(djModel* m, djData* d) { djt_delete(m, d); }

// A ball of radius .05 above a floor.
static Scene* newBall(double restitution, double friction, double h) {
  Scene* s = newScene(1);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = friction;
  addBody(s, 0, DJ_FREE, 0, 0, 0.05, 1, 0.05);
  djGeomDef* g = addGeom(s, 1, DJ_SPHERE, 0.05, 0, 0);
  g->restitution = restitution;
  g->friction[0] = friction;
  s->def.option.timestep = h;
  return s;
}

// ---- rebound ----------------------------------------------------------------------------------

static void testRebound(void) {
  static const double step[] = {1e-4, 2e-3, 2e-2}, e[] = {0.1, 0.6, 1};
  for (int k = 0; k < 27; k++) {
    double h = step[k % 3], want = e[k / 3 % 3], phase = 0.37 * (k / 9);
    Scene* s = newBall(want, 0, h);
    noGravity(s);
    djData* d;
    djModel* m = startScene(&d, s);
    d->qpos[2] = 0.05 + 2 * h * (1.5 + phase);
    d->qvel[2] = -2;
    for (int i = 0; i < 4; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->qvel[2], 2 * want, 1e-6);   // what joints hold yields a little
    // it is where a ball is that has bounced there and then, but for the contact's range
    djt_near(d->qpos[2] - 0.05, 2 * want * h * (2.5 - phase), 2.5 * fmin(1e-3, 0.15 * h) * (1 + want));
    close(m, d);
  }
}

// Coefficients that are set while bodies are near count from the next step on.
static void testChanged(void) {
  static const char* const name[] = {"geom/#1/restitution", "pair/p/restitution"};
  const djPairDef pair = {.name = "p", .geom1 = 0, .geom2 = 1, .condim = 1, .restitution = 0.2};
  for (int k = 0; k < 2; k++) {
    Scene* s = newBall(0.2, 0, 2e-3);
    noGravity(s);
    s->def.pair = &pair;
    s->def.npair = k;
    djData* d;
    djModel* m = startScene(&d, s);
    d->qpos[2] = 0.05 + 2 * 2e-3 * 1.8;
    d->qvel[2] = -2;
    assert_int_equal(dj_step(m, d), DJ_OK);
    djParam p = djt_param(m, name[k]);
    assert_int_equal(dj_setParam(m, &p, (double[1]){0.9}, NULL), DJ_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->qvel[2], 1.8, 1e-6);
    close(m, d);
  }
}

// Other integrators, and pairs without restitution, leave impacts to the barrier; so are slow ones.
static void testLeftAlone(void) {
  for (int k = 0; k < 3; k++) {
    Scene* s = newBall(k == 1 ? 0 : 1, 0, 2e-3);
    noGravity(s);
    if (k == 0) s->def.option.integrator = DJ_VARIATIONAL;
    djData* d;
    djModel* m = startScene(&d, s);
    double speed = k == 2 ? 0.1 : 2;
    d->qpos[2] = 0.05 + 1.5 * speed * 2e-3;
    d->qvel[2] = -speed;
    for (int i = 0; i < 5; i++) {
      assert_true(dj_step(m, d) >= 0);
      assert_int_equal(dj_impulseCount(d->work), 0);
    }
    assert_true(d->qvel[2] < 0.2 * speed);
    close(m, d);
  }
}

// Five balls on slides, `gap` apart, the first at 1 m/s.
static void testCradle(void) {
  static const double step[] = {1e-4, 2e-3, 1e-2}, gap[] = {1e-3, 1e-5, 0};
  for (int k = 0; k < 9; k++) {
    Scene* s = newScene(5);
    for (int b = 0; b < 5; b++) {
      int id = addBody(s, 0, DJ_SLIDE, 0, (0.1 + gap[k / 3]) * b, 0, 1, 0.05);
      addGeom(s, id, DJ_SPHERE, 0.05, 0, 0)->restitution = 1;
    }
    noGravity(s);
    s->def.option.timestep = step[k % 3];
    djData* d;
    djModel* m = startScene(&d, s);
    d->qpos[0] = -0.0123;
    d->qvel[0] = 1;
    for (int i = 0; i < 0.05 / step[k % 3]; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    djt_near(d->qvel[4], 1, 2e-3);
    assert_true(djt_largest(d->qvel, 4) < 2e-3);
    close(m, d);
  }
}

// ---- momentum, energy, friction ---------------------------------------------------------------

static void momenta(double P[3], double L[3], const djModel* m, const djData* d) {
  memset(P, 0, 3 * sizeof(double));
  memset(L, 0, 3 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    const double *v = d->qvel + 6 * (b - 1), *I = m->body_inertia + 3 * b;
    djVec3 p = dju_scale3(m->body_mass[b], dju_load3(v));
    djVec3 spin = dju_vec3(I[0] * v[3], I[1] * v[4], I[2] * v[5]);
    djMat3 R = dju_quatToMat(dju_loadQuat(d->qpos + 7 * (b - 1) + 3));
    djVec3 l = dju_mulMV(R, spin);
    dju_addTo3(P, 1, p);
    dju_addTo3(L, 1, dju_add3(l, dju_cross3(dju_load3(d->qpos + 7 * (b - 1)), p)));
  }
}

// Two free bodies that meet, at random.
static djModel* openMeeting(djData** d, djRng* rng, bool falls) {
  static const int type[4] = {DJ_SPHERE, DJ_BOX, DJ_CAPSULE, DJ_ELLIPSOID};
  Scene* s = newScene(2);
  for (int b = 1; b < 3; b++) {
    addBody(s, 0, DJ_FREE, 0, 0, 0, djt_uniform(rng, 0.3, 2), 0.05);
    for (int k = 0; k < 3; k++) s->body[b].inertia[k] *= djt_uniform(rng, 0.8, 1.2);
    djGeomDef* g = addGeom(s, b, type[djt_integer(rng, 4)], 0.05, 0.06, 0.04);
    g->restitution = djt_uniform(rng, 0.3, 1);
    g->friction[0] = djt_uniform(rng, 0, 0.8);
  }
  if (!falls) noGravity(s);
  s->def.option.timestep = 2e-3;
  s->def.option.tolerance = 1e-9;
  djModel* m = startScene(d, s);
  for (int b = 0; b < 2; b++) {
    double *q = (*d)->qpos + 7 * b, *v = (*d)->qvel + 6 * b;
    for (int k = 0; k < 3; k++) q[k] = djt_uniform(rng, -0.02, 0.02);
    djt_unitQuat(q + 3, rng);
    djt_uniforms(v, 3, rng, -0.3, 0.3);
    djt_uniforms(v + 3, 3, rng, -4, 4);
    q[0] += b ? 0.2 : 0;
    v[0] += b ? -1 : 1;
  }
  return m;
}

// Steps to the start of the first one with an impulse between geoms from `least` on; false: there
// is none.
static bool findImpact(const djModel* m, djData* d, int least) {
  double* before = djt_room((size_t)dj_stateSize(m));
  bool found = false;
  for (int k = 0; k < 100 && !found; k++) {
    assert_int_equal(dj_getState(before, m, d), DJ_OK);
    assert_true(dj_step(m, d) >= 0);
    for (int i = 0; i < dj_impulseCount(d->work); i++) {
      found = found || d->work->impulses->of[i].touch.low >= least;
    }
  }
  if (found) assert_int_equal(dj_setState(d, m, before), DJ_OK);
  free(before);
  return found;
}

static void testConserved(void) {
  djRng rng = {5};
  int met = 0, alone = 0;
  for (int k = 0; k < 40; k++) {
    djData* d;
    djModel* m = openMeeting(&d, &rng, false);
    double P[2][3], L[2][3], E[2];
    if (findImpact(m, d, 0)) {
      momenta(P[0], L[0], m, d);
      assert_int_equal(dj_forward(m, d), DJ_OK);
      E[0] = d->energy[1];
      assert_int_equal(dj_step(m, d), DJ_OK);
      momenta(P[1], L[1], m, d);
      assert_int_equal(dj_forward(m, d), DJ_OK);
      E[1] = d->energy[1];
      // moments to what the barrier moves, where it acts in the same step
      for (int i = 0; i < 3; i++) {
        djt_near(P[1][i], P[0][i], 1e-12);
        djt_near(L[1][i], L[0][i], d->npair ? 1e-4 : 1e-12);
      }
      alone += d->npair == 0;
      assert_true(E[1] < E[0] * (1 + 1e-4));   // spins err with the step
      met++;
    }
    close(m, d);
  }
  assert_true(met >= 20 && alone >= 10);
}

// A ball that slides on after it has bounced loses mu times the normal impulse, and gains the spin
// of that.
static void testFriction(void) {
  Scene* s = newBall(0.5, 0.2, 2e-3);
  noGravity(s);
  djData* d;
  djModel* m = startScene(&d, s);
  d->qpos[2] = 0.05 + 3.3e-3;
  d->qvel[0] = 5;
  d->qvel[2] = -2;
  for (int i = 0; i < 4; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  djt_near(d->qvel[2], 1, 1e-6);
  djt_near(d->qvel[0], 5 - 0.2 * 3, 1e-6);
  double arm = 0.05;   // and a part of the range
  djt_near(d->qvel[4], 0.2 * 3 * arm / (0.4 * 0.05 * 0.05), 0.2 * 3 * 3e-4 / 1e-3);
  close(m, d);
}

// ---- derivatives ------------------------------------------------------------------------------

static void testTransition(void) {
  djRng rng = {9};
  double worst = 0, least = INFINITY;
  int met = 0;
  for (int k = 0; k < 30 && met < 10; k++) {
    djData* d;
    djModel* m = openMeeting(&d, &rng, true);
    if (findImpact(m, d, 0)) {
      double* x = djt_room((size_t)dj_stateSize(m));
      assert_int_equal(dj_getState(x, m, d), DJ_OK);
      worst = djt_worst(worst, djt_transitionError(m, d, 1e-6, 0));
      assert_int_equal(dj_setState(d, m, x), DJ_OK);
      least = fmin(least, djt_transitionError(m, d, 1e-6, 10));
      free(x);
      met++;
    }
    close(m, d);
  }
  print_message("steps with impulses: %.1e, wrong ones %.1e\n", worst, least);
  assert_int_equal(met, 10);
  assert_true(worst < 1e-5 && least > 100 * worst);
}

// A ball on its way meets the first of two that touch: the impulse between these has the time of the
// one before, and its derivatives.
static void testPassedOn(void) {
  Scene* s = newScene(3);
  for (int b = 0; b < 3; b++) {
    int id = addBody(s, 0, DJ_SLIDE, 0, 0.1 * b, 0, 1 + 0.5 * b, 0.05);
    addGeom(s, id, DJ_SPHERE, 0.05, 0, 0)->restitution = 0.6 + 0.1 * b;
  }
  noGravity(s);
  s->def.option.timestep = 2e-3;
  s->def.option.tolerance = 1e-10;
  djData* d;
  djModel* m = startScene(&d, s);
  d->qpos[0] = -1.2e-3;
  d->qvel[0] = 1;
  double* x = djt_room((size_t)dj_stateSize(m));
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_int_equal(dj_step(m, d), DJ_OK);
  const djImpulse* k = d->work->impulses->of;
  assert_int_equal(dj_impulseCount(d->work), 2);
  assert_true(k[0].timed && k[0].time > 5e-4 && !k[1].timed && k[1].time == k[0].time);
  assert_int_equal(dj_setState(d, m, x), DJ_OK);
  assert_true(djt_transitionError(m, d, 1e-6, 0) < 1e-6);
  free(x);
  close(m, d);
}

// Two slides of bodies without mass whose axes a hinge between them has turned parallel: no inertia
// resists the impulse, and the step says so.
static void testSingular(void) {
  Scene* s = newScene(3);
  for (int b = 0; b < 3; b++) {
    addBody(s, b, b == 1 ? DJ_HINGE : DJ_SLIDE, 0, 0, 0, b == 2, b == 2 ? 0.05 : 0);
  }
  for (int j = 0; j < 3; j += 2) {
    s->joint[j].axis[0] = j ? cos(1) : 1;
    s->joint[j].axis[1] = 0;
    s->joint[j].axis[2] = j ? -sin(1) : 0;
  }
  addGeom(s, 0, DJ_SPHERE, 0.05, 0, 0)->pos[0] = 0.101;
  addGeom(s, 3, DJ_SPHERE, 0.05, 0, 0)->restitution = 0.7;
  noGravity(s);
  djData* d;
  djModel* m = startScene(&d, s);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    d->qpos[1] = k ? -1 : 0;
    d->qvel[0] = 2;
    assert_int_equal(dj_step(m, d), k ? DJ_INVALID : DJ_OK);
    assert_int_equal(dj_impulseCount(d->work), k ? 0 : 1);
    assert_true((strstr(dj_errorText(d), "inertia is singular") != NULL) == k);
    if (k) assert_true(d->qpos[0] == 0 && d->qpos[1] == -1 && d->qvel[0] == 2);
  }
  close(m, d);
}

// An arm of two links that hits a box which lies on a floor, and both with restitution, of a pair
// too.
static djModel* openArm(djData** d, bool explicit) {
  const djPairDef pair = {.name = "p", .geom1 = 2, .geom2 = 3, .condim = 3, .friction = 0.15,
                          .restitution = 0.5};
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->restitution = 0.4;
  for (int b = 1; b < 3; b++) {
    addBody(s, b - 1, DJ_HINGE, b == 1 ? -0.4 : 0, 0, b == 1 ? 0.5 : -0.2, 0.5, 0.05);
    s->joint[b - 1].armature = 0.01;
    djGeomDef* g = addGeom(s, b, DJ_CAPSULE, 0.03, 0.06, 0);
    g->pos[2] = -0.1;
    g->restitution = 0.7;
    g->friction[0] = 0.1;
    s->body[b].ipos[2] = -0.1;
  }
  addBody(s, 0, DJ_FREE, -0.3, 0.01, 0.12, 0.4, 0.05);
  addGeom(s, 3, DJ_BOX, 0.05, 0.04, 0.06)->restitution = 0.6;
  s->geom[s->def.ngeom - 1].friction[0] = 0.15;
  s->body[3].ipos[0] = 0.004;
  s->def.option.timestep = 2e-3;
  s->def.option.tolerance = 1e-9;
  s->def.pair = &pair;
  s->def.npair = explicit;
  djModel* m = startScene(d, s);
  (*d)->qvel[0] = -4;
  (*d)->qvel[1] = -5;
  (*d)->qvel[5] = 1;
  (*d)->qvel[7] = 3;
  return m;
}

static void testParams(void** state) {
  const bool explicit = *state != NULL;
  static const char* const name[] = {"body/#1/mass",    "body/#2/ipos",   "body/#3/ipos",
                                     "body/#1/pos",     "body/#2/pos",    "body/#2/quat",
                                     "body/#2/inertia", "body/#3/iquat",  "joint/#1/pos",
                                     "joint/#2/axis",   "joint/#1/armature", "geom/#0/pos",
                                     "geom/#0/quat",    "geom/#1/size",   "geom/#2/pos",
                                     "geom/#3/size",    "geom/#3/quat",   "geom/#3/friction",
                                     "option/gravity",  "geom/#2/restitution",
                                     "pair/p/restitution", "pair/p/friction",
                                     "geom/#3/restitution",
                                     "contact/support"};
  enum { N = sizeof name / sizeof name[0] };
  djtRun run = {0};
  djError err = {""};
  djModel* m = openArm(&run.d, explicit);
  run.m = m;
  assert_true(findImpact(m, run.d, 1));
  enum { T = 4 };
  assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
  double q0[16], v0[16];
  memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
  djLossTerm loss[2] = {{.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 3, .weight = 1,
                         .target = {0.1, 0.2, 0.3}},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 3, .weight = 0.1}};
  run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 2, .loss = loss,
                      .refinement_steps = 6};
  double error = 0;
  for (int k = 0; k < N; k++) {
    bool pair = strncmp(name[k], "pair/", 5) == 0;
    if (pair && !explicit) continue;
    error = djt_worst(error, djt_runNamed(&run, name + k, 1, 1e-5, k == N - 1, 1e-3));
  }
  djt_below("parameters", error, 1e-4);
  djd_deleteTape(run.tape);
  close(m, run.d);
}

// The derivative of where a ball comes to by its speed does not depend on the phase of the step at
// which it bounces: x = D - e (v T - D) has the slope -e T.
static void testPhases(void) {
  enum { STEPS = 20 };
  for (int k = 0; k < 25; k++) {
    Scene* s = newBall(0.5, 0, 2e-3);
    noGravity(s);
    djData* d;
    djModel* m = startScene(&d, s);
    double A[144], slope[12] = {0}, next[12];
    d->qpos[2] = 0.05 + 2 * 2e-3 * (5 + k / 25.0);
    d->qvel[2] = -2;
    slope[8] = 1;
    for (int i = 0; i < STEPS; i++) {
      assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
      for (int r = 0; r < 12; r++) {
        next[r] = 0;
        for (int c = 0; c < 12; c++) next[r] += A[12 * r + c] * slope[c];
      }
      memcpy(slope, next, sizeof slope);
      assert_int_equal(dj_step(m, d), DJ_OK);
    }
    djt_near(slope[2], -0.5 * STEPS * 2e-3, 1e-9);
    close(m, d);
  }
}

DJT_MAIN_ROWS(djt_test(testRebound), djt_test(testLeftAlone), djt_test(testChanged),
              djt_test(testCradle), djt_test(testConserved), djt_test(testFriction),
              djt_test(testTransition), cmocka_unit_test(testParams),
              djt_of(testParams, bool, true), djt_test(testPhases), djt_test(testPassedOn),
              djt_test(testSingular))
