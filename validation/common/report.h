// What validation programs print: numbers beside their targets, and the verdict.

#ifndef DJ_VALIDATION_REPORT_H_
#define DJ_VALIDATION_REPORT_H_

#include <dijoco/dijoco.h>

#include <stddef.h>

// What was measured under one name: a number, or the range of several.
typedef struct djvFigure {
  char name[60];
  const char* unit;
  double least, most;
} djvFigure;

typedef struct djvReport {
  int checks, misses;
  int nfigure;
  djvFigure figure[24];
} djvReport;

// Whether --quick is among the arguments. Anything else ends the program with a usage text.
bool djv_isQuick(int argc, char** argv);

// Takes "--integrator NAME" out of the arguments; the default where there is none.
djIntegrator djv_takeIntegrator(int* argc, char** argv);

// Takes "NAME TEXT" out of the arguments; NULL when there is none.
const char* djv_takeText(int* argc, char** argv, const char* name);

// Takes "NAME NUMBER" out of the arguments; `missing` when there is none.
double djv_takeNumber(int* argc, char** argv, const char* name, double missing);

// A heading, and a line of text.
void djv_title(const char* format, ...) __attribute__((format(printf, 1, 2)));
void djv_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The larger; NaN when one is NaN, where fmax would drop it.
double djv_worst(double a, double b);

// One line of a table: what, its number, its target, "ok" or "MISS". Numbers and limits that are
// not finite are misses: nothing was measured, or nothing could fail.
void djv_below(djvReport* r, const char* what, double value, double limit, const char* unit);
void djv_above(djvReport* r, const char* what, double value, double limit, const char* unit);
void djv_near(djvReport* r, const char* what, double value, double target, double tolerance,
              const char* unit);
void djv_count(djvReport* r, const char* what, long value, long limit);
// At most `limit` of `of`; a miss when there are none.
void djv_countOf(djvReport* r, const char* what, long value, long limit, long of);

// A number for the summary: of those with one name, the range is printed.
void djv_figure(djvReport* r, const char* name, double value, const char* unit);

// The last lines: figures, and how many targets were met. Returns the exit status: 0 when there
// were targets and all were met.
int djv_finish(const djvReport* r);

enum { DJV_SKIPPED = 77 };   // exit status of a program that lacks what it needs
// The same where something is missing, and what needs it was left out: 1 or DJV_SKIPPED.
int djv_finishWithout(const djvReport* r, const char* missing);

// A failure that leaves nothing to measure: prints it and ends the program.
_Noreturn void djv_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// n zeroed elements, and one more; ends the program where there is no memory.
void* djv_take(size_t n, size_t size);

#endif  // DJ_VALIDATION_REPORT_H_
