// Order and supernodes of a pattern of many blocks.

#include "math/super.h"

#include <amd.h>

void dj_orderMany(djPattern* p) {
  int nb = p->nfine, used = 0;
  int* adr = p->head;
  for (int b = 0; b < nb; b++) {
    adr[b] = used;
    for (int k = p->near_adr[b]; k < p->near_adr[b + 1]; k++) {
      if (p->near[k] != b) p->list[used++] = p->near[k];
    }
    p->length[b] = used - adr[b];
  }
  // The routine behind amd_order that allocates nothing. It writes rank and order.
  amd_2(nb, adr, p->list, p->length, p->nlist, used, p->weight, p->rank, p->order, p->previous,
        p->element, p->degree, p->mark, NULL, NULL);
}

static int rowsOf(const djPattern* p, int rank) {
  int block = p->order[rank];
  return p->fine[block + 1] - p->fine[block];
}

// Whether a run of `rows` rows whose matrix of `all` entries would hold `zeros` for nothing pays.
static bool pays(size_t rows, double zeros, double all) {
  double most = rows <= 24 ? 0.5 : rows <= 96 ? 0.15 : 0.05;
  return zeros <= most * all;
}

// The end of the run that starts at rank k; later (of each rank): rows. A rank joins the run whose
// last one is its child in the elimination tree: the rows that are later to the run are then its
// own. What a row of blocks holds without the run beside its diagonal block: its rows times those
// later to it.
static int endOfRun(const djPattern* p, int k, const int* later) {
  size_t rows = (size_t)rowsOf(p, k);
  double held = (double)rows * later[k], inside = 0;
  for (; k + 1 < p->nfine; k++) {
    bool child = p->later_adr[k + 1] > p->later_adr[k] && p->later[p->later_adr[k]] == k + 1;
    if (!child) break;
    size_t more = (size_t)rowsOf(p, k + 1);
    inside += (double)rows * (double)more;
    held += (double)more * later[k + 1];
    rows += more;
    double all = (double)rows * later[k + 1] + inside;
    if (!pays(rows, all - held, all)) break;
  }
  return k + 1;
}

void dj_findSupernodes(djPattern* p) {
  int nb = p->nfine, ns = 0, row = 0, *later = p->length;
  for (int k = 0; k < nb; k++) {
    later[k] = 0;
    for (int i = p->later_adr[k]; i < p->later_adr[k + 1]; i++) later[k] += rowsOf(p, p->later[i]);
  }
  size_t at = 0, below = 0;
  int front = 0;
  for (int k = 0; k < nb; ns++) {
    int end = endOfRun(p, k, later), own = 0;
    p->super_first[ns] = k;
    p->super_adr[ns] = at;
    p->super_upper[ns] = below;
    for (int i = end - 1; i >= k; i--) {
      p->super_of[i] = ns;
      p->super_row[i] = row + own;
      own += rowsOf(p, i);
    }
    at += (size_t)own * (size_t)(own + later[end - 1]);
    below += (size_t)own * (size_t)later[end - 1];
    if (own + later[end - 1] > front) front = own + later[end - 1];
    row += own;
    k = end;
  }
  p->super_first[ns] = nb;
  p->super_adr[ns] = at;
  p->super_upper[ns] = below;
  for (int s = 0; s <= ns; s++) p->super_upper[s] += at;
  p->blocks.nsuper = ns;
  p->blocks.front = front;
  p->blocks.super_first = p->super_first;
  p->blocks.super_of = p->super_of;
  p->blocks.super_row = p->super_row;
  p->blocks.super_adr = p->super_adr;
  p->blocks.super_upper = p->super_upper;
}
