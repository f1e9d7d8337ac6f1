#include "math/super.h"

#include "math/front.h"

#include <math.h>
#include <string.h>

// Below these sizes loops are faster than calls of BLAS.
enum { SMALL_OWN = 24, SMALL_LATER = 64 };
// Rows of an update that are worked out together.
enum { CHUNK = 128 };

static bool isSmall(const djSuper* r) {
  return r->own <= SMALL_OWN && r->own * r->later <= SMALL_OWN * SMALL_LATER;
}

static int blockRows(const djBlocks* b, int rank) {
  int block = b->order[rank];
  return b->adr[block + 1] - b->adr[block];
}

// ---- memory -----------------------------------------------------------------------------------

static size_t entries(const djBlocks* b, bool symmetric) {
  return symmetric ? b->super_adr[b->nsuper] : b->super_upper[b->nsuper];
}

size_t dj_superUses(const djBlocks* b, bool symmetric) {
  return entries(b, symmetric) + (size_t)b->n + (size_t)b->front;
}

// Columns first ... of a target that get those from `from` on.
typedef struct Run {
  int from, to, n;
} Run;

// Scratch of the factorization.
typedef struct Work {
  double* diagonal;   // (n) of H, in the order of the factor
  double* out;        // (CHUNK x front) of an update
  int* place;         // (nblock) column of a block among the later ones of a supernode
  Run* run;           // (nblock)
} Work;

static size_t takeWork(Work* w, double* memory, const djBlocks* b) {
  djArena a = {(unsigned char*)memory, 0};
  w->diagonal = dj_take(&a, b->n, sizeof(double));
  w->out = dj_take(&a, (size_t)CHUNK * (size_t)b->front, sizeof(double));
  w->place = dj_take(&a, b->nblock, sizeof(int));
  w->run = dj_take(&a, b->nblock, sizeof(Run));
  return a.used / sizeof(double);
}

size_t dj_superNeeds(const djBlocks* b, bool symmetric) {
  Work w;
  size_t factor = takeWork(&w, NULL, b), solve = 16 * ((size_t)b->n + (size_t)b->front);
  return dj_superUses(b, symmetric) + (factor > solve ? factor : solve);
}

// ---- entries of H -----------------------------------------------------------------------------

// to (rows of block a x columns of block c, `stride` apart) <- H's block (a, c), or the transpose
// of its block (c, a).
static void copyBlock(double* to, int stride, const djMatrix* H, int a, int c, bool transposed) {
  const djBlocks* b = H->blocks;
  int rows = b->adr[a + 1] - b->adr[a], columns = b->adr[c + 1] - b->adr[c];
  djBlockView v = transposed ? dj_blockOf(H, c, a) : dj_blockOf(H, a, c);
  for (int i = 0; i < rows; i++) {
    double* row = to + (size_t)i * stride;
    for (int j = 0; j < columns; j++) {
      row[j] = transposed ? v.at[(size_t)j * v.stride + i] : v.at[(size_t)i * v.stride + j];
    }
  }
}

static void load(double* F, Work* w, const djMatrix* H, const double* shift, int s,
                 bool symmetric) {
  const djBlocks* b = H->blocks;
  djSuper r = dj_superOf(b, s);
  int width = r.own + r.later, first = b->super_first[s], end = b->super_first[s + 1];
  for (int i = 0, column = 0; i < r.nlater; i++) {
    w->place[r.list[-i]] = column;
    column += blockRows(b, r.list[-i]);
  }
  for (int k = first; k < end; k++) {
    int a = b->order[k], offset = b->super_row[k] - r.row, rows = blockRows(b, k);
    double* row = F + r.at + (size_t)offset * width;
    double* below = F + r.below + (size_t)offset * r.later;
    for (int i = b->near_adr[a]; i < b->near_adr[a + 1]; i++) {
      int c = b->near[i], rank = b->rank[c];
      if (rank < (symmetric ? k : first)) continue;
      int column = rank < end ? b->super_row[rank] - r.row : r.own + w->place[rank];
      copyBlock(row + column, width, H, a, c, symmetric && c > a);
      if (!symmetric && rank >= end) copyBlock(below + w->place[rank], r.later, H, a, c, true);
    }
    for (int i = 0; i < rows; i++) {
      double* d = row + (size_t)i * width + offset + i;
      w->diagonal[r.row + offset + i] = *d;
      if (shift) *d += shift[b->adr[a] + i];
    }
  }
}

// ---- elimination ------------------------------------------------------------------------------

static bool good(double pivot, double scale) {
  return pivot > 1e-14 * fabs(scale) && isfinite(pivot);   // false for NaN
}

static void subtract(double* restrict to, double f, const double* restrict from, int n) {
  for (int j = 0; j < n; j++) to[j] -= f * from[j];
}

