// Rows of the table of settings read and stored, what their values may be; types of fields; names
// that parameters' patterns stand for.

#include "common/near.h"
#include "common/scene.h"
#include "common/test.h"
#include "io/pattern.h"
#include "model/fields.h"
#include "model/setting.h"

#include <dijoco/setting.h>

static void testRow(void) {
  djOption option = dj_defaultOption();
  const djSetting* gravity = dj_findSetting("gravity", 0);
  const double down[3] = {0, 1, -2};
  double value[3];
  dj_storeRow(&option, gravity, down);
  assert_memory_equal(option.gravity, down, sizeof down);
  option.gravity[1] = 7;
  dj_readRow(value, &option, gravity);
  assert_true(value[0] == 0 && value[1] == 7 && value[2] == -2);
  const djSetting* integrator = dj_findSetting("integrator", 0);
  dj_storeRow(&option, integrator, (double[]){DJ_BDF1});
  assert_int_equal(option.integrator, DJ_BDF1);
}

static void testProblems(void) {
  djProblemText what;
  const struct {
    const char* name;
    double value;
    bool automatic, good;
  } list[] = {{"timestep", 0.01, false, true},  {"timestep", 0, false, false},
              {"timestep", -1, false, false},   {"gravity_ramp", 0, false, true},
              {"support", -1, true, true},      {"support", -1, false, false},
              {"support", 1, false, false},     {"integrator", 2, false, true},
              {"integrator", 77, false, false}, {"max_iterations", 1.5, false, false},
              {"impact_steps", 0, false, true}, {"impact_steps", -1, false, false}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const djSetting* row = dj_findSetting(list[i].name, 0);
    const char* problem = dj_rowProblem(&what, row, &list[i].value, list[i].automatic);
    if ((problem == NULL) != list[i].good) fail_msg("%s %g", list[i].name, list[i].value);
  }
  char text[200];
  dj_unknownChoice(text, sizeof text, "luck", dj_findSetting("overlap", 0)->choice);
  assert_string_equal(text, "unknown value 'luck', expected one of recover, error");
  text[0] = 0;
  dj_expectName(text, sizeof text, "a", true);
  dj_expectName(text, sizeof text, "b", false);
  assert_string_equal(text, ", expected one of a, b");
}

static void testTypes(void) {
  double x[2];
  long n;
  bool b;
  char c;
  djIntegrator e;
  assert_int_equal(DJ_TYPE_OF(x + 0), DJ_ARRAY_DOUBLE);
  assert_int_equal(DJ_TYPE_OF(&n), DJ_ARRAY_LONG);
  assert_int_equal(DJ_TYPE_OF(&b), DJ_ARRAY_BOOL);
  assert_int_equal(DJ_TYPE_OF(&c), DJ_ARRAY_CHAR);
  assert_int_equal(DJ_TYPE_OF(&e), DJ_ARRAY_INT);
  djOption option = dj_defaultOption();
  djArray a;
  assert_true(dj_optionArray(&a, &option, "gravity"));
  assert_true(a.data == option.gravity && a.rows * a.columns == 3 && a.type == DJ_ARRAY_DOUBLE);
  assert_false(dj_optionArray(&a, &option, "colour"));
}

static void testPattern(void) {
  static const char* const bodies[] = {"leg_a", "arm", "leg_b"};
  Scene* s = newScene(3);
  for (int b = 0; b < 3; b++) {
    addBody(s, 0, DJ_SLIDE, b, 0, 0, 1, 0.1);
    s->body[b + 1].name = bodies[b];
  }
  djModel* m = sceneModel(s);
  djPool pool = {0};
  djError err;
  const char* const* names;
  int n;
  assert_int_equal(dj_expandName(&names, &n, m, "body/leg_*/mass", &pool, &err), DJ_OK);
  assert_int_equal(n, 2);
  assert_string_equal(names[0], "body/leg_a/mass");
  assert_string_equal(names[1], "body/leg_b/mass");
  assert_int_equal(dj_expandName(&names, &n, m, "ctrl", &pool, &err), DJ_OK);
  assert_true(n == 1 && strcmp(names[0], "ctrl") == 0);
  djt_refusedWith(DJ_INVALID, dj_expandName(&names, &n, m, "body/tail_*/mass", &pool, &err), err,
                  "body/tail_*/mass");
  dj_poolFree(&pool);
  dj_deleteModel(m);
  freeScene(s);
}

DJT_MAIN(testRow, testProblems, testTypes, testPattern)
