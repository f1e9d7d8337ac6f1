// Crews of threads: every task once, by whoever is free; few tasks, many calls, forks.

#include "common/test.h"

#include <dijoco/crew.h>

#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NTASK = 200, NLANE = 8 };

typedef struct Log {
  atomic_int done[NTASK], busy[NLANE], overlaps;
  int jammed;   // this task takes as long as all the others
  int lane[NTASK];
} Log;

static void work(void* arg, int task, int lane) {
  Log* log = arg;
  if (atomic_fetch_add(&log->busy[lane], 1) != 0) log->overlaps++;
  log->done[task]++;
  log->lane[task] = lane;
  if (task == log->jammed) {
    for (int k = 0; k < 2000; k++) {
      int sum = 0;
      for (int i = 0; i < NTASK; i++) sum += log->done[i];
      if (sum == NTASK) break;
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
  }
  atomic_fetch_sub(&log->busy[lane], 1);
}

static void checkCall(djCrew* crew, int n, int jammed) {
  Log log = {.jammed = jammed};
  dj_crewDo(crew, n, work, &log);
  assert_int_equal(log.overlaps, 0);
  for (int i = 0; i < NTASK; i++) {
    assert_int_equal(log.done[i], i < n);
    assert_true(log.lane[i] < dj_crewSize(crew));
  }
}

static void testTasks(void) {
  for (int nthread = 1; nthread <= NLANE; nthread++) {
    djCrew* crew = dj_makeCrew(nthread);
    assert_non_null(crew);
    assert_int_equal(dj_crewSize(crew), nthread);
    for (int call = 0; call < 300; call++) checkCall(crew, call % NTASK, -1);
    dj_deleteCrew(crew);
  }
  djCrew* crew = dj_makeCrew(0);
  assert_true(dj_crewSize(crew) >= 1);
  dj_deleteCrew(crew);
  dj_deleteCrew(NULL);
}

// A task that waits for all the others is no one's burden: they are done by the other threads.
static void testJam(void) {
  djCrew* crew = dj_makeCrew(2);
  for (int k = 0; k < 20; k++) {
    Log log = {.jammed = 7 * k};
    dj_crewDo(crew, NTASK, work, &log);
    int alone = 0;
    for (int i = 0; i < NTASK; i++) alone += log.lane[i] == log.lane[log.jammed];
    assert_true(alone < NTASK);
    for (int i = log.jammed + 1; i < NTASK; i++) {
      assert_true(log.lane[i] != log.lane[log.jammed]);
    }
  }
  dj_deleteCrew(crew);
}

// A process forked from that of the threads has none, and does the work itself.
static void testFork(void) {
  djCrew* crew = dj_makeCrew(3);
  checkCall(crew, NTASK, -1);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(20);
    Log log = {.jammed = -1};
    dj_crewDo(crew, NTASK, work, &log);
    int sum = 0;
    for (int i = 0; i < NTASK; i++) sum += log.done[i] == 1 && log.lane[i] == 0;
    dj_deleteCrew(crew);
    _exit(sum == NTASK ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  checkCall(crew, NTASK, -1);
  dj_deleteCrew(crew);
}

DJT_MAIN(testTasks, testJam, testFork)
