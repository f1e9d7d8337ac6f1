// A thread of its own draws the line, so that time goes on while others work: MuJoCo's compiler, or
// a long iteration.

#include "progress.h"

#include "clock.h"
#include "engine.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 0.5   // seconds without a line
#define PERIOD 0.2     // from one line to the next
#define NEWS 0.02      // from one call that counts to the next

enum { LONGEST = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Under the lock:
static const char* work;                 // the present `what`; NULL: none
static double part;                      // of it; negative: not known
static double started;
static char more[LONGEST];
// Of the main thread:
static double told;                      // when the last call counted
// Shared with signal handlers:
static atomic_int width;                 // of the line on the terminal; 0: none
static atomic_bool stopped, drawing;      // drawing: the thread may be between a look and the line
static const char* _Atomic message;      // shown before the line

// ---- the terminal

// Columns that a line may take: the last one stays empty, or the terminal would go on to the next.
static int columns(void) {
  struct winsize size;
  int n = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  return n - 1 < LONGEST ? n - 1 : LONGEST;
}

// Straight to the descriptor: what does not arrive is no loss.
static void put(const char* text, size_t n) {
  while (n > 0) {
    ssize_t sent = write(STDERR_FILENO, text, n);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text += sent;
    n -= (size_t)sent;
  }
}

// Blanks over the line. Only calls that a signal handler may make.
static void wipe(void) {
  char blanks[LONGEST + 2];
  int n = atomic_exchange(&width, 0);
  if (n <= 0 || n > LONGEST) return;
  memset(blanks, ' ', sizeof blanks);
  blanks[0] = blanks[n + 1] = '\r';
  put(blanks, (size_t)n + 2);
}

// The line in place of the last one.
static void draw(const char* text) {
  char line[LONGEST + 2];
  int room = columns(), n = (int)strlen(text);
  if (room < 1) return;
  if (n > room) n = room;
  if (n < atomic_load(&width)) wipe();
  snprintf(line, sizeof line, "\r%.*s", n, text);
  atomic_store(&width, n);
  put(line, (size_t)n + 1);
}

// ---- the line

// "4.2 s", "3 min 20 s", "2 h 05 min".
static void add_time(char* line, size_t size, double seconds) {
  size_t n = strlen(line);
  char* text = line + n;
  long s = lround(fmin(seconds, 1e9));
  size -= n;
  if (seconds < 9.95) snprintf(text, size, "%.1f s", seconds);
  else if (s < 60) snprintf(text, size, "%ld s", s);
  else if (s < 3600) snprintf(text, size, "%ld min %02ld s", s / 60, s % 60);
  else snprintf(text, size, "%ld h %02ld min", s / 3600, s / 60 % 60);
}

static void add_text(char* line, size_t size, const char* before, const char* text) {
  size_t n = strlen(line);
  snprintf(line + n, size - n, "%s%s", before, text);
}

// "simulating: 41%, 4.1 s, 5.9 s left; step 41 of 100"
static void show_line(double now) {
  char line[4 * LONGEST] = "";
  const char* first = atomic_load(&message);
  if (first) add_text(line, sizeof line, first, "; ");
  add_text(line, sizeof line, work, ": ");
  if (part >= 0) snprintf(line + strlen(line), 16, "%.0f%%, ", 100 * part);
  add_time(line, sizeof line, now - started);
  if (part > 0) {
    add_text(line, sizeof line, ", ", "");
    add_time(line, sizeof line, (now - started) * (1 - part) / part);
    add_text(line, sizeof line, " left", "");
  }
  if (*more) add_text(line, sizeof line, "; ", more);
  draw(line);
}

static void* watch(void* unused) {
  const struct timespec period = {0, (long)(1e9 * PERIOD)};
  (void)unused;
  for (;;) {
    nanosleep(&period, NULL);
    pthread_mutex_lock(&lock);
    double now = tool_clock();
    atomic_store(&drawing, true);
    if (work && now - started >= PATIENCE && !atomic_load(&stopped)) show_line(now);
    atomic_store(&drawing, false);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

// Start the thread, once; it takes no signals. False: there is no terminal.
static bool is_watched(void) {
  static int answer = -1;
  if (answer < 0) {
    sigset_t all, before;
    pthread_t thread;
    answer = isatty(STDERR_FILENO);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (answer && pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
    else answer = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  return answer == 1;
}

// ---- calls

void progress_show(const char* what, double done, double all, const char* format, ...) {
  if (!is_watched()) return;
  double now = tool_clock();
  if (work == what && now - told < NEWS) return;
  told = now;
  pthread_mutex_lock(&lock);
  if (work != what) started = now;
  work = what;
  part = all > 0 ? fmin(fmax(done / all, 0), 1) : -1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(more, sizeof more, format, arguments);
  va_end(arguments);
  pthread_mutex_unlock(&lock);
}

void progress_end(void) {
  if (!work) return;
  pthread_mutex_lock(&lock);
  work = NULL;
  atomic_store(&message, NULL);
  wipe();
  pthread_mutex_unlock(&lock);
}

// A line that is being drawn is let through first, for a second at most: a terminal that takes
// nothing holds nobody up.
void progress_stop(void) {
  const struct timespec millisecond = {0, 1000000};
  atomic_store(&stopped, true);
  for (int k = 0; k < 1000 && atomic_load(&drawing); k++) nanosleep(&millisecond, NULL);
  wipe();
}

void progress_tell(const char* text) { atomic_store(&message, text); }
