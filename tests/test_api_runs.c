// Runs through the public interface: copies, resets and states; threads; derivatives of a step in
// contact; rollouts; momentum of free collisions.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"

#include <pthread.h>

enum { STEPS = 60 };

static void run(const djModel* m, djData* d, int steps) {
  for (int k = 0; k < steps; k++) assert_true(dj_step(m, d) >= 0);
}

// ---- copies and states ------------------------------------------------------------------------

static void testCopyContinues(void) {
  djData *d, *c;
  djModel* m = movingPile(&d, 4);
  c = sceneData(m);
  for (int k = 0; k < 3 * STEPS; k++) {
    if (k % 25 == 0) {
      assert_int_equal(dj_copyData(c, m, d), DJ_OK);
      assert_string_equal(dj_errorText(c), dj_errorText(d));
    }
    assert_true(sameData(m, c, d));
    djStatus status = dj_step(m, d);
    assert_true(status >= 0);
    assert_int_equal(dj_step(m, c), status);
  }
  assert_true(d->npair > 0);
  dj_deleteData(c);
  djt_delete(m, d);
}

// Whatever was in the data before: its wide margins after a wild run, and its last error.
static void testCopyReplaces(void) {
  djData *d, *wild;
  djModel* m = movingPile(&d, 4);
  wild = sceneData(m);
  run(m, d, STEPS);
  for (int k = 0; k < 5; k++) {
    assert_int_equal(dj_resetData(m, wild), DJ_OK);
    for (int i = 0; i < m->nv; i++) wild->qvel[i] = 300 * (i % 2 ? 1 : -1);
    run(m, wild, 3);
    wild->time = NAN;
    assert_int_equal(dj_step(m, wild), DJ_INVALID);
    assert_int_equal(dj_copyData(wild, m, d), DJ_OK);
    assert_string_equal(dj_errorText(wild), "");
    for (int i = 0; i < STEPS; i++) {
      assert_true(sameData(m, wild, d));
      assert_int_equal(dj_step(m, d), dj_step(m, wild));
    }
  }
  assert_true(d->npair > 0);
  dj_deleteData(wild);
  djt_delete(m, d);
}

static void testStatesRepeat(void) {
  djData* d;
  djModel* m = movingPile(&d, 4);
  djData* other = sceneData(m);
  int n = dj_stateSize(m);
  assert_int_equal(n, 1 + m->nq + m->nv + m->na);
  double *x = calloc(3 * (size_t)n, sizeof(double)), *y = x + n, *z = y + n;
  run(m, d, STEPS);
  memcpy(other->ctrl, d->ctrl, (size_t)m->nu * sizeof(double));
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  for (int k = 0; k < 3; k++) {
    djData* now = k < 2 ? d : other;   // twice in one data, once in another
    assert_int_equal(dj_setState(now, m, x), DJ_OK);
    assert_int_equal(dj_getState(z, m, now), DJ_OK);
    assert_memory_equal(x, z, (size_t)n * sizeof(double));
    run(m, now, STEPS);
    assert_int_equal(dj_getState(k == 0 ? y : z, m, now), DJ_OK);
    if (k > 0) assert_memory_equal(y, z, (size_t)n * sizeof(double));
  }
  assert_int_equal(dj_resetData(m, d), DJ_OK);
  djData* fresh = sceneData(m);
  assert_true(sameData(m, d, fresh));
  run(m, d, STEPS);
  run(m, fresh, STEPS);
  assert_true(sameData(m, d, fresh));
  free(x);
  dj_deleteData(fresh);
  dj_deleteData(other);
  djt_delete(m, d);
}

