#include "common/blocks.h"

#include "common/text.h"

#include <dijoco/design.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double scaling = 1e-6;   // of a wrong cotangent, a step

// ------------------------------------------ tasks ----------------------------------------------

enum { MOST = 12 };

static void putNumbers(djvText* t, const char* name, const double* x, int n) {
  djv_put(t, "\"%s\":[", name);
  for (int k = 0; k < n; k++) djv_put(t, "%s%.17g", k ? "," : "", x[k]);
  djv_put(t, "]");
}

static bool maybe(djvRandom* random, double p) { return djv_uniform(random, 0, 1) < p; }

static void putTarget(djvText* t, djvRandom* random, double size) {
  double v[3];
  djv_uniforms(v, 3, random, -size, size);
  djv_put(t, "\"target\":[%.6g,%.6g,%.6g]", v[0], v[1], v[2]);
}

// A final term of the last body, and any of the others. Effort may be by far the largest: it does
// not depend on what most blocks move, which are then small beside the loss.
static void putLoss(djvText* t, const djModel* m, djvRandom* random) {
  int last = m->nbody - 1;
  djv_put(t, "\"loss\":[{\"type\":\"position\",\"body\":\"#%d\",", last);
  putTarget(t, random, 1);
  double weight = djv_uniform(random, 0.01, 0.1);
  djv_put(t, "},{\"type\":\"velocity\",\"body\":\"#%d\",\"weight\":%.3g,",
      djv_integer(random, 1, last), weight);
  putTarget(t, random, 0.3);
  djv_put(t, "%s}", maybe(random, 0.5) ? ",\"when\":\"running\"" : "");
  if (maybe(random, 0.3)) djv_put(t, ",{\"type\":\"com\",\"target\":[0.2,-0.1,%.3g]}",
                              djv_uniform(random, 0, maybe(random, 0.3) ? 100 : 1));
  if (maybe(random, 0.3)) djv_put(t, ",{\"type\":\"orientation\",\"body\":\"#%d\",\"weight\":0.3,"
                              "\"target\":[0.8,0.2,-0.3,0.4]}", last);
  if (m->nu > 0 && maybe(random, 0.4)) {
    djv_put(t, ",{\"type\":\"effort\",\"weight\":%.3g}", pow(10, djv_uniform(random, -3, 6)));
  }
  djv_put(t, "]");
}

typedef struct Kind {
  const char *kind, *field;
  djObject object;
} Kind;

static const Kind kinds[] = {
    {"body", "pos", DJ_OBJ_BODY},          {"body", "quat", DJ_OBJ_BODY},
    {"body", "mass", DJ_OBJ_BODY},         {"body", "ipos", DJ_OBJ_BODY},
    {"body", "iquat", DJ_OBJ_BODY},        {"body", "inertia", DJ_OBJ_BODY},
    {"body", "gravcomp", DJ_OBJ_BODY},     {"joint", "pos", DJ_OBJ_JOINT},
    {"joint", "axis", DJ_OBJ_JOINT},       {"joint", "damping", DJ_OBJ_JOINT},
    {"joint", "stiffness", DJ_OBJ_JOINT},  {"joint", "springref", DJ_OBJ_JOINT},
    {"joint", "armature", DJ_OBJ_JOINT},   {"joint", "frictionloss", DJ_OBJ_JOINT},
    {"joint", "range", DJ_OBJ_JOINT},      {"geom", "pos", DJ_OBJ_GEOM},
    {"geom", "pos", DJ_OBJ_GEOM},          {"geom", "quat", DJ_OBJ_GEOM},
    {"geom", "size", DJ_OBJ_GEOM},         {"geom", "friction", DJ_OBJ_GEOM},
    {"mesh", "vert", DJ_OBJ_MESH},         {"actuator", "gainprm", DJ_OBJ_ACTUATOR},
    {"actuator", "biasprm", DJ_OBJ_ACTUATOR}, {"actuator", "gear", DJ_OBJ_ACTUATOR},
    {"option", "gravity", DJ_NOBJ},        {"contact", "stiffness", DJ_NOBJ},
    {"contact", "support", DJ_NOBJ}};
enum { NKIND = sizeof kinds / sizeof kinds[0] };

// A parameter that the model has, of a random kind.
static bool drawParam(char name[64], const djModel* m, djvRandom* random) {
  const Kind* k = &kinds[djv_integer(random, 0, NKIND - 1)];
  int n = k->object == DJ_NOBJ ? 1 : dj_objectCount(m, k->object);
  int first = k->object == DJ_OBJ_BODY ? 1 : 0;
  if (n <= first) return false;
  if (k->object == DJ_NOBJ) snprintf(name, 64, "%s/%s", k->kind, k->field);
  else snprintf(name, 64, "%s/#%d/%s", k->kind, djv_integer(random, first, n - 1), k->field);
  djParam p;
  return dj_paramId(&p, m, name, NULL) == DJ_OK && p.ntangent > 0;
}

