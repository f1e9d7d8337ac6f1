// Long calls tell a watch how far they are, and end when it says so, leaving nothing behind.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/random_shape.h"
#include "common/sample_model.h"
#include "common/test.h"

enum { HORIZON = 12, MAX_CALLS = 2000, NMESH = 3 };

typedef struct Log {
  int n, last;                 // calls; the one that cancels (0: none)
  double done[MAX_CALLS];
} Log;

static int note(void* user, double done) {
  Log* log = user;
  assert_true(log->n < MAX_CALLS);
  log->done[log->n++] = done;
  return log->n == log->last;
}

// ---- rollouts

typedef struct Case {
  djModel* m;
  djData* d;
  djTape* tape;
  double q0[64], v0[64], act0[64], u[64 * HORIZON], grad[64];
  djLossTerm term;
  djRollout r;
  djRolloutResult result;
} Case;

static void makeCase(Case* c, uint64_t seed) {
  djRng rng = {seed};
  djError err;
  memset(c, 0, sizeof *c);
  c->m = djt_randomModel(&rng, 4, DJT_ALL | DJT_TOTAL);
  assert_true(c->m->nq <= 64 && c->m->nu <= 64);
  assert_int_equal(dj_makeData(&c->d, c->m, &err), DJ_OK);
  assert_int_equal(djd_makeTape(&c->tape, c->m, HORIZON, &err), DJ_OK);
  djt_randomState(&rng, c->m, c->d, 1);
  memcpy(c->q0, c->d->qpos, (size_t)c->m->nq * sizeof(double));
  memcpy(c->v0, c->d->qvel, (size_t)c->m->nv * sizeof(double));
  for (int i = 0; i < HORIZON * c->m->nu; i++) c->u[i] = djt_uniform(&rng, -1, 1);
  c->term = (djLossTerm){.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 1,
                         .when = DJ_WHEN_RUNNING};
  c->r = (djRollout){.horizon = HORIZON, .qpos0 = c->q0, .qvel0 = c->v0, .act0 = c->act0,
                     .ctrl = c->u, .nloss = 1, .loss = &c->term, .refinement_steps = 5};
  c->result.grad_qvel0 = c->grad;
}

static void freeCase(Case* c) {
  djd_deleteTape(c->tape);
  djt_delete(c->m, c->d);
}

static djStatus forward(Case* c) {
  return djd_rolloutForward(&c->result, c->m, c->d, &c->r, c->tape);
}
static djStatus backward(Case* c) {
  return djd_rolloutBackward(&c->result, c->m, c->d, &c->r, c->tape);
}

// One plain step from the start: the same bits whatever was before.
static double plainStep(Case* c) {
  dj_resetData(c->m, c->d);
  memcpy(c->d->qpos, c->q0, (size_t)c->m->nq * sizeof(double));
  memcpy(c->d->qvel, c->v0, (size_t)c->m->nv * sizeof(double));
  assert_true(dj_step(c->m, c->d) >= 0);
  double sum = 0;
  for (int i = 0; i < c->m->nv; i++) sum += (i + 1) * c->d->qvel[i];
  return sum;
}

// Told after each step, of either pass; a watch changes no bit.
static void testRollout(void) {
  Case c;
  makeCase(&c, 3);
  assert_true(forward(&c) >= 0 && backward(&c) >= 0);
  double loss = c.result.loss, grad[64];
  memcpy(grad, c.grad, sizeof grad);
  Log log = {0};
  c.r.watch = (djWatch){note, &log};
  assert_true(forward(&c) >= 0);
  assert_int_equal(log.n, HORIZON);
  assert_true(backward(&c) >= 0);
  assert_int_equal(log.n, 2 * HORIZON);
  for (int k = 0; k < 2 * HORIZON; k++) {
    assert_true(fabs(log.done[k] - (k % HORIZON + 1.0) / HORIZON) < 1e-15);
  }
  assert_memory_equal(&loss, &c.result.loss, sizeof loss);
  assert_memory_equal(grad, c.grad, sizeof grad);
  freeCase(&c);
}

static void testCancelledRollout(void) {
  Case c;
  makeCase(&c, 3);
  double step = plainStep(&c);
  assert_true(forward(&c) >= 0 && backward(&c) >= 0);
  double loss = c.result.loss, grad[64];
  memcpy(grad, c.grad, sizeof grad);
  for (int last = 1; last <= 2 * HORIZON; last++) {
    Log log = {.last = last};
    c.r.watch = (djWatch){note, &log};
    djStatus first = forward(&c), second = last > HORIZON ? backward(&c) : DJ_OK;
    assert_int_equal(last > HORIZON ? second : first, DJ_CANCELLED);
    assert_int_equal(log.n, last);
    assert_string_equal(dj_errorText(c.d), "cancelled");
    // there is no run to go back through
    if (last <= HORIZON) assert_int_equal(backward(&c), DJ_INVALID);
    assert_true(plainStep(&c) == step);
    c.r.watch = (djWatch){0};
    assert_true(forward(&c) >= 0 && backward(&c) >= 0);
    assert_memory_equal(&loss, &c.result.loss, sizeof loss);
    assert_memory_equal(grad, c.grad, sizeof grad);
  }
  freeCase(&c);
}

