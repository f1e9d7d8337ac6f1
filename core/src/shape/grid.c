// Values of a grid, and its way beyond the box: with q_i >= 0 what x_i is beyond the box's face in
// widths of the band about it, and s the quintic that rises from 0 to 1 with two derivatives,
//
//   d = K f + (1 - K) G,  K = prod (1 - s(q_i)),  G^2 = sum ramp(q_i)^2                       (3)
//
// where f is the spline and ramp' = 3 q^2 - 2 q^3, then 1: a lower bound of q.

#include "shape/grid.h"

#include <string.h>

#define BAND 2.0 // width of the band, in cells
// |f - exact| of (1) is at most this many cells where f is exact at nodes, as the distance has
// Lipschitz constant 1: the greatest sum of |weight of a node| times its distance, 1.992.
#define SLACK 2.0

// Cubic B-splines at u in [0, 1] of the four nodes about, and their derivatives.
static void splines(double b[4], double db[4], double ddb[4], double u) {
  double v = 1 - u;
  b[0] = v * v * v / 6;
  b[1] = (3 * u - 6) * u * u / 6 + 2.0 / 3;
  b[2] = (3 * v - 6) * v * v / 6 + 2.0 / 3;
  b[3] = u * u * u / 6;
  db[0] = -0.5 * v * v;
  db[1] = (1.5 * u - 2) * u;
  db[2] = (2 - 1.5 * v) * v;
  db[3] = 0.5 * u * u;
  ddb[0] = v;
  ddb[1] = 3 * u - 2;
  ddb[2] = 3 * v - 2;
  ddb[3] = u;
}

typedef struct Stencil {
  int first[3];                        // node
  double b[3][4], db[3][4], ddb[3][4]; // by the coordinate in cells
} Stencil;

static void makeStencil(Stencil* s, const djGrid* grid, const double x[3]) {
  for (int k = 0; k < 3; k++) {
    double u = (x[k] - grid->low[k]) / grid->h[k], most = grid->n[k] - 3;
    double cell = fmin(fmax(floor(u), 1), most);
    s->first[k] = (int)cell - 1;
    splines(s->b[k], s->db[k], s->ddb[k], u - cell);
  }
}

// (1): value, gradient, Hessian.
static double spline(double g[3], double H[6], const djGrid* grid, const Stencil* s) {
  double value = 0;
  memset(g, 0, 3 * sizeof *g);
  memset(H, 0, 6 * sizeof *H);
  const double *bz = s->b[2], *dz = s->db[2], *ddz = s->ddb[2];
  for (int i = 0; i < 4; i++) {
    // sums over y and z: 0, y, z, yy, yz, zz
    double sum[6] = {0, 0, 0, 0, 0, 0};
    for (int j = 0; j < 4; j++) {
      size_t row = (size_t)(s->first[0] + i) * (size_t)grid->n[1] + (size_t)(s->first[1] + j);
      const double* c = grid->coef + row * (size_t)grid->n[2] + s->first[2];
      double p = c[0] * bz[0] + c[1] * bz[1] + c[2] * bz[2] + c[3] * bz[3];
      double q = c[0] * dz[0] + c[1] * dz[1] + c[2] * dz[2] + c[3] * dz[3];
      double r = c[0] * ddz[0] + c[1] * ddz[1] + c[2] * ddz[2] + c[3] * ddz[3];
      double b = s->b[1][j], d = s->db[1][j];
      sum[0] += b * p;
      sum[1] += d * p;
      sum[2] += b * q;
      sum[3] += s->ddb[1][j] * p;
      sum[4] += d * q;
      sum[5] += b * r;
    }
    double b = s->b[0][i], d = s->db[0][i];
    value += b * sum[0];
    g[0] += d * sum[0];
    g[1] += b * sum[1];
    g[2] += b * sum[2];
    H[0] += s->ddb[0][i] * sum[0];
    H[1] += d * sum[1];
    H[2] += d * sum[2];
    H[3] += b * sum[3];
    H[4] += b * sum[4];
    H[5] += b * sum[5];
  }
  const double* h = grid->h;
  for (int i = 0, m = 0; i < 3; i++) {
    g[i] /= h[i];
    for (int j = i; j < 3; j++, m++) H[m] /= h[i] * h[j];
  }
  return value;
}

// ------------------------------------------ beyond the box -------------------------------------

// Of an axis: 1 - s(q) and ramp(q) with two derivatives each by x.
typedef struct Side {
  double keep[3], ramp[3];
} Side;

