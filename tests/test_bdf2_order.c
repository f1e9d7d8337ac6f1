// Order of bdf1 and bdf2 with each force alone, by the error at an end over n, 2 n and 4 n steps.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/method_suite.h"

// Inputs and state at the start.
static void setStart(const djModel* m, djData* d, bool torque) {
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 2 * sin(i + 1.0);
  for (int i = 0; i < m->na; i++) d->act[i] = 0.3 + 0.2 * i;
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = 0.7 - 0.4 * i;
  for (int k = 0; torque && k < 3 * 6; k++) d->xfrc_applied[6 + k] = cos(2.0 * k);
}

// ---- the forces -------------------------------------------------------------------------------

static djActuatorDef* addActuator(Scene* s, int joint) {
  djActuatorDef* a = &s->actuator[s->def.nu++];
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  return a;
}

static void servo(djActuatorDef* a) {
  a->gain = DJ_GAIN_AFFINE;
  a->gainprm[0] = 3;
  a->gainprm[1] = 0.4;
  a->gainprm[2] = -0.1;
  a->bias = DJ_BIAS_AFFINE;
  a->biasprm[0] = 0.2;
  a->biasprm[1] = -4;
  a->biasprm[2] = -0.3;
}

static void dynamics(Scene* s, djDyn dyn, bool early) {
  djActuatorDef* a = addActuator(s, 1);
  a->gear[0] = 1;
  a->dyn = dyn;
  a->tau = 0.1;
  a->actearly = early;
  servo(a);
}

static void integrator(Scene* s) { dynamics(s, DJ_DYN_INTEGRATOR, false); }
static void filter(Scene* s) { dynamics(s, DJ_DYN_FILTER, false); }
static void earlyFilter(Scene* s) { dynamics(s, DJ_DYN_FILTER, true); }
static void exactFilter(Scene* s) { dynamics(s, DJ_DYN_FILTEREXACT, false); }

static void onHinge(Scene* s) {
  djActuatorDef* a = addActuator(s, 1);
  a->gear[0] = 1.5;
  servo(a);
}

static void onTurn(Scene* s, int joint, bool parent) {
  djActuatorDef* a = addActuator(s, joint);
  for (int k = 0; k < 6; k++) a->gear[k] = cos(k + 0.5);
  a->in_parent = parent;
  servo(a);
}

static void onBall(Scene* s) { onTurn(s, 0, false); }
static void onBallParent(Scene* s) { onTurn(s, 0, true); }
static void onFree(Scene* s) { onTurn(s, 2, false); }
static void onFreeParent(Scene* s) { onTurn(s, 2, true); }

static djSiteDef* addSites(Scene* s) {
  static djSiteDef site[3];
  for (int k = 0; k < 3; k++) {
    site[k] = (djSiteDef){.body = k + 1, .pos = {0.1, 0.2 * k, -0.1}};
    dju_storeQuat(site[k].quat, dju_expQuat((djVec3){0.3, 0.4 * k, -0.2}));
  }
  s->def.site = site;
  s->def.nsite = 3;
  return site;
}

static void onSites(Scene* s, int site, int ref) {
  addSites(s);
  djActuatorDef* a = addActuator(s, -1);
  a->site = site;
  a->refsite = ref;
  for (int k = 0; k < 6; k++) a->gear[k] = cos(k + 0.5);
  servo(a);
}

static void onSite(Scene* s) { onSites(s, 1, -1); }
static void onChain(Scene* s) { onSites(s, 1, 0); }
static void onTwo(Scene* s) { onSites(s, 2, 1); }

static void crank(Scene* s) {
  addSites(s);
  djActuatorDef* a = addActuator(s, -1);
  a->cranksite = 1;
  a->slidersite = 0;
  a->cranklength = 2;
  a->gear[0] = 1;
  servo(a);
}

static void fluid(Scene* s) {
  s->def.option.density = 60;
  s->def.option.viscosity = 0.5;
  s->def.option.wind[0] = 1;
  s->def.option.wind[2] = -0.5;
}

// The hinge presses all the time, within and beyond the width of its limit.
static void limits(Scene* s, double damping) {
  djJointDef* j = &s->joint[1];
  j->limited = true;
  j->range[0] = -60;
  j->range[1] = 0;
  j->margin = 0.4;
  j->limit_stiffness = 30;
  j->limit_damping = damping;
}

static void springLimit(Scene* s) { limits(s, 0); }
static void dampedLimit(Scene* s) { limits(s, 6); }

