// Records: everything that a run depends on is in them, so that it is repeated to the bit; whatever
// is changed in one is told by call, array and entry, or refused; nothing crashes.

#include "common/counted_memory.h"
#include "common/make_model.h"
#include "common/test.h"

#include "integrate/recorder.h"
#include "io/record_row.h"

#include <dijoco/array.h>
#include <dijoco/record.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* const path = "test_record.tmp";

static void good(djStatus status, const djError* err) {
  if (status < 0) fail_msg("%s", err->text);
}

static djData* record(const djModel* m, const char* to) {
  djData* d = NULL;
  djError err = {""};
  good(dj_makeData(&d, m, &err), &err);
  good(dj_startRecord(d, m, to, &err), &err);
  assert_string_equal(dj_recordPath(d), to);
  return d;
}

static void stop(djData* d) {
  djError err = {""};
  good(dj_stopRecord(d, &err), &err);
  assert_null(dj_recordPath(d));
  dj_deleteData(d);
}

// What a replay ends with: the last call, the first that differs, the error.
typedef struct Outcome {
  djStatus status;
  djError err;
  djReplayCall last, first;
  long unconverged, failed, models;
} Outcome;

static Outcome replay(const char* from) {
  Outcome o = {.status = DJ_OK};
  djReplay* r = NULL;
  djReplayCall c;
  o.status = dj_openReplay(&r, from, &o.err);
  while (o.status == DJ_OK) {
    o.status = dj_nextReplay(&c, r, &o.err);
    if (o.status < 0 || !c.what) break;
    o.last = c;
    o.models += strcmp(c.what, "model") == 0;
    o.unconverged += c.status == DJ_NOT_CONVERGED;
    o.failed += c.status < 0;
    if (c.differs && !o.first.what) o.first = c;
  }
  dj_closeReplay(r);
  return o;
}

static void same(const Outcome* o, long calls) {
  if (o->status < 0) fail_msg("%s", o->err.text);
  djt_failIf(o->first.what, "call %ld: %s[%d]: %s, not %s", o->first.call, o->first.array,
             o->first.entry, o->first.found, o->first.recorded);
  assert_int_equal(o->last.call, calls);
}

static char* content(size_t* n, const char* name) {
  FILE* f = fopen(name, "rb");
  assert_non_null(f);
  char* text = calloc(1, 1 << 20);
  assert_non_null(text);
  *n = fread(text, 1, (1 << 20) - 1, f);
  fclose(f);
  return text;
}

static void put(const char* name, const char* text, size_t n) {
  FILE* f = fopen(name, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, n, f), n);
  fclose(f);
}

// ---- what is repeated -------------------------------------------------------------------------

// A box that falls on the floor, pushed; steps, poses, derivatives.
static djModel* boxModel(djIntegrator integrator) {
  static const char text[] =
      "{\"dijoco_model\": 1, \"option\": {\"timestep\": 0.005},"
      "\"bodies\": [{\"name\": \"world\"}, {\"name\": \"box\", \"pos\": [0, 0, 0.11], "
      "\"mass\": 1, \"inertia\": [0.01, 0.01, 0.01]}, {\"name\": \"arm\", \"pos\": [0, 2, 2],"
      "\"ipos\": [0, 0, -0.5], \"mass\": 0.5, \"inertia\": [0.02, 0.02, 0.001]}, "
      "{\"name\": \"hand\", \"mocap\": true, \"pos\": [0.5, 0, 0.1]}],"
      "\"joints\": [{\"type\": \"free\", \"body\": \"box\"}, {\"name\": \"hinge\", "
      "\"type\": \"hinge\", \"body\": \"arm\", \"axis\": [1, 0, 0], \"damping\": 0.1}],"
      "\"geoms\": [{\"name\": \"floor\", \"type\": \"plane\", \"body\": \"world\", "
      "\"size\": [0, 0, 1]}, {\"name\": \"cube\", \"type\": \"box\", \"body\": \"box\", "
      "\"size\": [0.1, 0.1, 0.1]}, {\"name\": \"palm\", \"type\": \"sphere\", "
      "\"body\": \"hand\", \"size\": [0.1, 0, 0]}],"
      "\"actuators\": [{\"name\": \"motor\", \"joint\": \"hinge\", \"dyn\": \"filter\", "
      "\"tau\": 0.05}]}";
  djModel* m = NULL;
  djError err = {""};
  good(dj_loadModelText(&m, text, &err), &err);
  djOption option = m->opt;
  option.integrator = integrator;
  good(dj_setOption(m, &option, &err), &err);
  return m;
}

