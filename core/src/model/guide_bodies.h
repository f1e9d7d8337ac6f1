// The pairs of bodies between which the guide of contact acts: guide_body1 and guide_body2 of a
// model, sorted, each once, the lower body first; none means all.

#ifndef DJ_MODEL_GUIDE_BODIES_H_
#define DJ_MODEL_GUIDE_BODIES_H_

#include <dijoco/model.h>

// Puts the pairs in order. nguide becomes less where a pair is there twice.
void dj_sortGuides(djModel* model);

bool dj_isGuided(const djModel* model, int body1, int body2);

#endif  // DJ_MODEL_GUIDE_BODIES_H_
