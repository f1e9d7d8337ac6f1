// Position-level dynamics (SDRS eq. 2-5, 14), an implicit Euler method: the next configuration
// minimises
//   sum_b 1/(2 h^2) tr(D S D^T) + U(q+) + h Phi(q+, q),   D = T+ - 2 T + T-,
// T- = T(q (+) -h v), with S the exact second moments, U potentials (gravity, springs, limits,
// contact) and Phi lagged dissipation (damping, friction). The residual is the gradient.

#include "integrate/armature.h"
#include "integrate/tendon_armature.h"

#include <math.h>

// A stage's G is the derivative by v.
static void coefficients(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  c->velocity[0][DJ_SOURCE_VELOCITY] = 1;
  c->end[DJ_SOURCE_STAGE] = 1 / h;
}

static djStatus begin(djWork* w, const djModel* m) {
  if (!w->carries) dj_setPast(w, m, NULL);
  djStatus status = dj_beginStep(w, m, w->h);
  if (!w->has_past) dj_setBack(w, m);   // else it is there already
  dj_setBackRates(w, m);
  dj_beginBodyTerms(w->body, m, w->forces.load, &w->begin.kin, &w->back.kin, w->h);
  return status;
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djPlace* at, bool* majorizer) {
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  status = dj_addEnergies(value, gradient, w, m, w->body, &w->begin.kin, at);
  if (gradient && status >= 0) dj_endMinimum(gradient, w, m, at);
  return status;
}

// ---- derivatives by the start -----------------------------------------------------------------

// The residual depends on the start through T (inertia, drag, lagged contact) and through T- =
// T(q (+) -h v), whose tangent is E dq - h J dv with E = exp(h w) and J = J_r(-h w) = E J_r(h w) on
// rotations.
static djStatus linearize(djWork* w, const djModel* m) {
  double h = w->h;
  djMotion motion = dj_motionAt(w, m, &w->now);
  djStartSum* start = &w->start_sum;
  djMatrix *Rq = &dj_stageOf(w)->linear.Rq, *G = &dj_stageOf(w)->linear.G;
  start->R0 = start->Rrate = Rq;
  dj_clearMatrix(Rq);
  dj_clearMatrix(G);
  dj_clearStartSum(start, m);
  dj_openPlace(&w->begin, m, w->ref);
  dj_openPlace(&w->back, m, w->ref);
  dj_bodyTermsStart(w->N, w->M, m, w->body, &w->now.kin, &w->begin.kin, &w->back.kin, w->ref);
  dj_gatherMatrix(w->M, m);
  dj_projectMixed(G, m, &w->now.kin, &w->back.kin, w->M);
  dj_startBackRates(start, G, w, &motion);
  djStatus status = dj_pastForces(G, w, m, &w->now);
  if (status < 0) return status;
  dj_applyE(G, m, w->start.qvel, h);
  dj_addMatrix(Rq, G);
  dj_applyJr(G, m, w->start.qvel, h);
  dj_scaleMatrix(G, -h);
  dj_startArmature(start, G, w, &motion);
  status = dj_startForces(start, &w->sum, &w->forces, &motion);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, &w->now.kin, &w->begin.kin, w->N);
  return status;
}

const djMethod dj_position = {.name = "position",
                              .kind = DJ_LDL,
                              .nstage = 1,
                              .coefficients = coefficients,
                              .begin = begin,
                              .evaluate = evaluate,
                              .linearize = linearize,
                              .params = dj_positionParams};
