// Factors of matrices of many blocks, by supernodes, and of large dense ones, by BLAS: against
// those by hand; and that several threads get the same bits.

#include "common/random_model.h"
#include "common/room.h"
#include "common/test.h"

#include "math/factor.h"
#include "math/block_row.h"
#include "math/front.h"
#include "math/ldl.h"
#include "math/ldu.h"
#include "math/super.h"

#include <pthread.h>

enum { NCOL = 21 };

// A matrix of n rows in nfine blocks, dense and in a pattern, and its factors by hand.
typedef struct Case {
  djPattern pattern;
  void* memory;
  int n, nfine;
  int* fine;
  double *dense, *reference, *shift;
  djMatrix H;
  djFactor f;
} Case;

static void makeCase(Case* c, djRng* rng, int nfine, int most) {
  memset(c, 0, sizeof *c);
  c->nfine = nfine;
  c->fine = calloc((size_t)nfine + 1, sizeof(int));
  for (int b = 0; b < nfine; b++) c->fine[b + 1] = c->fine[b] + 1 + djt_integer(rng, most);
  c->n = c->fine[nfine];
  djArena a = {NULL, 0};
  dj_takePattern(&c->pattern, &a, c->n, nfine);
  c->memory = aligned_alloc(DJ_ALIGN, a.used);
  memset(c->memory, 0x5a, a.used);
  a = (djArena){c->memory, 0};
  dj_takePattern(&c->pattern, &a, c->n, nfine);
  assert_true(dj_setPattern(&c->pattern, c->fine));
  size_t n2 = (size_t)c->n * (size_t)c->n;
  c->dense = djt_room(n2);
  c->reference = djt_room(n2);
  c->shift = djt_room((size_t)c->n);
  c->H = (djMatrix){djt_room(n2), &c->pattern.blocks};
}

static void freeCase(Case* c) {
  double* all[] = {c->dense, c->reference, c->shift, c->H.data, c->f.data};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
  dj_freePattern(&c->pattern);
  free(c->memory);
  free(c->fine);
}

// Couples blocks; as many times as lists must grow.
typedef void Couple(Case* c, djRng* rng, int amount);

static void setPairs(Case* c, djRng* rng, Couple* couple, int amount) {
  for (;;) {
    djRng copy = *rng;
    dj_beginPattern(&c->pattern);
    couple(c, &copy, amount);
    if (dj_endPattern(&c->pattern)) {
      *rng = copy;
      return;
    }
    assert_true(dj_growPattern(&c->pattern));
  }
}

static void couple(Case* c, int a, int b) {
  dj_coupleRows(&c->pattern, c->fine[a], c->fine[b + 1] - 1);
}

static void atRandom(Case* c, djRng* rng, int amount) {
  for (int k = 0; k < amount; k++) {
    int a = djt_integer(rng, c->nfine), b = djt_integer(rng, c->nfine);
    couple(c, a, b);
  }
}

// A grid with diagonals, `amount` wide: fill-in makes large supernodes.
static void asGrid(Case* c, djRng* rng, int amount) {
  (void)rng;
  for (int i = 0; i < c->nfine; i++) {
    if (i % amount > 0) couple(c, i, i - 1);
    if (i >= amount) couple(c, i, i - amount);
    if (i >= amount && i % amount > 0) couple(c, i, i - amount - 1);
  }
}

// All with the first: what lies on a plate.
static void asStar(Case* c, djRng* rng, int amount) {
  for (int i = 1; i < c->nfine; i++) couple(c, 0, i);
  atRandom(c, rng, amount);
}

// Diagonally dominant; the upper triangle of a symmetric one is garbage.
static void fill(Case* c, djRng* rng, bool symmetric) {
  int n = c->n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double x = djt_uniform(rng, -1, 1);
      bool given = dj_blockView(&c->H, i, j).at != NULL;
      c->dense[(size_t)i * n + j] = !given ? 0
                                    : symmetric && j < i ? c->dense[(size_t)j * n + i] : x;
    }
  }
  for (int i = 0; i < n; i++) {
    double sum = 0.1;
    for (int j = 0; j < n; j++) {
      sum += fmax(fabs(c->dense[(size_t)i * n + j]), fabs(c->dense[(size_t)j * n + i]));
    }
    c->dense[(size_t)i * n + i] = sum;
    c->shift[i] = djt_uniform(rng, 0, 2);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      djBlockView v = dj_blockView(&c->H, i, j);
      if (v.at) *dj_viewEntry(&v, i, j) = symmetric && j > i ? NAN : c->dense[(size_t)i * n + j];
    }
  }
}

