// What every test program begins with: cmocka, which wants headers of C before its own, and those
// that tests use most; and the main function, from the names of the tests.
//
//   static void testStep(void) { ... }
//   static void testSlope(void) { ... }
//
//   DJT_MAIN(testStep, testSlope)
//
// DJT_MAIN_IN runs them between two fixtures of cmocka for all of them, DJT_MAIN_EACH between two
// for each; NULL is none, and they leave cmocka's state alone. Where tests differ in that, or have
// a state, main is written out, and djt_test() makes one row of cmocka's list.

#ifndef DJ_TESTS_COMMON_TEST_H_
#define DJ_TESTS_COMMON_TEST_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void (*djtTest)(void);

static inline void djt_runTest(void** state) { (*(djtTest*)*state)(); }

#define djt_test(name) {#name, djt_runTest, NULL, NULL, &(djtTest){name}}

// row[count]: the tests with their names, of a list "a, b", which is cut up.
static inline void djt_listTests(struct CMUnitTest* row, char* names, djtTest* test, size_t count,
                                 CMFixtureFunction setup, CMFixtureFunction teardown) {
  for (size_t i = 0; i < count; i++) {
    size_t length = strcspn(names, ", ");
    row[i] = (struct CMUnitTest){names, djt_runTest, setup, teardown, &test[i]};
    names += length;
    if (*names) *names++ = 0;
    names += strspn(names, ", ");
  }
}

#define DJT_MAIN_OF(begin, end, setup, teardown, ...)                                              \
  int main(void) {                                                                                 \
    static djtTest test[] = {__VA_ARGS__};                                                         \
    static char names[] = #__VA_ARGS__;                                                            \
    static struct CMUnitTest row[sizeof test / sizeof *test];                                      \
    djt_listTests(row, names, test, sizeof test / sizeof *test, setup, teardown);                  \
    return cmocka_run_group_tests(row, begin, end);                                                \
  }
#define DJT_MAIN(...) DJT_MAIN_OF(NULL, NULL, NULL, NULL, __VA_ARGS__)
#define DJT_MAIN_IN(begin, end, ...) DJT_MAIN_OF(begin, end, NULL, NULL, __VA_ARGS__)
#define DJT_MAIN_EACH(setup, teardown, ...) DJT_MAIN_OF(NULL, NULL, setup, teardown, __VA_ARGS__)

// Fails with the message, where it is so.
#define djt_failIf(so, ...)                                                                        \
  do {                                                                                             \
    if (so) fail_msg(__VA_ARGS__);                                                                 \
  } while (0)

// A measured number, which is printed, is less than the bound: not where it is NaN.
#define djt_below(label, x, bound) djt_belowAt(label, x, bound, __FILE__, __LINE__)
static inline void djt_belowAt(const char* label, double x, double bound, const char* file,
                               int line) {
  print_message("%s: %.1e\n", label, x);
  if (x < bound) return;
  print_error("%s: %g is not below %g\n", label, x, bound);
  _fail(file, line);
}

// The call returns the status, and err has the message; djt_refusedWith: a message with the words.
#define djt_refused(status, call, err, message)                                                    \
  djt_refusedAt(status, call, #call, (err).text, message, true, __FILE__, __LINE__)
#define djt_refusedWith(status, call, err, words)                                                  \
  djt_refusedAt(status, call, #call, (err).text, words, false, __FILE__, __LINE__)
static inline void djt_refusedAt(int wanted, int status, const char* call, const char* text,
                                 const char* words, bool whole, const char* file, int line) {
  if (status == wanted && (whole ? strcmp(text, words) == 0 : strstr(text, words) != NULL)) return;
  print_error("%s\n  is %d \"%s\"\n not %d \"%s\"\n", call, status, text, wanted, words);
  _fail(file, line);
}

#endif  // DJ_TESTS_COMMON_TEST_H_
