// Comparing a model with what it was, a few microseconds for a robot.

#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

// Fields and their number of entries.
#define FIELDS(X)                        \
  X(body_pos, 3 * m->nbody)              \
  X(body_quat, 4 * m->nbody)             \
  X(body_ipos, 3 * m->nbody)             \
  X(body_iquat, 4 * m->nbody)            \
  X(body_mass, m->nbody)                 \
  X(body_inertia, 3 * m->nbody)          \
  X(body_subtreemass, m->nbody)          \
  X(body_gravcomp, m->nbody)             \
  X(body_invweight0, 2 * m->nbody)       \
  X(jnt_pos, 3 * m->njnt)                \
  X(jnt_axis, 3 * m->njnt)               \
  X(jnt_stiffness, m->njnt)              \
  X(jnt_stiffnesspoly, mjNPOLY * m->njnt)\
  X(jnt_limited, m->njnt)                \
  X(jnt_range, 2 * m->njnt)              \
  X(jnt_margin, m->njnt)                 \
  X(jnt_solref, mjNREF * m->njnt)        \
  X(jnt_solimp, mjNIMP * m->njnt)        \
  X(jnt_actfrclimited, m->njnt)          \
  X(jnt_actgravcomp, m->njnt)            \
  X(jnt_actfrcrange, 2 * m->njnt)        \
  X(qpos0, m->nq)                        \
  X(qpos_spring, m->nq)                  \
  X(dof_damping, m->nv)                  \
  X(dof_dampingpoly, mjNPOLY * m->nv)    \
  X(dof_armature, m->nv)                 \
  X(dof_frictionloss, m->nv)             \
  X(dof_solref, mjNREF * m->nv)          \
  X(dof_solimp, mjNIMP * m->nv)          \
  X(geom_type, m->ngeom)                 \
  X(geom_dataid, m->ngeom)               \
  X(geom_contype, m->ngeom)              \
  X(geom_conaffinity, m->ngeom)          \
  X(geom_condim, m->ngeom)               \
  X(geom_priority, m->ngeom)             \
  X(geom_size, 3 * m->ngeom)             \
  X(geom_pos, 3 * m->ngeom)              \
  X(geom_quat, 4 * m->ngeom)             \
  X(geom_friction, 3 * m->ngeom)         \
  X(geom_solref, mjNREF * m->ngeom)      \
  X(geom_solimp, mjNIMP * m->ngeom)      \
  X(geom_solmix, m->ngeom)               \
  X(geom_margin, m->ngeom)               \
  X(pair_dim, m->npair)                  \
  X(pair_friction, 5 * m->npair)         \
  X(pair_solref, mjNREF * m->npair)      \
  X(pair_solimp, mjNIMP * m->npair)      \
  X(pair_margin, m->npair)               \
  X(site_pos, 3 * m->nsite)              \
  X(site_quat, 4 * m->nsite)             \
  X(wrap_prm, m->nwrap)                  \
  X(tendon_lengthspring, 2 * m->ntendon) \
  X(tendon_stiffness, m->ntendon)        \
  X(tendon_stiffnesspoly, mjNPOLY * m->ntendon) \
  X(tendon_damping, m->ntendon)          \
  X(tendon_dampingpoly, mjNPOLY * m->ntendon)   \
  X(tendon_armature, m->ntendon)         \
  X(tendon_frictionloss, m->ntendon)     \
  X(tendon_solref_fri, mjNREF * m->ntendon)     \
  X(tendon_solimp_fri, mjNIMP * m->ntendon)     \
  X(tendon_limited, m->ntendon)          \
  X(tendon_range, 2 * m->ntendon)        \
  X(tendon_margin, m->ntendon)           \
  X(tendon_solref_lim, mjNREF * m->ntendon)     \
  X(tendon_solimp_lim, mjNIMP * m->ntendon)     \
  X(tendon_actfrclimited, m->ntendon)    \
  X(tendon_actfrcrange, 2 * m->ntendon)  \
  X(actuator_group, m->nactuator)        \
  X(actuator_dyntype, m->nactuator)      \
  X(actuator_gaintype, m->nactuator)     \
  X(actuator_biastype, m->nactuator)     \
  X(actuator_delay, m->nactuator)        \
  X(actuator_cranklength, m->nactuator)  \
  X(actuator_dynprm, mjNDYN * m->nactuator)          \
  X(actuator_gainprm, mjNGAIN * m->nactuator)        \
  X(actuator_biasprm, mjNBIAS * m->nactuator)        \
  X(actuator_actearly, m->nactuator)                 \
  X(actuator_forcelimited, m->nactuator)             \
  X(actuator_forcerange, 2 * m->nactuator)           \
  X(actuator_actlimited, m->nactuator)               \
  X(actuator_actrange, 2 * m->nactuator)             \
  X(actuator_armature, m->nactuator)                 \
  X(actuator_damping, m->nactuator)                  \
  X(actuator_dampingpoly, mjNPOLY * m->nactuator)    \
  X(actuator_gear, 6 * m->nout)                      \
  X(actuator_lengthrange, 2 * m->nout)               \
  X(actuator_acc0, m->nout)                          \
  X(actuator_ctrllimited, m->nu)                     \
  X(actuator_ctrlrange, 2 * m->nu)                   \
  X(exclude_signature, m->nexclude)      \
  X(eq_active0, m->neq)                  \
  X(eq_data, mjNEQDATA * m->neq)         \
  X(eq_solref, mjNREF * m->neq)          \
  X(eq_solimp, mjNIMP * m->neq)          \
  X(numeric_data, m->nnumericdata)       \
  X(text_data, m->ntextdata)

struct djmSnapshot {
  mjOption opt;
  size_t size;
  unsigned char data[];
};

static size_t sizeOf(const mjModel* m) {
  size_t size = 0;
#define X(field, count) size += (size_t)(count) * sizeof(*m->field);
  FIELDS(X)
#undef X
  return size;
}

djmSnapshot* djm_makeSnapshot(const mjModel* m) {
  size_t size = sizeOf(m);
  djmSnapshot* snapshot = malloc(sizeof(*snapshot) + size);
  if (!snapshot) return NULL;
  snapshot->size = size;
  djm_takeSnapshot(snapshot, m);
  return snapshot;
}

void djm_deleteSnapshot(djmSnapshot* snapshot) { free(snapshot); }

void djm_takeSnapshot(djmSnapshot* snapshot, const mjModel* m) {
  unsigned char* to = snapshot->data;
  memcpy(&snapshot->opt, &m->opt, sizeof(m->opt));
#define X(field, count)                                \
  do {                                                 \
    size_t n = (size_t)(count) * sizeof(*m->field);    \
    if (n > 0) memcpy(to, m->field, n);                \
    to += n;                                           \
  } while (0);
  FIELDS(X)
#undef X
}

bool djm_isCurrent(const djmSnapshot* snapshot, const mjModel* m) {
  const unsigned char* from = snapshot->data;
  if (memcmp(&snapshot->opt, &m->opt, sizeof(m->opt)) != 0) return false;
#define X(field, count)                                            \
  do {                                                             \
    size_t n = (size_t)(count) * sizeof(*m->field);                \
    if (n > 0 && memcmp(from, m->field, n) != 0) return false;     \
    from += n;                                                     \
  } while (0);
  FIELDS(X)
#undef X
  return true;
}
