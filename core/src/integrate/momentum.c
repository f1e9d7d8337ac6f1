// Position-level dynamics that keep momentum: an energy as in position.c, corrected by what it
// lacks of the balance of discrete momentum (balance.h).
//
// Let Q = q (+) (h v + h^2/2 a) be the prediction, a the acceleration at the start of bodies on
// which no force acts, and b(.) the balance from the start to a place, which vanishes where the
// variational integrator's free motion ends (variational.c). The next configuration minimises
//   sum_b tr((T+ - T(Q)) S (T+ - T(Q))^T)/(2 h^2) + b(Q) . s(Q^-1 q+) + U(q+) + h Phi(q+, q),
// s the displacement, of what turns its sine, so that the energy is bounded below: one Newton step
// from Q with a symmetric matrix stands for the balance, and what depends on q+ is an energy.
// Gravity and applied wrenches are part of b. The residual's part of inertia,
//   i(q+) = D2 L(Q, q+)/h + P b(Q),   P the slope of s,
// is minus the forces f at q+; with these the momentum of the end is that of the balance,
//   M(q+) v+ = D2 L(q, q+) - h (b(q+) + f) = D2 L(q, q+) + D2 L(Q, q+) + h (P b(Q) - b(q+)).
// So linear and angular momentum of free-floating trees change by the impulses of forces alone; in
// free motion the configuration errs at third order in a step, and what energy is lost, at third
// order too, is lost slowly. A step that wins energy, which is no work of forces, is not taken
// (momentum_linear.c): turns of about a radian in a step, and inertia that almost vanishes.
//
// Where inertias of one tree differ by four orders of magnitude and what is light turns fast, b(Q)
// outweighs the light inertia, the energy is not convex about Q, and Newton's method may fail: the
// variational integrator then takes the step.

#include "integrate/momentum.h"

#include "base/status.h"
#include "integrate/balance.h"
#include "integrate/impulse.h"
#include "integrate/mocap.h"

#include <math.h>

// A stage's G is the derivative by v.
static void coefficients(djCoefficients* c, double h) {
  (void)h;
  c->velocity[0][DJ_SOURCE_VELOCITY] = 1;
}

// Inertia with the loads of the balance; alone, about the prediction.
static void beginBodies(djWork* w, const djModel* m) {
  double f = 1 / (w->h * w->h);
  for (int b = 0; b < m->nbody; b++) {
    const double* I = m->body_inertia + 3 * b;
    djBodyStep *s = &w->load[b], *loaded = &w->body[b];
    *s = (djBodyStep){.active = m->body_lastdof[b] >= 0, .mass = f * m->body_mass[b]};
    for (int k = 0; k < 3; k++) s->moment[k] = 0.5 * f * (I[(k + 1) % 3] + I[(k + 2) % 3] - I[k]);
    *loaded = *s;
    loaded->force = w->forces.load[b].force;
    loaded->torque = w->forces.load[b].torque;
  }
}

// Q and momenta at the start.
static djStatus predict(djWork* w, const djModel* m) {
  const djData* d = &w->start;
  double h = w->h, *a = w->A;
  if (!dj_freeAcceleration(a, w->momentum, &w->start_energy, w->articulated, m, &w->begin.kin,
                           w->ref, w->armature, d->qvel)) {
    return dj_fail(&w->error, DJ_INVALID, "inertia is singular at the start of the step");
  }
  for (int i = 0; i < m->nv; i++) w->drift[i] = h * (d->qvel[i] + 0.5 * h * a[i]);
  dj_integratePos(w->ahead.q, m, d->qpos, w->drift, 1);
  dj_setPlaceAt(&w->ahead, w, m, w->stage_part);
  return DJ_OK;
}

static djStatus begin(djWork* w, const djModel* m) {
  djStatus status = dj_beginStep(w, m, w->h);
  if (status < 0) return status;
  dj_openPlace(&w->begin, m, w->ref);
  beginBodies(w, m);
  dj_setEndLoads(w, m);
  status = predict(w, m);
  if (status < 0) return status;
  dj_balance(w->correction, NULL, w, m, &w->ahead);
  return status;
}

// ---- the correction ---------------------------------------------------------------------------

// By R -> R exp(d) the gradient P c changes by (R [c]/2 - c s^T) d, of which H has the symmetric
// part: its lower triangle.
static void addTurn(double* gradient, djMatrix* H, int dof, djMat3 R, djVec3 s, const double* c) {
  djMat3 K = dju_mulMM(R, dju_skew(dju_load3(c)));
  double y[3], g[3];
  dju_store3(y, s);
  dju_store3(g, dj_pushAhead(R, dju_load3(c), false));
  for (int i = 0; i < 3; i++) {
    gradient[dof + i] += g[i];
    for (int k = 0; k <= i; k++) {
      *dj_own(H, dof + i, dof + k) +=
          0.25 * (K.m[3 * i + k] + K.m[3 * k + i]) - 0.5 * (c[i] * y[k] + c[k] * y[i]);
    }
  }
}

// The correction's energy and derivatives.
static void addCorrection(double* value, double* gradient, djWork* w, const djModel* m,
                          const djPlace* at) {
  const double* c = w->correction;
  for (int j = 0; j < m->njnt; j++) {
    int dof = m->jnt_dofadr[j], adr = m->jnt_qposadr[j], rotation = dj_rotationDof(m, j);
    if (rotation < 0) {
      djAhead x = dj_scalarAhead(w, m, at, j);
      *value += c[dof] * x.s;
      if (!gradient) continue;
      gradient[dof] += c[dof] * x.P;
      *dj_own(&w->H, dof, dof) += c[dof] * x.bend;
      continue;
    }
    for (int k = 0; k < rotation - dof; k++) {
      *value += c[dof + k] * (at->q[adr + k] - w->ahead.q[adr + k]);
      if (gradient) gradient[dof + k] += c[dof + k];
    }
    djMat3 R = dj_turnAhead(w, m, at, j);
    djVec3 s = dj_sineAhead(R);
    *value += dju_dot3(dju_load3(c + rotation), s);
    if (gradient) addTurn(gradient, &w->H, rotation, R, s, c + rotation);
  }
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djPlace* at, bool* majorizer) {
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  status = dj_addEnergies(value, gradient, w, m, w->load, &w->ahead.kin, at);
  if (status < 0) return status;
  addCorrection(value, gradient, w, m, at);
  if (gradient) dj_endMinimum(gradient, w, m, at);
  return status;
}

const djMethod dj_momentum = {.name = "momentum",
                              .kind = DJ_LDL,
                              .nstage = 1,
                              .predicts = true,
                              .substitute = &dj_variational,
                              .coefficients = coefficients,
                              .begin = begin,
                              .evaluate = evaluate,
                              .linearize = dj_linearizeMomentum,
                              .params = dj_momentumStepParams,
                              .by_rate = true,
                              .velocity = dj_momentumVelocity,
                              .linearizeVelocity = dj_linearizeMomentumVelocity,
                              .velocityParams = dj_momentumVelocityParams};
