// Block patterns and the block factorization against the dense one.

#include "common/random_model.h"
#include "common/test.h"

#include "math/block_ldl.h"
#include "math/block_ldu.h"
#include "math/block_matrix.h"
#include "math/factor.h"
#include "math/ldl.h"
#include "math/ldu.h"
#include "math/pattern.h"
#include "math/products.h"

enum { MAX_BLOCKS = 40, MAX_ROWS = 240, NCOL = 7 };

typedef struct Case {
  djPattern pattern;
  void* memory;
  int n, nfine, fine[MAX_BLOCKS + 1];
  bool coupled[MAX_BLOCKS][MAX_BLOCKS];
  double *H, *dense;     // with garbage outside the pattern; full
  djMatrix M;            // what the pattern holds of H
  double *L, *reference, *P;
  double *x, *y, *X, *Y;
} Case;

static void* take(size_t n) {
  void* p = calloc(n + 1, sizeof(double));
  assert_non_null(p);
  return p;
}

// Blocks of 1 to 6 rows, or some of up to 20.
static void makeCase(Case* c, djRng* rng, int nfine, bool large) {
  memset(c, 0, sizeof *c);
  c->nfine = nfine;
  for (int b = 0; b < nfine; b++) {
    int size = large && djt_integer(rng, 4) == 0 ? 20 : 1 + djt_integer(rng, 6);
    if (c->fine[b] + size > MAX_ROWS - (nfine - b)) size = 1;
    c->fine[b + 1] = c->fine[b] + size;
  }
  int n = c->n = c->fine[nfine];
  djArena a = {NULL, 0};
  dj_takePattern(&c->pattern, &a, n, nfine);
  c->memory = malloc(a.used + DJ_ALIGN);
  assert_non_null(c->memory);
  memset(c->memory, 0x5a, a.used + DJ_ALIGN);
  unsigned char* base = c->memory;
  a = (djArena){base + DJ_ALIGN - (uintptr_t)base % DJ_ALIGN, 0};
  dj_takePattern(&c->pattern, &a, n, nfine);
  assert_true(dj_setPattern(&c->pattern, c->fine));
  size_t n2 = (size_t)n * n;
  c->H = take(n2);
  c->M = (djMatrix){take(n2), &c->pattern.blocks};
  c->dense = take(n2);
  c->L = take(n2);
  c->reference = take(n2);
  c->P = take(n2 + (size_t)n * NCOL);
  c->x = take(n);
  c->y = take(n);
  c->X = take((size_t)n * NCOL);
  c->Y = take((size_t)n * NCOL);
}

static void freeCase(Case* c) {
  double* all[] = {c->M.data, c->H, c->dense, c->L, c->reference, c->P, c->x, c->y, c->X, c->Y};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
  dj_freePattern(&c->pattern);
  free(c->memory);
}

// Pairs in random order and in both directions, some twice.
static void name(Case* c, djRng* rng) {
  dj_beginPattern(&c->pattern);
  int pair[MAX_BLOCKS * MAX_BLOCKS][2], n = 0;
  for (int a = 0; a < c->nfine; a++) {
    for (int b = 0; b < a; b++) {
      if (!c->coupled[a][b]) continue;
      bool swap = djt_integer(rng, 2);
      pair[n][0] = swap ? b : a;
      pair[n++][1] = swap ? a : b;
    }
  }
  for (int k = n - 1; k > 0; k--) {
    int j = djt_integer(rng, k + 1), swap[2] = {pair[k][0], pair[k][1]};
    memcpy(pair[k], pair[j], sizeof swap);
    memcpy(pair[j], swap, sizeof swap);
  }
  for (int k = 0; k < n; k++) {
    for (int twice = djt_integer(rng, 2); twice >= 0; twice--) {
      int a = pair[k][0], b = pair[k][1];
      int i = c->fine[a] + djt_integer(rng, c->fine[a + 1] - c->fine[a]);
      dj_coupleRows(&c->pattern, i, c->fine[b] + djt_integer(rng, c->fine[b + 1] - c->fine[b]));
      dj_coupleRows(&c->pattern, i, i);
    }
  }
}