// ---- models

// Points on spheres; all belong to their hulls.
typedef struct Balls {
  double* vert[NMESH];
  djModelDef def;
  djBodyDef body[2];
  djJointDef joint;
  djGeomDef geom[NMESH + 1];
  djMeshDef mesh[NMESH];
} Balls;

static const int count[NMESH] = {100, 400, 150};

static void makeBalls(Balls* s) {
  Random r = {5};
  s->def = dj_defaultModelDef();
  s->body[0] = s->body[1] = dj_defaultBodyDef();
  s->body[1].mass = 1;
  s->body[1].inertia[0] = s->body[1].inertia[1] = s->body[1].inertia[2] = 1;
  s->joint = dj_defaultJointDef();
  s->joint.type = DJ_FREE;
  s->joint.body = 1;
  for (int k = 0; k < NMESH + 1; k++) {
    s->geom[k] = dj_defaultGeomDef();
    s->geom[k].body = 1;
    s->geom[k].type = DJ_MESH;
    s->geom[k].mesh = k;
  }
  s->geom[NMESH] = dj_defaultGeomDef();   // a floor, for something to collide with
  s->geom[NMESH].type = DJ_PLANE;
  djGeomDef floor = s->geom[NMESH];
  memmove(s->geom + 1, s->geom, NMESH * sizeof floor);
  s->geom[0] = floor;
  for (int k = 0; k < NMESH; k++) {
    s->vert[k] = malloc(3 * (size_t)count[k] * sizeof(double));
    for (int i = 0; i < count[k]; i++) dju_store3(s->vert[k] + 3 * i, randomUnit(&r));
    s->mesh[k] = (djMeshDef){.nvert = count[k], .vert = s->vert[k]};
  }
  s->def.nbody = 2;
  s->def.body = s->body;
  s->def.njnt = 1;
  s->def.joint = &s->joint;
  s->def.ngeom = NMESH + 1;
  s->def.geom = s->geom;
  s->def.nmesh = NMESH;
  s->def.mesh = s->mesh;
}

static void freeBalls(Balls* s) {
  for (int k = 0; k < NMESH; k++) free(s->vert[k]);
}

// Of "element: what is wrong".
static const char* ending(const char* text) {
  const char* colon = strrchr(text, ':');
  return colon ? colon + 2 : text;
}

// Hulls cost as the squares of their vertices: so the shares, of which the last ends at 1.
static void testModel(void) {
  Balls s;
  makeBalls(&s);
  djModel* plain = NULL;
  djError err = {""};
  plain = djt_makeModel(&s.def);
  Log log = {0};
  s.def.watch = (djWatch){note, &log};
  djModel* watched = djt_makeModel(&s.def);
  assert_null(djt_difference(plain, watched));
  assert_memory_equal(&plain->contact, &watched->contact, sizeof plain->contact);
  double all = 0, before = 0;
  for (int k = 0; k < NMESH; k++) all += (double)count[k] * count[k];
  for (int k = 0; k < NMESH; k++) {
    bool found = false;
    for (int i = 0; i < log.n; i++) found = found || fabs(log.done[i] - before / all) < 1e-15;
    assert_true(found);
    before += (double)count[k] * count[k];
  }
  for (int i = 1; i < log.n; i++) assert_true(log.done[i] > log.done[i - 1]);
  assert_true(log.n > 10 && log.done[log.n - 1] < 1);
  int n = log.n;
  for (int last = 1; last <= n; last++) {
    log = (Log){.last = last};
    djModel* none = watched;
    assert_int_equal(dj_makeModel(&none, &s.def, &err), DJ_CANCELLED);
    assert_null(none);
    assert_int_equal(log.n, last);
    assert_string_equal(ending(err.text), "cancelled");
  }
  dj_deleteModel(plain);
  dj_deleteModel(watched);
  freeBalls(&s);
}

static void testFile(void) {
  static const char* const path = "test_watch.tmp.json";
  Balls s;
  makeBalls(&s);
  djModel* again = NULL;
  djError err = {""};
  djModel* m = djt_makeModel(&s.def);
  assert_int_equal(dj_saveModel(m, path, &err), DJ_OK);
  Log log = {0};
  djWatch watch = {note, &log};
  assert_int_equal(dj_loadModelWatched(&again, path, &watch, &err), DJ_OK);
  assert_true(log.n > 10);
  assert_null(djt_difference(m, again));
  dj_deleteModel(again);
  log = (Log){.last = 3};
  assert_int_equal(dj_loadModelWatched(&again, path, &watch, &err), DJ_CANCELLED);
  assert_null(again);
  assert_string_equal(ending(err.text), "cancelled");
  assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
  assert_int_equal(dj_loadModelWatched(&again, path, NULL, &err), DJ_OK);
  assert_null(djt_difference(m, again));
  dj_deleteModel(again);
  dj_deleteModel(m);
  freeBalls(&s);
  remove(path);
}

DJT_MAIN(testRollout, testCancelledRollout, testModel, testFile)
