// Text that grows, for scenes and tasks that tests write.

#ifndef DJ_TESTS_TEXT_H_
#define DJ_TESTS_TEXT_H_

#include "common/random.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct djtText {
  char* text;          // malloc'ed; NULL: empty
  size_t used, room;
  bool failed;         // no memory
} djtText;

static inline void djt_put(djtText* t, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void djt_put(djtText* t, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n >= 0 && t->used + (size_t)n + 1 > t->room) {
    size_t room = 2 * (t->used + (size_t)n + 1);
    char* text = realloc(t->text, room);
    if (text) {
      t->text = text;
      t->room = room;
    }
  }
  t->failed = t->failed || n < 0 || t->used + (size_t)n + 1 > t->room;
  if (!t->failed) t->used += (size_t)vsnprintf(t->text + t->used, (size_t)n + 1, format, again);
  va_end(args);
  va_end(again);
}

// name="x y ..": a number of each range {low, high}, drawn in this order.
static inline void djt_putRanges(djtText* t, djRng* rng, const char* name, int n,
                                 const double (*range)[2]) {
  djt_put(t, " %s=\"", name);
  for (int i = 0; i < n; i++) {
    djt_put(t, i ? " %.9g" : "%.9g", djt_uniform(rng, range[i][0], range[i][1]));
  }
  djt_put(t, "\"");
}
#define djt_putUniform(t, rng, name, ...)                                           \
  djt_putRanges(t, rng, name,                                                       \
                (int)(sizeof((const double[][2]){__VA_ARGS__}) / sizeof(double[2])), \
                (const double[][2]){__VA_ARGS__})

#endif  // DJ_TESTS_TEXT_H_
