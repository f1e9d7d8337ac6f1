// Numbers of the model that an optimizer takes from one value to another: the guide of contact.

#include "common/design_case.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/refused_text.h"
#include "common/test.h"

// A hand on a slide, and a ball beside it that it can only move by a guide or by meeting it.
static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.01,'gravity':[0,0,0]},"
    "'bodies':[{'name':'world'},"
    "{'name':'hand','mass':0.5,'inertia':[0.002,0.002,0.002]},"
    "{'name':'ball','pos':[0.3,0,0],'mass':0.5,'inertia':[0.002,0.002,0.002]}],"
    "'joints':[{'name':'slide','type':'slide','body':'hand','axis':[1,0,0]},"
    "{'name':'free','type':'free','body':'ball'}],"
    "'geoms':[{'name':'hand','type':'sphere','body':'hand','size':[0.05,0,0]},"
    "{'name':'ball','type':'box','body':'ball','size':[0.05,0.05,0.05]}]}";

#define TASK(more, optimizer)                                                                      \
  "{'scene':'s','horizon':20,'contact':{'guide':0.5},'initial':{'qvel':[0.2,0,0,"                  \
  "0,0,0,0]},'loss':[{'type':'position','body':'ball','target':[0.5,0,0]}],"                       \
  "'variables':[{'name':'qvel0','index':[0]}" more "],'optimizer':{'type':"                        \
  "'adam','rate':0.05" optimizer "}}"
#define ANNEAL(from, to) ",'iterations':12,'anneal':{'contact/guide':[" #from "," #to "]}"

enum { N = 12 };

typedef struct Seen {
  djDesign* design;
  int n;
  double guide[N + 1], loss[N + 1], x[N + 1];
} Seen;

static bool look(void* user, const djOptimizeStep* step) {
  Seen* s = user;
  assert_true(step->iteration == s->n && s->n <= N);
  s->guide[s->n] = s->design->model->contact.guide;
  s->x[s->n] = step->x[0];
  s->loss[s->n++] = step->loss;
  return true;
}

static void optimize(Seen* s, djOptimizeResult* r, const char* task, double x[1],
                     const djOptimizer* how) {
  DesignCase c;
  djError err = {""};
  djt_openDesign(&c, scene, task);
  const djOptimizer* o = how ? how : &c.task->optimizer;
  *s = (Seen){.design = c.d};
  x[0] = c.d->x0[0];
  if (djd_optimizeDesign(r, x, c.d, o, 1, look, s, &err) < 0) fail_msg("%s", err.text);
  // losses told are those of the guide of their iteration
  for (int k = 0; k < s->n; k += 3) {
    double loss;
    djParam guide = djt_param(c.d->model, "contact/guide");
    assert_int_equal(dj_setParam(c.d->model, &guide, &s->guide[k], &err), DJ_OK);
    assert_int_equal(djd_evaluateDesign(&loss, NULL, c.d, &s->x[k]), DJ_OK);
    djt_near(s->loss[k], loss, 1e-10 * loss);
  }
  djt_closeDesign(&c);
}

// The value goes in equal steps and ends where it is to end; whatever was better before, the last
// iterate is the result.
static void testValues(void) {
  static const char* const task[] = {TASK("", ANNEAL(0.5, 0)), TASK("", ANNEAL(0.01, 0.3)),
                                     TASK("", ANNEAL(0.7, 0.7))};
  static const double from[] = {0.5, 0.01, 0.7}, to[] = {0, 0.3, 0.7};
  for (int k = 0; k < 3; k++) {
    Seen s;
    djOptimizeResult r;
    double x[1];
    optimize(&s, &r, task[k], x, NULL);
    assert_true(s.n == N + 1 && r.iterations == N);
    // without a guide the loss is flat
    assert_int_equal(r.stop, k == 0 ? DJ_STOP_GRADIENT : DJ_STOP_ITERATIONS);
    double least = INFINITY;
    for (int i = 0; i <= N; i++) {
      djt_near(s.guide[i], from[k] + (to[k] - from[k]) * i / N, 1e-14);
      least = fmin(least, s.loss[i]);
    }
    assert_true(s.guide[N] == to[k]);
    bool same = from[k] == to[k];
    if (same) {   // nothing changes: the best of all
      assert_true(r.loss == least && r.best_iteration < N + 1);
      continue;
    }
    assert_true(r.loss == s.loss[N] && r.best_iteration == N && x[0] == s.x[N]);
    if (k == 0) assert_true(r.loss > least);
  }
}

// A run does not end on the way, however flat.
static void testTolerances(void) {
  static const char* const task[] = {TASK("", ANNEAL(0.5, 0.1) ",'gradient_tolerance':1e9"),
                                     TASK("", ANNEAL(0.5, 0.1) ",'step_tolerance':1e9")};
  for (int k = 0; k < 2; k++) {
    Seen s;
    djOptimizeResult r;
    double x[1];
    optimize(&s, &r, task[k], x, NULL);
    assert_true(r.iterations == N && s.guide[N] == 0.1 && r.best_iteration == N);
    assert_int_equal(r.stop, k ? DJ_STOP_STEP : DJ_STOP_GRADIENT);
  }
}

static void testRefused(void) {
  djt_refuseOptimize(scene, TASK("", ",'anneal':{'contact/gide':[1,0]}"), "contact/gide");
  djt_refuseOptimize(scene, TASK("", ",'anneal':{'contact/guide':[-1,0]}"), "contact/guide");
  djt_refuseOptimize(scene, TASK("", ",'anneal':{'contact/guide':[1,-1]}"), "contact/guide");
  djt_refuseOptimize(scene, TASK("", ",'anneal':{'geom/hand/size':[1,0]}"),
                     "geom/hand/size: is not one number");
  djt_refuseOptimize(scene, TASK(",{'name':'contact/guide'}", ANNEAL(0.5, 0)),
                     "contact/guide: varies");
  static const char* const others[] = {"lbfgsb", "trust_region", "gauss_newton"};
  for (int k = 0; k < 3; k++) {
    djOptimizer o;
    DesignCase c;
    djError err = {""};
    djt_openDesign(&c, scene, TASK("", ANNEAL(0.5, 0)));
    o = c.task->optimizer;
    o.type = others[k];
    djOptimizeResult r;
    double x[1] = {c.d->x0[0]};
    assert_int_equal(djd_optimizeDesign(&r, x, c.d, &o, 1, NULL, NULL, &err), DJ_UNSUPPORTED);
    assert_int_equal(strncmp(err.text, others[k], strlen(others[k])), 0);
    assert_non_null(strstr(err.text, "takes no losses that change"));
    djt_closeDesign(&c);
  }
  static const char* const list[][2] = {
      {TASK("", ",'anneal':[1,0]"), "~anneal"},
      {TASK("", ",'anneal':{'contact/guide':1}"), "~contact/guide"},
      {TASK("", ",'anneal':{'contact/guide':[1]}"), "~contact/guide"},
      {TASK("", ",'anneal':{'contact/guide':[1,0,0]}"), "~contact/guide"},
      {TASK("", ",'anneal':{'contact/guide':[1,'x']}"), "~contact/guide"},
      {TASK("", ",'anneal':{'a':[1,0],'b':[1,0],'c':[1,0],'d':[1,0],'e':[1,0]}"), "~too many"},
      {TASK(
           "",
           ",'anneal':{'"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa':[1,0]}"),
       "~too long"}};
  djt_refuseTasks(DJ_INVALID, NULL, "%s", list);
}

DJT_MAIN(testValues, testTolerances, testRefused)
