// Memory of gradients by design numbers (djmDesignGradient).

#include "slope_error.h"

#include <dijoco/mujoco.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Field {
  size_t place;          // of the pointer
  int count;             // offset of the element's number in Count
  int width;
} Field;

typedef struct Count {
  size_t body, joint, dof, coordinate, geom, pair, equality, tendon, actuator, output, one;
} Count;

#define ROW(name, of, width) {offsetof(djmDesignGradient, name), offsetof(Count, of), width}
static const Field kField[] = {
  ROW(body_pos, body, 3),
  ROW(body_quat, body, 3),
  ROW(body_ipos, body, 3),
  ROW(body_iquat, body, 3),
  ROW(body_mass, body, 1),
  ROW(body_inertia, body, 3),
  ROW(body_gravcomp, body, 1),
  ROW(jnt_pos, joint, 3),
  ROW(jnt_axis, joint, 3),
  ROW(jnt_stiffness, joint, 1),
  ROW(jnt_range, joint, 2),
  ROW(jnt_margin, joint, 1),
  ROW(jnt_solref, joint, mjNREF),
  ROW(jnt_solimp, joint, mjNIMP),
  ROW(qpos_spring, coordinate, 1),
  ROW(dof_armature, dof, 1),
  ROW(dof_damping, dof, 1),
  ROW(dof_frictionloss, dof, 1),
  ROW(dof_solref, dof, mjNREF),
  ROW(dof_solimp, dof, mjNIMP),
  ROW(geom_pos, geom, 3),
  ROW(geom_quat, geom, 3),
  ROW(geom_size, geom, 3),
  ROW(geom_friction, geom, 3),
  ROW(geom_margin, geom, 1),
  ROW(geom_solref, geom, mjNREF),
  ROW(geom_solimp, geom, mjNIMP),
  ROW(pair_friction, pair, 5),
  ROW(pair_margin, pair, 1),
  ROW(pair_solref, pair, mjNREF),
  ROW(pair_solreffriction, pair, mjNREF),
  ROW(pair_solimp, pair, mjNIMP),
  ROW(eq_data, equality, mjNEQDATA),
  ROW(eq_solref, equality, mjNREF),
  ROW(eq_solimp, equality, mjNIMP),
  ROW(tendon_stiffness, tendon, 1),
  ROW(tendon_damping, tendon, 1),
  ROW(tendon_frictionloss, tendon, 1),
  ROW(tendon_armature, tendon, 1),
  ROW(tendon_range, tendon, 2),
  ROW(tendon_margin, tendon, 1),
  ROW(tendon_lengthspring, tendon, 2),
  ROW(tendon_solref_lim, tendon, mjNREF),
  ROW(tendon_solimp_lim, tendon, mjNIMP),
  ROW(tendon_solref_fri, tendon, mjNREF),
  ROW(tendon_solimp_fri, tendon, mjNIMP),
  ROW(actuator_gainprm, actuator, mjNGAIN),
  ROW(actuator_biasprm, actuator, mjNBIAS),
  ROW(actuator_dynprm, actuator, mjNDYN),
  ROW(actuator_gear, output, 6),
  ROW(gravity, one, 3),
  ROW(body_invweight0, body, 2),
  ROW(dof_invweight0, dof, 1),
  ROW(tendon_invweight0, tendon, 1),
  ROW(tendon_length0, tendon, 1),
};
enum { NFIELD = sizeof(kField) / sizeof(*kField) };

static size_t sizeOf(int i, const mjModel* m) {
  Count count = {(size_t)m->nbody, (size_t)m->njnt, (size_t)m->nv, (size_t)m->nq, (size_t)m->ngeom,
                 (size_t)m->npair, (size_t)m->neq, (size_t)m->ntendon, (size_t)m->nactuator,
                 (size_t)m->nout, 1};
  size_t n;
  memcpy(&n, (const char*)&count + kField[i].count, sizeof(n));
  return n * (size_t)kField[i].width;
}

static size_t totalOf(const mjModel* m) {
  size_t total = 0;
  for (int i = 0; i < NFIELD; i++) total += sizeOf(i, m);
  return total;
}

djStatus djm_makeDesignGradient(djmDesignGradient** g, const mjModel* m, djError* err) {
  *g = NULL;
  size_t head = (sizeof(djmDesignGradient) + 63) / 64 * 64;
  char* memory = calloc(1, head + totalOf(m) * sizeof(mjtNum));
  if (!memory) return djm_slopeError(err, DJ_NO_MEMORY, "out of memory");
  mjtNum* at = (mjtNum*)(void*)(memory + head);
  for (int i = 0; i < NFIELD; i++) {
    memcpy(memory + kField[i].place, &at, sizeof(at));
    at += sizeOf(i, m);
  }
  *g = (djmDesignGradient*)(void*)memory;
  return DJ_OK;
}

void djm_deleteDesignGradient(djmDesignGradient* g) { free(g); }

void djm_zeroDesignGradient(djmDesignGradient* g, const mjModel* m) {
  memset(g->body_pos, 0, totalOf(m) * sizeof(mjtNum));
}
