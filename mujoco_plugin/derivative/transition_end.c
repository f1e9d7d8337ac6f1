// How a step ends: the velocity's change by the acceleration.
//
// Euler without damping: v+ = v + h a. Otherwise G e = M a, v+ = v + h e, with G = M + h D of
// joints' damping (Euler), or G = M - h (d(forces)/dv) (implicit, implicitfast):
//
//   G de = M da + dM (a - e) - h dD e

#include "transition_work.h"

#include "slope_error.h"
#include "smooth_work.h"
#include "spatial.h"

#include <math.h>

// ---- damping of joints --------------------------------------------------------------------------

// Force of joints' damping -(b0 v + b1 v|v| + b2 v^3), with that of actuators on the joint.
static void dampingOf(mjtNum b[3], const mjModel* m, int dof) {
  int joint = m->dof_jntid[dof];
  b[0] = m->dof_damping[dof];
  b[1] = m->dof_dampingpoly[mjNPOLY * dof];
  b[2] = m->dof_dampingpoly[mjNPOLY * dof + 1];
  if (m->jnt_actuatorid[joint] == -1) return;
  for (int i = 0; i < (int)m->nactuator; i++) {
    int type = m->actuator_trntype[i];
    if (m->actuator_trnid[2 * i] != joint) continue;
    if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT) continue;
    mjtNum gear = m->actuator_gear[6 * m->actuator_outadr[i]];
    b[0] += gear * gear * m->actuator_damping[i];
    b[1] += gear * gear * m->actuator_dampingpoly[mjNPOLY * i];
    b[2] += gear * gear * m->actuator_dampingpoly[mjNPOLY * i + 1];
  }
}

// slope[i] = dD_i/dv_i; G += h D. False: nothing is damped.
static bool addDamping(mjtNum* G, mjtNum* slope, const mjModel* m, const mjData* d) {
  int off = m->opt.disableflags & (mjDSBL_EULERDAMP | mjDSBL_DAMPER), nv = (int)m->nv;
  bool any = false;
  for (int i = 0; i < nv && !off; i++) {
    mjtNum b[3], v = d->qvel[i];
    dampingOf(b, m, i);
    G[(size_t)i * (nv + 1)] += m->opt.timestep * (b[0] + fabs(v) * (2 * b[1] + 3 * b[2] * fabs(v)));
    slope[i] = (v < 0 ? -2 : v > 0 ? 2 : 0) * b[1] + 6 * b[2] * v;
    if (b[0] != 0 || b[1] != 0 || b[2] != 0) any = true;
  }
  return any;
}

// ---- products -----------------------------------------------------------------------------------

// Y = M X (nv x ncol)
static void mulMass(djmTransitionWork* w) {
  const mjModel* m = &w->view;
  int ncol = w->ncol;
  mju_zero(w->Y, w->nv * ncol);
  for (int i = 0; i < w->nv; i++) {
    int adr = m->M_rowadr[i];
    for (int k = adr; k < adr + m->M_rownnz[i]; k++) {
      int j = m->M_colind[k];
      mjtNum s = w->d->M[k];
      djm_addScaled(w->Y + (size_t)i * ncol, w->X + (size_t)j * ncol, s, ncol);
      if (j != i) djm_addScaled(w->Y + (size_t)j * ncol, w->X + (size_t)i * ncol, s, ncol);
    }
  }
}

// Y += dM x, x fixed. Armature of fixed tendons is a constant part of M, that of spatial ones has
// what is proportional to the acceleration in armature_slope.c.
static djStatus addInertiaSlope(djmTransitionWork* w, const mjtNum* x, djError* err) {
  const mjModel* m = &w->view;
  djm_massSlope(w->Y, w->ncol, m, w->d, x, w->memory);
  return djm_addTendonInertia(w, x, err);
}

