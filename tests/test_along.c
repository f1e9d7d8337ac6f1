// Derivatives of a model's steps along the run of another.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/test.h"

#include <dijoco/hessian.h>

enum { HORIZON = 25, NPARAM = 2, MAX = 2000 };

// A run, and cotangents of its states and controls.
typedef struct Case {
  djModel *m, *smooth;
  djData *d, *other;        // of either
  djTape *tape, *along;
  djRollout r;
  double u[MAX], q0[MAX], v0[MAX], dstate[MAX], dctrl[MAX];
  djParam param[NPARAM];
} Case;

// A gradient; numbers of all come one after the other.
typedef struct Sums {
  djRolloutResult result;
  double ctrl[MAX], qpos0[100], qvel0[100], act0[100], param[10];
} Sums;

static void openCase(Case* c) {
  static const char* const names[NPARAM] = {"body/#1/mass", "contact/stiffness"};
  djRng rng = {6};
  djError err;
  *c = (Case){0};
  c->m = movingPile(&c->d, 3);
  assert_int_equal(dj_copyModel(&c->smooth, c->m, &err), DJ_OK);
  djOption option = c->smooth->opt;
  option.support_scale = 8;
  option.friction_eps = 1e-3;
  assert_int_equal(dj_setOption(c->smooth, &option, &err), DJ_OK);
  assert_int_equal(dj_makeData(&c->other, c->smooth, &err), DJ_OK);
  assert_int_equal(djd_makeTape(&c->tape, c->m, HORIZON, &err), DJ_OK);
  assert_int_equal(djd_makeTape(&c->along, c->smooth, HORIZON, &err), DJ_OK);
  const djModel* m = c->m;
  assert_true((HORIZON + 1) * dj_tangentSize(m) <= MAX && m->nu > 0);
  memcpy(c->q0, c->d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(c->v0, c->d->qvel, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < HORIZON * m->nu; i++) c->u[i] = djt_uniform(&rng, -1, 1);
  for (int i = 0; i < MAX; i++) c->dstate[i] = djt_uniform(&rng, -1, 1);
  for (int i = 0; i < MAX; i++) c->dctrl[i] = djt_uniform(&rng, -1, 1);
  for (int i = 0; i < NPARAM; i++) assert_true(dj_paramId(&c->param[i], m, names[i], &err) >= 0);
  c->r = (djRollout){.horizon = HORIZON, .ctrl = c->u, .qpos0 = c->q0, .qvel0 = c->v0};
}

static void closeCase(Case* c) {
  djd_deleteTape(c->tape);
  djd_deleteTape(c->along);
  dj_deleteData(c->d);
  djt_delete(c->m, c->other);
  dj_deleteModel(c->smooth);
}

static void forward(Case* c, const djTape* along, int checkpoint) {
  djRolloutResult result = {0};
  djRollout r = c->r;
  r.along = along;
  r.checkpoint = checkpoint;
  const djModel* m = along ? c->smooth : c->m;
  djTape* tape = along ? c->along : c->tape;
  assert_true(djd_rolloutForward(&result, m, along ? c->other : c->d, &r, tape) >= 0);
  assert_int_equal(djd_setCotangents(tape, m, c->dstate, c->dctrl), DJ_OK);
}

static void backward(Sums* s, Case* c, const djTape* along, int checkpoint) {
  djRollout r = c->r;
  r.along = along;
  r.checkpoint = checkpoint;
  *s = (Sums){.result = {.nparam = NPARAM, .param = c->param}};
  s->result.grad_ctrl = s->ctrl;
  s->result.grad_qpos0 = s->qpos0;
  s->result.grad_qvel0 = s->qvel0;
  s->result.grad_act0 = s->act0;
  s->result.grad_param = s->param;
  const djModel* m = along ? c->smooth : c->m;
  djTape* tape = along ? c->along : c->tape;
  djData* d = along ? c->other : c->d;
  assert_int_equal(djd_rolloutBackward(&s->result, m, d, &r, tape), DJ_OK);
}

static void sameSums(const Sums* a, const Sums* b) {
  assert_memory_equal(a->ctrl, b->ctrl, sizeof *a - offsetof(Sums, ctrl));
}

// Along its own run a model has its own gradient, to the last bit.
static void testOwn(void) {
  Case c;
  Sums whole, other;
  openCase(&c);
  dj_deleteModel(c.smooth);
  assert_int_equal(dj_copyModel(&c.smooth, c.m, NULL), DJ_OK);
  dj_deleteData(c.other);
  assert_int_equal(dj_makeData(&c.other, c.smooth, NULL), DJ_OK);
  forward(&c, NULL, 0);
  backward(&whole, &c, NULL, 0);
  for (int checkpoint = 0; checkpoint < 8; checkpoint += 3) {
    forward(&c, c.tape, checkpoint);
    backward(&other, &c, c.tape, checkpoint);
    sameSums(&other, &whole);
  }
  closeCase(&c);
}

// lambda_t = A_t^T lambda_{t+1} + dL/dx_t, by matrices of the smooth model's steps from the states of
// the run; by a parameter the sum of lambda_{t+1} . dx/dp, by differences of these steps.
static void testChain(void) {
  Case c;
  Sums sums, again;
  openCase(&c);
  forward(&c, NULL, 0);
  forward(&c, c.tape, 0);
  backward(&sums, &c, c.tape, 0);
  backward(&again, &c, c.tape, 0);
  sameSums(&again, &sums);
  forward(&c, c.tape, 4);
  backward(&again, &c, c.tape, 4);
  sameSums(&again, &sums);

  const djModel* m = c.smooth;
  int nx = dj_tangentSize(m), nq = m->nq, nv = m->nv, na = m->na, nu = m->nu;
  double *q = calloc((HORIZON + 1) * (size_t)nq, sizeof *q),
         *v = calloc((HORIZON + 1) * (size_t)nv, sizeof *v),
         *act = calloc((HORIZON + 1) * (size_t)na + 1, sizeof *act),
         *q2 = calloc((HORIZON + 1) * (size_t)nq, sizeof *q);
  assert_int_equal(djd_tapeStates(q, v, act, c.m, c.tape), DJ_OK);
  assert_int_equal(djd_tapeStates(q2, NULL, NULL, m, c.along), DJ_OK);
  assert_memory_equal(q, q2, (HORIZON + 1) * (size_t)nq * sizeof *q);
  double *A = calloc((size_t)(nx * nx), sizeof *A), *B = calloc((size_t)(nx * nu), sizeof *B);
  double lambda[200], next[200], by_mass = 0;
  djData* d = c.other;
  memcpy(lambda, c.dstate + HORIZON * nx, (size_t)nx * sizeof *lambda);
  for (int k = HORIZON - 1; k >= 0; k--) {
    double after[2][200], diff[200];
    djModel* moved = djt_copy(m);
    for (int side = 1; side >= 0; side--) {   // the second leaves data at the start of the step
      double mass = m->body_mass[1] * (1 + (side ? 1e-5 : -1e-5));
      assert_int_equal(dj_setParam(moved, &c.param[0], &mass, NULL), DJ_OK);
      memcpy(d->qpos, q + k * nq, (size_t)nq * sizeof *q);
      memcpy(d->qvel, v + k * nv, (size_t)nv * sizeof *v);
      memcpy(d->act, act + k * na, (size_t)na * sizeof *act);
      memcpy(d->ctrl, c.u + k * nu, (size_t)nu * sizeof *d->ctrl);
      assert_true(dj_step(moved, d) >= 0);
      memcpy(after[side], d->qpos, (size_t)nq * sizeof *q);
      memcpy(after[side] + nq, d->qvel, (size_t)nv * sizeof *v);
    }
    dj_differentiatePos(diff, m, 1, after[0], after[1]);
    for (int i = 0; i < nv; i++) {
      double speed = after[1][nq + i] - after[0][nq + i];
      by_mass += (lambda[i] * diff[i] + lambda[nv + i] * speed) / (2e-5 * m->body_mass[1]);
    }
    dj_deleteModel(moved);
    memcpy(d->qpos, q + k * nq, (size_t)nq * sizeof *q);
    memcpy(d->qvel, v + k * nv, (size_t)nv * sizeof *v);
    memcpy(d->act, act + k * na, (size_t)na * sizeof *act);
    assert_true(djd_transition(m, d, A, B) >= 0);
    for (int i = 0; i < nx; i++) {
      next[i] = c.dstate[k * nx + i];
      for (int j = 0; j < nx; j++) next[i] += A[j * nx + i] * lambda[j];
    }
    for (int i = 0; i < nu; i++) {
      double du = c.dctrl[k * nu + i];
      for (int j = 0; j < nx; j++) du += B[j * nu + i] * lambda[j];
      assert_true(fabs(du - sums.ctrl[k * nu + i]) <= 1e-9 * (1 + fabs(du)));
    }
    memcpy(lambda, next, sizeof lambda);
  }
  for (int i = 0; i < nv; i++) {
    assert_true(fabs(lambda[i] - sums.qpos0[i]) <= 1e-8 * (1 + fabs(lambda[i])));
    assert_true(fabs(lambda[nv + i] - sums.qvel0[i]) <= 1e-8 * (1 + fabs(lambda[nv + i])));
  }
  print_message("by a mass: %.10g, by differences %.10g\n", sums.param[0], by_mass);
  assert_true(by_mass != 0 && fabs(by_mass - sums.param[0]) <= 1e-5 * fabs(by_mass));
  assert_true(sums.param[1] != 0);   // by contact's stiffness
  free(q);
  free(v);
  free(act);
  free(q2);
  free(A);
  free(B);
  closeCase(&c);
}

static void refused(Case* c, const djModel* m, djData* d, const char* text, djStatus status) {
  djRolloutResult result = {0};
  djRollout r = c->r;
  r.along = c->tape;
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, c->along), status);
  assert_string_equal(dj_errorText(d), text);
}

