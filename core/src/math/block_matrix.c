#include "math/block_matrix.h"

#include "math/products.h"

#include <string.h>

// ---- blocks -----------------------------------------------------------------------------------

// Rows of a block, and entries of one of its rows.
static int blockRows(const djBlocks* b, int a) { return b->adr[a + 1] - b->adr[a]; }

static int rowWidth(const djBlocks* b, int a) {
  int rows = blockRows(b, a);
  return rows ? (int)((b->matrix_adr[a + 1] - b->matrix_adr[a]) / (size_t)rows) : 0;
}

djBlockView dj_blockOf(const djMatrix* A, int a, int b) {
  const djBlocks* s = A->blocks;
  djBlockView v = {NULL, rowWidth(s, a), s->adr[a], s->adr[b]};
  int at = dj_findNear(s, a, b);
  if (at >= 0) v.at = A->data + s->matrix_adr[a] + s->near_col[at];
  return v;
}

djBlockView dj_blockView(const djMatrix* A, int row, int col) {
  const djBlocks* s = A->blocks;
  return dj_blockOf(A, s->block_of[row], s->block_of[col]);
}

// ---- matrices ---------------------------------------------------------------------------------

void dj_clearMatrix(djMatrix* A) { memset(A->data, 0, dj_packedSize(A->blocks) * sizeof(double)); }

void dj_scaleMatrix(djMatrix* A, double f) {
  size_t n = dj_packedSize(A->blocks);
  for (size_t k = 0; k < n; k++) A->data[k] *= f;
}

void dj_addMatrix(djMatrix* A, const djMatrix* B) {
  size_t n = dj_packedSize(A->blocks);
  double* restrict to = A->data;
  const double* restrict from = B->data;
  for (size_t k = 0; k < n; k++) to[k] += from[k];
}

void dj_copyMatrix(djMatrix* B, const djMatrix* A) {
  memcpy(B->data, A->data, dj_packedSize(A->blocks) * sizeof(double));
}

void dj_addDiagonal(djMatrix* A, const djMatrix* B) {
  const djBlocks* s = B->blocks;
  for (int a = 0; a < s->nblock; a++) {
    for (int i = s->adr[a]; i < s->adr[a + 1]; i++) {
      double* restrict to = dj_ownRow(A, i);
      const double* restrict from = dj_ownRow(B, i);
      for (int j = s->adr[a]; j < s->adr[a + 1]; j++) to[j] += from[j];
    }
  }
}

void dj_setDiagonal(djMatrix* A, const djMatrix* B) {
  dj_clearMatrix(A);
  const djBlocks* s = B->blocks;
  for (int a = 0; a < s->nblock; a++) {
    size_t first = (size_t)s->adr[a], bytes = (size_t)blockRows(s, a) * sizeof(double);
    for (int i = s->adr[a]; i < s->adr[a + 1]; i++) {
      memcpy(dj_ownRow(A, i) + first, dj_ownRow(B, i) + first, bytes);
    }
  }
}

void dj_mirrorMatrix(djMatrix* A) {
  const djBlocks* s = A->blocks;
  for (int a = 0; a < s->nblock; a++) {
    int rows = blockRows(s, a);
    for (int k = s->near_adr[a]; k < s->near_adr[a + 1] && s->near[k] <= a; k++) {
      djBlockView low = dj_blockOf(A, a, s->near[k]), high = dj_blockOf(A, s->near[k], a);
      int columns = blockRows(s, s->near[k]);
      if (!low.at || !high.at) continue;
      for (int i = 0; i < rows; i++) {
        const double* from = low.at + (size_t)i * (size_t)low.stride;
        int end = s->near[k] < a ? columns : i;
        for (int j = 0; j < end; j++) high.at[(size_t)j * (size_t)high.stride + i] = from[j];
      }
    }
  }
}

