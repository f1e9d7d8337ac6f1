#include "gradient/window.h"

#include "base/status.h"
#include "gradient/design_parts.h"
#include "integrate/work.h"
#include "model/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- checks -----------------------------------------------------------------------------------

djStatus dj_checkReceding(const djReceding* r, int horizon, djError* err) {
  static const char at[] = "optimizer: receding";
  if (r->horizon < 1 || r->horizon > horizon) {
    return dj_fail(err, DJ_INVALID, "%s: horizon: %d is not between 1 and the task's %d steps", at,
                   r->horizon, horizon);
  }
  if (r->apply < 1 || r->apply > r->horizon) {
    return dj_fail(err, DJ_INVALID, "%s: apply: %d is not between 1 and its horizon, %d", at,
                   r->apply, r->horizon);
  }
  if (r->frame < 0 || r->frame >= horizon || r->frame % r->apply != 0) {
    return dj_fail(err, DJ_INVALID, "%s: frame: %d is no multiple of apply below the task's %d "
                                    "steps", at, r->frame, horizon);
  }
  if (r->candidates < 0 || !isfinite(r->spread) || r->spread < 0 || r->seed < 0) {
    return dj_fail(err, DJ_INVALID, "%s: candidates, spread, seed: must not be negative", at);
  }
  if (r->candidates > 1 && r->spread == 0) {
    return dj_fail(err, DJ_INVALID, "%s: spread: candidates without it are all the same", at);
  }
  if (r->nwindow > 0 && !r->window) return dj_fail(err, DJ_INVALID, "%s: window: NULL", at);
  return DJ_OK;
}

static djStatus checkTask(const djDesign* task, djError* err) {
  const djProblem* p = task->problem;
  if (task->phase != 0) return dj_fail(err, DJ_UNSUPPORTED, "receding: the start has a phase");
  for (int i = 0; i < p->rollout.nloss; i++) {
    const djLossTerm* t = &p->rollout.loss[i];
    bool some = t->when == DJ_WHEN_STEP || t->when == DJ_WHEN_EVERY || t->from > 0 || t->to > 0;
    if (!some) continue;
    return dj_fail(err, DJ_INVALID, "receding: loss[%d]: one step has no meaning in windows", i);
  }
  return DJ_OK;
}

// ---- vectors by rows --------------------------------------------------------------------------

static int countRows(int steps, int each) { return (steps - 1) / each + 1; }

static djStatus setTrack(djWindow* w, int i, const double* from, int steps, int columns) {
  djWindowTrack* t = &w->track[i];
  int window = w->problem.rollout.horizon;
  *t = (djWindowTrack){.from = from, .steps = steps, .columns = columns,
                       .rows = countRows(w->task->rollout.horizon, steps),
                       .nrow = countRows(window, steps)};
  t->to = dj_poolTake(&w->pool, (size_t)t->nrow * (size_t)columns, sizeof *t->to);
  t->varies = dj_poolTake(&w->pool, (size_t)columns, sizeof *t->varies);
  if (!t->to || !t->varies) return DJ_NO_MEMORY;
  dj_copyNumbers(t->to, from, t->nrow * columns);
  return DJ_OK;
}

static bool varies(const djProblem* p, int free) {
  for (int i = 0; i < p->nvariable; i++) {
    if (p->variable[i].kind == DJ_VAR_FREE && p->variable[i].free == free) return true;
  }
  return false;
}

