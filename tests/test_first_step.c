// The first step of scenes whose geoms overlap at the start, and those after it, by all methods and
// contact models: (A, B) against differences of steps, whatever data had done before.

#include "common/json.h"
#include "common/make_model.h"
#include "common/method_suite.h"
#include "common/states.h"
#include "common/test.h"

#include <dijoco/io.h>

static const char* const contact[] = {
    "'stiffness_scale': 3e-5, 'support_scale': 2",
    "'stiffness_scale': 3e-5, 'support_scale': 2, 'friction': 'implicit'",
    "'contact': 'implicit_surface', 'law': 'hertz',"
    " 'implicit_surface': {'stiffness_scale': 1e-2, 'damping': 2}",
    "'contact': 'implicit_surface', 'law': 'barrier',"
    " 'implicit_surface': {'stiffness_scale': 1e-2, 'support_scale': 5}",
    "'contact': 'penalty', 'kn': 2000, 'kt': 20, 'kd': 100"};
enum { NCONTACT = sizeof contact / sizeof contact[0] };

// Free bodies: a box that leans a little, a ball on it, and others on the floor as they fell.
enum { NFREE = 5 };
static const struct {
  const char* type;
  double size[3];
} shape[NFREE] = {{"box", {0.1, 0.08, 0.06}},
                  {"sphere", {0.08, 0, 0}},
                  {"capsule", {0.05, 0.08, 0}},
                  {"cylinder", {0.07, 0.08, 0}},
                  {"ellipsoid", {0.07, 0.08, 0.1}}};

// How far it reaches below its centre, z being the third row of its rotation.
static double depthOf(int i, const double z[3]) {
  const double* s = shape[i].size;
  if (i == 0) return fabs(z[0]) * s[0] + fabs(z[1]) * s[1] + fabs(z[2]) * s[2];
  if (i == 1) return s[0];
  if (i == 2) return s[0] + fabs(z[2]) * s[1];
  if (i == 3) return s[0] * sqrt(1 - z[2] * z[2]) + s[1] * fabs(z[2]);
  return sqrt(pow(z[0] * s[0], 2) + pow(z[1] * s[1], 2) + pow(z[2] * s[2], 2));
}

// Of two millimetres, or half a one of distance.
static double overlap(djRng* rng) { return djt_uniform(rng, -0.0005, 0.002); }

static void placeBodies(double qpos[7 * NFREE], djRng* rng) {
  djMat3 box = dju_eye3();
  for (int i = 0; i < NFREE; i++) {
    double* q = qpos + 7 * i;
    djt_unitQuat(q + 3, rng);
    if (i == 0) {
      djt_uniforms(q + 4, 3, rng, -0.2, 0.2);
      q[3] = sqrt(1 - q[4] * q[4] - q[5] * q[5] - q[6] * q[6]);
    }
    const djMat3 R = dju_quatToMat(dju_loadQuat(q + 3));
    if (i == 0) box = R;
    q[0] = 0.5 * i;
    q[1] = 0;
    q[2] = depthOf(i, R.m + 6) - overlap(rng);
  }
  djVec3 on;
  on.x = djt_uniform(rng, -0.05, 0.05);
  on.y = djt_uniform(rng, -0.05, 0.05);
  on.z = shape[0].size[2] + shape[1].size[0] - overlap(rng);
  dju_store3(qpos + 7, dju_add3(dju_load3(qpos), dju_mulMV(box, on)));
}

// With an arm that is driven beside them, and the start as its keyframe.
static djModel* makeModel(int which, djRng* rng) {
  char text[6000];
  double qpos[7 * NFREE], qvel[6 * NFREE + 1];
  size_t n = (size_t)snprintf(
      text, sizeof text,
      "{'dijoco_model': 1, 'option': {%s, 'friction_eps': 1e-5, 'impact_steps': 0},"
      "'bodies': [{'name': 'world'}",
      contact[which]);
#define ADD(...) n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__)
  for (int i = 0; i <= NFREE; i++) {
    ADD(", {'mass': 0.7, 'inertia': [0.003, 0.002, 0.0025], 'pos': [3, 0, 0.15]}");
  }
  ADD("], 'joints': [");
  for (int i = 0; i < NFREE; i++) ADD("{'type': 'free', 'body': %d}, ", i + 1);
  ADD("{'body': %d, 'axis': [0, 1, 0]}], 'geoms': [{'type': 'plane', 'body': 0}", NFREE + 1);
  for (int i = 0; i < NFREE; i++) {
    const double* s = shape[i].size;
    ADD(", {'type': '%s', 'size': [%g, %g, %g], 'body': %d, 'friction': [%g, 0, 0]}", shape[i].type,
        s[0], s[1], s[2], i + 1, 0.3 + 0.1 * i);
  }
  ADD(", {'type': 'box', 'size': [0.1, 0.06, 0.04], 'pos': [-0.02, 0.01, -0.03],"
      "'quat': [1, 0.2, 0.2, 0], 'body': %d}], 'actuators': [{'joint': %d}], 'keys': [{'qpos': [",
      NFREE + 1, NFREE);
  placeBodies(qpos, rng);
  djt_uniforms(qvel, 6 * NFREE + 1, rng, -0.3, 0.3);
  for (int i = 0; i < 7 * NFREE; i++) ADD("%.17g, ", qpos[i]);
  ADD("0], 'qvel': [");
  for (int i = 0; i < 6 * NFREE; i++) ADD("%.17g, ", qvel[i]);
  ADD("%.17g]}]}", qvel[6 * NFREE]);
#undef ADD
  djModel* m;
  djError err;
  if (dj_loadModelText(&m, djt_json(text), &err) != DJ_OK) fail_msg("%s\n%s", err.text, text);
  return m;
}

