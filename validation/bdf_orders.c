// Orders of bdf1 and bdf2 on random trees of all joints, with each kind of force alone and with
// all: slopes of the error at an end, by halving the timestep twice; of one step of SDIRK2, with
// which bdf2 begins; and that both end at the same motion. Then a damped spring beside the
// recurrences of both methods, in long double.

#include "common/report.h"
#include "common/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 6, MOST_STATE = 200 };

typedef enum Kind {
  NOTHING,
  SPRINGS,
  LIMITS,
  DRAG,
  WRENCHES,
  ACTIVATIONS,
  TURNS,
  SITES,
  ALL,
  NKIND
} Kind;

static const char* const kName[NKIND] = {"gravity alone",
                                         "springs, dampers, friction loss",
                                         "damped limits",
                                         "fluid drag",
                                         "forces on bodies and dofs",
                                         "actuators with activations",
                                         "servos on balls and free bodies",
                                         "servos on sites",
                                         "all"};

static bool has(Kind kind, Kind one) { return kind == one || kind == ALL; }

// ---- random trees -----------------------------------------------------------------------------

typedef struct Tree {
  djvScene scene;
  djSiteDef site[MOST_BODIES];
  djvRandom* random;
  Kind kind;
} Tree;

static double draw(Tree* t, double low, double high) { return djv_uniform(t->random, low, high); }

static void addActuator(Tree* t, int joint, int site, int refsite, bool in_parent) {
  djActuatorDef* a = &t->scene.actuator[t->scene.def.nu];
  if (t->scene.def.nu == DJV_MAX_ACTUATOR) return;
  t->scene.def.nu++;
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  a->site = site;
  a->refsite = refsite;
  a->in_parent = in_parent;
  djv_uniforms(a->gear, 6, t->random, -0.6, 0.6);
  a->gain = DJ_GAIN_AFFINE;
  a->gainprm[0] = draw(t, 0.5, 1.5);
  a->gainprm[1] = draw(t, -0.3, 0.3);
  a->gainprm[2] = draw(t, -0.2, 0);
  a->bias = DJ_BIAS_AFFINE;
  a->biasprm[1] = draw(t, -1.5, 0);
  a->biasprm[2] = draw(t, -0.3, 0);
  if (!has(t->kind, ACTIVATIONS)) return;
  a->dyn = (djDyn)djv_integer(t->random, DJ_DYN_INTEGRATOR, DJ_DYN_FILTEREXACT);
  a->tau = draw(t, 0.05, 0.2);
  a->actearly = djv_integer(t->random, 0, 1);
}

static void addJoint(Tree* t, int body, djJointType type) {
  double axis[3] = {0, 0, 1}, norm = 0;
  djv_uniforms(axis, 2, t->random, -1, 1);
  for (int k = 0; k < 3; k++) norm += axis[k] * axis[k];
  for (int k = 0; k < 3; k++) axis[k] /= sqrt(norm);
  bool turns = type == DJ_BALL || type == DJ_FREE;
  int id = djv_addJoint(&t->scene, body, type, axis);
  djJointDef* j = &t->scene.joint[id];
  if (type != DJ_FREE) djv_uniforms(j->pos, 3, t->random, -0.1, 0.1);
  j->armature = 0.02;
  if (has(t->kind, SPRINGS)) {
    j->stiffness = draw(t, 0, 4);
    j->damping = draw(t, 0.05, 0.4);
    j->dampingpoly[1] = draw(t, 0, 0.05);
    j->frictionloss = draw(t, 0, 0.1);
  }
  if (has(t->kind, LIMITS) && !turns) { // within the width of the limit, 1 % of the range
    j->limited = true;
    j->range[0] = -100;
    j->margin = 0.5;
    j->limit_stiffness = draw(t, 5, 20);
    j->limit_damping = draw(t, 1, 4);
  }
  if (t->kind == ACTIVATIONS && !turns) addActuator(t, id, -1, -1, false);
  if (has(t->kind, TURNS) && turns) addActuator(t, id, -1, -1, djv_integer(t->random, 0, 1));
}