static void ballLimit(Scene* s) {
  djJointDef* j = &s->joint[0];
  j->limited = true;
  j->range[1] = 3;
  j->margin = 3;
  j->limit_stiffness = 30;
}

static void loss(Scene* s) {
  for (int j = 0; j < 3; j++) s->joint[j].frictionloss = 1;
  s->def.option.frictionloss_eps = 0.5;
}

static void nothing(Scene* s) { (void)s; }

// ---- order ------------------------------------------------------------------------------------

typedef struct Case {
  const char* name;
  void (*add)(Scene* s);
  bool torque;
  double order;
} Case;

static djModel* chain(const Case* c) {
  Scene* s = newScene(4);
  int up = addBody(s, 0, DJ_BALL, 0.3, 0, 0, 1, 0.2);
  addBody(s, up, DJ_HINGE, 0.3, 0, 0, 0.7, 0.2);
  addBody(s, 0, DJ_FREE, 0, 1, 0, 1, 0.2);
  for (int b = 1; b < s->def.nbody; b++) {
    s->body[b].ipos[0] = 0.2;
    s->body[b].ipos[1] = 0.1;
    s->body[b].inertia[1] *= 1.5;
    s->joint[b - 1].armature = b == 2 ? 0.02 : 0;
    s->joint[b - 1].stiffness = 5;
    s->joint[b - 1].damping = 0.5;
  }
  c->add(s);
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

// The end in (q, v, act), of so many steps.
static double* endOf(djModel* m, djIntegrator integrator, int steps, bool torque) {
  djData* d = djt_openMethod(m, integrator, 0.2 / steps);
  d->work->refinement_steps = 5;
  setStart(m, d, torque);
  for (int i = 0; i < steps; i++) { djStatus st = dj_step(m, d); if (st) print_message("STATUS %d %s step %d of %d res %.1e q %g\n", st, dj_errorText(d), i, steps, d->stats.residual, d->qpos[4]); if (st<0) break; }
  if (d->stats.fallback_steps) print_message("FALLBACK %ld of %d worst %.1e\n", d->stats.fallback_steps, steps, d->stats.worst_residual);
  double* end = djt_room((size_t)dj_stateSize(m));
  assert_int_equal(dj_getState(end, m, d), DJ_OK);
  dj_deleteData(d);
  return end;
}

static double orderOf(const Case* c, djIntegrator integrator) {
  djModel* m = chain(c);
  double *end[3], e[2] = {0, 0}, *out;
  for (int k = 0; k < 3; k++) end[k] = endOf(m, integrator, 40 << k, c->torque);
  out = djt_room((size_t)dj_tangentSize(m));
  for (int k = 0; k < 2; k++) {
    djt_stateDifference(out, m, end[k], end[k + 1]);
    for (int i = 0; i < 2 * m->nv + m->na; i++) e[k] += out[i] * out[i];
  }
  free(out);
  for (int k = 0; k < 3; k++) free(end[k]);
  dj_deleteModel(m);
  print_message("   error %.1e ", sqrt(e[1]));
  return 0.5 * log2(e[0] / e[1]);
}

static void testOrders(void** state) {
  static const Case cases[] = {{"nothing", nothing, false, 2},
                               {"integrator", integrator, false, 2},
                               {"filter", filter, false, 2},
                               {"early filter", earlyFilter, false, 2},
                               {"exact filter", exactFilter, false, 2},
                               {"on a hinge", onHinge, false, 2},
                               {"on a ball", onBall, false, 2},
                               {"by its parent", onBallParent, false, 2},
                               {"on a free body", onFree, false, 2},
                               {"by the world", onFreeParent, false, 2},
                               {"on a site", onSite, false, 2},
                               {"on its chain", onChain, false, 2},
                               {"between trees", onTwo, false, 2},
                               {"crank", crank, false, 2},
                               {"drag", fluid, false, 2},
                               {"limit", springLimit, false, 2},
                               {"damped limit", dampedLimit, false, 2},
                               {"limit of a turn", ballLimit, false, 2},
                               {"friction loss", loss, false, 2},
                               {"applied wrench", nothing, true, 2}};
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const Case* c = &cases[k];
    double first = orderOf(c, DJ_BDF1), second = orderOf(c, DJ_BDF2);
    print_message("%-16s bdf1 %.3f, bdf2 %.3f\n", c->name, first, second);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testOrders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
