#include "shape/simplex.h"

#include <float.h>

// Sine of the angle (or height over edges) below which a triangle or tetrahedron counts as flat:
// its own normal or sides are then not known, and its faces are searched instead.
#define FLAT 1e-10
// Squared distances that differ by less, relatively, are equal.
#define TIE 1e-13

// A face of a simplex: indices into its points, weights, and the point nearest to the origin.
typedef struct Face {
  int n;
  int id[3];
  double weight[3];
  djVec3 v;
  double vv;
  double shape;           // squared sine of a triangle's angle: how well its normal is known
} Face;

static void closestOnPoint(Face* f, const djVec3* p, int i) {
  *f = (Face){.n = 1, .id = {i}, .weight = {1}, .v = p[i], .vv = dju_dot3(p[i], p[i])};
}

// p + t d, t = -p.d/d.d. Parametrised from the nearer end, so that v keeps its accuracy.
static void closestOnSegment(Face* f, const djVec3* p, int i, int j) {
  if (dju_dot3(p[j], p[j]) < dju_dot3(p[i], p[i])) {
    int k = i;
    i = j;
    j = k;
  }
  djVec3 d = dju_sub3(p[j], p[i]);
  double t = -dju_dot3(p[i], d), dd = dju_dot3(d, d);
  if (!(t > 0) || !(dd > 0)) {
    closestOnPoint(f, p, i);
    return;
  }
  t = fmin(t / dd, 1);
  djVec3 v = dju_madd3(p[i], t, d);
  // One correction: removes the component along d that rounding left.
  double c = -dju_dot3(v, d) / dd;
  if (t + c > 0 && t + c < 1) {
    t += c;
    v = dju_madd3(v, c, d);
  }
  *f = (Face){.n = 2, .id = {i, j}, .weight = {1 - t, t}, .v = v, .vv = dju_dot3(v, v)};
}

static void takeNearer(Face* best, const Face* f) {
  if (f->vv < best->vv) *best = *f;
}

// With e1 = b - a, e2 = c - a, n = e1 x e2, the origin's projection is a + s e1 + t e2,
//   s = n.(e2 x a)/n.n,  t = n.(a x e1)/n.n,
// and it is n (n.a)/n.n itself. a is the vertex nearest to the origin, which keeps the products
// small. Outside, the nearest point lies on an edge opposite to a negative weight.
static void closestOnTriangle(Face* f, const djVec3* p, int i, int j, int k) {
  double ii = dju_dot3(p[i], p[i]), jj = dju_dot3(p[j], p[j]), kk = dju_dot3(p[k], p[k]);
  if (jj < ii && jj <= kk) {
    int m = i;
    i = j;
    j = m;
  } else if (kk < ii) {
    int m = i;
    i = k;
    k = m;
  }
  djVec3 a = p[i], e1 = dju_sub3(p[j], a), e2 = dju_sub3(p[k], a), n = dju_cross3(e1, e2);
  double nn = dju_dot3(n, n), d1 = dju_dot3(e1, e1), d2 = dju_dot3(e2, e2);
  bool flat = !(nn > FLAT * FLAT * d1 * d2);
  double wj = -1, wk = -1, wi = -1;
  if (!flat) {
    wj = dju_dot3(n, dju_cross3(e2, a)) / nn;
    wk = dju_dot3(n, dju_cross3(a, e1)) / nn;
    wi = 1 - wj - wk;
    if (wi > 0 && wj > 0 && wk > 0) {
      double na = dju_dot3(n, a);
      *f = (Face){.n = 3, .id = {i, j, k}, .weight = {wi, wj, wk}};
      f->v = dju_scale3(na / nn, n);
      f->vv = na * na / nn;
      f->shape = nn / (d1 * d2);
      return;
    }
  }
  Face e;
  *f = (Face){.vv = INFINITY};
  if (wk <= 0) {
    closestOnSegment(&e, p, i, j);
    takeNearer(f, &e);
  }
  if (wj <= 0) {
    closestOnSegment(&e, p, i, k);
    takeNearer(f, &e);
  }
  if (wi <= 0) {
    closestOnSegment(&e, p, j, k);
    takeNearer(f, &e);
  }
  if (!(f->vv < INFINITY)) closestOnPoint(f, p, i);   // not finite
}

