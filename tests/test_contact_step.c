// Steps with contact and friction: gradient and Hessian of the step's energy against differences,
// and (A, B) against differences of steps, for scenes with every pair of shapes in contact.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/states.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/step_energy.h"

#include "force/forces.h"
#include "math/block_matrix.h"

typedef struct Way {
  djIntegrator integrator;
  djFriction friction;
} Way;

// An arm of two links (capsule, box) over a floor, and two loose bodies beside it, all touching.
static djModel* makeScene(Way way, double eps) {
  djBodyDef body[5];
  djJointDef joint[6];
  djGeomDef geom[7];
  for (int b = 0; b < 5; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].mass = 1;
    for (int k = 0; k < 3; k++) body[b].inertia[k] = 0.01;
  }
  body[1].pos[2] = 0.3;
  body[2].parent = 1;
  body[2].pos[0] = 0.3;
  for (int j = 0; j < 6; j++) {
    joint[j] = dj_defaultJointDef();
    joint[j].type = j < 4 ? DJ_HINGE : DJ_FREE;
    joint[j].body = j < 2 ? 1 : j < 4 ? 2 : j - 1;
    joint[j].axis[0] = joint[j].axis[1] = joint[j].axis[2] = 0;
    joint[j].axis[j % 2 ? 2 : 1] = 1;
    joint[j].qpos0[3] = 1;
    joint[j].armature = 0.01;
  }
  joint[4].qpos0[0] = 0.62;
  joint[5].qpos0[0] = 0.4;
  joint[5].qpos0[1] = 0.2;
  joint[4].qpos0[2] = joint[5].qpos0[2] = 0.05;
  static const djGeomType type[7] = {DJ_PLANE,  DJ_BOX,     DJ_CAPSULE, DJ_BOX,
                                     DJ_SPHERE, DJ_CAPSULE, DJ_BOX};
  static const int owner[7] = {0, 0, 1, 2, 2, 3, 4};
  for (int g = 0; g < 7; g++) {
    geom[g] = dj_defaultGeomDef();
    geom[g].type = type[g];
    geom[g].body = owner[g];
    geom[g].size[0] = geom[g].size[1] = geom[g].size[2] = 0.05;
    geom[g].friction[0] = 0.6;
  }
  geom[0].size[0] = geom[0].size[1] = 5;
  geom[4].pos[0] = 0.2;
  geom[4].pos[2] = -0.24;
  geom[1].pos[0] = 0.5;
  geom[1].pos[1] = -0.2;
  djModelDef def = dj_defaultModelDef();
  def.option.timestep = 0.005;
  def.option.stiffness_scale = 1e-5;   // soft enough for differences
  def.option.friction_eps = eps;
  def.option.integrator = way.integrator;
  def.option.friction = way.friction;
  def.nbody = 5;
  def.njnt = 6;
  def.ngeom = 7;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  return djt_makeModel(&def);
}

typedef struct Scene {
  djModel* m;
  djData* d;
} Scene;

// A state reached by a few steps under random forces, so that contact and friction are active.
static Scene makeState(djRng* rng, Way way, double eps) {
  Scene s = {makeScene(way, eps), NULL};
  djError err;
  assert_int_equal(dj_makeData(&s.d, s.m, &err), DJ_OK);
  for (int i = 0; i < s.m->nv; i++) s.d->qvel[i] = djt_uniform(rng, -0.5, 0.5);
  int steps = 20 + djt_integer(rng, 60);
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < s.m->nv; i++) {
      if (k % 10 == 0) s.d->qfrc_applied[i] = djt_uniform(rng, -2, 2) * (i < 4 ? 1 : 0.3);
    }
    assert_true(dj_step(s.m, s.d) >= 0);
  }
  s.d->work->refinement_steps = 6;
  return s;
}

// Loose bodies are pressed into the floor, and come out of it for some steps.
static void sink(Scene* s, djRng* rng) {
  s->d->qpos[6] -= 0.0015;
  s->d->qpos[13] -= 0.0007;
  int steps = 1 + djt_integer(rng, 4);
  for (int k = 0; k < steps; k++) assert_true(dj_step(s->m, s->d) >= 0);
}

// Pairs of the last step whose friction depends on the poses a step earlier.
static int pastPairs(const djData* d) {
  int n, past = 0;
  const djContactBlock* const* block = dj_contactBlocks(&n, dj_contactsOf(&d->work->forces));
  for (int k = 0; k < n; k++) past += d->work->has_past && block[k]->has_past;
  return past;
}

static void freeScene(Scene* s) { djt_delete(s->m, s->d); }

