#include "codesign_chains/ipc.h"

#include "codesign_chains/project.h"
#include "common/report.h"
#include "common/vec3.h"

#include <math.h>
#include <string.h>

// ---- hulls --------------------------------------------------------------------------------------

static double above(const double* v, int i, int j, int k, int p) {
  double e1[3], e2[3], n[3], r[3];
  djv_sub(e1, v + 3 * j, v + 3 * i);
  djv_sub(e2, v + 3 * k, v + 3 * i);
  djv_cross(n, e1, e2);
  djv_sub(r, v + 3 * p, v + 3 * i);
  return djv_dot(n, r);
}

static void addFace(IpcHull* h, int i, int j, int k) {
  if (h->nface == 2 * h->nvert) djv_fail("ipc: more faces than a hull has");
  int* f = h->face[h->nface++];
  f[0] = i, f[1] = j, f[2] = k;
}

// Of a surface with the points before, what p sees gives way to a cone over its rim.
static void addPoint(IpcHull* h, const double* v, int p) {
  static bool rim[IPC_MAX_VERT][IPC_MAX_VERT];
  int left = 0;
  memset(rim, 0, sizeof rim);
  for (int f = 0; f < h->nface; f++) {
    const int* t = h->face[f];
    if (above(v, t[0], t[1], t[2], p) > 0) {
      for (int k = 0; k < 3; k++) rim[t[k]][t[(k + 1) % 3]] = true;
    } else {
      memmove(h->face[left++], t, sizeof h->face[0]);
    }
  }
  h->nface = left;
  for (int i = 0; i < p; i++) {
    for (int j = 0; j < p; j++) {
      if (rim[i][j] && !rim[j][i]) addFace(h, i, j, p);
    }
  }
}

void ipc_makeHull(IpcHull* h, int n, const double* vert) {
  if (n > IPC_MAX_VERT) djv_fail("ipc: %d vertices are too many", n);
  *h = (IpcHull){.nvert = n};
  const bool up = above(vert, 0, 1, 2, 3) > 0;
  const int base[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  for (int f = 0; f < 4; f++) addFace(h, base[f][0], base[f][up ? 1 : 2], base[f][up ? 2 : 1]);
  for (int p = 4; p < n; p++) addPoint(h, vert, p);
  for (int f = 0; f < h->nface; f++) {
    for (int k = 0; k < 3; k++) {
      const int i = h->face[f][k], j = h->face[f][(k + 1) % 3];
      if (i > j) continue;
      double e[3];
      djv_sub(e, vert + 3 * j, vert + 3 * i);
      h->scale[h->nedge] = djv_dot(e, e);
      h->edge[h->nedge][0] = i;
      h->edge[h->nedge++][1] = j;
    }
  }
  if (h->nface != 2 * n - 4 || h->nedge != 3 * n - 6) djv_fail("ipc: points inside their hull");
}

// ---- squared distances --------------------------------------------------------------------------
//
// Each is a function of differences of vertices, by which it has a gradient and a Hessian; a matrix
// of coefficients, which are -1, 0, 1, takes these to the four vertices.

typedef struct Distance {
  int n;                 // differences: 1 to 3
  double d, g[9], H[81]; // n x 3 numbers, rows of 9
  double coef[3][4];
} Distance;

static void addCross(double H[81], int i, int j, const double a[3], double f) {
  // f times the matrix of v -> a x v, and its transpose at (j, i)
  const double M[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      H[9 * (3 * i + r) + 3 * j + c] += f * M[3 * r + c];
      H[9 * (3 * j + c) + 3 * i + r] += f * M[3 * r + c];
    }
  }
}

// Of two points: |w|^2.
static void pointPoint(Distance* out, const double w[3]) {
  out->n = 1;
  out->d = djv_dot(w, w);
  for (int k = 0; k < 3; k++) {
    out->g[k] = 2 * w[k];
    for (int c = 0; c < 3; c++) out->H[9 * k + c] = k == c ? 2 : 0;
  }
}

