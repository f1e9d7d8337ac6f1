// Losses over phases of a timestep: the moved start and its gradient, means over phases, threads.

#include "common/design_case.h"
#include "common/optimize_case.h"
#include "common/test.h"

enum { NV = 11, NQ = 13 };

// A brick that turns in the air above a table, a pendulum on a ball joint, a slide and a hinge.
static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.01},'bodies':[{'name':'world'},"
    "{'name':'brick','pos':[0,0,0.2],'mass':0.5,'inertia':[0.002,0.003,0.004]},"
    "{'name':'tail','pos':[0,1,1],'ipos':[0,0,-0.1],'mass':0.3,'inertia':[0.002,0.003,0.001]},"
    "{'name':'cart','pos':[1,1,1],'mass':0.3,'inertia':[0.002,0.003,0.001]},"
    "{'name':'arm','parent':'cart','ipos':[0,0,-0.1],'mass':0.3,'inertia':[0.002,0.003,0.001]}],"
    "'joints':[{'name':'free','type':'free','body':'brick'},"
    "{'name':'ball','type':'ball','body':'tail'},"
    "{'name':'slide','type':'slide','body':'cart','axis':[1,0,0],'damping':0.1},"
    "{'name':'hinge','type':'hinge','body':'arm','axis':[0,1,0]}],"
    "'geoms':[{'name':'floor','type':'plane','body':'world','size':[0,0,1]},"
    "{'name':'brick','type':'box','body':'brick','size':[0.06,0.05,0.04]}],"
    "'actuators':[{'name':'m','joint':'slide'}]}";

static const char task[] =
    "{'scene':'s','horizon':25,'initial':{'qpos':[0,0,0.2,0.9,0.1,0.3,0.2,1,0.1,0.2,"
    "-0.1,0.3,0.4],'qvel':[0.7,0.2,-1.5,4,-3,5,6,-4,2,0.8,-3]},'ctrl':[0.5],"
    "'loss':[{'type':'position','body':'brick','target':[0.3,0.1,0.1]},"
    "{'type':'orientation','body':'tail','target':[1,0,0,0]},"
    "{'type':'position','body':'arm','target':[1,1,0.5],'when':'running'},"
    "{'type':'qvel','joint':'hinge'},{'type':'effort','weight':0.1}],"
    "'variables':[{'name':'qpos0'},{'name':'qvel0'},{'name':'ctrl'},"
    "{'name':'geom/brick/size'},{'name':'body/arm/mass'}]}";

// The start is where the flow takes it, at every point; phase 0 is the start itself.
static void testStart(void) {
  DesignCase c;
  djt_openDesign(&c, scene, task);
  double q[NQ], *x = malloc((size_t)c.d->n * sizeof *x);
  for (int i = 0; i < c.d->n; i++) x[i] = c.d->x0[i] * 1.1;
  assert_int_equal(djd_setPhase(c.d, 0.3), DJ_OK);
  for (int k = 0; k < 2; k++) {
    double value[NQ];
    if (k == 1) assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
    djd_designValue(value, c.d, 0);
    dj_integratePos(q, c.m, value, c.d->rollout.qvel0, 0.3 * 0.01);
    assert_memory_equal(q, c.d->rollout.qpos0, sizeof q);
    assert_memory_not_equal(value, c.d->rollout.qpos0, sizeof q);
  }
  assert_int_equal(djd_setPhase(c.d, NAN), DJ_INVALID);
  assert_int_equal(djd_setPhase(c.d, 0), DJ_OK);
  assert_int_equal(djd_moveDesign(c.d, c.d->x0), DJ_OK);
  assert_memory_equal(c.p->qpos0, c.d->rollout.qpos0, sizeof q);
  free(x);
  djt_closeDesign(&c);
}

// Gradients of moved starts are certified by all variables.
static void testGradient(void) {
  static const double phase[] = {0.37, 5, -2.5};
  for (int k = 0; k < 3; k++) {
    DesignCase c;
    djt_openDesign(&c, scene, task);
    double loss, *grad = malloc((size_t)c.d->n * sizeof *grad);
    assert_int_equal(djd_setPhase(c.d, phase[k]), DJ_OK);
    assert_int_equal(djd_evaluateDesign(&loss, grad, c.d, c.d->x0), DJ_OK);
    for (int i = 0; i < c.p->nvariable; i++) {
      djdCertificate result;
      assert_int_equal(djd_certifyVariable(&result, c.d, i, loss, grad, 1), DJ_OK);
      djt_failIf(!result.passed, "phase %g: %s: %g beside %g", phase[k], c.p->variable[i].name,
                 result.analytic, result.difference);
    }
    free(grad);
    djt_closeDesign(&c);
  }
}

// Means of single losses and gradients, the same bits by any number of threads.
static void testMean(void) {
  enum { PHASES = 5 };
  DesignCase c, single;
  djt_openDesign(&c, scene, task);
  djt_openDesign(&single, scene, task);
  size_t n = (size_t)c.d->n;
  double sum = 0, loss, first = 0;
  double *x = malloc(4 * n * sizeof *x), *grad = x + n, *mean = grad + n, *one = mean + n;
  for (size_t i = 0; i < n; i++) {
    x[i] = c.d->x0[i] * 1.05;
    mean[i] = 0;
  }
  for (int j = 0; j < PHASES; j++) {
    assert_int_equal(djd_setPhase(single.d, (double)j / PHASES), DJ_OK);
    assert_int_equal(djd_evaluateDesign(&loss, grad, single.d, x), DJ_OK);
    if (j == 0) first = loss;
    sum += loss;
    for (size_t i = 0; i < n; i++) mean[i] += grad[i];
  }
  assert_true(fabs(sum / PHASES - first) > 1e-4 * first);   // phases differ
  for (int nthread = 0; nthread < 8; nthread++) {
    djPhases* p;
    djError err = {""};
    if (djd_makePhases(&p, c.d, PHASES, nthread, &err) < 0) fail_msg("%s", err.text);
    assert_true(p->n == PHASES && p->nthread >= 1 && p->nthread <= PHASES);
    if (nthread > 0) assert_int_equal(p->nthread, nthread < PHASES ? nthread : PHASES);
    for (int again = 0; again < 2; again++) {
      assert_int_equal(djd_evaluatePhases(&loss, one, p, x), DJ_OK);
      assert_true(loss == sum / PHASES);
      for (size_t i = 0; i < n; i++) assert_true(one[i] == mean[i] / PHASES);
      assert_int_equal(djd_evaluatePhases(&loss, NULL, p, x), DJ_OK);
      assert_true(loss == sum / PHASES);
    }
    djd_deletePhases(p);
  }
  free(x);
  djt_closeDesign(&single);
  djt_closeDesign(&c);
}

// Spread of gradients over phases, from single ones.
static void testSpread(void) {
  enum { PHASES = 4, NVARIABLE = 5 };
  DesignCase c, single;
  djt_openDesign(&c, scene, task);
  djt_openDesign(&single, scene, task);
  size_t n = (size_t)c.d->n;
  assert_int_equal(c.p->nvariable, NVARIABLE);
  double loss, spread[NVARIABLE], *grad = malloc(PHASES * n * sizeof *grad);
  for (int j = 0; j < PHASES; j++) {
    assert_int_equal(djd_setPhase(single.d, (double)j / PHASES), DJ_OK);
    assert_int_equal(djd_evaluateDesign(&loss, grad + (size_t)j * n, single.d, single.d->x0),
                     DJ_OK);
  }
  djPhases* p;
  assert_int_equal(djd_makePhases(&p, c.d, PHASES, 2, NULL), DJ_OK);
  assert_int_equal(djd_phaseSpread(spread, p, c.d->x0), DJ_OK);
  for (int v = 0; v < NVARIABLE; v++) {
    // By |g - mean|^2 = |g|^2 - |mean|^2 in the mean.
    double squares = 0, mean = 0;
    for (int i = c.d->adr[v]; i < c.d->adr[v + 1]; i++) {
      double sum = 0;
      for (int j = 0; j < PHASES; j++) {
        double g = grad[(size_t)j * n + (size_t)i];
        sum += g / PHASES;
        squares += g * g / PHASES;
      }
      mean += sum * sum;
    }
    double expected = sqrt((squares - mean) / mean);
    assert_true(expected > 1e-5 && fabs(spread[v] - expected) < 1e-6 * expected);
  }
  djd_deletePhases(p);
  assert_int_equal(djd_makePhases(&p, c.d, 1, 0, NULL), DJ_OK);
  assert_int_equal(djd_phaseSpread(spread, p, c.d->x0), DJ_OK);
  for (int v = 0; v < NVARIABLE; v++) assert_true(spread[v] == 0);
  double* x = grad;
  memcpy(x, c.d->x0, n * sizeof *x);
  x[n - 1] = -1;
  assert_true(djd_phaseSpread(spread, p, x) < 0);
  assert_int_equal(djd_phaseSpread(NULL, p, x), DJ_INVALID);
  djd_deletePhases(p);
  free(grad);
  djt_closeDesign(&single);
  djt_closeDesign(&c);
}

static bool noteLoss(void* user, const djOptimizeStep* step) {
  *(double*)user = step->loss;
  return true;
}

// An optimizer takes its phases; with one it does what it does without.
static void testOptimize(void) {
  DesignCase c;
  djt_openDesign(&c, scene, task);
  size_t n = (size_t)c.d->n;
  double *x = malloc(2 * n * sizeof *x), *y = x + n, last = NAN, loss;
  djOptimizer o = dj_defaultOptimizer();
  assert_int_equal(o.phases, 1);
  o.type = "lbfgsb";
  o.iterations = 5;
  djOptimizeProblem p = {.n = c.d->n, .lower = c.d->lower, .upper = c.d->upper,
                         .group = c.d->group, .objective = djd_designObjective, .user = c.d};
  djOptimizeResult phased;
  djError err = {""};
  memcpy(x, c.d->x0, n * sizeof *x);
  memcpy(y, c.d->x0, n * sizeof *x);
  djOptimizeResult r = djt_optimum(x, &p, &o);
  assert_int_equal(djd_optimizeDesign(&phased, y, c.d, &o, 1, noteLoss, &last, &err), DJ_OK);
  assert_memory_equal(x, y, n * sizeof *x);
  assert_true(phased.loss == r.loss && phased.evaluations == r.evaluations && last == r.loss);
  o.phases = 3;
  memcpy(y, c.d->x0, n * sizeof *x);
  assert_int_equal(djd_optimizeDesign(&phased, y, c.d, &o, 2, NULL, NULL, &err), DJ_OK);
  assert_true(phased.loss < phased.first_loss && phased.first_loss != r.first_loss);
  djPhases* phases;
  assert_int_equal(djd_makePhases(&phases, c.d, 3, 1, &err), DJ_OK);
  assert_int_equal(djd_evaluatePhases(&loss, NULL, phases, y), DJ_OK);
  assert_true(loss == phased.loss);

  // Errors
  x[n - 1] = -1;
  assert_true(djd_evaluatePhases(&loss, y, phases, x) < 0);
  assert_non_null(strstr(djd_designError(c.d), "mass"));
  djd_deletePhases(phases);
  djt_refusedWith(DJ_INVALID, djd_optimizeDesign(&phased, x, c.d, &o, 2, NULL, NULL, &err), err,
                  "mass");
  assert_int_equal(djd_makePhases(&phases, c.d, 0, 1, &err), DJ_INVALID);
  assert_int_equal(djd_makePhases(&phases, c.d, 2, -1, &err), DJ_INVALID);
  assert_int_equal(djd_makePhases(&phases, NULL, 2, 1, &err), DJ_INVALID);
  assert_null(phases);
  o.phases = 0;
  assert_int_equal(djd_optimizeDesign(&phased, x, c.d, &o, 2, NULL, NULL, &err), DJ_INVALID);
  free(x);
  djt_closeDesign(&c);
}

DJT_MAIN(testStart, testGradient, testMean, testSpread, testOptimize)
