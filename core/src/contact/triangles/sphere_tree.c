#include "contact/triangles/sphere_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// ------------------------------------------ parting --------------------------------------------

typedef struct Triangle {
  double center[3];
  int id;
} Triangle;

static int compareAlong(const Triangle* a, const Triangle* b, int axis) {
  if (a->center[axis] != b->center[axis]) return a->center[axis] < b->center[axis] ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}
static int compareX(const void* a, const void* b) { return compareAlong(a, b, 0); }
static int compareY(const void* a, const void* b) { return compareAlong(a, b, 1); }
static int compareZ(const void* a, const void* b) { return compareAlong(a, b, 2); }

static int longestAxis(const Triangle* t, int n) {
  double extent[3];
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
      low = fmin(low, t[i].center[k]);
      high = fmax(high, t[i].center[k]);
    }
    extent[k] = high - low;
  }
  const int first = extent[1] > extent[0] ? 1 : 0;
  return extent[2] > extent[first] ? 2 : first;
}

// Halves along the longest axis. Returns the number of nodes; at: the place of this one.
static int growNodes(djSphereNode* node, Triangle* t, int at, int first, int n) {
  static int (*const compare[3])(const void*, const void*) = {compareX, compareY, compareZ};
  node[at] = (djSphereNode){.first = first, .n = n};
  if (n == 1) return 1;
  qsort(t + first, (size_t)n, sizeof *t, compare[longestAxis(t + first, n)]);
  const int half = (n + 1) / 2, left = growNodes(node, t, at + 1, first, half);
  node[at].right = at + 1 + left;
  return 1 + left + growNodes(node, t, at + 1 + left, first + half, n - half);
}

djStatus dj_growSphereTree(djSphereNode* node, double* tri, const int* from, int ntri,
                           const double* const vert[3]) {
  Triangle* t = malloc((size_t)ntri * sizeof *t);
  if (!t) return DJ_NO_MEMORY;
  for (int i = 0; i < ntri; i++) {
    const int* v = from + 3 * i;
    t[i].id = i;
    for (int k = 0; k < 3; k++) {
      t[i].center[k] = (vert[k][v[0]] + vert[k][v[1]] + vert[k][v[2]]) / 3;
    }
  }
  growNodes(node, t, 0, 0, ntri);
  for (int i = 0; i < 3 * ntri; i++) tri[i] = from[3 * t[i / 3].id + i % 3];
  free(t);
  return DJ_OK;
}

// Every node but the last is a child once, every triangle a leaf: then what is below the root has
// no rings, and is all where their number is.
static bool isTree(int* parents, const int* given, int ntri) {
  const int n = 2 * ntri - 1;
  int* leaf = parents + n;
  for (int i = 0; i < n; i++) {
    const int left = given[2 * i], right = given[2 * i + 1];
    const int most = right < 0 ? ntri : n;
    if (left < 0 || left >= most || right < -1 || right >= n) return false;
    if (right < 0) {
      if (leaf[left]++ > 0) return false;
    } else if (parents[left]++ > 0 || parents[right]++ > 0) {
      return false;
    }
  }
  return parents[n - 1] == 0;
}

// Returns the number of nodes below and with one that is given.
static int plantNodes(djSphereNode* node, double* tri, int* leaves, const int* from,
                      const int* given, int at, int which) {
  const int left = given[2 * which], right = given[2 * which + 1], first = *leaves;
  node[at] = (djSphereNode){.first = first};
  int n = 1;
  if (right < 0) {
    for (int k = 0; k < 3; k++) tri[3 * first + k] = from[3 * left + k];
    ++*leaves;
  } else {
    n += plantNodes(node, tri, leaves, from, given, at + 1, left);
    node[at].right = at + n;
    n += plantNodes(node, tri, leaves, from, given, at + n, right);
  }
  node[at].n = *leaves - first;
  return n;
}

djStatus dj_plantSphereTree(djSphereNode* node, double* tri, const int* from, int ntri,
                            const int* given) {
  int leaves = 0, *count = calloc(3 * (size_t)ntri, sizeof *count);
  if (!count) return DJ_NO_MEMORY;
  const bool good = isTree(count, given, ntri);
  free(count);
  if (!good) return DJ_INVALID;
  const int n = plantNodes(node, tri, &leaves, from, given, 0, 2 * ntri - 2);
  return n == 2 * ntri - 1 ? DJ_OK : DJ_INVALID;
}

