// The tables of keys of model files, settings of single geoms and pairs, and a model as text.

#include "model/element.h"

#include "common/make_model.h"
#include "common/message.h"
#include "common/own_settings.h"
#include "common/test.h"
#include "io/model_contact.h"
#include "io/model_save.h"
#include "model/check.h"
#include "model/kernel_setting.h"
#include "model/param_row.h"

#include <dijoco/io.h>

// ---- keys -------------------------------------------------------------------------------------

// Fields that are not in the table, between two offsets.
typedef struct Others {
  int kind;
  size_t from, to;
} Others;

static const Others OTHERS[] = {
    {DJ_OBJ_GEOM, offsetof(djGeomDef, surface), offsetof(djGeomDef, flex)},
    {DJ_OBJ_TENDON, offsetof(djTendonDef, nwrap), offsetof(djTendonDef, wrap) + sizeof(void*)},
    {DJ_OBJ_FLEX, offsetof(djFlexDef, nvert), offsetof(djFlexDef, elastic2d)}};

// Names come once; every byte of the struct belongs to one key, or pads what comes after it.
static void testCover(void) {
  for (int kind = 0; kind < DJ_NELEMENT; kind++) {
    const djElementKind* t = &dj_elementKinds[kind];
    char owner[1000] = {0};
    int n = 0;
    if (!t->field->name) continue;
    assert_true(t->size <= sizeof owner);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
      for (size_t k = OTHERS[i].from; k < OTHERS[i].to; k++) owner[k] |= OTHERS[i].kind == kind;
    }
    for (const djElementField* f = t->field; f->name; f++, n++) {
      for (int k = 0; k < n; k++) assert_string_not_equal(f->name, t->field[k].name);
      assert_true((f->type == DJ_IS_NAMED) == (f->choice != NULL));
      for (size_t b = f->at; b < f->at + dj_fieldSize(f); b++) {
        assert_true(b < t->size);
        if (owner[b]) fail_msg("%s lies where another field is", f->name);
        owner[b] = 1;
      }
    }
    for (size_t b = 0, gap = 0; b < t->size; b++) {
      gap = owner[b] ? 0 : gap + 1;
      if (gap > 7) fail_msg("%s: byte %zu has no field", t->name, b);
    }
    assert_true(n + DJ_MAX_OF_KERNEL * dj_kernelCount() < DJ_MAX_KEYS);
  }
}

// Types and references are written always, and what they refer to.
static void testNamed(void) {
  static const struct {
    int kind;
    const char* name;
    djFieldType type;
    djObject object;
    bool always;
  } list[] = {{DJ_OBJ_JOINT, "type", DJ_IS_NAMED, DJ_OBJ_BODY, true},
              {DJ_OBJ_JOINT, "body", DJ_IS_REFERENCE, DJ_OBJ_BODY, true},
              {DJ_OBJ_GEOM, "type", DJ_IS_NAMED, DJ_OBJ_BODY, true},
              {DJ_OBJ_GEOM, "body", DJ_IS_REFERENCE, DJ_OBJ_BODY, true},
              {DJ_OBJ_GEOM, "mesh", DJ_IS_REFERENCE, DJ_OBJ_MESH, false},
              {DJ_OBJ_SITE, "body", DJ_IS_REFERENCE, DJ_OBJ_BODY, true},
              {DJ_OBJ_ACTUATOR, "gain", DJ_IS_NAMED, DJ_OBJ_BODY, false},
              {DJ_OBJ_ACTUATOR, "bias", DJ_IS_NAMED, DJ_OBJ_BODY, false},
              {DJ_OBJ_ACTUATOR, "dyn", DJ_IS_NAMED, DJ_OBJ_BODY, false},
              {DJ_OBJ_ACTUATOR, "tendon", DJ_IS_REFERENCE, DJ_OBJ_TENDON, false},
              {DJ_OBJ_PAIR, "geom1", DJ_IS_REFERENCE, DJ_OBJ_GEOM, true},
              {DJ_OBJ_PAIR, "geom2", DJ_IS_REFERENCE, DJ_OBJ_GEOM, true},
              {DJ_ELEMENT_EXCLUDE, "body1", DJ_IS_REFERENCE, DJ_OBJ_BODY, true},
              {DJ_ELEMENT_EXCLUDE, "body2", DJ_IS_REFERENCE, DJ_OBJ_BODY, true}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const djElementField* f = dj_elementKinds[list[i].kind].field;
    while (f->name && strcmp(f->name, list[i].name) != 0) f++;
    assert_non_null(f->name);
    assert_int_equal(f->type, list[i].type);
    assert_int_equal(f->object, list[i].object);
    assert_true(f->always == list[i].always);
  }
}

