#include "codesign_chains/chains.h"

#include "codesign_chains/seconds.h"
#include "common/convex.h"
#include "common/scene.h"
#include "common/vec3.h"

#include <stdlib.h>
#include <string.h>

enum { NCHAIN = 4, NWALL = 4, NLENGTH = 5, WARM = 200, TIMED = 60, GRADED = 20, VERTICES = 8 };
static const int lengths[NLENGTH] = {2, 4, 8, 16, 32};
#define LINK 0.1   // length, m
#define STEP 0.002 // s

// The same links without friction, and without contact, to see what these cost.
enum { FULL, SMOOTH, FREE, NVARIANT };

typedef struct Chains {
  int n; // links a chain
  djvScene scene;
  djModel* model[NVARIANT];
  djData* data[NVARIANT];
  djvGeomShape shape[DJV_MAX_GEOM];
  djvConvex placed[DJV_MAX_GEOM];
  double* ctrl;  // (WARM + TIMED) x nu
  double* state; // (TIMED) states at which timed steps start
} Chains;

typedef struct Times {
  double step[NVARIANT];        // a step of each variant from the same states, s
  double forward, record, back; // a step of one run: as it is, with a recording, and the adjoint
  double iterations, pairs;     // a step
  double gap;                   // least of any pair at sampled states, by independent distances, m
  double gradient;              // by controls, beside differences, relative
  long unconverged;
} Times;

// A servo without stiffness of its own scene: kp (u - q) - kv q'.
static void addServo(djvScene* s, int joint) {
  djActuatorDef* a = &s->actuator[s->def.nu++];
  *a = dj_defaultActuatorDef();
  a->joint = joint;
  a->gainprm[0] = 1;
  a->bias = DJ_BIAS_AFFINE;
  a->biasprm[1] = -1;
  a->biasprm[2] = -0.05;
}

// A bar with eight corners about where a box has them.
static void makeLink(djvHull* out, djvRandom* random) {
  static const double half[3] = {0.024, 0.024, 0.046};
  out->nvert = VERTICES;
  for (int i = 0; i < VERTICES; i++) {
    for (int k = 0; k < 3; k++) {
      const double side = i >> k & 1 ? 1 : -1;
      out->vert[i][k] = half[k] * side * djv_uniform(random, 0.85, 1);
    }
  }
  djv_closeHull(out);
}

// Walls of a shaft in which there is little room.
static void addShaft(djvScene* s, int n) {
  for (int k = 0; k < NWALL; k++) {
    const double at = 0.071 * (k & 1 ? 1 : -1);
    const double pos[3] = {k < 2 ? at : 0, k < 2 ? 0 : at, -n * LINK / 2};
    const double half[3] = {k < 2 ? 0.01 : 0.1, k < 2 ? 0.1 : 0.01, n * LINK / 2 + 0.1};
    djv_addGeom(s, 0, DJ_BOX, half, pos, NULL);
  }
}

static void build(Chains* c, int n) {
  static const double axis[2][3] = {{1, 0, 0}, {0, 1, 0}}, below[3] = {0, 0, -LINK};
  static const double middle[3] = {0, 0, -LINK / 2};
  djvScene* s = &c->scene;
  djvRandom random = djv_random(6);
  memset(s, 0, sizeof *s);
  djv_startScene(s, STEP);
  s->def.option.skin = 0;
  memset(s->def.option.gravity, 0, sizeof s->def.option.gravity);
  addShaft(s, n);
  for (int k = 0; k < NCHAIN; k++) {
    const double base[3] = {k & 1 ? 0.034 : -0.034, k & 2 ? 0.034 : -0.034, 0};
    int body = 0;
    for (int i = 0; i < n; i++) {
      body = djv_addBody(s, body, i == 0 ? base : below);
      for (int j = 0; j < 2; j++) {
        int joint = djv_addJoint(s, body, DJ_HINGE, axis[j]);
        s->joint[joint].armature = 1e-4;
        addServo(s, joint);
      }
      djvHull link;
      makeLink(&link, &random);
      djv_addHull(s, body, &link, middle, NULL);
    }
  }
  djv_setDensity(s, 1000);
}

