// Everything that acts, row by row and alone: gradient and Hessian of its energy, derivatives by
// the start, by where displacements begin and by inputs; loads; what switches it off.

#include "common/force_case.h"
#include "common/near.h"
#include "common/pair_case.h"
#include "common/test.h"
#include "force/bend_param.h"
#include "force/force.h"
#include "force/forces.h"
#include "force/hold.h"
#include "model/param.h"

// Those of flexes take models that have some: tests/test_flex*.c.
static const djForceRow* const ROWS[] = {
    [DJ_FORCE_CONTACT] = NULL,             [DJ_FORCE_APPLIED] = &dj_appliedForce,
    [DJ_FORCE_GRAVITY] = &dj_gravityForce, [DJ_FORCE_DRAG] = &dj_dragForce,
    [DJ_FORCE_DAMPER] = &dj_damperForce,   [DJ_FORCE_SPRING] = &dj_springForce,
    [DJ_FORCE_LIMIT] = &dj_limitForce,     [DJ_FORCE_ACTUATOR] = &dj_actuatorForce,
    [DJ_FORCE_HOLD] = &dj_holdForce};

enum { ALL = DJT_ALL | DJT_TENDONS, MANY = 160, NROW = sizeof ROWS / sizeof ROWS[0] };

typedef struct Row {
  djForceCase c;
  const djForceRow* row;
  void* state;
  double* input;           // moves along, where not NULL
} Row;

static Row openRow(djForceId id, djRng* rng, int features) {
  if (id == DJ_FORCE_HOLD) features |= DJT_EQUALITIES;
  djModel* m = djt_randomModel(rng, 1 + djt_integer(rng, 5), features);
  m->opt.equality = DJ_EQUALITY_HARD;
  Row r = {.c = djt_openForceCase(m, rng), .row = ROWS[id]};
  r.state = r.c.w->forces.state[id];
  r.c.apart = djt_integer(rng, 2);
  assert_non_null(r.state);
  assert_true(r.c.m->nv <= MANY);
  return r;
}

// Begins and evaluates where the case has moved to; value, gradient and H.
static double evaluateAt(Row* r, double s) {
  djMotion at = djt_forceMotion(&r->c, s), start = at;
  djError err = {""};
  double kept = r->input ? *r->input : 0;
  if (r->input) *r->input += s;
  start.at = start.at0;
  if (r->row->begin) assert_int_equal(r->row->begin(r->state, &start, &err), DJ_OK);
  djForceSum* sum = djt_clearForces(&r->c);
  assert_int_equal(r->row->evaluate(sum, r->state, &at), DJ_OK);
  for (int c = 0; c < r->c.m->ncoord; c++) {
    assert_true(r->row->along || (sum->f[c] == 0 && sum->k[c] == 0));
  }
  djt_projectForces(&r->c, &at);
  if (r->input) *r->input = kept;
  return sum->value;
}

static void valueAndSlope(double* y, void* user, double s) {
  Row* r = user;
  y[0] = evaluateAt(r, s);
  y[1] = djt_along(r->c.gradient, &r->c);
}

static void gradientAt(double* y, void* user, double s) {
  Row* r = user;
  evaluateAt(r, s);
  memcpy(y, r->c.gradient, (size_t)r->c.m->nv * sizeof(double));
}

// Largest error of x against differences of f, relative to 1 and their sizes; of some steps the
// best, as clamps, limits and v|v| have corners.
static double errorOf(const double* x, int n, void (*f)(double*, void*, double), Row* r) {
  double best = INFINITY;
  for (double e = 0.02; e > 1e-5 && best > 1e-10; e /= 5) {
    double d[MANY], worst = 0, size = 1;
    extrapolate(d, n, e, 1, f, r);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(d[i]));
    for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(d[i] - x[i]) / size);
    best = fmin(best, worst);
  }
  return best;
}

