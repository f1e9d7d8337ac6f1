#include "stock_work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

djStatus djm_stockError(djError* err, djStatus status, const char* format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
  }
  return status;
}

// ------------------------------ making ----------------------------------------------------------

typedef struct djMakeJob {
  djStock* stock;
  const mjModel* source;
} djMakeJob;

static void runMake(void* arg) {
  djMakeJob* job = arg;
  djStock* s = job->stock;
  s->m = mj_copyModel(NULL, job->source);
  if (!s->m) return;
  s->m->opt.enableflags |= mjENBL_ENERGY;
  s->m->opt.disableflags |= mjDSBL_AUTORESET;
  s->d = mj_makeData(s->m);
  s->work->probe = mj_makeData(s->m);
}

static void runDelete(void* arg) {
  djStock* s = arg;
  if (s->work->probe) mj_deleteData(s->work->probe);
  if (s->d) mj_deleteData(s->d);
  if (s->m) mj_deleteModel(s->m);
}

void dj_deleteStock(djStock* stock) {
  if (!stock) return;
  if (stock->work) djm_guard(runDelete, stock, NULL);
  free(stock->work);
  free(stock->contact);
  free(stock);
}

djStatus dj_makeStock(djStock** stock, const mjModel* m, djError* err) {
  *stock = NULL;
  if (!m) return djm_stockError(err, DJ_INVALID, "dj_makeStock: no model given");
  djStock* s = calloc(1, sizeof(*s));
  struct djStockWork* work = calloc(1, sizeof(*work));
  if (!s || !work) {
    free(s);
    free(work);
    return djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  s->work = work;
  s->gravity_scale = 1;
  s->distance = s->probe_distance = INFINITY;
  mju_copy3(work->gravity, m->opt.gravity);
  djMakeJob job = {s, m};
  djStatus status = djm_guard(runMake, &job, err);
  if (status == DJ_OK && (!s->m || !s->d || !work->probe)) {
    status = djm_stockError(err, DJ_NO_MEMORY, "out of memory");
  }
  if (status != DJ_OK) {
    dj_deleteStock(s);
    return status;
  }
  *stock = s;
  return DJ_OK;
}

typedef struct djResetJob {
  djStock* stock;
  int key;
} djResetJob;

static void runReset(void* arg) {
  djResetJob* job = arg;
  djStock* s = job->stock;
  if (job->key < 0) {
    mj_resetData(s->m, s->d);
  } else {
    mj_resetDataKeyframe(s->m, s->d, job->key);
  }
}

djStatus dj_resetStock(djStock* stock, int key, djError* err) {
  if (key >= stock->m->nkey) return djm_stockError(err, DJ_INVALID, "there is no keyframe %d", key);
  djResetJob job = {stock, key};
  djStatus status = djm_guard(runReset, &job, err);
  stock->work->broken = status != DJ_OK;
  stock->ncontact = 0;
  stock->distance = INFINITY;
  stock->warning[0] = '\0';
  return status;
}

// ------------------------------ contact forces --------------------------------------------------

static int comparePairs(const void* p, const void* q) {
  const djContactForce *a = p, *b = q;
  if (a->body1 != b->body1) return a->body1 < b->body1 ? -1 : 1;
  return (a->body2 > b->body2) - (a->body2 < b->body2);
}

mjtNum djm_contactWrench(mjtNum force[3], mjtNum torque[3], const mjModel* m, const mjData* d,
                         int i) {
  mjtNum local[6];
  mj_contactForce(m, d, i, local);
  mju_mulMatTVec3(force, d->contact[i].frame, local);
  mju_mulMatTVec3(torque, d->contact[i].frame, local + 3);
  return local[0];
}

// Force and torque of contact i on body2, about body2's frame origin. False: not of two geoms.
static bool contactForce(djContactForce* out, const mjModel* m, const mjData* d, int i) {
  const mjContact* contact = d->contact + i;
  mjtNum force[3], torque[3], moment[3], arm[3];
  if (contact->geom[0] < 0 || contact->geom[1] < 0) return false;
  djm_contactWrench(force, torque, m, d, i);
  int a = m->geom_bodyid[contact->geom[0]], b = m->geom_bodyid[contact->geom[1]];
  double sign = a < b ? 1 : -1;
  *out = (djContactForce){.body1 = a < b ? a : b, .body2 = a < b ? b : a};
  mju_sub3(arm, contact->pos, d->xpos + 3 * out->body2);
  mju_cross(moment, arm, force);
  mju_addTo3(torque, moment);
  mju_scl3(out->force, force, sign);
  mju_scl3(out->torque, torque, sign);
  return true;
}

// Sums the contact list over body pairs. Entries come sorted; zero sums are dropped.
static djStatus sumContacts(djStock* s) {
  const mjData* d = s->d;
  s->ncontact = 0;
  s->distance = INFINITY;
  if (d->ncon > s->work->maxcontact) {
    djContactForce* larger = realloc(s->contact, 2 * (size_t)d->ncon * sizeof(*larger));
    if (!larger) return DJ_NO_MEMORY;
    s->contact = larger;
    s->work->maxcontact = 2 * d->ncon;
  }
  int n = 0;
  for (int i = 0; i < d->ncon; i++) {
    s->distance = fmin(s->distance, d->contact[i].dist);
    if (d->contact[i].efc_address >= 0 && contactForce(s->contact + n, s->m, d, i)) n++;
  }
  if (n > 0) qsort(s->contact, n, sizeof(*s->contact), comparePairs);
  for (int i = 0; i < n;) {
    djContactForce sum = s->contact[i++];
    for (; i < n && comparePairs(&sum, s->contact + i) == 0; i++) {
      mju_addTo3(sum.force, s->contact[i].force);
      mju_addTo3(sum.torque, s->contact[i].torque);
    }
    if (!mju_isZero(sum.force, 3)) s->contact[s->ncontact++] = sum;
  }
  return DJ_OK;
}

// ------------------------------ stepping --------------------------------------------------------

typedef struct djStepJob {
  djStock* stock;
  djStatus status;
} djStepJob;

static void runStep(void* arg) {
  djStepJob* job = arg;
  mj_step(job->stock->m, job->stock->d);
  job->status = sumContacts(job->stock);
}

// The first entry that is not a usable number, or -1; MuJoCo's own rule.
static int firstBad(const mjtNum* v, int n) {
  for (int i = 0; i < n; i++) {
    if (mju_isBad(v[i])) return i;
  }
  return -1;
}

static djStatus checkState(const djStock* s, djError* err) {
  const mjModel* m = s->m;
  const mjData* d = s->d;
  const struct {
    const char* name;
    const mjtNum* v;
    int n;
  } list[] = {{"qpos", d->qpos, (int)m->nq}, {"qvel", d->qvel, (int)m->nv},
              {"act", d->act, (int)m->na}};
  for (int k = 0; k < 3; k++) {
    int bad = firstBad(list[k].v, list[k].n);
    if (bad >= 0) {
      return djm_stockError(err, DJ_INVALID, "MuJoCo: %s[%d] = %g at time %g", list[k].name, bad,
                            list[k].v[bad], d->time);
    }
  }
  return DJ_OK;
}

djStatus dj_stepStock(djStock* stock, const double* ctrl, djError* err) {
  djStepJob job = {stock, DJ_OK};
  djError text;
  if (stock->work->broken) {
    return djm_stockError(err, DJ_INVALID, "MuJoCo: reset needed after an error");
  }
  if (ctrl) mju_copy(stock->d->ctrl, ctrl, (int)stock->m->nu);
  mju_scl3(stock->m->opt.gravity, stock->work->gravity, stock->gravity_scale);
  djStatus status = djm_guard(runStep, &job, &text);
  if (status != DJ_OK) {
    stock->work->broken = true;
    return djm_stockError(err, status, "MuJoCo: %.480s", text.text);
  }
  if (text.text[0]) snprintf(stock->warning, sizeof(stock->warning), "%s", text.text);
  if (job.status != DJ_OK) return djm_stockError(err, job.status, "out of memory");
  return checkState(stock, err);
}

static void runProbe(void* arg) {
  djStock* s = arg;
  const mjModel* m = s->m;
  const mjData* d = s->d;
  mjData* p = s->work->probe;
  p->time = d->time;
  mju_copy(p->qpos, d->qpos, (int)m->nq);
  mju_copy(p->qvel, d->qvel, (int)m->nv);
  mju_copy(p->mocap_pos, d->mocap_pos, 3 * (int)m->nmocap);
  mju_copy(p->mocap_quat, d->mocap_quat, 4 * (int)m->nmocap);
  mju_copy(p->plastic, d->plastic, (int)m->nplastic);
  mj_fwdPosition(m, p);
  mj_fwdVelocity(m, p);
  mj_energyPos(m, p);
  mj_energyVel(m, p);
  mju_copy(s->energy, p->energy, 2);
  s->probe_distance = INFINITY;
  for (int i = 0; i < p->ncon; i++) {
    s->probe_distance = fmin(s->probe_distance, p->contact[i].dist);
  }
}

static void runResetProbe(void* arg) {
  djStock* s = arg;
  mj_resetData(s->m, s->work->probe);
}

djStatus dj_probeStock(djStock* stock, djError* err) {
  djError text;
  mju_scl3(stock->m->opt.gravity, stock->work->gravity, stock->gravity_scale);
  djStatus status = djm_guard(runProbe, stock, &text);
  if (status == DJ_OK) return DJ_OK;
  djm_guard(runResetProbe, stock, NULL);
  return djm_stockError(err, status, "MuJoCo: %.480s", text.text);
}
