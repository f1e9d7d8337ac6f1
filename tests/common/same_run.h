// Two models that move alike, to the last bit.

#ifndef DJ_TESTS_SAME_RUN_H_
#define DJ_TESTS_SAME_RUN_H_

#include "common/test.h"

#include <dijoco/dijoco.h>

// The last coordinates of a free body that starts at 1 m/s along x.
static inline void djt_rollBody(double qpos[7], const djModel* m) {
  djData* d = NULL;
  djError err;
  if (dj_makeData(&d, m, &err) != DJ_OK) fail_msg("%s", err.text);
  d->qvel[0] = 1;
  for (int i = 0; i < 200; i++) assert_true(dj_step(m, d) >= 0);
  memcpy(qpos, d->qpos, 7 * sizeof(double));
  dj_deleteData(d);
}

static inline void djt_assertSameRuns(const djModel* a, const djModel* b) {
  double qa[7], qb[7];
  djt_rollBody(qa, a);
  djt_rollBody(qb, b);
  assert_memory_equal(qa, qb, sizeof qa);
}

#endif  // DJ_TESTS_SAME_RUN_H_