static void testHessian(void) {
  djRng rng = {21};
  double worst_g = 0, worst_H = 0;
  int contacts = 0;
  for (int trial = 0; trial < 20; trial++) {
    Scene s = makeState(&rng, (Way){DJ_POSITION, DJ_FRICTION_LAGGED}, 1e-4);
    const djModel* m = s.m;
    enum { NV = 16 };
    assert_int_equal(m->nv, NV);
    double g[NV], gp[NV], dir[NV], fd[NV], H[NV * NV], q[18], qe[18];
    assert_int_equal(dj_solveStep(m, s.d), DJ_OK);
    memcpy(q, s.d->work->now.q, sizeof(q));
    energyAt(g, m, s.d, q);
    dj_columns(H, NV, 1, &s.d->work->H, 0, NV);
    int n;
    dj_contactBlocks(&n, dj_contactsOf(&s.d->work->forces));
    contacts += n;
    // slopes along random directions, with steps well below the contact's range
    for (int i = 0; i < NV; i++) dir[i] = djt_uniform(&rng, -1, 1);
    double slope = 0, value = 0, step = 1e-7, size = 0, product[NV] = {0};
    memset(fd, 0, sizeof(fd));
    static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    for (int k = 0; k < 4; k++) {
      double c = weight[k] / (12 * step);
      dj_integratePos(qe, m, q, dir, point[k] * step);
      value += c * energyAt(gp, m, s.d, qe);
      for (int i = 0; i < NV; i++) fd[i] += c * gp[i];
    }
    for (int i = 0; i < NV; i++) {
      slope += g[i] * dir[i];
      for (int j = 0; j < NV; j++) product[i] += H[i >= j ? i * NV + j : j * NV + i] * dir[j];
    }
    // d^T H d is the same for any frame; single rows differ by the frame's rotation
    double curve = 0, curve_fd = 0;
    for (int i = 0; i < NV; i++) {
      curve += dir[i] * product[i];
      curve_fd += dir[i] * fd[i];
      size += fabs(dir[i] * product[i]);
    }
    worst_H = djt_worst(worst_H, fabs(curve - curve_fd) / size);
    worst_g = djt_worst(worst_g, fabs(slope - value) / (fabs(slope) + 1e-9 * size));
    freeScene(&s);
  }
  print_message("%d contacts, Hessian %.1e\n", contacts, worst_H);
  assert_true(contacts > 40);
  assert_true(worst_H < 1e-5);
}

// A dx + B du against differences of whole steps.
// Methods that know where the step before began.
static bool knowsPast(Way way) {
  return way.integrator == DJ_EULER || way.integrator == DJ_POSITION;
}

static void testTransition(void** state) {
  const Way way = *(const Way*)*state;
  djRng rng = {22};
  double worst = 0;
  int past = 0;
  for (int trial = 0; trial < 45; trial++) {
    Scene s = makeState(&rng, way, 1e-4);
    const djModel* m = s.m;
    enum { NV = 16, NX = 32 };
    if (trial >= 30) sink(&s, &rng);
    double q0[18], v0[NV], qref[18], dx[NX], y[NX], fd[NX] = {0}, out[NX];
    memcpy(q0, s.d->qpos, sizeof(q0));
    memcpy(v0, s.d->qvel, sizeof(v0));
    assert_int_equal(dj_step(m, s.d), DJ_OK);
    memcpy(qref, s.d->qpos, sizeof(qref));
    for (int i = 0; i < NX; i++) dx[i] = djt_uniform(&rng, -1, 1) * (i < NV ? 1 : 100);
    assert_int_equal(djd_stepJvp(m, s.d, y, dx, NULL), DJ_OK);
    past += pastPairs(s.d);
    static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    double step = 2e-7, size = 0, diff = 0;
    for (int k = 0; k < 4; k++) {
      dj_integratePos(s.d->qpos, m, q0, dx, point[k] * step);
      for (int i = 0; i < NV; i++) s.d->qvel[i] = v0[i] + point[k] * step * dx[NV + i];
      assert_int_equal(dj_step(m, s.d), DJ_OK);
      dj_differentiatePos(out, m, 1, qref, s.d->qpos);
      memcpy(out + NV, s.d->qvel, NV * sizeof(double));
      for (int i = 0; i < NX; i++) fd[i] += weight[k] / (12 * step) * out[i];
    }
    for (int i = 0; i < NX; i++) {
      size = djt_worst(size, fabs(fd[i]));
      diff = djt_worst(diff, fabs(fd[i] - y[i]));
    }
    worst = djt_worst(worst, diff / size);
    freeScene(&s);
  }
  print_message("%s: transition with contact %.1e, of %d pairs by the step before\n",
                dj_integratorName(way.integrator), worst, past);
  assert_true(worst < 1e-5);
  assert_true((past > 3) == knowsPast(way));
}

// What the body pairs' forces and torques (about body2's origin) sum up to, against geom pairs'.
static void checkSums(const djModel* m, const djData* d) {
  for (int i = 0; i < d->ncontact; i++) {
    const djContactForce* c = &d->contact[i];
    double force[3], torque[3], size = 1e-9;
    memcpy(force, c->force, sizeof force);
    memcpy(torque, c->torque, sizeof torque);
    for (int k = 0; k < d->npair; k++) {
      const djContactPair* p = &d->pair[k];
      int b1 = m->geom_body[p->geom1], b2 = m->geom_body[p->geom2];
      if ((b1 < b2 ? b1 : b2) != c->body1 || (b1 < b2 ? b2 : b1) != c->body2) continue;
      double sign = b1 < b2 ? 1 : -1, r[3];
      const double* f = p->force;
      for (int j = 0; j < 3; j++) r[j] = p->point[j] - d->xpos[3 * c->body2 + j];
      for (int j = 0; j < 3; j++) {
        int u = (j + 1) % 3, v = (j + 2) % 3;
        force[j] -= sign * f[j];
        torque[j] -= sign * (p->torque[j] + r[u] * f[v] - r[v] * f[u]);
        size += fabs(f[j]);
      }
    }
    for (int j = 0; j < 3; j++) {
      assert_float_equal(force[j], 0, (1e-12 * size));
      assert_float_equal(torque[j], 0, (1e-12 * size));
    }
  }
}

