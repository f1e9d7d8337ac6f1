// Reading JSON: every access checks its type and names what is wrong.

#ifndef DJ_IO_JSON_H_
#define DJ_IO_JSON_H_

#include "base/pool.h"

#include <dijoco/entry.h>
#include <dijoco/setting.h>

#include <cjson/cJSON.h>

// The whole text must be one JSON object.
djStatus dj_parseJson(cJSON** root, const char* text, size_t length, djError* err);

// Where a value belongs, for messages: "joint 'knee'", "loss[2]"; "" at the top.
typedef struct djAt {
  djError* err;
  const char* element;
} djAt;

// "element: key: what"; key may be NULL.
djStatus dj_jsonFail(const djAt* at, const char* key, const char* what);

// An object all of whose keys are in a list that ends with NULL, each once.
djStatus dj_jsonKeys(const cJSON* object, const char* const* keys, const djAt* at);

// A member of an object, or NULL.
const cJSON* dj_jsonGet(const cJSON* object, const char* key);

// Single values; messages name the key of the item.
djStatus dj_jsonNumber(double* out, const cJSON* item, const djAt* at);   // finite
djStatus dj_jsonInt(int* out, const cJSON* item, const djAt* at);
djStatus dj_jsonBool(bool* out, const cJSON* item, const djAt* at);
djStatus dj_jsonText(const char** out, const cJSON* item, const djAt* at);  // owned by the item

// One of the names of a table that ends with a NULL name.
typedef djChoice djNamed;
djStatus dj_jsonNamed(int* out, const cJSON* item, const djNamed* names, const djAt* at);
// The row that a name is of, in a table of entries; noun: what messages call a row ("map").
djStatus dj_jsonEntry(int* row, const cJSON* item, const djEntry* (*entry)(int), const char* noun,
                      const djAt* at);
// The keys of an entry after the n that are there already; room for DJ_MAX_ENTRY_KEYS.
#define DJ_MAX_ENTRY_KEYS 24
void dj_listKeys(const char** keys, int n, const djEntry* entry);

// Exactly n numbers; infinite ones ("inf", "-inf") where reals are asked for.
djStatus dj_jsonVector(double* out, int n, const cJSON* item, const djAt* at);
djStatus dj_jsonReals(double* out, int n, const cJSON* item, const djAt* at);

// A list of numbers, or one number; of integers; of rows of numbers that all have the same length
// (columns < 0: of any length, which is returned). In memory of the pool.
djStatus dj_jsonNumbers(const double** out, int* n, const cJSON* item, djPool* pool,
                        const djAt* at);
djStatus dj_jsonInts(const int** out, int* n, const cJSON* item, djPool* pool, const djAt* at);
djStatus dj_jsonRows(const double** out, int* rows, int* columns, const cJSON* item, djPool* pool,
                     const djAt* at);

// The model that an object is, as a model file has it; watch may be NULL.
djStatus dj_readModel(djModel** model, const cJSON* root, const djWatch* watch, djError* err);

#endif  // DJ_IO_JSON_H_
