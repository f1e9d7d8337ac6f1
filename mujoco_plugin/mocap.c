// Where mocap bodies began the step: MuJoCo's state does not say.

#include "step.h"

#include <stdlib.h>
#include <string.h>

bool djm_makeLast(djmContext* c) {
  size_t n = (size_t)c->model->nmocap;
  c->last = calloc(21 * n + 1, sizeof(*c->last));
  if (!c->last) return false;
  c->way = c->last + 7 * n;
  return true;
}

// Known of the mjData that the last djm_step was on, as long as nobody moves its time. Copies of
// it serve differences.
static bool knowsLast(const djmContext* c, const mjData* d) {
  return c->last_data && c->last_time == d->time && (d == c->last_data || d == c->full);
}

void djm_readLast(djmContext* c, const mjData* d) {
  djm_setLast(c, knowsLast(c, d) ? c->last : NULL);
}

void djm_setLast(djmContext* c, const mjtNum* last) {
  size_t n = (size_t)c->model->nmocap, size = sizeof(double);
  if (last) {
    memcpy(c->data->mocap_last_pos, last, 3 * n * size);
    memcpy(c->data->mocap_last_quat, last + 3 * n, 4 * n * size);
  } else {
    memset(c->data->mocap_last_pos, 0, 3 * n * size);
    memset(c->data->mocap_last_quat, 0, 4 * n * size);
  }
}

void djm_keepLast(djmContext* c, const mjData* d) {
  int n = c->model->nmocap;
  mju_copy(c->last, d->mocap_pos, 3 * n);
  mju_copy(c->last + 3 * n, d->mocap_quat, 4 * n);
  c->last_data = d;
  c->last_time = d->time;
}

// ---- substeps ---------------------------------------------------------------------------------

void djm_beginWay(djmContext* c) {
  djData* data = c->data;
  int n = c->model->nmocap;
  mjtNum *from = c->way, *to = c->way + 7 * n;
  if (c->substeps == 1 || n == 0) return;
  mju_copy(to, data->mocap_pos, 3 * n);
  mju_copy(to + 3 * n, data->mocap_quat, 4 * n);
  for (int k = 0; k < n; k++) {
    mjtNum* quat = data->mocap_last_quat + 4 * k;
    mju_normalize4(data->mocap_quat + 4 * k);
    if (!mju_isZero(quat, 4)) mju_normalize4(quat);
  }
  // what jumps does so at once
  mjtNum* velocity = from;
  bool moves = dj_getMocapVelocity(velocity, c->model, data) == DJ_OK;
  for (int k = n - 1; k >= 0; k--) {
    if (moves && !mju_isZero(velocity + 6 * k, 6)) continue;
    mju_copy3(data->mocap_last_pos + 3 * k, data->mocap_pos + 3 * k);
    mju_copy4(data->mocap_last_quat + 4 * k, data->mocap_quat + 4 * k);
  }
  mju_copy(from, data->mocap_last_pos, 3 * n);
  mju_copy(from + 3 * n, data->mocap_last_quat, 4 * n);
}

void djm_goWay(djmContext* c, int substep) {
  djData* data = c->data;
  int n = c->model->nmocap;
  const mjtNum *from = c->way, *to = c->way + 7 * n;
  if (c->substeps == 1 || n == 0) return;
  if (substep + 1 == c->substeps) {
    mju_copy(data->mocap_pos, to, 3 * n);
    mju_copy(data->mocap_quat, to + 3 * n, 4 * n);
    return;
  }
  mjtNum part = (substep + 1.0) / c->substeps, turn[3];
  for (int k = 0; k < n; k++) {
    mjtNum *pos = data->mocap_pos + 3 * k, *quat = data->mocap_quat + 4 * k;
    for (int i = 0; i < 3; i++) pos[i] = from[3 * k + i] + part * (to[3 * k + i] - from[3 * k + i]);
    mju_subQuat(turn, to + 3 * n + 4 * k, from + 3 * n + 4 * k);
    mju_copy4(quat, from + 3 * n + 4 * k);
    mju_quatIntegrate(quat, turn, part);
  }
}
