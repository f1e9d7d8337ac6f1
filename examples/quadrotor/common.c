#define _POSIX_C_SOURCE 200809L

#include "common.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 1.0 // s without a line
#define PERIOD 0.2   // s from one line to the next

bool fail(djError* err, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(err->text, sizeof err->text, format, arguments);
  va_end(arguments);
  return false;
}

double distance(const double p[3], const double q[3]) {
  return sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) +
              (q[2] - p[2]) * (q[2] - p[2]));
}

double pathLength(const double* path, int knots) {
  double sum = 0;
  for (int i = 0; i < knots - 1; i++) sum += distance(path + 3 * i, path + 3 * i + 3);
  return sum;
}

double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double processorSeconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double shown; // when there was a line; 0: there is none

void showProgress(const char* what, double began, const char* unit, long done) {
  const double now = seconds();
  if (now - began < PATIENCE || now - shown < PERIOD || !isatty(STDERR_FILENO)) return;
  shown = now;
  fprintf(stderr, "\r%s: %.1f s; %s %ld ", what, now - began, unit, done);
  fflush(stderr);
}

void endProgress(void) {
  if (shown > 0) fprintf(stderr, "\r%60s\r", "");
  shown = 0;
}
