// State and inputs at the start of a step.

#include "base/status.h"
#include "integrate/mocap.h"

#include <math.h>
#include <string.h>

djStatus dj_checkFinite(djError* err, const char* name, const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return dj_fail(err, DJ_INVALID, "%s[%d]: not a finite number", name, i);
  }
  return DJ_OK;
}

typedef struct Part {
  const char* name;
  const double* from;
  double* to;
  int n;
} Part;

enum { NSTATE = 6, NPART = 11 };   // the state, and inputs after it

static void listParts(Part part[NPART], const djModel* m, const djData* d) {
  djData* s = &d->work->start;
  const Part list[NPART] = {{"qpos", d->qpos, s->qpos, m->nq},
                            {"qvel", d->qvel, s->qvel, m->nv},
                            {"act", d->act, s->act, m->na},
                            {"history", d->history, s->history, dj_historySize(m)},
                            {"mocap_last_pos", d->mocap_last_pos, s->mocap_last_pos, m->nmocap * 3},
                            {"mocap_last_quat", d->mocap_last_quat, s->mocap_last_quat,
                             m->nmocap * 4},
                            {"ctrl", d->ctrl, s->ctrl, m->nu},
                            {"qfrc_applied", d->qfrc_applied, s->qfrc_applied, m->nv},
                            {"xfrc_applied", d->xfrc_applied, s->xfrc_applied, m->nbody * 6},
                            {"mocap_pos", d->mocap_pos, s->mocap_pos, m->nmocap * 3},
                            {"mocap_quat", d->mocap_quat, s->mocap_quat, m->nmocap * 4}};
  memcpy(part, list, sizeof list);
}

static djStatus checkParts(const Part* part, int n, djData* d) {
  djError* err = &d->work->error;
  for (int k = 0; k < n; k++) {
    djStatus status = dj_checkFinite(err, part[k].name, part[k].from, part[k].n);
    if (status < 0) return status;
  }
  if (isfinite(d->gravity_scale) && isfinite(d->time)) return DJ_OK;
  return dj_fail(err, DJ_INVALID, "time or gravity_scale: not a finite number");
}

djStatus dj_checkInputs(const djModel* m, djData* d) {
  Part part[NPART];
  listParts(part, m, d);
  return checkParts(part + NSTATE, NPART - NSTATE, d);
}

// Copies state and inputs into the view of the start, with unit quaternions.
djStatus dj_copyStart(const djModel* m, djData* d) {
  djWork* w = d->work;
  djData* s = &w->start;
  djStatus status = dj_checkData(m, d);
  if (status < 0) return status;
  Part part[NPART];
  listParts(part, m, d);
  status = checkParts(part, NPART, d);
  if (status < 0) return status;
  for (int k = 0; k < NPART; k++) {
    memcpy(part[k].to, part[k].from, (size_t)part[k].n * sizeof(double));
  }
  if (m->nequality > 0) memcpy(s->eq_active, d->eq_active, (size_t)m->nequality * sizeof(int));
  dj_tieContacts(dj_contactsOf(&w->forces), m, s->eq_active);
  s->time = d->time;
  s->gravity_scale = d->gravity_scale;
  s->work = w;
  for (int j = 0; j < m->njnt; j++) {
    if (dj_rotationDof(m, j) < 0) continue;
    double* q = s->qpos + dj_rotationQpos(m, j);
    dju_storeQuat(q, dju_normalizeQuat(dju_loadQuat(q)));
  }
  dj_beginMocap(w, m);
  memset(w->before, 0, (size_t)m->nv * sizeof(double));
  if (dj_hasHistory(m, d)) dj_differentiatePos(w->before, m, 1, s->history, s->qpos);
  return DJ_OK;
}
