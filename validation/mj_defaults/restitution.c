// Restitution: a ball (radius .05 m) meets a plane at 2 m/s, without gravity; the ratio of rebound
// speed to it, mean over four phases of the step, by the scene's solref. The column `best` is stock
// MuJoCo at .01 ms, which is what to match. Then Newton's cradle: five balls on slides, 1 mm apart,
// the first at 1 m/s; the part of its momentum that the last one gets. There the scene asks for
// restitution 1 of every ball (dijoco_restitution/NAME), and in MuJoCo for a contact without
// damping.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>

enum { NREF = 7, NSTEP = 5, NPHASE = 4, NBALL = 5 };
static const double SOLREF[NREF][2] = {{0.02, 0.95}, {0.02, 0.5}, {0.02, 0.2}, {0.02, 0.05},
                                       {0.05, 0.7}, {-1e5, -100}, {-1e5, 0}};
static const double STEP[NSTEP] = {5e-4, 1e-3, 2e-3, 5e-3, 1e-2};

static double rebound(const Program* p, const mjModel* m, Column column, double h, int phases) {
  const double speed = 2;
  double mean = 0;
  Sim s;
  sim_open(&s, m, column, h, p);
  for (int j = 0; j < phases; j++) {
    sim_reset(&s);
    s.qpos[2] = 0.05 + h * speed * (1.5 + (j + 0.37) / phases);
    s.qvel[2] = -speed;
    for (long k = lround(0.2 / h); k > 0; k--) {
      if (!sim_step(&s)) {
        mean = NAN;
        break;
      }
    }
    mean += s.qvel[2] / speed / phases;
  }
  sim_close(&s);
  return mean;
}

static void showSolref(Program* p, const double solref[2]) {
  char text[600];
  snprintf(text, sizeof text,
           "<mujoco><option gravity=\"0 0 0\"/><default><geom solref=\"%g %g\"/></default>"
           "<worldbody><geom type=\"plane\" size=\"9 9 .1\"/><body pos=\"0 0 .05\"><freejoint/>"
           "<geom type=\"sphere\" size=\".05\"/></body></worldbody></mujoco>", solref[0],
           solref[1]);
  mjModel* m = robot_compile(text);
  double small = rebound(p, m, STOCK, 1e-5, 1);
  for (int i = 0; i < NSTEP; i++) {
    double e[NCOLUMN];
    if (p->quick && i != 2) continue;
    e[OURS] = rebound(p, m, OURS, STEP[i], NPHASE);
    e[STOCK] = rebound(p, m, STOCK, STEP[i], NPHASE);
    e[BEST] = small;
    snprintf(text, sizeof text, "solref %g %g, %g ms", solref[0], solref[1], 1e3 * STEP[i]);
    def_row(text, e);
    def_check(p, "restitution: rebound less stock's at .01 ms", fabs(e[OURS] - small));
  }
  mj_deleteModel(m);
}

// The scene of a cradle; `asked`: with restitution 1.
static mjModel* makeCradle(bool asked) {
  djvText t = djv_text();
  djv_put(&t, "<mujoco><option gravity=\"0 0 0\"/><custom>");
  for (int k = 0; k < NBALL && asked; k++) {
    djv_put(&t, "<numeric name=\"dijoco_restitution/b%d\" data=\"1\"/>", k);
  }
  djv_put(&t, "</custom><default><geom type=\"sphere\" size=\".05\" solref=\"-1e5 0\"/></default>"
              "<worldbody>");
  for (int k = 0; k < NBALL; k++) {
    djv_put(&t, "<body pos=\"%g 0 0\"><joint type=\"slide\" axis=\"1 0 0\"/><geom name=\"b%d\"/>"
                "</body>", 0.101 * k, k);
  }
  djv_put(&t, "</worldbody></mujoco>");
  mjModel* m = robot_compile(t.text);
  free(t.text);
  return m;
}

static double cradle(const Program* p, const mjModel* m, Column column, double h) {
  Sim s;
  sim_open(&s, m, column, h, p);
  s.qvel[0] = 1;
  bool good = true;
  for (long k = lround(0.5 / h); k > 0 && good; k--) good = sim_step(&s);
  double passed = good ? s.qvel[NBALL - 1] : NAN;
  sim_close(&s);
  return passed;
}

static void showCradle(Program* p) {
  mjModel *asked = makeCradle(true), *plain = makeCradle(false);
  djModel* model;
  djError err;
  const mjModel* ours = asked;
  if (dj_importMuJoCo(&model, NULL, asked, &err) < 0) {
    djv_note("dijoco_restitution is not known: %s", err.text);
    ours = plain;
  } else {
    dj_deleteModel(model);
  }
  double small = cradle(p, plain, STOCK, 1e-5);
  for (int i = 0; i < NSTEP; i++) {
    char label[80];
    double part[NCOLUMN];
    if (p->quick && i != 2) continue;
    part[OURS] = cradle(p, ours, OURS, STEP[i]);
    part[STOCK] = cradle(p, plain, STOCK, STEP[i]);
    part[BEST] = small;
    snprintf(label, sizeof label, "cradle: momentum of the last ball, %g ms", 1e3 * STEP[i]);
    def_row(label, part);
    def_check(p, "restitution: momentum through a cradle", part[OURS]);
  }
  mj_deleteModel(asked);
  mj_deleteModel(plain);
}

void def_restitution(Program* p) {
  djv_title("Restitution: rebound at 2 m/s by solref; best: stock MuJoCo at .01 ms");
  def_head("");
  for (int i = 0; i < NREF; i++) showSolref(p, SOLREF[i]);
  showCradle(p);
}
