// Restitution in MJCF: from solref's damping ratio, by <custom>, and in written scenes.

#include "common/file.h"
#include "common/make_model.h"
#include "common/mjcf.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/io.h>

#define SCENE(custom)                                                                           \
  "<mujoco><custom>" custom "</custom><worldbody><geom name='floor' type='plane' "              \
  "size='5 5 .1' solref='-100 -4'/><body name='b' pos='0 0 .1'><freejoint/>"                    \
  "<geom name='ball' size='.1' solref='.02 .2'/></body>"                                        \
  "<body pos='1 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>"        \
  "<contact><pair name='p' geom1='ball' geom2='floor' solref='.01 .4'/></contact></mujoco>"
#define SOLREF "<text name='dijoco_restitution' data='solref'/>"
#define GIVEN "<text name='dijoco_restitution' data='given'/>"

enum { FLOOR, BALL, BOX };

// x'' + 2 z x' + x = 0 from x = 0, x' = 1, by Runge and Kutta's method until the force ends, which
// is found by bisection of the last step: -x' there.
static double integrated(double z) {
  const double step = 1e-3 / (1 + z);
  double x = 0, v = 1, h = step;
  for (long n = 0; n < 1000000 && h > 1e-14; n++) {
    double k[4][2], a = x, b = v;
    for (int i = 0; i < 4; i++) {
      k[i][0] = b;
      k[i][1] = -2 * z * b - a;
      double part = i < 2 ? h / 2 : h;
      a = x + part * k[i][0];
      b = v + part * k[i][1];
    }
    a = x + h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
    b = v + h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
    if (2 * z * b + a < 0) {
      h /= 2;
      continue;
    }
    x = a;
    v = b;
  }
  return -v;
}

static void testRatio(void) {
  static const double ratio[] = {0, 1e-4, .05, .158, .2, .5, .9, .9985, .9995, 1, 1.0005, 1.0015,
                                 1.3, 2, 5};
  double last = 2;
  for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++) {
    double e = djm_restitution(ratio[i]);
    djt_near(e, integrated(ratio[i]), 1e-11);
    assert_true(e < last);
    last = e;
  }
  djt_near(djm_restitution(1), exp(-2), 1e-16);
  for (int side = -1; side < 2; side += 2) {   // the series goes over into the formulas
    double a = djm_restitution(1 + side * (1e-3 - 1e-13));
    double b = djm_restitution(1 + side * (1e-3 + 1e-13));
    djt_near(a, b, 1e-13);
  }
  djt_near(djm_restitution(-1), 1, 0);
  djt_near(djm_restitution(1e6) * 4e12, 1, 1e-10);
  djt_near(djm_restitution(INFINITY), 0, 0);
  djt_near(djm_restitution(NAN), 0, 0);
}

static void testSolref(void) {
  static const struct {
    double solref[2], ratio;
  } list[] = {{{.02, .2}, .2}, {{.5, 1}, 1}, {{-400, -8}, .2}, {{-1e4, -300}, 1.5}, {{-100, 0}, 0},
              {{.02, -3}, 1}, {{0, 5}, 1}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    double e = list[i].ratio < 1 ? djm_restitution(list[i].ratio) : 0;   // not asked for
    djt_near(djm_solrefRestitution(list[i].solref), e, 1e-15);
  }
  djt_near(djm_solrefRestitution((double[]){0, 0}), 0, 0);
  djt_near(djm_solrefRestitution((double[]){0, -5}), 0, 0);
  djt_near(djm_solrefRestitution((double[]){NAN, NAN}), 0, 0);
}

// A ball without weight, in stock MuJoCo with a short step.
static void testStock(void) {
  static const char* const solref[] = {".02 1", ".02 .2", "-10000 -300"};
  static const double ratio[] = {1, .2, 1.5};
  for (int i = 0; i < 3; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "<mujoco><option timestep='1e-5' gravity='0 0 0'/><default><geom solref='%s' "
             "solimp='.9 .9'/></default><worldbody><geom type='plane' size='1 1 1'/>"
             "<body pos='0 0 .1001'><freejoint/><geom size='.1'/></body></worldbody></mujoco>",
             solref[i]);
    mjModel* m = djt_compile(text);
    mjData* d = mj_makeData(m);
    djModel* x = djt_import(NULL, m);
    d->qvel[2] = -1;
    for (int k = 0; k < 5000; k++) mj_step(m, d);
    djt_near(d->qvel[2], djm_restitution(ratio[i]), 2e-3);
    djt_near(x->geom_solref_restitution[1], ratio[i] < 1 ? d->qvel[2] : 0, 2e-3);
    dj_deleteModel(x);
    djt_deleteEngine(m, d);
  }
}