// The least of several steps of the differences: kinks and rounding are near in one or the other.
static double leastError(const djModel* m, djData* d, const double* x, double wrong) {
  static const double step[] = {2e-6, 4e-7, 1e-5, 8e-8};
  double least = INFINITY;
  for (int k = 0; k < 4 && least > 1e-6; k++) {
    assert_true(dj_setState(d, m, x) >= 0);
    least = fmin(least, djt_transitionError(m, d, step[k], wrong));
  }
  return least;
}

// A of the step from here, into new memory.
static double* stepOf(const djModel* m, djData* d) {
  const size_t nx = (size_t)dj_tangentSize(m);
  double* A = djt_room(nx * nx);
  d->work->refinement_steps = 5;
  assert_true(djd_transition(m, d, A, NULL) >= 0);
  return A;
}

// In new data, and in data that has run: after dj_resetKey and dj_setState, to the last bit.
static void checkAgain(const djModel* m, djData* used, const double* x) {
  const size_t size = (size_t)dj_tangentSize(m) * (size_t)dj_tangentSize(m) * sizeof(double);
  djData* fresh = djt_data(m);
  assert_true(dj_setState(fresh, m, x) >= 0);
  double* A[3] = {stepOf(m, fresh)};
  for (int k = 1; k < 3; k++) {
    for (int i = 0; i < 4; i++) assert_true(dj_step(m, used) >= 0);
    if (k == 1) assert_true(dj_setState(used, m, x) >= 0);
    if (k == 2) assert_int_equal(dj_resetKey(m, used, 0), DJ_OK);
    A[k] = stepOf(m, used);
    assert_memory_equal(A[k], A[0], size);
  }
  // qpos0 as every new data has it
  double *other, *first;
  dj_deleteData(fresh);
  assert_int_equal(dj_makeData(&fresh, m, NULL), DJ_OK);
  assert_int_equal(dj_resetData(m, used), DJ_OK);
  first = stepOf(m, fresh);
  other = stepOf(m, used);
  assert_memory_equal(other, first, size);
  dj_deleteData(fresh);
  for (int k = 0; k < 3; k++) free(A[k]);
  free(other);
  free(first);
}

static void testSteps(void** state) {
  const djIntegrator method = *(const djIntegrator*)*state;
  for (int which = 0; which < NCONTACT; which++) {
    djRng rng = {5};
    double worst[2] = {0, 0}, wrong = INFINITY;
    int pairs = 0, recovering = 0;
    for (int trial = 0; trial < 2; trial++) {
      djModel* m = makeModel(which, &rng);
      djData* d = djt_openMethod(m, method, 0.004);
      double x[200];
      assert_true(dj_stateSize(m) <= 200);
      for (int later = 0; later < 2; later++) {
        assert_int_equal(dj_resetKey(m, d, 0), DJ_OK);
        for (int k = 0; k < 3 * later; k++) assert_true(dj_step(m, d) >= 0);
        assert_int_equal(dj_getState(x, m, d), DJ_OK);
        worst[later] = djt_worst(worst[later], leastError(m, d, x, 0));
        if (later) continue;
        assert_true(dj_setState(d, m, x) >= 0);
        assert_true(dj_step(m, d) >= 0);
        pairs += d->npair;
        for (int p = 0; p < d->npair; p++) recovering += d->pair[p].recovering;
        if (trial == 0) {
          wrong = leastError(m, d, x, 1e-2);
          checkAgain(m, d, x);
        }
      }
      djt_delete(m, d);
    }
    print_message("%s, contact %d: first step %.1e, later %.1e (wrong by 1e-2: %.1e), %d pairs, "
                  "%d recovering\n",
                  dj_integratorName(method), which, worst[0], worst[1], wrong, pairs, recovering);
    assert_true(pairs >= 5);
    assert_true(worst[0] < 1e-5 && worst[1] < 1e-5);
    assert_true(wrong > 3e-5);
    if (which < 2 || which == 3) assert_true(recovering > 0);
  }
}

