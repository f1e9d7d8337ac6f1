// A task in memory: its scene, and its loss as a function of its variables.

#ifndef DJ_TOOLS_GRAD_RUN_H_
#define DJ_TOOLS_GRAD_RUN_H_

#include "inputs.h"

#include <dijoco/design.h>

// One of a task's scenes.
typedef struct GradPart {
  djTask* task;             // the first task's
  Scene scene;
  djProblem* problem;
  djDesign* design;
} GradPart;

typedef struct GradRun {
  const Options* options;
  int nscene;
  GradPart* part;           // (nscene)
  // The first part's, whose variables are those of all:
  djTask* task;
  Scene scene;
  djProblem* problem;
  djDesign* design;
  djPhases* sum;            // of all designs, one phase
  int nterm;                // terms of all losses, scene after scene
  // Of grad_compute, at the task's own values:
  double loss;
  double* term;             // (nterm)
  double* scene_loss;       // (nscene)
  double* gradient;         // (design->n), NAN where singular
  int unconverged_steps;
  long fallback_steps, recovering_steps;   // djStats
  double worst_residual, worst_condition;
  double forward, backward; // seconds
  bool singular;            // no gradient: a step's Jacobian could not be factored
  // Of grad_certify, for its progress:
  int certified;            // variables
  long losses, before;      // evaluated for all of them; for those that are certified
} GradRun;

// The scene and the place in it of a term of all; the name of a scene, NULL where there is no list.
typedef struct GradTerm {
  const GradPart* part;
  const char* scene;
  int scene_index, term;
} GradTerm;
GradTerm grad_term(const GradRun* g, int term);
const char* grad_termName(const GradTerm* t);   // its type
const char* grad_sceneName(const GradRun* g, int scene);

// "loss" of each scene: one number (`last` NULL), or at the start and at the end; nothing without a
// list.
void grad_writeScenes(Json* out, const GradRun* g, const double* first, const double* last);

// Steps of all scenes.
int grad_steps(const GradRun* g);

// A sum as g->sum, of so many phases.
int grad_phases(djPhases** phases, const GradRun* g, int nphase);

// Load a task and everything it names. Returns 0, or EXIT_BAD_INPUT after its line on stderr.
int grad_load(GradRun* g, const Options* o, const char* path);
// The same of a text that stands for the file's.
int grad_loadText(GradRun* g, const Options* o, const char* path, const char* text);
// Says that --gravity-ramp, where it is given, is for other verbs.
bool grad_refusesRamp(const Options* o);
// Loss and gradient. The same.
int grad_compute(GradRun* g);
void grad_free(GradRun* g);

// Gradient by the entries of a variable (variable->n).
const double* grad_of(const GradRun* g, int variable);

// The variable's own values at the design's present point (variable->nvalue); new memory.
double* grad_value(const GradRun* g, int variable);

// New data at the start of a design's present point, before its first step; NULL: there is none.
djData* grad_begin(const djDesign* design);

enum { SPREAD_PHASES = 8 };
// djd_phaseSpread over so many phases (nvariable); NAN where one of them has no gradient.
int grad_spread(double* spread, GradRun* g);

// Certificate of one variable along a random direction, by so many losses at most.
void grad_certify(djdCertificate* out, GradRun* g, int variable, unsigned long seed, int most);

#endif  // DJ_TOOLS_GRAD_RUN_H_
