// The method `momentum`: the energy that a step minimises, what it keeps of momentum and energy,
// and what rolls and spins.

#include "common/random_model.h"
#include "common/worst.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/free_motion.h"
#include "common/near.h"
#include "integrate/momentum.h"
#include "math/so3.h"

// The residual is the gradient of the energy, at the solution and away from it.
static void testEnergy(void** state) {
  (void)state;
  djRng rng = {5};
  double worst = 0;
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), DJT_ALL);
    m->opt.integrator = DJ_MOMENTUM;
    m->opt.timestep = 0.01;
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 2);
    assert_true(dj_solveStep(m, d) >= 0);
    int nv = m->nv;
    if (d->work->kind != DJ_LDL) {   // forces without an energy
      dj_deleteData(d);
      dj_deleteModel(m);
      continue;
    }
    double* mem = calloc((size_t)(4 * nv + 2 * m->nq), sizeof(double));
    double *g = mem, *fd = g + nv, *e = fd + nv, *none = e + nv, *q = none + nv, *qe = q + m->nq;
    for (int i = 0; i < nv; i++) e[i] = djt_uniform(&rng, -0.05, 0.05);
    dj_integratePos(q, m, d->work->now.q, e, 1);
    energyAt(g, m, d, q);
    for (int j = 0; j < nv; j++) {
      static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      double step = 1e-4;
      memset(e, 0, (size_t)nv * sizeof(double));
      e[j] = 1;
      for (int k = 0; k < 4; k++) {
        dj_integratePos(qe, m, q, e, point[k] * step);
        fd[j] += weight[k] / (12 * step) * energyAt(none, m, d, qe);
      }
    }
    worst = djt_worst(worst, relative(g, fd, nv));
    free(mem);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
  print_message("gradient of the energy: %.1e\n", worst);
  assert_true(worst < 1e-6);
}

// The sine of a rotation and its slope, by R -> R exp(d), and what it pushes back. Of one dof: s,
// s', s''.
static void testSines(void** state) {
  (void)state;
  djRng rng = {6};
  const double h = 1e-3;
  for (int trial = 0; trial < 50; trial++) {
    double w[3], x[3], y[3];
    djt_uniforms(w, 3, &rng, -2, 2);
    djt_uniforms(x, 3, &rng, -1, 1);
    djt_uniforms(y, 3, &rng, -1, 1);
    djMat3 R = dju_quatToMat(dju_expQuat(dju_load3(w))), turned[4];
    djVec3 d = dju_load3(x), s = dj_sineAhead(R), axis = dju_load3(w);
    double angle = dju_norm3(axis);
    djt_near(dju_norm3(dju_madd3(s, -sin(angle) / angle, axis)), 0, 1e-14);
    for (int k = 0; k < 4; k++) {
      double step = h * (k % 2 ? -1 : 1) * (k / 2 + 1);
      turned[k] = dju_mulMM(R, dju_quatToMat(dju_expQuat(dju_scale3(step, d))));
    }
    djVec3 near = dju_sub3(dj_sineAhead(turned[0]), dj_sineAhead(turned[1]));
    djVec3 far = dju_sub3(dj_sineAhead(turned[2]), dj_sineAhead(turned[3]));
    djVec3 slope = dju_sub3(dju_scale3(8 / (12 * h), near), dju_scale3(1 / (12 * h), far));
    djVec3 z = dju_load3(y);
    djt_near(dju_norm3(dju_sub3(slope, dj_pushAhead(R, d, true))), 0, 1e-10);
    djt_near(dju_dot3(z, slope), dju_dot3(dj_pushAhead(R, z, false), d), 1e-10);
  }
  djModel* m = djt_randomModel(&rng, 6, DJT_ALL);
  djData* data = makeData(m);
  djPlace at = data->work->now;
  int count = 0;
  for (int j = 0; j < m->njnt; j++) {
    if (dj_jointRow(m, j)->quat) continue;
    for (double x = 1e-4; x < 3; x *= 7) {
      djAhead a[5];
      for (int k = -2; k <= 2; k++) {
        data->work->ahead.q[m->jnt_qposadr[j]] = 0.5;
        at.q[m->jnt_qposadr[j]] = 0.5 + x + k * h;
        a[k + 2] = dj_scalarAhead(data->work, m, &at, j);
      }
      double P = (8 * (a[3].s - a[1].s) - (a[4].s - a[0].s)) / (12 * h);
      double bend = (8 * (a[3].P - a[1].P) - (a[4].P - a[0].P)) / (12 * h);
      djt_near(a[2].P, P, 1e-10);
      djt_near(a[2].bend, bend, 1e-10);
      djt_near(a[2].s, m->jnt_type[j] == DJ_HINGE ? sin(x) : x, 1e-13);
      count++;
    }
  }
  assert_true(count > 0);
  dj_deleteData(data);
  dj_deleteModel(m);
}

