// djm_step and djm_transition: our step on MuJoCo's data.

#include "context.h"
#include "instance.h"

#include <dijoco/gradient.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void djm_deleteContext(djmContext* context) {
  if (!context) return;
  dj_deleteData(context->data);
  dj_deleteModel(context->model);
  free(context->kept);
  free(context);
}

djModel* djm_model(djmContext* context) { return context->model; }
djData* djm_data(djmContext* context) { return context->data; }

// Which activations are kept, where some are not.
static djStatus listKept(djmContext* c, const mjModel* m) {
  c->nkept = c->model->na;
  if (c->nkept == m->na || c->nkept == 0) return DJ_OK;
  c->kept = malloc(c->nkept * sizeof(*c->kept));
  if (!c->kept) return DJ_NO_MEMORY;
  int n = 0;
  for (int i = 0; i < m->nactuator; i++) {
    for (int k = 0; k < djm_keptActivations(m, i); k++) {
      c->kept[n++] = m->actuator_actadr[i] + k;
    }
  }
  return DJ_OK;
}

djStatus djm_makeContextFor(djmContext** context, djReport** report, const mjModel* m,
                            djmPurpose purpose, djError* err) {
  *context = NULL;
  if (report) *report = NULL;
  djmInstance instance = {.substeps = 1};
  djmContext* c = calloc(1, sizeof(*c));
  djStatus status = c ? djm_import(&c->model, report, &instance, m, purpose, err) : DJ_NO_MEMORY;
  if (status == DJ_OK) status = dj_makeData(&c->data, c->model, err);
  if (status == DJ_OK) status = listKept(c, m);
  if (status == DJ_OK) {
    c->substeps = instance.substeps;
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
  djError unused;
  if (!err) err = &unused;
  err->text[0] = '\0';
  return djm_makeContextFor(context, report, m, DJM_WHOLE, err);
}

// Whether context was made from a model of these sizes.
static bool fits(const djmContext* c, const mjModel* m) {
  const djModel* x = c->model;
  return x->nq == m->nq && x->nv == m->nv && x->nbody == m->nbody && x->nmocap == m->nmocap &&
         (x->nu == m->nu || x->njnt == 0) && x->na <= m->na;
}

void djm_readData(djmContext* c, const mjData* d) {
  const djModel* x = c->model;
  djData* data = c->data;
  data->time = d->time;
  mju_copy(data->qpos, d->qpos, x->nq);
  mju_copy(data->qvel, d->qvel, x->nv);
  for (int i = 0; i < x->na; i++) data->act[i] = d->act[c->kept ? c->kept[i] : i];
  mju_copy(data->ctrl, d->ctrl, x->nu);
  mju_copy(data->qfrc_applied, d->qfrc_applied, x->nv);
  mju_copy(data->xfrc_applied, d->xfrc_applied, 6 * x->nbody);
  mju_copy(data->mocap_pos, d->mocap_pos, 3 * x->nmocap);
  mju_copy(data->mocap_quat, d->mocap_quat, 4 * x->nmocap);
}

djStatus djm_step(const mjModel* m, mjData* d, djmContext* context) {
  if (!fits(context, m)) return DJ_INVALID;
  const djModel* x = context->model;
  djData* data = context->data;
  djm_readData(context, d);
  djStatus status = dj_step(x, data);
  if (status < 0) return status;
  for (int i = 0; i < x->nv; i++) {
    d->qacc[i] = d->qacc_warmstart[i] = (data->qvel[i] - d->qvel[i]) / x->opt.timestep;
  }
  d->time = data->time;
  mju_copy(d->qpos, data->qpos, x->nq);
  mju_copy(d->qvel, data->qvel, x->nv);
  for (int i = 0; i < x->na; i++) d->act[context->kept ? context->kept[i] : i] = data->act[i];
  return status;
}

djStatus djm_transition(const mjModel* m, const mjData* d, djmContext* context, mjtNum* A,
                        mjtNum* B, mjtNum* C, mjtNum* D) {
  if (!fits(context, m)) return DJ_INVALID;
  if (context->model->na != m->na || context->model->nu != m->nu) return DJ_UNSUPPORTED;
  if (C || D) return DJ_UNSUPPORTED;
  djm_readData(context, d);
  return djd_transition(context->model, context->data, A, B);
}
