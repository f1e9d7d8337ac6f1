// Derivatives of the sensors without a formula: centred differences.
//
// As far as such sensors need no acceleration, MuJoCo's stages of position and velocity are all
// that is evaluated; otherwise djm_forward, with steps solved to rounding.

#include "sensor.h"

#include <math.h>
#include <stdlib.h>

static const double kStep = 1e-6;
static const double kTolerance = 1e-8;   // of steps; Newton's last one squares it

typedef struct Differences {
  djmContext* c;
  const mjModel* m;
  const mjData* d;
  int stage;              // the last that is needed
  mjtNum* side[2];        // (nsensordata) at both sides
  mjtNum* step;           // (nv)
} Differences;

static void makeFull(void* arg) {
  Differences* p = arg;
  if (!p->c->full) p->c->full = mj_makeData(p->m);
  if (p->c->full) mj_copyData(p->c->full, p->m, p->d);
}

static void positionAndVelocity(void* arg) {
  Differences* p = arg;
  mjData* full = p->c->full;
  mj_fwdPosition(p->m, full);
  mj_sensorPos(p->m, full);
  if (p->stage == mjSTAGE_POS) return;
  mj_fwdVelocity(p->m, full);
  mj_sensorVel(p->m, full);
}

// Moves column k (states, then controls) by h.
static void moveState(Differences* p, int k, double h) {
  const mjModel* m = p->m;
  mjData* full = p->c->full;
  int nv = (int)m->nv, nx = 2 * nv + (int)m->na;
  if (k < nv) {
    mju_zero(p->step, nv);
    p->step[k] = h;
    mj_integratePos(m, full->qpos, p->step, 1);
  } else if (k < 2 * nv) {
    full->qvel[k - nv] += h;
  } else if (k < nx) {
    full->act[k - 2 * nv] += h;
  } else {
    full->ctrl[k - nx] += h;
  }
}

static void resetState(Differences* p) {
  const mjData* d = p->d;
  mjData* full = p->c->full;
  mju_copy(full->qpos, d->qpos, (int)p->m->nq);
  mju_copy(full->qvel, d->qvel, (int)p->m->nv);
  mju_copy(full->act, d->act, (int)p->m->na);
  mju_copy(full->ctrl, d->ctrl, (int)p->m->nu);
}

static djStatus evaluate(Differences* p, int k, int side) {
  moveState(p, k, side ? kStep : -kStep);
  djStatus status = p->stage == mjSTAGE_ACC
                        ? djm_forward(p->m, p->c->full, p->c)
                        : djm_catch(p->c, positionAndVelocity, p);
  mju_copy(p->side[side], p->c->full->sensordata, (int)p->m->nsensordata);
  resetState(p);
  return status;
}

static djStatus column(mjtNum* C, mjtNum* D, Differences* p, int k) {
  const mjModel* m = p->m;
  int nx = 2 * (int)m->nv + (int)m->na;
  for (int side = 0; side < 2; side++) {
    djStatus status = evaluate(p, k, side);
    if (status < 0) return status;
  }
  mjtNum* out = k < nx ? C + k : D + k - nx;
  int stride = k < nx ? nx : (int)m->nu;
  for (int i = 0; i < m->nsensor; i++) {
    if (djm_sensorIsAnalytic(m, i)) continue;
    for (int r = m->sensor_adr[i]; r < m->sensor_adr[i] + m->sensor_dim[i]; r++) {
      out[r * stride] = (p->side[1][r] - p->side[0][r]) / (2 * kStep);
    }
  }
  return DJ_OK;
}

static djStatus columns(mjtNum* C, mjtNum* D, Differences* p) {
  const mjModel* m = p->m;
  int nv = (int)m->nv, nx = 2 * nv + (int)m->na;
  int end = p->stage == mjSTAGE_POS ? nv : p->stage == mjSTAGE_VEL ? 2 * nv : nx + (int)m->nu;
  djStatus status = djm_catch(p->c, makeFull, p);
  if (status == DJ_OK && !p->c->full) status = djm_fail(p->c, DJ_NO_MEMORY, "out of memory");
  for (int k = 0; k < end && status == DJ_OK; k++) {
    if (k < nx ? C != NULL : D != NULL) status = column(C, D, p, k);
  }
  return status;
}

djStatus djm_sensorDifferences(mjtNum* C, mjtNum* D, djmContext* c, const mjModel* m,
                               const mjData* d) {
  Differences p = {.c = c, .m = m, .d = d, .stage = mjSTAGE_NONE};
  for (int i = 0; i < m->nsensor; i++) {
    bool contact = m->sensor_type[i] == mjSENS_CONTACT;   // ours are those of a step
    int stage = contact ? mjSTAGE_ACC : m->sensor_needstage[i];
    if (!djm_sensorIsAnalytic(m, i) && stage > p.stage) p.stage = stage;
  }
  if (p.stage == mjSTAGE_NONE) return DJ_OK;
  size_t n = (size_t)m->nsensordata;
  p.side[0] = malloc((2 * n + (size_t)m->nv + 1) * sizeof(mjtNum));
  if (!p.side[0]) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  p.side[1] = p.side[0] + n;
  p.step = p.side[1] + n;
  djStats stats = c->data->stats;
  double tolerance = c->model->opt.tolerance;
  c->model->opt.tolerance = fmin(tolerance, kTolerance);
  djStatus status = columns(C, D, &p);
  c->model->opt.tolerance = tolerance;
  c->data->stats = stats;
  free(p.side[0]);
  return status;
}
