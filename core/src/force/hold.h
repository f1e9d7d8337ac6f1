// Equality constraints that are kept exactly, option `equality` = hard: multipliers by the method
// of Hestenes (J. Optim. Theory Appl. 4, 1969) and Powell. Each number x of an active constraint has
// the energy
//   F (x - r) + K (x - r)^2/2,   r = gamma x_0,   gamma = exp(-h b/2),
// x_0 at the start: what is open closes as its law's damper b would have it, and what is closed
// stays closed. After a solution F <- F + K (x - r), and another is looked for, until every number
// is where it is to be. From then on F stays, r is where x is, and K is so large that derivatives
// are those of the constraint.

#ifndef DJ_FORCE_HOLD_H_
#define DJ_FORCE_HOLD_H_

#include "force/forces.h"

// One number of an equality constraint in a step.
typedef struct djHold {
  bool acts;
  int coordinate;
  double F, K, r;
  double gamma, x0;
  double stiff;        // K when settled, times the inverse inertia along x
  double size;         // of x, by which it is judged
} djHold;

// Those of a step that has begun, (dj_holdCount(model)), of which some act. NULL: none does.
djHold* dj_holdsOf(const djForces* forces, const djModel* model);
static inline int dj_holdCount(const djModel* m) { return m->nequalitycoord; }

// The largest |x - r| over its size, at a point.
double dj_holdError(const djHold* hold, const djMotion* at);
// F <- F + K (x - r).
void dj_moveHolds(djHold* hold, const djMotion* at);
// While true, beginning again leaves them as they are.
void dj_keepHolds(const djForces* forces, bool keep);
// They are solved, with the forces F + K (x - r). inverse: of the inertia along each number.
void dj_settleHolds(djHold* hold, const djMotion* at, const double* inverse);

#endif  // DJ_FORCE_HOLD_H_
