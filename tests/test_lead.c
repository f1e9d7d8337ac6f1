// Secants of a loss: whether its gradient leads over steps of a size that is of use.

#include "gradient/certify.h"

#include <dijoco/dijoco.h>

#include "common/task_case.h"
#include "common/test.h"

static const double parts[DJD_NSECANT] = {1e-3, 1e-2, 5e-2};

// Certificate of a variable; its gradient is scaled for the time being.
static djdCertificate certify(Case* c, int variable, double factor) {
  djdCertificate out;
  int start = c->d->adr[variable], end = c->d->adr[variable + 1];
  for (int k = start; k < end; k++) c->gradient[k] *= factor;
  assert_true(djd_certifyVariable(&out, c->d, variable, c->loss, c->gradient, 0) >= 0);
  for (int k = start; k < end; k++) c->gradient[k] /= factor;
  assert_memory_equal(c->d->x, c->d->x0, (size_t)c->d->n * sizeof(double));
  return out;
}

// Loss where the first entry of a variable is moved.
static double lossAt(Case* c, int variable, double by) {
  double loss, *x = malloc((size_t)c->d->n * sizeof *x);
  memcpy(x, c->d->x0, (size_t)c->d->n * sizeof *x);
  x[c->d->adr[variable]] += by;
  assert_int_equal(djd_evaluateDesign(&loss, NULL, c->d, x), DJ_OK);
  free(x);
  return loss;
}

static void isNear(double x, double expected, double relative) {
  if (!(fabs(x - expected) <= relative * fabs(expected))) fail_msg("%.17g %.17g", x, expected);
}

#define SWING                                                                                      \
  "{'scene':'s','horizon':30,'timestep':0.004,'integrator':'variational',"                         \
  "'initial':{'qpos':[0,0.2]},'ctrl':[0.5],'set':{'body/cart/mass':[2]},"                          \
  "'loss':[{'type':'qpos','joint':'angle','target':[0.4]},"                                        \
  "{'type':'effort','weight':0.01}],'variables':"

static void testSmooth(void) {
  Case c;
  makeCaseOf(&c, NULL,
             SWING "[{'name':'body/cart/mass'},{'name':'qpos0','index':[1]},"
                   "{'name':'ctrl'},{'name':'qvel0','index':[]}]}");
  const double scale[] = {2, 1, sqrt(30)};
  for (int i = 0; i < 3; i++) {
    djdCertificate r = certify(&c, i, 1);
    assert_int_equal(r.leads, DJD_LEADS);
    isNear(r.scale, scale[i], 1e-12);
    for (int k = 0; k < DJD_NSECANT; k++) {
      assert_true(r.secant_step[k] == parts[k] && r.secant_sides[k] == 2);
      isNear(r.secant_analytic[k], r.analytic, 1e-10);
      isNear(r.secant[k], r.analytic, parts[k]);
      assert_true(djd_leadsAt(&r, k));
      if (i == 2) continue;   // along a line that is not known here
      double s = parts[k] * scale[i], down = r.analytic / c.gradient[c.d->adr[i]];   // 1 or -1
      isNear(r.secant[k], down * (lossAt(&c, i, s) - lossAt(&c, i, -s)) / (2 * s), 1e-8);
    }
  }
  djdCertificate none = certify(&c, 3, 1);   // of which nothing varies
  assert_true(none.leads == DJD_LEADS && none.scale == 0);
  freeCase(&c);
}

// A factor of two to either side, the sign, and what is no gradient at all.
static void testRule(void) {
  static const struct {
    double factor;
    djdLead leads;
  } list[] = {{1.9, DJD_LEADS},      {1 / 1.9, DJD_LEADS},     {2.2, DJD_LEADS_NOT},
              {1 / 2.2, DJD_LEADS_NOT}, {-1, DJD_LEADS_NOT},   {1e-9, DJD_LEADS_NOT},
              {NAN, DJD_LEADS_NOT}};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    Case c;
    makeCaseOf(&c, NULL, SWING "[{'name':'body/cart/mass'}]}");
    djdCertificate r = certify(&c, 0, list[i].factor);
    if (r.leads != list[i].leads) fail_msg("%g", list[i].factor);
    for (int k = 0; k < DJD_NSECANT; k++) {
      assert_int_equal(djd_leadsAt(&r, k), list[i].leads == DJD_LEADS);
    }
    assert_false(djd_leadsAt(&r, -1) || djd_leadsAt(&r, DJD_NSECANT) || djd_leadsAt(NULL, 0));
    freeCase(&c);
  }
}

