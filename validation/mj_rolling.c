// What rolls and spins goes on, beside MuJoCo's RK4, both at 2 ms and with their defaults: a ball
// and a car with four free wheels that roll at 2 m/s for 5 s, and a top of 150 rad/s that precesses
// about a fixed point.

#include "common/robots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLANE "<geom type='plane' size='50 50 1'/>"
#define WHEEL(x, y)                                                                        \
  "<body pos='" x " " y " -.05'><joint axis='0 1 0'/>"                                     \
  "<geom type='cylinder' size='.1 .02' euler='90 0 0' mass='.5'/></body>"

static const char BALL[] =
    "<mujoco><worldbody>" PLANE "<body pos='0 0 .1'><freejoint/>"
    "<geom type='sphere' size='.1' mass='1'/></body></worldbody>"
    "<keyframe><key qvel='2 0 0 0 20 0'/></keyframe></mujoco>";

static const char CAR[] =
    "<mujoco><worldbody>" PLANE "<body pos='0 0 .15'><freejoint/>"
    "<geom type='box' size='.3 .15 .05' mass='5'/>" WHEEL(".2", ".18") WHEEL(".2", "-.18")
    WHEEL("-.2", ".18") WHEEL("-.2", "-.18") "</body></worldbody>"
    "<keyframe><key qvel='2 0 0 0 0 0 20 20 20 20'/></keyframe></mujoco>";

static const char TOP[] =
    "<mujoco><worldbody><body euler='20 0 0'><joint type='ball'/>"
    "<geom type='cylinder' size='.05 .01' pos='0 0 .06' mass='.2' contype='0' conaffinity='0'/>"
    "</body></worldbody><keyframe><key qvel='0 0 150'/></keyframe></mujoco>";

// Speed along x; spin, height of the axis' end, a mean over the last second, as the axis nods by
// .01, and the angle by which it has gone around.
typedef struct Motion {
  double speed, spin, height, around;
} Motion;

// The axis' direction of a top with the rotation q relative to the body's frame.
static void follow(Motion* motion, const mjModel* m, const double* qpos, const double* qvel,
                   double* last, double weight) {
  double q[4], axis[3], z[3] = {0, 0, 1};
  motion->speed = qvel[0];
  motion->spin = qvel[2];
  if (m->nv != 3) return;
  mju_mulQuat(q, m->body_quat + 4, qpos);
  mju_rotVecQuat(axis, z, q);
  motion->height += weight * axis[2];
  double angle = atan2(axis[1], axis[0]);
  if (!isnan(*last)) motion->around += remainder(angle - *last, 2 * 3.14159265358979323846);
  *last = angle;
}

static void compare(djvReport* r, djIntegrator integrator, const char* name, const char* text) {
  mjModel* m = robot_compile(text);
  mjData* d = mj_makeData(m);
  djError err;
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s: %s", name, err.text);
  djOption option = model->opt;
  option.integrator = integrator;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s: %s", name, err.text);
  djData* data = robot_makeData(model);
  mj_resetDataKeyframe(m, d, 0);
  robot_copyState(data, m, d);
  m->opt.integrator = mjINT_RK4;
  Motion theirs = {0}, ours = {0};
  double last[2] = {NAN, NAN};
  long bad = 0;
  for (int k = 0; k < 2500; k++) {
    mj_step(m, d);
    bad += dj_step(model, data) != DJ_OK;
    double weight = k < 2000 ? 0 : 1.0 / 500;
    follow(&theirs, m, d->qpos, d->qvel, &last[0], weight);
    follow(&ours, m, data->qpos, data->qvel, &last[1], weight);
  }
  robot_count(r, bad + data->stats.fallback_steps, 0, "%s: steps that fail or fall back", name);
  if (m->nv == 3) {
    robot_near(r, ours.spin, theirs.spin, 0.01 * fabs(theirs.spin), "%s: spin, rad/s", name);
    robot_near(r, ours.height, theirs.height, 0.01 * theirs.height, "%s: height of the axis", name);
    robot_near(r, ours.around, theirs.around, 0.01 * fabs(theirs.around), "%s: precession, rad",
               name);
  } else {
    robot_near(r, ours.speed, theirs.speed, 0.01 * theirs.speed, "%s: speed after 5 s, m/s", name);
    djv_figure(r, "speed after 5 s", ours.speed, "m/s");
  }
  dj_deleteData(data);
  dj_deleteModel(model);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  // by the method that is meant for it; `position` is known to lose half of the speed
  djIntegrator integrator = DJ_EULER;
  if (argc > 1 && !strcmp(argv[1], "--integrator")) integrator = djv_takeIntegrator(&argc, argv);
  djv_isQuick(argc, argv);
  djvReport report = {0};
  djv_title("Rolling and spinning beside RK4 at 2 ms: %s", dj_integratorName(integrator));
  compare(&report, integrator, "ball", BALL);
  compare(&report, integrator, "car", CAR);
  // on a ball joint; by MuJoCo's explicit gyroscopic term, and so by euler, it does not stand
  compare(&report, integrator == DJ_EULER ? DJ_VARIATIONAL : integrator, "top", TOP);
  return djv_finish(&report);
}
