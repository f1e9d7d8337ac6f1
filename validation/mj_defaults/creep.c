// Creep: a box (half size .1 m, friction .3) on a plane, with gravity tilted so that it asks for a
// part p of what friction can hold: tan(tilt) = .3 p. Millimetres a minute after the first second.

#include "defaults.h"

#include <stdio.h>

#define GRAVITY 9.81
#define MU 0.3

enum { NPART = 3 };
static const double PART[NPART] = {0.5, 0.8, 0.95};

static mjModel* makeScene(double part) {
  char text[500];
  double tilt = atan(MU * part);
  snprintf(text, sizeof text,
           "<mujoco><option gravity=\"%.17g 0 %.17g\"/><default><geom friction=\"%g\"/></default>"
           "<worldbody><geom type=\"plane\" "
           "size=\"9 9 .1\"/><body pos=\"0 0 .1\"><freejoint/><geom type=\"box\" "
           "size=\".1 .1 .1\"/></body></worldbody></mujoco>", GRAVITY * sin(tilt),
           -GRAVITY * cos(tilt), MU);
  return robot_compile(text);
}

// mm a minute; *newton: iterations a step.
static double measure(double* newton, const Program* p, double part, double h, Column column) {
  mjModel* m = makeScene(part);
  Sim s;
  long iterations = 0, settle = lround(1 / h), n = lround((p->quick ? 1 : 10) / h);
  double from = 0;
  bool unconverged;
  sim_open(&s, m, column, h, p);
  for (long k = 0; k < settle + n; k++) {
    if (k == settle) from = s.qpos[0];
    if (!sim_step(&s)) break;
    if (k >= settle) iterations += sim_iterations(&s, &unconverged);
  }
  double way = s.qpos[0] - from;
  sim_close(&s);
  mj_deleteModel(m);
  *newton = (double)iterations / (double)n;
  return 1e3 * way / ((double)n * h) * 60;
}

void def_creep(Program* p) {
  static const double step[] = {1e-3, 2e-3, 5e-3, 1e-2};
  djv_title("Creep on a slope at a part of friction's limit, mm a minute");
  def_head("");
  for (int i = 0; i < 4; i++) {
    if (p->quick && i != 1) continue;
    for (int k = 0; k < NPART; k++) {
      double creep[NCOLUMN], newton[NCOLUMN];
      char label[80];
      for (int c = 0; c < NCOLUMN; c++) {
        creep[c] = measure(&newton[c], p, PART[k], step[i], (Column)c);
      }
      snprintf(label, sizeof label, "%g of the limit, %g ms", PART[k], 1e3 * step[i]);
      def_row(label, creep);
      if (PART[k] == 0.8) {
        def_check(p, "creep: mm a minute at .8 of the limit", fabs(creep[OURS]));
        def_row("  the same: iterations a step", newton);
      }
    }
  }
}
