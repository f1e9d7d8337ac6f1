// Forces F of rows whose arguments are linear in them: the inner problem of row_pass.c. With
//   lin = base + G F + B p,   x + y = lin,   F = -E'(x),   B^T F = stiff p,
// y that of the row's shared one; of unknowns t by which a plane turns lin has less by t.bend t/2,
// and stiff is sum F bend. They are the minimum of F.G F/2 + base.F + sum E*(-F), E* the conjugate of a
// row's law, where B^T F is as it is to be: p are multipliers.
//
// Every row stands on its law's curve; a step is Newton's with the curves' tangents C = -dx/dF,
//   (G + C) dF + B dp = x + y - lin,   B^T dF - stiff dp = stiff p - B^T F,
// and goes along each curve in whichever of x and F is the more linear: x where C > G. So the steep
// law of a barrier is found by its force, at which it is nearly linear, and its onset by x.

#ifndef DJ_INTEGRATE_ROW_SOLVE_H_
#define DJ_INTEGRATE_ROW_SOLVE_H_

#include "force/soft_row.h"

#include <dijoco/types.h>

typedef enum djCurveKind {
  DJ_CURVE_SHARED, DJ_CURVE_BARRIER,   // its members follow it
  DJ_CURVE_SLIP, DJ_CURVE_ACROSS,      // both rows of a disc
  DJ_CURVE_COST                      // weight s(x) of a soft row
} djCurveKind;

// A point on a law's curve.
typedef struct djRowPoint {
  double x, F;
  double C, cross;         // of a disc's first row: what couples both
  bool acts;               // F may change: C is finite
  double off;              // what x is off the curve by, of discs
} djRowPoint;

typedef struct djLawRow {
  djCurveKind kind;
  int shared;              // -1: none
  double weight, width;    // width: support of the barrier, eps of slip
  djBarrierLaw law;        // the barrier's
  const djSoftRow* soft;
  int turn;                // the first of two unknowns; -1: none
  double bend[3];
  djRowPoint at;
} djLawRow;

typedef struct djRowProblem {
  int n, m;                // rows, unknowns
  djLawRow* row;           // (n)
  double *G, *base;        // (n x n), (n)
  double *B, *stiff, *p;   // (n x m), (m), (m)
  double* scratch;         // (dj_rowScratch)
  djRowPoint* before;      // (n) scratch
  int* acting;             // (n) scratch
} djRowProblem;

int dj_rowScratch(int n, int m);

// Where rows begin: at a force, of barriers, at an argument, and of a disc at a slip.
void dj_placeForce(djLawRow* row, double F);
void dj_placeArgument(djLawRow* row, double x);
void dj_placeSlip(djLawRow* row, double x, double y);

// From there; `afresh`: row by row first. Returns how many steps were taken; *left: the last one's
// decrement, J^1/2.
int dj_solveRows(double* left, djRowProblem* problem, double tolerance, bool afresh);

#endif  // DJ_INTEGRATE_ROW_SOLVE_H_
