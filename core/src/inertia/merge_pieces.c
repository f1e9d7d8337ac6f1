// Hulls that are too many become fewer: pairs are joined.

#include "base/status.h"
#include "shape/hull.h"
#include "shape/pieces.h"

#include <dijoco/overlap.h>

#include <stdlib.h>
#include <string.h>

// Costs of pairs, by the places that their hulls had at first.
typedef struct Costs {
  int n;        // hulls at first
  int* place;   // (pieces->n) of a hull
  double* cost; // (n x n) volume that the hull of two adds to them, m^3; of place[a] < place[b]
} Costs;

// Vertices of both: new memory.
static double* joinPoints(int* n, const djTriangles* a, const djTriangles* b) {
  *n = a->nvert + b->nvert;
  double* point = malloc(3 * (size_t)*n * sizeof *point);
  if (!point) return NULL;
  memcpy(point, a->vert, 3 * (size_t)a->nvert * sizeof *point);
  memcpy(point + 3 * (size_t)a->nvert, b->vert, 3 * (size_t)b->nvert * sizeof *point);
  return point;
}

static djStatus findCost(double* cost, const djTriangles* a, const djTriangles* b, djError* err) {
  const djHullPoints part[2] = {{a->nvert, a->vert}, {b->nvert, b->vert}};
  djHullOverlap both;
  djHull hull = {0};
  int n;
  double* point = joinPoints(&n, a, b);
  if (!point) return dj_failMemory(err);
  djStatus status = dj_overlapOfHulls(&both, 2, part, err);
  if (status == DJ_OK) status = dj_makeHull(&hull, n, point, 0, NULL, err);
  if (status == DJ_OK) {
    const djTriangles joint = {hull.nvert, hull.vert, hull.nface, hull.face};
    *cost = dj_boundedVolume(&joint) - both.whole;
  }
  dj_freeHull(&hull);
  free(point);
  return status;
}

static double* costOf(const Costs* c, int a, int b) {
  return &c->cost[(size_t)c->place[a] * (size_t)c->n + (size_t)c->place[b]];
}

// The pair that adds least, the first of equal ones.
static void findPair(int* a, int* b, const Costs* c, int n) {
  *a = 0;
  *b = 1;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      if (!(*costOf(c, i, j) < *costOf(c, *a, *b))) continue;
      *a = i;
      *b = j;
    }
  }
}

// Hull a becomes that of a and b, and b goes.
static djStatus joinPair(djPieces* p, Costs* c, int a, int b, int most_vertices, djError* err) {
  int n;
  double* point = joinPoints(&n, &p->hull[a], &p->hull[b]);
  if (!point) return dj_failMemory(err);
  djStatus status = dj_addPiece(p, n, point, NULL, most_vertices, err);
  free(point);
  if (status < 0) return status;
  dj_freeTriangles(&p->hull[a]);
  dj_freeTriangles(&p->hull[b]);
  p->hull[a] = p->hull[p->n - 1];
  p->volume[a] = p->volume[p->n - 1];
  p->n -= 2;
  size_t after = (size_t)(p->n - b);
  memmove(p->hull + b, p->hull + b + 1, after * sizeof *p->hull);
  memmove(p->volume + b, p->volume + b + 1, after * sizeof *p->volume);
  memmove(c->place + b, c->place + b + 1, after * sizeof *c->place);
  for (int k = 0; k < p->n && status == DJ_OK; k++) {
    if (k == a) continue;
    int first = k < a ? k : a, second = k < a ? a : k;
    status = findCost(costOf(c, first, second), &p->hull[first], &p->hull[second], err);
  }
  return status;
}

djStatus dj_mergePieces(djPieces* pieces, int most_hulls, int most_vertices, djError* err) {
  if (!pieces) return dj_fail(err, DJ_INVALID, "pieces: NULL");
  if (most_hulls < 1 || most_vertices < 4) {
    return dj_fail(err, DJ_INVALID, "expected a hull and 4 vertices at least, not %d and %d",
                   most_hulls, most_vertices);
  }
  size_t n = (size_t)pieces->n;
  if (pieces->n <= most_hulls) return DJ_OK;
  Costs c = {pieces->n, malloc(n * sizeof *c.place), malloc(n * n * sizeof *c.cost)};
  djStatus status = c.place && c.cost ? DJ_OK : dj_failMemory(err);
  for (int i = 0; i < c.n && status == DJ_OK; i++) c.place[i] = i;
  for (int i = 0; i < c.n; i++) {
    for (int j = i + 1; j < c.n && status == DJ_OK; j++) {
      status = findCost(costOf(&c, i, j), &pieces->hull[i], &pieces->hull[j], err);
    }
  }
  while (status == DJ_OK && pieces->n > most_hulls) {
    int a, b;
    findPair(&a, &b, &c, pieces->n);
    status = joinPair(pieces, &c, a, b, most_vertices, err);
  }
  free(c.place);
  free(c.cost);
  return status;
}
