// Designs whose masses follow their geoms by each rule: certificates of vertices, facets that are
// renewed between iterations, and the jump that is told.

#include "common/design_case.h"
#include "common/near.h"
#include "common/random.h"
#include "common/test.h"
#include "gradient/design_parts.h"

// A pendulum that turns about two axes, of two hulls that overlap, one with a point inside.
static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.005},'bodies':[{'name':'world'},"
    "{'name':'bob','pos':[0,0,1],'ipos':[0.05,0,-0.3],'mass':1.5,'inertia':[0.02,0.03,0.025]}],"
    "'joints':[{'name':'x','type':'hinge','body':'bob','axis':[1,0,0],'damping':0.05},"
    "{'name':'y','type':'hinge','body':'bob','axis':[0,1,0.2],'damping':0.02}],"
    "'meshes':[{'name':'a','vert':[[-0.1,-0.1,-0.1],[0.1,-0.1,-0.1],[-0.1,0.12,-0.1],"
    "[0.1,0.1,-0.1],[-0.1,-0.1,0.1],[0.1,-0.1,0.1],[-0.1,0.1,0.1],[0.12,0.1,0.1],[0,0,0.02]]},"
    "{'name':'b','vert':[[0,0,0.2],[0.13,0,0],[-0.1,0.11,0],[-0.1,-0.1,0.01],"
    "[0,0.02,-0.2]]}],"
    "'geoms':[{'name':'a','type':'mesh','mesh':'a','body':'bob','pos':[0,0,-0.3],"
    "'quat':[0.6,0.2,0,0.4],'contype':0,'conaffinity':0},"
    "{'name':'b','type':'mesh','mesh':'b','body':'bob','pos':[0.1,0.05,-0.3],"
    "'contype':0,'conaffinity':0},"
    "{'name':'ball','type':'sphere','body':'bob','pos':[0,0,-0.1],"
    "'size':[0.03,0,0],'contype':0,'conaffinity':0}],"
    "'actuators':[{'name':'m','joint':'x'}]}";

static const char* const rules[] = {"'exact'", "'lumped'", "'union'", "true"};

static void makeCase(DesignCase* c, const char* rule, const char* optimizer) {
  char text[2048];
  snprintf(text, sizeof text,
           "{'scene':'s','horizon':60,'ctrl':[0.4],'inertia_from_geom':%s,"
           "'initial':{'qvel':[1,-2]},'loss':[{'type':'position','body':'bob',"
           "'target':[0.2,0.2,0.8]},{'type':'qpos','joint':'x','target':0.4}],"
           "'variables':[{'name':'mesh/a/vert'},{'name':'mesh/b/vert'},"
           "{'name':'geom/a/pos'}]%s}",
           rule, optimizer);
  djt_openDesign(c, scene, text);
}

// x0 with every number moved by up to size.
static double* besides(const djDesign* d, djRng* rng, double size) {
  double* x = malloc((size_t)d->n * sizeof *x);
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + size * djt_uniform(rng, -1, 1);
  return x;
}

static void testCertificates(void) {
  djRng rng = {4};
  double first[4];
  for (int r = 0; r < 4; r++) {
    DesignCase c;
    makeCase(&c, rules[r], "");
    djDesign* d = c.d;
    double loss, *x = besides(d, &rng, 0.005), *grad = malloc((size_t)d->n * sizeof *grad);
    double* direction = calloc((size_t)d->n, sizeof *direction);
    djRng of_all = {9};
    double* moved = besides(d, &of_all, 0.005);
    assert_int_equal(djd_evaluateDesign(&first[r], NULL, d, moved), DJ_OK);
    free(moved);
    for (int renewed = 0; renewed < 2; renewed++) {
      int changed = 0;
      assert_int_equal(djd_evaluateDesign(&loss, grad, d, x), DJ_OK);
      for (int v = 0; v < 3; v++) {
        double analytic = 0;
        memset(direction, 0, (size_t)d->n * sizeof *direction);
        for (int k = d->adr[v]; k < d->adr[v + 1]; k++) {
          direction[k] = djt_uniform(&rng, -1, 1);
          analytic += direction[k] * grad[k];
        }
        djdCertificate cert;
        assert_int_equal(djd_checkDesign(&cert, d, x, direction, loss, analytic, 1e-3), DJ_OK);
        djt_failIf(!(cert.relative_error < 1e-6),
                   "%s, variable %d, renewed %d: %.9g, difference %.9g", rules[r], v, renewed,
                   analytic, cert.difference);
        assert_true(fabs(analytic) > 1e-6);
      }
      assert_int_equal(djd_moveDesign(d, x), DJ_OK);
      assert_int_equal(djd_renewFacets(&changed, d), DJ_OK);
      assert_true(!renewed || changed == 0);
    }
    free(direction);
    free(grad);
    free(x);
    djt_closeDesign(&c);
  }
  assert_true(first[0] == first[3]);
  for (int r = 0; r < 3; r++) assert_true(fabs(first[r] - first[(r + 1) % 3]) > 1e-6);
}

typedef struct Course {
  int n, jumps, told;
  double largest;
  djPhases* fresh;
} Course;

// The loss at x with facets of the hulls there, by a run.
static double renewedLoss(djPhases* p, const double* x) {
  double loss = NAN;
  int changed;
  for (int j = 0; j < p->n; j++) {
    assert_int_equal(djd_moveDesign(p->design[j], x), DJ_OK);
    assert_int_equal(djd_renewFacets(&changed, p->design[j]), DJ_OK);
  }
  assert_int_equal(djd_evaluatePhases(&loss, NULL, p, x), DJ_OK);
  return loss;
}

static bool onStep(void* user, const djOptimizeStep* step) {
  Course* c = user;
  c->n++;
  c->jumps += step->jump != 0;
  if (step->jump != 0) {   // told to first order, or by a run: what a run says
    double jump = renewedLoss(c->fresh, step->x) - step->loss;
    assert_true(fabs(step->jump - jump) <= 0.03 * fabs(jump) + 1e-13);
    c->told += fabs(step->jump - jump) > 1e-13;
  }
  c->largest = fmax(c->largest, fabs(step->jump));
  return true;
}

// Facets are those of the hulls at the result, whatever came between.
static void testRenewal(void) {
  static const char* const types[] = {"adam','rate':0.004", "trust_region','radius':0.02",
                                      "lbfgsb'"};
  int told = 0;
  for (int k = 0; k < 9; k++) {
    char optimizer[120];
    snprintf(optimizer, sizeof optimizer, ",'optimizer':{'type':'%s,'iterations':12,'phases':%d}",
             types[k % 3], k / 3 >= 1 ? 2 : 1);
    DesignCase c, fresh;
    makeCase(&c, rules[k / 3], optimizer);
    makeCase(&fresh, rules[k / 3], "");
    djOptimizeResult result;
    djError err = {""};
    Course course = {0};
    assert_int_equal(djd_makePhases(&course.fresh, fresh.d, k / 3 >= 1 ? 2 : 1, 1, &err), DJ_OK);
    double* x = malloc((size_t)c.d->n * sizeof *x);
    memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
    djStatus status = djd_optimizeDesign(&result, x, c.d, &c.task->optimizer, 1, onStep, &course,
                                         &err);
    if (status < 0) fail_msg("%s", err.text);
    assert_true(result.loss < result.first_loss);
    // Of lumped masses facets do not matter, but which vertices they have.
    assert_true(k / 3 == 1 || (result.renewals > 0 && result.largest_jump > 0));
    if (k % 3 == 2) assert_int_equal(course.jumps, 0);
    assert_true(result.largest_jump >= course.largest);
    told += course.told;
    djt_near(renewedLoss(course.fresh, x), result.loss, 1e-9);
    djd_deletePhases(course.fresh);
    free(x);
    djt_closeDesign(&fresh);
    djt_closeDesign(&c);
  }
  assert_true(told > 0);
}

// By the other rules a design has its masses from the start; without any it never renews.
static void testStart(void) {
  DesignCase c;
  int changed = 7;
  makeCase(&c, "false", "");
  assert_int_equal(djd_renewFacets(&changed, c.d), DJ_OK);
  assert_int_equal(changed, 0);
  djt_closeDesign(&c);
  // Alternate corners of a box outward or inward: one of these bends its facets the other way.
  makeCase(&c, "true", "");
  int all = 0;
  for (int side = -1; side < 2; side += 2) {
    double* x = malloc((size_t)c.d->n * sizeof *x);
    for (int k = 0; k < c.d->n; k++) x[k] = c.d->x0[k];
    static const int corner[4] = {0, 3, 5, 6};
    for (int k = 0; k < 12; k++) x[3 * corner[k / 3] + k % 3] *= 1 + 0.2 * side;
    assert_int_equal(djd_moveDesign(c.d, x), DJ_OK);
    assert_int_equal(djd_renewFacets(&changed, c.d), DJ_OK);
    all += changed;
    free(x);
  }
  assert_true(all > 0);
  djt_closeDesign(&c);
  makeCase(&c, "'union'", "");
  djHullOverlap o;
  assert_int_equal(dj_bodyOverlap(&o, c.m, 1, NULL), DJ_OK);
  assert_true(o.nhull == 2 && o.share > 0.01);
  djt_closeDesign(&c);
  makeCase(&c, "'lumped'", "");
  djt_near(c.d->model->body_mass[1], 1.5, 1e-14);
  assert_true(fabs(c.d->model->body_inertia[3] - c.m->body_inertia[3]) > 1e-3);
  djt_closeDesign(&c);
}

typedef struct Begun {
  double x[80], loss; // of stage 1
  int steps;          // left until it is ended
  int n;
} Begun;

static bool lookAt(void* user, const djOptimizeStep* step) {
  Begun* b = user;
  if (step->stage == 1 && step->iteration == 0) {
    b->loss = step->loss;
    memcpy(b->x, step->x, (size_t)b->n * sizeof *b->x);
  }
  return b->steps-- != 0;
}

// A run that was ended in a later stage goes on with the facets that this began with.
static void testGoingOn(void) {
  DesignCase c;
  makeCase(&c, "'exact'",
           ",'optimizer':{'type':'adam','rate':0.01,'stages':[{'iterations':4},"
           "{'iterations':8,'set':{'joint/y/damping':[0.1]}}]}");
  djOptimizer how = c.task->optimizer;
  Begun first = {.steps = 9}, again = {.steps = 2};
  djOptimizeResult r;
  double x[80];
  assert_in_range(c.d->n, 1, 80);
  first.n = again.n = c.d->n;
  memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
  assert_int_equal(djd_optimizeDesign(&r, x, c.d, &how, 1, lookAt, &first, NULL), DJ_OK);
  how.first_stage = 1;
  how.nstart = c.d->n;
  how.start = first.x;
  assert_int_equal(djd_optimizeDesign(&r, x, c.d, &how, 1, lookAt, &again, NULL), DJ_OK);
  assert_memory_equal(first.x, again.x, (size_t)c.d->n * sizeof *x);
  djt_near(again.loss, first.loss, 1e-14); // facets may be summed in another order
  djt_closeDesign(&c);
}

// Where facets of what was looked at last leave no possible mass at the point where a stage begins,
// here those of the hulls seen in a mirror, it begins with that point's own.
typedef struct Mirror {
  djDesign* d;
  const double* x;
} Mirror;

static bool lookAway(void* user, const djOptimizeStep* step) {
  const Mirror* m = user;
  int changed;
  if (step->stage == 1 || step->iteration == 0) return true;
  assert_true(djd_moveDesign(m->d, m->x) < 0);   // nor the other way about
  assert_int_equal(djd_renewFacets(&changed, m->d), DJ_OK);
  dj_designMemory(m->d)->behind = true;
  assert_int_equal(djd_moveDesign(m->d, m->x), DJ_OK);
  assert_true(changed > 0 && djd_moveDesign(m->d, step->x) < 0);
  return true;
}

static void testLookedAway(void) {
  DesignCase c, plain;
  const char* how = ",'optimizer':{'type':'adam','rate':1e-3,'iterations':1,'stages':[{},{}]}";
  makeCase(&c, "'exact'", how);
  makeCase(&plain, "'exact'", how);
  const int n = c.d->n;
  double x[80], y[80], mirror[80];
  assert_in_range(n, 1, 80);
  for (int i = 0; i < n; i++) mirror[i] = i % 3 == 0 && i < n - 3 ? -c.d->x0[i] : c.d->x0[i];
  memcpy(x, c.d->x0, (size_t)n * sizeof *x);
  memcpy(y, x, sizeof y);
  Mirror m = {c.d, mirror};
  djOptimizeResult r, want;
  djError err = {""};
  djStatus status = djd_optimizeDesign(&r, x, c.d, &c.task->optimizer, 1, lookAway, &m, &err);
  if (status < 0) fail_msg("%s", err.text);
  assert_int_equal(djd_optimizeDesign(&want, y, plain.d, &plain.task->optimizer, 1, NULL, NULL,
                                      NULL), DJ_OK);
  djt_near(r.loss, want.loss, 1e-12);
  djt_closeDesign(&c);
  djt_closeDesign(&plain);
}

// A link whose mass is that of one hull.
#define POS "[0.0704626,-0.0000256,0.0022095]"
#define QUAT "[0.5073196,0.4892291,0.5146746,0.4882539]"
static const char link[] =
    "{'dijoco_model':1,'option':{'timestep':0.005},'bodies':[{'name':'world'},"
    "{'name':'arm','pos':[0,0,1],'ipos':" POS ",'iquat':" QUAT ",'mass':0.2710895,"
    "'inertia':[0.000950787,0.000944894,0.0000870551]}],"
    "'joints':[{'name':'h','type':'hinge','body':'arm','axis':[0,1,0],"
    "'damping':0.05}],"
    "'meshes':[{'name':'c','vert':["
    "[-0.0210987,-0.022437,-0.1002696],[-0.0207172,-0.0230935,0.1004192],"
    "[0.0199532,-0.0226696,-0.1014626],[0.022659,-0.0220538,0.0997623],"
    "[-0.0218899,0.0217395,-0.0983523],[-0.0215934,0.0215768,0.1011737],"
    "[0.0210376,0.0222976,-0.1023158],[0.0192875,0.0246077,0.0968449]],"
    "'face':[[0,1,5],[1,3,5],[0,4,6],[4,0,5],[7,3,6],[3,7,5],[4,7,6],[7,4,5],[2,0,6],[3,2,6],"
    "[2,1,0],[1,2,3]]}],"
    "'geoms':[{'name':'c','type':'mesh','mesh':'c','body':'arm','pos':" POS ","
    "'quat':" QUAT "}],"
    "'sites':[{'name':'tip','body':'arm','pos':[0.16,0,0]}],"
    "'actuators':[{'name':'m','joint':'h'}]}";

// Steps of a size that changes hulls altogether: facets of where such a run has been last may leave
// no possible mass at its result, which is the design that it leaves all the same.
static void testFarFacets(void) {
  const djEntry* entry;
  static const double sizes[] = {0.001, 0.0015, 0.002, 0.003, 0.006, 0.012, 0.02, 0.04};
  for (int t = 0; (entry = dj_optimizerEntry(t)); t++) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      DesignCase c;
      char text[600];
      snprintf(text, sizeof text,
               "{'scene':'s','horizon':60,'ctrl':[-0.8],'inertia_from_geom':true,"
               "'loss':[{'type':'position','site':'tip','target':[0.27,0,1.1]}],"
               "'variables':[{'name':'mesh/c/vert'}],'optimizer':{'type':'%s',"
               "'iterations':60}}",
               entry->name);
      djt_openDesign(&c, link, text);
      djOptimizer how = c.task->optimizer;
      how.rate = how.radius = how.control_radius = sizes[k];
      djOptimizeResult result;
      djError err = {""};
      double loss = NAN, *x = malloc((size_t)c.d->n * sizeof *x);
      memcpy(x, c.d->x0, (size_t)c.d->n * sizeof *x);
      djStatus status = djd_optimizeDesign(&result, x, c.d, &how, 1, NULL, NULL, &err);
      if (status < 0) fail_msg("%s: %s", entry->name, err.text);
      status = djd_forwardDesign(&loss, c.d, x, false);
      if (status < 0) fail_msg("%s, %g: %s", entry->name, sizes[k], c.d->error.text);
      djt_near(loss, result.loss, 1e-9);
      assert_true(result.loss < result.first_loss);
      free(x);
      djt_closeDesign(&c);
    }
  }
}

DJT_MAIN(testStart, testCertificates, testRenewal, testFarFacets, testGoingOn, testLookedAway)
