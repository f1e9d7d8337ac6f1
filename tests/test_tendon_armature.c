// Armature of tendons by itself: inertia, momentum, rates and their derivatives, all from lengths
// and differences of lengths.

#include "common/force_case.h"
#include "common/near.h"
#include "common/pair_case.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/tendon_armature.h"
#include "model/param.h"

enum { MANY = 160 };

typedef struct Case {
  djForceCase c;
  double *v, *z, *p;             // (nv)
  double* moving;                // a number that moves along, where not NULL
  void (*f)(double*, struct Case*);
} Case;

// In a random model with armature of tendons, fixed ones and paths.
static Case openCase(djRng* rng) {
  for (;;) {
    djModel* m = djt_randomModel(rng, 2 + djt_integer(rng, 4),
                                 DJT_TENDONS | DJT_SPRINGS | DJT_ACTUATORS);
    m->opt.integrator = DJ_VARIATIONAL;
    bool any = false;
    for (int t = 0; t < m->ntendon; t++) any |= m->tendon_armature[t] > 0;
    if (!any) {
      dj_deleteModel(m);
      continue;
    }
    Case c = {.c = djt_openForceCase(m, rng)};
    double** const part[] = {&c.v, &c.z, &c.p};
    assert_true(m->nv <= MANY);
    for (int k = 0; k < 3; k++) {
      *part[k] = djt_room((size_t)m->nv);
      djt_uniforms(*part[k], m->nv, rng, -1, 1);
    }
    memcpy(c.c.w->qvel, c.v, (size_t)m->nv * sizeof(double));
    memcpy(c.c.w->start.qvel, c.v, (size_t)m->nv * sizeof(double));
    djt_uniforms(c.c.along, m->nv, rng, -1, 1);
    return c;
  }
}

static void closeCase(Case* c) {
  double* const part[] = {c->v, c->z, c->p};
  for (int k = 0; k < 3; k++) free(part[k]);
  djt_closeForceCase(&c->c);
}

static double armatureOf(const Case* c, int t) { return c->c.w->armature[c->c.m->njnt + t]; }

// Length of tendon t at a configuration moved by s along v.
static double lengthAt(Case* c, const double* q, const double* v, int t, double s) {
  djWork* w = c->c.w;
  dj_integratePos(w->trial.q, c->c.m, q, v, s);
  dj_setPlace(&w->trial, c->c.m, c->c.d->mocap_pos, c->c.d->mocap_quat);
  return w->trial.coord.x[c->c.m->tendon_coord[t]];
}

// J v there.
static double rateAt(Case* c, const double* q, const double* v, int t) {
  double e = 1e-4, d[2];
  for (int k = 0; k < 2; k++) {
    double s = e * (k + 1);
    d[k] = (lengthAt(c, q, v, t, s) - lengthAt(c, q, v, t, -s)) / (2 * s);
  }
  return (4 * d[0] - d[1]) / 3;
}