static void makeModels(Chains* c) {
  for (int v = 0; v < NVARIANT; v++) {
    for (int g = 0; g < c->scene.def.ngeom; g++) c->scene.geom[g].condim = v == SMOOTH ? 1 : 3;
    c->scene.def.option.disable = v == FREE ? DJ_DSBL_CONTACT : 0;
    djv_make(&c->model[v], &c->data[v], &c->scene);
  }
  c->scene.def.option.disable = 0;
  for (int g = 0; g < c->scene.def.ngeom; g++) djv_geomShape(&c->shape[g], &c->scene, g);
}

// Chains zigzag, neighbours against each other, in a direction that goes round.
static void setCtrl(Chains* c) {
  const int nu = c->model[FULL]->nu;
  c->ctrl = djv_take((size_t)(nu * (WARM + TIMED)), sizeof *c->ctrl);
  for (int k = 0; k < WARM + TIMED; k++) {
    const double t = k * STEP, size = 0.2 * fmin(1, t / 0.3);
    for (int i = 0; i < nu; i++) {
      const int chain = i / (2 * c->n), link = i / 2 % c->n;
      const double way = 4 * t + (chain == 0 || chain == 3 ? 0 : M_PI) + 0.3 * link;
      const double bend = link == 0 ? size : link & 1 ? -2 * size : 2 * size;
      c->ctrl[k * nu + i] = bend * (i & 1 ? -cos(way) : sin(way));
    }
  }
}

static void step(Chains* c, int v, int k) {
  const int nu = c->model[v]->nu;
  memcpy(c->data[v]->ctrl, c->ctrl + (size_t)k * (size_t)nu, (size_t)nu * sizeof(double));
  if (dj_step(c->model[v], c->data[v]) < 0) djv_fail("chains: %s", dj_errorText(c->data[v]));
}

// Least distance of any two links that may touch, at the present state.
static double leastGap(Chains* c) {
  const djModel* m = c->model[FULL];
  const djData* d = c->data[FULL];
  double least = INFINITY;
  dj_forward(m, c->data[FULL]);
  for (int g = 0; g < m->ngeom; g++) {
    djv_placeShape(&c->placed[g], &c->shape[g], 0, d->geom_xpos + 3 * g, d->geom_xmat + 9 * g);
  }
  for (int a = 0; a < m->ngeom; a++) {
    for (int b = a + 1; b < m->ngeom; b++) {
      const int link = b - NWALL;
      if (link < 0 || (b == a + 1 && link % c->n > 0)) continue; // a joint between them
      const djvConvex *p = &c->placed[a], *q = &c->placed[b];
      double axis[3];
      if (djv_dist(p->centre, q->centre) > p->bound + q->bound + 1e-3) continue;
      least = fmin(least, djv_separation(axis, p, q));
    }
  }
  return least;
}

// One run from the start: the first steps get the chains into each other, the others are timed.
static void runOnce(Times* t, Chains* c) {
  const djModel* m = c->model[FULL];
  const size_t size = (size_t)dj_stateSize(m);
  djData* d = c->data[FULL];
  c->state = djv_take(TIMED * size, sizeof *c->state);
  t->gap = INFINITY;
  for (int k = 0; k < WARM; k++) step(c, FULL, k);
  const long before = d->stats.newton_iterations;
  for (int k = 0; k < TIMED; k++) {
    if (dj_getState(c->state + (size_t)k * size, m, d) < 0) djv_fail("chains: no state");
    const double start = cpuSeconds();
    step(c, FULL, WARM + k);
    t->forward += (cpuSeconds() - start) / TIMED;
    t->pairs += (double)d->npair / TIMED;
    if (k % 10 == 0) t->gap = fmin(t->gap, leastGap(c));
  }
  t->iterations = (double)(d->stats.newton_iterations - before) / TIMED;
  t->unconverged = d->stats.unconverged_steps;
}

// The same step from the same states with and without what is to be priced.
static void timeVariants(Times* t, Chains* c) {
  const size_t size = (size_t)dj_stateSize(c->model[FULL]);
  for (int v = 0; v < NVARIANT; v++) {
    for (int k = 0; k < TIMED; k++) {
      if (dj_setState(c->data[v], c->model[v], c->state + (size_t)k * size) < 0) {
        djv_fail("chains: a state was refused");
      }
      const double start = cpuSeconds();
      step(c, v, WARM + k);
      t->step[v] += (cpuSeconds() - start) / TIMED;
    }
  }
}

