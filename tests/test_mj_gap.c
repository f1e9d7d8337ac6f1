// The sensor plugin dijoco.gap in compiled models, and its derivatives.

#include "common/make_model.h"
#include "common/mjcf.h"
#include "gap.h"
#include "common/near.h"
#include "common/test.h"
#include "common/worst.h"
#include "engine/engine.h"
#include "engine/keep.h"

#include <dijoco/dijoco.h>

static const char kWorld[] =
    "<asset><mesh name='m' vertex='0 0 0 .3 0 0 0 .3 0 0 0 .3 .2 .2 .2'/></asset><worldbody>"
    "<geom name='floor' type='plane' size='2 2 .1'/>"
    "<body name='arm' pos='0 0 1'><joint name='a' axis='0 1 0'/><joint name='b' axis='1 .2 0'/>"
    "<geom name='bar' type='box' size='.3 .05 .04' pos='.3 0 0'/>"
    "<geom name='tip' type='sphere' size='.06' pos='.6 0 0' contype='0' conaffinity='0'/>"
    "<body name='hand' pos='.6 0 0'><joint name='c' axis='0 0 1'/>"
    "<geom name='cone' type='mesh' mesh='m' contype='0' conaffinity='0'/></body></body>"
    "<body name='free' pos='.3 .1 .7'><freejoint/>"
    "<geom name='can' type='cylinder' size='.1 .15'/>"
    "<geom name='egg' type='ellipsoid' size='.1 .05 .2' pos='.1 .1 .1' quat='1 .2 .3 0'/>"
    "<geom name='rod' type='capsule' size='.03 .2' pos='-.1 .1 0'/></body>"
    "<body name='set' pos='-.5 .2 .6' mocap='true'><geom name='block' type='box' size='.1 .2 .1'/>"
    "</body></worldbody>";

// A scene with an instance for every list of <config> elements; NULL: text is in `error`.
static mjModel* compile(const char* const* config, int n, char error[1000]) {
  static char xml[12000];
  char *end = xml + sizeof(xml), *at = xml;
  at += snprintf(at, end - at, "<mujoco><extension><plugin plugin='dijoco.gap'>");
  for (int i = 0; i < n; i++) {
    at += snprintf(at, end - at, "<instance name='i%d'>%s</instance>", i, config[i]);
  }
  at += snprintf(at, end - at, "</plugin></extension>%s<sensor><jointpos joint='a'/>", kWorld);
  for (int i = 0; i < n; i++) {
    at += snprintf(at, end - at, "<plugin name='s%d' plugin='dijoco.gap' instance='i%d'/>", i, i);
  }
  snprintf(at, end - at, "</sensor></mujoco>");
  return djt_tryCompile(xml, error);
}

#define NAMES(kind, a, b) \
  "<config key='" kind "1' value='" a "'/><config key='" kind "2' value='" b "'/>"
static const char* const kPairs[] = {
    NAMES("geom", "bar", "can"),    NAMES("geom", "floor", "bar"), NAMES("geom", "cone", "egg"),
    NAMES("geom", "tip", "rod"),    NAMES("geom", "block", "bar"), NAMES("geom", "cone", "bar"),
    NAMES("body", "arm", "free"),   NAMES("body", "world", "free"), NAMES("body", "hand", "set"),
    NAMES("geom", "cone", "block") "<config key='smoothing' value='.01'/>"
    "<config key='output' value='distance point2'/>",
};
enum { kNPair = sizeof(kPairs) / sizeof(*kPairs) };

static mjModel* load(void) {
  char error[1000] = "";
  mjModel* m = compile(kPairs, kNPair, error);
  if (!m) fail_msg("%s", error);
  return m;
}

static void shake(const mjModel* m, mjData* d, int seed) {
  mj_resetData(m, d);
  mjtNum step[20];
  for (int i = 0; i < m->nv; i++) step[i] = 0.4 * sin(seed + 3.7 * i);
  mj_integratePos(m, d->qpos, step, 1);
}

