// With the resistance R at the reference temperature, the constant K, the inputs u (position,
// velocity, torque), the length l and its rate v:
//   V = clip(R/K (kp (u0 - l) + kd (u1 - v) + ki z + u2) + K v, Vmax) + voltage,
// without one of these inputs the voltage alone. With R_T = R (1 + alpha (T + Ta - T0)) of the
// temperature T above the ambient one Ta (R without that state), and i' within dimax:
//   force = K i,   te i' = (V - K v)/R_T - i,   i+ = i + i' te (1 - exp(-h/te)),
// or without a state of current i = (V - K v)/R_T (actearly, as MuJoCo's are: the force is of i+);
//   C T' = R_T i^2 - T/RT,   T+ = T + h T';
// bristles of the friction (LuGre), deflected by y, over h at a fixed v:
//   y' = v - s0 |v|/g y,   g = Fc + (Fs - Fc) exp(-(v/vs)^2);
// and behind the force's range A sin(N l + phi) - s0 y - s1 y' is added. (MuJoCo's documentation,
// "DC motor".) Numbers carry derivatives by all that they depend on.

#include "model/motor.h"

#include <math.h>
#include <string.h>

enum { R0, CONSTANT, ALPHA, T0, KP, KI, KD, VMAX };
enum { COGGING, PERIODS, PHASE, COULOMB, STATIC_FRICTION, STRIBECK };
enum { TE, DIMAX, RT, HEAT, AMBIENT, S0, S1 };

#define LEAST 1e-15   // of what is divided by, as in MuJoCo

typedef djMotorNumber Number;

// ---- numbers with derivatives -----------------------------------------------------------------

static Number constant(double x) { return (Number){.x = x}; }

static Number variable(double x, int k) {
  Number n = {.x = x};
  n.d[k] = 1;
  return n;
}

// f(a) with the value f and the derivative f1.
static Number chain(Number a, double f, double f1) {
  a.x = f;
  for (int k = 0; k < DJ_MOTOR_NBY; k++) a.d[k] *= f1;
  return a;
}

// s a + t b
static Number combine(double s, Number a, double t, Number b) {
  a.x = s * a.x + t * b.x;
  for (int k = 0; k < DJ_MOTOR_NBY; k++) a.d[k] = s * a.d[k] + t * b.d[k];
  return a;
}

static Number sum(Number a, Number b) { return combine(1, a, 1, b); }
static Number difference(Number a, Number b) { return combine(1, a, -1, b); }

static Number product(Number a, Number b) {
  Number n = {.x = a.x * b.x};
  for (int k = 0; k < DJ_MOTOR_NBY; k++) n.d[k] = a.d[k] * b.x + a.x * b.d[k];
  return n;
}

static Number quotient(Number a, Number b) {
  if (!(b.x > LEAST)) b = constant(LEAST);
  return product(a, chain(b, 1 / b.x, -1 / (b.x * b.x)));
}

// Within -most to most, where that is above 0; *free: false where that changes it.
static Number clip(bool* free, Number a, Number most) {
  *free = !(most.x > 0) || fabs(a.x) <= most.x;
  if (*free) return a;
  return a.x > 0 ? most : combine(-1, most, 0, most);
}

// ---- the law ----------------------------------------------------------------------------------

typedef struct Motor {
  Number l, v, u[DJ_NMOTORINPUT], z, state[DJ_NMOTORSTATE];
  Number gain[DJ_MOTOR_NGAIN], bias[DJ_MOTOR_NBIAS], own[DJ_NMOTORPRM];
  bool has[DJ_NMOTORSTATE], controlled;
  double h;
} Motor;

