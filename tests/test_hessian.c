// Hessian-vector products of runs of random models without contact, in all methods: against
// differences of gradients, symmetric, and at the cost they say.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/random_terms.h"

#include "common/hessian_case.h"
#include "gradient/hessian.h"
#include "gradient/tape.h"
#include "common/scene.h"
#include "common/test.h"

#define HORIZON 8

static double callback(void* user, const djModel* m, int horizon, const double* qpos,
                       const double* qvel, const double* act, const double* ctrl, double* dstate,
                       double* dctrl) {
  (void)user;
  (void)qpos;
  int nx = dj_tangentSize(m);
  double sum = 0;
  for (int k = 0; k <= horizon; k++) {
    double v = qvel[(size_t)k * m->nv];
    sum += 0.1 * v * v * v;
    dstate[(size_t)k * nx + m->nv] += 0.3 * v * v;
    for (int i = 0; i < m->na; i++) {
      double a = act[(size_t)k * m->na + i];
      sum += 0.1 * a * a * a;
      dstate[(size_t)k * nx + 2 * m->nv + i] += 0.3 * a * a;
    }
  }
  for (int i = 0; i < horizon * m->nu; i++) {
    sum += sin(ctrl[i]);
    dctrl[i] += cos(ctrl[i]);
  }
  return sum;
}

// Those that can be moved both ways.
static int listParams(djParam* list, const djModel* m, int most, djRng* rng) {
  int n = 0;
  for (int f = 0; f < DJ_NFIELD; f++) {
    djParam p;
    for (int id = 0; n < most && dj_makeParam(&p, m, (djField)f, id); id++) {
      double value[32];
      bool zero = false;
      if (p.nvalue > 32 || djt_integer(rng, 2)) continue;
      dj_getParam(value, m, &p);
      for (int k = 0; k < p.nvalue; k++) zero = zero || value[k] == 0;
      bool plain = f == DJ_FIELD_BODY_POS || f == DJ_FIELD_BODY_IPOS || f == DJ_FIELD_JOINT_POS ||
                   f == DJ_FIELD_SITE_POS || f == DJ_FIELD_GRAVITY || f == DJ_FIELD_BODY_QUAT ||
                   f == DJ_FIELD_BODY_IQUAT || f == DJ_FIELD_JOINT_AXIS;
      if (!zero || plain) list[n++] = p;
    }
  }
  return n;
}

// In proportion to what they are, so that none leaves what it may be.
static void drawDirection(double* dir, const djtHessian* c, djRng* rng) {
  djt_uniforms(dir, c->n, rng, -1, 1);
  djVariation v = djt_variationOf(c, dir);
  double* x = v.value;
  for (int i = 0; i < c->nparam; x += c->param[i++].ntangent) {
    double value[32];
    dj_getParam(value, c->m, &c->param[i]);
    int plain = c->param[i].nvalue == c->param[i].ntangent ? c->param[i].nvalue : 0;
    for (int k = 0; k < plain && !dj_paramIsAxis(c->m, &c->param[i]); k++) {
      if (value[k] != 0) x[k] *= 0.3 * value[k];
    }
    if (c->param[i].field == DJ_FIELD_TENDON_SPRINGLENGTH && value[0] == value[1]) x[1] = x[0];
  }
}

// x.H x against second differences of the loss itself: by steps at which these are closest to those
// of steps four times as long. NaN: they are not close.
static double bendError(djtHessian* c, double* x, double want) {
  static const double weight[3] = {-30, 16, -1};
  double error = NAN, close = 1e-6, before = INFINITY, *g = calloc((size_t)c->n, sizeof *g);
  for (double e = 2e-2; e > 5e-5; e /= 4) {
    double sum = 0, size = fabs(want);
    for (int k = -2; k <= 2; k++) {
      double loss;
      int unconverged;
      if (!djt_lossAt(&loss, &unconverged, g, c, x, k * e, NULL)) loss = INFINITY;
      sum += weight[abs(k)] * loss / (12 * e * e);
      if (k == 0) size += fabs(loss);
    }
    double own = fabs(sum - before) / size;
    if (own < close) error = fabs(sum - want) / size;
    if (own < close) close = own;
    before = sum;
  }
  free(g);
  return error;
}

