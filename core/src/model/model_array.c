// Fields of a model by name.

#include "model/fields.h"

#include <dijoco/setting.h>

#include <string.h>

#define SIZES(X)                                                                                 \
  X(nq) X(nv) X(nu) X(na) X(nbody) X(njnt) X(ngeom) X(nmesh) X(nmeshvert) X(nmeshface)           \
  X(nmeshtri) X(nsite) X(nmocap) X(ntendon) X(nwrap) X(ncoord) X(ncoorddof) X(ncrank) X(npair)   \
  X(nexclude) X(nguide) X(nkey) X(nnames) X(nkernelsetting) X(nsetting) X(nparamkind)       \
  X(defaults_kept) X(changed)                                                                     \
  X(nsurface) X(npoint) X(nequality) X(nequalitycoord) X(nhfield) X(nhfielddata) X(nflex)         \
  X(nflexvert) X(nflexedge) X(nflexelem) X(total_mass) X(moving_mass)

// Numbers of djContactSettings that are no settings.
#define SCALES(X) X(range) X(weight) X(gravity)

static djArray ofSetting(const char* place, const djSetting* s) {
  bool real = s->kind == DJ_SETTING_REAL;
  size_t size = real ? (size_t)s->size * sizeof(double) : sizeof(int);
  return dj_array(place, real ? DJ_ARRAY_DOUBLE : DJ_ARRAY_INT, 1, s->size, size);
}

bool dj_optionArray(djArray* array, const djOption* o, const char* wanted) {
  const djSetting* s = dj_findSetting(wanted, 0);
  if (s) *array = ofSetting((const char*)o + s->offset, s);
  return s != NULL;
}

// A setting in force, or what else djContactSettings has.
static bool findContact(djArray* array, const djModel* m, const char* wanted) {
  const djSetting* s;
  for (int i = 0; (s = dj_setting(i)); i++) {
    if (strcmp(s->in_force, wanted) != 0) continue;
    *array = ofSetting((const char*)m + s->in_force_offset, s);
    return true;
  }
#define X(name)                                                                             \
  if (strcmp(wanted, "contact." #name) == 0) {                                              \
    *array = dj_array(&m->contact.name, DJ_ARRAY_DOUBLE, 1, 1, sizeof(double));             \
    return true;                                                                            \
  }
  SCALES(X)
#undef X
  return false;
}

// An array of the model; rows and columns are expressions in its sizes.
static bool findArray(djArray* array, const djModel* m, const char* wanted) {
  int nq = m->nq, nv = m->nv, nu = m->nu, na = m->na, nbody = m->nbody, njnt = m->njnt;
  int ngeom = m->ngeom, nmesh = m->nmesh, nmeshvert = m->nmeshvert, nmeshface = m->nmeshface;
  int nmeshtri = m->nmeshtri;
  int nsite = m->nsite, nmocap = m->nmocap, npair = m->npair, nexclude = m->nexclude;
  int nguide = m->nguide;
  int nkey = m->nkey, nnames = m->nnames, ncoord = m->ncoord, ncoorddof = m->ncoorddof;
  int nkernelsetting = m->nkernelsetting, nsetting = m->nsetting;
  int ntendon = m->ntendon, nwrap = m->nwrap, nparamkind = m->nparamkind;
  int nsurface = m->nsurface, npoint = m->npoint, nequality = m->nequality;
  int nhfield = m->nhfield, nhfielddata = m->nhfielddata, nflex = m->nflex;
  int nflexvert = m->nflexvert, nflexedge = m->nflexedge, nflexelem = m->nflexelem;
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
#define X(name)                                                                             \
  if (strcmp(wanted, #name) == 0) {                                                         \
    *array = dj_array(&m->name, DJ_TYPE_OF(&m->name), 1, 1, sizeof(m->name));               \
    return DJ_OK;                                                                           \
  }
  SIZES(X)
#undef X
  if (strcmp(wanted, "gravity_ramp") == 0) wanted = "opt.gravity_ramp";
  if (strncmp(wanted, "opt.", 4) == 0) {
    return dj_optionArray(array, &m->opt, wanted + 4) ? DJ_OK : DJ_INVALID;
  }
  bool found = findContact(array, m, wanted) || findArray(array, m, wanted);
  return found ? DJ_OK : DJ_INVALID;
}

// The i-th name of the settings' own fields, or of those in force in djContactSettings. *i counts
// down.
static const char* settingName(int* i, bool in_force) {
  const djSetting* s;
  for (int k = 0; (s = dj_setting(k)); k++) {
    bool other = strcmp(s->in_force, s->field) != 0;
    if (in_force && !other) continue;
    if ((*i)-- == 0) return in_force ? s->in_force : s->field;
  }
  return NULL;
}

const char* dj_modelArrayName(int i) {
  static const char* const first[] = {
#define X(name) #name,
      SIZES(X)
#undef X
      "gravity_ramp"};
  static const char* const last[] = {
#define X(name) "contact." #name,
      SCALES(X)
#undef X
#define X(type, name, rows, columns) #name,
      DJ_MODEL_ARRAYS(X)
#undef X
  };
  enum { NFIRST = sizeof first / sizeof first[0], NLAST = sizeof last / sizeof last[0] };
  if (i < 0) return NULL;
  if (i < NFIRST) return first[i];
  i -= NFIRST;
  const char* name = settingName(&i, false);
  if (!name) name = settingName(&i, true);
  return name || i >= NLAST ? name : last[i];
}
