// djm_step and djm_forward allocate nothing; djm_transition survives that every allocation fails.
// The sanitizers bring an allocator of their own: skipped there.

#include "common/mj_zoo.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static long count;            // of allocations
static long countdown = -1;   // allocations until one fails; negative: none does

static bool fails(void) {
  count++;
  return countdown >= 0 && countdown-- == 0;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = fails() ? NULL : __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}

static void testStep(void** state) {
  (void)state;
  djRng rng = {21};
  mjModel* m = djt_compile(DJT_ZOO);
  mjData* d = mj_makeData(m);
  djmContext* c = djt_context(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  for (int sensors = 0; sensors < 2; sensors++) {
    djm_stepOption(c)->sensors = sensors;
    if (sensors) assert_true(djm_step(m, d, c) >= 0);   // makes room for a list of contacts
    long before = count;
    for (int k = 0; k < 50; k++) assert_true(djm_step(m, d, c) >= 0);
    assert_true(djm_data(c)->npair > 0);
    assert_int_equal(count, before);
  }
  long before = count;
  assert_true(djm_forward(m, d, c) >= 0);
  assert_int_equal(count, before);
  djm_deleteContext(c);
  mj_deleteData(d);
  mj_deleteModel(m);
}

static void testTransition(void** state) {
  (void)state;
  djRng rng = {22};
  mjModel* m = djt_compile(DJT_ZOO);
  mjData* d = mj_makeData(m);
  djt_shake(d, &rng, m, 0.05, 0.5);
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, n = (size_t)m->nsensordata * nx;
  mjtNum* C = malloc(n * sizeof(*C));
  assert_non_null(C);
  int failures = 0;
  for (int k = 0;; k++) {
    djmContext* c = djt_context(m);
    for (int i = 0; i < 20; i++) assert_true(djm_step(m, d, c) >= 0);
    countdown = k;
    djStatus status = djm_transition(m, d, c, NULL, NULL, C, NULL);
    bool done = countdown >= 0;
    countdown = -1;
    if (!done) {
      assert_true(status == DJ_NO_MEMORY || status == DJ_INVALID);
      assert_true(djm_errorText(c)[0] != '\0');
      failures++;
    }
    assert_true(djm_transition(m, d, c, NULL, NULL, C, NULL) >= 0);
    djm_deleteContext(c);
    if (done) break;
  }
  assert_true(failures >= 5);
  free(C);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testStep), cmocka_unit_test(testTransition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 77; }

#endif
