// The position-level step without contact: gradient and Hessian of its energy, and momentum; and
// the derivatives of a step, of every integrator.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/states.h"
#include "common/test.h"
#include "common/worst.h"

#include "common/step_energy.h"

// Gradient against differences of the energy, Hessian against differences of the gradient in
// exponential coordinates: symmetric part of d gradient.
static void testGradientAndHessian(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  djRng rng = {1};
  double worst_g = 0, worst_H = 0;
  for (int trial = 0; trial < 40; trial++) {
    int features = DJT_ALL | DJT_TOTAL | (trial % 2 ? DJT_TENDONS : 0) |
                   (trial % 4 == 3 ? DJT_WRAPS : 0);
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), features);
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 2);
    m->opt.timestep = 0.01;
    m->opt.integrator = integrator;
    if (integrator == DJ_EULER) djt_dropPathArmature(m);
    assert_true(dj_solveStep(m, d) >= 0);
    int nv = m->nv;
    double* mem = calloc((size_t)(8 * nv + 2 * nv * nv + 2 * m->nq), sizeof(double));
    double *g = mem, *fd = g + nv, *e = fd + nv, *gp = e + nv;
    double *H = gp + nv, *Hfd = H + nv * nv, *q = Hfd + nv * nv, *qe = q + m->nq;
    djWork* w = d->work;
    for (int i = 0; i < nv; i++) e[i] = djt_uniform(&rng, -0.05, 0.05);
    dj_integratePos(q, m, w->now.q, e, 1);
    energyAt(g, m, d, q);
    dj_columns(H, nv, 1, &w->H, 0, nv);
    for (int i = 0; i < nv; i++) {
      for (int j = 0; j < i; j++) H[j * nv + i] = H[i * nv + j];
    }
    for (int i = 0; i < nv; i++) {
      memset(e, 0, (size_t)nv * sizeof(double));
      e[i] = 1;
      // five-point differences
      static const double point[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
      double step = 1e-5;
      fd[i] = 0;
      for (int k = 0; k < 4; k++) {
        double c = weight[k] / (12 * step);
        dj_integratePos(qe, m, q, e, point[k] * step);
        fd[i] += c * energyAt(gp, m, d, qe);
        for (int j = 0; j < nv; j++) Hfd[i * nv + j] += c * gp[j];
      }
    }
    // sym of the differences: a moved frame adds an antisymmetric part within one rotation
    for (int i = 0; i < nv; i++) {
      for (int j = 0; j < i; j++) {
        double s = 0.5 * (Hfd[i * nv + j] + Hfd[j * nv + i]);
        Hfd[i * nv + j] = Hfd[j * nv + i] = s;
      }
    }
    worst_g = djt_worst(worst_g, djt_relative(g, fd, nv));
    worst_H = djt_worst(worst_H, djt_relative(H, Hfd, nv * nv));
    g[nv / 2] *= 1.001;   // a wrong gradient must show
    if (fabs(g[nv / 2]) > 0.1 * fabs(g[0])) assert_true(djt_relative(g, fd, nv) > 1e-6);
    free(mem);
    djt_delete(m, d);
  }
  print_message("gradient %.1e, Hessian %.1e\n", worst_g, worst_H);
  assert_true(worst_g < 1e-6);
  assert_true(worst_H < 1e-6);
}

// State after one step from x0 (+) dx with controls u + du, as a tangent at the base result.
static void stepFrom(double* out, const djModel* m, djData* d, const double* q0, const double* v0,
                     const double* a0, const double* u0, const double* dx, const double* du,
                     double s, const double* qref) {
  int nv = m->nv, na = m->na;
  dj_integratePos(d->qpos, m, q0, dx, s);
  for (int i = 0; i < nv; i++) d->qvel[i] = v0[i] + s * dx[nv + i];
  for (int i = 0; i < na; i++) d->act[i] = a0[i] + s * dx[2 * nv + i];
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = u0[i] + s * du[i];
  assert_int_equal(dj_step(m, d), DJ_OK);
  dj_differentiatePos(out, m, 1, qref, d->qpos);
  memcpy(out + nv, d->qvel, (size_t)nv * sizeof(double));
  memcpy(out + 2 * nv, d->act, (size_t)na * sizeof(double));
}

