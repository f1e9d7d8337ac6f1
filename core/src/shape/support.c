#include "shape/support.h"

#include "math/eigen3.h"
#include "math/lanes.h"

#include <stdlib.h>
#include <string.h>

// Cells whose lists are no longer than this stay whole; others are halved at most so many times.
enum { SHORT = 16, DEPTH = 9 };
// Numbers of all lists for each vertex.
enum { ROOM = 32 };
// Vertices count as farther where they are by this part of the hull's size, well above rounding.
#define FARTHER 1e-12
// Least spread along an axis, as part of the largest.
#define LEAST_SPREAD 1e-4

// ---- looking up -------------------------------------------------------------------------------

// Coordinate -1..1 on a side to that of the smallest cells.
static int cellAt(double u) {
  const int n = 1 << DEPTH;
  if (!(u > -1)) return 0; // or NaN
  if (!(u < 1)) return n - 1;
  int i = (int)(0.5 * (u + 1) * n);
  return i < n ? i : n - 1;
}

// The side of the cube that d passes, 2 axis + (negative), and where.
static int sideOf(int cell[2], djVec3 d) {
  const double x[3] = {d.x, d.y, d.z};
  double ax = fabs(d.x), ay = fabs(d.y), az = fabs(d.z);
  int axis = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
  double major = fabs(x[axis]), inv = major > 0 ? 1 / major : 0;
  cell[0] = cellAt(x[(axis + 1) % 3] * inv);
  cell[1] = cellAt(x[(axis + 2) % 3] * inv);
  return 2 * axis + (x[axis] < 0);
}

// Numbers 0..5 are the sides' entries. An entry above zero is the place of four more, for the
// halves of both coordinates; one below zero minus the place of a list: how many, and vertices,
// ascending, filled up to whole lanes by the first. Zero stands for all vertices.
const int* dj_supportList(int* n, const djShape* s, double e, djVec3 d) {
  if (!s->list || !(s->skin + e <= s->list_reach)) return NULL;
  int cell[2], entry = s->list[sideOf(cell, dju_mulMtV(s->list_axes, d))];
  for (int bit = DEPTH - 1; entry > 0; bit--) {
    entry = s->list[entry + ((cell[0] >> bit) & 1) + 2 * ((cell[1] >> bit) & 1)];
  }
  if (entry == 0) return NULL;
  *n = s->list[-entry];
  return s->list - entry + 1;
}

// Heights d.x of eight vertices, body frame; those from i on, or those of a list.
DJU_INLINE djLanes lanesOf(const double* x, const int* id, int i) {
  return id ? dju_gatherLanes(x, id + i) : dju_loadLanes(x + i);
}

DJU_INLINE djLanes heights(const djShape* s, double e, djVec3 d, const int* id, int i) {
  djLanes x = lanesOf(s->vert[0], id, i), y = lanesOf(s->vert[1], id, i);
  djLanes z = lanesOf(s->vert[2], id, i);
  djLanes h = dju_fmaLanes(dju_splat(d.x), x, dju_fmaLanes(dju_splat(d.y), y, d.z * z));
  if (!(e > 0)) return h;
  x = lanesOf(s->move[0], id, i);
  y = lanesOf(s->move[1], id, i);
  z = lanesOf(s->move[2], id, i);
  return h - e * dju_fmaLanes(dju_splat(d.x), x, dju_fmaLanes(dju_splat(d.y), y, d.z * z));
}

// Number of the vertex in each lane.
DJU_INLINE djLanes numbers(const int* id, int i) {
  const djLanes lane = {0, 1, 2, 3, 4, 5, 6, 7};
  if (!id) return lane + i;
  djLanes v;
  for (int k = 0; k < DJ_LANES; k++) v[k] = id[i + k];
  return v;
}

// The first of the highest among n entries, whole lanes. Two chains of blocks, so that comparisons
// need not wait for each other.
DJU_INLINE int scan(const djShape* s, double e, djVec3 d, const int* id, int n) {
  djLanes best = heights(s, e, d, id, 0), at = numbers(id, 0), other = best, other_at = at;
  for (int i = DJ_LANES; i < n; i += 2 * DJ_LANES) {
    djLanes h = heights(s, e, d, id, i);
    djMask higher = h > best;
    best = dju_pick(higher, h, best);
    at = dju_pick(higher, numbers(id, i), at);
    if (i + DJ_LANES == n) break;
    h = heights(s, e, d, id, i + DJ_LANES);
    higher = h > other;
    other = dju_pick(higher, h, other);
    other_at = dju_pick(higher, numbers(id, i + DJ_LANES), other_at);
  }
  if (n > DJ_LANES) {
    djMask higher = (other > best) | ((other == best) & (other_at < at));
    best = dju_pick(higher, other, best);
    at = dju_pick(higher, other_at, at);
  }
  djMask equal = best == dju_splat(-dju_least(-best));
  double first = dju_least(dju_pick(equal, at, dju_splat(s->npad)));
  return first < s->nvert ? (int)first : 0; // padding repeats the first vertex and never wins
}

