// Gradients of losses over rollouts without contact, against extrapolated differences.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/random_terms.h"
#include "common/test.h"
#include "common/worst.h"

#define HORIZON 12

typedef struct Case {
  djModel* m;
  djData* d;
  djTape* tape;
  djRollout r;
  djRolloutResult result;
  djLossTerm term[12];
  double *q0, *v0, *a0, *u, *memory;
} Case;

static double callback(void* user, const djModel* m, int horizon, const double* qpos,
                       const double* qvel, const double* act, const double* ctrl, double* dstate,
                       double* dctrl) {
  (void)user;
  (void)qpos;
  (void)act;
  int nx = dj_tangentSize(m);
  double sum = 0;
  for (int k = 0; k <= horizon; k++) {
    double v = qvel[(size_t)k * m->nv];
    sum += 0.1 * v * v * v;
    dstate[(size_t)k * nx + m->nv] += 0.3 * v * v;
  }
  for (int i = 0; i < horizon * m->nu; i++) {
    sum += sin(ctrl[i]);
    dctrl[i] += cos(ctrl[i]);
  }
  return sum;
}

static void makeCase(Case* c, djRng* rng, int features) {
  memset(c, 0, sizeof(*c));
  c->m = djt_randomModel(rng, 1 + djt_integer(rng, 5), features);
  djt_dropPathArmature(c->m);
  djt_dropRows(c->m);
  djOption option = c->m->opt;
  option.timestep = 0.01;
  djError err;
  assert_int_equal(dj_setOption(c->m, &option, &err), DJ_OK);
  assert_int_equal(dj_makeData(&c->d, c->m, &err), DJ_OK);
  assert_int_equal(djd_makeTape(&c->tape, c->m, HORIZON, &err), DJ_OK);
  djt_randomState(rng, c->m, c->d, 1);
  size_t nq = c->m->nq, nv = c->m->nv, na = c->m->na, nu = c->m->nu;
  c->memory = calloc(nq + 3 * nv + 2 * na + 2 * HORIZON * nu + 1, sizeof(double));
  c->q0 = c->memory;
  c->v0 = c->q0 + nq;
  c->a0 = c->v0 + nv;
  c->u = c->a0 + na;
  c->result.grad_qpos0 = c->u + HORIZON * nu;
  c->result.grad_qvel0 = c->result.grad_qpos0 + nv;
  c->result.grad_act0 = c->result.grad_qvel0 + nv;
  c->result.grad_ctrl = c->result.grad_act0 + na;
  memcpy(c->q0, c->d->qpos, nq * sizeof(double));
  memcpy(c->v0, c->d->qvel, nv * sizeof(double));
  memcpy(c->a0, c->d->act, na * sizeof(double));
  for (size_t i = 0; i < HORIZON * nu; i++) c->u[i] = djt_uniform(rng, -1, 1);
  c->r = (djRollout){.horizon = HORIZON,
                     .qpos0 = c->q0,
                     .qvel0 = c->v0,
                     .act0 = c->a0,
                     .ctrl = c->u,
                     .refinement_steps = 5,
                     .callback = callback};
  c->r.nloss = djt_randomTerms(c->term, c->m, rng, HORIZON, false);
  c->r.loss = c->term;
}

static void freeCase(Case* c) {
  djd_deleteTape(c->tape);
  djt_delete(c->m, c->d);
  free(c->memory);
}

// Loss with q0, v0, a0 and u moved by s along a direction (nv + nv + na + horizon nu).
static double lossAt(Case* c, const double* dir, double s) {
  size_t nq = c->m->nq, nv = c->m->nv, na = c->m->na, nu = c->m->nu;
  double* mem = calloc(nq + nv + na + HORIZON * nu + 1, sizeof(double));
  double *q = mem, *v = q + nq, *a = v + nv, *u = a + na;
  dj_integratePos(q, c->m, c->q0, dir, s);
  for (size_t i = 0; i < nv; i++) v[i] = c->v0[i] + s * dir[nv + i];
  for (size_t i = 0; i < na; i++) a[i] = c->a0[i] + s * dir[2 * nv + i];
  for (size_t i = 0; i < HORIZON * nu; i++) u[i] = c->u[i] + s * dir[2 * nv + na + i];
  djRollout r = c->r;
  r.qpos0 = q;
  r.qvel0 = v;
  r.act0 = a;
  r.ctrl = u;
  r.loss_only = true;
  djRolloutResult result = {0};
  assert_int_equal(djd_rolloutForward(&result, c->m, c->d, &r, c->tape), DJ_OK);
  free(mem);
  return result.loss;
}

