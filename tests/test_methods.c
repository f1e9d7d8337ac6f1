// Every row of the table of methods.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/test.h"

// Without forces, and with gravity, springs and dampers, which `variational` takes at the end.
static void testOrder(void** state) {
  static const double order[DJ_NINTEGRATOR][2] = {{1, 1}, {2, 1}, {1, 1}, {2, 2}, {2, 2}, {1, 1}};
  for (int forced = 0; forced < 2; forced++) {
    double measured = djt_methodOrder(djt_methodOf(state), forced);
    print_message("%s: order %.2f\n", dj_method(djt_methodOf(state))->name, measured);
    assert_true(fabs(measured - order[djt_methodOf(state)][forced]) < 0.15);
  }
}

// A hinge that leaves its limit, which has no damping: at omega/10, of a spring of 100/s^2, or of
// rows, that move (1 - d)^-1 of its inertia.
static void testLimit(void** state) {
  Scene* s = newScene(1);
  addBody(s, 0, DJ_HINGE, 0, 0, 0, 1, 0.2);
  djJointDef* j = &s->joint[0];
  j->limited = true;
  j->range[0] = -1;
  j->limit_stiffness = 100;
  j->limit_damping = 0;
  djModel* m = sceneModel(s);
  freeScene(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  const bool rows = djt_methodOf(state) == DJ_EULER;
  d->qpos[0] = 0.1;
  d->qvel[0] = -0.1;
  for (int k = 0; k < (rows ? 100 : 50); k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(d->qpos[0] < 0 && d->qvel[0] < (rows ? -0.2 : -0.3));
  djt_delete(m, d);
}

#define ROW(id)                                                                             \
  {"robots " #id, djt_testRobots, NULL, NULL, (void*)(size_t)&all[id]},                          \
      {"contact " #id, djt_testContact, NULL, NULL, (void*)(size_t)&all[id]},                    \
      {"params " #id, djt_testParams, NULL, NULL, (void*)(size_t)&all[id]},                      \
      {"restores " #id, djt_testRestores, NULL, NULL, (void*)(size_t)&all[id]},                  \
      {"limit " #id, testLimit, NULL, NULL, (void*)(size_t)&all[id]},                            \
      {"order " #id, testOrder, NULL, NULL, (void*)(size_t)&all[id]}

int main(void) {
  static const djIntegrator all[DJ_NINTEGRATOR] = {DJ_POSITION, DJ_VARIATIONAL, DJ_BDF1,
                                                   DJ_MIDPOINT, DJ_BDF2, DJ_EULER};
  const struct CMUnitTest tests[] = {ROW(DJ_POSITION), ROW(DJ_VARIATIONAL), ROW(DJ_BDF1),
                                     ROW(DJ_MIDPOINT),
                                     ROW(DJ_BDF2), ROW(DJ_EULER)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
