// Contact model mujoco: steps beside mj_step, transitions beside djm_transitionMuJoCoWith,
// gradients of runs beside differences of runs of mj_step; copies, parameters, and what is refused.

#include "own_step.h"
#include "physics.h"

#include "common/make_model.h"
#include "common/mj_physics.h"
#include "common/mj_zoo.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/outside.h"
#include "scene/physics.h"

#include <dijoco/gradient.h>
#include <dijoco/setting.h>

static const char* const kRobot[] = {"hopper", "half_cheetah", "ant", "humanoid"};
enum { NROBOT = sizeof(kRobot) / sizeof(*kRobot) };

// A robot whose steps are solved.
static mjModel* robot(const char* name, double tolerance) {
  mjModel* m = djt_robot(name);
  m->opt.solver = mjSOL_NEWTON;
  m->opt.integrator = mjINT_EULER;
  m->opt.tolerance = tolerance;
  m->opt.iterations = m->opt.ls_iterations = 100;
  return m;
}

static double between(const djData* data, const mjModel* m, const mjData* d) {
  double q = djt_distance(data->qpos, d->qpos, (int)m->nq);
  double v = djt_distance(data->qvel, d->qvel, (int)m->nv);
  return djt_worst(djt_worst(q, v), djt_distance(data->act, d->act, (int)m->na));
}

// ---- steps --------------------------------------------------------------------------------------

// Beside a run of mj_step: from its states, and left to itself.
static void runSteps(const char* name, bool warm, double* apart, double* alone, double* poses) {
  mjModel* m = robot(name, 1e-12);
  if (!warm) m->opt.disableflags |= mjDSBL_WARMSTART;
  mjData* d = mj_makeData(m);
  djModel* model = djt_chosen(m);
  djData *data = djt_dataOf(model), *own = djt_dataOf(model);
  djRng rng = {7};
  *apart = *alone = 0;
  djt_takeState(own, m, d);
  for (int k = 0; k < 500; k++) {
    for (int u = 0; u < m->nu; u++) d->ctrl[u] = djt_uniform(&rng, -0.4, 0.4);
    djt_takeState(data, m, d);
    mju_copy(own->ctrl, d->ctrl, (int)m->nu);
    mj_step(m, d);
    djt_mustStep(model, data);
    djt_mustStep(model, own);
    *apart = djt_worst(*apart, between(data, m, d));
    *alone = djt_worst(*alone, between(own, m, d));
  }
  assert_true(own->stats.steps == 500 && own->time == d->time);
  mj_kinematics(m, d);
  *poses = djt_distance(own->xpos, d->xpos, 3 * (int)m->nbody);
  dj_deleteData(data);
  djt_delete(model, own);
  djt_deleteEngine(m, d);
}

// With warm starts mj_step's end has what its tolerance leaves open, which a robot that tumbles
// doubles a few times in a second.
static void testSteps(void) {
  for (int i = 0; i < 2 * NROBOT; i++) {
    double apart, alone, poses;
    bool warm = i >= NROBOT;
    const char* name = kRobot[i % NROBOT];
    runSteps(name, warm, &apart, &alone, &poses);
    print_message("%s%s: a step %.1e, 500 steps %.1e, poses %.1e\n", name, warm ? ", warm" : "",
                  apart, alone, poses);
    assert_true(apart < 1e-10 && (warm || alone < 1e-10) && poses < 1e-4);
  }
}

