// Methods of integration: rows of a table (method_table.c).
//
// A step consists of stages. Stage s solves r_s(Q) = 0 for a configuration Q; its displacement is
// psi_s = log(q^-1 Q), in the axes of bodies. With the velocity v at the start and what the state
// keeps of the step before (its history, q- and v-), d = log(q-^-1 q) and v-, they are the *sources*
// of which velocities, accelerations and the end of the step are sums: a method is its coefficients.

#ifndef DJ_INTEGRATE_METHOD_H_
#define DJ_INTEGRATE_METHOD_H_

#include "force/force.h"
#include "math/factor.h"

struct djWork;

enum {
  DJ_MAX_STAGE = 2,
  DJ_SOURCE_VELOCITY = 0,
  DJ_SOURCE_BEFORE = 1,      // d
  DJ_SOURCE_VELOCITY_BEFORE = 2,
  DJ_SOURCE_STAGE = 3,       // displacements: and the following
  DJ_NSOURCE = DJ_SOURCE_STAGE + DJ_MAX_STAGE
};

// Sums over sources. A stage may use its own displacement and those of earlier stages. For methods
// with a residual of their own `velocity` says by how much of a source G is multiplied in dr, see
// djStageLinear.
typedef struct djCoefficients {
  double velocity[DJ_MAX_STAGE][DJ_NSOURCE];
  double accel[DJ_MAX_STAGE][DJ_NSOURCE];
  bool turns;                    // q+ = q (+) sum of position; false: the last stage's Q
  double position[DJ_NSOURCE];
  double end[DJ_NSOURCE];        // v+; not used by methods with a velocity of their own
  double time[DJ_MAX_STAGE];     // s; how far into the step stages end, of those that are prompt
} djCoefficients;

typedef struct djMethod {
  const char* name;
  djFactorKind kind;        // of dr/dQ; DJ_LDL: the residual is the gradient of a merit; DJ_LDU:
                            //   what is left of it without work->nonpotential
  int nstage;
  bool mass;                // stages have M
  bool spins;               // inverse dynamics at the middle of a step: spin.h adds what it lacks
  bool path_rates;          // rates along coordinates that bend are those of V (path_rate.h)
  bool prompt;              // forces are those of the stage's end (force/motion.h), whose place in
                            //   the step the coefficients name by `time`
  bool ahead;               // the first of its stages is where the step ends without U (euler.c)
  bool within;              // its stages are not the step's end, which could be kept anywhere
  bool predicts;            // where a step would end without forces: work->ahead, q (+) work->drift
  bool rows;                // limits, friction loss, soft equality constraints, adhesion and muscles
                            //   are as in MuJoCo: rows (euler_row.h) and forces of the start
  bool history;             // the state has q- and v- beside q, v and act
  const struct djMethod* starter;      // takes the step where there is no history
  const struct djMethod* substitute;   // and where Newton's method finds no solution
  const struct djMethod* impacts;      // of a step that has been taken with impulses; NULL: none has
  void (*coefficients)(djCoefficients* c, double h, const djOption* option);
  // Fix the quantities of stage work->stage of the step that starts at work->start.
  djStatus (*begin)(struct djWork* work, const djModel* model);
  // Residual r(Q) as gradient (nv) and dr/dQ (work->H) at a place, if gradient is not NULL, and
  // the merit. Without a gradient a merit for start guesses; infinite when infeasible. *majorizer: a
  // positive semi-definite substitute may be used for parts of H; set to false when none was.
  djStatus (*evaluate)(double* value, double* gradient, struct djWork* work, const djModel* model,
                       const djPlace* at, bool* majorizer);
  // What the residual has by an earlier iterate, if anything, is now by `now`: by how much that
  // moves a solution, as a decrement at most. NULL: nothing has.
  double (*relag)(struct djWork* work, const djModel* model);
  // H, whole, of an evaluation at `now` becomes that of such a residual.
  void (*whole)(struct djWork* work, const djModel* model);
  // Derivatives of the stage's residual by the start, at `now`: its Rq, G, M.
  djStatus (*linearize)(struct djWork* work, const djModel* model);
  // Derivatives of the stage's residual by inputs, after it. NULL: those of forces at `now`.
  void (*inputs)(djInputSum* sum, struct djWork* work, const djModel* model);
  // Adds d(z . r)/d parameter, z (nv), at `now`.
  djStatus (*params)(djParamSums* sums, struct djWork* work, const djModel* model,
                     const double* z);
  // Velocity at the end, work->qvel, and its derivatives: dv+ = Vplus (dq+ - E dq) + Vstart dq, see
  // djLinear, beside that of coefficients; there are none where linearizeVelocity clears
  // work->corrected. NULL: by coefficients.
  // DJ_NOT_CONVERGED: what was found is none.
  djStatus (*velocity)(struct djWork* work, const djModel* model);
  djStatus (*linearizeVelocity)(struct djWork* work, const djModel* model);
  // Adds d(lambda . v+)/d parameter, lambda (nv), at fixed q+ and start. NULL: 0.
  djStatus (*velocityParams)(djParamSums* sums, struct djWork* work, const djModel* model,
                             const double* lambda);
} djMethod;

#define DJ_METHOD(enumerator, name) extern const djMethod dj_##name;
DJ_INTEGRATORS(DJ_METHOD)
#undef DJ_METHOD

// Row of the table, NULL beyond it.
const djMethod* dj_method(djIntegrator integrator);

// Numbers of the history that the model's integrator keeps, q- (nq) and v- (nv), and of a tangent.
int dj_historySize(const djModel* model);
int dj_historyTangent(const djModel* model);

// A stage's residual is linear in small changes of the start, the sources src_k other than its own
// displacement, and inputs:
//   H dQ + r_q dq + sum_k (velocity_k G + accel_k M) dsrc_k + Ra da + Ru du = 0.
typedef struct djStageLinear {
  djFactor factor;       // of H
  djMatrix Rq;           // r_q + H E, E = exp(-psi) on rotations, identity elsewhere
  djMatrix G, M;         // M: of the trees' pattern; data NULL where there is none
  djBlocks trees;        // M's in a copy
  djEntries Ra, Ru;      // (nv x na), (nv x nu)
  double* psi;           // (nv)
} djStageLinear;

#endif  // DJ_INTEGRATE_METHOD_H_
