// What every method of integration must do: derivatives of a step by all of the state, by inputs
// and by parameters, products, save and restore, order. Included after cmocka.

#ifndef DJ_TESTS_METHOD_SUITE_H_
#define DJ_TESTS_METHOD_SUITE_H_

#include "common/random_model.h"
#include "common/room.h"
#include "common/scene.h"
#include "common/worst.h"
#include "integrate/work.h"
#include "math/so3.h"
#include "model/param.h"

#include <dijoco/gradient.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A data of the model with that integrator, whose timestep it also sets.
static inline djData* djt_openMethod(djModel* m, djIntegrator integrator, double h) {
  djData* d;
  djError err = {""};
  djOption option = m->opt;
  option.integrator = integrator;
  option.timestep = h;
  option.tolerance = 1e-9;
  if (dj_setOption(m, &option, &err) < 0) fail_msg("%s", err.text);
  if (dj_makeData(&d, m, &err) < 0) fail_msg("%s", err.text);
  return d;
}

// The state of d moved by s along dx (tangent: q, v, act, q-, v-); a history stays one.
static inline void djt_moveState(djData* d, const djModel* m, const double* state, double s,
                                 const double* dx) {
  int nq = m->nq, nv = m->nv, na = m->na, history = 2 + nq + nv + na, before = 2 * nv + na;
  double* x = djt_room((size_t)dj_stateSize(m));
  memcpy(x, state, (size_t)dj_stateSize(m) * sizeof(double));
  dj_integratePos(x + 1, m, state + 1, dx, s);
  for (int i = 0; i < nv; i++) x[1 + nq + i] += s * dx[nv + i];
  for (int i = 0; i < na; i++) x[1 + nq + nv + i] += s * dx[2 * nv + i];
  if (dj_historySize(m) > 0 && state[history - 1] != 0) {
    dj_integratePos(x + history, m, state + history, dx + before, s);
    for (int i = 0; i < nv; i++) x[history + nq + i] += s * dx[before + nv + i];
  }
  assert_true(dj_setState(d, m, x) >= 0);
  free(x);
}

// out (nx) = tangent from the state a to the state b.
static inline void djt_stateDifference(double* out, const djModel* m, const double* a,
                                       const double* b) {
  int nq = m->nq, nv = m->nv, na = m->na, history = 2 + nq + nv + na, before = 2 * nv + na;
  dj_differentiatePos(out, m, 1, a + 1, b + 1);
  for (int i = 0; i < nv; i++) out[nv + i] = b[1 + nq + i] - a[1 + nq + i];
  for (int i = 0; i < na; i++) out[2 * nv + i] = b[1 + nq + nv + i] - a[1 + nq + nv + i];
  if (dj_historySize(m) == 0) return;
  memset(out + before, 0, 2 * (size_t)nv * sizeof(double));
  if (a[history - 1] == 0) return;   // none at the end of a step taken in parts
  dj_differentiatePos(out + before, m, 1, a + history, b + history);
  for (int i = 0; i < nv; i++) out[before + nv + i] = b[history + nq + i] - a[history + nq + i];
}

