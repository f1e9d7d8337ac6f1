#include "shape/mesh_tree.h"

#include <stdlib.h>
#include <string.h>

typedef struct Middle {
  double key; // of the middle along the axis of halving
  int tri;
} Middle;

static int compareMiddles(const void* a, const void* b) {
  const Middle *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->tri > y->tri) - (x->tri < y->tri);
}

static double sumAlong(const djMeshTree* t, int tri, int axis) {
  const int* v = t->tri + 3 * (size_t)tri;
  return t->vert[3 * (size_t)v[0] + (size_t)axis] + t->vert[3 * (size_t)v[1] + (size_t)axis] +
         t->vert[3 * (size_t)v[2] + (size_t)axis];
}

static void makeBox(double box[6], const djMeshTree* t, int from, int to) {
  for (int k = 0; k < 3; k++) {
    box[k] = INFINITY;
    box[3 + k] = -INFINITY;
  }
  for (int i = from; i < to; i++) {
    for (int c = 0; c < 3; c++) {
      const double* v = t->vert + 3 * (size_t)t->tri[3 * (size_t)t->order[i] + (size_t)c];
      for (int k = 0; k < 3; k++) {
        box[k] = fmin(box[k], v[k]);
        box[3 + k] = fmax(box[3 + k], v[k]);
      }
    }
  }
}

static void halve(djMeshTree* t, Middle* list, int node, int from, int to) {
  double* box = t->box + 6 * (size_t)node;
  makeBox(box, t, from, to);
  if (to - from <= DJ_MESH_LEAF) return;
  int axis = 0, middle = (from + to) / 2;
  for (int k = 1; k < 3; k++) {
    if (box[3 + k] - box[k] > box[3 + axis] - box[axis]) axis = k;
  }
  for (int i = from; i < to; i++) {
    list[i] = (Middle){sumAlong(t, t->order[i], axis), t->order[i]};
  }
  qsort(list + from, (size_t)(to - from), sizeof *list, compareMiddles);
  for (int i = from; i < to; i++) t->order[i] = list[i].tri;
  halve(t, list, 2 * node + 1, from, middle);
  halve(t, list, 2 * node + 2, middle, to);
}

djStatus dj_makeMeshTree(djMeshTree* tree, const double* vert, int ntri, const int* tri) {
  size_t nodes = 1;
  for (int longest = ntri; longest > DJ_MESH_LEAF; longest -= longest / 2) nodes = 2 * nodes + 1;
  *tree = (djMeshTree){.ntri = ntri, .vert = vert, .tri = tri};
  tree->order = malloc((size_t)ntri * sizeof *tree->order);
  tree->box = malloc(6 * nodes * sizeof *tree->box);
  Middle* list = malloc((size_t)ntri * sizeof *list);
  djStatus status = tree->order && tree->box && list ? DJ_OK : DJ_NO_MEMORY;
  if (status == DJ_OK) {
    for (int i = 0; i < ntri; i++) tree->order[i] = i;
    halve(tree, list, 0, 0, ntri);
  } else {
    dj_freeMeshTree(tree);
  }
  free(list);
  return status;
}

void dj_freeMeshTree(djMeshTree* tree) {
  free(tree->order);
  free(tree->box);
  memset(tree, 0, sizeof *tree);
}

static double boxSquare(const double box[6], djVec3 x) {
  double dx = fmax(fmax(box[0] - x.x, x.x - box[3]), 0);
  double dy = fmax(fmax(box[1] - x.y, x.y - box[4]), 0);
  double dz = fmax(fmax(box[2] - x.z, x.z - box[5]), 0);
  return dx * dx + dy * dy + dz * dz;
}

// The part of a triangle by the signs of projections (Ericson, Real-Time Collision
// Detection 5.1.5).
static void onTriangle(djMeshNear* out, djVec3 a, djVec3 b, djVec3 c, djVec3 x) {
  djVec3 ab = dju_sub3(b, a), ac = dju_sub3(c, a), ax = dju_sub3(x, a), bx = dju_sub3(x, b);
  djVec3 cx = dju_sub3(x, c);
  double d1 = dju_dot3(ab, ax), d2 = dju_dot3(ac, ax), d3 = dju_dot3(ab, bx);
  double d4 = dju_dot3(ac, bx), d5 = dju_dot3(ab, cx), d6 = dju_dot3(ac, cx);
  double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  double u = 0, v = 0; // of b and c
  if (d1 <= 0 && d2 <= 0) {
    out->part = DJ_PART_CORNER;
  } else if (d3 >= 0 && d4 <= d3) {
    out->part = DJ_PART_CORNER + 1;
    u = 1;
  } else if (d6 >= 0 && d5 <= d6) {
    out->part = DJ_PART_CORNER + 2;
    v = 1;
  } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    out->part = DJ_PART_EDGE;
    u = d1 / (d1 - d3);
  } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    out->part = DJ_PART_EDGE + 1;
    v = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    u = 1 - v;
  } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    out->part = DJ_PART_EDGE + 2;
    v = d2 / (d2 - d6);
  } else {
    out->part = DJ_PART_FACE;
    double sum = va + vb + vc;
    u = vb / sum;
    v = vc / sum;
  }
  out->bary[0] = 1 - u - v;
  out->bary[1] = u;
  out->bary[2] = v;
  out->away = dju_madd3(dju_madd3(ax, -u, ab), -v, ac);
  out->square = dju_dot3(out->away, out->away);
}

static void tryTriangle(djMeshNear* near, const djMeshTree* t, int tri, djVec3 x) {
  const int* v = t->tri + 3 * (size_t)tri;
  djMeshNear try;
  onTriangle(&try, dju_load3(t->vert + 3 * (size_t)v[0]), dju_load3(t->vert + 3 * (size_t)v[1]),
             dju_load3(t->vert + 3 * (size_t)v[2]), x);
  if (!(try.square < near->square)) return;
  *near = try;
  near->tri = tri;
}

static void descend(djMeshNear* near, const djMeshTree* t, djVec3 x, int node, int from, int to) {
  if (to - from <= DJ_MESH_LEAF) {
    for (int i = from; i < to; i++) tryTriangle(near, t, t->order[i], x);
    return;
  }
  int middle = (from + to) / 2, left = 2 * node + 1;
  double l = boxSquare(t->box + 6 * (size_t)left, x);
  double r = boxSquare(t->box + 6 * (size_t)(left + 1), x);
  if (l <= r) {
    if (l < near->square) descend(near, t, x, left, from, middle);
    if (r < near->square) descend(near, t, x, left + 1, middle, to);
  } else {
    if (r < near->square) descend(near, t, x, left + 1, middle, to);
    if (l < near->square) descend(near, t, x, left, from, middle);
  }
}

void dj_nearestOnMesh(djMeshNear* near, const djMeshTree* tree, djVec3 x, int guess) {
  *near = (djMeshNear){.square = INFINITY};
  tryTriangle(near, tree, guess, x);
  descend(near, tree, x, 0, 0, tree->ntri);
}
