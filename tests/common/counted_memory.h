// An allocator in place of the C library's, for the one program that includes it: it counts, and
// fails when it is told to. The sanitizers bring one of their own: DJT_COUNTED_MEMORY is 0 there.

#ifndef DJ_TESTS_COUNTED_MEMORY_H_
#define DJ_TESTS_COUNTED_MEMORY_H_

#include <stdlib.h>   // __GLIBC__

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DJT_COUNTED_MEMORY 1

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* old, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* old);

static atomic_long countdown = -1;   // allocations until one fails; negative: none does
static atomic_bool from_then_on;     // ... and all that follow
static atomic_bool fired;            // one has failed
static atomic_long allocations;
static atomic_long live;             // blocks that are not released

static inline bool djt_refuses(void) {
  allocations++;
  if (countdown < 0 || countdown-- > 0) return false;
  fired = true;
  if (from_then_on) countdown = 0;
  return true;
}

void* malloc(size_t size) {
  void* block = djt_refuses() ? NULL : __libc_malloc(size);
  live += block != NULL;
  return block;
}

void* calloc(size_t count, size_t size) {
  void* block = djt_refuses() ? NULL : __libc_calloc(count, size);
  live += block != NULL;
  return block;
}

void* realloc(void* old, size_t size) {
  void* block = djt_refuses() ? NULL : __libc_realloc(old, size);
  live += !old && block;
  return block;
}

void* aligned_alloc(size_t alignment, size_t size) {
  void* block = djt_refuses() ? NULL : __libc_memalign(alignment, size);
  live += block != NULL;
  return block;
}

void free(void* old) {
  live -= old != NULL;
  __libc_free(old);
}

#else
#define DJT_COUNTED_MEMORY 0
#endif

#endif  // DJ_TESTS_COUNTED_MEMORY_H_
