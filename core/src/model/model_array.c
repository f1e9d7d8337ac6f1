// Fields of a model by name.

#include "model/fields.h"

#include <string.h>

#define SIZES(X)                                                                               \
  X(nq) X(nv) X(nu) X(na) X(nbody) X(njnt) X(ngeom) X(nmesh) X(nmeshvert) X(nmeshface) X(nsite) \
  X(nmocap) X(npair) X(nexclude) X(nkey) X(nnames) X(gravity_ramp) X(total_mass) X(moving_mass)

#define SETTINGS(X)                                                                            \
  X(support) X(length_scale) X(stiffness) X(skin) X(friction_eps) X(range) X(weight) X(radius) \
  X(gravity)

bool dj_optionArray(djArray* array, const djOption* o, const char* wanted) {
#define X(name, columns)                                                                    \
  if (strcmp(wanted, #name) == 0) {                                                         \
    djArrayType type = DJ_TYPE_OF(DJ_FIRST_##columns(o->name));                             \
    *array = dj_array(&o->name, type, 1, columns, sizeof(o->name));                         \
    return true;                                                                            \
  }
  DJ_OPTIONS(X)
#undef X
  return false;
}

// An array of the model; rows and columns are expressions in its sizes.
static bool findArray(djArray* array, const djModel* m, const char* wanted) {
  int nq = m->nq, nv = m->nv, nu = m->nu, na = m->na, nbody = m->nbody, njnt = m->njnt;
  int ngeom = m->ngeom, nmesh = m->nmesh, nmeshvert = m->nmeshvert, nmeshface = m->nmeshface;
  int nsite = m->nsite, nmocap = m->nmocap, npair = m->npair, nexclude = m->nexclude;
  int nkey = m->nkey, nnames = m->nnames;
#define X(type, name, rows, columns)                                                        \
  if (strcmp(wanted, #name) == 0) {                                                         \
    *array = dj_array(m->name, DJ_TYPE_OF(m->name), rows, columns,                          \
                      (size_t)(columns) * sizeof(type));                                    \
    return true;                                                                            \
  }
  DJ_MODEL_ARRAYS(X)
#undef X
  return false;
}

djStatus dj_modelArray(djArray* array, const djModel* m, const char* wanted) {
  if (!array) return DJ_INVALID;
  *array = (djArray){0};
  if (!m || !wanted) return DJ_INVALID;
  if (strncmp(wanted, "opt.", 4) == 0) {
    return dj_optionArray(array, &m->opt, wanted + 4) ? DJ_OK : DJ_INVALID;
  }
#define X(name)                                                                             \
  if (strcmp(wanted, #name) == 0) {                                                         \
    *array = dj_array(&m->name, DJ_TYPE_OF(&m->name), 1, 1, sizeof(m->name));               \
    return DJ_OK;                                                                           \
  }
  SIZES(X)
#undef X
#define X(name)                                                                             \
  if (strcmp(wanted, "contact." #name) == 0) {                                              \
    *array = dj_array(&m->contact.name, DJ_ARRAY_DOUBLE, 1, 1, sizeof(double));             \
    return DJ_OK;                                                                           \
  }
  SETTINGS(X)
#undef X
  return findArray(array, m, wanted) ? DJ_OK : DJ_INVALID;
}

const char* dj_modelArrayName(int i) {
  static const char* const name[] = {
#define X(name) #name,
      SIZES(X)
#undef X
#define X(name, columns) "opt." #name,
      DJ_OPTIONS(X)
#undef X
#define X(name) "contact." #name,
      SETTINGS(X)
#undef X
#define X(type, name, rows, columns) #name,
      DJ_MODEL_ARRAYS(X)
#undef X
  };
  return i >= 0 && i < (int)(sizeof name / sizeof name[0]) ? name[i] : NULL;
}
