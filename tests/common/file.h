// Files that tests write.

#ifndef DJ_TESTS_COMMON_FILE_H_
#define DJ_TESTS_COMMON_FILE_H_

#include "common/test.h"

static inline void djt_writeText(const char* path, const char* text) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

#endif  // DJ_TESTS_COMMON_FILE_H_
