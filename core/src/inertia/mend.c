#include "inertia/mend.h"

#include "math/vec.h"

#include <string.h>

enum { MOST = DJ_MENDED_VERTICES, SWEEPS = 20 };

// What lies above a triangle by less than this part of its size is on it.
#define FLAT 1e-14

typedef struct Mend {
  int nvert, nface;
  const double* vert;
  int* face;
  djVec3 normal[2 * MOST]; // of each triangle, by its area
  short edge[MOST][MOST];  // triangle that has the edge; -1: none
  int degree[MOST];
} Mend;

static djVec3 point(const Mend* m, int i) { return dju_load3(m->vert + 3 * (size_t)i); }

static double height(const Mend* m, int face, int i) {
  djVec3 x = dju_sub3(point(m, i), point(m, m->face[3 * face]));
  return dju_dot3(m->normal[face], x);
}

// Is vertex i above the triangle?
static bool isAbove(const Mend* m, int face, int i) {
  djVec3 x = dju_sub3(point(m, i), point(m, m->face[3 * face])), n = m->normal[face];
  double h = dju_dot3(n, x);
  return h > 0 && h * h > FLAT * FLAT * dju_dot3(n, n) * dju_dot3(x, x);
}

static djVec3 normalOf(const Mend* m, int a, int b, int c) {
  djVec3 x = point(m, a);
  return dju_cross3(dju_sub3(point(m, b), x), dju_sub3(point(m, c), x));
}

static void set(Mend* m, int face, int a, int b, int c) {
  int* f = m->face + 3 * face;
  f[0] = a;
  f[1] = b;
  f[2] = c;
  m->normal[face] = normalOf(m, a, b, c);
  m->edge[a][b] = m->edge[b][c] = m->edge[c][a] = (short)face;
}

static int third(const Mend* m, int face, int a, int b) {
  const int* f = m->face + 3 * face;
  return f[0] + f[1] + f[2] - a - b;
}

// The last triangle takes the place of one that goes.
static void drop(Mend* m, int face) {
  const int* last = m->face + 3 * --m->nface;
  if (face != m->nface) set(m, face, last[0], last[1], last[2]);
}

// A vertex a of three triangles abc, bad, adc goes: bcd is left.
static void sink(Mend* m, int a, int b, int c, int d) {
  int f = m->edge[a][b], g = m->edge[b][a], h = m->edge[c][d];
  const int near[3] = {b, c, d};
  for (int k = 0; k < 3; k++) {
    m->edge[a][near[k]] = m->edge[near[k]][a] = -1;
    m->degree[near[k]]--;
  }
  m->degree[a] = 0;
  set(m, f, b, c, d);
  drop(m, g > h ? g : h);
  drop(m, g > h ? h : g);
}

// Make an edge convex. Whether that went.
static bool mendEdge(Mend* m, int a, int b) {
  int f = m->edge[a][b], g = m->edge[b][a];
  int c = third(m, f, a, b), d = third(m, g, a, b);
  if (m->edge[c][d] >= 0 || m->edge[d][c] >= 0) {
    if (m->degree[a] == 3)
      sink(m, a, b, c, d);
    else if (m->degree[b] == 3)
      sink(m, b, a, d, c);
    else
      return false;
    return m->nface >= 4;
  }
  djVec3 x = dju_sub3(point(m, b), point(m, c)), y = dju_sub3(point(m, a), point(m, d));
  if (dju_dot3(normalOf(m, c, a, d), x) >= 0 || dju_dot3(normalOf(m, d, b, c), y) >= 0) {
    return false;
  }
  m->edge[a][b] = m->edge[b][a] = -1;
  m->degree[a]--;
  m->degree[b]--;
  m->degree[c]++;
  m->degree[d]++;
  set(m, f, c, a, d);
  set(m, g, d, b, c);
  return true;
}

// Flips until every edge is convex, or nothing helps.
static bool mendEdges(Mend* m) {
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    bool hollow = false, changed = false;
    for (int f = 0; f < m->nface; f++) {
      for (int k = 0; k < 3 && f < m->nface; k++) {
        int a = m->face[3 * f + k], b = m->face[3 * f + (k + 1) % 3];
        if (a > b || !isAbove(m, f, third(m, m->edge[b][a], a, b))) continue;
        hollow = true;
        if (!mendEdge(m, a, b)) continue;
        changed = true;
        break; // the triangle is another one: the next sweep has its other edges
      }
    }
    if (!hollow) return true;
    if (!changed) return false;
  }
  return false;
}

// A vertex that has come out of the hull: it splits the triangle above which it is highest.
static bool comeOut(Mend* m) {
  for (int i = 0; i < m->nvert; i++) {
    if (m->degree[i] > 0) continue;
    int at = -1;
    double most = 0;
    for (int f = 0; f < m->nface; f++) {
      double h = height(m, f, i);
      if (!isAbove(m, f, i)) continue;
      h /= dju_norm3(m->normal[f]);
      if (h > most) {
        most = h;
        at = f;
      }
    }
    if (at < 0) continue;
    const int* f = m->face + 3 * at;
    int a = f[0], b = f[1], c = f[2];
    m->degree[i] = 3;
    m->degree[a]++;
    m->degree[b]++;
    m->degree[c]++;
    set(m, at, a, b, i);
    set(m, m->nface++, b, c, i);
    set(m, m->nface++, c, a, i);
    return true;
  }
  return false;
}

// Every edge once in each direction.
static bool fill(Mend* m) {
  for (int i = 0; i < m->nvert; i++) {
    memset(m->edge[i], -1, (size_t)m->nvert * sizeof **m->edge);
    m->degree[i] = 0;
  }
  for (int f = 0; f < m->nface; f++) {
    int a = m->face[3 * f], b = m->face[3 * f + 1], c = m->face[3 * f + 2];
    set(m, f, a, b, c);
    m->degree[a]++;
    m->degree[b]++;
    m->degree[c]++;
  }
  for (int k = 0; k < 3 * m->nface; k++) {
    int a = m->face[k], b = m->face[k % 3 < 2 ? k + 1 : k - 2];
    if (m->edge[b][a] < 0 || m->edge[a][b] != k / 3) return false;
  }
  return true;
}

bool dj_mendFacets(int* nface, int* face, int nvert, const double* vert) {
  if (nvert > MOST || *nface < 4 || *nface > 2 * nvert - 4) return false;
  Mend m;
  m.nvert = nvert;
  m.nface = *nface;
  m.vert = vert;
  m.face = face;
  if (!fill(&m)) return false;
  bool good = mendEdges(&m);
  for (int k = 0; k < nvert && good && comeOut(&m); k++) good = mendEdges(&m);
  *nface = m.nface;
  return good;
}
