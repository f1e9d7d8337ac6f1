// A row of the table of parameters.

#ifndef DJ_MODEL_PARAM_ROW_H_
#define DJ_MODEL_PARAM_ROW_H_

#include "model/param.h"

#include <dijoco/entry.h>

// What values a parameter takes.
typedef enum djRule {
  RULE_FINITE,
  RULE_NONNEGATIVE,
  RULE_MASS,         // positive, or zero where it was zero or the body cannot move
  RULE_INERTIA,
  RULE_QUAT,         // normalised
  RULE_AXIS,         // normalised
  RULE_COORDINATES,  // of a joint: quaternions normalised
  RULE_RANGE,
  RULE_LENGTHS,      // two, in order
  RULE_SIZE,         // entries that the type uses are positive, the others stay
  RULE_BOUNCE,       // 0 to 1; see restitution.h
  RULE_SHARPNESS,    // at least 1; planes, which have none, keep what they are given
  RULE_FLEX,         // not negative, and what a flex of that dim may have
  RULE_REST,         // of vertices at rest: no element is flat
  RULE_MOTOR,        // of states that the motor has above 0, of others 0
  RULE_SETTING       // as the kernel's row wants it
} djRule;

typedef struct djFieldRow {
  djEntry entry;     // its name is "kind/N/name", or "kind/name" of the model as a whole
  djObject object;   // DJ_NOBJ: of the model as a whole
  const char* kind;
  const char* name;
  size_t offset;     // in djModel: of the array; of the numbers themselves for DJ_NOBJ
  int nvalue;        // 0: depends on the element
  int ntangent;
  djRule rule;
  int changes;       // DJ_BY_*
  bool force;        // as large as forces may be (check.h)
  bool shapes;       // contact shapes depend on it
  djMirrorKind mirror;
} djFieldRow;

extern const djFieldRow dj_paramRows[DJ_NFIELD];   // DJ_FIELD_SETTING stands for many

#endif  // DJ_MODEL_PARAM_ROW_H_
