#include "states.h"

static void names(djFile* file, const char* name, int n) {
  for (int i = 0; i < n; i++) dj_printFile(file, ",%s[%d]", name, i);
}

static void numbers(djFile* file, const double* value, int n) {
  for (int i = 0; i < n; i++) dj_printFile(file, ",%.17g", value[i]);
}

void states_header(djFile* file, const djModel* m) {
  dj_printFile(file, "time");
  names(file, "qpos", m->nq);
  names(file, "qvel", m->nv);
  names(file, "act", m->na);
  dj_printFile(file, "\n");
}

void states_row(djFile* file, const Engine* e) {
  dj_printFile(file, "%.17g", e->time);
  numbers(file, e->qpos, e->model->nq);
  numbers(file, e->qvel, e->model->nv);
  numbers(file, e->act, e->model->na);
  dj_printFile(file, "\n");
}

bool states_due(const Options* o, long k) { return k % (o->every > 0 ? o->every : 1) == 0; }