// A map to the controls alone, for fewer steps.
static djStatus shortenMap(djWindow* w, djMap* map, int apply, djError* err) {
  const djProblem* p = w->task->problem;
  const djFree* f = &p->free[map->from];
  int horizon = p->rollout.horizon, window = w->problem.rollout.horizon, track = 1 + map->from;
  djMapReceding r = {.horizon = horizon, .window = window, .nu = w->task->model->nu,
                     .pool = &w->pool, .err = err};
  if (!map->type->recede) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s: does not make controls step by step",
                   map->type->entry.name);
  }
  djStatus status = map->type->recede(map, &r);
  if (status < 0) return status;
  if (apply % r.steps != 0) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s: numbers for %d steps do not divide apply, %d",
                   map->type->entry.name, r.steps, apply);
  }
  djWindowTrack* t = &w->track[track];
  if (t->columns == 0) {
    if (setTrack(w, track, f->value, r.steps, r.numbers) < 0) return dj_failMemory(err);
  } else if (t->steps != r.steps || t->columns != r.numbers) {
    return dj_fail(err, DJ_UNSUPPORTED, "from: '%.100s' is in rows of another map", f->name);
  }
  djMapTarget* target = dj_poolTake(&w->pool, (size_t)map->ntarget, sizeof *target);
  if (!target) return dj_failMemory(err);
  for (int k = 0; k < map->ntarget; k++) {
    target[k] = map->target[k];
    target[k].n = target[k].n / horizon * window;
  }
  map->target = target;
  map->nout = map->nout / horizon * window;
  map->nz = t->nrow * t->columns;
  return DJ_OK;
}

// Maps to the controls; those from numbers that do not vary to parameters stay as they are.
static djStatus makeMap(djWindow* w, djMap* map, int apply, djError* err) {
  const djProblem* p = w->task->problem;
  int controls = 0;
  for (int k = 0; k < map->ntarget; k++) controls += map->target[k].param < 0;
  if (controls > 0 && controls == map->ntarget) return shortenMap(w, map, apply, err);
  if (controls > 0 || varies(p, map->from)) {
    return dj_fail(err, DJ_UNSUPPORTED, "%s: computes parameters: windows change controls alone",
                   map->type->entry.name);
  }
  return DJ_OK;
}

static djStatus makeMaps(djWindow* w, int apply, djError* err) {
  const djProblem* p = w->task->problem;
  djProblem* own = &w->problem;
  own->map = dj_poolTake(&w->pool, (size_t)p->nmap, sizeof *own->map);
  own->free = dj_poolTake(&w->pool, (size_t)p->nfree, sizeof *own->free);
  if (!own->map || !own->free) return dj_failMemory(err);
  for (int i = 0; i < p->nmap; i++) {
    char element[40];
    snprintf(element, sizeof element, "receding: maps[%d]", i);
    own->map[i] = p->map[i];
    djStatus status = makeMap(w, &own->map[i], apply, err);
    if (status < 0) return dj_prefix(err, status, element);
  }
  for (int i = 0; i < p->nfree; i++) {
    const djWindowTrack* t = &w->track[1 + i];
    own->free[i] = p->free[i];
    if (t->columns == 0) continue;
    own->free[i].value = t->to;
    own->free[i].n = t->nrow * t->columns;
  }
  for (int i = 0; i < p->nmap; i++) {
    if (own->map[i].nz == own->free[own->map[i].from].n) continue;
    return dj_fail(err, DJ_UNSUPPORTED, "receding: maps[%d]: from: '%.100s' is in rows of another "
                                        "map", i, p->free[p->map[i].from].name);
  }
  return DJ_OK;
}

// ---- variables --------------------------------------------------------------------------------

// place (ntangent): which of the variable's entries is at a place of its vector; -1: none.
static djStatus setRows(djWindow* w, int i, const int* place, djError* err) {
  const djVariable* v = &w->task->problem->variable[i];
  djWindowVariable* out = &w->variable[i];
  djWindowTrack* t = &w->track[out->track];
  out->entry = dj_poolTake(&w->pool, (size_t)v->n, sizeof *out->entry);
  if (!out->entry) return dj_failMemory(err);
  int used = 0;
  for (int r = 0; r < t->rows; r++) {
    for (int c = 0; c < t->columns; c++) {
      int k = place[r * t->columns + c], first = place[c];
      if ((k < 0) != (first < 0)) {
        return dj_fail(err, DJ_UNSUPPORTED, "receding: '%.100s': index: not the same in every row",
                       v->name);
      }
      if (k < 0) continue;
      if (v->min[k] != v->min[first] || v->max[k] != v->max[first]) {
        return dj_fail(err, DJ_UNSUPPORTED, "receding: '%.100s': min, max: not the same in every "
                                            "row", v->name);
      }
      out->entry[used++] = k;
    }
  }
  out->n = used / t->rows;
  for (int c = 0; c < t->columns; c++) t->varies[c] = t->varies[c] || place[c] >= 0;
  return DJ_OK;
}

