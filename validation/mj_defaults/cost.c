// What a step costs: gymnasium's robots at 2 ms under random controls held for 10 steps.
//   at MuJoCo's states   stock MuJoCo (Euler) runs; both engines step and linearise from its
//                        states, one after the other: dj_step and djd_lastTransition, mj_step and
//                        mjd_transitionFD (forward, 1e-6)
//   own run              each engine's own run from the model's start, steps alone
// Processor time, medians over steps.

#include "defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2500, HOLD = 10, MANY = 4 };
static const char* const ROBOT[MANY] = {"humanoid", "ant", "half_cheetah", "hopper"};
static const double H = 2e-3;

typedef struct Times {
  int n;
  double *step, *both, *iterations;
  long unconverged, failed;
} Times;

static Times makeTimes(void) {
  return (Times){.step = djv_take(STEPS, sizeof(double)), .both = djv_take(STEPS, sizeof(double)),
                 .iterations = djv_take(STEPS, sizeof(double))};
}

static void freeTimes(Times* t) {
  free(t->step);
  free(t->both);
  free(t->iterations);
}

static void setCtrl(double* ctrl, const mjModel* m, int k) {
  for (int i = 0; i < m->nu; i++) {
    bool limited = m->actuator_ctrllimited[i];
    double low = limited ? m->actuator_ctrlrange[2 * i] : -1;
    double high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
    ctrl[i] = low + (high - low) * djd_random(1, (unsigned long)(k / HOLD), (unsigned long)i);
  }
}

static double* ctrlOf(const Sim* s) { return s->column == OURS ? s->data->ctrl : s->d->ctrl; }

static void count(Times* t, const Sim* s, double seconds, bool good) {
  bool unconverged = false;
  t->step[t->n] = 1e6 * seconds;
  t->iterations[t->n] = sim_iterations(s, &unconverged);
  t->unconverged += unconverged;
  t->failed += !good;
}

static void ownRun(Times* t, const Program* p, const mjModel* m, Column column, int steps) {
  Sim s;
  sim_open(&s, m, column, H, p);
  for (; t->n < steps; t->n++) {
    setCtrl(ctrlOf(&s), m, t->n);
    double start = def_clock();
    bool good = sim_step(&s);
    count(t, &s, def_clock() - start, good);
  }
  sim_close(&s);
}

// Ours and stock MuJoCo at the states of a stock run; each starts warm from the state before.
static void atStates(Times* ours, Times* theirs, const Program* p, const mjModel* m, int steps) {
  Sim a, b;
  sim_open(&a, m, OURS, H, p);
  sim_open(&b, m, STOCK, H, p);
  size_t nx = 2 * (size_t)a.nv + (size_t)m->na, nu = (size_t)m->nu;
  double *A = djv_take(nx * nx, sizeof *A), *B = djv_take(nx * nu, sizeof *B);
  for (; ours->n < steps; ours->n++, theirs->n++) {
    setCtrl(b.d->ctrl, m, ours->n);
    robot_copyState(a.data, b.m, b.d);
    double t0 = def_clock();
    bool good = sim_step(&a);
    double t1 = def_clock();
    good = good && djd_lastTransition(a.model, a.data, A, B) >= 0;
    double t2 = def_clock();
    mjd_transitionFD(b.m, b.d, 1e-6, 0, A, B, NULL, NULL);
    double t3 = def_clock();
    bool fine = sim_step(&b);
    double t4 = def_clock();
    count(ours, &a, t1 - t0, good);
    count(theirs, &b, t4 - t3, fine);
    ours->both[ours->n] = 1e6 * (t2 - t0);
    theirs->both[theirs->n] = 1e6 * (t4 - t2);
  }
  free(A);
  free(B);
  sim_close(&a);
  sim_close(&b);
}

static double mean(const double* x, int n) { return def_spread(x, n).mean; }

static void showRobot(Program* p, const char* name, int steps) {
  mjModel* m = robot_load(name);
  m->opt.integrator = mjINT_EULER;
  Times t[NCOLUMN], own[NCOLUMN];
  for (int c = 0; c < NCOLUMN; c++) t[c] = makeTimes(), own[c] = makeTimes();
  atStates(&t[OURS], &t[STOCK], p, m, steps);
  for (int c = 0; c < NCOLUMN; c++) ownRun(&own[c], p, m, (Column)c, steps);
  double row[6][NCOLUMN];
  for (int c = 0; c < NCOLUMN; c++) {
    bool there = t[c].n > 0;
    row[0][c] = there ? mean(t[c].iterations, t[c].n) : NAN;
    row[1][c] = there ? robot_median(t[c].step, t[c].n) : NAN;
    row[2][c] = there ? robot_median(t[c].both, t[c].n) : NAN;
    row[3][c] = mean(own[c].iterations, own[c].n);
    row[4][c] = robot_median(own[c].step, own[c].n);
    row[5][c] = (double)(t[c].unconverged + own[c].unconverged + t[c].failed + own[c].failed);
    freeTimes(&t[c]);
    freeTimes(&own[c]);
  }
  mj_deleteModel(m);
  def_head(name);
  def_row("  at MuJoCo's states: iterations a step, mean", row[0]);
  def_row("  at MuJoCo's states: step, us", row[1]);
  def_row("  at MuJoCo's states: step + A, B, us", row[2]);
  def_row("  own run: iterations a step, mean", row[3]);
  def_row("  own run: step, us", row[4]);
  def_row("  unconverged or failed steps", row[5]);
  if (strcmp(name, "humanoid") != 0) return;
  def_check(p, "cost: humanoid, iterations at states", row[0][OURS]);
  def_check(p, "cost: humanoid, step + A, B at states, us", row[2][OURS]);
  def_check(p, "cost: humanoid, own run, us", row[4][OURS]);
}

void def_cost(Program* p) {
  djv_title("Cost: robots at 2 ms (best: the run alone, with its settings)");
  if (!robot_folder()) return;
  for (int k = 0; k < (p->quick ? 1 : MANY); k++) showRobot(p, ROBOT[k], p->quick ? 500 : STEPS);
}
