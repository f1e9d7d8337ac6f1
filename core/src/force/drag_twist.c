// Drag in prompt motions (motion.h), by the velocities of bodies at the point. With A the axes of
// a body's inertia, rho = c - ref and u = v + w x rho - wind of its twist (w, v), minus the wrench
// is
//   F = A p'(A^T u) at c,  torque A p'(A^T w),
// with p of each component. With D = A diag(p'') A^T a twist (W, V) of the pose changes, velocities
// held,
//   dF = W x F + D (du - W x u),  du = w x drho,  drho = V + W x rho,
//   dtorque = W x torque - D (W x w).

#include "force/drag.h"

#include "math/block6.h"
#include "math/spatial.h"
#include "model/param.h"

// One body's: rates in its axes, minus the wrench at c in the world's, D of both.
typedef struct Stream {
  djVec3 rho, w, u;
  double rate[6], slope[6], bend[6];
  djVec3 F, torque;
  djMat3 DF, Dtorque;
} Stream;

static djMat3 scaledAxes(const djMat3* A, const double bend[3]) {
  djMat3 D = {{0}};
  for (int k = 0; k < 3; k++) {
    dju_addOuter3(&D, bend[k], dju_column(A, k), dju_column(A, k));
  }
  return D;
}

static Stream streamOf(const djDrag* drag, const djTwistForces* t, const djMotion* at, int b) {
  const djKin* kin = at->at.kin;
  const djMat3* A = &kin->principal[b];
  djSix V = dju_load6(t->V + 6 * b);
  Stream s;
  s.rho = dju_sub3(kin->com[b], at->ref[b]);
  s.w = V.w;
  s.u = dju_sub3(dju_add3(V.v, dju_cross3(V.w, s.rho)), dju_load3(at->model->opt.wind));
  dju_store3(s.rate, dju_mulMtV(*A, s.w));
  dju_store3(s.rate + 3, dju_mulMtV(*A, s.u));
  for (int k = 0; k < 6; k++) {
    double p[3];
    dj_dragAt(p, drag, k, s.rate[k]);
    s.slope[k] = p[1];
    s.bend[k] = p[2];
  }
  s.torque = dju_mulMV(*A, dju_load3(s.slope));
  s.F = dju_mulMV(*A, dju_load3(s.slope + 3));
  s.Dtorque = scaledAxes(A, s.bend);
  s.DF = scaledAxes(A, s.bend + 3);
  return s;
}

static djSix wrenchOf(const Stream* s) {
  return (djSix){dju_add3(s->torque, dju_cross3(s->rho, s->F)), s->F};
}

// Of the wrench about ref, by a twist e of the pose or by one of the velocity.
static djSix byPose(const Stream* s, djSix e) {
  djVec3 drho = dju_add3(e.v, dju_cross3(e.w, s->rho)), du = dju_cross3(s->w, drho);
  du = dju_sub3(du, dju_cross3(e.w, s->u));
  djVec3 dF = dju_add3(dju_cross3(e.w, s->F), dju_mulMV(s->DF, du));
  djVec3 torque =
      dju_sub3(dju_cross3(e.w, s->torque), dju_mulMV(s->Dtorque, dju_cross3(e.w, s->w)));
  torque = dju_add3(torque, dju_cross3(drho, s->F));
  return (djSix){dju_add3(torque, dju_cross3(s->rho, dF)), dF};
}

static djSix byTwist(const Stream* s, djSix e) {
  djVec3 dF = dju_mulMV(s->DF, dju_add3(e.v, dju_cross3(e.w, s->rho)));
  djVec3 torque = dju_mulMV(s->Dtorque, e.w);
  return (djSix){dju_add3(torque, dju_cross3(s->rho, dF)), dF};
}

static void fill(double K[36], const Stream* s, djSix (*by)(const Stream* s, djSix e)) {
  for (int c = 0; c < 6; c++) {
    double e[6] = {0}, y[6];
    e[c] = 1;
    dju_store6(y, by(s, dju_load6(e)));
    for (int r = 0; r < 6; r++) K[6 * r + c] = y[r];
  }
}

