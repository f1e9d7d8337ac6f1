// Optimisers: minimise a function of x in R^n within bounds and linear equations, by its gradient.
// They know nothing of physics. See design.h for the loss of a task as such a function.
//
//   djOptimizer how = dj_defaultOptimizer();
//   how.type = "lbfgsb";
//   djOptimizeProblem p = {.n = n, .lower = lower, .upper = upper, .objective = f, .user = mine};
//   djOptimizeResult result;
//   dj_optimize(&result, x, &p, &how, &err);

#ifndef DIJOCO_OPTIMIZE_H_
#define DIJOCO_OPTIMIZE_H_

#include <dijoco/entry.h>
#include <dijoco/setting.h>

#ifdef __cplusplus
extern "C" {
#endif

// A number of the model that changes over the iterations, in equal steps.
typedef struct djAnneal {
  char name[64];            // of a parameter with one number
  double from, to;          // its units; at the start, and at the last iteration
} djAnneal;
enum { DJ_MAX_ANNEAL = 4 };

// Windows that move on through a task: see receding.h, which alone knows of them.
typedef struct djReceding {
  int horizon;              // steps of a window; 0: the whole task is one
  int apply;                // steps of it that are executed before the next
  int frame;                // first step that is not executed yet; those before have their controls
  int nwindow;              // numbers of window; 0: not given
  const double* window;     // (nwindow) units of x; what the window at frame starts with
  int candidates;           // plans of which a window begins with the best; 0, 1: with its own
  double spread;            // units of x; what the others deviate by at the window's end, about
  int seed;                 // of theirs
  int nthread;              // that compare them, which changes no result; 0: one for each processor
} djReceding;

// A parameter and its values.
typedef struct djTaskSet {
  const char* name;         // of a parameter; patterns stand for several
  int n;                    // entries
  const double* value;      // (n) in the units of the parameter
} djTaskSet;

// A part of a run, with parameters of its own: it starts from the result of the one before.
typedef struct djStage {
  int nset;                 // parameters that it sets; later stages keep them
  const djTaskSet* set;     // (nset)
  int iterations;           // at most; 0: the optimizer's
} djStage;

// What steps of trust_region go down.
typedef enum djDirection {
  DJ_DIRECTION_MEAN,        // the running mean of the gradient; settles down in the end
  DJ_DIRECTION_ADAM,        // Adam's step; likewise
  DJ_DIRECTION_GRADIENT     // the gradient, in full steps for ever (SDRS eq. 15 as printed)
} djDirection;

// How to optimise: a type, of those that dj_optimizerEntry lists, and the numbers that
// dj_optimizerKey lists, of which a type uses some.
typedef struct djOptimizer {
  bool given;               // in a task: by the file
  const char* type;         // name
  double rate;              // units of x; adam: step of an entry
  double beta1;             // 1; adam, trust_region: weight of the past in the mean gradient
  double beta2, epsilon;    // adam, trust_region's direction adam: 1; units of the loss by those
                            //   of x (normalize: 1)
  double radius;            // units of x; trust_region: largest |step| of group 0...
  double control_radius;    // ... and of group 1, units of x; 0: radius
  int direction;            // trust_region: djDirection
  double damping;           // 1; gauss_newton: of the first step, by the curvature's diagonal
  int normalize;            // adam: 1: each gradient is first divided by its length
  int memory;               // lbfgsb: stored pairs
  int products;             // newton_cg: Hessian-vector products of a step, at most
  int restarts;             // lbfgsb: where the best point is at a jump or kink of the loss, starts
                            //   beside it, in a row, that lead nowhere; 0: none
  int iterations;           // at most
  double gradient_tolerance;  // units of the loss by those of x: stop when the largest entry of the
                              //   projected gradient is below; 0: never
  double step_tolerance;    // units of x: likewise |step|
  int patience;             // iterations in which the best loss must fall by a thousandth; 0: any
  int phases;               // of djd_optimizeDesign: starts of which the mean loss is minimised;
                            //   dj_optimize itself knows nothing of them
  int nanneal;              // of djd_optimizeDesign, likewise
  djAnneal anneal[DJ_MAX_ANNEAL];   // (nanneal)
  djReceding receding;      // likewise of djd_receding
  int nstage;               // of djd_optimizeDesign; 0: the whole run is one
  const djStage* stage;     // (nstage)
  int first_stage;          // those before are left out, but for what they set
  int nstart;               // numbers of start; 0: not given
  const double* start;      // (nstart) units of x; what the first stage that is run starts with
  double shrink;            // 1; of its steps, of full ones: below 1 where stages before found
                            //   nothing
} djOptimizer;

// The first type, and the defaults of all keys.
DJ_API djOptimizer dj_defaultOptimizer(void);

// Key i = 0, 1, ... of an optimizer; NULL after the last. Offsets are in djOptimizer.
DJ_API const djSetting* dj_optimizerKey(int i);

// Key i = 0, 1, ... of `receding`; NULL after the last. Offsets are in djReceding.
DJ_API const djSetting* dj_recedingKey(int i);
// The number of one; set it by its name, beginning with the defaults. The error names the key.
DJ_API double dj_getReceding(const djOptimizer* optimizer, const djSetting* key);
DJ_API djStatus dj_setReceding(djOptimizer* optimizer, const char* key, double value,
                               djError* err);

// Set the type. The error lists those that there are.
DJ_API djStatus dj_setOptimizerType(djOptimizer* optimizer, const char* type, djError* err);

// The number of a key; set it by its name. The error names the key.
DJ_API double dj_getOptimizer(const djOptimizer* optimizer, const djSetting* key);
DJ_API djStatus dj_setOptimizer(djOptimizer* optimizer, const char* key, double value,
                                djError* err);
// The same of a key with choices, by the name of one ("adam").
DJ_API djStatus dj_setOptimizerText(djOptimizer* optimizer, const char* key, const char* text,
                                    djError* err);

// Returns the number of stages. Into stage, memory for so many, they are copied (NULL: not), which
// are the optimizer's from then on; iterations of each, unless that is negative.
DJ_API int dj_copyStages(djOptimizer* optimizer, djStage* stage, int iterations);

// Whether the type of an optimizer uses a key: one that all do, or one of its own. Errors name the
// types that do; keys that there are not are left to others.
DJ_API djStatus dj_checkOptimizerKey(const djOptimizer* optimizer, const char* key, djError* err);

// Is there an optimiser of this type?
DJ_API bool dj_isOptimizer(const char* type);

// Loss at x, and its gradient (n) unless grad is NULL. Negative: there is none at x, so that the
// optimiser backs off; DJ_NO_MEMORY ends it.
typedef djStatus (*djObjective)(void* user, double* loss, double* grad, const double* x);

// Residuals r (m) at x, and unless J is NULL their derivatives J (m x n); the loss is the sum of
// their squares. Negative: as above.
typedef djStatus (*djResiduals)(void* user, double* r, double* J, const double* x);

// Product (n) of the objective's Hessian at x with v (n), after an evaluation with a gradient there.
// Negative: as above.
typedef djStatus (*djHessianProduct)(void* user, double* product, const double* x, const double* v);

// State after an iteration; iteration 0 is the start.
typedef struct djOptimizeStep {
  int iteration;            // 0: the start
  double loss;              // at x, in the objective's units
  double step_norm;         // |x - previous x|, units of x
  double gradient_norm;     // largest entry of the projected gradient, units of the loss by those
                            //   of x; NaN where not computed
  double best_loss;         // so far, units of the loss
  const double* x;          // (n) units of the caller
  int stage;                // of djd_optimizeDesign with stages, which it and iteration belong to
  int flattened;            // of djd_optimizeDesign: djd_countFlattened of the run so far
  int pieces;               // likewise djd_countPieces at x
  double jump;              // of the loss at x where it was renewed after the step, in its units, to
                            //   first order where that is little; 0: it was not
} djOptimizeStep;

// Called after each iteration; false: stop there.
typedef bool (*djOptimizeCallback)(void* user, const djOptimizeStep* step);

// Called before the evaluations of an iteration: whether the objective is another one from then on,
// so that what was best before does not count.
typedef bool (*djOptimizeChange)(void* user, int iteration);

// Called after each iteration by optimisers that can take it: whether the objective is about to be
// another one, that differs by little; *loss, given that at x (n), becomes what it is there then, to
// first order; NaN: it is to be evaluated.
typedef bool (*djOptimizeRenewal)(void* user, double* loss, const double* x);

// What is minimised.
typedef struct djOptimizeProblem {
  int n;                        // entries of x
  const double* lower;          // (n) units of x; or NULL: none
  const double* upper;          // (n) units of x; or NULL
  const int* group;             // (n) of trust_region: 0 or 1; NULL: all 0
  int nequal;                   // equations equal x = value
  const double* equal;          // (nequal x n) units of the equation by those of x; with
                                //   equal_start only entries that are not 0, row by row
  const int* equal_start;       // (nequal + 1) where a row's entries start; or NULL
  const int* equal_index;       // (equal_start[nequal]) the entry of x, in a row ever higher
  const double* value;          // (nequal) units of the equation
  djObjective objective;        // what is minimised
  int nresidual;                // m of residuals
  djResiduals residuals;        // of losses that are sums of squares, for gauss_newton; or NULL
  const char* no_residuals;     // why there are none, or NULL
  djHessianProduct product;     // for newton_cg; NULL: it takes differences of gradients
  void* user;                   // handed to all three
  djOptimizeCallback callback;  // or NULL
  void* callback_user;          // handed to the callback
  djOptimizeChange change;      // or NULL; not all optimisers take one
  void* change_user;            // handed to it
  djOptimizeRenewal renew;      // or NULL
  void* renew_user;             // handed to it
} djOptimizeProblem;

// Why a run ended.
typedef enum djStop {
  DJ_STOP_ITERATIONS,       // all used up
  DJ_STOP_GRADIENT,         // below its tolerance, or than what the loss can show
  DJ_STOP_STEP,             // likewise
  DJ_STOP_CALLBACK,
  DJ_STOP_STUCK,            // no smaller step helps, or the loss is defined nowhere near
  DJ_STOP_PATIENCE          // the best loss has hardly fallen for so many iterations
} djStop;

// Outcome of a run.
typedef struct djOptimizeResult {
  djStop stop;              // why it ended
  double first_loss;        // at the start, units of the loss
  double loss;              // the lowest, units of the loss; x is where
  int best_iteration;       // where it was first; but the last one while all losses are equal
  int iterations;           // done
  int evaluations;          // of the objective
  int refused;              // of them where it is not defined
  int restarts;             // of lbfgsb: starts beside the best point
  int products;             // of newton_cg: Hessian-vector products
  double gradient_norm;     // at the last iterate where it was computed, units of the loss by those
                            //   of x
  int stage;                // of djd_optimizeDesign with stages: the last that was run
  double shrink;            // 1; of its steps, of full ones
  int flattened;            // of djd_optimizeDesign: steps that were shortened since a hull would
                            //   have been flat or a cell of a cage inside out
  int contradiction;        // entry of x whose bounds no point of the equations keeps; -1: none
  int renewals;             // of the objective
  double largest_jump;      // of the loss at one of these, in its units
} djOptimizeResult;

// Improve x (n), which is projected on the constraints first. The best iterate is returned,
// whatever ends the run. DJ_NOT_CONVERGED: it ended stuck. Negative: nothing could be done (bad
// numbers, contradicting constraints, no loss at the start); x is then as it was.
DJ_API djStatus dj_optimize(djOptimizeResult* result, double* x, const djOptimizeProblem* problem,
                            const djOptimizer* optimizer, djError* err);

#ifdef __cplusplus
}
#endif

#endif  // DIJOCO_OPTIMIZE_H_
