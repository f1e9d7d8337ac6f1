// The projection on bounds and many equations: by hand, and from DJ_MANY_EQUATIONS on by BLAS.

#include "common/random_model.h"
#include "common/room.h"

#include "optimize/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Case {
  djFeasible s;
  double *lower, *upper, *equal, *value, *inside, *point, *out;
} Case;

// A point within the bounds fulfils all equations; some bounds are infinite, some equations are
// sums of others, or empty.
static void makeCase(Case* c, djRng* rng, int n, int m) {
  size_t un = (size_t)n, um = (size_t)m;
  *c = (Case){.lower = djt_room(un), .upper = djt_room(un), .equal = djt_room(um * un),
              .value = djt_room(um), .inside = djt_room(un), .point = djt_room(un),
              .out = djt_room(un)};
  c->s = (djFeasible){.n = n, .nequal = m, .lower = c->lower, .upper = c->upper,
                      .equal = c->equal, .value = c->value, .y = djt_room(um), .ytry = djt_room(um),
                      .residual = djt_room(um), .H = djt_room(um * um), .L = djt_room(um * um),
                      .x = djt_room(un), .free = djt_room(um * un)};
  for (int i = 0; i < n; i++) {
    c->inside[i] = djt_uniform(rng, -1, 1);
    c->lower[i] = i % 3 ? c->inside[i] - djt_uniform(rng, 0, 1) : -INFINITY;
    c->upper[i] = i % 5 ? c->inside[i] + djt_uniform(rng, 0, 1) : INFINITY;
    c->point[i] = djt_uniform(rng, -3, 3);
  }
  for (int r = 0; r < m; r++) {
    for (int i = 0; i < n; i++) {
      double* row = c->equal + (size_t)r * un;
      row[i] = djt_uniform(rng, -1, 1);
      if (r % 16 == 15) row[i] = row[i - 2 * n] + row[i - 3 * n];
      if (r % 16 == 14) row[i] = 0;
      c->value[r] += row[i] * c->inside[i];
    }
  }
}

static void freeCase(Case* c) {
  double* all[] = {c->lower, c->upper, c->equal, c->value, c->inside, c->point, c->out, c->s.y,
                   c->s.ytry, c->s.residual, c->s.H, c->s.L, c->s.x, c->s.free};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) free(all[k]);
}

// The nearest point makes an obtuse angle at it with every feasible one.
static void testNearest(void** state) {
  (void)state;
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
    assert_int_equal(dj_project(c.out, &c.s, c.point), DJ_INVALID);
    freeCase(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testNearest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
