// Running out of memory: every allocation of loading, making, copying, changing and saving a model
// and of reading a task fails in turn. The call must return a status, leave what was there before
// and release all it took. The sanitizers bring an allocator of their own: skipped there.

#include "common/counted_memory.h"
#include "common/file.h"
#include "common/file_faults.h"
#include "common/make_model.h"
#include "common/sample_model.h"
#include "common/scene.h"
#include "common/test.h"

#include "contact/pairs/near.h"
#include "integrate/work.h"

#if DJT_COUNTED_MEMORY

// What the calls work on.
typedef struct Fixture {
  djSample sample;
  djModel* model;
  djModel* same;      // the model as it must stay
  djParam size;
  djModel* solid;     // of one tetrahedron
} Fixture;

static const char* const path = "test_memory.tmp.json";

#define FOLDER "test_memory.d"
static const char* const out = FOLDER "/out";

static const char task_text[] =
    "{\"scene\":\"s\",\"horizon\":5,\"initial\":{\"keyframe\":1,\"act\":[1,2]},\"ctrl\":[1,2,3],"
    "\"set\":{\"geom/foot/size\":[0.1,0.2,0]},\"loss\":[{\"type\":\"effort\"}],\"variables\":[{"
    "\"name\":\"ctrl\"},{\"name\":\"qpos0[joint/slide]\",\"index\":[0],\"min\":0},{\"name\":"
    "\"geom/foot/size\"}]}";

// Of the tetrahedron.
static const char design_text[] =
    "{\"scene\":\"s\",\"horizon\":3,\"loss\":[{\"type\":\"com\",\"target\":[0,0,1]}],"
    "\"inertia_from_geom\":true,\"set\":{\"geom/#1/pos\":[0,0,0.01]},"
    "\"free\":{\"c\":{\"value\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],\"min\":-1},"
    "\"p\":{\"value\":[0.01,0,0.01]}},\"maps\":[{\"type\":\"cage\",\"from\":\"c\",\"body\":1,"
    "\"to\":\"mesh/#0/vert\",\"box\":[[-1,-1,-1],[2,2,2]]},"
    "{\"type\":\"shared\",\"from\":\"p\",\"to\":\"geom/#1/pos\"}],"
    "\"connect\":[{\"a\":{\"geom\":\"#1\",\"vertex\":1},\"b\":{\"geom\":\"#1\"}}],"
    "\"variables\":[{\"name\":\"c\"},{\"name\":\"p\",\"index\":[0,2]},{\"name\":\"qvel0\"}]}";

typedef djStatus Action(Fixture* f);

static djStatus actMake(Fixture* f) {
  djModel* m = NULL;
  djStatus status = dj_makeModel(&m, &f->sample.def, NULL);
  dj_deleteModel(m);
  return status;
}

static djStatus actCopy(Fixture* f) {
  djModel* m = NULL;
  djStatus status = dj_copyModel(&m, f->model, NULL);
  dj_deleteModel(m);
  return status;
}

static djStatus actData(Fixture* f) {
  djData* d = NULL;
  djTape* tape = NULL;
  djStatus status = dj_makeData(&d, f->model, NULL);
  if (status >= 0) status = djd_makeTape(&tape, f->model, 10, NULL);
  djd_deleteTape(tape);
  dj_deleteData(d);
  return status;
}

static djStatus actLoad(Fixture* f) {
  (void)f;
  djModel* m = NULL;
  djStatus status = dj_loadModel(&m, path, NULL);
  dj_deleteModel(m);
  return status;
}

static djStatus actSave(Fixture* f) { return dj_saveModel(f->model, out, NULL); }

static djStatus actOption(Fixture* f) { return dj_setOption(f->model, &f->model->opt, NULL); }

static djStatus actParam(Fixture* f) {
  double value[3];
  djStatus status = dj_getParam(value, f->model, &f->size);
  return status < 0 ? status : dj_setParam(f->model, &f->size, value, NULL);
}

// The vertices of a mesh to and fro.
static djStatus actMesh(Fixture* f) {
  djParam param;
  double value[12];
  djStatus status = dj_paramId(&param, f->solid, "mesh/#0/vert", NULL);
  if (status == DJ_OK) status = dj_getParam(value, f->solid, &param);
  for (int k = 0; k < 2 && status == DJ_OK; k++) {
    value[3] = k ? 1 : 1.5;
    status = dj_setParam(f->solid, &param, value, NULL);
  }
  return status;
}

