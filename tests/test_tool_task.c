// A task in memory: its loss and gradient, which are known for a ball that falls freely; its
// optimisation, the course of the result, and the task that starts from it.

#include "common/make_model.h"
#include "common/test.h"
#include "common/tool_case.h"
#include "grad_run.h"
#include "optimize_run.h"

#include <cjson/cJSON.h>
#include <sys/stat.h>

// After 20 steps of 5 ms the ball is at v T, but for gravity; the arm only costs effort.
enum { STEPS = 20 };
static const double T = 0.1, H = 0.005, target[3] = {0.3, -0.2, 0.4}, start[3] = {1, 0.5, -0.25};
static const char taskText[] =
    "{\"scene\":\"scene.json\",\"timestep\":0.005,\"horizon\":20,\"integrator\":\"position\","
    "\"initial\":{\"keyframe\":\"rest\",\"qvel\":[1,0.5,-0.25,0,0,0,0]},\"ctrl\":[3,-0.5],"
    "\"loss\":[{\"type\":\"position\",\"body\":\"ball\",\"target\":[0.3,-0.2,0.4],\"weight\":2},"
    "{\"type\":\"effort\",\"weight\":0.01}],"
    "\"variables\":[{\"name\":\"qvel0\",\"index\":[0,1,2],\"min\":-2,\"max\":2},"
    "{\"name\":\"ctrl\"},{\"name\":\"geom/skin/friction\",\"index\":[0]}]%s}";

static void writeTask(const char* more) {
  char text[1500];
  snprintf(text, sizeof text, taskText, more);
  djt_writeText("task.json", text);
}

static double endOf(int axis, double v) {
  return axis < 2 ? v * T : 0.5 + v * T - 9.81 * H * H * STEPS * (STEPS + 1) / 2;
}

static void testGradient(void) {
  Options o = djt_options("task.json");
  GradRun g;
  writeTask("");
  djt_says(grad_load(&g, &o, "task.json"), 0, "");
  djt_says(grad_compute(&g), 0, "");
  double position = 0, effort = 0.01 * T * (9 + 0.25);
  for (int i = 0; i < 3; i++) {
    double miss = endOf(i, start[i]) - target[i];
    position += 2 * miss * miss;
    djt_near(grad_of(&g, 0)[i], 4 * miss * T, 1e-9);
  }
  djt_near(g.term[0], position, 1e-9);
  djt_near(g.term[1], effort, 1e-12);
  djt_near(g.loss, position + effort, 1e-9);
  for (int k = 0; k < 2 * STEPS; k++) {
    djt_near(grad_of(&g, 1)[k], 0.02 * H * (k % 2 ? -0.5 : 3), 1e-12);
  }
  djt_near(grad_of(&g, 2)[0], 0, 1e-9);
  assert_true(!g.singular && g.unconverged_steps == 0 && g.forward > 0 && g.backward > 0);
  double* value = grad_value(&g, 0);
  for (int i = 0; i < 3; i++) assert_true(value[i] == start[i]);
  free(value);
  value = grad_value(&g, 2);
  assert_true(value[0] == 1);
  free(value);
  djdCertificate c;
  for (int k = 0; k < 3; k++) {
    grad_certify(&c, &g, k, 1, DJD_CHECK_RUNS);
    assert_true(c.passed);
    assert_null(g.design->rollout.watch.progress);
  }
  g.gradient[0] *= 1.001;
  grad_certify(&c, &g, 0, 1, DJD_CHECK_RUNS);
  assert_false(c.passed);
  grad_free(&g);
  assert_null(g.task);
}