void dj_addDragTwists(djForceSum* sum, const djDrag* drag, const djMotion* at) {
  djTwistForces* t = sum->twist;
  for (int b = 1; b < at->model->nbody && drag[0].acts; b++) {
    if (!drag[b].acts) continue;
    dj_openTwistForces(t, at);
    Stream s = streamOf(&drag[b], t, at, b);
    double K[36], T[36], g[6];
    dju_store6(g, wrenchOf(&s));
    fill(K, &s, byPose);
    fill(T, &s, byTwist);
    for (int k = 0; k < 6; k++) t->W[6 * b + k] += g[k];
    dj_addWrenchBy(t, sum->H, at, b, b, K, T);
  }
}

void dj_startDragTwists(djStartSum* sum, const djDrag* drag, const djMotion* at) {
  for (int b = 1; b < at->model->nbody && drag[0].acts; b++) {
    if (!drag[b].acts) continue;
    dj_openTwistForces(sum->twist, at);
    Stream s = streamOf(&drag[b], sum->twist, at, b);
    double T[36];
    fill(T, &s, byTwist);
    dj_addWrenchByRate(sum->twist, sum, at, b, b, T);
  }
}

// ---- parameters -------------------------------------------------------------------------------

// z . gradient is sum_k y_k p'_k(rate_k), y the components of (w, u), that twists along z give, in
// the axes A. Where these turn by d in themselves rates and y change by rate x d and y x d. The
// centre moves by R e in twists that stay: u changes by w x R e, along z as at the point.
static void bodyParams(djParamSums* sums, const Stream* s, const djMotion* at, int b) {
  const djModel* m = at->model;
  const djMat3* A = &at->at.kin->principal[b];
  djSix x = dju_load6(sums->x + 6 * b);
  double y[6], bend[6], linear[6], square[6];
  dju_store3(y, dju_mulMtV(*A, x.w));
  dju_store3(y + 3, dju_mulMtV(*A, dju_add3(x.v, dju_cross3(x.w, s->rho))));
  for (int k = 0; k < 6; k++) {
    bend[k] = s->bend[k] * y[k];
    linear[k] = y[k] * s->rate[k];
    square[k] = linear[k] * fabs(s->rate[k]);
  }
  double* mass = dj_paramBlock(sums->param, m, DJ_FIELD_BODY_MASS);
  double* inertia = dj_paramBlock(sums->param, m, DJ_FIELD_BODY_INERTIA);
  double* iquat = dj_paramBlock(sums->param, m, DJ_FIELD_BODY_IQUAT);
  double* ipos = dj_paramBlock(sums->param, m, DJ_FIELD_BODY_IPOS);
  dj_dragCoefficientParams(mass + b, inertia + 3 * b, m, b, linear, square);
  for (int k = 0; k < 6; k += 3) {
    dju_addTo3(iquat + 3 * b, 1, dju_cross3(dju_load3(bend + k), dju_load3(s->rate + k)));
    dju_addTo3(iquat + 3 * b, 1, dju_cross3(dju_load3(s->slope + k), dju_load3(y + k)));
  }
  djVec3 Du = dju_mulMV(*A, dju_load3(bend + 3));
  djVec3 by_com = dju_add3(dju_cross3(s->F, x.w), dju_cross3(Du, s->w));
  dju_addTo3(ipos + 3 * b, 1, dju_mulMtV(at->at.kin->body[b].R, by_com));
}

void dj_dragTwistParams(djParamSums* sums, const djDrag* drag, const djMotion* at) {
  djTwistForces* t = sums->twist;
  for (int b = 1; b < at->model->nbody && drag[0].acts; b++) {
    if (!drag[b].acts) continue;
    dj_openTwistForces(t, at);
    Stream s = streamOf(&drag[b], t, at, b);
    double K[36], T[36], g[6], by_pose[6] = {0}, by_twist[6] = {0};
    dju_store6(g, wrenchOf(&s));
    fill(K, &s, byPose);
    fill(T, &s, byTwist);
    dju_mulAdd6(by_pose, K, 6, sums->x + 6 * b, true);
    dju_mulAdd6(by_twist, T, 6, sums->x + 6 * b, true);
    for (int k = 0; k < 6; k++) sums->W[6 * b + k] += g[k];
    dj_addTwistCotangent(t, sums, b, by_pose, by_twist, g);
    bodyParams(sums, &s, at, b);
  }
}
