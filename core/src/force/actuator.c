// Actuators: forces p = clamp(gain (u or activation) + bias), times gear, along a coordinate or on
// a free or ball joint; those on sites: actuator_site.c. Their energy is minus the work over the
// displacement.

#include "force/actuator.h"
#include "force/forces.h"

#include "base/arena.h"
#include "math/so3.h"
#include "model/activation.h"
#include "model/force_law.h"

#include <string.h>

// ---- memory -----------------------------------------------------------------------------------

static void layout(djActuators* t, djArena* a, const djModel* m) {
  dj_take(a, 1, sizeof *t);
  t->act = dj_take(a, m->nu, sizeof *t->act);
  t->order = dj_take(a, m->nu, sizeof(int));
  t->first = dj_take(a, (size_t)m->ncoord + (size_t)m->njnt + 1, sizeof(int));
  t->total = dj_take(a, m->ncoord, sizeof *t->total);
  t->motor = dj_take(a, dj_motorCount(m), sizeof *t->motor);
  size_t nv = 0, nbody = 0;   // of gravity compensation
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_actgravcomp[j]) nv = (size_t)m->nv, nbody = (size_t)m->nbody;
  }
  double** by_dof[] = {&t->lift, &t->z};
  double** by_body[] = {&t->twist, &t->wrench, &t->cotangent};
  for (int k = 0; k < 2; k++) *by_dof[k] = dj_take(a, nv, sizeof(double));
  for (int k = 0; k < 3; k++) *by_body[k] = dj_take(a, 6 * nbody, sizeof(double));
  t->moment = dj_take(a, 4 * nbody, sizeof(double));
  t->load = dj_take(a, nbody, sizeof *t->load);
  dj_layoutAdhesion(t, a, m);
}

static size_t size(const djModel* m) {
  djActuators t;
  djArena a = {NULL, 0};
  layout(&t, &a, m);
  return a.used;
}

static djStatus make(void* state, const djModel* m, djError* err) {
  (void)err;
  djActuators* t = state;
  djArena a = {state, 0};
  layout(t, &a, m);
  int n = m->ncoord + m->njnt, used = 0;
  for (int c = 0; c < n; c++) {
    t->first[c] = used;
    for (int i = 0; i < m->nu; i++) {
      if (dj_targetOf(m, i) == c) t->order[used++] = i;
    }
  }
  t->first[n] = used;
  for (int i = 0, k = 0; i < m->nu; i++) {
    if (dj_isMotor(m, i)) t->act[i].motor = &t->motor[k++];
  }
  dj_makeAdhesion(t, m);
  return DJ_OK;
}

// ---- start of a step --------------------------------------------------------------------------

static djQuat rotationOf(const djModel* m, const double* qpos, int j) {
  return dju_normalizeQuat(dju_loadQuat(qpos + dj_rotationQpos(m, j)));
}

// Transmission: length where displacements begin, and the direction of the torque for rotations.
// l+ = l + gear . displacement. MuJoCo's moment of a ball joint is the gear itself; ours follows
// the displacement within the step, a difference of order h.
static void beginTransmission(djActuatorStep* a, const djMotion* at, int i) {
  const djModel* m = at->model;
  int j = m->actuator_joint[i], c = m->actuator_coord[i];
  const double* gear = m->actuator_gear + 6 * i;
  a->length = 0;
  memset(a->gear, 0, sizeof a->gear);
  if (c >= 0) {
    a->length = gear[0] * at->rate.coord->x[c];
    a->gear[0] = gear[0];
    return;
  }
  if (j < 0) {
    if (dj_onSite(m, i)) a->length = dj_siteLength(at, i);
    return;
  }
  djVec3 g = dju_load3(dj_jointRow(m, j)->pose ? gear + 3 : gear);
  djQuat q = rotationOf(m, at->rate.q, j);
  if (!dj_jointRow(m, j)->pose) a->length = dju_dot3(g, dju_logQuat(q));
  if (m->actuator_inparent[i]) g = dju_mulMtV(dju_quatToMat(q), g);
  dju_store3(a->gear, g);
}

static void setInput(djActuatorStep* a, const djMotion* at, int i) {
  const djModel* m = at->model;
  const djData* d = at->start;
  djInputs kind = dj_inputsAt(at);
  djJet u = dj_controlInput(m, d, i, kind);
  int adr = a->adr = m->actuator_actadr[i];
  a->input = u.f;
  a->dinput = u.d;
  a->dact = 0;
  if (adr < 0) return;
  double by_act, by_ctrl;
  double next = dj_nextActivation(&by_act, &by_ctrl, m, d, i, at->act_time, kind);
  bool early = m->actuator_actearly[i] || m->actuator_dyn[i] == DJ_DYN_SLEW ||
               kind == DJ_INPUTS_EXACT;
  a->input = early ? next : d->act[adr];
  a->dact = early ? by_act : 1;
  a->dinput = early ? by_ctrl : 0;
}