// What dj_eliminateLDL does.
static bool smallLDL(double* A, const djSuper* r, const double* diagonal) {
  int width = r->own + r->later;
  for (int k = r->own - 1; k >= 0; k--) {
    double* row = A + (size_t)k * width;
    if (!good(row[k], diagonal[k])) return false;
    double inv = 1 / row[k];
    for (int i = k - 1; i >= 0; i--) {
      double *to = A + (size_t)i * width, f = row[i] * inv;
      if (f == 0) continue;
      subtract(to, f, row, i + 1);
      subtract(to + r->own, f, row + r->own, r->later);
    }
    for (int j = 0; j < k; j++) row[j] *= inv;
    row[k] = inv;
  }
  return true;
}

// What dj_eliminateLDU does.
static bool smallLDU(double* A, double* C, const djSuper* r, const double* diagonal) {
  int width = r->own + r->later;
  for (int k = r->own - 1; k >= 0; k--) {
    double *row = A + (size_t)k * width, *column = C + (size_t)k * r->later;
    if (!good(row[k], diagonal[k])) return false;
    double inv = 1 / row[k];
    for (int j = 0; j < k; j++) row[j] *= inv;
    for (int j = r->own; j < width; j++) row[j] *= inv;
    for (int i = 0; i < k; i++) {
      double *to = A + (size_t)i * width, f = to[k];
      if (f != 0) {
        subtract(to, f, row, k);
        subtract(to + r->own, f, row + r->own, r->later);
        to[k] = f * inv;
      }
      subtract(C + (size_t)i * r->later, row[i], column, r->later);
    }
    row[k] = inv;
  }
  return true;
}

// ---- update -----------------------------------------------------------------------------------

// Where supernode t has the later blocks of r that are in it or later still: runs, `*end` columns
// of r, of which the first `*beyond` are later than t. i: the first of them in t.
static int findRuns(Run* run, int* end, int* beyond, const djBlocks* b, const djSuper* r,
                    const djSuper* t, int target, int i) {
  int n = 0, from = 0, column = t->own, next = 0;
  for (int j = 0; j < r->nlater; j++) {
    int rank = r->list[-j], rows = blockRows(b, rank), to;
    if (b->super_of[rank] < target) break;
    if (j < i) {
      while (t->list[-next] != rank) column += blockRows(b, t->list[-next++]);
      to = column;
    } else {
      if (j == i) *beyond = from;
      to = b->super_row[rank] - t->row;
    }
    if (n > 0 && run[n - 1].to + run[n - 1].n == to) run[n - 1].n += rows;
    else run[n++] = (Run){from, to, rows};
    from += rows;
  }
  *end = from;
  return n;
}

// to_run += the same of from, columns up to `end`; to begins with column `shift`.
static void addRuns(double* restrict to, int shift, const double* restrict from, const Run* run,
                    int n, int end) {
  for (int k = 0; k < n && run[k].from < end; k++) {
    int len = run[k].from + run[k].n > end ? end - run[k].from : run[k].n;
    const double* x = from + run[k].from;
    double* y = to + (run[k].to - shift);
    for (int j = 0; j < len; j++) y[j] += x[j];
  }
}

// out (rows x columns) <- -P^T D Q, columns of the supernode's rows; D of 1/D at `scale` or NULL.
static void product(double* out, int rows, int columns, const djSuper* r, const double* P, int sp,
                    const double* Q, int sq, const double* scale) {
  if (!isSmall(r)) {
    dj_frontUpdate(out, rows, columns, r->own, P, sp, Q, sq);
    return;
  }
  memset(out, 0, (size_t)rows * (size_t)columns * sizeof(double));
  for (int k = 0; k < r->own; k++) {
    double inv = scale ? scale[(size_t)k * (sq + 1)] : 1;
    for (int i = 0; i < rows; i++) {
      double f = P[(size_t)k * sp + i] * inv;
      if (f != 0) subtract(out + (size_t)i * columns, f, Q + (size_t)k * sq, columns);
    }
  }
}

// The later blocks of a supernode, one after the other.
typedef struct Walk {
  int i;              // block
  int row, end;       // its rows among the later ones
  int target;         // its supernode
  djSuper t;
  int nrun, columns, beyond;
} Walk;

static void nextBlock(Walk* k, Work* w, const djBlocks* b, const djSuper* r) {
  k->i++;
  k->row = k->end;
  int rank = r->list[-k->i];
  k->end += blockRows(b, rank);
  if (b->super_of[rank] == k->target) return;
  k->target = b->super_of[rank];
  k->t = dj_superOf(b, k->target);
  k->nrun = findRuns(w->run, &k->columns, &k->beyond, b, r, &k->t, k->target, k->i);
}