static void testPoint(void) {
  for (int id = 1; id < NROW; id++) {
    djRng rng = {(unsigned long long)(20 + id)};
    double worst = 0, size = 0;
    if (!ROWS[id]->evaluate) continue;
    for (int t = 0; t < 25; t++) {
      Row r = openRow((djForceId)id, &rng, ALL | DJT_TOTAL);
      double *Hx = djt_room((size_t)r.c.m->nv), want[2];
      r.c.moved = DJT_POINT;
      for (int k = 0; k < 3; k++) {
        djt_uniforms(r.c.along, r.c.m->nv, &rng, -1, 1);
        double value = evaluateAt(&r, 0);
        djt_timesAlong(Hx, &r.c.w->H, &r.c);
        want[0] = djt_along(r.c.gradient, &r.c);
        want[1] = djt_along(Hx, &r.c);
        size = fmax(size, fmax(fabs(want[0]), fabs(want[1])));
        // the value alone is the same
        djMotion at = djt_forceMotion(&r.c, 0);
        djt_clearForces(&r.c)->derivatives = false;
        assert_int_equal(r.row->evaluate(&r.c.w->sum, r.state, &at), DJ_OK);
        djt_near(r.c.w->sum.value, value, 1e-12 * (1 + fabs(value)));
        worst = djt_worst(worst, errorOf(want, 2, valueAndSlope, &r));
      }
      free(Hx);
      djt_closeForceCase(&r.c);
    }
    print_message("%s: %.1e of %.1g\n", ROWS[id]->name, worst, size);
    assert_true(worst < 1e-6 && size > 0.1);
  }
}

// The gradient by the start's poses and by those of `rate`; moved together where they are one.
static void testStart(void) {
  for (int id = 1; id < NROW; id++) {
    djRng rng = {(unsigned long long)(40 + id)};
    double worst[2] = {0}, size = 0;
    if (!ROWS[id]->evaluate) continue;
    for (int t = 0; t < 25; t++) {
      Row r = openRow((djForceId)id, &rng, ALL | DJT_TOTAL);
      djWork* w = r.c.w;
      const djModel* m = r.c.m;
      djMatrix* R[2] = {&dj_stageOf(w)->linear.Rq, &dj_stageOf(w)->linear.G};
      double *x = djt_room((size_t)m->nv), *y = djt_room((size_t)m->nv);
      djt_uniforms(r.c.along, m->nv, &rng, -1, 1);
      evaluateAt(&r, 0);
      djMotion at = djt_forceMotion(&r.c, 0);
      djStartSum* start = &w->start_sum;
      dj_clearStartSum(start, m);
      for (int k = 0; k < 2; k++) dj_clearMatrix(R[k]);
      start->R0 = R[0];
      start->Rrate = R[1];
      start->N0 = w->N;
      start->Nrate = w->M;
      memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
      memset(w->M, 0, (size_t)m->nbody * 36 * sizeof(double));
      if (r.row->start) assert_int_equal(r.row->start(start, r.state, &at), DJ_OK);
      dj_startCoordinates(start, &w->sum, &at);
      dj_gatherMatrix(w->N, m);
      dj_gatherMatrix(w->M, m);
      dj_projectMixed(R[0], m, at.at.kin, at.at0.kin, w->N);
      dj_projectMixed(R[1], m, at.at.kin, at.rate.kin, w->M);
      start->N0 = start->Nrate = w->N;
      djt_timesAlong(x, R[0], &r.c);
      djt_timesAlong(y, R[1], &r.c);
      for (int i = 0; i < m->nv && !r.c.apart; i++) x[i] += y[i];
      size = fmax(size, fmax(djt_largest(x, m->nv), djt_largest(y, m->nv)));
      r.c.moved = DJT_START;
      worst[0] = djt_worst(worst[0], errorOf(x, m->nv, gradientAt, &r));
      r.c.moved = DJT_RATE;
      if (r.c.apart) worst[1] = djt_worst(worst[1], errorOf(y, m->nv, gradientAt, &r));
      free(x);
      free(y);
      djt_closeForceCase(&r.c);
    }
    print_message("%s: %.1e, %.1e of %.1g\n", ROWS[id]->name, worst[0], worst[1], size);
    assert_true(worst[0] < 1e-6 && worst[1] < 1e-6);
    assert_true((size > 0.1) == (id != DJ_FORCE_SPRING));   // springs know no start
  }
}

