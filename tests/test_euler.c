// The method `euler`: its step in closed form, whatever `implicit` says, and the derivative of its
// inertia.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/room.h"
#include "common/scene.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/euler.h"
#include "math/so3.h"
#include "model/param.h"

#include <dijoco/dijoco.h>

static void setEuler(djModel* m, djImplicitTerms implicit) {
  djOption option = m->opt;
  djError err = {""};
  option.integrator = DJ_EULER;
  option.implicit = implicit;
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
}

// One hinge that carries a mass of 2 kg at .4 m, and its inertia.
static Scene* newPendulum(double timestep) {
  Scene* s = newScene(1);
  int body = addBody(s, 0, DJ_HINGE, 0, 0, 0, 2, 0.05);
  s->body[body].ipos[0] = 0.4;
  s->def.option.timestep = timestep;
  return s;
}

static double inertiaOf(const djModel* m) { return m->body_inertia[3 + 1] + 2 * 0.4 * 0.4; }

// A pendulum of one dof with damping c + 2 b |v|, a spring and a velocity servo of gain kv, driven
// beyond its range: (I + h D) (v+ - v) = h (tau - c v - b v |v| - kv v + clip(u) kv).
static void testPendulum(void) {
  const double h = 0.01, length = 0.4, mass = 2, c = 0.3, b = 0.2, kv = 1.5;
  const djImplicitTerms terms[] = {DJ_TERMS_NONE, DJ_TERMS_DAMPING, DJ_TERMS_RATES};
  for (int k = 0; k < 3; k++) {
    Scene* s = newPendulum(h);
    s->joint[0].damping = c;
    s->joint[0].dampingpoly[0] = b;
    s->joint[0].stiffness = 3;
    djActuatorDef servo = dj_defaultActuatorDef();
    servo.joint = 0;
    servo.gainprm[0] = kv;
    servo.bias = DJ_BIAS_AFFINE;
    servo.biasprm[2] = -kv;
    servo.ctrllimited = true;
    servo.ctrlrange[0] = -1;
    servo.ctrlrange[1] = 1;
    s->def.nu = 1;
    s->def.actuator = &servo;
    djModel* m = takeScene(s);
    setEuler(m, terms[k]);
    djData* d = sceneData(m);
    double q = 0.3, v = 2;
    d->qpos[0] = q;
    d->qvel[0] = v;
    d->ctrl[0] = 1.004; // on the rounded corner of other methods
    assert_int_equal(dj_step(m, d), DJ_OK);
    const double* axis = m->jnt_axis;
    double D = k == 0 ? 0 : c + 2 * b * v + (k == 2 ? kv : 0);
    double M = inertiaOf(m);
    djVec3 arm = dju_mulMV(dju_quatToMat(dju_expQuat(dju_scale3(q, dju_load3(axis)))),
                           dju_vec3(length, 0, 0));
    djVec3 weight = dju_scale3(mass, dju_load3(m->opt.gravity));
    double tau = dju_dot3(dju_load3(axis), dju_cross3(arm, weight)) - 3 * q - c * v - b * v * v;
    tau += kv * (1 - v);
    double next = v + h * tau / (M + h * D);
    if (!(fabs(d->qvel[0] - next) < 1e-13)) fail_msg("%d: %.15g is not %.15g", k, d->qvel[0], next);
    assert_true(fabs(d->qpos[0] - q - h * next) < 1e-15);
    djt_delete(m, d);
  }
}

// A pendulum without damping c: M (v+ - v) = h (tau - c v) - h c (v+ - v), the last term implicit,
// so that dv+/dc = -h v+/M, or -h v/M without it.
static void testNoDamping(void) {
  const djImplicitTerms terms[] = {DJ_TERMS_NONE, DJ_TERMS_DAMPING, DJ_TERMS_RATES};
  for (int k = 0; k < 3; k++) {
    Scene* s = newPendulum(0.01);
    s->joint[0].stiffness = 3;
    djModel* m = takeScene(s);
    setEuler(m, terms[k]);
    djData* d = sceneData(m);
    djParam c;
    double P[2], v = 2, M = inertiaOf(m);
    d->qpos[0] = 0.3;
    d->qvel[0] = v;
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_true(fabs(d->qvel[0] - v) > 0.05);
    assert_true(dj_makeParam(&c, m, DJ_FIELD_JOINT_DAMPING, 0));
    assert_int_equal(djd_lastParams(m, d, P, 1, &c), DJ_OK);
    double want = -0.01 / M * (k == 0 ? v : d->qvel[0]);
    if (!(fabs(P[1] - want) < 1e-13)) fail_msg("%d: %.15g is not %.15g", k, P[1], want);
    assert_true(fabs(P[0] - 0.01 * want) < 1e-15);
    djt_delete(m, d);
  }
}

