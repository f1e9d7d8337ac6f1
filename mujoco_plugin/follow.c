// A context follows its mjModel: what has changed since it was imported is imported anew.
//
// What the user has set on the context's own model since then is kept. It is found by comparison
// with a copy of that model as it was imported: options that differ, then parameters that do. The
// structs of model and data stay where they are and get the new contents; the old ones are handed
// to whoever asks (djm_takeChange), as views of their arrays may be in use.

#include "follow.h"

#include "snapshot.h"

#include <dijoco/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------ what the user has set -------------------------------------------

// Options that were set since the import; whether there are any.
static bool changedOptions(djSettings* changed, const djmContext* c) {
  const djSetting* s;
  *changed = (djSettings){.option = c->model->opt};
  for (int i = 0; (s = dj_setting(i)); i++) {
    double was[3] = {0}, now[3] = {0};
    dj_getSetting(was, &c->base->opt, s);
    dj_getSetting(now, &c->model->opt, s);
    changed->given[i] = memcmp(was, now, sizeof(was)) != 0;
  }
  return dj_isGiven(changed, NULL);
}

// Set a parameter of `next` as `model` has it, where that is not as it was imported. scratch: room
// for the values of both.
static djStatus keepParam(djModel* next, const djModel* model, const djModel* base,
                          const djParam* param, double* scratch, djError* err) {
  double *was = scratch, *now = scratch + param->nvalue;
  if (dj_getParam(was, base, param) < 0 || dj_getParam(now, model, param) < 0) return DJ_OK;
  if (memcmp(was, now, (size_t)param->nvalue * sizeof(double)) == 0) return DJ_OK;
  char name[300];
  djParam other;
  dj_paramName(name, sizeof(name), model, param);
  // there is none of a contact model that is no longer in use
  if (dj_paramId(&other, next, name, err) < 0 || other.nvalue != param->nvalue) return DJ_OK;
  return dj_setParam(next, &other, now, err);
}

// Those that a pattern stands for.
static djStatus keepParams(djModel* next, const djModel* model, const djModel* base,
                           const char* pattern, djError* err) {
  int n = dj_matchParams(NULL, 0, base, pattern, err), most = 1;
  if (n < 0) return (djStatus)n;
  djParam* param = malloc(((size_t)n + 1) * sizeof(*param));
  if (!param) return DJ_NO_MEMORY;
  dj_matchParams(param, n, base, pattern, err);
  for (int i = 0; i < n; i++) most = param[i].nvalue > most ? param[i].nvalue : most;
  double* scratch = malloc(2 * (size_t)most * sizeof(double));
  djStatus status = scratch ? DJ_OK : DJ_NO_MEMORY;
  for (int i = 0; i < n && status == DJ_OK; i++) {
    status = keepParam(next, model, base, &param[i], scratch, err);
  }
  free(scratch);
  free(param);
  return status;
}

// Parameters are compared under equal options, of which settings of contact are a consequence.
static djStatus keepSettings(djModel* next, const djmContext* c, djError* err) {
  djSettings changed;
  djModel* base = NULL;
  djStatus status = dj_copyModel(&base, c->base, err);
  if (status == DJ_OK && changedOptions(&changed, c)) {
    djOption option = next->opt;
    dj_applySettings(&option, &changed);
    status = dj_setOption(next, &option, err);
    if (status == DJ_OK) status = dj_setOption(base, &c->model->opt, err);
  }
  if (status == DJ_OK) status = keepParams(next, c->model, base, "*", err);
  if (status == DJ_OK) status = keepParams(next, c->model, base, "contact/*/*", err);   // of all
  dj_deleteModel(base);
  return status;
}

// ------------------------------ importing -------------------------------------------------------

// Whether sensordata is wanted unless the user says otherwise.
static bool hasSensors(const mjModel* m) {
  return m->nsensor > 0 && !djm_disabled(m, mjDSBL_SENSOR);
}

djStatus djm_watchModel(djmContext* c, const mjModel* m, djError* err) {
  c->option.sensors = c->sensing = hasSensors(m);
  djStatus status = dj_copyModel(&c->base, c->model, err);
  if (status != DJ_OK) return status;
  c->snapshot = djm_makeSnapshot(m);
  return c->snapshot ? DJ_OK : DJ_NO_MEMORY;
}

static void dropChange(djmChange* change) {
  dj_deleteData(change->data);
  dj_deleteModel(change->model);
  dj_deleteReport(change->report);
  *change = (djmChange){0};
}

void djm_forgetModel(djmContext* c) {
  dropChange(&c->change);
  dj_deleteModel(c->base);
  djm_deleteSnapshot(c->snapshot);
}

// The model and its data as they are to be: what c->model and c->data then get.
static djStatus makeNext(djmChange* next, djModel** base, djmContext* c, const mjModel* m,
                         djError* err) {
  djStatus status = djm_import(&next->model, &next->report, NULL, m, DJM_WHOLE, &c->given, NULL,
                               err);
  if (status == DJ_OK) status = djm_divideTimestep(next->model, 1, c->substeps, err);
  if (status == DJ_OK) status = dj_copyModel(base, next->model, err);
  if (status == DJ_OK) status = keepSettings(next->model, c, err);
  if (status == DJ_OK) status = dj_makeData(&next->data, next->model, err);
  if (status != DJ_OK) return status;
  next->data->stats = c->data->stats;
  next->data->gravity_scale = c->data->gravity_scale;
  dj_moveRecord(next->data, c->data);
  return DJ_OK;
}

// Contents of two models and of two data change places.
static void exchange(djmContext* c, djmChange* next) {
  djModel model = *c->model;
  djData data = *c->data;
  *c->model = *next->model;
  *c->data = *next->data;
  *next->model = model;
  *next->data = data;
}

static djStatus refuse(djmContext* c, djStatus status, const djError* err) {
  char text[sizeof(c->error.text)];
  snprintf(text, sizeof(text), "the MuJoCo model has changed and cannot be followed: %.400s",
           status == DJ_NO_MEMORY ? "out of memory" : err->text);
  return djm_fail(c, status, text);
}

djStatus djm_followModel(djmContext* c, const mjModel* m) {
  if (!c->snapshot || djm_isCurrent(c->snapshot, m)) return DJ_OK;
  djmChange next = {0};
  djModel* base = NULL;
  djError err = {""};
  djStatus status = makeNext(&next, &base, c, m, &err);
  if (status != DJ_OK) {
    dropChange(&next);
    dj_deleteModel(base);
    return refuse(c, status, &err);
  }
  exchange(c, &next);
  dropChange(&c->change);
  c->change = next;
  c->changes++;
  dj_deleteModel(c->base);
  c->base = base;
  djm_takeSnapshot(c->snapshot, m);
  if (c->option.sensors == c->sensing) c->option.sensors = hasSensors(m);
  c->sensing = hasSensors(m);
  return DJ_OK;
}

long djm_changes(const djmContext* c) { return c->changes; }

bool djm_takeChange(djmContext* c, djModel** model, djData** data, djReport** report) {
  djmChange change = c->change;
  c->change = (djmChange){0};
  if (model) *model = change.model;
  else dj_deleteModel(change.model);
  if (data) *data = change.data;
  else dj_deleteData(change.data);
  if (report) *report = change.report;
  else dj_deleteReport(change.report);
  return change.model != NULL;
}
