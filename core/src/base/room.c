#include "base/room.h"

#include <stdlib.h>

void* dj_roomFor(void* old, size_t* size, size_t need) {
  if (old && need <= *size) return old;
  if (need > SIZE_MAX / 4) return NULL;
  size_t more = old ? *size + *size / 2 : 0, bytes = need > more ? need : more;
  bytes = dj_roomBytes(bytes);
  void* memory = aligned_alloc(DJ_ALIGN, bytes);
  if (!memory) return NULL;
  free(old);
  *size = bytes;
  return memory;
}
