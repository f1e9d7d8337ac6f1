// Inertia that limits count by, and gravity as default rules of contact know it, where these are
// not what the compiled scene has.
//
// Limits of joints and tendons and equality constraints are stiff by what they move at qpos0
// (jnt_effinertia). Designs keep what that was when their scene was compiled, and so does a scene
// that is written for one:
//   numeric dijoco_limit_inertia/joint/NAME, dijoco_limit_inertia/tendon/NAME   kg, kg m^2
//   numeric dijoco_limit_inertia/equality/NAME   two of them
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

// Where a model has the n numbers of a field; NULL: there is no such element.
static double* placeOf(int* n, djModel* m, const char* field) {
  *n = 1;
  if (strcmp(field, djm_rulesGravity) == 0) return &m->contact.gravity;
  const struct {
    const char* kind;
    djObject object;
    double* value;
    int width;
  } list[] = {{"joint/", DJ_OBJ_JOINT, m->jnt_effinertia, 1},
              {"tendon/", DJ_OBJ_TENDON, m->tendon_effinertia, 1},
              {"equality/", DJ_OBJ_EQUALITY, m->eq_effinertia, 2}};
  const char* element = field + strlen(djm_limitInertia);
  for (size_t k = 0; k < sizeof(list) / sizeof(*list); k++) {
    const size_t length = strlen(list[k].kind);
    if (strncmp(element, list[k].kind, length) != 0) continue;
    const int id = dj_name2id(m, list[k].object, element + length);
    *n = list[k].width;
    return id < 0 ? NULL : list[k].value + list[k].width * id;
  }
  return NULL;
}

djStatus djm_setLimitInertia(djModel* model, djmImport* imp) {
  const mjModel* m = imp->m;
  for (int i = 0; i < m->nnumeric; i++) {
    const char* field = djm_name(m, m->name_numericadr[i]);
    if (!djm_isLimitInertia(field)) continue;
    int n;
    double* place = placeOf(&n, model, field);
    const double* value = m->numeric_data + m->numeric_adr[i];
    const char* problem = NULL;
    if (!place) problem = "there is no joint, tendon or equality constraint of that name";
    for (int k = 0; k < n && !problem; k++) {
      bool good = m->numeric_size[i] == n && value[k] > 0 && isfinite(value[k]);
      if (good) continue;
      problem = n == 1 ? "one positive number is expected" : "two positive numbers are expected";
    }
    if (!problem) {
      mju_copy(place, value, n);
      continue;
    }
    snprintf(imp->err->text, sizeof imp->err->text, "numeric/%.200s: %s", field, problem);
    return DJ_INVALID;
  }
  return DJ_OK;
}
