// Certificates of a task's gradient, a task applied to its scene, and a design's fields by name.

#include "gradient/certify.h"

#include <dijoco/dijoco.h>

#include "common/make_model.h"
#include "common/task_case.h"
#include "common/test.h"

static const char text[] = "{'scene':'s','horizon':30,'timestep':0.004,'integrator':'variational',"
                           "'initial':{'qpos':[0,0.2]},'ctrl':[0.5],'set':{'body/cart/mass':[2]},"
                           "'loss':[{'type':'qpos','joint':'angle','target':[0.4]},"
                           "{'type':'effort','weight':0.01}],"
                           "'variables':[{'name':'ctrl'},{'name':'qpos0','index':[1]},"
                           "{'name':'qvel0','index':[]},{'name':'body/cart/mass'}]}";

static void makeCase(Case* c, const char* json) { makeCaseOf(c, NULL, json); }

static void testCertificates(void) {
  Case c;
  makeCase(&c, text);
  djdCertificate first, again, other;
  for (int i = 0; i < c.p->nvariable; i++) {
    assert_int_equal(djd_certifyVariable(&first, c.d, i, c.loss, c.gradient, 0), DJ_OK);
    assert_true(first.passed);
    assert_int_equal(first.evaluations > 0, c.p->variable[i].n > 0);
    assert_memory_equal(c.d->x, c.d->x0, (size_t)c.d->n * sizeof(double));
    if (c.p->variable[i].n == 0) continue;
    assert_int_equal(djd_certifyVariable(&again, c.d, i, c.loss, c.gradient, 0), DJ_OK);
    assert_true(first.analytic == again.analytic && first.difference == again.difference);
    double* g = &c.gradient[c.d->adr[i]];
    for (int k = 0; k < c.p->variable[i].n; k++) g[k] *= 1 + 1e-4;
    assert_int_equal(djd_certifyVariable(&again, c.d, i, c.loss, c.gradient, 0), DJ_OK);
    assert_false(again.passed);
    double apart = fabs(again.difference - first.difference);
    assert_true(apart <= first.difference_error + again.difference_error);
  }
  assert_int_equal(djd_certifyVariable(&first, c.d, 0, c.loss, c.gradient, 0), DJ_OK);
  assert_int_equal(djd_certifyVariable(&other, c.d, 0, c.loss, c.gradient, 1), DJ_OK);
  assert_true(first.analytic != other.analytic);
  assert_int_equal(djd_certifyVariable(&first, c.d, -1, c.loss, c.gradient, 0), DJ_INVALID);
  assert_int_equal(djd_certifyVariable(&first, c.d, 4, c.loss, c.gradient, 0), DJ_INVALID);
  assert_int_equal(djd_certifyVariable(&first, c.d, 0, c.loss, NULL, 0), DJ_INVALID);
  assert_int_equal(djd_certifyVariable(NULL, c.d, 0, c.loss, c.gradient, 0), DJ_INVALID);
  assert_int_equal(djd_certifyVariable(&first, NULL, 0, c.loss, c.gradient, 0), DJ_INVALID);
  freeCase(&c);
}

// Certificate of a variable; its gradient is scaled for the time being.
static djdCertificate certify(Case* c, int variable, double factor) {
  djdCertificate out;
  int start = c->d->adr[variable], end = c->d->adr[variable + 1];
  for (int k = start; k < end; k++) c->gradient[k] *= factor;
  assert_int_equal(djd_certifyVariable(&out, c->d, variable, c->loss, c->gradient, 0), DJ_OK);
  for (int k = start; k < end; k++) c->gradient[k] /= factor;
  return out;
}

// One ball hits another, but not where its geom is moved by its own size.
static const char balls[] =
    "{'dijoco_model':1,'name':'balls','option':{'timestep':0.005,'gravity':[0,0,0],"
    "'friction_eps':1e-7},'bodies':[{'name':'world'},"
    "{'name':'a','mass':1,'inertia':[0.004,0.004,0.004]},"
    "{'name':'b','pos':[0.22,0.03,0],'mass':1,'inertia':[0.004,0.004,0.004]}],"
    "'joints':[{'name':'a','body':'a','type':'free'},"
    "{'name':'b','body':'b','type':'free','qpos0':[0.22,0.03,0,1,0,0,0]}],"
    "'geoms':[{'name':'a','body':'a','type':'sphere','size':[0.1,0,0],"
    "'friction':[0.5,0.005,0.0001]},"
    "{'name':'b','body':'b','type':'sphere','size':[0.1,0,0],"
    "'friction':[0.4,0.005,0.0001]}]}";

