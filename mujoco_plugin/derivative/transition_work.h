// Memory of djm_transitionMuJoCoWith, and its parts.

#ifndef DJ_MUJOCO_TRANSITION_WORK_H_
#define DJ_MUJOCO_TRANSITION_WORK_H_

#include "rows.h"

struct djmTransitionWork {
  mjtSize nbuffer;       // of the model that it was made for
  int nv, na, nu, ncol;  // ncol = 2 nv + na + nu: columns of right sides, by q, v, act, ctrl
  mjModel view;          // of the call's model, without plugins
  mjData *d, *e;         // at the state; another, for differences
  djmTransitionInfo info;
  djmMotion motion;
  djmSmoothWork* smooth;
  mjtNum* a;             // (nv) solution
  mjtNum* end;           // (nv) (v+ - v)/h
  mjtNum* H;             // (nv x nv) M + J^T S J, lower half, then its factor
  mjtNum* G;             // (nv x nv) that of the integrator, then its factor
  mjtNum* X;             // (nv x ncol) right sides, then derivatives of a
  mjtNum* Y;             // (nv x ncol) those of the velocity's change
  mjtNum* wrench;        // (nbody x 6)
  mjtNum* memory;        // scratch of rows and of the inertia's slope
  mjtNum* smooth_by;     // (nv x ncol) slopes of smooth forces
  mjtNum* act_by;        // (na x ncol)
  int* dof;              // (nv)
  mjtNum* save;          // (nq + nv + na)
  mjtNum* sensor;        // rows of a sensor, and its scratch
  int nefc;              // room for rows:
  mjtNum *y, *force, *dense;   // (nefc), (nefc), (nefc x nv)
  int* state;            // (nefc)
  bool damped;           // whether G has more than M
  void* back;            // memory of the adjoint, or NULL
  int nsense;            // rows whose forces sensors see, 0 where none does:
  mjtNum *by_force, *rate;     // (nefc x 2 nv) while a is held, (nefc x ncol) altogether
  int drop;              // for tests: what is left out
};

enum {                   // bits of drop
  DJM_DROP_FORCE = 1,      // dJ^T f
  DJM_DROP_IMPEDANCE = 2,  // dD
  DJM_DROP_REFERENCE = 4,  // daref by position
  DJM_DROP_CURVATURE = 8,  // the cone's block
  DJM_DROP_FEATURE = 16    // how contact points and frames move
};

// What the model has that this derivative does not: DJ_UNSUPPORTED, named.
djStatus djm_checkTransition(const mjModel* m, const mjData* d, djError* err);

// Room for n rows in w->y... and w->dense.
djStatus djm_roomForRows(djmTransitionWork* w, int n, djError* err);

// w->a and the rows at the solution from w->d; where the solver left it unsolved, solved further.
djStatus djm_solveRows(djmTransitionWork* w, djError* err);

// Lower half of A (n x n) to factors of A = L^T D L, from the last row; false: not positive.
bool djm_factorLower(mjtNum* A, int n);
// X (n x ncol) = A^-1 X
void djm_solveLower(mjtNum* X, const mjtNum* A, int n, int ncol);

// Rows near a switch, into w->info.
void djm_findKinks(djmTransitionWork* w);

// G (nv x nv) = M - h D; scratch: the same size.
void djm_implicitMatrix(mjtNum* G, djmTransitionWork* w, mjtNum* scratch);
// Y += h dD e
void djm_addDampingSlope(djmTransitionWork* w);

// A body with a free joint alone, and nothing that it carries.
bool djm_isFreeBody(const mjModel* m, int joint);
// Y += dM x of spatial tendons' armature.
djStatus djm_addTendonInertia(djmTransitionWork* w, const mjtNum* x, djError* err);

// H = M + J^T S J of the solution, lower half.
void djm_findHessian(djmTransitionWork* w);
// w->end, and G's factor where the integrator has one; then, from the gradient (nv) by e: mu =
// G^-T end, that by w->a, and what goes by v at once, added.
djStatus djm_endStep(djmTransitionWork* w, djError* err);
void djm_endBackward(mjtNum* mu, mjtNum* a, mjtNum* by_v, djmTransitionWork* w, const mjtNum* end);

// What the step is taken of: m without plugins, sensors and energies.
void djm_setView(djmTransitionWork* w, const mjModel* m);
// The state's view, at which the step is evaluated and solved.
djStatus djm_openTransition(djmTransitionWork* w, const mjModel* m, const mjData* d, djError* err);

// Of integrator discrete: w->G = its metric; then, at the solution, w->H = w->G, w->X = -dr.
djStatus djm_findMetric(djmTransitionWork* w, djError* err);
djStatus djm_discreteSides(djmTransitionWork* w, djError* err);
// Then, where there are rows of constraints: X += dJ^T f, a held, H += J^T S J.
djStatus djm_discreteRows(djmTransitionWork* w, djmRowSum* sum, djError* err);
// w->e = the state of w->d with `applied` (nv) added to qfrc_applied, moved by x along column k.
void djm_moveState(djmTransitionWork* w, int k, mjtNum x, const mjtNum* applied);

// From w->X, derivatives of a, to w->Y, those of (v+ - v)/h.
djStatus djm_endSlopes(djmTransitionWork* w, djError* err);

// Whether sensors see forces of rows; then w->by_force has room for those of w->d, and is zero.
djStatus djm_roomForForces(bool* wanted, djmTransitionWork* w, const mjModel* m, djError* err);

// C and D from w->X, derivatives of a, after djm_endSlopes; m: with its sensors.
djStatus djm_sensorSlopes(mjtNum* C, mjtNum* D, djmTransitionWork* w, const mjModel* m,
                          djError* err);

#endif  // DJ_MUJOCO_TRANSITION_WORK_H_