// *by_rate: its derivative by v.
static Number voltage(Number* by_rate, const Motor* m) {
  const Number* g = m->gain;
  Number u = m->u[DJ_INPUT_VOLTAGE];
  bool free;
  *by_rate = constant(0);
  if (!m->controlled) return u;
  Number ahead = product(g[KP], difference(m->u[DJ_INPUT_POSITION], m->l));
  Number slow = product(g[KD], difference(m->u[DJ_INPUT_VELOCITY], m->v));
  Number torque = sum(sum(ahead, slow), sum(product(g[KI], m->z), m->u[DJ_INPUT_TORQUE]));
  Number ratio = quotient(g[R0], g[CONSTANT]);
  Number V = sum(product(ratio, torque), product(g[CONSTANT], m->v));
  V = clip(&free, V, g[VMAX]);
  if (free) *by_rate = difference(g[CONSTANT], product(ratio, g[KD]));
  return sum(V, u);
}

static Number resistance(const Motor* m) {
  const Number* g = m->gain;
  if (!m->has[DJ_MOTOR_TEMPERATURE]) return g[R0];
  Number rise = difference(sum(m->state[DJ_MOTOR_TEMPERATURE], m->own[AMBIENT]), g[T0]);
  return product(g[R0], sum(constant(1), product(g[ALPHA], rise)));
}

// te (1 - exp(-h/te))
static Number lag(const Motor* m) {
  double te = fmax(LEAST, m->own[TE].x), e = exp(-m->h / te);
  return chain(m->own[TE], -te * expm1(-m->h / te), 1 - e - m->h / te * e);
}

// *by_steady: its derivative by that.
static Number nextCurrent(Number* by_steady, const Motor* m, Number steady) {
  bool free;
  Number i = m->state[DJ_MOTOR_CURRENT];
  Number rate = clip(&free, quotient(difference(steady, i), m->own[TE]), m->own[DIMAX]);
  *by_steady = free ? quotient(lag(m), m->own[TE]) : constant(0);
  return sum(i, product(rate, lag(m)));
}

static Number nextTemperature(const Motor* m, Number R, Number current) {
  Number T = m->state[DJ_MOTOR_TEMPERATURE];
  Number heat = difference(product(R, product(current, current)), quotient(T, m->own[RT]));
  return combine(1, T, m->h, quotient(heat, m->own[HEAT]));
}

// -s0 |v|/g
static Number decay(const Motor* m) {
  Number ratio = quotient(m->v, m->bias[STRIBECK]), v = m->v;
  double e = exp(-ratio.x * ratio.x);
  Number share = chain(ratio, e, -2 * ratio.x * e);
  Number excess = difference(m->bias[STATIC_FRICTION], m->bias[COULOMB]);
  Number g = sum(m->bias[COULOMB], product(excess, share));
  Number speed = chain(v, fabs(v.x), v.x > 0 ? 1 : v.x < 0 ? -1 : 0);
  return combine(-1, quotient(product(m->own[S0], speed), g), 0, g);
}

// exp(a h) y + (exp(a h) - 1)/a v
static Number nextBristle(const Motor* m, Number a) {
  double h = m->h, x = a.x * h, e = exp(x), whole = h, slope;
  if (a.x != 0) whole = expm1(x) / a.x;
  if (fabs(x) < 1e-4) slope = h * h * (0.5 + x / 3 + x * x / 8);
  else slope = (h * e - whole) / a.x;
  return sum(product(chain(a, e, h * e), m->state[DJ_MOTOR_BRISTLE]),
             product(chain(a, whole, slope), m->v));
}

static Number extra(const Motor* m, Number a) {
  const Number* b = m->bias;
  Number angle = sum(product(b[PERIODS], m->l), b[PHASE]);
  Number total = product(b[COGGING], chain(angle, sin(angle.x), cos(angle.x)));
  if (!m->has[DJ_MOTOR_BRISTLE]) return total;
  Number y = m->state[DJ_MOTOR_BRISTLE], rate = sum(product(a, y), m->v);
  Number held = sum(product(m->own[S0], y), product(m->own[S1], rate));
  return difference(total, held);
}

