// All activations of a model after a step.

#include "model/motor.h"

static void nextMotor(double* act_next, const djModel* m, const djData* d, int i, double h,
                      djInputs kind) {
  const int* adr = m->actuator_motoradr + DJ_NMOTORSTATE * i;
  djMotor motor;
  if (adr[0] < 0 && adr[1] < 0 && adr[2] < 0) return;
  dj_evalMotorAt(&motor, m, d, i, h, kind);
  for (int k = 0; k < DJ_NMOTORSTATE; k++) {
    if (adr[k] >= 0) act_next[adr[k]] = motor.next[k].x;
  }
}

void dj_nextActivations(double* act_next, const djModel* m, const djData* d, double h,
                        djInputs kind) {
  double by_act, by_ctrl;
  djIntegralSlopes by;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    if (adr >= 0) act_next[adr] = dj_nextActivation(&by_act, &by_ctrl, m, d, i, h, kind);
    int z = m->actuator_zadr[i];
    if (z >= 0) act_next[z] = dj_nextIntegral(&by, m, d, i, h, kind);
    if (dj_isMotor(m, i)) nextMotor(act_next, m, d, i, h, kind);
  }
}
