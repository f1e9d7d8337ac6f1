#include "common/convex.h"

#include "common/vec3.h"

#include <string.h>

// ------------------------------------------ separation -----------------------------------------

static int support(const djvConvex* c, const double d[3], double sign) {
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < c->nvert; i++) {
    double x = sign * djv_dot(c->vert[i], d);
    if (x > most) {
      most = x;
      best = i;
    }
  }
  return best;
}

// How far the ellipsoid about a point reaches along d.
static double reach(const djvConvex* c, const double d[3]) {
  double square = 0;
  for (int k = 0; k < 3 && c->curved; k++) {
    square += djv_dot(c->axis[k], d) * djv_dot(c->axis[k], d);
  }
  return sqrt(square);
}

// The farthest point along sign d (unit), without the radius.
static void farthest(double out[3], const djvConvex* c, const double d[3], double sign) {
  memcpy(out, c->vert[support(c, d, sign)], 3 * sizeof(double));
  double q = reach(c, d);
  for (int k = 0; k < 3 && c->curved; k++) {
    double t = sign * djv_dot(c->axis[k], d) / q;
    for (int i = 0; i < 3; i++) out[i] += t * c->axis[k][i];
  }
}

double djv_gapAlong(const double axis[3], const djvConvex* a, const djvConvex* b) {
  double low = djv_dot(axis, b->vert[support(b, axis, -1)]) - b->radius - reach(b, axis);
  if (a->nvert == 0) {
    return djv_dist(axis, a->normal) < 1e-12 ? low - a->offset : -INFINITY;
  }
  return low - djv_dot(axis, a->vert[support(a, axis, 1)]) - a->radius - reach(a, axis);
}

// Point of least norm of the affine hull of n <= 4 points: weights with sum 1 from the equations
// p_i . x = p_0 . x. Returns false where the points are dependent.
static bool affineLeast(double weight[4], const double p[4][3], int n) {
  double A[3][4];
  int m = n - 1;
  for (int i = 0; i < m; i++) {
    double e[3], f[3];
    djv_sub(e, p[i + 1], p[0]);
    for (int j = 0; j < m; j++) {
      djv_sub(f, p[j + 1], p[0]);
      A[i][j] = djv_dot(e, f);
    }
    A[i][m] = -djv_dot(e, p[0]);
  }
  for (int c = 0; c < m; c++) {       // elimination with row pivots
    int r = c;
    for (int i = c + 1; i < m; i++) r = fabs(A[i][c]) > fabs(A[r][c]) ? i : r;
    if (!(fabs(A[r][c]) > 1e-300)) return false;
    for (int j = c; j <= m; j++) {
      double t = A[c][j];
      A[c][j] = A[r][j];
      A[r][j] = t;
    }
    for (int i = 0; i < m; i++) {
      if (i == c) continue;
      double f = A[i][c] / A[c][c];
      for (int j = c; j <= m; j++) A[i][j] -= f * A[c][j];
    }
  }
  weight[0] = 1;
  for (int i = 0; i < m; i++) {
    weight[i + 1] = A[i][m] / A[i][i];
    weight[0] -= weight[i + 1];
  }
  return true;
}

// Wolfe's minor cycles: x becomes the point of least norm of the hull of the n points of the
// corral, which loses points without weight. lambda: weights of x before, feasible.
static void leastPoint(double x[3], double p[4][3], double lambda[4], int* n) {
  while (*n > 0) {
    double w[4];
    bool ok = affineLeast(w, (const double(*)[3])p, *n);
    double t = 1;
    int drop = -1;
    for (int i = 0; ok && i < *n; i++) {
      if (w[i] > 1e-14) continue;
      double s = lambda[i] / (lambda[i] - w[i]);
      if (s < t || drop < 0) {
        t = fmin(s, t);
        drop = i;
      }
    }
    if (!ok) drop = 0;
    for (int i = 0; ok && i < *n; i++) lambda[i] += t * (w[i] - lambda[i]);
    if (drop < 0) break;
    --*n;
    memcpy(p[drop], p[*n], 3 * sizeof(double));
    lambda[drop] = lambda[*n];
    double sum = 0;
    for (int i = 0; i < *n; i++) sum += lambda[i] = fmax(lambda[i], 0);
    for (int i = 0; i < *n; i++) lambda[i] = sum > 0 ? lambda[i] / sum : 1.0 / *n;
  }
  for (int k = 0; k < 3; k++) {
    x[k] = 0;
    for (int i = 0; i < *n; i++) x[k] += lambda[i] * p[i][k];
  }
}

