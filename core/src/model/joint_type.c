// The table of joint types.

#include "model/joint_type.h"

// Type, name, plain numbers, quaternion, pose, turn, slide.
#define TYPES(X)                              \
  X(DJ_FREE, "free", 3, true, true, 0, 0)     \
  X(DJ_BALL, "ball", 0, true, false, 0, 0)    \
  X(DJ_SLIDE, "slide", 1, false, false, 0, 1) \
  X(DJ_HINGE, "hinge", 1, false, false, 1, 0)

const djJointRow dj_jointRows[] = {TYPES(DJ_TYPE_ROW)};
const djChoice dj_jointNames[] = {TYPES(DJ_TYPE_NAME) {NULL, 0}};

const char* dj_jointTypeName(djJointType type) { return dj_nameOf(dj_jointNames, (int)type); }
