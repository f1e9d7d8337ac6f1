// Losses as sums of squares: residuals, their derivatives, and a design that Gauss-Newton solves.

#include "common/design_case.h"
#include "common/test.h"

static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.01,"
    "'stiffness_scale':1e-5},'bodies':[{'name':'world'},"
    "{'name':'brick','pos':[0,0,0.2],'mass':0.5,'inertia':[0.002,0.003,0.004]},"
    "{'name':'cart','pos':[1,1,1],'mass':0.3,'inertia':[0.002,0.003,0.001]},"
    "{'name':'arm','parent':'cart','ipos':[0,0,-0.1],'mass':0.3,'inertia':[0.002,0.003,0.001]}],"
    "'joints':[{'name':'free','type':'free','body':'brick'},"
    "{'name':'slide','type':'slide','body':'cart','axis':[1,0,0],'damping':0.1},"
    "{'name':'hinge','type':'hinge','body':'arm','axis':[0,1,0]}],"
    "'geoms':[{'name':'floor','type':'plane','body':'world','size':[0,0,1]},"
    "{'name':'brick','type':'box','body':'brick','size':[0.06,0.05,0.04]}],"
    "'sites':[{'name':'tip','body':'arm','pos':[0.02,0,-0.35]}],"
    "'actuators':[{'name':'m','joint':'slide'},{'name':'n','joint':'hinge'}]}";

#define START                                                                                      \
  "'scene':'s','horizon':12,'initial':{'qpos':[0,0,0.2,0.9,0.1,0.3,0.2,0.3,"                       \
  "0.4],'qvel':[0.7,0.2,-1.5,4,-3,5,0.8,-3]},'ctrl':[0.5,-0.2],"
#define VARIABLES                                                                                  \
  "'variables':[{'name':'qpos0'},{'name':'qvel0'},{'name':'ctrl'},"                                \
  "{'name':'geom/brick/size'},{'name':'body/arm/mass'},{'name':'site/tip/pos'}]"

// Every row, each with a tolerance that counts, some with one that does not, at all times.
static const char task[] =
    "{" START "'loss':[{'type':'position','body':'brick','target':[0.3,0.1,0.1],'weight':3},"
    "{'type':'position','site':'tip','target':[1,1,0],'when':'running','tolerance':0.1},"
    "{'type':'orientation','body':'brick','target':[1,0.2,0.5,0]},"
    "{'type':'orientation','body':'arm','target':[1,0.2,0,0],'tolerance':0.2},"
    "{'type':'velocity','body':'arm','target':[0.1,0,0],'tolerance':0.1},"
    "{'type':'com','target':[0.1,0.2,0.3],'when':{'step':5}},"
    "{'type':'distance','body':'brick','body2':'arm','target':0.4},"
    "{'type':'relative','body':'brick','body2':'cart','when':{'from':3,'to':11,'every':4}},"
    "{'type':'relative','body':'arm','body2':'brick','tolerance':0.01},"
    "{'type':'relative','body':'cart','body2':'brick','when':{'from':8}},"
    "{'type':'qpos','joint':'slide','target':0.8,'tolerance':0.05},"
    "{'type':'qpos','joint':'slide','target':0.8,'tolerance':9},"
    "{'type':'qvel','joint':'hinge','weight':0},"
    "{'type':'qvel','joint':'hinge'},"
    "{'type':'effort','weight':0.1},{'type':'effort','tolerance':0.3},"
    "{'type':'effort','tolerance':7}]," VARIABLES "}";
enum { COUNT = 3 + 12 * 3 + 3 + 3 + 3 + 3 + 1 + 3 * 3 + 3 + 5 * 3 + 1 + 1 + 1 + 3 * 12 * 2 };