// A box that begins flat in the floor by half a millimetre, with all four corners equally deep: A is
// the slope on both sides, and so are the load's derivatives.
static void testFlat(void** state) {
  const djIntegrator method = *(const djIntegrator*)*state;
  enum { NX = 12, NS = 40 };
  Scene* s = newScene(2);
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0.0995, 1, 0.1), DJ_BOX, 0.1, 0.1, 0.1);
  s->def.option.stiffness_scale = 3e-5;
  s->def.option.support_scale = 2;
  djModel* m = sceneModel(s);
  freeScene(s);
  djData* d = djt_openMethod(m, method, 0.004);
  for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.2 * sin(3.0 * i);
  const int nx = dj_tangentSize(m);
  const double e = 2e-7;
  double x[NS], at[3][NS], side[2][2 * NX], dx[2 * NX];
  assert_true(nx <= 2 * NX && dj_stateSize(m) <= NS);
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  double *A = djt_room((size_t)nx * (size_t)nx), *normal = djt_room((size_t)nx), load[3];
  d->work->refinement_steps = 5;
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(d->npair, 1);
  assert_int_equal(djd_lastTransition(m, d, A, NULL), DJ_OK);
  assert_int_equal(djd_lastContact(m, d, NULL, NULL, normal), DJ_OK);
  for (int c = 3; c < 5; c++) { // turns that tilt it
    for (int k = 0; k < 3; k++) {
      memset(dx, 0, sizeof dx);
      dx[c] = 1;
      djt_moveState(d, m, x, (k - 1) * e, dx);
      assert_int_equal(dj_step(m, d), DJ_OK);
      assert_int_equal(dj_getState(at[k], m, d), DJ_OK);
      load[k] = d->pair[0].normal_force;
    }
    double error[3] = {0, 0, 0}, size = 0;
    for (int k = 0; k < 2; k++) djt_stateDifference(side[k], m, at[k], at[k + 1]);
    for (int r = 0; r < NX; r++) {
      const double by[3] = {side[0][r] / e, side[1][r] / e, (side[0][r] + side[1][r]) / (2 * e)};
      size = djt_worst(size, fabs(A[r * nx + c]));
      for (int k = 0; k < 3; k++) error[k] = djt_worst(error[k], fabs(by[k] - A[r * nx + c]));
    }
    const double by[2] = {(load[1] - load[0]) / e, (load[2] - load[1]) / e};
    assert_true(fabs(0.5 * (by[0] + by[1]) - normal[c]) <= 1e-5 * (1 + fabs(normal[c])) * load[1]);
    assert_true(fmax(error[0], error[1]) < 0.02 * size && error[2] < 1e-5 * size);
  }
  free(A);
  free(normal);
  djt_delete(m, d);
}

// A box that leans in the floor is pushed out fast and hardly slips, so that friction by default is
// as stiff as can be. A shift along the floor is a shift of the end, and nothing else.
static void testShift(void** state) {
  const djIntegrator method = *(const djIntegrator*)*state;
  static const char* const model[] = {"separating_plane", "implicit_surface", "penalty"};
  double worst = 0;
  for (int k = 0; k < 6; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{'dijoco_model': 1, 'option': {'contact': '%s'}, 'bodies': [{'name': "
             "'world'}, {'mass': 6.4, 'inertia': [0.035, 0.043, 0.035]}], 'joints': "
             "[{'type': 'free', 'body': 1, 'qpos0': %s}], 'geoms': [{'type': 'plane', "
             "'body': 0}, {'type': 'box', 'size': [0.1, 0.08, 0.1], 'body': 1}]}",
             model[k % 3],
             k < 3 ? "[0, 0, 0.099, 1, 0.01, 0.02, 0]" : "[0.3, 0, 0.12, 1, 0.1, 0.2, 0.05]");
    djModel* m = djt_modelOf(text);
    djData* d = djt_openMethod(m, method, 0.002);
    d->qvel[0] = d->qvel[4] = 0.1;
    assert_true(dj_step(m, d) >= 0);
    assert_true(d->npair == 1 || method == DJ_BDF2);
    const int nx = dj_tangentSize(m);
    double* A = djt_room((size_t)nx * (size_t)nx);
    assert_true(djd_lastTransition(m, d, A, NULL) >= 0);
    for (int c = 0; c < 2; c++) {
      for (int r = 0; r < 12; r++) worst = djt_worst(worst, fabs(A[r * nx + c] - (r == c)));
    }
    free(A);
    djt_delete(m, d);
  }
  djt_below("shift", worst, 1e-4);
}

DJT_MAIN_ROWS(djt_byAll(testSteps), djt_byAll(testFlat), djt_byAll(testShift))
