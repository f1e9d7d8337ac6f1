// Contexts: an imported model beside MuJoCo's.

#include "follow.h"

#include <dijoco/record.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void djm_deleteContext(djmContext* c) {
  if (!c) return;
  if (c->pose) mj_deleteData(c->pose);
  if (c->full) mj_deleteData(c->full);
  djm_deleteTransitionWork(c->own_work);
  djm_forgetModel(c);
  dj_deleteData(c->data);
  dj_deleteModel(c->model);
  free(c->kept);
  free(c->equality);
  free(c->last);
  free(c->wrench);
  free(c->contact);
  free(c->edge);
  free(c);
}

djModel* djm_model(djmContext* c) { return c->model; }
djData* djm_data(djmContext* c) { return c->data; }
djmStepOption* djm_stepOption(djmContext* c) { return &c->option; }

const char* djm_errorText(const djmContext* c) {
  return c->error.text[0] ? c->error.text : dj_errorText(c->data);
}

// Which activations and equality constraints are kept.
static djStatus listKept(djmContext* c, const mjModel* m) {
  c->kept = malloc(((size_t)m->na + 1) * sizeof(*c->kept));
  c->equality = malloc(((size_t)m->neq + 1) * sizeof(*c->equality));
  if (!c->kept || !c->equality) return DJ_NO_MEMORY;
  int n = 0;
  for (int i = 0; i < m->neq; i++) {
    if (djm_equalityKept(m, i)) c->equality[n++] = i;
  }
  n = 0;
  for (int i = 0; i < m->nactuator; i++) {
    for (int k = 0; k < djm_keptActivations(m, i); k++) {
      c->kept[n++] = m->actuator_actadr[i] + k;
    }
  }
  return DJ_OK;
}

typedef struct Making {
  mjModel view;
  mjData* data;
} Making;

static void makePose(void* arg) {
  Making* p = arg;
  p->data = mj_makeData(&p->view);
}

static djStatus makeScratch(djmContext* c, const mjModel* m, djError* err) {
  size_t nbody = (size_t)m->nbody, nsensor = (size_t)m->nsensor;
  size_t nlimit = (size_t)m->njnt + (size_t)m->ntendon;
  c->wrench = calloc(12 * nbody + 3 * nsensor + 2 * nlimit + (size_t)m->nsensordata + 1,
                     sizeof(double));
  if (!c->wrench) return DJ_NO_MEMORY;
  c->force = c->wrench + 6 * nbody;
  c->touch = c->force + 6 * nbody;
  c->limit = c->touch + nsensor;
  c->part = c->limit + nlimit;
  c->none = c->part + nlimit;
  c->present = c->none + 2 * nsensor;
  Making making = {djm_plainModel(m), NULL};
  djStatus status = djm_guard(makePose, &making, err);
  c->pose = making.data;
  if (c->pose) {
    err->text[0] = '\0';   // of a warning
    return DJ_OK;
  }
  free(c->wrench);
  c->wrench = NULL;
  return status == DJ_OK ? DJ_NO_MEMORY : status;
}

static djStatus setSubsteps(djmContext* c) {
  int from = c->substeps, to = c->option.substeps;
  if (to < 1) return djm_fail(c, DJ_INVALID, "substeps: must be at least 1");
  djStatus status = djm_divideTimestep(c->model, from, to, &c->error);
  if (status == DJ_OK && c->base) status = djm_divideTimestep(c->base, from, to, &c->error);
  if (status == DJ_OK) c->substeps = to;
  return status;
}

