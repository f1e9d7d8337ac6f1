// Penetration depth of convex polytopes: the expanding polytope algorithm (van den Bergen 2001). A
// polytope inside A - B grows by the support point of its face nearest to the origin. That face's
// distance is a lower bound of the depth, the support along its normal an upper one; they meet.
//
// Faces are oriented by the polytope, not by the origin, so that an origin on the border or a
// rounding error outside does no harm. A difference without volume (points, segments, flat shapes
// that cross) has depth 0 along the direction in which it is flat.

#include "shape/minkowski.h"

#include <float.h>

#define MAX_VERT 256
#define MAX_FACE (2 * MAX_VERT)
#define FLAT 1e-12            // relative to scale
#define CURVED 1e-7           // where this is enough, relative to scale

typedef struct Face {
  int v[3];                   // counterclockwise from outside
  int adj[3];                 // face across the edge v[k], v[k+1]
  djVec3 n;                   // unit, outward
  double d;                   // n.x = d on it
  bool alive, dead;           // in use; being removed in this round
  bool aside;                 // could not be expanded
} Face;

typedef struct Polytope {
  int nvert, nface;           // faces in use lie below nface
  djSupport vert[MAX_VERT];
  Face face[MAX_FACE];
  int nedge;                  // horizon: edges seen from the new vertex
  int edge_face[MAX_FACE], edge_side[MAX_FACE];
  int stack[MAX_FACE];
} Polytope;

// Unit normal and offset. The product of the two shorter edges loses least. Returns false for a
// triangle without area.
static bool planeOf(Face* f, const djSupport* p) {
  djVec3 a = p[f->v[0]].w, b = p[f->v[1]].w, c = p[f->v[2]].w;
  djVec3 ab = dju_sub3(b, a), bc = dju_sub3(c, b), ca = dju_sub3(a, c);
  double lab = dju_dot3(ab, ab), lbc = dju_dot3(bc, bc), lca = dju_dot3(ca, ca);
  djVec3 n;
  if (lab >= lbc && lab >= lca) {
    n = dju_cross3(bc, ca);
  } else if (lbc >= lca) {
    n = dju_cross3(ca, ab);
  } else {
    n = dju_cross3(ab, bc);
  }
  double length = dju_norm3(n), longest = fmax(lab, fmax(lbc, lca));
  if (!(length > 1e-14 * longest)) return false;
  f->n = dju_scale3(1 / length, n);
  double da = dju_dot3(f->n, a), db = dju_dot3(f->n, b), dc = dju_dot3(f->n, c);
  f->d = (da + db + dc) / 3;
  return true;
}

static djVec3 perpendicular(djVec3 d) {
  djVec3 axis = fabs(d.x) <= fabs(d.y) && fabs(d.x) <= fabs(d.z) ? dju_vec3(1, 0, 0)
                : fabs(d.y) <= fabs(d.z)                          ? dju_vec3(0, 1, 0)
                                                                  : dju_vec3(0, 0, 1);
  djVec3 n = dju_cross3(d, axis);
  return dju_scale3(1 / dju_norm3(n), n);
}

// Support point along +-d (unit) that is farthest from origin `from` in that direction.
static double farthest(djSupport* out, djMinkowski* m, djVec3 d, djVec3 from) {
  djSupport up = dj_minkowskiSupport(m, d), down = dj_minkowskiSupport(m, dju_neg3(d));
  double hu = dju_dot3(d, dju_sub3(up.w, from)), hd = dju_dot3(d, dju_sub3(from, down.w));
  *out = hu >= hd ? up : down;
  return fmax(hu, hd);
}

// Grow the simplex to a tetrahedron with volume. Returns false where A - B is flat; *n is then a
// direction in which it is.
static bool growSimplex(djVec3* n, djSimplex* s, djMinkowski* m) {
  djSupport p;
  if (s->n == 1) {
    djVec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3 && s->n == 1; k++) {
      if (farthest(&p, m, axis[k], s->p[0].w) > FLAT * m->scale) s->p[s->n++] = p;
    }
    if (s->n == 1) {
      *n = dju_vec3(0, 0, 1);
      return false;
    }
  }
  if (s->n == 2) {
    djVec3 d = dju_sub3(s->p[1].w, s->p[0].w);
    d = dju_scale3(1 / dju_norm3(d), d);
    djVec3 e1 = perpendicular(d), e2 = dju_cross3(d, e1);
    for (int k = 0; k < 2 && s->n == 2; k++) {
      if (farthest(&p, m, k ? e2 : e1, s->p[0].w) > FLAT * m->scale) s->p[s->n++] = p;
    }
    if (s->n == 2) {
      *n = e1;
      return false;
    }
  }
  if (s->n == 3) {
    Face f = {.v = {0, 1, 2}};
    if (!planeOf(&f, s->p)) {
      *n = perpendicular(dju_sub3(s->p[1].w, s->p[0].w));
      return false;
    }
    if (!(farthest(&p, m, f.n, s->p[0].w) > FLAT * m->scale)) {
      *n = f.n;
      return false;
    }
    s->p[s->n++] = p;
  }
  return true;
}