static djStatus actFollow(Fixture* f) {
  djModel* design = NULL;
  djStatus status = dj_copyModel(&design, f->solid, NULL);
  if (status == DJ_OK) status = dj_followGeoms(design, f->solid, NULL);
  // By the other rules, with a hull that is another than before, and its overlap.
  djParam param;
  djHullOverlap overlap;
  double value[12];
  int changed;
  if (status == DJ_OK) status = dj_paramId(&param, design, "mesh/#0/vert", NULL);
  if (status == DJ_OK) status = dj_getParam(value, design, &param);
  value[3] = 1.5;
  if (status == DJ_OK) status = dj_setParam(design, &param, value, NULL);
  if (status == DJ_OK) status = dj_renewFacets(&changed, design, f->solid, NULL);
  for (int rule = DJ_INERTIA_LUMPED; rule <= DJ_INERTIA_UNION && status == DJ_OK; rule++) {
    status = dj_followGeomsBy(design, f->solid, (djInertiaRule)rule, NULL);
  }
  if (status == DJ_OK) status = dj_bodyOverlap(&overlap, design, -1, NULL);
  dj_deleteModel(design);
  return status;
}

enum { HORIZON = 4, NPARAM = 3, NGRAD = 12 + 3 + 3, NX = 12 };

// Gradients by parameters, of a rollout and of its last step. What runs out of memory can be asked
// again, and answers then as ever.
static djStatus actGradient(Fixture* f) {
  static const char* const name[NPARAM] = {"mesh/#0/vert", "geom/#1/pos", "option/gravity"};
  static double first[NGRAD], P_first[NX * NGRAD], P[NX * NGRAD];
  static bool known;
  double grad[NGRAD], qpos[7] = {0, 0, 0.01, 1, 0, 0, 0}, qvel[6] = {0.1, 0, -0.5, 1, 0, 0};
  const djLossTerm term = {.type = DJ_LOSS_COM, .id = -1, .weight = 1};
  djRollout r = {.horizon = HORIZON, .qpos0 = qpos, .qvel0 = qvel, .nloss = 1, .loss = &term};
  djParam param[NPARAM];
  djRolloutResult res = {.nparam = NPARAM, .param = param, .grad_param = grad};
  djData* d = NULL;
  djTape* tape = NULL;
  djStatus status = dj_makeData(&d, f->solid, NULL);
  for (int k = 0; k < NPARAM && status == DJ_OK; k++) {
    status = dj_paramId(&param[k], f->solid, name[k], NULL);
  }
  if (status == DJ_OK) status = djd_makeTape(&tape, f->solid, HORIZON, NULL);
  if (status == DJ_OK) status = djd_rolloutForward(&res, f->solid, d, &r, tape);
  djStatus refused = status, late = DJ_OK;
  if (status == DJ_OK) status = refused = djd_rolloutBackward(&res, f->solid, d, &r, tape);
  if (refused == DJ_NO_MEMORY && tape && !from_then_on) {
    status = djd_rolloutForward(&res, f->solid, d, &r, tape);
    if (status == DJ_OK) status = djd_rolloutBackward(&res, f->solid, d, &r, tape);
  }
  if (status == DJ_OK) status = dj_step(f->solid, d);
  if (status == DJ_OK) status = late = djd_lastParams(f->solid, d, P, NPARAM, param);
  if (late == DJ_NO_MEMORY && !from_then_on) {
    status = djd_lastParams(f->solid, d, P, NPARAM, param);
  }
  if (status == DJ_OK && !known) {
    memcpy(first, grad, sizeof first);
    memcpy(P_first, P, sizeof P);
    known = true;
  }
  if (status == DJ_OK && (memcmp(first, grad, sizeof first) || memcmp(P_first, P, sizeof P))) {
    status = DJ_INVALID;
  }
  djd_deleteTape(tape);
  dj_deleteData(d);
  return status < 0 ? status : refused < 0 ? refused : late;
}