static void addBody(Tree* t, int id) {
  double pos[3];
  djv_uniforms(pos, 3, t->random, -0.4, 0.4);
  int parent = djv_integer(t->random, 0, 2) ? id - 1 : 0;
  int body = djv_addBody(&t->scene, parent, pos);
  if (parent == 0 && id % 3 == 0) {
    addJoint(t, body, DJ_FREE);
  } else if (id % 2) {
    addJoint(t, body, DJ_BALL);
  } else {
    addJoint(t, body, DJ_HINGE);
    if (id % 4 == 0) addJoint(t, body, DJ_SLIDE);
  }
  djBodyDef* b = &t->scene.body[body];
  b->mass = draw(t, 0.5, 1.5);
  double x[3];
  djv_uniforms(x, 3, t->random, 0.01, 0.05);
  for (int k = 0; k < 3; k++) b->inertia[k] = x[(k + 1) % 3] + x[(k + 2) % 3];
  djv_uniforms(b->ipos, 3, t->random, -0.15, 0.15);
  djv_randomQuat(t->random, b->iquat);
}

// Sites on the world and every body; an actuator on each, against another one or none. They are far
// from the half turn against each other where a servo's length jumps.
static void addSites(Tree* t) {
  int n = t->scene.def.nbody;
  t->scene.def.site = t->site;
  t->scene.def.nsite = n;
  for (int b = 0; b < n; b++) {
    t->site[b] = (djSiteDef){.body = b};
    djv_uniforms(t->site[b].pos, 3, t->random, -0.2, 0.2);
    double turn[3], square = 1;
    djv_uniforms(turn, 3, t->random, -0.3, 0.3);
    for (int k = 0; k < 3; k++) square += turn[k] * turn[k];
    t->site[b].quat[0] = 1 / sqrt(square);
    for (int k = 0; k < 3; k++) t->site[b].quat[k + 1] = turn[k] / sqrt(square);
  }
  for (int b = 1; b < n; b++) addActuator(t, -1, b, b % 3 ? (b + 1) % n : -1, false);
}

static djModel* makeTree(djvRandom* random, Kind kind) {
  Tree* t = djv_take(1, sizeof *t);
  t->random = random;
  t->kind = kind;
  djv_startScene(&t->scene, 0.01);
  int n = djv_integer(random, 3, MOST_BODIES - 1);
  for (int b = 1; b <= n; b++) addBody(t, b);
  if (has(kind, SITES)) addSites(t);
  djOption* o = &t->scene.def.option;
  o->contact = DJ_CONTACT_NONE;
  o->frictionloss_eps = 0.5;
  o->tolerance = 1e-9;
  if (has(kind, DRAG)) {
    o->density = 30;
    o->viscosity = 0.2;
    djv_uniforms(o->wind, 3, random, -1, 1);
  }
  djModel* m;
  djError err;
  if (dj_makeModel(&m, &t->scene.def, &err) < 0) djv_fail("tree: %s", err.text);
  free(t);
  return m;
}

// ---- runs -------------------------------------------------------------------------------------

typedef struct Numbers {
  double qpos[MOST_STATE], qvel[MOST_STATE], act[MOST_STATE];
  double ctrl[DJV_MAX_ACTUATOR], qfrc[MOST_STATE], xfrc[6 * (MOST_BODIES + 1)];
} Numbers;

