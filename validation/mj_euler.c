// The step `euler` beside mj_step, without contact: MuJoCo's Euler with and without eulerdamp, and
// implicitfast, on gymnasium's and dm_control's models under random controls, first without limits
// and dry friction, then with them: their corners are rounded.
//   - From each state of MuJoCo's run one step of ours is MuJoCo's to rounding.
//   - Whole runs part no faster than two runs of MuJoCo whose starts are 1e-14 apart.
//   - A and B are the limits of mjd_transitionFD: its central differences, extrapolated.
// Drag is explicit here and implicit in implicitfast: models with a medium are left out there.

#include "common/robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Way {
  const char* name;
  int integrator;
  bool eulerdamp;
} Way;

static const Way ways[] = {{"Euler", mjINT_EULER, true},
                           {"Euler, explicit damping", mjINT_EULER, false},
                           {"implicitfast", mjINT_IMPLICITFAST, true}};
enum { NWAY = sizeof ways / sizeof *ways };

static const char* const gymnasium[] = {"ant",
                                        "half_cheetah",
                                        "hopper",
                                        "humanoid",
                                        "humanoidstandup",
                                        "inverted_double_pendulum",
                                        "inverted_pendulum",
                                        "point",
                                        "pusher",
                                        "reacher",
                                        "swimmer",
                                        "walker2d"};
static const char* const control[] = {"ball_in_cup", "fish", "point_mass"};
enum {
  NGYMNASIUM = sizeof gymnasium / sizeof *gymnasium,
  NMODEL = NGYMNASIUM + sizeof control / sizeof *control
};

static const char* nameOf(int k) { return k < NGYMNASIUM ? gymnasium[k] : control[k - NGYMNASIUM]; }

// MuJoCo's own step of fish needs implicit damping.
static bool isLeftOut(int k, const Way* way, const mjModel* m) {
  bool medium = m->opt.density > 0 || m->opt.viscosity > 0;
  if (way->integrator == mjINT_IMPLICITFAST) return medium;
  return !way->eulerdamp && strcmp(nameOf(k), "fish") == 0;
}

static mjModel* loadModel(int k, const Way* way, bool rows) {
  mjModel* m =
      k < NGYMNASIUM ? robot_load(nameOf(k)) : robot_loadFrom(robot_controlFolder(), nameOf(k));
  m->opt.integrator = way->integrator;
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_EQUALITY;
  if (!rows) m->opt.disableflags |= mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  m->opt.tolerance = 0;
  m->opt.iterations = 20;
  m->opt.ls_iterations = 100;
  if (!way->eulerdamp) m->opt.disableflags |= mjDSBL_EULERDAMP;
  return m;
}

static djmContext* makeContext(const mjModel* m) {
  djmContext* c;
  djError err;
  if (djm_makeContext(&c, NULL, m, &err) < 0) djv_fail("%s", err.text);
  djOption option = djm_model(c)->opt;
  option.integrator = DJ_EULER;
  if (dj_setOption(djm_model(c), &option, &err) < 0) djv_fail("%s", err.text);
  return c;
}

// Largest difference of velocities and, over the timestep, of configurations; relative to speeds.
static double apart(const mjModel* m, const mjData* a, const mjData* b, double time) {
  mjtNum* x = calloc((size_t)m->nv, sizeof *x);
  double worst = 0, size = 1;
  mj_differentiatePos(m, x, time, a->qpos, b->qpos);
  for (int i = 0; i < m->nv; i++) {
    size = djv_worst(size, fabs(b->qvel[i]));
    worst = djv_worst(worst, fmax(fabs(x[i]), fabs(a->qvel[i] - b->qvel[i])));
  }
  free(x);
  return worst / size;
}

static void stepOurs(const mjModel* m, mjData* d, djmContext* c) {
  if (djm_step(m, d, c) != DJ_OK) djv_fail("%s", djm_errorText(c));
}

typedef struct Errors {
  double step, run, stock, derivative;
} Errors;

