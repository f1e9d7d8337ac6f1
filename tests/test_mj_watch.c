// Loading a scene with meshes tells a watch, and ends when it says so.

#include "common/mjcf.h"
#include "common/sample_model.h"
#include "common/test.h"

#include <dijoco/mujoco.h>

static const char* const path = "test_mj_watch.tmp.xml";

typedef struct Log {
  int n, last;                 // calls; the one that cancels (0: none)
  double done;
} Log;

static int note(void* user, double done) {
  Log* log = user;
  assert_true(done >= log->done && done < 1);
  log->done = done;
  return ++log->n == log->last;
}

// A spiral of points on a sphere.
static void writeScene(void) {
  enum { N = 500 };
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fputs("<mujoco><asset><mesh name='ball' vertex='", file);
  for (int k = 0; k < N; k++) {
    double z = 1 - (2 * k + 1.0) / N, r = sqrt(1 - z * z);
    fprintf(file, "%.9g %.9g %.9g ", r * cos(2.4 * k), r * sin(2.4 * k), z);
  }
  fputs("'/></asset><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 2'><freejoint/>"
        "<geom type='mesh' mesh='ball'/></body></worldbody></mujoco>", file);
  fclose(file);
}

static void testScene(void) {
  writeScene();
  djModel *m = NULL, *again = NULL;
  djReport* report = NULL;
  mjModel* stock = NULL;
  djError err = {""};
  if (dj_loadMJCF(&m, NULL, NULL, path, &err) != DJ_OK) fail_msg("%s", err.text);
  Log log = {0};
  djWatch watch = {note, &log};
  assert_int_equal(dj_loadMJCFWatched(&again, &report, &stock, path, &watch, &err), DJ_OK);
  assert_true(log.n > 5);
  assert_null(djt_difference(m, again));
  assert_non_null(stock);
  dj_deleteModel(m);
  dj_deleteModel(again);
  dj_deleteReport(report);
  mj_deleteModel(stock);
  log = (Log){.last = 2};
  assert_int_equal(dj_loadMJCFWatched(&again, &report, &stock, path, &watch, &err), DJ_CANCELLED);
  assert_int_equal(log.n, 2);
  assert_null(again);
  assert_null(report);
  assert_null(stock);
  assert_non_null(strstr(err.text, "cancelled"));
  remove(path);
}

DJT_MAIN(testScene)
