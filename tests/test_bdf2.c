// bdf2: the history of its state, and the step that begins without one.

#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/receding_case.h"
#include "common/states.h"
#include "common/test.h"
#include "integrate/inverse.h"
#include "integrate/method.h"
#include "integrate/path_rate.h"

#include <dijoco/csv.h>

// Derivatives of the step without a history: SDIRK2, of two stages.
static void testStart(void** state) {
  djt_methodRobotsAfter(djt_methodOf(state), 0);
  djt_methodContactAfter(djt_methodOf(state), 2, true);
}

// A state that is written by hand begins without history, and so does another timestep.
static void testDropped(void** state) {
  djModel* m = djt_chain(true);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  djError err;
  assert_int_equal(dj_tangentSize(m), 4 * m->nv);
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  d->qvel[0] += 1e-9;
  assert_false(dj_hasHistory(m, d));
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_true(dj_hasHistory(m, d));
  djOption option = m->opt;
  option.timestep = 0.005;
  assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
  assert_false(dj_hasHistory(m, d));
  // another integrator, in between
  for (int k = 0; k < 2; k++) {
    option.integrator = k ? djt_methodOf(state) : DJ_BDF1;
    assert_int_equal(dj_setOption(m, &option, &err), DJ_OK);
    assert_false(dj_hasHistory(m, d));
    assert_int_equal(dj_tangentSize(m), k ? 4 * m->nv : 2 * m->nv);
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_string_equal(d->work->method->name, k ? "sdirk2" : "bdf1");
  }
  assert_true(dj_hasHistory(m, d));
  assert_int_equal(dj_resetData(m, d), DJ_OK);
  assert_false(dj_hasHistory(m, d));
  for (int i = 0; i < dj_historySize(m); i++) assert_true(d->history[i] == 0);
  // without it a step is SDIRK2's, and its derivatives by the history are zero
  int nx = dj_tangentSize(m), nv = m->nv;
  double* A = djt_room((size_t)nx * (size_t)nx);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  for (int r = 0; r < nx; r++) {
    for (int c = 2 * nv; c < nx; c++) assert_true(A[r * nx + c] == 0);
  }
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(djd_transition(m, d, A, NULL), DJ_OK);
  double sum = 0;
  for (int r = 0; r < nv; r++) {
    for (int c = 2 * nv; c < nx; c++) sum += fabs(A[r * nx + c]);
  }
  assert_true(sum > 0.1);
  free(A);
  djt_delete(m, d);
}

// The numbers of the state have names, and are the columns of a trajectory.
static void testNames(void** state) {
  static const char* const name[] = {"time",        "qpos[0]",    "qvel[0]",
                                     "has_history", "history[0]", "history[1]"};
  Scene* s = newScene(1);
  addBody(s, 0, DJ_SLIDE, 0, 0, 0, 1, 0.2);
  djModel* m = sceneModel(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  char text[32];
  assert_int_equal(dj_stateSize(m), 6);
  for (int i = 0; i < 6; i++) assert_string_equal(dj_stateName(text, m, i), name[i]);
  assert_string_equal(dj_stateName(text, m, 6), "");
  d->qvel[0] = 0.5;
  assert_int_equal(dj_step(m, d), DJ_OK);
  double row[6], read[6];
  assert_int_equal(dj_getState(row, m, d), DJ_OK);
  assert_true(row[3] == 1 && row[4] == 0 && row[5] == 0.5);
  const char* path = "two_step.csv";
  djCsv* csv;
  assert_int_equal(dj_openStateCsv(&csv, m, path, NULL), DJ_OK);
  dj_writeStateCsv(csv, m, row);
  assert_int_equal(dj_closeCsv(csv, NULL), DJ_OK);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char line[200];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "time,qpos[0],qvel[0],has_history,history[0],history[1]\n");
  assert_non_null(fgets(line, sizeof line, file));
  assert_int_equal(dj_parseNumbers(read, 6, line, NULL), DJ_OK);
  assert_memory_equal(read, row, sizeof row);
  fclose(file);
  remove(path);
  djt_delete(m, d);
  freeScene(s);
}

