// Several scenes that share the variables of a task.

#ifndef DJ_GRADIENT_PHASES_H_
#define DJ_GRADIENT_PHASES_H_

#include <dijoco/design.h>

// Weights are positive, and all designs have the first one's variables and connections, with the
// same values at x0: an error names the scene and the variable.
djStatus dj_checkScenesAlike(int nscene, djDesign* const* design, const double* weight,
                             djError* err);

// What messages call the design's scene; "": it is the only one.
static inline const char* dj_sceneOf(const djDesign* d) {
  return d->problem->element ? d->problem->element : "";
}

// Put that before an error; returns status.
djStatus dj_prefixScene(djError* err, djStatus status, const djDesign* d);

#endif // DJ_GRADIENT_PHASES_H_
