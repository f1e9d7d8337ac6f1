// The inertia that bodies show to a push (djModel.body_effinertia), by the masses and frames that a
// model has now.

#ifndef DJ_MODEL_PUSH_INERTIA_H_
#define DJ_MODEL_PUSH_INERTIA_H_

#include <dijoco/model.h>

djStatus dj_setPushInertia(djModel* model);

#endif  // DJ_MODEL_PUSH_INERTIA_H_
