// Tests that take a state of cmocka, which is what they differ by: rows of its list.

#ifndef DJ_TESTS_COMMON_STATES_H_
#define DJ_TESTS_COMMON_STATES_H_

#include "common/test.h"

#include <dijoco/dijoco.h>

// Of a value of the type.
#define djt_of(test, type, ...) {#test " " #__VA_ARGS__, test, NULL, NULL, &(type){__VA_ARGS__}}

// Of a method; of two, three, all of them.
#define djt_by(test, method) djt_of(test, djIntegrator, method)
#define djt_byTwo(test) djt_by(test, DJ_POSITION), djt_by(test, DJ_VARIATIONAL)
#define djt_byThree(test) djt_byTwo(test), djt_by(test, DJ_EULER)
#define djt_byAll(test)                                                                            \
  djt_byThree(test), djt_by(test, DJ_BDF1), djt_by(test, DJ_MIDPOINT), djt_by(test, DJ_BDF2)

// DJT_MAIN of such rows and of djt_test().
#define DJT_MAIN_ROWS(...)                                                                         \
  int main(void) {                                                                                 \
    const struct CMUnitTest tests[] = {__VA_ARGS__};                                               \
    return cmocka_run_group_tests(tests, NULL, NULL);                                              \
  }

#endif  // DJ_TESTS_COMMON_STATES_H_
