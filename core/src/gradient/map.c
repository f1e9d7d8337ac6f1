#include "gradient/map.h"

#include "base/status.h"
#include "gradient/problem.h"

#include <limits.h>
#include <string.h>

static const djMapType* const table[] = {
#define X(name) &dj_map##name,
    DJ_MAPS(X)
#undef X
};
enum { NMAP = sizeof table / sizeof table[0] };

const djMapType* dj_findMapType(const char* name) {
  for (int i = 0; i < NMAP; i++) {
    if (strcmp(table[i]->entry.name, name) == 0) return table[i];
  }
  return NULL;
}

const djEntry* dj_mapEntry(int i) { return i >= 0 && i < NMAP ? &table[i]->entry : NULL; }

// Parameters by name, or the controls.
static djStatus findTargets(djMap* map, const djMapMaking* making) {
  const djMapDef* given = making->given;
  djError* err = making->err;
  if (given->nto == 0) return dj_fail(err, DJ_INVALID, "to: is missing");
  map->target = dj_poolTake(making->pool, (size_t)given->nto, sizeof *map->target);
  if (!map->target) return dj_failMemory(err);
  for (int i = 0; i < given->nto; i++) {
    djMapTarget* t = &map->target[i];
    *t = (djMapTarget){-1, 0, 1, making->horizon * making->model->nu};
    if (strcmp(given->to[i], "ctrl") != 0) {
      djParam param;
      djStatus status = dj_paramId(&param, making->model, given->to[i], err);
      if (status == DJ_OK) {
        status = dj_listParam(&t->param, making->problem, &param, making->pool, err);
      }
      if (status < 0) return dj_prefix(err, status, "to");
      t->n = param.nvalue;
    }
    for (int j = 0; j < i; j++) {
      if (map->target[j].param != t->param) continue;
      return dj_fail(err, DJ_INVALID, "to: '%.100s' is listed twice", given->to[i]);
    }
    if (t->n > INT_MAX - map->nout) return dj_fail(err, DJ_INVALID, "to: is too long");
    map->nout += t->n;
  }
  map->ntarget = given->nto;
  return DJ_OK;
}

djStatus dj_makeMap(djMap* map, const djMapMaking* making) {
  const djMapDef* given = making->given;
  const djProblem* p = making->problem;
  *map = (djMap){.type = dj_findMapType(given->type), .from = -1};
  if (!map->type) {
    return dj_fail(making->err, DJ_INVALID, "type: unknown map '%.100s'", given->type);
  }
  for (int i = 0; i < p->nfree; i++) {
    if (strcmp(p->free[i].name, given->from) == 0) map->from = i;
  }
  if (map->from < 0) {
    return dj_fail(making->err, DJ_INVALID, "from: there is no free vector '%.100s'", given->from);
  }
  map->nz = p->free[map->from].n;
  djStatus status = DJ_OK;
  if (map->type->to == DJ_MAPTO_ANY) {
    status = findTargets(map, making);
  } else if (map->type->to == DJ_MAPTO_CTRL && given->nto > 0 &&
             (given->nto > 1 || strcmp(given->to[0], "ctrl") != 0)) {
    status = dj_fail(making->err, DJ_INVALID, "to: must be 'ctrl'");
  }
  return status < 0 ? status : map->type->make(map, making);
}
