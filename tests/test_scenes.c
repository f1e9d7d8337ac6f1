// Tasks with several scenes: what each inherits, the sum of their losses by any number of threads,
// its certificate and residuals, optimizers on it, and what is refused.

#include "common/json.h"
#include "common/make_model.h"
#include "common/near.h"
#include "common/refused_text.h"
#include "common/test.h"
#include "gradient/phases.h"

#include <dijoco/dijoco.h>

enum { SCENES = 3 };

// A brick that is thrown onto a floor beside a cart with an arm; another brick in each scene.
#define MODEL(size, mass, stud)                                                                    \
  "{'dijoco_model':1,'option':{'timestep':0.01,'stiffness_scale':1e-5},"                           \
  "'bodies':[{'name':'world'},"                                                                    \
  "{'name':'brick','pos':[0,0,0.2],'mass':" mass ",'inertia':[0.002,0.003,0.004]},"                \
  "{'name':'cart','pos':[1,1,1],'mass':0.3,'inertia':[0.002,0.003,0.001]},"                        \
  "{'name':'arm','parent':'cart','ipos':[0,0,-0.1],'mass':0.3,"                                    \
  "'inertia':[0.002,0.003,0.001]}],"                                                               \
  "'joints':[{'name':'free','type':'free','body':'brick'},"                                        \
  "{'name':'slide','type':'slide','body':'cart','axis':[1,0,0]},"                                  \
  "{'name':'hinge','type':'hinge','body':'arm','axis':[0,1,0]}],"                                  \
  "'geoms':[{'name':'floor','type':'plane','body':'world','size':[0,0,1]}," stud                   \
  "{'name':'brick','type':'box','body':'brick','size':" size "}],"                                 \
  "'actuators':[{'name':'m','joint':'slide'},{'name':'n','joint':'hinge'}]}"

// With it the brick has another number.
#define STUD "{'name':'stud','type':'sphere','body':'brick','size':[0.02,0,0]},"

static const char* const model[SCENES] = {MODEL("[0.06,0.05,0.04]", "0.5", ""),
                                          MODEL("[0.03,0.05,0.06]", "0.3", ""),
                                          MODEL("[0.05,0.05,0.05]", "0.8", STUD)};

#define SHARED                                                                                     \
  "'horizon':12,'ctrl':[0.5,-0.2],'initial':{'qpos':[0,0,0.2,0.9,0.1,0.3,"                         \
  "0.2,0.3,0.4],'qvel':[0.7,0.2,-1.5,4,-3,5,0.8,-3]},'set':{'geom/brick/friction':"                \
  "[0.5,0,0],'body/arm/mass':[0.4]}"
#define LOSS                                                                                       \
  "'loss':[{'type':'position','body':'brick','target':[0.3,0.1,0.1]},"                             \
  "{'type':'relative','body':'brick','body2':'arm','when':{'from':5}},"                            \
  "{'type':'effort','weight':0.1}]"
#define VARIABLES                                                                                  \
  "'variables':[{'name':'qvel0[joint/free]'},{'name':'body/arm/mass'},"                            \
  "{'name':'ctrl','index':[0,1,6],'min':-3,'max':3},{'name':'qpos0[joint/free]'}]"

static const char task[] =
    "{'scene':'s'," SHARED "," LOSS "," VARIABLES ",'scenes':[{'name':'first'},"
    "{'name':'small','weight':0.5,'horizon':9,'set':{'geom/brick/friction':[0.9,0,0],"
    "'body/brick/gravcomp':[0.3]}},"
    "{'scene':'t','ctrl':[[0.5,-0.2],[0.5,-0.2],[0.5,-0.2],[0.5,0.3],[1,1],[1,1],[1,1],[1,1],"
    "[1,1],[1,1],[1,1],[1,1]],'loss':[{'type':'com','target':[0.1,0.2,0.3],'weight':2}]}]}";