// ---- the gradient -------------------------------------------------------------------------------

static double runLoss(djRolloutResult* result, Chains* c, const djRollout* run, djTape* tape) {
  djData* d = c->data[FULL];
  if (dj_setState(d, c->model[FULL], c->state) < 0 ||
      djd_rolloutForward(result, c->model[FULL], d, run, tape) < 0) {
    djv_fail("chains: %s", dj_errorText(d));
  }
  return result->loss;
}

// By controls of the first steps, along the gradient, beside centred differences: relative.
static double checkGradient(Chains* c, djRollout run, djTape* tape) {
  const int nu = c->model[FULL]->nu;
  const size_t n = (size_t)(GRADED * nu);
  double *ctrl = djv_take(n, sizeof *ctrl), *way = djv_take(n, sizeof *way), value[2], slope = 0;
  djRolloutResult result = {.grad_ctrl = djv_take(n, sizeof(double))};
  run.horizon = GRADED;
  run.refinement_steps = 3;
  runLoss(&result, c, &run, tape);
  if (djd_rolloutBackward(&result, c->model[FULL], c->data[FULL], &run, tape) < 0) {
    djv_fail("%s", dj_errorText(c->data[FULL]));
  }
  for (size_t i = 0; i < n; i++) {
    way[i] = result.grad_ctrl[i];
    slope += way[i] * result.grad_ctrl[i];
  }
  const double h = 1e-5 / sqrt(slope);
  run.loss_only = true;
  for (int s = 0; s < 2; s++) {
    for (size_t i = 0; i < n; i++) ctrl[i] = run.ctrl[i] + (s ? -h : h) * way[i];
    djRollout moved = run;
    moved.ctrl = ctrl;
    value[s] = runLoss(&(djRolloutResult){0}, c, &moved, tape);
  }
  free(ctrl);
  free(way);
  free(result.grad_ctrl);
  return fabs((value[0] - value[1]) / (2 * h) - slope) / slope;
}

// Loss: the last links' places. Gradients by all controls and all vertices.
static void timeGradient(Times* t, Chains* c) {
  const djModel* m = c->model[FULL];
  djData* d = c->data[FULL];
  djLossTerm loss[NCHAIN];
  const size_t nctrl = (size_t)(TIMED * m->nu);
  for (int k = 0; k < NCHAIN; k++) {
    loss[k] = (djLossTerm){.type = DJ_LOSS_POSITION,
                           .object = DJ_OBJ_BODY,
                           .id = 1 + c->n * (k + 1) - 1,
                           .weight = 1,
                           .when = DJ_WHEN_FINAL};
  }
  djRollout run = {.horizon = TIMED,
                   .qpos0 = d->qpos,
                   .qvel0 = d->qvel,
                   .nloss = NCHAIN,
                   .loss = loss,
                   .loss_only = true};
  run.ctrl = c->ctrl + (size_t)(WARM * m->nu);
  djParam* param = djv_take((size_t)m->nmesh, sizeof *param);
  djError err = {""};
  const int nparam = dj_matchParams(param, m->nmesh, m, "mesh/*/vert", &err);
  if (nparam != m->nmesh) djv_fail("chains: %s", err.text);
  djRolloutResult result = {.nparam = nparam, .param = param};
  result.grad_ctrl = djv_take(nctrl, sizeof(double));
  result.grad_param = djv_take(3 * VERTICES * (size_t)nparam, sizeof(double));
  djTape* tape;
  if (djd_makeTape(&tape, m, TIMED, &err) < 0) djv_fail("%s", err.text);
  double start, plain;
  for (int pass = 0; pass < 2; pass++) { // the first makes room
    run.loss_only = true;
    start = cpuSeconds();
    runLoss(&result, c, &run, tape);
    plain = (cpuSeconds() - start) / TIMED;
    run.loss_only = false;
    start = cpuSeconds();
    runLoss(&result, c, &run, tape);
    t->record = (cpuSeconds() - start) / TIMED - plain;
    start = cpuSeconds();
    if (djd_rolloutBackward(&result, m, d, &run, tape) < 0) djv_fail("%s", dj_errorText(d));
    t->back = (cpuSeconds() - start) / TIMED;
  }
  t->gradient = checkGradient(c, run, tape);
  djd_deleteTape(tape);
  free(param);
  free(result.grad_ctrl);
  free(result.grad_param);
}

