// Receding horizons: what is executed are steps of a rollout to the last bit, windows are those of
// designs made anew for each of them, and a run goes on from any frame as if it had not stopped.

#include "common/json.h"
#include "common/receding_case.h"
#include "common/test.h"
#include "gradient/candidates.h"
#include "gradient/window.h"

enum { NU = 2 };

#define TANH(hold_, z_)                                                                            \
  "'free':{'z':{'value':[" z_ "]}},'variables':[{'name':'z'}],"                                    \
  "'maps':[{'type':'tanh','from':'z','hold':" #hold_ "}]"
#define ZEROS "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,-0.1,-0.2,-0.3,-0.4"
#define FIRST "0,2,4,6,8,10,12,14,16,18,20"   // of actuator 0 in 11 rows
static const char all_ctrl[] = "'ctrl':[0.5,0.2],'variables':[{'name':'ctrl'}]";

static djOptimizer recedingAdam(int window, int apply, int iterations) {
  djOptimizer how = dj_defaultOptimizer();
  how.rate = 0.1;
  how.iterations = iterations;
  how.receding = (djReceding){.horizon = window, .apply = apply};
  return how;
}

// ---- what is executed

static void testReplay(void) {
  static const char* const integrator[] = {"position", "variational", "momentum", "bdf1",
                                           "midpoint"};
  static const char* const type[] = {"adam", "lbfgsb", "trust_region", "gauss_newton"};
  for (int i = 0; i < 5 + 3; i++) {
    DesignCase c;
    djt_openPushBy(&c, integrator[i < 5 ? i : 0], 20, all_ctrl);
    djOptimizer how = recedingAdam(7, 3, 4);
    if (i >= 5) assert_int_equal(dj_setOptimizerType(&how, type[i - 4], NULL), DJ_OK);
    djRecedingRun* run = djt_recede(&c, &how, NULL);
    assert_int_equal(run->next, 20);
    assert_int_equal(run->nframe, 7);
    assert_int_equal(run->frame[6].frame, 18);
    assert_true(run->frame[0].iterations > 0 && run->frame[0].iterations <= 4);
    assert_true(run->frame[0].loss < run->frame[0].first_loss);
    assert_true(run->loss < run->first_loss);
    djt_checkReplay(&c, run);
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
}

// Without iterations only the shift is left.
static void testShift(void) {
  static const struct {
    const char* rest;
    int window, apply;
    double row[7];        // which is executed
  } list[] = {
      {"'variables':[{'name':'ctrl'}]", 4, 1, {0, 1, 2, 3, 3, 3, 3}},
      {"'variables':[{'name':'ctrl'}]", 4, 3, {0, 1, 2, 3, 3, 3, 3}},
      {"'variables':[{'name':'ctrl'}]", 4, 4, {0, 1, 2, 3, 3, 3, 3}},
      {"'variables':[{'name':'ctrl'}]", 3, 3, {0, 1, 2, 2, 2, 2, 2}},
      {"'variables':[{'name':'ctrl'}]", 7, 2, {0, 1, 2, 3, 4, 5, 6}},
      {"'variables':[]", 2, 1, {0, 1, 2, 3, 4, 5, 6}},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    DesignCase c;
    char rest[400];
    snprintf(rest, sizeof rest, "'ctrl':[[0,10],[1,11],[2,12],[3,13],[4,14],[5,15],[6,16]],%s",
             list[i].rest);
    djt_openPush(&c, 7, rest);
    djOptimizer how = recedingAdam(list[i].window, list[i].apply, 0);
    djRecedingRun* run = djt_recede(&c, &how, NULL);
    for (int k = 0; k < 7; k++) {
      assert_true(run->ctrl[NU * k] == list[i].row[k]);
      assert_true(run->ctrl[NU * k + 1] == 10 + list[i].row[k]);
    }
    djt_checkReplay(&c, run);
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
  // rows of two steps; the window's third is for one alone
  DesignCase c;
  djt_openPush(&c, 11, TANH(2, ZEROS));
  djOptimizer how = recedingAdam(5, 2, 0);
  djRecedingRun* run = djt_recede(&c, &how, NULL);
  static const int row[] = {0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2};
  for (int k = 0; k < 11; k++) {
    assert_true(fabs(run->ctrl[NU * k] - (2.5 + 6.5 * tanh(0.1 + 0.2 * row[k]))) < 1e-14);
  }
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

// Rows of the task's x to the window's and back; beyond either end the last row counts.
static void testRows(void) {
  static const djReceding r = {.horizon = 5, .apply = 2};
  DesignCase c;
  djWindow* w;
  djt_openPush(&c, 11, TANH(2, ZEROS));
  assert_int_equal(dj_makeWindow(&w, c.d, &r, NULL), DJ_OK);
  double x[6], all[12];
  assert_int_equal(c.d->n, 12);
  assert_int_equal(w->design->n, 6);
  dj_cutWindow(x, w, c.d->x0, 4);
  djt_sameBits(x, c.d->x0 + 4, 6);
  dj_cutWindow(x, w, c.d->x0, 10);
  for (int k = 0; k < 3; k++) djt_sameBits(x + NU * k, c.d->x0 + 10, NU);
  for (int k = 0; k < 6; k++) x[k] = k;
  memset(all, 0, sizeof all);
  dj_pasteWindow(all, w, x, 2, 4);
  for (int k = 0; k < 12; k++) assert_true(all[k] == (k == 3));
  dj_pasteWindow(all, w, x, 4, 11);
  for (int k = 4; k < 12; k++) assert_true(all[k] == (k < 10 ? k - 4 : k - 6));
  dj_shiftWindow(x, w, 2);
  for (int k = 0; k < 6; k++) assert_true(x[k] == (k < 4 ? k + 2 : k));
  dj_deleteWindow(w);
  djt_closeDesign(&c);
}

// ---- against designs that are made anew

// Numbers of the window's task that vary, and how many a step has.
static double* varied(const djProblem* p, const char* name, int* n) {
  if (strcmp(name, "ctrl") == 0) {
    *n = p->rollout.horizon * NU;
    return p->ctrl;
  }
  *n = p->free[0].n;
  return p->free[0].value;
}

// By the public functions alone: a task of the window's horizon whose arrays are written over.
static void checkNaive(const char* name, const char* rest, const char* window_rest, int horizon,
                       int window, int apply, int row) {
  DesignCase c, w;
  djt_openPush(&c, horizon, rest);
  const djModel* m = c.m;
  djOptimizer how = recedingAdam(window, apply, 3);
  djRecedingRun* run = djt_recede(&c, &how, NULL);
  double q[16], v[16], act[4], warm[64] = {0};
  int frames = 0;
  memcpy(q, c.p->qpos0, (size_t)m->nq * sizeof *q);
  memcpy(v, c.p->qvel0, (size_t)m->nv * sizeof *v);
  memcpy(act, c.p->act0, (size_t)m->na * sizeof *act);
  for (int f = 0, n = 0; f < horizon; f += apply, frames++) {
    djt_openPush(&w, window, window_rest);
    double* values = varied(w.p, name, &n);
    if (f == 0) {
      int all;
      memcpy(warm, varied(c.p, name, &all), (size_t)n * sizeof *warm);
    }
    memcpy(w.p->qpos0, q, (size_t)m->nq * sizeof *q);
    memcpy(w.p->qvel0, v, (size_t)m->nv * sizeof *v);
    memcpy(w.p->act0, act, (size_t)m->na * sizeof *act);
    memcpy(values, warm, (size_t)n * sizeof *warm);
    for (int k = 0; k < window && strstr(rest, "index"); k++) {   // what does not vary
      w.p->ctrl[NU * k + 1] = c.p->ctrl[NU * (f + k < horizon ? f + k : horizon - 1) + 1];
    }
    djDesign* d;
    djOptimizeResult result;
    assert_int_equal(djd_makeDesign(&d, m, w.p, NULL), DJ_OK);
    double* x = malloc((size_t)d->n * sizeof *x);
    memcpy(x, d->x0, (size_t)d->n * sizeof *x);
    assert_true(djd_optimizeDesign(&result, x, d, &how, 1, NULL, NULL, NULL) >= 0);
    djt_sameBits(&result.first_loss, &run->frame[frames].first_loss, 1);
    djt_sameBits(&result.loss, &run->frame[frames].loss, 1);
    assert_int_equal(result.iterations, run->frame[frames].iterations);
    double loss;
    assert_true(djd_evaluateDesign(&loss, NULL, d, x) >= 0);
    int steps = f + apply < horizon ? apply : horizon - f;
    djt_sameBits(d->rollout.ctrl, run->ctrl + NU * f, NU * (size_t)steps);
    double states[16 * 16];
    djd_tapeStates(states, NULL, NULL, d->model, d->tape);
    memcpy(q, states + steps * m->nq, (size_t)m->nq * sizeof *q);
    djd_tapeStates(NULL, states, NULL, d->model, d->tape);
    memcpy(v, states + steps * m->nv, (size_t)m->nv * sizeof *v);
    djd_tapeStates(NULL, NULL, states, d->model, d->tape);
    memcpy(act, states + steps * m->na, (size_t)m->na * sizeof *act);
    djt_sameBits(q, run->qpos + (f + steps) * m->nq, (size_t)m->nq);
    // x lists all that varies, or every second number of it
    int stride = n / d->n, by = apply / row * (row > 0 ? NU : 0);
    for (int k = 0; k < n; k++) {
      if (k % stride != 0) continue;
      int from = k + by < n ? k + by : n - NU + k % NU;
      warm[k] = x[from / stride];
    }
    free(x);
    djd_deleteDesign(d);
    djt_closeDesign(&w);
  }
  assert_int_equal(frames, run->nframe);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

static void testNaive(void) {
  static const char z11[] =
      "'free':{'z':{'value':[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,-0.1,-0.2,-0.3,-0.4]}},"
      "'variables':[{'name':'z'}],'maps':[{'type':'tanh','from':'z','hold':2}]";
  static const char z5[] =
      "'free':{'z':{'value':[0,0,0,0,0,0]}},"
      "'variables':[{'name':'z'}],'maps':[{'type':'tanh','from':'z','hold':2}]";
  checkNaive("ctrl", all_ctrl, all_ctrl, 11, 4, 1, 1);
  checkNaive("ctrl", all_ctrl, all_ctrl, 11, 5, 3, 1);
  checkNaive("z", z11, z5, 11, 5, 2, 2);
  checkNaive("z", z11, z5, 11, 5, 4, 2);
  // one actuator's controls are given, another's vary within bounds
  checkNaive("ctrl",
             "'ctrl':[[0.5,0.2],[1,0.4],[1,0.6],[0.1,0.8],[0,1],[1,-1],[2,-2],[3,0.1],[4,0.2],"
             "[5,0.3],[6,0.4]],'variables':[{'name':'ctrl','index':[" FIRST "],"
             "'min':-0.1,'max':1.2}]",
             "'ctrl':[0,0],'variables':[{'name':'ctrl','index':[0,2,4,6],'min':-0.1,'max':1.2}]",
             11, 4, 2, 1);
}

enum { H = 6 };

// A map whose matrix and offset are the same for every step, but for one number.
static void linearMap(char* rest, size_t size, int row, int column, double more) {
  static const double block[NU] = {0.5, -0.25}, offset[NU] = {0.125, 0.25};
  char matrix[2000] = "", offsets[400] = "";
  for (int i = 0; i < H * NU; i++) {
    for (int j = 0; j < H; j++) {
      sprintf(matrix + strlen(matrix), "%s%.17g", j == 0 ? i == 0 ? "[" : "],[" : ",",
              (i / NU == j ? block[i % NU] : 0) + (i == row && j == column ? more : 0));
    }
    sprintf(offsets + strlen(offsets), "%s%.17g", i == 0 ? "" : ",", offset[i % NU]);
  }
  snprintf(rest, size,
           "'free':{'z':{'value':[0.5,1,1.5,2,2.5,3]}},'variables':[{'name':'z'}],"
           "'maps':[{'type':'affine','from':'z','to':'ctrl','matrix':[%s]],"
           "'offset':[%s]}]",
           matrix, offsets);
}

// Maps that are the same for every step, given whole.
static void testLinearMaps(void) {
  static const int place[][2] = {{3, 0}, {0, 5}, {11, 5}, {4, 2}};
  char rest[3000];
  for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
    DesignCase c;
    djRecedingRun* run;
    linearMap(rest, sizeof rest, place[i][0], place[i][1], 1e-3);
    djt_openPush(&c, H, rest);
    djOptimizer how = recedingAdam(3, 1, 1);
    assert_int_equal(djd_makeReceding(&run, c.d, &how, NULL), DJ_UNSUPPORTED);
    djt_closeDesign(&c);
  }
  linearMap(rest, sizeof rest, 0, 0, 0);
  for (int iterations = 0; iterations <= 4; iterations += 4) {
    DesignCase c;
    djt_openPush(&c, H, rest);
    djOptimizer how = recedingAdam(3, 1, iterations);
    djRecedingRun* run = djt_recede(&c, &how, NULL);
    for (int k = 0; k < H; k++) {
      double z = run->x[k];
      if (iterations == 0) assert_true(z == 0.5 * (k < 3 ? k + 1 : 3));
      assert_true(run->ctrl[NU * k] == 0.5 * z + 0.125);
      assert_true(run->ctrl[NU * k + 1] == -0.25 * z + 0.25);
    }
    djt_checkReplay(&c, run);
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
  static const char* const same[] = {"affine", "shared"};
  for (int i = 0; i < 2; i++) {
    DesignCase a, b;
    snprintf(rest, sizeof rest,
             "'free':{'z':{'value':[0.5,0.2,0.5,0.2,0.5,0.2,0.5,0.2,0.5,0.2,0.5,0.2]}},"
             "'variables':[{'name':'z'}],'maps':[{'type':'%s','from':'z',"
             "'to':'ctrl'}]",
             same[i]);
    djt_openPush(&a, H, rest);
    djt_openPush(&b, H, all_ctrl);
    djOptimizer how = recedingAdam(3, 2, 3);
    djRecedingRun *x = djt_recede(&a, &how, NULL), *y = djt_recede(&b, &how, NULL);
    djt_sameBits(x->ctrl, y->ctrl, H * NU);
    djt_sameBits(x->x, y->ctrl, H * NU);
    djd_deleteReceding(x);
    djd_deleteReceding(y);
    djt_closeDesign(&a);
    djt_closeDesign(&b);
  }
}

// Maps from numbers that do not vary: parameters stay, controls move on by the task's own rows.
static void testConstants(void) {
  DesignCase c;
  djt_openPush(&c, 6,
               "'free':{'mass':{'value':[0.7]}},'maps':[{'type':'shared',"
               "'from':'mass','to':'body/box/mass'}],"
               "'ctrl':[0.5,0.2],'variables':[{'name':'ctrl'}]");
  djOptimizer how = recedingAdam(3, 1, 3);
  djRecedingRun* run = djt_recede(&c, &how, NULL);
  assert_true(run->window->model->body_mass[1] == 0.7);
  djData* d;
  djDesign* task = c.d;
  assert_int_equal(dj_makeData(&d, task->model, NULL), DJ_OK);
  assert_true(djd_evaluateDesign(&(double){0}, NULL, task, run->x) >= 0);
  double states[7 * 9];
  assert_int_equal(djd_tapeStates(states, NULL, NULL, task->model, task->tape), DJ_OK);
  djt_sameBits(states, run->qpos, 7 * 9);
  dj_deleteData(d);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
  djt_openPush(&c, 4,
               "'free':{'z':{'value':[1,2,3,4,5,6,7,8]}},'variables':[],'maps':["
               "{'type':'shared','from':'z','to':'ctrl'}]");
  run = djt_recede(&c, &how, NULL);
  for (int k = 0; k < 8; k++) assert_true(run->ctrl[k] == k + 1);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
  djt_openPush(&c, 11,
               "'free':{'z':{'value':[" ZEROS "]}},'variables':[],'maps':[{"
               "'type':'tanh','from':'z','hold':2}]");
  how = recedingAdam(4, 2, 3);
  run = djt_recede(&c, &how, NULL);
  djt_sameBits(run->ctrl, c.d->rollout.ctrl, 11 * NU);   // x is empty: the task's own
  djt_checkReplay(&c, run);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
  // connections concern nothing that varies: no equation is left for the optimizer
  djt_openPush(&c, 6,
               "'connect':[{'a':{'geom':'tip'},'b':{'joint':'hinge'}}],"
               "'variables':[{'name':'ctrl'}]");
  assert_int_equal(dj_setOptimizerType(&how, "lbfgsb", NULL), DJ_OK);
  run = djt_recede(&c, &how, NULL);
  assert_int_equal(run->nframe, 3);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

// ---- ends

typedef struct Count {
  int iterations, frames;   // that were told
  int frame, iteration;     // where to stop; iteration -1: after the frame
  double loss;              // of the last iteration
} Count;

static bool countIteration(void* user, int frame, const djOptimizeStep* step) {
  Count* c = user;
  if (step->iteration > 0) c->iterations++;
  c->loss = step->loss;
  return frame != c->frame || step->iteration != c->iteration;
}

static bool countFrame(void* user, const djRecedingFrame* frame) {
  Count* c = user;
  c->frames++;
  return frame->frame != c->frame || c->iteration >= 0;
}

static void testRestart(void) {
  static const char* const list[] = {all_ctrl, TANH(2, ZEROS)};
  for (int i = 0; i < 4; i++) {   // then with candidates
    DesignCase c;
    djt_openPush(&c, 11, list[i % 2]);
    djOptimizer how = recedingAdam(5, 2, 3);
    how.receding.candidates = i < 2 ? 0 : 3;
    how.receding.spread = 0.4;
    Count count = {.frame = -1};
    djRecedingCallback callback = {countIteration, countFrame, &count};
    djRecedingRun* whole = djt_recede(&c, &how, &callback);
    assert_int_equal(count.frames, 6);
    assert_int_equal(count.iterations, 18);
    assert_int_equal(whole->iterations, 18);
    assert_int_equal(whole->evaluations, i < 2 ? 24 : 24 + 6 * 4);
    for (int f = 0; f < 11; f += 2) {
      for (int iteration = -1; iteration < 4; iteration++) {
        count = (Count){.frame = f, .iteration = iteration};
        djRecedingRun* part = djt_recede(&c, &how, &callback);
        int next = f + (iteration < 0 ? f == 10 ? 1 : 2 : 0);
        assert_int_equal(part->next, next);
        assert_int_equal(part->nframe, (next + 1) / 2);
        djt_checkReplay(&c, part);
        djt_sameBits(part->ctrl, whole->ctrl, NU * (size_t)next);
        // the same task, from what is there
        DesignCase rest;
        djt_openPush(&rest, 11, list[i % 2]);
        double* values = i % 2 == 0 ? rest.p->ctrl : rest.p->free[0].value;
        memcpy(values, part->x, (size_t)c.d->n * sizeof *values);
        djd_deleteDesign(rest.d);
        assert_int_equal(djd_makeDesign(&rest.d, rest.m, rest.p, NULL), DJ_OK);
        djOptimizer on = how;
        on.receding.frame = next;
        on.receding.nwindow = part->window->n;
        on.receding.window = part->start;
        if (next < 11) {
          djRecedingRun* second = djt_recede(&rest, &on, NULL);
          assert_int_equal(second->nframe + part->nframe, 6);
          djt_sameBits(second->ctrl, whole->ctrl, NU * 11);
          djt_sameBits(second->x, whole->x, (size_t)c.d->n);
          djt_sameBits(second->qpos, whole->qpos, 12 * 9);
          djt_sameBits(&second->first_loss, &part->loss, 1);
          djt_sameBits(&second->loss, &whole->loss, 1);
          djd_deleteReceding(second);
        }
        djt_closeDesign(&rest);
        djd_deleteReceding(part);
      }
    }
    // a second call of the same run starts anew
    assert_int_equal(djd_receding(whole, NULL, NULL), DJ_OK);
    assert_int_equal(whole->iterations, 18);
    djt_checkReplay(&c, whole);
    djd_deleteReceding(whole);
    djt_closeDesign(&c);
  }
}

static djRecedingRun* chooseBy(const DesignCase* c, int candidates, int seed, int nthread,
                               int iterations) {
  djOptimizer how = recedingAdam(5, 2, iterations);
  how.receding.candidates = candidates;
  how.receding.spread = 0.5;
  how.receding.seed = seed;
  how.receding.nthread = nthread;
  return djt_recede(c, &how, NULL);
}

// One candidate is none. Of more the best is taken: the more there are the less its loss, which is
// no more than the plan's. They are seeded, keep bounds, and are the same for any threads.
static void testCandidates(void) {
  static const char* const list[] = {
      "'ctrl':[0.5,0.2],'variables':[{'name':'ctrl','min':-0.1,'max':0.9}]", TANH(2, ZEROS)};
  static const int count[] = {1, 4, 30};
  for (int i = 0; i < 2; i++) {
    DesignCase c;
    djt_openPush(&c, 11, list[i]);
    size_t n = (size_t)c.d->n;
    djOptimizer how = recedingAdam(5, 2, 3);
    djRecedingRun *plain = djt_recede(&c, &how, NULL), *one = chooseBy(&c, 1, 3, 0, 3);
    djt_sameBits(one->x, plain->x, n);
    assert_int_equal(one->evaluations, plain->evaluations);
    djd_deleteReceding(one);
    djd_deleteReceding(plain);
    double before = INFINITY;
    int changed = 0;
    for (int k = 0; k < 3; k++) {
      djRecedingRun* run = chooseBy(&c, count[k], 3, 0, 0);   // nothing but the choice
      assert_true(run->frame[0].loss <= before);
      before = run->frame[0].loss;
      for (int f = 0; f < run->nframe; f++) {
        assert_in_range(run->frame[f].candidate, 0, count[k] - 1);
        changed += run->frame[f].candidate > 0;
      }
      for (size_t j = 0; j < n && i == 0; j++) assert_true(run->x[j] >= -0.1 && run->x[j] <= 0.9);
      djt_checkReplay(&c, run);
      djd_deleteReceding(run);
    }
    assert_true(changed > 3);
    djRecedingRun* run = chooseBy(&c, 7, 3, 1, 2);
    for (int k = 2; k < 5; k++) {
      djRecedingRun* other = chooseBy(&c, 7, 3, k, 2);
      djt_sameBits(other->x, run->x, n);
      djd_deleteReceding(other);
    }
    djRecedingRun* other = chooseBy(&c, 7, 4, 1, 2);
    assert_memory_not_equal(other->x, run->x, n * sizeof(double));
    djd_deleteReceding(other);
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
}

// Without `window` a run goes on from the task's own values.
static void testFrame(void) {
  DesignCase c;
  djt_openPush(&c, 5, "'ctrl':[[0,0],[1,1],[2,2],[3,3],[4,4]],'variables':[{'name':'ctrl'}]");
  djOptimizer how = recedingAdam(2, 1, 0);
  how.receding.frame = 2;
  djRecedingRun* run = djt_recede(&c, &how, NULL);
  static const double row[] = {0, 1, 2, 3, 3};
  for (int k = 0; k < 5; k++) assert_true(run->ctrl[NU * k] == row[k]);
  assert_int_equal(run->nframe, 3);
  djt_checkReplay(&c, run);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

// Nothing to do: no step is made.
static void testZero(void) {
  DesignCase c;
  djt_openPushTask(
      &c, "momentum",
      "{'scene':'s','horizon':9,'ctrl':[0.3,0.4],'variables':[{'name':'ctrl'}],"
      "'loss':[{'type':'position','body':'box','target':[0.3,0,0.051],'tolerance':5}]}");
  djOptimizer how = recedingAdam(4, 2, 50);
  djRecedingRun* run = djt_recede(&c, &how, NULL);
  assert_int_equal(run->iterations, 0);
  assert_int_equal(run->evaluations, 5);
  assert_int_equal(run->frame[2].stop, DJ_STOP_GRADIENT);
  for (int k = 0; k < 9; k++) assert_true(run->ctrl[NU * k] == 0.3);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

// ---- refusals

static void testRefused(void) {
  static const struct {
    const char *rest, *text;
  } list[] = {
      {"'variables':[{'name':'qvel0'}]", "'qvel0': windows vary controls alone"},
      {"'variables':[{'name':'act0'}]", "'act0'"},
      {"'variables':[{'name':'qpos0[joint/hinge]'}]", "'qpos0[joint/hinge]'"},
      {"'variables':[{'name':'ctrl'},{'name':'geom/box/friction'}]", "'geom/box/friction'"},
      {"'variables':[{'name':'ctrl','index':[0,2,4,6,8]}]", "'ctrl': index"},
      {"'variables':[{'name':'ctrl','index':[0,3,4,6,8,10]}]", "'ctrl': index"},
      {"'variables':[{'name':'ctrl','index':[0,2,4,6,8,10],'min':[0,0,0,0,0,-1]}]",
       "'ctrl': min, max"},
      {"'variables':[{'name':'ctrl','index':[0,2,4,6,8,10],'max':[1,2,2,2,2,2]}]",
       "'ctrl': min, max"},
      {"'free':{'z':{'value':[1]}},'variables':[{'name':'z'}]", "'z': no map takes"},
      {"'free':{'z':{'value':[1]}},'variables':[{'name':'z'}],'maps':[{'type':"
       "'shared','from':'z','to':'body/box/mass'}]",
       "maps[0]: shared: computes param"},
      {"'free':{'z':{'value':[1,2]}},'variables':[{'name':'z'}],'maps':[{'type':"
       "'spline','from':'z','actuator':'m0'}]",
       "maps[0]: spline: does not make"},
      {TANH(3, "1,2,3,4"), "maps[0]: tanh: numbers for 3 steps do not divide apply, 2"},
      {TANH(4, "1,2,3,4"), "maps[0]: tanh"},
      {"'free':{'z':{'value':[1,2,3,4,5,6,7,8,9,10,11,12]}},'variables':[{'name':'z'}],"
       "'maps':[{'type':'affine','from':'z','to':'ctrl','offset':"
       "[1,0,1,0,1,0,1,0,1,0,1,0.5]}]",
       "maps[0]: matrix or offset"},
      {"'free':{'z':{'value':[1]}},'variables':[{'name':'z'}],'maps':[{'type':"
       "'affine','from':'z','to':'ctrl','matrix':[[1],[1],[1],[1],[1],[1],[1],[1],[1],"
       "[1],[1],[1]]}]",
       "maps[0]: matrix or offset"},
      {"'free':{'z':{'value':[1,2]}},'variables':[{'name':'z'}],'maps':[{'type':"
       "'affine','from':'z','to':'ctrl','matrix':[[1,0],[1,0],[1,0],[1,0],[1,0],[1,0],"
       "[0,1],[0,1],[0,1],[0,1],[0,1],[0,1]]}]",
       "maps[0]: matrix or offset"},
      {"'free':{'z':{'value':[1,2,3,4,5,6,7,8,9,10,11,12]}},'variables':[{'name':'z'}],"
       "'maps':[{'type':'shared','from':'z','to':'ctrl'},{'type':'tanh',"
       "'from':'z','hold':1},{'type':'spline','from':'z','actuator':'m1'}]",
       "maps[2]: spline"},
      {"'free':{'z':{'value':[1,2,3,4,5,6,7,8,9,10,11,12],'min':[0,0,0,0,0,0,0,0,0,0,0,"
       "-1]}},'variables':[{'name':'z'}],'maps':[{'type':'shared','from':'z',"
       "'to':'ctrl'}]",
       "'z': min, max"},
  };
  djOptimizer how = recedingAdam(4, 2, 1);
  djRecedingRun* run;
  djError err = {""};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    DesignCase c;
    djt_openPush(&c, 6, list[i].rest);
    djStatus status = djd_makeReceding(&run, c.d, &how, &err);
    assert_int_equal(status, DJ_UNSUPPORTED);
    if (!strstr(err.text, list[i].text)) fail_msg("'%s', not '%s'", err.text, list[i].text);
    assert_null(run);
    djt_closeDesign(&c);
  }
  DesignCase c;
  djt_openPushTask(&c, "momentum",
                   "{'scene':'s','horizon':6,'variables':[{'name':'ctrl'}],'loss':["
                   "{'type':'effort'},{'type':'qvel','joint':'hinge','when':{'step':3}}]}");
  djt_refusedWith(DJ_INVALID, djd_makeReceding(&run, c.d, &how, &err), err, "loss[1]");
  djt_closeDesign(&c);
}

#define WINDOW(horizon_, apply_, frame_, nwindow_, window_)                                    \
  {.horizon = horizon_, .apply = apply_, .frame = frame_, .nwindow = nwindow_, .window = window_}

static void testNumbersRefused(void) {
  static const double seven[7] = {0};
  static const struct {
    djReceding r;
    const char* text;
  } list[] = {{WINDOW(7, 1, 0, 0, NULL), "horizon: 7"}, {WINDOW(0, 1, 0, 0, NULL), "horizon: 0"},
              {WINDOW(-1, 1, 0, 0, NULL), "horizon: -1"}, {WINDOW(4, 0, 0, 0, NULL), "apply: 0"},
              {WINDOW(4, 5, 0, 0, NULL), "apply: 5"}, {WINDOW(4, 2, 6, 0, NULL), "frame: 6"},
              {WINDOW(4, 2, 3, 0, NULL), "frame: 3"}, {WINDOW(4, 2, -2, 0, NULL), "frame: -2"},
              {WINDOW(4, 2, 2, 8, NULL), "window: NULL"},
              {WINDOW(4, 2, 2, 7, seven), "window: must be 8 numbers"},
              {{.horizon = 4, .apply = 2, .candidates = -1}, "candidates"},
              {{.horizon = 4, .apply = 2, .candidates = 3}, "spread"},
              {{.horizon = 4, .apply = 2, .candidates = 3, .spread = NAN}, "spread"},
              {{.horizon = 4, .apply = 2, .candidates = 3, .spread = 1, .seed = -1}, "seed"}};
  DesignCase c;
  djRecedingRun* run;
  djError err = {""};
  djt_openPush(&c, 6, all_ctrl);
  djOptimizer how = recedingAdam(4, 2, 1);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    how.receding = list[i].r;
    assert_int_equal(djd_makeReceding(&run, c.d, &how, &err), DJ_INVALID);
    if (!strstr(err.text, list[i].text)) fail_msg("'%s', not '%s'", err.text, list[i].text);
  }
  how.receding = (djReceding){.horizon = 4, .apply = 2};
  how.phases = 2;
  djt_refusedWith(DJ_UNSUPPORTED, djd_makeReceding(&run, c.d, &how, &err), err, "phases");
  how.phases = 1;
  assert_int_equal(djd_setPhase(c.d, 0.5), DJ_OK);
  assert_int_equal(djd_makeReceding(&run, c.d, &how, &err), DJ_UNSUPPORTED);
  assert_int_equal(djd_setPhase(c.d, 0), DJ_OK);
  how.type = "luck";
  assert_int_equal(djd_makeReceding(&run, c.d, &how, &err), DJ_OK);
  djt_refusedWith(DJ_INVALID, djd_receding(run, NULL, &err), err, "luck");
  djd_deleteReceding(run);
  assert_int_equal(djd_makeReceding(NULL, c.d, &how, &err), DJ_INVALID);
  assert_int_equal(djd_makeReceding(&run, NULL, &how, &err), DJ_INVALID);
  assert_int_equal(djd_makeReceding(&run, c.d, NULL, &err), DJ_INVALID);
  assert_int_equal(djd_receding(NULL, NULL, &err), DJ_INVALID);
  djd_deleteReceding(NULL);
  djt_closeDesign(&c);
}

static void testTask(void) {
  static const struct {
    const char *receding, *text;   // NULL: taken
  } list[] = {{"{'horizon':3}", NULL},
              {"{'horizon':6,'apply':6,'frame':0,'window':[1,2]}", NULL},
              {"{'horizon':3,'candidates':8,'spread':0.5,'seed':3}", NULL},
              {"{'horizon':3,'candidates':0,'spread':0.5}", "receding: candidates"},
              {"{'horizon':3,'candidates':8}", "spread"},
              {"{'horizon':3,'spread':-1}", "receding: spread"},
              {"{'horizon':3,'seed':1.5}", "receding: seed"},
              {"{'apply':1}", "horizon: is missing"},
              {"{}", "horizon: is missing"},
              {"{'horizon':7}", "horizon: 7"},
              {"{'horizon':0}", "receding: horizon"},
              {"{'horizon':2.5}", "receding: horizon"},
              {"{'horizon':-3}", "receding: horizon"},
              {"{'horizon':3,'apply':0}", "receding: apply"},
              {"{'horizon':3,'apply':4}", "apply: 4"},
              {"{'horizon':3,'frame':6}", "frame: 6"},
              {"{'horizon':3,'apply':2,'frame':3}", "frame: 3"},
              {"{'horizon':3,'window':['a']}", "receding: window"},
              {"{'horizon':3,'hurry':1}", "receding: unknown key 'hurry'"},
              {"{'horizon':3,'horizon':3}", "receding: horizon"},
              {"3", "receding"}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char text[1000];
    djTask* task;
    djError err = {""};
    snprintf(text, sizeof text,
             "{'scene':'s','horizon':6,'loss':[],'optimizer':"
             "{'receding':%s,'rate':0.5}}",
             list[i].receding);
    djStatus status = dj_loadTaskText(&task, djt_json(text), NULL, &err);
    assert_int_equal(status, list[i].text ? DJ_INVALID : DJ_OK);
    djt_failIf(list[i].text && !strstr(err.text, list[i].text), "'%s', not '%s'", err.text,
               list[i].text);
    if (status < 0) continue;
    const djReceding* r = &task->optimizer.receding;
    assert_int_equal(r->horizon, i == 1 ? 6 : 3);
    assert_int_equal(r->apply, i == 1 ? 6 : 1);
    assert_int_equal(r->nwindow, i == 1 ? 2 : 0);
    assert_true(i != 1 || r->window[1] == 2);
    assert_int_equal(r->candidates, i == 2 ? 8 : 1);
    assert_true(r->spread == (i == 2 ? 0.5 : 0) && r->seed == (i == 2 ? 3 : 0));
    assert_true(task->optimizer.rate == 0.5);
    dj_deleteTask(task);
  }
}

// Set by name: the first key brings the defaults of the others.
static void testKeys(void) {
  djOptimizer o = dj_defaultOptimizer();
  djError err = {""};
  static const double value[] = {12, 1, 0, 1, 0, 0};
  assert_int_equal(o.receding.horizon, 0);
  assert_int_equal(dj_setReceding(&o, "horizon", 0, &err), DJ_INVALID);
  djt_refusedWith(DJ_INVALID, dj_setReceding(&o, "hurry", 1, &err), err, "receding: hurry");
  assert_int_equal(o.receding.apply, 0);   // nothing was changed
  assert_int_equal(dj_setReceding(&o, "horizon", 12, &err), DJ_OK);
  const djSetting* key;
  for (int i = 0; (key = dj_recedingKey(i)); i++) {
    assert_true(dj_getReceding(&o, key) == value[i]);
  }
  assert_int_equal(dj_setReceding(&o, "apply", 3, &err), DJ_OK);
  assert_int_equal(dj_setReceding(&o, "horizon", 13, &err), DJ_OK);
  assert_int_equal(o.receding.apply, 3);
  assert_int_equal(dj_setReceding(NULL, "apply", 3, &err), DJ_INVALID);
  assert_int_equal(dj_setReceding(&o, NULL, 3, &err), DJ_INVALID);
  assert_null(dj_recedingKey(-1));
}

static void testArray(void) {
  DesignCase c;
  djt_openPush(&c, 6, all_ctrl);
  djOptimizer how = recedingAdam(4, 2, 1);
  Count count = {.frame = 2, .iteration = -1};
  djRecedingCallback callback = {countIteration, countFrame, &count};
  djRecedingRun* run = djt_recede(&c, &how, &callback);
  static const struct {
    const char* name;
    int rows, columns;
  } list[] = {{"ctrl", 6, 2}, {"qpos", 5, 9}, {"qvel", 5, 8}, {"act", 5, 1}, {"x", 12, 1},
              {"start", 8, 1}, {"loss", 1, 1}, {"next", 1, 1}, {"frame.loss", 2, 1},
              {"frame.stop", 2, 1}};
  djArray a;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    assert_int_equal(djd_recedingArray(&a, run, list[i].name), DJ_OK);
    assert_int_equal(a.rows, list[i].rows);
    assert_int_equal(a.columns, list[i].columns);
  }
  assert_int_equal(djd_recedingArray(&a, run, "frame.frame"), DJ_OK);
  assert_int_equal(*(const int*)(const void*)((const char*)a.data + a.stride), 2);
  assert_int_equal(djd_recedingArray(&a, run, "frame.none"), DJ_INVALID);
  assert_int_equal(djd_recedingArray(&a, run, "none"), DJ_INVALID);
  assert_int_equal(djd_recedingArray(&a, NULL, "x"), DJ_INVALID);
  assert_int_equal(djd_recedingArray(NULL, run, "x"), DJ_INVALID);
  djd_deleteReceding(run);
  djt_closeDesign(&c);
}

DJT_MAIN(testReplay, testShift, testRows, testNaive, testLinearMaps, testConstants, testRestart,
         testCandidates, testFrame, testZero, testRefused, testNumbersRefused, testTask, testKeys,
         testArray)