static void drawStart(Numbers* s, const djModel* m, djvRandom* random, Kind kind) {
  double w[MOST_STATE];
  if (m->nq > MOST_STATE) djv_fail("tree: too large");
  memset(s, 0, sizeof *s);
  djv_uniforms(w, m->nv, random, -0.4, 0.4);
  dj_integratePos(s->qpos, m, m->qpos0, w, 1);
  djv_uniforms(s->qvel, m->nv, random, -1.5, 1.5);
  djv_uniforms(s->act, m->na, random, -0.5, 0.5);
  djv_uniforms(s->ctrl, m->nu, random, -1, 1);
  if (!has(kind, WRENCHES)) return;
  djv_uniforms(s->qfrc, m->nv, random, -0.5, 0.5);
  djv_uniforms(s->xfrc + 6, 6 * (m->nbody - 1), random, -0.5, 0.5);
}

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

static void run(Numbers* end, djModel* m, const Numbers* start, djIntegrator integrator,
                double time, int steps) {
  djData* d;
  djError err;
  djOption option = m->opt;
  option.integrator = integrator;
  option.timestep = time / steps;
  if (dj_setOption(m, &option, &err) < 0) djv_fail("%s", err.text);
  if (dj_makeData(&d, m, &err) < 0) djv_fail("%s", err.text);
  copy(d->qpos, start->qpos, m->nq);
  copy(d->qvel, start->qvel, m->nv);
  copy(d->act, start->act, m->na);
  copy(d->ctrl, start->ctrl, m->nu);
  copy(d->qfrc_applied, start->qfrc, m->nv);
  copy(d->xfrc_applied, start->xfrc, 6 * m->nbody);
  for (int k = 0; k < steps; k++) {
    if (dj_step(m, d) < 0) djv_fail("%s", dj_errorText(d));
  }
  if (d->stats.fallback_steps > 0) djv_fail("a step was taken by another method");
  copy(end->qpos, d->qpos, m->nq);
  copy(end->qvel, d->qvel, m->nv);
  copy(end->act, d->act, m->na);
  dj_deleteData(d);
}

// w = b - a in all of (q, v, act); their number is returned.
static int difference(double* w, const djModel* m, const Numbers* a, const Numbers* b) {
  dj_differentiatePos(w, m, 1, a->qpos, b->qpos);
  for (int i = 0; i < m->nv; i++) w[m->nv + i] = b->qvel[i] - a->qvel[i];
  for (int i = 0; i < m->na; i++) w[2 * m->nv + i] = b->act[i] - a->act[i];
  return 2 * m->nv + m->na;
}

static double size(const double* w, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += w[i] * w[i];
  return sqrt(sum);
}

typedef struct Range {
  double least, most;
} Range;

static void widen(Range* r, double x) {
  r->least = isnan(x) ? x : fmin(r->least, x);
  r->most = djv_worst(r->most, x);
}

typedef struct Orders {
  Range order[2], local;
  double apart; // of what bdf1 and bdf2 tend to, relative to what bdf1 has still to go
} Orders;

static void measure(Orders* o, djModel* m, const Numbers* start) {
  static Numbers end[2][3];
  double w[2][2][MOST_STATE * 3], between[MOST_STATE * 3];
  int n = 0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3; i++) run(&end[k][i], m, start, k ? DJ_BDF2 : DJ_BDF1, 0.1, 100 << i);
    for (int i = 0; i < 2; i++) n = difference(w[k][i], m, &end[k][i], &end[k][i + 1]);
    widen(&o->order[k], log2(size(w[k][0], n) / size(w[k][1], n)));
  }
  difference(between, m, &end[0][2], &end[1][2]);
  for (int i = 0; i < n; i++) between[i] -= w[0][1][i];
  o->apart = djv_worst(o->apart, size(between, n) / size(w[0][1], n));
  double error[2];
  for (int k = 0; k < 2; k++) {
    double h = 4e-3 / (1 << k);
    run(&end[0][0], m, start, DJ_BDF2, h, 1);
    run(&end[0][1], m, start, DJ_BDF2, h, 30);
    error[k] = size(between, difference(between, m, &end[0][0], &end[0][1]));
  }
  widen(&o->local, log2(error[0] / error[1]));
}

