#include "io/read_file.h"

#include "base/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DJ_MAX_FILE ((size_t)1 << 30)

static djStatus failSize(size_t limit, djError* err) {
  if (limit < 1 << 20) return dj_fail(err, DJ_FILE, "is larger than %zu bytes", limit);
  return dj_fail(err, DJ_FILE, "is larger than %zu MiB", limit >> 20);
}

// Room for another byte and the 0 at the end.
static bool grow(char** data, size_t* capacity, size_t used, size_t limit) {
  if (used + 1 < *capacity) return true;
  size_t more = *capacity ? 2 * *capacity : 1 << 16;
  if (more > limit + 2) more = limit + 2;
  char* grown = realloc(*data, more);
  if (!grown) return false;
  *data = grown;
  *capacity = more;
  return true;
}

// is_text: bytes that are 0 are refused.
static djStatus readAll(char** text, size_t* length, FILE* file, size_t limit, bool is_text,
                        djError* err) {
  size_t capacity = 0, used = 0;
  char* data = NULL;
  djStatus status = DJ_OK;
  *text = NULL;
  *length = 0;
  for (;;) {
    if (!grow(&data, &capacity, used, limit)) {
      status = dj_failMemory(err);
      break;
    }
    size_t room = capacity - used - 1, block = room < 1 << 16 ? room : 1 << 16;
    size_t n = fread(data + used, 1, block, file);
    // No text has it, and a device of zeros would never end.
    const char* nul = n > 0 && is_text ? memchr(data + used, 0, n) : NULL;
    if (nul) {
      status = dj_fail(err, DJ_INVALID, "byte %zu is NUL: not a text",
                       (size_t)(nul - data) + 1);
      break;
    }
    used += n;
    if (used > limit) {
      status = failSize(limit, err);
      break;
    }
    if (n < block) break;
  }
  if (status == DJ_OK && ferror(file)) status = dj_fail(err, DJ_FILE, "cannot be read");
  if (status < 0) {
    free(data);
    return status;
  }
  data[used] = 0;
  *text = data;
  *length = used;
  return DJ_OK;
}

djStatus dj_readStream(char** text, size_t* length, FILE* file, size_t limit, djError* err) {
  return readAll(text, length, file, limit, true, err);
}

static djStatus readPath(char** text, size_t* length, const char* path, bool is_text,
                         djError* err) {
  if (!text || !length || !path) return dj_fail(err, DJ_INVALID, "text, length or path: NULL");
  *text = NULL;
  *length = 0;
  FILE* file = fopen(path, "rb");
  if (!file) return dj_fail(err, DJ_FILE, "cannot be opened");
  djStatus status = readAll(text, length, file, DJ_MAX_FILE, is_text, err);
  fclose(file);
  return status;
}

djStatus dj_readFile(char** text, size_t* length, const char* path, djError* err) {
  return readPath(text, length, path, true, err);
}

djStatus dj_readBytes(char** bytes, size_t* length, const char* path, djError* err) {
  return readPath(bytes, length, path, false, err);
}

djStatus dj_readInput(char** text, size_t* length, djError* err) {
  if (!text || !length) return dj_fail(err, DJ_INVALID, "text or length: NULL");
  return dj_readStream(text, length, stdin, DJ_MAX_FILE, err);
}

void dj_freeFile(char* text) { free(text); }
