#include "gradient/tape.h"

#include "base/arena.h"
#include "base/status.h"
#include "gradient/loss.h"
#include "gradient/param_gradient.h"

#include <stdlib.h>
#include <string.h>

static void layout(djTape* t, djArena* a, const djModel* m, int horizon) {
  size_t n = (size_t)horizon + 1, nx = (size_t)dj_tangentSize(m), d = sizeof(double);
  t->qpos = dj_take(a, n * m->nq, d);
  t->qvel = dj_take(a, n * m->nv, d);
  t->act = dj_take(a, n * m->na, d);
  t->history = dj_take(a, n * (size_t)dj_historySize(m), d);
  t->kept = dj_take(a, n, sizeof(bool));
  t->mocap = dj_take(a, (size_t)m->nmocap * 14, d);
  t->step = dj_take(a, horizon, sizeof(djLinear));
  t->nparts = dj_take(a, horizon, sizeof(int));
  t->parts = dj_take(a, horizon, sizeof(djTapePart*));
  t->lambda = dj_take(a, 2 * nx, d);
  t->scratch = dj_take(a, dj_linearScratch(m), d);
  t->dstate = dj_take(a, n * nx, d);
  t->dctrl = dj_take(a, (size_t)horizon * m->nu, d);
  t->loss = dj_take(a, dj_lossWorkSize(m), 1);
  t->loss_scratch = dj_take(a, 12 * (size_t)m->nbody, d);
  t->nsums = dj_paramSumsSize(m);
  t->sums = dj_take(a, t->nsums, 1);
}

static size_t tapeBytes(const djModel* m, int horizon) {
  djTape t = {0};
  djArena a = {NULL, 0};
  layout(&t, &a, m, horizon);
  return a.used;
}

size_t djd_tapeSize(const djModel* m, int horizon) {
  if (!m || horizon < 0) return 0;
  size_t bytes = tapeBytes(m, horizon);
  return bytes == SIZE_MAX ? SIZE_MAX : bytes + DJ_ALIGN + sizeof(djTape);
}

djStatus djd_makeTape(djTape** tape, const djModel* m, int horizon, djError* err) {
  if (!tape) return dj_fail(err, DJ_INVALID, "tape: NULL");
  *tape = NULL;
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  if (horizon < 1) return dj_fail(err, DJ_INVALID, "horizon: %d is not positive", horizon);
  size_t bytes = tapeBytes(m, horizon);
  djTape* t = calloc(1, sizeof(djTape));
  unsigned char* buffer = bytes < SIZE_MAX / 2 ? calloc(1, bytes + DJ_ALIGN) : NULL;
  if (!t || !buffer) {
    free(t);
    free(buffer);
    return dj_failMemory(err);
  }
  t->buffer = buffer;
  t->nbuffer = bytes + DJ_ALIGN;
  t->horizon = horizon;
  t->sizes = dj_sizesOf(m);
  djArena a = {buffer + DJ_ALIGN - (uintptr_t)buffer % DJ_ALIGN, 0};
  layout(t, &a, m, horizon);
  *tape = t;
  return DJ_OK;
}

void djd_deleteTape(djTape* t) {
  if (!t) return;
  for (djPoolChunk* c = t->first; c;) {
    djPoolChunk* next = c->next;
    free(c);
    c = next;
  }
  free(t->buffer);
  free(t);
}

size_t djd_tapeBytes(const djTape* t) { return t ? t->nbuffer + sizeof *t + t->npool : 0; }

// ---- pool -------------------------------------------------------------------------------------

void dj_emptyTape(djTape* t) {
  for (djPoolChunk* c = t->first; c; c = c->next) c->used = c->kept = 0;
  t->last = t->first;
  t->nreference = 0;
  t->reference = t->pull = t->end = NULL;
}

void dj_keepTape(djTape* t) {
  for (djPoolChunk* c = t->first; c; c = c->next) c->kept = c->used;
}

void dj_rewindTape(djTape* t) {
  for (djPoolChunk* c = t->first; c; c = c->next) c->used = c->kept;
  t->last = t->first;
}

static djPoolChunk* addChunk(djTape* t, size_t n) {
  size_t some = t->npool / 2 / sizeof(double), size = n > some ? n : some;
  if (size < 1 << 13) size = 1 << 13;
  djPoolChunk* c = malloc(sizeof *c + size * sizeof(double));
  if (!c) return NULL;
  *c = (djPoolChunk){.size = size};
  if (t->last) t->last->next = c;   // the last of all: none has had room
  else t->first = c;
  t->npool += sizeof *c + size * sizeof(double);
  return t->last = c;
}

double* dj_takeTape(djTape* t, size_t n) {
  while (t->last && t->last->size - t->last->used < n && t->last->next) t->last = t->last->next;
  djPoolChunk* c = t->last;
  if (!c || c->size - c->used < n) c = addChunk(t, n);
  if (!c) return NULL;
  double* memory = c->data + c->used;
  c->used += n;
  return memory;
}

