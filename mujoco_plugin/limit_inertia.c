// Inertia that limits count by, and gravity as default rules of contact know it, where these are
// not what the compiled scene has.
//
// Limits of joints and tendons are stiff by what they move at qpos0 (jnt_effinertia). Designs keep
// what that was when their scene was compiled, and so does a scene that is written for one:
//   numeric dijoco_limit_inertia/joint/NAME, dijoco_limit_inertia/tendon/NAME   kg, kg m^2
//   numeric dijoco_rules/gravity   m/s^2
// NAME may be "#id".

#include "import.h"
#include "write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kPrefix[] = "dijoco_limit_inertia/", kGravity[] = "dijoco_rules/gravity";

bool djm_isLimitInertia(const char* field) {
  return strncmp(field, kPrefix, strlen(kPrefix)) == 0 || strcmp(field, kGravity) == 0;
}

// ---- reading -----------------------------------------------------------------------------------

// Where a model has the number of a field; NULL: there is no such element.
static double* placeOf(djModel* m, const char* field) {
  if (strcmp(field, kGravity) == 0) return &m->contact.gravity;
  const char* kind = field + strlen(kPrefix);
  const bool joint = strncmp(kind, "joint/", 6) == 0;
  if (!joint && strncmp(kind, "tendon/", 7) != 0) return NULL;
  const char* name = kind + (joint ? 6 : 7);
  const int n = joint ? m->njnt : m->ntendon;
  int id = dj_name2id(m, joint ? DJ_OBJ_JOINT : DJ_OBJ_TENDON, name);
  if (id < 0 && name[0] == '#') {
    char* end;
    const long number = strtol(name + 1, &end, 10);
    if (end != name + 1 && !*end && number >= 0 && number < n) id = (int)number;
  }
  if (id < 0) return NULL;
  return joint ? &m->jnt_effinertia[id] : &m->tendon_effinertia[id];
}

djStatus djm_setLimitInertia(djModel* model, djmImport* imp) {
  const mjModel* m = imp->m;
  for (int i = 0; i < m->nnumeric; i++) {
    const char* field = djm_name(m, m->name_numericadr[i]);
    if (!djm_isLimitInertia(field)) continue;
    double* place = placeOf(model, field);
    const double value = m->numeric_size[i] == 1 ? m->numeric_data[m->numeric_adr[i]] : NAN;
    const char* problem = NULL;
    if (!place) problem = "there is no joint or tendon of that name";
    else if (!(value > 0 && isfinite(value))) problem = "one positive number is expected";
    if (!problem) {
      *place = value;
      continue;
    }
    snprintf(imp->err->text, sizeof imp->err->text, "numeric/%.200s: %s", field, problem);
    return DJ_INVALID;
  }
  return DJ_OK;
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct djmLimits {
  const char* kind;
  djObject object;
  int n;
  const int* limited;
  const double *got, *wanted;
} djmLimits;

static void listLimits(djmLimits list[2], const djModel* got, const djModel* wanted) {
  list[0] = (djmLimits){"joint", DJ_OBJ_JOINT, wanted->njnt, wanted->jnt_limited,
                        got->jnt_effinertia, wanted->jnt_effinertia};
  list[1] = (djmLimits){"tendon", DJ_OBJ_TENDON, wanted->ntendon, wanted->tendon_limited,
                        got->tendon_effinertia, wanted->tendon_effinertia};
}

static void nameField(char* field, size_t size, const djModel* m, const djmLimits* l, int id) {
  const char* own = dj_id2name(m, l->object, id);
  if (*own) snprintf(field, size, "%s%s/%s", kPrefix, l->kind, own);
  else snprintf(field, size, "%s%s/#%d", kPrefix, l->kind, id);
}

bool djm_writeLimits(djmWrite* w, const mjModel* made, bool* changed) {
  djModel* got = NULL;
  djmLimits list[2];
  *changed = false;
  djStatus status = dj_importMuJoCo(&got, NULL, made, w->err);
  if (status != DJ_OK) {
    w->status = status;
    return false;
  }
  bool good = true;
  if (got->contact.gravity != w->wanted->contact.gravity) {
    good = djm_setNumber(w, kGravity, w->wanted->contact.gravity);
    *changed = true;
  }
  listLimits(list, got, w->wanted);
  for (int k = 0; k < 2; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0; i < l->n && good; i++) {
      char field[700];
      if (!l->limited[i] || l->got[i] == l->wanted[i]) continue;
      nameField(field, sizeof field, w->wanted, l, i);
      good = djm_setNumber(w, field, l->wanted[i]);
      *changed = true;
    }
  }
  dj_deleteModel(got);
  return good;
}

bool djm_checkLimits(const djModel* got, const djModel* wanted, double tolerance, djError* err) {
  djmLimits list[2];
  const double g = got->contact.gravity, want = wanted->contact.gravity;
  if (fabs(g - want) > tolerance * want) {
    snprintf(err->text, sizeof err->text,
             "%s: could not be written: it is %.17g there, not %.17g", kGravity, g, want);
    return false;
  }
  listLimits(list, got, wanted);
  for (int k = 0; k < 2; k++) {
    const djmLimits* l = &list[k];
    for (int i = 0; i < l->n; i++) {
      char field[700];
      if (!l->limited[i] || fabs(l->got[i] - l->wanted[i]) <= tolerance * l->wanted[i]) continue;
      nameField(field, sizeof field, wanted, l, i);
      snprintf(err->text, sizeof err->text,
               "%.200s: could not be written: it is %.17g there, not %.17g", field, l->got[i],
               l->wanted[i]);
      return false;
    }
  }
  return true;
}
