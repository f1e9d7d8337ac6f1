// Hessian-vector products of runs with contact, friction, limits and impacts: against differences
// of gradients, symmetric, and at the cost they say.

#include "common/hessian_case.h"
#include "common/make_model.h"
#include "common/scene.h"
#include "common/test.h"

// Balls, boxes and capsules that fall, slide and turn on the floor, with motors on one.
static djModel* pile(djData** d, djOption option) {
  Scene* s = newPile(2);
  for (int k = 0; k < 3; k++) s->geom[k].friction[0] = k == 0 ? 0.4 : 1 - 0.1 * k; // no tie
  s->def.option = option;
  s->def.option.stiffness_scale = 3e-4; // soft enough for differences
  s->def.option.support_scale = 2;
  return startPile(d, s);
}

// A cart on a rail with friction loss and a limit; a link and a ball joint push a box on the floor.
static djModel* pusher(djData** d, djOption option) {
  Scene* s = newScene(6);
  s->def.option = option;
  s->def.option.stiffness_scale = 3e-4; // soft enough for differences
  s->def.option.support_scale = 2;
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = 0.4; // no tie
  int cart = addBody(s, 0, DJ_SLIDE, 0, 0, 0.3, 1, 0.1);
  s->joint[0].axis[0] = 1;
  s->joint[0].axis[1] = 0;
  s->joint[0].frictionloss = 0.5;
  s->joint[0].range[0] = -0.02;
  s->joint[0].range[1] = 0.012;
  s->joint[0].limited = true;
  int link = addBody(s, cart, DJ_HINGE, 0.1, 0, 0, 0.5, 0.1);
  int tip = addBody(s, link, DJ_BALL, 0.2, 0, 0, 0.3, 0.05);
  djGeomDef* g = addGeom(s, tip, DJ_SPHERE, 0.06, 0, 0);
  g->pos[0] = 0.1;
  int box = addBody(s, 0, DJ_FREE, 0.56, 0, 0.2, 0.4, 0.1);
  addGeom(s, box, DJ_BOX, 0.1, 0.1, 0.1)->friction[0] = 0.6;
  for (int k = 0; k < 2; k++) {
    s->actuator[k] = dj_defaultActuatorDef();
    s->actuator[k].joint = k;
    s->def.nu++;
  }
  s->actuator[0].bias = DJ_BIAS_AFFINE; // a servo
  s->actuator[0].gainprm[0] = 80;
  s->actuator[0].biasprm[1] = -80;
  s->actuator[0].biasprm[2] = -2;
  djModel* m = takeScene(s);
  *d = sceneData(m);
  (*d)->qvel[0] = 0.4;
  (*d)->qvel[1] = -1;
  (*d)->qvel[2] = 0.4;
  (*d)->qvel[5] = -0.3;
  (*d)->ctrl[0] = 0.05;
  (*d)->ctrl[1] = -0.3;
  return m;
}

// A ball that bounces off the floor.
static djModel* bouncer(djData** d, djOption option) {
  Scene* s = newScene(1);
  s->def.option = option;
  s->def.option.stiffness_scale = 3e-4; // soft enough for differences
  s->def.option.support_scale = 2;
  addGeom(s, 0, DJ_PLANE, 0, 0, 0)->friction[0] = 0.2;
  addBody(s, 0, DJ_FREE, 0, 0, 0.3, 1, 0.1);
  djGeomDef* g = addGeom(s, 1, DJ_SPHERE, 0.1, 0, 0);
  g->restitution = 0.7;
  g->friction[0] = 0.3;
  djModel* m = takeScene(s);
  *d = sceneData(m);
  (*d)->qpos[2] = 0.115;
  (*d)->qvel[0] = 0.5;
  (*d)->qvel[2] = -2;
  (*d)->qvel[4] = 3;
  return m;
}

typedef struct Scenario {
  const char* name;
  djModel* (*make)(djData** d, djOption option);
  djIntegrator integrator;
  djContactModel contact;
  double h;
  int before, horizon; // steps
  const char* param[8];
  djFriction friction;
  int parts; // option impact_steps
} Scenario;

