// Steps of penalty contact that Newton's method misleads: friction has no energy, and work along
// its path no end. They are solved by the residual's size, or else in parts, and differentiated.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"

#include "integrate/work.h"

#include <dijoco/gradient.h>

// Thrown about on a floor: a torso, and on either side a leg of two links, all capsules.
static djModel* openWalker(djIntegrator integrator) {
  Scene* s = newScene(5);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  const int torso = addBody(s, 0, DJ_FREE, 0, 0, 0.5, 6, 0.1);
  for (int k = 0; k < 5; k++) {
    const int side = k % 2 ? 1 : -1;
    int b = torso;
    if (k > 0)
      b = addBody(s, k < 3 ? torso : k, DJ_HINGE, k < 3 ? 0.3 * side : 0, 0, -0.2, 1, 0.01);
    djGeomDef* g = addGeom(s, b, DJ_CAPSULE, 0.05, k ? 0.1 : 0.3, 0);
    if (k == 0) g->quat[0] = g->quat[2] = sqrt(0.5);
  }
  for (int j = 1; j < s->def.njnt; j++) s->joint[j].damping = 0.3;
  s->def.option.contact = DJ_PENALTY;
  s->def.option.integrator = integrator;
  s->def.option.timestep = 0.01;
  return takeScene(s);
}

// Of 1000 steps the path's work misleads Newton's method in some 20: all are solved, whole.
static void testWalker(void) {
  static const djIntegrator by[] = {DJ_POSITION, DJ_EULER, DJ_BDF1};
  for (int k = 0; k < 3; k++) {
    djModel* m = openWalker(by[k]);
    djData* d = sceneData(m);
    djRng rng = {9};
    int roots = 0;
    for (int i = 0; i < 1000; i++) {
      if (i % 10 == 0) djt_uniforms(d->qfrc_applied, m->nv, &rng, -5, 5);
      assert_int_equal(dj_step(m, d), DJ_OK);
      roots += d->stats.root_attempts > 0;
    }
    assert_in_range(roots, 1, 100);   // where Newton's method is led in circles
    const djStats* t = &d->stats;
    assert_int_equal(t->unconverged_steps + t->impact_steps, 0);
    assert_true(t->fallback_steps <= 1);
    djt_delete(m, d);
  }
}

// ------------------------------------------ parts ----------------------------------------------

// A ball on its way into the ground, of which a step with few iterations finds no solution whole.
static djModel* openBall(djData** d, djContactModel contact, int most) {
  Scene* s = newScene(1);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0.101, 1, 0.1), DJ_SPHERE, 0.1, 0, 0);
  s->def.option.contact = contact;
  s->def.option.integrator = DJ_POSITION;
  s->def.option.timestep = 0.01;
  s->def.option.max_iterations = 2;
  s->def.option.impact_steps = most;
  s->def.option.tolerance = 1e-9;
  djModel* m = sceneModel(s);
  *d = sceneData(m);
  (*d)->qvel[0] = 0.7;
  (*d)->qvel[2] = -0.5;
  freeScene(s);
  return m;
}

static void testParts(void) {
  djData* d;
  for (int most = 0; most < 2; most++) { // they are not wanted
    djModel* m = openBall(&d, DJ_PENALTY, most);
    assert_int_equal(dj_step(m, d), DJ_NOT_CONVERGED);
    assert_int_equal(d->stats.unconverged_steps, 1);
    assert_int_equal(d->work->npart, 1);
    djt_delete(m, d);
  }
  djModel* m = openBall(&d, DJ_PENALTY, 32);
  assert_int_equal(dj_step(m, d), DJ_OK);
  const int n = d->work->npart;
  assert_true(n > 1 && n <= 32);
  assert_int_equal(d->stats.steps, 1);
  assert_int_equal(d->stats.impact_steps, 1);
  assert_int_equal(d->stats.unconverged_steps + d->stats.fallback_steps, 0);
  assert_true(d->stats.newton_iterations > 4 && d->stats.worst_residual < 1e-9);
  // As so many steps.
  djData* many;
  djModel* fine = openBall(&many, DJ_PENALTY, 0);
  djOption option = fine->opt;
  option.timestep /= n;
  assert_int_equal(dj_setOption(fine, &option, NULL), DJ_OK);
  for (int k = 0; k < n; k++) assert_int_equal(dj_step(fine, many), DJ_OK);
  for (int i = 0; i < m->nq; i++) djt_near(d->qpos[i], many->qpos[i], 1e-12);
  for (int i = 0; i < m->nv; i++) djt_near(d->qvel[i], many->qvel[i], 1e-9);
  djt_delete(fine, many);
  djt_delete(m, d);
}

// A of a step in parts, beside differences.
static void testTransition(void) {
  enum { NX = 12 };
  static double A[NX * NX];
  djData *d, *near[2];
  djModel* m = openBall(&d, DJ_PENALTY, 32);
  near[0] = sceneData(m);
  near[1] = sceneData(m);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  const double e = 1e-7;
  double worst = 0;
  for (int c = 0; c < NX; c++) {
    double change[NX], dx[NX] = {0};
    for (int k = 0; k < 2; k++) {
      dx[c] = k ? -e : e;
      assert_int_equal(dj_copyData(near[k], m, d), DJ_OK);
      dj_integratePos(near[k]->qpos, m, d->qpos, dx, 1);
      for (int i = 0; i < 6; i++) near[k]->qvel[i] += dx[6 + i];
      assert_int_equal(dj_step(m, near[k]), DJ_OK);
    }
    dj_differentiatePos(change, m, 1, near[1]->qpos, near[0]->qpos);
    for (int i = 0; i < 6; i++) change[6 + i] = near[0]->qvel[i] - near[1]->qvel[i];
    for (int r = 0; r < NX; r++) {
      worst = djt_worst(worst, fabs(change[r] / (2 * e) - A[r * NX + c]));
    }
  }
  assert_true(worst < 1e-5 * djt_largest(A, NX * NX));
  dj_deleteData(near[0]);
  dj_deleteData(near[1]);
  djt_delete(m, d);
}

// Others are as they were: a step that finds no solution is one.
static void testOthers(void) {
  djData* d;
  djModel* m = openBall(&d, DJ_SEPARATING_PLANE, 32);
  djOption option = m->opt;
  option.max_iterations = 1;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
  assert_true(d->stats.unconverged_steps > 0);
  assert_int_equal(d->stats.impact_steps, 0);
  djt_delete(m, d);
}

DJT_MAIN(testWalker, testParts, testTransition, testOthers)
