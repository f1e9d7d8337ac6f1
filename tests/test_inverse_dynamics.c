// Inverse dynamics: against the mass matrix, the energy, and differences of itself.

#include "model/inverse_dynamics.h"

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/room.h"
#include "common/test.h"
#include "common/worst.h"
#include "integrate/work.h"
#include "math/so3.h"
#include "model/body_param.h"
#include "model/kinematics.h"
#include "model/param.h"

// A model at a random state, with room for what inverse dynamics gives.
typedef struct Case {
  djModel* m;
  djData* d;
  djInverse inverse;
  void* memory;
  double *q, *v, *a, *tau, *armature, *N, *B, *x, *P, *Q;
} Case;

static Case openCase(djRng* rng, int nbody) {
  Case c = {.m = djt_randomModel(rng, nbody, DJT_SPRINGS)};
  djError err = {""};
  assert_int_equal(dj_makeData(&c.d, c.m, &err), DJ_OK);
  djt_randomState(rng, c.m, c.d, 2);
  size_t nv = (size_t)c.m->nv, nb = (size_t)c.m->nbody;
  double** const list[] = {&c.v, &c.a, &c.tau};
  for (size_t k = 0; k < 3; k++) *list[k] = djt_room(nv);
  c.q = djt_room((size_t)c.m->nq);
  c.armature = djt_room((size_t)c.m->njnt);
  c.N = djt_room(36 * nb);
  c.B = djt_room(36 * nb);
  c.x = djt_room(6 * nb);
  c.P = djt_room(6 * nb);
  c.Q = djt_room(6 * nb);
  memcpy(c.q, c.d->qpos, (size_t)c.m->nq * sizeof(double));
  for (int i = 0; i < c.m->nv; i++) {
    c.v[i] = djt_uniform(rng, -2, 2);
    c.a[i] = djt_uniform(rng, -5, 5);
  }
  for (int j = 0; j < c.m->njnt; j++) c.armature[j] = djt_uniform(rng, 0, 0.1);
  c.memory = djt_room(dj_inverseSize(c.m) / sizeof(double));
  c.inverse = dj_initInverse(c.m, c.memory);
  return c;
}

static void closeCase(Case* c) {
  double* const list[] = {c->q, c->v, c->a, c->tau, c->armature, c->N, c->B, c->x, c->P, c->Q};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) free(list[k]);
  free(c->memory);
  djt_delete(c->m, c->d);
}

// ID at q (nq), v, a (nv) into c->tau. The points that twists refer to stay where they were.
static void evaluate(Case* c, const double* q, const double* v, const double* a) {
  djWork* w = c->d->work;
  memcpy(w->now.q, q, (size_t)c->m->nq * sizeof(double));
  dj_setPlace(&w->now, c->m, c->d->mocap_pos, c->d->mocap_quat);
  dj_openPlace(&w->now, c->m, w->ref);
  dj_inverseDynamics(c->tau, &c->inverse, c->m, &w->now.kin, w->ref, c->armature, v, a);
}

static djMatrix matrixOf(const Case* c) {
  const djBlocks* trees = &c->d->work->trees;
  return (djMatrix){djt_room(dj_packedSize(trees)), trees};
}

static double entry(const djMatrix* A, int i, int j) {
  djBlockView v = dj_blockView(A, i, j);
  return v.at ? *dj_viewEntry(&v, i, j) : 0;
}

// Without velocity ID = M a; with M from the recursion of its own.
static void test_mass(void) {
  djRng rng = {1};
  for (int trial = 0; trial < 20; trial++) {
    Case c = openCase(&rng, 1 + trial % 7);
    int nv = c.m->nv;
    double *zero = djt_room((size_t)nv), scale = 0, worst = 0;
    evaluate(&c, c.q, zero, c.a);
    djMatrix M = matrixOf(&c);
    dj_massMatrix(&M, c.N, c.m, &c.d->work->now.kin, c.d->work->ref);
    for (int i = 0; i < nv; i++) {
      double sum = (c.armature[c.m->dof_jnt[i]] - c.m->jnt_armature[c.m->dof_jnt[i]]) * c.a[i];
      for (int j = 0; j < nv; j++) sum += entry(&M, i > j ? i : j, i > j ? j : i) * c.a[j];
      scale = fmax(scale, fabs(sum));
      worst = djt_worst(worst, fabs(sum - c.tau[i]));
    }
    assert_true(worst <= 1e-12 * scale);
    free(M.data);
    free(zero);
    closeCase(&c);
  }
}