static bool makeTetrahedron(Polytope* t, const djSimplex* s) {
  static const int face[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  t->nvert = 4;
  t->nface = 4;
  for (int i = 0; i < 4; i++) t->vert[i] = s->p[i];
  djVec3 a = t->vert[0].w, n = dju_cross3(dju_sub3(t->vert[1].w, a), dju_sub3(t->vert[2].w, a));
  if (dju_dot3(n, dju_sub3(t->vert[3].w, a)) > 0) {   // 3 must lie below face 0 1 2
    djSupport swap = t->vert[1];
    t->vert[1] = t->vert[2];
    t->vert[2] = swap;
  }
  for (int i = 0; i < 4; i++) {
    t->face[i] = (Face){.v = {face[i][0], face[i][1], face[i][2]}, .alive = true};
    if (!planeOf(&t->face[i], t->vert)) return false;
  }
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 3; k++) {
      int from = face[i][k], to = face[i][(k + 1) % 3];
      for (int j = 0; j < 4; j++) {
        for (int l = 0; l < 3; l++) {
          if (face[j][l] == to && face[j][(l + 1) % 3] == from) t->face[i].adj[k] = j;
        }
      }
    }
  }
  return true;
}

// Collects the faces that w sees (connected to `seed`, marked dead) and their border.
static bool findHorizon(Polytope* t, int seed, djVec3 w, double tolerance) {
  int top = 0;
  t->nedge = 0;
  t->stack[top++] = seed;
  t->face[seed].dead = true;
  while (top > 0) {
    int f = t->stack[--top];
    for (int k = 0; k < 3; k++) {
      int g = t->face[f].adj[k];
      Face* other = &t->face[g];
      if (other->dead) continue;
      if (dju_dot3(other->n, w) - other->d > -tolerance) {
        other->dead = true;
        t->stack[top++] = g;
      }
    }
  }
  for (int f = 0; f < t->nface; f++) {
    if (!t->face[f].alive || !t->face[f].dead) continue;
    for (int k = 0; k < 3; k++) {
      int g = t->face[f].adj[k];
      if (t->face[g].dead) continue;
      if (t->nedge == MAX_FACE) return false;
      t->edge_face[t->nedge] = g;
      t->edge_side[t->nedge] = -1;
      for (int l = 0; l < 3; l++) {
        if (t->face[g].adj[l] == f && t->face[g].v[(l + 1) % 3] == t->face[f].v[k]) {
          t->edge_side[t->nedge] = l;
        }
      }
      if (t->edge_side[t->nedge++] < 0) return false;
    }
  }
  return t->nedge >= 3;
}

static void revive(Polytope* t) {
  for (int f = 0; f < t->nface; f++) t->face[f].dead = false;
}

// Replaces the seen faces by a fan from w. Returns false, with the polytope as it was, where
// rounding left a border that is no loop, or a face without area, or where there is no room.
static bool addVertex(Polytope* t, int seed, const djSupport* p, double tolerance) {
  if (t->nvert == MAX_VERT) return false;
  if (!findHorizon(t, seed, p->w, tolerance)) {
    revive(t);
    return false;
  }
  // New faces are made in the free slots and checked before anything is changed.
  int made[MAX_FACE], nmade = 0, slot = 0, nface = t->nface;   // made: their slots
  t->vert[t->nvert] = *p;
  bool good = true;
  for (int i = 0; i < t->nedge && good; i++) {
    while (slot < t->nface && t->face[slot].alive) slot++;
    int at = slot < t->nface ? slot++ : nface++;
    good = at < MAX_FACE;
    if (!good) break;
    const Face* g = &t->face[t->edge_face[i]];
    int side = t->edge_side[i];
    t->face[at] = (Face){.v = {g->v[(side + 1) % 3], g->v[side], t->nvert}};
    good = planeOf(&t->face[at], t->vert);
    made[nmade++] = at;
  }
  for (int i = 0; i < nmade && good; i++) {   // neighbours within the fan
    int next = -1, previous = -1;
    for (int j = 0; j < nmade; j++) {
      if (t->face[made[j]].v[0] == t->face[made[i]].v[1]) next = next == -1 ? made[j] : -2;
      if (t->face[made[j]].v[1] == t->face[made[i]].v[0]) previous = previous == -1 ? made[j] : -2;
    }
    good = next >= 0 && previous >= 0;
    t->face[made[i]].adj[0] = t->edge_face[i];
    t->face[made[i]].adj[1] = next;
    t->face[made[i]].adj[2] = previous;
  }
  if (!good) {
    for (int i = 0; i < nmade; i++) t->face[made[i]].alive = false;
    revive(t);
    return false;
  }
  for (int i = 0; i < nmade; i++) {
    t->face[made[i]].alive = true;
    t->face[t->edge_face[i]].adj[t->edge_side[i]] = made[i];
  }
  t->nvert++;
  for (int f = 0; f < t->nface; f++) {
    if (t->face[f].dead) t->face[f].alive = t->face[f].dead = false;
  }
  t->nface = nface > t->nface ? nface : t->nface;
  return true;
}

