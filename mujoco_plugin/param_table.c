#include "param_table.h"

#include "import.h"
#include "type_table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(array) offsetof(mjModel, array)
static const djmParamRow rows[] = {
    {"body/N/pos", AT(body_pos), 3, 3, DJM_ELEMENT, false, false},
    {"body/N/quat", AT(body_quat), 4, 4, DJM_ELEMENT, false, true},
    {"body/N/mass", AT(body_mass), 1, 1, DJM_ELEMENT, false, false},
    {"body/N/ipos", AT(body_ipos), 3, 3, DJM_ELEMENT, true, false},
    {"body/N/iquat", AT(body_iquat), 4, 4, DJM_ELEMENT, true, true},
    {"body/N/inertia", AT(body_inertia), 3, 3, DJM_ELEMENT, false, false},
    {"body/N/gravcomp", AT(body_gravcomp), 1, 1, DJM_ELEMENT, false, false},
    {"joint/N/pos", AT(jnt_pos), 3, 3, DJM_ELEMENT, true, false},
    {"joint/N/axis", AT(jnt_axis), 3, 3, DJM_ELEMENT, true, true},
    {"joint/N/damping", AT(dof_damping), 1, 1, DJM_DOFS, false, false},
    {"joint/N/stiffness", AT(jnt_stiffness), 1, 1, DJM_ELEMENT, false, false},
    {"joint/N/springref", AT(qpos_spring), 0, 0, DJM_QPOS, false, false},
    {"joint/N/armature", AT(dof_armature), 1, 1, DJM_DOFS, false, false},
    {"joint/N/frictionloss", AT(dof_frictionloss), 1, 1, DJM_DOFS, false, false},
    {"joint/N/range", AT(jnt_range), 2, 2, DJM_ELEMENT, false, false},
    {"geom/N/pos", AT(geom_pos), 3, 3, DJM_ELEMENT, false, false},
    {"geom/N/quat", AT(geom_quat), 4, 4, DJM_ELEMENT, false, true},
    {"geom/N/size", AT(geom_size), 3, 3, DJM_ELEMENT, false, false},
    {"geom/N/friction", AT(geom_friction), 3, 3, DJM_ELEMENT, false, false},
    {"pair/N/friction", AT(pair_friction), 2, 5, DJM_PAIR, false, false},
    {"pair/N/friction2", AT(pair_friction), 1, 5, DJM_PAIR_SECOND, false, false},
    {"pair/N/torsion", AT(pair_friction), 1, 5, DJM_PAIR_TORSION, false, false},
    {"pair/N/rolling", AT(pair_friction), 2, 5, DJM_PAIR_ROLLING, false, false},
    {"site/N/pos", AT(site_pos), 3, 3, DJM_ELEMENT, false, false},
    {"tendon/N/stiffness", AT(tendon_stiffness), 1, 1, DJM_ELEMENT, false, false},
    {"tendon/N/damping", AT(tendon_damping), 1, 1, DJM_ELEMENT, false, false},
    {"tendon/N/springlength", AT(tendon_lengthspring), 2, 2, DJM_ELEMENT, false, false},
    {"tendon/N/frictionloss", AT(tendon_frictionloss), 1, 1, DJM_ELEMENT, false, false},
    {"tendon/N/range", AT(tendon_range), 2, 2, DJM_ELEMENT, false, false},
    {"equality/N/polycoef", AT(eq_data), 5, mjNEQDATA, DJM_COUPLING, false, false},
    {"actuator/N/gainprm", AT(actuator_gainprm), 3, mjNGAIN, DJM_LAW, false, false},
    {"actuator/N/biasprm", AT(actuator_biasprm), 3, mjNBIAS, DJM_LAW, false, false},
    {"actuator/N/motorprm", AT(actuator_dynprm), DJ_NMOTORPRM, mjNDYN, DJM_ELEMENT, false, false},
    {"actuator/N/gear", AT(actuator_gear), 6, 6, DJM_OUTPUT, false, false},
};
enum { NROW = sizeof rows / sizeof rows[0] };

const djmParamRow* djm_paramRow(int i) { return i >= 0 && i < NROW ? &rows[i] : NULL; }

