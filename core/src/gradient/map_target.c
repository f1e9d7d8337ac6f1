#include "gradient/map.h"

#include "base/status.h"

djStatus dj_targetCtrl(djMap* map, const djMapTarget* target, int n, const djMapMaking* making) {
  map->target = dj_poolTake(making->pool, (size_t)n, sizeof *map->target);
  if (!map->target) return dj_failMemory(making->err);
  map->ntarget = n;
  map->nout = 0;
  for (int i = 0; i < n; i++) {
    map->target[i] = target[i];
    map->nout += target[i].n;
  }
  return DJ_OK;
}

djStatus dj_targetActuators(djMap* map, const djMapMaking* making) {
  const djModel* m = making->model;
  const djKey* key = map->type->entry.key;
  djMapTarget target[DJ_NMAPARG];
  int n = 0;
  for (int k = 0; key[k].name; k++) {
    const djMapArg* arg = &making->given->arg[k];
    if (key[k].object != DJ_OBJ_ACTUATOR || !arg->given) continue;
    int id = dj_name2id(m, DJ_OBJ_ACTUATOR, arg->text);
    if (id < 0) {
      return dj_fail(making->err, DJ_INVALID, "%s: there is no '%.100s'", key[k].name, arg->text);
    }
    for (int i = 0; i < n; i++) {
      if (target[i].start != id) continue;
      return dj_fail(making->err, DJ_INVALID, "%s: '%.100s' is given twice", key[k].name,
                     arg->text);
    }
    target[n++] = (djMapTarget){-1, id, m->nu, making->horizon};
  }
  return dj_targetCtrl(map, target, n, making);
}

djStatus dj_checkFrom(const djMap* map, int n, const djMapMaking* making) {
  if (map->nz == n) return DJ_OK;
  return dj_fail(making->err, DJ_INVALID, "from: '%.100s' must be %d numbers",
                 making->given->from, n);
}
