// A task in memory: its scene, variables, and its loss with and without moved variables.

#ifndef DJ_TOOLS_GRAD_RUN_H_
#define DJ_TOOLS_GRAD_RUN_H_

#include "inputs.h"

#include <dijoco/check.h>
#include <dijoco/task.h>

typedef struct GradRun {
  const Options* options;
  djTask* task;
  Scene scene;
  djProblem* problem;
  djData* data;
  djTape* tape;
  djRolloutResult result;   // its arrays are owned here
  double forward, backward; // seconds
  bool singular;            // no gradient: a step's Jacobian could not be factored
} GradRun;

// Load a task and everything it names. Returns 0, or EXIT_BAD_INPUT after its line on stderr.
int grad_load(GradRun* g, const Options* o, const char* path);
// Loss and gradient. The same.
int grad_compute(GradRun* g);
void grad_free(GradRun* g);

// Gradient by a variable's entries: element k of variable->index.
double grad_entry(const GradRun* g, const djVariable* v, int k);

// The parameter's own values (v->nvalue of them); new memory.
double* grad_value(const GradRun* g, const djVariable* v);

// Certificate of one variable along a random direction.
void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed);

#endif  // DJ_TOOLS_GRAD_RUN_H_
