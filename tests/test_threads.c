// Rollouts and their gradients have the same bits in any number of threads that share one model,
// and whatever a data and a tape were used for before.

#include <pthread.h>

#include "common/make_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"

enum { NRUN = 8, HORIZON = 60, MAX_THREADS = 4, NPARAM = 5 };

static const char* const kParam[NPARAM] = {"geom/#1/size", "mesh/#0/vert", "body/#2/inertia",
                                           "contact/stiffness", "option/gravity"};

// What all threads read.
typedef struct Work {
  djModel* model;
  djParam param[NPARAM];
  double *qpos, *qvel, *act;
  size_t nresult;            // doubles of one run
  double* result;            // (NRUN x nresult)
} Work;

typedef struct Share {
  const Work* work;
  int first, step;           // runs first, first + step, ...
  djStatus worst;
  int pairs;
} Share;

static double loss(void* user, const djModel* m, int horizon, const double* qpos,
                   const double* qvel, const double* act, const double* ctrl, double* dstate,
                   double* dctrl) {
  (void)user, (void)qvel, (void)act, (void)ctrl, (void)dctrl;
  double sum = 0;
  const double* q = qpos + (size_t)horizon * m->nq;
  double* dq = dstate + (size_t)horizon * dj_tangentSize(m);
  for (int b = 0; b < m->nv / 6; b++) {
    for (int k = 0; k < 3; k++) {
      sum += q[7 * b + k] * q[7 * b + k];
      dq[6 * b + k] += 2 * q[7 * b + k];
    }
  }
  return sum;
}

// Result of a run: loss; gradients by start, controls and parameters; last state.
static void runOne(Share* s, djData* d, djTape* tape, int k) {
  const Work* w = s->work;
  const djModel* m = w->model;
  double ctrl[HORIZON * 2], *out = w->result + (size_t)k * w->nresult;
  for (int i = 0; i < HORIZON * 2; i++) ctrl[i] = sin(0.1 * i + k);
  djRollout r = {.horizon = HORIZON, .qpos0 = w->qpos, .qvel0 = w->qvel, .act0 = w->act,
                 .ctrl = ctrl, .callback = loss, .refinement_steps = 5};
  djRolloutResult res = {.nparam = NPARAM, .param = w->param};
  res.grad_qpos0 = out + 1;
  res.grad_qvel0 = res.grad_qpos0 + m->nv;
  res.grad_act0 = res.grad_qvel0 + m->nv;
  res.grad_ctrl = res.grad_act0 + m->na;
  res.grad_param = res.grad_ctrl + HORIZON * m->nu;
  djStatus status = djd_rolloutForward(&res, m, d, &r, tape);
  s->pairs += d->npair;
  dj_getState(out + w->nresult - dj_stateSize(m), m, d);
  if (status >= 0) status = djd_rolloutBackward(&res, m, d, &r, tape);
  out[0] = res.loss;
  if (status < s->worst) s->worst = status;
}

static void* runShare(void* user) {
  Share* s = user;
  djData* d = NULL;
  djTape* tape = NULL;
  s->worst = dj_makeData(&d, s->work->model, NULL);
  if (s->worst == DJ_OK) s->worst = djd_makeTape(&tape, s->work->model, HORIZON, NULL);
  for (int k = s->first; s->worst == DJ_OK && k < NRUN; k += s->step) runOne(s, d, tape, k);
  djd_deleteTape(tape);
  dj_deleteData(d);
  return NULL;
}

static double* runAll(Work* w, int nthread) {
  pthread_t thread[MAX_THREADS];
  Share share[MAX_THREADS];
  w->result = calloc(NRUN * w->nresult, sizeof *w->result);
  assert_non_null(w->result);
  for (int t = 0; t < nthread; t++) {
    share[t] = (Share){.work = w, .first = t, .step = nthread};
    assert_int_equal(pthread_create(&thread[t], NULL, runShare, &share[t]), 0);
  }
  int pairs = 0;
  for (int t = 0; t < nthread; t++) {
    pthread_join(thread[t], NULL);
    assert_int_equal(share[t].worst, DJ_OK);
    pairs += share[t].pairs;
  }
  assert_true(pairs >= NRUN);
  return w->result;
}

static void testThreads(void** state) {
  Scene* s = newMixedPile(6);
  s->def.option.integrator = *(djIntegrator*)*state;
  djData* d;
  Work w = {.model = startPile(&d, s), .qpos = d->qpos, .qvel = d->qvel, .act = d->act};
  const djModel* m = w.model;
  w.nresult = 1 + 2 * (size_t)m->nv + (size_t)m->na + (size_t)(HORIZON * m->nu);
  w.nresult += (size_t)dj_stateSize(m);
  for (int i = 0; i < NPARAM; i++) {
    assert_int_equal(dj_paramId(&w.param[i], m, kParam[i], NULL), DJ_OK);
    w.nresult += (size_t)w.param[i].ntangent;
  }
  double* one = runAll(&w, 1);
  assert_memory_not_equal(one, one + w.nresult, w.nresult * sizeof *one);
  for (size_t i = 0; i < NRUN * w.nresult; i++) assert_true(isfinite(one[i]));
  for (int n = 1; n <= MAX_THREADS; n *= 2) {
    double* several = runAll(&w, n);
    assert_memory_equal(one, several, NRUN * w.nresult * sizeof *one);
    free(several);
  }
  free(one);
  djt_delete(w.model, d);
}

DJT_MAIN_ROWS(djt_byTwo(testThreads))
