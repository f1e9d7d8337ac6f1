// The tables of losses, parameters, maps and optimizers: every row and key through tasks, and names
// with patterns.

#include "common/json.h"
#include "common/make_model.h"
#include "common/message.h"
#include "common/sample_model.h"
#include "common/test.h"
#include "model/kernel_setting.h"
#include "model/param.h"

// A task with more keys; NULL: err says why.
static djTask* load(djError* err, const char* format, ...) __attribute__((format(printf, 2, 3)));
static djTask* load(djError* err, const char* format, ...) {
  char text[2500] = "{'scene':'s','horizon':4,";
  size_t n = strlen(text);
  va_list args;
  va_start(args, format);
  n += (size_t)vsnprintf(text + n, sizeof text - n, format, args);
  va_end(args);
  snprintf(text + n, sizeof text - n, "%s}", strstr(text, "'loss'") ? "" : ",'loss':[]");
  djTask* task = NULL;
  djStatus status = dj_loadTaskText(&task, djt_json(text), NULL, err);
  assert_true((status == DJ_OK) == (task != NULL));
  return task;
}

static void expect(const djError* err, const char* part) {
  if (!strstr(err->text, part)) fail_msg("'%s' does not say '%s'", err->text, part);
}

static const djSetting* optimizerKey(const char* name) {
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    if (!strcmp(key->name, name)) return key;
  }
  return NULL;
}

// A value that a key takes and that is not its default.
static double allowed(const djSetting* key) {
  if (key->kind == DJ_SETTING_CHOICE) return key->choice[1].value;
  if (key->kind != DJ_SETTING_WHOLE) return 0.375;
  return key->below > 0 ? key->below - 1 : 7;
}

// ---- rows -------------------------------------------------------------------------------------

typedef const djEntry* (*Table)(int);

static int size(Table table) {
  int n = 0;
  for (; table(n); n++) {
    const djEntry* e = table(n);
    assert_true(e->name && e->name[0] && e->unit && e->help && e->help[0]);
    for (int k = 0; k < n; k++) assert_string_not_equal(e->name, table(k)->name);
  }
  assert_null(table(-1));
  assert_null(table(n + 1));
  return n;
}

static void testRows(void) {
  assert_int_equal(size(dj_lossEntry), DJ_NLOSS);
  assert_true(size(dj_parameterEntry) >= 27);
  int nmap = size(dj_mapEntry);
  assert_true(nmap >= 6 && size(dj_optimizerEntry) >= 3);
  for (int i = 0; i < nmap; i++) {
    int n = 0;
    while (dj_mapEntry(i)->key[n].name) n++;
    assert_true(n <= DJ_NMAPARG);
  }
  // Every key of an optimizer exists, and covers its field.
  const djSetting* key;
  bool covered[sizeof(djOptimizer)] = {false};
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    int bytes = key->kind == DJ_SETTING_REAL ? 8 : 4;
    for (int k = 0; k < bytes; k++) {
      assert_false(covered[key->offset + (size_t)k]);
      covered[key->offset + (size_t)k] = true;
    }
  }
  for (int i = 0; dj_optimizerEntry(i); i++) {
    for (const djKey* k = dj_optimizerEntry(i)->key; k->name; k++) {
      djOptimizer o = dj_defaultOptimizer();
      const djSetting* row = optimizerKey(k->name);
      assert_non_null(row);
      assert_int_equal(dj_setOptimizer(&o, k->name, allowed(row), NULL), DJ_OK);
    }
  }
}

// ---- losses -----------------------------------------------------------------------------------

