// Rolling and spinning at 2 ms for 5 s: what an integrator loses. Columns: ours at its default,
// ours with `variational`, stock MuJoCo, and MuJoCo with RK4.

#include "defaults.h"

#include <stdio.h>

enum { BY_DEFAULT, VARIATIONAL, EULER, RK4, NWAY };

typedef struct Ride {
  const char* name;
  const char* scene;
  int nspeed;              // entries of qvel at the start
  int at[5];
  double speed[5];
  double tilt;             // rad; of the free body about x, at the start
} Ride;

static const Ride RIDE[] = {
  {"ball rolls at 2 m/s",
   "<mujoco><worldbody><geom type=\"plane\" size=\"50 9 .1\"/><body pos=\"0 0 .1\"><freejoint/>"
   "<geom type=\"sphere\" size=\".1\"/></body></worldbody></mujoco>",
   2, {0, 4}, {2, 20}, 0},
  {"car of four wheels at 2 m/s",
   "<mujoco><default><default class=\"wheel\"><joint type=\"hinge\" axis=\"0 1 0\"/>"
   "<geom type=\"cylinder\" size=\".1 .01\" quat=\".7071067811865476 .7071067811865476 0 0\"/>"
   "</default></default><worldbody><geom type=\"plane\" size=\"50 9 .1\"/>"
   "<body pos=\"0 0 .1\"><freejoint/><geom type=\"box\" size=\".25 .1 .04\"/>"
   "<body pos=\".2 .13 0\" childclass=\"wheel\"><joint/><geom/></body>"
   "<body pos=\".2 -.13 0\" childclass=\"wheel\"><joint/><geom/></body>"
   "<body pos=\"-.2 .13 0\" childclass=\"wheel\"><joint/><geom/></body>"
   "<body pos=\"-.2 -.13 0\" childclass=\"wheel\"><joint/><geom/></body>"
   "</body></worldbody></mujoco>",
   5, {0, 6, 7, 8, 9}, {2, 20, 20, 20, 20}, 0},
  {"top at 150 rad/s",
   "<mujoco><worldbody><geom type=\"plane\" size=\"9 9 .1\"/><body pos=\"0 0 .003\"><freejoint/>"
   "<geom type=\"sphere\" size=\".003\"/>"
   "<geom type=\"cylinder\" size=\".025 .004\" pos=\"0 0 .02\"/></body></worldbody></mujoco>",
   1, {5}, {150}, 0.1},
};
enum { NRIDE = sizeof RIDE / sizeof RIDE[0] };

typedef struct Outcome {
  double kept;             // of the first speed given
  double tilt;             // rad; largest of the body's axis
  double fell;             // s; when the axis was 30 degrees from upright, or -1
} Outcome;

static Outcome run(const Program* p, const Ride* ride, int way, double seconds) {
  const double h = 2e-3;
  Program with = *p;
  Outcome out = {0, 0, -1};
  if (way == VARIATIONAL) {
    with.given_integrator = true;
    with.integrator = DJ_VARIATIONAL;
  }
  mjModel* m = robot_compile(ride->scene);
  Sim s;
  sim_open(&s, m, way >= EULER ? STOCK : OURS, h, &with);
  if (way == RK4) s.m->opt.integrator = mjINT_RK4;
  s.qpos[3] = cos(ride->tilt / 2);
  s.qpos[4] = sin(ride->tilt / 2);
  for (int i = 0; i < ride->nspeed; i++) s.qvel[ride->at[i]] = ride->speed[i];
  for (long k = 0; k < lround(seconds / h); k++) {
    if (!sim_step(&s)) break;
    double x = s.qpos[4], y = s.qpos[5], tilt = acos(fmax(-1, 1 - 2 * (x * x + y * y)));
    out.tilt = djv_worst(out.tilt, tilt);
    if (tilt > M_PI / 6 && out.fell < 0) out.fell = (double)(k + 1) * h;
  }
  out.kept = s.qvel[ride->at[0]] / ride->speed[0];
  sim_close(&s);
  mj_deleteModel(m);
  return out;
}

void def_roll(Program* p) {
  double seconds = p->quick ? 1 : 5;
  djv_title("Rolling and spinning, 2 ms, %g s", seconds);
  djv_note("%-44s %12s %12s %12s %12s", "", "ours", "variational", "stock", "RK4");
  for (int i = 0; i < NRIDE; i++) {
    Outcome o[NWAY];
    for (int w = 0; w < NWAY; w++) o[w] = run(p, &RIDE[i], w, seconds);
    djv_note("%-44s %12.5f %12.5f %12.5f %12.5f", RIDE[i].name, o[0].kept, o[1].kept, o[2].kept,
             o[3].kept);
    if (i == 0) {
      def_check(p, "roll: speed that a ball keeps of 2 m/s", 2 * o[BY_DEFAULT].kept);
      continue;
    }
    double off = fabs(o[BY_DEFAULT].kept / o[RK4].kept - 1);
    if (RIDE[i].tilt > 0) {
      djv_note("%-44s %12.4g %12.4g %12.4g %12.4g", "  largest tilt, degrees",
               o[0].tilt * 180 / M_PI, o[1].tilt * 180 / M_PI, o[2].tilt * 180 / M_PI,
               o[3].tilt * 180 / M_PI);
      djv_note("%-44s %12.4g %12.4g %12.4g %12.4g", "  falls at, s (-1: does not)", o[0].fell,
               o[1].fell, o[2].fell, o[3].fell);
      if (o[BY_DEFAULT].fell > 0) off = 1;
    }
    def_check(p, i == 1 ? "roll: car, speed beside RK4's" : "roll: top, spin beside RK4's", off);
  }
}