// Force, moment about the origin, normal force.
static double forceEntry(const djContactPair* p, int r) {
  if (r < 3) return p->force[r];
  if (r == 6) return p->normal_force;
  int u = (r - 2) % 3, v = (r - 1) % 3;
  return p->torque[r - 3] + p->point[u] * p->force[v] - p->point[v] * p->force[u];
}

// djd_lastContact along a direction against differences of steps, also where shapes overlap.
static void testForces(void** state) {
  const Way way = *(const Way*)*state;
  enum { NV = 16, NX = 32, MAXPAIR = 30 };
  djRng rng = {24};
  double worst = 0, frozen = 0;
  int pairs = 0, recovering = 0, past = 0;
  for (int trial = 0; trial < 45; trial++) {
    Scene s = makeState(&rng, way, 1e-4);
    const djModel* m = s.m;
    if (trial < 30 && trial % 3 == 2) s.d->qpos[6] -= 0.004;   // of the first loose body
    if (trial >= 30) sink(&s, &rng);
    double q0[18], v0[NV], dx[NX];
    memcpy(q0, s.d->qpos, sizeof(q0));
    memcpy(v0, s.d->qvel, sizeof(v0));
    assert_int_equal(dj_step(m, s.d), DJ_OK);
    checkSums(m, s.d);
    int n = s.d->npair;
    assert_true(n < MAXPAIR);
    double F[3 * MAXPAIR * NX], T[3 * MAXPAIR * NX], N[MAXPAIR * NX], fd[7 * MAXPAIR] = {0};
    assert_int_equal(djd_lastContact(m, s.d, F, T, N), DJ_OK);
    for (int i = 0; i < NX; i++) dx[i] = djt_uniform(&rng, -1, 1) * (i < NV ? 1 : 100);
    for (int k = 0; k < n; k++) recovering += s.d->pair[k].recovering;
    past += pastPairs(s.d);
    pairs += n;
    static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    double step = 2e-8;
    for (int k = 0; k < 4; k++) {
      dj_integratePos(s.d->qpos, m, q0, dx, point[k] * step);
      for (int i = 0; i < NV; i++) s.d->qvel[i] = v0[i] + point[k] * step * dx[NV + i];
      assert_int_equal(dj_step(m, s.d), DJ_OK);
      assert_int_equal(s.d->npair, n);
      for (int i = 0; i < 7 * n; i++) {
        const djContactPair* p = &s.d->pair[i / 7];
        fd[i] += weight[k] / (12 * step) * forceEntry(p, i % 7);
      }
    }
    double size = 0, diff = 0, without = 0;
    for (int i = 0; i < 7 * n; i++) {
      int p = i / 7, r = i % 7;
      const double* row = r < 3   ? F + (3 * p + r) * NX
                          : r < 6 ? T + (3 * p + r - 3) * NX
                                  : N + p * NX;
      double y = 0, speed = 0;
      for (int j = 0; j < NX; j++) y += row[j] * dx[j];
      for (int j = NV; j < NX; j++) speed += row[j] * dx[j];
      size = djt_worst(size, fabs(fd[i]));
      diff = djt_worst(diff, fabs(fd[i] - y));
      without = djt_worst(without, fabs(fd[i] - speed));
    }
    if (size > 0) worst = djt_worst(worst, diff / size);
    if (size > 0) frozen = djt_worst(frozen, without / size);
    freeScene(&s);
  }
  print_message("%s: forces of %d pairs, %d recovering: %.1e\n", dj_integratorName(way.integrator),
                pairs, recovering, worst);
  assert_true(pairs > 40 && recovering > 0);
  assert_true((past > 3) == knowsPast(way));
  assert_true(worst < 1e-5);
  assert_true(frozen > 0.1);   // without the columns of qpos
}

#define BY_METHODS(test, friction)                                                                 \
  djt_of(test, Way, DJ_POSITION, friction), djt_of(test, Way, DJ_VARIATIONAL, friction),           \
      djt_of(test, Way, DJ_EULER, friction)

DJT_MAIN_ROWS(djt_test(testHessian), BY_METHODS(testTransition, DJ_FRICTION_LAGGED),
              BY_METHODS(testTransition, DJ_FRICTION_IMPLICIT),
              BY_METHODS(testForces, DJ_FRICTION_LAGGED),
              BY_METHODS(testForces, DJ_FRICTION_IMPLICIT))
