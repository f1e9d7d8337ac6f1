// Free vectors, design maps and connections of a task.

#ifndef DJ_IO_TASK_MAPS_H_
#define DJ_IO_TASK_MAPS_H_

#include "base/pool.h"

#include <dijoco/task.h>

// Fill problem->free and problem->map; parameters that maps compute are listed in problem->param.
djStatus dj_resolveMaps(djProblem* problem, const djTask* task, const djModel* model, djPool* pool,
                        djError* err);

// Fill problem->connect; problem->param is complete.
djStatus dj_resolveConnect(djProblem* problem, const djTask* task, const djModel* model,
                           djPool* pool, djError* err);

#endif  // DJ_IO_TASK_MAPS_H_
