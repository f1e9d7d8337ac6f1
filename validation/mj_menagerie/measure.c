#include "mj_menagerie/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- models -----------------------------------------------------------------------------------

static void nameOf(char name[60], const char* path) {
  const char* from = path + strlen(path);
  for (int slashes = 0; from > path && slashes < 2; from--) slashes += from[-1] == '/';
  if (from > path) from += 1;
  if (from[0] == '/') from++;
  snprintf(name, 60, "%.*s", (int)strcspn(from, "") - 4, from);
}

static void countIgnored(Robot* r, djReport* report) {
  for (int i = 0; i < report->n; i++) {
    const djReportEntry* e = &report->entry[i];
    if (e->state != DJ_IGNORED) continue;
    if (r->ignored++ == 0) snprintf(r->first, sizeof r->first, "%s: %s", e->element, e->feature);
  }
}

bool robot_open(Robot* r, const char* path) {
  char text[1000] = "";
  djReport* report = NULL;
  djError err;
  memset(r, 0, sizeof *r);
  nameOf(r->name, path);
  r->m = mj_loadXML(path, NULL, text, sizeof text);
  if (!r->m || r->m->nv == 0) {
    snprintf(r->first, sizeof r->first, "%.150s", text);
    return false;
  }
  if (r->m->opt.integrator == mjINT_RK4) r->m->opt.integrator = mjINT_EULER;   // of one evaluation
  if (dj_importMuJoCo(&r->model, &report, r->m, &err) != DJ_OK) {
    r->model = NULL;
    snprintf(r->first, sizeof r->first, "%.150s", err.text);
    return true;
  }
  countIgnored(r, report);
  dj_deleteReport(report);
  r->data = robot_makeData(r->model);
  r->stock = mj_makeData(r->m);
  if (!r->stock) djv_fail("out of memory");
  return true;
}

void robot_close(Robot* r) {
  dj_deleteData(r->data);
  dj_deleteModel(r->model);
  mj_deleteData(r->stock);
  mj_deleteModel(r->m);
}

// Both at the first keyframe, or at qpos0.
static void reset(Robot* r) {
  if (r->m->nkey > 0) mj_resetDataKeyframe(r->m, r->stock, 0);
  else mj_resetData(r->m, r->stock);
  dj_resetData(r->model, r->data);
  robot_copyState(r->data, r->m, r->stock);
  for (int i = 0; i < r->m->nmocap; i++) {
    mju_copy(r->data->mocap_pos + 3 * i, r->stock->mocap_pos + 3 * i, 3);
    mju_copy(r->data->mocap_quat + 4 * i, r->stock->mocap_quat + 4 * i, 4);
  }
}

static void setTimestep(Robot* r, double h) {
  djOption option = r->model->opt;
  djError err;
  option.timestep = r->m->opt.timestep = h;
  if (dj_setOption(r->model, &option, &err) < 0) djv_fail("%s: %s", r->name, err.text);
}

// ---- beside MuJoCo ----------------------------------------------------------------------------

static double apartOf(const Robot* r, int* n) {
  double sum = 0;
  for (int j = 0; j < r->m->njnt; j++) {
    int a = r->m->jnt_qposadr[j];
    double d = r->data->qpos[a] - r->stock->qpos[a];
    if (r->m->jnt_type[j] != mjJNT_HINGE) continue;
    sum += d * d;
    (*n)++;
  }
  return sum;
}

static void runBeside(Robot* r) {
  double own = r->m->opt.timestep, sum = 0;
  int n = 0;
  setTimestep(r, 0.001);
  reset(r);
  for (int k = 0; k < 500; k++) {
    mj_step(r->m, r->stock);
    if (dj_step(r->model, r->data) < 0) break;
    sum += apartOf(r, &n);
  }
  r->apart = n > 0 ? sqrt(sum / n) : 0;
  setTimestep(r, own);
}

// ---- derivatives ------------------------------------------------------------------------------

// A state moved along entry i of (q, v, act, ctrl), and a step from it.
static void stepMoved(djData* d, const Robot* r, const djData* from, int i, double e) {
  const djModel* m = r->model;
  double* dq = djv_take((size_t)m->nv, sizeof *dq);
  dj_copyData(d, m, from);
  if (i < m->nv) {
    dq[i] = e;
    dj_integratePos(d->qpos, m, from->qpos, dq, 1);
  } else if (i < 2 * m->nv) {
    d->qvel[i - m->nv] += e;
  } else if (i < 2 * m->nv + m->na) {
    d->act[i - 2 * m->nv] += e;
  } else {
    d->ctrl[i - 2 * m->nv - m->na] += e;
  }
  free(dq);
  if (dj_step(m, d) < 0) djv_fail("%s: %s", r->name, dj_errorText(d));
}

// Column i by differences of fourth order.
static void differ(double* column, const Robot* r, const djData* from, int i, djData* a,
                   djData* b) {
  const djModel* m = r->model;
  const int nv = m->nv;
  double* dq = djv_take((size_t)nv, sizeof *dq);
  memset(column, 0, (size_t)(2 * nv + m->na) * sizeof *column);
  for (int k = 1; k <= 2; k++) {
    double e = 2e-6 * k, f = (k == 1 ? 4.0 : -1.0) / 3 / (2 * e);
    stepMoved(a, r, from, i, -e);
    stepMoved(b, r, from, i, e);
    dj_differentiatePos(dq, m, 1, a->qpos, b->qpos);
    for (int j = 0; j < nv; j++) {
      column[j] += f * dq[j];
      column[nv + j] += f * (b->qvel[j] - a->qvel[j]);
    }
    for (int j = 0; j < m->na; j++) column[2 * nv + j] += f * (b->act[j] - a->act[j]);
  }
  free(dq);
}

