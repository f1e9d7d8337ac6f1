// Default settings of pairs: by the two geoms alone, scaled by parameters, kept with a design.

#include "contact/contact.h"
#include "contact/plane/separating_plane.h"

#include "common/make_model.h"
#include "common/message.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

enum { FLOOR, BOX, BALL, HEAVY };

// more: further geoms, of bodies 1 to 4, the last of which has none else.
static djModel* load(const char* option, const char* box, const char* more) {
  char text[3000];
  djModel* m;
  djError err = {""};
  snprintf(text, sizeof text,
           "{\"dijoco_model\": 1, \"option\": {\"timestep\": 0.002%s}, \"bodies\": [{},"
           "{\"mass\": 0.5, \"inertia\": [1, 1, 1], \"pos\": [0, 0, 1]},"
           "{\"mass\": 0.2, \"inertia\": [1, 1, 1], \"pos\": [1, 0, 1]},"
           "{\"mass\": 40, \"inertia\": [1, 1, 1], \"pos\": [0, 1, 1]},"
           "{\"mass\": 1e-4, \"inertia\": [1, 1, 1], \"pos\": [90, 90, 1]}],"
           "\"joints\": [{\"type\": \"free\", \"body\": 1}, {\"type\": \"free\", \"body\": 2},"
           "{\"type\": \"free\", \"body\": 3}, {\"type\": \"free\", \"body\": 4}],"
           "\"geoms\": [{\"type\": \"plane\", \"size\": [0, 0, 1]},"
           "{\"name\": \"box\", \"type\": \"box\", \"body\": 1, \"size\": [0.02, 0.02, 0.01]%s},"
           "{\"body\": 2, \"size\": [0.05, 0, 0]}, {\"body\": 3, \"size\": [0.5, 0, 0]}%s]}",
           option, box, more);
  if (dj_loadModelText(&m, text, &err) != DJ_OK) fail_msg("%s", err.text);
  return m;
}

static void settingsOf(double setting[DJ_MAX_OF_KERNEL], const djModel* m, int a, int b) {
  memset(setting, 0, DJ_MAX_OF_KERNEL * sizeof(double));
  dj_pairSettings(setting, m, 0, a, b);
  if (m->contact.guide > 0) return;
  setting[DJ_PLANE_GUIDE_RADIUS] = setting[DJ_PLANE_GUIDE_LENGTH] = 0;   // of no use
}

static void expectSame(const djModel* m, const djModel* other) {
  for (int a = 0; a <= HEAVY; a++) {
    djt_near(m->geom_radius[a], other->geom_radius[a], 0);
    djt_near(m->geom_load[a], other->geom_load[a], 0);
    assert_true(m->geom_skin[a] == other->geom_skin[a]);
    for (int b = 0; b < a; b++) {
      double x[DJ_MAX_OF_KERNEL], y[DJ_MAX_OF_KERNEL];
      settingsOf(x, m, a, b);
      settingsOf(y, other, a, b);
      assert_memory_equal(x, y, sizeof x);
    }
  }
}

// The rules themselves, with numbers written out.
static void testRule(void) {
  djModel* m = load("", "", "");
  double x[DJ_MAX_OF_KERNEL];
  settingsOf(x, m, BOX, BALL);
  double s = 0.5 * (0.02 * 0.01 + 0.15 * 0.002), W = 0.2 * 9.81;   // h bounds the ball's
  djt_near(x[DJ_PLANE_SUPPORT], s, 1e-18);
  djt_near(x[DJ_PLANE_STIFFNESS], W * s * s / (4 * 8e-9), 1e-10);
  djt_near(x[DJ_PLANE_RECOVERY], pow(0.002 / 0.3, 3), 1e-18);
  djt_near(x[DJ_PLANE_FRICTION_EPS], 3.6e-11 * 9.81 * 0.01, 1e-23);
  settingsOf(x, m, FLOOR, HEAVY);   // a plane has the other's size and weight
  djt_near(x[DJ_PLANE_SUPPORT], 3e-4, 1e-18);
  djt_near(x[DJ_PLANE_STIFFNESS], 40 * 9.81 * 9e-8 / (4 * 8e-9), 1e-8);
  djt_near(dj_skinOfOther(m->collision, 0, BOX, FLOOR), 2e-4 / (1 - 2e-4), 1e-18);
  dj_deleteModel(m);
}

// What is far away does not count, however small or heavy.
static void testCoin(void) {
  djModel* m = load("", "", "");
  djModel* coin = load("", "", ", {\"body\": 4, \"size\": [1e-4, 0, 0]}");
  djModel* rock = load("", "", ", {\"body\": 4, \"size\": [30, 0, 0]}");
  expectSame(m, coin);
  expectSame(m, rock);
  dj_deleteModel(m);
  dj_deleteModel(coin);
  dj_deleteModel(rock);
}