// Inputs of all kinds, and mocap bodies.
static void testInputs(void) {
  mjModel* m = djt_compile("<mujoco>" DJT_ZOO_BODIES "</mujoco>");
  m->opt.tolerance = 1e-12;
  mjData* d = mj_makeData(m);
  djModel* model = djt_chosen(m);
  djData* data = djt_dataOf(model);
  djRng rng = {21};
  double worst = 0;
  for (int k = 0; k < 100; k++) {
    for (int u = 0; u < m->nu; u++) d->ctrl[u] = djt_uniform(&rng, -1.5, 1.5);
    for (int i = 0; i < m->nv; i++) d->qfrc_applied[i] = djt_uniform(&rng, -0.1, 0.1);
    for (int i = 6; i < 6 * m->nbody; i++) d->xfrc_applied[i] = djt_uniform(&rng, -0.1, 0.1);
    for (int i = 0; i < 3 * m->nmocap; i++) d->mocap_pos[i] += djt_uniform(&rng, -0.01, 0.01);
    djt_takeState(data, m, d);
    mju_copy(data->qfrc_applied, d->qfrc_applied, (int)m->nv);
    mju_copy(data->xfrc_applied, d->xfrc_applied, 6 * (int)m->nbody);
    mju_copy(data->mocap_pos, d->mocap_pos, 3 * (int)m->nmocap);
    mj_step(m, d);
    djt_mustStep(model, data);
    worst = djt_worst(worst, between(data, m, d));
  }
  mj_kinematics(m, d);
  assert_true(djt_distance(data->xpos, d->xpos, 3 * (int)m->nbody) < 1e-10);
  djt_below("inputs", worst, 1e-10);
  // Half of gravity.
  m->opt.gravity[2] *= 0.5;
  data->gravity_scale = 0.5;
  djt_takeState(data, m, d);
  mj_step(m, d);
  djt_mustStep(model, data);
  assert_true(between(data, m, d) < 1e-10);
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

// ---- derivatives of a step ----------------------------------------------------------------------

static void testTransitions(void) {
  for (int i = 0; i < NROBOT; i++) {
    mjModel* m = robot(kRobot[i], 1e-12);
    mjData* d = mj_makeData(m);
    djModel* model = djt_chosen(m);
    djData* data = djt_dataOf(model);
    djmTransitionWork* work;
    djError err;
    djRng rng = {3};
    int nx = 2 * (int)m->nv + (int)m->na, nu = (int)m->nu;
    double *A = djt_room((size_t)(4 * nx * nx)), *B = djt_room((size_t)(4 * nx * nu));
    double *ours = A + 2 * nx * nx, *Bours = B + 2 * nx * nu, worst = 0;
    double *x = djt_room((size_t)(5 * (nx + nu))), *y = x + nx + nu, *z = y + nx + nu;
    assert_int_equal(djm_makeTransitionWork(&work, m, &err), DJ_OK);
    for (int k = 0; k < 100; k++) {
      for (int u = 0; u < nu; u++) d->ctrl[u] = djt_uniform(&rng, -0.4, 0.4);
      mj_step(m, d);
      if (k % 25) continue;
      djt_takeState(data, m, d);
      assert_int_equal(djm_transitionMuJoCoWith(m, d, work, A, B, NULL, NULL, &err), DJ_OK);
      assert_int_equal(djd_transition(model, data, ours, Bours), DJ_OK);
      worst = djt_worst(worst, djt_distance(ours, A, nx * nx));
      worst = djt_worst(worst, djt_distance(Bours, B, nx * nu));
      for (int c = 0; c < nx + nu; c++) x[c] = djt_uniform(&rng, -1, 1);
      assert_int_equal(djd_stepJvp(model, data, y, x, x + nx), DJ_OK);
      mju_mulMatVec(z, ours, x, nx, nx);
      for (int r = 0; r < nx; r++) {
        for (int c = 0; c < nu; c++) z[r] += Bours[r * nu + c] * x[nx + c];
      }
      assert_true(djt_distance(y, z, nx) < 1e-12);
      mju_zero(y, nx + nu);
      assert_int_equal(djd_stepVjp(model, data, y, y + nx, x), DJ_OK);
      mju_mulMatTVec(z, ours, x, nx, nx);
      mju_mulMatTVec(z + nx, Bours, x, nx, nu);
      assert_true(djt_distance(y, z, nx + nu) < 1e-12);
    }
    print_message("%s: A and B %.1e\n", kRobot[i], worst);
    assert_true(worst < 1e-8);
    free(A);
    free(B);
    free(x);
    djm_deleteTransitionWork(work);
    djt_delete(model, data);
    djt_deleteEngine(m, d);
  }
}

// ---- gradients of runs --------------------------------------------------------------------------

typedef struct Run {
  mjModel* m;
  mjData* d;
  int horizon, body;
  unsigned rows;               // what the rows did on the way: a hash
  double *q, *v, *u;           // start and controls
  double target[3];
} Run;

static void hashRows(Run* r) {
  for (int i = 0; i < r->d->nefc; i++) r->rows = 31 * r->rows + (unsigned)r->d->efc_state[i] + 1;
  r->rows = 31 * r->rows + (unsigned)r->d->ncon;
}

// Loss of a run of mj_step: place of a body, velocities, effort, as losses of ours are.
static double runLoss(Run* r, const double* q, const double* v, const double* u) {
  const mjModel* m = r->m;
  mjData* d = r->d;
  double sum = 0;
  int nu = (int)m->nu;
  mj_resetData(m, d);
  mju_copy(d->qpos, q, (int)m->nq);
  mju_copy(d->qvel, v, (int)m->nv);
  r->rows = 0;
  for (int k = 0; k < r->horizon; k++) {
    mju_copy(d->ctrl, u + k * nu, nu);
    sum += 0.01 * m->opt.timestep * mju_dot(u + k * nu, u + k * nu, nu);
    mj_step(m, d);
    hashRows(r);
  }
  mj_kinematics(m, d);
  for (int k = 0; k < 3; k++) {
    double e = d->xpos[3 * r->body + k] - r->target[k];
    sum += e * e;
  }
  double e = d->qvel[m->nv - 1] - 0.3;
  return sum + 0.1 * e * e;
}

// What the loss changes by along dq, dv, du; false: rows switch on the way.
static bool differenceAlong(double* out, Run* r, const double* dq, const double* dv,
                            const double* du, double h) {
  static const double kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  int nq = (int)r->m->nq, nv = (int)r->m->nv, n = r->horizon * (int)r->m->nu;
  double *q = djt_room((size_t)(nq + nv + n)), *v = q + nq, *u = v + nv;
  bool same = true;
  runLoss(r, r->q, r->v, r->u);
  unsigned rows = r->rows;
  *out = 0;
  for (int p = 0; p < 4; p++) {
    double x = kPoint[p] * h;
    mju_copy(q, r->q, nq);
    if (dq) mj_integratePos(r->m, q, dq, x);
    for (int i = 0; i < nv; i++) v[i] = r->v[i] + (dv ? x * dv[i] : 0);
    for (int i = 0; i < n; i++) u[i] = r->u[i] + (du ? x * du[i] : 0);
    *out += kWeight[p] / (12 * h) * runLoss(r, q, v, u);
    same = same && r->rows == rows;
  }
  free(q);
  return same;
}

// Compares along random directions; counts those that cross no switch.
static double compareGradient(Run* r, const djRolloutResult* result, djRng* rng, int* compared) {
  int nv = (int)r->m->nv, n = r->horizon * (int)r->m->nu;
  double *x = djt_room((size_t)(nv + n)), worst = 0;
  const double* by[3] = {result->grad_qpos0, result->grad_qvel0, result->grad_ctrl};
  for (int k = 0; k < 9; k++) {
    int block = k % 3, size = block == 2 ? n : nv;
    double coarse, fine, scale = 1e-3;
    for (int i = 0; i < size; i++) x[i] = djt_uniform(rng, -1, 1);
    for (int i = 0; i < size; i++) scale += fabs(x[i] * by[block][i]);
    const double *dq = block == 0 ? x : NULL, *dv = block == 1 ? x : NULL;
    const double* du = block == 2 ? x : NULL;
    double h = block == 2 ? 1e-3 : block == 1 ? 1e-4 : 1e-5;
    bool same = differenceAlong(&coarse, r, dq, dv, du, h) &&
                differenceAlong(&fine, r, dq, dv, du, h / 2);
    if (!same || fabs(coarse - fine) > 1e-6 * scale) continue;
    double gradient = mju_dot(by[block], x, size);
    worst = djt_worst(worst, fmin(fabs(gradient - fine), fabs(gradient - coarse)) / scale);
    (*compared)++;
  }
  free(x);
  return worst;
}

// Where a run starts: past a fall, rows act.
static void openRun(Run* r, const char* name, int horizon, djRng* rng) {
  *r = (Run){.m = robot(name, 0), .horizon = horizon, .target = {0.5, 0.2, 0.7}};
  mjModel* m = r->m;
  m->opt.ls_tolerance = 1e-10;
  r->d = mj_makeData(m);
  int nq = (int)m->nq, nv = (int)m->nv, n = horizon * (int)m->nu;
  r->q = djt_room((size_t)(nq + nv + n));
  r->v = r->q + nq;
  r->u = r->v + nv;
  r->body = (int)m->nbody - 1;
  for (int k = 0; k < 200; k++) {
    for (int u = 0; u < m->nu; u++) r->d->ctrl[u] = djt_uniform(rng, -0.4, 0.4);
    mj_step(m, r->d);
  }
  mju_copy(r->q, r->d->qpos, nq);
  mju_copy(r->v, r->d->qvel, nv);
  for (int i = 0; i < n; i++) r->u[i] = djt_uniform(rng, -0.4, 0.4);
}

static void closeRun(Run* r) {
  free(r->q);
  djt_deleteEngine(r->m, r->d);
}

// By a solver that leaves steps unsolved, which runs with derivatives solve all the same.
static djModel* chosenLoosely(mjModel* m) {
  mjOption option = m->opt;
  m->opt.solver = mjSOL_CG;
  m->opt.tolerance = 1e-4;
  m->opt.iterations = 10;
  djModel* model = djt_chosen(m);
  m->opt = option;
  return model;
}

static int lastJoint(const djModel* model) { return model->njnt - 1; }

static void testGradients(void) {
  for (int i = 0; i < NROBOT; i++) {
    Run r;
    djRng rng = {30 + i};
    openRun(&r, kRobot[i], 30, &rng);
    djModel* model = chosenLoosely(r.m);
    djData* data = djt_dataOf(model);
    djError err;
    djTape* tape;
    int nv = model->nv, n = r.horizon * model->nu, compared = 0;
    double* g = djt_room((size_t)(2 * nv + n));
    djLossTerm terms[3] = {
        {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = r.body, .weight = 1,
         .target = {r.target[0], r.target[1], r.target[2]}},
        {.type = DJ_LOSS_QVEL, .id = lastJoint(model), .target = {0.3}, .weight = 0.1},
        {.type = DJ_LOSS_EFFORT, .weight = 0.01, .when = DJ_WHEN_RUNNING}};
    djRollout rollout = {.horizon = r.horizon, .qpos0 = r.q, .qvel0 = r.v, .ctrl = r.u,
                         .nloss = 3, .loss = terms, .refinement_steps = 1};
    djRolloutResult result = {.grad_qpos0 = g, .grad_qvel0 = g + nv, .grad_ctrl = g + 2 * nv};
    assert_int_equal(djd_makeTape(&tape, model, r.horizon, &err), DJ_OK);
    djt_failIf(djd_rolloutForward(&result, model, data, &rollout, tape) < 0 ||
                   djd_rolloutBackward(&result, model, data, &rollout, tape) < 0,
               "%s: %s", kRobot[i], dj_errorText(data));
    double loss = runLoss(&r, r.q, r.v, r.u);
    assert_true(fabs(loss - result.loss) < 1e-9 * fmax(1, fabs(loss)));
    double worst = compareGradient(&r, &result, &rng, &compared);
    print_message("%s: %.1e along %d directions\n", kRobot[i], worst, compared);
    assert_true(worst < 1e-6 && compared >= 5);
    djd_deleteTape(tape);
    free(g);
    djt_delete(model, data);
    closeRun(&r);
  }
}

// ---- copies -------------------------------------------------------------------------------------

static void testCopies(void) {
  mjModel* m = robot("ant", 1e-8);
  djModel *model = djt_chosen(m), *copy, *plain = djt_import(NULL, m), *later;
  mj_deleteModel(m);
  djData *a = djt_dataOf(model), *b = djt_dataOf(model);
  djError err;
  djRng rng = {9};
  for (int k = 0; k < 40; k++) {
    for (int u = 0; u < model->nu; u++) a->ctrl[u] = djt_uniform(&rng, -1, 1);
    djt_mustStep(model, a);
  }
  djt_mustStep(model, b);
  assert_int_equal(dj_copyModel(&copy, model, &err), DJ_OK);
  assert_int_equal(dj_copyModel(&later, plain, &err), DJ_OK);
  dj_deleteModel(plain);
  dj_deleteModel(model);
  assert_int_equal(dj_copyData(b, copy, a), DJ_OK);
  assert_int_equal(djt_setContact(later, DJ_CONTACT_MUJOCO, &err), DJ_OK);
  djData* c = djt_dataOf(later);
  assert_int_equal(dj_copyData(c, later, a), DJ_OK);
  for (int k = 0; k < 20; k++) {   // whatever b has been at before
    djt_mustStep(copy, a);
    djt_mustStep(copy, b);
    djt_mustStep(later, c);
  }
  assert_memory_equal(a->qvel, b->qvel, (size_t)copy->nv * sizeof(double));
  assert_memory_equal(a->qpos, b->qpos, (size_t)copy->nq * sizeof(double));
  assert_memory_equal(a->qvel, c->qvel, (size_t)copy->nv * sizeof(double));
  assert_true(dj_dataBytes(a) > dj_dataSize(copy));
  dj_deleteData(a);
  dj_deleteData(b);
  djt_delete(copy, c);
  dj_deleteModel(later);
}

// ---- parameters and options ---------------------------------------------------------------------

static djStatus setNamed(djModel* model, const char* name, const double* value, djError* err) {
  djParam param;
  djStatus status = dj_paramId(&param, model, name, err);
  return status < 0 ? status : dj_setParam(model, &param, value, err);
}

static const struct {
  const char* name;
  double value[3];
  int n;
} kSet[] = {{"body/torso/mass", {4.5}, 1},
            {"joint/thigh_joint/damping", {2}, 1},
            {"geom/foot_geom/friction", {0.3, 0.005, 0.0001}, 3},
            {"geom/leg_geom/size", {0.05, 0.22, 0}, 3},
            {"option/gravity", {0.1, 0.2, -7}, 3},
            {"body/foot/pos", {0.01, 0, -0.58}, 3}};

// Set before contact mujoco is chosen, or after; beside MuJoCo with the same numbers.
static void testParams(void) {
  for (int after = 0; after < 2; after++) {
    mjModel* m = robot("hopper", 1e-12);
    djStock* stock;
    djError err = {""};
    djModel* model = djt_import(NULL, m);
    const mjModel* before = djm_physicsModel(model);
    assert_null(before);
    if (after) assert_int_equal(djt_setContact(model, DJ_CONTACT_MUJOCO, &err), DJ_OK);
    assert_int_equal(dj_makeStock(&stock, m, &err), DJ_OK);
    for (size_t i = 0; i < sizeof(kSet) / sizeof(*kSet); i++) {
      if (setNamed(model, kSet[i].name, kSet[i].value, &err) < 0) fail_msg("%s", err.text);
      djt_failIf(dj_setStockParam(stock, kSet[i].name, kSet[i].n, kSet[i].value, &err) < 0, "%s",
                 err.text);
    }
    djOption option = model->opt;
    option.contact = DJ_CONTACT_MUJOCO;
    option.timestep = stock->m->opt.timestep = 0.0031;
    option.disable |= DJ_DSBL_ACTUATION;
    stock->m->opt.disableflags |= mjDSBL_ACTUATION;
    if (dj_setOption(model, &option, &err) < 0) fail_msg("%s", err.text);
    assert_non_null(djm_physicsModel(model));
    djData* data = djt_dataOf(model);
    djt_takeState(data, m, stock->d);
    for (int k = 0; k < 100; k++) {
      for (int u = 0; u < m->nu; u++) stock->d->ctrl[u] = data->ctrl[u] = 0.3 * sin(k + u);
      assert_int_equal(dj_stepStock(stock, NULL, &err), DJ_OK);
      djt_mustStep(model, data);
    }
    double worst = between(data, m, stock->d);
    djt_below("parameters", worst, 1e-10);
    dj_deleteData(data);
    dj_deleteStock(stock);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// An import that nobody has changed sets nothing.
static void testUntouched(void) {
  for (int i = 0; i < NROBOT; i++) {
    mjModel* m = djt_robot(kRobot[i]);
    djModel* model = djt_chosen(m);
    const mjModel* own = djm_physicsModel(model);
    assert_int_equal(own->nbuffer, m->nbuffer);
    assert_memory_equal(own->buffer, m->buffer, (size_t)m->nbuffer);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// ---- what is refused ----------------------------------------------------------------------------

static void refuses(djStatus status, const djError* err, const char* what) {
  assert_true(status < 0);
  if (!strstr(err->text, what)) fail_msg("'%s' is not about %s", err->text, what);
}

static void testForeign(void) {
  djModelDef def = dj_defaultModelDef();
  djData* data;
  djError err;
  djBodyDef world = dj_defaultBodyDef();
  def.nbody = 1;
  def.body = &world;
  djModel* model = djt_makeModel(&def);
  refuses(djt_setContact(model, DJ_CONTACT_MUJOCO, &err), &err, "loaded by MuJoCo");
  assert_int_equal(model->opt.contact, DJ_SEPARATING_PLANE);
  dj_deleteModel(model);
  def.option.contact = DJ_CONTACT_MUJOCO;
  assert_int_equal(dj_makeModel(&model, &def, &err), DJ_OK);
  refuses(dj_makeData(&data, model, &err), &err, "loaded by MuJoCo");
  assert_int_equal(dj_choosePhysics(model, &err), DJ_UNSUPPORTED);
  dj_deleteModel(model);
}

static void testRefused(void) {
  mjModel* m = djt_robot("hopper");
  m->opt.integrator = mjINT_RK4;
  djModel *model = djt_chosen(m), *plain = djt_import(NULL, m);
  djData *data = djt_dataOf(model), *other = djt_dataOf(plain);
  djError err;
  double* A = djt_room((size_t)(dj_tangentSize(model) * dj_tangentSize(model)));
  assert_true(dj_isOutside(model) && !dj_isOutside(plain));
  // A step, but no derivative of it.
  djt_mustStep(model, data);
  assert_int_equal(djd_lastTransition(model, data, A, NULL), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "RK4"));
  assert_int_equal(dj_limitForces(A, model, data), DJ_UNSUPPORTED);
  assert_true(dj_step(plain, data) < 0 && strstr(dj_errorText(data), "contact mujoco"));
  assert_true(dj_step(model, other) < 0 && strstr(dj_errorText(other), "contact mujoco"));
  djOption option = model->opt;
  option.integrator = DJ_BDF2;
  refuses(dj_setOption(model, &option, &err), &err, "bdf2");
  assert_int_equal(model->opt.integrator, DJ_EULER);
  // Parameters: those of MuJoCo's simple bodies, which stay as they are; and gradients.
  double still[3], ipos[3] = {0.1, 0.2, 0.3};
  djParam param = djt_param(model, "body/torso/ipos");
  assert_int_equal(dj_getParam(still, model, &param), DJ_OK);
  djStatus status = dj_setParam(model, &param, ipos, &err);
  double now[3];
  assert_int_equal(dj_getParam(now, model, &param), DJ_OK);
  assert_memory_equal(now, status < 0 ? still : ipos, sizeof(now));
  djt_mustStep(model, data);
  assert_int_equal(djd_lastParams(model, data, A, 1, &param), DJ_UNSUPPORTED);
  assert_non_null(strstr(dj_errorText(data), "RK4"));
  // A state that MuJoCo cannot step.
  data->qvel[0] = 1e12;
  assert_true(dj_step(model, data) < 0 && strstr(dj_errorText(data), "MuJoCo: qvel[0]"));
  free(A);
  dj_deleteData(data);
  djt_delete(model, other);
  dj_deleteModel(plain);
  mj_deleteModel(m);
}

static void testScenes(void) {
  static const struct {
    const char *text, *what;
  } kCase[] = {
      {"<mujoco><option><flag sleep='enable'/></option><worldbody><body><freejoint/>"
       "<geom size='.1'/></body></worldbody></mujoco>",
       "sleep"},
      {"<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body></worldbody>"
       "<actuator><motor joint='j' delay='.02' nsample='3'/></actuator></mujoco>",
       "delays"},
  };
  for (size_t i = 0; i < sizeof(kCase) / sizeof(*kCase); i++) {
    mjModel* m = djt_compile(kCase[i].text);
    djModel* model = djt_import(NULL, m);
    djError err;
    refuses(djt_setContact(model, DJ_CONTACT_MUJOCO, &err), &err, kCase[i].what);
    assert_int_equal(model->opt.contact, DJ_SEPARATING_PLANE);
    dj_deleteModel(model);
    mj_deleteModel(m);
  }
}

// A scene that chooses it itself; what the core leaves out acts, and is no longer reported.
static void testChosenByScene(void) {
  static const char text[] =
      "<mujoco><option density='1'/><custom><text name='dijoco_contact' data='mujoco'/></custom><worldbody>"
      "<body name='a' gravcomp='1'><joint axis='0 1 0' actuatorgravcomp='true'/>"
      "<geom size='.1' pos='.3 0 0'/></body>"
      "<body name='b' pos='.6 0 0'><joint axis='0 1 0'/>"
      "<geom size='.1' pos='-.2 0 0' fluidshape='ellipsoid'/></body>"
      "</worldbody><equality><connect body1='a' body2='b' anchor='.3 0 0'/></equality></mujoco>";
  mjModel* m = djt_compile(text);
  m->opt.tolerance = 1e-12;
  mjData* d = mj_makeData(m);
  djModel* model;
  djReport* report;
  djError err;
  assert_int_equal(dj_importMuJoCo(&model, &report, m, &err), DJ_OK);
  assert_int_equal(model->opt.contact, DJ_CONTACT_MUJOCO);
  assert_int_equal(report->n, 0);
  assert_string_equal(dj_contactName(model->opt.contact), "mujoco");
  djData* data = djt_dataOf(model);
  for (int k = 0; k < 50; k++) {
    mj_step(m, d);
    djt_mustStep(model, data);
  }
  assert_true(between(data, m, d) < 1e-9);
  assert_int_equal(djt_setContact(model, DJ_CONTACT_NONE, &err), DJ_OK);
  assert_int_equal(dj_renewReport(&report, m, model, &err), DJ_OK);
  assert_true(report->n > 0);
  dj_deleteReport(report);
  djt_delete(model, data);
  djt_deleteEngine(m, d);
}

// ---- contexts -----------------------------------------------------------------------------------

// A context's step is mj_step on the caller's data, to the last bit, by the caller's model.
static void testContext(void) {
  mjModel* m = djt_compile(DJT_ZOO);
  mjData *d = mj_makeData(m), *e = mj_makeData(m);
  djmContext* c;
  djError err;
  djSettings settings = {.given = {0}};
  int nx = 2 * (int)m->nv + (int)m->na, ns = (int)m->nsensordata;
  assert_int_equal(dj_parseSetting(&settings, "contact", "mujoco", &err), DJ_OK);
  if (djm_makeContextWith(&c, NULL, m, &settings, &err) < 0) fail_msg("%s", err.text);
  for (int k = 0; k < 60; k++) {
    if (k == 30) m->opt.timestep = 0.003;
    if (k == 40) m->body_mass[1] *= 1.5;
    for (int u = 0; u < m->nu; u++) d->ctrl[u] = e->ctrl[u] = sin(k + u);
    mj_step(m, d);
    if (djm_step(m, e, c) != DJ_OK) fail_msg("%s", djm_errorText(c));
  }
  assert_int_equal(djm_data(c)->stats.steps, 60);
  assert_memory_equal(d->qpos, e->qpos, (size_t)m->nq * sizeof(mjtNum));
  assert_memory_equal(d->sensordata, e->sensordata, (size_t)ns * sizeof(mjtNum));
  assert_memory_equal(d->efc_force, e->efc_force, (size_t)d->nefc * sizeof(mjtNum));
  assert_int_equal(djm_forward(m, e, c), DJ_OK);
  mj_forward(m, d);
  assert_memory_equal(d->qacc, e->qacc, (size_t)m->nv * sizeof(mjtNum));
  djmTransitionWork* work;
  double* A = djt_room((size_t)(2 * (nx + ns) * nx));
  double *C = A + nx * nx, *ours = C + ns * nx;
  assert_int_equal(djm_makeTransitionWork(&work, m, &err), DJ_OK);
  assert_int_equal(djm_transitionMuJoCoWith(m, d, work, A, NULL, C, NULL, &err), DJ_OK);
  assert_int_equal(djm_transition(m, e, c, ours, NULL, ours + nx * nx, NULL), DJ_OK);
  assert_memory_equal(A, ours, (size_t)((nx + ns) * nx) * sizeof(double));
  djm_stepOption(c)->substeps = 3;
  m->opt.timestep = 0.001;
  for (int k = 0; k < 3; k++) mj_step(m, d);
  m->opt.timestep = 0.003;
  assert_true(djm_stepsItself(c) && djm_step(m, e, c) == DJ_OK);
  assert_true(djt_distance(d->qpos, e->qpos, (int)m->nq) < 1e-12);
  assert_int_equal(djm_transition(m, e, c, ours, NULL, NULL, NULL), DJ_UNSUPPORTED);
  free(A);
  djm_deleteTransitionWork(work);
  djm_deleteContext(c);
  mj_deleteData(d);
  djt_deleteEngine(m, e);
}

DJT_MAIN(testSteps, testInputs, testTransitions, testGradients, testCopies, testParams,
         testUntouched, testForeign, testRefused, testScenes, testChosenByScene, testContext)
