// A stage's equations as Newton's method takes them (solve/newton.h): where it is, where a trial
// stands, and what contact knows of the way.

#ifndef DJ_INTEGRATE_STAGE_PROBLEM_H_
#define DJ_INTEGRATE_STAGE_PROBLEM_H_

#include "integrate/work.h"
#include "solve/newton.h"

// Of the unit: from where no step needs easing, an eased one leaps, and the start may be the end.
#define DJ_STAGE_NEAR 0.05

typedef struct djStageProblem {
  djWork* work;
  const djModel* model;
  const djMethod* method;
  bool scaled; // work->scale holds this step's
  int iterate; // accepted points, from 1; 0: not yet in Newton's method
  djEase ease;
  double unit;             // of the decrement
  bool predicted;          // the step is the method's prediction, work->ahead
  double near;             // as of djNewtonOption, of the unit
  long factored;           // version of the pattern that the last factor has
  bool carried;            // the present iterate is where a solution may be, dj_carry;
  bool exact;              //   it is the solution over rows
  double trial_fraction;   // of the present step at which the trial point stands; 0: none
  double path, trial_path; // work of work->nonpotential up to the present and the trial point
} djStageProblem;

// Value, gradient (nv) and work->H at work->now. *majorizer: one may be used for parts of H, and
// was.
djStatus dj_evaluateStage(void* problem, double* value, double* gradient, bool* majorizer);

// The trial point at a fraction of the step (nv), which is set once for its limit and the first
// trial; how far the way to it may be gone; both; and value, gradient and work->H there.
void dj_setStageTrial(djStageProblem* problem, const double* step, double fraction);
djStatus dj_capStageTrial(double* fraction, djWork* work, const djModel* model);
djStatus dj_maxStageStep(void* problem, double* fraction, const double* step);
djStatus dj_tryStage(void* problem, double* value, double* gradient, const double* step,
                     double fraction, bool* majorizer);

// The trial point becomes work->now.
void dj_acceptStage(void* problem);
void dj_swapPlaces(djPlace* a, djPlace* b);

// work->scale, of this step; a gradient's size over the masses, squared.
void dj_setStageScale(djStageProblem* problem);
double dj_stageSize(djStageProblem* problem, const double* gradient);

djNewtonProblem dj_stageNewton(djStageProblem* problem);

// By Newton's method from work->now.
djStatus dj_solveFrom(djNewtonResult* result, djStageProblem* problem);

#endif // DJ_INTEGRATE_STAGE_PROBLEM_H_
