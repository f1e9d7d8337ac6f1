// Impacts at their time: impulses within a step.
//
// A step of an implicit method stops what comes into contact at its end, wherever in the step that
// was, and nothing comes back. Here pairs that restitution makes bounce meet within the step, one
// after the other, as rigid bodies do. On the way from the start, bodies go straight on (djFlight);
// where the next two touch (contact/pairs/touch.h), at a time t = theta h, an impulse P at the
// point of touch, by the law of impulse_law.h, changes joint velocities by
//   Delta = M(q)^-1 J(q)^T F,
// F its wrenches about the centres of mass of both bodies at that time. Then the step is taken as
// ever, but
//   from v^ = v + sum (1 - theta_k) Delta_k   in place of v,   and
//   with sum theta_k F_k added to the momentum that its end has (balance.h):
// with c + h v^ for the centre at the end both together are P at the point of touch. So bodies
// arrive where they would with their change of velocity at theta h, momentum is kept to rounding,
// and all is as differentiable as the times of touch are: there is no jump where an
// impact moves from one step to the next. What slides on after it, other contact, joints' limits:
// the step's solution takes care of them, with what is left of the approach.
//
// Of the integrator `momentum`; others leave impacts to the barrier.

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
  double *before;          // (nv) joint velocity before, that of the start and changes since
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
  djFlight* way;              // (nbody) bodies at the last impulse
  djPose* pose;            // (nbody) scratch
  double* fall;            // (nbody) of gravity, by bodies of trees that are free to fall
  djBodyStep* end;         // (nbody) work->body with what acts at the end alone
  double* bar;             // memory of impulse_back.c
  void *memory, *linear_memory;
  size_t nmemory, nlinear;
};

// Finds the impulses of the step that starts at work->start, whose velocity then is v^.
djStatus dj_findImpulses(djWork* work, const djModel* model);

// The step is to be taken without them, from the velocity qvel (nv).
void dj_dropImpulses(djWork* work, const djModel* model, const double* qvel);

// Those of a step by work->method, from qvel.
static inline djStatus dj_methodImpulses(djWork* w, const djModel* m, const double* qvel) {
  dj_dropImpulses(w, m, qvel);
  return w->method == &dj_momentum ? dj_findImpulses(w, m) : DJ_OK;
}

// After work->body is set: what the momentum of the end is balanced with.
void dj_setEndLoads(djWork* work, const djModel* model);
static inline int dj_impulseCount(const djWork* w) { return w->impulses ? w->impulses->n : 0; }

// Derivatives of lambda . v^ + mu . v+ by the start, v+ by what acts at the end alone: added to q
// (nv), v (nv), either may be NULL. Sums of parameters, or NULL.
djStatus dj_impulseVjp(double* q, double* v, djParamSums* sums, djWork* work, const djModel* model,
                       const double* lambda, const double* mu);

// Where many vector products follow: computes what they have in common, which then is `held`, into
// the impulses' own memory for it.
void dj_holdImpulses(djWork* work, const djModel* model);

// Memory, where the model has restitution; else it is found when a step needs it. Its bytes.
size_t dj_impulsesSize(const djModel* model);
djStatus dj_makeImpulses(djWork* work, const djModel* model);
void dj_freeImpulses(djWork* work);
size_t dj_heldImpulses(const djWork* work);

#endif  // DJ_INTEGRATE_IMPULSE_H_
