// Damped Newton method for a nonlinear system. Knows nothing of
// physics: the problem evaluates, factors and moves; this module decides how far.

#ifndef DJ_SOLVE_NEWTON_H_
#define DJ_SOLVE_NEWTON_H_

#include <dijoco/types.h>

// Where a system is hard to reach from afar, an easier one stands in until that is nearly solved.
// Of the system as it is foreseen gradient and Jacobian are those of the system itself at its
// solution as the easier one tells it, carried to the point; values are the easier one's.
typedef enum djSystem { DJ_SYSTEM_ITSELF, DJ_SYSTEM_EASED, DJ_SYSTEM_FORESEEN } djSystem;

// Of a Jacobian that cannot be factored as it is a shift that is large enough for a stiff negative
// curvature would leave no step worth taking: its convex substitute comes before. It is stiffer
// than need be: where full steps by it leave much of the slope along them, the next ones are
// stretched, and a share of it is tried.
typedef enum djJacobian {
  DJ_JACOBIAN_EXACT,
  DJ_JACOBIAN_MAJORIZER,  // of parts of it there may be a positive semi-definite substitute,
  DJ_JACOBIAN_CONVEX,     // it goes a share of the way to one that is so as a whole
  // After a full trial that was refused: where parts of the value rose by more than an excess above
  // what gradient and Jacobian foresaw, these become of such parts what they are on their way
  // there. Until the present point is another, this is what a convex substitute begins from.
  DJ_JACOBIAN_LEARNED,
} djJacobian;

// The system at a point.
typedef struct djSystemAt {
  // What is asked: at the present point or, with a step (n), at present + fraction * step, where the
  // trial point goes. Trials ask for no convex substitute and for nothing learned.
  const double* step;
  double fraction;
  djSystem system;
  djJacobian jacobian;
  double share, excess;   // of these; the share is in (0, 1]
  // Answers. The value need not be a function of the point: only along a step must its slope be
  // gradient . step. It is infinite where the point is infeasible.
  double value;
  double* gradient;       // (n); NULL: not asked, as the Jacobian
  bool majorizer;         // parts of the Jacobian are a majorizer's
  bool none;              // the system is not to be eased, nothing was learned: no other answer
} djSystemAt;

// A problem holds its present point and a trial point, and one Jacobian: that of the last answer
// with a gradient.
typedef struct djNewtonProblem {
  int n;
  void* user;
  djStatus (*system)(void* user, djSystemAt* at);
  // Factor Jacobian + shift * scale; false: its symmetric part is not positive definite.
  bool (*factor)(void* user, double shift);
  // x = J^-1 x by the last factor; false: that is of a Jacobian with another size or pattern.
  bool (*solve)(void* user, double* x);
  // Largest fraction of a new step that may be taken, in (0, 1].
  djStatus (*limit)(void* user, double* fraction, const double* step);
  // The trial point becomes the present one.
  void (*accept)(void* user);
  bool eases, convex, learns;   // what may be asked of it
  double* scratch;              // (3 n) where it learns
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
