#include "gradient/map.h"

#include "base/status.h"

djStatus dj_targetCtrl(djMap* map, int start, int stride, int n, const djMapMaking* making) {
  map->target = dj_poolTake(making->pool, 1, sizeof *map->target);
  if (!map->target) return dj_failMemory(making->err);
  map->target[0] = (djMapTarget){-1, start, stride, n};
  map->ntarget = 1;
  map->nout = n;
  return DJ_OK;
}

djStatus dj_checkFrom(const djMap* map, int n, const djMapMaking* making) {
  if (map->nz == n) return DJ_OK;
  return dj_fail(making->err, DJ_INVALID, "from: '%.100s' must be %d numbers",
                 making->given->from, n);
}
