#include "inertia/polygons.h"

#include <stdlib.h>
#include <string.h>

// Points nearer to a plane than this part of their distance from the origin lie in it.
#define IN_PLANE 4e-16

void dj_freePolygons(djPolygons* list) {
  free(list->end);
  free(list->point);
  *list = (djPolygons){0};
}

// Room for one more polygon of n points.
static djStatus grow(djPolygons* list, int n) {
  int used = dj_polygonStart(list, list->n);
  if (list->n == list->room) {
    int room = 2 * list->room + 8;
    int* end = realloc(list->end, (size_t)room * sizeof *end);
    if (!end) return DJ_NO_MEMORY;
    list->end = end;
    list->room = room;
  }
  if (used + n > list->point_room) {
    int room = 2 * (used + n) + 32;
    djVec3* point = realloc(list->point, (size_t)room * sizeof *point);
    if (!point) return DJ_NO_MEMORY;
    list->point = point;
    list->point_room = room;
  }
  return DJ_OK;
}

djStatus dj_addPolygon(djPolygons* list, int n, const djVec3* point) {
  int used = dj_polygonStart(list, list->n);
  djStatus status = grow(list, n);
  if (status < 0) return status;
  memcpy(list->point + used, point, (size_t)n * sizeof *point);
  list->end[list->n++] = used + n;
  return DJ_OK;
}

// How far a point is from a plane, outward; 0 where that is a rounding error.
static inline double heightOf(djVec3 x, const djHalfSpace* h) {
  double d = dju_dot3(h->normal, x) - h->offset;
  double size = fabs(h->offset) + fabs(x.x) + fabs(x.y) + fabs(x.z);
  return fabs(d) <= IN_PLANE * size ? 0 : d;
}

// Least and largest height of points.
static void sides(double* least, double* most, int n, const djVec3* point, const djHalfSpace* h) {
  *least = INFINITY;
  *most = -INFINITY;
  for (int k = 0; k < n; k++) {
    double d = heightOf(point[k], h);
    if (d < *least) *least = d;
    if (d > *most) *most = d;
  }
}

// The polygon's parts on both sides of a plane that cuts it. Each has at most n + 1 points.
static void split(djVec3* outer, int* nouter, djVec3* inner, int* ninner, int n,
                  const djVec3* point, const djHalfSpace* h) {
  *nouter = *ninner = 0;
  djVec3 a = point[n - 1];
  double da = heightOf(a, h);
  for (int k = 0; k < n; k++) {
    djVec3 b = point[k];
    double db = heightOf(b, h);
    if ((da > 0 && db < 0) || (da < 0 && db > 0)) {
      djVec3 cut = dju_madd3(a, da / (da - db), dju_sub3(b, a));
      outer[(*nouter)++] = cut;
      inner[(*ninner)++] = cut;
    }
    if (db >= 0) outer[(*nouter)++] = b;
    if (db <= 0) inner[(*ninner)++] = b;
    a = b;
    da = db;
  }
}

static bool isOutside(int n, const djVec3* point, int nhalf, const djHalfSpace* solid) {
  for (int k = 0; k < nhalf; k++) {
    int i = 0;
    while (i < n && heightOf(point[i], &solid[k]) >= 0) i++;
    if (i == n) return true;
  }
  return false;
}

// Parts of one polygon; scratch has room for three of n + nhalf points.
static djStatus subtractOne(djPolygons* out, int n, const djVec3* point, int nhalf,
                            const djHalfSpace* solid, djVec3* scratch) {
  int before = out->n, left = n, noutside;
  if (isOutside(n, point, nhalf, solid)) return dj_addPolygon(out, n, point);
  djVec3 *rest = scratch, *outside = rest + n + nhalf, *inside = outside + n + nhalf;
  memcpy(rest, point, (size_t)n * sizeof *rest);
  for (int k = 0; k < nhalf; k++) {
    double least, most;
    int ninside;
    sides(&least, &most, left, rest, &solid[k]);
    if (most <= 0) continue;
    if (least >= 0) { // nothing of it is inside: it stays in one piece
      out->n = before;
      return dj_addPolygon(out, n, point);
    }
    split(outside, &noutside, inside, &ninside, left, rest, &solid[k]);
    djStatus status = dj_addPolygon(out, noutside, outside);
    if (status < 0) return status;
    djVec3* swap = rest;
    rest = inside;
    inside = swap;
    left = ninside;
  }
  return DJ_OK;
}

djStatus dj_subtractSolid(djPolygons* out, const djPolygons* in, int n, const djHalfSpace* solid) {
  int most = 0;
  for (int k = 0; k < in->n; k++) {
    int points = in->end[k] - dj_polygonStart(in, k);
    if (points > most) most = points;
  }
  djVec3* scratch = malloc(3 * ((size_t)most + (size_t)n + 1) * sizeof *scratch);
  djStatus status = scratch ? DJ_OK : DJ_NO_MEMORY;
  for (int k = 0; k < in->n && status == DJ_OK; k++) {
    int start = dj_polygonStart(in, k);
    status = subtractOne(out, in->end[k] - start, in->point + start, n, solid, scratch);
  }
  free(scratch);
  return status;
}
