#include "contact/triangles/tessellation.h"

#include <dijoco/types.h>

#include <math.h>

#define PI 3.14159265358979323846

// ------------------------------------------ sizes ----------------------------------------------

static bool isRound(int type) {
  return type == DJ_SPHERE || type == DJ_ELLIPSOID || type == DJ_CAPSULE || type == DJ_CYLINDER;
}

// A box has its corners, points on its edges, then those inside its faces. Round geoms have rings
// around z from the lower pole to the upper one: n, of a capsule one more.
static void countParts(djTessellation* t) {
  const int n = t->n;
  if (t->type == DJ_BOX) {
    t->nvert = 6 * n * n + 2;
    t->ntri = 12 * n * n;
    return;
  }
  const int rings = n + (t->type == DJ_CAPSULE);
  t->nvert = rings * t->around + 2;
  t->ntri = 2 * rings * t->around;
}

// Of a box any more change nothing but the time they take. Round ones have 10 segments around, a
// capsule 8.
static int standardOf(int type) { return type == DJ_BOX ? 12 : type == DJ_CAPSULE ? 64 : 80; }

bool dj_openTessellation(djTessellation* out, int type, int wanted) {
  *out = (djTessellation){.type = type, .n = 1};
  if (type != DJ_BOX && !isRound(type)) return false;
  if (type == DJ_CAPSULE || type == DJ_CYLINDER) out->n = 3;
  for (;; out->n += type == DJ_CAPSULE ? 2 : 1) { // of a capsule a ring is the equator
    out->around = type == DJ_CYLINDER ? 2 * out->n + 2 : out->n < 2 ? 3 : 2 * out->n + 2;
    countParts(out);
    if (out->ntri >= (wanted > 0 ? wanted : standardOf(type))) return true;
  }
}

// ------------------------------------------ round geoms ----------------------------------------

// The profile of ring k: distance from the axis, height, both over sizes, and the half length's
// part of the height.
static void profileOf(double* r, double* z, double* half, const djTessellation* t, int k) {
  const int n = t->n;
  *half = 0;
  if (t->type == DJ_CYLINDER) { // rings on the lower face, up the side, on the upper face
    const int flat = (n - 1) / 3 + 1, side = n - 2 * flat;
    const int up = n - 1 - k;
    const bool low = k < flat, high = up < flat;
    *r = low ? (k + 1.0) / flat : high ? (up + 1.0) / flat : 1;
    *z = low ? -1 : high ? 1 : -1 + 2.0 * (k - flat + 1) / (side + 1);
    return;
  }
  int ring = k;
  if (t->type == DJ_CAPSULE) {
    const int equator = n / 2;
    *half = k <= equator ? -1 : 1;
    if (k > equator) ring--;
  }
  const double angle = PI * (ring + 1) / (n + 1);
  *r = sin(angle);
  *z = -cos(angle);
}

// f by size of a unit vector (x, y, z) and the part of the half length.
static void bySizes(djVec3 f[3], int type, djVec3 u, double half) {
  f[0] = f[1] = f[2] = dju_vec3(0, 0, 0);
  switch (type) {
    case DJ_SPHERE:
    case DJ_CAPSULE:
      f[0] = u;
      f[1].z = half;
      return;
    case DJ_CYLINDER:
      f[0] = dju_vec3(u.x, u.y, 0);
      f[1].z = u.z;
      return;
    default:
      f[0].x = u.x;
      f[1].y = u.y;
      f[2].z = u.z;
  }
}

static void roundVertex(djVec3 f[3], const djTessellation* t, int i) {
  double r = 0, z = 1, half = t->type == DJ_CAPSULE, angle = 0;
  if (i == 0) {
    z = -1;
    half = -half;
  } else if (i < t->nvert - 1) {
    const int k = (i - 1) / t->around;
    profileOf(&r, &z, &half, t, k);
    angle = 2 * PI * ((i - 1) % t->around + 0.5 * (k % 2)) / t->around;
  }
  bySizes(f, t->type, dju_vec3(r * cos(angle), r * sin(angle), z), half);
}