// ---- what is kept -----------------------------------------------------------------------------

// Momentum is kept to rounding, energy to second order at least; it does not grow.
static void testFloatingTree(void** state) {
  (void)state;
  double qvel[16] = {0.5, -0.3, 1, 1.5, 0.4, -0.8, 1, -2, 0.5, 1.2, 0.3, -1, 1.5, -0.7};
  Drift drift[3];
  for (int k = 0; k < 3; k++) {
    djModel* m = makeFloating(DJ_MOMENTUM, 0.004 / (1 << k));
    drift[k] = run(m, qvel, 3);
    print_message("h %g: angular momentum %.1e, linear %.1e, energy %.2e, trend %.1e\n",
                  m->opt.timestep, drift[k].angular, drift[k].linear, drift[k].energy,
                  drift[k].trend);
    assert_true(drift[k].angular < 1e-9 && drift[k].linear < 1e-9);
    dj_deleteModel(m);
  }
  for (int k = 0; k < 2; k++) {
    double order = log2(drift[k].energy / drift[k + 1].energy);
    print_message("order of the energy's error: %.2f\n", order);
    assert_true(order > 1.8);
  }
}

// With springs, dampers and limits between its bodies a tree still keeps its momentum.
static void testDrivenTree(void** state) {
  (void)state;
  djModel* m = makeFloating(DJ_MOMENTUM, 0.005);
  for (int j = 1; j < m->njnt; j++) {
    m->jnt_damping[j] = 0.3;
    m->jnt_stiffness[j] = 20;
    m->jnt_armature[j] = 0.01;
    if (m->jnt_type[j] != DJ_HINGE) continue;
    m->jnt_limited[j] = 1;
    m->jnt_range[2 * j] = -0.2;
    m->jnt_range[2 * j + 1] = 0.3;
  }
  double qvel[16] = {0.5, -0.3, 1, 3, 1, -2, 2, -4, 1, 3, 1, -2, 3, -2};
  Drift drift = run(m, qvel, 3);
  print_message("driven: angular momentum %.1e, linear %.1e\n", drift.angular, drift.linear);
  assert_true(drift.angular < 1e-9 && drift.linear < 1e-9);
  dj_deleteModel(m);
}

