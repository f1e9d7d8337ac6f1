// What the items of a bench share: times, and the list of results.

#include "bench.h"

#include "interrupt.h"
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void times_add(Times* t, double seconds) {
  if (t->n == t->room) {
    t->room = t->room ? 2 * t->room : 1024;
    t->value = tool_grow(t->value, (size_t)t->room, sizeof *t->value);
  }
  t->value[t->n++] = seconds;
}

static int compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

double times_part(Times* t, double part) {
  if (t->n == 0) return NAN;
  qsort(t->value, (size_t)t->n, sizeof *t->value, compare);
  return 1e6 * t->value[(int)(part * (t->n - 1))];
}

double times_median(Times* t) { return times_part(t, 0.5); }

double times_mean(const Times* t) {
  double sum = 0;
  for (int i = 0; i < t->n; i++) sum += t->value[i];
  return 1e6 * sum / t->n;
}

void times_free(Times* t) {
  free(t->value);
  *t = (Times){0};
}

double bench_threadClock(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool bench_wants(const Bench* b, const char* name) {
  return !b->options->filter || strstr(name, b->options->filter);
}

bool bench_begin(Bench* b, const char* what) {
  if (b->counting) {
    b->nthing++;
    return false;
  }
  if (interrupt_asked()) {
    b->interrupted = true;
    return false;
  }
  progress_show("timing", b->thing, b->nthing, "%d of %d: %s", b->thing + 1, b->nthing, what);
  b->thing++;
  return true;
}

void bench_add(Bench* b, const char* name, double ours, const char* peer_name, double peer,
               const char* note, ...) {
  if (!bench_wants(b, name)) return;
  b->result = tool_grow(b->result, (size_t)b->n + 1, sizeof *b->result);
  BenchResult* r = &b->result[b->n++];
  *r = (BenchResult){.ours = ours, .peer = peer};
  snprintf(r->name, sizeof r->name, "%s", name);
  snprintf(r->peer_name, sizeof r->peer_name, "%s", peer_name);
  va_list args;
  va_start(args, note);
  vsnprintf(r->note, sizeof r->note, note, args);
  va_end(args);
}

void bench_fit(Bench* b, const char* name, double ours, const char* peer_name, double peer,
               const char* note) {
  if (b->nfit == (int)(sizeof b->fit / sizeof b->fit[0])) return;
  BenchFit* f = &b->fit[b->nfit++];
  *f = (BenchFit){.ours = ours, .peer = peer};
  snprintf(f->name, sizeof f->name, "%s", name);
  snprintf(f->peer_name, sizeof f->peer_name, "%s", peer_name);
  snprintf(f->note, sizeof f->note, "%s", note);
}

double bench_slope(const double* x, const double* t, int n) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = 0; k < n; k++) {
    double u = log(x[k]), v = log(t[k]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void bench_skip(Bench* b, const char* what, const char* why, ...) {
  if (b->counting) return;
  if (b->nskipped == (int)(sizeof b->skipped / sizeof b->skipped[0])) return;
  char* text = b->skipped[b->nskipped++];
  int n = snprintf(text, sizeof b->skipped[0], "%s: ", what);
  va_list args;
  va_start(args, why);
  vsnprintf(text + n, sizeof b->skipped[0] - (size_t)n, why, args);
  va_end(args);
}
