// Torsional and rolling friction and two coefficients of sliding beside their laws and MuJoCo's
// elliptic cone, at .5, 2 and 10 ms: a ball that spins on its point, one that rolls, one on a slope
// below what it takes to roll, an upright cylinder that spins on its face, a box with .05 along y
// and .8 along x on slopes along both.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81, pi = 3.14159265358979323846;

typedef struct Case {
  const char* name;
  const char* geom;        // MJCF of the body
  const char* friction;    // of geoms or, with `pair`, of that
  int condim;
  bool pair;
  double height, tilt;     // m; of gravity, towards `direction`
  double direction;        // rad, from x
  double qvel[6], time;
  int index;               // of qvel; 6 + i: of qpos
  double law, tolerance;
} Case;

static double measured(const Case* c, const double* qpos, const double* qvel) {
  return c->index < 6 ? qvel[c->index] : qpos[c->index - 6];
}

static void compare(djvReport* r, const Case* c, djIntegrator integrator, double h) {
  char text[1000], more[200] = "";
  if (c->pair) {
    snprintf(more, sizeof more,
             "<contact><pair geom1='f' geom2='g' condim='%d' friction='%s'/></contact>", c->condim,
             c->friction);
  }
  snprintf(text, sizeof text,
           "<mujoco><option timestep='%g' cone='elliptic' impratio='20' gravity='%.17g "
           "%.17g %.17g'/>"
           "<default><geom condim='%d' friction='%s'/></default>"
           "<worldbody><geom name='f' type='plane' size='90 90 1'/><body pos='0 0 %g'>"
           "<freejoint/><geom name='g' mass='1' %s/></body></worldbody>%s</mujoco>",
           h, g * sin(c->tilt) * cos(c->direction), g * sin(c->tilt) * sin(c->direction),
           -g * cos(c->tilt), c->pair ? 3 : c->condim, c->pair ? "1" : c->friction, c->height,
           c->geom, more);
  mjModel* m = robot_compile(text);
  mjData* d = mj_makeData(m);
  djError err;
  djModel* model = robot_import(m, &err);
  if (!model) djv_fail("%s: %s", c->name, err.text);
  djOption option = model->opt;
  option.integrator = integrator;
  if (dj_setOption(model, &option, &err) < 0) djv_fail("%s: %s", c->name, err.text);
  djData* data = robot_makeData(model);
  const double settle = mju_isZero(c->qvel, 6) ? 0 : 0.3;   // s, before what moves begins to
  for (long k = 0; k < lround((settle + c->time) / h); k++) {
    for (int i = 0; i < 6 && k == lround(settle / h); i++) d->qvel[i] = data->qvel[i] = c->qvel[i];
    mj_step(m, d);
    if (dj_step(model, data) < 0) djv_fail("%s: a step failed", c->name);
  }
  robot_near(r, measured(c, data->qpos, data->qvel), c->law, c->tolerance,
             "%s, %g ms (MuJoCo %.4g)", c->name, 1e3 * h, measured(c, d->qpos, d->qvel));
  robot_count(r, data->stats.unconverged_steps, 0, "%s, %g ms: unconverged steps", c->name,
              1e3 * h);
  dj_deleteData(data);
  dj_deleteModel(model);
  mj_deleteData(d);
  mj_deleteModel(m);
}

int main(int argc, char** argv) {
  djIntegrator integrator = DJ_EULER;
  if (argc > 1 && !strcmp(argv[1], "--integrator")) integrator = djv_takeIntegrator(&argc, argv);
  djv_isQuick(argc, argv);
  const double R = 0.1, I = 0.4 * R * R, spin = 0.005 * g / I, roll = 0.002 * g / (1.4 * R);
  const double a = 0.05 * R, b = 0.005;   // mean over an evenly pressed face
  const double face = 2 / (3 * a * a) * (pow(a * a + b * b, 1.5) - b * b * b) * g / (0.5 * R * R);
  const double tilt = 0.3, slides = g * (sin(tilt) - 0.05 * cos(tilt));
  const char *ball = "size='.1'", *box = "type='box' size='.1 .1 .05' euler='0 0 20'";
  const Case cases[] = {
      {"spinning ball: spin after 1 s, rad/s", ball, "1 .005 .0001", 4, false, R, 0, 0,
       {0, 0, 0, 0, 0, 20}, 1, 5, 20 - spin, 0.02 * spin},
      {"spinning ball: after 2 s", ball, "1 .005 .0001", 4, false, R, 0, 0,
       {0, 0, 0, 0, 0, 20}, 2, 5, 0, 1e-3},
      {"rolling ball: speed after 2 s, m/s", ball, "1 .005 .002", 6, false, R, 0, 0,
       {1, 0, 0, 0, 10, 0}, 2, 0, 1 - 2 * roll, 0.02 * 2 * roll},
      {"ball on a slope of .9 of what rolls: way after 2 s, m", ball, "1 .005 .01", 6, false, R,
       atan(0.09), 0, {0}, 2, 6, 0, 1e-3},
      {"spinning disc: spin after .2 s, rad/s", "type='cylinder' size='.1 .02'",
       ".05 .005 .0001", 4, false, 0.02, 0, 0, {0, 0, 0, 0, 0, 20}, 0.2, 5, 20 - 0.2 * face, 0.02 * 0.2 * face},
      {"box along .8: speed after 1 s, m/s", box, ".05 .8", 3, true, 0.05, tilt, 0, {0}, 1, 0, 0,
       1e-3},
      {"box along .05: speed after 1 s, m/s", box, ".05 .8", 3, true, 0.05, tilt, pi / 2, {0}, 1, 1,
       slides, 0.02 * slides},
  };
  djvReport report = {0};
  djv_title("Torsion, rolling, two coefficients: %s", dj_integratorName(integrator));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static const double steps[] = {5e-4, 2e-3, 1e-2};
    for (int k = 0; k < 3; k++) compare(&report, &cases[i], integrator, steps[k]);
  }
  return djv_finish(&report);
}