// l and l' of the start.
static void setLawPoint(djActuatorStep* a, const djMotion* at, int i) {
  const djModel* m = at->model;
  int c = m->actuator_coord[i];
  double gear = m->actuator_gear[6 * i], x = at->at0.coord->x[c];
  a->law = (djLawAt){.l = gear * x, .rate = gear * (x - at->rate.coord->x[c]) / at->h,
                     .range = {m->actuator_lengthrange[2 * i], m->actuator_lengthrange[2 * i + 1]},
                     .acc0 = m->actuator_acc0[i]};
}

static void beginActuator(djActuatorStep* a, const djMotion* at, int i) {
  const djModel* m = at->model;
  a->hard = at->acting == DJ_ACTS_SMOOTH;
  setInput(a, at, i);
  beginTransmission(a, at, i);
  const djForceLaw* gain = &dj_gainLaws[m->actuator_gain[i]];
  const djForceLaw* bias = &dj_biasLaws[m->actuator_bias[i]];
  djLawCoefs g, b;
  if (gain->bends || bias->bends) setLawPoint(a, at, i);
  gain->set(&g, gain, m->actuator_gainprm + DJ_NPRM * i, &a->law);
  bias->set(&b, bias, m->actuator_biasprm + DJ_NPRM * i, &a->law);
  memcpy(a->gain, g.c, sizeof a->gain);
  if (dj_onFreeJoint(m, i)) a->gain[1] = b.c[1] = 0;   // there l = 0
  a->c1 = a->gain[1] * a->input + b.c[1];
  a->c2 = a->gain[2] * a->input + b.c[2];
  a->by_l = g.by_l * a->input + b.by_l;
  a->by_rate = g.by_rate * a->input + b.by_rate;
  if (dj_onOneSite(m, i) || m->actuator_body[i] >= 0) a->c1 = 0;   // there, too
  a->alpha = a->gain[0] * a->input + b.c[0] + a->c1 * a->length;
  a->slope = a->c2;
  a->beta = a->c1 + a->c2 / at->h;
  if (m->actuator_coord[i] >= 0) a->beta *= a->gear[0];
}

// What other inputs and its integral add to actuator i.
static void addParts(djActuators* t, const djMotion* at, int i) {
  const djModel* m = at->model;
  djActuatorStep* a = &t->act[i];
  int z = m->actuator_zadr[i];
  if (a->motor) {
    dj_beginMotor(t, at, i);
    return;
  }
  if (z >= 0) a->alpha += m->actuator_integral[i] * at->start->act[z];
  for (int k = i + 1; k < m->nu; k++) {
    if (m->actuator_addsto[k] == i) a->alpha += t->act[k].gain[0] * t->act[k].input;
  }
}

static djStatus begin(void* state, const djMotion* at, djError* err) {
  (void)err;
  djActuators* t = state;
  const djModel* m = at->model;
  t->hard = at->acting == DJ_ACTS_SMOOTH;
  t->lifts = false;
  for (int i = 0; i < m->nu; i++) beginActuator(&t->act[i], at, i);
  for (int i = 0; i < m->nu; i++) addParts(t, at, i);
  for (int c = 0; c < m->ncoord; c++) t->total[c] = dj_unclampedForce(t, m, c);
  dj_beginAdhesion(t, at);
  return DJ_OK;
}

static void moveRates(void* state, const djMotion* at) {
  djActuators* t = state;
  const djModel* m = at->model;
  for (int i = 0; i < m->nu; i++) {
    int c = m->actuator_coord[i];
    if (c < 0 || !dj_coordinateBends(m, c)) continue;
    beginActuator(&t->act[i], at, i);
    addParts(t, at, i);
  }
  for (int c = 0; c < m->ncoord; c++) {
    if (dj_coordinateBends(m, c)) t->total[c] = dj_unclampedForce(t, m, c);
  }
}

// ---- forces -----------------------------------------------------------------------------------

static double displacement(const djMotion* at, int c) {
  return at->at.coord->x[c] - at->rate.coord->x[c];
}

