// The linearised step apart from what is built on it: products against differences of steps, their
// adjoints, copies, changes of a stage's configuration; and the turns of rotations.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/near.h"
#include "common/states.h"
#include "common/test.h"
#include "common/worst.h"
#include "gradient/columns.h"
#include "integrate/linear.h"
#include "integrate/turn.h"

typedef struct Step {
  djModel* m;
  djData* d;
  djLinear linear;
  double *x0, *ctrl;             // state and controls
  double *dx, *du, *scratch;
  int nx, nu;
} Step;

// A step from a random state, linearised.
static Step openStep(djRng* rng, djIntegrator method) {
  const int equalities = method == DJ_EULER ? DJT_EQUALITIES | DJT_MOTORS : 0;   // of euler alone
  Step s = {.m = djt_randomModel(rng, 1 + djt_integer(rng, 4),
                                 DJT_SPRINGS | DJT_ACTUATORS | DJT_FLUID | equalities)};
  s.d = djt_openMethod(s.m, method, 0.01);
  djt_randomState(rng, s.m, s.d, 1);
  s.d->work->refinement_steps = 5;
  s.nx = dj_tangentSize(s.m);
  s.nu = s.m->nu;
  s.x0 = djt_room((size_t)dj_stateSize(s.m));
  s.ctrl = djt_room((size_t)s.nu);
  s.dx = djt_room((size_t)s.nx);
  s.du = djt_room((size_t)s.nu);
  s.scratch = djt_room(dj_linearScratch(s.m));
  assert_int_equal(dj_getState(s.x0, s.m, s.d), DJ_OK);
  memcpy(s.ctrl, s.d->ctrl, (size_t)s.nu * sizeof(double));
  assert_int_equal(dj_linearizeStep(&s.linear, s.m, s.d), DJ_INVALID);   // there is none yet
  assert_true(dj_step(s.m, s.d) >= 0);
  assert_int_equal(dj_linearizeStep(&s.linear, s.m, s.d), DJ_OK);
  djt_uniforms(s.dx, s.nx, rng, -1, 1);
  djt_uniforms(s.du, s.nu, rng, -1, 1);
  return s;
}

static void closeStep(Step* s) {
  double* const list[] = {s->x0, s->ctrl, s->dx, s->du, s->scratch};
  for (int k = 0; k < 5; k++) free(list[k]);
  djt_delete(s->m, s->d);
}

// A step from the state moved by e along (dx, du): its end, and the last stage's configuration.
static void stepAt(double* end, double* q, Step* s, double e) {
  djt_moveState(s->d, s->m, s->x0, e, s->dx);
  for (int i = 0; i < s->nu; i++) s->d->ctrl[i] = s->ctrl[i] + e * s->du[i];
  assert_true(dj_step(s->m, s->d) >= 0);
  assert_int_equal(dj_getState(end, s->m, s->d), DJ_OK);
  memcpy(q, s->d->work->now.q, (size_t)s->m->nq * sizeof(double));
}

// Differences of both, of fourth order.
static void differences(double* dx_next, double* dq, Step* s) {
  const djModel* m = s->m;
  size_t ns = (size_t)dj_stateSize(m), nq = (size_t)m->nq;
  double *a = djt_room(ns), *b = djt_room(ns), *qa = djt_room(nq), *qb = djt_room(nq);
  double *out = djt_room((size_t)s->nx), *dv = djt_room((size_t)m->nv);
  memset(dx_next, 0, (size_t)s->nx * sizeof(double));
  memset(dq, 0, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < 2; k++) {
    double e = 1e-4 * (k + 1), weight = (k ? -1.0 : 4.0) / 3 / (2 * e);
    stepAt(a, qa, s, -e);
    stepAt(b, qb, s, e);
    djt_stateDifference(out, m, a, b);
    dj_differentiatePos(dv, m, 1, qa, qb);
    for (int i = 0; i < s->nx; i++) dx_next[i] += weight * out[i];
    for (int i = 0; i < m->nv; i++) dq[i] += weight * dv[i];
  }
  double* const list[] = {a, b, qa, qb, out, dv};
  for (int k = 0; k < 6; k++) free(list[k]);
}