// Of a point and a line: |w|^2 - (w.u)^2/|u|^2.
static void pointLine(Distance* out, const double w[3], const double u[3]) {
  const double p = djv_dot(w, u), q = djv_dot(u, u), t = p / q;
  out->n = 2;
  out->d = djv_dot(w, w) - p * t;
  for (int k = 0; k < 3; k++) {
    out->g[k] = 2 * (w[k] - t * u[k]);
    out->g[3 + k] = -2 * t * (w[k] - t * u[k]);
  }
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      const double one = r == c;
      const double dt = (w[c] - 2 * t * u[c]) / q; // of t by u
      out->H[9 * r + c] = 2 * (one - u[r] * u[c] / q);
      out->H[9 * r + 3 + c] = out->H[9 * (3 + c) + r] = -2 * (dt * u[r] + t * one);
      out->H[9 * (3 + r) + 3 + c] = -2 * (dt * (w[r] - 2 * t * u[r]) - t * t * one);
    }
  }
}

// Of a point and a plane, or of two lines: (w.(u x v))^2/|u x v|^2.
static void pointPlane(Distance* out, const double w[3], const double u[3], const double v[3]) {
  double ds[9], dq[9] = {0}, *H = out->H;
  djv_cross(ds, u, v);
  djv_cross(ds + 3, v, w);
  djv_cross(ds + 6, w, u);
  const double s = djv_dot(w, ds), q = djv_dot(ds, ds), f = s / q;
  const double uu = djv_dot(u, u), vv = djv_dot(v, v), uv = djv_dot(u, v);
  for (int k = 0; k < 3; k++) {
    dq[3 + k] = 2 * (vv * u[k] - uv * v[k]);
    dq[6 + k] = 2 * (uu * v[k] - uv * u[k]);
  }
  out->n = 3;
  out->d = s * f;
  for (int i = 0; i < 9; i++) {
    out->g[i] = f * (2 * ds[i] - f * dq[i]);
    for (int j = 0; j < 9; j++) {
      H[9 * i + j] = 2 / q * (ds[i] - f * dq[i]) * (ds[j] - f * dq[j]);
    }
  }
  addCross(H, 0, 1, v, -2 * f);
  addCross(H, 0, 2, u, 2 * f);
  addCross(H, 1, 2, w, -2 * f);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      const double one = r == c;
      H[9 * (3 + r) + 3 + c] -= 2 * f * f * (vv * one - v[r] * v[c]);
      H[9 * (6 + r) + 6 + c] -= 2 * f * f * (uu * one - u[r] * u[c]);
      const double across = 2 * f * f * (2 * u[r] * v[c] - v[r] * u[c] - uv * one);
      H[9 * (3 + r) + 6 + c] -= across;
      H[9 * (6 + c) + 3 + r] -= across;
    }
  }
}

static void setCoef(Distance* out, int i, int to, int from) {
  for (int k = 0; k < 4; k++) out->coef[i][k] = (k == to) - (k == from);
}

static void twoPoints(Distance* out, const double* const x[4], int i, int j) {
  double w[3];
  djv_sub(w, x[i], x[j]);
  pointPoint(out, w);
  setCoef(out, 0, i, j);
}

static void pointAtLine(Distance* out, const double* const x[4], int i, int j, int k) {
  double w[3], u[3];
  djv_sub(w, x[i], x[j]);
  djv_sub(u, x[k], x[j]);
  pointLine(out, w, u);
  setCoef(out, 0, i, j);
  setCoef(out, 1, k, j);
}

// Part of the way from x[j] to x[k] at which x[i] is nearest to their line.
static double along(const double* const x[4], int i, int j, int k) {
  double w[3], u[3];
  djv_sub(w, x[i], x[j]);
  djv_sub(u, x[k], x[j]);
  return djv_dot(w, u) / djv_dot(u, u);
}

// A point and a segment.
static void pointSegment(Distance* out, const double* const x[4], int i, int j, int k) {
  const double t = along(x, i, j, k);
  if (t <= 0)
    twoPoints(out, x, i, j);
  else if (t >= 1)
    twoPoints(out, x, i, k);
  else
    pointAtLine(out, x, i, j, k);
}

