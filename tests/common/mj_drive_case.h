// Actuators beside MuJoCo: steps of `euler`, A and B, gradients by parameters.

#ifndef DJ_TESTS_MJ_DRIVE_CASE_H_
#define DJ_TESTS_MJ_DRIVE_CASE_H_

#include "common/mj_physics.h"
#include "common/mj_zoo.h"
#include "common/room.h"

#include <dijoco/gradient.h>

#include <math.h>
#include <string.h>

enum { DJT_DRIVE_HORIZON = 30, DJT_DRIVE_MOST = 40 };

static inline void djt_driveInputs(mjData* d, const mjModel* m, djRng* rng, double size) {
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = djt_uniform(rng, -size, size);
}

// A random state, without applied forces.
static inline void djt_driveStart(mjData* d, const mjModel* m, djRng* rng) {
  djt_shake(d, rng, m, 0.3, 0.5);
  mju_zero(d->qfrc_applied, (int)m->nv);
  mju_zero(d->xfrc_applied, 6 * (int)m->nbody);
}

// A step of both from MuJoCo's state: how far apart they end.
static inline double djt_stepBeside(djData* data, mjData* d, const djModel* model,
                                    const mjModel* m) {
  djt_takeState(data, m, d);
  mj_step(m, d);
  djt_mustStep(model, data);
  double worst = djt_distance(data->qpos, d->qpos, (int)m->nq);
  worst = djt_worst(worst, djt_distance(data->qvel, d->qvel, (int)m->nv));
  return djt_worst(worst, djt_distance(data->act, d->act, (int)m->na));
}

// Largest difference of states over steps that both take from MuJoCo's. size: of controls, which
// change every 30 steps. *strongest: largest |qfrc_actuator|.
static inline double djt_driveSteps(double* strongest, const mjModel* m, int n, double size) {
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djData* data = djt_dataOf(model);
  djRng rng = {11};
  double worst = 0;
  *strongest = 0;
  assert_int_equal(model->opt.integrator, DJ_EULER);
  djt_driveStart(d, m, &rng);
  for (int k = 0; k < n; k++) {
    if (k % 30 == 0) djt_driveInputs(d, m, &rng, size);
    worst = djt_worst(worst, djt_stepBeside(data, d, model, m));
    for (int i = 0; i < m->nv; i++) *strongest = fmax(*strongest, fabs(d->qfrc_actuator[i]));
  }
  dj_deleteData(data);
  dj_deleteModel(model);
  mj_deleteData(d);
  return worst;
}

// A state moved by f along entry k of (dq, dv, dact, ctrl), and the step from there: the next state
// against `to`.
static inline void djt_driveMoved(double* out, const djModel* model, djData* data,
                                  const djData* from, const djData* to, int k, double f) {
  const int nv = model->nv, na = model->na;
  double dq[DJT_DRIVE_MOST] = {0};
  dj_copyData(data, model, from);
  if (k < nv) dq[k] = 1;
  dj_integratePos(data->qpos, model, from->qpos, dq, f);
  if (k >= nv && k < 2 * nv) data->qvel[k - nv] += f;
  if (k >= 2 * nv && k < 2 * nv + na) data->act[k - 2 * nv] += f;
  if (k >= 2 * nv + na) data->ctrl[k - 2 * nv - na] += f;
  djt_mustStep(model, data);
  dj_differentiatePos(out, model, 1, to->qpos, data->qpos);
  for (int i = 0; i < nv; i++) out[nv + i] = data->qvel[i] - to->qvel[i];
  for (int i = 0; i < na; i++) out[2 * nv + i] = data->act[i] - to->act[i];
}

// Largest difference of A (nx x nx) and B (nx x nu), which follows it in A, from extrapolated
// differences of our own step with steps h, relative to an entry where that is above 1.
static inline double djt_driveSlopesAt(double* A, const djModel* model, const djData* from,
                                       double h) {
  const int nx = dj_tangentSize(model), nu = model->nu;
  double *B = A + nx * nx, worst = 0;
  djData *data = djt_dataOf(model), *to = djt_dataOf(model);
  assert_true(nx + nu <= DJT_DRIVE_MOST);
  dj_copyData(data, model, from);
  assert_int_equal(djd_transition(model, data, A, B), DJ_OK);
  dj_copyData(to, model, from);
  djt_mustStep(model, to);
  for (int c = 0; c < nx + nu; c++) {
    double f[4][DJT_DRIVE_MOST];
    for (int s = 0; s < 4; s++) {
      djt_driveMoved(f[s], model, data, from, to, c, (s % 2 ? h : -h) * (s < 2 ? 1 : 2));
    }
    for (int r = 0; r < nx; r++) {
      double slope = (8 * (f[1][r] - f[0][r]) - (f[3][r] - f[2][r])) / (12 * h);
      double analytic = c < nx ? A[nx * r + c] : B[nu * r + c - nx];
      worst = djt_worst(worst, fabs(analytic - slope) / fmax(1, fabs(slope)));
    }
  }
  dj_deleteData(to);
  dj_deleteData(data);
  return worst;
}