// A value of a key, as JSON.
static const char* valueOf(char text[200], const djKey* k) {
  static const char* const elements[DJ_NOBJ] = {"box", "slide", "foot", "cube", "tip", "motor", ""};
  size_t n = 0;
  if (strcmp(k->name, "index") == 0) return "[0,1,2]";
  switch (k->holds) {
    case DJ_HOLDS_WHOLE: return "2";
    case DJ_HOLDS_ROWS: return "[[-9,-9,-9],[9,9,9]]";
    case DJ_HOLDS_ELEMENT:
      snprintf(text, 200, "'%s'", elements[k->object]);
      return text;
    case DJ_HOLDS_NUMBERS: break;
  }
  for (int i = 0; i < (k->size ? k->size : 3); i++) {
    n += (size_t)snprintf(text + n, 200 - n, "%s%g", i ? "," : "[", 0.25 * (i + 1));
  }
  snprintf(text + n, 200 - n, "]");
  return text;
}

static bool isSecond(const djKey* k) { return k->name[strlen(k->name) - 1] == '2'; }

// All keys of a loss but those that another one stands for, and but one.
static void lossText(char out[1000], const djEntry* e, const char* without, const char* wrong) {
  bool named[2] = {false, false};   // of the first element, of the second
  size_t n = (size_t)snprintf(out, 1000, "{'type':'%s'", e->name);
  for (const djKey* k = e->key; k->name; k++) {
    char value[200];
    bool element = k->holds == DJ_HOLDS_ELEMENT, bad = wrong && strcmp(k->name, wrong) == 0;
    bool* one = &named[isSecond(k)];
    if ((element && *one && !bad) || (without && strcmp(k->name, without) == 0)) continue;
    *one = *one || element;
    n += (size_t)snprintf(out + n, 1000 - n, ",'%s':%s", k->name,
                          bad ? "{'x':1}" : valueOf(value, k));
  }
  snprintf(out + n, 1000 - n, "}");
}

static void testLosses(void) {
  djModel* m = djt_sampleModel(NULL);
  djError err;
  for (int i = 0; dj_lossEntry(i); i++) {
    const djEntry* e = dj_lossEntry(i);
    char text[1000];
    lossText(text, e, NULL, NULL);
    djTask* task = load(&err, "'loss':[%s]", text);
    if (!task) fail_msg("%s: %s", text, err.text);
    const djLossTerm* t = &task->loss[0].term;
    assert_int_equal(t->type, i);
    assert_int_equal(t->when, strcmp(e->name, "effort") == 0 ? DJ_WHEN_RUNNING : DJ_WHEN_FINAL);
    djProblem* p;
    if (dj_resolveTask(&p, task, m, &err) != DJ_OK) fail_msg("%s", err.text);
    for (const djKey* k = e->key; k->name; k++) {
      if (strcmp(k->name, "target") != 0 || k->size == 4) continue;
      for (int c = 0; c < k->size; c++) assert_true(t->target[c] == 0.25 * (c + 1));
    }
    dj_deleteProblem(p);
    dj_deleteTask(task);
    for (const djKey* k = e->key; k->name; k++) {
      lossText(text, e, NULL, k->name);
      assert_null(load(&err, "'loss':[%s]", text));
      expect(&err, "loss[0]");
      if (!strstr(err.text, "more than one")) expect(&err, k->name);
      lossText(text, e, k->name, NULL);
      task = load(&err, "'loss':[%s]", text);
      int alike = 0;   // keys of which one is required
      for (const djKey* j = e->key; j->name; j++) {
        bool element = j->holds == DJ_HOLDS_ELEMENT && k->holds == DJ_HOLDS_ELEMENT;
        alike += element && isSecond(j) == isSecond(k);
      }
      if (k->required && alike < 2) {
        assert_null(task);
        expect(&err, k->name);
      }
      dj_deleteTask(task);
    }
    snprintf(text, sizeof text, "{'type':'%s','colour':1}", e->name);
    assert_null(load(&err, "'loss':[%s]", text));
    expect(&err, "unknown key 'colour'");
  }
  assert_null(load(&err, "'loss':[{'type':'luck'}]"));
  expect(&err, "loss[0]: type: unknown value 'luck', expected one of position, ");
  for (int i = 0; dj_lossEntry(i); i++) expect(&err, dj_lossEntry(i)->name);
  dj_deleteModel(m);
}

