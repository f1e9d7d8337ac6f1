#include "text.h"

#include "progress.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(void) {
  fputs("dijoco: out of memory\n", stderr);
  exit(EXIT_BAD_INPUT);
}

void* tool_alloc(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size ? size : 1);
  if (!memory) out_of_memory();
  return memory;
}

void* tool_grow(void* memory, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) out_of_memory();
  size_t bytes = count * size;
  void* grown = realloc(memory, bytes > 0 ? bytes : 1);
  if (!grown) out_of_memory();
  return grown;
}

char* tool_copyText(const char* text) {
  size_t n = strlen(text) + 1;
  return memcpy(tool_alloc(n, 1), text, n);
}

static void reserve(Buffer* b, size_t more) {
  if (b->capacity - b->size > more) return;
  b->capacity = 2 * (b->size + more) + 256;
  b->text = tool_grow(b->text, b->capacity, 1);
}

void buf_addn(Buffer* b, const char* text, size_t n) {
  reserve(b, n + 1);
  memcpy(b->text + b->size, text, n);
  b->size += n;
  b->text[b->size] = 0;
}

void buf_add(Buffer* b, const char* text) { buf_addn(b, text, strlen(text)); }

void buf_addf(Buffer* b, const char* format, ...) {
  reserve(b, 128);
  for (;;) {
    size_t room = b->capacity - b->size;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(b->text + b->size, room, format, arguments);
    va_end(arguments);
    if (n < 0) return;
    if ((size_t)n < room) {
      b->size += (size_t)n;
      return;
    }
    reserve(b, (size_t)n + 1);
  }
}

void buf_addWrapped(Buffer* b, const char* text, int first, int indent) {
  enum { WIDTH = 98 };
  for (int blanks = first; *text; blanks = indent) {
    size_t room = (size_t)(WIDTH - blanks), n = strlen(text);
    if (n > room) {
      n = room;
      while (n > 0 && text[n] != ' ') n--;
      if (n == 0) n = room;
    }
    buf_addf(b, "%*s%.*s\n", blanks, "", (int)n, text);
    text += n;
    while (*text == ' ') text++;
  }
}

void buf_free(Buffer* b) {
  free(b->text);
  *b = (Buffer){0};
}

size_t text_sequence(const unsigned char* s) {
  size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3
             : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
  }
  // overlong forms, surrogates, beyond the last code point
  if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0))) return 0;
  if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))) return 0;
  return n;
}

static _Thread_local Buffer* caught;

void tool_catch(Buffer* into) { caught = into; }

int tool_fail(const char* verb, const char* file, const char* element, const char* format, ...) {
  Buffer line = {0};
  if (!caught) buf_addf(&line, "dijoco%s%s: ", verb ? " " : "", verb ? verb : "");
  if (file) buf_addf(&line, "%s: ", file);
  if (element) buf_addf(&line, "%s: ", element);
  char message[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  buf_add(&line, message);
  for (unsigned char* c = (unsigned char*)line.text; *c;) {
    size_t n = text_sequence(c);
    bool shown = n > 0 && *c >= 0x20 && *c != 0x7F;
    if (!shown) *c = n && strchr("\n\r\t", *c) ? ' ' : '?';
    c += shown ? n : 1;
  }
  while (line.size > 0 && line.text[line.size - 1] == ' ') line.text[--line.size] = 0;
  if (caught) {
    buf_add(caught, line.text);
    buf_free(&line);
    return EXIT_BAD_INPUT;
  }
  progress_end();
  fflush(stdout);
  fprintf(stderr, "%s\n", line.text);
  buf_free(&line);
  return EXIT_BAD_INPUT;
}

bool tool_number(double* value, const char* text) {
  char* end;
  while (strchr(" \t", *text) && *text) text++;
  if (!*text) return false;
  *value = strtod(text, &end);
  if (end == text) return false;
  while (*end == ' ' || *end == '\t') end++;
  return *end == 0;
}