// What happens to copies of a model changes no run of the model.
static void testCopiesOfModel(void) {
  djData *d, *quiet;
  djModel* m = movingPile(&d, 3);
  djModel* again = movingPile(&quiet, 3);
  djError err;
  for (int k = 0; k < STEPS; k++) {
    djModel* copy = djt_copy(m);
    djOption option = copy->opt;
    option.gravity[2] = -1;
    option.support = 1e-3;
    assert_int_equal(dj_setOption(copy, &option, &err), DJ_OK);
    double mass = 7, size[3] = {0.2, 0.1, 0.1};
    djParam param = djt_param(copy, "body/#1/mass");
    assert_int_equal(dj_setParam(copy, &param, &mass, &err), DJ_OK);
    assert_int_equal(dj_paramId(&param, copy, "geom/#2/size", &err), DJ_OK);
    assert_int_equal(dj_setParam(copy, &param, size, &err), DJ_OK);
    djData* other = sceneData(copy);
    run(copy, other, 2);
    run(m, d, 1);
    run(again, quiet, 1);
    assert_true(sameData(m, d, quiet));
    djt_delete(copy, other);
  }
  djt_delete(again, quiet);
  djt_delete(m, d);
}

// ---- threads ----------------------------------------------------------------------------------

typedef struct Job {
  const djModel* model;
  djData* data;
  int unfinished;
} Job;

static void* runJob(void* user) {
  Job* job = user;
  for (int k = 0; k < 2 * STEPS; k++) job->unfinished += dj_step(job->model, job->data) < 0;
  size_t nx = 2 * (size_t)job->model->nv + job->model->na;
  double* A = malloc(nx * nx * sizeof(double));
  job->unfinished += djd_transition(job->model, job->data, A, NULL) < 0;
  free(A);
  return NULL;
}