// x[0] and the triangle of the others: by its nearest part.
static void pointTriangle(Distance* out, const double* const x[4]) {
  double u[3], v[3], w[3], n[3], across[3];
  djv_sub(u, x[2], x[1]);
  djv_sub(v, x[3], x[1]);
  djv_sub(w, x[0], x[1]);
  djv_cross(n, u, v);
  int outside = 0;
  Distance found = {.d = INFINITY};
  for (int k = 0; k < 3; k++) {
    const int i = 1 + k, j = 1 + (k + 1) % 3;
    double e[3], r[3];
    djv_sub(e, x[j], x[i]);
    djv_sub(r, x[0], x[i]);
    djv_cross(across, n, e);
    if (djv_dot(across, r) >= 0) continue;
    outside++;
    Distance edge;
    pointSegment(&edge, x, 0, i, j);
    if (edge.d < found.d) found = edge;
  }
  if (outside) {
    *out = found;
    return;
  }
  pointPlane(out, w, u, v);
  setCoef(out, 0, 0, 1);
  setCoef(out, 1, 2, 1);
  setCoef(out, 2, 3, 1);
}

// Segments of x[0], x[1] and of x[2], x[3].
static void twoEdges(Distance* out, const double* const x[4]) {
  double u[3], v[3], w[3];
  djv_sub(u, x[1], x[0]);
  djv_sub(v, x[3], x[2]);
  djv_sub(w, x[2], x[0]);
  const double uu = djv_dot(u, u), vv = djv_dot(v, v), uv = djv_dot(u, v);
  const double uw = djv_dot(u, w), vw = djv_dot(v, w), q = uu * vv - uv * uv;
  const double s = uw * vv - vw * uv, t = uw * uv - vw * uu; // times q
  if (q > 1e-14 * uu * vv && s > 0 && s < q && t > 0 && t < q) {
    pointPlane(out, w, u, v);
    setCoef(out, 0, 2, 0);
    setCoef(out, 1, 1, 0);
    setCoef(out, 2, 3, 2);
    return;
  }
  static const int end[4][3] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}};
  out->d = INFINITY;
  for (int k = 0; k < 4; k++) {
    Distance one;
    pointSegment(&one, x, end[k][0], end[k][1], end[k][2]);
    if (one.d < out->d) *out = one;
  }
}

// ---- the barrier --------------------------------------------------------------------------------

// -(d - D)^2 ln(d/D) and its derivatives.
static double barrier(double* first, double* second, double d, double D) {
  const double y = d - D, l = log(d / D);
  *first = -y * (2 * l + y / d);
  *second = -2 * l - 4 * y / d + y * y / (d * d);
  return -y * y * l;
}

// g (12), H (144) by four vertices of one by n differences.
static void toVertices(double g[12], double H[144], const Distance* x) {
  for (int p = 0; p < 4; p++) {
    for (int k = 0; k < 3; k++) {
      g[3 * p + k] = 0;
      for (int i = 0; i < x->n; i++) g[3 * p + k] += x->coef[i][p] * x->g[3 * i + k];
    }
    for (int q = 0; q <= p; q++) {
      double B[9] = {0};
      for (int i = 0; i < x->n; i++) {
        for (int j = 0; j < x->n; j++) {
          const double c = x->coef[i][p] * x->coef[j][q];
          if (c == 0) continue;
          for (int k = 0; k < 9; k++) B[k] += c * x->H[9 * (3 * i + k / 3) + 3 * j + k % 3];
        }
      }
      for (int k = 0; k < 9; k++) {
        H[12 * (3 * p + k / 3) + 3 * q + k % 3] = B[k];
        H[12 * (3 * q + k % 3) + 3 * p + k / 3] = B[k];
      }
    }
  }
}

