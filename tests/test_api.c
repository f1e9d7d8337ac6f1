// Misuse of the public interface: NULL arguments, numbers out of range, odd models, data and tapes
// of other models. A call that fails leaves everything as it was and says why.

#include "common/make_model.h"
#include "common/random_model.h"
#include "common/scene.h"
#include "common/test.h"

#include <dijoco/check.h>

static bool allFinite(const double* v, int n) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(v[i])) return false;
  }
  return true;
}

static void assertFiniteState(const djModel* m, const djData* d) {
  assert_true(allFinite(d->qpos, m->nq));
  assert_true(allFinite(d->qvel, m->nv));
  assert_true(allFinite(d->act, m->na));
  assert_true(allFinite(d->xpos, 3 * m->nbody));
}

// ---- NULL -------------------------------------------------------------------------------------

static void testNullModels(void) {
  djData* d;
  djModel *m = movingPile(&d, 2), *out;
  djError err;
  djModelDef def;
  djParam param;
  void* storage;
  double x[4];
  assert_int_equal(dj_makeModel(NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_makeModel(&out, NULL, &err), DJ_INVALID);
  assert_null(out);
  assert_non_null(strstr(err.text, "NULL"));
  assert_int_equal(dj_copyModel(NULL, m, NULL), DJ_INVALID);
  assert_int_equal(dj_copyModel(&out, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_setOption(NULL, &m->opt, NULL), DJ_INVALID);
  assert_int_equal(dj_setOption(m, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_getDef(NULL, &storage, m, NULL), DJ_INVALID);
  assert_int_equal(dj_getDef(&def, NULL, m, NULL), DJ_INVALID);
  assert_int_equal(dj_getDef(&def, &storage, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_paramId(NULL, m, "option/gravity", NULL), DJ_INVALID);
  assert_int_equal(dj_paramId(&param, NULL, "option/gravity", NULL), DJ_INVALID);
  assert_int_equal(dj_paramId(&param, m, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_getParam(x, m, &param), DJ_INVALID);   // none was found
  assert_int_equal(dj_setParam(m, &param, x, NULL), DJ_INVALID);
  assert_int_equal(dj_paramId(&param, m, "option/gravity", NULL), DJ_OK);
  assert_int_equal(dj_getParam(NULL, m, &param), DJ_INVALID);
  assert_int_equal(dj_getParam(x, NULL, &param), DJ_INVALID);
  assert_int_equal(dj_getParam(x, m, NULL), DJ_INVALID);
  assert_int_equal(dj_setParam(NULL, &param, x, NULL), DJ_INVALID);
  assert_int_equal(dj_setParam(m, NULL, x, NULL), DJ_INVALID);
  assert_int_equal(dj_setParam(m, &param, NULL, NULL), DJ_INVALID);
  assert_string_equal(dj_id2name(NULL, DJ_OBJ_BODY, 0), "");
  assert_string_equal(dj_id2name(m, DJ_NOBJ, 0), "");
  assert_string_equal(dj_id2name(m, DJ_OBJ_BODY, -1), "");
  assert_int_equal(dj_name2id(NULL, DJ_OBJ_BODY, "x"), -1);
  assert_int_equal(dj_name2id(m, DJ_OBJ_BODY, NULL), -1);
  dj_deleteModel(NULL);
  dj_freeDef(NULL);
  djt_delete(m, d);
}

static void testNullData(void) {
  djData *d, *out;
  djModel* m = movingPile(&d, 1);
  double x[64] = {0};
  assert_int_equal(dj_makeData(NULL, m, NULL), DJ_INVALID);
  assert_int_equal(dj_makeData(&out, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_copyData(NULL, m, d), DJ_INVALID);
  assert_int_equal(dj_copyData(d, NULL, d), DJ_INVALID);
  assert_int_equal(dj_copyData(d, m, NULL), DJ_INVALID);
  assert_int_equal(dj_copyData(d, m, d), DJ_OK);
  assert_int_equal((int)dj_dataSize(NULL), 0);
  assert_int_equal(dj_resetData(NULL, d), DJ_INVALID);
  assert_int_equal(dj_resetData(m, NULL), DJ_INVALID);
  assert_int_equal(dj_resetKey(NULL, d, 0), DJ_INVALID);
  assert_int_equal(dj_resetKey(m, NULL, 0), DJ_INVALID);
  assert_int_equal(dj_stateSize(NULL), 0);
  assert_int_equal(dj_getState(NULL, m, d), DJ_INVALID);
  assert_int_equal(dj_getState(x, NULL, d), DJ_INVALID);
  assert_int_equal(dj_getState(x, m, NULL), DJ_INVALID);
  assert_int_equal(dj_setState(NULL, m, x), DJ_INVALID);
  assert_int_equal(dj_setState(d, NULL, x), DJ_INVALID);
  assert_int_equal(dj_setState(d, m, NULL), DJ_INVALID);
  assert_int_equal(dj_step(NULL, d), DJ_INVALID);
  assert_int_equal(dj_step(m, NULL), DJ_INVALID);
  assert_int_equal(dj_forward(NULL, d), DJ_INVALID);
  assert_int_equal(dj_forward(m, NULL), DJ_INVALID);
  assert_string_equal(dj_errorText(NULL), "");
  dj_integratePos(NULL, m, x, x, 1);
  dj_integratePos(x, NULL, x, x, 1);
  dj_integratePos(x, m, NULL, x, 1);
  dj_integratePos(x, m, x, NULL, 1);
  dj_differentiatePos(NULL, m, 1, x, x);
  dj_differentiatePos(x, NULL, 1, x, x);
  dj_differentiatePos(x, m, 1, NULL, x);
  dj_differentiatePos(x, m, 1, x, NULL);
  dj_deleteData(NULL);
  djt_delete(m, d);
}

static void testNullGradients(void) {
  djData* d;
  djModel* m = movingPile(&d, 1);
  djTape* tape;
  double x[64] = {0};
  djdCertificate certificate;
  assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_INVALID);   // no step yet
  assert_non_null(strstr(dj_errorText(d), "no step"));
  assert_int_equal(djd_transition(NULL, d, x, NULL), DJ_INVALID);
  assert_int_equal(djd_transition(m, NULL, x, NULL), DJ_INVALID);
  assert_int_equal(djd_transition(m, d, NULL, NULL), DJ_OK);
  assert_int_equal(djd_lastTransition(NULL, d, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_lastTransition(m, NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(djd_stepJvp(NULL, d, x, x, x), DJ_INVALID);
  assert_int_equal(djd_stepJvp(m, NULL, x, x, x), DJ_INVALID);
  assert_int_equal(djd_stepJvp(m, d, NULL, x, x), DJ_INVALID);
  assert_int_equal(djd_stepJvp(m, d, x, NULL, NULL), DJ_OK);
  for (int i = 0; i < 2 * m->nv + m->na; i++) assert_true(x[i] == 0);
  assert_int_equal(djd_stepVjp(NULL, d, x, x, x), DJ_INVALID);
  assert_int_equal(djd_stepVjp(m, NULL, x, x, x), DJ_INVALID);
  assert_int_equal(djd_stepVjp(m, d, x, x, NULL), DJ_INVALID);
  assert_int_equal(djd_stepVjp(m, d, NULL, NULL, x), DJ_OK);
  djRollout r = {.horizon = 2, .ctrl = x};
  djRolloutResult result = {0};
  assert_int_equal((int)djd_tapeSize(NULL, 3), 0);
  assert_int_equal((int)djd_tapeSize(m, -1), 0);
  assert_int_equal(djd_makeTape(NULL, m, 2, NULL), DJ_INVALID);
  assert_int_equal(djd_makeTape(&tape, NULL, 2, NULL), DJ_INVALID);
  assert_int_equal(djd_makeTape(&tape, m, 0, NULL), DJ_INVALID);
  assert_null(tape);
  assert_int_equal(djd_makeTape(&tape, m, 2, NULL), DJ_OK);
  assert_int_equal(djd_rolloutForward(NULL, m, d, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, NULL, d, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, m, NULL, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, m, d, NULL, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, NULL), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_INVALID);   // nothing recorded
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_OK);
  assert_int_equal(djd_rolloutBackward(NULL, m, d, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, NULL, d, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, NULL, &r, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, d, NULL, tape), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, NULL), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, tape), DJ_OK);
  r.nloss = 1;
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_INVALID);
  r.nloss = -1;
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_INVALID);
  r.nloss = 0;
  r.ctrl = NULL;
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_INVALID);
  assert_int_equal(djd_check(NULL, 1, 1, 1, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_check(&certificate, 1, 1, 1, NULL, NULL), DJ_INVALID);
  djd_deleteTape(NULL);
  djd_deleteTape(tape);
  djt_delete(m, d);
}

static void testNullFiles(void) {
  djData* d;
  djModel *m = movingPile(&d, 1), *out;
  djCsv* csv;
  djTask* task;
  djProblem* problem;
  djSettings settings = {.given = {0}};
  double x[8], *ctrl;
  int n;
  assert_int_equal(dj_loadModel(NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_loadModel(&out, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_loadModelText(NULL, "{}", NULL), DJ_INVALID);
  assert_int_equal(dj_loadModelText(&out, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_saveModel(NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_saveModel(m, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_parseNumbers(NULL, 1, "1", NULL), DJ_INVALID);
  assert_int_equal(dj_parseNumbers(x, 1, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_readNumbers(x, 1, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_readQpos(x, NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_readQvel(x, NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_readCtrl(NULL, &n, 1, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_readCtrl(&ctrl, NULL, 1, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_readCtrl(&ctrl, &n, 1, NULL, NULL), DJ_INVALID);
  assert_null(ctrl);
  dj_freeNumbers(NULL);
  assert_int_equal(dj_openCsv(NULL, "x", "a", NULL), DJ_INVALID);
  assert_int_equal(dj_openCsv(&csv, NULL, "a", NULL), DJ_INVALID);
  assert_int_equal(dj_openCsv(&csv, "x", NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_openStateCsv(NULL, m, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_openStateCsv(&csv, NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_openStateCsv(&csv, m, NULL, NULL), DJ_INVALID);
  dj_writeCsv(NULL, "a", x, 1);
  dj_writeStateCsv(NULL, m, x);
  assert_string_equal(dj_stateName(NULL, m, 0), "");
  char text[32];
  assert_string_equal(dj_stateName(text, NULL, 0), "");
  assert_string_equal(dj_stateName(text, m, -1), "");
  assert_string_equal(dj_stateName(text, m, dj_stateSize(m)), "");
  assert_int_equal(dj_closeCsv(NULL, NULL), DJ_OK);
  assert_string_equal(dj_formatNumber(NULL, 1), "");
  dj_applySettings(NULL, &settings);
  dj_applySettings(&m->opt, NULL);
  assert_int_equal(dj_parseSetting(NULL, "skin", "0", NULL), DJ_INVALID);
  assert_int_equal(dj_parseSetting(&settings, NULL, "0", NULL), DJ_INVALID);
  assert_int_equal(dj_parseSetting(&settings, "skin", NULL, NULL), DJ_INVALID);
  assert_non_null(dj_contactName((djContactModel)77));
  assert_non_null(dj_integratorName((djIntegrator)-5));
  assert_non_null(dj_overlapName((djOverlap)9));
  for (int k = 0; k < DJ_NOBJ; k++) {   // each has a name of its own
    assert_true(dj_objectName((djObject)k)[0] != 0);
    for (int i = 0; i < k; i++) {
      assert_string_not_equal(dj_objectName((djObject)k), dj_objectName((djObject)i));
    }
  }
  assert_string_equal(dj_objectName(DJ_NOBJ), "");
  assert_string_equal(dj_jointTypeName((djJointType)9), "");
  assert_string_equal(dj_gainName((djGain)9), "");
  assert_string_equal(dj_biasName((djBias)-1), "");
  assert_string_equal(dj_dynName((djDyn)9), "");
  assert_int_equal(dj_loadTask(NULL, "x", NULL), DJ_INVALID);
  assert_int_equal(dj_loadTask(&task, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_loadTaskText(NULL, "{}", NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_loadTaskText(&task, NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_applySet(NULL, NULL, NULL), DJ_INVALID);
  assert_int_equal(dj_resolveTask(NULL, NULL, m, NULL), DJ_INVALID);
  assert_int_equal(dj_resolveTask(&problem, NULL, m, NULL), DJ_INVALID);
  dj_deleteTask(NULL);
  dj_deleteProblem(NULL);
  djt_delete(m, d);
}

// ---- numbers ----------------------------------------------------------------------------------

// Options that must be refused, naming themselves, and extreme ones that must step.
static void testOptions(void) {
  static const struct {
    const char* name;
    size_t offset;
    double refused[4];     // beside NaN and infinity; NaN: none
    double taken[4];
  } row[] = {
      {"timestep", offsetof(djOption, timestep), {0, -1, NAN, NAN}, {1e-6, 10, 1e3, 0.1}},
      {"support", offsetof(djOption, support), {0, 1, 2, NAN}, {0.99, 1e-9, 0.5, -1}},
      {"stiffness", offsetof(djOption, stiffness), {0, NAN, NAN, NAN}, {1e-100, 1e12, 1, -1}},
      {"skin", offsetof(djOption, skin), {NAN, NAN, NAN, NAN}, {10, 0, 1e300, -1}},
      {"friction_eps", offsetof(djOption, friction_eps), {0, NAN, NAN, NAN}, {1e-30, 1e30, 1, -1}},
      {"tolerance", offsetof(djOption, tolerance), {0, -1, NAN, NAN}, {1e-300, 1e300, 1, 1e-12}},
      {"length_scale", offsetof(djOption, length_scale), {0, -1, NAN, NAN}, {1e-6, 1e6, 1, 10}},
      {"gravity", offsetof(djOption, gravity), {NAN, NAN, NAN, NAN}, {1e10, -1e6, 0, 1}},
      {"density", offsetof(djOption, density), {-1, NAN, NAN, NAN}, {1e10, 1e-300, 1, 1e3}},
      {"viscosity", offsetof(djOption, viscosity), {-1, NAN, NAN, NAN}, {1e10, 1e-300, 1, 1e3}}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    djData* d;
    djModel* m = movingPile(&d, 3);
    djOption kept = m->opt;
    djContactSettings contact = m->contact;
    for (int k = 0; k < 6; k++) {
      djOption o = m->opt;
      djError err = {""};
      double value = k < 4 ? row[i].refused[k] : k == 4 ? INFINITY : -INFINITY;
      memcpy((char*)&o + row[i].offset, &value, sizeof value);
      djt_refusedWith(DJ_INVALID, dj_setOption(m, &o, &err), err, row[i].name);
      assert_memory_equal(&m->opt, &kept, sizeof kept);
      assert_memory_equal(&m->contact, &contact, sizeof contact);
    }
    dj_deleteData(d);
    for (int k = 0; k < 4; k++) {
      djOption o = kept;
      memcpy((char*)&o + row[i].offset, &row[i].taken[k], sizeof(double));
      assert_int_equal(dj_setOption(m, &o, NULL), DJ_OK);
      d = sceneData(m);
      for (int step = 0; step < 5; step++) assert_true(dj_step(m, d) >= 0);
      assertFiniteState(m, d);
      dj_deleteData(d);
    }
    dj_deleteModel(m);
  }
}

// A number that is not finite anywhere in the state or inputs: every call refuses, names it, and
// changes nothing; once it is gone, the run goes on as one that never had it.
static void testNotFinite(void) {
  static const char* const name[] = {"qpos", "qvel", "act", "ctrl", "qfrc_applied",
                                     "xfrc_applied", "gravity_scale", "time"};
  static const double bad[3] = {NAN, INFINITY, -INFINITY};
  djData* d;
  djModel* m = movingPile(&d, 2);
  djData *twin = sceneData(m), *before = sceneData(m);
  for (int k = 0; k < 20; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_copyData(twin, m, d), DJ_OK);
  for (int i = 0; i < 24; i++) {
    double* const place[] = {d->qpos + 8, d->qvel + 3, d->act, d->ctrl + 1, d->qfrc_applied + 2,
                             d->xfrc_applied + 7, &d->gravity_scale, &d->time};
    double *p = place[i % 8], kept = *p;
    *p = bad[i / 8];
    assert_int_equal(dj_copyData(before, m, d), DJ_OK);
    assert_int_equal(dj_step(m, d), DJ_INVALID);
    assert_non_null(strstr(dj_errorText(d), name[i % 8]));
    assert_true(sameData(m, d, before));
    assert_int_equal(djd_transition(m, d, NULL, NULL), DJ_INVALID);
    assert_int_equal(dj_forward(m, d), DJ_INVALID);
    assert_non_null(strstr(dj_errorText(d), name[i % 8]));
    assert_true(sameData(m, d, before));
    assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_INVALID);
    *p = kept;
    assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_step(m, twin), DJ_OK);
    assert_true(sameData(m, d, twin));
    assert_string_equal(dj_errorText(d), "");
  }
  dj_deleteData(before);
  dj_deleteData(twin);
  djt_delete(m, d);
}

// Calls that would set a state leave the old one when something is wrong.
static void testFailedSets(void) {
  djData* d;
  djModel* m = movingPile(&d, 2);
  for (int k = 0; k < 10; k++) assert_int_equal(dj_step(m, d), DJ_OK);
  djData* before = sceneData(m);
  double x[40], start[40] = {0}, ctrl[6] = {0};
  assert_int_equal(dj_getState(x, m, d), DJ_OK);
  assert_int_equal(dj_copyData(before, m, d), DJ_OK);
  for (int i = 0; i < dj_stateSize(m); i++) {
    double kept = x[i];
    x[i] = NAN;
    assert_int_equal(dj_setState(d, m, x), DJ_INVALID);
    x[i] = kept;
  }
  assert_int_equal(dj_resetKey(m, d, 0), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "keyframe 0"));
  assert_int_equal(dj_resetKey(m, d, -1), DJ_INVALID);
  assert_true(sameData(m, d, before));
  djTape* tape;
  djRolloutResult result = {0};
  assert_int_equal(djd_makeTape(&tape, m, 3, NULL), DJ_OK);
  memcpy(start, m->qpos0, (size_t)m->nq * sizeof(double));
  start[4] = NAN;
  djRollout r = {.horizon = 3, .ctrl = ctrl, .qpos0 = start};
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "qpos[4]"));
  r.qpos0 = NULL;
  ctrl[3] = INFINITY;
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, tape), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "step 1: ctrl[1]"));
  assert_true(sameData(m, d, before));
  d->ctrl[0] = before->ctrl[0] = NAN;
  assert_int_equal(dj_setState(d, m, start), DJ_INVALID);
  start[4] = 0;
  assert_int_equal(dj_setState(d, m, start), DJ_INVALID);
  assert_true(sameData(m, d, before));
  djd_deleteTape(tape);
  dj_deleteData(before);
  djt_delete(m, d);
}

// Numbers however large or small: a step ends in a finite state, or fails and changes nothing.
static void testExtremeNumbers(void) {
  static const double size[] = {1e300, 1e160, 1e100, 1e30, 1e16, 1e10, 1e6, 1e5, 1e-300};
  djData* d;
  djModel* m = movingPile(&d, 2);
  djData *start = sceneData(m), *before = sceneData(m);
  assert_int_equal(dj_copyData(start, m, d), DJ_OK);
  int failed = 0;
  for (int i = 0; i < 9 * 2 * 9; i++) {
    assert_int_equal(dj_copyData(d, m, start), DJ_OK);
    double value = size[i / 18] * (i % 2 ? -1 : 1);
    double* const place[] = {d->qpos, d->qpos + 9, d->qpos + 4, d->qvel + 2, d->qvel + 10,
                             d->ctrl, d->qfrc_applied + 2, d->xfrc_applied + 10,
                             &d->gravity_scale};
    *place[(i / 2) % 9] = value;
    for (int k = 0; k < 3; k++) {
      assert_int_equal(dj_copyData(before, m, d), DJ_OK);
      djStatus status = dj_step(m, d);
      assertFiniteState(m, d);
      if (status >= 0) continue;
      assert_true(dj_errorText(d)[0]);
      assert_true(sameData(m, d, before));
      failed++;
    }
  }
  print_message("%d steps refused\n", failed);
  assert_int_equal(dj_copyData(d, m, start), DJ_OK);
  d->qvel[0] = 1e200;
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "too large"));
  for (int k = 0; k < 3; k++) {   // no direction, a tiny one, a huge one: all are turned into units
    static const double scale[3] = {0, 1e-200, 1e200};
    assert_int_equal(dj_copyData(d, m, start), DJ_OK);
    for (int c = 3; c < 7; c++) d->qpos[c] = scale[k];
    assert_int_equal(dj_step(m, d), DJ_OK);
    double norm = 0;
    for (int c = 3; c < 7; c++) norm += d->qpos[c] * d->qpos[c];
    assert_true(fabs(norm - 1) < 1e-14);
  }
  dj_deleteData(before);
  dj_deleteData(start);
  djt_delete(m, d);
}

// ---- other models -----------------------------------------------------------------------------

static void testOtherModels(void) {
  djData *d, *other;
  djModel *m = movingPile(&d, 2), *big = movingPile(&other, 3);
  djData* before = sceneData(m);
  djTape *tape, *big_tape;
  double x[64] = {0}, ctrl[8] = {0};
  djRollout r = {.horizon = 2, .ctrl = ctrl};
  djRolloutResult result = {0};
  assert_int_equal(djd_makeTape(&tape, m, 2, NULL), DJ_OK);
  assert_int_equal(djd_makeTape(&big_tape, big, 2, NULL), DJ_OK);
  assert_int_equal(dj_step(m, d), DJ_OK);
  assert_int_equal(dj_copyData(before, m, d), DJ_OK);
  assert_int_equal(dj_step(big, d), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "other sizes"));
  assert_int_equal(dj_forward(big, d), DJ_INVALID);
  assert_int_equal(dj_resetData(big, d), DJ_INVALID);
  assert_int_equal(dj_resetKey(big, d, 0), DJ_INVALID);
  assert_int_equal(dj_getState(x, big, d), DJ_INVALID);
  assert_int_equal(dj_setState(d, big, x), DJ_INVALID);
  assert_int_equal(dj_copyData(d, big, other), DJ_INVALID);
  assert_int_equal(dj_copyData(d, m, other), DJ_INVALID);
  assert_int_equal(djd_transition(big, d, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_lastTransition(big, d, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_stepJvp(big, d, x, NULL, NULL), DJ_INVALID);
  assert_int_equal(djd_stepVjp(big, d, NULL, NULL, x), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, big, d, &r, big_tape), DJ_INVALID);
  assert_int_equal(djd_rolloutForward(&result, m, d, &r, big_tape), DJ_INVALID);
  assert_int_equal(djd_rolloutBackward(&result, m, d, &r, big_tape), DJ_INVALID);
  assert_true(sameData(m, d, before));
  djOption o = m->opt;
  o.disable |= DJ_DSBL_CONTACT;
  assert_int_equal(dj_setOption(m, &o, NULL), DJ_OK);
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  assert_non_null(strstr(dj_errorText(d), "contact"));
  assert_true(sameData(m, d, before));
  djd_deleteTape(tape);
  djd_deleteTape(big_tape);
  dj_deleteData(before);
  dj_deleteData(other);
  djt_delete(big, d);
  dj_deleteModel(m);
}

// ---- odd models -------------------------------------------------------------------------------

// Runs a scene, and its derivatives; then frees it.
static void runScene(Scene* s, int steps, double deepest) {
  djModel* m = sceneModel(s);
  djData* d = sceneData(m);
  for (int k = 0; k < steps; k++) assert_true(dj_step(m, d) >= 0);
  assertFiniteState(m, d);
  assert_int_equal(d->stats.unconverged_steps, 0);
  assert_true(d->stats.overlap <= deepest);
  size_t nx = 2 * (size_t)m->nv + m->na;
  double* A = calloc(nx * nx + 1, sizeof(double));
  assert_true(djd_transition(m, d, A, NULL) >= 0);
  assert_true(allFinite(A, (int)(nx * nx)));
  free(A);
  djt_delete(m, d);
  freeScene(s);
}

static Scene* chain(int n, int joint) {
  Scene* s = newScene(n);
  for (int i = 1; i <= n; i++) {
    addBody(s, i - 1, joint, i > 1 ? 0.1 : 0, 0, 0, 0.1, 0.02);
    s->body[i].ipos[0] = 0.05;
  }
  return s;
}

static void testOddModels(void) {
  runScene(newScene(0), 3, 0);
  Scene* s = newScene(1);   // static geoms only
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  addGeom(s, 0, DJ_BOX, 1, 1, 1);
  addGeom(s, addBody(s, 0, -1, 0, 0, 1, 1, 1), DJ_SPHERE, 1, 0, 0);
  runScene(s, 3, 0);
  s = newScene(1);          // no geoms
  addBody(s, 0, DJ_FREE, 0, 0, 1, 1, 0.1);
  runScene(s, 10, 0);
  runScene(chain(200, DJ_HINGE), 3, 0);
  runScene(chain(60, DJ_BALL), 3, 0);
  s = newScene(6);          // all at one place
  addGeom(s, 0, DJ_PLANE, 0, 0, 0);
  for (int i = 0; i < 6; i++) {
    int b = addBody(s, 0, DJ_FREE, i < 3 ? 0 : 1 + 1e-9 * i, 0, 0.5, 1, 0.1);
    addGeom(s, b, i % 2 ? DJ_BOX : DJ_SPHERE, 0.1, 0.1, 0.1);
  }
  runScene(s, 10, 0.4);
  s = newScene(0);          // thousands of geoms, and one that moves among them
  free(s->geom);
  s->geom = calloc(3001, sizeof *s->geom);
  s->def.geom = s->geom;
  for (int i = 0; i < 3000; i++) {
    djGeomDef* g = addGeom(s, 0, DJ_BOX, 0.05, 0.05, 0.05);
    g->pos[0] = 0.1 * (i % 60);
    g->pos[1] = 0.1 * (double)(i / 60);
  }
  free(s->body);
  s->body = calloc(2, sizeof *s->body);
  s->def.body = s->body;
  s->def.nbody = 0;
  s->body[s->def.nbody++] = dj_defaultBodyDef();
  addGeom(s, addBody(s, 0, DJ_FREE, 2.97, 2.52, 0.1501, 1, 0.1), DJ_BOX, 0.1, 0.1, 0.1);
  runScene(s, 20, 1e-2);
}

// Masses far apart in one contact: finite, and no body falls through another.
static void testMasses(void) {
  static const double mass[] = {1e-12, 1e-6, 1, 1e6, 1e12};
  for (int a = 0; a < 5; a++) {
    for (int b = 0; b < 5; b++) {
      Scene* s = newScene(2);
      addGeom(s, 0, DJ_PLANE, 0, 0, 0);
      addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0.1, mass[a], 0.1), DJ_BOX, 0.1, 0.1, 0.1);
      addGeom(s, addBody(s, 0, DJ_FREE, 0, 0, 0.3, mass[b], 0.1), DJ_SPHERE, 0.1, 0, 0);
      djModel* m = sceneModel(s);
      djData* d = sceneData(m);
      for (int k = 0; k < 30; k++) assert_true(dj_step(m, d) >= 0);
      assertFiniteState(m, d);
      assert_true(d->qpos[9] > 0.28 && d->qpos[9] < 0.33);
      bool rounding = mass[b] > 1e16 * mass[a];   // whether what is below can bear it
      assert_true(rounding || (d->qpos[2] > 0.09 && d->qpos[2] < 0.12));
      djt_delete(m, d);
      freeScene(s);
    }
  }
}

// A free needle has no inertia about its axis: no motion follows from the definition.
static void testNeedle(void) {
  Scene* s = newScene(1);
  addBody(s, 0, DJ_FREE, 0, 0, 1, 1, 0.1);
  s->body[1].inertia[2] = 0;
  djModel* m;
  djError err;
  djt_refusedWith(DJ_INVALID, dj_makeModel(&m, &s->def, &err), err,
                  "body #1: rotates but has no inertia about one axis");
  s->joint[0].armature = 0.01;
  assert_int_equal(dj_makeModel(&m, &s->def, &err), DJ_OK);
  dj_deleteModel(m);
  freeScene(s);
}

DJT_MAIN(testNullModels, testNullData, testNullGradients, testNullFiles, testOptions, testNotFinite,
         testFailedSets, testExtremeNumbers, testOtherModels, testOddModels, testMasses, testNeedle)
