// Both engines behind one interface: the start, a step, energy and spin, what is told of a run, and
// trajectories as CSV.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "engine.h"
#include "states.h"

#include <cjson/cJSON.h>

typedef struct Run {
  Options o;
  Scene s;
  Inputs in;
} Run;

static void openRun(Run* r, const char* scene, Options o) {
  r->o = o;
  djt_says(scene_open(&r->s, &r->o, scene), 0, "");
  djt_says(inputs_read(&r->in, &r->o, &r->s, r->s.model->opt.timestep), 0, "");
}

static void closeRun(Run* r) {
  inputs_free(&r->in);
  scene_close(&r->s);
}

// Potential and kinetic energy of the ball (1 kg) and the arm (0.5 kg, 0.5 m below its hinge).
static double energy(const double* q, const double* v) {
  double potential = 9.81 * (q[2] + 0.5 * (2 - 0.5 * cos(q[7]))), kinetic = 0;
  for (int i = 0; i < 3; i++) kinetic += (v[i] * v[i] + 0.004 * v[3 + i] * v[3 + i]) / 2;
  return potential + kinetic + (0.02 + 0.5 * 0.25) * v[6] * v[6] / 2;
}

static void testStart(void) {
  Run r;
  Engine e;
  openRun(&r, "scene.json", djt_options("scene.json", "--time", "1", "--keyframe", "up"));
  for (int i = 3; i < 6; i++) r.in.qvel[i] = i - 2;
  r.s.model->opt.gravity_ramp = r.in.gravity_ramp = 10;   // energy is of the whole gravity
  assert_true(engine_open(&e, false, &r.s, &r.in));
  assert_string_equal(e.name, "dijoco");
  assert_true(e.time == 1.5 && e.qpos[7] == 0.3 && e.qvel[2] == -3);
  assert_int_equal(e.nstate, dj_stateSize(r.s.model));
  djt_near(e.energy, energy(e.qpos, e.qvel), 1e-12);
  djt_near(e.xpos[3 + 2], 2, 1e-15);
  for (int i = 0; i < 3; i++) djt_near(e.tally.spin_first[i], 0.004 * (i + 1), 1e-15);
  assert_memory_equal(e.tally.spin_first, e.tally.spin_last, sizeof e.tally.spin_first);
  const double *L = e.tally.momentum_first, *q = e.qpos, *u = e.qvel;
  double arm = u[6] * (0.02 + 0.5 * (0.25 + sin(q[7]) - cos(q[7])));   // its hinge is at (0, 2, 2)
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double ball = q[j] * u[k] - q[k] * u[j] + 0.004 * (i + 1);
    djt_near(L[i], ball + (i == 0 ? arm : 0), 1e-12);
  }
  assert_memory_equal(L, e.tally.momentum_last, sizeof e.tally.momentum_last);
  assert_true(e.tally.energy_first == e.energy && e.tally.time == 1.5 && e.tally.steps == 0);
  for (long k = 0; k < 20; k++) assert_true(engine_step(&e, &r.in, k));
  assert_true(engine_measure(&e) && engine_measureMomentum(&e));
  djt_near(e.tally.energy_last, energy(e.qpos, e.qvel), 1e-12);
  const double *spin = e.tally.spin_last, *v = e.qvel + 3;   // alike about all axes
  djt_near(hypot(spin[0], hypot(spin[1], spin[2])), 0.004 * hypot(v[0], hypot(v[1], v[2])), 1e-15);
  assert_true(e.tally.energy_first != e.tally.energy_last);
  engine_close(&e);
  engine_close(&e);
  r.in.qpos[0] = NAN;
  assert_false(engine_open(&e, false, &r.s, &r.in));
  assert_true(*e.error);
  closeRun(&r);
}

