// Comparing messages that end with a list of the names that were expected.

#ifndef DJ_TESTS_COMMON_MESSAGE_H_
#define DJ_TESTS_COMMON_MESSAGE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Equal; the list is compared only where `wanted` has one, but is never missing after "unknown key"
// and "unknown value".
static inline void assertMessage(const char* text, const char* wanted) {
  static const char list[] = ", expected one of ";
  char shown[600];
  snprintf(shown, sizeof shown, "%s", text);
  char* found = strstr(shown, list);
  if (strstr(shown, "unknown key '") || strstr(shown, "unknown value '")) {
    assert_true(found && found[sizeof list - 1]);
  }
  if (found && !strstr(wanted, list)) *found = 0;
  assert_string_equal(shown, wanted);
}

#endif  // DJ_TESTS_COMMON_MESSAGE_H_