static void announce(Case* c, djRng* rng) {
  name(c, rng);
  assert_true(dj_endPattern(&c->pattern));
}

static bool inPattern(const djBlocks* b, int row, int column) {
  for (int a = 0; a < b->nblock; a++) {
    if (row < b->adr[a] || row >= b->adr[a + 1]) continue;
    for (int k = b->near_adr[a]; k < b->near_adr[a + 1]; k++) {
      if (column >= b->adr[b->near[k]] && column < b->adr[b->near[k] + 1]) return true;
    }
  }
  return false;
}

// M's entries <- A (n x n), and back: with zeros elsewhere.
static const djMatrix* store(Case* c, const double* A) {
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      djBlockView v = dj_blockView(&c->M, i, j);
      assert_true((v.at != NULL) == inPattern(&c->pattern.blocks, i, j));
      if (v.at) *dj_viewEntry(&v, i, j) = A[(size_t)i * (size_t)c->n + (size_t)j];
    }
  }
  return &c->M;
}

static void fetch(double* A, const Case* c, const djMatrix* M) {
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      djBlockView v = dj_blockView(M, i, j);
      A[(size_t)i * (size_t)c->n + (size_t)j] = v.at ? *dj_viewEntry(&v, i, j) : 0;
    }
  }
}

// A diagonally dominant matrix; entries that the pattern does not have are garbage in H, as is the
// upper triangle.
static void fillMatrix(Case* c, djRng* rng) {
  size_t n = c->n;
  memset(c->dense, 0, n * n * sizeof(double));
  int of[MAX_ROWS];
  for (int b = 0; b < c->nfine; b++) {
    for (int i = c->fine[b]; i < c->fine[b + 1]; i++) of[i] = b;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) {
      if (of[i] != of[j] && !c->coupled[of[i]][of[j]]) continue;
      c->dense[i * n + j] = c->dense[j * n + i] = djt_uniform(rng, -1, 1);
    }
  }
  for (size_t i = 0; i < n; i++) {
    double sum = 0.1;
    for (size_t j = 0; j < n; j++) sum += fabs(c->dense[i * n + j]);
    c->dense[i * n + i] = sum;   // diagonally dominant by rows and columns
  }
  const djBlocks* b = &c->pattern.blocks;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      bool given = j <= i && inPattern(b, (int)i, (int)j);
      if (!inPattern(b, (int)i, (int)j)) assert_true(c->dense[i * n + j] == 0);
      c->H[i * n + j] = given ? c->dense[i * n + j] : NAN;
    }
    c->x[i] = djt_uniform(rng, -1, 1);
    for (int k = 0; k < NCOL; k++) c->X[i * NCOL + k] = djt_uniform(rng, -1, 1);
  }
}

static void compare(const double* a, const double* b, size_t n, double tolerance) {
  for (size_t i = 0; i < n; i++) assert_true(fabs(a[i] - b[i]) <= tolerance);
}

// Factor and solutions equal the dense ones, with and without a shift.
static void checkFactor(Case* c, djRng* rng) {
  const djBlocks* b = &c->pattern.blocks;
  size_t n = c->n;
  double shift[MAX_ROWS];
  for (size_t i = 0; i < n; i++) shift[i] = djt_uniform(rng, 0, 3);
  for (int shifted = 0; shifted < 2; shifted++) {
    const double* s = shifted ? shift : NULL;
    assert_true(dj_blockFactorSize(b) <= n * n && dj_packedSize(b) <= n * n);
    assert_true(dj_factorLDL(c->reference, c->dense, s, (int)n));
    assert_true(dj_factorBlockLDL(c->L, store(c, c->H), s));
    memcpy(c->y, c->x, n * sizeof(double));
    dj_solveBlockLDL(c->y, c->L, b);
    double expected[MAX_ROWS];
    memcpy(expected, c->x, n * sizeof(double));
    dj_solveLDL(expected, c->reference, (int)n);
    compare(c->y, expected, n, 1e-12);
    memcpy(c->Y, c->X, n * NCOL * sizeof(double));
    dj_solveBlockLDLMulti(c->Y, c->L, b, NCOL);
    for (int k = 0; k < NCOL; k++) {
      for (size_t i = 0; i < n; i++) expected[i] = c->X[i * NCOL + k];
      dj_solveBlockLDL(expected, c->L, b);
      for (size_t i = 0; i < n; i++) assert_true(fabs(expected[i] - c->Y[i * NCOL + k]) < 1e-13);
    }
    assert_true(dj_conditionBlocks(c->L, b) >= 1);
  }
}