static void testThreads(void) {
  enum { N = 4 };
  Job job[N + 1] = {{0}};
  pthread_t thread[N];
  djModel* m = movingPile(&job[0].data, 4);
  for (int i = 0; i <= N; i++) {
    job[i].model = m;
    if (i == 0) continue;
    job[i].data = sceneData(m);
    assert_int_equal(dj_copyData(job[i].data, m, job[0].data), DJ_OK);
  }
  for (int i = 0; i < N; i++) {
    assert_int_equal(pthread_create(thread + i, NULL, runJob, job + i), 0);
  }
  for (int i = 0; i < N; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
  runJob(&job[N]);
  for (int i = 0; i <= N; i++) {
    assert_int_equal(job[i].unfinished, 0);
    assert_true(sameData(m, job[i].data, job[N].data));
  }
  assert_true(job[0].data->npair > 0);
  for (int i = 0; i <= N; i++) dj_deleteData(job[i].data);
  dj_deleteModel(m);
}

// ---- derivatives of a step --------------------------------------------------------------------

static void testTransitionLeavesData(void) {
  djData* d;
  djModel* m = movingPile(&d, 4);
  djData *twin = sceneData(m), *kept = sceneData(m);
  size_t nx = 2 * (size_t)m->nv + m->na, na = nx * nx, nb = nx * m->nu;
  double *A = malloc(4 * (na + nb) * sizeof(double)), *B = A + na;
  double *A2 = B + nb, *B2 = A2 + na, *A3 = B2 + nb, *B3 = A3 + na;
  int touching = 0;
  double worst = 0;
  for (int k = 0; k < 2 * STEPS; k++) {
    assert_int_equal(dj_copyData(twin, m, d), DJ_OK);
    assert_int_equal(dj_copyData(kept, m, d), DJ_OK);
    assert_true(djd_transition(m, d, A, B) >= 0);
    assert_true(sameData(m, d, kept));
    assert_true(dj_step(m, twin) >= 0);
    assert_true(djd_lastTransition(m, twin, A2, B2) >= 0);
    worst = djt_worst(worst, djt_relative(A, A2, (int)(na + nb))); // another start of the kernels
    assert_int_equal(dj_copyData(kept, m, twin), DJ_OK);
    assert_true(djd_lastTransition(m, twin, A3, NULL) >= 0);
    assert_true(djd_lastTransition(m, twin, NULL, B3) >= 0);
    assert_memory_equal(A2, A3, na * sizeof(double));
    assert_memory_equal(B2, B3, nb * sizeof(double));
    assert_true(sameData(m, twin, kept));
    assert_int_equal(dj_copyData(d, m, twin), DJ_OK);
    touching += d->npair > 0;
  }
  print_message("transitions %.1e\n", worst);
  assert_true(touching > STEPS);
  assert_true(worst < 1e-9);
  free(A);
  dj_deleteData(kept);
  dj_deleteData(twin);
  djt_delete(m, d);
}

// lambda . (A dx + B du) = (A^T lambda) . dx + (B^T lambda) . du, and both agree with A and B.
static void testAdjoint(void) {
  djData* d;
  djModel* m = movingPile(&d, 3);
  djRng rng = {5};
  int nx = dj_tangentSize(m), nu = m->nu;
  double* A = calloc((size_t)(nx * nx + nx * nu + 5 * nx + 2 * nu), sizeof(double));
  double *B = A + nx * nx, *dx = B + nx * nu, *y = dx + nx, *l = y + nx, *gx = l + nx;
  double *product = gx + nx, *du = product + nx, *gu = du + nu, worst = 0;
  for (int k = 0; k < STEPS; k++) {
    run(m, d, 2);
    for (int i = 0; i < nx; i++) dx[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nx; i++) l[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nu; i++) du[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nx; i++) gx[i] = 0;
    for (int i = 0; i < nu; i++) gu[i] = 0;
    assert_int_equal(djd_stepJvp(m, d, y, dx, du), DJ_OK);
    assert_int_equal(djd_stepVjp(m, d, gx, gu, l), DJ_OK);
    assert_int_equal(djd_lastTransition(m, d, A, B), DJ_OK);
    double scale = 0;
    for (int i = 0; i < nx; i++) {
      product[i] = djt_dot(A + i * nx, dx, nx) + djt_dot(B + i * nu, du, nu);
      for (int j = 0; j < nx; j++) scale += fabs(l[i] * A[i * nx + j] * dx[j]);
    }
    double one = djt_dot(l, y, nx), two = djt_dot(gx, dx, nx) + djt_dot(gu, du, nu);
    worst = djt_worst(worst, fabs(one - two) / scale);
    worst = djt_worst(worst, fabs(one - djt_dot(l, product, nx)) / scale);
  }
  print_message("adjointness %.1e\n", worst);
  assert_true(d->npair > 0);
  assert_true(worst < 1e-11);
  free(A);
  djt_delete(m, d);
}

// ---- rollouts ---------------------------------------------------------------------------------

typedef struct Rollout {
  djModel* m;
  djData* d;
  djLossTerm term[3];
  double* ctrl;
  djRollout r;
  djRolloutResult result;
  double grad[64];       // by qpos0, qvel0, act0
} Rollout;

static void openRollout(Rollout* x, int horizon) {
  memset(x, 0, sizeof *x);
  x->m = movingPile(&x->d, 2);
  x->ctrl = calloc((size_t)horizon * x->m->nu, sizeof(double));
  for (int i = 0; i < horizon * x->m->nu; i++) x->ctrl[i] = sin(0.7 * i);
  djLossTerm t = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 1, .weight = 1.5,
                  .target = {1, 0.2, 0.3}};
  x->term[0] = x->term[1] = x->term[2] = t;
  x->term[1].type = DJ_LOSS_VELOCITY;
  x->term[1].when = DJ_WHEN_RUNNING;
  x->term[2].type = DJ_LOSS_COM;
  x->term[2].when = DJ_WHEN_STEP;
  x->term[2].step = (horizon + 1) / 2;
  x->r = (djRollout){.horizon = horizon, .ctrl = x->ctrl, .nloss = 3, .loss = x->term};
  int nv = x->m->nv;
  x->result.grad_qpos0 = x->grad;
  x->result.grad_qvel0 = x->grad + nv;
  x->result.grad_act0 = x->grad + 2 * nv;
}