// Where a bound is near, steps end there: one side alone, or sides of different length. Where
// entries end at different steps the direction is another, and so is the gradient along it.
static void testBounds(void) {
  Case c;
  makeCaseOf(&c, NULL,
             SWING "[{'name':'qpos0','index':[1],'min':0,'max':0.2},"
                   "{'name':'qvel0','index':[1],'min':-1,'max':0.02},"
                   "{'name':'qpos0','min':[-1,0],'max':[1,0.2]},"
                   "{'name':'body/cart/mass','min':0.1,'max':2.05}]}");
  const double scale[] = {0.1, 0.51, sqrt(1 + 0.01), 2}, room[] = {0, 0.02, 0, 0.05};
  for (int i = 0; i < 4; i++) {
    djdCertificate r = certify(&c, i, 1);
    isNear(r.scale, scale[i], 1e-12);
    assert_int_equal(r.leads, DJD_LEADS);
    for (int k = 0; k < DJD_NSECANT; k++) {
      assert_int_equal(r.secant_sides[k], i == 0 ? 1 : 2);
      if (i == 2) {
        assert_true(fabs(r.secant_analytic[k] - r.analytic) > 1e-3 * fabs(r.analytic));
        continue;
      }
      isNear(r.secant_analytic[k], r.analytic, 1e-10);
      double below = parts[k] * scale[i], above = fmin(below, room[i]);
      double down = r.analytic / c.gradient[c.d->adr[i]];   // 1 or -1
      double slope = (lossAt(&c, i, above) - lossAt(&c, i, -below)) / (above + below);
      isNear(r.secant[k], down * slope, 1e-8);
    }
  }
  freeCase(&c);
}

// Two balls that do not meet.
#define BALLS(friction)                                                                            \
  "{'dijoco_model':1,'option':{'timestep':0.005,'gravity':[0,0,0]},"                               \
  "'bodies':[{'name':'world'},"                                                                    \
  "{'name':'a','mass':1,'inertia':[0.004,0.004,0.004]},"                                           \
  "{'name':'b','pos':[0.5,0,0],'mass':1,'inertia':[0.004,0.004,0.004]}],"                          \
  "'joints':[{'body':'a','type':'free'},{'body':'b','type':'free'}],"                              \
  "'geoms':[{'name':'a','body':'a','type':'sphere','size':[0.1,0,0],"                              \
  "'friction':" friction "},{'name':'b','body':'b','type':'sphere',"                               \
  "'size':[0.1,0,0],'friction':" friction "}]}"
#define PUSH                                                                                       \
  "{'scene':'s','horizon':10,'initial':{'qvel':[0.1,0,0,0,0,0,0,0,0,0,0,0]},"                      \
  "'loss':[{'type':'position','body':'a','target':[0.5,0.1,0]}],"

// A loss that does not move, as its gradient says.
static void testFlat(void) {
  Case c;
  makeCaseOf(&c, BALLS("[0.4,0,0]"), PUSH "'variables':[{'name':'geom/a/friction','index':[0]}]}");
  djdCertificate r = certify(&c, 0, 1);
  assert_true(r.leads == DJD_LEADS && r.analytic == 0 && r.secant[2] == 0);
  c.gradient[0] = 0.1;
  r = certify(&c, 0, 1);
  assert_true(r.leads == DJD_LEADS_NOT && fabs(r.secant_analytic[0]) > 0.09);
  freeCase(&c);
}

// Friction has no values below 0: there are runs on one side, and on none where one coefficient
// rises as the other falls.
static void testNoRun(void) {
  Case c;
  makeCaseOf(&c, BALLS("[0,0,0]"), PUSH "'variables':[{'name':'geom/a/friction','index':[0]}]}");
  djdCertificate r = certify(&c, 0, 1);
  assert_true(r.leads == DJD_LEADS && r.secant_sides[0] == 1 && r.secant_sides[2] == 1);
  freeCase(&c);
  makeCaseOf(&c, BALLS("[0,0,0]"),
             PUSH "'free':{'z':{'value':[0]}},'maps':["
                  "{'type':'affine','from':'z','to':'geom/a/friction','matrix':[[1],[0],[0]]},"
                  "{'type':'affine','from':'z','to':'geom/b/friction',"
                  "'matrix':[[-1],[0],[0]]}],'variables':[{'name':'z'}]}");
  r = certify(&c, 0, 1);
  assert_true(r.leads == DJD_LEAD_UNKNOWN && r.scale > 0 && !r.passed);
  for (int k = 0; k < DJD_NSECANT; k++) {
    assert_true(r.secant_sides[k] == 0 && isnan(r.secant[k]) && !djd_leadsAt(&r, k));
  }
  freeCase(&c);
}

static bool line(void* user, double e, double* loss) {
  (void)user;
  *loss = 1 + e;
  return true;
}

// Six runs more, which do not count among the certificate's; none of one that is not begun or is
// about no variable.
static void testRuns(void) {
  Case c;
  djArray before, after;
  djPhases* p;
  djdCertificate r;
  makeCaseOf(&c, NULL, SWING "[{'name':'body/cart/mass'}]}");
  assert_int_equal(djd_designArray(&before, c.d, "evaluations"), DJ_OK);
  int first = *(const int*)before.data;
  r = certify(&c, 0, 1);
  assert_int_equal(djd_designArray(&after, c.d, "evaluations"), DJ_OK);
  assert_int_equal(*(const int*)after.data - first, r.evaluations + 6);
  assert_int_equal(djd_makePhases(&p, c.d, 1, 1, NULL), DJ_OK);
  assert_int_equal(djd_certifyWithin(&r, p, 0, c.loss, c.gradient, 0, 39), DJ_NOT_CONVERGED);
  assert_true(r.leads == DJD_LEAD_UNKNOWN && r.scale == 0);
  djd_deletePhases(p);
  freeCase(&c);
  assert_int_equal(djd_check(&r, 1, 1, 1, line, NULL), DJ_OK);
  assert_true(r.leads == DJD_LEAD_UNKNOWN && r.scale == 0);
}

DJT_MAIN(testSmooth, testRule, testBounds, testFlat, testNoRun, testRuns)
