// Runs of an optimizer in stages: they are runs one after the other, with what each sets; a run
// goes on where it was interrupted; and what is refused.

#include "common/design_case.h"
#include "common/json.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/refused_text.h"
#include "common/test.h"
#include "gradient/stages.h"

#include <dijoco/dijoco.h>

// A pendulum with a motor.
static const char scene[] =
    "{'dijoco_model':1,'option':{'timestep':0.02},'bodies':[{'name':'world'},"
    "{'name':'arm','ipos':[0,0,-0.5],'mass':0.5,'inertia':[0.02,0.02,0.001]},"
    "{'name':'end','parent':'arm','pos':[0,0,-1],'mass':0.1,'inertia':[0.001,0.001,0.001]}],"
    "'joints':[{'name':'hinge','type':'hinge','body':'arm','axis':[0,1,0]}],"
    "'actuators':[{'name':'motor','joint':'hinge'}]}";

#define TASK(optimizer)                                                                            \
  "{'scene':'s','horizon':15,'loss':[{'type':'position','body':'end',"                             \
  "'target':[0.5,0,-0.5]},{'type':'effort','weight':1e-3}],'variables':[{'name':"                  \
  "'ctrl','min':-4,'max':4}],'optimizer':{" optimizer "}}"
#define LIST_WITH(last)                                                                            \
  "'stages':[{'set':{'joint/hinge/damping':[0.5],'body/*/mass':[0.3]},'iterations':3},"            \
  "{'set':{'joint/hinge/damping':[0.1]}},{'set':{'body/arm/mass':[0.6]" last "},"                  \
  "'iterations':2}]"
#define LIST LIST_WITH("")

enum { N = 15, STAGES = 3 };

// By hand: damping, masses of arm and end, iterations, armature, which the last alone sets.
static const double by_hand[STAGES][5] = {
    {0.5, 0.3, 0.3, 3, 0}, {0.1, 0.3, 0.3, 4, 0}, {0.1, 0.6, 0.3, 2, 0.05}};

typedef struct Seen {
  int n, last;                // steps told, stage of the last
  int count[STAGES];          // of each stage
  double begun[STAGES][N];    // where each began
  int end_at;                 // tell it to end after so many steps; 0: never
} Seen;

static bool look(void* user, const djOptimizeStep* step) {
  Seen* s = user;
  assert_in_range(step->stage, s->last, STAGES - 1);
  assert_int_equal(step->iteration, s->count[step->stage]);
  if (step->iteration == 0) memcpy(s->begun[step->stage], step->x, sizeof s->begun[0]);
  s->count[step->stage]++;
  s->last = step->stage;
  s->n++;
  return s->n != s->end_at;
}

static void run(double x[N], djOptimizeResult* r, Seen* s, DesignCase* c, const djOptimizer* how,
                int threads) {
  djError err = {""};
  memcpy(x, c->d->x0, N * sizeof *x);
  if (djd_optimizeDesign(r, x, c->d, how, threads, look, s, &err) < 0) fail_msg("%s", err.text);
}

static void setNumber(djModel* m, const char* name, double value) {
  djParam p = djt_param(m, name);
  assert_int_equal(dj_setParam(m, &p, &value, NULL), DJ_OK);
}

// The same by single runs.
static void testSingle(void) {
  static const char* const types[] = {"lbfgsb", "adam", "gauss_newton"};
  for (int t = 0; t < 3; t++) {
    char text[2000];
    snprintf(text, sizeof text,
             TASK("'type':'%s','iterations':4," LIST_WITH(",'joint/hinge/armature':[0.05]")),
             types[t]);
    DesignCase c, single;
    djt_openDesign(&c, scene, text);
    djt_openDesign(&single, scene, TASK(""));
    djOptimizer how = c.task->optimizer;
    assert_int_equal(how.nstage, STAGES);
    Seen s = {0};
    djOptimizeResult r, one;
    double x[N], y[N], first = 0;
    int iterations = 0, evaluations = 0;
    run(x, &r, &s, &c, &how, 1);
    memcpy(y, single.d->x0, sizeof y);
    for (int i = 0; i < STAGES; i++) {
      djModel* m = single.d->model;
      setNumber(m, "joint/hinge/damping", by_hand[i][0]);
      setNumber(m, "body/arm/mass", by_hand[i][1]);
      setNumber(m, "body/end/mass", by_hand[i][2]);
      setNumber(m, "joint/hinge/armature", by_hand[i][4]);
      assert_memory_equal(s.begun[i], y, sizeof y);
      djOptimizer plain = how;
      plain.nstage = 0;
      plain.iterations = (int)by_hand[i][3];
      assert_true(djd_optimizeDesign(&one, y, single.d, &plain, 1, NULL, NULL, NULL) >= 0);
      assert_int_equal(s.count[i], one.iterations + 1);
      if (i == 0) first = one.first_loss;
      iterations += one.iterations;
      evaluations += one.evaluations;
      assert_true(one.loss <= one.first_loss);
      assert_true(r.iterations > 0);
    }
    assert_memory_equal(x, y, sizeof y);
    assert_true(r.loss == one.loss && r.first_loss == first && r.stop == one.stop);
    assert_true(r.iterations == iterations && r.evaluations == evaluations && r.stage == 2);
    djt_closeDesign(&c);
    djt_closeDesign(&single);
  }
}