// ---- maps -------------------------------------------------------------------------------------

static void testMaps(void) {
  djError err;
  for (int i = 0; dj_mapEntry(i); i++) {
    const djEntry* e = dj_mapEntry(i);
    // Without the key, with it, with a wrong value.
    for (const djKey* k = e->key; k->name; k++) {
      char text[1000], value[200];
      size_t n = (size_t)snprintf(text, sizeof text, "{'type':'%s','from':'z'", e->name);
      for (const djKey* other = e->key; other->name; other++) {
        if (other == k) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, ",'%s':%s", other->name,
                              valueOf(value, other));
      }
      djTask* task = load(&err, "'maps':[%s}]", text);
      assert_true(k->required == !task);
      if (!task) expect(&err, k->name);
      if (task) assert_false(task->map[0].arg[k - e->key].given);
      dj_deleteTask(task);
      task = load(&err, "'maps':[%s,'%s':%s}]", text, k->name, valueOf(value, k));
      if (!task) fail_msg("%s", err.text);
      assert_string_equal(task->map[0].type, e->name);
      assert_true(task->map[0].arg[k - e->key].given);
      dj_deleteTask(task);
      assert_null(load(&err, "'maps':[%s,'%s':{'x':1}}]", text, k->name));
      expect(&err, k->name);
    }
  }
  assert_null(load(&err, "'maps':[{'type':'luck','from':'z'}]"));
  expect(&err, "maps[0]: type: unknown map 'luck', expected one of affine, ");
  for (int i = 0; dj_mapEntry(i); i++) expect(&err, dj_mapEntry(i)->name);
}

// ---- optimizers -------------------------------------------------------------------------------

// The entry of a type has a key.
static bool has(const djEntry* e, const char* name) {
  const djKey* key = e->key;
  while (key->name && strcmp(key->name, name) != 0) key++;
  return key->name;
}

// Keys are refused where their type is not, in tasks too; those of no type are of all.
static void testKeysOfTypes(void) {
  djError err;
  const djSetting* key;
  const djEntry *e, *other;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    int users = 0;
    for (int t = 0; (e = dj_optimizerEntry(t)); t++) users += has(e, key->name);
    for (int t = 0; (e = dj_optimizerEntry(t)); t++) {
      bool used = users == 0 || has(e, key->name);
      djOptimizer o = dj_defaultOptimizer();
      assert_int_equal(dj_setOptimizerType(&o, e->name, &err), DJ_OK);
      assert_int_equal(dj_checkOptimizerKey(&o, key->name, &err), used ? DJ_OK : DJ_INVALID);
      for (int k = 0; !used && (other = dj_optimizerEntry(k)); k++) {
        if (other == e || has(other, key->name)) expect(&err, other->name);
      }
      char text[40];
      const char* quote = key->choice ? "'" : "";
      snprintf(text, sizeof text, "%g", allowed(key));
      djTask* task =
          load(&err, "'optimizer':{'%s':%s%s%s,'type':'%s'}", key->name, quote,
               key->choice ? dj_choiceName(key, (int)allowed(key)) : text, quote, e->name);
      assert_true((task != NULL) == used);
      if (!used) expect(&err, key->name);
      dj_deleteTask(task);
    }
  }
  djOptimizer o = dj_defaultOptimizer();
  assert_int_equal(dj_checkOptimizerKey(&o, "anything", &err), DJ_OK);
  assert_int_equal(dj_checkOptimizerKey(&o, NULL, &err), DJ_INVALID);
  assert_int_equal(dj_checkOptimizerKey(NULL, "rate", &err), DJ_INVALID);
  o.type = "luck";
  assert_int_equal(dj_checkOptimizerKey(&o, "rate", &err), DJ_INVALID);
  expect(&err, "luck");
}