// No two fields are in one place of the model.
static void testPlaces(void) {
  for (int kind = 0; kind < DJ_NELEMENT; kind++) {
    for (const djElementField* f = dj_elementKinds[kind].field; f->name; f++) {
      for (const djElementField* g = f + 1; f->array && g->name; g++) {
        if (g->array != f->array) continue;
        assert_true(f->columns > 0 && f->columns == g->columns);
        bool apart = f->column + f->count <= g->column || g->column + g->count <= f->column;
        if (!apart) fail_msg("%s is where %s is", g->name, f->name);
      }
      assert_true(f->columns == 0 || f->column + f->count <= f->columns);
    }
  }
}

// Parameters that are fields have the field's unit and bound.
static void testParameters(void) {
  int n = 0;
  for (int p = 0; p < DJ_NFIELD; p++) {
    const djFieldRow* row = &dj_paramRows[p];
    if (row->object == DJ_NOBJ) continue;
    for (const djElementField* f = dj_elementKinds[row->object].field; f->name; f++) {
      if (f->array != row->offset || f->columns > 0) continue;
      assert_string_equal(f->name, row->name);
      assert_int_equal(f->count, row->nvalue);
      if (row->entry.unit[0]) assert_string_equal(f->unit, row->entry.unit);
      assert_true(row->force == (f->most == DJ_LARGEST_FORCE));
      n++;
    }
  }
  assert_true(n >= 30);
}

static djModel* load(const char* text) {
  djModel* m = djt_modelOf(text);
  return m;
}

// Elements without a key are the defaults.
static void testDefaults(void) {
  djModel* m = load("{\"dijoco_model\": 1, \"bodies\": [{}, {\"mass\": 1}],"
                    " \"geoms\": [{\"size\": [1, 0, 0]}, {\"body\": 1, \"size\": [1, 0, 0]}],"
                    " \"sites\": [{}], \"pairs\": [{\"geom1\": 0, \"geom2\": 1}]}");
  djSiteDef site;
  djPairDef pair;
  dj_defaultElement(&site, DJ_OBJ_SITE);
  dj_defaultElement(&pair, DJ_OBJ_PAIR);
  assert_true(site.body == 0 && site.quat[0] == 1 && site.pos[2] == 0);
  assert_memory_equal(m->site_quat, site.quat, sizeof site.quat);
  assert_true(m->pair_condim[0] == pair.condim && pair.condim == 3);
  assert_true(m->pair_friction[0] == pair.friction && pair.friction == 1);
  assert_true(m->geom_restitution[0] == 0 && m->geom_solref_restitution[1] == 0);
  assert_true(m->pair_restitution[0] == 0 && m->pair_solref_restitution[0] == 0);
  assert_true(m->pair_margin[0] == 0 && m->pair_gap[0] == 0 && !pair.name && !pair.contact);
  dj_deleteModel(m);
}

// ---- own settings -----------------------------------------------------------------------------

// Names once each, after those that are there, never more than there is room; none of a pair is
// of a geom.
static void testLists(void) {
  for (int pair = 0; pair < 2; pair++) {
    const char* names[DJ_MAX_KEYS] = {"first"};
    int n = dj_listOwnSettings(names, 1, DJ_MAX_KEYS, pair);
    assert_string_equal(names[0], "first");
    for (int i = 1; i < n; i++) {
      int kernel;
      const djSetting* row = dj_settingOfSlot(&kernel, dj_settingNamed(names[i], 0));
      assert_non_null(row);
      assert_false(pair && row->per_geom);
      for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
    }
    int count = 1;
    for (int slot = 0; slot < dj_settingSlots(); slot++) {
      int kernel;
      const djSetting* row = dj_settingOfSlot(&kernel, slot);
      bool earlier = dj_settingNamed(row->name, 0) < slot;
      count += !earlier && !(pair && row->per_geom);
    }
    assert_int_equal(n, count);
    names[3] = "last";
    assert_int_equal(dj_listOwnSettings(names, 1, 3, pair), 3);
    assert_string_equal(names[3], "last");
    assert_int_equal(dj_listModels(names, 2, 2), 2);
    assert_int_equal(dj_listModels(names, 0, DJ_MAX_MODELS), dj_kernelCount());
  }
}

