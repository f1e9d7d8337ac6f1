// How soon the task push of models/long_range is done, by timestep and by the coefficient of what
// leads: Tables 4 and 5 of "Efficient Differentiable Contact Model with Long-Range Influence".
//
// Windows of 1.92 s, of each one step is executed, as in the task, until one ends with loss 0; its
// plan is then followed. The time is that at which the box first is within the tolerance of its
// mark, in the simulation. Once under contact between triangles (long_range.json), by its
// coefficient; once with a guide in derivatives alone (task.json), whose coefficient is 1000 times
// as large. The paper's box, rod, mark and tolerance are not published, nor what it counts; its
// numbers stand beside.
//
// Of the first case also by triangles whose distance is that of their nearest points ("leaf":
// "distance"), the paper's ablation of smoothness (Fig. 13).
//
// --quick: guides alone, of two coefficients. It fails where the guide does not lead to the mark,
// and, not --quick, where triangles do not.

#include "common/report.h"

#include <dijoco/dijoco.h>
#include <dijoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WINDOW 1.92 // s
#define WHOLE 8.0   // s
#define LIFT 2.74   // at rest, of the root of the coefficient, m/J^1/2

typedef struct Case {
  double timestep, coefficient; // s, J
  const char* paper;            // s
} Case;

static const Case CASES[] = {
    {0.04, 1e-6, "3.20"}, {0.04, 1e-7, "2.96, 3.28"}, {0.04, 1e-8, "3.24"}, {0.04, 1e-10, "4.80"},
    {0.08, 1e-7, "2.80"}, {0.02, 1e-7, "3.28"},       {0.01, 1e-7, "5.76"}};
enum { NCASE = sizeof CASES / sizeof CASES[0], BOX = 7 };

typedef struct Outcome {
  double time, seconds; // s simulated, s of the processor
  int iterations, windows;
} Outcome;

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static bool goOn(void* user, const djRecedingFrame* frame) {
  (void)user;
  return frame->loss > 0;
}

static void setNumber(djModel* m, const char* name, double value) {
  djError err;
  djParam p;
  if (dj_paramId(&p, m, name, &err) < 0 || dj_setParam(m, &p, &value, &err) < 0) {
    djv_fail("%s: %s", name, err.text);
  }
}

// When the box is first within the tolerance; infinite: never.
static double whenThere(const djRecedingRun* run, const djTask* task, double timestep) {
  const djModel* m = run->design->model;
  const size_t n = (size_t)run->horizon + 1, nq = (size_t)m->nq;
  double *qpos = djv_take(n * nq, sizeof *qpos), *qvel = djv_take(n * (size_t)m->nv, sizeof *qvel);
  if (djd_tapeStates(qpos, qvel, NULL, m, run->design->tape) < 0) djv_fail("push: no states");
  double time = INFINITY;
  for (size_t k = 0; k < n && time == INFINITY; k++) {
    double square = 0;
    for (size_t i = 0; i < 3; i++) {
      const double d = qpos[k * nq + BOX + i] - task->loss[0].term.target[i];
      square += d * d;
    }
    if (square <= task->loss[0].term.tolerance * task->loss[0].term.tolerance)
      time = (double)k * timestep;
  }
  free(qpos);
  free(qvel);
  return time;
}

typedef enum Lead { GUIDE, PLANES, POINTS } Lead;

// The model with the nearest points of triangles.
static void takePoints(djModel** m) {
  djModelDef def;
  djModel* out;
  djError err;
  void* storage;
  if (dj_getDef(&def, &storage, *m, &err) < 0) djv_fail("push: %s", err.text);
  djSettingDef* setting = djv_take((size_t)def.nsetting + 1, sizeof *setting);
  for (int i = 0; i < def.nsetting; i++) setting[i] = def.setting[i];
  setting[def.nsetting++] = (djSettingDef){"leaf", "long_range", -1, -1, 1};
  def.setting = setting;
  if (dj_makeModel(&out, &def, &err) < 0) djv_fail("push: %s", err.text);
  free(setting);
  dj_freeDef(storage);
  dj_deleteModel(*m);
  *m = out;
}

