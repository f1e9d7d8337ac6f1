// A loose body turns on as it does, unless something acts on its joint: each kind of term does so
// alone.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

enum { NONE, DAMPING, POLY1, POLY2, FRICTION, SPRING, APPLIED };

// How the spin about y changes within a step. A ball of isotropic inertia at its joint, no gravity.
static double change(int joint, int term, int axis) {
  Scene* s = newScene(1);
  addBody(s, 0, joint, 0, 0, 1, 1, 0.5);
  djJointDef* j = &s->joint[0];
  for (int k = 0; k < 3; k++) s->def.option.gravity[k] = 0;
  if (term == DAMPING) j->damping = 1;
  if (term == POLY1) j->dampingpoly[0] = 1;
  if (term == POLY2) j->dampingpoly[1] = 1;
  if (term == FRICTION) j->frictionloss = 0.1;
  if (term == SPRING) j->stiffness = 1;
  djData* d;
  djModel* m = startScene(&d, s);
  int spin = joint == DJ_FREE ? 3 : 0;
  double start = 2, *q = d->qpos + (joint == DJ_FREE ? 3 : 0);
  q[0] = cos(0.2);
  q[2] = sin(0.2);
  for (int k = 0; k < 3; k++) d->qvel[spin + k] = k == axis ? start : 0;
  if (term == APPLIED) d->qfrc_applied[spin + axis] = -0.1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  double by = d->qvel[spin + axis] - start;
  djt_delete(m, d);
  return by;
}

static void testTerms(void) {
  static const int joints[] = {DJ_BALL, DJ_FREE};
  for (int i = 0; i < 2; i++) {
    for (int axis = 0; axis < 3; axis++) {
      // The position-level step keeps it to second order in the angle of a step, 0.004.
      assert_true(fabs(change(joints[i], NONE, axis)) < 5e-5);
      for (int term = DAMPING; term <= APPLIED; term++) {
        if (term == SPRING && axis != 1) continue;   // it is turned about y
        double by = change(joints[i], term, axis);
        if (!(by < -1e-4)) fail_msg("joint %d, axis %d, term %d: %g", joints[i], axis, term, by);
      }
    }
  }
}

DJT_MAIN(testTerms)
