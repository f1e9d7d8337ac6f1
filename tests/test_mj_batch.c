// djm_batchStep and its kin: the bits of a context of one's own by any number of threads, mocap
// bodies on their way, data that fail alone, changes of the mjModel.

#include "common/mj_zoo.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

enum { N = 6, STEPS = 40 };

static const char kScene[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<body name='hand' mocap='true' pos='-.3 0 .1'><geom type='sphere' size='.08'/></body>"
    "<body pos='0 0 .12'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='.5 0 .5'><joint name='hinge' axis='0 1 0' damping='.02'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.04'/></body></worldbody>"
    "<actuator><general joint='hinge' dyntype='filter' dynprm='.05' gainprm='3'/></actuator>"
    "<sensor><jointpos joint='hinge'/><framelinvel objtype='body' objname='hand'/></sensor>"
    "</mujoco>";

static djmBatch* newBatch(const mjModel* m, int nthread) {
  djmBatch* b;
  djError err;
  assert_int_equal(djm_makeBatch(&b, NULL, m, nthread, NULL, &err), DJ_OK);
  assert_int_equal(djm_batchThreads(b), nthread);
  return b;
}

static void makeAll(mjData* d[N], const mjModel* m) {
  for (int i = 0; i < N; i++) {
    d[i] = mj_makeData(m);
    d[i]->qvel[0] = -0.2 * i;
    d[i]->qvel[4] = i;
    d[i]->qpos[7] = 0.1 * i;
  }
}

static void deleteAll(mjData* d[N]) {
  for (int i = 0; i < N; i++) mj_deleteData(d[i]);
}

static void push(mjData* d, int i, int k) {
  d->mocap_pos[0] = -0.3 + 0.005 * k * (1 + 0.1 * i);
  d->ctrl[0] = sin(0.2 * k + i);
}

static void assertSame(const mjModel* m, const mjData* a, const mjData* b) {
  size_t size = sizeof(mjtNum);
  assert_true(a->time == b->time);
  assert_memory_equal(a->qpos, b->qpos, (size_t)m->nq * size);
  assert_memory_equal(a->qvel, b->qvel, (size_t)m->nv * size);
  assert_memory_equal(a->act, b->act, (size_t)m->na * size);
  assert_memory_equal(a->qacc, b->qacc, (size_t)m->nv * size);
  assert_memory_equal(a->cfrc_ext, b->cfrc_ext, (size_t)m->nbody * 6 * size);
  assert_memory_equal(a->sensordata, b->sensordata, (size_t)m->nsensordata * size);
}

static void testSteps(void) {
  for (int nthread = 1; nthread <= 3; nthread++) {
    mjModel* m = djt_compile(kScene);
    mjData *d[N], *own[N];
    djmContext* context[N];
    double touched = 0;
    makeAll(d, m);
    makeAll(own, m);
    for (int i = 0; i < N; i++) context[i] = djt_context(m);
    djmBatch* b = newBatch(m, nthread);
    for (int k = 0; k < STEPS; k++) {
      if (k == STEPS / 2) m->opt.gravity[2] = -5;   // is followed
      for (int i = 0; i < N; i++) {
        push(d[i], i, k);
        push(own[i], i, k);
      }
      int n = k % 3 ? N : N - 1, each[N];   // one waits now and then
      assert_true(djm_batchStep(m, d, n, 2, b, each) >= 0);
      for (int i = 0; i < n; i++) {
        djStatus worst = djm_step(m, own[i], context[i]);
        djStatus second = djm_step(m, own[i], context[i]);
        assert_int_equal(each[i], second > worst ? second : worst);
        assertSame(m, d[i], own[i]);
        touched += fabs(own[i]->cfrc_ext[6 * 2 + 3]);   // by the hand
      }
    }
    assert_true(touched > 0);
    for (int i = 0; i < N; i++) djm_deleteContext(context[i]);
    djm_deleteBatch(b);
    deleteAll(d);
    deleteAll(own);
    mj_deleteModel(m);
  }
}

static void testRuns(void) {
  mjModel* m = djt_compile(kScene);
  size_t nq = (size_t)m->nq, rows = STEPS + 1, nx = 2 * (size_t)m->nv + 1;
  size_t ns = (size_t)m->nsensordata;
  mjtNum* ctrl = malloc(N * STEPS * sizeof(*ctrl));
  mjtNum* qpos = malloc(N * rows * nq * sizeof(*qpos));
  mjtNum* A = malloc(N * (nx * nx + nx + ns * nx + ns) * sizeof(*A));
  mjtNum *B = A + N * nx * nx, *C = B + N * nx, *D = C + N * ns * nx;
  mjtNum A1[400], B1[20], C1[100], D1[10];
  for (int k = 0; k < N * STEPS; k++) ctrl[k] = cos(0.3 * k);
  for (int nthread = 1; nthread <= 3; nthread++) {
    mjData *d[N], *own[N];
    makeAll(d, m);
    makeAll(own, m);
    djmBatch* b = newBatch(m, nthread);
    assert_true(djm_batchRollout(m, d, N, STEPS, ctrl, qpos, NULL, NULL, b, NULL) >= 0);
    assert_true(djm_batchTransition(m, d, N, A, B, C, D, b, NULL) >= 0);
    for (size_t i = 0; i < N; i++) {
      djmContext* c = djt_context(m);
      for (size_t k = 0; k < STEPS; k++) {
        assert_memory_equal(qpos + (i * rows + k) * nq, own[i]->qpos, nq * sizeof(mjtNum));
        own[i]->ctrl[0] = ctrl[i * STEPS + k];
        assert_true(djm_step(m, own[i], c) >= 0);
      }
      assertSame(m, d[i], own[i]);
      assert_true(djm_transition(m, own[i], c, A1, B1, C1, D1) >= 0);
      assert_memory_equal(A + i * nx * nx, A1, nx * nx * sizeof(mjtNum));
      assert_memory_equal(B + i * nx, B1, nx * sizeof(mjtNum));
      assert_memory_equal(C + i * ns * nx, C1, ns * nx * sizeof(mjtNum));
      assert_memory_equal(D + i * ns, D1, ns * sizeof(mjtNum));
      djm_deleteContext(c);
    }
    djm_deleteBatch(b);
    deleteAll(d);
    deleteAll(own);
  }
  free(ctrl);
  free(qpos);
  free(A);
  mj_deleteModel(m);
}

static void testFailures(void) {
  mjModel *m = djt_compile(kScene), *small = djt_compile("<mujoco/>");
  mjData *d[N], *own[N], *keep;
  int status[N];
  size_t nq = (size_t)m->nq;
  mjtNum qpos[N * 4 * 8], ctrl[N * 3] = {0};
  assert_int_equal(nq, 8);
  makeAll(d, m);
  makeAll(own, m);
  djmBatch *b = newBatch(m, 2), *none;
  djError err;
  ctrl[3 * 2 + 1] = NAN;
  d[4]->qvel[0] = INFINITY;
  keep = d[5];
  d[5] = NULL;
  assert_int_equal(djm_batchRollout(m, d, N, 3, ctrl, qpos, NULL, NULL, b, status), DJ_INVALID);
  const char* text = "data 2: step 1: ctrl[0]: not a finite number";
  assert_string_equal(djm_batchErrorText(b, -1), text);
  assert_string_equal(djm_batchErrorText(b, 2), text + 8);
  assert_string_equal(djm_batchErrorText(b, 3), "");
  assert_string_equal(djm_batchErrorText(b, 4), "step 0: qvel[0]: not a finite number");
  assert_string_equal(djm_batchErrorText(b, 5), "there is no mjData");
  assert_true(isnan(qpos[(2 * 4 + 2) * 8]) && !isnan(qpos[(2 * 4 + 1) * 8]));
  for (int i = 0; i < N; i++) {
    bool fails = i == 2 || i > 3;
    assert_int_equal(status[i] < 0, fails);
    if (fails) continue;
    djmContext* c = djt_context(m);
    for (int k = 0; k < 3; k++) assert_true(djm_step(m, own[i], c) >= 0);
    assertSame(m, d[i], own[i]);
    djm_deleteContext(c);
  }
  d[5] = keep;
  assert_int_equal(djm_batchStep(NULL, d, N, 1, b, NULL), DJ_INVALID);
  assert_int_equal(djm_batchStep(m, NULL, N, 1, b, NULL), DJ_INVALID);
  assert_int_equal(djm_batchStep(m, d, -1, 1, b, NULL), DJ_INVALID);
  assert_int_equal(djm_batchStep(m, d, N, -1, b, NULL), DJ_INVALID);
  assert_int_equal(djm_batchStep(m, d, N, 1, NULL, NULL), DJ_INVALID);
  assert_int_equal(djm_batchStep(m, NULL, 0, 1, b, NULL), DJ_OK);
  assert_int_equal(djm_batchStep(small, d, 1, 1, b, NULL), DJ_INVALID);
  assert_string_equal(djm_batchErrorText(b, -1),
                      "data 0: step 0: the context was made from another MuJoCo model");
  assert_string_equal(djm_batchErrorText(b, N), "");
  assert_int_equal(djm_makeBatch(&none, NULL, NULL, 1, NULL, &err), DJ_INVALID);
  assert_int_equal(djm_makeBatch(&none, NULL, m, -1, NULL, &err), DJ_INVALID);
  assert_null(none);
  assert_null(djm_batchContext(b, 2));
  djm_batchOption(b)->substeps = 2;
  assert_true(djm_batchStep(m, d, 2, 1, b, NULL) >= 0);
  int substeps[2];
  for (int k = 0; k < 2; k++) substeps[k] = djm_stepOption(djm_batchContext(b, k))->substeps;
  assert_true(substeps[0] == 2 || substeps[1] == 2);   // whichever thread was free
  djm_deleteBatch(b);
  djm_deleteBatch(NULL);
  deleteAll(d);
  deleteAll(own);
  mj_deleteModel(m);
  mj_deleteModel(small);
}

DJT_MAIN(testSteps, testRuns, testFailures)