static djStatus actTask(Fixture* f) {
  djTask* task = NULL;
  djProblem* problem = NULL;
  djStatus status = dj_loadTaskText(&task, task_text, "folder", NULL);
  if (status == DJ_OK) status = dj_resolveTask(&problem, task, f->model, NULL);
  dj_deleteProblem(problem);
  dj_deleteTask(task);
  return status;
}

static djStatus evaluate(djDesign* d) {
  double loss, *grad = calloc((size_t)d->n, 2 * sizeof *grad), *x = grad + d->n;
  if (!grad) return DJ_NO_MEMORY;
  for (int k = 0; k < d->n; k++) x[k] = d->x0[k] + 1e-4 * k;
  djStatus status = djd_evaluateDesign(&loss, grad, d, x);
  free(grad);
  return status;
}

static djStatus actPhases(djDesign* d) {
  djPhases* phases = NULL;
  double loss;
  djStatus status = djd_makePhases(&phases, d, 2, 1, NULL);
  if (status == DJ_OK) status = djd_evaluatePhases(&loss, NULL, phases, d->x0);
  int n;
  double* r = NULL;
  if (status == DJ_OK) status = djd_countResiduals(&n, d, NULL);
  if (status == DJ_OK && !(r = calloc((size_t)n, 2 * sizeof *r))) status = DJ_NO_MEMORY;
  if (status == DJ_OK) status = djd_phasesResiduals(phases, r, NULL, d->x0);
  free(r);
  djd_deletePhases(phases);
  return status;
}

static djStatus actDesign(Fixture* f) {
  djTask* task = NULL;
  djProblem* problem = NULL;
  djDesign* design = NULL;
  djModel* model = NULL;
  djStatus status = dj_loadTaskText(&task, design_text, "folder", NULL);
  if (status == DJ_OK) status = dj_copyModel(&model, f->solid, NULL);
  if (status == DJ_OK) status = dj_applySet(model, task, NULL);
  if (status == DJ_OK) status = dj_resolveTask(&problem, task, model, NULL);
  if (status == DJ_OK) status = djd_checkVariables(problem, NULL);
  if (status == DJ_OK) status = djd_makeDesign(&design, model, problem, NULL);
  if (status == DJ_OK) status = evaluate(design);
  if (status == DJ_OK) status = actPhases(design);
  djd_deleteDesign(design);
  dj_deleteProblem(problem);
  dj_deleteTask(task);
  dj_deleteModel(model);
  return status;
}

static const char scenes_text[] =
    "{\"scene\":\"s\",\"horizon\":3,\"loss\":[{\"type\":\"com\",\"target\":[0,0,1]}],"
    "\"set\":{\"option/gravity\":[0,0,-9]},\"variables\":[{\"name\":\"qvel0\"}],\"scenes\":["
    "{\"set\":{\"option/gravity\":[0,0,-8],\"geom/#1/pos\":[0,0,0.01]}},{\"horizon\":2}]}";

static djStatus actScenes(Fixture* f) {
  enum { SCENES = 2 };
  djTask* task = NULL;
  djProblem* problem[SCENES] = {NULL};
  djDesign* design[SCENES] = {NULL};
  djModel* model[SCENES] = {NULL};
  djPhases* phases = NULL;
  djdCertificate certificate;
  double loss, grad[16];
  djStatus status = dj_loadTaskText(&task, scenes_text, "folder", NULL);
  for (int k = 0; k < SCENES && status == DJ_OK; k++) {
    const djTask* one = dj_taskOfScene(task, k);
    status = dj_copyModel(&model[k], f->solid, NULL);
    if (status == DJ_OK) status = dj_applySet(model[k], one, NULL);
    if (status == DJ_OK) status = dj_resolveTask(&problem[k], one, model[k], NULL);
    if (status == DJ_OK) status = djd_makeDesign(&design[k], model[k], problem[k], NULL);
  }
  if (status == DJ_OK) status = djd_makeScenes(&phases, SCENES, design, NULL, 2, 1, NULL);
  if (status == DJ_OK) status = djd_evaluatePhases(&loss, grad, phases, design[0]->x0);
  if (status == DJ_OK) status = djd_certifyPhases(&certificate, phases, 0, loss, grad, 1);
  djd_deletePhases(phases);
  for (int k = 0; k < SCENES; k++) {
    djd_deleteDesign(design[k]);
    dj_deleteProblem(problem[k]);
    dj_deleteModel(model[k]);
  }
  dj_deleteTask(task);
  return status;
}