static const mjtNum* dataOf(const mjModel* m, const mjData* d, int pair) {
  return d->sensordata + m->sensor_adr[1 + pair];
}

// The sensor, djm_gap and dj_gap of the imported model give the same numbers.
static void testValue(void) {
  mjModel* m = load();
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djData* data = djt_data(model);
  for (int seed = 0; seed < 20; seed++) {
    shake(m, d, seed);
    mj_forward(m, d);
    mju_copy(data->qpos, d->qpos, (int)m->nq);
    for (int i = 0; i + 1 < kNPair; i++) {
      assert_int_equal(m->sensor_dim[1 + i], 10);
      bool body = strstr(kPairs[i], "body1") != NULL;
      char name[2][20];
      const char* at = strstr(kPairs[i], "value='") + 7;
      sscanf(at, "%19[^']", name[0]);
      sscanf(strstr(at, "value='") + 7, "%19[^']", name[1]);
      int id[2];
      for (int k = 0; k < 2; k++) id[k] = mj_name2id(m, body ? mjOBJ_BODY : mjOBJ_GEOM, name[k]);
      mjtNum value[10], jac[300], core[10], core_jac[300];
      const mjtNum* sensor = dataOf(m, d, i);
      djError err;
      assert_int_equal(djm_gap(value, jac, m, d, body ? mjOBJ_BODY : mjOBJ_GEOM, id[0], id[1], -1,
                               &err), DJ_OK);
      for (int k = 0; k < 10; k++) djt_near(sensor[k], value[k], 0);
      djStatus status = dj_gap(core, core + 1, core + 4, core + 7, core_jac, model, data,
                               body ? DJ_OBJ_BODY : DJ_OBJ_GEOM, id[0], id[1], -1);
      if (status != DJ_OK) fail_msg("%s", dj_errorText(data));
      for (int k = 0; k < 10; k++) djt_near(core[k], value[k], 1e-8);
      for (int k = 0; k < 10 * m->nv; k++) {
        djt_near(core_jac[k], jac[k], 1e-5 * (1 + fabs(jac[k])));
      }
    }
    assert_int_equal(m->sensor_dim[kNPair], 4);
  }
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

// MuJoCo's finite differences of the sensors, and Jacobians of djm_gapSensor.
static void testDerivative(void) {
  mjModel* m = load();
  mjData* d = mj_makeData(m);
  int nv = (int)m->nv, nx = 2 * nv, ns = (int)m->nsensordata;
  mjtNum* C = calloc((size_t)ns * nx, sizeof(*C));
  double worst = 0, largest = 0;
  for (int seed = 0; seed < 10; seed++) {
    shake(m, d, seed);
    mj_forward(m, d);
    mjd_transitionFD(m, d, 1e-7, 1, NULL, NULL, C, NULL);
    mj_forward(m, d);
    for (int i = 0; i < kNPair; i++) {
      mjtNum jac[300];
      assert_true(djm_isGapSensor(m, 1 + i));
      assert_int_equal(djm_gapSensor(jac, m, d, 1 + i), DJ_OK);
      for (int r = 0; r < m->sensor_dim[1 + i]; r++) {
        const mjtNum* row = C + (size_t)(m->sensor_adr[1 + i] + r) * nx;
        for (int k = 0; k < nv; k++) {
          double error = fabs(row[k] - jac[r * nv + k]) / (1 + fabs(row[k]));
          worst = djt_worst(worst, error);
          largest = djt_worst(largest, fabs(row[k]));
          djt_failIf(!(error < 1e-4), "seed %d, sensor %d, row %d, dof %d: %g, difference %g", seed,
                     i, r, k, jac[r * nv + k], row[k]);
        }
        for (int k = nv; k < nx; k++) djt_near(row[k], 0, 0);
      }
    }
  }
  print_message("worst %.2g of %.3g\n", worst, largest);
  assert_true(largest > 10);
  assert_false(djm_isGapSensor(m, 0));
  assert_int_equal(djm_gapSensor(C, m, d, 0), DJ_INVALID);
  free(C);
  djt_deleteEngine(m, d);
}

// djm_transition's C has the same rows, with cutoffs.
static void testTransition(void) {
  mjModel* m = load();
  m->opt.disableflags |= mjDSBL_CONTACT;
  mjData* d = mj_makeData(m);
  djmContext* context;
  assert_int_equal(djm_makeContext(&context, NULL, m, NULL), DJ_OK);
  int nv = (int)m->nv, nx = 2 * nv;
  mjtNum* C = calloc((size_t)m->nsensordata * nx, sizeof(*C));
  shake(m, d, 4);
  mj_forward(m, d);
  m->sensor_cutoff[2] = 0.5 * fabs(dataOf(m, d, 1)[0]);
  assert_true(djm_transition(m, d, context, NULL, NULL, C, NULL) == DJ_OK);
  for (int i = 0; i < kNPair; i++) {
    mjtNum jac[300];
    assert_true(djm_sensorIsAnalytic(m, 1 + i));
    assert_int_equal(djm_gapSensor(jac, m, d, 1 + i), DJ_OK);
    for (int r = 0; r < m->sensor_dim[1 + i]; r++) {
      const mjtNum* row = C + (size_t)(m->sensor_adr[1 + i] + r) * nx;
      bool cut = i == 1 && fabs(dataOf(m, d, 1)[r]) >= m->sensor_cutoff[2];
      for (int k = 0; k < nx; k++) {
        djt_near(row[k], cut || k >= nv ? 0 : jac[r * nv + k], 1e-9);
      }
    }
  }
  free(C);
  djm_deleteContext(context);
  djt_deleteEngine(m, d);
}

// Distances as MuJoCo's own, to the bound; copies; changes of the model.
static void testEngine(void) {
  mjModel* m = load();
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  int checked = 0;
  for (int seed = 0; seed < 30; seed++) {
    shake(m, d, seed);
    mj_forward(m, d);
    mjtNum fromto[6];
    const mjtNum* s = dataOf(m, d, 4);   // block, bar
    mjtNum exact = mj_geomDistance(m, d, mj_name2id(m, mjOBJ_GEOM, "block"),
                                   mj_name2id(m, mjOBJ_GEOM, "bar"), 10, fromto);
    if (exact < 0.01) continue;
    checked++;
    // smoothing 0.002 * 0.04; two corners
    if (!(s[0] > exact - 1e-6 && s[0] < exact + 2.48 * 8e-5)) fail_msg("%g, %g", s[0], exact);
    double turn = 0;
    for (int k = 0; k < 3; k++) turn += fabs(s[1 + k] - (fromto[3 + k] - fromto[k]) / exact);
    assert_true(turn < 0.05);
  }
  assert_true(checked > 10);
  mj_copyData(e, m, d);
  mj_step(m, d);
  mj_step(m, e);
  assert_memory_equal(d->sensordata, e->sensordata, sizeof(mjtNum) * m->nsensordata);
  mj_resetData(m, d);
  mj_forward(m, d);
  mjtNum before = dataOf(m, d, 1)[0];
  int bar = mj_name2id(m, mjOBJ_GEOM, "bar");
  m->geom_size[3 * bar + 2] += 0.02;
  mj_forward(m, d);
  djt_near(dataOf(m, d, 1)[0], before - 0.02, 1e-4);
  // where a geom is in its body, too
  m->geom_pos[3 * bar + 2] += 0.05;
  m->geom_quat[4 * bar + 2] += 0.2;
  mju_normalize4(m->geom_quat + 4 * bar);
  m->geom_sameframe[bar] = mjSAMEFRAME_NONE;
  before = dataOf(m, d, 6)[0];
  mj_forward(m, d);
  mjtNum value[10];
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_BODY, mj_name2id(m, mjOBJ_BODY, "arm"),
                           mj_name2id(m, mjOBJ_BODY, "free"), -1, NULL), DJ_OK);
  assert_true(fabs(dataOf(m, d, 6)[0] - before) > 1e-4);
  assert_memory_equal(value, dataOf(m, d, 6), sizeof(value));
  mj_deleteData(e);
  djt_deleteEngine(m, d);
}

