// Error text of derivatives.

#include "slope_error.h"

#include <stdarg.h>
#include <stdio.h>

djStatus djm_slopeError(djError* err, djStatus status, const char* format, ...) {
  if (!err) return status;
  va_list list;
  va_start(list, format);
  vsnprintf(err->text, sizeof(err->text), format, list);
  va_end(list);
  return status;
}
