// Memory that is released all at once.

#ifndef DJ_BASE_POOL_H_
#define DJ_BASE_POOL_H_

#include <stddef.h>

typedef struct djPool {
  struct djPoolBlock* first;
  size_t bytes;         // that it holds
} djPool;

// Zeroed memory for count elements of size bytes (never of zero length), or NULL.
void* dj_poolTake(djPool* pool, size_t count, size_t size);

// Copy of a text, or NULL.
char* dj_poolText(djPool* pool, const char* text);

void dj_poolFree(djPool* pool);

#endif  // DJ_BASE_POOL_H_