// An impact that is taken in parts begins and ends without history, and has its derivatives.
static void testImpact(void** state) {
  Scene* s = newScene(2);
  for (int b = 1; b < 3; b++) {
    addBody(s, 0, DJ_FREE, b == 1 ? 0 : 0.33, 0, b == 1 ? 0.02 : 0, 1, 0.05);
    addGeom(s, b, DJ_SPHERE, 0.05, 0, 0);
  }
  s->def.option.support = 0.02;
  s->def.option.stiffness = 1e-2;
  s->def.option.friction_eps = 1e-2;
  djModel* m = sceneModel(s);
  freeScene(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.005);
  d->qvel[0] = 14;
  d->qvel[6] = -14;
  d->qvel[10] = 1;
  assert_int_equal(dj_step(m, d), DJ_OK);
  bool keeps = dj_historySize(m) > 0;
  assert_int_equal(dj_hasHistory(m, d), keeps);
  double error = djt_transitionError(m, d, 1e-6, 0);
  djt_below("transition through an impact", error, 1e-5);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->work->npart, 3);
  assert_false(dj_hasHistory(m, d));
  for (int i = 0; i < dj_historySize(m); i++) assert_true(d->history[i] == 0);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_hasHistory(m, d), keeps);
  djt_delete(m, d);
}

// Windows that move on through a task start with the history of what was executed.
static void testReceding(void** state) {
  const char* name = dj_integratorName(djt_methodOf(state));
  for (int iterations = 0; iterations < 3; iterations += 2) {
    DesignCase c;
    djt_openPushBy(&c, name, 12, "\"ctrl\":[2,0.2],\"variables\":[{\"name\":\"ctrl\"}]");
    djOptimizer how = dj_defaultOptimizer();
    how.iterations = iterations;
    how.receding = (djReceding){.horizon = 6, .apply = 3};
    djRecedingRun* run = djt_recede(&c, &how, NULL);
    djt_checkReplay(&c, run);
    if (iterations == 0) { // the last window goes on from step 9 with the same controls
      double qpos[7 * 9];
      assert_int_equal(djd_tapeStates(qpos, NULL, NULL, c.m, run->window->tape), DJ_OK);
      djt_sameBits(qpos, run->qpos + 9 * 9, 4 * 9);
    }
    djd_deleteReceding(run);
    djt_closeDesign(&c);
  }
}

// Contact forces by all of the state at the step's start.
static void testContactForces(void** state) {
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int ball = addBody(s, 0, DJ_FREE, 0, 0, 0.104, 1, 0.1);
  addGeom(s, ball, DJ_SPHERE, 0.1, 0, 0);
  s->def.option.stiffness_scale = 3e-5; // soft enough for differences
  s->def.option.support_scale = 2;
  djModel* m = sceneModel(s);
  freeScene(s);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.004);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = i == 2 ? -0.5 : 0.2 * sin(3.0 * i);
  assert_true(dj_step(m, d) >= 0);
  d->work->refinement_steps = 5;
  int nx = dj_tangentSize(m), npair;
  double *x = djt_room((size_t)dj_stateSize(m)), *dx = djt_room((size_t)nx);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_true(dj_step(m, d) >= 0);
  npair = d->npair;
  double* by = djt_room((size_t)npair * (size_t)(nx + m->nu));
  assert_int_equal(djd_lastContact(m, d, NULL, NULL, by), DJ_OK);
  double worst = 0, scale = 0, history = 0;
  for (int c = 0; c < nx; c++) {
    double f = 0, e = 1e-6;
    for (int side = -2; side <= 2; side++) {
      if (side == 0) continue;
      memset(dx, 0, (size_t)nx * sizeof(double));
      dx[c] = 1;
      djt_moveState(d, m, x, side * e, dx);
      assert_true(dj_step(m, d) >= 0);
      assert_int_equal(d->npair, npair);
      double weight = side == 1 ? 8 : side == -1 ? -8 : side == 2 ? -1 : 1;
      f += weight * d->pair[0].normal_force / (12 * e);
    }
    scale = fmax(scale, fabs(f));
    if (c >= 2 * m->nv) history = fmax(history, fabs(f));
    worst = djt_worst(worst, fabs(f - by[c]));
  }
  print_message("contact force: %.1e of %.1e, by the history %.1e\n", worst, scale, history);
  assert_true(worst < 1e-4 * scale && history > 1e-2 * scale);
  free(x);
  free(dx);
  free(by);
  djt_delete(m, d);
}

// ---- along paths
// ---------------------------------------------------------------------------------

// A tree of all joints with springs and dampers, tendons through sites and cranks on them.
static djModel* pathModel(djRng* rng, int nbody, int more) {
  djModel* m = djt_randomModel(rng, nbody, DJT_SPRINGS | DJT_TENDONS | more);
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_tendon[i] >= 0) m->actuator_armature[i] = 0; // not along paths
  }
  for (int t = 0; t < m->ntendon; t++) m->tendon_armature[t] = 0;
  return m;
}

