// Parameters and their values, as files give them: `set` of a task and of a stage.

#include "base/status.h"
#include "io/task_parse.h"

#include <stdlib.h>
#include <string.h>

static int compareSets(const void* a, const void* b) {
  const djTaskSet *x = a, *y = b;
  return strcmp(x->name, y->name);
}

djStatus dj_parseSet(const djTaskSet** out, int* count, const cJSON* item, const char* element,
                     djPool* pool, djError* err) {
  djAt top = {err, ""}, at = {err, element};
  if (!cJSON_IsObject(item)) return dj_jsonFail(&top, element, "must be an object");
  int n = cJSON_GetArraySize(item);
  djTaskSet* set = dj_poolTake(pool, (size_t)n, sizeof *set);
  djTaskSet* sorted = dj_poolTake(pool, (size_t)n, sizeof *set);
  if (!set || !sorted) return dj_failMemory(err);
  *out = set;
  for (const cJSON* c = item->child; c; c = c->next) {
    djTaskSet* s = &set[(*count)++];
    s->name = c->string;
    djStatus status = dj_jsonNumbers(&s->value, &s->n, c, pool, &at);
    if (status < 0) return status;
  }
  memcpy(sorted, set, sizeof *set * (size_t)n);
  qsort(sorted, (size_t)n, sizeof *sorted, compareSets);
  for (int i = 1; i < n; i++) {
    if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
      return dj_jsonFail(&at, sorted[i].name, "is given twice");
    }
  }
  return DJ_OK;
}
