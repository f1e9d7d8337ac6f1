#include "json_in.h"

#include <dijoco/io.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// 1 followed by many zeros is read as infinity.
static char* without_names(const char* text) {
  static const char* const name[] = {"-Infinity", "Infinity", "NaN"};
  static const char* const number[] = {"-1e999", "1e999", "1e999"};
  Buffer out = {0};
  bool quoted = false;
  buf_add(&out, "");
  for (const char* c = text; *c;) {
    size_t skip = 0;
    for (int k = 0; k < 3 && !quoted && !skip; k++) {
      if (strncmp(c, name[k], strlen(name[k])) == 0) {
        buf_add(&out, number[k]);
        skip = strlen(name[k]);
      }
    }
    if (skip) {
      c += skip;
      continue;
    }
    if (quoted && *c == '\\' && c[1]) buf_addn(&out, c++, 1);
    else if (*c == '"') quoted = !quoted;
    buf_addn(&out, c++, 1);
  }
  return out.text;
}

cJSON* read_json(const char* path, char* message, size_t size) {
  djError err = {""};
  char* text;
  size_t length;
  bool console = strcmp(path, "-") == 0;
  djStatus status = console ? dj_readInput(&text, &length, &err)
                            : dj_readFile(&text, &length, path, &err);
  if (status == DJ_OK) status = dj_checkJson(text, length, true, &err);
  cJSON* json = NULL;
  if (status == DJ_OK) {
    char* clean = without_names(text);
    json = cJSON_Parse(clean);
    free(clean);
    if (!json) snprintf(err.text, sizeof err.text, "out of memory");
  }
  if (!json) snprintf(message, size, "%s", err.text);
  dj_freeFile(text);
  return json;
}

void read_fail(Reader* r, const char* path, const char* key, const char* format, ...) {
  if (r->failed) return;
  r->failed = true;
  snprintf(r->element, sizeof r->element, "%s%s%s", path, *path && key ? "." : "", key ? key : "");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->message, sizeof r->message, format, arguments);
  va_end(arguments);
}

bool read_keys(Reader* r, const cJSON* object, const char* path, const char* const* keys) {
  for (const cJSON* c = object->child; c && !r->failed; c = c->next) {
    bool known = false;
    for (int i = 0; keys[i]; i++) known = known || strcmp(keys[i], c->string) == 0;
    if (!known) read_fail(r, path, c->string, "unknown key");
    if (cJSON_GetObjectItemCaseSensitive(object, c->string) != c) {
      read_fail(r, path, c->string, "given twice");
    }
  }
  return !r->failed;
}

static const cJSON* member(Reader* r, const cJSON* object, const char* path, const char* key,
                           bool required) {
  if (r->failed) return NULL;
  const cJSON* item = cJSON_GetObjectItemCaseSensitive(object, key);
  if (!item && required) read_fail(r, path, key, "missing");
  return item;
}

const cJSON* read_object(Reader* r, const cJSON* object, const char* path, const char* key,
                         bool required) {
  const cJSON* item = member(r, object, path, key, required);
  if (item && !cJSON_IsObject(item)) {
    read_fail(r, path, key, "expected an object");
    return NULL;
  }
  return item;
}

const cJSON* read_list(Reader* r, const cJSON* object, const char* path, const char* key,
                       bool required) {
  const cJSON* item = member(r, object, path, key, required);
  if (item && !cJSON_IsArray(item)) {
    read_fail(r, path, key, "expected a list");
    return NULL;
  }
  return item;
}

const char* read_text(Reader* r, const cJSON* object, const char* path, const char* key,
                      bool required) {
  const cJSON* item = member(r, object, path, key, required);
  if (!item) return NULL;
  if (!cJSON_IsString(item)) {
    read_fail(r, path, key, "expected a text");
    return NULL;
  }
  return item->valuestring;
}

bool read_bool(Reader* r, const cJSON* object, const char* path, const char* key, bool* value) {
  const cJSON* item = member(r, object, path, key, false);
  if (!item) return !r->failed;
  if (!cJSON_IsBool(item)) {
    read_fail(r, path, key, "expected true or false");
    return false;
  }
  *value = cJSON_IsTrue(item);
  return true;
}

static bool take_number(Reader* r, const cJSON* item, const char* path, const char* key,
                        double* value) {
  if (!cJSON_IsNumber(item)) {
    read_fail(r, path, key, "expected a number");
  } else if (!isfinite(item->valuedouble)) {
    read_fail(r, path, key, "is not finite");
  } else {
    *value = item->valuedouble;
  }
  return !r->failed;
}

bool read_number(Reader* r, const cJSON* object, const char* path, const char* key,
                 double* value) {
  const cJSON* item = member(r, object, path, key, false);
  return item ? take_number(r, item, path, key, value) : !r->failed;
}

// Numbers of a list into value; the list's length is known to fit.
static bool take_numbers(Reader* r, const cJSON* list, const char* path, const char* key,
                         double* value) {
  int i = 0;
  for (const cJSON* c = list->child; c; c = c->next, i++) {
    char name[96];
    snprintf(name, sizeof name, "%s[%d]", key, i);
    if (!take_number(r, c, path, name, &value[i])) return false;
  }
  return true;
}

int read_vector(Reader* r, const cJSON* object, const char* path, const char* key, int least,
                int most, double* value) {
  const cJSON* list = read_list(r, object, path, key, false);
  if (!list) return 0;
  int n = cJSON_GetArraySize(list);
  if (n < least || n > most) {
    if (least == most) {
      read_fail(r, path, key, "expected %d numbers, not %d", most, n);
    } else {
      read_fail(r, path, key, "expected %d to %d numbers, not %d", least, most, n);
    }
    return 0;
  }
  return take_numbers(r, list, path, key, value) ? n : 0;
}

double* read_points(Reader* r, const cJSON* object, const char* path, const char* key, int* n) {
  const cJSON* list = read_list(r, object, path, key, true);
  if (!list) return NULL;
  int count = cJSON_GetArraySize(list);
  if (count == 0) {
    read_fail(r, path, key, "is empty");
    return NULL;
  }
  double* point = tool_alloc((size_t)count, 3 * sizeof *point);
  int i = 0;
  for (const cJSON* c = list->child; c && !r->failed; c = c->next, i++) {
    char name[64];
    snprintf(name, sizeof name, "%s[%d]", key, i);
    if (!cJSON_IsArray(c) || cJSON_GetArraySize(c) != 3) {
      read_fail(r, path, name, "expected 3 numbers");
    } else {
      take_numbers(r, c, path, name, point + 3 * i);
    }
  }
  if (r->failed) {
    free(point);
    return NULL;
  }
  *n = count;
  return point;
}
