// What calls on a context share: errors, what goes from MuJoCo's data to ours, the step itself.

#include "step.h"

#include <stdio.h>

mjModel djm_plainModel(const mjModel* m) {
  mjModel view = *m;
  view.nplugin = 0;
  view.opt.enableflags &= ~mjENBL_SLEEP;
  return view;
}

djStatus djm_fail(djmContext* c, djStatus status, const char* text) {
  snprintf(c->error.text, sizeof(c->error.text), "%s", text);
  return status;
}

djStatus djm_divideTimestep(djModel* model, int from, int to, djError* err) {
  if (from == to) return DJ_OK;
  djOption option = model->opt;
  option.timestep *= (double)from / to;
  return dj_setOption(model, &option, err);
}

djStatus djm_catch(djmContext* c, void (*run)(void* arg), void* arg) {
  djStatus status = djm_guard(run, arg, &c->error);
  if (status == DJ_OK) c->error.text[0] = '\0';   // warnings, which data count
  return status;
}

void djm_readData(djmContext* c, const mjData* d) {
  const djModel* x = c->model;
  djData* data = c->data;
  data->time = d->time;
  mju_copy(data->qpos, d->qpos, x->nq);
  mju_copy(data->qvel, d->qvel, x->nv);
  for (int i = 0; i < x->na; i++) data->act[i] = d->act[c->kept[i]];
  for (int i = 0; i < x->nequality; i++) data->eq_active[i] = d->eq_active[c->equality[i]];
  mju_copy(data->ctrl, d->ctrl, x->nu);
  mju_copy(data->qfrc_applied, d->qfrc_applied, x->nv);
  mju_copy(data->xfrc_applied, d->xfrc_applied, 6 * x->nbody);
  mju_copy(data->mocap_pos, d->mocap_pos, 3 * x->nmocap);
  mju_copy(data->mocap_quat, d->mocap_quat, 4 * x->nmocap);
  djm_readLast(c, d);
}

void djm_setAcceleration(mjData* d, const djmContext* c) {
  double h = djm_timestep(c);
  for (int i = 0; i < c->model->nv; i++) d->qacc[i] = (c->data->qvel[i] - d->qvel[i]) / h;
}

djStatus djm_solve(djmContext* c, const mjModel* m, const mjData* d) {
  djm_readData(c, d);
  djm_clearForces(c, m);
  djm_beginWay(c);
  djStatus worst = DJ_OK;
  for (int k = 0; k < c->substeps; k++) {
    djm_goWay(c, k);
    djStatus status = dj_step(c->model, c->data);
    if (status < 0) return status;
    if (status > 0) worst = status;
    djm_addForces(c, m, 1.0 / c->substeps);
  }
  return worst;
}
