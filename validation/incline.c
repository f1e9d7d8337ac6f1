// A block on an incline, friction 0.5 (friction angle 26.565 degrees): it holds just below the
// friction angle, but for the creep of smoothed friction, and slides just above it with the
// textbook acceleration g (sin a - mu cos a). With p the demand over friction's limit, it creeps at
// v_eps p/sqrt(1 - p^2) on a plane, at twice that on a box, where the plane between takes half.

#include "common/report.h"
#include "common/scene.h"
#include "common/vec3.h"

#include <stdio.h>

#define MU 0.5
#define VELOCITY 1e-5         // sqrt(friction_eps), m/s
#define STEP 0.002

static const double kSize[3] = {0.1, 0.1, 0.05};

typedef enum Support { PLANE, BOX } Support;

typedef struct Incline {
  djModel* model;
  djData* data;
  double down[3], normal[3];
  double start[3];
} Incline;

// The block on a horizontal support under tilted gravity, or on a tilted support.
static void makeIncline(Incline* in, double angle, Support support, bool tilt_support) {
  static djvScene s;
  const double box[3] = {5, 1, 0.1}, none[3] = {0, 0, 0};
  double quat[4] = {1, 0, 0, 0}, R[9], pos[3];
  const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1}, under[3] = {0, 0, -0.1},
               above[3] = {0, 0, kSize[2]};
  djv_startScene(&s, STEP);
  s.def.option.friction_eps = VELOCITY * VELOCITY;
  if (tilt_support) djv_axisQuat(quat, 1, angle);
  djv_quatToMat(R, quat);
  djv_transform(in->down, none, R, x);
  djv_transform(in->normal, none, R, z);
  djGeomDef* g;
  if (support == PLANE) {
    g = djv_addFloor(&s);
    for (int k = 0; k < 4; k++) g->quat[k] = quat[k];
  } else {
    djv_transform(pos, none, R, under);
    g = djv_addGeom(&s, 0, DJ_BOX, box, pos, quat);
  }
  g->friction[0] = MU;
  if (!tilt_support) {
    s.def.option.gravity[0] = 9.81 * sin(angle);
    s.def.option.gravity[2] = -9.81 * cos(angle);
  }
  djv_transform(pos, none, R, above);
  int body = djv_addFree(&s, pos, quat);
  djv_addGeom(&s, body, DJ_BOX, kSize, NULL, NULL)->friction[0] = MU;
  djv_setDensity(&s, 1000);
  djv_make(&in->model, &in->data, &s);
  for (int k = 0; k < 3; k++) in->start[k] = pos[k];
}

static double slid(const Incline* in) {
  double d[3];
  djv_sub(d, in->data->qpos, in->start);
  return djv_dot(d, in->down);
}

static void run(Incline* in, double seconds) {
  for (int k = 0; k < (int)lround(seconds / STEP); k++) {
    djStatus status = dj_step(in->model, in->data);
    if (status < 0) djv_fail("incline: %s", dj_errorText(in->data));
  }
}

static void drop(Incline* in, long* unconverged) {
  *unconverged += in->data->stats.unconverged_steps;
  dj_deleteData(in->data);
  dj_deleteModel(in->model);
}

static void checkIncline(djvReport* r, Support support, bool tilt_support, long* unconverged) {
  Incline in;
  double rad = acos(-1) / 180, below = 26.0 * rad, above = 27.2 * rad;
  djv_title("Block on a %s, %s", support == PLANE ? "plane" : "fixed box",
            tilt_support ? "tilted support" : "tilted gravity");
  makeIncline(&in, below, support, tilt_support);
  run(&in, 1);
  double after = slid(&in);
  run(&in, 4);
  double p = tan(below) / MU, speed = (slid(&in) - after) / 4;
  djv_below(r, "26.0 degrees: creep in 5 s", fabs(slid(&in)), 1e-3, "m");
  djv_figure(r, "creep in 5 s", 1e3 * fabs(slid(&in)), "mm");
  double creep = (support == PLANE ? 1 : 2) * VELOCITY * p / sqrt(1 - p * p);
  djv_near(r, "creep speed", speed, creep, 0.02 * creep, "m/s");
  drop(&in, unconverged);
  makeIncline(&in, above, support, tilt_support);
  run(&in, 0.5);
  double v0 = djv_dot(in.data->qvel, in.down);
  run(&in, 1.5);
  double a = (djv_dot(in.data->qvel, in.down) - v0) / 1.5;
  double book = 9.81 * (sin(above) - MU * cos(above));
  djv_near(r, "27.2 degrees: acceleration", a, book, 0.01 * book, "m/s2");
  djv_figure(r, "error of the acceleration", 100 * fabs(a / book - 1), "%");
  djv_note("slid %.4g m in 2 s; 0.5 a t^2 = %.4g m", slid(&in), 2 * book);
  drop(&in, unconverged);
}

int main(int argc, char** argv) {
  djv_isQuick(argc, argv);
  djvReport r = {0};
  long unconverged = 0;
  printf("A block on an incline: friction %g, sqrt(friction_eps) = %g m/s, step %g ms\n", MU,
         VELOCITY, 1e3 * STEP);
  for (int i = 0; i < 4; i++) checkIncline(&r, i & 1 ? BOX : PLANE, i >> 1, &unconverged);
  djv_title("All runs");
  djv_count(&r, "unconverged steps", unconverged, 0);
  return djv_finish(&r);
}
