// A guide in models: runs without it and beside it, which bodies it couples at which distance, what
// it weighs, momentum, rest, derivatives by its coefficient.

#include "contact/contact.h"
#include "model/guide_bodies.h"

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

enum { NBODY = 3, NV = 6 * NBODY, NX = 2 * NV, BALL = 1, BOX, ROD };

static const djIntegrator integrators[] = {DJ_EULER, DJ_POSITION, DJ_VARIATIONAL};
enum { NINTEGRATOR = 3 };

// A ball, a box and a rod, free, along x, without gravity. They are about 0.1 m long.
static Scene* newBodiesOn(bool floor, double apart) {
  static const char* const name[NBODY] = {"ball", "box", "rod"};
  static const int type[NBODY] = {DJ_SPHERE, DJ_BOX, DJ_CAPSULE};
  Scene* s = newScene(NBODY);
  if (floor) addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int k = 0; k < NBODY; k++) {
    int b = addBody(s, 0, DJ_FREE, apart * k, 0.01 * k, 0.02 * k, 1 + 0.5 * k, 0.05);
    s->body[b].name = name[k];
    addGeom(s, b, type[k], 0.05, 0.04, 0.03);
  }
  s->def.option.timestep = 5e-3;
  s->def.option.tolerance = 1e-10;
  s->def.option.gravity[2] = 0;
  return s;
}

static Scene* newBodies(double apart) { return newBodiesOn(false, apart); }

static void drop(djModel* m, djData* d) { djt_delete(m, d); }

// Derivatives of a step; A (NX x NX).
static const double* stepOf(const djModel* m, djData* d) {
  static double A[NX * NX];
  assert_true(dj_step(m, d) >= 0);
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  return A;
}

// The largest derivative of the velocity of one body by place and velocity of another.
static double couplingOf(const double* A, int body, int by) {
  double most = 0;
  for (int i = 0; i < 6; i++) {
    const double* row = A + (NV + 6 * (body - 1) + i) * NX + 6 * (by - 1);
    for (int k = 0; k < 6; k++) most = fmax(most, fmax(fabs(row[k]), fabs(row[NV + k])));
  }
  return most;
}

// How much both feel of each other: the same zero or not.
static double couplingOfBoth(const double* A, int one, int two) {
  double a = couplingOf(A, one, two), b = couplingOf(A, two, one);
  assert_true((a > 0) == (b > 0));
  return fmin(a, b);
}

static void setGuide(djModel* m, double guide) {
  djOption option = m->opt;
  djError err;
  option.guide = guide;
  if (dj_setOption(m, &option, &err) != DJ_OK) fail_msg("%s", err.text);
}

static void setBodies(djModel* m, const char* text) {
  djError err;
  if (dj_setGuideText(m, text, &err) != DJ_OK) fail_msg("%s", err.text);
}

// ------------------------------------------ runs -----------------------------------------------

enum { PLAIN, ZERO, LISTED, BACKWARD, GUIDED, NWAY };

// The state after bodies have fallen on a floor and each other, with derivatives on the way.
static void fallBy(double* x, int way, djIntegrator integrator) {
  djData* d;
  Scene* s = newBodiesOn(true, 0.08);
  for (int k = 1; k <= NBODY; k++) s->joint[k - 1].qpos0[2] = s->body[k].pos[2] = 0.1 * k;
  djOption* o = &s->def.option;
  o->gravity[2] = -9.81;
  o->integrator = integrator;
  if (way == ZERO) o->guide = 0;
  if (way == BACKWARD || way == GUIDED) o->guide = 1e-2;
  o->guide_backward_only = way == BACKWARD;
  djModel* m = startScene(&d, s);
  if (way == LISTED) {
    setBodies(m, "ball box, rod *");
    m->opt.guide_backward_only = 1;
  }
  assert_true(dj_guidesRuns(m) == (way == GUIDED));
  assert_true(dj_guidesDerivatives(m) == (way == BACKWARD));
  double coupling = 0;
  for (int k = 0; k < 150; k++) coupling += couplingOfBoth(stepOf(m, d), BALL, ROD);
  assert_true((coupling > 0) == (way == BACKWARD || way == GUIDED));   // these do not meet
  assert_true(d->stats.smallest_gap < 1e-3);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  drop(m, d);
}

