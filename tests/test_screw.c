// Steps on which free joints move on screws.

#include "common/make_model.h"
#include "common/near.h"
#include "common/random_shape.h"
#include "model/kinematics.h"

#include <string.h>

// A free body and one with a ball joint, a hinge and a slide.
static djModel* makeBodies(void) {
  djBodyDef body[3];
  djJointDef joint[4];
  static const djJointType type[4] = {DJ_FREE, DJ_BALL, DJ_HINGE, DJ_SLIDE};
  for (int b = 0; b < 3; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].mass = 1;
    body[b].inertia[0] = body[b].inertia[1] = body[b].inertia[2] = 0.1;
  }
  for (int j = 0; j < 4; j++) {
    joint[j] = dj_defaultJointDef();
    joint[j].body = j == 0 ? 1 : 2;
    joint[j].type = type[j];
    joint[j].qpos0[j == 0 ? 3 : 0] = joint[j].springref[j == 0 ? 3 : 0] = 1;
  }
  djModelDef def = dj_defaultModelDef();
  def.nbody = 3;
  def.njnt = 4;
  def.body = body;
  def.joint = joint;
  return djt_makeModel(&def);
}

static void randomState(double q[13], double v[11], Random* r) {
  for (int i = 0; i < 13; i++) q[i] = uniform(r, -1, 1);
  dju_storeQuat(q + 3, randomQuat(r));
  dju_storeQuat(q + 7, randomQuat(r));
  for (int i = 0; i < 11; i++) v[i] = uniform(r, -2, 2);
}

static djPose poseOf(const double* q) {
  return (djPose){dju_load3(q), dju_quatToMat(dju_loadQuat(q + 3))};
}

// A twist about a point of the body leaves it where it is, also when it turns far.
static void testPivot(void** state) {
  (void)state;
  djModel* m = makeBodies();
  Random r = {7};
  for (int k = 0; k < 50; k++) {
    double q[13], v[11], to[13], s = uniform(&r, -2, 2);
    randomState(q, v, &r);
    djPose T = poseOf(q);
    djVec3 local = randomWithin(&r, 3), c = dju_transform(&T, local);
    djVec3 w = dju_mulMV(T.R, dju_load3(v + 3));
    dju_store3(v, dju_cross3(w, dju_sub3(T.p, c)));
    dj_integrateScrew(to, m, q, v, s);
    djPose end = poseOf(to);
    djt_near(dju_norm3(dju_sub3(dju_transform(&end, local), c)), 0, 1e-13);
  }
  dj_deleteModel(m);
}

// Turns and all other joints end where dj_integratePos has them; the origin by s^2/2 w x v beside it,
// and exactly there where nothing turns.
static void testBesideStraight(void** state) {
  (void)state;
  djModel* m = makeBodies();
  Random r = {8};
  for (int k = 0; k < 50; k++) {
    double q[13], v[11], to[13], straight[13];
    randomState(q, v, &r);
    djVec3 w = dju_mulMV(poseOf(q).R, dju_load3(v + 3));
    djVec3 bend = dju_scale3(0.5, dju_cross3(w, dju_load3(v)));
    for (double s = 1e-2; s > 1e-4; s *= 0.1) {
      dj_integrateScrew(to, m, q, v, s);
      dj_integratePos(straight, m, q, v, s);
      assert_memory_equal(to + 3, straight + 3, 10 * sizeof(double));
      djVec3 off = dju_scale3(1 / (s * s), dju_sub3(dju_load3(to), dju_load3(straight)));
      djt_near(dju_norm3(dju_sub3(off, bend)), 0, 10 * s);
    }
    v[3] = v[4] = v[5] = 0;
    dj_integrateScrew(to, m, q, v, 0.3);
    dj_integratePos(straight, m, q, v, 0.3);
    for (int i = 0; i < 13; i++) djt_near(to[i], straight[i], 1e-15);
  }
  dj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testPivot),
                                     cmocka_unit_test(testBesideStraight)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