double djv_separation(double axis[3], const djvConvex* a, const djvConvex* b) {
  double upper;
  return djv_bracket(&upper, axis, a, b);
}

// Wolfe's algorithm for the point of least norm of {y - x : x in a, y in b}, without radii. Every
// iterate is an axis, and the best proof of all axes is kept.
double djv_bracket(double* upper, double axis[3], const djvConvex* a, const djvConvex* b) {
  *upper = INFINITY;
  if (a->nvert == 0) {
    memcpy(axis, a->normal, sizeof a->normal);
    return *upper = djv_gapAlong(axis, a, b);
  }
  double p[4][3], lambda[4] = {1}, x[3], best = -INFINITY;
  int n = 1;
  djv_sub(p[0], b->vert[0], a->vert[0]);
  memcpy(x, p[0], sizeof x);
  for (int k = 0; k < 200; k++) {
    double len = djv_norm(x), d[3], q[3], pa[3], pb[3];
    *upper = fmin(*upper, len - a->radius - b->radius);
    if (!(len > 1e-14)) break;
    for (int i = 0; i < 3; i++) d[i] = x[i] / len;
    farthest(pa, a, d, 1);
    farthest(pb, b, d, -1);
    djv_sub(q, pb, pa);
    double low = djv_dot(q, d) - a->radius - b->radius;
    if (low > best) {
      best = low;
      memcpy(axis, d, sizeof d);
    }
    if (len - djv_dot(q, d) <= 1e-13 * (a->bound + b->bound) || n == 4) break;
    memcpy(p[n], q, sizeof q);
    lambda[n++] = 0;
    leastPoint(x, p, lambda, &n);
  }
  return best;
}

// ------------------------------------------ geoms ----------------------------------------------

// The point x with n_f . x = 1 for the c given normals that is a combination of them; returns false
// where they are dependent.
static bool equalMove(double x[3], double (*n)[3], const int* set, int c) {
  double G[3][4];
  for (int r = 0; r < c; r++) {
    for (int s = 0; s < c; s++) G[r][s] = djv_dot(n[set[r]], n[set[s]]);
    G[r][c] = 1;
  }
  for (int r = 0; r < c; r++) {
    if (!(G[r][r] > 1e-9)) return false;
    for (int s = 0; s < c; s++) {
      if (s == r) continue;
      double f = G[s][r] / G[r][r];
      for (int t = 0; t <= c; t++) G[s][t] -= f * G[r][t];
    }
  }
  for (int k = 0; k < 3; k++) {
    x[k] = 0;
    for (int r = 0; r < c; r++) x[k] += G[r][c] / G[r][r] * n[set[r]][k];
  }
  return true;
}

// The shortest m with n_f . m >= 1 for nf unit normals: the shortest of the points where one, two
// or three constraints hold as equations and the others are satisfied.
static void shortestMove(double m[3], double (*n)[3], int nf) {
  double best = INFINITY;
  for (int i = 0; i < nf; i++) {
    for (int j = i; j < nf; j++) {
      for (int k = j; k < nf; k++) {
        if (j == i && k > j) continue;          // two equations: i, j, j
        int set[3] = {i, j, k};
        double x[3];
        bool ok = equalMove(x, n, set, j == i ? 1 : k == j ? 2 : 3) && djv_dot(x, x) < best;
        for (int f = 0; f < nf && ok; f++) ok = djv_dot(n[f], x) > 1 - 1e-9;
        if (!ok) continue;
        best = djv_dot(x, x);
        memcpy(m, x, sizeof x);
      }
    }
  }
}

