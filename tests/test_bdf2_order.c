// Order of bdf1 and bdf2 with each force alone, by the error at an end over n, 2 n and 4 n steps.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/test.h"

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

// The hinge is within the width of its limit all the time, on the way out or in.
static void limits(Scene* s, double low, double high, double damping) {
  djJointDef* j = &s->joint[1];
  j->limited = true;
  j->range[0] = low;
  j->range[1] = high;
  j->margin = 0.4;
  j->limit_stiffness = 30;
  j->limit_damping = damping;
}

static void springLimit(Scene* s) { limits(s, -60, 0, 0); }
static void leftLimit(Scene* s) { limits(s, -60, 0, 6); }
static void pressedLimit(Scene* s) { limits(s, 0, 60, 6); }

static void pathLimit(Scene* s) {
  static const djWrapDef wrap[2] = {{DJ_WRAP_SITE, 1, 0}, {DJ_WRAP_SITE, 2, 0}};
  static djTendonDef tendon;
  addSites(s);
  tendon = dj_defaultTendonDef();
  tendon.nwrap = 2;
  tendon.wrap = wrap;
  tendon.limited = true;
  tendon.range[1] = 0.6;
  tendon.limit_stiffness = 300;
  tendon.limit_damping = 30;
  s->def.tendon = &tendon;
  s->def.ntendon = 1;
}

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

// ---- the models -------------------------------------------------------------------------------

typedef struct Case {
  const char* name;
  void (*add)(Scene* s);
  bool torque;
} Case;

static const Case cases[] = {{"nothing", nothing, false},
                             {"integrator", integrator, false},
                             {"filter", filter, false},
                             {"early filter", earlyFilter, false},
                             {"exact filter", exactFilter, false},
                             {"on a hinge", onHinge, false},
                             {"on a ball", onBall, false},
                             {"by its parent", onBallParent, false},
                             {"on a free body", onFree, false},
                             {"by the world", onFreeParent, false},
                             {"on a site", onSite, false},
                             {"on its chain", onChain, false},
                             {"between trees", onTwo, false},
                             {"crank", crank, false},
                             {"drag", fluid, false},
                             {"limit", springLimit, false},
                             {"left limit", leftLimit, false},
                             {"pressed limit", pressedLimit, false},
                             {"limit of a path", pathLimit, false},
                             {"limit of a turn", ballLimit, false},
                             {"friction loss", loss, false},
                             {"applied wrench", nothing, true}};
enum { NCASE = sizeof cases / sizeof cases[0] };

// A ball joint with a hinge on it, beside a free body.
static djModel* makeModel(const Case* c) {
  Scene* s = newScene(4);
  int up = addBody(s, 0, DJ_BALL, 0.3, 0, 0, 1, 0.2);
  addBody(s, up, DJ_HINGE, 0.3, 0, 0, 0.7, 0.2);
  addBody(s, 0, DJ_FREE, 0, 1, 0, 1, 0.2);
  for (int b = 1; b < s->def.nbody; b++) {
    s->body[b].ipos[0] = 0.2;
    s->body[b].ipos[1] = 0.1;
    s->body[b].inertia[1] *= 1.5;
    dju_storeQuat(s->body[b].iquat, dju_expQuat((djVec3){0.4, -0.2, 0.1 * b}));
    s->joint[b - 1].armature = b == 2 ? 0.02 : 0;
    s->joint[b - 1].stiffness = 5;
    s->joint[b - 1].damping = 0.5;
  }
  c->add(s);
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

// ---- order ------------------------------------------------------------------------------------

// The end in (q, v, act), of so many steps.
static double* endOf(djModel* m, djIntegrator integrator, double time, int steps, bool torque) {
  djData* d = djt_openMethod(m, integrator, time / steps);
  d->work->refinement_steps = 5;
  setStart(m, d, torque);
  for (int i = 0; i < steps; i++) assert_true(dj_step(m, d) >= 0); // rounding may stop the last
  assert_int_equal(d->stats.fallback_steps, 0);
  double* end = djt_room((size_t)dj_stateSize(m));
  assert_int_equal(dj_getState(end, m, d), DJ_OK);
  dj_deleteData(d);
  return end;
}

// from b - a, n numbers, all of q and v and act: its size, and that of its difference to `other`.
static double sizeOf(const double* a, const double* other, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double x = a[i] - (other ? other[i] : 0);
    sum += x * x;
  }
  return sqrt(sum);
}