// Kinetic energy by the twists that ID has found.
static double kinetic(Case* c, const double* q, const double* v) {
  double* none = djt_room((size_t)c->m->nv);
  evaluate(c, q, v, none);
  djMatrix M = matrixOf(c);
  dj_massMatrix(&M, c->N, c->m, &c->d->work->now.kin, c->d->work->ref);
  double sum = 0;
  for (int i = 0; i < c->m->nv; i++) {
    int j = c->m->dof_jnt[i];
    sum += 0.5 * (c->armature[j] - c->m->jnt_armature[j]) * v[i] * v[i];
    for (int k = 0; k < c->m->nv; k++) {
      sum += 0.5 * v[i] * v[k] * entry(&M, i > k ? i : k, i > k ? k : i);
    }
  }
  free(M.data);
  free(none);
  return sum;
}

// The power v . ID is the rate of the kinetic energy.
static void test_power(void) {
  djRng rng = {2};
  for (int trial = 0; trial < 20; trial++) {
    Case c = openCase(&rng, 1 + trial % 7);
    int nv = c.m->nv;
    double *q = djt_room((size_t)c.m->nq), *v = djt_room((size_t)nv), h = 1e-3, e[4];
    for (int k = 0; k < 4; k++) {
      double t = (k - 1.5) * h;
      // q(t) to third order: its velocity is v + a t in the body's axes
      for (int i = 0; i < nv; i++) v[i] = c.v[i] * t + 0.5 * c.a[i] * t * t;
      dj_integratePos(q, c.m, c.q, v, 1);
      for (int i = 0; i < nv; i++) v[i] = c.v[i] + c.a[i] * t;
      e[k] = kinetic(&c, q, v);
    }
    double rate = (27 * (e[2] - e[1]) - (e[3] - e[0])) / (24 * h), power = 0, scale = 0;
    evaluate(&c, c.q, c.v, c.a);
    for (int i = 0; i < nv; i++) {
      power += c.v[i] * c.tau[i];
      scale += fabs(c.v[i] * c.tau[i]);
    }
    assert_true(fabs(power - rate) <= 1e-5 * scale);
    free(q);
    free(v);
    closeCase(&c);
  }
}

// Largest error of a matrix's column k against differences of ID along `move`.
static double columnError(Case* c, const djMatrix* D, int k, int what) {
  int nv = c->m->nv;
  double *q = djt_room((size_t)c->m->nq), *x = djt_room((size_t)nv), *sum = djt_room((size_t)nv);
  double worst = 0, scale = 1e-3, h = 1e-4;
  const double weight[4] = {1, -8, 8, -1};
  for (int s = 0; s < 4; s++) {
    double t = (s < 2 ? s - 2 : s - 1) * h;
    memcpy(q, c->q, (size_t)c->m->nq * sizeof(double));
    const double* base = what == 1 ? c->v : c->a;
    for (int i = 0; i < nv; i++) x[i] = (what == 0 ? 0 : base[i]) + (i == k ? t : 0);
    if (what == 0) dj_integratePos(q, c->m, c->q, x, 1);
    evaluate(c, q, what == 1 ? x : c->v, what == 2 ? x : c->a);
    for (int i = 0; i < nv; i++) sum[i] += weight[s] * c->tau[i] / (12 * h);
  }
  for (int i = 0; i < nv; i++) {
    scale = fmax(scale, fabs(sum[i]));
    worst = djt_worst(worst, fabs(sum[i] - entry(D, i, k)));
  }
  free(q);
  free(x);
  free(sum);
  return worst / scale;
}

static void test_derivatives(void) {
  djRng rng = {3};
  for (int trial = 0; trial < 12; trial++) {
    Case c = openCase(&rng, 1 + trial % 7);
    djMatrix D[3] = {matrixOf(&c), matrixOf(&c), matrixOf(&c)};
    evaluate(&c, c.q, c.v, c.a);
    dj_inverseDerivatives(&D[0], &D[1], &D[2], c.N, c.B, &c.inverse, c.m, &c.d->work->now.kin,
                          c.armature);
    for (int what = 0; what < 3; what++) {
      double worst = 0, wrong = 0;
      for (int k = 0; k < c.m->nv; k++) {
        worst = djt_worst(worst, columnError(&c, &D[what], k, what));
      }
      assert_true(worst < 1e-6);
      *dj_own(&D[what], 0, 0) += 0.01 * (1 + fabs(*dj_own(&D[what], 0, 0)));
      wrong = columnError(&c, &D[what], 0, what);
      assert_true(wrong > 1e-5);
      free(D[what].data);
    }
    closeCase(&c);
  }
}

