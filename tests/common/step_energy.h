// The energy that a step minimises, at any configuration, and what tests of steps share beside it.
// Included after cmocka.

#ifndef DJ_TESTS_STEP_ENERGY_H_
#define DJ_TESTS_STEP_ENERGY_H_

#include "common/test.h"
#include "common/worst.h"
#include "integrate/work.h"

// Energy and gradient at q of the step that starts at d.
static inline double energyAt(double* gradient, const djModel* m, djData* d, const double* q) {
  djWork* w = d->work;
  double value;
  bool majorizer = false;
  memcpy(w->now.q, q, (size_t)m->nq * sizeof(double));
  dj_setPlace(&w->now, m, d->mocap_pos, d->mocap_quat);
  dj_openPlace(&w->now, m, w->ref);
  const djMethod* row = dj_method(m->opt.integrator);
  assert_int_equal(row->evaluate(&value, gradient, w, m, &w->now, &majorizer), DJ_OK);
  return value;
}

static inline djData* makeData(const djModel* m) {
  djData* d;
  djError err;
  assert_int_equal(dj_makeData(&d, m, &err), DJ_OK);
  return d;
}

#endif  // DJ_TESTS_STEP_ENERGY_H_
