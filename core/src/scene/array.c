// Fields of a data by name, and options of a model one by one.

#include "base/status.h"
#include "integrate/work.h"
#include "model/fields.h"

#include <math.h>
#include <string.h>

// State, inputs and results: X(name, rows, columns).
#define ARRAYS(X)                                                                             \
  X(qpos, nq, 1) X(qvel, nv, 1) X(act, na, 1) X(ctrl, nu, 1) X(qfrc_applied, nv, 1)           \
  X(xfrc_applied, nbody, 6) X(mocap_pos, nmocap, 3) X(mocap_quat, nmocap, 4)                  \
  X(mocap_last_pos, nmocap, 3) X(mocap_last_quat, nmocap, 4)                                  \
  X(xpos, nbody, 3) X(xquat, nbody, 4) X(xmat, nbody, 9) X(xipos, nbody, 3)                   \
  X(site_xpos, nsite, 3) X(geom_xpos, ngeom, 3) X(geom_xmat, ngeom, 9)

#define NUMBERS(X) X(time) X(gravity_scale) X(ncontact) X(npair)

#define STATS(X)                                                                              \
  X(steps) X(newton_iterations) X(unconverged_steps) X(recovering_steps) X(fallback_steps)      \
  X(impact_steps)                                                                             \
  X(iterations) DJ_STEP_COUNTS(X) X(parts) X(near_pairs) X(loaded_pairs) X(ended)             \
  X(recovering) X(residual) X(worst_residual)                                                 \
  X(gap) X(smallest_gap) X(overlap) X(deepest_overlap)

// Fields of the entries of lists: X(list, count, name, columns).
#define LISTS(X)                                                                              \
  X(contact, ncontact, body1, 1) X(contact, ncontact, body2, 1)                               \
  X(contact, ncontact, force, 3) X(contact, ncontact, torque, 3)                              \
  X(pair, npair, geom1, 1) X(pair, npair, geom2, 1) X(pair, npair, gap, 1)                    \
  X(pair, npair, normal, 3) X(pair, npair, point, 3) X(pair, npair, force, 3)                 \
  X(pair, npair, normal_force, 1) X(pair, npair, recovering, 1)

static bool findNumber(djArray* array, const djModel* m, djData* d, const char* wanted) {
#define X(name)                                                                             \
  if (strcmp(wanted, #name) == 0) {                                                         \
    *array = dj_array(&d->name, DJ_TYPE_OF(&d->name), 1, 1, sizeof(d->name));               \
    return true;                                                                            \
  }
  NUMBERS(X)
#undef X
#define X(name)                                                                             \
  if (strcmp(wanted, "stats." #name) == 0) {                                                \
    *array = dj_array(&d->stats.name, DJ_TYPE_OF(&d->stats.name), 1, 1, sizeof(d->stats.name)); \
    return true;                                                                            \
  }
  STATS(X)
#undef X
  if (strcmp(wanted, "history") == 0) {
    int n = dj_historySize(m);
    *array = dj_array(d->history, DJ_ARRAY_DOUBLE, n > 0, n, (size_t)n * sizeof(double));
    return true;
  }
  if (strcmp(wanted, "eq_active") == 0) {
    *array = dj_array(d->eq_active, DJ_ARRAY_INT, m->nequality, 1, sizeof(int));
    return true;
  }
  if (strcmp(wanted, "energy") != 0) return false;
  *array = dj_array(d->energy, DJ_ARRAY_DOUBLE, 1, 2, sizeof(d->energy));
  return true;
}

// A field of a list's entries, a row each. Lists have memory when they are empty, too.
static bool findList(djArray* array, djData* d, const char* wanted) {
#define X(list, count, name, columns)                                                       \
  if (strcmp(wanted, #list "." #name) == 0) {                                               \
    *array = dj_array(DJ_FIRST_##columns(d->list->name),                                    \
                      DJ_TYPE_OF(DJ_FIRST_##columns(d->list->name)), d->count, columns,     \
                      sizeof(d->list[0]));                                                  \
    return true;                                                                            \
  }
  LISTS(X)
#undef X
  return false;
}

djStatus dj_dataArray(djArray* array, const djModel* m, djData* d, const char* wanted) {
  if (!array) return DJ_INVALID;
  *array = (djArray){0};
  if (!m || !d || !wanted) return DJ_INVALID;
#define X(name, nrow, ncolumn)                                                              \
  if (strcmp(wanted, #name) == 0) {                                                         \
    *array = dj_array(d->name, DJ_ARRAY_DOUBLE, m->nrow, ncolumn, (ncolumn) * sizeof(double)); \
    return DJ_OK;                                                                           \
  }
  ARRAYS(X)
#undef X
  return findNumber(array, m, d, wanted) || findList(array, d, wanted) ? DJ_OK : DJ_INVALID;
}

const char* dj_dataArrayName(int i) {
  static const char* const names[] = {
#define X(name, rows, columns) #name,
      ARRAYS(X)
#undef X
#define X(name) #name,
      NUMBERS(X)
#undef X
      "history", "energy", "eq_active",
#define X(name) "stats." #name,
      STATS(X)
#undef X
#define X(list, count, name, columns) #list "." #name,
      LISTS(X)
#undef X
  };
  return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

djStatus dj_setOptionEntry(djModel* m, const char* name, const double* value, int n,
                           djError* err) {
  if (!m || !name || !value) return dj_fail(err, DJ_INVALID, "model, name or value: NULL");
  djOption option = m->opt;
  djArray field;
  if (!dj_optionArray(&field, &option, name)) {
    return dj_fail(err, DJ_INVALID, "%.100s: unknown option", name);
  }
  if (n != field.columns) {
    return dj_fail(err, DJ_INVALID, "%s: expected %d numbers, not %d", name, field.columns, n);
  }
  if (field.type == DJ_ARRAY_DOUBLE) {
    memcpy(field.data, value, (size_t)n * sizeof(double));
    return dj_setOption(m, &option, err);
  }
  if (!(fabs(value[0]) < 1e9) || value[0] != floor(value[0])) {
    return dj_fail(err, DJ_INVALID, "%s: %g is not an integer", name, value[0]);
  }
  *(int*)field.data = (int)value[0];
  return dj_setOption(m, &option, err);
}
