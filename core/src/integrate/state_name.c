// Names of the entries of a state vector, as columns of tables have them, and of ends of steps.

#include "integrate/method.h"

#include <dijoco/data.h>

#include <stdio.h>

const char* dj_stateName(char text[32], const djModel* m, int i) {
  if (!text) return "";
  text[0] = 0;
  if (!m || i < 0) return text;
  int history = dj_historySize(m);
  const struct {
    const char* name;
    int n;
    bool vector;
  } part[] = {{"time", 1, false},   {"qpos", m->nq, true},
              {"qvel", m->nv, true}, {"act", m->na, true},
              {"has_history", history > 0, false}, {"history", history, true},
              {"mocap_last_pos", 3 * m->nmocap, true}, {"mocap_last_quat", 4 * m->nmocap, true}};
  for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
    if (i < part[k].n) {
      if (part[k].vector) snprintf(text, 32, "%s[%d]", part[k].name, i);
      else snprintf(text, 32, "%s", part[k].name);
      return text;
    }
    i -= part[k].n;
  }
  return text;
}

const char* dj_stepEndName(int end) {
#define X(enumerator, name) #name,
  static const char* const names[] = {DJ_STEP_ENDS(X)};
#undef X
  return end >= 0 && end < DJ_NSTEPEND ? names[end] : "";
}
