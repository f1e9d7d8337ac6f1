// The plugin dijoco.contact keeps nothing of its own: copies, resets, keyframes, threads and
// differences see the same steps, to the last bit, with each contact model.

#include "common/mjcf.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/mujoco.h>

#include <pthread.h>

#define HEAD(config)                                                                          \
  "<mujoco><extension><plugin plugin='dijoco.contact'><instance name='dj'>"                  \
  "<config key='tolerance' value='1e-9'/>" config "</instance></plugin>"                      \
  "</extension><option><flag contact='disable'/></option><worldbody>"                         \
  "<geom name='floor' type='plane' size='2 2 .1'/>"

// Boxes that fall on each other, and a driven crawler.
#define BODIES                                                                                \
  "<body pos='0 0 .06' euler='2 1 0'><freejoint/>"                                            \
  "<geom name='A' type='box' size='.1 .1 .05'/></body>"                                       \
  "<body pos='.02 .01 .19' euler='5 3 40'><freejoint/>"                                       \
  "<geom name='B' type='box' size='.1 .08 .05'/></body>"                                      \
  "<body pos='1 0 .12' euler='0 90 0'><freejoint/><geom type='capsule' size='.04 .12'/>"      \
  "<body pos='0 0 .2'><joint name='hip' axis='0 1 0' damping='.1' range='-60 60' "            \
  "limited='true'/><geom type='capsule' fromto='0 0 0 0 0 .2' size='.03'/></body></body>"     \
  "</worldbody><actuator><position name='a' joint='hip' kp='4' kv='.2'/><general joint='hip' " \
  "dyntype='filter' dynprm='.05' gainprm='.3'/></actuator>"                                   \
  "<keyframe><key name='k' qpos='0 0 .3 1 0 0 0 .05 0 .5 1 0 0 0 1 0 .3 .7 0 .7 0 .2' "      \
  "qvel='0 0 -1 0 2 0 0 0 0 0 0 0 0 0 0 1 0 0 .5' act='.3' ctrl='.2 -.1'/></keyframe>"

static const char kPlane[] =
    HEAD("<config key='stiffness_scale' value='1e-5'/>") BODIES "</mujoco>";
static const char kSurface[] =
    HEAD("<config key='contact' value='implicit_surface'/><config key='law' value='paper'/>"
         "<config key='damping' value='1'/>") BODIES
    "<custom><numeric name='dijoco_sharpness/A' data='2'/>"
    "<numeric name='dijoco_sharpness/B' data='2'/></custom></mujoco>";
static const char* scene;   // the one or the other

static int usePlane(void** state) {
  scene = kPlane;
  return djt_registerContact(state);
}

static int useSurface(void** state) {
  scene = kSurface;
  return djt_registerContact(state);
}

static const int kIntegrators[] = {mjINT_EULER, mjINT_IMPLICIT, mjINT_IMPLICITFAST, mjINT_DISCRETE};
enum { NINTEGRATOR = 4 };

static int stateSize(const mjModel* m) { return mj_stateSize(m, mjSTATE_INTEGRATION); }

static void drive(mjData* d, int k) {
  d->ctrl[0] = sin(0.05 * k);
  d->ctrl[1] = cos(0.03 * k);
  d->xfrc_applied[6 * 2 + 1] = 0.3 * sin(0.02 * k);
}

static void run(const mjModel* m, mjData* d, int first, int end) {
  for (int k = first; k < end; k++) {
    drive(d, k);
    mj_step(m, d);
  }
}

static mjtNum* getState(const mjModel* m, const mjData* d) {
  mjtNum* state = calloc(stateSize(m), sizeof(*state));
  assert_non_null(state);
  mj_getState(m, d, state, mjSTATE_INTEGRATION);
  return state;
}

// Fails unless both have the same state and accelerations, bit for bit.
static void expectSame(const mjModel* m, const mjData* a, const mjData* b) {
  mjtNum *x = getState(m, a), *y = getState(m, b);
  assert_memory_equal(x, y, stateSize(m) * sizeof(*x));
  assert_memory_equal(a->qacc, b->qacc, m->nv * sizeof(mjtNum));
  assert_memory_equal(a->qfrc_passive, b->qfrc_passive, m->nv * sizeof(mjtNum));
  free(x);
  free(y);
}

