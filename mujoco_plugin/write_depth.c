// Depths of soft contact of a written scene: fields of single geoms and pairs (import_contact.c).

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdio.h>

static bool counts(const djModel* m) { return m->opt.softness == DJ_SOFTNESS_MUJOCO; }

bool djm_hasDepth(const djModel* m, int pair) { return counts(m) && m->pair_soft_depth[pair] > 0; }

bool djm_writeDepths(djmWrite* w) {
  const djModel* m = w->wanted;
  if (!counts(m)) return true;
  for (int i = 0; i < m->ngeom; i++) {
    double depth = m->geom_soft_depth[i];
    if (depth > 0 && !djm_setElementNumber(w, "soft_depth", i, -1, depth)) return false;
  }
  for (int i = 0; i < m->npair; i++) {
    double depth = m->pair_soft_depth[i];
    if (depth > 0 && !djm_setElementNumber(w, "soft_depth", -1, i, depth)) return false;
  }
  return true;
}

bool djm_checkDepths(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  char field[700];
  for (int i = 0; i < wanted->ngeom + wanted->npair && counts(wanted); i++) {
    int geom = i < wanted->ngeom ? i : -1, pair = geom < 0 ? i - wanted->ngeom : -1;
    double a = geom >= 0 ? got->geom_soft_depth[geom] : got->pair_soft_depth[pair];
    double b = geom >= 0 ? wanted->geom_soft_depth[geom] : wanted->pair_soft_depth[pair];
    if (fabs(a - b) <= tolerance * fmin(1, b)) continue;
    djm_fieldName(field, sizeof field, "soft_depth", wanted, geom, pair);
    snprintf(err->text, sizeof err->text,
             "%.200s: could not be written: it is %.17g there, not %.17g", field, a, b);
    return false;
  }
  return true;
}