// Their squares are the loss, and J^T r its gradient; J is that of differences. All over phases.
static void testDerivatives(void) {
  for (int n = 1; n <= 3; n += 2) {
    DesignCase c;
    djt_openDesign(&c, scene, task);
    djPhases* p;
    assert_int_equal(djd_makePhases(&p, c.d, n, 2, NULL), DJ_OK);
    int count;
    size_t nx = (size_t)c.d->n, m = (size_t)(n * COUNT);
    assert_int_equal(djd_countResiduals(&count, c.d, NULL), DJ_OK);
    assert_int_equal(count, COUNT);
    double *J = calloc(m * nx + 4 * m + 2 * nx, sizeof *J), *r = J + m * nx, *more = r + m;
    double *less = more + m, *other = less + m, *grad = other + m, *x = grad + nx;
    memcpy(x, c.d->x0, nx * sizeof *x);
    for (size_t i = 0; i < nx; i++) x[i] += 0.01 * (double)(i % 3);
    double loss, sum = 0;
    assert_int_equal(djd_evaluatePhases(&loss, grad, p, x), DJ_OK);
    assert_int_equal(djd_phasesResiduals(p, r, J, x), DJ_OK);
    for (size_t i = 0; i < m; i++) sum += r[i] * r[i];
    assert_true(fabs(sum - loss) < 1e-12 * loss);
    for (size_t k = 0; k < nx; k++) {
      double along = 0, size = 0;
      for (size_t i = 0; i < m; i++) {
        along += 2 * J[i * nx + k] * r[i];
        size += fabs(J[i * nx + k] * r[i]);
      }
      assert_true(fabs(along - grad[k]) <= 1e-10 * size);
      const double e = 1e-6;
      double at = x[k];
      x[k] = at + e;
      assert_int_equal(djd_phasesResiduals(p, more, NULL, x), DJ_OK);
      x[k] = at - e;
      assert_int_equal(djd_phasesResiduals(p, less, NULL, x), DJ_OK);
      x[k] = at;
      for (size_t i = 0; i < m; i++) {
        double difference = (more[i] - less[i]) / (2 * e);
        djt_failIf(fabs(difference - J[i * nx + k]) > 2e-5 * (1 + fabs(difference)),
                   "residual %zu by %zu: %g, %g", i, k, J[i * nx + k], difference);
      }
    }
    // Without derivatives the same; a bad point is refused by all.
    assert_int_equal(djd_phasesResiduals(p, other, NULL, x), DJ_OK);
    assert_memory_equal(r, other, m * sizeof *r);
    x[c.d->adr[4]] = -1;
    assert_true(djd_phasesResiduals(p, r, J, x) < 0);
    free(J);
    djd_deletePhases(p);
    djt_closeDesign(&c);
  }
}

// Losses that are none.
static void testNone(void) {
  DesignCase c;
  djt_openDesign(&c, scene,
                 "{" START "'loss':[{'type':'com','target':[0,0,1]},"
                 "{'type':'qvel','joint':'hinge','weight':-1}]," VARIABLES "}");
  int n;
  double r[4];
  djError err = {""};
  djOptimizer o = dj_defaultOptimizer();
  djOptimizeResult result;
  djt_refused(DJ_UNSUPPORTED, djd_countResiduals(&n, c.d, &err), err, "loss[1]: a negative weight");
  assert_int_equal(djd_designResiduals(r, NULL, c.d, c.d->x0), DJ_UNSUPPORTED);
  double* x = malloc((size_t)c.d->n * sizeof *x);
  memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
  o.type = "gauss_newton";
  djt_refused(DJ_UNSUPPORTED, djd_optimizeDesign(&result, x, c.d, &o, 1, NULL, NULL, &err), err,
              "gauss_newton needs a loss that is a sum of squares: loss[1]: a negative weight");
  free(x);
  djt_closeDesign(&c);
}

// A throw to a place: the start's velocity, in a few steps, within bounds.
static void testThrow(void) {
  for (int phases = 1; phases <= 2; phases++) {
    DesignCase c;
    djt_openDesign(&c, scene,
                   "{" START "'loss':[{'type':'position','body':'brick','target':"
                   "[0.5,0.2,0.3]},{'type':'orientation','body':'brick','target':[1,0.2,0.1,0.4]}],"
                   "'variables':[{'name':'qvel0','index':[0,1,2,3,4,5],'max':[9,9,9,9,9,9]}]}");
    djOptimizer o = dj_defaultOptimizer();
    o.type = "gauss_newton";
    o.iterations = 12;
    o.phases = phases;
    djOptimizeResult r;
    djError err = {""};
    double x[6];
    memcpy(x, c.d->x0, sizeof x);
    x[2] = 1;   // upwards
    if (djd_optimizeDesign(&r, x, c.d, &o, 1, NULL, NULL, &err) < 0) fail_msg("%s", err.text);
    assert_true(r.loss < (phases == 1 ? 1e-12 : 1e-2) * r.first_loss);
    djt_closeDesign(&c);
  }
}

DJT_MAIN(testDerivatives, testNone, testThrow)
