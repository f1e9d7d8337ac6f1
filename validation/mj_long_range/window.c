// Tasks, windows of them, and their losses as functions of what varies.

#include "mj_long_range/long_range.h"

#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The task's coefficient acts in the run, in derivatives alone, or not at all.
static void setGuide(djModel** out, const djModel* model, const Scene* s, Way way) {
  djError err;
  if (dj_copyModel(out, model, &err) < 0) djv_fail("%s: %s", s->name, err.text);
  djOption option = (*out)->opt;
  bool guided = way == RUN || way == BACKWARD;
  option.guide_backward_only = way == BACKWARD;
  if (!guided) option.guide = option.guide_factor = 0;
  if (dj_setOption(*out, &option, &err) < 0) djv_fail("%s: %s", s->name, err.text);
}

// A task of the scene's folder and its model. m: MuJoCo's, or NULL.
static djModel* loadTask(djTask** task, mjModel** m, const char* name, const char* file) {
  char path[500];
  djError err;
  djModel* model;
  snprintf(path, sizeof path, "%s/models/long_range/%s/%s", DIJOCO_SOURCE_DIR, name, file);
  if (dj_loadTask(task, path, &err) < 0 ||
      dj_loadMJCF(&model, NULL, m, (*task)->scene, &err) < 0 ||
      dj_applyTask(model, *task, &err) < 0) {
    djv_fail("%s: %s", path, err.text);
  }
  return model;
}

// The same model with the weighting paper of contact between triangles.
static djModel* weighByPaper(const djModel* model, const Scene* s) {
  djModelDef def;
  djModel* out;
  djError err;
  void* storage;
  if (dj_getDef(&def, &storage, model, &err) < 0) djv_fail("%s: %s", s->name, err.text);
  djSettingDef* setting = djv_take((size_t)def.nsetting + 1, sizeof *setting);
  for (int i = 0; i < def.nsetting; i++) setting[i] = def.setting[i];
  setting[def.nsetting++] = (djSettingDef){"weighting", "long_range", -1, -1, 1};
  def.setting = setting;
  if (dj_makeModel(&out, &def, &err) < 0) djv_fail("%s: %s", s->name, err.text);
  free(setting);
  dj_freeDef(storage);
  return out;
}

void lr_openScene(Scene* s, const char* name) {
  *s = (Scene){.name = name};
  djModel* model = loadTask(&s->task, &s->m, name, "task.json");
  for (int way = 0; way < MEAN; way++) setGuide(&s->model[way], model, s, (Way)way);
  s->own = model->opt.guide_backward_only ? BACKWARD : RUN;
  s->m->opt.timestep = model->opt.timestep;
  dj_deleteModel(model);
  s->model[MEAN] = loadTask(&s->triangles, NULL, name, "long_range.json");
  s->model[PAPER] = weighByPaper(s->model[MEAN], s);
}

void lr_closeScene(Scene* s) {
  for (int way = 0; way < NWAY; way++) dj_deleteModel(s->model[way]);
  dj_deleteTask(s->task);
  dj_deleteTask(s->triangles);
  mj_deleteModel(s->m);
}

// The task for fewer steps: indices of controls, which ascend, end earlier.
static void shorten(Window* w, int horizon) {
  const djTask* t = w->way >= MEAN ? w->scene->triangles : w->scene->task;
  int n = horizon * (int)w->scene->m->nu;
  w->task = *t;
  w->task.horizon = horizon;
  w->task.variable = w->variable;
  if (t->nvariable > MAX_VARIABLE) djv_fail("%s: too many variables", w->scene->name);
  for (int i = 0; i < t->nvariable; i++) {
    djTaskVariable* v = &w->variable[i];
    *v = t->variable[i];
    if (strcmp(v->name, "ctrl") != 0) continue;
    while (v->nindex > 0 && v->index[v->nindex - 1] >= n) v->nindex--;
  }
}