// The same for a matrix that is not symmetric, where the pattern reads both triangles.
static void checkUnsymmetric(Case* c, djRng* rng) {
  const djBlocks* b = &c->pattern.blocks;
  int n = c->n;
  size_t n2 = (size_t)n * n;
  double *A = take(n2), *dense = take(n2), shift[MAX_ROWS], expected[MAX_ROWS];
  for (int i = 0; i < n; i++) {
    shift[i] = djt_uniform(rng, 0, 3);
    for (int j = 0; j < n; j++) {
      size_t at = (size_t)i * n + j;
      double value = c->dense[at];
      if (value != 0 && i != j) value *= djt_uniform(rng, 0, 1);
      dense[at] = value;
      A[at] = inPattern(b, i, j) ? value : NAN;
    }
  }
  for (int shifted = 0; shifted < 2; shifted++) {
    assert_true(dj_blockLDUSize(b) <= n2);
    assert_true(dj_factorLDU(c->reference, dense, shifted ? shift : NULL, n));
    assert_true(dj_factorBlockLDU(c->L, store(c, A), shifted ? shift : NULL));
    for (int transpose = 0; transpose < 2; transpose++) {
      memcpy(c->y, c->x, (size_t)n * sizeof(double));
      memcpy(expected, c->x, (size_t)n * sizeof(double));
      if (transpose) {
        dj_solveBlockLDUTranspose(c->y, c->L, b);
        dj_solveLDUTranspose(expected, c->reference, n);
      } else {
        dj_solveBlockLDU(c->y, c->L, b);
        dj_solveLDU(expected, c->reference, n);
      }
      compare(c->y, expected, (size_t)n, 1e-12);
    }
    memcpy(c->Y, c->X, (size_t)n * NCOL * sizeof(double));
    memcpy(c->P, c->X, (size_t)n * NCOL * sizeof(double));
    dj_solveBlockLDUMulti(c->Y, c->L, b, NCOL);
    dj_solveLDUMulti(c->P, c->reference, n, NCOL);
    compare(c->Y, c->P, (size_t)n * NCOL, 1e-12);
  }
  size_t bad = (size_t)djt_integer(rng, n) * (size_t)(n + 1);
  A[bad] = -A[bad];
  assert_false(dj_factorBlockLDU(c->L, store(c, A), NULL));
  free(A);
  free(dense);
}

// A += f x y^T of some rows equals the same by entries.
static void checkOuter(Case* c, djRng* rng) {
  const djBlocks* b = &c->pattern.blocks;
  for (int lower = 0; lower < 2; lower++) {
    double x[MAX_ROWS], y[MAX_ROWS];
    int low = djt_integer(rng, c->n), high = low + djt_integer(rng, c->n - low + 1);
    for (int i = 0; i < c->n; i++) {
      bool in = i >= low && i < high;
      x[i] = in && i % 3 ? djt_uniform(rng, -1, 1) : 0;
      y[i] = in ? djt_uniform(rng, -1, 1) : 0;
    }
    store(c, c->H);
    dj_clearMatrix(&c->M);
    dj_addOuter(&c->M, 2, x, y, low, high, lower);
    fetch(c->reference, c, &c->M);
    for (int i = 0; i < c->n; i++) {
      for (int j = 0; j < c->n; j++) {
        bool has = inPattern(b, i, j) && (!lower || j <= i);
        double expected = has ? 2 * x[i] * y[j] : 0;
        assert_true(fabs(c->reference[(size_t)i * (size_t)c->n + (size_t)j] - expected) < 1e-15);
      }
    }
  }
}

