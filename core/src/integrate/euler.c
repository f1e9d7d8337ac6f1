// Semi-implicit Euler as MuJoCo has it, with contact by the end of the step.
//
// Smooth forces tau (gravity, springs, dampers, actuators, drag, applied ones) are those of the
// start, what is one-sided or bounded (contact, limits, friction loss) is of the end:
//   M(q) a + bias(q, v) - tau(q, v, u) + h D a = -dU/dq+,   v+ = v + h a,   q+ = q (+) h v+,
// D the slopes of forces by the velocity, as far as djImplicitTerms says. With
// psi = log(q^-1 q+) = h v+ and K = M + h D of the start, q+ minimises
//   (psi - p)^T K (psi - p)/(2 h^2) + U(q+),   p = h v + h^2 a0,   K a0 = tau - bias:
// p is where the step ends without U. The residual is the gradient, in axes that turn with q+:
//   r = J^-T y + dU/dq+,   y = K (psi - p)/h^2 = R(q, v, a),   J = J_r(psi),
//   R = ID(q, v, a) - tau(q, v, u) + h D a,   a = (psi/h - v)/h.
// Without U it is MuJoCo's step to rounding. Limits and friction loss add to y (euler_row.h); spin
// of free bodies is euler_spin.c's.

#include "integrate/euler.h"

#include "base/status.h"
#include "integrate/impulse.h"
#include "integrate/euler_spin.h"
#include "integrate/mocap.h"

#include <math.h>
#include <string.h>

static void coefficients(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  c->velocity[0][DJ_SOURCE_VELOCITY] = 1;
  c->end[DJ_SOURCE_STAGE] = 1 / h;
}

// With impulses, derivatives are those of two stages: where the step ends without U, as if nothing
// was in its way, and its end, by what the first one meets (impulse_linear.h).
static void impactCoefficients(djCoefficients* c, double h, const djOption* option) {
  (void)option;
  c->velocity[0][DJ_SOURCE_VELOCITY] = c->velocity[1][DJ_SOURCE_VELOCITY] = 1;
  c->end[DJ_SOURCE_STAGE + 1] = 1 / h;
}

// ---- the start --------------------------------------------------------------------------------

// K, from the stage's M; h D.
static djStatus setInertia(djWork* w, const djModel* m) {
  const djMatrix* M = &dj_stageOf(w)->linear.M;
  bool damped = dj_dampsAtEnd(m);
  if (damped) dj_jointDamping(w->damping, NULL, &w->forces, m, w->start.qvel);
  dj_copyMatrix(&w->inertia, M);
  for (int i = 0; i < m->nv; i++) {
    w->damping[i] = damped ? w->h * w->damping[i] : 0;
    *dj_own(&w->inertia, i, i) += w->damping[i];
  }
  if (m->opt.implicit == DJ_TERMS_RATES) dj_addRates(w, m);
  if (dj_factor(&w->mass, &w->inertia, NULL)) return DJ_OK;
  return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
}

static double lagSpins(djWork* w, const djModel* m, const djPlace* at) {
  if (w->spins.n == 0) return 0;
  double* psi = dj_stageOf(w)->linear.psi;
  dj_differentiatePos(psi, m, 1, w->start.qpos, at->q);
  return dj_lagSpins(w, m, psi);
}

// p, by impulses on the way.
static djStatus meet(djWork* w, const djModel* m) {
  djStatus status = dj_findImpulses(w, m);
  if (status < 0 || !dj_impulseCount(w)) return status;
  for (int i = 0; i < m->nv; i++) w->drift[i] += w->h * w->kick[i];
  dj_predictSpins(w, m);
  return DJ_OK;
}

// p, and where it leads.
static djStatus predict(djWork* w, const djModel* m) {
  double h = w->h;
  memset(w->kick, 0, (size_t)m->nv * sizeof(double));
  for (int i = 0; i < m->nv; i++) w->drift[i] = -w->bias[i];
  dj_solve(w->drift, &w->mass);
  for (int i = 0; i < m->nv; i++) w->drift[i] = h * (w->start.qvel[i] + h * w->drift[i]);
  dj_predictSpins(w, m);
  djStatus status = dj_isAhead(w) ? DJ_OK : meet(w, m);
  if (status < 0) return status;
  if (w->lags) lagSpins(w, m, &w->lag);
  dj_integratePos(w->ahead.q, m, w->start.qpos, w->drift, 1);
  dj_setPlaceAt(&w->ahead, w, m, w->stage_part);
  return DJ_OK;
}

