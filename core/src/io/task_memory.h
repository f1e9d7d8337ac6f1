// What a djTask and a djProblem own.

#ifndef DJ_IO_TASK_MEMORY_H_
#define DJ_IO_TASK_MEMORY_H_

#include "base/pool.h"

#include <dijoco/task.h>

#include <cjson/cJSON.h>

typedef struct djTaskMemory {
  djPool pool;
  cJSON* root;      // texts of the task point into it
} djTaskMemory;

#define DJ_MAX_HORIZON 10000000
#define DJ_MAX_CTRL 20000000   // horizon x nu

#endif  // DJ_IO_TASK_MEMORY_H_
