// Contact model mujoco: gradients of runs by parameters beside differences of runs, and what has no
// derivative.

#include "common/make_model.h"
#include "common/mj_physics.h"
#include "common/mj_zoo.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"

#include <dijoco/gradient.h>

enum { HORIZON = 25, MOST = 200 };

typedef struct Run {
  djModel* model;
  djData* data;
  djTape* tape;
  double *q, *v, *u;         // start and controls
  djLossTerm loss[2];
  djRollout rollout;
} Run;

static mjModel* solved(const char* name) {
  mjModel* m = djt_robot(name);
  m->opt.integrator = mjINT_EULER;
  m->opt.tolerance = 1e-15;
  return m;
}

// From where mj_step is after some steps.
static void openRun(Run* r, mjModel* m, int steps, djRng* rng) {
  djError err;
  mjData* d = mj_makeData(m);
  int nq = (int)m->nq, nv = (int)m->nv, nu = (int)m->nu;
  for (int i = 0; i < nv; i++) d->qvel[i] = djt_uniform(rng, -0.3, 0.3);
  for (int k = 0; k < steps; k++) mj_step(m, d);
  *r = (Run){.model = djt_chosen(m)};
  r->q = djt_room((size_t)(nq + nv + HORIZON * nu));
  r->v = r->q + nq;
  r->u = r->v + nv;
  mju_copy(r->q, d->qpos, nq);
  mju_copy(r->v, d->qvel, nv);
  for (int i = 0; i < HORIZON * nu; i++) r->u[i] = djt_uniform(rng, -0.3, 0.3);
  mj_deleteData(d);
  r->loss[0] = (djLossTerm){.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY,
                            .id = (int)m->nbody - 1, .weight = 1, .target = {0.5, 0.2, 0.7}};
  r->loss[1] = (djLossTerm){.type = DJ_LOSS_VELOCITY, .object = DJ_OBJ_BODY, .id = 1,
                            .weight = 0.3};
  r->rollout = (djRollout){.horizon = HORIZON, .qpos0 = r->q, .qvel0 = r->v, .ctrl = r->u,
                           .nloss = 2, .loss = r->loss, .refinement_steps = 1};
  if (dj_makeData(&r->data, r->model, &err) < 0) fail_msg("%s", err.text);
  assert_int_equal(djd_makeTape(&r->tape, r->model, HORIZON, &err), DJ_OK);
}

static void closeRun(Run* r) {
  djd_deleteTape(r->tape);
  djt_delete(r->model, r->data);
  free(r->q);
}

static double lossOf(Run* r) {
  djRolloutResult result = {0};
  djt_failIf(djd_rolloutForward(&result, r->model, r->data, &r->rollout, r->tape) < 0, "%s",
             dj_errorText(r->data));
  return result.loss;
}

// The loss with a parameter moved by h along x.
static double movedLoss(Run* r, const djParam* p, const double* value, const double* x, double h) {
  double moved[8];
  djError err;
  memcpy(moved, value, (size_t)p->nvalue * sizeof(double));
  if (p->nvalue == p->ntangent + 1) mju_quatIntegrate(moved, x, h);
  else mju_addScl(moved, value, x, h, p->nvalue);
  if (dj_setParam(r->model, p, moved, &err) < 0) fail_msg("%s", err.text);
  return lossOf(r);
}

static double slope(Run* r, const djParam* p, const double* value, const double* x, double h) {
  static const double kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  double sum = 0;
  djError err;
  for (int k = 0; k < 4; k++) {
    sum += kWeight[k] / (12 * h) * movedLoss(r, p, value, x, kPoint[k] * h);
  }
  assert_int_equal(dj_setParam(r->model, p, value, &err), DJ_OK);
  return sum;
}

