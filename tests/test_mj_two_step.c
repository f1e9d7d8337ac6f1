// The MuJoCo side with an integrator that keeps a history (tests/methods/method_table.c, in the
// place of bdf1): MuJoCo's state has none, the context keeps it. A, B, C and D are of MuJoCo's
// sizes, and nothing is written beyond them.

#include "common/mjcf.h"
#include "common/near.h"

#include <dijoco/dijoco.h>

#include <math.h>
#include <stdlib.h>

enum { NV = 2, NA = 1, NX = 2 * NV + NA, NU = 1, NS = 4, PAD = 64 };

static const char kScene[] =
    "<mujoco><option timestep='0.01' gravity='1 0 -9.81'/>"
    "<custom><text name='dijoco_integrator' data='bdf1'/></custom><worldbody>"
    "<body name='cart'><joint name='slide' type='slide' axis='1 0 0' damping='.3'/>"
    "<geom type='box' size='.1 .1 .1'/><site name='s'/><body pos='0 0 .1'>"
    "<joint name='hinge' axis='0 1 0' damping='.1' stiffness='2'/>"
    "<geom type='capsule' fromto='0 0 0 .1 0 .4' size='.04'/></body></body></worldbody>"
    "<actuator><general joint='slide' dyntype='filter' dynprm='.05' gainprm='30'/></actuator>"
    "<sensor><accelerometer site='s'/><jointvel joint='hinge'/></sensor></mujoco>";

// A matrix with room behind it that nobody may write.
typedef struct Matrix {
  mjtNum value[NX * NX + PAD];
  int n;
} Matrix;

static mjtNum* opened(Matrix* m, int n) {
  m->n = n;
  for (int i = 0; i < NX * NX + PAD; i++) m->value[i] = -77;
  return m->value;
}

static void checkEnd(const Matrix* m) {
  for (int i = m->n; i < NX * NX + PAD; i++) assert_true(m->value[i] == -77);
}

typedef struct Fixture {
  mjModel* m;
  mjData* d;
  djmContext* context;
} Fixture;

// Three steps from the start: the context has a history.
static Fixture opened3(int substeps) {
  djError err;
  Fixture f = {.m = djt_compile(kScene)};
  f.d = mj_makeData(f.m);
  if (djm_makeContext(&f.context, NULL, f.m, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(djm_model(f.context)->opt.integrator, DJ_BDF1);
  assert_int_equal(dj_tangentSize(djm_model(f.context)), NX + 2 * NV);
  djm_stepOption(f.context)->substeps = substeps;
  f.d->qvel[0] = 0.4;
  f.d->qvel[1] = -3;
  f.d->ctrl[0] = 0.8;
  for (int k = 0; k < 3; k++) assert_int_equal(djm_step(f.m, f.d, f.context), DJ_OK);
  return f;
}

static void closed(Fixture* f) {
  djm_deleteContext(f->context);
  mj_deleteData(f->d);
  mj_deleteModel(f->m);
}

// Columns of the whole transition of n steps (nx) that a state without history has, by products.
static void chained(double* A, double* B, djModel* m, const djData* from, int n) {
  int nx = dj_tangentSize(m);
  djData* d;
  assert_int_equal(dj_makeData(&d, m, NULL), DJ_OK);
  assert_int_equal(dj_copyData(d, m, from), DJ_OK);
  double *Ak = calloc((size_t)(4 * nx * nx), sizeof(double)), *Bk = Ak + nx * nx;
  double *to = Bk + nx * nx, *part = to + nx * nx;
  for (int i = 0; i < nx; i++) A[i * nx + i] = 1;
  for (int k = 0; k < n; k++) {
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(djd_lastTransition(m, d, Ak, Bk), DJ_OK);
    mju_mulMatMat(to, Ak, A, nx, nx, nx);
    mju_copy(A, to, nx * nx);
    mju_mulMatMat(part, Ak, B, nx, nx, NU);
    mju_add(B, part, Bk, nx * NU);
  }
  free(Ak);
  dj_deleteData(d);
}

static void testTransition(void** state) {
  (void)state;
  for (int substeps = 1; substeps <= 2; substeps++) {
    Fixture f = opened3(substeps);
    djModel* m = djm_model(f.context);
    int nx = dj_tangentSize(m);
    double A[(NX + 2 * NV) * (NX + 2 * NV)] = {0}, B[NX + 2 * NV] = {0};
    assert_int_equal(nx * nx, sizeof A / sizeof *A);
    chained(A, B, m, djm_data(f.context), substeps);
    Matrix a, b, c, s;
    assert_int_equal(djm_transition(f.m, f.d, f.context, opened(&a, NX * NX), opened(&b, NX * NU),
                                    NULL, NULL), DJ_OK);
    checkEnd(&a);
    checkEnd(&b);
    double apart = 0;
    for (int r = 0; r < NX; r++) {
      for (int k = 0; k < NX; k++) djt_near(a.value[NX * r + k], A[nx * r + k], 1e-12);
      djt_near(b.value[r], B[r], 1e-12);
      for (int k = NX; k < nx; k++) apart += fabs(A[nx * r + k]);
    }
    assert_true(apart > 0.1);   // the steps do depend on the history
    // The cart's acceleration along x is that of its slide: (v+ - v)/h, the mean over substeps.
    assert_int_equal(djm_transition(f.m, f.d, f.context, opened(&a, NX * NX), opened(&b, NX * NU),
                                    opened(&c, NS * NX), opened(&s, NS * NU)), DJ_OK);
    checkEnd(&c);
    checkEnd(&s);
    for (int k = 0; k < NX; k++) {
      djt_near(c.value[k], (A[nx * NV + k] - (k == NV)) / f.m->opt.timestep, 1e-4);
      djt_near(c.value[3 * NX + k], k == NV + 1, 1e-12);
    }
    djt_near(s.value[0], B[NV] / f.m->opt.timestep, 1e-4);
    closed(&f);
  }
}

// The context's steps are those of a run of the model, until MuJoCo's state is written by hand.
static void testHistoryStays(void** state) {
  (void)state;
  Fixture f = opened3(1);
  djModel* m = djm_model(f.context);
  djData *whole, *anew;
  assert_int_equal(dj_makeData(&whole, m, NULL), DJ_OK);
  assert_int_equal(dj_makeData(&anew, m, NULL), DJ_OK);
  assert_int_equal(dj_copyData(whole, m, djm_data(f.context)), DJ_OK);
  anew->time = f.d->time;
  mju_copy(anew->qpos, f.d->qpos, (int)f.m->nq);
  mju_copy(anew->qvel, f.d->qvel, NV);
  mju_copy(anew->act, f.d->act, NA);
  mju_copy(anew->ctrl, f.d->ctrl, NU);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(djm_step(f.m, f.d, f.context), DJ_OK);
    assert_int_equal(dj_step(m, whole), DJ_OK);
    assert_int_equal(dj_step(m, anew), DJ_OK);
    assert_memory_equal(f.d->qpos, whole->qpos, NV * sizeof(double));
    assert_memory_equal(f.d->qvel, whole->qvel, NV * sizeof(double));
    assert_true(fabs(f.d->qvel[1] - anew->qvel[1]) > 1e-6);
  }
  dj_deleteData(whole);
  dj_deleteData(anew);
  closed(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testTransition),
      cmocka_unit_test(testHistoryStays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
