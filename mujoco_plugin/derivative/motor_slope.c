// Electric motors (motor_slope.h): resistance R, constant K, voltage V, current i.
//
//   V = R/K (kp (u0 - l) + kd (u1 - v) + ki z + u2) + K v, within Vmax, + u3
//   force = K i, or without a state of current K/R (V - K v)
//   i' = (V/R - K/R v - i)/te within dimax, i+ = i + i' te (1 - exp(-h/te))
//   T' = (R_T i^2 - T/RT)/C,  R_T = R (1 + alpha (T + Ta - T0)), also in a force
//   without current
//   bristle: z' = v - s0 |v|/g z,  g = Fc + (Fs - Fc) exp(-(v/vs)^2), z+ in closed form;
//   extra force: A sin(N l + phi) - s0 z - s1 z'

#include "motor_slope.h"

#include <math.h>

void djm_unpackInputs(djmDual* in, const djmDual* u, int spec) {
  static const int bit[4] = {mjINPUT_POS, mjINPUT_VEL, mjINPUT_FF, mjINPUT_VOLTAGE};
  int at = 0;
  for (int k = 0; k < 4; k++) in[k] = (spec & bit[k]) ? u[at++] : dConst(0);
}

djmDual djm_slew(djmDual* rate, djmDual u, djmDual was, double most, double h, double period) {
  if (period > 0) u = dShift(u, -period * round((u.x - was.x) / period));
  if (u.x < was.x - most)
    u = dShift(was, -most);
  else if (u.x > was.x + most)
    u = dShift(was, most);
  *rate = dScl(dSub(u, was), 1 / h);
  return u;
}

djmDual djm_windup(djmDual gap, double z, double most) {
  if (most > 0 && ((z >= most && gap.x > 0) || (z <= -most && gap.x < 0))) return dConst(0);
  return gap;
}

// Places of the states, -1: none.
typedef struct Slots {
  int slew, integral, temperature, bristle, current;
} Slots;

static Slots slotsOf(const double* dyn, const double* gain) {
  Slots s = {-1, -1, -1, -1, -1};
  int n = 0;
  if (dyn[7] > 0) s.slew = n++;
  if (gain[5] > 0) s.integral = n++;
  if (dyn[2] > 0) s.temperature = n++;
  if (dyn[5] > 0) s.bristle = n++;
  if (dyn[0] > 0) s.current = n++;
  return s;
}

static djmDual voltage(const djmLaw* w, const double* gain, int spec, djmDual z) {
  djmDual in[4], V = dConst(0);
  djm_unpackInputs(in, w->u, spec);
  if (spec & (mjINPUT_POS | mjINPUT_VEL | mjINPUT_FF)) {
    djmDual torque = dAdd(dScl(dSub(in[0], w->l), gain[4]), dScl(dSub(in[1], w->v), gain[6]));
    torque = dAdd(dAdd(torque, dScl(z, gain[5])), in[2]);
    V = dAdd(dScl(torque, gain[0] / gain[1]), dScl(w->v, gain[1]));
    if (gain[7] > 0) V = dClip(V, -gain[7], gain[7]);
  }
  return dAdd(V, in[3]);
}

// R at the temperature of the state
static djmDual resistance(const djmLaw* w, const double* dyn, const double* gain, Slots s) {
  if (s.temperature < 0) return dConst(gain[0]);
  djmDual rise = dShift(w->act[s.temperature], dyn[4] - gain[3]);
  return dScl(dShift(dScl(rise, gain[2]), 1), gain[0]);
}

// -s0 |v|/g
static djmDual decay(const djmLaw* w, const double* dyn, const double* bias) {
  djmDual ratio = dScl(w->v, 1 / fmax(mjMINVAL, bias[5]));
  djmDual g = dShift(dScl(dExp(dScl(dMul(ratio, ratio), -1)), bias[4] - bias[3]), bias[3]);
  return dDiv(dScl(dAbs(w->v), -dyn[5]), g.x > mjMINVAL ? g : dConst(mjMINVAL));
}

