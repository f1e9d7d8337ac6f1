// Factors with pivoting: dense and sparse, against elimination in extended precision; and
// derivatives of steps whose dr/dq+ is indefinite at the solution.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/test.h"

#include "integrate/work.h"
#include "math/lu.h"

#include <float.h>

enum { MAX_BLOCKS = 14, MAX_ROWS = 60, NCOL = 5 };

// A matrix, dense and in a pattern.
typedef struct Case {
  djPattern pattern;
  void* memory;
  int n, nfine, fine[MAX_BLOCKS + 1];
  double dense[MAX_ROWS * MAX_ROWS], data[MAX_ROWS * MAX_ROWS];
  djMatrix H;
  djFactor f;
} Case;

static void makeCase(Case* c, djRng* rng, int nfine) {
  memset(c, 0, sizeof *c);
  c->nfine = nfine;
  for (int b = 0; b < nfine; b++) c->fine[b + 1] = c->fine[b] + 1 + djt_integer(rng, 4);
  c->n = c->fine[nfine];
  djArena a = {NULL, 0};
  dj_takePattern(&c->pattern, &a, c->n, nfine);
  c->memory = aligned_alloc(DJ_ALIGN, a.used);
  a = (djArena){c->memory, 0};
  dj_takePattern(&c->pattern, &a, c->n, nfine);
  assert_true(dj_setPattern(&c->pattern, c->fine));
  c->H = (djMatrix){c->data, &c->pattern.blocks};
}

static void freeCase(Case* c) {
  dj_freePattern(&c->pattern);
  free(c->f.data);
  free(c->memory);
}

static void store(Case* c) {
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      djBlockView v = dj_blockView(&c->H, i, j);
      if (v.at) *dj_viewEntry(&v, i, j) = c->dense[i * c->n + j];
      else c->dense[i * c->n + j] = 0;
    }
  }
}

// Entries from -1 to 1, on the diagonal too; some rows and columns in other units.
static void fill(Case* c, djRng* rng, int pairs, bool symmetric) {
  dj_beginPattern(&c->pattern);
  for (int k = 0; k < pairs; k++) {
    int i = djt_integer(rng, c->n), j = djt_integer(rng, c->n);
    dj_coupleRows(&c->pattern, i, j);
  }
  assert_true(dj_endPattern(&c->pattern));
  double unit[MAX_ROWS];
  for (int i = 0; i < c->n; i++) unit[i] = djt_integer(rng, 3) ? 1 : 1e-3;
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      double x = djt_uniform(rng, -1, 1) * unit[i] * unit[j];
      c->dense[i * c->n + j] = symmetric && j < i ? c->dense[j * c->n + i] : x;
    }
  }
  store(c);
}

// X (n x m) <- A^-1 X by elimination with full pivoting; false where a pivot vanishes.
static bool solveExactly(long double* X, const double* from, int n, int m, bool transpose) {
  static long double A[MAX_ROWS * MAX_ROWS], Y[MAX_ROWS * MAX_ROWS];
  int column[MAX_ROWS];
  for (int i = 0; i < n * n; i++) A[i] = transpose ? from[i % n * n + i / n] : from[i];
  for (int i = 0; i < n; i++) column[i] = i;
  for (int k = 0; k < n; k++) {
    int r = k, c = k;
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) {
        if (fabsl(A[i * n + j]) > fabsl(A[r * n + c])) r = i, c = j;
      }
    }
    if (A[r * n + c] == 0) return false;
    for (int j = 0; j < n; j++) {
      long double s = A[k * n + j];
      A[k * n + j] = A[r * n + j];
      A[r * n + j] = s;
    }
    for (int j = 0; j < m; j++) {
      long double s = X[k * m + j];
      X[k * m + j] = X[r * m + j];
      X[r * m + j] = s;
    }
    for (int i = 0; i < n; i++) {
      long double s = A[i * n + k];
      A[i * n + k] = A[i * n + c];
      A[i * n + c] = s;
    }
    int s = column[k];
    column[k] = column[c];
    column[c] = s;
    for (int i = k + 1; i < n; i++) {
      long double f = A[i * n + k] / A[k * n + k];
      for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
      for (int j = 0; j < m; j++) X[i * m + j] -= f * X[k * m + j];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = 0; j < m; j++) {
      long double sum = X[k * m + j];
      for (int i = k + 1; i < n; i++) sum -= A[k * n + i] * Y[column[i] * m + j];
      Y[column[k] * m + j] = sum / A[k * n + k];
    }
  }
  memcpy(X, Y, (size_t)(n * m) * sizeof *X);
  return true;
}

