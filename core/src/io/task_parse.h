// Parts of the first stage of reading a task.

#ifndef DJ_IO_TASK_PARSE_H_
#define DJ_IO_TASK_PARSE_H_

#include "io/json.h"

#include <dijoco/task.h>

// `"loss"`; task->horizon is known.
djStatus dj_parseLosses(djTask* task, const cJSON* list, djPool* pool, djError* err);

#endif  // DJ_IO_TASK_PARSE_H_