// A scene with sensors that name objects themselves; NULL: text is in `error`.
static mjModel* compileObjects(const char* instances, const char* sensors, char error[1000]) {
  static char xml[4000];
  snprintf(xml, sizeof(xml),
           "<mujoco><extension><plugin plugin='dijoco.gap'>%s</plugin></extension>%s<sensor>"
           "%s</sensor></mujoco>", instances, kWorld, sensors);
  return djt_tryCompile(xml, error);
}

#define OBJECTS(type1, name1, type2, name2)                                     \
  "<plugin plugin='dijoco.gap' objtype='" type1 "' objname='" name1 "' reftype='" \
  type2 "' refname='" name2 "' "

// Objects named by the sensor element itself, and a cutoff. A body's frame has no part in its gap:
// body and xbody are the same.
static void testObjects(void) {
  char error[1000];
  mjModel* m = compileObjects(
      "", OBJECTS("geom", "bar", "geom", "can") "/>"
      OBJECTS("body", "arm", "body", "free") "cutoff='.05'><config key='output' value='distance'/>"
      "</plugin>" OBJECTS("xbody", "arm", "xbody", "free") "/>"
      OBJECTS("body", "arm", "xbody", "free") "/>" OBJECTS("xbody", "arm", "body", "free") "/>",
      error);
  if (!m) fail_msg("%s", error);
  mjData* d = mj_makeData(m);
  mj_forward(m, d);
  mjtNum value[10];
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_GEOM, mj_name2id(m, mjOBJ_GEOM, "bar"),
                           mj_name2id(m, mjOBJ_GEOM, "can"), -1, NULL), DJ_OK);
  assert_memory_equal(value, d->sensordata, sizeof(value));
  assert_int_equal(m->sensor_dim[1], 1);
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_BODY, mj_name2id(m, mjOBJ_BODY, "arm"),
                           mj_name2id(m, mjOBJ_BODY, "free"), -1, NULL), DJ_OK);
  assert_true(value[0] > 0.05 && d->sensordata[10] == 0.05);   // cut off
  for (int k = 0; k < 3; k++) {
    assert_memory_equal(value, d->sensordata + 11 + 10 * k, sizeof(value));
  }
  djt_deleteEngine(m, d);
}

