// What is asked of a joint by its type: one row for each. A type is a row here; poses, motion
// subspaces, derivatives, checks and model files follow from it.

#ifndef DJ_MODEL_JOINT_TYPE_H_
#define DJ_MODEL_JOINT_TYPE_H_

#include "model/choice.h"

// The coordinates are plain numbers, each with a dof, and then a quaternion with three; or one
// number q, which turns about the joint's axis by `turn` times q - qpos0 and slides along it by
// `slide` times that: what acts along scalar coordinates acts on it.
typedef struct djJointRow {
  const char* name;      // in model files
  int nplain;            // how many are plain numbers
  bool quat;             // a quaternion follows
  bool pose;             // they are the body's pose: no frame, anchor or limits; alone on a child
                         //   of the world
  double turn, slide;    // rad and m by the unit of q; 0 0: without an axis
} djJointRow;

extern const djJointRow dj_jointRows[];   // by djJointType
extern const djChoice dj_jointNames[];

static inline int dj_jointNq(int type) {
  return dj_jointRows[type].nplain + (dj_jointRows[type].quat ? 4 : 0);
}
static inline int dj_jointNv(int type) {
  return dj_jointRows[type].nplain + (dj_jointRows[type].quat ? 3 : 0);
}

// One dof along or about an axis.
static inline bool dj_isScalarJoint(int type) { return !dj_jointRows[type].quat; }

static inline bool dj_jointTurns(int type) {
  return dj_jointRows[type].quat || dj_jointRows[type].turn != 0;
}

// Of joint j of a model.
static inline const djJointRow* dj_jointRow(const djModel* m, int j) {
  return &dj_jointRows[m->jnt_type[j]];
}

// First rotational dof of joint j, or -1; where its quaternion begins, if it has one.
static inline int dj_rotationDof(const djModel* m, int j) {
  const djJointRow* row = dj_jointRow(m, j);
  return row->quat ? m->jnt_dofadr[j] + row->nplain : -1;
}
static inline int dj_rotationQpos(const djModel* m, int j) {
  return m->jnt_qposadr[j] + dj_jointRow(m, j)->nplain;
}

#endif  // DJ_MODEL_JOINT_TYPE_H_