// Sums over tendons of A (J z) f, f as inertia, force and momentum have it.
static void testValues(void) {
  djRng rng = {1};
  int bent = 0;
  for (int trial = 0; trial < 40; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djMatrix* M = &w->own;
    double *tau = djt_room((size_t)m->nv), *Mv = djt_room((size_t)m->nv);
    double inertia = 0, momentum = 0, energy = 0;
    int first = -1;
    djt_forceMotion(&c.c, 0);
    for (int t = 0; t < m->ntendon; t++) {
      double A = armatureOf(&c, t), Jz = rateAt(&c, c.c.q, c.z, t), Jv = rateAt(&c, c.c.q, c.v, t);
      double moved = lengthAt(&c, c.c.q, c.z, t, 0) - lengthAt(&c, c.c.q0, c.z, t, 0);
      double back = lengthAt(&c, c.c.q0, c.z, t, 0) - lengthAt(&c, c.c.qrate, c.z, t, 0);
      inertia += A * Jz * Jv;
      momentum += A * Jz * moved / w->h;
      w->tendon_rate[t] = NAN;
      dj_setBackRates(w, m);
      djt_near(w->tendon_rate[t], back / w->stage_h, 1e-10);
      energy += 0.5 * A * pow(back / w->stage_h, 2);
      if (A != 0 && first < 0 && dj_coordinateBends(m, m->tendon_coord[t])) first = t;
    }
    assert_true(dj_anyTendonArmature(w, m));
    assert_int_equal(dj_bentArmature(w, m), first);
    bent += first >= 0;
    djt_near(dj_tendonArmatureEnergy(w, m), energy, 1e-9 * (1 + energy));
    dj_addTendonForce(tau, w, m, &w->now, c.v);
    djt_near(djt_dot(tau, c.z, m->nv), inertia, 1e-8);
    dj_clearMatrix(M);
    dj_addTendonInertia(M, w, m, &w->now);
    dj_mulMatrix(Mv, 1, M, c.v);
    for (int i = 0; i < m->nv; i++) djt_near(Mv[i], tau[i], 1e-12);
    dj_clearMatrix(M);
    memset(c.p, 0, (size_t)m->nv * sizeof(double));
    dj_addTendonMomentum(M, c.p, w, m);
    djt_near(djt_dot(c.p, c.z, m->nv), momentum, 1e-7 * (1 + fabs(momentum)));
    memset(Mv, 0, (size_t)m->nv * sizeof(double));
    dj_mirrorMatrix(M);
    dj_mulMatrix(Mv, 1, M, c.v);
    for (int i = 0; i < m->nv; i++) djt_near(Mv[i], tau[i], 1e-12);
    for (int t = 0; t < m->ntendon; t++) w->armature[m->njnt + t] = 0;
    assert_false(dj_anyTendonArmature(w, m));
    assert_int_equal(dj_bentArmature(w, m), -1);
    assert_true(dj_tendonArmatureEnergy(w, m) == 0);
    free(tau);
    free(Mv);
    closeCase(&c);
  }
  assert_true(bent > 10);
}

// ---- derivatives ------------------------------------------------------------------------------

static void valuesAt(double* y, void* user, double s) {
  Case* c = user;
  if (c->moving) *c->moving += s;
  djt_forceMotion(&c->c, s);
  c->f(y, c);
  if (c->moving) *c->moving -= s;
}

static void expectSlope(const double* x, Case* c, int n, void (*f)(double*, Case*)) {
  double d[MANY], size = 1;
  c->f = f;
  extrapolate(d, n, 1e-3, 1, valuesAt, c);
  for (int i = 0; i < n; i++) size = fmax(size, fabs(d[i]));
  for (int i = 0; i < n; i++) djt_near(x[i], d[i], 1e-8 * size);
  djt_forceMotion(&c->c, 0);
}

// A J ((x+ - x)/h - J v+)
static void balance(double* y, Case* c) {
  djWork* w = c->c.w;
  memset(y, 0, (size_t)c->c.m->nv * sizeof(double));
  dj_clearMatrix(&w->own);
  dj_addTendonMomentum(&w->own, y, w, c->c.m);
  dj_mirrorMatrix(&w->own);
  dj_mulMatrix(y, -1, &w->own, c->v);
}

static void testMomentum(void) {
  djRng rng = {2};
  double size = 0;
  for (int trial = 0; trial < 30; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djt_forceMotion(&c.c, 0);
    dj_clearMatrix(&w->Vplus);
    dj_clearMatrix(&w->Vstart);
    dj_linearizeTendonMomentum(&w->Vplus, &w->Vstart, w, m);
    for (int k = 0; k < 2; k++) {
      c.c.moved = k ? DJT_START : DJT_POINT;
      djt_timesAlong(c.p, k ? &w->Vstart : &w->Vplus, &c.c);
      size = fmax(size, djt_largest(c.p, m->nv));
      expectSlope(c.p, &c, m->nv, balance);
    }
    // by an armature: along y
    c.c.moved = 0;
    for (int t = 0; t < m->ntendon; t++) {
      double before[MANY], after[MANY], A = armatureOf(&c, t);
      if (A == 0) continue;   // its dofs need not be one tree
      balance(before, &c);
      w->armature[m->njnt + t] = A + 1;
      balance(after, &c);
      w->armature[m->njnt + t] = A;
      for (int i = 0; i < m->nv; i++) after[i] -= before[i];
      double want = djt_dot(after, c.z, m->nv);
      djt_near(dj_tendonMomentumAlong(w, m, t, c.z), want, 1e-9 * (1 + fabs(want)));
    }
    closeCase(&c);
  }
  assert_true(size > 1);
}

