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

bool dj_isOptimizer(const char* type) { return dj_findOptimizer(type) != NULL; }
