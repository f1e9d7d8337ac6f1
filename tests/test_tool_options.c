// The command line: where its verb is, what options are, names of settings.

#include "common/test.h"
#include "common/tool_case.h"
#include "options.h"
#include "output.h"

#include <dijoco/setting.h>

static void testVerb(void) {
  char* after[] = {"dijoco", "--timestep", "0.01", "simulate", "s.json"};
  char* flag[] = {"dijoco", "--json", "inspect", "s.json"};
  char* joined[] = {"dijoco", "--timestep=0.01", "simulate"};
  char* none[] = {"dijoco", "--timestep", "0.01"};
  assert_int_equal(opt_findVerb(5, after), 3);
  assert_int_equal(opt_findVerb(4, flag), 2);
  assert_int_equal(opt_findVerb(3, joined), 2);
  assert_int_equal(opt_findVerb(3, none), 0);
}

static void testNames(void) {
  assert_string_equal(opt_nameOf(dj_findSetting("friction_eps", 0)).text, "--friction-eps");
  assert_string_equal(opt_nameOf(dj_findSetting("skin", 0)).text, "--skin");
}

// Arguments in brackets may be left out; there are never more than the verb takes.
static void testArguments(void) {
  const Verb some = {.name = "v", .arguments = "[TASK ...]", .nargument = 2};
  const Verb all = {.name = "v", .arguments = "A B", .nargument = 2};
  char* words[] = {"dijoco", "v", "a", "b", "c"};
  for (int n = 0; n < 4; n++) {
    Options o;
    djt_listen(2);
    int found = opt_parse(&o, &some, 2 + n, words, 1);
    djt_heard(2);
    assert_int_equal(found, n < 3 ? 0 : EXIT_BAD_INPUT);
    if (n < 3) assert_int_equal(o.nargument, n);
    djt_listen(2);
    found = opt_parse(&o, &all, 2 + n, words, 1);
    djt_heard(2);
    assert_int_equal(found, n == 2 ? 0 : EXIT_BAD_INPUT);
  }
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testVerb, testNames, testArguments)
