// The variational integrator: discrete momentum is balanced at the middle of three poses.
//
// With the discrete Lagrangian L = sum_b tr((T+ - T) S (T+ - T)^T)/(2 h), S the exact second
// moments, the momenta at both ends of a step are -D1 L(q, q+) and D2 L(q, q+) (Marsden and West,
// Discrete mechanics and variational integrators, 2001, section 1.5). A velocity v stands for the
// momentum M(q) v, so a step solves
//   r(q+) = (-D1 L(q, q+) - M(q) v)/h - f = 0,   then M(q+) v+ = D2 L(q, q+).
// Rows are along the motion subspaces S(q) of the start (balance.h): linear and angular momentum of
// a free-floating tree are those of M(q) v and are conserved; without forces the map is symplectic
// and its energy error stays O(h^2).
//
// Forces f. Gravity and applied wrenches act at the centre of mass at the start, which makes them
// part of the variational principle. All others are stiff, are taken at q+ and act on the motions
// S(q+), which keeps their derivative symmetric: with rows at S(q) and columns at S(q+) a stiffness
// k would have eigenvalues down to -k (h w)^2/4. For the same reason the balance of a rotation is
// turned to axes of R+.

#include "integrate/variational.h"

#include "integrate/armature.h"
#include "integrate/balance.h"
#include "integrate/tendon_armature.h"
#include "model/momentum.h"

#include <math.h>
#include <string.h>

static djStatus begin(djWork* w, const djModel* m) {
  djStatus status = dj_beginStep(w, m, w->h);
  dj_setBack(w, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_bodyMomentum(w->momentum, NULL, m, &w->begin.kin, w->ref, w->start.qvel);
  // The last step matters to the start guess alone.
  dj_beginBodyTerms(w->body, m, w->forces.load, &w->begin.kin, &w->back.kin, w->h);
  return status;
}

// ---- residual ---------------------------------------------------------------------------------

// Adds the balance to the residual, and its derivative by q+ to H, which holds the forces' part in
// exponential coordinates.
static void addBalance(double* gradient, djWork* w, const djModel* m, const djPlace* at) {
  dj_turnAxes(w, m, gradient);
  dj_balance(w->nonpotential, &w->own, w, m, at);
  for (int i = 0; i < m->nv; i++) gradient[i] += w->nonpotential[i];
  dj_addDiagonal(&w->H, &w->own);
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djPlace* at, bool* majorizer) {
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  // What the start guess compares: the energy of an implicit Euler step (position.c).
  if (!gradient) return dj_addEnergies(value, NULL, w, m, w->body, &w->begin.kin, at);
  djMotion motion = dj_motionAt(w, m, at);
  djForceSum* sum = &w->sum;
  dj_addArmature(sum, w, &motion);
  memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  status = dj_evaluateForces(sum, &w->forces, &motion);
  *value += sum->value;
  if (status < 0) return status;
  dj_projectForces(w, m, at);
  dj_mirrorMatrix(&w->H);
  addBalance(gradient, w, m, at);
  dj_addNonpotentialForces(gradient, w, m, at);
  return DJ_OK;
}

// ---- derivatives by the start -----------------------------------------------------------------

// After evaluate at `now`.
static djStatus linearize(djWork* w, const djModel* m) {
  djMatrix *Rq = &dj_stageOf(w)->linear.Rq, *G = &dj_stageOf(w)->linear.G;
  djMotion motion = dj_motionAt(w, m, &w->now);
  w->start_sum.R0 = w->start_sum.Rrate = Rq;
  dj_startBalance(Rq, G, w, m, &w->now);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_clearStartSum(&w->start_sum, m);
  dj_startArmature(&w->start_sum, G, w, &motion);
  dj_startTendonArmature(&w->start_sum, G, w, &motion);
  djStatus status = dj_startForces(&w->start_sum, &w->sum, &w->forces, &motion);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, &w->now.kin, &w->begin.kin, w->N);
  return status;
}

// A stage's G is the derivative by v.
static void coefficients(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  (void)h;
  c->velocity[0][DJ_SOURCE_VELOCITY] = 1;
}

const djMethod dj_variational = {.name = "variational",
                                 .kind = DJ_LDU,
                                 .nstage = 1,
                                 .substitute = &dj_position,
                                 .coefficients = coefficients,
                                 .begin = begin,
                                 .evaluate = evaluate,
                                 .linearize = linearize,
                                 .params = dj_variationalParams,
                                 .velocity = dj_variationalVelocity,
                                 .linearizeVelocity = dj_linearizeVariationalVelocity,
                                 .velocityParams = dj_variationalVelocityParams};
