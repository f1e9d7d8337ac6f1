// The variational step without contact: dr/dq+, and what it keeps: momenta of free bodies and
// trees, energies within O(h^2).

#include "common/random_model.h"
#include "common/worst.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/step_energy.h"
#include "model/momentum.h"

// dr/dq+ against differences of r; its transpose is wrong.
static void testJacobian(void** state) {
  (void)state;
  djRng rng = {3};
  double worst = 0, best_wrong = 0;
  for (int trial = 0; trial < 40; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), DJT_ALL);
    m->opt.integrator = DJ_VARIATIONAL;
    m->opt.timestep = 0.01;
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 2);
    assert_true(dj_solveStep(m, d) >= 0);
    int nv = m->nv;
    double* mem = calloc((size_t)(3 * nv + 3 * nv * nv + 2 * m->nq), sizeof(double));
    double *g = mem, *e = g + nv, *H = e + 2 * nv, *Hfd = H + nv * nv, *HT = Hfd + nv * nv;
    double *q = HT + nv * nv, *qe = q + m->nq;
    djWork* w = d->work;
    for (int i = 0; i < nv; i++) e[i] = djt_uniform(&rng, -0.05, 0.05);
    dj_integratePos(q, m, w->now.q, e, 1);
    energyAt(g, m, d, q);
    dj_columns(H, nv, 1, &w->H, 0, nv);
    for (int j = 0; j < nv; j++) {
      memset(e, 0, (size_t)nv * sizeof(double));
      e[j] = 1;
      static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      double step = 1e-5;
      for (int k = 0; k < 4; k++) {
        dj_integratePos(qe, m, q, e, point[k] * step);
        energyAt(g, m, d, qe);
        for (int i = 0; i < nv; i++) Hfd[i * nv + j] += weight[k] / (12 * step) * g[i];
      }
      for (int i = 0; i < nv; i++) HT[i * nv + j] = H[j * nv + i];
    }
    worst = djt_worst(worst, relative(H, Hfd, nv * nv));
    best_wrong = djt_worst(best_wrong, relative(HT, Hfd, nv * nv));
    free(mem);
    dj_deleteData(d);
    dj_deleteModel(m);
  }
  print_message("dr/dq+ %.1e, its transpose %.1e\n", worst, best_wrong);
  assert_true(worst < 1e-6);
  assert_true(best_wrong > 1e-3);
}

// ---- what is kept -----------------------------------------------------------------------------

typedef struct Tree {
  djBodyDef body[8];
  djJointDef joint[8];
  djModelDef def;
} Tree;

// A body with its joint; anchor at the frame's origin.
static void addBody(Tree* t, int parent, djJointType type, const double pos[3],
                    const double ipos[3], const double axis[3], double mass) {
  int b = t->def.nbody++;
  djBodyDef* body = &t->body[b];
  *body = dj_defaultBodyDef();
  body->parent = parent;
  body->mass = mass;
  for (int k = 0; k < 3; k++) {
    body->pos[k] = pos[k];
    body->ipos[k] = ipos[k];
    body->inertia[k] = mass * (0.01 + 0.004 * k);
  }
  djJointDef* joint = &t->joint[t->def.njnt++];
  *joint = dj_defaultJointDef();
  joint->type = type;
  joint->body = b;
  for (int k = 0; k < 3; k++) joint->axis[k] = axis[k];
  if (type == DJ_BALL) joint->qpos0[0] = joint->springref[0] = 1;
  if (type == DJ_FREE) joint->qpos0[3] = joint->springref[3] = 1;
}

static void initTree(Tree* t, djIntegrator integrator, double h) {
  memset(t, 0, sizeof *t);
  t->body[0] = dj_defaultBodyDef();
  t->def = dj_defaultModelDef();
  t->def.nbody = 1;
  t->def.body = t->body;
  t->def.joint = t->joint;
  t->def.option.gravity[2] = 0;
  t->def.option.contact = DJ_CONTACT_NONE;
  t->def.option.integrator = integrator;
  t->def.option.timestep = h;
}

static djModel* makeModel(const Tree* t) {
  djModel* m;
  djError err;
  assert_int_equal(dj_makeModel(&m, &t->def, &err), DJ_OK);
  return m;
}

// A torso that floats freely, two legs with knees, two arms on ball joints.
static djModel* makeFloating(djIntegrator integrator, double h) {
  static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, zero[3] = {0, 0, 0};
  Tree t;
  initTree(&t, integrator, h);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.02, 0, 0.1}, x, 8);
  for (int side = -1; side < 2; side += 2) {
    int hip = t.def.nbody;
    addBody(&t, 1, DJ_HINGE, (double[3]){0, 0.1 * side, -0.2}, (double[3]){0, 0, -0.2}, y, 4);
    addBody(&t, hip, DJ_HINGE, (double[3]){0, 0, -0.4}, (double[3]){0, 0, -0.2}, x, 2);
    addBody(&t, 1, DJ_BALL, (double[3]){0, 0.2 * side, 0.3}, (double[3]){0, 0.2 * side, 0}, zero,
            1.5);
  }
  return makeModel(&t);
}

