#include "batch/world.h"

#include "base/status.h"

#include <string.h>

// ---- in and out -------------------------------------------------------------------------------

// The list of near pairs changes no result, but where the state jumps it would be long.
djData* dj_enterWorld(djBatch* b, djLane* lane, int i) {
  const djModel* m = dj_worldModel(b, i);
  djData* d = lane->data;
  size_t at = (size_t)i;
  if (lane->world != i) {
    dj_forgetSteps(d);
    d->ncontact = d->npair = 0;
  }
  lane->world = i;
  d->time = b->time[i];
  d->gravity_scale = b->gravity_scale[i];
  d->stats = b->stats[i];
#define X(name, count) memcpy(d->name, b->name + at * (size_t)(count), (size_t)(count) * sizeof(double));
  DJ_WORLD_STATE(X)
  DJ_WORLD_INPUTS(X)
#undef X
  memcpy(d->eq_active, b->eq_active + at * (size_t)m->nequality,
         (size_t)m->nequality * sizeof(int));
  if (dj_historySize(m) > 0) dj_markHistory(m, d, b->has_history[i] != 0);
  d->work->error.text[0] = 0;
  return d;
}

void dj_leaveWorld(djBatch* b, const djLane* lane, int i) {
  const djModel* m = dj_worldModel(b, i);
  const djData* d = lane->data;
  size_t at = (size_t)i;
  b->time[i] = d->time;
  b->stats[i] = d->stats;
#define X(name, count) memcpy(b->name + at * (size_t)(count), d->name, (size_t)(count) * sizeof(double));
  DJ_WORLD_STATE(X)
  DJ_WORLD_POSES(X)
#undef X
  b->has_history[i] = dj_hasHistory(m, d);
}

// Inputs too, of data that have been reset or written.
static void leaveInputs(djBatch* b, const djData* d, int i) {
  const djModel* m = dj_worldModel(b, i);
  size_t at = (size_t)i;
  b->gravity_scale[i] = d->gravity_scale;
#define X(name, count) memcpy(b->name + at * (size_t)(count), d->name, (size_t)(count) * sizeof(double));
  DJ_WORLD_INPUTS(X)
#undef X
  memcpy(b->eq_active + at * (size_t)m->nequality, d->eq_active,
         (size_t)m->nequality * sizeof(int));
}

// ---- calls ------------------------------------------------------------------------------------

typedef struct djCall {
  djBatch* batch;
  djWorldWork work;
  void* arg;
} djCall;

static void doWorld(void* arg, int i, int lane) {
  const djCall* call = arg;
  djBatch* b = call->batch;
  djBatchWork* w = b->work;
  w->error[i].text[0] = 0;
  b->status[i] = DJ_OK;
  if (!b->active[i]) return;
  djStatus status = call->work(call->arg, b, i, &w->lane[lane], lane);
  b->status[i] = status;
  if (status < 0) w->error[i] = w->lane[lane].data->work->error;
}

djStatus dj_doWorlds(djBatch* b, djWorldWork work, void* arg) {
  djBatchWork* w = b->work;
  djCall call = {b, work, arg};
  djStatus worst = DJ_OK;
  w->call.text[0] = 0;
  dj_crewDo(w->crew, b->n, doWorld, &call);
  for (int i = 0; i < b->n; i++) {
    djStatus status = (djStatus)b->status[i];
    if (status < 0) return dj_fail(&w->call, status, "world %d: %.480s", i, w->error[i].text);
    if (status > worst) worst = status;
  }
  return worst;
}

djStatus dj_failBatch(djBatch* b, const char* text) {
  return dj_fail(&b->work->call, DJ_INVALID, "%s", text);
}

const char* dj_batchErrorText(const djBatch* b, int world) {
  if (!b || world >= b->n) return "";
  return world < 0 ? b->work->call.text : b->work->error[world].text;
}

// ---- models -----------------------------------------------------------------------------------

