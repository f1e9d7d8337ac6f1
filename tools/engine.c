#include "engine.h"

#include "clock.h"
#include "warn.h"

#include <dijoco/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- our engine

// Energy of the present state, with the whole gravity even while a ramp raises it.
static bool measure_dijoco(Engine* e) {
  djData* d = e->data;
  d->gravity_scale = 1;
  if (dj_forward(e->model, d) < 0) {
    snprintf(e->error, sizeof e->error, "%s", dj_errorText(d));
    return false;
  }
  e->energy = d->energy[0] + d->energy[1];
  return true;
}

static void update_dijoco(Engine* e) {
  const djData* d = e->data;
  e->time = d->time;
  e->gap = d->stats.gap;
  e->ncontact = d->ncontact;
  Tally* t = &e->tally;
  t->newton_iterations = d->stats.newton_iterations;
  t->unconverged_steps = d->stats.unconverged_steps;
  t->recovering_steps = d->stats.recovering_steps;
  t->fallback_steps = d->stats.fallback_steps;
  t->impact_steps = d->stats.impact_steps;
  t->worst_residual = d->stats.worst_residual;
  t->smallest_gap = d->stats.smallest_gap;
  t->deepest_overlap = d->stats.deepest_overlap;
}

// The pair that the deepest overlap of the run is of, if it is the last step's.
static void note_deepest(Engine* e, double before) {
  const djData* d = e->data;
  Tally* t = &e->tally;
  if (t->deepest_overlap <= before) return;
  double deepest = 0;
  for (int k = 0; k < d->npair; k++) {
    const djContactPair* p = &d->pair[k];
    if (!p->recovering || p->gap - p->skin >= deepest) continue;
    deepest = p->gap - p->skin;
    t->deepest_geom[0] = p->geom1;
    t->deepest_geom[1] = p->geom2;
  }
}

static bool step_dijoco(Engine* e, const double* ctrl, double gravity) {
  djData* d = e->data;
  if (e->model->nu) memcpy(d->ctrl, ctrl, (size_t)e->model->nu * sizeof *ctrl);
  d->gravity_scale = gravity;
  double before = tool_clock();
  djStatus status = dj_step(e->model, d);
  e->tally.wall += tool_clock() - before;
  if (status < 0) {
    snprintf(e->error, sizeof e->error, "%s", dj_errorText(d));
    return false;
  }
  double deepest = e->tally.deepest_overlap;
  update_dijoco(e);
  note_deepest(e, deepest);
  return true;
}

static void settings_dijoco(const Engine* e, Json* out, const Scene* s, const Options* o) {
  (void)e;
  scene_writeSettings(out, s, o);
}

// The run as a file, where the environment asks for it (dijoco/record.h).
static bool record_dijoco(Engine* e) {
  const char* path = getenv("DIJOCO_RECORD");
  djError err = {""};
  if (!path || !*path || dj_startRecordBeside(e->data, e->model, path, &err) >= 0) return true;
  snprintf(e->error, sizeof e->error, "DIJOCO_RECORD: %.480s", err.text);
  return false;
}

static void close_dijoco(Engine* e) {
  djError err = {""};
  if (dj_stopRecord(e->data, &err) < 0) tool_fail(NULL, NULL, "DIJOCO_RECORD", "%s", err.text);
  dj_deleteData(e->data);
}

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

bool engine_openDijoco(Engine* e, const Scene* s, const Inputs* in) {
  const djModel* m = s->model;
  djError err = {""};
  djData* d = NULL;
  if (dj_makeData(&d, m, &err) < 0) {
    snprintf(e->error, sizeof e->error, "%s", err.text);
    return false;
  }
  e->model = m;
  e->name = "dijoco";
  e->data = d;
  e->own = d;
  e->step_one = step_dijoco;
  e->measure = measure_dijoco;
  e->settings = settings_dijoco;
  if (!record_dijoco(e)) {
    close_dijoco(e);
    return false;
  }
  if (in->key >= 0) dj_resetKey(m, d, in->key);
  d->time = in->time;
  copy(d->qpos, in->qpos, m->nq);
  copy(d->qvel, in->qvel, m->nv);
  copy(d->act, in->act, m->na);
  dj_setHistory(d, m, in->history_qpos, in->history_qvel);
  if (!measure_dijoco(e)) {
    close_dijoco(e);
    return false;
  }
  e->close = close_dijoco;
  e->qpos = d->qpos;
  e->qvel = d->qvel;
  e->act = d->act;
  e->xpos = d->xpos;
  e->xquat = d->xquat;
  e->contact = d->contact;
  update_dijoco(e);
  return true;
}

// ---- both

bool engine_open(Engine* e, bool mujoco, const Scene* s, const Inputs* in) {
  *e = (Engine){.model = s->model};
  bool good = mujoco ? engine_openMujoco(e, s, in) : engine_openDijoco(e, s, in);
  if (!good) return false;
  const djModel* m = e->model;
  e->nstate = e->own ? dj_stateSize(m) : 1 + m->nq + m->nv + m->na;
  e->ctrl = tool_alloc((size_t)m->nu, sizeof(double));
  e->state = tool_alloc((size_t)e->nstate, sizeof(double));
  e->tally.energy_first = e->tally.energy_last = e->energy;
  e->tally.time = e->time;
  if (!engine_measureMomentum(e)) {
    char error[sizeof e->error];
    memcpy(error, e->error, sizeof error);
    engine_close(e);
    memcpy(e->error, error, sizeof error);
    return false;
  }
  memcpy(e->tally.spin_first, e->tally.spin_last, sizeof e->tally.spin_first);
  memcpy(e->tally.momentum_first, e->tally.momentum_last, sizeof e->tally.momentum_first);
  return true;
}