static void putVariables(djvText* t, const djModel* m, djvRandom* random, int n) {
  static const char* const state[] = {"qvel0", "qpos0", "ctrl", "act0"};
  char name[MOST][64];
  int used = 0;
  for (int tries = 0; used < n && tries < 100; tries++) {
    char* own = name[used];
    int which = djv_integer(random, 0, 3);
    bool has = which < 2 || (which == 2 ? m->nu : m->na) > 0;
    if (maybe(random, 0.25)) snprintf(own, 64, "%s", has ? state[which] : "qvel0");
    else if (!drawParam(own, m, random)) continue;
    bool fresh = true;
    for (int k = 0; k < used; k++) fresh = fresh && strcmp(name[k], own) != 0;
    used += fresh;
  }
  djv_put(t, "\"variables\":[");
  for (int k = 0; k < used; k++) djv_put(t, "%s{\"name\":\"%s\"}", k ? "," : "", name[k]);
  djv_put(t, "]");
}

static char* makeTask(const djModel* m, const djData* start, djvRandom* random, int n) {
  djvText text = djv_text(), *t = &text;
  int horizon = djv_integer(random, 10, 40);
  djv_put(t, "{\"scene\":\"s\",\"horizon\":%d,\"initial\":{", horizon);
  putNumbers(t, "qpos", start->qpos, m->nq);
  djv_put(t, ",");
  putNumbers(t, "qvel", start->qvel, m->nv);
  if (m->na) djv_put(t, ",");
  if (m->na) putNumbers(t, "act", start->act, m->na);
  djv_put(t, "},");
  if (m->nu) putNumbers(t, "ctrl", start->ctrl, m->nu);
  if (m->nu) djv_put(t, ",");
  putLoss(t, m, random);
  djv_put(t, ",");
  putVariables(t, m, random, n);
  djv_put(t, "}");
  return t->text;
}

// ------------------------------------------ wrong gradients ------------------------------------

typedef struct Case {
  const char* name;
  djTask* task;
  djProblem* problem;
  djDesign* design;
  double loss, *gradient, *wrong, *again;
  double *qpos, *qvel, *act;        // the recorded run
} Case;

// Terms of the loss that count at state k, as terms of a run of one step that ends there.
static int termsAt(djLossTerm* out, const djRollout* r, int k) {
  int n = 0;
  for (int i = 0; i < r->nloss; i++) {
    out[n] = r->loss[i];
    if (out[n].when == DJ_WHEN_FINAL && k < r->horizon) continue;
    if (out[n].when == DJ_WHEN_STEP && out[n].step != k) continue;
    if (out[n].when == DJ_WHEN_STEP) out[n].when = DJ_WHEN_FINAL;
    n++;
  }
  return n;
}

// Gradient by the design's variables, step by step, the cotangent scaled by `factor` at each.
static void adjointBySteps(double* out, Case* c, double factor) {
  djDesign* d = c->design;
  const djModel* m = d->model;
  const djProblem* p = c->problem;
  const djRollout* whole = &d->rollout;
  int nq = m->nq, nv = m->nv, na = m->na, nu = m->nu, nx = dj_tangentSize(m), h = whole->horizon;
  int np = p->nparamtangent;
  double* memory = djv_take((size_t)(2 * nx + np + np + h * nu), sizeof(double));
  double *given = memory, *lambda = memory + nx, *step = lambda + nx, *param = step + np;
  double* ctrl = param + np;
  djLossTerm* term = djv_take((size_t)whole->nloss, sizeof *term);
  djTape* tape;
  if (djd_makeTape(&tape, m, 1, NULL) < 0) djv_fail("%s: no tape", c->name);
  double* cotangent = djv_take((size_t)(2 * nx), sizeof(double));   // at both states
  for (int k = h - 1; k >= 0; k--) {
    djRollout one = *whole;
    one.horizon = 1;
    one.qpos0 = c->qpos + k * nq;
    one.qvel0 = c->qvel + k * nv;
    one.act0 = na ? c->act + k * na : NULL;
    one.ctrl = nu ? whole->ctrl + k * nu : NULL;
    one.loss = term;
    one.nloss = termsAt(term, whole, k + 1);
    djRolloutResult r = {.grad_qpos0 = lambda, .grad_qvel0 = lambda + nv,
                         .grad_act0 = lambda + 2 * nv, .grad_ctrl = ctrl + k * nu,
                         .nparam = p->nparam, .param = p->param, .grad_param = step};
    memcpy(cotangent + nx, given, (size_t)nx * sizeof(double));
    if (djd_rolloutForward(&r, m, d->data, &one, tape) < 0 ||
        djd_setCotangents(tape, m, cotangent, NULL) < 0 ||
        djd_rolloutBackward(&r, m, d->data, &one, tape) < 0) {
      djv_fail("%s: a single step has no adjoint: %s", c->name, dj_errorText(d->data));
    }
    for (int i = 0; i < np; i++) param[i] += step[i];
    for (int i = 0; i < nx; i++) given[i] = factor * lambda[i];
  }
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    const double* from = v->kind == DJ_VAR_CTRL ? ctrl
                         : v->kind == DJ_VAR_QPOS0 ? given
                         : v->kind == DJ_VAR_QVEL0 ? given + nv
                         : v->kind == DJ_VAR_ACT0 ? given + 2 * nv
                                                  : param;
    for (int k = 0; k < v->n; k++) out[d->adr[i] + k] = from[v->adr + v->index[k]];
  }
  djd_deleteTape(tape);
  free(cotangent);
  free(term);
  free(memory);
}

