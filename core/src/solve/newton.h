// Damped Newton method for a nonlinear system. Knows nothing of
// physics: the problem evaluates, factors and moves; this module decides how far.

#ifndef DJ_SOLVE_NEWTON_H_
#define DJ_SOLVE_NEWTON_H_

#include <dijoco/types.h>

// A problem holds its present point and a trial point, and one Jacobian: that of the last
// evaluation which was asked for a gradient. *majorizer: a positive semi-definite substitute may be
// used for parts of the Jacobian; set to false when none was.
// Where the Jacobian cannot be factored as it is, `convexify` is asked for a substitute that is
// positive semi-definite as a whole: a shift large enough for a stiff negative curvature would
// leave no step worth taking. Such a substitute is stiffer than need be: where full steps by it
// leave much of the slope along them, the next ones are stretched, and a share of it is tried. The
// value need not be a function of the point: only along a step must
// its slope be gradient . step.
typedef struct djNewtonProblem {
  int n;
  void* user;
  // Value, gradient (n) and Jacobian at the present point.
  djStatus (*evaluate)(void* user, double* value, double* gradient, bool* majorizer);
  // Factor Jacobian + shift * scale; false: its symmetric part is not positive definite.
  bool (*factor)(void* user, double shift);
  void (*solve)(void* user, double* x);
  // The last factor is one of a Jacobian that has the present one's size and pattern.
  bool (*keeps)(void* user);
  // Largest fraction of a new step that may be taken, in (0, 1].
  djStatus (*max_step)(void* user, double* fraction, const double* step);
  // Move the trial point to present + fraction * step and evaluate there; value infinite when
  // infeasible. gradient NULL: the value only.
  djStatus (*trial)(void* user, double* value, double* gradient, const double* step,
                    double fraction, bool* majorizer);
  // The trial point becomes the present one.
  void (*accept)(void* user);
  // The Jacobian at the present point goes a share (in (0, 1]) of the way to its substitute; value
  // and gradient (n) stay what they are. May be NULL.
  djStatus (*convexify)(void* user, double* value, double* gradient, double share);
  // Where the system is hard to reach from afar, an easier one stands in until it is nearly solved.
  // `ease` is asked where that is not so after plain_iterations: true if the easier one is in force
  // from now on. After unease(true) values are still its own, but gradient and Jacobian those of
  // the system itself at its solution as foreseen from the point, carried to the point; after
  // unease(false) all is the system itself. Both may be NULL.
  bool (*ease)(void* user);
  void (*unease)(void* user, bool foresee);
  // After a full trial that was refused: where parts of the value have risen by more than `excess`
  // above what gradient and Jacobian foresee, these become of such parts what they are on their way
  // there. *found: there were any; gradient (n) and Jacobian are then those, at the present point
  // still, and what convexify starts from. May be NULL; scratch (2 n) serves it alone.
  djStatus (*learn)(void* user, bool* found, double* gradient, double excess);
  double* scratch;
} djNewtonProblem;

typedef struct djNewtonOption {
  double tolerance;       // on the decrement sqrt(g . J^-1 g)
  int max_iterations;
  int refinement_steps;             // further full steps while the decrement falls
  int max_cuts;           // halvings of one line search
  double near;            // not 0: the start's decrement is below, or it is worth nothing: no substitutes
  double noise;           // rounding error of values
  double enough;          // decrement that the last step may leave: by the factor of the one before
  int plain_iterations;   // before the system is eased
  // On the decrement, from where the system is nearly solved, an easier one solved enough.
  double ease_tolerance;
} djNewtonOption;

typedef struct djNewtonResult {
  int iterations;
  double decrement;       // at the last evaluation, before the last step
  bool exact;             // of it: by the Jacobian as it is. A substitute is stiffer: by that a
                          //   decrement is small where the gradient is not
  double value;
  int shifts;             // iterations that needed a shift
  bool exhausted;         // it was ended by their number
} djNewtonResult;

// gradient, step: workspace (n). DJ_NOT_CONVERGED leaves the best feasible point.
djStatus dj_newton(djNewtonResult* result, const djNewtonProblem* problem,
                   const djNewtonOption* option, double* gradient, double* step);

#endif  // DJ_SOLVE_NEWTON_H_