static const char strike[] =
    "{'scene':'s','horizon':30,'initial':{'qvel':[1,0,0,0,0,9,0,0,0,0,0,0]},"
    "'loss':[{'type':'position','body':'b','target':[0.5,0.1,0]}],"
    "'variables':[{'name':'geom/a/pos'},{'name':'geom/a/friction'},"
    "{'name':'qvel0'},{'name':'geom/b/pos'}]}";

static void testZeroLengths(void) {
  Case c;
  makeCaseOf(&c, balls, strike);
  for (int i = 0; i < c.p->nvariable; i++) {
    djdCertificate right = certify(&c, i, 1), wrong = certify(&c, i, 1 + 3e-5);
    assert_true(right.analytic != 0 && right.difference != 0);
    assert_true(right.passed);
    assert_false(wrong.passed);
    assert_true(right.uncertainty < 1e-5);
  }
  freeCase(&c);
}

// Of values that are all 0 the steps start at a tenth of the scene's size, per entry: here the mean
// of two balls' radii and of one body's distance, as the other body's is 0. The certificate is that
// of the same line with steps from there on.
static void testSceneSize(void) {
  static const char json[] =
      "{'scene':'s','horizon':30,"
      "'initial':{'qvel':[1,0,0,0,0,9,0,0,0,0,0,0]},'free':{'z':{'value':[0]}},"
      "'maps':[{'type':'affine','from':'z','to':'geom/b/pos','matrix':[[1],[0],[0]]}],"
      "'loss':[{'type':'position','body':'b','target':[0.5,0.1,0]}],"
      "'variables':[{'name':'z'},{'name':'body/a/ipos','index':[1]},"
      "{'name':'geom/a/pos'}]}";
  double size = (0.1 + 0.1 + sqrt(0.22 * 0.22 + 0.03 * 0.03)) / 3;
  Case c;
  makeCaseOf(&c, balls, json);
  for (int i = 0; i < c.p->nvariable; i++) {
    int n = c.p->variable[i].n;
    djdCertificate found = certify(&c, i, 1), line;
    double rung = 2 * log10(0.1 * size * sqrt(n) / found.step);
    assert_true(found.analytic != 0 && fabs(rung - round(rung)) < 1e-9);
    if (n > 1) continue;   // along a line that is not known here
    double* direction = calloc((size_t)c.d->n, sizeof(double));
    direction[c.d->adr[i]] = found.analytic / c.gradient[c.d->adr[i]];   // 1 or -1
    assert_int_equal(djd_checkDesign(&line, c.d, c.d->x0, direction, c.loss, found.analytic,
                                     0.1 * size), DJ_OK);
    free(direction);
    assert_int_equal(found.evaluations, line.evaluations);
    assert_true(fabs(found.step - line.step) < 1e-9 * line.step);
    assert_true(fabs(found.difference - line.difference) <= line.difference_error);
  }
  freeCase(&c);
}

// Entries of a parameter that must stay positive differ by orders of magnitude: friction that
// slides, spins and rolls. Differences stay central, with steps that suit the first.
static void testSizesOfEntries(void) {
  Case c;
  makeCaseOf(&c, balls, strike);
  djdCertificate friction = certify(&c, 1, 1);
  assert_true(friction.passed);
  assert_true(friction.uncertainty < 1e-5);
  assert_true(friction.step > 1e-4);
  freeCase(&c);
}

// A term that does not depend on the variable, and is far larger than what does, takes nothing
// from what the difference knows: losses are compared before they are rounded.
static void testLargeTerm(void) {
  static const char format[] =
      "{'scene':'s','horizon':30,'timestep':0.004,'initial':{'qpos':[0,0.2]},"
      "'ctrl':[0.5],'loss':[{'type':'qpos','joint':'angle','target':[0.4]},"
      "{'type':'effort','weight':%g}],'variables':[{'name':'body/cart/mass'}]}";
  djdCertificate small, large;
  char json[sizeof format + 40];
  Case c;
  snprintf(json, sizeof json, format, 0.0);
  makeCase(&c, json);
  small = certify(&c, 0, 1);
  double part = c.loss;
  freeCase(&c);
  snprintf(json, sizeof json, format, 1e4);
  makeCase(&c, json);
  large = certify(&c, 0, 1);
  assert_true(c.loss > 1e3 * part);
  assert_true(small.passed && large.passed);
  assert_true(fabs(large.difference - small.difference) < 1e-9 * fabs(small.difference));
  assert_true(large.difference_error < 1e-8 * fabs(large.difference));
  assert_false(certify(&c, 0, 1 + 3e-6).passed);
  freeCase(&c);
}

