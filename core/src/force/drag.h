// Internal to drag: its coefficients during a step.

#ifndef DJ_FORCE_DRAG_H_
#define DJ_FORCE_DRAG_H_

#include "force/twist_force.h"

#include <math.h>

// Of one body: force -c1 v - c2 v|v| along the axes of its inertia, angular and linear.
typedef struct djDrag {
  bool acts;
  double linear[6];
  double square[6];
} djDrag;

// Component k at rate v: potential, its slope and curvature.
static inline void dj_dragAt(double out[3], const djDrag* s, int k, double v) {
  double a = s->linear[k], b = s->square[k], w = fabs(v);
  out[0] = v * v * (a / 2 + b * w / 3);
  out[1] = v * (a + b * w);
  out[2] = a + 2 * b * w;
}

// Coefficients of body b, by the box of equal inertia.
void dj_setDrag(djDrag* drag, const djModel* model, int b);

// mass (1) and inertia (3) += the coefficients' derivatives, weighted by linear (6), square (6).
void dj_dragCoefficientParams(double* mass, double* inertia, const djModel* model, int b,
                              const double linear[6], const double square[6]);

// The energy of body b at the point. Adds its wrench and its nested derivative there, or with a
// NULL wrench neither.
double dj_dragWrench(double* wrench, double N[36], const djDrag* drag, const djMotion* at, int b);

// Adds the wrench's derivative by twists of the pose where displacements begin.
void dj_dragStart(double Nrate[36], const djDrag* drag, const djMotion* at, int b);

// Of all bodies in prompt motions, to the sums of twists (drag_twist.c).
void dj_addDragTwists(djForceSum* sum, const djDrag* drag, const djMotion* at);
void dj_startDragTwists(djStartSum* sum, const djDrag* drag, const djMotion* at);
void dj_dragTwistParams(djParamSums* sums, const djDrag* drag, const djMotion* at);

// Derivatives by parameters, see djForceRow.
void dj_dragParams(djParamSums* sums, const djDrag* drag, const djMotion* at);

#endif  // DJ_FORCE_DRAG_H_
