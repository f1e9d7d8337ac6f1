#include "shape/hull_param.h"

#include <stdlib.h>
#include <string.h>

// Facets about a vertex whose normals agree by more (1 - cosine) count as one.
#define SAME_NORMAL 1e-12

typedef struct Work {
  const djHull* hull;
  double* vert;           // (nvert x 3) result
  double* normal;         // (nface x 3) cotangents of the facets' normals, at their first triangle
  double* area;           // (nface) twice the facets' areas, there
  int* adr;               // (nvert + 1) facets about each vertex
  int* facet;             // (3 nface)
  double* about;          // (largest number of facets about a vertex x 3) normals
  int* source;            // and the facets that they are from
} Work;

static djVec3 vertexOf(const djHull* h, int i) { return dju_load3(h->vert + 3 * i); }
static djVec3 normalOf(const djHull* h, int f) { return dju_load3(h->plane + 4 * f); }
static bool hasNormal(const djHull* h, int f) {
  djVec3 n = normalOf(h, f);
  return dju_dot3(n, n) > 0.5;
}

// Twice the area vector of a triangle.
static djVec3 areaOf(const djHull* h, int f) {
  const int* v = h->face + 3 * f;
  djVec3 a = vertexOf(h, v[0]);
  return dju_cross3(dju_sub3(vertexOf(h, v[1]), a), dju_sub3(vertexOf(h, v[2]), a));
}

// Lists the facets about vertex i. Returns how many.
static int normalsAbout(Work* w, int i) {
  int n = 0;
  for (int k = w->adr[i]; k < w->adr[i + 1]; k++) {
    int f = w->hull->group[w->facet[k]], j = 0;
    if (!hasNormal(w->hull, f)) continue;
    djVec3 normal = normalOf(w->hull, f);
    while (j < n && !(dju_dot3(normal, dju_load3(w->about + 3 * j)) > 1 - SAME_NORMAL)) j++;
    if (j < n) continue;
    dju_store3(w->about + 3 * j, normal);
    w->source[n++] = f;
  }
  return n;
}

// a = G^-1 N mu, G = N N^T, for n <= 3 independent rows of N.
static void solveGram(double a[3], int n, const djVec3 N[3], djVec3 mu) {
  if (n == 1) {
    a[0] = dju_dot3(N[0], mu) / dju_dot3(N[0], N[0]);
  } else if (n == 2) {
    djVec3 c = dju_cross3(N[0], N[1]);
    double cc = dju_dot3(c, c);
    a[0] = dju_dot3(mu, dju_cross3(N[1], c)) / cc;
    a[1] = dju_dot3(mu, dju_cross3(c, N[0])) / cc;
  } else {
    double det = dju_dot3(N[0], dju_cross3(N[1], N[2]));
    for (int k = 0; k < 3; k++) {
      a[k] = dju_dot3(mu, dju_cross3(N[(k + 1) % 3], N[(k + 2) % 3])) / det;
    }
  }
}

// m = N^T y, y = G^-1 1, over the active normals. With a = G^-1 N mu,
//   mu . dm = sum_k dn_k . (y_k (mu - N^T a) - a_k m).
static void moveGrad(Work* w, int i, djVec3 mu) {
  if (mu.x == 0 && mu.y == 0 && mu.z == 0) return;
  int id[3], n = dj_activeNormals(id, normalsAbout(w, i), w->about);
  djVec3 N[3], m = {0, 0, 0}, rest = mu;
  double a[3], y[3];
  for (int k = 0; k < n; k++) N[k] = dju_load3(w->about + 3 * id[k]);
  if (n == 0) return;
  solveGram(a, n, N, mu);
  m = dju_load3(w->hull->move + 3 * i);
  solveGram(y, n, N, m);   // N m = 1
  for (int k = 0; k < n; k++) rest = dju_madd3(rest, -a[k], N[k]);
  for (int k = 0; k < n; k++) {
    djVec3 cotangent = dju_sub3(dju_scale3(y[k], rest), dju_scale3(a[k], m));
    dju_addTo3(w->normal + 3 * w->source[id[k]], 1, cotangent);
  }
}

// n = c/|c|, c the sum of (b - a) x (c - a) over the facet's triangles, of which f is one.
static void facetGrad(Work* w, int f) {
  int first = w->hull->group[f];
  djVec3 nu = dju_load3(w->normal + 3 * first), n = normalOf(w->hull, f);
  if (nu.x == 0 && nu.y == 0 && nu.z == 0) return;
  const int* v = w->hull->face + 3 * f;
  djVec3 a = vertexOf(w->hull, v[0]);
  djVec3 ab = dju_sub3(vertexOf(w->hull, v[1]), a), ac = dju_sub3(vertexOf(w->hull, v[2]), a);
  double length = w->area[first];
  if (!(length > 0)) return;
  djVec3 g = dju_scale3(1 / length, dju_madd3(nu, -dju_dot3(nu, n), n));
  djVec3 gb = dju_cross3(ac, g), gc = dju_cross3(g, ab);
  dju_addTo3(w->vert + 3 * v[0], 1, dju_neg3(dju_add3(gb, gc)));
  dju_addTo3(w->vert + 3 * v[1], 1, gb);
  dju_addTo3(w->vert + 3 * v[2], 1, gc);
}

