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

// A path under which the process can read the bytes as a file, until fuzz_close. One at a time.
const char* fuzz_file(const uint8_t* data, size_t size);
void fuzz_close(void);

#endif  // DJ_TESTS_FUZZ_H_