static djStatus bowl(void* user, double* loss, double* grad, const double* x) {
  (void)user;
  *loss = x[0] * x[0] + 3 * (x[1] - x[0]) * (x[1] - x[0]);
  if (!grad) return DJ_OK;
  grad[0] = 2 * x[0] - 6 * (x[1] - x[0]);
  grad[1] = 6 * (x[1] - x[0]);
  return DJ_OK;
}

static djStatus bowlResiduals(void* user, double* r, double* J, const double* x) {
  (void)user;
  r[0] = x[0];
  r[1] = sqrt(3) * (x[1] - x[0]);
  if (J) memcpy(J, (double[]){1, 0, -sqrt(3), sqrt(3)}, 4 * sizeof *J);
  return DJ_OK;
}

static djStatus optimize(const char* type) {
  djOptimizer how = dj_defaultOptimizer();
  how.type = type;
  how.iterations = 3;
  double x[2] = {1, 3};
  djOptimizeProblem p = {.n = 2, .objective = bowl, .nresidual = 2, .residuals = bowlResiduals};
  djOptimizeResult r;
  return dj_optimize(&r, x, &p, &how, NULL);
}

static djStatus actAdam(Fixture* f) { return (void)f, optimize("adam"); }
static djStatus actTrustRegion(Fixture* f) { return (void)f, optimize("trust_region"); }
static djStatus actLbfgsb(Fixture* f) { return (void)f, optimize("lbfgsb"); }

static djStatus actGaussNewton(Fixture* f) { return (void)f, optimize("gauss_newton"); }

static djStatus actCsv(Fixture* f) {
  djCsv* csv = NULL;
  djStatus status = dj_openStateCsv(&csv, f->model, out, NULL);
  if (status == DJ_OK) {
    double state[64] = {0};
    assert_in_range(dj_stateSize(f->model), 1, 64);
    dj_writeStateCsv(csv, f->model, state);
  }
  djStatus closed = dj_closeCsv(csv, NULL);
  return status < 0 ? status : closed;
}

// Two files together, with a text that takes memory of its own.
static djStatus actFiles(Fixture* f) {
  (void)f;
  djFile* file[2] = {NULL, NULL};
  djStatus status = dj_openFile(&file[0], out, NULL);
  if (status == DJ_OK) status = dj_openFile(&file[1], FOLDER "/new", NULL);
  dj_printFile(file[0], "%100000d", 1);
  if (status == DJ_OK) return dj_commitFiles(file, 2, NULL);
  for (int k = 0; k < 2; k++) dj_discardFile(file[k]);
  return status;
}

// A link to follow.
static djStatus actLink(Fixture* f) {
  (void)f;
  djFile* file = NULL;
  djStatus status = dj_openFile(&file, FOLDER "/link", NULL);
  return status < 0 ? status : dj_commitFile(file, NULL);
}

static djStatus actGap(Fixture* f) {
  djGapPair* pair = NULL;
  djStatus status = dj_makeGapPair(&pair, f->model, DJ_OBJ_BODY, 1, 2, -1, NULL);
  dj_deleteGapPair(pair);
  return status;
}

// What the actions find that write files.
static void resetFiles(void) {
  remove(FOLDER "/new");
  remove(FOLDER "/link");
  djt_writeText(out, "what was there before\n");
  assert_int_equal(symlink("out", FOLDER "/link"), 0);
}

// Let the k-th allocation fail until the action needs fewer than k. after: what it leaves in
// FOLDER.
static void exhaust(Fixture* f, Action* action, bool all, const djtText* after) {
  long refused = 0;
  for (long k = 0;; k++) {
    resetFiles();
    djtText old = djt_folder(FOLDER);
    long before = live;
    fired = false;
    from_then_on = all;
    countdown = k;
    djStatus status = action(f);
    countdown = -1;
    const char* difference = djt_difference(f->model, f->same);
    assert_int_equal(live, before);
    assert_null(difference);
    djtText now = djt_folder(FOLDER);
    assert_true(djt_sameText(&now, status < 0 ? &old : after));
    free(now.data);
    free(old.data);
    if (!fired) {
      assert_int_equal(status, DJ_OK);
      assert_true(refused > 0);
      break;
    }
    // Buffers of files and of sorting are not vital to the C library.
    assert_true(status < 0 || status == DJ_OK);
    if (action == actGradient) assert_int_not_equal(status, DJ_INVALID);
    refused += status < 0;
    assert_true(k < 100000);
  }
}

