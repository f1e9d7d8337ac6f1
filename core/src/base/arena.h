// Carving arrays out of one buffer. With base NULL the same calls only measure.

#ifndef DJ_BASE_ARENA_H_
#define DJ_BASE_ARENA_H_

#include <stddef.h>
#include <stdint.h>

#define DJ_ALIGN 64

typedef struct djArena {
  unsigned char* base;  // NULL: measure
  size_t used;          // SIZE_MAX after an overflow
} djArena;

// count elements of size bytes, at a multiple of DJ_ALIGN from base. The caller measures first and
// provides a buffer that is large enough. Never NULL when base is not, also for count = 0.
static inline void* dj_take(djArena* arena, size_t count, size_t size) {
  size_t start = arena->used;
  if (start > SIZE_MAX / 2 || (size > 0 && count > (SIZE_MAX / 4) / size)) {
    arena->used = SIZE_MAX;
    return NULL;
  }
  size_t bytes = (count * size + DJ_ALIGN - 1) / DJ_ALIGN * DJ_ALIGN;
  arena->used = start + bytes;
  return arena->base ? arena->base + start : NULL;
}

#endif  // DJ_BASE_ARENA_H_