// X^T X of halved columns is X^T H^-1 X, as of single ones.
static void checkHalves(Case* c) {
  size_t n = (size_t)c->n;
  assert_true(dj_factorLDL(c->reference, c->dense, NULL, c->n));
  memcpy(c->Y, c->X, n * NCOL * sizeof(double));
  memcpy(c->P, c->X, n * NCOL * sizeof(double));
  dj_halveLDLMulti(c->Y, c->reference, c->n, NCOL);
  dj_solveLDLMulti(c->P, c->reference, c->n, NCOL);
  for (int k = 0; k < NCOL; k++) {
    double half[MAX_ROWS], by_half = 0, whole = 0;
    for (size_t i = 0; i < n; i++) half[i] = c->X[i * NCOL + (size_t)k];
    dj_halveLDL(half, c->reference, c->n);
    for (size_t i = 0; i < n; i++) {
      double own = c->Y[i * NCOL + (size_t)k];
      assert_true(fabs(half[i] - own) < 1e-13);
      by_half += own * own;
      whole += c->X[i * NCOL + (size_t)k] * c->P[i * NCOL + (size_t)k];
    }
    assert_true(fabs(by_half - whole) < 1e-12 * (1 + whole));
  }
}

// A half of what has zeros at its end.
static void checkSparseHalves(Case* c) {
  const size_t n = (size_t)c->n;
  for (size_t end = 0; end < n; end++) {
    double half[MAX_ROWS] = {0}, whole[MAX_ROWS] = {0}, by_half = 0, by_whole = 0;
    for (size_t i = 0; i < end; i++) half[i] = whole[i] = c->x[i];
    dj_halveLDL(half, c->reference, c->n);
    dj_solveLDL(whole, c->reference, c->n);
    for (size_t i = 0; i < n; i++) {
      assert_true(i < end || half[i] == 0);
      by_half += half[i] * half[i];
      by_whole += whole[i] * (i < end ? c->x[i] : 0);
    }
    assert_true(fabs(by_half - by_whole) < 1e-12 * (1 + by_whole));
  }
}

// Sums, columns, products, and copies of the pattern.
static void checkMatrix(Case* c) {
  djBlocks copy;
  const djBlocks* b = &c->pattern.blocks;
  size_t n = c->n, used = dj_packedSize(b);
  void* memory = take(dj_blocksSize(b) / sizeof(double));
  dj_copyBlocks(&copy, memory, b);
  djMatrix other = {c->L, b};
  store(c, c->H);
  dj_mirrorMatrix(&c->M);
  dj_copyMatrix(&other, &c->M);
  dj_addMatrix(&other, &c->M);
  dj_scaleMatrix(&other, -1);
  fetch(c->reference, c, &other);
  for (size_t k = 0; k < n * n; k++) assert_true(c->reference[k] == -2 * c->dense[k]);
  for (int first = 0; first < c->n; first += 5) {
    int end = first + 7 < c->n ? first + 7 : c->n, width = end - first;
    for (size_t k = 0; k < n * n; k++) c->reference[k] = NAN;
    dj_columns(c->reference, width, 3, &c->M, first, end);
    for (int i = 0; i < c->n; i++) {
      for (int j = first; j < end; j++) {
        assert_true(c->reference[i * width + j - first] == 3 * c->dense[(size_t)i * n + j]);
      }
    }
  }
  const djMatrix view = {c->M.data, &copy};
  for (int transposed = 0; transposed < 2; transposed++) {
    double expected[MAX_ROWS];
    for (size_t i = 0; i < n; i++) {
      c->y[i] = expected[i] = (double)i;
      for (size_t j = 0; j < n; j++) expected[i] += 3 * c->dense[i * n + j] * c->x[j];
    }
    if (transposed) dj_mulMatrixT(c->y, 3, &view, c->x);
    else dj_mulMatrix(c->y, 3, &view, c->x);
    compare(c->y, expected, n, 1e-11);
  }
  for (int i = 0; i < c->n; i++) dj_addEntry(&c->M, i, i / 2, 1);
  fetch(c->reference, c, &c->M);
  for (int i = 0; i < c->n; i++) {
    size_t at = (size_t)i * n + (size_t)(i / 2);
    assert_true(c->reference[at] == c->dense[at] + (inPattern(b, i, i / 2) ? 1 : 0));
  }
  for (size_t k = used; k < n * n; k++) c->M.data[k] = NAN;
  dj_clearMatrix(&c->M);
  for (size_t k = 0; k < n * n; k++) {
    assert_true(k < used ? c->M.data[k] == 0 : isnan(c->M.data[k]));
  }
  free(memory);
}