// Without a tail, or where it acts in derivatives alone, runs have the bits of models that know of
// none.
static void testPlainRuns(void) {
  for (int i = 0; i < NINTEGRATOR; i++) {
    double x[NWAY][100];
    memset(x, 0, sizeof x);
    for (int way = 0; way < NWAY; way++) fallBy(x[way], way, integrators[i]);
    for (int way = ZERO; way < GUIDED; way++) assert_memory_equal(x[way], x[PLAIN], sizeof x[0]);
    assert_memory_not_equal(x[GUIDED], x[PLAIN], sizeof x[0]);
  }
}

// Gradients of a run whose tail acts in derivatives alone: the loss is that without a guide, and
// bodies that are apart have derivatives.
static void testBackwardRuns(void) {
  enum { T = 30 };
  double loss[2], grad[2][NV], q0[7 * NBODY], v0[NV] = {1, 0, 0, 0, 0, 0, -1};
  for (int k = 0; k < 2; k++) {
    djData* d;
    djTape* tape;
    djError err;
    Scene* s = newBodies(0.15);
    s->def.option.guide = k ? 1e-2 : 0;
    s->def.option.guide_backward_only = 1;
    djModel* m = startScene(&d, s);
    memcpy(q0, d->qpos, sizeof q0);
    assert_int_equal(djd_makeTape(&tape, m, T, &err), DJ_OK);
    djLossTerm term = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = ROD, .weight = 1,
                       .target = {0.4, 0.1, 0}};
    djRollout r = {.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 1, .loss = &term};
    djRolloutResult out = {.grad_qvel0 = grad[k]};
    assert_int_equal(djd_rolloutForward(&out, m, d, &r, tape), DJ_OK);
    loss[k] = out.loss;
    assert_true(d->stats.smallest_gap < 1e-2);   // ball and box meet, the rod stays
    assert_int_equal(djd_rolloutBackward(&out, m, d, &r, tape), DJ_OK);
    djd_deleteTape(tape);
    drop(m, d);
  }
  assert_true(loss[0] == loss[1]);
  assert_true(grad[0][0] == 0 && fabs(grad[1][0]) > 1e-6);
}

// ------------------------------------------ distances ------------------------------------------

// Bodies feel each other 1, 100 and 10,000 sizes apart, wherever they were before.
static void testDistances(void) {
  static const double apart[] = {0.2, 10, 1000};
  djData* d;
  djModel* m = startScene(&d, newBodies(apart[0]));
  for (int k = 0; k < 12; k++) {
    double q[7 * NBODY], x = apart[k % 3];
    setGuide(m, k / 3 % 2 ? 0 : 1e-2);
    memcpy(q, m->qpos0, sizeof q);
    for (int b = 0; b < NBODY; b++) q[7 * b] = b * x;
    memcpy(d->qpos, q, sizeof q);
    memset(d->qvel, 0, NV * sizeof(double));
    for (int speed = 0; speed < 2; speed++) {   // also where a step takes them far
      d->qvel[12] = speed * 1e3 * x;
      const double* A = stepOf(m, d);
      for (int one = BALL; one <= ROD; one++) {
        for (int two = one + 1; two <= ROD; two++) {
          assert_true((couplingOfBoth(A, one, two) > 0) == (m->contact.guide > 0));
        }
      }
      if (speed || m->contact.guide == 0) continue;
      assert_true(A[(NV + 6) * NX] > 0);          // a nearer ball pushes more
      assert_true(d->qvel[0] < 0 && d->qvel[12] > 0);
      assert_int_equal(d->npair, 3);
    }
  }
  drop(m, d);
}

