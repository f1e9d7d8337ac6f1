// Batches: the bits of data of one's own by any number of threads, in steps, runs, matrices and
// gradients; worlds that fail alone; models of their own; bad arguments.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/random_terms.h"
#include "common/scene.h"
#include "common/test.h"

#include "batch/world.h"

#include <limits.h>

enum { N = 7, HORIZON = 25, NLOSS = 6 };

static djError err;

// A pile in which worlds differ, with a mocap body.
static djModel* pile(djIntegrator integrator) {
  Scene* s = newMixedPile(4);
  s->body[4].mocap = true;
  s->def.njnt--;
  addMotors(s, DJ_DYN_FILTER, 0.05);
  djModel* m = takeScene(s);
  djOption option = m->opt;
  option.integrator = integrator;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  return m;
}

static djBatch* newBatch(const djModel* m, int n, int nthread) {
  djBatch* b;
  assert_int_equal(dj_makeBatch(&b, m, n, nthread, &err), DJ_OK);
  assert_int_equal(b->n, n);
  return b;
}

// World i of a batch, or data as it would be.
static void start(djData* d, int i) {
  djRng rng = {(uint64_t)(100 + i)};
  for (int j = 0; j < 3; j++) {
    d->qvel[6 * j + 2] = -1 - i;
    d->qvel[6 * j] = djt_uniform(&rng, -2, 2);
    d->qvel[6 * j + 4] = djt_uniform(&rng, -5, 5);
  }
  d->act[0] = 0.1 * i;
  d->gravity_scale = 1 + 0.1 * i;
  d->qfrc_applied[1] = i;
  d->xfrc_applied[7] = -i;
  d->mocap_pos[0] += 0.001 * i;
}

static void startWorlds(djBatch* b) {
  for (int i = 0; i < b->n; i++) {
    djData* d = sceneData(dj_batchModel(b, i));
    start(d, i);
    assert_int_equal(dj_setWorld(b, i, d), DJ_OK);
    dj_deleteData(d);
  }
}

static double ctrlAt(int i, int k, int j) { return sin(0.3 * k + i + j); }

static void assertSameRows(const double* row, const double* own, int n) {
  assert_memory_equal(row, own, (size_t)n * sizeof(double));
}

static void assertSameWorld(djBatch* b, int i, const djData* d) {
  const djModel* m = dj_batchModel(b, i);
  size_t at = (size_t)i;
  assert_true(b->time[i] == d->time);
  assertSameRows(b->qpos + at * m->nq, d->qpos, m->nq);
  assertSameRows(b->qvel + at * m->nv, d->qvel, m->nv);
  assertSameRows(b->act + at * m->na, d->act, m->na);
  assertSameRows(b->xquat + at * 4 * m->nbody, d->xquat, 4 * m->nbody);
  assertSameRows(b->geom_xmat + at * 9 * m->ngeom, d->geom_xmat, 9 * m->ngeom);
  assertSameRows(b->mocap_last_pos + at * 3 * m->nmocap, d->mocap_last_pos, 3 * m->nmocap);
  assert_int_equal(b->stats[i].newton_iterations, d->stats.newton_iterations);
  assert_int_equal(b->stats[i].steps, d->stats.steps);
  assert_true(b->stats[i].deepest_overlap == d->stats.deepest_overlap);
}

// ---- steps ------------------------------------------------------------------------------------

