#include "common/text.h"

#include "common/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1 << 16 };

djvText djv_text(void) {
  djvText t = {calloc(ROOM, 1), 0};
  if (!t.text) djv_fail("no memory");
  return t;
}

void djv_put(djvText* t, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->text + t->used, ROOM - t->used, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= ROOM - t->used) djv_fail("random scene or task: text is too long");
  t->used += (size_t)n;
}
