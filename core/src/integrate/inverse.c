// Stages that balance forces at a configuration Q:
//   r(Q) = ID(Q, V, A) - forces(Q, V),  V = sum a_k src_k,  A = sum b_k src_k
// over sources (method.h), psi = log(q^-1 Q) the stage's own. Forces see displacements from
// q (+) d, d = -t sum a_k src_k over the other sources, in the time t = 1/a_psi: to V they are
// what rates are. Of rotations log(exp(-d) exp(psi)) differs from psi - d = t V where turns do not
// commute, at second order in h: prompt methods (force/motion.h) have that, and torques y along it;
// of others torques along a displacement phi are J_r^-T y. Along coordinates that bend rates may be V
// itself (path_rate.h).
//
// With dpsi = J_r^-1 (dQ - E dq), E = exp(-psi) on rotations, and W = (a_psi ID_v + b_psi M)
// J_r^-1,
//   H = ID_q + W + forces,   r_q = -W E + forces.
// Gradients of forces are in axes that turn with Q, of which their exponential coordinates lack
// [g]/2 (variational.c).

#include "integrate/inverse.h"

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/path_rate.h"
#include "integrate/spin.h"
#include "integrate/tendon_armature.h"
#include "math/block6.h"
#include "model/body_param.h"
#include "model/check.h"

#include <math.h>
#include <string.h>

static int ownSource(const djWork* w) { return DJ_SOURCE_STAGE + w->stage; }

djStatus dj_checkArmature(djWork* w, const djModel* m) {
  int bent = dj_bentArmature(w, m);
  if (bent < 0) return DJ_OK;
  const char* name = dj_id2name(m, DJ_OBJ_TENDON, bent);
  return dj_fail(&w->error, DJ_UNSUPPORTED,
                 "%s: armature along a path: use integrator position or variational",
                 dj_elementText("tendon", name, bent).text);
}

djStatus dj_beginInverse(djWork* w, const djModel* m) {
  const double* a = w->coef.velocity[w->stage];
  double others[DJ_NSOURCE], time = 1 / a[ownSource(w)];
  w->drifts = w->bends = w->sum.path.acts = w->method->path_rates && dj_anyBends(m);
  for (int k = 0; k < DJ_NSOURCE; k++) {
    others[k] = k == ownSource(w) ? 0 : -time * a[k];
    w->drifts |= others[k] != 0;
  }
  dj_sumSources(w->drift, others, w, m, w->stage);
  djStatus status = dj_beginStep(w, m, time);
  if (w->bends) dj_beginPathRates(w, m);
  if (status >= 0) status = dj_checkArmature(w, m);
  w->guesses = false;
  return status;
}

// What the start guess compares: the energy of an implicit Euler step (position.c).
static djStatus guessEnergy(double* value, djWork* w, const djModel* m, const djPlace* at) {
  if (!w->guesses) {
    dj_setBack(w, m);
    dj_beginBodyTerms(w->body, m, w->forces.load, &w->begin.kin, &w->back.kin, w->stage_h);
    w->guesses = true;
  }
  return dj_addEnergies(value, NULL, w, m, w->body, &w->begin.kin, at);
}

// V and A at a place.
static void setRates(djWork* w, const djModel* m, const djPlace* at) {
  dj_differentiatePos(dj_stageOf(w)->linear.psi, m, 1, w->start.qpos, at->q);
  dj_sumSources(w->V, w->coef.velocity[w->stage], w, m, w->stage + 1);
  dj_sumSources(w->A, w->coef.accel[w->stage], w, m, w->stage + 1);
}

// Scratch W of the trees' pattern, from Dv and M.
static void setInertia(djMatrix* W, djWork* w, const djModel* m) {
  int own = ownSource(w);
  const djMatrix* M = &dj_stageOf(w)->linear.M;
  size_t n = dj_packedSize(W->blocks);
  double a = w->coef.velocity[w->stage][own], b = w->coef.accel[w->stage][own];
  for (size_t k = 0; k < n; k++) W->data[k] = a * w->Dv.data[k] + b * M->data[k];
  dj_applyJrInverse(W, m, dj_stageOf(w)->linear.psi, 1);
}