static void checkRandom(djIntegrator integrator, int features, djEqualityLaw law, int trials,
                        double most) {
  const bool hard = law == DJ_EQUALITY_HARD;
  djRng rng = {7 + (unsigned)integrator};
  double worst = 0, skew = 0, bend = 0;
  int told = 0, seen = 0;
  for (int trial = 0; trial < trials; trial++) {
    djLossTerm term[DJ_NLOSS];
    djParam param[60];
    djtHessian c = {.m = djt_randomModel(&rng, 1 + djt_integer(&rng, 4), features)};
    djt_dropPathArmature(c.m);
    djt_dropRows(c.m);
    djOption option = c.m->opt;
    option.timestep = 0.01;
    option.integrator = integrator;
    option.equality = law;
    if (hard) option.tolerance = 1e-8;
    if (integrator == DJ_EULER && trial % 2) option.implicit = DJ_TERMS_RATES;
    djError err = {""};
    assert_int_equal(dj_setOption(c.m, &option, &err), DJ_OK);
    assert_int_equal(dj_makeData(&c.d, c.m, &err), DJ_OK);
    djt_randomState(&rng, c.m, c.d, 1);
    for (int e = 0; e < c.m->nequality && hard; e++) {
      c.d->eq_active[e] = e == trial % c.m->nequality;
    }
    if (integrator == DJ_BDF2 && trial % 2) assert_true(dj_step(c.m, c.d) >= 0);
    double* u = calloc((size_t)HORIZON * (size_t)c.m->nu + 1, sizeof *u);
    djt_uniforms(u, HORIZON * c.m->nu, &rng, -1, 1);
    c.r = (djRollout){.horizon = HORIZON, .ctrl = u, .loss = term, .callback = callback};
    c.r.nloss = djt_randomTerms(term, c.m, &rng, HORIZON, true);
    c.nparam = trial % 3 == 0 ? 0 : listParams(param, c.m, 60, &rng);
    c.param = param;
    djt_openHessian(&c);
    size_t n = (size_t)c.n;
    double *x = calloc(6 * n, sizeof *x), *y = x + n, *g = y + n, *Hx = g + n, *Hy = Hx + n;
    double* d = Hy + n;
    drawDirection(x, &c, &rng);
    drawDirection(y, &c, &rng);
    djt_runHessian(&c, g);
    if (djt_product(Hx, &c, x) != DJ_OK) fail_msg("%s", dj_errorText(c.d));
    long steps = djd_hessianSteps(c.hessian);
    double gap[DJT_KINDS], known = djt_differHessian(d, gap, &c, x, g, 1e-2);
    double error = djt_hessianError(&c, Hx, d, gap, false);
    assert_int_equal(djt_product(Hy, &c, y), DJ_OK);
    double a = djt_dot(x, Hy, c.n), b = djt_dot(y, Hx, c.n);
    double size = 0;
    for (size_t i = 0; i < n; i++) size += fabs(x[i] * Hy[i]);
    assert_true(hard || (steps >= 4 * HORIZON && steps <= 6 * HORIZON));
    if (known < 1e-6 && !(error < most)) djt_hessianError(&c, Hx, d, gap, true);
    if (known < 1e-6 && !c.unconverged) {
      worst = djt_worst(worst, error);
      told++;
    }
    double second = bendError(&c, x, djt_dot(x, Hx, c.n));
    // Hard constraints that contradict each other, or whose derivatives are known no better.
    bool vague = hard && (c.unconverged || known > 1e-6);
    if (vague) second = NAN;
    if (!vague) skew = djt_worst(skew, fabs(a - b) / size);
    if (isfinite(second)) {
      bend = djt_worst(bend, second);
      seen++;
    }
    free(x);
    free(u);
    djt_closeHessian(&c);
    djt_delete(c.m, c.d);
  }
  print_message("method %d: %.1e of %d, skew %.1e, second differences %.1e\n", (int)integrator,
                worst, told, skew, bend);
  assert_true(worst < most);
  assert_true(skew < most);
  assert_true(bend < 1e-5);
  assert_true(told > (hard ? 0 : trials / 2) && seen > (hard ? 0 : trials / 2));
}

static void testMethods(void) {
  for (int k = 0; k < DJ_NINTEGRATOR; k++)
    checkRandom((djIntegrator)k, DJT_ALL, DJ_EQUALITY_SOFT, 12, 1e-5);
}

// Tendons and equality constraints, soft and hard.
static void testConstraints(void) {
  const int features = DJT_SPRINGS | DJT_ACTUATORS | DJT_TENDONS | DJT_EQUALITIES;
  checkRandom(DJ_EULER, features, DJ_EQUALITY_SOFT, 12, 1e-5);
  for (int k = 0; k < DJ_NINTEGRATOR; k++) {
    if (k != DJ_MIDPOINT) checkRandom((djIntegrator)k, features, DJ_EQUALITY_HARD, 12, 1e-5);
  }
}

// ---- differences ----------------------------------------------------------------------------------

// sin(a e + 1), and what has its scale at a thousandth.
static djStatus curves(double* out, void* user, double e) {
  ++*(int*)user;
  out[0] = sin(2 * e + 1);
  out[1] = sin(1e3 * e + 1) / 1e3;
  return fabs(e) > 5e-3 ? DJ_SINGULAR : DJ_OK;
}

static void testDifferences(void) {
  const djStretch each[] = {{0, 1, NULL}, {1, 1, NULL}};
  double d[2], mean[2], sample[20], error = 0, step = 1e-2;   // where there is none
  int calls = 0;
  assert_int_equal(dj_differ(d, mean, &step, &error, 2, each, 2, curves, &calls, sample), DJ_OK);
  assert_true(fabs(d[0] - 2 * cos(1)) < 1e-6 && fabs(d[1] - cos(1)) < 1e-6);
  assert_true(fabs(mean[0] - sin(1)) < 1e-6 && error < 1e-4 && step < 5e-3);
  int before = calls;   // the step that was found serves
  assert_int_equal(dj_differ(d, mean, &step, &error, 2, each, 2, curves, &calls, sample), DJ_OK);
  assert_true(calls - before <= 6);
}

