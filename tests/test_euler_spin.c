// Free bodies of the method `euler`: what they keep of momentum and energy, alone and as they meet,
// and the slopes of their balance.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/free_motion.h"
#include "common/near.h"
#include "integrate/euler_spin.h"

static djModel* makeBox(double h, const double ipos[3]) {
  Tree t;
  initTree(&t, DJ_EULER, h);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, ipos, (double[3]){0, 0, 1}, 2);
  t.body[1].inertia[0] = 0.006;
  t.body[1].inertia[1] = 0.018;
  t.body[1].inertia[2] = 0.021;
  return makeModel(&t);
}

// Five seconds at 20 rad/s: MuJoCo's term wins energy, 6 to 1,500 % of it.
static void testTumbling(void) {
  static const double place[2][3] = {{0, 0, 0}, {0.1, -0.05, 0.2}};
  static const double h[5] = {0.001, 0.002, 0.005, 0.01, 0.02};
  double qvel[6] = {0.3, -0.2, 0.5, 6, 17, 8.66};
  for (int k = 0; k < 10; k++) {
    djModel* m = makeBox(h[k % 5], place[k / 5]);
    Drift drift = run(m, qvel, 5);
    print_message("h %g: angular momentum %.1e, linear %.1e, energy %.1e\n", m->opt.timestep,
                  drift.angular, drift.linear, drift.energy);
    assert_true(drift.angular < 1e-9 && drift.linear < 1e-10 && drift.energy < 0.02);
    m->opt.spin = DJ_SPIN_MUJOCO;
    if (k < 3) assert_true(run(m, qvel, 5).energy > 0.05);
    dj_deleteModel(m);
  }
}

// A body of armature or friction loss, or that carries another, goes as by MuJoCo.
static void testOthers(void) {
  djModel* m = makeBox(0.002, (double[3]){0, 0, 0});
  djData* d = makeData(m);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->spins.n, 1);
  m->jnt_armature[0] = 0.1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->spins.n, 0);
  m->jnt_armature[0] = 0;
  m->jnt_frictionloss[0] = 0.1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->spins.n, 0);
  djt_delete(m, d);
  m = makeFloating(DJ_EULER, 0.002);
  d = makeData(m);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->spins.n, 0);
  djt_delete(m, d);
}

// The end of a step from (q, v) moved by x along column k of (q, v), as displacement from qend and
// velocity.
static void stepFrom(double* y, const djModel* m, djData* d, const double* q, const double* v,
                     const double* qend, int k, double x) {
  double e[12] = {0};
  memcpy(d->qpos, q, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, v, (size_t)m->nv * sizeof(double));
  e[k % m->nv] = 1;
  if (k < m->nv) dj_integratePos(d->qpos, m, q, e, x);
  else d->qvel[k - m->nv] += x;
  assert_int_equal(dj_step(m, d), DJ_OK);
  dj_differentiatePos(y, m, 1, qend, d->qpos);
  memcpy(y + m->nv, d->qvel, (size_t)m->nv * sizeof(double));
}

// A body pulled to a place by springs and dampers turns up to .4 rad in a step.
static void testSlopes(void) {
  djRng rng = {21};
  double worst = 0;
  for (int trial = 0; trial < 20; trial++) {
    double ipos[3], v[6], q[7], qend[7], wrench[6];
    djt_uniforms(ipos, 3, &rng, -0.2, 0.2);
    djModel* m = makeBox(0.01, ipos);
    m->jnt_damping[0] = trial % 2 ? 0.5 : 0;
    m->jnt_stiffness[0] = 30;
    djData* d = makeData(m);
    djt_uniforms(v, 6, &rng, -1, 1);
    dj_integratePos(q, m, d->qpos, v, 0.5);
    djt_uniforms(v, 6, &rng, -25, 25);
    djt_uniforms(wrench, 6, &rng, -20, 20);
    memcpy(d->xfrc_applied + 6, wrench, sizeof wrench);
    for (int k = 0; k < 12; k++) {
      static const double weight[4] = {8, -8, -1, 1}, point[4] = {1, -1, 2, -2};
      double dx[12] = {0}, y[12], side[12], fd[12] = {0};
      if (k == 0) {
        memcpy(d->qpos, q, sizeof q);
        memcpy(d->qvel, v, sizeof v);
        assert_int_equal(dj_step(m, d), DJ_OK);
        memcpy(qend, d->qpos, sizeof qend);
      }
      for (int i = 0; i < 4; i++) {
        stepFrom(side, m, d, q, v, qend, k, 1e-3 * point[i]);
        for (int r = 0; r < 12; r++) fd[r] += weight[i] / 12e-3 * side[r];
      }
      stepFrom(side, m, d, q, v, qend, k, 0);
      dx[k] = 1;
      assert_int_equal(djd_stepJvp(m, d, y, dx, NULL), DJ_OK);
      worst = djt_worst(worst, djt_relative(y, fd, 12));
    }
    djt_delete(m, d);
  }
  djt_below("derivatives", worst, 1e-9);
}

DJT_MAIN(testTumbling, testOthers, testSlopes)