static void checkSteps(djIntegrator integrator, int nthread) {
  djModel* m = pile(integrator);
  djBatch* b = newBatch(m, N, nthread);
  djData* own[N];
  long touched = 0;
  for (int i = 0; i < N; i++) {
    own[i] = sceneData(m);
    start(own[i], i);
  }
  startWorlds(b);
  for (int k = 0; k < HORIZON; k++) {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < m->nu; j++) {
        b->ctrl[i * m->nu + j] = own[i]->ctrl[j] = ctrlAt(i, k, j);
      }
    }
    int nstep = 1 + k % 2;
    djStatus worst = DJ_OK, status = dj_batchStep(b, nstep);
    for (int i = 0; i < N; i++) {
      djStatus one = DJ_OK;
      for (int s = 0; s < nstep; s++) {
        djStatus each = dj_step(m, own[i]);
        if (each > one) one = each;
      }
      assert_int_equal(b->status[i], one);
      if (one > worst) worst = one;
      assertSameWorld(b, i, own[i]);
      touched += own[i]->npair;
    }
    assert_int_equal(status, worst);
  }
  assert_true(touched > 0);
  for (int i = 0; i < N; i++) {   // as data, which go on alike
    djData* d = sceneData(m);
    assert_int_equal(dj_getWorld(d, b, i), DJ_OK);
    memcpy(own[i]->ctrl, d->ctrl, (size_t)m->nu * sizeof(double));
    assert_int_equal(dj_step(m, d), dj_step(m, own[i]));
    assertSameRows(d->qpos, own[i]->qpos, m->nq);
    assertSameRows(d->qvel, own[i]->qvel, m->nv);
    dj_deleteData(d);
    dj_deleteData(own[i]);
  }
  dj_deleteBatch(b);
  dj_deleteModel(m);
}

static void testSteps(void) {
  for (int nthread = 1; nthread <= 3; nthread++) {
    for (int k = 0; k < DJ_NINTEGRATOR; k++) checkSteps((djIntegrator)k, nthread);
  }
}

// ---- runs and gradients -----------------------------------------------------------------------

typedef struct Gradients {
  djModel* m;
  djRollout r;
  djLossTerm term[DJ_NLOSS];
  djParam param[3];
  double *ctrl, *dstate, *dctrl;
  size_t size;       // of a world's row: all results
} Gradients;

static void openGradients(Gradients* g, djIntegrator integrator) {
  static const char* const names[3] = {"body/#1/mass", "geom/#2/size", "contact/stiffness"};
  djRng rng = {3};
  g->m = pile(integrator);
  const djModel* m = g->m;
  size_t nu = (size_t)N * HORIZON * m->nu, nx = (size_t)dj_tangentSize(m);
  size_t ns = (size_t)N * (HORIZON + 1) * nx;
  g->ctrl = malloc((2 * nu + ns) * sizeof(double));
  g->dctrl = g->ctrl + nu;
  g->dstate = g->dctrl + nu;
  for (size_t i = 0; i < nu; i++) g->ctrl[i] = djt_uniform(&rng, -1, 1);
  for (size_t i = 0; i < nu + ns; i++) g->dctrl[i] = djt_uniform(&rng, -1, 1);
  g->r = (djRollout){.horizon = HORIZON, .ctrl = g->ctrl, .loss = g->term, .refinement_steps = 2};
  g->r.nloss = djt_randomTerms(g->term, m, &rng, HORIZON, false);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(dj_paramId(&g->param[k], m, names[k], &err), DJ_OK);
  }
  g->size = 1 + (HORIZON + 1) * (size_t)(m->nq + m->nv + m->na) + 4 * (size_t)m->nv + m->na +
            (size_t)HORIZON * m->nu + 5;
}

static void closeGradients(Gradients* g) {
  dj_deleteModel(g->m);
  free(g->ctrl);
}

// Arrays of results one after the other in one block.
static djBatchResult resultsIn(double* at, const Gradients* g, int n) {
  const djModel* m = g->m;
  size_t w = (size_t)n, rows = w * (HORIZON + 1), nv = w * m->nv;
  djBatchResult r = {.nparam = 3, .param = g->param};
  r.loss = at;
  r.qpos = r.loss + w;
  r.qvel = r.qpos + rows * m->nq;
  r.act = r.qvel + rows * m->nv;
  r.grad_qpos0 = r.act + rows * m->na;
  r.grad_qvel0 = r.grad_qpos0 + nv;
  r.grad_history_qpos0 = r.grad_qvel0 + nv;
  r.grad_history_qvel0 = r.grad_history_qpos0 + nv;
  r.grad_act0 = r.grad_history_qvel0 + nv;
  r.grad_ctrl = r.grad_act0 + w * m->na;
  r.grad_param = r.grad_ctrl + w * HORIZON * m->nu;
  return r;
}

