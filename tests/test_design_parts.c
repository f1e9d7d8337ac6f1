// From x to values and back, without a run: what is placed where, and the gradient by x of any
// functional of values, start and controls, against differences of that functional.

#include "common/design_case.h"
#include "common/near.h"
#include "common/random.h"
#include "common/room.h"
#include "common/test.h"
#include "gradient/design_parts.h"
#include "math/so3.h"
#include "model/param.h"

static const char scene[] =
    "{'dijoco_model':1,'bodies':[{'name':'world'},"
    "{'name':'puck','pos':[0,0,1],'mass':0.5,'inertia':[0.002,0.003,0.004]},"
    "{'name':'hand','pos':[1,0,1],'quat':[0.9,0.1,0.3,0.2],'iquat':[0.8,0.1,0.2,0.1],"
    "'mass':1,'inertia':[0.02,0.03,0.04]},"
    "{'name':'finger','parent':'hand','pos':[0.1,0,-0.4],'mass':0.2,'inertia':[0.002,0.002,0.001]},"
    "{'name':'tail','pos':[0,1,1],'mass':0.3,'inertia':[0.002,0.003,0.001]}],"
    "'joints':[{'name':'free','type':'free','body':'puck'},"
    "{'name':'swing','type':'hinge','body':'hand','axis':[0,1,0.2]},"
    "{'name':'bend','type':'slide','body':'finger','axis':[1,0,0]},"
    "{'name':'ball','type':'ball','body':'tail'}],"
    "'sites':[{'name':'tip','body':'hand','pos':[0.02,0,-0.35]}],"
    "'actuators':[{'name':'m0','joint':'swing'},{'name':'m1','joint':'bend',"
    "'dyn':'filter','tau':0.03}]}";

static const char task[] =
    "{'scene':'s','horizon':3,'initial':{'qpos':[0,0,1,1,0.01,0,0,0.3,-0.2,0.9,0.1,0.2,"
    "0.3],'qvel':[0.5,0.1,0,0,0,0.4,1,-1,0.2,0.3,-0.4],'act':[0.3]},'ctrl':[0.2,0.1],"
    "'loss':[{'type':'effort'}],"
    "'free':{'axis':{'value':[0.3,1.5,-0.4]},'turn':{'value':[2,0.3,-0.5,0.1]},"
    "'wave':{'value':[0.4,-0.2,0.3,0.1,-0.3,0.2]},'moves':{'value':[0.1,0.2,0.3]}},"
    "'maps':[{'type':'shared','from':'moves','to':'body/hand/pos'},"
    "{'type':'shared','from':'axis','to':'joint/swing/axis'},"
    "{'type':'shared','from':'turn','to':'body/hand/quat'},"
    "{'type':'tanh','from':'wave','hold':1}],"
    "'variables':[{'name':'axis'},{'name':'turn','index':[3,0,1,2]},"
    "{'name':'wave'},{'name':'moves','index':[2,0]},{'name':'body/tail/quat'},"
    "{'name':'body/hand/iquat','index':[2]},{'name':'body/puck/mass'},"
    "{'name':'site/tip/pos','index':[2,1]},{'name':'qpos0','index':[5,3,0,6,9,8]},"
    "{'name':'qvel0','index':[7]},{'name':'act0'}]}";

static void openCase(DesignCase* c) { djt_openDesign(c, scene, task); }

// A functional of what is placed: its derivatives are the arrays of result; base: where it is 0.
typedef struct Base {
  double *value, *qpos0, *qvel0, *act0, *ctrl;
} Base;

static double* copied(const double* x, size_t n) {
  double* y = djt_room(n);
  memcpy(y, x, n * sizeof *y);
  return y;
}

static Base keep(const djDesign* d) {
  const djDesignMemory* w = dj_designMemory(d);
  return (Base){copied(w->value, (size_t)w->nvalue), copied(w->qpos0, (size_t)d->model->nq),
                copied(w->qvel0, (size_t)d->model->nv), copied(w->act0, (size_t)d->model->na),
                copied(w->ctrl, (size_t)w->nctrl)};
}

static double turned(const double* g, const double* from, const double* to) {
  djQuat p = dju_normalizeQuat(dju_loadQuat(from)), q = dju_normalizeQuat(dju_loadQuat(to));
  return dju_dot3(dju_load3(g), dju_logQuat(dju_mulQuat(dju_conj(p), q)));
}

