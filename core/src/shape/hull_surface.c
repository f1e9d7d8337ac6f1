#include "shape/hull_surface.h"

#include <string.h>

// Twice the area vector of a triangle.
static djVec3 areaOf(const djHull* h, int f) {
  const int* v = h->face + 3 * (size_t)f;
  djVec3 x = dju_load3(h->vert + 3 * v[0]);
  return dju_cross3(dju_sub3(dju_load3(h->vert + 3 * v[1]), x),
                    dju_sub3(dju_load3(h->vert + 3 * v[2]), x));
}

// Whether vertex i of triangle f is a corner of the triangle's facet that no earlier triangle of
// the facet has.
static bool isFirst(const djHull* h, int f, int i) {
  for (int g = h->group[f]; g < f; g++) {
    const int* v = h->face + 3 * (size_t)g;
    int corner = h->face[3 * (size_t)f + i];
    if (h->group[g] == h->group[f] && (v[0] == corner || v[1] == corner || v[2] == corner)) {
      return false;
    }
  }
  return true;
}

// Adds x to every corner of the facet that has triangles from f to `last`; returns how many there
// are.
static int addCorners(double* part, const djHull* h, int f, int last, double x) {
  int n = 0;
  for (int g = f; g <= last; g++) {
    for (int i = 0; i < 3 && h->group[g] == f; i++) {
      if (g > f && !isFirst(h, g, i)) continue;
      if (part) part[h->face[3 * (size_t)g + i]] += x;
      n++;
    }
  }
  return n;
}

double dj_hullSurface(double* part, const djHull* h) {
  double area = 0;
  if (part) memset(part, 0, (size_t)h->nvert * sizeof *part);
  for (int f = 0; f < h->nface; f++) {
    if (h->group[f] != f) continue;
    djVec3 sum = {0, 0, 0};
    int last = f;
    for (int g = f; g < h->nface; g++) {
      if (h->group[g] != f) continue;
      sum = dju_add3(sum, areaOf(h, g));
      last = g;
    }
    double own = 0.5 * dju_norm3(sum);
    area += own;
    if (part) addCorners(part, h, f, last, own / (last > f ? addCorners(NULL, h, f, last, 0) : 3));
  }
  for (int i = 0; i < h->nvert && part; i++) part[i] /= area;
  return area;
}
