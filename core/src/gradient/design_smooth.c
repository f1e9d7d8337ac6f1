#include "gradient/design_smooth.h"

#include "base/status.h"
#include "gradient/design_parts.h"
#include "integrate/work.h"
#include "model/choice.h"

#include <dijoco/setting.h>

#include <string.h>

static djStatus makeRun(djDesignSmooth* s, djError* err) {
  dj_deleteData(s->data);
  s->data = NULL;
  return dj_makeData(&s->data, s->model, err);
}

static djStatus givePreset(djSettings* settings, djError* err) {
  const djSetting* preset = dj_findSetting("preset", 0);
  const int* smooth = preset ? dj_valueNamed(preset->choice, "smooth") : NULL;
  if (!smooth) return dj_fail(err, DJ_UNSUPPORTED, "derivatives: there is no preset 'smooth'");
  const double value = *smooth;
  return dj_giveSetting(settings, preset, &value, err);
}

djStatus dj_makeSmooth(djDesignSmooth* s, const djModel* model, const djProblem* p, djError* err) {
  if (p->derivatives != DJ_DERIVATIVES_SMOOTH) return DJ_OK;
  djStatus status = dj_copyModel(&s->model, model, err);
  djSettings settings = {.given = {false}};
  if (status == DJ_OK) status = givePreset(&settings, err);
  if (status == DJ_OK) {
    djOption option = s->model->opt;
    dj_applySettings(&option, &settings);
    status = dj_setOption(s->model, &option, err);
  }
  if (status == DJ_OK && p->inertia_from_geom) status = dj_copyModel(&s->compiled, s->model, err);
  if (status == DJ_OK) status = makeRun(s, err);
  if (status == DJ_OK) status = djd_makeTape(&s->tape, s->model, p->rollout.horizon, err);
  return status;
}

void dj_freeSmooth(djDesignSmooth* s) {
  djd_deleteTape(s->tape);
  dj_deleteData(s->data);
  dj_deleteModel(s->model);
  dj_deleteModel(s->compiled);
}

djStatus dj_setSmoothParam(djDesignSmooth* s, const djParam* param, const double* value,
                           djError* err) {
  return s->model ? dj_setParam(s->model, param, value, err) : DJ_OK;
}

djStatus dj_followSmooth(djDesignSmooth* s, djInertiaRule rule, djError* err) {
  return s->model ? dj_followGeomsBy(s->model, s->compiled, rule, err) : DJ_OK;
}

djStatus dj_renewSmooth(djDesignSmooth* s, djInertiaRule rule, djError* err) {
  int changed;
  if (!s->model) return DJ_OK;
  djStatus status = dj_renewFacets(&changed, s->model, s->compiled, err);
  return status < 0 ? status : dj_followSmooth(s, rule, err);
}

// Changed shapes can touch more of each other. Inputs are those of the design's data.
static djStatus openData(djDesignSmooth* s, const djModel* m, const djData* from, djError* err) {
  const size_t d = sizeof(double);
  if (dj_checkData(s->model, s->data) < 0) {
    djStatus status = makeRun(s, err);
    if (status < 0) return status;
  }
  djData* to = s->data;
  memcpy(to->qfrc_applied, from->qfrc_applied, (size_t)m->nv * d);
  memcpy(to->xfrc_applied, from->xfrc_applied, 6 * (size_t)m->nbody * d);
  memcpy(to->mocap_pos, from->mocap_pos, 3 * (size_t)m->nmocap * d);
  memcpy(to->mocap_quat, from->mocap_quat, 4 * (size_t)m->nmocap * d);
  to->gravity_scale = from->gravity_scale;
  return DJ_OK;
}

djStatus dj_forwardSmooth(djDesign* d, djDesignSmooth* s) {
  djStatus status = openData(s, d->model, d->data, &d->error);
  if (status < 0) return status;
  s->rollout = d->rollout;
  s->rollout.loss_only = false;
  s->rollout.along = d->tape;
  status = djd_rolloutForward(&d->result, s->model, s->data, &s->rollout, s->tape);
  return status < 0 ? dj_fail(&d->error, status, "%.500s", dj_errorText(s->data)) : status;
}

bool djd_isSurrogate(const djDesign* d) {
  return d && (dj_designMemory(d)->smooth.model || dj_guidesDerivatives(d->model));
}

djDesignRun dj_gradientRun(const djDesign* d) {
  const djDesignSmooth* s = &dj_designMemory(d)->smooth;
  if (s->model) return (djDesignRun){s->model, s->data, &s->rollout, s->tape};
  return (djDesignRun){d->model, d->data, &d->rollout, d->tape};
}