static const Scenario SCENARIOS[] = {
    {"plane, position",
     pile,
     DJ_POSITION,
     DJ_SEPARATING_PLANE,
     0.004,
     12,
     10,
     {"geom/#1/friction", "geom/#1/size", "body/#1/mass"},
     .parts = 0},
    {"plane, euler",
     pile,
     DJ_EULER,
     DJ_SEPARATING_PLANE,
     0.004,
     12,
     10,
     {"geom/#1/friction", "geom/#2/size", "body/#1/inertia", "contact/support"},
     .parts = 0},
    {"plane, bdf2",
     pile,
     DJ_BDF2,
     DJ_SEPARATING_PLANE,
     0.004,
     12,
     8,
     {"geom/#1/friction"},
     .parts = 0},
    {"plane, variational",
     pile,
     DJ_VARIATIONAL,
     DJ_SEPARATING_PLANE,
     0.004,
     12,
     8,
     {"geom/#1/friction"},
     .parts = 0},
    {"surface, euler",
     pile,
     DJ_EULER,
     DJ_IMPLICIT_SURFACE,
     0.004,
     16,
     10,
     {"geom/#1/friction", "geom/#1/size"},
     .parts = 0},
    {"surface, bdf1",
     pile,
     DJ_BDF1,
     DJ_IMPLICIT_SURFACE,
     0.004,
     16,
     10,
     {"body/#1/mass"},
     .parts = 0},
    {"pusher, euler",
     pusher,
     DJ_EULER,
     DJ_SEPARATING_PLANE,
     0.004,
     1,
     12,
     {"geom/#1/friction", "joint/#1/damping", "body/#2/pos", "body/#3/quat", "joint/#1/axis",
      "actuator/#0/gainprm"},
     .parts = 0},
    {"pusher, position",
     pusher,
     DJ_POSITION,
     DJ_SEPARATING_PLANE,
     0.004,
     1,
     12,
     {"geom/#1/friction", "joint/#0/range"},
     .parts = 0},
    {"plane, midpoint",
     pile,
     DJ_MIDPOINT,
     DJ_SEPARATING_PLANE,
     0.002,
     30,
     10,
     {"geom/#1/friction"},
     .parts = 0},
    {"implicit friction",
     pusher,
     DJ_EULER,
     DJ_SEPARATING_PLANE,
     0.004,
     1,
     12,
     {"geom/#1/friction"},
     .friction = DJ_FRICTION_IMPLICIT},
    {"penalty, bdf1", pile, DJ_BDF1, DJ_PENALTY, 0.001, 50, 8, {"geom/#1/friction"}, .parts = 0},
    {"impact",
     bouncer,
     DJ_EULER,
     DJ_SEPARATING_PLANE,
     0.002,
     0,
     8,
     {"geom/#1/restitution", "geom/#1/friction", "body/#1/mass", "option/gravity"},
     .parts = 0},
    {"parts",
     bouncer,
     DJ_POSITION,
     DJ_SEPARATING_PLANE,
     0.05,
     0,
     3,
     {"geom/#1/friction", "body/#1/mass"},
     .parts = 8},
};

static void draw(double* x, const djtHessian* c, djRng* rng) {
  djt_uniforms(x, c->n, rng, -1, 1);
  double* v = djt_variationOf(c, x).value;
  for (int i = 0; i < c->nparam; v += c->param[i++].ntangent) {
    double value[32], most = 0;
    dj_getParam(value, c->m, &c->param[i]);
    for (int k = 0; k < c->param[i].nvalue; k++) most = fmax(most, fabs(value[k]));
    bool plain = c->param[i].nvalue == c->param[i].ntangent;
    for (int k = 0; k < c->param[i].ntangent; k++) {
      v[k] *= plain && value[k] != 0 ? value[k] : plain ? 0 : 1;
    }
  }
}