// Everything that a caller may do between calls; returns how many there were.
static long useAll(djModel* m, djData* d) {
  size_t nx = (size_t)dj_tangentSize(m), nu = (size_t)m->nu;
  double* A = calloc(nx * (nx + nu) + 1, sizeof(double));
  double* state = calloc((size_t)dj_stateSize(m) + 1, sizeof(double));
  long calls = 0;
  assert_non_null(A);
  for (int k = 0; k < 12; k++) {
    d->ctrl[0] = sin(k);
    d->qfrc_applied[1] = 0.1 * k;
    d->xfrc_applied[6] = -0.3 * k;
    d->mocap_pos[0] = 0.5 - 0.002 * k;
    assert_true(dj_step(m, d) >= 0);
    if (k == 2) dj_getState(state, m, d);
    calls++;
  }
  assert_int_equal(djd_lastTransition(m, d, A, A + nx * nx), DJ_OK);
  assert_true(djd_transition(m, d, A, NULL) >= 0);
  assert_int_equal(dj_setState(d, m, state), DJ_OK); // with its forward
  d->gravity_scale = 0.5;
  assert_true(dj_step(m, d) >= 0);
  d->qpos[0] += 0.01; // no history any more
  assert_true(dj_step(m, d) >= 0);
  double q[8], v[7];
  memcpy(q, d->qpos, sizeof q);
  memcpy(v, d->qvel, sizeof v);
  q[2] -= 0.001;
  assert_int_equal(dj_setHistory(d, m, q, v), DJ_OK);
  assert_true(dj_step(m, d) >= 0);
  d->qvel[3] = NAN;
  assert_int_equal(dj_step(m, d), DJ_INVALID);
  d->qvel[3] = -0.0;
  assert_int_equal(dj_forward(m, d), DJ_OK);
  double momentum[6];
  assert_int_equal(dj_totalMomentum(momentum, m, d), DJ_OK); // by a forward
  assert_int_equal(dj_resetData(m, d), DJ_OK);               // likewise
  free(A);
  free(state);
  return calls + 10;
}

static void testRepeated(void) {
  static const djIntegrator methods[] = {DJ_EULER, DJ_BDF2, DJ_POSITION, DJ_MIDPOINT};
  for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++) {
    djModel* m = boxModel(methods[k]);
    djData* d = record(m, path);
    long calls = useAll(m, d);
    stop(d);
    dj_deleteModel(m);
    Outcome o = replay(path);
    same(&o, calls);
    assert_int_equal(o.failed, 1);
    assert_int_equal(o.models, 1);
    assert_true(o.last.ended);
  }
}

// Each number of each row makes a difference to the file, and comes back.
static void testRows(void) {
  djModel* m = djt_sampleModel(NULL);
  for (int row = 0; row < DJ_NRECORDROW; row++) {
    djData* d = record(m, path);
    int n = dj_recordSize(row, m, d);
    assert_true(n > 0 || strstr(dj_recordRows[row].name, "history"));
    double* v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    if (dj_recordRows[row].kind != DJ_RECORD_RESULT) {
      for (int i = 0; i < n; i++) {
        dj_step(m, d); // or fails, which is repeated, too
        dj_recordRead(v, row, m, d);
        v[i] = strcmp(dj_recordRows[row].name, "eq_active") == 0 ? 1 - v[i] : v[i] + 1;
        dj_recordWrite(d, row, m, v);
      }
      dj_step(m, d);
    }
    free(v);
    stop(d);
    Outcome o = replay(path);
    same(&o, dj_recordRows[row].kind == DJ_RECORD_RESULT ? 0 : n + 1);
  }
  dj_deleteModel(m);
}