int dj_farthestVertex(const djShape* s, double e, djVec3 d) {
  if (s->nvert == 1) return 0;
  int n = 0;
  const int* id = dj_supportList(&n, s, e, d);
  return id ? scan(s, e, d, id, n) : scan(s, e, d, NULL, s->npad);
}

// ---- making -----------------------------------------------------------------------------------

enum { CORNERS = 8, LEADERS = 3 };

// A cell: its entry, its place on a side, in cells as small as its level's, and its list.
typedef struct Cell {
  int entry, side, at[2];
  int start, n;
} Cell;

typedef struct Level {
  int ncell, nid;
  int maxcell, maxid;
  Cell* cell;
  int* id;
} Level;

typedef struct Making {
  int n;
  double *vert, *move; // (n x 3) each, in the axes of the lists
  double reach, farther;
  double* height; // (n x CORNERS)
  int *list, used, room;
  int pending; // numbers that cells which are not done take at most
} Making;

int dj_listRoom(int n) {
  if (n < DJ_LISTS_FROM || n > INT32_MAX / ROOM) return 0;
  return ROOM * n;
}

static void freeLevel(Level* l) {
  free(l->cell);
  free(l->id);
}

static bool growLevel(Level* l, int nid) {
  if (l->ncell == l->maxcell) {
    l->maxcell = 2 * l->maxcell + 64;
    Cell* cell = realloc(l->cell, (size_t)l->maxcell * sizeof *cell);
    if (!cell) return false;
    l->cell = cell;
  }
  if (l->nid + nid > l->maxid) {
    l->maxid = 2 * l->maxid + nid;
    int* id = realloc(l->id, (size_t)l->maxid * sizeof *id);
    if (!id) return false;
    l->id = id;
  }
  return true;
}

// A direction through the side at u, v in -1..1; not a unit vector.
static djVec3 directionAt(int side, double u, double v) {
  double x[3];
  int axis = side / 2;
  x[axis] = side % 2 ? -1 : 1;
  x[(axis + 1) % 3] = u;
  x[(axis + 2) % 3] = v;
  return dju_load3(x);
}

static djVec3 cornerOf(const Cell* c, int level, double i, double j) {
  double width = 2.0 / (1 << level);
  return directionAt(c->side, width * (c->at[0] + i) - 1, width * (c->at[1] + j) - 1);
}

static double heightOf(const Making* w, int i, djVec3 d, double e) {
  return dju_dot3(d, dju_load3(w->vert + 3 * i)) - e * dju_dot3(d, dju_load3(w->move + 3 * i));
}

// Is vertex i lower than j at all corners?
static bool isLower(const Making* w, int i, int j) {
  const double *a = w->height + CORNERS * i, *b = w->height + CORNERS * j;
  for (int k = 0; k < CORNERS; k++) {
    if (!(a[k] < b[k] - w->farther)) return false;
  }
  return true;
}

// Leaves out of the n vertices at id those that are lower than one of a few that are high in the
// cell's middle. Returns how many stay, in their order.
static int shorten(Making* w, const Cell* c, int level, int* id, int n) {
  djVec3 corner[4], middle = cornerOf(c, level, 0.5, 0.5);
  int leader[LEADERS], kept = 0;
  double top[LEADERS];
  for (int k = 0; k < 4; k++) corner[k] = cornerOf(c, level, k & 1, k >> 1);
  for (int k = 0; k < LEADERS; k++) {
    leader[k] = id[0];
    top[k] = -INFINITY;
  }
  for (int a = 0; a < n; a++) {
    double* h = w->height + CORNERS * id[a];
    for (int k = 0; k < CORNERS; k++) {
      h[k] = heightOf(w, id[a], corner[k & 3], k < 4 ? 0 : w->reach);
    }
    for (int k = 0; k < LEADERS; k++) {
      double e = w->reach * k / (LEADERS - 1), height = heightOf(w, id[a], middle, e);
      if (!(height > top[k])) continue;
      top[k] = height;
      leader[k] = id[a];
    }
  }
  for (int a = 0; a < n; a++) {
    bool lower = false;
    for (int k = 0; k < LEADERS && !lower; k++) lower = isLower(w, id[a], leader[k]);
    if (!lower) id[kept++] = id[a];
  }
  return kept;
}

static int listSize(int n) { return 1 + dj_paddedCount(n); }

// Writes the list of a cell that stays whole.
static void writeList(Making* w, const Cell* c, const int* id) {
  int* out = w->list + w->used;
  if (c->n == w->n || w->used + listSize(c->n) > w->room) {
    w->list[c->entry] = 0;
    return;
  }
  w->list[c->entry] = -w->used;
  out[0] = dj_paddedCount(c->n);
  for (int k = 0; k < out[0]; k++) out[1 + k] = id[k < c->n ? k : 0];
  w->used += listSize(c->n);
}