// What is read has its element; what is written of it reads back.
static void testOwnSettings(void) {
  static const char text[] =
      "{\"geoms\": [{}, {\"skin\": 0.01, \"friction_arms\": \"paper\"}, {\"support\": 0.25}],"
      " \"pairs\": [{\"stiffness\": 7, \"condim\": 1}]}";
  djGeomDef geom[3] = {{.name = "g"}};
  djPairDef pair[1] = {{.name = "p"}};
  djModelDef def = {.geom = geom, .ngeom = 3, .pair = pair, .npair = 1};
  djPool pool = {0};
  djError err = {""};
  assert_int_equal(djt_readOwn(&def, text, &pool, &err), DJ_OK);
  static const struct {
    const char* name;
    int geom, pair;
    double value;
  } wanted[4] = {{"skin", 1, -1, 0.01}, {"friction_arms", 1, -1, DJ_ARMS_PAPER},
                 {"support", 2, -1, 0.25}, {"stiffness", -1, 0, 7}};
  assert_int_equal(def.nsetting, 4);
  for (int i = 0; i < 4; i++) {
    const djSettingDef* s = &def.setting[i];
    assert_string_equal(s->name, wanted[i].name);
    assert_true(!s->model && s->geom == wanted[i].geom && s->pair == wanted[i].pair);
    assert_true(s->value == wanted[i].value);
  }
  djText own = {0}, none = {0};
  const char* between = "";
  dj_addOwnSettings(&own, &def, 1, -1);
  assert_string_equal(own.data, ", \"skin\": 0.01, \"friction_arms\": \"paper\"");
  dj_addOwnSettings(&own, &def, -1, 0);
  assert_non_null(strstr(own.data, "\"paper\", \"stiffness\": 7"));
  dj_addOwnSettings(&none, &def, 0, -1);
  dj_addModelSettings(&none, &def, &between);
  assert_true(none.length == 0 && between[0] == 0);
  dj_freeText(&own);
  assert_int_equal(djt_readOwn(&def, "{}", &pool, &err), DJ_OK);
  assert_int_equal(def.nsetting, 0);
  const char* thin = "{\"geoms\": [{\"skin\": \"thin\"}]}";
  const char* empty = "{\"pairs\": [{\"support\": []}]}";
  assert_int_equal(djt_readOwn(&def, thin, &pool, &err), DJ_INVALID);
  assert_true(strncmp(err.text, "geom 'g': skin: ", 16) == 0);
  assert_int_equal(djt_readOwn(&def, empty, &pool, &err), DJ_INVALID);
  assert_true(strncmp(err.text, "pair 'p': support: ", 19) == 0);
  dj_poolFree(&pool);
}

// ---- texts ------------------------------------------------------------------------------------

static char* textOf(const djModel* m, bool all) {
  djText text = {0};
  djError err = {""};
  if (dj_modelText(&text, m, all ? DJ_WITH_SETTINGS : 0, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(strlen(text.data), text.length);
  return text.data;
}

static int countOf(const char* text, const char* part) {
  int n = 0;
  while ((text = strstr(text, part))) n++, text++;
  return n;
}

// Both texts make the model again; the full one has the settings in force, so that it stays what it
// is when saved in full again. Elements have what differs from the defaults in both.
static void testTexts(void) {
  djModel* m = djt_sampleModel(NULL);
  char *brief = textOf(m, false), *full = textOf(m, true);
  djModel *again = load(brief), *whole = load(full);
  assert_null(djt_difference(m, again));
  // what was automatic is given, for all geoms and pairs alike
  assert_string_equal(djt_difference(m, whole), "geom_skin");
  assert_memory_equal(m->kernel_setting, whole->kernel_setting,
                      sizeof(double) * (size_t)m->nkernelsetting);
  char* second = textOf(whole, true);
  assert_string_equal(full, second);
  assert_true(strlen(full) > strlen(brief));
  assert_int_equal(countOf(full, "\"recovery_stiffness\": "), 1);
  assert_int_equal(countOf(brief, "\"recovery_stiffness\": "), 0);
  assert_int_equal(countOf(full, "\"gravcomp\": "), 1);
  assert_int_equal(countOf(brief, "\"body\": "), m->njnt + m->ngeom + m->nsite);
  free(brief);
  free(full);
  free(second);
  dj_deleteModel(again);
  dj_deleteModel(whole);
  dj_deleteModel(m);
}

DJT_MAIN(testCover, testNamed, testPlaces, testParameters, testDefaults, testLists, testOwnSettings,
         testTexts)