static void closeRollout(Rollout* x) {
  free(x->ctrl);
  djt_delete(x->m, x->d);
}

// The gradient of a rollout is the chain of its steps' transitions, with the gradients of losses
// taken from rollouts of one step.
static void testRolloutChain(void) {
  enum { H = 40, MAX = 26 };
  Rollout x;
  openRollout(&x, H);
  djModel* m = x.m;
  int nx = dj_tangentSize(m), nu = m->nu;
  assert_true(nx <= MAX);
  double* start = calloc((size_t)(m->nq + m->nv), sizeof(double));
  memcpy(start, x.d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(start + m->nq, x.d->qvel, (size_t)m->nv * sizeof(double));
  x.r.qpos0 = start;
  x.r.qvel0 = start + m->nq;
  x.r.nloss = 1;   // at the end only
  double* grad_ctrl = calloc((size_t)H * nu, sizeof(double));
  x.result.grad_ctrl = grad_ctrl;
  djTape* tape;
  assert_int_equal(djd_makeTape(&tape, m, H, NULL), DJ_OK);
  assert_int_equal(djd_rolloutForward(&x.result, m, x.d, &x.r, tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&x.result, m, x.d, &x.r, tape), DJ_OK);
  assert_true(x.d->npair > 0);
  // dL/dx_H: the floating body's position moves the point one to one.
  double l[MAX] = {0}, next[MAX], A[MAX * MAX], B[MAX * 8];
  for (int k = 0; k < 3; k++) l[k] = 2 * 1.5 * (x.d->qpos[k] - x.term[0].target[k]);
  djData** at = calloc(H, sizeof *at);
  djData* d = sceneData(m);
  memcpy(d->qpos, x.r.qpos0, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, x.r.qvel0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < H; k++) {
    at[k] = sceneData(m);
    memcpy(d->ctrl, x.ctrl + k * nu, (size_t)nu * sizeof(double));
    assert_int_equal(dj_copyData(at[k], m, d), DJ_OK);
    run(m, d, 1);
  }
  double apart = djt_relative(d->qpos, x.d->qpos, m->nq);
  double worst = 0, size = 0;
  for (int k = H - 1; k >= 0; k--) {
    assert_int_equal(djd_transition(m, at[k], A, B), DJ_OK);
    for (int c = 0; c < nu; c++) {
      double g = 0;
      for (int r = 0; r < nx; r++) g += B[r * nu + c] * l[r];
      worst = djt_worst(worst, fabs(g - grad_ctrl[k * nu + c]));
      size = djt_worst(size, fabs(g));
    }
    for (int c = 0; c < nx; c++) {
      next[c] = 0;
      for (int r = 0; r < nx; r++) next[c] += A[r * nx + c] * l[r];
    }
    memcpy(l, next, sizeof l);
    dj_deleteData(at[k]);
  }
  double start_error = djt_relative(x.grad, l, nx);
  print_message("states %.1e, by controls %.1e, by the start %.1e\n", apart, worst / size,
                start_error);
  assert_true(apart < 1e-10);
  assert_true(worst < 1e-8 * size);
  assert_true(start_error < 1e-8);
  free(at);
  free(start);
  free(grad_ctrl);
  djd_deleteTape(tape);
  dj_deleteData(d);
  closeRollout(&x);
}

// One tape serves shorter and longer horizons again and again, with the same result; loss terms
// count at the steps at which they are due.
static void testTapeAgain(void) {
  enum { H = 20 };
  Rollout x;
  openRollout(&x, H);
  djTape* tape;
  double term[3], long_loss = 0, long_grad[64];
  x.result.term = term;
  assert_int_equal(djd_makeTape(&tape, x.m, H, NULL), DJ_OK);
  for (int k = 0; k < 3; k++) {
    x.r.horizon = H;
    x.term[2].step = 10;
    assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_OK);
    assert_int_equal(djd_rolloutBackward(&x.result, x.m, x.d, &x.r, tape), DJ_OK);
    if (k == 0) {
      long_loss = x.result.loss;
      memcpy(long_grad, x.grad, sizeof long_grad);
    }
    assert_true(x.result.loss == long_loss);
    assert_memory_equal(long_grad, x.grad, sizeof long_grad);
    x.r.horizon = 1;   // final, running and step 1 are the same state
    x.term[2] = x.term[0];
    x.term[2].when = DJ_WHEN_STEP;
    x.term[2].step = 1;
    assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_OK);
    assert_true(fabs(term[0] - term[2]) <= 1e-15 * term[0]);
    assert_true(fabs(x.result.loss - term[0] - term[1] - term[2]) <= 1e-14 * x.result.loss);
    assert_int_equal(djd_rolloutBackward(&x.result, x.m, x.d, &x.r, tape), DJ_OK);
    x.r.horizon = 2;   // not what the tape holds
    assert_int_equal(djd_rolloutBackward(&x.result, x.m, x.d, &x.r, tape), DJ_INVALID);
    x.term[2].type = DJ_LOSS_COM;
  }
  x.r.horizon = H;
  x.term[2].step = 10;
  x.r.loss_only = true;
  assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_OK);
  assert_true(fabs(x.result.loss - long_loss) <= 1e-10 * long_loss);
  assert_int_equal(djd_rolloutBackward(&x.result, x.m, x.d, &x.r, tape), DJ_INVALID);
  x.r.horizon = H + 1;
  assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_INVALID);
  x.r.horizon = H;
  x.term[0].object = DJ_OBJ_JOINT;
  assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_INVALID);
  x.term[0].object = DJ_OBJ_BODY;
  x.term[0].when = (djWhen)9;
  assert_int_equal(djd_rolloutForward(&x.result, x.m, x.d, &x.r, tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(x.d), "loss[0]: unknown value of when"));
  djd_deleteTape(tape);
  closeRollout(&x);
}

