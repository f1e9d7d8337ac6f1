// Springs, dampers, inertia of dofs and actuators in the adjoint of a step. Forces have -lambda .
// F, what the integrator takes of them implicitly has h mu . dD e, and inertia mu . dM (a - e).

#include "design_work.h"
#include "law_slope.h"
#include "smooth_work.h"
#include "spatial.h"

#include <math.h>
#include <string.h>

// Whether dampers are taken implicitly; actuators' are by implicit integrators alone.
static bool isImplicit(const mjModel* m) {
  return m->opt.integrator == mjINT_IMPLICIT || m->opt.integrator == mjINT_IMPLICITFAST;
}

static bool dampsEnd(const mjModel* m) {
  return isImplicit(m) ||
         (m->opt.integrator == mjINT_EULER && !(m->opt.disableflags & mjDSBL_EULERDAMP));
}

// x^T (J^T J) y of the entries that the integrator's matrix has; J: (n) at dofs.
static mjtNum inPattern(djmTransitionWork* w, const mjtNum* J, const int* dof, int n,
                        const mjtNum* x, const mjtNum* y) {
  const mjModel* m = &w->view;
  mjtNum sum = 0, *dense = w->smooth->row;
  if (n == 1) return J[0] * J[0] * x[dof[0]] * y[dof[0]];
  mju_zero(dense, w->nv);
  for (int k = 0; k < n; k++) dense[dof[k]] = J[k];
  for (int k = 0; k < n; k++) {
    int i = dof[k];
    for (int c = m->D_rowadr[i]; c < m->D_rowadr[i] + m->D_rownnz[i]; c++) {
      sum += x[i] * J[k] * dense[m->D_colind[c]] * y[m->D_colind[c]];
    }
  }
  return sum;
}

// ---- joints -------------------------------------------------------------------------------------

static void joints(djmBackward* b) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  for (int j = 0; j < (int)m->njnt && !(m->opt.disableflags & mjDSBL_SPRING); j++) {
    int adr = m->jnt_qposadr[j], dof = m->jnt_dofadr[j], type = m->jnt_type[j];
    const mjtNum *q = d->qpos + adr, *rest = m->qpos_spring + adr, *lambda = b->lambda + dof;
    mjtNum x[3], quat[4], slope;
    if (type == mjJNT_SLIDE || type == mjJNT_HINGE) {
      x[0] = q[0] - rest[0];
      djm_polyForce(&slope, m->jnt_stiffness[j], m->jnt_stiffnesspoly + mjNPOLY * j, x[0], false);
      b->g->jnt_stiffness[j] -= lambda[0] * x[0];
      b->g->qpos_spring[adr] += lambda[0] * slope;
      continue;
    }
    if (type == mjJNT_FREE) {
      mju_sub3(x, q, rest);
      b->g->jnt_stiffness[j] -= mju_dot3(lambda, x);
      mju_addToScl3(b->g->qpos_spring + adr, lambda, m->jnt_stiffness[j]);
      q += 3;
      rest += 3;
      lambda += 3;
    }
    mju_copy4(quat, q);
    mju_normalize4(quat);
    mju_subQuat(x, quat, rest);
    b->g->jnt_stiffness[j] -= mju_dot3(lambda, x);
  }
}

static void dofs(djmBackward* b) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  bool passive = !(m->opt.disableflags & mjDSBL_DAMPER), ends = dampsEnd(m);
  for (int i = 0; i < w->nv; i++) {
    b->g->dof_armature[i] += b->mu[i] * (w->a[i] - w->end[i]) - b->lambda[i] * w->a[i];
    if (!passive) continue;
    b->g->dof_damping[i] -= b->lambda[i] * w->d->qvel[i];
    if (ends) b->g->dof_damping[i] -= m->opt.timestep * b->mu[i] * w->end[i];
  }
}

// ---- tendons ------------------------------------------------------------------------------------

static mjtNum tendonTimes(const mjModel* m, const mjData* d, int t, const mjtNum* x) {
  mjtNum sum = 0;
  for (int k = m->ten_J_rowadr[t]; k < m->ten_J_rowadr[t] + m->ten_J_rownnz[t]; k++) {
    sum += d->ten_J[k] * x[m->ten_J_colind[k]];
  }
  return sum;
}