static void compare(const double* a, const double* b, size_t n) {
  for (size_t i = 0; i < n; i++) assert_true(fabs(a[i] - b[i]) <= 1e-12);
}

// Solutions of all kinds against those by hand.
static void checkFactor(Case* c, djRng* rng, bool symmetric) {
  size_t n = (size_t)c->n, need;
  double *X = djt_room(n * NCOL), *Y = djt_room(n * NCOL), *x = djt_room(n), *y = djt_room(n);
  c->f.kind = symmetric ? DJ_LDL : DJ_LDU;
  c->f.n = c->n;
  need = dj_factorNeeds(c->f.kind, c->H.blocks);
  free(c->f.data);
  c->f.data = djt_room(need);
  memset(c->f.data, 0x5a, need * sizeof(double));
  for (int shifted = 0; shifted < 2; shifted++) {
    const double* s = shifted ? c->shift : NULL;
    assert_true(symmetric ? dj_factorLDL(c->reference, c->dense, s, c->n)
                          : dj_factorLDU(c->reference, c->dense, s, c->n));
    assert_true(dj_factor(&c->f, &c->H, s));
    assert_true(dj_factorUses(&c->f) <= need);
    for (size_t i = 0; i < n * NCOL; i++) X[i] = Y[i] = djt_uniform(rng, -1, 1);
    dj_solveMulti(X, &c->f, NCOL);
    if (symmetric) dj_solveLDLMulti(Y, c->reference, c->n, NCOL);
    else dj_solveLDUMulti(Y, c->reference, c->n, NCOL);
    compare(X, Y, n * NCOL);
    for (int transpose = 0; transpose < 2; transpose++) {
      for (size_t i = 0; i < n; i++) x[i] = y[i] = djt_uniform(rng, -1, 1);
      if (transpose) dj_solveTranspose(x, &c->f);
      else dj_solve(x, &c->f);
      if (symmetric) dj_solveLDL(y, c->reference, c->n);
      else if (transpose) dj_solveLDUTranspose(y, c->reference, c->n);
      else dj_solveLDU(y, c->reference, c->n);
      compare(x, y, n);
    }
    double condition = dj_condition(&c->f);
    assert_true(condition >= 1 && condition < 1e4);
  }
  // A pivot that is not positive, wherever.
  int bad = djt_integer(rng, c->n);
  double* d = dj_own(&c->H, bad, bad), keep = *d;
  *d = -keep;
  assert_false(dj_factor(&c->f, &c->H, NULL));
  *d = NAN;
  assert_false(dj_factor(&c->f, &c->H, NULL));
  *d = keep;
  free(X);
  free(Y);
  free(x);
  free(y);
}

static void testSupernodes(void) {
  djRng rng = {21};
  static Couple* const kind[] = {atRandom, asGrid, asStar};
  int large = 0, merged = 0;
  for (int trial = 0; trial < 24; trial++) {
    Case c;
    int nfine = DJ_MANY + djt_integer(&rng, 60), most = trial % 4 == 3 ? 1 : 6;
    int which = trial % 3, amount[] = {nfine / 2 + trial * 6, 5 + trial / 3, nfine / 2};
    makeCase(&c, &rng, nfine, most);
    for (int pass = 0; pass < 2; pass++) {
      setPairs(&c, &rng, kind[which], pass ? amount[which] : 1 + amount[which] / 2);
      const djBlocks* b = &c.pattern.blocks;
      if (b->nblock == 1) continue;
      assert_true(b->nsuper > 0 && b->super_first[b->nsuper] == nfine);
      for (int a = 0; a < nfine; a++) {
        for (int k = b->near_adr[a] + 1; k < b->near_adr[a + 1]; k++) {
          assert_true(b->near[k] > b->near[k - 1]);
        }
      }
      merged += nfine - b->nsuper;
      for (int s = 0; s < b->nsuper; s++) large += b->super_first[s + 1] - b->super_first[s] > 8;
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        fill(&c, &rng, symmetric);
        checkFactor(&c, &rng, symmetric);
      }
    }
    freeCase(&c);
  }
  print_message("%d blocks joined others, %d large supernodes\n", merged, large);
  assert_true(merged > 1000 && large > 20);
}

