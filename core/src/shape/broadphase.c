// Sweep and prune along one axis. Boxes stay sorted by their lower bound from update to update;
// little moves between steps, so insertion sort is nearly linear (and heap sort takes over where
// it is not). Comparisons are written so that NaN counts as overlap: nothing is lost by bad input.

#include "shape/broadphase.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct djBroadphase {
  int nbox;
  int axis;               // -1 before the first update
  int* order;             // (nbox) by key
  double* key;            // (nbox) lower bound of each box, -infinity for NaN
  int *next, *end;        // (nbox) scratch: places of pairs by their first box
};

static size_t align8(size_t n) { return (n + 7) & ~(size_t)7; }

size_t dj_broadphaseSize(int nbox) {
  size_t n = nbox > 0 ? (size_t)nbox : 0;
  return align8(sizeof(djBroadphase)) + n * sizeof(double) + align8(3 * n * sizeof(int));
}

djBroadphase* dj_initBroadphase(void* memory, int nbox) {
  if (!memory || nbox < 0) return NULL;
  djBroadphase* s = memory;
  s->nbox = nbox;
  s->axis = -1;
  s->key = (double*)((char*)memory + align8(sizeof *s));
  s->order = (int*)(s->key + nbox);
  s->next = s->order + nbox;
  s->end = s->next + nbox;
  for (int i = 0; i < nbox; i++) s->order[i] = i;
  return s;
}

// The axis along which the boxes' centres spread most. Kept until another is twice better.
static int chooseAxis(const djBroadphase* s, const double* box) {
  double spread[3];
  for (int k = 0; k < 3; k++) {
    double sum = 0, square = 0;
    int n = 0;
    for (int i = 0; i < s->nbox; i++) {
      double c = (box[6 * i + k] + box[6 * i + 3 + k]) / 2;
      if (!isfinite(c)) continue;
      sum += c;
      square += c * c;
      n++;
    }
    spread[k] = n ? square - sum * sum / n : 0;
  }
  int best = spread[1] > spread[0] ? 1 : 0;
  if (spread[2] > spread[best]) best = 2;
  if (s->axis >= 0 && !(spread[best] > 4 * spread[s->axis])) return s->axis;
  return best;
}

static bool before(const djBroadphase* s, int i, int j) {
  double a = s->key[i], b = s->key[j];
  return a < b || (a == b && i < j);
}

static void siftDown(djBroadphase* s, int root, int end) {
  for (int child; (child = 2 * root + 1) < end; root = child) {
    if (child + 1 < end && before(s, s->order[child], s->order[child + 1])) child++;
    if (!before(s, s->order[root], s->order[child])) return;
    int swap = s->order[root];
    s->order[root] = s->order[child];
    s->order[child] = swap;
  }
}

static void heapSort(djBroadphase* s) {
  for (int i = s->nbox / 2 - 1; i >= 0; i--) siftDown(s, i, s->nbox);
  for (int end = s->nbox - 1; end > 0; end--) {
    int swap = s->order[0];
    s->order[0] = s->order[end];
    s->order[end] = swap;
    siftDown(s, 0, end);
  }
}

static void sortBoxes(djBroadphase* s) {
  long moves = 0, budget = 16L * s->nbox + 256;
  for (int i = 1; i < s->nbox; i++) {
    int box = s->order[i], j = i;
    for (; j > 0 && before(s, box, s->order[j - 1]); j--) {
      s->order[j] = s->order[j - 1];
      moves++;
    }
    s->order[j] = box;
    if (moves > budget) {
      heapSort(s);
      return;
    }
  }
}

// Max-heap on (a, b).
static void siftPair(djBoxPair* pair, int root, int end) {
  for (int child; (child = 2 * root + 1) < end; root = child) {
    if (child + 1 < end && dj_pairBefore(pair[child], pair[child + 1])) child++;
    if (!dj_pairBefore(pair[root], pair[child])) return;
    djBoxPair swap = pair[root];
    pair[root] = pair[child];
    pair[child] = swap;
  }
}

static void heapify(djBoxPair* pair, int n) {
  for (int i = n / 2 - 1; i >= 0; i--) siftPair(pair, i, n);
}

// Lists keep the maxpair least pairs: once full, a smaller pair replaces the largest.
static void addPair(djBoxPair* pair, int maxpair, int* n, djBoxPair p) {
  if (*n < maxpair) {
    pair[*n] = p;
  } else if (maxpair > 0) {
    if (*n == maxpair) heapify(pair, maxpair);
    if (dj_pairBefore(p, pair[0])) {
      pair[0] = p;
      siftPair(pair, 0, maxpair);
    }
  }
  ++*n;
}

// By the first box, each pair to its place, then by the second.
static void sortPairs(djBroadphase* s, djBoxPair* pair, int n) {
  memset(s->end, 0, (size_t)s->nbox * sizeof *s->end);
  for (int i = 0; i < n; i++) s->end[pair[i].a]++;
  for (int k = 0, at = 0; k < s->nbox; k++) {
    s->next[k] = at;
    at = s->end[k] += at;
  }
  for (int k = 0; k < s->nbox; k++) {
    while (s->next[k] < s->end[k]) {
      djBoxPair *here = &pair[s->next[k]], p = *here, *place = &pair[s->next[p.a]++];
      *here = *place;
      *place = p;
    }
  }
  for (int i = 1; i < n; i++) {
    djBoxPair p = pair[i];
    int j = i;
    for (; j > 0 && dj_pairBefore(p, pair[j - 1]); j--) pair[j] = pair[j - 1];
    pair[j] = p;
  }
}

static bool apart(const double* p, const double* q, int k) {
  return p[k] > q[3 + k] || q[k] > p[3 + k];
}

int dj_updateBroadphase(djBoxPair* pair, int maxpair, djBroadphase* s, const double* box,
                        bool (*keep)(const void* user, int a, int b), const void* user) {
  if (!s || !box || s->nbox < 2) return 0;
  if (!pair || maxpair < 0) maxpair = 0;
  s->axis = chooseAxis(s, box);
  int axis = s->axis, k1 = (axis + 1) % 3, k2 = (axis + 2) % 3;
  for (int i = 0; i < s->nbox; i++) {
    double lower = box[6 * i + axis];
    s->key[i] = isnan(lower) ? -INFINITY : lower;
  }
  sortBoxes(s);
  int n = 0;
  for (int i = 0; i < s->nbox; i++) {
    const double* p = box + 6 * s->order[i];
    for (int j = i + 1; j < s->nbox; j++) {
      if (s->key[s->order[j]] > p[3 + axis]) break;
      const double* q = box + 6 * s->order[j];
      if (apart(p, q, axis) || apart(p, q, k1) || apart(p, q, k2)) continue;
      int a = s->order[i], b = s->order[j];
      if (a > b) {
        a = s->order[j];
        b = s->order[i];
      }
      if (keep && !keep(user, a, b)) continue;
      addPair(pair, maxpair, &n, (djBoxPair){a, b});
    }
  }
  sortPairs(s, pair, n < maxpair ? n : maxpair);
  return n;
}