static void evaluate(djMotor* out, const Motor* m, bool early) {
  const Number* g = m->gain;
  Number by_rate, R = resistance(m), back = product(g[CONSTANT], m->v), a = constant(0);
  Number steady = quotient(difference(voltage(&by_rate, m), back), R), current = steady;
  out->slope = quotient(product(g[CONSTANT], difference(by_rate, g[CONSTANT])), R);
  out->extra_slope = constant(0);
  if (m->has[DJ_MOTOR_CURRENT]) {
    Number by_steady;
    current = m->state[DJ_MOTOR_CURRENT];
    out->next[DJ_MOTOR_CURRENT] = nextCurrent(&by_steady, m, steady);
    out->slope = early ? product(out->slope, by_steady) : constant(0);
  }
  if (m->has[DJ_MOTOR_TEMPERATURE]) {
    out->next[DJ_MOTOR_TEMPERATURE] = nextTemperature(m, R, current);
  }
  if (m->has[DJ_MOTOR_BRISTLE]) {
    a = decay(m);
    out->next[DJ_MOTOR_BRISTLE] = nextBristle(m, a);
    out->extra_slope = combine(-1, m->own[S1], 0, a);
  }
  if (early && m->has[DJ_MOTOR_CURRENT]) current = out->next[DJ_MOTOR_CURRENT];
  out->force = product(g[CONSTANT], current);
  out->extra = extra(m, a);
}

// ---- of a model -------------------------------------------------------------------------------

static void setSource(djMotorSource* s, const djModel* m, const djData* d, int from, double h,
                      djInputs kind) {
  s->from = from;
  s->by_act = 0;
  if (m->actuator_actadr[from] >= 0) {
    s->input = dj_nextActivation(&s->by_act, &s->by_ctrl, m, d, from, h, kind);
  } else {
    djJet u = dj_controlInput(m, d, from, kind);
    s->input = u.f;
    s->by_ctrl = u.d;
  }
}

static void findSources(djMotor* out, const djModel* m, const djData* d, int i, double h,
                        djInputs kind) {
  for (int k = 0; k < DJ_NMOTORINPUT; k++) out->source[k] = (djMotorSource){.from = -1};
  for (int from = i; from < m->nu; from++) {
    if (from != i && m->actuator_addsto[from] != i) continue;
    djMotorSource* s = &out->source[m->actuator_input[from]];
    setSource(s, m, d, from, h, kind);
    s->gain = from == i ? 1 : m->actuator_gainprm[DJ_NPRM * from];
  }
}

void dj_evalMotor(djMotor* out, const djModel* m, const djData* d, int i, double l, double rate,
                  double h, djInputs kind) {
  Motor p;
  memset(&p, 0, sizeof p);
  findSources(out, m, d, i, h, kind);
  p.h = h;
  p.l = variable(l, DJ_MOTOR_BY_LENGTH);
  p.v = variable(rate, DJ_MOTOR_BY_RATE);
  for (int k = 0; k < DJ_NMOTORINPUT; k++) {
    const djMotorSource* s = &out->source[k];
    if (s->from < 0) continue;
    p.u[k] = variable(s->gain * s->input, DJ_MOTOR_BY_INPUT + k);
    if (k != DJ_INPUT_VOLTAGE) p.controlled = true;
  }
  if (m->actuator_zadr[i] >= 0) {
    p.z = variable(d->act[m->actuator_zadr[i]], DJ_MOTOR_BY_INTEGRAL);
  }
  for (int k = 0; k < DJ_NMOTORSTATE; k++) {
    int adr = m->actuator_motoradr[DJ_NMOTORSTATE * i + k];
    p.has[k] = adr >= 0;
    if (adr >= 0) p.state[k] = variable(d->act[adr], DJ_MOTOR_BY_STATE + k);
  }
  const double *gain = m->actuator_gainprm + DJ_NPRM * i, *bias = m->actuator_biasprm + DJ_NPRM * i;
  const double* own = m->actuator_motorprm + DJ_NMOTORPRM * i;
  for (int k = 0; k < DJ_MOTOR_NGAIN; k++) p.gain[k] = variable(gain[k], DJ_MOTOR_BY_GAIN + k);
  for (int k = 0; k < DJ_MOTOR_NBIAS; k++) p.bias[k] = variable(bias[k], DJ_MOTOR_BY_BIAS + k);
  for (int k = 0; k < DJ_NMOTORPRM; k++) p.own[k] = variable(own[k], DJ_MOTOR_BY_OWN + k);
  evaluate(out, &p, m->actuator_actearly[i]);
}

