// Friction by plane and normal forces at the step's end: impulses of impacts, momentum, sticking,
// recovery, derivatives of runs by parameters. Steps and contact forces: test_contact_step.c.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"

static void close(djModel* m, djData* d) { djt_delete(m, d); }

// A ball or box above a floor, whose impacts are the barrier's.
static Scene* newFaller(djGeomType type, djFriction friction, double mu, double h) {
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = mu;
  addBody(s, 0, DJ_FREE, 0, 0, 0.05, 1, 0.05);
  addGeom(s, 1, type, 0.05, 0.04, 0.05)->friction[0] = mu;
  s->def.option.restitution = DJ_RESTITUTION_GIVEN;
  s->def.option.friction = friction;
  s->def.option.timestep = h;
  return s;
}

// The part of mu times the normal impulse by which a body is slowed down that lands sliding.
static double shareOf(djGeomType type, djFriction friction, double h) {
  const double mu = 0.3, fall = 2.4, slide = 8;
  djData* d;
  djModel* m = startScene(&d, newFaller(type, friction, mu, h));
  d->qpos[2] = 0.05 + 2.4 * h * fall;
  d->qvel[0] = slide;
  d->qvel[2] = -fall;
  int n = 6;
  for (int k = 0; k < n; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  double normal = d->qvel[2] + fall + n * h * 9.81;
  double share = (slide - d->qvel[0]) / (mu * normal);
  close(m, d);
  return share;
}

static void testImpulse(void) {
  static const double step[] = {1e-4, 2e-3, 2e-2};
  for (int k = 0; k < 3; k++) {
    djt_near(shareOf(DJ_SPHERE, DJ_FRICTION_IMPLICIT, step[k]), 1, 1e-6);
    djt_near(shareOf(DJ_BOX, DJ_FRICTION_IMPLICIT, step[k]), 1, 1e-6);
  }
  assert_true(shareOf(DJ_BOX, DJ_FRICTION_LAGGED, 2e-3) < 0.99);
}

// A box on a slope within friction's limit stays; beyond it, it slides by Coulomb's law at once.
static void testSlope(void) {
  const double mu = 0.5, h = 5e-3, part[] = {0.8, 1.5};
  for (int k = 0; k < 2; k++) {
    Scene* s = newFaller(DJ_BOX, DJ_FRICTION_IMPLICIT, mu, h);
    double tangent = part[k] * mu, cosine = 1 / sqrt(1 + tangent * tangent);
    s->def.option.gravity[0] = 9.81 * tangent * cosine;
    s->def.option.gravity[2] = -9.81 * cosine;
    djData* d;
    djModel* m = startScene(&d, s);
    int n = 100;
    for (int i = 0; i < n; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    double free = 9.81 * cosine * (tangent - mu) * n * h;
    if (k == 0) assert_true(fabs(d->qvel[0]) < 2e-5);
    else djt_near(d->qvel[0], free, 2e-2 * free);
    close(m, d);
  }
}

// Two free bodies that collide keep what momentum they have.
static void testMomentum(void) {
  static const djGeomType type[] = {DJ_SPHERE, DJ_BOX, DJ_CAPSULE, DJ_ELLIPSOID};
  djRng rng = {7};
  int met = 0;
  for (int k = 0; k < 20; k++) {
    Scene* s = newScene(2);
    for (int b = 1; b < 3; b++) {
      addBody(s, 0, DJ_FREE, 0, 0, 0, djt_uniform(&rng, 0.3, 2), 0.05);
      addGeom(s, b, type[djt_integer(&rng, 4)], 0.05, 0.06, 0.04)->friction[0] = 0.8;
    }
    memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
    s->def.option.restitution = DJ_RESTITUTION_GIVEN;
    s->def.option.friction = DJ_FRICTION_IMPLICIT;
    s->def.option.tolerance = 1e-9;
    djData* d;
    djModel* m = startScene(&d, s);
    double P[2][6];
    for (int b = 0; b < 2; b++) {
      djt_unitQuat(d->qpos + 7 * b + 3, &rng);
      djt_uniforms(d->qvel + 6 * b, 6, &rng, -0.5, 0.5);
      d->qpos[7 * b] = b ? 0.16 : 0;
      d->qvel[6 * b] = b ? -1 : 1;
    }
    int touched = 0;
    for (int i = 0; i < 60; i++) {
      for (int side = 0; side < 2; side++) {
        double* p = P[side];
        memset(p, 0, sizeof P[side]);
        for (int b = 1; b < 3; b++) {
          const double *v = d->qvel + 6 * (b - 1), *I = m->body_inertia + 3 * b;
          djVec3 spin = dju_vec3(I[0] * v[3], I[1] * v[4], I[2] * v[5]);
          djVec3 linear = dju_scale3(m->body_mass[b], dju_load3(v));
          djVec3 x = dju_load3(d->qpos + 7 * (b - 1));
          dju_addTo3(p, 1, linear);
          dju_addTo3(p + 3, 1, dju_mulMV(dju_quatToMat(dju_loadQuat(d->qpos + 7 * (b - 1) + 3)),
                                         spin));
          dju_addTo3(p + 3, 1, dju_cross3(x, linear));
        }
        if (side == 0) assert_true(dj_step(m, d) >= 0);
      }
      // moments as far as the barrier keeps them
      for (int c = 0; c < 6; c++) djt_near(P[1][c], P[0][c], c < 3 ? 1e-10 : 3e-3);
      touched += d->npair > 0;
    }
    met += touched > 0;
    close(m, d);
  }
  assert_true(met > 10);
}

// A pair that comes out of an overlap acts by the start, as ever.
static void testRecovery(void) {
  double end[2][7], apart[7];
  for (int k = 0; k < 2; k++) {
    djData* d;
    Scene* s = newFaller(DJ_BOX, k ? DJ_FRICTION_IMPLICIT : DJ_FRICTION_LAGGED, 0.5, 2e-3);
    s->def.option.tolerance = 1e-9;
    djModel* m = startScene(&d, s);
    d->qpos[2] -= 0.003;
    d->qvel[0] = 0.5;
    assert_true(dj_step(m, d) >= 0);
    assert_int_equal(d->stats.recovering_steps, 1);
    memcpy(end[k], d->qpos, sizeof end[k]);
    close(m, d);
  }
  for (int i = 0; i < 7; i++) apart[i] = end[1][i] - end[0][i];
  assert_true(djt_largest(apart, 7) < 1e-10);
}

// The gradient of a run by all that moves contact, against differences.
static void testParams(void) {
  static const char* const name[] = {"geom/#0/quat", "geom/#1/friction", "geom/#1/size",
                                     "geom/#2/size", "geom/#2/pos",      "body/#1/mass",
                                     "body/#2/ipos", "body/#3/pos",      "body/#3/quat",
                                     "joint/#2/axis", "contact/support", "contact/stiffness"};
  enum { N = sizeof name / sizeof name[0], T = 12 };
  Scene* s = newFaller(DJ_BOX, DJ_FRICTION_IMPLICIT, 0.3, 2e-3);
  int ball = addBody(s, 0, DJ_FREE, 0.02, 0.01, 0.1485, 0.5, 0.05);
  addGeom(s, ball, DJ_CAPSULE, 0.04, 0.03, 0)->friction[0] = 0.6;
  int arm = addBody(s, 0, DJ_HINGE, 0.3, 0, 0.2, 0.5, 0.05);   // whose end rubs on the floor
  djGeomDef* end = addGeom(s, arm, DJ_SPHERE, 0.03, 0, 0);
  end->pos[0] = 0.1;
  end->pos[2] = -0.1715;
  end->friction[0] = 0.4;
  s->def.option.stiffness_scale = 1e-4;   // soft enough for differences
  s->def.option.friction_eps = 1e-5;
  s->def.option.tolerance = 1e-11;
  djtRun run = {0};
  djError err = {""};
  djModel* m = startScene(&run.d, s);
  run.m = m;
  double q0[15], v0[13] = {0.7, 0.3, -0.4, 0.2, -0.3, 2, 0.1, 0.4, -0.6, 0.5, 1, 0.3, 1};
  memcpy(q0, run.d->qpos, sizeof q0);
  assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
  djLossTerm loss[3] = {{.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1, .weight = 1,
                         .target = {0.1, 0.2, 0.3}},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 2, .weight = 0.1},
                        {.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 3, .weight = 1}};
  run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 3, .loss = loss,
                      .refinement_steps = 3};
  assert_true(djt_runNamed(&run, name, N, 1e-5, 2, 1e-3) < 1e-5);
  djd_deleteTape(run.tape);
  close(m, run.d);
}

DJT_MAIN(testImpulse, testSlope, testMomentum, testRecovery, testParams)
