// Comparing messages that end with a list of the names that were expected.

#ifndef DJ_TESTS_COMMON_MESSAGE_H_
#define DJ_TESTS_COMMON_MESSAGE_H_

#include "common/test.h"

// Equal; the list is compared only where `wanted` has one, but is never missing after "unknown key"
// and "unknown value".
static inline bool djt_isMessage(const char* text, const char* wanted) {
  static const char list[] = ", expected one of ";
  const char* found = strstr(text, list);
  bool due = strstr(text, "unknown key '") || strstr(text, "unknown value '");
  if (due && (!found || !found[sizeof list - 1])) return false;
  size_t n = found && !strstr(wanted, list) ? (size_t)(found - text) : strlen(text);
  return strlen(wanted) == n && strncmp(text, wanted, n) == 0;
}

static inline void assertMessage(const char* text, const char* wanted) {
  djt_failIf(!djt_isMessage(text, wanted), "\"%s\", not \"%s\"", text, wanted);
}

#endif  // DJ_TESTS_COMMON_MESSAGE_H_