// IPC's factor of nearly parallel edges, of c = |u x v|^2: c/e (2 - c/e) below e. Multiplies value,
// gradient and Hessian, where it acts.
static bool mollify(double* value, double g[12], double H[144], const double* const x[4],
                    double e) {
  double u[3], v[3], gc[12], Hc[144];
  djv_sub(u, x[1], x[0]);
  djv_sub(v, x[3], x[2]);
  const double uu = djv_dot(u, u), vv = djv_dot(v, v), uv = djv_dot(u, v), c = uu * vv - uv * uv;
  if (c >= e) return false;
  Distance y = {.n = 2};
  for (int r = 0; r < 3; r++) {
    y.g[r] = 2 * (vv * u[r] - uv * v[r]);
    y.g[3 + r] = 2 * (uu * v[r] - uv * u[r]);
    for (int k = 0; k < 3; k++) {
      const double one = r == k;
      y.H[9 * r + k] = 2 * (vv * one - v[r] * v[k]);
      y.H[9 * (3 + r) + 3 + k] = 2 * (uu * one - u[r] * u[k]);
      y.H[9 * r + 3 + k] = 2 * (2 * u[r] * v[k] - v[r] * u[k] - uv * one);
      y.H[9 * (3 + k) + r] = y.H[9 * r + 3 + k];
    }
  }
  setCoef(&y, 0, 1, 0);
  setCoef(&y, 1, 3, 2);
  toVertices(gc, Hc, &y);
  const double m = c / e * (2 - c / e), m1 = 2 / e * (1 - c / e), m2 = -2 / (e * e);
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < 12; j++) {
      H[12 * i + j] = m * H[12 * i + j] + m1 * (g[i] * gc[j] + gc[i] * g[j]) +
                      *value * (m1 * Hc[12 * i + j] + m2 * gc[i] * gc[j]);
    }
  }
  for (int i = 0; i < 12; i++) g[i] = m * g[i] + *value * m1 * gc[i];
  *value *= m;
  return true;
}

// A block by those vertices that its distance depends on.
static void projectBlock(double H[144], const bool used[4]) {
  int index[12], n = 0;
  double A[144];
  for (int i = 0; i < 12; i++) {
    if (used[i / 3]) index[n++] = i;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) A[i * n + j] = H[12 * index[i] + index[j]];
  }
  project_semidefinite(A, n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) H[12 * index[i] + index[j]] = A[i * n + j];
  }
}

// One pair of primitives; parallel: 0, or the mollifier's limit of two edges.
static double addPair(Ipc* out, const int vert[4], const double* const x[4], double D,
                      double parallel) {
  Distance y;
  out->npair++;
  if (parallel > 0)
    twoEdges(&y, x);
  else
    pointTriangle(&y, x);
  out->least = fmin(out->least, y.d);
  if (y.d >= D) return 0;
  if (out->nblock == IPC_MAX_BLOCK) djv_fail("ipc: more than %d near pairs", IPC_MAX_BLOCK);
  IpcBlock* block = &out->block[out->nblock++];
  memcpy(block->vert, vert, sizeof block->vert);
  double first, second, g[12], value = barrier(&first, &second, y.d, D);
  const int n = 3 * y.n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      y.H[9 * i + j] = first * y.H[9 * i + j] + second * y.g[i] * y.g[j];
    }
  }
  for (int i = 0; i < n; i++) y.g[i] *= first;
  toVertices(g, block->hessian, &y);
  const bool eased = parallel > 0 && mollify(&value, g, block->hessian, x, parallel);
  if (out->project) {
    bool used[4];
    for (int p = 0; p < 4; p++) {
      used[p] = eased;
      for (int i = 0; i < y.n; i++) used[p] = used[p] || y.coef[i][p] != 0;
    }
    projectBlock(block->hessian, used);
  }
  for (int i = 0; i < 12; i++) out->gradient[3 * vert[i / 3] + i % 3] += g[i];
  return value;
}

// ---- broad phase --------------------------------------------------------------------------------

typedef struct Box {
  int id;
  double low[3], high[3];
} Box;

static bool isNear(const Box* a, const Box* b) {
  return a->low[0] <= b->high[0] && b->low[0] <= a->high[0] && a->low[1] <= b->high[1] &&
         b->low[1] <= a->high[1] && a->low[2] <= b->high[2] && b->low[2] <= a->high[2];
}