static int nearestFace(const Polytope* t) {
  int best = -1;
  for (int f = 0; f < t->nface; f++) {
    if (!t->face[f].alive || t->face[f].aside) continue;
    if (best < 0 || t->face[f].d < t->face[best].d) best = f;
  }
  return best;
}

static void touchFlat(djSimplex* s, djVec3* n, const djMinkowski* m) {
  djVec3 v;
  if (s->n < 4) dj_reduceSimplex(&v, s);
  // Of the two signs, the one from A's centre to B's.
  djVec3 between = dju_sub3(dju_add3(dju_mulMV(m->b.R, m->b.shape->center), m->b.p),
                            dju_add3(dju_mulMV(m->a.R, m->a.shape->center), m->a.p));
  if (dju_dot3(*n, between) < 0) *n = dju_neg3(*n);
}

// Weights of the origin's foot on the found plane, which lies in one of the triangles there.
static void touchFace(djSimplex* s, const Polytope* t, const Face* found, djVec3 foot,
                      double tolerance) {
  double best = INFINITY, d = dju_norm3(foot);
  for (int f = -1; f < t->nface; f++) {
    const Face* face = f < 0 ? found : &t->face[f];
    if (f >= 0 && (!face->alive || fabs(face->d - d) > tolerance)) continue;
    djSimplex trial = {.n = 3};
    djVec3 v;
    for (int k = 0; k < 3; k++) {
      trial.p[k] = t->vert[face->v[k]];
      trial.p[k].w = dju_sub3(trial.p[k].w, foot);
    }
    dj_reduceSimplex(&v, &trial);
    double vv = dju_dot3(v, v);
    if (vv < best) {
      best = vv;
      *s = trial;
    }
  }
}

static djStatus expand(double* depth, djVec3* n, djSimplex* s, int* iterations, Polytope* t,
                       djMinkowski* m) {
  // Faces within rounding of the new vertex count as seen, against slivers in one plane; where
  // this fails, other margins are tried.
  static const double margin[] = {8, 0, 512, 32768};
  double unit = DBL_EPSILON * m->scale, tolerance = 8 * unit;
  if (m->a.curved || m->b.curved) tolerance = CURVED * m->scale;
  double upper = INFINITY;
  Face found = {.n = {0, 0, 1}};
  djStatus status = DJ_OK;
  for (;; ++*iterations) {
    int f = nearestFace(t);
    if (f < 0) {
      status = DJ_NOT_CONVERGED;
      break;
    }
    if (t->face[f].d >= upper) break;
    djSupport p = dj_minkowskiSupport(m, t->face[f].n);
    double h = dju_dot3(t->face[f].n, p.w);
    if (h < upper) {
      upper = h;
      found = t->face[f];
    }
    if (h - t->face[f].d <= tolerance) break;
    bool added = false;
    for (int k = 0; k < 4 && !added; k++) added = addVertex(t, f, &p, margin[k] * unit);
    if (!added) t->face[f].aside = true;
  }
  *n = found.n;
  *depth = upper;
  touchFace(s, t, &found, dju_scale3(upper, found.n), 4 * tolerance);
  return status;
}

djStatus dj_epa(double* depth, djVec3* n, djSimplex* s, int* iterations, djMinkowski* m) {
  djSimplex start = *s;
  *depth = 0;
  *iterations = 0;
  if (!growSimplex(n, s, m)) {
    *s = start;
    touchFlat(s, n, m);
    return DJ_OK;
  }
  Polytope t;
  if (!makeTetrahedron(&t, s)) {
    *n = perpendicular(dju_sub3(s->p[1].w, s->p[0].w));
    *s = start;
    touchFlat(s, n, m);
    return DJ_NOT_CONVERGED;
  }
  return expand(depth, n, s, iterations, &t, m);
}