static void makeSide(Side* side, double x, double middle, double half, double width) {
  double beyond = fabs(x - middle) - half, sign = x < middle ? -1 : 1, q = beyond / width;
  *side = (Side){.keep = {1}};
  if (!(q > 0)) return;
  if (q >= 1) {
    *side = (Side){.keep = {0}, .ramp = {beyond - width / 2, sign}};
    return;
  }
  double p = 1 - q;
  side->keep[0] = p * p * p * (1 + q * (3 + 6 * q));
  side->keep[1] = -30 * q * q * p * p / width * sign;
  side->keep[2] = -60 * q * p * (1 - 2 * q) / (width * width);
  side->ramp[0] = width * q * q * q * (1 - q / 2);
  side->ramp[1] = q * q * (3 - 2 * q) * sign;
  side->ramp[2] = 6 * q * p / width;
}

// The product of keep over the axes.
static double keepAll(double g[3], double H[6], const Side side[3]) {
  const double *a = side[0].keep, *b = side[1].keep, *c = side[2].keep;
  g[0] = a[1] * b[0] * c[0];
  g[1] = a[0] * b[1] * c[0];
  g[2] = a[0] * b[0] * c[1];
  H[0] = a[2] * b[0] * c[0];
  H[1] = a[1] * b[1] * c[0];
  H[2] = a[1] * b[0] * c[1];
  H[3] = a[0] * b[2] * c[0];
  H[4] = a[0] * b[1] * c[1];
  H[5] = a[0] * b[0] * c[2];
  return a[0] * b[0] * c[0];
}

// G of (3).
static double farAway(double g[3], double H[6], const Side side[3]) {
  double square = 0;
  for (int k = 0; k < 3; k++) square += side[k].ramp[0] * side[k].ramp[0];
  double G = sqrt(square);
  memset(g, 0, 3 * sizeof *g);
  memset(H, 0, 6 * sizeof *H);
  if (!(G > 1e-100)) return 0;
  for (int k = 0; k < 3; k++) g[k] = side[k].ramp[0] * side[k].ramp[1] / G;
  const int diagonal[3] = {0, 3, 5};
  for (int k = 0; k < 3; k++) {
    const double* r = side[k].ramp;
    H[diagonal[k]] = (r[1] * r[1] + r[0] * r[2]) / G;
  }
  for (int i = 0, m = 0; i < 3; i++) {
    for (int j = i; j < 3; j++, m++) H[m] -= g[i] * g[j] / G;
  }
  return G;
}

static void makeSides(Side side[3], const djGrid* grid, const double x[3]) {
  for (int k = 0; k < 3; k++) {
    makeSide(&side[k], x[k], grid->box[k], grid->box[3 + k], BAND * grid->h[k]);
  }
}

static bool isInBox(const djGrid* grid, const double x[3]) {
  bool in = true;
  for (int k = 0; k < 3; k++) in = in && fabs(x[k] - grid->box[k]) <= grid->box[3 + k];
  return in;
}

double dj_gridAt(double gradient[3], double hessian[6], const djGrid* grid, const double x[3]) {
  double g[3], H[6], gk[3], Hk[6], gG[3], HG[6], K = 1, f = 0;
  Side side[3];
  Stencil s;
  bool in = isInBox(grid, x);
  if (!in) {
    makeSides(side, grid, x);
    K = keepAll(gk, Hk, side);
  }
  memset(g, 0, sizeof g);
  memset(H, 0, sizeof H);
  if (K > 0) {
    makeStencil(&s, grid, x);
    f = spline(g, H, grid, &s);
  }
  if (!in) {
    double G = farAway(gG, HG, side);
    for (int i = 0, m = 0; i < 3; i++) {
      for (int j = i; j < 3; j++, m++) {
        H[m] = HG[m] + K * (H[m] - HG[m]) + Hk[m] * (f - G) + gk[i] * (g[j] - gG[j]) +
               gk[j] * (g[i] - gG[i]);
      }
    }
    for (int i = 0; i < 3; i++) g[i] = gG[i] + K * (g[i] - gG[i]) + gk[i] * (f - G);
    f = G + K * (f - G);
  }
  if (gradient) memcpy(gradient, g, sizeof g);
  if (hessian) memcpy(hessian, H, sizeof H);
  return f;
}