// Worst error of (A | B) from d's state, relative to the largest entry of a column, against
// differences; and of products with them.
static inline double djt_transitionError(const djModel* m, djData* d, double step, double wrong) {
  int nx = dj_tangentSize(m), nu = m->nu, ns = dj_stateSize(m);
  double *A = djt_room((size_t)nx * (size_t)nx), *B = djt_room((size_t)nx * (size_t)nu);
  double *x0 = djt_room((size_t)ns), *dx = djt_room((size_t)nx), *sum = djt_room((size_t)nx);
  double *at[2] = {djt_room((size_t)ns), djt_room((size_t)ns)}, *out = djt_room((size_t)nx);
  double* ctrl = djt_room((size_t)nu);
  double worst = 0;
  assert_int_equal(dj_getState(x0, m, d), DJ_OK);
  memcpy(ctrl, d->ctrl, (size_t)nu * sizeof(double));
  d->work->refinement_steps = 5;
  assert_int_equal(djd_transition(m, d, A, B), DJ_OK);
  A[0] += wrong;
  for (int c = 0; c < nx + nu; c++) {
    const double weight[2] = {4.0 / 3, -1.0 / 3};
    memset(sum, 0, (size_t)nx * sizeof(double));
    for (int k = 0; k < 2; k++) {
      double e = step * (k + 1);
      for (int side = 0; side < 2; side++) {
        double s = side ? e : -e;
        memset(dx, 0, (size_t)nx * sizeof(double));
        if (c < nx) dx[c] = 1;
        djt_moveState(d, m, x0, s, dx);
        memcpy(d->ctrl, ctrl, (size_t)nu * sizeof(double));
        if (c >= nx) d->ctrl[c - nx] += s;
        assert_int_equal(dj_step(m, d), DJ_OK);
        assert_int_equal(dj_getState(at[side], m, d), DJ_OK);
      }
      djt_stateDifference(out, m, at[0], at[1]);
      for (int r = 0; r < nx; r++) sum[r] += weight[k] * out[r] / (2 * e);
    }
    double scale = 1e-2, error = 0;
    for (int r = 0; r < nx; r++) {
      double a = c < nx ? A[r * nx + c] : B[r * nu + c - nx];
      scale = fmax(scale, fabs(sum[r]));
      error = djt_worst(error, fabs(a - sum[r]));
    }
    worst = djt_worst(worst, error / scale);
  }
  // products
  djt_moveState(d, m, x0, 0, dx);
  memcpy(d->ctrl, ctrl, (size_t)nu * sizeof(double));
  assert_int_equal(djd_transition(m, d, NULL, NULL), DJ_OK);
  double *du = djt_room((size_t)nu), *by_x = djt_room((size_t)nx), *by_u = djt_room((size_t)nu);
  for (int i = 0; i < nx; i++) dx[i] = sin(i + 1.0);
  for (int i = 0; i < nu; i++) du[i] = cos(i + 1.0);
  assert_int_equal(djd_stepJvp(m, d, out, dx, du), DJ_OK);
  assert_int_equal(djd_stepVjp(m, d, by_x, by_u, dx), DJ_OK);
  double size = 1e-3;
  for (int i = 0; i < nx * nx; i++) size = fmax(size, fabs(A[i]));
  for (int r = 0; r < nx; r++) {
    double forward = 0, backward = 0;
    for (int c = 0; c < nx; c++) {
      forward += A[r * nx + c] * dx[c];
      backward += A[c * nx + r] * dx[c];
    }
    for (int c = 0; c < nu; c++) forward += B[r * nu + c] * du[c];
    if (wrong == 0) {
      assert_true(fabs(forward - out[r]) < 1e-10 * size * nx);
      assert_true(fabs(backward - by_x[r]) < 1e-10 * size * nx);
    }
  }
  for (int c = 0; c < nu && wrong == 0; c++) {
    double backward = 0;
    for (int r = 0; r < nx; r++) backward += B[r * nu + c] * dx[r];
    assert_true(fabs(backward - by_u[c]) < 1e-10 * size * nx);
  }
  double* list[] = {A, B, x0, dx, sum, at[0], at[1], out, ctrl, du, by_x, by_u};
  for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) free(list[k]);
  return worst;
}

// Random robots without contact, after so many steps.
static inline void djt_methodRobotsAfter(djIntegrator integrator, int steps) {
  djRng rng = {41};
  double worst = 0, wrong = 1;
  for (int trial = 0; trial < 8; trial++) {
    djModel* m = djt_randomModel(&rng, 1 + trial % 5, DJT_ALL);
    djData* d = djt_openMethod(m, integrator, 0.005);
    djt_randomState(&rng, m, d, 1);
    for (int k = 0; k < steps; k++) assert_true(dj_step(m, d) >= 0);
    double x[500];
    assert_true(dj_stateSize(m) <= 500);
    assert_int_equal(dj_getState(x, m, d), DJ_OK);
    worst = djt_worst(worst, djt_transitionError(m, d, 2e-5, 0));
    assert_true(dj_setState(d, m, x) >= 0);
    wrong = fmin(wrong, djt_transitionError(m, d, 2e-5, 1e-3));
    dj_deleteData(d);
    dj_deleteModel(m);
  }
  print_message("robots: %.1e (with an error of 1e-3: %.1e)\n", worst, wrong);
  assert_true(worst < 2e-6);
  assert_true(wrong > 5e-6);
}

