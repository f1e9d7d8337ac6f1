// Reading JSON input: every access checks its type and says which element is wrong.

#ifndef DJ_TOOLS_JSON_IN_H_
#define DJ_TOOLS_JSON_IN_H_

#include "text.h"

#include <cjson/cJSON.h>

// The first thing that was wrong. After it every further read does nothing and returns false.
typedef struct Reader {
  bool failed;
  char element[128];
  char message[256];
} Reader;

// Read a whole file ("-": stdin) as JSON, or say why not and where. NaN, Infinity and -Infinity,
// which some programs write, are read as numbers that are not finite, so that their element can be
// named.
cJSON* read_json(const char* path, char* message, size_t size);

void read_fail(Reader* r, const char* path, const char* key, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// Only these keys (ends with NULL), each once.
bool read_keys(Reader* r, const cJSON* object, const char* path, const char* const* keys);

// A member, which must have the type. Missing: NULL, an error where it is required.
const cJSON* read_object(Reader* r, const cJSON* object, const char* path, const char* key,
                         bool required);
const cJSON* read_list(Reader* r, const cJSON* object, const char* path, const char* key,
                       bool required);
const char* read_text(Reader* r, const cJSON* object, const char* path, const char* key,
                      bool required);

// Members with a default: *value is kept where the key is missing.
bool read_bool(Reader* r, const cJSON* object, const char* path, const char* key, bool* value);
bool read_number(Reader* r, const cJSON* object, const char* path, const char* key,
                 double* value);
// Between least and most numbers; returns how many there were, 0 where the key is missing.
int read_vector(Reader* r, const cJSON* object, const char* path, const char* key, int least,
                int most, double* value);
// A list of triples; new memory, NULL where it is missing or bad. Must not be empty.
double* read_points(Reader* r, const cJSON* object, const char* path, const char* key, int* n);

#endif  // DJ_TOOLS_JSON_IN_H_
