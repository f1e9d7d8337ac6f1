// Resets, and states as plain numbers.

#include "base/status.h"
#include "integrate/work.h"

#include <math.h>
#include <string.h>

static void clearInputs(const djModel* m, djData* d) {
  memset(d->ctrl, 0, (size_t)m->nu * sizeof(double));
  memset(d->qfrc_applied, 0, (size_t)m->nv * sizeof(double));
  memset(d->xfrc_applied, 0, (size_t)m->nbody * 6 * sizeof(double));
  d->gravity_scale = 1;
  for (int i = 0; i < m->nequality; i++) d->eq_active[i] = m->eq_active0[i];
  for (int b = 0; b < m->nbody; b++) {
    int k = m->body_mocap[b];
    if (k < 0) continue;
    memcpy(d->mocap_pos + 3 * k, m->body_pos + 3 * b, 3 * sizeof(double));
    memcpy(d->mocap_quat + 4 * k, m->body_quat + 4 * b, 4 * sizeof(double));
  }
  memset(d->mocap_last_pos, 0, (size_t)m->nmocap * 3 * sizeof(double));
  memset(d->mocap_last_quat, 0, (size_t)m->nmocap * 4 * sizeof(double));
}

djStatus dj_resetData(const djModel* m, djData* d) {
  if (!m || !d) return DJ_INVALID;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  d->time = 0;
  memcpy(d->qpos, m->qpos0, (size_t)m->nq * sizeof(double));
  memset(d->qvel, 0, (size_t)m->nv * sizeof(double));
  memset(d->act, 0, (size_t)m->na * sizeof(double));
  dj_markHistory(m, d, false);
  clearInputs(m, d);
  memset(&d->stats, 0, sizeof(d->stats));
  d->stats.gap = d->stats.smallest_gap = INFINITY;
  d->ncontact = d->npair = 0;
  d->work->error.text[0] = 0;
  dj_forgetForces(&d->work->forces);
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

// With a history: whether it belongs to the state, and it.
static int historyEntries(const djModel* m) {
  int n = dj_historySize(m);
  return n > 0 ? 1 + n : 0;
}

int dj_stateSize(const djModel* m) {
  return m ? 1 + m->nq + m->nv + m->na + historyEntries(m) + 7 * m->nmocap : 0;
}

djStatus dj_getState(double* state, const djModel* m, const djData* d) {
  if (!state || !m || !d || !dj_fitsSizes(d->work, m)) return DJ_INVALID;
  *state++ = d->time;
  memcpy(state, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(state + m->nq, d->qvel, (size_t)m->nv * sizeof(double));
  memcpy(state + m->nq + m->nv, d->act, (size_t)m->na * sizeof(double));
  state += m->nq + m->nv + m->na;
  double* mocap = state + historyEntries(m);
  memcpy(mocap, d->mocap_last_pos, (size_t)m->nmocap * 3 * sizeof(double));
  memcpy(mocap + 3 * m->nmocap, d->mocap_last_quat, (size_t)m->nmocap * 4 * sizeof(double));
  if (historyEntries(m) == 0) return DJ_OK;
  bool valid = dj_hasHistory(m, d);
  *state++ = valid;
  memset(state, 0, (size_t)dj_historySize(m) * sizeof(double));
  if (valid) memcpy(state, d->history, (size_t)dj_historySize(m) * sizeof(double));
  return DJ_OK;
}

djStatus dj_setHistory(djData* d, const djModel* m, const double* qpos, const double* qvel) {
  if (!d || !m || !qpos != !qvel) return DJ_INVALID;
  djError* err = &d->work->error;
  djStatus status = dj_checkData(m, d);
  if (status == DJ_OK && qpos) status = dj_checkFinite(err, "history: qpos", qpos, m->nq);
  if (status == DJ_OK && qpos) status = dj_checkFinite(err, "history: qvel", qvel, m->nv);
  if (status < 0 || historyEntries(m) == 0) return status;
  dj_markHistory(m, d, qpos != NULL);
  if (!qpos) return DJ_OK;
  memmove(d->history, qpos, (size_t)m->nq * sizeof(double));
  memmove(d->history + m->nq, qvel, (size_t)m->nv * sizeof(double));
  return DJ_OK;
}

bool dj_getHistory(double* qpos, double* qvel, const djModel* m, const djData* d) {
  if (!m || !d || !dj_fitsSizes(d->work, m) || !dj_hasHistory(m, d)) return false;
  if (qpos) memcpy(qpos, d->history, (size_t)m->nq * sizeof(double));
  if (qvel) memcpy(qvel, d->history + m->nq, (size_t)m->nv * sizeof(double));
  return true;
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
  state += m->nq + m->nv + m->na;
  const double* mocap = state + historyEntries(m);
  memcpy(d->mocap_last_pos, mocap, (size_t)m->nmocap * 3 * sizeof(double));
  memcpy(d->mocap_last_quat, mocap + 3 * m->nmocap, (size_t)m->nmocap * 4 * sizeof(double));
  if (historyEntries(m) > 0) {
    memcpy(d->history, state + 1, (size_t)dj_historySize(m) * sizeof(double));
    dj_markHistory(m, d, state[0] != 0);
  }
  dj_forgetForces(&d->work->forces);
  return dj_forward(m, d);
}
