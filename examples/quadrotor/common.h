// Small things that all parts need.

#ifndef QUADROTOR_COMMON_H_
#define QUADROTOR_COMMON_H_

#include <dijoco/dijoco.h>

// Writes the error; returns false.
bool fail(djError* err, const char* format, ...) __attribute__((format(printf, 2, 3)));

double distance(const double p[3], const double q[3]);
double pathLength(const double* path, int knots); // of (knots x 3)

double seconds(void);          // of the clock
double processorSeconds(void); // of this program's work

// One line on standard error, where that is a terminal: what is done since `began` (seconds()) and
// how far it is. It appears after a second, changes five times a second, and goes by endProgress.
void showProgress(const char* what, double began, const char* unit, long done);
void endProgress(void);

#endif // QUADROTOR_COMMON_H_
