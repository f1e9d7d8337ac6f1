// Motors (model/motor.h) among actuators: force and extra are those of the tangent at the start,
//   c0 + c1 l + c2 l',
// the first within forcerange, the other behind it; inputs and states act on each.

#include "force/actuator.h"

#include "model/param.h"

// alpha and beta by which a tangent goes along the displacement.
static void setAlong(double* alpha, double* beta, const djMotorNumber* p, const djActuatorStep* a,
                     double gear, double h) {
  double c1 = p->d[DJ_MOTOR_BY_LENGTH], c2 = p->d[DJ_MOTOR_BY_RATE];
  *alpha = p->x - c1 * (a->law.l - a->length) - c2 * a->law.rate;
  *beta = gear * (c1 + c2 / h);
}

void dj_beginMotor(djActuators* t, const djMotion* at, int i) {
  djActuatorStep* a = &t->act[i];
  const djMotorNumber *force = &a->motor->force, *extra = &a->motor->extra;
  dj_evalMotor(a->motor, at->model, at->start, i, a->law.l, a->law.rate, at->act_time,
               dj_inputsAt(at));
  a->c1 = force->d[DJ_MOTOR_BY_LENGTH];
  a->c2 = force->d[DJ_MOTOR_BY_RATE];
  a->extra_c1 = extra->d[DJ_MOTOR_BY_LENGTH];
  a->extra_c2 = extra->d[DJ_MOTOR_BY_RATE];
  setAlong(&a->alpha, &a->beta, force, a, a->gear[0], at->h);
  setAlong(&a->extra_alpha, &a->extra_beta, extra, a, a->gear[0], at->h);
  a->slope = a->motor->slope.x;
  a->extra_slope = a->motor->extra_slope.x;
}

// By what moves number `by` of the motor: dinput, dact, adr say how it follows.
static djMotorSignal signalOf(const djMotor* motor, int from, int by, djActuatorStep step) {
  step.gain[0] = motor->force.d[by];
  return (djMotorSignal){step, from, motor->extra.d[by]};
}

int dj_motorSignals(djMotorSignal signal[DJ_MOTOR_NSIGNAL], const djActuators* t, const djModel* m,
                    int i) {
  const djMotor* motor = t->act[i].motor;
  int n = 0;
  for (int k = 0; k < DJ_NMOTORINPUT; k++) {
    const djMotorSource* s = &motor->source[k];
    if (s->from < 0) continue;
    djActuatorStep step = {.dinput = s->gain * s->by_ctrl, .dact = s->by_act,
                           .adr = m->actuator_actadr[s->from]};
    signal[n++] = signalOf(motor, s->from, DJ_MOTOR_BY_INPUT + k, step);
  }
  for (int k = -1; k < DJ_NMOTORSTATE; k++) {
    int adr = k < 0 ? m->actuator_zadr[i] : m->actuator_motoradr[DJ_NMOTORSTATE * i + k];
    djActuatorStep step = {.dact = 1, .adr = adr};
    int by = k < 0 ? DJ_MOTOR_BY_INTEGRAL : DJ_MOTOR_BY_STATE + k;
    if (adr >= 0) signal[n++] = signalOf(motor, i, by, step);
  }
  return n;
}

void dj_motorParams(double* param, const djActuators* t, const djModel* m, int i, const double by[4]) {
  const djMotor* motor = t->act[i].motor;
  djMotorOut out = {dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_GAINPRM),
                    dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_BIASPRM),
                    dj_paramBlock(param, m, DJ_FIELD_ACTUATOR_MOTORPRM)};
  const djMotorNumber* number[4] = {&motor->force, &motor->extra, &motor->slope,
                                    &motor->extra_slope};
  for (int k = 0; k < 4; k++) dj_addMotorParams(&out, motor, number[k], by[k], i);
}
