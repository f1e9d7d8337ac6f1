// The table of optimizers.

#include "base/status.h"
#include "model/setting.h"
#include "optimize/run.h"

#include <stdio.h>
#include <string.h>

static const djOptimizerRow* const table[] = {
#define X(name) &dj_optimizer##name,
    DJ_OPTIMIZERS(X)
#undef X
};
enum { NROW = sizeof table / sizeof table[0] };

const djEntry* dj_optimizerEntry(int i) { return i >= 0 && i < NROW ? &table[i]->entry : NULL; }

const djOptimizerRow* dj_findOptimizer(const char* type) {
  for (int i = 0; type && i < NROW; i++) {
    if (strcmp(table[i]->entry.name, type) == 0) return table[i];
  }
  return NULL;
}

djStatus dj_failOptimizer(const char* type, djError* err) {
  char what[320];
  snprintf(what, sizeof what, "unknown optimizer '%.100s'", type ? type : "");
  for (int i = 0; i < NROW; i++) {
    dj_expectName(what, sizeof what, table[i]->entry.name, i == 0);
  }
  return dj_fail(err, DJ_INVALID, "%s", what);
}

djStatus dj_setOptimizerType(djOptimizer* o, const char* type, djError* err) {
  if (!o) return dj_fail(err, DJ_INVALID, "optimizer: NULL");
  const djOptimizerRow* row = dj_findOptimizer(type);
  if (!row) return dj_failOptimizer(type, err);
  o->type = row->entry.name;
  return DJ_OK;
}

static bool uses(const djOptimizerRow* row, const char* name) {
  const djKey* key = row->entry.key;
  while (key->name && strcmp(key->name, name) != 0) key++;
  return key->name;
}

djStatus dj_checkOptimizerKey(const djOptimizer* o, const char* key, djError* err) {
  if (!o || !key) return dj_fail(err, DJ_INVALID, "optimizer or key: NULL");
  const djOptimizerRow* row = dj_findOptimizer(o->type);
  if (!row) return dj_failOptimizer(o->type, err);
  char types[160] = "";
  for (int i = 0; i < NROW && !uses(row, key); i++) {
    if (!uses(table[i], key)) continue;
    size_t n = strlen(types);
    snprintf(types + n, sizeof types - n, "%s%s", n ? ", " : "", table[i]->entry.name);
  }
  if (!types[0]) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "%s: is not of the optimizer %s, but of %s", key, row->entry.name,
                 types);
}

bool dj_isOptimizer(const char* type) { return dj_findOptimizer(type) != NULL; }
