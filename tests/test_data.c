// What data holds: all of it goes back to where it began, comes from a keyframe, and is copied; its
// size is what it takes; and what applied forces do is Newton's law.

#include "common/make_model.h"
#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"

#include <malloc.h>

enum { NKEY = 2 };

// A free box near a floor, an arm on a hinge, a ball and a slide with three actuators, two mocap
// bodies, and keyframes in which nothing is zero.
typedef struct Numbers {
  double qpos[NKEY * 13], qvel[NKEY * 11], act[NKEY * 2], ctrl[NKEY * 3], mpos[NKEY * 6],
      mquat[NKEY * 8];
} Numbers;

static djModel* makeAll(Numbers* x, bool contact) {
  Scene* s = newScene(6);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int box = addBody(s, 0, DJ_FREE, 0, 0, 0.1, 1, 0.1);
  addGeom(s, box, DJ_BOX, 0.1, 0.1, 0.1);
  int a = addBody(s, 0, DJ_HINGE, 0, 1, 2, 1, 0.1);
  int b = addBody(s, a, DJ_BALL, 0.4, 0, 0, 1, 0.1);
  addBody(s, b, DJ_SLIDE, 0.4, 0, 0, 1, 0.1);
  for (int i = 0; i < 2; i++) {
    int c = addBody(s, 0, -1, 3 + i, 1, 2, 1, 0.1);
    s->body[c].mocap = true;
    s->body[c].quat[0] = s->body[c].quat[1 + i] = sqrt(0.5);
  }
  for (int i = 0; i < 3; i++) {
    s->actuator[i] = dj_defaultActuatorDef();
    s->actuator[i].joint = i == 2 ? 3 : 1;
    s->actuator[i].dyn = i ? DJ_DYN_FILTER : DJ_DYN_NONE;
    s->actuator[i].tau = 0.1;
    s->def.nu++;
  }
  djKeyDef key[NKEY];
  for (int k = 0; k < NKEY; k++) {
    double* q = x->qpos + 13 * k;
    for (int i = 0; i < 13; i++) q[i] = 0.1 * (i + 1) + k;
    for (int i = 0; i < 11; i++) x->qvel[11 * k + i] = 0.2 * (i + 1) - k;
    for (int i = 0; i < 2; i++) x->act[2 * k + i] = 0.3 * (i + 1) + k;
    for (int i = 0; i < 3; i++) x->ctrl[3 * k + i] = 0.4 * (i + 1) + k;
    for (int i = 0; i < 6; i++) x->mpos[6 * k + i] = 0.5 * (i + 1) + k;
    for (int i = 0; i < 8; i++) x->mquat[8 * k + i] = (i + k) % 4 == 0;
    for (int i = 0; i < 4; i++) q[3 + i] = q[8 + i] = 0.5;
    key[k] = (djKeyDef){.time = 7 + k, .qpos = q, .qvel = x->qvel + 11 * k, .act = x->act + 2 * k,
                        .ctrl = x->ctrl + 3 * k, .mocap_pos = x->mpos + 6 * k,
                        .mocap_quat = x->mquat + 8 * k};
  }
  s->def.key = key;
  s->def.nkey = NKEY;
  if (!contact) s->def.option.contact = DJ_CONTACT_NONE;
  djModel* m = sceneModel(s);
  assert_true(m->nq == 13 && m->nv == 11 && m->na == 2 && m->nu == 3 && m->nmocap == 2);
  freeScene(s);
  return m;
}

// Nothing is left as it was.
static void disturb(const djModel* m, djData* d) {
  struct {
    double* x;
    int n;
  } all[] = {{d->qvel, m->nv}, {d->act, m->na}, {d->ctrl, m->nu}, {d->qfrc_applied, m->nv},
             {d->xfrc_applied, 6 * m->nbody}, {d->mocap_pos, 3 * m->nmocap},
             {d->mocap_quat, 4 * m->nmocap}, {&d->gravity_scale, 1}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    for (int i = 0; i < all[k].n; i++) all[k].x[i] += 0.3 + 0.01 * i;
  }
  d->qpos[2] -= 0.02;   // recovers
  for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
  d->time = NAN;
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  assert_string_not_equal(dj_errorText(d), "");
}

static void testReset(void) {
  Numbers x;
  djModel* m = makeAll(&x, true);
  djData *d = sceneData(m), *fresh = sceneData(m);
  for (int turn = 0; turn < 2; turn++) {
    disturb(m, d);
    assert_false(sameData(m, d, fresh));
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    assert_true(sameData(m, d, fresh));
    assert_string_equal(dj_errorText(d), "");
    // there is no last step
    assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_INVALID);
  }
  assert_true(d->stats.gap == INFINITY && d->stats.smallest_gap == INFINITY);
  for (int k = 0; k < 2; k++) {
    djt_near(d->mocap_pos[3 * k], 3 + k, 0);
    djt_near(d->mocap_quat[4 * k + 1 + k], sqrt(0.5), 1e-15);
  }
  dj_deleteData(fresh);
  djt_delete(m, d);
}

static void same(const double* x, const double* y, int n) {
  for (int i = 0; i < n; i++) djt_near(x[i], y[i], 1e-15);
}