static void testGradient(void) {
  djRng rng = {11};
  double worst = 0;
  for (int trial = 0; trial < 30; trial++) {
    Case c;
    makeCase(&c, &rng, DJT_ALL | DJT_TOTAL);
    size_t nv = c.m->nv, na = c.m->na, nu = c.m->nu, n = 2 * nv + na + HORIZON * nu;
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    double loss = c.result.loss;
    assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    double* dir = calloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) dir[i] = djt_uniform(&rng, -1, 1);
    double analytic = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
      double g = c.result.grad_qpos0[i];   // the four gradients are one block
      analytic += g * dir[i];
      size += fabs(g * dir[i]);
    }
    double s = 1e-4;
    double fd = (8 * (lossAt(&c, dir, s) - lossAt(&c, dir, -s)) -
                 (lossAt(&c, dir, 2 * s) - lossAt(&c, dir, -2 * s))) / (12 * s);
    assert_true(fabs(lossAt(&c, dir, 0) - loss) <= 1e-10 * fabs(loss));
    worst = djt_worst(worst, fabs(fd - analytic) / fmax(1e-9 * loss, size));
    free(dir);
    freeCase(&c);
  }
  djt_below("rollout gradient", worst, 1e-6);
}

static void checkBytes(const double* x, const double* y, size_t n) {
  assert_memory_equal(x, y, n * sizeof(double));
}

// Cotangents worked out from the recorded trajectory give what the callback gives, to the last bit,
// and may be replaced or dropped without another forward pass.
static void testCotangents(void) {
  djRng rng = {13};
  for (int trial = 0; trial < 10; trial++) {
    Case c;
    makeCase(&c, &rng, DJT_ALL);
    size_t nq = c.m->nq, nv = c.m->nv, na = c.m->na, nu = c.m->nu, nx = 2 * nv + na;
    size_t n = nx + HORIZON * nu, rows = HORIZON + 1;
    double* block = c.result.grad_qpos0;   // the four gradients are one block
    double* mem = calloc(3 * n + rows * (nq + nv + na + nx) + HORIZON * nu, sizeof(double));
    double *with = mem, *without = with + n, *zero = without + n, *qpos = zero + n;
    double *qvel = qpos + rows * nq, *act = qvel + rows * nv, *dstate = act + rows * na;
    double* dctrl = dstate + rows * nx;
    assert_int_equal(djd_tapeStates(qpos, qvel, act, c.m, c.tape), DJ_INVALID);
    assert_int_equal(djd_setCotangents(c.tape, c.m, dstate, dctrl), DJ_INVALID);
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    memcpy(with, block, n * sizeof(double));
    // A second run leaves nothing of the first.
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    checkBytes(block, with, n);

    c.r.callback = NULL;
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    memcpy(without, block, n * sizeof(double));
    assert_true(memcmp(with, without, n * sizeof(double)) != 0);
    assert_int_equal(djd_tapeStates(qpos, qvel, act, c.m, c.tape), DJ_OK);
    assert_int_equal(djd_tapeStates(NULL, NULL, NULL, c.m, c.tape), DJ_OK);
    checkBytes(qvel, c.v0, nv);
    checkBytes(qpos + HORIZON * nq, c.d->qpos, nq);
    checkBytes(qvel + HORIZON * nv, c.d->qvel, nv);
    checkBytes(act + HORIZON * na, c.d->act, na);
    callback(NULL, c.m, HORIZON, qpos, qvel, act, c.u, dstate, dctrl);
    for (int turn = 0; turn < 2; turn++) {
      assert_int_equal(djd_setCotangents(c.tape, c.m, dstate, dctrl), DJ_OK);
      assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
      checkBytes(block, with, n);
      assert_int_equal(djd_setCotangents(c.tape, c.m, NULL, NULL), DJ_OK);
      assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
      checkBytes(block, without, n);
    }
    // Gradients are linear in them, those of states and of controls apart.
    double* doubled = calloc(rows * nx + HORIZON * nu, sizeof(double));
    for (size_t i = 0; i < rows * nx; i++) doubled[i] = 2 * dstate[i];
    for (int part = 0; part < 2; part++) {
      const double *x = part ? NULL : doubled, *u = part ? dctrl : NULL;
      assert_int_equal(djd_setCotangents(c.tape, c.m, x, u), DJ_OK);
      assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
      for (size_t i = 0; i < n; i++) zero[i] += (block[i] - without[i]) / (part ? 1 : 2);
    }
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(with[i]) + fabs(without[i]));
    for (size_t i = 0; i < n; i++) {
      assert_true(fabs(zero[i] + without[i] - with[i]) < 1e-11 * size);
    }
    free(doubled);
    // The next run forgets them; one without linearisation still has its states.
    assert_int_equal(djd_setCotangents(c.tape, c.m, dstate, NULL), DJ_OK);
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    checkBytes(block, without, n);
    c.r.loss_only = true;
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
    memset(qpos, 0, rows * nq * sizeof(double));
    assert_int_equal(djd_tapeStates(qpos, NULL, NULL, c.m, c.tape), DJ_OK);
    checkBytes(qpos + HORIZON * nq, c.d->qpos, nq);
    c.v0[0] = NAN;   // refused before anything is recorded: the old run is still there
    assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_INVALID);
    assert_int_equal(djd_tapeStates(qpos, NULL, NULL, c.m, c.tape), DJ_OK);
    free(mem);
    freeCase(&c);
  }
}