// The pattern of smooth forces, before a solution is under way.
static djStatus coupleSmooth(djWork* w, const djModel* m) {
  w->may_grow = true;
  djStatus status = dj_coupleTrees(w, m);
  w->may_grow = false;
  return status;
}

static djStatus begin(djWork* w, const djModel* m) {
  dj_openSmooth(w, m);
  djStatus status = dj_beginStep(w, m, w->h);
  if (status >= 0) status = coupleSmooth(w, m);   // of what is near at the start
  if (status >= 0) status = dj_checkArmature(w, m);
  if (status < 0) return status;
  if (w->bends) dj_beginPathRates(w, m);
  dj_openPlace(&w->begin, m, w->ref);
  memset(w->A, 0, (size_t)m->nv * sizeof(double));
  status = dj_sumSmooth(w->bias, w, m, false);
  if (status >= 0) status = setInertia(w, m);
  w->rows.n = w->rows.ngroup = 0;
  w->rows.mixed = false;
  if (status >= 0 && !dj_isAhead(w)) status = dj_beginRows(w, m);
  if (status < 0) return status;
  dj_closeSmooth(w);
  dj_beginSpins(w, m);
  status = predict(w, m);
  if (status < 0) return status;
  if (!dj_isAhead(w)) dj_setPast(w, m);
  djMotion motion = dj_motionAt(w, m, &w->begin);
  return dj_beginForces(&w->forces, &motion, &w->error);
}

// ---- the residual -----------------------------------------------------------------------------

// psi, and y (nv).
static void setMomentum(double* y, djWork* w, const djModel* m, const djPlace* at) {
  double *psi = dj_stageOf(w)->linear.psi, *x = w->path_scratch, f = 1 / (w->h * w->h);
  dj_differentiatePos(psi, m, 1, w->start.qpos, at->q);
  for (int i = 0; i < m->nv; i++) {
    x[i] = psi[i] - w->drift[i];
    y[i] = 0;
  }
  dj_mulMatrix(y, f, &w->inertia, x);
}

// Lower triangle of H += the symmetric part of W.
static void addSymmetric(djMatrix* H, const djMatrix* W) {
  const djBlocks* trees = W->blocks;
  for (int t = 0; t < trees->nblock; t++) {
    for (int i = trees->adr[t]; i < trees->adr[t + 1]; i++) {
      double* row = dj_ownRow(H, i);
      for (int k = trees->adr[t]; k <= i; k++) {
        row[k] += 0.5 * (*dj_own(W, i, k) + *dj_own(W, k, i));
      }
    }
  }
}

// Of a step without U.
static djStatus evaluateAhead(double* value, double* gradient, djWork* w, const djModel* m,
                              const djPlace* at) {
  djStatus status = coupleSmooth(w, m);
  if (status < 0) return status;
  setMomentum(gradient, w, m, at);
  *value = 0;
  dj_clearMatrix(&w->H);
  dj_inertiaSlope(&w->own, w, m, gradient);
  dj_pullVector(gradient, m, dj_stageOf(w)->linear.psi, true);
  addSymmetric(&w->H, &w->own);
  return DJ_OK;
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djPlace* at, bool* majorizer) {
  if (dj_isAhead(w)) return evaluateAhead(value, gradient, w, m, at);
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  double* y = w->shift;
  setMomentum(y, w, m, at);
  for (int i = 0; i < m->nv; i++) {
    *value += 0.5 * y[i] * (dj_stageOf(w)->linear.psi[i] - w->drift[i]);
  }
  dj_addRows(value, y, w, m);
  djMotion motion = dj_motionAt(w, m, at);
  if (gradient) {
    memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
    dj_inertiaSlope(&w->own, w, m, y);
    dj_pullVector(y, m, dj_stageOf(w)->linear.psi, true);
    for (int i = 0; i < m->nv; i++) gradient[i] += y[i];
    addSymmetric(&w->H, &w->own);
  }
  status = dj_evaluateForces(&w->sum, &w->forces, &motion);
  *value += w->sum.value;
  if (status < 0 || !gradient) return status;
  dj_endMinimum(gradient, w, m, at);
  dj_addRowSlopes(w, m);
  return status;
}

