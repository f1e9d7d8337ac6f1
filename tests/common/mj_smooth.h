// Derivatives of MuJoCo's smooth dynamics beside differences of MuJoCo's own functions.

#ifndef DJ_TESTS_MJ_SMOOTH_H_
#define DJ_TESTS_MJ_SMOOTH_H_

#include "common/mj_zoo.h"
#include "common/room.h"
#include "derivative/smooth_slope.h"

#include <math.h>
#include <string.h>

// What is compared: rows by q, v, act, ctrl.
enum { DJT_FORCE, DJT_NEXT, DJT_RATE, DJT_NTHING };

typedef struct djtSmooth {
  mjModel* m;
  mjData *d, *e; // the state, and others beside it
  djmSmoothWork* w;
  double* a;
  int nv, na, nu, nx; // nx: 2 nv + na + nu columns
} djtSmooth;

static inline djtSmooth djt_openSmooth(mjModel* m) {
  djtSmooth s = {.m = m, .nv = (int)m->nv, .na = (int)m->na, .nu = (int)m->nu};
  s.nx = 2 * s.nv + s.na + s.nu;
  m->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT;
  if (m->opt.integrator == mjINT_RK4) m->opt.integrator = mjINT_EULER;
  s.d = mj_makeData(m);
  s.e = mj_makeData(m);
  s.w = djm_makeSmoothWork(m);
  s.a = djt_room((size_t)s.nv);
  assert_non_null(s.w);
  return s;
}

static inline void djt_closeSmooth(djtSmooth* s) {
  djm_deleteSmoothWork(s->w);
  mj_deleteData(s->d);
  mj_deleteData(s->e);
  mj_deleteModel(s->m);
  free(s->a);
}

// A random state and acceleration; MuJoCo's results there.
static inline void djt_shakeSmooth(djtSmooth* s, djRng* rng, double angle, double speed) {
  mj_resetData(s->m, s->d);
  djt_shake(s->d, rng, s->m, angle, speed);
  for (int i = 0; i < s->nv; i++) s->a[i] = djt_uniform(rng, -2, 2);
  mj_forward(s->m, s->d);
}

// Column k changed by x.
static inline void djt_moveSmooth(djtSmooth* s, int k, double x) {
  mj_copyData(s->e, s->m, s->d);
  double* step = djt_room((size_t)s->nv);
  if (k < s->nv) step[k] = x;
  if (k < s->nv)
    mj_integratePos(s->m, s->e->qpos, step, 1);
  else if (k < 2 * s->nv)
    s->e->qvel[k - s->nv] += x;
  else if (k < 2 * s->nv + s->na)
    s->e->act[k - 2 * s->nv] += x;
  else
    s->e->ctrl[k - 2 * s->nv - s->na] += x;
  free(step);
}

// y of a state: r (nv), activations after the step or their rates (na).
static inline void djt_smoothValue(double* y, djtSmooth* s, int thing) {
  const mjModel* m = s->m;
  mjData* e = s->e;
  if (thing == DJT_NEXT) {
    mj_step(m, e);
    mju_copy(y, e->act, s->na);
    return;
  }
  mj_fwdPosition(m, e);
  mj_fwdVelocity(m, e);
  mj_fwdActuation(m, e);
  if (thing == DJT_RATE) {
    mju_copy(y, e->act_dot, s->na);
    return;
  }
  mj_mulM(m, e, y, s->a);
  mju_addTo(y, e->qfrc_bias, s->nv);
  mju_subFrom(y, e->qfrc_passive, s->nv);
  mju_subFrom(y, e->qfrc_actuator, s->nv);
  mju_subFrom(y, e->qfrc_applied, s->nv);
  double* x = djt_room((size_t)s->nv);
  for (int i = 1; i < m->nbody; i++) {
    const double* f = e->xfrc_applied + 6 * i;
    mj_applyFT(m, e, f, f + 3, e->xipos + 3 * i, i, x);
  }
  mju_subFrom(y, x, s->nv);
  free(x);
}

