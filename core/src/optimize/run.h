// What the optimisers share: the constraints, and the record of a run.

#ifndef DJ_OPTIMIZE_RUN_H_
#define DJ_OPTIMIZE_RUN_H_

#include "base/pool.h"
#include "optimize/feasible.h"

#include <dijoco/entry.h>
#include <dijoco/optimize.h>

typedef struct djRun {
  const djOptimizeProblem* problem;
  const djOptimizer* optimizer;
  djOptimizeResult* result;
  djFeasible set;
  djPool pool;
  int n;
  double* x;            // (n) present iterate
  double* grad;         // (n)
  double loss;
  bool renews;          // the optimizer asks for renewal
  bool compares;        // it goes by losses of different iterations, which are to be exact
  bool varied;          // not all losses so far are the same
  double* trial;        // (n)
  double* trial_grad;   // (n)
  double* best;         // (n)
  double* scratch;      // (n)
  double* past;         // (patience) best losses after the last iterations; NULL: none
} djRun;

// Loss and gradient, counted; the best is kept. As djObjective; values that are not finite are
// refused.
djStatus dj_evaluateRun(djRun* run, double* loss, double* grad, const double* x);

// What is not defined, as beyond the designs that are possible, is like an infinite loss: it makes a
// step shorter, and ends nothing but a run that starts there. Loss and gradient at run->trial, which
// is as far along the step (n) from run->x as the loss is defined: halved till it is. project: parts
// of the step may leave the constraints. Negative: no part is defined.
djStatus dj_evaluateAlong(double* loss, djRun* run, const double* step, bool project);

// After no part of a step was defined: whether run->x has other losses about it, since the objective
// was renewed at another point before. They are run->loss and run->grad then.
bool dj_renewHere(djRun* run);

// Largest entry of x - P(x - grad).
double dj_projectedGradient(djRun* run, const double* x, const double* grad);

// Iteration result->iterations ended at x: tells the callback. False when the run ends here, for
// its tolerances, the callback or the number of iterations; result->stop says why. grad may be
// NULL.
bool dj_endIteration(djRun* run, double loss, double step_norm, const double* x,
                     const double* grad);

// The next iteration's evaluations are about to begin.
void dj_beginIteration(djRun* run);

double dj_stepLength(const double* a, const double* b, int n);

// Iterations as long as there are any: `take` accepts a step of length *norm, or leaves none, *flat
// where that is for rounding.
typedef djStatus djTakeStep(bool* taken, bool* flat, double* norm, void* user);
djStatus dj_iterate(djRun* run, djTakeStep* take, void* user);

// What stands in for the loss where it is not defined: a bowl about run->x, least there with
// run->loss.
double dj_bowl(double* grad, const djRun* run, const double* x);

// A row of the table of optimizers.
typedef struct djOptimizerRow {
  djEntry entry;       // its keys: those of dj_optimizerKey that it uses beside the common ones
  bool equations;      // takes them
  bool residuals;      // needs them
  bool changes;        // takes objectives that change from iteration to iteration
  bool renews;         // asks for their renewal
  // run->x is feasible, its loss and gradient are there, and iteration 0 ended.
  djStatus (*run)(djRun* run);
} djOptimizerRow;

// One name each, of the constant dj_optimizerNAME in its own file.
#define DJ_OPTIMIZERS(X) X(Adam) X(TrustRegion) X(Lbfgsb) X(GaussNewton) X(NewtonCg)
#define X(name) extern const djOptimizerRow dj_optimizer##name;
DJ_OPTIMIZERS(X)
#undef X

// NULL: there is none; then dj_failOptimizer says which there are.
const djOptimizerRow* dj_findOptimizer(const char* type);
djStatus dj_failOptimizer(const char* type, djError* err);

#endif  // DJ_OPTIMIZE_RUN_H_
