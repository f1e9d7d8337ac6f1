// Physics from outside, by one of a few lines: a mass on a slide whose velocity goes by
// v+ = v + h (u - v^3)/mass, q+ = q + h v+, with adjoints of its own or by matrices.

#include "integrate/outside.h"

#include "gradient/loss.h"
#include "common/make_model.h"
#include "common/room.h"
#include "common/test.h"
#include "scene/physics.h"

#include <dijoco/gradient.h>
#include <dijoco/io.h>

typedef struct Toy {
  double mass, h;
  int* alive;
  bool refuses;           // options and parameters
} Toy;

typedef struct ToyData {
  double sum;             // by mass
  int nparam;
  int* alive;
} ToyData;

static djStatus say(djError* err, djStatus status, const char* text) {
  if (err) snprintf(err->text, sizeof(err->text), "%s", text);
  return status;
}

static Toy* makeToy(int* alive) {
  Toy* toy = calloc(1, sizeof(*toy));
  assert_non_null(toy);
  toy->alive = alive;
  ++*alive;
  return toy;
}

static djStatus copyToy(void** copy, const void* own, djError* err) {
  (void)err;
  const Toy* from = own;
  Toy* to = makeToy(from->alive);
  *to = *from;
  *copy = to;
  return DJ_OK;
}

static void deleteToy(void* own) {
  --*((Toy*)own)->alive;
  free(own);
}

static djStatus chooseToy(void* own, const djModel* m, djError* err) {
  Toy* toy = own;
  if (toy->refuses) return say(err, DJ_UNSUPPORTED, "toy: options");
  toy->mass = m->body_mass[1];
  toy->h = m->opt.timestep;
  return DJ_OK;
}

static djStatus setToy(void* own, const djModel* m, const djParam* param, djError* err) {
  (void)param;
  Toy* toy = own;
  if (toy->refuses) return say(err, DJ_UNSUPPORTED, "toy: parameter");
  toy->mass = m->body_mass[1];
  return DJ_OK;
}

static djStatus makeToyData(void** data, const void* own, djError* err) {
  (void)err;
  ToyData* d = calloc(1, sizeof(*d));
  assert_non_null(d);
  d->alive = ((const Toy*)own)->alive;
  ++*d->alive;
  *data = d;
  return DJ_OK;
}

static void deleteToyData(void* data) {
  --*((ToyData*)data)->alive;
  free(data);
}

static size_t toyBytes(const void* data) {
  (void)data;
  return 1000;
}

static djStatus takeToy(double* q, double* v, double* act, int* iterations,
                        const djPhysicsStep* at) {
  (void)act;
  const Toy* toy = at->own;
  double v0 = at->start->qvel[0];
  if (v0 > 100) return say(at->err, DJ_INVALID, "toy: too fast");
  v[0] = v0 + toy->h * (at->start->ctrl[0] - v0 * v0 * v0) / toy->mass;
  q[0] = at->start->qpos[0] + toy->h * v[0];
  *iterations = 2;
  return DJ_OK;
}

static djStatus linearizeToy(double* A, double* B, const djPhysicsStep* at) {
  const Toy* toy = at->own;
  double h = toy->h, v = at->start->qvel[0], a = 1 - 3 * h * v * v / toy->mass;
  assert_true(at->exact);
  A[0] = 1;
  A[1] = h * a;
  A[2] = 0;
  A[3] = a;
  B[0] = h * h / toy->mass;
  B[1] = h / toy->mass;
  return DJ_OK;
}

static djStatus toyVjp(double* dx, double* du, const djPhysicsStep* at, const double* lambda) {
  const Toy* toy = at->own;
  ToyData* d = at->data;
  double A[4], B[2], h = toy->h, v = at->start->qvel[0];
  linearizeToy(A, B, at);
  for (int i = 0; i < 2 && dx; i++) dx[i] += A[i] * lambda[0] + A[2 + i] * lambda[1];
  if (du) du[0] += B[0] * lambda[0] + B[1] * lambda[1];
  double force = at->start->ctrl[0] - v * v * v;
  if (d->nparam) d->sum -= (h * lambda[0] + lambda[1]) * h * force / (toy->mass * toy->mass);
  return DJ_OK;
}

static djStatus askToy(const djPhysicsStep* at, int n, const djParam* param) {
  (void)param;
  ToyData* d = at->data;
  d->sum = 0;
  d->nparam = n;
  return DJ_OK;
}

static djStatus answerToy(double* gradient, const djPhysicsStep* at, int n,
                          const djParam* param) {
  (void)param;
  for (int k = 0; k < n; k++) gradient[k] += ((ToyData*)at->data)->sum;
  return DJ_OK;
}

static const djPhysics kMatrices = {
  .name = "toy", .copy_model = copyToy, .delete_model = deleteToy, .choose = chooseToy,
  .set_param = setToy, .make_data = makeToyData, .delete_data = deleteToyData,
  .data_bytes = toyBytes, .step = takeToy, .transition = linearizeToy};

