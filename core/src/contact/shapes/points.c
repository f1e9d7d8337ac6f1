#include "contact/shapes/points.h"

#include <dijoco/types.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAF 8
#define PI 3.14159265358979323846

// ------------------------------------------ surfaces -------------------------------------------

static int countOf(int type, int level) {
  switch (type) {
    case DJ_SPHERE:
      return 1;
    case DJ_CAPSULE:
      return level;
    case DJ_BOX:
      return 6 * level * level - 12 * level + 8;
    case DJ_ELLIPSOID:
      return 4 * level * level + 2;
    case DJ_CYLINDER:
      return 12 * level + 2;
    default:
      return 0;
  }
}

static int leastLevel(int type) { return type == DJ_CAPSULE || type == DJ_BOX ? 2 : 1; }

int dj_typePoints(int type, int wanted) {
  if (wanted <= 0 || countOf(type, 2) == 0) return 0;
  int level = leastLevel(type);
  while (type != DJ_SPHERE && countOf(type, level) < wanted) level++;
  return countOf(type, level);
}

int dj_ruleOfPoints(int type, const double size[3]) {
  switch (type) {
    case DJ_SPHERE:
      return 1;
    case DJ_CAPSULE:
      return 1 + (int)fmin(fmax(ceil(2 * size[1] / size[0]), 1), 16);
    case DJ_BOX:
      return countOf(type, 5);
    case DJ_ELLIPSOID:
    case DJ_CYLINDER:
      return 50;
    default:
      return 0;
  }
}

static void boxPoints(double* u, int k) {
  for (int i = 0, n = 0; i < k * k * k; i++) {
    const int at[3] = {i % k, i / k % k, i / k / k};
    bool outside = false;
    for (int c = 0; c < 3; c++) outside |= at[c] == 0 || at[c] == k - 1;
    if (!outside) continue;
    for (int c = 0; c < 3; c++) u[3 * n + c] = (2.0 * at[c] - (k - 1)) / (k - 1);
    n++;
  }
}

// Points i + j + l = k of the faces of an octahedron, brought to the unit sphere.
static void spherePoints(double* u, int k) {
  int n = 0;
  for (int i = -k; i <= k; i++) {
    for (int j = -(k - abs(i)); j <= k - abs(i); j++) {
      const int l = k - abs(i) - abs(j);
      for (int side = 0; side < (l > 0 ? 2 : 1); side++, n++) {
        const double x[3] = {i, j, side ? -l : l};
        const double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int c = 0; c < 3; c++) u[3 * n + c] = x[c] / norm;
      }
    }
  }
}

static void cylinderPoints(double* u, int k) {
  const double end[6] = {0, 0, -1, 0, 0, 1};
  for (int i = 0; i < 12 * k; i++) {
    const double angle = 2 * PI * (i % (4 * k)) / (4 * k);
    u[3 * i] = cos(angle);
    u[3 * i + 1] = sin(angle);
    u[3 * i + 2] = i / (4 * k) - 1;
  }
  memcpy(u + 36 * k, end, sizeof end);
}

void dj_placePoints(double* unit, int axes[3], int type, int n) {
  int level = leastLevel(type);
  for (int k = 0; k < 3; k++) axes[k] = k;
  while (type != DJ_SPHERE && countOf(type, level) < n) level++;
  memset(unit, 0, 3 * (size_t)n * sizeof *unit);
  if (type == DJ_BOX) boxPoints(unit, level);
  if (type == DJ_ELLIPSOID) spherePoints(unit, level);
  if (type == DJ_CYLINDER) cylinderPoints(unit, level);
  if (type == DJ_CYLINDER || type == DJ_CAPSULE) axes[1] = 0, axes[2] = 1;
  for (int i = 0; i < n && type == DJ_CAPSULE; i++) unit[3 * i + 2] = (2.0 * i - (n - 1)) / (n - 1);
}

// ------------------------------------------ tree -----------------------------------------------

static void swapPoints(double* point, double* id, int i, int j) {
  for (int k = 0; k < 3; k++) {
    const double x = point[3 * i + k];
    point[3 * i + k] = point[3 * j + k];
    point[3 * j + k] = x;
  }
  const double x = id[i];
  id[i] = id[j];
  id[j] = x;
}

static bool before(const double* point, const double* id, int axis, int i, int j) {
  const double x = point[3 * i + axis], y = point[3 * j + axis];
  return x != y ? x < y : id[i] < id[j];
}

// Those before place k become the least along the axis (Hoare's selection).
static void selectPoints(double* point, double* id, int n, int k, int axis) {
  int low = 0, high = n - 1;
  while (low < high) {
    swapPoints(point, id, (low + high) / 2, high);
    int at = low;
    for (int i = low; i < high; i++) {
      if (before(point, id, axis, i, high)) swapPoints(point, id, i, at++);
    }
    swapPoints(point, id, at, high);
    if (at == k) return;
    if (at < k)
      low = at + 1;
    else
      high = at - 1;
  }
}

// Node of these points; returns how many nodes it has with those below.
static int makeNode(djPointNode* node, double* point, double* id, int first, int n) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  double *x = point + 3 * first, square = 0;
  int longest = 0;
  for (int i = 0; i < 3 * n; i++) {
    low[i % 3] = fmin(low[i % 3], x[i]);
    high[i % 3] = fmax(high[i % 3], x[i]);
  }
  for (int k = 0; k < 3; k++) {
    node->center[k] = 0.5 * (low[k] + high[k]);
    if (high[k] - low[k] > high[longest] - low[longest]) longest = k;
  }
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      const double away = x[3 * i + k] - node->center[k];
      sum += away * away;
    }
    square = fmax(square, sum);
  }
  node->radius = sqrt(square);
  node->first = first;
  node->n = n;
  node->right = 0;
  if (n <= LEAF) return 1;
  selectPoints(x, id + first, n, n / 2, longest);
  const int left = 1 + makeNode(node + 1, point, id, first, n / 2);
  node->right = left;
  return left + makeNode(node + left, point, id, first + n / 2, n - n / 2);
}

void dj_makePointTree(djPointNode* node, double* point, double* id, int n) {
  if (n > 0) makeNode(node, point, id, 0, n);
}
