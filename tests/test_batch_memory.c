// Memory of batches: every allocation of making one fails in turn, steps and gradients need none,
// and thousands of worlds take the memory of their states. The sanitizers bring an allocator of
// their own: skipped there.

#include "common/counted_memory.h"
#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

#if DJT_COUNTED_MEMORY

enum { N = 6, HORIZON = 20 };

static djStatus make(const djModel* m, djError* err) {
  djBatch* b;
  djBatchTape* tape = NULL;
  djStatus status = dj_makeBatch(&b, m, N, 1, err);
  if (status < 0) {
    assert_null(b);
    return status;
  }
  djParam mass;
  const double value[N] = {1, 2, 3, 4, 5, 6};
  status = dj_paramId(&mass, m, "body/#1/mass", err);
  if (status == DJ_OK) status = dj_setBatchParams(b, 1, &mass, value, err);
  for (int checkpoint = 0; checkpoint < 2 && status == DJ_OK; checkpoint++) {
    status = djd_makeBatchTape(&tape, b, HORIZON, checkpoint, err);
    djd_deleteBatchTape(tape);
  }
  dj_deleteBatch(b);
  return status;
}

static void testMaking(void) {
  djData* d;
  djModel* m = movingPile(&d, 2);
  djError err;
  djStatus status = DJ_NO_MEMORY;
  long failures = 0;
  for (; status != DJ_OK; failures++) {
    long before = live;
    err.text[0] = 0;
    countdown = failures;
    status = make(m, &err);
    countdown = -1;
    assert_int_equal(live, before);
    if (status == DJ_OK) break;
    assert_int_equal(status, DJ_NO_MEMORY);
    assert_non_null(strstr(err.text, "out of memory"));
    assert_true(failures < 100000);
  }
  print_message("%ld allocations\n", failures);
  assert_true(failures > 50);
  djt_delete(m, d);
}

// Once lanes and tapes have the room that these runs need.
static void testCalls(void) {
  djData* d;
  djModel* m = movingPile(&d, 3);
  djBatch* b;
  djBatchTape* tape[2];
  djError err;
  double ctrl[N * HORIZON * 8] = {0}, grad[N * HORIZON * 8];
  size_t nv = (size_t)m->nv, nx = (size_t)dj_tangentSize(m);
  double* A = malloc(N * nx * nx * sizeof(double));
  assert_int_equal(dj_makeBatch(&b, m, N, 2, &err), DJ_OK);
  assert_int_equal(b->nthread, 2);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(djd_makeBatchTape(&tape[k], b, HORIZON, k * 4, &err), DJ_OK);
  }
  djRollout run = {.horizon = HORIZON, .ctrl = ctrl};
  djBatchResult result = {.grad_ctrl = grad};
  long first = 0;
  for (int round = 0; round < 8; round++) {
    if (round == 3) first = allocations;
    for (size_t i = 0; i < N; i++) assert_int_equal(dj_setWorld(b, (int)i, d), DJ_OK);
    for (size_t i = 0; i < N * nv; i++) b->qvel[i] += 0.01 * (double)(i % 7);
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < 60; i++) assert_true(dj_batchStep(b, 1) >= 0);
      assert_true(djd_batchTransition(b, A, NULL) >= 0);
      assert_true(djd_batchRolloutForward(&result, b, &run, tape[k]) >= 0);
      assert_true(djd_batchRolloutBackward(&result, b, &run, tape[k], NULL, NULL) >= 0);
      assert_true(djd_batchGradient(&result, b, &run, tape[k]) >= 0);
    }
  }
  assert_int_equal(allocations, first);
  for (int k = 0; k < 2; k++) djd_deleteBatchTape(tape[k]);
  dj_deleteBatch(b);
  djt_delete(m, d);
  free(A);
}

// A world is its state, inputs and poses.
static void testWorlds(void) {
  djData* d;
  djModel* m = movingPile(&d, 3);
  djError err;
  size_t bytes[2];
  for (int k = 0; k < 2; k++) {
    djBatch* b;
    assert_int_equal(dj_makeBatch(&b, m, k ? 4096 : 96, 2, &err), DJ_OK);
    bytes[k] = dj_batchBytes(b);
    dj_deleteBatch(b);
  }
  print_message("%zu bytes a world, data has %zu\n", (bytes[1] - bytes[0]) / 4000, dj_dataSize(m));
  assert_true((bytes[1] - bytes[0]) / 4000 < 4096);
  djt_delete(m, d);
}

DJT_MAIN(testMaking, testCalls, testWorlds)

#else

int main(void) { return 77; }

#endif