// From rest, by a wrench on one body: momentum grows by its impulse, and its work is no energy won.
static void testWrench(void** state) {
  (void)state;
  const double wrench[6] = {20, -30, 10, 4, -3, 5};   // force, torque
  djModel* m = makeFloating(DJ_MOMENTUM, 0.002);
  djData* d = makeData(m);
  double p[6], lost = 0;
  djVec3 force = dju_load3(wrench), angular = {0, 0, 0};
  memcpy(d->xfrc_applied + 6, wrench, sizeof wrench);
  for (int k = 1; k <= 200; k++) {
    assert_int_equal(dj_forward(m, d), DJ_OK);
    djVec3 torque = dju_add3(dju_load3(wrench + 3), dju_cross3(dju_load3(d->xipos + 3), force));
    angular = dju_madd3(angular, m->opt.timestep, torque);
    assert_int_equal(dj_step(m, d), DJ_OK);
    momentum(p, m, d);
    djVec3 linear = dju_scale3(k * m->opt.timestep, force);
    lost = djt_worst(lost, dju_norm3(dju_sub3(dju_load3(p + 3), linear)) / dju_norm3(linear));
    lost = djt_worst(lost, dju_norm3(dju_sub3(dju_load3(p), angular)) / dju_norm3(angular));
  }
  print_message("momentum beside impulses: %.1e\n", lost);
  assert_true(lost < 1e-9);
  assert_int_equal(d->stats.fallback_steps, 0);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// Ten seconds of fast tumbling: energy may be lost at third order, never won.
static void testTumbling(void** state) {
  (void)state;
  static const double h[2] = {0.002, 0.005}, most[2] = {0.01, 0.1};
  double qvel[16] = {1, 0, 0, 8, 5, -6, 9, -7, 10, 8, -9, 12, 6, -7, 8, 5};
  for (int k = 0; k < 2; k++) {
    djModel* m = makeFloating(DJ_MOMENTUM, h[k]);
    djData* d = makeData(m);
    memcpy(d->qvel, qvel, sizeof qvel);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    double e0 = d->energy[1], highest = e0, spin0[3], spin[3];
    assert_int_equal(dj_angularMomentum(spin0, m, d), DJ_OK);
    for (long i = 0; i < lround(10 / h[k]); i++) {
      assert_int_equal(dj_step(m, d), DJ_OK);
      assert_int_equal(dj_forward(m, d), DJ_OK);
      highest = fmax(highest, d->energy[1]);
    }
    assert_int_equal(dj_angularMomentum(spin, m, d), DJ_OK);
    djVec3 drift = dju_sub3(dju_load3(spin), dju_load3(spin0));
    print_message("tumbling at %g s: energy %.4f at the end, %.6f at most; %ld fallbacks\n", h[k],
                  d->energy[1] / e0, highest / e0, d->stats.fallback_steps);
    assert_true(highest < (1 + 1e-4) * e0 && d->energy[1] > (1 - most[k]) * e0);
    assert_true(dju_norm3(drift) < 1e-9 * dju_norm3(dju_load3(spin0)));
    assert_int_equal(d->stats.fallback_steps, 0);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
}

static void testSlowTop(void** state) {
  (void)state;
  keepSlowTop(DJ_MOMENTUM, 1e-6);
}

static djModel* makeTop(double h) {
  Tree t;
  initTree(&t, DJ_MOMENTUM, h);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.1, -0.05, 0.2}, (double[3]){0, 0, 1},
          2);
  t.body[1].inertia[0] = 0.02;
  t.body[1].inertia[1] = 0.03;
  t.body[1].inertia[2] = 0.045;
  return makeModel(&t);
}

// Bodies that spin fast: .3 and .75 rad in a step.
static void testFastTop(void** state) {
  (void)state;
  const double qvel[6] = {0.3, -0.2, 0.5, 3, 5, 150};
  for (int k = 0; k < 2; k++) {
    djModel* m = makeTop(k ? 0.005 : 0.002);
    Drift drift = run(m, qvel, 10);
    print_message("fast at %g s: angular momentum %.1e, energy %.1e\n", m->opt.timestep,
                  drift.angular, drift.energy);
    assert_true(drift.angular < 1e-8 && drift.linear < 1e-8 && drift.energy < 1e-3);
    dj_deleteModel(m);
  }
}

// Beyond about a radian in a step steps may find no solution: `position` takes them and damps.
static void testDampedSteps(void** state) {
  (void)state;
  djModel* m = makeTop(0.01);
  djData* d = makeData(m);
  const double qvel[6] = {0.3, -0.2, 0.5, 3, 5, 150};
  memcpy(d->qvel, qvel, sizeof qvel);
  assert_int_equal(dj_forward(m, d), DJ_OK);
  double e0 = d->energy[1];
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    assert_true(d->energy[1] < 1.1 * e0);
  }
  print_message("too fast: %ld fallbacks, energy %.2f of the start's\n", d->stats.fallback_steps,
                d->energy[1] / e0);
  assert_true(d->stats.fallback_steps > 0 && d->stats.fallback_steps < 100);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// State after a step from (q, v) moved by x along column k of (q, v), as displacement from qend and
