// Models whose physics is contact mujoco, and their data.

#ifndef DJ_TESTS_MJ_PHYSICS_H_
#define DJ_TESTS_MJ_PHYSICS_H_

#include "common/mjcf.h"
#include "common/worst.h"

static inline djStatus djt_setContact(djModel* model, int contact, djError* err) {
  djOption option = model->opt;
  option.contact = (djContactModel)contact;
  return dj_setOption(model, &option, err);
}

// Whose physics is the contact model from now on.
static inline djModel* djt_chosen(const mjModel* m) {
  djError err;
  djModel* model = djt_import(NULL, m);
  if (djt_setContact(model, DJ_CONTACT_MUJOCO, &err) < 0) fail_msg("%s", err.text);
  return model;
}

static inline djData* djt_dataOf(const djModel* model) {
  djData* data;
  djError err;
  if (dj_makeData(&data, model, &err) < 0) fail_msg("%s", err.text);
  return data;
}

static inline void djt_mustStep(const djModel* model, djData* data) {
  if (dj_step(model, data) != DJ_OK) fail_msg("%s", dj_errorText(data));
}

static inline void djt_takeState(djData* data, const mjModel* m, const mjData* d) {
  data->time = d->time;
  mju_copy(data->qpos, d->qpos, (int)m->nq);
  mju_copy(data->qvel, d->qvel, (int)m->nv);
  mju_copy(data->act, d->act, (int)m->na);
  mju_copy(data->ctrl, d->ctrl, (int)m->nu);
}

// The largest difference, relative to b where that is above 1.
static inline double djt_distance(const double* a, const double* b, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = djt_worst(worst, fabs(a[i] - b[i]) / fmax(1, fabs(b[i])));
  return worst;
}

#endif  // DJ_TESTS_MJ_PHYSICS_H_
