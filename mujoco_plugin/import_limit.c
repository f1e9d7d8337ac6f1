// Inertia that limits count by, and gravity as default rules of contact know it, where these are
// not what the compiled scene has.
//
// Limits of joints and tendons are stiff by what they move at qpos0 (jnt_effinertia). Designs keep
// what that was when their scene was compiled, and so does a scene that is written for one:
//   numeric dijoco_limit_inertia/joint/NAME, dijoco_limit_inertia/tendon/NAME   kg, kg m^2
//   numeric dijoco_rules/gravity   m/s^2
// NAME may be "#id".

#include "import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const djm_limitInertia = "dijoco_limit_inertia/";
const char* const djm_rulesGravity = "dijoco_rules/gravity";

bool djm_isLimitInertia(const char* field) {
  return strncmp(field, djm_limitInertia, strlen(djm_limitInertia)) == 0 || strcmp(field, djm_rulesGravity) == 0;
}

// Where a model has the number of a field; NULL: there is no such element.
static double* placeOf(djModel* m, const char* field) {
  if (strcmp(field, djm_rulesGravity) == 0) return &m->contact.gravity;
  const char* kind = field + strlen(djm_limitInertia);
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