static void testKeys(void) {
  Numbers x;
  djModel* m = makeAll(&x, true);
  djData* d = sceneData(m);
  for (int k = NKEY - 1; k >= 0; k--) {
    disturb(m, d);
    assert_int_equal(dj_resetKey(m, d, k), DJ_OK);
    assert_true(d->time == 7 + k);
    same(d->qpos, x.qpos + 13 * k, 13);
    same(d->qvel, x.qvel + 11 * k, 11);
    same(d->act, x.act + 2 * k, 2);
    same(d->ctrl, x.ctrl + 3 * k, 3);
    same(d->mocap_pos, x.mpos + 6 * k, 6);
    same(d->mocap_quat, x.mquat + 8 * k, 8);
    for (int i = 0; i < m->nv; i++) assert_true(d->qfrc_applied[i] == 0);
    for (int i = 0; i < 6 * m->nbody; i++) assert_true(d->xfrc_applied[i] == 0);
    assert_true(d->gravity_scale == 1 && d->stats.steps == 0);
    same(d->xpos + 3 * 5, x.mpos + 6 * k, 3);   // and the poses are those of this state
  }
  assert_int_equal(dj_resetKey(m, d, NKEY), DJ_INVALID);
  assert_int_equal(dj_resetKey(m, d, -1), DJ_INVALID);
  djt_delete(m, d);
}

static void testCopy(void) {
  Numbers x;
  djModel *m = makeAll(&x, true), *other;
  djData *d = sceneData(m), *copy = sceneData(m);
  for (int turn = 0; turn < 2; turn++) {
    disturb(m, turn ? copy : d);
    (turn ? copy : d)->time = 1;
    for (int k = 0; k < 5; k++) assert_true(dj_step(m, d) >= 0);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    assert_true(d->energy[0] != copy->energy[0] && d->energy[1] != copy->energy[1]);
    assert_int_equal(djd_transition(m, copy, NULL, NULL), DJ_OK);   // of a step it has not taken
    assert_int_equal(dj_resetKey(m, d, NKEY), DJ_INVALID);
    assert_int_equal(dj_copyData(copy, m, d), DJ_OK);
    assert_true(sameData(m, copy, d));
    assert_string_not_equal(dj_errorText(copy), "");
    assert_string_equal(dj_errorText(copy), dj_errorText(d));
    assert_int_equal(djd_lastTransition(m, copy, NULL, NULL), DJ_INVALID);
  }
  // states too end what was known of the last step
  double* s = malloc((size_t)dj_stateSize(m) * sizeof *s);
  assert_int_equal(dj_getState(s, m, d), DJ_OK);
  assert_true(dj_step(m, d) >= 0);
  assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_OK);
  assert_int_equal(dj_setState(d, m, s), DJ_OK);
  assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_INVALID);
  // data of another model
  Scene* scene = newScene(1);
  addBody(scene, 0, DJ_FREE, 0, 0, 1, 1, 0.1);
  other = takeScene(scene);
  djData* foreign = sceneData(other);
  assert_int_equal(dj_copyData(d, m, foreign), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "source: made for a model of other sizes");
  assert_int_equal(dj_getState(s, m, foreign), DJ_INVALID);
  free(s);
  djt_delete(other, foreign);
  dj_deleteData(copy);
  djt_delete(m, d);
}

// dj_dataSize is what making data takes from the heap.
static void testSize(void) {
  Numbers x;
  for (int contact = 0; contact < 2; contact++) {
    djModel* m = makeAll(&x, contact);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    djData* d = sceneData(m);
    double taken = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before);
    double size = (double)dj_dataSize(m);
    // but for what the allocator rounds up to
    if (taken > 0) assert_true(fabs(taken - size) < 1024);
    djt_delete(m, d);
  }
}

// Force on a body at its centre of mass, torque about it, in world axes: F h = m dv, T h = dL.
static void testAppliedForces(void) {
  Scene* s = newScene(1);
  int b = addBody(s, 0, DJ_FREE, 0.3, 0.2, 1, 2, 0.1);
  s->body[b].ipos[0] = 0.2;
  s->body[b].ipos[2] = -0.1;
  const double I[3] = {0.01, 0.02, 0.025};
  memcpy(s->body[b].inertia, I, sizeof I);
  s->def.option.integrator = DJ_VARIATIONAL;
  s->def.option.timestep = 1e-4;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  djData* d;
  djModel* m = startScene(&d, s);
  for (int k = 0; k < 6; k++) {
    assert_int_equal(dj_resetData(m, d), DJ_OK);
    const double turn[4] = {0.5, 0.5, 0.5, 0.5};   // body x, y, z are world y, z, x
    memcpy(d->qpos + 3, turn, sizeof turn);
    assert_int_equal(dj_forward(m, d), DJ_OK);
    double before[3], h = m->opt.timestep;
    memcpy(before, d->xipos + 3 * b, sizeof before);
    d->xfrc_applied[6 * b + k] = 3;
    assert_int_equal(dj_step(m, d), DJ_OK);
    static const int body_axis[3] = {2, 0, 1};   // of world x, y, z
    for (int i = 0; i < 3; i++) {
      double force = k == i ? 3 : 0, torque = k == 3 + i ? 3 : 0;
      djt_near(d->xipos[3 * b + i] - before[i], force / 2 * h * h, 1e-6 * h * h);
      djt_near(d->qvel[3 + body_axis[i]], torque / I[body_axis[i]] * h, 1e-4 * h);
    }
  }
  djt_delete(m, d);
}

DJT_MAIN(testReset, testKeys, testCopy, testSize, testAppliedForces)