// Sensors that share an instance must name the same things.
static void testShared(void) {
  static const char kInstance[] = "<instance name='i'/>";
  static const struct {
    const char* second;
    bool same;
  } cases[] = {{OBJECTS("geom", "floor", "geom", "bar") "instance='i'/>", true},
               {OBJECTS("geom", "floor", "geom", "tip") "instance='i'/>", false},
               {OBJECTS("geom", "bar", "geom", "floor") "instance='i'/>", false},
               {OBJECTS("body", "world", "body", "arm") "instance='i'/>", false}};   // the same ids
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char sensors[1000], error[1000];
    snprintf(sensors, sizeof(sensors), "%s%s", OBJECTS("geom", "floor", "geom", "bar")
             "instance='i'/>", cases[i].second);
    mjModel* m = compileObjects(kInstance, sensors, error);
    if (!m == cases[i].same) fail_msg("case %d: %s", (int)i, error);
    if (m) mj_deleteModel(m);
    else assert_non_null(strstr(error, "dijoco.gap: objname='': sensors of one instance name "));
  }
  static const char* const bad[] = {OBJECTS("geom", "bar", "body", "free") "/>",
                                    OBJECTS("geom", "bar", "geom", "bar") "/>",
                                    OBJECTS("site", "s", "site", "s") "/>",
                                    "<plugin plugin='dijoco.gap' objtype='geom' objname='bar'/>"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    char error[1000];
    if (compileObjects("", bad[i], error)) fail_msg("compiled: %s", bad[i]);
    const char* why = i == 2 ? "unrecognized name 's'" : "geom1='': two geoms or two bodies must";
    if (!strstr(error, why)) fail_msg("%s", error);
  }
}