static void testTransition(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  djRng rng = {2};
  double worst = 0;
  for (int trial = 0; trial < 40; trial++) {
    int features = DJT_ALL | DJT_TOTAL | (trial % 2 ? DJT_TENDONS : 0) |
                   (trial % 4 == 3 ? DJT_WRAPS : 0);
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), features);
    m->opt.integrator = integrator;
    if (integrator == DJ_EULER) {
      djt_dropPathArmature(m);
      djt_dropRows(m);
    }
    djData* d = makeData(m);
    m->opt.timestep = 0.01;
    d->work->refinement_steps = 5;
    djt_randomState(&rng, m, d, 2);
    int nv = m->nv, na = m->na, nu = m->nu, nx = 2 * nv + na;
    size_t total = (size_t)(nx * nx + nx * nu + 8 * nx + 2 * nu + 2 * m->nq + nv + na);
    double* mem = calloc(total + 8, sizeof(double));
    double *A = mem, *B = A + nx * nx, *dx = B + nx * nu, *du = dx + nx, *y = du + nu;
    double *p = y + nx, *n = p + nx, *p2 = n + nx, *n2 = p2 + nx, *q0 = n2 + nx;
    double *qref = q0 + m->nq, *v0 = qref + m->nq, *a0 = v0 + nv, *u0 = a0 + na;
    memcpy(q0, d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v0, d->qvel, (size_t)nv * sizeof(double));
    memcpy(a0, d->act, (size_t)na * sizeof(double));
    memcpy(u0, d->ctrl, (size_t)nu * sizeof(double));
    assert_int_equal(djd_transition(m, d, A, B), DJ_OK);
    assert_memory_equal(q0, d->qpos, (size_t)m->nq * sizeof(double));
    assert_int_equal(dj_step(m, d), DJ_OK);
    memcpy(qref, d->qpos, (size_t)m->nq * sizeof(double));
    for (int i = 0; i < nx; i++) dx[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nu; i++) du[i] = djt_uniform(&rng, -1, 1);
    // velocities after the step are h times less sensitive: perturb positions less
    for (int i = 0; i < nv; i++) dx[i] *= 0.01;
    for (int i = 0; i < nx; i++) y[i] = NAN;   // it is written, whatever it held
    assert_int_equal(djd_stepJvp(m, d, y, dx, du), DJ_OK);
    double s = integrator == DJ_EULER ? 2e-5 : 2e-4;   // within the corners of clamps
    stepFrom(p, m, d, q0, v0, a0, u0, dx, du, s, qref);
    stepFrom(n, m, d, q0, v0, a0, u0, dx, du, -s, qref);
    stepFrom(p2, m, d, q0, v0, a0, u0, dx, du, 2 * s, qref);
    stepFrom(n2, m, d, q0, v0, a0, u0, dx, du, -2 * s, qref);
    double size = 1e-300, diff = 0, product = 0;
    for (int i = 0; i < nx; i++) {
      double fd = (8 * (p[i] - n[i]) - (p2[i] - n2[i])) / (12 * s), sum = 0;
      for (int j = 0; j < nx; j++) sum += A[i * nx + j] * dx[j];
      for (int j = 0; j < nu; j++) sum += B[i * nu + j] * du[j];
      size = djt_worst(size, fabs(fd));
      diff = djt_worst(diff, fabs(fd - sum));
      product = djt_worst(product, fabs(y[i] - sum));
    }
    worst = djt_worst(worst, diff / size);
    assert_true(product < 1e-10 * size);
    free(mem);
    djt_delete(m, d);
  }
  print_message("%s: transition %.1e\n", dj_integratorName(integrator), worst);
  assert_true(worst < 1e-6);
}

// lambda . (A dx + B du) = (A^T lambda) . dx + (B^T lambda) . du
static void testVectorProducts(void** state) {
  const djIntegrator integrator = *(const djIntegrator*)*state;
  djRng rng = {3};
  for (int trial = 0; trial < 20; trial++) {
    int features = DJT_ALL | DJT_TOTAL | (trial % 2 ? DJT_TENDONS : 0) |
                   (trial % 4 == 3 ? DJT_WRAPS : 0);
    djModel* m = djt_randomModel(&rng, 1 + djt_integer(&rng, 6), features);
    m->opt.integrator = integrator;
    if (integrator == DJ_EULER) djt_dropPathArmature(m);
    djData* d = makeData(m);
    djt_randomState(&rng, m, d, 2);
    assert_int_equal(dj_step(m, d), DJ_OK);
    int nx = dj_tangentSize(m), nu = m->nu;
    double* mem = calloc((size_t)(4 * nx + 2 * nu), sizeof(double));
    double *dx = mem, *du = dx + nx, *l = du + nu, *y = l + nx, *gx = y + nx, *gu = gx + nx;
    for (int i = 0; i < nx; i++) dx[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nx; i++) l[i] = djt_uniform(&rng, -1, 1);
    for (int i = 0; i < nu; i++) du[i] = djt_uniform(&rng, -1, 1);
    assert_int_equal(djd_stepJvp(m, d, y, dx, du), DJ_OK);
    assert_int_equal(djd_stepVjp(m, d, gx, gu, l), DJ_OK);
    double left = 0, right = 0, size = 0;
    for (int i = 0; i < nx; i++) left += l[i] * y[i];
    for (int i = 0; i < nx; i++) right += gx[i] * dx[i];
    for (int i = 0; i < nu; i++) right += gu[i] * du[i];
    for (int i = 0; i < nx; i++) size += fabs(l[i] * y[i]);
    assert_true(fabs(left - right) < 1e-10 * size);
    free(mem);
    djt_delete(m, d);
  }
}

// A free body by `position`: linear momentum to rounding; spin about a principal axis decays as
// w = w0/sqrt(1 + 2 h w0^2 t).
static void testMomentum(void) {
  Scene* s = newScene(1);
  djBodyDef* body = &s->body[addBody(s, 0, DJ_FREE, 0, 0, 0, 2, 0)];
  for (int k = 0; k < 3; k++) body->inertia[k] = 0.02 * pow(1.5, k);
  djOption* o = &s->def.option;
  o->gravity[2] = 0;
  o->contact = DJ_CONTACT_NONE;
  o->timestep = 0.002;
  o->integrator = DJ_POSITION;
  o->tolerance = 1e-9;
  djModel* m = takeScene(s);
  djData* d = makeData(m);
  double w0 = 4;
  d->qvel[0] = 1;
  d->qvel[2] = -0.5;
  d->qvel[5] = w0;
  for (int k = 0; k < 1000; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(fabs(d->qvel[0] - 1) < 1e-11 && fabs(d->qvel[2] + 0.5) < 1e-11);
  double expected = w0 / sqrt(1 + 2 * 0.002 * w0 * w0 * d->time);
  print_message("spin %.6f, predicted %.6f\n", d->qvel[5], expected);
  assert_true(fabs(d->qvel[5] - expected) < 0.1 * (w0 - expected));
  djt_delete(m, d);
}

DJT_MAIN_ROWS(djt_by(testGradientAndHessian, DJ_POSITION), djt_by(testGradientAndHessian, DJ_EULER),
              djt_test(testMomentum), djt_byThree(testTransition), djt_byThree(testVectorProducts))