// Block diagonal matrices: sums into others, and solutions by their own blocks.
static void checkDiagonal(Case* c) {
  size_t n = c->n;
  void* memory = take(dj_diagonalSize(c->n, c->nfine) / sizeof(double) + 1);
  djBlocks blocks = dj_diagonalBlocks(memory, c->n, c->nfine, c->fine);
  double *data = take(n * n), *inverse = take(n * n), *factor = take(n * n);
  djMatrix D = {data, &blocks}, X = {inverse, &blocks};
  for (int i = 0; i < c->n; i++) {
    for (int j = c->fine[blocks.block_of[i]]; j < c->fine[blocks.block_of[i] + 1]; j++) {
      *dj_own(&D, i, j) = c->dense[(size_t)i * n + (size_t)j];
      *dj_own(&X, i, j) = i == j;
    }
  }
  store(c, c->dense);
  dj_addDiagonal(&c->M, &D);
  fetch(c->reference, c, &c->M);
  dj_setDiagonal(&c->M, &D);
  fetch(c->L, c, &c->M);
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      double own = blocks.block_of[i] == blocks.block_of[j] ? c->dense[(size_t)i * n + j] : 0;
      assert_true(c->reference[(size_t)i * n + j] == c->dense[(size_t)i * n + j] + own);
      assert_true(c->L[(size_t)i * n + j] == own);
    }
  }
  for (int kind = DJ_LDL; kind <= DJ_LDU; kind++) {
    djFactor f = {.kind = (djFactorKind)kind, .n = c->n, .data = factor};
    assert_true(dj_factor(&f, &D, NULL));
    dj_solveDiagonal(&X, &f);   // twice: D^-2
  }
  for (int i = 0; i < c->n; i++) {
    memset(c->x, 0, n * sizeof(double));
    c->x[i] = 1;
    for (int k = 0; k < 2; k++) {
      memset(c->y, 0, n * sizeof(double));
      dj_mulMatrix(c->y, 1, &D, c->x);
      memcpy(c->x, c->y, n * sizeof(double));
    }
    memset(c->y, 0, n * sizeof(double));
    dj_mulMatrix(c->y, 1, &X, c->x);
    for (int j = 0; j < c->n; j++) assert_true(fabs(c->y[j] - (i == j)) < 1e-10);
  }
  free(memory);
  free(data);
  free(inverse);
  free(factor);
}

static void couple(Case* c, int a, int b) {
  if (a != b) c->coupled[a][b] = c->coupled[b][a] = true;
}

// n pairs of the first nb blocks.
static void coupleAny(Case* c, int n, int nb, djRng* rng) {
  for (int k = 0; k < n; k++) {
    int a = djt_integer(rng, nb), b = djt_integer(rng, nb);
    couple(c, a, b);
  }
}

// Random graphs of every density; P is not symmetric only in the way it is stored.
static void testRandomGraphs(void) {
  djRng rng = {11};
  int sparse = 0;
  for (int trial = 0; trial < 60; trial++) {
    Case c;
    int nb = 1 + djt_integer(&rng, MAX_BLOCKS);
    makeCase(&c, &rng, nb, trial % 2);
    for (int pass = 0; pass < 3; pass++) {
      memset(c.coupled, 0, sizeof c.coupled);
      int pairs = djt_integer(&rng, pass == 2 ? nb * nb : 2 * nb + 1);
      coupleAny(&c, pairs, nb, &rng);
      announce(&c, &rng);
      sparse += c.pattern.blocks.nblock > 1;
      fillMatrix(&c, &rng);
      checkFactor(&c, &rng);
      checkUnsymmetric(&c, &rng);
      checkOuter(&c, &rng);
      checkHalves(&c);
      checkSparseHalves(&c);
      checkMatrix(&c);
      checkDiagonal(&c);
    }
    freeCase(&c);
  }
  assert_true(sparse > 60 && sparse < 180);
}

