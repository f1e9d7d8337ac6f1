// Types that MuJoCo has, too: of joints, and of actuators' laws.

#ifndef DJ_MUJOCO_TYPE_TABLE_H_
#define DJ_MUJOCO_TYPE_TABLE_H_

#include <dijoco/model.h>

typedef enum djmTypeKind { DJM_TYPE_JOINT, DJM_TYPE_GAIN, DJM_TYPE_BIAS, DJM_TYPE_DYN } djmTypeKind;

// MuJoCo's type of one of ours, and ours of one of MuJoCo's; -1: there is none.
int djm_mujocoType(djmTypeKind kind, int ours);
int djm_ourType(djmTypeKind kind, int mujoco);

// Numbers of coordinates and dofs of a joint, by MuJoCo's type.
int djm_jointNq(int mujoco);
int djm_jointNv(int mujoco);

// That MuJoCo has all types of joints and laws of a definition; else the error names the first
// that it has not.
djStatus djm_checkTypes(const djModelDef* def, djError* err);

#endif  // DJ_MUJOCO_TYPE_TABLE_H_