// ------------------------------------------ numbers --------------------------------------------

static djVec3 crossOf(djVec3 v[3], const djSphereTree* t, int triangle) {
  for (int k = 0; k < 3; k++) v[k] = dj_treeVertex(t, triangle, k);
  return dju_cross3(dju_sub3(v[1], v[0]), dju_sub3(v[2], v[0]));
}

static void fitLeaf(djSphereNode* node, const djSphereTree* t) {
  djVec3 v[3];
  node->m = 0.5 * dju_norm3(crossOf(v, t, (int)node->first));
  const djVec3 x = dju_scale3(1.0 / 3, dju_add3(v[0], dju_add3(v[1], v[2])));
  dju_store3(node->x, x);
  node->V = 0;
  for (int k = 0; k < 3; k++) {
    const djVec3 arm = dju_sub3(v[k], x);
    node->V += dju_dot3(arm, arm) / 12;
  }
}

static void fitPair(djSphereNode* node, const djSphereNode* l, const djSphereNode* r) {
  const djVec3 xl = dju_load3(l->x), xr = dju_load3(r->x), apart = dju_sub3(xr, xl);
  node->m = l->m + r->m;
  const double part = r->m / node->m;
  dju_store3(node->x, dju_madd3(xl, part, apart));
  node->V = (1 - part) * l->V + part * r->V + part * (1 - part) * dju_dot3(apart, apart);
}

static void fitRadius(djSphereNode* node, const djSphereTree* t) {
  const int first = (int)node->first, n = (int)node->n;
  double most = -1;
  for (int i = 3 * first; i < 3 * (first + n); i++) {
    const djVec3 arm = dju_sub3(dj_treeVertex(t, i / 3, i % 3), dju_load3(node->x));
    const double d = dju_dot3(arm, arm);
    if (!(d > most)) continue;
    most = d;
    node->far = t->tri[i];
  }
  node->R = sqrt(most);
}

void dj_fitSphereTree(djSphereNode* node, const djSphereTree* t) {
  for (int i = 2 * t->ntri - 2; i >= 0; i--) {
    const int right = (int)node[i].right;
    if (right == 0)
      fitLeaf(&node[i], t);
    else
      fitPair(&node[i], &node[i + 1], &node[right]);
    fitRadius(&node[i], t);
  }
}

// ------------------------------------------ derivatives ----------------------------------------

static void addTo(double* const vert[3], int i, djVec3 by) {
  vert[0][i] += by.x;
  vert[1][i] += by.y;
  vert[2][i] += by.z;
}

static void takeRadius(double* const vert[3], djSphereGrad* by, const djSphereNode* node,
                       const djSphereTree* t) {
  const int far = (int)node->far;
  const djVec3 v = {t->vert[0][far], t->vert[1][far], t->vert[2][far]};
  const djVec3 out = dju_scale3(by->R / node->R, dju_sub3(v, dju_load3(node->x)));
  addTo(vert, far, out);
  dju_addTo3(by->x, -1, out);
}

// x = sum m_c x_c/m, V = sum m_c/m (V_c + |x_c - x|^2), m = sum m_c; V does not change with x.
static void takeChild(djSphereGrad* child, const djSphereGrad* by, const djSphereNode* node,
                      const djSphereNode* c) {
  const double part = c->m / node->m;
  const djVec3 arm = dju_sub3(dju_load3(c->x), dju_load3(node->x)), x = dju_load3(by->x);
  dju_addTo3(child->x, part, dju_madd3(x, 2 * by->V, arm));
  child->V += part * by->V;
  child->m += by->m + (by->V * (c->V + dju_dot3(arm, arm) - node->V) + dju_dot3(x, arm)) / node->m;
}

static void takeLeaf(double* const vert[3], const djSphereGrad* by, const djSphereNode* node,
                     const djSphereTree* t) {
  const int triangle = (int)node->first;
  djVec3 v[3];
  const djVec3 normal = crossOf(v, t, triangle), x = dju_load3(node->x);
  const djVec3 unit = dju_scale3(1 / dju_norm3(normal), normal);
  for (int k = 0; k < 3; k++) {
    const djVec3 across = dju_cross3(unit, dju_sub3(v[(k + 2) % 3], v[(k + 1) % 3]));
    djVec3 out = dju_scale3(1.0 / 3, dju_load3(by->x));
    out = dju_madd3(out, by->V / 6, dju_sub3(v[k], x));
    out = dju_madd3(out, 0.5 * by->m, across);
    addTo(vert, (int)t->tri[3 * triangle + k], out);
  }
}