// ---- parameters -------------------------------------------------------------------------------

static double along(Case* c, const double* z) {
  double sum = 0;
  evaluate(c, c->q, c->v, c->a);
  for (int i = 0; i < c->m->nv; i++) sum += z[i] * c->tau[i];
  return sum;
}

// Error of the gradient by tangent entry k of a parameter, relative to the block's size; *size of
// the derivative.
static double paramError(Case* c, const djParam* p, int k, double analytic, const double* z,
                         double* size) {
  double base[8], value[8], f[4], h = 1e-4;
  djError err = {""};
  assert_int_equal(dj_getParam(base, c->m, p), DJ_OK);
  if (p->ntangent == 1 || !dj_paramIsRotation(c->m, p, k)) h *= fmax(0.1, fabs(base[k]));
  for (int s = 0; s < 4; s++) {
    double t = (s < 2 ? s - 2 : s - 1) * h;
    memcpy(value, base, sizeof value);
    if (dj_paramIsRotation(c->m, p, k)) {
      double w[3] = {0, 0, 0};
      w[k] = t;
      dju_storeQuat(value, dju_mulQuat(dju_loadQuat(base), dju_expQuat(dju_load3(w))));
    } else {
      value[k] += t;
    }
    if (dj_writeParam(c->m, p, value, &err) != DJ_OK) fail_msg("%s", err.text);
    f[s] = along(c, z);
  }
  assert_int_equal(dj_writeParam(c->m, p, base, &err), DJ_OK);
  double difference = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
  *size = fabs(difference);
  return fabs(difference - analytic);
}

static void test_params(void) {
  static const djField field[] = {DJ_FIELD_BODY_MASS, DJ_FIELD_BODY_IPOS,   DJ_FIELD_BODY_IQUAT,
                                  DJ_FIELD_BODY_INERTIA, DJ_FIELD_BODY_POS, DJ_FIELD_BODY_QUAT,
                                  DJ_FIELD_JOINT_POS,    DJ_FIELD_JOINT_AXIS};
  enum { NFIELD = sizeof field / sizeof field[0] };
  djRng rng = {4};
  double worst[NFIELD] = {0};
  int nonzero[NFIELD] = {0};
  for (int trial = 0; trial < 10; trial++) {
    Case c = openCase(&rng, 2 + trial % 6);
    djWork* w = c.d->work;
    double* grad = djt_room(dj_paramGradSize(c.m));
    double *tensor = djt_room(6 * (size_t)c.m->nbody), *z = djt_room((size_t)c.m->nv), scale = 0;
    for (int i = 0; i < c.m->nv; i++) z[i] = djt_uniform(&rng, -1, 1);
    scale = fabs(along(&c, z));
    const djConfig at = {&w->now.kin, c.q, w->ref, NULL};
    dj_inverseParams(grad, tensor, c.x, c.P, c.Q, &c.inverse, c.m, &at, z, c.v, c.a);
    dj_tensorParams(grad, c.m, tensor);
    for (int f = 0; f < NFIELD; f++) {
      bool joint = field[f] == DJ_FIELD_JOINT_POS || field[f] == DJ_FIELD_JOINT_AXIS;
      for (int id = joint ? 0 : 1; id < (joint ? c.m->njnt : c.m->nbody); id++) {
        djParam p;
        if (!dj_makeParam(&p, c.m, field[f], id)) continue;
        const double* g = dj_paramEntry(grad, c.m, field[f], id);
        if (field[f] == DJ_FIELD_JOINT_AXIS && c.m->jnt_coord[id] < 0) continue;
        for (int k = 0; k < p.ntangent; k++) {
          double size, error = paramError(&c, &p, k, g[k], z, &size);
          worst[f] = djt_worst(worst[f], error / (scale + size));
          nonzero[f] += g[k] != 0;
        }
      }
    }
    free(grad);
    free(tensor);
    free(z);
    closeCase(&c);
  }
  for (int f = 0; f < NFIELD; f++) {
    print_message("field %d: %.1e, %d not 0\n", field[f], worst[f], nonzero[f]);
    assert_true(worst[f] < 1e-6 && nonzero[f] > 20);
  }
}

DJT_MAIN(test_mass, test_power, test_derivatives, test_params)
