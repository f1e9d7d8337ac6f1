// Laws of actuators, as MuJoCo has them, with derivatives carried along (law_slope.h). l: length,
// v: velocity, u: control, w: activation, h: time step.
//
//   w' = u (integrator), (u - w)/tau (filter, filterexact), muscle; w+ = w + h w', of filterexact
//   w + (u - w)(1 - exp(-h/tau)); within actrange
//   p = gain (u or w) + bias; gain and bias fixed, affine (p0 + p1 l + p2 v), muscle
//   pid: p = kp (u0 - l) + kv (u1 - v) + u2 + ki z; states: slewed set point, z' = u0 - l
//   dcmotor: motor_slope.c
// On rotations set points are of the nearest turn: a constant is added to them.

#include "law_slope.h"

#include "motor_slope.h"
#include "slope_math.h"
#include "smooth_work.h"

#include <string.h>

djStatus djm_checkLaw(const mjModel* m, int i, djError* err) {
  const char* name = djm_nameOf(m, mjOBJ_ACTUATOR, i);
  int dyn = m->actuator_dyntype[i], gain = m->actuator_gaintype[i], bias = m->actuator_biastype[i];
  if (m->actuator_plugin[i] >= 0) {
    return djm_refuse(err, "actuator %s: forces of plugins are not differentiated", name);
  }
  if (m->actuator_delay[i] > 0) {
    return djm_refuse(err, "actuator %s: delayed controls are not differentiated", name);
  }
  if (dyn == mjDYN_USER || gain == mjGAIN_USER || bias == mjBIAS_USER) {
    return djm_refuse(err, "actuator %s: laws of user callbacks are not differentiated", name);
  }
  bool turns = m->actuator_trntype[i] == mjTRN_SO3;
  if (turns != (gain == mjGAIN_SO3) || (turns && dyn != mjDYN_NONE && dyn != mjDYN_INTEGRATOR)) {
    return djm_refuse(err, "actuator %s: this law of an orientation is not differentiated", name);
  }
  if (m->actuator_actnum[i] > DJM_MAXACT || m->actuator_ctrlnum[i] > DJM_MAXCTRL) {
    return djm_refuse(err, "actuator %s: too many activations or controls", name);
  }
  return DJ_OK;
}

bool djm_actuatorOff(const mjModel* m, int actuator) {
  int group = m->actuator_group[actuator];
  return group >= 0 && group <= 30 && (m->opt.disableactuator & (1 << group));
}

double djm_control(double* by, const mjModel* m, const mjData* d, int u) {
  double x = d->ctrl[u];
  const double* range = m->actuator_ctrlrange + 2 * u;
  *by = 1;
  if ((m->opt.disableflags & mjDSBL_CLAMPCTRL) || !m->actuator_ctrllimited[u]) return x;
  if (x >= range[0] && x <= range[1]) return x;
  *by = 0;
  return x < range[0] ? range[0] : range[1];
}

// ---- set points on rotations ------------------------------------------------------------------

// The length of a whole turn, 0: not wrapped.
static double wholeTurn(const mjModel* m, int i) {
  int dyn = m->actuator_dyntype[i], type = m->actuator_trntype[i];
  bool servo = m->actuator_gaintype[i] == mjGAIN_FIXED &&
               m->actuator_biastype[i] == mjBIAS_AFFINE &&
               m->actuator_gainprm[mjNGAIN * i] == -m->actuator_biasprm[mjNBIAS * i + 1] &&
               (dyn == mjDYN_NONE || dyn == mjDYN_INTEGRATOR);
  if (!servo && m->actuator_gaintype[i] != mjGAIN_PID) return 0;
  const double* gear = m->actuator_gear + 6 * m->actuator_outadr[i];
  const int* id = m->actuator_trnid + 2 * i;
  if (type == mjTRN_SITE && id[1] >= 0 && mju_isZero(gear, 3)) {
    return 2 * M_PI * mju_norm3(gear + 3);
  }
  bool joint = type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT;
  return joint && m->jnt_type[id[0]] == mjJNT_BALL ? 2 * M_PI * mju_norm3(gear) : 0;
}

// x at its turn nearest to `to`: a constant more.
static djmDual nearest(djmDual x, double to, double period) {
  return period > 0 ? dShift(x, -period * round((x.x - to) / period)) : x;
}

// ---- activations ------------------------------------------------------------------------------

static djmDual muscleRate(djmDual u, djmDual w, const double* prm) {
  djmDual lag = dShift(dScl(dClip(w, 0, 1), 1.5), 0.5), rise = dScl(lag, prm[0]);
  djmDual fall = dDiv(dConst(prm[1]), lag), gap = dSub(dClip(u, 0, 1), w), tau;
  if (prm[2] < mjMINVAL) {
    tau = gap.x > 0 ? rise : fall;
  } else {
    djmDual x = dClip(dShift(dScl(gap, 1 / prm[2]), 0.5), 0, 1), square = dMul(x, x);
    djmDual s = dMul(dMul(square, x), dShift(dSub(dScl(square, 6), dScl(x, 15)), 10));
    tau = dAdd(fall, dMul(dSub(rise, fall), s));
  }
  return dDiv(gap, tau.x > mjMINVAL ? tau : dConst(mjMINVAL));
}

