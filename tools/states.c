#include "states.h"

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
