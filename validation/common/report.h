// What validation programs print: numbers beside their targets, and the verdict.

#ifndef DJ_VALIDATION_REPORT_H_
#define DJ_VALIDATION_REPORT_H_

#include <dijoco/dijoco.h>

typedef struct djvReport {
  int checks, misses;
} djvReport;

// Whether --quick is among the arguments. Anything else ends the program with a usage text.
bool djv_isQuick(int argc, char** argv);

// Takes "--integrator NAME" out of the arguments; position when there is none.
djIntegrator djv_takeIntegrator(int* argc, char** argv);

// Takes "NAME NUMBER" out of the arguments; `missing` when there is none.
double djv_takeNumber(int* argc, char** argv, const char* name, double missing);

// A heading, and a line of text.
void djv_title(const char* format, ...) __attribute__((format(printf, 1, 2)));
void djv_note(const char* format, ...) __attribute__((format(printf, 1, 2)));

// One line of a table: what, its number, its target, "ok" or "MISS". NaN is a miss.
void djv_below(djvReport* r, const char* what, double value, double limit, const char* unit);
void djv_above(djvReport* r, const char* what, double value, double limit, const char* unit);
void djv_near(djvReport* r, const char* what, double value, double target, double tolerance,
              const char* unit);
void djv_count(djvReport* r, const char* what, long value, long limit);

// The last line; returns the exit status.
int djv_finish(const djvReport* r);

// A failure that leaves nothing to measure: prints it and ends the program.
_Noreturn void djv_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif  // DJ_VALIDATION_REPORT_H_