djStatus djm_addTendonInertia(djmTransitionWork* w, const mjtNum* x, djError* err) {
  const mjModel* m = &w->view;
  int nv = w->nv;
  bool any = false;
  for (int t = 0; t < (int)m->ntendon; t++) {
    any = any || (m->tendon_type[t] != 0 &&
                  m->tendon_armature[t] + djm_actuatorArmature(m, true, t) != 0);
  }
  if (!any) return DJ_OK;
  mjtNum *slope = w->smooth_by, *none = w->memory;
  mju_zero(none, nv);
  for (int side = 1; side >= -1; side -= 2) {
    mju_zero(slope, nv * nv);
    djStatus status = djm_armatureSlope(slope, NULL, m, w->d, side > 0 ? x : none, w->smooth, err);
    if (status < 0) return status;
    for (int i = 0; i < nv; i++) {
      mju_addToScl(w->Y + (size_t)i * w->ncol, slope + (size_t)i * nv, side, nv);
    }
  }
  return DJ_OK;
}

// ---- integrators --------------------------------------------------------------------------------

static void copyEnd(djmTransitionWork* w) {
  mju_copy(w->end, w->a, w->nv);
  mju_copy(w->Y, w->X, w->nv * w->ncol);
}

static djStatus endEuler(djmTransitionWork* w, djError* err) {
  const mjModel* m = &w->view;
  int nv = w->nv;
  mjtNum* slope = w->memory;
  mj_fullM(m, w->d, w->G);
  if (!addDamping(w->G, slope, m, w->d)) {
    copyEnd(w);
    return DJ_OK;
  }
  if (!djm_factorLower(w->G, nv)) return djm_slopeError(err, DJ_INVALID, "inertia is not positive");
  mj_mulM(m, w->d, w->end, w->a);
  djm_solveLower(w->end, w->G, nv, 1);
  mulMass(w);
  for (int i = 0; i < nv; i++) {
    w->Y[(size_t)i * w->ncol + nv + i] -= m->opt.timestep * slope[i] * w->end[i];
  }
  mju_sub(w->motion.drag, w->a, w->end, nv);
  djStatus status = addInertiaSlope(w, w->motion.drag, err);
  if (status < 0) return status;
  djm_solveLower(w->Y, w->G, nv, w->ncol);
  return DJ_OK;
}

// The factor of an unsymmetric matrix, with the order of rows; false: singular.
static bool factorRows(mjtNum* A, int* order, int n) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++) {
      if (fabs(A[(size_t)i * n + k]) > fabs(A[(size_t)best * n + k])) best = i;
    }
    for (int j = 0; j < n && best != k; j++) {
      mjtNum x = A[(size_t)k * n + j];
      A[(size_t)k * n + j] = A[(size_t)best * n + j];
      A[(size_t)best * n + j] = x;
    }
    int row = order[k];
    order[k] = order[best];
    order[best] = row;
    if (A[(size_t)k * n + k] == 0) return false;
    for (int i = k + 1; i < n; i++) {
      mjtNum s = A[(size_t)i * n + k] /= A[(size_t)k * n + k];
      if (s == 0) continue;
      djm_addScaled(A + (size_t)i * n + k + 1, A + (size_t)k * n + k + 1, -s, n - k - 1);
    }
  }
  return true;
}

// to (n x ncol) = A^-1 from
static void solveRowsOf(mjtNum* to, const mjtNum* from, const mjtNum* A, const int* order, int n,
                        int ncol) {
  for (int i = 0; i < n; i++) {
    mju_copy(to + (size_t)i * ncol, from + (size_t)order[i] * ncol, ncol);
    for (int k = 0; k < i; k++) {
      mjtNum s = A[(size_t)i * n + k];
      if (s != 0) djm_addScaled(to + (size_t)i * ncol, to + (size_t)k * ncol, -s, ncol);
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) {
      mjtNum s = A[(size_t)i * n + k];
      if (s != 0) djm_addScaled(to + (size_t)i * ncol, to + (size_t)k * ncol, -s, ncol);
    }
    mju_scl(to + (size_t)i * ncol, to + (size_t)i * ncol, 1 / A[(size_t)i * (n + 1)], ncol);
  }
}