// Ended within a stage, the run goes on with `first_stage` and where that began: the same bits.
static void testGoingOn(void) {
  const char* task = TASK("'type':'lbfgsb','iterations':4," LIST);
  DesignCase c;
  djt_openDesign(&c, scene, task);
  Seen s = {0}, part = {.end_at = 7}, rest = {0};
  djOptimizeResult r;
  double x[N], y[N];
  run(x, &r, &s, &c, &c.task->optimizer, 1);
  run(y, &r, &part, &c, &c.task->optimizer, 1);
  assert_int_equal(r.stop, DJ_STOP_CALLBACK);
  assert_true(r.stage == 1 && part.last == 1 && part.n == 7);
  djOptimizer how = c.task->optimizer;
  how.first_stage = r.stage;
  how.nstart = N;
  how.start = part.begun[1];
  run(y, &r, &rest, &c, &how, 1);
  assert_true(rest.count[0] == 0 && rest.count[1] == s.count[1]);
  assert_memory_equal(x, y, sizeof x);
  djt_closeDesign(&c);
  // the same as the file says it
  char text[3000], numbers[1000] = "";
  for (int k = 0; k < N; k++) {
    size_t n = strlen(numbers);
    snprintf(numbers + n, sizeof numbers - n, "%s%.17g", k ? "," : "", part.begun[1][k]);
  }
  snprintf(text, sizeof text, TASK("'type':'lbfgsb','iterations':4,'stage':1,'start':[%s]," LIST),
           numbers);
  djt_openDesign(&c, scene, text);
  rest = (Seen){0};
  run(y, &r, &rest, &c, &c.task->optimizer, 1);
  assert_memory_equal(x, y, sizeof x);
  djt_closeDesign(&c);
}

// Phases all have what the stages set.
static void testPhases(void) {
  DesignCase c;
  djt_openDesign(&c, scene, TASK("'type':'lbfgsb','iterations':4," LIST));
  djPhases* phases;
  assert_int_equal(djd_makePhases(&phases, c.d, 3, 2, NULL), DJ_OK);
  djOptimizeResult r;
  double x[N];
  memcpy(x, c.d->x0, sizeof x);
  assert_true(djd_optimizePhases(&r, x, phases, &c.task->optimizer, NULL, NULL, NULL) >= 0);
  for (int j = 0; j < 3; j++) {
    const djModel* m = phases->design[j]->model;
    assert_true(m->body_mass[1] == 0.6 && m->body_mass[2] == 0.3 && m->jnt_damping[0] == 0.1);
  }
  djd_deletePhases(phases);
  djt_closeDesign(&c);
}

static void testRefused(void) {
  djt_refuseOptimize(scene, TASK("'stages':[{},{'set':{'joint/knee/damping':[1]}}]"),
                     "optimizer: stages[1]: set: 'joint/knee/damping'");
  djt_refuseOptimize(scene, TASK("'stages':[{'set':{'joint/hinge/damping':[1,2]}}]"),
                     "optimizer: stages[0]: set: 'joint/hinge/damping': must be 1 numbers");
  djt_refuseOptimize(scene, TASK("'stages':[{'set':{'body/arm/mass':[-1]}}]"),
                     "optimizer: stages[0]: set");
  djt_refuseOptimize(scene, TASK("'start':[1,2],'stages':[{}]"),
                     "optimizer: start: must be 15 numbers");
  djt_refuseOptimize(scene, TASK("'anneal':{'joint/hinge/damping':[1,2]},'stages':[{}]"),
                     "stages: not with anneal");
  DesignCase c;
  djt_openDesign(&c, scene,
                 "{'scene':'s','horizon':2,'loss':[],'variables':[{'name':"
                 "'body/arm/mass'}],'optimizer':{'stages':[{'set':{'body/arm/mass':[1]}}]}}");
  djError err;
  djOptimizeResult r;
  double x[1] = {1};
  assert_true(djd_optimizeDesign(&r, x, c.d, &c.task->optimizer, 1, NULL, NULL, &err) < 0);
  assert_string_equal(err.text, "optimizer: stages[0]: set: 'body/arm/mass' varies");
  djt_closeDesign(&c);
  static const char* const bad[][2] = {
      {TASK("'stages':{}"), "~optimizer: stages: must be a list of stages"},
      {TASK("'stages':[]"), "~optimizer: stages: must be a list of stages"},
      {TASK("'stages':[{'iterations':0}]"), "~optimizer: stages[0]: iterations: must be positive"},
      {TASK("'stages':[{},{'rate':1}]"), "~optimizer: stages[1]: unknown key 'rate'"},
      {TASK("'stages':[{}],'stage':1"), "~optimizer: stage: is not that of a stage"},
      {TASK("'stage':0"), "~optimizer: stage: goes with stages"},
      {TASK("'shrink':0.6"), "~optimizer: shrink: goes with stages"},
      {TASK("'stages':[{}],'shrink':1.1"), "~optimizer: shrink: must be positive and at most 1"},
      {TASK("'start':[0]"), "~optimizer: start: goes with stages"}};
  djt_refuseTasks(DJ_INVALID, NULL, "%s", bad);
}

