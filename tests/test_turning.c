// Torsional and rolling friction, and two coefficients of sliding: the law and its axes, motion
// against closed forms, opposite torques, other units.

#include "common/friction_case.h"
#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "contact/friction/turning.h"

static const double g = 9.81;

// ---- the law ------------------------------------------------------------------------------------

// Far beyond the smoothing c is the cone's norm, near 0 quadratic, and it is convex.
static void testLaw(void) {
  Problem P;
  makeProblem(&P, 1, 0, 1e-10, 0, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
  P.half_space = true;
  P.shape[0].bound = 0.2;
  P.in.cone = (djCone){0, 0.1, {0.03, 0.06}};
  for (int i = 0; i < 50; i++) {
    Instance X;
    djTurn t[3];
    djVec3 w = randomVec(i % 2 ? 1e-3 : 1e-9), ends[2] = {w, dju_scale3(3, w)};
    for (int k = 0; k < 3; k++) {   // the middle one is between both
      djVec3 turned = k < 2 ? ends[k] : dju_scale3(0.5, dju_add3(ends[0], ends[1]));
      P.now[1] = P.start[1];
      P.now[0].R = P.start[0].R;
      P.now[1].R = dju_mulMM(rotation(turned), P.start[1].R);
      makeInstance(&X, &P, NULL, NULL);
      dj_makeTurn(&t[k], &X.lagged, &X.in, P.law.eps);
    }
    const double smooth = 1e-5;
    assert_true(t[2].c <= 0.5 * (t[0].c + t[1].c) * (1 + 1e-12));
    double y = 0;
    for (int k = 0; k < 3; k++) {
      const double lever = (k == 0 ? 0.1 : k == 1 ? 0.03 : 0.06) / 0.7;
      const double x = dju_dot3(t[0].axis[k], w) / X.in.h;
      assert_true(fabs(t[0].lever[k] - lever) < 1e-15 && fabs(t[0].x[k] - x) < 1e-11);
      y += lever * lever * x * x;
    }
    if (i % 2) assert_true(fabs(t[0].c - smooth - sqrt(y)) < 2 * smooth);
    else assert_true(t[0].c - smooth < 1e-2 * smooth && t[0].c > smooth);
  }
}

// Torsion alone creeps as sliding does at the distance of the smaller shape's bound.
static void testSmoothing(void) {
  Problem P;
  Instance X;
  djTurn t;
  makeProblem(&P, 1, 0, 1e-10, 1e-3, DJ_ARMS_PLANE, DJ_CAP_MAGNITUDE);
  P.half_space = true;
  P.shape[0].bound = 0.2;
  P.in.cone = (djCone){.torsion = 0.1};
  makeInstance(&X, &P, NULL, NULL);
  dj_makeTurn(&t, &X.lagged, &X.in, P.law.eps);
  const double y = 0.1 / 0.7 * t.x[0], e = 1e-5 * 0.1 / 0.7 / 0.2;
  assert_true(fabs(t.c - 1e-5 - (sqrt(y * y + e * e) - e)) < 1e-10 * t.c);
}

// MuJoCo's frames of contacts: the first tangent is y less what is along the normal, z near y.
static void testAxes(void) {
  djPairInput in = {.a = NULL};
  djSlipAxes A;
  dj_slipAxes(&A, &in, dju_vec3(0, 0, -1));
  assert_true(A.t1.y == 1 && fabs(A.t2.x) == 1);
  dj_slipAxes(&A, &in, dju_vec3(0, 0.6, 0.8));
  assert_true(A.t1.x == 0 && fabs(A.t1.y + 0.8) < 1e-15 && fabs(A.t1.z - 0.6) < 1e-15);
  dj_slipAxes(&A, &in, dju_vec3(0, 1, 0));
  assert_true(A.t1.z == 1);
  // a capsule on a plane: its axis
  static const double ends[3][2] = {{0, 3}, {0, 4}, {0, 7}};
  djShape capsule = {.type = DJ_CAPSULE, .nvert = 2, .vert = {ends[0], ends[1], ends[2]}};
  djShape plane = {.type = DJ_PLANE};
  djPose pose = {{0, 0, 0}, dju_eye3()};
  in.a = &capsule, in.b = &plane, in.start_a = &pose;
  dj_slipAxes(&A, &in, dju_vec3(0, 0, -1));
  assert_true(A.turns && fabs(A.t1.x - 0.6) < 1e-15 && fabs(A.t1.y - 0.8) < 1e-15);
  static const double upright[3][2] = {{0, 0}, {0, 0}, {0, 1}};
  for (int k = 0; k < 3; k++) capsule.vert[k] = upright[k];
  dj_slipAxes(&A, &in, dju_vec3(0, 0, -1));
  assert_true(!A.turns && A.t1.y == 1);
}

// ---- motion -------------------------------------------------------------------------------------

typedef struct Run {
  Scene* s;
  djModel* m;
  djData* d;
} Run;

// A free body of 1 kg on a floor; unit: how many units of length are a metre.
static void openRun(Run* run, int type, double a, double b, double up, double inertia,
                    double unit) {
  Scene* s = run->s = newScene(1);
  addGeom(s, 0, DJ_PLANE, 0, 0, 1);
  int body = addBody(s, 0, DJ_FREE, 0, 0, up * unit, 1, 1);
  addGeom(s, body, type, a * unit, b * unit, 0);
  for (int k = 0; k < 3; k++) s->body[body].inertia[k] = inertia * unit * unit;
  for (int k = 0; k < 3; k++) s->def.option.gravity[k] *= unit;
}

static void setFriction(Run* run, int condim, double slide, double torsion, double rolling) {
  for (int k = 0; k < 2; k++) {
    djGeomDef* geom = &run->s->geom[k];
    geom->condim = condim;
    geom->friction[0] = slide, geom->friction[1] = torsion, geom->friction[2] = rolling;
  }
}

static void make(Run* run, djIntegrator integrator, double h) {
  djError err = {""};
  run->s->def.option.integrator = integrator;
  run->s->def.option.timestep = h;
  if (dj_makeModel(&run->m, &run->s->def, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_makeData(&run->d, run->m, &err), DJ_OK);
}

static void go(Run* run, double time) {
  long n = lround(time / run->m->opt.timestep);
  for (long k = 0; k < n; k++) assert_int_equal(dj_step(run->m, run->d), DJ_OK);
  assert_int_equal(run->d->stats.unconverged_steps, 0);
}

static void closeRun(Run* run) {
  djt_delete(run->m, run->d);
  freeScene(run->s);
}

static const djIntegrator methods[] = {DJ_EULER, DJ_BDF2, DJ_POSITION};
static const double steps[] = {5e-4, 2e-3, 1e-2};

// What is lost in a time after the body has settled: by the law, within 2 %. `position`, which
// takes some of any turning, at a small timestep.
static void checkLoss(int type, const double size[3], double inertia, int condim,
                      const double friction[3], int dof, const double qvel[6], double lost) {
  for (int i = 0; i < 9; i++) {
    const djIntegrator method = methods[i / 3];
    const double h = steps[i % 3];
    if (method == DJ_POSITION && h > 1e-3) continue;
    Run run;
    openRun(&run, type, size[0], size[1], size[2], inertia, 1);
    setFriction(&run, condim, friction[0], friction[1], friction[2]);
    make(&run, method, h);
    go(&run, 0.3);
    memcpy(run.d->qvel, qvel, 6 * sizeof(double));
    go(&run, 0.1);
    assert_true(fabs(qvel[dof] - run.d->qvel[dof] - lost) < 0.02 * lost);
    // rows lead to the solution
    const djStats* stats = &run.d->stats;
    if (method == DJ_EULER) {
      assert_true((double)stats->newton_iterations < 1.2 * (double)stats->steps);
    }
    closeRun(&run);
  }
}

// A ball that spins on its point, one that rolls, an upright cylinder that spins on its face.
static void testDecay(void) {
  const double R = 0.1, I = 0.4 * R * R, J = 0.5 * R * R;
  const double ball[3] = {R, 0, R}, disc[3] = {R, 0.02, 0.02};
  const double spin[6] = {0, 0, 0, 0, 0, 4}, roll[6] = {0.3, 0, 0, 0, 0.3 / R, 0};
  const double torsion[3] = {1, 0.005, 1e-4}, rolling[3] = {1, 0.005, 0.004};
  const double both[3] = {0.05, 0.005, 0};
  checkLoss(DJ_SPHERE, ball, I, 4, torsion, 5, spin, 0.1 * 0.005 * g / I);
  checkLoss(DJ_SPHERE, ball, I, 6, torsion, 5, spin, 0.1 * 0.005 * g / I);
  checkLoss(DJ_SPHERE, ball, I, 6, rolling, 0, roll, 0.1 * 0.004 * g / (R + I / R));
  // mean over a face that is pressed evenly of sqrt((mu r)^2 + mu_t^2)
  const double a = 0.05 * R, b = 0.005;
  const double mean = 2 / (3 * a * a) * (pow(a * a + b * b, 1.5) - b * b * b);
  checkLoss(DJ_CYLINDER, disc, J, 4, both, 5, spin, 0.1 * mean * g / J);
}

// Acceleration of a ball that rolls down a slope a with coefficients mu = 1 and mu_r of the cone:
// with the force f mu m g cos a, its slip s = mu_r w f/(1 - f^2)^(1/2) and torque
// mu_r m g cos a (1 - f^2)^(1/2).
static double rolls(double a, double R, double rolling) {
  double f = 0, gained = 0;
  for (int k = 0; k < 50; k++) {
    const double held = sqrt(1 - f * f), N = g * cos(a);
    const double slip = rolling * f / held;
    const double turned = (f * N * R - rolling * N * held) / (0.4 * R * R);
    f += 0.2 * (g * sin(a) - f * N - turned * (R + slip)) / N;
    gained = g * sin(a) - f * N;
  }
  return gained;
}

// Below tan a = mu_r/R a ball on a slope stays, above it rolls as the law says.
static void testSlope(void) {
  const double R = 0.1, rolling = 0.01;
  for (int i = 0; i < 12; i++) {
    const double tan[2] = {0.09, 0.12}, a = atan(tan[i % 2]);
    Run run;
    openRun(&run, DJ_SPHERE, R, 0, R, 0.4 * R * R, 1);
    setFriction(&run, 6, 1, 0.005, rolling);
    run.s->def.option.gravity[0] = g * sin(a);
    run.s->def.option.gravity[2] = -g * cos(a);
    make(&run, methods[i / 2 % 3], i < 6 ? 1e-3 : 5e-3);
    go(&run, 1);
    double before = run.d->qvel[0];
    go(&run, 1);
    double gained = run.d->qvel[0] - before, expected = rolls(a, R, rolling);
    if (i % 2) assert_true(fabs(gained - expected) < 0.02 * expected);
    else assert_true(fabs(run.d->qvel[0]) < 1e-4 && fabs(run.d->qpos[0]) < 1e-3);
    closeRun(&run);
  }
}

// A box with .05 along y and .8 along x, turned or not: it slides along y alone.
static void testTwo(void) {
  for (int i = 0; i < 12; i++) {
    const double tilt = 0.3, along = i % 2 ? 1 : 0;
    Run run;
    openRun(&run, DJ_BOX, 0.1, 0.1, 0.05, 0.005, 1);
    run.s->geom[1].size[2] = 0.05;
    djPairDef pair = {.geom1 = 0, .geom2 = 1, .condim = 3, .friction = 0.05, .friction2 = 0.8};
    run.s->def.npair = 1;
    run.s->def.pair = &pair;
    run.s->def.option.gravity[0] = g * sin(tilt) * (1 - along);
    run.s->def.option.gravity[1] = g * sin(tilt) * along;
    run.s->def.option.gravity[2] = -g * cos(tilt);
    make(&run, methods[i / 2 % 3], 2e-3);
    if (i >= 6) run.d->qpos[3] = cos(0.4), run.d->qpos[6] = sin(0.4);
    go(&run, 0.5);
    double before = run.d->qvel[1];
    go(&run, 0.5);
    double gained = run.d->qvel[1] - before, expected = 0.5 * g * (sin(tilt) - 0.05 * cos(tilt));
    assert_true(fabs(run.d->qvel[0]) < 1e-4);
    if (along == 1) assert_true(fabs(gained - expected) < 0.01 * expected);
    else assert_true(fabs(run.d->qvel[1]) < 1e-4);
    closeRun(&run);
  }
}

// The same scene in millimetres moves the same way, but for what a speed in the rules of contact's
// range makes of the gap.
static void testUnits(void) {
  double end[2][7];
  for (int k = 0; k < 2; k++) {
    const double unit = k ? 1000 : 1;
    Run run;
    openRun(&run, DJ_SPHERE, 0.1, 0, 0.1, 0.004, unit);
    setFriction(&run, 6, 0.5, 0.02 * unit, 0.01 * unit);
    make(&run, DJ_EULER, 2e-3);
    const double qvel[6] = {2 * unit, 0.3 * unit, 0, 3, 0, 40};
    memcpy(run.d->qvel, qvel, sizeof qvel);
    go(&run, 0.5);
    for (int i = 0; i < 7; i++) end[k][i] = run.d->qpos[i] / (i < 3 ? unit : 1);
    closeRun(&run);
  }
  for (int i = 0; i < 7; i++) assert_true(fabs(end[0][i] - end[1][i]) < 2e-5);
}

// Two free bodies without gravity that are pressed together keep both momenta, whatever turns.
static void testMomentum(void) {
  for (int i = 0; i < 30; i++) {
    Problem P;
    Instance X;
    cone_kind = TURNING;
    makeCase(&P, 3 * i + i % 2, 1e-6, 1);
    makeInstance(&X, &P, NULL, NULL);
    djTurn t;
    djTurnSums sums = {.by_c = 1};
    djPairOutput out = {.value = 0};
    dj_makeTurn(&t, &X.lagged, &X.in, P.law.eps);
    dj_addTurn(&out, &t, &sums, DJ_EVAL_GRADIENT);
    double size = norm12(out.gradient, 6);
    assert_true(size > 0);
    for (int k = 0; k < 6; k++) {
      assert_true(fabs(out.gradient[k] + out.gradient[6 + k]) <= 1e-15 * size);
      if (k > 2) assert_true(out.gradient[k] == 0);
    }
  }
}

DJT_MAIN(testLaw, testSmoothing, testAxes, testDecay, testSlope, testTwo, testUnits, testMomentum)