static void expect(const djModel* m, double floor, double ball, double box, double pair) {
  djt_near(dj_restitution(m, FLOOR, -1), floor, 1e-15);
  djt_near(dj_restitution(m, BALL, -1), ball, 1e-15);
  djt_near(dj_restitution(m, BOX, -1), box, 1e-15);
  djt_near(dj_restitution(m, -1, 0), pair, 1e-15);
}

// `solref` is the default; numbers of elements count under it too, 0 as well.
static void testRead(void) {
  djModel* m = djt_importText(SCENE(GIVEN "<numeric name='dijoco_restitution/ball' data='.5'/>"
                                          "<text name='dijoco_restitution/#2' data='.25 '/>"
                                          "<numeric name='dijoco_restitution/p' data='1'/>"));
  assert_int_equal(m->opt.restitution, DJ_RESTITUTION_GIVEN);
  assert_int_equal(m->nsetting, 0);
  expect(m, 0, .5, .25, 1);
  dj_deleteModel(m);

  m = djt_importText(SCENE(""));
  assert_int_equal(m->opt.restitution, DJ_RESTITUTION_SOLREF);
  djOption option = m->opt;
  option.restitution = DJ_RESTITUTION_GIVEN;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  expect(m, 0, 0, 0, 0);
  option.restitution = DJ_RESTITUTION_SOLREF;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  expect(m, djm_restitution(.2), djm_restitution(.2), 0, djm_restitution(.4));
  djt_near(dj_restitution(m, -1, -1) + dj_restitution(m, 0, 0), 0, 0);
  djt_near(dj_restitution(m, 3, -1) + dj_restitution(m, -1, 1), 0, 0);
  dj_deleteModel(m);

  m = djt_importText(SCENE(SOLREF "<numeric name='dijoco_restitution/ball' data='0'/>"
                                  "<numeric name='dijoco_restitution/p' data='.125'/>"));
  expect(m, djm_restitution(.2), 0, 0, .125);
  dj_deleteModel(m);
}

static void testOverride(void) {
  djModel* m =
      djt_importText("<mujoco><option o_solref='.02 .3'><flag override='enable'/></option>"
                     "<worldbody><geom name='a' type='plane' size='1 1 1'/><body>"
                     "<freejoint/><geom name='b' size='.1'/></body></worldbody><contact><pair "
                     "geom1='a' geom2='b'/></contact>"
                     "</mujoco>");
  djt_near(m->geom_solref_restitution[1], djm_restitution(.3), 1e-15);
  djt_near(m->pair_solref_restitution[0], djm_restitution(.3), 1e-15);
  dj_deleteModel(m);
}