// Whether boxes rest: contact did act.
static void expectContact(const mjModel* m, const mjData* d) {
  djmContext* context = djm_pluginContext(m, d);
  assert_non_null(context);
  assert_true(djm_data(context)->npair > 0);
  assert_true(d->qpos[2] > 0.04 && d->qpos[2] < 0.1);
}

static void testCopy(void) {
  mjModel* m = djt_compile(scene);
  for (int i = 0; i < NINTEGRATOR; i++) {
    m->opt.integrator = kIntegrators[i];
    mjData *d = mj_makeData(m), *used = mj_makeData(m);
    run(m, used, 0, 77);
    for (int at = 0; at <= 150; at += 50) {
      mjData* fresh = mj_copyData(NULL, m, d);
      mj_copyData(used, m, d);
      mjData* source = mj_copyData(NULL, m, d);
      run(m, fresh, at, at + 50);
      run(m, used, at, at + 50);
      run(m, d, at, at + 50);
      expectSame(m, d, fresh);
      expectSame(m, d, used);
      mj_deleteData(fresh);
      mj_deleteData(source);
    }
    expectContact(m, d);
    mj_deleteData(d);
    mj_deleteData(used);
  }
  mj_deleteModel(m);
}

// State by mj_setState, in a data that was elsewhere.
static void testSetState(void) {
  mjModel* m = djt_compile(scene);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  run(m, e, 0, 33);
  run(m, d, 0, 100);
  mjtNum* x = getState(m, d);
  mj_setState(m, e, x, mjSTATE_INTEGRATION);
  run(m, d, 100, 150);
  run(m, e, 100, 150);
  expectSame(m, d, e);
  free(x);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

static void testReset(void) {
  mjModel* m = djt_compile(scene);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  for (int key = -1; key < 1; key++) {
    run(m, d, 0, 60);
    if (key < 0) {
      mj_resetData(m, d);
      mj_resetData(m, e);
    } else {
      mj_resetDataKeyframe(m, d, key);
      mj_deleteData(e);
      e = mj_makeData(m);
      mj_resetDataKeyframe(m, e, key);
      assert_true(d->qvel[4] == 2 && d->act[0] == 0.3);
    }
    run(m, d, 0, 60);
    run(m, e, 0, 60);
    expectSame(m, d, e);
  }
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

// mj_forward and mj_inverse between steps change nothing; two halves are a step.
static void testOtherCalls(void) {
  mjModel* m = djt_compile(scene);
  for (int i = 0; i < NINTEGRATOR; i++) {
    m->opt.integrator = kIntegrators[i];
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    for (int k = 0; k < 150; k++) {
      drive(d, k);
      drive(e, k);
      mj_step(m, d);
      mj_forward(m, e);
      mj_inverse(m, e);
      mj_step1(m, e);
      mj_step2(m, e);
    }
    expectSame(m, d, e);
    expectContact(m, d);
    mj_deleteData(d);
    mj_deleteData(e);
  }
  mj_deleteModel(m);
}

// ------------------------------ threads ----------------------------------------------------------

enum { NTHREAD = 4, NRUN = 8, NSTEP = 120 };

typedef struct Share {
  const mjModel* m;           // of all threads
  mjModel* own;               // a copy that the thread changes
  int thread;
  mjtNum* result;             // (NRUN x state)
} Share;

static void* runShare(void* arg) {
  const Share* s = arg;
  mjData* d = mj_makeData(s->m);
  for (int k = s->thread; k < NRUN && d; k += NTHREAD) {
    mj_resetData(s->m, d);
    d->qvel[0] = 0.1 * k;
    d->qvel[9] = -0.2 * k;
    run(s->m, d, 0, NSTEP);
    s->own->opt.gravity[0] = k;          // seen by the plugin: it makes its model anew
    run(s->own, d, 0, 20);
    mj_getState(s->m, d, s->result + (size_t)k * stateSize(s->m), mjSTATE_INTEGRATION);
  }
  if (d) mj_deleteData(d);
  return NULL;
}

static void testThreads(void) {
  mjModel* m = djt_compile(scene);
  size_t n = stateSize(m);
  mjtNum *serial = calloc(NRUN * n, sizeof(*serial)), *result = calloc(NRUN * n, sizeof(*result));
  assert_non_null(serial);
  assert_non_null(result);
  pthread_t thread[NTHREAD];
  Share share[NTHREAD];
  for (int k = 0; k < NTHREAD; k++) {
    share[k] = (Share){m, mj_copyModel(NULL, m), k, serial};
    assert_non_null(share[k].own);
    runShare(&share[k]);
  }
  for (int k = 0; k < NTHREAD; k++) {
    share[k].result = result;
    assert_int_equal(pthread_create(&thread[k], NULL, runShare, &share[k]), 0);
  }
  for (int k = 0; k < NTHREAD; k++) {
    pthread_join(thread[k], NULL);
    mj_deleteModel(share[k].own);
  }
  assert_memory_equal(serial, result, NRUN * n * sizeof(*serial));
  assert_memory_not_equal(serial, serial + n, n * sizeof(*serial));
  free(serial);
  free(result);
  mj_deleteModel(m);
}

// ------------------------------ derivatives ------------------------------------------------------

// The same A twice, before and after other work; and near that of djm_transition by `position`, as
// the plugin's steps are.
static void testTransition(void) {
  mjModel* m = djt_compile(scene);
  djmContext* context;
  djError err;
  assert_int_equal(djm_makeContext(&context, NULL, m, &err), DJ_OK);
  djm_model(context)->opt.integrator = DJ_EULER;
  int nv = (int)m->nv, nx = 2 * nv + (int)m->na;
  mjtNum* A = calloc(3 * (size_t)nx * nx, sizeof(*A));
  assert_non_null(A);
  mjtNum *again = A + nx * nx, *ours = again + nx * nx;
  for (int i = 0; i < NINTEGRATOR; i++) {
    m->opt.integrator = kIntegrators[i];
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    run(m, d, 0, 120);
    mj_copyData(e, m, d);
    mjd_transitionFD(m, d, 1e-7, 1, A, NULL, NULL, NULL);
    mjd_transitionFD(m, d, 1e-7, 1, again, NULL, NULL, NULL);
    assert_memory_equal(A, again, nx * nx * sizeof(*A));
    run(m, e, 120, 130);
    mj_copyData(e, m, d);
    mjd_transitionFD(m, e, 1e-7, 1, again, NULL, NULL, NULL);
    assert_memory_equal(A, again, nx * nx * sizeof(*A));

    assert_int_equal(djm_transition(m, d, context, ours, NULL, NULL, NULL), DJ_OK);
    double worst = 0, size = 0;
    for (int k = 0; k < nx * nx; k++) {
      worst = djt_worst(worst, fabs(A[k] - ours[k]));
      size = djt_worst(size, fabs(ours[k]));
    }
    assert_true(size > 100);
    if (worst > 2e-4 * size) fail_msg("integrator %d: |A - ours| %g of %g", i, worst, size);
    mj_deleteData(d);
    mj_deleteData(e);
  }
  free(A);
  djm_deleteContext(context);
  mj_deleteModel(m);
}

// An mjData that was pickled has the numbers of another one's plugin_data, or of another process's.
static void testPickled(void) {
  mjModel* m = djt_compile(scene);
  mjData *d = mj_makeData(m), *e = mj_makeData(m), *f = mj_makeData(m);
  run(m, d, 0, 20);
  memcpy(e->plugin_data, d->plugin_data, m->nplugin * sizeof(*e->plugin_data));
  f->plugin_data[0] = 8;
  run(m, e, 0, 300);
  run(m, f, 0, 300);
  run(m, d, 20, 300);
  expectSame(m, d, e);
  expectSame(m, d, f);
  expectContact(m, e);
  assert_true(djm_pluginContext(m, d) != djm_pluginContext(m, e));
  mj_deleteData(e);
  run(m, d, 300, 310);
  expectContact(m, d);
  mj_deleteData(d);
  djt_deleteEngine(m, f);
}

int main(void) {
  const struct CMUnitTest tests[] = {djt_test(testCopy),    djt_test(testSetState),
                                     djt_test(testReset),   djt_test(testOtherCalls),
                                     djt_test(testThreads), djt_test(testTransition),
                                     djt_test(testPickled)};
  int failed = cmocka_run_group_tests_name("separating_plane", tests, usePlane, NULL);
  return failed + cmocka_run_group_tests_name("implicit_surface", tests, useSurface, NULL);
}