// ------------------------------------------ certificates ---------------------------------------

static bool openCase(Case* c, const char* name, const djModel* model, const djData* start,
                     djvRandom* random, int n) {
  djError err = {""};
  *c = (Case){.name = name};
  char* text = makeTask(model, start, random, n);
  if (dj_loadTaskText(&c->task, text, NULL, &err) < 0 ||
      dj_resolveTask(&c->problem, c->task, model, &err) < 0 ||
      djd_makeDesign(&c->design, model, c->problem, &err) < 0) {
    djv_fail("%s: %s\n%s", name, err.text, text);
  }
  free(text);
  djDesign* d = c->design;
  size_t rows = (size_t)c->problem->rollout.horizon + 1;
  c->gradient = djv_take(3 * (size_t)d->n, sizeof(double));
  c->wrong = c->gradient + d->n;
  c->again = c->wrong + d->n;
  c->qpos = djv_take(rows * (size_t)model->nq, sizeof(double));
  c->qvel = djv_take(rows * (size_t)model->nv, sizeof(double));
  c->act = djv_take(rows * (size_t)model->na, sizeof(double));
  djStatus status = djd_evaluateDesign(&c->loss, c->gradient, d, d->x0);
  if (status != DJ_OK) {
    djv_note("%s: no run: status %d, %s", name, (int)status, djd_designError(d));
    return false;
  }
  djd_tapeStates(c->qpos, c->qvel, c->act, d->model, d->tape);
  adjointBySteps(c->wrong, c, 1 + scaling);
  adjointBySteps(c->again, c, 1);
  return true;
}

static void closeCase(Case* c) {
  double* memory[] = {c->gradient, c->qpos, c->qvel, c->act};
  for (int k = 0; k < 4; k++) free(memory[k]);
  djd_deleteDesign(c->design);
  dj_deleteProblem(c->problem);
  dj_deleteTask(c->task);
}

static void describe(const Case* c, int variable, const char* what, const djdCertificate* e,
                     double reach) {
  djv_note("%s, %s: %s: analytic %.12g, difference %.12g (+- %.1g) at %.1g, relative %.2g, "
           "slope %.4f, reach %.3g, loss %.3g, %d losses", c->name,
           djd_variableName(c->design, variable), what, e->analytic, e->difference,
           e->difference_error, e->step, e->relative_error, e->has_slope ? e->slope : NAN, reach,
           c->loss, e->evaluations);
}

static void certifyBlock(djvTally* t, Case* c, int variable, unsigned long seed) {
  djDesign* d = c->design;
  djdCertificate right, wrong;
  if (djd_certifyVariable(&right, d, variable, c->loss, c->gradient, seed) < 0) {
    right.passed = false;
  }
  t->blocks++;
  t->no_slope += !right.has_slope;
  t->coarse += right.analytic != 0 && right.uncertainty > 1e-6;
  t->zeros += right.analytic == 0 && right.passed;
  double norm = 0, off = 0;
  for (int k = d->adr[variable]; k < d->adr[variable + 1]; k++) {
    norm = fmax(norm, fabs(c->gradient[k]));
    off = fmax(off, fabs(c->gradient[k] - c->again[k]));
  }
  t->mismatch = fmax(t->mismatch, off > 0 ? off / fmax(norm, 1e-9 * fabs(c->loss)) : 0);
  if (right.passed) t->worst = fmax(t->worst, right.relative_error);
  if (!right.passed) {
    t->alarms++;
    describe(c, variable, "FALSE ALARM", &right, NAN);
  }
  if (right.analytic == 0 || right.analytic != right.analytic) return;
  djd_certifyVariable(&wrong, d, variable, c->loss, c->wrong, seed);
  double error = fabs(wrong.analytic - right.analytic);
  double reach = error / (scaling * fabs(right.analytic));
  if (reach < 2) return;
  if (error < 1e-15 * fabs(c->loss)) {
    t->below++;
  } else if (reach >= 10) {
    t->far++;
    t->oks += wrong.passed;
    if (wrong.passed) describe(c, variable, "FALSE OK", &wrong, reach);
  } else {
    t->near++;
    t->missed += wrong.passed;
    if (wrong.passed) describe(c, variable, "missed", &wrong, reach);
  }
}

