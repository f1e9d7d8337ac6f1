// Parts of the variational integrator by themselves: how the balance of a rotation is turned; the
// velocity at the end, from the discrete Lagrangian, with derivatives by both ends and by
// parameters; z . r by parameters.

#include "common/random_model.h"

#include "common/force_case.h"
#include "common/near.h"
#include "common/pair_case.h"
#include "common/param_case.h"
#include "common/test.h"
#include "integrate/balance.h"
#include "integrate/linear.h"
#include "integrate/turn.h"
#include "integrate/variational.h"

enum { MOST = 160 };

typedef struct Case {
  djForceCase c;
  double* moving;   // a number that moves along, where not NULL
  double *y;        // (nv)
} Case;

static Case openCase(djRng* rng, int features) {
  djModel* m = djt_randomModel(rng, 1 + djt_integer(rng, 5), features);
  m->opt.integrator = DJ_VARIATIONAL;
  Case c = {.c = djt_openForceCase(m, rng)};
  assert_true(m->nv <= MOST);
  c.y = djt_room((size_t)m->nv);
  djt_uniforms(c.y, m->nv, rng, -1, 1);
  djt_uniforms(c.c.along, m->nv, rng, -1, 1);
  djt_forceMotion(&c.c, 0);
  return c;
}

static void closeCase(Case* c) {
  free(c->y);
  djt_closeForceCase(&c->c);
}

// Torque about the centre of mass, where a free joint's is about the frame's origin, in axes of q+.
static void testTurn(void) {
  djRng rng = {1};
  int count[3] = {0};
  for (int trial = 0; trial < 30; trial++) {
    Case c = openCase(&rng, 0);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    djt_uniforms(w->momentum_residual, m->nv, &rng, -1, 1);
    for (int j = 0; j < m->njnt; j++) {
      djTurn t;
      int type = m->jnt_type[j], b = m->jnt_body[j], dof = m->jnt_dofadr[j];
      bool turns = type == DJ_FREE || type == DJ_BALL;
      assert_true(dj_turnOf(&t, w, m, w->now.q, j) == turns);
      count[!turns ? 0 : type == DJ_FREE ? 1 : 2]++;
      if (!turns) continue;
      assert_true(t.free == (type == DJ_FREE) && t.dof == dof + (t.free ? 3 : 0));
      const double* q = w->begin.q + m->jnt_qposadr[j] + (t.free ? 3 : 0);
      const double* next = w->now.q + m->jnt_qposadr[j] + (t.free ? 3 : 0);
      djMat3 R = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(q)));
      djMat3 Rnext = dju_quatToMat(dju_normalizeQuat(dju_loadQuat(next)));
      djVec3 torque = dju_mulMV(R, dju_load3(w->momentum_residual + t.dof));
      if (t.free) {
        const djKin *k = &w->begin.kin, *end = &w->now.kin;
        djVec3 arm = dju_sub3(end->com[b], end->body[b].p);
        arm = dju_sub3(arm, dju_sub3(k->com[b], k->body[b].p));
        torque = dju_add3(torque, dju_cross3(arm, dju_load3(w->momentum_residual + dof)));
      }
      djt_near(dju_norm3(dju_sub3(t.turned, dju_mulMtV(Rnext, torque))), 0, 1e-13);
      djt_near(dju_norm3(dju_sub3(t.moved, dju_mulMtV(R, torque))), 0, 1e-13);
      for (int i = 0; i < 9; i++) djt_near(dju_mulMM(t.R, t.E).m[i], t.Rnext.m[i], 1e-14);
    }
    closeCase(&c);
  }
  for (int k = 0; k < 3; k++) assert_true(count[k] > 5);
}

// L(q, q+), with second moments along principal axes, and armature of joints.
static void lagrangian(double* L, void* user, double s) {
  Case* c = user;
  const djModel* m = c->c.m;
  djWork* w = c->c.w;
  djt_forceMotion(&c->c, s);
  double *psi = djt_room((size_t)m->nv), h = w->h;
  *L = 0;
  for (int b = 1; b < m->nbody; b++) {
    const double* I = m->body_inertia + 3 * b;
    djVec3 d = dju_sub3(w->now.kin.com[b], w->begin.kin.com[b]);
    *L += m->body_mass[b] * dju_dot3(d, d) / (2 * h);
    for (int k = 0; k < 3; k++) {
      double moment = 0.5 * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
      d = dju_sub3(dju_column(&w->now.kin.principal[b], k),
                   dju_column(&w->begin.kin.principal[b], k));
      *L += moment * dju_dot3(d, d) / (2 * h);
    }
  }
  dj_differentiatePos(psi, m, 1, w->begin.q, w->now.q);
  for (int i = 0; i < m->nv; i++) *L += w->armature[m->dof_jnt[i]] * psi[i] * psi[i] / (2 * h);
  free(psi);
}

// M(q+) v+ = dL/dq+.
static void testVelocity(void) {
  djRng rng = {2};
  double worst = 0;
  for (int trial = 0; trial < 30; trial++) {
    Case c = openCase(&rng, DJT_ACTUATORS);   // some have armature
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    double *Mv = djt_room((size_t)m->nv), p, size = 1;
    djt_forceMotion(&c.c, 0);
    assert_int_equal(dj_variationalVelocity(w, m), DJ_OK);
    dj_massMatrix(&w->own, w->M, m, &w->now.kin, w->ref);
    dj_mirrorMatrix(&w->own);
    dj_mulMatrix(Mv, 1, &w->own, w->qvel);
    for (int i = 0; i < m->nv; i++) {
      int j = m->dof_jnt[i];
      Mv[i] += (w->armature[j] - m->jnt_armature[j]) * w->qvel[i];
      size = fmax(size, fabs(Mv[i]));
    }
    c.c.moved = DJT_POINT;
    for (int i = 0; i < m->nv; i++) {
      memset(c.c.along, 0, (size_t)m->nv * sizeof(double));
      c.c.along[i] = 1;
      extrapolate(&p, 1, 0.02, 1, lagrangian, &c);
      worst = djt_worst(worst, fabs(p - Mv[i]) / size);
    }
    free(Mv);
    closeCase(&c);
  }
  djt_below("momentum", worst, 1e-9);
}