static void testOptimizers(void) {
  djError err;
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) {
    double good = allowed(key);
    const char* format =
        key->choice ? "'optimizer':{'%s':'%s','type':'%s'}" : "'optimizer':{'%s':%s,'type':'%s'}";
    char text[32];
    snprintf(text, sizeof text, "%g", good);
    djOptimizer o = dj_defaultOptimizer();
    for (int k = 0; dj_checkOptimizerKey(&o, key->name, NULL) < 0; k++) {
      o.type = dj_optimizerEntry(k)->name;
    }
    djTask* task = load(&err, format, key->name,
                        key->choice ? dj_choiceName(key, (int)good) : text, o.type);
    if (!task) fail_msg("%s", err.text);
    assert_int_equal(dj_setOptimizer(&o, key->name, good, &err), DJ_OK);
    const djSetting* other;
    for (int k = 0; (other = dj_optimizerKey(k)); k++) {
      double wanted = k == i ? good : other->standard[0];
      assert_true(dj_getOptimizer(&task->optimizer, other) == wanted);
      assert_true(dj_getOptimizer(&o, other) == wanted);
    }
    dj_deleteTask(task);
    const double bad[] = {-1, key->zero || key->choice ? -2 : 0, key->below > 0 ? key->below : -3,
                          key->kind == DJ_SETTING_WHOLE ? 1.5 : -4};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
      assert_null(load(&err, "'optimizer':{'%s':%g}", key->name, bad[k]));
      expect(&err, key->name);
      assert_int_equal(dj_setOptimizer(&o, key->name, bad[k], &err), DJ_INVALID);
      expect(&err, key->name);
      assert_true(dj_getOptimizer(&o, key) == good);
    }
    assert_int_equal(dj_setOptimizer(&o, key->name, NAN, &err), DJ_INVALID);
  }
  for (int i = 0; dj_optimizerEntry(i); i++) {
    djTask* task = load(&err, "'optimizer':{'type':'%s'}", dj_optimizerEntry(i)->name);
    djOptimizer o = dj_defaultOptimizer();
    assert_string_equal(task->optimizer.type, dj_optimizerEntry(i)->name);
    assert_int_equal(dj_setOptimizerType(&o, dj_optimizerEntry(i)->name, &err), DJ_OK);
    assert_string_equal(o.type, dj_optimizerEntry(i)->name);
    assert_true(dj_isOptimizer(o.type));
    dj_deleteTask(task);
  }
  djOptimizer o = dj_defaultOptimizer();
  assert_int_equal(dj_setOptimizer(&o, "speed", 1, &err), DJ_INVALID);
  expect(&err, "control_radius");
  assert_int_equal(dj_setOptimizerType(&o, "luck", &err), DJ_INVALID);
  assert_null(load(&err, "'optimizer':{'type':'luck'}"));
  for (int i = 0; dj_optimizerEntry(i); i++) expect(&err, dj_optimizerEntry(i)->name);
}

// ---- parameters -------------------------------------------------------------------------------

// "body/N/mass" with an element's name.
static void nameOf(char out[100], const char* entry, const char* element) {
  const char* slash = strstr(entry, "/N/");
  if (!slash) snprintf(out, 100, "%s", entry);
  else snprintf(out, 100, "%.*s/%s%s", (int)(slash - entry), entry, element, slash + 2);
}

