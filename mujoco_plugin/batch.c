// Many mjData of one mjModel, by threads with a context each.

#include "step.h"

#include <dijoco/crew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the mocap bodies of the mjData at a place were left (mocap.c).
typedef struct Last {
  const mjData* data;
  double time;
} Last;

struct djmBatch {
  djCrew* crew;
  int nthread;
  djmContext** context;    // (nthread)
  djmStepOption option;
  djError call;            // of the last call
  // of places, made when there are more than ever
  int n;                   // places that there is room for
  djError* error;          // (n)
  int* status;             // (n)
  Last* last;              // (n)
  mjtNum* pose;            // (n x nmocap x 7)
};

// ---- memory -----------------------------------------------------------------------------------

djStatus djm_makeBatch(djmBatch** batch, djReport** report, const mjModel* m, int nthread,
                       const djSettings* settings, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (batch) *batch = NULL;
  if (report) *report = NULL;
  if (!batch || !m || nthread < 0) {
    snprintf(err->text, sizeof(err->text), "djm_makeBatch: no model, or a negative number of threads");
    return DJ_INVALID;
  }
  djmBatch* b = calloc(1, sizeof(*b));
  djCrew* crew = dj_makeCrew(nthread);
  if (b) b->crew = crew;
  if (b && crew) b->context = calloc((size_t)dj_crewSize(crew), sizeof(*b->context));
  djStatus status = b && b->context ? DJ_OK : DJ_NO_MEMORY;
  if (status < 0) snprintf(err->text, sizeof(err->text), "out of memory");
  if (status < 0 && !b) dj_deleteCrew(crew);
  for (int k = 0; status == DJ_OK && k < dj_crewSize(crew); k++) {
    status = djm_makeContextWith(&b->context[k], k ? NULL : report, m, settings, err);
    if (status == DJ_OK) b->nthread++;
  }
  if (status < 0) {
    if (report) {
      dj_deleteReport(*report);
      *report = NULL;
    }
    djm_deleteBatch(b);
    return status;
  }
  b->option = b->context[0]->option;
  *batch = b;
  return DJ_OK;
}

void djm_deleteBatch(djmBatch* b) {
  if (!b) return;
  dj_deleteCrew(b->crew);
  for (int k = 0; k < b->nthread; k++) djm_deleteContext(b->context[k]);
  free(b->context);
  free(b->error);
  free(b->status);
  free(b->last);
  free(b->pose);
  free(b);
}

int djm_batchThreads(const djmBatch* b) { return b->nthread; }

djmContext* djm_batchContext(djmBatch* b, int thread) {
  return thread >= 0 && thread < b->nthread ? b->context[thread] : NULL;
}

djmStepOption* djm_batchOption(djmBatch* b) { return &b->option; }

const char* djm_batchErrorText(const djmBatch* b, int place) {
  if (place >= b->n) return "";
  return place < 0 ? b->call.text : b->error[place].text;
}

static djStatus makePlaces(djmBatch* b, int n) {
  if (n <= b->n) return DJ_OK;
  size_t room = (size_t)n, pose = 7 * (size_t)b->context[0]->model->nmocap + 1;
  djError* error = realloc(b->error, room * sizeof(*error));
  if (error) b->error = error;
  int* status = realloc(b->status, room * sizeof(*status));
  if (status) b->status = status;
  Last* last = realloc(b->last, room * sizeof(*last));
  if (last) b->last = last;
  mjtNum* poses = realloc(b->pose, room * pose * sizeof(*poses));
  if (poses) b->pose = poses;
  if (!error || !status || !last || !poses) return DJ_NO_MEMORY;
  memset(b->last + b->n, 0, (size_t)(n - b->n) * sizeof(*last));
  b->n = n;
  return DJ_OK;
}

// ---- calls ------------------------------------------------------------------------------------

typedef struct Call Call;
struct Call {
  djmBatch* b;
  const mjModel* m;
  mjData* const* d;
  int nstep;
  djStatus (*work)(const Call* call, int place, djmContext* c);
  const mjtNum* ctrl;
  mjtNum *qpos, *qvel, *act;
  mjtNum *A, *B, *C, *D;
};

static void openPlace(const Call* call, int i, djmContext* c) {
  const djmBatch* b = call->b;
  size_t n = 7 * (size_t)c->model->nmocap;
  c->option = b->option;
  if (c->last_data != call->d[i]) dj_forgetSteps(c->data);
  memcpy(c->last, b->pose + (size_t)i * n, n * sizeof(mjtNum));
  c->last_data = b->last[i].data;
  c->last_time = b->last[i].time;
}

static void leavePlace(const Call* call, int i, const djmContext* c) {
  const djmBatch* b = call->b;
  size_t n = 7 * (size_t)c->model->nmocap;
  memcpy(b->pose + (size_t)i * n, c->last, n * sizeof(mjtNum));
  b->last[i] = (Last){c->last_data, c->last_time};
}

static void doPlace(void* arg, int i, int lane) {
  const Call* call = arg;
  djmBatch* b = call->b;
  djmContext* c = b->context[lane];
  b->error[i].text[0] = '\0';
  if (!call->d[i]) {
    b->status[i] = DJ_INVALID;
    snprintf(b->error[i].text, sizeof(b->error[i].text), "there is no mjData");
    return;
  }
  openPlace(call, i, c);
  b->status[i] = call->work(call, i, c);
  leavePlace(call, i, c);
  if (b->status[i] < 0) {
    snprintf(b->error[i].text, sizeof(b->error[i].text), "%s", djm_errorText(c));
  }
}

