// C and D of MuJoCo's own step: sensors at its start. What sensors of position and velocity have by
// formula is in sensor.c and sensor_frame.c. Others are differenced along each column, where the
// acceleration moves by its derivative, and with it the rows' forces: nothing is solved again.

#include "transition_work.h"

#include "sensor.h"
#include "slope_error.h"

#include <string.h>

static bool byFormula(const mjModel* m, int i) {
  if (m->sensor_type[i] == mjSENS_PLUGIN) return djm_isGapSensor(m, i);
  return m->sensor_needstage[i] != mjSTAGE_ACC && djm_sensorIsAnalytic(m, i);
}

static djStatus check(bool* differences, const mjModel* m, djError* err) {
  *differences = false;
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (byFormula(m, i)) continue;
    if (m->sensor_type[i] == mjSENS_PLUGIN) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "sensor #%d: a plugin's has no derivative", i);
    }
    if (m->sensor_type[i] == mjSENS_USER && mjcb_sensor) {
      return djm_slopeError(err, DJ_UNSUPPORTED, "sensor #%d: callbacks have no derivative", i);
    }
    *differences = true;
  }
  return DJ_OK;
}

// ---- by formula ---------------------------------------------------------------------------------

// rows->x, rows->u and the sensors' scratch are w->sensor.
static void formulaRows(mjtNum* C, mjtNum* D, djmTransitionWork* w, const mjModel* m) {
  int nx = 2 * w->nv + w->na, nu = w->nu;
  djmSensorWork work;
  djm_initSensorWork(&work, w->sensor + DJM_MAXDIM * (nx + nu), m);
  for (int i = 0; i < (int)m->nsensor; i++) {
    if (!byFormula(m, i)) continue;
    djmRows rows = {.dim = m->sensor_dim[i], .nx = nx, .nu = nu};
    rows.x = w->sensor;
    rows.u = w->sensor + DJM_MAXDIM * nx;
    mju_zero(w->sensor, DJM_MAXDIM * (nx + nu));
    djm_sensorRows(&rows, &work, m, w->d, w->d, i);
    for (int r = 0; r < rows.dim; r++) {
      size_t row = (size_t)(m->sensor_adr[i] + r);
      if (djm_isCut(m, i, rows.value[r])) continue;
      if (C) mju_copy(C + row * (size_t)nx, rows.x + r * nx, nx);
      if (D) mju_copy(D + row * (size_t)nu, rows.u + r * nu, nu);
    }
  }
}

// ---- by differences -----------------------------------------------------------------------------

static void moveState(djmTransitionWork* w, int k, mjtNum x, mjtNum* step) {
  int nv = w->nv, nx = 2 * nv + w->na;
  mjData* e = w->e;
  mj_copyState(&w->view, w->d, e, mjSTATE_INTEGRATION);
  if (k < nv) {
    mju_zero(step, nv);
    step[k] = x;
    mj_integratePos(&w->view, e->qpos, step, 1);
  } else if (k < 2 * nv) {
    e->qvel[k - nv] += x;
  } else if (k < nx) {
    e->act[k - 2 * nv] += x;
  } else {
    e->ctrl[k - nx] += x;
  }
}

// Sensors at e's state and acceleration, past mj_fwdPosition.
static void sense(const mjModel* m, mjData* e, mjtNum* y) {
  mj_sensorPos(m, e);
  mj_fwdVelocity(m, e);
  mj_sensorVel(m, e);
  mj_fwdActuation(m, e);
  if (e->nefc) {
    mj_mulJacVec(m, e, y, e->qacc);
    mju_subFrom(y, e->efc_aref, e->nefc);
    mj_constraintUpdate(m, e, y, NULL, 0);
  }
  e->flg_rnepost = 0;
  mj_sensorAcc(m, e);
}

typedef struct Differing {
  djmTransitionWork* w;
  const mjModel* m;      // with sensors
  mjtNum *C, *D;
  djStatus status;
  djError* err;
} Differing;

static void addColumn(Differing* x, int k, mjtNum weight) {
  int nx = 2 * x->w->nv + x->w->na, nu = x->w->nu;
  for (int i = 0; i < (int)x->m->nsensor; i++) {
    if (byFormula(x->m, i)) continue;
    for (int r = x->m->sensor_adr[i]; r < x->m->sensor_adr[i] + x->m->sensor_dim[i]; r++) {
      mjtNum value = weight * x->w->e->sensordata[r];
      if (k < nx) {
        x->C[(size_t)r * (size_t)nx + (size_t)k] += value;
      } else {
        x->D[(size_t)r * (size_t)nu + (size_t)(k - nx)] += value;
      }
    }
  }
}

static void differ(void* arg) {
  static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  const mjtNum step = 4e-6;
  Differing* x = arg;
  djmTransitionWork* w = x->w;
  int nx = 2 * w->nv + w->na, first = x->C ? 0 : nx, end = x->D ? w->ncol : nx;
  for (int k = first; k < end; k++) {
    for (int p = 0; p < 4; p++) {
      mjtNum s = kPoint[p] * step;
      moveState(w, k, s, w->memory);
      for (int i = 0; i < w->nv; i++) w->e->qacc[i] = w->a[i] + s * w->X[(size_t)i * w->ncol + k];
      mj_fwdPosition(x->m, w->e);   // how many rows there are
      x->status = djm_roomForRows(w, w->e->nefc, x->err);
      if (x->status < 0) return;
      sense(x->m, w->e, w->y);
      addColumn(x, k, kWeight[p] / (12 * step));
    }
  }
}

djStatus djm_sensorSlopes(mjtNum* C, mjtNum* D, djmTransitionWork* w, const mjModel* m,
                          djError* err) {
  size_t ns = (size_t)m->nsensordata, nx = 2 * (size_t)w->nv + (size_t)w->na;
  if (C) memset(C, 0, ns * nx * sizeof(mjtNum));
  if (D) memset(D, 0, ns * (size_t)w->nu * sizeof(mjtNum));
  if (m->opt.disableflags & mjDSBL_SENSOR) return DJ_OK;
  bool differences;
  djStatus status = check(&differences, m, err);
  if (status < 0) return status;
  mjModel view = w->view;
  view.opt.disableflags = m->opt.disableflags;
  formulaRows(C, D, w, &view);
  if (!differences) return DJ_OK;
  Differing x = {w, &view, C, D, DJ_OK, err};
  status = djm_guard(differ, &x, err);
  return status < 0 ? status : x.status;
}