// ---- momentum ---------------------------------------------------------------------------------

// Linear momentum and angular momentum about the origin, from the step's displacements.
static void momentum(double p[6], const djModel* m, const djData* d) {
  memset(p, 0, 6 * sizeof(double));
  for (int b = 1; b < m->nbody; b++) {
    double mass = m->body_mass[b];
    const double *v = d->qvel + 6 * (b - 1), *x = d->qpos + 7 * (b - 1);
    double I = m->body_inertia[3 * b];   // of a ball: spin in world axes is xmat omega
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      p[k] += mass * v[k];
      p[3 + k] += mass * (x[i] * v[j] - x[j] * v[i]);
      for (int c = 0; c < 3; c++) p[3 + k] += I * d->xmat[9 * b + 3 * k + c] * v[3 + c];
    }
  }
}

// Two bodies that collide off centre, without gravity: largest change of both momenta.
static void collide(double change[2], double h, djArms arms) {
  Scene* s = newScene(2);
  s->def.option.gravity[2] = 0;
  s->def.option.timestep = h;
  s->def.option.friction_arms = arms;
  s->def.option.support = 2e-3;       // the same for every h
  s->def.option.friction_eps = 1e-4;
  s->def.option.tolerance = 1e-9;
  for (int i = 0; i < 2; i++) {
    addBody(s, 0, DJ_FREE, 0.25 * i, 0.05 * i, 0.03 * i, 1 + i, 0.1);
    addGeom(s, 1 + i, i ? DJ_BOX : DJ_SPHERE, 0.1, 0.1, 0.1);
  }
  djModel* m = sceneModel(s);
  djData* d = sceneData(m);
  d->qvel[0] = 1;
  d->qvel[5] = 2;
  double before[6], now[6];
  momentum(before, m, d);
  change[0] = change[1] = 0;
  int touched = 0;
  for (int k = 0; k * h < 0.2; k++) {
    assert_true(dj_step(m, d) >= 0);
    momentum(now, m, d);
    touched += d->ncontact > 0;
    for (int c = 0; c < 6; c++) change[c / 3] = fmax(change[c / 3], fabs(now[c] - before[c]));
    assert_true(d->ncontact <= 1);
  }
  assert_true(touched > 0);
  djt_delete(m, d);
  freeScene(s);
}

