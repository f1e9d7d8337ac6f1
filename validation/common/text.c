#include "common/text.h"

#include "common/report.h"

#include <stdarg.h>
#include <stdio.h>

enum { ROOM = 1 << 18 };

djvText djv_text(void) {
  return (djvText){djv_take(ROOM, 1), 0};
}

void djv_put(djvText* t, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->text + t->used, ROOM - t->used, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= ROOM - t->used) djv_fail("random scene or task: text is too long");
  t->used += (size_t)n;
}
