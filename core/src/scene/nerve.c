// loops = edges - (corners - components) - rank of the triangles' boundaries, all by sums modulo 2.

#include "scene/nerve.h"

#include "shape/common.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SIDES = 6 };

typedef struct Nerve {
  int n;
  const djNervePart* part;
  double grow;
  int* edge; // (n x n) number of the edge of two parts, or -1
  int nedge;
  double* plane; // of three parts
  int words;     // of a set of edges
  uint64_t** by; // (nedge) a sum of boundaries whose last edge this is, or NULL
} Nerve;

static djVec3 most(djVec3 a, djVec3 b) {
  return dju_vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

static djVec3 least(djVec3 a, djVec3 b) {
  return dju_vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

// Planes of a part and the sides of its box, which bound what its edges grow to.
static int addPlanes(double* to, const djNervePart* p) {
  memcpy(to, p->plane, 4 * (size_t)p->nplane * sizeof *to);
  to += 4 * (size_t)p->nplane;
  double low[3], high[3];
  dju_store3(low, p->low);
  dju_store3(high, p->high);
  for (int k = 0; k < SIDES; k++) {
    for (int i = 0; i < 3; i++) to[4 * k + i] = i == k / 2 ? (k & 1 ? 1 : -1) : 0;
    to[4 * k + 3] = k & 1 ? high[k / 2] : -low[k / 2];
  }
  return p->nplane + SIDES;
}

// Do parts, all of which are grown, have a point in common?
static bool meet(const Nerve* w, int n, const int* id) {
  djVec3 low = w->part[id[0]].low, high = w->part[id[0]].high;
  int count = 0;
  for (int k = 0; k < n; k++) {
    const djNervePart* p = &w->part[id[k]];
    low = most(low, p->low);
    high = least(high, p->high);
  }
  djVec3 room = dju_sub3(high, low);
  if (fmin(room.x, fmin(room.y, room.z)) < -2 * w->grow) return false;
  for (int k = 0; k < n; k++) count += addPlanes(w->plane + 4 * (size_t)count, &w->part[id[k]]);
  djVec3 start = dju_scale3(0.5, dju_add3(low, high));
  double size = dju_norm3(room) + w->grow;
  return dj_haveCommon(count, w->plane, start, size, w->grow);
}

static int rootOf(const int* set, int i) {
  while (set[i] != i) i = set[i];
  return i;
}

static int edgeOf(const Nerve* w, int i, int j) { return w->edge[(size_t)i * (size_t)w->n + j]; }

// *components; false: no memory.
static bool findEdges(int* components, Nerve* w, djPool* pool) {
  int* set = dj_poolTake(pool, (size_t)w->n, sizeof *set);
  *components = w->n;
  for (int i = 0; set && i < w->n; i++) set[i] = i;
  for (int i = 0; set && i < w->n; i++) {
    for (int j = i + 1; j < w->n; j++) {
      bool both = meet(w, 2, (int[]){i, j});
      w->edge[(size_t)i * (size_t)w->n + j] = both ? w->nedge++ : -1;
      if (!both || rootOf(set, i) == rootOf(set, j)) continue;
      set[rootOf(set, j)] = rootOf(set, i);
      --*components;
    }
  }
  return set;
}

// Does a triangle's boundary add to those before? -1: no memory.
static int addTriangle(Nerve* w, djPool* pool, const int edge[3]) {
  uint64_t* sum = dj_poolTake(pool, (size_t)w->words, sizeof *sum);
  if (!sum) return -1;
  for (int k = 0; k < 3; k++) sum[edge[k] / 64] |= (uint64_t)1 << edge[k] % 64;
  for (int e = w->nedge - 1; e >= 0; e--) {
    if (!(sum[e / 64] >> e % 64 & 1)) continue;
    if (!w->by[e]) {
      w->by[e] = sum;
      return 1;
    }
    for (int k = 0; k < w->words; k++) sum[k] ^= w->by[e][k];
  }
  return 0;
}

// *rank of the boundaries of all triangles; false: no memory.
static bool findTriangles(int* rank, Nerve* w, djPool* pool) {
  *rank = 0;
  for (int i = 0; i < w->n; i++) {
    for (int j = i + 1; j < w->n; j++) {
      for (int k = j + 1; k < w->n && edgeOf(w, i, j) >= 0; k++) {
        const int edge[3] = {edgeOf(w, i, j), edgeOf(w, i, k), edgeOf(w, j, k)};
        if (edge[1] < 0 || edge[2] < 0 || !meet(w, 3, (int[]){i, j, k})) continue;
        int more = addTriangle(w, pool, edge);
        if (more < 0) return false;
        *rank += more;
      }
    }
  }
  return true;
}

djStatus dj_nerveLoops(int* loops, djPool* pool, int n, const djNervePart* part, double grow) {
  int largest = 0, components, rank;
  for (int i = 0; i < n; i++) largest = part[i].nplane > largest ? part[i].nplane : largest;
  Nerve w = {.n = n, .part = part, .grow = grow};
  w.edge = dj_poolTake(pool, (size_t)n * (size_t)n, sizeof *w.edge);
  w.plane = dj_poolTake(pool, 12 * ((size_t)largest + SIDES), sizeof *w.plane);
  if (!w.edge || !w.plane || !findEdges(&components, &w, pool)) return DJ_NO_MEMORY;
  w.words = w.nedge / 64 + 1;
  w.by = dj_poolTake(pool, (size_t)w.nedge + 1, sizeof *w.by);
  if (!w.by || !findTriangles(&rank, &w, pool)) return DJ_NO_MEMORY;
  *loops = w.nedge - (n - components) - rank;
  return DJ_OK;
}
