// Block patterns and the block factorization against the dense one.

#include "common/random_model.h"

#include "math/block_ldl.h"
#include "math/block_ldu.h"
#include "math/block_matrix.h"
#include "math/ldl.h"
#include "math/ldu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_BLOCKS = 40, MAX_ROWS = 240, NCOL = 7 };

typedef struct Case {
  djPattern pattern;
  void* memory;
  int n, nfine, fine[MAX_BLOCKS + 1];
  bool coupled[MAX_BLOCKS][MAX_BLOCKS];
  double *H, *dense;     // with garbage outside the pattern; full
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
  dj_setPattern(&c->pattern, c->fine);
  size_t n2 = (size_t)n * n;
  c->H = take(n2);
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
  double* all[] = {c->H, c->dense, c->L, c->reference, c->P, c->x, c->y, c->X, c->Y};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
  free(c->memory);
}

// Pairs in random order and in both directions, some twice.
static void announce(Case* c, djRng* rng) {
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
  dj_endPattern(&c->pattern);
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
    assert_true(dj_factorBlockLDL(c->L, c->H, s, b));
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
    assert_true(dj_factorBlockLDU(c->L, A, shifted ? shift : NULL, b));
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
  assert_false(dj_factorBlockLDU(c->L, A, NULL, b));
  free(A);
  free(dense);
}

// Pack, products, and copies of the pattern.
static void checkMatrix(Case* c) {
  djBlocks copy;
  const djBlocks* b = &c->pattern.blocks;
  size_t n = c->n;
  void* memory = take(dj_blocksSize(b) / sizeof(double));
  assert_true(dj_blocksSize(b) <= dj_maxBlocksSize(c->nfine));
  dj_copyBlocks(&copy, memory, b);
  dj_mirrorBlocks(c->reference, c->H, &copy);
  dj_mirrorBlocks(c->L, c->H, &copy);
  dj_addBlocks(c->reference, c->L, &copy);
  dj_scaleBlocks(c->reference, 0.5, &copy);
  dj_packBlocks(c->P, c->reference, &copy);
  dj_packBlocks(c->reference, c->reference, &copy);
  assert_memory_equal(c->P, c->reference, dj_packedSize(b) * sizeof(double));
  dj_unpackBlocks(c->reference, (int)n, -2, c->P, &copy);
  for (size_t k = 0; k < n * n; k++) assert_true(c->reference[k] == -2 * c->dense[k]);
  for (int transposed = 0; transposed < 2; transposed++) {
    double expected[MAX_ROWS];
    for (size_t i = 0; i < n; i++) {
      c->y[i] = expected[i] = (double)i;
      for (size_t j = 0; j < n; j++) expected[i] += 3 * c->dense[i * n + j] * c->x[j];
    }
    if (transposed) dj_mulBlocksT(c->y, 3, c->P, c->x, &copy);
    else dj_mulBlocks(c->y, 3, c->P, c->x, &copy);
    compare(c->y, expected, n, 1e-11);
  }
  dj_clearBlocks(c->H, &copy);
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      assert_true(inPattern(b, i, j) ? c->H[i * n + j] == 0 : isnan(c->H[i * n + j]));
    }
  }
  free(memory);
}

static void couple(Case* c, int a, int b) {
  if (a != b) c->coupled[a][b] = c->coupled[b][a] = true;
}

// Random graphs of every density; P is not symmetric only in the way it is stored.
static void testRandomGraphs(void** state) {
  (void)state;
  djRng rng = {11};
  int sparse = 0;
  for (int trial = 0; trial < 60; trial++) {
    Case c;
    int nb = 1 + djt_integer(&rng, MAX_BLOCKS);
    makeCase(&c, &rng, nb, trial % 2);
    for (int pass = 0; pass < 3; pass++) {
      memset(c.coupled, 0, sizeof c.coupled);
      int pairs = djt_integer(&rng, pass == 2 ? nb * nb : 2 * nb + 1);
      for (int k = 0; k < pairs; k++) couple(&c, djt_integer(&rng, nb), djt_integer(&rng, nb));
      announce(&c, &rng);
      sparse += c.pattern.blocks.nblock > 1;
      fillMatrix(&c, &rng);
      checkFactor(&c, &rng);
      checkUnsymmetric(&c, &rng);
      checkMatrix(&c);
    }
    freeCase(&c);
  }
  assert_true(sparse > 60 && sparse < 180);
}