// While bodies are far apart nothing is near: statistics are the barrier's. The range of contact
// is what it is without a guide.
static void testStatistics(void) {
  djData* d;
  djModel* m = startScene(&d, newBodies(1));
  double range = m->contact.range;
  setGuide(m, 1e-2);
  assert_true(isfinite(range) && m->contact.range == range);
  for (int k = 0; k < 5; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->stats.gap == INFINITY && d->stats.smallest_gap == INFINITY);
  assert_true(d->stats.overlap == 0 && d->stats.recovering_steps == 0);
  assert_int_equal(d->ncontact, 3);
  for (int k = 0; k < d->npair; k++) {
    assert_true(d->pair[k].gap > 0.5 && d->pair[k].normal_force > 0);
  }
  assert_int_equal(dj_forward(m, d), DJ_OK);
  assert_true(d->stats.gap == INFINITY);
  setBodies(m, "ball rod");
  d->qpos[7] = d->qpos[0] + 0.1;   // ball and box meet
  d->qvel[0] = 1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->stats.gap > 0 && d->stats.gap <= m->contact.range);
  drop(m, d);
}

// ------------------------------------------ which bodies ---------------------------------------

// Pairs that are not listed are exactly apart; lists take effect in a run that is under way.
static void testChosen(void) {
  static const struct {
    const char* text;
    int pairs;       // bits: ball-box, ball-rod, box-rod
  } list[] = {{"ball box", 1}, {"rod ball", 2}, {"b* rod", 6},       {"", 7},
              {"box *", 5},    {"box box", 0},  {"rod b*, box ball", 7}, {"ball rod, rod box", 6},
              {"ball #0", 0}};
  for (int given = 0; given < 2; given++) {   // by an option, or for all pairs of the ball
    djData* d;
    Scene* s = newBodies(0.4);
    djSettingDef own = {.name = "guide", .geom = 0, .pair = -1, .value = 1e-2};
    if (given) {
      s->def.setting = &own;
      s->def.nsetting = 1;
    } else {
      s->def.option.guide = 1e-2;
    }
    djModel* m = startScene(&d, s);
    assert_true(dj_guidesRuns(m));
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
      setBodies(m, list[i].text);
      const double* A = stepOf(m, d);
      const int pairs = given ? list[i].pairs & 3 : list[i].pairs;
      const int n = (pairs & 1) + (pairs >> 1 & 1) + (pairs >> 2 & 1);
      assert_int_equal(d->npair, n);
      const int reach = n > 1 ? 7 : pairs;   // by way of the third within the step
      assert_true((couplingOfBoth(A, BALL, BOX) > 0) == (reach & 1));
      assert_true((couplingOfBoth(A, BALL, ROD) > 0) == (reach >> 1 & 1));
      assert_true((couplingOfBoth(A, BOX, ROD) > 0) == (reach >> 2 & 1));
      for (int k = 0; k < d->npair; k++) {
        int bit = d->pair[k].geom1 + d->pair[k].geom2 - 1;   // ids 0, 1, 2
        assert_true(pairs >> bit & 1);
      }
    }
    drop(m, d);
  }
}

