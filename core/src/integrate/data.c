// djData: memory, copies, resets, state vectors.

#include "base/arena.h"
#include "base/status.h"
#include "integrate/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- memory ------------------------------------------------------------------------------------

static double* takeDoubles(djArena* a, size_t n) { return dj_take(a, n, sizeof(double)); }

// Inputs and state of a djData, or of the view of a step's start.
static void layoutState(djData* d, djArena* a, const djModel* m) {
  d->qpos = takeDoubles(a, m->nq);
  d->qvel = takeDoubles(a, m->nv);
  d->act = takeDoubles(a, m->na);
  d->ctrl = takeDoubles(a, m->nu);
  d->qfrc_applied = takeDoubles(a, m->nv);
  d->xfrc_applied = takeDoubles(a, (size_t)m->nbody * 6);
  d->mocap_pos = takeDoubles(a, (size_t)m->nmocap * 3);
  d->mocap_quat = takeDoubles(a, (size_t)m->nmocap * 4);
}

static void layoutResults(djData* d, djArena* a, const djModel* m) {
  size_t nb = m->nbody;
  d->xpos = takeDoubles(a, nb * 3);
  d->xquat = takeDoubles(a, nb * 4);
  d->xmat = takeDoubles(a, nb * 9);
  d->xipos = takeDoubles(a, nb * 3);
  d->site_xpos = takeDoubles(a, (size_t)m->nsite * 3);
  d->geom_xpos = takeDoubles(a, (size_t)m->ngeom * 3);
  d->geom_xmat = takeDoubles(a, (size_t)m->ngeom * 9);
  d->contact = dj_take(a, d->work->maxcontact, sizeof(djContactForce));
  d->pair = dj_take(a, d->work->maxpair, sizeof(djContactPair));
}

static void layoutKin(djKin* kin, djArena* a, const djModel* m) {
  void* memory = dj_take(a, dj_kinSize(m), 1);
  if (memory) *kin = dj_initKin(m, memory);
}

static void layoutWork(djWork* w, djArena* a, const djModel* m) {
  size_t nv = m->nv, nb = m->nbody, nu = m->nu, na = m->na;
  layoutState(&w->start, a, m);
  w->ref = dj_take(a, nb, sizeof(djVec3));
  layoutKin(&w->kin0, a, m);
  layoutKin(&w->back, a, m);
  layoutKin(&w->now, a, m);
  layoutKin(&w->trial, a, m);
  w->q = takeDoubles(a, m->nq);
  w->qtrial = takeDoubles(a, m->nq);
  w->qback = takeDoubles(a, m->nq);
  w->act_next = takeDoubles(a, na);
  w->body = dj_take(a, nb, sizeof(djBodyStep));
  void* joint = dj_take(a, dj_jointTermsSize(m), 1);
  if (joint) w->joint = dj_initJointTerms(m, joint);
  w->gradient = takeDoubles(a, nv);
  w->step = takeDoubles(a, nv);
  w->scale = takeDoubles(a, nv);
  w->shift = takeDoubles(a, nv);
  dj_takePattern(&w->pattern, a, m->nv, dj_treeRanges(NULL, m));
  dj_takePattern(&w->trees, a, m->nv, dj_treeRanges(NULL, m));
  w->H = takeDoubles(a, nv * nv);
  w->factor = (djFactor){.kind = DJ_LDL, .n = m->nv};
  w->factor.data = takeDoubles(a, dj_factorSize(m->nv));
  w->wrench = takeDoubles(a, nb * 6);
  w->N = takeDoubles(a, nb * 36);
  w->M = takeDoubles(a, nb * 36);
  w->momentum = takeDoubles(a, nb * 6);
  w->lead = takeDoubles(a, nv * 6);
  w->change = takeDoubles(a, nb * 6);
  w->balance = takeDoubles(a, nv);
  w->inertial = takeDoubles(a, nv);
  w->pull = takeDoubles(a, nv);
  w->drag = dj_take(a, nb, sizeof(djBodyStep));
  w->mass = (djFactor){.kind = DJ_LDL, .n = m->nv};
  w->mass.data = takeDoubles(a, dj_factorSize(m->nv));
  w->Rq = takeDoubles(a, nv * nv);
  w->Rv = takeDoubles(a, nv * nv);
  w->Ra = takeDoubles(a, nv * na);
  w->Ru = takeDoubles(a, nv * nu);
  w->X = takeDoubles(a, nv * (2 * nv + na + nu));
  w->vnext = takeDoubles(a, nv);
  w->qvel = takeDoubles(a, nv);
  w->Vplus = takeDoubles(a, nv * nv);
  w->Vstart = takeDoubles(a, nv * nv);
  w->act_by_act = takeDoubles(a, na);
  w->act_by_ctrl = takeDoubles(a, nu);
  w->lambda = takeDoubles(a, 4 * nv + na + nu);
}

