// Internal to the body terms: fluid drag's coefficients.

#ifndef DJ_MODEL_DRAG_H_
#define DJ_MODEL_DRAG_H_

#include "model/body_term.h"

// drag_linear and drag_square of body b, by the box of equal inertia.
void dj_setDrag(djBodyStep* step, const djModel* model, int b);

// mass (1) and inertia (3) += those coefficients' derivatives, weighted by linear (6), square (6).
void dj_dragVjp(double* mass, double* inertia, const djModel* model, int b,
                const double linear[6], const double square[6]);

// Drag of component k at rate v: potential, its slope and curvature.
static inline void dj_dragAt(double out[3], const djBodyStep* s, int k, double v) {
  double a = s->drag_linear[k], b = s->drag_square[k], w = fabs(v);
  out[0] = v * v * (a / 2 + b * w / 3);
  out[1] = v * (a + b * w);
  out[2] = a + 2 * b * w;
}

#endif  // DJ_MODEL_DRAG_H_