// By the function of the core alone: of another objective than the design's loss.
static djStatus square(void* user, double* loss, double* grad, const double* x) {
  const djPhases* phases = user;
  double mass = phases->design[0]->model->body_mass[1];   // what the stage has set
  *loss = 0;
  for (int i = 0; i < N; i++) {
    *loss += (x[i] - mass) * (x[i] - mass);
    if (grad) grad[i] = 2 * (x[i] - mass);
  }
  return DJ_OK;
}

static void testObjective(void) {
  DesignCase c;
  djt_openDesign(&c, scene, TASK("'type':'lbfgsb','iterations':50," LIST));
  djPhases* phases;
  assert_int_equal(djd_makePhases(&phases, c.d, 1, 1, NULL), DJ_OK);
  djOptimizeProblem p = {.n = N, .objective = square, .user = phases};
  djOptimizeResult r;
  double x[N] = {0};
  assert_true(dj_optimizeStages(&r, x, phases, &p, &c.task->optimizer, NULL) >= 0);
  for (int i = 0; i < N; i++) djt_near(x[i], 0.6, 1e-6);
  assert_true(r.stage == 2);
  djd_deletePhases(phases);
  djt_closeDesign(&c);
}

// A loss whose every step leads up, so that no stage finds anything.
static djStatus upward(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  *loss = 0;
  for (int i = 0; i < N; i++) {
    *loss += fabs(x[i]);
    if (grad) grad[i] = 1;
  }
  return DJ_OK;
}

typedef struct Lengths {
  double norm[6];   // of each stage's step
  int n, end_at;    // tell it to end in this stage; 0: never
} Lengths;

static bool measure(void* user, const djOptimizeStep* step) {
  Lengths* l = user;
  if (step->iteration == 0) return true;
  l->norm[step->stage] = step->step_norm;
  l->n++;
  return step->stage != l->end_at || l->end_at == 0;
}

// A stage that sets nothing does not take the steps again with which the one before found nothing,
// and an interrupted run goes on with as short ones.
static void testShrink(void) {
  static const char* const types[] = {"trust_region','radius':0.5", "adam','rate':0.5"};
  static const double want[6] = {1, 0.6, 0.36, 1, 0.6, 0.36};
  for (int t = 0; t < 2; t++) {
    char text[1500];
    snprintf(text, sizeof text,
             TASK("'type':'%s,'iterations':1,'stages':[{},{},{},"
                  "{'set':{'joint/hinge/damping':[0.5]}},{},{}]"),
             types[t]);
    DesignCase c;
    djt_openDesign(&c, scene, text);
    djPhases* phases;
    assert_int_equal(djd_makePhases(&phases, c.d, 1, 1, NULL), DJ_OK);
    Lengths seen = {.n = 0}, part = {.end_at = 2}, rest = {.n = 0};
    djOptimizeProblem p = {.n = N, .objective = upward, .user = phases, .callback = measure,
                           .callback_user = &seen};
    djOptimizer how = c.task->optimizer;
    djOptimizeResult r;
    double x[N] = {0};
    assert_true(dj_optimizeStages(&r, x, phases, &p, &how, NULL) >= 0);
    assert_int_equal(seen.n, 6);
    for (int i = 0; i < 6; i++) djt_near(seen.norm[i] / seen.norm[0], want[i], 1e-9);
    p.callback_user = &part;
    assert_true(dj_optimizeStages(&r, x, phases, &p, &how, NULL) >= 0);
    assert_true(r.stage == 2 && r.stop == DJ_STOP_CALLBACK);
    how.first_stage = r.stage;
    how.shrink = r.shrink;
    p.callback_user = &rest;
    assert_true(dj_optimizeStages(&r, x, phases, &p, &how, NULL) >= 0);
    for (int i = 2; i < 6; i++) assert_true(rest.norm[i] == seen.norm[i]);
    djd_deletePhases(phases);
    djt_closeDesign(&c);
  }
}

DJT_MAIN(testSingle, testGoingOn, testPhases, testObjective, testShrink, testRefused)
