// Axes of slides and hinges that maps compute: they may have any length, which the model makes 1,
// and the gradient by them has no part along themselves.

#include "common/make_model.h"
#include "common/test.h"

#include <dijoco/dijoco.h>

static const char scene[] =
    "{\"dijoco_model\":1,\"option\":{\"timestep\":0.01},\"bodies\":[{\"name\":\"world\"},"
    "{\"name\":\"cart\",\"mass\":0.5,\"inertia\":[0.02,0.03,0.04]},"
    "{\"name\":\"arm\",\"parent\":\"cart\",\"pos\":[0.1,0.2,0.3],\"ipos\":[0.1,-0.3,-0.2],"
    "\"mass\":1,\"inertia\":[0.02,0.03,0.04]}],"
    "\"joints\":[{\"name\":\"slide\",\"type\":\"slide\",\"body\":\"cart\",\"axis\":[1,0,0]},"
    "{\"name\":\"hinge\",\"type\":\"hinge\",\"body\":\"arm\",\"axis\":[0,1,0]}]}";

static const char task_text[] =
    "{\"scene\":\"s\",\"horizon\":8,\"initial\":{\"qpos\":[0.3,0.4],\"qvel\":[1,-2]},"
    "\"loss\":[{\"type\":\"position\",\"body\":\"arm\",\"target\":[0.3,0.1,-0.2]},"
    "{\"type\":\"orientation\",\"body\":\"arm\",\"target\":[1,0.2,0.3,0.1]}],"
    "\"free\":{\"a\":{\"value\":[0.6,-1.5,2]},\"b\":{\"value\":[0.1,0.2,-0.1]}},"
    "\"maps\":[{\"type\":\"shared\",\"from\":\"a\",\"to\":\"joint/slide/axis\"},"
    "{\"type\":\"shared\",\"from\":\"b\",\"to\":\"joint/hinge/axis\"}],"
    "\"variables\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";

enum { N = 6 };

static void testAxes(void) {
  djTask* task = NULL;
  djProblem* p = NULL;
  djDesign* d = NULL;
  djError err = {""};
  djModel* m = djt_modelOf(scene);
  if (dj_loadTaskText(&task, task_text, NULL, &err) != DJ_OK) fail_msg("%s", err.text);
  if (dj_resolveTask(&p, task, m, &err) != DJ_OK) fail_msg("%s", err.text);
  if (djd_makeDesign(&d, m, p, &err) != DJ_OK) fail_msg("%s", err.text);
  assert_int_equal(d->n, N);
  double loss, grad[N];
  assert_int_equal(djd_evaluateDesign(&loss, grad, d, d->x0), DJ_OK);
  for (int joint = 0; joint < 2; joint++) {
    const double *x = d->x0 + 3 * joint, *g = grad + 3 * joint;
    double along = 0, length = 0;
    for (int k = 0; k < 3; k++) {
      along += g[k] * x[k];
      length += x[k] * x[k];
    }
    for (int k = 0; k < 3; k++) {
      double axis = d->model->jnt_axis[3 * joint + k];
      assert_true(fabs(axis - x[k] / sqrt(length)) < 1e-15);
    }
    assert_true(fabs(along) < 1e-12);
  }
  for (int e = 0; e < N; e++) {
    double x[N], side[2], step = 1e-5;
    for (int k = 0; k < 2; k++) {
      memcpy(x, d->x0, sizeof x);
      x[e] += k ? -step : step;
      assert_int_equal(djd_evaluateDesign(&side[k], NULL, d, x), DJ_OK);
    }
    double slope = (side[0] - side[1]) / (2 * step);
    assert_true(fabs(slope) > 1e-3);
    assert_true(fabs(grad[e] - slope) < 1e-6 * fmax(1, fabs(slope)));
  }
  djd_deleteDesign(d);
  dj_deleteProblem(p);
  dj_deleteTask(task);
  dj_deleteModel(m);
}

DJT_MAIN(testAxes)