bool djm_canHaveArmature(const mjModel* m, int tendon) {
  int adr = m->ten_J_rowadr[tendon], n = m->ten_J_rownnz[tendon];
  if (!n) return false;
  int i = m->ten_J_colind[adr + n - 1];
  for (int k = n - 2; k >= 0; k--) {
    while (i > m->ten_J_colind[adr + k]) i = m->dof_parentid[i];
    if (i != m->ten_J_colind[adr + k]) return false;
  }
  return true;
}

static void tendons(djmBackward* b) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  bool springs = !(m->opt.disableflags & mjDSBL_SPRING);
  bool passive = !(m->opt.disableflags & mjDSBL_DAMPER);
  for (int t = 0; t < (int)m->ntendon; t++) {
    mjtNum lambda = tendonTimes(m, d, t, b->lambda), mu = tendonTimes(m, d, t, b->mu);
    mjtNum a = tendonTimes(m, d, t, w->a), e = tendonTimes(m, d, t, w->end);
    const mjtNum* rest = m->tendon_lengthspring + 2 * t;
    mjtNum length = d->ten_length[t];
    int side = length > rest[1] ? 1 : length < rest[0] ? 0 : -1;
    if (djm_canHaveArmature(m, t)) b->g->tendon_armature[t] += mu * (a - e) - lambda * a;
    if (springs && side >= 0) {
      mjtNum x = length - rest[side], slope;
      const mjtNum* poly = m->tendon_stiffnesspoly + mjNPOLY * t;
      djm_polyForce(&slope, m->tendon_stiffness[t], poly, x, false);
      b->g->tendon_stiffness[t] -= lambda * x;
      b->g->tendon_lengthspring[2 * t + (rest[0] == rest[1] ? 0 : side)] += lambda * slope;
    }
    if (!passive) continue;
    b->g->tendon_damping[t] -= lambda * d->ten_velocity[t];
    if (!isImplicit(m)) continue;
    int adr = m->ten_J_rowadr[t];
    mjtNum both = inPattern(b->w, d->ten_J + adr, m->ten_J_colind + adr, m->ten_J_rownnz[t], b->mu,
                            w->end);
    b->g->tendon_damping[t] -= m->opt.timestep * both;
  }
}

// ---- actuators ----------------------------------------------------------------------------------

// L = sigma p + bend dp/dv + next . activations after the step, of an output's force p.
typedef struct Output {
  int i;
  mjtNum sigma, bend;
  const mjtNum* next;
} Output;

// Without dofs whose actuator force is at its range.
static mjtNum momentTimes(const djmBackward* b, int o, const mjtNum* x) {
  const mjData* d = b->w->d;
  mjtNum sum = 0;
  for (int k = d->moment_rowadr[o]; k < d->moment_rowadr[o] + d->moment_rownnz[o]; k++) {
    int dof = d->moment_colind[k];
    if (!b->w->smooth->clamped[dof]) sum += d->actuator_moment[k] * x[dof];
  }
  return sum;
}

static mjtNum valueOf(const mjModel* m, const mjData* d, const Output* o) {
  djmLaw law;
  djm_law(&law, m, d, o->i);
  mjtNum sum = o->sigma * (law.force.x + law.extra.x);
  sum += o->bend * (law.force.d[DJM_SPEED] + law.extra.d[DJM_SPEED]);
  for (int k = 0; k < m->actuator_actnum[o->i] && o->next; k++) sum += o->next[k] * law.next[k].x;
  return sum;
}

// Parameters of a law that is not affine: by differences of the law alone.
static void differences(mjtNum* by, mjtNum* array, int n, const mjModel* m, const mjData* d,
                        const Output* o) {
  static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  for (int k = 0; k < n; k++) {
    mjtNum old = array[k], h = 1e-3 * fabs(old);
    if (old == 0) continue;
    for (int p = 0; p < 4; p++) {
      array[k] = old + kPoint[p] * h;
      by[k] += kWeight[p] / (12 * h) * valueOf(m, d, o);
    }
    array[k] = old;
  }
}