static djPhysics adjoints(void) {
  djPhysics p = kMatrices;
  p.vjp = toyVjp;
  p.ask = askToy;
  p.answer = answerToy;
  return p;
}

static djModel* modelWith(const djPhysics* physics, int* alive) {
  static const char text[] =
      "{\"dijoco_model\":1,\"option\":{\"timestep\":0.05},\"bodies\":[{\"name\":\"world\"},"
      "{\"name\":\"cart\",\"mass\":2,\"inertia\":[1,1,1]}],"
      "\"joints\":[{\"name\":\"x\",\"type\":\"slide\",\"body\":\"cart\",\"axis\":[1,0,0]}],"
      "\"geoms\":[],\"actuators\":[{\"name\":\"push\",\"joint\":\"x\"}]}";
  djError err;
  djModel* m = djt_modelOf(text);
  if (physics && dj_setPhysics(m, physics, makeToy(alive), &err) < 0) fail_msg("%s", err.text);
  return m;
}

static djStatus choose(djModel* m, djError* err) {
  djOption option = m->opt;
  option.contact = DJ_CONTACT_MUJOCO;
  return dj_setOption(m, &option, err);
}

static djModel* chosen(const djPhysics* physics, int* alive) {
  djError err;
  djModel* m = modelWith(physics, alive);
  if (choose(m, &err) < 0) fail_msg("%s", err.text);
  return m;
}

static djParam massOf(const djModel* m) {
  djParam mass = djt_param(m, "body/cart/mass");
  return mass;
}

static void testSteps(void) {
  int alive = 0;
  djModel *m = chosen(&kMatrices, &alive), *copy;
  djData* e;
  djError err;
  djParam mass = massOf(m);
  djData* d = djt_data(m);
  assert_true(dj_dataBytes(d) >= 1000 && dj_isOutside(m));
  double heavy = 4, v = 1, q = 0;
  assert_int_equal(dj_setParam(m, &mass, &heavy, &err), DJ_OK);
  d->qvel[0] = 1;
  d->ctrl[0] = 3;
  for (int k = 0; k < 10; k++) {
    v += 0.05 * (3 - v * v * v) / 4;
    q += 0.05 * v;
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_true(fabs(d->qvel[0] - v) < 1e-14 && fabs(d->qpos[0] - q) < 1e-14);
    assert_true(d->xpos[3] == d->qpos[0]);
  }
  assert_true(d->stats.steps == 10 && d->stats.newton_iterations == 20 && d->time > 0.49);
  assert_int_equal(dj_copyModel(&copy, m, &err), DJ_OK);
  assert_int_equal(dj_makeData(&e, copy, &err), DJ_OK);
  assert_int_equal(dj_copyData(e, copy, d), DJ_OK);
  djt_delete(m, d);
  v += 0.05 * (3 - v * v * v) / 4;
  assert_int_equal(dj_step(copy, e), DJ_OK);
  assert_true(fabs(e->qvel[0] - v) < 1e-14);
  djt_delete(copy, e);
  assert_int_equal(alive, 0);
}

enum { HORIZON = 15 };

static double runLoss(djModel* m, djData* d, djTape* tape, djRolloutResult* result,
                      const double* x) {
  double u[HORIZON];
  for (int k = 0; k < HORIZON; k++) u[k] = sin(k + 1.0) + x[3];
  djLossTerm term[2] = {{.type = DJ_LOSS_QPOS, .target = {0.5}, .weight = 1,
                         .when = DJ_WHEN_RUNNING},
                        {.type = DJ_LOSS_QVEL, .target = {0.2}, .weight = 2}};
  djRollout r = {.horizon = HORIZON, .qpos0 = x, .qvel0 = x + 1, .ctrl = u, .nloss = 2,
                 .loss = term, .loss_only = !result->grad_qpos0};
  djParam mass = massOf(m);
  djError err;
  if (!result->nparam) {
    double now;
    assert_int_equal(dj_getParam(&now, m, &mass), DJ_OK);
    if (now != x[2]) assert_int_equal(dj_setParam(m, &mass, x + 2, &err), DJ_OK);
  } else {
    result->param = &mass;
  }
  if (djd_rolloutForward(result, m, d, &r, tape) < 0) fail_msg("%s", dj_errorText(d));
  if (r.loss_only) return result->loss;
  if (djd_rolloutBackward(result, m, d, &r, tape) < 0) fail_msg("%s", dj_errorText(d));
  return result->loss;
}

// Of one residual, which goes by matrices either way: twice, as the first finds them.
static void residual(double* g, const djModel* m, djData* d, djTape* tape) {
  djLossTerm term = {.type = DJ_LOSS_QVEL, .weight = 1};
  double u[HORIZON], q = 0.1, v = 0.7;
  for (int k = 0; k < HORIZON; k++) u[k] = cos(k);
  djRollout r = {.horizon = HORIZON, .qpos0 = &q, .qvel0 = &v, .ctrl = u, .nloss = 1,
                 .loss = &term};
  djRolloutResult result = {.grad_qpos0 = g, .grad_qvel0 = g + 1, .grad_ctrl = g + 2};
  djResidual one = {.term = 0, .step = HORIZON, .by = {1, 0, 0}};
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_OK);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(dj_residualBackward(&result, m, d, &r, tape, &one), DJ_OK);
  }
}

