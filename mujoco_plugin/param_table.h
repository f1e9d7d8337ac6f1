// Where parameters lie in an mjModel: one row for each that MuJoCo has.

#ifndef DJ_MUJOCO_PARAM_TABLE_H_
#define DJ_MUJOCO_PARAM_TABLE_H_

#include <dijoco/model.h>

#include <mujoco/mujoco.h>

typedef enum djmPlace {
  DJM_ELEMENT,     // `stride` numbers for each element
  DJM_DOFS,        // one number for each dof of a joint, all the same
  DJM_QPOS,        // the coordinates of a joint
  DJM_PAIR,        // two numbers for each explicit pair, both the same; else the first alone
  DJM_PAIR_SECOND, // that second number
  DJM_PAIR_TORSION,
  DJM_PAIR_ROLLING,
  DJM_LAW,         // of an actuator's law: 3 of `stride` numbers, of muscles 9
  DJM_COUPLING,    // of an equality constraint of joints or tendons; none of others
  DJM_OUTPUT       // `stride` numbers for each output of an actuator, of which the first one counts
} djmPlace;

typedef struct djmParamRow {
  const char* name;    // as dj_parameterEntry has it: "joint/N/damping"
  size_t array;        // offset in mjModel of the pointer to mjtNums
  int width;           // numbers that are ours; 0: a joint's coordinates
  int stride;
  djmPlace place;
  bool simple;         // M's sparsity relies on it where the body is `simple`
  bool unit;           // normalised: a quaternion, or an axis
} djmParamRow;

// The row of a name, whose element may be anything: "joint/knee/damping"; NULL: none.
const djmParamRow* djm_findParam(const char* name);

// Row i = 0, 1, ...; NULL after the last.
const djmParamRow* djm_paramRow(int i);

// The parameters of that name that a model of ours has, but for those of geoms of flexes; param is
// new memory. False: there is none.
typedef struct djmParamList {
  int n;
  djParam* param;
} djmParamList;
bool djm_listParams(djmParamList* list, const djModel* model, const char* name);

// Id of one of `number` elements by its name or "#id"; -1: there is none.
int djm_findElement(const mjModel* m, int object, int number, const char* element);

// A dcmotor whose law is not linear or that has states of its own: ours is a dcmotor, too.
bool djm_isMotor(const mjModel* m, int i);

// Numbers of an actuator's gain, or of its bias.
int djm_lawNumbers(const mjModel* m, int actuator, bool bias);

// The first number of an element's, and how many there are.
mjtNum* djm_paramPlace(int* n, const mjModel* m, const djmParamRow* row, int id);

// Copy the numbers there.
void djm_putParam(const mjModel* m, const djmParamRow* row, int id, const double* value);

#endif  // DJ_MUJOCO_PARAM_TABLE_H_
