// z . r of a step at a fixed end, its gradient by parameters, and differences of it. Included after
// cmocka.

#ifndef DJ_TESTS_PARAM_CASE_H_
#define DJ_TESTS_PARAM_CASE_H_

#include "base/arena.h"
#include "common/random_model.h"
#include "common/step_energy.h"
#include "common/test.h"
#include "common/worst.h"
#include "gradient/param_gradient.h"
#include "integrate/armature.h"
#include "math/so3.h"
#include "model/body_param.h"
#include "model/param.h"

typedef struct djParamCase {
  djModel *model, *copy;   // parameters are set on the copy
  djData *data, *other;    // of the model, of the copy; at one state
  double *q, *z, *r;       // end of the step, direction, scratch
  djParamSums sums;
  void* memory;            // theirs
  double* grad;            // sums.param: analytic, laid out by dj_paramBlock
} djParamCase;

static inline double* djt_zeros(size_t n) {
  double* v = calloc(n + 1, sizeof(double));
  assert_non_null(v);
  return v;
}

// z . r with the copy's parameters.
static inline double djt_residualAlong(djParamCase* c) {
  djWork* w = c->other->work;
  double sum = 0;
  assert_true(dj_method(c->copy->opt.integrator)->begin(w, c->copy) >= 0);
  energyAt(c->r, c->copy, c->other, c->q);
  for (int i = 0; i < c->copy->nv; i++) sum += c->z[i] * c->r[i];
  return sum;
}

// The analytic gradient at the case's end, by the method's row.
static inline void djt_paramGradient(djParamCase* c) {
  const djModel* m = c->model;
  const djMethod* method = dj_method(m->opt.integrator);
  djWork* w = c->data->work;
  assert_true(method->begin(w, m) >= 0);
  energyAt(c->r, m, c->data, c->q);
  dj_initParamSums(&c->sums, c->memory, m);
  assert_true(method->params(&c->sums, w, m, c->z) >= 0);
  dj_tensorParams(c->grad, m, c->sums.tensor);
}

// A method that is one stage of an energy or a balance, for the k-th trial.
static inline djIntegrator djt_paramMethod(int k) {
  static const djIntegrator list[3] = {DJ_EULER, DJ_POSITION, DJ_VARIATIONAL};
  return list[k % 3];
}

// A step from a random state, and an end near its solution. Takes the model.
static inline djParamCase djt_openParamCase(djModel* m, djRng* rng, double speed) {
  djParamCase c = {.model = m};
  djError err = {""};
  assert_int_equal(dj_makeData(&c.data, m, &err), DJ_OK);
  djt_randomState(rng, m, c.data, speed);
  assert_int_equal(dj_copyModel(&c.copy, m, &err), DJ_OK);
  assert_int_equal(dj_makeData(&c.other, c.copy, &err), DJ_OK);
  assert_true(dj_copyData(c.other, m, c.data) >= 0);
  assert_true(dj_solveStep(m, c.data) >= 0);
  assert_true(dj_solveStep(c.copy, c.other) >= 0);
  c.q = djt_zeros((size_t)m->nq);
  c.z = djt_zeros((size_t)m->nv);
  c.r = djt_zeros((size_t)m->nv);
  c.memory = aligned_alloc(DJ_ALIGN, (dj_paramSumsSize(m) / DJ_ALIGN + 1) * DJ_ALIGN);
  assert_non_null(c.memory);
  dj_initParamSums(&c.sums, c.memory, m);
  c.grad = c.sums.param;
  for (int i = 0; i < m->nv; i++) c.z[i] = djt_uniform(rng, -0.1, 0.1);
  dj_integratePos(c.q, m, c.data->work->now.q, c.z, 1);
  for (int i = 0; i < m->nv; i++) c.z[i] = djt_uniform(rng, -1, 1);
  djt_paramGradient(&c);
  return c;
}

static inline void djt_closeParamCase(djParamCase* c) {
  double* const list[] = {c->q, c->z, c->r};
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) free(list[i]);
  free(c->memory);
  dj_deleteData(c->data);
  dj_deleteData(c->other);
  dj_deleteModel(c->model);
  dj_deleteModel(c->copy);
}

// value (nvalue) (+) s along tangent entry k.
static inline void djt_moveParam(double* value, const djModel* m, const djParam* p, int k,
                                 double s) {
  if (!dj_paramIsRotation(m, p, k)) {
    value[k] += s;
    return;
  }
  double w[3] = {0, 0, 0}, *quat = value + p->nvalue - 4;
  w[k - (p->ntangent - 3)] = s;
  dju_storeQuat(quat, dju_mulQuat(dju_loadQuat(quat), dju_expQuat(dju_load3(w))));
}

