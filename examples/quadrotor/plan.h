// A path made shorter and smoother without collisions: a nonlinear program, solved by NLopt.

#ifndef QUADROTOR_PLAN_H_
#define QUADROTOR_PLAN_H_

#include "scene.h"

typedef struct PlanReport {
  const char* status;
  bool converged;
  long evaluations;          // of the constraints, those for differences aside
  double elapsed, processor; // s
  double share;              // of the processor's time, in collision queries
  long queries;
  double cost[2]; // m; before, after
} PlanReport;

// path (knots x 3) is where it starts, and what it finds. differences: gradients from differences.
bool optimizePath(PlanReport* report, double* path, Scene* scene, bool differences, djError* err);

// Largest errors of the gradients of the cost and of the constraints at a path, as parts of the
// largest entry of each, beside central differences.
bool checkDerivatives(double error[2], const double* path, Scene* scene, djError* err);

#endif // QUADROTOR_PLAN_H_
