// Inner nodes have the mean of their six neighbours, each weighted by 1/size^2 of the cells along
// its axis: sum over axes c_k (2 u_i - u_i-1 - u_i+1) = 0, the discrete Laplace equation.
// Displacements of the surface that are affine are so inside.
//
// The equation's matrix is a sum over axes of c_k T_k, T = tridiag(-1, 2, -1) of n cells. T = S L S
// with S_pq = sqrt(2/n) sin(pi p q/n), L_p = 4 sin^2(pi p/(2n)), p, q = 1..n-1, and so the inverse
// is S along each axis, division by c_x L_x + c_y L_y + c_z L_z, and S again.

#include "gradient/lattice.h"

#include <math.h>
#include <string.h>

static int nodeAt(const djLattice* l, int x, int y, int z) {
  return x + l->nodes[0] * (y + l->nodes[1] * z);
}

static bool isInside(const djLattice* l, int x, int y, int z) {
  const int at[3] = {x, y, z};
  for (int k = 0; k < 3; k++) {
    if (at[k] == 0 || at[k] == l->cells[k]) return false;
  }
  return true;
}

static djStatus makeSines(djLattice* l, int k, djPool* pool) {
  const double pi = 3.14159265358979323846;
  int n = l->cells[k], m = l->inner[k];
  l->sine[k] = dj_poolTake(pool, (size_t)m * (size_t)m, sizeof(double));
  l->value[k] = dj_poolTake(pool, (size_t)m, sizeof(double));
  if (!l->sine[k] || !l->value[k]) return DJ_NO_MEMORY;
  for (int p = 0; p < m; p++) {
    double half = sin(pi * (p + 1) / (2 * n));
    l->value[k][p] = l->couple[k] * 4 * half * half;
    for (int q = 0; q < m; q++) {
      int turn = (p + 1) * (q + 1) % (2 * n);
      l->sine[k][p * m + q] = sqrt(2.0 / n) * sin(pi * turn / n);
    }
  }
  return DJ_OK;
}

djStatus dj_makeLattice(djLattice* l, const int cells[3], const double size[3], djPool* pool) {
  *l = (djLattice){.nnode = 1, .ninner = 1};
  double least = fmin(size[0], fmin(size[1], size[2]));
  for (int k = 0; k < 3; k++) {
    l->cells[k] = cells[k];
    l->nodes[k] = cells[k] + 1;
    l->inner[k] = cells[k] - 1;
    l->nnode *= l->nodes[k];
    l->ninner *= l->inner[k];
    l->size[k] = size[k];
    l->couple[k] = least / size[k] * (least / size[k]); // times any number
    djStatus status = makeSines(l, k, pool);
    if (status < 0) return status;
  }
  l->surface = dj_poolTake(pool, (size_t)(l->nnode - l->ninner), sizeof *l->surface);
  if (!l->surface) return DJ_NO_MEMORY;
  for (int i = 0; i < l->nnode; i++) {
    int x = i % l->nodes[0], y = i / l->nodes[0] % l->nodes[1], z = i / l->nodes[0] / l->nodes[1];
    if (!isInside(l, x, y, z)) l->surface[l->nsurface++] = i;
  }
  return DJ_OK;
}

size_t dj_latticeWork(const djLattice* l) { return 6 * (size_t)l->ninner; }

// out = S in along axis k; both (inner z x inner y x inner x x 3).
static void transform(double* out, const djLattice* l, int k, const double* in) {
  int m = l->inner[k], before = 1, block = 3;
  for (int j = 0; j < k; j++) block *= l->inner[j];
  for (int j = k + 1; j < 3; j++) before *= l->inner[j];
  memset(out, 0, 3 * (size_t)l->ninner * sizeof *out);
  for (int b = 0; b < before; b++) {
    for (int p = 0; p < m; p++) {
      double* to = out + (size_t)(b * m + p) * (size_t)block;
      for (int q = 0; q < m; q++) {
        const double* from = in + (size_t)(b * m + q) * (size_t)block;
        double s = l->sine[k][p * m + q];
        for (int i = 0; i < block; i++) to[i] += s * from[i];
      }
    }
  }
}

// u (ninner x 3) becomes that of which it was the right side; other: of the same size.
static void solve(double* u, double* other, const djLattice* l) {
  for (int k = 0; k < 3; k++) {
    transform(k % 2 ? u : other, l, k, k % 2 ? other : u);
  }
  for (int i = 0; i < l->ninner; i++) {
    int x = i % l->inner[0], y = i / l->inner[0] % l->inner[1];
    int z = i / l->inner[0] / l->inner[1];
    double sum = l->value[0][x] + l->value[1][y] + l->value[2][z];
    for (int c = 0; c < 3; c++) other[3 * i + c] /= sum;
  }
  for (int k = 0; k < 3; k++) {
    transform(k % 2 ? other : u, l, k, k % 2 ? u : other);
  }
}

