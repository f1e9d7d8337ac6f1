// A task in memory: its scene, and its loss as a function of its variables.

#ifndef DJ_TOOLS_GRAD_RUN_H_
#define DJ_TOOLS_GRAD_RUN_H_

#include "inputs.h"

#include <dijoco/design.h>

typedef struct GradRun {
  const Options* options;
  djTask* task;
  Scene scene;
  djProblem* problem;
  djDesign* design;
  // Of grad_compute, at the task's own values:
  double loss;
  double* term;             // (nloss)
  double* gradient;         // (design->n), NAN where singular
  int unconverged_steps;
  double worst_residual, worst_condition;
  double forward, backward; // seconds
  bool singular;            // no gradient: a step's Jacobian could not be factored
  // Of grad_certify, for its progress:
  int certified;            // variables
  long losses, before;      // evaluated for all of them; for those that are certified
} GradRun;

// Load a task and everything it names. Returns 0, or EXIT_BAD_INPUT after its line on stderr.
int grad_load(GradRun* g, const Options* o, const char* path);
// Says that --gravity-ramp, where it is given, is for other verbs.
bool grad_refusesRamp(const Options* o);
// Loss and gradient. The same.
int grad_compute(GradRun* g);
void grad_free(GradRun* g);

// Gradient by the entries of a variable (variable->n).
const double* grad_of(const GradRun* g, int variable);

// The variable's own values at the design's present point (variable->nvalue); new memory.
double* grad_value(const GradRun* g, int variable);

enum { SPREAD_PHASES = 8 };
// djd_phaseSpread over so many phases (nvariable); NAN where one of them has no gradient.
int grad_spread(double* spread, GradRun* g);

// Certificate of one variable along a random direction.
void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed);

#endif  // DJ_TOOLS_GRAD_RUN_H_
