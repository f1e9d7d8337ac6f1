// Queries of `dijoco contact`, through the verb itself.

#include "fuzz.h"

#include "verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Options options = {.verb = "contact", .nargument = 1, .json = true};
  options.argument[0] = fuzz_file(data, size);
  int status = verb_contact(&options);
  FUZZ_CHECK(status == EXIT_DONE || status == EXIT_NOT_HELD || status == EXIT_BAD_INPUT);
  fuzz_close();
  return 0;
}
