// Timings beside MuJoCo's: what the items of `dijoco bench` share.

#ifndef DJ_TOOLS_BENCH_H_
#define DJ_TOOLS_BENCH_H_

#include "options.h"

#include <dijoco/file.h>

typedef struct BenchResult {
  char name[60], peer_name[80], note[400];
  double ours, peer;       // microseconds; peer NaN: not measured
} BenchResult;

// A number fitted to several results, such as a cost exponent.
typedef struct BenchFit {
  char name[60], peer_name[80], note[200];
  double ours, peer;
} BenchFit;

typedef struct BenchTask BenchTask;

typedef struct Bench {
  const Options* options;
  const char* robots;      // folder of gymnasium's models, or NULL
  const char* models;      // our own scenes, or NULL
  djFile* pairs;           // where hull pairs are written, or NULL
  int ntask;
  BenchTask* task;         // (ntask) those of the command line
  int n, nfit, nskipped;
  BenchResult* result;
  BenchFit fit[32];
  char skipped[8][200];    // what could not be timed, and why
  bool counting;           // how many things there are to time, before any is
  int nthing, thing;       // so many, and the present one
  bool interrupted;        // by a signal: something was left out
} Bench;

// Times of one thing, in seconds. Medians are over all of them.
typedef struct Times {
  int n, room;
  double* value;
} Times;

void times_add(Times* t, double seconds);
double times_median(Times* t);               // microseconds
double times_part(Times* t, double part);    // microseconds; part 0.5 is the median
double times_mean(const Times* t);           // microseconds
void times_free(Times* t);

// Seconds of this thread: what takes milliseconds is interrupted by other programs.
double bench_threadClock(void);

// Whether --filter lets an item through.
bool bench_wants(const Bench* b, const char* name);
// Begin to time something, which is shown as progress. False: leave it out (see `counting`; after a
// signal nothing new is begun).
bool bench_begin(Bench* b, const char* what);

// Add an item, unless the filter stops it.
void bench_add(Bench* b, const char* name, double ours, const char* peer_name, double peer,
               const char* note, ...) __attribute__((format(printf, 6, 7)));
void bench_fit(Bench* b, const char* name, double ours, const char* peer_name, double peer,
               const char* note);
// Slope of log t over log x by least squares.
double bench_slope(const double* x, const double* t, int n);
void bench_skip(Bench* b, const char* what, const char* why, ...)
    __attribute__((format(printf, 3, 4)));

// The items.
void bench_robots(Bench* b);
void bench_context(Bench* b);
void bench_pair(Bench* b);
void bench_stack(Bench* b);
void bench_pile(Bench* b);
void bench_guide(Bench* b);
void bench_triangles(Bench* b);
void bench_rollouts(Bench* b);
void bench_implicit(Bench* b);
void bench_design(Bench* b);
void bench_batch(Bench* b);

// Tasks are loaded before anything is timed. Returns 0, or EXIT_BAD_INPUT after its line on stderr;
// closed in either case.
int bench_openTasks(Bench* b);
void bench_tasks(Bench* b);
void bench_closeTasks(Bench* b);

#endif  // DJ_TOOLS_BENCH_H_