static void check(const Scenario* s) {
  djRng rng = {3};
  djtHessian c = {0};
  djOption option = dj_defaultOption();
  option.timestep = s->h;
  option.integrator = s->integrator;
  option.contact = s->contact;
  option.friction = s->friction;
  option.impact_steps = s->parts;
  c.m = s->make(&c.d, option);
  c.d->work->refinement_steps = 8;
  for (int k = 0; k < s->before; k++) assert_true(dj_step(c.m, c.d) >= 0);
  c.d->work->refinement_steps = 0;
  int last = c.m->nbody - 1;
  djLossTerm term[] = {{.type = DJ_LOSS_POSITION,
                        .object = DJ_OBJ_BODY,
                        .id = last,
                        .target = {0.1, 0.2, 0.3},
                        .weight = 1,
                        .when = DJ_WHEN_FINAL},
                       {.type = DJ_LOSS_VELOCITY,
                        .object = DJ_OBJ_BODY,
                        .id = last,
                        .weight = 0.05,
                        .when = DJ_WHEN_FINAL},
                       {.type = DJ_LOSS_ORIENTATION,
                        .object = DJ_OBJ_BODY,
                        .id = 1,
                        .target = {0.9, 0.1, 0.2, 0.3},
                        .weight = 0.1,
                        .when = DJ_WHEN_RUNNING},
                       {.type = DJ_LOSS_EFFORT, .weight = 0.1, .when = DJ_WHEN_RUNNING}};
  double* u = calloc((size_t)s->horizon * (size_t)c.m->nu + 1, sizeof *u);
  for (int k = 0; k < s->horizon * c.m->nu; k++) {
    u[k] = c.d->ctrl[k % c.m->nu] + djt_uniform(&rng, -0.02, 0.02);
  }
  djParam param[8];
  while (c.nparam < 8 && s->param[c.nparam]) {
    djError err;
    if (dj_paramId(&param[c.nparam], c.m, s->param[c.nparam], &err) < 0) fail_msg("%s", err.text);
    c.nparam++;
  }
  c.param = param;
  c.r = (djRollout){.horizon = s->horizon, .ctrl = u, .nloss = 4, .loss = term};
  djt_openHessian(&c);
  size_t n = (size_t)c.n;
  double *x = calloc(6 * n, sizeof *x), *y = x + n, *g = y + n, *Hx = g + n, *Hy = Hx + n;
  double* d = Hy + n;
  draw(x, &c, &rng);
  draw(y, &c, &rng);
  djt_runHessian(&c, g);
  if (djt_product(Hx, &c, x) != DJ_OK) fail_msg("%s: %s", s->name, dj_errorText(c.d));
  long steps = djd_hessianSteps(c.hessian);
  double gap[DJT_KINDS], known = djt_differHessian(d, gap, &c, x, g, 1e-4);
  double error = djt_hessianError(&c, Hx, d, gap, false);
  if (djt_product(Hy, &c, y) != DJ_OK) fail_msg("%s: %s", s->name, dj_errorText(c.d));
  double a = djt_dot(x, Hy, c.n), b = djt_dot(y, Hx, c.n), size = 0;
  for (size_t i = 0; i < n; i++) size += fabs(x[i] * Hy[i]);
  print_message("%s: %.1e (differences to %.1e), skew %.1e, %ld steps of %d, gap %.1e\n", s->name,
                error, known, fabs(a - b) / size, steps, s->horizon, djd_hessianError(c.hessian));
  if (!(error < 1e-5)) djt_hessianError(&c, Hx, d, gap, true);
  assert_true(known < 2e-6);
  assert_true(error < 1e-5);
  assert_true(fabs(a - b) < 1e-5 * size);
  assert_true(steps <= 8 * s->horizon);
  free(x);
  free(u);
  djt_closeHessian(&c);
  djt_delete(c.m, c.d);
}

static void testScenarios(void) {
  for (size_t k = 0; k < sizeof SCENARIOS / sizeof *SCENARIOS; k++) check(&SCENARIOS[k]);
}

DJT_MAIN(testScenarios)