static void setTriangle(int** tri, int a, int b, int c) {
  (*tri)[0] = a;
  (*tri)[1] = b;
  (*tri)[2] = c;
  *tri += 3;
}

// Rings of odd number are turned by half a segment.
static void roundTriangles(int* tri, const djTessellation* t) {
  const int m = t->around, last = t->nvert - 1, rings = (last - 1) / m;
  for (int i = 0; i < m; i++) {
    const int j = (i + 1) % m;
    setTriangle(&tri, 0, 1 + j, 1 + i);
    setTriangle(&tri, last, last - m + i, last - m + j);
    for (int k = 0; k + 1 < rings; k++) {
      const int low = 1 + k * m, high = low + m;
      if (k % 2 == 0) {
        setTriangle(&tri, low + i, low + j, high + i);
        setTriangle(&tri, low + j, high + j, high + i);
      } else {
        setTriangle(&tri, low + i, high + j, high + i);
        setTriangle(&tri, low + i, low + j, high + j);
      }
    }
  }
}

// ------------------------------------------ boxes ----------------------------------------------

// Points of the surface of a lattice (n + 1)^3: whole layers at the ends of z, rings between them.
static int boxVertex(int n, int x, int y, int z) {
  const int layer = (n + 1) * (n + 1);
  if (z == 0) return x + (n + 1) * y;
  if (z == n) return layer + 4 * n * (n - 1) + x + (n + 1) * y;
  int at = 0; // around the ring
  if (y == 0)
    at = x;
  else if (x == n)
    at = n + y;
  else if (y == n)
    at = 3 * n - x;
  else
    at = 4 * n - y;
  return layer + 4 * n * (z - 1) + at;
}

static void boxPlace(int x[3], int n, int i) {
  const int layer = (n + 1) * (n + 1), between = 4 * n * (n - 1);
  if (i < layer || i >= layer + between) {
    const int k = i < layer ? i : i - layer - between;
    x[0] = k % (n + 1);
    x[1] = k / (n + 1);
    x[2] = i < layer ? 0 : n;
    return;
  }
  const int k = (i - layer) % (4 * n), side = k / n, along = k % n;
  x[0] = side == 0 ? along : side == 1 ? n : side == 2 ? n - along : 0;
  x[1] = side == 0 ? 0 : side == 1 ? along : side == 2 ? n : n - along;
  x[2] = 1 + (i - layer) / (4 * n);
}

// Each face by two axes (u, w) whose cross product is outward.
static void boxTriangles(int* tri, int n) {
  for (int axis = 0; axis < 3; axis++) {
    for (int end = 0; end < 2; end++) {
      const int u = (axis + (end ? 1 : 2)) % 3, w = (axis + (end ? 2 : 1)) % 3;
      for (int i = 0; i < n * n; i++) {
        int corner[4];
        for (int k = 0; k < 4; k++) {
          int x[3];
          x[axis] = end ? n : 0;
          x[u] = i % n + (k == 1 || k == 2);
          x[w] = i / n + (k > 1);
          corner[k] = boxVertex(n, x[0], x[1], x[2]);
        }
        setTriangle(&tri, corner[0], corner[1], corner[2]);
        setTriangle(&tri, corner[0], corner[2], corner[3]);
      }
    }
  }
}

// ------------------------------------------ all ------------------------------------------------

void dj_tessellationVertex(djVec3 f[3], const djTessellation* t, int i) {
  if (t->type != DJ_BOX) {
    roundVertex(f, t, i);
    return;
  }
  int x[3];
  boxPlace(x, t->n, i);
  const double n = t->n;
  bySizes(f, DJ_BOX, dju_vec3(2 * x[0] / n - 1, 2 * x[1] / n - 1, 2 * x[2] / n - 1), 0);
}

void dj_tessellationTriangles(int* tri, const djTessellation* t) {
  if (t->type == DJ_BOX)
    boxTriangles(tri, t->n);
  else
    roundTriangles(tri, t);
}