// Linear and angular momentum about the world's origin, of qpos and qvel.
static void momentum(double p[6], const djModel* m, djData* d) {
  assert_int_equal(dj_forward(m, d), DJ_OK);
  djWork* w = d->work;
  dj_bodyMomentum(w->wrench, NULL, m, &w->begin.kin, w->ref, d->qvel);
  memset(p, 0, 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    djVec3 f = dju_load3(w->wrench + 6 * b + 3);
    djVec3 t = dju_add3(dju_load3(w->wrench + 6 * b), dju_cross3(w->ref[b], f));
    dju_store3(p, dju_add3(dju_load3(p), t));
    dju_store3(p + 3, dju_add3(dju_load3(p + 3), f));
  }
}

typedef struct Drift {
  double angular, linear, energy;   // largest changes, relative
  double trend;                     // of the energy: mean of the second half less that of the first
} Drift;

static Drift run(const djModel* m, const double* qvel, double time) {
  djData* d = makeData(m);
  memcpy(d->qvel, qvel, (size_t)m->nv * sizeof(double));
  double p0[6], p[6], half[2] = {0, 0};
  momentum(p0, m, d);
  double e0 = d->energy[0] + d->energy[1], unit = d->energy[1];
  Drift worst = {0};
  long n = lround(time / m->opt.timestep);
  for (long k = 0; k < n; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    momentum(p, m, d);
    double spin[3], arm[3] = {0}, mass = 0;   // the public measure: about the centre of mass
    assert_int_equal(dj_angularMomentum(spin, m, d), DJ_OK);
    for (int b = 1; b < m->nbody; b++) {
      mass += m->body_mass[b];
      for (int i = 0; i < 3; i++) arm[i] += m->body_mass[b] * d->xipos[3 * b + i];
    }
    djVec3 orbit = dju_cross3(dju_scale3(1 / mass, dju_load3(arm)), dju_load3(p + 3));
    djVec3 about = dju_sub3(dju_load3(p), dju_add3(dju_load3(spin), orbit));
    if (m->jnt_type[0] == DJ_FREE) assert_true(dju_norm3(about) < 1e-12 * dju_norm3(dju_load3(p)));
    double e = d->energy[0] + d->energy[1] - e0, size[2] = {1e-300, 1e-300}, diff[2] = {0, 0};
    for (int i = 0; i < 6; i++) {
      size[i / 3] += p0[i] * p0[i];
      diff[i / 3] += (p[i] - p0[i]) * (p[i] - p0[i]);
    }
    worst.angular = djt_worst(worst.angular, sqrt(diff[0] / size[0]));
    worst.linear = djt_worst(worst.linear, sqrt(diff[1] / size[1]));
    worst.energy = djt_worst(worst.energy, fabs(e) / unit);
    half[2 * k >= n] += e / unit / (0.5 * (double)n);
  }
  worst.trend = half[1] - half[0];
  assert_int_equal(d->stats.fallback_steps, 0);
  dj_deleteData(d);
  return worst;
}

// An asymmetric body that tumbles about its middle axis, with its frame off its centre of mass. Its
// energy is kept too: the Moser-Veselov map has the integrals of the continuous body.
static void testFreeTop(void** state) {
  (void)state;
  const double qvel[6] = {0.3, -0.2, 0.5, 0.02, 0.05, 6};
  double loss[2];
  for (int k = 0; k < 2; k++) {
    Tree t;
    initTree(&t, k ? DJ_VARIATIONAL : DJ_POSITION, 0.002);
    addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.1, -0.05, 0.2},
            (double[3]){0, 0, 1}, 2);
    t.body[1].inertia[0] = 0.02;
    t.body[1].inertia[1] = 0.045;
    t.body[1].inertia[2] = 0.03;
    djModel* m = makeModel(&t);
    Drift drift = run(m, qvel, 10);
    print_message("%s: angular momentum %.1e, linear %.1e, energy %.1e\n",
                  dj_integratorName(m->opt.integrator), drift.angular, drift.linear, drift.energy);
    loss[k] = drift.angular;
    if (k) assert_true(drift.linear < 1e-10 && drift.energy < 1e-9);
    dj_deleteModel(m);
  }
  assert_true(loss[0] > 0.1);
  assert_true(loss[1] < 1e-9);
}