// -A/h J+ (J v): momentum that the start has, along what moves at the end.
static void startMomentum(double* y, Case* c) {
  djWork* w = c->c.w;
  const djModel* m = c->c.m;
  memset(y, 0, (size_t)m->nv * sizeof(double));
  for (int t = 0; t < m->ntendon; t++) {
    int x = m->tendon_coord[t], first = m->coord_dofadr[x];
    double f = -armatureOf(c, t) / 0.01 *
               dj_coordinateRate(&w->begin.coord, m, x, w->start.qvel);
    for (int k = first; k < first + m->coord_dofnum[x]; k++) {
      y[m->coord_dof[k]] += f * w->now.coord.J[k];
    }
  }
}

// A/h^2 (x+ - 2 x + x-) J+, x held.
static void backForce(double* y, Case* c) {
  djWork* w = c->c.w;
  const djModel* m = c->c.m;
  memset(y, 0, (size_t)m->nv * sizeof(double));
  for (int t = 0; t < m->ntendon; t++) {
    int x = m->tendon_coord[t], first = m->coord_dofadr[x];
    double f = armatureOf(c, t) / 1e-4 * w->back.coord.x[x];
    for (int k = first; k < first + m->coord_dofnum[x]; k++) {
      y[m->coord_dof[k]] += f * w->now.coord.J[k];
    }
  }
}

static void testStart(void) {
  djRng rng = {3};
  for (int trial = 0; trial < 30; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djStageLinear* linear = &dj_stageOf(w)->linear;
    djStartSum* sum = &w->start_sum;
    djMotion at = djt_forceMotion(&c.c, 0);
    sum->R0 = sum->Rrate = &linear->Rq;
    dj_clearMatrix(&linear->Rq);
    dj_clearMatrix(&linear->G);
    dj_clearStartSum(sum, m);
    dj_startTendonArmature(sum, &linear->G, w, &at);
    djt_timesAlong(c.p, &linear->Rq, &c.c);
    c.c.moved = DJT_START;
    expectSlope(c.p, &c, m->nv, startMomentum);
    c.c.moved = 0;
    for (int i = 0; i < m->nv; i++) {   // by the velocity
      memset(c.c.along, 0, (size_t)m->nv * sizeof(double));
      c.c.along[i] = 1;
      djt_timesAlong(c.p, &linear->G, &c.c);
      c.moving = &w->start.qvel[i];
      expectSlope(c.p, &c, m->nv, startMomentum);
    }
    c.moving = NULL;
    djt_uniforms(c.c.along, m->nv, &rng, -1, 1);
    dj_clearMatrix(&linear->G);
    at = djt_forceMotion(&c.c, 0);
    dj_startBackRates(sum, &linear->G, w, &at);
    djt_timesAlong(c.p, &linear->G, &c.c);
    c.c.moved = DJT_RATE;   // whose place is w->back
    expectSlope(c.p, &c, m->nv, backForce);
    for (int t = 0; t < m->ntendon; t++) {
      djt_near(sum->krate[m->tendon_coord[t]], -armatureOf(&c, t) / 1e-4, 1e-8);
    }
    closeCase(&c);
  }
}

// ---- parameters -------------------------------------------------------------------------------

static void balanceAlong(double* y, Case* c) {
  double all[MANY];
  balance(all, c);
  *y = djt_dot(all, c->z, c->c.m->nv);
}

static void startAlong(double* y, Case* c) {
  double all[MANY];
  startMomentum(all, c);
  *y = 0;
  for (int t = 0; t < c->c.m->ntendon; t++) {   // J+ held
    const djWork* w = c->c.w;
    int x = c->c.m->tendon_coord[t];
    *y -= armatureOf(c, t) / 0.01 * c->p[t] *
          dj_coordinateRate(&w->begin.coord, c->c.m, x, w->start.qvel);
  }
}

