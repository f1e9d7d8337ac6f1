// Two hulls near contact: the separating plane's barrier beside IPC's (SDRS, Figs. 7 and 8).

#ifndef DJ_VALIDATION_CODESIGN_PAIRS_H_
#define DJ_VALIDATION_CODESIGN_PAIRS_H_

#include "common/report.h"

// timed: ratios have targets.
void pairs_check(djvReport* r, bool timed);

#endif // DJ_VALIDATION_CODESIGN_PAIRS_H_