// Numbers that every rule takes, other than those that are there.
static void changed(double* value, const djModel* m, const djParam* p) {
  dj_getParam(value, m, p);
  for (int k = 0; k < p->nvalue; k++) value[k] = 1.25 * value[k] + (p->nvalue == 1 ? 0.0625 : 0);
  if (p->field == DJ_FIELD_GEOM_SHARPNESS) {   // at least 1
    value[0] = fmax(value[0], 1.25);
    return;
  }
  bool unit = p->ntangent == 3 && p->nvalue == 4;
  double sum = 0;
  for (int k = 0; k < 4 && unit; k++) value[k] += 0.25 * k, sum += value[k] * value[k];
  for (int k = 0; k < 4 && unit; k++) value[k] /= sqrt(sum);
  if (p->nvalue == 1 && fabs(value[0]) >= 1) value[0] /= 4 * fabs(value[0]);
  if (p->field != DJ_FIELD_SETTING) return;
  int kernel;
  value[0] = fmax(value[0], dj_settingOfSlot(&kernel, dj_settingParam(p->id))->least);
}

static void vectorText(char out[1000], const double* value, int n) {
  size_t used = 0;
  for (int k = 0; k < n; k++) {
    used += (size_t)snprintf(out + used, 1000 - used, "%s%.17g", k ? "," : "[", value[k]);
  }
  snprintf(out + used, 1000 - used, "]");
}

static djModel* motorModel(void) {
  return djt_modelOf("{'dijoco_model':1,'bodies':[{'name':'world'},{'name':'box','mass':1,'inertia':"
                     "[1,1,1]}],'joints':[{'name':'slide','body':'box','type':'slide','axis':"
                     "[1,0,0]}],'actuators':[{'name':'motor','joint':'slide','gain':'dcmotor',"
                     "'bias':'dcmotor','gainprm':[2,1],'motorprm':[1,1,1,1,1,1,1]}]}");
}

static void testParameters(void) {
  djError err;
  for (int i = 0; dj_parameterEntry(i); i++) {
    const char* entry = dj_parameterEntry(i)->name;
    const bool drive = strcmp(entry, "actuator/N/motorprm") == 0;   // of motors alone
    djModel* m = drive ? motorModel() : djt_sampleModel(NULL);
    char name[100], text[1000], back[100];
    djParam p, again;
    const char* elements[] = {"box", "slide", "foot", "cube", "tip", "motor", "rope", "cart",
                              "pair", "gears", "net", "line"};
    int status = -1;
    for (int k = 0; k < 11 && status < 0; k++) {
      const bool rope = strcmp(entry, "flex/N/edgestiffness") == 0;   // of dim 1
      nameOf(name, entry, elements[rope ? 11 : k]);
      status = dj_paramId(&p, m, name, &err);
    }
    if (status < 0) fail_msg("%s", err.text);
    // settings of kernels are elements of one field
    assert_int_equal(p.field, i < DJ_FIELD_SETTING ? i : DJ_FIELD_SETTING);
    if (i >= DJ_FIELD_SETTING) assert_int_equal(p.id, i - DJ_FIELD_SETTING);
    assert_string_equal(dj_paramName(back, sizeof back, m, &p), name);
    assert_true(dj_paramNameSize(m, &p) > strlen(name));
    assert_int_equal(dj_matchParams(&again, 1, m, name, &err), 1);
    assert_memory_equal(&p, &again, sizeof p);
    double value[40], got[40], before[40];
    changed(value, m, &p);
    dj_getParam(before, m, &p);
    vectorText(text, value, p.nvalue);
    djTask* task = load(&err, "'set':{'%s':%s},'variables':[{'name':'%s'}]", name, text, name);
    if (!task || dj_applySet(m, task, &err) != DJ_OK) fail_msg("%s", err.text);
    dj_getParam(got, m, &p);
    bool differs = false;
    for (int k = 0; k < p.nvalue; k++) {
      // unit vectors stay so
      bool axis = strstr(name, "/axis") != NULL;
      if (!axis && fabs(got[k] - value[k]) > 1e-15) fail_msg("%s[%d]", name, k);
      differs = differs || got[k] != before[k];
    }
    bool zero = true;
    for (int k = 0; k < p.nvalue; k++) zero = zero && fabs(before[k]) < 1e-300;
    djt_failIf(!differs && !strstr(name, "/axis") && !(zero && p.nvalue > 1), "%s: %g %g %g", name,
               before[0], before[1], before[2]);
    djProblem* problem;
    if (dj_resolveTask(&problem, task, m, &err) != DJ_OK) fail_msg("%s", err.text);
    assert_int_equal(problem->variable[0].nvalue, p.nvalue);
    assert_int_equal(problem->variable[0].ntangent, p.ntangent);
    dj_deleteProblem(problem);
    dj_deleteTask(task);
    // Wrong sizes and numbers.
    for (int k = 0; k < 2; k++) {
      if (k == 0) value[p.nvalue] = 1;
      else value[0] = 1e301;
      vectorText(text, value, p.nvalue + (k == 0));
      task = load(&err, "'set':{'%s':%s}", name, text);
      bool unit = strstr(name, "quat") || strstr(name, "axis");   // may have any length
      djStatus refused = dj_applySet(m, task, &err);
      if (!(k == 1 && (unit || strstr(name, "springref") || strstr(name, "/range")))) {
        assert_int_equal(refused, DJ_INVALID);
        const char* field = strrchr(name, '/') + 1;
        if (!strstr(err.text, name)) expect(&err, field);
      }
      dj_deleteTask(task);
    }
    dj_deleteModel(m);
  }
}