static void velocityAt(double* v, void* user, double s) {
  Case* c = user;
  if (c->moving) *c->moving += s;
  djt_forceMotion(&c->c, s);
  assert_int_equal(dj_variationalVelocity(c->c.w, c->c.m), DJ_OK);
  memcpy(v, c->c.w->qvel, (size_t)c->c.m->nv * sizeof(double));
  if (c->moving) *c->moving -= s;
}

// dv+ = Vplus (dq+ - E dq) + Vstart dq.
static void testDerivatives(void) {
  djRng rng = {3};
  double worst[2] = {0};
  for (int trial = 0; trial < 30; trial++) {
    Case c = openCase(&rng, DJT_ACTUATORS | DJT_TENDONS | DJT_SPRINGS);
    const djModel* m = c.c.m;
    djWork* w = c.c.w;
    double d[MOST], psi[MOST], turned[MOST];
    djt_forceMotion(&c.c, 0);
    assert_int_equal(dj_variationalVelocity(w, m), DJ_OK);
    assert_int_equal(dj_linearizeVariationalVelocity(w, m), DJ_OK);
    dj_differentiatePos(psi, m, 1, w->begin.q, w->now.q);
    for (int k = 0; k < 2; k++) {
      double x[MOST] = {0}, size = 1;
      memcpy(turned, c.c.along, (size_t)m->nv * sizeof(double));
      if (k) dj_turnVector(turned, m, psi, false);
      dj_mulMatrix(x, k ? -1 : 1, &w->Vplus, turned);
      if (k) dj_mulMatrix(x, 1, &w->Vstart, c.c.along);
      c.c.moved = k ? DJT_START : DJT_POINT;
      extrapolate(d, m->nv, 2e-3, 1, velocityAt, &c);
      for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(d[i]));
      for (int i = 0; i < m->nv; i++) worst[k] = djt_worst(worst[k], fabs(d[i] - x[i]) / size);
    }
    closeCase(&c);
  }
  print_message("v+ by the end %.1e, by the start %.1e\n", worst[0], worst[1]);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-8);
}

// y . v+ by places of bodies and joints, of both ends.
static void testVelocityParams(void) {
  static const djField field[] = {DJ_FIELD_BODY_POS, DJ_FIELD_JOINT_POS};
  djRng rng = {4};
  double worst = 0, size = 0;
  for (int trial = 0; trial < 8; trial++) {
    Case c = openCase(&rng, DJT_ACTUATORS | DJT_TENDONS | DJT_SPRINGS);
    const djModel* m = c.c.m;
    djParamSums sums;
    void* memory = aligned_alloc(DJ_ALIGN, (dj_paramSumsSize(m) / DJ_ALIGN + 1) * DJ_ALIGN);
    assert_non_null(memory);
    djt_forceMotion(&c.c, 0);
    dj_initParamSums(&sums, memory, m);
    assert_int_equal(dj_variationalVelocityParams(&sums, c.c.w, m, c.y), DJ_OK);
    for (int f = 0; f < 2; f++) {
      double* number = f ? m->jnt_pos : m->body_pos;
      for (int i = f ? 0 : 3; i < 3 * (f ? m->njnt : m->nbody); i++) {
        double d[MOST], want = 0, got = dj_paramBlock(sums.param, m, field[f])[i];
        if (f && m->jnt_type[i / 3] == DJ_FREE) continue;
        c.moving = number + i;
        extrapolate(d, m->nv, 2e-3, 1, velocityAt, &c);
        for (int k = 0; k < m->nv; k++) want += c.y[k] * d[k];
        worst = djt_worst(worst, fabs(got - want) / (1 + fabs(want)));
        size = fmax(size, fabs(want));
      }
    }
    free(memory);
    closeCase(&c);
  }
  print_message("v+ by parameters %.1e of %.1g\n", worst, size);
  assert_true(worst < 1e-7 && size > 0.1);
}

// z . r by parameters that move frames.
static void testParams(void) {
  static const djField fields[] = {DJ_FIELD_BODY_POS, DJ_FIELD_BODY_QUAT, DJ_FIELD_BODY_IPOS,
                                   DJ_FIELD_JOINT_POS, DJ_FIELD_JOINT_AXIS, DJ_FIELD_SITE_POS};
  enum { N = sizeof fields / sizeof fields[0] };
  djRng rng = {5};
  djtWorst worst = {{0}, {0}, {0}};
  for (int trial = 0; trial < 6; trial++) {
    djModel* m = djt_randomModel(&rng, 3, DJT_SPRINGS | DJT_TENDONS);
    m->opt.integrator = DJ_VARIATIONAL;
    djParamCase c = djt_openParamCase(m, &rng, 1);
    dj_initParamSums(&c.sums, c.memory, m);
    assert_int_equal(dj_variationalParams(&c.sums, c.data->work, m, c.z), DJ_OK);
    djt_compareParams(&worst, &c, fields, N);
    djt_closeParamCase(&c);
  }
  djt_expectRight(&worst, fields, N);
  for (int i = 0; i < N; i++) assert_true(worst.nonzero[fields[i]] > 0);
}

DJT_MAIN(testTurn, testVelocity, testDerivatives, testVelocityParams, testParams)