static double norm1(const long double* A, int n) {
  long double most = 0;
  for (int j = 0; j < n; j++) {
    long double sum = 0;
    for (int i = 0; i < n; i++) sum += fabsl(A[i * n + j]);
    most = fmaxl(most, sum);
  }
  return (double)most;
}

// Condition number of the transpose, which is what is factored.
static double conditionOf(const Case* c) {
  static long double A[MAX_ROWS * MAX_ROWS], I[MAX_ROWS * MAX_ROWS];
  int n = c->n;
  for (int i = 0; i < n * n; i++) {
    A[i] = c->dense[i % n * n + i / n];
    I[i] = i % (n + 1) == 0;
  }
  assert_true(solveExactly(I, c->dense, n, n, true));
  return norm1(A, n) * norm1(I, n);
}

static void checkSolutions(Case* c, djRng* rng, double condition) {
  int n = c->n;
  double X[MAX_ROWS * NCOL], x[MAX_ROWS];
  long double exact[MAX_ROWS * NCOL];
  for (int transpose = 0; transpose < 2; transpose++) {
    double worst = 0, size = 0;
    for (int i = 0; i < n * NCOL; i++) exact[i] = X[i] = djt_uniform(rng, -1, 1);
    for (int i = 0; i < n; i++) x[i] = X[i * NCOL];
    assert_true(solveExactly(exact, c->dense, n, NCOL, transpose));
    dj_solveLU(X, c->f.data, NCOL, transpose);
    if (transpose) dj_solveTranspose(x, &c->f);
    else dj_solve(x, &c->f);
    for (int i = 0; i < n * NCOL; i++) {
      worst = fmax(worst, fabs(X[i] - (double)exact[i]));
      size = fmax(size, fabs((double)exact[i]));
    }
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - (double)exact[i * NCOL]));
    assert_true(worst <= 1e-15 * condition * size);
  }
}

static void testFactors(void) {
  djRng rng = {5};
  int sparse = 0, indefinite = 0;
  double lowest = INFINITY;
  for (int trial = 0; trial < 300; trial++) {
    Case c;
    makeCase(&c, &rng, 1 + djt_integer(&rng, MAX_BLOCKS));
    fill(&c, &rng, djt_integer(&rng, 2 * c.nfine + 1), trial % 2);
    sparse += c.pattern.blocks.nblock > 1;
    double condition = conditionOf(&c);
    if (condition > 1e12) {
      freeCase(&c);
      continue;
    }
    djFactor ldl = {.kind = DJ_LDL, .n = c.n, .data = calloc(MAX_ROWS * MAX_ROWS, sizeof(double))};
    indefinite += !dj_factor(&ldl, &c.H, NULL);
    free(ldl.data);
    assert_int_equal(dj_factorPivoting(&c.f, &c.H), DJ_OK);
    double estimate = dj_condition(&c.f);
    assert_true(estimate <= condition * (1 + 1e-6) && estimate >= 0.02 * condition);
    lowest = fmin(lowest, estimate / condition);
    checkSolutions(&c, &rng, condition);
    // What a factor is can be moved: its numbers are all there is.
    double* moved = calloc(c.f.used + 1, sizeof(double));
    memcpy(moved, c.f.data, c.f.used * sizeof(double));
    free(c.f.data);
    c.f.data = moved;
    checkSolutions(&c, &rng, condition);
    freeCase(&c);
  }
  print_message("%d sparse, %d indefinite, condition estimates from %.2f\n", sparse, indefinite,
                lowest);
  assert_true(sparse > 100 && indefinite > 250);
}

// Matrices that have no inverse, or nearly none, or are no numbers.
static void testSingular(void) {
  djRng rng = {6};
  int sparse = 0;
  for (int trial = 0; trial < 80; trial++) {
    Case c;
    makeCase(&c, &rng, 2 + djt_integer(&rng, MAX_BLOCKS - 2));
    fill(&c, &rng, djt_integer(&rng, c.nfine), false);
    sparse += c.pattern.blocks.nblock > 1;
    int n = c.n, row = djt_integer(&rng, n);
    double scale = trial % 4 == 1 ? 1e-40 : 0;
    for (int j = 0; j < n; j++) c.dense[row * n + j] *= scale;
    if (trial % 4 == 2) c.dense[row * n + row] = NAN;
    if (trial % 4 == 3) c.dense[row * n + row] = INFINITY;
    store(&c);
    assert_int_equal(dj_factorPivoting(&c.f, &c.H), DJ_SINGULAR);
    assert_false(dj_condition(&c.f) < 1 / DBL_EPSILON);
    freeCase(&c);
  }
  assert_true(sparse > 30);
}