// A run may start from data's own state, and goes on from there; without one, from the model's.
static void testStart(void) {
  djRng rng = {15};
  for (int trial = 0; trial < 20; trial++) {
    Case c;
    makeCase(&c, &rng, DJT_ALL);
    size_t nq = c.m->nq, nv = c.m->nv, na = c.m->na;
    djRolloutResult result = {0};
    for (int given = 0; given < 2; given++) {
      if (!given) {
        c.r.qpos0 = c.m->qpos0;
        memset(c.v0, 0, nv * sizeof(double));
        memset(c.a0, 0, na * sizeof(double));
      }
      assert_int_equal(djd_rolloutForward(&result, c.m, c.d, &c.r, c.tape), DJ_OK);
      double loss = result.loss;
      djRollout r = c.r;
      memcpy(c.d->qpos, c.r.qpos0, nq * sizeof(double));
      memcpy(c.d->qvel, c.v0, nv * sizeof(double));
      memcpy(c.d->act, c.a0, na * sizeof(double));
      r.qpos0 = given ? c.d->qpos : NULL;
      r.qvel0 = given ? c.d->qvel : NULL;
      r.act0 = given ? c.d->act : NULL;
      assert_int_equal(djd_rolloutForward(&result, c.m, c.d, &r, c.tape), DJ_OK);
      assert_true(result.loss == loss);
      djt_randomState(&rng, c.m, c.d, 1);
      memcpy(c.q0, c.d->qpos, nq * sizeof(double));
      memcpy(c.v0, c.d->qvel, nv * sizeof(double));
      memcpy(c.a0, c.d->act, na * sizeof(double));
      c.r.qpos0 = c.q0;
    }
    freeCase(&c);
  }
}

static void testMisuse(void) {
  djRng rng = {12};
  Case c;
  makeCase(&c, &rng, DJT_ALL);
  djRollout r = c.r;
  assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_INVALID);
  r.horizon = HORIZON + 1;
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &r, c.tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(c.d), "horizon"));
  r = c.r;
  djLossTerm bad = c.term[0];
  bad.id = 1000;
  r.loss = &bad;
  r.nloss = 1;
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &r, c.tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(c.d), "loss[0]"));
  c.q0[0] = NAN;
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(c.d), "qpos[0]"));
  freeCase(&c);
}

// A tape serves every integrator; and without actuators there are no controls.
static void testOtherModels(void) {
  djRng rng = {17};
  Case c;
  djError err;
  makeCase(&c, &rng, DJT_ALL);
  djOption option = c.m->opt;
  option.integrator = DJ_VARIATIONAL;
  assert_int_equal(dj_setOption(c.m, &option, &err), DJ_OK);
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
  option.integrator = DJ_POSITION;
  assert_int_equal(dj_setOption(c.m, &option, &err), DJ_OK);
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
  // Parameters that are none.
  djParam none = {.field = 9999};
  double grad[9];
  c.result.nparam = 1;
  c.result.grad_param = grad;
  assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_INVALID);
  assert_string_equal(dj_errorText(c.d), "param: missing");
  c.result.param = &none;
  assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_INVALID);
  assert_string_equal(dj_errorText(c.d), "param[0]: not a parameter of this model");
  freeCase(&c);
  makeCase(&c, &rng, 0);
  assert_int_equal(c.m->nu, 0);
  c.r.ctrl = NULL;
  c.r.callback = NULL;
  c.result.grad_ctrl = NULL;
  assert_int_equal(djd_rolloutForward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&c.result, c.m, c.d, &c.r, c.tape), DJ_OK);
  freeCase(&c);
}

DJT_MAIN(testGradient, testCotangents, testStart, testMisuse, testOtherModels)