static void testNames(void) {
  djError err = {""};
  Scene* s = newBodies(1);
  djModel* m = takeScene(s);
  static const char* const twice[] = {"box", "ball", "ball", "box", "box", "ball"};
  assert_int_equal(dj_setGuideBodies(m, 3, twice, &err), DJ_OK);
  assert_int_equal(m->nguide, 1);
  assert_true(m->guide_body1[0] == BALL && m->guide_body2[0] == BOX);
  assert_true(dj_isGuided(m, BOX, BALL) && dj_isGuided(m, BALL, BOX));
  assert_false(dj_isGuided(m, ROD, BALL));
  setBodies(m, " rod\tb*,\n *x   ball ");
  assert_int_equal(m->nguide, 3);
  for (int i = 1; i < m->nguide; i++) {   // in order
    assert_true(m->guide_body1[i] > m->guide_body1[i - 1] || m->guide_body2[i] >
                m->guide_body2[i - 1]);
  }
  static const struct {
    const char *text, *words;
  } bad[] = {{"ball bax", "there is no body 'bax'"},  {"bal box", "there is no body 'bal'"},
             {"c* box", "there is no body 'c*'"},     {"ball", "no list of pairs of bodies"},
             {"ball box rod", "no list of pairs"},    {"ball box,", "no list of pairs"},
             {",", "no list of pairs"},               {"  ", "no list of pairs"},
             {"ball box rod box", "no list of pairs"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(dj_setGuideText(m, bad[i].text, &err), DJ_INVALID);
    bool told = strstr(err.text, bad[i].words) && strstr(err.text, "guide_bodies");
    if (!told) fail_msg("%s", err.text);
    assert_int_equal(m->nguide, 3);   // as it was
  }
  int pair[6] = {0};
  setGuide(m, 1e-2);
  assert_int_equal(dj_guidedBodies(NULL, 0, m), 3);
  setBodies(m, "rod box, box rod");
  assert_int_equal(dj_guidedBodies(pair, 2, m), 1);
  assert_true(pair[0] + pair[1] == ROD + BOX && pair[0] < pair[1] && pair[2] == 0);
  setBodies(m, "* *");
  assert_int_equal(dj_guidedBodies(pair, 2, m), 3);   // a body has none with itself
  assert_true(pair[3] > 0 && pair[4] == 0);
  setGuide(m, 0);
  assert_int_equal(dj_guidedBodies(pair, 2, m), 0);
  assert_int_equal(dj_guidedBodies(pair, 2, NULL), 0);
  setBodies(m, " rod\tb*,\n *x   ball ");
  const char* none[] = {"ball", NULL};
  assert_int_equal(dj_setGuideBodies(m, 1, none, &err), DJ_INVALID);
  assert_int_equal(dj_setGuideBodies(m, -1, none, &err), DJ_INVALID);
  assert_int_equal(dj_setGuideBodies(m, 1, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_setGuideBodies(NULL, 0, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_setGuideText(m, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_setGuideBackwardOnly(NULL, true), DJ_INVALID);
  assert_false(dj_guidesRuns(NULL) || dj_guidesDerivatives(NULL));
  assert_int_equal(dj_setGuideBodies(m, 0, NULL, &err), DJ_OK);
  assert_true(m->nguide == 0 && dj_isGuided(m, ROD, BALL));
  dj_deleteModel(m);
}

// ------------------------------------------ surfaces and weights -------------------------------

// Parts of the colliding geoms of a body are those of its surface, sum 1.
static void testParts(void) {
  Scene* s = newScene(8);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int b = addBody(s, 0, DJ_FREE, 0, 0, 1, 1, 0.1);
  addGeom(s, b, DJ_SPHERE, 0.1, 0, 0);
  addGeom(s, b, DJ_BOX, 0.1, 0.2, 0.3)->contype = 0;
  s->geom[s->def.ngeom - 1].conaffinity = 0;
  addGeom(s, b, DJ_BOX, 0.1, 0.2, 0.3);
  addGeom(s, b, DJ_CAPSULE, 0.1, 0.2, 0);
  addGeom(s, b, DJ_CYLINDER, 0.1, 0.2, 0);
  int other = addBody(s, 0, DJ_FREE, 2, 0, 1, 1, 0.1);
  addGeom(s, other, DJ_ELLIPSOID, 0.2, 0.2, 0.2);
  djModel* m = takeScene(s);
  const double area[] = {4 * M_PI * 0.01, 0, 8 * (0.02 + 0.03 + 0.06), 4 * M_PI * 0.1 * 0.3,
                         2 * M_PI * 0.1 * 0.5};
  double all = 0, sum = 0;
  for (int i = 0; i < 5; i++) all += area[i];
  assert_true(m->geom_part[0] == 0);
  for (int i = 0; i < 5; i++) {
    djt_near(m->geom_part[1 + i], area[i] / all, 1e-12);
    sum += m->geom_part[1 + i];
  }
  djt_near(sum, 1, 1e-14);
  djt_near(m->geom_part[6], 1, 1e-14);
  dj_deleteModel(m);
}

// The force on a ball by a box (half sizes 0.2, 0.1, 0.1) that is cut into n equal ones along x,
// all with the same guide_radius.
static double forceOfParts(int n, double apart) {
  Scene* s = newScene(8);
  djData* d;
  int box = addBody(s, 0, DJ_FREE, 0, 0, 0, 1, 0.1);
  for (int i = 0; i < n; i++) {
    djGeomDef* g = addGeom(s, box, DJ_BOX, 0.2 / n, 0.1, 0.1);
    g->pos[0] = 0.2 * ((2 * i + 1.0) / n - 1);
  }
  int ball = addBody(s, 0, DJ_FREE, apart, 0.3 * apart, 0, 1, 0.1);
  addGeom(s, ball, DJ_SPHERE, 0.1, 0, 0);
  s->def.option.guide = 1e-2;
  s->def.option.guide_radius = 0.25;
  s->def.option.gravity[2] = 0;
  djModel* m = startScene(&d, s);
  assert_true(dj_step(m, d) >= 0);
  double force = dju_norm3(dju_load3(d->qvel + 6));
  assert_int_equal(d->npair, n);
  drop(m, d);
  return force;
}

// What a body does far away does not depend on how it is cut into geoms.
static void testCut(void) {
  double near = 0;
  for (int n = 2; n <= 4; n++) {
    double far = fabs(forceOfParts(n, 20) / forceOfParts(1, 20) - 1);
    near = fmax(near, fabs(forceOfParts(n, 1) / forceOfParts(1, 1) - 1));
    assert_true(far < 0.03);
  }
  assert_true(near > 1e-3);   // there it does
}

// Two balls of radius r and their gap 2 r; the first one's weight is the lesser one.
static double autoForce(double mass, double gravity, double length_scale, double factor) {
  const double r = 0.05;
  djData* d;
  Scene* s = newScene(2);
  for (int k = 0; k < 2; k++) {
    int b = addBody(s, 0, DJ_FREE, 4 * r * k, 0, 0, k ? 3 * mass : mass, r);
    addGeom(s, b, DJ_SPHERE, r, 0, 0);
  }
  s->def.option.gravity[2] = -gravity;
  s->def.option.length_scale = length_scale;
  s->def.option.guide_factor = factor;
  djModel* m = startScene(&d, s);
  assert_true(dj_step(m, d) >= 0);
  double force = d->ncontact ? d->contact[0].force[0] : 0;
  assert_true(fabs(d->qvel[0] + force * m->opt.timestep / mass) <= 1e-6 * fabs(d->qvel[0]));
  drop(m, d);
  return force;
}

static void testAuto(void) {
  double force = autoForce(2, 9.81, 1, 1);
  assert_true(force > 0.5e-3 * 2 * 9.81 && force < 2e-3 * 2 * 9.81);
  djt_near(autoForce(6, 9.81, 1, 1), 3 * force, 1e-4 * force);
  djt_near(autoForce(2, 3 * 9.81, 1, 1), 3 * force, 1e-4 * force);
  djt_near(autoForce(2, 0, 1, 1), force, 1e-4 * force);   // as on earth
  djt_near(autoForce(2, 9.81, 3, 1), force, 1e-4 * force);
  djt_near(autoForce(2, 9.81, 1, 5), 5 * force, 1e-4 * force);
  assert_true(autoForce(2, 9.81, 1, 0) == 0);
}

// ------------------------------------------ momentum and rest ----------------------------------

// Adds linear and angular momentum about the origin, times sign, of velocities v of bodies at q, as
// forces at q change it; returns its size.
static double addMomentum(double out[6], double sign, const djModel* m, const double* q,
                          const double* v, const djMat3* turn) {
  double size = 0;
  for (int b = 1; b <= NBODY; b++, v += 6, q += 7) {
    const double* I = m->body_inertia + 3 * b;
    djVec3 p = dju_scale3(m->body_mass[b], dju_load3(v));
    djVec3 spin = dju_mulMV(turn[b], dju_vec3(I[0] * v[3], I[1] * v[4], I[2] * v[5]));
    djVec3 L = dju_add3(spin, dju_cross3(dju_load3(q), p));
    for (int k = 0; k < 3; k++) out[k] += sign * (&p.x)[k];
    for (int k = 0; k < 3; k++) out[3 + k] += sign * (&L.x)[k];
    size += dju_norm3(p) + dju_norm3(L);
  }
  return size;
}

static void turnsOf(djMat3 turn[NBODY + 1], const double* q) {
  for (int b = 1; b <= NBODY; b++) turn[b] = dju_quatToMat(dju_loadQuat(q + 7 * (b - 1) + 3));
}

// Forces balance, and their torques about the origin, at the poses where they act: those at the
// end of the step.
static void testMomentum(void) {
  djData* d;
  Scene* s = newBodies(0.3);
  s->def.option.guide = 0.3;
  s->def.option.tolerance = 1e-12;
  s->def.option.integrator = DJ_EULER;
  djModel* m = startScene(&d, s);
  double v0[NV], moved = 0;
  for (int k = 0; k < NV; k++) d->qvel[k] = 0.3 * sin(2.0 * k);
  for (int k = 0; k < 50; k++) {
    double sum[6] = {0};
    djMat3 turn[2][NBODY + 1];
    memcpy(v0, d->qvel, sizeof v0);
    turnsOf(turn[0], d->qpos);
    assert_true(dj_step(m, d) >= 0);
    turnsOf(turn[1], d->qpos);
    addMomentum(sum, -1, m, d->qpos, v0, turn[0]);
    double size = addMomentum(sum, 1, m, d->qpos, d->qvel, turn[1]);
    for (int i = 0; i < 6; i++) djt_near(sum[i], 0, 1e-11 * size);
    for (int i = 0; i < NV; i++) moved = fmax(moved, fabs(d->qvel[i] - v0[i]));
  }
  assert_true(moved > 1e-3);   // they do push each other
  drop(m, d);
}

// How a box of 1 kg comes to rest on the floor, or on a fixed box that no guide pushes it from.
static void restOf(double x[7], bool floor, double guide) {
  djData* d;
  Scene* s = newScene(3);
  if (floor) addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  else addGeom(s, 0, DJ_BOX, 0.2, 0.2, 0.1);
  int b = addBody(s, 0, DJ_FREE, 0, 0, floor ? 0.1 : 0.2, 1, 0.1);
  addGeom(s, b, DJ_BOX, 0.1, 0.1, 0.1);
  s->body[b].name = "box";
  int ball = addBody(s, 0, DJ_SLIDE, 1, 0, 1, 1, 0.1);
  addGeom(s, ball, DJ_SPHERE, 0.1, 0, 0);
  s->def.option.guide = guide;
  s->def.option.timestep = 2e-3;
  djModel* m = startScene(&d, s);
  if (guide > 0) setBodies(m, floor ? "box #0" : "box box");
  d->qvel[0] = 0.2;
  for (int k = 0; k < 400; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(fabs(d->qvel[2]) < 1e-9 && fabs(d->qvel[0]) < 1e-6 && d->qpos[0] > 1e-3);
  memcpy(x, d->qpos, 7 * sizeof *x);
  drop(m, d);
}

// How far a box of 1 kg slides in 0.4 s on a fixed one, where gravity leans by 0.3.
static double slideOf(double guide, double friction) {
  djData* d;
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_BOX, 0.2, 0.2, 0.1);
  int b = addBody(s, 0, DJ_FREE, 0, 0, 0.201, 1, 0.1);
  addGeom(s, b, DJ_BOX, 0.1, 0.1, 0.1);
  for (int k = 0; k < 2; k++) s->geom[k].friction[0] = friction;
  s->def.option.gravity[0] = 0.3 * 9.81;
  s->def.option.guide = guide;
  s->def.option.timestep = 2e-3;
  djModel* m = startScene(&d, s);
  for (int k = 0; k < 200; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  double x = d->qpos[0];
  drop(m, d);
  return x;
}

// A guide lifts a box that rests on another one; friction carries it there, too.
static void testFriction(void) {
  static const double guide[] = {0, 1e-4, 1e-3};
  for (int k = 0; k < 3; k++) {
    assert_true(fabs(slideOf(guide[k], 0.5)) < 1e-3);
    double mu = 0.1, wanted = 0.5 * 0.16 * (0.3 - mu) * 9.81;
    djt_near(slideOf(guide[k], mu), wanted, 0.02 * wanted);
  }
}

// Planes take no guide, nor do pairs that are not listed: there contact has the bits of before.
static void testRest(void) {
  for (int floor = 0; floor < 2; floor++) {
    double plain[7], guided[7];
    restOf(plain, floor, 0);
    restOf(guided, floor, 1e-2);
    assert_memory_equal(guided, plain, sizeof plain);
  }
}

// ------------------------------------------ parameters -----------------------------------------

// Gradients of runs by the guide, within the barrier and apart, by all integrators.
static void testParams(void) {
  static const char* const name[] = {"geom/ball/pos", "geom/#1/size", "contact/guide",
                                     "contact/stiffness"};
  enum { N = sizeof name / sizeof name[0], T = 8 };
  for (int k = 0; k < 2 * NINTEGRATOR; k++) {
    djtRun run = {0};
    djError err = {""};
    Scene* s = newBodies(k % 2 ? 0.5 : 0.101);
    for (int i = 0; i < NBODY; i++) s->geom[i].name = s->body[i + 1].name;
    s->def.option.guide = 1e-2;
    s->def.option.stiffness_scale = 1e-4;   // soft enough for differences
    s->def.option.integrator = integrators[k / 2];
    run.m = startScene(&run.d, s);
    double q0[7 * NBODY], v0[NV] = {0.7, 0.1, 0, 0.2, -0.3, 0.5, -0.1, 0, 0.2, 0.5, 1, 0.3, -0.8};
    memcpy(q0, run.d->qpos, sizeof q0);
    assert_int_equal(djd_makeTape(&run.tape, run.m, T, &err), DJ_OK);
    djLossTerm loss[2] = {{.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 1, .weight = 1},
                          {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 3, .weight = 1,
                           .target = {0.1, 0.2, 0.3}}};
    run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .nloss = 2, .loss = loss,
                        .refinement_steps = 3};
    assert_true(djt_runNamed(&run, name, N, k % 2 ? 1e-3 : 1e-4, 2, 1e-5) < 1e-5);
    djParam guide;
    double slope = 0;
    djRolloutResult out = {.nparam = 1, .param = &guide, .grad_param = &slope};
    assert_int_equal(dj_paramId(&guide, run.m, "contact/guide", &err), DJ_OK);
    assert_true(djd_rolloutForward(&out, run.m, run.d, &run.r, run.tape) >= 0);
    assert_true(djd_rolloutBackward(&out, run.m, run.d, &run.r, run.tape) >= 0);
    assert_true(slope != 0);
    djd_deleteTape(run.tape);
    drop(run.m, run.d);
  }
}

DJT_MAIN(testPlainRuns, testBackwardRuns, testDistances, testStatistics, testChosen, testNames,
         testParts, testCut, testAuto, testMomentum, testFriction, testRest, testParams)