// Told of an inner node, its number among them, a neighbour on the surface, and its weight.
typedef void (*Visit)(double* inner, double* node, int i, int to, double weight);

static void addNeighbour(double* inner, double* node, int i, int to, double weight) {
  for (int c = 0; c < 3; c++) inner[3 * i + c] += weight * node[3 * to + c];
}

static void giveNeighbour(double* inner, double* node, int i, int to, double weight) {
  for (int c = 0; c < 3; c++) node[3 * to + c] += weight * inner[3 * i + c];
}

static void visitSurface(double* inner, double* node, const djLattice* l, Visit visit) {
  const int stride[3] = {1, l->nodes[0], l->nodes[0] * l->nodes[1]};
  for (int i = 0; i < l->ninner; i++) {
    int at[3] = {i % l->inner[0], i / l->inner[0] % l->inner[1], i / l->inner[0] / l->inner[1]};
    int own = nodeAt(l, at[0] + 1, at[1] + 1, at[2] + 1);
    for (int k = 0; k < 3; k++) {
      if (at[k] == 0) visit(inner, node, i, own - stride[k], l->couple[k]);
      if (at[k] == l->inner[k] - 1) visit(inner, node, i, own + stride[k], l->couple[k]);
    }
  }
}

// Between the inner nodes and their places among all.
static void copyInner(double* inner, double* node, const djLattice* l, bool back) {
  size_t row = 3 * (size_t)l->inner[0] * sizeof(double);
  for (int z = 0, i = 0; z < l->inner[2]; z++) {
    for (int y = 0; y < l->inner[1]; y++, i += l->inner[0]) {
      double* at = node + 3 * nodeAt(l, 1, y + 1, z + 1);
      memcpy(back ? at : inner + 3 * i, back ? inner + 3 * i : at, row);
    }
  }
}

void dj_spreadLattice(double* node, const djLattice* l, const double* z, double* work) {
  double *u = work, *other = work + 3 * (size_t)l->ninner;
  for (int i = 0; i < l->nsurface; i++) {
    memcpy(node + 3 * l->surface[i], z + 3 * i, 3 * sizeof *z);
  }
  if (l->ninner == 0) return;
  memset(u, 0, 3 * (size_t)l->ninner * sizeof *u);
  visitSurface(u, node, l, addNeighbour);
  solve(u, other, l);
  copyInner(u, node, l, true);
}

void dj_gatherLattice(double* dz, const djLattice* l, double* dnode, double* work) {
  double *u = work, *other = work + 3 * (size_t)l->ninner;
  if (l->ninner > 0) {
    copyInner(u, dnode, l, false);
    solve(u, other, l);
    visitSurface(u, dnode, l, giveNeighbour);
  }
  for (int i = 0; i < l->nsurface; i++) {
    for (int c = 0; c < 3; c++) dz[3 * i + c] += dnode[3 * l->surface[i] + c];
  }
}

// Edges of the cell from its corner `bits` on, along the axes, in units of the box.
static bool isCornerFlipped(const djLattice* l, const double* node, const int cell[3], int bits) {
  double edge[3][3];
  int at[3];
  for (int k = 0; k < 3; k++) at[k] = cell[k] + (bits >> k & 1);
  const double* own = node + 3 * nodeAt(l, at[0], at[1], at[2]);
  for (int k = 0; k < 3; k++) {
    double sign = bits >> k & 1 ? -1 : 1;
    int to[3] = {at[0], at[1], at[2]};
    to[k] += bits >> k & 1 ? -1 : 1;
    const double* other = node + 3 * nodeAt(l, to[0], to[1], to[2]);
    for (int c = 0; c < 3; c++) edge[k][c] = (c == k) + sign * (other[c] - own[c]) / l->size[k];
  }
  const double *a = edge[0], *b = edge[1], *c = edge[2];
  double volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0]);
  return !(volume > 0);
}

int dj_flippedCell(const djLattice* l, const double* node) {
  const int n = l->cells[0] * l->cells[1] * l->cells[2];
  for (int i = 0; i < n; i++) {
    int cell[3] = {i % l->cells[0], i / l->cells[0] % l->cells[1], i / l->cells[0] / l->cells[1]};
    for (int bits = 0; bits < 8; bits++) {
      if (isCornerFlipped(l, node, cell, bits)) return i;
    }
  }
  return -1;
}
