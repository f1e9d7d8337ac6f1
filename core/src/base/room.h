// Memory whose contents may be dropped when it grows.

#ifndef DJ_BASE_ROOM_H_
#define DJ_BASE_ROOM_H_

#include "base/arena.h"

#include <stddef.h>

// Bytes of new memory for `need`.
static inline size_t dj_roomBytes(size_t need) {
  return (need + DJ_ALIGN) / DJ_ALIGN * DJ_ALIGN;   // never of zero length
}

// Memory of at least `need` bytes at a multiple of DJ_ALIGN, to be released by free: `old`, of
// *size bytes (NULL: none), where that is enough; otherwise new memory, half as much again as there
// was or more, of *size bytes, for which old is released. NULL when there is none: nothing has
// changed.
void* dj_roomFor(void* old, size_t* size, size_t need);

#endif  // DJ_BASE_ROOM_H_