// Another model, or the same with other numbers: it is written anew. Unconverged steps, too.
static void testModels(void) {
  djModel *m = boxModel(DJ_EULER), *other = NULL;
  djError err = {""};
  static const char* const names[] = {"body/box/mass", "geom/cube/size", "joint/hinge/armature"};
  const double values[3] = {3, 0.09, 0.1};
  djData* d = record(m, path);
  for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
  for (int i = 0; i < 3; i++) {
    djParam param;
    const double value[3] = {values[i], values[i], values[i]};
    good(dj_paramId(&param, m, names[i], &err), &err);
    good(dj_setParam(m, &param, value, &err), &err);
    for (int k = 0; k < 20; k++) assert_true(dj_step(m, d) >= 0);
  }
  m->body_mass[2] *= 2; // as who knows the struct may do
  for (int k = 0; k < 3; k++) assert_true(dj_step(m, d) >= 0);
  good(dj_copyModel(&other, m, &err), &err);
  djOption option = other->opt;
  option.max_iterations = 1;
  option.integrator = DJ_POSITION;
  option.tolerance = 1e-14;
  good(dj_setOption(other, &option, &err), &err);
  d->qvel[0] = 3;
  int unconverged = 0;
  for (int k = 0; k < 5; k++) unconverged += dj_step(other, d) == DJ_NOT_CONVERGED;
  assert_true(unconverged > 0);
  stop(d);
  dj_deleteModel(m);
  dj_deleteModel(other);
  Outcome o = replay(path);
  same(&o, 71);
  assert_int_equal(o.models, 6);
  assert_int_equal(o.unconverged, unconverged);
}

// Each array of results is in a hash.
static void testHashes(void) {
  static const char* const names[] = {
      "xpos",          "xquat",          "xmat",         "xipos",      "site_xpos",
      "geom_xpos",     "geom_xmat",      "contact.body1", "contact.body2", "contact.force",
      "contact.torque", "pair.geom1",    "pair.geom2",   "pair.gap",   "pair.normal",
      "pair.point",    "pair.force",     "pair.normal_force", "pair.recovering"};
  djModel *box = boxModel(DJ_EULER), *sample = djt_sampleModel(NULL);
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    djModel* m = strcmp(names[k], "site_xpos") == 0 ? sample : box;
    djData* d = NULL;
    djError err = {""};
    djArray a;
    char before[17], after[17];
    const int hash = k < 7 ? DJ_RECORD_POSES : DJ_RECORD_CONTACTS;
    const djCallEnd end = {.status = DJ_OK};
    good(dj_makeData(&d, m, &err), &err);
    for (int i = 0; i < 20 && m == box; i++) assert_int_equal(dj_step(m, d), DJ_OK);
    assert_int_equal(dj_dataArray(&a, m, d, names[k]), DJ_OK);
    assert_true(a.rows > 0);
    assert_true(dj_recordHash(before, hash, m, d, DJ_CALL_STEP, end));
    unsigned char* last = (unsigned char*)a.data + (size_t)(a.rows - 1) * (size_t)a.stride;
    *last ^= 1;
    assert_true(dj_recordHash(after, hash, m, d, DJ_CALL_STEP, end));
    if (strcmp(before, after) == 0) fail_msg("%s", names[k]);
    *last ^= 1;
    dj_deleteData(d);
  }
  dj_deleteModel(box);
  dj_deleteModel(sample);
}