static Box boxOf(int id, int n, const int* vert, const double* v, double grow) {
  Box b = {.id = id};
  for (int k = 0; k < 3; k++) {
    b.low[k] = b.high[k] = v[3 * vert[0] + k];
    for (int i = 1; i < n; i++) {
      const double x = v[3 * vert[i] + k];
      b.low[k] = x < b.low[k] ? x : b.low[k];
      b.high[k] = x > b.high[k] ? x : b.high[k];
    }
    b.low[k] -= grow;
    b.high[k] += grow;
  }
  return b;
}

// Parts of a hull that lie near the other's box.
typedef struct Near {
  int nvert, nface, nedge;
  Box vert[IPC_MAX_VERT], face[2 * IPC_MAX_VERT], edge[3 * IPC_MAX_VERT];
} Near;

static void findNear(Near* out, const IpcHull* h, const double* v, const Box* other, double grow) {
  int marked[IPC_MAX_VERT];
  out->nvert = out->nface = out->nedge = 0;
  for (int i = 0; i < h->nvert; i++) {
    const Box b = boxOf(i, 1, &i, v, grow);
    marked[i] = 0; // sides of the other's box on which it lies
    for (int k = 0; k < 3; k++) {
      marked[i] |= (b.low[k] > other->high[k]) << (2 * k) | (b.high[k] < other->low[k])
                                                                << (2 * k + 1);
    }
    if (!marked[i]) out->vert[out->nvert++] = b;
  }
  for (int f = 0; f < h->nface; f++) {
    const int* t = h->face[f];
    if (marked[t[0]] & marked[t[1]] & marked[t[2]]) continue;
    out->face[out->nface++] = boxOf(f, 3, t, v, grow);
  }
  for (int e = 0; e < h->nedge; e++) {
    const int* t = h->edge[e];
    if (marked[t[0]] & marked[t[1]]) continue;
    out->edge[out->nedge++] = boxOf(e, 2, t, v, grow);
  }
}

static Box wholeBox(const IpcHull* h, const double* v) {
  int all[IPC_MAX_VERT];
  for (int i = 0; i < h->nvert; i++) all[i] = i;
  return boxOf(0, h->nvert, all, v, 0);
}

// Vertices of one hull against faces of the other; offsets in the list of all vertices.
static double vertexFaces(Ipc* out, const Near* p, const double* vp, int at_p, const Near* q,
                          const IpcHull* hull, const double* vq, int at_q, double D) {
  double sum = 0;
  for (int i = 0; i < p->nvert; i++) {
    for (int f = 0; f < q->nface; f++) {
      if (!isNear(&p->vert[i], &q->face[f])) continue;
      const int a = p->vert[i].id, *t = hull->face[q->face[f].id];
      const int vert[4] = {at_p + a, at_q + t[0], at_q + t[1], at_q + t[2]};
      const double* const x[4] = {vp + 3 * a, vq + 3 * t[0], vq + 3 * t[1], vq + 3 * t[2]};
      sum += addPair(out, vert, x, D, 0);
    }
  }
  return sum;
}

double ipc_evaluate(Ipc* out, const IpcHull* a, const double* va, const IpcHull* b,
                    const double* vb, double dhat) {
  static Near near[2];
  const double D = dhat * dhat, grow = dhat / 2;
  const Box whole[2] = {wholeBox(a, va), wholeBox(b, vb)};
  Box grown[2] = {whole[0], whole[1]};
  for (int k = 0; k < 6; k++) {
    grown[k / 3].low[k % 3] -= grow;
    grown[k / 3].high[k % 3] += grow;
  }
  out->npair = out->nblock = 0;
  out->least = INFINITY;
  memset(out->gradient, 0, 3 * (size_t)(a->nvert + b->nvert) * sizeof(double));
  findNear(&near[0], a, va, &grown[1], grow);
  findNear(&near[1], b, vb, &grown[0], grow);
  double sum = vertexFaces(out, &near[0], va, 0, &near[1], b, vb, a->nvert, D) +
               vertexFaces(out, &near[1], vb, a->nvert, &near[0], a, va, 0, D);
  for (int i = 0; i < near[0].nedge; i++) {
    for (int j = 0; j < near[1].nedge; j++) {
      if (!isNear(&near[0].edge[i], &near[1].edge[j])) continue;
      const int ea = near[0].edge[i].id, eb = near[1].edge[j].id;
      const int *s = a->edge[ea], *t = b->edge[eb];
      const int vert[4] = {s[0], s[1], a->nvert + t[0], a->nvert + t[1]};
      const double* const x[4] = {va + 3 * s[0], va + 3 * s[1], vb + 3 * t[0], vb + 3 * t[1]};
      sum += addPair(out, vert, x, D, 1e-3 * a->scale[ea] * b->scale[eb]);
    }
  }
  return sum;
}

