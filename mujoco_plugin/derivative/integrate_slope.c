// Derivative of mj_integratePos: q+ = q (+) h v, joint by joint (djm_integrateSlope).
//
// A rotation goes to R exp(h w). Turning R by psi in the body's frame turns the result by
// exp(-h w) psi in its own; by w it is h times the right Jacobian of exp (Dvel of
// mjd_quatIntegrate).

#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

void djm_integrateSlope(double* by_q, double* by_v, const mjModel* m, const double* v, double h) {
  int nv = (int)m->nv;
  memset(by_q, 0, 3 * (size_t)nv * sizeof(double));
  memset(by_v, 0, 3 * (size_t)nv * sizeof(double));
  for (int i = 0; i < nv;) {
    if (djm_groupSize(m, i) == 1) {
      by_q[3 * i] = 1;
      by_v[3 * i] = h;
      i++;
      continue;
    }
    mjtNum turn[9], bend[9], scale[3];
    mjd_quatIntegrate(v + i, h, turn, bend, scale);
    memcpy(by_q + 3 * i, turn, sizeof(turn));
    for (int k = 0; k < 9; k++) by_v[3 * i + k] = h * bend[k];
    i += 3;
  }
}