// Data of another size are left alone, a last transition without its step is not written, data that
// take another's place go on.
static void testTurns(void) {
  djModel *m = boxModel(DJ_EULER), *other = djt_sampleModel(NULL);
  djData *d = NULL, *next = NULL;
  djError err = {""};
  good(dj_makeData(&d, m, &err), &err);
  good(dj_makeData(&next, m, &err), &err);
  assert_int_equal(dj_step(m, d), DJ_OK);
  good(dj_startRecord(d, m, path, &err), &err);
  assert_int_equal(djd_lastTransition(m, d, NULL, NULL), DJ_OK);
  assert_int_equal(dj_step(other, d), DJ_INVALID);
  assert_int_equal(dj_step(m, d), DJ_OK);
  dj_moveRecord(next, d);
  assert_null(dj_recordPath(d));
  assert_int_equal(dj_step(m, next), DJ_OK);
  dj_deleteData(d);
  stop(next);
  dj_deleteModel(m);
  dj_deleteModel(other);
  Outcome o = replay(path);
  same(&o, 2);
}

// ---- the file ---------------------------------------------------------------------------------

static void testRefused(void) {
  djModel* m = boxModel(DJ_EULER);
  djData *d = record(m, path), *e = NULL;
  djError err = {""};
  good(dj_makeData(&e, m, &err), &err);
  assert_int_equal(dj_startRecord(d, m, "other", &err), DJ_INVALID);
  assert_int_equal(dj_startRecord(e, m, path, &err), DJ_FILE); // is being written
  assert_non_null(strstr(err.text, path));
  good(dj_startRecordBeside(e, m, path, &err), &err);
  assert_string_equal(dj_recordPath(e), "test_record.tmp.2");
  good(dj_stopRecord(e, &err), &err);
  good(dj_stopRecord(e, &err), &err);
  assert_int_equal(remove("test_record.tmp.2"), 0);
  djt_refusedWith(DJ_FILE, dj_startRecordBeside(e, m, "no/such/folder", &err), err,
                  "no/such/folder: ");
  assert_int_equal(dj_startRecord(NULL, m, path, &err), DJ_INVALID);
  m->opt.contact = DJ_CONTACT_MUJOCO;
  assert_int_equal(dj_startRecord(e, m, "mujoco.tmp", &err), DJ_UNSUPPORTED);
  m->opt.contact = DJ_SEPARATING_PLANE;
  good(dj_startRecord(e, m, "/dev/full", &err), &err);
  assert_int_equal(dj_step(m, e), DJ_OK);
  djt_refusedWith(DJ_FILE, dj_stopRecord(e, &err), err, "/dev/full: ");
  dj_deleteData(e);
  stop(d);
  dj_deleteModel(m);
}

// What a process leaves that is killed, also within a step.
static void testKilled(void) {
  djModel* m = boxModel(DJ_EULER);
  pid_t child = fork();
  if (child == 0) {
    djData* d = record(m, path);
    for (int k = 0; k < 7; k++) dj_step(m, d);
    dj_beginCall(m, d, DJ_CALL_STEP); // in which it ends
    kill(getpid(), SIGKILL);
  }
  int how = 0;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how));
  dj_deleteModel(m);
  Outcome o = replay(path);
  same(&o, 8);
  assert_false(o.last.ended);
  assert_int_equal(o.last.step, 8);
}

#if DJT_COUNTED_MEMORY
static void testMemory(void) {
  djModel* m = boxModel(DJ_EULER);
  djData* d = record(m, path);
  for (int k = 0; k < 20; k++) dj_step(m, d);
  long before = allocations;
  for (int k = 0; k < 20; k++) {
    d->ctrl[0] = k;
    dj_step(m, d);
  }
  assert_int_equal(allocations, before);
  stop(d);
  dj_deleteModel(m);
}
#endif

// ---- other files ------------------------------------------------------------------------------