typedef struct Case {
  djTask* task;
  int n;
  djModel* m[SCENES];
  djProblem* p[SCENES];
  djDesign* d[SCENES];
  double weight[SCENES];
} Case;

// The error of what fails first, else OK.
static djStatus tryOpen(Case* c, const char* text, djError* err) {
  *c = (Case){0};
  djStatus status = dj_loadTaskText(&c->task, djt_json(text), NULL, err);
  if (status < 0) return status;
  c->n = dj_taskScenes(c->task);
  assert_true(c->n <= SCENES);
  for (int s = 0; s < c->n && status >= 0; s++) {
    const djTask* t = dj_taskOfScene(c->task, s);
    assert_int_equal(dj_loadModelText(&c->m[s], djt_json(model[s]), err), DJ_OK);
    status = dj_applyTask(c->m[s], t, err);
    if (status >= 0) status = dj_resolveTask(&c->p[s], t, c->m[s], err);
    if (status >= 0) status = djd_makeDesign(&c->d[s], c->m[s], c->p[s], err);
    c->weight[s] = dj_taskWeight(t);
  }
  return status;
}

static void openCase(Case* c, const char* text) {
  djError err = {""};
  if (tryOpen(c, text, &err) < 0) fail_msg("%s", err.text);
}

static void closeCase(Case* c) {
  for (int s = 0; s < SCENES; s++) {
    djd_deleteDesign(c->d[s]);
    dj_deleteProblem(c->p[s]);
    dj_deleteModel(c->m[s]);
  }
  dj_deleteTask(c->task);
}

static djPhases* sumOf(const Case* c, int nphase, int nthread) {
  djPhases* p;
  djError err = {""};
  djStatus status = djd_makeScenes(&p, c->n, c->d, c->weight, nphase, nthread, &err);
  if (status < 0) fail_msg("%s", err.text);
  return p;
}

static void testTask(void) {
  Case c;
  openCase(&c, task);
  assert_int_equal(c.n, 3);
  assert_ptr_equal(dj_taskOfScene(c.task, 0), c.task);
  assert_null(dj_taskOfScene(c.task, 3));
  assert_null(dj_taskOfScene(c.task, -1));
  const djTask *a = c.task, *b = dj_taskOfScene(c.task, 1), *t = dj_taskOfScene(c.task, 2);
  assert_string_equal(dj_taskName(a), "first");
  assert_string_equal(dj_taskName(b), "small");
  assert_string_equal(dj_taskName(t), "2");
  assert_true(a->weight == 1 && b->weight == 0.5 && t->weight == 1);
  assert_true(a->horizon == 12 && b->horizon == 9 && t->horizon == 12);
  assert_string_equal(dj_taskScene(a), "s");
  assert_string_equal(dj_taskScene(t), "t");
  assert_true(a->nset == 2 && b->nset == 3 && t->nset == 2); // its own on top of the task's
  double friction[2], mass[2], gravcomp;
  djParam p;
  for (int s = 0; s < 2; s++) {
    double value[3];
    assert_int_equal(dj_paramId(&p, c.m[s], "geom/brick/friction", NULL), DJ_OK);
    dj_getParam(value, c.m[s], &p);
    friction[s] = value[0];
    assert_int_equal(dj_paramId(&p, c.m[s], "body/arm/mass", NULL), DJ_OK);
    dj_getParam(&mass[s], c.m[s], &p);
  }
  assert_int_equal(dj_paramId(&p, c.m[1], "body/brick/gravcomp", NULL), DJ_OK);
  dj_getParam(&gravcomp, c.m[1], &p);
  assert_true(friction[0] == 0.5 && friction[1] == 0.9 && gravcomp == 0.3);
  assert_true(mass[0] == 0.4 && mass[1] == 0.4);
  assert_true(a->nloss == 3 && b->nloss == 3 && t->nloss == 1);
  assert_true(t->nrow == 12 && b->nrow == 1 && t->nvariable == 4 && b->nqpos == 9);
  closeCase(&c);

  // without a list it is its own only scene
  djTask* plain = djt_taskOf("{'scene':'s'," SHARED "," LOSS "}");
  assert_int_equal(dj_taskScenes(plain), 1);
  assert_ptr_equal(dj_taskOfScene(plain, 0), plain);
  assert_string_equal(dj_taskName(plain), "");
  assert_true(dj_taskWeight(plain) == 1);
  dj_deleteTask(plain);
}

