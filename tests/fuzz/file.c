// Bytes as a file in memory.

#define _GNU_SOURCE
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static int file = -1;

const char* fuzz_file(const uint8_t* data, size_t size) {
  static char path[64];
  file = memfd_create("fuzz", 0);
  FUZZ_CHECK(file >= 0);
  FUZZ_CHECK(write(file, data, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return path;
}

void fuzz_close(void) {
  close(file);
  file = -1;
}