// Steps are those of dj_step, with the controls and the gravity of each.
static void testSteps(void) {
  Run r;
  Engine e;
  openRun(&r, "scene.json", djt_options("scene.json", "--time", "0.2", "--ctrl-seed", "5"));
  r.in.gravity_ramp = 0.1;
  djData* d = djt_data(r.s.model);
  assert_true(engine_open(&e, false, &r.s, &r.in));
  double* wanted = tool_alloc((size_t)e.nstate, sizeof *wanted);
  for (long k = 0; k < r.in.steps; k++) {
    inputs_ctrl(d->ctrl, &r.in, k);
    d->gravity_scale = inputs_gravity(&r.in, k);
    djt_near(d->gravity_scale, k < 20 ? (double)k / 20 : 1, 1e-15);
    assert_int_equal(dj_step(r.s.model, d), DJ_OK);
    dj_getState(wanted, r.s.model, d);
    assert_true(engine_step(&e, &r.in, k));
    assert_memory_equal(engine_state(&e), wanted, (size_t)e.nstate * sizeof *wanted);
  }
  const Tally* t = &e.tally;
  assert_int_equal(t->steps, 40);
  assert_true(t->newton_iterations == d->stats.newton_iterations);
  assert_true(t->worst_residual == d->stats.worst_residual && t->time == d->time);
  assert_true(t->smallest_gap == d->stats.smallest_gap && e.gap == d->stats.gap);
  assert_true(t->wall > 0 && !t->stopped && !*t->note);
  // A step that is impossible changes nothing, and ends the run.
  r.in.seed = -1;
  r.in.ctrl0[0] = NAN;
  assert_false(engine_step(&e, &r.in, 40));
  assert_true(t->stopped && *t->note && t->steps == 40);
  assert_string_equal(t->note, e.error);
  assert_memory_equal(engine_state(&e), wanted, (size_t)e.nstate * sizeof *wanted);
  free(wanted);
  dj_deleteData(d);
  engine_close(&e);
  closeRun(&r);
}

static void testWrite(void) {
  Run r;
  Engine e;
  openRun(&r, "scene.json", djt_options("scene.json", "--time", "0.01"));
  assert_true(engine_open(&e, false, &r.s, &r.in));
  assert_true(engine_step(&e, &r.in, 0));
  e.tally.unconverged_steps = 3;
  e.tally.fallback_steps = 4;
  e.tally.impact_steps = 5;
  e.tally.wall = 0.5;
  for (int stopped = 0; stopped < 2; stopped++) {
    Buffer text = {0};
    Json out;
    json_start(&out, &text);
    e.tally.stopped = stopped;
    snprintf(e.tally.note, sizeof e.tally.note, "%s", stopped ? "a \"note\"" : "");
    engine_write(&out, NULL, &e, &r.s, &r.o);
    cJSON* json = cJSON_Parse(text.text);
    static const struct {
      const char* key;
      double value;
    } row[] = {
        {"steps", 1},        {"time", 0.005}, {"unconverged_steps", 3}, {"fallback_steps", 4},
        {"damped_steps", 4}, {"impact_steps", 5},  {"wall_s", 0.5},         {"wall_per_step_s", 0.5}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
      const cJSON* item = cJSON_GetObjectItemCaseSensitive(json, row[i].key);
      djt_near(item ? item->valuedouble : NAN, row[i].value, 1e-15);
    }
    assert_string_equal(cJSON_GetObjectItem(json, "scene")->valuestring, "scene.json");
    assert_string_equal(cJSON_GetObjectItem(json, "engine")->valuestring, "dijoco");
    static const char* const vector[] = {"momentum_first", "momentum_last", "spin_first",
                                         "angular_momentum_first", "angular_momentum_last",
                                         "spin_last"};
    for (int i = 0; i < 6; i++) {
      assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, vector[i])), 3);
    }
    assert_int_equal(cJSON_GetObjectItem(json, "stopped") != NULL, stopped);
    const cJSON* note = cJSON_GetObjectItem(json, "note");
    assert_int_equal(note != NULL, stopped);
    if (note) assert_string_equal(note->valuestring, "a \"note\"");
    cJSON_Delete(json);
    buf_free(&text);
  }
  engine_close(&e);
  closeRun(&r);
}