// The window's variable: the first rows of the task's.
static djStatus setVariable(djWindow* w, int i, djError* err) {
  const djVariable* v = &w->task->problem->variable[i];
  const djWindowVariable* from = &w->variable[i];
  const djWindowTrack* t = &w->track[from->track];
  djVariable* out = &w->problem.variable[i];
  int n = t->nrow * from->n;
  int* index = dj_poolTake(&w->pool, (size_t)n, sizeof *index);
  double* bound = dj_poolTake(&w->pool, 2 * (size_t)n, sizeof *bound);
  if (!index || !bound) return dj_failMemory(err);
  for (int k = 0; k < n; k++) {
    index[k] = v->index[from->entry[k]];
    bound[k] = v->min[from->entry[k]];
    bound[n + k] = v->max[from->entry[k]];
  }
  *out = *v;
  out->nvalue = out->ntangent = t->nrow * t->columns;
  out->n = n;
  out->index = index;
  out->min = bound;
  out->max = bound + n;
  return DJ_OK;
}

static djStatus makeVariable(djWindow* w, int i, djError* err) {
  const djVariable* v = &w->task->problem->variable[i];
  if (v->kind != DJ_VAR_CTRL && v->kind != DJ_VAR_FREE) {
    return dj_fail(err, DJ_UNSUPPORTED, "receding: '%.100s': windows vary controls alone", v->name);
  }
  w->variable[i].track = v->kind == DJ_VAR_CTRL ? 0 : 1 + v->free;
  if (w->track[w->variable[i].track].columns == 0) {
    return dj_fail(err, DJ_UNSUPPORTED, "receding: '%.100s': no map takes it to the controls",
                   v->name);
  }
  int* place = malloc(((size_t)v->ntangent + 1) * sizeof *place);
  if (!place) return dj_failMemory(err);
  for (int k = 0; k < v->ntangent; k++) place[k] = -1;
  for (int k = 0; k < v->n; k++) place[v->index[k]] = k;
  djStatus status = setRows(w, i, place, err);
  free(place);
  return status < 0 ? status : setVariable(w, i, err);
}

// ---- making -----------------------------------------------------------------------------------

static djStatus makeProblem(djWindow* w, const djReceding* receding, djError* err) {
  const djProblem* p = w->task->problem;
  const djModel* m = w->task->model;
  djProblem* own = &w->problem;
  *own = *p;
  own->memory = NULL;
  own->nconnect = 0;
  own->rollout.horizon = receding->horizon;
  w->ntrack = 1 + p->nfree;
  w->track = dj_poolTake(&w->pool, (size_t)w->ntrack, sizeof *w->track);
  w->variable = dj_poolTake(&w->pool, (size_t)p->nvariable, sizeof *w->variable);
  own->variable = dj_poolTake(&w->pool, (size_t)p->nvariable, sizeof *own->variable);
  own->qpos0 = dj_poolTake(&w->pool, (size_t)m->nq, sizeof(double));
  own->qvel0 = dj_poolTake(&w->pool, (size_t)m->nv, sizeof(double));
  own->act0 = dj_poolTake(&w->pool, (size_t)m->na, sizeof(double));
  w->state = dj_poolTake(&w->pool, (size_t)dj_stateSize(m), sizeof(double));
  w->history_qpos0 = dj_poolTake(&w->pool, (size_t)m->nq, sizeof(double));
  w->history_qvel0 = dj_poolTake(&w->pool, (size_t)m->nv, sizeof(double));
  if (!w->track || !w->variable || !own->variable || !own->qpos0 || !own->qvel0 || !own->act0 ||
      !w->state || !w->history_qpos0 || !w->history_qvel0 ||
      setTrack(w, 0, p->ctrl, 1, m->nu) < 0) {
    return dj_failMemory(err);
  }
  dj_copyNumbers(own->qpos0, p->qpos0, m->nq);
  dj_copyNumbers(own->qvel0, p->qvel0, m->nv);
  dj_copyNumbers(own->act0, p->act0, m->na);
  own->ctrl = w->track[0].to;
  djStatus status = makeMaps(w, receding->apply, err);
  for (int i = 0; i < p->nvariable && status == DJ_OK; i++) status = makeVariable(w, i, err);
  own->rollout.qpos0 = own->qpos0;
  own->rollout.qvel0 = own->qvel0;
  own->rollout.act0 = own->act0;
  own->rollout.ctrl = own->ctrl;
  return status;
}