// Pairs that one step can report: bounded by what the contact module can hold.
static void setCapacities(djWork* w, const djModel* m) {
  w->maxpair = dj_maxContactPairs(m);
  w->maxcontact = w->maxpair;
}

djSizes dj_sizesOf(const djModel* m) {
  return (djSizes){m->nq,   m->nv,    m->na,    m->nu,    m->nbody,
                   m->njnt, m->ngeom, m->nsite, m->nmocap};
}

bool dj_sameSizes(const djSizes* sizes, const djModel* m) {
  djSizes s = dj_sizesOf(m);
  return memcmp(&s, sizes, sizeof s) == 0;
}

static bool hasContact(const djModel* m) {
  return m->opt.contact != DJ_CONTACT_NONE && !(m->opt.disable & DJ_DSBL_CONTACT);
}

djStatus dj_checkData(const djModel* m, djData* d) {
  djWork* w = d->work;
  if (!dj_sameSizes(&w->sizes, m) || dj_maxContactPairs(m) > w->maxpair) {
    return dj_fail(&w->error, DJ_INVALID, "data: made for a model of other sizes");
  }
  if (hasContact(m) != (w->contacts != NULL)) {
    return dj_fail(&w->error, DJ_INVALID, "data: made with contact switched %s",
                   w->contacts ? "on" : "off");
  }
  return DJ_OK;
}

static djArena measure(const djModel* m) {
  djData d = {0};
  djWork w = {0};
  d.work = &w;
  setCapacities(&w, m);
  djArena a = {NULL, 0};
  layoutState(&d, &a, m);
  layoutResults(&d, &a, m);
  layoutWork(&w, &a, m);
  return a;
}

// The ranges are kept in scratch of the pattern while it is set.
static void setPattern(djWork* w, const djModel* m) {
  dj_treeRanges(w->pattern.degree, m);
  dj_setPattern(&w->pattern, w->pattern.degree);
  dj_treeRanges(w->trees.degree, m);
  dj_setPattern(&w->trees, w->trees.degree);
}

size_t dj_dataSize(const djModel* m) {
  if (!m) return 0;
  return sizeof(djData) + sizeof(djWork) + measure(m).used + DJ_ALIGN + dj_contactsSize(m);
}

djStatus dj_makeData(djData** data, const djModel* m, djError* err) {
  if (!data) return dj_fail(err, DJ_INVALID, "data: NULL");
  *data = NULL;
  if (!m) return dj_fail(err, DJ_INVALID, "model: NULL");
  djData* d = calloc(1, sizeof(djData));
  djWork* w = calloc(1, sizeof(djWork));
  djArena a = measure(m);
  void* buffer = calloc(1, a.used + DJ_ALIGN);
  if (!d || !w || !buffer) {
    free(d);
    free(w);
    free(buffer);
    return dj_failMemory(err);
  }
  d->work = w;
  w->buffer = buffer;
  w->nbuffer = a.used;
  setCapacities(w, m);
  w->sizes = dj_sizesOf(m);
  unsigned char* base = buffer;
  base += DJ_ALIGN - (uintptr_t)base % DJ_ALIGN;
  a = (djArena){base, 0};
  layoutState(d, &a, m);
  layoutResults(d, &a, m);
  w->nkeep = a.used;
  layoutWork(w, &a, m);
  setPattern(w, m);
  djStatus status = DJ_OK;
  if (hasContact(m)) status = dj_makeContacts(&w->contacts, m, err);
  if (status >= 0) status = dj_resetData(m, d);
  if (status < 0) {
    dj_deleteData(d);
    return status;
  }
  *data = d;
  return DJ_OK;
}

void dj_deleteData(djData* d) {
  if (!d) return;
  if (d->work) {
    dj_deleteContacts(d->work->contacts);
    free(d->work->buffer);
    free(d->work);
  }
  free(d);
}