const djmParamRow* djm_findParam(const char* name) {
  const char *first = strchr(name, '/'), *last = strrchr(name, '/');
  if (!first || first == last) return NULL;
  for (int i = 0; i < NROW; i++) {
    const char* row = rows[i].name;
    size_t kind = (size_t)(first - name);
    if (strncmp(row, name, kind) == 0 && strncmp(row + kind, "/N/", 3) == 0 &&
        strcmp(row + kind + 3, last + 1) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

bool djm_listParams(djmParamList* list, const djModel* model, const char* name) {
  char pattern[64];
  const char* slash = strchr(name, '/');
  snprintf(pattern, sizeof pattern, "%.*s/*%s", (int)(slash - name), name, slash + 2);
  int n = dj_matchParams(NULL, 0, model, pattern, NULL);
  *list = (djmParamList){n > 0 ? n : 0, NULL};
  if (n == DJ_NO_MEMORY) return false;
  list->param = malloc(sizeof *list->param * (size_t)(list->n + 1));
  if (list->param && dj_matchParams(list->param, list->n, model, pattern, NULL) == n) {
    bool geoms = strncmp(name, "geom/", 5) == 0;
    int own = djm_ownGeoms(model);
    while (geoms && list->n > 0 && list->param[list->n - 1].id >= own) list->n--;
    return true;
  }
  free(list->param);
  return false;
}

int djm_findElement(const mjModel* m, int object, int number, const char* element) {
  if (element[0] == '#' && element[1]) {
    char* end;
    long id = strtol(element + 1, &end, 10);
    return *end || id < 0 || id >= number ? -1 : (int)id;
  }
  return mj_name2id(m, object, element);
}

bool djm_isMotor(const mjModel* m, int i) {
  if (m->actuator_gaintype[i] != mjGAIN_DCMOTOR) return false;
  const mjtNum *gain = m->actuator_gainprm + mjNGAIN * i, *dyn = m->actuator_dynprm + mjNDYN * i;
  bool states = dyn[0] > 0 || dyn[2] > 0 || dyn[5] > 0;
  return states || m->actuator_biasprm[mjNBIAS * i] != 0 || gain[7] > 0;
}

int djm_lawNumbers(const mjModel* m, int i, bool bias) {
  if (djm_isMotor(m, i)) return bias ? 6 : 8;
  bool muscle = bias ? m->actuator_biastype[i] == mjBIAS_MUSCLE
                     : m->actuator_gaintype[i] == mjGAIN_MUSCLE;
  return muscle ? 9 : 3;
}

// MuJoCo's number of one of our equality constraints.
static int equalityNumber(const mjModel* m, int id) {
  int i = 0;
  for (int n = 0; i < m->neq; i++) {
    if (djm_equalityKept(m, i) && n++ == id) break;
  }
  return i;
}

mjtNum* djm_paramPlace(int* n, const mjModel* m, const djmParamRow* row, int id) {
  mjtNum* array;
  memcpy(&array, (const char*)m + row->array, sizeof array);
  *n = row->width;
  switch (row->place) {
    case DJM_DOFS: *n = djm_jointNv(m->jnt_type[id]); return array + m->jnt_dofadr[id];
    case DJM_QPOS: *n = djm_jointNq(m->jnt_type[id]); return array + m->jnt_qposadr[id];
    case DJM_PAIR:
      array += row->stride * djm_pairNumber(m, id);
      *n = array[0] == array[1] ? 2 : 1;
      return array;
    case DJM_PAIR_SECOND: return array + row->stride * djm_pairNumber(m, id) + 1;
    case DJM_PAIR_TORSION: return array + row->stride * djm_pairNumber(m, id) + 2;
    case DJM_PAIR_ROLLING: return array + row->stride * djm_pairNumber(m, id) + 3;
    case DJM_LAW: *n = djm_lawNumbers(m, id, row->array == AT(actuator_biasprm)); break;
    case DJM_COUPLING: {
      int i = equalityNumber(m, id);
      if (m->eq_type[i] != mjEQ_JOINT && m->eq_type[i] != mjEQ_TENDON) *n = 0;
      return array + row->stride * i;
    }
    case DJM_OUTPUT: return array + row->stride * m->actuator_outadr[id];
    default: break;
  }
  return array + row->stride * id;
}

void djm_putParam(const mjModel* m, const djmParamRow* row, int id, const double* value) {
  int n;
  mjtNum* place = djm_paramPlace(&n, m, row, id);
  bool one = row->place == DJM_DOFS || row->place == DJM_PAIR;
  for (int k = 0; k < n; k++) place[k] = value[one ? 0 : k];
  if (row->place == DJM_PAIR_SECOND && value[0] == 0) place[0] = place[-1];   // as along the first
}
