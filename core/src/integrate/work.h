// Workspace of one simulation: everything that a step and its derivatives need, allocated once.

#ifndef DJ_INTEGRATE_WORK_H_
#define DJ_INTEGRATE_WORK_H_

#include "contact/contact.h"
#include "math/factor.h"
#include "model/body_term.h"
#include "model/joint_term.h"

// Sizes of a model on which the layout of a djData depends.
typedef struct djSizes {
  int nq, nv, na, nu, nbody, njnt, ngeom, nsite, nmocap;
} djSizes;

struct djWork {
  void* buffer;             // the djData's arrays too
  size_t nbuffer;
  size_t nkeep;             // of them: state, inputs and results
  djError error;
  djContacts* contacts;     // NULL when contact is off
  int maxcontact, maxpair;
  djSizes sizes;            // of the model that it was made for

  // The step: its start, and the present and the trial iterate.
  djData start;             // view of state and inputs at the start of the step
  double h;
  djVec3* ref;              // (nbody) reference points of twists, fixed during a step
  djKin kin0, back;         // at the start, and at q (+) -h v
  djKin now, trial;
  double *q, *qtrial;       // (nq)
  double* qback;            // (nq)
  double* act_next;         // (na)
  djBodyStep* body;         // (nbody)
  djJointTerms joint;
  const struct djIntegratorRow* row;   // that has taken the step
  bool stepped;             // the step's quantities are valid (djd_lastTransition)
  bool linearized;          // so are the Jacobians below
  int polish;               // further full Newton steps

  double* gradient;         // (nv)
  double* step;             // (nv)
  djPattern pattern;        // of H, Rq and Rv, for the contacts of the last evaluation
  double* H;                // (nv x nv) dr/dq+ at the present iterate; symmetric: lower triangle
  djFactor factor;          // of H
  double* scale;            // (nv) what a shift multiplies
  double* shift;            // (nv)
  double* wrench;           // (nbody x 6)
  double* N;                // (nbody x 36)
  double* M;                // (nbody x 36)

  // Of integrators that balance momentum (variational.c).
  double* momentum;         // (nbody x 6) at the start
  double* lead;             // (nv x 6) see dj_bodyMomentum
  double* change;           // (nbody x 6) of momentum, less gravity: gathered wrenches
  double* balance;          // (nv) the same along the dofs at the start
  double* inertial;         // (nv) what it adds to the last residual, and to that of the
  double* pull;             // (nv)   present iterate
  djBodyStep* drag;         // (nbody) drag alone
  bool fluid;               // some body has drag
  djPattern trees;          // of M: trees do not couple
  djFactor mass;            // M(q+)

  // Derivatives (gradient layer): residual by the start's q, v and by inputs. Rq and Rv are packed
  // once the step is linearised.
  double* Rq;               // (nv x nv)
  double* Rv;               // (nv x nv)
  double* Ra;               // (nv x na)
  double* Ru;               // (nv x nu)
  double* X;                // (nv x (2 nv + na + nu)) solutions
  double* vnext;            // (nv) log(q^-1 q+)/h
  double* qvel;             // (nv) velocity at the end of the step
  double* Vplus;            // (nv x nv) derivatives of qvel, packed: see djIntegratorRow
  double* Vstart;           // (nv x nv) packed
  double* act_by_act;       // (na) d act+/d act
  double* act_by_ctrl;      // (nu) d act+/d ctrl
  double* lambda;           // (4 nv + na + nu) scratch of vector products
};
typedef struct djWork djWork;

// Where derivatives by parameters are summed, over the steps of a run.
typedef struct djParamSums {
  double* param;            // (dj_paramGradSize, model/param.h)
  double* tensor;           // (nbody x 6) by inertia tensors, model/body_param.h
  djShapeGrad* shape;       // (ngeom) by contact shapes
  double *x, *W, *C, *C0, *Cback;   // (nbody x 6 each) scratch
} djParamSums;

