// Points of penalty contact after a step: their forces are those of the pairs, in size, place and
// state; other kernels have none.

#include "common/make_model.h"
#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"

enum { MOST = 400 };

typedef struct Points {
  int n;
  djcPenaltyPoint point[MOST];
  double place[3 * MOST];
  int geom[2 * MOST];
} Points;

// What acts on the box changes its velocity (bdf1): forces are those of the step, friction and
// damping included.
static void assertMoves(const djModel* m, const djData* d, const double before[3]) {
  double force[3];
  for (int j = 0; j < 3; j++) force[j] = m->body_mass[1] * m->opt.gravity[j];
  for (int k = 0; k < d->ncontact; k++) {
    const djContactForce* c = &d->contact[k];
    const double sign = c->body2 == 1 ? 1 : c->body1 == 1 ? -1 : 0;
    for (int j = 0; j < 3; j++) force[j] += sign * c->force[j];
  }
  for (int j = 0; j < 3; j++) {
    const double change = m->body_mass[1] * (d->qvel[j] - before[j]) / m->opt.timestep;
    djt_near(force[j], change, 1e-8 * (1 + fabs(change)));
  }
}

// A box that lands turned on the floor, a ball and a capsule against it: all ways of pairs.
static djModel* heap(djContactModel contact) {
  static const int type[] = {DJ_BOX, DJ_SPHERE, DJ_CAPSULE};
  Scene* s = newScene(3);
  djGeomDef* floor = addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  floor->friction[0] = 0.4;
  for (int i = 0; i < 3; i++) {
    const int b = addBody(s, 0, DJ_FREE, 0.19 * i, 0.02 * i, 0.1, 1 + i, 0.1);
    addGeom(s, b, type[i], 0.1, 0.1, 0.1)->friction[0] = 0.4;
  }
  s->def.option.contact = contact;
  s->def.option.integrator = DJ_BDF1;
  s->def.option.timestep = 0.004;
  djModel* m = takeScene(s);
  if (contact != DJ_PENALTY) return m;
  static const char* const name[] = {"contact/kn", "contact/penalty/kt", "contact/kd"};
  static const double value[] = {3000, 50, 30000}; // points let go while they are inside, and slip
  for (int k = 0; k < 3; k++) {
    djParam p = djt_param(m, name[k]);
    assert_int_equal(dj_setParam(m, &p, &value[k], NULL), DJ_OK);
  }
  return m;
}

static void assertSums(const djModel* m, const djData* d, const Points* p) {
  int counted = 0;
  (void)m;
  for (int k = 0; k < d->npair; k++) {
    const djContactPair* pair = &d->pair[k];
    double force[3] = {0}, torque[3] = {0};
    for (int i = 0; i < p->n; i++) {
      const int *g = p->geom + 2 * i, same = g[1] == pair->geom1 && g[0] == pair->geom2,
                other = g[0] == pair->geom1 && g[1] == pair->geom2;
      if (!same && !other) continue;
      counted++;
      double f[3], arm[3];
      for (int j = 0; j < 3; j++) {
        f[j] = (same ? 1 : -1) * p->point[i].force[j]; // on geom2
        arm[j] = p->place[3 * i + j] - pair->point[j];
        force[j] += f[j];
      }
      for (int j = 0; j < 3; j++) {
        torque[j] += arm[(j + 1) % 3] * f[(j + 2) % 3] - arm[(j + 2) % 3] * f[(j + 1) % 3];
      }
    }
    for (int j = 0; j < 3; j++) {
      djt_near(force[j], pair->force[j], 1e-9);
      djt_near(torque[j], pair->torque[j], 1e-9);
    }
  }
  assert_int_equal(counted, p->n);
}

static void testHeap(void) {
  djModel* m = heap(DJ_PENALTY);
  djData* d = sceneData(m);
  d->qvel[0] = 1.5, d->qvel[2] = -1, d->qvel[3] = 0.5, d->qvel[14] = -0.5;
  Points p;
  int n, seen[3] = {0};
  assert_int_equal(dj_contactPoints(&n, NULL, NULL, NULL, 0, m, d), DJ_INVALID); // no step yet
  for (int i = 0; i < 200; i++) {
    const double before[3] = {d->qvel[0], d->qvel[1], d->qvel[2]};
    if (dj_step(m, d) == DJ_OK) assertMoves(m, d, before);
    assert_int_equal(dj_contactPoints(&p.n, p.point, p.place, p.geom, MOST, m, d), DJ_OK);
    assert_true(p.n <= MOST);
    assertSums(m, d, &p);
    for (int k = 0; k < p.n; k++) {
      const djcPenaltyPoint* x = &p.point[k];
      const double *f = x->force, *u = x->normal;
      const double N = f[0] * u[0] + f[1] * u[1] + f[2] * u[2];
      const double all = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
      seen[x->state]++;
      assert_true(x->distance < 0 && N > -1e-12);
      if (x->state == DJC_FREE) djt_near(all, 0, 1e-12);
      if (x->state == DJC_SLIP) djt_near(sqrt(all * all - N * N), 0.4 * N, 1e-9);
      if (x->state == DJC_STICK) assert_true(all * all - N * N <= 0.16 * N * N + 1e-9);
    }
    assert_int_equal(dj_contactPoints(&n, p.point, p.place, p.geom, 1, m, d), DJ_OK);
    assert_int_equal(n, p.n); // all are counted
  }
  print_message("free %d, stick %d, slip %d\n", seen[0], seen[1], seen[2]);
  for (int k = 0; k < 3; k++) assert_true(seen[k] > 10);
  assert_int_equal(dj_contactPoints(&n, NULL, NULL, NULL, 1, m, d), DJ_INVALID);
  assert_int_equal(dj_contactPoints(NULL, NULL, NULL, NULL, 0, m, d), DJ_INVALID);
  assert_int_equal(dj_forward(m, d), DJ_OK);
  assert_int_equal(dj_contactPoints(&n, NULL, NULL, NULL, 0, m, d), DJ_INVALID);
  djt_delete(m, d);
}

static void testOthers(void) {
  djModel* m = heap(DJ_SEPARATING_PLANE);
  djData* d = sceneData(m);
  for (int i = 0; i < 60; i++) assert_true(dj_step(m, d) >= 0);
  int n = -1;
  assert_true(d->npair > 0);
  assert_int_equal(dj_contactPoints(&n, NULL, NULL, NULL, 0, m, d), DJ_OK);
  assert_int_equal(n, 0);
  djt_delete(m, d);
}

DJT_MAIN(testHeap, testOthers)
