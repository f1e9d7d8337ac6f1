// Gradients by design numbers under the names of parameters: "joint/knee/damping".

#include "param_table.h"
#include "slope_error.h"

#include <dijoco/mujoco.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef enum Place {
  ELEMENT,               // numbers of the element
  DOFS,                  // one number for all dofs of a joint: a sum
  COORDINATE,            // of a scalar joint
  LAW,                   // of an actuator: 3, of muscles 9
  OUTPUT,                // of an actuator's first output
  SLIP                   // one number for the first two of a pair
} Place;

typedef struct Row {
  const char *kind, *field;
  size_t array;          // of djmDesignGradient
  int n, stride;
  Place place;
} Row;

#define AT(array) offsetof(djmDesignGradient, array)
static const Row kRow[] = {
  {"body", "pos", AT(body_pos), 3, 3, ELEMENT},
  {"body", "quat", AT(body_quat), 3, 3, ELEMENT},
  {"body", "mass", AT(body_mass), 1, 1, ELEMENT},
  {"body", "ipos", AT(body_ipos), 3, 3, ELEMENT},
  {"body", "iquat", AT(body_iquat), 3, 3, ELEMENT},
  {"body", "inertia", AT(body_inertia), 3, 3, ELEMENT},
  {"body", "gravcomp", AT(body_gravcomp), 1, 1, ELEMENT},
  {"joint", "pos", AT(jnt_pos), 3, 3, ELEMENT},
  {"joint", "axis", AT(jnt_axis), 3, 3, ELEMENT},
  {"joint", "damping", AT(dof_damping), 1, 1, DOFS},
  {"joint", "stiffness", AT(jnt_stiffness), 1, 1, ELEMENT},
  {"joint", "springref", AT(qpos_spring), 1, 1, COORDINATE},
  {"joint", "armature", AT(dof_armature), 1, 1, DOFS},
  {"joint", "frictionloss", AT(dof_frictionloss), 1, 1, DOFS},
  {"joint", "range", AT(jnt_range), 2, 2, ELEMENT},
  {"geom", "pos", AT(geom_pos), 3, 3, ELEMENT},
  {"geom", "quat", AT(geom_quat), 3, 3, ELEMENT},
  {"geom", "size", AT(geom_size), 3, 3, ELEMENT},
  {"geom", "friction", AT(geom_friction), 3, 3, ELEMENT},
  {"geom", "solref", AT(geom_solref), mjNREF, mjNREF, ELEMENT},
  {"geom", "solimp", AT(geom_solimp), mjNIMP, mjNIMP, ELEMENT},
  {"pair", "friction", AT(pair_friction), 1, 5, SLIP},
  {"tendon", "stiffness", AT(tendon_stiffness), 1, 1, ELEMENT},
  {"tendon", "damping", AT(tendon_damping), 1, 1, ELEMENT},
  {"tendon", "springlength", AT(tendon_lengthspring), 2, 2, ELEMENT},
  {"tendon", "frictionloss", AT(tendon_frictionloss), 1, 1, ELEMENT},
  {"tendon", "range", AT(tendon_range), 2, 2, ELEMENT},
  {"actuator", "gainprm", AT(actuator_gainprm), 3, mjNGAIN, LAW},
  {"actuator", "biasprm", AT(actuator_biasprm), 3, mjNBIAS, LAW},
  {"actuator", "gear", AT(actuator_gear), 6, 6, OUTPUT},
};

static int idOf(const mjModel* m, const char* kind, const char* element) {
  const struct {
    const char* kind;
    int object;
    mjtSize n;
  } kKind[] = {
    {"body", mjOBJ_BODY, m->nbody},       {"joint", mjOBJ_JOINT, m->njnt},
    {"geom", mjOBJ_GEOM, m->ngeom},       {"pair", mjOBJ_PAIR, m->npair},
    {"tendon", mjOBJ_TENDON, m->ntendon}, {"actuator", mjOBJ_ACTUATOR, m->nactuator},
  };
  for (size_t i = 0; i < sizeof(kKind) / sizeof(*kKind); i++) {
    if (strcmp(kind, kKind[i].kind) != 0) continue;
    return djm_findElement(m, kKind[i].object, (int)kKind[i].n, element);
  }
  return -1;
}

static bool readRow(mjtNum* gradient, int* n, const Row* row, const djmDesignGradient* g,
                    const mjModel* m, int id) {
  const mjtNum* from;
  *n = row->n;
  bool drive = row->place == LAW || row->place == OUTPUT;
  if (drive && djm_isMotor(m, id)) return false;   // gears act on its states, too
  if (row->place == LAW) *n = djm_lawNumbers(m, id, row->array == AT(actuator_biasprm));
  memcpy(&from, (const char*)g + row->array, sizeof(from));
  if (row->place == DOFS) {
    int type = m->jnt_type[id], dofs = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
    gradient[0] = 0;
    for (int k = 0; k < dofs; k++) gradient[0] += from[m->jnt_dofadr[id] + k];
    return true;
  }
  if (row->place == SLIP) {
    gradient[0] = from[row->stride * id] + from[row->stride * id + 1];
    return true;
  }
  int at = row->stride * id;
  if (row->place == OUTPUT) at = row->stride * m->actuator_outadr[id];
  if (row->place == COORDINATE) {
    if (m->jnt_type[id] == mjJNT_FREE || m->jnt_type[id] == mjJNT_BALL) return false;
    at = m->jnt_qposadr[id];
  }
  mju_copy(gradient, from + at, *n);
  return true;
}

djStatus djm_readDesign(mjtNum gradient[10], int* n, const djmDesignGradient* g, const mjModel* m,
                        const char* name, djError* err) {
  const char *first = strchr(name, '/'), *last = strrchr(name, '/');
  *n = 0;
  if (strcmp(name, "option/gravity") == 0) {
    *n = 3;
    mju_copy3(gradient, g->gravity);
    return DJ_OK;
  }
  if (first && first != last) {
    char kind[32], element[512];
    snprintf(kind, sizeof(kind), "%.*s", (int)(first - name), name);
    snprintf(element, sizeof(element), "%.*s", (int)(last - first - 1), first + 1);
    int id = idOf(m, kind, element);
    for (size_t i = 0; i < sizeof(kRow) / sizeof(*kRow) && id >= 0; i++) {
      if (strcmp(kRow[i].kind, kind) != 0 || strcmp(kRow[i].field, last + 1) != 0) continue;
      if (!readRow(gradient, n, kRow + i, g, m, id)) break;
      return DJ_OK;
    }
  }
  *n = 0;
  return djm_slopeError(err, DJ_UNSUPPORTED, "%s: has no derivative through MuJoCo's step", name);
}