static void testRefused(void) {
  static const char* const bad[][2] = {
      {SCENE("<numeric name='dijoco_restitution/nobody' data='.5'/>"),
       "numeric/dijoco_restitution/nobody: there is no pair or geom of that name"},
      {SCENE("<numeric name='dijoco_restitution/#3' data='.5'/>"), "no pair or geom"},
      {SCENE("<numeric name='dijoco_restitution/ball' data='1.1'/>"),
       "numeric/dijoco_restitution/ball: must be between 0 and 1"},
      {SCENE("<numeric name='dijoco_restitution/p' data='-.1'/>"), "must be between 0 and 1"},
      {SCENE("<text name='dijoco_restitution/ball' data='nan'/>"), "must be between 0 and 1"},
      {SCENE("<numeric name='dijoco_restitution/ball' data='.5 .5'/>"), "one number is expected"},
      {SCENE("<text name='dijoco_restitution/ball' data='high'/>"), "is not a number"},
      {SCENE("<text name='dijoco_restitution' data='high'/>"), "expected one of given, solref"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    djModel* x;
    djError err = {""};
    mjModel* m = djt_compile(bad[i][0]);
    if (dj_importMuJoCo(&x, NULL, m, &err) != DJ_INVALID) fail_msg("%d is taken", (int)i);
    if (!strstr(err.text, bad[i][1])) fail_msg("%s\nnot: %s", err.text, bad[i][1]);
    mj_deleteModel(m);
  }
}

// Over a scene in MJCF and from our own file, under either option: what acts is the same.
static void testWritten(void) {
  const char* from = DIJOCO_BUILD_DIR "/tests/mj_restitution.xml";
  const char* json = DIJOCO_BUILD_DIR "/tests/mj_restitution.json";
  static const char text[] = SCENE("<numeric name='dijoco_restitution/ball' data='.5'/>"
                                   "<numeric name='dijoco_restitution/p' data='.75'/>");
  djt_writeText(from, text);
  for (int k = 0; k < 4; k++) {
    djModel *x = djt_importText(text), *read = NULL;
    djError err = {""};
    djOption option = x->opt;
    char* out;
    option.restitution = k < 2 ? DJ_RESTITUTION_GIVEN : DJ_RESTITUTION_SOLREF;
    assert_int_equal(dj_setOption(x, &option, &err), DJ_OK);
    if (dj_saveModel(x, json, &err) != DJ_OK) fail_msg("%s", err.text);
    if (dj_loadModel(&read, json, &err) != DJ_OK) fail_msg("%s", err.text);
    double floor = k < 2 ? 0 : djm_restitution(.2), box = 0;
    expect(read, floor, .5, box, .75);
    djt_failIf(djm_makeMJCF(&out, k % 2 ? json : from, read, NULL, &err) != DJ_OK, "%s", err.text);
    djModel* y = djt_importText(out);
    assert_int_equal(y->opt.restitution, option.restitution);
    expect(y, floor, .5, box, .75);
    free(out);
    dj_deleteModel(y);
    dj_deleteModel(read);
    dj_deleteModel(x);
  }
}

// What another scene has in its place is written as numbers.
static void testDesign(void) {
  const char* from = DIJOCO_BUILD_DIR "/tests/mj_restitution.xml";
  djError err = {""};
  char* out;
  djModel* x = djt_importText(SCENE(GIVEN "<numeric name='dijoco_restitution/floor' data='.3'/>"));
  if (djm_makeMJCF(&out, from, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  djModel* y = djt_importText(out);
  expect(y, .3, 0, 0, 0);
  free(out);
  dj_deleteModel(y);
  dj_deleteModel(x);
}

// ---- what parameters are set to ----------------------------------------------------------------

static void testInverse(void) {
  static const double e[] = {1e-300, 1e-20, 1e-6, .01, .1, .1353352832366127, .14, .5, .9, .999,
                             1 - 1e-12};
  for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
    djt_near(djm_restitution(djm_dampingRatio(e[i])) / e[i], 1, 1e-13);
  }
  djt_near(djm_dampingRatio(exp(-2)), 1, 1e-8);   // there the series takes over
  djt_near(djm_dampingRatio(djm_restitution(.2)), .2, 1e-15);
  djt_near(djm_dampingRatio(1), 0, 0);
  assert_true(djm_restitution(djm_dampingRatio(0)) < 1e-300);
}

static void setRestitution(djModel* m, const char* name, double value) {
  djError err = {""};
  double got;
  djParam p = djt_param(m, name);
  if (dj_setParam(m, &p, &value, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(dj_getParam(&got, m, &p), DJ_OK);
  assert_true(got == value);
}

static const char kXml[] = DIJOCO_BUILD_DIR "/tests/mj_restitution_set.xml";
static const char kJson[] = DIJOCO_BUILD_DIR "/tests/mj_restitution_set.json";

// A scene of a floor, `ball` and a third geom with one pair, with coefficients set, as it is written
// over its file, or from our own.
static char* writtenWith(const char* text, djRestitution from, const double e[4], bool own) {
  static const char* const name[] = {"geom/#0/restitution", "geom/ball/restitution",
                                     "geom/#2/restitution", "pair/#0/restitution"};
  djModel* x = djt_importText(text);
  djOption option = x->opt;
  djError err = {""};
  char* out;
  option.restitution = from;
  assert_int_equal(dj_setOption(x, &option, &err), DJ_OK);
  for (int k = 0; k < 4; k++) setRestitution(x, name[k], e[k]);
  if (dj_saveModel(x, kJson, &err) != DJ_OK) fail_msg("%s", err.text);
  djt_writeText(kXml, text);
  if (djm_makeMJCF(&out, own ? kJson : kXml, x, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  dj_deleteModel(x);
  return out;
}

// Every coefficient is kept. fields: how many of them are numbers in <custom>, over the scene's file.
static void expectKept(const char* text, djRestitution from, const double e[4], int fields) {
  for (int own = 0; own < 2; own++) {
    char* out = writtenWith(text, from, e, own);
    int found = 0;
    for (const char* at = out; (at = strstr(at, "dijoco_restitution/")); at++) found++;
    if (!own) assert_int_equal(found, fields);
    djModel* y = djt_importText(out);
    for (int k = 0; k < 3; k++) djt_near(dj_restitution(y, k, -1), e[k], 1e-14 * e[k]);
    djt_near(dj_restitution(y, -1, 0), e[3], 1e-14 * e[3]);
    free(out);
    dj_deleteModel(y);
  }
}

#define OTHER(option)                                                                           \
  "<mujoco>" option "<worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 1'><freejoint/>" \
  "<geom name='ball' size='.1'/></body><body pos='1 0 1'><freejoint/><geom name='box' "         \
  "type='box' size='.1 .1 .1'/></body></worldbody><contact><pair geom1='ball' geom2='box'/>"    \
  "</contact></mujoco>"

// By solref where that can say them; else by a number: 0, and what it damps too much for the
// timestep; under an override, option given, and where a number or a text is there.
static void testKept(void) {
  static const double common[4] = {.3, .7, 1, .2}, hard[4] = {0, 1e-9, .5, 0};
  expectKept(SCENE(""), DJ_RESTITUTION_SOLREF, common, 0);
  expectKept(OTHER(""), DJ_RESTITUTION_SOLREF, common, 0);
  expectKept(SCENE(""), DJ_RESTITUTION_SOLREF, hard, 3);
  expectKept(OTHER(""), DJ_RESTITUTION_SOLREF, hard, 1);   // 0 is its own
  expectKept(SCENE(""), DJ_RESTITUTION_GIVEN, common, 4);
  expectKept(OTHER("<option o_solref='.02 .3'><flag override='enable'/></option>"),
             DJ_RESTITUTION_SOLREF, common, 4);
  expectKept(SCENE("<text name='dijoco_restitution/ball' data='.25'/>"
                   "<numeric name='dijoco_restitution/p' data='.5'/>"),
             DJ_RESTITUTION_SOLREF, common, 2);
}

// Stock MuJoCo rebounds like that at its common timestep, from floors whose solref is the default.
static void testStockRebound(void) {
  static const double list[] = {.2, .5, .8, .95};
  for (int k = 0; k < 4; k++) {
    const double e[4] = {exp(-2), list[k], .5, .5};
    char* out = writtenWith(OTHER("<option gravity='0 0 0'/>"), DJ_RESTITUTION_SOLREF, e, false);
    mjModel* m = djt_compile(out);
    mjData* d = mj_makeData(m);
    djt_near(m->geom_solref[mjNREF], -2500, 1e-9);   // as stiff as .02, 1
    d->qpos[2] = .11;
    d->qvel[2] = -1;
    for (int i = 0; i < 200; i++) mj_step(m, d);
    djt_near(d->qvel[2], list[k], .06);
    djt_deleteEngine(m, d);
    free(out);
  }
}

static void testNote(void) {
  djReport* report;
  mjModel* m = djt_compile(SCENE(""));
  dj_deleteModel(djt_import(&report, m));
  int found = 0;
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* e = &report->entry[i];
    if (strcmp(e->feature, "solref") != 0) continue;
    found += strcmp(e->element, "pair/p") == 0 && strstr(e->note, "about 0.37 of their speed");
    found += strcmp(e->element, "geom/#2") == 0 && strstr(e->note, "about 0.57 of their speed");
  }
  assert_int_equal(found, 2);
  dj_deleteReport(report);
  mj_deleteModel(m);
}

DJT_MAIN(testRatio, testSolref, testStock, testRead, testOverride, testRefused, testWritten,
         testDesign, testInverse, testKept, testStockRebound, testNote)
