// Electric motors, gain and bias `dcmotor`: a controller that asks for a voltage, the current that
// follows, the windings' temperature, cogging and friction of the shaft.

#ifndef DJ_MODEL_MOTOR_H_
#define DJ_MODEL_MOTOR_H_

#include "model/activation.h"

enum { DJ_MOTOR_NGAIN = 8, DJ_MOTOR_NBIAS = 6 };

// States of its own, in the order of act.
enum { DJ_MOTOR_TEMPERATURE, DJ_MOTOR_BRISTLE, DJ_MOTOR_CURRENT };

// What a motor's quantities depend on.
enum {
  DJ_MOTOR_BY_LENGTH,
  DJ_MOTOR_BY_RATE,
  DJ_MOTOR_BY_INPUT,                                          // by djMotorInput
  DJ_MOTOR_BY_INTEGRAL = DJ_MOTOR_BY_INPUT + DJ_NMOTORINPUT,
  DJ_MOTOR_BY_STATE,
  DJ_MOTOR_BY_GAIN = DJ_MOTOR_BY_STATE + DJ_NMOTORSTATE,      // numbers: gainprm, biasprm, motorprm
  DJ_MOTOR_BY_BIAS = DJ_MOTOR_BY_GAIN + DJ_MOTOR_NGAIN,
  DJ_MOTOR_BY_OWN = DJ_MOTOR_BY_BIAS + DJ_MOTOR_NBIAS,
  DJ_MOTOR_NBY = DJ_MOTOR_BY_OWN + DJ_NMOTORPRM
};

typedef struct djMotorNumber {
  double x, d[DJ_MOTOR_NBY];
} djMotorNumber;

// One of its inputs: gain times a control after its clamp, or what an activation makes of it.
typedef struct djMotorSource {
  int from;                     // actuator that has it, -1: there is none
  double input, gain;
  double by_act, by_ctrl;       // of the input
} djMotorSource;

typedef struct djMotor {
  djMotorSource source[DJ_NMOTORINPUT];
  djMotorNumber force;                   // before forcerange
  djMotorNumber extra;                   // added behind it: cogging and friction
  djMotorNumber slope, extra_slope;      // of both by the rate, as MuJoCo's implicit integrators
                                         //   have them: the friction's is -s1
  djMotorNumber next[DJ_NMOTORSTATE];    // states after the time h; of those that it has
} djMotor;

static inline bool dj_isMotor(const djModel* m, int i) {
  return m->actuator_gain[i] == DJ_GAIN_DCMOTOR;
}

// The first motor, or -1; how many there are.
int dj_firstMotor(const djModel* model);
int dj_motorCount(const djModel* model);

// Whether any has states of its own.
bool dj_motorsHaveStates(const djModel* model);

// Motor i at the length l and the rate l'; inputs and states are those of data.
void dj_evalMotor(djMotor* out, const djModel* model, const djData* data, int i, double l,
                  double rate, double h, djInputs kind);

// Of one that has states: at the length and rate of data.
void dj_evalMotorAt(djMotor* out, const djModel* model, const djData* data, int i, double h,
                    djInputs kind);
double dj_plainRate(const djModel* model, const double* qvel, int i);

// Derivatives of a state's next value by length, rate, controls of the inputs, the activation of
// the first one, integral and states.
enum {
  DJ_MOTOR_ROW_ACT = DJ_MOTOR_BY_INPUT + DJ_NMOTORINPUT,
  DJ_MOTOR_ROW_INTEGRAL,
  DJ_MOTOR_ROW_STATE,
  DJ_MOTOR_ROW = DJ_MOTOR_ROW_STATE + DJ_NMOTORSTATE
};
// How many numbers those of all actuators are, (nu x DJ_NMOTORSTATE x DJ_MOTOR_ROW) or none.
static inline size_t dj_motorRows(const djModel* m) {
  return dj_motorsHaveStates(m) ? (size_t)m->nu * DJ_NMOTORSTATE * DJ_MOTOR_ROW : 0;
}
static inline size_t dj_motorRowAt(int i, int state) {
  return ((size_t)i * DJ_NMOTORSTATE + (size_t)state) * DJ_MOTOR_ROW;
}
void dj_motorRow(double* by, const djMotor* motor, const djModel* model, int i, int state);

// The next entry of motor i's rows among those of all: that of (dq, dv, dact) at `row` by the one at
// `at`, or by control `at`. Begins with an entry of zeros; false after the last.
typedef struct djMotorEntry {
  int state, k;            // where it is
  bool ctrl;
  int row, at;
  double value;
} djMotorEntry;
bool dj_nextMotorEntry(djMotorEntry* entry, const double* rows, const djModel* model, int i);

// Adds f times the derivative by numbers to gainprm (nu x DJ_NPRM), biasprm and motorprm (nu x
// DJ_NMOTORPRM), gains of its other inputs with them.
typedef struct djMotorOut {
  double *gain, *bias, *own;
} djMotorOut;
void dj_addMotorParams(const djMotorOut* out, const djMotor* motor, const djMotorNumber* number,
                       double f, int i);

// Numbers of the law's rows.
const char* dj_motorGainProblem(const double* prm);
const char* dj_motorBiasProblem(const double* prm);
const char* dj_motorOwnProblem(const double* prm);

// What is wrong with motorprm for motor i, which has its states for good; or NULL.
const char* dj_motorKeeps(const djModel* model, int i, const double* motorprm);

#endif  // DJ_MODEL_MOTOR_H_