// The weighted sum of what the scenes' own designs give, with the same bits by 1, 2 and 3 threads.
static void testSum(void) {
  Case c, one;
  openCase(&c, task);
  openCase(&one, task);
  size_t n = (size_t)c.d[0]->n;
  double *x = calloc(4 * n, sizeof *x), *grad = x + n, *sum = grad + n, *each = sum + n, loss;
  for (int nphase = 1; nphase <= 2; nphase++) {
    memcpy(x, c.d[0]->x0, n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] += 0.01 * (double)(i % 3);
    double expected = 0;
    memset(sum, 0, n * sizeof *sum);
    double scene[SCENES] = {0};
    for (int s = 0; s < SCENES; s++) {
      for (int j = 0; j < nphase; j++) {
        djd_setPhase(one.d[s], (double)j / nphase);
        assert_int_equal(djd_evaluateDesign(&loss, each, one.d[s], x), DJ_OK);
        scene[s] += loss / nphase;
        for (size_t i = 0; i < n; i++) sum[i] += one.weight[s] * each[i] / nphase;
      }
      expected += one.weight[s] * scene[s];
    }
    double first = 0, *bits = calloc(n, sizeof *bits);
    for (int nthread = 1; nthread <= 3; nthread++) {
      djPhases* p = sumOf(&c, nphase, nthread);
      assert_true(p->n == SCENES * nphase && p->nscene == SCENES && p->nphase == nphase);
      assert_int_equal(p->nthread, nthread);
      assert_int_equal(djd_evaluatePhases(&loss, grad, p, x), DJ_OK);
      djt_near(loss, expected, 1e-14 * expected);
      for (size_t i = 0; i < n; i++) djt_near(grad[i], sum[i], 1e-13 * (1 + fabs(sum[i])));
      for (int s = 0; s < SCENES; s++) djt_near(djd_sceneLoss(p, s), scene[s], 1e-14 * scene[s]);
      if (nthread == 1) first = loss;
      if (nthread == 1) memcpy(bits, grad, n * sizeof *bits);
      assert_true(loss == first);
      assert_memory_equal(bits, grad, n * sizeof *bits);
      memset(grad, 0, n * sizeof *grad); // the same in two halves
      assert_int_equal(djd_forwardPhases(&loss, p, x, true), DJ_OK);
      assert_int_equal(djd_backwardPhases(grad, p), DJ_OK);
      assert_true(loss == first);
      assert_memory_equal(bits, grad, n * sizeof *bits);
      assert_true(isnan(djd_sceneLoss(p, SCENES)));
      djd_deletePhases(p);
    }
    free(bits);
  }
  free(x);
  closeCase(&one);
  closeCase(&c);
}

// The sum's gradient, variable by variable; a wrong one is found out.
static void testCertificate(void) {
  Case c;
  openCase(&c, task);
  djPhases* p = sumOf(&c, 1, 2);
  size_t n = (size_t)c.d[0]->n;
  double *grad = calloc(n, sizeof *grad), loss;
  assert_int_equal(djd_evaluatePhases(&loss, grad, p, c.d[0]->x0), DJ_OK);
  for (int v = 0; v < c.p[0]->nvariable; v++) {
    djdCertificate result;
    assert_int_equal(djd_certifyPhases(&result, p, v, loss, grad, 3), DJ_OK);
    print_message("%s: %.1e, slope %.3f\n", c.p[0]->variable[v].name, result.relative_error,
                  result.slope);
    assert_true(result.passed && fabs(result.analytic) > 1e-4);
    // Without the last scene's part it is another.
    double one, *less = calloc(n, sizeof *less);
    assert_int_equal(djd_evaluateDesign(&one, less, c.d[2], c.d[0]->x0), DJ_OK);
    for (size_t i = 0; i < n; i++) less[i] = grad[i] - less[i];
    assert_int_equal(djd_certifyPhases(&result, p, v, loss, less, 3), DJ_OK);
    assert_false(result.passed);
    free(less);
  }
  double spread[4];
  djd_deletePhases(p);
  p = sumOf(&c, 4, 3);
  assert_int_equal(djd_phaseSpread(spread, p, c.d[0]->x0), DJ_OK);
  for (int v = 0; v < 4; v++) assert_true(spread[v] > 0 && isfinite(spread[v]));
  djd_deletePhases(p);
  free(grad);
  closeCase(&c);
}