// Of faces that are equally near up to rounding, as in a flat tetrahedron, the best shaped counts.
static void takeBetter(Face* best, const Face* f) {
  bool tie = fabs(f->vv - best->vv) <= TIE * best->vv;
  if (tie ? f->shape > best->shape : f->vv < best->vv) *best = *f;
}

// The origin is on the inner side of a face when it and the opposite vertex are on the same side.
// Faces for which this is not certain are searched, and the nearest point over them is taken.
static bool closestOnTetrahedron(Face* f, const djVec3* p) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
  bool inside = true;
  *f = (Face){.vv = INFINITY, .shape = -1};
  for (int k = 0; k < 4; k++) {
    const int* t = face[k];
    djVec3 a = p[t[0]], e1 = dju_sub3(p[t[1]], a), e2 = dju_sub3(p[t[2]], a);
    djVec3 e3 = dju_sub3(p[t[3]], a), n = dju_cross3(e1, e2);
    double height = dju_dot3(n, e3), origin = -dju_dot3(n, a);
    double size = sqrt(dju_dot3(e1, e1) * dju_dot3(e2, e2) * dju_dot3(e3, e3));
    bool flat = !(fabs(height) > FLAT * size);
    if (!flat && (height > 0 ? origin > 0 : origin < 0)) continue;
    inside = false;
    Face g;
    closestOnTriangle(&g, p, t[0], t[1], t[2]);
    takeBetter(f, &g);
  }
  if (!inside && !(f->vv < INFINITY)) closestOnPoint(f, p, 0);
  return inside;
}

bool dj_reduceSimplex(djVec3* v, djSimplex* s) {
  djVec3 w[4];
  for (int i = 0; i < s->n; i++) w[i] = s->p[i].w;
  Face f;
  switch (s->n) {
    case 1: closestOnPoint(&f, w, 0); break;
    case 2: closestOnSegment(&f, w, 0, 1); break;
    case 3: closestOnTriangle(&f, w, 0, 1, 2); break;
    default:
      if (closestOnTetrahedron(&f, w)) {
        *v = dju_vec3(0, 0, 0);
        return true;
      }
  }
  djSupport kept[3];
  for (int i = 0; i < f.n; i++) kept[i] = s->p[f.id[i]];
  for (int i = 0; i < f.n; i++) {
    s->p[i] = kept[i];
    s->weight[i] = f.weight[i];
  }
  s->n = f.n;
  *v = f.v;
  return false;
}

// GJK on a list of points: v is optimal when no point lies below the plane through v, i.e.
// p.v >= v.v for all p.
bool dj_minNormSimplex(djVec3* v, djSimplex* simplex, int n, const double* point) {
  simplex->n = 0;
  if (n < 1) return false;
  double scale = 0;
  int first = 0;
  double least = INFINITY;
  for (int i = 0; i < n; i++) {
    djVec3 p = dju_load3(point + 3 * i);
    double pp = dju_dot3(p, p);
    if (!(pp < INFINITY)) return false;
    if (pp > scale) scale = pp;
    if (pp < least) {
      least = pp;
      first = i;
    }
  }
  djSimplex s = {.n = 1, .weight = {1}};
  s.p[0].w = dju_load3(point + 3 * first);
  s.p[0].ia = first;
  *v = s.p[0].w;
  double vv = dju_dot3(*v, *v);
  for (int iteration = 0; iteration < 100 + 4 * n; iteration++) {
    int low = -1;
    double least_dot = INFINITY;
    for (int i = 0; i < n; i++) {
      double d = dju_dot3(dju_load3(point + 3 * i), *v);
      if (d < least_dot) {
        least_dot = d;
        low = i;
      }
    }
    if (vv - least_dot <= 4 * DBL_EPSILON * sqrt(vv * scale) || s.n == 4) break;
    djSimplex next = s;
    next.p[next.n].w = dju_load3(point + 3 * low);
    next.p[next.n++].ia = low;
    djVec3 u;
    if (dj_reduceSimplex(&u, &next)) return false;
    double uu = dju_dot3(u, u);
    if (!(uu < vv)) break;
    s = next;
    *v = u;
    vv = uu;
  }
  *simplex = s;
  return vv > 1e-18 * scale;
}

bool dj_minNorm(djVec3* v, int n, const double* point) {
  djSimplex simplex;
  return dj_minNormSimplex(v, &simplex, n, point);
}