bool engine_step(Engine* e, const Inputs* in, long k) {
  inputs_ctrl(e->ctrl, in, k);
  if (!e->step_one(e, e->ctrl, inputs_gravity(in, k))) {
    e->tally.stopped = true;
    snprintf(e->tally.note, sizeof e->tally.note, "%s", e->error);
    return false;
  }
  e->tally.steps++;
  warn_begun();
  e->tally.time = e->time;
  return true;
}

const double* engine_state(Engine* e) {
  const djModel* m = e->model;
  if (e->own) {
    dj_getState(e->state, m, e->own);
    return e->state;
  }
  e->state[0] = e->time;
  copy(e->state + 1, e->qpos, m->nq);
  copy(e->state + 1 + m->nq, e->qvel, m->nv);
  copy(e->state + 1 + m->nq + m->nv, e->act, m->na);
  return e->state;
}

bool engine_measure(Engine* e) {
  bool good = e->measure(e);
  e->tally.energy_last = e->energy;
  return good;
}

bool engine_measureMomentum(Engine* e) {
  const djModel* m = e->model;
  djError err = {""};
  djData* d = NULL;
  djStatus status = dj_makeData(&d, m, &err);
  if (status >= 0) {
    copy(d->qpos, e->qpos, m->nq);
    copy(d->qvel, e->qvel, m->nv);
    status = dj_angularMomentum(e->tally.spin_last, m, d);
    if (status >= 0) status = dj_totalMomentum(e->tally.momentum_last, m, d);
    if (status < 0) snprintf(err.text, sizeof err.text, "%s", dj_errorText(d));
  }
  dj_deleteData(d);
  if (status < 0) snprintf(e->error, sizeof e->error, "%s", err.text);
  return status >= 0;
}

void engine_close(Engine* e) {
  if (e->close) e->close(e);
  free(e->ctrl);
  free(e->state);
  *e = (Engine){0};
}

static void add_failure(Failures* f, long n, const char* what) {
  size_t used = strlen(f->text);
  if (n == 0) return;
  snprintf(f->text + used, sizeof f->text - used, "%s%ld %s", used ? ", " : "", n, what);
}

Failures engine_failures(long steps, long unconverged, long fallback, long recovering,
                         const djModel* model) {
  Failures f = {""};
  add_failure(&f, unconverged, "did not converge");
  add_failure(&f, fallback, model->opt.integrator == DJ_BDF2
                                ? "were taken by SDIRK2 as bdf2 found no solution"
                                : "were taken by position as the integrator found no solution");
  add_failure(&f, recovering, "began with bodies that overlapped");
  size_t used = strlen(f.text);
  if (used) snprintf(f.text + used, sizeof f.text - used, " (of %ld steps)", steps);
  return f;
}

GeomName engine_geomName(const djModel* m, int geom) {
  GeomName name;
  const char* own = dj_id2name(m, DJ_OBJ_GEOM, geom);
  if (own && *own) snprintf(name.text, sizeof name.text, "geom/%.70s", own);
  else snprintf(name.text, sizeof name.text, "geom/#%d", geom);
  return name;
}

void engine_write(Json* out, const char* key, const Engine* e, const Scene* s, const Options* o) {
  const Tally* t = &e->tally;
  json_object(out, key);
  json_text(out, "scene", s->path);
  json_text(out, "engine", e->name);
  e->settings(e, out, s, o);
  json_integer(out, "steps", t->steps);
  json_number(out, "time", t->time);
  json_integer(out, "newton_iterations", t->newton_iterations);
  json_integer(out, "unconverged_steps", t->unconverged_steps);
  json_number(out, "worst_residual", t->worst_residual);
  json_number(out, "smallest_gap", t->smallest_gap);
  json_number(out, "deepest_overlap", t->deepest_overlap);
  json_list(out, "deepest_overlap_geoms");
  for (int k = 0; k < 2 && t->deepest_geom[0] != t->deepest_geom[1]; k++) {
    json_text(out, NULL, engine_geomName(e->model, t->deepest_geom[k]).text);
  }
  json_end(out);
  json_integer(out, "recovering_steps", t->recovering_steps);
  json_integer(out, "fallback_steps", t->fallback_steps);
  json_integer(out, "damped_steps", t->fallback_steps);   // its name before
  json_integer(out, "impact_steps", t->impact_steps);
  json_number(out, "energy_first", t->energy_first);
  json_number(out, "energy_last", t->energy_last);
  json_vector(out, "momentum_first", 3, t->momentum_first + 3);
  json_vector(out, "momentum_last", 3, t->momentum_last + 3);
  json_vector(out, "angular_momentum_first", 3, t->momentum_first);
  json_vector(out, "angular_momentum_last", 3, t->momentum_last);
  json_vector(out, "spin_first", 3, t->spin_first);
  json_vector(out, "spin_last", 3, t->spin_last);
  json_number(out, "wall_s", t->wall);
  json_number(out, "wall_per_step_s", t->steps ? t->wall / (double)t->steps : 0);
  if (t->stopped) json_bool(out, "stopped", true);
  if (*t->note) json_text(out, "note", t->note);
  json_end(out);
}
