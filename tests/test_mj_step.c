// djm_step and djm_transition: our step on MuJoCo's data.

#include "common/mj_zoo.h"
#include "common/near.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

static const char kScene[] =
    "<mujoco><option timestep='0.001'/><worldbody><body pos='0 0 2'>"
    "<joint name='ball' type='ball' damping='.5' stiffness='3'/>"
    "<geom type='capsule' fromto='0 0 0 .4 0 0' size='.05'/><body pos='.4 0 0'>"
    "<joint name='hinge' axis='0 1 0' damping='.2' armature='.01'/>"
    "<geom type='capsule' fromto='0 0 0 .3 0 0' size='.04'/></body></body>"
    "<body pos='3 0 1'><freejoint/><geom type='box' size='.1 .2 .3'/></body></worldbody>"
    "<actuator><motor joint='hinge' gear='2'/><general joint='hinge' dyntype='filter' dynprm='.05' "
    "gainprm='3'/></actuator></mujoco>";

static void setState(const mjModel* m, mjData* d) {
  mj_resetData(m, d);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.3 * sin(1 + i);
  d->act[0] = 0.2;
  d->ctrl[0] = 0.5;
  d->ctrl[1] = -0.3;
  d->qfrc_applied[1] = 0.1;
  d->xfrc_applied[6 * 3 + 0] = 2;
  d->xfrc_applied[6 * 3 + 5] = 0.3;
}

// Both integrators are of first order: the difference of the two falls with the timestep.
static void testMotion(void) {
  double difference[2];
  for (int trial = 0; trial < 2; trial++) {
    mjModel* m = djt_compile(kScene);
    m->opt.timestep = trial == 0 ? 0.001 : 0.0005;
    mjData *d = mj_makeData(m), *e = mj_makeData(m);
    djmContext* context = djt_context(m);
    setState(m, d);
    setState(m, e);
    for (int i = 0; i < (trial == 0 ? 300 : 600); i++) {
      assert_int_equal(djm_step(m, d, context), DJ_OK);
      mj_step(m, e);
    }
    djt_near(d->time, e->time, 1e-12);
    djt_near(d->act[0], e->act[0], 1e-12);
    mjtNum* diff = calloc(m->nv, sizeof(*diff));
    assert_non_null(diff);
    mj_differentiatePos(m, diff, 1, e->qpos, d->qpos);
    difference[trial] = mju_norm(diff, (int)m->nv);
    free(diff);
    djm_deleteContext(context);
    mj_deleteData(d);
    djt_deleteEngine(m, e);
  }
  assert_true(difference[0] < 5e-3);
  assert_true(difference[1] < 0.6 * difference[0] && difference[1] > 0.4 * difference[0]);
}

// State of d in tangent coordinates about that of e.
static void tangent(mjtNum* x, const mjModel* m, const mjData* d, const mjData* e) {
  int nv = (int)m->nv;
  mj_differentiatePos(m, x, 1, e->qpos, d->qpos);
  mju_sub(x + nv, d->qvel, e->qvel, nv);
  mju_sub(x + 2 * nv, d->act, e->act, (int)m->na);
}

// Column `column` (states first, then controls) by a central difference of djm_step.
static void differenceColumn(mjtNum* out, const mjModel* m, const mjData* start,
                             djmContext* context, int column, double eps) {
  int nv = (int)m->nv, nx = 2 * nv + (int)m->na;
  mjData *d = mj_makeData(m), *base = mj_makeData(m);
  mjtNum side[2][100], step[100];
  mj_copyData(base, m, start);
  assert_int_equal(djm_step(m, base, context), DJ_OK);
  for (int s = 0; s < 2; s++) {
    double h = s == 0 ? eps : -eps;
    mj_copyData(d, m, start);
    mju_zero(step, nv);
    if (column < nv) {
      step[column] = h;
      mj_integratePos(m, d->qpos, step, 1);
    } else if (column < 2 * nv) {
      d->qvel[column - nv] += h;
    } else if (column < nx) {
      d->act[column - 2 * nv] += h;
    } else {
      d->ctrl[column - nx] += h;
    }
    assert_int_equal(djm_step(m, d, context), DJ_OK);
    tangent(side[s], m, d, base);
  }
  for (int i = 0; i < nx; i++) out[i] = (side[0][i] - side[1][i]) / (2 * eps);
  mj_deleteData(d);
  mj_deleteData(base);
}

static void testTransition(void) {
  mjModel* m = djt_compile(kScene);
  m->opt.timestep = 0.01;
  mjData* d = mj_makeData(m);
  djError err;
  djmContext* context = djt_context(m);
  djOption option = djm_model(context)->opt;
  option.tolerance = 1e-12;
  assert_int_equal(dj_setOption(djm_model(context), &option, &err), DJ_OK);
  setState(m, d);
  int nx = 2 * (int)m->nv + (int)m->na, nu = (int)m->nu;
  mjtNum *A = calloc(nx * nx, sizeof(*A)), *B = calloc(nx * nu, sizeof(*B));
  mjtNum* before = calloc(m->nq, sizeof(*before));
  assert_true(A && B && before && nx < 100);
  mju_copy(before, d->qpos, (int)m->nq);
  assert_int_equal(djm_transition(m, d, context, A, B, NULL, NULL), DJ_OK);
  assert_memory_equal(before, d->qpos, sizeof(*before) * m->nq);
  mjtNum column[100];
  for (int k = 0; k < nx + nu; k++) {
    differenceColumn(column, m, d, context, k, 1e-4);
    for (int i = 0; i < nx; i++) {
      double analytic = k < nx ? A[i * nx + k] : B[i * nu + k - nx];
      djt_failIf(!(fabs(analytic - column[i]) < 2e-6 * (1 + fabs(column[i]))),
                 "row %d, column %d: %.10g, difference %.10g", i, k, analytic, column[i]);
    }
  }
  assert_int_equal(djm_transition(m, d, context, NULL, B, NULL, NULL), DJ_OK);
  free(A);
  free(B);
  free(before);
  djm_deleteContext(context);
  djt_deleteEngine(m, d);
}

// Wrong model; activations that the import leaves out.
static void testMisuse(void) {
  mjModel* m = djt_compile(kScene);
  mjModel* other = djt_compile(
      "<mujoco><worldbody><body><joint name='j'/><geom size='.1'/></body><body><joint name='b' "
      "type='ball'/><geom size='.1'/></body></worldbody><actuator><dcmotor joint='b' "
      "motorconst='1' resistance='1' controller='1 1 0 0 0 0' input='pos' "
      "inductance='1 0'/><intvelocity joint='j' actrange='-1 1'/></actuator></mujoco>");
  mjData* d = mj_makeData(other);
  djmContext *context = djt_context(m), *second = djt_context(other);
  assert_int_equal(djm_step(other, d, context), DJ_INVALID);
  assert_int_equal(other->na, 3);
  assert_int_equal(djm_model(second)->na, 2);
  d->ctrl[1] = 1;
  d->act[1] = 7;
  assert_int_equal(djm_step(other, d, second), DJ_OK);
  djt_near(d->act[1], 7, 0);              // left out: untouched
  djt_near(d->act[2], 0.002, 1e-15);
  djm_deleteContext(context);
  djm_deleteContext(second);
  djt_deleteEngine(m, d);
  mj_deleteModel(other);
}

DJT_MAIN(testMotion, testTransition, testMisuse)
