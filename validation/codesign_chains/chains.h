// Four chains that wind round each other (SDRS, Figs. 6 and 9, Table II).

#ifndef DJ_VALIDATION_CODESIGN_CHAINS_H_
#define DJ_VALIDATION_CODESIGN_CHAINS_H_

#include "common/report.h"

// timed: times have targets.
void chains_check(djvReport* r, bool timed);

#endif // DJ_VALIDATION_CODESIGN_CHAINS_H_