void lr_restart(Window* w) {
  djError err;
  w->least = INFINITY;
  djd_deleteDesign(w->design);
  if (djd_makeDesign(&w->design, w->scene->model[w->way], w->problem, &err) < 0) {
    djv_fail("%s: %s", w->scene->name, err.text);
  }
}

void lr_openWindow(Window* w, const Scene* s, Way way, int horizon, double sigma) {
  djError err;
  const mjModel* m = s->m;
  size_t nx = (size_t)(2 * m->nv + m->na), h = (size_t)horizon, nu = (size_t)m->nu;
  *w = (Window){.scene = s, .way = way, .sigma = sigma, .random = djv_random(7)};
  shorten(w, horizon);
  if (dj_resolveTask(&w->problem, &w->task, s->model[way], &err) < 0) {
    djv_fail("%s: %s", s->name, err.text);
  }
  lr_restart(w);
  w->trial = djv_take((size_t)w->design->n, sizeof(double));
  w->trial_grad = djv_take((size_t)w->design->n, sizeof(double));
  if (way != STOCK) return;
  w->d = mj_makeData(m);
  w->A = djv_take(h * nx * nx, sizeof(double));
  w->B = djv_take(h * nx * nu, sizeof(double));
  w->dctrl = djv_take(h * nu, sizeof(double));
  w->dqpos = djv_take(nx, sizeof(double));
  w->dqvel = djv_take(nx, sizeof(double));
}

void lr_closeWindow(Window* w) {
  double* memory[] = {w->A, w->B, w->dctrl, w->dqpos, w->dqvel, w->trial, w->trial_grad};
  for (int i = 0; i < 7; i++) free(memory[i]);
  mj_deleteData(w->d);
  djd_deleteDesign(w->design);
  dj_deleteProblem(w->problem);
}

double lr_range(const Window* w, int i) {
  double range = w->design->upper[i] - w->design->lower[i];
  return isfinite(range) ? range : 1;
}

double lr_normal(djvRandom* random) {
  double u[2];
  djv_uniforms(u, 2, random, 0, 1);
  return sqrt(-2 * log(1 - u[0])) * cos(2 * M_PI * u[1]);
}

void lr_draw(double* x, const Window* w, djvRandom* random, int hold) {
  const djDesign* d = w->design;
  int nu = (int)w->scene->m->nu;
  for (int i = 0; i < w->problem->nvariable; i++) {
    const djVariable* v = &w->problem->variable[i];
    double* y = x + d->adr[i];
    for (int k = 0; k < v->n; k++) {
      int at = d->adr[i] + k, same = k - 1;    // same: of the actuator one step before
      bool bounded = isfinite(d->upper[at] - d->lower[at]);
      double low = bounded ? d->lower[at] : d->x0[at] - 0.5;
      double high = bounded ? d->upper[at] : d->x0[at] + 0.5;
      bool held = v->kind == DJ_VAR_CTRL && v->index[k] / nu % hold != 0;
      while (held && same >= 0 && v->index[same] != v->index[k] - nu) same--;
      y[k] = held && same >= 0 ? y[same] : djv_uniform(random, low, high);
    }
  }
}

// ---- gradients ---------------------------------------------------------------------------------

// By the numbers of a free vector, rows of amplitude, Hz and phase, whose sines are an actuator's
// controls: u = sum A sin(2 pi f t + p).
static void pullSines(double* grad, const Window* w, const double* z, int n, const char* from) {
  const Scene* s = w->scene;
  int nu = (int)s->m->nu, actuator = -1;
  for (int k = 0; k < w->task.nmap; k++) {
    const djMapDef* map = &w->task.map[k];
    if (strcmp(map->from, from) != 0) continue;
    if (strcmp(map->type, "sines") != 0 || map->arg[1].given || n % 3 != 0) {
      djv_fail("%s: a map that is not known here", s->name);
    }
    actuator = mj_name2id(s->m, mjOBJ_ACTUATOR, map->arg[0].text);
  }
  if (actuator < 0) djv_fail("%s: %s: no actuator", s->name, from);
  for (int k = 0; k < w->task.horizon; k++) {
    double t = k * s->m->opt.timestep, du = w->dctrl[k * nu + actuator];
    for (int i = 0; i < n; i += 3) {
      double angle = 2 * M_PI * z[i + 1] * t + z[i + 2];
      grad[i] += du * sin(angle);
      grad[i + 1] += du * z[i] * 2 * M_PI * t * cos(angle);
      grad[i + 2] += du * z[i] * cos(angle);
    }
  }
}

