// Fast bodies: two of a kind, or a small and a large one, approach each other by c of their mean
// thickness in a step of 5 ms, without gravity, at 40 phases of the step. How many pass through
// each other, and what becomes of kinetic plus potential energy.
//
// Along x: passed when the first is beyond the second, and they do not approach.

#include "defaults.h"

#include <stdio.h>

enum { NPHASE = 40, NKIND = 7, NRATIO = 6 };

typedef struct Kind {
  const char* name;
  const char *geom, *other;   // NULL: the same
  double size;             // m; thickness along x
} Kind;

static const Kind KIND[NKIND] = {
  {"spheres", "type=\"sphere\" size=\".05\"", NULL, 0.1},
  {"boxes", "type=\"box\" size=\".05 .05 .05\"", NULL, 0.1},
  {"capsules", "type=\"capsule\" size=\".05 .1\"", NULL, 0.1},
  {"ball of 1 cm on one of 5 cm", "type=\"sphere\" size=\".01\"",
   "type=\"sphere\" size=\".05\"", 0.06},
  {"ball of 1 cm on plate .1 mm", "type=\"sphere\" size=\".01\"",
   "type=\"box\" size=\"5e-5 .05 .05\"", 0.01005},
  {"plates .1 mm, face to face", "type=\"box\" size=\"5e-5 .05 .05\"", NULL,
   1e-4},
  {"plates .1 mm, at 1 m a step", "type=\"box\" size=\"5e-5 .05 .05\"", NULL, 1},
};
static const double RATIO[NRATIO] = {1, 1.25, 1.5, 2, 5, 10};

typedef struct Count {
  int passed, failed, gains;   // of the phases; gains: more than 1% of energy
  double most;             // largest ratio of energy after to before
  double mean;
} Count;

static Count measure(const Program* p, const Kind* kind, double ratio, Column column, int phases) {
  const double h = 0.005;
  char text[500];
  Count out = {0};
  snprintf(text, sizeof text,
           "<mujoco><option gravity=\"0 0 0\"/><worldbody><body><freejoint/><geom %s/></body>"
           "<body><freejoint/><geom %s/></body></worldbody></mujoco>", kind->geom,
           kind->other ? kind->other : kind->geom);
  mjModel* m = robot_compile(text);
  Sim s;
  sim_open(&s, m, column, h, p);
  double thick = kind->size < 1 ? kind->size : 1e-4, way = ratio * kind->size;
  for (int j = 0; j < phases; j++) {
    double before[2], after[2];
    sim_reset(&s);
    s.qpos[7] = thick + way * (1 + (j + 0.5) / phases);
    s.qpos[8] = 1e-3 * thick;             // not quite centred
    s.qvel[0] = 0.5 * way / h;
    s.qvel[6] = -0.5 * way / h;
    sim_energy(before, &s);
    bool good = true;
    for (int k = 0; k < 20 && good; k++) good = sim_step(&s);
    sim_energy(after, &s);
    double change = (after[0] + after[1]) / (before[0] + before[1]);
    out.failed += !good;
    out.passed += good && s.qpos[0] > s.qpos[7] && s.qvel[0] >= s.qvel[6];
    out.gains += !(change <= 1.01);
    out.most = djv_worst(out.most, change);
    out.mean += change / phases;
  }
  sim_close(&s);
  mj_deleteModel(m);
  return out;
}

void def_pass(Program* p) {
  int phases = p->quick ? 8 : NPHASE;
  djv_title("Fast pairs, 5 ms: passed of %d phases; energy after to before: mean, most", phases);
  djv_note("%-28s %5s   %-24s %-24s %-24s", "", "c", "ours", "stock", "best");
  for (int i = 0; i < NKIND; i++) {
    for (int k = 0; k < (KIND[i].size < 1 ? NRATIO : 1); k++) {
      char cell[NCOLUMN][60];
      if (p->quick && k != 1 && k != 3 && KIND[i].size < 1) continue;
      for (int c = 0; c < NCOLUMN; c++) {
        Count n = measure(p, &KIND[i], RATIO[k], (Column)c, phases);
        snprintf(cell[c], sizeof cell[c], "%2d  %-7.3g %-7.3g%s", n.passed, n.mean, n.most,
                 n.failed ? " !" : "");
        if (c != OURS) continue;
        def_check(p, RATIO[k] <= 2 ? "pass: share of pairs, up to 2 thicknesses a step"
                                   : "pass: share of pairs, 5 and 10 a step",
                  (double)(n.passed + n.failed) / phases);
        def_check(p, "pass: energy after to before, most", n.most);
      }
      djv_note("%-28s %5g   %-24s %-24s %-24s", KIND[i].name, RATIO[k], cell[0], cell[1], cell[2]);
    }
  }
}
