#include "shape/terrain.h"

#include <math.h>
#include <string.h>

// ------------------------------------------ layout ---------------------------------------------

static int half(int n) { return (n + 1) / 2; }

static size_t topSize(const djHeightLattice* l) {
  size_t sum = 0;
  for (int r = l->nrow + 1, c = l->ncol + 1;; r = half(r), c = half(c)) {
    sum += (size_t)r * (size_t)c;
    if (r == 1 && c == 1) return sum;
  }
}

size_t dj_terrainSize(const djHeightLattice* l) {
  return DJ_TERRAIN_HEAD + (size_t)dj_terrainCoefs(l->nrow, l->ncol) + topSize(l);
}

void dj_readTerrain(djTerrain* t, const double* mem) {
  t->nrow = (int)mem[0];
  t->ncol = (int)mem[1];
  t->dx = mem[2];
  t->dy = mem[3];
  t->x0 = mem[4];
  t->y0 = mem[5];
  t->pose.p = dju_load3(mem + 6);
  memcpy(t->pose.R.m, mem + 9, sizeof t->pose.R.m);
  t->base = mem[18];
  t->steep = mem[19];
  t->coef = mem + DJ_TERRAIN_HEAD;
  const double* top = t->coef + dj_terrainCoefs(t->nrow, t->ncol);
  t->nlevel = 0;
  for (int r = t->nrow + 1, c = t->ncol + 1;; r = half(r), c = half(c)) {
    t->row[t->nlevel] = r;
    t->column[t->nlevel] = c;
    t->top[t->nlevel++] = top;
    top += (size_t)r * (size_t)c;
    if (r == 1 && c == 1) return;
  }
}

// ------------------------------------------ splines --------------------------------------------

// Along one line: (c_k-1 + 4 c_k + c_k+1)/6 = h_k with c_0 = h_0, c_n-1 = h_n-1, by the pivots
// p_k = 4 - 1/p_k-1 of the inner rows. h: (n), becomes c_0 .. c_n-1, `stride` apart.
static void solveLine(double* h, int n, size_t stride, double* pivot) {
  double* at = h;
  for (int k = 1; k < n - 1; k++) {
    at = h + (size_t)k * stride;
    const bool first = k == 1;
    pivot[k] = 4 - (first ? 0 : 1 / pivot[k - 1]);
    *at = 6 * *at - (first ? *(at - stride) : *(at - stride) / pivot[k - 1]);
    if (k == n - 2) *at -= *(at + stride);
  }
  for (int k = n - 2; k > 0; k--) {
    at = h + (size_t)k * stride;
    if (k < n - 2) *at -= *(at + stride);
    *at /= pivot[k];
  }
}

// Coefficients beyond both ends of a line whose inner ones are at c + 2 strides.
static void extendLine(double* c, int n, size_t stride, double fall) {
  double *low = c + 2 * stride, *high = c + (size_t)(n + 1) * stride;
  c[stride] = 2 * low[0] - *(low + stride);
  c[0] = 2 * c[stride] - low[0] - 6 * fall;
  *(high + stride) = 2 * *high - *(high - stride);
  *(high + 2 * stride) = 2 * *(high + stride) - *high - 6 * fall;
}

// |grad h| is no more than that of differences of coefficients, whose mean it is.
static double steepest(const double* coef, int nrow, int ncol, double dx, double dy) {
  const int width = ncol + 4;
  double x = 0, y = 0;
  for (int j = 1; j < nrow + 3; j++) {
    for (int i = 1; i < ncol + 3; i++) {
      const double* c = coef + j * width + i;
      if (i + 1 < ncol + 3) x = fmax(x, fabs(c[1] - c[0]));
      if (j + 1 < nrow + 3) y = fmax(y, fabs(c[width] - c[0]));
    }
  }
  return hypot(x / dx, y / dy);
}

static void fillTops(double* top, const double* coef, int nrow, int ncol) {
  const int width = ncol + 4;
  int r = nrow + 1, c = ncol + 1;
  for (int j = 0; j < r; j++) {
    for (int i = 0; i < c; i++) {
      double most = -INFINITY;
      for (int k = 0; k < 16; k++) most = fmax(most, coef[(j + k / 4) * width + i + k % 4]);
      top[j * c + i] = most;
    }
  }
  while (r > 1 || c > 1) {
    const double* below = top;
    const int rows = r, columns = c;
    top += r * c;
    r = half(r);
    c = half(c);
    for (int j = 0; j < r; j++) {
      for (int i = 0; i < c; i++) {
        double most = -INFINITY;
        for (int k = 0; k < 4; k++) {
          const int y = 2 * j + k / 2, x = 2 * i + k % 2;
          if (y < rows && x < columns) most = fmax(most, below[y * columns + x]);
        }
        top[j * c + i] = most;
      }
    }
  }
}