// Ru and Ra of actuators of all kinds, and clamps of their totals.
static void testInputs(void) {
  djRng rng = {60};
  double worst = 0;
  int count[2] = {0, 0};
  static djMatrixEntry entry[2][5000];
  for (int t = 0; t < 200; t++) {
    Row r = openRow(DJ_FORCE_ACTUATOR, &rng, DJT_ACTUATORS | DJT_TENDONS | (t % 2 ? DJT_TOTAL : 0));
    const djModel* m = r.c.m;
    djEntries R[2] = {{.max = 5000, .entry = entry[0]}, {.max = 5000, .entry = entry[1]}};
    djInputSum sum = {.Ru = &R[0], .Ra = &R[1]};
    evaluateAt(&r, 0);
    djMotion at = djt_forceMotion(&r.c, 0);
    r.row->inputs(&sum, r.state, &at);
    double* x = djt_room((size_t)m->nv);
    for (int k = 0; k < 2; k++) {
      assert_true(R[k].want == R[k].n);
      for (int i = 0; i < (k ? m->na : m->nu); i++) {
        memset(x, 0, (size_t)m->nv * sizeof(double));
        for (int e = 0; e < R[k].n; e++) {
          if (R[k].entry[e].col == i) x[R[k].entry[e].row] += R[k].entry[e].value;
        }
        r.input = (k ? r.c.w->start.act : r.c.w->start.ctrl) + i;
        worst = djt_worst(worst, errorOf(x, m->nv, gradientAt, &r));
        count[k] += djt_largest(x, m->nv) > 0;
      }
    }
    free(x);
    djt_closeForceCase(&r.c);
  }
  print_message("inputs: %.1e, %d by ctrl, %d by act not 0\n", worst, count[0], count[1]);
  assert_true(worst < 1e-6 && count[0] > 50 && count[1] > 50);
}

static double weightAlong(const djForceCase* c, const djMotion* at, int body, djVec3 u) {
  djLoad* load = calloc((size_t)c->m->nbody, sizeof *load);
  assert_non_null(load);
  dj_gravityForce.loads(load, at);
  double sum = dju_dot3(u, load[body].force);
  for (int b = 0; b < c->m->nbody; b++) assert_true(dju_norm3(load[b].torque) == 0);
  free(load);
  return sum;
}

// Gravity: its load, by parameters, in which it is linear one by one, and the potential.
static void testGravity(void) {
  djRng rng = {70};
  for (int t = 0; t < 20; t++) {
    djForceCase c = djt_openForceCase(djt_randomModel(&rng, 4, DJT_ALL), &rng);
    djModel* m = c.m;
    double* grad = djt_room(dj_paramGradSize(m));
    c.w->start.gravity_scale = 0.7;
    djMotion at = djt_forceMotion(&c, 0);
    djVec3 u = {0.3, -0.2, 0.5}, g = dju_scale3(0.7, dju_load3(m->opt.gravity));
    for (int b = 1; b < m->nbody; b++) {
      double weight = m->body_mass[b] * (1 - m->body_gravcomp[b]);
      double along = weightAlong(&c, &at, b, u);
      djt_near(along, weight * dju_dot3(u, g), 1e-12);
      memset(grad, 0, dj_paramGradSize(m) * sizeof(double));
      dj_gravityForce.load_params(grad, &at, b, u);
      double* const number[] = {m->body_mass + b, m->body_gravcomp + b, m->opt.gravity + 1};
      const double slope[] = {*dj_paramEntry(grad, m, DJ_FIELD_BODY_MASS, b),
                              *dj_paramEntry(grad, m, DJ_FIELD_BODY_GRAVCOMP, b),
                              dj_paramEntry(grad, m, DJ_FIELD_GRAVITY, 0)[1]};
      for (int k = 0; k < 3; k++) {
        double kept = *number[k];
        *number[k] += 1;
        djt_near(weightAlong(&c, &at, b, u) - along, slope[k], 1e-12);
        *number[k] = kept;
      }
      assert_true(*dj_paramEntry(grad, m, DJ_FIELD_BODY_MASS, b % (m->nbody - 1) + 1) == 0);
    }
    double energy = 0;
    for (int b = 1; b < m->nbody; b++) {
      energy -= m->body_mass[b] * dju_dot3(g, at.at.kin->com[b]);
    }
    djt_near(dj_gravityForce.potential(&at), energy, 1e-12 * (1 + fabs(energy)));
    // compensation is passive
    m->opt.disable = DJ_DSBL_SPRING | DJ_DSBL_DAMPER;
    djt_near(weightAlong(&c, &at, 1, u), m->body_mass[1] * dju_dot3(u, g), 1e-12);
    m->opt.disable = DJ_DSBL_GRAVITY;
    assert_true(weightAlong(&c, &at, 1, u) == 0 && dj_gravityForce.potential(&at) == 0);
    free(grad);
    djt_closeForceCase(&c);
  }
}