// The worst error of a gradient by n parameters, along a direction each; counts those compared.
static double compare(Run* r, int n, const djParam* param, djRng* rng, int* compared) {
  static double gradient[6 * MOST];
  double worst = 0, *g = gradient;
  djRolloutResult result = {.nparam = n, .param = param, .grad_param = gradient};
  djt_failIf(djd_rolloutForward(&result, r->model, r->data, &r->rollout, r->tape) < 0 ||
                 djd_rolloutBackward(&result, r->model, r->data, &r->rollout, r->tape) < 0,
             "%s", dj_errorText(r->data));
  for (int i = 0; i < n; i++) {
    const djParam* p = &param[i];
    double value[8], x[8] = {0}, found = 0;
    char name[200];
    dj_paramName(name, sizeof(name), r->model, p);
    assert_int_equal(dj_getParam(value, r->model, p), DJ_OK);
    bool place = strstr(name, "/pos") || strstr(name, "/quat") || strstr(name, "/ipos") ||
                 strstr(name, "/axis") || strstr(name, "/iquat");
    for (int k = 0; k < p->ntangent; k++) {
      x[k] = (place ? 1 : value[k]) * djt_uniform(rng, -1, 1);
    }
    if (strstr(name, "/axis")) mju_addToScl3(x, value, -mju_dot3(x, value));
    for (int k = 0; k < p->ntangent; k++) found += x[k] * g[k];
    g += p->ntangent;
    double coarse = slope(r, p, value, x, 2e-4), fine = slope(r, p, value, x, 1e-4);
    double scale = fmax(fabs(fine), 1e-3);
    if (fabs(coarse - fine) > 1e-6 * scale) continue;   // rows switch on the way
    double error = fmin(fabs(found - fine), fabs(found - coarse)) / scale;
    if (error > 1e-5) print_message("%s: %.9g, differences %.9g\n", name, found, fine);
    worst = djt_worst(worst, error);
    *compared += fabs(fine) > 1e-9;
  }
  return worst;
}

static const char* const kAll[] = {
  "body/*/mass", "body/*/inertia", "body/*/pos", "body/*/quat", "body/*/gravcomp", "joint/*/damping",
  "joint/*/armature", "joint/*/stiffness", "joint/*/range", "joint/*/frictionloss", "geom/*/size",
  "geom/*/pos", "geom/*/quat", "geom/*/friction", "pair/*/friction", "tendon/*/stiffness",
  "tendon/*/damping", "tendon/*/range", "tendon/*/frictionloss", "actuator/*/gainprm",
  "actuator/*/biasprm", "actuator/*/gear", "option/gravity"};

static int listAll(djParam* param, const djModel* model) {
  int n = 0;
  djError err;
  for (size_t i = 0; i < sizeof(kAll) / sizeof(*kAll); i++) {
    int more = dj_matchParams(param + n, MOST - n, model, kAll[i], &err);
    if (more > 0) n += more;
    assert_true(n <= MOST);
  }
  return n;
}

static void runScene(mjModel* m, int steps, int least, const char* name) {
  Run r;
  djRng rng = {5};
  djParam param[MOST];
  int compared = 0;
  for (int i = 0; i < 3 * (int)m->ngeom; i++) m->geom_friction[i] *= 1 + 0.01 * (i % 7);
  openRun(&r, m, steps, &rng);
  int n = listAll(param, r.model);
  double worst = compare(&r, n, param, &rng, &compared);
  print_message("%s: %d of %d parameters, %.1e\n", name, compared, n, worst);
  assert_true(worst < 1e-5 && compared >= least);
  closeRun(&r);
  mj_deleteModel(m);
}

// A slide on a floor, held by a cord; explicit pairs, the first of which the core leaves out.
static const char kCart[] =
    "<mujoco><option timestep='.002' cone='elliptic'/><asset><hfield name='hill' nrow='2' ncol='2' "
    "size='1 1 .1 .1'/></asset><worldbody><geom name='floor' type='plane' size='5 5 .1'/>"
    "<geom name='hill' type='hfield' hfield='hill' pos='9 0 0'/>"
    "<body name='cart' pos='0 0 .0995'><joint type='slide' axis='1 0 0' range='-1 .02' "
    "limited='true'/><joint name='up' type='slide' axis='0 0 1' frictionloss='.1'/>"
    "<joint name='tilt' axis='0 1 .1' stiffness='3' damping='.1'/>"
    "<geom name='box' type='box' size='.15 .1 .1' pos='.02 0 0' mass='2'/>"
    "<body name='arm' pos='.1 0 .1'><joint name='arm' axis='0 1 0' damping='.3'/>"
    "<geom type='capsule' fromto='0 0 0 .1 .02 .3' size='.03'/></body></body></worldbody>"
    "<contact><pair geom1='hill' geom2='box' friction='.2 .2'/><pair geom1='floor' geom2='box' "
    "friction='.4 .4'/></contact><tendon><fixed name='cord' stiffness='20' damping='.7' "
    "frictionloss='.3' limited='true' range='-1 .03'><joint joint='arm' coef='.4'/><joint "
    "joint='tilt' coef='-.3'/></fixed></tendon>"
    "<actuator><position joint='arm' kp='9' kv='.5'/></actuator></mujoco>";