// Rows of blocks and of supernodes are those of the pattern; a factor by supernodes, asked for
// directly, solves what it was made of.
static void testRows(void) {
  djRng rng = {5};
  Case c;
  makeCase(&c, &rng, DJ_MANY + 20, 4);
  setPairs(&c, &rng, atRandom, DJ_MANY);
  const djBlocks* b = &c.pattern.blocks;
  int rows = 0, own = 0;
  for (int k = 0; k < b->nblock; k++) {
    djBlockRow r = dj_blockRow(b, k);
    int width = r.own;
    assert_int_equal(r.first, b->adr[b->order[k]]);
    assert_int_equal(r.own, dj_blockRows(b, b->order[k]));
    for (int i = 0; i < r.nlater; i++) {
      assert_true(r.later[i] > k);
      width += dj_blockRows(b, b->order[r.later[i]]);
    }
    assert_int_equal(r.width, width);
    rows += r.own;
  }
  assert_int_equal(rows, b->n);
  for (int s = 0; s < b->nsuper; s++) {
    djSuper r = dj_superOf(b, s);
    int blocks = 0;
    for (int k = b->super_first[s]; k < b->super_first[s + 1]; k++) {
      blocks += dj_blockRows(b, b->order[k]);
    }
    assert_int_equal(r.own, blocks);
    assert_true(r.later >= 0 && r.own + r.later <= b->front);
    own += r.own;
  }
  assert_int_equal(own, b->n);
  fill(&c, &rng, true);
  double *F = calloc(dj_superNeeds(b, true), sizeof *F), *x = calloc(b->n, sizeof *x);
  double *rhs = calloc(b->n, sizeof *rhs), worst = 0;
  assert_true(F && x && rhs && dj_superNeeds(b, true) >= dj_superUses(b, true));
  djMatrix H = c.H;
  assert_true(dj_factorSuper(F, &H, NULL, true));
  for (int i = 0; i < b->n; i++) x[i] = rhs[i] = sin(i);
  dj_solveSuper(x, F, b, 1, true, false);
  dj_mirrorMatrix(&H);
  dj_mulMatrix(rhs, -1, &H, x);
  for (int i = 0; i < b->n; i++) worst = fmax(worst, fabs(rhs[i]));
  assert_true(worst < 1e-9);
  assert_true(dj_conditionSuper(F, b) >= 1);
  free(F);
  free(x);
  free(rhs);
  freeCase(&c);
}

// The order depends on the set of pairs alone, and what is copied solves as what it was copied
// from.
static void testSameBits(void) {
  djRng rng = {22};
  Case c;
  makeCase(&c, &rng, 160, 6);
  size_t n = (size_t)c.n;
  double *first = djt_room(n), *x = djt_room(n), *y = djt_room(n);
  for (int pass = 0; pass < 3; pass++) {
    if (pass == 1) setPairs(&c, &rng, atRandom, 100);   // something else in between
    djRng same = {5};
    dj_beginPattern(&c.pattern);
    for (int i = 0; i < c.nfine; i++) {   // the grid backwards, and twice
      int k = pass == 2 ? c.nfine - 1 - i : i;
      if (k >= 12) couple(&c, k - 12, k);
      if (k % 12) couple(&c, k, k - 1);
      if (k >= 12) couple(&c, k, k - 12);
    }
    assert_true(dj_endPattern(&c.pattern));
    fill(&c, &same, false);
    c.f = (djFactor){.kind = DJ_LDU, .n = c.n, .data = c.f.data};
    free(c.f.data);
    c.f.data = djt_room(dj_factorNeeds(DJ_LDU, c.H.blocks));
    assert_true(dj_factor(&c.f, &c.H, NULL));
    for (size_t i = 0; i < n; i++) x[i] = y[i] = sin((double)i);
    dj_solveTranspose(x, &c.f);
    if (pass == 0) memcpy(first, x, n * sizeof(double));
    assert_memory_equal(x, first, n * sizeof(double));
    djFactor copy = c.f;
    copy.data = djt_room(dj_factorUses(&c.f));
    memcpy(copy.data, c.f.data, dj_factorUses(&c.f) * sizeof(double));
    void* memory = malloc(dj_blocksSize(c.H.blocks));
    dj_copyBlocks(&copy.blocks, memory, c.H.blocks);
    dj_solveTranspose(y, &copy);
    assert_memory_equal(y, first, n * sizeof(double));
    assert_true(dj_condition(&copy) == dj_condition(&c.f));
    free(memory);
    free(copy.data);
  }
  free(first);
  free(x);
  free(y);
  freeCase(&c);
}

