#include "contact/triangles/near_points.h"

#include "contact/triangles/triangle_plane.h"

#include <math.h>
#include <string.h>

#define PARALLEL 1e-12 // of edges: square of the sine between them

// ------------------------------------------ searching ------------------------------------------

typedef struct Search {
  const djVec3* v[2];
  double least; // square
  djNearPoints* best;
} Search;

static djVec3 pointOf(const djVec3 v[3], const double part[3]) {
  djVec3 x = dju_scale3(part[0], v[0]);
  x = dju_madd3(x, part[1], v[1]);
  return dju_madd3(x, part[2], v[2]);
}

// Parts of both triangles, and along which edges (corners `from`, `to` of a side) they may move.
static void take(Search* s, const double part[2][3], int n, const int side[2], const int from[2],
                 const int to[2]) {
  const djVec3 x[2] = {pointOf(s->v[0], part[0]), pointOf(s->v[1], part[1])};
  const djVec3 e = dju_sub3(x[0], x[1]);
  const double square = dju_dot3(e, e);
  if (!(square < s->least)) return;
  s->least = square;
  djNearPoints* p = s->best;
  *p = (djNearPoints){.x = {x[0], x[1]}, .n = n};
  memcpy(p->part, part, sizeof p->part);
  for (int k = 0; k < n; k++) {
    const djVec3 edge = dju_sub3(s->v[side[k]][to[k]], s->v[side[k]][from[k]]);
    p->side[k] = side[k];
    p->way[k] = dju_scale3(side[k] ? -1 : 1, edge);
    p->share[k][from[k]] = -1;
    p->share[k][to[k]] = 1;
  }
}

// A corner of one triangle and the other one: within it, on an edge, at a corner.
static void takeCorner(Search* s, int side, int corner) {
  const int other = 1 - side, both[2] = {other, other}, zero[2] = {0, 0}, next[2] = {1, 2};
  const djVec3 *v = s->v[other], x = s->v[side][corner];
  const djVec3 e = dju_sub3(v[1], v[0]), f = dju_sub3(v[2], v[0]), r = dju_sub3(x, v[0]);
  const double ee = dju_dot3(e, e), ef = dju_dot3(e, f), ff = dju_dot3(f, f);
  const double er = dju_dot3(e, r), fr = dju_dot3(f, r), det = ee * ff - ef * ef;
  const double b = (ff * er - ef * fr) / det, c = (ee * fr - ef * er) / det;
  double part[2][3] = {{0}};
  part[side][corner] = 1;
  if (b > 0 && c > 0 && b + c < 1) {
    const double within[3] = {1 - b - c, b, c};
    memcpy(part[other], within, sizeof within);
    take(s, part, 2, both, zero, next);
  }
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, from[2] = {k}, to[2] = {l};
    const djVec3 edge = dju_sub3(v[l], v[k]);
    const double t = dju_dot3(dju_sub3(x, v[k]), edge) / dju_dot3(edge, edge);
    const double at = fmin(1, fmax(0, t));
    memset(part[other], 0, sizeof part[other]);
    part[other][k] = 1 - at;
    part[other][l] = at;
    take(s, part, t > 0 && t < 1, both, from, to);
  }
}

// Both within: p + s u, q + t w; else corners tell.
static void takeEdges(Search* search, int i, int j) {
  const int side[2] = {0, 1}, from[2] = {i, j}, to[2] = {(i + 1) % 3, (j + 1) % 3};
  const djVec3 *a = search->v[0], *b = search->v[1], r = dju_sub3(b[j], a[i]);
  const djVec3 u = dju_sub3(a[to[0]], a[i]), w = dju_sub3(b[to[1]], b[j]);
  const double uu = dju_dot3(u, u), uw = dju_dot3(u, w), ww = dju_dot3(w, w);
  const double ur = dju_dot3(u, r), wr = dju_dot3(w, r), det = uu * ww - uw * uw;
  if (!(det > PARALLEL * uu * ww)) return;
  const double s = (ur * ww - uw * wr) / det, t = (uw * ur - uu * wr) / det;
  if (!(s > 0 && s < 1 && t > 0 && t < 1)) return;
  double part[2][3] = {{0}};
  part[0][i] = 1 - s;
  part[0][to[0]] = s;
  part[1][j] = 1 - t;
  part[1][to[1]] = t;
  take(search, part, 2, side, from, to);
}

bool dj_findNearPoints(djNearPoints* out, const djVec3 a[3], const djVec3 b[3]) {
  djVec3 u;
  Search s = {{a, b}, INFINITY, out};
  if (!(dj_partTriangles(&u, a, b, INFINITY) > 0)) return false;
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < 3; k++) takeCorner(&s, side, k);
  }
  for (int k = 0; k < 9; k++) takeEdges(&s, k / 3, k % 3);
  if (!(s.least > 0 && s.least < INFINITY)) return false;
  const double ww = dju_dot3(out->way[0], out->way[0]), wx = dju_dot3(out->way[0], out->way[1]);
  const double xx = out->n > 1 ? dju_dot3(out->way[1], out->way[1]) : 1, det = ww * xx - wx * wx;
  const double inverse[4] = {xx / det, -wx / det, -wx / det, ww / det};
  if (out->n > 0) memcpy(out->inverse, inverse, sizeof inverse);
  return true;
}

// ------------------------------------------ squares --------------------------------------------

void dj_nearSquare(djMeanSquare* q, const djNearPoints* n, djVec3 c, int order) {
  const djVec3 arm = dju_sub3(n->x[0], c), e = dju_sub3(n->x[0], n->x[1]);
  double row[2][6];
  dj_squareOf(q, arm, e, order);
  if (order < 2) return;
  for (int k = 0; k < n->n; k++) {
    djVec3 turn = dju_cross3(arm, n->way[k]);
    if (n->side[k] == 0) turn = dju_add3(turn, dju_cross3(n->way[k], e));
    dju_store3(row[k], dju_scale3(2, turn));
    dju_store3(row[k] + 3, dju_scale3(2, n->way[k]));
  }
  for (int k = 0; k < n->n; k++) dj_addOuter(q->H, -0.5 * n->inverse[3 * k], row[k]);
  if (n->n > 1) dj_addOuters(q->H, -0.5 * n->inverse[1], row[0], row[1]);
}