// The vertex that fixes the facet's offset.
static int highest(const djHull* h, int facet) {
  int best = -1;
  double most = -INFINITY;
  for (int k = 0; k < 3 * h->nface; k++) {
    if (h->group[k / 3] != facet) continue;
    double height = dju_dot3(normalOf(h, facet), vertexOf(h, h->face[k]));
    if (height > most) {
      most = height;
      best = h->face[k];
    }
  }
  return best;
}

// inner = min_f n_f . (x_f - center), x_f the vertex of f farthest along n_f. Adds to *center.
static void innerGrad(Work* w, djVec3* center, double inner) {
  const djHull* h = w->hull;
  int nearest = -1;
  double least = INFINITY;
  for (int f = 0; f < h->nface; f++) {
    if (h->group[f] != f || !hasNormal(h, f)) continue;
    double depth = h->plane[4 * f + 3] - dju_dot3(normalOf(h, f), h->center);
    if (depth >= least) continue;
    least = depth;
    nearest = f;
  }
  if (inner == 0 || nearest < 0) return;
  int i = highest(h, nearest);
  djVec3 n = normalOf(h, nearest), x = vertexOf(h, i);
  dju_addTo3(w->normal + 3 * nearest, 1, dju_scale3(inner, dju_sub3(x, h->center)));
  dju_addTo3(w->vert + 3 * i, 1, dju_scale3(inner, n));
  *center = dju_madd3(*center, -inner, n);
}

// About the centre C the first moment is 0, so that dC = d(sum_f six_f (a + b + c)/4)/sum_f six_f,
// with six_f = a . (b x c) of the facet's corners seen from C.
static void centerGrad(Work* w, djVec3 cotangent) {
  const djHull* h = w->hull;
  double volume = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int f = 0; f < h->nface; f++) {
      const int* v = h->face + 3 * f;
      djVec3 x[3];
      for (int k = 0; k < 3; k++) x[k] = dju_sub3(vertexOf(h, v[k]), h->center);
      double six = dju_dot3(x[0], dju_cross3(x[1], x[2]));
      if (pass == 0) {
        volume += six;
        continue;
      }
      double along = dju_dot3(cotangent, dju_add3(x[0], dju_add3(x[1], x[2])));
      for (int k = 0; k < 3; k++) {
        djVec3 g = dju_scale3(along, dju_cross3(x[(k + 1) % 3], x[(k + 2) % 3]));
        dju_addTo3(w->vert + 3 * v[k], 1, dju_scale3(0.25 / volume, dju_madd3(g, six, cotangent)));
      }
    }
  }
}

static bool allocate(Work* w) {
  const djHull* h = w->hull;
  size_t nf = (size_t)h->nface, nv = (size_t)h->nvert;
  w->normal = calloc(1, 13 * nf * sizeof(double) + (6 * nf + nv + 1) * sizeof(int));
  if (!w->normal) return false;
  w->about = w->normal + 3 * nf;
  w->area = w->about + 9 * nf;
  w->adr = (int*)(void*)(w->area + nf);
  w->facet = w->adr + nv + 1;
  w->source = w->facet + 3 * nf;
  return true;
}

static void listFacets(Work* w) {
  const djHull* h = w->hull;
  for (int k = 0; k < 3 * h->nface; k++) w->adr[h->face[k] + 1]++;
  for (int i = 0; i < h->nvert; i++) w->adr[i + 1] += w->adr[i];
  int* at = w->source;    // not yet in use
  memcpy(at, w->adr, (size_t)h->nvert * sizeof *at);
  for (int k = 0; k < 3 * h->nface; k++) w->facet[at[h->face[k]]++] = k / 3;
}

djStatus dj_hullParams(double* vert, const djHull* hull, const djHullGrad* grad) {
  Work w = {.hull = hull, .vert = vert};
  if (!allocate(&w)) return DJ_NO_MEMORY;
  listFacets(&w);
  for (int i = 0; i < hull->nvert; i++) {
    memcpy(vert + 3 * i, grad->vert + (size_t)i * (size_t)grad->stride, 3 * sizeof(double));
  }
  for (int i = 0; i < hull->nvert; i++) {
    moveGrad(&w, i, dju_load3(grad->move + (size_t)i * (size_t)grad->stride));
  }
  djVec3 center = grad->center;
  innerGrad(&w, &center, grad->inner);
  centerGrad(&w, center);
  for (int f = 0; f < hull->nface; f++) {
    w.area[hull->group[f]] += dju_dot3(normalOf(hull, f), areaOf(hull, f));
  }
  for (int f = 0; f < hull->nface; f++) facetGrad(&w, f);
  free(w.normal);
  return DJ_OK;
}