// Torque p gear on a rotation displaced by phi: potential -Integral p d(psi), psi = gear . phi.
static void addRotation(djForceSum* sum, const djActuators* t, const djMotion* at, int j,
                        const double* phi) {
  const djModel* m = at->model;
  int dof = dj_rotationDof(m, j);
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    double psi = a->gear[0] * phi[0] + a->gear[1] * phi[1] + a->gear[2] * phi[2];
    djJet p = dj_clampForce(a, m, t->order[k], a->alpha + a->beta * psi);
    sum->value -= psi * dj_meanForce(m, t->order[k], a, psi);
    for (int r = 0; r < 3; r++) {
      sum->y[dof + r] -= p.f * a->gear[r];
      for (int c = 0; c < 3; c++) {
        sum->Y[3 * (dof + r) + c] -= p.d * a->beta * a->gear[r] * a->gear[c];
      }
    }
  }
}

static void couple(djPattern* pattern, const void* state, const djModel* m) {
  dj_coupleSiteActuators(pattern, m);
  dj_coupleAdhesion(pattern, state, m);
}

static djStatus evaluate(djForceSum* sum, void* state, const djMotion* at) {
  djActuators* t = state;
  const djModel* m = at->model;
  dj_findCompensation(t, at);
  if (dj_actuatorsOff(m) || m->nu == 0) return DJ_OK;
  for (int c = 0; c < m->ncoord; c++) {
    if (t->first[c] == t->first[c + 1] && dj_liftOf(t, m, c) == 0) continue;
    double psi = displacement(at, c);
    const djUnclamped* total = &t->total[c];
    if (total->holds) {
      sum->value -= psi * (total->a + 0.5 * total->b * psi);
      sum->f[c] -= total->a + total->b * psi;
      sum->k[c] -= total->b;
      continue;
    }
    if (at->acting != DJ_ACTS_SMOOTH) sum->value -= dj_workAlong(t, m, c, psi);
    djJet f = dj_totalForce(t, m, c, psi).f;
    sum->f[c] -= f.f;
    sum->k[c] -= f.d;
  }
  for (int j = 0; j < m->njnt; j++) {
    if (t->first[m->ncoord + j] == t->first[m->ncoord + j + 1]) continue;
    double psi[6];
    bool turns = !at->prompt || !sum->derivatives;
    if (!turns) continue;
    dj_pushJoint(sum, m, j);
    if (dj_jointRow(m, j)->pose) {
      dj_addFreeActuators(sum, t, at, j);
      continue;
    }
    dj_jointDisplacement(psi, at, j);
    addRotation(sum, t, at, j, psi);
  }
  if (!at->prompt || !sum->derivatives) dj_addSiteActuators(sum, t, at);
  return DJ_OK;
}

// Of prompt motions, what has no energy; gravity compensation.
static void nonpotential(djForceSum* sum, double* gradient, void* state, const djMotion* at) {
  if (at->acting == DJ_ACTS_SMOOTH) {
    dj_addCompensation(sum, gradient, state, at);
    dj_addAdhesion(sum, state, at);
  }
  if (!at->prompt || dj_actuatorsOff(at->model)) return;
  dj_addTurnActuators(sum, gradient, state, at);
  dj_addSiteTwists(sum, state, at);
}

// ---- derivatives by the start -----------------------------------------------------------------

// With the point fixed l+ does not change, l' = gear psi/h does.
static void startScalar(djStartSum* sum, const djActuators* t, const djMotion* at, int c) {
  if (t->first[c] == t->first[c + 1]) return;
  double psi = displacement(at, c);
  djTotal total = dj_totalForce(t, at->model, c, psi);
  for (int k = t->first[c]; k < t->first[c + 1]; k++) {
    const djActuatorStep* a = &t->act[t->order[k]];
    double by = dj_totalByForce(&total, t, at->model, t->order[k], psi);
    double extra = total.C * a->gear[0] * a->extra_c2;
    sum->krate[c] += (by * a->c2 + extra) * a->gear[0] / at->h;
  }
}

// What a ball's rotation at the start changes beside the displacement phi: the length,
// dl = gear^T J_r^-1(log q) d with the gear as given; and the direction g of gears given in the
// parent's frame, dg = g x d, y = -p(alpha + beta g . phi) g.
static void startRotation(double Y0[9], const djActuators* t, const djMotion* at, int j) {
  const djModel* m = at->model;
  djVec3 phi = dj_turnSince(at, j);
  djMat3 Jlog = dju_rightJacobianInv(dju_logQuat(rotationOf(m, at->rate.q, j)));
  for (int k = t->first[m->ncoord + j]; k < t->first[m->ncoord + j + 1]; k++) {
    int i = t->order[k];
    const djActuatorStep* a = &t->act[i];
    djVec3 g = dju_load3(a->gear);
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * dju_dot3(g, phi));
    djVec3 dl = dju_mulMtV(Jlog, dju_load3(m->actuator_gear + 6 * i));
    dj_addOuterTo(Y0, -p.d * a->c1, g, dl);
    if (!m->actuator_inparent[i]) continue;
    djMat3 X = dju_skew(g);
    for (int r = 0; r < 9; r++) Y0[r] -= p.f * X.m[r];
    dj_addOuterTo(Y0, -p.d * a->beta, g, dju_mulMtV(X, phi));
  }
}