// Both balls have the same friction: the larger one counts, so that each has half of the slope, and
// the certificate says so. Of both together it is whole. A geom's spinning and rolling friction are
// entries that are 0, and move upwards alone.
static void testTies(void) {
  char scene[sizeof balls + 40], *at;
  strcpy(scene, balls);
  at = strstr(scene, "[0.4,0.005,0.0001]");
  memcpy(at, "[0.5,0.000,0.0000]", strlen("[0.5,0.000,0.0000]"));
  static const char json[] =
      "{'scene':'s','horizon':30,'initial':{'qvel':[1,0,0,0,0,9,0,0,0,0,0,0]},"
      "'loss':[{'type':'position','body':'b','target':[0.5,0.1,0]}],"
      "'variables':[{'name':'geom/a/friction','index':[0]},"
      "{'name':'geom/b/friction'},{'name':'geom/a/size','index':[0]}]}";
  static const char both[] =
      "{'scene':'s','horizon':30,'free':{'mu':{'value':[0.5,0,0]}},"
      "'maps':[{'type':'shared','from':'mu','to':['geom/a/friction','geom/b/friction']}],"
      "'initial':{'qvel':[1,0,0,0,0,9,0,0,0,0,0,0]},"
      "'loss':[{'type':'position','body':'b','target':[0.5,0.1,0]}],"
      "'variables':[{'name':'mu','index':[0]}]}";
  Case c;
  makeCaseOf(&c, scene, json);
  double slope = 0;
  for (int i = 0; i < 2; i++) {
    djdCertificate r = certify(&c, i, 1);
    double low = fmin(r.one_sided[0], r.one_sided[1]), high = fmax(r.one_sided[0], r.one_sided[1]);
    assert_string_equal(r.kink, "friction of geom/a and geom/b is equal: the larger counts");
    assert_true(r.passed && r.analytic != 0 && !*r.gave_up);
    assert_true(fabs(fabs(r.analytic) - 0.5 * (high - low)) < 1e-3 * (high - low));
    assert_true(fmin(fabs(low), fabs(high)) < 1e-6 * (high - low));   // one side does not count
    slope = fabs(r.analytic);
    r = certify(&c, i, 2.1);
    assert_true(!r.passed && *r.kink);   // beyond the slope of either side
    r = certify(&c, i, -0.1);
    assert_false(r.passed);
  }
  djdCertificate size = certify(&c, 2, 1);   // says nothing of a tie that it does not part
  assert_true(size.passed && !*size.kink);
  assert_string_equal(certify(&c, 2, 1.01).kink, "");
  freeCase(&c);
  makeCaseOf(&c, scene, both);
  djdCertificate r = certify(&c, 0, 1);
  assert_true(r.passed && !*r.kink);
  assert_true(fabs(fabs(r.analytic) - 2 * slope) < 1e-3 * slope);
  freeCase(&c);
}

// What else a start may be at exactly. A gradient that is wrong shows whether it is looked for: what
// does not vary is not named.
static void testCoincidences(void) {
  static const char links[] =
      "{'dijoco_model':1,'name':'links','option':{'timestep':0.005},'bodies':[{'name':"
      "'world'},{'name':'a','mass':1,'inertia':[0.004,0.004,0.004],'ipos':[0.1,0,0]}],"
      "'joints':[{'name':'j','body':'a','type':'hinge','axis':[0,1,0],"
      "'limited':true,'range':[-0.5,0.25]}],"
      "'actuators':[{'name':'m','joint':'j','ctrllimited':true,'ctrlrange':[-1,1]},"
      "{'name':'f','joint':'j','dyn':'filter','tau':0.1,'actlimited':true,'actrange':[-0.5,0.5]}]}";
  static const char format[] = "{'scene':'s','integrator':'position','horizon':10,"
                               "'initial':{'qpos':[%g],'act':[%g]},'ctrl':[%g,0.1],"
                               "'loss':[{'type':'qpos','joint':'j','target':[0.1]}],"
                               "'variables':[{'name':'ctrl'},{'name':'act0'},{'name':'qpos0'},"
                               "{'name':'body/a/mass'}]}";
  static const struct {
    double qpos, act, ctrl;
    const char* name;
  } list[] = {{0.1, 0.1, 1, "ctrl of actuator/m is at its limit in step 1"},
              {0.1, -0.5, 0.3, "activation of actuator/f starts at its limit"},
              {0.25, 0.1, 0.3, "joint/j starts at its limit"}};
  for (int k = 0; k < 3; k++) {
    char json[sizeof format + 60];
    snprintf(json, sizeof json, format, list[k].qpos, list[k].act, list[k].ctrl);
    Case c;
    makeCaseOf(&c, links, json);
    for (int i = 0; i < 4; i++) {
      djdCertificate r = certify(&c, i, 1.5);
      assert_false(r.passed);
      assert_string_equal(r.kink, i == k ? list[k].name : "");
    }
    freeCase(&c);
  }
}

