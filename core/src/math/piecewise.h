// Functions that are smooth piece by piece: where one piece ends, and integrals over one.

#ifndef DJ_MATH_PIECEWISE_H_
#define DJ_MATH_PIECEWISE_H_

enum { DJ_MAX_DEGREE = 6 };

// Gauss' rule with 13 points, exact up to degree 25: (node, weight) of [0, 1].
enum { DJ_GAUSS_POINTS = 13 };
extern const double dju_gauss[DJ_GAUSS_POINTS][2];

// Coefficients p (degree + 1) of u^0, u^1... of the polynomial that has the values y (degree + 1)
// at u = 0, 1/degree, ..., 1. degree: 1 to DJ_MAX_DEGREE.
void dju_fitPolynomial(double* p, const double* y, int degree);

// Where the polynomial p (degree + 1) changes its sign within (0, 1), ascending, at most `degree`
// places, to 1e-9. Returns their number.
int dju_signChanges(double* u, const double* p, int degree);

#endif  // DJ_MATH_PIECEWISE_H_