void dj_sphereTreeParams(double* const vert[3], djSphereGrad* by, const djSphereTree* t) {
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    const djSphereNode* node = &t->node[i];
    const int right = (int)node->right;
    takeRadius(vert, &by[i], node, t);
    if (right == 0) {
      takeLeaf(vert, &by[i], node, t);
      continue;
    }
    takeChild(&by[i + 1], &by[i], node, &t->node[i + 1]);
    takeChild(&by[right], &by[i], node, &t->node[right]);
  }
}

// ------------------------------------------ layered --------------------------------------------

// Visits each vertex of a node once: adds part of out to it, or returns their sum and number.
static int eachVertex(djVec3* sum, double* const vert[3], djVec3 out, int* mark,
                      const djSphereTree* t, int i) {
  const int first = 3 * (int)t->node[i].first, end = first + 3 * (int)t->node[i].n;
  int n = 0;
  for (int k = first; k < end; k++) {
    const int v = (int)t->tri[k];
    if (mark[v] == i + 1) continue;
    mark[v] = i + 1;
    n++;
    if (sum) *sum = dju_add3(*sum, dju_vec3(t->vert[0][v], t->vert[1][v], t->vert[2][v]));
    if (vert) addTo(vert, v, out);
  }
  return n;
}

static void layerRadius(djSphereNode* node, const djSphereTree* t, int i) {
  const int child[2] = {i + 1, (int)node[i].right};
  if (child[1] == 0) {
    fitRadius(&node[i], t);
    return;
  }
  node[i].R = -1;
  for (int c = 0; c < 2; c++) {
    const djSphereNode* from = &node[child[c]];
    const double R = dju_norm3(dju_sub3(dju_load3(node[i].x), dju_load3(from->x))) + from->R;
    if (!(R > node[i].R)) continue;
    node[i].R = R;
    node[i].far = c;
  }
}

djStatus dj_layerSphereTree(djSphereNode* node, const djSphereTree* t, int nvert) {
  int* mark = calloc((size_t)nvert, sizeof *mark);
  if (!mark) return DJ_NO_MEMORY;
  for (int i = 2 * t->ntri - 2; i >= 0; i--) {
    djVec3 sum = {0, 0, 0};
    const int n = eachVertex(&sum, NULL, sum, mark, t, i);
    dju_store3(node[i].x, dju_scale3(1.0 / n, sum));
    layerRadius(node, t, i);
  }
  free(mark);
  return DJ_OK;
}

// R = |x - x_c| + R_c of the child that is far.
static void takeLayer(djSphereGrad* by, const djSphereTree* t, int i) {
  const int c = t->node[i].far > 0 ? (int)t->node[i].right : i + 1;
  const djVec3 arm = dju_sub3(dju_load3(t->node[i].x), dju_load3(t->node[c].x));
  const double norm = dju_norm3(arm);
  by[c].R += by[i].R;
  if (!(norm > 0)) return;
  dju_addTo3(by[i].x, by[i].R / norm, arm);
  dju_addTo3(by[c].x, -by[i].R / norm, arm);
}

djStatus dj_layeredTreeParams(double* const vert[3], djSphereGrad* by, const djSphereTree* t,
                              int nvert) {
  int* mark = calloc(2 * (size_t)nvert, sizeof *mark);
  if (!mark) return DJ_NO_MEMORY;
  for (int i = 0; i < 2 * t->ntri - 1; i++) {
    if (t->node[i].right > 0)
      takeLayer(by, t, i);
    else
      takeRadius(vert, &by[i], &t->node[i], t);
    const djVec3 none = {0, 0, 0};
    const int n = eachVertex(NULL, NULL, none, mark, t, i);
    eachVertex(NULL, vert, dju_scale3(1.0 / n, dju_load3(by[i].x)), mark + nvert, t, i);
  }
  free(mark);
  return DJ_OK;
}
