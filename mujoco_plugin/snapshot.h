// Whether an mjModel was changed since it was imported.

#ifndef DJ_MUJOCO_SNAPSHOT_H_
#define DJ_MUJOCO_SNAPSHOT_H_

#include <mujoco/mujoco.h>

#include <stdbool.h>

// A copy of the fields that the import reads, but for meshes, keyframes, names, and what says how
// elements hang together.
typedef struct djmSnapshot djmSnapshot;

// NULL: out of memory.
djmSnapshot* djm_makeSnapshot(const mjModel* m);
void djm_deleteSnapshot(djmSnapshot* snapshot);
void djm_takeSnapshot(djmSnapshot* snapshot, const mjModel* m);
bool djm_isCurrent(const djmSnapshot* snapshot, const mjModel* m);

#endif  // DJ_MUJOCO_SNAPSHOT_H_
