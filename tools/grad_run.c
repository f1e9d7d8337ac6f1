#include "grad_run.h"

#include "engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Full Newton steps that may follow convergence, as long as the decrement falls: they make loss and
// gradient reproducible far below the tolerance.
enum { POLISH = 8 };

static int load_scene(GradRun* g) {
  const Options* o = g->options;
  djError err = {""};
  int status = scene_load(&g->scene, o, g->task->scene);
  if (!status) status = scene_checkIgnored(&g->scene, o);
  if (!status) status = scene_applySettings(&g->scene, o, &g->task->settings);
  if (!status && dj_applySet(g->scene.model, g->task, &err) < 0) {
    status = scene_fail(o, o->argument[0], &err);
  }
  if (!status) status = scene_applySets(&g->scene, o);
  return status;
}

static void make_arrays(GradRun* g) {
  const djModel* m = g->scene.model;
  const djProblem* p = g->problem;
  djRolloutResult* r = &g->result;
  r->term = tool_alloc((size_t)p->rollout.nloss, sizeof(double));
  r->grad_qpos0 = tool_alloc((size_t)m->nv, sizeof(double));
  r->grad_qvel0 = tool_alloc((size_t)m->nv, sizeof(double));
  r->grad_act0 = tool_alloc((size_t)m->na, sizeof(double));
  r->grad_ctrl = tool_alloc((size_t)p->rollout.horizon * (size_t)m->nu, sizeof(double));
  r->nparam = p->nparam;
  r->param = p->param;
  r->grad_param = tool_alloc((size_t)p->nparamtangent, sizeof(double));
}

int grad_load(GradRun* g, const Options* o, const char* path) {
  *g = (GradRun){.options = o};
  djError err = {""};
  if (dj_loadTask(&g->task, path, &err) < 0) return scene_fail(o, path, &err);
  int status = load_scene(g);
  if (status) return status;
  int key;
  char name[32];
  status = inputs_keyframe(&key, o, &g->scene);
  if (status) return status;
  if (key >= 0) {
    snprintf(name, sizeof name, "#%d", key);
    g->task->keyframe = name;  // stronger than the task's own
  }
  djModel* m = g->scene.model;
  djStatus resolved = dj_resolveTask(&g->problem, g->task, m, &err);
  if (key >= 0) g->task->keyframe = NULL;
  if (resolved < 0) return scene_fail(o, path, &err);
  g->problem->rollout.polish = POLISH;
  if (dj_makeData(&g->data, m, &err) < 0 ||
      djd_makeTape(&g->tape, m, g->problem->rollout.horizon, &err) < 0) {
    return scene_fail(o, path, &err);
  }
  if (g->problem->key >= 0) dj_resetKey(m, g->data, g->problem->key);
  make_arrays(g);
  return 0;
}

static int refuse(const GradRun* g) {
  djError err;
  snprintf(err.text, sizeof err.text, "%s", dj_errorText(g->data));
  return scene_fail(g->options, g->options->argument[0], &err);
}

int grad_compute(GradRun* g) {
  const djModel* m = g->scene.model;
  const djRollout* r = &g->problem->rollout;
  double start = engine_clock();
  djStatus status = djd_rolloutForward(&g->result, m, g->data, r, g->tape);
  g->forward = engine_clock() - start;
  if (status < 0) return refuse(g);
  g->singular = status == DJ_SINGULAR;
  start = engine_clock();
  if (!g->singular) {
    status = djd_rolloutBackward(&g->result, m, g->data, r, g->tape);
    if (status < 0) return refuse(g);
    g->singular = status == DJ_SINGULAR;
  }
  g->backward = engine_clock() - start;
  return 0;
}

void grad_free(GradRun* g) {
  free(g->result.term);
  free(g->result.grad_qpos0);
  free(g->result.grad_qvel0);
  free(g->result.grad_act0);
  free(g->result.grad_ctrl);
  free(g->result.grad_param);
  if (g->tape) djd_deleteTape(g->tape);
  if (g->data) dj_deleteData(g->data);
  if (g->problem) dj_deleteProblem(g->problem);
  scene_close(&g->scene);
  if (g->task) dj_deleteTask(g->task);
  *g = (GradRun){0};
}

// ---- variables

