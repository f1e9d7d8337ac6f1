// The line of progress: what a process writes whose stderr is a terminal.

#define _XOPEN_SOURCE 600   // posix_openpt and its kin

#include "clock.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "progress.h"

#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const char* const work[2] = {"first", "second"};
static atomic_int* seen;   // lines of each work that have come through the terminal; shared

enum { LATE = 75 };   // exit status of a process that was held up: what it wrote tells nothing

// All that comes through a terminal of so many columns (0: it does not say) from a process that
// runs this; NULL: it was late.
static char* tryWatch(void (*body)(void), int columns) {
  static char text[1 << 16];
  size_t n = 0;
  int master = posix_openpt(O_RDWR | O_NOCTTY), status;
  assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  assert_true(slave >= 0);
  struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
  ioctl(slave, TIOCSWINSZ, &size);
  for (int k = 0; k < 2; k++) atomic_store(&seen[k], 0);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(master);
    dup2(slave, STDERR_FILENO);
    close(slave);
    body();
    _exit(0);
  }
  close(slave);
  for (ssize_t got; n < sizeof text - 1; n += (size_t)got) {
    got = read(master, text + n, sizeof text - 1 - n);
    if (got <= 0) break;   // nobody writes any more
    text[n + (size_t)got] = 0;
    for (int k = 0; k < 2; k++) {
      int count = 0;
      for (char* at = text; (at = strstr(at, work[k])); at++) count++;
      atomic_store(&seen[k], count);
    }
  }
  text[n] = 0;
  close(master);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == LATE) return NULL;
  assert_int_equal(status, 0);
  return text;
}

static char* watch(void (*body)(void), int columns) {
  char* text = NULL;
  for (int k = 0; k < 50 && !text; k++) text = tryWatch(body, columns);
  assert_non_null(text);
  return text;
}

static void show(int k, double done, double all) {
  progress_show(work[k], done, all, "step %d of %d", 1, 4);
  usleep(5000);
}

// Show that work k is at `done` of `all`, for so many seconds.
static void showFor(double seconds, int k, double done, double all) {
  for (double start = tool_clock(); tool_clock() - start < seconds;) show(k, done, all);
}

// ... until so many lines of it have come through the terminal.
static void showLines(int count, int k, double done, double all) {
  for (double start = tool_clock(); atomic_load(&seen[k]) < count; show(k, done, all)) {
    if (tool_clock() - start > 100) _exit(1);
  }
}

// Too short a work for a line, unless it is held up.
static void showBriefly(double seconds, int k, double done) {
  double start = tool_clock();
  showFor(seconds, k, done, 4);
  if (tool_clock() - start > 0.45) _exit(LATE);
}

static void quick(void) {
  showBriefly(0.2, 0, 1);
  progress_end();
}
static void slow(void) {
  showLines(3, 0, 1, 4);
  progress_end();
}
static void unknown(void) {
  showLines(1, 0, 1, 0);
  progress_end();
  progress_end();
}
static void beyond(void) {
  showLines(1, 0, 9, 4);
  progress_end();
}

// The lines between carriage returns; the last one must be blank.
static int lines(char* text, char* line[], int most) {
  int n = 0;
  size_t length = strlen(text);
  assert_true(length > 0 && text[length - 1] == '\r');
  for (char* part = strtok(text, "\r"); part; part = strtok(NULL, "\r")) {
    assert_true(n < most);
    line[n++] = part;
  }
  assert_int_equal(strspn(line[n - 1], " "), strlen(line[n - 1]));
  assert_true(strlen(line[n - 1]) >= strlen(line[n - 2]));   // nothing of it is left
  return n - 1;
}

static void testLine(void) {
  char* line[100];
  assert_string_equal(watch(quick, 80), "");
  int n = lines(watch(slow, 0), line, 100);
  assert_true(n >= 3);
  double before = 0;
  for (int i = 0; i < n; i++) {
    double passed, left;
    int end = 0;
    sscanf(line[i], "first: 25%%, %lf s, %lf s left; step 1 of 4%n", &passed, &left, &end);
    assert_int_equal(end, strlen(line[i]));
    assert_true(passed >= 0.5 && passed > before && passed < 60);
    djt_near(left, 3 * passed, 0.21);   // both are rounded to tenths
    before = passed;
  }
  n = lines(watch(unknown, 80), line, 100);
  double passed = 0;
  int end = 0;
  sscanf(line[0], "first: %lf s; step 1 of 4%n", &passed, &end);   // no part, and nothing "left"
  assert_true(passed >= 0.5 && end > 0 && line[0][end] == 0);
  lines(watch(beyond, 80), line, 100);
  assert_non_null(strstr(line[0], "first: 100%, "));
  assert_non_null(strstr(line[0], ", 0.0 s left"));
}

static void twoWorks(void) {
  showBriefly(0.3, 0, 0);
  showBriefly(0.3, 1, 2);
  _exit(0);
}

// Another work has patience and time of its own; narrow terminals have shorter lines.
static void testSecond(void) {
  char* line[100];
  assert_string_equal(watch(twoWorks, 80), "");
  int n = lines(watch(slow, 20), line, 100);
  for (int i = 0; i < n; i++) assert_int_equal(strlen(line[i]), 19);
}

static void told(void) {
  progress_tell("ending soon");
  showLines(2, 0, 1, 4);
  progress_end();
  showLines(2, 1, 1, 4);
  progress_end();
}
static void stopped(void) {
  showLines(2, 0, 1, 4);
  progress_stop();
  showFor(0.5, 0, 1, 4);
}

// What signal handlers may do.
static void testSignals(void) {
  char* line[100];
  int n = lines(watch(told, 80), line, 100), nfirst = 0, nsecond = 0;
  for (int i = 0; i < n; i++) {
    bool one = strncmp(line[i], "ending soon; first: 25%, ", 25) == 0;
    bool two = strncmp(line[i], "second: 25%, ", 13) == 0;
    assert_true(one || two || strspn(line[i], " ") == strlen(line[i]));
    nfirst += one;
    nsecond += two;
  }
  assert_true(nfirst > 0 && nsecond > 0);   // the note goes with its work
  n = lines(watch(stopped, 80), line, 100);
  for (int i = 0; i < n; i++) assert_non_null(strstr(line[i], "first"));
}

// Where stderr is a file nothing is written.
static void testFile(void) {
  djt_listen(2);
  showFor(1.3, 0, 1, 4);
  progress_end();
  assert_string_equal(djt_heard(2), "");
}

int main(void) {
  seen = mmap(NULL, 2 * sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (seen == MAP_FAILED) return 1;
  const struct CMUnitTest tests[] = {
      djt_test(testLine),
      djt_test(testSecond),
      djt_test(testSignals),
      djt_test(testFile),
  };
  return cmocka_run_group_tests(tests, djt_enterFolder, djt_leaveFolder);
}
