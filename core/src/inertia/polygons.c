#include "inertia/polygons.h"

#include <stdlib.h>
#include <string.h>

// Points nearer to a plane than this part of their distance from the origin lie in it.
#define IN_PLANE 4e-16

void dj_freePolygons(djPolygons* list) {
  free(list->end);
  free(list->point);
  free(list->scratch);
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

static int countBits(int nword, const uint64_t* which) {
  int n = 0;
  for (int w = 0; w < nword; w++) n += __builtin_popcountll(which[w]);
  return n;
}

static bool isOutside(int n, const djVec3* point, int nword, const uint64_t* which,
                      const djHalfSpace* solid) {
  for (int w = 0; w < nword; w++) {
    for (uint64_t bits = which[w]; bits; bits &= bits - 1) {
      const djHalfSpace* h = &solid[64 * w + __builtin_ctzll(bits)];
      int i = 0;
      while (i < n && heightOf(point[i], h) >= 0) i++;
      if (i == n) return true;
    }
  }
  return false;
}

// Points that n become at most by cuts: one more a half space; rounded corners may be cut twice.
static int roomFor(int n, int nword, const uint64_t* which) {
  return 2 * (n + countBits(nword, which));
}

// Parts of one polygon; scratch has room for three of roomFor(n) points.
static djStatus subtractOne(djPolygons* out, int n, const djVec3* point, int nword,
                            const uint64_t* which, const djHalfSpace* solid, djVec3* scratch) {
  int before = out->n, left = n, noutside, room = roomFor(n, nword, which);
  if (isOutside(n, point, nword, which, solid)) return dj_addPolygon(out, n, point);
  djVec3 *rest = scratch, *outside = rest + room, *inside = outside + room;
  memcpy(rest, point, (size_t)n * sizeof *rest);
  for (int w = 0; w < nword; w++) {
    for (uint64_t bits = which[w]; bits; bits &= bits - 1) {
      const djHalfSpace* h = &solid[64 * w + __builtin_ctzll(bits)];
      double least, most;
      int ninside;
      sides(&least, &most, left, rest, h);
      if (most <= 0) continue;
      if (least >= 0) { // nothing of it is inside: it stays in one piece
        out->n = before;
        return dj_addPolygon(out, n, point);
      }
      split(outside, &noutside, inside, &ninside, left, rest, h);
      djStatus status = dj_addPolygon(out, noutside, outside);
      if (status < 0) return status;
      djVec3* swap = rest;
      rest = inside;
      inside = swap;
      left = ninside;
    }
  }
  return DJ_OK;
}

// Room for n points at the list's scratch.
static djStatus makeScratch(djPolygons* list, int n) {
  if (n <= list->scratch_room) return DJ_OK;
  djVec3* scratch = malloc(2 * (size_t)n * sizeof *scratch);
  if (!scratch) return DJ_NO_MEMORY;
  free(list->scratch);
  list->scratch = scratch;
  list->scratch_room = 2 * n;
  return DJ_OK;
}

djStatus dj_subtractSolid(djPolygons* out, const djPolygons* in, int nword, const uint64_t* which,
                          const djHalfSpace* solid) {
  int most = 0;
  for (int k = 0; k < in->n; k++) {
    int points = in->end[k] - dj_polygonStart(in, k);
    if (points > most) most = points;
  }
  djStatus status = makeScratch(out, 3 * roomFor(most, nword, which));
  for (int k = 0; k < in->n && status == DJ_OK; k++) {
    int start = dj_polygonStart(in, k);
    status = subtractOne(out, in->end[k] - start, in->point + start, nword, which, solid,
                         out->scratch);
  }
  return status;
}
