#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Names come from files: control characters must not break the line.
static void makeOneLine(char* text) {
  for (char* c = text; *c; c++) {
    if ((unsigned char)*c < 32 || *c == 127) *c = '?';
  }
}

djStatus(dj_fail)(djError* err, djStatus status, const char* format, ...) {
  if (!err) return status;
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(err->text, sizeof err->text, format, arguments);
  va_end(arguments);
  if (n < 0) err->text[0] = 0;
  makeOneLine(err->text);
  return status;
}

djStatus(dj_prefix)(djError* err, djStatus status, const char* prefix) {
  if (!err) return status;
  // A long prefix must not push the reason out of the line.
  char reason[301];
  snprintf(reason, sizeof reason, "%.300s", err->text);
  int room = (int)(sizeof err->text - sizeof ": " - strlen(reason));
  snprintf(err->text, sizeof err->text, "%.*s: %s", room, prefix, reason);
  makeOneLine(err->text);
  return status;
}