const djModel* dj_batchModel(const djBatch* b, int world) {
  return b && world >= 0 && world < b->n ? dj_worldModel(b, world) : NULL;
}

djStatus dj_ownBatchModel(djModel** model, djBatch* b, int world, djError* err) {
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  *model = NULL;
  if (!b) return dj_fail(err, DJ_INVALID, "batch: NULL");
  if (world < -1 || world >= b->n) return dj_fail(err, DJ_INVALID, "world %d: there is none", world);
  djBatchWork* w = b->work;
  if (world >= 0 && !w->own[world]) {
    djStatus status = dj_copyModel(&w->own[world], w->model, err);
    if (status < 0) return status;
  }
  *model = world < 0 ? w->model : w->own[world];
  return DJ_OK;
}

djStatus dj_setBatchParams(djBatch* b, int nparam, const djParam* param, const double* value,
                           djError* err) {
  if (!b || nparam < 0 || (nparam > 0 && (!param || !value))) {
    return dj_fail(err, DJ_INVALID, "batch, param or value: NULL");
  }
  djError text = {""};
  for (int i = 0; i < b->n; i++) {
    djModel* m;
    djStatus status = dj_ownBatchModel(&m, b, i, &text);
    for (int k = 0; k < nparam && status >= 0; k++) {
      status = dj_setParam(m, &param[k], value, &text);
      value += param[k].nvalue;
    }
    if (status < 0) return dj_fail(err, status, "world %d: %.480s", i, text.text);
  }
  return DJ_OK;
}

// ---- single worlds ----------------------------------------------------------------------------

static djStatus resetWorld(djBatch* b, int i, int key) {
  const djModel* m = dj_worldModel(b, i);
  djBatchWork* w = b->work;
  djLane* lane = &w->lane[0];
  lane->world = -1;
  djStatus status = key < 0 ? dj_resetData(m, lane->data) : dj_resetKey(m, lane->data, key);
  b->status[i] = status;
  w->error[i].text[0] = 0;
  if (status < 0) {
    w->error[i] = lane->data->work->error;
    return dj_fail(&w->call, status, "world %d: %.480s", i, w->error[i].text);
  }
  leaveInputs(b, lane->data, i);
  dj_leaveWorld(b, lane, i);
  return status;
}

djStatus dj_resetBatch(djBatch* b, int world, int key) {
  if (!b) return DJ_INVALID;
  if (world < -1 || world >= b->n) return dj_failBatch(b, "world: there is no such one");
  int first = world < 0 ? 0 : world, end = world < 0 ? b->n : world + 1;
  b->work->call.text[0] = 0;
  for (int i = first; i < end; i++) {
    djStatus status = resetWorld(b, i, key);
    if (status < 0) return status;
  }
  return DJ_OK;
}

// A lane that is someone else's data.
static djStatus checkWorld(djBatch* b, int world, const djData* d) {
  if (!b || !d) return DJ_INVALID;
  if (world < 0 || world >= b->n) return dj_failBatch(b, "world: there is no such one");
  if (!dj_fitsSizes(d->work, dj_worldModel(b, world))) {
    return dj_failBatch(b, "data: made for a model of other sizes");
  }
  return DJ_OK;
}

djStatus dj_getWorld(djData* d, djBatch* b, int world) {
  djStatus status = checkWorld(b, world, d);
  if (status < 0) return status;
  djLane lane = {d, -1};
  const djModel* m = dj_worldModel(b, world);
  status = dj_checkData(m, d);
  if (status < 0) return dj_failBatch(b, d->work->error.text);
  dj_enterWorld(b, &lane, world);
  status = dj_forward(m, d);
  return status < 0 ? dj_failBatch(b, d->work->error.text) : status;
}

djStatus dj_setWorld(djBatch* b, int world, const djData* d) {
  djStatus status = checkWorld(b, world, d);
  if (status < 0) return status;
  djLane lane = {(djData*)(size_t)d, world};
  leaveInputs(b, d, world);
  dj_leaveWorld(b, &lane, world);
  return DJ_OK;
}
