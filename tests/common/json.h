// JSON in C: with ' for ", which C would have to escape.

#ifndef DJ_TESTS_COMMON_JSON_H_
#define DJ_TESTS_COMMON_JSON_H_

#include <stdlib.h>
#include <string.h>

// The text with " for every '; good until seven more are asked for.
static inline const char* djt_json(const char* text) {
  static char* kept[8];
  static int next;
  char** copy = &kept[next++ % 8];
  *copy = realloc(*copy, strlen(text) + 1);
  if (!*copy) abort();
  for (size_t i = 0; i <= strlen(text); i++) (*copy)[i] = text[i] == '\'' ? '"' : text[i];
  return *copy;
}

#endif // DJ_TESTS_COMMON_JSON_H_