static double relag(djWork* w, const djModel* m) { return lagSpins(w, m, &w->now); }

static void wholeSlope(djWork* w, const djModel* m) {
  double* y = w->shift;
  if (w->spins.n == 0) return;
  setMomentum(y, w, m, &w->now);
  dj_inertiaSlope(&w->own, w, m, y);
  dj_endSpins(w, m, &w->own);
}

// ---- the end ----------------------------------------------------------------------------------

// The step that has been taken has two stages, see impactCoefficients.
static void splitStages(djWork* w, const djModel* m) {
  djStageWork *ahead = &w->at_stage[0], *end = &w->at_stage[1];
  const struct djImpulses* s = w->impulses;
  size_t nv = m->nv, size = sizeof(double);
  memcpy(end->q, w->now.q, (size_t)m->nq * size);
  memcpy(end->linear.psi, ahead->linear.psi, nv * size);
  for (size_t i = 0; i < nv; i++) {
    ahead->linear.psi[i] = w->h * (s->c[i] + 0.5 * w->h * s->a[i]);
  }
  dj_integratePos(ahead->q, m, w->start.qpos, ahead->linear.psi, 1);
  w->method = w->method->impacts;
  w->stage = 1;
  memset(&w->coef, 0, sizeof w->coef);
  w->method->coefficients(&w->coef, w->h, &m->opt);
}

// psi/h but for spins and impulses, by the place of which the step is.
static djStatus velocity(djWork* w, const djModel* m) {
  const double* psi = dj_stageOf(w)->linear.psi;
  dj_sumSources(w->qvel, w->coef.end, w, m, w->method->nstage);
  dj_spinVelocity(w, m, psi);
  if (!dj_impulseCount(w)) return DJ_OK;
  double* S = w->path_scratch;
  memcpy(S, w->impulses->S2, (size_t)m->nv * sizeof(double));
  dj_carryKick(S, w, m, psi);
  for (int i = 0; i < m->nv; i++) w->qvel[i] += S[i];
  if (w->method->impacts) splitStages(w, m);
  return DJ_OK;
}

static djStatus linearizeVelocity(djWork* w, const djModel* m) {
  const double* psi = dj_stageOf(w)->linear.psi;
  w->corrected = w->spins.n > 0;
  if (!w->corrected) return DJ_OK;
  dj_clearMatrix(&w->Vplus);
  dj_clearMatrix(&w->Vstart);
  dj_linearizeSpinVelocity(w, m, psi);
  if (dj_impulseCount(w)) dj_linearizeKick(w, m, psi, w->impulses->S2);
  return DJ_OK;
}

static djStatus velocityParams(djParamSums* s, djWork* w, const djModel* m, const double* lambda) {
  dj_differentiatePos(w->vnext, m, 1, w->start.qpos, w->now.q);
  dj_spinVelocityParams(s, w, m, w->vnext, lambda);
  if (dj_impulseCount(w)) dj_kickParams(s, w, m, w->vnext, w->impulses->S2, lambda);
  return DJ_OK;
}

#define METHOD(stages, sums, first, hit)                                                         \
  {                                                                                           \
    .name = "euler", .kind = DJ_LDL, .nstage = (stages), .ahead = (first), .predicts = true,  \
    .rows = true, .substitute = &dj_position, .impacts = (hit), .coefficients = (sums),       \
    .begin = begin, .evaluate = evaluate,                                                     \
    .relag = relag, .whole = wholeSlope, .linearize = dj_linearizeEuler,                      \
    .inputs = dj_eulerInputs, .params = dj_eulerParams, .velocity = velocity,                 \
    .linearizeVelocity = linearizeVelocity, .velocityParams = velocityParams                  \
  }

static const djMethod taken = METHOD(2, impactCoefficients, true, NULL);   // with impulses
const djMethod dj_euler = METHOD(1, coefficients, false, &taken);
