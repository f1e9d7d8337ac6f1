// How large the numbers of a definition may be: their products, squares and cubes are computed, and
// must not overflow.

#include "base/status.h"
#include "model/check.h"
#include "model/element.h"
#include "model/geom_row.h"
// Sizes that a geom's type uses, and times of filters, are divided by.
static djStatus checkDivisors(const djModelDef* def, djError* err) {
  for (int i = 0; i < def->ngeom; i++) {
    const djGeomDef* g = &def->geom[i];
    for (int k = 0; k < dj_geomRow((int)g->type)->nsize; k++) {
      const char* problem = dj_smallProblem(g->size[k]);
      if (!problem) continue;
      return dj_fail(err, DJ_INVALID, "%s: size %s", dj_elementText("geom", g->name, i).text,
                     problem);
    }
  }
  for (int i = 0; i < def->nu; i++) {
    const djActuatorDef* a = &def->actuator[i];
    const char *tau = dj_smallProblem(a->tau), *rod = dj_smallProblem(a->cranklength);
    if (!tau && (!rod || a->cranksite < 0)) continue;
    return dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("actuator", a->name, i).text,
                   tau ? "tau" : "cranklength", tau ? tau : rod);
  }
  for (int i = 0; i < def->ntendon; i++) {
    const djTendonDef* t = &def->tendon[i];
    for (int k = 0; k < t->nwrap; k++) {
      const char* problem = dj_smallProblem(t->wrap[k].prm);
      const char* large = dj_sizeProblem(&t->wrap[k].prm, 1, DJ_LARGEST);
      if ((t->wrap[k].type != DJ_WRAP_PULLEY || !problem) && !large) continue;
      return dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("tendon", t->name, i).text,
                     large ? "prm" : "divisor of a pulley", large ? large : problem);
    }
  }
  return DJ_OK;
}

djStatus dj_checkSizes(const djModelDef* def, djError* err) {
  djStatus s = checkDivisors(def, err);
  for (int i = 0; i < def->nmesh && s == DJ_OK; i++) {
    const djMeshDef* m = &def->mesh[i];
    for (int k = 0; k < m->nvert && s == DJ_OK; k++) {
      if (!dj_sizeProblem(m->vert + 3 * (size_t)k, 3, DJ_LARGEST)) continue;
      s = dj_fail(err, DJ_INVALID, "%s: vertex %d is farther away than 1e20",
                  dj_elementText("mesh", m->name, i).text, k);
    }
  }
  for (int i = 0; i < def->nhfield && s == DJ_OK; i++) {
    const djHfieldDef* h = &def->hfield[i];
    const char* problem = dj_sizeProblem(h->size, 3, DJ_LARGEST);
    for (int k = 0; k < 2 && !problem; k++) problem = dj_smallProblem(h->size[k]);
    const char* name = problem ? "size" : "a height";
    for (int j = 0; j < h->nrow && !problem; j++) {
      problem = dj_sizeProblem(h->height + (size_t)j * (size_t)h->ncol, h->ncol, DJ_LARGEST);
    }
    if (!problem) continue;
    s = dj_fail(err, DJ_INVALID, "%s: %s %s", dj_elementText("hfield", h->name, i).text, name,
                problem);
  }
  static const int kinds[] = {DJ_OBJ_GEOM,   // before the masses that come from them
                              DJ_OBJ_BODY,     DJ_OBJ_JOINT, DJ_OBJ_SITE,    DJ_OBJ_TENDON,
                              DJ_OBJ_ACTUATOR, DJ_OBJ_PAIR,  DJ_OBJ_EQUALITY};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && s == DJ_OK; k++) {
    s = dj_checkKindSizes(def, kinds[k], err);
  }
  return s;
}