// States of pid: the slewed set point, which takes the place of the control, and the integral.
static void pidRates(djmLaw* w, const mjModel* m, int i) {
  const double* prm = m->actuator_dynprm + mjNDYN * i;
  double period = wholeTurn(m, i), h = m->opt.timestep;
  int at = 0;
  if (prm[1] > 0) {
    w->u[0] = djm_slew(&w->rate[0], w->u[0], w->act[0], prm[1] * h, h, period);
    at++;
  }
  if (m->actuator_gainprm[mjNGAIN * i] > 0) {
    djmDual gap = nearest(dSub(w->u[0], w->l), 0, period);
    w->rate[at] = djm_windup(gap, w->act[at].x, prm[0]);
  }
}

static void rates(djmLaw* w, const mjModel* m, int i) {
  int last = m->actuator_actnum[i] - 1;
  const double* prm = m->actuator_dynprm + mjNDYN * i;
  for (int k = 0; k <= last; k++) w->rate[k] = dConst(0);
  switch (m->actuator_dyntype[i]) {
    case mjDYN_INTEGRATOR: {
      int num = m->actuator_ctrlnum[i];
      for (int k = 0; k < num; k++) w->rate[last - num + 1 + k] = w->u[k];
      break;
    }
    case mjDYN_FILTER:
    case mjDYN_FILTEREXACT:
      w->rate[last] = dScl(dSub(w->u[0], w->act[last]), 1 / fmax(mjMINVAL, prm[0]));
      break;
    case mjDYN_MUSCLE:
      w->rate[last] = muscleRate(w->u[0], w->act[last], prm);
      break;
    case mjDYN_PID:
      pidRates(w, m, i);
      break;
    case mjDYN_DCMOTOR:
      djm_motorRates(w, m, i);
      break;
    default:
      break;
  }
}

static void advance(djmLaw* w, const mjModel* m, int i) {
  bool off = djm_actuatorOff(m, i), motor = m->actuator_dyntype[i] == mjDYN_DCMOTOR;
  double h = m->opt.timestep, tau = fmax(mjMINVAL, m->actuator_dynprm[mjNDYN * i]);
  bool exact = m->actuator_dyntype[i] == mjDYN_FILTEREXACT;
  const double* range = m->actuator_actrange + 2 * i;
  for (int k = 0; k < m->actuator_actnum[i]; k++) {
    djmDual rate = off ? dConst(0) : w->rate[k];
    if (motor) {
      w->next[k] = djm_motorNext(w, m, i, k, rate);
      continue;
    }
    w->next[k] = dAdd(w->act[k], dScl(rate, exact ? tau * (1 - exp(-h / tau)) : h));
    if (m->actuator_actlimited[i]) w->next[k] = dClip(w->next[k], range[0], range[1]);
  }
}

// ---- gain and bias ----------------------------------------------------------------------------

static djmDual affine(const djmLaw* w, const double* prm) {
  return dShift(dAdd(dScl(w->l, prm[1]), dScl(w->v, prm[2])), prm[0]);
}

// prm: operating range, force, scale, lmin, lmax, vmax, fpmax, fvmax
typedef struct Muscle {
  djmDual L, V;
  double force, low, high, fpmax, fvmax;
} Muscle;

static Muscle muscle(const djmLaw* w, const mjModel* m, int i, const double* prm) {
  int o = m->actuator_outadr[i];
  const double* range = m->actuator_lengthrange + 2 * o;
  double unit = (range[1] - range[0]) / fmax(mjMINVAL, prm[1] - prm[0]);
  Muscle s = {.low = prm[4], .high = prm[5], .fpmax = prm[7], .fvmax = prm[8]};
  s.force = prm[2] < 0 ? prm[3] / fmax(mjMINVAL, m->actuator_acc0[o]) : prm[2];
  s.L = dShift(dScl(dShift(w->l, -range[0]), 1 / fmax(mjMINVAL, unit)), prm[0]);
  s.V = dScl(w->v, 1 / fmax(mjMINVAL, unit * prm[6]));
  return s;
}

// top + sign x^2/2, x = (L - from)/width
static djmDual parabola(djmDual L, double from, double width, double top, double sign) {
  djmDual x = dScl(dShift(L, -from), 1 / fmax(mjMINVAL, width));
  return dShift(dScl(dMul(x, x), sign * 0.5), top);
}