static djStatus start(djStartSum* sum, void* state, const djMotion* at) {
  const djActuators* t = state;
  const djModel* m = at->model;
  if (dj_actuatorsOff(m) || m->nu == 0) return DJ_OK;
  for (int c = 0; c < m->ncoord; c++) startScalar(sum, t, at, c);
  if (at->prompt) {
    if (!sum->Rrate) return DJ_OK;
    dj_startTurnActuators(sum, t, at);
    dj_startSiteTwists(sum, t, at);
    return DJ_OK;
  }
  for (int j = 0; j < m->njnt; j++) {
    if (t->first[m->ncoord + j] == t->first[m->ncoord + j + 1]) continue;
    if (dj_jointRow(m, j)->pose) dj_startFreeActuators(sum, t, at, j);
    else startRotation(sum->Yrate + 3 * (size_t)dj_rotationDof(m, j), t, at, j);
  }
  dj_startSiteActuators(sum, t, at);
  return DJ_OK;
}

// ---- derivatives by inputs --------------------------------------------------------------------

static void scalarInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i, int c,
                        djSignal signal, double extra) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  double psi = displacement(at, c);
  djTotal total = dj_totalForce(t, m, c, psi);
  double dp = dj_gainAt(signal.step, a->length + a->gear[0] * psi, a->gear[0] * psi / at->h);
  double g = -dj_totalByForce(&total, t, m, i, psi) * dp - total.C * a->gear[0] * extra;
  for (int e = m->coord_dofadr[c]; e < m->coord_dofadr[c] + m->coord_dofnum[c]; e++) {
    dj_addInput(sum, signal.step, signal.from, m->coord_dof[e], g * at->at.coord->J[e]);
  }
}

static void jointInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i, int j,
                       djSignal signal) {
  const djModel* m = at->model;
  const djActuatorStep* a = &t->act[i];
  const int dof = dj_rotationDof(m, j);
  const bool pose = dj_jointRow(m, j)->pose;
  djVec3 by, force = {0, 0, 0};
  if (at->prompt) {
    djTurnDrive d = dj_turnDrive(t, at, i);
    double dp = -d.p.d * dj_gainAt(signal.step, d.length, d.rate);
    by = dju_scale3(dp, d.g);
    force = dju_scale3(dp, d.force);
  } else if (pose) {
    djFreeDrive d = dj_freeDrive(t, at, i);
    double dp = -d.p.d * dj_gainAt(signal.step, 0, d.psi / at->h);
    by = dju_mulMtV(dju_rightJacobianInv(d.phi), dju_scale3(dp, d.g));
    force = dju_scale3(dp, d.f);
  } else {
    djVec3 phi = dj_turnSince(at, j), gear = dju_load3(a->gear);
    double psi = dju_dot3(gear, phi);
    djJet p = dj_clampForce(a, m, i, a->alpha + a->beta * psi);
    double dp = -p.d * dj_gainAt(signal.step, a->length + psi, psi / at->h);
    by = dju_mulMtV(dju_rightJacobianInv(phi), dju_scale3(dp, gear));
  }
  double g[3], f[3];
  dju_store3(g, by);
  dju_store3(f, force);
  for (int r = 0; r < 3; r++) {
    dj_addInput(sum, signal.step, signal.from, dof + r, g[r]);
    if (pose) dj_addInput(sum, signal.step, signal.from, m->jnt_dofadr[j] + r, f[r]);
  }
}

// Of the force of actuator i by a signal.
static void signalInput(djInputSum* sum, const djActuators* t, const djMotion* at, int i,
                        djSignal signal) {
  const djModel* m = at->model;
  int target = dj_targetOf(m, i);
  if (m->actuator_body[i] >= 0) dj_adhesionInput(sum, t, at, i, signal);
  else if (target < 0) dj_siteInput(sum, t, at, i, signal);
  else if (target < m->ncoord) scalarInput(sum, t, at, i, target, signal, 0);
  else jointInput(sum, t, at, i, target - m->ncoord, signal);
}

