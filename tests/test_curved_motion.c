// Ellipsoids and cylinders in motion, against closed forms.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

static const double pi = 3.14159265358979323846;

typedef struct Run {
  Scene* s;
  djModel* m;
  djData* d;
} Run;

// A free body of 1 kg with one geom on a floor that is turned by `slope` about y.
static void openRun(Run* run, int type, const double size[3], double height, double slope,
                    double h) {
  Scene* s = run->s = newScene(1);
  djGeomDef* floor = addGeom(s, 0, DJ_PLANE, 0, 0, 1);
  floor->quat[0] = cos(slope / 2);
  floor->quat[2] = sin(slope / 2);
  int b = addBody(s, 0, DJ_FREE, 0, 0, height, 1, 0.1);
  djGeomDef* g = addGeom(s, b, type, size[0], size[1], size[2]);
  floor->friction[0] = g->friction[0] = 0.5;
  double* I = s->body[b].inertia;
  for (int k = 0; k < 3; k++) {
    double p = size[(k + 1) % 3], q = size[(k + 2) % 3];
    I[k] = (p * p + q * q) / 5;
  }
  if (type == DJ_CYLINDER) {
    I[0] = I[1] = size[0] * size[0] / 4 + size[1] * size[1] / 3;
    I[2] = size[0] * size[0] / 2;
  }
  s->def.option.timestep = h;
}

static void make(Run* run) {
  djError err;
  assert_int_equal(dj_makeModel(&run->m, &run->s->def, &err), DJ_OK);
  assert_int_equal(dj_makeData(&run->d, run->m, &err), DJ_OK);
}

static void step(Run* run, double time) {
  int n = (int)lround(time / run->m->opt.timestep);
  for (int k = 0; k < n; k++) assert_int_equal(dj_step(run->m, run->d), DJ_OK);
}

static void closeRun(Run* run) {
  djt_delete(run->m, run->d);
  freeScene(run->s);
}

static void turn(Run* run, double w, double x, double y, double z) {
  double* q = run->d->qpos + 3;
  q[0] = w, q[1] = x, q[2] = y, q[3] = z;
}

// An ellipsoid with equal axes moves as the sphere does.
static void testSphere(void) {
  const double size[3] = {0.1, 0.1, 0.1};
  Run run[2];
  for (int k = 0; k < 2; k++) {
    openRun(&run[k], k ? DJ_ELLIPSOID : DJ_SPHERE, size, 0.102, 0.1, 0.002);
    make(&run[k]);
    run[k].d->qvel[1] = 0.3;
    run[k].d->qvel[3] = 2;
    step(&run[k], 1);
  }
  assert_true(run[0].d->qpos[0] > 0.1);   // it rolled
  for (int i = 0; i < 7; i++) assert_true(fabs(run[0].d->qpos[i] - run[1].d->qpos[i]) < 1e-8);
  for (int i = 0; i < 6; i++) assert_true(fabs(run[0].d->qvel[i] - run[1].d->qvel[i]) < 1e-7);
  closeRun(&run[0]);
  closeRun(&run[1]);
}

// Both come to rest on their lowest points, within 0.3% of the inner radius.
static void testRest(void) {
  const double sizes[3][3] = {{0.1, 0.08, 0.05}, {0.1, 0.2, 0}, {0.05, 0.02, 0}};
  const double height[3] = {0.05, 0.2, 0.02}, inner[3] = {0.05, 0.1, 0.02};
  for (int k = 0; k < 3; k++) {
    Run run;
    openRun(&run, k ? DJ_CYLINDER : DJ_ELLIPSOID, sizes[k], height[k] * 1.01, 0, 0.005);
    make(&run);
    step(&run, 2);
    assert_true(fabs(run.d->qpos[2] - height[k]) < 3e-3 * inner[k]);
    assert_true(fabs(run.d->qpos[3]) > 1 - 1e-9);
    for (int i = 0; i < 6; i++) assert_true(fabs(run.d->qvel[i]) < 1e-6);
    closeRun(&run);
  }
}

// Set down with a tilt of 3 degrees, an upright cylinder rocks and stands; tipped beyond the edge
// of its face it falls on its side.
static void testStands(void) {
  const double size[3] = {0.1, 0.2, 0};
  for (int k = 0; k < 2; k++) {
    double tilt = k ? 0.6 : 0.05;   // atan(r/h) = 0.46
    Run run;
    openRun(&run, DJ_CYLINDER, size, 0.2 * cos(tilt) + 0.1 * sin(tilt) + 1e-3, 0, 0.002);
    make(&run);
    turn(&run, cos(tilt / 2), sin(tilt / 2), 0, 0);
    step(&run, 3);
    const double* q = run.d->qpos + 3;
    double up = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
    if (k == 0) assert_true(up > 1 - 1e-6 && fabs(run.d->qpos[2] - 0.2) < 1e-3);
    else assert_true(fabs(up) < 0.02 && fabs(run.d->qpos[2] - 0.1) < 1e-3);
    closeRun(&run);
  }
}

// Down a slope a it rolls with (2/3) g sin a while it sticks, and slides with g (sin a - mu cos a)
// where that is less than rolling needs.
static void testRolls(void) {
  const double size[3] = {0.1, 0.15, 0}, slope[2] = {10 * pi / 180, 65 * pi / 180};
  for (int k = 0; k < 2; k++) {
    double a = slope[k], h = 1e-3, speed[2];
    Run run;
    openRun(&run, DJ_CYLINDER, size, 0, a, h);
    make(&run);
    turn(&run, sqrt(0.5), sqrt(0.5), 0, 0);   // its axis along y
    run.d->qpos[0] = 0.1 * sin(a);
    run.d->qpos[2] = 0.1 * cos(a);
    for (int i = 0; i < 2; i++) {
      step(&run, 0.15);
      speed[i] = run.d->qvel[0] * cos(a) - run.d->qvel[2] * sin(a);
    }
    double g = 9.81, expected = k ? g * (sin(a) - 0.5 * cos(a)) : 2 * g * sin(a) / 3;
    assert_true(fabs((speed[1] - speed[0]) / 0.15 - expected) < 0.01 * expected);
    assert_true(fabs(run.d->qpos[1]) < 1e-6);
    closeRun(&run);
  }
}

// Friction stops the spin of an upright cylinder with the torque (2/3) mu m g r of a face that is
// pressed evenly, and not the spin of a ball on a point.
static void testSpin(void) {
  const double size[3] = {0.1, 0.1, 0.1};
  double lost[2];
  for (int k = 0; k < 2; k++) {
    Run run;
    openRun(&run, k ? DJ_ELLIPSOID : DJ_CYLINDER, size, 0.1, 0, 1e-3);
    make(&run);
    step(&run, 0.5);
    run.d->qvel[5] = 5;
    step(&run, 0.02);
    double first = run.d->qvel[5];
    step(&run, 0.02);
    lost[k] = first - run.d->qvel[5];
    closeRun(&run);
  }
  double torque = 2.0 / 3 * 0.5 * 9.81 * 0.1, I = 0.5 * 0.01;
  assert_true(fabs(lost[0] / 0.02 - torque / I) < 0.03 * torque / I);
  assert_true(fabs(lost[1]) < 0.1 * lost[0]);
}

DJT_MAIN(testSphere, testRest, testStands, testRolls, testSpin)