static double functional(const djDesign* d, const Base* base) {
  const djDesignMemory* w = dj_designMemory(d);
  const djModel* m = d->model;
  const djRolloutResult* r = &d->result;
  double sum = 0, *dq = djt_room((size_t)m->nv);
  for (int k = 0; k < d->problem->nparam; k++) {
    const djParam* p = &d->problem->param[k];
    const double *a = base->value + w->valueadr[k], *b = w->value + w->valueadr[k];
    const double* g = r->grad_param + w->tangentadr[k];
    int plain = dj_plainValues(p);
    assert_int_equal(plain, p->ntangent == p->nvalue ? p->nvalue : p->ntangent - 3);
    if (dj_paramIsAxis(m, p)) {
      djVec3 x = dju_load3(a), y = dju_load3(b);
      x = dju_sub3(dju_scale3(1 / dju_norm3(y), y), dju_scale3(1 / dju_norm3(x), x));
      sum += dju_dot3(dju_load3(g), x);
      continue;
    }
    for (int i = 0; i < plain; i++) sum += g[i] * (b[i] - a[i]);
    if (plain < p->nvalue) sum += turned(g + plain, a + plain, b + plain);
  }
  dj_differentiatePos(dq, m, 1, base->qpos0, w->qpos0);
  for (int i = 0; i < m->nv; i++) {
    sum += r->grad_qpos0[i] * dq[i] + r->grad_qvel0[i] * (w->qvel0[i] - base->qvel0[i]);
  }
  for (int i = 0; i < m->na; i++) sum += r->grad_act0[i] * (w->act0[i] - base->act0[i]);
  for (int i = 0; i < w->nctrl; i++) sum += r->grad_ctrl[i] * (w->ctrl[i] - base->ctrl[i]);
  free(dq);
  return sum;
}

static void testGradient(void) {
  DesignCase c;
  openCase(&c);
  djDesign* d = c.d;
  djDesignMemory* w = dj_designMemory(d);
  djRng rng = {1};
  size_t n = (size_t)d->n;
  double *x = djt_room(n), *grad = djt_room(n), *y = djt_room(n);
  for (int trial = 0; trial < 10; trial++) {
    djt_uniforms(d->result.grad_param, c.p->nparamtangent, &rng, -1, 1);
    djt_uniforms(d->result.grad_qpos0, d->model->nv, &rng, -1, 1);
    djt_uniforms(d->result.grad_qvel0, d->model->nv, &rng, -1, 1);
    djt_uniforms(d->result.grad_act0, d->model->na, &rng, -1, 1);
    djt_uniforms(d->result.grad_ctrl, w->nctrl, &rng, -1, 1);
    for (size_t i = 0; i < n; i++) x[i] = d->x0[i] + (trial ? djt_uniform(&rng, -0.3, 0.3) : 0);
    memcpy(d->x, x, n * sizeof *x);   // the present point
    dj_placeDesign(d, x);
    Base base = keep(d);
    dj_gatherDesign(grad, d);
    for (size_t i = 0; i < n; i++) {
      double e = 1e-5, f[2];
      memcpy(y, x, n * sizeof *y);
      for (int k = 0; k < 2; k++) {
        y[i] = x[i] + (k ? e : -e);
        dj_placeDesign(d, y);
        f[k] = functional(d, &base);
      }
      djt_near(grad[i], (f[1] - f[0]) / (2 * e), 1e-8);
    }
    double* const list[] = {base.value, base.qpos0, base.qvel0, base.act0, base.ctrl};
    for (int k = 0; k < 5; k++) free(list[k]);
  }
  free(x);
  free(y);
  free(grad);
  djt_closeDesign(&c);
}

// Where a variable's first entry is in x.
static int entryOf(const djDesign* d, const char* name) {
  for (int i = 0; i < d->problem->nvariable; i++) {
    if (strcmp(d->problem->variable[i].name, name) == 0) return d->adr[i];
  }
  fail_msg("no variable %s", name);
  return -1;
}

static int paramOf(const djDesign* d, djField field, int id) {
  for (int k = 0; k < d->problem->nparam; k++) {
    if (d->problem->param[k].field == (int)field && d->problem->param[k].id == id) return k;
  }
  fail_msg("no parameter");
  return -1;
}

