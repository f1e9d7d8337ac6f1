#include "model/guide_bodies.h"

#include <string.h>

static bool before(int a1, int a2, int b1, int b2) { return a1 < b1 || (a1 == b1 && a2 < b2); }

void dj_sortGuides(djModel* m) {
  int *one = m->guide_body1, *two = m->guide_body2, n = 0;
  for (int i = 0; i < m->nguide; i++) {
    int low = one[i] < two[i] ? one[i] : two[i], high = one[i] + two[i] - low, at = n;
    while (at > 0 && before(low, high, one[at - 1], two[at - 1])) at--;
    if (at > 0 && one[at - 1] == low && two[at - 1] == high) continue;
    memmove(one + at + 1, one + at, (size_t)(n - at) * sizeof *one);
    memmove(two + at + 1, two + at, (size_t)(n - at) * sizeof *two);
    one[at] = low;
    two[at] = high;
    n++;
  }
  m->nguide = n;
}

bool dj_isGuided(const djModel* m, int body1, int body2) {
  int low = body1 < body2 ? body1 : body2, high = body1 + body2 - low, from = 0, to = m->nguide;
  while (from < to) {
    int k = (from + to) / 2;
    if (before(m->guide_body1[k], m->guide_body2[k], low, high)) from = k + 1;
    else to = k;
  }
  bool found = from < m->nguide && m->guide_body1[from] == low && m->guide_body2[from] == high;
  return found || m->nguide == 0;
}