// What the command line says is stronger than the task, and this than the scene.
static void testLoad(void) {
  GradRun g;
  Options o = djt_options("task.json", "--keyframe", "up", "--timestep", "0.01", "--set",
                          "joint/hinge/damping=2", "--set", "geom/skin/size=0.2,0,0");
  writeTask(",\"contact\":{\"skin\":0.002},\"inertia_from_geom\":true,"
            "\"set\":{\"joint/hinge/damping\":1}");
  djt_says(grad_load(&g, &o, "task.json"), 0, "");
  const djModel* m = g.scene.model;
  assert_true(m->opt.timestep == 0.01 && m->opt.skin == 0.002);
  assert_int_equal(g.problem->key, 1);
  assert_true(g.problem->qpos0[2] == 2 && g.problem->qvel0[0] == 1);
  double value;
  djParam p = djt_param(m, "joint/hinge/damping");
  assert_int_equal(dj_getParam(&value, m, &p), DJ_OK);
  assert_true(value == 2);
  djt_near(m->body_mass[1], 8, 1e-12);   // follows the size
  grad_free(&g);
  o = djt_options("task.json", "--keyframe", "none");
  writeTask("");
  djt_says(grad_load(&g, &o, "task.json"), EXIT_BAD_INPUT,
           "dijoco test: scene.json: --keyframe: the scene has no keyframe 'none'\n");
  grad_free(&g);
  o = djt_options("none.json");
  djt_says(grad_load(&g, &o, "none.json"), EXIT_BAD_INPUT,
           "dijoco test: none.json: cannot be opened\n");
  grad_free(&g);
  assert_false(grad_refusesRamp(&o));
  o = djt_options("task.json", "--gravity-ramp", "1");
  djt_says(grad_refusesRamp(&o), true,
           "dijoco test: --gravity-ramp: is for simulate and compare\n");
}

static void load(OptimizeRun* r, const Options* o) { djt_says(optimize_load(r, o), 0, ""); }

static void testRefused(void) {
  OptimizeRun r;
  writeTask(",\"optimizer\":{\"type\":\"adam\",\"iterations\":7,\"rate\":0.5}");
  Options o = djt_options("task.json", "--optimizer", "lbfgsb", "--iterations", "9");
  load(&r, &o);
  assert_string_equal(r.how.type, "lbfgsb");
  assert_true(r.how.iterations == 9 && r.how.rate == 0.5);
  optimize_free(&r);
  o = djt_options("task.json", "--iterations", "0");
  djt_says(optimize_load(&r, &o), EXIT_BAD_INPUT,
           "dijoco test: --iterations: nothing would be done\n");
  optimize_free(&r);
  o = djt_options("task.json", "--optimizer", "none");
  djt_listen(2);
  assert_int_equal(optimize_load(&r, &o), EXIT_BAD_INPUT);
  assert_non_null(strstr(djt_heard(2), "dijoco test: --optimizer: "));
  optimize_free(&r);
  djt_writeText("task.json", "{\"scene\":\"scene.json\",\"horizon\":2,\"loss\":[{\"type\":"
                             "\"effort\"}],\"variables\":[]}");
  o = djt_options("task.json");
  djt_listen(2);
  assert_int_equal(optimize_load(&r, &o), EXIT_BAD_INPUT);
  assert_non_null(strstr(djt_heard(2), "variables"));
  optimize_free(&r);
}