// The largest error of a column, of its size or 1, at data's state.
static double derivativeError(const Robot* r, double* A, double* B, djData* a, djData* b) {
  const djModel* m = r->model;
  size_t nx = (size_t)(2 * m->nv + m->na), nu = (size_t)m->nu;
  double worst = 0, *column = djv_take(nx, sizeof *column);
  djData* from = robot_makeData(m);
  dj_copyData(from, m, r->data);
  djStatus status = djd_transition(m, r->data, A, B);
  if (status < 0) djv_fail("%s: %s", r->name, dj_errorText(r->data));
  for (size_t i = 0; i < nx + nu; i++) {
    double size = 1, error = 0;
    differ(column, r, from, (int)i, a, b);
    for (size_t j = 0; j < nx; j++) {
      double own = i < nx ? A[nx * j + i] : B[nu * j + i - nx];
      size = fmax(size, fabs(column[j]));
      error = djv_worst(error, fabs(own - column[j]));
    }
    worst = djv_worst(worst, error / size);
  }
  dj_deleteData(from);
  free(column);
  return worst;
}

// The median of some states of MuJoCo's run under random controls. (At a keyframe joints may be
// just at their limits.)
static void checkDerivatives(Robot* r, int states) {
  enum { MOST = 5 };
  const djModel* m = r->model;
  size_t nx = (size_t)(2 * m->nv + m->na), nu = (size_t)m->nu;
  double *A = djv_take(nx * nx, sizeof *A), *B = djv_take(nx * nu, sizeof *B), error[MOST];
  djvRandom random = djv_random(9);
  djOption kept = m->opt, tight = m->opt;
  djError err;
  tight.tolerance = 1e-9;
  if (dj_setOption(r->model, &tight, &err) < 0) djv_fail("%s", err.text);
  djData *a = robot_makeData(m), *b = robot_makeData(m);
  reset(r);
  for (int k = 0; k < states; k++) {
    robot_randomCtrl(r->stock->ctrl, r->m, &random, 0.9);
    for (int i = 0; i < 20; i++) mj_step(r->m, r->stock);
    robot_copyState(r->data, r->m, r->stock);
    error[k] = derivativeError(r, A, B, a, b);
  }
  r->derivative = robot_median(error, states);
  dj_setOption(r->model, &kept, NULL);
  dj_deleteData(a);
  dj_deleteData(b);
  free(A);
  free(B);
}

// ---- random controls --------------------------------------------------------------------------

static bool allFinite(const djModel* m, const djData* d) {
  for (int i = 0; i < m->nq; i++) {
    if (!isfinite(d->qpos[i])) return false;
  }
  return true;
}

static void runRandom(Robot* r, double seconds) {
  djvRandom random = djv_random(7);
  double h = r->m->opt.timestep;
  int steps = (int)(seconds / h), hold = (int)fmax(1, 0.02 / h), n = 0;
  double *own = djv_take((size_t)steps, sizeof *own), *stock = djv_take((size_t)steps, sizeof *stock);
  reset(r);
  while (n < steps && r->bad == 0) {
    if (n % hold == 0) robot_randomCtrl(r->stock->ctrl, r->m, &random, 1);
    mju_copy(r->data->ctrl, r->stock->ctrl, (int)r->m->nu);
    double t = robot_clock();
    mj_step(r->m, r->stock);
    stock[n] = robot_clock() - t;
    t = robot_clock();
    djStatus status = dj_step(r->model, r->data);
    own[n++] = robot_clock() - t;
    if (r->data->stats.iterations > r->passes) r->passes = r->data->stats.iterations;
    r->unconverged += status == DJ_NOT_CONVERGED;
    r->bad += status < 0 || !allFinite(r->model, r->data);
  }
  r->cost = robot_median(own, n) / robot_median(stock, n);
  free(own);
  free(stock);
}

static void timeDerivatives(Robot* r) {
  const mjModel* m = r->m;
  enum { STATES = 11 };
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, nu = (size_t)m->nu;
  double *A = djv_take(nx * nx, sizeof *A), *B = djv_take(nx * nu, sizeof *B);
  double own[STATES], stock[STATES];
  djvRandom random = djv_random(8);
  reset(r);
  for (int k = 0; k < STATES; k++) {
    robot_randomCtrl(r->stock->ctrl, m, &random, 1);
    for (int i = 0; i < 10; i++) mj_step(m, r->stock);
    robot_copyState(r->data, m, r->stock);
    double t = robot_clock();
    mjd_transitionFD(m, r->stock, 1e-6, 0, A, nu ? B : NULL, NULL, NULL);
    stock[k] = robot_clock() - t;
    t = robot_clock();
    djStatus status = djd_transition(r->model, r->data, A, nu ? B : NULL);
    own[k] = status < 0 ? INFINITY : robot_clock() - t;
  }
  r->transition = robot_median(stock, STATES) / robot_median(own, STATES);
  free(A);
  free(B);
}

void robot_measure(Robot* r, double seconds) {
  checkDerivatives(r, seconds > 1 ? 5 : 3);
  runRandom(r, seconds);
  timeDerivatives(r);
  runBeside(r);   // the last: what the picture shows
}
