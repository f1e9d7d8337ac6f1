// Which trees are coupled: the pattern of the step's matrices.

#include "integrate/work.h"

void dj_coupleTrees(djWork* w, const djModel* m) {
  djPattern* p = &w->pattern;
  int n = 0;
  const djContactBlock* const* block = w->contacts ? dj_contactBlocks(&n, w->contacts) : NULL;
  dj_beginPattern(p);
  for (int k = 0; k < n; k++) {
    int a = m->body_lastdof[block[k]->body_a], b = m->body_lastdof[block[k]->body_b];
    if (a >= 0 && b >= 0) dj_coupleRows(p, a, b);
  }
  dj_endPattern(p);
  w->factor.blocks = p->blocks;
}
