// What writes to a state of bdf2 do to its history, and steps that SDIRK2 takes in its place.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/test.h"
#include "integrate/method.h"

// A ball joint, a hinge on it with a filter before its motor, and a free body; with a keyframe.
static djModel* makeModel(void) {
  static double qpos[12] = {1, 0, 0, 0, 0.2, 0, 1, 0.1, 1}, qvel[10] = {0.4, 0, 0.1, 1}, act[1];
  static djKeyDef key;
  Scene* s = newScene(4);
  int up = addBody(s, 0, DJ_BALL, 0.3, 0, 0, 1, 0.2);
  addBody(s, up, DJ_HINGE, 0.3, 0, 0, 0.7, 0.2);
  addBody(s, 0, DJ_FREE, 0, 1, 0, 1, 0.2);
  for (int b = 1; b < s->def.nbody; b++) {
    s->body[b].ipos[0] = 0.2;
    s->joint[b - 1].stiffness = 5;
    s->joint[b - 1].damping = 0.5;
  }
  djActuatorDef* a = &s->actuator[s->def.nu++];
  *a = dj_defaultActuatorDef();
  a->joint = 1;
  a->gear[0] = 1;
  a->dyn = DJ_DYN_FILTER;
  a->tau = 0.1;
  key = (djKeyDef){.qpos = qpos, .qvel = qvel, .act = act};
  s->def.key = &key;
  s->def.nkey = 1;
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

static djData* openData(djModel* m, double h, int steps) {
  djData* d = djt_openMethod(m, DJ_BDF2, h);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 2 * sin(i + 1.0);
  d->act[0] = 0.5;
  d->ctrl[0] = 1;
  for (int k = 0; k < steps; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  return d;
}

// A write to any number of the state drops the history, to an input none; so does a keyframe.
static void testWrites(void) {
  djModel* m = makeModel();
  djData* d = openData(m, 0.01, 3);
  int ns = dj_stateSize(m), before = 1 + m->nq + m->nv + m->na;
  double *x = djt_room((size_t)ns), *y = djt_room((size_t)ns);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_true(x[before] == 1);
  double* const array[] = {d->qpos, d->qvel, d->act};
  const int n[] = {m->nq, m->nv, m->na};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n[k]; i++) {
      double kept = array[k][i];
      array[k][i] += 1e-9;
      assert_false(dj_hasHistory(m, d));
      assert_int_equal(dj_getState(y, m, d), DJ_OK);
      assert_true(y[before] == 0 && y[before + 1] == 0);
      array[k][i] = kept;
      assert_true(dj_hasHistory(m, d));
    }
  }
  d->ctrl[0] = 0.3;
  d->qfrc_applied[0] = 1;
  d->xfrc_applied[9] = 1;
  assert_true(dj_hasHistory(m, d));
  assert_int_equal(dj_forward(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  assert_int_equal(dj_resetKey(m, d, 0), DJ_OK);
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(d->work->method->name, "sdirk2");
  // dj_setState brings it back
  assert_int_equal(dj_setState(d, m, x), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  assert_int_equal(dj_getState(y, m, d), DJ_OK);
  assert_memory_equal(x, y, (size_t)ns * sizeof(double));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(d->work->method->name, "bdf2");
  free(x);
  free(y);
  djt_delete(m, d);
}

// dv+ and dq+ by number c of (q, v, act), by differences of states, or of writes to them.
static void differ(double* out, djData* d, const djModel* m, const double* x, int c, bool writes) {
  const double e = 1e-5;
  int nx = dj_tangentSize(m), ns = dj_stateSize(m);
  double *end[2] = {djt_room((size_t)ns), djt_room((size_t)ns)}, *dx = djt_room((size_t)nx);
  for (int side = 0; side < 2; side++) {
    dx[c] = 1;
    djt_moveState(d, m, x, side ? e : -e, dx);
    if (writes) { // the same numbers, as a user writes them
      double* q = djt_room((size_t)m->nq);
      memcpy(q, d->qpos, (size_t)m->nq * sizeof(double));
      assert_int_equal(dj_setState(d, m, x), DJ_OK);
      memcpy(d->qpos, q, (size_t)m->nq * sizeof(double));
      if (c >= m->nv && c < 2 * m->nv) d->qvel[c - m->nv] += side ? e : -e;
      if (c >= 2 * m->nv) d->act[c - 2 * m->nv] += side ? e : -e;
      assert_false(dj_hasHistory(m, d));
      free(q);
    }
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_getState(end[side], m, d), DJ_OK);
  }
  djt_stateDifference(out, m, end[0], end[1]);
  for (int i = 0; i < nx; i++) out[i] /= 2 * e;
  free(end[0]);
  free(end[1]);
  free(dx);
}

// A is that of states; writes give that of a step without a history, another one.
static void testDifferences(void) {
  djModel* m = makeModel();
  djData* d = openData(m, 0.01, 3);
  int nx = dj_tangentSize(m), nv = m->nv, own = 2 * nv + m->na;
  double *x = djt_room((size_t)dj_stateSize(m)), *out = djt_room((size_t)nx);
  double* A[2] = {djt_room((size_t)nx * (size_t)nx), djt_room((size_t)nx * (size_t)nx)};
  d->work->refinement_steps = 5;
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_int_equal(djd_transition(m, d, A[0], NULL), DJ_OK);
  assert_int_equal(dj_setHistory(d, m, NULL, NULL), DJ_OK);
  assert_int_equal(djd_transition(m, d, A[1], NULL), DJ_OK);
  double worst[2] = {0, 0}, apart = 0;
  for (int c = 0; c < own; c++) {
    double least = 0;
    for (int writes = 0; writes < 2; writes++) {
      differ(out, d, m, x, c, writes);
      for (int r = 0; r < 2 * nv; r++) {
        worst[writes] = djt_worst(worst[writes], fabs(out[r] - A[writes][r * nx + c]));
        if (writes) least = fmax(least, fabs(out[r] - A[0][r * nx + c]));
      }
    }
    apart = c == 0 ? least : fmin(apart, least);
  }
  print_message("states %.1e of A, writes %.1e of SDIRK2's, and %.1e or more of A\n", worst[0],
                worst[1], apart);
  assert_true(worst[0] < 1e-7 && worst[1] < 1e-7 && apart > 1e-5);
  free(x);
  free(out);
  free(A[0]);
  free(A[1]);
  djt_delete(m, d);
}

static void setIterations(djModel* m, int n) {
  djOption option = m->opt;
  option.max_iterations = n;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
}

// A fast state with a history from which a few iterations find SDIRK2's stages, which are shorter,
// and not the step of bdf2. Leaves data there.
static djData* openFailing(djModel* m) {
  double x[64];
  enum { LEAST = 4, MOST = 9 };
  for (int try = 0; try < 90 * (MOST - LEAST); try++) {
    const int speed = 30 + try % 90, few = LEAST + (try / 90 + 2) % (MOST - LEAST);
    setIterations(m, 100);
    djData* d = djt_openMethod(m, DJ_BDF2, 0.05);
    assert_true(dj_stateSize(m) <= 64);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = speed * sin(i + 1.0);
    d->act[0] = 0.5;
    d->ctrl[0] = 1;
    for (int k = 0; k < 8; k++) {
      assert_true(dj_step(m, d) >= 0);
      assert_int_equal(dj_getState(x, m, d), DJ_OK);
      long before = d->stats.fallback_steps;
      setIterations(m, few);
      bool found =
          dj_hasHistory(m, d) && dj_step(m, d) == DJ_OK && d->stats.fallback_steps == before + 1;
      setIterations(m, 100);
      assert_int_equal(dj_setState(d, m, x), DJ_OK);
      if (!found) continue;
      print_message("speed %d, step %d, %d iterations\n", speed, k, few);
      setIterations(m, few);
      return d;
    }
    dj_deleteData(d);
  }
  fail_msg("no step of bdf2 fails");
  return NULL;
}

// It is counted, has the derivatives of SDIRK2's step, none by the history, and leaves one.
static void testRetried(void) {
  djModel* m = makeModel();
  djData* d = openFailing(m);
  int nx = dj_tangentSize(m), nv = m->nv, first = 2 * nv + m->na;
  double *x = djt_room((size_t)dj_stateSize(m)), *A = djt_room((size_t)nx * (size_t)nx);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  long before = d->stats.fallback_steps;
  double error = djt_transitionError(m, d, 1e-4, 0);
  djt_below("transition through a retried step", error, 1e-6);
  assert_int_equal(d->stats.fallback_steps - before, 4 * (nx + m->nu));
  assert_int_equal(dj_setState(d, m, x), DJ_OK);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  assert_string_equal(d->work->method->name, "sdirk2");
  for (int r = 0; r < nx; r++) {
    for (int c = 0; c < nx; c++) {
      if (c >= first)
        assert_true(A[r * nx + c] == 0);
      else if (r >= first)
        assert_true(A[r * nx + c] == (c == r - first));
    }
  }
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  free(x);
  free(A);
  djt_delete(m, d);
}

// Gradients of a run whose first step is such a one.
static void testRetriedRun(void) {
  enum { T = 1, NP = 3 };
  static const char* const name[NP] = {"body/#2/mass", "joint/#1/damping", "body/#2/ipos"};
  djModel* m = makeModel();
  djtRun run = {.m = m, .d = openFailing(m)};
  djError err;
  double q[16], v[16], hq[16], hv[16], act = run.d->act[0], ctrl[T] = {1}, by_q[16], by_v[16];
  assert_true(m->nq <= 16 && dj_getHistory(hq, hv, m, run.d));
  memcpy(q, run.d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(v, run.d->qvel, (size_t)m->nv * sizeof(double));
  assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
  djLossTerm loss[2] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                        {.type = DJ_LOSS_QVEL, .id = 1, .target = {0.2}, .weight = 0.1}};
  run.r = (djRollout){.horizon = T,
                      .qpos0 = q,
                      .qvel0 = v,
                      .act0 = &act,
                      .history_qpos0 = hq,
                      .history_qvel0 = hv,
                      .ctrl = ctrl,
                      .nloss = 2,
                      .loss = loss,
                      .refinement_steps = 6};
  double by_ctrl[T], by_act;
  djRolloutResult out = {.grad_history_qpos0 = by_q,
                         .grad_history_qvel0 = by_v,
                         .grad_ctrl = by_ctrl,
                         .grad_act0 = &by_act};
  assert_int_equal(djd_rolloutForward(&out, m, run.d, &run.r, run.tape), DJ_OK);
  assert_int_equal(run.d->stats.fallback_steps, 1);
  assert_int_equal(djd_rolloutBackward(&out, m, run.d, &run.r, run.tape), DJ_OK);
  for (int i = 0; i < m->nv; i++) assert_true(by_q[i] == 0 && by_v[i] == 0);
  double* const at[2] = {ctrl, &act};
  const double by[2] = {by_ctrl[0], by_act};
  for (int k = 0; k < 2; k++) {
    double kept = *at[k], f[2], e = 1e-3;
    for (int side = 0; side < 2; side++) {
      *at[k] = kept + (side ? e : -e);
      f[side] = djt_runLoss(&run);
    }
    *at[k] = kept;
    assert_true(fabs((f[1] - f[0]) / (2 * e) - by[k]) < 1e-6 * (1e-3 + fabs(by[k])));
    assert_true(by[k] != 0);
  }
  double error = djt_runNamed(&run, name, NP, 1e-3, 0, 1e-3);
  assert_true(error < 1e-6);
  djd_deleteTape(run.tape);
  djt_delete(m, run.d);
}

DJT_MAIN(testWrites, testDifferences, testRetried, testRetriedRun)