static void byLaw(djmBackward* b, const Output* o) {
  mjModel view = b->w->view;
  mjtNum gain[mjNGAIN], bias[mjNBIAS], dyn[mjNDYN];
  int i = o->i;
  mju_copy(gain, view.actuator_gainprm + mjNGAIN * i, mjNGAIN);
  mju_copy(bias, view.actuator_biasprm + mjNBIAS * i, mjNBIAS);
  mju_copy(dyn, view.actuator_dynprm + mjNDYN * i, mjNDYN);
  view.actuator_gainprm = gain - mjNGAIN * i;
  view.actuator_biasprm = bias - mjNBIAS * i;
  view.actuator_dynprm = dyn - mjNDYN * i;
  bool plain = view.actuator_gaintype[i] <= mjGAIN_AFFINE;
  if (!plain) differences(b->g->actuator_gainprm + mjNGAIN * i, gain, mjNGAIN, &view, b->w->d, o);
  if (view.actuator_biastype[i] > mjBIAS_AFFINE) {
    differences(b->g->actuator_biasprm + mjNBIAS * i, bias, mjNBIAS, &view, b->w->d, o);
  }
  if (view.actuator_dyntype[i] > mjDYN_INTEGRATOR) {
    differences(b->g->actuator_dynprm + mjNDYN * i, dyn, mjNDYN, &view, b->w->d, o);
  }
}

// p = (g_0 + g_1 l + g_2 v) u + b_0 + b_1 l + b_2 v
static void byAffine(djmBackward* b, const Output* o, mjtNum l, mjtNum v, mjtNum u) {
  const mjModel* m = &b->w->view;
  const mjtNum x[3] = {o->sigma, o->sigma * l, o->sigma * v + o->bend};
  int i = o->i, gain = m->actuator_gaintype[i], n = gain == mjGAIN_FIXED ? 1 : 3;
  for (int k = 0; k < n && gain <= mjGAIN_AFFINE; k++) {
    b->g->actuator_gainprm[mjNGAIN * i + k] += x[k] * u;
  }
  if (m->actuator_biastype[i] == mjBIAS_AFFINE) {
    mju_addTo3(b->g->actuator_biasprm + mjNBIAS * i, x);
  }
}

// Before forcerange, with what its gain multiplies.
typedef struct Plain {
  mjtNum p, by_l, by_v, u;
} Plain;

static bool isPlain(const mjModel* m, int i) {
  return m->actuator_gaintype[i] <= mjGAIN_AFFINE && m->actuator_biastype[i] <= mjBIAS_AFFINE &&
         m->actuator_dyntype[i] <= mjDYN_INTEGRATOR && m->actuator_actnum[i] <= 1 &&
         m->actuator_ctrlnum[i] == 1 && !m->actuator_actearly[i];
}

static Plain lawOf(const djmBackward* b, int i, mjtNum l, mjtNum v) {
  const mjModel* m = &b->w->view;
  const mjData* d = b->w->d;
  const mjtNum *g = m->actuator_gainprm + mjNGAIN * i, *c = m->actuator_biasprm + mjNBIAS * i;
  mjtNum by, u = 0;
  int last = m->actuator_actnum[i] - 1, act = m->actuator_actadr[i];
  if (m->actuator_dyntype[i] == mjDYN_NONE) u = djm_control(&by, m, d, m->actuator_ctrladr[i]);
  else u = d->act[act + last];
  if (!isPlain(m, i)) {
    djmLaw law;
    djm_law(&law, m, d, i);
    if (m->actuator_actearly[i] && act >= 0) u = law.next[last].x;
    return (Plain){law.force.x, law.force.d[DJM_LENGTH] + law.extra.d[DJM_LENGTH],
                   law.force.d[DJM_SPEED] + law.extra.d[DJM_SPEED], u};
  }
  bool affine = m->actuator_gaintype[i] == mjGAIN_AFFINE;
  bool biased = m->actuator_biastype[i] == mjBIAS_AFFINE;
  Plain x = {g[0] * u, 0, 0, u};
  if (affine) {
    x.p += (g[1] * l + g[2] * v) * u;
    x.by_l += g[1] * u;
    x.by_v += g[2] * u;
  }
  if (biased) {
    x.p += c[0] + c[1] * l + c[2] * v;
    x.by_l += c[1];
    x.by_v += c[2];
  }
  return x;
}