// A short record as text.
static char* shortRecord(size_t* n) {
  djModel* m = boxModel(DJ_EULER);
  djError err = {""};
  djParam mass;
  const double value = 2;
  good(dj_paramId(&mass, m, "body/box/mass", &err), &err);
  good(dj_setParam(m, &mass, &value, &err), &err);
  djData* d = record(m, path);
  for (int k = 0; k < 3; k++) {
    d->ctrl[0] = 0.25 + k;
    assert_int_equal(dj_step(m, d), DJ_OK);
  }
  assert_int_equal(djd_transition(m, d, NULL, NULL), DJ_OK);
  stop(d);
  dj_deleteModel(m);
  return content(n, path);
}

// The text with one place of it changed.
static Outcome changed(const char* text, const char* what, int which, const char* into) {
  const char* place = text;
  for (int k = 0; k <= which; k++) {
    place = strstr(k ? place + 1 : place, what);
    assert_non_null(place);
  }
  char* other = calloc(1, strlen(text) + strlen(into) + 1);
  assert_non_null(other);
  memcpy(other, text, (size_t)(place - text));
  strcat(other, into);
  strcat(other, place + strlen(what));
  put(path, other, strlen(other));
  free(other);
  return replay(path);
}

static void differs(const Outcome* o, const char* array, int entry, long call) {
  if (o->status < 0) fail_msg("%s", o->err.text);
  assert_non_null(o->first.what);
  assert_string_equal(o->first.array, array);
  assert_int_equal(o->first.entry, entry);
  assert_int_equal(o->first.call, call);
}

static void refuses(const Outcome* o, const char* line, const char* why) {
  assert_true(o->status < 0);
  djt_failIf(!strstr(o->err.text, path) || !strstr(o->err.text, line) || !strstr(o->err.text, why),
             "%s", o->err.text);
}

static void testChanged(void) {
  size_t n;
  char* text = shortRecord(&n);
  Outcome o = replay(path);
  same(&o, 4);
  o = changed(text, "\"ctrl\": [1.25]", 0, "\"ctrl\": [1.5]");
  differs(&o, "act", 0, 2);
  o = changed(text, "\"status\": 0", 1, "\"status\": 1");
  differs(&o, "status", -1, 2);
  assert_string_equal(o.first.recorded, "1");
  assert_string_equal(o.first.found, "0");
  o = changed(text, "\"mass\": 2,", 0, "\"mass\": 1.5,");
  differs(&o, "total_mass", -1, 0);
  assert_string_equal(o.first.what, "model");
  o = changed(text, "\"time\": [0.01]", 0, "\"time\": [0.011]");
  differs(&o, "time", 0, 2);
  assert_string_equal(o.first.recorded, "0.010999999999999999");
  assert_string_equal(o.first.found, "0.01");
  o = changed(text, "\"now\": {\"time\": [0.01], ", 0, "\"now\": {");
  differs(&o, "time", 0, 2);   // not told: as it was
  assert_string_equal(o.first.recorded, "0.0050000000000000001");
  o = changed(text, "\"poses\": \"", 1, "\"poses\": \"x");
  differs(&o, "poses", -1, 2);
  o = changed(text, "\"contacts\": \"", 2, "\"contacts\": \"x");
  differs(&o, "contacts", -1, 3);
  o = changed(text, "\"jnt_effinertia\": [", 0, "\"jnt_effinertia\": [1");
  differs(&o, "jnt_effinertia", -1, 0);
  o = changed(text, "\"jnt_effinertia\": [", 0,
              "\"jnt_effinertia\": [\"inf\", 1], \"jnt_axis\": [");
  refuses(&o, "line 2", "must be finite");
  o = changed(text, "\"jnt_effinertia\"", 0, "\"nv\"");
  refuses(&o, "line 2", "nv: is no array");
  o = changed(text, "\"version\": \"", 0, "\"version\": \"9");
  same(&o, 4); // another version is told, no more
  o = changed(text, "\"dijoco_record\": 1", 0, "\"dijoco_record\": 2");
  refuses(&o, "line 1", "version 2");
  o = changed(text, "\"ctrl\": [1.25]", 0, "\"ctrl\": [1.25, 2]");
  refuses(&o, "line 5", "ctrl: has too many");
  o = changed(text, "\"ctrl\": [1.25]", 0, "\"ctrl\": []");
  refuses(&o, "line 5", "ctrl: has too few");
  o = changed(text, "\"ctrl\": [1.25]", 0, "\"crtl\": [1.25]");
  refuses(&o, "line 5", "crtl");
  o = changed(text, "\"ctrl\": [1.25]", 0, "\"ctrl\": [\"1\"]");
  refuses(&o, "line 5", "expected numbers");
  o = changed(text, "\"do\": \"step\"", 1, "\"do\": \"leap\"");
  refuses(&o, "line 5", "do");
  o = changed(text, "\"call\": 2", 0, "\"call\": 3");
  refuses(&o, "line 5", "expected 2");
  o = changed(text, "\"end\": 2", 0, "\"end\": 1");
  refuses(&o, "line 6", "another call");
  o = changed(text, "\"stats.gap\"", 0, "\"stats.steps\"");
  refuses(&o, "line 4", "stats.steps");
  o = changed(text, "{\"model\"", 0, "{\"molde\"");
  refuses(&o, "line 2", "molde");
  o = changed(text, "\"bodies\"", 0, "\"bodeis\"");
  refuses(&o, "line 2", "bodeis");
  free(text);
  put(path, "", 0);
  o = replay(path);
  refuses(&o, "line 1", "empty");
  o = replay("no such file");
  assert_int_equal(o.status, DJ_FILE);
}