static double distanceOf(const double* a, const double* b, int n) {
  double worst = 0, size = 1;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(b[i]));
    worst = djt_worst(worst, fabs(a[i] - b[i]));
  }
  return worst / size;
}

// Jvp, and the columns of a stage's configuration, against differences.
static void testJvp(void** state) {
  djIntegrator method = djt_methodOf(state);
  djRng rng = {10 + (unsigned long long)method};
  double worst[2] = {0};
  for (int t = 0; t < 12; t++) {
    Step s = openStep(&rng, method);
    int nx = s.nx, nv = s.m->nv;
    djWork* w = s.d->work;
    double *out = djt_room((size_t)nx), *want = djt_room((size_t)nx), *part = djt_room((size_t)nx);
    double *dq = djt_room((size_t)nv), *sum = djt_room((size_t)nv);
    dj_linearJvp(out, &s.linear, s.m, s.dx, s.du, s.scratch);
    for (int i = 0; i < nx; i++) want[i] = 0;
    for (int k = 0; k < 2; k++) {   // the parts alone add up
      dj_linearJvp(part, &s.linear, s.m, k ? NULL : s.dx, k ? s.du : NULL, s.scratch);
      for (int i = 0; i < nx; i++) want[i] += part[i];
    }
    assert_true(distanceOf(out, want, nx) < 1e-12);
    for (int first = 0; first < nx + s.nu; first += 3) {
      int end = first + 3 < nx + s.nu ? first + 3 : nx + s.nu;
      if (end - first > w->nslab) end = first + w->nslab;
      const double* Q = dj_pointColumns(w, s.m, &s.linear, first, end);
      for (int c = first; c < end; c++) {
        double by = c < nx ? s.dx[c] : s.du[c - nx];
        for (int r = 0; r < nv; r++) sum[r] += by * Q[r * (end - first) + c - first];
      }
      assert_true(end - first == 3 || end == nx + s.nu);
    }
    differences(want, dq, &s);
    worst[0] = djt_worst(worst[0], distanceOf(out, want, nx));
    worst[1] = djt_worst(worst[1], distanceOf(sum, dq, nv));
    double* const list[] = {out, want, part, dq, sum};
    for (int k = 0; k < 5; k++) free(list[k]);
    closeStep(&s);
  }
  print_message("%s: products %.1e, points %.1e\n", dj_method(method)->name, worst[0], worst[1]);
  assert_true(worst[0] < 1e-6 && worst[1] < 1e-6);
}

// The adjoint: it adds, either part may be left out; and of a copy, that lies in no more memory
// than it says and outlives the step.
static void testVjp(void** state) {
  djIntegrator method = djt_methodOf(state);
  djRng rng = {20 + (unsigned long long)method};
  for (int t = 0; t < 12; t++) {
    Step s = openStep(&rng, method);
    size_t nx = (size_t)s.nx, nu = (size_t)s.nu, size = dj_linearSize(s.m, &s.linear);
    double *out = djt_room(nx), *lambda = djt_room(nx), *gx = djt_room(nx), *gu = djt_room(nu);
    double *other = djt_room(nx + nu), *memory = djt_room(size);
    djt_uniforms(lambda, s.nx, &rng, -1, 1);
    dj_linearJvp(out, &s.linear, s.m, s.dx, s.du, s.scratch);
    for (size_t i = 0; i < nx; i++) gx[i] = 1;
    for (size_t i = 0; i < nu; i++) gu[i] = 1;
    dj_linearVjp(gx, gu, &s.linear, s.m, lambda, s.scratch);
    double forward = djt_dot(lambda, out, s.nx), back = 0;
    for (size_t i = 0; i < nx; i++) back += (gx[i] - 1) * s.dx[i];
    for (size_t i = 0; i < nu; i++) back += (gu[i] - 1) * s.du[i];
    djt_near(back, forward, 1e-11 * (1 + djt_largest(gx, s.nx)));
    djLinear copy;
    memory[size] = 7;
    dj_copyLinear(&copy, memory, s.m, &s.linear);
    assert_true(memory[size] == 7);
    for (int i = 0; i < 3; i++) assert_true(dj_step(s.m, s.d) >= 0);
    assert_int_equal(dj_linearizeStep(&s.linear, s.m, s.d), DJ_OK);
    for (int i = 0; i < s.m->nv; i++) s.linear.turn[i] = NAN;
    for (int i = 0; i < s.m->na; i++) s.linear.act_by_act[i] = NAN;
    for (int i = 0; i < s.m->nu; i++) s.linear.act_by_ctrl[i] = NAN;
    dj_linearVjp(other, NULL, &copy, s.m, lambda, s.scratch);
    dj_linearVjp(NULL, other + nx, &copy, s.m, lambda, s.scratch);
    for (size_t i = 0; i < nx; i++) djt_near(other[i], gx[i] - 1, 1e-12 * (1 + fabs(gx[i])));
    for (size_t i = 0; i < nu; i++) djt_near(other[nx + i], gu[i] - 1, 1e-12 * (1 + fabs(gu[i])));
    dj_linearJvp(other, &copy, s.m, s.dx, s.du, s.scratch);
    for (size_t i = 0; i < nx; i++) assert_true(other[i] == out[i]);
    double* const list[] = {out, lambda, gx, gu, other, memory};
    for (int k = 0; k < 6; k++) free(list[k]);
    closeStep(&s);
  }
}

