// What the items of a bench share: times, fits, the list of results, what is left out.

#include "bench.h"
#include "clock.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "interrupt.h"

#include <signal.h>
#include <time.h>

static void testTimes(void) {
  Times t = {0};
  assert_true(isnan(times_median(&t)) && isnan(times_part(&t, 0.9)));
  const int n = 5001;
  for (int i = 0; i < n; i++) times_add(&t, 1e-6 * ((i * 1237) % n));   // each of 0..n-1 once
  assert_int_equal(t.n, n);
  djt_near(times_mean(&t), 2500, 1e-9);
  djt_near(times_median(&t), 2500, 1e-9);
  djt_near(times_part(&t, 0), 0, 1e-9);
  djt_near(times_part(&t, 0.9), 4500, 1e-9);
  djt_near(times_part(&t, 1), 5000, 1e-9);
  times_add(&t, 1);   // after sorting
  djt_near(times_part(&t, 1), 1e6, 1e-6);
  times_free(&t);
  times_free(&t);
  assert_int_equal(t.n, 0);
}

// Sleep does not count, work does. Some systems now and then book a whole tick, or what another
// thread did, on a thread that sleeps: the least of several looks is what the clock itself says.
static void testThreadClock(void) {
  double least = INFINITY;
  for (int look = 0; look < 20 && least >= 0.05; look++) {
    double before = bench_threadClock(), wall = tool_clock();
    usleep(100000);
    assert_true(tool_clock() - wall >= 0.1);
    least = fmin(least, bench_threadClock() - before);
  }
  assert_true(least < 0.05);
  double before = bench_threadClock(), wall = tool_clock();
  while (bench_threadClock() - before < 0.02) {}
  assert_true(tool_clock() - wall >= 0.0199);
}

static void testSlope(void) {
  double x[5] = {1, 2, 4, 10, 30}, t[5];
  for (int i = 0; i < 5; i++) t[i] = 3 * pow(x[i], 1.7);
  djt_near(bench_slope(x, t, 5), 1.7, 1e-13);
  // A factor e on the middle one of three: its logarithm is at the mean, so that the slope stays.
  double even[3] = {1, 10, 100}, bent[3] = {1, 10 * exp(1), 100};
  djt_near(bench_slope(even, bent, 3), 1, 1e-13);
  bent[2] *= exp(1);   // least squares: 1/(2 log 10) more
  djt_near(bench_slope(even, bent, 3), 1 + 1 / (2 * log(10)), 1e-13);
}

static void testAdd(void) {
  Options o = {.filter = "pair"};
  Bench b = {.options = &o};
  assert_true(bench_wants(&b, "a pair") && !bench_wants(&b, "pile"));
  bench_add(&b, "pile", 1, "peer", 2, "none");
  assert_int_equal(b.n, 0);
  char name[100];
  memset(name, 'p', sizeof name);
  memcpy(name, "pair", 4);
  name[99] = 0;
  bench_add(&b, "pair", 1.5, "peer", NAN, "%d of %s", 3, "them");
  bench_add(&b, name, 2, name, 3, "%s%s%s%s%s", name, name, name, name, name);   // cut
  assert_int_equal(b.n, 2);
  assert_string_equal(b.result[0].note, "3 of them");
  assert_string_equal(b.result[0].peer_name, "peer");
  assert_true(b.result[0].ours == 1.5 && isnan(b.result[0].peer));
  assert_int_equal(strlen(b.result[1].name), sizeof b.result[1].name - 1);
  assert_int_equal(strlen(b.result[1].peer_name), sizeof b.result[1].peer_name - 1);
  assert_int_equal(strlen(b.result[1].note), sizeof b.result[1].note - 1);
  assert_true(b.result[1].ours == 2 && b.result[1].peer == 3);
  free(b.result);
  o.filter = NULL;
  assert_true(bench_wants(&b, "pile"));
}

// Fits and skipped things have room for so many; those beyond are left out.
static void testRoom(void) {
  enum { NFIT = 32, NSKIPPED = 8 };
  Options o = {0};
  Bench b = {.options = &o, .counting = true};
  bench_skip(&b, "x", "while counting");
  assert_int_equal(b.nskipped, 0);
  b.counting = false;
  for (int i = 0; i < NFIT + 4; i++) {
    bench_fit(&b, "cost", i, "peer", -i, "note");
    bench_skip(&b, "thing", "why %d", i);
  }
  assert_int_equal(b.nfit, NFIT);
  assert_int_equal(b.nskipped, NSKIPPED);
  for (int i = 0; i < NFIT; i++) assert_true(b.fit[i].ours == i && b.fit[i].peer == -i);
  assert_string_equal(b.fit[NFIT - 1].name, "cost");
  assert_string_equal(b.skipped[NSKIPPED - 1], "thing: why 7");
  bench_skip(&(Bench){.options = &o}, "x", "%300d", 1);   // cut
}

// First things are counted, then timed; after a signal nothing is begun.
static void testBegin(void) {
  Options o = {0};
  Bench b = {.options = &o, .counting = true};
  for (int i = 0; i < 3; i++) assert_false(bench_begin(&b, "x"));
  assert_true(b.nthing == 3 && b.thing == 0);
  b.counting = false;
  assert_true(bench_begin(&b, "x") && bench_begin(&b, "y"));
  assert_true(b.thing == 2 && !b.interrupted);
  interrupt_install();
  interrupt_defer("soon");
  raise(SIGTERM);
  assert_false(bench_begin(&b, "z"));
  assert_true(b.interrupted && b.thing == 2);
}

// Each item has something to time, unless the filter stops it, and times nothing while it counts.
static void testItems(void) {
  static void (*const item[])(Bench*) = {bench_pair, bench_stack, bench_pile, bench_rollouts,
                                         bench_robots, bench_context};
  for (int i = 0; i < 6; i++) {
    Options o = {.filter = NULL};
    Bench b = {.options = &o, .robots = "none", .models = "none", .counting = true};
    item[i](&b);
#ifdef DJ_HAVE_MUJOCO
    assert_true(b.nthing > 0);
#else
    assert_int_equal(b.nthing, 0);
#endif
    o.filter = "no such item";
    Bench none = {.options = &o, .robots = "none", .models = "none", .counting = true};
    item[i](&none);
    assert_int_equal(none.nthing, 0);
    assert_true(b.n == 0 && b.nfit == 0 && b.nskipped == 0 && none.n == 0);
  }
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testTimes, testThreadClock, testSlope, testAdd,
            testRoom, testItems, testBegin)
