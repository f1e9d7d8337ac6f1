// Passes of the method `euler` over rows, which find its minimum by forces: see row_pass.c.

#ifndef DJ_INTEGRATE_ROW_PASS_H_
#define DJ_INTEGRATE_ROW_PASS_H_

#include "base/arena.h"
#include "contact/rows.h"
#include "integrate/row_solve.h"

struct djWork;

enum { DJ_PASS_PAIRS = 12 };   // at most

typedef struct djRowPass {
  int room;                // rows that there is room for
  int npair, n, nold;
  djPairPlane plane[DJ_PASS_PAIRS];
  djPairRows* visited;
  djLawRow *row, *old;     // (room) and those of the pass before
  int (*key)[2], (*old_key)[2];   // (room) plane or -1, and what it is of it
  int (*range)[2];         // (room) dofs of the trees that a row is on: from, to
  double *L, *Y;           // (room x nv) derivatives of arguments by psi; G = Y Y^T
  double* psi;             // (nv) of the pass, with
  double *forced, *moved;  // (nv) what its forces move; scratch
  double left;             // decrement of the last step to its forces, J^1/2
  djRowProblem problem;
} djRowPass;

void dj_layoutRowPass(djRowPass* pass, djArena* arena, const djModel* model);

// psi (nv) close to the minimum of the step that has begun. *found: there is one; *exact: it is the
// minimum, where nothing touches, and work->trial is there.
djStatus dj_passRows(bool* found, bool* exact, double* psi, struct djWork* work,
                     const djModel* model);

#endif  // DJ_INTEGRATE_ROW_PASS_H_