// -------------------------------------------------------------------------------------------------

static Times timeLength(int n) {
  static Chains c;
  Times t = {.gap = INFINITY};
  memset(&c, 0, sizeof c);
  c.n = n;
  build(&c, n);
  makeModels(&c);
  setCtrl(&c);
  runOnce(&t, &c);
  timeVariants(&t, &c);
  timeGradient(&t, &c);
  for (int v = 0; v < NVARIANT; v++) {
    dj_deleteData(c.data[v]);
    dj_deleteModel(c.model[v]);
  }
  free(c.ctrl);
  free(c.state);
  return t;
}

// Of log y over log x.
static double exponent(int n, const double* x, const double* y) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (int i = 0; i < n; i++) mx += log(x[i]) / n, my += log(y[i]) / n;
  for (int i = 0; i < n; i++) {
    xx += (log(x[i]) - mx) * (log(x[i]) - mx);
    xy += (log(x[i]) - mx) * (log(y[i]) - my);
  }
  return xy / xx;
}

// Table II: parts of a step with its gradient.
static void printShares(const Times* t) {
  static const char* const name[4] = {"contact, U_c", "friction, U_f", "backward", "other"};
  static const double paper[4] = {30.51, 36.89, 30.85, 1.75};
  const double part[4] = {t->step[SMOOTH] - t->step[FREE], t->step[FULL] - t->step[SMOOTH],
                          t->record + t->back, t->step[FREE]};
  const double all = part[0] + part[1] + part[2] + part[3];
  djv_note("%-14s %10s %10s", "of a step", "ours, %", "paper, %");
  for (int k = 0; k < 4; k++)
    djv_note("%-14s %10.2f %10.2f", name[k], 100 * part[k] / all, paper[k]);
}

void chains_check(djvReport* r, bool timed) {
  const int count = timed ? NLENGTH : 3;
  double n[NLENGTH], step[NLENGTH], back[NLENGTH], iterations[NLENGTH], pairs[NLENGTH];
  double gap = INFINITY, gradient = 0, least = INFINITY;
  long unconverged = 0;
  Times t;
  djv_title("Four chains of N joints of two axes that zigzag against each other in a narrow shaft: "
            "2 ms steps,\nmilliseconds of one core; recording and backward: the gradient by all "
            "controls and all vertices");
  djv_note("%4s %6s %8s %8s %8s %10s %8s %8s %10s %10s", "N", "dofs", "pairs", "iter.", "step",
           "recording", "backw.", "smooth", "no contact", "gap, m");
  for (int i = 0; i < count; i++) {
    t = timeLength(lengths[i]);
    djv_note("%4d %6d %8.1f %8.2f %8.3f %10.3f %8.3f %8.3f %10.3f %10.2g", lengths[i],
             8 * lengths[i], t.pairs, t.iterations, 1e3 * t.forward, 1e3 * t.record, 1e3 * t.back,
             1e3 * t.step[SMOOTH], 1e3 * t.step[FREE], t.gap);
    n[i] = lengths[i];
    step[i] = t.forward;
    back[i] = t.record + t.back;
    iterations[i] = t.iterations;
    pairs[i] = t.pairs;
    gap = fmin(gap, t.gap);
    gradient = djv_worst(gradient, t.gradient);
    least = fmin(least, t.pairs / lengths[i]);
    unconverged += t.unconverged;
  }
  printShares(&t);
  djv_above(r, "pairs near contact, of N", least, 1, "");
  djv_count(r, "unconverged steps", unconverged, 0);
  djv_above(r, "least distance of two links", gap, 0, "m");
  djv_below(r, "gradient by controls beside differences", gradient, 2e-5, "");
  djv_note("exponents over N: pairs %.2f, iterations %.2f, a step %.2f, its gradient %.2f",
           exponent(count, n, pairs), exponent(count, n, iterations), exponent(count, n, step),
           exponent(count, n, back));
  if (timed) djv_below(r, "exponent of a step's time over N", exponent(count, n, step), 1.3, "");
}