double dj_plainRate(const djModel* m, const double* qvel, int i) {
  double total = 0;
  djLengthPart p = dj_lengthPart(m, i, 0);
  for (int k = 0; p.dof >= 0; p = dj_lengthPart(m, i, ++k)) total += p.gear * qvel[p.dof];
  return total;
}

void dj_evalMotorAt(djMotor* out, const djModel* m, const djData* d, int i, double h,
                    djInputs kind) {
  dj_evalMotor(out, m, d, i, dj_plainLength(m, d->qpos, i), dj_plainRate(m, d->qvel, i), h, kind);
}

int dj_firstMotor(const djModel* m) {
  int i = 0;
  while (i < m->nu && !dj_isMotor(m, i)) i++;
  return i < m->nu ? i : -1;
}

int dj_motorCount(const djModel* m) {
  int n = 0;
  for (int i = 0; i < m->nu; i++) n += dj_isMotor(m, i);
  return n;
}

bool dj_motorsHaveStates(const djModel* m) {
  for (int k = 0; k < DJ_NMOTORSTATE * m->nu; k++) {
    if (m->actuator_motoradr[k] >= 0) return true;
  }
  return false;
}

// ---- rows of next states ----------------------------------------------------------------------

void dj_motorRow(double* by, const djMotor* motor, const djModel* m, int i, int state) {
  memset(by, 0, DJ_MOTOR_ROW * sizeof *by);
  if (m->actuator_motoradr[DJ_NMOTORSTATE * i + state] < 0) return;
  const double* d = motor->next[state].d;
  by[DJ_MOTOR_BY_LENGTH] = d[DJ_MOTOR_BY_LENGTH];
  by[DJ_MOTOR_BY_RATE] = d[DJ_MOTOR_BY_RATE];
  for (int k = 0; k < DJ_NMOTORINPUT; k++) {
    const djMotorSource* s = &motor->source[k];
    if (s->from < 0) continue;
    by[DJ_MOTOR_BY_INPUT + k] = d[DJ_MOTOR_BY_INPUT + k] * s->gain * s->by_ctrl;
    if (s->from == i) by[DJ_MOTOR_ROW_ACT] = d[DJ_MOTOR_BY_INPUT + k] * s->by_act;
  }
  by[DJ_MOTOR_ROW_INTEGRAL] = d[DJ_MOTOR_BY_INTEGRAL];
  memcpy(by + DJ_MOTOR_ROW_STATE, d + DJ_MOTOR_BY_STATE, DJ_NMOTORSTATE * sizeof *by);
}

// The actuator that has input k.
static int sourceOf(const djModel* m, int i, int k) {
  for (int from = i; from < m->nu; from++) {
    if ((from == i || m->actuator_addsto[from] == i) && m->actuator_input[from] == k) return from;
  }
  return -1;
}

