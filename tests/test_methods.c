// Every row of the table of methods.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"

static djIntegrator of(void** state) { return *(const djIntegrator*)*state; }

static void testRobots(void** state) { djt_methodRobots(of(state)); }
static void testContact(void** state) { djt_methodContact(of(state)); }
static void testParams(void** state) { djt_methodParams(of(state)); }
static void testRestores(void** state) { djt_methodRestores(of(state)); }

// Without forces, and with gravity, springs and dampers, which `variational` takes at the end.
static void testOrder(void** state) {
  static const double order[DJ_NINTEGRATOR][2] = {{1, 1}, {2, 1}, {1, 1}, {2, 2}};
  for (int forced = 0; forced < 2; forced++) {
    double measured = djt_methodOrder(of(state), forced);
    print_message("%s: order %.2f\n", dj_method(of(state))->name, measured);
    assert_true(fabs(measured - order[of(state)][forced]) < 0.15);
  }
}

#define ROW(id)                                                                             \
  {"robots " #id, testRobots, NULL, NULL, (void*)(size_t)&all[id]},                          \
      {"contact " #id, testContact, NULL, NULL, (void*)(size_t)&all[id]},                    \
      {"params " #id, testParams, NULL, NULL, (void*)(size_t)&all[id]},                      \
      {"restores " #id, testRestores, NULL, NULL, (void*)(size_t)&all[id]},                  \
      {"order " #id, testOrder, NULL, NULL, (void*)(size_t)&all[id]}

int main(void) {
  static const djIntegrator all[DJ_NINTEGRATOR] = {DJ_POSITION, DJ_VARIATIONAL, DJ_BDF1,
                                                   DJ_MIDPOINT};
  const struct CMUnitTest tests[] = {ROW(DJ_POSITION), ROW(DJ_VARIATIONAL), ROW(DJ_BDF1),
                                     ROW(DJ_MIDPOINT)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