// Rows first ... end - 1 of an update into their supernodes, out having `columns`. below: into
// their columns.
static void scatter(double* F, Work* w, const djBlocks* b, const djSuper* r, int first, int end,
                    int columns, bool symmetric, bool below) {
  Walk k = {.i = -1, .target = -1};
  for (int row = first; row < end; row++) {
    while (k.end <= row) nextBlock(&k, w, b, r);
    int own = b->super_row[r->list[-k.i]] - k.t.row + row - k.row;
    const double* from = w->out + (size_t)(row - first) * columns;
    if (below) {
      double* to = F + k.t.below + (size_t)own * k.t.later;
      addRuns(to, k.t.own, from, w->run, k.nrun, k.beyond);
    } else {
      double* to = F + k.t.at + (size_t)own * (k.t.own + k.t.later);
      addRuns(to, 0, from, w->run, k.nrun, symmetric ? k.end : k.columns);
    }
  }
}

// Columns that rows up to `end` - 1 of an update have at most: see scatter.
static int columnsOf(Work* w, const djBlocks* b, const djSuper* r, int end, bool symmetric,
                     bool below) {
  Walk k = {.i = -1, .target = -1};
  while (k.end < end) nextBlock(&k, w, b, r);
  return below ? k.beyond : symmetric ? k.end : k.columns;
}

static void updateLater(double* F, Work* w, const djBlocks* b, const djSuper* r, bool symmetric) {
  int width = r->own + r->later;
  const double *A = F + r->at, *R = A + r->own, *C = F + r->below;
  for (int first = 0; first < r->later; first += CHUNK) {
    int end = first + CHUNK < r->later ? first + CHUNK : r->later, rows = end - first;
    int columns = columnsOf(w, b, r, end, symmetric, false);
    if (symmetric) product(w->out, rows, columns, r, R + first, width, R, width, A);
    else product(w->out, rows, columns, r, C + first, r->later, R, width, NULL);
    scatter(F, w, b, r, first, end, columns, symmetric, false);
    if (symmetric) continue;
    columns = columnsOf(w, b, r, end, false, true);
    if (columns == 0) continue;
    product(w->out, rows, columns, r, R + first, width, C, r->later, NULL);
    scatter(F, w, b, r, first, end, columns, false, true);
  }
}

// Rows of n numbers, `stride` apart, times 1/D or its square root.
static void scaleRows(double* R, const djSuper* r, int stride, const double* A, bool root) {
  int width = r->own + r->later;
  for (int k = 0; k < r->own; k++) {
    double f = A[(size_t)k * (width + 1)];
    if (root) f = sqrt(f);
    for (int j = 0; j < r->later; j++) R[(size_t)k * stride + j] *= f;
  }
}

static bool eliminate(double* F, Work* w, const djBlocks* b, int s, bool symmetric) {
  djSuper r = dj_superOf(b, s);
  int width = r.own + r.later;
  double *A = F + r.at, *C = F + r.below, *diagonal = w->diagonal + r.row;
  bool small = isSmall(&r);
  if (symmetric) {
    if (!(small ? smallLDL(A, &r, diagonal)
                : dj_eliminateLDL(A, r.own, r.later, width, diagonal, 1))) return false;
    if (!small) scaleRows(A + r.own, &r, width, A, true);
    updateLater(F, w, b, &r, true);
    scaleRows(A + r.own, &r, width, A, !small);
    return true;
  }
  if (!(small ? smallLDU(A, C, &r, diagonal)
              : dj_eliminateLDU(A, C, r.own, r.later, width, diagonal, 1))) return false;
  updateLater(F, w, b, &r, false);
  scaleRows(C, &r, r.later, A, false);
  return true;
}

bool dj_factorSuper(double* F, const djMatrix* H, const double* shift, bool symmetric) {
  const djBlocks* b = H->blocks;
  Work w;
  takeWork(&w, F + dj_superUses(b, symmetric), b);
  memset(F, 0, entries(b, symmetric) * sizeof(double));
  for (int s = 0; s < b->nsuper; s++) load(F, &w, H, shift, s, symmetric);
  for (int s = 0; s < b->nsuper; s++) {
    if (!eliminate(F, &w, b, s, symmetric)) return false;
  }
  return true;
}

double dj_conditionSuper(const double* F, const djBlocks* b) {
  double lo = INFINITY, hi = 0;
  for (int s = 0; s < b->nsuper; s++) {
    djSuper r = dj_superOf(b, s);
    for (int i = 0; i < r.own; i++) {
      double d = F[r.at + (size_t)i * (r.own + r.later + 1)];
      if (d < lo) lo = d;
      if (d > hi) hi = d;
    }
  }
  return hi / lo;
}