// Entry k of a row; at -1: nothing. False: there is none.
static bool entryOf(djMotorEntry* e, const double* by, const djModel* m, int i, int k) {
  int n = 0, first = 2 * m->nv;
  while (dj_lengthPart(m, i, n).dof >= 0) n++;
  if (k < 2 * n) {
    djLengthPart p = dj_lengthPart(m, i, k % n);
    e->ctrl = false;
    e->at = k < n ? p.dof : m->nv + p.dof;
    e->value = by[k / n] * p.gear;
    return true;
  }
  k += DJ_MOTOR_BY_INPUT - 2 * n;
  if (k >= DJ_MOTOR_ROW) return false;
  int adr;
  e->value = by[k];
  e->ctrl = k < DJ_MOTOR_ROW_ACT;
  if (e->ctrl) e->at = sourceOf(m, i, k - DJ_MOTOR_BY_INPUT);
  if (e->ctrl) return true;
  if (k == DJ_MOTOR_ROW_ACT) adr = m->actuator_actadr[i];
  else if (k == DJ_MOTOR_ROW_INTEGRAL) adr = m->actuator_zadr[i];
  else adr = m->actuator_motoradr[DJ_NMOTORSTATE * i + k - DJ_MOTOR_ROW_STATE];
  e->at = adr < 0 ? -1 : first + adr;
  return true;
}

bool dj_nextMotorEntry(djMotorEntry* e, const double* rows, const djModel* m, int i) {
  for (; e->state < DJ_NMOTORSTATE; e->state++, e->k = 0) {
    int adr = m->actuator_motoradr[DJ_NMOTORSTATE * i + e->state];
    if (adr < 0) continue;
    e->row = 2 * m->nv + adr;
    while (entryOf(e, rows + dj_motorRowAt(i, e->state), m, i, e->k++)) {
      if (e->at >= 0) return true;
    }
  }
  return false;
}

// ---- numbers ----------------------------------------------------------------------------------

void dj_addMotorParams(const djMotorOut* out, const djMotor* motor, const Number* number, double f,
                       int i) {
  double *gain = out->gain + DJ_NPRM * i, *bias = out->bias + DJ_NPRM * i;
  double* own = out->own + DJ_NMOTORPRM * i;
  for (int k = 0; k < DJ_MOTOR_NGAIN; k++) gain[k] += f * number->d[DJ_MOTOR_BY_GAIN + k];
  for (int k = 0; k < DJ_MOTOR_NBIAS; k++) bias[k] += f * number->d[DJ_MOTOR_BY_BIAS + k];
  for (int k = 0; k < DJ_NMOTORPRM; k++) own[k] += f * number->d[DJ_MOTOR_BY_OWN + k];
  for (int k = 0; k < DJ_NMOTORINPUT; k++) {
    const djMotorSource* s = &motor->source[k];
    if (s->from < 0 || s->from == i) continue;
    out->gain[DJ_NPRM * s->from] += f * number->d[DJ_MOTOR_BY_INPUT + k] * s->input;
  }
}

const char* dj_motorGainProblem(const double* prm) {
  if (!(prm[R0] > 0)) return "a dcmotor's resistance must be positive";
  if (!(prm[CONSTANT] > 0)) return "a dcmotor's constant must be positive";
  return prm[KI] >= 0 ? NULL : "a dcmotor's ki must not be negative";
}

const char* dj_motorBiasProblem(const double* prm) {
  bool good = prm[COULOMB] >= 0 && prm[STATIC_FRICTION] >= 0 && prm[STRIBECK] >= 0;
  return good ? NULL : "a dcmotor's forces and speed of friction must not be negative";
}

const char* dj_motorOwnProblem(const double* prm) {
  for (int k = 0; k < DJ_NMOTORPRM; k++) {
    if (k == AMBIENT || prm[k] >= 0) continue;
    return "must not be negative, but for the ambient temperature";
  }
  return prm[RT] > 0 && !(prm[HEAT] > 0) ? "needs a positive heat capacity" : NULL;
}

const char* dj_motorKeeps(const djModel* m, int i, const double* motorprm) {
  for (int k = 0; k < DJ_NMOTORSTATE; k++) {
    bool has = m->actuator_motoradr[DJ_NMOTORSTATE * i + k] >= 0;
    if (has != (motorprm[dj_motorStateNumber[k]] > 0)) {
      return "must stay above 0 where it gives the motor a state, and 0 where it does not";
    }
  }
  return dj_motorOwnProblem(motorprm);
}
