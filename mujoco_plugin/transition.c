// djm_transition: A and B of our step, or of the substeps that make it, in MuJoCo's layout; C and D
// of the sensors at its start.
//
// Substeps: x_k+1 = f(x_k, u), so that by the start's state and by the controls
//   A <- A_k A,  B <- A_k B + B_k;
// a touch sensor is the mean over substeps of normal forces n_k(x_k, u).

#include "sensor.h"

#include <stdlib.h>
#include <string.h>

// Memory of one call. Sizes are those of our model.
typedef struct Work {
  djmContext* c;
  const mjModel* m;
  int nx, nu;
  mjtNum *A, *B;          // (nx x nx), (nx x nu) of the substeps so far
  mjtNum *Ak, *Bk;        // of the present one
  mjtNum* product;        // (nx x max(nx, nu))
  mjtNum* touch;          // (nsensor x (nx + nu)) of touch sensors, the others 0
  mjtNum* row;            // (nx + nu)
  mjtNum* memory;
} Work;

static djStatus makeWork(Work* w, djmContext* c, const mjModel* m) {
  size_t nx = 2 * (size_t)c->model->nv + (size_t)c->model->na, nu = (size_t)c->model->nu;
  size_t sensors = (size_t)m->nsensor + 1, wide = nx > nu ? nx : nu;
  *w = (Work){.c = c, .m = m, .nx = (int)nx, .nu = (int)nu};
  w->memory = calloc(2 * nx * (nx + nu) + nx * wide + (sensors + 1) * (nx + nu) + 1,
                     sizeof(mjtNum));
  if (!w->memory) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  w->A = w->memory;
  w->B = w->A + nx * nx;
  w->Ak = w->B + nx * nu;
  w->Bk = w->Ak + nx * nx;
  w->product = w->Bk + nx * nu;
  w->touch = w->product + nx * wide;
  w->row = w->touch + sensors * (nx + nu);
  return DJ_OK;
}

// ---- substeps ---------------------------------------------------------------------------------

// Normal forces of the substep just taken, by the start of the whole step.
static djStatus addTouch(Work* w) {
  djmContext* c = w->c;
  const djData* data = c->data;
  int nx = w->nx, nu = w->nu, n = nx + nu;
  if (data->npair == 0) return DJ_OK;
  djm_addForces(c, w->m, 1.0 / c->substeps);
  double* normal = malloc((size_t)data->npair * (size_t)n * sizeof(double));
  if (!normal) return djm_fail(c, DJ_NO_MEMORY, "out of memory");
  djStatus status = djd_lastContact(c->model, c->data, NULL, NULL, normal);
  for (int i = 0; i < w->m->nsensor && status == DJ_OK; i++) {
    if (w->m->sensor_type[i] != mjSENS_TOUCH) continue;
    mju_zero(w->row, n);
    for (int p = 0; p < data->npair; p++) {
      if (djm_touches(c, w->m, i, &data->pair[p])) mju_addTo(w->row, normal + (size_t)p * n, n);
    }
    mjtNum* sum = w->touch + (size_t)i * n;
    mju_scl(w->row, w->row, 1.0 / c->substeps, n);
    for (int k = 0; k < nx; k++) {
      mju_addToScl(sum, w->A + (size_t)k * nx, w->row[k], nx);
      mju_addToScl(sum + nx, w->B + (size_t)k * nu, w->row[k], nu);
    }
    mju_addTo(sum + nx, w->row + nx, nu);
  }
  free(normal);
  return status;
}

static void chain(Work* w) {
  int nx = w->nx, nu = w->nu;
  mju_mulMatMat(w->product, w->Ak, w->A, nx, nx, nx);
  mju_copy(w->A, w->product, nx * nx);
  mju_mulMatMat(w->product, w->Ak, w->B, nx, nx, nu);
  mju_add(w->B, w->product, w->Bk, nx * nu);
}

static djStatus takeSubsteps(Work* w, bool touch) {
  djmContext* c = w->c;
  djStatus worst = DJ_OK;
  for (int i = 0; i < w->nx; i++) w->A[(size_t)i * (w->nx + 1)] = 1;
  for (int k = 0; k < c->substeps; k++) {
    djStatus status = dj_step(c->model, c->data);
    if (status < 0) return status;
    if (status > 0) worst = status;
    status = djd_lastTransition(c->model, c->data, w->Ak, w->Bk);
    if (status == DJ_OK && touch) status = addTouch(w);
    if (status != DJ_OK) return status;
    chain(w);
  }
  return worst;
}

// ---- layout -----------------------------------------------------------------------------------

// Column or row of MuJoCo's state for one of ours.
static int stateIndex(const djmContext* c, int k) {
  int act = k - 2 * c->model->nv;
  return act < 0 || !c->kept ? k : 2 * c->model->nv + c->kept[act];
}

// One row by our state and controls into one by MuJoCo's; entries without a counterpart stay.
static void spreadRow(mjtNum* x, mjtNum* u, const Work* w, const mjtNum* from_x,
                      const mjtNum* from_u) {
  for (int k = 0; k < w->nx && x; k++) x[stateIndex(w->c, k)] = from_x[k];
  for (int k = 0; k < w->nu && u; k++) u[k] = from_u[k];
}

// Activations that are left out stay as they are, controls that are do nothing.
static void spread(mjtNum* A, mjtNum* B, const Work* w) {
  int nx = 2 * (int)w->m->nv + (int)w->m->na, nu = (int)w->m->nu;
  if (A) mju_zero(A, nx * nx);
  if (B) mju_zero(B, nx * nu);
  for (int i = 2 * (int)w->m->nv; i < nx && A; i++) A[(size_t)i * (nx + 1)] = 1;
  for (int k = 0; k < w->nx; k++) {
    int row = stateIndex(w->c, k);
    spreadRow(A ? A + (size_t)row * nx : NULL, B ? B + (size_t)row * nu : NULL, w,
              w->A + (size_t)k * w->nx, w->B + (size_t)k * w->nu);
  }
}

