// Batches: memory, arrays by name, steps and what is found from states.

#include "base/arena.h"
#include "base/status.h"
#include "batch/world.h"
#include "model/fields.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory -----------------------------------------------------------------------------------

static void layout(djBatch* b, djArena* a, const djModel* m) {
  size_t n = (size_t)b->n;
#define X(name, count) b->name = dj_take(a, n, (size_t)(count) * sizeof(*b->name));
  DJ_WORLD_ARRAYS(X)
#undef X
  b->stats = dj_take(a, n, sizeof(djStats));
  b->work->own = dj_take(a, n, sizeof(djModel*));
  b->work->error = dj_take(a, n, sizeof(djError));
  b->work->lane = dj_take(a, (size_t)b->nthread, sizeof(djLane));
}

static djStatus makeLanes(djBatch* b, djError* err) {
  djBatchWork* w = b->work;
  djStatus status = DJ_OK;
  for (int k = 0; k < b->nthread && status == DJ_OK; k++) {
    w->lane[k].world = -1;
    status = dj_makeData(&w->lane[k].data, w->model, err);
  }
  return status;
}

static djStatus fill(djBatch* b, const djModel* model, djError* err) {
  djBatchWork* w = b->work;
  djStatus status = dj_copyModel(&w->model, model, err);
  if (status < 0) return status;
  djArena a = {NULL, 0};
  layout(b, &a, w->model);
  w->nbuffer = a.used;
  w->buffer = a.used < SIZE_MAX / 2 ? calloc(1, a.used + DJ_ALIGN) : NULL;
  if (!w->buffer) return dj_failMemory(err);
  unsigned char* base = w->buffer;
  a = (djArena){base + DJ_ALIGN - (uintptr_t)base % DJ_ALIGN, 0};
  layout(b, &a, w->model);
  for (int i = 0; i < b->n; i++) b->active[i] = 1;
  status = makeLanes(b, err);
  if (status < 0) return status;
  status = dj_resetBatch(b, -1, -1);
  return status < 0 ? dj_fail(err, status, "%s", w->call.text) : DJ_OK;
}

djStatus dj_makeBatch(djBatch** batch, const djModel* model, int n, int nthread, djError* err) {
  if (!batch) return dj_fail(err, DJ_INVALID, "batch: NULL");
  *batch = NULL;
  if (!model) return dj_fail(err, DJ_INVALID, "model: NULL");
  if (n < 1) return dj_fail(err, DJ_INVALID, "worlds: %d is not positive", n);
  if (nthread < 0) return dj_fail(err, DJ_INVALID, "threads: %d is negative", nthread);
  djBatch* b = calloc(1, sizeof *b);
  djBatchWork* w = calloc(1, sizeof *w);
  djCrew* crew = dj_makeCrew(nthread > n ? n : nthread);
  if (!b || !w || !crew) {
    free(b);
    free(w);
    dj_deleteCrew(crew);
    return dj_failMemory(err);
  }
  b->work = w;
  w->crew = crew;
  b->n = n;
  b->nthread = dj_crewSize(crew) > n ? n : dj_crewSize(crew);
  djStatus status = fill(b, model, err);
  if (status < 0) {
    dj_deleteBatch(b);
    return status;
  }
  *batch = b;
  return DJ_OK;
}

void dj_deleteBatch(djBatch* b) {
  if (!b) return;
  djBatchWork* w = b->work;
  dj_deleteCrew(w->crew);
  for (int k = 0; k < b->nthread && w->buffer; k++) dj_deleteData(w->lane[k].data);
  for (int i = 0; i < b->n && w->buffer; i++) dj_deleteModel(w->own[i]);
  dj_deleteModel(w->model);
  free(w->buffer);
  free(w);
  free(b);
}

size_t dj_batchBytes(const djBatch* b) {
  if (!b) return 0;
  const djBatchWork* w = b->work;
  size_t sum = sizeof *b + sizeof *w + w->nbuffer + DJ_ALIGN + dj_crewBytes(w->crew);
  for (int k = 0; k < b->nthread; k++) sum += dj_dataBytes(w->lane[k].data);
  return sum;
}

// ---- arrays by name ---------------------------------------------------------------------------