static Fixture* fixture;

static void run(void** state) {
  Action* action = *(Action**)*state;
  Fixture* f = fixture;
  resetFiles();
  assert_int_equal(action(f), DJ_OK);   // what is allocated once and for all
  djtText after = djt_folder(FOLDER);
  exhaust(f, action, false, &after);
  exhaust(f, action, true, &after);
  free(after.data);
}

// Two balls and a box thrown onto a floor.
static djModel* throwBalls(djData** d) {
  Scene* s = newScene(3);
  addGeom(s, 0, DJ_PLANE, 0.1, 0.1, 0.1);
  for (int k = 1; k < 4; k++) {
    const int b = addBody(s, 0, DJ_FREE, 0.19 * k, 0, 0.09 + 0.1 * k, 1, 0.16);
    addGeom(s, b, k == 1 ? DJ_BOX : DJ_SPHERE, 0.1, 0.1, 0.1);
  }
  return startScene(d, s);
}

// Steps and derivatives of small models take no memory at all.
static void test_steps(void) {
  djData* d;
  djModel* m = throwBalls(&d);
  static double A[36 * 36], J[10 * 18];
  assert_int_equal(m->nv, 18);
  djGapPair* gap;
  double x[10];
  assert_int_equal(dj_makeGapPair(&gap, m, DJ_OBJ_BODY, 1, 2, -1, NULL), DJ_OK);
  int pairs = 0;
  countdown = 0;   // any allocation fails from here on
  from_then_on = true;
  fired = false;
  djStatus worst = DJ_OK;
  for (int k = 0; k < 300 && worst >= 0; k++) {
    djStatus status = dj_step(m, d);
    if (status >= 0) status = djd_lastTransition(m, d, A, NULL);
    if (status >= 0) status = dj_forward(m, d);
    if (status >= 0) status = dj_evalGapPair(x, x + 1, x + 4, x + 7, J, gap, m, d);
    pairs += d->npair;
    if (status < 0) worst = status;
  }
  countdown = -1;
  assert_true(worst >= 0);
  assert_false(fired);
  assert_true(pairs > 300);
  dj_deleteGapPair(gap);
  djt_delete(m, d);
}

// Takes away the room of what follows the graph of contact.
static void cramp(djWork* w) {
  djStageWork* s = &w->at_stage[0];
  free(w->H.data);
  free(s->linear.Rq.data);
  free(s->linear.G.data);
  free(s->linear.factor.data);
  w->H.data = s->linear.Rq.data = s->linear.G.data = s->linear.factor.data = NULL;
  w->nH = s->nRq = s->nG = s->nfactor = 0;
  w->pattern.maxpair = w->pattern.maxlater = 0;
  w->pattern.nlists = 0;
  w->pattern.nanalysed = -1;
}

// The same of pairs: a list of one, one state.
static void crampPairs(djWork* w) {
  djContacts* c = dj_contactsOf(&w->forces);
  c->nslot = c->maxlist = 1;
  dj_resetContacts(c);
}

