// Hessian-vector products of designs against differences of their gradients: variables of all
// kinds, maps, rotations away from their start, masses that follow geoms, moved starts, several
// runs.

#include "common/design_case.h"
#include "common/design_scene.h"
#include "common/random.h"
#include "common/test.h"
#include "common/worst.h"

// Contact is soft enough for differences.
static void makeCase(DesignCase* c, const char* more) {
  char task[8192], scene[8192];
  const char* option = strstr(djt_scene, "'timestep'");
  snprintf(scene, sizeof scene, "%.*s'stiffness_scale':3e-4,'support_scale':2,%s",
           (int)(option - djt_scene), djt_scene, option);
  snprintf(task, sizeof task, "{%s,%s}", djt_task, more);
  djt_openDesign(c, scene, task);
}

// Largest difference by the largest number, over differences with steps from `from` down.
static double productError(djPhases* p, const double* x, const double* v, double from) {
  static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
  size_t n = (size_t)p->design[0]->n;
  double *memory = calloc(5 * n, sizeof *memory), *Hv = memory, *sum = Hv + n, *before = sum + n;
  double *at = before + n, *g = at + n, loss, best = INFINITY, error = NAN;
  djStatus status = djd_phasesHvp(p, Hv, x, v);
  if (status != DJ_OK) fail_msg("%s", p->design[0]->error.text);
  for (int k = 0; k < 7; k++, from /= 4) {
    memcpy(before, sum, n * sizeof *sum);
    memset(sum, 0, n * sizeof *sum);
    for (int j = 0; j < 4; j++) {
      for (size_t i = 0; i < n; i++) at[i] = x[i] + point[j] * from * v[i];
      if (djd_evaluatePhases(&loss, g, p, at) < 0) fail_msg("%s", p->design[0]->error.text);
      for (size_t i = 0; i < n; i++) sum[i] += weight[j] / (12 * from) * g[i];
    }
    double size = djt_largest(sum, (int)n), own = 0, off = 0;
    for (size_t i = 0; i < n; i++) {
      own = djt_worst(own, fabs(sum[i] - before[i]) / size);
      off = djt_worst(off, fabs(sum[i] - Hv[i]) / size);
    }
    if (k == 0 || !(own < best)) continue;
    best = own;
    error = off;
  }
  free(memory);
  print_message("%.1e, differences to %.1e\n", error, best);
  assert_true(best < 5e-6);
  return error;
}

static void check(djPhases* p, const double* x, djRng* rng) {
  djDesign* d = p->design[0];
  size_t n = (size_t)d->n;
  double *u = calloc(5 * n, sizeof *u), *v = u + n, *Hu = v + n, *Hv = Hu + n, *g = Hv + n, loss;
  for (int i = 0; i < d->problem->nvariable; i++) {
    const djVariable* one = &d->problem->variable[i];
    for (int k = d->adr[i]; k < d->adr[i + 1]; k++) {
      double size = one->kind == DJ_VAR_PARAM && x[k] != 0 ? fmin(1, fabs(x[k])) : 0.03;
      u[k] = size * djt_uniform(rng, -1, 1);
      v[k] = size * djt_uniform(rng, -1, 1);
    }
  }
  assert_true(productError(p, x, v, 3e-3) < 1e-5);
  // Products are those of a symmetric matrix, and leave the gradient as it was.
  assert_true(djd_evaluatePhases(&loss, g, p, x) >= 0);
  assert_int_equal(djd_phasesHvp(p, Hu, x, u), DJ_OK);
  assert_int_equal(djd_phasesHvp(p, Hv, x, v), DJ_OK);
  double a = djt_dot(u, Hv, d->n), b = djt_dot(v, Hu, d->n), size = 0;
  for (size_t i = 0; i < n; i++) size += fabs(u[i] * Hv[i]);
  print_message("   skew %.1e\n", fabs(a - b) / size);
  assert_true(fabs(a - b) < 1e-5 * size);
  memcpy(Hu, g, n * sizeof *g);
  assert_true(djd_backwardPhases(g, p) >= 0);
  for (size_t i = 0; i < n; i++) assert_true(fabs(g[i] - Hu[i]) <= 1e-12 * (1 + fabs(g[i])));
  free(u);
}

static void checkBoth(const char* more, int nphase, double apart) {
  djRng rng = {17};
  DesignCase c;
  djPhases* p;
  djError err = {""};
  makeCase(&c, more);
  djDesign* d = c.d;
  if (djd_makePhases(&p, d, nphase, 1, &err) < 0) fail_msg("%s", err.text);
  check(p, d->x0, &rng);
  double* x = malloc((size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + apart * djt_uniform(&rng, -1, 1);
  for (int v = 0; v < c.p->nvariable; v++) { // rotations and normalisations have their Jacobians
    bool turns = c.p->variable[v].kind == DJ_VAR_PARAM && c.p->variable[v].nvalue == 4;
    for (int k = d->adr[v]; k < d->adr[v + 1] && turns; k++) x[k] += djt_uniform(&rng, -1, 1);
    if (c.p->variable[v].kind != DJ_VAR_QPOS0) continue;
    for (int k = 8; k < 11; k++) x[d->adr[v] + k] += djt_uniform(&rng, -1, 1);
  }
  check(p, x, &rng);
  free(x);
  djd_deletePhases(p);
  djt_closeDesign(&c);
}

static void testVariables(void) { checkBoth(djt_variables, 1, 0.02); }

static void testPhases(void) { checkBoth(djt_variables, 3, 0.02); }

static void testFollowing(void) {
  checkBoth("\"inertia_from_geom\":true,\"variables\":[{\"name\":\"geom/puck/size\"},"
            "{\"name\":\"mesh/block/vert\",\"index\":[0,4,8,21,23]},"
            "{\"name\":\"geom/head/pos\"},{\"name\":\"geom/grip/pos\"},"
            "{\"name\":\"geom/nail/size\",\"index\":[0]}]",
            1, 0.002);
}

static void testRefused(void) {
  DesignCase c;
  double v[8] = {0}, out[8];
  makeCase(&c, "\"variables\":[{\"name\":\"geom/puck/restitution\"},"
               "{\"name\":\"body/puck/mass\"}]");
  v[0] = 1;
  assert_true(djd_designHvp(out, c.d, c.d->x0, v) < 0);
  assert_non_null(strstr(c.d->error.text, "geom/puck/restitution: cannot be moved both ways"));
  v[0] = 0;
  v[1] = 1; // what does not change may be where it is
  assert_int_equal(djd_designHvp(out, c.d, c.d->x0, v), DJ_OK);
  v[1] = NAN;
  assert_int_equal(djd_designHvp(out, c.d, c.d->x0, v), DJ_INVALID);
  assert_string_equal(c.d->error.text, "direction[1] is not finite");
  assert_int_equal(djd_designHvp(NULL, c.d, c.d->x0, v), DJ_INVALID);
  djt_closeDesign(&c);
}

DJT_MAIN(testVariables, testPhases, testFollowing, testRefused)
