// A heap that rests: its steps are looked for from the start, without easing, and found in one or two
// iterations (integrate/solve_stage.h).

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

#include "integrate/solve_stage.h"

enum { SIDE = 3, LAYERS = 3, SETTLE = 150, STEPS = 20 };

// More rows than passes take; every layer is shifted, so that boxes rest on several others.
static djModel* heap(djData** d, djIntegrator integrator, djFriction friction) {
  Scene* s = newScene(SIDE * LAYERS);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int z = 0; z < LAYERS; z++) {
    for (int x = 0; x < SIDE; x++) {
      double shift = 0.05 * (z % 2);
      int id = addBody(s, 0, DJ_FREE, 0.225 * x + shift, 0.01 * z, 0.1005 + 0.201 * z, 1, 0.007);
      addGeom(s, id, DJ_BOX, 0.1, 0.1, 0.1);
    }
  }
  s->def.option.timestep = 0.005;
  s->def.option.integrator = integrator;
  s->def.option.friction = friction;
  djModel* m = sceneModel(s);
  *d = sceneData(m);
  freeScene(s);
  return m;
}

static void testRest(void) {
  static const djIntegrator integrators[] = {DJ_EULER, DJ_POSITION};
  for (int k = 0; k < 2; k++) {
    djData* d;
    djModel* m = heap(&d, integrators[k], DJ_FRICTION_LAGGED);
    for (int i = 0; i < SETTLE; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    for (int i = 0; i < STEPS; i++) {
      assert_int_equal(dj_step(m, d), DJ_OK);
      assert_true(d->npair > 12);
      assert_in_range(d->stats.iterations, 1, 2);
      assert_in_range(d->stats.evaluations, 1, 3);
    }
    // at speed that is no guess
    for (int b = 0; b < SIDE * LAYERS; b++) d->qvel[6 * b] = 0.2;
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_true(fabs(d->qvel[0] - 0.2) < 0.1 && d->stats.iterations > 2);
    djt_delete(m, d);
  }
}

static void testEnd(void) {
  for (int implicit = 0; implicit <= 1; implicit++) {
    djData* d;
    djModel* m = heap(&d, DJ_POSITION, implicit ? DJ_FRICTION_IMPLICIT : DJ_FRICTION_LAGGED);
    assert_int_equal(dj_lagsEnd(d->work, m), implicit);
    djt_delete(m, d);
  }
}

DJT_MAIN(testRest, testEnd)