// The analysis depends on the set of pairs, not on their order or on what came before.
static void testOrderIsAFunctionOfTheSet(void) {
  djRng rng = {12};
  Case c;
  makeCase(&c, &rng, 30, false);
  coupleAny(&c, 40, 30, &rng);
  announce(&c, &rng);
  assert_true(c.pattern.blocks.nblock == 30);
  fillMatrix(&c, &rng);
  assert_true(dj_factorBlockLDL(c.reference, store(&c, c.H), NULL));
  size_t size = dj_blockFactorSize(&c.pattern.blocks);
  bool saved[MAX_BLOCKS][MAX_BLOCKS];
  memcpy(saved, c.coupled, sizeof saved);
  for (int trial = 0; trial < 10; trial++) {
    memset(c.coupled, 0, sizeof c.coupled);
    coupleAny(&c, 20, 30, &rng);
    announce(&c, &rng);
    memcpy(c.coupled, saved, sizeof saved);
    announce(&c, &rng);
    assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
    assert_memory_equal(c.L, c.reference, size * sizeof(double));
  }
  freeCase(&c);
}

// Fill-in: none for chains, rings and trees beyond what they must have.
static void testFill(void) {
  djRng rng = {13};
  Case c;
  makeCase(&c, &rng, MAX_BLOCKS, false);
  int nb = c.nfine;
  for (int kind = 0; kind < 3; kind++) {
    memset(c.coupled, 0, sizeof c.coupled);
    for (int b = 1; b < nb; b++) couple(&c, b, kind == 2 ? djt_integer(&rng, b) : b - 1);
    if (kind == 1) couple(&c, 0, nb - 1);
    announce(&c, &rng);
    const djBlocks* b = &c.pattern.blocks;
    assert_int_equal(b->nblock, nb);
    assert_int_equal(b->near_adr[nb], nb + 2 * (nb - (kind == 1 ? 0 : 1)));
    assert_int_equal(b->later_adr[nb], kind == 1 ? 2 * nb - 3 : nb - 1);
  }
  freeCase(&c);
}

// Matrices that are not positive definite, or not finite, are refused, wherever the fault is.
static void testIndefinite(void) {
  djRng rng = {14};
  Case c;
  makeCase(&c, &rng, 25, false);
  coupleAny(&c, 40, 25, &rng);
  announce(&c, &rng);
  const djBlocks* b = &c.pattern.blocks;
  assert_true(b->nblock == 25);
  fillMatrix(&c, &rng);
  int refused = 0;
  for (int i = 0; i < c.n; i++) {
    double* d = &c.H[(size_t)i * (size_t)(c.n + 1)];
    double keep = *d, scale[2] = {-1, 0.6};
    for (int k = 0; k < 2; k++) {
      *d = c.dense[(size_t)i * (size_t)(c.n + 1)] = scale[k] * keep;
      bool good = dj_factorLDL(c.reference, c.dense, NULL, c.n);
      assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL) == good);
      refused += !good;
      if (good) continue;
      double shift[MAX_ROWS] = {0};   // of what was taken away
      shift[i] = (1 - scale[k]) * keep;
      assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), shift));
    }
    *d = NAN;
    assert_false(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
    *d = INFINITY;
    assert_false(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
    *d = c.dense[(size_t)i * (size_t)(c.n + 1)] = keep;
  }
  assert_true(refused >= c.n);
  freeCase(&c);
}