// ---- one step -----------------------------------------------------------------------------------

// lambda . log(x+^-1 f(x)) of the step from d's state moved by e.
static double stepAt(const djtHessian* c, double* x, double e, const double* lambda,
                     const djData* end) {
  const djModel* m = c->m;
  const djVariation along = djt_variationOf(c, x);
  djData* d = djt_data(m);
  assert_int_equal(dj_copyData(d, m, c->d), DJ_OK);
  d->work->refinement_steps = 8;
  dj_integratePos(d->qpos, m, d->qpos, along.qpos0, e);
  for (int i = 0; i < m->nv; i++) d->qvel[i] += e * along.qvel0[i];
  for (int i = 0; i < m->na; i++) d->act[i] += e * along.act0[i];
  for (int i = 0; i < m->nu; i++) d->ctrl[i] += e * along.ctrl[i];
  assert_true(dj_step(m, d) >= 0);
  double dq[80], sum = 0;
  dj_differentiatePos(dq, m, 1, end->qpos, d->qpos);
  for (int i = 0; i < m->nv; i++) {
    sum += lambda[i] * dq[i] + lambda[m->nv + i] * (d->qvel[i] - end->qvel[i]);
  }
  for (int i = 0; i < m->na; i++) sum += lambda[2 * m->nv + i] * (d->act[i] - end->act[i]);
  dj_deleteData(d);
  return sum;
}

static void testStep(void) {
  static const double weight[3] = {-30, 16, -1};
  djRng rng = {11};
  double worst = 0, skew = 0;
  for (int trial = 0; trial < 24; trial++) {
    djtHessian c = {.m = djt_randomModel(&rng, 1 + djt_integer(&rng, 4), DJT_ALL), .r.horizon = 1};
    djt_dropPathArmature(c.m);
    djt_dropRows(c.m);
    djOption option = c.m->opt;
    option.timestep = 0.03;
    option.integrator = trial % 2 ? DJ_EULER : DJ_POSITION;
    djError err = {""};
    assert_int_equal(dj_setOption(c.m, &option, &err), DJ_OK);
    assert_int_equal(dj_makeData(&c.d, c.m, &err), DJ_OK);
    djt_randomState(&rng, c.m, c.d, 1);
    djt_openHessian(&c);
    djData* end = djt_data(c.m);
    assert_int_equal(dj_copyData(end, c.m, c.d), DJ_OK);
    end->work->refinement_steps = 8;
    assert_true(dj_step(c.m, end) >= 0);
    size_t n = (size_t)c.n, nx = (size_t)dj_tangentSize(c.m), many, after;
    double *x = calloc(4 * n + nx, sizeof *x), *y = x + n, *Hx = y + n, *Hy = Hx + n;
    double* lambda = Hy + n;
    djt_uniforms(x, c.n, &rng, -1, 1);
    djt_uniforms(y, c.n, &rng, -1, 1);
    djt_uniforms(lambda, (int)nx, &rng, -1, 1);
    djVariation to[2] = {djt_variationOf(&c, Hx), djt_variationOf(&c, Hy)};
    const djVariation by[2] = {djt_variationOf(&c, x), djt_variationOf(&c, y)};
    double* numbers = publicNumbers(&many, c.m, c.d);
    for (int k = 0; k < 2; k++) {
      djStatus status = djd_stepHvp(&to[k], &by[k], lambda, c.m, c.d, c.hessian);
      if (status != DJ_OK) fail_msg("%s", dj_errorText(c.d));
    }
    double* same = publicNumbers(&after, c.m, c.d);
    assert_true(many == after);
    assert_memory_equal(numbers, same, many * sizeof *same);
    double want = djt_dot(x, Hx, c.n), best = INFINITY;
    for (double e = 4e-2; e > 1e-3; e /= 2) {
      double sum = 0;
      for (int k = -2; k <= 2; k++) {
        sum += weight[abs(k)] * stepAt(&c, x, k * e, lambda, end) / (12 * e * e);
      }
      best = fmin(best, fabs(sum - want) / (1e-2 + fabs(want)));
    }
    worst = djt_worst(worst, best);
    double a = djt_dot(x, Hy, c.n), b = djt_dot(y, Hx, c.n);
    skew = djt_worst(skew, fabs(a - b) / (1e-2 + fabs(a)));
    free(numbers);
    free(same);
    free(x);
    djt_closeHessian(&c);
    dj_deleteData(end);
    djt_delete(c.m, c.d);
  }
  print_message("step: %.1e, skew %.1e\n", worst, skew);
  assert_true(worst < 1e-5);
  assert_true(skew < 1e-6);
}

DJT_MAIN(testMethods, testDifferences, testConstraints, testStep)