// Whether tendons' paths differ between the state and the one beside it.
static inline bool djt_pathDiffers(const djtSmooth* s) {
  for (int i = 0; i < s->m->ntendon; i++) {
    int n = s->d->ten_wrapnum[i], adr = s->d->ten_wrapadr[i];
    if (s->e->ten_wrapnum[i] != n) return true;
    if (memcmp(s->e->wrap_obj + adr, s->d->wrap_obj + adr, (size_t)n * sizeof(int))) return true;
  }
  return false;
}

// dy by column k, sixth order; false: paths of tendons differ between the points.
static inline bool djt_smoothColumn(double* dy, djtSmooth* s, int thing, int k, double h) {
  static const double weight[3] = {45, -9, 1};
  int n = thing == DJT_FORCE ? s->nv : s->na;
  double* y = djt_room((size_t)n);
  bool same = true;
  mju_zero(dy, n);
  for (int i = 0; i < 3; i++) {
    for (int sign = -1; sign <= 1; sign += 2) {
      djt_moveSmooth(s, k, sign * (i + 1) * h);
      djt_smoothValue(y, s, thing);
      mju_addToScl(dy, y, sign * weight[i] / (60 * h), n);
      same = same && !djt_pathDiffers(s);
    }
  }
  free(y);
  return same;
}

// Ours: rows of `thing` by all columns, n x nx.
static inline djStatus djt_smoothRows(double* rows, djtSmooth* s, int thing, djError* err) {
  int n = thing == DJT_FORCE ? s->nv : s->na,
      part[5] = {0, s->nv, 2 * s->nv, 2 * s->nv + s->na, s->nx};
  double* by[4];
  for (int i = 0; i < 4; i++) by[i] = djt_room((size_t)n * (size_t)s->nx);
  djStatus status = thing == DJT_FORCE
                        ? djm_smoothSlope(by[0], by[1], by[2], by[3], s->m, s->d, s->a, s->w, err)
                        : djm_activationSlope(by[0], by[1], by[2], by[3], s->m, s->d,
                                              thing == DJT_NEXT, s->w, err);
  for (int i = 0; i < 4; i++) {
    int width = part[i + 1] - part[i];
    for (int r = 0; r < n; r++) {
      memcpy(rows + (size_t)r * s->nx + part[i], by[i] + (size_t)r * width,
             (size_t)width * sizeof(double));
    }
    free(by[i]);
  }
  return status;
}

// Largest error of the columns [from, to), over the largest entry of the same columns.
static inline double djt_smoothError(djtSmooth* s, int thing, int from, int to, double h) {
  int n = thing == DJT_FORCE ? s->nv : s->na;
  djError err = {""};
  double *rows = djt_room((size_t)n * (size_t)s->nx), *dy = djt_room((size_t)n), worst = 0,
         size = 1e-6;
  if (djt_smoothRows(rows, s, thing, &err) != DJ_OK) fail_msg("%s", err.text);
  for (int k = from; k < to; k++) {
    if (!djt_smoothColumn(dy, s, thing, k, h)) continue;
    for (int r = 0; r < n; r++) {
      double e = fabs(dy[r] - rows[(size_t)r * s->nx + k]);
      if (!(e <= worst)) worst = e;
      size = fmax(size, fabs(dy[r]));
      if (getenv("DJT_SHOW") && e > 1e-6 * fmax(1, fabs(dy[r]))) {
        printf("thing %d row %d col %d: ours %.10g, MuJoCo's %.10g\n", thing, r, k,
               rows[(size_t)r * s->nx + k], dy[r]);
      }
    }
  }
  free(rows);
  free(dy);
  return worst / size;
}

// By q, v, act, ctrl.
static inline void djt_smoothErrors(double* error, djtSmooth* s, int thing, double h) {
  int part[5] = {0, s->nv, 2 * s->nv, 2 * s->nv + s->na, s->nx};
  for (int i = 0; i < 4; i++) {
    error[i] = djt_smoothError(s, thing, part[i], part[i + 1], h);
  }
}

#endif // DJ_TESTS_MJ_SMOOTH_H_