static inline void djt_methodRobots(djIntegrator integrator) {
  djt_methodRobotsAfter(integrator, 3);
}

// A ball, a box and an arm on the ground and each other, sliding. The box begins flat in the ground,
// where recovery has a kink (docs/tasks.md): differences of the first step do not find A.
static inline djModel* djt_contactModel(void) {
  Scene* s = newScene(8);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int box = addBody(s, 0, DJ_FREE, 0, 0, 0.0995, 1, 0.1);
  addGeom(s, box, DJ_BOX, 0.1, 0.1, 0.1);
  int ball = addBody(s, 0, DJ_FREE, 0.02, 0.01, 0.2793, 0.5, 0.08);
  addGeom(s, ball, DJ_SPHERE, 0.08, 0, 0);
  int arm = addBody(s, 0, DJ_HINGE, 0.45, 0, 0.099, 0.7, 0.1);
  addGeom(s, arm, DJ_CAPSULE, 0.1, 0.15, 0);
  s->def.option.stiffness_scale = 3e-5;   // soft enough for differences
  s->def.option.support_scale = 2;         // they touch
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

// After so many steps; anew: without their history.
static inline void djt_methodContactAfter(djIntegrator integrator, int steps, bool anew) {
  djModel* m = djt_contactModel();
  djData* d = djt_openMethod(m, integrator, 0.004);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.2 * sin(3.0 * i);
  for (int k = 0; k < steps; k++) assert_true(dj_step(m, d) >= 0);
  assert_true(d->npair >= 2);
  if (anew) d->qvel[0] += 1e-9;
  double error = djt_transitionError(m, d, 2e-7, 0);
  print_message("contact: %.1e, %d pairs, %ld fallbacks, %ld unconverged, speed %g\n", error,
                d->npair, d->stats.fallback_steps, d->stats.unconverged_steps, d->qvel[0]);
  assert_true(error < 5e-5);
  dj_deleteData(d);
  dj_deleteModel(m);
}

// bdf2 starts less damped, from which bodies leave the ground.
static inline void djt_methodContact(djIntegrator integrator) {
  djt_methodContactAfter(integrator, integrator == DJ_BDF2 ? 2 : 25, false);
}

// Gradient of a run by start, controls and parameters against differences of the run.
typedef struct djtRun {
  djModel* m;
  djData* d;
  djTape* tape;
  djRollout r;
} djtRun;

static inline double djt_runLoss(djtRun* run) {
  djRolloutResult out = {0};
  djRollout r = run->r;
  r.loss_only = true;
  assert_true(djd_rolloutForward(&out, run->m, run->d, &r, run->tape) >= 0);
  return out.loss;
}

// By tangent entry k of a parameter, with steps h.
static inline double djt_runDifference(djtRun* run, const djParam* p, int k, double h) {
  const double weight[4] = {1, -8, 8, -1};
  double sum = 0, base[64], value[64];
  djError err;
  assert_int_equal(dj_getParam(base, run->m, p), DJ_OK);
  for (int s = 0; s < 4; s++) {
    double t = (s < 2 ? s - 2 : s - 1) * h, w[3] = {0, 0, 0};
    memcpy(value, base, sizeof value);
    if (dj_paramIsRotation(run->m, p, k)) {
      w[k] = t;
      dju_storeQuat(value, dju_mulQuat(dju_loadQuat(base), dju_expQuat(dju_load3(w))));
    } else {
      value[k] += t;
    }
    if (dj_setParam(run->m, p, value, &err) != DJ_OK) fail_msg("%s", err.text);
    sum += weight[s] * djt_runLoss(run) / (12 * h);
  }
  assert_int_equal(dj_setParam(run->m, p, base, &err), DJ_OK);
  return sum;
}

// Greatest error of n parameters' derivatives, backward against differences, of each one's largest
// entry or least. Differences take steps of that share of an entry, or of .01 where it is smaller;
// of the last nrelative parameters always of the entry.
static inline double djt_runErrors(djtRun* run, const djParam* param, int n, double step,
                                   int nrelative, double least) {
  int total = 0;
  for (int k = 0; k < n; k++) total += param[k].ntangent;
  double *grad = djt_room((size_t)total), worst = 0;
  djRolloutResult out = {.nparam = n, .param = param, .grad_param = grad};
  assert_true(djd_rolloutForward(&out, run->m, run->d, &run->r, run->tape) >= 0);
  assert_true(djd_rolloutBackward(&out, run->m, run->d, &run->r, run->tape) >= 0);
  const double* g = grad;
  for (int k = 0; k < n; k++) {
    double scale = least, error = 0, value[64];
    for (int c = 0; c < param[k].ntangent; c++, g++) {
      assert_int_equal(dj_getParam(value, run->m, &param[k]), DJ_OK);
      double h = step * fmax(fabs(value[c]), k >= n - nrelative ? 0 : 0.01);
      double f = djt_runDifference(run, &param[k], c, h);
      scale = fmax(scale, fabs(f));
      error = djt_worst(error, fabs(f - *g));
    }
    print_message("parameter %2d: %9.2e of %9.2e\n", k, error, scale);
    worst = djt_worst(worst, error / scale);
  }
  free(grad);
  return worst;
}

// The same, of parameters by name.
static inline double djt_runNamed(djtRun* run, const char* const* name, int n, double step,
                                  int nrelative, double least) {
  enum { MOST = 32 };
  djParam param[MOST];
  djError err;
  assert_true(n <= MOST);
  for (int k = 0; k < n; k++) {
    if (dj_paramId(&param[k], run->m, name[k], &err) != DJ_OK) fail_msg("%s", err.text);
  }
  return djt_runErrors(run, param, n, step, nrelative, least);
}

static inline void djt_methodParams(djIntegrator integrator) {
  static const char* const name[] = {"body/#1/mass", "body/#1/ipos",     "body/#2/pos",
                                     "body/#2/quat", "body/#2/inertia",  "joint/#1/armature",
                                     "joint/#1/axis", "joint/#1/damping", "option/gravity"};
  enum { N = sizeof name / sizeof name[0], T = 6 };
  djRng rng = {43};
  double worst = 0;
  for (int trial = 0; trial < 6; trial++) {
    djModel* m = djt_randomModel(&rng, 3, DJT_SPRINGS | DJT_ACTUATORS);
    for (int j = 0; j < m->njnt; j++) {   // away from the bound of what may not be negative
      m->jnt_damping[j] += 0.05;
      m->jnt_armature[j] += 0.05;
    }
    djtRun run = {.m = m, .d = djt_openMethod(m, integrator, 0.01)};
    djError err = {""};
    djt_randomState(&rng, m, run.d, 1);
    assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
    double *q0 = djt_room((size_t)m->nq), *v0 = djt_room((size_t)m->nv);
    double* ctrl = djt_room((size_t)T * (size_t)m->nu);
    memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
    for (int i = 0; i < T * m->nu; i++) ctrl[i] = djt_uniform(&rng, -0.5, 0.5);
    djLossTerm loss[2] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                          {.type = DJ_LOSS_QVEL, .id = 0, .target = {0.2}, .weight = 0.1}};
    run.r = (djRollout){.horizon = T, .qpos0 = q0, .qvel0 = v0, .ctrl = ctrl, .nloss = 1,
                        .loss = loss, .refinement_steps = 6};
    djParam param[N];
    int n = 0;
    for (int k = 0; k < N; k++) {
      if (dj_paramId(&param[n], m, name[k], &err) != DJ_OK) continue;
      if (k == 6 && m->jnt_coord[1] < 0) continue;   // axes of slides and hinges
      n++;
    }
    worst = djt_worst(worst, djt_runErrors(&run, param, n, 1e-3, 0, 1e-3));
    free(q0);
    free(v0);
    free(ctrl);
    djd_deleteTape(run.tape);
    dj_deleteData(run.d);
    dj_deleteModel(m);
  }
  print_message("parameters: %.1e\n", worst);
  assert_true(worst < 2e-6);
}

