// The projection on bounds and many equations: of blocks by hand, and from DJ_MANY_EQUATIONS on by
// BLAS; of ties, whose answer is that of a block.

#include "common/random_model.h"
#include "common/room.h"
#include "common/test.h"

#include "optimize/feasible.h"

typedef struct Case {
  djFeasible s;
  djPool pool;
  double *lower, *upper, *equal, *value, *inside, *point, *out;
} Case;

// Bounds about a point, some infinite.
static void openCase(Case* c, djRng* rng, int n, int m) {
  size_t un = (size_t)n, um = (size_t)m;
  *c = (Case){.lower = djt_room(un),
              .upper = djt_room(un),
              .equal = djt_room(um * un),
              .value = djt_room(um),
              .inside = djt_room(un),
              .point = djt_room(un),
              .out = djt_room(un)};
  for (int i = 0; i < n; i++) {
    c->inside[i] = djt_uniform(rng, -1, 1);
    c->lower[i] = i % 3 ? c->inside[i] - djt_uniform(rng, 0, 1) : -INFINITY;
    c->upper[i] = i % 5 ? c->inside[i] + djt_uniform(rng, 0, 1) : INFINITY;
    c->point[i] = djt_uniform(rng, -3, 3);
  }
}

static void makeSet(Case* c, int n, int m, const int* group) {
  djEquations q;
  assert_int_equal(dj_sparseEquations(&q, &c->pool, n, m, c->equal, c->value), DJ_OK);
  assert_int_equal(dj_makeFeasible(&c->s, &c->pool, c->lower, c->upper, &q, group), DJ_OK);
}

// That point fulfils all equations; some are sums of others, or empty.
static void makeCase(Case* c, djRng* rng, int n, int m) {
  openCase(c, rng, n, m);
  for (int r = 0; r < m; r++) {
    for (int i = 0; i < n; i++) {
      double* row = c->equal + (size_t)r * (size_t)n;
      row[i] = djt_uniform(rng, -1, 1);
      if (r % 16 == 15) row[i] = row[i - 2 * n] + row[i - 3 * n];
      if (r % 16 == 14) row[i] = 0;
      c->value[r] += row[i] * c->inside[i];
    }
  }
  makeSet(c, n, m, NULL);
}

static void freeCase(Case* c) {
  double* all[] = {c->lower, c->upper, c->equal, c->value, c->inside, c->point, c->out};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
  dj_poolFree(&c->pool);
}

// The nearest point makes an obtuse angle at it with every feasible one.
static void testNearest(void) {
  djRng rng = {31};
  static const int size[] = {3, DJ_MANY_EQUATIONS - 1, DJ_MANY_EQUATIONS, 50, 130};
  for (size_t k = 0; k < sizeof size / sizeof size[0]; k++) {
    int m = size[k], n = 2 * m + 60, bound = 0;
    Case c;
    makeCase(&c, &rng, n, m);
    assert_int_equal(dj_project(c.out, &c.s, c.point), DJ_OK);
    double along = 0, length = 0;
    for (int r = 0; r < m; r++) {
      double residual = -c.value[r];
      for (int i = 0; i < n; i++) residual += c.equal[(size_t)r * (size_t)n + i] * c.out[i];
      assert_true(fabs(residual) < 1e-10);
    }
    for (int i = 0; i < n; i++) {
      assert_true(c.out[i] >= c.lower[i] && c.out[i] <= c.upper[i]);
      bound += c.out[i] == c.lower[i] || c.out[i] == c.upper[i];
      along += (c.point[i] - c.out[i]) * (c.inside[i] - c.out[i]);
      length += (c.point[i] - c.out[i]) * (c.point[i] - c.out[i]);
    }
    assert_true(bound > 5 && length > 1 && along < 1e-8);
    // A point of the set stays, and contradictions are found.
    assert_int_equal(dj_project(c.out, &c.s, c.inside), DJ_OK);
    for (int i = 0; i < n; i++) assert_true(fabs(c.out[i] - c.inside[i]) < 1e-9);
    for (int i = 0; i < n; i++) c.equal[(size_t)(m - 1) * (size_t)n + i] = 0;
    c.value[m - 1] = 1;
    makeSet(&c, n, m, NULL);
    assert_int_equal(dj_project(c.out, &c.s, c.point), DJ_INVALID);
    freeCase(&c);
  }
}

// ------------------------------------------ ties ------------------------------------------------