// Flags leave nothing of a row; applied forces have none.
static void testOff(void) {
  static const int flags[DJ_NFORCE] = {
      [DJ_FORCE_DAMPER] = DJ_DSBL_DAMPER | DJ_DSBL_FRICTIONLOSS,
      [DJ_FORCE_SPRING] = DJ_DSBL_SPRING,
      [DJ_FORCE_LIMIT] = DJ_DSBL_LIMIT,
      [DJ_FORCE_ACTUATOR] = DJ_DSBL_ACTUATION,
      [DJ_FORCE_HOLD] = DJ_DSBL_EQUALITY};
  for (int id = 1; id < NROW; id++) {
    djRng rng = {80};
    if (!flags[id]) continue;
    Row r = openRow((djForceId)id, &rng, ALL | DJT_TOTAL);
    r.c.m->opt.disable = flags[id];
    assert_true(evaluateAt(&r, 0) == 0);
    assert_true(djt_largest(r.c.gradient, r.c.m->nv) == 0);
    if (r.row->potential) {
      djMotion at = djt_forceMotion(&r.c, 0);
      assert_true(r.row->potential(&at) == 0);
    }
    djt_closeForceCase(&r.c);
  }
}

// Applied forces as they are given, and names.
static void testApplied(void) {
  djRng rng = {90};
  djForceCase c = djt_openForceCase(djt_randomModel(&rng, 4, DJT_ALL), &rng);
  djMotion at = djt_forceMotion(&c, 0);
  djLoad load[5];
  memset(load, 0, sizeof load);
  dj_appliedForce.loads(load, &at);
  dj_appliedForce.loads(load, &at);   // it adds
  for (int i = 6; i < 30; i++) {
    const djLoad* l = &load[i / 6];
    const double x[6] = {l->force.x, l->force.y, l->force.z, l->torque.x, l->torque.y, l->torque.z};
    djt_near(x[i % 6], 2 * c.d->xfrc_applied[i], 1e-15);
  }
  djt_closeForceCase(&c);
  for (int i = 1; i < NROW; i++) {
    for (int k = 1; k < i; k++) assert_string_not_equal(ROWS[i]->name, ROWS[k]->name);
  }
}

// Cotangents by `rate` are those of the start where both are one.
static void testRateCotangents(void) {
  djRng rng = {91};
  djForceCase c = djt_openForceCase(djt_randomModel(&rng, 2, 0), &rng);
  double a, b;
  djParamSums sums = {.C0 = &a, .Crate = &b};
  djMotion at = djt_forceMotion(&c, 0);
  assert_ptr_equal(dj_rateCotangents(&sums, &at), &a);
  c.apart = true;
  at = djt_forceMotion(&c, 0);
  assert_ptr_equal(dj_rateCotangents(&sums, &at), &b);
  djt_closeForceCase(&c);
}

DJT_MAIN(testPoint, testStart, testInputs, testGravity, testOff, testApplied, testRateCotangents)