// The ratio of the largest pivot to the least does not depend on the unit: here of 1 to 8, in units
// from which all pivots, or their inverses, are below one.
static void testCondition(void) {
  djRng rng = {14};
  for (int k = -30; k <= 30; k += 15) {
    Case c;
    makeCase(&c, &rng, 4, false);
    announce(&c, &rng);
    size_t n = c.n;
    memset(c.H, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) c.H[i * (n + 1)] = ldexp(i == 1 ? 8 : i == n - 1 ? 1 : 3, k);
    assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
    assert_true(dj_conditionBlocks(c.L, &c.pattern.blocks) == 8);
    assert_true(dj_factorLDL(c.reference, c.H, NULL, c.n));
    assert_true(dj_conditionLDL(c.reference, c.n) == 8);
    freeCase(&c);
  }
}

// Everything coupled, the switch, and nothing at all.
static void testDense(void) {
  djRng rng = {15};
  Case c;
  makeCase(&c, &rng, 20, false);
  for (int a = 0; a < 20; a++) {
    for (int b = 0; b < a; b++) couple(&c, a, b);
  }
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 1);
  memset(c.coupled, 0, sizeof c.coupled);
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 20);
  c.pattern.dense = true;
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 1);
  fillMatrix(&c, &rng);
  checkFactor(&c, &rng);
  assert_true(dj_factorLDL(c.reference, c.dense, NULL, c.n));
  assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
  compare(c.L, c.reference, (size_t)c.n, 0);
  freeCase(&c);
  makeCase(&c, &rng, 0, false);
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 0);
  assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
  dj_solveBlockLDL(c.x, c.L, &c.pattern.blocks);
  assert_true(dj_conditionBlocks(c.L, &c.pattern.blocks) == 1);
  freeCase(&c);
}

// Lists that are short are noticed and grow, until they hold what longer ones hold.
static void testGrowth(void) {
  djRng rng = {16};
  Case c;
  makeCase(&c, &rng, 20, false);
  for (int b = 1; b < 20; b++) couple(&c, b, b - 1);
  announce(&c, &rng);
  fillMatrix(&c, &rng);
  assert_true(dj_factorBlockLDL(c.reference, store(&c, c.H), NULL));
  size_t size = dj_blockFactorSize(&c.pattern.blocks);
  for (int kind = 0; kind < 2; kind++) {
    if (kind == 0) c.pattern.maxpair = 3;
    else c.pattern.maxlater = 5;
    c.pattern.nanalysed = -1;
    int growths = 0;
    for (name(&c, &rng); !dj_endPattern(&c.pattern); name(&c, &rng)) {
      assert_true(dj_growPattern(&c.pattern));
      growths++;
    }
    assert_int_equal(growths, 1);
    assert_true(c.pattern.maxpair >= 19 && c.pattern.maxlater >= 19);
    assert_int_equal(c.pattern.blocks.nblock, 20);
    assert_true(dj_factorBlockLDL(c.L, store(&c, c.H), NULL));
    assert_memory_equal(c.L, c.reference, size * sizeof(double));
  }
  freeCase(&c);
}

static void testProducts(void) {
  enum { ROWS = 7, STRIDE = 9 };
  djRng rng = {17};
  double A[ROWS * STRIDE], x[STRIDE];
  for (int k = 0; k < ROWS * STRIDE; k++) A[k] = djt_uniform(&rng, -1, 1);
  for (int k = 0; k < STRIDE; k++) x[k] = djt_uniform(&rng, -1, 1);
  for (int rows = 0; rows <= ROWS; rows++) {
    for (int n = 0; n <= STRIDE; n++) {
      double y[ROWS + 1];
      for (int i = 0; i <= ROWS; i++) y[i] = i;
      dju_addProducts(y, 3, A, STRIDE, x, rows, n);
      for (int i = 0; i <= ROWS; i++) {
        double expected = i;
        for (int j = 0; j < n && i < rows; j++) expected += 3 * A[STRIDE * i + j] * x[j];
        assert_true(fabs(y[i] - expected) < 1e-14);
      }
    }
  }
}

DJT_MAIN(testRandomGraphs, testOrderIsAFunctionOfTheSet, testFill, testIndefinite, testDense,
         testGrowth, testCondition, testProducts)