// Integrator rows: how a residual and its derivatives are built.
typedef struct djIntegratorRow {
  const char* name;
  djFactorKind kind;        // of dr/dq+; DJ_LDL: the residual is the gradient of a merit; DJ_LDU:
                            //   what is left of it without work->inertial
  // Fix the quantities of the step that starts at work->start.
  djStatus (*begin)(djWork* work, const djModel* model);
  // Residual r(q+) as gradient (nv) and dr/dq+ (work->H) at (kin, q), if gradient is not NULL, and
  // the merit. Without a gradient a merit for start guesses; infinite when infeasible. *cautious
  // as in djNewtonProblem.
  djStatus (*evaluate)(double* value, double* gradient, djWork* work, const djModel* model,
                       const djKin* kin, const double* q, bool* cautious);
  // Rq, Rv, Ra, Ru: derivatives of the residual by the start, at (now, q).
  djStatus (*linearize)(djWork* work, const djModel* model);
  // Adds d(z . r)/d parameter, z (nv), at (now, q). NULL: not available.
  djStatus (*params)(djParamSums* sums, djWork* work, const djModel* model, const double* z);
  // Velocity at the end, work->qvel, and its derivatives: dv+ = Vplus (dq+ - E dq) + Vstart dq,
  // E = exp(-h w) on rotations with w of work->vnext; packed by work->trees. NULL: velocity
  // log(q^-1 q+)/h.
  djStatus (*velocity)(djWork* work, const djModel* model);
  djStatus (*linearizeVelocity)(djWork* work, const djModel* model);
  // Adds d(lambda . v+)/d parameter, lambda (nv), at fixed q+ and start. NULL: 0.
  djStatus (*velocityParams)(djParamSums* sums, djWork* work, const djModel* model,
                             const double* lambda);
} djIntegratorRow;

extern const djIntegratorRow dj_positionRow, dj_variationalRow;
const djIntegratorRow* dj_integratorRow(djIntegrator integrator);

// Set work->pattern from the contacts of the last evaluation.
void dj_coupleTrees(djWork* work, const djModel* model);

djSizes dj_sizesOf(const djModel* model);
bool dj_sameSizes(const djSizes* sizes, const djModel* model);

// Whether data can be used with the model: it has the sizes, and contact is on in both or in none.
djStatus dj_checkData(const djModel* model, djData* data);

// All n numbers are finite, else an error that names the first one that is not.
djStatus dj_checkFinite(djError* err, const char* name, const double* v, int n);

// ctrl, applied forces, mocap poses, time and gravity_scale are finite.
djStatus dj_checkInputs(const djModel* model, djData* data);

// The step from data's state and inputs to qpos (nq), known to solve it: leaves what dj_solveStep
// leaves but for the end's velocity, which is row->velocity's.
djStatus dj_replayStep(const djModel* model, djData* data, const djIntegratorRow* row,
                       const double* qpos);

// The part of params that forces at (now, q) have: contact, joints, and energies of bodies (step;
// NULL: none), those of position-level dynamics but for what masses do by themselves. kin0's
// subspaces must be set. Leaves twists along z in sums->x and, in sums->Cback, covectors by the pose
// before the start.
djStatus dj_forceParams(djParamSums* sums, djWork* work, const djModel* model,
                        const djBodyStep* step, const double* z);

// C_b += A_b x_b, or A_b^T x_b, of bodies b that move: C, x (nbody x 6), A (nbody x 36).
void dj_addBodyProducts(double* C, const double* A, const djModel* model, const double* x,
                        bool transpose);

// Position-level dynamics, see position.c.
djStatus dj_positionParams(djParamSums* sums, djWork* work, const djModel* model,
                           const double* z);

// Take the step that starts at data: fills work->now, work->q with the solution. data is not
// changed but for stats of Newton. Used by dj_step and by the gradient layer.
djStatus dj_solveStep(const djModel* model, djData* data);

#endif  // DJ_INTEGRATE_WORK_H_