// With data and a tape for each world, one after the other.
static double* serial(const Gradients* g, bool given) {
  const djModel* m = g->m;
  double* block = calloc(N * g->size, sizeof(double));
  djBatchResult all = resultsIn(block, g, N);
  for (size_t i = 0; i < N; i++) {
    djData* d = sceneData(m);
    djTape* tape;
    start(d, (int)i);
    assert_int_equal(djd_makeTape(&tape, m, HORIZON, &err), DJ_OK);
    djRollout r = g->r;
    r.qpos0 = d->qpos;
    r.qvel0 = d->qvel;
    r.act0 = d->act;
    r.ctrl += i * HORIZON * m->nu;
    djRolloutResult one = {.grad_qpos0 = all.grad_qpos0 + i * m->nv,
                           .grad_qvel0 = all.grad_qvel0 + i * m->nv,
                           .grad_act0 = all.grad_act0 + i * m->na,
                           .grad_history_qpos0 = all.grad_history_qpos0 + i * m->nv,
                           .grad_history_qvel0 = all.grad_history_qvel0 + i * m->nv,
                           .grad_ctrl = all.grad_ctrl + i * HORIZON * m->nu,
                           .nparam = 3,
                           .param = g->param,
                           .grad_param = all.grad_param + i * 5};
    assert_true(djd_rolloutForward(&one, m, d, &r, tape) >= 0);
    all.loss[i] = one.loss;
    djd_tapeStates(all.qpos + i * (HORIZON + 1) * m->nq, all.qvel + i * (HORIZON + 1) * m->nv,
                   all.act + i * (HORIZON + 1) * m->na, m, tape);
    if (given) {
      size_t nx = (size_t)dj_tangentSize(m);
      djd_setCotangents(tape, m, g->dstate + i * (HORIZON + 1) * nx,
                        g->dctrl + i * HORIZON * m->nu);
    }
    assert_int_equal(djd_rolloutBackward(&one, m, d, &r, tape), DJ_OK);
    djd_deleteTape(tape);
    dj_deleteData(d);
  }
  return block;
}

static void checkGradients(djIntegrator integrator, int nthread) {
  static const int checkpoints[] = {0, 1, 6, HORIZON, 3 * HORIZON};
  Gradients g;
  openGradients(&g, integrator);
  double *alone = serial(&g, false), *given = serial(&g, true);
  double* block = calloc(N * g.size, sizeof(double));
  djBatch* b = newBatch(g.m, N, nthread);
  for (size_t k = 0; k < sizeof checkpoints / sizeof *checkpoints; k++) {
    djBatchTape* tape;
    djBatchResult all = resultsIn(block, &g, N);
    assert_int_equal(djd_makeBatchTape(&tape, b, HORIZON + 2, checkpoints[k], &err), DJ_OK);
    startWorlds(b);
    memset(block, 0, N * g.size * sizeof(double));
    assert_true(djd_batchGradient(&all, b, &g.r, tape) >= 0);
    assert_memory_equal(block, alone, N * g.size * sizeof(double));
    startWorlds(b);
    memset(block, 0, N * g.size * sizeof(double));
    assert_true(djd_batchRolloutForward(&all, b, &g.r, tape) >= 0);
    for (int pass = 0; pass < 2; pass++) {   // the second with what the first has left
      const double *dx = pass ? g.dstate : NULL, *du = pass ? g.dctrl : NULL;
      assert_int_equal(djd_batchRolloutBackward(&all, b, &g.r, tape, dx, du), DJ_OK);
      assert_memory_equal(block, pass ? given : alone, N * g.size * sizeof(double));
    }
    djd_deleteBatchTape(tape);
  }
  // the worlds are where their runs have ended; plain runs are the same
  free(alone);
  g.r.refinement_steps = 0;
  alone = serial(&g, false);
  startWorlds(b);
  djBatchResult all = resultsIn(block, &g, N);
  memset(block, 0, N * g.size * sizeof(double));
  djStatus status = dj_batchRollout(b, HORIZON, g.ctrl, all.qpos, all.qvel, all.act);
  assert_true(status >= 0);
  assert_memory_equal(all.qpos, alone + N, (size_t)(all.grad_qpos0 - all.qpos) * sizeof(double));
  for (size_t i = 0; i < N; i++) {
    assertSameRows(b->qpos + i * g.m->nq, all.qpos + (i * (HORIZON + 1) + HORIZON) * g.m->nq,
                   g.m->nq);
  }
  dj_deleteBatch(b);
  free(block);
  free(alone);
  free(given);
  closeGradients(&g);
}