double grad_entry(const GradRun* g, const djVariable* v, int k) {
  const double* array = NULL;
  switch (v->kind) {
    case DJ_VAR_CTRL: array = g->result.grad_ctrl; break;
    case DJ_VAR_QPOS0:
    case DJ_VAR_QPOS0_JOINT: array = g->result.grad_qpos0; break;
    case DJ_VAR_QVEL0:
    case DJ_VAR_QVEL0_JOINT: array = g->result.grad_qvel0; break;
    case DJ_VAR_ACT0: array = g->result.grad_act0; break;
    case DJ_VAR_PARAM: array = g->result.grad_param; break;
  }
  return g->singular ? NAN : array[v->adr + v->index[k]];
}

double* grad_value(const GradRun* g, const djVariable* v) {
  const djProblem* p = g->problem;
  double* value = tool_alloc((size_t)v->nvalue, sizeof *value);
  const double* from = NULL;
  switch (v->kind) {
    case DJ_VAR_CTRL: from = p->ctrl; break;
    case DJ_VAR_QPOS0:
    case DJ_VAR_QPOS0_JOINT: from = p->qpos0; break;
    case DJ_VAR_QVEL0:
    case DJ_VAR_QVEL0_JOINT: from = p->qvel0; break;
    case DJ_VAR_ACT0: from = p->act0; break;
    case DJ_VAR_PARAM: dj_getParam(value, g->scene.model, &p->param[v->param]); return value;
  }
  if (v->nvalue > 0) memcpy(value, from + v->valueadr, (size_t)v->nvalue * sizeof *value);
  return value;
}

// ---- certificate

// The loss along one direction of one variable's tangent.
typedef struct Line {
  GradRun* run;
  const djVariable* variable;
  double* direction;        // (ntangent)
  djModel* model;           // copy, for parameters; else NULL
  double* term;
} Line;

// q exp(w)
static void turn(double q[4], const double w[3]) {
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  double s = angle > 1e-12 ? sin(angle / 2) / angle : 0.5;
  double p[4] = {cos(angle / 2), s * w[0], s * w[1], s * w[2]};
  double r[4] = {q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
                 q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
                 q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
                 q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0]};
  memcpy(q, r, sizeof r);
}

// Move values along the tangent: quaternions by 3-vectors in their own frame, else entry by entry.
static void move(double* value, int nvalue, const double* d, int ntangent, double e) {
  int plain = nvalue == ntangent ? nvalue : nvalue - 4;
  for (int i = 0; i < plain; i++) value[i] += e * d[i];
  if (nvalue == ntangent) return;
  double w[3] = {e * d[plain], e * d[plain + 1], e * d[plain + 2]};
  turn(value + plain, w);
}

// Loss of a rollout; the run's own data where the model is its own.
static bool loss_of(Line* line, const djModel* m, const djRollout* rollout, double* loss) {
  GradRun* g = line->run;
  djData* data = g->data;
  djTape* tape = g->tape;
  if (m != g->scene.model) {
    if (dj_makeData(&data, m, NULL) < 0) return false;
    if (djd_makeTape(&tape, m, rollout->horizon, NULL) < 0) {
      dj_deleteData(data);
      return false;
    }
    if (g->problem->key >= 0) dj_resetKey(m, data, g->problem->key);
  }
  djRolloutResult result = {.term = line->term};
  djStatus status = djd_rolloutForward(&result, m, data, rollout, tape);
  *loss = result.loss;
  if (m != g->scene.model) {
    djd_deleteTape(tape);
    dj_deleteData(data);
  }
  return status >= 0;
}

