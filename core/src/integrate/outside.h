// Steps of physics from outside (dijoco/physics.h), in the place of dj_takeStep and
// dj_linearizeStep.

#ifndef DJ_INTEGRATE_OUTSIDE_H_
#define DJ_INTEGRATE_OUTSIDE_H_

#include "integrate/linear.h"

#include <dijoco/physics.h>

// The step is not the core's.
static inline bool dj_isOutside(const djModel* m) { return m->opt.contact == DJ_CONTACT_MUJOCO; }

// Memory of a djData for it: the arena's part, and the physics' own.
void dj_layoutOutside(djWork* work, djArena* arena, const djModel* model);
djStatus dj_makeOutside(djWork* work, const djModel* model, djError* err);
void dj_freeOutside(djWork* work);
size_t dj_heldOutside(const djWork* work);

// As dj_takeStep: the end is in work->qnext, qvel, act_next and `now`.
djStatus dj_takeOutside(const djModel* model, djData* data);

// What touched in that step, into data->pair and contact, and the statistics of gaps.
djStatus dj_reportOutside(const djModel* model, djData* data);

// As dj_linearizeStep: *linear has A and B, and no stage.
djStatus dj_linearizeOutside(djLinear* linear, const djModel* model, djData* data);

// Adjoints are the physics' own, and need no matrices.
static inline bool dj_outsideHasVjp(const djModel* m) { return dj_isOutside(m) && m->physics->vjp; }

// Those of djPhysics. The step is that from data's state and inputs; or the one just taken.
djStatus dj_outsideVjp(double* dx, double* du, const djModel* model, djData* data,
                       const double* lambda);
djStatus dj_lastOutsideVjp(double* dx, double* du, const djModel* model, djData* data,
                           const double* lambda);
djStatus dj_askOutside(const djModel* model, djData* data, int nparam, const djParam* param);
djStatus dj_answerOutside(double* gradient, const djModel* model, djData* data, int nparam,
                          const djParam* param);

// As dj_linearizeStep, of the step from data's state and inputs, which need not have been taken.
djStatus dj_openOutside(djLinear* linear, const djModel* model, djData* data);

#endif  // DJ_INTEGRATE_OUTSIDE_H_