// Names in the first line; every number reads back to its last bit.
static void testStates(void) {
  Run r;
  Engine e;
  djFile* file;
  openRun(&r, "scene.json", djt_options("scene.json", "--time", "0.1", "--keyframe", "up"));
  assert_true(engine_open(&e, false, &r.s, &r.in));
  assert_int_equal(dj_openFile(&file, "states.csv", NULL), DJ_OK);
  states_header(file, &e);
  states_row(file, &e);
  assert_true(engine_step(&e, &r.in, 0));
  states_row(file, &e);
  assert_int_equal(dj_commitFile(file, NULL), DJ_OK);
  char *text = djt_readText("states.csv"), *line[3], *rest;
  line[0] = strtok_r(text, "\n", &rest);
  for (int i = 1; i < 3; i++) line[i] = strtok_r(NULL, "\n", &rest);
  assert_null(strtok_r(NULL, "\n", &rest));
  assert_string_equal(line[0], "time,qpos[0],qpos[1],qpos[2],qpos[3],qpos[4],qpos[5],qpos[6],"
                               "qpos[7],qvel[0],qvel[1],qvel[2],qvel[3],qvel[4],qvel[5],qvel[6]");
  assert_int_equal(strncmp(line[1], "1.5,0,0,2,1,", 12), 0);
  const double* wanted = engine_state(&e);
  char* c = line[2];
  for (int i = 0; i < e.nstate; i++, c++) assert_true(strtod(c, &c) == wanted[i]);
  assert_int_equal(c[-1], 0);
  engine_close(&e);
  closeRun(&r);
  static const struct {
    long every;
    const char* due;
  } row[] = {{-1, "111111"}, {1, "111111"}, {2, "101010"}, {5, "100001"}};
  for (int i = 0; i < 4; i++) {
    Options o = {.every = row[i].every};
    for (long k = 0; k < 6; k++) assert_int_equal(states_due(&o, k), row[i].due[k] == '1');
  }
}

static void testNoStock(void) {
  Run r;
  Engine e;
  openRun(&r, "scene.json", djt_options("scene.json", "--time", "1"));
  assert_false(engine_open(&e, true, &r.s, &r.in));
  assert_true(*e.error);
  closeRun(&r);
}

#ifdef DJ_HAVE_MUJOCO
// A ball that falls in stock MuJoCo: v = -g h k, z = z0 - g h^2 k (k + 1)/2, then one that touches.
static void testMujoco(void) {
  static const char format[] =
      "<mujoco><option timestep=\"0.01\" gravity=\"0 0 -8\"/><worldbody><geom type=\"plane\" "
      "size=\"0 0 1\"/><body name=\"ball\" pos=\"0 0 %g\"><freejoint/><geom size=\"0.1\" "
      "mass=\"2\"/></body></worldbody></mujoco>";
  for (int touching = 0; touching < 2; touching++) {
    char text[600];
    Run r;
    Engine e;
    snprintf(text, sizeof text, format, touching ? 0.099 : 1);
    djt_writeText("scene.xml", text);
    openRun(&r, "scene.xml", djt_options("scene.xml", "--time", "0.1"));
    if (!touching) r.in.time = 2;
    assert_true(engine_open(&e, true, &r.s, &r.in));
    assert_string_equal(e.name, "mujoco");
    assert_int_equal(e.nstate, 1 + 7 + 6);
    djt_near(e.tally.energy_first, 2 * 8 * (touching ? 0.099 : 1), 1e-12);
    for (long k = 0; k < (touching ? 1 : 10); k++) assert_true(engine_step(&e, &r.in, k));
    const double* s = engine_state(&e);
    if (touching) {
      assert_int_equal(e.ncontact, 1);
      assert_true(e.contact[0].body1 == 0 && e.contact[0].body2 == 1);
      assert_true(e.contact[0].force[2] > 16);
      djt_near(e.tally.deepest_overlap, 0.001, 1e-6);
      djt_near(e.tally.smallest_gap, -0.001, 1e-6);
      assert_true(e.tally.newton_iterations > 0 && e.gap > -0.001);
    } else {
      djt_near(s[0], 2.1, 1e-12);
      djt_near(s[3], 1 - 8 * 1e-4 * 55, 1e-12);
      djt_near(s[8 + 2], -0.8, 1e-12);
      assert_true(engine_measure(&e));
      djt_near(e.energy, 16 * s[3] + 0.64, 1e-12);
      assert_true(e.tally.steps == 10 && e.ncontact == 0 && !e.tally.stopped);
    }
    engine_close(&e);
    closeRun(&r);
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      djt_test(testStart),  djt_test(testSteps),   djt_test(testWrite),
      djt_test(testStates), djt_test(testNoStock),
#ifdef DJ_HAVE_MUJOCO
      djt_test(testMujoco),
#endif
  };
  return cmocka_run_group_tests(tests, djt_enterFolder, djt_leaveFolder);
}
