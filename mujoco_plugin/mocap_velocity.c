// Velocities of mocap bodies of a context, as numbers.

#include "step.h"

static djStatus readVelocities(djmContext* c, const mjModel* m, const mjData* d) {
  djStatus status = djm_begin(c, m, d);
  if (status >= 0) djm_readData(c, d);
  return status;
}

djStatus djm_getMocapVelocity(mjtNum* velocity, const mjModel* m, const mjData* d, djmContext* c) {
  djStatus status = readVelocities(c, m, d);
  if (status < 0) return status;
  if (!velocity) return djm_fail(c, DJ_INVALID, "velocity: missing");
  status = dj_getMocapVelocity(velocity, c->model, c->data);
  for (int i = 0; i < 6 * c->model->nmocap && status >= 0; i++) velocity[i] /= c->substeps;
  return status;
}

djStatus djm_setMocapVelocity(const mjModel* m, const mjData* d, djmContext* c,
                              const mjtNum* velocity) {
  djStatus status = readVelocities(c, m, d);
  if (status < 0) return status;
  if (!velocity) return djm_fail(c, DJ_INVALID, "velocity: missing");
  int n = c->model->nmocap;
  for (int i = 0; i < 6 * n; i++) c->way[i] = c->substeps * velocity[i];
  status = dj_setMocapVelocity(c->data, c->model, c->way);
  if (status < 0) return status;
  mju_copy(c->last, c->data->mocap_last_pos, 3 * n);
  mju_copy(c->last + 3 * n, c->data->mocap_last_quat, 4 * n);
  c->last_data = d;
  c->last_time = d->time;
  return status;
}