static void testGradients(void) {
  for (int nthread = 1; nthread <= 3; nthread++) {
    checkGradients(DJ_EULER, nthread);
    if (nthread == 2) checkGradients(DJ_BDF2, nthread);
    if (nthread == 3) checkGradients(DJ_POSITION, nthread);
  }
}

static void testTransition(void) {
  djModel* m = pile(DJ_EULER);
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  double *A = malloc((N + 1) * nx * (nx + nu) * sizeof(double)), *B = A + N * nx * nx;
  double *A1 = B + N * nx * nu, *B1 = A1 + nx * nx;
  for (int nthread = 1; nthread <= 3; nthread++) {
    djBatch* b = newBatch(m, N, nthread);
    startWorlds(b);
    assert_true(dj_batchStep(b, 3) >= 0);
    assert_true(djd_batchTransition(b, A, B) >= 0);
    for (size_t i = 0; i < N; i++) {
      djData* d = sceneData(m);
      start(d, (int)i);
      for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
      assertSameWorld(b, (int)i, d);
      assert_true(djd_transition(m, d, A1, B1) >= 0);
      assertSameRows(A + i * nx * nx, A1, (int)(nx * nx));
      assertSameRows(B + i * nx * nu, B1, (int)(nx * nu));
      dj_deleteData(d);
    }
    dj_deleteBatch(b);
  }
  free(A);
  dj_deleteModel(m);
}

// ---- failures ---------------------------------------------------------------------------------

// Worlds 2 and 4 fail, at once and in step 5; the others are as if these were not there.
static void testFailures(void) {
  Gradients g;
  openGradients(&g, DJ_EULER);
  double* whole = serial(&g, false);
  size_t nu = (size_t)g.m->nu;
  for (int nthread = 1; nthread <= 3; nthread += 2) {
    for (int checkpoint = 0; checkpoint < 3; checkpoint += 2) {
      djBatch* b = newBatch(g.m, N, nthread);
      djBatchTape* tape;
      double* block = calloc(N * g.size, sizeof(double));
      djBatchResult all = resultsIn(block, &g, N), want = resultsIn(whole, &g, N);
      assert_int_equal(djd_makeBatchTape(&tape, b, HORIZON, checkpoint, &err), DJ_OK);
      startWorlds(b);
      b->qvel[2 * g.m->nv + 1] = NAN;
      double kept = g.ctrl[(4 * HORIZON + 5) * nu];
      g.ctrl[(4 * HORIZON + 5) * nu] = INFINITY;
      assert_int_equal(djd_batchRolloutForward(&all, b, &g.r, tape), DJ_INVALID);
      assert_string_equal(dj_batchErrorText(b, -1),
                          "world 2: qvel[1]: not a finite number");
      assert_string_equal(dj_batchErrorText(b, 2), "qvel[1]: not a finite number");
      assert_string_equal(dj_batchErrorText(b, 4),
                          "ctrl of step 5: ctrl[0]: not a finite number");
      assert_int_equal(djd_batchRolloutBackward(&all, b, &g.r, tape, NULL, NULL), DJ_INVALID);
      g.ctrl[(4 * HORIZON + 5) * nu] = kept;
      size_t nv = (size_t)g.m->nv;
      for (size_t i = 0; i < N; i++) {
        bool fails = i == 2 || i == 4;
        assert_int_equal(b->status[i] < 0, fails);
        assert_true(!dj_batchErrorText(b, (int)i)[0] == !fails);
        assert_true(isnan(all.loss[i]) == fails && isnan(all.grad_param[5 * i + 4]) == fails);
        assert_true(isnan(all.qpos[(i + 1) * (HORIZON + 1) * g.m->nq - 1]) == fails);
        assert_true(isnan(all.grad_ctrl[i * HORIZON * nu]) == fails);
        if (fails) continue;
        assert_true(all.loss[i] == want.loss[i]);
        assertSameRows(all.grad_qvel0 + i * nv, want.grad_qvel0 + i * nv, g.m->nv);
        assertSameRows(all.grad_param + 5 * i, want.grad_param + 5 * i, 5);
      }
      djd_deleteBatchTape(tape);
      dj_deleteBatch(b);
      free(block);
    }
  }
  free(whole);
  closeGradients(&g);
}

