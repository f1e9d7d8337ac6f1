// Parts of the first stage of reading a task.

#ifndef DJ_IO_TASK_PARSE_H_
#define DJ_IO_TASK_PARSE_H_

#include "io/json.h"

#include <dijoco/task.h>

// What a task owns.
typedef struct djTaskMemory {
  djPool pool;
  cJSON* root;      // texts of the task point into it
  bool found;       // connections by themselves, in a model
  int nfound;
  const djTaskConnect* connect;   // (nfound)
} djTaskMemory;

// `"loss"`; task->horizon is known.
djStatus dj_parseLosses(djTask* task, const cJSON* list, djPool* pool, djError* err);

// `"free"` and `"maps"`.
djStatus dj_parseFree(djTask* task, const cJSON* object, djPool* pool, djError* err);
djStatus dj_parseMaps(djTask* task, const cJSON* list, djPool* pool, djError* err);

// An object of parameters and their values; element is its name in errors.
djStatus dj_parseSet(const djTaskSet** set, int* n, const cJSON* object, const char* element,
                     djPool* pool, djError* err);

// `"connect"`.
djStatus dj_parseConnect(djTask* task, const cJSON* list, djPool* pool, djError* err);

// `"optimizer"`.
djStatus dj_parseOptimizer(djOptimizer* optimizer, const cJSON* object, djPool* pool,
                           djError* err);
// Its `"receding"`; task->horizon is known.
djStatus dj_parseReceding(djTask* task, const cJSON* optimizer, djPool* pool, djError* err);

#endif  // DJ_IO_TASK_PARSE_H_