static void testRuns(void) {
  runScene(djt_compile(kCart), 20, 15, "cart");
  runScene(solved("hopper"), 150, 30, "hopper");
}

// ---- no derivatives -----------------------------------------------------------------------------

static djStatus askFor(Run* r, const char* name, double gradient[6]) {
  djParam param = djt_param(r->model, name);
  djRolloutResult result = {.nparam = 1, .param = &param, .grad_param = gradient};
  assert_true(djd_rolloutForward(&result, r->model, r->data, &r->rollout, r->tape) >= 0);
  return djd_rolloutBackward(&result, r->model, r->data, &r->rollout, r->tape);
}

static const char kPole[] =
    "<mujoco><asset><mesh name='m' vertex='0 0 0 .3 0 0 0 .3 0 0 0 .3'/></asset><worldbody>"
    "<body><joint axis='0 1 0'/><geom type='mesh' mesh='m'/><site name='free' pos='.1 .2 0'/>"
    "<site name='tied' pos='.3 0 0'/></body><site name='nail' pos='.3 0 .1'/></worldbody>"
    "<equality>%s</equality></mujoco>";

static void testWithout(void) {
  char text[1000];
  djRng rng = {3};
  double gradient[6] = {1, 1, 1, 1, 1, 1};
  for (int tied = 0; tied < 2; tied++) {
    Run r;
    snprintf(text, sizeof(text), kPole, tied ? "<connect site1='tied' site2='nail'/>" : "");
    mjModel* m = djt_compile(text);
    openRun(&r, m, 3, &rng);
    assert_int_equal(askFor(&r, "contact/support", gradient), DJ_OK);
    assert_true(gradient[0] == 0);
    assert_int_equal(askFor(&r, "site/free/pos", gradient), DJ_OK);
    assert_true(mju_isZero(gradient, 3));
    assert_int_equal(askFor(&r, "site/tied/pos", gradient), tied ? DJ_UNSUPPORTED : DJ_OK);
    if (tied) assert_non_null(strstr(dj_errorText(r.data), "site/tied/pos"));
    assert_int_equal(askFor(&r, "mesh/m/vert", gradient), DJ_UNSUPPORTED);
    assert_non_null(strstr(dj_errorText(r.data), "mesh/m/vert"));
    closeRun(&r);
    mj_deleteModel(m);
  }
}

// A step's matrix by parameters, row by row, and the same along a direction.
static void testLast(void) {
  Run r;
  djRng rng = {8};
  djParam param[2];
  djError err;
  mjModel* m = solved("hopper");
  openRun(&r, m, 150, &rng);
  int nx = dj_tangentSize(r.model), nv = r.model->nv;
  assert_int_equal(dj_paramId(param, r.model, "body/foot/mass", &err), DJ_OK);
  assert_int_equal(dj_paramId(param + 1, r.model, "geom/foot_geom/size", &err), DJ_OK);
  double P[2][60], *end[2], h = 1e-5, mass, moved;
  assert_true(nx * 4 <= 60);
  assert_int_equal(dj_getParam(&mass, r.model, param), DJ_OK);
  for (int side = 0; side < 3; side++) {
    moved = mass + h * (side - 1);
    assert_int_equal(dj_setParam(r.model, param, &moved, &err), DJ_OK);
    mju_copy(r.data->qpos, r.q, (int)m->nq);
    mju_copy(r.data->qvel, r.v, nv);
    assert_int_equal(dj_step(r.model, r.data), DJ_OK);
    djt_failIf(side == 1 && djd_lastParams(r.model, r.data, P[0], 2, param) < 0, "%s",
               dj_errorText(r.data));
    end[side / 2] = P[1] + (side / 2) * nv;
    if (side != 1) mju_copy(end[side / 2], r.data->qvel, nv);
  }
  double worst = 0, size = 0;
  for (int i = 0; i < nv; i++) {
    double fine = (end[1][i] - end[0][i]) / (2 * h), found = P[0][(nv + i) * 4];
    worst = fmax(worst, fabs(fine - found));
    size = fmax(size, fabs(fine));
  }
  assert_true(size > 1e-4 && worst < 1e-5 * size);
  closeRun(&r);
  mj_deleteModel(m);
}

DJT_MAIN(testRuns, testWithout, testLast)
