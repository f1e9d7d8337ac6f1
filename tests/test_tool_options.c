// The command line: where its verb is, what options are, names of settings.

#include "common/near.h"
#include "options.h"

#include <dijoco/setting.h>

#include <string.h>

static void testVerb(void** state) {
  (void)state;
  char* after[] = {"dijoco", "--timestep", "0.01", "simulate", "s.json"};
  char* flag[] = {"dijoco", "--json", "inspect", "s.json"};
  char* joined[] = {"dijoco", "--timestep=0.01", "simulate"};
  char* none[] = {"dijoco", "--timestep", "0.01"};
  assert_int_equal(opt_findVerb(5, after), 3);
  assert_int_equal(opt_findVerb(4, flag), 2);
  assert_int_equal(opt_findVerb(3, joined), 2);
  assert_int_equal(opt_findVerb(3, none), 0);
}

static void testNames(void** state) {
  (void)state;
  assert_string_equal(opt_nameOf(dj_findSetting("friction_eps", 0)).text, "--friction-eps");
  assert_string_equal(opt_nameOf(dj_findSetting("skin", 0)).text, "--skin");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testVerb),
      cmocka_unit_test(testNames),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
