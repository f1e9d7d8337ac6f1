// Passes over rows (integrate/row_pass.h) beside Newton's method alone: the same steps, in fewer of
// its iterations; and what passes cannot do is left to it.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

#include "integrate/row_pass.h"
#include "integrate/work.h"

typedef struct Shapes {
  const char* name;
  int type;
  double size[3];
} Shapes;

static const Shapes shapes[] = {{"spheres", DJ_SPHERE, {0.1, 0, 0}},
                                {"capsules", DJ_CAPSULE, {0.05, 0.1, 0}},
                                {"boxes", DJ_BOX, {0.1, 0.08, 0.06}},
                                {"ellipsoids", DJ_ELLIPSOID, {0.1, 0.08, 0.06}},
                                {"cylinders", DJ_CYLINDER, {0.08, 0.06, 0}}};
enum { NSHAPE = sizeof shapes / sizeof shapes[0], STEPS = 200 };

// Two bodies that fall beside and onto each other.
static djModel* fallers(djData** d, const Shapes* of, double h) {
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int b = 0; b < 2; b++) {
    int id = addBody(s, 0, DJ_FREE, 0.05 * b, 0.02 * b, 0.15 + 0.22 * b, 1 + b, 0.1);
    addGeom(s, id, of->type, of->size[0], of->size[1], of->size[2]);
  }
  s->def.option.timestep = h;
  djModel* m = sceneModel(s);
  *d = sceneData(m);
  freeScene(s);
  (*d)->qvel[0] = 1;
  (*d)->qvel[4] = 3;
  (*d)->qvel[7] = 0.5;
  (*d)->qvel[9] = 2;
  return m;
}

static double difference(const djModel* m, const djData* a, const djData* b) {
  double worst = 0;
  for (int i = 0; i < m->nq; i++) worst = fmax(worst, fabs(a->qpos[i] - b->qpos[i]));
  return worst;
}

// From the same state, each step with passes and without.
static void testSameSteps(void) {
  for (int k = 0; k < NSHAPE; k++) {
    djData* d;
    djModel* m = fallers(&d, &shapes[k], 0.002);
    djData* alone = djt_data(m);
    alone->work->pass.room = 0;
    long with = 0, without = 0;
    int most = 0;
    double worst = 0;
    for (int i = 0; i < STEPS; i++) {
      memcpy(alone->qpos, d->qpos, (size_t)m->nq * sizeof(double));
      memcpy(alone->qvel, d->qvel, (size_t)m->nv * sizeof(double));
      assert_int_equal(dj_step(m, d), DJ_OK);
      assert_int_equal(dj_step(m, alone), DJ_OK);
      with += d->stats.iterations;
      without += alone->stats.iterations;
      if (d->stats.iterations > most) most = d->stats.iterations;
      worst = fmax(worst, difference(m, d, alone));
    }
    print_message("%s: %.2f iterations, at most %d, alone %.2f; difference %.1e m\n",
                  shapes[k].name, (double)with / STEPS, most, (double)without / STEPS, worst);
    assert_true(worst < 1e-9 && 3 * with < without);
    dj_deleteData(alone);
    djt_delete(m, d);
  }
}

// More pairs than there is room for.
static void testCrowd(void) {
  enum { N = DJ_PASS_PAIRS + 4 };
  Scene* s = newScene(N);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int b = 0; b < N; b++) {
    addGeom(s, addBody(s, 0, DJ_FREE, 0.3 * b, 0, 0.1, 1, 0.1), DJ_SPHERE, 0.1, 0, 0);
  }
  djData* d;
  djModel* m = startScene(&d, s);
  for (int i = 0; i < 20; i++) assert_int_equal(dj_step(m, d), DJ_OK);
  for (int b = 0; b < N; b++) assert_true(fabs(d->qpos[7 * b + 2] - 0.1) < 1e-3);
  assert_true(d->work->pass.npair < 0);
  djt_delete(m, d);
}

DJT_MAIN(testSameSteps, testCrowd)