// exp(-psi) and J_r(psi) on rotations, by quaternions and their differences; nothing elsewhere.
static void testTurns(void) {
  djRng rng = {30};
  int rotations = 0;
  for (int t = 0; t < 20; t++) {
    djModel* m = djt_randomModel(&rng, 4, 0);
    size_t nv = (size_t)m->nv;
    double *psi = djt_room(nv), *y = djt_room(nv), *z = djt_room(nv), *out[6];
    djt_uniforms(psi, m->nv, &rng, -1.5, 1.5);
    djt_uniforms(y, m->nv, &rng, -1, 1);
    djt_uniforms(z, m->nv, &rng, -1, 1);
    void (*const map[3])(double*, const djModel*, const double*, bool) = {
        dj_turnVector, dj_pullVector, dj_pushVector};
    for (int k = 0; k < 6; k++) {
      out[k] = djt_room(nv);
      memcpy(out[k], k % 2 ? z : y, nv * sizeof(double));
      map[k / 2](out[k], m, psi, k % 2);
    }
    for (int k = 0; k < 6; k += 2) {   // the second is the transpose of the first
      djt_near(djt_dot(z, out[k], m->nv), djt_dot(y, out[k + 1], m->nv), 1e-12);
    }
    map[1](out[4], m, psi, false);   // pulling undoes pushing
    for (int i = 0; i < m->nv; i++) djt_near(out[4][i], y[i], 1e-12);
    map[2](out[4], m, psi, false);
    for (int i = 0; i < m->nv; i++) {
      int d = dj_rotationDof(m, m->dof_jnt[i]);
      if (d < 0 || i < d) {
        for (int k = 0; k < 6; k++) assert_true(out[k][i] == (k % 2 ? z : y)[i]);
      } else if (i == d) {
        double e = 1e-5, turned[3];
        djVec3 w = dju_load3(psi + d), v = dju_load3(y + d);
        djQuat up = dju_expQuat(dju_madd3(w, e, v)), down = dju_expQuat(dju_madd3(w, -e, v));
        djVec3 J = dju_scale3(1 / (2 * e), dju_logQuat(dju_mulQuat(dju_conj(down), up)));
        dju_store3(turned, J);
        for (int r = 0; r < 3; r++) djt_near(out[4][d + r], turned[r], 1e-8);
        dju_store3(turned, dju_mulMtV(dju_quatToMat(dju_expQuat(w)), v));
        for (int r = 0; r < 3; r++) djt_near(out[0][d + r], turned[r], 1e-13);
        rotations++;
      }
    }
    for (int k = 0; k < 6; k++) free(out[k]);
    free(psi);
    free(y);
    free(z);
    dj_deleteModel(m);
  }
  assert_true(rotations > 10);
}

DJT_MAIN_ROWS(djt_byAll(testJvp), djt_byAll(testVjp), djt_test(testTurns))
