// djm_step: our step on MuJoCo's data.

#include "own_step.h"
#include "sensor.h"

djStatus djm_step(const mjModel* m, mjData* d, djmContext* c) {
  djStatus status = djm_begin(c, m, d);
  if (status < 0) return status;
  if (djm_stepsItself(c)) return djm_stepItself(m, d, c);
  status = djm_solve(c, m, d);
  if (status < 0) return status;
  const djModel* x = c->model;
  const djData* data = c->data;
  if (c->option.sensors) {
    djStatus passed = djm_pass(c, m, d);
    if (passed < 0) return passed;
    if (!djm_disabled(m, mjDSBL_SENSOR)) djm_advanceHistories(c->present, m, d);
  } else {
    djm_setAcceleration(d, c);
    mjModel view = djm_plainModel(m);
    djm_poseData(c, &view, d);
    djm_projectForces(d->qfrc_constraint, d->cfrc_ext, c, m, c->pose, d->xfrc_applied);
  }
  mju_copy(d->qacc_warmstart, d->qacc, x->nv);
  d->time = data->time;
  mju_copy(d->qpos, data->qpos, x->nq);
  mju_copy(d->qvel, data->qvel, x->nv);
  for (int i = 0; i < x->na; i++) d->act[c->kept[i]] = data->act[i];
  djm_keepLast(c, d);
  return status;
}