// Of plain runs and steps; worlds that are not active.
static void testStops(void) {
  djModel* m = pile(DJ_EULER);
  djBatch *b = newBatch(m, 3, 2), *twin = newBatch(m, 3, 1);
  startWorlds(b);
  startWorlds(twin);
  double* qpos = malloc(3 * 6 * (size_t)m->nq * sizeof(double));
  double* ctrl = calloc(3 * 5 * (size_t)m->nu, sizeof(double));
  ctrl[(1 * 5 + 3) * m->nu + 1] = NAN;
  assert_int_equal(dj_batchRollout(b, 5, ctrl, qpos, NULL, NULL), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "world 1: step 3: ctrl[1]: not a finite number");
  assert_int_equal(b->stats[0].steps, 5);
  assert_int_equal(b->stats[1].steps, 3);
  for (int k = 0; k < 6; k++) {
    assert_true(isnan(qpos[(6 + k) * m->nq]) == (k > 3));
    assert_false(isnan(qpos[k * m->nq]) || isnan(qpos[(12 + k) * m->nq]));
  }
  assertSameRows(b->qpos + m->nq, qpos + 9 * m->nq, m->nq);
  // the failed world starts anew, the others go on
  assert_int_equal(dj_resetBatch(b, 1, -1), DJ_OK);
  assert_string_equal(dj_batchErrorText(b, 1), "");
  b->active[0] = b->active[2] = 0;
  double before = b->qpos[0];
  assert_true(dj_batchStep(b, 1) >= 0);
  assert_true(b->qpos[0] == before && b->time[0] > b->time[1] && b->time[1] > 0);
  b->active[0] = b->active[2] = 1;
  b->qpos[m->nq] = INFINITY;
  assert_int_equal(dj_batchStep(b, 4), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "world 1: qpos[0]: not a finite number");
  assert_true(dj_batchStep(twin, 9) >= 0);
  assertSameRows(b->qvel, twin->qvel, m->nv);
  assertSameRows(b->qvel + 2 * m->nv, twin->qvel + 2 * m->nv, m->nv);
  free(qpos);
  free(ctrl);
  dj_deleteBatch(b);
  dj_deleteBatch(twin);
  dj_deleteModel(m);
}

// ---- models of their own ----------------------------------------------------------------------