static bool loss_along(void* user, double e, double* loss) {
  Line* line = user;
  GradRun* g = line->run;
  const djVariable* v = line->variable;
  const djModel* m = g->scene.model;
  djRollout rollout = g->problem->rollout;
  rollout.loss_only = true;
  double* value = grad_value(g, v);
  bool good = true;
  if (v->kind == DJ_VAR_PARAM) {
    move(value, v->nvalue, line->direction, v->ntangent, e);
    good = dj_setParam(line->model, &g->problem->param[v->param], value, NULL) >= 0 &&
           loss_of(line, line->model, &rollout, loss);
    free(value);
    return good;
  }
  const djProblem* p = g->problem;
  size_t n[4] = {(size_t)m->nq, (size_t)m->nv, (size_t)m->na,
                 (size_t)rollout.horizon * (size_t)m->nu};
  const double* from[4] = {p->qpos0, p->qvel0, p->act0, p->ctrl};
  double* moved[4];
  for (int k = 0; k < 4; k++) {
    moved[k] = tool_alloc(n[k], sizeof(double));
    if (n[k]) memcpy(moved[k], from[k], n[k] * sizeof(double));
  }
  double* tangent = tool_alloc((size_t)m->nv, sizeof(double));
  int which = v->kind == DJ_VAR_CTRL ? 3 : v->kind == DJ_VAR_ACT0 ? 2
              : v->kind == DJ_VAR_QVEL0 || v->kind == DJ_VAR_QVEL0_JOINT ? 1 : 0;
  if (which == 0) {
    for (int i = 0; i < v->ntangent; i++) tangent[v->adr + i] = line->direction[i];
    dj_integratePos(moved[0], m, p->qpos0, tangent, e);
  } else {
    for (int i = 0; i < v->ntangent; i++) moved[which][v->adr + i] += e * line->direction[i];
  }
  rollout.qpos0 = moved[0];
  rollout.qvel0 = moved[1];
  rollout.act0 = moved[2];
  rollout.ctrl = moved[3];
  good = loss_of(line, m, &rollout, loss);
  for (int k = 0; k < 4; k++) free(moved[k]);
  free(tangent);
  free(value);
  return good;
}

// Normal random numbers on the entries that vary, scaled to unit length. Returns g.d.
static double draw(Line* line, unsigned long row, unsigned long seed) {
  const djVariable* v = line->variable;
  double sum = 0, analytic = 0;
  for (int k = 0; k < v->n; k++) {
    unsigned long at = (unsigned long)v->index[k];
    double a = 1 - inputs_random(seed, row, at), b = inputs_random(seed, row + 1, at);
    double x = sqrt(-2 * log(a)) * cos(2 * M_PI * b);
    line->direction[v->index[k]] = x;
    sum += x * x;
  }
  for (int k = 0; k < v->n; k++) {
    double* x = &line->direction[v->index[k]];
    *x /= sum > 0 ? sqrt(sum) : 1;
    analytic += grad_entry(line->run, v, k) * *x;
  }
  return analytic;
}

// Of three random directions the one with the largest derivative: where terms nearly cancel, a
// relative comparison would only measure rounding. Returns g.d.
static double make_direction(Line* line, int variable, unsigned long seed) {
  unsigned long best = 0;
  double most = -1;
  for (unsigned long c = 0; c < 3; c++) {
    unsigned long row = 2 * (3 * (unsigned long)variable + c);
    double analytic = draw(line, row, seed);
    if (fabs(analytic) > most) {
      most = fabs(analytic);
      best = row;
    }
  }
  return draw(line, best, seed);
}

// The ladder's largest step: a tenth of the variable's own size, or of 1 per entry.
static double largest_step(const GradRun* g, const djVariable* v) {
  double* value = grad_value(g, v), sum = 0;
  for (int i = 0; i < v->nvalue; i++) sum += value[i] * value[i];
  free(value);
  bool plain = v->kind == DJ_VAR_PARAM && v->nvalue == v->ntangent;
  return 0.1 * (plain && sum > 0 ? sqrt(sum) : sqrt(v->n));
}

void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed) {
  const djVariable* v = &g->problem->variable[variable];
  Line line = {.run = g, .variable = v};
  line.direction = tool_alloc((size_t)v->ntangent, sizeof(double));
  line.term = tool_alloc((size_t)g->problem->rollout.nloss, sizeof(double));
  double analytic = make_direction(&line, variable, seed);
  bool good = v->kind != DJ_VAR_PARAM || dj_copyModel(&line.model, g->scene.model, NULL) >= 0;
  if (v->n == 0) {
    *out = (djdCertificate){.passed = true, .slope = NAN};
  } else if (!good || djd_check(out, g->result.loss, analytic, largest_step(g, v), loss_along,
                                &line) < 0) {
    *out = (djdCertificate){.analytic = analytic, .difference = NAN, .relative_error = NAN,
                            .slope = NAN};
  }
  if (line.model) dj_deleteModel(line.model);
  free(line.direction);
  free(line.term);
}
