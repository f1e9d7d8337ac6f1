// Laws of rows, see row_solve.h.

#ifndef DJ_INTEGRATE_ROW_LAW_H_
#define DJ_INTEGRATE_ROW_LAW_H_

#include "integrate/row_solve.h"

// A row whose force is 0.
void dj_releaseRow(djLawRow* row, double x);
// A disc's slips and forces go on, along the curve where that is not far, else each by itself.
void dj_moveSlip(djLawRow* row, double dx, double dy, double dF, double dG);

// Where x = a + g F; of a disc s = a + G F, G as xx, xy, yy.
void dj_solveRow(djLawRow* row, double a, double g);
void dj_solveDisc(djLawRow* row, const double a[2], const double G[3]);

#endif  // DJ_INTEGRATE_ROW_LAW_H_
