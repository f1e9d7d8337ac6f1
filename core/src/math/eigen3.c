#include "math/eigen3.h"

// Entries off the diagonal below this fraction of the largest one are rounding.
#define ROUNDING 1e-14

// Jacobi's method: turning the axes p, q by t about the third makes S_pq vanish for
//   tan(2 t) = 2 S_pq/(S_pp - S_qq),
// of which the root with |t| <= 45 degrees is taken. Convergence is quadratic.
void dju_principalAxes(djQuat* q, double value[3], const djMat3* S) {
  djMat3 R = dju_quatToMat(*q), A = dju_mulMtM(R, dju_mulMM(*S, R));
  double scale = 0;
  for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(A.m[i]));
  for (int sweep = 0; sweep < 30; sweep++) {
    int turned = 0;
    for (int p = 0; p < 3; p++) {
      int k = (p + 1) % 3, axis = (p + 2) % 3;
      double off = 0.5 * (A.m[3 * p + k] + A.m[3 * k + p]);
      if (!(fabs(off) > ROUNDING * scale)) continue;
      double tau = (A.m[4 * p] - A.m[4 * k]) / (2 * off);
      double tangent = copysign(1, tau) / (fabs(tau) + sqrt(1 + tau * tau));
      double half = 0.5 * atan(tangent), turn[3] = {0, 0, 0};
      turn[axis] = sin(half);
      *q = dju_normalizeQuat(dju_mulQuat(*q, (djQuat){cos(half), turn[0], turn[1], turn[2]}));
      R = dju_quatToMat(*q);
      A = dju_mulMtM(R, dju_mulMM(*S, R));
      turned = 1;
    }
    if (!turned) break;
  }
  for (int k = 0; k < 3; k++) value[k] = A.m[4 * k];
}