static djmDual muscleGain(const djmLaw* w, const mjModel* m, int i) {
  Muscle s = muscle(w, m, i, m->actuator_gainprm + mjNGAIN * i);
  double a = 0.5 * (s.low + 1), b = 0.5 * (1 + s.high), L = s.L.x, V = s.V.x, y = s.fvmax - 1;
  djmDual FL = dConst(0), FV = dConst(0), x;
  if (s.low <= L && L <= s.high) {
    FL = L <= a   ? parabola(s.L, s.low, a - s.low, 0, 1)
         : L <= 1 ? parabola(s.L, 1, 1 - a, 1, -1)
         : L <= b ? parabola(s.L, 1, b - 1, 1, -1)
                  : parabola(s.L, s.high, s.high - b, 0, 1);
  }
  if (V > y) {
    FV = dConst(s.fvmax);
  } else if (V > 0) {
    x = dShift(s.V, -y);
    FV = dShift(dScl(dMul(x, x), -1 / fmax(mjMINVAL, y)), s.fvmax);
  } else if (V > -1) {
    x = dShift(s.V, 1);
    FV = dMul(x, x);
  }
  return dScl(dMul(FL, FV), -s.force);
}

static djmDual muscleBias(const djmLaw* w, const mjModel* m, int i) {
  Muscle s = muscle(w, m, i, m->actuator_biasprm + mjNBIAS * i);
  double b = 0.5 * (1 + s.high), width = fmax(mjMINVAL, b - 1);
  djmDual x = dScl(dShift(s.L, -1), 1 / width);
  if (s.L.x <= 1) return dConst(0);
  if (s.L.x <= b) return dScl(dMul(x, x), -0.5 * s.force * s.fpmax);
  return dScl(dShift(dScl(dShift(s.L, -b), 1 / width), 0.5), -s.force * s.fpmax);
}

// kp and kv are those of the affine bias, which has the other half.
static djmDual pidInput(const djmLaw* w, const mjModel* m, int i, const djmDual* state) {
  const double *bias = m->actuator_biasprm + mjNBIAS * i, ki = m->actuator_gainprm[mjNGAIN * i];
  djmDual in[4];
  djm_unpackInputs(in, w->u, m->actuator_ctrlspec[i]);
  in[0] = nearest(in[0], w->l.x, wholeTurn(m, i));
  djmDual p = dAdd(dAdd(dScl(in[0], -bias[1]), dScl(in[1], -bias[2])), in[2]);
  int last = m->actuator_actnum[i] - 1;
  return last >= 0 && ki > 0 ? dAdd(p, dScl(state[last], ki)) : p;
}

static djmDual force(const djmLaw* w, const mjModel* m, int i) {
  const double* gainprm = m->actuator_gainprm + mjNGAIN * i;
  const djmDual* state = m->actuator_actearly[i] ? w->next : w->act;
  int type = m->actuator_gaintype[i], last = m->actuator_actnum[i] - 1;
  djmDual p = dConst(0), gain = dConst(gainprm[0]);
  if (type == mjGAIN_PID) return pidInput(w, m, i, state);
  if (type == mjGAIN_DCMOTOR) return djm_motorForce(w, m, i, state);
  if (type == mjGAIN_AFFINE) gain = affine(w, gainprm);
  if (type == mjGAIN_MUSCLE) gain = muscleGain(w, m, i);
  if (last >= 0)
    p = state[last];
  else if (m->actuator_ctrlnum[i])
    p = w->u[0];
  return dMul(gain, nearest(p, w->l.x, wholeTurn(m, i)));
}

void djm_law(djmLaw* w, const mjModel* m, const mjData* d, int i) {
  int o = m->actuator_outadr[i];
  w->l = dVar(d->actuator_length[o], DJM_LENGTH);
  w->v = dVar(d->actuator_velocity[o], DJM_SPEED);
  for (int k = 0; k < m->actuator_ctrlnum[i]; k++) {
    double by, x = djm_control(&by, m, d, m->actuator_ctrladr[i] + k);
    w->u[k] = dChain(dVar(x, DJM_CTRL + k), x, by);
  }
  for (int k = 0; k < m->actuator_actnum[i]; k++) {
    w->act[k] = dVar(d->act[m->actuator_actadr[i] + k], DJM_ACT + k);
  }
  w->extra = dConst(0);
  rates(w, m, i);
  advance(w, m, i);
  if (m->actuator_gaintype[i] == mjGAIN_SO3) return;
  w->force = force(w, m, i);
  switch (m->actuator_biastype[i]) {
    case mjBIAS_AFFINE:
      w->force = dAdd(w->force, affine(w, m->actuator_biasprm + mjNBIAS * i));
      break;
    case mjBIAS_MUSCLE:
      w->force = dAdd(w->force, muscleBias(w, m, i));
      break;
    case mjBIAS_DCMOTOR:
      w->extra = djm_motorExtra(w, m, i);
      break;
    default:
      break;
  }
}