static void testResiduals(void) {
  Case c;
  openCase(&c, task);
  djPhases* p = sumOf(&c, 2, 3);
  int m;
  size_t n = (size_t)c.d[0]->n;
  assert_int_equal(djd_countPhasesResiduals(&m, p, NULL), DJ_OK);
  assert_int_equal(m, 2 * (3 + 8 * 3 + 12 * 2 + 3 + 5 * 3 + 9 * 2 + 3));
  double *J = calloc((size_t)m * n + (size_t)m + n, sizeof *J), *r = J + (size_t)m * n;
  double *grad = r + m, loss, sum = 0;
  const double* x = c.d[0]->x0;
  assert_int_equal(djd_evaluatePhases(&loss, grad, p, x), DJ_OK);
  assert_int_equal(djd_phasesResiduals(p, r, J, x), DJ_OK);
  for (int i = 0; i < m; i++) sum += r[i] * r[i];
  djt_near(sum, loss, 1e-12 * loss);
  for (size_t k = 0; k < n; k++) {
    double along = 0, size = 0;
    for (size_t i = 0; i < (size_t)m; i++) {
      along += 2 * J[i * n + k] * r[i];
      size += fabs(J[i * n + k] * r[i]);
    }
    djt_near(along, grad[k], 1e-10 * size);
  }
  free(J);
  djd_deletePhases(p);
  closeCase(&c);
}

static void testOptimize(void) {
  static const char* const types[] = {"adam", "trust_region", "lbfgsb", "gauss_newton"};
  for (int k = 0; k < 4; k++) {
    double first = 0, *bits = NULL;
    for (int nthread = 1; nthread <= 3; nthread++) {
      Case c;
      openCase(&c, task);
      size_t n = (size_t)c.d[0]->n;
      double* x = calloc(n, sizeof *x);
      memcpy(x, c.d[0]->x0, n * sizeof *x);
      djOptimizer o = dj_defaultOptimizer();
      djOptimizeResult result;
      djError err = {""};
      o.type = types[k];
      o.iterations = 4;
      djt_failIf(djd_optimizeScenes(&result, x, c.n, c.d, c.weight, &o, nthread, NULL, NULL, &err) <
                     0,
                 "%s", err.text);
      assert_true(result.loss < result.first_loss);
      if (!bits) {
        first = result.loss;
        bits = calloc(n, sizeof *bits);
        memcpy(bits, x, n * sizeof *x);
      }
      assert_true(result.loss == first);
      assert_memory_equal(bits, x, n * sizeof *x);
      free(x);
      closeCase(&c);
    }
    free(bits);
  }
}