static djStatus doAll(Call* call, int n, int* status) {
  djmBatch* b = call->b;
  if (!b) return DJ_INVALID;
  b->call.text[0] = '\0';
  if (!call->m || n < 0 || (n > 0 && !call->d) || call->nstep < 0) {
    snprintf(b->call.text, sizeof(b->call.text), "no model, no data or a negative number");
    return DJ_INVALID;
  }
  if (makePlaces(b, n) < 0) {
    snprintf(b->call.text, sizeof(b->call.text), "out of memory");
    return DJ_NO_MEMORY;
  }
  dj_crewDo(b->crew, n, doPlace, call);
  int worst = DJ_OK;
  if (status) memcpy(status, b->status, (size_t)n * sizeof(*status));
  for (int i = 0; i < n; i++) {
    if (b->status[i] < 0) {
      snprintf(b->call.text, sizeof(b->call.text), "data %d: %.480s", i, b->error[i].text);
      return (djStatus)b->status[i];
    }
    if (b->status[i] > worst) worst = b->status[i];
  }
  return (djStatus)worst;
}

// ---- steps ------------------------------------------------------------------------------------

static void put(mjtNum* to, size_t row, const mjtNum* from, mjtSize n) {
  if (to) mju_copy(to + row * (size_t)n, from, (int)n);
}

static void putNothing(mjtNum* to, size_t row, size_t end, mjtSize n) {
  for (size_t k = row * (size_t)n; k < end * (size_t)n && to; k++) to[k] = NAN;
}

static void putState(const Call* call, const mjData* d, size_t row) {
  put(call->qpos, row, d->qpos, call->m->nq);
  put(call->qvel, row, d->qvel, call->m->nv);
  put(call->act, row, d->act, call->m->na);
}

static djStatus steps(const Call* call, int i, djmContext* c) {
  const mjModel* m = call->m;
  mjData* d = call->d[i];
  size_t nu = (size_t)m->nu, first = (size_t)i * ((size_t)call->nstep + 1), row = first;
  size_t end = first + (size_t)call->nstep + 1;
  djStatus worst = DJ_OK, status = DJ_OK;
  putState(call, d, row++);
  for (int k = 0; k < call->nstep; k++) {
    if (call->ctrl) {
      mju_copy(d->ctrl, call->ctrl + ((size_t)i * (size_t)call->nstep + (size_t)k) * nu, (int)nu);
    }
    status = djm_step(m, d, c);
    if (status < 0) {
      char text[400];
      snprintf(text, sizeof(text), "%.399s", djm_errorText(c));
      snprintf(c->error.text, sizeof(c->error.text), "step %d: %s", k, text);
      break;
    }
    if (status > worst) worst = status;
    putState(call, d, row++);
  }
  putNothing(call->qpos, row, end, m->nq);
  putNothing(call->qvel, row, end, m->nv);
  putNothing(call->act, row, end, m->na);
  return status < 0 ? status : worst;
}

djStatus djm_batchStep(const mjModel* m, mjData* const* d, int n, int nstep, djmBatch* batch,
                       int* status) {
  Call call = {.b = batch, .m = m, .d = d, .nstep = nstep, .work = steps};
  return doAll(&call, n, status);
}

djStatus djm_batchRollout(const mjModel* m, mjData* const* d, int n, int nstep, const mjtNum* ctrl,
                          mjtNum* qpos, mjtNum* qvel, mjtNum* act, djmBatch* batch, int* status) {
  Call call = {.b = batch, .m = m, .d = d, .nstep = nstep, .work = steps, .ctrl = ctrl,
               .qpos = qpos, .qvel = qvel, .act = act};
  return doAll(&call, n, status);
}

// ---- derivatives ------------------------------------------------------------------------------

static mjtNum* rows(mjtNum* matrix, int i, mjtSize nrow, mjtSize ncolumn) {
  return matrix ? matrix + (size_t)i * (size_t)nrow * (size_t)ncolumn : NULL;
}

static djStatus transition(const Call* call, int i, djmContext* c) {
  const mjModel* m = call->m;
  mjtSize nx = 2 * m->nv + m->na, nu = m->nu, ns = m->nsensordata;
  mjtNum *A = rows(call->A, i, nx, nx), *B = rows(call->B, i, nx, nu);
  mjtNum *C = rows(call->C, i, ns, nx), *D = rows(call->D, i, ns, nu);
  djStatus status = djm_transition(m, call->d[i], c, A, B, C, D);
  if (status >= 0 && status != DJ_SINGULAR) return status;
  putNothing(A, 0, (size_t)nx, nx);
  putNothing(B, 0, (size_t)nx, nu);
  putNothing(C, 0, (size_t)ns, nx);
  putNothing(D, 0, (size_t)ns, nu);
  return status;
}

djStatus djm_batchTransition(const mjModel* m, mjData* const* d, int n, mjtNum* A, mjtNum* B,
                             mjtNum* C, mjtNum* D, djmBatch* batch, int* status) {
  Call call = {.b = batch, .m = m, .d = d, .work = transition, .A = A, .B = B, .C = C, .D = D};
  return doAll(&call, n, status);
}