void dj_makeTerrain(double* mem, const djHeightLattice* l, const double* height, const djPose* pose) {
  const int nrow = l->nrow, ncol = l->ncol, width = ncol + 4;
  memset(mem, 0, DJ_TERRAIN_HEAD * sizeof *mem);
  mem[0] = nrow;
  mem[1] = ncol;
  mem[2] = 2 * l->half[0] / (ncol - 1);
  mem[3] = 2 * l->half[1] / (nrow - 1);
  mem[4] = -l->half[0];
  mem[5] = -l->half[1];
  dju_store3(mem + 6, pose->p);
  memcpy(mem + 9, pose->R.m, sizeof pose->R.m);
  mem[18] = l->base;
  const double fall = DJ_TERRAIN_FALL * fmax(mem[2], mem[3]);
  double *coef = mem + DJ_TERRAIN_HEAD, *top = coef + dj_terrainCoefs(nrow, ncol);
  for (int j = 0; j < nrow; j++) {   // `top` is free until the end
    double* line = coef + (j + 2) * width;
    memcpy(line + 2, height + (size_t)j * (size_t)ncol, (size_t)ncol * sizeof *line);
    solveLine(line + 2, ncol, 1, top);
    extendLine(line, ncol, 1, fall);
  }
  for (int i = 0; i < width; i++) {
    solveLine(coef + 2 * width + i, nrow, (size_t)width, top);
    extendLine(coef + i, nrow, (size_t)width, fall);
  }
  mem[19] = steepest(coef, nrow, ncol, mem[2], mem[3]);
  fillTops(top, coef, nrow, ncol);
}

// Transposes.
static void extendLineVjp(double* c, int n, size_t stride) {
  double *low = c + 2 * stride, *high = c + (size_t)(n + 1) * stride;
  *(high + stride) += 2 * *(high + 2 * stride);
  *high -= *(high + 2 * stride);
  *high += 2 * *(high + stride);
  *(high - stride) -= *(high + stride);
  c[stride] += 2 * c[0];
  low[0] -= c[0];
  low[0] += 2 * c[stride];
  *(low + stride) -= c[stride];
}

// The inner rows' matrix is symmetric: g = 6 K^-1 c, and what both ends get.
static void solveLineVjp(double* c, int n, size_t stride, double* pivot) {
  double *first = c, *last = c + (size_t)(n - 1) * stride;
  if (n < 3) return;
  const double ends[2] = {*first, *last};
  *first = *last = 0;
  for (int k = 1; k < n - 1; k++) c[(size_t)k * stride] /= 6;
  solveLine(c, n, stride, pivot);
  for (int k = 1; k < n - 1; k++) c[(size_t)k * stride] *= 6;
  *first = ends[0] - *(c + stride) / 6;
  *last = ends[1] - *(last - stride) / 6;
}

void dj_terrainHeightsVjp(double* height, double* coef, double* work, const djHeightLattice* l) {
  const int nrow = l->nrow, ncol = l->ncol, width = ncol + 4;
  for (int i = 0; i < width; i++) {
    extendLineVjp(coef + i, nrow, (size_t)width);
    solveLineVjp(coef + 2 * width + i, nrow, (size_t)width, work);
  }
  for (int j = 0; j < nrow; j++) {
    double* line = coef + (j + 2) * width;
    extendLineVjp(line, ncol, 1);
    solveLineVjp(line + 2, ncol, 1, work);
    for (int i = 0; i < ncol; i++) height[(size_t)j * (size_t)ncol + (size_t)i] += line[2 + i];
  }
}

// ------------------------------------------ points ---------------------------------------------

// B-splines of the four coefficients of a cell at t, from its low side; with derivatives by t.
static void basisValues(double b[4], double t) {
  const double r = 1 - t;
  b[0] = r * r * r / 6;
  b[1] = 2.0 / 3 - t * t + 0.5 * t * t * t;
  b[2] = 2.0 / 3 - r * r + 0.5 * r * r * r;
  b[3] = t * t * t / 6;
}

