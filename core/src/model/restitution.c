#include "model/restitution.h"

typedef struct Numbers {
  double *given, *solref;
} Numbers;

static Numbers numbersOf(const djModel* m, djObject object, int id) {
  if (object == DJ_OBJ_PAIR) {
    return (Numbers){m->pair_restitution + id, m->pair_solref_restitution + id};
  }
  return (Numbers){m->geom_restitution + id, m->geom_solref_restitution + id};
}

double* dj_restitutionPlace(const djModel* m, djObject object, int id) {
  Numbers n = numbersOf(m, object, id);
  return m->opt.restitution == DJ_RESTITUTION_SOLREF && *n.solref > 0 ? n.solref : n.given;
}

void dj_giveRestitution(djModel* m, djObject object, int id, double value) {
  if (*dj_restitutionPlace(m, object, id) == value) return;
  Numbers n = numbersOf(m, object, id);
  *n.given = value;
  *n.solref = 0;
}

double dj_restitution(const djModel* m, int geom, int pair) {
  if (!m || geom >= m->ngeom || pair >= m->npair || (geom < 0) == (pair < 0)) return 0;
  return geom >= 0 ? *dj_restitutionPlace(m, DJ_OBJ_GEOM, geom)
                   : *dj_restitutionPlace(m, DJ_OBJ_PAIR, pair);
}