void djv_certifyBlocks(djvTally* tally, const char* name, const djModel* model,
                       const djData* start, djvRandom* random, int n) {
  Case c;
  if (openCase(&c, name, model, start, random, n < MOST ? n : MOST)) {
    unsigned long seed = (unsigned long)djv_integer(random, 0, 1000000);
    for (int i = 0; i < c.problem->nvariable; i++) certifyBlock(tally, &c, i, seed);
  }
  closeCase(&c);
}

// ------------------------------------------ tables ---------------------------------------------

static void printTallyHead(void) {
  djv_note("%-24s %6s %6s %6s %6s %6s %6s | %6s %6s %6s %6s %6s %9s", "", "blocks", "alarms",
           "zero", "coarse", "linear", "error", "10 back", "ok", "2 back", "ok", "below",
           "mismatch");
}

static void printTally(const char* name, const djvTally* t) {
  djv_note("%-24s %6ld %6ld %6ld %6ld %6ld %6.1g | %6ld %6ld %6ld %6ld %6ld %9.1e", name, t->blocks,
           t->alarms, t->zeros, t->coarse, t->no_slope, t->worst, t->far, t->oks, t->near,
           t->missed, t->below, t->mismatch);
}

static void addTally(djvTally* sum, const djvTally* t) {
  sum->blocks += t->blocks;
  sum->alarms += t->alarms;
  sum->zeros += t->zeros;
  sum->coarse += t->coarse;
  sum->below += t->below;
  sum->far += t->far;
  sum->oks += t->oks;
  sum->near += t->near;
  sum->missed += t->missed;
  sum->no_slope += t->no_slope;
  sum->worst = fmax(sum->worst, t->worst);
  sum->mismatch = fmax(sum->mismatch, t->mismatch);
}

// Pairs that leave recovery slide with all of a barrier's force at the start: so stiff that single
// derivatives are wrong in the sixth digit.
static void checkTally(djvReport* r, const djvTally* sum, long wanted) {
  const double few = 0.02;
  djv_above(r, "blocks", (double)sum->blocks, (double)wanted - 0.5, "");
  djv_below(r, "right gradients that do not pass, share", (double)sum->alarms / (double)wanted,
            few, "");
  djv_above(r, "wrong gradients that reach ten steps back", (double)sum->far,
            (double)wanted / 3, "");
  djv_below(r, "of which pass, share", (double)sum->oks / (double)wanted, few, "");
  djv_below(r, "adjoint step by step beside that of the run", sum->mismatch, 1e-7, "");
}

int djv_judgeBlocks(int argc, char** argv, const char* const* names, int nkind, long quick_blocks,
                    long full_blocks, djvBlockScene scene) {
  long wanted = (long)djv_takeNumber(&argc, argv, "--blocks", 0);
  double seed = djv_takeNumber(&argc, argv, "--seed", 1);
  bool quick = djv_isQuick(argc, argv);
  if (wanted == 0) wanted = quick ? quick_blocks : full_blocks;
  djvReport report = {0};
  djvTally tally[DJV_MAX_KINDS] = {{0}}, sum = {0};
  djv_title("Random blocks: certificates of gradients, and of adjoints scaled by 1 + 1e-6 a step");
  djvRandom random = djv_random((uint64_t)seed);
  for (int k = 0; sum.blocks < wanted; k = (k + 1) % nkind) {
    long before = tally[k].blocks;
    scene(&tally[k], k, &random);
    sum.blocks += tally[k].blocks - before;
  }
  sum = (djvTally){0};
  printTallyHead();
  for (int k = 0; k < nkind; k++) {
    printTally(names[k], &tally[k]);
    addTally(&sum, &tally[k]);
  }
  printTally("all", &sum);
  checkTally(&report, &sum, wanted);
  return djv_finish(&report);
}
