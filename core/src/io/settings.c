// Options that come from command lines, tasks and scenes, by name.

#include "io/settings.h"

#include "base/status.h"
#include "io/model_keys.h"
#include "io/text.h"
#include "model/check.h"

#include <math.h>
#include <string.h>

typedef struct djSettingRow {
  const char* name;
  djSetting bit;
  size_t offset;          // in djOption
  const djNamed* names;   // NULL: a number
  bool zero;              // may be 0
  double below;           // must be smaller than this
} djSettingRow;

static const djSettingRow table[] = {
    {"contact", DJ_SET_CONTACT, offsetof(djOption, contact), dj_contactNames, false, 0},
    {"support", DJ_SET_SUPPORT, offsetof(djOption, support), NULL, false, 1},
    {"length_scale", DJ_SET_LENGTH_SCALE, offsetof(djOption, length_scale), NULL, false, INFINITY},
    {"stiffness", DJ_SET_STIFFNESS, offsetof(djOption, stiffness), NULL, false, INFINITY},
    {"skin", DJ_SET_SKIN, offsetof(djOption, skin), NULL, true, INFINITY},
    {"friction_eps", DJ_SET_FRICTION_EPS, offsetof(djOption, friction_eps), NULL, false, INFINITY},
    {"overlap", DJ_SET_OVERLAP, offsetof(djOption, overlap), dj_overlapNames, false, 0},
    {"integrator", DJ_SET_INTEGRATOR, offsetof(djOption, integrator), dj_integratorNames, false,
     0},
    {"timestep", DJ_SET_TIMESTEP, offsetof(djOption, timestep), NULL, false, INFINITY},
    {"tolerance", DJ_SET_TOLERANCE, offsetof(djOption, tolerance), NULL, false, INFINITY},
};
enum { NROW = sizeof table / sizeof table[0] };

static size_t rowSize(const djSettingRow* row) {
  return row->names ? sizeof(int) : sizeof(double);
}

void dj_applySettings(djOption* option, const djSettings* settings) {
  if (!option || !settings) return;
  for (int i = 0; i < NROW; i++) {
    const djSettingRow* row = &table[i];
    if (!(settings->given & (unsigned)row->bit)) continue;
    memcpy((char*)option + row->offset, (const char*)&settings->option + row->offset,
           rowSize(row));
  }
}

static const djSettingRow* findRow(const char* name) {
  for (int i = 0; i < NROW; i++) {
    if (strcmp(table[i].name, name) == 0) return &table[i];
  }
  return NULL;
}

static const char* numberProblem(const djSettingRow* row, double value) {
  if (!isfinite(value)) return "is not finite";
  if (value < 0 || (value == 0 && !row->zero)) {
    return row->zero ? "must not be negative" : "must be positive";
  }
  if (!(value < row->below)) return "must be less than 1";
  if (row->bit == DJ_SET_SKIN || row->bit == DJ_SET_TOLERANCE) return NULL;
  bool force = row->bit == DJ_SET_STIFFNESS || row->bit == DJ_SET_FRICTION_EPS;
  double most = force ? DJ_LARGEST_FORCE : DJ_LARGEST;
  bool divisor = row->bit == DJ_SET_TIMESTEP || row->bit == DJ_SET_LENGTH_SCALE ||
                 row->bit == DJ_SET_SUPPORT;
  const char* problem = dj_sizeProblem(&value, 1, most);
  return problem || !divisor ? problem : dj_smallProblem(value);
}

static void store(djSettings* settings, const djSettingRow* row, const void* value) {
  settings->given |= (unsigned)row->bit;
  memcpy((char*)&settings->option + row->offset, value, rowSize(row));
}

djStatus dj_jsonSetting(djSettings* settings, const char* name, const cJSON* item,
                        const djAt* at) {
  const djSettingRow* row = findRow(name);
  if (!row) return dj_jsonFail(at, name, "unknown setting");
  int number = 0;
  double real = 0;
  djStatus status = row->names ? dj_jsonNamed(&number, item, row->names, at)
                               : dj_jsonNumber(&real, item, at);
  if (status < 0) return status;
  const char* problem = row->names ? NULL : numberProblem(row, real);
  if (problem) return dj_jsonFail(at, item->string, problem);
  store(settings, row, row->names ? (const void*)&number : (const void*)&real);
  return DJ_OK;
}

djStatus dj_parseSetting(djSettings* settings, const char* name, const char* text,
                         djError* err) {
  if (!settings || !name || !text) {
    return dj_fail(err, DJ_INVALID, "settings, name or text: NULL");
  }
  const djSettingRow* row = findRow(name);
  if (!row) return dj_fail(err, DJ_INVALID, "%.100s: unknown setting", name);
  if (row->names) {
    for (const djNamed* n = row->names; n->name; n++) {
      if (strcmp(n->name, text) != 0) continue;
      store(settings, row, &n->value);
      return DJ_OK;
    }
    char what[480];
    dj_unknownName(what, sizeof what, text, row->names);
    return dj_fail(err, DJ_INVALID, "%s: %s", name, what);
  }
  const char* end;
  double value = dj_scanNumber(text, &end);
  if (end == text || *end) {
    return dj_fail(err, DJ_INVALID, "%s: '%.100s' is not a number", name, text);
  }
  const char* problem = numberProblem(row, value);
  if (problem) return dj_fail(err, DJ_INVALID, "%s: %s", name, problem);
  store(settings, row, &value);
  return DJ_OK;
}