static Outcome run(const Case* c, Lead lead) {
  const bool triangles = lead != GUIDE;
  char path[500];
  djError err;
  djTask* task;
  djModel* m;
  djProblem* problem;
  djDesign* design;
  djRecedingRun* run;
  Outcome o = {.time = INFINITY};
  const double started = now();
  snprintf(path, sizeof path, "%s/models/long_range/push/%s.json", DIJOCO_SOURCE_DIR,
           triangles ? "long_range" : "task");
  if (dj_loadTask(&task, path, &err) < 0) djv_fail("%s", err.text);
  task->horizon = (int)lround(WHOLE / c->timestep);
  task->optimizer.receding.horizon = (int)lround(WINDOW / c->timestep);
  if (dj_loadMJCF(&m, NULL, NULL, task->scene, &err) < 0 || dj_applyTask(m, task, &err) < 0) {
    djv_fail("%s: %s", path, err.text);
  }
  if (lead == POINTS) takePoints(&m);
  djOption option = m->opt;
  option.timestep = c->timestep;
  if (dj_setOption(m, &option, &err) < 0) djv_fail("%s: %s", path, err.text);
  setNumber(m, triangles ? "contact/long_range/stiffness" : "contact/guide",
            (triangles ? 1 : 1000) * c->coefficient);
  if (dj_resolveTask(&problem, task, m, &err) < 0) djv_fail("%s: %s", path, err.text);
  if (triangles) problem->qpos0[BOX + 2] = 0.1 + LIFT * sqrt(c->coefficient);
  if (djd_makeDesign(&design, m, problem, &err) < 0 ||
      djd_makeReceding(&run, design, &task->optimizer, &err) < 0) {
    djv_fail("%s: %s", path, err.text);
  }
  const djRecedingCallback callback = {.frame = goOn};
  if (djd_receding(run, &callback, &err) < 0) djv_fail("%s: %s", path, err.text);
  o.iterations = run->iterations;
  o.windows = run->nframe;
  o.time = whenThere(run, task, c->timestep);
  djd_deleteReceding(run);
  djd_deleteDesign(design);
  dj_deleteProblem(problem);
  dj_deleteModel(m);
  dj_deleteTask(task);
  o.seconds = now() - started;
  return o;
}

int main(int argc, char** argv) {
  djvReport report = {0};
  const bool quick = djv_isQuick(argc, argv);
  djv_title("push: simulated seconds until the box is there");
  djv_note("%8s %8s %11s   %-34s %s", "step", "mu", "paper", "triangles, windows, iterations, s",
           "guide, windows, iterations, s");
  for (int k = 0; k < (quick ? 2 : NCASE); k++) {
    const Case* c = &CASES[k];
    const Outcome g = run(c, GUIDE);
    Outcome t = {.time = NAN};
    char text[80], own[60] = "-";
    if (!quick) {
      t = run(c, PLANES);
      snprintf(own, sizeof own, "%6.2f %4d %5d %7.1f", t.time, t.windows, t.iterations, t.seconds);
    }
    djv_note("%8g %8g %11s   %-34s %6.2f %4d %5d %7.1f", c->timestep, c->coefficient, c->paper, own,
             g.time, g.windows, g.iterations, g.seconds);
    snprintf(text, sizeof text, "guide, %g s, %g J", c->timestep, 1000 * c->coefficient);
    djv_below(&report, text, g.time, WHOLE, "s");
    snprintf(text, sizeof text, "triangles, %g s, %g J", c->timestep, c->coefficient);
    if (!quick) djv_below(&report, text, t.time, WHOLE, "s");
  }
  if (!quick) {
    const Outcome t = run(&CASES[0], POINTS);
    djv_note("by nearest points, %g s, %g J: %.2f s, %d windows, %d iterations, %.1f s",
             CASES[0].timestep, CASES[0].coefficient, t.time, t.windows, t.iterations, t.seconds);
  }
  return djv_finish(&report);
}
