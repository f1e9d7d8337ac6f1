// Impacts at their time: impulses within a step.
//
// A step stops what comes into contact at its end, wherever in the step that was, and nothing comes
// back. Here pairs that restitution makes bounce meet within the step, one after the other, as rigid
// bodies do. The method `euler` leads without contact from q to q (+) h f, f = v + h a the velocity at
// the end: with constant a, places of steps are on a parabola along which the velocity is, after a
// time t,
//   v(t) = c + t a,   c = (v + f)/2.
// So bodies go here (djFlight); where the next two touch (contact/pairs/touch.h), after a time
// t = theta h, an impulse P at the point of touch, by the law of impulse_law.h, changes joint
// velocities by
//   Delta = M(q)^-1 J(q)^T F,
// F its wrenches about the centres of mass of both bodies at that time. Then the step is taken as
// ever, but
//   from v + S1 in place of v where the step's displacement is found,  S1 = sum (1 - theta_k) Delta_k,
//   to v+ + S2,  S2 = sum theta_k Delta_k.
// So bodies arrive where they would with their change of velocity at theta h, momentum is kept, and
// all is as differentiable as the times of touch are: there is no jump where an impact moves from
// one step to the next. What slides on after it, other contact, joints' limits: the step's solution
// takes care of them, with what is left of the approach.

#ifndef DJ_INTEGRATE_IMPULSE_H_
#define DJ_INTEGRATE_IMPULSE_H_

#include "contact/pairs/touch.h"
#include "integrate/impulse_law.h"
#include "integrate/work.h"

enum { DJ_MAX_IMPULSE = 16 };   // in a step; later ones are the barrier's

typedef struct djImpulse {
  djTouch touch;
  double time;             // s, from the start of the step
  bool timed;              // the touch fixes it; else it is that of the impulse before, or 0
  djImpact impact;
  djVec3 arm[2];           // from the centres of mass to the point
  djVec3 turn[2];          // of both bodies before: rad/s
  djVec3 P;                // on b
  double *y[3];            // (nv) M^-1 J^T of unit impulses along the axes
  double *before;          // (nv) joint velocity before: c and changes since
  double *change;          // (nv) Delta
  // While they are held (dj_holdImpulses): derivatives of J^T F - M Delta by q, F and Delta held,
  // and of C_ij.
  djMatrix by_change;      // of the trees' pattern
  double* by_C[9];         // (nv)
} djImpulse;

struct djImpulses {
  int n;
  bool held;
  djImpulse of[DJ_MAX_IMPULSE];
  double *c, *a;           // (nv)
  double* S2;              // (nv)
  djFlight* way;           // (nbody) bodies at the last impulse
  djPose* pose;            // (nbody) scratch
  double* bar;             // memory of impulse_back.c
  void *memory, *linear_memory;
  size_t nmemory, nlinear;
};

// Finds the impulses of the step that starts at work->start and leads, without contact, to a
// displacement work->drift. S1 is left in work->kick, which is zero where there are none.
djStatus dj_findImpulses(djWork* work, const djModel* model);

static inline int dj_impulseCount(const djWork* w) { return w->impulses ? w->impulses->n : 0; }
static inline void dj_dropImpulses(djWork* w) {
  if (w->impulses) w->impulses->n = 0;
}

// Derivatives of lambda . S1 + mu . S2 by the start's q at fixed c and a, by c and by a: added to
// (nv) each, q may be NULL. Sums of parameters, or NULL.
typedef struct djImpulseBar {
  double *q, *c, *a;
} djImpulseBar;
djStatus dj_impulseVjp(const djImpulseBar* by, djParamSums* sums, djWork* work,
                       const djModel* model, const double* lambda, const double* mu);

// Where many vector products follow: computes what they have in common, which then is `held`, into
// the impulses' own memory for it.
void dj_holdImpulses(djWork* work, const djModel* model);

// Memory, where the model has restitution; else it is found when a step needs it. Its bytes.
size_t dj_impulsesSize(const djModel* model);
djStatus dj_makeImpulses(djWork* work, const djModel* model);
void dj_freeImpulses(djWork* work);
size_t dj_heldImpulses(const djWork* work);

#endif  // DJ_INTEGRATE_IMPULSE_H_