// Balls whose centres coincide, and a box that lies flat in another; one in a floor has no kink.
static void testCoincidentFeatures(void) {
  static const char format[] =
      "{'dijoco_model':1,'name':'deep','option':{'timestep':0.005},'bodies':[{'name':"
      "'world'},{'name':'a','mass':1,'inertia':[0.004,0.004,0.004]}],"
      "'joints':[{'name':'a','body':'a','type':'free'}],"
      "'geoms':[{'name':'w','body':'world',%s},{'name':'g','body':'a',%s}]}";
  static const char json[] = "{'scene':'s','horizon':3,'initial':{'qpos':[0,0,%g,1,0,0,0]},"
                             "'loss':[{'type':'position','body':'a','target':[0.5,0.1,0.3]}],"
                             "'variables':[{'name':'qpos0'}]}";
  static const char ball[] = "'type':'sphere','size':[0.1,0,0],'friction':[0.5,0,0]";
  static const struct {
    const char *world, *geom;
    double height;
    const char* name;
  } list[] = {{ball, ball, 0, "centres of geom/w and geom/g coincide: any direction leads apart"},
              {"'type':'box','size':[0.5,0.5,0.1],'pos':[0,0,-0.1]",
               "'type':'box','size':[0.1,0.1,0.1]", 0.08,
               "several points of geom/w and geom/g are the deepest"},
              {"'type':'plane'", "'type':'box','size':[0.1,0.1,0.1]", 0.08, ""}};
  for (int k = 0; k < 3; k++) {
    char scene[1000], task[sizeof json + 20];
    snprintf(scene, sizeof scene, format, list[k].world, list[k].geom);
    snprintf(task, sizeof task, json, list[k].height);
    Case c;
    makeCaseOf(&c, scene, task);
    djdCertificate r = certify(&c, 0, 1.5);
    assert_string_equal(r.kink, list[k].name);
    assert_false(r.passed && k < 2);
    if (k == 2) {
      r = certify(&c, 0, 1);
      assert_true(r.passed && fabs(r.one_sided[1] - r.one_sided[0]) < 1e-4);
    }
    if (k == 1) {   // a kink, of which the gradient is between the slopes
      r = certify(&c, 0, 1);
      assert_string_equal(r.kink, list[k].name);
      assert_true(r.passed && fabs(r.one_sided[1] - r.one_sided[0]) > 0.01);
    }
    freeCase(&c);
  }
}

// Runs of all blocks together: one that none are left for is named, and does not pass.
static void testBudget(void) {
  Case c;
  makeCase(&c, text);
  djPhases* p;
  assert_int_equal(djd_makePhases(&p, c.d, 1, 1, NULL), DJ_OK);
  for (int most = 0; most <= 80; most += 20) {
    djdCertificate r;
    djStatus status = djd_certifyWithin(&r, p, 0, c.loss, c.gradient, 0, most);
    assert_int_equal(status, most < 40 ? DJ_NOT_CONVERGED : DJ_OK);
    assert_true(r.evaluations <= most);
    assert_int_equal(strstr(r.gave_up, "not begun") != NULL, most < 40);
    assert_int_equal(r.passed, !*r.gave_up);
  }
  // along a line, and nothing to be named on it
  double* direction = calloc((size_t)c.d->n, sizeof(double));
  djdCertificate line;
  char name[100] = "x";
  direction[31] = 1;   // the cart's mass
  assert_int_equal(dj_checkLine(&line, p, c.d->x0, direction, c.loss, c.gradient[31], 0.2, 60),
                   DJ_OK);
  assert_true(line.passed && line.evaluations <= 60);
  assert_int_equal(dj_nameKink(name, sizeof name, p, c.d->x0, direction, 1e-4), DJ_OK);
  assert_string_equal(name, "");
  free(direction);
  djd_deletePhases(p);
  freeCase(&c);
}