// Parts of the output, in their own order, however they are listed.
static void testOutputs(void) {
  // no smoothing is one, too
  const char* sharp = NAMES("geom", "bar", "can") "<config key='smoothing' value='0'/>";
  char none[1000] = "";
  mjModel* sharpModel = compile(&sharp, 1, none);
  if (!sharpModel) fail_msg("%s", none);
  mj_deleteModel(sharpModel);
  static const struct {
    const char* text;
    int adr[10], dim;
  } cases[] = {{"", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10},
               {" ,", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10},
               {"normal", {1, 2, 3}, 3},                      {"point1", {4, 5, 6}, 3},
               {" point2,normal ", {1, 2, 3, 7, 8, 9}, 6},    {"distance", {0}, 1},
               {"point1 distance distance", {0, 4, 5, 6}, 4}, {",point2", {7, 8, 9}, 3}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
    char text[300], error[1000] = "";
    snprintf(text, sizeof(text), NAMES("geom", "bar", "can") "<config key='output' value='%s'/>",
             cases[i].text);
    const char* config[] = {text, NAMES("geom", "bar", "can")};
    mjModel* m = compile(config, 2, error);
    if (!m) fail_msg("%s", error);
    mjData* d = mj_makeData(m);
    shake(m, d, 3);
    mj_forward(m, d);
    assert_int_equal(m->sensor_dim[1], cases[i].dim);
    assert_int_equal(m->sensor_dim[2], 10);
    const mjtNum *part = d->sensordata + m->sensor_adr[1], *all = d->sensordata + m->sensor_adr[2];
    for (int k = 0; k < cases[i].dim; k++) assert_true(part[k] == all[cases[i].adr[k]]);
    int nv = (int)m->nv;
    mjtNum* jac = calloc(20 * (size_t)nv, sizeof(*jac));
    assert_non_null(jac);
    assert_int_equal(djm_gapSensor(jac, m, d, 1), DJ_OK);
    assert_int_equal(djm_gapSensor(jac + 10 * nv, m, d, 2), DJ_OK);
    for (int k = 0; k < cases[i].dim; k++) {
      assert_memory_equal(jac + k * nv, jac + (10 + cases[i].adr[k]) * nv, nv * sizeof(*jac));
    }
    free(jac);
    djt_deleteEngine(m, d);
  }
}

static char warning[1000];
static void onWarning(const char* text) { snprintf(warning, sizeof(warning), "%s", text); }

// An instance that cannot be made says why, and leaves nothing behind of itself.
// Two different objects of the model are expected.
static void refuseNumbers(void) {
  static const int id[][2] = {{-1, 0}, {0, -1}, {1, 1}, {2, 0}, {0, 2}};
  mjModel* m = djt_compile("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body>"
                           "<body pos='1 0 0'><freejoint/><geom size='.1'/></body>"
                           "</worldbody></mujoco>");
  djError err;
  djmGap* gap;
  for (int k = 0; k < 5; k++) {
    int body = k > 2;   // bodies have one more
    gap = (djmGap*)&err;
    assert_int_equal(djm_makeGap(&gap, m, mjOBJ_GEOM, id[k][0], id[k][1], 0, &err), DJ_INVALID);
    assert_null(gap);
    assert_string_equal(err.text, "two geoms or two bodies are expected");
    int first = id[k][0] + (body && id[k][0]), second = id[k][1] + (body && id[k][1]);
    assert_int_equal(djm_makeGap(&gap, m, mjOBJ_BODY, first, second, 0, &err), DJ_INVALID);
    assert_int_equal(djm_makeGap(&gap, m, mjOBJ_SITE, first, second, 0, &err), DJ_INVALID);
  }
  assert_int_equal(djm_makeGap(&gap, m, mjOBJ_GEOM, 1, 0, 0, &err), DJ_OK);
  djm_deleteGap(gap);
  mj_deleteModel(m);
}