static void testModels(void) {
  djModel* m = pile(DJ_EULER);
  djParam param[2];
  double value[N * 4];
  assert_int_equal(dj_paramId(&param[0], m, "body/#1/mass", &err), DJ_OK);
  assert_int_equal(dj_paramId(&param[1], m, "geom/#1/size", &err), DJ_OK);
  for (int nthread = 1; nthread <= 3; nthread++) {
    djBatch* b = newBatch(m, N, nthread);
    for (int i = 0; i < N; i++) {
      value[4 * i] = 1 + 0.2 * i;
      for (int k = 1; k < 4; k++) value[4 * i + k] = 0.1 + 0.003 * i;
    }
    assert_ptr_equal(dj_batchModel(b, 0), b->work->model);
    assert_ptr_equal(dj_batchModel(b, 1), b->work->model);
    assert_int_equal(dj_setBatchParams(b, 2, param, value, &err), DJ_OK);
    startWorlds(b);
    for (int round = 0; round < 2; round++) {   // steps, another model, steps
      assert_true(dj_batchStep(b, 12) >= 0);
      djModel* one;
      double more = 3, wide[3] = {0.12, 0.11, 0.1};
      assert_int_equal(dj_ownBatchModel(&one, b, 5, &err), DJ_OK);
      assert_ptr_equal(one, dj_batchModel(b, 5));
      assert_int_equal(dj_setParam(one, &param[0], &more, &err), DJ_OK);
      assert_int_equal(dj_setParam(one, &param[1], wide, &err), DJ_OK);
    }
    for (int i = 0; i < N; i++) {
      djModel* own = djt_copy(m);
      assert_int_equal(dj_setParam(own, &param[0], value + 4 * i, &err), DJ_OK);
      assert_int_equal(dj_setParam(own, &param[1], value + 4 * i + 1, &err), DJ_OK);
      djData* d = sceneData(own);
      start(d, i);
      for (int k = 0; k < 24; k++) {
        double more = 3, wide[3] = {0.12, 0.11, 0.1};
        if (k == 12 && i == 5) {
          assert_int_equal(dj_setParam(own, &param[0], &more, &err), DJ_OK);
          assert_int_equal(dj_setParam(own, &param[1], wide, &err), DJ_OK);
        }
        assert_true(dj_step(own, d) >= 0);
      }
      assertSameWorld(b, i, d);
      djt_delete(own, d);
    }
    assert_true(b->qpos[2] != b->qpos[m->nq + 2]);
    value[4 * 3] = -1;
    assert_int_equal(dj_setBatchParams(b, 2, param, value, &err), DJ_INVALID);
    assert_memory_equal(err.text, "world 3: ", 9);
    // a model that does not fit: that world alone fails
    djModel* one;
    assert_int_equal(dj_ownBatchModel(&one, b, 6, &err), DJ_OK);
    djOption option = one->opt;
    option.contact = DJ_CONTACT_NONE;
    assert_int_equal(dj_setOption(one, &option, &err), DJ_OK);
    assert_int_equal(dj_batchStep(b, 1), DJ_INVALID);
    assert_string_equal(dj_batchErrorText(b, -1), "world 6: data: made with contact switched on");
    dj_deleteBatch(b);
  }
  dj_deleteModel(m);
}

// ---- arguments --------------------------------------------------------------------------------

