// Which trees are coupled: the pattern of the step's matrices.

#include "integrate/work.h"

#include <limits.h>

// A range starts at dof i when no dof from i on has an ancestor before i.
int dj_treeRanges(int* first, const djModel* m) {
  int n = 0, low = INT_MAX;
  for (int i = m->nv - 1; i >= 0; i--) {
    if (m->dof_parent[i] >= 0 && m->dof_parent[i] < low) low = m->dof_parent[i];
    if (low < i) continue;
    if (first) first[n] = i;
    n++;
  }
  for (int k = 0; k < n / 2 && first; k++) {
    int swap = first[k];
    first[k] = first[n - 1 - k];
    first[n - 1 - k] = swap;
  }
  if (first) first[n] = m->nv;
  return n;
}

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
