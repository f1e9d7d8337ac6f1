// Derivatives of a design by steps of smoother contact along its run (djProblem.derivatives).
//
// The run, and so the loss, is the model's own. Its derivatives are those of a second model, with
// the contact of the preset `smooth` and the same parameters, whose steps start at the run's states
// (djRollout.along).

#ifndef DJ_GRADIENT_DESIGN_SMOOTH_H_
#define DJ_GRADIENT_DESIGN_SMOOTH_H_

#include <dijoco/design.h>

typedef struct djDesignSmooth {
  djModel* model;    // NULL: derivatives are the run's own
  djModel* compiled; // as given, where inertias follow geoms, else NULL
  djData* data;
  djTape* tape;
  djRollout rollout; // the design's, along its tape
} djDesignSmooth;

djStatus dj_makeSmooth(djDesignSmooth* smooth, const djModel* model, const djProblem* problem,
                       djError* err);
void dj_freeSmooth(djDesignSmooth* smooth);

// A parameter that the design's model has been given; and its inertias, with the rule.
djStatus dj_setSmoothParam(djDesignSmooth* smooth, const djParam* param, const double* value,
                           djError* err);
djStatus dj_followSmooth(djDesignSmooth* smooth, djInertiaRule rule, djError* err);

// Facets as the design's model has them by now.
djStatus dj_renewSmooth(djDesignSmooth* smooth, djInertiaRule rule, djError* err);

// Steps along the run that the design's tape holds, with the loss.
djStatus dj_forwardSmooth(djDesign* design, djDesignSmooth* smooth);

// Of what the design's gradient is: its model, data, run and tape, or the smoother ones.
typedef struct djDesignRun {
  const djModel* model;
  djData* data;
  const djRollout* rollout;
  djTape* tape;
} djDesignRun;
djDesignRun dj_gradientRun(const djDesign* design);

#endif // DJ_GRADIENT_DESIGN_SMOOTH_H_