static void motorInputs(djInputSum* sum, const djActuators* t, const djMotion* at, int i) {
  djMotorSignal signal[DJ_MOTOR_NSIGNAL];
  int n = dj_motorSignals(signal, t, at->model, i);
  for (int k = 0; k < n; k++) {
    djSignal one = {&signal[k].step, signal[k].from};
    scalarInput(sum, t, at, i, at->model->actuator_coord[i], one, signal[k].extra);
  }
}

static void inputs(djInputSum* sum, void* state, const djMotion* at) {
  const djModel* m = at->model;
  const djActuators* t = state;
  for (int i = 0; i < m->nu && !dj_actuatorsOff(m); i++) {
    if (t->act[i].motor) motorInputs(sum, t, at, i);
    if (t->act[dj_leader(m, i)].motor) continue;
    signalInput(sum, t, at, dj_leader(m, i), (djSignal){&t->act[i], i});
    if (m->actuator_zadr[i] < 0) continue;
    djActuatorStep z = {.gain = {m->actuator_integral[i]}, .dact = 1, .adr = m->actuator_zadr[i]};
    signalInput(sum, t, at, i, (djSignal){&z, i});
  }
}

// ---- slopes by rates --------------------------------------------------------------------------

// Whether actuator i, along a coordinate, is within its range, and all on it within theirs.
static bool isFree(const djActuators* t, const djMotion* at, int i) {
  const djActuatorStep* a = &t->act[i];
  int c = at->model->actuator_coord[i];
  double psi = displacement(at, c);
  djTotal total = dj_totalForce(t, at->model, c, psi);
  if (total.r < 1 || total.C == 0) return false;
  return dj_clampForce(a, at->model, i, total.r * (a->alpha + a->beta * psi)).d != 0;
}

// Whether what is added behind the range of actuator i is within that of the joint.
static bool extraIsFree(const djActuators* t, const djMotion* at, int i) {
  int c = at->model->actuator_coord[i];
  return t->act[i].motor && dj_totalForce(t, at->model, c, displacement(at, c)).C != 0;
}

static void rates(djRateSum* sum, const void* state, const djMotion* at) {
  const djActuators* t = state;
  const djModel* m = at->model;
  for (int i = 0; i < m->nu && !dj_actuatorsOff(m); i++) {
    int c = m->actuator_coord[i];
    if (c < 0) continue;
    const djActuatorStep* a = &t->act[i];
    double g = m->actuator_gear[6 * i], extra = extraIsFree(t, at, i) ? a->extra_slope : 0;
    bool free = isFree(t, at, i);
    sum->slope[c] -= g * g * ((free ? a->slope : 0) + extra);
    if (free) sum->by_x[c] -= g * g * g * a->by_l;
    if (free) sum->bend[c] -= g * g * g * a->by_rate;
    if (sum->y) dj_actuatorRateParams(sum, t, m, i, free, extra);
  }
}

void dj_rateInput(djInputSum* sum, const djForces* f, const djMotion* at, int i, int dof,
                  double x) {
  const djActuators* t = f->state[DJ_FORCE_ACTUATOR];
  const djModel* m = at->model;
  double g = m->actuator_gear[6 * i];
  const djMotor* motor = t->act[i].motor;
  int warm = motor ? m->actuator_motoradr[DJ_NMOTORSTATE * i + DJ_MOTOR_TEMPERATURE] : -1;
  if (warm >= 0 && isFree(t, at, i)) {
    djActuatorStep step = {.dact = 1, .adr = warm};
    double slope = motor->slope.d[DJ_MOTOR_BY_STATE + DJ_MOTOR_TEMPERATURE];
    dj_addInput(sum, &step, i, dof, -g * g * slope * x);
  }
  if (t->act[i].gain[2] == 0 || !isFree(t, at, i)) return;
  dj_addInput(sum, &t->act[i], i, dof, -g * g * t->act[i].gain[2] * x);
}

const djForceRow dj_actuatorForce = {.name = "actuator",
                                     .along = true,
                                     .size = size,
                                     .make = make,
                                     .begin = begin,
                                     .move_rates = moveRates,
                                     .couple = couple,
                                     .evaluate = evaluate,
                                     .nonpotential = nonpotential,
                                     .start = start,
                                     .inputs = inputs,
                                     .params = dj_actuatorParams,
                                     .params_of = DJ_BY_LAW | DJ_BY_SITE | DJ_BY_FRAME |
                                                  DJ_BY_INERTIA | DJ_BY_SHAPE,
                                     .rates = rates};
