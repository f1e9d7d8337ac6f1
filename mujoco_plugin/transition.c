// djm_transition: A and B of our step, or of the substeps that make it, in MuJoCo's layout; C and D
// of the sensors at its start.

#include "chain.h"
#include "own_step.h"
#include "sensor.h"

#include <stdlib.h>
#include <string.h>

// One row by our state and controls into one by MuJoCo's; entries without a counterpart stay.
static void spreadRow(mjtNum* x, mjtNum* u, const djmChain* w, const mjtNum* from_x,
                      const mjtNum* from_u) {
  for (int k = 0; k < w->nx && x; k++) x[djm_stateIndex(w->c, k)] = from_x[k];
  for (int k = 0; k < w->nu && u; k++) u[k] = from_u[k];
}

// Activations that are left out stay as they are, controls that are do nothing.
static void spread(mjtNum* A, mjtNum* B, const djmChain* w) {
  int nx = 2 * (int)w->m->nv + (int)w->m->na, nu = (int)w->m->nu;
  if (A) mju_zero(A, nx * nx);
  if (B) mju_zero(B, nx * nu);
  for (int i = 2 * (int)w->m->nv; i < nx && A; i++) A[(size_t)i * (nx + 1)] = 1;
  for (int k = 0; k < w->nx; k++) {
    int row = djm_stateIndex(w->c, k);
    spreadRow(A ? A + (size_t)row * nx : NULL, B ? B + (size_t)row * nu : NULL, w,
              w->A + (size_t)k * w->nx, w->B + (size_t)k * w->nu);
  }
}

// ---- sensors ----------------------------------------------------------------------------------

static void storeRows(mjtNum* C, mjtNum* D, const djmRows* rows, const mjModel* m, int i) {
  for (int r = 0; r < rows->dim; r++) {
    size_t row = (size_t)(m->sensor_adr[i] + r);
    if (djm_isCut(m, i, rows->value[r])) continue;
    if (C) mju_copy(C + row * rows->nx, rows->x + r * rows->nx, rows->nx);
    if (D) mju_copy(D + row * rows->nu, rows->u + r * rows->nu, rows->nu);
  }
}

static djStatus analyticRows(mjtNum* C, mjtNum* D, const djmChain* w, const mjModel* m,
                             const mjData* d, mjData* pose, const double* touch) {
  int nx = 2 * (int)m->nv + (int)m->na, nu = (int)m->nu;
  size_t size = DJM_MAXDIM * (size_t)(nx + nu);
  mjtNum* memory = malloc((size + djm_sensorWorkSize(m) + 1) * sizeof(mjtNum));
  if (!memory) return djm_fail(w->c, DJ_NO_MEMORY, "out of memory");
  djmSensorWork work;
  djm_initSensorWork(&work, memory + size, m);
  for (int i = 0; i < m->nsensor; i++) {
    if (!djm_sensorIsAnalytic(m, i) || djm_isAcceleration(m, i)) continue;
    djmRows rows = {.dim = m->sensor_dim[i], .nx = nx, .nu = nu};
    rows.x = memory;
    rows.u = memory + DJM_MAXDIM * nx;
    mju_zero(memory, (int)size);
    if (m->sensor_type[i] == mjSENS_TOUCH) {
      const mjtNum* from = djm_touchRow(w, i);
      spreadRow(rows.x, rows.u, w, from, from + w->nx);
      rows.value[0] = touch[i];
    } else {
      djm_sensorRows(&rows, &work, m, d, pose, i);
    }
    storeRows(C, D, &rows, m, i);
  }
  free(memory);
  return DJ_OK;
}

static djStatus sensorRows(mjtNum* C, mjtNum* D, djmChain* w, const mjData* d) {
  const mjModel* m = w->m;
  djmContext* c = w->c;
  size_t ns = (size_t)m->nsensordata, nx = 2 * (size_t)m->nv + (size_t)m->na;
  if (C) memset(C, 0, ns * nx * sizeof(mjtNum));
  if (D) memset(D, 0, ns * (size_t)m->nu * sizeof(mjtNum));
  if (m->opt.disableflags & mjDSBL_SENSOR) return DJ_OK;
  mjModel view = djm_plainModel(m);
  djm_poseData(c, &view, d);
  djStatus status = analyticRows(C, D, w, &view, d, c->pose, c->touch);
  if (status == DJ_OK) status = djm_accelerationRows(C, D, w, &view, d);
  return status < 0 ? status : djm_sensorDifferences(C, D, c, m, d);
}

// What the sensors need of the step.
typedef struct Need {
  bool delay, states, forces;
} Need;

static Need needs(const mjModel* m) {
  Need need = {false, false, false};
  for (int i = 0; i < m->nsensor; i++) {
    int type = m->sensor_type[i];
    if (djm_isDelayed(m, i)) need.delay = true;
    if (djm_isAcceleration(m, i)) need.states = true;
    if (type == mjSENS_TOUCH || type == mjSENS_FORCE || type == mjSENS_TORQUE) need.forces = true;
  }
  return need;
}

// One step whose sizes are MuJoCo's.
static djStatus plainTransition(mjtNum* A, mjtNum* B, djmContext* c, const mjData* d) {
  djm_readData(c, d);
  return djd_transition(c->model, c->data, A, B);
}

static bool isPlain(const djmContext* c, const mjModel* m) {
  int nx = 2 * (int)m->nv + (int)m->na;
  return dj_tangentSize(c->model) == nx && c->model->na == m->na && c->model->nu == m->nu &&
         c->substeps == 1;
}

// A, B, and what the sensors need.
static djStatus transition(mjtNum* A, mjtNum* B, djmChain* w, const mjData* d, Need need) {
  djmContext* c = w->c;
  if (!A && !B && !need.states && !need.forces) return DJ_OK;
  if (isPlain(c, w->m) && !need.states && !need.forces) return plainTransition(A, B, c, d);
  djm_readData(c, d);
  djStats stats = c->data->stats;
  djStatus status = djm_takeChain(w);
  c->data->stats = stats;
  if (status >= 0 && status != DJ_SINGULAR) spread(A, B, w);
  return status;
}

djStatus djm_transition(const mjModel* m, const mjData* d, djmContext* c, mjtNum* A, mjtNum* B,
                        mjtNum* C, mjtNum* D) {
  djStatus status = djm_begin(c, m, d);
  if (status < 0) return status;
  if (djm_stepsItself(c)) return djm_transitionItself(m, d, c, A, B, C, D);
  bool sensors = C || D;
  Need need = sensors ? needs(m) : (Need){false, false, false};
  if (need.delay) {
    return djm_fail(c, DJ_UNSUPPORTED, "sensors with delays or intervals have no C and D");
  }
  if (!sensors && isPlain(c, m)) return plainTransition(A, B, c, d);
  djmChain w;
  status = djm_makeChain(&w, c, m, need.forces);
  if (status < 0) return status;
  djm_readData(c, d);
  status = transition(A, B, &w, d, need);
  if (sensors && status >= 0 && status != DJ_SINGULAR) {
    djStatus filled = sensorRows(C, D, &w, d);
    if (filled != DJ_OK) status = filled;
  }
  djm_freeChain(&w);
  return status;
}