// Four cells in the place of one, where there is room for their lists. False: no memory.
static bool split(bool* done, Level* next, Making* w, const Cell* c, const int* id, int level) {
  int ncell = next->ncell, nid = next->nid, pending = 4 - listSize(c->n);
  for (int k = 0; k < 4; k++) {
    if (!growLevel(next, c->n)) return false;
    Cell* half = &next->cell[next->ncell++];
    *half = (Cell){.entry = w->used + k, .side = c->side, .start = next->nid};
    half->at[0] = 2 * c->at[0] + (k & 1);
    half->at[1] = 2 * c->at[1] + (k >> 1);
    memcpy(next->id + half->start, id, (size_t)c->n * sizeof(int));
    half->n = shorten(w, half, level + 1, next->id + half->start, c->n);
    next->nid += half->n;
    pending += listSize(half->n);
  }
  *done = w->used + w->pending + pending <= w->room;
  if (!*done) {
    next->ncell = ncell;
    next->nid = nid;
    return true;
  }
  w->list[c->entry] = w->used;
  w->used += 4;
  w->pending += pending - 4;
  return true;
}

// The six sides.
static bool firstLevel(Level* l, Making* w) {
  w->used = 6;
  for (int side = 0; side < 6; side++) {
    if (!growLevel(l, w->n)) return false;
    Cell* c = &l->cell[l->ncell++];
    *c = (Cell){.entry = side, .side = side, .start = l->nid};
    for (int i = 0; i < w->n; i++) l->id[l->nid + i] = i;
    c->n = shorten(w, c, 0, l->id + l->nid, w->n);
    l->nid += c->n;
    w->pending += listSize(c->n);
  }
  return true;
}

static bool makeLevels(Making* w, Level* now, Level* next) {
  if (!firstLevel(now, w)) return false;
  for (int level = 0; now->ncell > 0; level++) {
    next->ncell = next->nid = 0;
    for (int k = 0; k < now->ncell; k++) {
      Cell* c = &now->cell[k];
      bool done = false;
      if (c->n > SHORT && level < DEPTH && !split(&done, next, w, c, now->id + c->start, level)) {
        return false;
      }
      if (done) continue;
      w->pending -= listSize(c->n);
      writeList(w, c, now->id + c->start);
    }
    Level t = *now;
    *now = *next;
    *next = t;
  }
  return true;
}

// U and S: principal axes of the vertices, and their standard deviations along these.
static void findAxes(djMat3* U, double S[3], int n, const double* vert) {
  djVec3 mean = {0, 0, 0};
  djMat3 cov = {{0}};
  djQuat q = {1, 0, 0, 0};
  for (int i = 0; i < n; i++) mean = dju_madd3(mean, 1.0 / n, dju_load3(vert + 3 * i));
  for (int i = 0; i < n; i++) {
    double x[3];
    dju_store3(x, dju_sub3(dju_load3(vert + 3 * i), mean));
    for (int k = 0; k < 9; k++) cov.m[k] += x[k / 3] * x[k % 3] / n;
  }
  dju_principalAxes(&q, S, &cov);
  double most = sqrt(fmax(S[0], fmax(S[1], S[2])));
  for (int k = 0; k < 3; k++) S[k] = fmax(sqrt(fmax(S[k], 0)), LEAST_SPREAD * most);
  *U = dju_quatToMat(q);
}

// S^-1 U^T x
static void toAxes(double out[3], const double x[3], const djMat3* U, const double S[3]) {
  djVec3 y = dju_mulMtV(*U, dju_load3(x));
  dju_store3(out, dju_vec3(y.x / S[0], y.y / S[1], y.z / S[2]));
}

djStatus dj_makeLists(int* list, djMat3* axes, int n, const double* vert, const double* move,
                      double reach) {
  Level now = {0}, next = {0};
  Making w = {.n = n, .reach = reach, .list = list, .room = dj_listRoom(n)};
  if (w.room == 0) return DJ_OK;
  double S[3], size = 0;
  w.vert = malloc(3 * (size_t)n * sizeof(double));
  w.move = malloc(3 * (size_t)n * sizeof(double));
  w.height = malloc(CORNERS * (size_t)n * sizeof(double));
  bool made = w.vert && w.move && w.height;
  if (made) {
    djMat3 U;
    findAxes(&U, S, n, vert);
    for (int i = 0; i < n; i++) {
      toAxes(w.vert + 3 * i, vert + 3 * i, &U, S);
      toAxes(w.move + 3 * i, move + 3 * i, &U, S);
    }
    for (int i = 0; i < 3 * n; i++) size = fmax(size, fabs(w.vert[i]) + reach * fabs(w.move[i]));
    for (int i = 0; i < 9; i++) axes->m[i] = U.m[i] * S[i % 3];
    // a height's rounding is that of the longest axis
    w.farther = FARTHER * size * fmax(S[0], fmax(S[1], S[2])) / fmin(S[0], fmin(S[1], S[2]));
    made = makeLevels(&w, &now, &next);
  }
  free(w.vert);
  free(w.move);
  free(w.height);
  freeLevel(&now);
  freeLevel(&next);
  return made ? DJ_OK : DJ_NO_MEMORY;
}
