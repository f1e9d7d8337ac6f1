// Values of a grid, and its way beyond the box: with rho_i(x_i) >= 0 a C2 function that is 0 up to
// the box's face and then less than the way beyond it, and y = x - sign rho, which is at most a
// cell beyond the box,
//
//   G(x)^2 = d(y)^2 + |rho|^2.                                                              (3)
//
// A point p of the mesh, in the box, has (x - y).(p - y) <= 0, so that G is at most the distance
// where d is; and where |grad d| <= 1, |grad G| <= 1.

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

static double splineValue(const djGrid* grid, const Stencil* s) {
  double value = 0;
  for (int i = 0; i < 4; i++) {
    double sum = 0;
    for (int j = 0; j < 4; j++) {
      size_t row = (size_t)(s->first[0] + i) * (size_t)grid->n[1] + (size_t)(s->first[1] + j);
      const double *c = grid->coef + row * (size_t)grid->n[2] + s->first[2], *b = s->b[2];
      sum += s->b[1][j] * (c[0] * b[0] + c[1] * b[1] + c[2] * b[2] + c[3] * b[3]);
    }
    value += s->b[0][i] * sum;
  }
  return value;
}

// ------------------------------------------ beyond the box -------------------------------------

// rho of an axis, with two derivatives by x, and those of y.
typedef struct Side {
  double rho[3], y[3];
} Side;

// rho' rises from 0 to 1 as 3 q^2 - 2 q^3, q the way beyond the face in widths.
static void makeSide(Side* side, double x, double middle, double half, double width) {
  double beyond = fabs(x - middle) - half, sign = x < middle ? -1 : 1, q = beyond / width;
  *side = (Side){.y = {x, 1}};
  if (!(q > 0)) return;
  double rho = beyond - width / 2, slope = 1, bend = 0;
  if (q < 1) {
    rho = width * q * q * q * (1 - q / 2);
    slope = q * q * (3 - 2 * q);
    bend = 6 * q * (1 - q) / width;
  }
  *side = (Side){{rho, sign * slope, bend}, {x - sign * rho, 1 - slope, -sign * bend}};
}

// False: x is in the box. y: where d is needed.
static bool makeSides(Side side[3], double y[3], const djGrid* grid, const double x[3]) {
  bool beyond = false;
  for (int k = 0; k < 3; k++) {
    makeSide(&side[k], x[k], grid->box[k], grid->box[3 + k], BAND * grid->h[k]);
    y[k] = side[k].y[0];
    beyond = beyond || side[k].rho[0] > 0;
  }
  return beyond;
}

static double rhoSquare(const Side side[3]) {
  double square = 0;
  for (int k = 0; k < 3; k++) square += side[k].rho[0] * side[k].rho[0];
  return square;
}

// (3) with derivatives from those of d at y, in place. d > 0.
static double goBeyond(double g[3], double H[6], const Side side[3], double d) {
  double G = sqrt(d * d + rhoSquare(side)), by[3];
  for (int i = 0; i < 3; i++) {
    const double *r = side[i].rho, *y = side[i].y;
    by[i] = (d * g[i] * y[1] + r[0] * r[1]) / G;
  }
  for (int i = 0, m = 0; i < 3; i++) {
    const double *r = side[i].rho, *y = side[i].y;
    for (int j = i; j < 3; j++, m++) {
      double a = y[1], b = side[j].y[1];
      H[m] = (g[i] * a * g[j] * b + d * H[m] * a * b - by[i] * by[j]) / G;
      if (i == j) H[m] += (d * g[i] * y[2] + r[1] * r[1] + r[0] * r[2]) / G;
    }
  }
  memcpy(g, by, sizeof by);
  return G;
}

double dj_gridAt(double gradient[3], double hessian[6], const djGrid* grid, const double x[3]) {
  double g[3], H[6], y[3];
  Side side[3];
  Stencil s;
  bool beyond = makeSides(side, y, grid, x);
  makeStencil(&s, grid, y);
  if (!gradient && !hessian) {
    double d = splineValue(grid, &s);
    return beyond ? sqrt(d * d + rhoSquare(side)) : d;
  }
  double d = spline(g, H, grid, &s);
  if (beyond) d = goBeyond(g, H, side, d);
  if (gradient) memcpy(gradient, g, sizeof g);
  if (hessian) memcpy(hessian, H, sizeof H);
  return d;
}