// The analysis depends on the set of pairs, not on their order or on what came before.
static void testOrderIsAFunctionOfTheSet(void** state) {
  (void)state;
  djRng rng = {12};
  Case c;
  makeCase(&c, &rng, 30, false);
  for (int k = 0; k < 40; k++) couple(&c, djt_integer(&rng, 30), djt_integer(&rng, 30));
  announce(&c, &rng);
  assert_true(c.pattern.blocks.nblock == 30);
  fillMatrix(&c, &rng);
  assert_true(dj_factorBlockLDL(c.reference, c.H, NULL, &c.pattern.blocks));
  size_t size = dj_blockFactorSize(&c.pattern.blocks);
  bool saved[MAX_BLOCKS][MAX_BLOCKS];
  memcpy(saved, c.coupled, sizeof saved);
  for (int trial = 0; trial < 10; trial++) {
    memset(c.coupled, 0, sizeof c.coupled);
    for (int k = 0; k < 20; k++) couple(&c, djt_integer(&rng, 30), djt_integer(&rng, 30));
    announce(&c, &rng);
    memcpy(c.coupled, saved, sizeof saved);
    announce(&c, &rng);
    assert_true(dj_factorBlockLDL(c.L, c.H, NULL, &c.pattern.blocks));
    assert_memory_equal(c.L, c.reference, size * sizeof(double));
  }
  freeCase(&c);
}

// Fill-in: none for chains, rings and trees beyond what they must have.
static void testFill(void** state) {
  (void)state;
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
static void testIndefinite(void** state) {
  (void)state;
  djRng rng = {14};
  Case c;
  makeCase(&c, &rng, 25, false);
  for (int k = 0; k < 40; k++) couple(&c, djt_integer(&rng, 25), djt_integer(&rng, 25));
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
      assert_true(dj_factorBlockLDL(c.L, c.H, NULL, b) == good);
      refused += !good;
      if (good) continue;
      double shift[MAX_ROWS] = {0};   // of what was taken away
      shift[i] = (1 - scale[k]) * keep;
      assert_true(dj_factorBlockLDL(c.L, c.H, shift, b));
    }
    *d = NAN;
    assert_false(dj_factorBlockLDL(c.L, c.H, NULL, b));
    *d = INFINITY;
    assert_false(dj_factorBlockLDL(c.L, c.H, NULL, b));
    *d = c.dense[(size_t)i * (size_t)(c.n + 1)] = keep;
  }
  assert_true(refused >= c.n);
  freeCase(&c);
}

// The ratio of the largest pivot to the least does not depend on the unit: here of 1 to 8, in units
// from which all pivots, or their inverses, are below one.
static void testCondition(void** state) {
  (void)state;
  djRng rng = {14};
  for (int k = -30; k <= 30; k += 15) {
    Case c;
    makeCase(&c, &rng, 4, false);
    announce(&c, &rng);
    size_t n = c.n;
    memset(c.H, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) c.H[i * (n + 1)] = ldexp(i == 1 ? 8 : i == n - 1 ? 1 : 3, k);
    assert_true(dj_factorBlockLDL(c.L, c.H, NULL, &c.pattern.blocks));
    assert_true(dj_conditionBlocks(c.L, &c.pattern.blocks) == 8);
    assert_true(dj_factorLDL(c.reference, c.H, NULL, c.n));
    assert_true(dj_conditionLDL(c.reference, c.n) == 8);
    freeCase(&c);
  }
}

// More pairs than there is room for, everything coupled, the switch, and nothing at all.
static void testDense(void** state) {
  (void)state;
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
  assert_true(dj_factorBlockLDL(c.L, c.H, NULL, &c.pattern.blocks));
  compare(c.L, c.reference, (size_t)c.n, 0);
  c.pattern.dense = false;
  int maxpair = c.pattern.maxpair;
  c.pattern.maxpair = 3;
  for (int b = 1; b < 20; b++) couple(&c, b, b - 1);
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 1);
  c.pattern.maxpair = maxpair;
  c.pattern.maxlater = 5;
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 1);
  freeCase(&c);
  makeCase(&c, &rng, 0, false);
  announce(&c, &rng);
  assert_int_equal(c.pattern.blocks.nblock, 0);
  assert_true(dj_factorBlockLDL(c.L, c.H, NULL, &c.pattern.blocks));
  dj_solveBlockLDL(c.x, c.L, &c.pattern.blocks);
  assert_true(dj_conditionBlocks(c.L, &c.pattern.blocks) == 1);
  freeCase(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRandomGraphs), cmocka_unit_test(testOrderIsAFunctionOfTheSet),
      cmocka_unit_test(testFill), cmocka_unit_test(testIndefinite), cmocka_unit_test(testDense),
      cmocka_unit_test(testCondition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