// Derivatives by controls and start to those by x.
static void pullBack(double* grad, const Window* w, const double* x) {
  const djProblem* p = w->problem;
  memset(grad, 0, (size_t)w->design->n * sizeof *grad);
  for (int i = 0; i < p->nvariable; i++) {
    const djVariable* v = &p->variable[i];
    double* g = grad + w->design->adr[i];
    const double* from = v->kind == DJ_VAR_CTRL                                      ? w->dctrl
                         : v->kind == DJ_VAR_QPOS0 || v->kind == DJ_VAR_QPOS0_JOINT ? w->dqpos
                         : v->kind == DJ_VAR_QVEL0 || v->kind == DJ_VAR_QVEL0_JOINT ? w->dqvel
                                                                                     : NULL;
    if (v->kind == DJ_VAR_FREE && v->n == p->free[v->free].n) {
      pullSines(g, w, x + w->design->adr[i], v->n, v->name);
    } else if (from) {
      for (int k = 0; k < v->n; k++) g[k] = from[v->adr + v->index[k]];
    } else {
      djv_fail("%s: %s: a variable that is not known here", w->scene->name, v->name);
    }
  }
}

static djStatus stockObjective(Window* w, double* loss, double* grad, const double* x) {
  if (djd_moveDesign(w->design, x) < 0) return DJ_INVALID;
  *loss = lr_stock(w, grad != NULL);
  w->steps += w->task.horizon;
  if (grad) pullBack(grad, w, x);
  return isfinite(*loss) ? DJ_OK : DJ_INVALID;
}

// The loss is that at x itself.
static djStatus bundleObjective(Window* w, double* loss, double* grad, const double* x) {
  djDesign* d = w->design;
  int n = d->n, used = 0;
  djStatus status = djd_forwardDesign(loss, d, x, false);
  w->steps += w->task.horizon;
  if (!grad || status < 0) return status;
  memset(grad, 0, (size_t)n * sizeof *grad);
  for (int j = 0; j < NBUNDLE; j++) {
    double other, live = 0;
    for (int i = 0; i < n; i++) {
      double moved = x[i] + w->sigma * lr_range(w, i) * lr_normal(&w->random);
      w->trial[i] = fmin(fmax(moved, d->lower[i]), d->upper[i]);
    }
    w->steps += w->task.horizon;
    if (djd_designObjective(d, &other, w->trial_grad, w->trial) < 0) continue;
    used++;
    for (int i = 0; i < n; i++) {
      grad[i] += w->trial_grad[i];
      live += fabs(w->trial_grad[i]);
    }
    w->live += live > 0;
  }
  w->drawn += used;
  for (int i = 0; i < n && used; i++) grad[i] /= used;
  return DJ_OK;
}

static djStatus objective(Window* w, double* loss, double* grad, const double* x) {
  if (w->way == STOCK) return stockObjective(w, loss, grad, x);
  if (w->way == BUNDLE) return bundleObjective(w, loss, grad, x);
  w->steps += w->task.horizon;
  return djd_designObjective(w->design, loss, grad, x);
}

djStatus lr_objective(void* window, double* loss, double* grad, const double* x) {
  Window* w = window;
  djStatus status = objective(w, loss, grad, x);
  if (status >= 0 && w->curve && *loss < w->least) {
    w->least = *loss;
    fprintf(w->curve, "%s,%ld,%.9g\n", w->label, w->steps, *loss);
  }
  return status;
}