// ---- sensors ----------------------------------------------------------------------------------

// A value beyond the cutoff does not change.
static bool isCut(const mjModel* m, int i, mjtNum value) {
  mjtNum cutoff = m->sensor_cutoff[i];
  if (!(cutoff > 0)) return false;
  if (m->sensor_datatype[i] == mjDATATYPE_REAL) return mju_abs(value) >= cutoff;
  return m->sensor_datatype[i] == mjDATATYPE_POSITIVE && value >= cutoff;
}

static void storeRows(mjtNum* C, mjtNum* D, const djmRows* rows, const mjModel* m, int i) {
  for (int r = 0; r < rows->dim; r++) {
    size_t row = (size_t)(m->sensor_adr[i] + r);
    if (isCut(m, i, rows->value[r])) continue;
    if (C) mju_copy(C + row * rows->nx, rows->x + r * rows->nx, rows->nx);
    if (D) mju_copy(D + row * rows->nu, rows->u + r * rows->nu, rows->nu);
  }
}

static djStatus analyticRows(mjtNum* C, mjtNum* D, const Work* w, const mjModel* m,
                             const mjData* d, mjData* pose, const double* touch) {
  int nx = 2 * (int)m->nv + (int)m->na, nu = (int)m->nu;
  size_t size = DJM_MAXDIM * (size_t)(nx + nu);
  mjtNum* memory = malloc((size + djm_sensorWorkSize(m) + 1) * sizeof(mjtNum));
  if (!memory) return djm_fail(w->c, DJ_NO_MEMORY, "out of memory");
  djmSensorWork work;
  djm_initSensorWork(&work, memory + size, m);
  for (int i = 0; i < m->nsensor; i++) {
    if (!djm_sensorIsAnalytic(m, i)) continue;
    djmRows rows = {.dim = m->sensor_dim[i], .nx = nx, .nu = nu};
    rows.x = memory;
    rows.u = memory + DJM_MAXDIM * nx;
    mju_zero(memory, (int)size);
    if (m->sensor_type[i] == mjSENS_TOUCH) {
      const mjtNum* from = w->touch + (size_t)i * (w->nx + w->nu);
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

static djStatus sensorRows(mjtNum* C, mjtNum* D, Work* w, const mjData* d) {
  const mjModel* m = w->m;
  djmContext* c = w->c;
  size_t ns = (size_t)m->nsensordata, nx = 2 * (size_t)m->nv + (size_t)m->na;
  if (C) memset(C, 0, ns * nx * sizeof(mjtNum));
  if (D) memset(D, 0, ns * (size_t)m->nu * sizeof(mjtNum));
  if (m->opt.disableflags & mjDSBL_SENSOR) return DJ_OK;
  mjModel view = djm_plainModel(m);
  djm_poseData(c, &view, d);
  djStatus status = analyticRows(C, D, w, &view, d, c->pose, c->touch);
  return status < 0 ? status : djm_sensorDifferences(C, D, c, m, d);
}

static bool hasDelay(const mjModel* m) {
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_history[2 * i] > 0) return true;
  }
  return false;
}

static bool hasTouch(const mjModel* m) {
  for (int i = 0; i < m->nsensor; i++) {
    if (m->sensor_type[i] == mjSENS_TOUCH) return true;
  }
  return false;
}

// One step whose sizes are MuJoCo's.
static djStatus plainTransition(mjtNum* A, mjtNum* B, djmContext* c, const mjData* d) {
  djm_readData(c, d);
  return djd_transition(c->model, c->data, A, B);
}

static bool isPlain(const djmContext* c, const mjModel* m) {
  return c->model->na == m->na && c->model->nu == m->nu && c->substeps == 1;
}

// Touch sensors need the forces of the step, hence dj_step.
static djStatus transition(mjtNum* A, mjtNum* B, Work* w, const mjData* d, bool touch) {
  djmContext* c = w->c;
  if (!A && !B && !touch) return DJ_OK;
  if (isPlain(c, w->m) && !touch) return plainTransition(A, B, c, d);
  djm_readData(c, d);
  djStats stats = c->data->stats;
  mju_zero(c->touch, (int)w->m->nsensor);
  djStatus status = takeSubsteps(w, touch);
  c->data->stats = stats;
  if (status >= 0 && status != DJ_SINGULAR && (A || B)) spread(A, B, w);
  return status;
}

djStatus djm_transition(const mjModel* m, const mjData* d, djmContext* c, mjtNum* A, mjtNum* B,
                        mjtNum* C, mjtNum* D) {
  djStatus status = djm_begin(c, m, d);
  if (status < 0) return status;
  bool sensors = C || D;
  if (sensors && hasDelay(m)) {
    return djm_fail(c, DJ_UNSUPPORTED, "sensors with delays or intervals have no C and D");
  }
  if (!sensors && isPlain(c, m)) return plainTransition(A, B, c, d);
  Work w;
  status = makeWork(&w, c, m);
  if (status < 0) return status;
  status = transition(A, B, &w, d, sensors && hasTouch(m));
  if (sensors && status >= 0 && status != DJ_SINGULAR) {
    djStatus filled = sensorRows(C, D, &w, d);
    if (filled != DJ_OK) status = filled;
  }
  free(w.memory);
  return status;
}