// In the box d is at least f(x') - L r, and f(x') - r less the error twice, with x' the nearest
// point of the box; beyond it is at least 0, and G - r.
double dj_gridBound(const djGrid* grid, const double x[3], double radius) {
  double near[3], g[3], H[6], out2 = 0;
  bool within = true;
  for (int k = 0; k < 3; k++) {
    double r = x[k] - grid->box[k], half = grid->box[3 + k];
    near[k] = grid->box[k] + fmin(fmax(r, -half), half);
    out2 += (x[k] - near[k]) * (x[k] - near[k]);
    within = within && fabs(r) + radius <= half;
  }
  if (out2 > radius * radius) {
    Side side[3];
    makeSides(side, grid, x);
    return fmax(farAway(g, H, side) - radius, 0);
  }
  Stencil s;
  makeStencil(&s, grid, near);
  double f = spline(g, H, grid, &s);
  double low = f - fmin(grid->lipschitz * radius,
                        radius + 2 * SLACK * fmax(grid->h[0], fmax(grid->h[1], grid->h[2])));
  return within ? low : fmin(low, 0);
}

// ------------------------------------------ by vertices ----------------------------------------

// Q of (2) along an axis of n nodes; at its ends c = f.
static double smoothing(int node, int n, int offset) {
  if (node == 0 || node == n - 1) return offset == 0;
  return offset == 0 ? 8.0 / 6 : -1.0 / 6;
}

// Nearer nodes have the normal of the triangle, by part of the spacing.
#define ON_SURFACE 1e-9

// Adds by_f df/dvertices of a node.
static void addNode(double* vert, const djGrid* grid, const int node[3], double by_f) {
  size_t row = (size_t)node[0] * (size_t)grid->n[1] + (size_t)node[1];
  size_t at = row * (size_t)grid->n[2] + (size_t)node[2];
  bool inside = grid->near[at] < 0;
  int t = inside ? ~grid->near[at] : grid->near[at];
  const int* v = grid->tri + 3 * (size_t)t;
  double l1 = grid->bary[2 * at], l2 = grid->bary[2 * at + 1];
  const double l[3] = {1 - l1 - l2, l1, l2};
  djVec3 away = {grid->low[0] + node[0] * grid->h[0], grid->low[1] + node[1] * grid->h[1],
                 grid->low[2] + node[2] * grid->h[2]};
  for (int k = 0; k < 3; k++) away = dju_madd3(away, -l[k], dju_load3(grid->vert + 3 * v[k]));
  double length = dju_norm3(away);
  djVec3 n = dju_load3(grid->normal + 3 * (size_t)t);
  if (length > ON_SURFACE * grid->h[0]) n = dju_scale3((inside ? -1 : 1) / length, away);
  for (int k = 0; k < 3; k++) dju_addTo3(vert + 3 * v[k], -l[k] * by_f, n);
}

void dj_gridVertices(double* vert, const djGrid* grid, const double x[3], double by_value,
                     const double by_gradient[3]) {
  double gk[3], Hk[6], K = 1, by_f[6][6][6] = {{{0}}};
  Side side[3];
  Stencil s;
  if (!isInBox(grid, x)) {
    makeSides(side, grid, x);
    K = keepAll(gk, Hk, side);
    for (int k = 0; k < 3; k++) by_value += by_gradient[k] * gk[k] / (K > 0 ? K : 1);
  }
  if (!(K > 0)) return;
  makeStencil(&s, grid, x);
  for (int m = 0; m < 64; m++) {
    int i[3] = {m / 16, m / 4 % 4, m % 4};
    const double b[3] = {s.b[0][i[0]], s.b[1][i[1]], s.b[2][i[2]]};
    double by_c = by_value * b[0] * b[1] * b[2];
    by_c += by_gradient[0] / grid->h[0] * s.db[0][i[0]] * b[1] * b[2];
    by_c += by_gradient[1] / grid->h[1] * b[0] * s.db[1][i[1]] * b[2];
    by_c += by_gradient[2] / grid->h[2] * b[0] * b[1] * s.db[2][i[2]];
    for (int q = 0; q < 27; q++) {
      int o[3] = {q / 9 - 1, q / 3 % 3 - 1, q % 3 - 1};
      double w = K * by_c;
      for (int k = 0; k < 3; k++) w *= smoothing(s.first[k] + i[k], grid->n[k], o[k]);
      by_f[i[0] + o[0] + 1][i[1] + o[1] + 1][i[2] + o[2] + 1] += w;
    }
  }
  for (int m = 0; m < 216; m++) {
    double w = by_f[m / 36][m / 6 % 6][m % 6];
    const int node[3] = {s.first[0] + m / 36 - 1, s.first[1] + m / 6 % 6 - 1,
                         s.first[2] + m % 6 - 1};
    if (w != 0) addNode(vert, grid, node, w);
  }
}
