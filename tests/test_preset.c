// Presets of contact: what they set, that what is given is stronger, and files.

#include "common/json.h"
#include "common/same_run.h"
#include "common/test.h"
#include "model/kernel_setting.h"

#include <dijoco/dijoco.h>

// A ball that falls and rolls.
static const char kScene[] =
    "{'dijoco_model':1%s,'bodies':[{'name':'world'},"
    "{'name':'ball','parent':0,'pos':[0,0,0.12],'mass':1,'inertia':[0.004,0.004,0.004]}],"
    "'joints':[{'type':'free','body':'ball'}],"
    "'geoms':[{'type':'plane','body':'world','size':[0,0,1]},"
    "{'name':'skin','type':'sphere','body':'ball','size':[0.1,0,0]%s}]}";

static djModel* tryLoad(const char* option, const char* geom, djError* err) {
  char text[1000], more[300] = "";
  djModel* m = NULL;
  if (option[0]) snprintf(more, sizeof more, ",'option':{%s}", option);
  snprintf(text, sizeof text, kScene, more, geom);
  djStatus status = dj_loadModelText(&m, djt_json(text), err);
  assert_true((status == DJ_OK) == (m != NULL));
  return m;
}

static djModel* load(const char* option) {
  djError err;
  djModel* m = tryLoad(option, "", &err);
  if (!m) fail_msg("%s: %s", option, err.text);
  return m;
}

// Settings in force but for the preset's own row, and a run, to the last bit.
static void assertSame(const djModel* a, const djModel* b) {
  assert_memory_equal(a->kernel_setting + 1, b->kernel_setting + 1,
                      sizeof(double) * (size_t)(a->nkernelsetting - 1));
  djt_assertSameRuns(a, b);
}

// What a preset sets, written out: "\"support_scale\":10,...".
static void writeOut(char text[300], const djPreset* preset) {
  size_t n = 0;
  const djSetting* s;
  text[0] = 0;
  for (int i = 0; i < DJ_MAX_PRESET && (s = dj_contactSetting(NULL, i)); i++) {
    if (preset->value[i] == 0) continue;
    n += (size_t)snprintf(text + n, 300 - n, "%s'%s':%.17g", n ? "," : "", s->name,
                          preset->value[i]);
  }
}

// Rows are whole, and set what has no rule of its own.
static void testRows(void) {
  const djSetting *row = dj_findSetting("preset", 0), *s;
  const djPreset* preset;
  int n = 0, model;
  assert_ptr_equal(dj_contactSetting(&model, 0), row);
  for (; (preset = dj_preset(n)); n++) {
    int set = 0;
    assert_string_equal(dj_choiceName(row, n), preset->name);
    assert_true(strlen(preset->help) > 10);
    for (int i = 0; i < DJ_MAX_PRESET; i++) {
      if (preset->value[i] == 0) continue;
      s = dj_contactSetting(&model, i);
      assert_non_null(s);
      assert_int_equal(model, 0);
      assert_true(s->automatic && !dj_kernelRules(0)[i].rule);
      assert_true(dj_settingInRange(s, preset->value[i]));
      set++;
    }
    assert_true((set == 0) == (n == 0));
  }
  assert_true(n >= 2);
  assert_string_equal(dj_preset(0)->name, "none");
  assert_null(dj_preset(-1));
}

// A preset is what it sets, written out; as a key of the option and in an object of contact.
static void testValues(void) {
  djModel* plain = load("");
  const djPreset* preset;
  for (int i = 0; (preset = dj_preset(i)); i++) {
    char by_hand[300], option[100], object[100];
    writeOut(by_hand, preset);
    snprintf(option, sizeof option, "'preset':'%s'", preset->name);
    snprintf(object, sizeof object, "'contact':{'preset':'%s'}", preset->name);
    djModel *a = load(by_hand), *b = load(option), *c = load(object);
    assertSame(a, b);
    assertSame(a, c);
    assert_int_equal(c->opt.preset, i);
    assert_true((a->contact.support == plain->contact.support) == (i == 0));
    double eps = plain->contact.friction_eps * a->contact.friction_eps_scale;
    assert_true(fabs(a->contact.friction_eps - eps) <= 1e-12 * eps);
    dj_deleteModel(a);
    dj_deleteModel(b);
    dj_deleteModel(c);
  }
  dj_deleteModel(plain);
}

// What is given is stronger, be it the default itself; also later, and the preset can be taken
// back.
static void testStronger(void) {
  djError err;
  djModel *smooth = load("'preset':'smooth'"), *plain = load("");
  djModel* one = load("'preset':'smooth','support_scale':1");
  djModel* given = load("'contact':{'friction_eps':1e-9,'preset':'smooth'}");
  assert_true(one->contact.support_scale == 1);
  assert_true(one->contact.support == plain->contact.support);
  assert_true(one->contact.stiffness_scale == smooth->contact.stiffness_scale);
  assert_true(given->contact.friction_eps == 1e-9);
  assert_true(given->contact.support == smooth->contact.support);
  djOption option = smooth->opt;
  option.support_scale = 1;
  assert_int_equal(dj_setOption(smooth, &option, &err), DJ_OK);
  assertSame(smooth, one);
  option.support_scale = -1;
  option.preset = 0;
  assert_int_equal(dj_setOption(smooth, &option, &err), DJ_OK);
  assertSame(smooth, plain);
  option.preset = 77;
  djt_refusedWith(DJ_INVALID, dj_setOption(smooth, &option, &err), err, "preset");
  dj_deleteModel(smooth);
  dj_deleteModel(plain);
  dj_deleteModel(one);
  dj_deleteModel(given);
}

static void testRefused(void) {
  static const struct {
    const char *option, *geom, *words;
  } row[] = {
      {"'preset':'smoth'", "",
       "option: preset: unknown value 'smoth', expected one of none, smooth"},
      {"'contact':{'preset':'smoth'}", "", "contact: preset: unknown value 'smoth'"},
      {"'contact':{'colour':1}", "", "contact: unknown key 'colour'"},
      {"'contact':{'preset':'smooth'},'preset':'none'", "", "option: preset: is given twice"},
      {"", ",'preset':'smooth'", "geom 'skin': preset: is of the scene"},
      {"", ",'support_scale':2", "geom 'skin': support_scale: is of the scene"},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    djError err = {""};
    assert_null(tryLoad(row[i].option, row[i].geom, &err));
    if (!strstr(err.text, row[i].words)) fail_msg("%s, not %s", err.text, row[i].words);
  }
}

// Saved in short and read again; a changed parameter stays.
static void testSaved(void) {
  djError err;
  const char* path = "preset_test.json";
  djModel *m = load("'preset':'smooth','stiffness_scale':0.01"), *again;
  for (int pass = 0; pass < 2; pass++) {
    djParam param;
    double support = 0.7 * m->contact.support;
    if (pass == 1) {
      assert_int_equal(dj_paramId(&param, m, "contact/support", &err), DJ_OK);
      assert_int_equal(dj_setParam(m, &param, &support, &err), DJ_OK);
    }
    assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
    if (dj_loadModel(&again, path, &err) != DJ_OK) fail_msg("%s", err.text);
    assert_int_equal(again->opt.preset, m->opt.preset);
    assert_true((again->opt.support_scale < 0) == (pass == 0));
    if (pass == 0) assertSame(m, again);
    djt_assertSameRuns(m, again);   // geoms keep their skins
    dj_deleteModel(again);
    remove(path);
  }
  dj_deleteModel(m);
}

DJT_MAIN(testRows, testValues, testStronger, testRefused, testSaved)
