// Balls that are far apart, one of which is to be moved by the other.

#ifndef DJ_VALIDATION_GRADIENT_HONESTY_AFAR_H_
#define DJ_VALIDATION_GRADIENT_HONESTY_AFAR_H_

#include "common/report.h"

// 10, 100 and 1000 radii: derivatives at rest, and what a descent makes of them.
void afar_report(djvReport* report, bool quick);

#endif  // DJ_VALIDATION_GRADIENT_HONESTY_AFAR_H_
