// Error text helpers.

#ifndef DJ_BASE_STATUS_H_
#define DJ_BASE_STATUS_H_

#include <dijoco/types.h>

// Write one line into err->text (err may be NULL) and return status.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
djStatus dj_fail(djError* err, djStatus status, const char* format, ...);

// Put "prefix: " before the text of a failure; returns status.
djStatus dj_prefix(djError* err, djStatus status, const char* prefix);

#ifdef __clang_analyzer__  // which sees one file at a time: what they return
#define dj_fail(err, status, ...) (dj_fail(err, status, __VA_ARGS__), (status))
#define dj_prefix(err, status, prefix) (dj_prefix(err, status, prefix), (status))
#endif

static inline djStatus dj_failMemory(djError* err) {
  return dj_fail(err, DJ_NO_MEMORY, "out of memory");
}

// Tell the watch (may be NULL) how far the work is; DJ_CANCELLED where it wants no more.
static inline djStatus dj_tell(const djWatch* watch, double done, djError* err) {
  if (!watch || !watch->progress || watch->progress(watch->user, done) == 0) return DJ_OK;
  return dj_fail(err, DJ_CANCELLED, "cancelled");
}

#endif  // DJ_BASE_STATUS_H_