static inline double djt_residualAt(djParamCase* c, const djParam* p, int k, double s) {
  double base[8], value[8];
  djError err = {""};
  assert_true(p->nvalue <= 8);
  assert_int_equal(dj_getParam(base, c->model, p), DJ_OK);
  memcpy(value, base, sizeof value);
  djt_moveParam(value, c->model, p, k, s);
  if (dj_writeParam(c->copy, p, value, &err) != DJ_OK) fail_msg("%s", err.text);
  double f = djt_residualAlong(c);
  assert_int_equal(dj_writeParam(c->copy, p, base, &err), DJ_OK);
  return f;
}

// Derivative by tangent entry k of a parameter, by Richardson's rule; one_sided: only steps upward.
// *noise: what rounding may do to it.
static inline double djt_paramDifference(double* noise, djParamCase* c, const djParam* p, int k,
                                         double step, bool one_sided) {
  double d[3], size = 0;
  for (int i = 0; i < 3; i++) {
    double h = step / (1 << i), up = djt_residualAt(c, p, k, h);
    double down = djt_residualAt(c, p, k, one_sided ? 0 : -h);
    d[i] = (up - down) / (one_sided ? h : 2 * h);
    size = djt_worst(size, fabs(up));
  }
  double r = one_sided ? 2 : 4, s = r * r;
  double a = (r * d[1] - d[0]) / (r - 1), b = (r * d[2] - d[1]) / (r - 1);
  *noise = 1e-14 * size / step;
  return (s * b - a) / (s - 1);
}

// Error of an analytic derivative, relative to the difference or to what differences resolve; of
// four steps (v|v| and limits are C2 only), the best.
static inline double djt_paramError(djParamCase* c, const djParam* p, int k, double analytic,
                                    double step, bool one_sided) {
  double best = INFINITY;
  for (int i = 0; i < 4 && best > 1e-8; i++) {
    double noise, fd = djt_paramDifference(&noise, c, p, k, step, one_sided);
    if (fd == 0 && analytic == 0) return 0;
    best = fmin(best, fabs(analytic - fd) / fmax(fabs(fd), 1e6 * noise));
    step /= 8;
  }
  return best;
}

typedef struct djtWorst {
  double error[DJ_NFIELD];
  int count[DJ_NFIELD], nonzero[DJ_NFIELD];
} djtWorst;

static inline int djt_elementCount(const djModel* m, djField f) {
  if (f == DJ_FIELD_GRAVITY) return 1;
  if (f >= DJ_FIELD_TENDON_STIFFNESS && f <= DJ_FIELD_TENDON_RANGE) return m->ntendon;
  if (f == DJ_FIELD_SITE_POS) return m->nsite;
  if (f >= DJ_FIELD_ACTUATOR_GAINPRM && f <= DJ_FIELD_ACTUATOR_GEAR) return m->nu;
  return f >= DJ_FIELD_JOINT_POS && f <= DJ_FIELD_JOINT_RANGE ? m->njnt : m->nbody;
}

// Errors of the gradient by every entry of some fields. One-sided for values that may be 0 but not
// negative (the residual is linear in them).
static inline void djt_compareParams(djtWorst* worst, djParamCase* c, const djField* field, int n) {
  const djModel* m = c->model;
  for (int i = 0; i < n; i++) {
    djField f = field[i];
    for (int id = 0; id < djt_elementCount(m, f); id++) {
      djParam p;
      if (!dj_makeParam(&p, m, f, id)) continue;
      const double* grad = dj_paramEntry(c->grad, m, f, id);
      bool edge = f >= DJ_FIELD_JOINT_DAMPING && f <= DJ_FIELD_JOINT_FRICTIONLOSS &&
                  f != DJ_FIELD_JOINT_SPRINGREF;
      for (int k = 0; k < p.ntangent; k++) {
        double step = f == DJ_FIELD_BODY_INERTIA ? 1e-3 : 0.02;
        double error = f <= DJ_FIELD_BODY_GRAVCOMP && id == 0
                           ? fabs(grad[k])
                           : djt_paramError(c, &p, k, grad[k], step, edge);
        if (!(error <= worst->error[f])) worst->error[f] = error;
        worst->count[f]++;
        worst->nonzero[f] += grad[k] != 0;
      }
    }
  }
}

static inline void djt_printWorst(const djtWorst* w, const djField* field, int n) {
  for (int i = 0; i < n; i++) {
    print_message("field %d: %.1e (%d, %d not 0)\n", (int)field[i], w->error[field[i]],
                  w->count[field[i]], w->nonzero[field[i]]);
  }
}

static inline void djt_expectRight(const djtWorst* worst, const djField* field, int n) {
  djt_printWorst(worst, field, n);
  for (int f = 0; f < n; f++) assert_true(worst->error[field[f]] < 1e-6);
}

#endif  // DJ_TESTS_PARAM_CASE_H_