static void testPaths(void) {
  djRng rng = {41};
  double worst = 0;
  for (int trial = 0; trial < 12; trial++) {
    djModel* m = pathModel(&rng, 1 + trial % 5, DJT_ACTUATORS | DJT_LOSS | DJT_LIMITS);
    for (int kind = 0; kind < 3; kind++) {
      djData* d = djt_openMethod(m, kind ? DJ_BDF2 : DJ_BDF1, 0.005);
      djt_randomState(&rng, m, d, 1);
      for (int k = 0; k < (kind == 1 ? 0 : 3); k++) assert_true(dj_step(m, d) >= 0);
      worst = djt_worst(worst, djt_transitionError(m, d, 2e-5, 0));
      dj_deleteData(d);
    }
    dj_deleteModel(m);
  }
  djt_below("transition with paths", worst, 5e-6);
}

static void testPathParams(void) {
  static const char* const name[] = {"site/#0/pos",       "site/#1/pos",      "body/#1/pos",
                                     "joint/#0/damping",  "body/#1/quat",     "tendon/#0/stiffness",
                                     "tendon/#0/damping", "tendon/#1/damping"};
  enum { N = sizeof name / sizeof name[0], T = 5 };
  djRng rng = {12};
  double worst = 0;
  for (int trial = 0; trial < 8; trial++) {
    djModel* m = pathModel(&rng, 2 + trial % 3, DJT_ACTUATORS);
    djIntegrator integrator = trial % 2 ? DJ_BDF1 : DJ_BDF2;
    for (int t = 0; t < m->ntendon; t++) m->tendon_damping[t] += 0.3; // away from 0
    djtRun run = {.m = m, .d = djt_openMethod(m, integrator, 0.01)};
    djError err;
    djt_randomState(&rng, m, run.d, 1);
    assert_int_equal(djd_makeTape(&run.tape, m, T, &err), DJ_OK);
    double *q0 = djt_room((size_t)m->nq), *v0 = djt_room((size_t)m->nv);
    double* ctrl = djt_room((size_t)T * (size_t)m->nu);
    memcpy(q0, run.d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(v0, run.d->qvel, (size_t)m->nv * sizeof(double));
    djLossTerm loss[2] = {{.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1},
                          {.type = DJ_LOSS_QVEL, .id = 0, .target = {0.2}, .weight = 0.1}};
    run.r = (djRollout){.horizon = T,
                        .qpos0 = q0,
                        .qvel0 = v0,
                        .ctrl = ctrl,
                        .nloss = 1,
                        .loss = loss,
                        .refinement_steps = 6};
    djParam param[N];
    int n = 0;
    for (int k = 0; k < (int)N; k++) n += dj_paramId(&param[n], m, name[k], NULL) == DJ_OK;
    worst = djt_worst(worst, djt_runErrors(&run, param, n, 1e-3, 0, 1e-3));
    free(q0);
    free(v0);
    free(ctrl);
    djd_deleteTape(run.tape);
    djt_delete(m, run.d);
  }
  djt_below("parameters with paths", worst, 3e-6);
}

// ---- order
// ---------------------------------------------------------------------------------------

// q and v after `time` in so many steps.
static void runFor(double* end, const djModel* m, const double* start, double time, int steps) {
  djModel* own = djt_copy(m);
  djData* d = djt_openMethod(own, m->opt.integrator, time / steps);
  d->work->refinement_steps = 5;
  memcpy(d->qpos, start, (size_t)m->nq * sizeof(double));
  memcpy(d->qvel, start + m->nq, (size_t)m->nv * sizeof(double));
  for (int k = 0; k < steps; k++) assert_true(dj_step(own, d) >= 0);
  assert_int_equal(d->stats.fallback_steps, 0);
  memcpy(end, d->qpos, (size_t)m->nq * sizeof(double));
  memcpy(end + m->nq, d->qvel, (size_t)m->nv * sizeof(double));
  djt_delete(own, d);
}

static double apart(const djModel* m, const double* a, const double* b) {
  double sum = 0, *v = djt_room((size_t)m->nv);
  dj_differentiatePos(v, m, 1, a, b);
  for (int i = 0; i < m->nv; i++) {
    double dv = a[m->nq + i] - b[m->nq + i];
    sum += v[i] * v[i] + dv * dv;
  }
  free(v);
  return sqrt(sum);
}

// Slope of the error at `time` over n, 2 n and 4 n steps.
static double slopeOf(djModel* m, const double* start, double time, int n) {
  size_t size = (size_t)m->nq + (size_t)m->nv;
  double* end[3] = {djt_room(size), djt_room(size), djt_room(size)};
  for (int k = 0; k < 3; k++) runFor(end[k], m, start, time, n << k);
  double slope = log2(apart(m, end[0], end[1]) / apart(m, end[1], end[2]));
  for (int k = 0; k < 3; k++) free(end[k]);
  return slope;
}

// The error of one step over h and h/2, by many of the same method over either.
static double slopeOfStep(djModel* m, const double* start, double h) {
  size_t size = (size_t)m->nq + (size_t)m->nv;
  double *one = djt_room(size), *many = djt_room(size), error[2];
  for (int k = 0; k < 2; k++) {
    runFor(one, m, start, h / (1 << k), 1);
    runFor(many, m, start, h / (1 << k), 40);
    error[k] = apart(m, one, many);
  }
  free(one);
  free(many);
  return log2(error[0] / error[1]);
}

static void testTrees(void) {
  djRng rng = {46};
  int close = 0;
  for (int trial = 0; trial < 6; trial++) {
    djModel* m = pathModel(&rng, 2 + trial % 4, 0);
    djData* d = djt_openMethod(m, DJ_BDF2, 0.01);
    djt_randomState(&rng, m, d, 0.5);
    double* start = djt_room((size_t)m->nq + (size_t)m->nv);
    memcpy(start, d->qpos, (size_t)m->nq * sizeof(double));
    memcpy(start + m->nq, d->qvel, (size_t)m->nv * sizeof(double));
    dj_deleteData(d);
    double local = slopeOfStep(m, start, 1e-3), slope[2];
    slope[1] = slopeOf(m, start, 0.1, 80);
    djOption option = m->opt;
    option.integrator = DJ_BDF1;
    assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
    slope[0] = slopeOf(m, start, 0.1, 80);
    print_message("order: bdf1 %.3f, bdf2 %.3f, one step of SDIRK2 %.3f\n", slope[0], slope[1],
                  local);
    assert_true(fabs(slope[0] - 1) < 0.1);
    assert_true(fabs(slope[1] - 2) < 0.1);
    assert_true(local > 2.9);
    close += local < 3.1; // above it where leading terms are small by chance
    free(start);
    dj_deleteModel(m);
  }
  assert_true(close >= 5);
}

// A mass on a damped spring: the recurrence of the equations, solved by hand in long double.
static void testSpring(void) {
  const double h = 0.01, m0 = 1.3, k = 40, c = 0.7;
  Scene* s = newScene(1);
  addBody(s, 0, DJ_SLIDE, 0, 0, 0, m0, 0.2);
  s->joint[0].stiffness = k;
  s->joint[0].damping = c;
  s->joint[0].axis[0] = 1;
  s->joint[0].axis[2] = 0;
  djModel* m = sceneModel(s);
  freeScene(s);
  for (int second = 0; second < 2; second++) {
    djData* d = djt_openMethod(m, second ? DJ_BDF2 : DJ_BDF1, h);
    djOption option = m->opt;
    option.tolerance = 1e-15;
    assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
    long double q = 0.3L, v = -0.2L, q0 = 0, v0 = 0, worst = 0;
    d->qpos[0] = 0.3;
    d->qvel[0] = -0.2;
    for (int step = 0; step < 200; step++) {
      assert_true(dj_step(m, d) >= 0);
      // m a = -k q+ - c v+, with q+ = Q + b v+ and a = (v+ - V)/b
      long double Q = q, V = v, b = h;
      if (second && step == 0) {
        long double alpha = 1 - sqrtl(0.5L), rest = (1 - alpha) * h;
        b = alpha * h;
        long double va = (m0 * v / b - k * q) / (m0 / b + c + k * b);
        Q = q + rest * va;
        V = v + rest * (va - v) / b;
      } else if (second) {
        Q = (4 * q - q0) / 3;
        V = (4 * v - v0) / 3;
        b = 2 * (long double)h / 3;
      }
      q0 = q;
      v0 = v;
      v = (m0 * V / b - k * Q) / (m0 / b + c + k * b);
      q = Q + b * v;
      worst = fmaxl(worst, fmaxl(fabsl(q - d->qpos[0]), fabsl(v - d->qvel[0])));
    }
    print_message("spring: %.1Le\n", worst);
    assert_true(worst < 1e-12L);
    dj_deleteData(d);
  }
  dj_deleteModel(m);
}

// A ball that turns about its centre, damped, and rubs on the ground that holds it: its equations
// by rates of turns, as written.
static void testTurns(void) {
  const double h = 0.01, damping = 0.02, r = 0.3, kn = 500, kt = 3, depth = 0.01;
  const double inertia[3] = {0.05, 0.08, 0.11};
  Scene* s = newScene(1);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  int body = addBody(s, 0, DJ_BALL, 0, 0, r - depth, 1, r);
  addGeom(s, body, DJ_SPHERE, r, 0, 0);
  memcpy(s->body[body].inertia, inertia, sizeof inertia);
  s->joint[0].damping = damping;
  s->def.option.contact = DJ_PENALTY;
  djModel* m = sceneModel(s);
  freeScene(s);
  static const char* const name[] = {"contact/kn", "contact/kt"};
  for (int k = 0; k < 2; k++) {
    djParam p = djt_param(m, name[k]);
    assert_int_equal(dj_setParam(m, &p, k ? &kt : &kn, NULL), DJ_OK);
  }
  djData* d = djt_openMethod(m, DJ_BDF2, h);
  double q[3][4], v[3][3], worst = 0, most = 0;
  for (int i = 0; i < 3; i++) d->qvel[i] = 4 * sin(2.0 * i + 1);
  for (int step = 0; step < 30; step++) {
    memcpy(q[step % 3], d->qpos, sizeof q[0]);
    memcpy(v[step % 3], d->qvel, sizeof v[0]);
    assert_int_equal(dj_step(m, d), DJ_OK);
    if (step == 0) continue;
    const double *q0 = q[(step + 2) % 3], *v0 = v[(step + 2) % 3], *v1 = v[step % 3];
    double before[3], now[3], a[3], Iv[3];
    dj_differentiatePos(before, m, 1, q0, q[step % 3]);
    dj_differentiatePos(now, m, 1, q[step % 3], d->qpos);
    for (int i = 0; i < 3; i++) {
      double rate = (3 * now[i] - before[i]) / (2 * h);
      worst = djt_worst(worst, fabs(rate - d->qvel[i]));
      a[i] = (3 * rate - 4 * v1[i] + v0[i]) / (2 * h);
      Iv[i] = inertia[i] * rate;
    }
    djVec3 w = dju_load3(d->qvel), spin = dju_cross3(w, dju_load3(Iv));
    djMat3 R = dju_quatToMat(dju_loadQuat(d->qpos));
    djVec3 arm = {0, 0, -r}, u = dju_cross3(dju_mulMV(R, w), arm);
    djVec3 drag = dju_scale3(-fmin(kt, kn * depth / dju_norm3(u)), u);
    djVec3 torque = dju_mulMtV(R, dju_cross3(arm, drag));
    const double t[3] = {torque.x, torque.y, torque.z}, x[3] = {spin.x, spin.y, spin.z};
    for (int i = 0; i < 3; i++) {
      most = fmax(most, fabs(t[i]));
      worst = djt_worst(worst, fabs(inertia[i] * a[i] + x[i] + damping * d->qvel[i] - t[i]));
    }
  }
  double error = djt_transitionError(m, d, 2e-5, 0);
  print_message("turns: %.1e of %.1e, transition %.1e\n", worst, most, error);
  assert_true(worst < 1e-10 && most > 0.1 && error < 1e-7);
  djt_delete(m, d);
}

// ---- what a state has
// ------------------------------------------------------------------------------

// Where Newton's method finds no solution the step is SDIRK2's, never that of `position`.
static void testRetried(void** state) {
  djModel* m = djt_chain(true);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.02);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 2 * sin(i + 1.0);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(d->work->method->name, "sdirk2");
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(d->work->method->name, "bdf2");
  assert_int_equal(d->stats.fallback_steps, 0);
  assert_int_equal(d->stats.attempts, 1);
  assert_true(d->stats.evaluations >= d->stats.iterations && d->stats.iterations > 0);
  djOption option = m->opt;
  option.max_iterations = 1;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  assert_int_equal(dj_step(m, d), DJ_NOT_CONVERGED); // neither has one: the best is kept
  assert_string_equal(d->work->method->name, "sdirk2");
  assert_int_equal(d->stats.fallback_steps, 1);
  assert_int_equal(d->stats.unconverged_steps, 1);
  assert_int_equal(d->stats.attempts, 2);
  assert_true(dj_hasHistory(m, d));
  option.max_iterations = 100;
  assert_int_equal(dj_setOption(m, &option, NULL), DJ_OK);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_string_equal(d->work->method->name, "bdf2");
  djt_delete(m, d);
}