// Steps that need more room and get none change nothing; with memory they go on as if nothing had
// been.
static void test_room(void) {
  djData* d;
  djModel* m = throwBalls(&d);
  djData* easy = djt_data(m);
  static double A[36 * 36], other[36 * 36];
  int refused = 0;
  for (int k = 0; k < 60; k++) {
    double x[42];
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    dj_resetContacts(dj_contactsOf(&easy->work->forces));
    assert_true(dj_step(m, easy) >= 0);
    djStats stats = d->stats;
    fired = true;
    for (long n = 0; fired; n++) {
      from_then_on = n % 2;
      cramp(d->work);
      crampPairs(d->work);
      fired = false;
      countdown = n / 2;
      djStatus status = dj_step(m, d);
      countdown = -1;
      if (status >= 0) {   // there was room without what was refused
        assert_memory_equal(d->qpos, easy->qpos, 21 * sizeof(double));
        assert_memory_equal(d->qvel, easy->qvel, 18 * sizeof(double));
        if (!fired) break;
        assert_true(dj_setState(d, m, x) >= 0);
        d->stats = stats;
        continue;
      }
      refused++;
      assert_int_equal(status, DJ_NO_MEMORY);
      assert_non_null(strstr(dj_errorText(d), "memory"));
      assert_memory_equal(x + 1, d->qpos, 21 * sizeof(double));
      assert_memory_equal(x + 22, d->qvel, 18 * sizeof(double));
      assert_memory_equal(&stats, &d->stats, sizeof stats);
    }
    cramp(d->work);
    for (long n = 0;; n++) {
      countdown = n;
      djStatus status = djd_lastTransition(m, d, A, NULL);
      countdown = -1;
      if (status >= 0) break;
      assert_int_equal(status, DJ_NO_MEMORY);
    }
    assert_int_equal(djd_lastTransition(m, easy, other, NULL), DJ_OK);
    // contact is evaluated again where it was evaluated before: planes move by rounding, and with
    // them friction, which is steep where it hardly slips
    for (int i = 0; i < 36 * 36; i++) {
      assert_true(fabs(A[i] - other[i]) < 2e-8 * (1 + fabs(other[i])));
    }
  }
  assert_true(refused >= 60 && d->work->growths > 0);
  dj_deleteData(d);
  djt_delete(m, easy);
}

static djStatus makeSolid(djModel** model) {
  static const double vert[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const int face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  djModelDef def = dj_defaultModelDef();
  djBodyDef body[2] = {dj_defaultBodyDef(), dj_defaultBodyDef()};
  djGeomDef geom[2] = {dj_defaultGeomDef(), dj_defaultGeomDef()};
  djJointDef joint = dj_defaultJointDef();
  djMeshDef mesh = {.nvert = 4, .vert = vert, .nface = 4, .face = face};
  body[1].mass = 1;
  for (int k = 0; k < 3; k++) body[1].inertia[k] = 0.1;
  joint.body = geom[1].body = 1;
  joint.type = DJ_FREE;
  joint.qpos0[3] = 1;
  geom[0].type = DJ_PLANE;
  geom[1].type = DJ_MESH;
  geom[1].mesh = 0;
  def.nbody = def.ngeom = 2;
  def.njnt = def.nmesh = 1;
  def.body = body;
  def.geom = geom;
  def.joint = &joint;
  def.mesh = &mesh;
  return dj_makeModel(model, &def, NULL);
}

static int setup(void** state) {
  Fixture* f = fixture = calloc(1, sizeof *f);
  (void)state;
  if (!f) return -1;
  djt_fillSample(&f->sample);
  // Its hull would be qhull's work, which loses a block when memory runs out.
  f->sample.geom[3].contype = f->sample.geom[3].conaffinity = 0;
  (void)!system("rm -rf " FOLDER);
  if (mkdir(FOLDER, 0755) != 0) return -1;
  return makeSolid(&f->solid) | dj_makeModel(&f->model, &f->sample.def, NULL) |
         dj_makeModel(&f->same, &f->sample.def, NULL) | dj_saveModel(f->model, path, NULL) |
         dj_paramId(&f->size, f->model, "geom/foot/size", NULL);
}

static int teardown(void** state) {
  Fixture* f = fixture;
  (void)state;
  dj_deleteModel(f->model);
  dj_deleteModel(f->same);
  dj_deleteModel(f->solid);
  free(f);
  remove(path);
  return system("rm -rf " FOLDER);
}

#define ROW(action) {#action, run, NULL, NULL, &(Action*){action}}

int main(void) {
  const struct CMUnitTest tests[] = {
      ROW(actMake),        ROW(actCopy),        ROW(actLoad),   ROW(actSave),
      ROW(actOption),      ROW(actParam),       ROW(actTask),   ROW(actCsv),
      ROW(actData),        ROW(actMesh),        ROW(actFollow), djt_test(test_steps),
      djt_test(test_room), ROW(actDesign),      ROW(actScenes), ROW(actGradient),
      ROW(actAdam),        ROW(actTrustRegion), ROW(actLbfgsb), ROW(actGaussNewton),
      ROW(actGap),         ROW(actFiles),       ROW(actLink)};
  return cmocka_run_group_tests(tests, setup, teardown);
}

#else

int main(void) { return 77; }

#endif
