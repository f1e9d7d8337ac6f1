// MuJoCo models without the armature of tendons that MuJoCo leaves out.

#ifndef DJ_TESTS_MJ_FORKS_H_
#define DJ_TESTS_MJ_FORKS_H_

#include "import.h"

// What MuJoCo leaves out of the inertia: see the report.
static inline void djt_withoutForks(mjModel* m) {
  for (int i = 0; i < m->ntendon; i++) {
    if (!djm_tendonForks(m, i)) continue;
    m->tendon_armature[i] = 0;
    for (int k = 0; k < m->nactuator; k++) {
      bool on = m->actuator_trntype[k] == mjTRN_TENDON && m->actuator_trnid[2 * k] == i;
      if (on) m->actuator_armature[k] = 0;
    }
  }
}

#endif  // DJ_TESTS_MJ_FORKS_H_