djStatus dj_copyData(djData* dest, const djModel* m, const djData* src) {
  if (!dest || !src || !m) return DJ_INVALID;
  djWork *to = dest->work, *from = src->work;
  djStatus fits = dj_checkData(m, dest);
  if (fits < 0) return fits;
  if (dest == src) return DJ_OK;
  if (!dj_sameSizes(&from->sizes, m)) {
    return dj_fail(&to->error, DJ_INVALID, "source: made for a model of other sizes");
  }
  if (to->nbuffer != from->nbuffer || !to->contacts != !from->contacts) return DJ_INVALID;
  // What a step works with is not copied, it is filled when a step is begun; nor the list of near
  // pairs, which changes no result. Where the state jumps it begins anew, as margins that cover the
  // jump would make it long.
  dj_resetContacts(to->contacts);
  // The blocks have the same layout; only their alignment may differ.
  memcpy(dest->qpos, src->qpos, to->nkeep);
  dest->time = src->time;
  dest->gravity_scale = src->gravity_scale;
  memcpy(dest->energy, src->energy, sizeof(src->energy));
  dest->stats = src->stats;
  dest->ncontact = src->ncontact;
  dest->npair = src->npair;
  to->error = from->error;
  to->polish = from->polish;
  to->stepped = to->linearized = false;
  return DJ_OK;
}

// ---- resets and states ----------------------------------------------------------------------------

static void clearInputs(const djModel* m, djData* d) {
  memset(d->ctrl, 0, (size_t)m->nu * sizeof(double));
  memset(d->qfrc_applied, 0, (size_t)m->nv * sizeof(double));
  memset(d->xfrc_applied, 0, (size_t)m->nbody * 6 * sizeof(double));
  d->gravity_scale = 1;
  for (int b = 0; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    if (k < 0) continue;
    memcpy(d->mocap_pos + 3 * k, m->body_pos + 3 * b, 3 * sizeof(double));
    memcpy(d->mocap_quat + 4 * k, m->body_quat + 4 * b, 4 * sizeof(double));
  }
}

djStatus dj_resetData(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  d->time = 0;
  memcpy(d->qpos, m->qpos0, (size_t)m->nq * sizeof(double));
  memset(d->qvel, 0, (size_t)m->nv * sizeof(double));
  memset(d->act, 0, (size_t)m->na * sizeof(double));
  clearInputs(m, d);
  memset(&d->stats, 0, sizeof(d->stats));
  d->stats.gap = d->stats.smallest_gap = INFINITY;
  d->ncontact = d->npair = 0;
  d->work->error.text[0] = 0;
  dj_resetContacts(d->work->contacts);
  return dj_forward(m, d);
}

djStatus dj_resetKey(const djModel* m, djData* d, int key) {
  if (!m || !d) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  if (key < 0 || key >= m->nkey) {
    return dj_fail(&d->work->error, DJ_INVALID, "keyframe %d: the model has %d", key, m->nkey);
  }
  status = dj_resetData(m, d);
  if (status < 0) return status;
  size_t k = key;
  d->time = m->key_time[key];
  memcpy(d->qpos, m->key_qpos + k * m->nq, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, m->key_qvel + k * m->nv, (size_t)m->nv * sizeof(double));
  memcpy(d->act, m->key_act + k * m->na, (size_t)m->na * sizeof(double));
  memcpy(d->ctrl, m->key_ctrl + k * m->nu, (size_t)m->nu * sizeof(double));
  memcpy(d->mocap_pos, m->key_mpos + k * m->nmocap * 3, (size_t)m->nmocap * 3 * sizeof(double));
  size_t nquat = (size_t)m->nmocap * 4;
  memcpy(d->mocap_quat, m->key_mquat + k * nquat, nquat * sizeof(double));
  return dj_forward(m, d);
}

// Both integrators are one-step methods in (q, v): no history beyond these.
int dj_stateSize(const djModel* m) { return m ? 1 + m->nq + m->nv + m->na : 0; }

djStatus dj_getState(double* state, const djModel* m, const djData* d) {
  if (!state || !m || !d || !dj_sameSizes(&d->work->sizes, m)) return DJ_INVALID;
  *state++ = d->time;
  memcpy(state, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(state + m->nq, d->qvel, (size_t)m->nv * sizeof(double));
  memcpy(state + m->nq + m->nv, d->act, (size_t)m->na * sizeof(double));
  return DJ_OK;
}

djStatus dj_setState(djData* d, const djModel* m, const double* state) {
  if (!state || !m || !d) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  if (status == DJ_OK) status = dj_checkInputs(m, d);
  if (status < 0) return status;
  for (int i = 0; i < dj_stateSize(m); i++) {
    if (!isfinite(state[i])) {
      return dj_fail(&d->work->error, DJ_INVALID, "state[%d]: not a finite number", i);
    }
  }
  d->time = *state++;
  memcpy(d->qpos, state, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, state + m->nq, (size_t)m->nv * sizeof(double));
  memcpy(d->act, state + m->nq + m->nv, (size_t)m->na * sizeof(double));
  dj_resetContacts(d->work->contacts);
  return dj_forward(m, d);
}

const char* dj_errorText(const djData* d) { return d && d->work ? d->work->error.text : ""; }