// Slopes over n, 2 n, 4 n steps; *apart: of the ends of both as the steps go to 0, relative to the
// error that bdf1 has.
static void ordersOf(double order[2], double* apart, const Case* c) {
  static const djIntegrator integrator[2] = {DJ_BDF1, DJ_BDF2};
  djModel* m = makeModel(c);
  int n = 2 * m->nv + m->na;
  double *end[2][3], *step[2][2], *between;
  djIntegrator own = m->opt.integrator;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) end[k][i] = endOf(m, integrator[k], 0.2, 160 << i, c->torque);
  }
  djOption option = m->opt;
  option.integrator = own; // without a history, which is no part of the error
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 2; i++) {
      step[k][i] = djt_room((size_t)n);
      djt_stateDifference(step[k][i], m, end[k][i], end[k][i + 1]);
    }
    order[k] = log2(sizeOf(step[k][0], NULL, n) / sizeOf(step[k][1], NULL, n));
  }
  // What bdf1 has still to go is its last change; bdf2 has next to nothing.
  between = djt_room((size_t)n);
  djt_stateDifference(between, m, end[0][2], end[1][2]);
  *apart = sizeOf(between, step[0][1], n) / sizeOf(step[0][1], NULL, n);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) free(end[k][i]);
    for (int i = 0; i < 2; i++) free(step[k][i]);
  }
  free(between);
  dj_deleteModel(m);
}

// Of the error that one step without a history has, over h and h/2, by many over either.
static double localOrder(const Case* c) {
  djModel* m = makeModel(c);
  double error[2], *out = djt_room(4 * (size_t)m->nv + (size_t)m->na), h = 4e-3;
  for (int k = 0; k < 2; k++, h /= 2) {
    double *one = endOf(m, DJ_BDF2, h, 1, c->torque), *many = endOf(m, DJ_BDF2, h, 40, c->torque);
    djt_stateDifference(out, m, one, many);
    error[k] = sizeOf(out, NULL, 2 * m->nv + m->na);
    free(one);
    free(many);
  }
  free(out);
  dj_deleteModel(m);
  return log2(error[0] / error[1]);
}

static void testOrders(void) {
  bool failed = false;
  for (int k = 0; k < NCASE; k++) {
    double order[2], apart, local = localOrder(&cases[k]);
    ordersOf(order, &apart, &cases[k]);
    print_message("%-16s bdf1 %.3f, bdf2 %.3f, one step %.3f, apart %.3f\n", cases[k].name,
                  order[0], order[1], local, apart);
    failed |= !(fabs(order[0] - 1) < 0.1 && fabs(order[1] - 2) < 0.1);
    failed |= !(local > 2.7 && apart < 0.06);
  }
  assert_false(failed);
}

// Where a control jumps the acceleration does, and bdf2 is of first order; of second, where the
// history is dropped there, so that SDIRK2 begins anew.
static void testJumps(void) {
  for (int drop = 0; drop < 2; drop++) {
    const Case c = {"", onHinge, false};
    djModel* m = makeModel(&c);
    double *end[3], error[2], out[40];
    for (int k = 0; k < 3; k++) {
      int steps = 160 << k;
      djData* d = djt_openMethod(m, DJ_BDF2, 0.2 / steps);
      d->work->refinement_steps = 5;
      setStart(m, d, false);
      for (int i = 0; i < steps; i++) {
        if (i == steps / 2) {
          d->ctrl[0] = -3;
          if (drop) assert_int_equal(dj_setHistory(d, m, NULL, NULL), DJ_OK);
        }
        assert_true(dj_step(m, d) >= 0);
      }
      end[k] = djt_room((size_t)dj_stateSize(m));
      assert_int_equal(dj_getState(end[k], m, d), DJ_OK);
      dj_deleteData(d);
    }
    assert_true(dj_tangentSize(m) <= 40);
    for (int k = 0; k < 2; k++) {
      djt_stateDifference(out, m, end[k], end[k + 1]);
      error[k] = sizeOf(out, NULL, 2 * m->nv);
    }
    double order = log2(error[0] / error[1]);
    print_message("a jump: order %.3f%s\n", order, drop ? " without the history" : "");
    assert_true(fabs(order - (drop ? 2 : 1)) < 0.1);
    for (int k = 0; k < 3; k++) free(end[k]);
    dj_deleteModel(m);
  }
}