static void testMomentum(void) {
  double coarse[2], fine[2];
  collide(coarse, 1e-3, DJ_ARMS_PLANE);
  collide(fine, 1e-4, DJ_ARMS_PLANE);
  print_message("linear %.1e %.1e, angular %.1e %.1e\n", coarse[0], fine[0], coarse[1], fine[1]);
  assert_true(coarse[0] < 1e-8 && fine[0] < 1e-8);
  assert_true(fine[1] < 0.4 * coarse[1]);
  assert_true(coarse[1] < 5e-3);
}

// The force on a body is its change of momentum, and those of its geom pairs add up to it.
static void testContactForces(void) {
  djData* d;
  djModel* m = movingPile(&d, 3);
  djOption o = m->opt;
  o.tolerance = 1e-9;
  assert_int_equal(dj_setOption(m, &o, NULL), DJ_OK);
  memset(d->ctrl, 0, (size_t)m->nu * sizeof(double));
  double v[18], worst = 0, h = m->opt.timestep;
  int touching = 0;
  for (int k = 0; k < 2 * STEPS; k++) {
    memcpy(v, d->qvel, sizeof v);
    run(m, d, 1);
    double sum[4][3] = {{0}}, pairs[4][3] = {{0}};
    for (int c = 0; c < d->ncontact; c++) {
      const djContactForce* f = &d->contact[c];
      assert_true(f->body1 < f->body2);
      for (int i = 0; i < 3; i++) sum[f->body2][i] += f->force[i];
      for (int i = 0; i < 3; i++) sum[f->body1][i] -= f->force[i];
    }
    for (int c = 0; c < d->npair; c++) {
      const djContactPair* p = &d->pair[c];
      for (int i = 0; i < 3; i++) pairs[m->geom_body[p->geom2]][i] += p->force[i];
      for (int i = 0; i < 3; i++) pairs[m->geom_body[p->geom1]][i] -= p->force[i];
    }
    touching += d->ncontact > 0;
    for (int b = 1; b < 4; b++) {
      for (int i = 0; i < 3; i++) {
        double gravity = i == 2 ? -9.81 : 0;
        double f = (d->qvel[6 * (b - 1) + i] - v[6 * (b - 1) + i]) / h - gravity;
        worst = djt_worst(worst, fabs(f - sum[b][i]) / (1 + fabs(f)));
        worst = djt_worst(worst, fabs(pairs[b][i] - sum[b][i]) / (1 + fabs(f)));
      }
    }
  }
  print_message("forces %.1e\n", worst);
  assert_true(touching > 10);
  assert_true(worst < 1e-5);
  djt_delete(m, d);
}

// A data goes on while its model's geom grows into the floor, with nothing else that moves it: it
// is found there and pushed out.
static void testGrownGeom(void) {
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 3, 1, 0.1), DJ_SPHERE, 0.1, 0, 0);
  s->def.option.gravity[2] = 0;
  djError err;
  djModel* m = djt_makeModel(&s->def);
  djData* d = sceneData(m);
  run(m, d, 5);
  double size[3] = {3.01, 0, 0};
  djParam param = djt_param(m, "geom/#1/size");
  assert_int_equal(dj_setParam(m, &param, size, &err), DJ_OK);
  run(m, d, 1000);
  assert_true(d->qpos[2] > 3.005);
  djt_delete(m, d);
  freeScene(s);
}

DJT_MAIN(testCopyContinues, testCopyReplaces, testStatesRepeat, testCopiesOfModel, testThreads,
         testTransitionLeavesData, testAdjoint, testRolloutChain, testTapeAgain, testMomentum,
         testContactForces, testGrownGeom)
