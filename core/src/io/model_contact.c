#include "io/model_contact.h"

#include "base/status.h"
#include "io/settings.h"
#include "model/check.h"
#include "model/kernel_setting.h"

#include <string.h>

// ------------------------------------------ reading --------------------------------------------

int dj_listOwnSettings(const char** names, int n, int room, bool pair) {
  const djSetting* row;
  int kernel;
  for (int slot = 0; n < room && (row = dj_settingOfSlot(&kernel, slot)); slot++) {
    bool listed = dj_settingNamed(row->name, 0) < slot;   // of an earlier model
    if (!listed && !(pair && row->per_geom)) names[n++] = row->name;
  }
  return n;
}

int dj_listModels(const char** names, int n, int room) {
  for (int k = 0; n < room && k < dj_kernelCount(); k++) names[n++] = dj_kernelName(k);
  return n;
}

// Where settings are put, or only counted (def->setting NULL).
typedef struct Reader {
  djModelDef* def;
  djSettingDef* setting;
  djError* err;
} Reader;

// The members of an object that are settings: of all models, or of one.
static djStatus readMembers(Reader* r, const cJSON* object, const djSettingDef* of,
                            const djAt* at) {
  int only = of->model ? dj_kernelNamed(of->model) : -1, kernel;
  for (const cJSON* c = object ? object->child : NULL; c; c = c->next) {
    int slot = dj_settingNamed(c->string, 0);
    const djSetting* row = dj_settingOfSlot(&kernel, slot);
    while (row && only >= 0 && kernel != only) {
      slot = dj_settingNamed(c->string, slot + 1);
      row = dj_settingOfSlot(&kernel, slot);
    }
    if (!row && of->model) return dj_jsonFail(at, c->string, "unknown setting");
    if (!row) continue;
    if (r->setting) {
      djSettingDef* s = &r->setting[r->def->nsetting];
      *s = *of;
      s->name = row->name;
      djStatus status = dj_jsonValue(&s->value, row, c, at);
      if (status < 0) return status;
    }
    r->def->nsetting++;
  }
  return DJ_OK;
}

static djStatus readList(Reader* r, const cJSON* list, bool pair) {
  int i = 0;
  for (const cJSON* c = list ? list->child : NULL; c; c = c->next, i++) {
    const char* name = pair ? r->def->pair[i].name : r->def->geom[i].name;
    djElementText element = dj_elementText(pair ? "pair" : "geom", name, i);
    djAt at = {r->err, element.text};
    djSettingDef of = {NULL, NULL, pair ? -1 : i, pair ? i : -1, 0};
    djStatus status = readMembers(r, c, &of, &at);
    if (status < 0) return status;
  }
  return DJ_OK;
}

static djStatus readAll(Reader* r, const cJSON* root) {
  const cJSON* option = dj_jsonGet(root, "option");
  djStatus status = DJ_OK;
  r->def->nsetting = 0;
  for (int k = 0; k < dj_kernelCount() && status == DJ_OK; k++) {
    const cJSON* object = option ? dj_jsonGet(option, dj_kernelName(k)) : NULL;
    djAt at = {r->err, dj_kernelName(k)};
    if (object && !cJSON_IsObject(object)) return dj_jsonFail(&at, NULL, "must be an object");
    djSettingDef of = {NULL, dj_kernelName(k), -1, -1, 0};
    status = readMembers(r, object, &of, &at);
  }
  if (status == DJ_OK) status = readList(r, dj_jsonGet(root, "geoms"), false);
  return status == DJ_OK ? readList(r, dj_jsonGet(root, "pairs"), true) : status;
}

djStatus dj_readOwnSettings(djModelDef* def, const cJSON* root, djPool* pool, djError* err) {
  Reader r = {def, NULL, err};
  djStatus status = readAll(&r, root);
  if (status < 0 || def->nsetting == 0) return status;
  r.setting = dj_poolTake(pool, (size_t)def->nsetting, sizeof *r.setting);
  if (!r.setting) return dj_failMemory(err);
  def->setting = r.setting;
  return readAll(&r, root);
}

// ------------------------------------------ writing --------------------------------------------

static void addMember(djText* text, const djSettingDef* s, const char* between) {
  int kernel;
  dj_addText(text, between);
  dj_addQuoted(text, s->name);
  dj_addText(text, ": ");
  dj_addSetting(text, dj_settingOfSlot(&kernel, dj_settingNamed(s->name, 0)), &s->value);
}

static bool ofModel(const djSettingDef* s) { return s->model && s->model[0]; }

void dj_addOwnSettings(djText* text, const djModelDef* def, int geom, int pair) {
  for (int i = 0; i < def->nsetting; i++) {
    const djSettingDef* s = &def->setting[i];
    if (!ofModel(s) && s->geom == geom && s->pair == pair) addMember(text, s, ", ");
  }
}

void dj_addModelSettings(djText* text, const djModelDef* def, const char** between) {
  for (int i = 0; i < def->nsetting; i++) {
    const djSettingDef* s = &def->setting[i];
    bool first = ofModel(s) && (i == 0 || !ofModel(s - 1) || strcmp(s->model, s[-1].model) != 0);
    if (!first) continue;
    dj_addText(text, *between);
    dj_addQuoted(text, s->model);
    const char* inner = ": {";
    for (int k = i; k < def->nsetting && ofModel(&def->setting[k]) &&
                    strcmp(def->setting[k].model, s->model) == 0; k++) {
      addMember(text, &def->setting[k], inner);
      inner = ", ";
    }
    dj_addText(text, "}");
    *between = ", ";
  }
}