// By positions of sites and bodies, of y . A J ((x+ - x)/h - J v+) and of J v at the start.
static void testFrames(void) {
  static const djField field[] = {DJ_FIELD_SITE_POS, DJ_FIELD_BODY_POS, DJ_FIELD_JOINT_POS};
  djRng rng = {4};
  double size = 0;
  for (int trial = 0; trial < 8; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djMotion at = djt_forceMotion(&c.c, 0);
    double* param[2] = {djt_room(dj_paramGradSize(m)), djt_room(dj_paramGradSize(m))};
    djParamSums sums = {.Cback = djt_room(6 * (size_t)m->nbody)};
    for (int t = 0; t < m->ntendon && t < m->nv; t++) {
      c.p[t] = dj_coordinateRate(&w->now.coord, m, m->tendon_coord[t], c.z);
    }
    assert_true(m->ntendon <= m->nv);
    sums.param = param[0];
    dj_tendonMomentumParams(&sums, w, m, c.z);
    sums.param = param[1];
    dj_tendonArmatureParams(&sums, w, &at, c.z);
    for (int f = 0; f < 3; f++) {
      double* number = f == 0 ? m->site_pos : f == 1 ? m->body_pos : m->jnt_pos;
      int n = 3 * (f == 0 ? m->nsite : f == 1 ? m->nbody : m->njnt);
      for (int i = f == 1 ? 3 : 0; i < n; i++) {
        if (f == 2 && m->jnt_type[i / 3] == DJ_FREE) continue;
        c.moving = number + i;
        const double* grad[2] = {dj_paramBlock(param[0], m, field[f]) + i,
                                 dj_paramBlock(param[1], m, field[f]) + i};
        size = fmax(size, fmin(fabs(*grad[0]), fabs(*grad[1])));
        expectSlope(grad[0], &c, 1, balanceAlong);
        expectSlope(grad[1], &c, 1, startAlong);
      }
    }
    free(param[0]);
    free(param[1]);
    free(sums.Cback);
    closeCase(&c);
  }
  assert_true(size > 0.1);
}

// sum of A/h^2 (J+ z) x-, J+ z held in p: what has the poses at `back`.
static void backAlong(double* y, Case* c) {
  *y = 0;
  for (int t = 0; t < c->c.m->ntendon; t++) {
    double x = c->c.w->back.coord.x[c->c.m->tendon_coord[t]];
    if (dj_coordinateBends(c->c.m, c->c.m->tendon_coord[t])) *y += c->p[t] * x;
  }
}

// By poses at `back`, through their cotangents, and by sites.
static void testBack(void) {
  djRng rng = {6};
  double size = 0;
  for (int trial = 0; trial < 20; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djMotion at = djt_forceMotion(&c.c, 0);
    double *g = djt_room((size_t)m->nv), slope;
    djParamSums sums = {.param = djt_room(dj_paramGradSize(m)),
                        .Cback = djt_room(6 * (size_t)m->nbody)};
    assert_true(m->ntendon <= m->nv);
    for (int t = 0; t < m->ntendon; t++) {
      c.p[t] = armatureOf(&c, t) / 1e-4 *
               dj_coordinateRate(&w->now.coord, m, m->tendon_coord[t], c.z);
    }
    dj_backRateParams(&sums, w, &at, c.z);
    dj_gatherWrench(sums.Cback, m);
    dj_projectWrench(g, m, &w->back.kin, sums.Cback);
    slope = djt_along(g, &c.c);
    size = fmax(size, fabs(slope));
    c.c.moved = DJT_RATE;
    expectSlope(&slope, &c, 1, backAlong);
    c.c.moved = 0;
    for (int i = 0; i < 3 * m->nsite; i++) {
      c.moving = m->site_pos + i;
      expectSlope(dj_paramBlock(sums.param, m, DJ_FIELD_SITE_POS) + i, &c, 1, backAlong);
    }
    free(g);
    free(sums.param);
    free(sums.Cback);
    closeCase(&c);
  }
  assert_true(size > 0.1);
}

// Gears of actuators with armature on tendons: A has gear^2.
static void testGears(void) {
  djRng rng = {5};
  int n = 0;
  for (int trial = 0; trial < 60; trial++) {
    Case c = openCase(&rng);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    double* param = djt_room(dj_paramGradSize(m));
    djt_forceMotion(&c.c, 0);
    dj_tendonInertiaParams(param, m, &w->now, c.z, c.v);
    for (int i = 0; i < m->nu; i++) {
      int t = m->actuator_tendon[i];
      double want = 0, gear = m->actuator_gear[6 * i];
      if (t >= 0) {
        int x = m->tendon_coord[t];
        want = 2 * gear * m->actuator_armature[i] * dj_coordinateRate(&w->now.coord, m, x, c.z) *
               dj_coordinateRate(&w->now.coord, m, x, c.v);
        n += want != 0;
      }
      djt_near(dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GEAR)[6 * i], want, 1e-13);
    }
    free(param);
    closeCase(&c);
  }
  assert_true(n > 10);
}

DJT_MAIN(testValues, testMomentum, testStart, testFrames, testBack, testGears)