// ---- patterns ---------------------------------------------------------------------------------

static void testMatch(void) {
  djModel* m = djt_sampleModel(NULL);
  static const struct {
    const char* pattern;
    const char* names;    // that it stands for
  } list[] = {
      {"geom/fo*t/size", "geom/foot/size "},
      {"geom/f*/size", "geom/floor/size geom/foot/size "},
      {"mesh/*/vert", "mesh/tetra/vert mesh/cube/vert "},
      {"mesh/*t*r*/vert", "mesh/tetra/vert "},
      {"mesh/**e*/vert", "mesh/tetra/vert mesh/cube/vert "},
      {"site/*/pos", "site/tip/pos site/#1/pos "},
      {"joint/robot/*/damping", "joint/robot/hinge/damping "},
      {"joint/*hinge/damping", "joint/robot/hinge/damping "},
      {"joint/*e*/armature",
       "joint/slide/armature joint/robot/hinge/armature joint/free/armature "},
      {"option/gravity", "option/gravity "},
      {"body/#1/mass", "body/cart/mass "},
      {"body/*/mass", "body/cart/mass body/robot/pole/mass body/box/mass body/target/mass "
                      "body/#5/mass "},
      {"*/f*/*size", "geom/floor/size geom/foot/size "},
      {"joint/slide/*",
       "joint/slide/pos joint/slide/axis joint/slide/damping joint/slide/stiffness "
       "joint/slide/springref joint/slide/armature joint/slide/frictionloss joint/slide/range "},
      {"site/*", "site/tip/pos site/#1/pos "},
      {"*/gravity", "option/gravity "},
      {"contact/s*", "contact/support contact/stiffness "},
  };
  djError err;
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    djParam param[20];
    char names[1000] = "";
    int n = dj_matchParams(param, 20, m, list[i].pattern, &err);
    if (n < 0) fail_msg("%s", err.text);
    for (int k = 0; k < n; k++) {
      char name[100];
      dj_paramName(name, sizeof name, m, &param[k]);
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", name);
    }
    assert_string_equal(names, list[i].names);
    assert_int_equal(dj_matchParams(NULL, 0, m, list[i].pattern, &err), n);
    param[0].id = -5;
    assert_int_equal(dj_matchParams(param, 0, m, list[i].pattern, &err), n);
    assert_int_equal(param[0].id, -5);
  }
  static const char* const wrong[][2] = {
      {"mesh/jaw_*/vert",
       "'mesh/jaw_*/vert': no mesh is called like that, there are 'tetra', 'cube'"},
      {"geom/*x*/size", "'geom/*x*/size': no geom is called like that"},
      {"geom/*/colour", "'geom/*/colour': there is no parameter 'colour', expected one of"},
      {"planet/*/mass", "there is no parameter 'planet/*/mass'"},
      {"geom/no/size", "'geom/no/size': there is no such geom"},
      {"mesh*/vert", "there is no parameter 'mesh*/vert'"},
      {"mesh/tetra*be/vert", "no mesh is called like that"},
      {"geom/f*/points", "'geom/f*/points': no geom that is called like that has points"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_true(dj_matchParams(NULL, 0, m, wrong[i][0], &err) < 0);
    expect(&err, wrong[i][1]);
  }
  // all of them: the sums of all kinds
  int all = 0;
  static const char* const kinds[] = {"body/*",   "joint/*",    "geom/*",   "mesh/*", "hfield/*",   "site/*",
                                      "tendon/*", "actuator/*", "option/*", "contact/*",
                                      "pair/*",   "equality/*", "flex/*"};
  for (int k = 0; k < 13; k++) all += (int)fmax(dj_matchParams(NULL, 0, m, kinds[k], &err), 0);
  assert_true(all > 50 && dj_matchParams(NULL, 0, m, "*", &err) == all);
  assert_true(dj_matchParams(NULL, 0, NULL, "geom/*/size", &err) < 0);
  assert_true(dj_matchParams(NULL, 0, m, NULL, &err) < 0);
  dj_deleteModel(m);
}