// Central differences of mj_step, extrapolated; what ours differ by beyond what one extrapolation
// changes, relative to columns: drag has kinks, at which differences know no more.
static double derivativeError(const mjModel* m, mjData* d, djmContext* c) {
  size_t nx = 2 * (size_t)m->nv + (size_t)m->na, nu = (size_t)m->nu, n = nx * (nx + nu);
  mjtNum *A = calloc(3 * n, sizeof *A), *F = A + n, *G = F + n;
  double worst = 0;
  if (djm_transition(m, d, c, A, A + nx * nx, NULL, NULL) < 0) djv_fail("%s", djm_errorText(c));
  mjd_transitionFD(m, d, 2e-4, true, F, F + nx * nx, NULL, NULL);
  mjd_transitionFD(m, d, 1e-4, true, G, G + nx * nx, NULL, NULL);
  for (size_t part = 0; part < 2; part++) {
    size_t columns = part ? nu : nx, first = part ? nx * nx : 0;
    for (size_t k = 0; k < columns; k++) {
      double error = 0, size = 1e-2;
      for (size_t r = 0; r < nx; r++) {
        size_t i = first + r * columns + k;
        double limit = (4 * G[i] - F[i]) / 3;
        error = djv_worst(error, fabs(A[i] - limit) - fabs(G[i] - F[i]));
        size = djv_worst(size, fabs(limit));
      }
      worst = djv_worst(worst, error / size);
    }
  }
  free(A);
  return worst;
}

static Errors compareRuns(const mjModel* m, int steps) {
  djmContext* c = makeContext(m);
  mjData *stock = mj_makeData(m), *near = mj_makeData(m), *ours = mj_makeData(m),
         *one = mj_makeData(m);
  djvRandom random = djv_random(3);
  Errors e = {0, 0, 0, 0};
  for (int i = 0; i < m->nv; i++) near->qvel[i] += 1e-14;
  for (int k = 0; k < steps; k++) {
    if (k % 10 == 0) robot_randomCtrl(stock->ctrl, m, &random, 0.5);
    mju_copy(near->ctrl, stock->ctrl, (int)m->nu);
    mju_copy(ours->ctrl, stock->ctrl, (int)m->nu);
    mj_copyData(one, m, stock);
    if (k % (steps / 5) == steps / 10) {
      e.derivative = djv_worst(e.derivative, derivativeError(m, one, c));
      mj_copyData(one, m, stock);
    }
    stepOurs(m, one, c);
    stepOurs(m, ours, c);
    mj_step(m, stock);
    mj_step(m, near);
    e.step = djv_worst(e.step, apart(m, one, stock, m->opt.timestep));
    e.run = djv_worst(e.run, apart(m, ours, stock, 1));
    e.stock = djv_worst(e.stock, apart(m, near, stock, 1));
  }
  mj_deleteData(stock);
  mj_deleteData(near);
  mj_deleteData(ours);
  mj_deleteData(one);
  djm_deleteContext(c);
  return e;
}

static Errors compareModels(bool rows, int steps) {
  Errors worst = {0, 0, 0, 0};
  djv_title("mj_step and euler, without contact, %s limits and friction loss: largest differences",
            rows ? "with" : "without");
  djv_note("%-26s %-24s %9s %9s %9s %9s", "model", "MuJoCo's integrator", "one step", "run",
           "stock's", "A and B");
  for (int k = 0; k < NMODEL; k++) {
    for (int w = 0; w < NWAY; w++) {
      mjModel* m = loadModel(k, &ways[w], rows);
      if (!isLeftOut(k, &ways[w], m)) {
        Errors e = compareRuns(m, steps);
        djv_note("%-26s %-24s %9.1e %9.1e %9.1e %9.1e", nameOf(k), ways[w].name, e.step, e.run,
                 e.stock, e.derivative);
        worst.step = djv_worst(worst.step, e.step);
        worst.run = djv_worst(worst.run, rows ? e.run / (1 + e.stock / 1e-10)
                                              : e.run / (e.stock + 1e-12));
        worst.derivative = djv_worst(worst.derivative, e.derivative);
      }
      mj_deleteModel(m);
    }
  }
  return worst;
}

int main(int argc, char** argv) {
  djvReport report = {0};
  const int steps = djv_isQuick(argc, argv) ? 100 : 1000;
  if (!robot_folder() || !robot_controlFolder()) return DJV_SKIPPED;
  Errors worst = compareModels(false, steps), rows = compareModels(true, steps);
  robot_below(&report, worst.step, 1e-10, "", "one step from a state of MuJoCo's run");
  robot_below(&report, worst.run, 1e3, "", "runs of %d steps, beside two of MuJoCo 1e-14 apart",
              steps);
  robot_below(&report, worst.derivative, 1e-7, "", "A and B, of columns");
  robot_below(&report, rows.run, 1e-4, "rad", "runs with limits, over what they make of 1e-10");
  djv_figure(&report, "one step", worst.step, "");
  djv_figure(&report, "A and B", worst.derivative, "");
  djv_figure(&report, "one step, with limits", rows.step, "");
  djv_figure(&report, "runs, with limits", rows.run, "");
  return djv_finish(&report);
}
