#include "io/json.h"

#include "base/status.h"
#include "model/setting.h"

#include <dijoco/io.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

djStatus dj_parseJson(cJSON** root, const char* text, size_t length, djError* err) {
  *root = NULL;
  djStatus status = dj_checkJson(text, length, false, err);
  if (status < 0) return status;
  *root = cJSON_ParseWithLength(text, length);
  if (!*root) return dj_failMemory(err);
  if (cJSON_IsObject(*root)) return DJ_OK;
  cJSON_Delete(*root);
  *root = NULL;
  return dj_fail(err, DJ_INVALID, "must be a JSON object");
}

djStatus dj_jsonFail(const djAt* at, const char* key, const char* what) {
  const char* element = at->element ? at->element : "";
  const char* between = element[0] && key ? ": " : "";
  const char* after = element[0] || key ? ": " : "";
  return dj_fail(at->err, DJ_INVALID, "%s%s%.100s%s%s", element, between, key ? key : "", after,
                 what);
}

djStatus dj_jsonKeys(const cJSON* object, const char* const* keys, const djAt* at) {
  if (!cJSON_IsObject(object)) return dj_jsonFail(at, NULL, "must be an object");
  bool seen[2 * DJ_MAX_SETTINGS] = {false};   // settings, models and their like
  for (const cJSON* item = object->child; item; item = item->next) {
    int k = 0;
    while (keys[k] && strcmp(keys[k], item->string) != 0) k++;
    if (!keys[k]) {
      char what[480];
      snprintf(what, sizeof what, "unknown key '%.100s'", item->string);
      for (k = 0; keys[k]; k++) dj_expectName(what, sizeof what, keys[k], k == 0);
      return dj_jsonFail(at, NULL, what);
    }
    if (seen[k]) return dj_jsonFail(at, item->string, "is given twice");
    seen[k] = true;
  }
  return DJ_OK;
}

const cJSON* dj_jsonGet(const cJSON* object, const char* key) {
  return cJSON_GetObjectItemCaseSensitive(object, key);
}

djStatus dj_jsonNumber(double* out, const cJSON* item, const djAt* at) {
  if (!cJSON_IsNumber(item)) return dj_jsonFail(at, item->string, "must be a number");
  if (!isfinite(item->valuedouble)) return dj_jsonFail(at, item->string, "is not finite");
  *out = item->valuedouble;
  return DJ_OK;
}

// The strings "inf" and "-inf".
static bool isInfinite(double* out, const cJSON* item) {
  if (!cJSON_IsString(item)) return false;
  bool negative = item->valuestring[0] == '-';
  *out = negative ? -INFINITY : INFINITY;
  return strcmp(item->valuestring + negative, "inf") == 0;
}

static bool isInt(const cJSON* item) {
  return cJSON_IsNumber(item) && item->valuedouble == floor(item->valuedouble) &&
         fabs(item->valuedouble) <= INT_MAX;
}

djStatus dj_jsonInt(int* out, const cJSON* item, const djAt* at) {
  if (!isInt(item)) return dj_jsonFail(at, item->string, "must be an integer");
  *out = (int)item->valuedouble;
  return DJ_OK;
}

djStatus dj_jsonBool(bool* out, const cJSON* item, const djAt* at) {
  if (!cJSON_IsBool(item)) return dj_jsonFail(at, item->string, "must be true or false");
  *out = cJSON_IsTrue(item);
  return DJ_OK;
}

djStatus dj_jsonText(const char** out, const cJSON* item, const djAt* at) {
  if (!cJSON_IsString(item)) return dj_jsonFail(at, item->string, "must be a string");
  *out = item->valuestring;
  return DJ_OK;
}

djStatus dj_jsonNamed(int* out, const cJSON* item, const djNamed* names, const djAt* at) {
  const char* text = "";
  djStatus status = dj_jsonText(&text, item, at);
  if (status < 0) return status;
  for (const djNamed* n = names; n->name; n++) {
    if (strcmp(n->name, text) == 0) {
      *out = n->value;
      return DJ_OK;
    }
  }
  char what[480];
  dj_unknownChoice(what, sizeof what, text, names);
  return dj_jsonFail(at, item->string, what);
}