// At rest the slope c + 2 b |v| of damping has a kink: the derivative is the mean of both sides, to
// which centred differences tend, 1 - h c/(M + h c).
static void testRest(void) {
  const double h = 0.01, c = 0.3;
  Scene* s = newPendulum(h);
  s->joint[0].damping = c;
  s->joint[0].dampingpoly[0] = 5;
  djModel* m = takeScene(s);
  setEuler(m, DJ_TERMS_DAMPING);
  djData* d = sceneData(m);
  double A[4], M = inertiaOf(m);
  d->qpos[0] = 0.3;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(fabs(d->qvel[0]) > 0.05);
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  double want = 1 - h * c / (M + h * c);
  if (!(fabs(A[3] - want) < 1e-13)) fail_msg("%.15g is not %.15g", A[3], want);
  djt_delete(m, d);
}

// J^-T K (psi - p)/h^2 along a direction of the dofs at the end.
static void momentum(double* g, djWork* w, const djModel* m, const double* from, const double* z,
                     double s) {
  double* x = djt_room((size_t)m->nv);
  double* psi = dj_stageOf(w)->linear.psi;
  dj_integratePos(w->trial.q, m, from, z, s);
  dj_differentiatePos(psi, m, 1, w->start.qpos, w->trial.q);
  for (int i = 0; i < m->nv; i++) x[i] = psi[i] - w->drift[i];
  memset(g, 0, (size_t)m->nv * sizeof(double));
  dj_mulMatrix(g, 1 / (w->h * w->h), &w->inertia, x);
  free(x);
}

static void testInertia(void) {
  djRng rng = {91};
  double worst = 0;
  for (int trial = 0; trial < 20; trial++) {
    djModel* m = djt_randomModel(&rng, 4, DJT_SPRINGS);
    setEuler(m, DJ_TERMS_DAMPING);
    djData* d = sceneData(m);
    djWork* w = d->work;
    int nv = m->nv;
    djt_randomState(&rng, m, d, 1);
    assert_true(dj_step(m, d) >= 0);
    double *z = djt_room((size_t)nv), *y = djt_room((size_t)nv), *want = djt_room((size_t)nv);
    double *q = djt_room((size_t)m->nq), *got = djt_room((size_t)nv);
    for (int i = 0; i < nv; i++) z[i] = djt_uniform(&rng, -0.3, 0.3);
    dj_integratePos(q, m, w->now.q, z, 1); // off what solves it
    for (int i = 0; i < nv; i++) z[i] = djt_uniform(&rng, -1, 1);
    for (int k = 0; k < 4; k++) {
      const double at[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1}, e = 1e-4;
      momentum(y, w, m, q, z, at[k] * e);
      dj_pullVector(y, m, dj_stageOf(w)->linear.psi, true);
      for (int i = 0; i < nv; i++) want[i] += weight[k] * y[i] / (12 * e);
    }
    momentum(y, w, m, q, z, 0);
    dj_inertiaSlope(&w->own, w, m, y);
    dj_mulMatrix(got, 1, &w->own, z);
    double size = 0, error = 0;
    for (int i = 0; i < nv; i++) {
      size = djt_worst(size, fabs(want[i]));
      error = djt_worst(error, fabs(got[i] - want[i]));
    }
    worst = djt_worst(worst, error / size);
    double* const list[] = {z, y, want, q, got};
    for (int k = 0; k < 5; k++) free(list[k]);
    djt_delete(m, d);
  }
  djt_below("slope of inertia", worst, 1e-9);
}

DJT_MAIN(testPendulum, testNoDamping, testRest, testInertia)