static void checkKind(djvReport* r, Kind kind, int ntree) {
  djvRandom random = djv_random(700 + (uint64_t)kind);
  static Numbers start;
  Orders o = {.order = {{9, -9}, {9, -9}}, .local = {9, -9}};
  for (int k = 0; k < ntree; k++) {
    djModel* m = makeTree(&random, kind);
    drawStart(&start, m, &random, kind);
    measure(&o, m, &start);
    dj_deleteModel(m);
  }
  djv_title("%s", kName[kind]);
  for (int k = 0; k < 2; k++) {
    const char* name = k ? "order of bdf2" : "order of bdf1";
    djv_near(r, k ? "bdf2, least order" : "bdf1, least order", o.order[k].least, k + 1, 0.1, "");
    djv_near(r, "  largest", o.order[k].most, k + 1, 0.1, "");
    djv_figure(r, name, o.order[k].least, "");
    djv_figure(r, name, o.order[k].most, "");
  }
  djv_above(r, "one step of SDIRK2, least order", o.local.least, 2.7, "");
  djv_below(r, "both tend to one motion: apart by bdf1's error times", o.apart, 0.05, "");
}

// ---- a spring ---------------------------------------------------------------------------------

// m a = -k q+ - c v+, with q+ = Q + b v+ and a = (v+ - V)/b.
static void checkSpring(djvReport* r, bool second) {
  const double h = 0.01, mass = 1.3, k = 40, c = 0.7;
  const double axis[3] = {1, 0, 0}, origin[3] = {0};
  djvScene* s = djv_take(1, sizeof *s);
  djModel* m;
  djData* d;
  djv_startScene(s, h);
  int body = djv_addBody(s, 0, origin), id = djv_addJoint(s, body, DJ_SLIDE, axis);
  s->body[body].mass = mass;
  for (int i = 0; i < 3; i++) s->body[body].inertia[i] = 0.01;
  s->joint[id].stiffness = k;
  s->joint[id].damping = c;
  s->def.option.integrator = second ? DJ_BDF2 : DJ_BDF1;
  s->def.option.contact = DJ_CONTACT_NONE;
  s->def.option.tolerance = 1e-15;
  djv_make(&m, &d, s);
  long double q = 0.3L, v = -0.2L, q0 = 0, v0 = 0, worst = 0;
  d->qpos[0] = 0.3;
  d->qvel[0] = -0.2;
  for (int step = 0; step < 500; step++) {
    if (dj_step(m, d) < 0) djv_fail("%s", dj_errorText(d));
    long double Q = q, V = v, b = h;
    if (second && step == 0) {
      long double alpha = 1 - sqrtl(0.5L), rest = (1 - alpha) * h;
      b = alpha * h;
      long double va = (mass * v / b - k * q) / (mass / b + c + k * b);
      Q = q + rest * va;
      V = v + rest * (va - v) / b;
    } else if (second) {
      Q = (4 * q - q0) / 3;
      V = (4 * v - v0) / 3;
      b = 2 * (long double)h / 3;
    }
    q0 = q;
    v0 = v;
    v = (mass * V / b - k * Q) / (mass / b + c + k * b);
    q = Q + b * v;
    worst = fmaxl(worst, fmaxl(fabsl(q - d->qpos[0]), fabsl(v - d->qvel[0])));
  }
  djv_below(r, second ? "bdf2 and SDIRK2" : "bdf1", (double)worst, 1e-12, "m, m/s");
  dj_deleteData(d);
  dj_deleteModel(m);
  free(s);
}

int main(int argc, char** argv) {
  int ntree = djv_isQuick(argc, argv) ? 3 : 20;
  djvReport r = {0};
  printf("Orders of bdf1 and bdf2, %d random trees each\n", ntree);
  for (int k = 0; k < NKIND; k++) checkKind(&r, (Kind)k, ntree);
  djv_title("a damped spring, beside its recurrence");
  for (int second = 0; second < 2; second++) checkSpring(&r, second);
  return djv_finish(&r);
}