long double dj_tapeLoss(const djTape* tape) { return tape->sum; }

const djQuadratic* dj_tapeMoments(const djTape* tape) { return tape->moment; }

const double* dj_tapeQpos(const djTape* t, const djModel* m, int k) {
  return t->qpos + (size_t)k * m->nq;
}

const double* dj_tapeQvel(const djTape* t, const djModel* m, int k) {
  return t->qvel + (size_t)k * m->nv;
}

// ---- trajectory and cotangents ------------------------------------------------------------------

static djStatus checkRecord(const djModel* m, const djTape* t) {
  return m && t && dj_sameSizes(&t->sizes, m) && t->states > 0 ? DJ_OK : DJ_INVALID;
}

djStatus djd_tapeStates(double* qpos, double* qvel, double* act, const djModel* m,
                        const djTape* t) {
  if (checkRecord(m, t) < 0) return DJ_INVALID;
  size_t n = (size_t)t->states + 1;
  if (qpos) memcpy(qpos, t->qpos, n * (size_t)m->nq * sizeof(double));
  if (qvel) memcpy(qvel, t->qvel, n * (size_t)m->nv * sizeof(double));
  if (act) memcpy(act, t->act, n * (size_t)m->na * sizeof(double));
  return DJ_OK;
}

static void setOrClear(double* to, const double* from, size_t n) {
  if (from) memcpy(to, from, n * sizeof(double));
  else memset(to, 0, n * sizeof(double));
}

djStatus djd_setCotangents(djTape* t, const djModel* m, const double* dstate, const double* dctrl) {
  if (checkRecord(m, t) < 0) return DJ_INVALID;
  size_t nx = (size_t)dj_tangentSize(m), n = (size_t)t->states;
  t->given = dstate || dctrl;
  setOrClear(t->dstate, dstate, (n + 1) * nx);
  setOrClear(t->dctrl, dctrl, n * (size_t)m->nu);
  return DJ_OK;
}

// ---- runs apart from their tapes ----------------------------------------------------------------

static void copyRun(const djTapeRun* to, const djTapeRun* from, const djModel* m, int horizon) {
  size_t n = (size_t)horizon + 1, d = sizeof(double);
  memcpy(to->qpos, from->qpos, n * (size_t)m->nq * d);
  memcpy(to->qvel, from->qvel, n * (size_t)m->nv * d);
  memcpy(to->act, from->act, n * (size_t)m->na * d);
  memcpy(to->history, from->history, n * (size_t)dj_historySize(m) * d);
  memcpy(to->kept, from->kept, n * sizeof(bool));
  memcpy(to->mocap, from->mocap, (size_t)m->nmocap * 14 * d);
}

static djTapeRun runOf(const djTape* t) {
  return (djTapeRun){t->qpos, t->qvel, t->act, t->history, t->kept, t->mocap};
}

void dj_saveTape(const djTapeRun* to, const djModel* m, const djTape* t) {
  djTapeRun run = runOf(t);
  copyRun(to, &run, m, t->states);
}

void dj_loadTape(djTape* t, const djModel* m, const djTapeRun* from, int horizon) {
  djTapeRun run = runOf(t);
  dj_emptyTape(t);
  t->moment = NULL;
  t->given = false;
  t->steps = t->states = t->from = t->to = horizon;
  copyRun(&run, from, m, horizon);
}

// ---- going back -------------------------------------------------------------------------------

const double* dj_tapeEnd(const djTape* t, const djModel* m, int k) {
  return t->end ? t->end + (size_t)k * m->nq : t->qpos + ((size_t)k + 1) * m->nq;
}

void dj_restoreTape(djData* d, const djModel* m, const djRollout* r, const djTape* t, int k) {
  int row = k < r->horizon ? k : k - 1;
  memcpy(d->qpos, t->qpos + (size_t)k * m->nq, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, t->qvel + (size_t)k * m->nv, (size_t)m->nv * sizeof(double));
  memcpy(d->act, t->act + (size_t)k * m->na, (size_t)m->na * sizeof(double));
  if (m->nu) memcpy(d->ctrl, r->ctrl + (size_t)row * m->nu, (size_t)m->nu * sizeof(double));
  size_t nh = (size_t)dj_historySize(m), n = (size_t)m->nmocap, size = sizeof(double);
  const double* last = t->mocap + (k == 0 ? 7 * n : 0);
  memcpy(d->mocap_pos, t->mocap, 3 * n * size);
  memcpy(d->mocap_quat, t->mocap + 3 * n, 4 * n * size);
  memcpy(d->mocap_last_pos, last, 3 * n * size);
  memcpy(d->mocap_last_quat, last + 3 * n, 4 * n * size);
  memcpy(d->history, t->history + (size_t)k * nh, nh * sizeof(double));
  dj_markHistory(m, d, t->kept[k]);
}
