// Newton's method for a system of equations that no energy stands for, and which may have kinks:
// the size of the residual decides how far a step goes, and the Jacobian need only be regular.
// Knows nothing of physics, see newton.h.

#ifndef DJ_SOLVE_ROOT_H_
#define DJ_SOLVE_ROOT_H_

#include "solve/newton.h"

// A problem holds its present point, a trial point, and the Jacobian of the last evaluation at
// either. size: of the residual, squared, in a norm that is the problem's to choose; not finite
// where there is none.
typedef struct djRootProblem {
  int n;
  void* user;
  // Size, residual (n) and Jacobian at the present point.
  djStatus (*evaluate)(void* user, double* size, double* residual);
  // step (n) = -J^-1 residual by the last Jacobian. DJ_SINGULAR: it has no inverse.
  djStatus (*direction)(void* user, double* step, const double* residual);
  // As in djNewtonProblem.
  djStatus (*limit)(void* user, double* fraction, const double* step);
  // The same at present + fraction * step, which becomes the trial point.
  djStatus (*trial)(void* user, double* size, double* residual, const double* step,
                    double fraction);
  void (*accept)(void* user);
} djRootProblem;

typedef struct djRootOption {
  double tolerance; // on the decrement
  int max_iterations;
  int refinement_steps; // further steps after convergence, while the decrement falls
} djRootOption;

// From the present point; decrement: sqrt |residual . step|. DJ_NOT_CONVERGED: it stands where no
// way along the step is down, or the Jacobian is singular, or iterations have run out.
djStatus dj_root(djNewtonResult* result, const djRootProblem* problem, const djRootOption* option,
                 double* residual, double* step);

#endif // DJ_SOLVE_ROOT_H_
