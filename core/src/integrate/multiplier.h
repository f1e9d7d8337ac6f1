// Forces of hard equality constraints (force/hold.h) in a step that is known.

#ifndef DJ_INTEGRATE_MULTIPLIER_H_
#define DJ_INTEGRATE_MULTIPLIER_H_

#include "base/arena.h"

#include <dijoco/model.h>

struct djWork;

// Scratch of dj_recoverHolds.
typedef struct djMultiplier {
  double *A, *L;       // (n x n), n numbers of constraints
  double *x, *y;       // (n)
  double* diagonal;    // (nv)
} djMultiplier;

void dj_layoutMultiplier(djMultiplier* room, djArena* a, const djModel* model);

// The stage is solved at `now`, but for more solutions from there on.
void dj_settle(struct djWork* work, const djModel* model);

// A stage that `now` solves has been begun anew: settles its constraints with the forces F by which
// all balances, J^T F = -r, in the least squares of the masses' metric. Of redundant constraints,
// whose forces are not unique, all give the same J^T F.
djStatus dj_recoverHolds(struct djWork* work, const djModel* model);

#endif  // DJ_INTEGRATE_MULTIPLIER_H_