// By start, mass and a shift of all controls.
static void testGradients(void) {
  const djPhysics own = adjoints();
  const djPhysics* kind[2] = {&kMatrices, &own};
  double seen[2][HORIZON + 2];
  for (int k = 0; k < 2; k++) {
    int alive = 0;
    djModel* m = chosen(kind[k], &alive);
    djTape* tape;
    djError err;
    djData* d = djt_data(m);
    assert_int_equal(djd_makeTape(&tape, m, HORIZON, &err), DJ_OK);
    double x[4] = {0.1, 0.7, 2, 0.3}, g[4] = {0}, du[HORIZON];
    djRolloutResult plain = {0};
    djRolloutResult result = {.grad_qpos0 = g, .grad_qvel0 = g + 1, .grad_ctrl = du,
                              .nparam = k, .grad_param = g + 2};
    for (int twice = 0; twice < 2; twice++) runLoss(m, d, tape, &result, x);
    for (int i = 0; i < HORIZON; i++) g[3] += du[i];
    assert_true(dj_outsideHasVjp(m) == (k == 1));
    for (int i = 0; i < 4; i++) {
      double h = 1e-4, sum = 0, at = x[i];
      static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      for (int p = 0; p < 4; p++) {
        x[i] = at + point[p] * h;
        sum += weight[p] * runLoss(m, d, tape, &plain, x) / (12 * h);
      }
      x[i] = at;
      runLoss(m, d, tape, &plain, x);
      if (i == 2 && k == 0) continue;
      if (fabs(sum - g[i]) > 1e-10) fail_msg("%d: %.12g is not %.12g", i, g[i], sum);
    }
    if (k == 1) {   // columns of one step by its mass
      double P[2], v = d->qvel[0] = 0.4, u = d->ctrl[0] = 0.9;
      djParam mass = massOf(m);
      assert_int_equal(dj_step(m, d), DJ_OK);
      assert_int_equal(djd_lastParams(m, d, P, 1, &mass), DJ_OK);
      double by = -0.05 * (u - v * v * v) / 4;
      assert_true(fabs(P[1] - by) < 1e-14 && fabs(P[0] - 0.05 * by) < 1e-14);
    } else {
      djParam mass = massOf(m);
      result.nparam = 1;
      result.param = &mass;
      djRollout r = {.horizon = HORIZON, .ctrl = du};
      assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_OK);
      assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_UNSUPPORTED);
      assert_non_null(strstr(dj_errorText(d), "body/cart/mass: parameters are not"));
    }
    residual(seen[k], m, d, tape);
    djd_deleteTape(tape);
    djt_delete(m, d);
    assert_int_equal(alive, 0);
  }
  assert_true(seen[0][1] != 0 && seen[0][HORIZON + 1] != 0);
  for (int i = 0; i < HORIZON + 2; i++) assert_true(fabs(seen[0][i] - seen[1][i]) < 1e-15);
}

static void testRefused(void) {
  int alive = 0;
  djError err;
  djModel* m = modelWith(&kMatrices, &alive);
  Toy* toy = m->physics_own;
  toy->refuses = true;
  djt_refused(DJ_UNSUPPORTED, choose(m, &err), err, "toy: options");
  assert_int_equal(m->opt.contact, DJ_SEPARATING_PLANE);
  toy->refuses = false;
  assert_int_equal(choose(m, &err), DJ_OK);
  toy->refuses = true;
  djParam mass = massOf(m);
  double other = 5, now;
  djt_refused(DJ_UNSUPPORTED, dj_setParam(m, &mass, &other, &err), err, "toy: parameter");
  assert_int_equal(dj_getParam(&now, m, &mass), DJ_OK);
  assert_true(now == 2);
  assert_int_equal(dj_tellPhysics(m, &mass, &err), DJ_UNSUPPORTED);
  Toy* second = makeToy(&alive);
  assert_int_equal(dj_setPhysics(m, &kMatrices, second, &err), DJ_INVALID);
  deleteToy(second);
  djData* d = djt_data(m);
  d->qvel[0] = 200;
  d->qpos[0] = 1;
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  assert_string_equal(dj_errorText(d), "toy: too fast");
  assert_true(d->qvel[0] == 200 && d->qpos[0] == 1 && d->time == 0 && d->stats.steps == 0);
  djt_delete(m, d);
  m = modelWith(NULL, NULL);
  assert_int_equal(choose(m, &err), DJ_UNSUPPORTED);
  dj_deleteModel(m);
  assert_int_equal(alive, 0);
}

DJT_MAIN(testSteps, testGradients, testRefused)