// Dense matrices of all sizes around the crossover, full ones and sparse ones.
static void testBig(void) {
  djRng rng = {23};
  static const int size[] = {DJ_BIG - 1, DJ_BIG, DJ_BIG + 1, DJ_BIG + 31, 2 * DJ_BIG + 5};
  for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
    for (int kind = 0; kind < 4; kind++) {
      bool symmetric = kind % 2, full = kind < 2;
      Case c;
      makeCase(&c, &rng, 1, 1);
      freeCase(&c);
      memset(&c, 0, sizeof c);
      int n = c.n = size[k], whole[2] = {0, n};
      void* memory = malloc(dj_diagonalSize(n, 1));
      djBlocks blocks = dj_diagonalBlocks(memory, n, 1, whole);
      size_t n2 = (size_t)n * (size_t)n;
      c.dense = djt_room(n2);
      c.reference = djt_room(n2);
      c.shift = djt_room((size_t)n);
      c.H = (djMatrix){djt_room(n2), &blocks};
      fill(&c, &rng, symmetric);
      for (int i = 0; i < n && !full; i++) {
        for (int j = 0; j < n; j++) {
          if (i == j || i / 7 == j / 7) continue;
          size_t at = (size_t)i * (size_t)n + (size_t)j;
          c.dense[at] = c.H.data[at] = 0;
        }
      }
      checkFactor(&c, &rng, symmetric);
      assert_true(dj_factor(&c.f, &c.H, NULL));
      assert_true(c.f.big == (full && n >= DJ_BIG));
      double* all[] = {c.dense, c.reference, c.shift, c.H.data, c.f.data};
      for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
      free(memory);
    }
  }
}

// ---- threads ----------------------------------------------------------------------------------

typedef struct Job {
  const Case* c;
  double* data;       // factor
  double* X;          // (n x NCOL) solution
  bool done;
} Job;

static void* factorAndSolve(void* user) {
  Job* job = user;
  djFactor f = {.kind = job->c->f.kind, .n = job->c->n, .data = job->data};
  job->done = dj_factor(&f, &job->c->H, NULL);
  for (size_t i = 0; i < (size_t)f.n * NCOL; i++) job->X[i] = cos((double)i);
  dj_solveMulti(job->X, &f, NCOL);
  return NULL;
}

// Threads that call at once get the bits of one that calls alone.
static void testThreads(void) {
  enum { THREADS = 6, ROUNDS = 4 };
  djRng rng = {24};
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    Case c;
    makeCase(&c, &rng, 225, 4);
    setPairs(&c, &rng, asGrid, 15);
    fill(&c, &rng, symmetric);
    c.f.kind = symmetric ? DJ_LDL : DJ_LDU;
    size_t need = dj_factorNeeds(c.f.kind, c.H.blocks), n = (size_t)c.n * NCOL;
    Job job[THREADS + 1];
    pthread_t thread[THREADS];
    for (int k = 0; k <= THREADS; k++) job[k] = (Job){&c, djt_room(need), djt_room(n), false};
    factorAndSolve(&job[THREADS]);
    assert_true(job[THREADS].done);
    for (int round = 0; round < ROUNDS; round++) {
      for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_create(&thread[k], NULL, factorAndSolve, &job[k]), 0);
      }
      for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_true(job[k].done);
        assert_memory_equal(job[k].X, job[THREADS].X, n * sizeof(double));
      }
    }
    for (int k = 0; k <= THREADS; k++) {
      free(job[k].data);
      free(job[k].X);
    }
    freeCase(&c);
  }
}

DJT_MAIN(testSupernodes, testRows, testSameBits, testBig, testThreads)