void djm_motorRates(djmLaw* w, const mjModel* m, int i) {
  const double *dyn = m->actuator_dynprm + mjNDYN * i, *gain = m->actuator_gainprm + mjNGAIN * i;
  double h = m->opt.timestep, K = gain[1];
  Slots s = slotsOf(dyn, gain);
  djmDual z = dConst(0);
  if (s.slew >= 0) {
    w->u[0] = djm_slew(&w->rate[s.slew], w->u[0], w->act[s.slew], dyn[7] * h, h, 0);
  }
  if (s.integral >= 0) {
    z = w->act[s.integral];
    w->rate[s.integral] = djm_windup(dSub(w->u[0], w->l), z.x, dyn[8]);
  }
  djmDual V = voltage(w, gain, m->actuator_ctrlspec[i], z), back = dScl(w->v, K);
  djmDual R = resistance(w, dyn, gain, s);
  if (s.temperature >= 0) {
    djmDual current = s.current >= 0 ? w->act[s.current] : dDiv(dSub(V, back), R);
    djmDual heat = dMul(R, dMul(current, current));
    heat = dSub(heat, dScl(w->act[s.temperature], 1 / dyn[2]));
    w->rate[s.temperature] = dScl(heat, 1 / dyn[3]);
  }
  if (s.bristle >= 0) {
    djmDual a = decay(w, dyn, m->actuator_biasprm + mjNBIAS * i);
    w->rate[s.bristle] = dAdd(dMul(a, w->act[s.bristle]), w->v);
  }
  if (s.current >= 0) {
    djmDual rate = dSub(dDiv(dSub(V, back), R), w->act[s.current]);
    rate = dScl(rate, 1 / dyn[0]);
    w->rate[s.current] = dyn[1] > 0 ? dClip(rate, -dyn[1], dyn[1]) : rate;
  }
}

djmDual djm_motorNext(const djmLaw* w, const mjModel* m, int i, int slot, djmDual rate) {
  const double *dyn = m->actuator_dynprm + mjNDYN * i, *gain = m->actuator_gainprm + mjNGAIN * i;
  double h = m->opt.timestep;
  Slots s = slotsOf(dyn, gain);
  djmDual was = w->act[slot];
  if (slot == s.current) {
    double te = fmax(mjMINVAL, dyn[0]);
    return dAdd(was, dScl(rate, te * (1 - exp(-h / te))));
  }
  if (slot == s.bristle) {
    djmDual a = decay(w, dyn, m->actuator_biasprm + mjNBIAS * i), e = dExp(dScl(a, h));
    djmDual whole = fabs(a.x) > mjMINVAL ? dDiv(dShift(e, -1), a) : dConst(h);
    return dAdd(dMul(e, was), dMul(whole, w->v));
  }
  djmDual next = dAdd(was, dScl(rate, h));
  return slot == s.integral && dyn[8] > 0 ? dClip(next, -dyn[8], dyn[8]) : next;
}

djmDual djm_motorForce(const djmLaw* w, const mjModel* m, int i, const djmDual* state) {
  const double *dyn = m->actuator_dynprm + mjNDYN * i, *gain = m->actuator_gainprm + mjNGAIN * i;
  Slots s = slotsOf(dyn, gain);
  double K = gain[1];
  if (s.current >= 0) return dScl(state[s.current], K);
  djmDual R = resistance(w, dyn, gain, s), V = dConst(0);
  if (m->actuator_ctrlnum[i] > 0) {
    djmDual z = s.integral >= 0 ? w->act[s.integral] : dConst(0);
    V = voltage(w, gain, m->actuator_ctrlspec[i], z);
  }
  djmDual net = dSub(V, dScl(w->v, K));
  return dDiv(dScl(net, K), R.x > mjMINVAL ? R : dConst(mjMINVAL));
}

djmDual djm_motorExtra(const djmLaw* w, const mjModel* m, int i) {
  const double *dyn = m->actuator_dynprm + mjNDYN * i, *bias = m->actuator_biasprm + mjNBIAS * i;
  Slots s = slotsOf(dyn, m->actuator_gainprm + mjNGAIN * i);
  djmDual extra = dConst(0);
  if (bias[0] != 0) {
    extra = dScl(dSin(dShift(dScl(w->l, bias[1]), bias[2])), bias[0]);
  }
  if (s.bristle >= 0) {
    extra = dSub(extra, dScl(w->act[s.bristle], dyn[5]));
    extra = dSub(extra, dScl(w->rate[s.bristle], dyn[6]));
  }
  return extra;
}