// A run that starts with a history goes on to the last bit, and has derivatives by it.
static void testStartHistory(void** state) {
  enum { T = 4 };
  djModel* m = djt_chain(true);
  djData* d = djt_openMethod(m, djt_methodOf(state), 0.01);
  djTape* tape;
  djError err;
  int nq = m->nq, nv = m->nv;
  for (int i = 0; i < nv; i++) d->qvel[i] = 2 * sin(i + 1.0);
  for (int k = 0; k < 3; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  double q[16], v[16], hq[16], hv[16], w[16] = {0}, moved[16], by_q[16], by_v[16];
  assert_true(nq <= 16);
  memcpy(q, d->qpos, (size_t)nq * sizeof(double));
  memcpy(v, d->qvel, (size_t)nv * sizeof(double));
  assert_true(dj_getHistory(hq, hv, m, d));
  assert_int_equal(djd_makeTape(&tape, m, T, &err), DJ_OK);
  djLossTerm loss = {.type = DJ_LOSS_COM, .id = -1, .target = {0.3, 0.1, 2}, .weight = 1};
  djRollout r = {.horizon = T,
                 .qpos0 = q,
                 .qvel0 = v,
                 .history_qpos0 = hq,
                 .history_qvel0 = hv,
                 .nloss = 1,
                 .loss = &loss,
                 .refinement_steps = 6};
  djRolloutResult out = {.grad_history_qpos0 = by_q, .grad_history_qvel0 = by_v};
  assert_int_equal(djd_rolloutForward(&out, m, d, &r, tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&out, m, d, &r, tape), DJ_OK);
  double scale = 0, worst = 0;
  for (int k = 0; k < 2 * nv; k++) {
    double f = 0, e = 1e-4;
    for (int side = -2; side <= 2; side++) {
      if (side == 0) continue;
      memcpy(moved, k < nv ? hq : hv, sizeof moved);
      memset(w, 0, sizeof w);
      if (k < nv) {
        w[k] = 1;
        dj_integratePos(moved, m, hq, w, side * e);
      } else {
        moved[k - nv] += side * e;
      }
      djRollout one = r;
      one.loss_only = true;
      if (k < nv)
        one.history_qpos0 = moved;
      else
        one.history_qvel0 = moved;
      djRolloutResult at = {0};
      assert_int_equal(djd_rolloutForward(&at, m, d, &one, tape), DJ_OK);
      f += (side == 1 ? 8 : side == -1 ? -8 : side == 2 ? -1 : 1) * at.loss / (12 * e);
    }
    scale = fmax(scale, fabs(f));
    worst = djt_worst(worst, fabs(f - (k < nv ? by_q[k] : by_v[k - nv])));
  }
  print_message("by the history: %.1e of %.1e\n", worst, scale);
  assert_true(scale > 1e-3); // a dropped column is a miss
  assert_true(worst < 1e-7 * scale);
  // without it the run is another
  djRollout anew = r;
  anew.history_qpos0 = anew.history_qvel0 = NULL;
  djRolloutResult other = {.grad_history_qpos0 = by_q, .grad_history_qvel0 = by_v};
  assert_int_equal(djd_rolloutForward(&other, m, d, &anew, tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(&other, m, d, &anew, tape), DJ_OK);
  assert_true(other.loss != out.loss);
  for (int i = 0; i < nv; i++) assert_true(by_q[i] == 0 && by_v[i] == 0);
  // bad ones
  anew.history_qpos0 = hq;
  assert_int_equal(djd_rolloutForward(&other, m, d, &anew, tape), DJ_INVALID);
  hv[1] = NAN;
  anew.history_qvel0 = hv;
  assert_int_equal(djd_rolloutForward(&other, m, d, &anew, tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "history: qvel[1]"));
  djd_deleteTape(tape);
  djt_delete(m, d);
}

DJT_MAIN_ROWS(djt_by(testStart, DJ_BDF2), djt_by(testDropped, DJ_BDF2),
              djt_by(testReceding, DJ_BDF2), djt_by(testNames, DJ_BDF2),
              djt_by(testImpact, DJ_BDF2), djt_by(testContactForces, DJ_BDF2),
              djt_by(testRetried, DJ_BDF2), djt_by(testStartHistory, DJ_BDF2), djt_test(testPaths),
              djt_test(testPathParams), djt_test(testTrees), djt_test(testSpring),
              djt_test(testTurns))