// ---- by poses -----------------------------------------------------------------------------------

static void cross(double out[3], const double a[3], const double b[3]) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = a[i] * b[j] - a[j] * b[i];
  }
}

// J^T H J with dx = t + w x r of each vertex, (w x r) . h = w . (r x h).
static void addBlock(double hessian[144], const double H[144], const double r[4][3],
                     const int body[4]) {
  double HJ[12][12] = {{0}}, turned[3];
  for (int i = 0; i < 12; i++) {
    for (int q = 0; q < 4; q++) {
      const double* h = H + 12 * i + 3 * q;
      double* to = HJ[i] + 6 * body[q];
      cross(turned, r[q], h);
      for (int k = 0; k < 3; k++) to[k] += h[k];
      for (int k = 0; k < 3; k++) to[3 + k] += turned[k];
    }
  }
  for (int p = 0; p < 4; p++) {
    double* to = hessian + 72 * body[p];
    const double *x = HJ[3 * p], *y = HJ[3 * p + 1], *z = HJ[3 * p + 2];
    for (int j = 0; j < 12; j++) {
      to[j] += x[j];
      to[12 + j] += y[j];
      to[24 + j] += z[j];
      to[36 + j] += r[p][1] * z[j] - r[p][2] * y[j];
      to[48 + j] += r[p][2] * x[j] - r[p][0] * z[j];
      to[60 + j] += r[p][0] * y[j] - r[p][1] * x[j];
    }
  }
}

// A rotation's second order is (w (w . r) - r w . w)/2.
void ipc_byPoses(double gradient[12], double hessian[144], const Ipc* out, const double at[6],
                 const IpcHull* a, const double* va, const IpcHull* b, const double* vb) {
  memset(gradient, 0, 12 * sizeof *gradient);
  memset(hessian, 0, 144 * sizeof *hessian);
  for (int n = 0; n < out->nblock; n++) {
    const IpcBlock* block = &out->block[n];
    double r[4][3];
    int body[4];
    for (int p = 0; p < 4; p++) {
      const int i = block->vert[p];
      body[p] = i >= a->nvert;
      for (int k = 0; k < 3; k++) {
        r[p][k] = (body[p] ? vb[3 * (i - a->nvert) + k] : va[3 * i + k]) - at[3 * body[p] + k];
      }
    }
    addBlock(hessian, block->hessian, (const double(*)[3])r, body);
  }
  for (int i = 0; i < a->nvert + b->nvert; i++) {
    const int body = i >= a->nvert;
    const double* g = out->gradient + 3 * i;
    double r[3], turned[3], along = 0;
    if (g[0] == 0 && g[1] == 0 && g[2] == 0) continue;
    for (int k = 0; k < 3; k++) {
      r[k] = (body ? vb[3 * (i - a->nvert) + k] : va[3 * i + k]) - at[3 * body + k];
      along += g[k] * r[k];
    }
    cross(turned, r, g);
    for (int k = 0; k < 3; k++) {
      gradient[6 * body + k] += g[k];
      gradient[6 * body + 3 + k] += turned[k];
      for (int j = 0; j < 3; j++) {
        hessian[12 * (6 * body + 3 + k) + 6 * body + 3 + j] +=
            0.5 * (g[k] * r[j] + r[k] * g[j]) - (k == j ? along : 0);
      }
    }
  }
}
