// Free motion for tests of integrators: small trees, and how far a run keeps momentum and energy.
// Included after cmocka.

#ifndef DJ_TESTS_FREE_MOTION_H_
#define DJ_TESTS_FREE_MOTION_H_

#include "common/step_energy.h"
#include "common/test.h"
#include "model/momentum.h"

typedef struct Tree {
  djBodyDef body[8];
  djJointDef joint[8];
  djModelDef def;
} Tree;

// A body with its joint; anchor at the frame's origin.
static inline void addBody(Tree* t, int parent, djJointType type, const double pos[3],
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

static inline void initTree(Tree* t, djIntegrator integrator, double h) {
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

static inline djModel* makeModel(const Tree* t) {
  djModel* m;
  djError err;
  assert_int_equal(dj_makeModel(&m, &t->def, &err), DJ_OK);
  return m;
}

// A torso that floats freely, two legs with knees, two arms on ball joints.
static inline djModel* makeFloating(djIntegrator integrator, double h) {
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
static inline void momentum(double p[6], const djModel* m, djData* d) {
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

static inline Drift run(const djModel* m, const double* qvel, double time) {
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

// A slow body, whose momentum the tolerance, relative to g h, hardly sees, keeps it for 10 s:
// its energy within what is given.
static inline void keepSlowTop(djIntegrator integrator, double energy) {
  const double qvel[6] = {0, 0, 0, 0.01, 0.05, 0.02};
  Tree t;
  initTree(&t, integrator, 0.01);
  addBody(&t, 0, DJ_FREE, (double[3]){0, 0, 1}, (double[3]){0.1, -0.2, 0.05},
          (double[3]){0, 0, 1}, 1);
  t.body[1].inertia[0] = 0.002;
  t.body[1].inertia[1] = 0.0015;
  t.body[1].inertia[2] = 0.003;
  djModel* m = makeModel(&t);
  Drift drift = run(m, qvel, 10);
  print_message("slow: angular momentum %.1e, linear %.1e, energy %.1e\n", drift.angular,
                drift.linear, drift.energy);
  assert_true(drift.angular < 1e-9 && drift.linear < 1e-9 && drift.energy < energy);
  dj_deleteModel(m);
}

#endif  // DJ_TESTS_FREE_MOTION_H_
