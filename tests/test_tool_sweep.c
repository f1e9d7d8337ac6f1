// Sweeps: rows of samples, whose losses and derivatives are known for a ball that falls freely, and
// the folder that processes share.

#include "common/test.h"
#include "common/tool_case.h"
#include "sweep.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 20 };
static const char taskText[] =
    "{\"scene\":\"scene.json\",\"timestep\":0.005,\"horizon\":20,\"integrator\":\"position\","
    "\"initial\":{\"keyframe\":\"rest\"},"
    "\"loss\":[{\"type\":\"position\",\"body\":\"ball\",\"target\":[0.3,0,0.4]}],"
    "\"variables\":[{\"name\":\"qvel0\",\"index\":[1,0],\"min\":-2,\"max\":2}]}";

static void open_sweep(Sweep* w, Options* o, pthread_mutex_t* loading) {
  *w = (Sweep){.options = o, .loading = loading};
  djt_says(grad_load(&w->base, o, "task.json"), 0, "");
  w->task = cJSON_Parse(taskText);
  w->label = sweep_labels(w->base.design);
}

static void close_sweep(Sweep* w) {
  samples_free(&w->samples);
  for (int e = 0; e < w->base.design->n; e++) free(w->label[e]);
  free(w->label);
  cJSON_Delete(w->task);
  grad_free(&w->base);
}

// "SAMPLE,ok,LOSS,0,VY,VX,DY,DX,"
static void check_row(const char* row, int sample, double vx, double vy) {
  int found, end = 0;
  double n[6];
  assert_int_equal(sscanf(row, "%d,ok,%lf,%lf,%lf,%lf,%lf,%lf,%n", &found, n, n + 1, n + 2, n + 3,
                          n + 4, n + 5, &end), 7);
  const double T = 0.1, x = vx * T - 0.3, y = vy * T;
  const double z = 0.5 - 9.81 * 0.005 * 0.005 * STEPS * (STEPS + 1) / 2 - 0.4;
  assert_int_equal(found, sample);
  djt_near(n[0], x * x + y * y + z * z, 1e-9);
  assert_true(n[1] == 0 && n[2] == vy && n[3] == vx);
  djt_near(n[4], 2 * y * T, 1e-9);
  djt_near(n[5], 2 * x * T, 1e-9);
  assert_string_equal(row + end, "\n");
}

static void testRows(void) {
  Options o = djt_options("task.json");
  pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  Sweep w;
  Buffer line = {0};
  djt_writeText("task.json", taskText);
  djt_writeText("s.csv", "qvel0[0]\n1\n-0.5\n");
  open_sweep(&w, &o, &loading);
  assert_string_equal(w.label[0], "qvel0[1]");
  o.samples = "s.csv";
  djt_says(samples_read(&w.samples, &w), 0, "");
  assert_int_equal(w.samples.n, 2);
  Worker k = {.sweep = &w};
  sweep_header(&line, &w);
  assert_string_equal(line.text, "sample,status,loss,unconverged_steps,qvel0[1],qvel0[0],"
                                 "d qvel0[1],d qvel0[0],message\n");
  for (int i = 0; i < 2; i++) {
    line.size = 0;
    sweep_row(&line, &k, i);
    check_row(line.text, i, i ? -0.5 : 1, 0);
  }
  samples_free(&w.samples);
  djt_writeText("s.json", "[{\"initial\":{\"qvel\":[1,2,0,0,0,0,0]}},{\"horizon\":0}]");
  o.samples = "s.json";
  djt_says(samples_read(&w.samples, &w), 0, "");
  line.size = 0;
  sweep_row(&line, &k, 0);
  check_row(line.text, 0, 1, 2);
  line.size = 0;
  sweep_row(&line, &k, 1);
  assert_memory_equal(line.text, "1,failed,,,,,,,task.json: horizon", 33);
  worker_free(&k);
  buf_free(&line);
  close_sweep(&w);
}

// A process that takes a sample of the folder, and either gives a row or dies at it.
static pid_t start_other(int sample, bool dies) {
  int ready[2];
  char byte = 0;
  assert_int_equal(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    Buffer id = {0}, row = {0};
    buf_add(&id, "{}");
    buf_addf(&row, "%d,ok,2\n", sample);
    Folder* f = folder_open("sweep", "shared", 3, &id);
    bool good = f && folder_take(f, sample);
    if (good && !dies) good = folder_give(f, sample, &row, 0.5);
    byte = good;
    if (write(ready[1], &byte, 1) == 1 && dies) pause();
    _exit(0);
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  assert_int_equal(byte, 1);
  return pid;
}

static void testFolder(void) {
  Buffer id = {0}, row = {0};
  buf_add(&id, "{}");
  buf_add(&row, "0,failed,\n");
  Folder* f = folder_open("sweep", "shared", 3, &id);
  assert_non_null(f);
  assert_true(folder_take(f, 0));
  pid_t alive = start_other(2, true);
  waitpid(start_other(1, false), NULL, 0);
  assert_false(folder_take(f, 1));       // done
  assert_false(folder_take(f, 2));       // another's
  assert_true(folder_give(f, 0, &row, 0.25));
  assert_false(folder_take(f, 0));
  SweepTally t = folder_tally(f);
  assert_true(t.done == 2 && t.here == 1 && t.seconds == 0.75);
  assert_true(t.status[SAMPLE_OK] == 1 && t.status[SAMPLE_FAILED] == 1);
  kill(alive, SIGKILL);
  waitpid(alive, NULL, 0);
  assert_true(folder_take(f, 2));        // nobody's any more
  row.size = 0;
  buf_add(&row, "2,ok,3\n");
  assert_true(folder_give(f, 2, &row, 0));
  row.size = 0;
  buf_add(&row, "header\n");
  assert_int_equal(folder_merge(f, &row), 0);
  assert_string_equal(djt_readText("shared/samples.csv"),
                      "header\n0,failed,\n1,ok,2\n2,ok,3\n");
  folder_close(f);
  id.size = 0;
  buf_add(&id, "[]");
  djt_listen(2);
  Folder* other = folder_open("sweep", "shared", 3, &id);
  assert_non_null(strstr(djt_heard(2), "sweep.json: is of another sweep"));
  assert_null(other);
  buf_free(&id);
  buf_free(&row);
}

DJT_MAIN_IN(djt_enterFolder, djt_leaveFolder, testRows, testFolder)