// An annealed number and one that a stage sets are those of every scene.
static void testStages(void) {
  Case c;
  openCase(&c, task);
  const double value[] = {0.2};
  const djTaskSet set[] = {{"joint/hinge/damping", 1, value}};
  const djStage stage[] = {{.iterations = 1}, {.nset = 1, .set = set, .iterations = 1}};
  djOptimizer o = dj_defaultOptimizer();
  djOptimizeResult result;
  djError err = {""};
  double x[64];
  memcpy(x, c.d[0]->x0, (size_t)c.d[0]->n * sizeof *x);
  o.nstage = 2;
  o.stage = stage;
  assert_int_equal(djd_optimizeScenes(&result, x, c.n, c.d, NULL, &o, 2, NULL, NULL, &err), DJ_OK);
  for (int s = 0; s < c.n; s++) assert_true(c.d[s]->model->jnt_damping[2] == 0.2);
  o.nstage = 0;
  o.iterations = 2;
  o.nanneal = 2;
  o.anneal[0] = (djAnneal){.name = "joint/slide/damping", .from = 1, .to = 0.5};
  o.anneal[1] = (djAnneal){.name = "geom/brick/contact_scale", .from = 3, .to = 2};
  assert_int_equal(djd_optimizeScenes(&result, x, c.n, c.d, NULL, &o, 2, NULL, NULL, &err), DJ_OK);
  for (int s = 0; s < c.n; s++) {
    double scale;
    djParam p = djt_param(c.d[s]->model, "geom/brick/contact_scale");
    dj_getParam(&scale, c.d[s]->model, &p);
    assert_true(c.d[s]->model->jnt_damping[1] == 0.5 && scale == 2);
    assert_int_equal(p.id, s < 2 ? 1 : 2);
  }
  closeCase(&c);
}

static void checkText(const char* scenes, const char* expected) {
  char text[4000];
  Case c;
  djError err = {""};
  djPhases* p = NULL;
  snprintf(text, sizeof text, "{'scene':'s'," SHARED "," LOSS "," VARIABLES ",'scenes':%s}",
           scenes);
  djStatus status = tryOpen(&c, text, &err);
  if (status >= 0) status = djd_makeScenes(&p, c.n, c.d, c.weight, 1, 1, &err);
  if (status >= 0) fail_msg("%s is taken", scenes);
  if (!strstr(err.text, expected)) fail_msg("%s: '%s' lacks '%s'", scenes, err.text, expected);
  djd_deletePhases(p);
  closeCase(&c);
}

static void testRefused(void) {
  checkText("[]", "scenes: must be a list of scenes");
  checkText("{}", "scenes: must be a list of scenes");
  checkText("[1]", "scenes[0]: must be an object");
  checkText("[{},{'variables':[]}]", "scenes[1]: unknown key 'variables'");
  checkText("[{},{'weight':0}]", "scenes[1]: weight: must be positive");
  checkText("[{},{'weight':'x'}]", "scenes[1]: weight: must be a");
  checkText("[{},{'name':'a b'}]", "scenes[1]: name: must be 1 to 32 letters");
  checkText("[{'name':''}]", "scenes[0]: name: must be 1 to 32 letters");
  checkText("[{'name':'a'},{},{'name':'a'}]", "scenes[2]: name: 'a' is that of scenes[0], too");
  checkText("[{'name':'1'},{}]", "scenes[1]: name: '1' is that of scenes[0], too");
  checkText("[{},{'horizon':0}]", "scenes[1] '1': horizon: must be between");
  checkText("[{'horizon':0}]", "scenes[0] '0': horizon: must be between");
  checkText("[{},{'name':'cup','loss':[{'type':'luck'}]}]", "scenes[1] 'cup': loss[0]");
  checkText("[{},{'loss':[{'type':'com','body':'x','target':[0,0,0]}]}]",
            "scenes[1] '1': loss[0]: there is no body 'x'");
  checkText("[{},{'set':{'body/x/mass':[1]}}]", "scenes[1] '1': set: ");
  checkText("[{},{'initial':{'qpos':[1]}}]", "scenes[1] '1': initial: qpos: must be 9 numbers");
  checkText("[{},{'set':{'body/arm/mass':[1]}}]",
            "scenes[1] '1': variable 'body/arm/mass' begins with other values");
  checkText("[{},{'initial':{'qpos':[0,0,0.2,0.9,0.1,0.3,0.25,0.3,0.4],'qvel':[0.7,0.2,-1.5,4,"
            "-3,5,0.8,-3]}}]",
            "scenes[1] '1': variable 'qpos0[joint/free]' begins with other");
  static const char* const list[][2] = {
      {"{" SHARED "," LOSS ",'scenes':[{'scene':'s'},{}]}", "scenes[1] '1': scene: is missing"},
      {"{" SHARED ",'scene':'s','scenes':[{}],'loss':[1]}", "loss[0]: must be an object"}, // all
      {"{'bad':1,'scene':'s','scenes':[{}]}", "unknown key 'bad'"}};
  static const char* const other[][2] = {
      {"{" SHARED "," LOSS ",'scene':'s','scenes':[{},{}],'optimizer':{'receding':{'horizon':3}}}",
       "optimizer: receding: takes one scene"}};
  djt_refuseTasks(DJ_INVALID, NULL, "%s", list);
  djt_refuseTasks(DJ_UNSUPPORTED, NULL, "%s", other);
}

