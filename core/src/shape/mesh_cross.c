// Signs of determinants in whole numbers: coordinates of 41 bits, products of 125.

#include "shape/mesh_cross.h"

#include <stdlib.h>

__extension__ typedef __int128 Wide;

#define CELLS 1099511627776.0 // 2^40

static int signOf(Wide x) { return (x > 0) - (x < 0); }

// Of (b - a) x (c - a) . (d - a): d is above the plane of a, b, c.
static int sideOf(const djGridPoint* a, const djGridPoint* b, const djGridPoint* c,
                  const djGridPoint* d) {
  Wide u[3], v[3], w[3];
  for (int k = 0; k < 3; k++) {
    u[k] = b->x[k] - a->x[k];
    v[k] = c->x[k] - a->x[k];
    w[k] = d->x[k] - a->x[k];
  }
  return signOf((u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
                (u[0] * v[1] - u[1] * v[0]) * w[2]);
}

// ---- in a plane, by the two coordinates after `axis` ------------------------------------------

static int turnOf(const djGridPoint* a, const djGridPoint* b, const djGridPoint* c, int axis) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  return signOf((Wide)(b->x[i] - a->x[i]) * (c->x[j] - a->x[j]) -
                (Wide)(b->x[j] - a->x[j]) * (c->x[i] - a->x[i]));
}

// A point of a line through a and b is between them.
static bool isBetween(const djGridPoint* a, const djGridPoint* b, const djGridPoint* p) {
  for (int k = 0; k < 3; k++) {
    int64_t low = a->x[k] < b->x[k] ? a->x[k] : b->x[k];
    int64_t high = a->x[k] < b->x[k] ? b->x[k] : a->x[k];
    if (p->x[k] < low || p->x[k] > high) return false;
  }
  return true;
}

static bool segmentsMeet(const djGridPoint* p, const djGridPoint* q, const djGridPoint* a,
                         const djGridPoint* b, int axis) {
  int pa = turnOf(p, q, a, axis), pb = turnOf(p, q, b, axis);
  int ap = turnOf(a, b, p, axis), aq = turnOf(a, b, q, axis);
  if (pa * pb < 0 && ap * aq < 0) return true;
  return (pa == 0 && isBetween(p, q, a)) || (pb == 0 && isBetween(p, q, b)) ||
         (ap == 0 && isBetween(a, b, p)) || (aq == 0 && isBetween(a, b, q));
}

static bool holdsPoint(const djGridPoint t[3], const djGridPoint* p, int axis) {
  int s0 = turnOf(&t[0], &t[1], p, axis), s1 = turnOf(&t[1], &t[2], p, axis);
  int s2 = turnOf(&t[2], &t[0], p, axis);
  return (s0 >= 0 && s1 >= 0 && s2 >= 0) || (s0 <= 0 && s1 <= 0 && s2 <= 0);
}

// An axis along which the triangle has an area; -1: it has none.
static int axisOf(const djGridPoint t[3]) {
  for (int k = 0; k < 3; k++) {
    if (turnOf(&t[0], &t[1], &t[2], k) != 0) return k;
  }
  return -1;
}

// ---- triangles --------------------------------------------------------------------------------

static bool segmentMeets(const djGridPoint* p, const djGridPoint* q, const djGridPoint t[3]) {
  int up = sideOf(&t[0], &t[1], &t[2], p), uq = sideOf(&t[0], &t[1], &t[2], q);
  int axis = axisOf(t);
  if (axis < 0 || up * uq > 0) return false;
  if (up == 0 && uq == 0) {
    if (holdsPoint(t, p, axis) || holdsPoint(t, q, axis)) return true;
    for (int k = 0; k < 3; k++) {
      if (segmentsMeet(p, q, &t[k], &t[(k + 1) % 3], axis)) return true;
    }
    return false;
  }
  if (up == 0) return holdsPoint(t, p, axis);
  if (uq == 0) return holdsPoint(t, q, axis);
  int s0 = sideOf(p, q, &t[0], &t[1]), s1 = sideOf(p, q, &t[1], &t[2]);
  int s2 = sideOf(p, q, &t[2], &t[0]);
  return (s0 >= 0 && s1 >= 0 && s2 >= 0) || (s0 <= 0 && s1 <= 0 && s2 <= 0);
}

