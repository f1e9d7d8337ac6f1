// A context follows changes of its mjModel (see djm_makeContext).

#ifndef DJ_MUJOCO_FOLLOW_H_
#define DJ_MUJOCO_FOLLOW_H_

#include "instance.h"
#include "step.h"

// Watch m, which c->model was just imported from, from now on.
djStatus djm_watchModel(djmContext* c, const mjModel* m, djError* err);
void djm_forgetModel(djmContext* c);

// Import m anew where it has changed. Negative: it cannot be followed, c->error says why, and the
// context is as it was.
djStatus djm_followModel(djmContext* c, const mjModel* m);

#endif  // DJ_MUJOCO_FOLLOW_H_