// Designs that do not go together; what fails in one scene says which.
static void testUnlike(void) {
  Case c, other;
  djError err = {""};
  djPhases* p;
  openCase(&c, task);
  openCase(&other, "{'scene':'s'," SHARED "," LOSS ",'variables':[{'name':"
                   "'qvel0[joint/free]','index':[0]},{'name':'body/brick/mass'}]}");
  djDesign* d[3] = {c.d[0], other.d[0], c.d[1]};
  djt_refused(DJ_INVALID, djd_makeScenes(&p, 2, d, NULL, 1, 1, &err), err,
              "scenes[1]: variable 'body/arm/mass' is missing");
  assert_null(p);
  d[0] = other.d[0];
  d[1] = c.d[0];
  djt_refused(DJ_INVALID, djd_makeScenes(&p, 2, d, NULL, 1, 1, &err), err,
              "scenes[0] 'first': variable 'body/brick/mass' is missing");
  d[0] = c.d[0];
  djt_refused(DJ_INVALID, djd_makeScenes(&p, 2, d, NULL, 1, 1, &err), err,
              "scenes[1]: given twice");
  const double bad[] = {1, -1, NAN};
  for (int k = 1; k < 3; k++) {
    const double weight[] = {1, bad[k]};
    djt_refused(DJ_INVALID, djd_makeScenes(&p, 2, c.d, weight, 1, 1, &err), err,
                "scenes[1]: weight: must be positive");
  }
  assert_int_equal(djd_makeScenes(&p, 0, c.d, NULL, 1, 1, &err), DJ_INVALID);
  assert_int_equal(djd_makeScenes(&p, 3, c.d, NULL, 0, 1, &err), DJ_INVALID);
  assert_int_equal(djd_makeScenes(&p, 3, NULL, NULL, 1, 1, &err), DJ_INVALID);
  closeCase(&other);
  closeCase(&c);

  // A loss that overflows in the second scene alone.
  openCase(&c, "{'scene':'s'," SHARED "," LOSS "," VARIABLES ",'scenes':[{},{'name':'far',"
               "'loss':[{'type':'com','target':[1e20,0,0],'weight':1e60},{'type':'com',"
               "'target':[0,0,0],'norm':true}]}]}");
  p = sumOf(&c, 1, 2);
  int n;
  djt_refused(DJ_UNSUPPORTED, djd_countPhasesResiduals(&n, p, &err), err,
              "scenes[1] 'far': loss[1]: a norm is no square");
  double x[64], loss;
  memcpy(x, c.d[0]->x0, (size_t)c.d[0]->n * sizeof *x);
  x[6] = -1; // a mass
  assert_true(djd_evaluatePhases(&loss, NULL, p, x) < 0);
  assert_non_null(strstr(djd_designError(c.d[0]), "scenes[0] '0': "));
  djd_deletePhases(p);
  closeCase(&c);
}

DJT_MAIN(testTask, testSum, testCertificate, testResiduals, testOptimize, testStages, testRefused,
         testUnlike)
