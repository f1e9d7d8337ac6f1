// Steps, transitions and gradients of many bodies in contact: block factors beside the dense one.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/test.h"
#include "common/worst.h"

#include "integrate/work.h"

enum { BOXES = 12, BODIES = BOXES + 3, NV = 6 * BOXES + 2, NQ = 7 * BOXES + 2, NX = 2 * NV };
enum { HORIZON = 40 };

// Two towers of boxes on a floor, turned at random, and an arm of two links that pushes one.
static djModel* makeTowers(djRng* rng, djIntegrator integrator) {
  djBodyDef body[BODIES];
  djJointDef joint[BOXES + 2];
  djGeomDef geom[BODIES];
  djActuatorDef motor[2];
  for (int b = 0; b < BODIES; b++) {
    body[b] = dj_defaultBodyDef();
    body[b].mass = 0.5;
    for (int k = 0; k < 3; k++) body[b].inertia[k] = 1e-3;
    geom[b] = dj_defaultGeomDef();
    geom[b].type = b == 0 ? DJ_PLANE : b <= BOXES ? DJ_BOX : DJ_CAPSULE;
    geom[b].body = b;
    geom[b].size[0] = b == 0 ? 5 : b <= BOXES ? 0.06 : 0.03;
    geom[b].size[1] = b == 0 ? 5 : b <= BOXES ? 0.05 : 0.1;
    geom[b].size[2] = 0.04;
    geom[b].friction[0] = 0.6;
  }
  for (int j = 0; j < BOXES + 2; j++) {
    joint[j] = dj_defaultJointDef();
    joint[j].body = j + 1;
    joint[j].type = j < BOXES ? DJ_FREE : DJ_HINGE;
    if (j >= BOXES) {
      memcpy(joint[j].axis, (double[3]){0, 0, 1}, sizeof joint[j].axis);
      joint[j].armature = 0.01;
      continue;
    }
    double yaw = djt_uniform(rng, -0.3, 0.3), side = j % 2 ? 0.15 : 0;
    double q[7] = {side, 0, 0.0405 + 0.0802 * (j / 2), cos(yaw / 2), 0, 0, sin(yaw / 2)};
    memcpy(joint[j].qpos0, q, sizeof q);
  }
  body[BOXES + 1].pos[0] = body[BOXES + 1].pos[1] = -0.15;
  body[BOXES + 1].pos[2] = 0.2;
  body[BOXES + 2].parent = BOXES + 1;
  body[BOXES + 2].pos[0] = 0.1;
  for (int k = 0; k < 2; k++) {
    djGeomDef* g = &geom[BOXES + 1 + k];
    memcpy(g->quat, (double[4]){sqrt(0.5), 0, sqrt(0.5), 0}, sizeof g->quat);
    g->size[1] = 0.05;
    g->pos[0] = 0.05;
    motor[k] = dj_defaultActuatorDef();
    motor[k].joint = BOXES + k;
  }
  djModelDef def = dj_defaultModelDef();
  def.option.timestep = 0.004;
  def.option.integrator = integrator;
  def.nbody = BODIES;
  def.njnt = BOXES + 2;
  def.ngeom = BODIES;
  def.nu = 2;
  def.body = body;
  def.joint = joint;
  def.geom = geom;
  def.actuator = motor;
  djModel* m = djt_makeModel(&def);
  assert_int_equal(m->nv, NV);
  return m;
}

static djData* makeData(const djModel* m, bool dense) {
  djData* d = djt_data(m);
  d->work->pattern.dense = dense;
  return d;
}

