#include "interrupt.h"

#include "progress.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

// Handlers run in any thread, also beside the main one: only atomics without locks are shared.
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "handlers need atomic integers without locks");

enum { FREE, HELD, ENDING };        // who may change the disk: `clean`, the program, nobody else

static atomic_int state = FREE;
static atomic_int waiting;          // a signal that came while HELD, or 0
static atomic_int deferring, asked; // asked: 1 after the first signal
static void (*volatile clean)(void);
static const char* volatile note;
static int depth;                   // of holds

static const int polite[] = {SIGINT, SIGTERM, SIGHUP};
static const int blunt[] = {SIGQUIT, SIGPIPE};
enum { NPOLITE = sizeof polite / sizeof polite[0], NBLUNT = sizeof blunt / sizeof blunt[0] };

// Never returns. A process without a default action (the first of a container) exits instead.
static void end(int number) {
  sigset_t own;
  if (clean) clean();
  progress_stop();
  signal(number, SIG_DFL);
  sigemptyset(&own);
  sigaddset(&own, number);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &own, NULL);
  _exit(128 + number);
}

static void on_blunt(int number) {
  int kept = errno, expected = FREE;
  if (atomic_compare_exchange_strong(&state, &expected, ENDING)) end(number);
  if (expected == HELD) atomic_store(&waiting, number);
  errno = kept;
}

static void on_polite(int number) {
  int kept = errno;
  if (atomic_load(&deferring) && !atomic_exchange(&asked, 1)) {
    progress_tell(note);
  } else {
    on_blunt(number);
  }
  errno = kept;
}

void interrupt_install(void) {
  struct sigaction action = {.sa_flags = SA_RESTART}, before;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < NPOLITE; i++) sigaddset(&action.sa_mask, polite[i]);
  for (int i = 0; i < NBLUNT; i++) sigaddset(&action.sa_mask, blunt[i]);
  action.sa_handler = on_polite;
  for (int i = 0; i < NPOLITE; i++) {
    // nohup's wish. SIGINT is ignored in scripts' background jobs too, where `kill -INT` is meant.
    bool ignored = polite[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                   before.sa_handler == SIG_IGN;
    if (!ignored) sigaction(polite[i], &action, NULL);
  }
  action.sa_handler = on_blunt;
  for (int i = 0; i < NBLUNT; i++) sigaction(blunt[i], &action, NULL);
  signal(SIGXFSZ, SIG_IGN);   // a file that grows too large is a failed write
}

void interrupt_onEnd(void (*what)(void)) { clean = what; }

void interrupt_defer(const char* told) {
  note = told;
  atomic_store(&deferring, 1);
}

bool interrupt_asked(void) { return atomic_load(&asked); }

void interrupt_hold(void) {
  int expected = FREE;
  if (depth++ > 0) return;
  while (!atomic_compare_exchange_strong(&state, &expected, HELD)) {
    expected = FREE;
    pause();   // another thread's handler ends the program
  }
}

void interrupt_release(void) {
  if (--depth > 0) return;
  atomic_store(&state, FREE);
  int number = atomic_load(&waiting);
  if (number) raise(number);
}
