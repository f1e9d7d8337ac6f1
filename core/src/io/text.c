#include "io/text.h"

#include "base/status.h"

#include <dijoco/csv.h>

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- numbers ----------------------------------------------------------------------------------

static char decimalPoint(void) {
  const struct lconv* conventions = localeconv();
  return conventions->decimal_point[0] ? conventions->decimal_point[0] : '.';
}

static void useDecimalPoint(char* text) {
  char* point = strchr(text, decimalPoint());
  if (point) *point = '.';
}

const char* dj_formatNumber(char text[32], double value) {
  if (!text) return "";
  if (isnan(value)) return strcpy(text, "nan");
  if (isinf(value)) return strcpy(text, value > 0 ? "inf" : "-inf");
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (memcmp(&back, &value, sizeof value) == 0) break;
  }
  useDecimalPoint(text);
  return text;
}

const char* dj_exactNumber(char text[32], double value) {
  if (!isfinite(value)) return dj_formatNumber(text, value);
  if (value == 0) return strcpy(text, signbit(value) ? "-0" : "0");
  snprintf(text, 32, "%.17g", value);
  useDecimalPoint(text);
  return text;
}

double dj_scanNumber(const char* text, const char** end) {
  char copy[128];
  size_t n = strspn(text, "+-.0123456789eE");
  *end = text;
  if (n == 0 || n >= sizeof copy) return 0;
  memcpy(copy, text, n);
  copy[n] = 0;
  char* point = strchr(copy, '.');
  if (point) *point = decimalPoint();
  char* stop;
  double value = strtod(copy, &stop);
  *end = text + (stop - copy);
  return value;
}

// ---- growing texts ----------------------------------------------------------------------------

static void add(djText* t, const char* more, size_t n) {
  if (t->failed) return;
  if (t->length + n + 1 > t->capacity) {
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity < t->length + n + 1 && capacity < SIZE_MAX / 4) capacity *= 2;
    char* data = capacity < SIZE_MAX / 4 ? realloc(t->data, capacity) : NULL;
    if (!data) {
      t->failed = true;
      return;
    }
    t->data = data;
    t->capacity = capacity;
  }
  memcpy(t->data + t->length, more, n);
  t->length += n;
  t->data[t->length] = 0;
}

void dj_addText(djText* t, const char* more) { add(t, more, strlen(more)); }

void dj_addNumber(djText* t, double value) {
  char text[32];
  dj_addText(t, dj_formatNumber(text, value));
}

void dj_addExact(djText* t, double value) {
  char text[32];
  dj_addText(t, dj_exactNumber(text, value));
}

void dj_addInt(djText* t, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  dj_addText(t, text);
}

void dj_addQuoted(djText* t, const char* string) {
  dj_addText(t, "\"");
  for (const char* c = string; *c; c++) {
    char escape[8];
    if (*c == '"' || *c == '\\') {
      escape[0] = '\\';
      escape[1] = *c;
      add(t, escape, 2);
    } else if ((unsigned char)*c < 32) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c);
      dj_addText(t, escape);
    } else {
      add(t, c, 1);
    }
  }
  dj_addText(t, "\"");
}

void dj_addJsonNumber(djText* t, double value) {
  if (!isfinite(value)) dj_addText(t, "\"");
  dj_addNumber(t, value);
  if (!isfinite(value)) dj_addText(t, "\"");
}

void dj_freeText(djText* t) {
  free(t->data);
  *t = (djText){0};
}

// ---- paths ------------------------------------------------------------------------------------

char* dj_joinPath(const char* folder, const char* path) {
  if (path[0] == '/') folder = "";
  size_t n = strlen(folder), k = strlen(path) + 1;
  char* joined = malloc(n + k);
  if (!joined) return NULL;
  memcpy(joined, folder, n);
  memcpy(joined + n, path, k);
  return joined;
}

char* dj_folderOf(const char* path) {
  const char* slash = strrchr(path, '/');
  size_t n = slash ? (size_t)(slash - path) + 1 : 0;
  char* folder = malloc(n + 1);
  if (!folder) return NULL;
  memcpy(folder, path, n);
  folder[n] = 0;
  return folder;
}