// The best velocity is (3, -2, ...), of which the bounds allow (2, -2, ...). The best controls are 0,
// but the motor's stay in its ctrlrange, which begins at 2.
static void testOptimize(void) {
  OptimizeRun r;
  Options o = djt_options("task.json", "--optimizer", "lbfgsb", "--iterations", "200");
  writeTask("");
  load(&r, &o);
  djt_says(optimize_run(&r), 0, "");
  double vz = (target[2] - endOf(2, 0)) / T;
  const double best[3] = {2, -2, vz};
  double left = 2 * 0.1 * 0.1 + 0.01 * T * 4;
  for (int i = 0; i < 3; i++) djt_near(r.x[i], best[i], 1e-3);
  for (int k = 0; k < 2 * STEPS; k++) djt_near(r.x[3 + k], k % 2 ? 0 : 2, 1e-3);
  djt_near(r.loss[AT_END], left, 1e-6);
  assert_true(r.loss[AT_START] > r.loss[AT_END] && r.result.loss == r.loss[AT_END]);
  assert_true(r.term[AT_START][0] + r.term[AT_START][1] == r.loss[AT_START]);
  for (int i = 0; i < 3; i++) {
    assert_true(r.value[AT_START][0][i] == start[i]);
    djt_near(r.value[AT_END][0][i], r.x[i], 0);
  }
  assert_string_equal(optimize_status(&r), "ok");
  // Its history, from the start.
  assert_true(r.nrow > 1 && r.row[0].iteration == 0 && r.row[0].loss == r.loss[AT_START]);
  double least = INFINITY;
  for (int i = 0; i < r.nrow; i++) {
    least = fmin(least, r.row[i].loss);
    assert_true(i == 0 || (r.row[i].iteration > r.row[i - 1].iteration &&
                           r.row[i].wall >= r.row[i - 1].wall));
  }
  assert_true(least == r.loss[AT_END] && r.wall > 0);
  // Both courses; without a guide there is no third.
  assert_null(r.course[PLAIN].xpos);
  for (int k = 0; k < PLAIN; k++) {
    const Course* c = &r.course[k];
    const double* v = k == AT_START ? start : r.x;
    assert_int_equal(c->nsample, STEPS + 1);
    for (int i = 0; i <= STEPS; i++) {
      djt_near(c->time[i], i * H, 1e-12);
      djt_near(course_poses(&r, c, i).xpos[3], v[0] * i * H, 1e-9);
      djt_near(course_poses(&r, c, i).xquat[4], 1, 1e-9);
    }
    djt_near(c->ctrl[0], k == AT_START ? 3 : r.x[3], 0);
  }
  optimize_free(&r);
  assert_null(r.x);
}

static void testStatus(void) {
  OptimizeRun r = {.loss = {2, 1}};
  assert_string_equal(optimize_status(&r), "ok");
  r.result.stop = DJ_STOP_STUCK;
  assert_string_equal(optimize_status(&r), "ok");
  r.loss[AT_END] = 2;
  assert_string_equal(optimize_status(&r), "stuck");
  r.unconverged[AT_START] = 1;
  assert_string_equal(optimize_status(&r), "stuck");
  r.unconverged[AT_END] = 1;
  assert_string_equal(optimize_status(&r), "no_convergence");
  r.interrupted = true;
  assert_string_equal(optimize_status(&r), "interrupted");
}

// task.json in another folder has the result's loss.
static void testTask(void) {
  OptimizeRun r;
  Options o = djt_options("task.json", "--iterations", "5", "--support", "0.002", "--set",
                          "joint/hinge/damping=2");
  writeTask(",\"contact\":\"separating_plane\"");
  load(&r, &o);
  djt_says(optimize_run(&r), 0, "");
  mkdir("out", 0700);
  Buffer text = {0}, ctrl = {0};
  djt_says(optimize_task(&text, &r, "out"), 0, "");
  buf_add(&ctrl, "ctrl[0],ctrl[1]\n");
  const double* u = r.course[AT_END].ctrl;
  for (int k = 0; k < STEPS; k++) buf_addf(&ctrl, "%.17g,%.17g\n", u[2 * k], u[2 * k + 1]);
  djt_writeText("out/task.json", text.text);
  djt_writeText("out/ctrl.csv", ctrl.text);
  cJSON* json = cJSON_Parse(text.text);
  assert_string_equal(cJSON_GetObjectItem(json, "scene")->valuestring, "../scene.json");
  const cJSON* contact = cJSON_GetObjectItem(json, "contact");
  assert_string_equal(cJSON_GetObjectItem(contact, "model")->valuestring, "separating_plane");
  assert_true(cJSON_GetObjectItem(contact, "support")->valuedouble == 0.002);
  assert_true(
      cJSON_GetObjectItem(cJSON_GetObjectItem(json, "optimizer"), "iterations")->valuedouble == 5);
  cJSON_Delete(json);
  GradRun g;
  Options plain = djt_options("out/task.json");
  djt_says(grad_load(&g, &plain, "out/task.json"), 0, "");
  assert_true(g.scene.model->opt.support == 0.002);
  djt_says(grad_compute(&g), 0, "");
  djt_near(g.loss, r.loss[AT_END], 1e-15);
  grad_free(&g);
  buf_free(&text);
  text = (Buffer){0};
  djt_listen(2);
  assert_int_equal(optimize_task(&text, &r, "no/folder"), EXIT_BAD_INPUT);
  assert_non_null(strstr(djt_heard(2), "task.json: cannot be read again: "));
  buf_free(&text);
  buf_free(&ctrl);
  optimize_free(&r);
}