static void testRandom(void) {
  double sum = 0, square = 0;
  for (unsigned long k = 0; k < 10000; k++) {
    double x = djd_random(1, k / 100, k % 100);
    assert_true(x >= 0 && x < 1);
    assert_true(x == djd_random(1, k / 100, k % 100));
    sum += x;
    square += x * x;
  }
  assert_true(fabs(sum / 10000 - 0.5) < 0.01 && fabs(square / 10000 - 1.0 / 3) < 0.01);
  assert_true(djd_random(0, 1, 2) != djd_random(0, 2, 1));
}

static void testApply(void) {
  Case c;
  makeCase(&c, text);
  assert_true(c.m->opt.timestep == 0.004 && c.m->opt.integrator == DJ_VARIATIONAL);
  assert_true(c.m->body_mass[1] == 2);
  assert_string_equal(dj_taskScene(c.task), c.task->scene);
  assert_ptr_equal(dj_taskOptimizer(c.task), &c.task->optimizer);
  assert_string_equal(dj_taskScene(NULL), "");
  assert_null(dj_taskOptimizer(NULL));
  djError err = {""};
  assert_int_equal(dj_applyTask(NULL, c.task, &err), DJ_INVALID);
  assert_int_equal(dj_applyTask(c.m, NULL, &err), DJ_INVALID);
  djTask* bad =
      djt_taskOf("{'scene':'s','horizon':1,'loss':[],'set':{'body/none/mass':[2]},'variables':[]}");
  djt_refusedWith(DJ_INVALID, dj_applyTask(c.m, bad, &err), err, "none");
  dj_deleteTask(bad);
  freeCase(&c);
}

static djArray field(const Case* c, const char* name) {
  djArray a;
  if (djd_designArray(&a, c->d, name) < 0) fail_msg("no field %s", name);
  return a;
}

static void testFields(void) {
  Case c;
  makeCase(&c, text);
  assert_ptr_equal(field(&c, "n").data, &c.d->n);
  assert_ptr_equal(field(&c, "x0").data, c.d->x0);
  assert_int_equal(field(&c, "x0").rows, 32);
  assert_int_equal(field(&c, "adr").rows, 5);
  assert_ptr_equal(field(&c, "equal_start").data, c.d->equal_start);
  assert_int_equal(field(&c, "equal").rows, c.d->equal_start[c.d->nequal]);
  assert_ptr_equal(field(&c, "worst_condition").data, &c.d->result.worst_condition);
  assert_ptr_equal(field(&c, "term").data, c.d->result.term);
  djArray type = field(&c, "term.type"), picked = field(&c, "variable.picked");
  assert_int_equal(type.rows, 2);
  assert_int_equal(*(int*)((char*)type.data + type.stride), DJ_LOSS_EFFORT);
  assert_int_equal(picked.type, DJ_ARRAY_BOOL);
  assert_true(*(bool*)((char*)picked.data + picked.stride));
  assert_false(*(bool*)picked.data);
  assert_ptr_equal(field(&c, "variable.ntangent").data, &c.p->variable[0].ntangent);
  assert_string_equal(djd_variableName(c.d, 3), "body/cart/mass");
  assert_string_equal(djd_variableName(c.d, 4), "");
  assert_int_equal(djd_variableIndex(c.d, 1, 0), 1);
  assert_int_equal(djd_variableIndex(c.d, 1, 1), -1);
  assert_int_equal(djd_variableIndex(c.d, 4, 0), -1);
  djArray a;
  assert_int_equal(djd_designArray(&a, c.d, "variable.color"), DJ_INVALID);
  assert_int_equal(djd_designArray(&a, c.d, "model"), DJ_INVALID);
  assert_int_equal(djd_designArray(&a, NULL, "n"), DJ_INVALID);
  assert_int_equal(djd_designArray(NULL, c.d, "n"), DJ_INVALID);
  assert_string_equal(djd_designError(c.d), "");
  double* x = calloc((size_t)c.d->n, sizeof *x);
  x[31] = -1;   // the cart's mass
  assert_true(djd_moveDesign(c.d, x) < 0);
  assert_non_null(strstr(djd_designError(c.d), "mass"));
  free(x);
  freeCase(&c);
}

DJT_MAIN(testCertificates, testZeroLengths, testSizesOfEntries, testLargeTerm, testTies, testBudget,
         testCoincidences, testCoincidentFeatures, testSceneSize, testRandom, testApply, testFields)