// Row r: f_i x_i + f_j x_j and so on, of what holds at the point inside.
static void join(Case* c, djRng* rng, int r, int n, int count, const int* unknown) {
  for (int k = 0; k < count; k++) {
    const double f = djt_uniform(rng, 0.5, 2) * (djt_integer(rng, 2) ? 1 : -1);
    c->equal[(size_t)r * (size_t)n + (size_t)unknown[k]] = f;
    c->value[r] += f * c->inside[unknown[k]];
  }
}

// Trees of up to six unknowns; some are held by an equation of their own, or closed to a loop, some
// have equations of three.
static int joinAll(Case* c, djRng* rng, int n) {
  int m = 0;
  for (int i = 0; i + 6 < n; i += 7) {
    const int count = 1 + djt_integer(rng, 6), kind = djt_integer(rng, 5);
    for (int k = 1; k < count; k++) {
      join(c, rng, m++, n, 2, (const int[]){i + k, i + djt_integer(rng, k)});
    }
    if (kind == 0) join(c, rng, m++, n, 1, (const int[]){i + djt_integer(rng, count)});
    if (kind == 1 && count > 2) join(c, rng, m++, n, 2, (const int[]){i, i + count - 1});
    if (kind == 2 && count > 2) join(c, rng, m++, n, 3, (const int[]){i, i + 1, i + count - 1});
  }
  return m;
}

// The same set as one block.
static void wholeBlock(double* out, const Case* c, int n, int m) {
  size_t un = (size_t)n, um = (size_t)m;
  djBlock b = {.n = n,
               .nequal = m,
               .lower = c->lower,
               .upper = c->upper,
               .equal = c->equal,
               .value = c->value,
               .point = c->point,
               .x = out,
               .y = djt_room(um),
               .ytry = djt_room(um),
               .residual = djt_room(um),
               .H = djt_room(um * um),
               .L = djt_room(um * um),
               .free = djt_room(um * un)};
  assert_int_equal(dj_projectBlock(&b), DJ_OK);
  double* all[] = {b.y, b.ytry, b.residual, b.H, b.L, b.free};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
}

static void testTies(void) {
  djRng rng = {5};
  int ties = 0, blocks = 0;
  for (int k = 0; k < 200; k++) {
    const int n = 7 + djt_integer(&rng, 60), most = 2 * n;
    Case c;
    openCase(&c, &rng, n, most);
    const int m = joinAll(&c, &rng, n);
    assert_true(m < most);
    makeSet(&c, n, m, NULL);
    ties += c.s.ntie;
    blocks += c.s.nblock;
    double* whole = djt_room((size_t)n);
    wholeBlock(whole, &c, n, m);
    assert_int_equal(dj_project(c.out, &c.s, c.point), DJ_OK);
    for (int i = 0; i < n; i++) {
      assert_true(c.out[i] >= c.lower[i] && c.out[i] <= c.upper[i]);
      assert_true(fabs(c.out[i] - whole[i]) < 1e-8);
    }
    // in place, of a point of the set
    memcpy(c.out, c.inside, (size_t)n * sizeof *c.out);
    assert_int_equal(dj_project(c.out, &c.s, c.out), DJ_OK);
    for (int i = 0; i < n; i++) assert_true(fabs(c.out[i] - c.inside[i]) < 1e-12);
    free(whole);
    freeCase(&c);
  }
  assert_true(ties > 200 && blocks > 50);
}

// Bounds that no shared value keeps, groups that a tie joins.
static void testTold(void) {
  double lower[3] = {0, -2, -5}, upper[3] = {1, -1, 5}, equal[3] = {1, -1, 0}, value = 0, out[3];
  const double point[3] = {3, -7, 9};
  const int group[4] = {0, 1, 1, 1};
  djFeasible s;
  djPool pool = {0};
  djEquations q;
  assert_int_equal(dj_sparseEquations(&q, &pool, 3, 1, equal, &value), DJ_OK);
  assert_true(q.start[1] == 2 && q.index[1] == 1 && q.entry[1] == -1);
  assert_int_equal(dj_makeFeasible(&s, &pool, lower, upper, &q, group), DJ_OK);
  assert_true(s.couples && s.ntie == 1 && s.nblock == 0);
  assert_int_equal(dj_project(out, &s, point), DJ_INVALID);
  upper[1] = 0.5;
  assert_int_equal(dj_makeFeasible(&s, &pool, lower, upper, &q, group + 1), DJ_OK);
  assert_false(s.couples);
  assert_int_equal(dj_project(out, &s, point), DJ_OK);
  assert_true(out[0] == 0 && out[1] == 0 && out[2] == 5);
  dj_poolFree(&pool);
}

DJT_MAIN(testNearest, testTies, testTold)