void dj_columns(double* X, int stride, double f, const djMatrix* A, int first, int end) {
  const djBlocks* s = A->blocks;
  size_t bytes = (size_t)(end - first) * sizeof(double);
  for (int i = 0; i < s->n; i++) memset(X + (size_t)i * stride, 0, bytes);
  for (int c = first, b = 0; c < end;) {
    while (c >= s->adr[b + 1]) b++;
    int to = s->adr[b + 1] < end ? s->adr[b + 1] : end;
    for (int k = s->near_adr[b]; k < s->near_adr[b + 1]; k++) {   // the pattern is symmetric
      int a = s->near[k];
      djBlockView v = dj_blockOf(A, a, b);
      for (int i = s->adr[a]; i < s->adr[a + 1]; i++) {
        const double* from = dj_viewEntry(&v, i, c);
        double* out = X + (size_t)i * stride + (c - first);
        for (int j = 0; j < to - c; j++) out[j] = f * from[j];
      }
    }
    c = to;
  }
}

// Products run over rows of the matrix and, in each, over stretches of columns: near blocks that
// follow each other make one.
void dj_mulMatrix(double* y, double f, const djMatrix* A, const double* x) {
  const djBlocks* b = A->blocks;
  for (int a = 0; a < b->nblock; a++) {
    const int rows = blockRows(b, a);
    const size_t width = (size_t)rowWidth(b, a);
    const double* at = A->data + b->matrix_adr[a];
    for (int k = b->near_adr[a]; k < b->near_adr[a + 1];) {
      int first = b->adr[b->near[k]], size = dj_nearStretch(b, a, &k);
      dju_addProducts(y + b->adr[a], f, at, width, x + first, rows, size);
      at += size;
    }
  }
}

void dj_mulMatrixT(double* restrict y, double f, const djMatrix* A, const double* restrict x) {
  const djBlocks* b = A->blocks;
  const double* restrict at = A->data;
  for (int a = 0; a < b->nblock; a++) {
    for (int row = b->adr[a]; row < b->adr[a + 1]; row++) {
      double g = f * x[row];
      for (int k = b->near_adr[a]; k < b->near_adr[a + 1];) {
        int first = b->adr[b->near[k]], size = dj_nearStretch(b, a, &k);
        for (int j = 0; j < size; j++) y[first + j] += g * at[j];
        at += size;
      }
    }
  }
}

void dj_addOuter(djMatrix* A, double f, const double* x, const double* y, int low, int high,
                 bool lower) {
  const djBlocks* s = A->blocks;
  if (low >= high) return;
  for (int a = s->block_of[low]; a <= s->block_of[high - 1]; a++) {
    for (int k = s->near_adr[a]; k < s->near_adr[a + 1]; k++) {
      int b = s->near[k], first = s->adr[b] > low ? s->adr[b] : low;
      int end = s->adr[b + 1] < high ? s->adr[b + 1] : high;
      double* at = A->data + s->matrix_adr[a] + s->near_col[k] - s->adr[b];
      for (int i = s->adr[a]; i < s->adr[a + 1]; i++, at += rowWidth(s, a)) {
        if (i < low || i >= high || x[i] == 0) continue;
        double fx = f * x[i];
        int last = lower && end > i + 1 ? i + 1 : end;
        for (int j = first; j < last; j++) at[j] += fx * y[j];
      }
    }
  }
}

// ---- matrices with few entries ----------------------------------------------------------------

void dj_addColumns(double* X, int width, double f, const djEntries* A, int shift) {
  for (int k = 0; k < A->n; k++) {
    const djMatrixEntry* e = &A->entry[k];
    int c = e->col + shift;
    if (c >= 0 && c < width) X[(size_t)e->row * (size_t)width + (size_t)c] += f * e->value;
  }
}

void dj_mulEntries(double* y, double f, const djEntries* A, const double* x) {
  for (int k = 0; k < A->n; k++) {
    const djMatrixEntry* e = &A->entry[k];
    y[e->row] += f * e->value * x[e->col];
  }
}

void dj_mulEntriesT(double* y, double f, const djEntries* A, const double* x) {
  for (int k = 0; k < A->n; k++) {
    const djMatrixEntry* e = &A->entry[k];
    y[e->col] += f * e->value * x[e->row];
  }
}
