// Parts of the second stage of reading a task, in this order.

#ifndef DJ_IO_TASK_RESOLVE_H_
#define DJ_IO_TASK_RESOLVE_H_

#include "base/pool.h"

#include <dijoco/task.h>

// Fill problem->free and problem->map; parameters that maps compute are listed in problem->param.
djStatus dj_resolveMaps(djProblem* problem, const djTask* task, const djModel* model, djPool* pool,
                        djError* err);

// Fill problem->variable and the rest of problem->param.
djStatus dj_resolveVariables(djProblem* problem, const djTask* task, const djModel* model,
                             djPool* pool, djError* err);

// Vertices that `set` gives meshes beyond those that they have, where the task has connections: in
// their hulls, for the time being.
djStatus dj_growBySet(djModel* model, const djTask* task, djError* err);

// `"connect": "auto"`: adds the vertices that hulls share to the model's meshes, and remembers in the
// task what they join; it must be the same in every model.
djStatus dj_connectAuto(djModel* model, const djTask* task, djError* err);

// Fill problem->connect and joined.
djStatus dj_resolveConnect(djProblem* problem, const djTask* task, const djModel* model,
                           djPool* pool, djError* err);

#endif  // DJ_IO_TASK_RESOLVE_H_