// At x0 everything is as given; beyond, each entry is where its name says.
static void testPlaces(void) {
  DesignCase c;
  openCase(&c);
  djDesign* d = c.d;
  djDesignMemory* w = dj_designMemory(d);
  const djModel* m = d->model;
  double* x = copied(d->x0, (size_t)d->n);
  dj_placeDesign(d, x);
  for (int i = 0; i < m->nq; i++) assert_true(w->qpos0[i] == c.p->qpos0[i]);
  for (int i = 0; i < m->nv; i++) assert_true(w->qvel0[i] == c.p->qvel0[i]);
  x[entryOf(d, "site/tip/pos")] = 7;       // its third number
  x[entryOf(d, "body/puck/mass")] = 3;
  x[entryOf(d, "qpos0") + 2] = 5;          // dof 0
  x[entryOf(d, "qpos0") + 3] = 0.6;        // dof 6, the hinge
  x[entryOf(d, "qvel0")] = -2;             // dof 7
  x[entryOf(d, "act0")] = 0.9;
  x[entryOf(d, "moves")] = 4;              // its third number
  x[entryOf(d, "wave") + 2] = 0.5;
  dj_placeDesign(d, x);
  int tip = paramOf(d, DJ_FIELD_SITE_POS, 0), mass = paramOf(d, DJ_FIELD_BODY_MASS, 1);
  int pos = paramOf(d, DJ_FIELD_BODY_POS, 2);
  assert_true(w->value[w->valueadr[tip] + 2] == 7 && w->value[w->valueadr[tip]] == 0.02);
  assert_true(w->value[w->valueadr[mass]] == 3);
  assert_true(w->value[w->valueadr[pos] + 2] == 4 && w->value[w->valueadr[pos] + 1] == 0.2);
  assert_true(w->qpos0[0] == 5 && w->qpos0[7] == 0.6 && w->qpos0[8] == -0.2);
  assert_true(w->qvel0[7] == -2 && w->act0[0] == 0.9);
  djt_near(w->ctrl[2], tanh(0.5), 1e-14);   // m0 in the second step
  djt_near(w->ctrl[3], tanh(0.1), 1e-14);
  djMapTarget to = {.param = pos, .start = 1}, controls = {.param = -1, .start = 3};
  assert_ptr_equal(dj_mapTarget(w->value, w->ctrl, d, &to), w->value + w->valueadr[pos] + 1);
  assert_ptr_equal(dj_mapTarget(w->value, w->ctrl, d, &controls), w->ctrl + 3);
  free(x);
  djt_closeDesign(&c);
}

// A dof that is no rotation moves its own number of qpos, and that alone.
static void testPlainQpos(void) {
  DesignCase c;
  openCase(&c);
  const djModel* m = c.m;
  int plain = 0;
  for (int i = 0; i < m->nv; i++) {
    double v[20] = {0}, q[20];
    int type = m->jnt_type[m->dof_jnt[i]], first = m->jnt_dofadr[m->dof_jnt[i]];
    assert_true(m->nv <= 20 && m->nq <= 20);
    if (type == DJ_BALL || (type == DJ_FREE && i >= first + 3)) continue;
    v[i] = 1;
    dj_integratePos(q, m, m->qpos0, v, 0.25);
    for (int k = 0; k < m->nq; k++) {
      djt_near(q[k] - m->qpos0[k], k == dj_plainQpos(m, i) ? 0.25 : 0, 1e-15);
    }
    plain++;
  }
  assert_int_equal(plain, 5);
  djt_closeDesign(&c);
}

// Connections: a place that a map computes and one that varies.
static void testConnect(void) {
  static const char keys[] = "{'scene':'s','horizon':3,'loss':[{'type':'effort'}],"
                             "'free':{'z':{'value':[0.1,0.2,0.3]}},"
                             "'maps':[{'type':'shared','from':'z','to':'site/tip/pos'}],"
                             "'connect':[{'a':{'site':'tip'},'b':{'body':'finger'}}],"
                             "'variables':[{'name':'z'},{'name':'body/finger/pos'}]}";
  DesignCase c;
  djt_openDesign(&c, scene, keys);
  djDesign* d = c.d;
  const djDesignMemory* w = dj_designMemory(d);
  djRng rng = {2};
  assert_true(d->nequal == 3 && d->n == 6);
  double x[6], at[2][3];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 6; i++) x[i] = d->x0[i] + (k ? djt_uniform(&rng, -1, 1) : 0);
    dj_placeDesign(d, x);
    const double* tip = w->value + w->valueadr[paramOf(d, DJ_FIELD_SITE_POS, 0)];
    const double* finger = w->value + w->valueadr[paramOf(d, DJ_FIELD_BODY_POS, 3)];
    for (int r = 0; r < 3; r++) at[k][r] = tip[r] - finger[r];
  }
  for (int r = 0; r < 3; r++) {
    double before = 0, after = 0, sign;
    for (int i = 0; i < 6; i++) before += djt_equal(d, r, i) * d->x0[i];
    for (int i = 0; i < 6; i++) after += djt_equal(d, r, i) * x[i];
    djt_near(before, d->value[r], 1e-15);
    sign = before * at[0][r] < 0 ? -1 : 1;   // either end may come first
    djt_near(after - before, sign * (at[1][r] - at[0][r]), 1e-14);
    assert_true(fabs(after - before) > 1e-3);
  }
  djt_closeDesign(&c);
}

DJT_MAIN(testGradient, testPlaces, testPlainQpos, testConnect)