// velocity.
static void stepFrom(double* y, const djModel* m, djData* d, const double* q, const double* v,
                     const double* qend, int k, double x) {
  double e[32] = {0};
  memcpy(d->qpos, q, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, v, (size_t)m->nv * sizeof(double));
  e[k % m->nv] = 1;
  if (k < m->nv) dj_integratePos(d->qpos, m, q, e, x);
  else d->qvel[k - m->nv] += x;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_ptr_equal(d->work->method, &dj_variational);
  dj_differentiatePos(y, m, 1, qend, d->qpos);
  memcpy(y + m->nv, d->qvel, (size_t)m->nv * sizeof(double));
}

// A mass far out on a tree, whose links turn each other fast: the energy is not convex and Newton's
// method fails. The variational integrator takes such steps, with its derivatives.
static void testSubstitute(void** state) {
  (void)state;
  const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1}, zero[3] = {0, 0, 0};
  Tree t;
  initTree(&t, DJ_MOMENTUM, 0.01);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0, 0, 0.25}, x, 5);
  addBody(&t, 1, DJ_BALL, (double[3]){0, 0, 0.5}, (double[3]){0, 0, 0.2}, zero, 8);
  addBody(&t, 2, DJ_HINGE, (double[3]){0, 0, 0.4}, zero, x, 0.01);
  addBody(&t, 3, DJ_SLIDE, zero, (double[3]){0.2, 0, 0}, z, 4);
  djModel* m = makeModel(&t);
  m->opt.tolerance = 1e-9;
  djRng rng = {31};
  int nv = m->nv, taken = 0;
  double worst = 0, lost = 0;
  for (int trial = 0; trial < 40; trial++) {
    djData* d = makeData(m);
    double q[16], qend[16], v[12], p0[6], p[6];
    djt_uniforms(v, nv, &rng, -1, 1);
    dj_integratePos(q, m, d->qpos, v, 1);
    q[12] = -40;
    djt_uniforms(v, nv, &rng, -3, 3);
    memcpy(d->qpos, q, sizeof q);
    memcpy(d->qvel, v, (size_t)nv * sizeof(double));
    momentum(p0, m, d);
    assert_int_equal(dj_step(m, d), DJ_OK);
    bool other = d->work->method == &dj_variational;
    assert_int_equal(d->stats.fallback_steps, 0);
    memcpy(qend, d->qpos, sizeof qend);
    momentum(p, m, d);
    lost = djt_worst(lost, relative(p, p0, 6));
    for (int k = 0; k < 2 * nv && other; k++) {
      static const double weight[4] = {8, -8, -1, 1}, point[4] = {1, -1, 2, -2};
      double dx[24] = {0}, y[24], side[24], fd[24] = {0};
      for (int i = 0; i < 4; i++) {
        stepFrom(side, m, d, q, v, qend, k, 1e-4 * point[i]);
        for (int r = 0; r < 2 * nv; r++) fd[r] += weight[i] / 12e-4 * side[r];
      }
      stepFrom(side, m, d, q, v, qend, k, 0);
      dx[k] = 1;
      assert_int_equal(djd_stepJvp(m, d, y, dx, NULL), DJ_OK);
      worst = djt_worst(worst, relative(y, fd, 2 * nv));
    }
    taken += other;
    dj_deleteData(d);
  }
  print_message("substitutes: %d of 40 steps, momentum %.1e, derivatives %.1e\n", taken, lost,
                worst);
  assert_true(taken > 1 && taken < 20 && lost < 1e-9 && worst < 1e-5);
  dj_deleteModel(m);
}

// A tolerance below rounding: the steps are those of the least tolerance that is reached, and are
// told to be unconverged. `position` would lose what rolls and spins.
static void testTightTolerance(void** state) {
  (void)state;
  static const djIntegrator list[2] = {DJ_MOMENTUM, DJ_VARIATIONAL};
  for (int i = 0; i < 2; i++) {
    double qvel[16] = {0.5, -0.3, 1, 8, 5, -6, 9, -7, 10, 8, -9, 12, 6, -7, 8, 5}, end[2][16];
    for (int k = 0; k < 2; k++) {
      djModel* m = makeFloating(list[i], 0.004);
      djData* d = makeData(m);
      m->opt.tolerance = k ? 1e-16 : 1e-10;
      memcpy(d->qvel, qvel, sizeof qvel);
      for (int n = 0; n < 50; n++) assert_true(dj_step(m, d) >= 0);
      memcpy(end[k], d->qvel, sizeof end[k]);
      assert_int_equal(d->stats.fallback_steps, 0);
      assert_true(k ? d->stats.unconverged_steps > 25 : d->stats.unconverged_steps == 0);
      assert_true(d->stats.worst_residual < 1e-9);
      dj_deleteData(d);
      dj_deleteModel(m);
    }
    assert_true(relative(end[1], end[0], 16) < 1e-8);
  }
}