static void testNotMade(void) {
  refuseNumbers();
  mjModel* m = load();
  mjData* d = mj_makeData(m);
  const mjpPlugin* plugin = djm_gapPlugin();
  assert_non_null(djm_kept(d, 0));
  int bar = mj_name2id(m, mjOBJ_GEOM, "bar");
  m->geom_type[bar] = mjGEOM_HFIELD;
  void (*previous)(const char*) = mju_user_warning;
  mju_user_warning = onWarning;
  warning[0] = '\0';
  assert_int_equal(plugin->init(m, d, 0), -1);
  mju_user_warning = previous;
  assert_true(strncmp(warning, "dijoco.gap: ", 12) == 0 && strlen(warning) > 20);
  assert_null(djm_kept(d, 0));
  m->geom_type[bar] = mjGEOM_BOX;
  assert_int_equal(plugin->init(m, d, 0), 0);
  assert_non_null(djm_kept(d, 0));
  mj_forward(m, d);
  assert_true(dataOf(m, d, 0)[0] > 0);
  djt_deleteEngine(m, d);
}

// Bad configurations end compilation with a message that names the key or the name.
static void testRefused(void) {
  static const struct {
    const char *config, *word;
  } bad[] = {
      {NAMES("geom", "bar", "nobody"), "geom2='nobody': there is no such name"},
      {NAMES("body", "nobody", "arm"), "body1='nobody': there is no such name"},
      {NAMES("geom", "bar", "bar"), "geom2='bar': the gap of one thing to itself"},
      {NAMES("geom", "floor", "floor"), "geom2='floor': the gap of one thing to itself"},
      {NAMES("body", "arm", "arm"), "body2='arm': the gap of one thing to itself"},
      {"<config key='geom1' value='bar'/>", "geom2='': a name is expected"},
      {"<config key='body2' value='arm'/>", "body1='': a name is expected"},
      {"", "geom1='': two geoms or two bodies must be named"},
      {"<config key='geom1' value='bar'/><config key='body2' value='free'/>",
       "geom1='': either geoms or bodies, not both"},
      {NAMES("geom", "bar", "can") "<config key='smoothing' value='wide'/>",
       "smoothing='wide': a length >= 0 is expected"},
      {NAMES("geom", "bar", "can") "<config key='smoothing' value='-1'/>",
       "smoothing='-1': a length >= 0 is expected"},
      {NAMES("geom", "bar", "can") "<config key='smoothing' value='inf'/>",
       "smoothing='inf': a length >= 0 is expected"},
      {NAMES("geom", "bar", "can") "<config key='output' value='distanc'/>",
       "output='distanc': distance, normal, point1 and point2 are known"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    char error[1000] = "";
    mjModel* m = compile(&bad[i].config, 1, error);
    if (m) fail_msg("compiled: %s", bad[i].config);
    if (!strstr(error, bad[i].word)) fail_msg("'%s' lacks %s", error, bad[i].word);
  }
  char error[1000] = "";
  const char* unknown = NAMES("geom", "bar", "can") "<config key='wrong' value='1'/>";
  assert_null(compile(&unknown, 1, error));
  mjModel* m = load();
  mjData* d = mj_makeData(m);
  mjtNum value[10];
  djError err;
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_GEOM, 0, 99, -1, &err), DJ_INVALID);
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_SITE, 0, 1, -1, &err), DJ_INVALID);
  assert_int_equal(djm_gap(value, NULL, m, d, mjOBJ_GEOM, 0, 1, NAN, &err), DJ_INVALID);
  assert_true(err.text[0]);
  djt_deleteEngine(m, d);
}

static int setup(void** state) {
  (void)state;
  mjp_registerPlugin(djm_gapPlugin());
  return 0;
}

DJT_MAIN_IN(setup, NULL, testValue, testDerivative, testTransition, testEngine, testObjects,
            testRefused, testShared, testNotMade, testOutputs)
