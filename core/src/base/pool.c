#include "base/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct djPoolBlock {
  struct djPoolBlock* next;
  max_align_t data[];
} djPoolBlock;

void* dj_poolTake(djPool* pool, size_t count, size_t size) {
  if (size > 0 && count > (SIZE_MAX / 2) / size) return NULL;
  size_t bytes = sizeof(djPoolBlock) + count * size + 1;
  djPoolBlock* block = calloc(1, bytes);
  if (!block) return NULL;
  pool->bytes += bytes;
  block->next = pool->first;
  pool->first = block;
  return block->data;
}

char* dj_poolText(djPool* pool, const char* text) {
  size_t n = strlen(text) + 1;
  char* copy = dj_poolTake(pool, n, 1);
  if (copy) memcpy(copy, text, n);
  return copy;
}

void dj_poolFree(djPool* pool) {
  djPoolBlock* block = pool->first;
  while (block) {
    djPoolBlock* next = block->next;
    free(block);
    block = next;
  }
  *pool = (djPool){0};
}
