// Signals that ask the program to end: each case is a process of its own, of which is looked at how
// it ended and what it left on the disk.

#include "common/test.h"
#include "common/tool_case.h"
#include "interrupt.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void clean(void) { unlink("unfinished"); }

// What waitpid tells of a process that installs the handlers and runs this.
static int run(void (*body)(void)) {
  int status;
  djt_writeText("unfinished", "");
  remove("went on");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);   // a hold that is never released waits for ever
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    interrupt_install();
    interrupt_onEnd(clean);
    body();
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void goOn(void) {
  int file = open("went on", O_CREAT | O_WRONLY, 0600);
  if (file >= 0) close(file);
}

static void assertEnded(int status, int number, bool went_on) {
  if (number == 0)
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  else
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
  assert_int_equal(djt_readText("unfinished") == NULL, number != 0);
  assert_int_equal(djt_readText("went on") != NULL, went_on);
}

static int number;
static void raiseOnce(void) {
  if (interrupt_asked()) _exit(1);
  raise(number);
  goOn();
}

// Without a deferral the first one ends it, with the signal's own status.
static void testFirst(void) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  for (int i = 0; i < 5; i++) {
    number = all[i];
    assertEnded(run(raiseOnce), number, false);
  }
  number = SIGXFSZ;   // a failed write, no end
  assertEnded(run(raiseOnce), 0, true);
}

static void deferOnce(void) {
  interrupt_defer("later");
  if (interrupt_asked()) _exit(1);
  raise(number);
  goOn();
  if (!interrupt_asked()) _exit(2);
}
static void deferTwice(void) {
  deferOnce();
  raise(SIGTERM);
  _exit(3);
}

static void testDefer(void) {
  static const int polite[] = {SIGINT, SIGTERM, SIGHUP}, blunt[] = {SIGQUIT, SIGPIPE};
  for (int i = 0; i < 3; i++) {
    number = polite[i];
    assertEnded(run(deferOnce), 0, true);
    assertEnded(run(deferTwice), SIGTERM, true);
  }
  for (int i = 0; i < 2; i++) {
    number = blunt[i];
    assertEnded(run(deferOnce), number, false);
  }
}

static void holdTwice(void) {
  interrupt_hold();
  interrupt_hold();
  raise(number);
  interrupt_release();
  goOn();
  if (access("unfinished", F_OK) != 0) _exit(1);
  interrupt_release();
  _exit(2);
}
static void holdDeferred(void) {
  interrupt_defer("later");
  interrupt_hold();
  raise(number);
  interrupt_release();
  if (!interrupt_asked()) _exit(1);
  interrupt_hold();
  raise(number);
  goOn();
  interrupt_release();
  _exit(2);
}
static void holdAgain(void) {
  for (int k = 0; k < 3; k++) {
    interrupt_hold();
    interrupt_release();
  }
  raise(number);
}

// Held signals wait for the last release.
static void testHold(void) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  for (int i = 0; i < 5; i++) {
    number = all[i];
    assertEnded(run(holdTwice), number, true);
    assertEnded(run(holdAgain), number, false);
    if (i < 3) assertEnded(run(holdDeferred), number, true);
  }
}

// nohup's SIGHUP stays ignored; SIGINT, which shells ignore for jobs in the background, does not.
static void testIgnored(void) {
  signal(SIGHUP, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  number = SIGHUP;
  assertEnded(run(raiseOnce), 0, true);
  number = SIGINT;
  assertEnded(run(raiseOnce), SIGINT, false);
  signal(SIGHUP, SIG_DFL);
  signal(SIGINT, SIG_DFL);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testFirst, testDefer, testHold, testIgnored)