bool dj_trianglesMeet(const djGridPoint a[3], const djGridPoint b[3], int shared) {
  if (shared >= 3) return true;
  if (shared == 2) { // they fold onto each other: in one plane, on one side of the edge
    int axis = axisOf(a);
    return axis >= 0 && sideOf(&a[0], &a[1], &a[2], &b[2]) == 0 &&
           turnOf(&a[0], &a[1], &a[2], axis) * turnOf(&a[0], &a[1], &b[2], axis) > 0;
  }
  // What they have in common beyond a shared corner ends at the edge opposite of it in one of them.
  if (shared == 1) return segmentMeets(&a[1], &a[2], b) || segmentMeets(&b[1], &b[2], a);
  for (int k = 0; k < 3; k++) {
    if (segmentMeets(&a[k], &a[(k + 1) % 3], b) || segmentMeets(&b[k], &b[(k + 1) % 3], a)) {
      return true;
    }
  }
  return false;
}

// ---- all pairs --------------------------------------------------------------------------------

typedef struct Search {
  const djMeshTree* tree;
  const djGridPoint* point; // (nvert)
  int tri;
  double box[6];
  int other; // the least triangle that it meets; INT32_MAX: none
} Search;

static bool meet(const Search* s, int first, int second) {
  const int *v = s->tree->tri + 3 * (size_t)first, *w = s->tree->tri + 3 * (size_t)second;
  djGridPoint a[3], b[3];
  int shared = 0, na = 0, nb = 0;
  bool taken[3] = {false};
  int ia[3], ib[3];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      if (v[i] != w[k] || taken[k]) continue;
      taken[k] = true;
      ia[shared] = i;
      ib[shared++] = k;
    }
  }
  na = nb = shared;
  for (int i = 0; i < 3; i++) {
    bool common = false;
    for (int k = 0; k < shared; k++) common = common || ia[k] == i;
    if (!common) ia[na++] = i;
    if (!taken[i]) ib[nb++] = i;
  }
  for (int k = 0; k < 3; k++) {
    a[k] = s->point[v[ia[k]]];
    b[k] = s->point[w[ib[k]]];
  }
  return dj_trianglesMeet(a, b, shared);
}

static void descend(Search* s, int node, int from, int to) {
  const djMeshTree* t = s->tree;
  const double* box = t->box + 6 * (size_t)node;
  for (int k = 0; k < 3; k++) {
    if (box[k] > s->box[3 + k] || box[3 + k] < s->box[k]) return;
  }
  if (to - from <= DJ_MESH_LEAF) {
    for (int i = from; i < to; i++) {
      int other = t->order[i];
      if (other > s->tri && other < s->other && meet(s, s->tri, other)) s->other = other;
    }
    return;
  }
  int middle = (from + to) / 2;
  descend(s, 2 * node + 1, from, middle);
  descend(s, 2 * node + 2, middle, to);
}

djStatus dj_findCrossing(int pair[2], bool* found, const djMeshTree* tree, int nvert,
                         const double box[6]) {
  *found = false;
  djGridPoint* point = malloc((size_t)nvert * sizeof *point);
  if (!point) return DJ_NO_MEMORY;
  double half = fmax(box[3], fmax(box[4], box[5])), scale = CELLS / 2 / half;
  for (int i = 0; i < nvert; i++) {
    for (int k = 0; k < 3; k++) {
      double x = scale * (tree->vert[3 * (size_t)i + (size_t)k] - box[k]);
      // Vertices that no triangle has may be anywhere.
      point[i].x[k] = (int64_t)rint(fmin(fmax(x, -CELLS / 2), CELLS / 2));
    }
  }
  Search s = {.tree = tree, .point = point};
  for (int t = 0; t < tree->ntri && !*found; t++) {
    s.tri = t;
    s.other = INT32_MAX;
    for (int k = 0; k < 3; k++) {
      const int* v = tree->tri + 3 * (size_t)t;
      double x0 = tree->vert[3 * (size_t)v[0] + (size_t)k];
      double x1 = tree->vert[3 * (size_t)v[1] + (size_t)k];
      double x2 = tree->vert[3 * (size_t)v[2] + (size_t)k];
      s.box[k] = fmin(x0, fmin(x1, x2)) - 2 / scale;
      s.box[3 + k] = fmax(x0, fmax(x1, x2)) + 2 / scale;
    }
    descend(&s, 0, 0, tree->ntri);
    if (s.other == INT32_MAX) continue;
    *found = true;
    pair[0] = t;
    pair[1] = s.other;
  }
  free(point);
  return DJ_OK;
}