// Each step is taken from the same state by both; so are its transition and vector products.
static void compareSteps(djIntegrator integrator) {
  djRng rng = {31};
  djModel* m = makeTowers(&rng, integrator);
  djData *sparse = makeData(m, false), *dense = makeData(m, true);
  double *A = calloc(2 * NX * NX, sizeof(double)), *other = A + NX * NX;
  double B[NX * 2], B2[NX * 2], lambda[NX], dx[NX], dx2[NX], du[2], du2[2];
  sparse->work->refinement_steps = dense->work->refinement_steps = 5;
  double worst_step = 0, worst_A = 0, worst_vjp = 0;
  int blocks = 0, neighbours = 0, patterns = 0;
  for (int k = 0; k < 60; k++) {
    for (int i = 0; i < 2; i++) sparse->ctrl[i] = dense->ctrl[i] = djt_uniform(&rng, 0, 4);
    memcpy(dense->qpos, sparse->qpos, NQ * sizeof(double));
    memcpy(dense->qvel, sparse->qvel, NV * sizeof(double));
    assert_int_equal(dj_step(m, sparse), DJ_OK);
    assert_int_equal(dj_step(m, dense), DJ_OK);
    worst_step = djt_worst(worst_step, djt_relative(sparse->qpos, dense->qpos, NQ));
    worst_step = djt_worst(worst_step, 1e-2 * djt_relative(sparse->qvel, dense->qvel, NV));
    if (k % 6 != 5) continue;
    assert_int_equal(djd_lastTransition(m, sparse, A, B), DJ_OK);
    assert_int_equal(djd_lastTransition(m, dense, other, B2), DJ_OK);
    const djBlocks* p = &sparse->work->pattern.blocks;
    if (p->nblock > 1) {
      patterns += p->near_adr[p->nblock] != neighbours;
      neighbours = p->near_adr[p->nblock];
      blocks += p->nblock;
    }
    assert_int_equal(dense->work->pattern.blocks.nblock, 1);
    worst_A = djt_worst(worst_A, djt_relative(A, other, NX * NX));
    worst_A = djt_worst(worst_A, djt_relative(B, B2, NX * 2));
    for (int i = 0; i < NX; i++) lambda[i] = djt_uniform(&rng, -1, 1);
    memset(dx, 0, sizeof dx);
    memset(du, 0, sizeof du);
    memset(dx2, 0, sizeof dx2);
    memset(du2, 0, sizeof du2);
    assert_int_equal(djd_stepVjp(m, sparse, dx, du, lambda), DJ_OK);
    assert_int_equal(djd_stepVjp(m, dense, dx2, du2, lambda), DJ_OK);
    worst_vjp = djt_worst(worst_vjp, fmax(djt_relative(dx, dx2, NX), djt_relative(du, du2, 2)));
    assert_int_equal(djd_stepJvp(m, sparse, dx, lambda, du), DJ_OK);
    assert_int_equal(djd_stepJvp(m, dense, dx2, lambda, du), DJ_OK);
    worst_vjp = djt_worst(worst_vjp, djt_relative(dx, dx2, NX));
  }
  print_message("steps %.1e, transitions %.1e, products %.1e; %d blocks, %d patterns\n", worst_step,
                worst_A, worst_vjp, blocks / 10, patterns);
  assert_true(worst_step < 1e-11 && worst_A < 1e-9 && worst_vjp < 1e-9);
  assert_true(blocks == 10 * (BOXES + 1) && patterns > 1);
  free(A);
  dj_deleteData(sparse);
  djt_delete(m, dense);
}

static void testSteps(void) { compareSteps(DJ_POSITION); }

static void testVariationalSteps(void) { compareSteps(DJ_VARIATIONAL); }

typedef struct Run {
  double loss, state[NQ + NV], dq[NV], dv[NV], du[HORIZON * 2];
} Run;

// The end of a rollout and the gradient of a loss there.
static void rollout(Run* out, const djModel* m, djData* d, djTape* tape) {
  double ctrl[HORIZON * 2];
  for (int k = 0; k < HORIZON; k++) {
    ctrl[2 * k] = 2 + 0.02 * k;
    ctrl[2 * k + 1] = 0.3;
  }
  djLossTerm term[2] = {{.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = 3, .weight = 1},
                        {.type = DJ_LOSS_COM, .object = DJ_OBJ_BODY, .id = -1, .weight = 2}};
  djRollout r = {.horizon = HORIZON, .ctrl = ctrl, .nloss = 2, .loss = term, .refinement_steps = 5};
  djRolloutResult result = {.grad_qpos0 = out->dq, .grad_qvel0 = out->dv, .grad_ctrl = out->du};
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_OK);
  out->loss = result.loss;
  memcpy(out->state, d->qpos, NQ * sizeof(double));
  memcpy(out->state + NQ, d->qvel, NV * sizeof(double));
}

// Rollouts of both kinds agree; a rollout repeats itself bit by bit, also on data whose pattern was
// another, and after a copy.
static void testRollouts(void) {
  djRng rng = {32};
  djModel* m = makeTowers(&rng, DJ_POSITION);
  djData *sparse = makeData(m, false), *dense = makeData(m, true), *copy = makeData(m, false);
  djTape* tape;
  djError err;
  assert_int_equal(djd_makeTape(&tape, m, HORIZON, &err), DJ_OK);
  static Run a, b, c;
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  memset(&c, 0, sizeof c);
  rollout(&a, m, sparse, tape);
  rollout(&b, m, dense, tape);
  double end = djt_relative(a.state, b.state, NQ + NV), gradient = djt_relative(a.dq, b.dq, NV);
  gradient = djt_worst(gradient, djt_relative(a.dv, b.dv, NV));
  gradient = djt_worst(gradient, djt_relative(a.du, b.du, HORIZON * 2));
  print_message("rollouts: end %.1e, gradient %.1e\n", end, gradient);
  assert_true(end < 1e-8 && gradient < 1e-6);
  assert_int_equal(dj_copyData(copy, m, sparse), DJ_OK);
  for (int k = 0; k < 3; k++) {
    rollout(&c, m, k == 1 ? copy : sparse, tape);
    assert_memory_equal(&a, &c, sizeof a);
  }
  djd_deleteTape(tape);
  dj_deleteData(sparse);
  dj_deleteData(dense);
  djt_delete(m, copy);
}

DJT_MAIN(testSteps, testVariationalSteps, testRollouts)