djStatus dj_makeWindow(djWindow** window, djDesign* task, const djReceding* receding,
                       djError* err) {
  *window = NULL;
  djStatus status = dj_checkReceding(receding, task->rollout.horizon, err);
  if (status == DJ_OK) status = checkTask(task, err);
  if (status < 0) return status;
  djWindow* w = calloc(1, sizeof *w);
  if (!w) return dj_failMemory(err);
  w->task = task;
  status = makeProblem(w, receding, err);
  if (status == DJ_OK) {
    status = djd_makeDesign(&w->design, dj_designMemory(task)->given, &w->problem, err);
  }
  if (status < 0) {
    dj_deleteWindow(w);
    return status;
  }
  *window = w;
  return DJ_OK;
}

void dj_deleteWindow(djWindow* w) {
  if (!w) return;
  djd_deleteDesign(w->design);
  dj_poolFree(&w->pool);
  free(w);
}

// ---- moving -----------------------------------------------------------------------------------

static int least(int a, int b) { return a < b ? a : b; }

void dj_placeWindow(djWindow* w, const djData* data, int step) {
  const djModel* m = w->design->model;
  dj_copyNumbers(w->problem.qpos0, data->qpos, m->nq);
  dj_copyNumbers(w->problem.qvel0, data->qvel, m->nv);
  dj_copyNumbers(w->problem.act0, data->act, m->na);
  bool kept = dj_getHistory(w->history_qpos0, w->history_qvel0, m, data);
  w->problem.history_qpos0 = kept ? w->history_qpos0 : NULL;
  w->problem.history_qvel0 = kept ? w->history_qvel0 : NULL;
  dj_setDesignHistory(w->design);
  for (int i = 0; i < w->ntrack; i++) {
    const djWindowTrack* t = &w->track[i];
    for (int r = 0; r < t->nrow && t->columns > 0; r++) {
      int row = least(step / t->steps + r, t->rows - 1);
      for (int c = 0; c < t->columns; c++) {
        if (!t->varies[c]) t->to[r * t->columns + c] = t->from[row * t->columns + c];
      }
    }
  }
}

void dj_cutWindow(double* x, const djWindow* w, const double* task_x, int step) {
  for (int i = 0; i < w->problem.nvariable; i++) {
    const djWindowVariable* v = &w->variable[i];
    const djWindowTrack* t = &w->track[v->track];
    const double* from = task_x + w->task->adr[i];
    double* to = x + w->design->adr[i];
    for (int r = 0; r < t->nrow; r++) {
      const int* entry = v->entry + least(step / t->steps + r, t->rows - 1) * v->n;
      for (int k = 0; k < v->n; k++) to[r * v->n + k] = from[entry[k]];
    }
  }
}

void dj_pasteWindow(double* task_x, const djWindow* w, const double* x, int step, int end) {
  for (int i = 0; i < w->problem.nvariable; i++) {
    const djWindowVariable* v = &w->variable[i];
    const djWindowTrack* t = &w->track[v->track];
    const double* from = x + w->design->adr[i];
    double* to = task_x + w->task->adr[i];
    int first = step / t->steps, rows = least(countRows(end, t->steps), t->rows);
    for (int row = first; row < rows; row++) {
      int r = least(row - first, t->nrow - 1);
      for (int k = 0; k < v->n; k++) to[v->entry[row * v->n + k]] = from[r * v->n + k];
    }
  }
}

void dj_shiftWindow(double* x, const djWindow* w, int steps) {
  for (int i = 0; i < w->problem.nvariable; i++) {
    const djWindowVariable* v = &w->variable[i];
    const djWindowTrack* t = &w->track[v->track];
    double* rows = x + w->design->adr[i];
    for (int r = 0; r < t->nrow; r++) {
      int from = least(r + steps / t->steps, t->nrow - 1);
      for (int k = 0; k < v->n; k++) rows[r * v->n + k] = rows[from * v->n + k];
    }
  }
}
