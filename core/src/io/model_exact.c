#include "io/model_exact.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dj_isExactArray(const char* name) {
  return strcmp(name, "nsetting") != 0 && strcmp(name, "defaults_kept") != 0 &&
         strcmp(name, "changed") != 0 && strncmp(name, "setting_", 8) != 0;
}

// The i-th number of an array of doubles.
static double* numberOf(const djArray* a, int i) {
  char* row = (char*)a->data + (size_t)(i / a->columns) * (size_t)a->stride;
  return (double*)(void*)row + i % a->columns;
}

// Whether numbers may stand in for another array's, and whether they have to.
static bool differs(const djArray* a, const djArray* b) {
  if (a->type != DJ_ARRAY_DOUBLE || b->type != DJ_ARRAY_DOUBLE || a->rows != b->rows ||
      a->columns != b->columns) {
    return false;
  }
  for (int i = 0; i < a->rows * a->columns; i++) {
    if (memcmp(numberOf(a, i), numberOf(b, i), sizeof(double)) != 0) return true;
  }
  return false;
}

void dj_addExactArrays(djText* t, const djModel* m, const djModel* again) {
  bool any = false;
  const char* name;
  for (int i = 0; (name = dj_modelArrayName(i)); i++) {
    djArray a, b;
    if (!dj_isExactArray(name) || dj_modelArray(&a, m, name) < 0 ||
        dj_modelArray(&b, again, name) < 0 || !differs(&a, &b)) {
      continue;
    }
    dj_addText(t, any ? ",\n    " : ",\n  \"exact\": {\n    ");
    dj_addQuoted(t, name);
    for (int k = 0; k < a.rows * a.columns; k++) {
      dj_addText(t, k > 0 ? ", " : ": [");
      dj_addJsonNumber(t, *numberOf(&a, k));
    }
    dj_addText(t, "]");
    any = true;
  }
  if (any) dj_addText(t, "\n  }");
}

static djStatus readArray(djArray* a, const cJSON* item, const djAt* at) {
  const int n = a->rows * a->columns;
  double* value = malloc(((size_t)n + 1) * sizeof *value);
  if (!value) return dj_failMemory(at->err);
  djStatus status = dj_jsonReals(value, n, item, at);
  for (int i = 0; i < n && status == DJ_OK; i++) {
    if (isfinite(*numberOf(a, i)) && !isfinite(value[i])) {
      status = dj_jsonFail(at, item->string, "must be finite");
    } else {
      *numberOf(a, i) = value[i];
    }
  }
  free(value);
  return status;
}

djStatus dj_readExact(djModel* m, const cJSON* exact, djError* err) {
  const djAt at = {err, "exact"};
  djStatus status = DJ_OK;
  if (!exact) return DJ_OK;
  if (!cJSON_IsObject(exact)) return dj_jsonFail(&at, NULL, "must be an object");
  for (const cJSON* item = exact->child; item && status == DJ_OK; item = item->next) {
    djArray a;
    if (dj_modelArray(&a, m, item->string) < 0 || a.type != DJ_ARRAY_DOUBLE) {
      return dj_jsonFail(&at, item->string, "is no array of numbers");
    }
    status = readArray(&a, item, &at);
  }
  m->changed = 1;
  return status;
}