// Derivative of dp/dv as length and velocity grow in proportion; zero where p is affine in them.
static mjtNum bendSlope(djmBackward* b, int i, int out) {
  static const mjtNum kPoint[4] = {1, -1, 2, -2}, kWeight[4] = {8, -8, -1, 1};
  const mjModel* m = &b->w->view;
  mjData* d = b->w->d;
  mjtNum l = d->actuator_length[out], v = d->actuator_velocity[out], sum = 0, h = 1e-3;
  if (m->actuator_gaintype[i] <= mjGAIN_AFFINE && m->actuator_biastype[i] <= mjBIAS_AFFINE) {
    return 0;
  }
  for (int p = 0; p < 4; p++) {
    djmLaw law;
    d->actuator_length[out] = l * (1 + kPoint[p] * h);
    d->actuator_velocity[out] = v * (1 + kPoint[p] * h);
    djm_law(&law, m, d, i);
    sum += kWeight[p] / (12 * h) * (law.force.d[DJM_SPEED] + law.extra.d[DJM_SPEED]);
  }
  d->actuator_length[out] = l;
  d->actuator_velocity[out] = v;
  return sum;
}

// An actuator's own damping and armature go by its gear squared to the joint.
static mjtNum ownDamping(const djmBackward* b, int i, int dof) {
  const djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  mjtNum v = w->d->qvel[dof], e = w->end[dof], a = w->a[dof], rate = v, slope = 1;
  mjtNum c = m->actuator_damping[i], sum = 0;
  const mjtNum* poly = m->actuator_dampingpoly + mjNPOLY * i;
  if (djm_hasForce(c, poly) && !(m->opt.disableflags & mjDSBL_DAMPER)) {
    rate = djm_polyForce(&slope, c, poly, v, true);
    sum -= b->lambda[dof] * rate;
    if (dampsEnd(m)) sum -= m->opt.timestep * slope * b->mu[dof] * e;
  }
  return sum + m->actuator_armature[i] * (b->mu[dof] * (a - e) - b->lambda[dof] * a);
}

// Of scalar joints and tendons length, velocity and moment are as the gear.
static void byGear(djmBackward* b, const Output* o, mjtNum l, mjtNum v, const Plain* law,
                   mjtNum free, mjtNum all) {
  const mjModel* m = &b->w->view;
  int i = o->i, out = m->actuator_outadr[i], id = m->actuator_trnid[2 * i];
  int type = m->actuator_trntype[i];
  bool joint = type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
  mjtNum gear = m->actuator_gear[6 * out];
  if (gear == 0 || (!joint && type != mjTRN_TENDON)) return;
  if (joint && m->jnt_type[id] != mjJNT_SLIDE && m->jnt_type[id] != mjJNT_HINGE) return;
  mjtNum sum = free * b->w->d->actuator_force[out] + o->sigma * (law->by_l * l + law->by_v * v);
  sum += 2 * all * law->by_v + all * bendSlope(b, i, out);
  if (joint) sum += 2 * gear * gear * ownDamping(b, i, m->jnt_dofadr[id]);
  b->g->actuator_gear[6 * out] += sum / gear;
}

static void actuators(djmBackward* b, const mjtNum* act_end) {
  djmTransitionWork* w = b->w;
  const mjModel* m = &w->view;
  const mjData* d = w->d;
  if (m->opt.disableflags & mjDSBL_ACTUATION) return;
  for (int i = 0; i < (int)m->nactuator; i++) {
    int o = m->actuator_outadr[i];
    if (djm_actuatorOff(m, i) || m->actuator_gaintype[i] == mjGAIN_SO3) continue;
    mjtNum l = d->actuator_length[o], v = d->actuator_velocity[o];
    Plain law = lawOf(b, i, l, v);
    mjtNum p = law.p;
    const mjtNum* range = m->actuator_forcerange + 2 * i;
    bool held = m->actuator_forcelimited[i] && (p < range[0] || p > range[1]);
    mjtNum free = momentTimes(b, o, b->lambda), bend = 0;
    if (isImplicit(m) && !held) {
      int adr = d->moment_rowadr[o];
      bend = m->opt.timestep * inPattern(w, d->actuator_moment + adr, d->moment_colind + adr,
                                         d->moment_rownnz[o], b->mu, w->end);
    }
    Output out = {i, held ? 0 : free, bend, NULL};
    int act = m->actuator_actadr[i];
    if (act >= 0) out.next = act_end + act;
    byAffine(b, &out, l, v, law.u);
    if (!isPlain(m, i)) byLaw(b, &out);
    byGear(b, &out, l, v, &law, free, bend);
  }
}

void djm_backForces(djmBackward* b, const mjtNum* act_end) {
  joints(b);
  dofs(b);
  tendons(b);
  actuators(b, act_end);
}