static void basis(double b[4], double s[4], double c[4], double t) {
  const double r = 1 - t;
  basisValues(b, t);
  s[0] = -0.5 * r * r;
  s[1] = -2 * t + 1.5 * t * t;
  s[2] = 2 * r - 1.5 * r * r;
  s[3] = 0.5 * t * t;
  c[0] = r;
  c[1] = 3 * t - 2;
  c[2] = 3 * r - 2;
  c[3] = t;
}

// The cell of a coordinate, -1 .. n - 1, whose polynomial goes on beyond the outermost.
static int cellOf(double t, int n) {
  if (!(t > -1)) return -1;
  if (!(t < n)) return n - 1;
  const int k = (int)floor(t);
  return k < n - 1 ? k : n - 1;
}

void dj_evalTerrain(djTerrainPoint* out, const djTerrain* t, double x, double y) {
  const double u = (x - t->x0) / t->dx, v = (y - t->y0) / t->dy;
  const int i = cellOf(u, t->ncol), j = cellOf(v, t->nrow), width = t->ncol + 4;
  double bx[4], by[4], sx[4], sy[4], cx[4], cy[4];
  basis(bx, sx, cx, u - i);
  basis(by, sy, cy, v - j);
  memset(out, 0, sizeof *out);
  out->first = (j + 1) * width + i + 1;
  for (int r = 0; r < 4; r++) {
    const double* c = t->coef + out->first + r * width;
    double line[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
      line[0] += bx[k] * c[k];
      line[1] += sx[k] * c[k];
      line[2] += cx[k] * c[k];
    }
    out->h += by[r] * line[0];
    out->g[0] += by[r] * line[1];
    out->g[1] += sy[r] * line[0];
    out->H[0] += by[r] * line[2];
    out->H[1] += sy[r] * line[1];
    out->H[2] += cy[r] * line[0];
  }
  out->g[0] /= t->dx;
  out->g[1] /= t->dy;
  out->H[0] /= t->dx * t->dx;
  out->H[1] /= t->dx * t->dy;
  out->H[2] /= t->dy * t->dy;
  for (int k = 0; k < 4; k++) {
    out->bx[k] = bx[k];
    out->by[k] = by[k];
    out->sx[k] = sx[k] / t->dx;
    out->sy[k] = sy[k] / t->dy;
  }
}

// Beyond the outermost cells the surface lies below their tops. If all of it within `reach` sideways
// is lower than z - v, everything else is farther than `reach`, so that min(reach, v) is a bound.
double dj_terrainClearance(const djTerrain* t, djVec3 p, double reach) {
  int low[2], high[2], level = 0;
  const double x[2] = {(p.x - t->x0) / t->dx, (p.y - t->y0) / t->dy};
  const double wide[2] = {reach / t->dx, reach / t->dy};
  for (int k = 0; k < 2; k++) {
    const int n = k ? t->nrow : t->ncol;
    low[k] = cellOf(x[k] - wide[k], n) + 1;
    high[k] = cellOf(x[k] + wide[k], n) + 1;
  }
  while ((high[0] - low[0] > 2 || high[1] - low[1] > 2) && level < t->nlevel - 1) {
    for (int k = 0; k < 2; k++) {
      low[k] /= 2;
      high[k] /= 2;
    }
    level++;
  }
  double most = -INFINITY;
  for (int j = low[1]; j <= high[1]; j++) {
    for (int i = low[0]; i <= high[0]; i++) {
      most = fmax(most, t->top[level][j * t->column[level] + i]);
    }
  }
  return fmin(reach, p.z - most);
}

double dj_terrainHeadroom(const djTerrain* t, djVec3 p) {
  const double u = (p.x - t->x0) / t->dx, v = (p.y - t->y0) / t->dy;
  const int i = cellOf(u, t->ncol), j = cellOf(v, t->nrow), width = t->ncol + 4;
  double bx[4], by[4], h = 0;
  basisValues(bx, u - i);
  basisValues(by, v - j);
  for (int r = 0; r < 4; r++) {
    const double* c = t->coef + (j + 1 + r) * width + i + 1;
    h += by[r] * (bx[0] * c[0] + bx[1] * c[1] + bx[2] * c[2] + bx[3] * c[3]);
  }
  const double above = p.z - h;
  const double x = t->dx * fmin(u, t->ncol - 1 - u), y = t->dy * fmin(v, t->nrow - 1 - v);
  return fmin(x, y) < above ? -1 : above / sqrt(1 + t->steep * t->steep);
}