static void testArguments(void) {
  djModel* m = pile(DJ_EULER);
  djModel* one;
  djBatch *b = NULL, *other;
  djBatchTape *tape = NULL, *foreign;
  djBatchResult result = {0};
  djArray array;
  assert_int_equal(dj_makeBatch(NULL, m, 1, 1, &err), DJ_INVALID);
  assert_int_equal(dj_makeBatch(&b, NULL, 1, 1, &err), DJ_INVALID);
  djt_refused(DJ_INVALID, dj_makeBatch(&b, m, 0, 1, &err), err, "worlds: 0 is not positive");
  djt_refused(DJ_INVALID, dj_makeBatch(&b, m, 1, -1, &err), err, "threads: -1 is negative");
  assert_int_equal(dj_makeBatch(&b, m, INT_MAX, 1, &err), DJ_NO_MEMORY);
  assert_null(b);
  b = newBatch(m, 2, 9);
  other = newBatch(m, 3, 1);
  assert_int_equal(b->nthread, 2);
  assert_int_equal(dj_batchStep(NULL, 1), DJ_INVALID);
  assert_int_equal(dj_batchStep(b, -1), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "steps: a negative number");
  assert_int_equal(dj_batchStep(b, 0), DJ_OK);
  assert_string_equal(dj_batchErrorText(b, -1), "");
  assert_string_equal(dj_batchErrorText(b, 2), "");
  assert_string_equal(dj_batchErrorText(NULL, 0), "");
  assert_int_equal(dj_batchForward(NULL), DJ_INVALID);
  assert_int_equal(djd_batchTransition(NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_batchTransition(b, NULL, NULL), DJ_OK);
  assert_int_equal(dj_batchRollout(b, -1, NULL, NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_resetBatch(b, 2, -1), DJ_INVALID);
  assert_int_equal(dj_resetBatch(b, 0, 0), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "world 0: keyframe 0: the model has 0");
  djt_refused(DJ_INVALID, dj_ownBatchModel(&one, b, 2, &err), err, "world 2: there is none");
  assert_int_equal(dj_ownBatchModel(&one, b, -1, &err), DJ_OK);
  assert_ptr_equal(one, dj_batchModel(b, 1));
  assert_null(dj_batchModel(b, 2));
  assert_null(dj_batchModel(b, -1));
  assert_int_equal(dj_setBatchParams(b, 1, NULL, NULL, &err), DJ_INVALID);
  djData *d = sceneData(m), *small;
  djModel* pair = movingPile(&small, 1);
  assert_int_equal(dj_getWorld(d, b, 2), DJ_INVALID);
  assert_int_equal(dj_setWorld(b, -1, d), DJ_INVALID);
  assert_int_equal(dj_getWorld(small, b, 0), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "data: made for a model of other sizes");
  assert_int_equal(djd_makeBatchTape(&tape, b, 0, 0, &err), DJ_INVALID);
  djt_refused(DJ_INVALID, djd_makeBatchTape(&tape, b, 3, -2, &err), err,
              "checkpoint: -2 is negative");
  assert_int_equal(djd_makeBatchTape(&tape, b, INT_MAX, 2, &err), DJ_NO_MEMORY);
  assert_null(tape);
  assert_int_equal(djd_makeBatchTape(&tape, b, 3, 0, &err), DJ_OK);
  assert_int_equal(djd_makeBatchTape(&foreign, other, 3, 0, &err), DJ_OK);
  double ctrl[16] = {0};
  djRollout r = {.horizon = 3, .ctrl = ctrl};
  assert_int_equal(djd_batchGradient(&result, b, &r, NULL), DJ_INVALID);
  assert_int_equal(djd_batchGradient(&result, b, &r, foreign), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1),
                      "tape: made for another batch or a shorter horizon");
  r.horizon = 4;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  r.horizon = 0;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  r.horizon = 3;
  assert_int_equal(djd_batchRolloutBackward(&result, b, &r, tape, NULL, NULL), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, 1), "tape: holds no run of 3 steps");
  r.qpos0 = ctrl;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  assert_string_equal(dj_batchErrorText(b, -1), "start: it is that of the worlds");
  r.qpos0 = NULL;
  r.compiled = m;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  r.compiled = NULL;
  r.ctrl = NULL;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  r.ctrl = ctrl;
  result.nparam = 1;
  assert_int_equal(djd_batchGradient(&result, b, &r, tape), DJ_INVALID);
  result.nparam = 0;
  assert_true(djd_batchGradient(&result, b, &r, tape) >= 0);
  assert_int_equal(dj_batchArray(&array, b, "nothing"), DJ_INVALID);
  int names = 0;
  for (const char* name; (name = dj_batchArrayName(names)) != NULL; names++) {
    assert_int_equal(dj_batchArray(&array, b, name), DJ_OK);
    assert_int_equal(array.rows, 2);
    assert_non_null(array.data);
  }
  assert_int_equal(names, 24);
  assert_int_equal(dj_batchArray(&array, b, "xquat"), DJ_OK);
  assert_ptr_equal(array.data, b->xquat);
  assert_int_equal(array.columns, 4 * m->nbody);
  assert_int_equal(dj_batchArray(&array, b, "stats.worst_residual"), DJ_OK);
  assert_ptr_equal(array.data, &b->stats[0].worst_residual);
  assert_ptr_equal((char*)array.data + array.stride, &b->stats[1].worst_residual);
  assert_int_equal(array.rows, 2);
  assert_int_equal(dj_batchArray(&array, b, "stats.nothing"), DJ_INVALID);
  assert_true(dj_batchBytes(b) > 2 * dj_dataSize(m) && dj_batchBytes(NULL) == 0);
  assert_true(djd_batchTapeBytes(tape) > 2 * djd_tapeSize(m, 3) && djd_batchTapeBytes(NULL) == 0);
  djd_deleteBatchTape(tape);
  djd_deleteBatchTape(foreign);
  djd_deleteBatchTape(NULL);
  dj_deleteBatch(b);
  dj_deleteBatch(other);
  dj_deleteBatch(NULL);
  dj_deleteData(d);
  djt_delete(pair, small);
  dj_deleteModel(m);
}

DJT_MAIN(testSteps, testGradients, testTransition, testFailures, testStops, testModels,
         testArguments)
