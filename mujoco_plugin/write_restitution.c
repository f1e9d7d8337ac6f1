// Coefficients of restitution of a written scene.
//
// Those that follow from solref (import_restitution.c) become another one, of the same stiffness and
// of the damping ratio that stands for the new coefficient: stock MuJoCo rebounds so, too. It is of
// the direct form, which counts where MuJoCo would mix it with one of the other form. What solref
// cannot say is a number in <custom> (import_contact.c), as what is given is.

#include "import.h"
#include "write.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

// Of a geom or (geom -1) an explicit pair, as an option has it. Scenes that are made of no MJCF (m:
// NULL) have MuJoCo's default solref.
static double restitution(const djModel* m, const djOption* option, int geom, int pair) {
  double given = 0, solref = 0;
  if (m) given = geom >= 0 ? m->geom_restitution[geom] : m->pair_restitution[pair];
  if (m) solref = geom >= 0 ? m->geom_solref_restitution[geom] : m->pair_solref_restitution[pair];
  return option->restitution == DJ_RESTITUTION_SOLREF && solref > 0 ? solref : given;
}

bool djm_hasRestitution(const djModel* m, int pair) {
  return restitution(m, &m->opt, -1, pair) != restitution(NULL, &m->opt, -1, pair);
}

mjsElement* djm_specElement(int* id, const djmWrite* w, int geom, int pair) {
  mjtObj type = geom >= 0 ? mjOBJ_GEOM : mjOBJ_PAIR;
  *id = geom >= 0 ? geom : djm_pairNumber(w->m, pair);
  mjsElement* e = mjs_firstElement(w->spec, type);
  while (e && mjs_getId(e) != *id) e = mjs_nextElement(w->spec, e);
  return e;
}

// In a step MuJoCo takes the share b h of the approach away, and what is beyond 1 bounces.
static bool findSolref(mjtNum solref[2], double e, const mjModel* m, const mjtNum* old,
                       const mjtNum* solimp) {
  double k, b, dmin, dmax, z = djm_dampingRatio(e);
  djm_softness(&k, &b, &dmin, &dmax, m, old, solimp);
  if (!(k > 0 && 2 * z * sqrt(k) * m->opt.timestep <= 1)) return false;
  solref[0] = -k * dmax * dmax;
  solref[1] = z > 0 ? -2 * z * sqrt(-solref[0]) : 0;
  return fabs(djm_solrefRestitution(solref) - e) <= 64 * DBL_EPSILON * e;
}

// True: it is said by solref.
static bool writeSolref(djmWrite* w, const char* field, mjsElement* element, int id, bool geom,
                        double e) {
  const mjModel* m = w->m;
  mjtNum solref[2];
  bool given = mjs_findElement(w->spec, mjOBJ_NUMERIC, field) ||
               mjs_findElement(w->spec, mjOBJ_TEXT, field);
  bool counts = w->wanted->opt.restitution == DJ_RESTITUTION_SOLREF && !given &&
                !(m->opt.enableflags & mjENBL_OVERRIDE);
  if (!counts || !element) return false;
  const mjtNum* old = (geom ? m->geom_solref : m->pair_solref) + mjNREF * id;
  const mjtNum* solimp = (geom ? m->geom_solimp : m->pair_solimp) + mjNIMP * id;
  if (!findSolref(solref, e, m, old, solimp)) return false;
  mju_copy(geom ? mjs_asGeom(element)->solref : mjs_asPair(element)->solref, solref, 2);
  return true;
}

bool djm_writeRestitution(djmWrite* w, int geom, int pair) {
  char field[700];
  const djOption* option = &w->wanted->opt;
  double wanted = restitution(w->wanted, option, geom, pair);
  if (wanted == restitution(w->base, option, geom, pair)) return true;
  int id;
  mjsElement* element = djm_specElement(&id, w, geom, pair);
  djm_fieldName(field, sizeof field, "restitution", w->wanted, geom, pair);
  if (writeSolref(w, field, element, id, geom >= 0, wanted)) return true;
  return djm_setElementNumber(w, "restitution", geom, pair, wanted);
}

bool djm_setElementNumber(djmWrite* w, const char* name, int geom, int pair, double value) {
  char field[700], own[600];
  int id;
  mjsElement* element = djm_specElement(&id, w, geom, pair);
  djm_fieldName(field, sizeof field, name, w->wanted, geom, pair);
  if (geom < 0 && element && !mjs_getString(mjs_getName(element))[0]) {
    djm_pairName(own, sizeof own, w->wanted, pair);   // the field needs one
    mjs_setName(element, own);
  }
  return djm_setNumber(w, field, value);
}

bool djm_checkRestitution(char* field, size_t size, double* got, double* wanted,
                          const djModel* a, const djModel* b, double tolerance) {
  for (int i = 0; i < b->ngeom + b->npair; i++) {
    int geom = i < b->ngeom ? i : -1, pair = geom < 0 ? i - b->ngeom : -1;
    *got = restitution(a, &a->opt, geom, pair);
    *wanted = restitution(b, &b->opt, geom, pair);
    if (fabs(*got - *wanted) <= tolerance) continue;
    djm_fieldName(field, size, "restitution", b, geom, pair);
    return false;
  }
  return true;
}