// ---- rolling ----------------------------------------------------------------------------------

// A plane and, above it, a geom of a body; the scene's defaults.
static djGeomDef addWheel(int body, djGeomType type, double radius, double half) {
  djGeomDef g = dj_defaultGeomDef();
  g.body = body;
  g.type = type;
  g.size[0] = radius;
  g.size[1] = half;
  return g;
}

// The speed of body 1 along x after 5 s at 2 ms, from 2 m/s, wheels of radius .1 rolling.
static double rollOn(Tree* t, const djGeomDef* geom, int ngeom) {
  djModelDef standard = dj_defaultModelDef();
  t->def.option = standard.option;
  t->def.option.integrator = DJ_MOMENTUM;
  t->def.geom = geom;
  t->def.ngeom = ngeom;
  djModel* m = makeModel(t);
  djData* d = makeData(m);
  d->qvel[0] = 2;
  for (int i = m->nv > 6 ? 6 : 4; i < (m->nv > 6 ? m->nv : 5); i++) d->qvel[i] = 20;
  for (int k = 0; k < 2500; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  double speed = d->qvel[0];
  print_message("%g rolls %g\n", speed, d->qvel[m->nv > 6 ? 6 : 4] * 0.1);
  assert_true(fabs(d->qvel[m->nv > 6 ? 6 : 4] * 0.1 - speed) < 0.01);
  dj_deleteData(d);
  dj_deleteModel(m);
  return speed;
}

// What rolls goes on rolling: 2 m/s for 5 s. Under `position` the ball is left with 1.1 m/s.
static void testRolling(void** state) {
  (void)state;
  const double y[3] = {0, 1, 0}, zero[3] = {0, 0, 0};
  djGeomDef geom[6] = {addWheel(0, DJ_PLANE, 0, 0), addWheel(1, DJ_SPHERE, 0.1, 0)};
  Tree t;
  initTree(&t, DJ_MOMENTUM, 0.002);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 0.1}, zero, zero, 1);
  for (int k = 0; k < 3; k++) t.body[1].inertia[k] = 0.004;
  double ball = rollOn(&t, geom, 2);
  initTree(&t, DJ_MOMENTUM, 0.002);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 0.15}, zero, zero, 5);
  for (int k = 0; k < 4; k++) {
    double at[3] = {k & 1 ? 0.2 : -0.2, k & 2 ? 0.18 : -0.18, -0.05};
    addBody(&t, 1, DJ_HINGE, at, zero, y, 0.5);
    double* inertia = t.body[2 + k].inertia;
    inertia[0] = inertia[2] = 0.0014;
    inertia[1] = 0.0025;
    geom[1 + k] = addWheel(2 + k, DJ_CYLINDER, 0.1, 0.02);
    geom[1 + k].quat[0] = geom[1 + k].quat[1] = sqrt(0.5);
  }
  double car = rollOn(&t, geom, 5);
  print_message("after 5 s: ball %.4f m/s, car %.4f m/s\n", ball, car);
  assert_true(ball >= 1.99 && ball < 2.001);
  assert_true(car >= 1.99 && car < 2.001);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testEnergy),     cmocka_unit_test(testSines),
      cmocka_unit_test(testFloatingTree), cmocka_unit_test(testDrivenTree),
      cmocka_unit_test(testWrench),     cmocka_unit_test(testTumbling),
      cmocka_unit_test(testSlowTop),    cmocka_unit_test(testFastTop),
      cmocka_unit_test(testDampedSteps), cmocka_unit_test(testTightTolerance),
      cmocka_unit_test(testSubstitute),
      cmocka_unit_test(testRolling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
