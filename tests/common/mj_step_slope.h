// Derivatives of mj_step beside differences of it.

#ifndef DJ_TESTS_MJ_STEP_SLOPE_H_
#define DJ_TESTS_MJ_STEP_SLOPE_H_

#include "common/mj_zoo.h"
#include "common/room.h"
#include "common/worst.h"
#include "derivative/transition_work.h"

#include <math.h>
#include <string.h>

typedef struct djtStep {
  mjModel* m;
  mjData *d, *e, *next;       // the state, others beside it, and what follows it
  djmTransitionWork* w;
  int nv, na, nx, nu, ns;
  mjtNum *A, *B, *C, *D;
  double worst;               // error of a column, relative to its size and 1
  double sensor;              // of sensors, relative to the entry and 1
  int which;                  // address of that sensor's value
  int states, left;           // compared; left out: a row switches, or differences do not agree
} djtStep;

// The solver goes on as long as it finds anything.
static inline djtStep djt_openStep(mjModel* m) {
  djtStep s = {.m = m, .nv = (int)m->nv, .na = (int)m->na, .nu = (int)m->nu,
               .ns = (int)m->nsensordata};
  djError err;
  s.nx = 2 * s.nv + s.na;
  m->opt.solver = mjSOL_NEWTON;
  m->opt.tolerance = 0;
  m->opt.iterations = 100;
  m->opt.ls_tolerance = 1e-10;
  m->opt.ls_iterations = 100;
  if (m->opt.integrator == mjINT_RK4) m->opt.integrator = mjINT_EULER;
  s.d = mj_makeData(m);
  s.e = mj_makeData(m);
  s.next = mj_makeData(m);
  if (djm_makeTransitionWork(&s.w, m, &err) < 0) fail_msg("%s", err.text);
  s.A = djt_room((size_t)((s.nx + s.ns) * (s.nx + s.nu)) + 1);
  s.B = s.A + s.nx * s.nx;
  s.C = s.B + s.nx * s.nu;
  s.D = s.C + s.ns * s.nx;
  return s;
}

static inline void djt_closeStep(djtStep* s) {
  djm_deleteTransitionWork(s->w);
  mj_deleteData(s->d);
  mj_deleteData(s->e);
  mj_deleteData(s->next);
  mj_deleteModel(s->m);
  free(s->A);
}

static inline bool djt_sameRows(const mjData* a, const mjData* b) {
  if (a->nefc != b->nefc || a->ncon != b->ncon) return false;
  for (int i = 0; i < a->nefc; i++) {
    if (a->efc_state[i] != b->efc_state[i] || a->efc_id[i] != b->efc_id[i]) return false;
  }
  return true;
}

// out (nx + ns) = what follows the state changed by x along column k, from s->next; false: rows
// switch.
static inline bool djt_takeStep(double* out, djtStep* s, int k, double x) {
  mj_copyData(s->e, s->m, s->d);
  double* step = djt_room((size_t)s->nv);
  if (k < s->nv) {
    step[k] = x;
    mj_integratePos(s->m, s->e->qpos, step, 1);
  } else if (k < 2 * s->nv) {
    s->e->qvel[k - s->nv] += x;
  } else if (k < s->nx) {
    s->e->act[k - 2 * s->nv] += x;
  } else {
    s->e->ctrl[k - s->nx] += x;
  }
  free(step);
  mj_step(s->m, s->e);
  mj_differentiatePos(s->m, out, 1, s->next->qpos, s->e->qpos);
  mju_sub(out + s->nv, s->e->qvel, s->next->qvel, s->nv);
  mju_sub(out + 2 * s->nv, s->e->act, s->next->act, s->na);
  mju_sub(out + s->nx, s->e->sensordata, s->next->sensordata, s->ns);
  return djt_sameRows(s->e, s->next);
}

static inline bool djt_column(double* out, djtStep* s, int k, double h) {
  static const double kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  int n = s->nx + s->ns;
  bool same = true;
  double* x = djt_room((size_t)n);
  memset(out, 0, (size_t)n * sizeof(double));
  for (int p = 0; p < 4 && same; p++) {
    same = djt_takeStep(x, s, k, kPoint[p] * h);
    mju_addToScl(out, x, kWeight[p] / (12 * h), n);
  }
  free(x);
  return same;
}

// Compare at s->d. Differences of two steps that differ by more than `agree` are not taken.
static inline void djt_compareStep(djtStep* s, double h, double agree) {
  djError err;
  if (djm_transitionMuJoCoWith(s->m, s->d, s->w, s->A, s->B, s->ns ? s->C : NULL,
                           s->ns ? s->D : NULL, &err) < 0) {
    fail_msg("%s", err.text);
  }
  mj_copyData(s->next, s->m, s->d);
  mj_step(s->m, s->next);
  double *coarse = djt_room((size_t)(s->nx + s->ns)), *fine = djt_room((size_t)(s->nx + s->ns));
  double worst = 0, sensor = 0;
  int which = 0;
  bool same = true;
  for (int k = 0; k < s->nx + s->nu && same; k++) {
    double size = 1, error = 0, between = 0;
    same = djt_column(coarse, s, k, h) && djt_column(fine, s, k, h / 2);
    for (int i = 0; i < s->nx; i++) {
      double x = k < s->nx ? s->A[i * s->nx + k] : s->B[i * s->nu + k - s->nx];
      size = fmax(size, fabs(fine[i]));
      error = djt_worst(error, fmin(fabs(x - fine[i]), fabs(x - coarse[i])));
      between = fmax(between, fabs(coarse[i] - fine[i]));
    }
    if (between / size > agree) same = false;
    worst = djt_worst(worst, error / size);
    for (int i = 0; i < s->ns; i++) {
      double x = k < s->nx ? s->C[i * s->nx + k] : s->D[i * s->nu + k - s->nx];
      double c = coarse[s->nx + i], f = fine[s->nx + i];
      double e = fmin(fabs(x - f), fabs(x - c)) / fmax(1, fabs(f));
      if (e > sensor) which = i;
      sensor = djt_worst(sensor, e);
    }
  }
  free(coarse);
  free(fine);
  if (!same) {
    s->left++;
    return;
  }
  s->states++;
  if (sensor > s->sensor) s->which = which;
  s->sensor = djt_worst(s->sensor, sensor);
  s->worst = djt_worst(s->worst, worst);
}

// A run under random control; compared every so many steps.
static inline void djt_runStep(djtStep* s, djRng* rng, int steps, int every, double h) {
  for (int i = 1; i <= steps; i++) {
    for (int u = 0; u < s->nu; u++) s->d->ctrl[u] = djt_uniform(rng, -0.4, 0.4);
    mj_step(s->m, s->d);
    if (i % every == 0) djt_compareStep(s, h, 1e-6);
  }
}

#endif  // DJ_TESTS_MJ_STEP_SLOPE_H_