// Cut off anywhere: at the end of a line what is before it is whole, elsewhere the line is named.
static void testCut(void) {
  size_t n;
  char* text = shortRecord(&n);
  const char* hashes = strstr(text, "\"arrays\"");
  const size_t first = (size_t)(hashes - text), last = (size_t)(strchr(hashes, '\n') - text);
  for (size_t k = n; k-- > 0;) {
    if (k > first && k < last && k % 37) continue; // one like the other
    assert_int_equal(truncate(path, (off_t)k), 0);
    Outcome o = replay(path);
    const bool whole = k > 0 && text[k - 1] == '\n';
    if (!whole && o.status == DJ_OK) fail_msg("cut at %zu of %zu: passed", k, n);
    if (!whole)
      assert_non_null(strstr(o.err.text, "line "));
    else if (o.first.what || o.status < 0)
      fail_msg("cut at %zu: %s", k, o.err.text);
  }
  free(text);
}

// Any byte another one: it is read as it then stands, or refused.
static void testFlipped(void) {
  size_t n;
  char* text = shortRecord(&n);
  const int file = open(path, O_WRONLY);
  long refused = 0, told = 0, passed = 0;
  assert_true(file >= 0);
  for (size_t k = 0; k < n; k += 7) {
    for (int bit = (int)(k % 2); bit < 8; bit += 4) {
      const char other = (char)(text[k] ^ (1 << bit));
      assert_int_equal(pwrite(file, &other, 1, (off_t)k), 1);
      Outcome o = replay(path);
      assert_int_equal(pwrite(file, text + k, 1, (off_t)k), 1);
      if (o.status < 0)
        refused++;
      else if (o.first.what)
        told++;
      else
        passed++; // a version, a name...
      if (o.status < 0) assert_true(strlen(o.err.text) > 10);
    }
  }
  close(file);
  assert_true(refused > 50 && told > 50);
  assert_true(passed < (refused + told) / 4);
  free(text);
}

static int clean(void** state) {
  (void)state;
  remove(path);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
    djt_test(testRepeated),
    djt_test(testRows),
    djt_test(testModels),
    djt_test(testTurns),
    djt_test(testHashes),
    djt_test(testRefused),
    djt_test(testKilled),
#if DJT_COUNTED_MEMORY
    djt_test(testMemory),
#endif
    djt_test(testChanged),
    djt_test(testCut),
    djt_test(testFlipped),
  };
  return cmocka_run_group_tests(tests, NULL, clean);
}
