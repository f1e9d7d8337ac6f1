// Settings from and to texts.

#include "io/settings.h"

#include "base/status.h"
#include "model/setting.h"

#include <string.h>

// ---- JSON -------------------------------------------------------------------------------------

static djStatus jsonFlags(int* bits, const djSetting* row, const cJSON* item, const djAt* at) {
  if (!cJSON_IsArray(item)) return dj_jsonFail(at, item->string, "must be a list");
  *bits = 0;
  for (const cJSON* c = item->child; c; c = c->next) {
    int bit = 0;
    djStatus status = dj_jsonNamed(&bit, c, row->choice, at);
    if (status < 0) return status;
    *bits |= bit;
  }
  return DJ_OK;
}

djStatus dj_jsonValue(double* value, const djSetting* row, const cJSON* item, const djAt* at) {
  int number = 0;
  djStatus status = DJ_OK;
  switch (row->kind) {
    case DJ_SETTING_REAL:
      if (row->size > 1) return dj_jsonVector(value, row->size, item, at);
      return dj_jsonNumber(value, item, at);
    case DJ_SETTING_WHOLE: status = dj_jsonInt(&number, item, at); break;
    case DJ_SETTING_CHOICE:
      if (cJSON_IsBool(item) && dj_isSwitch(row)) number = cJSON_IsTrue(item);
      else status = dj_jsonNamed(&number, item, row->choice, at);
      break;
    case DJ_SETTING_FLAGS: status = jsonFlags(&number, row, item, at); break;
  }
  *value = number;
  return status;
}

djStatus dj_jsonSetting(djSettings* settings, const djSetting* row, const cJSON* item,
                        const djAt* at) {
  double value[3] = {1};
  djProblemText what;
  const djSetting* meant = dj_settingOfText(row, cJSON_GetStringValue(item));
  if (meant) return dj_giveSetting(settings, meant, value, at->err);
  djStatus status = dj_jsonValue(value, row, item, at);
  if (status < 0) return status;
  const char* problem = dj_rowProblem(&what, row, value, false);
  if (problem) return dj_jsonFail(at, item->string, problem);
  return dj_giveSetting(settings, row, value, at->err);
}

void dj_listSettings(const char** names, const char* group, unsigned ways) {
  const djSetting* s;
  int n = 0;
  for (int i = 0; (s = dj_setting(i)); i++) {
    bool own = strcmp(s->group ? s->group : "", group) == 0;
    if (own && (s->ways & ways)) names[n++] = s->name;
  }
  names[n] = NULL;
}

djStatus dj_jsonGroup(djSettings* settings, const char* group, unsigned ways, const char* also,
                      const cJSON* item, const djAt* top) {
  const char* keys[DJ_MAX_SETTINGS + 2] = {NULL};
  const djSetting* model = dj_findSetting(group, ways);
  if (cJSON_IsString(item)) return dj_jsonSetting(settings, model, item, top);
  djAt at = {top->err, group};
  if (!cJSON_IsObject(item)) return dj_jsonFail(top, group, "must be a name or an object");
  dj_listSettings(keys, group, ways);
  int n = 0;
  for (; keys[n]; n++) {
    if (strcmp(keys[n], group) == 0) keys[n] = "model";
  }
  keys[n] = also;
  keys[n + 1] = NULL;
  djStatus status = dj_jsonKeys(item, keys, &at);
  for (const cJSON* c = item->child; c && status == DJ_OK; c = c->next) {
    if (also && strcmp(c->string, also) == 0) continue;
    const djSetting* s = strcmp(c->string, "model") == 0 ? model : dj_findSetting(c->string, 0);
    status = dj_jsonSetting(settings, s, c, &at);
  }
  return status;
}

static void addNames(djText* text, const djChoice* choice, int bits) {
  const char* between = "";
  dj_addText(text, "[");
  for (; choice->name; choice++) {
    if (!(bits & choice->value)) continue;
    dj_addText(text, between);
    dj_addQuoted(text, choice->name);
    between = ", ";
  }
  dj_addText(text, "]");
}

void dj_addSetting(djText* text, const djSetting* row, const double* value) {
  if (dj_isSwitch(row)) {
    dj_addText(text, *value > 0 ? "true" : "false");
    return;
  }
  if (row->kind == DJ_SETTING_CHOICE) {
    dj_addQuoted(text, dj_choiceName(row, (int)*value));
    return;
  }
  if (row->kind == DJ_SETTING_FLAGS) {
    addNames(text, row->choice, (int)*value);
    return;
  }
  if (row->size > 1) dj_addText(text, "[");
  for (int k = 0; k < row->size; k++) {
    if (k > 0) dj_addText(text, ", ");
    dj_addJsonNumber(text, value[k]);
  }
  if (row->size > 1) dj_addText(text, "]");
}

// ---- words ------------------------------------------------------------------------------------

static djStatus parseChoice(double* value, const djSetting* row, const char* text, djError* err) {
  const int* chosen = dj_valueNamed(row->choice, text);
  if (chosen) {
    *value = *chosen;
    return DJ_OK;
  }
  char what[480];
  dj_unknownChoice(what, sizeof what, text, row->choice);
  return dj_fail(err, DJ_INVALID, "%s: %s", row->name, what);
}

djStatus dj_parseSetting(djSettings* settings, const char* name, const char* text,
                         djError* err) {
  if (!settings || !name || !text) {
    return dj_fail(err, DJ_INVALID, "settings, name or text: NULL");
  }
  const unsigned ways = DJ_BY_TASK | DJ_BY_COMMAND | DJ_BY_MJCF | DJ_BY_PLUGIN;
  const djSetting* row = dj_findSetting(name, ways);
  if (!row) {
    djError list;
    dj_unknownSetting(list.text, sizeof list.text, ways);
    return dj_fail(err, DJ_INVALID, "%.60s: %s", name, list.text);
  }
  double value = 1;
  const djSetting* meant = dj_settingOfText(row, text);
  if (meant) return dj_giveSetting(settings, meant, &value, err);
  if (row->kind == DJ_SETTING_CHOICE) {
    djStatus status = parseChoice(&value, row, text, err);
    return status < 0 ? status : dj_giveSetting(settings, row, &value, err);
  }
  const char* end;
  value = dj_scanNumber(text, &end);
  if (end == text || *end) {
    return dj_fail(err, DJ_INVALID, "%s: '%.100s' is not a number", name, text);
  }
  return dj_giveSetting(settings, row, &value, err);
}