#ifdef DJ_HAVE_MUJOCO
static const char sceneXml[] =
    "<mujoco><option timestep=\"0.005\"/><custom><text name=\"dijoco_integrator\" "
    "data=\"position\"/></custom><worldbody><geom type=\"plane\" size=\"0 0 1\"/>"
    "<body name=\"ball\" pos=\"0 0 0.5\"><freejoint/><inertial pos=\"0 0 0\" mass=\"1\" "
    "diaginertia=\"0.004 0.004 0.004\"/><geom size=\"0.1\"/></body><body pos=\"0 2 2\"><joint "
    "name=\"hinge\" axis=\"1 0 0\"/><inertial pos=\"0 0 -0.5\" mass=\"0.5\" "
    "diaginertia=\"0.02 0.02 0.001\"/></body></worldbody><actuator><motor joint=\"hinge\"/><motor "
    "joint=\"hinge\"/></actuator>"
    "<keyframe><key name=\"rest\"/></keyframe></mujoco>";
#endif

// The result in both engines, and the page about it.
static void testReplay(void) {
  OptimizeRun r;
  Options o = djt_options("task.json", "--iterations", "3");
  writeTask("");
  load(&r, &o);
  djt_says(optimize_run(&r), 0, "");
  Replay replay = {0};
  replay_run(&replay, r.grad.design, "none.xml");
  assert_true(!replay.done && *replay.note);
  for (int k = 0; k < 2; k++) {
    Buffer page = {0};
    const Again again = {.why = "not run"};
    optimize_report(&page, &r, &replay, &again);
    djt_wellFormed(page.text);
    assert_int_equal(strncmp(page.text, "<!DOCTYPE html>", 15), 0);
    buf_free(&page);
    replay_close(&replay);
    assert_true(!replay.done && !*replay.note);
#ifdef DJ_HAVE_MUJOCO
    if (k == 1) break;
    djt_writeText("replay.xml", sceneXml);
    replay_run(&replay, r.grad.design, "replay.xml");
    assert_string_equal(replay.note, "");
    assert_true(replay.done);
    assert_int_equal(replay.record.nsample, STEPS + 1);
    for (int e = 0; e < ENGINES; e++) {
      Poses end = record_poses(&replay.record, e, STEPS);
      djt_near(end.xpos[3], r.x[0] * T, 1e-6);
      Poses wanted = course_poses(&r, &r.course[AT_END], STEPS);
      djt_near(end.xpos[3], wanted.xpos[3], 1e-6);
      djt_near(end.xquat[9], wanted.xquat[9], e == 0 ? 1e-6 : 1e-3);   // by the controls
      assert_true(fabs(wanted.xquat[9]) > 0.01);
    }
    assert_true(replay.record.difference.position.max < 1e-2);
#else
    break;
#endif
  }
  optimize_free(&r);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testGradient, testLoad, testRefused, testOptimize,
            testStatus, testTask, testReplay)