djStatus dj_batchArray(djArray* array, djBatch* b, const char* wanted) {
  if (!array) return DJ_INVALID;
  *array = (djArray){0};
  if (!b || !wanted) return DJ_INVALID;
  const djModel* m = b->work->model;
#define X(name, count)                                                                        \
  if (strcmp(wanted, #name) == 0) {                                                           \
    *array = dj_array(b->name, DJ_TYPE_OF(b->name), b->n, count,                              \
                      (size_t)(count) * sizeof(*b->name));                                    \
    return DJ_OK;                                                                             \
  }
  DJ_WORLD_ARRAYS(X)
#undef X
  djData* d = b->work->lane[0].data;
  if (strncmp(wanted, "stats.", 6) != 0 || dj_dataArray(array, m, d, wanted) < 0) {
    return DJ_INVALID;
  }
  array->data = (char*)b->stats + ((char*)array->data - (char*)&d->stats);
  array->rows = b->n;
  array->stride = (int)sizeof(djStats);
  return DJ_OK;
}

const char* dj_batchArrayName(int i) {
  static const char* const names[] = {
#define X(name, count) #name,
      DJ_WORLD_ARRAYS(X)
#undef X
  };
  return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

// ---- steps ------------------------------------------------------------------------------------

static djStatus stepWorld(void* arg, djBatch* b, int i, djLane* lane, int nlane) {
  (void)nlane;
  const int* nstep = arg;
  const djModel* m = dj_worldModel(b, i);
  djData* d = dj_enterWorld(b, lane, i);
  djStatus worst = DJ_OK, status = DJ_OK;
  for (int k = 0; k < *nstep && status >= 0; k++) {
    status = dj_step(m, d);
    if (status > worst) worst = status;
  }
  dj_leaveWorld(b, lane, i);
  return status < 0 ? status : worst;
}

djStatus dj_batchStep(djBatch* b, int nstep) {
  if (!b) return DJ_INVALID;
  if (nstep < 0) return dj_failBatch(b, "steps: a negative number");
  return dj_doWorlds(b, stepWorld, &nstep);
}

static djStatus forwardWorld(void* arg, djBatch* b, int i, djLane* lane, int nlane) {
  (void)arg;
  (void)nlane;
  djStatus status = dj_forward(dj_worldModel(b, i), dj_enterWorld(b, lane, i));
  if (status >= 0) dj_leaveWorld(b, lane, i);
  return status;
}

djStatus dj_batchForward(djBatch* b) {
  return b ? dj_doWorlds(b, forwardWorld, NULL) : DJ_INVALID;
}

// ---- runs that are not recorded ------------------------------------------------------------------

typedef struct djPlainRun {
  int horizon;
  const double* ctrl;
  double *qpos, *qvel, *act;
} djPlainRun;

static void putNumbers(double* to, size_t row, const double* from, int n) {
  if (to) memcpy(to + row * (size_t)n, from, (size_t)n * sizeof(double));
}

static void putNothing(double* to, size_t row, size_t end, int n) {
  dj_noNumbers(to ? to + row * (size_t)n : NULL, (end - row) * (size_t)n);
}

static void putState(const djPlainRun* r, const djModel* m, const djData* d, size_t row) {
  putNumbers(r->qpos, row, d->qpos, m->nq);
  putNumbers(r->qvel, row, d->qvel, m->nv);
  putNumbers(r->act, row, d->act, m->na);
}

static djStatus runWorld(void* arg, djBatch* b, int i, djLane* lane, int nlane) {
  (void)nlane;
  const djPlainRun* r = arg;
  const djModel* m = dj_worldModel(b, i);
  djData* d = dj_enterWorld(b, lane, i);
  size_t nu = (size_t)m->nu, first = (size_t)i * ((size_t)r->horizon + 1);
  size_t end = first + (size_t)r->horizon + 1, row = first;
  const double* ctrl = r->ctrl ? r->ctrl + (size_t)i * (size_t)r->horizon * nu : NULL;
  djStatus worst = DJ_OK, status = DJ_OK;
  putState(r, m, d, row++);
  for (int k = 0; k < r->horizon; k++) {
    if (ctrl) memcpy(d->ctrl, ctrl + (size_t)k * nu, nu * sizeof(double));
    status = dj_step(m, d);
    if (status < 0) {
      char step[32];
      snprintf(step, sizeof step, "step %d", k);
      dj_prefix(&d->work->error, status, step);
      break;
    }
    if (status > worst) worst = status;
    putState(r, m, d, row++);
  }
  putNothing(r->qpos, row, end, m->nq);
  putNothing(r->qvel, row, end, m->nv);
  putNothing(r->act, row, end, m->na);
  dj_leaveWorld(b, lane, i);
  return status < 0 ? status : worst;
}

djStatus dj_batchRollout(djBatch* b, int horizon, const double* ctrl, double* qpos, double* qvel,
                         double* act) {
  if (!b) return DJ_INVALID;
  if (horizon < 0 || horizon == INT_MAX) return dj_failBatch(b, "horizon: not a number of steps");
  djPlainRun run = {horizon, ctrl, qpos, qvel, act};
  return dj_doWorlds(b, runWorld, &run);
}
