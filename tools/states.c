#include "states.h"

#include <dijoco/array.h>

#include <string.h>

void states_header(djFile* file, const Engine* e) {
  char name[32];
  for (int i = 0; i < e->nstate; i++) {
    dj_printFile(file, "%s%s", i > 0 ? "," : "", dj_stateName(name, e->model, i));
  }
  dj_printFile(file, "\n");
}

void states_row(djFile* file, Engine* e) {
  const double* state = engine_state(e);
  for (int i = 0; i < e->nstate; i++) dj_printFile(file, "%s%.17g", i > 0 ? "," : "", state[i]);
  dj_printFile(file, "\n");
}

bool states_due(const Options* o, long k) { return k % (o->every > 0 ? o->every : 1) == 0; }

// The i-th name of a field of djStats, in order, or NULL.
static const char* stats_name(int i) {
  const char* name;
  for (int k = 0; (name = dj_dataArrayName(k)); k++) {
    if (strncmp(name, "stats.", 6) == 0 && i-- == 0) return name;
  }
  return NULL;
}

void stats_header(djFile* file) {
  const char* name;
  dj_printFile(file, "time");
  for (int i = 0; (name = stats_name(i)); i++) dj_printFile(file, ",%s", name + 6);
  dj_printFile(file, "\n");
}

void stats_row(djFile* file, const Engine* e) {
  djData* d = e->data;
  const char* name;
  dj_printFile(file, "%.17g", d->time);
  for (int i = 0; (name = stats_name(i)); i++) {
    djArray field;
    if (dj_dataArray(&field, e->model, d, name) < 0) continue;
    if (strcmp(name, "stats.ended") == 0) {
      dj_printFile(file, ",%s", dj_stepEndName(d->stats.ended));
    } else if (field.type == DJ_ARRAY_DOUBLE) {
      dj_printFile(file, ",%.17g", *(const double*)field.data);
    } else {
      bool wide = field.type == DJ_ARRAY_LONG;
      dj_printFile(file, ",%ld", wide ? *(const long*)field.data : *(const int*)field.data);
    }
  }
  dj_printFile(file, "\n");
}