// ID and its derivatives, as far as they are wanted; M, unless it is known from where the step has
// begun.
static void addInverse(djWork* w, const djModel* m, const djPlace* at, djBalance what) {
  const bool slopes = what != DJ_BALANCE_VALUES;
  djMatrix* M = what == DJ_BALANCE_HELD ? NULL : &dj_stageOf(w)->linear.M;
  if (slopes) {
    dj_inverseDynamics(w->nonpotential, &w->inverse, m, &at->kin, w->ref, w->armature, w->V, w->A);
    dj_clearMatrix(&w->Dq);
    dj_clearMatrix(&w->Dv);
  } else {
    dj_inverseForces(w->nonpotential, &w->inverse, m, &at->kin, w->ref, w->armature, w->V, w->A);
  }
  dj_addTendonForce(w->nonpotential, w, m, at, w->A);
  if (M) dj_clearMatrix(M);
  dj_inverseDerivatives(slopes ? &w->Dq : NULL, &w->Dv, M, w->N, w->M, &w->inverse, m, &at->kin,
                        w->armature);
  if (M) dj_addTendonInertia(M, w, m, at);
}

static void addBalance(double* gradient, djWork* w, const djModel* m, const djPlace* at,
                       djBalance what) {
  if (what != DJ_BALANCE_VALUES) dj_turnAxes(w, m, gradient);
  addInverse(w, m, at, what);
  if (w->method->spins) dj_addSpin(w->nonpotential, &w->Dv, &dj_stageOf(w)->linear.M, w, m);
  if (what != DJ_BALANCE_VALUES) dj_addDiagonal(&w->H, &w->Dq);
  if (what == DJ_BALANCE_WHOLE) {
    setInertia(&w->own, w, m);
    dj_addDiagonal(&w->H, &w->own);
  }
  for (int i = 0; i < m->nv; i++) gradient[i] += w->nonpotential[i];
}

djStatus dj_sumBalance(double* value, double* gradient, djWork* w, const djModel* m,
                       const djPlace* at, djBalance what) {
  djForceSum* sum = &w->sum;
  djStatus status = DJ_OK;
  djMotion motion = dj_motionAt(w, m, at);
  if (w->bends) status = dj_findPathSlopes(w, m, at);
  if (status < 0) return status;
  *value += dj_loadTerms(w->wrench, what == DJ_BALANCE_VALUES ? NULL : w->N, m, w->forces.load,
                         &at->kin, &w->begin.kin, w->ref);
  status = dj_evaluateForces(sum, &w->forces, &motion);
  if (status < 0) return status;
  *value += sum->value;
  if (what == DJ_BALANCE_VALUES) {
    dj_gatherWrench(w->wrench, m);
    dj_projectWrench(gradient, m, &at->kin, w->wrench);
  } else {
    dj_projectForces(w, m, at);
    dj_mirrorMatrix(&w->H);
  }
  addBalance(gradient, w, m, at, what);
  if (motion.prompt) dj_addFlatRotations(sum, w->nonpotential, &motion);
  dj_addExtra(w->nonpotential, sum, &motion);
  if (w->bends) dj_addPathRates(w, m, at);
  dj_addNonpotentialForces(gradient, w, m, at);
  return DJ_OK;
}

djStatus dj_evaluateInverse(double* value, double* gradient, djWork* w, const djModel* m,
                            const djPlace* at, bool* majorizer) {
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  if (!gradient) return guessEnergy(value, w, m, at);
  setRates(w, m, at);
  return dj_sumBalance(value, gradient, w, m, at, DJ_BALANCE_WHOLE);
}

// Adds what blocks N (nbody x 36) of bodies are between dofs: mostly nothing.
static void project(djMatrix* A, const djModel* m, const djKin* now, const djKin* from, double* N) {
  if (dju_isZero(N, 36 * (size_t)m->nbody)) return;
  dj_gatherMatrix(N, m);
  dj_projectMixed(A, m, now, from, N);
}

