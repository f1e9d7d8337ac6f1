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

// `"scenes"`. Of an entry what the others have not: name, weight, and what messages call it.
enum { DJ_MAX_SCENE_NAME = 32 };
djStatus dj_parseScene(djTask* task, const cJSON* item, int place, djPool* pool, djError* err);
// The task that an entry stands for; to be deleted by the caller, errors included.
djStatus dj_mergeScene(cJSON** merged, const cJSON* root, const cJSON* item, djError* err);
// Say which entry an error is of, unless it is of all.
djStatus dj_failScene(djError* err, djStatus status, const djTask* task, const cJSON* root,
                      const cJSON* item, int place);
// All of them together.
djStatus dj_checkScenes(const djTask* task, djError* err);

#endif  // DJ_IO_TASK_PARSE_H_