static void testRefusals(void) {
  Case c;
  djHessian* h;
  djError err;
  openCase(&c);
  refused(&c, c.smooth, c.other, "along: holds no run of 25 steps of a model of these sizes",
          DJ_INVALID);
  forward(&c, NULL, 0);
  forward(&c, c.tape, 0);
  assert_int_equal(djd_makeHessian(&h, c.smooth, HORIZON, &err), DJ_OK);
  djVariation along = {.qvel0 = c.v0}, product = {0};
  djRollout r = c.r;
  r.along = c.tape;
  assert_int_equal(djd_rolloutHvp(&product, &along, c.smooth, c.other, &r, c.along, h),
                   DJ_UNSUPPORTED);
  assert_string_equal(dj_errorText(c.other), "along: first derivatives by adjoints alone");
  djd_deleteHessian(h);
  djTape* tape = c.along;
  c.along = c.tape;
  refused(&c, c.m, c.d, "along: it must be another tape", DJ_INVALID);
  c.along = tape;
  djModel* late = djt_copy(c.smooth);
  djOption option = late->opt;
  option.integrator = DJ_BDF2;
  assert_int_equal(dj_setOption(late, &option, &err), DJ_OK);
  djData* d = djt_data(late);
  djd_deleteTape(c.along);
  assert_int_equal(djd_makeTape(&c.along, late, HORIZON, &err), DJ_OK);
  refused(&c, late, d, "along: not with an integrator that keeps a history", DJ_UNSUPPORTED);
  djt_delete(late, d);
  closeCase(&c);
}

DJT_MAIN(testOwn, testChain, testRefusals)