// d differs by at most SLACK cells from a function of Lipschitz constant 1, and has L.
double dj_gridBound(const djGrid* grid, const double x[3], double radius) {
  Side side[3];
  double y[3];
  if (makeSides(side, y, grid, x)) {
    double far = sqrt(rhoSquare(side)) - radius;
    if (far > 0) return far;
  }
  double cell = fmax(grid->h[0], fmax(grid->h[1], grid->h[2]));
  double change = fmin(grid->lipschitz * radius, radius + 2 * SLACK * cell);
  return dj_gridAt(NULL, NULL, grid, x) - change;
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

// By the coefficients of a stencil, of by_value f + by_gradient . grad f.
static void byCoefficients(double by[4][4][4], const Stencil* s, const double h[3], double by_value,
                           const double by_gradient[3]) {
  double gx = by_gradient[0] / h[0], gy = by_gradient[1] / h[1], gz = by_gradient[2] / h[2];
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      double b = s->b[0][i] * s->b[1][j];
      double d = gx * s->db[0][i] * s->b[1][j] + gy * s->b[0][i] * s->db[1][j] + by_value * b;
      for (int k = 0; k < 4; k++) by[i][j][k] = d * s->b[2][k] + gz * b * s->db[2][k];
    }
  }
}

// By the distances of nodes (to, 6 along the axis) from that by coefficients (from, 4), of the line
// of an axis: Q is symmetric. first: node of the first coefficient.
static void spreadLine(double* to, const double* from, size_t stride, int first, int n) {
  for (int m = 0; m < 4; m++) {
    for (int o = -1; o <= 1; o++) {
      to[(size_t)(m + o + 1) * stride] += smoothing(first + m, n, o) * from[(size_t)m * stride];
    }
  }
}

// From derivatives by G and grad G of (3), the latter in place, to those by d and grad d:
// dG = d dd/G, dG_i = (g_i a_i/G - G_i d/G^2) dd + (a_i d/G) dg_i with a = dy/dx.
static double stayBehind(double by[3], const djGrid* grid, const Stencil* s, const Side side[3],
                         double by_value) {
  double g[3], H[6], at[3], d = spline(g, H, grid, s);
  memcpy(at, g, sizeof at);
  double G = goBeyond(at, H, side, d), sum = by_value * d / G;
  for (int i = 0; i < 3; i++) {
    sum += by[i] * (g[i] * side[i].y[1] - at[i] * d / G) / G;
    by[i] *= side[i].y[1] * d / G;
  }
  return sum;
}

void dj_gridVertices(double* vert, const djGrid* grid, const double x[3], double by_value,
                     const double by_gradient[3]) {
  double y[3], by[3], by_c[4][4][4], by_z[4][4][6], by_yz[4][6][6], by_f[6][6][6];
  Side side[3];
  Stencil s;
  bool beyond = makeSides(side, y, grid, x);
  makeStencil(&s, grid, y);
  memcpy(by, by_gradient, sizeof by);
  if (beyond) by_value = stayBehind(by, grid, &s, side, by_value);
  byCoefficients(by_c, &s, grid->h, by_value, by);
  memset(by_z, 0, sizeof by_z);
  memset(by_yz, 0, sizeof by_yz);
  memset(by_f, 0, sizeof by_f);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      spreadLine(by_z[i][j], by_c[i][j], 1, s.first[2], grid->n[2]);
    }
    for (int k = 0; k < 6; k++)
      spreadLine(&by_yz[i][0][k], &by_z[i][0][k], 6, s.first[1], grid->n[1]);
  }
  for (int m = 0; m < 36; m++) {
    spreadLine(&by_f[0][0][0] + m, &by_yz[0][0][0] + m, 36, s.first[0], grid->n[0]);
  }
  for (int m = 0; m < 216; m++) {
    const int node[3] = {s.first[0] + m / 36 - 1, s.first[1] + m / 6 % 6 - 1,
                         s.first[2] + m % 6 - 1};
    double w = by_f[m / 36][m / 6 % 6][m % 6];
    if (w != 0) addNode(vert, grid, node, w);
  }
}
