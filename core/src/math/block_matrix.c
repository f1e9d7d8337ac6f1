#include "math/block_matrix.h"

#include <string.h>

// Every matrix operation runs over rows i of the matrix and, in each, over stretches of columns:
// near blocks that follow each other make one.
typedef struct Walk {
  const djBlocks* b;
  int block, end, row, i;   // block row, past its last row, row of the matrix, index into near
  int first, size;          // the stretch
} Walk;

static Walk startWalk(const djBlocks* b) {
  return (Walk){.b = b, .block = 0, .end = b->nblock ? b->adr[1] : 0, .row = 0, .i = 0};
}

// The next stretch; false after the last.
static bool nextStretch(Walk* w) {
  const djBlocks* b = w->b;
  if (w->block >= b->nblock) return false;
  while (w->row == w->end || w->i == b->near_adr[w->block + 1]) {
    if (w->row < w->end) w->row++;
    if (w->row == w->end) {
      if (++w->block >= b->nblock) return false;
      w->end = b->adr[w->block + 1];
    }
    w->i = b->near_adr[w->block];
  }
  int from = b->near[w->i++], to = from;
  while (w->i < b->near_adr[w->block + 1] && b->near[w->i] == to + 1) to = b->near[w->i++];
  w->first = b->adr[from];
  w->size = b->adr[to + 1] - w->first;
  return true;
}

static size_t place(const Walk* w) { return (size_t)w->row * (size_t)w->b->n + (size_t)w->first; }

void dj_clearBlocks(double* A, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    memset(A + place(&w), 0, (size_t)w.size * sizeof(double));
  }
}

void dj_scaleBlocks(double* A, double f, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    double* to = A + place(&w);
    for (int j = 0; j < w.size; j++) to[j] *= f;
  }
}

void dj_addBlocks(double* restrict A, const double* restrict B, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    double* restrict to = A + place(&w);
    const double* restrict from = B + place(&w);
    for (int j = 0; j < w.size; j++) to[j] += from[j];
  }
}

void dj_copyMatrixBlocks(double* restrict B, const double* restrict A, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    memcpy(B + place(&w), A + place(&w), (size_t)w.size * sizeof(double));
  }
}

void dj_mirrorBlocks(double* B, const double* A, const djBlocks* b) {
  size_t n = b->n;
  for (Walk w = startWalk(b); nextStretch(&w);) {
    size_t row = w.row;
    for (size_t j = w.first; j < (size_t)(w.first + w.size) && j <= row; j++) {
      B[j * n + row] = B[row * n + j] = A[row * n + j];
    }
  }
}

void dj_packBlocks(double* P, const double* A, const djBlocks* b) {
  if (b->nblock < 2 && P == A) return;
  for (Walk w = startWalk(b); nextStretch(&w);) {
    memmove(P, A + place(&w), (size_t)w.size * sizeof(double));
    P += w.size;
  }
}

void dj_unpackBlocks(double* A, int stride, double f, const double* P, const djBlocks* b) {
  for (int i = 0; i < b->n; i++) memset(A + (size_t)i * stride, 0, (size_t)b->n * sizeof(double));
  for (Walk w = startWalk(b); nextStretch(&w);) {
    double* to = A + (size_t)w.row * stride + w.first;
    for (int j = 0; j < w.size; j++) to[j] = f * P[j];
    P += w.size;
  }
}

void dj_mulBlocks(double* y, double f, const double* P, const double* x, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    double sum = 0;
    for (int j = 0; j < w.size; j++) sum += P[j] * x[w.first + j];
    y[w.row] += f * sum;
    P += w.size;
  }
}

void dj_mulBlocksT(double* restrict y, double f, const double* restrict P,
                   const double* restrict x, const djBlocks* b) {
  for (Walk w = startWalk(b); nextStretch(&w);) {
    double g = f * x[w.row];
    for (int j = 0; j < w.size; j++) y[w.first + j] += g * P[j];
    P += w.size;
  }
}