static djStatus endImplicit(djmTransitionWork* w, djError* err) {
  int nv = w->nv;
  mjtNum *rest = w->motion.drag, *force = rest + nv;
  djm_implicitMatrix(w->G, w, w->smooth_by);
  if (!factorRows(w->G, w->dof, nv)) {
    return djm_slopeError(err, DJ_INVALID, "the integrator's matrix is singular");
  }
  mj_mulM(&w->view, w->d, force, w->a);
  solveRowsOf(w->end, force, w->G, w->dof, nv, 1);
  mulMass(w);
  mju_sub(rest, w->a, w->end, nv);
  djStatus status = addInertiaSlope(w, rest, err);
  if (status < 0) return status;
  djm_addDampingSlope(w);
  mju_copy(w->smooth_by, w->Y, nv * w->ncol);
  solveRowsOf(w->Y, w->smooth_by, w->G, w->dof, nv, w->ncol);
  return DJ_OK;
}

djStatus djm_endSlopes(djmTransitionWork* w, djError* err) {
  if (w->view.opt.integrator == mjINT_DISCRETE) {
    copyEnd(w);
    return DJ_OK;
  }
  return w->view.opt.integrator == mjINT_EULER ? endEuler(w, err) : endImplicit(w, err);
}

// ---- adjoint ------------------------------------------------------------------------------------

// x = A^-T b
static void solveTransposed(mjtNum* x, mjtNum* b, const mjtNum* A, const int* order, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= A[(size_t)k * n + i] * b[k];
    b[i] /= A[(size_t)i * (n + 1)];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= A[(size_t)k * n + i] * b[k];
  }
  for (int i = 0; i < n; i++) x[order[i]] = b[i];
}

djStatus djm_endStep(djmTransitionWork* w, djError* err) {
  const mjModel* m = &w->view;
  int nv = w->nv;
  mjtNum* slope = w->motion.drag;
  w->damped = true;
  if (m->opt.integrator == mjINT_EULER) {
    mj_fullM(m, w->d, w->G);
    w->damped = addDamping(w->G, slope, m, w->d);
    mju_copy(w->end, w->a, nv);
    if (!w->damped) return DJ_OK;
    if (!djm_factorLower(w->G, nv)) {
      return djm_slopeError(err, DJ_INVALID, "inertia is not positive");
    }
    mj_mulM(m, w->d, w->end, w->a);
    djm_solveLower(w->end, w->G, nv, 1);
    return DJ_OK;
  }
  mjtNum* force = slope + nv;
  djm_implicitMatrix(w->G, w, w->smooth_by);
  if (!factorRows(w->G, w->dof, nv)) {
    return djm_slopeError(err, DJ_INVALID, "the integrator's matrix is singular");
  }
  mj_mulM(m, w->d, force, w->a);
  solveRowsOf(w->end, force, w->G, w->dof, nv, 1);
  return DJ_OK;
}

void djm_endBackward(mjtNum* mu, mjtNum* a, mjtNum* by_v, djmTransitionWork* w,
                     const mjtNum* end) {
  const mjModel* m = &w->view;
  int nv = w->nv;
  mjtNum *slope = w->motion.drag, *force = slope + nv;
  mju_copy(force, end, nv);
  if (!w->damped) {
    mju_copy(a, end, nv);
    mju_zero(mu, nv);
    if (!(m->opt.disableflags & (mjDSBL_EULERDAMP | mjDSBL_DAMPER))) {
      mj_solveM(m, w->d, mu, force, 1);
    }
    return;
  }
  if (m->opt.integrator == mjINT_EULER) {
    mju_copy(mu, end, nv);
    djm_solveLower(mu, w->G, nv, 1);
    for (int i = 0; i < nv; i++) by_v[i] -= m->opt.timestep * slope[i] * w->end[i] * mu[i];
  } else {
    solveTransposed(mu, force, w->G, w->dof, nv);
  }
  mj_mulM(m, w->d, a, mu);
}
