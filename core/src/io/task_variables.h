// Variables of a task.

#ifndef DJ_IO_TASK_VARIABLES_H_
#define DJ_IO_TASK_VARIABLES_H_

#include "base/pool.h"

#include <dijoco/task.h>

// Fill problem->variable and problem->param.
djStatus dj_resolveVariables(djProblem* problem, const djTask* task, const djModel* model,
                             djPool* pool, djError* err);

#endif  // DJ_IO_TASK_VARIABLES_H_
