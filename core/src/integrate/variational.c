// The variational integrator: discrete momentum is balanced at the middle of three poses.
//
// With the discrete Lagrangian L = sum_b tr((T+ - T) S (T+ - T)^T)/(2 h), S the exact second
// moments, the momenta at both ends of a step are -D1 L(q, q+) and D2 L(q, q+) (Marsden and West,
// Discrete mechanics and variational integrators, 2001, section 1.5). A velocity v stands for the
// momentum M(q) v, so a step solves
//   r(q+) = (-D1 L(q, q+) - M(q) v)/h - f = 0,   then M(q+) v+ = D2 L(q, q+).
// The rotational part of -D1 L is the skew part of T+ S T^T/h. Its projection uses the motion
// subspaces S(q) of the start, where the rigid motions of a free-floating tree are columns: its
// linear and angular momentum are those of M(q) v and are conserved; without forces the map is
// symplectic and its energy error stays O(h^2).
//
// Forces f. Gravity and applied wrenches act at the centre of mass at the start, which makes them
// part of the variational principle. All others are stiff, are taken at q+ and act on the motions
// S(q+), which keeps their derivative symmetric: with rows at S(q) and columns at S(q+) a stiffness
// k would have eigenvalues down to -k (h w)^2/4. For the same reason the balance of a rotation,
// which is in axes of R, is turned to axes of R+. That of a free joint, about the frame's origin p,
// is also moved with the centre of mass c of its body, so that torques about c and about c+ are
// compared, wherever the frame is:
//   r_rot = E^T (y + R^T ((c+ - p+) - (c - p)) x F),   E = R^T R+,
// y and F the balance of the rotation and of the translation.

#include "integrate/variational.h"

#include "base/status.h"
#include "integrate/armature.h"
#include "integrate/tendon_armature.h"
#include "math/so3.h"
#include "model/momentum.h"

#include <math.h>
#include <string.h>

static djStatus begin(djWork* w, const djModel* m) {
  djStatus status = dj_beginStep(w, m, w->h);
  const djKin* kin0 = &w->begin.kin;
  dj_openPlace(&w->begin, m, w->ref);
  dj_bodyMomentum(w->momentum, w->axis_cross, m, kin0, w->ref, w->start.qvel);
  // The last step matters to the start guess alone.
  dj_beginBodyTerms(w->body, m, w->forces.load, kin0, &w->back.kin, w->h);
  return status;
}

// ---- residual ---------------------------------------------------------------------------------

// Adds B at a dof's own rotation.
static void addTo3(djMatrix* A, int dof, djMat3 B) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) *dj_own(A, dof + r, dof + c) += B.m[3 * r + c];
  }
}

// Rows of a derivative of the balance: E^T (rotation + R^T [delta] translation).
static void turnRows(djMatrix* A, const djWork* w, const djTurn* t) {
  int tree = w->trees.block_of[t->dof], first = w->trees.adr[tree], end = w->trees.adr[tree + 1];
  double *x = dj_ownRow(A, t->dof), *y = dj_ownRow(A, t->dof + 1), *z = dj_ownRow(A, t->dof + 2);
  for (int c = first; c < end; c++) {
    djVec3 v = {x[c], y[c], z[c]};
    if (t->free) {
      djVec3 dF = {*dj_own(A, t->dof - 3, c), *dj_own(A, t->dof - 2, c), *dj_own(A, t->dof - 1, c)};
      v = dju_add3(v, dju_mulMtV(t->R, dju_cross3(t->delta, dF)));
    }
    v = dju_mulMtV(t->E, v);
    x[c] = v.x;
    y[c] = v.y;
    z[c] = v.z;
  }
}

// Adds the balance to the residual, and its derivative by q+ to H. By
// R+ -> R+ exp(d): d delta = -R+ [com] d, and E^T -> exp(-d) E^T adds [turned] d. H holds the
// forces' part in exponential coordinates: along axes that turn with R+ theirs, g, adds [g] d/2.
static void addBalance(double* gradient, djWork* w, const djModel* m, const djPlace* at) {
  const djKin *kin = &at->kin, *kin0 = &w->begin.kin;
  djMatrix* A = &w->own;
  dj_clearMatrix(A);
  memset(w->momentum_residual, 0, (size_t)m->nv * sizeof(double));
  memset(w->momentum_change, 0, (size_t)m->nbody * 6 * sizeof(double));
  memset(w->M, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentum(w->momentum_change, w->M, m, w->body, w->momentum, kin, kin0, w->ref, w->h);
  dj_gatherWrench(w->momentum_change, m);
  dj_gatherMatrix(w->M, m);
  dj_projectWrench(w->momentum_residual, m, kin0, w->momentum_change);
  dj_projectMixed(A, m, kin0, kin, w->M);
  memcpy(w->nonpotential, w->momentum_residual, (size_t)m->nv * sizeof(double));
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, at->q, j)) continue;
    djVec3 g = dju_load3(gradient + t.dof);
    dju_store3(w->nonpotential + t.dof, t.turned);
    turnRows(A, w, &t);
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.Rnext), dju_skew(t.com));
      addTo3(A, t.dof, dju_mulMtM(t.Rnext, X));
    }
    addTo3(A, t.dof, dju_skew(dju_madd3(t.turned, 0.5, g)));
  }
  for (int i = 0; i < m->nv; i++) gradient[i] += w->nonpotential[i];
  dj_addDiagonal(&w->H, A);
}