// Saved and restored, and copied, a run goes on bit by bit.
static inline void djt_methodRestores(djIntegrator integrator) {
  djRng rng = {44};
  djModel* m = djt_randomModel(&rng, 4, DJT_ALL);
  djData *d = djt_openMethod(m, integrator, 0.004), *copy = djt_openMethod(m, integrator, 0.004);
  djt_randomState(&rng, m, d, 1);
  int ns = dj_stateSize(m);
  double *x = djt_room((size_t)ns), *y = djt_room((size_t)ns);
  for (int k = 0; k < 5; k++) assert_true(dj_step(m, d) >= 0);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_int_equal(dj_copyData(copy, m, d), DJ_OK);
  for (int k = 0; k < 4; k++) assert_true(dj_step(m, d) >= 0);
  assert_int_equal(dj_getState(y, m, d), DJ_OK);
  for (int pass = 0; pass < 2; pass++) {
    if (pass == 1) assert_true(dj_setState(copy, m, x) >= 0);
    for (int k = 0; k < 4; k++) assert_true(dj_step(m, copy) >= 0);
    double* z = djt_room((size_t)ns);
    assert_int_equal(dj_getState(z, m, copy), DJ_OK);
    assert_memory_equal(y, z, (size_t)ns * sizeof(double));
    free(z);
  }
  free(x);
  free(y);
  dj_deleteData(d);
  dj_deleteData(copy);
  dj_deleteModel(m);
}