static void hullShape(djvGeomShape* out, const djvHull* h) {
  out->nvert = h->nvert;
  out->inner = INFINITY;
  for (int i = 0; i < h->nvert; i++) {
    double normal[DJV_MAX_VERT][3];
    int nf = 0;
    for (int f = 0; f < h->nface; f++) {
      const int* face = h->face[f];
      double e1[3], e2[3], n[3];
      djv_sub(e1, h->vert[face[1]], h->vert[face[0]]);
      djv_sub(e2, h->vert[face[2]], h->vert[face[0]]);
      djv_cross(n, e1, e2);
      double len = djv_norm(n);
      for (int k = 0; k < 3; k++) n[k] /= len;
      out->inner = fmin(out->inner, djv_dot(n, h->vert[face[0]]) - djv_dot(n, h->com));
      if (face[0] != i && face[1] != i && face[2] != i) continue;
      memcpy(normal[nf++], n, sizeof n);
    }
    memcpy(out->vert[i], h->vert[i], sizeof h->vert[i]);
    shortestMove(out->move[i], normal, nf);
  }
}

void djv_geomShape(djvGeomShape* out, const djvScene* s, int geom) {
  const djGeomDef* g = &s->geom[geom];
  memset(out, 0, sizeof *out);
  out->type = g->type;
  out->inner = g->size[0];
  if (g->type == DJ_SPHERE || g->type == DJ_CAPSULE) {
    out->nvert = g->type == DJ_SPHERE ? 1 : 2;
    out->radius = g->size[0];
    out->slope = 1;
    for (int i = 0; i < out->nvert; i++) {
      out->vert[i][2] = out->nvert == 1 ? 0 : (2 * i - 1) * g->size[1];
    }
  } else if (g->type == DJ_ELLIPSOID) {
    out->nvert = 1;
    out->inner = fmin(g->size[0], fmin(g->size[1], g->size[2]));
    for (int k = 0; k < 3; k++) {
      out->axes[k] = g->size[k];
      out->thin[k] = 1;
    }
  } else if (g->type == DJ_CYLINDER) {   // two discs, see core/src/model/geom_rows.c
    double r = g->size[0], h = g->size[1], t = 0.02 * r * h / (r + h);
    out->nvert = 2;
    out->inner = fmin(r, h);
    out->axes[0] = out->axes[1] = r;
    out->thin[0] = out->thin[1] = 1;
    out->axes[2] = t;
    for (int i = 0; i < 2; i++) {
      out->move[i][2] = 2 * i - 1;
      out->vert[i][2] = (2 * i - 1) * (h - t);
    }
  } else if (g->type == DJ_BOX) {
    out->nvert = 8;
    out->inner = fmin(g->size[0], fmin(g->size[1], g->size[2]));
    for (int i = 0; i < 8; i++) {
      for (int k = 0; k < 3; k++) {
        out->move[i][k] = i >> k & 1 ? 1 : -1;
        out->vert[i][k] = out->move[i][k] * g->size[k];
      }
    }
  } else if (g->type == DJ_MESH) {
    hullShape(out, &s->hull[g->mesh]);
  }
}

void djv_placeShape(djvConvex* out, const djvGeomShape* shape, double erosion,
                    const double pos[3], const double mat[9]) {
  out->nvert = shape->nvert;
  out->radius = shape->radius - shape->slope * erosion;
  if (shape->type == DJ_PLANE) {
    for (int k = 0; k < 3; k++) out->normal[k] = mat[3 * k + 2];
    out->offset = djv_dot(out->normal, pos) - erosion;
    out->bound = INFINITY;
    return;
  }
  memcpy(out->centre, pos, 3 * sizeof(double));
  out->bound = 0;
  out->curved = shape->axes[0] > 0;
  double round = out->radius;
  for (int k = 0; k < 3 && out->curved; k++) {
    double size = shape->axes[k] - erosion * shape->thin[k];
    round = fmax(round, out->radius + size);
    for (int i = 0; i < 3; i++) out->axis[k][i] = size * mat[3 * i + k];
  }
  for (int i = 0; i < shape->nvert; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) x[k] = shape->vert[i][k] - erosion * shape->move[i][k];
    djv_transform(out->vert[i], pos, mat, x);
    out->bound = fmax(out->bound, djv_norm(x) + round);
  }
}

double djv_lowest(const djvConvex* a) {
  double low = INFINITY, z[3] = {0, 0, 1}, more = a->radius + reach(a, z);
  for (int i = 0; i < a->nvert; i++) low = fmin(low, a->vert[i][2] - more);
  return low;
}