// Activations are those of held controls, to rounding, and all filters one.
static void testActivations(void) {
  void (*const add[])(Scene*) = {integrator, filter, earlyFilter, exactFilter};
  double q[16];
  for (int k = 0; k < 4; k++) {
    const Case c = {"", add[k], false};
    djModel* m = makeModel(&c);
    djData* d = djt_openMethod(m, DJ_BDF2, 0.01);
    setStart(m, d, false);
    double act = d->act[0], u = d->ctrl[0], tau = m->actuator_tau[0];
    for (int i = 0; i < 30; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    double want = k == 0 ? act + 0.3 * u : u + (act - u) * exp(-0.3 / tau);
    assert_true(fabs(d->act[0] - want) < 1e-14);
    if (k == 1) memcpy(q, d->qpos, (size_t)m->nq * sizeof(double));
    if (k > 1) assert_memory_equal(q, d->qpos, (size_t)m->nq * sizeof(double));
    djt_delete(m, d);
  }
}

// ---- derivatives ------------------------------------------------------------------------------

// A and B of SDIRK2's step and of one with a history.
static void testTransitions(void) {
  double worst = 0;
  for (int k = 0; k < NCASE; k++) {
    djModel* m = makeModel(&cases[k]);
    for (int steps = 0; steps < 4; steps += 3) {
      djData* d = djt_openMethod(m, DJ_BDF2, 0.005);
      setStart(m, d, cases[k].torque);
      for (int i = 0; i < steps; i++) assert_int_equal(dj_step(m, d), DJ_OK);
      double error = djt_transitionError(m, d, 2e-4, 0);
      if (error > 1e-8) print_message("%s after %d: %.1e\n", cases[k].name, steps, error);
      worst = djt_worst(worst, error);
      dj_deleteData(d);
    }
    dj_deleteModel(m);
  }
  djt_below("transition", worst, 1e-7);
}

static void testParams(void) {
  static const char* const name[] = {
      "actuator/#0/gear", "actuator/#0/gainprm", "actuator/#0/biasprm", "site/#0/pos",
      "site/#1/pos",      "site/#2/pos",         "joint/#1/range",      "joint/#0/range",
      "tendon/#0/range",  "joint/#1/axis",       "joint/#1/pos",        "joint/#2/damping",
      "body/#1/quat",     "body/#2/pos",         "body/#2/quat",        "body/#1/mass",
      "body/#3/mass",     "body/#2/inertia",     "body/#3/inertia",     "body/#1/ipos",
      "body/#3/ipos",     "body/#2/iquat",       "body/#3/iquat"};
  enum { N = sizeof name / sizeof name[0], T = 5 };
  double worst = 0;
  for (int k = 0; k < NCASE; k++) {
    djModel* m = makeModel(&cases[k]);
    djtRun run = {.m = m, .d = djt_openMethod(m, DJ_BDF2, 0.01)};
    djError err;
    assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
    setStart(m, run.d, cases[k].torque);
    double ctrl[T] = {0.7, 0.5, -0.3, 0.2, 0.9}, q[16], v[16], act[2];
    memcpy(q, run.d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v, run.d->qvel, (size_t)m->nv * sizeof(double));
    memcpy(act, run.d->act, (size_t)m->na * sizeof(double));
    djLossTerm loss[2] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                          {.type = DJ_LOSS_QVEL, .id = 1, .target = {0.2}, .weight = 0.1}};
    run.r = (djRollout){.horizon = T,
                        .qpos0 = q,
                        .qvel0 = v,
                        .act0 = act,
                        .ctrl = m->nu > 0 ? ctrl : NULL,
                        .nloss = 2,
                        .loss = loss,
                        .refinement_steps = 6};
    djParam param[N];
    int n = 0;
    for (int i = 0; i < N; i++) {
      if (dj_paramId(&param[n], m, name[i], NULL) != DJ_OK) continue;
      if (strcmp(name[i] + 9, "range") == 0 && !m->jnt_limited[name[i][7] - '0']) continue;
      n++;
    }
    double error = djt_runErrors(&run, param, n, 1e-3, 0, 1e-3);
    print_message("%s: %.1e of %d\n", cases[k].name, error, n);
    worst = djt_worst(worst, error);
    djd_deleteTape(run.tape);
    djt_delete(m, run.d);
  }
  djt_below("parameters", worst, 1e-6);
}

DJT_MAIN(testOrders, testJumps, testActivations, testTransitions, testParams)
