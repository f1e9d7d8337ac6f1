// Whole robots, beside stock MuJoCo: validation_mj_menagerie [--quick] [--pictures DIR] [FOLDER].
// Of each scene below FOLDER (a checkout of MuJoCo Menagerie, or any folder of MJCF; without it
// gymnasium's robots), those with RK4 taken by Euler:
//   - what the import leaves out: nothing;
//   - hinges beside MuJoCo's, half a second from the keyframe under its controls, at 1 ms;
//   - A and B at states under random controls against differences of the step;
//   - random controls: every step ends, is solved, in at most 100 passes;
//   - time: a step in mj_steps, mjd_transitionFD in our step with its derivatives;
//   - with --pictures: both engines side by side.

#include "mj_menagerie/robots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Table {
  int n, loaded, whole;   // scenes that MuJoCo loads, that we do, and with nothing left out
  double *apart, *cost, *transition, *derivative;
  long bad, unconverged, passes;
} Table;

static void addRow(Table* t, const Robot* r) {
  int i = t->loaded++;
  t->whole += r->ignored == 0;
  t->apart[i] = r->apart;
  t->cost[i] = r->cost;
  t->transition[i] = r->transition;
  t->derivative[i] = r->derivative;
  t->bad += r->bad;
  t->unconverged += r->unconverged;
  if (r->passes > t->passes) t->passes = r->passes;
  printf("  %-34s %3ld %4d %9.1e %9.1e %4d %4d %5d %6.1f %6.1f  %s\n", r->name, (long)r->m->nv,
         r->ignored, r->apart, r->derivative, r->bad, r->unconverged, r->passes, r->cost,
         r->transition, r->first);
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double part(double* x, int n, double p) {
  qsort(x, (size_t)n, sizeof *x, ascending);
  return x[(int)(p * (n - 1))];
}

static int finish(const Table* t) {
  djvReport r = {0};
  int n = t->loaded;
  djv_title("%d scenes that MuJoCo loads", t->n);
  djv_countOf(&r, "are not loaded", t->n - n, 0, t->n);
  if (n == 0) return djv_finish(&r);
  djv_countOf(&r, "with something left out", n - t->whole, 0, n);
  djv_count(&r, "random controls: end without a state", t->bad, 0);
  djv_count(&r, "random controls: unconverged steps", t->unconverged, 0);
  djv_count(&r, "random controls: most passes of a step", t->passes, 100);
  djv_below(&r, "A, B against differences, median", part(t->derivative, n, 0.5), 1e-6, "");
  djv_figure(&r, "A, B against differences, worst", part(t->derivative, n, 1), "");
  djv_figure(&r, "hinges beside MuJoCo, median", part(t->apart, n, 0.5), "rad");
  djv_figure(&r, "hinges beside MuJoCo, 90 %", part(t->apart, n, 0.9), "rad");
  djv_figure(&r, "a step, median", part(t->cost, n, 0.5), "mj_steps");
  djv_figure(&r, "a step, worst", part(t->cost, n, 1), "mj_steps");
  djv_figure(&r, "mjd_transitionFD, least", part(t->transition, n, 0), "steps with A, B");
  return djv_finish(&r);
}

int main(int argc, char** argv) {
  const char* pictures = djv_takeText(&argc, argv, "--pictures");
  const char* folder = argc > 1 && argv[argc - 1][0] != '-' ? argv[--argc] : robot_folder();
  bool quick = djv_isQuick(argc, argv);
  if (!folder) {
    djv_note("no folder of robots");
    return DJV_SKIPPED;
  }
  Paths paths = robots_find(folder);
  Table t = {0};
  double** const column[] = {&t.apart, &t.cost, &t.transition, &t.derivative};
  for (int k = 0; k < 4; k++) *column[k] = djv_take((size_t)paths.n, sizeof(double));
  djv_title("%s", folder);
  printf("  %-34s %3s %4s %9s %9s %4s %4s %5s %6s %6s\n", "scene", "nv", "left", "rad apart",
         "A, B off", "bad", "unc", "most", "cost", "FD");
  for (int i = 0; i < paths.n; i++) {
    Robot robot;
    if (!robot_open(&robot, paths.path[i])) continue;
    t.n++;
    if (robot.model) {
      robot_measure(&robot, quick ? 1 : 10);
      addRow(&t, &robot);
      if (pictures && !robot_picture(&robot, pictures)) djv_note("%s: no picture", robot.name);
    } else {
      printf("  %-34s %s\n", robot.name, robot.first);
    }
    fflush(stdout);
    robot_close(&robot);
  }
  int status = finish(&t);
  for (int k = 0; k < 4; k++) free(*column[k]);
  robots_free(&paths);
  return status;
}