djStatus dj_startBalanced(djMatrix* Rq, djMatrix* G, djWork* w, const djModel* m,
                          const djPlace* at) {
  djStartSum* start = &w->start_sum;
  djMotion motion = dj_motionAt(w, m, at);
  dj_clearStartSum(start, m);
  dj_openPlace(&w->begin, m, w->ref);
  if (w->drifts) dj_openPlace(&w->rate, m, w->ref);
  start->R0 = Rq;
  start->Rrate = w->drifts ? G : Rq;
  start->Nrate = w->drifts ? w->M : w->N;
  dj_loadTermsStart(w->N, m, w->forces.load, &at->kin, &w->begin.kin);
  if (w->drifts) memset(w->M, 0, (size_t)m->nbody * 36 * sizeof(double));
  djStatus status = dj_startForces(start, &w->sum, &w->forces, &motion);
  project(Rq, m, &at->kin, &w->begin.kin, w->N);
  if (w->drifts) {
    project(G, m, &at->kin, &w->rate.kin, w->M);
    dj_applyE(G, m, w->drift, -1);
    dj_addMatrix(Rq, G);
    dj_applyE(G, m, w->drift, 1);
    dj_applyJr(G, m, w->drift, 1);
    dj_scaleMatrix(G, -w->stage_h);
  }
  if (w->bends) dj_startPathRates(Rq, G, w, m, at);
  dj_addDiagonal(G, &w->Dv);
  start->Nrate = w->N;
  return status;
}

// After evaluate at `now`.
djStatus dj_linearizeInverse(djWork* w, const djModel* m) {
  djStageLinear* linear = &dj_stageOf(w)->linear;
  dj_clearMatrix(&linear->Rq);
  dj_clearMatrix(&linear->G);
  djStatus status = dj_startBalanced(&linear->Rq, &linear->G, w, m, &w->now);
  setInertia(&w->own, w, m);
  dj_applyE(&w->own, m, linear->psi, -1);
  dj_scaleMatrix(&w->own, -1);
  dj_addDiagonal(&linear->Rq, &w->own);
  return status;
}

// ---- parameters -------------------------------------------------------------------------------

// Of all that moves: loads and inertia.
static void bodyParams(djParamSums* s, djWork* w, const djModel* m, const djMotion* motion,
                       const double* z) {
  const djKin* kin = motion->at.kin;
  const djConfig now = dj_wantedConfig(s, kin, motion->at.q, w->ref);
  dj_addLoadProducts(s->W, s->C, s->C0, m, w->forces.load, kin, &w->begin.kin, w->ref, s->x);
  dj_inverseDynamics(NULL, &w->inverse, m, kin, w->ref, w->armature, w->V, w->A);
  s->field[s->nfield++] =
      dj_inverseField(s->param, s->tensor, s->x, s->Cback, w->momentum_change, &w->inverse, m, &now,
                      z, w->V, w->A);
  dj_frameForces(s, motion, z);
  if (!(s->wants & DJ_BY_INERTIA)) return;
  dj_loadParams(s->param, &w->forces, motion, &motion->at, s->x);
  dj_loadPlaceParams(s->param, m, w->forces.load, kin, s->x);
  if (w->method->spins) dj_spinParams(s->tensor, w, m, z);
}

djStatus dj_balancedParams(djParamSums* s, djWork* w, const djModel* m, djPlace* at,
                           const double* z) {
  dj_openPlace(&w->begin, m, w->ref);
  if (at != &w->begin) dj_openPlace(at, m, w->ref);
  if (w->drifts) dj_openPlace(&w->rate, m, w->ref);
  if (w->bends) dj_setPathRates(w, m, at);
  djMotion motion = dj_motionAt(w, m, at);
  djStatus status = dj_forceParams(s, &w->forces, &motion, z);
  if (status >= 0) status = dj_alongParams(s, w, &motion, z, 0);
  if (status < 0) return status;
  if (w->bends) dj_pathRateParams(s, w, m, at, z);
  if (s->wants & (DJ_BY_FRAME | DJ_BY_INERTIA)) bodyParams(s, w, m, &motion, z);
  if (!(s->wants & DJ_BY_LAW)) return DJ_OK;
  dj_inertiaAlongParams(s->param, m, z, w->A);
  dj_tendonInertiaParams(s->param, m, at, z, w->A);
  return DJ_OK;
}

djStatus dj_inverseStageParams(djParamSums* s, djWork* w, const djModel* m, const double* z) {
  setRates(w, m, &w->now);
  return dj_balancedParams(s, w, m, &w->now, z);
}