// An element that is called like a pattern is meant by it.
static void testStarInName(void) {
  djSample sample;
  djError err;
  djt_fillSample(&sample);
  sample.geom[1].name = "f*";
  djModel* m = djt_makeModel(&sample.def);
  djParam p[5];
  assert_int_equal(dj_matchParams(p, 5, m, "geom/f*/size", &err), 1);
  assert_int_equal(p[0].id, 1);
  djTask* task = load(&err, "'variables':[{'name':'geom/f*/size'}]");
  djProblem* problem;
  assert_int_equal(dj_resolveTask(&problem, task, m, &err), DJ_OK);
  assert_int_equal(problem->nvariable, 1);
  assert_int_equal(problem->param[0].id, 1);
  dj_deleteProblem(problem);
  dj_deleteTask(task);
  dj_deleteModel(m);
}

// Each becomes a variable of its own, with its own entries and bounds.
static void testVariables(void) {
  djModel* m = djt_sampleModel(NULL);
  djError err;
  djTask* task = load(&err, "'variables':[{'name':'qvel0[joint/*e*]','index':[0],'max':2},"
                            "{'name':'body/*o*/mass','min':0.5,'max':[3]},"
                            "{'name':'option/gravity'}]");
  djProblem* p = NULL;
  if (!task || dj_resolveTask(&p, task, m, &err) != DJ_OK) fail_msg("%s", err.text);
  static const char* const names[] = {"qvel0[joint/slide]", "qvel0[joint/robot/hinge]",
                                      "qvel0[joint/free]", "body/robot/pole/mass", "body/box/mass",
                                      "option/gravity"};
  assert_int_equal(p->nvariable, 6);
  for (int i = 0; i < 6; i++) {
    const djVariable* v = &p->variable[i];
    assert_string_equal(v->name, names[i]);
    assert_int_equal(v->n, i < 5 ? 1 : 3);
    assert_int_equal(v->picked, i < 3);
    assert_true(v->max[0] == (i < 3 ? 2 : i < 5 ? 3 : INFINITY));
    assert_true(v->min[0] == (i == 3 || i == 4 ? 0.5 : -INFINITY));
  }
  dj_deleteProblem(p);
  dj_deleteTask(task);
  static const char* const wrong[][2] = {
      {"{'name':'geom/f*/size','index':[3]}", "'geom/floor/size': index: there is no entry 3"},
      {"{'name':'mesh/*/vert','min':[1,2]}", "'mesh/tetra/vert': min: must be 1 or "},
      {"{'name':'mesh/jaw*/vert'}", "variables: 'mesh/jaw*/vert': no mesh is called like that"},
      {"{'name':'qpos0[joint/x*]'}", "'qpos0[joint/x*]': no joint is called like that"},
      {"{'name':'body/b*/mass'},{'name':'body/box/mass'}", "'body/box/mass' is listed twice"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    task = load(&err, "'variables':[%s]", wrong[i][0]);
    assert_int_equal(dj_resolveTask(&p, task, m, &err), DJ_INVALID);
    expect(&err, wrong[i][1]);
    dj_deleteTask(task);
  }
  dj_deleteModel(m);
}

static void testSet(void) {
  djModel* m = djt_sampleModel(NULL);
  djError err;
  djTask* task = load(&err, "'set':{'geom/*/friction':[0.3,0,0],"
                            "'geom/foot/friction':[0.4,0,0]}");
  assert_int_equal(dj_applySet(m, task, &err), DJ_OK);
  for (int g = 0; g < m->ngeom; g++) {
    bool foot = strcmp(dj_id2name(m, DJ_OBJ_GEOM, g), "foot") == 0;
    assert_true(m->geom_friction[3 * g] == (foot ? 0.4 : 0.3));
  }
  dj_deleteTask(task);
  static const char* const wrong[][2] = {
      {"'body/*o*/mass':[1,2]", "set: 'body/robot/pole/mass': must be 1 numbers"},
      {"'mesh/*/vert':[0,0,0,1,0,0,0,1,0,0,0,1,0.1,0.1,0.1]",
       "set: 'mesh/cube/vert': must be 24 numbers"},
      {"'body/*o*/mass':[-1]", "set: body 'robot/pole': mass must be positive"},
      {"'mesh/jaw*/vert':[1]", "set: 'mesh/jaw*/vert': no mesh is called like that"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    task = load(&err, "'set':{%s}", wrong[i][0]);
    assert_int_equal(dj_applySet(m, task, &err), DJ_INVALID);
    expect(&err, wrong[i][1]);
    dj_deleteTask(task);
  }
  dj_deleteModel(m);
}

// In maps, and a free vector may be called like a pattern.
static void testMapTargets(void) {
  djModel* m = djt_sampleModel(NULL);
  djError err;
  djTask* task = load(&err, "'free':{'z/*':{'value':[1]}},'maps':[{'type':'shared',"
                            "'from':'z/*','to':['body/*o*/mass','joint/s*/damping']}],"
                            "'variables':[{'name':'z/*'}]");
  djProblem* p = NULL;
  djDesign* design;
  if (!task || dj_resolveTask(&p, task, m, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(p->nvariable, 1);
  assert_int_equal(p->nparam, 3);
  assert_int_equal(djd_makeDesign(&design, m, p, &err), DJ_OK);
  const double x[1] = {0.75};
  assert_int_equal(djd_moveDesign(design, x), DJ_OK);
  for (int k = 0; k < 3; k++) {
    double value;
    assert_int_equal(dj_getParam(&value, design->model, &p->param[k]), DJ_OK);
    assert_true(value == 0.75);
  }
  djd_deleteDesign(design);
  dj_deleteProblem(p);
  dj_deleteTask(task);
  task = load(&err, "'free':{'z':{'value':[1]}},'maps':[{'type':'shared',"
                    "'from':'z','to':'mesh/jaw*/vert'}]");
  assert_int_equal(dj_resolveTask(&p, task, m, &err), DJ_INVALID);
  expect(&err, "maps[0]: to: 'mesh/jaw*/vert': no mesh is called like that");
  dj_deleteTask(task);
  dj_deleteModel(m);
}

DJT_MAIN(testRows, testLosses, testMaps, testOptimizers, testKeysOfTypes, testParameters, testMatch,
         testStarInName, testVariables, testSet, testMapTargets)