// A slow body, whose momentum the tolerance, relative to g h, hardly sees.
static void testSlowTop(void** state) {
  (void)state;
  const double qvel[6] = {0, 0, 0, 0.01, 0.05, 0.02};
  Tree t;
  initTree(&t, DJ_VARIATIONAL, 0.01);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.1, -0.2, 0.05},
          (double[3]){0, 0, 1}, 1);
  t.body[1].inertia[0] = 0.002;
  t.body[1].inertia[1] = 0.0015;
  t.body[1].inertia[2] = 0.003;
  djModel* m = makeModel(&t);
  Drift drift = run(m, qvel, 10);
  print_message("slow: angular momentum %.1e, linear %.1e, energy %.1e\n", drift.angular,
                drift.linear, drift.energy);
  assert_true(drift.angular < 1e-9 && drift.linear < 1e-9 && drift.energy < 1e-9);
  dj_deleteModel(m);
}

static void testFloatingTree(void** state) {
  (void)state;
  double qvel[14] = {0.5, -0.3, 1, 1.5, 0.4, -0.8, 1, -2, 0.5, 1.2, 0.3, -1, 1.5, -0.7};
  Drift drift[3];
  for (int k = 0; k < 3; k++) {
    djModel* m = makeFloating(k ? DJ_VARIATIONAL : DJ_POSITION, k == 2 ? 0.001 : 0.002);
    assert_int_equal(m->nv, 16);
    double v[16] = {0};
    memcpy(v, qvel, sizeof qvel);
    drift[k] = run(m, v, 3);
    print_message("%s, h %g: angular momentum %.1e, linear %.1e, energy %.2e, trend %.1e\n",
                  dj_integratorName(m->opt.integrator), m->opt.timestep, drift[k].angular,
                  drift[k].linear, drift[k].energy, drift[k].trend);
    dj_deleteModel(m);
  }
  assert_true(drift[0].angular > 1e-3);
  for (int k = 1; k < 3; k++) assert_true(drift[k].angular < 1e-9 && drift[k].linear < 1e-9);
  double ratio = drift[1].energy / drift[2].energy;
  print_message("energy error at 2 ms over that at 1 ms: %.2f\n", ratio);
  assert_true(ratio > 3.5 && ratio < 4.5);
}

// A double pendulum: its energy error stays, of order h; that of implicit Euler grows.
static void testPendulum(void** state) {
  (void)state;
  Drift drift[3];
  for (int k = 0; k < 3; k++) {
    Tree t;
    initTree(&t, k ? DJ_VARIATIONAL : DJ_POSITION, k == 2 ? 0.001 : 0.002);
    t.def.option.gravity[2] = -9.81;
    double top[3] = {0, 0, 2}, end[3] = {0, 0, -1}, middle[3] = {0, 0, -0.5}, axis[3] = {0, 1, 0};
    addBody(&t, 0, DJ_HINGE, top, middle, axis, 1);
    addBody(&t, 1, DJ_HINGE, end, middle, axis, 1);
    djModel* m = makeModel(&t);
    drift[k] = run(m, (double[2]){2, 1}, 20);
    print_message("%s, h %g: energy %.2e, trend %.1e\n", dj_integratorName(m->opt.integrator),
                  m->opt.timestep, drift[k].energy, drift[k].trend);
    dj_deleteModel(m);
  }
  assert_true(drift[0].trend < -0.05);
  assert_true(fabs(drift[1].trend) < 0.02 * fabs(drift[0].trend));
  double ratio = drift[1].energy / drift[2].energy;
  assert_true(ratio > 1.7 && ratio < 2.3);
}

// A turn beyond a quarter in a step has no variational solution: `position` takes such steps.
static void testDampedSteps(void** state) {
  (void)state;
  Tree t;
  initTree(&t, DJ_VARIATIONAL, 0.01);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0, 0, 0}, (double[3]){0, 0, 1}, 1);
  djModel* m = makeModel(&t);
  djData* d = makeData(m);
  d->qvel[5] = 150;   // 1.5 rad a step: beyond sin = 1
  double A[144], dx[12] = {0}, y[12];
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->stats.fallback_steps, 1);
  assert_true(fabs(d->qvel[5]) < 150 && isfinite(d->qvel[5]));
  dx[11] = 1;
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  assert_int_equal(djd_stepJvp(m, d, y, dx, NULL), DJ_OK);
  for (int i = 0; i < 12; i++) assert_true(fabs(y[i] - A[12 * i + 11]) < 1e-9 * (1 + fabs(y[i])));
  for (int k = 0; k < 200; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->stats.fallback_steps < 100);
  dj_deleteData(d);
  dj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testJacobian), cmocka_unit_test(testFreeTop), cmocka_unit_test(testSlowTop),
      cmocka_unit_test(testFloatingTree), cmocka_unit_test(testPendulum),
      cmocka_unit_test(testDampedSteps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