// The same, the largest over states of a run of MuJoCo's.
static inline double djt_driveSlopes(const mjModel* m, int states, double size) {
  mjData* d = mj_makeData(m);
  djModel* model = djt_import(NULL, m);
  djData* from = djt_dataOf(model);
  const int nx = dj_tangentSize(model);
  double *A = djt_room((size_t)(nx * (nx + model->nu))), worst = 0;
  djRng rng = {12};
  djt_driveStart(d, m, &rng);
  for (int k = 0; k < 10 * states; k++) {
    if (k % 30 == 0) djt_driveInputs(d, m, &rng, size);
    mj_step(m, d);
    if (k % 10) continue;
    djt_takeState(from, m, d);
    worst = djt_worst(worst, djt_driveSlopesAt(A, model, from, 1e-4));
  }
  free(A);
  dj_deleteData(from);
  dj_deleteModel(model);
  mj_deleteData(d);
  return worst;
}

// ---- parameters -------------------------------------------------------------------------------

typedef struct djtDriveRun {
  const mjModel* m;
  djModel* model;
  djData* data;
  djTape* tape;
  int body;                // whose position is the loss
  double size;             // of controls
  double step;             // of differences, relative; 0: 1e-4
  double least;            // slopes below count as this one; 0: 0.01
  void (*start)(djData* data, const mjModel* m);   // state and constant controls; NULL: random ones
} djtDriveRun;

static inline double djt_driveLoss(const djtDriveRun* run, djRolloutResult* result) {
  const djModel* model = run->model;
  static double u[DJT_DRIVE_HORIZON * DJT_DRIVE_MOST];
  djRng rng = {21};
  mjData* d = mj_makeData(run->m);
  djt_driveStart(d, run->m, &rng);
  for (int i = 0; i < DJT_DRIVE_HORIZON * model->nu; i++) u[i] = run->size * sin(0.3 * i + 0.4);
  for (int i = 0; i < model->na; i++) d->act[i] = 0.1 * (i + 1);
  if (run->start) {
    run->start(run->data, run->m);
    mju_copy(d->qpos, run->data->qpos, model->nq);
    mju_copy(d->qvel, run->data->qvel, model->nv);
    for (int i = 0; i < DJT_DRIVE_HORIZON * model->nu; i++) u[i] = run->data->ctrl[i % model->nu];
  }
  djLossTerm loss = {.type = DJ_LOSS_POSITION, .object = DJ_OBJ_BODY, .id = run->body, .weight = 1,
                     .target = {0.4, 0.1, 0.2}};
  djRollout r = {.horizon = DJT_DRIVE_HORIZON, .qpos0 = d->qpos, .qvel0 = d->qvel, .act0 = d->act,
                 .ctrl = u, .nloss = 1, .loss = &loss};
  if (djd_rolloutForward(result, model, run->data, &r, run->tape) < 0 ||
      (result->nparam && djd_rolloutBackward(result, model, run->data, &r, run->tape) < 0)) {
    fail_msg("%s", dj_errorText(run->data));
  }
  mj_deleteData(d);
  return result->loss;
}

// Parameters that rotations are have tangents of their own: not for those.
static inline void djt_driveParam(const djtDriveRun* run, const char* name) {
  djParam p;
  djError err;
  double g[10] = {0}, value[10], moved[10];
  if (dj_paramId(&p, run->model, name, &err) < 0) fail_msg("%s", err.text);
  djRolloutResult result = {.nparam = 1, .param = &p, .grad_param = g}, plain = {0};
  djt_driveLoss(run, &result);
  assert_int_equal(dj_getParam(value, run->model, &p), DJ_OK);
  for (int k = 0; k < p.nvalue; k++) {
    double f[4], h = (run->step > 0 ? run->step : 1e-4) * fmax(fabs(value[k]), 0.1);
    for (int side = 0; side < 4; side++) {
      memcpy(moved, value, sizeof(moved));
      moved[k] += (side % 2 ? h : -h) * (side < 2 ? 1 : 2);
      if (dj_setParam(run->model, &p, moved, &err) < 0) fail_msg("%s: %s", name, err.text);
      f[side] = djt_driveLoss(run, &plain);
    }
    assert_int_equal(dj_setParam(run->model, &p, value, &err), DJ_OK);
    double slope = (8 * (f[1] - f[0]) - (f[3] - f[2])) / (12 * h);
    if (!(fabs(g[k] - slope) < 1e-6 * fmax(fabs(slope), run->least > 0 ? run->least : 1e-2))) {
      fail_msg("%s[%d]: %.9g, differences %.9g", name, k, g[k], slope);
    }
  }
}

// names: ended by NULL.
static inline void djt_driveParams(const mjModel* m, int body, double size,
                                   const char* const* names) {
  djError err;
  djtDriveRun run = {m, djt_import(NULL, m), NULL, NULL, body, size, 0, 0, NULL};
  run.data = djt_dataOf(run.model);
  assert_int_equal(djd_makeTape(&run.tape, run.model, DJT_DRIVE_HORIZON, &err), DJ_OK);
  for (; *names; names++) djt_driveParam(&run, *names);
  djd_deleteTape(run.tape);
  dj_deleteData(run.data);
  dj_deleteModel(run.model);
}

#endif  // DJ_TESTS_MJ_DRIVE_CASE_H_