static void setParam(djModel* m, const char* name, const double* value) {
  djParam p;
  djError err = {""};
  djt_failIf(dj_paramId(&p, m, name, &err) != DJ_OK || dj_setParam(m, &p, value, &err) != DJ_OK,
             "%s", err.text);
}

// Parameters scale all pairs but those with settings of their own; the others' values stay.
static void testFactors(void) {
  djModel* m = load("", ", \"stiffness\": 7", "");
  double before[2][DJ_MAX_OF_KERNEL], after[2][DJ_MAX_OF_KERNEL];
  for (int k = 0; k < 2; k++) settingsOf(before[k], m, k ? BOX : BALL, HEAVY);
  setParam(m, "contact/stiffness", (double[1]){3 * m->contact.stiffness});
  setParam(m, "contact/support", (double[1]){0.5 * m->contact.support});
  for (int k = 0; k < 2; k++) settingsOf(after[k], m, k ? BOX : BALL, HEAVY);
  double K = before[0][DJ_PLANE_STIFFNESS], s = before[0][DJ_PLANE_SUPPORT];
  djt_near(after[0][DJ_PLANE_STIFFNESS], 3 * K, 1e-14 * K);
  djt_near(after[0][DJ_PLANE_SUPPORT], 0.5 * s, 1e-15 * s);
  assert_true(before[1][DJ_PLANE_STIFFNESS] == 7 && after[1][DJ_PLANE_STIFFNESS] == 7);
  djt_near(after[1][DJ_PLANE_SUPPORT], 0.5 * before[1][DJ_PLANE_SUPPORT], 1e-15 * s);
  dj_deleteModel(m);
  m = load(", \"stiffness\": 5", "", "");   // given: all pairs have the parameter's value
  setParam(m, "contact/stiffness", (double[1]){6});
  settingsOf(after[0], m, BALL, HEAVY);
  assert_true(after[0][DJ_PLANE_STIFFNESS] == 6);
  dj_deleteModel(m);
}

static void checkKept(const char* settings) {
  const char* path = DIJOCO_BUILD_DIR "/tests/pair_setting.json";
  djModel *m = load(settings, "", ""), *first, *again;
  djError err = {""};
  assert_int_equal(dj_copyModel(&first, m, &err), DJ_OK);
  setParam(m, "geom/box/size", (double[3]){0.2, 0.2, 0.1});
  setParam(m, "body/#2/mass", (double[1]){9});
  assert_true(m->defaults_kept == 1 && first->defaults_kept == 0);
  expectSame(m, first);
  setParam(m, "contact/stiffness", (double[1]){1.7 * m->contact.stiffness});
  setParam(m, "contact/support", (double[1]){0.3 * m->contact.support});
  if (dj_saveModel(m, path, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_loadModel(&again, path, &err) != DJ_OK) fail_msg("%s", err.text);
  expectSame(m, again);
  djOption option = m->opt;   // rules are applied anew
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  assert_true(m->defaults_kept == 0 && m->geom_radius[BOX] == 0.1);
  dj_deleteModel(m);
  dj_deleteModel(first);
  dj_deleteModel(again);
}

// A design moves by the defaults of the model that it was made from, also when it is read again;
// with a guide, by those that it follows, too.
static void testKept(void) {
  checkKept("");
  checkKept(", \"guide_factor\": 1");
}

// No pair's range is larger than the one that is kept with the shapes, and some pair's is about as
// large.
static void expectRange(const djModel* m) {
  double most = 0, kept = m->collision->range[0];
  for (int a = 0; a <= HEAVY; a++) {
    for (int b = 0; b < a; b++) {
      double setting[DJ_MAX_OF_KERNEL];
      dj_pairSettings(setting, m, 0, a, b);
      most = fmax(most, dj_kernel(0)->range(setting));
    }
  }
  assert_true(most > 0 && kept >= most && kept < 3 * most);
}

// It follows parameters and options, of copies alone, and not what is refused.
static void testRange(void) {
  djModel *m = load("", "", ""), *copy;
  djError err = {""};
  expectRange(m);
  double first = m->collision->range[0], value;
  assert_int_equal(dj_copyModel(&copy, m, &err), DJ_OK);
  assert_true(copy->collision->range != m->collision->range);
  djParam support = djt_param(copy, "contact/support");
  dj_getParam(&value, copy, &support);
  value *= 8;
  assert_int_equal(dj_setParam(copy, &support, &value, &err), DJ_OK);
  expectRange(copy);
  assert_true(copy->collision->range[0] > 2 * first && m->collision->range[0] == first);
  djOption option = copy->opt;
  option.length_scale *= 3;
  assert_int_equal(dj_setOption(copy, &option, &err), DJ_OK);
  expectRange(copy);
  double last = copy->collision->range[0];
  option.stiffness = 1e308;
  option.length_scale = 1e308;
  assert_true(dj_setOption(copy, &option, &err) < 0);
  assert_true(copy->collision->range[0] == last);
  dj_deleteModel(copy);
  dj_deleteModel(m);
}

DJT_MAIN(testRule, testCoin, testFactors, testKept, testRange)
