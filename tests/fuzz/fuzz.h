// What every target is made of. A target is one file here: it defines the function that libFuzzer
// calls with bytes of its own invention. Nothing that it calls may crash, leak or run for seconds,
// whatever the bytes are. `make fuzz` links targets with libFuzzer; all other builds with main.c,
// which runs the files of corpus/.

#ifndef DJ_TESTS_FUZZ_H_
#define DJ_TESTS_FUZZ_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Ends the process, as a failed assertion does in any build: a law does not hold.
#define FUZZ_CHECK(condition)                                                              \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);        \
      abort();                                                                             \
    }                                                                                      \
  } while (0)

// The bytes as text, which ends at the first 0; the caller's to free.
static inline char* fuzz_text(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  FUZZ_CHECK(text);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

// Somewhere more than 20000 points of a geom are wanted, which takes long and is no fault.
static inline int fuzz_wantsMuch(const char* text) {
  static const char key[] = "point_count";
  for (const char* at = strstr(text, key); at; at = strstr(at, key)) {
    at += strlen(key);
    const char* digit = at + strcspn(at, "0123456789");
    if (strtod(digit, NULL) > 20000) return 1;
  }
  return 0;
}

// A path under which the process can read the bytes as a file, until fuzz_close. One at a time.
const char* fuzz_file(const uint8_t* data, size_t size);
void fuzz_close(void);

#endif  // DJ_TESTS_FUZZ_H_
