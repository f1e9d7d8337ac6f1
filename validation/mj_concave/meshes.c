// A ring, a peg, a mug and a hook.

#include "mj_concave/concave.h"

#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

static void start(djTriangles* mesh, int nvert, int ntri) {
  *mesh = (djTriangles){.vert = malloc(3 * (size_t)nvert * sizeof(double)),
                        .tri = malloc(3 * (size_t)ntri * sizeof(int))};
  if (!mesh->vert || !mesh->tri) djv_fail("out of memory");
}

static int point(djTriangles* mesh, double x, double y, double z) {
  const double v[3] = {x, y, z};
  for (int k = 0; k < 3; k++) mesh->vert[3 * mesh->nvert + k] = v[k];
  return mesh->nvert++;
}

static void triangle(djTriangles* mesh, int a, int b, int c) {
  const int v[3] = {a, b, c};
  for (int k = 0; k < 3; k++) mesh->tri[3 * mesh->ntri + k] = v[k];
  mesh->ntri++;
}

static void quad(djTriangles* mesh, int a, int b, int c, int d) {
  triangle(mesh, a, b, c);
  triangle(mesh, a, c, d);
}

// Between polygons of n vertices from `from` and `to` on, which turn to the left about the way from
// one to the other.
static void band(djTriangles* mesh, int from, int to, int n) {
  for (int k = 0; k < n; k++) {
    const int l = (k + 1) % n;
    quad(mesh, from + k, from + l, to + l, to + k);
  }
}

// Both ends of a tube of polygons.
static void close(djTriangles* mesh, int from, int to, int n) {
  for (int k = 1; k + 1 < n; k++) {
    triangle(mesh, from, from + k + 1, from + k);
    triangle(mesh, to, to + k, to + k + 1);
  }
}

void cv_ring(djTriangles* mesh) {
  enum { AROUND = 24, ACROSS = 10 };
  const double R = 0.06, r = 0.012;
  start(mesh, AROUND * ACROSS, 2 * AROUND * ACROSS);
  for (int i = 0; i < AROUND; i++) {
    const double t = 2 * PI * i / AROUND;
    for (int k = 0; k < ACROSS; k++) { // to the left about the tangent: outward to upward is not
      const double a = -2 * PI * k / ACROSS, d = R + r * cos(a);
      point(mesh, d * cos(t), d * sin(t), r * sin(a));
    }
  }
  for (int i = 0; i < AROUND; i++) band(mesh, i * ACROSS, (i + 1) % AROUND * ACROSS, ACROSS);
}

void cv_peg(djTriangles* mesh) {
  enum { ALONG = 2, AROUND = 16 };
  const double half = 0.08, r = 0.02;
  start(mesh, (ALONG + 1) * AROUND, 2 * (ALONG + 1) * AROUND);
  for (int i = 0; i <= ALONG; i++) {
    for (int k = 0; k < AROUND; k++) {
      const double a = 2 * PI * k / AROUND;
      point(mesh, half * (2.0 * i / ALONG - 1), r * cos(a), r * sin(a));
    }
  }
  for (int i = 0; i < ALONG; i++) band(mesh, i * AROUND, (i + 1) * AROUND, AROUND);
  close(mesh, 0, ALONG * AROUND, AROUND);
}

// Straight for .1 m, then a quarter of a turn.
void cv_hook(djTriangles* mesh) {
  enum { STRAIGHT = 2, BENT = 5, AROUND = 8, SECTIONS = STRAIGHT + BENT + 1 };
  const double from = -0.06, length = 0.1, bend = 0.025, r = 0.006;
  start(mesh, SECTIONS * AROUND, 2 * SECTIONS * AROUND);
  for (int i = 0; i < SECTIONS; i++) {
    const double t = i > STRAIGHT ? 0.5 * PI * (i - STRAIGHT) / BENT : 0;
    const double x = from + length * fmin(1, (double)i / STRAIGHT) + bend * sin(t);
    const double z = bend * (1 - cos(t));
    for (int k = 0; k < AROUND; k++) {
      const double a = 2 * PI * (k + 0.5) / AROUND, up = r * sin(a);
      point(mesh, x - up * sin(t), r * cos(a), z + up * cos(t));
    }
  }
  for (int i = 0; i + 1 < SECTIONS; i++) band(mesh, i * AROUND, (i + 1) * AROUND, AROUND);
  close(mesh, 0, (SECTIONS - 1) * AROUND, AROUND);
}

// A cup with two windows in its outer wall, from one to the other a handle of quadrangles.
void cv_mug(djTriangles* mesh) {
  enum { AROUND = 12, LEVELS = 6, HANDLE = 9 };
  static const double level[LEVELS] = {0, 0.015, 0.03, 0.06, 0.075, 0.09};
  const double a = 0.04, b = 0.036, floor = 0.006, reach = 0.035, thin = 0.004;
  int outer[LEVELS], inner[2];
  start(mesh, AROUND * (LEVELS + 2) + 2 + 4 * (HANDLE - 1), 2 * AROUND * (LEVELS + 2) + 8 * HANDLE);
  for (int j = 0; j < LEVELS + 2; j++) {
    const double r = j < LEVELS ? a : b;
    const double z = j < LEVELS ? level[j] : j == LEVELS ? floor : level[LEVELS - 1];
    *(j < LEVELS ? &outer[j] : &inner[j - LEVELS]) = mesh->nvert;
    for (int i = 0; i < AROUND; i++) {
      const double t = 2 * PI * (i - 0.5) / AROUND;
      point(mesh, r * cos(t), r * sin(t), z);
    }
  }
  const int below = point(mesh, 0, 0, 0), inside = point(mesh, 0, 0, floor);
  for (int i = 0; i < AROUND; i++) {
    const int k = (i + 1) % AROUND, top = outer[LEVELS - 1];
    for (int j = 0; j + 1 < LEVELS; j++) {
      const bool window = i == 0 && (j == 1 || j == 3);
      if (!window) quad(mesh, outer[j] + i, outer[j] + k, outer[j + 1] + k, outer[j + 1] + i);
    }
    quad(mesh, top + i, top + k, inner[1] + k, inner[1] + i);
    quad(mesh, inner[0] + i, inner[1] + i, inner[1] + k, inner[0] + k);
    triangle(mesh, below, outer[0] + k, outer[0] + i);
    triangle(mesh, inside, inner[0] + i, inner[0] + k);
  }
  const double x = a * cos(PI / AROUND), wide = a * sin(PI / AROUND);
  const double middle = 0.5 * (level[2] + level[3]), high = middle - 0.5 * (level[1] + level[2]);
  const double thick = 0.5 * (level[2] - level[1]);
  int last[4] = {outer[1], outer[1] + 1, outer[2] + 1, outer[2]};
  for (int i = 1; i <= HANDLE; i++) {
    int next[4] = {outer[4], outer[4] + 1, outer[3] + 1, outer[3]};
    const double t = PI * i / HANDLE, h = thick + (thin - thick) * sin(t);
    const double norm = hypot(reach * cos(t), high * sin(t));
    for (int k = 0; k < 4 && i < HANDLE; k++) { // outer side first
      const double out = k < 2 ? h : -h, side = k == 0 || k == 3 ? -wide : wide;
      next[k] = point(mesh, x + reach * sin(t) + out * high * sin(t) / norm, side,
                      middle - high * cos(t) - out * reach * cos(t) / norm);
    }
    for (int k = 0; k < 4; k++) {
      const int l = (k + 1) % 4;
      quad(mesh, last[k], last[l], next[l], next[k]);
    }
    for (int k = 0; k < 4; k++) last[k] = next[k];
  }
}