djStatus dj_jsonEntry(int* row, const cJSON* item, const djEntry* (*entry)(int), const char* noun,
                      const djAt* at) {
  const char* text = "";
  djStatus status = dj_jsonText(&text, item, at);
  if (status < 0) return status;
  for (*row = 0; entry(*row); ++*row) {
    if (strcmp(entry(*row)->name, text) == 0) return DJ_OK;
  }
  char what[480];
  snprintf(what, sizeof what, "unknown %s '%.100s'", noun, text);
  for (int i = 0; entry(i); i++) dj_expectName(what, sizeof what, entry(i)->name, i == 0);
  return dj_jsonFail(at, item->string, what);
}

void dj_listKeys(const char** keys, int n, const djEntry* entry) {
  for (const djKey* k = entry->key; k && k->name; k++) keys[n++] = k->name;
  keys[n] = NULL;
}

// Length of a list, refused beyond what an int index of triples holds.
static djStatus listLength(int* n, const cJSON* item, const djAt* at) {
  if (!cJSON_IsArray(item)) return dj_jsonFail(at, item->string, "must be a list");
  int count = 0;
  for (const cJSON* c = item->child; c; c = c->next) {
    if (++count > INT_MAX / 4) return dj_jsonFail(at, item->string, "is too long");
  }
  *n = count;
  return DJ_OK;
}

// The numbers of a list; `key` names it in messages (rows have no key of their own).
static djStatus readList(double* out, int n, const cJSON* item, const char* key, bool infinite,
                         const djAt* at) {
  char what[64];
  snprintf(what, sizeof what, n == 1 ? "must be %d number" : "must be %d numbers", n);
  int k = 0;
  if (!cJSON_IsArray(item)) return dj_jsonFail(at, key, what);
  for (const cJSON* c = item->child; c; c = c->next, k++) {
    if (k >= n) return dj_jsonFail(at, key, what);
    if (infinite && isInfinite(out + k, c)) continue;
    if (!cJSON_IsNumber(c)) return dj_jsonFail(at, key, what);
    if (!isfinite(c->valuedouble)) return dj_jsonFail(at, key, "is not finite");
    out[k] = c->valuedouble;
  }
  return k == n ? DJ_OK : dj_jsonFail(at, key, what);
}

djStatus dj_jsonVector(double* out, int n, const cJSON* item, const djAt* at) {
  return readList(out, n, item, item->string, false, at);
}

djStatus dj_jsonReals(double* out, int n, const cJSON* item, const djAt* at) {
  return readList(out, n, item, item->string, true, at);
}

djStatus dj_jsonNumbers(const double** out, int* n, const cJSON* item, djPool* pool,
                        const djAt* at) {
  int count = 1;
  djStatus status = DJ_OK;
  if (cJSON_IsArray(item)) status = listLength(&count, item, at);
  if (status < 0) return status;
  double* v = dj_poolTake(pool, (size_t)count, sizeof *v);
  if (!v) return dj_failMemory(at->err);
  if (cJSON_IsArray(item)) status = dj_jsonVector(v, count, item, at);
  else if (cJSON_IsNumber(item)) status = dj_jsonNumber(v, item, at);
  else status = dj_jsonFail(at, item->string, "must be a list of numbers");
  *out = v;
  *n = count;
  return status;
}

djStatus dj_jsonInts(const int** out, int* n, const cJSON* item, djPool* pool, const djAt* at) {
  int count = 0;
  djStatus status = listLength(&count, item, at);
  if (status < 0) return status;
  int* v = dj_poolTake(pool, (size_t)count, sizeof *v);
  if (!v) return dj_failMemory(at->err);
  int k = 0;
  for (const cJSON* c = item->child; c; c = c->next, k++) {
    if (!isInt(c)) return dj_jsonFail(at, item->string, "must be a list of integers");
    v[k] = (int)c->valuedouble;
  }
  *out = v;
  *n = count;
  return DJ_OK;
}

djStatus dj_jsonRows(const double** out, int* rows, int* columns, const cJSON* item, djPool* pool,
                     const djAt* at) {
  djStatus status = listLength(rows, item, at);
  if (status < 0) return status;
  if (*columns < 0) {
    *columns = 0;
    if (item->child) status = listLength(columns, item->child, &(djAt){at->err, at->element});
    if (status < 0) return dj_jsonFail(at, item->string, "must be a list of rows of numbers");
  }
  double* v = dj_poolTake(pool, (size_t)*rows * (size_t)*columns, sizeof *v);
  if (!v) return dj_failMemory(at->err);
  double* row = v;
  for (const cJSON* c = item->child; c; c = c->next, row += *columns) {
    status = readList(row, *columns, c, item->string, false, at);
    if (status < 0) return status;
  }
  *out = v;
  return DJ_OK;
}
