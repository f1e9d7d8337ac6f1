// The optimizer of a task.

#include "io/settings.h"
#include "io/task_parse.h"
#include "model/setting.h"

djStatus dj_parseOptimizer(djOptimizer* o, const cJSON* item, djError* err) {
  const char* keys[DJ_MAX_SETTINGS + 2] = {"type"};
  const djSetting* key;
  for (int i = 0; (key = dj_optimizerKey(i)); i++) keys[i + 1] = key->name;
  djAt at = {err, "optimizer"};
  djStatus status = dj_jsonKeys(item, keys, &at);
  if (status < 0) return status;
  o->given = true;
  const cJSON* type = dj_jsonGet(item, "type");
  int row = 0;
  if (type) status = dj_jsonEntry(&row, type, dj_optimizerEntry, "optimizer", &at);
  if (type && status == DJ_OK) o->type = dj_optimizerEntry(row)->name;
  for (int i = 0; (key = dj_optimizerKey(i)) && status == DJ_OK; i++) {
    const cJSON* c = dj_jsonGet(item, key->name);
    double value = 0;
    djProblemText what;
    if (c) status = dj_jsonValue(&value, key, c, &at);
    if (!c || status < 0) continue;
    const char* problem = dj_rowProblem(&what, key, &value, false);
    if (problem) return dj_jsonFail(&at, key->name, problem);
    dj_storeRow(o, key, &value);
  }
  return status;
}