// A chain of a ball joint and a hinge beside a free body; forced: with springs and dampers.
static inline djModel* djt_chain(bool forced) {
  Scene* s = newScene(4);
  int up = addBody(s, 0, DJ_BALL, 0.3, 0, 0, 1, 0.2);
  addBody(s, up, DJ_HINGE, 0.3, 0, 0, 0.7, 0.2);
  addBody(s, 0, DJ_FREE, 0, 1, 0, 1, 0.2);
  for (int b = 1; b < s->def.nbody; b++) {
    s->body[b].ipos[0] = 0.2;
    s->body[b].ipos[1] = 0.1;
    s->body[b].inertia[1] *= 1.5;
    s->joint[b - 1].armature = b == 2 ? 0.02 : 0;
    s->joint[b - 1].stiffness = forced ? 5 : 0;
    s->joint[b - 1].damping = forced ? 0.5 : 0;
  }
  if (!forced) s->def.option.gravity[2] = 0;
  djModel* m = sceneModel(s);
  freeScene(s);
  return m;
}

// Order of the error after a fifth of a second without contact, by halving the step twice.
static inline double djt_methodOrder(djIntegrator integrator, bool forced) {
  djModel* m = djt_chain(forced);
  double *end[3], e[2] = {0, 0};
  for (int k = 0; k < 3; k++) {
    int steps = 40 << k;
    djData* d = djt_openMethod(m, integrator, 0.2 / steps);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = 2 * sin(i + 1.0);
    for (int i = 0; i < steps; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(d->stats.fallback_steps, 0);
    end[k] = djt_room((size_t)dj_stateSize(m));
    assert_int_equal(dj_getState(end[k], m, d), DJ_OK);
    dj_deleteData(d);
  }
  double* out = djt_room((size_t)dj_tangentSize(m));
  for (int k = 0; k < 2; k++) {
    djt_stateDifference(out, m, end[k], end[k + 1]);
    for (int i = 0; i < 2 * m->nv; i++) e[k] += out[i] * out[i];
  }
  free(out);
  for (int k = 0; k < 3; k++) free(end[k]);
  dj_deleteModel(m);
  return 0.5 * log2(e[0] / e[1]);
}

// Tests, of the method that *state names.
static inline djIntegrator djt_methodOf(void** state) { return *(const djIntegrator*)*state; }
static inline void djt_testRobots(void** state) { djt_methodRobots(djt_methodOf(state)); }
static inline void djt_testContact(void** state) { djt_methodContact(djt_methodOf(state)); }
static inline void djt_testParams(void** state) { djt_methodParams(djt_methodOf(state)); }
static inline void djt_testRestores(void** state) { djt_methodRestores(djt_methodOf(state)); }

#endif  // DJ_TESTS_METHOD_SUITE_H_