static djStatus evaluate(double* value, double* gradient, djWork* w, const djModel* m,
                         const djPlace* at, bool* majorizer) {
  djStatus status = dj_beginEvaluation(value, gradient, w, m, at, majorizer);
  if (status < 0 || !isfinite(*value)) return status;
  djMotion motion = dj_motionAt(w, m, at);
  djForceSum* sum = &w->sum;
  dj_addArmature(sum, w, &motion);
  if (gradient) {
    memset(w->wrench, 0, (size_t)m->nbody * 6 * sizeof(double));
    memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  } else {
    // What the start guess compares: the energy of an implicit Euler step (position.c).
    *value += dj_bodyTerms(NULL, NULL, m, w->body, &at->kin, &w->begin.kin, w->ref);
  }
  status = dj_evaluateForces(sum, &w->forces, &motion);
  *value += sum->value;
  if (!gradient || status < 0) return status;
  dj_projectForces(w, m, at);
  dj_mirrorMatrix(&w->H);
  addBalance(gradient, w, m, at);
  dj_addNonpotentialForces(gradient, w, m, at);
  return DJ_OK;
}

// ---- derivatives by the start -----------------------------------------------------------------

// The balance by the start: S(q), T and M(q) v. Sets Rq and G, that by v. By R -> R exp(d): d delta
// = R [com] d, R^T u changes by [R^T u] d, and E^T -> E^T exp(d) adds -E^T [moved] d.
static void linearizeBalance(djWork* w, const djModel* m) {
  djMatrix *Rq = &dj_stageOf(w)->linear.Rq, *G = &dj_stageOf(w)->linear.G;
  dj_clearMatrix(Rq);
  dj_projectTurning(Rq, m, &w->begin.kin, w->momentum_change);
  memset(w->N, 0, (size_t)m->nbody * 36 * sizeof(double));
  dj_startMomentumStart(w->N, m, w->body, w->momentum, &w->now.kin, &w->begin.kin, w->ref, w->h);
  dj_gatherMatrix(w->N, m);
  dj_projectMixed(Rq, m, &w->begin.kin, &w->begin.kin, w->N);
  // M(q) v: the bodies' part; that of armature is the joints'
  dj_massMatrix(&w->own, w->M, m, &w->begin.kin, w->ref);
  for (int i = 0; i < m->nv; i++) *dj_own(&w->own, i, i) -= m->jnt_armature[m->dof_jnt[i]];
  dj_projectAxisCross(Rq, -1 / w->h, m, &w->begin.kin, w->M, w->axis_cross);
  dj_mirrorMatrix(&w->own);
  dj_scaleMatrix(&w->own, -1 / w->h);
  dj_setDiagonal(G, &w->own);
  for (int j = 0; j < m->njnt; j++) {
    djTurn t;
    if (!dj_turnOf(&t, w, m, w->now.q, j)) continue;
    turnRows(Rq, w, &t);
    turnRows(G, w, &t);
    djMat3 B = dju_skew(dju_neg3(t.moved));
    if (t.free) {
      djMat3 X = dju_mulMM(dju_mulMM(dju_skew(t.F), t.R), dju_skew(t.com));
      X = dju_mulMtM(t.R, X);
      djMat3 Y = dju_skew(dju_mulMtV(t.R, dju_cross3(t.delta, t.F)));
      for (int k = 0; k < 9; k++) B.m[k] += Y.m[k] - X.m[k];
    }
    addTo3(Rq, t.dof, dju_mulMtM(t.E, B));
  }
}

// After evaluate at `now`.
static djStatus linearize(djWork* w, const djModel* m) {
  djMatrix *Rq = &dj_stageOf(w)->linear.Rq, *G = &dj_stageOf(w)->linear.G;
  djMotion motion = dj_motionAt(w, m, &w->now);
  w->start_sum.R0 = w->start_sum.Rrate = Rq;
  linearizeBalance(w, m);
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
static void coefficients(djCoefficients* c, double h) {
  (void)h;
  c->velocity[0][DJ_SOURCE_VELOCITY] = 1;
}

const djMethod dj_variational = {.name = "variational",
                                 .kind = DJ_LDU,
                                 .nstage = 1,
                                 .coefficients = coefficients,
                                 .begin = begin,
                                 .evaluate = evaluate,
                                 .linearize = linearize,
                                 .params = dj_variationalParams,
                                 .velocity = dj_variationalVelocity,
                                 .linearizeVelocity = dj_linearizeVariationalVelocity,
                                 .velocityParams = dj_variationalVelocityParams};