// ---- steps ------------------------------------------------------------------------------------

// n hinges of inertia 2 balanced under springs that push away with k, more than inertia holds in a
// step: (I/h^2 - k) dq+ = I/h^2 dq + I/h dv + du.
static djModel* balancing(djData** d, int n, djIntegrator integrator, double k) {
  Scene* s = newScene(n);
  for (int i = 0; i < n; i++) {
    int b = addBody(s, 0, DJ_HINGE, i, 0, 0, 1, 1);
    for (int a = 0; a < 3; a++) s->body[b].inertia[a] = 2;
    s->actuator[i] = dj_defaultActuatorDef();
    s->actuator[i].joint = i;
    s->actuator[i].gear[0] = 1;
    s->actuator[i].bias = DJ_BIAS_AFFINE;
    s->actuator[i].biasprm[1] = k;
    s->def.nu++;
  }
  s->def.option.integrator = integrator;
  s->def.option.timestep = 0.1;
  s->def.option.contact = DJ_CONTACT_NONE;
  for (int a = 0; a < 3; a++) s->def.option.gravity[a] = 0;
  return startScene(d, s);
}

// Step, A, B, vector products and the adjoint of a rollout. blocks: of the pattern.
static void checkBalance(djIntegrator integrator, int n, int blocks) {
  const double I = 2, h = 0.1, k = 500;
  djData* d;
  djModel* m = balancing(&d, n, integrator, k);
  assert_int_equal(m->nv, n);
  int nx = 2 * n;
  double *A = calloc((size_t)(3 * nx * nx), sizeof(double)), *B = A + nx * nx;
  double lambda[32], dx[32] = {0}, du[16] = {0}, grad[32];
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(djd_lastTransition(m, d, A, B), DJ_OK);
  assert_true(d->work->at_stage[0].pivoted && d->work->pattern.blocks.nblock == blocks);
  double c = I / (h * h) - k;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double by_q = i == j ? I / (h * h) / c : 0, by_v = i == j ? I / h / c : 0;
      double by_u = i == j ? 1 / c : 0, one = i == j;
      assert_true(fabs(A[i * nx + j] - by_q) < 1e-12);
      assert_true(fabs(A[i * nx + n + j] - by_v) < 1e-12);
      assert_true(fabs(A[(n + i) * nx + j] - (by_q - one) / h) < 1e-11);
      assert_true(fabs(A[(n + i) * nx + n + j] - by_v / h) < 1e-11);
      assert_true(fabs(B[i * n + j] - by_u) < 1e-14);
    }
  }
  for (int i = 0; i < nx; i++) lambda[i] = i + 1;
  assert_int_equal(djd_stepVjp(m, d, dx, du, lambda), DJ_OK);
  for (int j = 0; j < nx; j++) {
    double sum = 0;
    for (int i = 0; i < nx; i++) sum += lambda[i] * A[i * nx + j];
    assert_true(fabs(sum - dx[j]) < 1e-11);
  }
  djTape* tape;
  djError err;
  djRollout r = {.horizon = 2};
  djRolloutResult result = {.grad_qpos0 = grad};
  double ctrl[32] = {0}, dstate[96] = {0};
  r.ctrl = ctrl;
  assert_int_equal(djd_makeTape(&tape, m, 2, &err), DJ_OK);
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_OK);
  assert_true(fabs(result.worst_condition - 1) < 1e-12);   // a multiple of the identity
  dstate[2 * nx + n - 1] = 1;
  assert_int_equal(djd_setCotangents(tape, m, dstate, NULL), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_OK);
  double two = 0;   // row n - 1 of A^2
  for (int i = 0; i < nx; i++) two += A[(n - 1) * nx + i] * A[i * nx + n - 1];
  for (int j = 0; j < n; j++) assert_true(fabs(grad[j] - (j == n - 1 ? two : 0)) < 1e-11);
  djd_deleteTape(tape);
  free(A);
  djt_delete(m, d);
}

static void testIndefiniteSteps(void) {
  checkBalance(DJ_POSITION, 1, 1);
  checkBalance(DJ_VARIATIONAL, 1, 1);
  checkBalance(DJ_POSITION, 5, 5);
  checkBalance(DJ_VARIATIONAL, 5, 5);
}

DJT_MAIN(testFactors, testSingular, testIndefiniteSteps)
