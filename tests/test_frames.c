// Frames of bodies are products of those on the way, whichever of them are turned.

#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"
#include "math/vec.h"

static void testTurned(void) {
  for (int turned = 0; turned < 16; turned++) {   // a bit for each body
    Scene* s = newScene(4);
    djPose right[5] = {{{0, 0, 0}, dju_eye3()}};
    for (int b = 1; b <= 4; b++) {
      addBody(s, b - 1, b % 2 ? DJ_HINGE : -1, 0.1 * b, 0.2, -0.3, 1, 0.1);
      double quat[4] = {1, 0, 0, 0};
      if (turned >> (b - 1) & 1) {
        dju_storeQuat(quat, dju_normalizeQuat((djQuat){1, 0.1 * b, 0.3, -0.2}));
      }
      memcpy(s->body[b].quat, quat, sizeof quat);
      djMat3 R = dju_quatToMat(dju_loadQuat(quat));
      right[b] = (djPose){dju_transform(&right[b - 1], dju_load3(s->body[b].pos)),
                          dju_mulMM(right[b - 1].R, R)};
    }
    djModel* m = sceneModel(s);
    djData* d = sceneData(m);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    for (int b = 0; b <= 4; b++) {
      djVec3 apart = dju_sub3(dju_load3(d->xpos + 3 * b), right[b].p);
      assert_true(dju_norm3(apart) < 1e-14);
      djMat3 R = dju_quatToMat(dju_loadQuat(d->xquat + 4 * b));
      for (int k = 0; k < 9; k++) {
        assert_true(fabs(d->xmat[9 * b + k] - right[b].R.m[k]) < 1e-14);
        assert_true(fabs(R.m[k] - right[b].R.m[k]) < 1e-14);
      }
    }
    djt_delete(m, d);
    freeScene(s);
  }
}

DJT_MAIN(testTurned)
