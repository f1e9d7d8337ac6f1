#include "common/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool djv_isQuick(int argc, char** argv) {
  bool quick = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") != 0) {
      fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
      exit(2);
    }
    quick = true;
  }
  return quick;
}

// The value after an option, both taken out; NULL where the option is not given.
static const char* takeOption(int* argc, char** argv, const char* option) {
  int at = 1;
  while (at < *argc && strcmp(argv[at], option) != 0) at++;
  if (at == *argc) return NULL;
  const char* value = at + 1 < *argc ? argv[at + 1] : "";
  *argc = at + 1 < *argc ? *argc - 2 : at;
  for (; at < *argc; at++) argv[at] = argv[at + 2];
  return value;
}

djIntegrator djv_takeIntegrator(int* argc, char** argv) {
  const char* name = takeOption(argc, argv, "--integrator");
  if (!name) return dj_defaultModelDef().option.integrator;
  for (int k = 0; k < DJ_NINTEGRATOR; k++) {
    if (strcmp(name, dj_integratorName((djIntegrator)k)) == 0) return (djIntegrator)k;
  }
  fprintf(stderr, "%s: --integrator: unknown '%s'\n", argv[0], name);
  exit(2);
}

const char* djv_takeText(int* argc, char** argv, const char* name) {
  return takeOption(argc, argv, name);
}

double djv_takeNumber(int* argc, char** argv, const char* name, double missing) {
  const char* text = takeOption(argc, argv, name);
  if (!text) return missing;
  char* end;
  double value = strtod(text, &end);
  if (*text && !*end) return value;
  fprintf(stderr, "%s: %s: '%s' is not a number\n", argv[0], name, text);
  exit(2);
}

void djv_title(const char* format, ...) {
  va_list args;
  va_start(args, format);
  printf("\n");
  vprintf(format, args);
  printf("\n");
  va_end(args);
}

void djv_note(const char* format, ...) {
  va_list args;
  va_start(args, format);
  printf("  ");
  vprintf(format, args);
  printf("\n");
  fflush(stdout);
  va_end(args);
}

double djv_worst(double a, double b) { return isnan(a) || a > b ? a : b; }

static void line(djvReport* r, const char* what, const char* value, const char* target, bool ok) {
  r->checks++;
  if (!ok) r->misses++;
  printf("  %-50s %14s   %-22s %s\n", what, value, target, ok ? "ok" : "MISS");
  fflush(stdout);
}

void djv_below(djvReport* r, const char* what, double value, double limit, const char* unit) {
  char number[40], target[60];
  snprintf(number, sizeof number, "%.4g %s", value, unit);
  snprintf(target, sizeof target, "< %.4g %s", limit, unit);
  line(r, what, number, target, isfinite(value) && isfinite(limit) && value < limit);
}

void djv_above(djvReport* r, const char* what, double value, double limit, const char* unit) {
  char number[40], target[60];
  snprintf(number, sizeof number, "%.4g %s", value, unit);
  snprintf(target, sizeof target, "> %.4g %s", limit, unit);
  line(r, what, number, target, isfinite(value) && isfinite(limit) && value > limit);
}

void djv_near(djvReport* r, const char* what, double value, double target, double tolerance,
              const char* unit) {
  char number[40], text[80];
  snprintf(number, sizeof number, "%.5g %s", value, unit);
  snprintf(text, sizeof text, "%.5g +- %.2g %s", target, tolerance, unit);
  line(r, what, number, text, isfinite(tolerance) && fabs(value - target) <= tolerance);
}

void djv_count(djvReport* r, const char* what, long value, long limit) {
  char number[40], target[60];
  snprintf(number, sizeof number, "%ld", value);
  snprintf(target, sizeof target, limit ? "<= %ld" : "%ld", limit);
  line(r, what, number, target, value <= limit);
}

void djv_countOf(djvReport* r, const char* what, long value, long limit, long of) {
  char number[60], target[60];
  snprintf(number, sizeof number, "%ld of %ld", value, of);
  snprintf(target, sizeof target, limit ? "<= %ld" : "%ld", limit);
  line(r, what, number, of > 0 ? target : "none to count", of > 0 && value <= limit);
}

void djv_figure(djvReport* r, const char* name, double value, const char* unit) {
  const int room = sizeof r->figure / sizeof r->figure[0];
  int k = 0;
  while (k < r->nfigure && strcmp(r->figure[k].name, name) != 0) k++;
  djvFigure* f = &r->figure[k];
  if (k == room) djv_fail("more than %d figures: %s", room, name);
  if (k == r->nfigure) {
    r->nfigure++;
    *f = (djvFigure){.unit = unit, .least = value, .most = value};
    snprintf(f->name, sizeof f->name, "%s", name);
  }
  f->least = -djv_worst(-f->least, -value);
  f->most = djv_worst(f->most, value);
}

// "figure: NAME LEAST..MOST UNIT", which scripts/validate.py reads.
static void printFigures(const djvReport* r) {
  if (r->nfigure > 0) printf("\n");
  for (int k = 0; k < r->nfigure; k++) {
    const djvFigure* f = &r->figure[k];
    printf("figure: %s %.4g", f->name, f->least);
    if (f->most > f->least) printf("..%.4g", f->most);
    printf("%s%s\n", *f->unit ? " " : "", f->unit);
  }
}

int djv_finish(const djvReport* r) {
  printFigures(r);
  printf("\n%d of %d targets met\n", r->checks - r->misses, r->checks);
  if (r->checks == 0) printf("no target was checked\n");
  return r->misses || r->checks == 0 ? 1 : 0;
}

int djv_finishWithout(const djvReport* r, const char* missing) {
  printFigures(r);
  printf("\n%d of %d targets met; without %s the others are not checked\n", r->checks - r->misses,
         r->checks, missing);
  return r->misses ? 1 : DJV_SKIPPED;
}

_Noreturn void djv_fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fflush(stdout);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  exit(1);
}

void* djv_take(size_t n, size_t size) {
  void* p = calloc(n + 1, size);
  if (!p) djv_fail("no memory");
  return p;
}
