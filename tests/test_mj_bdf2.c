// MuJoCo's state has no room for the history of bdf2: the calls on MuJoCo's data and the plugin
// refuse it; the imported model has it.

#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

#define SCENE(head)                                                                                \
  "<mujoco>" head "<custom><text name='dijoco_integrator' data='bdf2'/></custom>"                  \
  "<option><flag contact='disable'/></option><worldbody><body><joint axis='0 1 0'/>"               \
  "<geom type='capsule' fromto='0 0 0 .1 0 .4' size='.04'/></body></worldbody></mujoco>"

static void testCalls(void) {
  mjModel* m = djt_compile(SCENE(""));
  mjData* d = mj_makeData(m);
  djmContext* c;
  djError err;
  if (djm_makeContext(&c, NULL, m, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(djm_model(c)->opt.integrator, DJ_BDF2);
  mjtNum A[4], B[1];
  d->qvel[0] = 1;
  for (int k = 0; k < 3; k++) {
    djStatus status = k == 0   ? djm_step(m, d, c)
                      : k == 1 ? djm_transition(m, d, c, A, B, NULL, NULL)
                               : djm_forward(m, d, c);
    assert_int_equal(status, DJ_UNSUPPORTED);
    assert_non_null(strstr(djm_errorText(c), "bdf2"));
    assert_non_null(strstr(djm_errorText(c), "history"));
    assert_true(d->time == 0 && d->qpos[0] == 0 && d->qvel[0] == 1);
  }
  djOption option = djm_model(c)->opt;
  option.integrator = DJ_BDF1;
  assert_int_equal(dj_setOption(djm_model(c), &option, &err), DJ_OK);
  djm_deleteContext(c);
  djt_deleteEngine(m, d);
}

static void testPlugin(void** state) {
  (void)state;
  char error[1000];
  assert_null(djt_tryCompile(SCENE("<extension><plugin plugin='dijoco.contact'>"
                                   "<instance name='dj'/></plugin></extension>"),
                             error));
  assert_non_null(strstr(error, "bdf2"));
}

// Our own engine simulates what was imported.
static void testImported(void) {
  mjModel* m = djt_compile(SCENE(""));
  djModel* model = djt_import(NULL, m);
  djData* d = djt_data(model);
  assert_int_equal(dj_step(model, d), DJ_OK);
  assert_true(dj_getHistory(NULL, NULL, model, d));
  djt_delete(model, d);
  mj_deleteModel(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      djt_test(testCalls),
      cmocka_unit_test_setup(testPlugin, djt_registerContact),
      djt_test(testImported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