djStatus djm_makeContextFor(djmContext** context, djReport** report, const mjModel* m,
                            djmPurpose purpose, const djSettings* settings, djError* err) {
  *context = NULL;
  if (report) *report = NULL;
  djmInstance instance = {.substeps = 1};
  djmContext* c = calloc(1, sizeof(*c));
  djStatus status = c ? djm_import(&c->model, report, &instance, m, purpose, settings, NULL,
                                 err)
                      : DJ_NO_MEMORY;
  if (status == DJ_OK && settings) status = djm_checkHistory(c->model->opt.integrator, err);
  if (status == DJ_OK) status = dj_makeData(&c->data, c->model, err);
  if (status == DJ_OK) status = listKept(c, m);
  if (status == DJ_OK && !djm_makeLast(c)) status = DJ_NO_MEMORY;
  if (status == DJ_OK && purpose == DJM_WHOLE) status = makeScratch(c, m, err);
  if (status == DJ_OK && purpose == DJM_WHOLE) status = djm_watchModel(c, m, err);
  if (status == DJ_OK) {
    c->nbuffer = m->nbuffer;
    c->nu = m->nu;
    c->na = m->na;
    c->nsensor = m->nsensor;
    c->substeps = 1;
    c->option.substeps = instance.substeps;
    c->joints = instance.joints;
    if (settings) c->given = *settings;
    status = setSubsteps(c);
    if (status != DJ_OK) *err = c->error;
  }
  if (status == DJ_OK) {
    *context = c;
    return DJ_OK;
  }
  if (status == DJ_NO_MEMORY) snprintf(err->text, sizeof(err->text), "out of memory");
  djm_deleteContext(c);
  if (report) {
    dj_deleteReport(*report);
    *report = NULL;
  }
  return status;
}

djStatus djm_makeContext(djmContext** context, djReport** report, const mjModel* m,
                         djError* err) {
  return djm_makeContextWith(context, report, m, NULL, err);
}

djStatus djm_makeContextWith(djmContext** context, djReport** report, const mjModel* m,
                             const djSettings* settings, djError* err) {
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  if (context) *context = NULL;
  if (report) *report = NULL;
  if (!context || !m) {
    snprintf(err->text, sizeof(err->text), "djm_makeContext: no model given");
    return DJ_INVALID;
  }
  return djm_makeContextFor(context, report, m, DJM_WHOLE, settings, err);
}

static bool fitsModel(const djmContext* c, const mjModel* m) {
  const djModel* x = c->model;
  return x->nq == m->nq && x->nv == m->nv && x->nbody == m->nbody && x->njnt == m->njnt &&
         djm_ownGeoms(x) == m->ngeom && x->nsite == m->nsite && x->nmocap == m->nmocap &&
         x->ntendon == m->ntendon && x->nwrap <= m->nwrap &&
         c->nu == m->nu && c->na == m->na && c->nsensor == m->nsensor &&
         c->nbuffer == m->nbuffer;
}

// The pose is made without plugins; each adds an index and a pointer to two aligned lists.
static bool fitsData(const djmContext* c, const mjModel* m, const mjData* d) {
  mjtSize more = d->nbuffer - c->pose->nbuffer;
  mjtSize most = m->nplugin > 0 ? 16 * (mjtSize)m->nplugin + 128 : 0;
  return d->nplugin == m->nplugin && more >= 0 && more <= most;
}

djStatus djm_askRecord(djmContext* c) {
  const char* path = getenv("DIJOCO_RECORD");
  if (c->asked) return DJ_OK;
  if (path && *path && !dj_recordPath(c->data)) {
    djError err = {""};
    char text[sizeof(err.text)];
    djStatus status = dj_startRecordBeside(c->data, c->model, path, &err);
    snprintf(text, sizeof(text), "DIJOCO_RECORD: %.480s", err.text);
    if (status < 0) return djm_fail(c, status, text);
  }
  c->asked = true;
  return DJ_OK;
}

djStatus djm_begin(djmContext* c, const mjModel* m, const mjData* d) {
  if (!c || !m || !d) return DJ_INVALID;
  c->error.text[0] = '\0';
  bool fits = fitsModel(c, m);
  if (fits && !c->pose) {   // a plugin's context has no scratch until it is needed
    djStatus status = makeScratch(c, m, &c->error);
    if (status == DJ_NO_MEMORY) return djm_fail(c, status, "out of memory");
    if (status != DJ_OK) return status;
  }
  if (!fits || !fitsData(c, m, d)) {
    return djm_fail(c, DJ_INVALID, "the context was made from another MuJoCo model");
  }
  djStatus status = djm_followModel(c, m);
  if (status == DJ_OK) status = djm_checkHistory(c->model->opt.integrator, &c->error);
  if (status == DJ_OK) status = setSubsteps(c);
  return status < 0 ? status : djm_askRecord(c);
}
